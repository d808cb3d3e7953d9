/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "bench/folder.h"
#include "bench/judge.h"
#include "bench/plan.h"
#include "bench/verdict_json.h"
#include "conf/conf.h"
#include "loop/loop.h"
#include "parsers/format.h"
#include "transport.h"

/*
 * A bench under way.  Every run is a job of its own on the pod, so all that
 * is known lies there and in the results folder: a session that is dropped
 * at any point is taken up again by a new one on the same folder.
 */
struct session;

enum session_end {
	SESSION_DONE,	/* judged; verdict.json is written */
	SESSION_FAILED, /* no pod could go on; err says why */
	SESSION_LEFT,	/* left by session_leave: jobs go on */
};

struct session_cb {
	/* Something worth a line happened; plain text, sanitised. */
	void (*on_note)(void *user, const char *line);
	/* Once, last. */
	void (*on_end)(void *user, enum session_end end, const struct err *err);
	void *user;
};

enum session_mode {
	SESSION_RUN,   /* go on to the end */
	SESSION_ABORT, /* end what runs, prove it, judge what there is */
	SESSION_CLEAN, /* remove what the bench left on its pods */
	SESSION_STOP,  /* run the pods' stop commands */
};

/* What a session works with; all borrowed for its life. */
struct session_setup {
	struct loop *loop;
	struct transport *transport; /* pod i is plan->pods[i] */
	const struct plan *plan;
	const struct conf_pod *pods; /* the same; NULL: none is driven */
	const struct format_set *formats;
	const char *id;	  /* of the bench */
	const char *path; /* its results folder */
	enum session_mode mode;
	/* Sets the rule's register_sd and _df before it is judged; NULL: none.
	 */
	void (*noise)(void *user, struct judge_rule *rule);
	void *noise_user;
};

/* Begin, or go on where the folder says; calls come from the loop. */
struct session *session_new(const struct session_setup *setup, const struct session_cb *cb);
/* No command may be in flight: free the transport first. */
void session_free(struct session *session);

/* Stop driving; what runs on the pods goes on.  on_end follows. */
void session_leave(struct session *session);

/*
 * Judge what a folder holds, without pods: its verdict.json as a tree that the
 * caller frees, or written anew with summary.json and each steps.csv.
 */
cJSON *session_verdict(const struct session_setup *setup);
int session_judge_folder(const struct session_setup *setup, struct err *err)
	__attribute__((warn_unused_result));
