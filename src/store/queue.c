/* SPDX-License-Identifier: MIT */
/*
 * What waits to be written: samples, runs and offsets become a batch, the
 * batch a job.  One that cannot be written stays and is tried again; nothing
 * is dropped.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

void
store_arm(struct store *store)
{
	int64_t delay_ms = STORE_FLUSH_MS;

	if (store->timer == NULL || store->job != NULL || store->failing)
		return;
	if (store->waiting.n_samples >= STORE_FLUSH_SAMPLES)
		delay_ms = 0;
	else if (store->armed)
		return;
	store->armed = true;
	loop_timer_start(store->timer, delay_ms, 0);
}

static void
touch_tail(struct store *store, struct store_tail *tail)
{
	tail->dirty = true;
	store->n_dirty++;
	store_arm(store);
}

/* "pod\0gen\0name" as the key of the map. */
static struct str
tail_key(struct buf *buf, const char *pod, const char *name, unsigned int gen)
{
	buf_clear(buf);
	buf_append(buf, pod, strlen(pod) + 1);
	buf_append(buf, &gen, sizeof(gen));
	buf_append_str(buf, name);
	return buf_str(buf);
}

struct store_tail *
store_tail_add(struct store *store, const struct store_tail *row)
{
	struct store_tail *tail = xmalloc(sizeof(*tail));

	*tail = *row;
	tail->trim_runs = SIZE_MAX;
	xpush(store->tails, store->n_tails, store->cap_tails, tail);
	(void)map_set(&store->tail_index,
		      tail_key(&store->key, tail->pod, tail->name, tail->gen),
		      tail);
	return tail;
}

void
store_set_run_id(struct store_tail *tail, size_t run_index, int64_t id)
{
	while (tail->n_runs <= run_index)
		xpush(tail->runs, tail->n_runs, tail->cap_runs,
		      (struct store_run_id){ 0, false });
	tail->runs[run_index].id = id;
}

struct store_tail *
store_tail_get(struct store *store, const char *pod, const char *name,
	       unsigned int gen)
{
	struct store_tail *tail;

	if (store->writer == NULL)
		return NULL;
	tail = map_get(&store->tail_index,
		       tail_key(&store->key, pod, name, gen));
	if (tail != NULL)
		return tail;
	tail = store_tail_add(store,
			      &(struct store_tail){ .id = store->next_tail++,
						    .pod = xstrdup(pod),
						    .name = xstrdup(name),
						    .path = xstrdup(name),
						    .gen = gen });
	touch_tail(store, tail);
	return tail;
}

size_t
store_tail_count(const struct store *store)
{
	return store->n_tails;
}

const struct store_tail *
store_tail_at(const struct store *store, size_t i)
{
	assert(i < store->n_tails);
	return store->tails[i];
}

static bool
set_text(char **text, const char *value)
{
	char *copy;

	if (*text == value ||
	    (*text != NULL && value != NULL && strcmp(*text, value) == 0))
		return false;
	copy = xstrdup_null(value);
	free(*text);
	*text = copy;
	return true;
}

void
store_tail_identify(struct store *store, struct store_tail *tail,
		    const struct store_identity *identity)
{
	bool changed = set_text(&tail->path, identity->path);

	changed |= set_text(&tail->mirror, identity->mirror);
	changed |= set_text(&tail->real, identity->real);
	changed |= tail->dev != identity->dev ||
		   tail->inode != identity->inode ||
		   tail->ended != identity->ended ||
		   tail->stamp != identity->stamp ||
		   tail->sum.len != identity->sum.len ||
		   tail->sum.crc != identity->sum.crc;
	tail->dev = identity->dev;
	tail->inode = identity->inode;
	tail->ended = identity->ended;
	tail->stamp = identity->stamp;
	tail->sum = identity->sum;
	if (changed)
		touch_tail(store, tail);
}

void
store_tail_begin(struct store_tail *tail)
{
	tail->last_line = 0;
	tail->seq = 0;
	tail->done_lines = tail->lines;
}

void
store_tail_advance(struct store *store, struct store_tail *tail,
		   uint64_t offset, uint64_t lines)
{
	if (tail->offset == offset && tail->lines == lines)
		return;
	tail->offset = offset;
	tail->lines = lines;
	tail->is_over = tail->is_whole = false;
	touch_tail(store, tail);
}

void
store_tail_trim(struct store *store, struct store_tail *tail, size_t n)
{
	if (tail->n_runs <= n)
		return;
	tail->n_runs = n;
	tail->trim_runs = n;
	touch_tail(store, tail);
}

int64_t
store_run_id(struct store *store, struct store_tail *tail,
	     unsigned int run_index)
{
	if (run_index >= tail->n_runs || tail->runs[run_index].id == 0)
		store_set_run_id(tail, run_index, store->next_run++);
	return tail->runs[run_index].id;
}

bool
store_run_has_row(const struct store_tail *tail, unsigned int run_index)
{
	return run_index < tail->n_runs && tail->runs[run_index].has_row;
}

void
store_sample_add(struct store *store, struct store_tail *tail,
		 const struct run *run, const struct sample *sample)
{
	struct batch *batch = &store->waiting;

	/* Stored before the crash or restart that made us read it again. */
	tail->seq = sample->line == tail->last_line ? tail->seq + 1 : 0;
	tail->last_line = sample->line;
	if (sample->line < tail->done_lines)
		return;
	xpush(batch->samples, batch->n_samples, batch->cap_samples,
	      (struct batch_sample){
		      .run_id = store_run_id(store, tail, run->run_index),
		      .seq = tail->seq,
		      .sample = *sample,
	      });
	if (batch->n_samples == 1 || batch->n_samples == STORE_FLUSH_SAMPLES)
		store_arm(store);
}

void
store_run_put(struct store *store, struct store_tail *tail,
	      const struct run *run, const struct store_run_put *how)
{
	struct batch *batch = &store->waiting;
	int64_t id = store_run_id(store, tail, run->run_index);
	size_t i = batch->n_runs;
	struct run_row *row;

	while (i > 0 && batch->runs[i - 1].id != id)
		i--;
	if (i > 0) {
		row = &batch->runs[i - 1];
		run_release(&row->run);
	} else {
		row = xplace(batch->runs, batch->n_runs, batch->cap_runs);
	}
	*row = (struct run_row){ .id = id,
				 .tail_id = tail->id,
				 .first_wall_ms = how->wall_ms,
				 .last_wall_ms = how->wall_ms,
				 .live = how->is_live };
	run_copy(&row->run, run);
	tail->runs[run->run_index].has_row = true;
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
		struct store_tail *tail = store->tails[i], *row;

		if (!tail->dirty)
			continue;
		tail->dirty = false;
		row = xplace(batch->tails, batch->n_tails, batch->cap_tails);
		*row = *tail;
		row_own(&tail_table, row);
		tail->trim_runs = SIZE_MAX;
	}
	store->n_dirty = 0;
	store->writing = *batch;
	memset(batch, 0, sizeof(*batch));
}

/* Is there a batch to write?  What waits becomes the next one. */
static bool
has_batch(struct store *store)
{
	if (batch_is_empty(&store->writing))
		take_batch(store);
	return !batch_is_empty(&store->writing);
}

/* On a thread of the pool: `writing` and the writer belong to it. */
static void
write_batch(void *user)
{
	struct store *store = user;

	store->is_written = writer_write(store->writer, &store->writing,
					 &store->write_err) == 0;
}

/* Note how the write went; true when the batch is in the database. */
static bool
settle_batch(struct store *store)
{
	bool was_failing = store->failing;

	store->failing = !store->is_written;
	if (store->failing)
		log_debug("store", "%s", store->write_err.text);
	else
		batch_clear(&store->writing);
	if (was_failing != store->failing && store->cb.on_state != NULL)
		store->cb.on_state(store->cb.user,
				   store->failing ? &store->write_err : NULL);
	return !store->failing;
}

static void
on_batch_done(void *user)
{
	struct store *store = user;

	store->job = NULL;
	if (!settle_batch(store)) {
		store->armed = true;
		loop_timer_start(store->timer, STORE_RETRY_MS, 0);
		return;
	}
	if (store->closing)
		return;
	if (!batch_is_empty(&store->waiting) || store->n_dirty > 0)
		store_arm(store);
	if (store->cb.on_room != NULL)
		store->cb.on_room(store->cb.user);
}

/* Write here and now: the batch that failed before, then what waits. */
static int
flush_now(struct store *store, struct err *err)
{
	for (int turn = 0; turn < 2 && has_batch(store); turn++) {
		write_batch(store);
		if (settle_batch(store))
			continue;
		if (err != NULL)
			*err = store->write_err;
		return -1;
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
	if (store->job == NULL && has_batch(store))
		store->job = loop_job_new(store->loop, JOB_STORE, write_batch,
					  on_batch_done, store);
	return 0;
}

int
store_flush_last(struct store *store, struct err *err)
{
	store->closing = true;
	if (store->job != NULL)
		loop_job_finish(store->job);
	return store->writer != NULL ? flush_now(store, err) : 0;
}
