/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#define VERSION_LIBRARIES 7

struct version_library {
	const char *name, *version; /* of what is linked, not the headers */
};

/* The libraries of ours and their versions. */
void version_libraries(struct version_library out[VERSION_LIBRARIES]);

/* PCRE2 can compile rules to machine code. */
bool version_has_jit(void);

/* libssh2 signs with RSA keys as servers of today want it (1.11). */
bool version_has_rsa_sha2(void);

/* The version, and those of the libraries linked, to stdout. */
void version_print(void);
