/* SPDX-License-Identifier: MIT */
/*
 * Opening a database and becoming its writer, what waits to be written, and
 * when it is.  The collector and the benches add, one job at a time writes.
 */
#include "config.h"

#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "store/lock.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/stmt.h"
#include "store/store_priv.h"

#define BUSY_MS 2000

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

/* Readers too: what a killed writer left is brought in order by them. */
static int
open_flags(const char *path, bool write)
{
	return SQLITE_OPEN_NOMUTEX |
	       (write || access(path, W_OK) == 0 ? SQLITE_OPEN_READWRITE
						 : SQLITE_OPEN_READONLY);
}

int
store_open_db(const char *path, bool write, sqlite3 **db, struct err *err)
{
	if (sqlite3_open_v2(path, db, open_flags(path, write), NULL) !=
	    SQLITE_OK) {
		schema_fail(*db, path, err);
		(void)sqlite3_close(*db);
		*db = NULL;
		return -1;
	}
	(void)sqlite3_busy_timeout(*db, BUSY_MS);
	(void)sqlite3_extended_result_codes(*db, 1);
	if (!write)
		(void)sqlite3_exec(*db, "PRAGMA query_only = ON", NULL, NULL,
				   NULL);
	return 0;
}

/* Settings of the connection that writes. */
static int
set_up_writer(sqlite3 *db, const char *path, struct err *err)
{
	if (sqlite3_exec(db,
			 "PRAGMA journal_mode = WAL;"
			 "PRAGMA synchronous = NORMAL;"
			 "PRAGMA wal_autocheckpoint = 1000;"
			 "PRAGMA trusted_schema = OFF;",
			 NULL, NULL, NULL) != SQLITE_OK)
		return schema_fail(db, path, err);
	return 0;
}

/* "pod\0gen\0name" as the key of the map. */
static struct str
tail_key(struct buf *buf, const char *pod, const char *name, unsigned int gen)
{
	buf_clear(buf);
	buf_append(buf, pod, strlen(pod) + 1);
	buf_append(buf, &gen, sizeof(gen));
	buf_append_str(buf, name);
	return (struct str){ buf->data, buf->len };
}

static struct store_tail *
add_tail(struct store *store, const char *pod, const char *name,
	 unsigned int gen)
{
	struct store_tail *tail = xcalloc(1, sizeof(*tail));

	tail->pod = xstrdup(pod);
	tail->name = xstrdup(name);
	tail->path = xstrdup(name);
	tail->gen = gen;
	tail->trim_runs = SIZE_MAX;
	store->tails = xgrow(store->tails, store->n_tails, &store->cap_tails,
			     sizeof(struct store_tail *));
	store->tails[store->n_tails++] = tail;
	(void)map_set(&store->tail_index, tail_key(&store->key, pod, name, gen),
		      tail);
	return tail;
}

static void
load_tail(struct store *store, sqlite3_stmt *stmt)
{
	char *pod = stmt_take_text(stmt, 1), *name = stmt_take_text(stmt, 2);
	char *path = stmt_take_text(stmt, 9);
	struct store_tail *tail = add_tail(
		store, pod != NULL ? pod : "", name != NULL ? name : "",
		(unsigned int)sqlite3_column_int64(stmt, 3));

	tail->id = sqlite3_column_int64(stmt, 0);
	tail->dev = (uint64_t)sqlite3_column_int64(stmt, 4);
	tail->inode = (uint64_t)sqlite3_column_int64(stmt, 5);
	tail->offset = (uint64_t)sqlite3_column_int64(stmt, 6);
	tail->lines = (uint64_t)sqlite3_column_int64(stmt, 7);
	tail->done_lines = tail->lines;
	tail->mirror = stmt_take_text(stmt, 8);
	tail->ended = sqlite3_column_int(stmt, 10) != 0;
	tail->sum.len = (uint64_t)sqlite3_column_int64(stmt, 11);
	tail->sum.crc = (uint32_t)sqlite3_column_int64(stmt, 12);
	tail->stamp = (uint64_t)sqlite3_column_int64(stmt, 13);
	tail->real = stmt_take_text(stmt, 14);
	if (path != NULL) {
		free(tail->path);
		tail->path = path;
	}
	if (tail->id >= store->next_tail)
		store->next_tail = tail->id + 1;
	free(pod);
	free(name);
}

static int
load_tails(struct store *store, sqlite3 *db, struct err *err)
{
	sqlite3_stmt *stmt;

	if (stmt_prepare(db, store->path,
			 "SELECT id, pod, name, gen, dev, inode, offset,"
			 " lines, mirror, path, ended, fetched, crc, stamp,"
			 " real FROM tails ORDER BY id",
			 &stmt, err) != 0)
		return -1;
	while (sqlite3_step(stmt) == SQLITE_ROW)
		load_tail(store, stmt);
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

static void
set_run_id(struct store_tail *tail, size_t run_index, int64_t id)
{
	while (tail->n_runs <= run_index) {
		tail->runs = xgrow(tail->runs, tail->n_runs, &tail->cap_runs,
				   sizeof(*tail->runs));
		tail->runs[tail->n_runs++] = (struct store_run_id){ 0, false };
	}
	tail->runs[run_index].id = id;
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
			set_run_id(store->tails[i], (size_t)index, id);
			store->tails[i]->runs[index].has_row = true;
			load_end(store->tails[i], stmt);
		}
	}
	return stmt_end_walk(db, store->path, stmt, 0, err);
}

/* Whoever followed these runs is gone. */
static int
forget_live(sqlite3 *db, const char *path, struct err *err)
{
	if (sqlite3_exec(db, "UPDATE runs SET live = 0 WHERE live != 0", NULL,
			 NULL, NULL) != SQLITE_OK)
		return schema_fail(db, path, err);
	return 0;
}

/* The rules by which the logs were read, "" when they are not known. */
static char *
stored_rules(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	char *rules = NULL;

	if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = 'rules'",
			       -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		rules = stmt_take_text(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return rules != NULL ? rules : xstrdup("");
}

/* With other rules, what was read of logs that go on is to be read again. */
static int
renew_rules(sqlite3 *db, const char *path, const char *rules, struct err *err)
{
	char *before = stored_rules(db);
	bool same = rules == NULL || strcmp(before, rules) == 0;
	char *sql;
	int rc;

	free(before);
	if (same)
		return 0;
	sql = sqlite3_mprintf(
		"BEGIN IMMEDIATE;"
		"DELETE FROM samples WHERE run_id IN (SELECT r.id FROM runs r"
		" JOIN tails t ON t.id = r.tail_id WHERE t.ended = 0);"
		"DELETE FROM sample_rows WHERE run_id IN (SELECT r.id FROM"
		" runs r JOIN tails t ON t.id = r.tail_id WHERE t.ended = 0);"
		"UPDATE tails SET lines = 0 WHERE ended = 0;"
		"INSERT OR REPLACE INTO meta VALUES('rules', %Q);"
		"COMMIT;",
		rules);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	if (rc == SQLITE_OK)
		return 0;
	schema_fail(db, path, err);
	(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
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
	    store_open_db(store->path, true, &db, err) != 0)
		return -1;
	if (set_up_writer(db, store->path, err) != 0 ||
	    schema_migrate(db, store->path, err) != 0 ||
	    forget_live(db, store->path, err) != 0 ||
	    sample_drop_orphans(db, store->path, err) != 0 ||
	    renew_rules(db, store->path, rules, err) != 0 ||
	    load_tails(store, db, err) != 0 ||
	    load_run_ids(store, db, err) != 0) {
		(void)sqlite3_close(db);
		return -1;
	}
	store->writer = writer_new(db, err);
	return store->writer != NULL ? 0 : -1;
}

static void store_on_timer(void *user);

void
store_free(struct store *store)
{
	loop_timer_close(store->timer);
	writer_free(store->writer);
	(void)sqlite3_close(store->reader);
	if (store->lock_fd >= 0)
		(void)close(store->lock_fd);
	for (size_t i = 0; i < store->n_tails; i++) {
		free(store->tails[i]->pod);
		free(store->tails[i]->name);
		free(store->tails[i]->path);
		free(store->tails[i]->mirror);
		free(store->tails[i]->real);
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

	if (store_open_db(options->path, false, &db, err) != 0)
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
		rc = store_open_db(store->path, false, &store->reader, err);
	if (rc == 0)
		rc = schema_check(store->reader, store->path, err);
	if (rc != 0) {
		store_free(store);
		return NULL;
	}
	if (store->loop != NULL && store->writer != NULL)
		store->timer =
			loop_timer_new(store->loop, store_on_timer, store);
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

struct store_tail *
store_tail_get(struct store *store, const char *pod, const char *name,
	       unsigned int gen)
{
	struct store_tail *tail;

	if (store->writer == NULL)
		return NULL;
	tail = map_get(&store->tail_index,
		       tail_key(&store->key, pod, name, gen));
	if (tail != NULL)
		return tail;
	tail = add_tail(store, pod, name, gen);
	tail->id = store->next_tail++;
	store_touch_tail(store, tail);
	return tail;
}

size_t
store_tail_count(const struct store *store)
{
	return store->n_tails;
}

const struct store_tail *
store_tail_at(const struct store *store, size_t i)
{
	assert(i < store->n_tails);
	return store->tails[i];
}

void
store_touch_tail(struct store *store, struct store_tail *tail)
{
	tail->dirty = true;
	store->n_dirty++;
	store_arm(store);
}

static bool
set_text(char **text, const char *value)
{
	char *copy;

	if (*text == value ||
	    (*text != NULL && value != NULL && strcmp(*text, value) == 0))
		return false;
	copy = xstrdup_null(value);
	free(*text);
	*text = copy;
	return true;
}

void
store_tail_identify(struct store *store, struct store_tail *tail,
		    const struct store_identity *identity)
{
	bool changed = set_text(&tail->path, identity->path);

	changed |= set_text(&tail->mirror, identity->mirror);
	changed |= set_text(&tail->real, identity->real);
	changed |= tail->dev != identity->dev ||
		   tail->inode != identity->inode ||
		   tail->ended != identity->ended ||
		   tail->stamp != identity->stamp ||
		   tail->sum.len != identity->sum.len ||
		   tail->sum.crc != identity->sum.crc;
	tail->dev = identity->dev;
	tail->inode = identity->inode;
	tail->ended = identity->ended;
	tail->stamp = identity->stamp;
	tail->sum = identity->sum;
	if (changed)
		store_touch_tail(store, tail);
}

void
store_tail_begin(struct store_tail *tail)
{
	tail->last_line = 0;
	tail->seq = 0;
	tail->done_lines = tail->lines;
}

void
store_tail_advance(struct store *store, struct store_tail *tail,
		   uint64_t offset, uint64_t lines)
{
	if (tail->offset == offset && tail->lines == lines)
		return;
	tail->offset = offset;
	tail->lines = lines;
	tail->is_over = tail->is_whole = false;
	store_touch_tail(store, tail);
}

void
store_tail_trim(struct store *store, struct store_tail *tail, size_t n)
{
	if (tail->n_runs <= n)
		return;
	tail->n_runs = n;
	tail->trim_runs = n;
	store_touch_tail(store, tail);
}

int64_t
store_run_id(struct store *store, struct store_tail *tail,
	     unsigned int run_index)
{
	if (run_index >= tail->n_runs || tail->runs[run_index].id == 0)
		set_run_id(tail, run_index, store->next_run++);
	return tail->runs[run_index].id;
}

bool
store_run_has_row(const struct store_tail *tail, unsigned int run_index)
{
	return run_index < tail->n_runs && tail->runs[run_index].has_row;
}

static void
store_on_timer(void *user)
{
	struct store *store = user;

	(void)store_flush(store, NULL);
}
