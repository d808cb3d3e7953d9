/* SPDX-License-Identifier: MIT */
/*
 * One number a run; runs to blocks, blocks to contrasts, contrasts to verdicts,
 * the runs that stand far out, of which none is removed for its value, and
 * which variant is the best; called by `bench judge` and after each block.
 */
#include "bench/judge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/judge_priv.h"

const char *const run_state_words[] = {
#define X(id, name) name,
	RUN_STATE_LIST(X)
#undef X
		NULL
};

struct judge_run *judge_next(const struct judge *judge, size_t arm, const struct judge_run *after)
{
	struct judge_run *run = judge->runs;
	const struct judge_run *end = judge->runs + judge->n_runs;

	if (after != NULL)
		run += after - judge->runs + 1;
	while (run < end && (!run->counted || (arm != JUDGE_ANY && run->arm != arm)))
		run++;
	return run < end ? run : NULL;
}

struct judge_run *judge_beside(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	struct judge_run *run = judge_next(judge, arm, NULL);

	while (run != NULL &&
	       (run->pod != like->pod || run->block != like->block || run->rep != like->rep))
		run = judge_next(judge, arm, run);
	return run;
}

bool judge_is_usable(const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	/* Work that differs is shown, but makes its variant INVALID. */
	return run->counted && !run->odd && run->y > 0.0 && isfinite(run->y) &&
	       (hit == NULL || hit->guard == GUARD_WORK || hit->guard == GUARD_SAME);
}

bool judge_is_main(const struct judge_run *run)
{
	return run->counted && !run->fresh;
}

double *judge_room(const struct judge *judge)
{
	return xmalloc((judge->n_runs + 1) * sizeof(double));
}

/* What its blocks spread by, for what more of them would show. */
static struct paired_noise judge_noise(const struct judge_contrast *c)
{
	return (struct paired_noise){ c->paired.sd, c->between_sd };
}

#define DEFAULT_LO 20.0
#define DEFAULT_HI 100.0
/* A step_avg of two decimals is off by this; a clock by no such share. */
#define AVERAGE_ROUNDING  0.01
#define AVERAGE_TOLERANCE 0.02

static bool is_healthy(const struct judge_run *run)
{
	return run->counted && guard_hard(&run->hits) == NULL && run->times.n > 0;
}

/* The clock of one training log. */
static void read_clock(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->log->n_rows == 0)
		return;
	if (step_times_init(&run->times, run->log->rows, run->log->n_rows, judge->rule.tok_kind,
			    run->log->run.train_batch_tokens, &err) != 0)
		guard_add(&run->hits, GUARD_PARSE, true, "%s", err.text);
}

/* Do all healthy runs have rows at the usual ends? */
static bool has_default_window(const struct judge *judge)
{
	const struct judge_run *run = NULL;
	size_t n = 0;

	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL) {
		if (!is_healthy(run))
			continue;
		if (step_find(&run->times, DEFAULT_LO) == run->times.n ||
		    step_find(&run->times, DEFAULT_HI) == run->times.n)
			return false;
		n++;
	}
	return n > 0;
}

/* The step at which one run becomes steady; NAN: it never does. */
static double steady_from(const struct judge_run *run)
{
	AUTO_FREE double *ms = xmalloc((run->times.n + 1) * sizeof(*ms));
	size_t n = step_intervals(&run->times, 0.0, (double)INFINITY, ms, NULL);
	int cut = window_mser(ms, n, NULL);

	return cut >= 0 ? run->times.step[cut] : (double)NAN;
}

/*
 * All rows behind the first quarter: a share that no value has a part in.  From
 * where MSER calls all runs steady is a suggestion for the next bench.
 */
static void find_auto_window(struct judge *judge)
{
	const struct judge_run *run = NULL;
	double steady = (double)NAN;
	bool all = true;

	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL) {
		const struct step_times *times = &run->times;

		if (!is_healthy(run))
			continue;
		judge->lo = fmax(judge->lo, times->step[times->n / 4]);
		judge->hi = fmin(judge->hi, times->step[times->n - 1]);
		all &= !isnan(steady_from(run));
		steady = fmax(steady, steady_from(run));
	}
	judge->steady_from = all ? steady : (double)NAN;
	judge->window_auto = true;
}

static void choose_window(struct judge *judge)
{
	const struct judge_rule *rule = &judge->rule;

	if (rule->window == WINDOW_FIXED) {
		judge->lo = rule->lo;
		judge->hi = rule->hi;
	} else if (rule->window == WINDOW_DEFAULT && has_default_window(judge)) {
		judge->lo = DEFAULT_LO;
		judge->hi = DEFAULT_HI;
	} else {
		find_auto_window(judge);
	}
}

/* The row of that step that prints both its time and their mean, or NULL. */
static const struct step_row *averaged_row(const struct run_log *log, double step)
{
	return array_find(row, log->rows, log->n_rows,
			  row->step == step && row->train_ms > 0.0 && row->step_avg_ms > 0.0);
}

/*
 * train_time by step_avg is the number of steps that were timed: whatever it
 * leaves out at the front, it rises by one a step, or one of the two clocks
 * is wrong.
 */
static void check_average(struct judge_run *run, double lo, double hi)
{
	const struct step_row *a = averaged_row(run->log, lo);
	const struct step_row *b = averaged_row(run->log, hi);

	if (a == NULL || b == NULL)
		return;
	double rise = (b->train_ms / b->step_avg_ms - a->train_ms / a->step_avg_ms) / (hi - lo);
	double rounded =
		(AVERAGE_ROUNDING / b->step_avg_ms * hi + AVERAGE_ROUNDING / a->step_avg_ms * lo) /
		(hi - lo);
	if (fabs(rise - 1.0) > AVERAGE_TOLERANCE + rounded)
		guard_add(&run->hits, GUARD_PARSE, true,
			  "its two clocks disagree: from step %.0f to %.0f "
			  "step_avg counts %.2f steps for each one in "
			  "train_time",
			  lo, hi, rise);
}

static void measure_training(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->times.n == 0 || isnan(judge->lo) || isnan(judge->hi))
		return;
	run->legacy = step_legacy(run->log->rows, run->log->n_rows, judge->lo, judge->hi);
	if (step_window_measure(&run->window, &run->times, judge->lo, judge->hi, &err) != 0) {
		guard_add(&run->hits, GUARD_WINDOW, true, "%s", err.text);
		return;
	}
	check_average(run, judge->lo, judge->hi);
	run->has_window = true;
	run->y = run->window.y_ms;
}

static void measure_score(const struct judge *judge, struct judge_run *run)
{
	double value = run->log->score.root != NULL ? run->log->score.value : (double)NAN;

	if (value > 0.0)
		run->y = judge->rule.higher ? 1.0 / value : value;
	else if (!isnan(value))
		guard_add(&run->hits, GUARD_PARSE, true, "a score of %g has no ratio", value);
}

/* How fine the clock of an arm's logs is, against the window. */
static double window_ticks(const struct judge *judge, size_t arm)
{
	const struct judge_run *run = NULL;
	double least = (double)NAN;
	uint64_t unit = 0;

	while ((run = judge_next(judge, arm, run)) != NULL)
		if (run->has_window)
			unit = step_unit(&run->times, run->log->rows, unit);
	while ((run = judge_next(judge, arm, run)) != NULL)
		if (run->has_window)
			least = fmin(least, step_ticks(&run->times, run->log->rows, judge->lo,
						       judge->hi, unit));
	return least;
}

/* Rows in the window must be those of the first healthy control. */
static void check_rows(struct judge *judge)
{
	const struct judge_run *first = judge_next(judge, 0, NULL);

	while (first != NULL && !(first->has_window && is_healthy(first)))
		first = judge_next(judge, 0, first);
	for (size_t i = 0; i < judge->n_runs && first != NULL; i++) {
		struct judge_run *run = &judge->runs[i];

		if (run->has_window && run->window.n_rows < first->window.n_rows)
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "%zu rows in the window, the control has %zu", run->window.n_rows,
				  first->window.n_rows);
	}
}

/* Guards of each log, its clock, the common window, y. */
static void judge_measure(struct judge *judge)
{
	array_each (run, judge->runs, judge->n_runs) {
		run->times = (struct step_times){ 0 };
		run->has_window = run->outlier = run->odd = false;
		run->y = run->value = run->val_loss = run->legacy = (double)NAN;
		run->window = step_window_none;
		if (run->log == NULL) {
			guard_add(&run->hits, GUARD_LOST, true, "no log");
			continue;
		}
		run_log_guards(run->log, &run->hits);
		run->val_loss = run->log->val_loss;
		if (run->log->kind == RUN_LOG_TRAINING) {
			judge->training |= run->log->n_rows > 0;
			read_clock(judge, run);
		}
	}
	if (judge->training)
		choose_window(judge);
	array_each (run, judge->runs, judge->n_runs) {
		if (run->log == NULL)
			continue;
		if (run->log->kind == RUN_LOG_TRAINING)
			measure_training(judge, run);
		else
			measure_score(judge, run);
		run->value = judge->rule.higher ? 1.0 / run->y : run->y;
	}
	check_rows(judge);
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		judge->summary[arm].ticks = window_ticks(judge, arm);
}

/* Log ratios of the interval times of two runs, added to sum; their median,
 * NAN: they have not the same rows.  *gain_ms: the median of what the intervals
 * gained, a step. */
static double add_ratios(const struct judge *judge, const struct judge_run *control,
			 const struct judge_run *run, double *sum, double *mid, double *gain_ms)
{
	size_t room = control->times.n > run->times.n ? control->times.n : run->times.n;
	AUTO_FREE double *a = xmalloc((room + 1) * sizeof(*a));
	AUTO_FREE double *b = xmalloc((room + 1) * sizeof(*b));
	double median = (double)NAN;
	size_t n = step_intervals(&control->times, judge->lo, judge->hi, a, mid);
	size_t m = step_intervals(&run->times, judge->lo, judge->hi, b, NULL);

	for (size_t i = 0; n == m && i < n; i++) {
		double ratio = log(b[i] / a[i]);

		a[i] -= b[i];
		b[i] = ratio;
		sum[i] += ratio;
	}
	if (n == m) {
		median = stats_median(b, n);
		*gain_ms = stats_median(a, n);
	}
	return median;
}

/* The interval whose mean log ratio is furthest from their median. */
static void find_odd(struct judge_steps *steps, const struct step_times *times, double lo,
		     const double *ratio, size_t n)
{
	double median = stats_median(ratio, n), far = 0.0;
	size_t first = step_find(times, lo);

	for (size_t i = 0; i < n; i++) {
		if (!(fabs(ratio[i] - median) > far))
			continue;
		far = fabs(ratio[i] - median);
		steps->odd_lo = times->step[first + i];
		steps->odd_hi = times->step[first + i + 1];
		steps->odd_times = exp(ratio[i] - median);
	}
}

/* The variant's time, interval by interval against the control's: is it
 * steady, and do the intervals say what their sum does? */
static void judge_look_inside(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *control = NULL, *run, *last = NULL;
	AUTO_FREE double *away = judge_room(judge), *uneven = judge_room(judge);
	double *sum = NULL, *mid = NULL, gain_ms;
	size_t n = 0, pairs = 0;

	while ((control = judge_next(judge, c->base, control)) != NULL) {
		run = judge_beside(judge, c->arm, control);
		if (run == NULL || !judge_is_main(control) || !judge_is_usable(control) ||
		    !judge_is_usable(run) || !control->has_window || !run->has_window)
			continue;
		if (sum == NULL) {
			n = control->window.n_rows - 1;
			sum = xcalloc(control->times.n + 1, sizeof(*sum));
			mid = xcalloc(control->times.n + 1, sizeof(*mid));
		}
		if (control->window.n_rows - 1 != n || control->times.n <= n)
			continue;
		double median = add_ratios(judge, control, run, sum, mid, &gain_ms);
		if (isnan(median))
			continue;
		uneven[pairs] = log((control->y - gain_ms) / run->y);
		away[pairs++] = log(control->y / run->y) + median;
		last = control;
	}
	if (pairs > 0) {
		for (size_t i = 0; i < n; i++)
			sum[i] /= (double)pairs;
		c->trend = window_trend(mid, sum, n);
		find_odd(&c->steps, &last->times, judge->lo, sum, n);
	}
	c->steps.away = paired_compare(away, pairs, &judge->rule.paired);
	c->steps.uneven = paired_compare(uneven, pairs, &judge->rule.paired);
	free(sum);
	free(mid);
}

/* Marks in shape of a modified z score. */
#define OUTLIER_Z    3.5
#define MAD_TO_SD    1.4826
#define LEAST_VALUES 4
/* Nothing nearer than so many margins is far out, however quiet its siblings
 * are; where over half of them are equal, the mad is 0 and that alone counts.
 */
#define LEAST_MARGINS 2.0
/* Outliers widened an interval if it is this many times as wide as the other blocks make it. */
#define WIDENED 3.0

/* A number of the health of a run that may explain it. */
struct trait {
	size_t offset; /* of a double in struct health_sum */
	double least;  /* a difference smaller than this says nothing */
	double share;  /* nor one smaller than this share of the others' */
	const char *before;
	int decimals;
	const char *after;
};

#define AT(field) offsetof(struct health_sum, field)

static const struct trait traits[] = {
	{ AT(sm_mhz), 20.0, 0.02, "SM clock ", 0, " MHz" },
	{ AT(util_pct), 15.0, 0.2, "GPU utilised ", 0, "%" },
	{ AT(temp_c), 10.0, 0.1, "GPU at ", 0, " C" },
	{ AT(power_w), 30.0, 0.15, "power ", 0, " W" },
	{ AT(power_cap_share), 0.2, 0.2, "power cap in ", 2, " of samples" },
	{ AT(wait_s), 0.05, 1.0, "waited for a CPU ", 2, " s" },
	{ AT(quota_s), 0.05, 1.0, "held by the CPU quota ", 2, " s" },
	{ AT(steal_s), 0.1, 1.0, "CPU stolen ", 2, " s" },
	{ AT(busy_cores), 0.5, 0.25, "cores busy on the host ", 1, "" },
};

static double value_of(const struct health_sum *health, const struct trait *trait)
{
	double value;

	memcpy(&value, (const char *)health + trait->offset, sizeof(value));
	return value;
}

/* The median of a trait over the arm's other runs; NAN: unknown. */
static double others_median(const struct judge *judge, const struct judge_run *run,
			    const struct trait *trait)
{
	const struct judge_run *other = NULL;
	AUTO_FREE double *x = judge_room(judge);
	size_t n = 0;

	while ((other = judge_next(judge, run->arm, other)) != NULL)
		if (other != run && other->health != NULL && judge_is_usable(other) &&
		    !isnan(value_of(other->health, trait)))
			x[n++] = value_of(other->health, trait);
	return stats_median(x, n);
}

static void __attribute__((format(printf, 2, 3)))
add_seen(struct judge_run *run, const char *format, ...)
{
	size_t len = strlen(run->seen);
	va_list ap;

	if (len > 0 && len + 3 < sizeof(run->seen)) {
		memcpy(run->seen + len, "; ", 3);
		len += 2;
	}
	va_start(ap, format);
	(void)vsnprintf(run->seen + len, sizeof(run->seen) - len, format, ap);
	va_end(ap);
}

/* Where its telemetry differs from its siblings'. */
static void explain(const struct judge *judge, struct judge_run *run)
{
	const struct health_sum *health = run->health;
	size_t known = 0, i;

	if (health == NULL) {
		add_seen(run, "no telemetry of it");
		return;
	}
	if (health->reasons & HEALTH_THROTTLE)
		add_seen(run, "throttled (bits 0x%lx)", health->reasons & HEALTH_THROTTLE);
	if (health->foreign[0] != '\0')
		add_seen(run, "another program on its GPUs (%s)", health->foreign);
	for (i = 0; i < LENGTH(traits); i++) {
		const struct trait *t = &traits[i];
		double own = value_of(health, t);
		double others = others_median(judge, run, t);
		double away = fabs(own - others);

		known += isnan(away) ? 0 : 1;
		if (away > t->least && away > t->share * others)
			add_seen(run, "%s%.*f%s (others %.*f)", t->before, t->decimals, own,
				 t->after, t->decimals, others);
	}
	if (run->seen[0] == '\0')
		add_seen(run, known > 0 ? "its telemetry is like that of its "
					  "siblings"
					: "no telemetry to hold against it");
}

/* Runs far from their arm's median, and what was seen in them. */
static void judge_mark_outliers(struct judge *judge)
{
	double least = LEAST_MARGINS * judge->rule.paired.margin;
	struct judge_run *run;

	for (size_t i = 0; i < judge->n_runs; i++) {
		run = &judge->runs[i];
		const struct judge_summary *s = &judge->summary[run->arm];
		run->z = run->times_median = (double)NAN;
		run->seen[0] = '\0';
		if (!judge_is_usable(run))
			continue;
		run->times_median = run->y / s->median;
		if (s->n < LEAST_VALUES)
			continue;
		if (s->mad > 0.0)
			run->z = (run->y - s->median) / (MAD_TO_SD * s->mad);
		run->outlier = fabs(run->times_median - 1.0) > least &&
			       (!(s->mad > 0.0) || fabs(run->z) > OUTLIER_Z);
		if (run->outlier)
			guard_add(&run->hits, GUARD_HELD, false, "%.4g, the arm's median is %.4g",
				  run->y, s->median);
	}
	for (run = NULL; (run = judge_next(judge, JUDGE_ANY, run)) != NULL;)
		if (run->outlier)
			explain(judge, run);
}

bool judge_is_side(const struct judge_contrast *c, size_t arm)
{
	return arm == 0 || arm == c->arm || (c->second != 0 && arm == c->second);
}

bool judge_widens_interval(const struct judge_contrast *c, const struct judge_run *run)
{
	double away = fabs(log(run->times_median));

	return run->outlier && judge_is_side(c, run->arm) && away > WIDENED * c->robust_sd &&
	       away > c->block_sd / 2.0;
}

/* As they were measured: a fit of places spreads what one run did over all. */
static size_t collect_measured(const struct judge_contrast *c, double *d)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts)
			d[n++] = c->blocks[i].d;
	return n;
}

/* What they did to a contrast. */
static void judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c)
{
	const struct paired_rule *rule = &judge->rule.paired;
	AUTO_FREE double *d = judge_room(judge);
	size_t n = collect_measured(c, d);
	struct paired whole = paired_compare(d, n, rule);

	c->robust_sd = n >= LEAST_VALUES ? MAD_TO_SD * stats_mad(d, n) : (double)NAN;
	c->block_sd = whole.sd;
	/* Without any spread chance has nothing to be held against. */
	if (n >= VERDICT_MIN_BLOCKS && whole.sd == 0.0)
		guard_add(&c->hits, GUARD_NO_SPREAD, false,
			  "all %zu blocks differ by the same: it is computed, "
			  "or measured too coarsely to spread; p says nothing",
			  n);
	array_each (run, judge->runs, judge->n_runs) {
		if (judge_is_side(c, run->arm) && run->outlier)
			c->n_outliers++;
		c->widened |= judge_widens_interval(c, run);
	}
	c->widened &= whole.sd > WIDENED * c->robust_sd;
	for (size_t i = 0; i < n; i++)
		c->n_agree += d[i] * c->paired.hl > 0.0 ? 1 : 0;
	c->blocks_to_hl =
		paired_blocks_needed(judge_noise(c), fabs(whole.hl), rule->alpha, rule->power);
}

/* Pods from which their means, not their blocks, are what is compared. */
#define PODS_AS_UNITS 3
/* Their spread is more than chance. */
#define POD_P 0.05

static void judge_summarize(struct judge *judge, size_t arm)
{
	struct judge_summary *s = &judge->summary[arm];
	AUTO_FREE double *y = judge_room(judge), *legacy = judge_room(judge);
	AUTO_FREE double *val = judge_room(judge);
	const struct judge_run *run = NULL;
	size_t n_legacy = 0, n_val = 0;
	bool higher = judge->rule.higher;

	*s = (struct judge_summary){ .batch = (double)NAN, .ticks = s->ticks };
	while ((run = judge_next(judge, arm, run)) != NULL) {
		if (!isnan(run->val_loss))
			val[n_val++] = run->val_loss;
		if (isnan(s->batch) && run->log != NULL && run->log->run.train_batch_tokens > 0.0)
			s->batch = run->log->run.train_batch_tokens;
		if (!judge_is_main(run))
			continue;
		if (judge_is_usable(run))
			y[s->n++] = run->y;
		else
			s->n_invalid++;
		if (!isnan(run->legacy))
			legacy[n_legacy++] = run->legacy;
	}
	s->min = stats_min(y, s->n);
	s->median = stats_median(y, s->n);
	s->max = stats_max(y, s->n);
	s->mad = stats_mad(y, s->n);
	s->low = higher ? 1.0 / s->max : s->min;
	s->middle = higher ? 1.0 / s->median : s->median;
	s->high = higher ? 1.0 / s->min : s->max;
	s->spread_pct = 100.0 * (s->max - s->min) / s->median;
	s->legacy_mean = stats_mean(legacy, n_legacy);
	s->val_loss = stats_mean(val, n_val);
}

/* The y of all usable runs of an arm. */
static size_t collect_y(const struct judge *judge, size_t arm, double *y)
{
	const struct judge_run *run = NULL;
	size_t n = 0;

	while ((run = judge_next(judge, arm, run)) != NULL)
		if (judge_is_main(run) && judge_is_usable(run))
			y[n++] = run->y;
	return n;
}

/* The tests that know nothing of blocks. */
static void judge_compare_unblocked(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	AUTO_FREE double *x = judge_room(judge), *y = judge_room(judge);
	double alpha = judge->rule.paired.alpha;
	size_t n = collect_y(judge, 0, x), m = collect_y(judge, c->arm, y);

	c->rank = rank_mann_whitney(x, n, y, m, alpha);
	for (size_t i = 0; i < n; i++)
		x[i] = log(x[i]);
	for (size_t i = 0; i < m; i++)
		y[i] = log(y[i]);
	c->welch = multi_welch(x, n, y, m, alpha);
	c->median_delta_pct = 100.0 * (b->median / a->median - 1.0);
	c->min_delta_pct = 100.0 * (b->min / a->min - 1.0);
	c->legacy_pct = 100.0 * (b->legacy_mean / a->legacy_mean - 1.0);
}

/* Is it the first of its arm's runs in its block?  (To go over blocks.) */
static bool is_first(const struct judge *judge, const struct judge_run *run)
{
	for (const struct judge_run *other = judge->runs; other < run; other++)
		if (other->counted && other->arm == run->arm && other->pod == run->pod &&
		    other->block == run->block)
			return false;
	return true;
}

static bool is_beside(const struct judge_run *run, const struct judge_run *like)
{
	return run->counted && run->pod == like->pod && run->block == like->block;
}

/* Has the arm any run in that block? */
static bool has_runs(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	return any_of(i, judge->n_runs,
		      judge->runs[i].arm == arm && is_beside(&judge->runs[i], like));
}

static void drop_block(struct judge *judge, const struct judge_run *run, const char *why)
{
	struct judge_dropped *dropped;

	if (judge->n_dropped == JUDGE_MAX_DROPPED)
		return;
	dropped = xplace(judge->dropped, judge->n_dropped, judge->cap_dropped);
	dropped->pod = run->pod;
	dropped->block = run->block;
	dropped->arm = run->arm;
	print_into(dropped->reason, "%s: %s", judge->arms[run->arm].tag, why);
}

/* A block of the control that stands alone, in logs that somebody brought. */
static bool is_lonely(const struct judge *judge, const struct judge_run *run)
{
	bool lonely = run->arm == 0 && judge_is_main(run) && run->state == RUN_STATE_CLAIMED &&
		      is_first(judge, run);

	for (size_t arm = 1; lonely && arm < judge->n_arms; arm++)
		lonely = !has_runs(judge, arm, run);
	return lonely;
}

/* Note the blocks that unusable runs take with them, and why. */
static void judge_drop_blocks(struct judge *judge)
{
	const struct judge_run *run;
	char why[200];

	for (size_t arm = 0; arm < judge->n_arms; arm++)
		for (run = NULL; (run = judge_next(judge, arm, run)) != NULL;) {
			const struct guard_hit *hit = guard_hard(&run->hits);

			if (!judge_is_usable(run)) {
				print_into(why, "%s%s%s",
					   hit != NULL ? guard_words[hit->guard] : "no measurement",
					   hit != NULL ? ": " : "", hit != NULL ? hit->text : "");
				drop_block(judge, run, why);
			} else if (is_lonely(judge, run)) {
				drop_block(judge, run,
					   "no other arm has a run in its "
					   "block");
			} else if (arm > 0 && is_first(judge, run) && !has_runs(judge, 0, run)) {
				drop_block(judge, run,
					   "the control has no run in its "
					   "block");
			}
		}
}

/* Did the pod do something in that block that is nobody's speed?  Then it
 * goes for all arms. */
static bool is_spoiled(const struct judge *judge, const struct judge_run *like)
{
	array_each (run, judge->runs, judge->n_runs) {
		const struct guard_hit *hit = guard_hard(&run->hits);

		if (hit != NULL && is_beside(run, like) &&
		    (hit->guard == GUARD_THROTTLED || hit->guard == GUARD_FOREIGN ||
		     hit->guard == GUARD_CLOCK || hit->guard == GUARD_LOST))
			return true;
	}
	return false;
}

/*
 * What an arm's runs lend to a block: the median of their y, whatever their
 * guards say.  The block counts only while all of them can be used.
 */
static double block_y(const struct judge *judge, size_t arm, const struct judge_run *like,
		      struct judge_block *block)
{
	double y[JUDGE_MAX_REPS];
	size_t n = 0;

	array_each (run, judge->runs, judge->n_runs) {
		if (run->arm != arm || !is_beside(run, like))
			continue;
		if (!judge_is_usable(run) || n == JUDGE_MAX_REPS)
			block->counts = false;
		if (guard_hard(&run->hits) != NULL)
			block->mark = BLOCK_GUARDED;
		else if (run->outlier && block->mark == BLOCK_PLAIN)
			block->mark = BLOCK_OUTLIER;
		if (run->y > 0.0 && n < JUDGE_MAX_REPS)
			y[n++] = run->y;
	}
	return stats_median(y, n);
}

/* The mean place of an arm's runs in a block. */
static double block_place(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	double sum = 0.0, n = 0.0;

	array_each (run, judge->runs, judge->n_runs) {
		if (run->arm != arm || !is_beside(run, like))
			continue;
		sum += run->pos != JUDGE_ANY ? (double)(run->rep * judge->n_arms + run->pos)
					     : (double)NAN;
		n += 1.0;
	}
	return sum / n;
}

/* What the A/A arm did in that block; NAN: nothing that can be used. */
static void add_second(const struct judge *judge, const struct judge_contrast *c,
		       const struct judge_run *like, double a, struct judge_block *block)
{
	struct judge_block side = { .counts = true };
	double again = (double)NAN, place;

	block->fit.place = block_place(judge, c->base, like);
	if (c->second != 0)
		again = block_y(judge, c->second, like, &side);
	block->fit.aa = side.counts ? log(a) - log(again) : (double)NAN;
	if (!isnan(block->fit.aa)) {
		place = block_place(judge, c->second, like);
		block->fit.aa_place = block->fit.place - place;
		block->fit.place -= block->fit.aa_place / 2.0;
	}
	block->fit.place -= block_place(judge, c->arm, like);
}

static void collect_blocks(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	const struct judge_run *run = NULL;
	bool higher = judge->rule.higher;

	c->blocks = xcalloc(judge->n_runs + 1, sizeof(*c->blocks));
	while ((run = judge_next(judge, c->arm, run)) != NULL) {
		struct judge_block block = { .pod = run->pod, .block = run->block };

		if (run->fresh != fresh || !is_first(judge, run))
			continue;
		block.counts = !is_spoiled(judge, run);
		double a = block_y(judge, c->base, run, &block);
		double b = block_y(judge, c->arm, run, &block);
		if (isnan(a))
			continue;
		block.d = log(a) - log(b);
		block.counts &= isfinite(block.d);
		block.control = higher ? 1.0 / a : a;
		block.variant = higher ? 1.0 / b : b;
		add_second(judge, c, run, a, &block);
		c->n_blocks += block.counts ? 1 : 0;
		c->blocks[c->n_shown++] = block;
	}
}

static bool is_claimed(const struct judge *judge)
{
	return any_of(i, judge->n_runs, judge->runs[i].state == RUN_STATE_CLAIMED);
}

/* The A/A arm of a bench, which is the control once more; 0: none. */
static size_t find_second(const struct judge *judge, const struct judge_contrast *c)
{
	if (c->base == 0 && !judge->arms[c->arm].aa)
		for (size_t arm = 1; arm < judge->n_arms; arm++)
			if (judge->arms[arm].aa)
				return arm;
	return 0;
}

/* Control and A/A arm are one where each block that counts has both. */
static void join_controls(const struct judge *judge, struct judge_contrast *c)
{
	bool both = c->second != 0, placed = true;

	for (size_t i = 0; i < c->n_shown; i++) {
		const struct paired_block *fit = &c->blocks[i].fit;

		both &= !c->blocks[i].counts || isfinite(fit->aa);
		placed &= !c->blocks[i].counts || isfinite(fit->place + fit->aa_place);
	}
	array_each (block, c->blocks, c->n_shown) {
		double half = block->fit.aa / 2.0;

		if (both && isfinite(half)) {
			block->d -= half;
			block->control *= exp(judge->rule.higher ? half : -half);
		} else {
			/* Its places are those of the control alone. */
			block->fit.place += block->fit.aa_place / 2.0;
			block->fit.aa_place = 0.0;
			block->fit.aa = (double)NAN;
		}
		block->fit.d = block->d;
		if (!placed)
			block->fit.place = block->fit.aa_place = 0.0;
	}
	c->second = both ? c->second : 0;
}

/*
 * The comparison by the blocks of a pod, or of all with JUDGE_ANY, which then
 * keep what their places leave.
 */
static struct paired fit_blocks(const struct judge *judge, struct judge_contrast *c, size_t pod)
{
	AUTO_FREE struct paired_block *fit = xcalloc(c->n_shown + 1, sizeof(*fit));
	struct paired paired;
	size_t n = 0;

	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts && (pod == JUDGE_ANY || c->blocks[i].pod == pod))
			fit[n++] = c->blocks[i].fit;
	paired = paired_fit(fit, n, &judge->rule.paired);
	for (size_t i = 0, k = 0; pod == JUDGE_ANY && i < c->n_shown; i++)
		if (c->blocks[i].counts)
			c->blocks[i].fit.d = fit[k++].d;
	return paired;
}

/*
 * Two pods whose effects differ: what they differ by cannot be known of two,
 * and is taken to be what the rule says.  The same code on both does not.
 */
static void allow_for_pods(const struct judge *judge, struct judge_contrast *c)
{
	double sd = judge->rule.pods_sd, share, squares = 0.0;

	if (c->n_pods != 2 || c->across_pods || judge->arms[c->arm].aa)
		return;
	if (isnan(sd))
		sd = log1p(judge->rule.paired.margin);
	for (size_t p = 0; p < c->n_pods; p++) {
		share = (double)c->pods[p].paired.n / (double)c->n_blocks;
		squares += share * share;
	}
	c->between_sd = sd * sqrt(squares);
	paired_add_variance(&c->paired, c->between_sd * c->between_sd, &judge->rule.paired);
}

/* Geometric means of both sides, and the pods that have a part in them. */
static void gather_blocks(struct judge_contrast *c)
{
	double a = 0.0, b = 0.0, n = (double)c->n_blocks;

	c->pods = xcalloc(c->n_blocks + 1, sizeof(*c->pods));
	array_each (block, c->blocks, c->n_shown) {
		size_t p = 0;

		if (!block->counts)
			continue;
		a += log(block->control);
		b += log(block->variant);
		while (p < c->n_pods && c->pods[p].pod != block->pod)
			p++;
		c->pods[p].pod = block->pod;
		c->n_pods += p == c->n_pods ? 1 : 0;
	}
	c->control = c->n_blocks > 0 ? exp(a / n) : (double)NAN;
	c->variant = c->n_blocks > 0 ? exp(b / n) : (double)NAN;
}

/*
 * The blocks of c->arm and c->base, fresh ones or the others, and their
 * comparison; by the pods' means where there are three or more, or where two
 * are shown to differ.  Two that are not are taken to differ all the same.
 */
static void judge_compare_blocks(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	const struct paired_rule *rule = &judge->rule.paired;
	AUTO_FREE double *means = judge_room(judge), *sds = judge_room(judge);
	AUTO_FREE double *blocks = judge_room(judge);

	c->second = find_second(judge, c);
	collect_blocks(judge, c, fresh);
	join_controls(judge, c);
	gather_blocks(c);
	for (size_t p = 0; p < c->n_pods; p++) {
		c->pods[p].paired = fit_blocks(judge, c, c->pods[p].pod);
		means[p] = c->pods[p].paired.mean;
		sds[p] = c->pods[p].paired.sd;
		blocks[p] = (double)c->pods[p].paired.n;
	}
	c->spread = multi_pods(means, sds, blocks, c->n_pods);
	c->pods_differ = c->spread.p < POD_P;
	c->across_pods = c->n_pods >= PODS_AS_UNITS || c->pods_differ;
	c->paired = fit_blocks(judge, c, JUDGE_ANY);
	if (c->across_pods)
		c->paired = paired_compare(means, c->n_pods, rule);
	allow_for_pods(judge, c);
}

#define MAX_PAIRS (SCHEDULE_MAX_ARMS * (SCHEDULE_MAX_ARMS - 1) / 2)

/* Is this a fault of the pod at that moment rather than of the variant? */
static bool is_transient(enum guard guard)
{
	return guard == GUARD_FOREIGN || guard == GUARD_CLOCK || guard == GUARD_LOST;
}

/* The guard that makes the variant INVALID, or NULL. */
static const char *invalid_by(const struct judge_contrast *c)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].hard && !is_transient(c->hits.hit[i].guard))
			return guard_words[c->hits.hit[i].guard];
	return NULL;
}

static unsigned int suffixes_of(const struct judge *judge, const struct judge_contrast *c)
{
	const struct {
		enum verdict_suffix suffix;
		bool is;
	} all[] = {
		{ VERDICT_NOT_STEADY, c->trend != WINDOW_STEADY },
		{ VERDICT_PODS_DIFFER, c->pods_differ },
		{ VERDICT_OUTPUTS_CHANGED, guard_has(&c->hits, GUARD_OUTPUTS) },
		{ VERDICT_OUTPUTS_UNCHECKED,
		  judge->training && guard_has(&c->hits, GUARD_UNCHECKED) },
		{ VERDICT_OTHER_RUNTIME, guard_has(&c->hits, GUARD_RUNTIME) },
		{ VERDICT_AA_DIFFERS, guard_has(&c->hits, GUARD_AA) },
		{ VERDICT_UNPROVEN, judge->arms[c->arm].numerics_changed },
	};
	unsigned int suffixes = 0;

	for (size_t i = 0; i < LENGTH(all); i++)
		suffixes |= all[i].is ? 1U << all[i].suffix : 0U;
	return suffixes;
}

/*
 * Does the median of the intervals contradict their mean, by more than the
 * interval allows, and so in each run?  Whatever a warm-up or a stop in each
 * run turns from faster to slower is so: where the mean is shown, it is shown
 * to be away from the median all the more.
 */
static bool contradicts(const struct judge *judge, const struct judge_contrast *c,
			const struct paired *away)
{
	const struct paired_rule *rule = &judge->rule.paired;
	double by_median = c->paired.mean - away->mean;
	bool turned = c->paired.p < rule->alpha && c->paired.mean * by_median < 0.0;

	return away->p < rule->alpha && fabs(away->mean) > (c->paired.hi - c->paired.lo) / 2.0 &&
	       (turned || fabs(away->mean) > log1p(rule->margin));
}

/* A pause that both arms make alike, as for a checkpoint, changes the ratio of
 * its interval, and nothing of what it gains. */
static bool is_unsteady(const struct judge *judge, const struct judge_contrast *c)
{
	return contradicts(judge, c, &c->steps.away) && contradicts(judge, c, &c->steps.uneven);
}

/* Say what contradicts; the reason that nothing is judged. */
static void mark_unsteady(struct judge_contrast *c, char *why, size_t size)
{
	const struct judge_steps *s = &c->steps;
	bool variant = s->odd_times >= 1.0;
	double times = variant ? s->odd_times : 1.0 / s->odd_times;

	guard_add(&c->hits, GUARD_STEADY, false,
		  "steps %.0f to %.0f took the %s %.1f times as long as the "
		  "others: by the mean %+.2f%%, by the median of intervals "
		  "%+.2f%%",
		  s->odd_lo, s->odd_hi, variant ? "variant" : "control", times,
		  stats_pct(c->paired.mean), stats_pct(c->paired.mean - s->away.mean));
	(void)snprintf(why, size, "not steady, interval %.0f-%.0f: %.1fx", s->odd_lo, s->odd_hi,
		       times);
}

/* Ticks below which a window is measured too coarsely. */
#define LEAST_TICKS 200.0
/* Each window is off by up to one, whatever blocks repeat. */
#define LEAST_APART 2.0

/*
 * What the clock of the logs is too coarse for: a window of a few ticks, a
 * difference below one, and blocks that differ by exactly the same, of which
 * no test of chance says anything.
 */
static void refuse_coarse(const struct judge *judge, const struct judge_contrast *c, char *why,
			  size_t size)
{
	double ticks = fmin(judge->summary[c->base].ticks, judge->summary[c->arm].ticks);

	if (ticks < LEAST_TICKS)
		(void)snprintf(why, size,
			       "the window is %.0f ticks of its log's clock, "
			       "need %.0f",
			       ticks, LEAST_TICKS);
	else if (judge->training && c->paired.sd == 0.0)
		(void)snprintf(why, size,
			       "no spread: all blocks differ by the "
			       "same");
	else if (c->paired.p < judge->rule.paired.alpha &&
		 fabs(c->paired.mean) * ticks < LEAST_APART)
		(void)snprintf(why, size, "under two ticks of its log's clock apart");
}

/*
 * Two pods that may differ by what nobody knows can be the same together only
 * by chance; on these two it is so where each shows it by its own blocks.
 */
static bool is_same_on_each(const struct judge *judge, const struct judge_contrast *c)
{
	bool same = c->n_pods == 2 && !c->across_pods;

	for (size_t p = 0; same && p < c->n_pods; p++)
		same = c->pods[p].paired.n >= VERDICT_MIN_BLOCKS &&
		       paired_is_same(&c->pods[p].paired, judge->rule.paired.margin);
	return same;
}

static void decide(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_rule *rule = &judge->rule;
	bool unsteady = is_unsteady(judge, c);
	char why[80] = "";
	struct verdict_input input = {
		.refused = why,
		.invalid = invalid_by(c),
		.need = rule->need,
		.n_blocks = c->n_blocks,
		.planned = rule->over ? 0 : rule->looks.planned,
		.paired = &c->paired,
		.level = c->level,
		.alpha = rule->paired.alpha,
		.margin = rule->paired.margin,
		/* The mean of two controls spreads less. */
		.register_sd = rule->register_sd * (c->second != 0 ? sqrt(0.75) : 1.0),
		.register_df = rule->register_df,
		.suffixes = suffixes_of(judge, c),
		.same_on_each = is_same_on_each(judge, c),
		.worse_nats = c->quality.worse ? c->quality.nats.mean : 0.0,
	};

	if (unsteady) {
		mark_unsteady(c, why, sizeof(why));
		input.suffixes &= ~(1U << VERDICT_NOT_STEADY);
	}
	refuse_coarse(judge, c, why, sizeof(why));
	if (why[0] == '\0')
		judge_refuse_unseen(judge, c, why, sizeof(why));
	if (judge->arms[c->arm].other_noise)
		input.register_sd = input.register_df = (double)NAN;
	c->blocks_to_margin = paired_blocks_needed(judge_noise(c), log1p(rule->paired.margin),
						   rule->paired.alpha, rule->paired.power);
	verdict_judge(&c->verdict, &input);
	if (unsteady && c->verdict.refused)
		c->verdict.suffixes |= 1U << VERDICT_NOT_STEADY;
	input.invalid = NULL;
	verdict_judge(&c->if_valid, &input);
}

/*
 * The level that decides on a contrast now, where alpha is what is left to it:
 * that of this look; of a bench that is over without having crossed it, that
 * of the last.
 */
static double level_of(const struct judge *judge, const struct judge_contrast *c, double alpha)
{
	const struct judge_rule *rule = &judge->rule;
	double level = looks_level(&rule->looks, c->n_blocks, false, alpha);

	if (rule->over && !(c->paired.p < level))
		level = looks_level(&rule->looks, c->n_blocks, true, alpha);
	return level;
}

/*
 * The level of Holm's step that decides on each, and intervals at it: those of
 * what is shown leave out 0, the others hold it, as the words say.
 */
static void set_levels(struct judge *judge, const double *p, size_t m)
{
	const struct paired_rule *rule = &judge->rule.paired;
	size_t n_shown = 0, n = judge->n_contrasts;
	bool holm = judge->rule.holm && m > 1, open = true;

	for (size_t step = 0; step < n; step++)
		for (size_t i = 0; i < n; i++) {
			struct judge_contrast *c = &judge->contrasts[i];
			size_t left = holm ? m - n_shown : 1;

			if (isnan(p[i]) || multi_rank(p, n, i) != step)
				continue;
			c->level = level_of(judge, c, rule->alpha / (double)left);
			open &= p[i] < c->level;
			n_shown += open ? 1 : 0;
		}
	for (size_t i = 0; i < n; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		if (isnan(p[i]))
			c->level = level_of(judge, c, rule->alpha);
		paired_set_level(&c->paired, c->level, rule);
	}
}

/* Holm over the variants (not the A/A arm). */
static void adjust(struct judge *judge)
{
	double p[SCHEDULE_MAX_ARMS] = { 0 };
	double holm[SCHEDULE_MAX_ARMS] = { 0 };
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
	}
	set_levels(judge, p, m);
}

/*
 * Is what the control showed against itself of a size that matters to that
 * contrast: more than the margin, or over half of its difference?
 */
static bool is_spoiled_by(const struct judge_contrast *c, const struct judge_contrast *aa)
{
	return (aa->verdict.word == VERDICT_FASTER || aa->verdict.word == VERDICT_SLOWER) &&
	       (!aa->verdict.below_margin || 2.0 * fabs(aa->paired.mean) > fabs(c->paired.mean));
}

/* Judge the A/A arm first: the others are held against what it showed. */
static void mark_aa(struct judge *judge, struct judge_contrast *c)
{
	array_each (aa, judge->contrasts, judge->n_contrasts) {
		if (judge->arms[aa->arm].aa && is_spoiled_by(c, aa))
			guard_add(&c->hits, GUARD_AA, false,
				  "the control against itself is %.90s: an "
				  "order or a place may favour an arm",
				  aa->verdict.text);
	}
}

/* Two arms held against each other in the blocks that choose. */
struct pair {
	size_t a, b;
	struct paired paired; /* mean > 0: b is faster */
};

static void __attribute__((format(printf, 2, 3)))
add_best(struct judge_best *best, const char *format, ...)
{
	size_t len = strlen(best->text);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(best->text + len, sizeof(best->text) - len, format, ap);
	va_end(ap);
}

/* Are all runs of the arm of a kind that is ranked? */
static bool is_ranked(const struct judge *judge, size_t arm)
{
	const struct judge_run *run = NULL;
	bool any = false;

	while ((run = judge_next(judge, arm, run)) != NULL) {
		if (!judge_is_main(run) || !judge_is_usable(run))
			continue;
		if (run->state < RUN_STATE_VERIFIED)
			return false;
		any = true;
	}
	return any;
}

/* Hold b against a in the blocks that choose, or in the fresh ones. */
static struct pair hold(const struct judge *judge, size_t a, size_t b, bool fresh)
{
	struct judge_contrast c = { .arm = b, .base = a };
	struct pair pair = { .a = a, .b = b };

	judge_compare_blocks(judge, &c, fresh);
	pair.paired = c.paired;
	/* What decides is the number of blocks, also with pods as units. */
	pair.paired.n = c.n_blocks;
	free(c.blocks);
	free(c.pods);
	return pair;
}

/* The mean by which `arm` is faster than the pair's other arm. */
static double lead_of(const struct pair *pair, size_t arm)
{
	return pair->b == arm ? pair->paired.mean : -pair->paired.mean;
}

/* Is the arm faster than all others?  Its weakest pair goes to best. */
static bool leads(const struct judge *judge, const struct pair *pairs, const double *holm,
		  size_t arm, struct judge_best *best)
{
	double least = (double)INFINITY, p = 0.0;

	for (size_t i = 0; i < best->n_pairs; i++) {
		double lead = lead_of(&pairs[i], arm);

		if (pairs[i].a != arm && pairs[i].b != arm)
			continue;
		if (!(lead > 0.0) || pairs[i].paired.n < judge->rule.need ||
		    !(holm[i] < judge->rule.paired.alpha))
			return false;
		p = fmax(p, holm[i]);
		if (lead >= least)
			continue;
		least = lead;
		best->rival = pairs[i].a == arm ? pairs[i].b : pairs[i].a;
	}
	best->arm = arm;
	best->p_pairs = p;
	return true;
}

static bool is_faster(const struct judge *judge, const struct pair *pair)
{
	return pair->paired.n >= VERDICT_MIN_BLOCKS && pair->paired.mean > 0.0 &&
	       pair->paired.p < judge->rule.paired.alpha;
}

/* What the blocks say that had no part in choosing. */
static void confirm(const struct judge *judge, struct judge_best *best)
{
	struct pair control = hold(judge, 0, best->arm, true);
	struct pair rival = hold(judge, best->rival, best->arm, true);

	best->n_fresh = control.paired.n;
	best->over_control = control.paired;
	best->over_rival = rival.paired;
	if (best->arm == 0) {
		control = rival;
		best->n_fresh = rival.paired.n;
	}
	if (is_faster(judge, &control) && is_faster(judge, &rival))
		best->state = BEST_CONFIRMED;
}

static void tell(const struct judge *judge, struct judge_best *best)
{
	const char *rival = judge->arms[best->rival].tag;

	add_best(best, "BEST %s", judge->arms[best->arm].tag);
	if (best->state == BEST_CONFIRMED)
		add_best(best, ", confirmed in %zu fresh blocks", best->n_fresh);
	else if (best->n_fresh > 0 && best->n_fresh < VERDICT_MIN_BLOCKS)
		add_best(best, " so far: not confirmed (%zu fresh block%s, need %d)", best->n_fresh,
			 best->n_fresh == 1 ? "" : "s", VERDICT_MIN_BLOCKS);
	else if (best->n_fresh == 0)
		add_best(best, " so far: not confirmed, for want of fresh blocks");
	else
		add_best(best, " so far: %zu fresh blocks did not confirm it", best->n_fresh);
	if (best->n_fresh > 0)
		add_best(best, ": %+.2f%% over %s", stats_pct(best->over_rival.mean), rival);
	if (best->n_fresh > 0 && best->rival != 0 && best->arm != 0)
		add_best(best, ", %+.2f%% over %s", stats_pct(best->over_control.mean),
			 judge->arms[0].tag);
	add_best(best, " (Holm over %zu pairs p %.2g)", best->n_pairs, best->p_pairs);
}

bool judge_is_invalid(const struct judge *judge, size_t arm)
{
	return arm > 0 && judge->contrasts[arm - 1].verdict.word == VERDICT_INVALID;
}

/* Other numerics are no win before their quality is proven; nor is a worse
 * loss, nor a number that is not judged. */
static bool may_win(const struct judge *judge, size_t arm)
{
	return !judge->arms[arm].aa && !judge->arms[arm].numerics_changed &&
	       !judge_is_invalid(judge, arm) &&
	       (arm == 0 || (!judge->contrasts[arm - 1].verdict.refused &&
			     !judge->contrasts[arm - 1].quality.worse));
}

/* All pairs of the arms that can be ranked. */
static size_t hold_all(const struct judge *judge, struct pair *pairs)
{
	size_t n = 0;

	for (size_t a = 0; a < judge->n_arms; a++)
		for (size_t b = a + 1; b < judge->n_arms; b++)
			if (may_win(judge, a) && may_win(judge, b))
				pairs[n++] = hold(judge, a, b, false);
	return n;
}

static void find_best(struct judge *judge)
{
	struct judge_best *best = &judge->best;
	struct pair pairs[MAX_PAIRS];
	double p[MAX_PAIRS], holm[MAX_PAIRS];
	size_t variants = 0;

	*best = (struct judge_best){ .p_pairs = (double)NAN };
	for (size_t arm = 1; arm < judge->n_arms; arm++)
		variants += judge->arms[arm].aa ? 0 : 1;
	if (variants < 2 || is_claimed(judge))
		return;
	best->state = BEST_NONE;
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (may_win(judge, arm) && !is_ranked(judge, arm)) {
			add_best(best, "none: not all runs of %s are verified",
				 judge->arms[arm].tag);
			return;
		}
	best->n_pairs = hold_all(judge, pairs);
	for (size_t i = 0; i < best->n_pairs; i++)
		p[i] = pairs[i].paired.p;
	multi_holm(p, holm, best->n_pairs);
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (may_win(judge, arm) && best->n_pairs > 0 &&
		    leads(judge, pairs, holm, arm, best)) {
			best->state = BEST_LEADS;
			break;
		}
	if (best->state == BEST_NONE) {
		add_best(best,
			 "none: no arm is faster than every other (Holm over "
			 "%zu pairs)",
			 best->n_pairs);
		return;
	}
	confirm(judge, best);
	tell(judge, best);
}

/* Holm over the contrasts, the verdict on each, the best. */
static void judge_decide(struct judge *judge)
{
	adjust(judge);
	for (int aa = 1; aa >= 0; aa--)
		array_each (c, judge->contrasts, judge->n_contrasts) {
			if (judge->arms[c->arm].aa != (aa == 1))
				continue;
			if (aa == 0)
				mark_aa(judge, c);
			decide(judge, c);
		}
	find_best(judge);
}

void judge_confirm(struct judge *judge)
{
	array_each (run, judge->runs, judge->n_runs) {
		const struct judge_contrast *c =
			run->arm > 0 ? &judge->contrasts[run->arm - 1] : NULL;

		if (run->state != RUN_STATE_VERIFIED)
			continue;
		if (guard_hard(&run->hits) != NULL)
			run->state = RUN_STATE_MEASURED;
		else if (c != NULL && c->verdict.word == VERDICT_FASTER &&
			 !guard_has(&c->hits, GUARD_AA) && c->n_blocks >= VERDICT_MIN_BLOCKS)
			run->state = RUN_STATE_CONFIRMED;
	}
}

void judge_init(struct judge *judge, const struct judge_rule *rule, const struct judge_arm *arms,
		size_t n_arms, struct judge_run *runs, size_t n_runs)
{
	assert(n_arms >= 2 && n_arms <= SCHEDULE_MAX_ARMS);
	*judge = (struct judge){ .rule = *rule,
				 .arms = arms,
				 .n_arms = n_arms,
				 .runs = runs,
				 .n_runs = n_runs,
				 .lo = (double)NAN,
				 .hi = (double)NAN,
				 .steady_from = (double)NAN,
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
		judge_look_inside(judge, c);
	}
	judge_decide(judge);
}

void judge_release(struct judge *judge)
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
