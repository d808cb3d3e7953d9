/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* A request of a view to act on a pod, a file or the terminal; the application executes it. */
enum command_id {
	COMMAND_NONE,
	COMMAND_COPY,	/* copy text to the clipboard */
	COMMAND_EXPORT, /* write text to the file `name` */
	COMMAND_LEARN,	/* learn rules for log `name` from the first line of text and its neighbors
			 */
	COMMAND_ANSWER, /* answer a question of the pod with text; NULL refuses */
	COMMAND_RECONNECT, /* connect to the pod now */
	COMMAND_CHECK,	   /* check whether the pod is ready for a run */
	COMMAND_EDIT,	   /* open the file `name`, at `line`, in the user's editor or pager */
	COMMAND_INIT,	   /* add a pod to the configuration */
	COMMAND_OPTION,	   /* set the option `name` ("ui.theme") to `text` in the configuration */

	/* The user must confirm each of the following, and --read-only disables them. */
	COMMAND_SHELL, /* open a shell on the pod */
	COMMAND_ACTING = COMMAND_SHELL,
	COMMAND_POD_STOP,    /* run the pod's stop_cmd */
	COMMAND_BENCH_START, /* run plan `name` */
	COMMAND_BENCH_STOP,  /* stop bench `name` */
	COMMAND_BENCH_PICK,  /* let the user choose a plan for the pods `text` (frame only) */
	COMMAND_BENCH_ARMS,  /* let the user choose _RUN or _SETTINGS (frame only) */

	/* Benches whose plan the program writes. */
	COMMAND_BENCH_AUDIT, /* audit pods `text` with the control of plan `name` or the probe */
	COMMAND_BENCH_PODS,  /* run plan `name` on the pods `text` */
	COMMAND_BENCH_FORM,  /* run the bench in the form `text` (JSON) */
	COMMAND_BENCH_RUN, /* checkpoint of HarnessGym run `text` (if "": trials) at place `name` */
	COMMAND_BENCH_SETTINGS, /* launch settings of the kernels of that run */
};

struct command {
	enum command_id id;
	size_t pod;
	char *text;    /* owned; several pods are separated by commas or newlines */
	char *name;    /* owned */
	uint64_t line; /* 0: unknown */
	bool is_cut;   /* text was truncated */
	bool over;     /* overwrite an existing file */
};

struct command_sink {
	/* Execute the command: 0 with a message for the status line in said, or -1 with err. */
	int (*execute)(void *user, const struct command *command, char said[200], struct err *err);
	/* Describe what would run, for the question to the user; owned by the caller. NULL without
	 * err if no question is needed; NULL with err if the command cannot run. */
	char *(*preview)(void *user, const struct command *command, struct err *err);
	void *user;
};
