/* SPDX-License-Identifier: MIT */
/* Samples into the database, a line's in as few rows as they fit; write.c. */
#include "config.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/stmt.h"

/*
 * Rows of before keep their order and get numbers of their own, as the same
 * number could be there of two metrics.
 */
#define STATEMENT_LIST(X)                                                      \
	X(INSERT, "INSERT INTO sample_rows(run_id, line, seq, step, train_ms," \
		  " wall_ms, m0, v0, m1, v1, m2, v2, m3, v3)"                  \
		  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12," \
		  " ?13, ?14)")                                                \
	X(DROP_LINE, "DELETE FROM sample_rows WHERE run_id = ?1 AND line = ?2" \
		     " AND seq >= ?3")                                         \
	X(IS_OLD, "SELECT 1 FROM samples WHERE run_id = ?1 LIMIT 1")           \
	X(OLD_NAMES, "INSERT OR IGNORE INTO metrics(name)"                     \
		     " SELECT DISTINCT metric FROM samples WHERE run_id = ?1") \
	X(OLD_COPY, "INSERT INTO sample_rows(run_id, line, seq, step,"         \
		    " train_ms, wall_ms, m0, v0) SELECT s.run_id, s.line,"     \
		    " row_number() OVER (PARTITION BY s.line ORDER BY s.seq,"  \
		    " s.metric) - 1, s.step, s.train_ms, s.wall_ms, m.id,"     \
		    " s.value FROM samples s JOIN metrics m ON m.name ="       \
		    " s.metric WHERE s.run_id = ?1")                           \
	X(OLD_DROP, "DELETE FROM samples WHERE run_id = ?1")

enum statement {
#define X(id, sql) STATEMENT_##id,
	STATEMENT_LIST(X)
#undef X
		STATEMENT_COUNT
};

struct sample_writer {
	sqlite3 *db;
	int64_t ids[METRIC_COUNT]; /* in the table metrics */
	sqlite3_stmt *stmts[STATEMENT_COUNT];
};

/* Deletes what runs without a row have; a seek a run, however many rows. */
#define DROP_ORPHANS(table)                                                    \
	"WITH RECURSIVE ids(id) AS (SELECT min(run_id) FROM " table            \
	" UNION ALL SELECT (SELECT min(run_id) FROM " table                    \
	" WHERE run_id > id) FROM ids WHERE id IS NOT NULL)"                   \
	" DELETE FROM " table " WHERE run_id IN (SELECT id FROM ids"           \
	" WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ids.id));"

int
sample_drop_orphans(sqlite3 *db, const char *path, struct err *err)
{
	if (sqlite3_exec(db,
			 DROP_ORPHANS("samples") DROP_ORPHANS("sample_rows"),
			 NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return schema_fail(db, path, err);
}

/* The numbers of our metrics in this database; migration gave each one. */
static int
load_ids(struct sample_writer *w, struct err *err)
{
	sqlite3_stmt *stmt;

	if (stmt_prepare(w->db, "the database",
			 "SELECT id FROM metrics WHERE name = ?1", &stmt,
			 err) != 0)
		return -1;
	for (int i = 0; i < METRIC_COUNT; i++) {
		stmt_bind_text(stmt, 1, metric_info((enum metric)i)->name);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			w->ids[i] = sqlite3_column_int64(stmt, 0);
		(void)sqlite3_reset(stmt);
		if (w->ids[i] == 0) {
			(void)sqlite3_finalize(stmt);
			return schema_fail(w->db, "a metric has no number",
					   err);
		}
	}
	(void)sqlite3_finalize(stmt);
	return 0;
}

struct sample_writer *
sample_writer_new(sqlite3 *db, struct err *err)
{
	static const char *const texts[] = {
#define X(id, sql) sql,
		STATEMENT_LIST(X)
#undef X
	};
	struct sample_writer *w = xcalloc(1, sizeof(*w));
	int rc;

	w->db = db;
	rc = load_ids(w, err);
	for (size_t i = 0; rc == 0 && i < STATEMENT_COUNT; i++)
		if (sqlite3_prepare_v3(db, texts[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &w->stmts[i],
				       NULL) != SQLITE_OK)
			rc = schema_fail(db, "the database", err);
	if (rc == 0)
		return w;
	sample_writer_free(w);
	return NULL;
}

void
sample_writer_free(struct sample_writer *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		(void)sqlite3_finalize(w->stmts[i]);
	free(w);
}

/* Step and make ready for the next time; the code of SQLite. */
static int
step(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	(void)sqlite3_reset(stmt);
	return rc;
}

static int
write_fail(const struct sample_writer *w, struct err *err)
{
	return schema_fail(w->db, "cannot write the database", err);
}

/* What an older version wrote of that run goes to where we write. */
static int
move_old(struct sample_writer *w, int64_t run_id, struct err *err)
{
	int rc;

	(void)sqlite3_bind_int64(w->stmts[STATEMENT_IS_OLD], 1, run_id);
	rc = step(w->stmts[STATEMENT_IS_OLD]);
	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return write_fail(w, err);
	for (int i = STATEMENT_OLD_NAMES; i <= STATEMENT_OLD_DROP; i++) {
		(void)sqlite3_bind_int64(w->stmts[i], 1, run_id);
		if (step(w->stmts[i]) != SQLITE_DONE)
			return write_fail(w, err);
	}
	return 0;
}

static bool
same_number(double a, double b)
{
	return run_has(a) ? a == b : !run_has(b);
}

/* May b stand in one row behind a? */
static bool
fits_behind(const struct batch_sample *a, const struct batch_sample *b)
{
	return b->run_id == a->run_id && b->sample.line == a->sample.line &&
	       b->seq == a->seq + 1 && b->sample.wall_ms == a->sample.wall_ms &&
	       same_number(a->sample.step, b->sample.step) &&
	       same_number(a->sample.train_ms, b->sample.train_ms);
}

/* How many of the n samples are the next row; at least one. */
static size_t
row_length(const struct batch_sample *s, size_t n)
{
	size_t len = 1;

	while (len < n && len < SAMPLE_SLOTS &&
	       fits_behind(&s[len - 1], &s[len]))
		len++;
	return len;
}

/* What is stored of a line that comes again. */
static int
drop_line(struct sample_writer *w, const struct batch_sample *s)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_DROP_LINE];

	(void)sqlite3_bind_int64(stmt, 1, s->run_id);
	stmt_bind_u64(stmt, 2, s->sample.line);
	stmt_bind_u64(stmt, 3, s->seq);
	return step(stmt);
}

static int
write_row(struct sample_writer *w, const struct batch_sample *s, size_t len,
	  struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_INSERT];
	int at = 7, rc;

	(void)sqlite3_bind_int64(stmt, 1, s->run_id);
	stmt_bind_u64(stmt, 2, s->sample.line);
	stmt_bind_u64(stmt, 3, s->seq);
	stmt_bind_number(stmt, 4, s->sample.step);
	stmt_bind_number(stmt, 5, s->sample.train_ms);
	stmt_bind_time(stmt, 6, s->sample.wall_ms);
	for (size_t i = 0; i < len; i++) {
		(void)sqlite3_bind_int64(stmt, at++,
					 w->ids[s[i].sample.metric]);
		stmt_bind_number(stmt, at++, s[i].sample.value);
	}
	while (at < 7 + 2 * SAMPLE_SLOTS)
		(void)sqlite3_bind_null(stmt, at++);
	rc = step(stmt);
	if (rc == SQLITE_CONSTRAINT_PRIMARYKEY &&
	    drop_line(w, s) == SQLITE_DONE)
		rc = step(stmt);
	return rc == SQLITE_DONE ? 0 : write_fail(w, err);
}

int
sample_writer_write(struct sample_writer *w, const struct batch_sample *s,
		    size_t n, struct err *err)
{
	for (size_t i = 0, len; i < n; i += len) {
		if ((i == 0 || s[i].run_id != s[i - 1].run_id) &&
		    move_old(w, s[i].run_id, err) != 0)
			return -1;
		len = row_length(&s[i], n - i);
		if (write_row(w, &s[i], len, err) != 0)
			return -1;
	}
	return 0;
}
