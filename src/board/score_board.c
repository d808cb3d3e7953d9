/* SPDX-License-Identifier: MIT */
/* Groups of verifiers' scores that may be compared; part of `board`. */
#include "board/score_board.h"

#include "base/sort.h"

static const char columns[] =
	"group, work=scores of, n_valid=valid:0, n_invalid=INVALID:0, median, "
	"min, max, spread_pct=spread %:2";

void score_board_add(struct score_board *board, const char *key, const struct score_row *row)
{
	struct score_group *group =
		array_find(one, board->groups, board->n,
			   strcmp(one->key, key) == 0 && strcmp(one->work, row->group) == 0);

	if (group == NULL) {
		group = xplace(board->groups, board->n, board->cap);
		*group = (struct score_group){ .key = xstrdup(key), .work = xstrdup(row->group) };
	}
	if (!score_json_counts(&row->json)) {
		group->invalid++;
		return;
	}
	xpush(group->values, group->n, group->cap, row->json.value);
}

static int compare_groups(const void *a, const void *b)
{
	const struct score_group *x = a, *y = b;
	int work = strcmp(x->work, y->work);

	if (work != 0)
		return work;
	if (x->n == 0 || y->n == 0)
		return x->n == y->n ? strcmp(x->key, y->key) : (x->n == 0) - (y->n == 0);
	return sort_by_value(&x->median, &y->median);
}

int score_board_print(struct score_board *board, FILE *stream, enum out_format format)
{
	if (board->n == 0)
		return 0;
	for (size_t i = 0; i < board->n; i++)
		board->groups[i].median = sort_median(board->groups[i].values, board->groups[i].n);
	qsort(board->groups, board->n, sizeof(*board->groups), compare_groups);
	struct out *out = out_new(stream, format, columns);
	array_each (group, board->groups, board->n) {
		double median = group->median;
		double low = group->n > 0 ? group->values[0] : (double)NAN;
		double high = group->n > 0 ? group->values[group->n - 1] : (double)NAN;

		out_take(out,
			 json_new(JTEXT("kind", "scores"), JCLEAN("group", group->key),
				  JTEXT("work", group->work), JNUM("n_valid", group->n),
				  JNUM("n_invalid", group->invalid), JNUM("median", median),
				  JNUM("min", low), JNUM("max", high),
				  JNUM("spread_pct", group->n > 1 && median != 0
							     ? 100 * (high - low) / fabs(median)
							     : (double)NAN)));
	}
	return out_free(out);
}

void score_board_release(struct score_board *board)
{
	for (size_t i = 0; i < board->n; i++) {
		free(board->groups[i].key);
		free(board->groups[i].work);
		free(board->groups[i].values);
	}
	free(board->groups);
	*board = (struct score_board){ NULL, 0, 0 };
}
