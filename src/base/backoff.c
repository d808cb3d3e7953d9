/* SPDX-License-Identifier: MIT */
/* The pause before another attempt; for the links and the followers. */
#include "config.h"

#include "base/backoff.h"

#include <sys/random.h>

#define FIRST_MS 500
#define MOST_MS	 30000

int64_t
backoff_ms(unsigned int failures)
{
	int64_t base = FIRST_MS;
	uint32_t random = 0;

	for (unsigned int i = 1; i < failures && base < MOST_MS; i++)
		base *= 2;
	if (base > MOST_MS)
		base = MOST_MS;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)base;
	return base * 4 / 5 + (int64_t)(random % 1001) * base * 2 / 5 / 1000;
}
