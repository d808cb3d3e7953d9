/* SPDX-License-Identifier: MIT */
/* Describe a plan before it runs, and create its results folder. */
#include "bench/start.h"

#include <limits.h>

#include "base/file.h"
#include "base/utf8.h"
#include "bench/power.h"
#include "bench/runs.h"

#define MAX_TEXT (1024U * 1024)
/* Duration of the checks before the first run, in seconds. */
#define PREFLIGHT_S 3.0

static void append_line(struct buf *out, const char *label, const char *text)
{
	buf_appendf(out, "  %-10s", label);
	utf8_sanitize(out, str_from(text));
	buf_append_char(out, '\n');
}

/* Append a change that an arm makes in its copy of the working folder, unless text is NULL. */
static void append_change(struct buf *out, const char *what, const char *text)
{
	if (text == NULL)
		return;
	AUTO_TEXT change = xasprintf("  %s %s", what, text);
	append_line(out, "", change);
}

/* Append the exact command of an arm, with its line breaks, and the changes in its copy. */
static void append_arm(struct buf *out, const struct plan *plan, size_t arm, size_t pod)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	char tag[PLAN_TAG_SIZE];
	AUTO_BUF command = buf_new(65536);
	const char *indent = "            ";
	struct str line;

	plan_arm_tag(plan, arm, tag);
	buf_appendf(&command, "%s: ", tag);
	if (plan->kernel && arm > 0)
		buf_append_str(&command, "in the same process");
	else
		plan_command(plan, arm, pod, &command);
	struct str rest = buf_str(&command);
	while (str_next(&rest, '\n', &line)) {
		buf_append_str(out, indent);
		utf8_sanitize(out, line);
		buf_append_char(out, '\n');
		indent = "              ";
	}
	append_change(out, "launch", v->launch);
	append_change(out, "patch", v->patch);
	array_each (file, v->files.v, v->files.n) {
		AUTO_TEXT what =
			xasprintf(file->from != NULL ? "file %s from" : "overlay %s", file->path);

		append_change(out, what, file->from != NULL ? file->from : file->overlay);
	}
}

/* The smallest difference in per cent that is detected if blocks vary by block_sd. */
static double detectable_pct(const struct plan *plan, double block_sd)
{
	const struct judge_rule *rule = &plan->rule;
	size_t variants = plan->n_variants > 1 ? plan->n_variants - 1 : 1;
	const struct power_plan power = {
		.rule = rule->paired,
		.looks = plan_looks(plan),
		.pods = plan->n_pods,
		.reps = plan->reps,
		.variants = rule->holm ? variants : 1,
		.aa = plan->aa && plan->n_variants > 1,
		.sd = block_sd,
		.pods_sd = plan->n_variants == 1  ? 0.0
			   : isnan(rule->pods_sd) ? log1p(rule->paired.margin)
						  : rule->pods_sd,
	};

	return stats_pct(power_detectable(&power));
}

/* The noise of the noisiest pod.  Returns NULL and sets *unknown if a pod has not been measured. */
static const struct noise_entry *find_noisiest(const struct plan *plan,
					       const struct noise_register *reg,
					       const struct plan_pod **unknown)
{
	const struct noise_entry *worst = NULL;

	for (size_t i = 0; i < plan->n_pods; i++) {
		const struct noise_entry *e =
			reg != NULL ? noise_register_find(reg, plan, i, "") : NULL;

		if (e == NULL) {
			*unknown = &plan->pods[i];
			return NULL;
		}
		if (worst == NULL || e->noise.sd > worst->noise.sd)
			worst = e;
	}
	return worst;
}

static void append_power(struct buf *out, const struct plan *plan, const struct noise_entry *known,
			 const struct plan_pod *unknown)
{
	static const double sd[] = { 0.001, 0.003, 0.01 };
	size_t blocks = plan->blocks * plan->n_pods;

	if (known != NULL) {
		if (blocks < VERDICT_MIN_BLOCKS)
			return;
		buf_appendf(out, "  detects   %.2f%% or more in %zu blocks; on ",
			    detectable_pct(plan, noise_sd_of_block(&known->noise)), blocks);
		utf8_sanitize(out, str_from(known->pod));
		buf_appendf(out,
			    " runs vary by %.2f%%\n            (from %.0f A/A runs in the noise "
			    "register)\n",
			    100.0 * known->noise.sd, known->noise.n_runs);
		return;
	}
	buf_append_str(out, "  detects   ");
	for (size_t i = 0; blocks >= VERDICT_MIN_BLOCKS && i < LENGTH(sd); i++)
		buf_appendf(out, "%s%.2f%% if %sby %g%%%s", i > 0 ? ", " : "",
			    detectable_pct(plan, sd[i] * M_SQRT2), i > 0 ? "" : "runs vary ",
			    100.0 * sd[i], i + 1 == LENGTH(sd) ? "\n            " : "");
	buf_appendf(out, "noise on %s is not measured yet; hgym-tui bench audit %s\n", unknown->id,
		    unknown->id);
}

/* Append duration and cost, estimated from earlier runs on these pods. */
static void append_cost(struct buf *out, const struct plan *plan, const struct noise_entry *known)
{
	double runs = plan->kernel ? (double)plan_n_rounds(plan)
				   : (double)plan_n_runs(plan) / (double)plan->n_pods;
	double rate = plan_usd_per_h(plan), minutes = (double)NAN;
	size_t unpriced = plan_n_unpriced(plan);

	if (known != NULL && !isnan(known->noise.run_s))
		minutes =
			(PREFLIGHT_S + runs * (known->noise.run_s + plan_usual_gap_s(plan))) / 60.0;
	if (!isnan(minutes))
		buf_appendf(
			out,
			"  takes     about %.1f minutes (last time one run took %.1f s including "
			"setup)\n",
			minutes, known->noise.run_s);
	else
		buf_appendf(
			out,
			"  takes     unknown: %.0f runs, one after another, %g s each at most\n",
			runs, plan->timeout_s);
	if (rate > 0.0 && !isnan(minutes))
		buf_appendf(out, "  cost      about %.2f USD (%.2f USD an hour)\n",
			    rate * minutes / 60.0, rate);
	else if (rate > 0.0)
		buf_appendf(out, "  cost      %.2f USD an hour\n", rate);
	else
		buf_append_str(out, "  cost      unknown: no pod has a price (usd_per_h)\n");
	if (rate > 0.0 && unpriced > 0)
		buf_appendf(out, "            not counting %zu pod%s that %s no price\n", unpriced,
			    unpriced == 1 ? "" : "s", unpriced == 1 ? "has" : "have");
	if (!isnan(plan->minutes))
		buf_appendf(out, "  limit     %g minutes\n", plan->minutes);
	if (!isnan(plan->usd))
		buf_appendf(out, "  limit     %g USD\n", plan->usd);
}

void bench_describe(struct buf *out, const struct plan *plan, const struct noise_register *reg)
{
	const struct plan_pod *unknown = NULL;
	const struct noise_entry *known = find_noisiest(plan, reg, &unknown);

	utf8_sanitize(out, str_from(plan->name));
	buf_appendf(out,
		    ": %zu arms x %zu blocks x %zu pod%s, %zu runs including burn-in; seed %llu\n",
		    plan_n_arms(plan), plan->blocks, plan->n_pods, plan->n_pods == 1 ? "" : "s",
		    plan_n_runs(plan), (unsigned long long)plan->seed);
	if (plan->note != NULL)
		append_line(out, "note", plan->note);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		append_line(out, "pod", plan->pods[pod].id);
		for (size_t arm = 0; arm < plan->n_variants; arm++)
			append_arm(out, plan, arm, pod);
	}
	if (plan->aa)
		buf_appendf(out, "  A/A arm   %s, run a second time in each block\n",
			    plan->variants[0].tag);
	else if (known != NULL)
		buf_append_str(out, "  A/A arm   none: the noise of these runs is known\n");
	if (plan->reps > 1)
		buf_appendf(out, "  block     %zu runs of each arm, compared by their medians\n",
			    plan->reps);
	if (plan->confirm > 0)
		buf_appendf(
			out,
			"  confirm   %zu extra blocks for the best variant, the runner-up and the "
			"control\n",
			plan->confirm);
	append_line(out, "in", plan->cwd);
	if (plan->prepare != NULL)
		append_line(out, "prepare", plan->prepare);
	AUTO_TEXT metric = xasprintf("%s%s%s%s", plan->key, plan->chosen != NULL ? " (" : "",
				     plan->chosen != NULL ? plan->chosen : "",
				     plan->chosen != NULL ? ")" : "");
	append_line(out, "metric", metric);
	append_power(out, plan, known, unknown);
	append_cost(out, plan, known);
}

void bench_use_known_noise(cJSON *definition, const struct noise_register *reg)
{
	cJSON *design = cJSON_GetObjectItemCaseSensitive(definition, "design");
	const struct plan_pod *unknown = NULL;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_PLAN plan = { .file = NULL };

	json_print(&text, definition);
	if (plan_parse(&plan, "bench.json", buf_str(&text), NULL) != 0)
		return;
	if (plan.aa && find_noisiest(&plan, reg, &unknown) != NULL) {
		cJSON_DeleteItemFromObjectCaseSensitive(design, "aa");
		cJSON_AddBoolToObject(design, "aa", false);
	}
}

int bench_outline(struct buf *out, struct context *context, const struct plan *plan,
		  struct err *err)
{
	AUTO_NOISE reg = { .n = 0 };

	if (launch_check_files(plan, err) != 0)
		return -1;
	noise_register_peek(&reg, context);
	bench_describe(out, plan, &reg);
	return 0;
}

char *bench_preview(struct context *context, const char *file, struct err *err)
{
	AUTO_PLAN plan = { .file = NULL };
	AUTO_BUF text = buf_new(MAX_TEXT);

	if (plan_load(&plan, file, err) != 0)
		return NULL;
	buf_appendf(&text, "$ hgym-tui bench run --yes %s\n\n", file);
	return bench_outline(&text, context, &plan, err) == 0 ? buf_detach(&text) : NULL;
}

char *bench_find_number(const struct plan *plan, const char *path, struct err *err)
{
	AUTO_BUF text = buf_new(RUN_LOG_MAX_SCORE_BYTES), keys = buf_new(400);
	struct score_json score = { 0 };
	char file[FOLDER_PATH_SIZE];
	struct bench_runs runs;
	char *key = NULL;
	size_t n = 0;

	bench_runs_init(&runs, plan, path);
	const struct bench_run *run = array_find(
		one, runs.v, runs.n, one->end == RUN_END_EXITED && one->result.rc == 0.0);
	if (run != NULL) {
		bench_run_path(&runs, run, plan->log, file);
		if (file_read(file, &text, NULL) != 0 ||
		    score_json_read(&score, buf_str(&text), NULL, NULL) != 0)
			score.root = NULL;
	}
	json_each (node, score.root) {
		if (!cJSON_IsNumber(node))
			continue;
		buf_appendf(&keys, "%s%.40s", n++ > 0 ? ", " : "", node->string);
		key = key != NULL ? key : xstrdup(node->string);
	}
	if (n > 1) {
		(void)err_set(
			err, ERR_CHECK,
			"the first run printed several numbers (%.300s): choose one with --metric, "
			"for example --metric %.40s",
			keys.data, key);
		free(key);
		key = NULL;
	}
	score_json_release(&score);
	bench_runs_release(&runs);
	return key;
}

int bench_set_metric(const char *path, const char *key, const char *chosen, struct err *err)
{
	AUTO_JSON root = folder_read_json(path, "bench.json");
	AUTO_JSON metric = json_new(JTEXT("key", key), JTEXT("chosen", chosen));

	if (bench_metric_is_rate(key))
		json_add_string(metric, "direction", "higher");
	cJSON_ReplaceItemInObjectCaseSensitive(root, "metric", cJSON_Duplicate(metric, true));
	return folder_write_json(path, "bench.json", root, err);
}

int bench_create(const struct plan *plan, const char *given, char id[FOLDER_ID_SIZE],
		 char path[FOLDER_PATH_SIZE], int *lock, struct err *err)
{
	struct folder_state state = {
		.state = "running",
		.started_ms = clock_wall_ms(),
		.cost_usd = (double)NAN,
	};
	AUTO_TEXT base = bench_base();
	AUTO_BUF text = buf_new(MAX_TEXT);
	char real[PATH_MAX];

	print_into(state.name, "%s", plan->name);
	if (realpath(plan->file, real) == NULL)
		print_into(real, "%s", plan->file);
	if (given != NULL)
		buf_append_str(&text, given);
	else if (file_read(plan->file, &text, err) != 0)
		return -1;
	AUTO_JSON source = json_new(JTEXT("file", real));
	if (folder_create(base, plan->name, state.started_ms, id, path, err) != 0 ||
	    folder_write(path, "bench.json", buf_str(&text), err) != 0 ||
	    folder_write_json(path, "source.json", source, err) != 0 ||
	    folder_write_state(path, &state, err) != 0)
		return -1;
	return folder_lock(path, lock, err);
}
