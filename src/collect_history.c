/* SPDX-License-Identifier: MIT */
/*
 * The model out of the database: runs at the start, all of them, and the
 * series of one when a view or a forecast looks at it.  What is read meanwhile
 * joins them, so that a run's series are never short of a point nor have one
 * twice.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "collect_priv.h"
#include "store/history.h"
#include "store/lock.h"
#include "store/query.h"

/* Runs that are over whose series stay here, for who goes back and forth. */
#define FETCHED_MAX    48
#define SHOWING_MAX_MS 500

/* Series that were asked for, and what came of the run since. */
struct collect_ask {
	struct list link;     /* of collect.asks */
	struct model_run *mr; /* NULL: of a pod */
	size_t pod;
	struct sample *samples; /* not committed when it was asked */
	size_t n, cap;
	bool is_again; /* more was stored since it was asked */
};

/* Where the moments of a pod go. */
struct pod_moment {
	struct model *model;
	size_t pod;
};

static void
free_ask(struct collect_ask *ask)
{
	list_remove(&ask->link);
	free(ask->samples);
	free(ask);
}

static struct collect_ask *
find_ask(const struct collect *c, const struct model_run *mr)
{
	list_for_each (link, &c->asks) {
		struct collect_ask *ask =
			list_entry(link, struct collect_ask, link);

		if (ask->mr == mr)
			return ask;
	}
	return NULL;
}

static void
add_sample(void *user, const struct sample *sample)
{
	struct collect_ask *ask = user;

	ask->samples =
		xgrow(ask->samples, ask->n, &ask->cap, sizeof(*ask->samples));
	ask->samples[ask->n++] = *sample;
}

/* Its lines come from its mirror's end: nobody here reads the log itself. */
static bool
has_stored_lines(const struct collect *c, const struct model_log *log)
{
	return log != NULL &&
	       (c->store == NULL || logtail_count(log->tail) == 0);
}

/* Fetch its series, as far as they are not here, and the end of its log. */
static void
fetch(struct collect *c, struct model_run *mr)
{
	struct collect_ask *ask = xcalloc(1, sizeof(*ask));
	const struct history_ask what = {
		.run_id = mr->run_id,
		.after_line = mr->stored_line,
		.mirror = has_stored_lines(c, mr->log) ? mr->log->file : NULL,
		.tag = ask,
	};

	ask->mr = mr;
	if (mr->history == MODEL_STORED)
		mr->history = MODEL_ASKED;
	list_append(&c->asks, &ask->link);
	if (c->store != NULL)
		store_each_pending(c->store, mr->run_id, add_sample, ask);
	history_read(c->fetch, &what);
}

static void
on_want(void *user, struct model_run *mr)
{
	struct collect *c = user;

	mr->wanted = ++c->n_wants;
	if (mr->history == MODEL_STORED)
		fetch(c, mr);
}

/* Let go of those that were looked at longest ago. */
static void
note_fetched(struct collect *c, struct model_run *mr)
{
	size_t oldest = 0;

	c->fetched = xgrow(c->fetched, c->n_fetched, &c->cap_fetched,
			   sizeof(struct model_run *));
	c->fetched[c->n_fetched++] = mr;
	if (c->n_fetched <= FETCHED_MAX)
		return;
	for (size_t i = 1; i < c->n_fetched; i++)
		if (c->fetched[i]->wanted < c->fetched[oldest]->wanted)
			oldest = i;
	/* One that went on meanwhile stays. */
	if (c->fetched[oldest]->past)
		model_run_forget(c->o.model, c->fetched[oldest]);
	c->fetched[oldest] = c->fetched[--c->n_fetched];
}

/* The last lines of a log that is not read again. */
static void
show_end(struct collect *c, struct model_log *log,
	 const struct history_answer *answer)
{
	struct str text = { answer->text, answer->text_len }, line;
	bool is_cut = answer->text_is_cut;

	if (text.len == 0 || !has_stored_lines(c, log))
		return;
	log->ahead = false; /* those of before give way */
	while (str_next(&text, '\n', &line)) {
		if (!is_cut && line.len > 0)
			model_log_ahead(c->o.model, log, line);
		is_cut = false;
	}
}

/* Charts of telemetry go back so far. */
static int64_t
day_ago_ms(const struct collect *c)
{
	const struct clock *clock = loop_clock(c->o.loop);

	return clock->wall_ms(clock) - STORE_TELEMETRY_FULL_MS;
}

static void
fetch_pod(struct collect *c, size_t pod)
{
	struct collect_ask *ask = xcalloc(1, sizeof(*ask));
	const struct history_ask what = {
		.pod = c->o.model->pods[pod].name,
		.after_ms = day_ago_ms(c),
		.tag = ask,
	};

	ask->pod = pod;
	list_append(&c->asks, &ask->link);
	history_read(c->fetch, &what);
}

/*
 * Forecasts and alerts read the series of what runs: they are fetched when
 * all that the screen shows is there.
 */
void
collect_history_tick(struct collect *c)
{
	if (c->has_live || !list_is_empty(&c->asks))
		return;
	c->has_live = true;
	for (size_t i = 0; i < c->o.model->n_runs; i++)
		if (c->o.model->runs[i]->live)
			model_run_want(c->o.model, c->o.model->runs[i]);
	for (size_t i = 0; i < c->o.model->n_pods; i++)
		fetch_pod(c, i);
}

bool
collect_is_showing(const struct collect *c)
{
	return !c->has_live && !list_is_empty(&c->asks) &&
	       collect_now_ms(c) - c->start_ms < SHOWING_MAX_MS;
}

static void
take_run_answer(struct collect *c, struct collect_ask *ask,
		struct history_answer *answer)
{
	struct model_run *mr = ask->mr;
	bool is_more = mr->history != MODEL_ASKED, is_again;

	if (mr->history == MODEL_ASKED)
		model_run_fetched(c->o.model, mr, answer->series,
				  answer->last_line);
	else
		model_run_append(c->o.model, mr, answer->series,
				 answer->last_line);
	for (size_t i = 0; i < ask->n; i++)
		if (ask->samples[i].line > mr->stored_line)
			model_run_sample(c->o.model, mr, &ask->samples[i]);
	show_end(c, mr->log, answer);
	is_again = ask->is_again;
	free_ask(ask);
	if (mr->past && !is_more)
		note_fetched(c, mr);
	if (is_again)
		fetch(c, mr);
}

static void
on_answer(void *user, struct history_answer *answer)
{
	struct collect *c = user;
	struct collect_ask *ask = answer->tag;

	if (answer->err.code != ERR_NONE)
		collect_say(c, MODEL_WARNING, "%s", answer->err.text);
	if (ask->mr != NULL) {
		take_run_answer(c, ask, answer);
	} else {
		model_pod_fetched(c->o.model, ask->pod, answer->series);
		free_ask(ask);
	}
	collect_history_tick(c);
}

void
collect_history_sample(struct collect *c, struct model_run *mr,
		       const struct sample *sample)
{
	struct collect_ask *ask;

	switch (mr->history) {
	case MODEL_WHOLE:
		if (sample->line > mr->stored_line)
			model_run_sample(c->o.model, mr, sample);
		break;
	case MODEL_ASKED:
		ask = find_ask(c, mr);
		assert(ask != NULL);
		add_sample(ask, sample);
		break;
	case MODEL_STORED:
		/* It will come with the others. */
		break;
	}
}

static enum pod_state
state_by_name(const char *name)
{
	for (int i = POD_UNKNOWN; i <= POD_GONE; i++)
		if (name != NULL &&
		    strcmp(pod_state_name((enum pod_state)i), name) == 0)
			return (enum pod_state)i;
	return POD_UNKNOWN;
}

/* The model's pod of that name; one that is not configured is gone. */
static size_t
pod_of(struct collect *c, const char *name)
{
	struct model *model = c->o.model;
	size_t pod = model_pod_find(model, name);

	if (pod != MODEL_NONE)
		return pod;
	pod = model_pod_add(model, name, "");
	model_pod_state(model, pod, POD_GONE, "not in the configuration", 0);
	return pod;
}

/* Its log will be followed from here on. */
static bool
is_ours(const struct collect *c, const struct stored_run *row)
{
	return c->store != NULL && !row->is_ended &&
	       conf_find_pod(c->o.conf, row->pod) >= 0;
}

/*
 * A log that was cut short goes on, as far as we know, when it is followed;
 * until its mirror was read again this is what can be said.
 */
static bool
is_under_way(struct collect *c, const struct stored_run *row)
{
	const struct store_tail *tail;

	if (!is_ours(c, row))
		return row->is_live && c->has_writer;
	tail = store_tail_get(c->store, row->pod, row->name, row->gen);
	return row->run.status == RUN_TRUNCATED &&
	       row->run.run_index + 1 == tail->n_runs;
}

static int
take_run(void *user, const struct stored_run *row)
{
	struct collect *c = user;
	struct model *model = c->o.model;
	size_t pod = pod_of(c, row->pod);
	struct model_run *mr =
		model_run_get(model, pod, row->name,
			      collect_run_key(row->gen, row->run.run_index));
	bool is_new = mr->run_id == 0;

	if (!is_new && mr->run_id != row->run_id)
		return 0; /* there are too many */
	mr->run_id = row->run_id;
	mr->log = collect_log(c, pod, row->name, row->gen);
	if (mr->log->file == NULL)
		model_log_file(mr->log, row->mirror);
	model_run_update(model, mr, &row->run);
	mr->first_byte_wall_ms = row->first_wall_ms;
	mr->last_byte_wall_ms = row->last_wall_ms;
	mr->live = is_under_way(c, row);
	if (mr->live)
		mr->run.status = RUN_RUNNING;
	mr->past = !mr->live && (is_new || mr->past);
	if (is_new)
		mr->history = MODEL_STORED;
	if (row->rev > c->rev)
		c->rev = row->rev;
	return 0;
}

/*
 * A pod as the one that writes has it.  Of our own pods only what stays is
 * taken: the rest we see ourselves.
 */
static int
take_pod(void *user, const struct store_pod *row)
{
	struct collect *c = user;
	struct model *model = c->o.model;
	size_t pod = model_pod_find(model, row->name);
	struct model_pod *mp;

	if (pod == MODEL_NONE)
		return 0;
	mp = &model->pods[pod];
	if (row->gpu != NULL && mp->gpu_name == NULL)
		model_pod_gpu(model, pod, row->gpu);
	if (c->store != NULL || mp->state == POD_GONE)
		return 0;
	mp->lag_ms = c->has_writer ? row->lag_ms : -1;
	model_pod_disk(model, pod, row->disk_free_bytes);
	if (c->has_writer)
		model_pod_state(model, pod, state_by_name(row->state),
				row->why != NULL ? row->why : "", 0);
	else
		model_pod_state(model, pod, POD_UNKNOWN,
				"nobody follows it now", 0);
	return 0;
}

/* In the order of the configuration, at the start. */
void
collect_history_pods(struct collect *c)
{
	const struct conf *conf = c->o.conf;
	struct model *model = c->o.model;

	for (size_t i = 0; i < conf->n_pods; i++) {
		const struct conf_pod *pod = &conf->pods[i];
		size_t at = model_pod_find(model, pod->name);

		if (at == MODEL_NONE)
			at = model_pod_add(model, pod->name,
					   pod->ssh != NULL ? pod->ssh
							    : "local");
		else if (model->pods[at].state == POD_GONE)
			model_pod_state(model, at, POD_UNKNOWN, "", 0);
		model->pods[at].usd_per_hour = pod->usd_per_hour;
	}
}

/* Let go of all that was fetched: more may be stored by now. */
static void
forget_all(struct collect *c)
{
	for (size_t i = 0; i < c->o.model->n_runs; i++)
		if (c->o.model->runs[i]->run_id != 0)
			model_run_forget(c->o.model, c->o.model->runs[i]);
}

int
collect_history_open(struct collect *c, struct err *err)
{
	collect_history_pods(c);
	forget_all(c);
	c->has_live = false;
	c->has_writer = lock_is_held(c->o.db_path, &c->writer);
	c->fetch = history_new(c->o.loop, c->o.db_path, on_answer, c);
	c->o.model->fetch = (struct model_fetch){ on_want, c };
	return store_each_pod(c->history, take_pod, c, err) != 0 ||
			       store_each_run(c->history, 0, take_run, c,
					      err) != 0
		       ? -1
		       : 0;
}

/* A row of one that writes; who looks at the run sees what is new of it. */
static int
renew_run(void *user, const struct stored_run *row)
{
	struct collect *c = user;
	struct model_run *mr;
	struct collect_ask *ask;

	(void)take_run(c, row);
	mr = model_run_get(c->o.model, pod_of(c, row->pod), row->name,
			   collect_run_key(row->gen, row->run.run_index));
	ask = find_ask(c, mr);
	if (ask != NULL)
		ask->is_again = true;
	else if (mr->history == MODEL_WHOLE)
		fetch(c, mr);
	else if (mr->live)
		model_run_want(c->o.model, mr);
	return 0;
}

/* The newest moment that is here of a pod; 0: none. */
static int64_t
last_moment(const struct model_pod *pod)
{
	int64_t last_ms = 0;

	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++) {
		const struct series *series =
			pod->telemetry[store_telemetry_metrics[i]];

		if (series != NULL && series_last(series)->wall_ms > last_ms)
			last_ms = series_last(series)->wall_ms;
	}
	return last_ms;
}

static int
add_moment(void *user, const struct store_telemetry *row)
{
	const struct pod_moment *at = user;

	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++)
		if (run_has(row->values[i]))
			model_pod_sample(at->model, at->pod,
					 store_telemetry_metrics[i],
					 row->values[i], row->at_ms);
	return 0;
}

/* What was stored of the pods since we looked. */
static int
renew_pods(struct collect *c, struct err *err)
{
	struct model *model = c->o.model;
	int rc = store_each_pod(c->history, take_pod, c, err);

	/* Those of earlier are on their way. */
	if (!c->has_live || !list_is_empty(&c->asks))
		return rc;
	for (size_t i = 0; rc == 0 && i < model->n_pods; i++) {
		struct pod_moment at = { model, i };
		int64_t last_ms = last_moment(&model->pods[i]);
		const struct stored_span span = {
			model->pods[i].name,
			last_ms > day_ago_ms(c) ? last_ms : day_ago_ms(c), true
		};

		rc = store_each_telemetry(c->history, &span, add_moment, &at,
					  err);
	}
	return rc;
}

int
collect_history_renew(struct collect *c, struct err *err)
{
	if (renew_pods(c, err) != 0)
		return -1;
	return store_each_changed_run(c->history, c->rev, renew_run, c, err);
}

int
collect_history_again(struct collect *c, struct err *err)
{
	if (store_each_pod(c->history, take_pod, c, err) != 0)
		return -1;
	return store_each_run(c->history, 0, take_run, c, err);
}

void
collect_history_close(struct collect *c)
{
	list_for_each_safe(link, &c->asks)
	{
		struct collect_ask *ask =
			list_entry(link, struct collect_ask, link);

		if (ask->mr != NULL)
			ask->mr->history = MODEL_STORED;
		free_ask(ask);
	}
	history_free(c->fetch);
	c->fetch = NULL;
	free(c->fetched);
	c->fetched = NULL;
	c->n_fetched = c->cap_fetched = 0;
	c->o.model->fetch = (struct model_fetch){ NULL, NULL };
}
