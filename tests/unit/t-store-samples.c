/* SPDX-License-Identifier: MIT */
/* Samples in rows: all values of a line are returned in order, from any schema version. */
#include "store/store.h"

#include "base/buf.h"
#include "parsers/json.h"
#include "parsers/run_series.h"
#include "store/schema.h"
#include "store/store_priv.h"
#include "tests/support/store_test.h"

static int print_sample(void *user, const struct stored_sample *row)
{
	const struct sample *s = &row->sample;
	struct buf *text = user;

	buf_appendf(text, "%llu %s %g=%.17g", (unsigned long long)s->line, row->metric, s->step,
		    s->value);
	if (run_has(s->train_ms))
		buf_appendf(text, " t%g", s->train_ms);
	if (s->wall_ms != 0)
		buf_appendf(text, " w%lld", (long long)s->wall_ms);
	buf_append_str(text, s->metric == METRIC_COUNT ? "?; " : "; ");
	return 0;
}

/* Print the samples of that run, in the order in which they are returned. */
static char *samples_of(const char *path, int64_t run_id, const char *metric)
{
	struct store *store = open_store(path, true);
	struct err err = { ERR_NONE, "" };
	struct buf text;

	buf_init(&text, 65536);
	if (store_each_sample(store, run_id, metric, print_sample, &text, &err) != 0)
		printf("# %s\n", err.text);
	(void)store_close(store, NULL);
	return buf_detach(&text);
}

static void is_samples(const char *path, int64_t run_id, const char *metric, const char *want,
		       const char *what)
{
	char *got = samples_of(path, run_id, metric);

	is_str(got, want, what);
	free(got);
}

/* Compare with the samples in the view, in a complete order. */
static void is_view(const char *path, const char *want, const char *what)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	const char *got = NULL;

	(void)sqlite3_open(path, &db);
	if (sqlite3_prepare_v2(db,
			       "SELECT group_concat(x, '; ') FROM (SELECT"
			       " run_id || ' ' || line || ' ' || metric ||"
			       " ' ' || coalesce(step, '-') || '=' || value ||"
			       " ' ' || coalesce(train_ms, '-') || ' ' ||"
			       " coalesce(wall_s, '-') AS x FROM v_samples"
			       " ORDER BY run_id, line, metric)",
			       -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		got = (const char *)sqlite3_column_text(stmt, 0);
	is_str(got != NULL ? got : "none", want, what);
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
}

struct given {
	unsigned int line;
	enum metric metric;
	double step, value, train_ms;
	int64_t wall_ms;
};

static void add_all(struct store *store, struct store_log *log, const struct run *run,
		    const struct given *given, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sample sample = {
			.step = given[i].step,
			.metric = given[i].metric,
			.value = given[i].value,
			.train_ms = given[i].train_ms,
			.wall_ms = given[i].wall_ms,
			.line = given[i].line,
		};

		store_sample_add(store, log, run->run_index, &sample);
	}
}

#define ADD(store, log, run, given) \
	add_all(store, log, run, given, sizeof(given) / sizeof((given)[0]))

/* Rows that are full, that differ, and that arrive in another order. */
static void test_rows(void)
{
	static const struct given all[] = {
		{ 3, METRIC_TRAIN_LOSS, 1, 2.5, 50, 1000 },
		{ 3, METRIC_MS_PER_STEP, 1, 50, 50, 1000 },
		{ 3, METRIC_TOK_S, 1, 1e300, 50, 1000 },
		{ 3, METRIC_STEP_AVG_MS, 1, -0.1, 50, 1000 },
		{ 3, METRIC_VAL_BPB, 1, 1.2, 50, 1000 },
		{ 3, METRIC_TRAIN_LOSS, 1, 2.25, 50, 1000 },
		{ 4, METRIC_VAL_BPB, 2, 1, RUN_ABSENT, 0 },
		{ 4, METRIC_VAL_LOSS, 3, 2, RUN_ABSENT, 0 },
		{ 4, METRIC_TRAIN_LOSS, 3, 3, 7, 0 },
		{ 4, METRIC_TOK_S, 3, 4, 7, 9 },
		{ 4, METRIC_EVAL_MS, RUN_ABSENT, 5, 7, 9 },
		{ 900000000, METRIC_TRAIN_LOSS, 9007199254740991, INFINITY, 0, 1 },
	};
	const char *path = file_in_dir("rows.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct run run;

	fill_run(&run, 1);
	ADD(store, log, &run, all);
	store_run_put(store, log, &run, &put);
	is_int(store_close(store, NULL), 0, "samples of three lines are written");
	is_samples(path, 1, NULL,
		   "3 train_loss 1=2.5 t50 w1000; "
		   "3 ms_per_step 1=50 t50 w1000; "
		   "3 tok_s 1=1.0000000000000001e+300 t50 w1000; "
		   "3 step_avg_ms 1=-0.10000000000000001 t50 w1000; "
		   "3 val_bpb 1=1.2 t50 w1000; "
		   "3 train_loss 1=2.25 t50 w1000; "
		   "4 val_bpb 2=1; 4 val_loss 3=2; 4 train_loss 3=3 t7; "
		   "4 tok_s 3=4 t7 w9; 4 eval_ms nan=5 t7 w9; "
		   "900000000 train_loss 9.0072e+15=inf t0 w1; ",
		   "each with its own numbers, in the order of the log");
	is_samples(path, 1, "train_loss",
		   "3 train_loss 1=2.5 t50 w1000; "
		   "3 train_loss 1=2.25 t50 w1000; 4 train_loss 3=3 t7; "
		   "900000000 train_loss 9.0072e+15=inf t0 w1; ",
		   "one metric");
	is_samples(path, 1, "seed", "", "a missing metric");
	is_int(count_rows(path, "SELECT count(*) FROM sample_rows"), 8,
	       "equal metrics share a row");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"), 12, "the view has each sample");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples WHERE run_id"
				" = 1 AND metric = 'train_loss'"),
	       4, "the view finds the samples of a metric");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples WHERE"
				" typeof(step) = 'integer' AND line = 3 AND"
				" wall_s = 1.0 AND train_ms = 50"),
	       6, "numbers are unchanged");
	run_release(&run);
}

/* The last line of a log was stored before it was complete. */
static void test_line_again(void)
{
	static const struct given half[] = {
		{ 1, METRIC_TRAIN_LOSS, 1, 5, 10, 0 },
		{ 2, METRIC_TRAIN_LOSS, 2, 3, RUN_ABSENT, 0 },
		{ 2, METRIC_TOK_S, 2, 7, RUN_ABSENT, 0 },
		{ 2, METRIC_VAL_BPB, 3, 7, RUN_ABSENT, 0 },
	};
	static const struct given whole[] = {
		{ 1, METRIC_TRAIN_LOSS, 1, 5, 10, 0 },
		{ 2, METRIC_TRAIN_LOSS, 2, 3.5, 20, 0 },
		{ 2, METRIC_STEP_AVG_MS, 2, 10, 20, 0 },
		{ 3, METRIC_TRAIN_LOSS, 3, 3, 30, 0 },
	};
	const char *path = file_in_dir("half.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct run run;

	fill_run(&run, 1);
	ADD(store, log, &run, half);
	store_log_advance(store, log, 15, 1);
	store_run_put(store, log, &run, &put);
	(void)store_close(store, NULL);
	for (int i = 0; i < 2; i++) {
		store = open_store(path, false);
		log = store_log_get(store, "p", "/x", 0);
		store_log_restart(log);
		ADD(store, log, &run, whole);
		(void)store_flush(store, NULL);
		store_log_restart(log);
		ADD(store, log, &run, whole);
		(void)store_close(store, NULL);
		is_samples(path, 1, NULL,
			   "1 train_loss 1=5 t10; 2 train_loss 2=3.5 t20; "
			   "2 step_avg_ms 2=10 t20; 3 train_loss 3=3 t30; ",
			   i == 0 ? "a line stored again replaces the old one"
				  : "a line stored a third time replaces the old one");
	}
	run_release(&run);
}

/* Create a database of an older version, with two runs. */
static void make_schema_6(const char *path)
{
	struct err err = { ERR_NONE, "" };
	sqlite3 *db = NULL;

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 6, &err), 0, "a database of schema 6");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO tails(id, pod, name, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', '/x', 0, 50, 5),"
		      " (2, 'p', '/y', '/y', 0, 50, 5);"
		      "INSERT INTO runs(id, tail_id, run_index, status, steps)"
		      " VALUES(1, 1, 0, 'truncated', 7), (2, 2, 0, 'finished', 7);"
		      "INSERT INTO samples(run_id, metric, line, seq, step, value,"
		      " train_ms, wall_ms) VALUES"
		      " (1, 'train_loss', 3, 0, 1, 2.5, 50, NULL),"
		      " (1, 'tok_s', 3, 1, 1, 9e999, 50, NULL),"
		      " (1, 'ms_per_step', 3, 2, 1, 50, 50, NULL),"
		      " (1, 'val_bpb', 5, 0, NULL, 0.1, NULL, 1700000000123),"
		      " (1, 'of_a_plugin', 5, 1, 2, 1, NULL, NULL),"
		      " (1, 'train_loss', 5, 1, 2, 4, NULL, NULL),"
		      " (1, 'val_loss', 6, 0, 2, 4, NULL, NULL),"
		      " (2, 'val_loss', 6, 0, 2, 4, NULL, NULL),"
		      " (2, 'train_loss', 7, 0, 3, 4.5, NULL, NULL);");
}

#define OLD_1 "3 train_loss 1=2.5 t50; 3 tok_s 1=inf t50; 3 ms_per_step 1=50 t50; "
#define OLD_2                                                \
	"5 val_bpb nan=0.10000000000000001 w1700000000123; " \
	"5 of_a_plugin 2=1?; 5 train_loss 2=4; 6 val_loss 2=4; "
#define VIEW_1                                              \
	"1 3 ms_per_step 1=50 50 -; 1 3 tok_s 1=Inf 50 -; " \
	"1 3 train_loss 1=2.5 50 -; "
#define VIEW_2                                              \
	"1 5 of_a_plugin 2=1 - -; 1 5 train_loss 2=4 - -; " \
	"1 5 val_bpb -=0.1 - 1700000000.123; 1 6 val_loss 2=4 - -; "
#define VIEW_Y "2 6 val_loss 2=4 - -; 2 7 train_loss 3=4.5 - -"

/* Samples of the older schema are returned unchanged, and their runs continue. */
static void test_from_schema_6(void)
{
	static const struct given more[] = {
		{ 3, METRIC_TRAIN_LOSS, 1, 2.5, 50, 0 },
		{ 5, METRIC_VAL_BPB, 2, 0.5, RUN_ABSENT, 0 },
		{ 8, METRIC_TRAIN_LOSS, 3, 4, 80, 0 },
		{ 8, METRIC_TOK_S, 3, 5, 80, 0 },
	};
	const char *path = file_in_dir("six.db");
	struct store *store;
	struct store_log *log;
	struct run run;

	make_schema_6(path);
	is_samples(path, 1, NULL, OLD_1 OLD_2, "its content is read");
	is_samples(path, 1, "train_loss", "3 train_loss 1=2.5 t50; 5 train_loss 2=4; ",
		   "one metric of it");
	is_samples(path, 1, "of_a_plugin", "5 of_a_plugin 2=1?; ", "an unknown one");
	is_view(path, VIEW_1 VIEW_2 VIEW_Y, "the view has the content of schema 6");
	fill_run(&run, 1);
	store = open_store(path, false);
	log = store_log_get(store, "p", "/x", 0);
	store_log_restart(log);
	ADD(store, log, &run, more);
	is_int(store_close(store, NULL), 0, "more samples of one run are written");
	is_samples(path, 1, NULL,
		   OLD_1 "5 val_bpb 2=0.5; 6 val_loss 2=4; "
			 "8 train_loss 3=4 t80; 8 tok_s 3=5 t80; ",
		   "is added to the old rows, each line once");
	is_view(path,
		VIEW_1 "1 5 val_bpb 2=0.5 - -; 1 6 val_loss 2=4 - -; "
		       "1 8 tok_s 3=5 80 -; 1 8 train_loss 3=4 80 -; " VIEW_Y,
		"in the view too");
	is_int(count_rows(path, "SELECT count(*) FROM sqlite_master WHERE"
				" name = 'samples'"),
	       0, "the old table is removed");
	is_samples(path, 2, NULL, "6 val_loss 2=4; 7 train_loss 3=4.5; ",
		   "a run that does not continue keeps its samples");
	run_release(&run);
}

/* A database of an older version, with a sample added to its first run. */
static struct store *add_to_old(const char *path)
{
	static const struct given more[] = {
		{ 9, METRIC_TRAIN_LOSS, 3, 4, 80, 0 },
	};
	struct store *store;
	struct run run;

	make_schema_6(path);
	fill_run(&run, 1);
	store = open_store(path, false);
	ADD(store, store_log_get(store, "p", "/x", 0), &run, more);
	run_release(&run);
	return store;
}

/* The older version converted a run only when it continued. */
static void test_from_schema_7(void)
{
	const char *path = file_in_dir("seven.db");
	struct err err = { ERR_NONE, "" };
	sqlite3 *db = NULL;

	make_schema_6(path);
	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 7, &err), 0, "a database of schema 7");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO metrics(id, name) VALUES(5, 'val_loss');"
		      "INSERT INTO sample_rows(run_id, line, seq, step, m0, v0)"
		      " VALUES(2, 6, 0, 2, 5, 4), (2, 7, 0, 3, 5, 4.5);"
		      "DELETE FROM samples WHERE run_id = 2");
	is_samples(path, 1, NULL, OLD_1 OLD_2, "a run that had not continued");
	is_samples(path, 2, NULL, "6 val_loss 2=4; 7 val_loss 3=4.5; ", "a run that had continued");
}

/* A converted run keeps all of its samples. */
static void test_moved(void)
{
	const char *path = file_in_dir("moved.db");
	struct store *store = add_to_old(path);

	is_int(store_close(store, NULL), 0, "one more sample is written");
	is_samples(path, 1, NULL, OLD_1 OLD_2 "9 train_loss 3=4 t80; ",
		   "all are returned in order");
	is_samples(path, 1, "of_a_plugin", "5 of_a_plugin 2=1?; ", "an unknown one");
	is_view(path, VIEW_1 VIEW_2 "1 9 train_loss 3=4 80 -; " VIEW_Y, "the view shows the same");
}

/* Runs that a log no longer has, of either version, are removed with their samples. */
static void test_trim(void)
{
	const char *path = file_in_dir("trim.db");
	struct store *store = add_to_old(path);

	(void)store_flush(store, NULL);
	store_log_trim(store, store_log_get(store, "p", "/x", 0), 0);
	store_log_trim(store, store_log_get(store, "p", "/y", 0), 0);
	is_int(store_close(store, NULL), 0, "logs that lost their runs are written");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"), 0,
	       "runs that were removed have no samples");
}

/* With other rules everything is read again, and no old sample remains. */
static void test_rules(void)
{
	const char *path = file_in_dir("rules.db");
	const struct store_options options = { .path = path, .rules = "new" };
	struct store *store = add_to_old(path);

	(void)store_close(store, NULL);
	store = store_open(&options, NULL);
	ok(store != NULL, "a database is opened with other rules");
	(void)store_close(store, NULL);
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"), 0,
	       "other rules drop the samples of the old ones");
}

/* Samples left without their run after a kill do not belong to the next run. */
static void test_orphans(void)
{
	static const struct given given[] = {
		{ 9, METRIC_TRAIN_LOSS, 3, 4, 80, 0 },
	};
	const char *path = file_in_dir("orphans.db");
	struct store *store;
	struct run run;

	make_schema_6(path);
	run_sql(path, "INSERT INTO samples(run_id, metric, line, seq, value)"
		      " VALUES(5, 'of_nobody_before', 1, 0, 1)");
	store = open_store(path, false);
	(void)store_close(store, NULL);
	run_sql(path, "INSERT INTO metrics(id, name) VALUES(900, 'of_nobody');"
		      "INSERT INTO sample_rows(run_id, line, seq, m0, v0)"
		      " VALUES(3, 1, 0, 900, 1), (3, 2, 0, 900, 1), (7, 1, 0, 900, 1);");
	fill_run(&run, 2);
	store = open_store(path, false);
	ADD(store, store_log_get(store, "p", "/new", 0), &run, given);
	store_run_put(store, store_log_get(store, "p", "/new", 0), &run,
		      &(struct store_run_put){ 0, false });
	is_int(store_close(store, NULL), 0, "a run after a kill is written");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples"
				" WHERE metric LIKE 'of_nobody%'"),
	       0, "orphaned samples are removed");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples s"
				" JOIN runs r ON r.id = s.run_id"
				" JOIN tails t ON t.id = r.tail_id"
				" WHERE t.name = '/new'"),
	       1, "the new run has its own samples");
	is_samples(path, 1, NULL, OLD_1 OLD_2, "the old ones are there");
	run_release(&run);
}

/* Add samples with printed names next to those of metrics; one line per call. */
static void add_names(struct store *store, const struct run *run, unsigned int line,
		      char names[][SERIES_NAME_BYTES], size_t n)
{
	struct store_log *log = store_log_get(store, "p", "/x", 0);

	for (size_t i = 0; i < n; i++) {
		struct sample sample = { .step = line,
					 .metric = METRIC_COUNT,
					 .value = (double)i,
					 .train_ms = RUN_ABSENT,
					 .line = line };

		sample.name = names[i];
		store_sample_add(store, log, run->run_index, &sample);
	}
}

static void give_series(struct run *run, const char *name, enum metric metric)
{
	struct run_series *series = run_series_get(run, str_from(name), STR_LIT("nats"), metric);

	run_series_add(series, 4.5, 1);
	run_series_add(series, 4.25, 2);
	series->scale = 1000;
}

static int see_series(void *user, const struct stored_run *row)
{
	const struct run_series *last = run_series_find(&row->run, "lm loss");
	cJSON *series = run_series_to_json(&row->run);

	is_near(run_series_last(last, "train_loss"), 4250, 0, "a value in the metric's unit");

	json_print(user, series);
	buf_appendf(user, " %s %llu", run_status_names[row->run.status],
		    (unsigned long long)row->run.series_dropped);
	cJSON_Delete(series);
	return 0;
}

/* A database of an older schema, and names like those of metrics. */
static void test_names(void)
{
	static char names[][SERIES_NAME_BYTES] = { "Loss", "loss", "train_loss",
						   "\xc3\xa4; DROP TABLE" };
	const char *path = file_in_dir("names.db");
	struct err err = { ERR_NONE, "" };
	sqlite3 *db = NULL;
	struct store *store;
	struct run run;
	struct buf text;

	(void)sqlite3_open(path, &db);
	is_int(schema_migrate_to(db, 9, &err), 0, "a database of schema 9");
	(void)sqlite3_close(db);
	run_sql(path, "INSERT INTO metrics(id, name) VALUES(1, 'train_loss');"
		      "INSERT INTO tails(id, pod, name, path, gen, offset, lines)"
		      " VALUES(1, 'p', '/x', '/x', 0, 50, 0);"
		      "INSERT INTO runs(id, tail_id, run_index, status)"
		      " VALUES(1, 1, 0, 'truncated');"
		      "INSERT INTO sample_rows(run_id, line, seq, step, m0, v0)"
		      " VALUES(1, 1, 0, 1, 1, 9);");
	fill_run(&run, 2);
	run.status = RUN_KILLED;
	run.series_dropped = 7;
	give_series(&run, "train_loss", METRIC_COUNT);
	give_series(&run, "lm loss", METRIC_TRAIN_LOSS);
	store = open_store(path, false);
	add_names(store, &run, 2, names, 4);
	store_run_put(store, store_log_get(store, "p", "/x", 0), &run, &put);
	is_int(store_close(store, NULL), 0, "samples with printed names are written");
	is_samples(path, 1, NULL,
		   "1 train_loss 1=9; 2 Loss 2=0?; 2 loss 2=1?; "
		   "2 train_loss (printed) 2=2?; "
		   "2 \xc3\xa4; DROP TABLE 2=3?; ",
		   "each is separate");
	is_samples(path, 1, "train_loss", "1 train_loss 1=9; ",
		   "a printed name is not mistaken for the metric");
	is_samples(path, 1, "train_loss (printed)", "2 train_loss (printed) 2=2?; ",
		   "a printed name has its own label");
	is_samples(path, 1, "loss", "2 loss 2=1?; ", "case matters");
	is_int(count_rows(path, "SELECT count(*) FROM v_samples WHERE metric"
				" IN ('train_loss', 'train_loss (printed)')"),
	       2, "the view distinguishes printed names from metrics");
	is_int(count_rows(path, "SELECT metrics_dropped FROM v_runs"), 7,
	       "dropped values are reported");
	store = open_store(path, true);
	buf_init(&text, 65536);
	(void)store_each_run(store, 1, see_series, &text, &err);
	is_str(text.data,
	       "[{\"name\":\"train_loss\",\"unit\":\"nats\",\"metric\":null,"
	       "\"points\":2,\"first\":4.5,\"last\":4.25,\"min\":4.25,"
	       "\"max\":4.5,\"min_step\":2},"
	       "{\"name\":\"lm loss\",\"unit\":\"nats\","
	       "\"metric\":\"train_loss\",\"points\":2,\"first\":4.5,"
	       "\"last\":4.25,\"min\":4.25,\"max\":4.5,\"min_step\":2}]"
	       " killed 7",
	       "the run's series are returned, and its status");
	(void)store_close(store, NULL);
	buf_release(&text);
	run_release(&run);
}

/* Hostile logs: more names than the database accepts. */
static void test_many_names(void)
{
	static char names[STORE_MAX_NAMES + 1000][SERIES_NAME_BYTES];
	const size_t n = sizeof(names) / sizeof(names[0]);
	const char *path = file_in_dir("many.db");
	struct store *store = open_store(path, false);
	struct run run;

	fill_run(&run, 1);
	for (size_t i = 0; i < n; i++)
		(void)snprintf(names[i], sizeof(names[i]), "name %zu", i);
	store_run_put(store, store_log_get(store, "p", "/x", 0), &run, &put);
	add_names(store, &run, 1, names, n);
	is_int(store_close(store, NULL), 0, "samples with too many names are written");
	is_int(count_rows(path, "SELECT count(*) FROM metrics"), STORE_MAX_NAMES,
	       "not all names are accepted");
	store = open_store(path, false);
	add_names(store, &run, 2, names + n - 2, 2);
	add_names(store, &run, 3, names, 2);
	is_int(store_close(store, NULL), 0, "samples of known names are still stored");
	is_samples(path, 1, "name 1", "1 name 1 1=1?; 3 name 1 3=1?; ",
		   "samples of known names are returned");
	run_release(&run);
}

/* An invalid metric number is an error, not ignored. */
static void test_damaged(void)
{
	const char *path = file_in_dir("damaged.db");
	struct err err = { ERR_NONE, "" };
	struct store *store = open_store(path, false);
	struct buf text;

	(void)store_close(store, NULL);
	run_sql(path, "INSERT INTO sample_rows(run_id, line, seq, m0, v0)"
		      " VALUES(1, 1, 0, 999, 1)");
	store = open_store(path, true);
	buf_init(&text, 65536);
	is_int(store_each_sample(store, 1, NULL, print_sample, &text, &err), -1,
	       "reading a sample without a metric fails");
	is_int(err.code, ERR_DB, "a sample without a metric is an error of the database");
	(void)store_close(store, NULL);
	buf_release(&text);
}

int main(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/t-store-samples.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_rows();
	test_line_again();
	test_from_schema_6();
	test_from_schema_7();
	test_moved();
	test_trim();
	test_rules();
	test_orphans();
	test_names();
	test_many_names();
	test_damaged();
	remove_dir();
	return tap_done();
}
