/* SPDX-License-Identifier: MIT */
/* Write batches, one per transaction, with prepared statements; the tables of logs, runs and pods.
 * Each row has a key and replaces the row with the same key, so that work that is done again after
 * a crash leaves the same rows.  Runs on a worker thread. */
#include "store/store_priv.h"

#define LOG(member)	 COLUMN(struct store_log, member)
#define IDENTITY(member) COLUMN_AS(#member, struct store_log, identity.member)

static const struct column log_columns[] = {
	LOG(id),
	LOG(pod),
	LOG(name),
	LOG(gen),
	IDENTITY(dev),
	IDENTITY(inode),
	LOG(offset),
	LOG(lines),
	COLUMN_AS("mirror", struct store_log, copy),
	IDENTITY(path),
	IDENTITY(ended),
	IDENTITY(stamp),
	IDENTITY(real),
	COLUMN_AS("fetched", struct store_log, identity.sum.len),
	COLUMN_AS("crc", struct store_log, identity.sum.crc),
};
const struct table log_table = TABLE("tails", log_columns, 4);

#define ROW(member) COLUMN(struct run_row, member)
#define RUN(member) COLUMN_AS(#member, struct run_row, run.member)

static const struct column run_columns[] = {
	ROW(id),
	ROW(tail_id),
	RUN(run_index),
	ROW(first_wall_ms),
	ROW(last_wall_ms),
	ROW(rev),
	ROW(live),
	COLUMN_NAMED("status", COLUMN_ENUM, struct run_row, run.status, RUN_TRUNCATED,
		     run_status_names),
	RUN(status_reason),
	RUN(final_stage),
	COLUMN_NAMED("final_class", COLUMN_WORD, struct run_row, run.final_class, RUN_CLASSES,
		     run_class_names),
	RUN(source_sha256),
	RUN(source_lines),
	RUN(first_line),
	RUN(lines),
	RUN(bytes),
	RUN(matched),
	RUN(formats),
	RUN(tracks),
	RUN(events_dropped),
	RUN(series_dropped),
#define X(member, decimals) RUN(member),
	RUN_NUMBER_LIST(X)
#undef X
#define X(member) RUN(member),
		RUN_LIVE_LIST(X)
#undef X
};
/* The first columns, up to first_wall_ms, keep their values. */
const struct table run_table = TABLE("runs", run_columns, 4);

static const struct column event_columns[] = {
	COLUMN(struct run_event, line),
	COLUMN_NAMED("kind", COLUMN_ENUM, struct run_event, kind, RUN_EVENT_OTHER, run_event_names),
	COLUMN(struct run_event, step),
	COLUMN(struct run_event, text),
};
const struct table event_table = TABLE("events", event_columns, 0);

#define SERIES(member) COLUMN(struct run_series, member)

static const struct column series_columns[] = {
	COLUMN_CHARS_OF(struct run_series, name),
	COLUMN_CHARS_OF(struct run_series, unit),
	COLUMN_NAMED("metric", COLUMN_ENUM, struct run_series, metric, METRIC_COUNT, metric_names),
	SERIES(points),
	SERIES(first),
	SERIES(last),
	SERIES(min),
	SERIES(max),
	SERIES(min_step),
	SERIES(scale),
	COLUMN_BLOB_OF(struct run_series, validations),
};
const struct table series_table = TABLE("series", series_columns, 0);

#define POD(member) COLUMN(struct store_pod, member)

static const struct column pod_columns[] = {
	POD(name),
	POD(target),
	POD(state),
	POD(why),
	POD(gpu),
	COLUMN_OPT(struct store_pod, lag_ms, -1),
	POD(disk_free_bytes),
	POD(seen_ms),
};
const struct table pod_table = TABLE("pods", pod_columns, 1);

static const struct column telemetry_columns[] = {
	COLUMN(struct store_telemetry, at_ms),
	COLUMN(struct store_telemetry, gpu),
#define X(metric, column) \
	COLUMN_AS(#column, struct store_telemetry, values[METRIC_##metric - TELEMETRY_FIRST]),
	TELEMETRY_LIST(X)
#undef X
		COLUMN(struct store_telemetry, disk_free_bytes),
};
const struct table telemetry_table = TABLE("telemetry", telemetry_columns, 0);

#define WHAT "cannot write the database"

#define TRIMMED "SELECT id FROM runs WHERE tail_id = ?1 AND run_index >= ?2"

/* Rows of samples per statement: to start one takes SQLite as long as to insert a row. */
#define SAMPLE_ROWS 32

/* NULL: writer_new() makes the statement, and adds SAMPLE_ROWS rows to STATEMENT_SAMPLES. That
 * statement ignores rows without a run, and rows that are in the database. */
#define STATEMENT_LIST(X)                                                                   \
	X(STATEMENT_LOG, NULL)                                                              \
	X(STATEMENT_TRIM_ROWS, "DELETE FROM sample_rows WHERE run_id IN (" TRIMMED ")")     \
	X(STATEMENT_TRIM_EVENTS, "DELETE FROM events WHERE run_id IN (" TRIMMED ")")        \
	X(STATEMENT_TRIM_SERIES, "DELETE FROM series WHERE run_id IN (" TRIMMED ")")        \
	X(STATEMENT_TRIM_RUNS, "DELETE FROM runs WHERE id IN (" TRIMMED ")")                \
	X(STATEMENT_RUN, NULL)                                                              \
	X(STATEMENT_EVENT, "INSERT OR REPLACE INTO events(run_id, idx, line, kind,"         \
			   " step, text) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")                   \
	X(STATEMENT_EVENTS_END, "DELETE FROM events WHERE run_id = ?1 AND idx >= ?2")       \
	X(STATEMENT_SERIES, "INSERT OR REPLACE INTO series(run_id, idx, name, unit,"        \
			    " metric, points, first, last, min, max, min_step, scale,"      \
			    " validations) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," \
			    " ?11, ?12, ?13)")                                              \
	X(STATEMENT_SERIES_END, "DELETE FROM series WHERE run_id = ?1 AND idx >= ?2")       \
	X(STATEMENT_NAME, "SELECT id FROM metrics WHERE name = ?1 AND own")                 \
	X(STATEMENT_ADD_NAME, "INSERT INTO metrics(name, own) SELECT ?1, 1 WHERE"           \
			      " (SELECT count(*) FROM metrics) < ?2")                       \
	X(STATEMENT_SAMPLES, "INSERT OR IGNORE INTO sample_rows(run_id, line, seq, step,"   \
			     " train_ms, wall_ms, m0, v0, m1, v1, m2, v2, m3, v3) VALUES")  \
	X(STATEMENT_DROP_LINE, "DELETE FROM sample_rows WHERE run_id = ?1 AND line = ?2"    \
			       " AND seq >= ?3")                                            \
	X(STATEMENT_POD, "INSERT INTO pods(name, target, state, why, gpu, lag_ms,"          \
			 " disk_free_bytes, seen_ms)"                                       \
			 " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"                          \
			 " ON CONFLICT(name) DO UPDATE SET target = ?2, state = ?3,"        \
			 " why = ?4, gpu = coalesce(?5, gpu), lag_ms = ?6,"                 \
			 " disk_free_bytes = ?7, seen_ms = ?8")                             \
	X(STATEMENT_TELEMETRY, "INSERT OR REPLACE INTO telemetry(pod_id, keep, at_ms,"      \
			       " gpu, gpu_util, gpu_mem_mib, gpu_power_w, gpu_temp_c,"      \
			       " gpu_sm_mhz, gpu_throttle, host_load, disk_free_bytes)"     \
			       " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"      \
			       " ?12 FROM pods WHERE name = ?1")                            \
	X(STATEMENT_PRUNE, "DELETE FROM telemetry WHERE pod_id = (SELECT id FROM pods"      \
			   " WHERE name = ?1) AND at_ms < ?3 AND (NOT keep OR"              \
			   " at_ms < ?2)")

enum statement { STATEMENT_LIST(LIST_ID) STATEMENT_COUNT };

struct writer {
	sqlite3 *db;
	int64_t rev;			  /* number of the last batch */
	int64_t metric_ids[METRIC_COUNT]; /* ids in the table metrics */
	struct map names;		  /* printed names to ids + 1; a cache */
	sqlite3_stmt *stmts[STATEMENT_COUNT];
};

bool batch_is_empty(const struct batch *batch)
{
	return batch->n_logs + batch->n_runs + batch->n_samples + batch->n_pods +
			       batch->n_telemetry ==
		       0 &&
	       batch->prune_pod == NULL;
}

/* Free all rows, but keep the memory for samples. */
static void clear_rows(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_logs; i++)
		row_release(&log_table, &batch->logs[i]);
	for (size_t i = 0; i < batch->n_runs; i++)
		run_release(&batch->runs[i].run);
	for (size_t i = 0; i < batch->n_pods; i++)
		row_release(&pod_table, &batch->pods[i]);
	for (size_t i = 0; i < batch->n_telemetry; i++)
		free(batch->telemetry[i].pod);
	free(batch->logs);
	free(batch->runs);
	free(batch->pods);
	free(batch->telemetry);
	free(batch->prune_pod);
	*batch = (struct batch){ .samples = batch->samples, .cap_samples = batch->cap_samples };
}

void batch_clear(struct batch *batch)
{
	bool was_small = batch->n_samples < batch->cap_samples / 4;

	clear_rows(batch);
	if (was_small)
		batch_release(batch);
}

void batch_release(struct batch *batch)
{
	clear_rows(batch);
	free(batch->samples);
	*batch = (struct batch){ 0 };
}

struct writer *writer_new(sqlite3 *db, struct err *err)
{
	const char *texts[] = { STATEMENT_LIST(LIST_NAME) };
	AUTO_TEXT log_sql = table_put_sql(&log_table);
	AUTO_TEXT run_sql = table_put_sql(&run_table);
	AUTO_BUF samples_sql = buf_new(8192);
	struct writer *w = xcalloc(1, sizeof(*w));

	texts[STATEMENT_LOG] = log_sql;
	texts[STATEMENT_RUN] = run_sql;
	for (size_t i = 0; i < SAMPLE_ROWS; i++)
		buf_appendf(&samples_sql, "%s(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			    i == 0 ? texts[STATEMENT_SAMPLES] : ", ");
	texts[STATEMENT_SAMPLES] = samples_sql.data;
	w->db = db;
	w->rev = db_number(db, "SELECT max(rev) FROM runs", NULL);
	bool is_ready =
		stmt_prepare_all(db, "the database", texts, STATEMENT_COUNT, w->stmts, err) == 0;
	for (int i = 0; is_ready && i < METRIC_COUNT; i++) {
		w->metric_ids[i] =
			db_number(w->db, "SELECT id FROM metrics WHERE name = ?1 AND NOT own",
				  metric_info((enum metric)i)->name);
		if (w->metric_ids[i] < 0) {
			is_ready = false;
			db_fail(w->db, "a metric has no id in the database", err);
		}
	}
	if (is_ready)
		return w;
	writer_free(w);
	return NULL;
}

void writer_free(struct writer *w)
{
	if (w == NULL)
		return;
	for (int i = 0; i < STATEMENT_COUNT; i++)
		(void)sqlite3_finalize(w->stmts[i]);
	map_release(&w->names, NULL);
	(void)sqlite3_close(w->db);
	free(w);
}

static int writer_run(struct writer *w, enum statement id, struct err *err)
{
	return stmt_step(w->stmts[id]) == SQLITE_DONE ? 0 : db_fail(w->db, WHAT, err);
}

static int write_log(struct writer *w, const struct store_log *log, struct err *err)
{
	row_bind(w->stmts[STATEMENT_LOG], 1, &log_table, log);
	if (writer_run(w, STATEMENT_LOG, err) != 0)
		return -1;
	if (log->trim_runs == SIZE_MAX)
		return 0;
	/* The log was read again and has fewer runs now. */
	for (int i = STATEMENT_TRIM_ROWS; i <= STATEMENT_TRIM_RUNS; i++) {
		(void)sqlite3_bind_int64(w->stmts[i], 1, log->id);
		(void)sqlite3_bind_int64(w->stmts[i], 2, (int64_t)log->trim_runs);
		if (writer_run(w, (enum statement)i, err) != 0)
			return -1;
	}
	return 0;
}

/* The events or the series of a run: n rows of `size` bytes. */
struct run_list {
	enum statement put, end; /* inserts a row; deletes the rows after the last one */
	const struct table *table;
	const char *rows;
	size_t n, size;
};

static int write_list(struct writer *w, int64_t run_id, const struct run_list *list,
		      struct err *err)
{
	sqlite3_stmt *put = w->stmts[list->put], *end = w->stmts[list->end];

	(void)sqlite3_bind_int64(put, 1, run_id);
	for (size_t i = 0; i < list->n; i++) {
		(void)sqlite3_bind_int64(put, 2, (int64_t)i);
		row_bind(put, 3, list->table, list->rows + i * list->size);
		if (writer_run(w, list->put, err) != 0)
			return -1;
	}
	(void)sqlite3_bind_int64(end, 1, run_id);
	(void)sqlite3_bind_int64(end, 2, (int64_t)list->n);
	return writer_run(w, list->end, err);
}

static int write_run(struct writer *w, struct run_row *row, struct err *err)
{
	const struct run *run = &row->run;
	const struct run_list events = { STATEMENT_EVENT, STATEMENT_EVENTS_END,
					 &event_table,	  (const char *)run->events,
					 run->n_events,	  sizeof(*run->events) };
	const struct run_list series = { STATEMENT_SERIES, STATEMENT_SERIES_END,
					 &series_table,	   (const char *)run->series,
					 run->n_series,	   sizeof(*run->series) };

	row->rev = w->rev + 1;
	row_bind(w->stmts[STATEMENT_RUN], 1, &run_table, row);
	if (writer_run(w, STATEMENT_RUN, err) != 0 || write_list(w, row->id, &events, err) != 0)
		return -1;
	return write_list(w, row->id, &series, err);
}

/* Find or add the id of a printed name; 0: the table is full. */
static int64_t find_name_id(struct writer *w, const char *name)
{
	sqlite3_stmt *find = w->stmts[STATEMENT_NAME];
	sqlite3_stmt *add = w->stmts[STATEMENT_ADD_NAME];
	uintptr_t cached = (uintptr_t)map_get(&w->names, str_from(name));
	int64_t id = 0;

	if (cached != 0)
		return (int64_t)(cached - 1);
	stmt_bind_text(find, 1, name);
	if (sqlite3_step(find) == SQLITE_ROW)
		id = sqlite3_column_int64(find, 0);
	(void)sqlite3_reset(find);
	if (id == 0) {
		stmt_bind_text(add, 1, name);
		(void)sqlite3_bind_int(add, 2, STORE_MAX_NAMES);
		if (stmt_step(add) == SQLITE_DONE && sqlite3_changes(w->db) > 0)
			id = sqlite3_last_insert_rowid(w->db);
	}
	if (w->names.count >= STORE_MAX_NAMES)
		map_release(&w->names, NULL);
	(void)map_set(&w->names, str_from(name), (void *)((uintptr_t)id + 1));
	return id;
}

static bool share_row(const struct batch_sample *a, const struct batch_sample *b)
{
	return a->metric_id != 0 && b->metric_id != 0 && b->run_id == a->run_id &&
	       b->sample.line == a->sample.line && b->seq == a->seq + 1 &&
	       b->sample.wall_ms == a->sample.wall_ms && run_same(a->sample.step, b->sample.step) &&
	       run_same(a->sample.train_ms, b->sample.train_ms);
}

/* Insert the rows that are not in the database; returns their number, or -1. */
static int insert_samples(struct writer *w, struct batch_sample *const *rows, size_t n)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_SAMPLES];
	int at = 1;

	(void)sqlite3_clear_bindings(stmt);
	for (size_t i = 0; i < n; i++) {
		const struct batch_sample *s = rows[i], *end = s + s->n_row;
		int next = at + 6 + 2 * SAMPLE_SLOTS;

		(void)sqlite3_bind_int64(stmt, at++, s->run_id);
		(void)sqlite3_bind_int64(stmt, at++, (int64_t)s->sample.line);
		(void)sqlite3_bind_int64(stmt, at++, s->seq);
		stmt_bind_number(stmt, at++, s->sample.step);
		stmt_bind_number(stmt, at++, s->sample.train_ms);
		if (s->sample.wall_ms != 0)
			(void)sqlite3_bind_int64(stmt, at, s->sample.wall_ms);
		at++;
		for (; s < end; s++) {
			(void)sqlite3_bind_int64(stmt, at++, s->metric_id);
			stmt_bind_number(stmt, at++, s->sample.value);
		}
		at = next;
	}
	return stmt_step(stmt) == SQLITE_DONE ? sqlite3_changes(w->db) : -1;
}

static int write_sample_rows(struct writer *w, struct batch_sample *const *rows, size_t n,
			     struct err *err)
{
	sqlite3_stmt *drop = w->stmts[STATEMENT_DROP_LINE];
	int done = n > 0 ? insert_samples(w, rows, n) : 0;

	if (done == (int)n)
		return 0;
	/* A line is in the database already: replace its remaining samples. */
	for (size_t i = 0; i < n && done >= 0; i++) {
		(void)sqlite3_bind_int64(drop, 1, rows[i]->run_id);
		(void)sqlite3_bind_int64(drop, 2, (int64_t)rows[i]->sample.line);
		(void)sqlite3_bind_int64(drop, 3, (int64_t)rows[i]->seq);
		done = stmt_step(drop) == SQLITE_DONE ? insert_samples(w, &rows[i], 1) : -1;
	}
	return done >= 0 ? 0 : db_fail(w->db, WHAT, err);
}

static int write_samples(struct writer *w, struct batch *batch, struct err *err)
{
	struct batch_sample *s, *end, *rows[SAMPLE_ROWS];
	size_t n = 0;

	if (batch->n_samples == 0)
		return 0;
	end = batch->samples + batch->n_samples;
	/* Only metric_id and n_row may be changed: the loop reads the samples at the same time. */
	for (s = batch->samples; s < end; s++)
		s->metric_id = s->sample.metric < METRIC_COUNT ? w->metric_ids[s->sample.metric]
							       : find_name_id(w, s->sample.name);
	for (s = batch->samples; s < end; s += s->n_row) {
		s->n_row = 1;
		while (s + s->n_row < end && s->n_row < SAMPLE_SLOTS &&
		       share_row(s + s->n_row - 1, s + s->n_row))
			s->n_row++;
		if (s->metric_id != 0)
			rows[n++] = s;
		if (n == SAMPLE_ROWS && write_sample_rows(w, rows, n, err) != 0)
			return -1;
		n %= SAMPLE_ROWS;
	}
	return write_sample_rows(w, rows, n, err);
}

static int write_rows(struct writer *w, struct batch *batch, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < batch->n_logs; i++)
		rc = write_log(w, &batch->logs[i], err);
	for (size_t i = 0; rc == 0 && i < batch->n_runs; i++)
		rc = write_run(w, &batch->runs[i], err);
	if (rc == 0)
		rc = write_samples(w, batch, err);
	for (size_t i = 0; rc == 0 && i < batch->n_pods; i++) {
		row_bind(w->stmts[STATEMENT_POD], 1, &pod_table, &batch->pods[i]);
		rc = writer_run(w, STATEMENT_POD, err);
	}
	sqlite3_stmt *stmt = w->stmts[STATEMENT_TELEMETRY];
	for (size_t i = 0; rc == 0 && i < batch->n_telemetry; i++) {
		stmt_bind_text(stmt, 1, batch->telemetry[i].pod);
		(void)sqlite3_bind_int(stmt, 2, batch->telemetry[i].keep);
		row_bind(stmt, 3, &telemetry_table, &batch->telemetry[i].row);
		rc = writer_run(w, STATEMENT_TELEMETRY, err);
	}
	if (rc != 0 || batch->prune_pod == NULL)
		return rc;
	stmt = w->stmts[STATEMENT_PRUNE];
	stmt_bind_text(stmt, 1, batch->prune_pod);
	(void)sqlite3_bind_int64(stmt, 2, batch->prune_ms - STORE_TELEMETRY_LAST_MS);
	(void)sqlite3_bind_int64(stmt, 3, batch->prune_ms - STORE_TELEMETRY_FULL_MS);
	return writer_run(w, STATEMENT_PRUNE, err);
}

int writer_write(struct writer *w, struct batch *batch, struct err *err)
{
	int moved = 0, rc = 0;

	/* Rows written to a file that has no name any more would be lost. */
	if (sqlite3_file_control(w->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
	    moved)
		rc = err_set(err, ERR_DB,
			     "another program removed or replaced %s; restart hgym-tui, which then "
			     "reads all logs again",
			     sqlite3_db_filename(w->db, "main"));
	if (rc == 0)
		rc = db_exec(w->db, WHAT, err, "BEGIN IMMEDIATE");
	if (rc == 0)
		rc = db_end(w->db, WHAT, write_rows(w, batch, err), err);
	if (rc == 0)
		w->rev++;
	else
		map_release(&w->names, NULL); /* new names were rolled back */
	return rc;
}
