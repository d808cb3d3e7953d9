/* SPDX-License-Identifier: MIT */
/*
 * The model out of the database: pods and runs at the start, all of them, and
 * what changed of them since where another one writes.
 */
#include "config.h"

#include <string.h>

#include "ingest/collect_priv.h"
#include "store/lock.h"
#include "store/query.h"

/* Where the moments of a pod go. */
struct pod_moment {
	struct model *model;
	size_t pod;
};

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
 * A log that was cut short goes on, as far as we know, when it is followed and
 * not silent for long; until its mirror was read again this is what can be
 * said.
 */
static bool
is_under_way(struct collect *c, const struct stored_run *row)
{
	const struct clock *clock = loop_clock(c->o.loop);
	const struct store_tail *tail;

	if (!is_ours(c, row))
		return row->is_live && c->has_writer;
	tail = store_tail_get(c->store, row->pod, row->name, row->gen);
	return row->run.status == RUN_TRUNCATED &&
	       row->run.run_index + 1 == tail->n_runs &&
	       clock->wall_ms(clock) - row->last_wall_ms < COLLECT_DEAD_MS;
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

int
collect_history_open(struct collect *c, struct err *err)
{
	collect_history_pods(c);
	collect_fetch_open(c);
	c->has_writer = lock_is_held(c->o.db_path, &c->writer);
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

	(void)take_run(c, row);
	mr = model_run_get(c->o.model, pod_of(c, row->pod), row->name,
			   collect_run_key(row->gen, row->run.run_index));
	collect_fetch_more(c, mr);
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
			last_ms > collect_day_ago_ms(c) ? last_ms
							: collect_day_ago_ms(c),
			true
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
