/* SPDX-License-Identifier: MIT */
/*
 * The leaderboard's rows and groups: what is added, who is the baseline, in
 * which order.  What counts is in board_count.c, tests and words are in
 * board_judge.c.
 */
#include "config.h"

#include "model/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/board_internal.h"

void
board_init(struct board *board, const struct track *track)
{
	*board = (struct board){
		.track = track,
		.score = track->score,
		.nats_per_bpb = RUN_ABSENT,
		.nats_source = "given",
	};
	map_init(&board->group_index);
}

void
board_set_track(struct board *board, const struct track *track)
{
	board->track = track;
	board->score = track->score;
}

static void
group_release(struct board_group *group)
{
	for (size_t i = 0; i < group->n_notes; i++)
		free(group->notes[i]);
	free(group->notes);
	free(group->verdict.common);
	free(group->rows);
	free(group->title);
	free(group->key);
}

void
board_release(struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++) {
		run_release(&board->rows[i]->run);
		free(board->rows[i]->path);
		free(board->rows[i]->name);
		free(board->rows[i]->log);
		free(board->rows[i]);
	}
	for (size_t i = 0; i < board->n_groups; i++)
		group_release(&board->groups[i]);
	map_release(&board->group_index, NULL);
	free(board->rows);
	free(board->groups);
	free(board->rank);
	*board = (struct board){ 0 };
}

/* The group of that key; a new one when there is none. */
static size_t
group_get(struct board *board, const char *key, bool is_values)
{
	char *name = xasprintf("%c%s", is_values ? 'v' : 'k', key);
	size_t found = (size_t)map_get(&board->group_index, str_from(name));

	if (found == 0) {
		board->groups =
			xgrow(board->groups, board->n_groups,
			      &board->cap_groups, sizeof(*board->groups));
		board->groups[board->n_groups++] = (struct board_group){
			.key = xstrdup(key),
			.is_values = is_values,
		};
		found = board->n_groups;
		(void)map_set(&board->group_index, str_from(name),
			      (void *)found);
	}
	free(name);
	return found - 1;
}

static struct board_row *
row_add(struct board *board, size_t index, const char *path)
{
	struct board_group *group = &board->groups[index];
	struct board_row *row = xcalloc(1, sizeof(*row));

	row->path = xstrdup(path);
	row->group = index;
	group->rows = xgrow(group->rows, group->n_rows, &group->cap_rows,
			    sizeof(*group->rows));
	group->rows[group->n_rows++] = board->n_rows;
	board->rows = xgrow(board->rows, board->n_rows, &board->cap_rows,
			    sizeof(struct board_row *));
	board->rows[board->n_rows++] = row;
	return row;
}

struct board_row *
board_add(struct board *board, const char *path, const char *key,
	  const char *sha256, const struct run *run)
{
	struct board_row *row;

	if (board->n_rows >= BOARD_MAX_ROWS)
		return NULL;
	row = row_add(board, group_get(board, key, false), path);
	run_copy(&row->run, run);
	if (sha256 != NULL && strlen(sha256) < sizeof(row->sha256))
		memcpy(row->sha256, sha256, strlen(sha256) + 1);
	return row;
}

void
board_add_values(struct board *board, const char *key, const double *values,
		 size_t n)
{
	const struct run_number *score = board->score;
	size_t group = group_get(board, key, true);

	if (score == NULL)
		score = run_number_by_name(STR_LIT("final_bpb"));
	for (size_t i = 0; i < n && board->n_rows < BOARD_MAX_ROWS; i++) {
		struct board_row *row = row_add(board, group, key);

		run_init(&row->run);
		row->run.status = RUN_FINISHED;
		run_number_set(&row->run, score, values[i]);
	}
}

/* Is name the key, or its last parts? */
static bool
key_fits(const char *key, const char *name)
{
	size_t len = strlen(key), part = strlen(name);

	while (len > 1 && key[len - 1] == '/')
		len--;
	while (part > 1 && name[part - 1] == '/')
		part--;
	return part > 0 && len >= part &&
	       memcmp(key + len - part, name, part) == 0 &&
	       (len == part || key[len - part - 1] == '/');
}

struct board_group *
board_find_group(const struct board *board, const char *key, struct err *err)
{
	struct board_group *found = NULL;

	for (size_t i = 0; i < board->n_groups; i++) {
		struct board_group *group = &board->groups[i];

		if (strcmp(group->key, key) == 0)
			return group;
		if (!key_fits(group->key, key))
			continue;
		if (found != NULL) {
			err_set(err, ERR_USAGE,
				"\"%s\" is more than one group: %s and %s", key,
				found->key, group->key);
			return NULL;
		}
		found = group;
	}
	if (found == NULL)
		err_set(err, ERR_NODATA, "there is no group \"%s\"", key);
	return found;
}

int
board_set_baseline(struct board *board, const char *key, struct err *err)
{
	struct board_group *group = board_find_group(board, key, err);

	if (group == NULL)
		return err_prefix(err, "baseline");
	group->is_baseline = true;
	return 0;
}

const struct board_group *
board_baseline(const struct board *board)
{
	if (board->rank != NULL || board->baseline > 0)
		return board->baseline > 0 ? &board->groups[board->baseline - 1]
					   : NULL;
	for (size_t i = 0; i < board->n_groups; i++)
		if (board->groups[i].is_baseline)
			return &board->groups[i];
	return NULL;
}

/* How much of the keys is a directory that all groups of logs share. */
static size_t
shared_prefix(const struct board *board)
{
	const char *first = NULL;
	size_t len = 0;

	for (size_t i = 0; i < board->n_groups; i++) {
		const char *key = board->groups[i].key;
		size_t same = 0;

		if (board->groups[i].is_values)
			continue;
		if (first == NULL) {
			first = key;
			len = strlen(key);
		}
		while (same < len && key[same] == first[same])
			same++;
		len = same;
	}
	while (len > 0 && first[len - 1] != '/')
		len--;
	return len;
}

/* The path of a row below its group, or its last part; runs of a file by #. */
static char *
row_name(const struct board_row *row, const char *key)
{
	const char *slash = strrchr(row->path, '/');
	size_t len = strlen(key);

	const char *name = slash != NULL ? slash + 1 : row->path;

	if (strncmp(row->path, key, len) == 0 && row->path[len] == '/')
		name = row->path + len + 1;
	if (row->run.run_index == 0)
		return xstrdup(name);
	return xasprintf("%s #%u", name, row->run.run_index + 1);
}

static void
name_all(struct board *board)
{
	size_t prefix = shared_prefix(board);

	for (size_t i = 0; i < board->n_groups; i++) {
		struct board_group *group = &board->groups[i];
		const char *title = group->key;

		if (!group->is_values && title[prefix] != '\0')
			title += prefix;
		group->title = xstrdup(title);
	}
	for (size_t i = 0; i < board->n_rows; i++) {
		struct board_row *row = board->rows[i];

		if (row->name == NULL)
			row->name =
				row_name(row, board->groups[row->group].key);
	}
}

/* What decides the place of a group. */
struct place {
	double mean;
	bool invalid;
	size_t index;
};

/*
 * Best mean first; groups that broke a rule behind all that kept them, groups
 * without a mean at the end, as they came.
 */
static int
compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (run_has(x->mean) != run_has(y->mean))
		return run_has(x->mean) ? -1 : 1;
	if (run_has(x->mean) && x->invalid != y->invalid)
		return x->invalid ? 1 : -1;
	if (run_has(x->mean) && x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void
rank_all(struct board *board)
{
	struct place *places = xcalloc(board->n_groups + 1, sizeof(*places));

	board->rank = xcalloc(board->n_groups + 1, sizeof(*board->rank));
	for (size_t i = 0; i < board->n_groups; i++) {
		const struct board_group *group = &board->groups[i];

		places[i] = (struct place){ group->stats.mean,
					    group->verdict.word ==
						    BOARD_WORD_INVALID,
					    i };
	}
	qsort(places, board->n_groups, sizeof(*places), compare_places);
	for (size_t i = 0; i < board->n_groups; i++)
		board->rank[i] = places[i].index;
	free(places);
}

void
board_compute(struct board *board)
{
	const struct board_group *baseline = board_baseline(board);

	if (baseline != NULL)
		board->baseline = (size_t)(baseline - board->groups) + 1;
	name_all(board);
	board_count(board);
	board_judge(board);
	rank_all(board);
}

const char *
board_unit(const struct board_group *group)
{
	return str_ends_with(str_from(group->score->name), "_bpb") ? "bpb"
								   : "nats";
}

#define NAMES(function, type, list)                                            \
	const char *function(enum type value)                                  \
	{                                                                      \
		static const char *const names[] = { list(NAME) };             \
                                                                               \
		return names[value];                                           \
	}
#define NAME(id, name) name,

NAMES(board_use_name, board_use, BOARD_USE_LIST)
NAMES(board_cap_name, board_cap, BOARD_CAP_LIST)
NAMES(board_kept_name, board_kept, BOARD_KEPT_LIST)
NAMES(board_word_name, board_word, BOARD_WORD_LIST)
