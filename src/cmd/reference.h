/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_REFERENCE_H
#define HGYM_CMD_REFERENCE_H

#include "cmd/cmd.h"

/*
 * Print what the table of commands knows in a form that others read:
 * those that begin with "man-" are parts of the manual in man(7) roff (a
 * page's source names them as @man-commands@); "bash", "zsh" and "fish" are
 * completions.  program holds the global options.  Returns an exit status: 2
 * for a form that is not known.
 */
int reference_print(const char *form, const struct cmd *program);

#endif
