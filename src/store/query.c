/* SPDX-License-Identifier: MIT */
/* Reads of what was stored; for the commands and the views of history. */
#include "config.h"

#include "store/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

/* What a stored run has of its log. */
static const struct column log_columns[] = {
	COLUMN(struct stored_run, pod),
	COLUMN(struct stored_run, path),
	COLUMN(struct stored_run, name),
	COLUMN(struct stored_run, gen),
	COLUMN_AS("ended", struct stored_run, is_ended),
	COLUMN(struct stored_run, mirror),
};
static const struct table log_table = TABLE("tails", log_columns, 0);

static int
prepare_runs(struct store *store, const char *rest, sqlite3_stmt **stmt,
	     struct err *err)
{
	struct buf sql;
	int rc;

	buf_init(&sql, 65536);
	buf_append_str(&sql, "SELECT ");
	table_names(&sql, &run_table, "r.");
	buf_append_str(&sql, ", ");
	table_names(&sql, &log_table, "t.");
	buf_appendf(&sql, " FROM runs r JOIN tails t ON t.id = r.tail_id %s",
		    rest);
	rc = stmt_prepare(store->reader, store->path, sql.data, stmt, err);
	buf_release(&sql);
	return rc;
}

static void
read_run(sqlite3_stmt *stmt, struct stored_run *row)
{
	struct run_row own;

	run_init(&own.run);
	row_read(stmt, 0, &run_table, &own);
	row_own(&run_table, &own);
	if (!run_has(own.run.last_step))
		own.run.last_step = own.run.steps;
	*row = (struct stored_run){ .run_id = own.id,
				    .first_wall_ms = own.first_wall_ms,
				    .last_wall_ms = own.last_wall_ms,
				    .is_live = own.live,
				    .rev = own.rev,
				    .run = own.run };
	row_read(stmt, (int)run_table.n, &log_table, row);
}

/* The events of one run, in order. */
static void
read_events(sqlite3_stmt *stmt, int64_t run_id, struct run *run)
{
	struct run_event event;
	size_t cap = 0;

	(void)sqlite3_bind_int64(stmt, 1, run_id);
	while (run->n_events < RUN_MAX_EVENTS &&
	       row_next(stmt, &event_table, &event)) {
		row_own(&event_table, &event);
		if (event.text == NULL)
			event.text = xstrdup("");
		xpush(run->events, run->n_events, cap, event);
	}
	(void)sqlite3_reset(stmt);
}

/* Walk over the runs that `rest` of the statement names; number is its ?1. */
static int
walk_runs(struct store *store, const char *rest, int64_t number,
	  stored_run_fn fn, void *user, struct err *err)
{
	sqlite3_stmt *stmt, *events;
	struct stored_run row;
	int rc = 0;

	if (prepare_runs(store, rest, &stmt, err) != 0)
		return -1;
	if (table_select(store->reader, store->path, &event_table, &events, err,
			 "WHERE run_id = ?1 ORDER BY idx") != 0) {
		(void)sqlite3_finalize(stmt);
		return -1;
	}
	if (sqlite3_bind_parameter_count(stmt) > 0)
		(void)sqlite3_bind_int64(stmt, 1, number);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		read_run(stmt, &row);
		read_events(events, row.run_id, &row.run);
		rc = fn(user, &row);
		run_release(&row.run);
	}
	(void)sqlite3_finalize(events);
	return stmt_end_walk(store->reader, store->path, stmt, rc, err);
}

int
store_each_run(struct store *store, int64_t run_id, stored_run_fn fn,
	       void *user, struct err *err)
{
	return walk_runs(store,
			 run_id == 0 ? "ORDER BY r.id" : "WHERE r.id = ?1",
			 run_id, fn, user, err);
}

int
store_each_changed_run(struct store *store, int64_t rev, stored_run_fn fn,
		       void *user, struct err *err)
{
	return walk_runs(store, "WHERE r.rev > ?1 ORDER BY r.rev, r.id", rev,
			 fn, user, err);
}

int64_t
store_data_version(struct store *store)
{
	return db_number(store->reader, "PRAGMA data_version", NULL);
}

/*
 * The runs that text ?1 names best: 3 by a whole path, 2 by its beginning, 1
 * by the beginning of its last part, each also behind "pod:".
 */
static const char find_runs[] =
	"WITH places AS (SELECT r.id, t.path, t.pod || ':' AS pod,"
	" replace(t.path, rtrim(t.path, replace(t.path, '/', '')), '') AS base"
	" FROM runs r JOIN tails t ON t.id = r.tail_id),"
	" found AS (SELECT id, CASE WHEN ?1 IN (path, pod || path) THEN 3"
	" WHEN 1 IN (instr(path, ?1), instr(pod || path, ?1)) THEN 2"
	" WHEN 1 IN (instr(base, ?1), instr(pod || base, ?1)) THEN 1 END AS how"
	" FROM places WHERE ?1 != '')"
	" SELECT id, count(*) OVER () FROM found"
	" WHERE how = (SELECT max(how) FROM found)";

int64_t
store_find_run(struct store *store, const char *text, struct err *err)
{
	sqlite3_stmt *stmt;
	int64_t id = 0, n = 0;

	if (str_to_i64(str_from(text), &id)) {
		id = db_number(store->reader,
			       "SELECT id FROM runs WHERE id ="
			       " CAST(?1 AS INTEGER)",
			       text);
		if (id > 0)
			return id;
	}
	if (stmt_prepare(store->reader, store->path, find_runs, &stmt, err) !=
	    0)
		return 0;
	stmt_bind_text(stmt, 1, text);
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		id = sqlite3_column_int64(stmt, 0);
		n = sqlite3_column_int64(stmt, 1);
	}
	(void)sqlite3_finalize(stmt);
	if (n == 1)
		return id;
	if (n > 1)
		err_set(err, ERR_USAGE,
			"%lld runs are meant by \"%s\": name one by its id "
			"(hgym-tui runs)",
			(long long)n, text);
	else
		err_set(err, ERR_NODATA, "there is no run \"%s\"", text);
	return 0;
}

int
store_each_sample(struct store *store, int64_t run_id, const char *metric,
		  stored_sample_fn fn, void *user, struct err *err)
{
	const struct sample_span span = { run_id, 0, metric };
	struct sample_reader *reader =
		sample_reader_new(store->reader, store->path, err);
	int rc;

	if (reader == NULL)
		return -1;
	rc = sample_reader_walk(reader, &span, fn, user, err);
	sample_reader_free(reader);
	return rc;
}

static const struct column stored_tail_columns[] = {
	COLUMN(struct stored_tail, pod),   COLUMN(struct stored_tail, path),
	COLUMN(struct stored_tail, gen),   COLUMN(struct stored_tail, dev),
	COLUMN(struct stored_tail, inode), COLUMN(struct stored_tail, offset),
	COLUMN(struct stored_tail, lines), COLUMN(struct stored_tail, mirror),
};
static const struct table stored_tail_table =
	TABLE("tails", stored_tail_columns, 0);

int
store_each_tail(struct store *store, stored_tail_fn fn, void *user,
		struct err *err)
{
	struct stored_tail row;
	sqlite3_stmt *stmt;
	int rc = 0;

	if (table_select(store->reader, store->path, &stored_tail_table, &stmt,
			 err, "ORDER BY id") != 0)
		return -1;
	while (rc == 0 && row_next(stmt, &stored_tail_table, &row))
		rc = fn(user, &row);
	return stmt_end_walk(store->reader, store->path, stmt, rc, err);
}

int
store_check(struct store *store, struct err *err)
{
	char *text = db_text(store->reader, "PRAGMA quick_check(1)", 0);
	int rc = 0;

	if (text == NULL || strcmp(text, "ok") != 0)
		rc = err_set(err, ERR_DB, "%s is damaged: %s", store->path,
			     text != NULL ? text
					  : sqlite3_errmsg(store->reader));
	free(text);
	return rc;
}
