/* SPDX-License-Identifier: MIT */
/* Benches from arbitrary bytes. The first byte selects a plan, a pod's answer, a results directory
 * (its files separated by NUL), or logs (likewise) that are judged and reported. */
#include "bench/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/record.h"
#include "bench/runs.h"
#include "bench/show.h"
#include "bench/verdict_json.h"
#include "bench/waits.h"
#include "report/facts_print.h"
#include "tests/fuzz/fuzz.h"

#define MAX_LOGS 8

static void try_plan(struct str text)
{
	struct err err = { ERR_NONE, "" };
	struct launch l = { .bench = "b", .job = "j" };
	unsigned char *order;
	struct plan plan;
	struct buf out;

	if (plan_parse(&plan, "b.json", text, &err) != 0) {
		MUST(err.text[0] != '\0');
		return;
	}
	MUST(plan.n_variants >= 2 && plan.variants[0].control);
	l.plan = &plan;
	buf_init(&out, 1U << 20);
	for (size_t pod = 0; pod < plan.n_pods; pod++) {
		order = plan_schedule(&plan, pod);
		for (size_t arm = 0; arm < plan_n_arms(&plan); arm++)
			plan_command(&plan, arm, pod, &out);
		free(order);
		l.pod = pod;
		buf_clear(&out);
		MUST(launch_script(&out, LAUNCH_START, &l, &err) == 0);
	}
	buf_release(&out);
	plan_release(&plan);
}

static void try_reply(struct str text)
{
	struct launch_reply reply;

	launch_reply_init(&reply, text);
	MUST(reply.data.len == 0 ||
	     (reply.data.p >= text.p && reply.data.p + reply.data.len <= text.p + text.len));
	launch_reply_release(&reply);
}

static void report(const struct judge *judge)
{
	struct verdict_info info = { .metric = "best_us", .cost_usd = (double)NAN };
	cJSON *root = verdict_to_json(judge, &info);
	struct facts facts = { .n = 0 };
	struct buf out;

	verdict_missing = NULL;
	report_facts(&facts, root);
	MUST(verdict_missing == NULL);
	buf_init(&out, 1U << 20);
	facts_print_text(&out, &facts);
	facts_print_md(&out, &facts);
	MUST(memchr(out.data, '\033', out.len) == NULL);
	buf_release(&out);
	facts_release(&facts);
	cJSON_Delete(root);
}

static void try_logs(struct str text)
{
	static const struct judge_arm arms[] = { { .tag = "A" }, { .tag = "B" } };
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	static struct format_set *formats; /* shared by all inputs */
	struct run_log_rule how = { 0 };
	struct judge_run runs[MAX_LOGS] = { { 0 } };
	struct run_log logs[MAX_LOGS];
	struct judge judge;
	struct str piece;
	size_t n = 0;

	if (formats == NULL)
		formats = format_set_new_builtin();
	how.formats = formats;
	while (n < MAX_LOGS && str_next(&text, '\0', &piece)) {
		if (run_log_parse(&logs[n], "x", piece, &how, NULL) != 0)
			break;
		runs[n].arm = n % 2;
		runs[n].block = n / 2;
		runs[n].counted = true;
		runs[n].log = &logs[n];
		runs[n].rc = runs[n].drift_s = (double)NAN;
		n++;
	}
	judge_init(&judge, &rule, arms, 2, runs, n);
	for (size_t i = 0; i < judge.n_contrasts; i++)
		MUST(judge.contrasts[i].n_blocks >= 3 ||
		     judge.contrasts[i].verdict.word <= VERDICT_NOT_JUDGED);
	report(&judge);
	judge_release(&judge);
	for (size_t i = 0; i < n; i++)
		run_log_release(&logs[i]);
}

static const char *const names[] = { "bench.json",     "state.json",   "waits.json",
				     "preflight.json", "repeats.json", "verdict.json" };
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void show_folder(const char *path)
{
	struct folder_state state = { .name = "" };
	cJSON *verdict = folder_read_json(path, "verdict.json"), *waits = cJSON_CreateObject();
	struct bench_live *live;
	struct facts facts = { .n = 0 };
	struct plan plan;
	struct buf out;

	buf_init(&out, 1U << 20);
	report_facts(&facts, verdict);
	facts_print_md(&out, &facts);
	report_line(&out, verdict);
	(void)folder_read_state(path, &state);
	if (bench_load_plan(&plan, path, NULL) == 0) {
		live = bench_show(&plan, path, &state, verdict);
		if (live != NULL) {
			bench_show_clock(live, &state, 1700000000000);
			bench_show_waits(live, path, 1700000000000);
		}
		bench_live_free(live);
		free(bench_pods_left_running(&plan, path));
		plan_release(&plan);
	}
	free(bench_waits_add(waits, path, "b", state.state));
	cJSON_Delete(waits);
	facts_release(&facts);
	buf_release(&out);
	cJSON_Delete(verdict);
}

/* Write or remove run.json of the first runs. */
static void each_run(const struct plan *plan, const char *path, struct str *text)
{
	char file[FOLDER_PATH_SIZE];
	struct bench_runs runs;
	struct str piece;

	bench_runs_init(&runs, plan, path);
	for (size_t i = 0; i < runs.n && i < MAX_LOGS; i++) {
		bench_run_file(&runs.v[i], "run.json", file);
		if (text == NULL)
			folder_remove(path, file);
		else if (str_next(text, '\0', &piece))
			MUST(folder_write(path, file, piece, NULL) == 0);
	}
	bench_runs_release(&runs);
}

/* Read the files of a results directory, then run.json of each run. */
static void try_folder(struct str text)
{
	static char path[] = "/tmp/fuzz-bench.XXXXXX";
	static bool is_made;
	struct str piece;
	struct plan plan;

	is_made = is_made || mkdtemp(path) != NULL;
	MUST(is_made);
	for (size_t i = 0; i < N_NAMES; i++) {
		if (!str_next(&text, '\0', &piece))
			piece = (struct str){ "", 0 };
		MUST(folder_write(path, names[i], piece, NULL) == 0);
	}
	if (bench_load_plan(&plan, path, NULL) != 0) {
		show_folder(path);
		return;
	}
	each_run(&plan, path, &text);
	show_folder(path);
	each_run(&plan, path, NULL);
	plan_release(&plan);
}

/* Read telemetry of a pod during a run: host.csv, gpu.csv and stamps, separated by NUL. */
static void try_health(struct str text)
{
	struct health health;
	struct health_sum sum;
	struct str host = { "", 0 }, gpu = { "", 0 };
	double after;

	(void)str_next(&text, '\0', &host);
	(void)str_next(&text, '\0', &gpu);
	health_init(&health, host, gpu, text);
	sum = health_sum(&health, (double)NAN, (double)NAN);
	MUST(sum.n_gpu == health.n_gpu);
	MUST(strlen(sum.foreign) < HEALTH_FOREIGN_SIZE);
	(void)health_time_of(&health, 100.0, &after);
	(void)health_gpu_at(&health, 1000.0);
	health_release(&health);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data + 1, size - 1 };

	if (size < 1)
		return 0;
	if (data[0] == 'p')
		try_plan(text);
	else if (data[0] == 'r')
		try_reply(text);
	else if (data[0] == 'h')
		try_health(text);
	else if (data[0] == 'f')
		try_folder(text);
	else
		try_logs(text);
	return 0;
}
