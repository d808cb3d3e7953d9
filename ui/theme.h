/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_THEME_H
#define HGYM_UI_THEME_H

#include <stdint.h>

/*
 * Named styles.  Each has a colour of the 256, one of the 16 and attributes
 * that tell it apart without colours; -1 is the terminal's own colour.
 * Better and worse are blue and orange, and always a sign beside.  The
 * series are the eight colours of Okabe and Ito, safe for the colour-blind.
 *
 *	id		256	16	attributes
 */
#define STYLE_LIST(X)                                                          \
	X(NORMAL, -1, -1, 0)                                                   \
	X(DIM, 245, 8, 0)                                                      \
	X(STRONG, -1, -1, STYLE_BOLD)                                          \
	X(BORDER, 240, 8, 0)                                                   \
	X(TITLE, 74, 6, STYLE_BOLD)                                            \
	X(HEAD, 250, 7, STYLE_BOLD)                                            \
	X(KEY, 214, 3, STYLE_BOLD)                                             \
	X(HINT, 245, 7, 0)                                                     \
	X(TAB, 245, 7, 0)                                                      \
	X(TAB_ON, 74, 6, STYLE_BOLD | STYLE_REVERSE)                           \
	X(LIVE, 74, 6, STYLE_BOLD)                                             \
	X(DONE, 36, 2, 0)                                                      \
	X(SILENT, 227, 3, 0)                                                   \
	X(WARN, 214, 3, STYLE_BOLD)                                            \
	X(ALARM, 203, 9, STYLE_BOLD)                                           \
	X(BETTER, 74, 12, 0)                                                   \
	X(WORSE, 214, 3, 0)                                                    \
	X(REFERENCE, 175, 5, 0)                                                \
	X(GAUGE, 74, 6, 0)                                                     \
	X(GAUGE_OVER, 203, 9, STYLE_BOLD)                                      \
	X(GAUGE_REST, 238, 8, 0)                                               \
	X(LOG_METRIC, -1, -1, 0)                                               \
	X(LOG_PLAIN, 248, 7, 0)                                                \
	X(LOG_SOURCE, 240, 8, 0)                                               \
	X(LOG_ERROR, 203, 9, STYLE_BOLD)                                       \
	X(LOG_WARNING, 214, 3, 0)                                              \
	X(MATCH, 227, 11, STYLE_REVERSE)                                       \
	X(AXIS, 242, 8, 0)                                                     \
	X(SERIES_1, 74, 14, 0)                                                 \
	X(SERIES_2, 214, 3, 0)                                                 \
	X(SERIES_3, 36, 10, 0)                                                 \
	X(SERIES_4, 175, 13, 0)                                                \
	X(SERIES_5, 227, 11, 0)                                                \
	X(SERIES_6, 166, 9, 0)                                                 \
	X(SERIES_7, 32, 12, 0)                                                 \
	X(SERIES_8, 250, 7, 0)

enum style {
#define X(id, c256, c16, attributes) STYLE_##id,
	STYLE_LIST(X)
#undef X
		STYLE_COUNT
};

/* Added to a style in a cell. */
#define STYLE_MASK	0x00FFU
#define STYLE_BOLD	0x0100U
#define STYLE_REVERSE	0x0200U
#define STYLE_UNDERLINE 0x0400U

#define STYLE_SERIES_COUNT 8

struct theme_style {
	const char *name;
	short color256, color16;
	unsigned int attributes; /* STYLE_BOLD .. */
};

/* The row of a style; static. */
const struct theme_style *theme_style(unsigned int style);

/* The style of the i-th series of a chart; they repeat. */
unsigned int theme_series(unsigned int i);

#endif
