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

#define EVENT_TEXT_BYTES 1024
#define WHY_BYTES	 512

static const char *const pod_state_names[] = {
#define X(id, name) [POD_##id] = (name),
	POD_STATE_LIST(X)
#undef X
};

const char *
pod_state_name(enum pod_state state)
{
	return pod_state_names[state];
}

void
model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
	map_init(&model->run_index);
	map_init(&model->log_index);
}

static void
free_series(struct series *series[METRIC_COUNT])
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		series_free(series[i]);
}

static void
free_run(struct model_run *mr)
{
	free_series(mr->series);
	run_release(&mr->run);
	free(mr->path);
	free(mr->group);
	free(mr);
}

static void
free_pod(struct model_pod *pod)
{
	free_series(pod->telemetry);
	free(pod->name);
	free(pod->target);
	free(pod->why);
	free(pod->gpu_name);
	model_check_release(&pod->check);
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
		free_pod(&model->pods[i]);
	for (size_t i = 0; i < model->n_runs; i++)
		free_run(model->runs[i]);
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

static void
note_change(struct model *model, enum model_part part)
{
	model->generation++;
	model->changed |= part;
}

static char *
sanitised(const char *text, size_t cap_bytes)
{
	struct buf out;

	buf_init(&out, cap_bytes);
	utf8_sanitize(&out, str_from(text));
	return buf_detach(&out);
}

size_t
model_pod_add(struct model *model, const char *name, const char *target)
{
	struct model_pod *pod;

	model->pods = xgrow(model->pods, model->n_pods, &model->cap_pods,
			    sizeof(*model->pods));
	pod = &model->pods[model->n_pods];
	memset(pod, 0, sizeof(*pod));
	pod->name = xstrdup(name);
	pod->target = xstrdup(target);
	pod->lag_ms = -1;
	pod->usd_per_hour = RUN_ABSENT;
	pod->disk_free_bytes = RUN_ABSENT;
	note_change(model, MODEL_PODS);
	return model->n_pods++;
}

size_t
model_pod_find(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->n_pods; i++)
		if (strcmp(model->pods[i].name, name) == 0)
			return i;
	return MODEL_NONE;
}

void
model_pod_state(struct model *model, size_t pod, enum pod_state state,
		const char *why, int64_t retry_at_ms)
{
	struct model_pod *p = &model->pods[pod];

	assert(pod < model->n_pods);
	p->state = state;
	p->retry_at_ms = retry_at_ms;
	free(p->why);
	p->why = why != NULL ? sanitised(why, WHY_BYTES) : NULL;
	note_change(model, MODEL_PODS);
}

static void
push_point(struct series **series, const struct series_point *point)
{
	if (!isfinite(point->value))
		return;
	if (*series == NULL)
		*series = series_new(SERIES_CAP_POINTS);
	series_push(*series, point);
}

void
model_pod_sample(struct model *model, size_t pod, enum metric metric,
		 double value, int64_t wall_ms)
{
	assert(pod < model->n_pods && metric < METRIC_COUNT);
	push_point(&model->pods[pod].telemetry[metric],
		   &(struct series_point){ RUN_ABSENT, RUN_ABSENT, wall_ms,
					   value });
	if (metric >= METRIC_GPU_UTIL && metric <= METRIC_GPU_THROTTLE)
		model->pods[pod].has_gpu = true;
	note_change(model, MODEL_PODS);
}

void
model_pod_fetched(struct model *model, size_t pod,
		  struct series *series[METRIC_COUNT])
{
	struct model_pod *p = &model->pods[pod];

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct series *here = p->telemetry[i];
		int64_t last_ms;

		if (series[i] == NULL)
			continue;
		last_ms = series_last(series[i])->wall_ms;
		for (size_t k = 0; here != NULL && k < series_count(here); k++)
			if (series_at(here, k)->wall_ms > last_ms)
				series_push(series[i], series_at(here, k));
		series_free(here);
		p->telemetry[i] = series[i];
		series[i] = NULL;
		p->has_gpu |= i >= METRIC_GPU_UTIL && i <= METRIC_GPU_THROTTLE;
	}
	note_change(model, MODEL_PODS);
}

void
model_pod_disk(struct model *model, size_t pod, double free_bytes)
{
	assert(pod < model->n_pods);
	if (!run_has(free_bytes))
		return;
	model->pods[pod].disk_free_bytes = free_bytes;
	note_change(model, MODEL_PODS);
}

void
model_pod_gpu(struct model *model, size_t pod, const char *name)
{
	assert(pod < model->n_pods);
	free(model->pods[pod].gpu_name);
	model->pods[pod].gpu_name = sanitised(name, WHY_BYTES);
	model->pods[pod].has_gpu = true;
	note_change(model, MODEL_PODS);
}

/* The key of a file's run: numbers first, so no path can imitate another. */
static char *
run_key(size_t pod, const char *path, unsigned int run_index)
{
	return xasprintf("%zu %u %s", pod, run_index, path);
}

/* The folder of a path: runs of one folder are seeds of one recipe. */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return xstrdup(slash == NULL ? "." : "/");
	return xstrndup(path, (size_t)(slash - path));
}

static struct model_log *
find_log(const struct model *model, size_t pod, const char *path)
{
	char *key = xasprintf("%zu %s", pod, path);
	struct model_log *log = map_get(&model->log_index, str_from(key));

	free(key);
	return log;
}

struct model_run *
model_run_get(struct model *model, size_t pod, const char *path,
	      unsigned int run_index)
{
	char *key = run_key(pod, path, run_index);
	struct model_run *mr = map_get(&model->run_index, str_from(key));

	if (mr == NULL && model->n_runs >= MODEL_MAX_RUNS)
		mr = model->runs[model->n_runs - 1];
	if (mr == NULL) {
		model->runs = xgrow(model->runs, model->n_runs,
				    &model->cap_runs, sizeof(*model->runs));
		mr = xcalloc(1, sizeof(*mr));
		mr->pod = pod;
		mr->path = xstrdup(path);
		mr->group = folder_of(path);
		run_init(&mr->run);
		mr->run.run_index = run_index;
		model->runs[model->n_runs++] = mr;
		(void)map_set(&model->run_index, str_from(key), mr);
		note_change(model, MODEL_RUNS);
	}
	if (mr->log == NULL)
		mr->log = find_log(model, pod, path);
	free(key);
	return mr;
}

void
model_run_update(struct model *model, struct model_run *mr,
		 const struct run *run)
{
	if (run != &mr->run) {
		run_release(&mr->run);
		run_copy(&mr->run, run);
	}
	note_change(model, MODEL_RUNS);
}

void
model_run_sample(struct model *model, struct model_run *mr,
		 const struct sample *sample)
{
	assert(sample->metric < METRIC_COUNT);
	push_point(&mr->series[sample->metric],
		   &(struct series_point){ sample->step, sample->train_ms,
					   sample->wall_ms, sample->value });
	note_change(model, MODEL_SAMPLES);
}

void
model_run_want(const struct model *model, const struct model_run *mr)
{
	const struct model_fetch *fetch = &model->fetch;

	if (mr->run_id == 0 || fetch->want == NULL)
		return;
	/* The model is const to who draws it, not to who fills it. */
	fetch->want(fetch->user, (struct model_run *)(uintptr_t)mr);
}

void
model_run_fetched(struct model *model, struct model_run *mr,
		  struct series *series[METRIC_COUNT], uint64_t last_line)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		series_free(mr->series[i]);
		mr->series[i] = series[i];
		series[i] = NULL;
	}
	mr->history = MODEL_WHOLE;
	mr->stored_line = last_line;
	note_change(model, MODEL_SAMPLES);
}

void
model_run_append(struct model *model, struct model_run *mr,
		 struct series *const series[METRIC_COUNT], uint64_t last_line)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		for (size_t k = 0;
		     series[i] != NULL && k < series_count(series[i]); k++)
			push_point(&mr->series[i], series_at(series[i], k));
	mr->stored_line = last_line;
	note_change(model, MODEL_SAMPLES);
}

void
model_run_forget(struct model *model, struct model_run *mr)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		series_free(mr->series[i]);
		mr->series[i] = NULL;
	}
	mr->history = MODEL_STORED;
	mr->stored_line = 0;
	note_change(model, MODEL_SAMPLES);
}

double
model_run_last(const struct model_run *mr, enum metric metric)
{
	const struct series *series = mr->series[metric];
	const struct series_point *last =
		series != NULL ? series_last(series) : NULL;

	return last != NULL ? last->value : RUN_ABSENT;
}

double
model_run_ms_per_step(const struct model_run *mr)
{
	const struct run *run = &mr->run;

	if (run_has(run->ms_per_step))
		return run->ms_per_step;
	if (run_has(run->tok_s_last) && run->tok_s_last > 0)
		return run->train_batch_tokens / run->tok_s_last * 1000;
	return run->step_avg_printed_ms;
}

double
model_run_tok_s(const struct model_run *mr)
{
	double ms = model_run_ms_per_step(mr);

	if (run_has(mr->run.train_batch_tokens) && run_has(ms) && ms > 0)
		return mr->run.train_batch_tokens / ms * 1000;
	return mr->run.tok_s_interval;
}

double
model_run_train_ms(const struct model_run *mr)
{
	if (run_has(mr->run.train_ms))
		return mr->run.train_ms;
	return mr->run.steps * model_run_ms_per_step(mr);
}

double
model_run_failed_step(const struct model_run *mr)
{
	const struct run *run = &mr->run;

	for (size_t i = 0; i < run->n_events; i++)
		if (run->events[i].kind == RUN_EVENT_NAN &&
		    run_has(run->events[i].step))
			return run->events[i].step;
	return run->last_step;
}

/* Count the time since the bytes before. */
static void
note_gap(struct model_run *mr, int64_t gap_ms)
{
	size_t bucket = 0;

	while (bucket + 1 < MODEL_GAP_BUCKETS && gap_ms >> (bucket + 1) > 0)
		bucket++;
	mr->gaps[bucket]++;
	mr->n_gaps++;
}

void
model_run_touch(struct model *model, struct model_run *mr, int64_t wall_ms,
		bool live)
{
	if (mr->first_byte_wall_ms == 0)
		mr->first_byte_wall_ms = wall_ms;
	else if (live && wall_ms > mr->last_byte_wall_ms)
		note_gap(mr, wall_ms - mr->last_byte_wall_ms);
	mr->last_byte_wall_ms = wall_ms;
	mr->live = live;
	note_change(model, MODEL_RUNS);
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
		log->tail = logtail_new(MODEL_LOG_LINES);
		model->logs[model->n_logs++] = log;
		(void)map_set(&model->log_index, str_from(key), log);
		note_change(model, MODEL_LOGS);
	}
	free(key);
	return log;
}

void
model_log_after(struct model *model, struct model_log *log, const char *before)
{
	struct model_log *old = find_log(model, log->pod, before);

	if (old != NULL && old != log)
		old->next = log;
}

void
model_log_file(struct model_log *log, const char *file)
{
	free(log->file);
	log->file = file != NULL ? xstrdup(file) : NULL;
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

	logtail_push(log->tail,
		     &(struct logtail_line){ bytes.text, (uint32_t)text.len,
					     class, number, model->n_lines++ });
	note_change(model, MODEL_LOGS);
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
	note_change(model, MODEL_BENCH);
}

void
model_benches_touch(struct model *model)
{
	note_change(model, MODEL_BENCH);
}

void
model_noise_set(struct model *model, struct model_noise *noise, size_t n)
{
	free_noise(model);
	model->noise = noise;
	model->n_noise = n;
	note_change(model, MODEL_BENCH);
	note_change(model, MODEL_PODS);
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
	slot->text = sanitised(event->text, EVENT_TEXT_BYTES);
	note_change(model, MODEL_EVENTS);
}

const struct model_event *
model_event_at(const struct model *model, size_t i)
{
	assert(i < model->n_events);
	return &model->events[(model->first_event + i) % model->n_events];
}
