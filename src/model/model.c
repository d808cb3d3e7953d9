/* SPDX-License-Identifier: MIT */
/* The truth that the screen shows; the collector writes, the views read. */
#include "config.h"

#include "model/model.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/logfile.h"
#include "model/model_priv.h"

#define EVENT_TEXT_BYTES 1024

void
model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
	map_init(&model->run_index);
	map_init(&model->log_index);
}

static void
free_noise(struct model *model)
{
	for (size_t i = 0; i < model->n_noise; i++) {
		free(model->noise[i].pod);
		free(model->noise[i].class_name);
	}
	free(model->noise);
}

static void
free_benches(struct model *model)
{
	for (size_t i = 0; i < model->n_benches; i++) {
		free(model->benches[i].id);
		free(model->benches[i].name);
		free(model->benches[i].state);
		free(model->benches[i].still_up);
		free(model->benches[i].report);
		bench_live_free(model->benches[i].live);
	}
	free(model->benches);
}

/* Close what holds a log's bytes beside its file. */
static void
let_go(struct model_log *log)
{
	if (log->fd < 0)
		return;
	(void)close(log->fd);
	log->fd = -1;
	log->moves++;
}

void
model_release(struct model *model)
{
	for (size_t i = 0; i < model->n_pods; i++)
		model_pod_release(&model->pods[i]);
	for (size_t i = 0; i < model->n_runs; i++)
		model_run_free(model->runs[i]);
	for (size_t i = 0; i < model->n_logs; i++) {
		let_go(model->logs[i]);
		logclass_release(&model->logs[i]->classes);
		logcame_release(&model->logs[i]->came);
		free(model->logs[i]->path);
		free(model->logs[i]->file);
		free(model->logs[i]);
	}
	for (size_t i = 0; i < model->n_events; i++)
		free(model->events[i].text);
	free_benches(model);
	free_noise(model);
	free(model->pods);
	free(model->runs);
	free(model->logs);
	free(model->events);
	map_release(&model->run_index, NULL);
	map_release(&model->log_index, NULL);
	memset(model, 0, sizeof(*model));
}

void
model_note_change(struct model *model, enum model_part part)
{
	model->generation++;
	model->changed |= part;
}

char *
model_sanitised(const char *text, size_t cap_bytes)
{
	struct buf out;

	buf_init(&out, cap_bytes);
	utf8_sanitize(&out, str_from(text));
	return buf_detach(&out);
}

void
model_push_point(struct series **series, const struct series_point *point)
{
	if (!isfinite(point->value))
		return;
	if (*series == NULL)
		*series = series_new(SERIES_CAP_POINTS);
	series_push(*series, point);
}

void
model_free_series(struct series *series[METRIC_COUNT])
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		series_free(series[i]);
}

static char *
log_key(size_t pod, const char *path)
{
	return xasprintf("%zu %s", pod, path);
}

struct model_log *
model_find_log(const struct model *model, size_t pod, const char *path)
{
	char *key = log_key(pod, path);
	struct model_log *log = map_get(&model->log_index, str_from(key));

	free(key);
	return log;
}

struct model_log *
model_log_get(struct model *model, size_t pod, const char *path)
{
	struct model_log *log = model_find_log(model, pod, path);
	char *key;

	if (log != NULL)
		return log;
	log = xcalloc(1, sizeof(*log));
	log->pod = pod;
	log->path = xstrdup(path);
	log->fd = -1;
	xpush(model->logs, model->n_logs, model->cap_logs, log);
	key = log_key(pod, path);
	(void)map_set(&model->log_index, str_from(key), log);
	free(key);
	model_note_change(model, MODEL_LOGS);
	return log;
}

void
model_log_after(struct model *model, struct model_log *log, const char *before)
{
	struct model_log *old = model_find_log(model, log->pod, before);

	if (old != NULL && old != log)
		old->next = log;
}

void
model_log_file(struct model_log *log, const char *file)
{
	free(log->file);
	log->file = xstrdup_null(file);
	log->inode = 0;
	log->moves++;
}

/* Of more than so many that are held open, the oldest are let go. */
static void
limit_kept(struct model *model)
{
	size_t kept = 0;

	for (size_t i = model->n_logs; i-- > 0;) {
		kept += model->logs[i]->fd >= 0;
		if (kept > MODEL_MAX_KEPT)
			let_go(model->logs[i]);
	}
}

void
model_log_keep(struct model *model, struct model_log *log, int fd)
{
	let_go(log);
	log->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	log->moves++;
	limit_kept(model);
}

void
model_log_gone(struct model *model, struct model_log *log, int64_t wall_ms)
{
	if (log->gone_wall_ms == wall_ms)
		return;
	log->gone_wall_ms = wall_ms;
	model_note_change(model, MODEL_LOGS);
	model_note_change(model, MODEL_RUNS);
}

const struct model_run *
model_log_cut_run(const struct model *model, const struct model_log *log)
{
	if (log->gone_wall_ms == 0)
		return NULL;
	for (size_t i = model->n_runs; i-- > 0;) {
		const struct model_run *mr = model->runs[i];

		if (mr->log != log)
			continue;
		return !mr->past && (mr->run.status == RUN_RUNNING ||
				     mr->run.status == RUN_TRUNCATED ||
				     mr->run.status == RUN_UNKNOWN)
			       ? mr
			       : NULL;
	}
	return NULL;
}

struct logfile *
model_log_open(const struct model_log *log)
{
	struct logfile *file;

	if (log->fd >= 0)
		return logfile_open_fd(fcntl(log->fd, F_DUPFD_CLOEXEC, 3),
				       NULL);
	file = log->file != NULL ? logfile_open(log->file, NULL) : NULL;
	if (file != NULL && log->inode != 0 &&
	    logfile_inode(file) != log->inode) {
		logfile_close(file);
		file = NULL;
	}
	return file;
}

void
model_log_ahead(struct model *model, struct model_log *log, struct str text)
{
	if (!log->behind) {
		let_go(log);
		log->fd = memfd_create("log", MFD_CLOEXEC);
		log->moves++;
		log->behind = true;
		limit_kept(model);
	}
	/* It is for the eye: what has no room is left out. */
	if (log->fd >= 0 &&
	    lseek(log->fd, 0, SEEK_CUR) + (off_t)text.len <= MODEL_MAX_AHEAD)
		(void)fd_write_all(log->fd, text.p, text.len);
	model_note_change(model, MODEL_LOGS);
}

void
model_log_line(struct model *model, struct model_log *log, uint64_t line,
	       enum line_class class)
{
	if (log->behind) {
		let_go(log);
		log->behind = false;
	}
	logclass_add(&log->classes, line, class);
	model_note_change(model, MODEL_LOGS);
}

void
model_log_read(struct model *model, struct model_log *log, uint64_t upto,
	       int64_t wall_ms)
{
	log->read_bytes = upto;
	logcame_add(&log->came, upto, wall_ms);
	model_note_change(model, MODEL_LOGS);
}

void
model_benches_set(struct model *model, struct model_bench *benches, size_t n)
{
	free_benches(model);
	model->benches = benches;
	model->n_benches = n;
	model_note_change(model, MODEL_BENCH);
}

void
model_noise_set(struct model *model, struct model_noise *noise, size_t n)
{
	free_noise(model);
	model->noise = noise;
	model->n_noise = n;
	model_note_change(model, MODEL_BENCH);
	model_note_change(model, MODEL_PODS);
}

void
model_event_add(struct model *model, const struct model_event *event)
{
	struct model_event new = *event, *oldest;

	new.text = model_sanitised(event->text, EVENT_TEXT_BYTES);
	if (model->n_events < MODEL_MAX_EVENTS) {
		xpush(model->events, model->n_events, model->cap_events, new);
	} else {
		oldest = &model->events[model->first_event];
		free(oldest->text);
		*oldest = new;
		model->first_event =
			(model->first_event + 1) % MODEL_MAX_EVENTS;
	}
	model_note_change(model, MODEL_EVENTS);
}

const struct model_event *
model_event_at(const struct model *model, size_t i)
{
	assert(i < model->n_events);
	return &model->events[(model->first_event + i) % model->n_events];
}
