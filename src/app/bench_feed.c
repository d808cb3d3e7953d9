/* SPDX-License-Identifier: MIT */
/* Loads benches, plans and noise into the model, for the dashboard and the demonstration. */
#include "app/bench_feed.h"

#include <glob.h>
#include <sys/stat.h>

#include "base/file.h"
#include "bench/line.h"
#include "bench/record.h"
#include "bench/show.h"
#include "bench/start.h"
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
	uint64_t db_mark;    /* mark of the database when it was last read */
	uint64_t noise_mark; /* mark of the content of `noise` */
	uint64_t listed;     /* number of folders and noise_mark; 0: no list was read yet */
};

struct bench_feed *bench_feed_new(struct model *model, struct context *context)
{
	const struct conf_strings *plans = &context->conf.benches;
	struct bench_feed *feed =
		xnew(struct bench_feed, .model = model, .context = context, .base = bench_base());

	for (size_t i = 0; i < plans->n; i++) {
		glob_t found = { 0 };

		if (glob(plans->v[i], 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc && feed->n_plans < MAX_PLANS; k++)
				feed->plans[feed->n_plans++] = xstrdup(found.gl_pathv[k]);
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

/* Return a number that changes when the file changes. */
static uint64_t mark_file(const char *path, const char *name)
{
	AUTO_TEXT file = xasprintf("%s%s", path, name);
	struct stat st;
	uint64_t mark = 1;

	if (stat(file, &st) == 0)
		mark = (uint64_t)st.st_mtim.tv_sec * 1000003 + (uint64_t)st.st_mtim.tv_nsec * 31 +
		       (uint64_t)st.st_size;
	return mark;
}

static uint64_t mark_folder(const struct bench_feed *feed, const char *id)
{
	AUTO_TEXT path = xasprintf("%s/%s", feed->base, id);
	uint64_t mark = mark_file(path, "/state.json");

	mark = mark * 31 + mark_file(path, "/verdict.json");
	mark = mark * 31 + mark_file(path, "/runs");
	mark = mark * 31 + mark_file(path, "/pods-stopped");
	return mark * 31 + feed->noise_mark;
}

static uint64_t mark_plan(const struct bench_feed *feed, const char *path)
{
	return mark_file(path, "") * 31 + feed->noise_mark;
}

static void read_bench(struct bench_feed *feed, struct model_bench *bench, const char *id)
{
	AUTO_TEXT path = xasprintf("%s/%s", feed->base, id);
	struct folder_state state;
	AUTO_PLAN plan = { .file = NULL };

	bool is_there = folder_read_state(path, &state);
	*bench = (struct model_bench){ .id = xstrdup(id),
				       .name = xstrdup(is_there ? state.name : id),
				       .state = xstrdup(is_there ? state.state : "unknown"),
				       .started_ms = state.started_ms,
				       .ended_ms = state.ended_ms,
				       .cost_usd = state.cost_usd };
	if (bench_load_plan(&plan, path, NULL) == 0) {
		AUTO_JSON verdict = folder_read_json(path, "verdict.json");
		AUTO_FACTS facts = { .n = 0 };
		AUTO_BUF text = buf_new(REPORT_BYTES);

		report_facts(&facts, verdict);
		noise_history_facts(&facts, &feed->history, bench->id);
		facts_print_text(&text, &facts);
		bench->report = verdict != NULL ? buf_detach(&text) : NULL;
		bench->live = bench_show(&plan, path, &state, verdict);
		bench->still_up = bench_pods_left_running(&plan, path);
		AUTO_JSON form = bench_form_of(&plan);
		bench->form = form != NULL ? cJSON_PrintUnformatted(form) : NULL;
		if (bench->live != NULL)
			bench->live->still_up = bench->still_up;
	}
}

static void read_plan(const struct bench_feed *feed, struct model_bench *bench, const char *path)
{
	struct err err = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(REPORT_BYTES);
	AUTO_PLAN plan = { .file = NULL };

	*bench = (struct model_bench){ .id = xstrdup(path),
				       .cost_usd = RUN_ABSENT,
				       .is_plan = true };
	if (plan_load(&plan, path, &err)) {
		bench->name = xstrdup(file_name(path));
		bench->state = xstrdup("invalid plan");
		bench->report = xstrdup(err.text);
		return;
	}
	bench->name = xstrdup(plan.name);
	bench->state = xstrdup("plan");
	buf_appendf(&text, "$ hgym-tui bench run --yes %s\n\n", path);
	bench_describe(&text, &plan, &feed->noise);
	bench->report = buf_detach(&text);
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
		.n_runs = (size_t)e->noise.n_runs,
		.rank = e->rank,
		.of = e->n_ranked,
		.when_ms = e->when_ms,
	};
	for (size_t i = 0; i < 3; i++)
		out->shows[i] = stats_pct(noise_mde(&e->noise, blocks[i]));
}

static int compare_age(const void *a, const void *b)
{
	const struct model_noise *x = a, *y = b;

	return x->when_ms > y->when_ms ? -1 : x->when_ms < y->when_ms;
}

static void poll_noise(struct bench_feed *feed)
{
	const char *db_path = feed->context->db_path;
	struct model_noise *noise;
	struct noise_register fresh, history;
	uint64_t mark = mark_file(db_path, "") * 31 + mark_file(db_path, "-wal");

	if (mark == feed->db_mark || noise_history_load(&history, feed->context, NULL, NULL) != 0)
		return;
	feed->db_mark = mark;
	/* A collector often changes the database, rarely the register: compare its rows. */
	mark = history.n + 1;
	for (size_t i = 0; i < history.n; i++)
		mark = mark * 1000003 + (uint64_t)history.v[i].when_ms * 31 +
		       (uint64_t)history.v[i].noise.n_runs;
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
	qsort(noise, fresh.n, sizeof(*noise), compare_age);
	model_noise_set(feed->model, noise, fresh.n);
}

static bool is_unchanged(const struct model_bench *bench, const char *id, uint64_t mark)
{
	return bench->mark == mark && strcmp(bench->id, id) == 0;
}

/* Is the model's list still correct? bench_feed_poll has already compared the number of folders. */
static bool is_list_current(const struct bench_feed *feed, char **ids, size_t shown)
{
	const struct model *model = feed->model;
	size_t plans = model->n_benches - feed->n_plans;

	for (size_t i = 0; i < shown; i++)
		if (!is_unchanged(&model->benches[i], ids[i], mark_folder(feed, ids[i])))
			return false;
	return all_of(i, feed->n_plans,
		      is_unchanged(&model->benches[plans + i], feed->plans[i],
				   mark_plan(feed, feed->plans[i])));
}

/* Move an unchanged bench out of the old list, or read it again. */
static void load_bench(struct bench_feed *feed, struct model_bench *bench, const char *id,
		       bool is_plan)
{
	const struct model *model = feed->model;
	struct model_bench *old = array_find(one, model->benches, model->n_benches,
					     one->id != NULL && strcmp(one->id, id) == 0);
	uint64_t mark = is_plan ? mark_plan(feed, id) : mark_folder(feed, id);

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
	/* Warn about pods that a bench left running; not if it ended before the first list. */
	if (feed->listed == 0 || bench->still_up == NULL || (old != NULL && old->still_up != NULL))
		return;
	model_event_addf(feed->model, clock_wall_ms(), MODEL_WARNING, MODEL_NONE,
			 "bench %s: pods still running: %s; press B to run their stop_cmd",
			 bench->name, bench->still_up);
}

/* Update time and cost of running benches; true if there are any. */
static bool poll_clocks(struct bench_feed *feed)
{
	int64_t now_ms = clock_wall_ms();
	bool moved = false;

	array_each (bench, feed->model->benches, feed->model->n_benches) {
		AUTO_TEXT path = xasprintf("%s/%s", feed->base, bench->id);
		struct folder_state state;

		if (bench->live == NULL ||
		    (!bench->live->running && bench->live->elapsed_s > 0.0) ||
		    !folder_read_state(path, &state))
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
	size_t n = 0, shown, count = 0;
	AUTO_FREE char **ids = folder_list(feed->base, &n);

	poll_noise(feed);
	shown = n < MAX_BENCHES ? n : MAX_BENCHES;
	uint64_t listed = (n * 7919 + feed->noise_mark) | 1;
	if (listed != feed->listed || !is_list_current(feed, ids, shown)) {
		struct model_bench *v =
			xcalloc(shown + MAX_BENCHES + feed->n_plans + 1, sizeof(*v));

		for (; count < shown; count++)
			load_bench(feed, &v[count], ids[count], false);
		count += bench_stored_list(feed->context, ids, n, v + count, MAX_BENCHES);
		for (size_t i = 0; i < feed->n_plans; i++)
			load_bench(feed, &v[count++], feed->plans[i], true);
		model_benches_set(feed->model, v, count);
	}
	feed->listed = listed;
	/* Another process may replace the database at any time. */
	context_close_db(feed->context);
	if (poll_clocks(feed))
		model_note_change(feed->model, MODEL_BENCH);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
}
