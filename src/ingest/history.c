/* SPDX-License-Identifier: MIT */
/*
 * What the database holds, into the model: pods and runs at the start, and
 * the series of a run when a view or a forecast looks at it.  The second one
 * on a database shows what the first one stores; when the first one is gone,
 * however it went, this one follows the pods in its place.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "ingest/ingest_priv.h"
#include "store/history.h"
#include "store/lock.h"
#include "store/query.h"

/* Runs that are over whose series stay here, for who goes back and forth. */
#define FETCHED_MAX 48
/* Runs under way whose series are here as they are: those looked at last. */
#define LIVE_MAX       32
#define SHOWING_MAX_MS 500
/* Of the second one. */
#define LOOK_MS	   200
#define LOCK_LOOKS 10 /* so seldom the lock of a living process is tried */
#define RETRY_MS   5000

/* ---- series, when they are looked at */

/* Series that were asked for, and what came of the run since. */
struct series_ask {
	struct list link;     /* of collect.asks */
	struct model_run *mr; /* NULL: of a pod */
	size_t pod;
	struct sample *samples; /* not committed when it was asked */
	size_t n, cap;
	bool is_again; /* more was stored since it was asked */
};

static void free_ask(struct series_ask *ask)
{
	list_remove(&ask->link);
	free(ask->samples);
	free(ask);
}

static struct series_ask *find_ask(const struct ingest *ingest, const struct model_run *mr)
{
	list_each (struct series_ask, ask, &ingest->asks, link) {
		if (ask->mr == mr)
			return ask;
	}
	return NULL;
}

static void add_sample(void *user, const struct sample *sample)
{
	struct series_ask *ask = user;

	xpush(ask->samples, ask->n, ask->cap, *sample);
}

/* Fetch its series, as far as they are not here. */
static void fetch_series(struct ingest *ingest, struct model_run *mr)
{
	struct series_ask *ask = xcalloc(1, sizeof(*ask));
	const struct history_ask what = {
		.run_id = mr->run_id,
		.after_line = mr->history == MODEL_STORED ? 0 : mr->stored_line,
		.tag = ask,
	};

	ask->mr = mr;
	if (mr->history == MODEL_STORED)
		mr->history = MODEL_ASKED;
	list_append(&ingest->asks, &ask->link);
	if (ingest->store != NULL)
		store_each_pending(ingest->store, mr->run_id, add_sample, ask);
	history_read(ingest->fetch, &what);
}

static void history_on_want(void *user, struct model_run *mr)
{
	struct ingest *ingest = user;

	mr->wanted = ++ingest->n_wants;
	if (mr->history == MODEL_STORED)
		fetch_series(ingest, mr);
}

/* Let go of those that were looked at longest ago. */
static void note_fetched(struct ingest *ingest, struct model_run *mr)
{
	size_t oldest = 0;

	xpush(ingest->fetched, ingest->n_fetched, ingest->cap_fetched, mr);
	if (ingest->n_fetched <= FETCHED_MAX)
		return;
	for (size_t i = 1; i < ingest->n_fetched; i++)
		if (ingest->fetched[i]->wanted < ingest->fetched[oldest]->wanted)
			oldest = i;
	/* One that goes on stays, see history_thin. */
	if (!ingest->fetched[oldest]->live && ingest->fetched[oldest]->history == MODEL_WHOLE)
		model_run_forget(ingest->o.model, ingest->fetched[oldest]);
	ingest->fetched[oldest] = ingest->fetched[--ingest->n_fetched];
}

/* Charts of telemetry go back so far; wall clock. */
static int64_t day_ago_ms(const struct ingest *ingest)
{
	return ingest_wall_ms(ingest) - STORE_TELEMETRY_FULL_MS;
}

static void fetch_pod(struct ingest *ingest, size_t pod)
{
	struct series_ask *ask = xcalloc(1, sizeof(*ask));
	const struct history_ask what = {
		.pod = ingest->o.model->pods[pod].name,
		.after_ms = day_ago_ms(ingest),
		.tag = ask,
	};

	ask->pod = pod;
	list_append(&ingest->asks, &ask->link);
	history_read(ingest->fetch, &what);
}

/* The one under way that was looked at longest ago; NULL: they are few. */
static struct model_run *oldest_live(const struct model *model)
{
	struct model_run *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < model->n_runs; i++) {
		struct model_run *mr = model->runs[i];

		if (!mr->live || mr->run_id == 0 || mr->history != MODEL_WHOLE)
			continue;
		n++;
		if (oldest == NULL || mr->wanted <= oldest->wanted)
			oldest = mr;
	}
	return n > LIVE_MAX ? oldest : NULL;
}

void history_thin(struct ingest *ingest)
{
	struct model_run *mr;

	if (ingest->fetch == NULL)
		return;
	while ((mr = oldest_live(ingest->o.model)) != NULL)
		model_run_thin(ingest->o.model, mr);
}

void history_live(struct ingest *ingest, struct model_run *mr)
{
	if (ingest->fetch != NULL && mr->run_id != 0 && mr->history == MODEL_STORED &&
	    !model_run_has_points(mr))
		fetch_series(ingest, mr);
}

/*
 * Forecasts and alerts read the series of what runs: they are fetched when
 * all that the screen shows is there.
 */
void history_tick(struct ingest *ingest)
{
	history_thin(ingest);
	if (ingest->has_live || !list_is_empty(&ingest->asks))
		return;
	ingest->has_live = true;
	for (size_t i = 0; i < ingest->o.model->n_runs; i++)
		if (ingest->o.model->runs[i]->live)
			history_live(ingest, ingest->o.model->runs[i]);
	for (size_t i = 0; i < ingest->o.model->n_pods; i++)
		fetch_pod(ingest, i);
}

bool history_is_showing(const struct ingest *ingest)
{
	return !ingest->has_live && !list_is_empty(&ingest->asks) &&
	       ingest_now_ms(ingest) - ingest->start_ms < SHOWING_MAX_MS;
}

static void take_run_answer(struct ingest *ingest, struct series_ask *ask,
			    struct history_answer *answer)
{
	struct model_run *mr = ask->mr;
	bool is_more = mr->history != MODEL_ASKED, is_again;

	if (mr->history == MODEL_ASKED)
		model_run_fetched(ingest->o.model, mr, answer->series, &answer->own,
				  answer->last_line);
	else
		model_run_append(ingest->o.model, mr, answer->series, &answer->own,
				 answer->last_line);
	for (size_t i = 0; i < ask->n; i++)
		if (ask->samples[i].line > mr->stored_line)
			model_run_sample(ingest->o.model, mr, &ask->samples[i]);
	is_again = ask->is_again;
	free_ask(ask);
	if (mr->past && !is_more)
		note_fetched(ingest, mr);
	if (is_again)
		fetch_series(ingest, mr);
}

static void history_on_answer(void *user, struct history_answer *answer)
{
	struct ingest *ingest = user;
	struct series_ask *ask = answer->tag;

	if (answer->err.code != ERR_NONE)
		ingest_say(ingest, NULL, MODEL_WARNING, "%s", answer->err.text);
	if (ask->mr != NULL) {
		take_run_answer(ingest, ask, answer);
	} else {
		model_pod_fetched(ingest->o.model, ask->pod, answer->series);
		free_ask(ask);
	}
	history_tick(ingest);
}

void history_sample(struct ingest *ingest, struct model_run *mr, const struct sample *sample)
{
	struct series_ask *ask;

	switch (mr->history) {
	case MODEL_WHOLE:
		if (sample->line > mr->stored_line)
			model_run_sample(ingest->o.model, mr, sample);
		break;
	case MODEL_ASKED:
		ask = find_ask(ingest, mr);
		assert(ask != NULL);
		add_sample(ask, sample);
		break;
	case MODEL_STORED:
		/* It will come with the others; a few are here meanwhile. */
		if (mr->live && model_run_has_points(mr) && sample->line > mr->stored_line)
			model_run_sample(ingest->o.model, mr, sample);
		break;
	}
}

/* Another one stored more of that run: fetch it if it is looked at. */
static void fetch_more(struct ingest *ingest, struct model_run *mr)
{
	struct series_ask *ask = find_ask(ingest, mr);

	if (ask != NULL)
		ask->is_again = true;
	else if (mr->history == MODEL_WHOLE)
		fetch_series(ingest, mr);
	else if (mr->live)
		history_live(ingest, mr);
}

void history_over(struct ingest *ingest, struct model_run *mr)
{
	if (ingest->fetch != NULL && mr->history == MODEL_WHOLE)
		note_fetched(ingest, mr);
}

/* Fetch series from now on, all of them anew. */
static void open_fetch(struct ingest *ingest)
{
	struct model *model = ingest->o.model;

	/* More may be stored by now of what was fetched before. */
	for (size_t i = 0; i < model->n_runs; i++)
		if (model->runs[i]->run_id != 0)
			model_run_forget(model, model->runs[i]);
	ingest->has_live = false;
	ingest->fetch = history_new(ingest->o.loop, ingest->o.db_path, history_on_answer, ingest);
	model->fetch = (struct model_fetch){ history_on_want, ingest };
}

void history_stop(struct ingest *ingest)
{
	list_each_safe (struct series_ask, ask, &ingest->asks, link) {
		if (ask->mr != NULL)
			ask->mr->history = MODEL_STORED;
		free_ask(ask);
	}
	history_free(ingest->fetch);
	ingest->fetch = NULL;
	free(ingest->fetched);
	ingest->fetched = NULL;
	ingest->n_fetched = ingest->cap_fetched = 0;
	ingest->o.model->fetch = (struct model_fetch){ NULL, NULL };
}

/* ---- pods and runs */

/* Where the moments of a pod go. */
struct pod_moment {
	struct model *model;
	size_t pod;
};

static enum pod_state state_by_name(const char *name)
{
	for (int i = POD_UNKNOWN; i <= POD_GONE; i++)
		if (name != NULL && strcmp(pod_state_name((enum pod_state)i), name) == 0)
			return (enum pod_state)i;
	return POD_UNKNOWN;
}

/* The model's pod of that name; one that is not configured is gone. */
static size_t pod_of(struct ingest *ingest, const char *name)
{
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, name);

	if (pod != MODEL_NONE)
		return pod;
	pod = model_pod_add(model, name, "");
	model_pod_state(model, pod, POD_GONE, "not in the configuration", 0);
	return pod;
}

/* Its log will be followed from here on. */
static bool is_ours(const struct ingest *ingest, const struct stored_run *row)
{
	return ingest->store != NULL && !row->is_ended &&
	       conf_find_pod(ingest->o.conf, row->pod) >= 0;
}

/*
 * A log that was cut short goes on, as far as we know, when it is followed and
 * not silent for long; until its mirror was read again this is what can be
 * said.
 */
static bool is_under_way(struct ingest *ingest, const struct stored_run *row)
{
	if (!is_ours(ingest, row))
		return row->is_live && ingest->has_writer;
	const struct store_tail *tail =
		store_tail_get(ingest->store, row->pod, row->name, row->gen);
	return row->run.status == RUN_TRUNCATED && row->run.run_index + 1 == tail->n_runs &&
	       ingest_wall_ms(ingest) - row->last_wall_ms < INGEST_DEAD_MS;
}

static struct model_run *take_row(struct ingest *ingest, const struct stored_run *row)
{
	struct model *model = ingest->o.model;
	size_t pod = pod_of(ingest, row->pod);
	struct model_run *mr =
		model_run_get(model, pod, row->name, sink_run_key(row->gen, row->run.run_index));
	bool is_new = mr->run_id == 0;

	if (!is_new && mr->run_id != row->run_id)
		return mr; /* there are too many */
	mr->run_id = row->run_id;
	mr->log = sink_model_log(ingest, pod, row->name, row->gen);
	if (mr->log->file == NULL)
		model_log_file(mr->log, row->mirror);
	model_run_update(model, mr, &row->run);
	mr->first_byte_wall_ms = row->first_wall_ms;
	mr->last_byte_wall_ms = row->last_wall_ms;
	mr->live = is_under_way(ingest, row);
	if (mr->live)
		mr->run.status = RUN_RUNNING;
	mr->past = !mr->live && (is_new || mr->past);
	if (is_new)
		mr->history = MODEL_STORED;
	if (row->rev > ingest->rev)
		ingest->rev = row->rev;
	return mr;
}

static int take_run(void *user, const struct stored_run *row)
{
	(void)take_row(user, row);
	return 0;
}

/*
 * A pod as the one that writes has it.  Of our own pods only what stays is
 * taken: the rest we see ourselves.
 */
static int take_pod(void *user, const struct store_pod *row)
{
	struct ingest *ingest = user;
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, row->name);

	if (pod == MODEL_NONE)
		return 0;
	struct model_pod *mp = &model->pods[pod];
	if (row->gpu != NULL && mp->gpu_name == NULL)
		model_pod_gpu(model, pod, row->gpu);
	if (ingest->store != NULL || mp->state == POD_GONE)
		return 0;
	mp->lag_ms = ingest->has_writer ? row->lag_ms : -1;
	model_pod_disk(model, pod, row->disk_free_bytes);
	if (ingest->has_writer)
		model_pod_state(model, pod, state_by_name(row->state),
				row->why != NULL ? row->why : "", 0);
	else
		model_pod_state(model, pod, POD_UNKNOWN, "nobody follows it now", 0);
	return 0;
}

/* In the order of the configuration, at the start. */
static void add_pods(struct ingest *ingest)
{
	const struct conf *conf = ingest->o.conf;
	struct model *model = ingest->o.model;

	for (size_t i = 0; i < conf->n_pods; i++) {
		size_t at = pods_in_model(ingest, &conf->pods[i]);

		if (model->pods[at].state == POD_GONE)
			model_pod_state(model, at, POD_UNKNOWN, "", 0);
	}
}

/* All that the database has of them. */
static int take_all(struct ingest *ingest, struct err *err)
{
	if (store_each_pod(ingest->history, take_pod, ingest, err) != 0)
		return -1;
	return store_each_run(ingest->history, 0, take_run, ingest, err);
}

int history_start(struct ingest *ingest, struct err *err)
{
	add_pods(ingest);
	open_fetch(ingest);
	ingest->has_writer = lock_is_held(ingest->o.db_path, &ingest->writer);
	return take_all(ingest, err);
}

/* A row of one that writes; who looks at the run sees what is new of it. */
static int renew_run(void *user, const struct stored_run *row)
{
	fetch_more(user, take_row(user, row));
	return 0;
}

/* The newest moment that is here of a pod; 0: none. */
static int64_t last_moment(const struct model_pod *pod)
{
	int64_t last_ms = 0;

	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++) {
		const struct series *series = pod->telemetry[store_telemetry_metrics[i]];

		if (series != NULL && series_last(series)->wall_ms > last_ms)
			last_ms = series_last(series)->wall_ms;
	}
	return last_ms;
}

static int add_moment(void *user, const struct store_telemetry *row)
{
	const struct pod_moment *at = user;

	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++)
		if (run_has(row->values[i]))
			model_pod_sample(at->model, at->pod, store_telemetry_metrics[i],
					 row->values[i], row->at_ms);
	return 0;
}

/* What was stored of the pods since we looked. */
static int renew_pods(struct ingest *ingest, struct err *err)
{
	struct model *model = ingest->o.model;
	int rc = store_each_pod(ingest->history, take_pod, ingest, err);

	/* Those of earlier are on their way. */
	if (!ingest->has_live || !list_is_empty(&ingest->asks))
		return rc;
	for (size_t i = 0; rc == 0 && i < model->n_pods; i++) {
		struct pod_moment at = { model, i };
		int64_t last_ms = last_moment(&model->pods[i]);
		const struct stored_span span = { model->pods[i].name,
						  last_ms > day_ago_ms(ingest) ? last_ms
									       : day_ago_ms(ingest),
						  true };

		rc = store_each_telemetry(ingest->history, &span, add_moment, &at, err);
	}
	return rc;
}

/* ---- the second one */

static void look_at_rows(struct ingest *ingest)
{
	int64_t version = store_data_version(ingest->history);
	struct err err = { ERR_NONE, "" };

	if (version == ingest->data_version)
		return;
	ingest->data_version = version;
	ingest->last_news_ms = ingest_now_ms(ingest);
	if (renew_pods(ingest, &err) != 0 ||
	    store_each_changed_run(ingest->history, ingest->rev, renew_run, ingest, &err) != 0)
		log_debug("ingest", "%s", err.text);
}

/* Whoever wrote is gone; be the one that does, unless a third one is. */
static void take_over(struct ingest *ingest)
{
	struct err err = { ERR_NONE, "" };

	if (ingest_become_writer(ingest, &err) != 0) {
		ingest_say(ingest, NULL, MODEL_ALARM, "%s", err.text);
		loop_timer_start(ingest->look, RETRY_MS, LOOK_MS);
		return;
	}
	if (ingest->store == NULL)
		return;
	ingest->o.model->is_shared = false;
	loop_timer_stop(ingest->look);
	ingest_say(ingest, NULL, MODEL_INFO,
		   "the other hgym-tui exited; this one follows the pods and "
		   "records now");
	pods_add(ingest);
	if (ingest->o.cb.on_writer != NULL)
		ingest->o.cb.on_writer(ingest->o.cb.user);
}

/* To try the lock is to have it for a moment: not oftener than need be. */
static bool is_written(struct ingest *ingest)
{
	if (ingest->has_writer && ingest->writer != 0 && ingest->looks++ % LOCK_LOOKS != 0 &&
	    (kill((pid_t)ingest->writer, 0) == 0 || errno == EPERM))
		return true;
	return lock_is_held(ingest->o.db_path, &ingest->writer);
}

static void history_on_look(void *user)
{
	struct ingest *ingest = user;
	bool held = is_written(ingest);

	if (ingest->history != NULL)
		look_at_rows(ingest);
	if (held == ingest->has_writer && (held || ingest->o.read_only))
		return;
	ingest->has_writer = ingest->o.model->is_shared = held;
	if (!ingest->o.read_only && !held)
		take_over(ingest);
	else if (ingest->history != NULL)
		(void)take_all(ingest, NULL);
}

void history_reload(struct ingest *ingest)
{
	/* Without pods there was nothing to follow. */
	ingest->o.read_only &= ingest->o.conf->n_pods == 0;
	add_pods(ingest);
	if (ingest->history != NULL)
		(void)take_all(ingest, NULL);
}

void history_watch(struct ingest *ingest)
{
	ingest->has_writer = lock_is_held(ingest->o.db_path, &ingest->writer);
	ingest->data_version = store_data_version(ingest->history);
	ingest->o.model->is_shared = ingest->has_writer;
	ingest->look = loop_timer_new(ingest->o.loop, history_on_look, ingest);
	loop_timer_start(ingest->look, LOOK_MS, LOOK_MS);
}
