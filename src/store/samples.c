/* SPDX-License-Identifier: MIT */
/*
 * Samples into the database, those of a line in as few rows as they fit, and
 * out of it; for the writer, the queries and the series.
 */
#include "config.h"

#include "store/store_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define STATEMENT_LIST(X)                                                      \
	X(INSERT, "INSERT INTO sample_rows(run_id, line, seq, step, train_ms," \
		  " wall_ms, m0, v0, m1, v1, m2, v2, m3, v3)"                  \
		  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12," \
		  " ?13, ?14)")                                                \
	X(DROP_LINE, "DELETE FROM sample_rows WHERE run_id = ?1 AND line = ?2" \
		     " AND seq >= ?3")

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

/* The numbers of our metrics in this database; migration gave each one. */
static int
load_metric_ids(struct sample_writer *w, struct err *err)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		w->ids[i] = db_number(w->db,
				      "SELECT id FROM metrics WHERE name = ?1",
				      metric_info((enum metric)i)->name);
		if (w->ids[i] < 0)
			return db_fail(w->db, "a metric has no number", err);
	}
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

	w->db = db;
	if (load_metric_ids(w, err) == 0 &&
	    stmt_prepare_all(db, "the database", texts, STATEMENT_COUNT,
			     w->stmts, err) == 0)
		return w;
	sample_writer_free(w);
	return NULL;
}

void
sample_writer_free(struct sample_writer *w)
{
	if (w == NULL)
		return;
	stmt_free_all(w->stmts, STATEMENT_COUNT);
	free(w);
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

/* Delete what is stored of a line that comes again. */
static int
drop_line(struct sample_writer *w, const struct batch_sample *s)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_DROP_LINE];

	(void)sqlite3_bind_int64(stmt, 1, s->run_id);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)s->sample.line);
	(void)sqlite3_bind_int64(stmt, 3, (int64_t)s->seq);
	return stmt_step(stmt);
}

/* What all samples of a row share; its first parameters. */
static const struct column head_columns[] = {
	COLUMN(struct batch_sample, run_id),
	COLUMN(struct batch_sample, sample.line),
	COLUMN(struct batch_sample, seq),
	COLUMN(struct batch_sample, sample.step),
	COLUMN(struct batch_sample, sample.train_ms),
	COLUMN_OPT(struct batch_sample, sample.wall_ms, 0),
};
static const struct table row_head = TABLE("sample_rows", head_columns, 0);

static int
write_row(struct sample_writer *w, const struct batch_sample *s, size_t len,
	  struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_INSERT];
	int at = 7, rc;

	row_bind(stmt, 1, &row_head, s);
	for (size_t i = 0; i < len; i++) {
		(void)sqlite3_bind_int64(stmt, at++,
					 w->ids[s[i].sample.metric]);
		stmt_bind_number(stmt, at++, s[i].sample.value);
	}
	while (at < 7 + 2 * SAMPLE_SLOTS)
		(void)sqlite3_bind_null(stmt, at++);
	rc = stmt_step(stmt);
	if (rc == SQLITE_CONSTRAINT_PRIMARYKEY &&
	    drop_line(w, s) == SQLITE_DONE)
		rc = stmt_step(stmt);
	return rc == SQLITE_DONE
		       ? 0
		       : db_fail(w->db, "cannot write the database", err);
}

int
sample_writer_write(struct sample_writer *w, const struct batch_sample *s,
		    size_t n, struct err *err)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = row_length(&s[i], n - i);
		if (write_row(w, &s[i], len, err) != 0)
			return -1;
	}
	return 0;
}

/* There are no more metrics than this. */
#define IDS_MAX 4096

static const struct column seen_columns[] = {
	COLUMN(struct stored_sample, sample.line),
	COLUMN(struct stored_sample, sample.step),
	COLUMN(struct stored_sample, sample.train_ms),
	COLUMN(struct stored_sample, sample.wall_ms),
};
/* The first columns of select_rows; then metric and value of each slot. */
static const struct table seen_row = TABLE("", seen_columns, 0);
#define COL_SLOTS 4

static const char *const select_rows =
	"SELECT line, step, train_ms, wall_ms, m0, v0, m1, v1, m2, v2, m3, v3"
	" FROM sample_rows WHERE run_id = ?1 AND line > ?2 AND (?3 IS NULL OR"
	" (SELECT id FROM metrics WHERE name = ?3) IN (m0, m1, m2, m3))"
	" ORDER BY line, seq";

/* A row of the table metrics. */
struct name {
	char *text; /* owned; NULL: not asked yet */
	enum metric metric;
};

struct sample_reader {
	sqlite3 *db;
	const char *path;
	sqlite3_stmt *stmt;
	struct name *names; /* by id */
	size_t n_names, cap_names;
};

struct sample_reader *
sample_reader_new(sqlite3 *db, const char *path, struct err *err)
{
	struct sample_reader *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->path = path;
	if (stmt_prepare_all(db, path, &select_rows, 1, &r->stmt, err) == 0)
		return r;
	sample_reader_free(r);
	return NULL;
}

void
sample_reader_free(struct sample_reader *r)
{
	if (r == NULL)
		return;
	(void)sqlite3_finalize(r->stmt);
	for (size_t i = 0; i < r->n_names; i++)
		free(r->names[i].text);
	free(r->names);
	free(r);
}

static struct name *
name_at(struct sample_reader *r, size_t id)
{
	while (r->n_names <= id)
		xpush(r->names, r->n_names, r->cap_names,
		      (struct name){ NULL, METRIC_COUNT });
	return &r->names[id];
}

/* The name of that number, asked when it is seen first; NULL: it has none. */
static const struct name *
find_name(struct sample_reader *r, int64_t id)
{
	struct name *name;

	if (id < 0 || id > IDS_MAX)
		return NULL;
	name = name_at(r, (size_t)id);
	if (name->text != NULL)
		return name;
	name->text =
		db_text(r->db, "SELECT name FROM metrics WHERE id = ?1", id);
	if (name->text == NULL)
		return NULL;
	name->metric = metric_by_name(str_from(name->text));
	return name;
}

struct walk {
	struct sample_reader *r;
	const struct sample_span *span;
	stored_sample_fn fn;
	void *user;
	struct err *err;
};

/* One metric of the row, whose other members are those of all of them. */
static int
see_slot(const struct walk *walk, struct stored_sample *row, int column)
{
	sqlite3_stmt *stmt = walk->r->stmt;
	const struct name *name =
		find_name(walk->r, sqlite3_column_int64(stmt, column));

	if (name == NULL)
		return err_set(walk->err, ERR_DB,
			       "%s is damaged: a sample of no metric",
			       walk->r->path);
	if (walk->span->metric != NULL &&
	    strcmp(walk->span->metric, name->text) != 0)
		return 0;
	row->metric = name->text;
	row->sample.metric = name->metric;
	row->sample.value = stmt_number(stmt, column + 1);
	return walk->fn(walk->user, row);
}

static int
see_row(const struct walk *walk)
{
	sqlite3_stmt *stmt = walk->r->stmt;
	struct stored_sample row;
	int rc = 0;

	row_read(stmt, 0, &seen_row, &row);
	for (int i = 0; rc == 0 && i < SAMPLE_SLOTS; i++)
		if (sqlite3_column_type(stmt, COL_SLOTS + 2 * i) != SQLITE_NULL)
			rc = see_slot(walk, &row, COL_SLOTS + 2 * i);
	return rc;
}

int
sample_reader_walk(struct sample_reader *r, const struct sample_span *span,
		   stored_sample_fn fn, void *user, struct err *err)
{
	const struct walk walk = { r, span, fn, user, err };
	int rc = 0;

	(void)sqlite3_bind_int64(r->stmt, 1, span->run_id);
	(void)sqlite3_bind_int64(r->stmt, 2, (int64_t)span->after_line);
	stmt_bind_text(r->stmt, 3, span->metric);
	while (rc == 0 && sqlite3_step(r->stmt) == SQLITE_ROW)
		rc = see_row(&walk);
	if (sqlite3_reset(r->stmt) != SQLITE_OK && rc == 0)
		rc = db_fail(r->db, r->path, err);
	return rc;
}
