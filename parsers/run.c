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
	size_t chunks = (from->n_series + RUN_SERIES_CHUNK - 1) / RUN_SERIES_CHUNK;
	to->series = xcalloc(chunks * RUN_SERIES_CHUNK, sizeof(*to->series));
	if (from->n_series > 0)
		memcpy(to->series, from->series, from->n_series * sizeof(*to->series));
	array_each (series, to->series, to->n_series) {
		const struct run_points points = series->validations;

		series->validations.v = NULL;
		if (points.n == 0)
			continue;
		series->validations.v = xcalloc(points.n + RUN_POINTS_CHUNK, sizeof(*points.v));
		memcpy(series->validations.v, points.v, points.n * sizeof(*points.v));
	}
}

static cJSON *events_to_json(const struct run *run)
{
	cJSON *array = cJSON_CreateArray();

	array_each (event, run->events, run->n_events)
		json_add(json_add_row(array), JNUM("line", event->line),
			 JTEXT("kind", run_event_names[event->kind]), JNUM("step", event->step),
			 JCLEAN("text", event->text));
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
	const char *status = run->status == RUN_UNKNOWN ? NULL : run_status_names[run->status];
	bool has_source = run->source_sha256 != NULL;

#define X(member, decimals) JNUM(#member, run->member),
	return json_new(JNUM("run_index", run->run_index), JTEXT("status", status),
			JCLEAN("status_reason", run->status_reason),
			RUN_NUMBER_LIST(X) JCLEAN("final_stage", run->final_stage),
			JTEXT("final_class", run->final_class),
			JNODE("events", events_to_json(run)),
			JNUM("events_dropped", run->events_dropped),
			JNODE("metrics", run_series_to_json(run)),
			JNUM("metrics_dropped", run->series_dropped),
			JTEXT("source_sha256", run->source_sha256),
			JNUM("source_lines", has_source ? (double)run->source_lines : RUN_ABSENT),
			JNUM("first_line", run->first_line), JNUM("lines", run->lines),
			JNUM("bytes", run->bytes), JNUM("matched", run->matched),
			JNODE("formats", list_to_json(run->formats)),
			JNODE("tracks", list_to_json(run->tracks)));
#undef X
}
