/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/*
 * The colours that a log asks a terminal for (SGR, ECMA-48 8.3.117, with the
 * 256 colours and direct colours of ISO 8613-6), reduced to what a theme has
 * inks for.  Backgrounds and all that is not listed here are dropped.
 */
#define LOGSGR_INKS(X)                                \
	X(NONE) /* none was asked for */              \
	X(TEXT) /* black and white: the text's own */ \
	X(GREY)                                       \
	X(RED)                                        \
	X(GREEN)                                      \
	X(YELLOW)                                     \
	X(BLUE)                                       \
	X(MAGENTA)                                    \
	X(CYAN)                                       \
	X(BRIGHT_RED)                                 \
	X(BRIGHT_GREEN)                               \
	X(BRIGHT_YELLOW)                              \
	X(BRIGHT_BLUE)                                \
	X(BRIGHT_MAGENTA)                             \
	X(BRIGHT_CYAN)

enum logsgr_ink {
#define X(id) LOGSGR_##id,
	LOGSGR_INKS(X)
#undef X
		LOGSGR_INK_COUNT
};

/* A look is an ink and some of these; 0 is that of a line's begin. */
#define LOGSGR_INK_MASK 0x0FU
#define LOGSGR_BOLD	0x10U
#define LOGSGR_FAINT	0x20U
#define LOGSGR_REVERSE	0x40U

/* A text's looks, each from a byte on up to where the next one begins. */
struct logsgr_run {
	uint32_t at;
	uint8_t look;
};

/* Behind so many the rest of a line has no look of its own. */
#define LOGSGR_MAX_RUNS 65536U

struct logsgr_runs {
	struct logsgr_run *v; /* owned; ascending */
	size_t n, cap;
};

void logsgr_runs_init(struct logsgr_runs *runs);
void logsgr_runs_release(struct logsgr_runs *runs);
/* How many runs begin at or before a byte: the last of them holds it. */
size_t logsgr_runs_upto(const struct logsgr_runs *runs, size_t at);

/* What of a log's raw bytes a terminal would still show. */

/*
 * Append what is left of a raw line: escape sequences out, and of a progress
 * bar, which writes over itself behind each CR, what it wrote last.  Bytes
 * are else as they are: nothing for a terminal yet.
 */
void logtext_visible(struct buf *out, struct str raw);
/*
 * Append it so that it can be shown: utf8_sanitize'd, tabs to the next of
 * every eight columns; at most about `columns` columns of it, the rest is
 * left out.  runs: replaced by the looks that the line asks for, their places
 * counted from where out was; a progress bar keeps those of what it wrote over.
 * NULL: nobody asks.
 */
void logtext_show(struct buf *out, struct str raw, size_t columns, struct logsgr_runs *runs);
/* Whether a block of lines is all visible as it is: no escape, no lone CR. */
bool logtext_is_plain(struct str block);
