/* SPDX-License-Identifier: MIT */
/* What a plan would run, and the results folder that a bench begins in. */
#include "bench/start.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "bench/launch.h"

#define MAX_TEXT (1024U * 1024)

static void add_clean_line(struct buf *out, const char *label, const char *text)
{
	buf_appendf(out, "  %-10s", label);
	utf8_sanitize(out, str_from(text));
	buf_append_char(out, '\n');
}

/* A line with a text of the definition at its end. */
static void add_change(struct buf *out, const char *what, const char *text)
{
	if (text == NULL)
		return;
	buf_append_str(out, "              ");
	utf8_sanitize(out, str_from(what));
	buf_append_char(out, ' ');
	utf8_sanitize(out, str_from(text));
	buf_append_char(out, '\n');
}

/* What its own copy of the folder has that the others' have not. */
static void add_changes(struct buf *out, const struct plan_variant *v)
{
	add_change(out, "launch", v->launch);
	add_change(out, "patch", v->patch);
	array_each (file, v->files.v, v->files.n) {
		AUTO_TEXT what =
			xasprintf(file->from != NULL ? "file %s is" : "overlay %s", file->path);

		add_change(out, what, file->from != NULL ? file->from : file->overlay);
	}
}

/* The exact command of an arm; its lines stay lines. */
static void add_command(struct buf *out, const struct plan *plan, size_t arm, size_t pod)
{
	char tag[PLAN_TAG_SIZE];
	AUTO_BUF command = buf_new(65536);
	struct str line;
	bool first = true;

	plan_arm_tag(plan, arm, tag);
	buf_appendf(&command, "%s: ", tag);
	if (plan->kernel && arm > 0)
		buf_append_str(&command, "in the same process");
	else
		plan_command(plan, arm, pod, &command);
	struct str rest = buf_str(&command);
	while (str_next(&rest, '\n', &line)) {
		buf_append_str(out, first ? "            " : "              ");
		utf8_sanitize(out, line);
		buf_append_char(out, '\n');
		first = false;
	}
	add_changes(out, plan_arm(plan, arm));
}

/* What the plan shows in all its blocks where one run spreads by so much. */
static double shows_pct(const struct plan *plan, double run_sd)
{
	const struct judge_rule *rule = &plan->rule;
	bool second = plan->aa && plan->n_variants > 1;
	double pods = isnan(rule->pods_sd) ? log1p(rule->paired.margin) : rule->pods_sd;
	struct paired_noise noise = {
		.sd = run_sd * sqrt(second ? 1.5 : 2.0),
		.between = plan->n_pods == 2 && plan->n_variants > 1 ? pods * M_SQRT1_2 : 0.0,
	};

	return stats_pct(paired_mde(noise, plan->blocks * plan->n_pods, rule->paired.alpha,
				    rule->paired.power));
}

/* What a spread of so many per cent allows to see; for noise not known. */
static void add_guesses(struct buf *out, const struct plan *plan, size_t blocks)
{
	static const double sd[] = { 0.001, 0.003, 0.01 };

	buf_append_str(out, "  shows     its noise there is not known yet "
			    "(bench audit tells)\n");
	if (blocks < 2)
		return;
	buf_append_str(out, "            where runs spread by");
	for (size_t i = 0; i < 3; i++)
		buf_appendf(out, "%s %g%%: %.2f%%", i > 0 ? "," : "", 100.0 * sd[i],
			    shows_pct(plan, sd[i]));
	buf_append_char(out, '\n');
}

/* The noisiest of the plan's pods; NULL where one is not known. */
static const struct noise_entry *noisiest(const struct plan *plan, const struct noise_register *reg)
{
	const struct noise_entry *worst = NULL;

	for (size_t i = 0; reg != NULL && i < plan->n_pods; i++) {
		const struct noise_entry *e = noise_register_find(reg, plan, 0, i, "");

		if (e == NULL)
			return NULL;
		if (worst == NULL || e->noise.sd > worst->noise.sd)
			worst = e;
	}
	return worst;
}

static void add_power(struct buf *out, const struct plan *plan, const struct noise_entry *known)
{
	size_t blocks = plan->blocks * plan->n_pods;

	if (known == NULL)
		add_guesses(out, plan, blocks);
	if (known == NULL || blocks < 2)
		return;
	buf_appendf(out,
		    "  shows     %.2f%% or more in %zu blocks, by the "
		    "noise register: ",
		    shows_pct(plan, known->noise.sd), blocks);
	utf8_sanitize(out, str_from(known->pod));
	buf_appendf(out,
		    "\n            has sd %.2f%% from run to run (%zu A/A "
		    "runs)\n",
		    100.0 * known->noise.sd, known->noise.n_runs);
}

/* What it takes to look at a pod before the first run. */
#define PREFLIGHT_S 3.0

/* Money and minutes: by what runs took when they were last seen. */
static void add_cost(struct buf *out, const struct plan *plan, const struct noise_entry *known)
{
	double runs = plan->kernel ? (double)plan_n_rounds(plan)
				   : (double)plan_n_runs(plan) / (double)plan->n_pods;
	double rate = 0.0, minutes = (double)NAN;
	size_t unpriced = plan_n_unpriced(plan);

	for (size_t i = 0; i < plan->n_pods; i++)
		if (!isnan(plan->pods[i].usd_per_h))
			rate += plan->pods[i].usd_per_h;
	if (known != NULL && !isnan(known->noise.run_s))
		minutes = (PREFLIGHT_S + runs * (known->noise.run_s + plan->gap_s)) / 60.0;
	if (!isnan(minutes))
		buf_appendf(out,
			    "  takes     about %.1f minutes (a run with what "
			    "is around it took %.1f s last time)\n",
			    minutes, known->noise.run_s);
	else
		buf_appendf(out,
			    "  takes     not known: %.0f runs one after "
			    "another, each at most %g s\n",
			    runs, plan->timeout_s);
	if (rate > 0.0 && !isnan(minutes))
		buf_appendf(out,
			    "  cost      about %.2f USD (%.2f USD an "
			    "hour)\n",
			    rate * minutes / 60.0, rate);
	else if (rate > 0.0)
		buf_appendf(out, "  cost      %.2f USD an hour\n", rate);
	else
		buf_append_str(out, "  cost      no price is given\n");
	if (rate > 0.0 && unpriced > 0)
		buf_appendf(out,
			    "            without %zu pod%s whose price is not "
			    "given\n",
			    unpriced, unpriced == 1 ? "" : "s");
	if (!isnan(plan->minutes))
		buf_appendf(out, "  at most   %g minutes\n", plan->minutes);
	if (!isnan(plan->usd))
		buf_appendf(out, "  at most   %g USD\n", plan->usd);
}

void bench_describe(struct buf *out, const struct plan *plan, const struct noise_register *reg)
{
	const struct noise_entry *known = noisiest(plan, reg);

	utf8_sanitize(out, str_from(plan->name));
	buf_appendf(out,
		    ": %zu arms x %zu blocks x %zu pod%s, %zu runs with "
		    "burn-in; seed %llu\n",
		    plan_n_arms(plan), plan->blocks, plan->n_pods, plan->n_pods == 1 ? "" : "s",
		    plan_n_runs(plan), (unsigned long long)plan->seed);
	if (plan->note != NULL)
		add_clean_line(out, "note", plan->note);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		add_clean_line(out, "pod", plan->pods[pod].id);
		for (size_t arm = 0; arm < plan->n_variants; arm++)
			add_command(out, plan, arm, pod);
	}
	if (plan->aa) {
		buf_append_str(out, "  A/A arm   ");
		utf8_sanitize(out, str_from(plan->variants[0].tag));
		buf_append_str(out, " once more in each block\n");
	}
	if (plan->reps > 1)
		buf_appendf(out,
			    "  a block   %zu runs of each arm, by their "
			    "medians\n",
			    plan->reps);
	if (plan->confirm > 0)
		buf_appendf(out,
			    "  the best  %zu fresh blocks of it, the "
			    "runner-up and the control\n",
			    plan->confirm);
	add_clean_line(out, "in", plan->cwd);
	add_power(out, plan, known);
	add_cost(out, plan, known);
}

/* Keep the definition as it was given, and where it lay. */
static int keep_definition(const struct plan *plan, const char *given, const char *path,
			   struct err *err)
{
	struct folder_state state = {
		.state = "running",
		.started_ms = clock_wall_ms(),
		.cost_usd = (double)NAN,
	};
	char real[PATH_MAX];
	AUTO_BUF text = buf_new(MAX_TEXT);
	AUTO_JSON source = NULL;
	int result = 0;

	print_into(state.name, "%s", plan->name);
	if (given != NULL)
		buf_append_str(&text, given);
	else
		result = file_read(plan->file, &text, err);
	if (result == 0)
		result = folder_write(path, "bench.json", buf_str(&text), err);
	if (realpath(plan->file, real) == NULL)
		print_into(real, "%s", plan->file);
	source = cJSON_CreateObject();
	json_add_string(source, "file", real);
	if (result == 0)
		result = folder_write_json(path, "source.json", source, err);
	if (result == 0)
		result = folder_write_state(path, &state, err);
	return result;
}

int bench_create(const struct plan *plan, const char *given, char id[FOLDER_ID_SIZE],
		 char path[FOLDER_PATH_SIZE], int *lock, struct err *err)
{
	int64_t now_ms = clock_wall_ms();
	AUTO_TEXT base = bench_base();
	int rc = folder_create(base, plan->name, now_ms, id, path, err);

	if (rc == 0)
		rc = keep_definition(plan, given, path, err);
	if (rc == 0)
		rc = folder_lock(path, lock, err);
	return rc;
}

int bench_outline(struct buf *out, struct context *context, const struct plan *plan,
		  struct err *err)
{
	struct noise_register reg;

	if (launch_check_files(plan, err) != 0)
		return -1;
	noise_register_peek(&reg, context);
	bench_describe(out, plan, &reg);
	noise_register_release(&reg);
	return 0;
}

char *bench_preview(struct context *context, const char *file, struct err *err)
{
	struct plan plan;
	AUTO_BUF text = buf_new(MAX_TEXT);

	if (plan_load(&plan, file, err) != 0)
		return NULL;
	buf_appendf(&text, "$ hgym-tui bench run --yes %s\n\n", file);
	char *result = bench_outline(&text, context, &plan, err) == 0 ? buf_detach(&text) : NULL;
	plan_release(&plan);
	return result;
}
