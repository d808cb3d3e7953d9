/* SPDX-License-Identifier: MIT */
#pragma once

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/query.h"
#include "store/store.h"
#include "tests/support/tap.h"

/* Shared by the tests of the store: a directory, rows to add, and queries. */

static char dir[64];

static const struct store_run_put put = { 1700000000123, true };

static inline const char *file_in_dir(const char *name)
{
	static char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static inline struct store *open_store(const char *path, bool read_only)
{
	struct store_options options = { .path = path, .read_only = read_only };
	struct err err = { ERR_NONE, "" };
	struct store *store = store_open(&options, &err);

	if (store == NULL)
		printf("# %s\n", err.text);
	return store;
}

static inline void fill_run(struct run *run, double steps)
{
	run_init(run);
	run->status = RUN_RUNNING;
	run->seed = 42;
	run->steps = steps;
	run->train_ms = 572.810386 * steps;
	run->lines = (uint64_t)steps;
}

static inline void add_sample(struct store *store, struct store_log *log, const struct run *run,
			      uint64_t line)
{
	struct sample sample = {
		.step = (double)line,
		.metric = METRIC_TRAIN_LOSS,
		.value = 1.0 / (double)(line + 2),
		.train_ms = RUN_ABSENT,
		.line = line,
	};

	store_sample_add(store, log, run->run_index, &sample);
}

/* The results of the queries. */
struct seen {
	size_t runs, samples, tails;
	uint64_t last_line, offset, lines;
	double value, sum;
	struct run run;
	int64_t run_id;
	char path[200];
};

static inline int see_run(void *user, const struct stored_run *row)
{
	struct seen *seen = user;

	if (seen->runs++ > 0)
		run_release(&seen->run);
	run_copy(&seen->run, &row->run);
	seen->run_id = row->run_id;
	(void)snprintf(seen->path, sizeof(seen->path), "%s", row->path);
	return 0;
}

static inline int see_sample(void *user, const struct stored_sample *row)
{
	struct seen *seen = user;

	seen->samples++;
	seen->last_line = row->sample.line;
	seen->value = row->sample.value;
	seen->sum += row->sample.step;
	return 0;
}

static inline int count_rows(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	int n = -1;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int(stmt, 0);
	else
		printf("# %s\n", sqlite3_errmsg(db));
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return n;
}

static inline void see_all(const char *path, struct seen *seen)
{
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, true);

	memset(seen, 0, sizeof(*seen));
	if (store == NULL) {
		seen->samples = SIZE_MAX;
		return;
	}
	if (store_each_run(store, 0, see_run, seen, &err) != 0 ||
	    store_each_sample(store, 1, NULL, see_sample, seen, &err) != 0)
		printf("# %s\n", err.text);
	if (err.code != ERR_NONE)
		seen->samples = SIZE_MAX;
	(void)store_close(store, NULL);
	seen->tails = (size_t)count_rows(path, "SELECT count(*) FROM tails");
	seen->offset = (uint64_t)count_rows(path, "SELECT offset FROM tails ORDER BY id DESC");
	seen->lines = (uint64_t)count_rows(path, "SELECT lines FROM tails ORDER BY id DESC");
}

static inline void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *why = NULL;

	(void)sqlite3_open(path, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		printf("# %s: %s\n", sql, why);
	sqlite3_free(why);
	(void)sqlite3_close(db);
}

static inline void remove_dir(void)
{
	static const char *const argv[] = { "rm", "-rf", dir, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp("rm", (char *const *)(const void *)argv);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}
