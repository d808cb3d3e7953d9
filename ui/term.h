/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"
#include "ui/canvas.h"
#include "ui/theme.h"

/* The terminal: shows cells and reads keys. Only its implementation uses curses. There is at most
 * one open terminal. term_close restores its modes, as do a fatal signal and a lack of memory. */
struct term;

struct term_options {
	int colors; /* 256, 16, 0; -1: as many as the terminal has */
	bool ascii; /* show every character as ASCII */
	bool mouse;
	bool sync;   /* use synchronized output if the terminal has it */
	bool remote; /* the terminal is reached over SSH: wait longer for the rest of a key */
	enum theme theme;
	int escape_delay_ms; /* wait this long after Esc for the rest of a key; 0: default */
};

/* Set defaults from TERM, NO_COLOR, SSH_TTY and the locale. */
void term_options_init(struct term_options *options);

/* Can the dashboard be drawn on the terminal that TERM names?  If not, err has the reason. */
bool term_fits(struct err *err);

struct term *term_open(const struct term_options *options, struct err *err) MUST_USE;
void term_close(struct term *term);

/* Apply changed options, except ascii and sync. */
void term_configure(struct term *term, const struct term_options *options);

bool term_has_colors(const struct term *term);

/* Output never blocks: bytes that the terminal does not accept are queued. While term_has_pending,
 * watch term_out_fd for writing and call term_flush, which returns true when the queue is empty. */
int term_out_fd(const struct term *term);
bool term_flush(struct term *term);
bool term_has_pending(const struct term *term);
/* Get the size from the kernel; each side is at most CANVAS_MAX_SIDE. */
void term_size(const struct term *term, int *width, int *height);
/* Use the new size of the terminal. */
void term_resize(struct term *term);

/* Get the size of a cell in pixels. The first call asks the terminal; the size is 0, 0 until its
 * answer arrives between the keys. False without pictures, or without an answer in time. */
bool term_pixels(struct term *term, int *w, int *h);

/* Show the canvas, which must have the terminal's size; only changed cells are written. The cursor
 * is at (x, y), hidden if x < 0. While term_has_pending, wait, then show the newest frame. */
void term_present(struct term *term, const struct canvas *canvas, int x, int y);
/* Draw every cell in the next frame. */
void term_repaint(struct term *term);

/* Read a key; false if none is waiting. */
bool term_read(struct term *term, struct key *key);
/* Was the terminal closed (end of file)? */
bool term_is_gone(const struct term *term);

void term_mouse(struct term *term, bool on);
/* Ring the bell, unless an earlier one is still queued. */
void term_bell(struct term *term);
/* Write escape sequences (ui/osc.h) after the queued output; false (nothing) if that is long. */
bool term_write(struct term *term, const void *data, size_t len);
/* Stop this process and return to the shell, until the shell continues the process. */
void term_suspend(struct term *term);
/* Call this after SIGCONT: set the terminal's modes again if the shell changed them. */
void term_resume(struct term *term);
/* Let another program use the terminal; write nothing until term_return. */
void term_leave(struct term *term);
void term_return(struct term *term);
