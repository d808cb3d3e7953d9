/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/* Which evaluation in a log is its score? The rules come from the records of parameter-golf and the
 * scores that their authors published:
 *  - A figure and its "_exact" twin are one result. The twin has all digits; the plain line often
 *    has the evaluation time.
 *  - A "roundtrip" label that repeats a sliding-window figure is an alias for old tools, not an
 *    evaluation.
 *  - After final_eval_mode:sliding_window the label is wrong: the evaluation is sliding.
 *  - If a label is printed again with another figure, the last one counts if the model was packed
 *    again in between; otherwise neither is certain.
 *  - The score is the best figure after quantization: test-time training that made it worse is not
 *    the score.
 *  - Of two roundtrips with different labels and figures, one per codec, it is not known which was
 *    submitted: neither is the score.
 *  - The figure of a model before quantization is not the score.
 *  - An unknown evaluation that is better than the best known one may be the score, so none is
 * reported. */
struct result {
	enum rule_stage stage;
	char label[64];	      /* first word of the line */
	double val_loss, bpb; /* bits per byte, finite */
	double eval_ms;	      /* absent if not printed */
	uint64_t line;
	uint64_t packs; /* number of artifact sizes printed before */
};

#define RUN_MAX_RESULTS 64

struct run_results {
	struct result *items; /* owned */
	size_t n, cap;
};

/* Add a result; when the list is full, it replaces the last one. */
void run_results_add(struct run_results *results, const struct result *r);

/* Sets of stages: those after training, except the evaluation before quantization. */
#define RUN_STAGE(stage) (1U << (stage))
#define RUN_KNOWN_POST                                                                  \
	(RUN_STAGE(STAGE_ROUNDTRIP) | RUN_STAGE(STAGE_SLIDING) | RUN_STAGE(STAGE_TTT) | \
	 RUN_STAGE(STAGE_FINAL))
#define RUN_POST (RUN_KNOWN_POST | RUN_STAGE(STAGE_UNKNOWN))

/* Is there an evaluation of any of those stages? */
bool run_results_any(const struct run_results *results, unsigned int stages);

/* Does an unknown evaluation, or one of another model, come before all known ones? If so, the
 * weights may have changed before the known ones. */
bool run_results_odd_first(const struct run_results *results);

/* Set the run's prequant_bpb, quant_bpb, sliding_bpb, ttt_bpb, final_* and eval_s. */
void run_results_apply(const struct run_results *results, struct run *run);

/* Remove the score of a run whose evaluation did not end; the figures of its stages remain. */
void run_results_withhold(struct run *run);
