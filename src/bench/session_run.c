/* SPDX-License-Identifier: MIT */
/*
 * What the files of one run tell, what its guards make of it, its telemetry
 * held against its log, and steps.csv.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "bench/kernel.h"
#include "bench/session_priv.h"

#define MAX_STEPS_BYTES (256U * 1024 * 1024)
#define MAX_TELEMETRY	(16U * 1024 * 1024)
/* Rows whose times by the log's growth and by its own clock agree less than
 * this were written late, in heaps: their moments are not known. */
#define HEAPED_SHARE 0.2
#define HEAPED_S     3.0
/* Seconds of telemetry from which a GPU that idles is told of. */
#define LEAST_SAMPLES 3

/* Where each row of a log ends, in bytes; caller frees. */
static double *row_ends(const struct run_log *log)
{
	double *ends = xmalloc((log->n_rows + 1) * sizeof(*ends)), at = 0.0;
	FILE *stream = fopen(log->path, "re");
	uint64_t line = 1;
	char block[65536];
	size_t n, row = 0;

	for (size_t i = 0; i < log->n_rows; i++)
		ends[i] = (double)NAN;
	while (stream != NULL && row < log->n_rows &&
	       (n = fread(block, 1, sizeof(block), stream)) > 0)
		for (size_t i = 0; i < n; i++) {
			at += 1.0;
			if (block[i] != '\n')
				continue;
			while (row < log->n_rows && log->rows[row].line <= line)
				ends[row++] = at;
			line++;
		}
	if (stream != NULL)
		(void)fclose(stream);
	return ends;
}

/* The telemetry files of a run; false when there is none. */
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
	health_init(health, (struct str){ text[0].data, text[0].len },
		    (struct str){ text[1].data, text[1].len },
		    (struct str){ text[2].data, text[2].len });
	for (int i = 0; i < 3; i++)
		buf_release(&text[i]);
	return any;
}

/* The index of the first row from step on; n_rows: none. */
static size_t row_from(const struct run_log *log, double step)
{
	size_t i = 0;

	while (i < log->n_rows && log->rows[i].step < step)
		i++;
	return i;
}

/* Seconds from row a to row b by the log's own clock; NAN: not printed. */
static double printed_between(const struct session *s, const struct run_log *log, size_t a,
			      size_t b)
{
	double ms = log->rows[b].train_ms - log->rows[a].train_ms;

	if (isnan(ms) && log->run.train_batch_tokens > 0.0 &&
	    s->plan->rule.tok_kind == TOK_CUMULATIVE)
		return log->run.train_batch_tokens * (log->rows[b].step / log->rows[b].tok_s -
						      log->rows[a].step / log->rows[a].tok_s);
	return ms / 1000.0;
}

/*
 * How much later each row was seen than it was made: of it and a later one the
 * log's clock says how long before that it was made, or longer.  0: so little
 * that it cannot be told, or nothing is known, or that clock counts more time
 * than the run took.  Caller frees.
 */
static double *find_late(const struct session *s, const struct run_log *log, const double *ends,
			 const struct health *health)
{
	double *late = xcalloc(log->n_rows + 1, sizeof(*late));
	double best = -(double)INFINITY, to_s = 0.0, after;
	size_t to = 0;

	for (size_t i = log->n_rows; health->n_host > 0 && i-- > 0;) {
		double at = health_time_of(health, ends[i], &after);
		double printed = printed_between(s, log, 0, i);
		double ahead = (1.0 - HEALTH_PACE_SHARE) * printed - at;

		/* A NaN is more than nothing. */
		if (ahead > best) {
			best = ahead;
			to_s = at;
			to = i;
		}
		double made = to_s - printed_between(s, log, i, to);
		if (made >= health->host[0].up_s &&
		    best - (1.0 - HEALTH_PACE_SHARE) * printed + after > health_pace_s(health))
			late[i] = after - made;
	}
	return late;
}

/* A program that kept its rows to itself, as one writes into a file. */
static void check_buffered(const struct session *s, struct bench_run *run,
			   const struct health *health)
{
	const struct run_log *log = &run->log;
	AUTO_FREE double *ends = row_ends(log);
	AUTO_FREE double *late = find_late(s, log, ends, health);
	double most = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < log->n_rows; i++) {
		most = fmax(most, late[i]);
		n += late[i] > 0.0 ? 1 : 0;
	}
	if (n > 0)
		guard_add(&run->hits, GUARD_BUFFERED, false,
			  "%zu of its %zu rows were seen up to %.*f s after "
			  "they were made: no telemetry is theirs",
			  n, log->n_rows, most < 10.0 ? 1 : 0, most);
	if (health->stamping && health->n_stamps == 0 && log->n_rows > 0)
		guard_add(&run->hits, GUARD_UNSTAMPED, false,
			  "what stamps its rows was ended, or its log was "
			  "written anew: they were looked at once a second");
}

/*
 * Did the rows a..b come one by one, at the pace of their clock, however fast
 * that goes?  Then neither a pause nor a buffer is in their times.
 */
static bool is_paced(const struct session *s, const struct run_log *log, const double *ends,
		     const struct health *health, size_t a, size_t b)
{
	double unseen, from = health_time_of(health, ends[a], &unseen);
	double pace =
		(health_time_of(health, ends[b], &unseen) - from) / printed_between(s, log, a, b);

	for (size_t i = a + 1; i < b; i++) {
		double due = pace * printed_between(s, log, a, i);
		double seen = health_time_of(health, ends[i], &unseen) - from;

		if (!(fabs(seen - due) <= health_pace_s(health) + HEALTH_PACE_SHARE * due))
			return false;
	}
	return true;
}

/*
 * The rows a..b, by the log's clock and by the pod's, without the ways to rows
 * behind a validation; with what the looks at them leave open.
 */
static void add_window(const struct session *s, const struct run_log *log, const double *ends,
		       const struct health *health, size_t a, size_t b, struct health_sum *sum)
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
		sum->printed_s += printed_between(s, log, a, i);
		sum->paced &= is_paced(s, log, ends, health, a, i);
		sum->n_validated += i < b ? 1 : 0;
		a = i + 1;
	}
}

/*
 * The window of a training run by the pod's clock; NAN what cannot be told.
 * true: the rows came as the log's clock says, so that *from_s..*to_s holds it.
 */
static bool find_window(const struct session *s, const struct run_log *log,
			const struct health *health, struct health_sum *sum, double *from_s,
			double *to_s)
{
	const struct judge_rule *rule = &s->plan->rule;
	bool is_auto = rule->window == WINDOW_AUTO;
	size_t a = is_auto ? 0 : row_from(log, rule->lo);
	size_t b = is_auto ? log->n_rows : row_from(log, rule->hi);
	double seen;

	if (b >= log->n_rows)
		b = log->n_rows - 1;
	if (log->n_rows == 0 || a >= b)
		return false;
	double *ends = row_ends(log);
	*to_s = health_time_of(health, ends[b], &seen);
	(void)health_time_of(health, ends[a], from_s);
	add_window(s, log, ends, health, a, b, sum);
	free(ends);
	double printed = printed_between(s, log, a, b);
	return fabs(*to_s - *from_s - printed) <= HEAPED_S + HEAPED_SHARE * printed;
}

/* The telemetry of a run, and when its window was by its pod's clock. */
static void session_load_health(struct session *s, struct bench_run *run)
{
	struct health_sum window = { .printed_s = (double)NAN };
	double from_s = (double)NAN, to_s = (double)NAN;
	struct health health;

	run->has_health = read_health(s, run, &health);
	if (run->has_log && run->log.kind == RUN_LOG_TRAINING) {
		if (!find_window(s, &run->log, &health, &window, &from_s, &to_s))
			from_s = to_s = (double)NAN;
		check_buffered(s, run, &health);
	}
	run->health = health_sum(&health, from_s, to_s);
	run->health.printed_s = window.printed_s;
	run->health.took_s = run->up_s;
	run->health.paced = window.paced;
	run->health.n_validated = window.n_validated;
	run->health.shown_least_s = window.shown_least_s;
	run->health.shown_most_s = window.shown_most_s;
	health_release(&health);
}

/* The run that was judged: its log is borrowed of it. */
static const struct bench_run *run_of(const struct session *s, const struct judge_run *run)
{
	return array_find(one, s->runs.v, s->runs.n, &one->log == run->log);
}

static void add_cell(struct buf *text, const char *before, double value, int decimals)
{
	buf_append_str(text, before);
	if (!isnan(value))
		buf_appendf(text, "%.*f", decimals, value);
}

/* What the GPU did when that row was made, and when that was; empty where it
 * is unknown. */
static void add_telemetry(struct buf *text, const struct health *health, double end_byte, bool late)
{
	double after, up = health_time_of(health, end_byte, &after);
	const struct health_gpu *gpu = late || isnan(up) ? NULL : health_gpu_at(health, up);

	add_cell(text, ",", gpu != NULL ? gpu->sm_mhz : (double)NAN, 0);
	add_cell(text, ",", gpu != NULL ? gpu->power_w : (double)NAN, 1);
	add_cell(text, ",", gpu != NULL ? gpu->temp_c : (double)NAN, 0);
	buf_append_str(text, ",");
	if (gpu != NULL)
		buf_appendf(text, "0x%lx", gpu->reasons);
	add_cell(text, ",", health->n_stamps > 0 ? up : (double)NAN, 3);
}

/* A row in the columns of older readers, without ours behind them. */
static void add_row(struct buf *text, const struct session *s, const struct judge_run *run,
		    size_t i)
{
	const struct step_row *row = &run->log->rows[i];
	double t = run->times.t_s[i];

	if (!isnan(row->train_loss))
		buf_appendf(text, "%.10g", row->train_loss);
	buf_appendf(text, ",%.0f,", row->step);
	if (!isnan(row->tok_s))
		buf_appendf(text, "%.10g", row->tok_s);
	buf_appendf(text, ",%.10g,%.10g,", t / 60.0, t);
	if (i > 0)
		buf_appendf(text, "%.10g",
			    1000.0 * (t - run->times.t_s[i - 1]) / (row->step - row[-1].step));
	buf_appendf(text, ",%d", row->step >= s->judge.lo && row->step <= s->judge.hi);
}

int session_write_steps(struct session *s, const struct judge_run *run, struct err *err)
{
	const struct bench_run *kept = run_of(s, run);
	char name[FOLDER_PATH_SIZE];
	struct health health;
	AUTO_BUF text = buf_new(MAX_STEPS_BYTES);

	if (kept == NULL || run->log->n_rows == 0 || run->times.n == 0)
		return 0;
	(void)read_health(s, kept, &health);
	double *ends = row_ends(run->log);
	double *late = find_late(s, run->log, ends, &health);
	buf_append_str(&text, "loss,step,throughput,train_time_min,cum_time_s,"
			      "interval_ms,in_window,sm_mhz,power_w,temp_c,"
			      "reasons,pod_s\r\n");
	for (size_t i = 0; i < run->times.n; i++) {
		add_row(&text, s, run, i);
		add_telemetry(&text, &health, ends[i], late[i] > 0.0);
		buf_append_str(&text, "\r\n");
	}
	bench_run_file(kept, "steps.csv", name);
	int result = folder_write(s->setup.path, name, buf_str(&text), err);
	free(late);
	free(ends);
	health_release(&health);
	return result;
}

/* A wall clock that moves more than this during a run is no clock. */
#define CLOCK_DRIFT_S	  2.0
#define CLOCK_DRIFT_SHARE 0.005
/* What reading a clock of hundredths twice may be off by. */
#define CLOCK_READING_S 0.05
#define MAX_LOG_BYTES	(512U * 1024 * 1024)
/* A log under way is watched up to this step, and up to this size. */
#define WATCHED_STEPS 5.0
#define MAX_WATCHED   (1024U * 1024)

static bool matches(const char *pattern, const char *text)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0)
		return false;
	bool found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

/* End marker, and the lines that prove that the variant took effect. */
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
		guard_add(&run->hits, GUARD_EXIT, true, "the end marker is not in its log");
	for (size_t i = 0; i < v->must.n; i++)
		if (!matches(v->must.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true, "nothing matches \"%.100s\"",
				  v->must.v[i]);
	for (size_t i = 0; i < v->must_not.n; i++)
		if (matches(v->must_not.v[i], text.data))
			guard_add(&run->hits, GUARD_MARKER, true, "a line matches \"%.100s\"",
				  v->must_not.v[i]);
}

/*
 * The judge's files have to be those of every run.  So do the sources; where
 * variants have copies of their own, those of every run of that variant.
 */
static void check_files(struct session *s, struct bench_run *run)
{
	bool copies = plan_needs_copies(s->plan);

	if (run->files_changed)
		guard_add(&run->hits, GUARD_FILES, true, "they changed while it ran");
	array_each (other, s->runs.v, s->runs.n) {
		const char *changed = strchr(run->work, ' ');

		if (other->end == RUN_END_NONE)
			continue;
		if (other->hash[0] != '\0' && run->hash[0] != '\0' &&
		    strcmp(other->hash, run->hash) != 0)
			guard_add(&run->hits, GUARD_FILES, true, "they differ from those of run %s",
				  other->id);
		if (other->work[0] == '\0' || run->work[0] == '\0' ||
		    (copies && plan_arm(s->plan, other->arm) != plan_arm(s->plan, run->arm)) ||
		    strcmp(other->work, run->work) == 0)
			continue;
		/* Other sources on another pod are a mark: both arms ran
		 * them there. */
		guard_add(&run->hits, GUARD_SAME, other->pod == run->pod,
			  "its sources are not those of run %.60s (%.12s "
			  "changed by %.12s)",
			  other->id, run->work, changed != NULL ? changed + 1 : "");
	}
}

static void check_clock(struct bench_run *run)
{
	double wall = run->t1_s - run->t0_s;
	double away = fabs(wall - run->up_s);

	/* Whole seconds at both ends: up to one of difference is nothing. */
	if (away - 1.0 > fmax(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's wall clock went %.0f s in %.1f s", wall, run->up_s);
	if (run->drift_s - CLOCK_READING_S > fmin(CLOCK_DRIFT_S, CLOCK_DRIFT_SHARE * run->up_s))
		guard_add(&run->hits, GUARD_CLOCK, true,
			  "the pod's steady clock moved by %.2f s against ours "
			  "in %.1f s (a paused machine?)",
			  run->drift_s, run->up_s);
}

/* What its pod did to the run, whatever its value is. */
static void check_health(struct session *s, struct bench_run *run)
{
	const struct health_sum *h = &run->health;

	session_load_health(s, run);
	if (!run->has_health)
		return;
	if (h->reasons & HEALTH_THROTTLE)
		guard_add(&run->hits, GUARD_THROTTLED, s->plan->throttle_drops,
			  "clock reason bits 0x%lx", h->reasons & HEALTH_THROTTLE);
	if (h->foreign[0] != '\0')
		guard_add(&run->hits, GUARD_FOREIGN, s->plan->refuse_foreign,
			  "pids %s were on its GPUs too", h->foreign);
	if (h->n_left > 0)
		guard_add(&run->hits, GUARD_LEFT, false,
			  "%zu process%s that began in run %.40s %s still "
			  "there: %s",
			  h->n_left, h->n_left > 1 ? "es" : "", run->id,
			  h->n_left > 1 ? "are" : "is", h->left);
	if (!s->plan->kernel && h->n_gpu >= LEAST_SAMPLES && h->util_pct < 50.0)
		guard_add(&run->hits, GUARD_HOST_BOUND, false, "the GPU idled %.0f%% of the time",
			  100.0 - h->util_pct);
	if (h->load1 > h->cores)
		guard_add(&run->hits, GUARD_LOAD, false,
			  "a load of %.1f on %.0f cores when it began", h->load1, h->cores);
}

/* Read the log of a run as far as it is here. */
static int read_log(const struct session *s, const struct bench_run *run, struct run_log *log,
		    struct err *err)
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

void session_load_run(struct session *s, struct bench_run *run)
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
			  run->rc == 124.0 ? "timed out (exit status %.0f)" : "exit status %.0f",
			  run->rc);
	if (s->plan->kernel)
		kernel_guards(run);
	check_markers(s, run);
	check_files(s, run);
	check_clock(run);
	check_health(s, run);
	clock_rfc3339((int64_t)(fmax(run->t0_s, 0.0) * 1000.0), run->t0);
	clock_rfc3339((int64_t)(fmax(run->t1_s, 0.0) * 1000.0), run->t1);
}

/* A control whose losses a run's have to be: of its round, or of any. */
static const struct run_log *control_log(const struct session *s, const struct bench_run *run)
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

/* The first hard guard of what the log holds so far. */
static void watch_log(struct session *s, struct bench_run *run, const struct run_log *control,
		      const struct run_log *log)
{
	const struct guard_losses a = { control->rows, control->n_rows, 0.0, 0.0, (double)NAN };
	const struct guard_losses b = { log->rows, log->n_rows, 0.0, 0.0, (double)NAN };
	struct guard_hits hits = { 0 };

	if (log->run.status == RUN_DIVERGED)
		guard_add(&hits, GUARD_NAN, true, "NaN or infinity in the log");
	if (log->run.seed == control->run.seed)
		guard_check_losses(&hits, &a, &b, &s->plan->rule.losses, false);
	const struct guard_hit *hit = guard_hard(&hits);
	if (hit != NULL) {
		run->cut_by = hit->guard;
		print_into(run->cut, "%s", hit->text);
	}
	run->watched = log->n_rows > 0 && log->rows[log->n_rows - 1].step >= WATCHED_STEPS;
}

bool session_should_cut(struct session *s, struct bench_run *run)
{
	const struct plan_variant *v = plan_arm(s->plan, run->arm);
	char file[FOLDER_PATH_SIZE];
	struct run_log log;

	bench_run_file(run, s->plan->log, file);
	if (run->watched || run->arm == 0 || run->arm >= s->plan->n_variants || !run->counted ||
	    v->numerics_changed || bench_metric_find(s->plan->key)->kind != RUN_LOG_TRAINING ||
	    folder_size(s->setup.path, file) > MAX_WATCHED)
		return false;
	const struct run_log *control = control_log(s, run);
	if (control == NULL || read_log(s, run, &log, NULL) != 0)
		return false;
	watch_log(s, run, control, &log);
	run_log_release(&log);
	return run->cut[0] != '\0';
}
