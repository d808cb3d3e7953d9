/* SPDX-License-Identifier: MIT */
/* Judge a bench: measure runs, compare blocks, decide verdicts. No run is removed for its value. */
#include "bench/judge.h"

#include <assert.h>

#include "base/dist.h"
#include "bench/judge_priv.h"
#include "bench/power.h"

const char *const run_state_words[] = { RUN_STATE_LIST(LIST_NAME) NULL };

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

struct judge_run *judge_find_run(const struct judge *judge, size_t arm,
				 const struct judge_run *like)
{
	return array_find(run, judge->runs, judge->n_runs,
			  run->counted && run->arm == arm && run->pod == like->pod &&
				  run->block == like->block && run->rep == like->rep);
}

bool judge_is_usable(const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	/* Different work makes the variant INVALID, but its value is shown. */
	return run->counted && !run->odd && run->y > 0.0 && isfinite(run->y) &&
	       (hit == NULL || hit->guard == GUARD_WORK || hit->guard == GUARD_SAME);
}

bool judge_is_main(const struct judge_run *run)
{
	return run->counted && !run->fresh;
}

double *judge_new_array(const struct judge *judge)
{
	return xmalloc((judge->n_runs + 1) * sizeof(double));
}

static size_t count_variants(const struct judge *judge)
{
	return array_count(arm, judge->arms + 1, judge->n_arms - 1, !arm->aa);
}

size_t judge_blocks_to_show(const struct judge *judge, const struct judge_contrast *c, double delta)
{
	struct power_plan plan = {
		.rule = judge->rule.paired,
		.looks = judge->rule.looks,
		.pods = c->between_sd > 0.0 ? 2 : 1,
		.reps = 1,
		.variants = 1,
		.aa = c->second != 0,
		/* The mean of two controls has less spread. */
		.sd = c->paired.sd * (c->second != 0 ? sqrt(4.0 / 3.0) : 1.0),
		.pods_sd = c->between_sd * M_SQRT2,
	};

	/* In an audit, the A/A arm is the variant. */
	if (judge->rule.holm && count_variants(judge) > 0)
		plan.variants = count_variants(judge);
	array_each (run, judge->runs, judge->n_runs)
		if (run->rep >= plan.reps)
			plan.reps = run->rep + 1;
	/* More blocks do not reduce a clock's rounding. */
	return guard_has(&c->hits, GUARD_COARSE) ? 0 : power_blocks(&plan, delta);
}

#define DEFAULT_LO 20.0
#define DEFAULT_HI 100.0
/* A step_avg with two decimals is rounded by at most this. */
#define AVERAGE_ROUNDING  0.01
#define AVERAGE_TOLERANCE 0.02

/* Is it a training run with steps to measure, and without a hard guard hit? */
static bool is_healthy(const struct judge_run *run)
{
	return run->counted && guard_hard(&run->hits) == NULL && run->log != NULL &&
	       run->log->kind == RUN_LOG_TRAINING && run->log->n_rows > 1;
}

static bool has_row(const struct run_log *log, double step)
{
	return array_any(row, log->rows, log->n_rows, row->step == step);
}

/* Set the times of a run at its rows from lo to hi; -1 with err if it has none. */
static int set_times(const struct judge *judge, struct judge_run *run, double lo, double hi,
		     struct err *err)
{
	const struct step_rates rates = run_log_rates(run->log, judge->rule.tok_kind);

	step_times_release(&run->times);
	return step_times_init(&run->times, run->log->rows, run->log->n_rows, &rates, lo, hi, err);
}

/* The last step at which the log of a control sets its clock back; -INFINITY: none does. */
static double find_set_back(struct judge *judge)
{
	double step = -(double)INFINITY;

	judge_each (run, judge, 0) {
		const struct run_log *log = run->log;
		size_t n = is_healthy(run) ? log->n_rows : 0;

		/* The times of the last two rows extend back to the last reset of the clock. */
		if (n > 0 &&
		    set_times(judge, run, log->rows[n - 2].step, log->rows[n - 1].step, NULL) == 0)
			step = fmax(step, run->times.step[run->times.first]);
	}
	return step;
}

/* Choose the steps that every training run is measured over: 20 to 100, if every healthy run
 * printed a row at both.  If not, the first quarter of each run's rows is left out, and the rows
 * before the last step at which a control sets its clock back: no matter how fast they are. */
static void choose_window(struct judge *judge)
{
	const struct judge_rule *rule = &judge->rule;
	double lo = (double)NAN, hi = (double)NAN;
	bool has_default = rule->window == WINDOW_DEFAULT;
	size_t n_healthy = 0;

	if (rule->window == WINDOW_FIXED) {
		judge->lo = rule->lo;
		judge->hi = rule->hi;
		return;
	}
	judge_each (run, judge, JUDGE_ANY) {
		if (!is_healthy(run))
			continue;
		n_healthy++;
		lo = fmax(lo, run->log->rows[run->log->n_rows / 4].step);
		hi = fmin(hi, run->log->rows[run->log->n_rows - 1].step);
		has_default = has_default && has_row(run->log, DEFAULT_LO) &&
			      has_row(run->log, DEFAULT_HI);
	}
	if (has_default && n_healthy > 0) {
		judge->lo = DEFAULT_LO;
		judge->hi = DEFAULT_HI;
		return;
	}
	judge->lo = fmax(lo, find_set_back(judge));
	judge->hi = hi;
	judge->window_auto = true;
}

/* A hint for the next bench: the step from which MSER calls every run steady. */
static void find_steady(struct judge *judge)
{
	double steady = (double)NAN;

	judge_each (run, judge, JUDGE_ANY) {
		AUTO_FREE double *ms = xmalloc((run->times.n + 1) * sizeof(*ms));

		if (!is_healthy(run) || run->times.n == 0)
			continue;
		int cut = window_mser(
			ms, step_intervals(&run->times, 0.0, (double)INFINITY, 1, ms, NULL), NULL);
		if (cut < 0)
			return;
		steady = fmax(steady, run->times.step[run->times.first + (size_t)cut]);
	}
	judge->steady_from = steady;
}

/* The row of that step if it prints both train_time and step_avg, or NULL. */
static const struct step_row *find_row_with_average(const struct run_log *log, double step)
{
	return array_find(row, log->rows, log->n_rows,
			  row->step == step && row->train_ms > 0.0 && row->step_avg_ms > 0.0);
}

/* train_time divided by step_avg is the number of timed steps.  Some logs leave out the first
 * steps, but the number must increase by one per step, or one of the two clocks is wrong. */
static void check_two_clocks(struct judge_run *run, double lo, double hi)
{
	const struct step_row *a = find_row_with_average(run->log, lo);
	const struct step_row *b = find_row_with_average(run->log, hi);

	if (a == NULL || b == NULL)
		return;
	double rise = (b->train_ms / b->step_avg_ms - a->train_ms / a->step_avg_ms) / (hi - lo);
	double rounded =
		(AVERAGE_ROUNDING / b->step_avg_ms * hi + AVERAGE_ROUNDING / a->step_avg_ms * lo) /
		(hi - lo);
	if (fabs(rise - 1.0) > AVERAGE_TOLERANCE + rounded)
		guard_add(&run->hits, GUARD_PARSE, true,
			  "step_avg and train_time disagree: from step %.0f to %.0f step_avg "
			  "counts %.2f steps per step of train_time",
			  lo, hi, rise);
}

/* The shortest window of an arm in ticks of its logs' clock; NAN: unknown. */
static double count_clock_ticks(const struct judge *judge, size_t arm)
{
	double least = (double)NAN;
	uint64_t unit = 0;

	judge_each (run, judge, arm)
		if (run->has_window)
			unit = step_unit(&run->times, run->log->rows, unit);
	judge_each (run, judge, arm)
		if (run->has_window)
			least = fmin(least, step_ticks(&run->times, run->log->rows, judge->lo,
						       judge->hi, unit));
	return least;
}

/* Set run->y from its score, or from its rows in the window; a run without either fails a check. */
static void measure_run(const struct judge *judge, struct judge_run *run)
{
	const struct run_log *log = run->log;
	struct err err = { ERR_NONE, "" };

	if (log->kind != RUN_LOG_TRAINING) {
		double score = log->kind == RUN_LOG_WALL ? log->wall_s
			       : log->score.root != NULL ? log->score.value
							 : (double)NAN;

		if (score > 0.0)
			run->y = judge->rule.higher ? 1.0 / score : score;
		else if (!isnan(score))
			guard_add(&run->hits, GUARD_PARSE, true,
				  "the score %g is not positive, so no ratio exists", score);
	} else if (isnan(judge->lo) || isnan(judge->hi)) {
		if (log->n_rows < 2)
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "its log has %zu training row%s after step 0, need 2: print rows "
				  "more often, or run more steps",
				  log->n_rows, log->n_rows == 1 ? "" : "s");
	} else if (log->n_rows > 0) {
		run->legacy = step_legacy(log->rows, log->n_rows, judge->lo, judge->hi);
		bool has_rows = has_row(log, judge->lo) && has_row(log, judge->hi);
		run->has_window = set_times(judge, run, judge->lo, judge->hi, &err) == 0 &&
				  step_window_measure(&run->window, &run->times, judge->lo,
						      judge->hi, &err) == 0;
		if (!run->has_window) {
			guard_add(&run->hits, has_rows ? GUARD_PARSE : GUARD_WINDOW, true, "%s",
				  err.text);
			return;
		}
		if (run->times.clock == STEP_CLOCK_TRAIN_MS)
			check_two_clocks(run, judge->lo, judge->hi);
		run->y = run->window.y_ms;
	}
	run->value = judge->rule.higher ? 1.0 / run->y : run->y;
}

/* Measure every run: from its log to run->y, or to a guard that explains why there is none. */
static void judge_measure(struct judge *judge)
{
	/* Check each log by itself. */
	array_each (run, judge->runs, judge->n_runs) {
		const struct run_log *log = run->log;

		run->times = (struct step_times){ 0 };
		run->has_window = run->outlier = run->odd = false;
		run->y = run->value = run->val_loss = run->legacy = (double)NAN;
		run->window = step_window_none;
		if (log == NULL) {
			guard_add(&run->hits, GUARD_LOST, true, "no log");
			continue;
		}
		run_log_guards(log, &run->hits);
		run->val_loss = log->val_loss;
		judge->training |= log->kind == RUN_LOG_TRAINING && log->n_rows > 0;
	}

	/* Choose one window for all runs, and measure each run in it. */
	if (judge->training)
		choose_window(judge);
	array_each (run, judge->runs, judge->n_runs)
		if (run->log != NULL)
			measure_run(judge, run);

	if (judge->window_auto)
		find_steady(judge);

	/* Each run needs the same rows and the same clock as the first healthy control. */
	const struct judge_run *control =
		array_find(run, judge->runs, judge->n_runs,
			   run->arm == 0 && run->has_window && is_healthy(run));
	array_each (run, judge->runs, control != NULL ? judge->n_runs : 0) {
		if (run->has_window && run->window.n_rows < control->window.n_rows)
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "%zu rows in the window, the control has %zu", run->window.n_rows,
				  control->window.n_rows);
		if (run->has_window && run->times.clock != control->times.clock)
			guard_add(&run->hits, GUARD_PARSE, true,
				  "its log gives the %s, the control's log the %s",
				  step_clocks[run->times.clock], step_clocks[control->times.clock]);
	}
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		judge->summary[arm].ticks = count_clock_ticks(judge, arm);
}

/* Add the log ratios of the interval times of two runs to sum.  Returns their median, or NAN if the
 * runs do not have the same rows.  *gain_ms: median gain per step. */
static double add_interval_ratios(const struct judge *judge, const struct judge_run *control,
				  const struct judge_run *run, size_t every, double *sum,
				  double *mid, double *gain_ms)
{
	size_t room = control->times.n > run->times.n ? control->times.n : run->times.n;
	AUTO_FREE double *a = xmalloc((room + 1) * sizeof(*a));
	AUTO_FREE double *b = xmalloc((room + 1) * sizeof(*b));
	double median = (double)NAN;
	size_t n = step_intervals(&control->times, judge->lo, judge->hi, every, a, mid);
	size_t m = step_intervals(&run->times, judge->lo, judge->hi, every, b, NULL);

	for (size_t i = 0; n == m && i < n; i++) {
		double ratio = log(b[i] / a[i]);

		a[i] -= b[i];
		b[i] = ratio;
		sum[i] += ratio;
	}
	if (n == m) {
		median = values_median(b, n);
		*gain_ms = values_median(a, n);
	}
	return median;
}

static void find_odd_interval(struct judge_steps *steps, const struct step_times *times, double lo,
			      const double *ratio, size_t n)
{
	double median = values_median(ratio, n), far = 0.0;
	size_t first = step_find(times, lo);

	for (size_t i = 0; i < n && first + (i + 1) * steps->every < times->n; i++) {
		if (!(fabs(ratio[i] - median) > far))
			continue;
		far = fabs(ratio[i] - median);
		steps->odd_lo = times->step[first + i * steps->every];
		steps->odd_hi = times->step[first + (i + 1) * steps->every];
		steps->odd_times = exp(ratio[i] - median);
	}
}

/* Intervals of fewer ticks of the log's clock are joined as long as LEAST_INTERVALS remain:
 * rounding to ticks would decide the median of shorter intervals. */
#define INTERVAL_TICKS	400.0
#define LEAST_INTERVALS 8

/* Choose how many of the n gaps between the rows of a window are joined to one interval. */
static void choose_intervals(const struct judge *judge, struct judge_contrast *c,
			     const struct judge_run *control, size_t n)
{
	double ticks = fmin(judge->summary[c->base].ticks, judge->summary[c->arm].ticks);

	if (step_clock_is_total(control->times.clock))
		ticks /= (double)n;
	c->steps.every = 1;
	while (ticks * (double)c->steps.every < INTERVAL_TICKS &&
	       n / (c->steps.every + 1) >= LEAST_INTERVALS)
		c->steps.every++;
	c->steps.rounding = 2.0 / (ticks * (double)c->steps.every);
}

/* Does the ratio of the interval times drift, and does its median agree with the whole window? */
static void judge_compare_intervals(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *control = NULL, *run, *last = NULL;
	AUTO_FREE double *away = judge_new_array(judge), *uneven = judge_new_array(judge);
	AUTO_FREE double *sum = NULL, *mid = NULL;
	double gain_ms;
	size_t n = 0, pairs = 0, rows = 0;

	while ((control = judge_next(judge, c->base, control)) != NULL) {
		run = judge_find_run(judge, c->arm, control);
		if (run == NULL || !judge_is_main(control) || !judge_is_usable(control) ||
		    !judge_is_usable(run) || !control->has_window || !run->has_window)
			continue;
		if (sum == NULL) {
			rows = control->window.n_rows;
			choose_intervals(judge, c, control, rows - 1);
			n = (rows - 1) / c->steps.every;
			sum = xcalloc(control->times.n + 1, sizeof(*sum));
			mid = xcalloc(control->times.n + 1, sizeof(*mid));
		}
		if (control->window.n_rows != rows || control->times.n < rows)
			continue;
		double median = add_interval_ratios(judge, control, run, c->steps.every, sum, mid,
						    &gain_ms);
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
		find_odd_interval(&c->steps, &last->times, judge->lo, sum, n);
	}
	c->steps.away = paired_compare(away, pairs, &judge->rule.paired);
	c->steps.uneven = paired_compare(uneven, pairs, &judge->rule.paired);
}

/* A run is an outlier if its modified z score exceeds OUTLIER_Z. */
#define OUTLIER_Z    3.5
#define MAD_TO_SD    1.4826
#define LEAST_VALUES 4
/* A run within this many margins of the median is not an outlier, however close the other runs are.
 * If more than half of them are equal, the MAD is 0 and only this counts. */
#define LEAST_MARGINS 2.0
/* Outliers widened an interval if it is this many times as wide as without them. */
#define WIDENED 3.0

/* A measurement of a run's health that may explain an outlier. */
struct trait {
	size_t offset; /* of a double in struct health_sum */
	double least;  /* smaller differences are ignored */
	double share;  /* and differences below this share of the others' median */
	const char *before;
	int decimals;
	const char *after;
};

#define AT(field) offsetof(struct health_sum, field)

static const struct trait traits[] = {
	{ AT(sm_mhz), 20.0, 0.02, "SM clock ", 0, " MHz" },
	{ AT(util_pct), 15.0, 0.2, "GPU utilization ", 0, "%" },
	{ AT(temp_c), 10.0, 0.1, "GPU at ", 0, " C" },
	{ AT(power_w), 30.0, 0.15, "power ", 0, " W" },
	{ AT(power_cap_share), 0.2, 0.2, "power cap in ", 2, " of samples" },
	{ AT(wait_s), 0.05, 1.0, "waited for a CPU ", 2, " s" },
	{ AT(quota_s), 0.05, 1.0, "CPU quota stopped it for ", 2, " s" },
	{ AT(steal_s), 0.1, 1.0, "CPU stolen ", 2, " s" },
	{ AT(busy_cores), 0.5, 0.25, "busy cores of the host ", 1, "" },
};

double judge_get_health(const struct health_sum *health, size_t offset)
{
	double value;

	memcpy(&value, (const char *)health + offset, sizeof(value));
	return value;
}

/* Set run->seen to how the run's telemetry differs from the telemetry of the arm's other runs. */
static void describe_outlier(const struct judge *judge, struct judge_run *run)
{
	const struct health_sum *health = run->health;
	AUTO_FREE double *x = judge_new_array(judge);
	size_t known = 0;

	if (health == NULL) {
		print_into(run->seen, "no telemetry");
		return;
	}
	if (health->reasons & HEALTH_THROTTLE)
		print_into(run->seen, "throttled (bits 0x%lx)", health->reasons & HEALTH_THROTTLE);
	if (health->foreign[0] != '\0')
		append_into(run->seen, "%sanother program used its GPUs (%s)",
			    run->seen[0] != '\0' ? "; " : "", health->foreign);
	array_each (t, traits, LENGTH(traits)) {
		size_t n = 0;

		judge_each (other, judge, run->arm)
			if (other != run && other->health != NULL && judge_is_usable(other) &&
			    !isnan(judge_get_health(other->health, t->offset)))
				x[n++] = judge_get_health(other->health, t->offset);
		double own = judge_get_health(health, t->offset), others = values_median(x, n);
		double away = fabs(own - others);

		known += isnan(away) ? 0 : 1;
		if (away > t->least && away > t->share * others)
			append_into(run->seen, "%s%s%.*f%s (others %.*f)",
				    run->seen[0] != '\0' ? "; " : "", t->before, t->decimals, own,
				    t->after, t->decimals, others);
	}
	if (run->seen[0] == '\0')
		print_into(run->seen, "%s",
			   known > 0 ? "its telemetry resembles the arm's other runs"
				     : "no telemetry to compare with");
}

static void judge_mark_outliers(struct judge *judge)
{
	double least = LEAST_MARGINS * judge->rule.paired.margin;

	array_each (run, judge->runs, judge->n_runs) {
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
	judge_each (run, judge, JUDGE_ANY)
		if (run->outlier)
			describe_outlier(judge, run);
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

static void judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c)
{
	const struct paired_rule *rule = &judge->rule.paired;
	AUTO_FREE double *d = judge_new_array(judge);
	size_t n = 0;

	/* Use the measured values: adjusting for places would spread an outlier over all blocks. */
	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts)
			d[n++] = c->blocks[i].d;
	struct paired whole = paired_compare(d, n, rule);
	c->robust_sd = n >= LEAST_VALUES ? MAD_TO_SD * stats_mad(d, n) : (double)NAN;
	c->block_sd = whole.sd;
	/* No test applies if the differences have no spread. */
	if (n >= VERDICT_MIN_BLOCKS && whole.sd == 0.0)
		guard_add(&c->hits, GUARD_NO_SPREAD, false,
			  "all %zu blocks show exactly the same difference: the value is computed "
			  "or too coarse, so p is meaningless",
			  n);
	array_each (run, judge->runs, judge->n_runs)
		c->widened |= judge_widens_interval(c, run);
	c->widened &= whole.sd > WIDENED * c->robust_sd;
	for (size_t i = 0; i < n; i++)
		c->n_agree += d[i] * c->paired.hl > 0.0 ? 1 : 0;
}

/* From this many pods on, the pods' means are compared instead of blocks. */
#define PODS_AS_UNITS 3

static void judge_summarize(struct judge *judge, size_t arm)
{
	struct judge_summary *s = &judge->summary[arm];
	AUTO_FREE double *y = judge_new_array(judge), *legacy = judge_new_array(judge);
	AUTO_FREE double *val = judge_new_array(judge);
	size_t n_legacy = 0, n_val = 0;
	bool higher = judge->rule.higher;

	*s = (struct judge_summary){ .batch = (double)NAN, .ticks = s->ticks };
	judge_each (run, judge, arm) {
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
	s->median = values_median(y, s->n);
	s->max = stats_max(y, s->n);
	s->mad = stats_mad(y, s->n);
	s->low = higher ? 1.0 / s->max : s->min;
	s->middle = higher ? 1.0 / s->median : s->median;
	s->high = higher ? 1.0 / s->min : s->max;
	s->spread_pct = 100.0 * (s->max - s->min) / s->median;
	s->legacy_mean = stats_mean(legacy, n_legacy);
	s->val_loss = stats_mean(val, n_val);
}

static size_t collect_y(const struct judge *judge, size_t arm, double *y)
{
	size_t n = 0;

	judge_each (run, judge, arm)
		if (judge_is_main(run) && judge_is_usable(run))
			y[n++] = run->y;
	return n;
}

static void judge_compare_unblocked(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	AUTO_FREE double *x = judge_new_array(judge), *y = judge_new_array(judge);
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

static bool is_in_block(const struct judge_run *run, const struct judge_run *like)
{
	return run->counted && run->pod == like->pod && run->block == like->block;
}

/* Is this the first run of its arm in its block?  Used to visit each block once. */
static bool is_first(const struct judge *judge, const struct judge_run *run)
{
	return !array_any(other, judge->runs, run - judge->runs,
			  other->arm == run->arm && is_in_block(other, run));
}

static bool has_runs(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	return any_of(i, judge->n_runs,
		      judge->runs[i].arm == arm && is_in_block(&judge->runs[i], like));
}

static void drop_block(struct judge *judge, const struct judge_run *run, const char *why)
{
	if (judge->n_dropped == JUDGE_MAX_DROPPED)
		return;
	struct judge_dropped *dropped =
		xplace(judge->dropped, judge->n_dropped, judge->cap_dropped);
	*dropped = (struct judge_dropped){ .pod = run->pod, .block = run->block, .arm = run->arm };
	print_into(dropped->reason, "%s: %s", judge->arms[run->arm].tag, why);
}

/* Record the blocks that do not count because of an unusable or missing run. */
static void judge_drop_blocks(struct judge *judge)
{
	char why[200];

	for (size_t arm = 0; arm < judge->n_arms; arm++)
		judge_each (run, judge, arm) {
			const struct guard_hit *hit = guard_hard(&run->hits);

			if (!judge_is_usable(run)) {
				print_into(why, "%s%s%s",
					   hit != NULL ? guard_words[hit->guard] : "no measurement",
					   hit != NULL ? ": " : "", hit != NULL ? hit->text : "");
				drop_block(judge, run, why);
			} else if (!is_first(judge, run)) {
				continue;
			} else if (arm > 0 && !has_runs(judge, 0, run)) {
				drop_block(judge, run, "the control has no run in this block");
			} else if (arm == 0 && judge_is_main(run) &&
				   run->state == RUN_STATE_CLAIMED &&
				   !any_of(other, judge->n_arms - 1,
					   has_runs(judge, other + 1, run))) {
				drop_block(judge, run, "no other arm has a run in this block");
			}
		}
}

/* Did something happen to the pod that invalidates the block for all arms? */
static bool is_invalid_for_all(const struct judge *judge, const struct judge_run *like)
{
	judge_each (run, judge, JUDGE_ANY) {
		const struct guard_hit *hit = guard_hard(&run->hits);

		if (hit != NULL && is_in_block(run, like) &&
		    (hit->guard == GUARD_THROTTLED || hit->guard == GUARD_FOREIGN ||
		     hit->guard == GUARD_CLOCK || hit->guard == GUARD_LOST))
			return true;
	}
	return false;
}

/* An arm in a block: the median of its runs' y, whatever their guards, and their mean place. */
struct side {
	double y, place;
};

/* Summarize an arm in the block of the run `like`; set block->mark, clear counts if unusable. */
static struct side get_side(const struct judge *judge, size_t arm, const struct judge_run *like,
			    struct judge_block *block)
{
	double y[JUDGE_MAX_REPS] = { 0 }, places = 0.0, n_places = 0.0;
	size_t n = 0;

	array_each (run, judge->runs, judge->n_runs) {
		if (run->arm != arm || !is_in_block(run, like))
			continue;
		places += run->pos != JUDGE_ANY ? (double)(run->rep * judge->n_arms + run->pos)
						: (double)NAN;
		n_places += 1.0;
		if (!judge_is_usable(run) || n == JUDGE_MAX_REPS)
			block->counts = false;
		if (guard_hard(&run->hits) != NULL)
			block->mark = BLOCK_GUARDED;
		else if (run->outlier && block->mark == BLOCK_PLAIN)
			block->mark = BLOCK_OUTLIER;
		if (run->y > 0.0 && n < JUDGE_MAX_REPS)
			y[n++] = run->y;
	}
	return (struct side){ values_median(y, n), places / n_places };
}

static void collect_blocks(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	bool higher = judge->rule.higher;

	c->blocks = xcalloc(judge->n_runs + 1, sizeof(*c->blocks));
	judge_each (run, judge, c->arm) {
		struct judge_block block = { .pod = run->pod, .block = run->block };
		struct judge_block second = { .counts = c->second != 0 };

		if (run->fresh != fresh || !is_first(judge, run))
			continue;
		block.counts = !is_invalid_for_all(judge, run);
		struct side a = get_side(judge, c->base, run, &block), again = { 0 };
		struct side b = get_side(judge, c->arm, run, &block);
		if (isnan(a.y))
			continue;
		block.d = log(a.y) - log(b.y);
		block.counts &= isfinite(block.d);
		block.control = higher ? 1.0 / a.y : a.y;
		block.variant = higher ? 1.0 / b.y : b.y;
		/* fit.aa stays NAN if the A/A arm has no usable run. */
		block.fit.place = a.place;
		if (c->second != 0)
			again = get_side(judge, c->second, run, &second);
		block.fit.aa = second.counts ? log(a.y) - log(again.y) : (double)NAN;
		if (!isnan(block.fit.aa)) {
			block.fit.aa_place = a.place - again.place;
			block.fit.place -= block.fit.aa_place / 2.0;
		}
		block.fit.place -= b.place;
		c->n_blocks += block.counts ? 1 : 0;
		c->blocks[c->n_shown++] = block;
	}
}

/* If every block that counts has control and A/A arm, use the mean of both. */
static void merge_controls(const struct judge *judge, struct judge_contrast *c)
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
			/* The A/A arm is not a control: only the control's place counts. */
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

/* Compare by the blocks of one pod, or of all (JUDGE_ANY: also adjust fit.d for places). */
static struct paired fit_blocks(const struct judge *judge, struct judge_contrast *c, size_t pod)
{
	AUTO_FREE struct paired_block *fit = xcalloc(c->n_shown + 1, sizeof(*fit));
	size_t n = 0;

	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts && (pod == JUDGE_ANY || c->blocks[i].pod == pod))
			fit[n++] = c->blocks[i].fit;
	struct paired paired = paired_fit(fit, n, &judge->rule.paired);
	for (size_t i = 0, k = 0; pod == JUDGE_ANY && i < c->n_shown; i++)
		if (c->blocks[i].counts)
			c->blocks[i].fit.d = fit[k++].d;
	return paired;
}

/* With two pods, how much pods differ is assumed, except for A/A arms. */
static void add_pods_variance(const struct judge *judge, struct judge_contrast *c)
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

static void find_means_and_pods(struct judge_contrast *c)
{
	double a = 0.0, b = 0.0, n = (double)c->n_blocks;

	c->pods = xcalloc(c->n_blocks + 1, sizeof(*c->pods));
	array_each (block, c->blocks, c->n_shown) {
		if (!block->counts)
			continue;
		a += log(block->control);
		b += log(block->variant);
		size_t p = index_of(i, c->n_pods, c->pods[i].pod == block->pod);
		c->pods[p].pod = block->pod;
		c->n_pods += p == c->n_pods ? 1 : 0;
	}
	c->control = c->n_blocks > 0 ? exp(a / n) : (double)NAN;
	c->variant = c->n_blocks > 0 ? exp(b / n) : (double)NAN;
}

/* Compare c->arm with c->base in the main blocks or in the extra ones.  With three or more pods, or
 * two that are shown to differ, the pods' means are compared. */
static void judge_compare_blocks(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	const struct paired_rule *rule = &judge->rule.paired;
	AUTO_FREE double *means = judge_new_array(judge), *sds = judge_new_array(judge);
	AUTO_FREE double *blocks = judge_new_array(judge);

	for (size_t arm = 1; arm < judge->n_arms && c->base == 0 && !judge->arms[c->arm].aa; arm++)
		if (judge->arms[arm].aa && c->second == 0)
			c->second = arm;
	collect_blocks(judge, c, fresh);
	merge_controls(judge, c);
	find_means_and_pods(c);
	for (size_t p = 0; p < c->n_pods; p++) {
		c->pods[p].paired = fit_blocks(judge, c, c->pods[p].pod);
		means[p] = c->pods[p].paired.mean;
		sds[p] = c->pods[p].paired.sd;
		blocks[p] = (double)c->pods[p].paired.n;
	}
	c->spread = multi_pods(means, sds, blocks, c->n_pods);
	c->pods_differ = c->spread.p < PODS_DIFFER_P;
	c->across_pods = c->n_pods >= PODS_AS_UNITS || c->pods_differ;
	c->paired = fit_blocks(judge, c, JUDGE_ANY);
	if (c->across_pods)
		c->paired = paired_compare(means, c->n_pods, rule);
	add_pods_variance(judge, c);
}

#define MAX_PAIRS (SCHEDULE_MAX_ARMS * (SCHEDULE_MAX_ARMS - 1) / 2)

static void find_failures_of_control(struct judge *judge)
{
	static const enum guard guards[] = { GUARD_EXIT, GUARD_NAN, GUARD_PARSE, GUARD_WINDOW };

	_Static_assert(GUARD_COUNT <= 64, "a bit for each guard");
	for (size_t i = 0; i < LENGTH(guards); i++) {
		size_t n = 0, failed = 0;

		judge_each (run, judge, 0) {
			n++;
			failed += array_count(hit, run->hits.hit, run->hits.n,
					      hit->guard == guards[i] && hit->hard);
		}
		if (n > 0 && failed == n)
			judge->control_fails |= UINT64_C(1) << guards[i];
	}
}

/* The hard guard that makes the variant INVALID, or NULL.  Temporary faults of the pod do not make
 * it INVALID, and neither do guards that all runs of the control fail. */
static const char *find_invalidating_guard(const struct judge *judge,
					   const struct judge_contrast *c)
{
	for (size_t i = 0; i < c->hits.n; i++) {
		enum guard guard = c->hits.hit[i].guard;

		if (c->hits.hit[i].hard && guard != GUARD_FOREIGN && guard != GUARD_CLOCK &&
		    guard != GUARD_LOST && (judge->control_fails >> guard & 1) == 0)
			return guard_words[guard];
	}
	return NULL;
}

static unsigned int get_suffixes(const struct judge *judge, const struct judge_contrast *c)
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
		{ VERDICT_OTHER_CLOCK, guard_has(&c->hits, GUARD_SM_CLOCK) },
		{ VERDICT_OTHER_CAP, guard_has(&c->hits, GUARD_POWER_CAP) },
		{ VERDICT_NOT_WHOLE, guard_has(&c->hits, GUARD_WHOLE) },
		{ VERDICT_SLOWED, guard_has(&c->hits, GUARD_SLOWED) },
		{ VERDICT_EARLIER, guard_has(&c->hits, GUARD_EARLIER) },
		{ VERDICT_LEFT, c->left_by_one },
		{ VERDICT_UNPROVEN, judge->arms[c->arm].numerics_changed },
	};
	unsigned int suffixes = 0;

	for (size_t i = 0; i < LENGTH(all); i++)
		suffixes |= all[i].is ? 1U << all[i].suffix : 0U;
	return suffixes;
}

/* Do mean and median of the intervals disagree, in every run?  Their distance must be significant,
 * and larger than half of the confidence interval, the rounding of the log's clock and the margin.
 * The margin does not apply if mean and median have opposite signs and the mean is significant. */
static bool contradicts(const struct judge *judge, const struct judge_contrast *c,
			const struct paired *away)
{
	const struct paired_rule *rule = &judge->rule.paired;
	double by_median = c->paired.mean - away->mean;
	bool turned = c->paired.p < rule->alpha && c->paired.mean * by_median < 0.0;

	if (fabs(away->mean) <= c->steps.rounding)
		return false;
	return away->p < rule->alpha && fabs(away->mean) > (c->paired.hi - c->paired.lo) / 2.0 &&
	       (turned || fabs(away->mean) > log1p(rule->margin));
}

static void refuse_unsteady(const struct judge *judge, struct judge_contrast *c,
			    struct refusal *why)
{
	const struct judge_steps *s = &c->steps;
	bool variant = s->odd_times >= 1.0;
	double times = variant ? s->odd_times : 1.0 / s->odd_times;

	/* A pause of both arms, as for a checkpoint, changes a ratio but gains nothing. */
	if (!contradicts(judge, c, &s->away) || !contradicts(judge, c, &s->uneven))
		return;
	guard_add(&c->hits, GUARD_STEADY, false,
		  "steps %.0f to %.0f took the %s %.1f times as long as other steps: %+.2f%% by "
		  "the mean, %+.2f%% by the median of the intervals",
		  s->odd_lo, s->odd_hi, variant ? "variant" : "control", times,
		  stats_pct(c->paired.mean), stats_pct(c->paired.mean - s->away.mean));
	why->reason = VERDICT_UNSTEADY;
	print_into(why->details, "steps %.0f to %.0f took %.1fx as long", s->odd_lo, s->odd_hi,
		   times);
}

/* A window with fewer ticks is too short for its clock. */
#define LEAST_TICKS 200.0
/* Both ends of a window are rounded to a tick, so a difference must be at least two ticks. */
#define LEAST_APART 2.0

/* With a larger bound on the rounding, an interval that includes it is of no use. */
#define MOST_ROUNDING 0.1

/* Include the rounding of a coarse clock in the interval, if the verdict holds with it.  Otherwise
 * refuse a verdict: too few ticks, a difference below two ticks, or blocks without any spread. */
static void refuse_coarse(const struct judge *judge, struct judge_contrast *c, struct refusal *why)
{
	double ticks = fmin(judge->summary[c->base].ticks, judge->summary[c->arm].ticks);
	const struct judge_run *first = judge_next(judge, c->base, NULL);
	bool of_pod = first != NULL && first->times.clock == STEP_CLOCK_STAMPS;
	double rounding =
		(first != NULL && !step_clock_is_total(first->times.clock) ? 1.0 : LEAST_APART) /
		ticks;
	bool holds = c->paired.sd > 0.0 &&
		     fabs(c->paired.mean) - rounding > (c->paired.hi - c->paired.lo) / 2.0;
	bool differs = c->paired.p < judge->rule.paired.alpha;
	double moments = (double)NAN;

	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].has_window &&
		    (judge->runs[i].arm == c->base || judge->runs[i].arm == c->arm))
			moments = fmin(moments,
				       step_moments(&judge->runs[i].times, judge->lo, judge->hi));
	if ((ticks < LEAST_TICKS || c->paired.sd == 0.0) && (!differs || holds) && !of_pod &&
	    rounding < MOST_ROUNDING) {
		paired_widen(&c->paired, rounding);
		guard_add(&c->hits, GUARD_COARSE, false,
			  "the log's clock rounds the window to %.0f ticks: the interval includes "
			  "that rounding, %.2g%%",
			  ticks, 100.0 * rounding);
	} else if (ticks < LEAST_TICKS) {
		why->reason = VERDICT_COARSE;
		print_into(why->details, "the window is %.0f ticks of %s clock, need %.0f", ticks,
			   of_pod ? "the pod's" : "the log's", LEAST_TICKS);
	} else if (judge->training && c->paired.sd == 0.0) {
		why->reason = VERDICT_NO_SPREAD;
		print_into(why->details, "all blocks show the same difference");
	} else if (differs && fabs(c->paired.mean) * moments < 1.0) {
		why->reason = VERDICT_COARSE;
		print_into(why->details, "rows share their times: the window has %.0f intervals",
			   moments);
	} else if (differs && fabs(c->paired.mean) * ticks < LEAST_APART) {
		why->reason = VERDICT_COARSE;
		print_into(why->details, "the difference is below two ticks of the log's clock");
	}
}

static void decide_contrast(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_rule *rule = &judge->rule;
	struct refusal why = { VERDICT_NONE, "" };
	/* Two pods may differ by an unknown amount, so their common interval never shows SAME.  It
	 * holds for these two pods if each of them shows SAME by its own blocks. */
	bool same_on_each = c->n_pods == 2 && !c->across_pods &&
			    all_of(p, c->n_pods,
				   c->pods[p].paired.n >= VERDICT_MIN_BLOCKS &&
					   paired_is_same(&c->pods[p].paired, rule->paired.margin));
	struct verdict_input input = {
		.details = why.details,
		.invalid = find_invalidating_guard(judge, c),
		.need = rule->need,
		.n_blocks = c->n_blocks,
		.planned = rule->over ? 0 : rule->looks.planned,
		.paired = &c->paired,
		.level = c->level,
		.alpha = rule->paired.alpha,
		.margin = rule->paired.margin,
		/* The mean of two controls has less spread. */
		.register_sd = rule->register_sd * (c->second != 0 ? sqrt(0.75) : 1.0),
		.register_df = rule->register_df,
		.suffixes = get_suffixes(judge, c),
		.same_on_each = same_on_each,
		.worse_nats = c->quality.worse ? c->quality.nats.mean : 0.0,
	};

	refuse_unsteady(judge, c, &why);
	if (why.reason == VERDICT_UNSTEADY)
		input.suffixes &= ~(1U << VERDICT_NOT_STEADY);
	refuse_coarse(judge, c, &why);
	input.same_on_each &= !guard_has(&c->hits, GUARD_COARSE);
	if (why.reason == VERDICT_NONE)
		judge_refuse_late_rows(judge, c, &why);
	const struct judge_run *control = judge_next(judge, 0, NULL);
	if (control != NULL && judge->control_fails != 0) {
		why.reason = VERDICT_NO_VALUE;
		print_into(why.details, "%s",
			   array_find(hit, control->hits.hit, control->hits.n,
				      hit->hard && (judge->control_fails >> hit->guard & 1) != 0)
				   ->text);
	}
	input.reason = why.reason;
	if (judge->arms[c->arm].other_noise)
		input.register_sd = input.register_df = (double)NAN;
	verdict_judge(&c->verdict, &input);
	if (c->verdict.reason == VERDICT_UNSTEADY)
		c->verdict.suffixes |= 1U << VERDICT_NOT_STEADY;
	input.invalid = NULL;
	verdict_judge(&c->if_valid, &input);
}

/* The level for p, given Holm's alpha; of the last look, if the bench ran to its end. */
static double get_level(const struct judge *judge, const struct judge_contrast *c, double alpha)
{
	const struct judge_rule *rule = &judge->rule;
	double level = looks_level(&rule->looks, c->n_blocks, false, alpha);

	if (rule->over && !(c->paired.p < level))
		level = looks_level(&rule->looks, c->n_blocks, true, alpha);
	return level;
}

/* Adjust p values by Holm over the valid variants, without A/A arms. The interval of each contrast
 * follows from its level, so it excludes 0 exactly if a difference is shown. */
static void adjust_p_values(struct judge *judge)
{
	const struct paired_rule *rule = &judge->rule.paired;
	double p[SCHEDULE_MAX_ARMS] = { 0 }, adjusted[SCHEDULE_MAX_ARMS] = { 0 };
	size_t m = 0, n_shown = 0, n = judge->n_contrasts;
	bool holm = judge->rule.holm, open = true;

	for (size_t i = 0; i < n; i++) {
		const struct judge_contrast *c = &judge->contrasts[i];
		bool counts = !judge->arms[c->arm].aa && find_invalidating_guard(judge, c) == NULL;

		p[i] = counts ? c->paired.p : (double)NAN;
		m += counts ? 1 : 0;
	}
	multi_holm(p, adjusted, n);
	for (size_t step = 0; step < n; step++)
		for (size_t i = 0; i < n; i++) {
			struct judge_contrast *c = &judge->contrasts[i];
			size_t left = holm && m > 1 ? m - n_shown : 1;

			if (isnan(p[i]) || multi_rank(p, n, i) != step)
				continue;
			c->level = get_level(judge, c, rule->alpha / (double)left);
			open &= p[i] < c->level;
			n_shown += open ? 1 : 0;
		}
	for (size_t i = 0; i < n; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->p_holm = holm ? adjusted[i] : p[i];
		if (isnan(p[i]))
			c->level = get_level(judge, c, rule->alpha);
		paired_set_level(&c->paired, c->level, rule);
	}
}

/* Warn if an A/A arm, judged before, differs from the control by more than the margin or half of
 * the contrast's difference, or if the variant itself repeats the control. */
static void warn_if_aa_differs(struct judge *judge, struct judge_contrast *c)
{
	array_each (aa, judge->contrasts, judge->n_contrasts) {
		const struct verdict *v = &aa->verdict;

		if (!judge->arms[aa->arm].aa ||
		    (v->word != VERDICT_FASTER && v->word != VERDICT_SLOWER))
			continue;
		if (!v->below_margin || 2.0 * fabs(aa->paired.mean) > fabs(c->paired.mean))
			guard_add(&c->hits, GUARD_AA, false,
				  "the A/A arm differs from the control (%.90s): the order of "
				  "runs may favor an arm",
				  v->text);
	}
	if (judge->arms[c->arm].is_control_again && c->paired.p < c->level)
		guard_add(&c->hits, GUARD_AA, false,
			  "%s and %s have the same command, environment and files: the order of "
			  "runs favors one, or the program reads the name of its arm",
			  judge->arms[c->arm].tag, judge->arms[0].tag);
}

/* The control must be this much slower, significantly; with only three blocks, by more. */
#define SLOWED_BY     0.03
#define SLOWED_P      0.001
#define SLOWED_FEW_BY 0.10
#define SLOWED_FEW_P  0.01

/* The first run may take longer by up to this, as its files are not in the page cache. */
#define PREPARED_BY 0.2
/* Fewer runs, each faster than the one before, may be chance, even after a warm-up run. */
#define LEAST_SERIES 7

/* By how much all runs of an arm in the blocks are slower (sign 1) or faster (-1) than its burn-in
 * run on the pod, if that is significant and more than `least`, or if each run is slower or faster
 * than the one before; ln units, 0: not shown. With `least` 0, at least the drift of these runs. */
static double compare_with_burn_in(const struct judge *judge, size_t arm, double sign, double least)
{
	AUTO_FREE double *ln = judge_new_array(judge);
	double drift = 0.0;

	array_each (first, judge->runs, judge->n_runs) {
		size_t n = 1;

		if (first->counted || first->arm != arm || !(first->y > 0.0) ||
		    guard_hard(&first->hits) != NULL)
			continue;
		ln[0] = log(first->y);
		judge_each (run, judge, arm)
			if (run->pod == first->pod && judge_is_usable(run))
				ln[n++] = log(run->y);
		if (n > 1 && least == 0.0)
			drift = fmax(drift, sign * (ln[n - 1] - ln[1]));
		double by = sign * (stats_mean(ln + 1, n - 1) - ln[0]);
		double se = stats_sd(ln + 1, n - 1) * sqrt(1.0 + 1.0 / ((double)n - 1.0));
		bool few = n - 1 == VERDICT_MIN_BLOCKS;
		if (n > VERDICT_MIN_BLOCKS && by > (few ? fmax(least, SLOWED_FEW_BY) : least) &&
		    dist_t_upper(by / se, (double)n - 2.0) < (few ? SLOWED_FEW_P : SLOWED_P))
			return fmax(by, drift);
		if (n >= LEAST_SERIES && by > log1p(judge->rule.paired.margin) &&
		    all_of(i, n - 1, sign * ln[i + 1] > sign * ln[i]))
			return fmax(by, drift);
	}
	return drift;
}

/* Warn if only the control became slower, or only the variant faster, after its first run. */
static void compare_earlier_runs(const struct judge *judge, struct judge_contrast *c)
{
	double slowed = compare_with_burn_in(judge, 0, 1.0, SLOWED_BY);
	double gained = compare_with_burn_in(judge, c->arm, -1.0, PREPARED_BY);

	if (slowed > 2.0 * compare_with_burn_in(judge, c->arm, 1.0, 0.0))
		guard_add(&c->hits, GUARD_SLOWED, false,
			  "the control became %.1f%% slower once other arms had run: does one of "
			  "them change what it reads?",
			  stats_pct(slowed));
	if (gained > 2.0 * compare_with_burn_in(judge, 0, -1.0, 0.0))
		guard_add(&c->hits, GUARD_EARLIER, false,
			  "its runs are %.1f%% faster than its burn-in run, the control's are not: "
			  "do they use a cache or a result of an earlier run?",
			  stats_pct(gained));
}

/* Two arms compared in the main blocks. */
struct pair {
	size_t a, b;
	struct paired paired; /* mean > 0: b is faster */
};

static bool is_ranked(const struct judge *judge, size_t arm)
{
	bool any = false;

	judge_each (run, judge, arm) {
		if (!judge_is_main(run) || !judge_is_usable(run))
			continue;
		if (run->state < RUN_STATE_VERIFIED)
			return false;
		any = true;
	}
	return any;
}

/* Compare b with a in the main blocks, or in the extra ones. */
static struct pair compare_arms(const struct judge *judge, size_t a, size_t b, bool fresh)
{
	struct judge_contrast c = { .arm = b, .base = a };
	struct pair pair = { .a = a, .b = b };

	judge_compare_blocks(judge, &c, fresh);
	pair.paired = c.paired;
	/* The minimum is a number of blocks, even if the pods' means are compared. */
	pair.paired.n = c.n_blocks;
	free(c.blocks);
	free(c.pods);
	return pair;
}

/* Is the arm faster than all others?  If so, write it, its runner-up and its largest p to best. */
static bool is_leader(const struct judge *judge, const struct pair *pairs, const double *holm,
		      size_t arm, struct judge_best *best)
{
	double least = (double)INFINITY, p = 0.0;

	for (size_t i = 0; i < best->n_pairs; i++) {
		double mean = pairs[i].paired.mean, lead = pairs[i].b == arm ? mean : -mean;

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

/* Is the leader also faster in the extra blocks, which had no part in choosing it? */
static void confirm_best(const struct judge *judge, struct judge_best *best)
{
	struct pair control = compare_arms(judge, 0, best->arm, true);
	struct pair rival = compare_arms(judge, best->rival, best->arm, true);

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

static void describe_best(const struct judge *judge, struct judge_best *best)
{
	const char *rival = judge->arms[best->rival].tag;

	append_into(best->text, "BEST %s", judge->arms[best->arm].tag);
	if (best->state == BEST_CONFIRMED)
		append_into(best->text, ", confirmed in %zu extra blocks", best->n_fresh);
	else if (best->n_fresh > 0 && best->n_fresh < VERDICT_MIN_BLOCKS)
		append_into(best->text, ", not confirmed yet (%zu extra block%s, need %d)",
			    best->n_fresh, best->n_fresh == 1 ? "" : "s", VERDICT_MIN_BLOCKS);
	else if (best->n_fresh == 0)
		append_into(best->text, ", not confirmed: no extra blocks ran");
	else
		append_into(best->text, ", not confirmed by %zu extra blocks", best->n_fresh);
	if (best->n_fresh > 0)
		append_into(best->text, ": %+.2f%% over %s", stats_pct(best->over_rival.mean),
			    rival);
	if (best->n_fresh > 0 && best->rival != 0 && best->arm != 0)
		append_into(best->text, ", %+.2f%% over %s", stats_pct(best->over_control.mean),
			    judge->arms[0].tag);
	append_into(best->text, " (Holm over %zu pairs p %.2g)", best->n_pairs, best->p_pairs);
}

bool judge_is_invalid(const struct judge *judge, size_t arm)
{
	return arm > 0 && judge->contrasts[arm - 1].verdict.word == VERDICT_INVALID;
}

/* The best is not an A/A arm, and has the same numerics, no worse loss, and a valid verdict. */
static bool can_be_best(const struct judge *judge, size_t arm)
{
	return !judge->arms[arm].aa && !judge->arms[arm].numerics_changed &&
	       !judge_is_invalid(judge, arm) &&
	       (arm == 0 || (judge->contrasts[arm - 1].verdict.reason <= VERDICT_EARLY &&
			     !judge->contrasts[arm - 1].quality.worse));
}

static void find_best(struct judge *judge)
{
	struct judge_best *best = &judge->best;
	struct pair pairs[MAX_PAIRS];
	double p[MAX_PAIRS], holm[MAX_PAIRS];

	*best = (struct judge_best){ .p_pairs = (double)NAN };
	if (count_variants(judge) < 2 ||
	    array_any(run, judge->runs, judge->n_runs, run->state == RUN_STATE_CLAIMED))
		return;
	best->state = BEST_NONE;
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (can_be_best(judge, arm) && !is_ranked(judge, arm)) {
			append_into(best->text, "none: not all runs of %s are verified",
				    judge->arms[arm].tag);
			return;
		}
	for (size_t a = 0; a < judge->n_arms; a++)
		for (size_t b = a + 1; b < judge->n_arms; b++)
			if (can_be_best(judge, a) && can_be_best(judge, b))
				pairs[best->n_pairs++] = compare_arms(judge, a, b, false);
	for (size_t i = 0; i < best->n_pairs; i++)
		p[i] = pairs[i].paired.p;
	multi_holm(p, holm, best->n_pairs);
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (can_be_best(judge, arm) && best->n_pairs > 0 &&
		    is_leader(judge, pairs, holm, arm, best)) {
			best->state = BEST_LEADS;
			break;
		}
	if (best->state == BEST_NONE) {
		append_into(best->text,
			    "none: no arm is faster than all others (Holm over %zu pairs)",
			    best->n_pairs);
		return;
	}
	confirm_best(judge, best);
	describe_best(judge, best);
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
	find_failures_of_control(judge);
	for (size_t arm = 0; arm < n_arms; arm++)
		judge_summarize(judge, arm);
	judge_mark_outliers(judge);
	judge_drop_blocks(judge);
	judge->contrasts = xcalloc(n_arms, sizeof(*judge->contrasts));
	array_each (c, judge->contrasts, judge->n_contrasts) {
		c->arm = (size_t)(c - judge->contrasts) + 1;
		judge_compare_blocks(judge, c, false);
		judge_compare_arms(judge, c);
		judge_compare_unblocked(judge, c);
		judge_weigh_outliers(judge, c);
		judge_compare_intervals(judge, c);
	}
	adjust_p_values(judge);
	/* The A/A arms first: a verdict may depend on them. */
	for (int aa = 1; aa >= 0; aa--)
		array_each (c, judge->contrasts, judge->n_contrasts) {
			if (judge->arms[c->arm].aa != (aa == 1))
				continue;
			if (aa == 0) {
				warn_if_aa_differs(judge, c);
				compare_earlier_runs(judge, c);
			}
			decide_contrast(judge, c);
		}
	find_best(judge);
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
