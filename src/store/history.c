/* SPDX-License-Identifier: MIT */
/* Series of runs out of the database, in jobs; for the dashboard. */
#include "config.h"

#include "store/history.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "parsers/run.h"
#include "store/schema.h"
#include "store/stmt.h"
#include "store/store_priv.h"

struct history {
	struct loop *loop;
	char *path;
	history_fn fn;
	void *user;
	sqlite3 *db; /* of the job that runs */
	sqlite3_stmt *stmt;
	size_t waiting;
	bool is_closed; /* the last answer frees it */
};

struct request {
	struct history *history;
	char *mirror, *pod;
	int64_t after_ms;
	struct history_answer answer;
};

static const char select_metric[] =
	"SELECT line, step, value, train_ms, wall_ms FROM samples"
	" WHERE run_id = ?1 AND metric = ?2 AND line > ?3 ORDER BY line, seq";

static void
free_now(struct history *h)
{
	(void)sqlite3_finalize(h->stmt);
	(void)sqlite3_close(h->db);
	free(h->path);
	free(h);
}

static int
open_once(struct history *h, struct err *err)
{
	if (h->db == NULL && store_open_db(h->path, false, &h->db, err) != 0)
		return -1;
	if (h->stmt != NULL || sqlite3_prepare_v3(h->db, select_metric, -1,
						  SQLITE_PREPARE_PERSISTENT,
						  &h->stmt, NULL) == SQLITE_OK)
		return 0;
	return schema_fail(h->db, h->path, err);
}

/* All points of one metric; an infinite one is no point of a chart. */
static int
read_metric(struct history *h, enum metric metric,
	    struct history_answer *answer)
{
	struct series **series = &answer->series[metric];
	sqlite3_stmt *stmt = h->stmt;
	int rc;

	(void)sqlite3_bind_int64(stmt, 1, answer->run_id);
	stmt_bind_text(stmt, 2, metric_info(metric)->name);
	(void)sqlite3_bind_int64(stmt, 3, (int64_t)answer->after_line);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t line = stmt_u64(stmt, 0);
		const struct series_point point = {
			.step = stmt_number(stmt, 1),
			.value = stmt_number(stmt, 2),
			.train_ms = stmt_number(stmt, 3),
			.wall_ms = sqlite3_column_int64(stmt, 4),
		};

		if (line > answer->last_line)
			answer->last_line = line;
		if (!isfinite(point.value))
			continue;
		if (*series == NULL)
			*series = series_new(SERIES_CAP_POINTS);
		series_push(*series, &point);
	}
	(void)sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0
				 : schema_fail(h->db, h->path, &answer->err);
}

/* All metrics as they were at one moment. */
static void
read_series(struct history *h, struct history_answer *answer)
{
	int rc = 0;

	if (open_once(h, &answer->err) != 0)
		return;
	(void)sqlite3_exec(h->db, "BEGIN", NULL, NULL, NULL);
	for (int i = 0; rc == 0 && i < METRIC_COUNT; i++)
		rc = read_metric(h, (enum metric)i, answer);
	(void)sqlite3_exec(h->db, "COMMIT", NULL, NULL, NULL);
}

static int
add_moment(void *user, const struct store_telemetry *row)
{
	struct history_answer *answer = user;

	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++) {
		struct series **series =
			&answer->series[store_telemetry_metrics[i]];

		if (!isfinite(row->values[i]))
			continue;
		if (*series == NULL)
			*series = series_new(SERIES_CAP_POINTS);
		series_push(*series, &(struct series_point){
					     RUN_ABSENT, RUN_ABSENT, row->at_ms,
					     row->values[i] });
	}
	return 0;
}

static void
read_pod(struct history *h, struct request *request)
{
	const struct stored_span span = { request->pod, request->after_ms,
					  true };

	if (open_once(h, &request->answer.err) == 0)
		(void)telemetry_walk(h->db, &span, add_moment, &request->answer,
				     &request->answer.err);
}

/* The last bytes of a mirror; none is no error. */
static void
read_text(const char *path, struct history_answer *answer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	off_t from;
	ssize_t n;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		from = st.st_size > HISTORY_TAIL_BYTES
			       ? st.st_size - HISTORY_TAIL_BYTES
			       : 0;
		answer->text = xmalloc(HISTORY_TAIL_BYTES);
		n = pread(fd, answer->text, HISTORY_TAIL_BYTES, from);
		answer->text_len = n > 0 ? (size_t)n : 0;
		answer->text_is_cut = from > 0;
	}
	(void)close(fd);
}

static void
work(void *user)
{
	struct request *request = user;

	if (request->pod != NULL)
		read_pod(request->history, request);
	else
		read_series(request->history, &request->answer);
	if (request->mirror != NULL)
		read_text(request->mirror, &request->answer);
}

static void
done(void *user)
{
	struct request *request = user;
	struct history *h = request->history;

	h->waiting--;
	if (!h->is_closed)
		h->fn(h->user, &request->answer);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		series_free(request->answer.series[i]);
	free(request->answer.text);
	free(request->mirror);
	free(request->pod);
	free(request);
	if (h->is_closed && h->waiting == 0)
		free_now(h);
}

struct history *
history_new(struct loop *loop, const char *path, history_fn fn, void *user)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->loop = loop;
	h->path = xstrdup(path);
	h->fn = fn;
	h->user = user;
	return h;
}

void
history_free(struct history *h)
{
	if (h == NULL)
		return;
	h->is_closed = true;
	if (h->waiting == 0)
		free_now(h);
}

void
history_read(struct history *h, const struct history_ask *ask)
{
	struct request *request = xcalloc(1, sizeof(*request));

	request->history = h;
	request->mirror = xstrdup_null(ask->mirror);
	request->pod = xstrdup_null(ask->pod);
	request->after_ms = ask->after_ms;
	request->answer.run_id = ask->run_id;
	request->answer.after_line = ask->after_line;
	request->answer.last_line = ask->after_line;
	request->answer.tag = ask->tag;
	h->waiting++;
	loop_job(h->loop, JOB_READ, work, done, request);
}

size_t
history_waiting(const struct history *h)
{
	return h->waiting;
}
