/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGPAGE_H
#define HGYM_UI_LOGPAGE_H

#include "ui/canvas.h"
#include "ui/logsrc.h"

/*
 * A screenful of a log: where it begins, how long lines are shown, and the
 * drawing of it.  It follows the end until it is scrolled away from it.
 */
struct logpage_row {
	uint64_t place;
	uint64_t row; /* of a wrapped line */
};

struct logpage {
	struct logsrc src;
	struct logpage_row top;
	bool left_end; /* does not follow */
	bool wrap;
	bool colors;	   /* a log's own are shown */
	int left;	   /* columns scrolled away */
	int width, height; /* of the text, as drawn last */
	int y;		   /* of its first row */
	uint64_t hit;	   /* place of the last hit */
	bool has_hit;
	const struct pattern *marked; /* borrowed; NULL: nothing is */
};

#define LOGPAGE_MAX_COLUMNS (1 << 21)

void logpage_init(struct logpage *page);
void logpage_release(struct logpage *page);
/* Say how much room there is, and go to the end when that is followed. */
void logpage_fit(struct logpage *page, struct rect rect);
void logpage_draw(struct logpage *page, struct canvas *canvas,
		  struct rect rect);

/* Scroll by so many rows; at the end following begins. */
void logpage_scroll(struct logpage *page, int rows);
/* Scroll by so many columns. */
void logpage_shift(struct logpage *page, int columns);
/* To the first line. */
void logpage_to_begin(struct logpage *page);
/* Bring a hit of `pattern` into view and keep it as the hit. */
void logpage_show_hit(struct logpage *page, uint64_t place,
		      const struct pattern *pattern);
/* Mark the line in a row of the screen as the hit; false: there is none. */
bool logpage_click(struct logpage *page, int y);
/* The line that a copy means: the hit, else the first or the last one. */
uint64_t logpage_current(struct logpage *page);

#endif
