/* SPDX-License-Identifier: MIT */
/* The noise register in the database; what it means is in bench/noise.h. */
#include "config.h"

#include "store/noise.h"

#include "store/store_priv.h"

#define WHAT "the noise register"

#define NOISE(member) COLUMN(struct stored_noise, member)
#define NOISE_CLASS   COLUMN_AS("class", struct stored_noise, class_name)

static const struct column noise_columns[] = {
	NOISE(bench_id), NOISE(pod),	 NOISE(gpus),	NOISE(gpu),
	NOISE(gpu_id),	 NOISE(driver),	 NOISE(image),	NOISE_CLASS,
	NOISE(what),	 NOISE(metric),	 NOISE(n_runs), NOISE(n_blocks),
	NOISE(mean),	 NOISE(sd),	 NOISE(df),	NOISE(sd_block),
	NOISE(drift),	 NOISE(drift_p), NOISE(span_s), NOISE(run_s),
	NOISE(when_ms),
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
