/* SPDX-License-Identifier: MIT */
#pragma once

#include "app/app.h"
#include "board/input.h"
#include "model/alerts.h"
#include "ui/theme.h"
#include "ui/ui.h"

/* What a dashboard has with and without a terminal. */
struct app_parts {
	const struct app_setup *setup;
	struct ui *ui;
	struct alerts alerts;
	struct ui_baseline baseline;
	struct board_input groups; /* what names a run's group */
	bool ascii;
	/* Who is told of a new alert beside the event; NULL: nobody. */
	void (*on_alert)(void *user, const struct alert *alert, const char *text);
	/* Takes a copy for the clipboard; NULL: there is none. */
	int (*copy)(void *user, const char *text, struct err *err);
	/* Opens a shell on a pod, or runs that command there where it is not
	 * NULL; NULL: there is no terminal. */
	int (*shell)(void *user, const struct conf_pod *pod, const char *command, struct err *err);
	void *user;
	struct app_bench *bench; /* borrowed; NULL: there is no terminal */
	size_t track;		 /* which one a key chose; with track_chosen */
	bool track_chosen;
	int64_t alerts_at_ms;
	enum theme theme; /* the one that a key chose; with theme_chosen */
	bool theme_chosen;
	char *made; /* owned; definition of what is asked for now */
};

/* -1 with err for keys and charsets that do not exist. */
int app_parts_init(struct app_parts *parts, const struct app_setup *setup, bool ascii,
		   struct err *err) __attribute__((warn_unused_result));
/* Writes the state of the alerts, where it is kept. */
/* The configuration was replaced. */
void app_parts_configure(struct app_parts *parts);
void app_parts_release(struct app_parts *parts);

/* Hold runs to the next track: of the built-in, then of the configuration's. */
void app_parts_next_track(struct app_parts *parts);

/* After the model changed or time went by; mono_ms paces the screen. */
void app_parts_update(struct app_parts *parts, int64_t mono_ms);
