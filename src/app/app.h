/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* The dashboard: a model, the screen that shows it, and the event loop.  The demonstration, logs
 * on the command line and configured pods are different sources of the same dashboard. */
struct command;
struct ui;

/* Functions that fill the model; each may be NULL. */
struct app_source {
	int (*start)(void *user, struct loop *loop, struct ui *ui, struct err *err);
	/* Called about five times per second; returns true to be called again at once. */
	bool (*poll)(void *user);
	/* Is the user waiting for a result that will arrive soon? */
	bool (*busy)(void *user);
	/* Stop what start started; called after the loop has ended. */
	int (*stop)(void *user, struct err *err);
	/* Advance the time of the source (for scripts). */
	void (*advance)(void *user, int64_t ms);
	void (*reconnect)(void *user, size_t pod);
	int (*check)(void *user, size_t pod, struct err *err);
	/* Pass on the user's answer to ui_ask; NULL if the user refused. */
	void (*answer)(void *user, size_t pod, const char *answer);
	/* Read the configuration again into the context; -1 with err leaves it unchanged. */
	int (*reload)(void *user, char said[200], struct err *err);
	/* Write the bench plan for a command; returns its path, owned, or NULL with err. */
	char *(*plan)(void *user, const struct command *command, struct err *err);
	void *user;
	bool ends_benches; /* benches started here end with the dashboard */
};

struct app_setup {
	struct context *context; /* its configuration may be empty */
	struct model *model;
	const struct track *track;
	const struct clock *clock; /* time that the screen shows */
	struct app_source source;
	const char *state_path; /* file for the state of alerts; NULL: keep nothing */
};

/* Run on the terminal until the user quits; 0, 128 + the signal that ended it, or -1 with err. */
int app_run(const struct app_setup *setup, struct err *err) MUST_USE;

/* Parse a size of the screen, "80x24". */
int app_parse_size(struct str text, int size[2], struct err *err) MUST_USE;

/*
 * Run without a terminal: play a script (NULL: none), and print the last screen to out if the
 * script saved none.  The script has one command per line:
 *
 *	wait SECONDS	key NAME...	type TEXT	size WxH
 *	save FILE	save the screen as text (FILE -: out)
 *	styles FILE	save the styles of the cells instead
 */
int app_script(const struct app_setup *setup, const char *script, const int size[2], FILE *out,
	       struct err *err) MUST_USE;
