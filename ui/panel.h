/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_PANEL_H
#define HGYM_UI_PANEL_H

#include "ui/fmt.h"
#include "ui/plot.h"
#include "ui/table.h"
#include "ui/view.h"

/* Parts of the screen that several views show. */

/* How a run stands, in a symbol, some words and a style. */
struct run_state {
	uint32_t symbol;
	char text[64];
	unsigned int style;
};

void run_state_of(const struct ui_shared *shared, const struct model_run *mr,
		  struct run_state *state);

/* A cap as a bar: "train ####.... 374.0 / 600 s". */
struct gauge {
	const char *name, *unit;
	double value, cap; /* absent: unknown */
	int decimals;
};

/* Returns the column behind it. */
int panel_gauge(struct canvas *canvas, struct rect rect,
		const struct gauge *gauge);

/* The selected run against the caps, and what it will end at. */
void panel_budget(struct ui_shared *shared, struct canvas *canvas,
		  struct rect rect);
/* The last lines of the selected run's log. */
void panel_log(struct ui_shared *shared, struct canvas *canvas,
	       struct rect rect);
/* The style of a line of a log. */
unsigned int panel_line_style(enum line_class class);
/* The newest alerts and events. */
void panel_events(struct ui_shared *shared, struct canvas *canvas,
		  struct rect rect);
/* A line a pod. */
void panel_pods(struct ui_shared *shared, struct canvas *canvas,
		struct rect rect);
/* A box with a title; returns the inside. */
struct rect panel_box(struct canvas *canvas, struct rect rect,
		      const char *title);
/* Lines of advice in the middle of an empty place; ends with NULL. */
void panel_empty(struct canvas *canvas, struct rect rect,
		 const char *const *lines);

/* A pod's symbol and style by the state of its link. */
uint32_t panel_pod_symbol(const struct model_pod *pod, unsigned int *style);
/* The last value of a pod's telemetry, or absent. */
double panel_pod_last(const struct model_pod *pod, enum metric metric);

#endif
