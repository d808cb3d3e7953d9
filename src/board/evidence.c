/* SPDX-License-Identifier: MIT */
/* Add the tables for pull requests and READMEs of competitions. */
#include "board/evidence.h"

#include "parsers/run_series.h"

/* Steps shown: the last that does not show the target, the first that does, the next two. */
#define STEPS 4

/* The first step after `step` that all counted runs have; absent: none. */
static double next_step(const struct board *board, const struct board_group *group, double step)
{
	const char *metric = board_target_metric(board, group);
	const struct board_row *first = board_counted(board, group, 0);
	const struct run_series *series = run_series_find(&first->run, metric);

	for (size_t i = 0; i < series->validations.n; i++) {
		double next = series->validations.v[i].step;
		bool is_common = next > step;

		board_each_counted (row, board, group)
			is_common &= run_has(board_steps_value(&row->run, metric, next));
		if (is_common)
			return next;
	}
	return RUN_ABSENT;
}

/* Add one row per run, then their mean and the track's statistic at each step. */
static void add_steps(struct facts *facts, const struct board *board,
		      const struct board_group *group)
{
	const struct track *track = group->track;
	const char *metric = board_target_metric(board, group);
	struct facts_column columns[STEPS + 1] = { { .label = "run", .kind = FMT_TEXT } };
	AUTO_FREE double *values = xcalloc(group->n_rows + 1, sizeof(*values));
	struct board_stats stats[STEPS];
	double steps[STEPS];
	size_t n = 0, n_values;

	if (run_has(group->steps.lower))
		steps[n++] = group->steps.lower;
	for (double at = group->steps.step; n < STEPS && run_has(at);
	     at = next_step(board, group, at))
		steps[n++] = at;
	for (size_t i = 0; i < n; i++) {
		n_values = 0;
		board_each_counted (row, board, group) {
			values[n_values] = board_steps_value(&row->run, metric, steps[i]);
			n_values += run_has(values[n_values]);
		}
		board_stats_of(&stats[i], values, n_values);
		columns[i + 1] = (struct facts_column){
			.label = facts_keep(facts, "%.0f", steps[i]),
			.kind = FMT_NUMBER,
		};
	}
	facts_table(facts, facts_keep(facts, "%s around step %.0f", metric, group->steps.step),
		    columns, n + 1);
	board_each_counted (row, board, group) {
		facts_text(facts, "", FACT_PLAIN, "%s", row->name);
		for (size_t i = 0; i < n; i++)
			facts_text(facts, "", FACT_PLAIN, "%.5f",
				   board_steps_value(&row->run, metric, steps[i]));
	}
	facts_text(facts, "", FACT_STRONG, "mean");
	for (size_t i = 0; i < n; i++)
		facts_text(facts, "", FACT_STRONG, "%.6f", stats[i].mean);
	facts_text(facts, "", FACT_STRONG, "(%g - mean) * sqrt(n)", track->target);
	for (size_t i = 0; i < n; i++) {
		struct board_target_test test = board_target_test(track, &stats[i]);

		facts_text(facts, "", FACT_STRONG, "%.5f %s", test.margin_root_n,
			   test.is_shown ? "✓" : "✗");
	}
}

void board_add_evidence(struct facts *facts, const struct board *board,
			const struct board_group *group)
{
	static const char *const labels[] = { "steps", "evidence", "description", "date", "log" };
	struct facts_column columns[LENGTH(labels)] = { { 0 } };
	bool has_time = group->track->rank_by == TRACK_RANK_TRAIN_S;

	if (group->counts_steps && group->n_counted > 0)
		add_steps(facts, board, group);
	if (!group->verdict.target.is_shown)
		return;
	for (size_t i = 0; i < LENGTH(labels); i++)
		columns[i].label = i == 0 && has_time ? "time" : labels[i];
	facts_table(facts, "README row", columns, LENGTH(labels));
	if (has_time)
		facts_text(facts, "", FACT_PLAIN, "%.3f minutes", group->train_ms.mean / 60000);
	else
		facts_text(facts, "", FACT_PLAIN, "%.0f", group->steps.step);
	facts_text(facts, "", FACT_PLAIN, "%.4f (n=%zu)", group->seed_stats.mean,
		   group->seed_stats.n);
	for (size_t i = 2; i < LENGTH(labels); i++)
		facts_text(facts, "", FACT_PLAIN, "%s", i + 1 < LENGTH(labels) ? "" : group->title);
}
