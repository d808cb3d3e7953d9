/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "bench/plan.h"
#include "parsers/json.h"

/*
 * The results folder of a bench, <base>/<id>: bench.json (as it was given),
 * state.json, runs/<run>/{<log>,run.json,steps.csv,gpu.csv}, env.<pod>.txt,
 * verdict.json, summary.json; while it waits waits.json, and where there is
 * something to say preflight.json and repeats.json.  All that is written whole
 * (temp + rename), so that a killed hgym-tui leaves a folder that `bench
 * attach` goes on from.
 */
#define FOLDER_ID_SIZE	 80
#define FOLDER_PATH_SIZE 4096

/* Make <base>/<name>-<time>[-n] and its runs/; id and path are filled. */
int folder_create(const char *base, const char *name, int64_t now_ms, char id[FOLDER_ID_SIZE],
		  char path[FOLDER_PATH_SIZE], struct err *err) __attribute__((warn_unused_result));

/* Be the only one who drives this bench: a lock, held until closed.
 * -1 with err when somebody else is at it. */
int folder_lock(const char *path, int *fd, struct err *err) __attribute__((warn_unused_result));

/* Write a file below path whole; makes its folder. */
int folder_write(const char *path, const char *name, struct str text, struct err *err)
	__attribute__((warn_unused_result));
int folder_write_json(const char *path, const char *name, const cJSON *node, struct err *err)
	__attribute__((warn_unused_result));

/* Read one; NULL when it is not there or no JSON. */
cJSON *folder_read_json(const char *path, const char *name);

/* Bytes of a file below path; 0 when it is not there. */
uint64_t folder_size(const char *path, const char *name);
/* Append bytes; makes the file and its folder. */
int folder_append(const char *path, const char *name, struct str data, struct err *err)
	__attribute__((warn_unused_result));
void folder_remove(const char *path, const char *name);

/* state.json */
struct folder_state {
	char state[24];	  /* running, done, aborted, failed */
	char stopped[24]; /* n_max, early, budget, guard, "" */
	char name[64];
	int64_t started_ms, ended_ms; /* 0: not yet */
	double cost_usd;
};

int folder_write_state(const char *path, const struct folder_state *state, struct err *err)
	__attribute__((warn_unused_result));
/* false: there is none. */
bool folder_read_state(const char *path, struct folder_state *state);

/* Ids of all benches below base, newest first; caller frees each and all. */
char **folder_list(const char *base, size_t *n);

/* The results folders of this machine: where they lie, and how each stands. */

/* The folder of all of them; owned. */
char *bench_base(void);

/*
 * The folder of the bench that `word` names: an id, or its beginning when
 * only one begins so.  -1 with err (ERR_NODATA).
 */
int bench_find(const char *word, char id[FOLDER_ID_SIZE], char path[FOLDER_PATH_SIZE],
	       struct err *err) __attribute__((warn_unused_result));

/* The plan that a results folder keeps. */
int bench_load_plan(struct plan *plan, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* Is the bench of that id over?  Then its pods stop, else it is aborted. */
bool bench_is_over(const char *id);

/*
 * Pods that a bench which is over has left up (on_end "ask"): "p1 (2.00 USD
 * an hour), p2", owned; NULL: none, or the bench still runs.
 */
char *bench_still_up(const struct plan *plan, const char *path);
/* They were stopped: nothing is left to ask. */
int bench_note_stopped(const char *path, struct err *err) __attribute__((warn_unused_result));
