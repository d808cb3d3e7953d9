/* SPDX-License-Identifier: MIT */
/* Build the command of the probe of kernel benches, and turn its output into results of runs. */
#include "bench/kernel.h"

#include "base/file.h"
#include "base/quote.h"

#define MAX_COMMAND (1024U * 1024)
#define MAX_OUTPUT  (16U * 1024 * 1024)

char *kernel_command(const struct plan *plan)
{
	cJSON *arms = cJSON_CreateArray();
	AUTO_JSON spec = json_new(JTEXT("task", plan->task), JTEXT("module", plan->module),
				  JTEXT("function", plan->function), JNUM("seconds", plan->seconds),
				  JNUM("margin", plan->rule.paired.margin), JNODE("arms", arms));
	AUTO_BUF text = buf_new(MAX_COMMAND), command = buf_new(MAX_COMMAND);

	for (size_t i = 0; i < plan_n_arms(plan); i++) {
		const struct plan_variant *v = plan_arm(plan, i);
		AUTO_TEXT copy = xasprintf("../src.%s", v->tag);
		char tag[PLAN_TAG_SIZE];

		plan_arm_tag(plan, i, tag);
		cJSON *arm = json_add(json_add_row(arms), JTEXT("tag", tag),
				      JTEXT("folder", plan_needs_copies(plan) ? copy : "."));
		cJSON *env = v->env.n > 0 ? cJSON_AddObjectToObject(arm, "env") : NULL;
		array_each (variable, v->env.v, v->env.n)
			json_add_string(env, variable->name, variable->value);
		if (v->launch != NULL)
			json_add(arm, JNODE("launch",
					    json_parse(str_from(v->launch), JSON_BARE_NULL, NULL)));
	}
	json_print(&text, spec);
	buf_append_str(&command, "exec python3 \"$HGYM_PROBE\" ");
	quote_word(&command, buf_str(&text));
	return buf_detach(&command);
}

/* Append the lines that the probe printed for the arm, or else those that belong to no arm. */
static void extract_lines(struct str output, const char *tag, struct buf *out)
{
	struct str line;
	AUTO_BUF others = buf_new(MAX_OUTPUT);

	while (str_next(&output, '\n', &line)) {
		AUTO_JSON row = line.len > 0 && line.p[0] == '{'
					? json_parse(line, JSON_BARE_NULL, NULL)
					: NULL;
		const char *arm = json_get_string(row, "arm", NULL);
		struct buf *to = arm == NULL ? &others : strcmp(arm, tag) == 0 ? out : NULL;

		if (to == NULL)
			continue;
		buf_append(to, line.p, line.len);
		buf_append_char(to, '\n');
	}
	if (out->len == 0)
		buf_append(out, others.data, others.len);
}

int kernel_share(const struct bench_runs *runs, const struct bench_run *run,
		 struct bench_run *sharer, struct err *err)
{
	static const char *const telemetry[] = { "host.csv", "gpu.csv" };
	char path[FOLDER_PATH_SIZE];
	AUTO_BUF text = buf_new(MAX_OUTPUT), own = buf_new(MAX_OUTPUT);

	sharer->attempt = run->attempt;
	sharer->end = run->end;
	sharer->result = run->result;
	/* Only `run`, and no other run of its process, is blamed for changing a shared file. */
	if (sharer != run)
		sharer->result.shared[0] = '\0';
	sharer->drift_s = run->drift_s;
	bench_run_path(runs, run, plan_output(runs->plan), path);
	if (file_read(path, &text, NULL) == 0)
		extract_lines(buf_str(&text), runs->tags[sharer->arm], &own);
	bench_run_file(sharer, runs->plan->log, path);
	if (folder_write(runs->path, path, buf_str(&own), err) != 0)
		return -1;
	for (size_t i = 0; run != sharer && i < LENGTH(telemetry); i++) {
		buf_clear(&text);
		bench_run_path(runs, run, telemetry[i], path);
		if (file_read(path, &text, NULL) != 0)
			continue;
		bench_run_file(sharer, telemetry[i], path);
		if (folder_write(runs->path, path, buf_str(&text), err) != 0)
			return -1;
	}
	return 0;
}

void kernel_guards(struct bench_run *run)
{
	const cJSON *root = run->has_log ? run->log.score.root : NULL;
	const char *error = json_get_string(root, "error", NULL);
	double idle = (double)NAN; /* largest idle share of all cases; NAN: unknown */

	if (error != NULL) {
		guard_add(&run->hits, json_get_bool(root, "wrong", false) ? GUARD_WORK : GUARD_EXIT,
			  true, "%.150s", error);
		return;
	}
	if (!json_get_bool(root, "host_bound", false))
		return;
	json_each (one, verdict_list(root, "cases"))
		idle = fmax(idle, verdict_number(one, "idle_share"));
	if (isnan(idle))
		guard_add(&run->hits, GUARD_HOST_BOUND, false,
			  "timed without a CUDA graph, and the GPU waits for the host: the result "
			  "is the time of the launches");
	else
		guard_add(&run->hits, GUARD_HOST_BOUND, false,
			  "if calls are launched one by one, the GPU is idle %.0f%% of the time; "
			  "only a CUDA graph is this fast",
			  100.0 * idle);
}

cJSON *kernel_json(const struct bench_runs *runs)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t arm = 0; arm < runs->n_arms; arm++) {
		const struct bench_run *last = NULL;

		for (size_t i = 0; i < runs->n; i++)
			if (runs->v[i].arm == arm && runs->v[i].has_log &&
			    runs->v[i].log.score.root != NULL)
				last = &runs->v[i];
		if (last == NULL)
			continue;
		cJSON *row = cJSON_Duplicate(last->log.score.root, true);
		json_add_string(row, "run", last->id);
		cJSON_AddItemToArray(array, row);
	}
	return array;
}
