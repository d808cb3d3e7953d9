/* SPDX-License-Identifier: MIT */
/* Show in the model what the database contains: pods and runs at the start, and the series of a
 * run once a view or a forecast needs it.  If another hgym-tui writes the database, this process
 * only shows what the writer stores.  When the writer exits or dies, this process takes over and
 * follows the pods.
 *
 * If many logs on this machine are in no database, only the runs that were viewed last keep all
 * points; those of another run are read from its log again. */
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "ingest/ingest_priv.h"
#include "store/history.h"
#include "store/lock.h"
#include "store/query.h"

/* Series of ended runs kept in memory, so that going back to a run is quick. */
#define FETCHED_MAX 48
/* This many of the runs in progress or in no database keep all points: the last viewed. Views need
 * the marked runs, up to SEEDS_MOST seeds of a reference, and three more at once. */
#define LIVE_MAX       28
#define SHOWING_MAX_MS 500
#define READ_BYTES     ((size_t)65536)
/* A reader looks for new rows this often, and every LOCK_EVERY-th time at the writer's lock. */
#define POLL_MS	   200
#define LOCK_EVERY 10
#define RETRY_MS   5000

/* ---- series of runs and pods */

/* A request for series, and the samples of the run that arrived since. */
struct series_request {
	struct list link;     /* in ingest.requests */
	struct model_run *mr; /* NULL: telemetry of a pod */
	size_t pod;
	struct sample *samples; /* samples not committed when the series were requested */
	size_t n, cap;
	bool is_again; /* more was stored since: request the series once more */

	struct ingest *ingest;

	/* Only for a run that is in no database: its log is read. */
	struct job *job;
	char *file; /* owned */
	uint64_t inode, bytes;
	unsigned int run_index;
	bool is_live;
	struct history_answer answer;
};

static void free_request(struct series_request *request)
{
	list_remove(&request->link);
	history_answer_release(&request->answer);
	free(request->file);
	free(request->samples);
	free(request);
}

static struct series_request *add_request(struct ingest *ingest, struct model_run *mr, size_t pod)
{
	struct series_request *request =
		xnew(struct series_request, .ingest = ingest, .mr = mr, .pod = pod);

	list_append(&ingest->requests, &request->link);
	return request;
}

static struct series_request *find_request(const struct ingest *ingest, const struct model_run *mr)
{
	list_each (struct series_request, request, &ingest->requests, link)
		if (request->mr == mr)
			return request;
	return NULL;
}

static void add_sample(void *user, const struct sample *sample)
{
	struct series_request *request = user;

	xpush(request->samples, request->n, request->cap, *sample);
}

/* ---- a run that is in no database */

static void keep_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct series_request *request = user;

	if (run->run_index == request->run_index)
		history_answer_add(&request->answer, sample);
}

/* On a worker thread: read the log as far as the model has it. */
static void read_log(void *user)
{
	static const struct run_reader_cb cb = { .on_sample = keep_sample };
	struct series_request *request = user;
	AUTO_TEXT block = xmalloc(READ_BYTES);
	uint64_t done = 0;
	ssize_t n = 1;
	struct stat st;
	int fd = open(request->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) != 0 || (request->inode != 0 && st.st_ino != request->inode))
		err_set(&request->answer.err, ERR_IO, "%s was replaced", request->file);
	struct run_reader *reader = run_reader_new(request->ingest->o.formats, &cb, request);
	while (request->answer.err.code == ERR_NONE && n > 0 && done < request->bytes) {
		uint64_t left = request->bytes - done;

		n = read(fd, block, left < READ_BYTES ? (size_t)left : READ_BYTES);
		if (n > 0)
			run_reader_feed(reader, block, (size_t)n);
		done += n > 0 ? (uint64_t)n : 0;
	}
	/* The last line of a log that grows may be incomplete. */
	if (!request->is_live)
		run_reader_finish(reader);
	run_reader_free(reader);
	fd_close(&fd);
}

static void on_log_read(void *user);

static void read_from_log(struct ingest *ingest, struct model_run *mr)
{
	/* The log was replaced: the few points in memory are all that is left. */
	if (mr->log == NULL || mr->log->file == NULL) {
		mr->history = MODEL_WHOLE;
		return;
	}
	struct series_request *request = add_request(ingest, mr, MODEL_NONE);
	request->file = xstrdup(mr->log->file);
	request->inode = mr->log->inode;
	request->bytes = mr->log->read_bytes;
	request->run_index = mr->run.run_index;
	request->is_live = mr->live;
	mr->history = MODEL_ASKED;
	request->job = loop_job(ingest->o.loop, JOB_READ, read_log, on_log_read, request);
}

static void fetch_series(struct ingest *ingest, struct model_run *mr)
{
	struct series_request *request = add_request(ingest, mr, MODEL_NONE);
	const struct history_ask what = {
		.run_id = mr->run_id,
		.after_line = mr->history == MODEL_STORED ? 0 : mr->stored_line,
		.tag = request,
	};

	if (mr->history == MODEL_STORED)
		mr->history = MODEL_ASKED;
	if (ingest->store != NULL)
		store_each_pending(ingest->store, mr->run_id, add_sample, request);
	history_read(ingest->fetch, &what);
}

static void history_on_want(void *user, struct model_run *mr)
{
	struct ingest *ingest = user;

	mr->wanted = ++ingest->n_wants;
	if (mr->history == MODEL_STORED && mr->run_id == 0)
		read_from_log(ingest, mr);
	else if (mr->history == MODEL_STORED)
		fetch_series(ingest, mr);
}

void history_serve(struct ingest *ingest)
{
	ingest->o.model->fetch = (struct model_fetch){ history_on_want, ingest };
}

/* Remember that a run's series are in memory; drop those that were viewed longest ago. */
static void add_fetched(struct ingest *ingest, struct model_run *mr)
{
	size_t oldest = 0;

	xpush(ingest->fetched, ingest->n_fetched, ingest->cap_fetched, mr);
	if (ingest->n_fetched <= FETCHED_MAX)
		return;
	for (size_t i = 1; i < ingest->n_fetched; i++)
		if (ingest->fetched[i]->wanted < ingest->fetched[oldest]->wanted)
			oldest = i;
	/* history_drop_points() limits the runs in progress. */
	if (!ingest->fetched[oldest]->live && ingest->fetched[oldest]->history == MODEL_WHOLE)
		model_drop_series(ingest->o.model, ingest->fetched[oldest]);
	ingest->fetched[oldest] = ingest->fetched[--ingest->n_fetched];
}

/* Start of the day that telemetry charts show; wall clock. */
static int64_t day_ago_ms(const struct ingest *ingest)
{
	return ingest_wall_ms(ingest) - STORE_TELEMETRY_FULL_MS;
}

/* Find the run that was viewed longest ago, among those in progress and those whose log can be read
 * again. NULL: there are at most LIVE_MAX of them. */
static struct model_run *find_oldest(const struct model *model)
{
	struct model_run *oldest = NULL;
	size_t n = 0;

	pointer_each (mr, model->runs, model->n_runs) {
		bool is_in_log = mr->run_id == 0 && mr->log != NULL && mr->log->file != NULL;

		if (!(mr->run_id != 0 ? mr->live : is_in_log) || mr->history != MODEL_WHOLE)
			continue;
		n++;
		if (oldest == NULL || mr->wanted <= oldest->wanted)
			oldest = mr;
	}
	return n > LIVE_MAX ? oldest : NULL;
}

void history_drop_points(struct ingest *ingest)
{
	struct model_run *mr;

	if (ingest->o.model->fetch.want == NULL)
		return;
	while ((mr = find_oldest(ingest->o.model)) != NULL)
		model_thin_series(ingest->o.model, mr);
}

void history_fetch_live(struct ingest *ingest, struct model_run *mr)
{
	if (ingest->fetch != NULL && mr->run_id != 0 && mr->history == MODEL_STORED &&
	    !model_run_has_points(mr))
		fetch_series(ingest, mr);
}

/* Forecasts and alerts need the series of all runs in progress.  The screen's requests go first. */
void history_tick(struct ingest *ingest)
{
	const struct model *model = ingest->o.model;

	history_drop_points(ingest);
	if (ingest->has_live || !list_is_empty(&ingest->requests))
		return;
	ingest->has_live = true;
	for (size_t i = 0; i < model->n_runs; i++)
		if (model->runs[i]->live)
			history_fetch_live(ingest, model->runs[i]);
	for (size_t i = 0; i < model->n_pods; i++) {
		const struct history_ask what = {
			.pod = model->pods[i].name,
			.after_ms = day_ago_ms(ingest),
			.tag = add_request(ingest, NULL, i),
		};

		history_read(ingest->fetch, &what);
	}
}

bool history_is_showing(const struct ingest *ingest)
{
	return !ingest->has_live && !list_is_empty(&ingest->requests) &&
	       ingest_now_ms(ingest) - ingest->start_ms < SHOWING_MAX_MS;
}

static void add_series(struct ingest *ingest, struct series_request *request,
		       struct history_answer *answer)
{
	struct model_run *mr = request->mr;
	bool is_first = mr->history == MODEL_ASKED, is_again = request->is_again;

	if (is_first)
		model_run_set_series(ingest->o.model, mr, answer->series, &answer->own,
				     answer->last_line);
	else
		model_run_append(ingest->o.model, mr, answer->series, &answer->own,
				 answer->last_line);
	for (size_t i = 0; i < request->n; i++)
		if (request->samples[i].line > mr->stored_line)
			model_run_sample(ingest->o.model, mr, &request->samples[i]);
	free_request(request);
	if (mr->past && is_first)
		add_fetched(ingest, mr);
	if (is_again)
		fetch_series(ingest, mr);
}

static void on_log_read(void *user)
{
	struct series_request *request = user;

	if (request->answer.err.code == ERR_NONE) {
		add_series(request->ingest, request, &request->answer);
		return;
	}
	request->mr->history = MODEL_WHOLE;
	free_request(request);
}

static void history_on_answer(void *user, struct history_answer *answer)
{
	struct ingest *ingest = user;
	struct series_request *request = answer->tag;

	if (answer->err.code != ERR_NONE)
		ingest_notify(ingest, NULL, MODEL_WARNING, "%s", answer->err.text);
	if (request->mr != NULL) {
		add_series(ingest, request, answer);
	} else {
		model_pod_add_older(ingest->o.model, request->pod, answer->series);
		free_request(request);
	}
	history_tick(ingest);
}

void history_sample(struct ingest *ingest, struct model_run *mr, const struct sample *sample)
{
	struct series_request *request;

	switch (mr->history) {
	case MODEL_WHOLE:
		if (sample->line > mr->stored_line)
			model_run_sample(ingest->o.model, mr, sample);
		break;
	case MODEL_ASKED:
		request = find_request(ingest, mr);
		assert(request != NULL);
		add_sample(request, sample);
		break;
	case MODEL_STORED:
		/* The stored points come later; until then show the few that just arrived. */
		if (mr->live && model_run_has_points(mr) && sample->line > mr->stored_line &&
		    sample->metric < METRIC_COUNT)
			model_run_sample(ingest->o.model, mr, sample);
		break;
	}
}

void history_run_ended(struct ingest *ingest, struct model_run *mr)
{
	if (ingest->fetch != NULL && mr->history == MODEL_WHOLE)
		add_fetched(ingest, mr);
}

void history_stop(struct ingest *ingest)
{
	list_each_safe (struct series_request, request, &ingest->requests, link) {
		if (request->job != NULL) {
			loop_job_finish(request->job);
			continue;
		}
		if (request->mr != NULL)
			request->mr->history = MODEL_STORED;
		free_request(request);
	}
	history_free(ingest->fetch);
	ingest->fetch = NULL;
	free(ingest->fetched);
	ingest->fetched = NULL;
	ingest->n_fetched = ingest->cap_fetched = 0;
	ingest->o.model->fetch = (struct model_fetch){ NULL, NULL };
}

/* ---- pods and runs */

/* Is the run of this row still in progress?  The database shows an unfinished last run as
 * truncated; it may go on unless its log was silent for long. */
static bool is_in_progress(struct ingest *ingest, const struct stored_run *row)
{
	if (ingest->store == NULL || row->is_ended || conf_find_pod(ingest->o.conf, row->pod) < 0)
		return row->is_live && ingest->has_writer;
	const struct store_log *entry = store_log_get(ingest->store, row->pod, row->name, row->gen);
	return row->run.status == RUN_TRUNCATED && row->run.run_index + 1 == entry->n_runs &&
	       ingest_wall_ms(ingest) - row->last_wall_ms < INGEST_DEAD_MS;
}

/* Put a row of the database into the model; returns the run. */
static struct model_run *load_row(struct ingest *ingest, const struct stored_run *row)
{
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, row->pod);

	if (pod == MODEL_NONE) {
		pod = model_pod_add(model, row->pod, "");
		AUTO_TEXT file = conf_file(ingest->o.conf);
		AUTO_TEXT why = xasprintf("not in %s", file);

		model_pod_set_state(model, pod, POD_GONE, why, 0);
	}
	struct model_run *mr =
		model_run_get(model, pod, row->name, sink_run_key(row->gen, row->run.run_index));
	bool is_new = mr->run_id == 0;

	if (!is_new && mr->run_id != row->run_id)
		return mr; /* the model has no room for more runs */
	mr->run_id = row->run_id;
	mr->log = sink_model_log(ingest, pod, row->name, row->gen);
	if (mr->log->file == NULL)
		model_log_set_file(mr->log, row->copy);
	model_run_update(model, mr, &row->run);
	mr->first_byte_wall_ms = row->first_wall_ms;
	mr->last_byte_wall_ms = row->last_wall_ms;
	mr->live = is_in_progress(ingest, row);
	if (mr->live)
		mr->run.status = RUN_RUNNING;
	mr->past = !mr->live && (is_new || mr->past);
	if (is_new)
		mr->history = MODEL_STORED;
	if (row->rev > ingest->rev)
		ingest->rev = row->rev;
	return mr;
}

static int load_run(void *user, const struct stored_run *row)
{
	(void)load_row(user, row);
	return 0;
}

/* Copy what the writer stored about a pod into the model; of a followed pod only the GPU's name. */
static int load_pod(void *user, const struct store_pod *row)
{
	struct ingest *ingest = user;
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, row->name);

	if (pod == MODEL_NONE)
		return 0;
	enum pod_state state = row->state != NULL ? POD_GONE : POD_UNKNOWN;
	while (state > POD_UNKNOWN && strcmp(pod_state_name(state), row->state) != 0)
		state--;
	struct model_pod *mp = &model->pods[pod];
	if (row->gpu != NULL && mp->gpu_name == NULL)
		model_pod_set_gpu(model, pod, row->gpu);
	if (ingest->store != NULL || mp->state == POD_GONE)
		return 0;
	mp->lag_ms = ingest->has_writer ? row->lag_ms : -1;
	model_pod_set_disk(model, pod, row->disk_free_bytes);
	if (ingest->has_writer)
		model_pod_set_state(model, pod, state, row->why != NULL ? row->why : "", 0);
	else
		model_pod_set_state(model, pod, POD_UNKNOWN, "no hgym-tui follows this pod now", 0);
	return 0;
}

static void add_pods(struct ingest *ingest)
{
	const struct conf *conf = ingest->o.conf;
	struct model *model = ingest->o.model;

	for (size_t i = 0; i < conf->n_pods; i++) {
		size_t at = pods_add_to_model(ingest, &conf->pods[i]);

		if (model->pods[at].state == POD_GONE)
			model_pod_set_state(model, at, POD_UNKNOWN, "", 0);
	}
}

static int load_all(struct ingest *ingest, struct err *err)
{
	if (store_each_pod(ingest->history, load_pod, ingest, err) != 0)
		return -1;
	return store_each_run(ingest->history, 0, load_run, ingest, err);
}

int history_start(struct ingest *ingest, struct err *err)
{
	struct model *model = ingest->o.model;

	add_pods(ingest);
	/* Series that were fetched before may have grown in the database: fetch them again. */
	for (size_t i = 0; i < model->n_runs; i++)
		if (model->runs[i]->run_id != 0)
			model_drop_series(model, model->runs[i]);
	ingest->has_live = false;
	ingest->fetch = history_new(ingest->o.loop, ingest->o.db_path, history_on_answer, ingest);
	history_serve(ingest);
	ingest->has_writer = lock_is_held(ingest->o.db_path, &ingest->writer);
	return load_all(ingest, err);
}

/* ---- while another process writes */

/* The writer stored more of a run: fetch its new points if they are shown or needed. */
static int reload_run(void *user, const struct stored_run *row)
{
	struct ingest *ingest = user;
	struct model_run *mr = load_row(ingest, row);
	struct series_request *request = find_request(ingest, mr);

	if (request != NULL)
		request->is_again = true;
	else if (mr->history == MODEL_WHOLE)
		fetch_series(ingest, mr);
	else if (mr->live)
		history_fetch_live(ingest, mr);
	return 0;
}

struct telemetry_target {
	struct model *model;
	size_t pod;
};

static int add_telemetry(void *user, const struct store_telemetry *row)
{
	const struct telemetry_target *to = user;

	for (enum metric i = TELEMETRY_FIRST; i < METRIC_COUNT; i++)
		model_pod_sample(to->model, to->pod, i, row->values[i - TELEMETRY_FIRST],
				 row->at_ms);
	return 0;
}

/* Load the telemetry of the pods that is newer than the telemetry in memory. */
static int reload_pods(struct ingest *ingest, struct err *err)
{
	struct model *model = ingest->o.model;
	int rc = store_each_pod(ingest->history, load_pod, ingest, err);

	/* history_tick() has requested the telemetry of the last day. */
	if (!ingest->has_live || !list_is_empty(&ingest->requests))
		return rc;
	for (size_t i = 0; rc == 0 && i < model->n_pods; i++) {
		struct telemetry_target to = { model, i };
		struct stored_span span = { model->pods[i].name, day_ago_ms(ingest), true };

		for (enum metric k = TELEMETRY_FIRST; k < METRIC_COUNT; k++) {
			const struct series *series = model->pods[i].telemetry[k];

			if (series != NULL && series_last(series)->wall_ms > span.after_ms)
				span.after_ms = series_last(series)->wall_ms;
		}
		rc = store_each_telemetry(ingest->history, &span, add_telemetry, &to, err);
	}
	return rc;
}

static void reload_changed_rows(struct ingest *ingest)
{
	int64_t version = store_data_version(ingest->history);
	struct err err = { ERR_NONE, "" };

	if (version == ingest->data_version)
		return;
	ingest->data_version = version;
	ingest->last_news_ms = ingest_now_ms(ingest);
	if (reload_pods(ingest, &err) != 0 ||
	    store_each_changed_run(ingest->history, ingest->rev, reload_run, ingest, &err) != 0)
		log_debug("ingest", "%s", err.text);
}

/* The writer exited: become the writer, unless a third process was faster. */
static void take_over(struct ingest *ingest)
{
	struct err err = { ERR_NONE, "" };

	if (ingest_become_writer(ingest, &err) != 0) {
		ingest_notify(ingest, NULL, MODEL_ALARM, "%s", err.text);
		loop_timer_start(ingest->poll, RETRY_MS, POLL_MS);
		return;
	}
	if (ingest->store == NULL)
		return;
	ingest->o.model->is_shared = false;
	loop_timer_stop(ingest->poll);
	ingest_notify(ingest, NULL, MODEL_INFO,
		      "the other hgym-tui exited; this one follows the pods and stores data now");
	pods_add(ingest);
	if (ingest->o.cb.on_writer != NULL)
		ingest->o.cb.on_writer(ingest->o.cb.user);
}

/* Does another process write the database? Testing the lock takes it for a moment, so the lock is
 * seldom tested while the writer's process exists. */
static bool has_writer(struct ingest *ingest)
{
	if (ingest->has_writer && ingest->writer != 0 && ingest->polls++ % LOCK_EVERY != 0 &&
	    (kill((pid_t)ingest->writer, 0) == 0 || errno == EPERM))
		return true;
	return lock_is_held(ingest->o.db_path, &ingest->writer);
}

static void history_on_poll(void *user)
{
	struct ingest *ingest = user;
	bool held = has_writer(ingest);

	if (ingest->history != NULL)
		reload_changed_rows(ingest);
	if (held == ingest->has_writer && (held || ingest->o.read_only))
		return;
	ingest->has_writer = ingest->o.model->is_shared = held;
	if (!ingest->o.read_only && !held)
		take_over(ingest);
	else if (ingest->history != NULL)
		(void)load_all(ingest, NULL);
}

void history_reload(struct ingest *ingest)
{
	/* Without pods this process was a reader; now it may become the writer. */
	ingest->o.read_only &= ingest->o.conf->n_pods == 0;
	add_pods(ingest);
	if (ingest->history != NULL)
		(void)load_all(ingest, NULL);
}

void history_watch(struct ingest *ingest)
{
	ingest->has_writer = lock_is_held(ingest->o.db_path, &ingest->writer);
	ingest->data_version = store_data_version(ingest->history);
	ingest->o.model->is_shared = ingest->has_writer;
	ingest->poll = loop_timer_new(ingest->o.loop, history_on_poll, ingest);
	loop_timer_start(ingest->poll, POLL_MS, POLL_MS);
}
