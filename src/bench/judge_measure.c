/* SPDX-License-Identifier: MIT */
/*
 * One number a run: clocks, the common window, y; then the runs that stand far
 * out, what was seen in them, and what they did to the comparison.  No run is
 * removed for its value.  Called by judge.c.
 */
#include "config.h"

#include "bench/judge_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define DEFAULT_LO 20.0
#define DEFAULT_HI 100.0
/* A step_avg of two decimals is off by this; a clock by no such share. */
#define AVERAGE_ROUNDING  0.01
#define AVERAGE_TOLERANCE 0.02

static bool
is_healthy(const struct judge_run *run)
{
	return run->counted && guard_hard(&run->hits) == NULL &&
	       run->times.n > 0;
}

/* The clock of one training log. */
static void
read_clock(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->log->n_rows == 0)
		return;
	if (step_times_init(&run->times, run->log->rows, run->log->n_rows,
			    judge->rule.tok_kind,
			    run->log->run.train_batch_tokens, &err) != 0)
		guard_add(&run->hits, GUARD_PARSE, true, "%s", err.text);
}

/* Do all healthy runs have rows at the usual ends? */
static bool
has_default_window(const struct judge *judge)
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
static double
steady_from(const struct judge_run *run)
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
static void
find_auto_window(struct judge *judge)
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

static void
choose_window(struct judge *judge)
{
	const struct judge_rule *rule = &judge->rule;

	if (rule->window == WINDOW_FIXED) {
		judge->lo = rule->lo;
		judge->hi = rule->hi;
	} else if (rule->window == WINDOW_DEFAULT &&
		   has_default_window(judge)) {
		judge->lo = DEFAULT_LO;
		judge->hi = DEFAULT_HI;
	} else {
		find_auto_window(judge);
	}
}

/* The row of that step that prints both its time and their mean, or NULL. */
static const struct step_row *
averaged_row(const struct run_log *log, double step)
{
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct step_row *row = &log->rows[i];

		if (row->step == step && row->train_ms > 0.0 &&
		    row->step_avg_ms > 0.0)
			return row;
	}
	return NULL;
}

/*
 * train_time by step_avg is the number of steps that were timed: whatever it
 * leaves out at the front, it rises by one a step, or one of the two clocks
 * is wrong.
 */
static void
check_average(struct judge_run *run, double lo, double hi)
{
	const struct step_row *a = averaged_row(run->log, lo);
	const struct step_row *b = averaged_row(run->log, hi);
	double rise, rounded;

	if (a == NULL || b == NULL)
		return;
	rise = (b->train_ms / b->step_avg_ms - a->train_ms / a->step_avg_ms) /
	       (hi - lo);
	rounded = (AVERAGE_ROUNDING / b->step_avg_ms * hi +
		   AVERAGE_ROUNDING / a->step_avg_ms * lo) /
		  (hi - lo);
	if (fabs(rise - 1.0) > AVERAGE_TOLERANCE + rounded)
		guard_add(&run->hits, GUARD_PARSE, true,
			  "its two clocks disagree: from step %.0f to %.0f "
			  "step_avg counts %.2f steps for each one in "
			  "train_time",
			  lo, hi, rise);
}

static void
measure_training(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->times.n == 0 || isnan(judge->lo) || isnan(judge->hi))
		return;
	run->legacy = step_legacy(run->log->rows, run->log->n_rows, judge->lo,
				  judge->hi);
	if (step_window_measure(&run->window, &run->times, judge->lo, judge->hi,
				&err) != 0) {
		guard_add(&run->hits, GUARD_WINDOW, true, "%s", err.text);
		return;
	}
	check_average(run, judge->lo, judge->hi);
	run->has_window = true;
	run->y = run->window.y_ms;
}

static void
measure_score(const struct judge *judge, struct judge_run *run)
{
	double value = run->log->score.root != NULL ? run->log->score.value
						    : (double)NAN;

	if (value > 0.0)
		run->y = judge->rule.higher ? 1.0 / value : value;
	else if (!isnan(value))
		guard_add(&run->hits, GUARD_PARSE, true,
			  "a score of %g has no ratio", value);
}

/* How fine the clock of an arm's logs is, against the window. */
static double
window_ticks(const struct judge *judge, size_t arm)
{
	const struct judge_run *run = NULL;
	double least = (double)NAN;
	uint64_t unit = 0;

	while ((run = judge_next(judge, arm, run)) != NULL)
		if (run->has_window)
			unit = step_unit(&run->times, run->log->rows, unit);
	while ((run = judge_next(judge, arm, run)) != NULL)
		if (run->has_window)
			least = fmin(least,
				     step_ticks(&run->times, run->log->rows,
						judge->lo, judge->hi, unit));
	return least;
}

/* Rows in the window must be those of the first healthy control. */
static void
check_rows(struct judge *judge)
{
	const struct judge_run *first = judge_next(judge, 0, NULL);

	while (first != NULL && !(first->has_window && is_healthy(first)))
		first = judge_next(judge, 0, first);
	for (size_t i = 0; i < judge->n_runs && first != NULL; i++) {
		struct judge_run *run = &judge->runs[i];

		if (run->has_window &&
		    run->window.n_rows < first->window.n_rows)
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "%zu rows in the window, the control has %zu",
				  run->window.n_rows, first->window.n_rows);
	}
}

void
judge_measure(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

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
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

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
 * NAN: they have not the same rows. */
static double
add_ratios(const struct judge *judge, const struct judge_run *control,
	   const struct judge_run *run, double *sum, double *mid)
{
	size_t room = control->times.n > run->times.n ? control->times.n
						      : run->times.n;
	AUTO_FREE double *a = xmalloc((room + 1) * sizeof(*a));
	AUTO_FREE double *b = xmalloc((room + 1) * sizeof(*b));
	double median = (double)NAN;
	size_t n =
		step_intervals(&control->times, judge->lo, judge->hi, a, mid);
	size_t m = step_intervals(&run->times, judge->lo, judge->hi, b, NULL);

	for (size_t i = 0; n == m && i < n; i++) {
		b[i] = log(b[i] / a[i]);
		sum[i] += b[i];
	}
	if (n == m)
		median = stats_median(b, n);
	return median;
}

/* The interval whose mean log ratio is furthest from their median. */
static void
find_odd(struct judge_steps *steps, const struct step_times *times, double lo,
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

void
judge_look_inside(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *control = NULL, *run, *last = NULL;
	AUTO_FREE double *away = judge_room(judge);
	double *sum = NULL, *mid = NULL;
	size_t n = 0, pairs = 0;

	while ((control = judge_next(judge, c->base, control)) != NULL) {
		double median;

		run = judge_beside(judge, c->arm, control);
		if (run == NULL || !judge_is_main(control) ||
		    !judge_is_usable(control) || !judge_is_usable(run) ||
		    !control->has_window || !run->has_window)
			continue;
		if (sum == NULL) {
			n = control->window.n_rows - 1;
			sum = xcalloc(control->times.n + 1, sizeof(*sum));
			mid = xcalloc(control->times.n + 1, sizeof(*mid));
		}
		if (control->window.n_rows - 1 != n || control->times.n <= n)
			continue;
		median = add_ratios(judge, control, run, sum, mid);
		if (isnan(median))
			continue;
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
/* An interval this much wider than the middle of the blocks is swollen. */
#define SWOLLEN 3.0

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

static double
value_of(const struct health_sum *health, const struct trait *trait)
{
	double value;

	memcpy(&value, (const char *)health + trait->offset, sizeof(value));
	return value;
}

/* The median of a trait over the arm's other runs; NAN: unknown. */
static double
others_median(const struct judge *judge, const struct judge_run *run,
	      const struct trait *trait)
{
	const struct judge_run *other = NULL;
	AUTO_FREE double *x = judge_room(judge);
	size_t n = 0;

	while ((other = judge_next(judge, run->arm, other)) != NULL)
		if (other != run && other->health != NULL &&
		    judge_is_usable(other) &&
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
static void
explain(const struct judge *judge, struct judge_run *run)
{
	const struct health_sum *health = run->health;
	size_t known = 0, i;

	if (health == NULL) {
		add_seen(run, "no telemetry of it");
		return;
	}
	if (health->reasons & HEALTH_THROTTLE)
		add_seen(run, "throttled (bits 0x%lx)",
			 health->reasons & HEALTH_THROTTLE);
	if (health->foreign[0] != '\0')
		add_seen(run, "another program on its GPUs (%s)",
			 health->foreign);
	for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
		const struct trait *t = &traits[i];
		double own = value_of(health, t);
		double others = others_median(judge, run, t);
		double away = fabs(own - others);

		known += isnan(away) ? 0 : 1;
		if (away > t->least && away > t->share * others)
			add_seen(run, "%s%.*f%s (others %.*f)", t->before,
				 t->decimals, own, t->after, t->decimals,
				 others);
	}
	if (run->seen[0] == '\0')
		add_seen(run, known > 0 ? "its telemetry is like that of its "
					  "siblings"
					: "no telemetry to hold against it");
}

void
judge_mark_outliers(struct judge *judge)
{
	double least = LEAST_MARGINS * judge->rule.paired.margin;
	struct judge_run *run;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_summary *s;

		run = &judge->runs[i];
		s = &judge->summary[run->arm];
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
			guard_add(&run->hits, GUARD_HELD, false,
				  "%.4g, the arm's median is %.4g", run->y,
				  s->median);
	}
	for (run = NULL; (run = judge_next(judge, JUDGE_ANY, run)) != NULL;)
		if (run->outlier)
			explain(judge, run);
}

bool
judge_is_side(const struct judge_contrast *c, size_t arm)
{
	return arm == 0 || arm == c->arm ||
	       (c->second != 0 && arm == c->second);
}

bool
judge_blows_up(const struct judge_contrast *c, const struct judge_run *run)
{
	double away = fabs(log(run->times_median));

	return run->outlier && judge_is_side(c, run->arm) &&
	       away > SWOLLEN * c->robust_sd && away > c->block_sd / 2.0;
}

/* As they were measured: a fit of places spreads what one run did over all. */
static size_t
collect_blocks(const struct judge_contrast *c, double *d)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts)
			d[n++] = c->blocks[i].d;
	return n;
}

void
judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c)
{
	const struct paired_rule *rule = &judge->rule.paired;
	AUTO_FREE double *d = judge_room(judge);
	size_t n = collect_blocks(c, d);
	struct paired whole = paired_compare(d, n, rule);

	c->robust_sd =
		n >= LEAST_VALUES ? MAD_TO_SD * stats_mad(d, n) : (double)NAN;
	c->block_sd = whole.sd;
	/* Without any spread chance has nothing to be held against. */
	if (n >= VERDICT_MIN_BLOCKS && whole.sd == 0.0)
		guard_add(&c->hits, GUARD_NO_SPREAD, false,
			  "all %zu blocks differ by the same: it is computed, "
			  "or measured too coarsely to spread; p says nothing",
			  n);
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (judge_is_side(c, run->arm) && run->outlier)
			c->n_outliers++;
		c->n_blowing += judge_blows_up(c, run) ? 1 : 0;
	}
	for (size_t i = 0; i < n; i++)
		c->n_agree += d[i] * c->paired.hl > 0.0 ? 1 : 0;
	c->swollen = c->n_blowing > 0 && whole.sd > SWOLLEN * c->robust_sd;
	c->blocks_to_hl = paired_blocks_needed(judge_noise(c), fabs(whole.hl),
					       rule->alpha, rule->power);
}
