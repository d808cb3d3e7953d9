/* SPDX-License-Identifier: MIT */
/* Benches, plans and noise into the model; for the dashboard and the demo. */
#include "app/bench_feed.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/noise_register.h"
#include "bench/plan.h"
#include "bench/record.h"
#include "bench/show.h"
#include "bench/start.h"
#include "bench/stats.h"
#include "bench/verdict_json.h"
#include "pods/timed.h"
#include "report/facts_print.h"

#define MAX_BENCHES  50
#define MAX_PLANS    50
#define REPORT_BYTES (256U << 10)

struct bench_feed {
	struct model *model;
	struct context *context;
	char *base;		/* owned */
	char *plans[MAX_PLANS]; /* owned paths */
	size_t n_plans;
	struct noise_register noise, history;
	uint64_t db_mark;    /* of the database as looked at last */
	uint64_t noise_mark; /* of what the register says */
	uint64_t listed;     /* how many folders, and which register; 0: none */
};

static void add_plan(struct bench_feed *feed, const char *path)
{
	if (feed->n_plans < MAX_PLANS)
		feed->plans[feed->n_plans++] = xstrdup(path);
}

struct bench_feed *bench_feed_new(struct model *model, struct context *context)
{
	const struct conf_strings *plans = &context->conf.benches;
	struct bench_feed *feed = xcalloc(1, sizeof(*feed));

	feed->model = model;
	feed->context = context;
	feed->base = bench_base();
	for (size_t i = 0; i < plans->n; i++) {
		glob_t found = { 0 };

		if (glob(plans->v[i], 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++)
				add_plan(feed, found.gl_pathv[k]);
		globfree(&found);
	}
	return feed;
}

void bench_feed_free(struct bench_feed *feed)
{
	if (feed == NULL)
		return;
	for (size_t i = 0; i < feed->n_plans; i++)
		free(feed->plans[i]);
	noise_register_release(&feed->noise);
	noise_register_release(&feed->history);
	free(feed->base);
	free(feed);
}

/* A number that changes when a file does. */
static uint64_t mark_of(const char *path, const char *name)
{
	AUTO_TEXT file = xasprintf("%s%s", path, name);
	struct stat st;
	uint64_t mark = 1;

	if (stat(file, &st) == 0)
		mark = (uint64_t)st.st_mtim.tv_sec * 1000003 + (uint64_t)st.st_mtim.tv_nsec * 31 +
		       (uint64_t)st.st_size;
	return mark;
}

/* What the results folder of a bench looks like now. */
static uint64_t folder_mark(const struct bench_feed *feed, const char *id)
{
	AUTO_TEXT path = xasprintf("%s/%s", feed->base, id);
	uint64_t mark = mark_of(path, "/state.json");

	mark = mark * 31 + mark_of(path, "/verdict.json");
	mark = mark * 31 + mark_of(path, "/runs");
	mark = mark * 31 + mark_of(path, "/pods-stopped");
	return mark * 31 + feed->noise_mark;
}

static uint64_t plan_mark(const struct bench_feed *feed, const char *path)
{
	return mark_of(path, "") * 31 + feed->noise_mark;
}

/* The verdict of a folder: as text, and as the screen shows it. */
static void show_verdict(const struct bench_feed *feed, struct model_bench *bench,
			 const struct plan *plan, const char *path,
			 const struct folder_state *state)
{
	AUTO_JSON verdict = folder_read_json(path, "verdict.json");
	AUTO_FACTS facts = { .n = 0 };
	AUTO_BUF text = buf_new(REPORT_BYTES);

	report_facts(&facts, verdict);
	noise_history_facts(&facts, &feed->history, bench->id);
	facts_print_text(&text, &facts);
	bench->report = verdict != NULL ? buf_detach(&text) : NULL;
	bench->live = bench_show(plan, path, state, verdict);
}

static void read_bench(struct bench_feed *feed, struct model_bench *bench, const char *id)
{
	AUTO_TEXT path = xasprintf("%s/%s", feed->base, id);
	struct folder_state state;
	struct plan plan;

	*bench = (struct model_bench){ .id = xstrdup(id), .cost_usd = RUN_ABSENT };
	if (folder_read_state(path, &state)) {
		bench->name = xstrdup(state.name);
		bench->state = xstrdup(state.state);
		bench->started_ms = state.started_ms;
		bench->ended_ms = state.ended_ms;
		bench->cost_usd = state.cost_usd;
	} else {
		bench->name = xstrdup(id);
		bench->state = xstrdup("unknown");
	}
	if (bench_load_plan(&plan, path, NULL) == 0) {
		show_verdict(feed, bench, &plan, path, &state);
		bench->still_up = bench_pods_left_running(&plan, path);
		if (bench->live != NULL)
			bench->live->still_up = bench->still_up;
		plan_release(&plan);
	}
}

static void read_plan(const struct bench_feed *feed, struct model_bench *bench, const char *path)
{
	struct err err = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(REPORT_BYTES);
	struct plan plan;

	*bench = (struct model_bench){ .id = xstrdup(path),
				       .cost_usd = RUN_ABSENT,
				       .is_plan = true };
	if (plan_load(&plan, path, &err)) {
		bench->name = xstrdup(file_name(path));
		bench->state = xstrdup("broken plan");
		bench->report = xstrdup(err.text);
		return;
	}
	bench->name = xstrdup(plan.name);
	bench->state = xstrdup("plan");
	buf_appendf(&text, "$ hgym-tui bench run --yes %s\n\n", path);
	bench_describe(&text, &plan, &feed->noise);
	bench->report = buf_detach(&text);
	plan_release(&plan);
}

static void fill_noise(struct model_noise *out, const struct noise_entry *e)
{
	static const size_t blocks[3] = { 3, 6, 10 };

	*out = (struct model_noise){
		.pod = xstrdup(e->pod),
		.class_name = xstrdup(e->class_name),
		.sd = 100.0 * e->noise.sd,
		.drift = stats_pct(e->noise.drift),
		.drift_p = e->noise.drift_p,
		.n_runs = e->noise.n_runs,
		.rank = e->rank,
		.of = e->n_ranked,
		.when_ms = e->when_ms,
	};
	for (size_t i = 0; i < 3; i++)
		out->shows[i] = stats_pct(noise_mde(&e->noise, blocks[i]));
}

static int newest_first(const void *a, const void *b)
{
	const struct model_noise *x = a, *y = b;

	return x->when_ms > y->when_ms ? -1 : x->when_ms < y->when_ms;
}

/* The database of a collector changes all the time, the register rarely. */
static uint64_t noise_mark(const struct noise_register *reg)
{
	uint64_t mark = reg->n + 1;

	for (size_t i = 0; i < reg->n; i++)
		mark = mark * 1000003 + (uint64_t)reg->v[i].when_ms * 31 + reg->v[i].noise.n_runs;
	return mark;
}

/* The register, when the database changed; what was read stays otherwise. */
static void poll_noise(struct bench_feed *feed)
{
	const char *db_path = feed->context->db_path;
	struct model_noise *noise;
	struct noise_register fresh, history;
	uint64_t mark = mark_of(db_path, "") * 31 + mark_of(db_path, "-wal");

	if (mark == feed->db_mark)
		return;
	if (noise_history_load(&history, feed->context, NULL, NULL) != 0)
		return;
	feed->db_mark = mark;
	mark = noise_mark(&history);
	if (mark == feed->noise_mark || noise_register_load(&fresh, feed->context, NULL) != 0) {
		noise_register_release(&history);
		return;
	}
	feed->noise_mark = mark;
	noise_register_release(&feed->noise);
	noise_register_release(&feed->history);
	feed->noise = fresh;
	feed->history = history;
	noise = xcalloc(fresh.n + 1, sizeof(*noise));
	for (size_t i = 0; i < fresh.n; i++)
		fill_noise(&noise[i], &fresh.v[i]);
	qsort(noise, fresh.n, sizeof(*noise), newest_first);
	model_noise_set(feed->model, noise, fresh.n);
}

/* The model still has this bench as it looks now. */
static bool is_as_read(const struct model_bench *bench, const char *id, uint64_t mark)
{
	return bench->mark == mark && strcmp(bench->id, id) == 0;
}

/* Nothing came, went or changed since the list was made. */
static bool is_list_current(const struct bench_feed *feed, char **ids, size_t shown)
{
	const struct model *model = feed->model;
	size_t plans = model->n_benches - feed->n_plans;

	for (size_t i = 0; i < shown; i++)
		if (!is_as_read(&model->benches[i], ids[i], folder_mark(feed, ids[i])))
			return false;
	return all_of(i, feed->n_plans,
		      is_as_read(&model->benches[plans + i], feed->plans[i],
				 plan_mark(feed, feed->plans[i])));
}

/* The bench of that id in the model, unless it was taken; NULL: none. */
static struct model_bench *find_old(const struct model *model, const char *id)
{
	return array_find(one, model->benches, model->n_benches,
			  one->id != NULL && strcmp(one->id, id) == 0);
}

/* A bench has left pods up since the last look: they cost money. */
static void tell_still_up(struct model *model, const struct model_bench *bench)
{
	AUTO_TEXT text = xasprintf("bench %s: still up: %s; bench-stop runs their stop_cmd",
				   bench->name, bench->still_up);
	const struct model_event event = {
		.wall_ms = clock_wall_ms(),
		.severity = MODEL_WARNING,
		.pod = MODEL_NONE,
		.text = text,
	};

	model_event_add(model, &event);
}

/* The bench as it was read before, else as it is now. */
static void take(struct bench_feed *feed, struct model_bench *bench, const char *id, bool is_plan)
{
	struct model_bench *old = find_old(feed->model, id);
	uint64_t mark = is_plan ? plan_mark(feed, id) : folder_mark(feed, id);

	if (old != NULL && old->mark == mark) {
		*bench = *old;
		*old = (struct model_bench){ 0 };
		return;
	}
	if (is_plan)
		read_plan(feed, bench, id);
	else
		read_bench(feed, bench, id);
	bench->mark = mark;
	/* What ended before the first list is no news. */
	if (feed->listed != 0 && bench->still_up != NULL && (old == NULL || old->still_up == NULL))
		tell_still_up(feed->model, bench);
}

static void make_list(struct bench_feed *feed, char **ids, size_t n, size_t shown)
{
	struct model_bench *v = xcalloc(shown + MAX_BENCHES + feed->n_plans + 1, sizeof(*v));
	size_t count = 0;

	while (count < shown) {
		take(feed, &v[count], ids[count], false);
		count++;
	}
	count += bench_stored_list(feed->context, ids, n, v + count, MAX_BENCHES);
	for (size_t i = 0; i < feed->n_plans; i++)
		take(feed, &v[count++], feed->plans[i], true);
	model_benches_set(feed->model, v, count);
}

/* Time and money of what runs; true: they moved. */
static bool poll_clocks(struct bench_feed *feed)
{
	int64_t now_ms = clock_wall_ms();
	bool moved = false;

	array_each (bench, feed->model->benches, feed->model->n_benches) {
		AUTO_TEXT path = xasprintf("%s/%s", feed->base, bench->id);
		struct folder_state state;

		if (bench->live == NULL || (!bench->live->running && bench->live->elapsed_s > 0.0))
			continue;
		if (!folder_read_state(path, &state))
			continue;
		bench_show_clock(bench->live, &state, now_ms);
		bench->live->driven = bench->live->running && timed_is_driven(path);
		bench_show_waits(bench->live, path, now_ms);
		bench->cost_usd = bench->live->cost_usd;
		moved = true;
	}
	return moved;
}

void bench_feed_poll(struct bench_feed *feed)
{
	size_t n = 0, shown;
	AUTO_FREE char **ids = folder_list(feed->base, &n);

	poll_noise(feed);
	shown = n < MAX_BENCHES ? n : MAX_BENCHES;
	uint64_t listed = (n * 7919 + feed->noise_mark) | 1;
	if (listed != feed->listed || !is_list_current(feed, ids, shown))
		make_list(feed, ids, n, shown);
	feed->listed = listed;
	/* Who may have put another in its place meanwhile? */
	context_close_db(feed->context);
	if (poll_clocks(feed))
		model_note_change(feed->model, MODEL_BENCH);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
}
