/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_HOME_H
#define HGYM_BASE_HOME_H

/* $HOME, else what the password file says; static. */
const char *home_dir(void);

/* ~ and ~/ at the start of a path become the home; owned. */
char *home_expand(const char *path);

#endif
