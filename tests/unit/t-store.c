/* SPDX-License-Identifier: MIT */
/* The store: data read back, views, schemas, hostile texts, names of runs. */
#include "store/store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "store/schema.h"
#include "tests/support/store_test.h"

static void test_round_trip(void)
{
	const char *path = file_in_dir("round.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct store_log *log;
	struct seen seen;
	struct stat st;
	struct run run;
	char hostile[] = "/logs/a b'; DROP TABLE runs;--\n\033[31m\xff.txt";

	ok(store != NULL && store_is_writer(store), "a new database is created");
	is_int(stat(path, &st) == 0 ? st.st_mode & 0777 : 0, 0600,
	       "the database is only accessible by its owner");
	log = store_log_get(store, "pod", hostile, 0);
	fill_run(&run, 7);
	run.final_stage = strdup("final\xff\033[2J");
	run.final_class = "ttt";
	run.last_val_loss = (double)INFINITY;
	run.events = calloc(1, sizeof(*run.events));
	run.events[0] = (struct run_event){ 3, RUN_EVENT_OOM, 5, strdup("out\n\x9b of memory") };
	run.n_events = 1;
	add_sample(store, log, &run, 1);
	add_sample(store, log, &run, 2);
	store_run_put(store, log, &run, &put);
	store_log_set_identity(store, log,
			       &(struct log_identity){
				       .path = hostile,
				       .dev = 64769,
				       .inode = UINT64_C(1) << 63,
				       .stamp = UINT64_C(1) << 62,
				       .sum = { 100, 0xffffffff },
			       },
			       "/m/x");
	store_log_advance(store, log, 100, 2);
	is_int(store_close(store, &err), 0, "waiting rows are written when the store is closed");
	see_all(path, &seen);
	is_int((long long)seen.runs, 1, "one run");
	is_int((long long)seen.samples, 2, "two samples");
	is_near(seen.value, 0.25, 0, "samples have their values");
	is_str(seen.path, hostile, "a hostile path is returned unchanged");
	is_str(seen.run.final_stage, run.final_stage, "a text is returned unchanged");
	is_str(seen.run.final_class, "ttt", "the class is returned");
	ok(seen.run.train_ms == run.train_ms, "a number is returned to the last bit");
	ok(isnan(seen.run.final_bpb), "an absent number stays absent");
	ok(isinf(seen.run.last_val_loss), "an infinite number stays infinite");
	is_int((long long)seen.run.n_events, 1, "one event");
	is_str(seen.run.events[0].text, "out\n\x9b of memory", "the event has its text");
	is_int(seen.run.events[0].kind, RUN_EVENT_OOM, "the event has its kind");
	is_int((long long)seen.offset, 100, "the log has its offset");
	run_release(&run);
	run_release(&seen.run);
}

static void test_views(void)
{
	const char *path = file_in_dir("round.db");

	is_int(count_rows(path, "SELECT seed FROM v_runs WHERE pod = 'pod' AND"
				" ttt_bpb IS NULL AND status = 'running' AND"
				" typeof(seed) = 'integer'"),
	       42, "v_runs has the keys as columns");
	is_int(count_rows(path, "SELECT json_extract(events, '$[0].line')"
				" FROM v_runs"),
	       3, "v_runs has the events as JSON");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples WHERE run_id ="
				" 1 AND metric = 'train_loss' AND step > 0 AND"
				" value > 0 AND wall_s IS NULL"),
	       2, "v_samples");
	is_int(count_rows(path, "SELECT offset FROM v_tails WHERE pod = 'pod'"
				" AND inode < 0 AND path LIKE '/logs/%'"),
	       100, "v_tails");
	is_int(count_rows(path, "SELECT count(*) FROM v_benches"), 0, "v_benches");
	is_int(count_rows(path, "SELECT count(*) FROM v_bench_runs"), 0, "v_bench_runs");
}

static void test_migrations(void)
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
	run_sql(path, "INSERT INTO tails(id, pod, name, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', '/x', 0, 50, 5);"
		      "INSERT INTO runs(id, tail_id, run_index, status, seed)"
		      " VALUES(1, 1, 0, 'finished', 7);"
		      "ALTER TABLE runs DROP COLUMN ttt_bpb;");
	is_int(count_rows(path, "SELECT count(*) FROM sqlite_master WHERE"
				" name = 'benches'"),
	       0, "schema 1 has no benches");
	see_all(path, &seen);
	is_int((long long)seen.runs, 1, "a database of schema 1 is read after migration");
	is_near(seen.run.seed, 7, 0, "the migrated run has its content");
	ok(isnan(seen.run.ttt_bpb), "a column added by the migration is absent");
	run_release(&seen.run);
	is_int(count_rows(path, "PRAGMA user_version"), SCHEMA_VERSION,
	       "the migrated database has the current schema");
	is_int(count_rows(path, "SELECT count(*) FROM v_benches"), 0,
	       "the migrated database has benches");
	run_sql(path, "PRAGMA user_version = 99");
	store = store_open(&options, &err);
	ok(store == NULL, "a newer schema is rejected");
	(void)snprintf(want, sizeof(want),
		       "%s was written by a newer hgym-tui (schema 99; this version supports up to "
		       "%d)",
		       path, SCHEMA_VERSION);
	is_str(err.text, want, "a newer schema is reported in one sentence");
	options.read_only = true;
	store = store_open(&options, &err);
	ok(store == NULL, "a reader rejects a newer schema too");
	options.path = file_in_dir("none.db");
	err.code = ERR_NONE;
	ok(store_open(&options, &err) == NULL && err.code == ERR_NODATA,
	   "a missing database is an error for a reader: %s", err.text);
}

static void test_not_a_database(void)
{
	const char *path = file_in_dir("text.db");
	struct store_options options = { .path = path };
	struct err err = { ERR_NONE, "" };
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	for (int i = 0; i < 200; i++)
		(void)!write(fd, "this is a text, not a database\n", 31);
	(void)close(fd);
	ok(store_open(&options, &err) == NULL && err.code == ERR_DB,
	   "a file that is not a "
	   "database: %s",
	   err.text);
	options.path = file_in_dir("none/x.db");
	ok(store_open(&options, &err) == NULL, "the folder of a database is missing: %s", err.text);
}

static void test_find(void)
{
	const char *path = file_in_dir("find.db");
	static const char *const paths[] = { "/l/train_1.log", "/l/train_2.log", "/l/12.log" };
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
		store_run_put(store, store_log_get(store, "pod", paths[i], 0), &run, &put);
	(void)store_flush(store, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { ERR_NONE, "" };

		is_int(store_find_run(store, cases[i].text, &err), cases[i].id, cases[i].text);
	}
	bool is_partial = true;
	is_int(store_check(store, &is_partial, NULL), 0, "the database is consistent");
	ok(!is_partial, "the database was checked completely");
	(void)store_close(store, NULL);
	run_release(&run);
}

/* From an older schema, with rows: nothing is lost and nothing invented. */
static void test_from_schema_4(void)
{
	const char *path = file_in_dir("four.db");
	struct err err = { ERR_NONE, "" };
	struct store *store;
	const struct store_log *log;
	sqlite3 *db = NULL;

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 4, &err), 0, "a database of schema 4");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO tails(id, pod, name, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', '/x', 0, 50, 5);"
		      "INSERT INTO runs(id, tail_id, run_index, status, steps)"
		      " VALUES(1, 1, 0, 'finished', 7);"
		      "INSERT INTO samples(run_id, metric, line, seq, value)"
		      " VALUES(1, 'train_loss', 3, 0, 2.5);");
	store = open_store(path, false);
	log = store_logs(store, &(size_t){ 0 })[0];
	ok(!log->is_over && !log->is_whole, "logs stored by an older version are read again");
	is_int((long long)log->offset, 50, "the offset of such a log is kept");
	(void)store_close(store, NULL);
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"), 1,
	       "the samples of such a log are kept");
	is_int(count_rows(path, "SELECT rev FROM runs"), 0,
	       "rows of an older schema have no revision");
}

/* Runs stored without tracks and validations are read again; damaged validations are ignored. */
static void test_from_schema_11(void)
{
	const char *path = file_in_dir("eleven.db");
	struct err err = { ERR_NONE, "" };
	sqlite3 *db = NULL;
	struct seen seen;

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 11, &err), 0, "a database of schema 11");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO tails(id, pod, name, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', '/x', 0, 50, 5);"
		      "INSERT INTO runs(id, tail_id, run_index, status, rev)"
		      " VALUES(1, 1, 0, 'finished', 9);"
		      "INSERT INTO series(run_id, idx, name, points)"
		      " VALUES(1, 0, 'val_loss', 2), (1, 1, 'val_bpb', 2);");
	struct store *store = open_store(path, false);
	ok(!store_logs(store, &(size_t){ 0 })[0]->is_over,
	   "the log of a run without validations is read again");
	(void)store_close(store, NULL);
	run_sql(path, "UPDATE series SET validations = zeroblob(16 * (1 + idx))");
	see_all(path, &seen);
	is_int((long long)seen.run.n_series, 2, "two series");
	is_int((long long)seen.run.series[0].validations.n, 1, "a validation at step 0");
	is_int((long long)seen.run.series[1].validations.n, 0,
	       "validations with two values at one step are damaged");
	run_release(&seen.run);
}

static int see_live(void *user, const struct stored_run *row)
{
	*(struct stored_run *)user = *row;
	run_init(&((struct stored_run *)user)->run);
	run_copy(&((struct stored_run *)user)->run, &row->run);
	return 0;
}

/* Return the progress of runs, and the rows that changed since a revision. */
static void test_live_rows(void)
{
	const char *path = file_in_dir("live-rows.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct store *reader;
	struct stored_run seen = { 0 };
	int64_t version, rev;
	struct run run;

	fill_run(&run, 9);
	run.status = RUN_FINISHED;
	run.cap_s = 600;
	run.eval_done = 12;
	run.last_step = 11;
	store_run_put(store, log, &run, &put);
	store_log_advance(store, log, 10, 1);
	(void)store_flush(store, NULL);
	reader = open_store(path, true);
	version = store_data_version(reader);
	(void)store_each_run(reader, 0, see_live, &seen, NULL);
	is_near(seen.run.cap_s, 600, 0, "the run's own cap");
	is_near(seen.run.eval_done, 12, 0, "progress of its evaluation");
	ok(!run_has(seen.run.eval_total), "absent stays absent");
	is_near(seen.run.last_step, 11, 0, "the run has the step of its last row");
	is_str(run_status_names[seen.run.status], "finished", "the run has its status");
	rev = seen.rev;
	ok(rev > 0, "the row has a revision");
	run_release(&seen.run);
	is_int(store_data_version(reader), version, "nothing was written");
	run.steps = 10;
	store_run_put(store, log, &run, &put);
	(void)store_flush(store, NULL);
	ok(store_data_version(reader) != version, "a write is detected");
	seen.run_id = 0;
	(void)store_each_changed_run(reader, rev, see_live, &seen, NULL);
	ok(seen.run_id == 1 && seen.rev > rev, "the changed row is returned");
	run_release(&seen.run);
	rev = seen.rev;
	seen.run_id = 0;
	(void)store_each_changed_run(reader, rev, see_live, &seen, NULL);
	is_int((long long)seen.run_id, 0, "no row has changed since");
	(void)store_close(reader, NULL);
	(void)store_close(store, NULL);
	store = open_store(path, false);
	log = store_log_get(store, "p", "/x", 0);
	ok(!log->is_whole, "a run that was in progress when its writer ended is read again");
	store_run_put(store, log, &run, &(struct store_run_put){ put.wall_ms, false });
	(void)store_close(store, NULL);
	store = open_store(path, false);
	ok(store_logs(store, &(size_t){ 0 })[0]->is_over, "a finished log has ended");
	store_log_advance(store, store_log_get(store, "p", "/x", 0), 20, 2);
	ok(!store_logs(store, &(size_t){ 0 })[0]->is_over,
	   "new bytes make a finished log active again");
	(void)store_close(store, NULL);
	run_release(&run);
}

static void overwrite_page(const char *path, int page)
{
	char rubbish[4096];
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	memset(rubbish, 0xff, sizeof(rubbish));
	if (pwrite(fd, rubbish, sizeof(rubbish), (off_t)(page - 1) * 4096) != 4096)
		exit(1);
	(void)close(fd);
}

/* A large database is not read completely, but damage in the pages that are read is found. */
static void test_large(void)
{
	const char *path = file_in_dir("large.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	bool is_partial = false;

	(void)store_close(store, NULL);
	run_sql(path,
		"INSERT INTO meta VALUES('large', zeroblob(101000000));"
		"INSERT INTO sample_rows(run_id, line, seq, m0, v0) VALUES(1, 1, 0, 1, 1.5);");
	store = open_store(path, true);
	is_int(store_check(store, &is_partial, &err), 0, "a large database is intact");
	ok(is_partial, "a large database is read only partially");
	(void)store_close(store, NULL);
	overwrite_page(path, count_rows(path, "SELECT rootpage FROM sqlite_schema"
					      " WHERE name = 'sample_rows'"));
	store = open_store(path, true);
	is_int(store_check(store, &is_partial, &err), -1, "a damaged page of samples is found");
	ok(strstr(err.text, "is damaged: ") != NULL, "the damage is reported: %s", err.text);
	(void)store_close(store, NULL);
	(void)unlink(path);
}

/* A log of one line, read twice in one session. */
static void test_read_again(void)
{
	const char *path = file_in_dir("again.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct run run;

	fill_run(&run, 1);
	for (int i = 0; i < 2; i++) {
		store_log_restart(log);
		add_sample(store, log, &run, 1);
		add_sample(store, log, &run, 1);
		(void)store_flush(store, NULL);
	}
	(void)store_close(store, NULL);
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"), 2,
	       "a line read again is not stored again");
	run_release(&run);
}

int main(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/t-store.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_round_trip();
	test_views();
	test_migrations();
	test_from_schema_4();
	test_from_schema_11();
	test_live_rows();
	test_not_a_database();
	test_find();
	test_large();
	test_read_again();
	remove_dir();
	return tap_done();
}
