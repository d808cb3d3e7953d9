/* SPDX-License-Identifier: MIT */
#pragma once

#include "report/facts.h"
#include "ui/plot.h"
#include "ui/view.h"

/* Parts of the screen that several views show. */

/* How a run stands, in a symbol, some words and a style. */
struct run_state {
	const char *symbol; /* one character */
	char text[160];
	enum fact_style style;
};

struct run_state run_state_of(const struct ui_shared *shared, const struct model_run *mr);

/* The selected run against the caps, and what it will end at. */
void panel_budget(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The last lines of the selected run's log. */
void panel_log(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The style of a line of a log. */
unsigned int panel_line_style(enum line_class class);
/* The look of an event, by its enum model_severity. */
extern const enum fact_style panel_severities[];
/* The newest alerts and events. */
void panel_events(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* A line a pod. */
void panel_pods(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* Lines of advice in the middle of an empty place. */
void panel_empty(struct canvas *canvas, struct rect rect, const char *text);

/*
 * A list of facts from the top of *rest on, which loses the lines that they
 * take: its labels `columns` wide in that style, its values cut to a line or,
 * with `fold`, over several.  A table's first column takes what the others,
 * which are numbers, leave.
 */
struct panel_facts {
	int columns;
	unsigned int label;
	bool fold;
};
void panel_facts(struct canvas *canvas, struct rect *rest, const struct facts *facts,
		 const struct panel_facts *how);
/* The same one after another, as many as a line takes. */
void panel_facts_flow(struct canvas *canvas, struct rect rect, const struct facts *facts);

/* A pod's symbol and style by the state of its link. */
const char *panel_pod_symbol(const struct model_pod *pod, enum fact_style *style);
