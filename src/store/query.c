/* SPDX-License-Identifier: MIT */
/* Reads of what was stored; for the commands and the views of history. */
#include "config.h"

#include "store/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "store/samples.h"
#include "store/stmt.h"
#include "store/store_priv.h"

/* Fixed columns first, then the numbers in the order of their list. */
enum run_column {
	COL_ID,
	COL_POD,
	COL_PATH,
	COL_GEN,
	COL_FIRST_WALL,
	COL_LAST_WALL,
	COL_RUN_INDEX,
	COL_STATUS,
	COL_FINAL_STAGE,
	COL_FINAL_CLASS,
	COL_SOURCE,
	COL_SOURCE_LINES,
	COL_FIRST_LINE,
	COL_LINES,
	COL_BYTES,
	COL_MATCHED,
	COL_FORMATS,
	COL_DROPPED,
	COL_LIVE,
	COL_NAME,
	COL_ENDED,
	COL_MIRROR,
	COL_REV,
	COL_NUMBERS,
};

#define RUN_SELECT                                                             \
	"SELECT r.id, t.pod, t.path, t.gen, r.first_wall_ms, r.last_wall_ms,"  \
	" r.run_index, r.status, r.final_stage, r.final_class,"                \
	" r.source_sha256, r.source_lines, r.first_line, r.lines, r.bytes,"    \
	" r.matched, r.formats, r.events_dropped, r.live, t.name, t.ended,"    \
	" t.mirror, r.rev" RUN_NUMBER_LIST(NUMBER_COLUMN)                      \
		RUN_LIVE_LIST(LIVE_COLUMN) " FROM runs r"                      \
					   " JOIN tails t ON t.id = r.tail_id"
#define NUMBER_COLUMN(member, decimals) ", r." #member
#define LIVE_COLUMN(member)		", r." #member

static const char all_runs[] = RUN_SELECT " ORDER BY r.id";
static const char one_run[] = RUN_SELECT " WHERE r.id = ?1";
static const char changed_runs[] =
	RUN_SELECT " WHERE r.rev > ?1 ORDER BY r.rev, r.id";

static const char *const status_names[] = {
#define X(id, name) [RUN_##id] = name,
	RUN_STATUS_LIST(X)
#undef X
};

static const char *const event_names[] = {
#define X(id, name) [RUN_EVENT_##id] = name,
	RUN_EVENT_LIST(X)
#undef X
};

/* Index of text in names, fallback when it is none of them. */
static int
name_index(const char *const *names, size_t n, const char *text, int fallback)
{
	for (size_t i = 0; text != NULL && i < n; i++)
		if (strcmp(names[i], text) == 0)
			return (int)i;
	return fallback;
}

/* The class is static in struct run: only the known ones come back. */
static const char *
class_name(const char *text)
{
	static const char *const names[] = { "roundtrip", "sliding", "ttt",
					     "preq" };
	int i = name_index(names, sizeof(names) / sizeof(names[0]), text, -1);

	return i >= 0 ? names[i] : NULL;
}

static void
fill_run(sqlite3_stmt *stmt, struct run *run)
{
	int at = COL_NUMBERS;

	run_init(run);
	run->run_index =
		(unsigned int)sqlite3_column_int64(stmt, COL_RUN_INDEX);
	run->status = (enum run_status)name_index(
		status_names, sizeof(status_names) / sizeof(status_names[0]),
		stmt_text(stmt, COL_STATUS), RUN_TRUNCATED);
	run->final_stage = stmt_take_text(stmt, COL_FINAL_STAGE);
	run->final_class = class_name(stmt_text(stmt, COL_FINAL_CLASS));
	run->source_sha256 = stmt_take_text(stmt, COL_SOURCE);
	run->source_lines = stmt_u64(stmt, COL_SOURCE_LINES);
	run->first_line = stmt_u64(stmt, COL_FIRST_LINE);
	run->lines = stmt_u64(stmt, COL_LINES);
	run->bytes = stmt_u64(stmt, COL_BYTES);
	run->matched = stmt_u64(stmt, COL_MATCHED);
	run->formats = stmt_take_text(stmt, COL_FORMATS);
	run->events_dropped = stmt_u64(stmt, COL_DROPPED);
#define X(member, decimals) run->member = stmt_number(stmt, at++);
	RUN_NUMBER_LIST(X)
#undef X
#define X(member) run->member = stmt_number(stmt, at++);
	RUN_LIVE_LIST(X)
#undef X
	if (!run_has(run->last_step))
		run->last_step = run->steps;
}

/* The events of one run, in order. */
static void
fill_events(sqlite3_stmt *stmt, int64_t run_id, struct run *run)
{
	size_t cap = 0;

	(void)sqlite3_bind_int64(stmt, 1, run_id);
	while (run->n_events < RUN_MAX_EVENTS &&
	       sqlite3_step(stmt) == SQLITE_ROW) {
		char *text = stmt_take_text(stmt, 3);

		run->events = xgrow(run->events, run->n_events, &cap,
				    sizeof(*run->events));
		run->events[run->n_events++] = (struct run_event){
			.line = stmt_u64(stmt, 0),
			.kind = (enum run_event_kind)name_index(
				event_names, RUN_EVENT_COUNT,
				stmt_text(stmt, 1), RUN_EVENT_OTHER),
			.step = stmt_number(stmt, 2),
			.text = text != NULL ? text : xstrdup(""),
		};
	}
	(void)sqlite3_reset(stmt);
}

struct walk {
	stored_run_fn fn;
	void *user;
};

static void
fill_row(sqlite3_stmt *stmt, struct stored_run *row)
{
	*row = (struct stored_run){
		.run_id = sqlite3_column_int64(stmt, COL_ID),
		.pod = stmt_text(stmt, COL_POD),
		.path = stmt_text(stmt, COL_PATH),
		.name = stmt_text(stmt, COL_NAME),
		.gen = (unsigned int)stmt_u64(stmt, COL_GEN),
		.first_wall_ms = sqlite3_column_int64(stmt, COL_FIRST_WALL),
		.last_wall_ms = sqlite3_column_int64(stmt, COL_LAST_WALL),
		.is_live = sqlite3_column_int(stmt, COL_LIVE) != 0,
		.is_ended = sqlite3_column_int(stmt, COL_ENDED) != 0,
		.mirror = stmt_text(stmt, COL_MIRROR),
		.rev = sqlite3_column_int64(stmt, COL_REV),
	};
	fill_run(stmt, &row->run);
}

/* Walk over what sql, one of the three above, gives. */
static int
walk_runs(struct store *store, const char *sql, int64_t number,
	  const struct walk *walk, struct err *err)
{
	sqlite3_stmt *stmt, *events;
	int rc = 0;

	if (stmt_prepare(store->reader, store->path, sql, &stmt, err) != 0)
		return -1;
	if (stmt_prepare(store->reader, store->path,
			 "SELECT line, kind, step, text FROM events"
			 " WHERE run_id = ?1 ORDER BY idx",
			 &events, err) != 0) {
		(void)sqlite3_finalize(stmt);
		return -1;
	}
	if (sql != all_runs)
		(void)sqlite3_bind_int64(stmt, 1, number);
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		struct stored_run row;

		fill_row(stmt, &row);
		fill_events(events, row.run_id, &row.run);
		rc = walk->fn(walk->user, &row);
		run_release(&row.run);
	}
	(void)sqlite3_finalize(events);
	return stmt_end_walk(store->reader, store->path, stmt, rc, err);
}

int
store_each_run(struct store *store, int64_t run_id, stored_run_fn fn,
	       void *user, struct err *err)
{
	const struct walk walk = { fn, user };

	return walk_runs(store, run_id == 0 ? all_runs : one_run, run_id, &walk,
			 err);
}

int
store_each_changed_run(struct store *store, int64_t rev, stored_run_fn fn,
		       void *user, struct err *err)
{
	const struct walk walk = { fn, user };

	return walk_runs(store, changed_runs, rev, &walk, err);
}

int64_t
store_data_version(struct store *store)
{
	sqlite3_stmt *stmt;
	int64_t version = -1;

	if (stmt_prepare(store->reader, store->path, "PRAGMA data_version",
			 &stmt, NULL) != 0)
		return -1;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		version = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return version;
}

/* How well a path is named by text: 3 is whole, 1 and 2 a beginning. */
static int
match_path(const char *path, const char *pod, const char *text)
{
	size_t pod_len = strlen(pod), len = strlen(text);
	const char *base = strrchr(path, '/');

	if (strncmp(text, pod, pod_len) == 0 && text[pod_len] == ':')
		return match_path(path, "", text + pod_len + 1);
	if (strcmp(path, text) == 0)
		return 3;
	if (strncmp(path, text, len) == 0)
		return 2;
	return base != NULL && strncmp(base + 1, text, len) == 0 ? 1 : 0;
}

struct search {
	const char *text;
	int best; /* the kind of match found so far */
	int64_t id;
	size_t count; /* runs that match as well */
};

static void
search_row(struct search *s, int64_t id, const char *pod, const char *path)
{
	int how = match_path(path, pod, s->text);

	if (how == 0 || how < s->best)
		return;
	s->count = how > s->best ? 1 : s->count + 1;
	s->best = how;
	s->id = id;
}

int64_t
store_find_run(struct store *store, const char *text, struct err *err)
{
	struct search s = { .text = text };
	sqlite3_stmt *stmt;
	int64_t number = 0;
	bool is_number = str_to_i64(str_from(text), &number);

	if (stmt_prepare(store->reader, store->path,
			 "SELECT r.id, t.pod, t.path FROM runs r"
			 " JOIN tails t ON t.id = r.tail_id",
			 &stmt, err) != 0)
		return 0;
	while (text[0] != '\0' && sqlite3_step(stmt) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(stmt, 0);

		if (is_number && id == number) {
			s = (struct search){ text, 4, id, 1 };
			break;
		}
		search_row(&s, id, stmt_text(stmt, 1), stmt_text(stmt, 2));
	}
	(void)sqlite3_finalize(stmt);
	if (s.count == 1)
		return s.id;
	if (s.count > 1)
		err_set(err, ERR_USAGE,
			"%zu runs are meant by \"%s\": name one by its id "
			"(hgym-tui runs)",
			s.count, text);
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

int
store_each_tail(struct store *store, stored_tail_fn fn, void *user,
		struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (stmt_prepare(
		    store->reader, store->path,
		    "SELECT pod, path, gen, dev, inode, offset, lines, mirror"
		    " FROM tails ORDER BY id",
		    &stmt, err) != 0)
		return -1;
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		struct stored_tail row = {
			.pod = stmt_text(stmt, 0),
			.path = stmt_text(stmt, 1),
			.gen = (unsigned int)stmt_u64(stmt, 2),
			.dev = stmt_u64(stmt, 3),
			.inode = stmt_u64(stmt, 4),
			.offset = stmt_u64(stmt, 5),
			.lines = stmt_u64(stmt, 6),
			.mirror = stmt_text(stmt, 7),
		};

		rc = fn(user, &row);
	}
	return stmt_end_walk(store->reader, store->path, stmt, rc, err);
}

int
store_check(struct store *store, struct err *err)
{
	sqlite3_stmt *stmt;
	const char *text = NULL;
	int rc = 0;

	if (stmt_prepare(store->reader, store->path, "PRAGMA quick_check(1)",
			 &stmt, err) != 0)
		return -1;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		text = stmt_text(stmt, 0);
	if (text == NULL || strcmp(text, "ok") != 0)
		rc = err_set(err, ERR_DB, "%s is damaged: %s", store->path,
			     text != NULL ? text
					  : sqlite3_errmsg(store->reader));
	(void)sqlite3_finalize(stmt);
	return rc;
}
