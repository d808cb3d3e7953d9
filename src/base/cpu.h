/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_CPU_H
#define HGYM_BASE_CPU_H

#include <stdbool.h>

/*
 * Does this processor have instructions for SHA-256?  With them it is the
 * fastest of the SHA-2 family, without them SHA-512 is.  false also where
 * that is not known.
 */
bool cpu_has_sha256(void);

#endif
