/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/health.h"
#include "bench/run_log.h"
#include "bench/schedule.h"
#include "bench/verdict.h"

/* Reach a verdict on each variant from the runs of a bench. A run is one process of one arm on one
 * pod. A block is one round on one pod: every arm runs once, or several times if the plan has
 * repeats, and an arm's value in the block is the median of its runs. */

/* Maximum number of runs of one arm in one block. */
#define JUDGE_MAX_REPS 15

/* How far a measurement can be trusted. */
#define RUN_STATE_LIST(X)                                                                          \
	X(CLAIMED, "claimed")	  /* imported log */                                               \
	X(MEASURED, "measured")	  /* run by this program, but some checks failed or are missing */ \
	X(VERIFIED, "verified")	  /* run by this program, and all hard checks passed */            \
	X(CONFIRMED, "confirmed") /* verified, and its arm is FASTER in >= 3 blocks */

#define RUN_STATE_ID(id, name) RUN_STATE_##id,
enum run_state { RUN_STATE_LIST(RUN_STATE_ID) };

extern const char *const run_state_words[]; /* NULL-terminated */

struct judge_run {
	/* Set by the caller: */
	size_t arm, pod, block;
	size_t rep;   /* number among its arm's runs in the block, from 0 */
	size_t pos;   /* place in the round; JUDGE_ANY: unknown */
	bool counted; /* false: warm-up run of the control, before any variant ran */
	bool fresh;   /* in one of the extra blocks that confirm the best variant; see judge_best */
	enum run_state state;
	/* Borrowed; NULL: unknown. */
	const char *name;	   /* "0_pod-a_A"; the path of an imported log */
	const char *path;	   /* of the log */
	const char *t0, *t1;	   /* RFC 3339 */
	const char *runtime;	   /* "python /usr/bin/python3.11; torch 2.9.1" */
	const struct run_log *log; /* NULL: no log was fetched */
	const struct health_sum *health;
	double rc, drift_s;	/* drift: pod's clock minus this machine's */
	struct guard_hits hits; /* found by the caller, such as the exit status */
	/* Set by judge_init: */
	struct step_times times; /* of a training log */
	bool has_window;
	struct step_window window;
	double legacy; /* mean of the printed tok/s */
	double val_loss;
	double y;	     /* ms per step, or the score as a time; NAN: none */
	double value;	     /* y in the metric's own unit */
	bool outlier;	     /* far from the median of its arm; kept */
	bool odd;	     /* a control whose work differs from that of most controls */
	double z;	     /* (y - median) / (1.4826 * mad); NAN below 4 runs */
	double times_median; /* y / median of its arm */
	char seen[320];	     /* what distinguishes an outlier's telemetry */
};

struct judge_arm {
	const char *tag;       /* borrowed */
	bool aa;	       /* an A/A arm: repeat runs of the control */
	bool is_control_again; /* a variant with the control's command, environment and files */
	bool numerics_changed; /* declared in the plan */
	/* Settings that the variant changes, by name (environment variables).  With declares_all it
	 * changes nothing else, so all other settings in its logs must equal the control's. */
	const char *const *declared; /* borrowed */
	size_t n_declared;
	bool declares_all;
	bool other_noise; /* the noise register does not apply to this arm */
};

enum window_mode {
	WINDOW_DEFAULT, /* steps 20..100 if all runs have them, otherwise WINDOW_AUTO */
	WINDOW_FIXED,
	WINDOW_AUTO, /* all rows after the first quarter */
};

struct judge_rule {
	struct paired_rule paired;
	size_t need; /* number of blocks a verdict needs; at least VERDICT_MIN_BLOCKS */
	/* Interim looks of the plan.  over: the bench is complete, and no look stopped it. */
	struct looks looks;
	bool over;
	/* Assumed sd between pods, which two pods cannot estimate; NAN: use the margin. */
	double pods_sd;
	bool holm; /* adjust for several variants */
	enum window_mode window;
	double lo, hi; /* of WINDOW_FIXED */
	enum tok_kind tok_kind;
	bool higher; /* a score for which higher is better */
	struct guard_loss_rule losses;
	double register_sd, register_df; /* see verdict.h; NAN: none */
};

#define JUDGE_RULE_DEFAULT                                                                       \
	{                                                                                        \
		.paired = { 0.05, 0.005, 0.8, false }, .need = VERDICT_MIN_BLOCKS, .over = true, \
		.pods_sd = (double)NAN, .holm = true, .window = WINDOW_DEFAULT, .lo = 20,        \
		.hi = 100, .tok_kind = TOK_BY_FORMAT, .losses = GUARD_LOSS_DEFAULT,              \
		.register_sd = (double)NAN, .register_df = (double)NAN,                          \
	}

/* Summary of the runs of one arm; NAN: no runs. */
struct judge_summary {
	size_t n, n_invalid;
	double min, median, max, mad; /* of y */
	double low, middle, high;     /* in the metric's own unit */
	double spread_pct;	      /* (max - min) / median */
	double legacy_mean;	      /* mean of the runs' mean tok/s */
	double val_loss;	      /* mean */
	double batch;		      /* tokens per step, as a log prints it */
	/* Length of the shortest window in ticks of the log's clock; training only. */
	double ticks;
};

/* Whether a block has outliers or invalid runs. */
enum judge_mark { BLOCK_PLAIN, BLOCK_OUTLIER, BLOCK_GUARDED };

/* A block in which both arms of a contrast ran. */
struct judge_block {
	size_t pod, block;
	/* Medians of all runs, also invalid ones, in the metric's own unit. variant may be NAN. */
	double control, variant;
	bool counts; /* complete, and all runs are usable */
	/* ln(y control) - ln(y variant).  If all blocks have an A/A arm, ln(y control) is the mean
	 * of the control's and the A/A arm's. */
	double d;
	/* The same for paired_fit, which adjusts d for the place in the block. */
	struct paired_block fit;
	enum judge_mark mark;
};

struct judge_pod {
	size_t pod;
	struct paired paired;
};

/* The intervals of the window; a warm-up or a pause changes their sum, not their median. */
struct judge_steps {
	/* Both over pairs of runs: d of the window, minus d computed from the median ratio of its
	 * intervals (away) or from their median gain (uneven). */
	struct paired away;
	struct paired uneven;
	size_t every; /* rows per interval */
	/* Rounding of the log's clock changes ln of an interval by less than this; NAN: unknown. */
	double rounding;
	double odd_lo, odd_hi, odd_times; /* interval farthest from the median, and its ratio */
};

/* Losses of a training variant minus the control's, in nats. */
struct judge_quality {
	bool by_val;	    /* of the last validation; otherwise training losses */
	struct paired nats; /* over pairs of runs; mean > 0: the variant is worse */
	bool same, worse;   /* shown to be within the margin; shown to be worse */
};

/* One variant against the control. */
struct judge_contrast {
	size_t arm, base;	    /* the variant, and the arm it is compared with (control: 0) */
	size_t second;		    /* A/A arm that counts as a second control; 0: none */
	struct judge_block *blocks; /* owned */
	size_t n_shown, n_blocks;   /* all blocks; those that count */
	/* Geometric means over the blocks that count; their ratio is judged. */
	double control, variant;
	struct paired paired;	/* over blocks, or over the pods' means */
	bool across_pods;	/* paired uses the pods' means */
	double between_sd;	/* assumed sd between two pods; 0: none assumed */
	double level;		/* a difference is shown if p is below this, at this look */
	double p_holm;		/* after Holm; NAN for A/A arms and invalid variants */
	struct judge_pod *pods; /* owned; pods with a complete block */
	size_t n_pods;
	struct pods_spread spread;
	bool pods_differ;
	bool left_by_one; /* only one arm's runs ended before the processes that they started */
	enum window_trend trend;
	struct judge_steps steps; /* training only */
	struct judge_quality quality;
	struct welch welch;			/* ignores blocks */
	struct rank_two rank;			/* ignores blocks; y of control against variant */
	double median_delta_pct, min_delta_pct; /* of y; + is slower */
	double legacy_pct;	/* difference of the mean printed tok/s; NAN: none */
	struct guard_hits hits; /* of the contrast and all its runs */
	double robust_sd;	/* 1.4826 * mad of d; NAN below 4 blocks */
	double block_sd;	/* standard deviation of all d */
	/* Outliers made the interval over 3 times as wide: report robust numbers, too. */
	bool widened;
	size_t n_agree; /* blocks with the sign of paired.hl */
	struct verdict verdict;
	struct verdict if_valid; /* the verdict without hard guards */
};

/* A block that does not count, and why. */
struct judge_dropped {
	size_t pod, block, arm;
	char reason[200];
};

/* The best of several variants.  An arm leads if it is faster than every other arm, by Holm over
 * all pairs.  The apparent best of several looks better than it is, so the leader is confirmed only
 * by extra blocks that had no part in choosing it: there it must be faster than the control and the
 * runner-up.  Only verified runs are ranked. */
enum judge_best_state {
	BEST_NOT_ASKED, /* fewer than two variants, or imported logs */
	BEST_NONE,	/* no arm leads */
	BEST_LEADS,	/* an arm leads, but is not confirmed */
	BEST_CONFIRMED,
};

struct judge_best {
	enum judge_best_state state;
	size_t arm, rival; /* leader and runner-up, if an arm leads */
	double p_pairs;	   /* largest of the leader's Holm p values; NAN: none */
	size_t n_pairs;	   /* number of pairs that Holm adjusts for */
	size_t n_fresh;	   /* number of extra blocks */
	struct paired over_control, over_rival; /* in extra blocks */
	char text[256];
};

#define JUDGE_MAX_DROPPED 1000

struct judge {
	struct judge_rule rule;
	const struct judge_arm *arms; /* borrowed; arm 0 is the control */
	size_t n_arms;
	struct judge_run *runs; /* borrowed; members "set by judge_init" are written */
	size_t n_runs;
	bool training; /* training runs; otherwise scores */
	/* A bit per guard that all runs of the control fail; no variant is INVALID for these. */
	uint64_t control_fails;
	double lo, hi; /* measured window; NAN: none */
	bool window_auto;
	double steady_from; /* with window_auto, by MSER; NAN: some run is never steady */
	struct judge_summary summary[SCHEDULE_MAX_ARMS];
	struct judge_contrast *contrasts; /* owned; n_arms - 1 */
	size_t n_contrasts;
	struct judge_best best;
	struct judge_dropped *dropped; /* owned */
	size_t n_dropped, cap_dropped;
};

/* Judge the runs; arms (2 to SCHEDULE_MAX_ARMS) and runs must outlive the result. */
void judge_init(struct judge *judge, const struct judge_rule *rule, const struct judge_arm *arms,
		size_t n_arms, struct judge_run *runs, size_t n_runs);
void judge_release(struct judge *judge);

/* Set the final state of verified runs: confirmed, or measured after a hard guard hit. */
void judge_confirm(struct judge *judge);

/* Is the verdict on the arm INVALID? */
bool judge_is_invalid(const struct judge *judge, size_t arm);

/* How many blocks show a difference of `delta` (ln units); 0: over 1000 or unknown. */
size_t judge_blocks_to_show(const struct judge *judge, const struct judge_contrast *c,
			    double delta);

/* Is the arm the contrast's variant, control or second control? */
bool judge_is_side(const struct judge_contrast *c, size_t arm);

/* Is the run an outlier of the control or the variant that widens the interval of the contrast:
 * farther from its arm's median than 3 times robust_sd and than half of block_sd? */
bool judge_widens_interval(const struct judge_contrast *c, const struct judge_run *run);

/* Return the next counted run after `after` (may be NULL) of an arm or JUDGE_ANY, or NULL. */
#define JUDGE_ANY SIZE_MAX
struct judge_run *judge_next(const struct judge *judge, size_t arm, const struct judge_run *after);
#define judge_each(run, judge, arm)                                               \
	for (struct judge_run *run = judge_next(judge, arm, NULL); (run) != NULL; \
	     (run) = judge_next(judge, arm, run))
