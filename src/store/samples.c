/* SPDX-License-Identifier: MIT */
/* Samples out of the database; for the queries and the series. */
#include "config.h"

#include "store/store_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

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
