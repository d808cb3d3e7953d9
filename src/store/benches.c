/* SPDX-License-Identifier: MIT */
/* Copies of benches in the database (results folders are authoritative), and the noise register. */
#include "store/benches.h"

#include "store/store_priv.h"

#define WHAT "cannot write the bench"

#define BENCH(member)	   COLUMN(struct stored_bench, member)
#define BENCH_TIME(member) COLUMN_OPT(struct stored_bench, member, 0)

static const struct column bench_columns[] = {
	BENCH(id),
	BENCH(name),
	BENCH(file),
	BENCH(dir),
	BENCH(state),
	BENCH(sha256),
	BENCH_TIME(started_ms),
	BENCH_TIME(ended_ms),
	BENCH(definition),
	BENCH(verdict),
};
static const struct table bench_table = TABLE("benches", bench_columns, 0);

struct bench_run_row {
	const char *bench_id;
	struct stored_bench_run run;
};

#define RUN(member)	 COLUMN_AS(#member, struct bench_run_row, run.member)
#define RUN_TIME(member) COLUMN_OPT_AS(#member, struct bench_run_row, run.member, 0)
#define RUN_BENCH	 COLUMN(struct bench_run_row, bench_id)

static const struct column run_columns[] = {
	RUN_BENCH,	    RUN(run),	 RUN(block), RUN(pos),	RUN(pod),
	RUN(tag),	    RUN(state),	 RUN(rc),    RUN(y_ms), RUN_TIME(started_ms),
	RUN_TIME(ended_ms), RUN(detail),
};
static const struct table bench_run_table = TABLE("bench_runs", run_columns, 0);

int store_put_bench(const char *db_path, const struct stored_bench *bench,
		    const struct stored_bench_run *runs, size_t n_runs, struct err *err)
{
	sqlite3 *db = store_begin_once(db_path, WHAT, err);
	int rc = db == NULL ? -1 : table_put(db, WHAT, &bench_table, bench, err);

	for (size_t i = 0; rc == 0 && i < n_runs; i++) {
		struct bench_run_row row = { bench->id, runs[i] };

		if (row.run.state == NULL)
			row.run.state = "unknown";
		rc = table_put(db, WHAT, &bench_run_table, &row, err);
	}
	return store_end_once(db, WHAT, rc, err);
}

int store_each_bench(struct store *store, const char *state,
		     int (*fn)(void *user, const struct stored_bench *bench), void *user,
		     struct err *err)
{
	return table_walk(store->reader, "the database", &bench_table, struct stored_bench, fn,
			  user, err,
			  "WHERE %Q IS NULL OR state = %Q"
			  " ORDER BY started_ms, id",
			  state, state);
}

#define NOISE_WHAT "the noise register"

#define NOISE(member)  COLUMN(struct stored_noise, member)
#define NOISE_CLASS    COLUMN_AS("class", struct stored_noise, class_name)
#define NUMBER(member) COLUMN_AS(#member, struct stored_noise, noise.member)

static const struct column noise_columns[] = {
	NOISE(bench_id),  NOISE(pod),	    NOISE(gpus),     NOISE(gpu),     NOISE(gpu_id),
	NOISE(driver),	  NOISE(image),	    NOISE_CLASS,     NOISE(what),    NOISE(metric),
	NUMBER(n_runs),	  NUMBER(n_blocks), NUMBER(mean),    NUMBER(sd),     NUMBER(df),
	NUMBER(sd_block), NUMBER(drift),    NUMBER(drift_p), NUMBER(span_s), NUMBER(run_s),
	NOISE(when_ms),
};
static const struct table noise_table = TABLE("noise", noise_columns, 0);

int store_put_noise(const char *db_path, const char *bench_id, const struct stored_noise *rows,
		    size_t n, struct err *err)
{
	sqlite3 *db = store_begin_once(db_path, NOISE_WHAT, err);
	int rc = db == NULL ? -1
			    : db_exec(db, NOISE_WHAT, err, "DELETE FROM noise WHERE bench_id = %Q",
				      bench_id);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = table_put(db, NOISE_WHAT, &noise_table, &rows[i], err);
	return store_end_once(db, NOISE_WHAT, rc, err);
}

int store_each_noise(struct store *store, int (*fn)(void *user, const struct stored_noise *row),
		     void *user, struct err *err)
{
	return table_walk(store->reader, NOISE_WHAT, &noise_table, struct stored_noise, fn, user,
			  err, "ORDER BY when_ms, bench_id, pod");
}
