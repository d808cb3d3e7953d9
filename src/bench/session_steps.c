/* SPDX-License-Identifier: MIT */
/* The telemetry of a run held against its log; steps.csv; for the session. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "bench/session_priv.h"

#define MAX_STEPS_BYTES (256U * 1024 * 1024)
#define MAX_TELEMETRY	(16U * 1024 * 1024)
/* Rows whose times by the log's growth and by its own clock agree less than
 * this were written late, in heaps: their moments are not known. */
#define HEAPED_SHARE 0.2
#define HEAPED_S     3.0

/* Where each row of a log ends, in bytes; caller frees. */
static double *
row_ends(const struct run_log *log)
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

/* Both telemetry files of a run; false when there is neither. */
static bool
read_health(struct session *s, const struct bench_run *run,
	    struct health *health)
{
	static const char *const names[] = { "host.csv", "gpu.csv" };
	struct buf text[2];
	bool any = false;

	for (int i = 0; i < 2; i++) {
		char file[FOLDER_PATH_SIZE];

		buf_init(&text[i], MAX_TELEMETRY);
		bench_run_path(&s->runs, run, names[i], file);
		any |= file_read(file, &text[i], NULL) == 0;
	}
	health_init(health, (struct str){ text[0].data, text[0].len },
		    (struct str){ text[1].data, text[1].len });
	for (int i = 0; i < 2; i++)
		buf_release(&text[i]);
	return any;
}

/* The index of the first row from step on; n_rows: none. */
static size_t
row_from(const struct run_log *log, double step)
{
	size_t i = 0;

	while (i < log->n_rows && log->rows[i].step < step)
		i++;
	return i;
}

/* When the window of a training run was, as the pod's clock saw its rows. */
struct window_times {
	double from_s, from_seen_s; /* its first row was written between */
	double to_unseen_s, to_s;   /* and its last */
	double printed_s;	    /* by the log's own clock */
	bool paced;		    /* see health.h */
};

/* Seconds from row a to row b by the log's own clock; NAN: not printed. */
static double
printed_between(const struct session *s, const struct run_log *log, size_t a,
		size_t b)
{
	double ms = log->rows[b].train_ms - log->rows[a].train_ms;

	if (isnan(ms) && log->run.train_batch_tokens > 0.0 &&
	    s->plan->rule.tok_kind == TOK_CUMULATIVE)
		return log->run.train_batch_tokens *
		       (log->rows[b].step / log->rows[b].tok_s -
			log->rows[a].step / log->rows[a].tok_s);
	return ms / 1000.0;
}

/* Did the rows a..b come one by one, as their clock says, and without a
 * validation between them?  Then no pause and no buffer is in their times. */
static bool
is_paced(const struct session *s, const struct run_log *log, const double *ends,
	 const struct health *health, size_t a, size_t b)
{
	double unseen, from = health_time_of(health, ends[a], &unseen);

	for (size_t i = a + 1; i <= b; i++) {
		double printed = printed_between(s, log, a, i);
		double seen = health_time_of(health, ends[i], &unseen) - from;

		if (log->rows[i].after_val ||
		    !(fabs(seen - printed) <=
		      HEALTH_PACE_S + HEALTH_PACE_SHARE * printed))
			return false;
	}
	return true;
}

/*
 * NAN what cannot be told.  true: the rows came as the log's clock says, so
 * that from_s..to_s holds the window.
 */
static bool
find_window(const struct session *s, const struct run_log *log,
	    const struct health *health, struct window_times *w)
{
	const struct judge_rule *rule = &s->plan->rule;
	bool is_auto = rule->window == WINDOW_AUTO;
	size_t a = is_auto ? 0 : row_from(log, rule->lo);
	size_t b = is_auto ? log->n_rows : row_from(log, rule->hi), n;
	double *ends, printed;

	if (b >= log->n_rows)
		b = log->n_rows - 1;
	if (log->n_rows == 0 || a >= b)
		return false;
	ends = row_ends(log);
	w->to_s = health_time_of(health, ends[b], &w->to_unseen_s);
	w->from_seen_s = health_time_of(health, ends[a], &w->from_s);
	w->paced = is_paced(s, log, ends, health, a, b);
	free(ends);
	n = b - a;
	printed = printed_between(s, log, a, b);
	w->printed_s = printed;
	return n > 0 && !isnan(w->from_s) && !isnan(w->to_s) &&
	       fabs(w->to_s - w->from_s - printed) <=
		       HEAPED_S + HEAPED_SHARE * printed;
}

void
session_load_health(struct session *s, struct bench_run *run)
{
	struct window_times w = { (double)NAN, (double)NAN, (double)NAN,
				  (double)NAN, (double)NAN, false };
	double from_s = (double)NAN, to_s = (double)NAN;
	struct health health;

	run->has_health = read_health(s, run, &health);
	if (run->has_log && run->log.kind == RUN_LOG_TRAINING &&
	    find_window(s, &run->log, &health, &w)) {
		from_s = w.from_s;
		to_s = w.to_s;
	}
	run->health = health_sum(&health, from_s, to_s);
	run->health.printed_s = w.printed_s;
	run->health.paced = w.paced;
	run->health.shown_least_s = w.to_unseen_s - w.from_seen_s;
	run->health.shown_most_s = w.to_s - w.from_s;
	health_release(&health);
}

/* The run that was judged: its log is borrowed of it. */
static const struct bench_run *
run_of(const struct session *s, const struct judge_run *run)
{
	for (size_t i = 0; i < s->runs.n; i++)
		if (&s->runs.v[i].log == run->log)
			return &s->runs.v[i];
	return NULL;
}

static void
add_cell(struct buf *text, const char *before, double value, int decimals)
{
	buf_append_str(text, before);
	if (!isnan(value))
		buf_appendf(text, "%.*f", decimals, value);
}

/* What the GPU did when that row was written; empty where it is unknown. */
static void
add_telemetry(struct buf *text, const struct health *health, double end_byte)
{
	double after, up = health_time_of(health, end_byte, &after);
	const struct health_gpu *gpu =
		isnan(end_byte) || isnan(up) ? NULL : health_gpu_at(health, up);

	add_cell(text, ",", gpu != NULL ? gpu->sm_mhz : (double)NAN, 0);
	add_cell(text, ",", gpu != NULL ? gpu->power_w : (double)NAN, 1);
	add_cell(text, ",", gpu != NULL ? gpu->temp_c : (double)NAN, 0);
	buf_append_str(text, ",");
	if (gpu != NULL)
		buf_appendf(text, "0x%lx", gpu->reasons);
}

/* A row in the columns of older readers, without ours behind them. */
static void
add_row(struct buf *text, const struct session *s, const struct judge_run *run,
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
			    1000.0 * (t - run->times.t_s[i - 1]) /
				    (row->step - row[-1].step));
	buf_appendf(text, ",%d",
		    row->step >= s->judge.lo && row->step <= s->judge.hi);
}

int
session_write_steps(struct session *s, const struct judge_run *run,
		    struct err *err)
{
	const struct bench_run *kept = run_of(s, run);
	char name[FOLDER_PATH_SIZE];
	struct health health;
	struct buf text;
	double *ends;
	int result;

	if (kept == NULL || run->log->n_rows == 0 || run->times.n == 0)
		return 0;
	(void)read_health(s, kept, &health);
	ends = row_ends(run->log);
	buf_init(&text, MAX_STEPS_BYTES);
	buf_append_str(&text, "loss,step,throughput,train_time_min,cum_time_s,"
			      "interval_ms,in_window,sm_mhz,power_w,temp_c,"
			      "reasons\r\n");
	for (size_t i = 0; i < run->times.n; i++) {
		add_row(&text, s, run, i);
		add_telemetry(&text, &health, ends[i]);
		buf_append_str(&text, "\r\n");
	}
	bench_run_file(kept, "steps.csv", name);
	result = folder_write(s->setup.path, name,
			      (struct str){ text.data, text.len }, err);
	buf_release(&text);
	free(ends);
	health_release(&health);
	return result;
}
