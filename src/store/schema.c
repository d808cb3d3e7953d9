/* SPDX-License-Identifier: MIT */
/* Tables and views, and the migrations from earlier schemas; used when a database is opened. */
#include "store/schema.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/run.h"
#include "store/db.h"

/*
 * Never change a step that was released; add another one.  Times are milliseconds since 1970 UTC;
 * numbers that a log does not contain are NULL.
 */
static const char *const steps[] = {
	/* 1: logs, runs and their series. */
	"CREATE TABLE tails("
	" id INTEGER PRIMARY KEY, pod TEXT NOT NULL, name TEXT NOT NULL,"
	" gen INTEGER NOT NULL, path TEXT NOT NULL, dev INTEGER, inode INTEGER,"
	" offset INTEGER NOT NULL DEFAULT 0,"
	" lines INTEGER NOT NULL DEFAULT 0, mirror TEXT,"
	" ended INTEGER NOT NULL DEFAULT 0, UNIQUE(pod, name, gen));"
	"CREATE TABLE runs("
	" id INTEGER PRIMARY KEY, tail_id INTEGER NOT NULL REFERENCES tails,"
	" run_index INTEGER NOT NULL, status TEXT NOT NULL,"
	" live INTEGER NOT NULL DEFAULT 0,"
	" final_stage TEXT, final_class TEXT, source_sha256 TEXT,"
	" source_lines INTEGER, first_line INTEGER, lines INTEGER,"
	" bytes INTEGER, matched INTEGER, formats TEXT,"
	" events_dropped INTEGER, first_wall_ms INTEGER,"
	" last_wall_ms INTEGER, UNIQUE(tail_id, run_index));"
	"CREATE TABLE events("
	" run_id INTEGER NOT NULL REFERENCES runs, idx INTEGER NOT NULL,"
	" line INTEGER NOT NULL, kind TEXT NOT NULL, step NUMERIC, text TEXT,"
	" PRIMARY KEY(run_id, idx)) WITHOUT ROWID;"
	"CREATE TABLE samples("
	" run_id INTEGER NOT NULL REFERENCES runs, metric TEXT NOT NULL,"
	" line INTEGER NOT NULL, seq INTEGER NOT NULL, step NUMERIC,"
	" value NUMERIC NOT NULL, train_ms NUMERIC, wall_ms INTEGER,"
	" PRIMARY KEY(run_id, metric, line, seq)) WITHOUT ROWID;",
	/* 2: benches and their runs. */
	"CREATE TABLE benches("
	" id TEXT PRIMARY KEY, name TEXT, file TEXT, dir TEXT,"
	" state TEXT NOT NULL, sha256 TEXT, started_ms INTEGER,"
	" ended_ms INTEGER, definition TEXT, verdict TEXT);"
	"CREATE TABLE bench_runs("
	" bench_id TEXT NOT NULL REFERENCES benches, run TEXT NOT NULL,"
	" block INTEGER, pos INTEGER, pod TEXT, tag TEXT,"
	" state TEXT NOT NULL, rc INTEGER, y_ms NUMERIC,"
	" started_ms INTEGER, ended_ms INTEGER, detail TEXT,"
	" PRIMARY KEY(bench_id, run)) WITHOUT ROWID;",
	/* 3: by which rules the logs were read. */
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;",
	/* 4: the noise register; ln units and seconds. */
	"CREATE TABLE noise("
	" bench_id TEXT NOT NULL, pod TEXT NOT NULL, gpus TEXT, gpu TEXT,"
	" gpu_id TEXT, driver TEXT, image TEXT, class TEXT NOT NULL, what TEXT,"
	" metric TEXT, n_runs INTEGER NOT NULL, n_blocks INTEGER NOT NULL,"
	" mean NUMERIC, sd NUMERIC, df NUMERIC, sd_block NUMERIC,"
	" drift NUMERIC, drift_p NUMERIC, span_s NUMERIC, run_s NUMERIC,"
	" when_ms INTEGER NOT NULL,"
	" PRIMARY KEY(bench_id, pod)) WITHOUT ROWID;",
	/*
	 * 5: what a screen shows of a run without reading its log again.  rev
	 * is the batch that wrote the row last, rising; 0: by a version that
	 * did not write all of these columns.
	 */
	"ALTER TABLE runs ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN eval_done NUMERIC;"
	"ALTER TABLE runs ADD COLUMN eval_total NUMERIC;"
	"ALTER TABLE runs ADD COLUMN running_bpb NUMERIC;"
	"ALTER TABLE runs ADD COLUMN last_step NUMERIC;"
	"ALTER TABLE runs ADD COLUMN cap_s NUMERIC;"
	"CREATE INDEX runs_by_rev ON runs(rev);",
	/*
	 * 6: last state of each pod, and telemetry.  gpu is the index in nvidia-smi, or -1 for the
	 * host and all counted GPUs; rows with keep are kept when the others are deleted.
	 */
	"CREATE TABLE pods("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, target TEXT,"
	" state TEXT NOT NULL, why TEXT, lag_ms INTEGER, gpu TEXT,"
	" disk_free_bytes NUMERIC, seen_ms INTEGER NOT NULL);"
	"CREATE TABLE telemetry("
	" pod_id INTEGER NOT NULL REFERENCES pods, at_ms INTEGER NOT NULL,"
	" gpu INTEGER NOT NULL, keep INTEGER NOT NULL, gpu_util NUMERIC,"
	" gpu_mem_mib NUMERIC, gpu_power_w NUMERIC, gpu_temp_c NUMERIC,"
	" gpu_sm_mhz NUMERIC, gpu_throttle NUMERIC, host_load NUMERIC,"
	" disk_free_bytes NUMERIC,"
	" PRIMARY KEY(pod_id, at_ms, gpu)) WITHOUT ROWID;",
	/* 7: the samples of a line share a row (store_priv.h). */
	"CREATE TABLE metrics(id INTEGER PRIMARY KEY,"
	" name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE sample_rows("
	" run_id INTEGER NOT NULL REFERENCES runs, line INTEGER NOT NULL,"
	" seq INTEGER NOT NULL, step NUMERIC, train_ms NUMERIC,"
	" wall_ms INTEGER, m0 INTEGER NOT NULL, v0 NUMERIC NOT NULL,"
	" m1 INTEGER, v1 NUMERIC, m2 INTEGER, v2 NUMERIC,"
	" m3 INTEGER, v3 NUMERIC,"
	" PRIMARY KEY(run_id, line, seq)) WITHOUT ROWID;",
	/*
	 * 8: all samples are in sample_rows.  Older samples keep their order but are numbered
	 * again, because samples of two metrics could have the same number.
	 */
	"INSERT OR IGNORE INTO metrics(name)"
	" SELECT DISTINCT metric FROM samples;"
	"INSERT INTO sample_rows(run_id, line, seq, step, train_ms, wall_ms,"
	" m0, v0) SELECT s.run_id, s.line, row_number() OVER"
	" (PARTITION BY s.run_id, s.line ORDER BY s.seq, s.metric) - 1, s.step,"
	" s.train_ms, s.wall_ms, m.id, s.value FROM samples s"
	" JOIN metrics m ON m.name = s.metric;"
	"DROP VIEW IF EXISTS v_samples;"
	"DROP TABLE samples;",
	/*
	 * 9: how a log on a pod is recognized (base/log_identity.h): checksum of the fetched bytes,
	 * change time of the file if these were all, and the target of a symlink.
	 */
	"ALTER TABLE tails ADD COLUMN fetched INTEGER;"
	"ALTER TABLE tails ADD COLUMN crc INTEGER;"
	"ALTER TABLE tails ADD COLUMN stamp INTEGER;"
	"ALTER TABLE tails ADD COLUMN real TEXT;",
	/*
	 * 10: series of any name.  own marks a name that a log printed; if a metric has the same
	 * name, the two are different series.
	 */
	"DROP VIEW IF EXISTS v_samples;"
	"CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	" own INTEGER NOT NULL DEFAULT 0, UNIQUE(name, own));"
	"INSERT INTO names(id, name) SELECT id, name FROM metrics;"
	"DROP TABLE metrics;"
	"ALTER TABLE names RENAME TO metrics;"
	"ALTER TABLE runs ADD COLUMN series_dropped INTEGER;"
	"CREATE TABLE series("
	" run_id INTEGER NOT NULL REFERENCES runs, idx INTEGER NOT NULL,"
	" name TEXT NOT NULL, unit TEXT, metric TEXT, points INTEGER NOT NULL,"
	" first NUMERIC, last NUMERIC, min NUMERIC, max NUMERIC,"
	" min_step NUMERIC, scale NUMERIC,"
	" PRIMARY KEY(run_id, idx)) WITHOUT ROWID;",
	/* 11: why a run has its status. */
	"ALTER TABLE runs ADD COLUMN status_reason TEXT;",
};

_Static_assert(LENGTH(steps) == SCHEMA_VERSION, "a version for each step");

#define WHAT "the database"

/* Numbers of a run that have no column in the table. */
static const char missing_column[] = "SELECT value FROM json_each('["
#define X(member, decimals) "\"" #member "\","
	RUN_NUMBER_LIST(X)
#undef X
		"null]') WHERE value NOT IN"
		" (SELECT name FROM pragma_table_info('runs'))";

#define METRIC_ROW(id, name, unit, what)  "INSERT OR IGNORE INTO metrics(name) VALUES('" name "');"
#define METRIC_NAME(id, name, unit, what) "'" name "',"

bool schema_is_current(sqlite3 *db)
{
	static const char count_metrics[] =
		"SELECT count(*) FROM metrics WHERE name IN (" METRIC_LIST(
			METRIC_NAME) "NULL) AND NOT own";
	AUTO_TEXT missing = db_text(db, missing_column, 0);

	return missing == NULL && db_number(db, count_metrics, NULL) == METRIC_COUNT &&
	       db_number(db, "PRAGMA user_version", NULL) == SCHEMA_VERSION;
}

/* A printed name that is also the name of a metric gets a suffix (run_series.h). */
#define LABEL                                                                \
	"CASE WHEN m.own AND EXISTS (SELECT 1 FROM metrics c WHERE c.name =" \
	" m.name AND NOT c.own) THEN m.name || ' (printed)' ELSE m.name END"

#define SLOT_SELECT(i)                                                \
	"SELECT s.run_id, s.step, " LABEL " AS metric, s.v" #i        \
	" AS value, s.wall_ms / 1000.0 AS wall_s, s.train_ms, s.line" \
	" FROM sample_rows s JOIN metrics m ON m.id = s.m" #i

#define UNION_ALL(a, b) a " UNION ALL " b

/* Views for other programs; recreated whenever a database is opened for writing. */
static const struct {
	const char *name, *select;
} views[] = {
	{ "v_runs", "SELECT r.id AS run_id, t.pod AS pod, t.path AS path,"
		    " t.path AS file, t.gen AS gen, r.run_index, CASE WHEN r.live THEN"
		    " 'running' ELSE r.status END AS status, r.status_reason"
#define X(member, decimals) ", r." #member
	  RUN_NUMBER_LIST(X)
#undef X
		  ", r.final_stage, r.final_class, r.source_sha256,"
		  " r.source_lines, r.first_line, r.lines, r.bytes, r.matched,"
		  " r.formats, r.events_dropped,"
		  " r.series_dropped AS metrics_dropped, r.first_wall_ms,"
		  " r.last_wall_ms, (SELECT json_group_array(json_object("
		  "'line', e.line, 'kind', e.kind, 'text', e.text))"
		  " FROM events e WHERE e.run_id = r.id) AS events"
		  " FROM runs r JOIN tails t ON t.id = r.tail_id" },
	{ "v_samples", UNION_ALL(UNION_ALL(SLOT_SELECT(0), SLOT_SELECT(1)),
				 UNION_ALL(SLOT_SELECT(2), SLOT_SELECT(3))) },
	{ "v_series", "SELECT run_id, name, unit, metric, points, first, last,"
		      " min, max, min_step FROM series" },
	{ "v_tails", "SELECT pod, path, inode, offset, gen, dev, lines, mirror,"
		     " name, ended FROM tails" },
	{ "v_pods", "SELECT name AS pod, target, state, why, lag_ms, gpu,"
		    " disk_free_bytes, seen_ms / 1000.0 AS seen_s FROM pods" },
	{ "v_telemetry", "SELECT p.name AS pod, nullif(t.gpu, -1) AS gpu,"
			 " t.at_ms / 1000.0 AS wall_s, t.gpu_util, t.gpu_mem_mib,"
			 " t.gpu_power_w, t.gpu_temp_c, t.gpu_sm_mhz, t.gpu_throttle,"
			 " t.host_load, t.disk_free_bytes FROM telemetry t"
			 " JOIN pods p ON p.id = t.pod_id" },
	{ "v_benches", "SELECT * FROM benches" },
	{ "v_bench_runs", "SELECT * FROM bench_runs" },
	{ "v_noise", "SELECT * FROM noise" },
};

int schema_migrate_to(sqlite3 *db, int version, struct err *err)
{
	int64_t have = db_number(db, "PRAGMA user_version", NULL);
	char *column;
	int rc = 0;

	if (have < 0)
		return db_fail(db, WHAT, err);
	if (db_exec(db, WHAT, err, "BEGIN IMMEDIATE") != 0)
		return -1;
	for (; rc == 0 && have < version; have++)
		rc = db_exec(db, WHAT, err, "%s;PRAGMA user_version = %d", steps[have],
			     (int)have + 1);
	while (rc == 0 && (column = db_text(db, missing_column, 0)) != NULL) {
		rc = db_exec(db, WHAT, err, "ALTER TABLE runs ADD COLUMN %s NUMERIC", column);
		free(column);
	}
	if (version == SCHEMA_VERSION) {
		if (rc == 0)
			rc = db_exec(db, WHAT, err, METRIC_LIST(METRIC_ROW));
		for (size_t i = 0; rc == 0 && i < LENGTH(views); i++)
			rc = db_exec(db, WHAT, err, "DROP VIEW IF EXISTS %s;CREATE VIEW %s AS %s",
				     views[i].name, views[i].name, views[i].select);
	}
	return db_end(db, WHAT, rc, err);
}

int schema_migrate(sqlite3 *db, const char *path, struct err *err)
{
	int64_t have = db_number(db, "PRAGMA user_version", NULL);

	if (have > SCHEMA_VERSION)
		return schema_check(db, path, err);
	if (schema_migrate_to(db, SCHEMA_VERSION, err) != 0)
		return err_prefix(err, "%s", path);
	return 0;
}

int schema_check(sqlite3 *db, const char *path, struct err *err)
{
	int64_t have = db_number(db, "PRAGMA user_version", NULL);

	if (have > SCHEMA_VERSION)
		return err_set(err, ERR_DB,
			       "%s was written by a newer hgym-tui (schema %lld; this version "
			       "supports up to %d)",
			       path, (long long)have, SCHEMA_VERSION);
	if (have < 0)
		return db_fail(db, path, err);
	if (have < SCHEMA_VERSION)
		return err_set(err, ERR_DB,
			       "%s has the older schema %lld and is in use by an older hgym-tui; "
			       "quit that one first",
			       path, (long long)have);
	return 0;
}
