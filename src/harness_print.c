/* SPDX-License-Identifier: MIT */
/* A judged HarnessGym run or comparison as a page; called by `harness`. */
#include "config.h"

#include "harness_print.h"

#include "harness_page.h"
#include "parsers/json.h"

static const struct out_column run_columns[] = {
	{ "run_id", "run", -1, 0 },
	{ "iteration", "it", 0, 0 },
	{ "attempt", NULL, -1, 0 },
	{ "active_tools", "tools", 0, 0 },
	{ "calls", "MCP calls", -1, 0 },
	{ "score_verified", "verified", -1, 0 },
	{ "vs_baseline_pct", "% on baseline", 1, 0 },
	{ "vs_best_pct", "% on best", 1, 0 },
	{ "result", NULL, -1, 0 },
	{ "qualification", NULL, -1, 0 },
	{ "note", "notes", -1, 0 },
	{ NULL, NULL, 0, 0 },
};

/* Move the page's text into a cell; nothing of it is null. */
static void
take_cell(struct page *page, cJSON *row, const char *key)
{
	json_add_string(row, key, page->text.len > 0 ? page->text.data : NULL);
	buf_clear(&page->text);
}

static void
add_cell_number(cJSON *row, const char *key, struct harness_number number)
{
	json_add_number(row, key, number.present ? number.value : (double)NAN);
}

/* An attempt without an end: whether somebody may still bring it. */
static const char *
open_attempt(const struct harness_run *run, const struct harness_iteration *it)
{
	if (run->has_summary || it != &run->iterations[run->n_iterations - 1])
		return "no end told";
	return run->life.state == HARNESS_STATE_RUNNING ? "under way"
							: "cut off";
}

static void
put_attempt(struct page *page, const struct harness_run *run,
	    const struct harness_iteration *it)
{
	const struct harness_phase *attempt = it->attempt;
	struct buf *text = &page->text;
	const char *status;

	if (attempt == NULL) {
		buf_append_str(text, open_attempt(run, it));
		return;
	}
	status = attempt->status != NULL ? attempt->status : "?";
	if (strcmp(status, "timeout") == 0 && it->attempt_limit_s.present) {
		buf_append_str(text, "timed out at ");
		page_add_duration(text, it->attempt_limit_s.value);
		return;
	}
	buf_append_str(text, status);
	if (strcmp(status, "failed") == 0 && attempt->return_code.present)
		buf_appendf(text, " (%.0f)", attempt->return_code.value);
	if (attempt->duration_s.present) {
		buf_append_str(text, " ");
		page_add_duration(text, attempt->duration_s.value);
	}
}

static void
put_calls(struct page *page, const struct harness_iteration *it)
{
	if (!it->calls.present)
		return;
	buf_appendf(&page->text, "%.0f", it->calls.value);
	if (it->calls_delta.present)
		buf_appendf(&page->text, " (+%.0f)", it->calls_delta.value);
}

static void
add_claim(struct buf *text, struct harness_number number, const char *why)
{
	if (!harness_is_finite(number))
		return;
	if (text->len > 0)
		buf_append_str(text, "; ");
	buf_append_str(text, "? unverified ");
	page_add_number(text, number.value);
	buf_appendf(text, " (%s)", why);
}

/* Whether the agent's own tool saw more than the verifier confirmed. */
static bool
beats(const struct harness_run *run, const struct harness_iteration *it)
{
	return run->higher_is_better == HARNESS_YES
		       ? it->session_score.value > it->verified_score.value
		       : it->session_score.value < it->verified_score.value;
}

static void
put_result(struct page *page, const struct harness_run *run,
	   const struct harness_iteration *it)
{
	struct buf *text = &page->text;

	if (it->verified_score.present) {
		buf_append_str(text, "verified");
	} else if (it->invalid_score.present) {
		buf_append_str(text, "INVALID ");
		page_add_number(text, it->invalid_score.value);
		buf_append_str(text, " (verifier failed)");
	} else if (it->post.failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "no score (%s)",
			    harness_failure_class(it->post.failure));
	} else if (it->post.present) {
		buf_appendf(text, "no score (verifier %s)",
			    it->post.passed == HARNESS_YES ? "gave none"
							   : "failed");
	} else {
		buf_append_str(text, "not measured");
	}
	if (it->post.stray_score.present)
		add_claim(text, it->post.stray_score,
			  "among other text, refused");
	add_claim(text, it->claimed_score, "claimed");
	if (!it->verified_score.present || beats(run, it))
		add_claim(text, it->session_score, "in session");
}

static void
put_qualification(struct page *page, const struct harness_iteration *it)
{
	const struct harness_qualification *q = &it->qualification;
	struct buf *text = &page->text;

	for (size_t i = 0; i < q->n_attempts; i++)
		buf_appendf(text, "%s%s", i > 0 ? ", " : "",
			    q->attempts[i] != NULL ? q->attempts[i] : "?");
	if (q->present && q->active_tools.present)
		buf_appendf(text, ", %.0f tools", q->active_tools.value);
	if (q->n_quarantined > 0)
		buf_appendf(text, ", %zu QUARANTINED", q->n_quarantined);
}

static cJSON *
iteration_row(struct page *page, const struct harness_run *run,
	      const struct harness_iteration *it)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "run_id", run->id);
	cJSON_AddNumberToObject(row, "iteration", it->number);
	put_attempt(page, run, it);
	take_cell(page, row, "attempt");
	add_cell_number(row, "active_tools", it->active_tools);
	put_calls(page, it);
	take_cell(page, row, "calls");
	add_cell_number(row, "score_verified", it->verified_score);
	add_cell_number(row, "vs_baseline_pct", it->baseline_pct);
	add_cell_number(row, "vs_best_pct", it->previous_pct);
	put_result(page, run, it);
	take_cell(page, row, "result");
	put_qualification(page, it);
	take_cell(page, row, "qualification");
	json_add_string(row, "note", it->note);
	return row;
}

int
harness_print_run(FILE *stream, enum out_format format,
		  const struct harness_workspace *ws,
		  const struct harness_run *run)
{
	struct page page = page_init(stream, format);
	struct out *out;
	int rc;

	if (format != OUT_CSV)
		harness_print_head(&page, ws, run);
	/* The head names the run; only CSV repeats it in each row. */
	out = out_new(stream, format,
		      format == OUT_CSV ? run_columns : run_columns + 1);
	for (size_t i = 0; i < run->n_iterations; i++) {
		cJSON *row = iteration_row(&page, run, &run->iterations[i]);

		out_row(out, row);
		cJSON_Delete(row);
	}
	rc = out_free(out);
	if (format == OUT_TABLE && run->best.present)
		(void)fputs("  (+ % is better; each score is one sample, so a "
			    "small difference may be noise)\n",
			    stream);
	buf_release(&page.text);
	return rc;
}

static const struct out_column trial_columns[] = {
	{ "group", NULL, -1, 0 },	    { "trial", NULL, 0, 0 },
	{ "status", NULL, -1, 0 },	    { "iterations", "its", 0, 0 },
	{ "attempt_s", "attempt s", 1, 0 }, { "active_tools", "tools", 0, 0 },
	{ "mcp_calls", "MCP calls", 0, 0 }, { "score", "valid score", -1, 0 },
	{ "result", NULL, -1, 0 },	    { NULL, NULL, 0, 0 },
};

static void
put_trial(struct page *page, const struct harness_trial *t)
{
	struct buf *text = &page->text;

	if (t->post_valid == HARNESS_YES && harness_is_finite(t->score)) {
		buf_append_str(text, "valid");
	} else if (!t->post.present) {
		buf_append_str(text, "not measured");
	} else {
		buf_append_str(text, "INVALID");
		if (harness_is_finite(t->post.score)) {
			buf_append_str(text, " ");
			page_add_number(text, t->post.score.value);
		}
		if (t->post.failure != HARNESS_FAILURE_NONE)
			buf_appendf(text, " (%s)",
				    harness_failure_class(t->post.failure));
		if (t->post_why != NULL && *t->post_why != '\0')
			buf_appendf(text, ": %s", t->post_why);
	}
	if (t->comparison_valid == HARNESS_NO && t->comparison_why != NULL &&
	    (t->post_why == NULL ||
	     strcmp(t->comparison_why, t->post_why) != 0))
		buf_appendf(text, "; %s", t->comparison_why);
	if (t->error != NULL && *t->error != '\0')
		buf_appendf(text, "; %s", t->error);
}

static void
print_group(struct page *page, const struct harness_group *group)
{
	struct buf *text = &page->text;

	buf_appendf(text, "%u of %u trials valid", group->valid, group->count);
	if (group->invalid > 0)
		buf_appendf(text, ", %u INVALID", group->invalid);
	if (group->not_run > 0)
		buf_appendf(text, ", %u not measured", group->not_run);
	if (group->median.present) {
		buf_append_str(text, "; median of the valid ");
		page_add_number(text, group->median.value);
		buf_append_str(text, ", from ");
		page_add_number(text, group->min.value);
		buf_append_str(text, " to ");
		page_add_number(text, group->max.value);
	}
	page_line(page, group->name);
}

/* No verdict without replicates, and none beside an invalid trial. */
static void
print_verdict(struct page *page, const struct harness_compare *compare)
{
	const struct harness_group *a = &compare->groups[0], *b = a + 1;
	struct buf *text = &page->text;

	if (compare->n_groups < 2)
		buf_append_str(text, "none: only one group has trials");
	else if (a->median.present && b->median.present &&
		 a->min.value == b->min.value && a->max.value == b->max.value &&
		 a->min.value == a->max.value)
		buf_append_str(text, "none: all valid trials are equal");
	else if (a->valid < 5 || b->valid < 5)
		buf_append_str(text, "none: a side has less than 5 valid "
				     "trials");
	else
		buf_append_str(text, "judge the trials' scores by `bench "
				     "judge`");
	page_line(page, "verdict");
}

static void
print_compare_head(struct page *page, const struct harness_compare *compare)
{
	buf_append_str(&page->text, "HarnessGym comparison");
	page_title(page);
	buf_appendf(&page->text, "%s", page_word(compare->score_key));
	if (compare->command != NULL)
		buf_appendf(&page->text, ", by %s", compare->command);
	page_line(page, "score");
	buf_append_str(&page->text,
		       compare->has_report
			       ? "finished"
			       : "no report yet: running, or aborted");
	page_line(page, "state");
	for (size_t i = 0; i < compare->n_groups; i++)
		print_group(page, &compare->groups[i]);
	print_verdict(page, compare);
	(void)fputc('\n', page->stream);
}

int
harness_print_compare(FILE *stream, enum out_format format,
		      const struct harness_compare *compare)
{
	struct page page = page_init(stream, format);
	struct out *out;
	int rc;

	if (format != OUT_CSV)
		print_compare_head(&page, compare);
	out = out_new(stream, format, trial_columns);
	for (size_t i = 0; i < compare->n_trials; i++) {
		const struct harness_trial *t = &compare->trials[i];
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "group", t->group);
		cJSON_AddNumberToObject(row, "trial", t->number);
		json_add_string(row, "status", t->status);
		add_cell_number(row, "iterations", t->iterations);
		add_cell_number(row, "attempt_s", t->attempt_s);
		add_cell_number(row, "active_tools", t->active_tools);
		add_cell_number(row, "mcp_calls", t->calls);
		add_cell_number(row, "score",
				t->post_valid == HARNESS_YES
					? t->score
					: (struct harness_number){ false, 0 });
		put_trial(&page, t);
		take_cell(&page, row, "result");
		out_row(out, row);
		cJSON_Delete(row);
	}
	rc = out_free(out);
	buf_release(&page.text);
	return rc;
}
