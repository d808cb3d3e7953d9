/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/guard.h"
#include "bench/health.h"
#include "bench/run_log.h"
#include "bench/schedule.h"
#include "bench/stats.h"
#include "bench/steps.h"
#include "bench/verdict.h"

/*
 * From the runs of a bench to the verdict on each variant.  A run is one
 * fresh process of one arm on one pod; a block is one round in which every
 * arm ran on that pod, once or as often as the plan said beforehand: what it
 * lends to its block is the median of its runs there.  Pure: no files, no
 * clock, no network.
 */

/* Runs of one arm in one block, at most. */
#define JUDGE_MAX_REPS 15

/* How far a number may be believed. */
#define RUN_STATE_LIST(X)                                              \
	X(CLAIMED, "claimed")	  /* somebody else ran it */           \
	X(MEASURED, "measured")	  /* we ran it, guards not complete */ \
	X(VERIFIED, "verified")	  /* we ran it and no guard fired */   \
	X(CONFIRMED, "confirmed") /* verified in >= 3 blocks, and FASTER */

enum run_state {
#define X(id, name) RUN_STATE_##id,
	RUN_STATE_LIST(X)
#undef X
};

extern const char *const run_state_words[]; /* ended by NULL */

struct judge_run {
	/* Given. */
	size_t arm, pod, block;
	size_t rep;   /* which of its arm's runs in that block, from 0 */
	size_t pos;   /* its place within the round; JUDGE_ANY: not known */
	bool counted; /* false: burn-in */
	bool fresh;   /* of the blocks that confirm the best: see judge_best */
	enum run_state state;
	/* Borrowed; NULL: unknown. */
	const char *name;	   /* "0_pod-a_A"; of an imported log its path */
	const char *path;	   /* of its log */
	const char *t0, *t1;	   /* RFC 3339 */
	const char *runtime;	   /* "python /usr/bin/python3.11; torch 2.9.1" */
	const struct run_log *log; /* NULL: no log came */
	const struct health_sum *health;
	double rc, drift_s;	/* drift: of the pod's clock against ours */
	struct guard_hits hits; /* what the caller saw: exit status, .. */
	/* Found. */
	struct step_times times; /* of a training log */
	bool has_window;
	struct step_window window;
	double legacy; /* mean of its printed tok/s */
	double val_loss;
	double y;	     /* ms a step, or the score as a time; NAN: none */
	double value;	     /* the same in the metric's own unit */
	bool outlier;	     /* far from its arm's median: see judge.c */
	bool odd;	     /* a control that did not do what most controls did */
	double z;	     /* (y - median) / (1.4826 * mad); NAN below 4 runs */
	double times_median; /* y / median of its arm */
	char seen[320];	     /* of an outlier: what was seen in it */
};

struct judge_arm {
	const char *tag;       /* borrowed */
	bool aa;	       /* the control once more: noise, not a variant */
	bool numerics_changed; /* declared */
	/* Settings that the variant changes by name (environment); with
	 * declares_all, by these alone: then others that its logs print must
	 * be the control's. */
	const char *const *declared; /* borrowed */
	size_t n_declared;
	bool declares_all;
	bool other_noise; /* the register's is not this arm's */
};

enum window_mode {
	WINDOW_DEFAULT, /* 20..100 where all runs have it, else auto */
	WINDOW_FIXED,
	WINDOW_AUTO, /* the rows of all runs behind the first quarter */
};

struct judge_rule {
	struct paired_rule paired;
	size_t need; /* blocks; at least VERDICT_MIN_BLOCKS */
	/* When it is looked at; over: no look follows, and none ended it. */
	struct looks looks;
	bool over;
	/* What two pods' effects are taken to differ by, as a standard
	 * deviation; NAN: the margin.  Two cannot tell, three or more do. */
	double pods_sd;
	bool holm; /* adjust for several variants */
	enum window_mode window;
	double lo, hi; /* of WINDOW_FIXED */
	enum tok_kind tok_kind;
	bool higher; /* a score that is better when higher */
	struct guard_loss_rule losses;
	double register_sd, register_df; /* see verdict.h; NAN: none */
};

#define JUDGE_RULE_DEFAULT                                                                       \
	{                                                                                        \
		.paired = { 0.05, 0.005, 0.8, false }, .need = VERDICT_MIN_BLOCKS, .over = true, \
		.pods_sd = (double)NAN, .holm = true, .window = WINDOW_DEFAULT, .lo = 20,        \
		.hi = 100, .tok_kind = TOK_CUMULATIVE, .losses = GUARD_LOSS_DEFAULT,             \
		.register_sd = (double)NAN, .register_df = (double)NAN,                          \
	}

/* The runs of one arm; NAN where there are none. */
struct judge_summary {
	size_t n, n_invalid;
	double min, median, max, mad; /* of y */
	double low, middle, high;     /* in the metric's own unit */
	double spread_pct;	      /* (max - min) / median */
	double legacy_mean;	      /* mean of the runs' mean tok/s */
	double val_loss;	      /* mean */
	double batch;		      /* tokens a step, as a log prints it */
	/* Of a training run: how many ticks of its log's clock the shortest
	 * window is. */
	double ticks;
};

/* What is odd about a block. */
enum judge_mark { BLOCK_PLAIN, BLOCK_OUTLIER, BLOCK_GUARDED };

/* A block in which both arms of a contrast ran. */
struct judge_block {
	size_t pod, block;
	/* Medians of their runs, in the metric's own unit, whatever guards
	 * say; variant may be NAN. */
	double control, variant;
	bool counts; /* complete, and nothing spoiled it */
	/* ln(y control) - ln(y variant); of the mean of control and A/A arm
	 * where all blocks have both. */
	double d;
	/* The same without what its place in the block explains, and what the
	 * A/A arm and the places lend to the comparison. */
	struct paired_block fit;
	enum judge_mark mark;
};

/* One pod's own part in a contrast. */
struct judge_pod {
	size_t pod;
	struct paired paired;
};

/*
 * What the intervals of the window say, each held against the control's of the
 * same steps.  A warm-up or a stop moves their sum, but not their median.
 */
struct judge_steps {
	/* Over pairs of runs: d of the whole window without that by the median
	 * of its intervals. */
	struct paired away;
	struct paired uneven;		  /* and without that by their median gain */
	double odd_lo, odd_hi, odd_times; /* the furthest interval, its ratio */
};

/* The losses of a training variant against the control's, in nats. */
struct judge_quality {
	bool by_val;	    /* by the last validation, else by training losses */
	struct paired nats; /* over pairs of runs; > 0: the variant is worse */
	bool same, worse;   /* shown to be within the margin; shown not to be */
};

/* One variant against the control. */
struct judge_contrast {
	size_t arm, base;	    /* base: what it is held against; the control, 0 */
	size_t second;		    /* the A/A arm that is a control too; 0: none is */
	struct judge_block *blocks; /* owned */
	size_t n_shown, n_blocks;   /* all of them; those that count */
	/* Geometric means over these, in the metric's own unit: their ratio is
	 * exactly the difference that is judged. */
	double control, variant;
	struct paired paired;	/* of the blocks, or of the pods' means */
	bool across_pods;	/* t on the pods' means: see judge.c */
	double between_sd;	/* two pods are taken to differ by; 0: not asked */
	double level;		/* that p must be below at this look */
	double p_holm;		/* NAN for the A/A arm and for invalid ones */
	struct judge_pod *pods; /* owned; those with a complete block */
	size_t n_pods;
	struct pods_spread spread;
	bool pods_differ;
	enum window_trend trend;
	struct judge_steps steps; /* of a training run */
	struct judge_quality quality;
	struct welch welch;			/* as if there were no blocks */
	struct rank_two rank;			/* y of the control against the variant's */
	double median_delta_pct, min_delta_pct; /* of y: + is slower */
	double legacy_pct;			/* of the published kind of mean; NAN: none */
	struct guard_hits hits;			/* of all its runs */
	size_t blocks_to_margin;		/* needed to show the margin; 0: unknown */
	size_t n_outliers;			/* of its runs and the control's; they are kept */
	double robust_sd;			/* 1.4826 * mad of d; NAN below 4 blocks */
	double block_sd;			/* of all d */
	/* Outliers made the interval over 3 times as wide as the other blocks
	 * would: report the robust numbers as well. */
	bool widened;
	size_t n_agree;	     /* blocks on the side of paired.hl */
	size_t blocks_to_hl; /* needed to show paired.hl; 0: unknown */
	struct verdict verdict;
	struct verdict if_valid; /* what it would be without the guards */
};

/* A block that does not count for anybody, and why. */
struct judge_dropped {
	size_t pod, block, arm;
	char reason[200];
};

/*
 * Which of several variants is the best.  It leads where it is faster than
 * every other arm, by Holm over all pairs of them; but the one that looks best
 * of several looks better than it is, so that it is confirmed only by blocks
 * that had no part in choosing it, in which it is faster than the control and
 * than the runner-up.  Only verified runs are ranked.
 */
enum judge_best_state {
	BEST_NOT_ASKED, /* fewer than two variants, or claimed runs */
	BEST_NONE,	/* no arm leads all others */
	BEST_LEADS,	/* by Holm, not confirmed */
	BEST_CONFIRMED,
};

struct judge_best {
	enum judge_best_state state;
	size_t arm, rival;			/* of LEADS and CONFIRMED: it, and the runner-up */
	double p_pairs;				/* the largest of its Holm p values; NAN: none */
	size_t n_pairs;				/* that Holm is over */
	size_t n_fresh;				/* fresh blocks */
	struct paired over_control, over_rival; /* in fresh blocks */
	char text[256];
};

#define JUDGE_MAX_DROPPED 1000

struct judge {
	struct judge_rule rule;
	const struct judge_arm *arms; /* borrowed; arm 0 is the control */
	size_t n_arms;
	struct judge_run *runs; /* borrowed; "found" is written */
	size_t n_runs;
	bool training; /* else scores */
	double lo, hi; /* the window that was used; NAN: none */
	bool window_auto;
	double steady_from; /* of window_auto, by MSER; NAN: a run never is */
	struct judge_summary summary[SCHEDULE_MAX_ARMS];
	struct judge_contrast *contrasts; /* owned; n_arms - 1 */
	size_t n_contrasts;
	struct judge_best best;
	struct judge_dropped *dropped; /* owned */
	size_t n_dropped, cap_dropped;
};

/*
 * Judge.  2 <= n_arms <= SCHEDULE_MAX_ARMS; arms and runs must outlive the
 * result.  Contrasts are in the order of the arms.
 */
void judge_init(struct judge *judge, const struct judge_rule *rule, const struct judge_arm *arms,
		size_t n_arms, struct judge_run *runs, size_t n_runs);
void judge_release(struct judge *judge);

/*
 * Runs that were verified and that a FASTER verdict of at least three blocks
 * rests on are confirmed; a run with any guard is measured at best.
 */
void judge_confirm(struct judge *judge);

/* Is the arm's verdict that its speed counts for nothing? */
bool judge_is_invalid(const struct judge *judge, size_t arm);

/* Is it one of the arms that the contrast is made of? */
bool judge_is_side(const struct judge_contrast *c, size_t arm);

/*
 * Is the run an outlier of the control or the variant that widens the interval
 * of the contrast: farther from its arm's median than 3 times robust_sd and
 * than half of block_sd?
 */
bool judge_widens_interval(const struct judge_contrast *c, const struct judge_run *run);

/*
 * The counted run behind `after` (NULL: the first) of that arm, or of any
 * with JUDGE_ANY; NULL: no more.
 */
#define JUDGE_ANY SIZE_MAX
struct judge_run *judge_next(const struct judge *judge, size_t arm, const struct judge_run *after);
