/* SPDX-License-Identifier: MIT */
/* The log of a run under way: is the rest worth its money? */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "bench/metric.h"
#include "bench/session_priv.h"

/* A log under way is watched up to this step, and up to this size. */
#define WATCHED_STEPS 5.0
#define MAX_WATCHED   (1024U * 1024)

/* A control whose losses a run's have to be: of its round, or of any. */
static const struct run_log *
control_log(const struct session *s, const struct session_run *run)
{
	const struct run_log *found = NULL;

	for (size_t i = 0; i < s->n_runs; i++) {
		const struct session_run *other = &s->runs[i];

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
watch_log(struct session *s, struct session_run *run,
	  const struct run_log *control, const struct run_log *log)
{
	struct guard_losses a = { control->rows, control->n_rows, 0.0,
				  (double)NAN };
	struct guard_losses b = { log->rows, log->n_rows, 0.0, (double)NAN };
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
session_should_cut(struct session *s, struct session_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	struct run_log_rule rule = session_log_rule(s);
	const struct run_log *control;
	struct run_log log;
	char file[FOLDER_PATH_SIZE];

	session_run_file(run, s->plan->log, file, sizeof(file));
	if (run->watched || run->arm == 0 || run->arm >= s->plan->n_variants ||
	    !run->counted || v->numerics_changed ||
	    bench_metric_find(s->plan->key)->kind != RUN_LOG_TRAINING ||
	    folder_size(s->setup.path, file) > MAX_WATCHED)
		return false;
	control = control_log(s, run);
	if (control == NULL ||
	    run_log_read(&log, run->log_path, &rule, NULL) != 0)
		return false;
	watch_log(s, run, control, &log);
	run_log_release(&log);
	return run->cut[0] != '\0';
}
