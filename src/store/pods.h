/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/* The last state of each pod, and its telemetry: per time one row for the pod (gpu STORE_POD_GPU:
 * the host, and all its counted GPUs) and one row for each GPU.
 *
 * A pod has at most one time per STORE_TELEMETRY_EVERY_MS; after STORE_TELEMETRY_FULL_MS one per
 * STORE_TELEMETRY_KEEP_MS remains, and after STORE_TELEMETRY_LAST_MS none.  While the database
 * cannot be written, rows beyond STORE_TELEMETRY_MAX_PENDING are dropped. */
#define STORE_POD_GPU		    (-1)
#define STORE_TELEMETRY_EVERY_MS    10000
#define STORE_TELEMETRY_KEEP_MS	    300000
#define STORE_TELEMETRY_FULL_MS	    (INT64_C(24) * 3600 * 1000)
#define STORE_TELEMETRY_LAST_MS	    (INT64_C(30) * 24 * 3600 * 1000)
#define STORE_TELEMETRY_MAX_PENDING 16384

struct store_telemetry {
	int64_t at_ms;			/* wall clock */
	int gpu;			/* index of the GPU, or STORE_POD_GPU */
	double values[TELEMETRY_COUNT]; /* from TELEMETRY_FIRST on; RUN_ABSENT: unknown */
	double disk_free_bytes;
};

/* State of a pod; texts may be NULL. */
struct store_pod {
	const char *name, *target, *state, *why, *gpu;
	int64_t lag_ms; /* -1: unknown */
	double disk_free_bytes;
	int64_t seen_ms; /* time of this state; wall clock */
};

/* Add or replace the pod in the next batch; texts are copied. */
void store_pod_put(struct store *store, const struct store_pod *pod);
/* Add the rows of one time to an added pod. keep: also after STORE_TELEMETRY_FULL_MS. */
void store_telemetry_add(struct store *store, const char *pod, const struct store_telemetry *rows,
			 size_t n, bool keep);
/* Delete a pod's old rows with the next batch; false: it deletes another pod's, try again later. */
bool store_telemetry_prune(struct store *store, const char *pod, int64_t now_ms);

/* Is it time to delete old rows?  Their age depends on the wall clock.  If that clock was set (the
 * monotonic clock disagrees), wait STORE_PRUNE_MS before trusting it, because deletion is final. */
#define STORE_PRUNE_MS 600000
struct store_prune {
	int64_t last_ms;   /* time of the last deletion; wall clock; 0: none yet */
	int64_t offset_ms; /* wall clock minus monotonic clock at the last call */
};
bool store_prune_is_due(struct store_prune *prune, int64_t wall_ms, int64_t mono_ms);

/* Pass the pods to fn, in the order in which they were added; see query.h. */
typedef int (*stored_pod_fn)(void *user, const struct store_pod *row);
int store_each_pod(struct store *store, stored_pod_fn fn, void *user, struct err *err);

struct stored_span {
	const char *pod;
	int64_t after_ms; /* 0: all rows */
	bool pod_only;	  /* no rows of single GPUs */
};

typedef int (*stored_telemetry_fn)(void *user, const struct store_telemetry *row);
/* Pass the rows of the span to fn, in the order of time. */
int store_each_telemetry(struct store *store, const struct stored_span *span,
			 stored_telemetry_fn fn, void *user, struct err *err);
