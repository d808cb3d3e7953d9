/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#define VERSION_LIBRARIES 7

struct version_library {
	const char *name, *version; /* of the linked library, not of its headers */
};

void version_libraries(struct version_library out[VERSION_LIBRARIES]);

/* Can PCRE2 compile patterns to machine code? */
bool version_has_jit(void);

/* Can libssh2 sign with rsa-sha2, as current servers require for RSA keys? (since 1.11) */
bool version_has_rsa_sha2(void);

/* Print the versions to stdout. */
void version_print(void);
