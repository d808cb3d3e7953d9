/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* The colours that a log requests (SGR, ECMA-48 8.3.117, with the 256 colours and direct colours of
 * ISO 8613-6), reduced to a theme's inks. Backgrounds and all that is not listed are dropped. */
#define LOGSGR_INKS(X)                                           \
	X(LOGSGR_NONE) /* no colour requested */                 \
	X(LOGSGR_TEXT) /* black and white: the colour of text */ \
	X(LOGSGR_GREY)                                           \
	X(LOGSGR_RED)                                            \
	X(LOGSGR_GREEN)                                          \
	X(LOGSGR_YELLOW)                                         \
	X(LOGSGR_BLUE)                                           \
	X(LOGSGR_MAGENTA)                                        \
	X(LOGSGR_CYAN)                                           \
	X(LOGSGR_BRIGHT_RED)                                     \
	X(LOGSGR_BRIGHT_GREEN)                                   \
	X(LOGSGR_BRIGHT_YELLOW)                                  \
	X(LOGSGR_BRIGHT_BLUE)                                    \
	X(LOGSGR_BRIGHT_MAGENTA)                                 \
	X(LOGSGR_BRIGHT_CYAN)

enum logsgr_ink { LOGSGR_INKS(LIST_ID) LOGSGR_INK_COUNT };

/* A look is an ink and these flags; a line starts with look 0. */
#define LOGSGR_INK_MASK 0x0FU
#define LOGSGR_BOLD	0x10U
#define LOGSGR_FAINT	0x20U
#define LOGSGR_REVERSE	0x40U

/* A look that applies from this byte on, up to the next run. */
struct logsgr_run {
	uint32_t at;
	uint8_t look;
};

/* After this many runs, the rest of a line has look 0. */
#define LOGSGR_MAX_RUNS 65536U

struct logsgr_runs {
	struct logsgr_run *v; /* owned; ascending */
	size_t n, cap;
};

void logsgr_runs_init(struct logsgr_runs *runs);
void logsgr_runs_release(struct logsgr_runs *runs);
/* Return how many runs start at or before a byte; the last of them contains it. */
size_t logsgr_runs_upto(const struct logsgr_runs *runs, size_t at);

/* Append what a terminal would show of a raw line: no escape sequences, only the last state of a
 * bar. All other bytes are kept, so the text is not safe for a terminal. */
void logtext_visible(struct buf *out, struct str raw);
/* Append a line ready to be shown: sanitised, with tab stops every eight columns, cut at about
 * `columns` columns. runs (may be NULL) is replaced by the looks that the line requests, counted
 * from the old end of out; a progress bar keeps the look of what it overwrote. */
void logtext_show(struct buf *out, struct str raw, size_t columns, struct logsgr_runs *runs);
/* Can the block be shown unchanged, with no escape sequences or lone CRs in any line? */
bool logtext_is_plain(struct str block);
