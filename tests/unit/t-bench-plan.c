/* SPDX-License-Identifier: MIT */
/* Plans: read bench.json, refuse mistakes, derive schedules and durations. */
#include "bench/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "bench/harness_ab.h"
#include "bench/line.h"
#include "bench/run_log.h"
#include "bench/runs.h"
#include "bench/show.h"
#include "bench/start.h"
#include "bench/verdict_json.h"
#include "bench/waits.h"

#include "tests/support/tap.h"

/* The parts of the smallest bench. */
#define HEAD                                                          \
	"{\"schema\":\"hgym.bench/1\",\"name\":\"a2\",\"seed\":42,\n" \
	"\"workload\":{\"cwd\":\"/w\",\"command\":\"echo 'hi'\","     \
	"\"env\":{\"SEED\":\"42\"}},\n"
#define METRIC "\"metric\":{\"key\":\"step_ms\"},\n"
#define VARIANTS                                                    \
	"\"variants\":[{\"tag\":\"B\",\"env\":{\"G\":\"it's\"}},\n" \
	"{\"tag\":\"A\",\"control\":true}],\n"
#define PODS "\"pods\":[{\"id\":\"p\",\"gpus\":[0,3]}]"

static void refuse(const char *text, const char *want)
{
	struct plan plan;
	struct err err = { ERR_NONE, "" };

	is_int(plan_parse(&plan, "b.json", str_from(text), &err), -1, "refused");
	is_str(err.text, want, "the error names the place and the reason");
	is_int(err.code, ERR_CONFIG, "the error is one of the configuration");
}

static void test_refused(void)
{
	refuse("[1", "b.json:1: not valid JSON: unexpected text, or a missing } or ], in column 2");
	refuse(HEAD METRIC VARIANTS PODS ",\n\"x\":1}", "b.json:7: x: unknown key");
	refuse(HEAD METRIC VARIANTS "\"pods\":[]}", "b.json:6: pods: expected 1 to 64 pods");
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"A\"},{\"tag\":\"B\"}],\n" PODS "}",
	       "b.json:4: variants: expected exactly one with \"control\": "
	       "true, found 0");
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"A b\"},{\"tag\":\"B\","
			   "\"control\":true}],\n" PODS "}",
	       "b.json:4: variants[0].tag: expected 1 to 40 letters, digits, "
	       "_ . - (not . or - first)");
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"A\",\"control\":true},\n"
			   "{\"tag\":\"B\",\"env\":{\"N\":3}}],\n" PODS "}",
	       "b.json:5: variants[1].env.N: expected a string");
	refuse(HEAD METRIC VARIANTS PODS ",\n\"design\":{\"blocks_per_pod\":0}}",
	       "b.json:7: design.blocks_per_pod: expected a number from 1 to "
	       "100");
	refuse(HEAD METRIC VARIANTS PODS ",\n\"decision\":{\"early\":\"peek\"}}",
	       "b.json:7: decision.early: expected \"none\", "
	       "\"haybittle-peto\" or \"obrien-fleming\"");
	refuse(HEAD METRIC VARIANTS PODS ",\n\"budget\":{\"deadline\":\"tomorrow\"}}",
	       "b.json:7: budget.deadline: expected a time like "
	       "2026-11-20T21:00:00Z");
}

/* A wrong value for each kind of key. */
static void test_values(void)
{
	static const struct {
		const char *rest, *want;
	} wrong[] = {
		{ ",\n\"design\":{\"aa\":1}}",
		  "b.json:7: design.aa: expected true or false or null" },
		{ ",\n\"design\":{\"gap_s\":3601}}",
		  "b.json:7: design.gap_s: expected a number from 0 to 3600" },
		{ ",\n\"design\":{\"burn_in\":1.5}}",
		  "b.json:7: design.burn_in: expected an integer or null" },
		{ ",\n\"design\":{\"order\":\"random\"}}",
		  "b.json:7: design.order: expected \"mirrored-random\"" },
		{ ",\n\"design\":{\"confirm_blocks\":3}}",
		  "b.json:7: design.confirm_blocks: needs at least two "
		  "variants besides the control" },
		{ ",\n\"decision\":{\"alpha\":0.6}}",
		  "b.json:7: decision.alpha: expected a number from 1e-06 to "
		  "0.5" },
		{ ",\n\"guards\":{\"throttle\":\"block\",\"throttle\":"
		  "\"ignore\"}}",
		  "b.json:7: guards.throttle: duplicate key" },
		{ ",\n\"budget\":{\"on_end\":\"leave\"}}",
		  "b.json:7: budget.on_end: expected \"ask\" or "
		  "\"stop_pods\"" },
		{ ",\n\"name\":\"x\"}", "b.json:1: name: duplicate key" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[2000];

		(void)snprintf(text, sizeof(text), "%s%s", HEAD METRIC VARIANTS PODS,
			       wrong[i].rest);
		refuse(text, wrong[i].want);
	}
	refuse(HEAD "\"metric\":{\"key\":\"step_ms\",\"window\":{\"mode\":"
		    "\"fixed\",\"lo\":20.5}},\n" VARIANTS PODS "}",
	       "b.json:3: metric.window.lo: expected an integer or null");
	refuse(HEAD "\"metric\":{\"key\":\"step_ms\",\"window\":{\"mode\":"
		    "\"fixed\",\"lo\":20,\"hi\":20}},\n" VARIANTS PODS "}",
	       "b.json:3: metric.window.hi: expected more than lo");
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"A\",\"control\":true,\n"
			   "\"must_match\":[\"ok\",\"(\"]}],\n" PODS "}",
	       "b.json:5: variants[0].must_match[1]: expected an extended "
	       "regular expression");
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"A\",\"control\":true,\n"
			   "\"overlay\":{\"a.json\":{\"x\":1,\"x\":2}}}],\n" PODS "}",
	       "b.json:5: variants[0].overlay: duplicate key \"x\"");
	refuse(HEAD METRIC VARIANTS "\"pods\":[{\"id\":\"p\",\n\"gpus\":[3,0]}]}",
	       "b.json:7: pods[0].gpus: expected ascending order");
	refuse(HEAD METRIC VARIANTS "\"pods\":[{\"id\":\"p\",\n\"lock_dir\":\"/a b\"}]}",
	       "b.json:7: pods[0].lock_dir: expected a path of letters, "
	       "digits, / _ . -");
}

/* null means the same as a missing key. */
static void test_nulls(void)
{
	struct plan plan;

	is_int(plan_parse(&plan, "b.json",
			  str_from(HEAD METRIC VARIANTS PODS
				   ",\n\"design\":{\"gap_s\":null,\"aa\":null,"
				   "\"order\":null},\"budget\":null,"
				   "\"decision\":{\"early\":null}}"),
			  NULL),
	       0, "null is accepted for keys that have a default");
	ok(isnan(plan.gap_s) && plan_usual_gap_s(&plan) > 9 && plan.aa && plan.early &&
		   isnan(plan.usd),
	   "null leaves the default");
	plan_release(&plan);
	refuse(HEAD METRIC VARIANTS "\"pods\":null}", "b.json:6: pods: expected an array");
}

/* Refuse a bench that could never get a verdict, and one that contradicts itself. */
static void test_never(void)
{
	struct plan plan;

	refuse(HEAD METRIC VARIANTS PODS ",\n\"decision\":{\"min_blocks\":7}}",
	       "b.json:7: decision.min_blocks: the bench has only 6 blocks, "
	       "so it would never get a verdict");
	is_int(plan_parse(&plan, "b.json",
			  str_from(HEAD METRIC VARIANTS PODS ",\n\"decision\":{\"min_blocks\":6}}"),
			  NULL),
	       0, "as many blocks as there are is accepted");
	plan_release(&plan);
	refuse(HEAD METRIC "\"variants\":[{\"tag\":\"B\",\"env\":{\"G\":\"1\","
			   "\"G\":\"2\"}},{\"tag\":\"A\",\"control\":true}],\n" PODS "}",
	       "b.json:4: variants[0].env.G: duplicate key");
}

/* A plan whose metric is a rate must set the direction. */
static void test_rates(void)
{
	static const char *const rates[] = {
		"tok_s",	   "tokens_per_s", "TFLOPS",  "throughput_mean", "bandwidth",
		"samples_per_sec", "mem_gb_s",	   "speedup", "accuracy_1",	 "it/s"
	};
	static const char *const times[] = { "best_us",	    "median_us",   "step_ms",	 "score",
					     "s_per_token", "us_per_step", "best_cycles" };
	struct plan plan;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		ok(bench_metric_is_rate(rates[i]), "%s is a rate", rates[i]);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ok(!bench_metric_is_rate(times[i]), "%s is not a rate", times[i]);
	refuse(HEAD "\"metric\":{\"key\":\"tok_s\"},\n" VARIANTS PODS "}",
	       "b.json:3: metric.key: \"tok_s\" looks like a rate: set "
	       "\"direction\" to \"lower\" or \"higher\", whichever is better");
	is_int(plan_parse(&plan, "b.json",
			  str_from(HEAD "\"metric\":{\"key\":\"tok_s\","
					"\"direction\":\"lower\"},\n" VARIANTS PODS "}"),
			  NULL),
	       0, "an explicit direction is used");
	is_int((long long)plan_n_unpriced(&plan), 1, "a pod without a price");
	plan_release(&plan);
}

static void test_read(void)
{
	struct plan plan;
	struct err err = { ERR_NONE, "" };
	char tag[PLAN_TAG_SIZE];
	struct buf text;
	unsigned char *order;

	is_int(plan_parse(&plan, "b.json", str_from(HEAD METRIC VARIANTS PODS "}"), &err), 0,
	       "the smallest bench");
	is_str(plan.variants[0].tag, "A", "the control is the first arm");
	is_int((long long)plan_n_arms(&plan), 3, "the plan has an A/A arm");
	is_int((long long)plan_n_runs(&plan), 21, "six blocks and a burn-in");
	buf_init(&text, 1000);
	plan_command(&plan, 1, 0, &text);
	is_str(text.data,
	       "env PYTHONUNBUFFERED=1 CUDA_VISIBLE_DEVICES=0,3 SEED=42 "
	       "G='it'\\''s' sh -c "
	       "'echo '\\''hi'\\'''",
	       "the command of a run, with its environment");
	buf_clear(&text);
	plan_arm_tag(&plan, 2, tag);
	is_str(tag, "A~aa", "the tag of the A/A arm");
	buf_release(&text);
	order = plan_schedule(&plan, 0);
	ok(order[0] == 0 && order[1] == 1 && order[2] == 2, "the burn-in runs each arm");
	ok(order[3] == order[8] && order[4] == order[7] && order[5] == order[6],
	   "the second round mirrors the first");
	free(order);
	plan_release(&plan);
}

/* Print waits.json as JSON. */
static void test_waits(void)
{
	const struct pod_wait waits[] = {
		{ "p1", WAIT_UNREACHABLE, 1000000, 1090000, "refused" },
		{ "p2", WAIT_BUSY, 1060000, 0, "GPU 0 is locked by \033[1m" },
	};
	cJSON *all = waits_json(waits, 2, 1080000);
	const cJSON *one = cJSON_GetArrayItem(all, 0);
	const cJSON *two = cJSON_GetArrayItem(all, 1);

	is_int(cJSON_GetArraySize(all), 2, "two pods wait");
	is_str(json_get_string(one, "pod", ""), "p1", "the wait has the pod");
	is_str(json_get_string(one, "state", ""), "unreachable", "the wait has the state");
	is_str(json_get_string(one, "since", ""), "1970-01-01T00:16:40Z", "the wait has its start");
	is_str(json_get_string(one, "retry_at", ""), "1970-01-01T00:18:10Z",
	       "the wait has the next try");
	is_str(json_get_string(one, "why", ""), "refused", "the wait has the reason");
	is_str(json_get_string(one, "text", ""),
	       "pod p1: cannot be reached for 80 s, next try in 10 s: refused",
	       "the wait has a sentence");
	ok(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(two, "retry_at")),
	   "without a next try retry_at is null, not 0");
	ok(strchr(json_get_string(two, "why", "\033"), '\033') == NULL,
	   "escape sequences are removed");
	cJSON_Delete(all);
}

/* The steps of a preflight have sentences, and are not problems. */
static void test_preflight_words(void)
{
	struct pod_wait wait = { "p1", WAIT_CONNECTING, 1000000, 0, "" };
	char text[WAIT_TEXT_SIZE];

	wait_text(&wait, 1003000, text);
	is_str(text, "pod p1: preflight: connecting for 3 s", "the sentence for connecting");
	wait.kind = WAIT_CHECKING;
	(void)snprintf(wait.why, sizeof(wait.why), "answered after 0.4 s");
	wait_text(&wait, 1003000, text);
	is_str(text, "pod p1: preflight: answered after 0.4 s, checking for 3 s",
	       "the sentence for a shell that has answered");
	wait.kind = WAIT_CHECKED;
	(void)snprintf(wait.why, sizeof(wait.why), "ready: NVIDIA H100");
	wait_text(&wait, 1003000, text);
	is_str(text, "pod p1: preflight: ready: NVIDIA H100",
	       "the sentence has the result of the preflight");
	ok(wait_is_preflight(wait.kind) && !wait_is_preflight(WAIT_BUSY),
	   "a preflight is not a problem, locked GPUs are");
	wait_end_text(&wait, 1003000, text);
	is_str(text, "pod p1: preflight finished", "the sentence for the end of the preflight");
}

static double summed(const cJSON *summary, const char *tag)
{
	return json_get_number(cJSON_GetObjectItemCaseSensitive(summary, tag), "throughput_mean",
			       NAN);
}

/* Leaderboards read summary.json: invalid runs must not be in its means. */
static void test_summary(void)
{
	static const struct judge_arm three[] = { { .tag = "A" }, { .tag = "B" }, { .tag = "C" } };
	struct run_log log = { .kind = RUN_LOG_TRAINING, .n_rows = 28 };
	struct judge_contrast contrasts[2] = { { .arm = 1 }, { .arm = 2 } };
	struct judge_run runs[6] = { { 0 } };
	struct judge judge = { .arms = three,
			       .n_arms = 3,
			       .runs = runs,
			       .n_runs = 6,
			       .contrasts = contrasts,
			       .n_contrasts = 2 };
	cJSON *summary;

	for (size_t i = 0; i < 6; i++) {
		runs[i].arm = i % 3;
		runs[i].counted = true;
		runs[i].log = &log;
		runs[i].y = 1000.0 / (double)(i + 1);
		judge.summary[i % 3].batch = 100.0;
	}
	guard_add(&runs[1].hits, GUARD_EXIT, true, "exit status 1");
	contrasts[0].verdict.word = VERDICT_FASTER;
	contrasts[1].verdict.word = VERDICT_INVALID;
	summary = verdict_summary_json(&judge);
	is_near(summed(summary, "A"), 250, 1e-9, "the runs of an arm");
	is_near(summed(summary, "B"), 500, 1e-9, "without invalid runs");
	ok(isnan(summed(summary, "C")), "an arm without valid runs has no mean");
	cJSON_Delete(summary);
}

/* A bench with n arms, one of them the A/A arm, and with extra blocks to confirm the best. */
static void plan_of_arms(struct plan *plan, size_t n)
{
	struct buf text;

	buf_init(&text, 10000);
	buf_append_str(&text, HEAD METRIC "\"variants\":[{\"tag\":\"A\","
					  "\"control\":true}");
	for (size_t i = 1; i + 1 < n; i++)
		buf_appendf(&text, ",{\"tag\":\"%c\"}", (char)('A' + i));
	buf_append_str(&text, "],\"pods\":[{\"id\":\"p\"},{\"id\":\"q\"}]");
	if (n > 3)
		buf_append_str(&text, ",\"design\":{\"confirm_blocks\":3}");
	buf_append_char(&text, '}');
	ok(plan_parse(plan, "b.json", (struct str){ text.data, text.len }, NULL) == 0,
	   "a bench of %zu arms", n);
	buf_release(&text);
}

/* Only three arms run in an extra block, but the view has a place for each arm. */
static void test_shown_arms(void)
{
	char folder[] = "/tmp/hgym-plan-XXXXXX";
	struct folder_state state = { .state = "running" };

	ok(mkdtemp(folder) != NULL, "a results folder");
	for (size_t n = 2; n <= 8; n++) {
		size_t fresh = n > 3 ? 3 : 0, places = 2 * n * (7 + fresh);
		struct bench_runs runs;
		struct bench_live *live;
		struct plan plan;
		size_t now = 0, last, most = 2 * (n * 7 + 3 * fresh);

		plan_of_arms(&plan, n);
		is_int((long long)plan_n_runs(&plan), (long long)most, "the plan's most runs");
		live = bench_show(&plan, folder, &state, NULL);
		is_int((long long)live->n_runs, (long long)places,
		       "the view has a place for each run");
		last = live->n_runs - 1;
		ok(live->runs[last].pod == 1 && live->runs[last].arm < n &&
			   live->runs[last].block == 5 + fresh,
		   "the last run is in the last block");
		for (size_t i = 0; i < live->n_runs; i++)
			now += live->runs[i].state == BENCH_LIVE_NOW ? 1 : 0;
		is_int((long long)now, 2, "one run is in progress on each pod");
		bench_live_free(live);
		bench_runs_init(&runs, &plan, folder);
		is_int((long long)runs.n, (long long)places, "the bench has a run for each place");
		bench_runs_release(&runs);
		plan_release(&plan);
	}
	(void)rmdir(folder);
}

static int remove_run(const char *folder, const char *id)
{
	char path[FOLDER_PATH_SIZE];
	int result;

	(void)snprintf(path, sizeof(path), "%s/runs/%s/run.json", folder, id);
	result = unlink(path);
	(void)snprintf(path, sizeof(path), "%s/runs/%s", folder, id);
	result |= rmdir(path);
	(void)snprintf(path, sizeof(path), "%s/runs", folder);
	return result | rmdir(path) | rmdir(folder);
}

/* Once the first extra block has started, runs of earlier blocks are not due any more. */
static void test_passed(void)
{
	char folder[] = "/tmp/hgym-plan-XXXXXX";
	struct folder_state state = { .state = "running" };
	size_t waiting = 0, now = 0, at = 0, first;
	char id[RUN_ID_SIZE];
	struct bench_runs runs;
	struct bench_live *live;
	struct plan plan;

	ok(mkdtemp(folder) != NULL, "a results folder");
	plan_of_arms(&plan, 4);
	bench_runs_init(&runs, &plan, folder);
	while (!runs.v[at].fresh)
		at++;
	first = at;
	runs.v[at].end = RUN_END_EXITED;
	is_int(bench_run_record(&runs, &runs.v[at], NULL), 0,
	       "a run of an extra block is recorded");
	live = bench_show(&plan, folder, &state, NULL);
	for (size_t i = 0; i < runs.per_pod; i++) {
		waiting += i < first && live->runs[i].state != BENCH_LIVE_SKIPPED;
		now += live->runs[i].state == BENCH_LIVE_NOW ? 1 : 0;
	}
	is_int((long long)waiting, 0, "no earlier run is pending");
	ok(now == 1 && live->runs[first + 1].state == BENCH_LIVE_NOW,
	   "the next run is in progress");
	bench_live_free(live);
	(void)snprintf(id, sizeof(id), "%s", runs.v[first].id);
	bench_runs_release(&runs);
	plan_release(&plan);
	is_int(remove_run(folder, id), 0, "the folder is removed");
}

/* Compute start and end of each run of a bench with known durations, in seconds. */
static double replay(const struct bench_runs *runs, double t0[], double up[])
{
	static const double arm_s[] = { 10, 13, 24 }, pod_s[] = { 1, 1.7 };
	double last = 0.0, now = 0.0;

	for (size_t i = 0; i < runs->n; i++) {
		const struct bench_run *run = &runs->v[i];
		double noise = 1.0 + 0.05 * (double)((int)(i * 7 % 5) - 2);

		now = run->pos == 0 && run->round == 0 ? 100.0 : now;
		/* Each arm compiles once, in a block that is repeated for that reason. */
		up[i] = arm_s[run->arm] * pod_s[run->pod] * noise + (run->round == 0 ? 50.0 : 0.0);
		now += run->round == 3 && run->pod == 0 ? 31.0 : 0.0;
		t0[i] = floor(now); /* whole seconds, as from a pod */
		now += up[i] + 4.0 + 1.6;
		last = fmax(last, now);
	}
	return last;
}

/* Check the estimate of the remaining time after each run. */
static void test_left(void)
{
	struct bench_runs runs;
	struct plan plan;
	double t0[256], up[256], worst = 0.0;
	bool due[256];
	size_t n = 0;

	plan_of_arms(&plan, 3);
	plan.gap_s = 4.0;
	bench_runs_init(&runs, &plan, "/nowhere");
	if (!ok(runs.n <= 256 && runs.plan->n_pods == 2, "two pods"))
		return;
	double end = replay(&runs, t0, up);
	for (size_t at = 0; at < runs.n; at++) {
		double now = t0[at] + up[at];

		for (size_t i = 0; i < runs.n; i++) {
			due[i] = t0[i] + up[i] > now;
			runs.v[i].result.t0_s = due[i] ? (double)NAN : t0[i];
			runs.v[i].result.up_s = due[i] ? (double)NAN : up[i];
		}
		double left_s = bench_runs_left_s(&runs, due);
		if (due[runs.n_arms * 2 - 1] || due[runs.per_pod + runs.n_arms * 2 - 1])
			continue;
		/* The run in progress on the other pod counts as if it had just started. */
		double off_s = fabs(left_s - (end - now)) - 24 * 1.7;
		worst = fmax(worst, off_s / (end - now));
		n++;
	}
	ok(n > 20 && worst < 0.05,
	   "after two runs of each arm the estimate is right within a run and %.0f %%",
	   100 * worst);
	memset(due, 0, sizeof(due));
	is_near(bench_runs_left_s(&runs, due), 0, 0, "no run is due");
	for (size_t i = 0; i < runs.n; i++) {
		due[i] = i > 0;
		runs.v[i].result.up_s = i > 0 ? (double)NAN : 60;
	}
	ok(bench_runs_left_s(&runs, due) > 64 * (double)(runs.per_pod - 1) - 1,
	   "the first run gives the estimate for all");
	runs.v[0].result.up_s = (double)NAN;
	is_near(bench_runs_left_s(&runs, due), 0, 0, "without any run the estimate is 0");
	bench_runs_release(&runs);
	plan_release(&plan);
}

/* A kernel_config.json that an agent wrote; want: the error, "" for none. */
static void hostile(const char *text, const char *want)
{
	struct harness_iteration it = { .number = 1 };
	struct harness_run run = {
		.id = "r",
		.dir = "r",
		.command = "true",
		.best = { true, 1, 1, NULL },
		.post_score_key = "us",
		.has_config = true,
		.checkpoint = { .present = true,
				.settings = text,
				.iteration = { true, 1 },
				.has_task = true },
		.template_settings = "{\"num_warps\":8}",
		.iterations = &it,
		.n_iterations = 1,
	};
	struct harness_ab ab = { .run = &run, .workspace = "/w", .settings = true };
	struct err err = { ERR_NONE, "" };
	cJSON *plan = harness_ab_json(&ab, &err);

	if (*want == '\0')
		is_str(err.text, "", "good settings give a bench");
	else
		ok(plan == NULL && strstr(err.text, want) != NULL, "refused: %s (%s)", want,
		   err.text);
	cJSON_Delete(plan);
}

static void test_settings(void)
{
	AUTO_BUF many = buf_new(4096);
	AUTO_BUF deep = buf_new(65536);

	for (int i = 0; i < 99; i++)
		buf_appendf(&many, "%s\"k%d\": %d", i > 0 ? "," : "{", i, i);
	buf_append_str(&many, "}");
	for (int i = 0; i < 30000; i++)
		buf_append_str(&deep, "[");
	hostile("{\"num_warps\": 1}", "");
	hostile("{", "not a JSON object");
	hostile("[1, 2]", "not a JSON object");
	hostile("{\"num_warps\": [[[[1]]]]}", "is not a number, true, false or a short word");
	hostile(deep.data, "not a JSON object");
	hostile("{\"num_warps\": {\"a\": 1}}", "\"num_warps\" is not a number");
	hostile(many.data, "more than 64 settings");
	hostile("{\"num_warps\": \"$(touch owned)\"}", "\"num_warps\" is not a number");
	hostile("{\"num_warps\": \"'; touch owned; '\"}", "\"num_warps\" is not a number");
	hostile("{\"num_warps\": 1, \"a`touch owned`\": 1}", "\"a`touch owned`\" is not a number");
	hostile("{\"num_warps\": \"\\u001b]0;owned\\u0007\"}", "\"num_warps\" is not a number");
	hostile("{\"num_warps\": \"1\\n2\"}", "\"num_warps\" is not a number");
	hostile("{\"num_warps\": NaN}", "not a JSON object");
	hostile("{\"num_warps\": 1e999}", "\"num_warps\" is not a number");
	hostile("{\"num_warps\": 1, \"num_warps\": 8}", "duplicate key \"num_warps\"");
}

/* Check the working folder of a bench on that pod with --in FOLDER. */
static void check_folder(const char *pod, const char *folder, const char *want)
{
	const struct bench_line line = {
		.words = { { LINE_CONTROL, "true" } },
		.n_words = 1,
		.pods = { &pod, 1 },
		.folder = folder,
		.blocks = NAN,
		.minutes = NAN,
		.gap_s = NAN,
	};
	const struct conf conf = { 0 };
	cJSON *root = bench_make_line(&line, &conf, NULL);

	is_str(json_get_string(json_get(root, "workload"), "cwd", NULL), want,
	       "the working folder");
	cJSON_Delete(root);
}

/* The dashboard's form and the options of a command line give the same bench. */
static void test_form(void)
{
	static const struct {
		const char *field, *text, *want;
	} wrong[] = {
		{ "folder", "",
		  "folder: expected the directory on the pods in which the command runs" },
		{ "control", "", "control: \"\" is not a tag (" PLAN_NAME_WORDS ")" },
		{ "variant", "B/b", "variant: \"B/b\" is not a tag (" PLAN_NAME_WORDS ")" },
		{ "variant", "B python3 b.py",
		  "variant: \"python3\" is not NAME=VALUE; put a command after --" },
		{ "blocks", "many", "blocks: expected a number" },
		{ "aa", "maybe", "aa: expected auto, yes or no" },
	};
	const struct bench_line line = {
		.words = { { LINE_CONTROL, "python3 a.py" },
			   { LINE_ENV, "LR=0.1" },
			   { LINE_VARIANT, "B=python3 b.py" },
			   { LINE_ENV, "NAME=two words" } },
		.n_words = 4,
		.pods = { (const char *const[]){ "local" }, 1 },
		.metrics = { (const char *const[]){ "tok_s" }, 1 },
		.name = "ab",
		.folder = "/w",
		.blocks = 4,
		.minutes = NAN,
		.gap_s = NAN,
	};
	const struct conf conf = { 0 };
	char here[4096];
	struct err err = { ERR_NONE, "" };
	cJSON *form =
		json_new(JTEXT("name", "ab"), JTEXT("pods", "local"), JTEXT("folder", "/w"),
			 JTEXT("command", "python3 a.py"), JTEXT("control", "A LR=0.1"),
			 JTEXT("variant", "B NAME='two words' -- python3 b.py"),
			 JTEXT("variant2", " "), JTEXT("metric", "tok_s"), JTEXT("window", ""),
			 JTEXT("blocks", "4"), JTEXT("aa", "yes"), JTEXT("minutes", ""));
	cJSON *a = bench_make_form(form, &conf, &err), *b = bench_make_line(&line, &conf, &err);

	cJSON_ReplaceItemInObject(cJSON_GetArrayItem(json_get(b, "variants"), 0), "tag",
				  cJSON_CreateString("A"));
	ok(getcwd(here, sizeof(here)) != NULL, "get the current folder");
	ok(a != NULL && b != NULL && cJSON_Compare(a, b, true),
	   "form and command line give the same bench: %s", err.text);
	cJSON_Delete(a);
	cJSON_ReplaceItemInObject(form, "variant",
				  cJSON_CreateString("B='python3 b.py --name \"two words\"'"));
	a = bench_make_form(form, &conf, &err);
	is_str(json_get_string(cJSON_GetArrayItem(json_get(a, "variants"), 1), "command", ""),
	       "python3 b.py --name \"two words\"",
	       "the form takes TAG=COMMAND like the command line");
	cJSON_ReplaceItemInObject(form, "control", cJSON_CreateString("A = 1"));
	cJSON_Delete(a);
	ok(bench_make_form(form, &conf, &err) == NULL,
	   "the form rejects a blank before the equals sign");
	cJSON_ReplaceItemInObject(form, "control", cJSON_CreateString("A=python3 a2.py"));
	cJSON_ReplaceItemInObject(form, "command", cJSON_CreateString(""));
	a = bench_make_form(form, &conf, &err);
	is_str(json_get_string(json_get(a, "workload"), "command", ""), "python3 a2.py",
	       "all arms run the control's command if they have no command");
	cJSON_Delete(a);
	cJSON_ReplaceItemInObject(form, "command", cJSON_CreateString("python3 a.py"));
	cJSON_ReplaceItemInObject(form, "control", cJSON_CreateString("A LR=0.1"));
	cJSON_Delete(b);
	check_folder("local", ".", here);
	check_folder("local", "sub", "sub");
	check_folder("user@host", ".", ".");
	for (size_t i = 0; i < LENGTH(wrong); i++) {
		cJSON *bad = cJSON_Duplicate(form, true);

		cJSON_ReplaceItemInObject(bad, wrong[i].field, cJSON_CreateString(wrong[i].text));
		ok(bench_make_form(bad, &conf, &err) == NULL, "a wrong %s is refused",
		   wrong[i].field);
		is_str(err.text, wrong[i].want, "the error has the reason");
		cJSON_Delete(bad);
	}
	cJSON_Delete(form);
}

/* The form of a bench makes the same bench. */
static void test_form_of(void)
{
	const struct conf conf = { 0 };
	struct err err = { ERR_NONE, "" };
	struct plan plan;
	cJSON *form =
		json_new(JTEXT("name", "ab"), JTEXT("pods", "local"), JTEXT("folder", "/w"),
			 JTEXT("command", "python3 a.py"), JTEXT("control", "A LR='1 2'"),
			 JTEXT("variant", "B=python3 b.py"), JTEXT("variant2", "C X='y z' -- c"),
			 JTEXT("metric", "acc higher"), JTEXT("window", ""), JTEXT("blocks", "4"),
			 JTEXT("aa", "no"), JTEXT("minutes", "7"));
	cJSON *root = bench_make_form(form, &conf, &err);
	char *text = cJSON_PrintUnformatted(root);

	ok(plan_parse(&plan, "x", str_from(text), &err) == 0, "a bench of a form: %s", err.text);
	cJSON *again = bench_form_of(&plan);
	cJSON *twice = bench_make_form(again, &conf, &err);
	ok(cJSON_Compare(root, twice, true), "the form of a bench makes the same bench: %s",
	   err.text);
	is_str(json_get_string(again, "variant2", ""), "C X='y z' -- c", "the text of an arm");
	cJSON_Delete(form);
	cJSON_Delete(root);
	cJSON_Delete(again);
	cJSON_Delete(twice);
	free(text);
	plan_release(&plan);
}

/* A definition drops its A/A arm only if the noise register has its noise on its pod. */
static void test_known_noise(void)
{
	static const struct {
		const char *pod;
		double n_runs;
		bool keeps;
	} cases[] = { { "local", 6, false }, { "local", 2, true }, { "other", 6, true } };
	const struct conf conf = { 0 };
	struct err err = { ERR_NONE, "" };
	struct plan plan;
	char class_name[NOISE_CLASS_SIZE];
	cJSON *form = json_new(JTEXT("name", "ab"), JTEXT("pods", "local"), JTEXT("folder", "/w"),
			       JTEXT("command", "a"), JTEXT("control", "A"), JTEXT("variant", "B"),
			       JTEXT("metric", "ms"), JTEXT("aa", "auto"));

	for (size_t i = 0; i < LENGTH(cases); i++) {
		cJSON *root = bench_make_form(form, &conf, &err);
		char *text = cJSON_PrintUnformatted(root);

		ok(root != NULL && plan_parse(&plan, "x", str_from(text), &err) == 0 && plan.aa,
		   "\"auto\" has an A/A arm at first: %s", err.text);
		noise_class(&plan, 0, class_name);
		struct noise_entry entry = { .pod = xstrdup(cases[i].pod),
					     .gpus = xstrdup(""),
					     .class_name = class_name,
					     .noise = { .n_runs = cases[i].n_runs, .sd = .001 } };
		bench_use_known_noise(root, &(struct noise_register){ .v = &entry, .n = 1 });
		ok(json_get_bool(json_get(root, "design"), "aa", true) == cases[i].keeps,
		   "%g runs on %s: it %s", cases[i].n_runs, cases[i].pod,
		   cases[i].keeps ? "stays" : "is left out");
		free(entry.pod);
		free(entry.gpus);
		free(text);
		cJSON_Delete(root);
		plan_release(&plan);
	}
	cJSON_Delete(form);
}

int main(void)
{
	test_form();
	test_form_of();
	test_known_noise();
	test_left();
	test_settings();
	test_refused();
	test_read();
	test_values();
	test_nulls();
	test_never();
	test_summary();
	test_rates();
	test_waits();
	test_preflight_words();
	test_shown_arms();
	test_passed();
	return tap_done();
}
