/* SPDX-License-Identifier: MIT */
/* The order in which the arms of a bench run. */
#include "bench/schedule.h"

#include <assert.h>

/* A uniform number below n: values above the last multiple of n are drawn again. */
static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	uint64_t excess = (UINT64_MAX % n + 1) % n; /* 2^64 mod n */
	uint64_t r;

	do {
		r = splitmix64_next(state);
	} while (r > UINT64_MAX - excess);
	return r % n;
}

void schedule_fill(unsigned char *order, size_t n_arms, size_t n_rounds, uint64_t seed)
{
	uint64_t state = seed;

	assert(n_arms >= 1 && n_arms <= SCHEDULE_MAX_ARMS);
	for (size_t round = 0; round < n_rounds; round++, order += n_arms) {
		if (round % 2 == 1) {
			for (size_t i = 0; i < n_arms; i++)
				order[i] = (order - n_arms)[n_arms - 1 - i];
			continue;
		}
		/* Fisher and Yates */
		for (size_t i = 0; i < n_arms; i++)
			order[i] = (unsigned char)i;
		for (size_t i = n_arms - 1; i >= 1; i--) {
			size_t j = (size_t)draw_below(&state, i + 1);
			unsigned char swapped = order[i];

			order[i] = order[j];
			order[j] = swapped;
		}
	}
}
