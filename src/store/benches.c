/* SPDX-License-Identifier: MIT */
/* Benches in the database; their truth is their results folder. */
#include "config.h"

#include "store/benches.h"

#include <math.h>

#include "store/schema.h"
#include "store/store_priv.h"

#define WHAT "cannot write the bench"

static void
bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	(void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static void
bind_time(sqlite3_stmt *stmt, int at, int64_t ms)
{
	if (ms != 0)
		(void)sqlite3_bind_int64(stmt, at, ms);
	else
		(void)sqlite3_bind_null(stmt, at);
}

static void
bind_number(sqlite3_stmt *stmt, int at, double value)
{
	if (!isnan(value))
		(void)sqlite3_bind_double(stmt, at, value);
	else
		(void)sqlite3_bind_null(stmt, at);
}

static int
put_bench(sqlite3 *db, const struct stored_bench *b, struct err *err)
{
	sqlite3_stmt *stmt;

	if (once_prepare(db, WHAT,
			 "INSERT OR REPLACE INTO benches(id, name, file, dir,"
			 " state, sha256, started_ms, ended_ms, definition,"
			 " verdict) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
			 " ?10)",
			 &stmt, err) != 0)
		return -1;
	bind_text(stmt, 1, b->id);
	bind_text(stmt, 2, b->name);
	bind_text(stmt, 3, b->file);
	bind_text(stmt, 4, b->dir);
	bind_text(stmt, 5, b->state);
	bind_text(stmt, 6, b->sha256);
	bind_time(stmt, 7, b->started_ms);
	bind_time(stmt, 8, b->ended_ms);
	bind_text(stmt, 9, b->definition);
	bind_text(stmt, 10, b->verdict);
	return once_finish(db, WHAT, stmt, err);
}

static int
put_run(sqlite3 *db, const char *bench_id, const struct stored_bench_run *r,
	struct err *err)
{
	sqlite3_stmt *stmt;

	if (once_prepare(
		    db, WHAT,
		    "INSERT OR REPLACE INTO bench_runs(bench_id, run, block,"
		    " pos, pod, tag, state, rc, y_ms, started_ms, ended_ms,"
		    " detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		    " ?11, ?12)",
		    &stmt, err) != 0)
		return -1;
	bind_text(stmt, 1, bench_id);
	bind_text(stmt, 2, r->run);
	bind_number(stmt, 3, r->block);
	bind_number(stmt, 4, r->pos);
	bind_text(stmt, 5, r->pod);
	bind_text(stmt, 6, r->tag);
	bind_text(stmt, 7, r->state != NULL ? r->state : "unknown");
	bind_number(stmt, 8, r->rc);
	bind_number(stmt, 9, r->y_ms);
	bind_time(stmt, 10, r->started_ms);
	bind_time(stmt, 11, r->ended_ms);
	bind_text(stmt, 12, r->detail);
	return once_finish(db, WHAT, stmt, err);
}

/* A bench and its runs. */
struct whole_bench {
	const struct stored_bench *bench;
	const struct stored_bench_run *runs;
	size_t n_runs;
};

static int
put_all(sqlite3 *db, const void *user, struct err *err)
{
	const struct whole_bench *whole = user;
	int rc = put_bench(db, whole->bench, err);

	for (size_t i = 0; rc == 0 && i < whole->n_runs; i++)
		rc = put_run(db, whole->bench->id, &whole->runs[i], err);
	return rc;
}

int
store_put_bench(const char *db_path, const struct stored_bench *bench,
		const struct stored_bench_run *runs, size_t n_runs,
		struct err *err)
{
	const struct whole_bench whole = { bench, runs, n_runs };

	return store_write_once(db_path, WHAT, put_all, &whole, err);
}

static const char *
text_of(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

int
store_each_bench(struct store *store, const char *state,
		 int (*fn)(void *user, const struct stored_bench *bench),
		 void *user, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (once_prepare(
		    store->reader, "the database",
		    "SELECT id, name, file, dir, state, sha256, definition,"
		    " verdict, started_ms, ended_ms FROM benches"
		    " WHERE ?1 IS NULL OR state = ?1 ORDER BY started_ms, id",
		    &stmt, err) != 0)
		return -1;
	bind_text(stmt, 1, state);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		const struct stored_bench bench = {
			.id = text_of(stmt, 0),
			.name = text_of(stmt, 1),
			.file = text_of(stmt, 2),
			.dir = text_of(stmt, 3),
			.state = text_of(stmt, 4),
			.sha256 = text_of(stmt, 5),
			.definition = text_of(stmt, 6),
			.verdict = text_of(stmt, 7),
			.started_ms = sqlite3_column_int64(stmt, 8),
			.ended_ms = sqlite3_column_int64(stmt, 9),
		};

		rc = fn(user, &bench);
	}
	if (sqlite3_finalize(stmt) != SQLITE_OK && rc == 0)
		rc = schema_fail(store->reader, "the database", err);
	return rc;
}
