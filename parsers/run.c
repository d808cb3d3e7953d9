/* SPDX-License-Identifier: MIT */
/* Create, copy, release and print a run; names of metrics, states and events. */
#include "parsers/run.h"

#include "parsers/json.h"
#include "parsers/run_series.h"

#define METRIC_ROW(id, name, unit, what) [METRIC_##id] = { name, unit, what },
static const struct metric_info infos[METRIC_COUNT] = { METRIC_LIST(METRIC_ROW) };

const struct metric_info *metric_info(enum metric m)
{
	return &infos[m];
}

const char *const metric_names[] = { METRIC_LIST(LIST_NAME) NULL };

enum metric metric_by_name(struct str name)
{
	return (enum metric)index_of(m, (int)METRIC_COUNT, str_eq_cstr(name, infos[m].name));
}

const char *const run_status_names[] = { RUN_STATUS_LIST(LIST_NAME) NULL };

const char *const run_class_names[] = { "roundtrip", "sliding", "ttt", "preq", "final", NULL };

const char *const run_event_names[] = { RUN_EVENT_LIST(LIST_NAME) NULL };

const char *run_status_name(enum run_status status)
{
	return run_status_names[status];
}

const char *run_event_name(enum run_event_kind kind)
{
	return run_event_names[kind];
}

void run_init(struct run *run)
{
	*run = (struct run){ .status = RUN_RUNNING };
#define X(member, decimals) run->member = RUN_ABSENT;
	RUN_NUMBER_LIST(X)
#undef X
	run->eval_done = run->eval_total = run->running_bpb = RUN_ABSENT;
	run->last_step = run->cap_s = run->chosen = RUN_ABSENT;
	run->eval_first = run->eval_last = (struct run_progress){ RUN_ABSENT, RUN_ABSENT, 0 };
}

void run_release(struct run *run)
{
	for (size_t i = 0; i < run->n_events; i++)
		free(run->events[i].text);
	free(run->events);
	for (size_t i = 0; i < run->n_series; i++)
		free(run->series[i].validations.v);
	free(run->series);
	free(run->final_stage);
	free(run->status_reason);
	free(run->source_sha256);
	free(run->formats);
	free(run->tracks);
	run_init(run);
}

void run_copy(struct run *to, const struct run *from)
{
	*to = *from;
	to->final_stage = xstrdup_null(from->final_stage);
	to->status_reason = xstrdup_null(from->status_reason);
	to->source_sha256 = xstrdup_null(from->source_sha256);
	to->formats = xstrdup_null(from->formats);
	to->tracks = xstrdup_null(from->tracks);
	to->events = xcalloc(from->n_events, sizeof(*to->events));
	for (size_t i = 0; i < from->n_events; i++) {
		to->events[i] = from->events[i];
		to->events[i].text = xstrdup(from->events[i].text);
	}
	to->series = xcalloc(from->n_series, sizeof(*to->series));
	if (from->n_series > 0)
		memcpy(to->series, from->series, from->n_series * sizeof(*to->series));
	array_each (series, to->series, to->n_series) {
		const struct run_points points = series->validations;

		series->validations.v = xcalloc(points.n + RUN_POINTS_CHUNK, sizeof(*points.v));
		if (points.n > 0)
			memcpy(series->validations.v, points.v, points.n * sizeof(*points.v));
	}
}

static cJSON *events_to_json(const struct run *run)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < run->n_events; i++) {
		cJSON *event = cJSON_CreateObject();

		json_add_number(event, "line", (double)run->events[i].line);
		json_add_string(event, "kind", run_event_name(run->events[i].kind));
		json_add_number(event, "step", run->events[i].step);
		json_add_clean(event, "text", run->events[i].text);
		cJSON_AddItemToArray(array, event);
	}
	return array;
}

static cJSON *list_to_json(const char *list)
{
	cJSON *array = cJSON_CreateArray();
	struct str rest = str_from(list != NULL ? list : "");
	struct str name;

	while (list != NULL && str_next(&rest, ',', &name)) {
		AUTO_TEXT copy = xstrndup(name.p, name.len);

		cJSON_AddItemToArray(array, cJSON_CreateString(copy));
	}
	return array;
}

cJSON *run_to_json(const struct run *run)
{
	cJSON *o = cJSON_CreateObject();

	json_add_number(o, "run_index", run->run_index);
	json_add_string(o, "status",
			run->status == RUN_UNKNOWN ? NULL : run_status_name(run->status));
	json_add_clean(o, "status_reason", run->status_reason);
#define X(member, decimals) json_add_number(o, #member, run->member);
	RUN_NUMBER_LIST(X)
#undef X
	json_add_clean(o, "final_stage", run->final_stage);
	json_add_string(o, "final_class", run->final_class);
	cJSON_AddItemToObject(o, "events", events_to_json(run));
	json_add_number(o, "events_dropped", (double)run->events_dropped);
	cJSON_AddItemToObject(o, "metrics", run_series_to_json(run));
	json_add_number(o, "metrics_dropped", (double)run->series_dropped);
	json_add_string(o, "source_sha256", run->source_sha256);
	json_add_number(o, "source_lines",
			run->source_sha256 != NULL ? (double)run->source_lines : RUN_ABSENT);
	json_add_number(o, "first_line", (double)run->first_line);
	json_add_number(o, "lines", (double)run->lines);
	json_add_number(o, "bytes", (double)run->bytes);
	json_add_number(o, "matched", (double)run->matched);
	cJSON_AddItemToObject(o, "formats", list_to_json(run->formats));
	cJSON_AddItemToObject(o, "tracks", list_to_json(run->tracks));
	return o;
}
