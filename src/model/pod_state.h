/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/link_state.h"
#include "model/model.h"

/* Decide the state of a pod's link from facts and the time (monotonic, ms); pure functions. */

/* How often a log grows: the last gaps between its bytes. */
#define POD_PACE_GAPS	  128
#define POD_PACE_MIN_GAPS 8 /* fewer gaps are not enough */
#define POD_PACE_TIMES	  4 /* silent after this many times the p99 gap */
#define POD_PACE_MIN_MS	  10000
#define POD_PACE_MAX_MS	  900000

struct pod_pace {
	int64_t last_ms;		/* when the last bytes arrived; 0: never */
	int64_t gaps_ms[POD_PACE_GAPS]; /* ring */
	size_t n_gaps, next;
};

/* Record that bytes arrived; within 50 ms after others they count as one arrival. */
void pod_pace_bytes(struct pod_pace *pace, int64_t now_ms);

/* 99th percentile of the gaps; -1: too few are known. */
int64_t pod_pace_p99_ms(const struct pod_pace *pace);

/* How long the log may stay without bytes until it counts as silent; -1: unknown. */
int64_t pod_pace_patience_ms(const struct pod_pace *pace);

bool pod_pace_is_silent(const struct pod_pace *pace, int64_t now_ms);

struct pod_facts {
	enum link_state link;
	const char *why; /* WAITING, REFUSED: the reason; may be NULL */
	bool was_up;	 /* the pod was reached before, since the start */
	int64_t now_ms;
	int64_t retry_at_ms;   /* WAITING, REFUSED */
	int64_t last_frame_ms; /* last message of the follower; 0: none yet */
	bool is_paused;	       /* reading is paused on purpose: a bench runs, or the disk is full */
	size_t n_under_way;    /* running runs */
	size_t n_silent;       /* running runs whose log is silent */
	int64_t silent_ms;     /* since the last bytes of any running run */
};

/* The follower answers our pings; after this long without an answer the link is not live. */
#define POD_LATE_MS 10000

struct pod_verdict {
	enum pod_state state;
	char why[256];
	int64_t retry_at_ms; /* 0: none */
};

void pod_state_decide(const struct pod_facts *facts, struct pod_verdict *verdict);
