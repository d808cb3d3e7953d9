/* SPDX-License-Identifier: MIT */
/*
 * The logs of one pod from its follower to their spools.  Following goes on
 * behind what an earlier life had of each; nothing here knows what a line is.
 */
#include <fnmatch.h>

#include "base/log.h"
#include "ingest/ingest_priv.h"

/* Bytes of all pods that wait for their spools. */
#define ALL_WAITING_BYTES (4 * INGEST_WAITING_BYTES)
#define BUF_KEEP_BYTES	  2048 /* a larger one is not kept while empty */
/* So many spools that were removed, or logs that are gone, are named. */
#define NAME_LOST 3
#define NAME_GONE 3
/* The disk is full: try again after this. */
#define DISK_RETRY_MS 2000
/* The first screen takes what it needs first; look again after this. */
#define SHOW_MS 5

/* ---- waiting bytes */

static bool is_full(const struct ingest_pod *pod)
{
	return pod->waiting >= INGEST_WAITING_BYTES || pod->ingest->waiting >= ALL_WAITING_BYTES;
}

static void resume(struct ingest_pod *pod)
{
	if (pod->follow != NULL)
		follow_resume(pod->follow);
}

static void count_waiting(struct ingest_log *log, size_t plus, size_t minus)
{
	struct ingest_pod *pod = log->pod;

	pod->waiting += plus - minus;
	pod->ingest->waiting += plus - minus;
	if (minus == 0 || pod->waiting > INGEST_WAITING_BYTES / 2)
		return;
	if (pod->ingest->waiting + minus < ALL_WAITING_BYTES)
		resume(pod);
	else
		list_each (struct ingest_pod, other, &pod->ingest->pods, link)
			resume(other);
}

/* While more waits, the room of what went on is wanted for the next. */
static void drop_bytes(struct ingest_log *log, struct buf *buf, size_t n)
{
	count_waiting(log, 0, n);
	buf_consume(buf, n);
	if (log->inbox.len + log->sending.len > 0)
		return;
	if (log->inbox.room > BUF_KEEP_BYTES)
		buf_release(&log->inbox);
	if (log->sending.room > BUF_KEEP_BYTES)
		buf_release(&log->sending);
}

static size_t fetch_on_bytes(void *user, struct follow_file *ff, struct str data)
{
	struct ingest_pod *pod = user;
	struct ingest_log *log = ff->user;
	size_t room = is_full(pod) ? 0 : INGEST_WAITING_BYTES - pod->waiting;

	if (data.len > room)
		data.len = room;
	if (data.len == 0)
		return 0;
	buf_append(&log->inbox, data.p, data.len);
	count_waiting(log, data.len, 0);
	pod->ingest->last_news_ms = ingest_now_ms(pod->ingest);
	log->last_wall_ms = ingest_wall_ms(pod->ingest);
	pod_pace_bytes(&log->pace, pod->ingest->last_news_ms);
	tail_queue(log);
	return data.len;
}

static struct cksum fetch_sum(void *user, const struct follow_file *ff)
{
	const struct ingest_log *log = ff->user;
	struct cksum sum = log->sum;

	(void)user;
	cksum_add(&sum, log->sending.data, log->sending.len);
	cksum_add(&sum, log->inbox.data, log->inbox.len);
	return sum.len >= log->known.len ? sum : log->known;
}

/* ---- spools */

/* Less of it is here than was: all that is missing comes again. */
static void fetch_again(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;

	if (pod->follow == NULL)
		return;
	drop_bytes(log, &log->sending, log->sending.len);
	drop_bytes(log, &log->inbox, log->inbox.len);
	ingest_notify(pod->ingest, pod, MODEL_WARNING,
		      "%s: local copy of %s is not all here any more: it is "
		      "fetched again from the pod",
		      pod->name, log->ff->path);
	follow_rewind(pod->follow, log->ff, log->fetched);
}

static void report_lost_copy(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;

	if (pod->n_lost++ < NAME_LOST)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: local copy of %s %s; still following, will "
			      "fetch it again at the next start",
			      pod->name, log->ff != NULL ? log->ff->path : log->name,
			      log->copy->lost);
	else if (pod->n_lost == NAME_LOST + 1)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: local copies of more of its logs were lost, "
			      "which are not named one by one",
			      pod->name);
	if (log->log != NULL)
		model_log_file(log->log, NULL);
}

/* Its spool cannot take bytes: say so once, and go on later. */
static void pause_copy(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;

	if (!pod->is_disk_full)
		ingest_notify(pod->ingest, pod, MODEL_ALARM, "%s: reading is paused: %s", pod->name,
			      log->out.err.text);
	pod->is_disk_full = true;
	log->retry_ms = ingest_now_ms(pod->ingest) + DISK_RETRY_MS;
	if (pod->follow != NULL)
		loop_timer_start(pod->timer, DISK_RETRY_MS, 0);
}

static void report_disk_recovered(struct ingest_pod *pod)
{
	if (pod->is_disk_full)
		ingest_notify(pod->ingest, pod, MODEL_INFO, "%s: reading goes on", pod->name);
	pod->is_disk_full = false;
}

static struct log_copy *new_copy(const struct ingest_pod *pod, const char *name, unsigned int gen)
{
	return log_copy_new(pod->ingest->copies, pod->name, str_from(name), gen);
}

void fetch_replace_lost_copy(struct ingest_log *log)
{
	if (log->copy->lost == NULL)
		return;
	log_copy_free(log->copy);
	log->copy = new_copy(log->pod, log->name, log->gen);
	log->was_lost = NULL;
	log->sum = (struct cksum){ 0, 0 };
	log->fetched = 0;
	if (log->ff != NULL)
		fetch_again(log);
}

static void begin_following(struct ingest_pod *pod);

void fetch_after_turn(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;
	struct log_copy *copy = log->copy;
	bool was_short = log->known.len < log->out.had;
	bool has_shrunk = copy->sum.len < log->out.had;

	if (!copy->is_open) {
		pause_copy(log);
		return;
	}
	log->sum = copy->sum;
	log->fetched = log->sum.len;
	if (log->known.len < log->sum.len)
		log->known = log->sum;
	drop_bytes(log, &log->sending, log->out.appended);
	if (copy->lost != NULL && log->was_lost == NULL)
		report_lost_copy(log);
	log->was_lost = copy->lost;
	if (copy->lost != NULL && log->parsed < log->fetched && log->out.err.code != ERR_NONE)
		fetch_replace_lost_copy(log);
	else if (has_shrunk && log->ff != NULL)
		fetch_again(log);
	else if (log->out.err.code != ERR_NONE)
		pause_copy(log);
	else if (log->out.appended > 0)
		report_disk_recovered(pod);
	if (was_short && --pod->n_opening == 0 && pod->follow != NULL)
		begin_following(pod);
	if (log->reader == NULL && log->fetched > log->stored)
		tail_start_reader(log);
}

/* ---- logs that go away, and come back */

/* The end of path that has as many folders as the pattern. */
static const char *cut_to_depth(const char *pattern, const char *path)
{
	const char *at = path + strlen(path);
	size_t n = 0;

	for (; *pattern != '\0'; pattern++)
		n += *pattern == '/';
	while (at > path && n > 0)
		n -= *--at == '/';
	return at;
}

/* Whether the configuration (of now) requests for a log there. */
static bool is_wanted(const struct ingest_pod *pod, const char *path)
{
	const struct conf_strings *logs = &pod->conf->logs;

	for (size_t i = 0; i < logs->n; i++) {
		const char *pattern = logs->v[i], *end = path;

		/* Only the pod knows its home. */
		if (pattern[0] == '~') {
			pattern += strcspn(pattern, "/");
			end = cut_to_depth(pattern, path);
		}
		if (fnmatch(pattern, end, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

static const char *path_of(const struct ingest_log *log)
{
	return log->ff != NULL	    ? log->ff->path
	       : log->entry != NULL ? log->entry->identity.path
				    : log->name;
}

/* It was rotated, cut or written anew: another one is followed there. */
static bool is_replaced(const struct ingest_log *log)
{
	list_each (const struct ingest_log, other, &log->pod->logs, link) {
		if (other != log && other->ff != NULL && follow_is_live(other->ff) &&
		    !other->ff->away &&
		    (strcmp(other->ff->path, path_of(log)) == 0 ||
		     (strcmp(other->name, log->name) == 0 && other->gen > log->gen)))
			return true;
	}
	return false;
}

/* Nothing names it for a while: is it gone?  Counts those that are said. */
static void check_gone(struct ingest_log *log, size_t *n_said)
{
	struct ingest_pod *pod = log->pod;
	int64_t now_ms = ingest_now_ms(pod->ingest);
	bool writes = log->end == UINT64_MAX && now_ms - log->pace.last_ms < INGEST_GONE_MS;

	if (log->away_ms == 0 || now_ms - log->away_ms < INGEST_GONE_MS || writes)
		return;
	log->away_ms = 0;
	if (!is_wanted(pod, path_of(log)) || is_replaced(log))
		return;
	sink_set_gone(log, ingest_wall_ms(pod->ingest));
	if (!sink_has_cut_run(log) && (*n_said)++ < NAME_GONE)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: %s is gone from the pod; what was read of it "
			      "stays",
			      pod->name, path_of(log));
}

/* It is there: one that was gone goes on, or another one is there. */
static void report_back(struct ingest_log *gone, const char *path, const char *how)
{
	struct ingest_pod *pod = gone->pod;

	if (gone->gone_ms == 0)
		return;
	ingest_notify(pod->ingest, pod, MODEL_INFO, "%s: %s is there again%s", pod->name, path,
		      how);
	sink_set_gone(gone, 0);
}

static void note_written_anew(struct ingest_pod *pod, const struct follow_file *ff)
{
	list_each (struct ingest_log, log, &pod->logs, link) {
		if (strcmp(path_of(log), ff->path) == 0 || strcmp(log->name, ff->name) == 0)
			report_back(log, ff->path, ", written anew");
	}
}

/* ---- what the follower tells */

static void begin_log(struct ingest_pod *pod, struct follow_file *ff)
{
	struct follow_status status;

	note_written_anew(pod, ff);
	struct ingest_log *log =
		ingest_log_new(pod->ingest, pod, pod->model_pod, ff->name, ff->generation);
	log->ff = ff;
	ff->user = log;
	/* What was there before we looked is no news. */
	follow_get_status(pod->follow, &status);
	log->news = status.scanned ? 0 : ff->size;
	log->copy = new_copy(pod, ff->name, ff->generation);
	if (log->log != NULL)
		model_log_file(log->log, log->copy->path);
	tail_start_reader(log);
}

static void fetch_on_file(void *user, struct follow_file *ff, enum follow_event event)
{
	static const char *const words[] = { "begins", "resumes", "renamed",  "away",
					     "rests",  "ends",	  "forgotten" };
	struct ingest_pod *pod = user;
	struct ingest_log *log = ff->user;
	int64_t now_ms = ingest_now_ms(pod->ingest);

	log_debug("ingest", "%s: %s %s, generation %u of %s, at %llu", pod->name, ff->path,
		  words[event], ff->generation, ff->name, (unsigned long long)ff->offset);
	/* Each file rests once, in its turn: they take minutes. */
	if (event != FOLLOW_RESTS)
		pod->ingest->last_news_ms = now_ms;
	switch (event) {
	case FOLLOW_BEGINS:
		begin_log(pod, ff);
		log = ff->user;
		break;
	case FOLLOW_RESUMES:
	case FOLLOW_RENAMED:
		/* Its spool is read-only, or was pruned. */
		if (log->is_closed) {
			tail_finish_turn(log);
			log->copy->is_open = false;
		}
		log->is_closed = false;
		log->end = UINT64_MAX;
		log->away_ms = event == FOLLOW_RESUMES && ff->away ? now_ms : 0;
		report_back(log, ff->path, " and goes on");
		break;
	case FOLLOW_AWAY:
		log->away_ms = now_ms;
		break;
	case FOLLOW_RESTS:
		break;
	case FOLLOW_ENDS:
		log->end = ff->offset;
		/* At the next tick: the next generation may follow. */
		if (!ff->away)
			log->away_ms = now_ms - INGEST_GONE_MS;
		break;
	case FOLLOW_FORGOTTEN:
		sink_store_identity(log);
		log->ff = NULL;
		return;
	}
	sink_store_identity(log);
}

/*
 * The end of a log that is far behind, for the eye: its whole lines go to the
 * view alone.  All of it comes again in fetch_on_bytes.
 */
static void fetch_on_preview(void *user, struct follow_file *ff, uint64_t offset, struct str data)
{
	struct ingest_pod *pod = user;
	struct ingest_log *log = ff->user;
	struct str line;
	const char *end;

	if (log->log == NULL || data.len == 0)
		return;
	bool cut = offset != log->ahead_end;
	while ((end = memchr(data.p, '\n', data.len)) != NULL) {
		line = str_between(data.p, end + 1);
		offset += line.len;
		data = str_skip(data, line.len);
		if (!cut)
			model_log_ahead(pod->ingest->o.model, log->log, line);
		cut = false;
	}
	log->ahead_end = data.len == 0 ? offset : 0;
}

static void fetch_on_trouble(void *user, struct str path, int error)
{
	struct ingest_pod *pod = user;

	ingest_notify(pod->ingest, pod, MODEL_WARNING, "%s: cannot read %.*s: %s", pod->name,
		      (int)path.len, path.p, strerror(error));
}

static void fetch_on_state(void *user, const struct follow_status *status)
{
	struct ingest_pod *pod = user;

	pod->is_settled |= status->scanned;
	pod_update_state(pod);
}

uint64_t fetch_bytes_behind(const struct ingest_log *log)
{
	uint64_t size =
		log->ff != NULL && log->ff->size > log->fetched ? log->ff->size : log->fetched;

	return size - log->parsed;
}

bool fetch_is_behind(const struct ingest_pod *pod)
{
	list_each (const struct ingest_log, log, &pod->logs, link)
		if (log->ff != NULL && follow_is_live(log->ff) && log->ff->size > log->ff->offset)
			return true;
	return false;
}

/* ---- begin and end */

/*
 * Its last run had finished, or nothing came of it for a day, and all that is
 * here of it is in the database: it is read again when bytes come.
 */
static bool may_sleep(const struct ingest_log *log)
{
	const struct store_log *entry = log->entry;
	int64_t silent_ms = ingest_wall_ms(log->ingest) - entry->last_wall_ms;

	return log->fetched == log->stored && entry->is_whole && entry->done_lines > 0 &&
	       silent_ms >= (entry->is_over ? INGEST_QUIET_MS : INGEST_DEAD_MS);
}

/* A log that an earlier life knew: what is here of it? */
static void load_log(struct ingest_pod *pod, const struct store_log *entry)
{
	struct ingest_log *log =
		ingest_log_new(pod->ingest, pod, pod->model_pod, entry->name, entry->gen);

	log->copy = new_copy(pod, entry->name, entry->gen);
	log->known = entry->identity.sum;
	log->stored = log->news = entry->offset;
	log->row_at = 0;
	log->last_wall_ms = entry->last_wall_ms;
	log->is_closed = entry->identity.ended;
	if (entry->identity.ended) {
		log->end = log->fetched = entry->identity.sum.len;
		return;
	}
	log->fetched = log_copy_peek(log->copy);
	if (log->fetched == log->known.len)
		log->sum = log->known;
	if (log->log != NULL)
		model_log_file(log->log, log->copy->path);
	if (log->fetched > log->known.len)
		pod->n_opening++;
	if (may_sleep(log))
		tail_queue(log);
	else
		tail_start_reader(log);
}

/*
 * Tell the follower what is here of each.  One of an older version, of which
 * neither bytes nor sum are here, cannot be known again.
 */
static void pass_known_logs(struct ingest_pod *pod)
{
	list_each_safe (struct ingest_log, log, &pod->logs, link) {
		struct follow_known known = {
			.identity = log->entry->identity,
			.name = log->name,
			.generation = log->gen,
			.offset = log->fetched,
			.user = log,
		};

		known.identity.sum = log->known;
		known.identity.ended =
			log->end != UINT64_MAX || (log->known.len == 0 && log->stored > 0);
		log->ff = follow_know(pod->follow, &known);
	}
}

static void begin_following(struct ingest_pod *pod)
{
	const struct conf_strings *logs = &pod->conf->logs;

	if (!pod->is_started) {
		pod->is_started = true;
		pass_known_logs(pod);
	}
	follow_start(pod->follow, (const char *const *)logs->v, logs->n);
}

/* Not in ingest_new: the first screen does not wait for the spools. */
static void load_logs(struct ingest_pod *pod)
{
	const struct store *store = pod->ingest->store;
	size_t n = store_log_count(store), n_ended = 0;

	/* Of those that ended, the last ones may come back. */
	for (size_t i = n; i-- > 0;) {
		const struct store_log *entry = store_log_at(store, i);

		if (strcmp(entry->pod, pod->name) == 0 &&
		    (!entry->identity.ended || n_ended++ < FOLLOW_ENDED_MAX))
			load_log(pod, entry);
	}
	if (pod->n_opening == 0)
		begin_following(pod);
}

static void fetch_on_timer(void *user)
{
	struct ingest_pod *pod = user;

	if (pod->is_loaded)
		list_each (struct ingest_log, log, &pod->logs, link)
			tail_queue(log);
	else if (history_is_showing(pod->ingest))
		loop_timer_start(pod->timer, SHOW_MS, 0);
	else
		pod->is_loaded = true, load_logs(pod);
}

void fetch_start(struct ingest_pod *pod)
{
	const struct follow_options options = {
		.loop = pod->ingest->o.loop,
		.transport = fleet_transport(pod->fleet->fleet),
		.pod = pod->index,
		.cb = { fetch_on_file, fetch_on_bytes, fetch_sum, fetch_on_preview,
			fetch_on_trouble, fetch_on_state },
		.user = pod,
	};

	pod->follow = follow_new(&options);
	pod->timer = loop_timer_new(pod->ingest->o.loop, fetch_on_timer, pod);
	loop_timer_start(pod->timer, 0, 0);
}

void fetch_stop(struct ingest_pod *pod)
{
	struct follow *follow = pod->follow;

	if (follow == NULL)
		return;
	pod->follow = NULL;
	list_each (struct ingest_log, log, &pod->logs, link)
		tail_read_rest(log);
	follow_free(follow);
	loop_timer_close(pod->timer);
	list_each_safe (struct ingest_log, log, &pod->logs, link) {
		sink_end_log(log);
		ingest_log_free(log);
	}
}

void fetch_set_patterns(struct ingest_pod *pod)
{
	if (pod->follow != NULL && pod->is_started)
		begin_following(pod);
}

void fetch_set_quiet(struct ingest_pod *pod)
{
	if (pod->follow == NULL)
		return;
	fetch_set_patterns(pod);
	follow_set_quiet(pod->follow, pod->is_paused);
}

/* Nothing more comes, and all that came is stored. */
static bool is_over(const struct ingest_log *log)
{
	return log->end != UINT64_MAX && log->stored >= log->end && log->turn == NULL &&
	       log->inbox.len + log->sending.len == 0 &&
	       (log->reader == NULL || log->parsed >= log->fetched);
}

/* Store the result of a log that is over, and let its spool be pruned. */
static void close_log(struct ingest_log *log)
{
	if (!is_over(log) || (log->reader == NULL && log->is_closed))
		return;
	sink_end_log(log);
	log_copy_end(log->copy);
	log->is_closed = true;
}

void fetch_flush(struct ingest_pod *pod)
{
	list_each (struct ingest_log, log, &pod->logs, link) {
		/* A log that has ended is not read again after a restart: its result is committed
		 * together with its end. */
		close_log(log);
		sink_store_run(log);
	}
}

void fetch_check_logs(struct ingest_pod *pod)
{
	size_t n_said = 0;

	list_each_safe (struct ingest_log, log, &pod->logs, link) {
		sink_check_end(log);
		check_gone(log, &n_said);
		close_log(log);
		if (log->ff == NULL && is_over(log))
			ingest_log_free(log);
	}
	if (n_said > NAME_GONE)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: more logs are gone from the pod: %zu", pod->name,
			      n_said - NAME_GONE);
}
