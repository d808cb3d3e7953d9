/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/*
 * Pods as they were last, and what they said of themselves: a row a moment for
 * the pod (gpu STORE_POD_GPU: over all its GPUs that count, and the host) and
 * one for each GPU.
 *
 * Bounded: at most one moment in STORE_TELEMETRY_EVERY_MS is kept of a pod;
 * after STORE_TELEMETRY_FULL_MS one in STORE_TELEMETRY_KEEP_MS stays, after
 * STORE_TELEMETRY_LAST_MS none.  What cannot be written is given up beyond
 * STORE_TELEMETRY_MAX_PENDING rows.
 */
#define STORE_POD_GPU		    (-1)
#define STORE_TELEMETRY_EVERY_MS    10000
#define STORE_TELEMETRY_KEEP_MS	    300000
#define STORE_TELEMETRY_FULL_MS	    (INT64_C(24) * 3600 * 1000)
#define STORE_TELEMETRY_LAST_MS	    (INT64_C(30) * 24 * 3600 * 1000)
#define STORE_TELEMETRY_MAX_PENDING 16384

/*	metric			column */
#define STORE_TELEMETRY_LIST(X)       \
	X(GPU_UTIL, gpu_util)         \
	X(GPU_MEM_MIB, gpu_mem_mib)   \
	X(GPU_POWER_W, gpu_power_w)   \
	X(GPU_TEMP_C, gpu_temp_c)     \
	X(GPU_SM_MHZ, gpu_sm_mhz)     \
	X(GPU_THROTTLE, gpu_throttle) \
	X(HOST_LOAD, host_load)

/* In the order of the list. */
enum store_telemetry_value {
#define X(metric, column) STORE_##metric,
	STORE_TELEMETRY_LIST(X)
#undef X
		STORE_TELEMETRY_VALUES
};

extern const enum metric store_telemetry_metrics[STORE_TELEMETRY_VALUES];

struct store_telemetry {
	int64_t at_ms;			       /* wall clock */
	int gpu;			       /* or STORE_POD_GPU */
	double values[STORE_TELEMETRY_VALUES]; /* RUN_ABSENT: unknown */
	double disk_free_bytes;
};

/* A pod as it is now; texts may be NULL. */
struct store_pod {
	const char *name, *target, *state, *why, *gpu;
	int64_t lag_ms; /* -1: unknown */
	double disk_free_bytes;
	int64_t seen_ms; /* wall clock of this */
};

/* For the writer: to be written with the next batch.  All is copied. */
void store_pod_put(struct store *store, const struct store_pod *pod);
/* The rows of one moment; the pod must have been put.  keep: it stays. */
void store_telemetry_add(struct store *store, const char *pod, const struct store_telemetry *rows,
			 size_t n, bool keep);
/*
 * Drop what is too old of a pod, with the next batch; false: that one drops
 * another pod's, try again later.
 */
bool store_telemetry_prune(struct store *store, const char *pod, int64_t now_ms);

/*
 * Is it time to drop what is old?  wall_ms decides how old a row is, and what
 * is dropped does not come back: where that clock was set (the mono clock
 * went another way), it is believed after STORE_PRUNE_MS.
 */
#define STORE_PRUNE_MS 600000
struct store_prune {
	int64_t last_ms;   /* wall clock, of the last time; 0: none yet */
	int64_t offset_ms; /* wall less mono clock, at the last look */
};
bool store_prune_is_due(struct store_prune *prune, int64_t wall_ms, int64_t mono_ms);

/* Reads on the caller's thread, as those of query.h. */
typedef int (*stored_pod_fn)(void *user, const struct store_pod *row);
int store_each_pod(struct store *store, stored_pod_fn fn, void *user, struct err *err);

struct stored_span {
	const char *pod;
	int64_t after_ms; /* 0: from the first on */
	bool pod_only;	  /* not each GPU */
};

typedef int (*stored_telemetry_fn)(void *user, const struct store_telemetry *row);
/* In the order of time. */
int store_each_telemetry(struct store *store, const struct stored_span *span,
			 stored_telemetry_fn fn, void *user, struct err *err);
