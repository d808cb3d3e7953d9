/* SPDX-License-Identifier: MIT */
/*
 * What waits to be written: samples, runs and offsets become a batch, the
 * batch a job.  One that cannot be written stays and is tried again; nothing
 * is dropped.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

void
store_arm(struct store *store)
{
	int64_t delay_ms = STORE_FLUSH_MS;

	if (store->timer == NULL || store->busy || store->failing)
		return;
	if (store->waiting.n_samples >= STORE_FLUSH_SAMPLES)
		delay_ms = 0;
	else if (store->armed)
		return;
	store->armed = true;
	loop_timer_start(store->timer, delay_ms, 0);
}

void
store_sample_add(struct store *store, struct store_tail *tail,
		 const struct run *run, const struct sample *sample)
{
	struct batch *batch = &store->waiting;
	struct batch_sample *row;

	/* Stored before the crash or restart that made us read it again. */
	tail->seq = sample->line == tail->last_line ? tail->seq + 1 : 0;
	tail->last_line = sample->line;
	if (sample->line < tail->done_lines)
		return;
	batch->samples = xgrow(batch->samples, batch->n_samples,
			       &batch->cap_samples, sizeof(*batch->samples));
	row = &batch->samples[batch->n_samples++];
	row->run_id = store_run_id(store, tail, run->run_index);
	row->seq = tail->seq;
	row->sample = *sample;
	if (batch->n_samples == 1 || batch->n_samples == STORE_FLUSH_SAMPLES)
		store_arm(store);
}

void
store_run_put(struct store *store, struct store_tail *tail,
	      const struct run *run, const struct store_run_put *how)
{
	struct batch *batch = &store->waiting;
	struct batch_run *row = NULL;
	int64_t id = store_run_id(store, tail, run->run_index);

	for (size_t i = batch->n_runs; row == NULL && i > 0; i--)
		if (batch->runs[i - 1].id == id)
			row = &batch->runs[i - 1];
	if (row != NULL) {
		run_release(&row->run);
	} else {
		batch->runs = xgrow(batch->runs, batch->n_runs,
				    &batch->cap_runs, sizeof(*batch->runs));
		row = &batch->runs[batch->n_runs++];
	}
	tail->runs[run->run_index].has_row = true;
	row->id = id;
	row->tail_id = tail->id;
	row->wall_ms = how->wall_ms;
	row->live = how->is_live;
	run_copy(&row->run, run);
	store_arm(store);
}

size_t
store_pending(const struct store *store)
{
	return store->waiting.n_samples + store->writing.n_samples;
}

static void
each_of_batch(const struct batch *batch, int64_t run_id,
	      void (*fn)(void *user, const struct sample *sample), void *user)
{
	for (size_t i = 0; i < batch->n_samples; i++)
		if (batch->samples[i].run_id == run_id)
			fn(user, &batch->samples[i].sample);
}

void
store_each_pending(const struct store *store, int64_t run_id,
		   void (*fn)(void *user, const struct sample *sample),
		   void *user)
{
	/* A job that writes them only reads, as we do. */
	each_of_batch(&store->writing, run_id, fn, user);
	each_of_batch(&store->waiting, run_id, fn, user);
}

bool
store_is_full(const struct store *store)
{
	return store_pending(store) >= STORE_MAX_PENDING;
}

/* Add the offsets to what waits, and make that the batch to write. */
static void
take_batch(struct store *store)
{
	struct batch *batch = &store->waiting;

	if (store->cb.on_flush != NULL)
		store->cb.on_flush(store->cb.user);
	for (size_t i = 0; store->n_dirty > 0 && i < store->n_tails; i++) {
		struct store_tail *tail = store->tails[i];

		if (!tail->dirty)
			continue;
		tail->dirty = false;
		batch->tails = xgrow(batch->tails, batch->n_tails,
				     &batch->cap_tails, sizeof(*batch->tails));
		batch->tails[batch->n_tails++] = (struct batch_tail){
			.id = tail->id,
			.pod = xstrdup_null(tail->pod),
			.name = xstrdup_null(tail->name),
			.path = xstrdup_null(tail->path),
			.mirror = xstrdup_null(tail->mirror),
			.real = xstrdup_null(tail->real),
			.sum = tail->sum,
			.stamp = tail->stamp,
			.ended = tail->ended,
			.gen = tail->gen,
			.dev = tail->dev,
			.inode = tail->inode,
			.offset = tail->offset,
			.lines = tail->lines,
			.trim_runs = tail->trim_runs,
		};
		tail->trim_runs = SIZE_MAX;
	}
	store->n_dirty = 0;
	store->writing = *batch;
	memset(batch, 0, sizeof(*batch));
}

/* Note how the write went; true when the batch is in the database. */
static bool
settle(struct store *store, bool good)
{
	bool was_failing = store->failing;

	store->failing = !good;
	if (good)
		batch_clear(&store->writing);
	if (!good)
		log_debug("store", "%s", store->write_err.text);
	if (was_failing == good && store->cb.on_state != NULL)
		store->cb.on_state(store->cb.user,
				   good ? NULL : &store->write_err);
	return good;
}

/* On a thread of the pool: `writing` and the writer belong to it. */
static void
work(void *user)
{
	struct store *store = user;

	store->write_err.code = ERR_NONE;
	if (writer_write(store->writer, &store->writing, &store->write_err) !=
		    0 &&
	    store->write_err.code == ERR_NONE)
		store->write_err.code = ERR_DB;
}

static void
done(void *user)
{
	struct store *store = user;

	store->busy = false;
	if (store->closing) {
		(void)settle(store, store->write_err.code == ERR_NONE);
		loop_stop(store->loop);
		return;
	}
	if (!settle(store, store->write_err.code == ERR_NONE)) {
		store->armed = true;
		loop_timer_start(store->timer, STORE_RETRY_MS, 0);
		return;
	}
	if (!batch_is_empty(&store->waiting) || store->n_dirty > 0)
		store_arm(store);
	if (store->cb.on_room != NULL)
		store->cb.on_room(store->cb.user);
}

/* Here and now. */
static int
flush_now(struct store *store, struct err *err)
{
	for (int turn = 0; turn < 2; turn++) {
		if (batch_is_empty(&store->writing))
			take_batch(store);
		if (batch_is_empty(&store->writing))
			return 0;
		work(store);
		if (!settle(store, store->write_err.code == ERR_NONE)) {
			if (err != NULL)
				*err = store->write_err;
			return -1;
		}
	}
	return 0;
}

int
store_flush(struct store *store, struct err *err)
{
	if (store->writer == NULL)
		return 0;
	if (store->loop == NULL)
		return flush_now(store, err);
	store->armed = false;
	if (store->busy)
		return 0;
	if (batch_is_empty(&store->writing))
		take_batch(store);
	if (batch_is_empty(&store->writing))
		return 0;
	store->busy = true;
	loop_job(store->loop, JOB_STORE, work, done, store);
	return 0;
}

int
store_close(struct store *store, struct err *err)
{
	int rc = 0;

	if (store == NULL)
		return 0;
	store->closing = true;
	while (store->busy)
		loop_run(store->loop);
	if (store->writer != NULL)
		rc = flush_now(store, err);
	store_free(store);
	return rc;
}
