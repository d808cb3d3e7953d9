/* SPDX-License-Identifier: MIT */
/*
 * The store: real files, real kills, a full disk, two programs at one
 * database, older and newer schemas, hostile texts.
 */
#include "config.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/lock.h"
#include "store/query.h"
#include "store/schema.h"
#include "tests/support/tap.h"

static char dir[64];

static const char *
file_in_dir(const char *name)
{
	static char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct store *
open_store(const char *path, bool read_only)
{
	struct store_options options = { .path = path, .read_only = read_only };
	struct err err = { ERR_NONE, "" };
	struct store *store = store_open(&options, &err);

	if (store == NULL)
		printf("# %s\n", err.text);
	return store;
}

static void
fill_run(struct run *run, double steps)
{
	run_init(run);
	run->status = RUN_RUNNING;
	run->seed = 42;
	run->steps = steps;
	run->train_ms = 572.810386 * steps;
	run->lines = (uint64_t)steps;
}

static void
add_sample(struct store *store, struct store_tail *tail, const struct run *run,
	   uint64_t line)
{
	struct sample sample = {
		.step = (double)line,
		.metric = METRIC_TRAIN_LOSS,
		.value = 1.0 / (double)(line + 2),
		.train_ms = RUN_ABSENT,
		.line = line,
	};

	store_sample_add(store, tail, run, &sample);
}

/* What the queries gave. */
struct seen {
	size_t runs, samples, tails;
	uint64_t last_line, offset, lines;
	double value, sum;
	struct run run;
	int64_t run_id;
	char path[200];
};

static int
see_run(void *user, const struct stored_run *row)
{
	struct seen *seen = user;

	if (seen->runs++ > 0)
		run_release(&seen->run);
	run_copy(&seen->run, &row->run);
	seen->run_id = row->run_id;
	(void)snprintf(seen->path, sizeof(seen->path), "%s", row->path);
	return 0;
}

static int
see_sample(void *user, const struct stored_sample *row)
{
	struct seen *seen = user;

	seen->samples++;
	seen->last_line = row->sample.line;
	seen->value = row->sample.value;
	seen->sum += row->sample.step;
	return 0;
}

static int
see_tail(void *user, const struct stored_tail *row)
{
	struct seen *seen = user;

	seen->tails++;
	seen->offset = row->offset;
	seen->lines = row->lines;
	return 0;
}

static void
see_all(const char *path, struct seen *seen)
{
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, true);

	memset(seen, 0, sizeof(*seen));
	if (store == NULL)
		return;
	if (store_each_run(store, 0, see_run, seen, &err) != 0 ||
	    store_each_sample(store, 1, NULL, see_sample, seen, &err) != 0 ||
	    store_each_tail(store, see_tail, seen, &err) != 0)
		printf("# %s\n", err.text);
	(void)store_close(store, NULL);
}

static void
test_round_trip(void)
{
	const char *path = file_in_dir("round.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct store_tail *tail;
	struct seen seen;
	struct stat st;
	struct run run;
	char hostile[] = "/logs/a b'; DROP TABLE runs;--\n\033[31m\xff.txt";

	ok(store != NULL && store_is_writer(store), "a new database");
	is_int(stat(path, &st) == 0 ? st.st_mode & 0777 : 0, 0600,
	       "is for its owner alone");
	tail = store_tail_get(store, "pod", hostile, 0);
	fill_run(&run, 7);
	run.final_stage = strdup("final\xff\033[2J");
	run.final_class = "ttt";
	run.last_val_loss = (double)INFINITY;
	run.events = calloc(1, sizeof(*run.events));
	run.events[0] = (struct run_event){ 3, RUN_EVENT_OOM, 5,
					    strdup("out\n\x9b of memory") };
	run.n_events = 1;
	add_sample(store, tail, &run, 1);
	add_sample(store, tail, &run, 2);
	store_run_put(store, tail, &run, 1700000000123);
	store_tail_identify(store, tail, 64769, UINT64_C(1) << 63, "/m/x");
	store_tail_advance(store, tail, 100, 2);
	is_int(store_close(store, &err), 0,
	       "is written at the latest at the "
	       "end");
	see_all(path, &seen);
	is_int((long long)seen.runs, 1, "one run");
	is_int((long long)seen.samples, 2, "two samples");
	is_near(seen.value, 0.25, 0, "with their values");
	is_str(seen.path, hostile, "a hostile path comes back as it was");
	is_str(seen.run.final_stage, run.final_stage, "and so does a text");
	is_str(seen.run.final_class, "ttt", "the class");
	ok(seen.run.train_ms == run.train_ms, "a number to the last bit");
	ok(isnan(seen.run.final_bpb), "absent stays absent");
	ok(isinf(seen.run.last_val_loss), "infinite stays infinite");
	is_int((long long)seen.run.n_events, 1, "one event");
	is_str(seen.run.events[0].text, "out\n\x9b of memory", "its text");
	is_int(seen.run.events[0].kind, RUN_EVENT_OOM, "its kind");
	is_int((long long)seen.offset, 100, "the offset");
	run_release(&run);
	run_release(&seen.run);
}

static int
count_rows(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	int n = -1;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ==
		    SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int(stmt, 0);
	else
		printf("# %s\n", sqlite3_errmsg(db));
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	return n;
}

static void
test_views(void)
{
	const char *path = file_in_dir("round.db");

	is_int(count_rows(path, "SELECT seed FROM v_runs WHERE pod = 'pod' AND"
				" ttt_bpb IS NULL AND status = 'running' AND"
				" typeof(seed) = 'integer'"),
	       42, "v_runs has the keys as columns");
	is_int(count_rows(path, "SELECT json_extract(events, '$[0].line')"
				" FROM v_runs"),
	       3, "and the events as JSON");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples WHERE run_id ="
				" 1 AND metric = 'train_loss' AND step > 0 AND"
				" value > 0 AND wall_s IS NULL"),
	       2, "v_samples");
	is_int(count_rows(path, "SELECT offset FROM v_tails WHERE pod = 'pod'"
				" AND inode < 0 AND path LIKE '/logs/%'"),
	       100, "v_tails");
	is_int(count_rows(path, "SELECT count(*) FROM v_benches"), 0,
	       "v_benches");
	is_int(count_rows(path, "SELECT count(*) FROM v_bench_runs"), 0,
	       "v_bench_runs");
}

/* Read `file` of 10-byte lines from the committed place on, for ever. */
static void
ingest_until_killed(const char *path, uint64_t total)
{
	struct store *store = open_store(path, false);
	struct store_tail *tail;
	struct run run;

	if (store == NULL || !store_is_writer(store))
		_exit(3);
	tail = store_tail_get(store, "pod", "/log", 0);
	/* As the collector does: all is read again from the start. */
	for (uint64_t line = 1; line <= total; line++) {
		fill_run(&run, (double)line);
		add_sample(store, tail, &run, line);
		if (line % 16 == 0 || line == total) {
			store_run_put(store, tail, &run, 1);
			store_tail_advance(store, tail, line * 10, line);
			if (line > tail->done_lines &&
			    store_flush(store, NULL) != 0)
				_exit(4);
		}
		run_release(&run);
	}
	if (store_close(store, NULL) != 0)
		_exit(5);
	_exit(0);
}

static bool
is_whole(const char *path)
{
	struct seen seen;
	bool whole;

	see_all(path, &seen);
	whole = seen.samples == seen.lines && seen.offset == seen.lines * 10 &&
		(seen.lines == 0 || (seen.last_line == seen.lines &&
				     seen.run.steps == (double)seen.lines));
	if (!whole)
		printf("# %zu samples, %llu lines, offset %llu, steps %g\n",
		       seen.samples, (unsigned long long)seen.lines,
		       (unsigned long long)seen.offset, seen.run.steps);
	if (seen.runs > 0)
		run_release(&seen.run);
	return whole;
}

/* Kill the writer at random until it came to the end by itself. */
static void
test_kills(void)
{
	const char *path = file_in_dir("kill.db");
	const uint64_t total = 200000;
	int kills = 0, broken = 0, status = 0;
	struct seen seen;

	srand(7);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			ingest_until_killed(path, total);
		if (kills < 60) {
			(void)usleep((useconds_t)(5000 + rand() % 30000));
			(void)kill(pid, SIGKILL);
		}
		(void)waitpid(pid, &status, 0);
		if (!WIFSIGNALED(status))
			break;
		kills++;
		if (access(path, F_OK) == 0 &&
		    count_rows(path, "PRAGMA user_version") > 0)
			broken += !is_whole(path);
	}
	is_int(status, 0, "the last one came to the end");
	ok(kills >= 50, "%d kills", kills);
	is_int(broken, 0, "offset, run and samples belong together after each");
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)total,
	       "no sample is lost or doubled");
	is_near(seen.sum, (double)total * (double)(total + 1) / 2, 0,
		"and none is another");
	run_release(&seen.run);
}

static void
test_two(void)
{
	const char *path = file_in_dir("two.db");
	struct store *first = open_store(path, false);
	struct store *second = open_store(path, false);
	struct store_tail *tail;
	char want[300];
	long holder = 0;

	ok(store_is_writer(first), "the first one writes");
	ok(second != NULL && !store_is_writer(second), "the second one reads");
	(void)snprintf(want, sizeof(want),
		       "another hgym-tui (process %ld) writes to %s: this one "
		       "only reads it",
		       (long)getpid(), path);
	is_str(store_why_reader(second), want, "and says why");
	ok(store_tail_get(second, "p", "/x", 0) == NULL, "it takes nothing");
	tail = store_tail_get(first, "p", "/x", 0);
	store_tail_advance(first, tail, 5, 1);
	is_int(store_flush(first, NULL), 0, "the first one goes on");
	is_int(count_rows(path, "SELECT offset FROM v_tails"), 5,
	       "and can be read meanwhile");
	ok(lock_is_held(path, &holder) && holder == getpid(),
	   "who writes is known");
	(void)store_close(first, NULL);
	(void)store_close(second, NULL);
	ok(!lock_is_held(path, &holder), "until the end");
	second = open_store(path, false);
	ok(store_is_writer(second), "then another one may");
	(void)store_close(second, NULL);
}

/* A soft limit on the size of files is a full disk to SQLite. */
static void
set_disk(rlim_t bytes)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

static void
test_disk_full(void)
{
	const char *path = file_in_dir("full.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct store_tail *tail = store_tail_get(store, "p", "/x", 0);
	struct seen seen;
	struct run run;
	uint64_t line = 0;
	int rc = 0;

	fill_run(&run, 1);
	set_disk(200000);
	while (rc == 0 && line < 100000) {
		for (int i = 0; i < 100; i++)
			add_sample(store, tail, &run, ++line);
		store_run_put(store, tail, &run, 1);
		store_tail_advance(store, tail, line * 10, line);
		rc = store_flush(store, &err);
	}
	is_int(rc, -1, "a full disk is an error");
	ok(strncmp(err.text, "cannot write the database: ", 27) == 0,
	   "that says so: %s", err.text);
	is_int((long long)store_pending(store), 100, "what it was about waits");
	while (!store_is_full(store))
		add_sample(store, tail, &run, ++line);
	is_int((long long)store_pending(store), STORE_MAX_PENDING,
	       "the backlog is bounded, then it is full");
	is_int(store_flush(store, &err), -1, "still no room");
	set_disk(RLIM_INFINITY);
	store_tail_advance(store, tail, line * 10, line);
	is_int(store_flush(store, &err), 0, "with room it is written");
	is_int(store_close(store, &err), 0, "whole");
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)line, "nothing was lost");
	is_int((long long)seen.lines, (long long)line, "and the offset fits");
	run_release(&seen.run);
	run_release(&run);
}

/* The live way: jobs on a loop, and a database that someone locks. */
struct live {
	struct loop *loop;
	struct store *store;
	struct store_tail *tail;
	struct loop_timer *timer;
	struct run run;
	sqlite3 *other;
	uint64_t line;
	int said_bad, said_good, ticks;
	char why[300];
};

static void
live_state(void *user, const struct err *why)
{
	struct live *live = user;

	if (why == NULL) {
		live->said_good++;
		return;
	}
	live->said_bad++;
	(void)snprintf(live->why, sizeof(live->why), "%s", why->text);
	(void)sqlite3_exec(live->other, "COMMIT", NULL, NULL, NULL);
}

static void
live_flush(void *user)
{
	struct live *live = user;

	store_run_put(live->store, live->tail, &live->run, 1);
	store_tail_advance(live->store, live->tail, live->line * 10,
			   live->line);
}

static void
live_tick(void *user)
{
	struct live *live = user;

	for (int i = 0; i < 50; i++)
		add_sample(live->store, live->tail, &live->run, ++live->line);
	if (++live->ticks == 20)
		(void)sqlite3_exec(live->other, "BEGIN IMMEDIATE", NULL, NULL,
				   NULL);
	if (live->ticks > 20 && live->said_good > 0)
		loop_stop(live->loop);
}

static void
test_live(void)
{
	const char *path = file_in_dir("live.db");
	struct live live = { .loop = loop_new(NULL) };
	struct store_options options = {
		.path = path,
		.loop = live.loop,
		.cb = { live_flush, live_state, &live },
	};
	struct seen seen;

	live.store = store_open(&options, NULL);
	(void)sqlite3_open_v2(path, &live.other, SQLITE_OPEN_READWRITE, NULL);
	live.tail = store_tail_get(live.store, "p", "/x", 0);
	fill_run(&live.run, 3);
	live.timer = loop_timer_new(live.loop, live_tick, &live);
	loop_timer_start(live.timer, 10, 10);
	loop_run(live.loop);
	loop_timer_close(live.timer);
	is_int(store_close(live.store, NULL), 0, "jobs on a loop");
	loop_free(live.loop);
	is_int(live.said_bad, 1, "a locked database is said once");
	ok(strstr(live.why, "locked") != NULL, "%s", live.why);
	is_int(live.said_good, 1, "and that it works again");
	(void)sqlite3_close(live.other);
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)live.line,
	       "nothing was lost");
	is_int((long long)seen.lines, (long long)live.line,
	       "the offset is that of the last sample");
	run_release(&seen.run);
	run_release(&live.run);
}

static void
run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *why = NULL;

	(void)sqlite3_open(path, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		printf("# %s: %s\n", sql, why);
	sqlite3_free(why);
	(void)sqlite3_close(db);
}

static void
test_migrations(void)
{
	const char *path = file_in_dir("old.db");
	struct err err = { ERR_NONE, "" };
	struct store_options options = { .path = path };
	struct store *store;
	sqlite3 *db = NULL;
	struct seen seen;
	char want[300];

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 1, &err), 0, "a database of schema 1");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO tails(id, pod, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', 0, 50, 5);"
		      "INSERT INTO runs(id, tail_id, run_index, status, seed)"
		      " VALUES(1, 1, 0, 'finished', 7);"
		      "ALTER TABLE runs DROP COLUMN ttt_bpb;");
	is_int(count_rows(path, "SELECT count(*) FROM sqlite_master WHERE"
				" name = 'benches'"),
	       0, "without benches");
	see_all(path, &seen);
	is_int((long long)seen.runs, 1, "is read after migration");
	is_near(seen.run.seed, 7, 0, "with what it held");
	ok(isnan(seen.run.ttt_bpb), "and a column it had not");
	run_release(&seen.run);
	is_int(count_rows(path, "PRAGMA user_version"), SCHEMA_VERSION,
	       "it is of today's schema");
	is_int(count_rows(path, "SELECT count(*) FROM v_benches"), 0,
	       "and has benches");
	run_sql(path, "PRAGMA user_version = 99");
	store = store_open(&options, &err);
	ok(store == NULL, "a newer schema is refused");
	(void)snprintf(want, sizeof(want),
		       "%s was written by a newer hgym-tui (schema 99; this "
		       "one knows %d)",
		       path, SCHEMA_VERSION);
	is_str(err.text, want, "in one sentence");
	options.read_only = true;
	store = store_open(&options, &err);
	ok(store == NULL, "by a reader too");
	options.path = file_in_dir("none.db");
	err.code = ERR_NONE;
	ok(store_open(&options, &err) == NULL && err.code == ERR_NODATA,
	   "nothing to read: %s", err.text);
}

static void
test_not_a_database(void)
{
	const char *path = file_in_dir("text.db");
	struct store_options options = { .path = path };
	struct err err = { ERR_NONE, "" };
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	for (int i = 0; i < 200; i++)
		(void)!write(fd, "this is a text, not a database\n", 31);
	(void)close(fd);
	ok(store_open(&options, &err) == NULL && err.code == ERR_DB,
	   "a file that is none: %s", err.text);
	options.path = "/nonexistent/x.db";
	ok(store_open(&options, &err) == NULL, "a folder that is not: %s",
	   err.text);
}

static void
test_find(void)
{
	const char *path = file_in_dir("find.db");
	static const char *const paths[] = { "/l/train_1.log", "/l/train_2.log",
					     "/l/12.log" };
	static const struct {
		const char *text;
		int id; /* 0: none */
	} cases[] = {
		{ "1", 1 },
		{ "/l/train_2.log", 2 },
		{ "train_2", 2 },
		{ "train", 0 },
		{ "/l/tr", 0 },
		{ "12", 3 },
		{ "pod:train_1", 1 },
		{ "pod:/l/train_1.log", 1 },
		{ "other:train_1", 0 },
		{ "", 0 },
		{ "nothing", 0 },
	};
	struct store *store = open_store(path, false);
	struct run run;

	fill_run(&run, 1);
	for (size_t i = 0; i < 3; i++)
		store_run_put(store, store_tail_get(store, "pod", paths[i], 0),
			      &run, 1);
	(void)store_flush(store, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { ERR_NONE, "" };

		is_int(store_find_run(store, cases[i].text, &err), cases[i].id,
		       cases[i].text);
	}
	is_int(store_check(store, NULL), 0, "the database is sound");
	(void)store_close(store, NULL);
	run_release(&run);
}

static void
remove_dir(void)
{
	static const char *const argv[] = { "rm", "-rf", dir, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp("rm", (char *const *)(const void *)argv);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

int
main(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/t-store.XXXXXX");
	(void)signal(SIGXFSZ, SIG_IGN);
	if (mkdtemp(dir) == NULL)
		return 1;
	test_round_trip();
	test_views();
	test_two();
	test_disk_full();
	test_live();
	test_migrations();
	test_not_a_database();
	test_find();
	test_kills();
	remove_dir();
	return tap_done();
}
