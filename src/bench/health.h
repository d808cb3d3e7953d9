/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* State of a pod during one run: host.csv, which the launcher samples once a second from /proc;
 * gpu.csv from nvidia-smi; and stamps, the times at which the log grew.  These files explain
 * outliers and feed validity checks, but never change a measurement. */

/* Reason bits of nvidia-smi (NVML clocks event reasons). */
#define HEALTH_POWER_CAP 0x4UL
/* Hardware slowdown, software and hardware thermal slowdown, power brake. */
#define HEALTH_THROTTLE (0x8UL | 0x20UL | 0x40UL | 0x80UL)

/* A sample of one GPU; NAN: not reported. */
struct health_gpu {
	double up_s; /* the pod's uptime */
	double sm_mhz, temp_c, power_w, util_pct;
	unsigned long reasons;
};

/* A sample of the host.  Counters since boot; NAN: not reported. */
struct health_host {
	double up_s;
	double log_bytes; /* size of the log */
	double load1;
	double busy_s, steal_s; /* CPU seconds of all cores */
	double wait_s;		/* time that the run's main threads waited for a CPU */
	double quota_s;		/* time that the container's CPU quota stopped it */
};

/* The log had log_bytes at up_s, but fewer at after_s; both are uptimes in seconds. */
struct health_stamp {
	double log_bytes, up_s, after_s;
};

#define HEALTH_FOREIGN_SIZE 64

/* The files of a run, parsed. */
struct health {
	struct health_gpu *gpu; /* owned, by time */
	size_t n_gpu, cap_gpu;
	struct health_host *host; /* owned, by time */
	size_t n_host, cap_host;
	struct health_stamp *stamps; /* owned, by size */
	size_t n_stamps, cap_stamps;
	bool stamping;			   /* the launcher wrote stamps */
	double cores;			   /* NAN: unknown */
	char foreign[HEALTH_FOREIGN_SIZE]; /* pids of other programs on its GPUs */
	double unfinished;		   /* 1: processes still ran when the run had ended */
	size_t n_left;			   /* processes that outlived the run .. */
	char left[HEALTH_FOREIGN_SIZE];	   /* .. "12 python3, 13 sh" */
};

/* Samples after this many are dropped. */
#define HEALTH_MAX_SAMPLES 500000

/* Parse the texts. Lines that cannot be parsed are skipped; one such stamp drops all stamps. */
void health_init(struct health *health, struct str host, struct str gpu, struct str stamps);
void health_release(struct health *health);

/* The uptime in seconds at which the log had log_bytes; NAN: unknown.  The true time is between
 * *after_s and the result.  Sizes after the last stamp are looked up in host.csv. */
double health_time_of(const struct health *health, double log_bytes, double *after_s);

/* The sample nearest in time and within 5 s, or NULL. */
const struct health_gpu *health_gpu_at(const struct health *health, double up_s);

/* Summary of a run, or of its window; NAN: unknown. */
struct health_sum {
	size_t n_gpu;			/* samples in the window */
	double power_w, util_pct;	/* means */
	double sm_mhz, power_cap_share; /* means while utilization was at least 20 % */
	double temp_c;			/* maximum */
	unsigned long reasons;		/* all bits seen */
	/* The whole run: */
	double cores, load1; /* load1 at its start */
	double busy_cores;   /* mean of all programs of the host */
	double steal_s, wait_s, quota_s;
	char foreign[HEALTH_FOREIGN_SIZE], left[HEALTH_FOREIGN_SIZE];
	size_t n_left; /* see struct health */
	double unfinished;
	/* The window of a training run, set by the reader of its log: its length by the log's
	 * clock, and its least and greatest length by the pod's clock. */
	double printed_s, shown_least_s, shown_most_s;
	double took_s;	    /* length of the whole run, set by the same reader */
	size_t n_validated; /* validations in the window */
	/* Rows appeared when the log's clock says, within health_pace_s and HEALTH_PACE_SHARE. */
	bool paced;
	bool stamped; /* its rows have stamps */
};

/* A log's clock is accepted if it differs from the pod's by less than this share. */
#define HEALTH_PACE_SHARE 0.06
/* Uncertainty, in seconds, of the time at which a row appeared. */
double health_pace_s(const struct health *health);

/* Summarize a run, using the GPU samples with uptimes from_s to to_s; NAN: all samples. */
struct health_sum health_sum(const struct health *health, double from_s, double to_s);
