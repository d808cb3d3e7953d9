/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A bench as the screen shows it, while it runs and afterwards: its runs, the measured differences,
 * and the remaining runs. Differences are in per cent, above 0: faster. Absent numbers are NAN. */
#define BENCH_LIVE_NAME 64
#define BENCH_LIVE_WAIT 400

enum bench_live_state {
	BENCH_LIVE_WAITING,
	BENCH_LIVE_NOW,	 /* running, or about to start */
	BENCH_LIVE_OVER, /* measured */
	BENCH_LIVE_BAD,	 /* a hard validity check failed */
	BENCH_LIVE_SKIPPED,
};

struct bench_live_run {
	size_t arm, pod, block;
	bool counted; /* false: burn-in */
	enum bench_live_state state;
	double y; /* value of the metric; NAN until its block is complete */
};

struct bench_live_arm {
	char tag[BENCH_LIVE_NAME];
	bool aa; /* the control, run a second time */
	size_t n_good, n_bad;
	double median;
};

/* A difference and its confidence interval. */
struct bench_live_span {
	size_t n;
	double mean, lo, hi;
};

struct bench_live_pod_span {
	size_t pod;
	struct bench_live_span span;
};

/* One arm compared with the control. */
struct bench_live_contrast {
	size_t arm;
	double *d; /* owned; one per complete block, in order */
	struct bench_live_span all;
	struct bench_live_pod_span *pods; /* owned */
	size_t n_pods;
	bool pods_differ;
	double sd;    /* standard deviation of one block */
	double shows; /* smallest detectable difference */
	/* The difference that would stop the bench at the next look with the same spread. */
	double stops_at;
	double next_p;		 /* the next look stops the bench if p is lower */
	size_t blocks_to_margin; /* 0: unknown */
	bool invalid;
	char word[24];	  /* first word of the verdict, "FASTER"; "" before the first */
	char text[256];	  /* the current verdict */
	char guards[400]; /* validity checks that failed, separated by ", " */
};

struct bench_live {
	const char *still_up; /* borrowed from the bench: pods that were left running */
	char metric[BENCH_LIVE_NAME];
	struct bench_live_arm *arms; /* owned; the control first */
	size_t n_arms;
	char (*pods)[BENCH_LIVE_NAME]; /* owned */
	/* Why each pod keeps the bench waiting or was dropped, "" if neither; owned. */
	char (*waits)[BENCH_LIVE_WAIT];
	bool preflight; /* waits are steps of the preflight, not problems */
	size_t n_pods;
	size_t blocks;		     /* planned, per pod */
	struct bench_live_run *runs; /* owned; pod by pod, in order */
	size_t n_runs, n_over;
	size_t n_planned;		       /* the most runs that the bench can make */
	struct bench_live_contrast *contrasts; /* owned */
	size_t n_contrasts;
	size_t n_dropped;     /* blocks dropped by a validity check */
	double margin, alpha; /* margin in per cent, alpha a fraction */
	bool early;	      /* may stop at a look, or once precise enough */
	size_t min_blocks;
	bool running;	  /* according to its folder */
	bool driven;	  /* some process drives it */
	char stopped[24]; /* why it ended, or "" */
	/* Budget; NAN: no limit, or no price. */
	double elapsed_s, limit_s, cost_usd, limit_usd, usd_per_h;
	size_t n_unpriced; /* pods without a price, not in cost_usd */
	/* Estimated from finished runs: seconds left now, and left when elapsed_s was due_at_s. */
	double left_s, due_s, due_at_s;
	double noise_sd; /* sd from the noise register, per cent; NAN: unknown */
	size_t noise_runs;
};

struct bench_live *bench_live_new(size_t n_arms, size_t n_pods, size_t n_runs, size_t n_contrasts);
void bench_live_free(struct bench_live *live);
