/* SPDX-License-Identifier: MIT */
/*
 * One log file of a pod: its bytes through the reader into model and store.
 * Fed by collect_pod.c with the mirror's bytes and then with new ones.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"

/* So much of a log is still to be read again: its lines are not kept. */
#define FAR_BEHIND_BYTES (1U << 20)
/* Less is read at once where it comes. */
#define AWAY_BYTES 4096

static int64_t
wall_ms(const struct collect_file *file)
{
	const struct clock *clock = loop_clock(file->pod->collect->o.loop);

	return clock->wall_ms(clock);
}

unsigned int
collect_run_key(unsigned int gen, unsigned int run_index)
{
	return gen * 1000000U + run_index;
}

static char *
log_path(const char *name, unsigned int gen)
{
	return gen == 0 ? xstrdup(name) : xasprintf("%s (%u)", name, gen + 1);
}

struct model_log *
collect_log(struct collect *c, size_t model_pod, const char *name,
	    unsigned int gen)
{
	char *path = log_path(name, gen);
	struct model_log *log = model_log_get(c->o.model, model_pod, path);

	free(path);
	if (gen > 0) {
		path = log_path(name, gen - 1);
		model_log_after(c->o.model, log, path);
		free(path);
	}
	return log;
}

static struct model_run *
model_run_of(struct collect_file *file, const struct run *run)
{
	struct collect *c = file->pod->collect;
	struct model_run *mr =
		model_run_get(c->o.model, file->pod->model_pod, file->name,
			      collect_run_key(file->gen, run->run_index));

	mr->run_id = store_run_id(c->store, file->tail, run->run_index);
	mr->log = file->log;
	if (run->run_index >= file->n_runs)
		file->n_runs = run->run_index + 1;
	return mr;
}

void
collect_file_sample(struct collect_file *file, const struct run *run,
		    const struct sample *sample)
{
	struct collect *c = file->pod->collect;

	store_sample_add(c->store, file->tail, run, sample);
	if (c->o.keep_view)
		collect_fetch_sample(c, model_run_of(file, run), sample);
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

void
collect_file_event(struct collect_file *file, const struct run *run,
		   const struct run_event *event)
{
	struct model_event note = {
		.wall_ms = wall_ms(file),
		.severity = severity_of(event->kind),
		.pod = file->pod->model_pod,
		.text = event->text,
	};

	/* What was read in an earlier life is no news. */
	if (file->is_replay && file->replayed <= file->old_bytes)
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
	mr->past &= is_over && file->is_replay;
	if (!is_over)
		model_run_want(model, mr);
}

static void
put_run(struct collect_file *file, const struct run *run, bool is_live)
{
	const struct store_run_put how = { file->last_wall_ms, is_live };

	store_run_put(file->pod->collect->store, file->tail, run, &how);
}

void
collect_file_run(struct collect_file *file, const struct run *run)
{
	update_model(file, run, true);
	file->is_under_way = false;
	put_run(file, run, false);
}

/* What the reader says; kept for later while it is away. */
static void
on_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct collect_file *file = user;

	if (file->is_away)
		collect_parse_sample(file->parse, run, sample);
	else
		collect_file_sample(file, run, sample);
}

static void
on_event(void *user, const struct run *run, const struct run_event *event)
{
	struct collect_file *file = user;

	if (file->is_away)
		collect_parse_event(file->parse, run, event);
	else
		collect_file_event(file, run, event);
}

static void
on_run(void *user, const struct run *run)
{
	struct collect_file *file = user;

	if (file->is_away)
		collect_parse_run(file->parse, run);
	else
		collect_file_run(file, run);
}

static void
on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct collect_file *file = user;

	(void)text;
	if (file->is_away) {
		collect_parse_line(file->parse, line, class);
		return;
	}
	/* Its end is shown already, or will be the only thing kept. */
	if (file->is_behind && (file->log->behind || file->is_replay)) {
		logclass_add(&file->log->classes, line, class);
		return;
	}
	model_log_line(file->pod->collect->o.model, file->log, line, class);
}

struct collect_file *
collect_file_new(struct collect_pod *pod, const char *name, unsigned int gen)
{
	struct collect *c = pod->collect;
	struct collect_file *file = xcalloc(1, sizeof(*file));

	file->pod = pod;
	file->name = xstrdup(name);
	file->gen = gen;
	file->tail = store_tail_get(c->store, pod->name, name, gen);
	if (c->o.keep_view)
		file->log = collect_log(c, pod->model_pod, name, gen);
	file->last_wall_ms = wall_ms(file);
	list_append(&pod->files, &file->link);
	return file;
}

void
collect_file_begin(struct collect_file *file, struct mirror *mirror)
{
	struct collect *c = file->pod->collect;
	struct run_reader_cb cb = { on_sample, on_event, on_run, NULL };

	file->mirror = mirror;
	file->is_idle = false;
	store_tail_begin(file->tail);
	if (file->log != NULL) {
		model_log_file(file->log,
			       mirror != NULL ? mirror_path(mirror) : NULL);
		cb.on_line = on_line;
	}
	file->reader = run_reader_new(c->o.formats, &cb, file);
	if (mirror == NULL || mirror_size(mirror) == 0)
		return;
	file->is_replay = true;
	file->old_bytes = mirror_size(mirror);
	c->n_replays++;
	collect_replay_start(c);
}

struct collect_file *
collect_file_find(const struct collect_pod *pod, const char *name,
		  unsigned int gen)
{
	list_for_each (link, &pod->files) {
		struct collect_file *file =
			list_entry(link, struct collect_file, link);

		if (file->gen == gen && strcmp(file->name, name) == 0)
			return file;
	}
	return NULL;
}

void
collect_file_identify(struct collect_file *file, const struct follow_file *ff)
{
	const struct store_identity identity = {
		.path = ff->path,
		.mirror = file->is_idle		 ? file->tail->mirror
			  : file->mirror != NULL ? mirror_path(file->mirror)
						 : NULL,
		.dev = ff->dev,
		.inode = ff->ino,
		.ended = false, /* see collect_file_end */
	};

	store_tail_identify(file->pod->collect->store, file->tail, &identity);
}

/* All of the mirror was fed. */
static void
end_replay(struct collect_file *file)
{
	struct collect *c = file->pod->collect;
	const struct run *run = run_reader_current(file->reader);
	bool is_whole = run_reader_bytes(file->reader) >= file->tail->offset;

	if (run != NULL)
		update_model(file, run, !file->is_under_way);
	file->is_replay = file->is_behind = false;
	file->dirty = true;
	store_tail_advance(c->store, file->tail, run_reader_bytes(file->reader),
			   run_reader_lines(file->reader));
	/* The mirror may be shorter: the rest comes from the pod. */
	if (is_whole)
		store_tail_trim(c->store, file->tail, file->n_runs);
}

bool
collect_file_replay(struct collect_file *file, size_t most)
{
	uint64_t left = mirror_size(file->mirror) - file->replayed;
	struct err err = { ERR_NONE, "" };
	ssize_t n = 0;
	char *block;

	/* What is behind it came in this life, and is news. */
	if (file->replayed < file->old_bytes &&
	    most > file->old_bytes - file->replayed)
		most = (size_t)(file->old_bytes - file->replayed);
	file->is_behind = left > FAR_BEHIND_BYTES;
	block = xmalloc(most);
	if (left > 0)
		n = mirror_read(file->mirror, file->replayed, block, most,
				&err);
	if (n > 0) {
		file->replayed += (uint64_t)n;
		collect_file_feed(file, block, (size_t)n);
	} else if (n < 0) {
		collect_say(file->pod->collect, MODEL_WARNING, "%s: %s",
			    file->pod->name, err.text);
	}
	free(block);
	if (n > 0)
		return true;
	end_replay(file);
	return false;
}

void
collect_file_fed(struct collect_file *file)
{
	const struct run *run = run_reader_current(file->reader);

	/* To read it may have taken long, and more waits behind it. */
	file->pod->collect->last_news_ms = collect_now_ms(file->pod->collect);
	file->dirty = true;
	file->is_under_way = run != NULL && run->status == RUN_RUNNING;
	if (file->log != NULL)
		model_log_read(file->pod->collect->o.model, file->log,
			       run_reader_bytes(file->reader),
			       file->last_wall_ms);
	/* Until all was read again the database knows better. */
	if (file->is_replay)
		return;
	if (run != NULL)
		update_model(file, run, false);
	/* The offset is to be written even when no sample was. */
	store_tail_advance(file->pod->collect->store, file->tail,
			   run_reader_bytes(file->reader),
			   run_reader_lines(file->reader));
}

/* Much is to come, and none of it is for the eye: elsewhere, then. */
static bool
may_go_away(const struct collect_file *file, size_t len)
{
	return len >= AWAY_BYTES && !file->is_replay && file->is_behind &&
	       (file->log == NULL || file->log->behind);
}

void
collect_file_feed(struct collect_file *file, const void *data, size_t len)
{
	struct collect *c = file->pod->collect;
	const struct clock *clock = loop_clock(c->o.loop);

	c->last_news_ms = clock->mono_ms(clock);
	if (!file->is_replay) {
		file->last_wall_ms = clock->wall_ms(clock);
		pod_pace_bytes(&file->pace, clock->mono_ms(clock));
	}
	if (may_go_away(file, len)) {
		collect_parse_feed(file, data, len);
		return;
	}
	collect_parse_settle(file);
	run_reader_feed(file->reader, data, len);
	collect_file_fed(file);
}

void
collect_file_tick(struct collect_file *file, int64_t now_wall_ms)
{
	struct run run;

	if (!file->is_under_way || file->is_replay ||
	    now_wall_ms - file->last_wall_ms < COLLECT_QUIET_MS)
		return;
	collect_parse_settle(file);
	if (!run_reader_at_end(file->reader, &run))
		return;
	if (run.status == RUN_FINISHED) {
		file->is_under_way = false;
		file->dirty = true;
		update_model(file, &run, true);
	}
	run_release(&run);
}

/*
 * While a log is read again the store knows more of its runs than we do, but
 * for one that it does not have: what waits of that needs its row beside it.
 */
static bool
may_put(const struct collect_file *file)
{
	const struct run *run;

	if (!file->is_replay)
		return true;
	run = run_reader_current(file->reader);
	return run != NULL && !store_run_has_row(file->tail, run->run_index);
}

void
collect_file_flush(struct collect_file *file)
{
	struct run run;

	collect_parse_settle(file);
	if (!file->dirty || !may_put(file))
		return;
	file->dirty = file->is_replay;
	if (!run_reader_at_end(file->reader, &run))
		return;
	put_run(file, &run, file->is_under_way);
	run_release(&run);
}

void
collect_file_end(struct collect_file *file)
{
	struct store_tail *tail = file->tail;
	const struct store_identity identity = { tail->path, tail->mirror,
						 tail->dev, tail->inode, true };

	if (file->is_replay) {
		file->is_ended = true;
		return;
	}
	collect_parse_settle(file);
	store_tail_identify(file->pod->collect->store, tail, &identity);
	if (file->mirror != NULL)
		(void)mirror_end(file->mirror, NULL);
	else if (file->is_idle && tail->mirror != NULL)
		(void)chmod(tail->mirror, 0400);
	collect_file_finish(file);
}

void
collect_file_finish(struct collect_file *file)
{
	struct collect *c = file->pod->collect;

	collect_parse_settle(file);
	collect_parse_free(file->parse);
	file->parse = NULL;
	if (file->is_replay) {
		c->n_replays--;
		collect_file_flush(file);
	} else if (file->reader != NULL) {
		run_reader_finish(file->reader);
	}
	list_remove(&file->link);
	mirror_close(file->mirror);
	run_reader_free(file->reader);
	free(file->name);
	free(file);
}
