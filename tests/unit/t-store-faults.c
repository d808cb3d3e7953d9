/* SPDX-License-Identifier: MIT */
/* The store under stress: SIGKILLs, a full disk, a locked database, two programs with one
 * database. */
#include "store/store.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/lock.h"
#include "tests/support/store_test.h"

static void test_two(void)
{
	const char *path = file_in_dir("two.db");
	struct store *first = open_store(path, false);
	struct store *second = open_store(path, false);
	struct store_log *log;
	char want[300];
	long holder = 0;

	ok(store_is_writer(first), "the first process writes");
	ok(second != NULL && !store_is_writer(second), "the second process only reads");
	(void)snprintf(want, sizeof(want),
		       "another hgym-tui (process %ld) writes %s; this one only reads it",
		       (long)getpid(), path);
	is_str(store_why_reader(second), want, "the second process reports why it only reads");
	ok(store_log_get(second, "p", "/x", 0) == NULL, "a reader accepts no data");
	log = store_log_get(first, "p", "/x", 0);
	store_log_advance(first, log, 5, 1);
	is_int(store_flush(first, NULL), 0, "the first process continues to write");
	is_int(count_rows(path, "SELECT offset FROM v_tails"), 5,
	       "the data of the first process can be read meanwhile");
	ok(lock_is_held(path, &holder) && holder == getpid(), "the writing process is known");
	(void)store_close(first, NULL);
	(void)store_close(second, NULL);
	ok(!lock_is_held(path, &holder), "the lock ends with the process");
	second = open_store(path, false);
	ok(store_is_writer(second), "another process may write then");
	(void)store_close(second, NULL);
}

/* To SQLite, a soft limit on file size is a full disk. */
static void set_disk(rlim_t bytes)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_disk_full(void)
{
	const char *path = file_in_dir("full.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct seen seen;
	struct run run;
	uint64_t line = 0;
	int rc = 0;

	fill_run(&run, 1);
	set_disk(200000);
	while (rc == 0 && line < 100000) {
		for (int i = 0; i < 100; i++)
			add_sample(store, log, &run, ++line);
		store_run_put(store, log, &run, &put);
		store_log_advance(store, log, line * 10, line);
		rc = store_flush(store, &err);
	}
	is_int(rc, -1, "a full disk is an error");
	ok(strncmp(err.text, "cannot write the database: ", 27) == 0, "a full disk is reported: %s",
	   err.text);
	is_int((long long)store_pending(store), 100, "the data waits");
	while (!store_is_full(store))
		add_sample(store, log, &run, ++line);
	is_int((long long)store_pending(store), STORE_MAX_PENDING,
	       "the backlog is full at its limit");
	is_int(store_flush(store, &err), -1, "a disk that is still full is an error");
	set_disk(RLIM_INFINITY);
	store_log_advance(store, log, line * 10, line);
	is_int(store_flush(store, &err), 0, "with space again, the data is written");
	is_int(store_close(store, &err), 0, "all data is written at the end");
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)line, "nothing was lost");
	is_int((long long)seen.lines, (long long)line, "the offset is correct after a full disk");
	run_release(&seen.run);
	run_release(&run);
}

/* Open and read the database as a user who can write neither it nor its folder. */
static int read_as_other_user(const char *path)
{
	int status = -1;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct seen seen = { 0 };
		struct store *store = NULL;

		if (getuid() != 0 || setuid(65534) == 0)
			store = open_store(path, true);
		_exit(store == NULL || store_each_run(store, 0, see_run, &seen, NULL) != 0
			      ? 99
			      : (int)seen.runs);
	}
	(void)waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* Read a database as on a read-only disk; a percent sign is special in the URI of a database. */
static void test_read_only_folder(void)
{
	char folder[100], path[120], wal[130];
	struct store *store;
	struct run run;

	print_into(folder, "%s/50%%25", dir);
	print_into(path, "%s/ro.db", folder);
	print_into(wal, "%s-wal", path);
	if (chmod(dir, 0755) != 0 || mkdir(folder, 0755) != 0)
		exit(1);
	store = open_store(path, false);
	fill_run(&run, 3);
	store_run_put(store, store_log_get(store, "p", "/x", 0), &run, &put);
	is_int(store_flush(store, NULL), 0, "a database in a folder is written");
	is_int(store_close(store, NULL), 0, "a database in a read-only folder is closed");
	(void)chmod(path, 0444);
	(void)chmod(folder, 0555);
	is_int(read_as_other_user(path), 1, "another user can read a read-only database");
	(void)chmod(folder, 0755);
	(void)chmod(path, 0644);
	store = open_store(path, false);
	ok(store_is_writer(store) && access(wal, F_OK) == 0,
	   "a database that another user writes is open");
	(void)chmod(wal, 0444);
	store_run_put(store, store_log_get(store, "p", "/y", 0), &run, &put);
	is_int(store_flush(store, NULL), 0, "a second run is written");
	(void)chmod(folder, 0555);
	ok(read_as_other_user(path) != 1, "an old state is not shown as the current one");
	(void)chmod(folder, 0755);
	(void)store_close(store, NULL);
	run_release(&run);
}

/* Nothing is written to a file without a name. */
static void test_removed(void)
{
	const char *path = file_in_dir("gone.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct run run;

	fill_run(&run, 1);
	add_sample(store, log, &run, 1);
	is_int(store_flush(store, &err), 0, "a database is written");
	(void)unlink(path);
	add_sample(store, log, &run, 2);
	is_int(store_flush(store, &err), -1, "writing to a removed database fails");
	ok(strstr(err.text, "removed or replaced") != NULL, "a removed database is reported: %s",
	   err.text);
	is_int((long long)store_pending(store), 1, "new data of a removed database waits");
	is_int(store_close(store, &err), -1,
	       "the data of a removed database is not written at the end");
	ok(access(path, F_OK) != 0, "a removed database is not created again");
	run_release(&run);
}

/* A store as in the program, with jobs on a loop, and a database that another process locks. */
struct live {
	struct loop *loop;
	struct store *store;
	struct store_log *log;
	struct loop_timer *timer;
	struct run run;
	sqlite3 *other;
	uint64_t line;
	int said_bad, said_good, ticks;
	bool was_locked;
	char why[512];
};

static void live_state(void *user, const struct err *why)
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

static void live_flush(void *user)
{
	struct live *live = user;

	store_run_put(live->store, live->log, &live->run, &put);
	store_log_advance(live->store, live->log, live->line * 10, live->line);
}

static void live_tick(void *user)
{
	struct live *live = user;

	for (int i = 0; i < 50; i++)
		add_sample(live->store, live->log, &live->run, ++live->line);
	/* The store may be writing just now: try at the next tick. */
	if (++live->ticks >= 20 && !live->was_locked)
		live->was_locked =
			sqlite3_exec(live->other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
	if (live->said_good > 0)
		loop_stop(live->loop);
}

static void test_live(void)
{
	const char *path = file_in_dir("live.db");
	struct live live = { .loop = loop_new(NULL) };
	struct store_options options = {
		.path = path,
		.loop = live.loop,
		.cb = { live_flush, live_state, NULL, &live },
	};
	struct seen seen;

	live.store = store_open(&options, NULL);
	(void)sqlite3_open_v2(path, &live.other, SQLITE_OPEN_READWRITE, NULL);
	live.log = store_log_get(live.store, "p", "/x", 0);
	fill_run(&live.run, 3);
	live.timer = loop_timer_new(live.loop, live_tick, &live);
	loop_timer_start(live.timer, 10, 10);
	loop_run(live.loop);
	loop_timer_close(live.timer);
	is_int(store_close(live.store, NULL), 0, "a store with jobs on a loop is closed");
	loop_free(live.loop);
	is_int(live.said_bad, 1, "a locked database is reported once");
	ok(strstr(live.why, "locked") != NULL, "%s", live.why);
	is_int(live.said_good, 1, "the recovery is reported once");
	(void)sqlite3_close(live.other);
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)live.line, "nothing was lost");
	is_int((long long)seen.lines, (long long)live.line,
	       "the offset belongs to the last sample");
	run_release(&seen.run);
	run_release(&live.run);
}

/* Read a file of 10-byte lines from the committed offset: up to its end, or `most` lines and then
 * wait to be killed. Prints when it starts. */
static void ingest(const char *path, uint64_t total, uint64_t most, int begun)
{
	struct store *store = open_store(path, false);
	struct store_log *log;
	struct run run;

	if (write(begun, "", 1) != 1 || store == NULL || !store_is_writer(store))
		_exit(3);
	log = store_log_get(store, "pod", "/log", 0);
	/* As in the pipeline, everything is read again from the start. */
	for (uint64_t line = 1; line <= total; line++) {
		fill_run(&run, (double)line);
		add_sample(store, log, &run, line);
		if (line % 16 == 0 || line == total) {
			store_run_put(store, log, &run, &put);
			store_log_advance(store, log, line * 10, line);
			if (line > log->done_lines && store_flush(store, NULL) != 0)
				_exit(4);
		}
		run_release(&run);
		while (line >= log->done_lines && line - log->done_lines >= most)
			(void)pause();
	}
	if (store_close(store, NULL) != 0)
		_exit(5);
	_exit(0);
}

static bool is_whole(const char *path)
{
	struct seen seen;
	bool whole;

	see_all(path, &seen);
	if (seen.tails == 0) /* killed before the first transaction */
		seen.offset = seen.lines = 0;
	whole = seen.samples == seen.lines && seen.offset == seen.lines * 10 &&
		(seen.lines == 0 ||
		 (seen.last_line == seen.lines && seen.run.steps == (double)seen.lines));
	if (!whole)
		printf("# %zu samples, %llu lines, offset %llu, steps %g\n", seen.samples,
		       (unsigned long long)seen.lines, (unsigned long long)seen.offset,
		       seen.run.steps);
	if (seen.runs > 0)
		run_release(&seen.run);
	return whole;
}

/* Finalizer of Steele and Vigna's splitmix64 over a counter. */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#define KILLS 60

/* Kill the writer at random, then let one finish. */
static void test_kills(void)
{
	const char *path = file_in_dir("kill.db");
	const uint64_t total = 200000;
	uint64_t seed = 7;
	int kills = 0, broken = 0, status = 0, begun[2];
	struct seen seen;
	char byte;

	if (pipe(begun) != 0)
		exit(1);
	for (int i = 0; i <= KILLS; i++) {
		pid_t pid;

		(void)fflush(stdout);
		pid = fork();
		if (pid == 0)
			ingest(path, total, i < KILLS ? total / (KILLS + 1) : UINT64_MAX, begun[1]);
		if (i < KILLS && read(begun[0], &byte, 1) == 1) {
			(void)usleep((useconds_t)(next_random(&seed) % 30000));
			(void)kill(pid, SIGKILL);
		}
		(void)waitpid(pid, &status, 0);
		kills += WIFSIGNALED(status);
		if (access(path, F_OK) == 0 && count_rows(path, "PRAGMA user_version") > 0)
			broken += !is_whole(path);
	}
	(void)close(begun[0]);
	(void)close(begun[1]);
	is_int(status, 0, "the last writer finished");
	is_int(kills, KILLS, "the other writers were killed");
	is_int(broken, 0, "offset, run and samples are consistent after each kill");
	see_all(path, &seen);
	is_int((long long)seen.samples, (long long)total, "no sample is lost or duplicated");
	is_near(seen.sum, (double)total * (double)(total + 1) / 2, 0, "no sample has changed");
	run_release(&seen.run);
}

int main(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/t-store-faults.XXXXXX");
	(void)signal(SIGXFSZ, SIG_IGN);
	if (mkdtemp(dir) == NULL)
		return 1;
	test_two();
	test_disk_full();
	test_removed();
	test_read_only_folder();
	test_live();
	test_kills();
	remove_dir();
	return tap_done();
}
