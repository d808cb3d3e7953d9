/* SPDX-License-Identifier: MIT */
/* Read runs and samples from the database. */
#include "store/query.h"

#include "parsers/run_series.h"
#include "store/store_priv.h"

/* A database up to this size is checked completely; else samples are read for CHECK_SAMPLES_MS. */
#define CHECK_WHOLE_BYTES (100 * 1000 * 1000)
#define CHECK_SAMPLES_MS  400

static const struct column log_columns[] = {
	COLUMN(struct stored_run, pod),
	COLUMN(struct stored_run, path),
	COLUMN(struct stored_run, name),
	COLUMN(struct stored_run, gen),
	COLUMN_AS("ended", struct stored_run, is_ended),
	COLUMN_AS("mirror", struct stored_run, copy),
};
static const struct table run_log_table = TABLE("tails", log_columns, 0);

/* Are the points valid? A damaged database may contain anything. */
static bool are_points(const struct run_points *points)
{
	struct run_point before = { .step = -HUGE_VAL }, point;

	for (size_t i = 0; i < points->n; i++) {
		memcpy(&point, (const char *)points->v + i * sizeof(point), sizeof(point));
		if (!isfinite(point.value) || !(point.step > before.step && isfinite(point.step)))
			return false;
		before = point;
	}
	return points->n <= RUN_MAX_POINTS;
}

/* Reads the rows of a table for one run after the other. */
struct run_rows {
	const struct table *table;
	sqlite3_stmt *stmt;
	/* The statement is at a row of run `at`: the first one from run `from` on. */
	int64_t from, at;
	bool is_read; /* the row was returned */
};

static int prepare_rows(struct run_rows *rows, const struct store *store, const struct table *table,
			struct err *err)
{
	AUTO_BUF sql = buf_new(65536);

	*rows = (struct run_rows){ .table = table, .at = -1 };
	buf_append_str(&sql, "SELECT run_id, ");
	table_names(&sql, table, "");
	buf_appendf(&sql, " FROM %s WHERE run_id >= ?1 ORDER BY run_id, idx", table->name);
	return stmt_prepare(store->reader, store->path, sql.data, &rows->stmt, err);
}

/* Read a run's next row; false if there is none. Most come in order of id, without a search. */
static bool next_row(struct run_rows *rows, int64_t run_id, void *row)
{
	bool is_near = run_id >= rows->from && run_id <= rows->at;

	if (!is_near) {
		(void)sqlite3_reset(rows->stmt);
		(void)sqlite3_bind_int64(rows->stmt, 1, run_id);
	}
	if (!is_near || rows->is_read) {
		int rc = sqlite3_step(rows->stmt);

		rows->at = rc == SQLITE_ROW    ? sqlite3_column_int64(rows->stmt, 0)
			   : rc == SQLITE_DONE ? INT64_MAX
					       : -1;
	}
	rows->from = run_id;
	rows->is_read = rows->at == run_id;
	if (rows->is_read)
		row_read(rows->stmt, 1, rows->table, row);
	return rows->is_read;
}

/* Fill *row from a row of walk_runs(), with the run's events and series. */
static void read_run(sqlite3_stmt *stmt, struct run_rows *events, struct run_rows *series,
		     struct stored_run *row)
{
	struct run_series one = { .shared = NULL };
	struct run_event event;
	struct run_row own;
	size_t cap = 0;

	run_init(&own.run);
	row_read(stmt, 0, &run_table, &own);
	row_own(&run_table, &own);
	if (!run_has(own.run.last_step))
		own.run.last_step = own.run.steps;
	*row = (struct stored_run){ .run_id = own.id,
				    .first_wall_ms = own.first_wall_ms,
				    .last_wall_ms = own.last_wall_ms,
				    .is_live = own.live > 0,
				    .rev = own.rev,
				    .run = own.run };
	row_read(stmt, (int)run_table.n, &run_log_table, row);

	struct run *run = &row->run;
	while (run->n_events < RUN_MAX_EVENTS && next_row(events, row->run_id, &event)) {
		row_own(&event_table, &event);
		if (event.text == NULL)
			event.text = xstrdup("");
		xpush(run->events, run->n_events, cap, event);
	}
	cap = 0;
	while (run->n_series < RUN_MAX_SERIES && next_row(series, row->run_id, &one)) {
		if (!are_points(&one.validations))
			one.validations = (struct run_points){ NULL, 0 };
		row_own(&series_table, &one);
		xpush(run->series, run->n_series, cap, one);
	}
}

/* Pass the runs that `rest` of the statement selects to fn; number is its ?1. */
static int walk_runs(struct store *store, const char *rest, int64_t number, stored_run_fn fn,
		     void *user, struct err *err)
{
	struct run_rows events, series;
	AUTO_BUF sql = buf_new(65536);
	sqlite3_stmt *stmt;
	struct stored_run row;

	buf_append_str(&sql, "SELECT ");
	table_names(&sql, &run_table, "r.");
	buf_append_str(&sql, ", ");
	table_names(&sql, &run_log_table, "t.");
	buf_appendf(&sql, " FROM runs r JOIN tails t ON t.id = r.tail_id %s", rest);
	if (stmt_prepare(store->reader, store->path, sql.data, &stmt, err) != 0)
		return -1;
	int rc = prepare_rows(&events, store, &event_table, err) |
		 prepare_rows(&series, store, &series_table, err);
	if (sqlite3_bind_parameter_count(stmt) > 0)
		(void)sqlite3_bind_int64(stmt, 1, number);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		read_run(stmt, &events, &series, &row);
		rc = fn(user, &row);
		run_release(&row.run);
	}
	(void)sqlite3_finalize(events.stmt);
	(void)sqlite3_finalize(series.stmt);
	return stmt_end_walk(store->reader, store->path, stmt, rc, err);
}

int store_each_run(struct store *store, int64_t run_id, stored_run_fn fn, void *user,
		   struct err *err)
{
	return walk_runs(store, run_id == 0 ? "ORDER BY r.id" : "WHERE r.id = ?1", run_id, fn, user,
			 err);
}

int store_each_changed_run(struct store *store, int64_t rev, stored_run_fn fn, void *user,
			   struct err *err)
{
	return walk_runs(store, "WHERE r.rev > ?1 ORDER BY r.rev, r.id", rev, fn, user, err);
}

int64_t store_data_version(struct store *store)
{
	return db_number(store->reader, "PRAGMA data_version", NULL);
}

/* The runs that text ?1 matches best: 3 a whole path, 2 the start of a path, 1 the start of its
 * last component; each also after "pod:". */
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

int64_t store_find_run(struct store *store, const char *text, struct err *err)
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
	if (stmt_prepare(store->reader, store->path, find_runs, &stmt, err) != 0)
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
			"\"%s\" matches %lld runs; give the id of one (see hgym-tui runs)", text,
			(long long)n);
	else
		err_set(err, ERR_NODATA, "no run \"%s\" in the database; see hgym-tui runs", text);
	return 0;
}

/* Upper limit of the ids of metrics and printed names. */
#define IDS_MAX (STORE_MAX_NAMES + 4096)

static const struct column sample_columns[] = {
	COLUMN(struct stored_sample, sample.line),
	COLUMN(struct stored_sample, sample.step),
	COLUMN(struct stored_sample, sample.train_ms),
	COLUMN(struct stored_sample, sample.wall_ms),
};
/* The first columns of select_rows; metric and value of each slot follow. */
static const struct table sample_row = TABLE("", sample_columns, 0);
#define COL_SLOTS 4

static const char *const select_rows =
	"SELECT line, step, train_ms, wall_ms, m0, v0, m1, v1, m2, v2, m3, v3"
	" FROM sample_rows WHERE run_id = ?1 AND line > ?2 AND (?3 IS NULL OR"
	" EXISTS (SELECT 1 FROM metrics WHERE name IN (?3, ?4)"
	" AND id IN (m0, m1, m2, m3)))"
	" ORDER BY line, seq";

/* A row of the table metrics. */
struct name {
	char *text; /* owned; NULL: not loaded yet */
	enum metric metric;
	char label[SERIES_LABEL_BYTES];
};

struct sample_reader {
	sqlite3 *db;
	const char *path;
	sqlite3_stmt *stmt;
	struct name *names; /* indexed by id */
	size_t n_names, cap_names;
};

struct sample_reader *sample_reader_new(sqlite3 *db, const char *path, struct err *err)
{
	struct sample_reader *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->path = path;
	if (stmt_prepare_all(db, path, &select_rows, 1, &r->stmt, err) == 0)
		return r;
	sample_reader_free(r);
	return NULL;
}

void sample_reader_free(struct sample_reader *r)
{
	if (r == NULL)
		return;
	(void)sqlite3_finalize(r->stmt);
	for (size_t i = 0; i < r->n_names; i++)
		free(r->names[i].text);
	free(r->names);
	free(r);
}

/* Find the metric or printed name with this id, loaded on first use; NULL: there is none. */
static const struct name *find_metric(struct sample_reader *r, int64_t id)
{
	if (id < 0 || id > IDS_MAX)
		return NULL;
	while (r->n_names <= (size_t)id)
		xpush(r->names, r->n_names, r->cap_names, (struct name){ .metric = METRIC_COUNT });
	struct name *name = &r->names[id];
	if (name->text != NULL)
		return name;
	name->text = db_text(r->db, "SELECT name FROM metrics WHERE id = ?1", id);
	if (name->text == NULL)
		return NULL;
	AUTO_TEXT own = db_text(r->db, "SELECT 1 FROM metrics WHERE id = ?1 AND own", id);
	if (own == NULL)
		name->metric = metric_by_name(str_from(name->text));
	(void)series_label(name->metric, name->text, name->label);
	return name;
}

static int walk_row(struct sample_reader *r, const struct sample_span *span, stored_sample_fn fn,
		    void *user, struct err *err)
{
	struct stored_sample row;
	int rc = 0;

	row_read(r->stmt, 0, &sample_row, &row);
	for (int i = COL_SLOTS; rc == 0 && i < COL_SLOTS + 2 * SAMPLE_SLOTS; i += 2) {
		if (sqlite3_column_type(r->stmt, i) == SQLITE_NULL)
			continue;
		const struct name *name = find_metric(r, sqlite3_column_int64(r->stmt, i));
		if (name == NULL)
			return err_set(err, ERR_DB, "%s is damaged: a sample has no metric",
				       r->path);
		if (span->metric != NULL && strcmp(span->metric, name->label) != 0)
			continue;
		row.metric = name->label;
		row.sample.metric = name->metric;
		row.sample.name = name->metric < METRIC_COUNT ? NULL : name->text;
		row.sample.value = stmt_number(r->stmt, i + 1);
		rc = fn(user, &row);
	}
	return rc;
}

int sample_reader_walk(struct sample_reader *r, const struct sample_span *span, stored_sample_fn fn,
		       void *user, struct err *err)
{
	char printed[SERIES_NAME_BYTES] = "";
	int rc = 0;

	if (span->metric != NULL)
		series_printed_name(span->metric, printed);

	(void)sqlite3_bind_int64(r->stmt, 1, span->run_id);
	(void)sqlite3_bind_int64(r->stmt, 2, (int64_t)span->after_line);
	stmt_bind_text(r->stmt, 3, span->metric);
	stmt_bind_text(r->stmt, 4, printed);
	while (rc == 0 && sqlite3_step(r->stmt) == SQLITE_ROW)
		rc = walk_row(r, span, fn, user, err);
	if (sqlite3_reset(r->stmt) != SQLITE_OK && rc == 0)
		rc = db_fail(r->db, r->path, err);
	return rc;
}

int store_each_sample(struct store *store, int64_t run_id, const char *metric, stored_sample_fn fn,
		      void *user, struct err *err)
{
	const struct sample_span span = { run_id, 0, metric };
	struct sample_reader *reader = sample_reader_new(store->reader, store->path, err);

	if (reader == NULL)
		return -1;
	int rc = sample_reader_walk(reader, &span, fn, user, err);
	sample_reader_free(reader);
	return rc;
}

static int is_late(void *deadline_ms)
{
	return clock_mono_ms() >= *(const int64_t *)deadline_ms;
}

int store_check(struct store *store, bool *is_partial, struct err *err)
{
	sqlite3 *db = store->reader;
	/* For a large database: everything except the samples, then the latest samples. */
	static const char check_rest[] =
		"SELECT coalesce((SELECT c.quick_check"
		" FROM sqlite_schema t, pragma_quick_check(t.name) c"
		" WHERE t.type = 'table' AND t.name NOT IN ('sample_rows', 'telemetry')"
		" AND c.quick_check != 'ok' LIMIT 1), 'ok')";
	static const char read_samples[] =
		"SELECT substr('ok' || total(v0), 1, 2) FROM (SELECT v0 FROM sample_rows"
		" ORDER BY run_id DESC, line DESC, seq DESC)";
	int64_t bytes = db_number(db,
				  "SELECT page_count * page_size FROM pragma_page_count,"
				  " pragma_page_size",
				  NULL);
	bool is_large = bytes > CHECK_WHOLE_BYTES;
	char *text = db_text(db, is_large ? check_rest : "PRAGMA quick_check(1)", 0);
	int64_t deadline_ms = clock_mono_ms() + CHECK_SAMPLES_MS;
	int rc = 0;

	*is_partial = is_large;
	if (is_large && text != NULL && strcmp(text, "ok") == 0) {
		free(text);
		sqlite3_progress_handler(db, 10000, is_late, &deadline_ms);
		text = db_text(db, read_samples, 0);
		sqlite3_progress_handler(db, 0, NULL, NULL);
		if (text == NULL && sqlite3_errcode(db) == SQLITE_INTERRUPT)
			text = xstrdup("ok");
	}
	if (text == NULL || strcmp(text, "ok") != 0)
		rc = err_set(err, ERR_DB, "%s is damaged: %s", store->path,
			     text != NULL ? text : sqlite3_errmsg(db));
	free(text);
	return rc;
}
