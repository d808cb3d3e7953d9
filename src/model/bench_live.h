/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A bench as a screen shows it while it runs and after it: its runs, what
 * their blocks say so far, and what is still to come.  Differences are per
 * cent, more than 0 is faster than the control; absent numbers are NAN.
 */
#define BENCH_LIVE_NAME 64
#define BENCH_LIVE_WAIT 400

enum bench_live_state {
	BENCH_LIVE_WAITING,
	BENCH_LIVE_NOW,	 /* under way, or about to begin */
	BENCH_LIVE_OVER, /* measured */
	BENCH_LIVE_BAD,	 /* a hard guard fired */
	BENCH_LIVE_SKIPPED,
};

struct bench_live_run {
	size_t arm, pod, block;
	bool counted; /* false: burn-in */
	enum bench_live_state state;
	double y; /* in the metric's own unit; NAN: its block is not complete */
};

struct bench_live_arm {
	char tag[BENCH_LIVE_NAME];
	bool aa; /* the control again */
	size_t n_good, n_bad;
	double median;
};

/* An interval of a difference. */
struct bench_live_span {
	size_t n;
	double mean, lo, hi;
};

struct bench_live_pod_span {
	size_t pod;
	struct bench_live_span span;
};

/* One arm against the control. */
struct bench_live_contrast {
	size_t arm;
	double *d; /* owned; one a complete block, in their order */
	struct bench_live_span all;
	struct bench_live_pod_span *pods; /* owned */
	size_t n_pods;
	bool pods_differ;
	double sd;    /* of a block */
	double shows; /* the smallest difference that these blocks would */
	/* The difference that would stop the bench at the next look, with the
	 * spread as it is. */
	double stops_at;
	double next_p;		 /* that stops it there, or decides where it is the last
				  */
	size_t blocks_to_margin; /* 0: unknown */
	bool invalid;
	char word[24];	  /* of the verdict, "FASTER"; "" before the first */
	char text[256];	  /* the verdict as the judge has it now */
	char guards[400]; /* what fired, ", " between; "" nothing */
};

struct bench_live {
	const char *still_up; /* borrowed of the bench: pods left up */
	char metric[BENCH_LIVE_NAME];
	struct bench_live_arm *arms; /* owned; the control first */
	size_t n_arms;
	char (*pods)[BENCH_LIVE_NAME]; /* owned */
	/* Why a pod keeps the bench waiting, or was given up; "" none; owned,
	 * one a pod. */
	char (*waits)[BENCH_LIVE_WAIT];
	bool preflight; /* these are its steps, and no trouble */
	size_t n_pods;
	size_t blocks;		     /* planned, of each pod */
	struct bench_live_run *runs; /* owned; pod by pod, in their order */
	size_t n_runs, n_over;
	size_t n_planned;		       /* of n_runs: fresh blocks are of three arms */
	struct bench_live_contrast *contrasts; /* owned */
	size_t n_contrasts;
	size_t n_dropped;     /* blocks that a guard took */
	double margin, alpha; /* per cent; a share */
	bool early;	      /* a look may end it, or when it is precise */
	size_t min_blocks;
	bool running;	  /* by its folder */
	bool driven;	  /* and somebody drives it */
	char stopped[24]; /* why it ended; "" */
	/* Of its budget; NAN: no limit, or no price. */
	double elapsed_s, limit_s, cost_usd, limit_usd, usd_per_h;
	size_t n_unpriced; /* pods that cost_usd leaves out */
	/* By what runs took so far; of all that are due, when it was shown. */
	double left_s, due_s, due_at_s;
	double noise_sd; /* of the register, per cent; NAN: not known */
	size_t noise_runs;
};

struct bench_live *bench_live_new(size_t n_arms, size_t n_pods, size_t n_runs, size_t n_contrasts);
void bench_live_free(struct bench_live *live);
