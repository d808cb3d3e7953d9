/* SPDX-License-Identifier: MIT */
/* The readers of HarnessGym's files: complete, torn, malformed and missing files. */
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "model/harness_view.h"
#include "parsers/harness/json.h"
#include "report/harness_words.h"

#include "tests/support/tap.h"

#define R  "runs/r1/"
#define I1 R "iterations/1/"
#define I2 R "iterations/2/"

#define NOW_MS (INT64_C(1779843600) * 1000) /* 2026-05-27T01:00:00Z */

static struct harness_files files;
static struct harness_workspace ws;
static const struct harness_run *run; /* the newest run */

static void put_at(const char *path, const char *text, int64_t mtime_ms)
{
	(void)harness_files_put(&files, path, str_from(text), false, mtime_ms);
}

static void put(const char *path, const char *text)
{
	put_at(path, text, 0);
}

static void read_run(int64_t now_ms)
{
	harness_workspace_read(&ws, &files, now_ms);
	run = harness_workspace_run(&ws, NULL);
}

static void again(void)
{
	harness_workspace_release(&ws);
}

static void done(void)
{
	again();
	harness_files_release(&files);
	harness_files_init(&files);
}

static void test_times(void)
{
	is_int(harness_time_of(str_from("2026-05-27T01:00:00+00:00")), NOW_MS,
	       "a time with an offset");
	is_int(harness_time_of(str_from("2026-05-27T01:00:00Z")), NOW_MS, "Z");
	is_int(harness_time_of(str_from("2026-05-27T01:00:00.518920Z")), NOW_MS + 518,
	       "microseconds");
	is_int(harness_time_of(str_from("2026-05-27T03:00:00+02:00")), NOW_MS,
	       "a time in another zone");
	is_int(harness_time_of(str_from("20260527T010000Z-0a1b2c3d")), NOW_MS,
	       "the time in a run id");
	is_int(harness_time_of(str_from("exec-killed")), 0, "not a time");
	is_int(harness_time_of(str_from("2026-05-27T01:00:00")), 0,
	       "a time without a zone is unknown");
	is_int(harness_time_of(str_from("2026-13-27T01:00:00Z")), 0, "month");
}

static void test_paths(void)
{
	struct harness_path path;

	ok(harness_path_read(I2 "qualification/attempt_3/qualification.json", &path) &&
		   path.number == 2 && path.try == 3 && str_eq_cstr(path.run, "r1"),
	   "run, iteration and attempt of a path");
	ok(!harness_path_read(I1 "qualification/attempt_1/workspace/"
				 ".harnessgym/registry.json",
			      &path),
	   "the registry in a copy is ignored");
	ok(!harness_path_read(R "checkpoints/best/kernel.py", &path) &&
		   harness_path_read(R "checkpoints/best/kernel_config.json", &path) &&
		   str_eq_cstr(path.run, "r1"),
	   "the settings of a checkpoint are read, not the sources");
	ok(!harness_path_read("runs/r1/iterations/1x/result.json", &path),
	   "1x is not an iteration");
	ok(!harness_path_read("runs/r1/iterations/99999999999/result.json", &path),
	   "an iteration number above the limit is rejected");
	ok(harness_path_read("mcp/x/.harnessgym/mcp_calls.jsonl", &path),
	   "calls of other servers count");
	ok(!harness_path_read("runs/../../result.json", &path), "paths with .. are ignored");
}

static void test_torn(void)
{
	uint64_t generation;

	put(R "run_config.json", "{\"runner\": \"exec\", \"iterations\": 3}");
	generation = files.generation;
	put(R "run_config.json", "");
	put(R "run_config.json", "{\"runner\": \"ex");
	put(R "run_config.json", "[1]");
	is_int((long long)files.generation, (long long)generation,
	       "empty, torn and malformed contents change nothing");
	read_run(NOW_MS);
	is_str(run->runner, "exec", "the last complete content stays");
	is_int((long long)run->torn, 1, "the run counts the file that was being written");
	again();
	put(R "run_config.json", "{\"runner\": \"claude\"}");
	read_run(NOW_MS);
	is_str(run->runner, "claude", "the next complete content is stored");
	is_int((long long)run->torn, 0, "the file is complete at the next read");
	done();
}

static void test_dropped(void)
{
	put(I1 "result.json", "{}");
	harness_files_walked(&files);
	harness_files_walked(&files);
	is_int((long long)files.n, 1, "a file that one scan misses stays");
	harness_files_walked(&files);
	is_int((long long)files.n, 0, "a file that two scans miss is dropped");
	done();
}

/* A run in which higher is better, and a failed verifier prints the highest number. */
static void test_higher(void)
{
	put(R "run_config.json", "{\"post_attempt_command\": \"v\", "
				 "\"score_key\": \"tok\", \"post_attempt_score_key\": \"tok\","
				 " \"higher_is_better\": true, \"stop_score\": 9000}");
	put(R "summary.json", "{\"final_status\": \"solved\", \"solved\": true, \"best_score\": "
			      "9999, \"baseline_post_attempt\": {\"status\": \"completed\", "
			      "\"json\": {\"tok\": 100}, \"score\": 100, \"return_code\": 0}}");
	put(I1 "result.json", "{\"phases\": {\"attempt\": {}}, \"post_attempt\": "
			      "{\"status\": \"completed\", \"json\": {\"status\": \"OK\"}, "
			      "\"score\": 120}}");
	put(I2 "result.json", "{\"phases\": {\"attempt\": {}}, \"verified\": false, "
			      "\"post_attempt\": {\"status\": \"failed\", "
			      "\"json\": {\"status\": \"failed\"}, \"score\": 9999.0}}");
	put(R "baseline/baseline.stdout.txt", "{\"tok\": 100}");
	put(I1 "post_attempt.stdout.txt", "{\"status\": \"OK\", \"tok\": 120}");
	put(I2 "post_attempt.stdout.txt", "{\"status\": \"failed\", \"tok\": 9999.0}");
	read_run(NOW_MS);
	is_near(run->best.value, 120, 0, "the best verified score");
	is_int(run->best.iteration, 1, "the best verified score is from iteration 1");
	is_near(run->best_unverified.value, 9999, 0, "the better score is unverified");
	is_str(run->best_unverified.source, "failed_verifier",
	       "the better score is unverified because its verifier failed");
	is_int(run->stop_reached, HARNESS_NO, "the stop score is not reached");
	is_near(run->baseline_pct.value, 20, 1e-9,
		"the best score is 20 % better than the baseline");
	is_int(run->solved, HARNESS_YES, "HarnessGym's own summary is kept");
	done();
}

/* The agent writes the result of a verifier that never ran. */
static void test_forged(void)
{
	put(R "run_config.json", "{\"score_key\": \"us\", "
				 "\"post_attempt_score_key\": \"us\", "
				 "\"higher_is_better\": false}");
	put(I1 "result.json", "{\"status\": \"running\", \"phases\": {}, \"post_attempt\": "
			      "{\"status\": \"completed\", \"return_code\": 0, \"json\": "
			      "{\"status\": \"passed\"}, \"score\": 1}}");
	read_run(NOW_MS);
	ok(!run->iterations[0].verified_score.present && !run->best.present,
	   "a measurement before the end of the attempt is not verified");
	is_near(run->iterations[0].claimed_score.value, 1, 0,
		"the forged number is reported as a claim");
	done();
}

/* Verifiers that passed with an impossible number, or with ambiguous output. */
static void test_doubt(void)
{
	struct buf text;

	put(R "run_config.json", "{\"score_key\": \"us\", \"post_attempt_score_key\": \"us\","
				 " \"higher_is_better\": true, \"post_attempt_command\": \"v\"}");
	put(R "baseline/baseline.stdout.txt", "{\"us\": 100}");
	put(R "summary.json", "{\"baseline_post_attempt\": {\"status\": \"completed\", "
			      "\"json\": {\"us\": 100}, \"score\": 100, \"return_code\": 0}}");
	put(I1 "result.json", "{\"phases\": {\"attempt\": {}}, \"post_attempt\": "
			      "{\"status\": \"completed\", \"json\": {\"us\": 1e300}, "
			      "\"score\": 1e300}}");
	put(I2 "result.json", "{\"phases\": {\"attempt\": {}}, \"post_attempt\": "
			      "{\"status\": \"completed\", \"json\": {\"us\": 120}, "
			      "\"score\": 120}}");
	put(I1 "post_attempt.stdout.txt", "{\"us\": 1e300}");
	put(I2 "post_attempt.stdout.txt", "{\"us\": 120, \"us\": 80}\n");
	read_run(NOW_MS);
	ok(run->best.present && run->best.value == 100 && !run->best_unverified.present,
	   "an impossible number and a duplicate key are not the best");
	buf_init(&text, 1000);
	harness_add_result(&text, run, &run->iterations[0]);
	is_str(text.data, "INVALID 1e+300 (not a possible measurement)",
	       "an impossible measurement");
	buf_clear(&text);
	harness_add_result(&text, run, &run->iterations[1]);
	is_str(text.data, "INVALID 120 (duplicate key \"us\")", "a duplicate key");
	buf_release(&text);
	done();
}

/* The doubt about iteration 1, or why it is marked; "": it is verified. */
static const char *doubt_of(const char *key, const char *base, const char *own, double seconds)
{
	AUTO_TEXT config = xasprintf("{\"post_attempt_score_key\": \"%s\", \"higher_is_better\": "
				     "false, \"post_attempt_command\": \"v\"}",
				     key);
	AUTO_JSON printed = json_parse(str_from(own), JSON_BARE_TEXT, NULL);
	AUTO_TEXT result = xasprintf("{\"phases\": {\"attempt\": {}}, \"post_attempt\": {"
				     "\"status\": \"completed\", \"duration_seconds\": %g, "
				     "\"score\": %g}}",
				     seconds, json_get_number(printed, key, (double)NAN));
	static char why[300];

	put(R "run_config.json", config);
	put(R "summary.json", "{\"baseline_post_attempt\": {\"status\": \"completed\"}}");
	put(I1 "result.json", result);
	put(R "baseline/baseline.stdout.txt", base);
	put(I1 "post_attempt.stdout.txt", own);
	read_run(NOW_MS);
	const struct harness_iteration *it = &run->iterations[0];
	print_into(why, "%s",
		   it->post.doubt != NULL	 ? it->post.doubt
		   : !it->verified_score.present ? "not verified"
		   : it->mark != NULL		 ? it->mark
						 : "");
	done();
	return why;
}

#define CASES(a, b)                                      \
	"\"cases\": [{\"name\": \"a\", \"us\": " a "}, " \
	"{\"name\": \"b\", \"us\": " b "}]}"

#define H100(us, gbps)                                                           \
	"{\"us\": " us ", \"device\": \"NVIDIA H100\", \"cases\": [{\"us\": " us \
	", \"gbps\": " gbps "}]}"

/* Outputs of honest verifiers. */
static const struct {
	const char *what, *key, *base, *own;
	double seconds;
} honest[] = {
	{ "only a score", "us", "{\"us\": 100}", "{\"us\": 90}", 2 },
	{ "keys in another order", "us", "{\"us\": 100, \"device\": \"cpu\", \"n\": 3}",
	  "{\"n\": 3, \"device\": \"cpu\", \"us\": 90}", 2 },
	{ "a key that is not always printed", "us",
	  "{\"us\": 100, \"device\": \"cpu\", \"n\": 3, \"warning\": "
	  "\"first call was slow\"}",
	  "{\"us\": 90, \"device\": \"cpu\", \"n\": 3}", 2 },
	{ "a key of a case that is not always printed", "us",
	  "{\"us\": 3, \"cases\": [{\"name\": \"a\", \"us\": 3, \"n\": "
	  "1, \"retried\": true}]}",
	  "{\"us\": 2, \"cases\": [{\"name\": \"a\", \"us\": 2, \"n\": "
	  "1}]}",
	  2 },
	{ "cases in another order", "us", "{\"us\": 3, " CASES("1", "2"),
	  "{\"us\": 2.5, \"cases\": [{\"name\": \"b\", \"us\": 1.5}, "
	  "{\"name\": \"a\", \"us\": 1}]}",
	  2 },
	{ "cases without names", "us", "{\"us\": 3, \"cases\": [{\"us\": 1}, {\"us\": 2}]}",
	  "{\"us\": 2, \"cases\": [{\"us\": 1}, {\"us\": 1}]}", 2 },
	{ "cases with numbers as names", "us",
	  "{\"us\": 3, \"cases\": [{\"name\": 1, \"us\": 1}, "
	  "{\"name\": 2, \"us\": 2}]}",
	  "{\"us\": 2, \"cases\": [{\"name\": 1, \"us\": 1}, "
	  "{\"name\": 2, \"us\": 1}]}",
	  2 },
	{ "a case measured twice", "us", "{\"us\": 3, " CASES("1", "2"),
	  "{\"us\": 2, \"cases\": [{\"name\": \"a\", \"us\": 4}, "
	  "{\"name\": \"a\", \"us\": 1}, {\"name\": \"b\", "
	  "\"us\": 1}]}",
	  2 },
	{ "the score is the second case, which was the largest in the baseline", "us",
	  "{\"us\": 2, " CASES("1", "2"), "{\"us\": 0.5, " CASES("1", "0.5"), 2 },
	{ "a mean that equals the median in the baseline", "us",
	  "{\"us\": 2, \"cases\": [{\"us\": 1}, {\"us\": 2}, "
	  "{\"us\": 3}]}",
	  "{\"us\": 1, \"cases\": [{\"us\": 1}, {\"us\": 0.5}, "
	  "{\"us\": 3}]}",
	  2 },
	{ "a weighted mean of equal cases", "us", "{\"us\": 1, " CASES("1", "1"),
	  "{\"us\": 1.4, " CASES("1", "1.5"), 2 },
	{ "a sum cut to a whole number", "us", "{\"us\": 3, " CASES("1", "2"),
	  "{\"us\": 2, " CASES("1.2", "1.3"), 2 },
	{ "a geometric mean of cases with a 0", "us", "{\"us\": 2, " CASES("1", "4"),
	  "{\"us\": 4, " CASES("0", "4"), 2 },
	{ "a case without a value", "us", "{\"us\": 3, " CASES("1", "2"),
	  "{\"us\": 2, " CASES("null", "2"), 2 },
	{ "seconds as whole numbers", "us", "{\"us\": 3, \"elapsed_seconds\": 2}",
	  "{\"us\": 2, \"elapsed_seconds\": 3}", 2.4 },
	{ "fewer seconds than the clock resolves", "us", "{\"us\": 3, \"elapsed_seconds\": 0}",
	  "{\"us\": 2, \"elapsed_seconds\": -0.0}", 0.1 },
	{ "another GPU of the same kind", "us", "{\"us\": 3, \"device\": \"cuda:0\"}",
	  "{\"us\": 2, \"device\": \"cuda:1\"}", 2 },
	{ "noise of 5 % over the baseline", "us", "{\"us\": 100, " CASES("50", "50"),
	  "{\"us\": 105, " CASES("52.4", "52.6"), 2 },
	{ "status is true", "us", "{\"us\": 3, \"status\": true}", "{\"us\": 2, \"status\": true}",
	  2 },
	{ "a synonym of passed", "us", "{\"us\": 3, \"status\": \"completed\"}",
	  "{\"us\": 2, \"status\": \"valid\"}", 2 },
	{ "an empty error", "us", "{\"us\": 3, \"error\": null}", "{\"us\": 2, \"error\": \"\"}",
	  2 },
	{ "a negative loss", "neg_log", "{\"neg_log\": -3}", "{\"neg_log\": -4}", 2 },
	{ "nine times better", "us", "{\"us\": 99}", "{\"us\": 11}", 2 },
	{ "small cases, which are read from the cache", "us", H100("3", "4000"), H100("2", "6000"),
	  2 },
	{ "the peaks of the card and the amount of work", "us",
	  "{\"us\": 3, \"device\": \"NVIDIA H100\", \"tflops\": 600, "
	  "\"peak_tflops_sparse\": 3958, \"total_gb_scanned\": 99999, \"gb_size\": 99999}",
	  "{\"us\": 2, \"device\": \"NVIDIA H100\", \"tflops\": 900, "
	  "\"peak_tflops_sparse\": 3958, \"total_gb_scanned\": 99999, \"gb_size\": 99999}",
	  2 },
	{ "a nanosecond", "us", "{\"us\": 0.002}", "{\"us\": 0.001}", 2 },
	{ "printed on several lines", "us", "{\n  \"us\": 3\n}\n",
	  "{\n  \"us\": 2,\n  \"more\": [\n  ]\n}\n", 2 },
};

static void test_honest(void)
{
	array_each (shape, honest, LENGTH(honest))
		is_str(doubt_of(shape->key, shape->base, shape->own, shape->seconds), "",
		       shape->what);
}

/* Forged outputs. */
static void test_lies(void)
{
	static const struct {
		const char *base, *own, *doubt;
	} lies[] = {
		{ "{\"us\": 100}", "{\"us\": 1}", "100 times better in one iteration" },
		{ H100("3", "900"), H100("2", "57000"),
		  "5.7e+04 GB/s, but the peak of the card is 3352" },
		{ "{\"us\": 3, \"device\": \"NVIDIA H100\", \"achieved_tflops\": 600}",
		  "{\"us\": 2, \"device\": \"NVIDIA H100\", \"achieved_tflops\": 5000}",
		  "5000 TFLOP/s, but the peak of the card is 1979" },
		{ "{\"us\": 3, \"device\": \"NVIDIA H100\", \"gb_s_read\": 600, "
		  "\"peak_gb_s\": 3352}",
		  "{\"us\": 2, \"device\": \"NVIDIA H100\", \"gb_s_read\": 50000, "
		  "\"peak_gb_s\": 3352}",
		  "5e+04 GB/s, but the peak of the card is 3352" },
		{ "{\"us\": 2e-4}", "{\"us\": 2e-7}", "not a possible measurement" },
		{ "{\"us\": 3, " CASES("1", "2"), "{\"us\": 0.5, " CASES("1", "0.9"),
		  "its cases give the score 1.9" },
		{ "{\"us\": 1, " CASES("1", "1"), "{\"us\": 0.5, " CASES("1", "0.9"),
		  "its cases give the score 0.95" },
		{ "{\"us\": 2, " CASES("1", "2"), "{\"us\": 0.5, " CASES("1", "0.9"),
		  "its cases give the score 1" },
		{ "{\"us\": 3, \"x\": 1, \"y\": 1, \"z\": 1}", "{\"us\": 2}",
		  "\"x\" of the baseline is missing" },
		{ "{\"us\": 3, \"device\": \"cpu\", \"y\": 1, \"z\": 1}",
		  "{\"us\": 2, \"y\": 1, \"z\": 1}", "\"device\" of the baseline is missing" },
		{ "{\"us\": 3, \"device\": \"cuda:0\"}", "{\"us\": 2, \"device\": \"cpu\"}",
		  "device is cpu, but cuda:0 in the baseline" },
		{ "{\"us\": 3}", "{\"us\": 2, \"passed\": false}", "not verified" },
		{ "{\"us\": 3}", "{\"us\": 2, \"error\": \"wrong result\"}", "not verified" },
		{ "{\"us\": 3}", "{\"us\": 2, \"verified\": false}", "not verified" },
		{ "{\"us\": 3, " CASES("1", "2"),
		  "{\"us\": 2, \"cases\": [{\"name\": \"a\", \"us\": 1}, "
		  "{\"name\": \"b\", \"us\": 1, \"status\": \"failed\"}]}",
		  "not verified" },
		{ "{\"us\": 3, " CASES("1", "2"),
		  "{\"us\": 2, \"cases\": [{\"name\": \"a\", \"us\": 1}, "
		  "{\"name\": \"a\", \"us\": 1}]}",
		  "\"b\" of the baseline is missing" },
		{ "{\"us\": 3, " CASES("1", "2"),
		  "{\"us\": 0.2, \"cases\": [{\"name\": \"a\"}, "
		  "{\"name\": \"b\"}]}",
		  "\"us\" of the baseline is missing" },
		{ "{\"us\": 3, " CASES("1", "2"), "{\"us\": 0.2, \"cases\": 2}",
		  "only 0 of the baseline's 2 cases" },
		{ "{\"us\": 3, \"tolerance\": 0.01}", "{\"us\": 2, \"tolerance\": 1}",
		  "tolerance differs from the baseline" },
		{ "{\"us\": 3, \"cases\": [{\"name\": \"a\", \"us\": 3, "
		  "\"shape\": [4096, 1024]}]}",
		  "{\"us\": 1, \"cases\": [{\"name\": \"a\", \"us\": 1, "
		  "\"shape\": [16, 1024]}]}",
		  "shape of case a differs from the baseline" },
		{ "{\"us\": 3, \"elapsed_seconds\": 9}", "{\"us\": 2, \"elapsed_seconds\": -2}",
		  "reports -2 s of work, but the command ran 2 s" },
	};

	array_each (lie, lies, LENGTH(lies))
		is_str(doubt_of("us", lie->base, lie->own, 2), lie->doubt, lie->own);
}

/* Does the run have a fact with this label and text (NULL: any)? */
static bool has_fact(const struct harness_run *of, const char *label, const char *text)
{
	struct facts facts = { .n = 0 };
	bool is_there = false;

	harness_facts(&facts, &ws, of, NULL);
	for (size_t i = 0; i < facts.n; i++)
		is_there = is_there || (strcmp(facts.v[i].label, label) == 0 &&
					(text == NULL || strcmp(facts.v[i].text, text) == 0));
	facts_release(&facts);
	return is_there;
}

/* The usage that agent programs report. */
static void test_usage(void)
{
	put(I1 "result.json", "{\"blockers\": [\"no GPU\", 5, \"\\u001b[31mred\"]}");
	put(I1 "attempt.stdout.txt", "{\"type\": \"result\", \"total_cost_usd\": 0.25, "
				     "\"num_turns\": 7, \"usage\": {\"input_tokens\": 100, "
				     "\"cache_creation_input_tokens\": 11, "
				     "\"cache_read_input_tokens\": 900, \"output_tokens\": 40}}");
	put(I1 "build.stdout.txt", "{\"type\": \"result\", \"total_cost_usd\": 0.5, "
				   "\"num_turns\": -3, \"usage\": {\"input_tokens\": true}}");
	put(I2 "attempt.stdout.txt", "{\"type\": \"turn.started\"}\nrubbish \"type\"\n"
				     "{\"type\": \"turn.completed\", \"usage\": {\"input_tokens\": "
				     "10, \"cached_input_tokens\": 5, \"output_tokens\": 2}}\n"
				     "{\"type\": \"turn.completed\", \"usage\": {\"input_tokens\": "
				     "20, \"output_tokens\": 3}}\n");
	put("runs/r1/iterations/3/result.json",
	    "{\"harness_usage\": {\"active_skills\": [\"sweep\"], "
	    "\"active_tools\": [\"run\", 7, \"list\"], "
	    "\"mcp_called_tools\": [\"run\\u001b[31m\"]}}");
	put("runs/r1/iterations/3/attempt.stdout.txt", "done\ntokens used: 12,345\n");
	put("runs/r1/iterations/3/build.stderr.txt", "tokens used\n1,000\nunused 5\n");
	put("runs/r1/baseline/baseline.stdout.txt",
	    "{\"device\": \"H100\", \"torch\": \"2.5.1\", \"cuda\": 12, "
	    "\"elapsed_seconds\": 3.3}");
	read_run(NOW_MS);
	ok(has_fact(run, "measured on", "H100, torch 2.5.1, took 3.3 s"),
	   "the page shows where the verifier ran, without a version that is a number");
	is_int((long long)run->iterations[2].skills.n, 1, "one active skill");
	is_int((long long)run->iterations[2].tools.n, 2, "two active tools");
	is_str(run->iterations[2].tools.v[0], "list", "names of tools are sorted");
	ok(strchr(run->iterations[2].called.v[0], '\033') == NULL,
	   "the name of the used tool has no escape sequences");
	is_near(run->iterations[0].usage.cost_usd.value, 0.75, 1e-12, "the cost of all phases");
	is_near(run->iterations[0].usage.turns.value, 7, 0,
		"negative numbers of turns are not added");
	is_near(run->iterations[0].usage.input_tokens.value, 111, 0,
		"input that is written to the cache counts; true is not a number of tokens");
	is_near(run->iterations[1].usage.turns.value, 2, 0, "turns of Codex are counted");
	is_near(run->iterations[1].usage.input_tokens.value, 30, 0, "tokens of Codex are summed");
	ok(!run->iterations[1].usage.cost_usd.present, "Codex reports no cost");
	ok(!run->iterations[2].usage.turns.present, "turns are absent if no usage is reported");
	is_near(run->iterations[2].usage.all_tokens.value, 13345, 0,
		"tokens that Codex prints as text are read");
	is_int((long long)run->iterations[0].blockers.n, 2, "two of three blockers are strings");
	ok(strchr(run->iterations[0].blockers.v[1], '\033') == NULL &&
		   strchr(run->iterations[0].blockers.v[0], '\033') == NULL,
	   "blockers have no escape sequences");
	ok(has_fact(run, "agent used",
		    "$0.75, 9 turns, 141 tokens in, 905 tokens in from cache, 45 tokens out, "
		    "13,345 tokens in and out"),
	   "the page shows the usage in one sentence");
	again();
	(void)harness_files_put(&files, I2 "attempt.stdout.txt",
				str_from("{\"type\": \"turn.completed\", \"usage\": "
					 "{\"input_tokens\": 10}}\n"),
				true, 0);
	read_run(NOW_MS);
	ok(!run->iterations[1].usage.turns.present,
	   "turns are not counted in a text without its start");
	done();
}

/* Outputs of a passing verifier, the score in HarnessGym's summary, and the result on the page. */
static const struct {
	const char *printed, *said, *words;
} impossible[] = {
	{ "{\"best_us\": 0}", "0", "INVALID 0 (not a possible measurement)" },
	{ "{\"best_us\": -5}", "-5", "INVALID -5 (not a possible measurement)" },
	{ "{\"best_us\": true}", "1.0", "no score (verifier printed no score)" },
	{ "{\"best_us\": -Infinity}", "-Infinity", "no score (verifier printed no finite number)" },
	{ "{\"best_us\": NaN}", "NaN", "no score (verifier printed no finite number)" },
	{ "{\"best_us\": 3}\n{\"best_us\": 4}\n", "null",
	  "no score (verifier printed more than one JSON object)" },
	{ "\n", "null", "no score (verifier printed nothing)" },
};

static void test_impossible(void)
{
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		char *result = xasprintf("{\"phases\": {\"attempt\": {}}, \"post_attempt\": "
					 "{\"status\": \"completed\", \"return_code\": 0, "
					 "\"json\": null, \"score\": %s}}",
					 impossible[i].said);
		char *summary = xasprintf("{\"best_score\": %s}", impossible[i].said);
		struct buf text;

		put(R "run_config.json", "{\"post_attempt_command\": \"v\", "
					 "\"post_attempt_score_key\": \"best_us\", "
					 "\"higher_is_better\": false}");
		put(I1 "result.json", result);
		put(I1 "post_attempt.stdout.txt", impossible[i].printed);
		put(R "summary.json", summary);
		read_run(NOW_MS);
		buf_init(&text, 1000);
		harness_add_result(&text, run, &run->iterations[0]);
		is_str(text.data, impossible[i].words, "the result of an impossible score");
		ok(!run->best.present, "an impossible score is not the best");
		buf_release(&text);
		ok(has_fact(run, "HarnessGym says", NULL) ==
			   (strcmp(impossible[i].said, "null") != 0),
		   "the page shows HarnessGym's own claim: %s", impossible[i].said);
		free(summary);
		free(result);
		done();
	}
}

static void test_percentages(void)
{
	char text[HARNESS_PCT_SIZE];

	is_str(harness_pct(2.14, true, text), "+2.1 %", "a sign is printed");
	is_str(harness_pct(-2.14, true, text), "-2.1 %", "a negative gain is printed");
	is_str(harness_pct(2.14, false, text), "2.1 %", "without");
	is_str(harness_pct(-1e300, true, text), "-1e+300 %", "never 300 digits");
}

/* A run without measurements, with numbers in place of texts. */
static void test_strange(void)
{
	put(R "run_config.json", "{\"score_key\": \"us\", \"iterations\": "
				 "\"many\", \"higher_is_better\": false, "
				 "\"runner\": 7, \"task_path\": null}");
	put(I1 "result.json", "{\"status\": 5, \"verified\": \"yes\", \"phases\": [1, 2], "
			      "\"metrics\": {\"us\": \"12.5\"}, \"created_at\": [], "
			      "\"post_attempt\": {\"status\": \"completed\", \"score\": null, "
			      "\"json\": null}, \"harness_usage\": {\"mcp_call_count\": \"x\"}, "
			      "\"blockers\": {\"a\": 1}, \"artifact_qualification\": 3, "
			      "\"unknown\": {\"deep\": [[[[]]]]}}");
	put(I2 "result.json", "{\"metrics\": {\"us\": true, \"score\": NaN}, \"post_attempt\": "
			      "{\"status\": \"completed\", \"json\": {}, \"score\": Infinity}}");
	read_run(NOW_MS);
	ok(run->runner == NULL && run->task_file == NULL, "missing texts are absent");
	ok(!run->planned.present, "a text is not a count");
	ok(run->iterations[0].status == NULL && run->iterations[0].verified == HARNESS_UNKNOWN,
	   "wrong types are unknown");
	is_near(run->iterations[0].claimed_score.value, 12.5, 0,
		"a number written as text is a claim");
	ok(!run->iterations[0].calls.present, "an invalid count of calls is absent");
	ok(!run->iterations[0].qualification.present, "an invalid qualification is absent");
	ok(!run->iterations[1].verified_score.present &&
		   !run->iterations[1].invalid_score.present &&
		   !run->iterations[1].claimed_score.present,
	   "infinity, true and NaN are not scores");
	ok(!run->best.present && run->best_unverified.present,
	   "only an unverified score is the best");
	ok(!run->has_baseline, "an invalid baseline is absent");
	done();
}

static void test_infinity_told(void)
{
	cJSON *object;
	struct buf text;

	put(I1 "result.json", "{\"post_attempt\": {\"status\": \"failed\", "
			      "\"score\": -Infinity, \"json\": {}}}");
	read_run(NOW_MS);
	object = harness_run_json(&ws, run);
	buf_init(&text, 1 << 20);
	json_print(&text, object);
	ok(strstr(text.data, "\"score_raw\":\"-Infinity\"") != NULL, "infinity is printed as text");
	ok(strstr(text.data, "\"higher_is_better\":null") != NULL,
	   "without a configuration the direction is null");
	buf_release(&text);
	cJSON_Delete(object);
	done();
}

/* Files are lost, but the summary and a report still contain the iteration. */
static void test_missing(void)
{
	put(R "summary.json", "{\"iterations\": [{\"iteration\": 2, \"status\": \"blocked\"}], "
			      "\"optimization\": {\"higher_is_better\": false, \"score_key\": "
			      "\"us\"}, \"artifact_qualification\": {\"reports\": "
			      "[{\"iteration\": 2, \"status\": \"failed\", "
			      "\"active_tool_count\": 3}]}, \"best_checkpoint\": {\"restored\": "
			      "false, \"reason\": \"checkpoint_missing\"}}");
	read_run(NOW_MS);
	is_str(run->id, "r1", "the folder gives the id of the run");
	is_int((long long)run->n_iterations, 1, "one iteration is found");
	is_str(run->iterations[0].status, "blocked", "its status is read");
	is_near(run->iterations[0].qualification.active_tools.value, 3, 0,
		"its qualification is read");
	is_int(run->restore.restored, HARNESS_NO, "the checkpoint was not restored");
	is_str(run->restore.reason, "checkpoint_missing", "the reason is read");
	done();
}

static void test_calls(void)
{
	put("mcp_calls.jsonl", "{\"tool_name\":\"a\",\"status\":\"completed\",\"created_at\":"
			       "\"2026-05-26T01:00:00Z\",\"duration_ms\":5}\n"
			       "{\"tool_name\":\"a\",\"status\":\"error\",\"created_at\":"
			       "\"2026-05-27T01:00:05.25Z\"}\nrubbish\n"
			       "{\"tool_name\":\"b\",\"status\":\"completed\",\"created_at\":"
			       "\"2026-05-27T01:00:09Z\"}\n{\"tool_na");
	put("mcp/x/.harnessgym/mcp_calls.jsonl", "{\"tool_name\":\"b\",\"status\":\"timeout\"}\n");
	put(I1 "result.json", "{\"created_at\": \"2026-05-27T01:00:00+00:00\", "
			      "\"harness_usage\": {\"mcp_call_count\": 3}}");
	put(I2 "result.json", "{\"harness_usage\": {\"mcp_call_count\": 2}}");
	read_run(NOW_MS);
	is_int(ws.calls.total, 4, "calls of both files are counted");
	is_int(ws.calls.broken, 2, "malformed lines are counted");
	is_int(ws.calls.tools[0].failed, 1, "the failed calls of a tool are counted");
	is_near(run->iterations[0].calls_delta.value, 2, 0,
		"calls before the run do not belong to the iteration");
	ok(!run->iterations[1].calls_delta.present, "a count that decreased gives no difference");
	done();
}

/* Infrastructure failures and the texts by which they are recognized. */
static const struct {
	const char *post, *errors, *want;
} failures[] = {
	{ "\"status\": \"failed\", \"return_code\": 2, \"json\": null",
	  "tar: Child returned status 141\n", "ssh_masked_by_tar" },
	{ "\"status\": \"failed\", \"return_code\": 2, \"json\": null", "tar: Write error\n",
	  "ssh_masked_by_tar" },
	{ "\"status\": \"failed\", \"return_code\": 255, \"json\": null",
	  "ssh: connect to host h port 22: Connection refused\n", "ssh" },
	{ "\"status\": \"failed\", \"return_code\": 255, \"json\": null, "
	  "\"command\": \"ssh h run\"",
	  "", "ssh" },
	{ "\"status\": \"failed\", \"return_code\": 255, \"json\": null, "
	  "\"command\": \"./check\"",
	  "", NULL },
	{ "\"status\": \"failed\", \"return_code\": 1, \"json\": {\"error\": "
	  "\"CUDA is not available\", \"status\": \"failed\"}",
	  "", "gpu" },
	{ "\"status\": \"failed\", \"return_code\": 1, \"json\": null",
	  "OSError: [Errno 28] No space left on device\n", "disk" },
	{ "\"status\": \"failed\", \"return_code\": 1, \"json\": null",
	  "ModuleNotFoundError: No module named 'triton'\n", "environment" },
	{ "\"status\": \"timeout\", \"return_code\": null, \"json\": null", "", NULL },
	{ "\"status\": \"failed\", \"return_code\": 1, \"json\": {\"status\": "
	  "\"failed\", \"errors\": [\"case 3 is wrong\"]}",
	  "No space left on device", NULL },
	{ "\"status\": \"completed\", \"return_code\": 0, \"json\": {}",
	  "ModuleNotFoundError: harmless", NULL },
};

static void test_failures(void)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		char *text = xasprintf("{\"post_attempt\": {%s}}", failures[i].post);

		put(I1 "result.json", text);
		put(I1 "post_attempt.stderr.txt", failures[i].errors);
		read_run(NOW_MS);
		is_str(harness_failures[run->iterations[0].post.failure].name, failures[i].want,
		       failures[i].want != NULL ? failures[i].want
						: "passed, no infrastructure "
						  "failure");
		free(text);
		done();
	}
}

/* A verifier that hangs is not an infrastructure failure. */
static void test_timeout(void)
{
	struct buf text;

	put(I1 "result.json", "{\"phases\": {\"attempt\": {}}, \"post_attempt\": "
			      "{\"status\": \"timeout\", \"timed_out\": true, "
			      "\"return_code\": null, \"json\": null, \"score\": null}}");
	read_run(NOW_MS);
	buf_init(&text, 1000);
	harness_add_result(&text, run, &run->iterations[0]);
	is_str(text.data, "no score (timeout)", "a verifier that hung has no score");
	ok(harness_failures[run->iterations[0].post.failure].name == NULL,
	   "a time limit is not an infrastructure failure");
	buf_release(&text);
	done();
}

static void test_stray(void)
{
	put(R "run_config.json", "{\"post_attempt_score_key\": \"us\"}");
	put(I1 "result.json", "{\"post_attempt\": {\"status\": \"completed\", "
			      "\"json\": null, \"score\": null}}");
	put(I1 "post_attempt.stdout.txt", "warning: x\n{\"us\": 7.5, \"status\": \"passed\"}\n");
	read_run(NOW_MS);
	is_near(run->iterations[0].post.stray_score.value, 7.5, 0,
		"a score within other text is found");
	ok(!run->iterations[0].verified_score.present, "a score within other text is not verified");
	again();
	put(I1 "post_attempt.stdout.txt",
	    "benchmark.0.mean: 400.0\nbenchmark.1.mean: 100\ncheck: pass\n");
	read_run(NOW_MS);
	is_near(run->iterations[0].post.stray_score.value, 200, 1e-9,
		"the geometric mean of a GPU MODE benchmark");
	ok(!run->iterations[0].verified_score.present,
	   "a score of a failed command is not verified");
	again();
	put(I1 "post_attempt.stdout.txt",
	    "benchmark.0.mean: 1\nbenchmark.1.mean: 1\ncheck: fail\n");
	read_run(NOW_MS);
	ok(!run->iterations[0].post.stray_score.present,
	   "an attempt whose check failed has no score");
	done();
}

/* The reason why a phase failed. */
static void test_reasons(void)
{
	put(I1 "result.json", "{\"phases\": {\"attempt\": {\"status\": \"failed\"}, \"build\": "
			      "{\"status\": \"failed\", \"message\": \"no \\u001b[31mtool\"}, "
			      "\"reflection\": {\"status\": \"completed\", \"message\": \"x\"}}}");
	put(I1 "attempt.stderr.txt", "Traceback\nOSError: no codex\n\n");
	read_run(NOW_MS);
	is_str(run->iterations[0].attempt->why, "OSError: no codex",
	       "without a message, the reason is the last line of stderr");
	ok(strcmp(run->iterations[0].phases[1].name, "build") == 0 &&
		   strchr(run->iterations[0].phases[1].why, '\033') == NULL,
	   "the reason is HarnessGym's message, without escape sequences");
	ok(run->iterations[0].phases[2].why == NULL, "a completed phase has no reason");
	done();
}

static void put_live(void)
{
	put_at(R "run_config.json",
	       "{\"iterations\": 2, \"optimization_mode\": true, "
	       "\"attempt_timeout_seconds\": 480, "
	       "\"post_attempt_timeout_seconds\": 240, "
	       "\"post_attempt_command\": \"v\", "
	       "\"attempt_timeout_schedule_seconds\": [300]}",
	       NOW_MS);
}

static void test_life(void)
{
	put_live();
	read_run(NOW_MS + 5000);
	is_str(run->life.phase, "baseline", "the first phase is the baseline");
	is_near(run->life.left_s.value, 235, 1e-9, "the phase has its time limit");
	again();
	put_at(R "baseline/baseline.stdout.txt", "{}", NOW_MS + 5000);
	put_at(I1 "activation.json", "{}", NOW_MS + 10000);
	put_at(I1 "result.json",
	       "{\"created_at\": \"2026-05-27T01:00:10Z\", \"status\": "
	       "\"running\"}",
	       NOW_MS + 10000);
	read_run(NOW_MS + 40000);
	is_str(run->life.phase, "attempt", "an attempt is running");
	is_int(run->life.state, HARNESS_STATE_RUNNING, "a silence within the limit: running");
	is_near(run->life.left_s.value, 270, 1e-9, "the phase has the limit of the schedule");
	again();
	read_run(NOW_MS + 500000);
	is_int(run->life.state, HARNESS_STATE_STALE, "silent for too long: stale");
	again();
	read_run(NOW_MS + 5000000);
	is_int(run->life.state, HARNESS_STATE_ABORTED, "silent much longer: aborted");
	again();
	put_at(I1 "attempt.stdout.txt", "x", NOW_MS + 310000);
	read_run(NOW_MS + 320000);
	is_str(run->life.phase, "verifying", "after the attempt the verifier runs");
	again();
	put_at(I1 "post_attempt.stdout.txt", "x", NOW_MS + 330000);
	put_at(I1 "build.prompt.txt", "", NOW_MS + 340000);
	read_run(NOW_MS + 341000);
	is_str(run->life.phase, "build", "after the verifier tools are built");
	again();
	put_at(I2 "activation.json", "{}", NOW_MS + 350000);
	put_at(I2 "result.json", "{\"created_at\": \"2026-05-27T01:05:50Z\"}", NOW_MS + 350000);
	read_run(NOW_MS + 360000);
	is_near(run->life.left_s.value, 290, 1e-9,
		"the last limit of a schedule holds for all later iterations");
	again();
	put("runs/r2/run_config.json", "{}");
	put("runs/r2/iterations/1/result.json", "{\"created_at\": \"2026-05-27T02:00:00Z\"}");
	read_run(NOW_MS + 342000);
	is_int(ws.runs[0].life.state, HARNESS_STATE_ABORTED,
	       "a newer run in the workspace shows that the older one has ended");
	again();
	put(R "summary.json", "{\"final_status\": \"improved\"}");
	read_run(NOW_MS + 342000);
	is_int(ws.runs[0].life.state, HARNESS_STATE_FINISHED, "a summary");
	done();
}

/* Runs for which no process of HarnessGym was found. */
static void test_unseen(void)
{
	put_at(R "run_config.json", "{\"runner\": \"exec\", \"attempt_timeout_seconds\": 60}",
	       NOW_MS);
	put_at(I1 "result.json", "{\"created_at\": \"2026-05-27T01:00:00Z\"}", NOW_MS);
	files.process = HARNESS_NO;
	read_run(NOW_MS + 2000);
	is_int(run->life.state, HARNESS_STATE_RUNNING, "a run that has just written is not dead");
	again();
	read_run(NOW_MS + 20000);
	is_int(run->life.state, HARNESS_STATE_STALE,
	       "a silent run without an agent process is dead");
	again();
	put_at(R "run_config.json", "{\"runner\": \"fake\", \"attempt_timeout_seconds\": 60}",
	       NOW_MS);
	read_run(NOW_MS + 20000);
	is_int(run->life.state, HARNESS_STATE_RUNNING, "with a fake agent, silence decides");
	again();
	read_run(NOW_MS + 200000);
	is_int(run->life.state, HARNESS_STATE_STALE, "silence long after the time limit: stale");
	done();
}

/* A run that has just started and recorded no time is the newest. */
static void test_begun(void)
{
	put_at("runs/old/iterations/1/result.json", "{\"created_at\": \"2026-05-27T01:00:00Z\"}",
	       NOW_MS);
	put_at("runs/new/run_config.json", "{\"run_id\": \"new\"}", NOW_MS + 60000);
	read_run(NOW_MS + 61000);
	is_str(run->id, "new", "the run that has just started is the newest");
	is_int(run->life.state, HARNESS_STATE_RUNNING, "the newest run is running");
	is_int(ws.runs[0].life.state, HARNESS_STATE_ABORTED,
	       "the run before the newest one is not running");
	done();
}

/* The connection is lost during an attempt. */
static void test_age(void)
{
	struct harness_view view = { .places = NULL };
	const struct harness_place *place;
	struct buf text;

	put_at(R "run_config.json", "{\"attempt_timeout_seconds\": 60}", NOW_MS);
	put_at(I1 "activation.json", "{}", NOW_MS);
	put_at(I1 "result.json", "{\"created_at\": \"2026-05-27T01:00:00Z\"}", NOW_MS);
	(void)harness_view_add(&view, "pod:dir", &files);
	harness_view_read(&view, 0, false, NOW_MS + 6000);
	place = &view.places[0];
	is_near(place->ws.runs[0].life.left_s.value, 54, 1e-9, "the remaining time is shown");
	harness_view_set_trouble(&view, 0, "the pod does not answer");
	harness_view_set_age(&view, 0, 34000);
	ok(!place->ws.runs[0].life.left_s.present,
	   "without a connection no remaining time is shown");
	buf_init(&text, 1000);
	harness_add_age(&text, place->age_ms);
	is_str(text.data, "as of 34 s ago", "the age of the data is shown");
	buf_release(&text);
	harness_view_read(&view, 0, false, NOW_MS + 40000);
	ok(place->age_ms == 0 && place->why[0] == '\0' && place->ws.runs[0].life.left_s.value == 20,
	   "a new read resets the age");
	harness_view_release(&view);
	done();
}

/* The file times of a copied directory do not show that its run is active. */
static void test_copied(void)
{
	int64_t copied_ms = NOW_MS + 86400000;

	put_at(R "run_config.json", "{\"attempt_timeout_seconds\": 480}", copied_ms);
	put_at(I1 "activation.json", "{}", copied_ms);
	put_at(I1 "result.json", "{\"created_at\": \"2026-05-27T01:00:10Z\"}", copied_ms);
	read_run(copied_ms + 1000);
	is_int(run->life.state, HARNESS_STATE_ABORTED,
	       "a copy of a dead run is not shown as running");
	done();
}

static void test_compare(void)
{
	struct harness_compare compare;

	put("plain/trial_1/trial.json", "{\"trial\": 1, \"post_valid\": true, \"post_score\": 10, "
					"\"post_result\": {\"score\": 10}}");
	put("plain/trial_2/trial.json",
	    "{\"trial\": 2, \"post_valid\": false, \"post_score\": null, "
	    "\"post_treated_as_worst\": true, \"post_result\": {\"score\": "
	    "4, \"status\": \"failed\"}, \"post_invalid_reason\": \"failed\"}");
	put("plain/trial_3/trial.json", "{\"trial\": 3, \"post_valid\": true, \"post_score\": 20, "
					"\"post_result\": {\"score\": 20, \"status\": "
					"\"completed\"}}");
	put("plain/trial_3/post.stdout.txt", "{\"score\": 20}");
	put("harnessed/trial_1/trial.json",
	    "{\"trial\": 1, \"post_valid\": null, \"post_result\": null}");
	put("harnessed/trial_2/trial.json",
	    "{\"trial\": 2, \"post_valid\": true, \"post_score\": 1, "
	    "\"post_result\": {\"score\": 1, \"status\": "
	    "\"completed\"}}");
	put("harnessed/trial_2/post.stdout.txt", "{\"score\": 11}");
	harness_compare_read(&compare, &files);
	is_int((long long)compare.n_trials, 5, "five trials, no report yet");
	is_int(compare.groups[1].valid, 0, "a score that was not printed is not valid");
	is_str(compare.trials[4].post.doubt, "trial.json has 1, the verifier printed 11",
	       "the reason contains both scores");
	is_int(compare.groups[0].valid, 2, "two plain trials count");
	is_int(compare.groups[0].invalid, 1, "one plain trial does not count");
	is_near(compare.groups[0].median.value, 15, 0, "the invalid trial is not in the median");
	ok(!compare.groups[0].best.present, "the direction is unknown without the report");
	is_int(compare.groups[1].not_run, 1, "one trial was never measured");
	ok(!compare.groups[1].median.present, "a trial that was never measured gives no median");
	harness_compare_release(&compare);
	done();
}

static void test_hostile_text(void)
{
	put(R "run_config.json", "{\"runner\": \"\\u001b[31mred\\u0007\"}");
	put(I1 "result.json", "{\"summary\": \"\\u202eevil\\nsecond\"}");
	read_run(NOW_MS);
	ok(strchr(run->runner, '\033') == NULL, "the name of the runner has no escape sequence");
	ok(strstr(run->iterations[0].note, "second") == NULL &&
		   strstr(run->iterations[0].note, "\xe2\x80\xae") == NULL,
	   "a note is a single sanitized line");
	done();
}

int main(void)
{
	harness_files_init(&files);
	test_times();
	test_paths();
	test_torn();
	test_dropped();
	test_higher();
	test_forged();
	test_doubt();
	test_honest();
	test_lies();
	test_usage();
	test_impossible();
	test_percentages();
	test_strange();
	test_infinity_told();
	test_missing();
	test_calls();
	test_failures();
	test_timeout();
	test_stray();
	test_reasons();
	test_life();
	test_unseen();
	test_begun();
	test_age();
	test_copied();
	test_compare();
	test_hostile_text();
	harness_files_release(&files);
	return tap_done();
}
