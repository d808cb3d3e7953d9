/* SPDX-License-Identifier: MIT */
/* Find the state of a run without a summary: its phase, the time that remains, and whether it is
 * still active. HarnessGym leaves no trace when it dies, so we look for its process. If that is not
 * possible, compare the age of the newest file or record with the time limit of the phase. */
#include <sys/param.h>

#include "parsers/harness/parts.h"

#define TRUST_MS	(300 * 1000) /* a copy's mtimes differ more from recorded times */
#define MARGIN_S	60.0
#define ABORTED_S	3600.0 /* a run is dead if it is silent for this long after its limit */
#define UNKNOWN_LIMIT_S 600.0
#define GRACE_S		3.0 /* a run that wrote this recently is active, even without a process */

const char *const harness_state_names[] = { "finished", "running", "stale", "aborted" };

static int64_t mtime_of(const struct harness_file *file)
{
	return file != NULL ? file->mtime_ms : 0;
}

/* Are the mtimes the run's own, not those of a copy of its folder? HarnessGym records in
 * result.json when it writes the iteration's activation.json: compare this time with the mtime. */
static bool trusts_mtimes(const struct harness_build *b)
{
	const struct harness_run *run = b->run;
	int64_t file_ms = mtime_of(harness_run_file(b, HARNESS_CONFIG, 0));
	int64_t own_ms = run->start_ms;

	array_each (it, run->iterations, run->n_iterations) {
		int64_t ms = mtime_of(harness_run_file(b, HARNESS_STARTED, it->number));

		if (ms > 0 && it->created_ms > 0) {
			file_ms = ms;
			own_ms = it->created_ms;
			break;
		}
	}
	if (file_ms == 0 || own_ms == 0)
		return file_ms != 0;
	if (b->run->ordered)
		return true;
	return file_ms - own_ms < TRUST_MS && own_ms - file_ms < TRUST_MS;
}

/* Find the time of the newest file or record of the run; 0: none. */
static int64_t find_last_sign(const struct harness_build *b, const struct harness_calls *calls,
			      bool mtimes)
{
	const struct harness_run *run = b->run;
	bool newest = b->until_ms == INT64_MAX;
	int64_t seen_ms = run->start_ms;

	array_each (it, run->iterations, run->n_iterations)
		seen_ms = MAX(seen_ms, MAX(it->created_ms, it->updated_ms));
	if (newest)
		seen_ms = MAX(seen_ms, calls->last_ms);
	for (size_t i = 0; mtimes && i < b->files->n; i++) {
		const struct harness_file *file = b->files->all[i];

		if ((strcmp(file->run, run->dir) == 0 && !harness_is_old(b, file)) ||
		    (newest && file->run[0] == '\0'))
			seen_ms = MAX(seen_ms, file->mtime_ms);
	}
	return seen_ms;
}

struct phase {
	const char *name;
	struct harness_number limit_s;
	int64_t start_ms;
};

static struct phase find_iteration_phase(const struct harness_build *b,
					 const struct harness_iteration *it)
{
	const struct harness_run *run = b->run;
	unsigned int n = it->number;
	const struct harness_file *out = harness_run_file(b, HARNESS_ATTEMPT_OUT, n);

	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++) {
		const struct harness_file *prompt =
			harness_try_file(b, HARNESS_REPAIR_PROMPT, n, k);

		if (prompt != NULL && harness_try_file(b, HARNESS_REPAIR_OUT, n, k) == NULL)
			return (struct phase){ "repair", run->build_s, prompt->mtime_ms };
	}
	if (harness_is_open(b, HARNESS_BUILD_PROMPT, HARNESS_BUILD_OUT, n))
		return (struct phase){ "build", run->build_s,
				       mtime_of(harness_run_file(b, HARNESS_BUILD_PROMPT, n)) };
	if (harness_is_open(b, HARNESS_REFLECTION_PROMPT, HARNESS_REFLECTION_OUT, n))
		return (struct phase){ "reflection", run->reflection_s,
				       mtime_of(
					       harness_run_file(b, HARNESS_REFLECTION_PROMPT, n)) };
	if (out == NULL)
		return (struct phase){ "attempt", it->attempt_limit_s, it->created_ms };
	if (run->command != NULL && harness_run_file(b, HARNESS_POST_OUT, n) == NULL)
		return (struct phase){ "verifying", run->post_s, mtime_of(out) };
	if (harness_run_file(b, HARNESS_BUILD_OUT, n) != NULL &&
	    harness_run_file(b, HARNESS_BUILT, n) == NULL)
		return (struct phase){ .name = "qualification" };
	return (struct phase){ .name = "between" };
}

static struct phase find_phase(const struct harness_build *b)
{
	const struct harness_run *run = b->run;
	struct phase phase;

	if (run->n_iterations == 0) {
		bool measures = run->optimization == HARNESS_YES && run->command != NULL &&
				!run->has_baseline;

		return (struct phase){ measures ? "baseline" : "starting",
				       measures ? run->post_s : harness_number(MARGIN_S),
				       mtime_of(harness_run_file(b, HARNESS_CONFIG, 0)) };
	}
	const struct harness_iteration *last = &run->iterations[run->n_iterations - 1];
	phase = find_iteration_phase(b, last);
	if (strcmp(phase.name, "between") == 0 && run->planned.present &&
	    last->number >= run->planned.value)
		return (struct phase){ "restoring", run->post_s,
				       mtime_of(harness_run_file(b, HARNESS_BUILT, last->number)) };
	return phase;
}

static enum harness_state find_state(const struct harness_build *b, const struct phase *phase)
{
	const struct harness_life *life = &b->run->life;
	double limit_s = harness_is_finite(phase->limit_s) ? phase->limit_s.value : UNKNOWN_LIMIT_S;

	limit_s += fmax(MARGIN_S, limit_s / 10);
	if (b->until_ms != INT64_MAX)
		return HARNESS_STATE_ABORTED;
	if (life->process == HARNESS_YES)
		return HARNESS_STATE_RUNNING;
	if (!life->silent_s.present)
		return HARNESS_STATE_STALE;
	double over_s = life->silent_s.value - limit_s;
	if (over_s > ABORTED_S && b->run->table == NULL)
		return HARNESS_STATE_ABORTED;
	/* A fake agent has no process, and a program that uses HarnessGym's API is not found. */
	bool is_dead = life->process == HARNESS_NO && life->silent_s.value > GRACE_S &&
		       (b->run->runner == NULL || strcmp(b->run->runner, "fake") != 0);
	return over_s > 0 || is_dead ? HARNESS_STATE_STALE : HARNESS_STATE_RUNNING;
}

/* Count the calls of the running iteration: HarnessGym records them only at the end of a phase. */
static void count_calls(struct harness_build *b)
{
	struct harness_run *run = b->run;
	size_t n = run->n_iterations;

	if (n == 0 || run->iterations[n - 1].calls.present)
		return;
	double all = harness_calls_before(b->files, INT64_MAX);
	double old = n == 1 ? harness_calls_before(b->files, run->start_ms)
			    : run->iterations[n - 2].calls.value;
	run->iterations[n - 1].calls = harness_number(all);
	if ((n == 1 || run->iterations[n - 2].calls.present) && all >= old)
		run->iterations[n - 1].calls_delta = harness_number(all - old);
}

void harness_life_read(struct harness_build *b, const struct harness_calls *calls)
{
	struct harness_run *run = b->run;
	bool mtimes = run->table != NULL || trusts_mtimes(b);
	struct phase phase;

	run->life.seen_ms = find_last_sign(b, calls, mtimes);
	run->life.process = HARNESS_UNKNOWN;
	if (run->has_summary)
		return;
	if (b->until_ms == INT64_MAX)
		run->life.process = b->files->process;
	phase = run->table == NULL ? find_phase(b)
				   : (struct phase){ .name = run->table->log_is_newer ? "experiment"
										      : "between" };
	run->life.phase = phase.name;
	if (run->life.seen_ms > 0)
		run->life.silent_s =
			harness_number(fmax(0, (double)(b->now_ms - run->life.seen_ms) / 1e3));
	run->life.state = find_state(b, &phase);
	if (run->life.state == HARNESS_STATE_RUNNING && calls->known && calls->total > 0)
		count_calls(b);
	if (run->life.state == HARNESS_STATE_RUNNING && phase.start_ms > 0 &&
	    harness_is_finite(phase.limit_s) && (mtimes || strcmp(phase.name, "attempt") == 0))
		run->life.left_s = harness_number(
			phase.limit_s.value - fmax(0, (double)(b->now_ms - phase.start_ms) / 1e3));
}
