/* SPDX-License-Identifier: MIT */
/* A turn appends the fetched bytes of up to 64 logs to their local copies and parses up to 1 MiB of
 * each, on a worker thread.  Model and store get its results afterwards, on the event loop. */
#include "ingest/ingest_priv.h"

#define SLICE_BYTES ((size_t)1024 * 1024)
/* A slice is read in blocks; it ends early when the outbox has SLICE_ITEMS items. */
#define BLOCK_BYTES ((size_t)64 * 1024)
#define SLICE_ITEMS 4096
/* This many logs share a turn if there is little to do for each. */
#define TURN_LOGS 64
/* A turn parses no further log once it has this many items, to limit the memory that they take. */
#define TURN_ITEMS (4 * SLICE_ITEMS)
/* When the program ends, a log with more unparsed bytes than this is parsed at the next start. */
#define LAST_BYTES (1U << 20)

struct turn {
	struct ingest *ingest;
	struct job *job;
	bool may_read; /* the store has room for samples */
	size_t n;
	struct ingest_log *logs[TURN_LOGS];
};

/* ---- on a worker thread */

static void append_fetched(struct ingest_log *log)
{
	struct outbox *out = &log->out;
	struct log_copy *copy = log->copy;
	bool is_new = log->known.len == 0 && log->stored == 0 && out->had == 0;

	out->appended = 0;
	out->err.code = ERR_NONE;
	if (copy == NULL ||
	    (!copy->is_open && log_copy_open(copy, is_new ? NULL : &log->known, &out->err) != 0))
		return;
	/* A copy that turned out shorter than expected is fetched again first. */
	if (log->sending.len > 0 && copy->sum.len == out->had)
		out->appended = log_copy_append(copy, buf_str(&log->sending), &out->err);
}

/* Parse the next slice of a log.  A slice does not cross `stored` or `news`, because the results
 * are used differently before and after it. */
static void read_slice(struct ingest_log *log)
{
	const struct ingest_options *o = &log->ingest->o;
	struct outbox *out = &log->out;
	uint64_t end = log->copy == NULL ? out->had : log->copy->sum.len;
	/* Bytes that were all appended in this turn are still in memory. */
	const char *fresh = end == log->parsed + out->appended ? log->sending.data : NULL;
	AUTO_TEXT block = NULL;

	if (!log->is_parsed || end <= log->parsed)
		return;
	if (log->parsed < log->stored && end > log->stored)
		end = log->stored;
	if (log->parsed < log->news && end > log->news)
		end = log->news;
	if (end - log->parsed > SLICE_BYTES)
		end = log->parsed + SLICE_BYTES;
	out->is_replaced = log->local != NULL && !local_is_same_file(log->local, log->parsed);
	if (out->is_replaced)
		return;
	size_t size = end - log->parsed < BLOCK_BYTES ? (size_t)(end - log->parsed) : BLOCK_BYTES;
	if (fresh == NULL)
		block = xmalloc(size);
	if (log->reader == NULL)
		log->reader = run_reader_new(o->formats, &sink_callbacks[o->keep_view], log);
	do {
		size_t want = end - out->parsed < size ? (size_t)(end - out->parsed) : size;
		ssize_t n = fresh != NULL ? (ssize_t)want
			    : log->local != NULL
				    ? local_read(log->local, out->parsed, block, want)
				    : log_copy_read(log->copy, out->parsed, block, want, &out->err);
		if (n <= 0)
			break;
		run_reader_feed(log->reader,
				fresh != NULL ? fresh + (out->parsed - log->parsed) : block,
				(size_t)n);
		out->parsed += (uint64_t)n;
	} while (out->parsed < end && out->n < SLICE_ITEMS);
	if (out->parsed == log->parsed)
		return;
	out->n_lines = run_reader_lines(log->reader);
	const struct run *run = run_reader_current(log->reader);
	out->has_run = run != NULL;
	if (run != NULL) {
		run_copy(&out->now, run);
		(void)run_reader_at_end(log->reader, &out->row);
	}
}

static void turn_work(void *user)
{
	struct turn *turn = user;
	size_t n_items = 0;

	for (size_t i = 0; i < turn->n; i++) {
		struct ingest_log *log = turn->logs[i];

		append_fetched(log);
		if (turn->may_read && n_items < TURN_ITEMS) {
			read_slice(log);
			n_items += log->out.n;
		}
	}
}

/* ---- on the loop */

static bool has_work(const struct ingest_log *log)
{
	const struct ingest *ingest = log->ingest;
	bool is_open = log->copy == NULL || log->copy->is_open;

	if (log->retry_ms != 0 && log->retry_ms > ingest_now_ms(ingest))
		return false;
	if (log->sending.len > 0 || log->inbox.len > 0)
		return true;
	/* Create the local copy of a new log even if the log is empty, and compute the checksum of
	 * one that is longer than in the database. */
	if (!is_open && (log->is_parsed || log->known.len < log->fetched))
		return true;
	return log->is_parsed && log->parsed < log->fetched &&
	       (ingest->store == NULL || !store_is_full(ingest->store));
}

static void turn_done(void *user);

static void enter_turn(struct ingest_log *log, struct turn *turn)
{
	struct buf empty = log->sending;

	if (log->sending.len == 0) {
		log->sending = log->inbox;
		log->inbox = empty;
	}
	log->out.had = log->fetched;
	log->out.parsed = log->parsed;
	if (log->copy != NULL)
		log_copy_lend(log->copy);
	log->turn = turn;
	turn->logs[turn->n++] = log;
}

/* Take queued logs with work, until there is enough for one turn. */
static struct turn *make_turn(struct ingest *ingest)
{
	struct turn *turn =
		xnew(struct turn, .ingest = ingest,
		     .may_read = ingest->store == NULL || !store_is_full(ingest->store));
	uint64_t bytes = 0;

	while (!list_is_empty(&ingest->queue) && turn->n < TURN_LOGS && bytes < SLICE_BYTES) {
		struct ingest_log *log =
			list_entry(ingest->queue.next, struct ingest_log, in_queue);

		list_remove(&log->in_queue);
		if (!has_work(log))
			continue;
		enter_turn(log, turn);
		bytes += log->sending.len;
		if (log->is_parsed)
			bytes += log->fetched - log->parsed;
	}
	return turn;
}

static void start_turns(void *user)
{
	struct ingest *ingest = user;

	ingest->posted = false;
	while (!list_is_empty(&ingest->queue) && ingest->n_turns < loop_job_cap(JOB_PARSE)) {
		struct turn *turn = make_turn(ingest);

		if (turn->n == 0) {
			free(turn);
			continue;
		}
		ingest->n_turns++;
		turn->job = loop_job(ingest->o.loop, JOB_PARSE, turn_work, turn_done, turn);
	}
}

void tail_queue(struct ingest_log *log)
{
	struct ingest *ingest = log->ingest;

	if (log->turn != NULL || !list_is_empty(&log->in_queue) || !has_work(log))
		return;
	list_append(&ingest->queue, &log->in_queue);
	if (ingest->o.loop == NULL || ingest->posted)
		return;
	ingest->posted = true;
	loop_post(ingest->o.loop, start_turns, ingest);
}

static void apply_turn(struct turn *turn)
{
	pointer_each (log, turn->logs, turn->n) {
		log->turn = NULL;
		if (log->copy != NULL) {
			log_copy_return(log->copy);
			fetch_after_turn(log);
		}
		sink_apply_turn(log);
		if (log->local != NULL)
			local_after_turn(log);
	}
}

static void turn_done(void *user)
{
	struct turn *turn = user;
	struct ingest *ingest = turn->ingest;

	ingest->n_turns--;
	apply_turn(turn);
	for (size_t i = 0; i < turn->n; i++)
		if (turn->logs[i] != NULL)
			tail_queue(turn->logs[i]);
	if (!list_is_empty(&ingest->queue) && !ingest->posted)
		start_turns(ingest);
	free(turn);
}

bool tail_run_turn(struct ingest *ingest)
{
	AUTO_FREE struct turn *turn = make_turn(ingest);

	turn_work(turn);
	apply_turn(turn);
	for (size_t i = 0; i < turn->n; i++)
		tail_queue(turn->logs[i]);
	return !list_is_empty(&ingest->queue);
}

void tail_stop_turns(struct ingest *ingest)
{
	if (ingest->posted)
		loop_unpost(ingest->o.loop, start_turns, ingest);
}

void tail_start_reader(struct ingest_log *log)
{
	if (log->is_parsed)
		return;
	log->is_parsed = true;
	log->parsed = 0;
	if (log->entry != NULL)
		store_log_restart(log->entry);
	if (log->copy != NULL)
		fetch_replace_lost_copy(log);
	tail_count_backlog(log);
	sink_show_empty_row(log);
	tail_queue(log);
}

void tail_count_backlog(struct ingest_log *log)
{
	struct model *model = log->ingest->o.model;
	bool is_reading = log->is_parsed && log->parsed < log->news;

	if (is_reading == log->is_reading)
		return;
	log->is_reading = is_reading;
	*(is_reading ? &model->n_reading : &model->n_read) += 1;
	if (model->n_read == model->n_reading)
		model->n_read = model->n_reading = 0;
	model_note_change(model, MODEL_LOGS);
}

void tail_free_reader(struct ingest_log *log)
{
	run_reader_free(log->reader);
	log->reader = NULL;
	log->is_parsed = false;
	log->parsed = 0;
	tail_count_backlog(log);
}

void tail_finish_turn(struct ingest_log *log)
{
	if (log->turn != NULL)
		loop_job_finish(log->turn->job);
}

void tail_read_rest(struct ingest_log *log)
{
	tail_finish_turn(log);
	/* Stop after a turn without progress: a file may have become shorter. */
	for (uint64_t before = UINT64_MAX; has_work(log) &&
					   log->fetched - log->parsed < LAST_BYTES &&
					   log->fetched + log->parsed != before;) {
		struct turn turn = { .ingest = log->ingest, .may_read = true };

		before = log->fetched + log->parsed;
		enter_turn(log, &turn);
		turn_work(&turn);
		apply_turn(&turn);
	}
	list_remove(&log->in_queue);
}
