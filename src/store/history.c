/* SPDX-License-Identifier: MIT */
/* Load series from the database in jobs, for the dashboard. */
#include "store/history.h"

#include "store/store_priv.h"

struct history {
	struct loop *loop;
	char *path;
	history_fn fn;
	void *user;
	sqlite3 *db; /* used by jobs only */
	struct sample_reader *reader;
	size_t waiting;
	bool is_closed; /* the last job frees it */
};

struct request {
	struct history *history;
	struct history_ask ask;
	char *pod; /* owned */
	struct history_answer answer;
};

static void history_free_now(struct history *h)
{
	sample_reader_free(h->reader);
	(void)sqlite3_close(h->db);
	free(h->path);
	free(h);
}

void history_answer_add(struct history_answer *answer, const struct sample *s)
{
	const struct series_point point = { s->step, s->train_ms, s->wall_ms, s->value };

	if (s->line > answer->last_line)
		answer->last_line = s->line;
	if (s->metric < METRIC_COUNT)
		series_push_finite(&answer->series[s->metric], &point);
	else if (isfinite(s->value))
		own_series_push(&answer->own, s->name, &point);
}

void history_answer_release(struct history_answer *answer)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		series_free(answer->series[i]);
	own_series_clear(&answer->own);
}

static int add_sample(void *user, const struct stored_sample *row)
{
	history_answer_add(user, &row->sample);
	return 0;
}

static int add_telemetry(void *user, const struct store_telemetry *row)
{
	struct history_answer *answer = user;

	for (enum metric i = TELEMETRY_FIRST; i < METRIC_COUNT; i++)
		series_push_finite(&answer->series[i],
				   &(struct series_point){ RUN_ABSENT, RUN_ABSENT, row->at_ms,
							   row->values[i - TELEMETRY_FIRST] });
	return 0;
}

static void history_work(void *user)
{
	struct request *request = user;
	struct history *h = request->history;
	struct history_answer *answer = &request->answer;
	const struct history_ask *ask = &request->ask;
	const struct stored_span of_pod = { request->pod, ask->after_ms, true };
	const struct sample_span of_run = { ask->run_id, ask->after_line, NULL };

	if (h->db == NULL && db_open(h->path, false, &h->db, &answer->err) != 0)
		return;
	if (h->reader == NULL)
		h->reader = sample_reader_new(h->db, h->path, &answer->err);
	if (h->reader == NULL)
		return;
	if (request->pod != NULL)
		(void)telemetry_walk(h->db, &of_pod, add_telemetry, answer, &answer->err);
	else
		(void)sample_reader_walk(h->reader, &of_run, add_sample, answer, &answer->err);
}

static void history_done(void *user)
{
	struct request *request = user;
	struct history *h = request->history;

	h->waiting--;
	if (!h->is_closed)
		h->fn(h->user, &request->answer);
	history_answer_release(&request->answer);
	free(request->pod);
	free(request);
	if (h->is_closed && h->waiting == 0)
		history_free_now(h);
}

struct history *history_new(struct loop *loop, const char *path, history_fn fn, void *user)
{
	struct history *h = xcalloc(1, sizeof(*h));

	*h = (struct history){ .loop = loop, .path = xstrdup(path), .fn = fn, .user = user };
	return h;
}

void history_free(struct history *h)
{
	if (h == NULL)
		return;
	h->is_closed = true;
	if (h->waiting == 0)
		history_free_now(h);
}

void history_read(struct history *h, const struct history_ask *ask)
{
	struct request *request = xcalloc(1, sizeof(*request));

	request->history = h;
	request->pod = xstrdup_null(ask->pod);
	request->ask = *ask;
	request->answer.last_line = ask->after_line;
	request->answer.tag = ask->tag;
	h->waiting++;
	loop_job(h->loop, JOB_READ, history_work, history_done, request);
}
