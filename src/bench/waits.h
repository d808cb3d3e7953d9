/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "parsers/json.h"

/*
 * What the pods of a bench keep it waiting for, as waits.json in its results
 * folder says it to everybody who looks while another hgym-tui drives it.
 */

/* id, its word in waits.json */
#define WAIT_LIST(X)                                               \
	X(NONE, "none")                                            \
	X(UNREACHABLE, "unreachable")                              \
	X(SILENT, "silent")                                        \
	X(BUSY, "busy")                                            \
	X(FULL, "disk full")                                       \
	X(QUEUED, "queued") /* it has no allocation yet */         \
	X(GIVEN_UP, "given up")                                    \
	X(CONNECTING, "connecting") /* the three of a preflight */ \
	X(CHECKING, "checking")                                    \
	X(CHECKED, "checked")

enum wait_kind {
#define X(id, word) WAIT_##id,
	WAIT_LIST(X)
#undef X
};

/* Is it a step of the preflight, which is no trouble? */
bool wait_is_preflight(enum wait_kind kind);

#define WAITS_FILE     "waits.json" /* in the results folder */
#define WAITS_MAX      64	    /* pods of a bench */
#define WAIT_TEXT_SIZE 400

/* One pod's; times by the wall clock in ms since 1970. */
struct pod_wait {
	char pod[64];
	enum wait_kind kind;
	int64_t since_ms;
	int64_t retry_ms; /* when it is tried again; 0: it is being tried */
	char why[240];	  /* as it came; hostile */
};

/*
 * "pod a: cannot be reached for 2 min, tries again in 8 s: connection
 * refused" in out, sanitised; "" for WAIT_NONE.
 */
void wait_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE]);

/* "pod a: answers again, after 2 min" of one that waited. */
void wait_text_over(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE]);
/* That pod's of n, or NULL. */
const struct pod_wait *waits_find(const struct pod_wait *waits, size_t n, const char *pod);

/* Write waits.json of n pods; where none of them waits it is removed. */
int waits_write(const char *path, const struct pod_wait *waits, size_t n, struct err *err)
	__attribute__((warn_unused_result));

/* The waits as an array of objects for output: pod, state, since, retry_at,
 * why, text; empty where none waits.  Owned by the caller. */
cJSON *waits_json(const struct pod_wait *waits, size_t n, int64_t now_ms);

/*
 * Read those that wait; returns their number.  Of a bench that nobody drives
 * only what was given up is still true.
 */
size_t waits_read(const char *path, bool driven, struct pod_wait waits[WAITS_MAX]);
