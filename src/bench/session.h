/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/verdict_json.h"
#include "conf/conf.h"
#include "loop/loop.h"
#include "transport.h"

/* A bench in progress. Every run is a separate job on its pod, and all state is there and in the
 * results folder: after an interruption at any point, a new session on the folder continues. */
struct session;

enum session_end {
	SESSION_DONE,	/* judged; verdict.json is written */
	SESSION_FAILED, /* no pod could continue; see err */
	SESSION_LEFT,	/* by session_leave: the jobs continue */
};

/* state.stopped of a bench whose first run had no value of the metric. */
#define SESSION_NO_VALUE "no_value"

struct session_cb {
	/* A message about the progress: sanitised plain text. */
	void (*on_note)(void *user, const char *line);
	/* Called once, as the last callback. */
	void (*on_end)(void *user, enum session_end end, const struct err *err);
	void *user;
};

enum session_mode {
	SESSION_RUN,   /* until the bench has ended */
	SESSION_ABORT, /* stop all jobs, check that none is left, judge the finished runs */
	SESSION_CLEAN, /* remove the files of the bench from its pods */
	SESSION_STOP,  /* run the stop commands of the pods */
};

/* The parts that a session works with; it borrows them for its lifetime. */
struct session_setup {
	struct loop *loop;
	struct transport *transport; /* pod i is plan->pods[i] */
	const struct plan *plan;
	const struct conf_pod *pods; /* how to reach these pods; NULL: only judge */
	const struct format_set *formats;
	const char *id;	  /* of the bench */
	const char *path; /* its results folder */
	enum session_mode mode;
	/* Sets register_sd and register_df of the rule before each judgement; NULL: none. */
	void (*noise)(void *user, struct judge_rule *rule);
	void *noise_user;
};

/* Start a bench, or continue it from its folder.  Callbacks come from the loop. */
struct session *session_new(const struct session_setup *setup, const struct session_cb *cb);
/* No command may be in flight: free the transport first. */
void session_free(struct session *session);

/* Detach: jobs on the pods continue.  on_end follows. */
void session_leave(struct session *session);

/* Judge a results folder without pods; returns its verdict.json, owned by the caller. */
cJSON *session_verdict(const struct session_setup *setup);
/* Judge a results folder, and write verdict.json, summary.json and each steps.csv to it. */
int session_judge_folder(const struct session_setup *setup, struct err *err) MUST_USE;
