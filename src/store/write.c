/* SPDX-License-Identifier: MIT */
/*
 * Prepared inserts, a batch a transaction.  Every row has a key of its own
 * and is replaced when it comes again, so that work that a crash made us do
 * twice leaves the same rows.  Runs on the thread of a job.
 */
#include "config.h"

#include "store/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/stmt.h"

#define STATEMENT_LIST(X)                                                      \
	X(BEGIN, "BEGIN IMMEDIATE")                                            \
	X(COMMIT, "COMMIT")                                                    \
	X(TAIL, "INSERT INTO tails(id, pod, name, gen, dev, inode, offset,"    \
		" lines, mirror, path, ended, fetched, crc, stamp, real)"      \
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"   \
		" ?13, ?14, ?15) ON CONFLICT(id) DO UPDATE SET dev = ?5,"      \
		" inode = ?6, offset = ?7, lines = ?8, mirror = ?9,"           \
		" path = ?10, ended = ?11, fetched = ?12, crc = ?13,"          \
		" stamp = ?14, real = ?15")                                    \
	X(TRIM_SAMPLES, "DELETE FROM samples WHERE run_id IN (SELECT id FROM"  \
			" runs WHERE tail_id = ?1 AND run_index >= ?2)")       \
	X(TRIM_ROWS, "DELETE FROM sample_rows WHERE run_id IN (SELECT id FROM" \
		     " runs WHERE tail_id = ?1 AND run_index >= ?2)")          \
	X(TRIM_EVENTS, "DELETE FROM events WHERE run_id IN (SELECT id FROM"    \
		       " runs WHERE tail_id = ?1 AND run_index >= ?2)")        \
	X(TRIM_RUNS, "DELETE FROM runs WHERE tail_id = ?1 AND"                 \
		     " run_index >= ?2")                                       \
	X(EVENT, "INSERT OR REPLACE INTO events(run_id, idx, line, kind,"      \
		 " step, text) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")                \
	X(EVENTS_END, "DELETE FROM events WHERE run_id = ?1 AND idx >= ?2")    \
	X(POD, "INSERT INTO pods(name, target, state, why, gpu, lag_ms,"       \
	       " disk_free_bytes, seen_ms)"                                    \
	       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"                       \
	       " ON CONFLICT(name) DO UPDATE SET target = ?2, state = ?3,"     \
	       " why = ?4, gpu = coalesce(?5, gpu), lag_ms = ?6,"              \
	       " disk_free_bytes = ?7, seen_ms = ?8")                          \
	X(TELEMETRY, "INSERT OR REPLACE INTO telemetry(pod_id, at_ms, gpu,"    \
		     " keep, gpu_util, gpu_mem_mib, gpu_power_w, gpu_temp_c,"  \
		     " gpu_sm_mhz, gpu_throttle, host_load, disk_free_bytes)"  \
		     " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"   \
		     " ?12 FROM pods WHERE name = ?1")                         \
	X(PRUNE, "DELETE FROM telemetry WHERE pod_id = (SELECT id FROM pods"   \
		 " WHERE name = ?1) AND at_ms < ?3 AND (NOT keep OR"           \
		 " at_ms < ?2)")

enum statement {
#define X(id, sql) STATEMENT_##id,
	STATEMENT_LIST(X)
#undef X
		STATEMENT_RUN, /* made from the list of a run's numbers */
	STATEMENT_COUNT
};

struct writer {
	sqlite3 *db;
	int64_t rev; /* of the batch that was written last */
	struct sample_writer *samples;
	sqlite3_stmt *stmts[STATEMENT_COUNT];
};

static const char *const run_columns[] = { "id",
					   "tail_id",
					   "run_index",
					   "status",
					   "final_stage",
					   "final_class",
					   "source_sha256",
					   "source_lines",
					   "first_line",
					   "lines",
					   "bytes",
					   "matched",
					   "formats",
					   "events_dropped",
					   "first_wall_ms",
					   "last_wall_ms",
					   "live",
					   "rev",
#define X(member, decimals) #member,
					   RUN_NUMBER_LIST(X)
#undef X
#define X(member) #member,
						   RUN_LIVE_LIST(X)
#undef X
};

#define N_RUN_COLUMNS (sizeof(run_columns) / sizeof(run_columns[0]))

bool
batch_is_empty(const struct batch *batch)
{
	return batch->n_tails + batch->n_runs + batch->n_samples +
			       batch->n_pods + batch->n_telemetry ==
		       0 &&
	       batch->prune_pod == NULL;
}

void
batch_clear(struct batch *batch)
{
	for (size_t i = 0; i < batch->n_tails; i++) {
		free(batch->tails[i].pod);
		free(batch->tails[i].name);
		free(batch->tails[i].path);
		free(batch->tails[i].mirror);
		free(batch->tails[i].real);
	}
	for (size_t i = 0; i < batch->n_runs; i++)
		run_release(&batch->runs[i].run);
	for (size_t i = 0; i < batch->n_pods; i++)
		batch_pod_release(&batch->pods[i]);
	for (size_t i = 0; i < batch->n_telemetry; i++)
		free(batch->telemetry[i].pod);
	free(batch->pods);
	free(batch->telemetry);
	free(batch->prune_pod);
	free(batch->tails);
	free(batch->runs);
	free(batch->samples);
	memset(batch, 0, sizeof(*batch));
}

/* An upsert of all columns; when a run was first seen stays. */
static void
run_sql(struct buf *sql)
{
	buf_append_str(sql, "INSERT INTO runs(");
	for (size_t i = 0; i < N_RUN_COLUMNS; i++)
		buf_appendf(sql, "%s%s", i > 0 ? ", " : "", run_columns[i]);
	buf_append_str(sql, ") VALUES(");
	for (size_t i = 0; i < N_RUN_COLUMNS; i++)
		buf_appendf(sql, "%s?%zu", i > 0 ? ", " : "", i + 1);
	buf_append_str(sql, ") ON CONFLICT(id) DO UPDATE SET ");
	for (size_t i = 3; i < N_RUN_COLUMNS; i++)
		if (strcmp(run_columns[i], "first_wall_ms") != 0)
			buf_appendf(sql, "%s%s = ?%zu", i > 3 ? ", " : "",
				    run_columns[i], i + 1);
}

static int
prepare(struct writer *w, enum statement id, const char *sql, struct err *err)
{
	if (sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &w->stmts[id], NULL) == SQLITE_OK)
		return 0;
	return schema_fail(w->db, "the database", err);
}

/* The newest batch whose rows are there. */
static int64_t
last_rev(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int64_t rev = 0;

	if (sqlite3_prepare_v2(db, "SELECT max(rev) FROM runs", -1, &stmt,
			       NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		rev = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return rev;
}

struct writer *
writer_new(sqlite3 *db, struct err *err)
{
	static const char *const texts[] = {
#define X(id, sql) sql,
		STATEMENT_LIST(X)
#undef X
	};
	struct writer *w = xcalloc(1, sizeof(*w));
	struct buf sql;
	int rc = 0;

	w->db = db;
	w->rev = last_rev(db);
	for (size_t i = 0; rc == 0 && i < STATEMENT_RUN; i++)
		rc = prepare(w, (enum statement)i, texts[i], err);
	buf_init(&sql, 65536);
	run_sql(&sql);
	if (rc == 0)
		rc = prepare(w, STATEMENT_RUN, sql.data, err);
	buf_release(&sql);
	if (rc == 0)
		w->samples = sample_writer_new(db, err);
	if (w->samples != NULL)
		return w;
	writer_free(w);
	return NULL;
}

void
writer_free(struct writer *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		(void)sqlite3_finalize(w->stmts[i]);
	sample_writer_free(w->samples);
	(void)sqlite3_close(w->db);
	free(w);
}

static int
step(struct writer *w, enum statement id, struct err *err)
{
	int rc = sqlite3_step(w->stmts[id]);

	if (rc == SQLITE_DONE || rc == SQLITE_ROW) {
		(void)sqlite3_reset(w->stmts[id]);
		return 0;
	}
	schema_fail(w->db, "cannot write the database", err);
	(void)sqlite3_reset(w->stmts[id]);
	return -1;
}

static int
write_tail(struct writer *w, const struct batch_tail *tail, struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_TAIL];

	(void)sqlite3_bind_int64(stmt, 1, tail->id);
	stmt_bind_text(stmt, 2, tail->pod);
	stmt_bind_text(stmt, 3, tail->name);
	stmt_bind_u64(stmt, 4, tail->gen);
	stmt_bind_u64(stmt, 5, tail->dev);
	stmt_bind_u64(stmt, 6, tail->inode);
	stmt_bind_u64(stmt, 7, tail->offset);
	stmt_bind_u64(stmt, 8, tail->lines);
	stmt_bind_text(stmt, 9, tail->mirror);
	stmt_bind_text(stmt, 10, tail->path);
	stmt_bind_u64(stmt, 11, tail->ended);
	stmt_bind_u64(stmt, 12, tail->sum.len);
	stmt_bind_u64(stmt, 13, tail->sum.crc);
	stmt_bind_u64(stmt, 14, tail->stamp);
	stmt_bind_text(stmt, 15, tail->real);
	return step(w, STATEMENT_TAIL, err);
}

/* What an earlier reading saw and this one does not. */
static int
trim_runs(struct writer *w, const struct batch_tail *tail, struct err *err)
{
	int rc = 0;

	if (tail->trim_runs == SIZE_MAX)
		return 0;
	for (int i = STATEMENT_TRIM_SAMPLES;
	     rc == 0 && i <= STATEMENT_TRIM_RUNS; i++) {
		(void)sqlite3_bind_int64(w->stmts[i], 1, tail->id);
		stmt_bind_u64(w->stmts[i], 2, tail->trim_runs);
		rc = step(w, (enum statement)i, err);
	}
	return rc;
}

static int
write_events(struct writer *w, const struct batch_run *row, struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_EVENT];
	sqlite3_stmt *end = w->stmts[STATEMENT_EVENTS_END];

	for (size_t i = 0; i < row->run.n_events; i++) {
		const struct run_event *event = &row->run.events[i];

		(void)sqlite3_bind_int64(stmt, 1, row->id);
		stmt_bind_u64(stmt, 2, i);
		stmt_bind_u64(stmt, 3, event->line);
		stmt_bind_text(stmt, 4, run_event_name(event->kind));
		stmt_bind_number(stmt, 5, event->step);
		stmt_bind_text(stmt, 6, event->text);
		if (step(w, STATEMENT_EVENT, err) != 0)
			return -1;
	}
	(void)sqlite3_bind_int64(end, 1, row->id);
	stmt_bind_u64(end, 2, row->run.n_events);
	return step(w, STATEMENT_EVENTS_END, err);
}

/* In the order of run_columns. */
static int
write_run(struct writer *w, const struct batch_run *row, struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_RUN];
	const struct run *run = &row->run;
	int at = 1;

	(void)sqlite3_bind_int64(stmt, at++, row->id);
	(void)sqlite3_bind_int64(stmt, at++, row->tail_id);
	stmt_bind_u64(stmt, at++, run->run_index);
	stmt_bind_text(stmt, at++, run_status_name(run->status));
	stmt_bind_text(stmt, at++, run->final_stage);
	stmt_bind_text(stmt, at++, run->final_class);
	stmt_bind_text(stmt, at++, run->source_sha256);
	stmt_bind_u64(stmt, at++, run->source_lines);
	stmt_bind_u64(stmt, at++, run->first_line);
	stmt_bind_u64(stmt, at++, run->lines);
	stmt_bind_u64(stmt, at++, run->bytes);
	stmt_bind_u64(stmt, at++, run->matched);
	stmt_bind_text(stmt, at++, run->formats);
	stmt_bind_u64(stmt, at++, run->events_dropped);
	(void)sqlite3_bind_int64(stmt, at++, row->wall_ms);
	(void)sqlite3_bind_int64(stmt, at++, row->wall_ms);
	stmt_bind_u64(stmt, at++, row->live);
	(void)sqlite3_bind_int64(stmt, at++, w->rev + 1);
#define X(member, decimals) stmt_bind_number(stmt, at++, run->member);
	RUN_NUMBER_LIST(X)
#undef X
#define X(member) stmt_bind_number(stmt, at++, run->member);
	RUN_LIVE_LIST(X)
#undef X
	return step(w, STATEMENT_RUN, err) != 0 ? -1
						: write_events(w, row, err);
}

static int
write_pod(struct writer *w, const struct batch_pod *row, struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_POD];

	stmt_bind_text(stmt, 1, row->name);
	stmt_bind_text(stmt, 2, row->target);
	stmt_bind_text(stmt, 3, row->state);
	stmt_bind_text(stmt, 4, row->why);
	stmt_bind_text(stmt, 5, row->gpu);
	if (row->lag_ms >= 0)
		(void)sqlite3_bind_int64(stmt, 6, row->lag_ms);
	else
		(void)sqlite3_bind_null(stmt, 6);
	stmt_bind_number(stmt, 7, row->disk_free_bytes);
	(void)sqlite3_bind_int64(stmt, 8, row->seen_ms);
	return step(w, STATEMENT_POD, err);
}

static int
write_telemetry(struct writer *w, const struct batch_telemetry *row,
		struct err *err)
{
	sqlite3_stmt *stmt = w->stmts[STATEMENT_TELEMETRY];
	int at = 5;

	stmt_bind_text(stmt, 1, row->pod);
	(void)sqlite3_bind_int64(stmt, 2, row->row.at_ms);
	(void)sqlite3_bind_int(stmt, 3, row->row.gpu);
	(void)sqlite3_bind_int(stmt, 4, row->keep);
	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++)
		stmt_bind_number(stmt, at++, row->row.values[i]);
	stmt_bind_number(stmt, at, row->row.disk_free_bytes);
	return step(w, STATEMENT_TELEMETRY, err);
}

static int
write_pods(struct writer *w, const struct batch *batch, struct err *err)
{
	sqlite3_stmt *prune = w->stmts[STATEMENT_PRUNE];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < batch->n_pods; i++)
		rc = write_pod(w, &batch->pods[i], err);
	for (size_t i = 0; rc == 0 && i < batch->n_telemetry; i++)
		rc = write_telemetry(w, &batch->telemetry[i], err);
	if (rc != 0 || batch->prune_pod == NULL)
		return rc;
	stmt_bind_text(prune, 1, batch->prune_pod);
	(void)sqlite3_bind_int64(prune, 2,
				 batch->prune_ms - STORE_TELEMETRY_LAST_MS);
	(void)sqlite3_bind_int64(prune, 3,
				 batch->prune_ms - STORE_TELEMETRY_FULL_MS);
	return step(w, STATEMENT_PRUNE, err);
}

static int
write_rows(struct writer *w, const struct batch *batch, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < batch->n_tails; i++)
		rc = write_tail(w, &batch->tails[i], err) != 0
			     ? -1
			     : trim_runs(w, &batch->tails[i], err);
	for (size_t i = 0; rc == 0 && i < batch->n_runs; i++)
		rc = write_run(w, &batch->runs[i], err);
	if (rc == 0)
		rc = sample_writer_write(w->samples, batch->samples,
					 batch->n_samples, err);
	return rc == 0 ? write_pods(w, batch, err) : rc;
}

/* What we would write to a file without a name is lost with us. */
static int
check_place(const struct writer *w, struct err *err)
{
	int moved = 0;

	if (sqlite3_file_control(w->db, "main", SQLITE_FCNTL_HAS_MOVED,
				 &moved) != SQLITE_OK ||
	    !moved)
		return 0;
	return err_set(err, ERR_DB,
		       "%s was removed or replaced by another program: start "
		       "hgym-tui again, which reads all logs anew",
		       sqlite3_db_filename(w->db, "main"));
}

int
writer_write(struct writer *w, const struct batch *batch, struct err *err)
{
	if (check_place(w, err) != 0)
		return -1;
	if (step(w, STATEMENT_BEGIN, err) != 0)
		return -1;
	if (write_rows(w, batch, err) == 0 &&
	    step(w, STATEMENT_COMMIT, err) == 0) {
		w->rev++;
		return 0;
	}
	/* A full disk may have ended the transaction already. */
	if (!sqlite3_get_autocommit(w->db))
		(void)sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}
