/* SPDX-License-Identifier: MIT */
/* The records of a made-up HarnessGym run, as HarnessGym writes them. */
#include "config.h"

#include "harness/gen_records.h"

#include <fcntl.h>

#define EARLIER "rmsnorm-h100-first"

const struct gen_figures gen_baseline = { .quanta = 4464 };
static const struct gen_figures restored = { .quanta = 3117 };
const struct gen_figures gen_iterations[GEN_ITERATIONS] = {
	{ 3276, 17, 10, 13, GEN_ATTEMPT_S,
	  "block and warp sweep by row width" },
	{ 3359, 11, 13, 15, GEN_ATTEMPT_S,
	  "rows per program; 8192 columns lost" },
	{ 3117, 17, 15, 16, GEN_ATTEMPT_S, "joint source and launch search" },
	{ 0, 8, 16, 17, 301, "the verifier's host refuses SSH" },
};

void
gen_put_config(struct gen_sheet *s, const char *run, unsigned int planned)
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

void
gen_put_manifest(struct gen_sheet *s, const char *run, unsigned int iteration,
		 const struct gen_figures *f)
{
	char at[CLOCK_RFC3339_SIZE + 8];

	buf_appendf(&s->text,
		    "{\"created_at\": \"%s\", \"file_count\": 5, "
		    "\"iteration\": %u, \"reason\": \"%s\", \"score\": %.3f}",
		    gen_stamp(s->at_ms, at), iteration,
		    iteration == 0 ? "baseline_post_attempt_passed"
				   : "post_attempt_best_score",
		    gen_score_of(f));
	gen_put(s, O_TRUNC, "runs/%s/checkpoints/best_manifest.json", run);
}

void
gen_put_registry(struct gen_sheet *s)
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

void
gen_add_gate(struct buf *text, unsigned int tools)
{
	buf_appendf(text,
		    "{\"active_mcp_count\": 1, \"active_tool_count\": %u, "
		    "\"inactive_mcp_count\": 0, \"status\": \"passed\", "
		    "\"warnings\": []}",
		    tools);
}

void
gen_add_activation(struct buf *text, unsigned int tools)
{
	buf_append_str(text, "{\"mcp_servers\": [], \"quality_gate\": ");
	gen_add_gate(text, tools);
	buf_append_str(text, ", \"quarantined_artifacts\": [], \"skills\": [], "
			     "\"warnings\": []}");
}

static void
add_phase(struct buf *text, const char *name, bool timed_out, double seconds)
{
	buf_appendf(text,
		    "\"%s\": {\"duration_seconds\": %.3f, \"message\": \"\", "
		    "\"phase\": \"%s\", \"return_code\": %s, \"status\": "
		    "\"%s\", \"timed_out\": %s}",
		    name, seconds, name, timed_out ? "null" : "0",
		    timed_out ? "timeout" : "completed",
		    timed_out ? "true" : "false");
}

static void
add_phases(struct buf *text, const struct gen_figures *f,
	   enum gen_progress progress)
{
	buf_append_str(text, "\"phases\": {");
	if (progress >= GEN_ATTEMPTED)
		add_phase(text, "attempt", f->attempt_s == GEN_ATTEMPT_S,
			  f->attempt_s);
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

/* Tool calls of the workspace up to the end of iteration k (0..). */
static unsigned int
calls_until(size_t k)
{
	unsigned int n = 0;

	for (size_t i = 0; i <= k; i++)
		n += gen_iterations[i].calls;
	return n;
}

static void
add_usage(struct buf *text, size_t k)
{
	buf_appendf(text,
		    ", \"harness_usage\": {\"active_mcp_count\": 1, "
		    "\"active_tool_count\": %u, \"mcp_call_count\": %u}",
		    gen_iterations[k].tools_before, calls_until(k));
}

static void
add_restore(struct buf *text)
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

static const char *
status_of(const struct gen_figures *f, enum gen_progress progress)
{
	if (f->quanta != 0 && progress >= GEN_MEASURED)
		return "improved";
	return progress >= GEN_QUALIFIED ? "tooling_built" : "running";
}

void
gen_put_result(struct gen_sheet *s, size_t k, enum gen_progress progress,
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
		    f->quanta != 0 && progress >= GEN_MEASURED ? "true"
							       : "false");
	gen_put(s, O_TRUNC, "runs/" GEN_RUN "/iterations/%zu/result.json",
		k + 1);
}

void
gen_put_baseline(struct gen_sheet *s, const char *run,
		 const struct gen_figures *f)
{
	gen_add_verdict(&s->text, f->quanta);
	gen_put(s, O_TRUNC, "runs/%s/baseline/baseline.stdout.txt", run);
	gen_put(s, O_TRUNC, "runs/%s/baseline/baseline.stderr.txt", run);
	gen_put_manifest(s, run, 0, f);
}

/* A finished run of the day before, the one that left 103.328 us behind. */
void
gen_put_earlier(struct gen_sheet *s)
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
	gen_put(s, O_TRUNC,
		"runs/" EARLIER "/iterations/1/post_attempt.stdout.txt");
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

void
gen_put_summary(struct gen_sheet *s)
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
