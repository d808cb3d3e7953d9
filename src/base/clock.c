/* SPDX-License-Identifier: MIT */
/* The real clock, times as text, and delays between attempts. */
#include "base/clock.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define BACKOFF_FIRST_MS 500
#define BACKOFF_MOST_MS	 30000

static const _Atomic int64_t *ahead_ms; /* NULL: no test has set the clocks */

static void map_test_clock(void)
{
	const char *path = getenv("HGYM_TUI_TEST_CLOCK");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	void *map = mmap(NULL, sizeof(*ahead_ms), PROT_READ, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		ahead_ms = map;
	close(fd);
}

bool clock_test_ahead(int64_t *ms)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, map_test_clock);
	*ms = ahead_ms != NULL ? atomic_load(ahead_ms) : 0;
	return ahead_ms != NULL;
}

static int64_t read_ms(clockid_t id)
{
	struct timespec ts = { 0, 0 };
	int64_t ahead;

	(void)clock_gettime(id, &ts);
	(void)clock_test_ahead(&ahead);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 + ahead;
}

int64_t clock_mono_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

int64_t clock_boot_ms(void)
{
#ifdef CLOCK_BOOTTIME
	return read_ms(CLOCK_BOOTTIME);
#else
	return read_ms(CLOCK_MONOTONIC);
#endif
}

int64_t clock_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

#define REAL(name)                                            \
	static int64_t real_##name(const struct clock *clock) \
	{                                                     \
		(void)clock;                                  \
		return clock_##name();                        \
	}

REAL(mono_ms)
REAL(boot_ms)
REAL(wall_ms)

const struct clock clock_real = { real_mono_ms, real_boot_ms, real_wall_ms };

void clock_rfc3339(int64_t wall_ms, char out[CLOCK_RFC3339_SIZE])
{
	time_t t = (time_t)(wall_ms / 1000);
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL ||
	    strftime(out, CLOCK_RFC3339_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		out[0] = '\0';
}

/* Uses H. Hinnant's algorithm days_from_civil (public domain). */
int64_t clock_from_civil_s(int year, int month, int day, int hour, int min, int sec)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	int64_t days = era * 146097 + doe - 719468;

	return ((days * 24 + hour) * 60 + min) * 60 + sec;
}

double clock_read_s(struct str text)
{
	static const size_t ends[] = { 4, 7, 10, 13, 16, 19 };
	int v[6];

	if (text.len < ends[5])
		return (double)NAN;
	for (size_t i = 0; i < 6; i++) {
		v[i] = 0;
		for (size_t at = i > 0 ? ends[i - 1] + 1 : 0; at < ends[i]; at++) {
			if (text.p[at] < '0' || text.p[at] > '9')
				return (double)NAN;
			v[i] = v[i] * 10 + (text.p[at] - '0');
		}
	}
	return (double)clock_from_civil_s(v[0], v[1], v[2], v[3], v[4], v[5]);
}

int64_t clock_spread_ms(int64_t base)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)base;
	return base * 4 / 5 + (int64_t)(random % 1001) * base * 2 / 5 / 1000;
}

int64_t clock_backoff_ms(unsigned int failures)
{
	int64_t base = BACKOFF_FIRST_MS;

	for (unsigned int i = 1; i < failures && base < BACKOFF_MOST_MS; i++)
		base *= 2;
	if (base > BACKOFF_MOST_MS)
		base = BACKOFF_MOST_MS;
	return clock_spread_ms(base);
}
