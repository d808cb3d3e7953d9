/* SPDX-License-Identifier: MIT */
/* Tables and views, and the migrations from earlier schemas; used when a database is opened. */
#include "store/schema.h"

#include "base/embed.h"
#include "base/xalloc.h"
#include "parsers/run.h"
#include "store/db.h"

/* The steps of src/store/schema, in order: step N makes schema N. Never change a released step; add
 * another one. Times are milliseconds since 1970 UTC; numbers that a log lacks are NULL. */
extern const struct embed_file schema_steps[];

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
		    " t.path AS file, t.gen AS gen, r.run_index, CASE WHEN r.live > 0 THEN"
		    " 'running' ELSE r.status END AS status, r.status_reason"
#define X(member, decimals) ", r." #member
	  RUN_NUMBER_LIST(X)
#undef X
		  ", r.final_stage, r.final_class, r.source_sha256,"
		  " r.source_lines, r.first_line, r.lines, r.bytes, r.matched,"
		  " r.formats, r.tracks, r.events_dropped,"
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
		rc = db_exec(db, WHAT, err, "%s;PRAGMA user_version = %d", schema_steps[have].text,
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
