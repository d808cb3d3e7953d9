/* SPDX-License-Identifier: MIT */
/* The pods of the model: their link, their telemetry, what they are. */
#include "config.h"

#include "model/model_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"

#define WHY_BYTES  512
#define LINE_BYTES 2000U /* of what a check says */

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
model_pod_release(struct model_pod *pod)
{
	model_free_series(pod->telemetry);
	free(pod->name);
	free(pod->target);
	free(pod->why);
	free(pod->gpu_name);
	model_check_release(&pod->check);
}

size_t
model_pod_add(struct model *model, const char *name, const char *target)
{
	const struct model_pod pod = { .name = xstrdup(name),
				       .target = xstrdup(target),
				       .lag_ms = -1,
				       .usd_per_hour = RUN_ABSENT,
				       .disk_free_bytes = RUN_ABSENT };

	xpush(model->pods, model->n_pods, model->cap_pods, pod);
	model_note_change(model, MODEL_PODS);
	return model->n_pods - 1;
}

const char *
model_pod_name(const struct model *model, size_t pod)
{
	return pod < model->n_pods ? model->pods[pod].name : "";
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
	p->why = why != NULL ? model_sanitised(why, WHY_BYTES) : NULL;
	model_note_change(model, MODEL_PODS);
}

void
model_pod_sample(struct model *model, size_t pod, enum metric metric,
		 double value, int64_t wall_ms)
{
	assert(pod < model->n_pods && metric < METRIC_COUNT);
	model_push_point(&model->pods[pod].telemetry[metric],
			 &(struct series_point){ RUN_ABSENT, RUN_ABSENT,
						 wall_ms, value });
	if (metric >= METRIC_GPU_UTIL && metric <= METRIC_GPU_THROTTLE)
		model->pods[pod].has_gpu = true;
	model_note_change(model, MODEL_PODS);
}

void
model_pod_telemetry(struct model *model, size_t pod,
		    const struct telemetry *told, int64_t wall_ms)
{
	const struct {
		enum metric metric;
		double value;
	} values[] = {
		{ METRIC_GPU_UTIL, told->gpu_util },
		{ METRIC_GPU_MEM_MIB, told->gpu_mem_mib },
		{ METRIC_GPU_POWER_W, told->gpu_power_w },
		{ METRIC_GPU_TEMP_C, told->gpu_temp_c },
		{ METRIC_GPU_SM_MHZ, told->gpu_sm_mhz },
		{ METRIC_GPU_THROTTLE, told->gpu_throttle },
		{ METRIC_HOST_LOAD, told->host_load },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (run_has(values[i].value))
			model_pod_sample(model, pod, values[i].metric,
					 values[i].value, wall_ms);
	model_pod_disk(model, pod, told->disk_free_bytes);
	if (told->n_gpus > 0)
		model_pod_gpu(model, pod, told->gpu_name);
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
	model_note_change(model, MODEL_PODS);
}

void
model_pod_disk(struct model *model, size_t pod, double free_bytes)
{
	assert(pod < model->n_pods);
	if (!run_has(free_bytes))
		return;
	model->pods[pod].disk_free_bytes = free_bytes;
	model_note_change(model, MODEL_PODS);
}

void
model_pod_gpu(struct model *model, size_t pod, const char *name)
{
	assert(pod < model->n_pods);
	free(model->pods[pod].gpu_name);
	model->pods[pod].gpu_name = model_sanitised(name, WHY_BYTES);
	model->pods[pod].has_gpu = true;
	model_note_change(model, MODEL_PODS);
}

void
model_check_release(struct model_check *check)
{
	for (size_t i = 0; i < check->n_lines; i++)
		free(check->lines[i]);
	*check = (struct model_check){ 0 };
}

void
model_check_add(struct model_check *check, struct str line)
{
	struct buf clean;

	if (check->n_lines == MODEL_CHECK_LINES)
		return;
	buf_init(&clean, LINE_BYTES);
	utf8_sanitize(&clean, line);
	check->lines[check->n_lines++] = buf_detach(&clean);
}

void
model_pod_checking(struct model *model, size_t pod)
{
	model->pods[pod].check.is_running = true;
	model_note_change(model, MODEL_PODS);
}

void
model_pod_checked(struct model *model, size_t pod, struct model_check *check)
{
	model_check_release(&model->pods[pod].check);
	model->pods[pod].check = *check;
	*check = (struct model_check){ 0 };
	model_note_change(model, MODEL_PODS);
}
