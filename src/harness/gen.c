/* SPDX-License-Identifier: MIT */
/* A made-up HarnessGym run, step by step; used by tests and the demo. */
#include "config.h"

#include "harness/gen.h"

#include <fcntl.h>

#include "harness/gen_records.h"

#define FILE_MAX (1U << 20)
#define DAY_S	 1779843600 /* 2026-05-27 01:00:00 UTC */

static int64_t
start_of(const struct harness_gen *gen)
{
	return gen->start_ms != 0 ? gen->start_ms : DAY_S * (int64_t)1000;
}

/* A text file of an iteration. */
static void
put_text(struct gen_sheet *s, size_t k, const char *name, const char *text)
{
	buf_append_str(&s->text, text);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/%s", k + 1, name);
}

/* Where the steps of an iteration stand, in seconds from its start. */
static const unsigned int iteration_steps_s[] = {
	0, 60, 240, 420, 480, 502, 505, 566, 568, 742, 760,
};
#define N_STEPS	    (sizeof(iteration_steps_s) / sizeof(iteration_steps_s[0]))
#define ITERATION_S 780
#define FIRST_S	    30 /* the first iteration, from the run's start */

static void
step_begin(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	gen_put_registry(s);
	gen_add_activation(&s->text, gen_iterations[k].tools_before);
	gen_put(s, O_TRUNC, "activation.json");
	gen_add_activation(&s->text, gen_iterations[k].tools_before);
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/activation.json",
		k + 1);
	gen_put_result(s, k, GEN_STARTED, began_ms);
	put_text(s, k, "attempt.prompt.txt", "Make the kernel faster.\n");
}

/* A third of the iteration's tool calls. */
static void
put_calls(struct gen_sheet *s, size_t k, unsigned int third)
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

/* The agent's own tool measures: never a verified score. */
static void
put_history(struct gen_sheet *s, unsigned int quanta)
{
	buf_appendf(&s->text,
		    "{\"mode\": \"final\", \"timestamp\": %lld.25, "
		    "\"verifier\": true, \"json\": ",
		    (long long)(s->at_ms / 1000));
	gen_add_verdict(&s->text, quanta);
	buf_append_str(&s->text, "}\n");
	gen_put(s, O_APPEND, "history/h100_rmsnorm_runs.jsonl");
}

static void
step_calls(struct gen_sheet *s, size_t k, unsigned int third)
{
	put_calls(s, k, third);
	if (k == 3 && third == 1)
		put_history(s, 3052); /* 97.664 us */
	else if (third == 2)
		put_history(s, gen_iterations[k].quanta > 0
				       ? gen_iterations[k].quanta + 9
				       : 3390);
}

static void
step_attempted(struct gen_sheet *s, size_t k, int64_t began_ms)
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

static bool
is_best(size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (gen_iterations[i].quanta <= gen_iterations[k].quanta)
			return false;
	return gen_iterations[k].quanta > 0;
}

static void
step_measured(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	const struct gen_figures *f = &gen_iterations[k];

	if (f->quanta > 0)
		gen_add_verdict(&s->text, f->quanta);
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN "/iterations/%zu/post_attempt.stdout.txt",
		k + 1);
	put_text(s, k, "post_attempt.stderr.txt",
		 f->quanta > 0
			 ? ""
			 : "tar: Child returned status 141\n"
			   "tar: Error is not recoverable: exiting now\n");
	gen_put_result(s, k, GEN_MEASURED, began_ms);
	if (is_best(k))
		gen_put_manifest(s, GEN_RUN, (unsigned int)k + 1, f);
}

static void
step_qualified(struct gen_sheet *s, size_t k, int64_t began_ms)
{
	char at[CLOCK_RFC3339_SIZE + 8];

	buf_appendf(&s->text,
		    "{\"created_at\": \"%s\", \"failed_artifacts\": "
		    "[], \"iteration\": %zu, \"quality_gate\": ",
		    gen_stamp(s->at_ms, at), k + 1);
	gen_add_gate(&s->text, gen_iterations[k].tools_after);
	buf_append_str(&s->text, ", \"status\": \"passed\"}");
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN
		"/iterations/%zu/qualification/attempt_1/qualification.json",
		k + 1);
	gen_put_registry(s);
	gen_add_activation(&s->text, gen_iterations[k].tools_after);
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN "/iterations/%zu/post_build_activation.json",
		k + 1);
	gen_put_result(s, k, GEN_QUALIFIED, began_ms);
}

static void
iteration_step(struct gen_sheet *s, size_t k, size_t step, int64_t began_ms)
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

static void
put_restored(struct gen_sheet *s, int64_t began_ms)
{
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN "/checkpoints/restored_best.stdout.txt");
	buf_append_str(&s->text,
		       "tar: Child returned status 141\n"
		       "tar: Error is not recoverable: exiting now\n");
	gen_put(s, O_TRUNC,
		"runs/" GEN_RUN "/checkpoints/restored_best.stderr.txt");
	gen_put_result(s, GEN_ITERATIONS - 1, GEN_RESTORED, began_ms);
}

/* Steps: earlier run, configuration, baseline, the iterations, the end. */
#define FIRST_STEP 3
#define LAST_STEP  (FIRST_STEP + GEN_ITERATIONS * N_STEPS)

size_t
harness_gen_steps(void)
{
	return LAST_STEP + 2;
}

int64_t
harness_gen_step_at_ms(size_t step)
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
	return (FIRST_S + (int64_t)(k / N_STEPS) * ITERATION_S +
		iteration_steps_s[k % N_STEPS]) *
	       1000;
}

int
harness_gen_step(const struct harness_gen *gen, size_t step, struct err *err)
{
	struct gen_sheet s = { .gen = gen, .err = err };
	int64_t began_ms;
	size_t k = step >= FIRST_STEP ? (step - FIRST_STEP) / N_STEPS : 0;

	if (step >= LAST_STEP)
		k = GEN_ITERATIONS - 1;
	began_ms = start_of(gen) +
		   harness_gen_step_at_ms(FIRST_STEP + k * N_STEPS);
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

int
harness_gen_write(const char *dir, size_t upto, struct err *err)
{
	struct harness_gen gen = { .dir = dir };
	size_t n = harness_gen_steps();

	for (size_t i = 0; i < n && i < upto; i++)
		if (harness_gen_step(&gen, i, err) != 0)
			return -1;
	return 0;
}
