/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Generates training logs line by line, in the shapes that real runs print, for the demo, the
 * benchmarks and the tests. Deterministic: the same recipe gives the same bytes. Pure: no file, no
 * clock, no global state.
 *
 *   struct loggen_recipe recipe;
 *   struct loggen_line line;
 *
 *   loggen_recipe_init(&recipe, LOGGEN_GOLF_MIN, 42);
 *   recipe.fate = LOGGEN_STALL;
 *   gen = loggen_new(&recipe);
 *   while (loggen_next(gen, &line))
 *           ... write line.text, line.len bytes, at time line.at_ms
 *   loggen_free(gen);
 *
 * The numbers are consistent: train_time grows by the step time, tok/s is the cumulative batch x
 * steps / time, losses fall along a power law to the score, and training ends at the step where the
 * wall clock cap is reached. */

/* X(id, name, help) */
#define LOGGEN_DIALECT_LIST(X)                                                   \
	X(GOLF_AVG, "golf-avg", "step:N/M rows with step_avg, int8+zlib")        \
	X(GOLF_MIN, "golf-min", "N/M rows with minutes and tok/s, sliding, TTT") \
	X(NANOGPT, "nanogpt", "step:N/M rows in ms, val_loss is the score")

enum loggen_dialect {
#define X(id, name, help) LOGGEN_##id,
	LOGGEN_DIALECT_LIST(X)
#undef X
		LOGGEN_N_DIALECTS
};

/* How the run ends. X(id, name, help) */
#define LOGGEN_FATE_LIST(X)                                                     \
	X(FINISH, "finish", "ends with its score")                              \
	X(STALL, "stall", "stops printing at fate_at for good")                 \
	X(DIVERGE, "diverge", "the loss is nan from fate_at on")                \
	X(CRASH, "crash", "ends at fate_at with a traceback")                   \
	X(OOM, "oom", "ends at fate_at, out of GPU memory")                     \
	X(OVERSIZE, "oversize", "finishes, its artifact over 16,000,000 bytes") \
	X(SLOW, "slow", "finishes with 1.6 times the step time")

enum loggen_fate {
#define X(id, name, help) LOGGEN_##id,
	LOGGEN_FATE_LIST(X)
#undef X
		LOGGEN_N_FATES
};

struct loggen_recipe {
	enum loggen_dialect dialect;
	enum loggen_fate fate;
	uint64_t seed; /* printed as the run's seed, and the seed of all noise */
	unsigned int n_gpus;
	double ms_per_step;	   /* mean; rows vary by about 1 % */
	unsigned int batch_tokens; /* per step over all GPUs */
	unsigned int planned_steps;
	unsigned int log_every; /* a training row every N steps, > 0 */
	unsigned int val_every; /* a validation every N steps, > 0 */
	double cap_s;		/* training stops after this time; 0: never */
	double score;		/* final BPB (NanoGPT: val_loss), before noise is added */
	double fate_at;		/* 0..1 of the training, for stall, diverge, .. */
	bool source;		/* print a training script into the log first */
	bool warnings;		/* print torchrun, NCCL and Python warnings */
};

/* Fill in the usual values of a dialect (8 GPUs, 600 s, the scores and step times of published
 * runs) and fate FINISH. */
void loggen_recipe_init(struct loggen_recipe *recipe, enum loggen_dialect dialect, uint64_t seed);

struct loggen_line {
	const char *text; /* including its newline; borrowed until the next call */
	size_t len;
	double at_ms; /* when the run prints it, since its launch; increases */
};

struct loggen;

/* The recipe is copied. */
struct loggen *loggen_new(const struct loggen_recipe *recipe);
void loggen_free(struct loggen *gen);

/* Get the next line; false after the last one (or after the run has stalled for good). */
bool loggen_next(struct loggen *gen, struct loggen_line *line);

const char *loggen_dialect_name(enum loggen_dialect dialect);
const char *loggen_fate_name(enum loggen_fate fate);
/* Returns the id of a name, or -1. */
int loggen_dialect_by_name(const char *name);
int loggen_fate_by_name(const char *name);
