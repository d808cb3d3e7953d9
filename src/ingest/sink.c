/* SPDX-License-Identifier: MIT */
/* Pass the readers' results to model and store.  A reader runs on a worker thread and puts its
 * results into the log's outbox; after the turn they are applied here, on the event loop. */
#include "ingest/ingest_priv.h"
#include "model/run_names.h"

/* A log with more unparsed bytes than this shows its end first, see fetch_on_preview. */
#define FAR_BEHIND_BYTES (1U << 20)
/* A larger outbox is freed after the turn. */
#define KEEP_ITEMS 64

enum outbox_kind { OUTBOX_SAMPLE, OUTBOX_EVENT, OUTBOX_RUN };

struct outbox_item {
	enum outbox_kind kind;
	unsigned int run_index;
	union {
		struct sample sample;
		struct run_event event; /* text owned */
		struct run *run;	/* owned; a run that ended */
	};
};

/* ---- on a worker thread */

static struct outbox_item *add_item(struct ingest_log *log, enum outbox_kind kind,
				    const struct run *run)
{
	struct outbox *out = &log->out;
	struct outbox_item *item = xplace(out->v, out->n, out->cap);

	item->kind = kind;
	item->run_index = run->run_index;
	return item;
}

static void keep_sample(void *user, const struct run *run, const struct sample *sample)
{
	add_item(user, OUTBOX_SAMPLE, run)->sample = *sample;
}

static void keep_event(void *user, const struct run *run, const struct run_event *event)
{
	struct outbox_item *item = add_item(user, OUTBOX_EVENT, run);

	item->event = *event;
	item->event.text = xstrdup(event->text);
}

static void keep_run(void *user, const struct run *run)
{
	struct outbox_item *item = add_item(user, OUTBOX_RUN, run);

	item->run = xmalloc(sizeof(*item->run));
	run_copy(item->run, run);
}

static void keep_line(void *user, uint64_t line, UNUSED struct str text, enum line_class class)
{
	struct ingest_log *log = user;
	struct outbox *out = &log->out;

	if (out->n_classes == 0)
		out->first_line = line;
	xpush(out->classes, out->n_classes, out->cap_classes, (unsigned char)class);
}

const struct run_reader_cb sink_callbacks[2] = {
	{ keep_sample, keep_event, keep_run, .on_line = NULL },
	{ keep_sample, keep_event, keep_run, .on_line = keep_line },
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

	struct model_log *old = before != NULL ? model_log_find(model, model_pod, before) : NULL;
	if (old != NULL)
		old->next = log;
	return log;
}

static struct model_run *model_run_of(struct ingest_log *log, unsigned int run_index)
{
	struct ingest *ingest = log->ingest;

	if (log->mr == NULL || log->mr->run.run_index != run_index)
		log->mr = model_run_get(ingest->o.model, log->model_pod, log->name,
					sink_run_key(log->gen, run_index));
	if (log->entry != NULL)
		log->mr->run_id = store_run_id(ingest->store, log->entry, run_index);
	log->mr->log = log->log;
	return log->mr;
}

/* Count the run; false, with one message, if the log or the pod has too many. */
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
	if (!runs->is_limit_reported)
		ingest_notify(log->ingest, log->pod, MODEL_WARNING,
			      "%s: only the first %d runs of a log and %d runs of a pod are read",
			      log->name, INGEST_LOG_RUNS, INGEST_POD_RUNS);
	runs->is_limit_reported = true;
	return false;
}

/* Was this part of the log written while we followed it, and is it parsed for the first time? */
static bool is_news(const struct ingest_log *log)
{
	return log->parsed >= log->news && log->parsed >= log->stored &&
	       (log->parsed > log->news || log->out.parsed > log->news);
}

static void apply_sample(struct ingest_log *log, unsigned int run_index,
			 const struct sample *sample)
{
	struct ingest *ingest = log->ingest;
	struct sample stamped = *sample;

	if (log->entry != NULL)
		store_sample_add(ingest->store, log->entry, run_index, sample);
	/* The model has the samples from before the reader was freed. */
	if (!ingest->o.keep_view || sample->line <= log->slept_at)
		return;
	/* When older lines were written is unknown. */
	if (stamped.wall_ms == 0 && is_news(log))
		stamped.wall_ms = ingest_wall_ms(ingest);
	history_sample(ingest, model_run_of(log, run_index), &stamped);
}

static void announce(struct ingest_log *log, unsigned int run_index, enum model_severity severity,
		     const char *what)
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

/* Remember the run's status; announce it if the run started or the status changed. */
static void set_status(struct ingest_log *log, const struct run *run, bool news)
{
	/* Lines after the end of a run do not start it again. */
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
		what = xstrdup(run_status_names[run->status]);
	announce(log, run->run_index, is_good ? MODEL_INFO : MODEL_ALARM, what);
}

static void update_model(struct ingest_log *log, const struct run *run, bool has_ended)
{
	struct model *model = log->ingest->o.model;
	struct model_run *mr = model_run_of(log, run->run_index);

	model_run_update(model, mr, run);
	model_run_touch(model, mr, log->last_wall_ms, !has_ended);
	mr->past &= has_ended && tail_is_replay(log);
	if (!has_ended)
		history_fetch_live(log->ingest, mr);
}

static void put_run(struct ingest_log *log, const struct run *run, bool is_live)
{
	const struct store_run_put how = { log->last_wall_ms, is_live };

	if (log->entry != NULL)
		store_run_put(log->ingest->store, log->entry, run, &how);
}

static void apply_event(struct ingest_log *log, unsigned int run_index,
			const struct run_event *event)
{
	AUTO_TEXT at = run_has(event->step) ? xasprintf(" at step %.0f", event->step) : xstrdup("");
	AUTO_TEXT what = xasprintf("%s%s: %s", run_event_names[event->kind], at, event->text);
	bool is_harmless = event->kind == RUN_EVENT_EARLY_STOP || event->kind == RUN_EVENT_OTHER;

	announce(log, run_index,
		 is_harmless			    ? MODEL_INFO
		 : event->kind == RUN_EVENT_WARNING ? MODEL_WARNING
						    : MODEL_ALARM,
		 what);
}

static void apply_item(struct ingest_log *log, struct outbox_item *item)
{
	bool is_counted = takes_run(log, item->run_index);

	switch (item->kind) {
	case OUTBOX_SAMPLE:
		if (is_counted)
			apply_sample(log, item->run_index, &item->sample);
		break;
	case OUTBOX_EVENT:
		if (is_counted && is_news(log))
			apply_event(log, item->run_index, &item->event);
		free(item->event.text);
		break;
	case OUTBOX_RUN: /* the run ended: the next one started, or */
		if (is_counted) {
			update_model(log, item->run, true);
			set_status(log, item->run, is_news(log));
			put_run(log, item->run, false);
			/* No run is in progress until the next one starts. */
			log->status = RUN_RUNNING;
			run_release(&log->row);
		}
		run_release(item->run);
		free(item->run);
		break;
	}
}

/* Give the classes of the turn's lines to the log view. */
static void apply_lines(struct ingest_log *log)
{
	struct model *model = log->ingest->o.model;
	struct outbox *out = &log->out;
	/* Do not show old lines one by one if the view shows the end of the log already
	 * (is_preview), or if a replay will soon reach it. */
	uint64_t behind = fetch_bytes_behind(log) + log->parsed - out->parsed;
	bool is_behind = fetch_bytes_behind(log) > FAR_BEHIND_BYTES &&
			 (log->log->is_preview || tail_is_replay(log));

	log->log->behind_bytes = behind > FAR_BEHIND_BYTES ? behind : 0;
	for (size_t i = 0; i < out->n_classes; i++) {
		uint64_t line = out->first_line + i;
		enum line_class class = (enum line_class)out->classes[i];

		if (is_behind)
			logclass_add(&log->log->classes, line, class);
		else
			model_log_add_line(model, log->log, line, class);
	}
	if (out->parsed > log->parsed)
		model_log_set_read(model, log->log, out->parsed, log->last_wall_ms);
}

void outbox_release(struct outbox *out)
{
	free(out->v);
	free(out->classes);
	run_release(&out->now);
	run_release(&out->row);
	*out = (struct outbox){ 0 };
}

void sink_show_empty_row(struct ingest_log *log)
{
	struct model *model = log->ingest->o.model;
	size_t n = model->n_runs;
	bool grows = log->pod == NULL || log->parsed > log->news || log->fetched == 0;
	bool live = log->end == UINT64_MAX && grows;
	bool is_over = log->end != UINT64_MAX && (!log->is_parsed || log->parsed >= log->end);

	if (log->n_runs > 0 || log->log == NULL ||
	    (!log->has_row && !(log->log->is_named && is_over) &&
	     (!live || fetch_bytes_behind(log) > 0 || n >= INGEST_POD_RUNS)))
		return;
	struct model_run *mr =
		model_run_get(model, log->model_pod, log->name, sink_run_key(log->gen, 0));
	/* The run exists: the database has it. */
	if (model->n_runs == n && !mr->blank)
		return;
	log->has_row = true;
	mr->log = log->log;
	model_run_set_blank(
		model, mr, log->out.n_lines,
		log->last_wall_ms != 0 ? log->last_wall_ms : ingest_wall_ms(log->ingest), live);
}

/* Advance the offsets, and take over the run in progress as the reader has it. */
static void advance(struct ingest_log *log)
{
	struct outbox *out = &log->out;
	bool was_replay = tail_is_replay(log), news = is_news(log);

	log->ingest->untrimmed += out->parsed - log->parsed;
	log->parsed = out->parsed;
	if (log->stored < log->parsed)
		log->stored = log->parsed;
	/* Without a run in progress, apply_item() has stored the last row. */
	log->row_at = log->parsed;
	if (out->has_run && takes_run(log, out->now.run_index)) {
		log->row_at = UINT64_MAX;
		run_release(&log->row);
		log->row = out->row;
		run_init(&out->row);
		if (!tail_is_replay(log))
			update_model(log, &out->now, false);
		set_status(log, &out->now, news);
	}
	sink_show_empty_row(log);
	tail_count_backlog(log);
	if (tail_is_replay(log) || log->entry == NULL)
		return;
	/* Store the offset even without a sample. */
	store_log_advance(log->ingest->store, log->entry, log->parsed, out->n_lines);
	/* The log was read again from the start: delete the runs that it no longer contains. */
	if (was_replay)
		store_log_trim(log->ingest->store, log->entry, log->n_runs);
}

void sink_apply_turn(struct ingest_log *log)
{
	struct outbox *out = &log->out;

	if (out->parsed <= log->parsed && out->n == 0 && out->n_classes == 0)
		return;
	log->ingest->last_news_ms = ingest_now_ms(log->ingest);
	for (size_t i = 0; i < out->n; i++)
		apply_item(log, &out->v[i]);
	if (log->log != NULL)
		apply_lines(log);
	if (out->parsed > log->parsed)
		advance(log);
	out->n = out->n_classes = 0;
	if (out->cap > KEEP_ITEMS || out->cap_classes > KEEP_ITEMS) {
		outbox_release(out);
		history_drop_points(log->ingest);
	}
	run_release(&out->now);
	out->has_run = false;
}

void sink_store_identity(struct ingest_log *log)
{
	const struct follow_file *ff = log->ff;
	struct store_log *entry = log->entry;
	struct log_identity identity = entry->identity;
	const char *copy = entry->copy;

	identity.sum = log->known;
	identity.ended = log->end != UINT64_MAX && !log->is_parsed;
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
		/* The follower's stamp covers all that it sent; the local copy may lack some. */
		identity.stamp = ff->offset == log->known.len ? ff->stamp : 0;
	}
	store_log_set_identity(log->ingest->store, entry, &identity, copy);
}

void sink_store_run(struct ingest_log *log)
{
	sink_store_identity(log);
	if (log->n_runs == 0 || log->row_at == log->parsed || !log->is_parsed)
		return;
	/* While a log is read again, its rows in the database are newer than ours.  Only a run that
	 * has no row needs one, for the samples that are about to be written. */
	if (tail_is_replay(log) && store_run_has_row(log->entry, log->row.run_index))
		return;
	log->row_at = log->parsed;
	put_run(log, &log->row, log->status == RUN_RUNNING);
}

/* End the last run of the log; a last line without a newline counts too. */
static void end_run(struct ingest_log *log)
{
	if (!log->is_parsed || tail_is_replay(log))
		return;
	if (log->reader != NULL)
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
	bool has_ended = log->status != RUN_RUNNING || log->row.status == RUN_FINISHED;
	/* A file that was complete when we opened it has ended with its last line. */
	bool is_still = log->gone_ms != 0 || (log->entry == NULL && log->parsed <= log->news);

	if (!log->is_parsed || log->turn != NULL || log->n_runs == 0 || tail_is_replay(log) ||
	    log->parsed < log->fetched || !has_ended ||
	    (!is_still && ingest_wall_ms(log->ingest) - log->last_wall_ms < INGEST_QUIET_MS))
		return;
	if (log->entry != NULL) {
		end_run(log);
	} else if (log->status == RUN_RUNNING) {
		/* Its points are only in the model: keep the reader. */
		update_model(log, &log->row, true);
		set_status(log, &log->row, is_news(log));
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
		model_log_set_gone(log->ingest->o.model, log->log, wall_ms);
}

bool sink_has_cut_run(const struct ingest_log *log)
{
	return log->log != NULL && model_log_cut_run(log->ingest->o.model, log->log) != NULL;
}
