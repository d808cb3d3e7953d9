/* SPDX-License-Identifier: MIT */
/*
 * One log file of a pod: its bytes through the reader into model and store.
 * Fed by collect_pod.c with the mirror's bytes and then with new ones.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "collect_priv.h"

static int64_t
wall_ms(const struct collect_file *file)
{
	const struct clock *clock = loop_clock(file->pod->collect->o.loop);

	return clock->wall_ms(clock);
}

static struct model_run *
model_run_of(struct collect_file *file, const struct run *run)
{
	struct collect *c = file->pod->collect;
	struct model_run *mr =
		model_run_get(c->o.model, file->pod->model_pod, file->name,
			      file->base_index + run->run_index);

	if (file->tail != NULL)
		mr->run_id = store_run_id(c->store, file->tail, run->run_index);
	if (run->run_index >= file->n_runs)
		file->n_runs = run->run_index + 1;
	return mr;
}

static void
on_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct collect_file *file = user;
	struct collect *c = file->pod->collect;

	if (c->o.keep_view)
		model_run_sample(c->o.model, model_run_of(file, run), sample);
	if (file->tail != NULL)
		store_sample_add(c->store, file->tail, run, sample);
}

/* Kinds of events that a person should look at. */
static enum model_severity
severity_of(enum run_event_kind kind)
{
	return kind == RUN_EVENT_EARLY_STOP || kind == RUN_EVENT_OTHER
		       ? MODEL_INFO
	       : kind == RUN_EVENT_WARNING ? MODEL_WARNING
					   : MODEL_ALARM;
}

static void
on_event(void *user, const struct run *run, const struct run_event *event)
{
	struct collect_file *file = user;
	struct model_event note = {
		.wall_ms = wall_ms(file),
		.severity = severity_of(event->kind),
		.pod = file->pod->model_pod,
		.text = event->text,
	};

	/* What was read in an earlier life is no news. */
	if (file->is_replay)
		return;
	note.mr = model_run_of(file, run);
	model_event_add(file->pod->collect->o.model, &note);
}

static void
update_model(struct collect_file *file, const struct run *run, bool is_over)
{
	struct model *model = file->pod->collect->o.model;
	struct model_run *mr = model_run_of(file, run);

	model_run_update(model, mr, run);
	model_run_touch(model, mr, file->last_wall_ms, !is_over);
}

static void
put_run(struct collect_file *file, const struct run *run, bool is_live)
{
	const struct store_run_put how = { file->last_wall_ms, is_live };

	if (file->tail != NULL)
		store_run_put(file->pod->collect->store, file->tail, run, &how);
}

/* A run is over: the next one began in this file, or the file ends. */
static void
on_run(void *user, const struct run *run)
{
	struct collect_file *file = user;

	update_model(file, run, true);
	file->is_under_way = false;
	put_run(file, run, false);
}

static void
on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct collect_file *file = user;

	if (file->is_behind && file->log->ahead)
		return;
	model_log_line(file->pod->collect->o.model, file->log, line, text,
		       class);
}

/* How many runs of this path the model has from earlier generations. */
static unsigned int
runs_before(const struct collect_pod *pod, const char *path)
{
	unsigned int n = 0;

	for (size_t i = 0; i < pod->n_past; i++)
		if (strcmp(pod->past[i].path, path) == 0)
			n += pod->past[i].n_runs;
	return n;
}

struct collect_file *
collect_file_new(struct collect_pod *pod, const char *name, unsigned int gen,
		 struct mirror *mirror)
{
	struct collect *c = pod->collect;
	struct collect_file *file = xcalloc(1, sizeof(*file));
	struct run_reader_cb cb = { on_sample, on_event, on_run, NULL };

	file->pod = pod;
	file->name = xstrdup(name);
	file->gen = gen;
	file->mirror = mirror;
	file->base_index = runs_before(pod, name);
	if (c->store != NULL)
		file->tail = store_tail_get(c->store, pod->name, name, gen);
	if (c->o.keep_view) {
		file->log = model_log_get(c->o.model, pod->model_pod, name);
		model_log_file(file->log,
			       mirror != NULL ? mirror_path(mirror) : NULL);
		cb.on_line = on_line;
	}
	file->reader = run_reader_new(c->o.formats, &cb, file);
	file->last_wall_ms = wall_ms(file);
	list_append(&pod->files, &file->link);
	return file;
}

void
collect_file_identify(struct collect_file *file, const struct follow_file *ff)
{
	const struct store_identity identity = {
		.path = ff->path,
		.mirror =
			file->mirror != NULL ? mirror_path(file->mirror) : NULL,
		.dev = ff->dev,
		.inode = ff->ino,
		.ended = ff->ended,
	};

	if (file->tail != NULL)
		store_tail_identify(file->pod->collect->store, file->tail,
				    &identity);
}

ssize_t
collect_file_replay(struct collect_file *file, size_t most)
{
	char *block;
	struct err err;
	ssize_t n;

	if (file->mirror == NULL)
		return 0;
	block = xmalloc(most);
	n = mirror_read(file->mirror, file->replayed, block, most, &err);
	if (n > 0) {
		file->replayed += (uint64_t)n;
		collect_file_feed(file, block, (size_t)n);
	} else if (n < 0) {
		collect_say(file->pod->collect, MODEL_WARNING, "%s: %s",
			    file->pod->name, err.text);
	}
	free(block);
	return n;
}

void
collect_file_replayed(struct collect_file *file)
{
	struct collect *c = file->pod->collect;

	file->is_replay = false;
	file->dirty = true;
	if (file->tail == NULL || file->mirror == NULL)
		return;
	store_tail_advance(c->store, file->tail, run_reader_bytes(file->reader),
			   run_reader_lines(file->reader));
	store_tail_trim(c->store, file->tail, file->n_runs);
}

void
collect_file_feed(struct collect_file *file, const void *data, size_t len)
{
	struct collect *c = file->pod->collect;
	const struct clock *clock = loop_clock(c->o.loop);
	const struct run *run;

	if (!file->is_replay) {
		file->last_wall_ms = clock->wall_ms(clock);
		pod_pace_bytes(&file->pace, clock->mono_ms(clock));
		c->last_news_ms = clock->mono_ms(clock);
	}
	run_reader_feed(file->reader, data, len);
	file->dirty = true;
	run = run_reader_current(file->reader);
	file->is_under_way = run != NULL && run->status == RUN_RUNNING;
	if (run != NULL)
		update_model(file, run, false);
	/* The offset is to be written even when no sample was. */
	if (file->tail != NULL && !file->is_replay)
		store_tail_advance(c->store, file->tail,
				   run_reader_bytes(file->reader),
				   run_reader_lines(file->reader));
}

void
collect_file_tick(struct collect_file *file, int64_t now_wall_ms)
{
	struct run run;

	if (!file->is_under_way ||
	    now_wall_ms - file->last_wall_ms < COLLECT_QUIET_MS ||
	    !run_reader_at_end(file->reader, &run))
		return;
	if (run.status == RUN_FINISHED) {
		file->is_under_way = false;
		file->dirty = true;
		update_model(file, &run, true);
	}
	run_release(&run);
}

void
collect_file_flush(struct collect_file *file)
{
	struct run run;

	/* While it is read again the store knows more than we do. */
	if (!file->dirty || file->is_replay || file->tail == NULL)
		return;
	file->dirty = false;
	if (!run_reader_at_end(file->reader, &run))
		return;
	put_run(file, &run, file->is_under_way);
	run_release(&run);
}

/* Remember how many runs this generation had in the model. */
static void
note_past(struct collect_file *file)
{
	struct collect_pod *pod = file->pod;

	pod->past = xgrow(pod->past, pod->n_past, &pod->cap_past,
			  sizeof(*pod->past));
	pod->past[pod->n_past++] =
		(struct collect_past){ xstrdup(file->name), file->n_runs };
}

void
collect_file_finish(struct collect_file *file)
{
	/* Cut off while it was read again: what is stored is truer. */
	if (file->is_replay)
		file->tail = NULL;
	run_reader_finish(file->reader);
	if (!file->pod->collect->is_ending)
		note_past(file);
	list_remove(&file->link);
	mirror_close(file->mirror);
	run_reader_free(file->reader);
	free(file->name);
	free(file);
}
