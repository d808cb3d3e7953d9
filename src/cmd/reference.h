/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_REFERENCE_H
#define HGYM_CMD_REFERENCE_H

/*
 * Print a part of the manual in man(7) roff, out of what the program knows: a
 * page's source names it as @man-commands@.  Returns an exit status: 2 for a
 * form that is not known.
 */
int reference_print(const char *form);

#endif
