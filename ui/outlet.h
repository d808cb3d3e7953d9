/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_OUTLET_H
#define HGYM_UI_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The way out to the terminal of stdout, which nothing can block: what is
 * written to a file of its own lies in memory until the terminal takes it.  A
 * terminal that takes nothing (an SSH client asleep) stops no one.
 *
 * The terminal is opened once more for it: O_NONBLOCK belongs to an open file,
 * and stdout's is shared with stdin and the shell that started us.
 */
struct outlet {
	/*
	 * To write to.  Its descriptor is the terminal's until outlet_hold,
	 * then no terminal's: nothing but writing may be expected of it.
	 */
	FILE *file;
	int fd;	      /* of the terminal: to watch for writing */
	bool is_held; /* file is memory, and not the terminal */
	struct buf queue;
	size_t sent; /* of queue */
};

struct outlet *outlet_new(struct err *err) __attribute__((warn_unused_result));
/* What still waits is dropped; NULL: nothing. */
void outlet_free(struct outlet *outlet);

/*
 * From here on nothing that is written to the file waits.  Where there is no
 * memory to be had for it, the file stays the terminal.
 */
void outlet_hold(struct outlet *outlet);

/*
 * Hand on what was written and flushed, as far as the terminal takes it now;
 * true when nothing is left.
 */
bool outlet_send(struct outlet *outlet);
/* How much was left then. */
size_t outlet_waiting_bytes(const struct outlet *outlet);

/*
 * Hand on all, and wait for the terminal until it has taken nothing for
 * OUTLET_STILL_MS, or OUTLET_DRAIN_MS went by; true when nothing is left.
 */
#define OUTLET_STILL_MS 1000
#define OUTLET_DRAIN_MS 4000
bool outlet_drain(struct outlet *outlet);

/*
 * Write a last word past all that waits, which is dropped, in the kernel too
 * where there is no room; a sequence that was cut short is cancelled first.
 * Never blocks; async-signal-safe.
 */
void outlet_force(struct outlet *outlet, const char *data, size_t len);

#endif
