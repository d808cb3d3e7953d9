/* SPDX-License-Identifier: MIT */
/* The database from opening to closing: which process writes it, and the rows that wait to be
 * written.  Samples, runs and offsets are collected in a batch, which a job writes.  A batch that
 * cannot be written is kept and tried again; nothing is dropped. */
#include "store/store.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "store/lock.h"
#include "store/schema.h"
#include "store/store_priv.h"

/* How often a reader retries while the writer creates or migrates the database. */
#define WAIT_TIMES 250
#define WAIT_MS	   20L

/* Delete samples without a run: an older version could be killed between the two writes. */
#define DROP_ORPHANS \
	"DELETE FROM sample_rows WHERE run_id > (SELECT coalesce(max(id), 0) FROM runs);"

/* ---- rows that wait to be written */

void store_arm(struct store *store)
{
	int64_t delay_ms = STORE_FLUSH_MS;

	if (store->timer == NULL || store->job != NULL || store->failing)
		return;
	if (store->waiting.n_samples >= STORE_FLUSH_SAMPLES)
		delay_ms = 0;
	else if (store->armed)
		return;
	store->armed = true;
	loop_timer_start(store->timer, delay_ms, 0);
}

static void mark_changed(struct store *store, struct store_log *log)
{
	log->dirty = true;
	store->n_dirty++;
	store_arm(store);
}

/* Make the key "pod\0gen\0name" of log_index. */
static struct str log_key(struct buf *buf, const char *pod, const char *name, unsigned int gen)
{
	buf_clear(buf);
	buf_append(buf, pod, strlen(pod) + 1);
	buf_append(buf, &gen, sizeof(gen));
	buf_append_str(buf, name);
	return buf_str(buf);
}

/* Add a log; takes over the texts of row. */
static struct store_log *store_log_add(struct store *store, const struct store_log *row)
{
	struct store_log *log = xmalloc(sizeof(*log));

	*log = *row;
	log->trim_runs = SIZE_MAX;
	xpush(store->logs, store->n_logs, store->cap_logs, log);
	(void)map_set(&store->log_index, log_key(&store->key, log->pod, log->name, log->gen), log);
	return log;
}

static void set_run_id(struct store_log *log, size_t run_index, int64_t id)
{
	while (log->n_runs <= run_index)
		xpush(log->runs, log->n_runs, log->cap_runs, (struct store_run_id){ 0, false });
	log->runs[run_index].id = id;
}

struct store_log *store_log_get(struct store *store, const char *pod, const char *name,
				unsigned int gen)
{
	if (store->writer == NULL)
		return NULL;
	struct store_log *log = map_get(&store->log_index, log_key(&store->key, pod, name, gen));
	if (log != NULL)
		return log;
	log = store_log_add(store, &(struct store_log){ .id = store->next_log++,
							.pod = xstrdup(pod),
							.name = xstrdup(name),
							.identity.path = xstrdup(name),
							.gen = gen });
	mark_changed(store, log);
	return log;
}

struct store_log *const *store_logs(const struct store *store, size_t *n)
{
	*n = store->n_logs;
	return store->logs;
}

static bool set_text(const char **text, const char *value)
{
	if (*text == value || (*text != NULL && value != NULL && strcmp(*text, value) == 0))
		return false;
	char *copy = xstrdup_null(value);
	free((void *)(uintptr_t)*text);
	*text = copy;
	return true;
}

void store_log_set_identity(struct store *store, struct store_log *log,
			    const struct log_identity *identity, const char *copy)
{
	struct log_identity old = log->identity, *now = &log->identity;
	bool changed = set_text(&old.path, identity->path);

	changed |= set_text(&old.real, identity->real);
	changed |= set_text(&log->copy, copy);
	changed |= old.dev != identity->dev || old.inode != identity->inode ||
		   old.ended != identity->ended || old.stamp != identity->stamp ||
		   old.sum.len != identity->sum.len || old.sum.crc != identity->sum.crc;
	*now = *identity;
	now->path = old.path;
	now->real = old.real;
	if (changed)
		mark_changed(store, log);
}

void store_log_restart(struct store_log *log)
{
	log->last_line = 0;
	log->seq = 0;
	log->done_lines = log->lines;
}

void store_log_advance(struct store *store, struct store_log *log, uint64_t offset, uint64_t lines)
{
	if (log->offset == offset && log->lines == lines)
		return;
	log->offset = offset;
	log->lines = lines;
	log->is_over = log->is_whole = false;
	mark_changed(store, log);
}

void store_log_trim(struct store *store, struct store_log *log, size_t n)
{
	if (log->n_runs <= n)
		return;
	log->n_runs = n;
	log->trim_runs = n;
	mark_changed(store, log);
}

int64_t store_run_id(struct store *store, struct store_log *log, unsigned int run_index)
{
	if (run_index >= log->n_runs || log->runs[run_index].id == 0)
		set_run_id(log, run_index, store->next_run++);
	return log->runs[run_index].id;
}

bool store_run_has_row(const struct store_log *log, unsigned int run_index)
{
	return run_index < log->n_runs && log->runs[run_index].has_row;
}

void store_sample_add(struct store *store, struct store_log *log, unsigned int run_index,
		      const struct sample *sample)
{
	struct batch *batch = &store->waiting;
	uint64_t known = sample->known > sample->line ? sample->known : sample->line;

	/* Samples of a log that is read again may be in the database already. */
	log->seq = sample->line == log->last_line ? log->seq + 1 : 0;
	log->last_line = sample->line;
	if (known < log->done_lines)
		return;
	xpush(batch->samples, batch->n_samples, batch->cap_samples,
	      (struct batch_sample){
		      .run_id = store_run_id(store, log, run_index),
		      .seq = log->seq,
		      .sample = *sample,
	      });
	if (batch->n_samples == 1 || batch->n_samples == STORE_FLUSH_SAMPLES)
		store_arm(store);
}

void store_run_put(struct store *store, struct store_log *log, const struct run *run,
		   const struct store_run_put *how)
{
	struct batch *batch = &store->waiting;
	int64_t id = store_run_id(store, log, run->run_index);
	size_t i = batch->n_runs;
	struct run_row *row;

	while (i > 0 && batch->runs[i - 1].id != id)
		i--;
	if (i > 0) {
		row = &batch->runs[i - 1];
		run_release(&row->run);
	} else {
		row = xplace(batch->runs, batch->n_runs, batch->cap_runs);
	}
	*row = (struct run_row){ .id = id,
				 .tail_id = log->id,
				 .first_wall_ms = how->wall_ms,
				 .last_wall_ms = how->wall_ms,
				 .live = how->is_live };
	run_copy(&row->run, run);
	log->runs[run->run_index].has_row = true;
	store_arm(store);
}

size_t store_pending(const struct store *store)
{
	return store->waiting.n_samples + store->writing.n_samples;
}

static void each_of_batch(const struct batch *batch, int64_t run_id,
			  void (*fn)(void *user, const struct sample *sample), void *user)
{
	for (size_t i = 0; i < batch->n_samples; i++)
		if (batch->samples[i].run_id == run_id)
			fn(user, &batch->samples[i].sample);
}

void store_each_pending(const struct store *store, int64_t run_id,
			void (*fn)(void *user, const struct sample *sample), void *user)
{
	/* The job that writes this batch does not change the samples. */
	each_of_batch(&store->writing, run_id, fn, user);
	each_of_batch(&store->waiting, run_id, fn, user);
}

bool store_is_full(const struct store *store)
{
	return store_pending(store) >= STORE_MAX_PENDING;
}

/* Is there a batch to write?  If the last one was written, the waiting rows become the next. */
static bool has_batch(struct store *store)
{
	struct batch *batch = &store->waiting;

	if (!batch_is_empty(&store->writing))
		return true;
	if (store->cb.on_flush != NULL)
		store->cb.on_flush(store->cb.user);
	for (size_t i = 0; store->n_dirty > 0 && i < store->n_logs; i++) {
		struct store_log *log = store->logs[i], *row;

		if (!log->dirty)
			continue;
		log->dirty = false;
		row = xplace(batch->logs, batch->n_logs, batch->cap_logs);
		*row = *log;
		row_own(&log_table, row);
		log->trim_runs = SIZE_MAX;
	}
	store->n_dirty = 0;
	struct batch empty = store->writing;
	store->writing = *batch;
	*batch = empty;
	return !batch_is_empty(&store->writing);
}

/* On a worker thread, which owns `writing` and the writer meanwhile. */
static void write_batch(void *user)
{
	struct store *store = user;

	store->is_written = writer_write(store->writer, &store->writing, &store->write_err) == 0;
}

/* Take the result of the write; returns true if the batch is in the database. */
static bool settle_batch(struct store *store)
{
	bool was_failing = store->failing;

	store->failing = !store->is_written;
	if (store->failing)
		log_debug("store", "%s", store->write_err.text);
	else
		batch_clear(&store->writing);
	if (was_failing != store->failing && store->cb.on_state != NULL)
		store->cb.on_state(store->cb.user, store->failing ? &store->write_err : NULL);
	return !store->failing;
}

static void on_batch_done(void *user)
{
	struct store *store = user;

	store->job = NULL;
	if (!settle_batch(store)) {
		store->armed = true;
		loop_timer_start(store->timer, STORE_RETRY_MS, 0);
		return;
	}
	if (store->closing)
		return;
	if (!batch_is_empty(&store->waiting) || store->n_dirty > 0)
		store_arm(store);
	if (store->cb.on_room != NULL)
		store->cb.on_room(store->cb.user);
}

/* Write in this thread: the batch that failed before, then the waiting rows. */
static int flush_now(struct store *store, struct err *err)
{
	for (int turn = 0; turn < 2 && has_batch(store); turn++) {
		write_batch(store);
		if (settle_batch(store))
			continue;
		if (err != NULL)
			*err = store->write_err;
		return -1;
	}
	return 0;
}

int store_flush(struct store *store, struct err *err)
{
	if (store->writer == NULL)
		return 0;
	if (store->loop == NULL)
		return flush_now(store, err);
	store->armed = false;
	if (store->job == NULL && has_batch(store))
		store->job = loop_job(store->loop, JOB_STORE, write_batch, on_batch_done, store);
	return 0;
}

/* ---- open and close */

static int load_logs(struct store *store, sqlite3 *db, struct err *err)
{
	sqlite3_stmt *stmt = table_select(db, store->path, &log_table, err, "ORDER BY id");
	struct store_log row = { 0 };

	while (row_next(stmt, &log_table, &row)) {
		struct store_log log = row;

		log.done_lines = log.lines;
		if (log.id >= store->next_log)
			store->next_log = log.id + 1;
		if (log.pod == NULL || log.name == NULL || log.identity.path == NULL)
			continue;
		row_own(&log_table, &log);
		(void)store_log_add(store, &log);
	}
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

/* Load the ids of all runs, and the state of each log's last run.  Both lists are sorted by log. */
static int load_run_ids(struct store *store, sqlite3 *db, struct err *err)
{
	sqlite3_stmt *stmt;
	size_t i = 0;

	if (stmt_prepare(db, store->path,
			 "SELECT tail_id, run_index, id, status, rev > 0 AND live = 0,"
			 " last_wall_ms FROM runs WHERE run_index < 1000000"
			 " ORDER BY tail_id, run_index",
			 &stmt, err) != 0)
		return -1;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		int64_t log_id = sqlite3_column_int64(stmt, 0);
		int64_t index = sqlite3_column_int64(stmt, 1);
		int64_t id = sqlite3_column_int64(stmt, 2);
		const char *status = stmt_text(stmt, 3);

		if (id >= store->next_run)
			store->next_run = id + 1;
		while (i < store->n_logs && store->logs[i]->id < log_id)
			i++;
		if (i == store->n_logs || store->logs[i]->id != log_id || index < 0)
			continue;
		struct store_log *log = store->logs[i];
		set_run_id(log, (size_t)index, id);
		log->runs[index].has_row = true;
		log->is_whole =
			sqlite3_column_int(stmt, 4) != 0 && (log->n_runs == 1 || log->is_whole);
		log->is_over = log->is_whole && status != NULL &&
			       strcmp(status, run_status_names[RUN_FINISHED]) == 0;
		log->last_wall_ms = sqlite3_column_int64(stmt, 5);
	}
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

/* If the rules for parsing logs changed, let logs that may grow be read again from the start. */
static int renew_rules(sqlite3 *db, const char *path, const char *rules, struct err *err)
{
	AUTO_TEXT before = db_text(db, "SELECT value FROM meta WHERE key = 'rules'", 0);

	if (rules == NULL || strcmp(before != NULL ? before : "", rules) == 0)
		return 0;
	if (db_exec(db, path, err, "BEGIN IMMEDIATE") != 0)
		return -1;
	int rc = db_exec(db, path, err,
			 "DELETE FROM sample_rows WHERE run_id IN (SELECT r.id"
			 " FROM runs r JOIN tails t ON t.id = r.tail_id"
			 " WHERE t.ended = 0);"
			 "UPDATE tails SET lines = 0 WHERE ended = 0;"
			 "INSERT OR REPLACE INTO meta VALUES('rules', %Q);",
			 rules);
	return db_end(db, path, rc, err);
}

/* Try to become the writer; 0 also if another process is. */
static int become_writer(struct store *store, const char *rules, struct err *err)
{
	struct err bad = { ERR_NONE, "" };
	sqlite3 *db = NULL;
	long holder = 0;

	store->why_reader[0] = '\0';
	store->lock_fd = lock_take(store->path, &holder, &bad);
	if (store->lock_fd < 0 && bad.code != ERR_NONE)
		return err_set(err, bad.code, "%s", bad.text);
	if (store->lock_fd < 0) {
		print_into(store->why_reader,
			   "another hgym-tui (process %ld) writes %s; this one only reads it",
			   holder, store->path);
		return 0;
	}
	/* SQLite would create the file readable for everybody. */
	int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set_errno(err, ERR_DB, "cannot open %s", store->path);
	(void)close(fd);
	if (db_open(store->path, true, &db, err) != 0)
		return -1;
	/* Clean up after a writer that was killed. */
	if (db_exec(db, store->path, err,
		    "PRAGMA journal_mode = WAL;"
		    "PRAGMA synchronous = NORMAL;"
		    "PRAGMA wal_autocheckpoint = 1000;"
		    "PRAGMA trusted_schema = OFF;") != 0 ||
	    schema_migrate(db, store->path, err) != 0 ||
	    db_exec(db, store->path, err,
		    "UPDATE runs SET live = -1 WHERE live > 0;" DROP_ORPHANS) != 0 ||
	    renew_rules(db, store->path, rules, err) != 0 || load_logs(store, db, err) != 0 ||
	    load_run_ids(store, db, err) != 0) {
		(void)sqlite3_close(db);
		return -1;
	}
	store->writer = writer_new(db, err);
	return store->writer != NULL ? 0 : -1;
}

static void on_flush_timer(void *user)
{
	(void)store_flush(user, NULL);
}

static void store_free(struct store *store)
{
	loop_timer_close(store->timer);
	writer_free(store->writer);
	(void)sqlite3_close(store->reader);
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	for (size_t i = 0; i < store->n_logs; i++) {
		row_release(&log_table, store->logs[i]);
		free(store->logs[i]->runs);
		free(store->logs[i]);
	}
	free(store->logs);
	map_release(&store->log_index, NULL);
	buf_release(&store->key);
	batch_release(&store->waiting);
	batch_release(&store->writing);
	free(store->path);
	free(store);
}

/* Migrate a database that no process writes, so that it can be read. */
static int migrate_for_reader(const struct store_options *options, struct err *err)
{
	const struct store_options once = { .path = options->path };
	sqlite3 *db;
	long holder;

	if (db_open(options->path, false, &db, err) != 0)
		return -1;
	bool is_current = schema_is_current(db);
	(void)sqlite3_close(db);
	if (is_current || lock_is_held(options->path, &holder))
		return 0;
	struct store *store = store_open(&once, err);
	return store != NULL ? store_close(store, err) : -1;
}

/* Open the database.  A process that has just become the writer may still be creating or migrating
 * it, or repairing it after a kill; a reader waits for that. */
static int open_or_wait(struct store *store, const struct store_options *options, struct err *err)
{
	const struct timespec moment = { 0, WAIT_MS * 1000 * 1000 };

	for (int i = 0;; i++) {
		int rc = options->read_only ? migrate_for_reader(options, err)
					    : become_writer(store, options->rules, err);

		if (rc == 0 && db_open(store->path, false, &store->reader, err) == 0 &&
		    schema_check(store->reader, store->path, err) == 0)
			return 0;
		if (options->read_only || store->lock_fd >= 0 || store->why_reader[0] == '\0' ||
		    i == WAIT_TIMES)
			return -1;
		(void)sqlite3_close(store->reader);
		store->reader = NULL;
		(void)nanosleep(&moment, NULL);
	}
}

struct store *store_open(const struct store_options *options, struct err *err)
{
	struct store *store = xcalloc(1, sizeof(*store));
	bool is_there = access(options->path, F_OK) == 0;
	int rc = 0;

	store->path = xstrdup(options->path);
	store->loop = options->loop;
	store->cb = options->cb;
	store->lock_fd = -1;
	store->next_log = store->next_run = 1;
	buf_init(&store->key, 65536);
	if (options->read_only && !is_there)
		rc = err_set(
			err, ERR_NODATA,
			"no database at %s yet; pass log files (hgym-tui board LOG...), or run "
			"hgym-tui collect",
			store->path);
	else
		rc = open_or_wait(store, options, err);
	if (rc != 0) {
		store_free(store);
		return NULL;
	}
	if (store->loop != NULL && store->writer != NULL)
		store->timer = loop_timer_new(store->loop, on_flush_timer, store);
	return store;
}

bool store_is_writer(const struct store *store)
{
	return store->writer != NULL;
}

const char *store_why_reader(const struct store *store)
{
	return store->why_reader;
}

int store_close(struct store *store, struct err *err)
{
	if (store == NULL)
		return 0;
	store->closing = true;
	if (store->job != NULL)
		loop_job_finish(store->job);
	int rc = store->writer != NULL ? flush_now(store, err) : 0;
	store_free(store);
	return rc;
}

sqlite3 *store_begin_once(const char *db_path, const char *what, struct err *err)
{
	const struct store_options options = { .path = db_path };
	struct store *store = store_open(&options, err);
	sqlite3 *db = NULL;

	if (store == NULL || store_close(store, err) != 0 || db_open(db_path, true, &db, err) != 0)
		return NULL;
	if (db_exec(db, what, err, "BEGIN IMMEDIATE") == 0)
		return db;
	(void)sqlite3_close(db);
	return NULL;
}

int store_end_once(sqlite3 *db, const char *what, int rc, struct err *err)
{
	if (db == NULL)
		return -1;
	rc = db_end(db, what, rc, err);
	(void)sqlite3_close(db);
	return rc;
}
