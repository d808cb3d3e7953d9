/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called once per input by libFuzzer or by driver.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that must be true for every input; otherwise the target aborts and prints it. */
#define MUST(condition)                                                                    \
	do {                                                                               \
		if (!(condition)) {                                                        \
			(void)fprintf(stderr, "%s:%d: condition is false: %s\n", __FILE__, \
				      __LINE__, #condition);                               \
			abort();                                                           \
		}                                                                          \
	} while (0)
