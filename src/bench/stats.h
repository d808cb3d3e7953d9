/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/sort.h"

/* Descriptive statistics of a few numbers. An undefined value (the spread of one) is NAN, not 0. */
double stats_mean(const double *x, size_t n);
/* Sample standard deviation, divisor n - 1. */
double stats_sd(const double *x, size_t n);
/* Divisor n. */
double stats_sd_population(const double *x, size_t n);
/* Median absolute deviation from the median, not scaled. */
double stats_mad(const double *x, size_t n);
double stats_min(const double *x, size_t n);
double stats_max(const double *x, size_t n);

/* y = slope * x + intercept by ordinary least squares. */
struct stats_line {
	double slope, intercept;
	double slope_se; /* NAN below 3 points */
	double p;	 /* two-sided test of slope 0; NAN below 3 points */
};

struct stats_line stats_fit(const double *x, const double *y, size_t n);

/* A difference of logarithms as per cent: 100 * expm1(d). */
double stats_pct(double d);

/* Format a percentage for people: two decimals, four if two would show 0.00, and three digits from
 * a million on ("1.22e+07").  With `sign`, values from 0 on get a "+". */
struct stats_text {
	char s[64];
};
struct stats_text stats_pct_text(double pct, bool sign);

/* Rank statistics, which a few outliers cannot move. */

/* rank_mann_whitney computes up to n + m = RANK_MAX, the Walsh averages up to n = RANK_MAX. */
#define RANK_MAX 400

/* Mann-Whitney test of x against y, and the shift between them. */
struct rank_two {
	double u;	 /* pairs with x > y; ties count half */
	bool exact;	 /* p is from the exact distribution (no ties, n and m < 50) */
	double p;	 /* two-sided; p_normal if not exact */
	double p_normal; /* asymptotic, with continuity and tie corrections */
	double shift;	 /* Hodges-Lehmann: median of all x - y */
	double lo, hi;	 /* of shift, at 1 - alpha; NAN if not exact */
};

/* All fields are NAN if a side is empty or n + m > RANK_MAX. */
struct rank_two rank_mann_whitney(const double *x, size_t n, const double *y, size_t m,
				  double alpha);

/* Comparison of two arms by blocks. d = ln(y control) - ln(y variant), y is a time, so with d > 0
 * the variant is faster. In ln units; undefined fields are NAN (n < 2: all but mean). */
struct paired_error {
	double se, df;
};

struct paired {
	size_t n;
	double mean;
	double sd; /* of one block's d, adjusted for the run's place in the block */
	double se, t, df;
	/* From the variant's own residuals; NAN if se and df use only these. */
	struct paired_error own;
	double p_own;
	/* Two-sided.  The larger of the p of t and p_own * sqrt(p_own / alpha).  The second is
	 * below a level exactly if p_own is below cbrt(alpha * level^2), so both tests have to
	 * agree, and false verdicts stay within alpha however noisy the variant is. */
	double p;
	/* Interval at 1 - alpha: the wider of the intervals from se and from own.se. */
	double lo, hi;
	double tost_lo, tost_hi; /* the 90 % interval, for the equivalence test */
	double p_tost;		 /* equivalence test against +-ln(1 + margin) */
	double p_signflip;	 /* exact; NAN above PAIRED_MAX_SIGNFLIP blocks */
	double hl;		 /* Hodges-Lehmann: median of the Walsh averages */
	double hl_lo, hl_hi;	 /* its exact Wilcoxon interval at 1 - alpha */
	double mde;		 /* smallest detectable difference */
	double slope;		 /* of ln y per place in the block; NAN: not fitted */
};

#define PAIRED_MAX_SIGNFLIP 20

/* Level, margin and power of a comparison. */
struct paired_rule {
	double alpha;  /* 0.05 */
	double margin; /* as a fraction: 0.005 is 0.5 % */
	double power;  /* 0.8 */
	/* Declared as noisy as the control: its own residuals need not confirm. */
	bool same_noise;
};

/* A spread of blocks (ln units) below this is rounding and counts as 0. */
#define PAIRED_NO_SPREAD 1e-12

struct paired paired_compare(const double *d, size_t n, const struct paired_rule *rule);

/* One block of a comparison. */
struct paired_block {
	/* ln(y control) - ln(y variant).  If the block has an A/A arm, ln(y control) is the mean of
	 * both.  paired_fit() subtracts the effect of the place. */
	double d;
	double aa; /* ln(y control) - ln(y A/A arm); NAN: none */
	/* Mean place of the controls minus the variant's; the control's minus the A/A arm's. */
	double place, aa_place;
};

/* Compare two arms, given the blocks with places and A/A arm.
 *
 * If every block has an A/A arm, it is a second control: its residuals add n - 1 degrees of freedom
 * to the error, unless the variant's are shown to be larger. The variant's own then have to confirm
 * the result (paired.own). Places are a covariate if PAIRED_PLACE_DF degrees remain. */
#define PAIRED_PLACE_DF 4.0
struct paired paired_fit(struct paired_block *blocks, size_t n, const struct paired_rule *rule);

/* Like paired_fit(), but only the mean and the errors; all other fields are NAN. */
struct paired paired_estimate(const struct paired_block *blocks, size_t n,
			      const struct paired_rule *rule);

/* The level that p_own must be below if p must be below `level`; see paired.p. */
double paired_own_level(double level, double alpha);

/* Add a known variance, which has infinite degrees of freedom, by Satterthwaite's approximation. */
void paired_error_add(struct paired_error *error, double variance);

/* Add the assumed variance between pods to that of the mean. Tests of single blocks become NAN. */
void paired_add_variance(struct paired *paired, double variance, const struct paired_rule *rule);

/* Recompute lo, hi and mde for the interval at 1 - level. */
void paired_set_level(struct paired *paired, double level, const struct paired_rule *rule);

/* Widen both intervals and mde by a bound on what rounding adds to each block. */
void paired_widen(struct paired *paired, double by);

/* Is the 90 % interval inside +-ln(1 + margin)? */
bool paired_is_same(const struct paired *paired, double margin);

/* Several variants, several pods, interim analyses, and arms without blocks. */

/* Rank of p[i], from 0; equal values keep their order. */
size_t multi_rank(const double *p, size_t n, size_t i);
/* Holm's adjusted p values.  NAN stays NAN and does not count as a test. */
void multi_holm(const double *p, double *adjusted, size_t n);

/* Two arms that did not run in blocks, on ln y; mean > 0: the variant is faster. */
struct welch {
	double mean, se, t, df, p, lo, hi;
};

struct welch multi_welch(const double *ln_control, size_t n, const double *ln_variant, size_t m,
			 double alpha);

/* Analysis of variance: do pods agree about one difference? */
struct pods_spread {
	double f, p; /* F test, between pods against within pods */
	double df_pods, df_within;
	double share; /* of the variance that is between pods, 0..1 */
};

/* Level at which pods are shown to differ; their means are then compared. */
#define PODS_DIFFER_P 0.05

/* Compare n pods, given mean, sd (NAN for one block) and number of blocks of each.  All fields are
 * NAN unless n >= 2 and at least one pod has more than one block. */
struct pods_spread multi_pods(const double *mean, const double *sd, const double *blocks, size_t n);

/* How interim analyses (looks) of a running bench share its alpha. */
#define LOOKS_LIST(X)                                                        \
	X(NONE, "none")		       /* run all blocks */                  \
	X(HAYBITTLE, "haybittle-peto") /* p < 0.001 before the last block */ \
	X(OBRIEN, "obrien-fleming")    /* little alpha at first, most at the end */

#define LOOKS_ID(id, name) LOOKS_##id,
enum looks_kind { LOOKS_LIST(LOOKS_ID) };

extern const char *const looks_words[]; /* NULL-terminated */

/* Level of every look before the last with LOOKS_HAYBITTLE. */
#define LOOKS_EARLY_P 0.001

/* There is a look after each block, starting with block `first`. */
struct looks {
	enum looks_kind kind;
	size_t first, planned; /* blocks; planned 0: there is only one look */
};

/* The level that p must be below after n blocks, so that all looks together keep alpha.  `last`: no
 * look follows, even if fewer blocks ran than planned.
 *
 * O'Brien-Fleming uses the alpha-spending function of Lan and DeMets, 2 - 2 Phi(z / sqrt(n /
 * planned)) of alpha / 2 on each side.  The boundaries come from numerical integration (Armitage,
 * McPherson and Rowe); beyond LOOKS_MOST looks from the bound of continuous monitoring, which is
 * stricter.  The interval at 1 - level is the repeated confidence interval of Jennison and
 * Turnbull: over all looks together it covers the truth with probability 1 - alpha. */
#define LOOKS_MOST 30
double looks_level(const struct looks *looks, size_t n, bool last, double alpha);

/* Result of an interim analysis. */
enum interim {
	INTERIM_GO_ON,
	INTERIM_DIFFERENCE, /* p below the look's level */
	INTERIM_PRECISION,  /* no difference shown, and the interval is narrow enough */
	INTERIM_LAST,	    /* all planned blocks are complete */
};

/* Analyze a running bench after n complete blocks, at the level of that look.  A narrow interval
 * stops the bench only while no difference shows at alpha.  Stopping at the first narrow interval
 * and then testing at alpha would favor blocks that look quiet by chance. */
enum interim multi_interim(const struct paired *paired, size_t n, double level,
			   const struct looks *looks, const struct paired_rule *rule);
