/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/*
 * Which of the evaluations that a log prints is its score.  Derived from the
 * records of parameter-golf and what their authors published:
 *  - a figure and its "_exact" twin are one; the twin has the digits, the
 *    plain line often the eval time;
 *  - a "roundtrip" label that repeats a sliding-window figure is an alias
 *    that old tools wanted, not an evaluation of its own;
 *  - under final_eval_mode:sliding_window the label lies: it is sliding;
 *  - a label that is printed again with another figure means the last one,
 *    where the model was packed again in between; else neither is sure;
 *  - the score is the best post-quantization figure: a test-time training
 *    that made it worse is not the score;
 *  - of two roundtrips with labels and figures of their own, one of each
 *    codec, nobody can say which was shipped: neither is the score;
 *  - the figure of a model that was not quantized is not the score;
 *  - where an evaluation of a kind that no rule knows is better than the
 *    best known one, nobody can say which is the score: there is none.
 */
struct result {
	enum rule_stage stage;
	char label[64];	      /* first word of the line */
	double val_loss, bpb; /* finite bpb */
	double eval_ms;	      /* absent: not printed */
	uint64_t line;
	uint64_t packs; /* sizes of the artifact that were printed before */
};

#define RUN_MAX_RESULTS 64

struct run_results {
	struct result *items; /* owned */
	size_t n, cap;
};

/* Add one; beyond the cap the last one is replaced. */
void run_results_add(struct run_results *results, const struct result *r);

/* Sets of stages: behind the training, and not of the model before it was
 * quantized. */
#define RUN_STAGE(stage) (1U << (stage))
#define RUN_KNOWN_POST                                                                  \
	(RUN_STAGE(STAGE_ROUNDTRIP) | RUN_STAGE(STAGE_SLIDING) | RUN_STAGE(STAGE_TTT) | \
	 RUN_STAGE(STAGE_FINAL))
#define RUN_POST (RUN_KNOWN_POST | RUN_STAGE(STAGE_UNKNOWN))

/* Whether any evaluation of those stages is there. */
bool run_results_any(const struct run_results *results, unsigned int stages);

/*
 * Whether an evaluation in words that no rule knows, or of another model,
 * stands before all that are known: the weights may be others since.
 */
bool run_results_odd_first(const struct run_results *results);

/*
 * Fill prequant_bpb (where a line gave it), quant_bpb, sliding_bpb, ttt_bpb,
 * final_* and eval_s of run from the results; what is not there is absent.
 */
void run_results_apply(const struct run_results *results, struct run *run);

/*
 * Take the score back, for a run whose evaluation never ended: what was
 * printed so far stays in its stage.
 */
void run_results_withhold(struct run *run);
