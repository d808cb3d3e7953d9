/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/* How far the preflight of a pod is. */
enum pods_probe_step {
	PODS_PROBE_CONNECTING,
	PODS_PROBE_LOOKING, /* its shell answers */
	PODS_PROBE_OVER,
};

/* The preflight (preflight.h) of several pods at once, logins included. */
struct pods_probe {
	const struct conf_pod *pods; /* borrowed; n of them */
	size_t n;
	bool accept_new; /* keys of hosts that are not known yet */
	bool any_gpu;	 /* one is wanted of every pod but local ones */
	bool own_gpus;	 /* and of those that name theirs */
	double min_free_bytes, limit_s;
	/* Told of each step of pod i, or NULL; row is what came of it, until
	 * it is over NULL, and is borrowed. */
	void (*on_step)(void *user, size_t i, enum pods_probe_step step, const cJSON *row);
	void *user;
};

#define PODS_PROBE_FREE_BYTES 1e9
#define PODS_PROBE_LIMIT_S    90.0

/*
 * Fill rows (n of them, owned by the caller) with preflight_row of each pod,
 * in a loop of its own.  0, the number of the signal that ended it (rows are
 * NULL then), or -1 with err.
 */
int pods_probe(const struct pods_probe *probe, cJSON **rows, struct err *err)
	__attribute__((warn_unused_result));
