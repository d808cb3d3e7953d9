/* SPDX-License-Identifier: MIT */
/* Read the results of one run from its files: validity checks, telemetry, and steps.csv. */
#include <regex.h>

#include "base/file.h"
#include "bench/kernel.h"
#include "bench/session_priv.h"

#define MAX_STEPS_BYTES (256U * 1024 * 1024)
#define MAX_TELEMETRY	(16U * 1024 * 1024)
/* If the pod's clock and the log's clock differ by more than this over the window, rows were
 * written late and in batches, so the telemetry cannot be assigned to the window. */
#define BATCHED_SHARE 0.2
#define BATCHED_S     3.0
/* A GPU is reported as idle only with at least this many seconds of telemetry. */
#define LEAST_SAMPLES 3
/* A wall clock that drifts more than this during a run is unreliable. */
#define CLOCK_DRIFT_S	  2.0
#define CLOCK_DRIFT_SHARE 0.005
/* Error of two readings of a clock with a resolution of 0.01 s, with some reserve. */
#define CLOCK_READING_S 0.05
#define MAX_LOG_BYTES	(512U * 1024 * 1024)
/* The log of a run in progress is checked up to this step and this size. */
#define WATCHED_STEPS 5.0
#define MAX_WATCHED   (1024U * 1024)

/* The byte offset at which each row ends in the log; the caller frees it.  If CR splits a line into
 * parts that are all rows, each row ends with its part. */
static double *find_row_ends(const struct run_log *log)
{
	double *ends = xmalloc((log->n_rows + 1) * sizeof(*ends)), at = 0.0;
	FILE *stream = fopen(log->path, "re");
	AUTO_FREE double *parts = xmalloc((log->n_rows + 1) * sizeof(*parts));
	uint64_t line = 1;
	size_t row = 0, n_parts = 0;
	bool is_empty = true;
	int c;

	for (size_t i = 0; i < log->n_rows; i++)
		ends[i] = (double)NAN;
	while (stream != NULL && row < log->n_rows && (c = getc_unlocked(stream)) != EOF) {
		at += 1.0;
		if ((c == '\r' || c == '\n') && !is_empty && n_parts++ < log->n_rows)
			parts[n_parts - 1] = at;
		is_empty = c == '\r' || c == '\n';
		if (c != '\n')
			continue;
		size_t first = row;
		while (row < log->n_rows && log->rows[row].line <= line)
			ends[row++] = at;
		if (row - first == n_parts)
			memcpy(ends + first, parts, n_parts * sizeof(*ends));
		line++;
		n_parts = 0;
	}
	if (stream != NULL)
		(void)fclose(stream);
	return ends;
}

/* Read the telemetry of a run.  Returns false if none of the files exists. */
static bool read_health(struct session *s, const struct bench_run *run, struct health *health)
{
	static const char *const names[] = { "host.csv", "gpu.csv", "stamps" };
	struct buf text[3];
	bool any = false;

	for (int i = 0; i < 3; i++) {
		char file[FOLDER_PATH_SIZE];

		buf_init(&text[i], MAX_TELEMETRY);
		bench_run_path(&s->runs, run, names[i], file);
		any |= file_read(file, &text[i], NULL) == 0;
	}
	health_init(health, buf_str(&text[0]), buf_str(&text[1]), buf_str(&text[2]));
	for (int i = 0; i < 3; i++)
		buf_release(&text[i]);
	return any;
}

/* The first row at or after a step; n_rows: none. */
static size_t find_row(const struct run_log *log, double step)
{
	return index_of(i, log->n_rows, !(log->rows[i].step < step));
}

/* Find the rows a..b of a log that would be its window if all runs had the same rows, and set their
 * times.  Returns false with an empty *times if they have no times. */
static bool find_window_rows(const struct session *s, const struct run_log *log,
			     struct step_times *times, size_t *a, size_t *b)
{
	const struct judge_rule *rule = &s->plan->rule;
	const struct step_rates rates = run_log_rates(log, rule->tok_kind);
	const struct step_row *rows = log->rows;
	size_t n = log->n_rows;

	*times = (struct step_times){ 0 };
	if (n < 2)
		return false;
	*a = find_row(log, rule->lo);
	*b = find_row(log, rule->hi);
	if (rule->window == WINDOW_AUTO ||
	    (rule->window == WINDOW_DEFAULT &&
	     (*b >= n || rows[*a].step != rule->lo || rows[*b].step != rule->hi))) {
		*a = n / 4;
		*b = n - 1;
		/* Start after the last row at which the log sets its clock back. */
		if (step_times_init(times, rows, n, &rates, rows[n - 2].step, rows[n - 1].step,
				    NULL) == 0 &&
		    times->first > *a)
			*a = times->first;
		step_times_release(times);
	}
	if (*b >= n)
		*b = n - 1;
	return *a < *b &&
	       step_times_init(times, rows, n, &rates, rows[*a].step, rows[*b].step, NULL) == 0;
}

/* Seconds from row a to row b by the log's own clock; NAN: unknown. */
static double printed_between(const struct step_times *times, size_t a, size_t b)
{
	return times->n > 0 ? times->t_s[b] - times->t_s[a] : (double)NAN;
}

/* For each row, the delay in seconds between printing it and its arrival in the log file. The log's
 * clock gives the time between two rows, so the row that is ahead of the pod's clock the most
 * bounds the delay of all rows before it. 0: none, small or unknown. The caller frees it. */
static double *find_late(const struct step_times *times, const struct run_log *log,
			 const double *ends, const struct health *health)
{
	double *late = xcalloc(log->n_rows + 1, sizeof(*late));
	double best = -(double)INFINITY, to_s = 0.0, after;
	size_t to = 0;

	for (size_t i = log->n_rows; health->n_host > 0 && i-- > 0;) {
		double at = health_time_of(health, ends[i], &after);
		double printed = printed_between(times, times->first, i);
		double ahead = (1.0 - HEALTH_PACE_SHARE) * printed - at;

		if (ahead > best) { /* false for NAN */
			best = ahead;
			to_s = at;
			to = i;
		}
		double made = to_s - printed_between(times, i, to);
		if (made >= health->host[0].up_s &&
		    best - (1.0 - HEALTH_PACE_SHARE) * printed + after > health_pace_s(health))
			late[i] = after - made;
	}
	return late;
}

/* Warn if the program buffered its rows, or if no stamps show when they reached the log. */
static void check_buffered(const struct step_times *times, struct bench_run *run,
			   const struct health *health)
{
	const struct run_log *log = &run->log;
	AUTO_FREE double *ends = find_row_ends(log);
	AUTO_FREE double *late = find_late(times, log, ends, health);
	double most = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < log->n_rows; i++) {
		most = fmax(most, late[i]);
		n += late[i] > 0.0 ? 1 : 0;
	}
	if (n > 0)
		guard_add(&run->hits, GUARD_BUFFERED, false,
			  "%zu of its %zu rows reached the log up to %.*f s late, so they have no "
			  "telemetry",
			  n, log->n_rows, most < 10.0 ? 1 : 0, most);
	if (health->stamping && health->n_stamps == 0 && log->n_rows > 0)
		guard_add(&run->hits, GUARD_UNSTAMPED, false,
			  "the process that timestamps rows was killed, or the log was "
			  "rewritten: row times are known only to the second");
}

/* Did the rows a..b reach the log one by one at the log's pace, without pauses and buffers? */
static bool is_paced(const struct step_times *times, const double *ends,
		     const struct health *health, size_t a, size_t b)
{
	double unseen, from = health_time_of(health, ends[a], &unseen);
	double pace =
		(health_time_of(health, ends[b], &unseen) - from) / printed_between(times, a, b);

	for (size_t i = a + 1; i < b; i++) {
		double due = pace * printed_between(times, a, i);
		double seen = health_time_of(health, ends[i], &unseen) - from;

		if (!(fabs(seen - due) <= health_pace_s(health) + HEALTH_PACE_SHARE * due))
			return false;
	}
	return true;
}

/* Set the duration of the rows a..b by both clocks, without the intervals that end in the first row
 * after a validation, and the uncertainty of the pod's clock. */
static void add_window(const struct step_times *times, const struct run_log *log,
		       const double *ends, const struct health *health, size_t a, size_t b,
		       struct health_sum *sum)
{
	double seen, unseen;

	sum->printed_s = sum->shown_least_s = sum->shown_most_s = 0.0;
	sum->paced = true;
	for (size_t i = a; i <= b; i++) {
		if (i < b && !log->rows[i + 1].after_val)
			continue;
		seen = health_time_of(health, ends[a], &unseen);
		sum->shown_most_s -= unseen;
		sum->shown_least_s -= seen;
		seen = health_time_of(health, ends[i], &unseen);
		sum->shown_most_s += seen;
		sum->shown_least_s += unseen;
		sum->printed_s += printed_between(times, a, i);
		sum->paced &= is_paced(times, ends, health, a, i);
		sum->n_validated += i < b ? 1 : 0;
		a = i + 1;
	}
}

/* Set when each row appeared; rows seen at the same check are spread over the time before it. */
static void stamp_rows(struct run_log *log, const double *ends, const struct health *health)
{
	double after, next;

	for (size_t i = 0, n; i < log->n_rows; i += n) {
		double at = health_time_of(health, ends[i], &after);

		/* a check takes time itself, and may start before the last one ended */
		after = i > 0 ? fmax(after, log->rows[i - 1].stamp_s) : after;
		n = 1;
		while (i + n < log->n_rows && health_time_of(health, ends[i + n], &next) == at)
			n++;
		for (size_t k = 0; k < n; k++)
			log->rows[i + k].stamp_s =
				k + 1 < n ? at - (at - after) * (double)(n - 1 - k) / (double)n
					  : at;
	}
}

/* Measure the window of a training run by the pod's clock; unknown values are NAN.  Returns true if
 * both clocks agree well enough that the window is *from_s to *to_s. */
static bool find_window(const struct session *s, struct bench_run *run, const struct health *health,
			struct health_sum *sum, double *from_s, double *to_s)
{
	struct run_log *log = &run->log;
	AUTO_FREE double *ends = find_row_ends(log);
	struct step_times times;
	bool agrees = false;
	double seen;
	size_t a, b;

	if (health->n_stamps > 0)
		stamp_rows(log, ends, health);
	if (find_window_rows(s, log, &times, &a, &b)) {
		double printed = printed_between(&times, a, b);

		*to_s = health_time_of(health, ends[b], &seen);
		(void)health_time_of(health, ends[a], from_s);
		add_window(&times, log, ends, health, a, b, sum);
		agrees = fabs(*to_s - *from_s - printed) <= BATCHED_S + BATCHED_SHARE * printed;
		/* The stamps are the pod's clock, and cannot confirm themselves. */
		if (times.clock == STEP_CLOCK_STAMPS) {
			sum->paced = false;
			sum->shown_least_s = sum->shown_most_s = (double)NAN;
		}
	}
	check_buffered(&times, run, health);
	step_times_release(&times);
	return agrees;
}

#define TEN_DIGITS (-1) /* print ten significant digits */

/* Append a number, or nothing for NAN. */
static void append_cell(struct buf *text, const char *before, double value, int decimals)
{
	buf_append_str(text, before);
	if (!isnan(value))
		buf_appendf(text, decimals == TEN_DIGITS ? "%.*g" : "%.*f",
			    decimals == TEN_DIGITS ? 10 : decimals, value);
}

int session_write_steps(struct session *s, const struct judge_run *run, struct err *err)
{
	const struct bench_run *own = array_find(one, s->runs.v, s->runs.n, &one->log == run->log);
	char name[FOLDER_PATH_SIZE];
	struct health health;
	AUTO_BUF text = buf_new(MAX_STEPS_BYTES);

	if (own == NULL || run->log->n_rows == 0 || run->times.n == 0)
		return 0;
	(void)read_health(s, own, &health);
	AUTO_FREE double *ends = find_row_ends(run->log);
	AUTO_FREE double *late = find_late(&run->times, run->log, ends, &health);
	buf_append_str(&text, "loss,step,throughput,train_time_min,cum_time_s,"
			      "interval_ms,in_window,sm_mhz,power_w,temp_c,reasons,pod_s\r\n");
	/* First the columns of older readers, then the state of the GPU; empty: unknown. */
	for (size_t i = 0; i < run->times.n; i++) {
		const struct step_row *row = &run->log->rows[i];
		double t = run->times.t_s[i], after, up = health_time_of(&health, ends[i], &after);
		const struct health_gpu *gpu =
			late[i] > 0.0 || isnan(up) ? NULL : health_gpu_at(&health, up);

		append_cell(&text, "", row->train_loss, TEN_DIGITS);
		append_cell(&text, ",", row->step, 0);
		append_cell(&text, ",", row->tok_s, TEN_DIGITS);
		append_cell(&text, ",", t / 60.0, TEN_DIGITS);
		append_cell(&text, ",", t, TEN_DIGITS);
		append_cell(&text, ",",
			    i > 0 ? 1000.0 * (t - run->times.t_s[i - 1]) /
					    (row->step - row[-1].step)
				  : (double)NAN,
			    TEN_DIGITS);
		append_cell(&text, ",", row->step >= s->judge.lo && row->step <= s->judge.hi, 0);
		append_cell(&text, ",", gpu != NULL ? gpu->sm_mhz : (double)NAN, 0);
		append_cell(&text, ",", gpu != NULL ? gpu->power_w : (double)NAN, 1);
		append_cell(&text, ",", gpu != NULL ? gpu->temp_c : (double)NAN, 0);
		buf_append_str(&text, ",");
		if (gpu != NULL)
			buf_appendf(&text, "0x%lx", gpu->reasons);
		append_cell(&text, ",", health.n_stamps > 0 ? up : (double)NAN, 3);
		buf_append_str(&text, "\r\n");
	}
	bench_run_file(own, "steps.csv", name);
	health_release(&health);
	return folder_write(s->setup.path, name, buf_str(&text), err);
}

static bool has_match(const char *pattern, const char *text)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0)
		return false;
	bool found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

/* Check the end marker, and the lines that prove that the variant took effect. */
static void check_markers(struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	const char *marker = s->plan->end_marker;
	AUTO_BUF text = buf_new(MAX_LOG_BYTES);

	if (!run->has_log || (marker == NULL && v->must.n == 0 && v->must_not.n == 0))
		return;
	if (file_read(run->log.path, &text, NULL) != 0)
		buf_clear(&text);
	if (marker != NULL && str_find(buf_str(&text), marker) == NULL)
		guard_add(&run->hits, GUARD_EXIT, true, "its log does not contain the end marker");
	for (size_t i = 0; i < v->must.n; i++)
		if (!has_match(v->must.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "no line of its log matches \"%.100s\" (must_match)",
				  v->must.v[i]);
	for (size_t i = 0; i < v->must_not.n; i++)
		if (has_match(v->must_not.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true,
				  "a line of its log matches \"%.90s\" (must_not_match)",
				  v->must_not.v[i]);
}

/* Check that judge files and sources are the same in all runs, or all of an arm's copies. */
static void check_files(struct session *s, struct bench_run *run)
{
	bool copies = plan_needs_copies(s->plan);

	if (run->result.files_changed)
		guard_add(&run->hits, GUARD_FILES, true, "judge files changed during the run");
	array_each (other, s->runs.v, s->runs.n) {
		if (other->end == RUN_END_NONE)
			continue;
		if (other->result.hash[0] != '\0' && run->result.hash[0] != '\0' &&
		    strcmp(other->result.hash, run->result.hash) != 0)
			guard_add(&run->hits, GUARD_FILES, true,
				  "judge files differ from those of run %s", other->id);
		if (other->result.work[0] == '\0' || run->result.work[0] == '\0' ||
		    (copies && plan_arm(s->plan, other->arm) != plan_arm(s->plan, run->arm)) ||
		    strcmp(other->result.work, run->result.work) == 0)
			continue;
		/* Different sources on another pod are only a warning: all its arms ran them. */
		guard_add(&run->hits, GUARD_SAME, other->pod == run->pod,
			  "its sources differ from those of run %.60s: a file in the working "
			  "directory was changed during the bench",
			  other->id);
	}
}

/* Check that no variant changed a file that all arms read; a warning if the control does, too. */
static void check_shared(const struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm), *control = plan_arm(s->plan, 0);
	const char *editable = strstr(run->result.runtime, "editable /");

	if (editable != NULL && plan_needs_copies(s->plan))
		guard_add(&run->hits, GUARD_SHARED, false,
			  "%.90s imports from the common folder: all arms may run the same code",
			  editable + strlen("editable "));
	array_each (by, s->runs.v, v != control ? s->runs.n : 0) {
		/* Tabs enclose a file that the control's runs write, too. */
		const char *path = by->result.shared;
		bool has_control = false, control_too = path[0] == '\t';
		struct str name = { path + control_too, strcspn(path + control_too, "\t") };
		AUTO_TEXT listed = xasprintf("\t%.*s\t", (int)name.len, name.p);

		if (name.len == 0 || plan_arm(s->plan, by->arm) != v)
			continue;
		array_each (other, s->runs.v, s->runs.n) {
			bool ran = plan_arm(s->plan, other->arm) == control &&
				   other->end == RUN_END_EXITED;

			has_control |= ran;
			control_too |= ran && strstr(other->result.shared, listed) != NULL;
		}
		if (name.len > 70)
			name = str_skip(name, name.len - 70);
		guard_add(&run->hits, GUARD_SHARED, has_control && !control_too,
			  "run %.30s changed %.*s, which the other arms read, too", by->id,
			  (int)name.len, name.p);
	}
}

static void check_clock(struct bench_run *run)
{
	double wall = run->result.t1_s - run->result.t0_s;
	double away = fabs(wall - run->result.up_s);

	/* Both times are in whole seconds, so their difference has an error of up to 1 s. */
	if (away - 1.0 > fmax(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->result.up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's wall clock advanced %.0f s in %.1f s", wall, run->result.up_s);
	if (run->drift_s - CLOCK_READING_S >
	    fmin(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->result.up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's steady clock drifted from this machine's by %.2f s in %.1f s "
			  "(was the machine paused?)",
			  run->drift_s, run->result.up_s);
}

static void check_health(struct session *s, struct bench_run *run)
{
	struct health_sum window = { .printed_s = (double)NAN };
	double from_s = (double)NAN, to_s = (double)NAN;
	struct health_sum *h = &run->health;
	struct health health;

	run->has_health = read_health(s, run, &health);
	if (run->has_log && run->log.kind == RUN_LOG_TRAINING &&
	    !find_window(s, run, &health, &window, &from_s, &to_s))
		from_s = to_s = (double)NAN;
	*h = health_sum(&health, from_s, to_s);
	h->printed_s = window.printed_s;
	h->took_s = run->result.up_s;
	h->paced = window.paced;
	h->n_validated = window.n_validated;
	h->shown_least_s = window.shown_least_s;
	h->shown_most_s = window.shown_most_s;
	health_release(&health);
	if (!run->has_health)
		return;
	if (h->reasons & HEALTH_THROTTLE)
		guard_add(&run->hits, GUARD_THROTTLED, s->plan->throttle_drops,
			  "the GPU lowered its clocks: event reasons 0x%lx",
			  h->reasons & HEALTH_THROTTLE);
	if (h->foreign[0] != '\0')
		guard_add(&run->hits, GUARD_FOREIGN, s->plan->refuse_foreign,
			  "pids %s used its GPUs, too", h->foreign);
	if (h->n_left > 0)
		guard_add(&run->hits, GUARD_LEFT, false,
			  "%zu process%s that run %.40s started %s still running: %s", h->n_left,
			  h->n_left > 1 ? "es" : "", run->id, h->n_left > 1 ? "are" : "is",
			  h->left);
	if (!s->plan->kernel && h->n_gpu >= LEAST_SAMPLES && h->util_pct < 50.0)
		guard_add(&run->hits, GUARD_HOST_BOUND, false,
			  "the GPU was idle %.0f%% of the time", 100.0 - h->util_pct);
	if (h->load1 > h->cores)
		guard_add(&run->hits, GUARD_LOAD, false, "load %.1f on %.0f cores when it started",
			  h->load1, h->cores);
}

/* Read the local copy of the log of a run, which may be incomplete. */
static int read_log(const struct session *s, const struct bench_run *run, struct run_log *log,
		    struct err *err)
{
	enum run_log_kind kind = bench_metric_find(s->plan->key)->kind;
	const struct run_log_rule rule = {
		.formats = s->setup.formats,
		.force = true,
		/* If a timed command prints rows, they are compared with the control's. */
		.kind = kind == RUN_LOG_WALL ? RUN_LOG_TRAINING : kind,
		.score_key = kind == RUN_LOG_SCORE ? s->plan->key : NULL,
	};
	char path[FOLDER_PATH_SIZE];

	bench_run_path(&s->runs, run, s->plan->log, path);
	if (run_log_read(log, path, &rule, err) != 0)
		return -1;
	if (kind == RUN_LOG_WALL)
		log->kind = RUN_LOG_WALL;
	log->wall_s = run->result.up_s;
	return 0;
}

void session_load_run(struct session *s, struct bench_run *run)
{
	struct err err = { ERR_NONE, "" };

	run->hits.n = 0;
	if (run->end == RUN_END_LOST) {
		guard_add(&run->hits, GUARD_LOST, true,
			  "it disappeared twice, without a process or an exit status");
		return;
	}
	if (run->end != RUN_END_EXITED)
		return;
	run->has_log = read_log(s, run, &run->log, &err) == 0;
	if (!run->has_log)
		guard_add(&run->hits, GUARD_LOST, true, "%.150s", err.text);
	if (run->cut[0] != '\0')
		guard_add(&run->hits, run->cut_by, true, "%s", run->cut);
	else if (run->result.rc != 0.0)
		guard_add(&run->hits, GUARD_EXIT, true,
			  run->result.rc == 124.0 ? "timed out (exit status %.0f)"
						  : "exit status %.0f",
			  run->result.rc);
	if (s->plan->kernel)
		kernel_guards(run);
	check_markers(s, run);
	check_files(s, run);
	check_shared(s, run);
	check_clock(run);
	check_health(s, run);
	clock_rfc3339((int64_t)(fmax(run->result.t0_s, 0.0) * 1000.0), run->t0);
	clock_rfc3339((int64_t)(fmax(run->result.t1_s, 0.0) * 1000.0), run->t1);
}

/* A valid log of the control to compare losses with, preferably from the same round; or NULL. */
static const struct run_log *find_control_log(const struct session *s, const struct bench_run *run)
{
	const struct run_log *found = NULL;

	array_each (other, s->runs.v, s->runs.n) {
		if (other->arm != 0 || !other->has_log || !other->counted ||
		    guard_hard(&other->hits) != NULL)
			continue;
		if (other->pod == run->pod && other->round == run->round)
			return &other->log;
		found = &other->log;
	}
	return found;
}

bool session_should_cut(struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	struct guard_hits hits = { 0 };
	char file[FOLDER_PATH_SIZE];
	struct run_log log;

	bench_run_file(run, s->plan->log, file);
	if (run->watched || run->arm == 0 || run->arm >= s->plan->n_variants || !run->counted ||
	    v->numerics_changed || bench_metric_find(s->plan->key)->kind != RUN_LOG_TRAINING ||
	    folder_size(s->setup.path, file) > MAX_WATCHED)
		return false;
	const struct run_log *control = find_control_log(s, run);
	if (control == NULL || read_log(s, run, &log, NULL) != 0)
		return false;
	const struct guard_losses a = { control->rows, control->n_rows, 0.0, 0.0, (double)NAN };
	const struct guard_losses b = { log.rows, log.n_rows, 0.0, 0.0, (double)NAN };
	if (log.run.status == RUN_DIVERGED)
		guard_add(&hits, GUARD_NAN, true, "NaN or infinity in the log");
	if (log.run.seed == control->run.seed)
		guard_check_losses(&hits, &a, &b, &s->plan->rule.losses, false);
	const struct guard_hit *hit = guard_hard(&hits);
	if (hit != NULL) {
		run->cut_by = hit->guard;
		print_into(run->cut, "%s", hit->text);
	}
	run->watched = log.n_rows > 0 && log.rows[log.n_rows - 1].step >= WATCHED_STEPS;
	run_log_release(&log);
	return hit != NULL;
}
