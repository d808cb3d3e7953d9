/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_BENCH_PLOT_H
#define HGYM_UI_BENCH_PLOT_H

#include "ui/view.h"

/* What bench_panel.c and bench_plot.c share; nobody else includes it. */

#define BENCH_LABEL_WIDTH 13

/* A place for numbers from lo to hi. */
struct bench_axis {
	int x, w;
	double lo, hi;
};

/* Where the panel is being drawn. */
struct bench_pen {
	const struct bench_live *live;
	struct canvas *canvas;
	struct rect rect;
	int y;
	struct bench_axis axis;
};

bool bench_has_room(const struct bench_pen *pen);
/* A line of text, where there is room. */
void bench_say(struct bench_pen *pen, unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The words left of a plot. */
void bench_label(struct bench_pen *pen, unsigned int style, const char *text);
unsigned int bench_arm_style(const struct bench_live *live, size_t arm);

/* All runs on one axis of the metric. */
void bench_plot_runs(struct bench_pen *pen);
/* Blocks and intervals of each arm against zero and the margin. */
void bench_plot_differences(struct bench_pen *pen);

#endif
