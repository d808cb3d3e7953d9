/* SPDX-License-Identifier: MIT */
/* Read HarnessGym directories into the model. */
#include "harness/feed.h"

#include "harness/wire.h"
#include "model/harness_view.h"
#include "remote/fleet.h"

#define TICK_MS	  500
#define AGE_MS	  1000	/* how often the shown age changes */
#define ANSWER_MS 15000 /* a pod that takes longer "does not answer" */
/* Maximum number of commands that stay open on a pod: servers limit the sessions per connection. */
#define MAX_OPEN 5

/* Pause between two reads: without and with an active run. */
static const int64_t every_ms[2][2] = {
	{ 60000, 5000 }, /* on a pod */
	{ 2000, 1000 },	 /* on this machine */
};

struct source {
	struct harness_feed *feed;
	size_t place;		     /* in the view */
	char *path;		     /* owned */
	int64_t due_ms, shown_ms;    /* mono clock */
	size_t pod;		     /* in the model; LOCAL: this machine */
	struct transport *transport; /* borrowed */
	size_t index;		     /* of the pod in transport */
	struct stream *stream;	     /* NULL: the command does not run */
	bool is_complete; /* the first answer is complete; later ones have only changes */
	bool is_idle;	  /* the command has answered, and can be asked again */
	int64_t asked_ms; /* mono clock */
	uint64_t shown;	  /* generation of files */
	struct harness_files files;
	struct harness_wire wire;
};

#define LOCAL SIZE_MAX

struct harness_feed {
	struct loop *loop;
	struct model *model;
	struct loop_timer *timer;
	struct fleet *local; /* transport to this machine; NULL: not yet */
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

static void free_source(struct source *source)
{
	harness_wire_release(&source->wire);
	harness_files_release(&source->files);
	free(source->path);
	free(source);
}

void harness_feed_free(struct harness_feed *feed)
{
	if (feed == NULL)
		return;
	loop_timer_close(feed->timer);
	for (size_t i = 0; i < feed->n; i++) {
		struct source *source = feed->sources[i];

		/* on_close frees a source whose command still runs. */
		source->feed = NULL;
		if (source->stream != NULL)
			source->transport->ops->cancel(source->stream);
		else
			free_source(source);
	}
	free(feed->sources);
	fleet_free(feed->local);
	harness_view_release(&feed->view);
	feed->model->harness = NULL;
	free(feed);
}

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
	static const struct remote_pod local = { .name = "here", .transport = REMOTE_LOCAL };

	if (feed->local == NULL)
		feed->local = fleet_new(feed->loop, &local, 1, NULL);
	add_source(feed, path, path, fleet_transport(feed->local), 0, LOCAL);
}

void harness_feed_pod(struct harness_feed *feed, size_t pod, struct transport *transport,
		      size_t index, const char *dir)
{
	AUTO_TEXT title = xasprintf("%s:%s", feed->model->pods[pod].name, dir);

	add_source(feed, title, dir, transport, index, pod);
}

/* Does the place have an unfinished run or comparison? */
static bool is_active(const struct source *source)
{
	const struct harness_place *place = &source->feed->view.places[source->place];

	if (!place->read)
		return false;
	if (place->is_compare)
		return !place->compare.has_report;
	return any_of(i, place->ws.n_runs, place->ws.runs[i].life.state == HARNESS_STATE_RUNNING);
}

/* Check the received files again and show the result, unless nothing changed. */
static void update_view(struct source *source)
{
	struct harness_feed *feed = source->feed;
	bool is_compare = strcmp(source->wire.what, "compare") == 0;

	if (source->shown_ms == 0 || is_active(source) ||
	    source->shown != source->files.generation ||
	    feed->view.places[source->place].why[0] != '\0') {
		harness_view_read(&feed->view, source->place, is_compare, source->wire.now_ms);
		model_note_change(feed->model, MODEL_HARNESS);
	}
	source->shown = source->files.generation;
	source->shown_ms = clock_mono_ms();
}

static void show_problem(struct source *source, const char *why)
{
	harness_view_set_trouble(&source->feed->view, source->place, why);
	model_note_change(source->feed->model, MODEL_HARNESS);
}

static void follow_matches(struct source *source)
{
	struct harness_feed *feed = source->feed;
	char why[64];

	for (size_t i = 0; i < source->wire.n_dirs; i++) {
		const char *dir = source->wire.dirs[i];
		bool known =
			array_any(one, feed->sources, feed->n,
				  (*one)->pod == source->pod && strcmp((*one)->path, dir) == 0);

		if (!known && source->pod == LOCAL)
			harness_feed_local(feed, dir);
		else if (!known)
			harness_feed_pod(feed, source->pod, source->transport, source->index, dir);
	}
	print_into(why, "a pattern with %zu matches", source->wire.n_dirs);
	show_problem(source, why);
}

static void set_due(struct source *source)
{
	source->due_ms = clock_mono_ms() + every_ms[source->pod == LOCAL][is_active(source)];
}

static void handle_answer(struct source *source)
{
	if (source->wire.none) {
		show_problem(source, "no HarnessGym run or comparison in this directory");
	} else if (source->wire.what[0] == '\0') {
		follow_matches(source);
	} else {
		if (!source->is_complete)
			harness_files_walked(&source->files);
		source->is_complete = true;
		update_view(source);
	}
	source->is_idle = true;
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
		handle_answer(source);
	return len;
}

/* Handle the end of the command.  An incomplete answer leaves the view unchanged. */
static void on_close(void *user, const struct stream_exit *exit)
{
	struct source *source = user;

	source->stream = NULL;
	if (source->feed == NULL) {
		free_source(source);
		return;
	}
	if (exit->err.code != ERR_NONE)
		show_problem(source, exit->err.text);
	else if (!source->is_idle)
		show_problem(source, "the answer of the pod is incomplete");
	if (!source->is_idle || exit->err.code != ERR_NONE)
		set_due(source);
}

static void ask_pod(struct source *source)
{
	static const struct stream_cb cb = { .on_data = on_data, .on_close = on_close };
	const struct harness_feed *feed = source->feed;
	struct err err = { ERR_NONE, "" };

	set_due(source);
	source->asked_ms = clock_mono_ms();
	source->is_idle = false;
	if (source->stream != NULL) {
		if (source->transport->ops->write(source->stream, "\n", 1, &err) != 0)
			show_problem(source, err.text);
		return;
	}
	harness_wire_next(&source->wire);
	harness_files_walked(&source->files);
	source->is_complete = false;
	size_t n_open =
		array_count(one, feed->sources, feed->n,
			    (*one)->stream != NULL && (*one)->transport == source->transport &&
				    (*one)->index == source->index);
	source->stream =
		harness_wire_start(source->transport, source->index, source->path,
				   n_open >= MAX_OPEN, source->pod == LOCAL, &cb, source, &err);
	if (source->stream == NULL)
		show_problem(source, err.text);
}

/* Show that the pod does not answer, and once per second the age of data that cannot be updated. */
static void update_age(struct source *source, int64_t now)
{
	struct harness_place *place = &source->feed->view.places[source->place];
	int64_t age_ms = now - source->shown_ms;

	if (source->stream != NULL && !source->is_idle && place->why[0] == '\0' &&
	    now - source->asked_ms > ANSWER_MS)
		show_problem(source, "the pod does not answer");
	if (place->why[0] == '\0' || !place->read || age_ms - place->age_ms < AGE_MS)
		return;
	harness_view_set_age(&source->feed->view, source->place, age_ms);
	model_note_change(source->feed->model, MODEL_HARNESS);
}

void harness_feed_poll(struct harness_feed *feed)
{
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < feed->n; i++) {
		struct source *source = feed->sources[i];

		update_age(source, now);
		if (source->due_ms > now || (source->stream != NULL && !source->is_idle))
			continue;
		if (source->pod == LOCAL || !feed->model->pods[source->pod].bench_running)
			ask_pod(source);
	}
}
