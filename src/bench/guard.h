/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/steps.h"

/* Validity checks ("guards") of a run or a variant. A hard hit makes the variant INVALID or drops
 * the block; a soft one is a warning. Columns: id, word in verdicts and verdict.json, meaning. */
#define GUARD_LIST(X)                                                                            \
	X(EXIT, "exit", "non-zero exit status, or no result in the output")                      \
	X(PARSE, "parse", "rows of the log contradict each other")                               \
	X(NAN, "nan", "NaN or infinity in a loss or metric")                                     \
	X(WINDOW, "window", "the log has no rows at the ends of the measured window")            \
	X(WORK, "work identity", "the run did not compute what the control computed")            \
	X(SAME, "same work", "undeclared settings differ from the control's")                    \
	X(MARKER, "marker", "the variant did not take effect")                                   \
	X(THROTTLED, "throttled", "the GPU was throttled")                                       \
	X(FOREIGN, "foreign process", "another program used the GPU")                            \
	X(CLOCK, "clock drift", "the pod's clock differs from this machine's")                   \
	X(CLOCK_LAG, "clock-lag", "the log's clock runs ahead of the GPU")                       \
	X(IMPLAUSIBLE, "implausible", "less than half of the control's time")                    \
	X(UNCHECKED, "outputs unchecked", "no validation loss to compare")                       \
	X(OUTPUTS, "outputs changed", "its losses differ from the control's")                    \
	X(FILES, "judge files", "files that check the result were changed")                      \
	X(COPY, "copy", "two runs have the same log")                                            \
	X(LOST, "lost", "the run was lost with its pod or connection")                           \
	X(HELD, "outlier", "far from the median of its arm; kept")                               \
	X(SM_CLOCK, "sm clock", "the GPU ran at a different clock")                              \
	X(POWER_CAP, "power cap", "the share of time at the GPU's power limit differs")          \
	X(CORES, "busy cores", "the run kept more CPU cores busy than the control")              \
	X(LOAD, "host load", "more processes were ready to run than the host has cores")         \
	X(SETTINGS, "settings", "its logs print settings that differ")                           \
	X(RESTARTED, "restarted", "its log contains more than one run")                          \
	X(RUNTIME, "environment", "a different version of python, torch or triton")              \
	X(LOG_CLOCK, "log clock", "the log's clock differs from the pod's")                      \
	X(METRICS, "metrics disagree", "two metrics of the same runs disagree")                  \
	X(AA, "A/A differs", "the A/A arm differs from the control")                             \
	X(NO_SPREAD, "no spread", "all blocks show exactly the same difference")                 \
	X(UNSEEN, "versions not seen", "no loaded libraries were seen, so versions are unknown") \
	X(COARSE, "coarse clock", "the interval includes the rounding of the log's clock")       \
	X(STEADY, "not steady", "a few intervals determine the mean")                            \
	X(QUALITY, "quality", "its losses are worse over all blocks")                            \
	X(BUFFERED, "output came at the end",                                                    \
	  "rows became visible too late to confirm their times")                                 \
	X(UNSTAMPED, "not stamped", "row times are known only to the second")                    \
	X(HOST_BOUND, "host-bound", "the GPU waits for the host")                                \
	X(WHOLE, "whole runs", "whole runs do not gain as much as the measurement")              \
	X(LEFT, "left behind", "processes kept running after the run")                           \
	X(SLOWED, "control slowed", "the control became slower once other arms had run")         \
	X(EARLIER, "earlier runs", "the variant became faster after its earlier runs")           \
	X(SHARED, "shared files", "a run changed a file that other arms read, too")

#define GUARD_ID(id, word, what) GUARD_##id,
enum guard { GUARD_LIST(GUARD_ID) GUARD_COUNT };

/* Indexed by enum guard; NULL-terminated. */
extern const char *const guard_words[];

/* A check that did not pass. */
struct guard_hit {
	enum guard guard;
	bool hard;
	char text[160]; /* the finding, for people */
};

#define GUARD_MAX_HITS 12

struct guard_hits {
	size_t n;
	struct guard_hit hit[GUARD_MAX_HITS];
};

/* Add a hit.  A guard is kept once; a hard hit replaces a soft one.  If the list is full, a hard
 * hit replaces a soft one and a soft hit is dropped. */
void guard_add(struct guard_hits *hits, enum guard guard, bool hard, const char *fmt, ...)
	LIKE_PRINTF(4, 5);
bool guard_has(const struct guard_hits *hits, enum guard guard);
/* The first hard hit, or NULL. */
const struct guard_hit *guard_hard(const struct guard_hits *hits);

/* Tolerances of losses that must match the control's.  The defaults fit healthy public runs. */
struct guard_loss_rule {
	double first;  /* at step 1: 1e-4 */
	double steps;  /* at steps 2..5: 0.02 */
	double val;    /* last validation loss: 0.02 */
	double late;   /* training loss at the end of the window, soft: 0.08 */
	double margin; /* accepted mean difference over all blocks, in nats: 0.005 */
};

#define GUARD_LOSS_DEFAULT                    \
	{                                     \
		1e-4, 0.02, 0.02, 0.08, 0.005 \
	}

/* Raise rule->val to 6 sd sqrt 2 of the control's losses (sd NAN: unknown), at most to 5 val. */
void guard_loss_widen(struct guard_loss_rule *rule, double val_sd);

struct guard_losses {
	const struct step_row *rows;
	size_t n;
	double val_loss;  /* NAN: none printed */
	double val_step;  /* of the last validation */
	double late_step; /* end of the window; NAN: skip the soft check */
};

/* Compare losses with the control's of the same block; `changed`: declared, so hits are soft. */
void guard_check_losses(struct guard_hits *hits, const struct guard_losses *control,
			const struct guard_losses *variant, const struct guard_loss_rule *rule,
			bool changed);

/* Do the lags of two logs' clocks, in steps, differ by more than the tolerance? */
bool guard_clock_lag(double control_lag_steps, double variant_lag_steps);
