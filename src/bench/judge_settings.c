/* SPDX-License-Identifier: MIT */
/* Settings that the logs print, the arms' against the control's; for judge. */
#include "config.h"

#include "bench/judge_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"
#include "bench/stats.h"
#include "parsers/json.h"

/* Runs of each arm from which a difference is no chance of one log. */
#define LEAST_RUNS 2
/* Letters of a name from which being part of another means something. */
#define LEAST_AKIN 4

/* The value that all usable runs of an arm print; NULL: they do not agree. */
static const char *
value_of(const struct judge *judge, size_t arm, const char *key, size_t *n)
{
	const char *value = NULL;

	*n = 0;
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		const char *one;

		if (run->arm != arm || !run->counted || run->log == NULL ||
		    run->log->n_rows == 0)
			continue;
		one = run_settings_get(&run->log->settings, key);
		if (one == NULL || (value != NULL && strcmp(one, value) != 0))
			return NULL;
		value = one;
		++*n;
	}
	return value;
}

/* Is one name part of the other, whatever its case? */
static bool
is_akin(const char *a, const char *b)
{
	const char *longer = strlen(a) > strlen(b) ? a : b;
	const char *shorter = longer == a ? b : a;
	size_t n = strlen(shorter);

	if (n < LEAST_AKIN)
		return strcasecmp(a, b) == 0;
	for (; strlen(longer) >= n; longer++)
		if (strncasecmp(longer, shorter, n) == 0)
			return true;
	return false;
}

/*
 * Does the bench say that this variant changes that key?  Programs print
 * "cuda_graphs" of what CUDA_GRAPHS_ENABLED sets, so part of a name will do.
 */
bool
judge_is_declared(const struct judge_arm *arm, const char *key)
{
	for (size_t i = 0; i < arm->n_declared; i++)
		if (is_akin(arm->declared[i], key))
			return true;
	return false;
}

/* Does a run of the arm print that key with more than one value? */
static bool
wavers(const struct judge *judge, size_t arm, const char *key)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == arm && run->counted && run->log != NULL &&
		    run_settings_wavers(&run->log->settings, key))
			return true;
	}
	return false;
}

static const struct run_log *
first_log(const struct judge *judge, size_t arm)
{
	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].arm == arm && judge->runs[i].counted &&
		    judge->runs[i].log != NULL &&
		    judge->runs[i].log->n_rows > 0)
			return judge->runs[i].log;
	return NULL;
}

/* The median over an arm's usable runs of a number of its score; NAN: none. */
static double
score_median(const struct judge *judge, size_t arm, const char *key)
{
	double *v = xcalloc(judge->n_runs + 1, sizeof(*v)), median;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		double value;

		if (run->arm != arm || !run->counted || run->log == NULL ||
		    !judge_is_usable(run))
			continue;
		value = json_get_number(run->log->score.root, key, (double)NAN);
		if (value > 0.0)
			v[n++] = value;
	}
	median = stats_median(v, n);
	free(v);
	return median;
}

/* Least and median time of the same runs: do both say who is faster? */
static void
compare_metrics(const struct judge *judge, struct judge_contrast *c)
{
	static const char *const keys[] = { "best_us", "median_us" };
	double margin = log1p(judge->rule.paired.margin), d[2];

	for (int i = 0; i < 2; i++)
		d[i] = log(score_median(judge, 0, keys[i]) /
			   score_median(judge, c->arm, keys[i]));
	/* A NaN is no more than anything. */
	if (d[0] * d[1] < 0.0 && fabs(d[0]) > margin && fabs(d[1]) > margin)
		guard_add(&c->hits, GUARD_METRICS, false,
			  "by best_us it is %+.2f%%, by median_us %+.2f%%",
			  100.0 * expm1(d[0]), 100.0 * expm1(d[1]));
}

void
judge_compare_settings(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];
	const struct run_log *log = first_log(judge, 0);

	if (!judge->training)
		compare_metrics(judge, c);
	for (size_t i = 0; log != NULL && i < log->settings.n; i++) {
		const char *key = log->settings.v[i].key;
		size_t n, m;
		const char *a = value_of(judge, 0, key, &n);
		const char *b = value_of(judge, c->arm, key, &m);
		bool hard;

		if (a != NULL && !judge_is_declared(arm, key) &&
		    wavers(judge, c->arm, key))
			guard_add(&c->hits, GUARD_SETTINGS, false,
				  "a log of it prints %s with more than one "
				  "value, the control's %.40s",
				  key, a);
		if (a == NULL || b == NULL || strcmp(a, b) == 0 ||
		    judge_is_declared(arm, key))
			continue;
		hard = arm->declares_all && n >= LEAST_RUNS && m >= LEAST_RUNS;
		guard_add(&c->hits, hard ? GUARD_SAME : GUARD_SETTINGS, hard,
			  "its logs print %s %.40s, the control's %.40s", key,
			  b, a);
	}
}
