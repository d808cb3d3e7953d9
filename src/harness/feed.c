/* SPDX-License-Identifier: MIT */
/* HarnessGym directories into the model; made by the app and the demo. */
#include "harness/feed.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "harness/wire.h"
#include "model/harness_view.h"
#include "remote/fleet.h"

#define TICK_MS	  500
#define CLOCK_MS  1000	/* a countdown moves */
#define ANSWER_MS 15000 /* a pod that is asked answers sooner */
/* Commands that wait on one pod, which allows so many sessions a link. */
#define MAX_WAITING 5

/* How often one is looked at: with a run that is alive, and any other. */
static const int64_t every_ms[2][2] = {
	{ 60000, 5000 }, /* on a pod */
	{ 2000, 1000 },	 /* here */
};

/* A directory that is followed. */
struct source {
	struct harness_feed *feed;
	size_t place;		     /* in the view */
	char *path;		     /* owned */
	int64_t due_ms, shown_ms;    /* mono clock */
	size_t pod;		     /* in the model; HERE: this machine */
	struct transport *transport; /* borrowed */
	size_t index;		     /* of the pod there */
	struct stream *stream;	     /* NULL: no command is there */
	bool has_all;		     /* all was sent, since then changes */
	bool waits;		     /* it has answered, and can again */
	int64_t asked_ms;	     /* mono clock */
	uint64_t shown;		     /* the generation of files */
	struct harness_files files;
	struct harness_wire wire;
};

#define HERE SIZE_MAX

struct harness_feed {
	struct loop *loop;
	struct model *model;
	struct loop_timer *timer;
	struct fleet *here; /* the way to this machine; NULL: not yet */
	struct harness_view view;
	struct source **sources; /* stable pointers */
	size_t n, cap;
};

static void on_tick(void *user)
{
	harness_feed_poll(user);
}

struct harness_feed *harness_feed_new(struct loop *loop, struct model *model)
{
	struct harness_feed *feed = xcalloc(1, sizeof(*feed));

	feed->loop = loop;
	feed->model = model;
	feed->timer = loop_timer_new(loop, on_tick, feed);
	loop_timer_start(feed->timer, TICK_MS, TICK_MS);
	model->harness = &feed->view;
	return feed;
}

static void source_free(struct source *source)
{
	harness_wire_release(&source->wire);
	harness_files_release(&source->files);
	free(source->path);
	free(source);
}

/* Free it now, or when the end of its command has been told. */
static void source_end(struct source *source)
{
	source->feed = NULL;
	if (source->stream != NULL)
		source->transport->ops->cancel(source->stream);
	else
		source_free(source);
}

void harness_feed_free(struct harness_feed *feed)
{
	if (feed == NULL)
		return;
	loop_timer_close(feed->timer);
	for (size_t i = 0; i < feed->n; i++)
		source_end(feed->sources[i]);
	free(feed->sources);
	fleet_free(feed->here);
	harness_view_release(&feed->view);
	feed->model->harness = NULL;
	free(feed);
}

/* The pod is that of the index in transport. */
static void add_source(struct harness_feed *feed, const char *title, const char *path,
		       struct transport *transport, size_t index, size_t pod)
{
	struct source *source;

	if (feed->n == HARNESS_MAX_PLACES)
		return;
	source = xcalloc(1, sizeof(*source));
	source->feed = feed;
	source->path = xstrdup(path);
	source->pod = pod;
	source->transport = transport;
	source->index = index;
	harness_files_init(&source->files);
	harness_wire_init(&source->wire, &source->files);
	source->place = harness_view_add(&feed->view, title, &source->files);
	xpush(feed->sources, feed->n, feed->cap, source);
}

void harness_feed_local(struct harness_feed *feed, const char *path)
{
	static const struct remote_pod here = { .name = "here", .transport = REMOTE_LOCAL };

	if (feed->here == NULL)
		feed->here = fleet_new(feed->loop, &here, 1, NULL);
	add_source(feed, path, path, fleet_transport(feed->here), 0, HERE);
}

void harness_feed_pod(struct harness_feed *feed, size_t pod, struct transport *transport,
		      size_t index, const char *dir)
{
	AUTO_TEXT title = xasprintf("%s:%s", feed->model->pods[pod].name, dir);

	add_source(feed, title, dir, transport, index, pod);
}

/* Whether a run of the place is alive: its clock moves, it is asked often. */
static bool is_alive(const struct source *source)
{
	const struct harness_place *place = &source->feed->view.places[source->place];

	if (!place->read)
		return false;
	if (place->is_compare)
		return !place->compare.has_report;
	return any_of(i, place->ws.n_runs, place->ws.runs[i].life.state == HARNESS_STATE_RUNNING);
}

/* Judge anew what was sent, unless nothing of it has changed. */
static void show(struct source *source)
{
	struct harness_feed *feed = source->feed;
	bool is_compare = strcmp(source->wire.what, "compare") == 0;

	if (source->shown_ms == 0 || is_alive(source) ||
	    source->shown != source->files.generation ||
	    feed->view.places[source->place].why[0] != '\0') {
		harness_view_read(&feed->view, source->place, is_compare, source->wire.now_ms);
		model_note_change(feed->model, MODEL_HARNESS);
	}
	source->shown = source->files.generation;
	source->shown_ms = clock_mono_ms();
}

static void trouble(struct source *source, const char *why)
{
	harness_view_trouble(&source->feed->view, source->place, why);
	model_note_change(source->feed->model, MODEL_HARNESS);
}

/* What a pattern matches is followed beside it, each in its own place. */
static void follow_matches(struct source *source)
{
	struct harness_feed *feed = source->feed;
	char why[64];

	for (size_t i = 0; i < source->wire.n_dirs; i++) {
		const char *dir = source->wire.dirs[i];
		bool known = false;

		for (size_t k = 0; k < feed->n; k++)
			known |= feed->sources[k]->pod == source->pod &&
				 strcmp(feed->sources[k]->path, dir) == 0;
		if (!known && source->pod == HERE)
			harness_feed_local(feed, dir);
		else if (!known)
			harness_feed_pod(feed, source->pod, source->transport, source->index, dir);
	}
	print_into(why, "a pattern; what it matches: %zu", source->wire.n_dirs);
	trouble(source, why);
}

/* It is looked at again after that. */
static void set_due(struct source *source)
{
	source->due_ms = clock_mono_ms() + every_ms[source->pod == HERE][is_alive(source)];
}

/* The pod has sent all that there was to send. */
static void take_answer(struct source *source)
{
	if (source->wire.none) {
		trouble(source, "no HarnessGym run and no comparison there");
	} else if (source->wire.what[0] == '\0') {
		follow_matches(source);
	} else {
		if (!source->has_all)
			harness_files_walked(&source->files);
		source->has_all = true;
		show(source);
	}
	source->waits = true;
	harness_wire_next(&source->wire);
	set_due(source);
}

static size_t on_data(void *user, const void *data, size_t len)
{
	struct source *source = user;

	if (source->feed == NULL)
		return len;
	source->asked_ms = clock_mono_ms();
	harness_wire_feed(&source->wire, (struct str){ data, len });
	if (source->wire.ended)
		take_answer(source);
	return len;
}

/* A broken answer changes nothing of what is shown. */
static void on_close(void *user, const struct stream_exit *exit)
{
	struct source *source = user;

	source->stream = NULL;
	if (source->feed == NULL) {
		source_free(source);
		return;
	}
	if (exit->err.code != ERR_NONE)
		trouble(source, exit->err.text);
	else if (!source->waits)
		trouble(source, "the pod did not send all of it");
	if (!source->waits || exit->err.code != ERR_NONE)
		set_due(source);
}

/* Whether one command more may wait on that pod. */
static bool may_wait(const struct source *source)
{
	const struct harness_feed *feed = source->feed;
	size_t n = 0;

	for (size_t i = 0; i < feed->n; i++)
		n += feed->sources[i]->stream != NULL &&
		     feed->sources[i]->transport == source->transport &&
		     feed->sources[i]->index == source->index;
	return n < MAX_WAITING;
}

static void ask_pod(struct source *source)
{
	static const struct stream_cb cb = { .on_data = on_data, .on_close = on_close };
	struct err err = { ERR_NONE, "" };

	set_due(source);
	source->asked_ms = clock_mono_ms();
	source->waits = false;
	if (source->stream != NULL) {
		if (source->transport->ops->write(source->stream, "\n", 1, &err) != 0)
			trouble(source, err.text);
		return;
	}
	harness_wire_next(&source->wire);
	harness_files_walked(&source->files);
	source->has_all = false;
	source->stream =
		harness_wire_start(source->transport, source->index, source->path,
				   !may_wait(source), source->pod == HERE, &cb, source, &err);
	if (source->stream == NULL)
		trouble(source, err.text);
}

/* Once a second, how old it is what cannot be read anew. */
static void tell_age(struct source *source, int64_t now)
{
	struct harness_place *place = &source->feed->view.places[source->place];
	int64_t age_ms = now - source->shown_ms;

	if (source->stream != NULL && !source->waits && place->why[0] == '\0' &&
	    now - source->asked_ms > ANSWER_MS)
		trouble(source, "the pod does not answer");
	if (place->why[0] == '\0' || !place->read || age_ms - place->age_ms < CLOCK_MS)
		return;
	harness_view_age(&source->feed->view, source->place, age_ms);
	model_note_change(source->feed->model, MODEL_HARNESS);
}

void harness_feed_poll(struct harness_feed *feed)
{
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < feed->n; i++) {
		struct source *source = feed->sources[i];

		tell_age(source, now);
		if (source->due_ms > now || (source->stream != NULL && !source->waits))
			continue;
		if (source->pod == HERE || !feed->model->pods[source->pod].bench_running)
			ask_pod(source);
	}
}
