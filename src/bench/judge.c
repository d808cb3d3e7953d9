/* SPDX-License-Identifier: MIT */
/* Runs to verdicts; called by `bench judge` and after each block of a run. */
#include "config.h"

#include "bench/judge.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/judge_parts.h"
#include "bench/stats.h"

/* Marks in shape of a modified z score. */
#define OUTLIER_Z 3.5
#define MAD_TO_SD 1.4826
#define POD_P	  0.05
/* Pods from which their means, not their blocks, are what is compared. */
#define PODS_AS_UNITS 3
/* Blocks of a pod from which it is held against the other pods. */
#define PODS_LEAST_BLOCKS 3
/* A variant this much faster is held up to a person. */
#define IMPLAUSIBLE 0.5

const char *
run_state_name(enum run_state state)
{
	static const char *const names[] = {
#define X(id, name) name,
		RUN_STATE_LIST(X)
#undef X
	};

	return names[state];
}

static const struct judge_run *
control_of(const struct judge *judge, const struct judge_run *run)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *other = &judge->runs[i];

		if (other->arm == 0 && other->counted &&
		    other->pod == run->pod && other->block == run->block)
			return other;
	}
	return NULL;
}

/* What only the pair of runs can tell. */
static void
check_pair(struct judge *judge, struct judge_run *run,
	   const struct judge_run *control)
{
	const struct judge_arm *arm = &judge->arms[run->arm];

	if (run->log == NULL || control->log == NULL)
		return;
	run_log_same_work(control->log, run->log, &run->hits);
	if (run->log->kind == RUN_LOG_TRAINING && run->log->n_rows > 0 &&
	    control->log->n_rows > 0) {
		struct guard_losses a = { control->log->rows,
					  control->log->n_rows,
					  control->log->val_loss, judge->hi };
		struct guard_losses b = { run->log->rows, run->log->n_rows,
					  run->log->val_loss, judge->hi };

		guard_check_losses(&run->hits, &a, &b, &judge->rule.losses,
				   arm->numerics_changed);
	}
	if (run->has_window && control->has_window && run->times.from_tok_s &&
	    control->times.from_tok_s &&
	    guard_clock_lag(control->window.lag_steps, run->window.lag_steps))
		guard_add(&run->hits, GUARD_CLOCK_LAG, false,
			  "its clock runs %.2f steps ahead of the GPU, the "
			  "control's %.2f: means of the printed tok/s do not "
			  "compare",
			  run->window.lag_steps, control->window.lag_steps);
	if (run->y < IMPLAUSIBLE * control->y)
		guard_add(&run->hits, GUARD_IMPLAUSIBLE, false,
			  "%.4g against %.4g: look at it before believing it",
			  run->y, control->y);
}

/* A log that stands for two runs is one run: it would fake precision. */
static void
check_copies(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

		/* Runs that we started ourselves are what they are. */
		if (run->state != RUN_STATE_CLAIMED || run->log == NULL)
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct run_log *other = judge->runs[k].log;

			if (other == NULL ||
			    strcmp(other->sha256, run->log->sha256) != 0)
				continue;
			/* Scores of a cost model repeat to the byte. */
			guard_add(&run->hits, GUARD_COPY,
				  run->log->kind == RUN_LOG_TRAINING,
				  "byte for byte the log of another run");
			break;
		}
	}
}

/* Is this a fault of the pod at that moment rather than of the variant? */
static bool
is_transient(enum guard guard)
{
	return guard == GUARD_THROTTLED || guard == GUARD_FOREIGN ||
	       guard == GUARD_CLOCK || guard == GUARD_LOST;
}

static void
drop(struct judge *judge, const struct judge_run *run, const char *why)
{
	struct judge_dropped *dropped;

	if (judge->n_dropped == JUDGE_MAX_DROPPED)
		return;
	judge->dropped = xgrow(judge->dropped, judge->n_dropped,
			       &judge->cap_dropped, sizeof(*judge->dropped));
	dropped = &judge->dropped[judge->n_dropped++];
	dropped->pod = run->pod;
	dropped->block = run->block;
	dropped->arm = run->arm;
	(void)snprintf(dropped->reason, sizeof(dropped->reason), "%s: %s",
		       judge->arms[run->arm].tag, why);
}

static void
drop_for(struct judge *judge, const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);
	char why[200];

	if (hit == NULL) {
		drop(judge, run, "no measurement");
		return;
	}
	(void)snprintf(why, sizeof(why), "%s: %s", guard_word(hit->guard),
		       hit->text);
	drop(judge, run, why);
}

/* Does the run lend its y to its block? */
static bool
is_usable(const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	/* Work that differs is shown, but makes its variant INVALID. */
	return run->counted && run->y > 0.0 && isfinite(run->y) &&
	       (hit == NULL || hit->guard == GUARD_WORK ||
		hit->guard == GUARD_SAME);
}

static void
summarize(struct judge *judge, size_t arm)
{
	struct judge_summary *s = &judge->summary[arm];
	double *y = xmalloc((judge->n_runs + 1) * sizeof(*y));
	double *legacy = xmalloc((judge->n_runs + 1) * sizeof(*y));
	size_t n_legacy = 0;

	*s = (struct judge_summary){ 0 };
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || !run->counted)
			continue;
		if (is_usable(run))
			y[s->n++] = run->y;
		else
			s->n_invalid++;
		if (!isnan(run->legacy.mean))
			legacy[n_legacy++] = run->legacy.mean;
	}
	s->min = stats_min(y, s->n);
	s->median = stats_median(y, s->n);
	s->max = stats_max(y, s->n);
	s->mad = stats_mad(y, s->n);
	s->spread_pct = 100.0 * (s->max - s->min) / s->median;
	s->legacy_mean = stats_mean(legacy, n_legacy);
	free(legacy);
	free(y);
}

static void
mark_outliers(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];
		const struct judge_summary *s = &judge->summary[run->arm];

		run->outlier = is_usable(run) && s->n >= 4 &&
			       fabs(run->y - s->median) >
				       OUTLIER_Z * MAD_TO_SD * s->mad;
		if (run->outlier)
			guard_add(&run->hits, GUARD_HELD, false,
				  "%.4g, the arm's median is %.4g", run->y,
				  s->median);
	}
}

/* The y of all usable runs of an arm. */
static size_t
collect(const struct judge *judge, size_t arm, double *y, bool as_log)
{
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].arm == arm && is_usable(&judge->runs[i]))
			y[n++] = as_log ? log(judge->runs[i].y)
					: judge->runs[i].y;
	return n;
}

/* The tests that know nothing of blocks. */
static void
compare_unblocked(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	double *x = xmalloc((judge->n_runs + 1) * sizeof(*x));
	double *y = xmalloc((judge->n_runs + 1) * sizeof(*y));
	double alpha = judge->rule.paired.alpha;
	size_t n = collect(judge, 0, x, true);
	size_t m = collect(judge, c->arm, y, true);

	c->welch = multi_welch(x, n, y, m, alpha);
	n = collect(judge, 0, x, false);
	m = collect(judge, c->arm, y, false);
	c->rank = rank_mann_whitney(x, n, y, m, alpha);
	c->median_delta_pct = 100.0 * (b->median / a->median - 1.0);
	c->min_delta_pct = 100.0 * (b->min / a->min - 1.0);
	c->legacy_pct = 100.0 * (b->legacy_mean / a->legacy_mean - 1.0);
	free(x);
	free(y);
}

/* The pod's entry in the contrast, made when it is new. */
static size_t
pod_entry(struct judge_contrast *c, size_t pod)
{
	for (size_t i = 0; i < c->n_pods; i++)
		if (c->pods[i].pod == pod)
			return i;
	c->pods = xreallocarray(c->pods, c->n_pods + 1, sizeof(*c->pods));
	c->pods[c->n_pods] = (struct judge_pod){ .pod = pod };
	return c->n_pods++;
}

/* The pods' own results, and how far they agree. */
static void
compare_pods(const struct judge *judge, struct judge_contrast *c,
	     const size_t *pod_of)
{
	double *d = xmalloc((c->n_blocks + 1) * sizeof(*d));
	double *means = xmalloc((c->n_pods + 1) * sizeof(*d));
	double *ses = xmalloc((c->n_pods + 1) * sizeof(*d));

	for (size_t p = 0; p < c->n_pods; p++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n_blocks; i++)
			if (pod_of[i] == c->pods[p].pod)
				d[n++] = c->d[i];
		c->pods[p].paired = paired_compare(d, n, &judge->rule.paired);
		means[p] = c->pods[p].paired.mean;
		/* A spread of two values says nothing of a spread. */
		ses[p] = n >= PODS_LEAST_BLOCKS ? c->pods[p].paired.se
						: (double)NAN;
	}
	c->spread = multi_pods(means, ses, c->n_pods);
	c->across_pods = c->n_pods >= PODS_AS_UNITS;
	c->paired = c->across_pods ? paired_compare(means, c->n_pods,
						    &judge->rule.paired)
				   : paired_compare(c->d, c->n_blocks,
						    &judge->rule.paired);
	free(d);
	free(means);
	free(ses);
}

/* All blocks in which both the control and the variant can be used. */
static void
collect_blocks(struct judge *judge, struct judge_contrast *c)
{
	size_t *pod_of = xmalloc((judge->n_runs + 1) * sizeof(*pod_of));

	c->d = xmalloc((judge->n_runs + 1) * sizeof(*c->d));
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		const struct judge_run *control;

		if (run->arm != c->arm || !run->counted)
			continue;
		control = control_of(judge, run);
		if (!is_usable(run)) {
			drop_for(judge, run);
		} else if (control == NULL) {
			drop(judge, run, "the control has no run in its block");
		} else if (is_usable(control)) {
			pod_of[c->n_blocks] = run->pod;
			c->d[c->n_blocks++] = log(control->y) - log(run->y);
			pod_entry(c, run->pod);
		}
	}
	compare_pods(judge, c, pod_of);
	free(pod_of);
}

/* The hits of a contrast: the hard ones of its runs first. */
static void
collect_hits(const struct judge *judge, struct judge_contrast *c)
{
	for (int hard = 1; hard >= 0; hard--)
		for (size_t i = 0; i < judge->n_runs; i++) {
			const struct judge_run *run = &judge->runs[i];

			if (run->arm != c->arm || !run->counted)
				continue;
			for (size_t k = 0; k < run->hits.n; k++)
				if (run->hits.hit[k].hard == (hard == 1))
					guard_add(&c->hits,
						  run->hits.hit[k].guard,
						  hard == 1, "%s",
						  run->hits.hit[k].text);
		}
}

/* The guard that makes the variant INVALID, or NULL. */
static const char *
invalid_by(const struct judge_contrast *c)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].hard && !is_transient(c->hits.hit[i].guard))
			return guard_word(c->hits.hit[i].guard);
	return NULL;
}

static bool
has_hit(const struct judge_contrast *c, enum guard guard)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].guard == guard)
			return true;
	return false;
}

/* Do the pods contradict each other so that there is no common winner? */
static bool
has_no_winner(const struct judge_contrast *c, double alpha)
{
	bool up = false, down = false, all_shown = true;

	for (size_t i = 0; i < c->n_pods; i++) {
		up |= c->pods[i].paired.mean > 0.0;
		down |= c->pods[i].paired.mean < 0.0;
		all_shown &= c->pods[i].paired.p < alpha;
	}
	if (up && down && (c->spread.p_q < POD_P || c->across_pods))
		return true;
	return c->pods_differ && !c->across_pods && !all_shown;
}

static unsigned int
suffixes_of(const struct judge *judge, const struct judge_contrast *c)
{
	unsigned int suffixes = 0;

	if (c->trend != WINDOW_STEADY)
		suffixes |= 1U << VERDICT_NOT_STEADY;
	if (c->pods_differ)
		suffixes |= 1U << VERDICT_PODS_DIFFER;
	if (has_hit(c, GUARD_OUTPUTS))
		suffixes |= 1U << VERDICT_OUTPUTS_CHANGED;
	if (judge->training && has_hit(c, GUARD_UNCHECKED))
		suffixes |= 1U << VERDICT_OUTPUTS_UNCHECKED;
	if (judge->arms[c->arm].numerics_changed)
		suffixes |= 1U << VERDICT_UNPROVEN;
	return suffixes;
}

static void
decide(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_rule *rule = &judge->rule;
	struct verdict_input input = {
		.invalid = invalid_by(c),
		.need = rule->need,
		.paired = &c->paired,
		.p = isnan(c->p_holm) ? c->paired.p : c->p_holm,
		.alpha = rule->paired.alpha,
		.margin = rule->paired.margin,
		.register_sd = rule->register_sd,
		.register_df = rule->register_df,
		.suffixes = suffixes_of(judge, c),
	};

	input.no_winner = has_no_winner(c, rule->paired.alpha);
	c->blocks_to_margin =
		paired_blocks_needed(c->paired.sd, log1p(rule->paired.margin),
				     rule->paired.alpha, rule->paired.power);
	verdict_judge(&c->verdict, &input);
	input.invalid = NULL;
	verdict_judge(&c->if_valid, &input);
}

/* Holm over the variants (not the A/A arm), and intervals at alpha / m. */
static void
adjust(struct judge *judge)
{
	double p[SCHEDULE_MAX_ARMS], holm[SCHEDULE_MAX_ARMS];
	size_t m = 0;

	for (size_t i = 0; i < judge->n_contrasts; i++) {
		const struct judge_contrast *c = &judge->contrasts[i];
		bool counts = !judge->arms[c->arm].aa && invalid_by(c) == NULL;

		p[i] = counts ? c->paired.p : (double)NAN;
		m += counts ? 1 : 0;
	}
	multi_holm(p, holm, judge->n_contrasts);
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->p_holm = judge->rule.holm ? holm[i] : p[i];
		if (judge->rule.holm && m > 1 && !isnan(p[i]))
			paired_widen(&c->paired,
				     judge->rule.paired.alpha / (double)m);
	}
}

/* How far the control's own losses spread, where its runs share a seed. */
static void
learn_losses(struct judge *judge)
{
	double *val = xmalloc((judge->n_runs + 1) * sizeof(*val));
	double seed = (double)NAN;
	size_t n = 0;
	bool same = true;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != 0 || !run->counted || run->log == NULL ||
		    isnan(run->log->val_loss))
			continue;
		val[n++] = run->log->val_loss;
		if (n > 1 && run->log->run.seed != seed)
			same = false;
		seed = run->log->run.seed;
	}
	if (n >= 3 && same)
		guard_loss_widen(&judge->rule.losses, stats_sd(val, n),
				 (double)NAN);
	free(val);
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
	learn_losses(judge);
	check_copies(judge);
	for (size_t i = 0; i < n_runs; i++) {
		const struct judge_run *control = control_of(judge, &runs[i]);

		if (runs[i].arm != 0 && runs[i].counted && control != NULL)
			check_pair(judge, &runs[i], control);
	}
	for (size_t arm = 0; arm < n_arms; arm++)
		summarize(judge, arm);
	mark_outliers(judge);
	for (size_t i = 0; i < n_runs; i++)
		if (runs[i].arm == 0 && runs[i].counted && !is_usable(&runs[i]))
			drop_for(judge, &runs[i]);
	judge->contrasts = xcalloc(n_arms, sizeof(*judge->contrasts));
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->arm = i + 1;
		collect_blocks(judge, c);
		collect_hits(judge, c);
		compare_unblocked(judge, c);
		c->pods_differ = c->spread.p_q < POD_P;
		c->trend = judge_trend(judge, c->arm);
	}
	adjust(judge);
	for (size_t i = 0; i < judge->n_contrasts; i++)
		decide(judge, &judge->contrasts[i]);
}

void
judge_release(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		free(judge->contrasts[i].d);
		free(judge->contrasts[i].pods);
	}
	free(judge->contrasts);
	free(judge->dropped);
	for (size_t i = 0; i < judge->n_runs; i++)
		step_times_release(&judge->runs[i].times);
}

void
judge_block_means(const struct judge *judge, const struct judge_contrast *c,
		  double *control, double *variant)
{
	double a = 0.0, b = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i], *other;

		if (run->arm != c->arm || !run->counted)
			continue;
		other = control_of(judge, run);
		if (other == NULL || !(other->y > 0.0) || !(run->y > 0.0))
			continue;
		a += log(other->y);
		b += log(run->y);
		n++;
	}
	*control = n > 0 ? exp(a / (double)n) : (double)NAN;
	*variant = n > 0 ? exp(b / (double)n) : (double)NAN;
	if (judge->rule.higher) {
		*control = 1.0 / *control;
		*variant = 1.0 / *variant;
	}
}

void
judge_confirm(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];
		const struct judge_contrast *c =
			run->arm > 0 ? &judge->contrasts[run->arm - 1] : NULL;

		if (run->state != RUN_STATE_VERIFIED)
			continue;
		if (guard_hard(&run->hits) != NULL)
			run->state = RUN_STATE_MEASURED;
		else if (c != NULL && c->verdict.word == VERDICT_FASTER &&
			 c->n_blocks >= VERDICT_MIN_BLOCKS)
			run->state = RUN_STATE_CONFIRMED;
	}
}
