/* SPDX-License-Identifier: MIT */
/*
 * What the readers say, to model and store.  It is kept on the thread of the
 * reader, in order, and told on the loop when the turn is over.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "ingest/ingest_priv.h"
#include "model/run_names.h"

/* A view shows the end of a log that is so far behind before all of it. */
#define FAR_BEHIND_BYTES (1U << 20)
/* More of what was told is not kept for the next turn. */
#define KEEP_ITEMS 64

enum outbox_kind { OUTBOX_SAMPLE, OUTBOX_EVENT, OUTBOX_RUN };

struct outbox_item {
	enum outbox_kind kind;
	unsigned int run_index;
	union {
		struct sample sample;
		struct run_event event; /* text owned */
		struct run *run;	/* owned; it is over */
	};
};

/* ---- on the reader's thread */

static struct outbox_item *keep(struct ingest_log *log, enum outbox_kind kind,
				const struct run *run)
{
	struct outbox *out = &log->out;
	struct outbox_item *told = xplace(out->v, out->n, out->cap);

	told->kind = kind;
	told->run_index = run->run_index;
	return told;
}

static void keep_sample(void *user, const struct run *run, const struct sample *sample)
{
	keep(user, OUTBOX_SAMPLE, run)->sample = *sample;
}

static void keep_event(void *user, const struct run *run, const struct run_event *event)
{
	struct outbox_item *told = keep(user, OUTBOX_EVENT, run);

	told->event = *event;
	told->event.text = xstrdup(event->text);
}

static void keep_run(void *user, const struct run *run)
{
	struct outbox_item *told = keep(user, OUTBOX_RUN, run);

	told->run = xmalloc(sizeof(*told->run));
	run_copy(told->run, run);
}

static void keep_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct ingest_log *log = user;
	struct outbox *out = &log->out;

	(void)text;
	if (out->n_classes == 0)
		out->first_line = line;
	xpush(out->classes, out->n_classes, out->cap_classes, (unsigned char)class);
}

const struct run_reader_cb sink_callbacks[2] = {
	{ keep_sample, keep_event, keep_run, NULL },
	{ keep_sample, keep_event, keep_run, keep_line },
};

/* ---- on the loop */

unsigned int sink_run_key(unsigned int gen, unsigned int run_index)
{
	return gen * 1000000U + run_index;
}

static char *log_path(const char *name, unsigned int gen)
{
	return gen == 0 ? xstrdup(name) : xasprintf("%s (%u)", name, gen + 1);
}

struct model_log *sink_model_log(struct ingest *ingest, size_t model_pod, const char *name,
				 unsigned int gen)
{
	struct model *model = ingest->o.model;
	AUTO_TEXT path = log_path(name, gen);
	AUTO_TEXT before = gen > 0 ? log_path(name, gen - 1) : NULL;
	struct model_log *log = model_log_get(model, model_pod, path);

	if (before != NULL)
		model_log_after(model, log, before);
	return log;
}

static struct model_run *model_run_of(struct ingest_log *log, unsigned int run_index)
{
	struct ingest *ingest = log->ingest;
	struct model_run *mr = model_run_get(ingest->o.model, log->model_pod, log->name,
					     sink_run_key(log->gen, run_index));

	if (log->entry != NULL)
		mr->run_id = store_run_id(ingest->store, log->entry, run_index);
	mr->log = log->log;
	return mr;
}

/* Endless runs are not all taken; said once of a pod. */
static bool takes_run(struct ingest_log *log, unsigned int run_index)
{
	struct ingest_runs *runs = log->pod != NULL ? &log->pod->runs : &log->ingest->runs;

	if (run_index < log->n_runs)
		return true;
	if (run_index < INGEST_LOG_RUNS && runs->n < INGEST_POD_RUNS) {
		runs->n += run_index + 1 - log->n_runs;
		log->n_runs = run_index + 1;
		return true;
	}
	if (!runs->said)
		ingest_notify(log->ingest, log->pod, MODEL_WARNING,
			      "%s: a log has more than %d runs, or all logs have "
			      "more than %d: the others are left out",
			      log->name, INGEST_LOG_RUNS, INGEST_POD_RUNS);
	runs->said = true;
	return false;
}

/* What is read again was seen before; what lay there ends unseen. */
static bool is_news(const struct ingest_log *log)
{
	return log->parsed >= log->news && log->parsed >= log->stored &&
	       (log->parsed > log->news || log->out.parsed > log->news);
}

static void sink_sample(struct ingest_log *log, const struct run *run, const struct sample *sample)
{
	struct ingest *ingest = log->ingest;
	struct sample stamped = *sample;

	if (log->entry != NULL)
		store_sample_add(ingest->store, log->entry, run, sample);
	/* Of a log that slept the model has them. */
	if (!ingest->o.keep_view || sample->line <= log->slept_at)
		return;
	/* What was written before we looked has no time that we know. */
	if (stamped.wall_ms == 0 && is_news(log))
		stamped.wall_ms = ingest_wall_ms(ingest);
	history_sample(ingest, model_run_of(log, run->run_index), &stamped);
}

/* Say what happened to a run that is followed. */
static void tell_of_run(struct ingest_log *log, unsigned int run_index,
			enum model_severity severity, const char *what)
{
	struct model *model = log->ingest->o.model;
	const struct model_run *mr = model_run_of(log, run_index);
	AUTO_BUF text = buf_new(1024);
	struct model_event event = { .wall_ms = ingest_wall_ms(log->ingest),
				     .severity = severity,
				     .pod = log->model_pod,
				     .mr = mr };

	run_names_update(model);
	buf_appendf(&text, "%s: %s ", model->pods[log->model_pod].name, mr->name);
	if (run_has(mr->run.seed))
		buf_appendf(&text, "seed %.0f ", mr->run.seed);
	buf_append_str(&text, what);
	event.text = text.data;
	model_event_add(model, &event);
}

/* Kinds of events that a person should look at. */
static enum model_severity severity_of(enum run_event_kind kind)
{
	return kind == RUN_EVENT_EARLY_STOP || kind == RUN_EVENT_OTHER ? MODEL_INFO
	       : kind == RUN_EVENT_WARNING			       ? MODEL_WARNING
								       : MODEL_ALARM;
}

static void sink_event(struct ingest_log *log, unsigned int run_index,
		       const struct run_event *event)
{
	AUTO_TEXT at = run_has(event->step) ? xasprintf(" at step %.0f", event->step) : xstrdup("");
	AUTO_TEXT what = xasprintf("%s%s: %s", run_event_name(event->kind), at, event->text);

	if (is_news(log))
		tell_of_run(log, run_index, severity_of(event->kind), what);
}

/* It begins, or has another status than before: told when that is news. */
static void note_status(struct ingest_log *log, const struct run *run, bool news)
{
	/* Lines behind a run's end do not begin it again. */
	bool is_same = run->run_index < log->n_reported &&
		       (run->status == log->status ||
			(run->status == RUN_RUNNING && log->status == RUN_FINISHED));
	bool is_good = run->status == RUN_RUNNING || run->status == RUN_FINISHED;
	AUTO_TEXT what = NULL;

	log->status = run->status;
	log->n_reported = run->run_index + 1;
	if (is_same || !news)
		return;
	if (run->status == RUN_FINISHED && run_has(run->final_bpb))
		what = xasprintf("finished: %.6f BPB (%s)", run->final_bpb,
				 run->final_class != NULL ? run->final_class : "?");
	else
		what = xstrdup(run_status_name(run->status));
	tell_of_run(log, run->run_index, is_good ? MODEL_INFO : MODEL_ALARM, what);
}

static void update_model(struct ingest_log *log, const struct run *run, bool is_over)
{
	struct model *model = log->ingest->o.model;
	struct model_run *mr = model_run_of(log, run->run_index);

	model_run_update(model, mr, run);
	model_run_touch(model, mr, log->last_wall_ms, !is_over);
	mr->past &= is_over && tail_is_replay(log);
	if (!is_over)
		history_fetch_live(log->ingest, mr);
}

static void put_run(struct ingest_log *log, const struct run *run, bool is_live)
{
	const struct store_run_put how = { log->last_wall_ms, is_live };

	if (log->entry != NULL)
		store_run_put(log->ingest->store, log->entry, run, &how);
}

/* A run is over: the next one began in its log, or that ended. */
static void sink_run(struct ingest_log *log, const struct run *run)
{
	update_model(log, run, true);
	note_status(log, run, is_news(log));
	put_run(log, run, false);
	/* No run is under way until the next one starts. */
	log->status = RUN_RUNNING;
	run_release(&log->row);
}

/* at: a run of which the number counts. */
static void sink_one(struct ingest_log *log, struct outbox_item *told, struct run *at)
{
	bool taken = takes_run(log, told->run_index);

	at->run_index = told->run_index;
	switch (told->kind) {
	case OUTBOX_SAMPLE:
		if (taken)
			sink_sample(log, at, &told->sample);
		break;
	case OUTBOX_EVENT:
		if (taken)
			sink_event(log, told->run_index, &told->event);
		free(told->event.text);
		break;
	case OUTBOX_RUN:
		if (taken)
			sink_run(log, told->run);
		run_release(told->run);
		free(told->run);
		break;
	}
}

/* What the lines of the turn are. */
static void sink_lines(struct ingest_log *log)
{
	struct model *model = log->ingest->o.model;
	struct outbox *out = &log->out;
	/* Its end is shown already, or all of it soon. */
	bool is_behind = fetch_bytes_behind(log) > FAR_BEHIND_BYTES &&
			 (log->log->behind || tail_is_replay(log));

	for (size_t i = 0; i < out->n_classes; i++) {
		uint64_t line = out->first_line + i;
		enum line_class class = (enum line_class)out->classes[i];

		if (is_behind)
			logclass_add(&log->log->classes, line, class);
		else
			model_log_line(model, log->log, line, class);
	}
	if (out->parsed > log->parsed)
		model_log_read(model, log->log, out->parsed, log->last_wall_ms);
}

void outbox_release(struct outbox *out)
{
	free(out->v);
	free(out->classes);
	run_release(&out->now);
	run_release(&out->row);
	*out = (struct outbox){ 0 };
}

/* All of it is told; the memory of a large turn is not kept. */
static void empty(struct ingest *ingest, struct outbox *out)
{
	out->n = out->n_classes = 0;
	if (out->cap > KEEP_ITEMS || out->cap_classes > KEEP_ITEMS) {
		outbox_release(out);
		history_drop_points(ingest);
	}
	run_release(&out->now);
	out->has_run = false;
}

void sink_show_empty_row(struct ingest_log *log)
{
	struct model *model = log->ingest->o.model;
	size_t n = model->n_runs;
	bool grows = log->pod == NULL || log->parsed > log->news || log->fetched == 0;
	bool live = log->end == UINT64_MAX && grows;
	struct model_run *mr;

	if (log->n_runs > 0 || log->log == NULL ||
	    (!log->has_row && (!live || fetch_bytes_behind(log) > 0 || n >= INGEST_POD_RUNS)))
		return;
	mr = model_run_get(model, log->model_pod, log->name, sink_run_key(log->gen, 0));
	/* The database knows it already. */
	if (model->n_runs == n && !mr->blank)
		return;
	log->has_row = true;
	mr->log = log->log;
	model_run_blank(model, mr, log->out.n_lines,
			log->last_wall_ms != 0 ? log->last_wall_ms : ingest_wall_ms(log->ingest),
			live);
}

/* The offsets, and the last run as the reader has it now. */
static void move_on(struct ingest_log *log)
{
	struct outbox *out = &log->out;
	bool was_replay = tail_is_replay(log), news = is_news(log);

	log->ingest->untrimmed += out->parsed - log->parsed;
	log->parsed = out->parsed;
	if (log->stored < log->parsed)
		log->stored = log->parsed;
	/* While no run is under way there is no row to put: sink_run() has put the last one, and
	 * the next run may start after a long script. */
	log->row_at = log->parsed;
	if (out->has_run && takes_run(log, out->now.run_index)) {
		log->row_at = UINT64_MAX;
		run_release(&log->row);
		log->row = out->row;
		run_init(&out->row);
		if (!tail_is_replay(log))
			update_model(log, &out->now, false);
		note_status(log, &out->now, news);
	}
	sink_show_empty_row(log);
	tail_count_backlog(log);
	if (tail_is_replay(log) || log->entry == NULL)
		return;
	/* The offset is to be written even when no sample was. */
	store_log_advance(log->ingest->store, log->entry, log->parsed, out->n_lines);
	/* All was read again: the store knows no more than we do. */
	if (was_replay)
		store_log_trim(log->ingest->store, log->entry, log->n_runs);
}

void sink_apply_turn(struct ingest_log *log)
{
	struct outbox *out = &log->out;
	struct run at;

	if (out->parsed <= log->parsed && out->n == 0 && out->n_classes == 0)
		return;
	log->ingest->last_news_ms = ingest_now_ms(log->ingest);
	run_init(&at);
	for (size_t i = 0; i < out->n; i++)
		sink_one(log, &out->v[i], &at);
	run_release(&at);
	if (log->log != NULL)
		sink_lines(log);
	if (out->parsed > log->parsed)
		move_on(log);
	empty(log->ingest, out);
}

void sink_store_identity(struct ingest_log *log)
{
	const struct follow_file *ff = log->ff;
	struct store_log *entry = log->entry;
	struct log_identity identity = entry->identity;
	const char *copy = entry->copy;

	identity.sum = log->known;
	identity.ended = log->end != UINT64_MAX && log->reader == NULL;
	/* During a turn log->copy belongs to the worker thread. */
	if (log->turn == NULL && log->copy->lost != NULL)
		copy = NULL;
	else if (log->turn == NULL && log->copy->is_open)
		copy = log->copy->path;
	if (ff != NULL) {
		identity.path = ff->path;
		identity.real = ff->real;
		identity.dev = ff->dev;
		identity.inode = ff->ino;
		/* The follower's stamp covers everything that it sent; some of it may not be in the
		 * local copy yet. */
		identity.stamp = ff->offset == log->known.len ? ff->stamp : 0;
	}
	store_log_set_identity(log->ingest->store, entry, &identity, copy);
}

/*
 * While a log is read again the store knows more of its runs than we do, but
 * for one that it does not have: what waits of that needs its row beside it.
 */
static bool may_put(const struct ingest_log *log)
{
	return !tail_is_replay(log) || !store_run_has_row(log->entry, log->row.run_index);
}

void sink_store_run(struct ingest_log *log)
{
	sink_store_identity(log);
	if (log->n_runs == 0 || log->row_at == log->parsed || log->reader == NULL || !may_put(log))
		return;
	log->row_at = log->parsed;
	put_run(log, &log->row, log->status == RUN_RUNNING);
}

/* No more comes of its last run: a last line without its end counts too. */
static void end_run(struct ingest_log *log)
{
	if (log->reader == NULL || tail_is_replay(log))
		return;
	run_reader_finish(log->reader);
	sink_apply_turn(log);
	if (log->entry != NULL)
		log->slept_at = log->entry->lines + 1;
	if (log->entry != NULL && log->ingest->o.keep_view)
		for (unsigned int i = 0; i < log->n_runs; i++)
			history_run_ended(log->ingest, model_run_of(log, i));
	tail_free_reader(log);
}

void sink_check_end(struct ingest_log *log)
{
	bool is_over = log->status != RUN_RUNNING || log->row.status == RUN_FINISHED;
	/* It lay there as a whole: its own end says that it is over. */
	bool is_still = log->gone_ms != 0 || (log->entry == NULL && log->parsed <= log->news);

	if (log->reader == NULL || log->turn != NULL || log->n_runs == 0 || tail_is_replay(log) ||
	    log->parsed < log->fetched || !is_over ||
	    (!is_still && ingest_wall_ms(log->ingest) - log->last_wall_ms < INGEST_QUIET_MS))
		return;
	if (log->entry != NULL) {
		end_run(log);
	} else if (log->status == RUN_RUNNING) {
		/* Nobody else has its rows: it cannot be read again. */
		update_model(log, &log->row, true);
		note_status(log, &log->row, is_news(log));
	}
}

void sink_end_log(struct ingest_log *log)
{
	if (tail_is_replay(log) && log->entry != NULL && log->n_runs > 0)
		sink_store_run(log);
	end_run(log);
	sink_show_empty_row(log);
	if (log->entry != NULL)
		sink_store_identity(log);
}

void sink_set_gone(struct ingest_log *log, int64_t wall_ms)
{
	log->gone_ms = wall_ms;
	if (wall_ms != 0)
		sink_check_end(log);
	if (log->log != NULL)
		model_log_gone(log->ingest->o.model, log->log, wall_ms);
}

bool sink_has_cut_run(const struct ingest_log *log)
{
	return log->log != NULL && model_log_cut_run(log->ingest->o.model, log->log) != NULL;
}
