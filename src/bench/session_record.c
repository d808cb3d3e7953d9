/* SPDX-License-Identifier: MIT */
/* What is kept of a run that is over, and what its guards say. */
#include "config.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench/metric.h"
#include "bench/session_priv.h"

/* A wall clock that moves more than this during a run is no clock. */
#define CLOCK_DRIFT_S	  2.0
#define CLOCK_DRIFT_SHARE 0.005
/* What reading a clock of hundredths twice may be off by. */
#define CLOCK_READING_S 0.05
#define MAX_LOG_BYTES	(512U * 1024 * 1024)

static const char *const end_names[] = {
#define X(id, name) name,
	RUN_END_LIST(X)
#undef X
};

/* What run.json of an earlier session says of it. */
void
session_read_record(struct session *s, struct session_run *run)
{
	double small[2] = { 0, 1000 }, guards[2] = { 0, GUARD_COUNT - 1 };
	double seconds[2] = { 0, 1e11 };
	char file[FOLDER_PATH_SIZE];
	cJSON *root;
	const char *end;

	session_run_file(run, "run.json", file, sizeof(file));
	root = folder_read_json(s->setup.path, file);
	if (root == NULL)
		return;
	run->attempt = (unsigned int)folder_number(root, "attempt", small, 0);
	end = json_get_string(root, "end", NULL);
	for (int i = RUN_END_EXITED; end != NULL && i <= RUN_END_SKIPPED; i++)
		if (strcmp(end, end_names[i]) == 0) {
			run->end = (enum run_end)i;
			run->recorded = true;
		}
	run->rc = (int)folder_number(root, "rc", small, -1);
	run->t0_s = folder_number(root, "t0_s", seconds, 0);
	run->t1_s = folder_number(root, "t1_s", seconds, 0);
	run->up_s = folder_number(root, "up_s", seconds, 0);
	run->drift_s = folder_number(root, "drift_s", seconds, 0);
	(void)snprintf(run->cut, sizeof(run->cut), "%s",
		       json_get_string(root, "cut", ""));
	run->cut_by =
		(enum guard)folder_number(root, "cut_by", guards, GUARD_WORK);
	run->files_changed = json_get_bool(root, "files_changed", false);
	(void)snprintf(run->hash, sizeof(run->hash), "%s",
		       json_get_string(root, "judge_files_sha256", ""));
	(void)snprintf(run->work, sizeof(run->work), "%s",
		       json_get_string(root, "sources", ""));
	(void)snprintf(run->runtime, sizeof(run->runtime), "%s",
		       json_get_string(root, "runtime", ""));
	cJSON_Delete(root);
}

static int
write_record(struct session *s, const struct session_run *run, struct err *err)
{
	bool exited = run->end == RUN_END_EXITED;
	cJSON *root = cJSON_CreateObject();
	char file[FOLDER_PATH_SIZE];
	int result;

	json_add_string(root, "schema", "hgym-tui.bench-run/1");
	json_add_string(root, "id", run->id);
	json_add_string(root, "pod", s->plan->pods[run->pod].id);
	json_add_string(root, "tag", s->tags[run->arm]);
	json_add_number(root, "block", (double)run->block);
	json_add_number(root, "pos", (double)run->pos);
	cJSON_AddBoolToObject(root, "counted", run->counted);
	json_add_number(root, "rep", (double)run->rep);
	cJSON_AddBoolToObject(root, "fresh", run->fresh);
	json_add_number(root, "repeat", (double)run->repeat);
	json_add_number(root, "attempt", (double)run->attempt);
	json_add_string(root, "end",
			run->recorded ? end_names[run->end] : NULL);
	json_add_number(root, "rc", exited ? (double)run->rc : (double)NAN);
	json_add_number(root, "t0_s", exited ? run->t0_s : (double)NAN);
	json_add_number(root, "t1_s", exited ? run->t1_s : (double)NAN);
	json_add_number(root, "up_s", exited ? run->up_s : (double)NAN);
	json_add_number(root, "drift_s", exited ? run->drift_s : (double)NAN);
	json_add_string(root, "cut", run->cut[0] != '\0' ? run->cut : NULL);
	json_add_number(root, "cut_by",
			run->cut[0] != '\0' ? (double)run->cut_by
					    : (double)NAN);
	cJSON_AddBoolToObject(root, "files_changed", run->files_changed);
	json_add_string(root, "judge_files_sha256",
			run->hash[0] != '\0' ? run->hash : NULL);
	json_add_string(root, "sources",
			run->work[0] != '\0' ? run->work : NULL);
	json_add_clean(root, "runtime",
		       run->runtime[0] != '\0' ? run->runtime : NULL);
	session_run_file(run, "run.json", file, sizeof(file));
	result = folder_write_json(s->setup.path, file, root, err);
	cJSON_Delete(root);
	return result;
}

bool
session_read_text(struct session *s, const char *name, struct buf *out)
{
	char path[FOLDER_PATH_SIZE], block[65536];
	FILE *stream;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", s->setup.path, name);
	stream = fopen(path, "re");
	if (stream == NULL)
		return false;
	while ((n = fread(block, 1, sizeof(block), stream)) > 0)
		buf_append(out, block, n);
	(void)fclose(stream);
	return true;
}

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
check_markers(struct session *s, struct session_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	char name[FOLDER_PATH_SIZE];
	struct buf text;

	if (s->plan->end_marker == NULL && v->must.n == 0 && v->must_not.n == 0)
		return;
	session_run_file(run, s->plan->log, name, sizeof(name));
	buf_init(&text, MAX_LOG_BYTES);
	(void)session_read_text(s, name, &text);
	if (s->plan->end_marker != NULL &&
	    str_find((struct str){ text.data, text.len },
		     s->plan->end_marker) == NULL)
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

/* The judge's files have to be those of every run of its pod and arm. */
static void
check_files(struct session *s, struct session_run *run)
{
	if (run->files_changed)
		guard_add(&run->hits, GUARD_FILES, true,
			  "they changed while it ran");
	for (size_t i = 0; i < s->n_runs; i++) {
		const struct session_run *other = &s->runs[i];

		if (other->recorded && other->hash[0] != '\0' &&
		    run->hash[0] != '\0' && strcmp(other->hash, run->hash) != 0)
			guard_add(&run->hits, GUARD_FILES, true,
				  "they differ from those of run %s",
				  other->id);
	}
}

/* The sources have to be those of every other run; where variants have
 * copies of their own, of every run of that variant. */
static void
check_sources(struct session *s, struct session_run *run)
{
	bool copies = plan_needs_copies(s->plan);

	for (size_t i = 0; run->work[0] != '\0' && i < s->n_runs; i++) {
		const struct session_run *other = &s->runs[i];

		if (!other->recorded || other->work[0] == '\0' ||
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
			  strchr(run->work, ' ') != NULL
				  ? strchr(run->work, ' ') + 1
				  : "");
	}
}

static void
check_clock(struct session_run *run)
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
check_health(struct session *s, struct session_run *run)
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

struct run_log_rule
session_log_rule(const struct session *s)
{
	enum run_log_kind kind = bench_metric_find(s->plan->key)->kind;

	return (struct run_log_rule){
		.formats = s->setup.formats,
		.force = true,
		.kind = kind,
		.score_key = kind == RUN_LOG_SCORE ? s->plan->key : NULL,
	};
}

/* Read the log of a run that is over, and all that tells of it. */
void
session_load_run(struct session *s, struct session_run *run)
{
	struct run_log_rule rule = session_log_rule(s);
	struct err err = { ERR_NONE, "" };

	run->hits.n = 0;
	if (run->end == RUN_END_LOST) {
		guard_add(&run->hits, GUARD_LOST, true,
			  "it vanished without an exit status, twice");
		return;
	}
	if (run->end != RUN_END_EXITED)
		return;
	if (run_log_read(&run->log, run->log_path, &rule, &err) == 0)
		run->has_log = true;
	else
		guard_add(&run->hits, GUARD_LOST, true, "%.150s", err.text);
	if (run->cut[0] != '\0')
		guard_add(&run->hits, run->cut_by, true, "%s", run->cut);
	else if (run->rc != 0)
		guard_add(&run->hits, GUARD_EXIT, true,
			  run->rc == 124 ? "timed out (exit status %d)"
					 : "exit status %d",
			  run->rc);
	check_markers(s, run);
	check_files(s, run);
	check_sources(s, run);
	check_clock(run);
	check_health(s, run);
	clock_rfc3339((int64_t)(run->t0_s * 1000.0), run->t0);
	clock_rfc3339((int64_t)(run->t1_s * 1000.0), run->t1);
}

int
session_record(struct session *s, struct session_run *run, struct err *err)
{
	run->recorded = true;
	return write_record(s, run, err);
}
