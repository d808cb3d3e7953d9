/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/stats.h"

/*
 * The verdict on one variant against the control.  The words are exact; the
 * first that fits wins, in this order.
 */
#define VERDICT_LIST(X)                     \
	X(INVALID, "INVALID")               \
	X(NOT_JUDGED, "NOT JUDGED")         \
	X(FASTER, "FASTER")                 \
	X(FASTER_WORSE, "FASTER but WORSE") \
	X(SLOWER, "SLOWER")                 \
	X(SAME, "SAME")                     \
	X(NO_DIFFERENCE, "NO DIFFERENCE SHOWN")

enum verdict_word {
#define X(id, word) VERDICT_##id,
	VERDICT_LIST(X)
#undef X
};
#define X(id, word) +1
enum { VERDICT_WORDS = 0 VERDICT_LIST(X) };
#undef X

extern const char *const verdict_words[]; /* ended by NULL */

/* Blocks below which nothing is judged, whatever a plan says. */
#define VERDICT_MIN_BLOCKS 3

/* Suffixes, in the order they are printed. */
#define VERDICT_SUFFIX_LIST(X)                    \
	X(FRAGILE, "fragile")                     \
	X(NOT_STEADY, "not steady")               \
	X(PODS_DIFFER, "differs by pod")          \
	X(OUTPUTS_CHANGED, "outputs changed")     \
	X(OUTPUTS_UNCHECKED, "outputs unchecked") \
	X(OTHER_RUNTIME, "other environment")     \
	X(AA_DIFFERS, "A/A differs")              \
	X(UNPROVEN, "quality unproven")

enum verdict_suffix {
#define X(id, name) VERDICT_##id,
	VERDICT_SUFFIX_LIST(X)
#undef X
		VERDICT_SUFFIX_COUNT
};

extern const char *const verdict_suffixes[]; /* ended by NULL */

struct verdict_input {
	const char *invalid; /* word of the hard guard, or NULL */
	/* Why nothing is judged though its blocks are there; NULL or "". */
	const char *refused;
	size_t need;	 /* blocks needed; at least VERDICT_MIN_BLOCKS */
	size_t n_blocks; /* complete; paired->n may count pods */
	/* Blocks of the plan, where it has not come to its end or was ended by
	 * hand.  0: it is over. */
	size_t planned;
	const struct paired *paired;
	double level;  /* that its p must be below, now */
	double alpha;  /* over all looks and variants */
	double margin; /* 0.005 is 0.5 % */
	/* Spread between A/A runs of this class (sd of ln y) and its degrees
	 * of freedom; NAN or below 2: none known. */
	double register_sd, register_df;
	bool same_on_each;     /* each of its two pods shows it within the margin */
	double worse_nats;     /* its loss is shown to be worse; 0: it is not */
	unsigned int suffixes; /* 1 << enum verdict_suffix; fragile is added */
};

struct verdict {
	enum verdict_word word;
	unsigned int suffixes;
	bool refused;	   /* NOT JUDGED, and no more blocks would help */
	bool below_margin; /* shown, but smaller than what matters */
	char text[256];	   /* the whole verdict as it is printed */
};

void verdict_judge(struct verdict *verdict, const struct verdict_input *input);
