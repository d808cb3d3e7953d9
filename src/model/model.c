/* SPDX-License-Identifier: MIT */
/* The truth that the screen shows; the collector writes, the views read. */
#include "config.h"

#include "model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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

void
model_release(struct model *model)
{
	for (size_t i = 0; i < model->n_pods; i++)
		model_pod_release(&model->pods[i]);
	for (size_t i = 0; i < model->n_runs; i++)
		model_run_free(model->runs[i]);
	for (size_t i = 0; i < model->n_logs; i++) {
		logtail_free(model->logs[i]->tail);
		logclass_release(&model->logs[i]->classes);
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

struct model_log *
model_find_log(const struct model *model, size_t pod, const char *path)
{
	char *key = xasprintf("%zu %s", pod, path);
	struct model_log *log = map_get(&model->log_index, str_from(key));

	free(key);
	return log;
}

size_t
model_log_cap(const struct model *model)
{
	size_t lines = MODEL_ALL_LINES / (model->n_logs + 1);

	return lines > MODEL_LOG_LINES	     ? MODEL_LOG_LINES
	       : lines < MODEL_LOG_LINES_MIN ? MODEL_LOG_LINES_MIN
					     : lines;
}

/* Now and then those that get no more lines give some up too. */
static void
share_lines(struct model *model)
{
	if ((model->n_logs & (model->n_logs - 1)) != 0)
		return;
	for (size_t i = 0; i < model->n_logs; i++)
		logtail_limit(model->logs[i]->tail, model_log_cap(model));
}

struct model_log *
model_log_get(struct model *model, size_t pod, const char *path)
{
	char *key = xasprintf("%zu %s", pod, path);
	struct model_log *log = map_get(&model->log_index, str_from(key));

	if (log == NULL) {
		model->logs = xgrow(model->logs, model->n_logs,
				    &model->cap_logs, sizeof(*model->logs));
		log = xcalloc(1, sizeof(*log));
		log->pod = pod;
		log->path = xstrdup(path);
		log->tail = logtail_new(model_log_cap(model));
		model->logs[model->n_logs++] = log;
		share_lines(model);
		(void)map_set(&model->log_index, str_from(key), log);
		model_note_change(model, MODEL_LOGS);
	}
	free(key);
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
	struct logfile *file =
		log->file != NULL ? logfile_open(log->file, NULL) : NULL;

	if (file != NULL && log->inode != 0 &&
	    logfile_inode(file) != log->inode) {
		logfile_close(file);
		file = NULL;
	}
	return file;
}

/* Push a line; number 0: not known. */
static void
push_line(struct model *model, struct model_log *log, uint64_t number,
	  struct str text, enum line_class class)
{
	/* The tail copies; nothing is written through the pointer. */
	union {
		const char *read;
		char *text;
	} bytes = { text.p };

	logtail_limit(log->tail, model_log_cap(model));
	logtail_push(log->tail,
		     &(struct logtail_line){ bytes.text, (uint32_t)text.len,
					     class, number, model->n_lines++ });
	model_note_change(model, MODEL_LOGS);
}

void
model_log_ahead(struct model *model, struct model_log *log, struct str text)
{
	if (!log->ahead)
		logtail_clear(log->tail);
	log->ahead = true;
	push_line(model, log, 0, text, LINE_PLAIN);
}

void
model_log_line(struct model *model, struct model_log *log, uint64_t line,
	       struct str text, enum line_class class)
{
	if (log->ahead)
		logtail_clear(log->tail);
	log->ahead = log->behind = false;
	logclass_add(&log->classes, line, class);
	push_line(model, log, line, text, class);
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
model_benches_touch(struct model *model)
{
	model_note_change(model, MODEL_BENCH);
}

void
model_harness_touch(struct model *model)
{
	model_note_change(model, MODEL_HARNESS);
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
	struct model_event *slot;

	if (model->n_events < MODEL_MAX_EVENTS) {
		model->events =
			xgrow(model->events, model->n_events,
			      &model->cap_events, sizeof(*model->events));
		slot = &model->events[model->n_events++];
	} else {
		slot = &model->events[model->first_event];
		free(slot->text);
		model->first_event =
			(model->first_event + 1) % MODEL_MAX_EVENTS;
	}
	*slot = *event;
	slot->text = model_sanitised(event->text, EVENT_TEXT_BYTES);
	model_note_change(model, MODEL_EVENTS);
}

const struct model_event *
model_event_at(const struct model *model, size_t i)
{
	assert(i < model->n_events);
	return &model->events[(model->first_event + i) % model->n_events];
}
