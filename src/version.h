/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_VERSION_H
#define HGYM_SRC_VERSION_H

/* The version, and those of the libraries linked, to stdout. */
void version_print(void);

#endif
