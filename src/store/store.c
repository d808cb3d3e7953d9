/* SPDX-License-Identifier: MIT */
/*
 * Opening a database, becoming its writer, and the way of who writes once.
 * The collector, the benches and the readers open it.
 */
#include "config.h"

#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "store/lock.h"
#include "store/schema.h"
#include "store/store_priv.h"

/*
 * Delete the samples of runs that have no row: a version before this one could
 * be killed between the two, and the next run would have got their id.  A seek
 * a run, however many rows it has.
 */
#define DROP_ORPHANS                                                           \
	"WITH RECURSIVE ids(id) AS (SELECT min(run_id) FROM sample_rows"       \
	" UNION ALL SELECT (SELECT min(run_id) FROM sample_rows"               \
	" WHERE run_id > id) FROM ids WHERE id IS NOT NULL)"                   \
	" DELETE FROM sample_rows WHERE run_id IN (SELECT id FROM ids"         \
	" WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ids.id));"

/* Make the file ourselves: SQLite would make it readable for all. */
static int
make_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set_errno(err, ERR_DB, "cannot open %s", path);
	(void)close(fd);
	return 0;
}

static void
load_tail(struct store *store, sqlite3_stmt *stmt)
{
	struct store_tail row = { 0 };

	row_read(stmt, 0, &tail_table, &row);
	row.done_lines = row.lines;
	if (row.id >= store->next_tail)
		store->next_tail = row.id + 1;
	if (row.pod == NULL || row.name == NULL || row.path == NULL)
		return;
	row_own(&tail_table, &row);
	(void)store_tail_add(store, &row);
}

static int
load_tails(struct store *store, sqlite3 *db, struct err *err)
{
	sqlite3_stmt *stmt;

	if (table_select(db, store->path, &tail_table, "ORDER BY id", &stmt,
			 err) != 0)
		return -1;
	while (sqlite3_step(stmt) == SQLITE_ROW)
		load_tail(store, stmt);
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

/* The tail's last run is the one that comes last. */
static void
load_end(struct store_tail *tail, sqlite3_stmt *stmt)
{
	const char *status = stmt_text(stmt, 3);
	bool is_whole = sqlite3_column_int64(stmt, 4) > 0;

	tail->is_over = is_whole && (tail->n_runs == 1 || tail->is_whole) &&
			status != NULL &&
			strcmp(status, run_status_name(RUN_FINISHED)) == 0;
	tail->is_whole = is_whole && (tail->n_runs == 1 || tail->is_whole);
	tail->last_wall_ms = sqlite3_column_int64(stmt, 5);
}

/* Both lists are in the order of their tails' ids. */
static int
load_run_ids(struct store *store, sqlite3 *db, struct err *err)
{
	sqlite3_stmt *stmt;
	size_t i = 0;

	if (stmt_prepare(db, store->path,
			 "SELECT tail_id, run_index, id, status, rev,"
			 " last_wall_ms FROM runs WHERE run_index < 1000000"
			 " ORDER BY tail_id, run_index",
			 &stmt, err) != 0)
		return -1;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		int64_t tail_id = sqlite3_column_int64(stmt, 0);
		int64_t index = sqlite3_column_int64(stmt, 1);
		int64_t id = sqlite3_column_int64(stmt, 2);

		if (id >= store->next_run)
			store->next_run = id + 1;
		while (i < store->n_tails && store->tails[i]->id < tail_id)
			i++;
		if (i < store->n_tails && store->tails[i]->id == tail_id &&
		    index >= 0) {
			store_set_run_id(store->tails[i], (size_t)index, id);
			store->tails[i]->runs[index].has_row = true;
			load_end(store->tails[i], stmt);
		}
	}
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

/* With other rules, what was read of logs that go on is to be read again. */
static int
renew_rules(sqlite3 *db, const char *path, const char *rules, struct err *err)
{
	char *before =
		db_text(db, "SELECT value FROM meta WHERE key = 'rules'", 0);
	bool same = rules == NULL ||
		    strcmp(before != NULL ? before : "", rules) == 0;
	int rc;

	free(before);
	if (same)
		return 0;
	rc = db_exec(db, path, err, "BEGIN IMMEDIATE");
	if (rc != 0)
		return -1;
	rc = db_exec(db, path, err,
		     "DELETE FROM sample_rows WHERE run_id IN (SELECT r.id"
		     " FROM runs r JOIN tails t ON t.id = r.tail_id"
		     " WHERE t.ended = 0);"
		     "UPDATE tails SET lines = 0 WHERE ended = 0;"
		     "INSERT OR REPLACE INTO meta VALUES('rules', %Q);",
		     rules);
	return db_end(db, path, rc, err);
}

/* Make the connection that writes ready, tidy up after the last writer. */
static int
set_up_writer(sqlite3 *db, const char *path, struct err *err)
{
	if (db_exec(db, path, err,
		    "PRAGMA journal_mode = WAL;"
		    "PRAGMA synchronous = NORMAL;"
		    "PRAGMA wal_autocheckpoint = 1000;"
		    "PRAGMA trusted_schema = OFF;") != 0 ||
	    schema_migrate(db, path, err) != 0)
		return -1;
	return db_exec(
		db, path, err,
		"UPDATE runs SET live = 0 WHERE live != 0;" DROP_ORPHANS);
}

/* Try to become the one that writes; 0 also when another one is. */
static int
become_writer(struct store *store, const char *rules, struct err *err)
{
	struct err bad = { ERR_NONE, "" };
	sqlite3 *db = NULL;
	long holder = 0;

	store->lock_fd = lock_take(store->path, &holder, &bad);
	if (store->lock_fd < 0 && bad.code != ERR_NONE) {
		*err = bad;
		return -1;
	}
	if (store->lock_fd < 0) {
		(void)snprintf(store->why_reader, sizeof(store->why_reader),
			       "another hgym-tui (process %ld) writes to %s: "
			       "this one only reads it",
			       holder, store->path);
		return 0;
	}
	if (make_file(store->path, err) != 0 ||
	    db_open(store->path, true, &db, err) != 0)
		return -1;
	if (set_up_writer(db, store->path, err) != 0 ||
	    renew_rules(db, store->path, rules, err) != 0 ||
	    load_tails(store, db, err) != 0 ||
	    load_run_ids(store, db, err) != 0) {
		(void)sqlite3_close(db);
		return -1;
	}
	store->writer = writer_new(db, err);
	return store->writer != NULL ? 0 : -1;
}

static void
on_flush_timer(void *user)
{
	(void)store_flush(user, NULL);
}

static void
store_free(struct store *store)
{
	loop_timer_close(store->timer);
	writer_free(store->writer);
	(void)sqlite3_close(store->reader);
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	for (size_t i = 0; i < store->n_tails; i++) {
		row_release(&tail_table, store->tails[i]);
		free(store->tails[i]->runs);
		free(store->tails[i]);
	}
	free(store->tails);
	map_release(&store->tail_index, NULL);
	buf_release(&store->key);
	batch_clear(&store->waiting);
	batch_clear(&store->writing);
	free(store->path);
	free(store);
}

/* An older schema that nobody uses is brought up to date for a reader too. */
static int
renew_for_reader(const struct store_options *options, struct err *err)
{
	const struct store_options once = { .path = options->path };
	struct store *store;
	sqlite3 *db;
	long holder;
	bool is_current;

	if (db_open(options->path, false, &db, err) != 0)
		return -1;
	is_current = schema_is_current(db);
	(void)sqlite3_close(db);
	if (is_current || lock_is_held(options->path, &holder))
		return 0;
	store = store_open(&once, err);
	return store != NULL ? store_close(store, err) : -1;
}

struct store *
store_open(const struct store_options *options, struct err *err)
{
	struct store *store = xcalloc(1, sizeof(*store));
	bool is_there = access(options->path, F_OK) == 0;
	int rc = 0;

	store->path = xstrdup(options->path);
	store->loop = options->loop;
	store->cb = options->cb;
	store->lock_fd = -1;
	store->next_tail = store->next_run = 1;
	map_init(&store->tail_index);
	buf_init(&store->key, 65536);
	if (options->read_only && !is_there)
		rc = err_set(err, ERR_NODATA,
			     "there is no database %s yet (hgym-tui collect "
			     "makes one)",
			     store->path);
	else if (!options->read_only)
		rc = become_writer(store, options->rules, err);
	else
		rc = renew_for_reader(options, err);
	if (rc == 0)
		rc = db_open(store->path, false, &store->reader, err);
	if (rc == 0)
		rc = schema_check(store->reader, store->path, err);
	if (rc != 0) {
		store_free(store);
		return NULL;
	}
	if (store->loop != NULL && store->writer != NULL)
		store->timer =
			loop_timer_new(store->loop, on_flush_timer, store);
	return store;
}

bool
store_is_writer(const struct store *store)
{
	return store->writer != NULL;
}

const char *
store_why_reader(const struct store *store)
{
	return store->why_reader;
}

int
store_close(struct store *store, struct err *err)
{
	int rc;

	if (store == NULL)
		return 0;
	rc = store_flush_last(store, err);
	store_free(store);
	return rc;
}

sqlite3 *
store_begin_once(const char *db_path, const char *what, struct err *err)
{
	const struct store_options options = { .path = db_path };
	struct store *store = store_open(&options, err);
	sqlite3 *db = NULL;

	if (store == NULL || store_close(store, err) != 0 ||
	    db_open(db_path, true, &db, err) != 0)
		return NULL;
	if (db_exec(db, what, err, "BEGIN IMMEDIATE") == 0)
		return db;
	(void)sqlite3_close(db);
	return NULL;
}

int
store_end_once(sqlite3 *db, const char *what, int rc, struct err *err)
{
	if (db == NULL)
		return -1;
	rc = db_end(db, what, rc, err);
	(void)sqlite3_close(db);
	return rc;
}
