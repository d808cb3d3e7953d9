/* SPDX-License-Identifier: MIT */
/*
 * The series of a run out of the database, when a view or a forecast looks at
 * it.  What is read meanwhile joins them, so that a run's series are never
 * short of a point nor have one twice.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"
#include "store/history.h"

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

/* Fetch its series, as far as they are not here. */
static void
fetch(struct collect *c, struct model_run *mr)
{
	struct collect_ask *ask = xcalloc(1, sizeof(*ask));
	const struct history_ask what = {
		.run_id = mr->run_id,
		.after_line = mr->stored_line,
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

int64_t
collect_day_ago_ms(const struct collect *c)
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
		.after_ms = collect_day_ago_ms(c),
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
collect_fetch_tick(struct collect *c)
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
	collect_fetch_tick(c);
}

void
collect_fetch_sample(struct collect *c, struct model_run *mr,
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

void
collect_fetch_more(struct collect *c, struct model_run *mr)
{
	struct collect_ask *ask = find_ask(c, mr);

	if (ask != NULL)
		ask->is_again = true;
	else if (mr->history == MODEL_WHOLE)
		fetch(c, mr);
	else if (mr->live)
		model_run_want(c->o.model, mr);
}

void
collect_fetch_open(struct collect *c)
{
	struct model *model = c->o.model;

	/* More may be stored by now of what was fetched before. */
	for (size_t i = 0; i < model->n_runs; i++)
		if (model->runs[i]->run_id != 0)
			model_run_forget(model, model->runs[i]);
	c->has_live = false;
	c->fetch = history_new(c->o.loop, c->o.db_path, on_answer, c);
	model->fetch = (struct model_fetch){ on_want, c };
}

void
collect_fetch_close(struct collect *c)
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
