/* SPDX-License-Identifier: MIT */
/* What may be measured; for the plan and for `bench judge`. */
#include "config.h"

#include "bench/metric.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *const bench_metric_parsers[] = { "parameter-golf", "json", NULL };

static const struct bench_metric metrics[] = {
	{ "step_ms", RUN_LOG_TRAINING, "parameter-golf", true },
	{ NULL, RUN_LOG_SCORE, "json", false },
};

/* Ends and parts of the names of rates. */
static const char *const rate_ends[] = { "_per_s",   "_per_sec", "_per_second",
					 "/s",	     "/sec",	 "tok_s",
					 "tokens_s", "gb_s",	 "gbps",
					 "mfu",	     NULL };
static const char *const rate_parts[] = { "throughput", "flops",    "bandwidth",
					  "speedup",	"speed_up", "accuracy",
					  NULL };

const struct bench_metric *
bench_metric_find(const char *key)
{
	const struct bench_metric *m = metrics;

	while (m->key != NULL && strcmp(m->key, key) != 0)
		m++;
	return m;
}

bool
bench_metric_is_rate(const char *key)
{
	size_t len = strlen(key);

	for (const char *const *end = rate_ends; *end != NULL; end++)
		if (len >= strlen(*end) &&
		    strcasecmp(key + len - strlen(*end), *end) == 0)
			return true;
	for (const char *const *part = rate_parts; *part != NULL; part++)
		for (const char *at = key; *at != '\0'; at++)
			if (strncasecmp(at, *part, strlen(*part)) == 0)
				return true;
	return false;
}
