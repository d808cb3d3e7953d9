/* SPDX-License-Identifier: MIT */
/* Pods and their telemetry in the store: they are read back, and old records are dropped. */
#include "store/pods.h"

#include <math.h>

#include "store/schema.h"
#include "tests/support/store_test.h"

#define NOW_MS INT64_C(1700000000000)

struct seen_moments {
	size_t n, gpus;
	int64_t first_ms, last_ms;
	double load, util, disk;
	bool any_zero;
};

static int see_moment(void *user, const struct store_telemetry *row)
{
	struct seen_moments *seen = user;

	if (seen->n++ == 0)
		seen->first_ms = row->at_ms;
	seen->last_ms = row->at_ms;
	if (row->gpu == STORE_POD_GPU) {
		seen->load = row->values[METRIC_HOST_LOAD - TELEMETRY_FIRST];
		seen->disk = row->disk_free_bytes;
	} else {
		seen->gpus++;
		seen->util = row->values[0];
		seen->any_zero |= !isnan(row->values[METRIC_HOST_LOAD - TELEMETRY_FIRST]);
	}
	return 0;
}

static struct seen_moments see(const char *path, const char *pod, int64_t after_ms, bool pod_only)
{
	struct store *store = open_store(path, true);
	const struct stored_span span = { pod, after_ms, pod_only };
	struct seen_moments seen = { 0 };

	(void)store_each_telemetry(store, &span, see_moment, &seen, NULL);
	(void)store_close(store, NULL);
	return seen;
}

static void put_pod(struct store *store, const char *name, const char *state)
{
	store_pod_put(store, &(struct store_pod){ name, "root@host", state, NULL, "NVIDIA H100", 12,
						  5e9, NOW_MS });
}

/* Telemetry of a pod with two GPUs at one moment. */
static void add_moment(struct store *store, const char *pod, int64_t at_ms, bool keep)
{
	struct store_telemetry rows[3];

	for (int i = 0; i < 3; i++) {
		rows[i] = (struct store_telemetry){ .at_ms = at_ms, .gpu = i - 1 };
		for (int k = 0; k < TELEMETRY_COUNT; k++)
			rows[i].values[k] = RUN_ABSENT;
		rows[i].disk_free_bytes = RUN_ABSENT;
	}
	rows[0].values[METRIC_HOST_LOAD - TELEMETRY_FIRST] = 1.25;
	rows[0].disk_free_bytes = 5e9;
	rows[2].values[0] = 97;
	store_telemetry_add(store, pod, rows, 3, keep);
}

static int see_pod(void *user, const struct store_pod *row)
{
	is_str(row->name, "a", "the pod has its name");
	is_str(row->state, "live", "the pod has its state");
	is_str(row->gpu, "NVIDIA H100", "the pod has its GPU");
	is_int(row->lag_ms, 12, "the pod has its lag");
	is_near(row->disk_free_bytes, 5e9, 0, "the pod has its free disk space");
	ok(row->why == NULL, "an empty reason stays empty");
	++*(int *)user;
	return 0;
}

static void test_round_trip(void)
{
	const char *path = file_in_dir("pods.db");
	struct store *store = open_store(path, false);
	struct seen_moments seen;
	int n = 0;

	put_pod(store, "a", "connecting");
	add_moment(store, "a", NOW_MS, true);
	add_moment(store, "nobody", NOW_MS, true);
	put_pod(store, "a", "live");
	is_int(store_flush(store, NULL), 0, "pods are written");
	add_moment(store, "a", NOW_MS, true);
	add_moment(store, "a", NOW_MS + 10000, false);
	(void)store_close(store, NULL);
	store = open_store(path, true);
	(void)store_each_pod(store, see_pod, &n, NULL);
	(void)store_close(store, NULL);
	is_int(n, 1, "each pod has one row");
	seen = see(path, "a", 0, false);
	is_int((long long)seen.n, 6, "each moment has one row for the pod and one per GPU");
	is_near(seen.load, 1.25, 0, "the load is returned");
	is_near(seen.disk, 5e9, 0, "the free disk space is returned");
	is_near(seen.util, 97, 0, "a GPU's utilization is returned");
	ok(!seen.any_zero, "a value that a GPU does not have is absent, not 0");
	is_int((long long)see(path, "a", 0, true).n, 2, "rows of GPUs can be left out");
	is_int((long long)see(path, "a", NOW_MS, true).n, 1, "only rows after a time are returned");
	is_int((long long)see(path, "nobody", 0, false).n, 0, "an unknown pod has no rows");
	is_int(count_rows(path, "SELECT count(*) FROM v_telemetry WHERE gpu IS"
				" NULL AND host_load = 1.25 AND wall_s > 1e9"),
	       2, "v_telemetry");
	is_int(count_rows(path, "SELECT count(*) FROM v_pods WHERE pod = 'a'"), 1, "v_pods");
}

/* A month at the full rate, and what remains of it. */
static void test_retention(void)
{
	const char *path = file_in_dir("old-pods.db");
	struct store *store = open_store(path, false);
	int64_t begin_ms = NOW_MS - INT64_C(40) * 24 * 3600 * 1000;
	int64_t kept_ms = 0;

	put_pod(store, "a", "live");
	put_pod(store, "b", "live");
	for (int64_t at = begin_ms; at <= NOW_MS; at += 60000) {
		bool keep = at / STORE_TELEMETRY_KEEP_MS != kept_ms / STORE_TELEMETRY_KEEP_MS;

		kept_ms = at;
		add_moment(store, "a", at, keep);
		if ((at - begin_ms) / 60000 % 4000 == 0)
			(void)store_flush(store, NULL);
	}
	add_moment(store, "b", begin_ms, false);
	ok(store_telemetry_prune(store, "a", NOW_MS), "old records are dropped");
	ok(!store_telemetry_prune(store, "b", NOW_MS), "a batch prunes only one pod");
	(void)store_close(store, NULL);
	is_int((long long)see(path, "a", NOW_MS - STORE_TELEMETRY_FULL_MS - 1, true).n, 24 * 60 + 1,
	       "the last day is complete");
	is_int((long long)see(path, "a", 0, true).n, 24 * 60 + 1 + 29 * 24 * 12,
	       "older days have one record per five minutes");
	ok(see(path, "a", 0, true).first_ms >= NOW_MS - STORE_TELEMETRY_LAST_MS,
	   "records stay for thirty days");
	is_int((long long)see(path, "b", 0, true).n, 1, "records of another pod stay for now");
}

/* A wrong clock for a while does not delete the past. */
static void test_prune_clock(void)
{
	struct store_prune prune = { 0 };
	int64_t mono = 5000, year = INT64_C(365) * 24 * 3600 * 1000;

	ok(store_prune_is_due(&prune, NOW_MS, mono), "the first pruning is due at once");
	prune.last_ms = NOW_MS;
	mono += STORE_PRUNE_MS - 1;
	ok(!store_prune_is_due(&prune, NOW_MS + mono - 5000, mono),
	   "no second pruning before the interval has ended");
	mono++;
	ok(store_prune_is_due(&prune, NOW_MS + mono - 5000, mono),
	   "pruning is due again after the interval");
	ok(!store_prune_is_due(&prune, NOW_MS + year, mono + 1000),
	   "a clock that was just changed prunes nothing");
	ok(!store_prune_is_due(&prune, NOW_MS + mono, mono + 2000),
	   "a clock that was just corrected prunes nothing");
	mono += 2000 + STORE_PRUNE_MS;
	ok(store_prune_is_due(&prune, NOW_MS + mono - 2000, mono),
	   "a corrected clock is trusted after a while");
}

/* Data beyond the limit is dropped, and nothing else is. */
static void test_bound(void)
{
	const char *path = file_in_dir("bound.db");
	struct store *store = open_store(path, false);
	size_t n;

	put_pod(store, "a", "live");
	for (int i = 0; i < STORE_TELEMETRY_MAX_PENDING; i++)
		add_moment(store, "a", NOW_MS + i, false);
	(void)store_close(store, NULL);
	n = see(path, "a", 0, false).n;
	ok(n <= STORE_TELEMETRY_MAX_PENDING && n > 16000,
	   "rows beyond the limit are dropped: %zu stay", n);
}

static void test_from_schema_5(void)
{
	const char *path = file_in_dir("five.db");
	sqlite3 *db = NULL;
	struct store *store;

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 5, NULL), 0, "a database of schema 5");
	(void)sqlite3_exec(db,
			   "INSERT INTO tails(id, pod, name, path, gen)"
			   " VALUES(1, 'p', '/x', '/x', 0);"
			   "INSERT INTO runs(id, tail_id, run_index, status,"
			   " rev) VALUES(1, 1, 0, 'finished', 3);",
			   NULL, NULL, NULL);
	(void)sqlite3_close(db);
	store = open_store(path, false);
	ok(store != NULL && !store_logs(store, &(size_t){ 0 })[0]->is_over,
	   "a database of schema 5 is opened, and its log is read again");
	put_pod(store, "p", "live");
	add_moment(store, "p", NOW_MS, true);
	is_int(store_close(store, NULL), 0, "the migrated database accepts telemetry");
	is_int((long long)see(path, "p", 0, false).n, 3,
	       "telemetry of a migrated database is read back");
}

int main(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/t-store-pods.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_round_trip();
	test_retention();
	test_prune_clock();
	test_bound();
	test_from_schema_5();
	remove_dir();
	return tap_done();
}
