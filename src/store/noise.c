/* SPDX-License-Identifier: MIT */
/* The noise register in the database; what it means is in bench/noise.h. */
#include "config.h"

#include "store/noise.h"

#include "store/stmt.h"
#include "store/store_priv.h"

/* Columns in the order of the statements below. */
#define TEXT_COLUMNS                                                           \
	"bench_id, pod, gpus, gpu, gpu_id, driver, image, class, what, metric"
#define NUMBER_COLUMNS                                                         \
	"n_runs, n_blocks, mean, sd, df, sd_block, drift, drift_p, span_s,"    \
	" run_s"

#define WHAT	  "the noise register"
#define N_TEXTS	  10
#define N_NUMBERS 10

static int
put_row(sqlite3 *db, const struct stored_noise *row, struct err *err)
{
	const char *const texts[N_TEXTS] = {
		row->bench_id, row->pod,    row->gpus,	row->gpu,
		row->gpu_id,   row->driver, row->image, row->class_name,
		row->what,     row->metric,
	};
	const double numbers[N_NUMBERS] = {
		row->n_runs, row->n_blocks, row->mean,	row->sd,
		row->df,     row->sd_block, row->drift, row->drift_p,
		row->span_s, row->run_s,
	};
	sqlite3_stmt *stmt;

	if (stmt_prepare(
		    db, WHAT,
		    "INSERT OR REPLACE INTO noise(" TEXT_COLUMNS
		    ", " NUMBER_COLUMNS ", when_ms) VALUES(?1, ?2, ?3, ?4,"
		    " ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
		    " ?17, ?18, ?19, ?20, ?21)",
		    &stmt, err) != 0)
		return -1;
	for (int i = 0; i < N_TEXTS; i++)
		stmt_bind_text(stmt, i + 1, texts[i]);
	for (int i = 0; i < N_NUMBERS; i++)
		stmt_bind_number(stmt, N_TEXTS + i + 1, numbers[i]);
	(void)sqlite3_bind_int64(stmt, N_TEXTS + N_NUMBERS + 1, row->when_ms);
	return stmt_run(db, WHAT, stmt, err);
}

/* What is known of one bench. */
struct register_part {
	const char *bench_id;
	const struct stored_noise *rows;
	size_t n;
};

static int
put_all(sqlite3 *db, const void *user, struct err *err)
{
	const struct register_part *part = user;
	sqlite3_stmt *stmt;
	int rc = stmt_prepare(db, WHAT, "DELETE FROM noise WHERE bench_id = ?1",
			      &stmt, err);

	if (rc != 0)
		return -1;
	stmt_bind_text(stmt, 1, part->bench_id);
	rc = stmt_run(db, WHAT, stmt, err);
	for (size_t i = 0; rc == 0 && i < part->n; i++)
		rc = put_row(db, &part->rows[i], err);
	return rc;
}

int
store_put_noise(const char *db_path, const char *bench_id,
		const struct stored_noise *rows, size_t n, struct err *err)
{
	const struct register_part part = { bench_id, rows, n };

	return store_write_once(db_path, WHAT, put_all, &part, err);
}

static struct stored_noise
read_row(sqlite3_stmt *stmt)
{
	return (struct stored_noise){
		.bench_id = stmt_text(stmt, 0),
		.pod = stmt_text(stmt, 1),
		.gpus = stmt_text(stmt, 2),
		.gpu = stmt_text(stmt, 3),
		.gpu_id = stmt_text(stmt, 4),
		.driver = stmt_text(stmt, 5),
		.image = stmt_text(stmt, 6),
		.class_name = stmt_text(stmt, 7),
		.what = stmt_text(stmt, 8),
		.metric = stmt_text(stmt, 9),
		.n_runs = stmt_number(stmt, 10),
		.n_blocks = stmt_number(stmt, 11),
		.mean = stmt_number(stmt, 12),
		.sd = stmt_number(stmt, 13),
		.df = stmt_number(stmt, 14),
		.sd_block = stmt_number(stmt, 15),
		.drift = stmt_number(stmt, 16),
		.drift_p = stmt_number(stmt, 17),
		.span_s = stmt_number(stmt, 18),
		.run_s = stmt_number(stmt, 19),
		.when_ms = sqlite3_column_int64(stmt, 20),
	};
}

int
store_each_noise(struct store *store,
		 int (*fn)(void *user, const struct stored_noise *row),
		 void *user, struct err *err)
{
	sqlite3_stmt *stmt;
	int rc = 0;

	if (stmt_prepare(store->reader, WHAT,
			 "SELECT " TEXT_COLUMNS ", " NUMBER_COLUMNS
			 ", when_ms FROM noise ORDER BY when_ms, bench_id, pod",
			 &stmt, err) != 0)
		return -1;
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		const struct stored_noise row = read_row(stmt);

		rc = fn(user, &row);
	}
	return stmt_end_walk(store->reader, WHAT, stmt, rc, err);
}
