/* SPDX-License-Identifier: MIT */
/* Create and free the pipeline from followed logs to model and database, and run its timers. */
#include "ingest/ingest.h"

#include <sys/resource.h>

#include "base/log.h"
#include "ingest/ingest_priv.h"

#define TICK_MS	 1000
#define LOCAL_MS 200
/* Return freed memory to the system after this much input, or after less of it and a pause. */
#define TRIM_BYTES	(UINT64_C(64) << 20)
#define TRIM_IDLE_BYTES (UINT64_C(1) << 20)
#define TRIM_IDLE_MS	2000
/* How long ingest_is_settled() waits for bytes that a pod announced and has not sent. */
#define BEHIND_MS 20000

int64_t ingest_now_ms(const struct ingest *ingest)
{
	return ingest->clock->mono_ms(ingest->clock);
}

int64_t ingest_wall_ms(const struct ingest *ingest)
{
	return ingest->clock->wall_ms(ingest->clock);
}

void ingest_notify(struct ingest *ingest, struct ingest_pod *pod, enum model_severity severity,
		   const char *fmt, ...)
{
	int64_t now_ms = ingest_now_ms(ingest);
	char text[1024];

	print_args(text, fmt);
	/* Each message advances notified_ms by the interval, at most to the current time. */
	if (pod != NULL) {
		int64_t unused_ms = now_ms - INGEST_NOTICE_MAX * INGEST_NOTICE_EVERY_MS;

		if (pod->notified_ms < unused_ms)
			pod->notified_ms = unused_ms;
		if (pod->notified_ms + INGEST_NOTICE_EVERY_MS > now_ms)
			return;
		pod->notified_ms += INGEST_NOTICE_EVERY_MS;
		size_t n = strlen(text);
		if (pod->notified_ms + INGEST_NOTICE_EVERY_MS > now_ms)
			(void)snprintf(text + n, sizeof(text) - n,
				       " (further messages about this pod are suppressed)");
	}
	log_debug("ingest", "%s", text);
	if (ingest->o.cb.on_notice != NULL)
		ingest->o.cb.on_notice(ingest->o.cb.user, severity, text);
}

struct ingest_log *ingest_log_new(struct ingest *ingest, struct ingest_pod *pod, size_t model_pod,
				  const char *name, unsigned int gen)
{
	struct ingest_log *log =
		xnew(struct ingest_log, .ingest = ingest, .pod = pod, .model_pod = model_pod,
		     .name = xstrdup(name), .gen = gen, .end = UINT64_MAX, .status = RUN_RUNNING,
		     .last_wall_ms = ingest_wall_ms(ingest), .inbox = buf_new(INGEST_WAITING_BYTES),
		     .sending = buf_new(INGEST_WAITING_BYTES));

	list_init(&log->in_queue);
	run_init(&log->row);
	if (pod != NULL)
		log->entry = store_log_get(ingest->store, pod->name, name, gen);
	if (ingest->o.keep_view)
		log->log = sink_model_log(ingest, model_pod, name, gen);
	list_append(pod != NULL ? &pod->logs : &ingest->logs, &log->link);
	return log;
}

void ingest_log_free(struct ingest_log *log)
{
	list_remove(&log->link);
	list_remove(&log->in_queue);
	tail_free_reader(log);
	log_copy_free(log->copy);
	local_free(log->local);
	outbox_release(&log->out);
	run_release(&log->row);
	buf_release(&log->inbox);
	buf_release(&log->sending);
	free(log->name);
	free(log);
}

/* ---- the store */

static void ingest_on_flush(void *user)
{
	const struct ingest *ingest = user;

	list_each (struct ingest_pod, pod, &ingest->pods, link)
		fetch_flush(pod);
}

static void ingest_on_store_state(void *user, const struct err *why)
{
	if (why != NULL)
		ingest_notify(user, NULL, MODEL_ALARM, "%s; unsaved data is held in memory",
			      why->text);
	else
		ingest_notify(user, NULL, MODEL_INFO, "the database can be written again");
}

/* The store has room again: continue with the logs that waited for it. */
static void ingest_on_room(void *user)
{
	struct ingest *ingest = user;

	list_each (struct ingest_pod, pod, &ingest->pods, link)
		list_each (struct ingest_log, log, &pod->logs, link)
			tail_queue(log);
}

/* Each database has its own directory of local copies, named after the database's real path. */
static int open_copies(struct ingest *ingest, struct err *err)
{
	AUTO_TEXT state =
		ingest->o.copies_path != NULL ? xstrdup(ingest->o.copies_path) : conf_dir_state();
	AUTO_TEXT real = realpath(ingest->o.db_path, NULL);
	const char *path = real != NULL ? real : ingest->o.db_path;
	AUTO_TEXT folder =
		xasprintf("%s/mirror/%016llx", state, (unsigned long long)str_hash(str_from(path)));

	if (conf_make_dir(folder, err) == 0)
		ingest->copies =
			log_copies_open(folder, (uint64_t)ingest->o.conf->mirror_cap_bytes, err);
	return ingest->copies != NULL ? 0 : -1;
}

/* Hash version, rules and marks of tracks. If the hash changes, logs are parsed again. */
static char *hash_rules(const struct format_set *formats)
{
	const struct mark_set *marks = format_set_marks(formats);
	size_t n = format_set_rules(formats);
	uint64_t hash = str_hash(STR_LIT(PACKAGE_VERSION));

	for (size_t i = 0; i < n + marks->n; i++) {
		const struct rule *rule =
			i < n ? format_set_rule(formats, i) : &marks->v[i - n].rule;
		AUTO_TEXT text = xasprintf("%016llx %s %s %s %d %d", (unsigned long long)hash,
					   rule->format != NULL ? rule->format : "", rule->name,
					   rule->pattern, (int)rule->kind, (int)rule->stage);

		hash = str_hash(str_from(text));
	}
	return xasprintf("%016llx", (unsigned long long)hash);
}

static int open_store(struct ingest *ingest, struct err *err)
{
	AUTO_TEXT rules = hash_rules(ingest->o.formats);
	const struct store_options options = {
		.path = ingest->o.db_path,
		.read_only = ingest->o.read_only,
		.loop = ingest->o.loop,
		.rules = rules,
		.cb = { ingest_on_flush, ingest_on_store_state, ingest_on_room, ingest },
	};

	if (conf_make_dir_of(ingest->o.db_path, err) == 0)
		ingest->store = store_open(&options, err);
	if (ingest->store == NULL)
		return -1;
	ingest->history = ingest->store;
	if (store_is_writer(ingest->store))
		return open_copies(ingest, err);
	if (ingest->o.must_write)
		return err_set(err, ERR_DB, "%s", store_why_reader(ingest->store));
	if (!ingest->o.read_only)
		ingest_notify(ingest, NULL, MODEL_WARNING, "%s", store_why_reader(ingest->store));
	ingest->store = NULL;
	return 0;
}

static int close_store(struct ingest *ingest, struct err *err)
{
	history_stop(ingest);
	if (ingest->prune_job != NULL)
		loop_job_finish(ingest->prune_job);
	int rc = store_close(ingest->history, err);
	log_copies_free(ingest->copies);
	ingest->store = ingest->history = NULL;
	ingest->copies = NULL;
	return rc;
}

int ingest_become_writer(struct ingest *ingest, struct err *err)
{
	(void)close_store(ingest, NULL);
	if (open_store(ingest, err) != 0)
		return -1;
	return history_start(ingest, err);
}

static void prune_work(void *user)
{
	struct ingest *ingest = user;

	log_copies_prune(&ingest->prune, ingest->copies);
}

static void prune_done(void *user)
{
	struct ingest *ingest = user;

	log_copies_take_pruned(&ingest->prune, ingest->copies);
	ingest->prune_job = NULL;
}

/* ---- start and end */

static void ingest_on_tick(void *user)
{
	struct ingest *ingest = user;
	bool is_idle = ingest_idle_ms(ingest) >= TRIM_IDLE_MS;

	if (ingest->fetch != NULL)
		history_tick(ingest);
	pods_tick(ingest);
	if (ingest->copies != NULL && ingest->prune_job == NULL &&
	    log_copies_exceed_cap(ingest->copies))
		ingest->prune_job =
			loop_job(ingest->o.loop, JOB_READ, prune_work, prune_done, ingest);
	buf_release(&ingest->spare);
	if (ingest->untrimmed >= (is_idle ? TRIM_IDLE_BYTES : TRIM_BYTES)) {
		xtrim();
		ingest->untrimmed = 0;
	}
}

void ingest_watch_local(struct ingest *ingest)
{
	if (ingest->o.loop == NULL || ingest->local != NULL)
		return;
	ingest->local = loop_timer_new(ingest->o.loop, local_check_all, ingest);
	loop_timer_start(ingest->local, LOCAL_MS, LOCAL_MS);
}

void ingest_use_loop(struct ingest *ingest, struct loop *loop)
{
	ingest->o.loop = loop;
	ingest->tick = loop_timer_new(loop, ingest_on_tick, ingest);
	loop_timer_start(ingest->tick, TICK_MS, TICK_MS);
	if (ingest->o.keep_view)
		history_serve(ingest);
	if (list_is_empty(&ingest->logs))
		return;
	ingest_watch_local(ingest);
	/* Queue the logs again, now that a loop can run turns. */
	list_each (struct ingest_log, log, &ingest->logs, link) {
		list_remove(&log->in_queue);
		tail_queue(log);
	}
}

struct ingest *ingest_new(const struct ingest_options *options, struct err *err)
{
	struct ingest *ingest = xnew(struct ingest, .o = *options,
				     .clock = options->clock != NULL ? options->clock : &clock_real,
				     .spare = buf_new(INGEST_WAITING_BYTES));
	struct rlimit files = { 256, 256 };

	list_init(&ingest->fleets);
	list_init(&ingest->pods);
	list_init(&ingest->logs);
	list_init(&ingest->queue);
	list_init(&ingest->requests);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
		(void)setrlimit(RLIMIT_NOFILE, &files);
		(void)getrlimit(RLIMIT_NOFILE, &files);
	}
	ingest->most_fds = files.rlim_cur < 65536 ? (int)files.rlim_cur : 65536;
	ingest->last_news_ms = ingest->start_ms = ingest_now_ms(ingest);
	if (ingest->o.db_path != NULL && !ingest->o.no_follow &&
	    (open_store(ingest, err) != 0 ||
	     (ingest->o.keep_view && history_start(ingest, err) != 0))) {
		(void)close_store(ingest, NULL);
		free(ingest);
		return NULL;
	}
	if (ingest->o.loop != NULL)
		ingest_use_loop(ingest, ingest->o.loop);
	if (ingest->store != NULL || ingest->o.no_follow)
		pods_add(ingest);
	else if (ingest->history != NULL)
		history_watch(ingest);
	return ingest;
}

int ingest_free(struct ingest *ingest, struct err *err)
{
	if (ingest == NULL)
		return 0;
	ingest->is_ending = true;
	loop_timer_close(ingest->tick);
	loop_timer_close(ingest->local);
	pods_free(ingest);
	list_each (struct ingest_log, log, &ingest->logs, link)
		tail_read_rest(log);
	list_each_safe (struct ingest_log, log, &ingest->logs, link)
		ingest_log_free(log);
	loop_timer_close(ingest->poll);
	tail_stop_turns(ingest);
	int rc = close_store(ingest, err);
	buf_release(&ingest->spare);
	free(ingest);
	return rc;
}

void ingest_reload(struct ingest *ingest, const struct conf *conf)
{
	pods_reload(ingest, conf);
	ingest->o.conf = conf;
	if (ingest->store != NULL || ingest->o.no_follow)
		pods_add(ingest);
	else
		history_reload(ingest);
}

bool ingest_poll(struct ingest *ingest)
{
	local_check_all(ingest);
	return tail_run_turn(ingest);
}

/* ---- calls of other modules */

struct transport *ingest_transport(struct ingest *ingest, size_t pod, size_t *index)
{
	struct ingest_pod *found = pod_of_model(ingest, pod);

	if (found == NULL)
		return NULL;
	*index = found->index;
	return fleet_transport(found->fleet->fleet);
}

void ingest_answer(struct ingest *ingest, size_t pod, const char *answer)
{
	struct ingest_pod *found = pod_of_model(ingest, pod);

	if (found != NULL)
		fleet_answer(found->fleet->fleet, found->index, answer);
}

void ingest_reconnect(struct ingest *ingest, size_t pod)
{
	struct ingest_pod *found = pod_of_model(ingest, pod);

	if (found == NULL)
		return;
	struct transport *t = fleet_transport(found->fleet->fleet);
	t->ops->reconnect(t, found->index);
	if (found->follow != NULL)
		follow_retry(found->follow);
}

int64_t ingest_idle_ms(const struct ingest *ingest)
{
	/* A pause until the store has room does not count as idle. */
	if (ingest->store != NULL && store_is_full(ingest->store))
		return 0;
	return ingest_now_ms(ingest) - ingest->last_news_ms;
}

static bool has_read_all(const struct list *logs)
{
	list_each (const struct ingest_log, log, logs, link) {
		if (log->turn != NULL || log->inbox.len + log->sending.len > 0 ||
		    (log->is_parsed && log->parsed < log->fetched))
			return false;
	}
	return true;
}

bool ingest_is_settled(const struct ingest *ingest)
{
	bool waits = ingest_idle_ms(ingest) < BEHIND_MS;

	if (!has_read_all(&ingest->logs))
		return false;
	list_each (const struct ingest_pod, pod, &ingest->pods, link) {
		if (pod->is_gone)
			continue;
		if (!pod->is_settled &&
		    (pod->verdict.state < POD_RECONNECTING || pod->verdict.state == POD_GONE))
			return false;
		if (!has_read_all(&pod->logs) || (waits && fetch_is_behind(pod)))
			return false;
	}
	return true;
}

size_t ingest_unreachable(const struct ingest *ingest)
{
	size_t n = 0;

	list_each (const struct ingest_pod, pod, &ingest->pods, link) {
		n += !pod->is_gone && pod->verdict.state != POD_LIVE &&
		     pod->verdict.state != POD_SILENT;
	}
	return n;
}

size_t ingest_without_logs(const struct ingest *ingest)
{
	struct follow_status status = { .n_matching = 0 };
	size_t n = 0;

	list_each (const struct ingest_pod, pod, &ingest->pods, link) {
		if (pod->follow != NULL && !pod->is_gone)
			follow_get_status(pod->follow, &status);
		n += status.scanned && status.n_matching == 0 && pod->conf->logs.n > 0;
		status.scanned = false;
	}
	return n;
}

bool ingest_is_writer(const struct ingest *ingest)
{
	return ingest->store != NULL;
}

bool ingest_is_busy(const struct ingest *ingest)
{
	return !list_is_empty(&ingest->requests);
}
