/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "tests/tools/loggen.h"

/* Shared by the files of loggen; not included elsewhere. */

enum loggen_phase { PHASE_BEGIN, PHASE_TRAIN, PHASE_END, PHASE_OVER };

struct loggen_queued {
	size_t start, len; /* offset in text */
	double at_ms;
};

struct loggen {
	struct loggen_recipe recipe;
	const struct loggen_dialect_ops *ops;
	uint64_t rng;
	enum loggen_phase phase;
	double now_ms;	 /* since launch */
	double train_ms; /* in the run's own count */
	unsigned int step;
	unsigned int last_step;	     /* where the cap or the plan ends the run */
	bool looping;		     /* GOLF_MIN: more layers from half time on */
	double score;		     /* including this seed's noise */
	struct buf text;	     /* queued lines */
	struct loggen_queued *queue; /* owned */
	size_t n_queue, cap_queue, next;
};

struct loggen_dialect_ops {
	double first_loss;   /* ln of the vocabulary size */
	double bpb_per_loss; /* 1 if the score is a loss */
	double raw_above;    /* last validation minus the score, in its unit */
	/* Queue all lines before the first step. */
	void (*begin)(struct loggen *gen);
	/* Queue what the last step prints besides its rows. */
	void (*mark)(struct loggen *gen);
	void (*train_row)(struct loggen *gen, double loss);
	void (*val_row)(struct loggen *gen, double loss);
	/* Queue all lines after the last step. */
	void (*end)(struct loggen *gen);
};

extern const struct loggen_dialect_ops loggen_golf_avg;
extern const struct loggen_dialect_ops loggen_golf_min;
extern const struct loggen_dialect_ops loggen_nanogpt;

/* Queue a line (without its newline) at gen->now_ms. */
void loggen_say(struct loggen *gen, const char *fmt, ...) LIKE_PRINTF(2, 3);
/* Queue text unchanged; it may contain many lines and ends with a newline. */
void loggen_say_text(struct loggen *gen, const char *text);
/* Advance the time. */
void loggen_wait(struct loggen *gen, double ms);

/* Uniform in 0 <= x < 1. */
double loggen_uniform(struct loggen *gen);
/* Normal: mean 0, standard deviation 1, limited to +-6. */
double loggen_normal(struct loggen *gen);

/* Expected loss after that step, without noise. */
double loggen_loss_at(const struct loggen *gen, unsigned int step);
bool loggen_is_nan(const struct loggen *gen);
/* A loss as printed: nan once the run has diverged. */
double loggen_noisy(struct loggen *gen, double loss, double sd);

/* Blocks that several dialects print. */
void loggen_say_source(struct loggen *gen);
void loggen_say_torchrun_warning(struct loggen *gen);
void loggen_say_nvidia_smi(struct loggen *gen);
void loggen_say_rule(struct loggen *gen);
void loggen_say_crash(struct loggen *gen);
void loggen_say_oom(struct loggen *gen);
