/* SPDX-License-Identifier: MIT */
/* The columns of the tables that hold logs, runs and pods. */
#include "config.h"

#include "store/tables.h"

#define TAIL(member) COLUMN(struct store_tail, member)

static const struct column tail_columns[] = {
	TAIL(id),     TAIL(pod),   TAIL(name),	 TAIL(gen),
	TAIL(dev),    TAIL(inode), TAIL(offset), TAIL(lines),
	TAIL(mirror), TAIL(path),  TAIL(ended),
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

#define ROW(member) COLUMN(struct run_row, member)
#define RUN(member) COLUMN_AS(#member, struct run_row, run.member)

static const struct column run_columns[] = {
	ROW(id),
	ROW(tail_id),
	RUN(run_index),
	ROW(first_wall_ms),
	ROW(last_wall_ms),
	ROW(rev),
	ROW(live),
	COLUMN_NAMED("status", COLUMN_ENUM, struct run_row, run.status,
		     RUN_TRUNCATED, status_names),
	RUN(final_stage),
	COLUMN_NAMED("final_class", COLUMN_WORD, struct run_row,
		     run.final_class, N_CLASSES, class_names),
	RUN(source_sha256),
	RUN(source_lines),
	RUN(first_line),
	RUN(lines),
	RUN(bytes),
	RUN(matched),
	RUN(formats),
	RUN(events_dropped),
#define X(member, decimals) RUN(member),
	RUN_NUMBER_LIST(X)
#undef X
#define X(member) RUN(member),
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
	COLUMN_NAMED("kind", COLUMN_ENUM, struct run_event, kind,
		     RUN_EVENT_OTHER, event_names),
	COLUMN(struct run_event, step),
	COLUMN(struct run_event, text),
};
const struct table event_table = TABLE("events", event_columns, 0);

#define POD(member) COLUMN(struct store_pod, member)

static const struct column pod_columns[] = {
	POD(name),
	POD(target),
	POD(state),
	POD(why),
	POD(gpu),
	COLUMN_OPT(struct store_pod, lag_ms, -1),
	POD(disk_free_bytes),
	POD(seen_ms),
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
