/* SPDX-License-Identifier: MIT */
/* Runs to verdicts; called by `bench judge` and after each block of a run. */
#include "config.h"

#include "bench/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/judge_priv.h"

const char *const run_state_words[] = {
#define X(id, name) name,
	RUN_STATE_LIST(X)
#undef X
		NULL
};

struct judge_run *
judge_next(const struct judge *judge, size_t arm, const struct judge_run *after)
{
	struct judge_run *run = judge->runs;
	const struct judge_run *end = judge->runs + judge->n_runs;

	if (after != NULL)
		run += after - judge->runs + 1;
	while (run < end &&
	       (!run->counted || (arm != JUDGE_ANY && run->arm != arm)))
		run++;
	return run < end ? run : NULL;
}

struct judge_run *
judge_beside(const struct judge *judge, size_t arm,
	     const struct judge_run *like)
{
	struct judge_run *run = judge_next(judge, arm, NULL);

	while (run != NULL &&
	       (run->pod != like->pod || run->block != like->block ||
		run->rep != like->rep))
		run = judge_next(judge, arm, run);
	return run;
}

bool
judge_is_usable(const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	/* Work that differs is shown, but makes its variant INVALID. */
	return run->counted && run->y > 0.0 && isfinite(run->y) &&
	       (hit == NULL || hit->guard == GUARD_WORK ||
		hit->guard == GUARD_SAME);
}

bool
judge_is_main(const struct judge_run *run)
{
	return run->counted && !run->fresh;
}

double *
judge_room(const struct judge *judge)
{
	return xmalloc((judge->n_runs + 1) * sizeof(double));
}

void
judge_init(struct judge *judge, const struct judge_rule *rule,
	   const struct judge_arm *arms, size_t n_arms, struct judge_run *runs,
	   size_t n_runs)
{
	assert(n_arms >= 2 && n_arms <= SCHEDULE_MAX_ARMS);
	*judge = (struct judge){ .rule = *rule,
				 .arms = arms,
				 .n_arms = n_arms,
				 .runs = runs,
				 .n_runs = n_runs,
				 .lo = (double)NAN,
				 .hi = (double)NAN,
				 .n_contrasts = n_arms - 1 };
	judge_measure(judge);
	judge_compare_runs(judge);
	for (size_t arm = 0; arm < n_arms; arm++)
		judge_summarize(judge, arm);
	judge_mark_outliers(judge);
	judge_drop_blocks(judge);
	judge->contrasts = xcalloc(n_arms, sizeof(*judge->contrasts));
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->arm = i + 1;
		judge_compare_blocks(judge, c, false);
		judge_compare_arms(judge, c);
		judge_compare_unblocked(judge, c);
		judge_weigh_outliers(judge, c);
		c->trend = judge_trend(judge, c->arm);
	}
	judge_decide(judge);
}

void
judge_release(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		free(judge->contrasts[i].blocks);
		free(judge->contrasts[i].pods);
	}
	free(judge->contrasts);
	free(judge->dropped);
	for (size_t i = 0; i < judge->n_runs; i++)
		step_times_release(&judge->runs[i].times);
}
