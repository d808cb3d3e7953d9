/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/keymap.h"
#include "ui/canvas.h"
#include "ui/theme.h"

/*
 * The terminal: cells out, keys in.  The implementation is the one file that
 * knows curses.  There is one terminal; after term_open it is restored by
 * term_close, by term_restore (also from a signal handler), and at exit.
 */
struct term;

struct term_options {
	int colors; /* 256, 16, 0; -1: as many as the terminal has */
	bool ascii; /* show every character as ASCII */
	bool mouse;
	bool sync;   /* use synchronized output where the terminal has it */
	bool remote; /* over SSH: wait longer for the rest of a key */
	enum theme theme;
	int escape_delay_ms; /* from Esc to the rest of a key; 0: by remote */
};

/* Options by TERM, NO_COLOR, SSH_TTY, the locale; then change them. */
void term_options_init(struct term_options *options);

/* Whether the dashboard can be drawn on what TERM names; else err says why. */
bool term_fits(struct err *err);

struct term *term_open(const struct term_options *options, struct err *err)
	__attribute__((warn_unused_result));
void term_close(struct term *term);

/* Take over other options; ascii and sync stay. */
void term_configure(struct term *term, const struct term_options *options);

/* Whether it shows colours now. */
bool term_has_colors(const struct term *term);

/* To watch for reading. */
int term_fd(const struct term *term);
/*
 * Nothing here waits for a terminal that takes no output: what it does not
 * take stays with us, term_has_pending until term_flush, when this descriptor can be
 * written to, says that all is out.
 */
int term_out_fd(const struct term *term);
bool term_flush(struct term *term);
bool term_has_pending(const struct term *term);
/* The size as the kernel knows it, at most CANVAS_MAX_SIDE. */
void term_size(const struct term *term, int *width, int *height);
/* Take over a new size. */
void term_resize(struct term *term);

/*
 * The size of a cell in pixels where the terminal shows pictures; 0, 0 as long
 * as it is not known whether it does.  It is asked by the first call, and
 * answers among the keys; nothing waits for it.  false: it shows none, or did
 * not answer.
 */
bool term_pixels(struct term *term, int *w, int *h);

/*
 * Show the canvas (of the terminal's size): only cells that differ from the
 * last frame are touched.  The cursor is at (x, y), hidden when x < 0.  While
 * term_has_pending, do not: the newest state is worth more than all in between.
 */
void term_present(struct term *term, const struct canvas *canvas, int x, int y);
/* The next frame draws every cell. */
void term_repaint(struct term *term);

/* A key that waits; false when there is none. */
bool term_read(struct term *term, struct key *key);
/* The terminal is gone (end of file on its descriptor). */
bool term_is_gone(const struct term *term);

void term_mouse(struct term *term, bool on);
/* One that waits is enough. */
void term_bell(struct term *term);
/*
 * Bytes for the terminal itself, as ui/osc.h makes them, behind what waits;
 * false, and nothing is written, when too much does.
 */
bool term_write(struct term *term, const void *data, size_t len);
/* Give the terminal to the shell until the program is continued. */
void term_suspend(struct term *term);
/*
 * After a stop that nobody here asked for, a shell may have changed the
 * terminal's modes: set ours, and have every cell drawn.
 */
void term_resume(struct term *term);
/* Give it to another program; write nothing until term_return. */
void term_leave(struct term *term);
void term_return(struct term *term);

/*
 * Make the terminal sane with write and tcsetattr alone: safe in a signal
 * handler and before an abort; does nothing when no terminal is open.
 */
void term_restore(void);
