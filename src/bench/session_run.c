/* SPDX-License-Identifier: MIT */
/* What the files of one run tell, and what its guards make of it. */
#include "config.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "bench/metric.h"
#include "bench/session_priv.h"

/* A wall clock that moves more than this during a run is no clock. */
#define CLOCK_DRIFT_S	  2.0
#define CLOCK_DRIFT_SHARE 0.005
/* What reading a clock of hundredths twice may be off by. */
#define CLOCK_READING_S 0.05
#define MAX_LOG_BYTES	(512U * 1024 * 1024)
/* A log under way is watched up to this step, and up to this size. */
#define WATCHED_STEPS 5.0
#define MAX_WATCHED   (1024U * 1024)

static bool
matches(const char *pattern, const char *text)
{
	regex_t regex;
	bool found;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) !=
	    0)
		return false;
	found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

/* End marker, and the lines that prove that the variant took effect. */
static void
check_markers(struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	const char *marker = s->plan->end_marker;
	struct buf text;

	if (!run->has_log ||
	    (marker == NULL && v->must.n == 0 && v->must_not.n == 0))
		return;
	buf_init(&text, MAX_LOG_BYTES);
	if (file_read(run->log.path, &text, NULL) != 0)
		buf_clear(&text);
	if (marker != NULL &&
	    str_find((struct str){ text.data, text.len }, marker) == NULL)
		guard_add(&run->hits, GUARD_EXIT, true,
			  "the end marker is not in its log");
	for (size_t i = 0; i < v->must.n; i++)
		if (!matches(v->must.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "nothing matches \"%.100s\"", v->must.v[i]);
	for (size_t i = 0; i < v->must_not.n; i++)
		if (matches(v->must_not.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "a line matches \"%.100s\"",
				  v->must_not.v[i]);
	buf_release(&text);
}

/*
 * The judge's files have to be those of every run.  So do the sources; where
 * variants have copies of their own, those of every run of that variant.
 */
static void
check_files(struct session *s, struct bench_run *run)
{
	bool copies = plan_needs_copies(s->plan);

	if (run->files_changed)
		guard_add(&run->hits, GUARD_FILES, true,
			  "they changed while it ran");
	for (size_t i = 0; i < s->runs.n; i++) {
		const struct bench_run *other = &s->runs.v[i];
		const char *changed = strchr(run->work, ' ');

		if (other->end == RUN_END_NONE)
			continue;
		if (other->hash[0] != '\0' && run->hash[0] != '\0' &&
		    strcmp(other->hash, run->hash) != 0)
			guard_add(&run->hits, GUARD_FILES, true,
				  "they differ from those of run %s",
				  other->id);
		if (other->work[0] == '\0' || run->work[0] == '\0' ||
		    (copies && plan_arm(s->plan, other->arm) !=
				       plan_arm(s->plan, run->arm)) ||
		    strcmp(other->work, run->work) == 0)
			continue;
		/* Other sources on another pod are a mark: both arms ran
		 * them there. */
		guard_add(&run->hits, GUARD_SAME, other->pod == run->pod,
			  "its sources are not those of run %.60s (%.12s "
			  "changed by %.12s)",
			  other->id, run->work,
			  changed != NULL ? changed + 1 : "");
	}
}

static void
check_clock(struct bench_run *run)
{
	double wall = run->t1_s - run->t0_s;
	double away = fabs(wall - run->up_s);

	/* Whole seconds at both ends: up to one of difference is nothing. */
	if (away - 1.0 > fmax(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's wall clock went %.0f s in %.1f s", wall,
			  run->up_s);
	if (run->drift_s - CLOCK_READING_S >
	    fmin(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's steady clock moved by %.2f s against ours "
			  "in %.1f s (a paused machine?)",
			  run->drift_s, run->up_s);
}

/* What its pod did to the run, whatever its value is. */
static void
check_health(struct session *s, struct bench_run *run)
{
	const struct health_sum *h = &run->health;

	session_load_health(s, run);
	if (!run->has_health)
		return;
	if (h->reasons & HEALTH_THROTTLE)
		guard_add(&run->hits, GUARD_THROTTLED, s->plan->throttle_drops,
			  "clock reason bits 0x%lx",
			  h->reasons & HEALTH_THROTTLE);
	if (h->foreign[0] != '\0')
		guard_add(&run->hits, GUARD_FOREIGN, s->plan->refuse_foreign,
			  "pids %s were on its GPUs too", h->foreign);
	if (h->load1 > h->cores)
		guard_add(&run->hits, GUARD_LOAD, false,
			  "a load of %.1f on %.0f cores when it began",
			  h->load1, h->cores);
}

/* Read the log of a run as far as it is here. */
static int
read_log(const struct session *s, const struct bench_run *run,
	 struct run_log *log, struct err *err)
{
	enum run_log_kind kind = bench_metric_find(s->plan->key)->kind;
	const struct run_log_rule rule = {
		.formats = s->setup.formats,
		.force = true,
		.kind = kind,
		.score_key = kind == RUN_LOG_SCORE ? s->plan->key : NULL,
	};
	char path[FOLDER_PATH_SIZE];

	bench_run_path(&s->runs, run, s->plan->log, path);
	return run_log_read(log, path, &rule, err);
}

void
session_load_run(struct session *s, struct bench_run *run)
{
	struct err err = { ERR_NONE, "" };

	run->hits.n = 0;
	if (run->end == RUN_END_LOST) {
		guard_add(&run->hits, GUARD_LOST, true,
			  "it vanished without an exit status, twice");
		return;
	}
	if (run->end != RUN_END_EXITED)
		return;
	run->has_log = read_log(s, run, &run->log, &err) == 0;
	if (!run->has_log)
		guard_add(&run->hits, GUARD_LOST, true, "%.150s", err.text);
	if (run->cut[0] != '\0')
		guard_add(&run->hits, run->cut_by, true, "%s", run->cut);
	else if (run->rc != 0.0)
		guard_add(&run->hits, GUARD_EXIT, true,
			  run->rc == 124.0 ? "timed out (exit status %.0f)"
					   : "exit status %.0f",
			  run->rc);
	check_markers(s, run);
	check_files(s, run);
	check_clock(run);
	check_health(s, run);
	clock_rfc3339((int64_t)(fmax(run->t0_s, 0.0) * 1000.0), run->t0);
	clock_rfc3339((int64_t)(fmax(run->t1_s, 0.0) * 1000.0), run->t1);
}

/* A control whose losses a run's have to be: of its round, or of any. */
static const struct run_log *
control_log(const struct session *s, const struct bench_run *run)
{
	const struct run_log *found = NULL;

	for (size_t i = 0; i < s->runs.n; i++) {
		const struct bench_run *other = &s->runs.v[i];

		if (other->arm != 0 || !other->has_log || !other->counted ||
		    guard_hard(&other->hits) != NULL)
			continue;
		if (other->pod == run->pod && other->round == run->round)
			return &other->log;
		found = &other->log;
	}
	return found;
}

/* The first hard guard of what the log holds so far. */
static void
watch_log(struct session *s, struct bench_run *run,
	  const struct run_log *control, const struct run_log *log)
{
	const struct guard_losses a = { control->rows, control->n_rows, 0.0,
					(double)NAN };
	const struct guard_losses b = { log->rows, log->n_rows, 0.0,
					(double)NAN };
	struct guard_hits hits = { 0 };
	const struct guard_hit *hit;

	if (log->run.status == RUN_DIVERGED)
		guard_add(&hits, GUARD_NAN, true, "NaN or infinity in the log");
	if (log->run.seed == control->run.seed)
		guard_check_losses(&hits, &a, &b, &s->plan->rule.losses, false);
	hit = guard_hard(&hits);
	if (hit != NULL) {
		run->cut_by = hit->guard;
		(void)snprintf(run->cut, sizeof(run->cut), "%s", hit->text);
	}
	run->watched = log->n_rows > 0 &&
		       log->rows[log->n_rows - 1].step >= WATCHED_STEPS;
}

bool
session_should_cut(struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	const struct run_log *control;
	char file[FOLDER_PATH_SIZE];
	struct run_log log;

	bench_run_file(run, s->plan->log, file);
	if (run->watched || run->arm == 0 || run->arm >= s->plan->n_variants ||
	    !run->counted || v->numerics_changed ||
	    bench_metric_find(s->plan->key)->kind != RUN_LOG_TRAINING ||
	    folder_size(s->setup.path, file) > MAX_WATCHED)
		return false;
	control = control_log(s, run);
	if (control == NULL || read_log(s, run, &log, NULL) != 0)
		return false;
	watch_log(s, run, control, &log);
	run_log_release(&log);
	return run->cut[0] != '\0';
}
