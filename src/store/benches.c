/* SPDX-License-Identifier: MIT */
/* Benches in the database; their truth is their results folder. */
#include "config.h"

#include "store/benches.h"

#include "store/store_priv.h"

#define WHAT "cannot write the bench"

#define BENCH(member)	   COLUMN(struct stored_bench, member)
#define BENCH_TIME(member) COLUMN_OPT(struct stored_bench, member, 0)

static const struct column bench_columns[] = {
	BENCH(id),
	BENCH(name),
	BENCH(file),
	BENCH(dir),
	BENCH(state),
	BENCH(sha256),
	BENCH_TIME(started_ms),
	BENCH_TIME(ended_ms),
	BENCH(definition),
	BENCH(verdict),
};
static const struct table bench_table = TABLE("benches", bench_columns, 0);

struct bench_run_row {
	const char *bench_id;
	struct stored_bench_run run;
};

#define RUN(member) COLUMN_AS(#member, struct bench_run_row, run.member)
#define RUN_TIME(member)                                                       \
	COLUMN_OPT_AS(#member, struct bench_run_row, run.member, 0)
#define RUN_BENCH COLUMN(struct bench_run_row, bench_id)

static const struct column run_columns[] = {
	RUN_BENCH,	    RUN(run),
	RUN(block),	    RUN(pos),
	RUN(pod),	    RUN(tag),
	RUN(state),	    RUN(rc),
	RUN(y_ms),	    RUN_TIME(started_ms),
	RUN_TIME(ended_ms), RUN(detail),
};
static const struct table bench_run_table = TABLE("bench_runs", run_columns, 0);

int
store_put_bench(const char *db_path, const struct stored_bench *bench,
		const struct stored_bench_run *runs, size_t n_runs,
		struct err *err)
{
	sqlite3 *db = store_begin_once(db_path, WHAT, err);
	int rc =
		db == NULL ? -1 : table_put(db, WHAT, &bench_table, bench, err);

	for (size_t i = 0; rc == 0 && i < n_runs; i++) {
		struct bench_run_row row = { bench->id, runs[i] };

		if (row.run.state == NULL)
			row.run.state = "unknown";
		rc = table_put(db, WHAT, &bench_run_table, &row, err);
	}
	return store_end_once(db, WHAT, rc, err);
}

int
store_each_bench(struct store *store, const char *state,
		 int (*fn)(void *user, const struct stored_bench *bench),
		 void *user, struct err *err)
{
	struct stored_bench bench;
	sqlite3_stmt *stmt;
	int rc = 0;

	if (table_select(store->reader, "the database", &bench_table,
			 "WHERE ?1 IS NULL OR state = ?1"
			 " ORDER BY started_ms, id",
			 &stmt, err) != 0)
		return -1;
	stmt_bind_text(stmt, 1, state);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		row_read(stmt, 0, &bench_table, &bench);
		rc = fn(user, &bench);
	}
	return stmt_end_walk(store->reader, "the database", stmt, rc, err);
}
