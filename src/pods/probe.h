/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/* Progress of the preflight of a pod. */
enum pods_probe_step {
	PODS_PROBE_CONNECTING,
	PODS_PROBE_LOOKING, /* the script runs */
	PODS_PROBE_OVER,
};

/* Options for the preflight (preflight.h) of several pods at once. */
struct pods_probe {
	const struct conf_pod *pods; /* borrowed; n of them */
	size_t n;
	bool accept_new; /* accept unknown host keys */
	bool any_gpu;	 /* require a GPU, except on this machine */
	bool own_gpus;	 /* require a GPU on pods that configure "gpus" */
	double min_free_bytes, limit_s;
	/* Progress of pod i; may be NULL.  row is the result (borrowed), NULL until the end. */
	void (*on_step)(void *user, size_t i, enum pods_probe_step step, const cJSON *row);
	void *user;
};

#define PODS_PROBE_FREE_BYTES 1e9
#define PODS_PROBE_LIMIT_S    90.0

/* Fill rows[n] (owned by the caller) with the preflight_row() of each pod; runs an event loop.
 * Returns 0, the number of the signal that ended it (rows are NULL then), or -1 with err. */
int pods_probe(const struct pods_probe *probe, cJSON **rows, struct err *err) MUST_USE;
