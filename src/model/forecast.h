/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/* Forecast where a running run will end. Pure, from the model alone.
 *
 * The number of steps at the cap comes from the time curve of a finished run of the same recipe,
 * scaled to this run's pace; without one, from the run's recent pace. The intervals were measured
 * on 124 capped training logs: with a reference, the 90th percentile of the error is 0.93 %;
 * without one, the median error of an extrapolation is 10.4, 9.4 and 3.0 % at 25, 50 and 75 % of
 * the time.
 *
 * The final BPB is the reference's plus 0.4 BPB per nat of the gap between their training losses at
 * the same steps; the noisier the rows, the less the gap counts. This forecast exists after half of
 * the time, for runs of the same pace, where it was measured to help: at 75 % of the time its
 * median error is .00048; that of the reference's own score is .00079. */
enum forecast_source { FORECAST_NONE, FORECAST_RECENT, FORECAST_REFERENCE };

struct forecast {
	enum forecast_source source;
	const struct model_run *reference; /* NULL: none */
	double end_steps, end_steps_error; /* absent: unknown */
	double end_train_ms;		   /* when training will end: by the cap or the plan */
	double train_left_s;		   /* until end_train_ms */
	double eval_left_s;		   /* rest of an evaluation that logs its progress */
	double final_bpb, final_bpb_sigma; /* absent: unknown */
};

/* cap_train_s absent: no cap.  What cannot be forecast is absent. */
void forecast_run(const struct model *model, const struct model_run *mr, double cap_train_s,
		  struct forecast *forecast);

/* Does the log show that training is over, by a stop, an evaluation, an artifact or a score? */
bool forecast_training_is_over(const struct run *run);

/* Bits per byte for each nat of loss, from the run's own validation rows (val_bpb / val_loss); it
 * depends on the tokenizer. Absent without such a row. */
double forecast_bpb_per_nat(const struct model_run *mr);

/* The running mean of gaps between two runs; start with a zeroed struct. */
struct forecast_gap {
	size_t n;
	double mean, squares;
};

/* A single row is noise; the gap is a mean over this many. */
#define FORECAST_GAP_ROWS 20
/* Add a gap, unless it is not finite. */
void forecast_gap_add(struct forecast_gap *gap, double value);
/* Standard error of the mean; absent for fewer than two gaps. */
double forecast_gap_error(const struct forecast_gap *gap);

/* The training time at a step of the run, interpolated between rows; absent outside of them. */
double forecast_time_at_step(const struct model_run *mr, double step);
