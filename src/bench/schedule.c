/* SPDX-License-Identifier: MIT */
/* The order of the runs of a bench; called by the plan and the session. */
#include "bench/schedule.h"

#include <assert.h>

uint64_t schedule_pod_seed(uint64_t seed, size_t pod)
{
	uint64_t state = seed + pod;

	return splitmix64_next(&state);
}

/* A uniform number below n: what lies beyond the last multiple is redrawn. */
static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	uint64_t excess = (UINT64_MAX % n + 1) % n; /* 2^64 mod n */
	uint64_t r;

	do {
		r = splitmix64_next(state);
	} while (r > UINT64_MAX - excess);
	return r % n;
}

static void shuffle(unsigned char *order, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (unsigned char)i;
	for (size_t i = n - 1; i >= 1; i--) {
		size_t j = (size_t)draw_below(state, i + 1);
		unsigned char held = order[i];

		order[i] = order[j];
		order[j] = held;
	}
}

void schedule_fill(unsigned char *order, size_t n_arms, size_t n_rounds, uint64_t seed)
{
	uint64_t state = seed;

	assert(n_arms >= 1 && n_arms <= SCHEDULE_MAX_ARMS);
	for (size_t round = 0; round < n_rounds; round++) {
		unsigned char *now = order + round * n_arms;

		if (round % 2 == 0) {
			shuffle(now, n_arms, &state);
			continue;
		}
		for (size_t i = 0; i < n_arms; i++)
			now[i] = (now - n_arms)[n_arms - 1 - i];
	}
}
