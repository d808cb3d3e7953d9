/* SPDX-License-Identifier: MIT */
/* Benches in the database; their truth is their results folder. */
#include "config.h"

#include "store/benches.h"

#include "store/stmt.h"
#include "store/store_priv.h"

#define WHAT "cannot write the bench"

static int
put_bench(sqlite3 *db, const struct stored_bench *b, struct err *err)
{
	sqlite3_stmt *stmt;

	if (stmt_prepare(db, WHAT,
			 "INSERT OR REPLACE INTO benches(id, name, file, dir,"
			 " state, sha256, started_ms, ended_ms, definition,"
			 " verdict) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
			 " ?10)",
			 &stmt, err) != 0)
		return -1;
	stmt_bind_text(stmt, 1, b->id);
	stmt_bind_text(stmt, 2, b->name);
	stmt_bind_text(stmt, 3, b->file);
	stmt_bind_text(stmt, 4, b->dir);
	stmt_bind_text(stmt, 5, b->state);
	stmt_bind_text(stmt, 6, b->sha256);
	stmt_bind_time(stmt, 7, b->started_ms);
	stmt_bind_time(stmt, 8, b->ended_ms);
	stmt_bind_text(stmt, 9, b->definition);
	stmt_bind_text(stmt, 10, b->verdict);
	return stmt_run(db, WHAT, stmt, err);
}

static int
put_run(sqlite3 *db, const char *bench_id, const struct stored_bench_run *r,
	struct err *err)
{
	sqlite3_stmt *stmt;

	if (stmt_prepare(
		    db, WHAT,
		    "INSERT OR REPLACE INTO bench_runs(bench_id, run, block,"
		    " pos, pod, tag, state, rc, y_ms, started_ms, ended_ms,"
		    " detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		    " ?11, ?12)",
		    &stmt, err) != 0)
		return -1;
	stmt_bind_text(stmt, 1, bench_id);
	stmt_bind_text(stmt, 2, r->run);
	stmt_bind_number(stmt, 3, r->block);
	stmt_bind_number(stmt, 4, r->pos);
	stmt_bind_text(stmt, 5, r->pod);
	stmt_bind_text(stmt, 6, r->tag);
	stmt_bind_text(stmt, 7, r->state != NULL ? r->state : "unknown");
	stmt_bind_number(stmt, 8, r->rc);
	stmt_bind_number(stmt, 9, r->y_ms);
	stmt_bind_time(stmt, 10, r->started_ms);
	stmt_bind_time(stmt, 11, r->ended_ms);
	stmt_bind_text(stmt, 12, r->detail);
	return stmt_run(db, WHAT, stmt, err);
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

int
store_each_bench(struct store *store, const char *state,
		 int (*fn)(void *user, const struct stored_bench *bench),
		 void *user, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (stmt_prepare(
		    store->reader, "the database",
		    "SELECT id, name, file, dir, state, sha256, definition,"
		    " verdict, started_ms, ended_ms FROM benches"
		    " WHERE ?1 IS NULL OR state = ?1 ORDER BY started_ms, id",
		    &stmt, err) != 0)
		return -1;
	stmt_bind_text(stmt, 1, state);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		const struct stored_bench bench = {
			.id = stmt_text(stmt, 0),
			.name = stmt_text(stmt, 1),
			.file = stmt_text(stmt, 2),
			.dir = stmt_text(stmt, 3),
			.state = stmt_text(stmt, 4),
			.sha256 = stmt_text(stmt, 5),
			.definition = stmt_text(stmt, 6),
			.verdict = stmt_text(stmt, 7),
			.started_ms = sqlite3_column_int64(stmt, 8),
			.ended_ms = sqlite3_column_int64(stmt, 9),
		};

		rc = fn(user, &bench);
	}
	return stmt_end_walk(store->reader, "the database", stmt, rc, err);
}
