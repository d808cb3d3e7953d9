/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/theme_list.h"
#include "report/facts.h"

/*
 * Named styles: attributes, and for each theme a color for terminals with 256 colors and one for
 * terminals with 16; -1 is the terminal's default. Color is never the only difference: without it,
 * attributes and signs remain. Better and worse are blue and orange. Colors of the series, of the
 * reference and of states stay distinct for color-blind people; t-theme checks how well. INK_
 * styles replace the colors of a log (model/logtext.h) by readable ones.
 *
 *	id, attributes, dark (256, 16), light (256, 16), contrast (256, 16)
 */
#define STYLE_LIST(X)                                                \
	X(NORMAL, 0, -1, -1, -1, -1, -1, -1)                         \
	X(DIM, 0, 245, 8, 242, 8, 250, 7)                            \
	X(STRONG, STYLE_BOLD, -1, -1, -1, -1, 231, 15)               \
	X(BORDER, 0, 240, 8, 246, 8, 248, 7)                         \
	X(TITLE, STYLE_BOLD, 74, 6, 24, 4, 123, 14)                  \
	X(HEADER, STYLE_BOLD, 250, 7, 238, 0, 231, 15)               \
	X(KEY, STYLE_BOLD, 214, 3, 88, 1, 226, 11)                   \
	X(HINT, 0, 245, 7, 240, 8, 255, 15)                          \
	X(TAB, 0, 245, 7, 240, 8, 255, 15)                           \
	X(TAB_ON, STYLE_BOLD | STYLE_REVERSE, 74, 6, 24, 4, 123, 14) \
	X(LIVE, STYLE_BOLD, 74, 6, 24, 4, 123, 14)                   \
	X(DONE, 0, 36, 2, 23, 2, 121, 10)                            \
	X(SILENT, 0, 227, 3, 130, 5, 226, 11)                        \
	X(WARN, STYLE_BOLD, 214, 3, 130, 5, 226, 11)                 \
	X(ALARM, STYLE_BOLD, 203, 9, 88, 1, 210, 9)                  \
	X(BETTER, 0, 74, 12, 24, 4, 123, 14)                         \
	X(WORSE, 0, 214, 3, 130, 5, 220, 11)                         \
	X(REFERENCE, 0, 225, 5, 161, 6, 206, 13)                     \
	X(GAUGE, 0, 74, 6, 24, 4, 123, 14)                           \
	X(GAUGE_OVER, STYLE_BOLD, 203, 9, 88, 1, 210, 9)             \
	X(GAUGE_REST, 0, 238, 8, 250, 7, 247, 7)                     \
	X(LOG_METRIC, 0, -1, -1, -1, -1, -1, -1)                     \
	X(LOG_PLAIN, 0, 248, 7, 240, 8, 252, 7)                      \
	X(LOG_SOURCE, 0, 245, 8, 242, 8, 247, 7)                     \
	X(LOG_ERROR, STYLE_BOLD, 203, 9, 88, 1, 210, 9)              \
	X(LOG_WARNING, 0, 214, 3, 130, 5, 226, 11)                   \
	X(MATCH, STYLE_REVERSE, 227, 11, 130, 5, 226, 11)            \
	X(AXIS, 0, 242, 8, 244, 8, 250, 7)                           \
	X(SERIES_1, 0, 74, 14, 24, 4, 75, 14)                        \
	X(SERIES_2, 0, 214, 3, 130, 1, 172, 11)                      \
	X(SERIES_3, 0, 35, 10, 62, 5, 71, 10)                        \
	X(SERIES_4, 0, 96, 13, 88, 2, 182, 13)                       \
	X(SERIES_5, 0, 227, 11, 21, 6, 226, 15)                      \
	X(SERIES_6, 0, 166, 9, 237, 3, 229, 9)                       \
	X(SERIES_7, 0, 32, 12, 17, 8, 185, 12)                       \
	X(SERIES_8, 0, 250, 7, 16, 0, 254, 7)                        \
	X(INK_RED, 0, 167, 1, 124, 1, 210, 9)                        \
	X(INK_GREEN, 0, 71, 2, 22, 2, 114, 10)                       \
	X(INK_YELLOW, 0, 178, 3, 94, 3, 220, 11)                     \
	X(INK_BLUE, 0, 69, 12, 19, 4, 111, 12)                       \
	X(INK_MAGENTA, 0, 170, 5, 90, 5, 213, 13)                    \
	X(INK_CYAN, 0, 37, 6, 23, 6, 80, 14)                         \
	X(INK_BRIGHT_RED, 0, 203, 9, 160, 1, 217, 9)                 \
	X(INK_BRIGHT_GREEN, 0, 120, 10, 28, 2, 120, 10)              \
	X(INK_BRIGHT_YELLOW, 0, 227, 11, 130, 3, 228, 11)            \
	X(INK_BRIGHT_BLUE, 0, 111, 12, 26, 4, 153, 12)               \
	X(INK_BRIGHT_MAGENTA, 0, 213, 13, 127, 5, 219, 13)           \
	X(INK_BRIGHT_CYAN, 0, 123, 14, 24, 6, 123, 14)

#define STYLE_ID(id, ...) STYLE_##id,
enum style { STYLE_LIST(STYLE_ID) STYLE_COUNT };

/* A cell's style is an enum style, and these bits are added to it. */
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

#define THEME_ID(id, name, help) THEME_##id,
enum theme { THEME_LIST(THEME_ID) THEME_COUNT };

const char *theme_name(enum theme theme);
/* Find a theme by its name; -1 with err if the name is unknown. */
int theme_by_name(const char *name, enum theme *theme, struct err *err) MUST_USE;

/* Return the colors and attributes of a style in a theme; static. */
const struct theme_style *theme_style(enum theme theme, unsigned int style);

/* Return the style of a difference: better if it is negative, dim if it is absent. */
unsigned int theme_delta(double value);
unsigned int theme_fact(enum fact_style style);
/* Return the style of the i-th series of a chart. After STYLE_SERIES_COUNT, styles repeat. */
unsigned int theme_series(unsigned int i);
