/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_BACKOFF_H
#define HGYM_BASE_BACKOFF_H

#include <stdint.h>

/*
 * How long to wait before the next attempt after so many failures in a row:
 * 0.5, 1, 2 .. 30 s in milliseconds, a fifth more or less, so that pods that
 * were lost together do not all come back together.
 */
int64_t backoff_ms(unsigned int failures);

#endif
