/* SPDX-License-Identifier: MIT */
/* One row a group, without its runs; called by `board --summary`. */
#include "config.h"

#include "board/print.h"

#include <string.h>

#include "base/buf.h"
#include "board/text.h"
#include "parsers/json.h"
#include "report/out.h"

static const struct out_column columns[] = {
	{ "rank", "#", 0, 0 },
	{ "group", "group", 0, 0 },
	{ "n", "runs", 0, 0 },
	{ "n_seeds", "seeds", 0, 0 },
	{ "mean", "mean", 8, 0 },
	{ "sd_sample", "sample sd", 8, 0 },
	{ "sd_population", "population sd", 8, 0 },
	{ "delta", "delta", 8, 0 },
	{ "delta_nats", "delta nats", 8, 0 },
	{ "p_a", "p of A", -1, 0 },
	{ "p_b", "p of B", -1, 0 },
	{ "caps", "caps", 0, 0 },
	{ "verdict", "verdict", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

/* Four digits, so that a small p is not shown as 0. */
static double
shown_p(const struct board_test *test)
{
	char text[32];
	double p = RUN_ABSENT;

	(void)snprintf(text, sizeof(text), "%.4g", test->p);
	(void)str_to_double(str_from(text), &p);
	return p;
}

static cJSON *
summary_row(const struct board_group *group, size_t rank)
{
	const struct board_verdict *v = &group->verdict;
	cJSON *row = cJSON_CreateObject();
	struct buf caps;

	buf_init(&caps, 64);
	if (group->n_counted > 0 && !group->is_values)
		board_caps(&caps, group->caps, false);
	json_add_number(row, "rank", (double)rank);
	json_add_clean(row, "group", group->title);
	json_add_number(row, "n", (double)group->n_counted);
	json_add_number(row, "n_seeds", (double)group->n_seeds);
	json_add_number(row, "mean", group->stats.mean);
	json_add_number(row, "sd_sample", group->stats.sd_sample);
	json_add_number(row, "sd_population", group->stats.sd_population);
	json_add_number(row, "delta", v->delta);
	json_add_number(row, "delta_nats", v->delta_nats);
	json_add_number(row, "p_a", shown_p(&v->tests[TRACK_TEST_A]));
	json_add_number(row, "p_b", shown_p(&v->tests[TRACK_TEST_B]));
	json_add_string(row, "caps", caps.len > 0 ? caps.data : NULL);
	json_add_string(row, "verdict", v->text[0] != '\0' ? v->text : NULL);
	buf_release(&caps);
	return row;
}

/* Is any cell of that column filled? */
static bool
is_used(const struct board *board, const char *key)
{
	for (size_t i = 0; i < board->n_groups; i++) {
		cJSON *row = summary_row(&board->groups[i], i);
		const cJSON *cell = cJSON_GetObjectItemCaseSensitive(row, key);
		bool used = cell != NULL && !cJSON_IsNull(cell);

		cJSON_Delete(row);
		if (used)
			return true;
	}
	return false;
}

void
board_print_summary(FILE *stream, const struct board *board, bool markdown)
{
	struct out_column used[sizeof(columns) / sizeof(columns[0])];
	struct out *out;
	size_t n = 0;

	for (size_t i = 0; columns[i].key != NULL; i++)
		if (is_used(board, columns[i].key))
			used[n++] = columns[i];
	used[n] = (struct out_column){ NULL, NULL, 0, 0 };
	out = out_new(stream, markdown ? OUT_MD : OUT_TABLE, used);
	for (size_t i = 0; i < board->n_groups; i++) {
		cJSON *row = summary_row(&board->groups[board->rank[i]], i + 1);

		out_take(out, row);
	}
	(void)out_free(out);
}
