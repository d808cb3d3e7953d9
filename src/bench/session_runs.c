/* SPDX-License-Identifier: MIT */
/* The runs of a bench: their records, logs, guards and judgement. */
#include "config.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/noise.h"
#include "bench/session_priv.h"

/* A wall clock that moves more than this during a run is no clock. */
#define CLOCK_DRIFT_S	  2.0
#define CLOCK_DRIFT_SHARE 0.005
/* Reason bits of nvidia-smi: slowed by hardware or heat. */
#define THROTTLE_BITS	(0x8UL | 0x20UL | 0x40UL | 0x80UL)
#define THROTTLE_COLUMN 7
/* A log under way is watched up to this step, and up to this size. */
#define WATCHED_STEPS 5.0
#define MAX_WATCHED   (1024U * 1024)
#define MAX_TELEMETRY (16U * 1024 * 1024)
#define MAX_LOG_BYTES (512U * 1024 * 1024)

static const char *const end_names[] = {
#define X(id, name) name,
	RUN_END_LIST(X)
#undef X
};

void
session_run_file(const struct session_run *run, const char *name, char *out,
		 size_t size)
{
	(void)snprintf(out, size, "runs/%s/%s", run->id, name);
}

static void
name_run(struct session *s, struct session_run *run)
{
	char file[FOLDER_PATH_SIZE];

	(void)snprintf(run->id, sizeof(run->id), "%s%zu_%s_%s",
		       run->counted ? "" : "burn",
		       run->counted ? run->block : run->round,
		       s->plan->pods[run->pod].id, s->tags[run->arm]);
	session_run_file(run, s->plan->log, file, sizeof(file));
	(void)snprintf(run->log_path, sizeof(run->log_path), "%.2000s/%.2000s",
		       s->setup.path, file);
}

/* What run.json of an earlier session says of it. */
static void
read_record(struct session *s, struct session_run *run)
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
	(void)snprintf(run->cut, sizeof(run->cut), "%s",
		       json_get_string(root, "cut", ""));
	run->cut_by =
		(enum guard)folder_number(root, "cut_by", guards, GUARD_WORK);
	run->files_changed = json_get_bool(root, "files_changed", false);
	(void)snprintf(run->hash, sizeof(run->hash), "%s",
		       json_get_string(root, "judge_files_sha256", ""));
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
	json_add_number(root, "attempt", (double)run->attempt);
	json_add_string(root, "end",
			run->recorded ? end_names[run->end] : NULL);
	json_add_number(root, "rc", exited ? (double)run->rc : (double)NAN);
	json_add_number(root, "t0_s", exited ? run->t0_s : (double)NAN);
	json_add_number(root, "t1_s", exited ? run->t1_s : (double)NAN);
	json_add_number(root, "up_s", exited ? run->up_s : (double)NAN);
	json_add_string(root, "cut", run->cut[0] != '\0' ? run->cut : NULL);
	json_add_number(root, "cut_by",
			run->cut[0] != '\0' ? (double)run->cut_by
					    : (double)NAN);
	cJSON_AddBoolToObject(root, "files_changed", run->files_changed);
	json_add_string(root, "judge_files_sha256",
			run->hash[0] != '\0' ? run->hash : NULL);
	session_run_file(run, "run.json", file, sizeof(file));
	result = folder_write_json(s->setup.path, file, root, err);
	cJSON_Delete(root);
	return result;
}

/* A small file below the folder as text; false when it is not there. */
static bool
read_text(struct session *s, const char *name, struct buf *out)
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

/* The reason bits of all samples of the telemetry that mean slowing down. */
static unsigned long
throttle_bits(struct str text)
{
	unsigned long all = 0;
	struct str line, cell;

	while (str_next(&text, '\n', &line)) {
		int column = 0;

		while (str_next(&line, ',', &cell) && column < THROTTLE_COLUMN)
			column++;
		if (column == THROTTLE_COLUMN)
			all |= strtoul(str_trim(cell).p, NULL, 16);
	}
	return all & THROTTLE_BITS;
}

unsigned long
session_throttled(struct session *s, const struct session_run *run)
{
	char name[FOLDER_PATH_SIZE];
	unsigned long bits = 0;
	struct buf text;

	if (!s->plan->throttle_drops)
		return 0;
	session_run_file(run, "gpu.csv", name, sizeof(name));
	buf_init(&text, MAX_TELEMETRY);
	if (read_text(s, name, &text))
		bits = throttle_bits((struct str){ text.data, text.len });
	buf_release(&text);
	return bits;
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
	(void)read_text(s, name, &text);
	if (s->plan->end_marker != NULL &&
	    str_find((struct str){ text.data, text.len },
		     s->plan->end_marker) == NULL)
		guard_add(&run->hits, GUARD_EXIT, true,
			  "the end marker is not in its log");
	for (size_t i = 0; i < v->must.n; i++)
		if (!matches(v->must.text[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "nothing matches \"%.100s\"",
				  v->must.text[i]);
	for (size_t i = 0; i < v->must_not.n; i++)
		if (matches(v->must_not.text[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "a line matches \"%.100s\"",
				  v->must_not.text[i]);
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
}

static struct run_log_rule
log_rule(const struct session *s)
{
	bool is_score = s->plan->metric == PLAN_SCORE;

	return (struct run_log_rule){
		.formats = s->setup.formats,
		.force = true,
		.kind = is_score ? RUN_LOG_SCORE : RUN_LOG_TRAINING,
		.score_key = is_score ? s->plan->key : NULL,
	};
}

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
	struct run_log_rule rule = log_rule(s);
	const struct run_log *control;
	struct run_log log;
	char file[FOLDER_PATH_SIZE];

	session_run_file(run, s->plan->log, file, sizeof(file));
	if (run->watched || run->arm == 0 || run->arm >= s->plan->n_variants ||
	    !run->counted || v->numerics_changed ||
	    s->plan->metric != PLAN_STEP_MS ||
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

/* Read the log of a run that is over, and all that tells of it. */
static void
load_run(struct session *s, struct session_run *run)
{
	struct run_log_rule rule = log_rule(s);
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
	check_clock(run);
	if (session_throttled(s, run) != 0)
		guard_add(&run->hits, GUARD_THROTTLED, true,
			  "clock reason bits 0x%lx", session_throttled(s, run));
	clock_rfc3339((int64_t)(run->t0_s * 1000.0), run->t0);
	clock_rfc3339((int64_t)(run->t1_s * 1000.0), run->t1);
}

int
session_record(struct session *s, struct session_run *run, struct err *err)
{
	run->recorded = true;
	if (write_record(s, run, err) != 0)
		return -1;
	load_run(s, run);
	return 0;
}

/* The arms as the judge wants them, and the words of the schedule. */
static void
init_arms(struct session *s)
{
	s->tags = xcalloc(s->n_arms, sizeof(*s->tags));
	for (size_t i = 0; i < s->n_arms; i++) {
		struct buf tag;

		buf_init(&tag, sizeof(s->tags[i]) - 1);
		plan_arm_tag(s->plan, i, &tag);
		(void)snprintf(s->tags[i], sizeof(s->tags[i]), "%s", tag.data);
		buf_release(&tag);
		s->arms[i] = (struct judge_arm){
			.tag = s->tags[i],
			.aa = i >= s->plan->n_variants,
			.numerics_changed =
				plan_arm(s->plan, i)->numerics_changed,
			.other_noise = !noise_is_shared(s->plan, i),
		};
	}
	s->pod_names = xcalloc(s->plan->n_pods, sizeof(*s->pod_names));
	for (size_t i = 0; i < s->plan->n_pods; i++)
		s->pod_names[i] = s->plan->pods[i].id;
}

/* Rounds of the first pod as words of letters, "AB". */
static void
init_schedule(struct session *s, const unsigned char *order)
{
	size_t n = s->plan->blocks, width = s->n_arms + 1;

	s->schedule = xcalloc(n + 1, sizeof(*s->schedule));
	s->schedule_text = xcalloc(n + 1, width);
	for (size_t r = 0; r < n; r++) {
		char *word = s->schedule_text + r * width;

		for (size_t i = 0; i < s->n_arms; i++)
			word[i] = (char)('A' + order[(s->plan->burn_in + r) *
							     s->n_arms +
						     i]);
		s->schedule[r] = word;
	}
}

void
session_runs_init(struct session *s)
{
	const struct plan *plan = s->plan;

	s->n_arms = plan_n_arms(plan);
	s->rounds = plan->burn_in + plan->blocks;
	s->per_pod = s->rounds * s->n_arms;
	s->n_runs = s->per_pod * plan->n_pods;
	s->runs = xcalloc(s->n_runs, sizeof(*s->runs));
	s->judge_runs = xcalloc(s->n_runs, sizeof(*s->judge_runs));
	s->infos = xcalloc(s->n_runs, sizeof(*s->infos));
	init_arms(s);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		unsigned char *order = plan_schedule(plan, pod);

		if (pod == 0)
			init_schedule(s, order);
		for (size_t i = 0; i < s->per_pod; i++) {
			struct session_run *run =
				&s->runs[pod * s->per_pod + i];

			run->pod = pod;
			run->round = i / s->n_arms;
			run->pos = i % s->n_arms;
			run->arm = order[i];
			run->counted = run->round >= plan->burn_in;
			run->block =
				run->counted ? run->round - plan->burn_in : 0;
			name_run(s, run);
			read_record(s, run);
			if (run->recorded)
				load_run(s, run);
		}
		free(order);
	}
}

void
session_runs_release(struct session *s)
{
	if (s->judged)
		judge_release(&s->judge);
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].has_log)
			run_log_release(&s->runs[i].log);
	free(s->runs);
	free(s->judge_runs);
	free(s->infos);
	free(s->tags);
	free(s->pod_names);
	free(s->schedule);
	free(s->schedule_text);
}
