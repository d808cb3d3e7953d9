/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_PAIRED_H
#define HGYM_BENCH_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The comparison of two arms by blocks.  d = ln(y control) - ln(y variant),
 * y a time: d > 0 means that the variant is faster.  All fields are in ln
 * units; NAN where n is too small to define them (n < 2: all but mean).
 */
struct paired {
	size_t n;
	double mean, sd, se, t, df;
	double p;		 /* two-sided */
	double lo, hi;		 /* interval at 1 - alpha */
	double tost_lo, tost_hi; /* interval at 1 - 2 * 0.05: 90 % */
	double p_tost;		 /* against +-ln(1 + margin) */
	double p_signflip;   /* exact; NAN above PAIRED_MAX_SIGNFLIP blocks */
	double hl;	     /* Hodges-Lehmann: median of the Walsh averages */
	double hl_lo, hl_hi; /* its exact Wilcoxon interval at 1 - alpha */
	double mde;	     /* the smallest difference this would have shown */
};

#define PAIRED_MAX_SIGNFLIP 20

/* What the comparison is held to. */
struct paired_rule {
	double alpha;  /* 0.05 */
	double margin; /* as a fraction: 0.005 is 0.5 % */
	double power;  /* 0.8 */
};

/* A spread of blocks (ln units) below this is rounding, and taken as 0. */
#define PAIRED_NO_SPREAD 1e-12

struct paired paired_compare(const double *d, size_t n,
			     const struct paired_rule *rule);

/* Recompute lo and hi at 1 - alpha (of several contrasts: alpha / m). */
void paired_widen(struct paired *paired, double alpha);

/* Is the 90 % interval inside +-ln(1 + margin)? */
bool paired_is_same(const struct paired *paired, double margin);

/* The smallest difference shown with that power by n blocks; ln units. */
double paired_mde(double sd, size_t n, double alpha, double power);

/* Blocks (3..1000) needed to show `delta` (ln units); 0 when beyond 1000. */
size_t paired_blocks_needed(double sd, double delta, double alpha,
			    double power);

/*
 * Power of the two-sided paired t test by the noncentral t distribution, as
 * R's power.t.test(type = "paired") without its strict option.
 */
double paired_power(double sd, double delta, double n, double alpha);

#endif
