/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/link_state.h"
#include "model/model.h"

/*
 * What the screen may say of the link to a pod, from what is known of it:
 * pure functions of facts and the time (mono clock, milliseconds).
 */

/* How often a log gives bytes: the last gaps between them. */
#define POD_PACE_GAPS	  128
#define POD_PACE_MIN_GAPS 8 /* fewer say nothing */
#define POD_PACE_TIMES	  4 /* silent after so many times the p99 gap */
#define POD_PACE_MIN_MS	  10000
#define POD_PACE_MAX_MS	  900000

struct pod_pace {
	int64_t last_ms;		/* of the last bytes; 0: none yet */
	int64_t gaps_ms[POD_PACE_GAPS]; /* ring */
	size_t n_gaps, next;
};

/* Bytes came.  Those within 50 ms of the last ones belong to them. */
void pod_pace_bytes(struct pod_pace *pace, int64_t now_ms);

/* The gap that 99 of 100 do not pass; -1 while too few are known. */
int64_t pod_pace_p99_ms(const struct pod_pace *pace);

/* After how long without bytes the log is silent; -1: not known yet. */
int64_t pod_pace_patience_ms(const struct pod_pace *pace);

/* True when it is silent now. */
bool pod_pace_is_silent(const struct pod_pace *pace, int64_t now_ms);

struct pod_facts {
	enum link_state link;
	const char *why; /* of WAITING and REFUSED; may be NULL */
	bool was_up;	 /* it was live once, since the start */
	int64_t now_ms;
	int64_t retry_at_ms;   /* of WAITING and REFUSED */
	int64_t last_frame_ms; /* last sign of the follower; 0: none yet */
	bool is_paused;	       /* we read nothing: a bench runs, or the disk is full */
	size_t n_under_way;    /* runs that are not over */
	size_t n_silent;       /* of these, those that are silent */
	int64_t silent_ms;     /* since the last bytes of any of them */
};

/* Our own pings: an answer is due after each; twice late is no live link. */
#define POD_LATE_MS 10000

struct pod_verdict {
	enum pod_state state;
	char why[256];
	int64_t retry_at_ms; /* 0: none */
};

void pod_state_decide(const struct pod_facts *facts, struct pod_verdict *verdict);
