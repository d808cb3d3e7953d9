/* SPDX-License-Identifier: MIT */
/* Checks whether the dashboard can use the terminal. This is not in term_curses.c because term.h of
 * curses defines macros with common names. */
#include "ui/term.h"

#include <unistd.h>

#include <curses.h>
#include <term.h>

bool term_fits(struct err *err)
{
	const char *name = getenv("TERM");
	int known;

	if (name == NULL || name[0] == '\0')
		name = "(unset)";
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
		return err_set(err, ERR_USAGE,
			       "no terminal description for TERM=%s; set TERM to the type of your "
			       "terminal, e.g. xterm-256color",
			       name) == 0;
	known = tigetstr("cup") != NULL;
	(void)del_curterm(cur_term);
	if (!known)
		(void)err_set(err, ERR_USAGE,
			      "TERM=%s cannot position the cursor, which the dashboard needs; "
			      "parse, runs and collect work without it",
			      name);
	return known;
}
