/* SPDX-License-Identifier: MIT */
#pragma once

#include "app/app.h"
#include "board/input.h"
#include "ui/theme.h"
#include "ui/ui.h"

/* The parts that every dashboard has, with or without a terminal. */
struct app_parts {
	const struct app_setup *setup;
	struct ui *ui;
	struct alerts alerts;
	struct ui_baseline baseline;
	struct board_input groups; /* names the groups of runs */
	bool ascii;
	/* NULL without a terminal. shell runs a command on the pod, or an interactive shell if
	 * command is NULL; without a pod, the command on this machine, or `hgym-tui init`. */
	void (*on_alert)(void *user, const struct alert *alert, const char *text);
	int (*copy)(void *user, const char *text, struct err *err);
	int (*shell)(void *user, const struct conf_pod *pod, const char *command, struct err *err);
	void *user;
	struct app_bench *bench; /* borrowed; NULL without a terminal */
	int64_t alerts_at_ms;
	enum theme theme; /* chosen by key if theme_chosen */
	bool theme_chosen;
	char *conf_path; /* owned; configuration file, which may not exist */
	char *made;	 /* owned; plan or rules that the last preview made */
	char said[200];	 /* message of the last command; may be empty */
};

/* -1 with err if the configuration has an unknown key binding or invalid groups. */
int app_parts_init(struct app_parts *parts, const struct app_setup *setup, bool ascii,
		   struct err *err) MUST_USE;
/* Apply a changed configuration. */
void app_parts_configure(struct app_parts *parts);
/* Save the state and free the parts. */
void app_parts_release(struct app_parts *parts);

/* Use the track of ui_shared.track_choice. */
void app_parts_use_track(struct app_parts *parts);

/* Update alerts and screen after the model changed or time passed; mono_ms paces the screen. */
void app_parts_update(struct app_parts *parts, int64_t mono_ms);
