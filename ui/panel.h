/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/plot.h"

/* Parts of the screen that several views use. */

/* The state of a run as a symbol, a few words and a style. */
struct run_state {
	const char *symbol; /* one character */
	char text[160];
	enum fact_style style;
};

struct run_state run_state_of(const struct ui_shared *shared, const struct model_run *mr);

/* The selected run's use of the caps, and its forecast. */
void panel_budget(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The last lines of the selected run's log. */
void panel_log(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The style of a line of a log. */
unsigned int panel_line_style(enum line_class class);
/* The style of an event, by enum model_severity. */
extern const enum fact_style panel_severities[];
/* The newest alerts and events. */
void panel_events(const struct ui_shared *shared, struct canvas *canvas, struct rect rect);
/* The list of pods, one row per pod of the model; its user is the struct ui_shared. */
extern const struct list_ops panel_pods_ops;
/* Centered text for an empty view. */
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

/* A pod's symbol and style by the state of its connection. */
const char *panel_pod_symbol(const struct model_pod *pod, enum fact_style *style);
