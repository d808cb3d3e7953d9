/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_TERM_SANE_H
#define HGYM_UI_TERM_SANE_H

#include <signal.h>
#include <stdbool.h>

#include "ui/outlet.h"

/*
 * The terminal's modes: as they were before us, as we need them, and back
 * again whatever happens.  stdin has the same as stdout also where it is
 * another terminal.  term_restore (ui/term.h) is at home here.
 */

/*
 * Remember the modes, and restore them on a crash and on the signals that end
 * a program, until someone else watches for those.
 */
void term_sane_begin(struct outlet *outlet);
/* What curses has made of the modes of stdout is what we need. */
void term_sane_learn(void);
/* Whether the terminal has them. */
bool term_sane_is_ours(void);
/* The modes that we need, or (false) those of before us. */
void term_sane_set(bool ours);
/* Everything is as it was, and stays so. */
void term_sane_end(void);

/*
 * Hand on all that waits for the terminal; one that does not take it gets
 * what makes it sane.
 */
void term_sane_leave(void);

/*
 * Hold back the signals that do not end a program, for as long as curses waits
 * for the rest of a key; before is the mask to be set again.
 */
void term_sane_hold(sigset_t *before);

#endif
