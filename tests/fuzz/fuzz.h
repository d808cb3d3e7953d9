/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called by libFuzzer, or by driver.c, once an input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input; else the target dies and says what. */
#define MUST(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			(void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
				      #condition);                                              \
			abort();                                                                \
		}                                                                               \
	} while (0)
