/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_MULTI_H
#define HGYM_BENCH_MULTI_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/paired.h"

/* Several variants, several pods, interim analyses; arms without blocks. */

/* Holm's adjusted p values; NAN stays NAN and is not counted. */
void multi_holm(const double *p, double *adjusted, size_t n);

/* Two arms that were not run in blocks, on ln y; d > 0: variant faster. */
struct welch {
	size_t n_control, n_variant;
	double mean, se, t, df, p, lo, hi;
};

struct welch multi_welch(const double *ln_control, size_t n,
			 const double *ln_variant, size_t m, double alpha);

/* How far pods agree about one difference. */
struct pods_spread {
	double fixed_mean; /* weighted by 1 / se^2 */
	double q, p_q;	   /* Cochran's Q, chi-squared with pods - 1 df */
	double i2;	   /* share of the spread that is between pods, 0..1 */
	double tau2;	   /* DerSimonian-Laird variance between pods */
};

/* All NAN unless n >= 2 and every se is positive. */
struct pods_spread multi_pods(const double *d, const double *se, size_t n);

/* p at which an interim analysis stops a bench. */
#define MULTI_EARLY_P 0.001

/* What an interim analysis of a running bench says. */
enum interim {
	INTERIM_GO_ON,
	INTERIM_DIFFERENCE, /* p < 0.001: Haybittle-Peto */
	INTERIM_PRECISION,  /* nothing shown, the interval narrow enough */
	INTERIM_LAST,	    /* the planned number of blocks is complete */
};

struct interim_rule {
	struct paired_rule rule;
	size_t min_blocks, max_blocks;
	bool early; /* Haybittle-Peto; false: judge at max_blocks only */
};

/*
 * After n complete blocks.  A difference stops early at p < 0.001 only; a
 * narrow interval stops early only while no difference shows at alpha, since
 * stopping at the first narrow interval and then judging at alpha would
 * favour runs of blocks that look quiet by chance.
 */
enum interim multi_interim(const struct paired *paired,
			   const struct interim_rule *rule);

#endif
