/* SPDX-License-Identifier: MIT */
/* A generated HarnessGym run, step by step, with the files that HarnessGym writes. */
#include "tests/tools/harness_gen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/xalloc.h"

#define GEN_RUN	       "rmsnorm-h100"
#define GEN_ITERATIONS 4
#define GEN_COMMAND                                                          \
	"python3 remote_h100.py --workspace triton_rmsnorm_h100 -- python3 " \
	"verifier.py --json --mode final --warmup 20 --repeats 50"
#define GEN_ATTEMPT_S 480

/* The figures of the experiment. */
struct gen_figures {
	unsigned int quanta; /* the score in steps of the event clock; 0: none */
	unsigned int calls;  /* tool calls in the iteration */
	unsigned int tools_before, tools_after;
	unsigned int attempt_s; /* GEN_ATTEMPT_S: the attempt timed out */
	const char *note;
};

/* The file that is being written. */
struct gen_sheet {
	const struct harness_gen *gen;
	struct err *err;
	struct buf text;
	int64_t at_ms;
	int rc;
};

/* The progress of an iteration, which determines the content of its result.json. */
enum gen_progress {
	GEN_STARTED,
	GEN_ATTEMPTED,
	GEN_MEASURED,
	GEN_REFLECTED,
	GEN_BUILT,
	GEN_QUALIFIED,
	GEN_RESTORED,
};

#define QUANTUM_US 0.032 /* of the event clock: every score is a multiple */

static double gen_score_of(const struct gen_figures *f)
{
	return f->quanta * QUANTUM_US;
}

static void pause_us(unsigned int us)
{
	struct timespec wait = { us / 1000000, (long)(us % 1000000) * 1000 };

	if (us > 0)
		(void)nanosleep(&wait, NULL);
}

/* Create all parent directories of path. */
static void make_folders(const char *path)
{
	char *copy = xstrdup(path);

	for (char *p = strchr(copy + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(copy, 0777);
		*p = '/';
	}
	free(copy);
}

/* Write the bytes of the sheet, in two halves to imitate a live writer. */
static int write_parts(const struct gen_sheet *s, int fd)
{
	size_t half = s->gen->torn_us > 0 ? s->text.len / 2 : 0;

	pause_us(s->gen->torn_us);
	if (fd_write_all(fd, s->text.data, half) != 0)
		return -1;
	if (half > 0)
		pause_us(s->gen->torn_us);
	return fd_write_all(fd, s->text.data + half, s->text.len - half);
}

/* Write the sheet to a file below .harnessgym and empty it. */
LIKE_PRINTF(3, 4)
static void gen_put(struct gen_sheet *s, int flags, const char *fmt, ...)
{
	struct timespec times[2] = {
		{ (time_t)(s->at_ms / 1000), (long)(s->at_ms % 1000) * 1000000 },
	};
	char name[256], *path;
	va_list ap;
	int fd;

	va_start(ap, fmt);
	(void)vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	path = xasprintf("%s/.harnessgym/%s", s->gen->dir, name);
	make_folders(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (fd < 0 || write_parts(s, fd) != 0)
		s->rc = err_set_errno(s->err, ERR_IO, "cannot write %s", path);
	times[1] = times[0];
	if (fd >= 0 && s->gen->torn_us == 0)
		(void)futimens(fd, times);
	if (fd >= 0)
		(void)close(fd);
	free(path);
	buf_clear(&s->text);
}

/* RFC 3339 in HarnessGym's form. */
static const char *gen_stamp(int64_t at_ms, char out[CLOCK_RFC3339_SIZE + 8])
{
	size_t len;

	clock_rfc3339(at_ms, out);
	len = strlen(out);
	if (len > 0 && out[len - 1] == 'Z')
		(void)snprintf(out + len - 1, 8, "+00:00");
	return out;
}

/* The verifier's output for a score, split over its four cases. */
static void gen_add_verdict(struct buf *text, unsigned int quanta)
{
	static const struct {
		unsigned int rows, dim, share;
	} cases[] = {
		{ 4096, 1024, 12 },
		{ 2048, 2048, 18 },
		{ 1024, 4096, 28 },
		{ 192, 8192, 42 },
	};
	unsigned int left = quanta;

	buf_appendf(text, "{\"best_us\": %.3f, \"cases\": [", quanta * QUANTUM_US);
	for (size_t i = 0; i < 4; i++) {
		unsigned int part = i < 3 ? quanta * cases[i].share / 100 : left;

		left -= part;
		buf_appendf(text,
			    "%s{\"best_us\": %.3f, \"dim\": %u, \"max_abs\": "
			    "0.0009765625, \"median_us\": %.3f, \"name\": "
			    "\"final_r%u_d%u\", \"rows\": %u, \"status\": "
			    "\"passed\", \"tolerance\": 0.02}",
			    i > 0 ? ", " : "", part * QUANTUM_US, cases[i].dim,
			    (part + 12) * QUANTUM_US, cases[i].rows, cases[i].dim, cases[i].rows);
	}
	buf_appendf(text,
		    "], \"device\": \"NVIDIA H100 80GB HBM3\", \"median_us\": "
		    "%.3f, \"mode\": \"final\", \"score\": %.3f, \"status\": "
		    "\"passed\", \"target_best_us\": 90.0, \"verified\": true}",
		    (quanta + 48) * QUANTUM_US, quanta * QUANTUM_US);
}

/* The record of one verifier run; SSH was refused if it has no score. */
static void gen_add_post(struct buf *text, const struct gen_figures *f)
{
	buf_append_str(text, "{\"command\": \"" GEN_COMMAND "\", ");
	if (f->quanta == 0) {
		buf_append_str(text, "\"duration_seconds\": 0.31, \"json\": null, "
				     "\"return_code\": 2, \"score\": null, "
				     "\"score_key\": \"best_us\", \"status\": "
				     "\"failed\", \"timed_out\": false}");
		return;
	}
	buf_append_str(text, "\"duration_seconds\": 21.4, \"json\": ");
	gen_add_verdict(text, f->quanta);
	buf_appendf(text,
		    ", \"return_code\": 0, \"score\": %.3f, \"score_key\": "
		    "\"best_us\", \"status\": \"completed\", \"timed_out\": "
		    "false}",
		    gen_score_of(f));
}

#define EARLIER "rmsnorm-h100-first"

static const struct gen_figures gen_baseline = { .quanta = 4464 };
static const struct gen_figures restored = { .quanta = 3117 };
static const struct gen_figures gen_iterations[GEN_ITERATIONS] = {
	{ 3276, 17, 10, 13, GEN_ATTEMPT_S, "block and warp sweep by row width" },
	{ 3359, 11, 13, 15, GEN_ATTEMPT_S, "rows per program; 8192 columns lost" },
	{ 3117, 17, 15, 16, GEN_ATTEMPT_S, "joint source and launch search" },
	{ 0, 8, 16, 17, 301, "the verifier's host refuses SSH" },
};

static void gen_put_config(struct gen_sheet *s, const char *run, unsigned int planned)
{
	buf_appendf(&s->text,
		    "{\"attempt_only\": false, \"attempt_timeout_schedule_"
		    "seconds\": [], \"attempt_timeout_seconds\": %d, "
		    "\"build_timeout_seconds\": 600, \"higher_is_better\": "
		    "false, \"iterations\": %u, \"optimization_mode\": true, "
		    "\"post_attempt_command\": \"" GEN_COMMAND "\", "
		    "\"post_attempt_score_key\": \"best_us\", "
		    "\"post_attempt_timeout_seconds\": 240, "
		    "\"qualify_artifacts\": true, "
		    "\"reflection_timeout_seconds\": 300, \"restore_best\": "
		    "true, \"run_id\": \"%s\", \"runner\": \"exec\", "
		    "\"score_key\": \"best_us\", \"stop_score\": 90.0, "
		    "\"task_path\": \"/srv/triton_rmsnorm_h100/task.md\", "
		    "\"task_state\": \"continue\", \"workspace\": "
		    "\"/srv/triton_rmsnorm_h100\"}",
		    GEN_ATTEMPT_S, planned, run);
	gen_put(s, O_TRUNC, "runs/%s/run_config.json", run);
}

static void gen_put_manifest(struct gen_sheet *s, const char *run, unsigned int iteration,
			     const struct gen_figures *f)
{
	char at[CLOCK_RFC3339_SIZE + 8];

	buf_appendf(&s->text,
		    "{\"created_at\": \"%s\", \"file_count\": 5, "
		    "\"iteration\": %u, \"reason\": \"%s\", \"score\": %.3f}",
		    gen_stamp(s->at_ms, at), iteration,
		    iteration == 0 ? "baseline_post_attempt_passed" : "post_attempt_best_score",
		    gen_score_of(f));
	gen_put(s, O_TRUNC, "runs/%s/checkpoints/best_manifest.json", run);
}

static void gen_put_registry(struct gen_sheet *s)
{
	char at[CLOCK_RFC3339_SIZE + 8];

	buf_appendf(&s->text,
		    "{\"artifacts\": [{\"created_at\": \"%s\", "
		    "\"description\": \"How to tune RMSNorm launches\", "
		    "\"id\": \"skill:.harnessgym/skills/h100/SKILL.md\", "
		    "\"iteration\": 1, \"kind\": \"skill\", \"metadata\": "
		    "{\"qualification\": {\"status\": \"passed\"}}, \"path\": "
		    "\".harnessgym/skills/h100/SKILL.md\"}, {\"created_at\": "
		    "\"%s\", \"description\": \"Sweeps, guards and the health "
		    "check\", \"id\": \"mcp:.harnessgym/mcp/h100/"
		    "harnessgym-mcp.json\", \"iteration\": 1, \"kind\": "
		    "\"mcp\", \"metadata\": {\"qualification\": {\"status\": "
		    "\"passed\"}}, \"path\": \".harnessgym/mcp/h100/"
		    "harnessgym-mcp.json\"}], \"metadata\": {}, "
		    "\"updated_at\": \"%s\", \"version\": 1}",
		    gen_stamp(s->at_ms, at), at, at);
	gen_put(s, O_TRUNC, "registry.json");
}

static void gen_add_gate(struct buf *text, unsigned int tools)
{
	buf_appendf(text,
		    "{\"active_mcp_count\": 1, \"active_tool_count\": %u, "
		    "\"inactive_mcp_count\": 0, \"status\": \"passed\", "
		    "\"warnings\": []}",
		    tools);
}

static void gen_add_activation(struct buf *text, unsigned int tools)
{
	buf_append_str(text, "{\"mcp_servers\": [], \"quality_gate\": ");
	gen_add_gate(text, tools);
	buf_append_str(text, ", \"quarantined_artifacts\": [], \"skills\": [], "
			     "\"warnings\": []}");
}

static void add_phase(struct buf *text, const char *name, bool timed_out, double seconds)
{
	buf_appendf(text,
		    "\"%s\": {\"duration_seconds\": %.3f, \"message\": \"\", "
		    "\"phase\": \"%s\", \"return_code\": %s, \"status\": "
		    "\"%s\", \"timed_out\": %s}",
		    name, seconds, name, timed_out ? "null" : "0",
		    timed_out ? "timeout" : "completed", timed_out ? "true" : "false");
}

static void add_phases(struct buf *text, const struct gen_figures *f, enum gen_progress progress)
{
	buf_append_str(text, "\"phases\": {");
	if (progress >= GEN_ATTEMPTED)
		add_phase(text, "attempt", f->attempt_s == GEN_ATTEMPT_S, f->attempt_s);
	if (progress >= GEN_REFLECTED) {
		buf_append_str(text, ", ");
		add_phase(text, "reflection", false, 61);
	}
	if (progress >= GEN_BUILT) {
		buf_append_str(text, ", ");
		add_phase(text, "build", false, 174);
	}
	buf_append_str(text, "}");
}

/* Tool calls in the workspace up to the end of iteration k (from 0). */
static unsigned int calls_until(size_t k)
{
	unsigned int n = 0;

	for (size_t i = 0; i <= k; i++)
		n += gen_iterations[i].calls;
	return n;
}

static void add_usage(struct buf *text, size_t k)
{
	buf_appendf(text,
		    ", \"harness_usage\": {\"active_mcp_count\": 1, "
		    "\"active_tool_count\": %u, \"mcp_call_count\": %u}",
		    gen_iterations[k].tools_before, calls_until(k));
}

static void add_restore(struct buf *text)
{
	struct gen_figures lost = { .quanta = 0 };

	buf_appendf(text, "{\"iteration\": 3, \"post_restore\": ");
	gen_add_post(text, &lost);
	buf_appendf(text,
		    ", \"post_restore_passed\": false, \"reason\": "
		    "\"post_attempt_best_score\", \"restored\": true, "
		    "\"restored_file_count\": 5, \"score\": %.3f}",
		    gen_score_of(&restored));
}

static const char *status_of(const struct gen_figures *f, enum gen_progress progress)
{
	if (f->quanta != 0 && progress >= GEN_MEASURED)
		return "improved";
	return progress >= GEN_QUALIFIED ? "tooling_built" : "running";
}

static void gen_put_result(struct gen_sheet *s, size_t k, enum gen_progress progress,
			   int64_t began_ms)
{
	const struct gen_figures *f = &gen_iterations[k];
	char began[CLOCK_RFC3339_SIZE + 8], at[CLOCK_RFC3339_SIZE + 8];
	struct buf *text = &s->text;

	buf_appendf(text, "{\"created_at\": \"%s\", \"iteration\": %zu, ",
		    gen_stamp(began_ms, began), k + 1);
	add_phases(text, f, progress);
	if (progress >= GEN_ATTEMPTED) {
		add_usage(text, k);
		buf_appendf(text, ", \"summary\": \"%s\"", f->note);
	}
	if (progress >= GEN_MEASURED) {
		buf_append_str(text, ", \"post_attempt\": ");
		gen_add_post(text, f);
	}
	if (progress >= GEN_MEASURED && f->quanta != 0)
		buf_appendf(text,
			    ", \"metrics\": {\"best_us\": %.3f, "
			    "\"score\": %.3f}",
			    gen_score_of(f), gen_score_of(f));
	if (progress >= GEN_QUALIFIED) {
		buf_append_str(text, ", \"artifact_qualification\": {\"status\""
				     ": \"passed\", \"quality_gate\": ");
		gen_add_gate(text, f->tools_after);
		buf_append_str(text, "}");
	}
	if (progress >= GEN_RESTORED) {
		buf_append_str(text, ", \"optimization\": "
				     "{\"restored_best_checkpoint\": ");
		add_restore(text);
		buf_append_str(text, "}");
	}
	buf_appendf(text,
		    ", \"run_id\": \"" GEN_RUN "\", \"status\": \"%s\", "
		    "\"updated_at\": \"%s\", \"verified\": %s}",
		    status_of(f, progress), gen_stamp(s->at_ms, at),
		    f->quanta != 0 && progress >= GEN_MEASURED ? "true" : "false");
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/result.json", k + 1);
}

static void gen_put_baseline(struct gen_sheet *s, const char *run, const struct gen_figures *f)
{
	gen_add_verdict(&s->text, f->quanta);
	gen_put(s, O_TRUNC, "runs/%s/baseline/baseline.stdout.txt", run);
	gen_put(s, O_TRUNC, "runs/%s/baseline/baseline.stderr.txt", run);
	gen_put_manifest(s, run, 0, f);
}

/* A finished run of the previous day, with the best score 103.328 us. */
static void gen_put_earlier(struct gen_sheet *s)
{
	static const struct gen_figures best = { .quanta = 3229 };
	char at[CLOCK_RFC3339_SIZE + 8];

	gen_put_config(s, EARLIER, 1);
	gen_put_baseline(s, EARLIER, &gen_baseline);
	buf_appendf(&s->text, "{\"created_at\": \"%s\", \"iteration\": 1, ",
		    gen_stamp(s->at_ms, at));
	add_phases(&s->text, &gen_iterations[0], GEN_ATTEMPTED);
	buf_append_str(&s->text, ", \"post_attempt\": ");
	gen_add_post(&s->text, &best);
	buf_appendf(&s->text,
		    ", \"run_id\": \"" EARLIER "\", \"status\": \"improved\", "
		    "\"updated_at\": \"%s\", \"verified\": true}",
		    at);
	gen_put(s, O_TRUNC, "runs/" EARLIER "/iterations/1/result.json");
	gen_add_verdict(&s->text, best.quanta);
	gen_put(s, O_TRUNC, "runs/" EARLIER "/iterations/1/post_attempt.stdout.txt");
	gen_put_manifest(s, EARLIER, 1, &best);
	buf_append_str(&s->text, "{\"baseline_post_attempt\": ");
	gen_add_post(&s->text, &gen_baseline);
	buf_appendf(&s->text,
		    ", \"best_checkpoint\": {\"captures\": [], \"enabled\": "
		    "true, \"restored\": false}, \"best_score\": %.3f, "
		    "\"final_status\": \"improved\", \"run_id\": \"" EARLIER
		    "\", \"solved\": false}",
		    gen_score_of(&best));
	gen_put(s, O_TRUNC, "runs/" EARLIER "/summary.json");
}

static void gen_put_summary(struct gen_sheet *s)
{
	buf_append_str(&s->text, "{\"artifact_qualification\": {\"reports\": "
				 "[]}, \"baseline_post_attempt\": ");
	gen_add_post(&s->text, &gen_baseline);
	buf_append_str(&s->text, ", \"best_checkpoint\": {\"captures\": [], "
				 "\"enabled\": true, \"restore\": ");
	add_restore(&s->text);
	buf_appendf(&s->text,
		    ", \"restored\": true}, \"best_score\": %.3f, "
		    "\"final_status\": \"tooling_built\", \"iterations\": [], "
		    "\"optimization\": {\"best_score\": %.3f, \"enabled\": "
		    "true, \"higher_is_better\": false, \"improved\": true, "
		    "\"score_key\": \"best_us\"}, \"run_id\": \"" GEN_RUN "\", "
		    "\"solved\": false}",
		    gen_score_of(&restored), gen_score_of(&restored));
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/summary.json");
}

#define FILE_MAX (1U << 20)
#define DAY_S	 1779843600 /* 2026-05-27 01:00:00 UTC */

static int64_t start_of(const struct harness_gen *gen)
{
	return gen->start_ms != 0 ? gen->start_ms : DAY_S * (int64_t)1000;
}

/* Write a text file of an iteration. */
static void put_text(struct gen_sheet *s, size_t k, const char *name, const char *text)
{
	buf_append_str(&s->text, text);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/%s", k + 1, name);
}

/* Start times of an iteration's steps, in seconds from its start. */
static const unsigned int iteration_steps_s[] = {
	0, 60, 240, 420, 480, 502, 505, 566, 568, 742, 760,
};
#define N_STEPS	    (sizeof(iteration_steps_s) / sizeof(iteration_steps_s[0]))
#define ITERATION_S 780
#define FIRST_S	    30 /* start of the first iteration, from the start of the run */

static void step_begin(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	gen_put_registry(s);
	gen_add_activation(&s->text, gen_iterations[k].tools_before);
	gen_put(s, O_TRUNC, "activation.json");
	gen_add_activation(&s->text, gen_iterations[k].tools_before);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/activation.json", k + 1);
	gen_put_result(s, k, GEN_STARTED, began_ms);
	put_text(s, k, "attempt.prompt.txt", "Make the kernel faster.\n");
}

/* A third of the iteration's tool calls. */
static void put_calls(struct gen_sheet *s, size_t k, unsigned int third)
{
	static const char *const tools[] = {
		"run_objective",
		"validate_launch",
		"repeat_objective",
		"remote_health_check",
		"joint_source_launch_search",
		"compare_history",
	};
	unsigned int n = gen_iterations[k].calls;

	for (unsigned int i = n * third / 3; i < n * (third + 1) / 3; i++) {
		char at[CLOCK_RFC3339_SIZE];

		clock_rfc3339(s->at_ms, at);
		buf_appendf(&s->text,
			    "{\"argument_json_bytes\":14,\"argument_keys\":["
			    "\"mode\"],\"created_at\":\"%s\",\"duration_ms\":"
			    "%u,\"error_message\":\"\",\"method\":\"tools/call"
			    "\",\"request_id\":%u,\"result_json_bytes\":2001,"
			    "\"server\":\"h100\",\"status\":\"completed\","
			    "\"tool_name\":\"%s\"}\n",
			    at, 900 + 37 * i, i + 2, tools[i % 6]);
	}
	gen_put(s, O_APPEND, "mcp_calls.jsonl");
}

/* A measurement by the agent's own tool: never a verified score. */
static void put_history(struct gen_sheet *s, unsigned int quanta)
{
	buf_appendf(&s->text,
		    "{\"mode\": \"final\", \"timestamp\": %lld.25, "
		    "\"verifier\": true, \"json\": ",
		    (long long)(s->at_ms / 1000));
	gen_add_verdict(&s->text, quanta);
	buf_append_str(&s->text, "}\n");
	gen_put(s, O_APPEND, "history/h100_rmsnorm_runs.jsonl");
}

static void step_calls(struct gen_sheet *s, size_t k, unsigned int third)
{
	put_calls(s, k, third);
	if (k == 3 && third == 1)
		put_history(s, 3052); /* 97.664 us */
	else if (third == 2)
		put_history(s, gen_iterations[k].quanta > 0 ? gen_iterations[k].quanta + 9 : 3390);
}

static void step_attempted(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	put_text(s, k, "attempt.stdout.txt", "session ended\n");
	put_text(s, k, "attempt.stderr.txt", "");
	put_text(s, k, "attempt.transcript.txt",
		 gen_iterations[k].attempt_s == GEN_ATTEMPT_S
			 ? "status: timeout\nreturn_code: None\n"
			   "timed_out: True\n"
			 : "status: completed\nreturn_code: 0\n"
			   "timed_out: False\n");
	gen_put_result(s, k, GEN_ATTEMPTED, began_ms);
}

static bool is_best(size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (gen_iterations[i].quanta <= gen_iterations[k].quanta)
			return false;
	return gen_iterations[k].quanta > 0;
}

static void step_measured(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	const struct gen_figures *f = &gen_iterations[k];

	if (f->quanta > 0)
		gen_add_verdict(&s->text, f->quanta);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/post_attempt.stdout.txt", k + 1);
	put_text(s, k, "post_attempt.stderr.txt",
		 f->quanta > 0 ? ""
			       : "tar: Child returned status 141\n"
				 "tar: Error is not recoverable: exiting now\n");
	gen_put_result(s, k, GEN_MEASURED, began_ms);
	if (is_best(k))
		gen_put_manifest(s, GEN_RUN, (unsigned int)k + 1, f);
}

static void step_qualified(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	char at[CLOCK_RFC3339_SIZE + 8];

	buf_appendf(&s->text,
		    "{\"created_at\": \"%s\", \"failed_artifacts\": "
		    "[], \"iteration\": %zu, \"quality_gate\": ",
		    gen_stamp(s->at_ms, at), k + 1);
	gen_add_gate(&s->text, gen_iterations[k].tools_after);
	buf_append_str(&s->text, ", \"status\": \"passed\"}");
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN "/iterations/%zu/qualification/attempt_1/qualification.json",
		k + 1);
	gen_put_registry(s);
	gen_add_activation(&s->text, gen_iterations[k].tools_after);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/post_build_activation.json", k + 1);
	gen_put_result(s, k, GEN_QUALIFIED, began_ms);
}

static void iteration_step(struct gen_sheet *s, size_t k, size_t step, int64_t began_ms)
{
	switch (step) {
	case 0:
		step_begin(s, k, began_ms);
		break;
	case 1:
	case 2:
	case 3:
		step_calls(s, k, (unsigned int)step - 1);
		break;
	case 4:
		step_attempted(s, k, began_ms);
		break;
	case 5:
		step_measured(s, k, began_ms);
		break;
	case 6:
		put_text(s, k, "reflection.prompt.txt", "What is missing?\n");
		break;
	case 7:
		put_text(s, k, "reflection.stdout.txt", "a better sweep\n");
		gen_put_result(s, k, GEN_REFLECTED, began_ms);
		break;
	case 8:
		put_text(s, k, "build.prompt.txt", "Build it.\n");
		break;
	case 9:
		put_text(s, k, "build.stdout.txt", "built\n");
		gen_put_result(s, k, GEN_BUILT, began_ms);
		break;
	default:
		step_qualified(s, k, began_ms);
		break;
	}
}

static void put_restored(struct gen_sheet *s, int64_t began_ms)
{
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/checkpoints/restored_best.stdout.txt");
	buf_append_str(&s->text, "tar: Child returned status 141\n"
				 "tar: Error is not recoverable: exiting now\n");
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/checkpoints/restored_best.stderr.txt");
	gen_put_result(s, GEN_ITERATIONS - 1, GEN_RESTORED, began_ms);
}

/* Steps: earlier run, configuration, baseline, the iterations, the end. */
#define FIRST_STEP 3
#define LAST_STEP  (FIRST_STEP + GEN_ITERATIONS * N_STEPS)

size_t harness_gen_steps(void)
{
	return LAST_STEP + 2;
}

int64_t harness_gen_step_at_ms(size_t step)
{
	size_t k = step - FIRST_STEP;

	if (step == 0)
		return -7 * 3600 * (int64_t)1000;
	if (step < FIRST_STEP)
		return (int64_t)(step - 1) * 22000;
	if (step >= LAST_STEP)
		return (FIRST_S + (int64_t)GEN_ITERATIONS * ITERATION_S +
			(int64_t)(step - LAST_STEP)) *
		       1000;
	return (FIRST_S + (int64_t)(k / N_STEPS) * ITERATION_S + iteration_steps_s[k % N_STEPS]) *
	       1000;
}

int harness_gen_step(const struct harness_gen *gen, size_t step, struct err *err)
{
	struct gen_sheet s = { .gen = gen, .err = err };
	int64_t began_ms;
	size_t k = step >= FIRST_STEP ? (step - FIRST_STEP) / N_STEPS : 0;

	if (step >= LAST_STEP)
		k = GEN_ITERATIONS - 1;
	began_ms = start_of(gen) + harness_gen_step_at_ms(FIRST_STEP + k * N_STEPS);
	s.at_ms = start_of(gen) + harness_gen_step_at_ms(step);
	buf_init(&s.text, FILE_MAX);
	if (step == 0)
		gen_put_earlier(&s);
	else if (step == 1)
		gen_put_config(&s, GEN_RUN, GEN_ITERATIONS);
	else if (step == 2)
		gen_put_baseline(&s, GEN_RUN, &gen_baseline);
	else if (step < LAST_STEP)
		iteration_step(&s, k, (step - FIRST_STEP) % N_STEPS, began_ms);
	else if (step == LAST_STEP)
		put_restored(&s, began_ms);
	else
		gen_put_summary(&s);
	buf_release(&s.text);
	return s.rc;
}

int harness_gen_write(const char *dir, size_t upto, struct err *err)
{
	struct harness_gen gen = { .dir = dir };
	size_t n = harness_gen_steps();

	for (size_t i = 0; i < n && i < upto; i++)
		if (harness_gen_step(&gen, i, err) != 0)
			return -1;
	return 0;
}
