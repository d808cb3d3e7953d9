/* SPDX-License-Identifier: MIT */
/* Forecast where a run will end, from its own pace or from the curve of a finished run. */
#include "model/forecast.h"

#define REFERENCE_ERROR 0.0093
#define BPB_PER_NAT_GAP 0.4
#define BPB_SIGMA	0.00071 /* gives the measured median error of .00048 */
#define BPB_SPREAD	0.00117 /* spread of the seeds of a recipe; median error .00079 */

double forecast_bpb_per_nat(const struct model_run *mr)
{
	double loss = mr->run.last_val_loss, bpb = mr->run.last_val_bpb;

	if (!run_has(loss) || !run_has(bpb) || loss <= 0 || bpb <= 0)
		return RUN_ABSENT;
	return bpb / loss;
}

/* Find a series whose points have training times; NULL: none. */
static const struct series *time_series(const struct model_run *mr)
{
	static const enum metric candidates[] = { METRIC_TRAIN_LOSS, METRIC_STEP_AVG_MS,
						  METRIC_MS_PER_STEP, METRIC_VAL_LOSS };

	for (size_t i = 0; i < LENGTH(candidates); i++) {
		const struct series *series = mr->series[candidates[i]];

		if (series != NULL && series_count(series) >= 2 &&
		    run_has(series_last(series)->train_ms))
			return series;
	}
	return NULL;
}

/* The member of a point that is read as x or as y. */
enum { OF_STEP, OF_TIME, OF_VALUE };

static double series_number(const struct series *series, size_t i, int of)
{
	const struct series_point *point = series_at(series, i);

	return of == OF_STEP ? point->step : of == OF_TIME ? point->train_ms : point->value;
}

/* Interpolate y at x between the points of a series whose x rises; absent outside of them. */
static double series_between(const struct series *series, double x, int x_of, int y_of)
{
	size_t n = series != NULL ? series_count(series) : 0, i;

	if (n < 2 || !(x >= series_number(series, 0, x_of)) ||
	    !(x <= series_number(series, n - 1, x_of)))
		return RUN_ABSENT;
	i = bisect(n - 1, k, series_number(series, k, x_of) <= x);
	double x_a = series_number(series, i - 1, x_of);
	double x_b = series_number(series, i, x_of);
	double y_a = series_number(series, i - 1, y_of);
	double y_b = series_number(series, i, y_of);
	return x_b > x_a ? y_a + (y_b - y_a) * (x - x_a) / (x_b - x_a) : y_b;
}

double forecast_time_at_step(const struct model_run *mr, double step)
{
	return series_between(time_series(mr), step, OF_STEP, OF_TIME);
}

static bool may_be_equal(double a, double b)
{
	return !run_has(a) || !run_has(b) || a == b;
}

/* Find the newest finished run of the same recipe with loaded series, or NULL. */
static const struct model_run *find_reference(const struct model *model, const struct model_run *mr)
{
	for (size_t i = model->n_runs; i-- > 0;) {
		const struct model_run *other = model->runs[i];
		const char *own_sha = mr->run.source_sha256, *sha = other->run.source_sha256;

		/* A log without its script may be of the same recipe. */
		if (other == mr || other->run.status != RUN_FINISHED ||
		    strcmp(mr->group, other->group) != 0 ||
		    (own_sha != NULL && sha != NULL && strcmp(own_sha, sha) != 0) ||
		    !may_be_equal(mr->run.planned_steps, other->run.planned_steps) ||
		    !may_be_equal(mr->run.n_gpus, other->run.n_gpus))
			continue;
		model_request_series(model, other);
		/* Wait until its series are loaded, rather than use an older run. */
		if (other->history != MODEL_WHOLE)
			return NULL;
		if (time_series(other) != NULL)
			return other;
	}
	return NULL;
}

/* Compute milliseconds per step over the last fifth of the training time. */
static double recent_ms_per_step(const struct model_run *mr)
{
	const struct series *series = time_series(mr);

	if (series == NULL)
		return model_run_ms_per_step(mr);
	const struct series_point *last = series_last(series);
	for (size_t i = series_count(series) - 1; i-- > 0;) {
		const struct series_point *p = series_at(series, i);

		if (p->train_ms > last->train_ms * 0.8 && i > 0)
			continue;
		if (last->step > p->step && last->train_ms > p->train_ms)
			return (last->train_ms - p->train_ms) / (last->step - p->step);
	}
	return model_run_ms_per_step(mr);
}

/* The measured median error of an extrapolation that is made after this part of the time. */
static double recent_error(double part)
{
	static const double at[][2] = {
		{ 0, 0.12 }, { 0.25, 0.104 }, { 0.5, 0.094 }, { 0.75, 0.03 }, { 1, 0 }
	};

	for (size_t i = 1; i < LENGTH(at); i++)
		if (part <= at[i][0])
			return at[i - 1][1] + (at[i][1] - at[i - 1][1]) * (part - at[i - 1][0]) /
						      (at[i][0] - at[i - 1][0]);
	return 0;
}

/* Find the step that the reference's curve, scaled to this run's pace, reaches at end_ms. */
static double reference_steps(const struct model_run *mr, const struct model_run *ref,
			      double end_ms)
{
	double step = mr->run.steps;
	double ref_now = forecast_time_at_step(ref, step);
	double ref_before = forecast_time_at_step(ref, step * 0.8);
	double own_before = forecast_time_at_step(mr, step * 0.8);
	double pace = 1, ref_end_ms = ref->run.train_ms;
	const struct series_point *last = series_last(time_series(ref));

	if (!run_has(ref_now))
		return RUN_ABSENT;
	if (run_has(ref_before) && run_has(own_before) && ref_now > ref_before)
		pace = (model_run_train_ms(mr) - own_before) / (ref_now - ref_before);
	if (!(pace > 0.2 && pace < 5))
		return RUN_ABSENT;
	double ms = ref_now + (end_ms - model_run_train_ms(mr)) / pace;
	if (ms <= last->train_ms || !(ms <= ref_end_ms * 1.0001) || !(ref_end_ms > last->train_ms))
		return series_between(time_series(ref), ms, OF_TIME, OF_STEP);
	/* After its last row, the reference went on to the end of its training. */
	return last->step + (ref->run.steps - last->step) * (ms - last->train_ms) /
				    (ref_end_ms - last->train_ms);
}

static void forecast_steps(const struct model_run *mr, double cap_ms, struct forecast *f)
{
	const struct run *run = &mr->run;
	double pace = recent_ms_per_step(mr), steps = RUN_ABSENT;
	double part = model_run_train_ms(mr) / cap_ms;

	if (f->reference != NULL)
		steps = reference_steps(mr, f->reference, cap_ms);
	if (run_has(steps)) {
		f->source = FORECAST_REFERENCE;
		f->end_steps_error = (steps - run->steps) * REFERENCE_ERROR;
	} else if (run_has(pace) && pace > 0) {
		f->source = FORECAST_RECENT;
		steps = run->steps + (cap_ms - model_run_train_ms(mr)) / pace;
		f->end_steps_error = steps * recent_error(part);
	}
	f->end_steps = steps;
}

void forecast_gap_add(struct forecast_gap *gap, double value)
{
	double delta = value - gap->mean;

	if (!isfinite(value))
		return;
	gap->n++;
	gap->mean += delta / (double)gap->n;
	gap->squares += delta * (value - gap->mean);
}

double forecast_gap_error(const struct forecast_gap *gap)
{
	double n = (double)gap->n;

	return gap->n > 1 ? sqrt(gap->squares / (n - 1) / n) : RUN_ABSENT;
}

/* Forecast the final BPB from the gap to the reference at the same steps. Seeds differ by
 * BPB_SPREAD anyway: the noisier the gap, the less it counts, and the wider the interval. */
static void forecast_bpb(const struct model_run *mr, struct forecast *f)
{
	const struct model_run *ref = f->reference;
	const struct series *own = mr->series[METRIC_TRAIN_LOSS];
	double spread = BPB_SPREAD / BPB_PER_NAT_GAP, trust, error;
	struct forecast_gap gap = { 0 };

	if (ref == NULL || own == NULL)
		return;
	/* If the pace differs, the learning rate at the same step differs too. */
	double ref_ms = forecast_time_at_step(ref, mr->run.steps);
	if (!(ref_ms > 0) || !(fabs(model_run_train_ms(mr) / ref_ms - 1) < 0.05) ||
	    !run_has(ref->run.final_bpb) || !run_has(f->end_train_ms) ||
	    model_run_train_ms(mr) < f->end_train_ms * 0.5)
		return;
	/* Average the gap of the training loss over the newest rows, in nats. */
	size_t n = series_count(own);
	for (size_t i = n > FORECAST_GAP_ROWS ? n - FORECAST_GAP_ROWS : 0; i < n; i++) {
		const struct series_point *p = series_at(own, i);

		forecast_gap_add(&gap, p->value - series_between(ref->series[METRIC_TRAIN_LOSS],
								 p->step, OF_STEP, OF_VALUE));
	}
	if (gap.n < 5)
		return;
	error = forecast_gap_error(&gap);
	trust = spread * spread / (spread * spread + error * error);
	f->final_bpb = ref->run.final_bpb + BPB_PER_NAT_GAP * trust * gap.mean;
	f->final_bpb_sigma = hypot(BPB_SIGMA, BPB_PER_NAT_GAP * sqrt(trust) * error);
}

bool forecast_training_is_over(const struct run *run)
{
	return any_of(i, run->n_events, run->events[i].kind == RUN_EVENT_EARLY_STOP) ||
	       run_has(run->final_bpb) || run_has(run->eval_done) || run_has(run->artifact_bytes);
}

/* Milliseconds per step over the last fifth of the steps, from the times that lines start with. */
static double clock_ms_per_step(const struct model_run *mr)
{
	const struct series *series = mr->series[METRIC_TRAIN_LOSS];

	for (size_t i = 0; series == NULL && i < mr->own.n; i++)
		series = mr->own.v[i].series;
	const struct series_point *last = series != NULL ? series_last(series) : NULL;
	if (last == NULL || last->wall_ms == 0)
		return RUN_ABSENT;
	for (size_t i = series_count(series) - 1; i-- > 0;) {
		const struct series_point *p = series_at(series, i);

		if ((p->step > last->step * 0.8 && i > 0) || p->wall_ms == 0)
			continue;
		if (last->step > p->step && last->wall_ms > p->wall_ms)
			return (double)(last->wall_ms - p->wall_ms) / (last->step - p->step);
	}
	return RUN_ABSENT;
}

void forecast_run(const struct model *model, const struct model_run *mr, double cap_train_s,
		  struct forecast *f)
{
	const struct run *run = &mr->run;
	double cap_ms = cap_train_s * 1000, plan_ms = RUN_ABSENT, pace;
	bool is_past_cap = model_run_train_ms(mr) >= cap_ms;

	*f = (struct forecast){ FORECAST_NONE, NULL,	   RUN_ABSENT, RUN_ABSENT, RUN_ABSENT,
				RUN_ABSENT,    RUN_ABSENT, RUN_ABSENT, RUN_ABSENT };
	if (run->status != RUN_RUNNING)
		return;
	f->reference = find_reference(model, mr);
	f->eval_left_s = model_eval_left_s(run);
	if (!run_has(run->steps) || run->steps <= 0)
		return;
	pace = recent_ms_per_step(mr);
	if (!run_has(model_run_train_ms(mr))) {
		/* Without a training time only the plan is known. A run that could belong to a
		 * track ends at the track's cap instead, at an unknown step. */
		pace = run_has(pace) ? pace : clock_ms_per_step(mr);
		if ((run_has(cap_ms) && run_has(run->last_val_bpb)) ||
		    !(run->planned_steps >= run->steps) || !run_has(pace) ||
		    forecast_training_is_over(run))
			return;
		f->source = FORECAST_RECENT;
		f->end_steps = run->planned_steps;
		f->end_steps_error = 0;
		f->train_left_s = (run->planned_steps - run->steps) * pace / 1000;
		return;
	}
	f->end_train_ms = cap_ms;
	if (run_has(run->planned_steps) && run_has(pace)) {
		plan_ms = model_run_train_ms(mr) + (run->planned_steps - run->steps) * pace;

		/* The cap of the track does not apply to a run that passed it and prints no BPB. */
		if (!run_has(cap_ms) || plan_ms < cap_ms ||
		    (is_past_cap && !run_has(run->last_val_bpb)))
			f->end_train_ms = plan_ms;
	}
	/* If the reference stopped itself before the cap, this run will too. */
	if (f->reference != NULL && run_has(f->reference->run.train_ms) &&
	    f->reference->run.steps < f->reference->run.planned_steps &&
	    !(f->end_train_ms <= f->reference->run.train_ms))
		f->end_train_ms = f->reference->run.train_ms;
	if (!run_has(f->end_train_ms))
		return;
	if (model_run_train_ms(mr) < f->end_train_ms && !forecast_training_is_over(run)) {
		f->train_left_s = (f->end_train_ms - model_run_train_ms(mr)) / 1000;
		forecast_steps(mr, f->end_train_ms, f);
	}
	/* A run that ends by its plan ends at exactly that step. */
	if (f->end_steps > run->planned_steps ||
	    (run_has(f->end_steps) && f->end_train_ms == plan_ms)) {
		f->end_steps = run->planned_steps;
		f->end_steps_error = 0;
	}
	forecast_bpb(mr, f);
}
