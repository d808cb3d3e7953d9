/* SPDX-License-Identifier: MIT */
/* The columns of the tables that hold logs, runs and pods. */
#include "config.h"

#include "store/tables.h"

static const struct column tail_columns[] = {
	COLUMN(struct store_tail, id),	   COLUMN(struct store_tail, pod),
	COLUMN(struct store_tail, name),   COLUMN(struct store_tail, gen),
	COLUMN(struct store_tail, dev),	   COLUMN(struct store_tail, inode),
	COLUMN(struct store_tail, offset), COLUMN(struct store_tail, lines),
	COLUMN(struct store_tail, mirror), COLUMN(struct store_tail, path),
	COLUMN(struct store_tail, ended),
};
const struct table tail_table = TABLE("tails", tail_columns, 4);

static const char *const status_names[] = {
#define X(id, name) [RUN_##id] = name,
	RUN_STATUS_LIST(X)
#undef X
		NULL,
};

#define N_CLASSES 4
static const char *const class_names[N_CLASSES + 1] = { "roundtrip", "sliding",
							"ttt", "preq" };

#define RUN_COLUMN(member) COLUMN_AS(#member, struct run_row, run.member)

static const struct column run_columns[] = {
	COLUMN(struct run_row, id),
	COLUMN(struct run_row, tail_id),
	RUN_COLUMN(run_index),
	COLUMN(struct run_row, first_wall_ms),
	COLUMN(struct run_row, last_wall_ms),
	COLUMN(struct run_row, rev),
	COLUMN(struct run_row, live),
	{ "status", COLUMN_ENUM, offsetof(struct run_row, run.status),
	  RUN_TRUNCATED, status_names },
	RUN_COLUMN(final_stage),
	{ "final_class", COLUMN_WORD, offsetof(struct run_row, run.final_class),
	  N_CLASSES, class_names },
	RUN_COLUMN(source_sha256),
	RUN_COLUMN(source_lines),
	RUN_COLUMN(first_line),
	RUN_COLUMN(lines),
	RUN_COLUMN(bytes),
	RUN_COLUMN(matched),
	RUN_COLUMN(formats),
	RUN_COLUMN(events_dropped),
#define X(member, decimals) RUN_COLUMN(member),
	RUN_NUMBER_LIST(X)
#undef X
#define X(member) RUN_COLUMN(member),
		RUN_LIVE_LIST(X)
#undef X
};
/* When a run was first seen stays. */
const struct table run_table = TABLE("runs", run_columns, 4);

static const char *const event_names[] = {
#define X(id, name) [RUN_EVENT_##id] = name,
	RUN_EVENT_LIST(X)
#undef X
		NULL,
};

static const struct column event_columns[] = {
	COLUMN(struct run_event, line),
	{ "kind", COLUMN_ENUM, offsetof(struct run_event, kind),
	  RUN_EVENT_OTHER, event_names },
	COLUMN(struct run_event, step),
	COLUMN(struct run_event, text),
};
const struct table event_table = TABLE("events", event_columns, 0);

static const struct column pod_columns[] = {
	COLUMN(struct store_pod, name),
	COLUMN(struct store_pod, target),
	COLUMN(struct store_pod, state),
	COLUMN(struct store_pod, why),
	COLUMN(struct store_pod, gpu),
	COLUMN_OPT(struct store_pod, lag_ms, -1),
	COLUMN(struct store_pod, disk_free_bytes),
	COLUMN(struct store_pod, seen_ms),
};
const struct table pod_table = TABLE("pods", pod_columns, 1);

static const struct column telemetry_columns[] = {
	COLUMN(struct store_telemetry, at_ms),
	COLUMN(struct store_telemetry, gpu),
#define X(metric, column)                                                      \
	COLUMN_AS(#column, struct store_telemetry, values[STORE_##metric]),
	STORE_TELEMETRY_LIST(X)
#undef X
		COLUMN(struct store_telemetry, disk_free_bytes),
};
const struct table telemetry_table = TABLE("telemetry", telemetry_columns, 0);
