/* SPDX-License-Identifier: MIT */
/* Pods and their telemetry, in and out of the database. */
#include "config.h"

#include "store/pods.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "store/stmt.h"
#include "store/store_priv.h"

const enum metric store_telemetry_metrics[STORE_TELEMETRY_VALUES] = {
#define X(metric, column) METRIC_##metric,
	STORE_TELEMETRY_LIST(X)
#undef X
};

static const char select_telemetry[] = "SELECT t.at_ms, t.gpu"
#define X(metric, column) ", t." #column
	STORE_TELEMETRY_LIST(X)
#undef X
		", t.disk_free_bytes FROM telemetry t"
		" WHERE t.pod_id = (SELECT id FROM pods WHERE name = ?1)"
		" AND t.at_ms > ?2 AND (t.gpu = -1 OR NOT ?3)"
		" ORDER BY t.at_ms, t.gpu";

void
batch_pod_release(struct batch_pod *row)
{
	free(row->name);
	free(row->target);
	free(row->state);
	free(row->why);
	free(row->gpu);
}

/* The row of that name in the batch; a new one when there is none. */
static struct batch_pod *
row_of(struct batch *batch, const char *name)
{
	for (size_t i = 0; i < batch->n_pods; i++)
		if (strcmp(batch->pods[i].name, name) == 0)
			return &batch->pods[i];
	batch->pods = xgrow(batch->pods, batch->n_pods, &batch->cap_pods,
			    sizeof(*batch->pods));
	batch->pods[batch->n_pods] = (struct batch_pod){ 0 };
	return &batch->pods[batch->n_pods++];
}

void
store_pod_put(struct store *store, const struct store_pod *pod)
{
	struct batch_pod *row = row_of(&store->waiting, pod->name);

	batch_pod_release(row);
	*row = (struct batch_pod){
		.name = xstrdup(pod->name),
		.target = xstrdup_null(pod->target),
		.state = xstrdup_null(pod->state),
		.why = xstrdup_null(pod->why),
		.gpu = xstrdup_null(pod->gpu),
		.lag_ms = pod->lag_ms,
		.disk_free_bytes = pod->disk_free_bytes,
		.seen_ms = pod->seen_ms,
	};
	store_arm(store);
}

void
store_telemetry_add(struct store *store, const char *pod,
		    const struct store_telemetry *rows, size_t n, bool keep)
{
	struct batch *batch = &store->waiting;

	if (batch->n_telemetry + n > STORE_TELEMETRY_MAX_PENDING)
		return;
	for (size_t i = 0; i < n; i++) {
		batch->telemetry =
			xgrow(batch->telemetry, batch->n_telemetry,
			      &batch->cap_telemetry, sizeof(*batch->telemetry));
		batch->telemetry[batch->n_telemetry++] =
			(struct batch_telemetry){ xstrdup(pod), keep, rows[i] };
	}
	store_arm(store);
}

bool
store_telemetry_prune(struct store *store, const char *pod, int64_t now_ms)
{
	struct batch *batch = &store->waiting;

	if (batch->prune_pod != NULL)
		return false;
	batch->prune_pod = xstrdup(pod);
	batch->prune_ms = now_ms;
	store_arm(store);
	return true;
}

/* A clock that is so far from where it should be was set. */
#define CLOCK_SET_MS 60000

bool
store_prune_is_due(struct store_prune *prune, int64_t wall_ms, int64_t mono_ms)
{
	int64_t offset_ms = wall_ms - mono_ms;
	bool was_set = llabs(offset_ms - prune->offset_ms) > CLOCK_SET_MS;

	prune->offset_ms = offset_ms;
	if (was_set && prune->last_ms != 0)
		prune->last_ms = wall_ms;
	return wall_ms - prune->last_ms >= STORE_PRUNE_MS;
}

int
store_each_pod(struct store *store, stored_pod_fn fn, void *user,
	       struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (stmt_prepare(store->reader, store->path,
			 "SELECT name, target, state, why, gpu, lag_ms,"
			 " disk_free_bytes, seen_ms FROM pods ORDER BY id",
			 &stmt, err) != 0)
		return -1;
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		const struct store_pod row = {
			.name = stmt_text(stmt, 0),
			.target = stmt_text(stmt, 1),
			.state = stmt_text(stmt, 2),
			.why = stmt_text(stmt, 3),
			.gpu = stmt_text(stmt, 4),
			.lag_ms = sqlite3_column_type(stmt, 5) == SQLITE_NULL
					  ? -1
					  : sqlite3_column_int64(stmt, 5),
			.disk_free_bytes = stmt_number(stmt, 6),
			.seen_ms = sqlite3_column_int64(stmt, 7),
		};

		rc = fn(user, &row);
	}
	return stmt_end_walk(store->reader, "the database", stmt, rc, err);
}

int
telemetry_walk(sqlite3 *db, const struct stored_span *span,
	       stored_telemetry_fn fn, void *user, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (stmt_prepare(db, "the database", select_telemetry, &stmt, err) != 0)
		return -1;
	stmt_bind_text(stmt, 1, span->pod);
	(void)sqlite3_bind_int64(stmt, 2, span->after_ms);
	(void)sqlite3_bind_int(stmt, 3, span->pod_only);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		struct store_telemetry row = {
			.at_ms = sqlite3_column_int64(stmt, 0),
			.gpu = sqlite3_column_int(stmt, 1),
			.disk_free_bytes =
				stmt_number(stmt, 2 + STORE_TELEMETRY_VALUES),
		};

		for (int i = 0; i < STORE_TELEMETRY_VALUES; i++)
			row.values[i] = stmt_number(stmt, 2 + i);
		rc = fn(user, &row);
	}
	return stmt_end_walk(db, "the database", stmt, rc, err);
}

int
store_each_telemetry(struct store *store, const struct stored_span *span,
		     stored_telemetry_fn fn, void *user, struct err *err)
{
	return telemetry_walk(store->reader, span, fn, user, err);
}
