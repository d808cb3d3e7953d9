/* SPDX-License-Identifier: MIT */
/*
 * Which runs of the leaderboard count, and the spreads and means of those
 * that do; called by board_compute.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "model/board_internal.h"

#define COARSE_MS 6000.0 /* a tenth of a minute */

/* Does a finished run of the group have that number? */
static bool
group_has(const struct board *board, const struct board_group *group,
	  const struct run_number *number)
{
	for (size_t i = 0; i < group->n_rows; i++) {
		const struct run *run = &board->rows[group->rows[i]]->run;

		if (run->status == RUN_FINISHED &&
		    run_has(run_number_get(run, number)))
			return true;
	}
	return false;
}

static const struct run_number *
choose_score(const struct board *board, const struct board_group *group)
{
	const struct run_number *bpb = run_number_by_name(STR_LIT("final_bpb"));
	const struct run_number *loss =
		run_number_by_name(STR_LIT("final_val_loss"));

	if (board->score != NULL)
		return board->score;
	return group_has(board, group, bpb) || !group_has(board, group, loss)
		       ? bpb
		       : loss;
}

/*
 * Two runs with the same score, steps and training time: one run told twice,
 * unless their seeds differ, or the time is one of full tenths of a minute
 * and may be rounded, so that it proves nothing without the seed.
 */
static bool
may_be_same(const struct run *a, const struct run *b)
{
	if (run_has(a->seed) && run_has(b->seed))
		return a->seed == b->seed;
	return fmod(a->train_ms, COARSE_MS) != 0;
}

/* A row that tells of a run that a row before it of the group tells of. */
static void
mark_copy(struct board *board, struct board_row *row, size_t first,
	  enum board_use use)
{
	const struct board_row *other = board->rows[first];

	row->use = use;
	row->copy_of = first;
	if (use == BOARD_COPY)
		board_row_note(row, "= %s, same bytes", other->name);
	else if (strcmp(row->path, other->path) == 0)
		board_row_note(row, "= run %u of this file",
			       other->run.run_index + 1);
	else
		board_row_note(row, "= %s, same run", other->name);
}

/* The first row with the same key in seen (then not itself), or 0 and set. */
static size_t
first_with(struct map *seen, const char *key, size_t index)
{
	void *found = map_get(seen, str_from(key));

	if (found == NULL)
		(void)map_set(seen, str_from(key), (void *)(index + 1));
	return (size_t)found;
}

/*
 * Two logs with the same bytes, and two logs of the same run.  The keys begin
 * with the group, so that a run may stand in several groups.
 */
static void
find_copies(struct board *board)
{
	struct map seen;
	char key[192];

	map_init(&seen);
	for (size_t i = 0; i < board->n_rows; i++) {
		struct board_row *row = board->rows[i];
		const struct run *run = &row->run;
		size_t first = 0;

		if (row->sha256[0] != '\0') {
			(void)snprintf(key, sizeof(key), "%zu %s %u",
				       row->group, row->sha256, run->run_index);
			first = first_with(&seen, key, i);
			if (first > 0) {
				mark_copy(board, row, first - 1, BOARD_COPY);
				continue;
			}
		}
		if (row->use != BOARD_COUNTED || !run_has(run->steps) ||
		    !run_has(run->train_ms))
			continue;
		(void)snprintf(key, sizeof(key), "%zu %.17g %.17g %.17g",
			       row->group, row->score, run->steps,
			       run->train_ms);
		first = first_with(&seen, key, i);
		if (first > 0 && may_be_same(run, &board->rows[first - 1]->run))
			mark_copy(board, row, first - 1, BOARD_SAME_RUN);
	}
	map_release(&seen, NULL);
}

/* A log that stands in another group too: it counts in both, and is named. */
static void
find_across(struct board *board)
{
	struct map seen;
	char key[96];

	map_init(&seen);
	for (size_t i = 0; i < board->n_rows; i++) {
		struct board_row *row = board->rows[i];
		size_t first;

		if (row->sha256[0] == '\0')
			continue;
		(void)snprintf(key, sizeof(key), "%s %u", row->sha256,
			       row->run.run_index);
		first = first_with(&seen, key, i);
		if (first > 0 && board->rows[first - 1]->group != row->group)
			board_note(&board->groups[row->group],
				   "%s is byte-identical to %s of %s, and "
				   "counts in both groups",
				   row->name, board->rows[first - 1]->name,
				   board->groups[board->rows[first - 1]->group]
					   .title);
	}
	map_release(&seen, NULL);
}

/* Is row worth a place in the means at all? */
static void
mark_use(struct board_row *row, const struct run_number *score)
{
	const char *status = row->run.status == RUN_RUNNING ? "not finished"
			     : row->run.status == RUN_UNKNOWN
				     ? "end unknown"
				     : run_status_name(row->run.status);

	row->score = run_number_get(&row->run, score);
	if (row->run.status != RUN_FINISHED) {
		row->use = BOARD_UNFINISHED;
		board_row_note(row, "%s, not counted", status);
	} else if (!run_has(row->score)) {
		row->use = BOARD_NO_SCORE;
		board_row_note(row, "no %s, not counted", score->name);
	} else {
		row->use = BOARD_COUNTED;
	}
}

/* A seed as the key of a map. */
static void
seed_key(char *key, size_t size, double seed)
{
	(void)snprintf(key, size, "%.17g", seed);
}

/* Mark the rows whose seed a counted row before them of the group has. */
static void
mark_seeds(struct board *board, const struct board_group *group)
{
	struct map seen;
	char key[32];

	map_init(&seen);
	for (size_t i = 0; i < group->n_rows; i++) {
		struct board_row *row = board->rows[group->rows[i]];

		if (row->use != BOARD_COUNTED || !run_has(row->run.seed))
			continue;
		seed_key(key, sizeof(key), row->run.seed);
		if (map_set(&seen, str_from(key), row) == NULL)
			continue;
		row->seed_again = true;
		board_row_note(row, "seed %.0f again", row->run.seed);
	}
	map_release(&seen, NULL);
}

/* The value a number has in each counted row; how many have it. */
static size_t
collect(const struct board *board, const struct board_group *group,
	const struct run_number *number, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];
		double value = run_number_get(&row->run, number);

		if (row->use == BOARD_COUNTED && run_has(value))
			values[n++] = value;
	}
	return n;
}

size_t
board_seed_values(const struct board *board, const struct board_group *group,
		  double *values, double *seeds)
{
	size_t *runs = xcalloc(group->n_rows + 1, sizeof(*runs));
	struct map slots; /* of seeds, + 1 */
	char key[32];
	size_t n = 0;

	map_init(&slots);
	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];
		size_t k = 0;

		if (row->use != BOARD_COUNTED)
			continue;
		seed_key(key, sizeof(key), row->run.seed);
		if (run_has(row->run.seed))
			k = (size_t)map_get(&slots, str_from(key));
		if (k == 0) {
			k = ++n;
			values[k - 1] = 0;
			if (seeds != NULL)
				seeds[k - 1] = row->run.seed;
			if (run_has(row->run.seed))
				(void)map_set(&slots, str_from(key), (void *)k);
		}
		/* A running mean: exact for one run a seed. */
		runs[k - 1]++;
		values[k - 1] +=
			(row->score - values[k - 1]) / (double)runs[k - 1];
	}
	map_release(&slots, NULL);
	free(runs);
	return n;
}

/* Means of the columns, each only where every counted run has the number. */
static void
fill_means(const struct board *board, struct board_group *group, double *values)
{
	struct board_stats stats;

#define X(member)                                                              \
	group->means.member =                                                  \
		collect(board, group, run_number_by_name(STR_LIT(#member)),    \
			values) == group->n_counted                            \
			? (board_stats_of(&stats, values, group->n_counted),   \
			   stats.mean)                                         \
			: RUN_ABSENT;
	BOARD_MEAN_LIST(X)
#undef X
}

static double
largest(const double *values, size_t n)
{
	struct board_stats stats;

	board_stats_of(&stats, values, n);
	return stats.max;
}

/* Nats per BPB of the logs themselves: sum of losses over sum of BPB. */
static double
own_nats_per_bpb(const struct board *board, const struct board_group *group)
{
	double loss = 0, bpb = 0;

	for (size_t i = 0; i < group->n_rows; i++) {
		const struct board_row *row = board->rows[group->rows[i]];

		if (row->use != BOARD_COUNTED ||
		    !run_has(row->run.final_val_loss) ||
		    !run_has(row->run.final_bpb))
			continue;
		loss += row->run.final_val_loss;
		bpb += row->run.final_bpb;
	}
	return bpb > 0 && loss > 0 ? loss / bpb : RUN_ABSENT;
}

static void
count_group(struct board *board, struct board_group *group)
{
	double *values = xcalloc(group->n_rows + 1, sizeof(*values));
	size_t n;

	mark_seeds(board, group);
	for (size_t i = 0; i < group->n_rows; i++)
		group->n_uncounted[board->rows[group->rows[i]]->use]++;
	group->n_counted = group->n_uncounted[BOARD_COUNTED];
	n = collect(board, group, group->score, values);
	board_stats_of(&group->stats, values, n);
	group->n_seeds = board_seed_values(board, group, values, NULL);
	board_stats_of(&group->seed_stats, values, group->n_seeds);
	n = collect(board, group, run_number_by_name(STR_LIT("train_ms")),
		    values);
	group->max_train_ms = largest(values, n);
	board_stats_of(&group->train_ms, values, n == group->n_counted ? n : 0);
	n = collect(board, group, run_number_by_name(STR_LIT("artifact_bytes")),
		    values);
	group->max_artifact_bytes = largest(values, n);
	n = collect(board, group, run_number_by_name(STR_LIT("eval_s")),
		    values);
	group->max_eval_s = largest(values, n);
	n = collect(board, group, run_number_by_name(STR_LIT("eval_total_s")),
		    values);
	group->max_eval_s = fmax(group->max_eval_s, largest(values, n));
	fill_means(board, group, values);
	group->nats_per_bpb = own_nats_per_bpb(board, group);
	free(values);
}

void
board_count(struct board *board)
{
	for (size_t i = 0; i < board->n_groups; i++)
		board->groups[i].score = choose_score(board, &board->groups[i]);
	for (size_t i = 0; i < board->n_rows; i++)
		mark_use(board->rows[i],
			 board->groups[board->rows[i]->group].score);
	find_copies(board);
	for (size_t i = 0; i < board->n_groups; i++) {
		count_group(board, &board->groups[i]);
		board_note_group(board, &board->groups[i]);
	}
	find_across(board);
}
