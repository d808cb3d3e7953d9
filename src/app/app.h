/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "context.h"
#include "loop/loop.h"
#include "model/model.h"
#include "model/track.h"

/*
 * The dashboard: a model that someone fills, the screen over it, and the loop
 * that drives both.  The demonstration, logs on the command line and the
 * configured pods differ in their source alone.
 */
struct command;
struct ui;

struct app_source {
	/* Begin to fill the model; NULL: nothing to begin. */
	int (*start)(void *user, struct loop *loop, struct ui *ui, struct err *err);
	/* Called about five times a second; true: call again at once. */
	bool (*poll)(void *user);
	/* Something that was asked for is about to come; may be NULL. */
	bool (*busy)(void *user);
	/* Stop what start began, behind the end of the loop. */
	int (*stop)(void *user, struct err *err);
	/* Let so many milliseconds of the source's time pass (scripts). */
	void (*advance)(void *user, int64_t ms);
	/* Try the link of a pod now; NULL: there are no links. */
	void (*reconnect)(void *user, size_t pod);
	/* Begin the preflight of a pod; NULL: there is none to be had. */
	int (*check)(void *user, size_t pod, struct err *err);
	/* The answer to ui_ask; NULL: none. */
	void (*answer)(void *user, size_t pod, const char *answer);
	/*
	 * Read the configuration again into the context; -1 with err and
	 * nothing changed when it is broken.  NULL: there is none.
	 */
	int (*reload)(void *user, char said[200], struct err *err);
	/*
	 * Write the definition that a command asks for to a file; its path,
	 * given.  NULL with err; NULL itself: nothing is made here.
	 */
	char *(*plan)(void *user, const struct command *command, struct err *err);
	void *user;
	bool ends_benches; /* those that it started end with it */
};

struct app_setup {
	struct context *context; /* its configuration may be empty */
	struct model *model;
	const struct track *track;
	const struct clock *clock; /* what the screen shows as the time */
	struct app_source source;
	const char *state_path; /* of alerts; NULL: nothing is kept */
};

/*
 * Run on the terminal until the user leaves; 0, or 128 + the number of the
 * signal that ended it, or -1 with err.
 */
int app_run(const struct app_setup *setup, struct err *err) __attribute__((warn_unused_result));

/* A size of the screen, "80x24". */
int app_parse_size(struct str text, int size[2], struct err *err)
	__attribute__((warn_unused_result));

/*
 * Without a terminal: play a script (NULL: none), print the last screen to
 * out when it saved none.  One command a line:
 *
 *	wait SECONDS	key NAME...	type TEXT	size WxH
 *	save FILE	(- is out)
 *	styles FILE	the styles of its cells
 */
int app_script(const struct app_setup *setup, const char *script, const int size[2], FILE *out,
	       struct err *err) __attribute__((warn_unused_result));
