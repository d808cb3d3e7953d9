/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* waits.json in the results folder: why each pod of a bench keeps it waiting.  The process that
 * drives the bench writes the file; `bench list`, `show`, `attach` and the dashboard read it. */

/* id, its word in waits.json; the last three are the steps of a preflight */
#define WAIT_LIST(X)                                         \
	X(NONE, "none")                                      \
	X(UNREACHABLE, "unreachable")                        \
	X(SILENT, "silent")                                  \
	X(BUSY, "busy")                                      \
	X(FULL, "disk full")                                 \
	X(QUEUED, "queued") /* for an allocation of Slurm */ \
	X(GIVEN_UP, "given up")                              \
	X(CONNECTING, "connecting")                          \
	X(CHECKING, "checking")                              \
	X(CHECKED, "checked")

#define WAIT_ID(id, word) WAIT_##id,
enum wait_kind { WAIT_LIST(WAIT_ID) };

/* A step of the preflight is progress, and not a problem of the pod. */
bool wait_is_preflight(enum wait_kind kind);

#define WAITS_FILE     "waits.json"
#define WAITS_MAX      64 /* pods of a bench */
#define WAIT_TEXT_SIZE 400

/* The wait of one pod; times are wall clock, in ms since 1970. */
struct pod_wait {
	char pod[64];
	enum wait_kind kind;
	int64_t since_ms;
	int64_t retry_ms; /* next try; 0: a try is in progress */
	char why[240];	  /* as sent by the pod, not sanitised */
};

/* "pod a: cannot be reached for 2 min, next try in 8 s: connection refused", sanitised; or "". */
void wait_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE]);

/* The sentence for the end of a wait: "pod a: answers again after 2 min". */
void wait_end_text(const struct pod_wait *wait, int64_t now_ms, char out[WAIT_TEXT_SIZE]);
/* The wait of that pod, or NULL. */
const struct pod_wait *waits_find(const struct pod_wait *waits, size_t n, const char *pod);

/* Write waits.json for n pods, or remove it when no pod waits. */
int waits_write(const char *path, const struct pod_wait *waits, size_t n, struct err *err) MUST_USE;

/* Read the waiting pods; returns their number. With no driver, only WAIT_GIVEN_UP is still true. */
size_t waits_read(const char *path, bool driven, struct pod_wait waits[WAITS_MAX]);

/* The waits as an array, owned by the caller: pod, state, since, retry_at, why, text; or empty. */
cJSON *waits_json(const struct pod_wait *waits, size_t n, int64_t now_ms);

/* Add to object what the bench in folder path waits for: "driven" (null unless it is running) and
 * "waits".  Returns the same as one line of text, owned; NULL if the bench waits for nothing.  Pass
 * NULL as path if the folder no longer exists. */
char *bench_waits_add(cJSON *object, const char *path, const char *id, const char *state);
