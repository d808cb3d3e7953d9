/* SPDX-License-Identifier: MIT */
/* Write and read pods and their telemetry. */
#include "store/pods.h"

#include "store/store_priv.h"

void store_pod_put(struct store *store, const struct store_pod *pod)
{
	struct batch *batch = &store->waiting;
	size_t i = index_of(k, batch->n_pods, strcmp(batch->pods[k].name, pod->name) == 0);

	if (i < batch->n_pods)
		row_release(&pod_table, &batch->pods[i]);
	else
		(void)xplace(batch->pods, batch->n_pods, batch->cap_pods);
	batch->pods[i] = *pod;
	row_own(&pod_table, &batch->pods[i]);
	store_arm(store);
}

void store_telemetry_add(struct store *store, const char *pod, const struct store_telemetry *rows,
			 size_t n, bool keep)
{
	struct batch *batch = &store->waiting;

	if (batch->n_telemetry + n > STORE_TELEMETRY_MAX_PENDING)
		return;
	for (size_t i = 0; i < n; i++)
		xpush(batch->telemetry, batch->n_telemetry, batch->cap_telemetry,
		      (struct batch_telemetry){ xstrdup(pod), keep, rows[i] });
	store_arm(store);
}

bool store_telemetry_prune(struct store *store, const char *pod, int64_t now_ms)
{
	struct batch *batch = &store->waiting;

	if (batch->prune_pod != NULL)
		return false;
	batch->prune_pod = xstrdup(pod);
	batch->prune_ms = now_ms;
	store_arm(store);
	return true;
}

/* A larger jump means that the clock was set. */
#define CLOCK_SET_MS 60000

bool store_prune_is_due(struct store_prune *prune, int64_t wall_ms, int64_t mono_ms)
{
	int64_t offset_ms = wall_ms - mono_ms;
	bool was_set = llabs(offset_ms - prune->offset_ms) > CLOCK_SET_MS;

	prune->offset_ms = offset_ms;
	if (was_set && prune->last_ms != 0)
		prune->last_ms = wall_ms;
	return wall_ms - prune->last_ms >= STORE_PRUNE_MS;
}

int store_each_pod(struct store *store, stored_pod_fn fn, void *user, struct err *err)
{
	return table_walk(store->reader, store->path, &pod_table, struct store_pod, fn, user, err,
			  "ORDER BY id");
}

int telemetry_walk(sqlite3 *db, const struct stored_span *span, stored_telemetry_fn fn, void *user,
		   struct err *err)
{
	return table_walk(db, "the database", &telemetry_table, struct store_telemetry, fn, user,
			  err,
			  "WHERE pod_id = (SELECT id FROM pods WHERE name = %Q)"
			  " AND at_ms > %lld AND (gpu = -1 OR NOT %d)"
			  " ORDER BY at_ms, gpu",
			  span->pod, (long long)span->after_ms, span->pod_only);
}

int store_each_telemetry(struct store *store, const struct stored_span *span,
			 stored_telemetry_fn fn, void *user, struct err *err)
{
	return telemetry_walk(store->reader, span, fn, user, err);
}
