/* SPDX-License-Identifier: MIT */
/* In which python and with whose torch the arms ran; for judge.c. */
#include "config.h"

#include "bench/judge_parts.h"

#include <stdio.h>
#include <string.h>

#define VALUE_SIZE 128

/* What makes a number another one; python by its path alone does not. */
static const struct {
	const char *key;
	bool decides;
} parts[] = {
	{ "torch", true },
	{ "triton", true },
	{ "flash_attn", true },
	{ "python", false },
};

/* "2.9.1" of "python /usr/bin/python3.11; torch 2.9.1"; false: not in it. */
static bool
value_in(const char *runtime, const char *key, char out[VALUE_SIZE])
{
	struct str rest = str_from(runtime != NULL ? runtime : ""), part, word;

	while (str_next(&rest, ';', &part)) {
		part = str_trim(part);
		if (!str_next(&part, ' ', &word) || !str_eq_cstr(word, key))
			continue;
		(void)snprintf(out, VALUE_SIZE, "%.*s", (int)part.len, part.p);
		return part.len > 0;
	}
	return false;
}

/* The control's run beside that one, where both were looked at. */
static const struct judge_run *
control_beside(const struct judge *judge, const struct judge_run *run)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *other = &judge->runs[i];

		if (other->arm == 0 && other->pod == run->pod &&
		    other->block == run->block && other->rep == run->rep &&
		    other->runtime != NULL)
			return other;
	}
	return NULL;
}

/* "torch" as n of the arm's own runs were seen to have it. */
static size_t
n_seen(const struct judge *judge, size_t arm, const char *key, size_t *n_own)
{
	size_t seen = 0;

	*n_own = 0;
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		char value[VALUE_SIZE];

		if (run->arm != arm || !run->counted ||
		    run->state == RUN_STATE_CLAIMED)
			continue;
		++*n_own;
		seen += value_in(run->runtime, key, value) ? 1 : 0;
	}
	return seen;
}

/* Where torch was never seen on one side, nothing was compared. */
static void
mark_unseen(const struct judge *judge, struct judge_contrast *c)
{
	size_t n, m, a = n_seen(judge, 0, "torch", &n);
	size_t b = n_seen(judge, c->arm, "torch", &m);

	if (n > 0 && m > 0 && (a == 0 || b == 0))
		guard_add(&c->hits, GUARD_UNSEEN, false,
			  "torch was seen in %zu of %zu of its runs, in %zu of "
			  "%zu of the control's: versions were not compared",
			  b, m, a, n);
}

void
judge_compare_runtime(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];

	mark_unseen(judge, c);
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i], *control;

		if (run->arm != c->arm || run->runtime == NULL)
			continue;
		control = control_beside(judge, run);
		for (size_t k = 0;
		     control != NULL && k < sizeof(parts) / sizeof(parts[0]);
		     k++) {
			char a[VALUE_SIZE], b[VALUE_SIZE];

			if (!value_in(control->runtime, parts[k].key, a) ||
			    !value_in(run->runtime, parts[k].key, b) ||
			    strcmp(a, b) == 0 ||
			    judge_is_declared(arm, parts[k].key))
				continue;
			guard_add(&c->hits, GUARD_RUNTIME,
				  parts[k].decides && arm->declares_all,
				  "it ran with %s %.50s, the control with "
				  "%.50s",
				  parts[k].key, b, a);
		}
	}
}
