/* SPDX-License-Identifier: MIT */
/* The runs of the model: what their logs say, and their series. */
#include "config.h"

#include "model/model_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void
model_run_free(struct model_run *mr)
{
	model_free_series(mr->series);
	run_release(&mr->run);
	free(mr->path);
	free(mr->group);
	free(mr);
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
		model_note_change(model, MODEL_RUNS);
	}
	if (mr->log == NULL)
		mr->log = model_find_log(model, pod, path);
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
	model_note_change(model, MODEL_RUNS);
}

void
model_run_sample(struct model *model, struct model_run *mr,
		 const struct sample *sample)
{
	assert(sample->metric < METRIC_COUNT);
	model_push_point(&mr->series[sample->metric],
			 &(struct series_point){ sample->step, sample->train_ms,
						 sample->wall_ms,
						 sample->value });
	model_note_change(model, MODEL_SAMPLES);
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
	model_note_change(model, MODEL_SAMPLES);
}

void
model_run_append(struct model *model, struct model_run *mr,
		 struct series *const series[METRIC_COUNT], uint64_t last_line)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		for (size_t k = 0;
		     series[i] != NULL && k < series_count(series[i]); k++)
			model_push_point(&mr->series[i],
					 series_at(series[i], k));
	mr->stored_line = last_line;
	model_note_change(model, MODEL_SAMPLES);
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
	model_note_change(model, MODEL_SAMPLES);
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
model_eval_s(const struct run *run)
{
	return run_has(run->eval_total_s) ? run->eval_total_s : run->eval_s;
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
	model_note_change(model, MODEL_RUNS);
}
