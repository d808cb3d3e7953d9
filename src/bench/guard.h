/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/steps.h"

/*
 * What takes a run, or a whole variant, out of the comparison.  A hard guard
 * makes the variant INVALID or drops the block; a soft one is a mark beside
 * the verdict.
 *	id		word in verdicts	what
 */
#define GUARD_LIST(X)                                                         \
	X(EXIT, "exit", "the run did not end as it should")                   \
	X(PARSE, "parse", "its rows contradict each other")                   \
	X(NAN, "nan", "NaN or infinity in a loss or metric")                  \
	X(WINDOW, "window", "rows of the measured window are missing")        \
	X(WORK, "work identity", "it did not compute what the control did")   \
	X(SAME, "same work", "settings differ from the control's")            \
	X(MARKER, "marker", "the variant did not take effect")                \
	X(THROTTLED, "throttled", "the GPU slowed itself down")               \
	X(FOREIGN, "foreign process", "something else used the GPU")          \
	X(CLOCK, "clock drift", "the pod's clock disagrees with ours")        \
	X(CLOCK_LAG, "clock-lag", "the log's clock runs ahead of the GPU")    \
	X(IMPLAUSIBLE, "implausible", "under half of the control's time")     \
	X(UNCHECKED, "outputs unchecked", "no validation loss to compare")    \
	X(OUTPUTS, "outputs changed", "its losses differ from the control's") \
	X(FILES, "judge files", "files of the judge changed")                 \
	X(COPY, "copy", "the same log stands for two runs")                   \
	X(LOST, "lost", "the run was lost with its pod or connection")        \
	X(HELD, "outlier", "far from the median of its arm (kept)")           \
	X(SM_CLOCK, "sm clock", "its GPU ran at another clock")               \
	X(POWER_CAP, "power cap", "its GPU was capped more or less often")    \
	X(CORES, "busy cores", "it keeps more cores of the pod busy")         \
	X(LOAD, "host load", "more wanted the CPUs than there are")           \
	X(SETTINGS, "settings", "its logs print other settings")              \
	X(RESTARTED, "restarted", "its log holds more than one run")          \
	X(RUNTIME, "environment", "another python, torch or triton")          \
	X(LOG_CLOCK, "log clock", "its log's clock is not the pod's")         \
	X(METRICS, "metrics disagree", "another time of the same runs")       \
	X(AA, "A/A differs", "the control differs from itself")               \
	X(NO_SPREAD, "no spread", "all blocks differ by the same")            \
	X(UNSEEN, "versions not seen", "what was loaded is not known")        \
	X(STEADY, "not steady", "a few intervals make its mean")              \
	X(QUALITY, "quality", "its losses are worse over all blocks")         \
	X(BUFFERED, "output came at the end", "its rows were seen late")      \
	X(UNSTAMPED, "not stamped", "its rows were looked at once a second")  \
	X(HOST_BOUND, "host-bound", "the GPU waits for the host")             \
	X(WHOLE, "whole runs", "they do not gain what its window does")       \
	X(LEFT, "left behind", "what began in a run goes on behind it")

enum guard {
#define X(id, word, what) GUARD_##id,
	GUARD_LIST(X)
#undef X
		GUARD_COUNT
};

/* By enum guard, ended by NULL. */
extern const char *const guard_words[];

/* One guard that fired. */
struct guard_hit {
	enum guard guard;
	bool hard;
	char text[160]; /* what was seen, for a person */
};

#define GUARD_MAX_HITS 12

struct guard_hits {
	size_t n;
	struct guard_hit hit[GUARD_MAX_HITS];
};

/* Add one; the same guard is kept once.  Beyond the cap it is dropped. */
void guard_add(struct guard_hits *hits, enum guard guard, bool hard, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool guard_has(const struct guard_hits *hits, enum guard guard);
/* The first hard one, or NULL. */
const struct guard_hit *guard_hard(const struct guard_hits *hits);

/* Tolerances of work identity; the defaults are of healthy public runs. */
struct guard_loss_rule {
	double first;  /* |difference| at step 1: 1e-4 */
	double steps;  /* at steps 2..5: 0.02 */
	double val;    /* of the last validation: 0.02 */
	double late;   /* soft, of the training loss at the window's end: 0.08 */
	double margin; /* nats that do not matter, over all blocks: 0.005 */
};

#define GUARD_LOSS_DEFAULT                    \
	{                                     \
		1e-4, 0.02, 0.02, 0.08, 0.005 \
	}

/*
 * Widen val by the spread between A/A runs (sample sd of the control's own
 * runs; NAN: unknown): max(val, 6 sd sqrt 2), five times val at most.
 */
void guard_loss_widen(struct guard_loss_rule *rule, double val_sd);

/* The losses of one run. */
struct guard_losses {
	const struct step_row *rows;
	size_t n;
	double val_loss;  /* NAN: none printed */
	double val_step;  /* of the last validation */
	double late_step; /* where the window ends; NAN: no soft check */
};

/*
 * Hold the variant's losses against the control's of the same block.  With
 * `changed` (the plan declares changed numerics) what would be hard is soft.
 */
void guard_check_losses(struct guard_hits *hits, const struct guard_losses *control,
			const struct guard_losses *variant, const struct guard_loss_rule *rule,
			bool changed);

/* Do the clocks of two runs lag differently (in steps)? */
bool guard_clock_lag(double control_lag_steps, double variant_lag_steps);
