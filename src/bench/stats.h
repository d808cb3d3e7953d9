/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Descriptive statistics of a few numbers.  What is not defined (a spread of
 * one value) is NAN, never 0.
 */
double stats_mean(const double *x, size_t n);
/* Sample standard deviation, divisor n - 1. */
double stats_sd(const double *x, size_t n);
/* Divisor n. */
double stats_sd_population(const double *x, size_t n);
double stats_median(const double *x, size_t n);
/* Median absolute deviation from the median, not scaled. */
double stats_mad(const double *x, size_t n);
double stats_min(const double *x, size_t n);
double stats_max(const double *x, size_t n);

/* y = slope * x + intercept by ordinary least squares. */
struct stats_line {
	double slope, intercept;
	double slope_se; /* NAN below 3 points */
	double p;	 /* two-sided, slope against 0; NAN below 3 points */
};

struct stats_line stats_fit(const double *x, const double *y, size_t n);

/* ln units to per cent: 100 * expm1(d). */
double stats_pct(double d);

/*
 * A percentage for people: two decimals, four where these are 0.00, and from
 * a million on three digits ("1.22e+07").  sign: "+" where it is not below 0.
 */
#define STATS_PCT_SIZE 32
const char *stats_pct_text(double pct, bool sign, char out[STATS_PCT_SIZE]);

/* Rank statistics: what a few odd runs cannot move. */

/* Largest n + m, and largest n of Walsh averages, that are computed. */
#define RANK_MAX 400

/* Mann-Whitney of x against y, and the shift between them. */
struct rank_two {
	double u;	 /* pairs in which x > y, ties count half */
	bool exact;	 /* p is of the exact distribution (no ties, n, m < 50) */
	double p;	 /* two-sided; asymptotic with continuity when not exact */
	double p_normal; /* the asymptotic one with continuity and ties */
	double shift;	 /* Hodges-Lehmann: median of all x - y */
	double lo, hi;	 /* its interval at 1 - alpha; NAN when not exact */
};

/* All NAN when a side is empty or n + m > RANK_MAX. */
struct rank_two rank_mann_whitney(const double *x, size_t n, const double *y, size_t m,
				  double alpha);

/*
 * The comparison of two arms by blocks.  d = ln(y control) - ln(y variant),
 * y a time: d > 0 means that the variant is faster.  All fields are in ln
 * units; NAN where n is too small to define them (n < 2: all but mean).
 */
struct paired_error {
	double se, df;
};

struct paired {
	size_t n;
	double mean;
	double sd; /* of one block's d, without what its place explains */
	double se, t, df;
	/* By the variant's own residuals; NAN: se and df are of no others. */
	struct paired_error own;
	double p_own;
	/* Two-sided: that of t, or p_own times the root of p_own over alpha
	 * where that is more, which is below a level where p_own is below
	 * the cube root of alpha times the level squared.  So at alpha both
	 * decide, and what is shown falsely is no more than alpha however
	 * noisy the variant is. */
	double p;
	/* Interval at 1 - alpha, the wider of both. */
	double lo, hi;
	double tost_lo, tost_hi; /* interval at 1 - 2 * 0.05: 90 % */
	double p_tost;		 /* against +-ln(1 + margin) */
	double p_signflip;	 /* exact; NAN above PAIRED_MAX_SIGNFLIP blocks */
	double hl;		 /* Hodges-Lehmann: median of the Walsh averages */
	double hl_lo, hl_hi;	 /* its exact Wilcoxon interval at 1 - alpha */
	double mde;		 /* the smallest difference this would have shown */
	double slope;		 /* of ln y from one place to the next; NAN: none */
};

#define PAIRED_MAX_SIGNFLIP 20

/* What the comparison is held to. */
struct paired_rule {
	double alpha;  /* 0.05 */
	double margin; /* as a fraction: 0.005 is 0.5 % */
	double power;  /* 0.8 */
	/* Declared beforehand: the variant is as noisy as the control, so that
	 * its own spread need not bear what both show. */
	bool same_noise;
};

/* A spread of blocks (ln units) below this is rounding, and taken as 0. */
#define PAIRED_NO_SPREAD 1e-12

struct paired paired_compare(const double *d, size_t n, const struct paired_rule *rule);

/* What one block lends to a comparison. */
struct paired_block {
	/* ln of the control's y, of the mean with the A/A arm's where there is
	 * one, less ln of the variant's; paired_fit takes out what its place
	 * explains. */
	double d;
	double aa; /* ln(y control) - ln(y A/A arm); NAN: none */
	/* How many places later in its block the first of each ran. */
	double place, aa_place;
};

/*
 * The same with all that a block tells.  An A/A arm in every block is the
 * control once more: its residuals count too, with n - 1 degrees of freedom,
 * but where the variant's are shown to be larger; what they make of it, the
 * variant's own have to bear.  Places are a covariate
 * where that leaves PAIRED_PLACE_DF degrees of freedom.
 */
#define PAIRED_PLACE_DF 4.0
struct paired paired_fit(struct paired_block *blocks, size_t n, const struct paired_rule *rule);

/* Let the mean have that variance besides, of a known size: what its pods are
 * taken to differ by.  Tests of single blocks say nothing then. */
void paired_add_variance(struct paired *paired, double variance, const struct paired_rule *rule);

/* Recompute lo and hi at 1 - level, and what it would have shown. */
void paired_widen(struct paired *paired, double level, const struct paired_rule *rule);

/* Is the 90 % interval inside +-ln(1 + margin)? */
bool paired_is_same(const struct paired *paired, double margin);

/* The noise of a comparison of two arms; ln units. */
struct paired_noise {
	double sd;	/* of a block's d */
	double between; /* sd of their mean, however many blocks there are */
};

/* The smallest difference shown with that power by n blocks; ln units. */
double paired_mde(struct paired_noise noise, size_t n, double alpha, double power);

/* Blocks (3..1000) needed to show `delta` (ln units); 0 when beyond 1000. */
size_t paired_blocks_needed(struct paired_noise noise, double delta, double alpha, double power);

/* Several variants, several pods, interim analyses; arms without blocks. */

/* How many are below p[i], or equal and before it. */
size_t multi_rank(const double *p, size_t n, size_t i);
/* Holm's adjusted p values; NAN stays NAN and is not counted. */
void multi_holm(const double *p, double *adjusted, size_t n);

/* Two arms that were not run in blocks, on ln y; d > 0: variant faster. */
struct welch {
	double mean, se, t, df, p, lo, hi;
};

struct welch multi_welch(const double *ln_control, size_t n, const double *ln_variant, size_t m,
			 double alpha);

/* How far pods agree about one difference: an analysis of variance. */
struct pods_spread {
	double f, p; /* between pods against within; F test */
	double df_pods, df_within;
	double share; /* of the spread that is between pods, 0..1 */
};

/* Of each pod its blocks' mean, sd (NAN: of one block) and number.  All NAN
 * unless n >= 2 and a pod has more than one block. */
struct pods_spread multi_pods(const double *mean, const double *sd, const double *blocks, size_t n);

/* How the looks at a bench that still runs share its alpha. */
#define LOOKS_LIST(X)                                       \
	X(NONE, "none")		       /* all blocks run */ \
	X(HAYBITTLE, "haybittle-peto") /* p < 0.001 */      \
	X(OBRIEN, "obrien-fleming")    /* little at first, the rest at last */

enum looks_kind {
#define X(id, name) LOOKS_##id,
	LOOKS_LIST(X)
#undef X
};

extern const char *const looks_words[]; /* ended by NULL */

/* The level of a look before the last, but by O'Brien and Fleming. */
#define LOOKS_EARLY_P 0.001

/* A look after each block from the first on. */
struct looks {
	enum looks_kind kind;
	size_t first, planned; /* blocks; planned 0: the only look */
};

/*
 * The level that p must be below after n blocks, so that alpha is kept over
 * all looks; last: none follows, and it may have come before its time.
 *
 * By O'Brien and Fleming: the alpha-spending function of Lan and DeMets, on
 * each side 2 - 2 Phi(z / sqrt(n / planned)) of alpha / 2, with boundaries by
 * numerical integration (Armitage, McPherson and Rowe); beyond LOOKS_MOST looks
 * the bound of a continuous watch, which is stricter.  The interval at 1 -
 * level is Jennison and Turnbull's repeated one: all looks together it holds
 * the truth in 1 - alpha of the benches.
 */
#define LOOKS_MOST 30
double looks_level(const struct looks *looks, size_t n, bool last, double alpha);

/* What an interim analysis of a running bench says. */
enum interim {
	INTERIM_GO_ON,
	INTERIM_DIFFERENCE, /* p below the look's level */
	INTERIM_PRECISION,  /* nothing shown, the interval narrow enough */
	INTERIM_LAST,	    /* the planned number of blocks is complete */
};

/*
 * After n complete blocks, with the level of that look.  A narrow
 * interval stops early only while no difference shows at alpha, since stopping
 * at the first narrow interval and then judging at alpha would favour runs of
 * blocks that look quiet by chance.
 */
enum interim multi_interim(const struct paired *paired, size_t n, double level,
			   const struct looks *looks, const struct paired_rule *rule);
