/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"
#include "ui/canvas.h"
#include "ui/theme.h"

/* The terminal: shows cells, reads keys.  Only its implementation knows curses.  There is one
 * terminal; after term_open it is restored by term_close, and by a handler when a signal ends the
 * program, or when memory runs out. */
struct term;

struct term_options {
	int colors; /* 256, 16, 0; -1: as many as the terminal has */
	bool ascii; /* show every character as ASCII */
	bool mouse;
	bool sync;   /* use synchronized output if the terminal has it */
	bool remote; /* over SSH: wait longer for the rest of a key */
	enum theme theme;
	int escape_delay_ms; /* between Esc and the rest of a key; 0: chosen by remote */
};

/* Defaults from TERM, NO_COLOR, SSH_TTY and the locale. */
void term_options_init(struct term_options *options);

/* Can the dashboard be drawn on the terminal that TERM names?  If not, err has the reason. */
bool term_fits(struct err *err);

struct term *term_open(const struct term_options *options, struct err *err) MUST_USE;
void term_close(struct term *term);

/* Apply other options, except ascii and sync. */
void term_configure(struct term *term, const struct term_options *options);

bool term_has_colors(const struct term *term);

/* Keys come from standard input. Output never blocks: what the terminal does not accept is queued.
 * While term_has_pending, watch term_out_fd for writing and call term_flush, which returns true
 * when the queue is empty. */
int term_out_fd(const struct term *term);
bool term_flush(struct term *term);
bool term_has_pending(const struct term *term);
/* Size according to the kernel, at most CANVAS_MAX_SIDE. */
void term_size(const struct term *term, int *width, int *height);
/* Adopt a new size. */
void term_resize(struct term *term);

/* Size of a cell in pixels, if the terminal shows pictures.  The first call asks the terminal;
 * until its answer has arrived among the keys, the size is 0, 0.  False if it shows no pictures or
 * did not answer in time. */
bool term_pixels(struct term *term, int *w, int *h);

/* Show the canvas, which has the terminal's size; only cells that changed are written.  The cursor
 * is at (x, y), hidden if x < 0.  Do not call it while term_has_pending: the newest frame is worth
 * more than those in between. */
void term_present(struct term *term, const struct canvas *canvas, int x, int y);
/* Draw every cell in the next frame. */
void term_repaint(struct term *term);

/* Read a key; false if none is waiting. */
bool term_read(struct term *term, struct key *key);
/* Has the terminal gone away (end of file)? */
bool term_is_gone(const struct term *term);

void term_mouse(struct term *term, bool on);
/* Ring the bell, unless an earlier one is still queued. */
void term_bell(struct term *term);
/* Write bytes for the terminal itself (ui/osc.h) after the queued output; false, and
 * nothing is written, if the queue is too long. */
bool term_write(struct term *term, const void *data, size_t len);
/* Return to the shell until the program is continued. */
void term_suspend(struct term *term);
/* After a stop by another process: if the shell changed the terminal's modes, restore ours. */
void term_resume(struct term *term);
/* Lend the terminal to another program; write nothing until term_return. */
void term_leave(struct term *term);
void term_return(struct term *term);
