/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/plan.h"

/* The results folder of a bench, <base>/<id>: bench.json (a copy of the definition), source.json
 * (where the definition was), state.json, runs/<run>/{<log>,run.json,steps.csv,gpu.csv},
 * env.<pod>.txt, verdict.json and summary.json; if needed also waits.json, preflight.json and
 * repeats.json; and for other programs lock and current.<pod>, see pods/timed.h. Files other than
 * logs are replaced by a rename, so `bench attach` can continue after a kill. */
#define FOLDER_ID_SIZE	 80
#define FOLDER_PATH_SIZE 4096

/* Create <base>/<name>-<time>[-n] and its runs/; sets id and path. */
int folder_create(const char *base, const char *name, int64_t now_ms, char id[FOLDER_ID_SIZE],
		  char path[FOLDER_PATH_SIZE], struct err *err) MUST_USE;

/* Lock the bench until fd is closed. -1 with err, with ERR_CHECK if another process drives it. */
int folder_lock(const char *path, int *fd, struct err *err) MUST_USE;

/* Replace a file in the folder; creates its directory. */
int folder_write(const char *path, const char *name, struct str text, struct err *err) MUST_USE;
int folder_write_json(const char *path, const char *name, const cJSON *node,
		      struct err *err) MUST_USE;

/* NULL if the file does not exist or is not JSON. */
cJSON *folder_read_json(const char *path, const char *name);

/* Size of a file in bytes; 0 if it does not exist. */
uint64_t folder_size(const char *path, const char *name);
/* Append to a file; creates it and its directory. */
int folder_append(const char *path, const char *name, struct str data, struct err *err) MUST_USE;
void folder_remove(const char *path, const char *name);

/* state.json */
struct folder_state {
	char state[24];	  /* running, done, aborted, failed */
	char stopped[24]; /* n_max, early, budget, guard, "" */
	char name[64];
	int64_t started_ms, ended_ms; /* 0: not yet */
	double cost_usd;
};

int folder_write_state(const char *path, const struct folder_state *state,
		       struct err *err) MUST_USE;
/* false: the folder has no state.json. */
bool folder_read_state(const char *path, struct folder_state *state);

/* Ids of all benches in base, newest first; the caller frees each id and the array. */
char **folder_list(const char *base, size_t *n);

/* The directory that contains the results folders of this machine; owned. */
char *bench_base(void);

/* Find a bench by its id or a unique prefix of it.  -1 with err (ERR_NODATA). */
int bench_find(const char *word, char id[FOLDER_ID_SIZE], char path[FOLDER_PATH_SIZE],
	       struct err *err) MUST_USE;

/* Load the plan from the bench.json of a results folder. */
int bench_load_plan(struct plan *plan, const char *path, struct err *err) MUST_USE;

/* Has the bench with that id ended?  Also false if there is no such bench. */
bool bench_is_over(const char *id);

/* The pods that a bench left running when it ended (on_end "ask"), for a person: "p1 (2.00 USD per
 * hour), p2"; owned.  NULL: no pod, or the bench is still running. */
char *bench_pods_left_running(const struct plan *plan, const char *path);
/* Record that these pods were stopped, so that the user is not asked again. */
int bench_record_pods_stopped(const char *path, struct err *err) MUST_USE;
