/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * What a view asks of the program beyond drawing: whatever acts on a pod, a
 * file or the terminal.  Filled by a view, executed by the application.
 */
enum command_id {
	COMMAND_NONE,
	COMMAND_COPY,			/* text to the clipboard */
	COMMAND_EXPORT,			/* write text to the file `name` */
	COMMAND_LEARN,			/* rules of a line and those around it: text;
					   of the log `name`; after a yes */
	COMMAND_ANSWER,			/* of a pod's question; text NULL: no */
	COMMAND_RECONNECT,		/* the pod's link, now */
	COMMAND_CHECK,			/* the pod's preflight */
	COMMAND_SHELL,			/* a shell on the pod, after a yes */
	COMMAND_ACTING = COMMAND_SHELL, /* from here on: not read-only */
	COMMAND_POD_STOP,		/* the pod's stop_cmd, after a yes */
	COMMAND_BENCH_START,		/* the bench plan `name`, after a yes */
	COMMAND_BENCH_STOP,		/* the bench `name`, after a yes */
	COMMAND_BENCH_PICK,		/* which bench on the pods `text`; of the frame */
	COMMAND_BENCH_ARMS,		/* which of the two last ones; of the frame */
	/* Benches that the program defines itself, after a yes: */
	COMMAND_BENCH_AUDIT, /* pods `text`, of the plan `name` or the probe */
	COMMAND_BENCH_PODS,  /* the plan `name` on the pods `text` */
	COMMAND_BENCH_FORM,  /* as the form `text` (JSON) says */
	/* Of a HarnessGym run `text` ("": of trials) at place `name`. */
	COMMAND_BENCH_RUN,
	COMMAND_BENCH_SETTINGS, /* the same, of what its kernels were told */
};

struct command {
	enum command_id id;
	size_t pod;
	char *text;  /* owned, pods a line each; command_release frees it */
	char *name;  /* owned */
	bool is_cut; /* text: there was more than fits */
	bool over;   /* in place of the file that is there */
};

void command_release(struct command *command);

struct command_sink {
	/*
	 * Execute; -1 with err, else a sentence for the status line in
	 * said[200].
	 */
	int (*execute)(void *user, const struct command *command, char said[200], struct err *err);
	/*
	 * The exact command that would run on a pod, for the question before
	 * it; NULL when none is needed, or with err when it cannot run.
	 * Given (caller frees).
	 */
	char *(*preview)(void *user, const struct command *command, struct err *err);
	void *user;
};
