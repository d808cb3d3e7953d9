/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/plot.h"

/* Parts of the screen that several views use. */

/* How the state of a run is shown. */
struct run_state {
	const char *symbol; /* one character */
	char text[160];
	enum fact_style style;
};

struct run_state run_state_of(const struct ui_shared *shared, const struct model_run *mr);

/* Draw how much of the caps the selected run has used, and its forecast. */
void panel_budget(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* Draw the last lines of the selected run's log. */
void panel_log(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* Return the style of a line of a log. */
unsigned int panel_line_style(enum line_class class);
/* Styles of events, indexed by enum model_severity. */
extern const enum fact_style panel_severities[];
/* Draw the newest alerts and events. */
void panel_events(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The list of pods, one row per pod of the model. Its user is a struct ui_shared. */
extern const struct list_ops panel_pods_ops;
/* Draw centered text into an empty view. */
void panel_empty(struct canvas *canvas, struct rect rect, const char *text);

/* Draw facts at the top of *rest and remove their lines from it. Labels are `columns` wide in the
 * style `label`. Values are cut to one line, or wrapped if `fold` is set. */
struct panel_facts {
	int columns;
	unsigned int label;
	bool fold;
};
void panel_facts(struct canvas *canvas, struct rect *rest, const struct facts *facts,
		 const struct panel_facts *how);
/* Draw facts one after another, as many per line as fit. */
void panel_facts_flow(struct canvas *canvas, struct rect rect, const struct facts *facts);

/* Return the symbol and style of a pod's connection state. */
const char *panel_pod_symbol(const struct model_pod *pod, enum fact_style *style);
