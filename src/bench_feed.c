/* SPDX-License-Identifier: MIT */
/* Benches and plans into the model; for the dashboard and the demo. */
#include "config.h"

#include "bench_feed.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/plan.h"
#include "bench/report.h"
#include "bench/session.h"
#include "bench_drive.h"

#define MAX_BENCHES  50
#define MAX_PLANS    50
#define REPORT_BYTES (256U << 10)

struct bench_feed {
	struct model *model;
	const struct conf *conf;
	struct format_set *formats; /* owned */
	char *base;		    /* owned */
	char *plans[MAX_PLANS];	    /* owned paths */
	size_t n_plans;
	uint64_t seen; /* of all folders and plans, as looked at last */
};

struct bench_feed *
bench_feed_new(struct model *model, const struct conf *conf)
{
	struct bench_feed *feed = xcalloc(1, sizeof(*feed));

	feed->model = model;
	feed->conf = conf;
	feed->formats = format_set_new_builtin();
	feed->base = bench_base();
	for (size_t i = 0; conf != NULL && i < conf->benches.n; i++) {
		glob_t found = { 0 };

		if (glob(conf->benches.v[i], 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++)
				bench_feed_plan(feed, found.gl_pathv[k]);
		globfree(&found);
	}
	return feed;
}

void
bench_feed_free(struct bench_feed *feed)
{
	if (feed == NULL)
		return;
	for (size_t i = 0; i < feed->n_plans; i++)
		free(feed->plans[i]);
	format_set_free(feed->formats);
	free(feed->base);
	free(feed);
}

void
bench_feed_plan(struct bench_feed *feed, const char *path)
{
	if (feed->n_plans < MAX_PLANS)
		feed->plans[feed->n_plans++] = xstrdup(path);
}

/* A number that changes when a file does. */
static uint64_t
mark_of(const char *path, const char *name)
{
	char *file = xasprintf("%s/%s", path, name);
	struct stat st;
	uint64_t mark = 1;

	if (stat(file, &st) == 0)
		mark = (uint64_t)st.st_mtim.tv_sec * 1000003 +
		       (uint64_t)st.st_mtim.tv_nsec * 31 + (uint64_t)st.st_size;
	free(file);
	return mark;
}

/* The judgement of a folder as text; NULL while there is nothing to judge. */
static char *
report_of(struct bench_feed *feed, const char *id, const char *path)
{
	struct session_setup setup = { .formats = feed->formats,
				       .id = id,
				       .path = path };
	struct session *session;
	struct verdict_info info;
	const struct judge *judge;
	struct plan plan;
	struct buf text;
	char *result;

	if (bench_load_plan(&plan, path, NULL))
		return NULL;
	setup.plan = &plan;
	session = session_open(&setup);
	judge = session_judge(session, &info);
	buf_init(&text, REPORT_BYTES);
	report_text(&text, judge, &info);
	result = buf_detach(&text);
	buf_release(&text);
	session_free(session);
	plan_release(&plan);
	return result;
}

static void
read_bench(struct bench_feed *feed, struct model_bench *bench, const char *id,
	   const char *path)
{
	struct folder_state state;

	*bench = (struct model_bench){ .id = xstrdup(id),
				       .cost_usd = RUN_ABSENT };
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
	bench->report = report_of(feed, id, path);
}

static void
read_plan(struct model_bench *bench, const char *path)
{
	struct err err = { ERR_NONE, "" };
	const char *slash = strrchr(path, '/');
	struct plan plan;

	*bench = (struct model_bench){ .id = xstrdup(path),
				       .cost_usd = RUN_ABSENT,
				       .is_plan = true };
	if (plan_load(&plan, path, &err)) {
		bench->name = xstrdup(slash != NULL ? slash + 1 : path);
		bench->state = xstrdup("broken plan");
		bench->report = xstrdup(err.text);
		return;
	}
	bench->name = xstrdup(plan.name);
	bench->state = xstrdup("plan");
	bench->report = bench_feed_preview(path, NULL, NULL);
	plan_release(&plan);
}

/* What all folders and plans look like now. */
static uint64_t
look(const struct bench_feed *feed, char **ids, size_t n)
{
	uint64_t seen = n * 7919;

	for (size_t i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", feed->base, ids[i]);

		seen = seen * 31 + mark_of(path, "state.json");
		seen = seen * 31 + mark_of(path, "verdict.json");
		seen = seen * 31 + mark_of(path, "runs");
		free(path);
	}
	for (size_t i = 0; i < feed->n_plans; i++)
		seen = seen * 31 + mark_of(feed->plans[i], ".");
	return seen;
}

void
bench_feed_poll(struct bench_feed *feed)
{
	size_t n = 0, shown;
	char **ids = folder_list(feed->base, &n);
	uint64_t seen;

	shown = n < MAX_BENCHES ? n : MAX_BENCHES;
	seen = look(feed, ids, shown);
	if (seen != feed->seen) {
		struct model_bench *benches =
			xcalloc(shown + feed->n_plans + 1, sizeof(*benches));

		feed->seen = seen;
		for (size_t i = 0; i < shown; i++) {
			char *path = xasprintf("%s/%s", feed->base, ids[i]);

			read_bench(feed, &benches[i], ids[i], path);
			free(path);
		}
		for (size_t i = 0; i < feed->n_plans; i++)
			read_plan(&benches[shown + i], feed->plans[i]);
		model_benches_set(feed->model, benches, shown + feed->n_plans);
	}
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
}

char *
bench_feed_preview(const char *plan_path, const char *stop_id, struct err *err)
{
	struct plan plan;
	struct buf text, tag;
	char *result;

	if (stop_id != NULL)
		return xasprintf("$ hgym-tui bench abort %s\n\nends what runs "
				 "on its pods and judges what there is",
				 stop_id);
	if (plan_load(&plan, plan_path, err))
		return NULL;
	buf_init(&text, REPORT_BYTES);
	buf_init(&tag, 256);
	buf_appendf(&text,
		    "$ hgym-tui bench run --yes %s\n\n"
		    "%zu runs on %zu pod%s, %zu blocks, in %s:\n",
		    plan_path, plan_n_runs(&plan), plan.n_pods,
		    plan.n_pods == 1 ? "" : "s", plan.blocks,
		    plan.cwd != NULL ? plan.cwd : "?");
	for (size_t i = 0; i < plan_n_arms(&plan); i++) {
		const struct plan_variant *v = plan_arm(&plan, i);

		buf_clear(&tag);
		plan_arm_tag(&plan, i, &tag);
		buf_appendf(&text, "  %-10s", tag.data);
		for (size_t k = 0; k < v->n_env; k++)
			buf_appendf(&text, " %s=%s", v->env[k].name,
				    v->env[k].value);
		buf_appendf(&text, " %s\n",
			    v->command != NULL	   ? v->command
			    : plan.command != NULL ? plan.command
						   : "?");
	}
	plan_release(&plan);
	buf_release(&tag);
	result = buf_detach(&text);
	buf_release(&text);
	return result;
}
