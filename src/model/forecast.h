/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/*
 * What a run that is under way will end at.  Pure, from the model alone.
 *
 * Steps at the cap come from the time curve of a finished run of the same
 * recipe, scaled to this run's own pace; without one from the run's recent
 * pace.  The intervals are measured on 124 capped training logs: with a
 * reference the 90th percentile of the error is 0.93 %; without one the
 * median error of an extrapolation is 10.4, 9.4 and 3.0 % at 25, 50 and 75 %
 * of the time.
 *
 * The final BPB is the reference's plus 0.4 BPB for each nat that the
 * training loss is above the reference's at the same steps, as far as that
 * gap stands out of the rows' noise; it exists from half of the time on,
 * where that was measured to help (median error .00048 at 75 % of the time
 * against .00079 of the reference's own score), and for runs of one pace.
 */
enum forecast_source { FORECAST_NONE, FORECAST_RECENT, FORECAST_REFERENCE };

struct forecast {
	enum forecast_source source;
	const struct model_run *reference; /* NULL: none */
	double end_steps, end_steps_error; /* absent: unknown */
	double end_train_ms;		   /* when training will end: cap or plan */
	double train_left_s;		   /* until then */
	double eval_left_s;		   /* of an evaluation that shows its progress */
	double final_bpb, final_bpb_sigma; /* absent: unknown */
};

/* cap_train_s absent: no cap.  Absent values where nothing can be said. */
void forecast_run(const struct model *model, const struct model_run *mr, double cap_train_s,
		  struct forecast *forecast);

/*
 * Whether a stop, an evaluation, an artifact or a score in the log says that
 * no step will follow, be the log's end known or not.
 */
bool forecast_training_is_over(const struct run *run);

/*
 * Bits per byte of a nat of loss for this run's tokenizer, from its own
 * validation rows (val_bpb / val_loss); absent when there is none.
 */
double forecast_bpb_per_nat(const struct model_run *mr);

/* The mean of some gaps between two runs; zeroed it has none. */
struct forecast_gap {
	size_t n;
	double mean, squares;
};

/* One row is noise: so many say where a run stands. */
#define FORECAST_GAP_ROWS 20
/* Take a gap in, unless it is not finite. */
void forecast_gap_add(struct forecast_gap *gap, double value);
/* The standard error of its mean; absent below two gaps. */
double forecast_gap_error(const struct forecast_gap *gap);

/*
 * The training time at a step of a run, between its rows; absent outside of
 * them.
 */
double forecast_time_at_step(const struct model_run *mr, double step);
