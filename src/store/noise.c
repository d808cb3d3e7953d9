/* SPDX-License-Identifier: MIT */
/* The noise register in the database; what it means is in bench/noise.h. */
#include "config.h"

#include "store/noise.h"

#include "store/store_priv.h"

#define WHAT "the noise register"

static const struct column noise_columns[] = {
	COLUMN(struct stored_noise, bench_id),
	COLUMN(struct stored_noise, pod),
	COLUMN(struct stored_noise, gpus),
	COLUMN(struct stored_noise, gpu),
	COLUMN(struct stored_noise, gpu_id),
	COLUMN(struct stored_noise, driver),
	COLUMN(struct stored_noise, image),
	COLUMN_AS("class", struct stored_noise, class_name),
	COLUMN(struct stored_noise, what),
	COLUMN(struct stored_noise, metric),
	COLUMN(struct stored_noise, n_runs),
	COLUMN(struct stored_noise, n_blocks),
	COLUMN(struct stored_noise, mean),
	COLUMN(struct stored_noise, sd),
	COLUMN(struct stored_noise, df),
	COLUMN(struct stored_noise, sd_block),
	COLUMN(struct stored_noise, drift),
	COLUMN(struct stored_noise, drift_p),
	COLUMN(struct stored_noise, span_s),
	COLUMN(struct stored_noise, run_s),
	COLUMN(struct stored_noise, when_ms),
};
static const struct table noise_table = TABLE("noise", noise_columns, 0);

int
store_put_noise(const char *db_path, const char *bench_id,
		const struct stored_noise *rows, size_t n, struct err *err)
{
	sqlite3 *db = store_begin_once(db_path, WHAT, err);
	int rc = db == NULL ? -1
			    : db_exec(db, WHAT, err,
				      "DELETE FROM noise WHERE bench_id = %Q",
				      bench_id);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = table_put(db, WHAT, &noise_table, &rows[i], err);
	return store_end_once(db, WHAT, rc, err);
}

int
store_each_noise(struct store *store,
		 int (*fn)(void *user, const struct stored_noise *row),
		 void *user, struct err *err)
{
	struct stored_noise row;
	sqlite3_stmt *stmt;
	int rc = 0;

	if (table_select(store->reader, WHAT, &noise_table,
			 "ORDER BY when_ms, bench_id, pod", &stmt, err) != 0)
		return -1;
	while (rc == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		row_read(stmt, 0, &noise_table, &row);
		rc = fn(user, &row);
	}
	return stmt_end_walk(store->reader, WHAT, stmt, rc, err);
}
