/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/*
 * What was seen of a pod while one run was under way: host.csv, which the
 * launcher samples once a second from /proc, gpu.csv of nvidia-smi, and stamps,
 * when which bytes of the log were written.  It explains an odd run, and fires
 * guards; it never changes a measurement.
 */

/* Reason bits of nvidia-smi (NVML clocks event reasons). */
#define HEALTH_POWER_CAP 0x4UL
/* Hardware slowdown, software and hardware thermal, power brake. */
#define HEALTH_THROTTLE (0x8UL | 0x20UL | 0x40UL | 0x80UL)

/* A sample of one GPU; NAN where it was not reported. */
struct health_gpu {
	double up_s; /* by the pod's steady clock */
	double sm_mhz, temp_c, power_w, util_pct;
	unsigned long reasons;
};

/* A sample of the host; counters since boot, NAN where there is none. */
struct health_host {
	double up_s;
	double log_bytes; /* written so far */
	double load1;
	double busy_s, steal_s; /* CPU seconds of all cores */
	double wait_s;		/* the run's main threads waited for a CPU */
	double quota_s;		/* the container's CPU quota held it back */
};

/* So many bytes of the log were there at up_s, and not at after_s; by the
 * pod's steady clock. */
struct health_stamp {
	double log_bytes, up_s, after_s;
};

#define HEALTH_FOREIGN_SIZE 64

/* The files of a run, read. */
struct health {
	struct health_gpu *gpu; /* owned, in order of time */
	size_t n_gpu, cap_gpu;
	struct health_host *host; /* owned, in order of time */
	size_t n_host, cap_host;
	struct health_stamp *stamps; /* owned, in order of both */
	size_t n_stamps, cap_stamps;
	bool stamping;			   /* stamps were to be made */
	double cores;			   /* NAN: not said */
	char foreign[HEALTH_FOREIGN_SIZE]; /* pids of others on its GPUs */
	size_t n_left;			   /* processes it left behind .. */
	char left[HEALTH_FOREIGN_SIZE];	   /* .. "12 python3, 13 sh" */
};

/* Samples beyond this many of either kind are not kept. */
#define HEALTH_MAX_SAMPLES 500000

/* Read the texts; lines that make no sense are passed over, but of stamps none
 * is left then. */
void health_init(struct health *health, struct str host, struct str gpu, struct str stamps);
void health_release(struct health *health);

/* When that many bytes of the log were written (s since boot); NAN: unknown.
 * The time lies between *after_s and the result: by the stamps where they go so
 * far, else by the looks of host.csv. */
double health_time_of(const struct health *health, double log_bytes, double *after_s);

/* The sample nearest in time, within 5 s; NULL: none. */
const struct health_gpu *health_gpu_at(const struct health *health, double up_s);

/* A run, or its window, in a few numbers; NAN where nothing is known. */
struct health_sum {
	size_t n_gpu;			/* samples in the window */
	double power_w, util_pct;	/* means */
	double sm_mhz, power_cap_share; /* means while it was busy (20 %) */
	double temp_c;			/* highest */
	unsigned long reasons;		/* all bits seen */
	/* Of the whole run. */
	double cores, load1; /* at its start */
	double busy_cores;   /* mean of the host, all programs */
	double steal_s, wait_s, quota_s;
	char foreign[HEALTH_FOREIGN_SIZE], left[HEALTH_FOREIGN_SIZE];
	size_t n_left; /* see struct health */
	/* Of the window of a training run, set by its reader: what its log's
	 * clock says, and between how many seconds the pod's clock had its
	 * first and last row appear.  NAN: not known. */
	double printed_s, shown_least_s, shown_most_s;
	double took_s;	    /* all of the run; set by its reader too */
	size_t n_validated; /* how often it validated in the window */
	/* Validations left out, each row appeared when the log's clock says
	 * that it was made, give or take health_pace_s and a share. */
	bool paced;
	bool stamped; /* its rows have stamps */
};

/* How far a clock may be wrong and be told. */
#define HEALTH_PACE_SHARE 0.06
/* Two looks at the log: what a row's time may be off by. */
double health_pace_s(const struct health *health);

/* Sum up; GPU samples of from_s..to_s, all where these are NAN. */
struct health_sum health_sum(const struct health *health, double from_s, double to_s);
