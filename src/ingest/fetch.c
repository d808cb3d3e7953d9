/* SPDX-License-Identifier: MIT */
/* Pass bytes from the follower of a pod to the local copies of its logs. Following continues after
 * the bytes that are in the local copies already. */
#include <fnmatch.h>
#include <sys/param.h>

#include "base/log.h"
#include "ingest/ingest_priv.h"

/* Bytes of all pods that may wait to be appended to local copies. */
#define ALL_WAITING_BYTES (4 * INGEST_WAITING_BYTES)
#define BUF_KEEP_BYTES	  2048 /* an empty buffer with more room is freed */
/* This many lost copies, and logs that are gone, are named one by one. */
#define NAME_LOST 3
#define NAME_GONE 3
/* When the disk is full, retry after this. */
#define DISK_RETRY_MS 2000
/* Following starts once the series of the first screen are loaded; check for that this often. */
#define SHOW_MS 5

/* ---- waiting bytes */

static void count_waiting(struct ingest_log *log, size_t plus, size_t minus)
{
	struct ingest_pod *pod = log->pod;

	pod->waiting += plus - minus;
	pod->ingest->waiting += plus - minus;
	if (minus == 0 || pod->waiting > INGEST_WAITING_BYTES / 2)
		return;
	/* Other pods may have waited because of the limit for all pods. */
	bool were_full = pod->ingest->waiting + minus >= ALL_WAITING_BYTES;
	list_each (struct ingest_pod, other, &pod->ingest->pods, link)
		if ((other == pod || were_full) && other->follow != NULL)
			follow_resume(other->follow);
}

static void swap_bufs(struct buf *a, struct buf *b)
{
	struct buf c = *a;

	*a = *b;
	*b = c;
}

/* Take the memory from an empty buffer, so that other logs can have it. The largest buffer is kept
 * as a spare one, because getting new pages takes longer than filling them. */
static void free_room(struct ingest *ingest, struct buf *buf)
{
	if (buf->room <= BUF_KEEP_BYTES)
		return;
	if (ingest->spare.room < buf->room)
		swap_bufs(&ingest->spare, buf);
	buf_release(buf);
}

static void drop_bytes(struct ingest_log *log, struct buf *buf, size_t n)
{
	count_waiting(log, 0, n);
	buf_consume(buf, n);
	if (log->inbox.len + log->sending.len > 0)
		return;
	free_room(log->ingest, &log->inbox);
	free_room(log->ingest, &log->sending);
}

static size_t fetch_on_bytes(void *user, struct follow_file *ff, struct str data)
{
	struct ingest_pod *pod = user;
	struct ingest_log *log = ff->user;
	bool is_full =
		pod->waiting >= INGEST_WAITING_BYTES || pod->ingest->waiting >= ALL_WAITING_BYTES;
	size_t room = is_full ? 0 : INGEST_WAITING_BYTES - pod->waiting;

	data.len = MIN(data.len, room);
	if (data.len == 0)
		return 0;
	if (log->inbox.room == 0 && data.len > BUF_KEEP_BYTES)
		swap_bufs(&log->inbox, &pod->ingest->spare);
	buf_append(&log->inbox, data.p, data.len);
	count_waiting(log, data.len, 0);
	pod->ingest->last_news_ms = ingest_now_ms(pod->ingest);
	log->last_wall_ms = ingest_wall_ms(pod->ingest);
	pod_pace_bytes(&log->pace, pod->ingest->last_news_ms);
	tail_queue(log);
	return data.len;
}

static struct cksum fetch_sum(UNUSED void *user, const struct follow_file *ff)
{
	const struct ingest_log *log = ff->user;
	struct cksum sum = log->sum;

	cksum_add(&sum, log->sending.data, log->sending.len);
	cksum_add(&sum, log->inbox.data, log->inbox.len);
	return sum.len >= log->known.len ? sum : log->known;
}

/* ---- local copies */

/* Make the follower send the bytes again that the local copy lost. */
static void fetch_again(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;

	if (pod->follow == NULL)
		return;
	drop_bytes(log, &log->sending, log->sending.len);
	drop_bytes(log, &log->inbox, log->inbox.len);
	ingest_notify(
		pod->ingest, pod, MODEL_WARNING,
		"%s: the local copy of %s is incomplete; fetching the rest from the pod again",
		pod->name, log->ff->path);
	follow_rewind(pod->follow, log->ff, log->fetched);
}

static void report_lost_copy(struct ingest_log *log)
{
	struct ingest_pod *pod = log->pod;

	if (pod->n_lost++ < NAME_LOST)
		ingest_notify(
			pod->ingest, pod, MODEL_WARNING,
			"%s: the local copy of %s %s; still following, will fetch it again at "
			"the next start",
			pod->name, log->ff != NULL ? log->ff->path : log->name, log->copy->lost);
	else if (pod->n_lost == NAME_LOST + 1)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: more local log copies were lost (not listed)", pod->name);
	if (log->log != NULL)
		model_log_set_file(log->log, NULL);
}

/* Report once that the local copy cannot be written, and retry later. */
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

/* ---- logs that disappear and come back */

/* Does the path match the pattern? Only the pod can expand "~", so a pattern with "~" is compared
 * only with the end of the path, as many components as the pattern has. */
static bool matches_pattern(const char *pattern, const char *path)
{
	const char *end = path;
	size_t n = 0;

	if (pattern[0] == '~') {
		pattern += strcspn(pattern, "/");
		for (const char *p = pattern; *p != '\0'; p++)
			n += *p == '/';
		end += strlen(end);
		while (end > path && n > 0)
			n -= *--end == '/';
	}
	return fnmatch(pattern, end, FNM_PATHNAME) == 0;
}

const char *fetch_empty_pattern(const struct ingest_pod *pod)
{
	const struct conf_strings *logs = &pod->conf->logs;

	for (size_t i = 0; i < logs->n; i++) {
		bool is_empty = true;

		list_each (const struct ingest_log, log, &pod->logs, link)
			is_empty = is_empty && (log->ff == NULL || log->ff->away ||
						!matches_pattern(logs->v[i], log->ff->path));
		if (is_empty)
			return logs->v[i];
	}
	return NULL;
}

static const char *current_path(const struct ingest_log *log)
{
	return log->ff != NULL	    ? log->ff->path
	       : log->entry != NULL ? log->entry->identity.path
				    : log->name;
}

/* Was the log rotated, truncated or rewritten, so that another generation of it is followed now? */
static bool is_replaced(const struct ingest_log *log)
{
	list_each (const struct ingest_log, other, &log->pod->logs, link) {
		if (other != log && other->ff != NULL && follow_is_live(other->ff) &&
		    !other->ff->away &&
		    (strcmp(other->ff->path, current_path(log)) == 0 ||
		     (strcmp(other->name, log->name) == 0 && other->gen > log->gen)))
			return true;
	}
	return false;
}

/* Report the log as gone if no path led to it for a while. Counts the messages in *n_reported. */
static void check_gone(struct ingest_log *log, size_t *n_reported)
{
	struct ingest_pod *pod = log->pod;
	const struct conf_strings *wanted = &pod->conf->logs;
	int64_t now_ms = ingest_now_ms(pod->ingest);
	bool writes = log->end == UINT64_MAX && now_ms - log->pace.last_ms < INGEST_GONE_MS;

	if (log->away_ms == 0 || now_ms - log->away_ms < INGEST_GONE_MS || writes)
		return;
	log->away_ms = 0;
	if (!any_of(i, wanted->n, matches_pattern(wanted->v[i], current_path(log))) ||
	    is_replaced(log))
		return;
	sink_set_gone(log, ingest_wall_ms(pod->ingest));
	if (!sink_has_cut_run(log) && (*n_reported)++ < NAME_GONE)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: %s is gone from the pod; its data is kept", pod->name,
			      current_path(log));
}

static void report_back(struct ingest_log *gone, const char *path, const char *how)
{
	struct ingest_pod *pod = gone->pod;

	if (gone->gone_ms == 0)
		return;
	ingest_notify(pod->ingest, pod, MODEL_INFO, "%s: %s is back (%s)", pod->name, path, how);
	sink_set_gone(gone, 0);
}

/* ---- callbacks of the follower */

static void start_log(struct ingest_pod *pod, struct follow_file *ff)
{
	struct follow_status status;

	list_each (struct ingest_log, log, &pod->logs, link)
		if (strcmp(current_path(log), ff->path) == 0 || strcmp(log->name, ff->name) == 0)
			report_back(log, ff->path, "a new file");
	struct ingest_log *log =
		ingest_log_new(pod->ingest, pod, pod->model_pod, ff->name, ff->generation);
	log->ff = ff;
	ff->user = log;
	/* Events that the log contained before this program started are not announced. */
	follow_get_status(pod->follow, &status);
	log->news = status.scanned ? 0 : ff->size;
	log->copy = new_copy(pod, ff->name, ff->generation);
	if (log->log != NULL)
		model_log_set_file(log->log, log->copy->path);
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
	/* A file that stopped growing, perhaps minutes ago, brings no new data. */
	if (event != FOLLOW_RESTS)
		pod->ingest->last_news_ms = now_ms;
	switch (event) {
	case FOLLOW_BEGINS:
		start_log(pod, ff);
		log = ff->user;
		break;
	case FOLLOW_RESUMES:
	case FOLLOW_RENAMED:
		/* Its local copy is read-only or was pruned: open it again. */
		if (log->is_closed) {
			tail_finish_turn(log);
			log->copy->is_open = false;
		}
		log->is_closed = false;
		log->end = UINT64_MAX;
		log->away_ms = event == FOLLOW_RESUMES && ff->away ? now_ms : 0;
		report_back(log, ff->path, "the same file");
		break;
	case FOLLOW_AWAY:
		log->away_ms = now_ms;
		break;
	case FOLLOW_RESTS:
		break;
	case FOLLOW_ENDS:
		log->end = ff->offset;
		/* Report the log as gone in the next check: a new generation may arrive before. */
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

/* Called with the end of a log, much of which is not fetched yet: show its complete lines in the
 * log view now. fetch_on_bytes gets all bytes in order later. */
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
			model_log_add_preview(pod->ingest->o.model, log->log, line);
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
	return (log->ff != NULL ? MAX(log->ff->size, log->fetched) : log->fetched) - log->parsed;
}

bool fetch_is_behind(const struct ingest_pod *pod)
{
	list_each (const struct ingest_log, log, &pod->logs, link)
		if (log->ff != NULL && follow_is_live(log->ff) && log->ff->size > log->ff->offset)
			return true;
	return false;
}

/* ---- start and end */

/* Are all results of the log in the database, and did its last run end, or was the log silent for a
 * day? Such a log is parsed again only if new bytes arrive. */
static bool may_sleep(const struct ingest_log *log)
{
	const struct store_log *entry = log->entry;
	int64_t silent_ms = ingest_wall_ms(log->ingest) - entry->last_wall_ms;

	return log->fetched == log->stored && entry->is_whole && entry->done_lines > 0 &&
	       silent_ms >= (entry->is_over ? INGEST_QUIET_MS : INGEST_DEAD_MS);
}

/* Continue a log from the database. Its local copy may have become shorter or longer. */
static void load_log(struct ingest_pod *pod, const struct store_log *entry)
{
	struct ingest_log *log =
		ingest_log_new(pod->ingest, pod, pod->model_pod, entry->name, entry->gen);
	int64_t written_ms = 0;

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
	log->fetched = log_copy_peek(log->copy, &written_ms);
	/* A program that was killed may have stored the log without a run. */
	if (log->last_wall_ms == 0)
		log->last_wall_ms = written_ms;
	if (log->fetched == log->known.len)
		log->sum = log->known;
	if (log->log != NULL)
		model_log_set_file(log->log, log->copy->path);
	if (log->fetched > log->known.len)
		pod->n_opening++;
	if (may_sleep(log))
		tail_queue(log);
	else
		tail_start_reader(log);
}

/* Tell the follower which bytes of each log are in local copies.  A log that an older version
 * stored without a checksum, and whose local copy is empty, cannot be recognized. */
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

static void start_following(struct ingest_pod *pod)
{
	const struct conf_strings *logs = &pod->conf->logs;

	if (!pod->is_started) {
		pod->is_started = true;
		pass_known_logs(pod);
	}
	follow_start(pod->follow, (const char *const *)logs->v, logs->n);
}

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
	if (copy->lost != NULL && log->parsed < log->fetched && log->out.err.code != ERR_NONE) {
		fetch_replace_lost_copy(log);
	} else if (has_shrunk && log->ff != NULL) {
		fetch_again(log);
	} else if (log->out.err.code != ERR_NONE) {
		pause_copy(log);
	} else if (log->out.appended > 0 && pod->is_disk_full) {
		ingest_notify(pod->ingest, pod, MODEL_INFO, "%s: reading resumed", pod->name);
		pod->is_disk_full = false;
	}
	if (was_short && --pod->n_opening == 0 && pod->follow != NULL)
		start_following(pod);
	if (!log->is_parsed && log->fetched > log->stored)
		tail_start_reader(log);
}

static void fetch_on_timer(void *user)
{
	struct ingest_pod *pod = user;
	size_t n_ended = 0, n_logs;

	if (pod->is_loaded) {
		list_each (struct ingest_log, log, &pod->logs, link)
			tail_queue(log);
		return;
	}
	if (history_is_showing(pod->ingest)) {
		loop_timer_start(pod->timer, SHOW_MS, 0);
		return;
	}
	pod->is_loaded = true;
	/* Only the last FOLLOW_ENDED_MAX of the ended logs may come back. */
	struct store_log *const *logs = store_logs(pod->ingest->store, &n_logs);
	while (n_logs-- > 0) {
		const struct store_log *entry = logs[n_logs];

		if (strcmp(entry->pod, pod->name) == 0 &&
		    (!entry->identity.ended || n_ended++ < FOLLOW_ENDED_MAX))
			load_log(pod, entry);
	}
	if (pod->n_opening == 0)
		start_following(pod);
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
		start_following(pod);
}

void fetch_update_pause(struct ingest_pod *pod)
{
	if (pod->follow == NULL)
		return;
	fetch_set_patterns(pod);
	follow_set_quiet(pod->follow, pod->is_paused);
}

/* Will no more bytes arrive, and is everything that arrived stored? */
static bool is_complete(const struct ingest_log *log)
{
	return log->end != UINT64_MAX && log->stored >= log->end && log->turn == NULL &&
	       log->inbox.len + log->sending.len == 0 &&
	       (!log->is_parsed || log->parsed >= log->fetched);
}

/* Store the result of a complete log, and allow its local copy to be pruned. */
static void close_log(struct ingest_log *log)
{
	if (!is_complete(log) || (!log->is_parsed && log->is_closed))
		return;
	sink_end_log(log);
	log_copy_end(log->copy);
	log->is_closed = true;
}

void fetch_flush(struct ingest_pod *pod)
{
	list_each (struct ingest_log, log, &pod->logs, link) {
		/* An ended log is not read again: result and end are committed together. */
		close_log(log);
		sink_store_run(log);
	}
}

void fetch_check_logs(struct ingest_pod *pod)
{
	size_t n_reported = 0;

	list_each_safe (struct ingest_log, log, &pod->logs, link) {
		sink_check_end(log);
		check_gone(log, &n_reported);
		close_log(log);
		if (log->ff == NULL && is_complete(log))
			ingest_log_free(log);
	}
	if (n_reported > NAME_GONE)
		ingest_notify(pod->ingest, pod, MODEL_WARNING,
			      "%s: %zu more logs are gone from the pod", pod->name,
			      n_reported - NAME_GONE);
}
