/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/stats.h"

/* The verdict on a variant, the first that applies: id, word, word on the command line. */
#define VERDICT_LIST(X)                                         \
	X(INVALID, "INVALID", "invalid")                        \
	X(NOT_JUDGED, "NOT JUDGED", "not-judged")               \
	X(FASTER, "FASTER", "faster")                           \
	X(FASTER_WORSE, "FASTER but WORSE", "faster-but-worse") \
	X(SLOWER, "SLOWER", "slower")                           \
	X(SAME, "SAME", "same")                                 \
	X(NO_DIFFERENCE, "NO DIFFERENCE SHOWN", "no-difference-shown")

#define VERDICT_ID(id, ...) VERDICT_##id,
enum verdict_word { VERDICT_LIST(VERDICT_ID) };

extern const char *const verdict_words[]; /* NULL-terminated */

/* Why a verdict is NOT JUDGED; after EARLY, more blocks do not help.  Columns: id, reason in the
 * verdict's text and in verdict.json, what to do next. */
#define VERDICT_REASON_LIST(X)                                                                    \
	X(NONE, "", "")                                                                           \
	X(FEW_BLOCKS, "too few blocks", "run more blocks")                                        \
	X(EARLY, "ended early", "run all of its blocks")                                          \
	X(NO_VALUE, "the control has no value", "make the control print its step times or score") \
	X(UNSTEADY, "not steady", "choose a window without these steps (--window)")               \
	X(COARSE, "coarse clock", "print times with more digits, or measure longer runs")         \
	X(NO_SPREAD, "no spread", "measure more steps (--window) or longer runs")                 \
	X(AT_ONCE, "all rows appeared at once",                                                   \
	  "turn off output buffering (stdbuf -oL, python3 -u) or measure longer runs")            \
	X(NOT_SOONER, "rows did not appear sooner",                                               \
	  "check that the log's clock counts all of the work, or measure longer runs")            \
	X(WHOLE_RUNS, "whole runs disagree", "measure longer runs")

#define VERDICT_REASON_ID(id, ...) VERDICT_##id,
enum verdict_reason { VERDICT_REASON_LIST(VERDICT_REASON_ID) };

extern const char *const verdict_reasons[]; /* NULL-terminated */
extern const char *const verdict_advice[];  /* indexed by reason */

#define VERDICT_MIN_BLOCKS 3 /* with fewer, the verdict is NOT JUDGED, whatever the plan says */

/* Suffixes, in the order in which they are printed. */
#define VERDICT_SUFFIX_LIST(X)                    \
	X(FRAGILE, "fragile")                     \
	X(NOT_STEADY, "not steady")               \
	X(PODS_DIFFER, "differs by pod")          \
	X(OUTPUTS_CHANGED, "outputs changed")     \
	X(OUTPUTS_UNCHECKED, "outputs unchecked") \
	X(OTHER_RUNTIME, "other environment")     \
	X(AA_DIFFERS, "A/A differs")              \
	X(OTHER_CLOCK, "other GPU clock")         \
	X(OTHER_CAP, "other power cap")           \
	X(NOT_WHOLE, "whole runs disagree")       \
	X(SLOWED, "the control became slower")    \
	X(EARLIER, "faster after earlier runs")   \
	X(LEFT, "processes left behind")          \
	X(UNPROVEN, "quality unproven")

#define VERDICT_SUFFIX_ID(id, name) VERDICT_##id,
enum verdict_suffix { VERDICT_SUFFIX_LIST(VERDICT_SUFFIX_ID) VERDICT_SUFFIX_COUNT };

extern const char *const verdict_suffixes[]; /* NULL-terminated */

struct verdict_input {
	const char *invalid; /* word of the hard guard that applies, or NULL */
	/* Why the verdict is NOT JUDGED, and the details.  NO_VALUE: the control itself has no
	 * value, so the variant cannot be blamed.  Too few blocks come before other reasons. */
	enum verdict_reason reason;
	const char *details;
	size_t need;	 /* blocks needed; at least VERDICT_MIN_BLOCKS */
	size_t n_blocks; /* complete blocks; paired->n may count pods */
	/* Planned blocks, if the bench is running or was stopped by hand.  0: it is finished. */
	size_t planned;
	const struct paired *paired;
	double level;  /* p must be below this now */
	double alpha;  /* for all looks and variants together */
	double margin; /* 0.005 is 0.5 % */
	/* Sd of ln y of A/A runs of this class, and its degrees of freedom; NAN or < 2: unknown. */
	double register_sd, register_df;
	bool same_on_each;     /* both pods show it within the margin by themselves */
	double worse_nats;     /* how much worse the loss is; 0: not shown to be worse */
	unsigned int suffixes; /* bits 1 << enum verdict_suffix; verdict_judge adds fragile */
};

struct verdict {
	enum verdict_word word;
	unsigned int suffixes;
	enum verdict_reason reason; /* of NOT JUDGED */
	bool below_margin;	    /* shown, but smaller than the margin */
	char text[256];		    /* the printed verdict */
};

void verdict_judge(struct verdict *verdict, const struct verdict_input *input);
