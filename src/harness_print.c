/* SPDX-License-Identifier: MIT */
/* A judged HarnessGym run or comparison as a page; called by `harness`. */
#include "config.h"

#include "harness_print.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "parsers/json.h"

#define TEXT_MAX 8192U

/* A page under way: where to, in which form, and one text at a time. */
struct page {
	FILE *stream;
	enum out_format format;
	struct buf text;
};

static struct page
page_of(FILE *stream, enum out_format format)
{
	struct page page = { .stream = stream, .format = format };

	buf_init(&page.text, TEXT_MAX);
	return page;
}

static const char *
word(const char *text)
{
	return text != NULL && *text != '\0' ? text : "\xe2\x80\x94";
}

static void
add_number(struct buf *text, double value)
{
	buf_appendf(text, "%.10g", value);
}

/* "8 s", "1.1 s", "8m", "8m05s", "1h20m". */
static void
add_duration(struct buf *text, double seconds)
{
	unsigned int s;

	if (!(seconds >= 0) || seconds > 1e9)
		seconds = 0;
	s = (unsigned int)(seconds + 0.5);
	if (seconds < 9.95 && seconds != s)
		buf_appendf(text, "%.*f s", seconds < 1 ? 2 : 1, seconds);
	else if (s < 60)
		buf_appendf(text, "%u s", s);
	else if (s < 3600 && s % 60 == 0)
		buf_appendf(text, "%um", s / 60);
	else if (s < 3600)
		buf_appendf(text, "%um%02us", s / 60, s % 60);
	else
		buf_appendf(text, "%uh%02um", s / 3600, s % 3600 / 60);
}

/* Print one line of the head from page->text and empty it. */
static void
print_line(struct page *page, const char *label)
{
	struct buf clean;

	buf_init(&clean, TEXT_MAX * 3);
	utf8_sanitize(&clean, (struct str){ page->text.data, page->text.len });
	if (page->format == OUT_MD)
		(void)fprintf(page->stream, "- %s: %s\n", label, clean.data);
	else
		(void)fprintf(page->stream, "  %-14s %s\n", label, clean.data);
	buf_release(&clean);
	buf_clear(&page->text);
}

static void
print_title(struct page *page)
{
	struct buf clean;

	buf_init(&clean, TEXT_MAX * 3);
	utf8_sanitize(&clean, (struct str){ page->text.data, page->text.len });
	(void)fprintf(page->stream,
		      page->format == OUT_MD ? "## %s\n\n" : "%s\n",
		      clean.data);
	buf_release(&clean);
	buf_clear(&page->text);
}

/* "30.2 % better than WHAT", "4 % worse than WHAT", "equal to WHAT". */
static void
add_gain(struct buf *text, struct harness_number pct, const char *what)
{
	if (!pct.present)
		return;
	buf_append_str(text, ", ");
	if (pct.value == 0)
		buf_appendf(text, "equal to %s", what);
	else
		buf_appendf(text, "%.1f %% %s than %s", fabs(pct.value),
			    pct.value > 0 ? "better" : "worse", what);
}

static void
add_iteration(struct buf *text, const struct harness_score *score)
{
	if (score->iteration == 0)
		buf_append_str(text, "the baseline");
	else
		buf_appendf(text, "iteration %u", score->iteration);
}

static void
print_state(struct page *page, const struct harness_run *run)
{
	const struct harness_life *life = &run->life;
	struct buf *text = &page->text;

	if (run->has_summary) {
		buf_appendf(text, "finished: %s", word(run->final_status));
		print_line(page, "state");
		return;
	}
	buf_appendf(text, "%s", harness_state_name(life->state));
	if (life->phase != NULL)
		buf_appendf(text, " in %s", life->phase);
	if (run->n_iterations > 0)
		buf_appendf(text, " of iteration %u",
			    run->iterations[run->n_iterations - 1].number);
	if (life->left_s.present) {
		buf_append_str(text, life->left_s.value < 0
					     ? ", over its time by "
					     : ", at most ");
		add_duration(text, fabs(life->left_s.value));
		buf_append_str(text, life->left_s.value < 0 ? "" : " to go");
	}
	if (life->silent_s.present) {
		buf_append_str(text, "; last sign of life ");
		add_duration(text, life->silent_s.value);
		buf_append_str(text, " ago");
	}
	buf_append_str(text, "; no summary, so no final status");
	print_line(page, "state");
}

static void
print_task(struct page *page, const struct harness_run *run)
{
	struct buf *text = &page->text;

	buf_appendf(text, "%s", word(run->task_file));
	buf_appendf(text, ", runner %s", word(run->runner));
	if (run->model != NULL)
		buf_appendf(text, " (%s)", run->model);
	if (run->planned.present)
		buf_appendf(text, ", %zu of %.0f iterations begun",
			    run->n_iterations, run->planned.value);
	if (run->optimization == HARNESS_YES)
		buf_append_str(text, ", optimization");
	print_line(page, "task");
	buf_appendf(text, "%s", word(run->post_score_key));
	if (run->higher_is_better != HARNESS_UNKNOWN)
		buf_appendf(text, ", %s is better",
			    run->higher_is_better == HARNESS_YES ? "higher"
								 : "lower");
	if (run->mode != NULL)
		buf_appendf(text, ", mode %s", run->mode);
	if (run->warmup.present && run->repeats.present)
		buf_appendf(text, ", warm-up %.0f, repeats %.0f",
			    run->warmup.value, run->repeats.value);
	if (run->command == NULL)
		buf_append_str(text, ", nothing measures it (no post-attempt "
				     "command)");
	print_line(page, "score");
}

static void
print_baseline(struct page *page, const struct harness_run *run)
{
	const struct harness_post *base = &run->baseline;
	struct buf *text = &page->text;

	if (!run->has_baseline)
		return;
	if (base->passed == HARNESS_YES && harness_is_finite(base->score)) {
		add_number(text, base->score.value);
	} else if (base->failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "none: %s",
			    harness_failure_text(base->failure));
	} else if (base->score.present) {
		buf_append_str(text, "INVALID: ");
		add_number(text, base->score.value);
		buf_append_str(text, base->passed == HARNESS_NO
					     ? " of a failed verifier"
					     : ", not known whether it passed");
	} else {
		buf_append_str(text, "none: the verifier gave no score");
	}
	print_line(page, "baseline");
}

static void
print_best(struct page *page, const struct harness_run *run)
{
	const struct harness_score *best = &run->best;
	struct buf *text = &page->text;
	struct buf what;

	if (!best->present) {
		buf_append_str(text, "none");
		print_line(page, "best VERIFIED");
		return;
	}
	buf_init(&what, TEXT_MAX);
	add_number(text, best->value);
	buf_append_str(text, " of ");
	add_iteration(text, best);
	if (best->iteration > 0)
		add_gain(text, run->baseline_pct, "the baseline");
	if (run->previous.present && run->previous.iteration > 0) {
		add_iteration(&what, &run->previous);
		buf_append_str(&what, " (");
		add_number(&what, run->previous.value);
		buf_append_str(&what, ")");
		add_gain(text, run->previous_pct, what.data);
	}
	print_line(page, "best VERIFIED");
	if (run->earlier.present) {
		add_number(text, run->earlier.value);
		buf_appendf(text, " of run %s; now", run->earlier_run);
		buf_clear(&what);
		add_gain(&what, run->earlier_pct, "that");
		buf_append_str(text, what.len > 0 ? what.data + 1 : " unknown");
		print_line(page, "earlier best");
	}
	buf_release(&what);
}

static const char *
source_text(const char *source)
{
	if (strcmp(source, "failed_verifier") == 0)
		return "INVALID: printed by a verifier that failed";
	if (strcmp(source, "in_session") == 0)
		return "measured in session by the agent's own tool";
	return "claimed by the agent, measured by nobody";
}

static void
print_doubts(struct page *page, const struct harness_run *run)
{
	const struct harness_score *other = &run->best_unverified;
	struct buf *text = &page->text;

	if (other->present) {
		add_number(text, other->value);
		buf_append_str(text, " of ");
		add_iteration(text, other);
		buf_appendf(text, ", %s", source_text(other->source));
		print_line(page, "? unverified");
	}
	if (run->stop_score.present) {
		add_number(text, run->stop_score.value);
		buf_append_str(text, run->stop_reached == HARNESS_YES
					     ? ", reached by a verified score"
					     : ", not reached by a verified "
					       "score");
		print_line(page, "stop score");
	}
	if (harness_is_finite(run->said_best) &&
	    (!run->best.present || run->said_best.value != run->best.value)) {
		buf_append_str(text, "best ");
		add_number(text, run->said_best.value);
		buf_append_str(text, ", which no verifier that passed has "
				     "measured");
		print_line(page, "it says");
	}
}

/* The score of a restore's verifier, or why there is none. */
static void
add_post_restore(struct buf *text, const struct harness_restore *r)
{
	buf_append_str(text, "; verifier after it ");
	if (r->post_passed == HARNESS_YES) {
		buf_append_str(text, "passed");
		if (harness_is_finite(r->post.score)) {
			buf_append_str(text, " with ");
			add_number(text, r->post.score.value);
		}
		return;
	}
	buf_append_str(text, "FAILED");
	if (r->post.failure != HARNESS_FAILURE_NONE)
		buf_appendf(text, " (%s): %s",
			    harness_failure_name(r->post.failure),
			    harness_failure_text(r->post.failure));
}

static void
print_checkpoint(struct page *page, const struct harness_run *run)
{
	const struct harness_restore *r = &run->restore;
	struct buf *text = &page->text;

	if (run->checkpoint.present && run->checkpoint.iteration.present) {
		buf_appendf(text, "iteration %.0f",
			    run->checkpoint.iteration.value);
		if (run->checkpoint.score.present) {
			buf_append_str(text, " (");
			add_number(text, run->checkpoint.score.value);
			buf_append_str(text, ")");
		}
		if (run->best.present &&
		    run->checkpoint.iteration.value != run->best.iteration)
			buf_append_str(text, ": NOT the best verified one");
		print_line(page, "checkpoint");
	}
	if (r->restored == HARNESS_YES) {
		buf_append_str(text, "from ");
		if (r->iteration.present)
			buf_appendf(text, "iteration %.0f", r->iteration.value);
		else
			buf_append_str(text, "the checkpoint");
		if (r->post.present)
			add_post_restore(text, r);
		print_line(page, "restored");
	} else if (r->present && r->reason != NULL) {
		buf_appendf(text, "no: %s", r->reason);
		print_line(page, "restored");
	}
}

static void
print_calls(struct page *page, const struct harness_workspace *ws)
{
	const struct harness_calls *calls = &ws->calls;
	struct buf *text = &page->text;

	if (calls->total == 0)
		return;
	if (calls->known)
		buf_appendf(text, "%u in this workspace", calls->total);
	else
		buf_append_str(text, "more than can be counted here");
	for (size_t i = 0; i < calls->n_tools && i < 12; i++)
		buf_appendf(text, "%s %s %u", i == 0 ? ":" : ",",
			    calls->tools[i].name, calls->tools[i].calls);
	print_line(page, "MCP calls");
}

static void
print_artifacts(struct page *page, const struct harness_workspace *ws)
{
	struct buf *text = &page->text;
	size_t n = 0;

	for (size_t i = 0; i < ws->n_artifacts; i++) {
		if (!ws->artifacts[i].quarantined)
			continue;
		buf_appendf(text, "%s%s", n++ > 0 ? ", " : "",
			    word(ws->artifacts[i].path));
	}
	if (n > 0)
		print_line(page, "QUARANTINED");
}

static void
print_head(struct page *page, const struct harness_workspace *ws,
	   const struct harness_run *run)
{
	buf_appendf(&page->text, "HarnessGym run %s", run->id);
	print_title(page);
	print_task(page, run);
	print_state(page, run);
	print_baseline(page, run);
	print_best(page, run);
	print_doubts(page, run);
	print_checkpoint(page, run);
	print_calls(page, ws);
	print_artifacts(page, ws);
	if (ws->n_runs > 1) {
		buf_appendf(&page->text, "%zu in this workspace:", ws->n_runs);
		for (size_t i = 0; i < ws->n_runs; i++)
			buf_appendf(&page->text, " %s", ws->runs[i].id);
		print_line(page, "runs");
	}
	(void)fputc('\n', page->stream);
}

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
	return run->life.state == HARNESS_STATE_RUNNING ? "under way" :
							  "cut off";
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
		add_duration(text, it->attempt_limit_s.value);
		return;
	}
	buf_append_str(text, status);
	if (strcmp(status, "failed") == 0 && attempt->return_code.present)
		buf_appendf(text, " (%.0f)", attempt->return_code.value);
	if (attempt->duration_s.present) {
		buf_append_str(text, " ");
		add_duration(text, attempt->duration_s.value);
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
	add_number(text, number.value);
	buf_appendf(text, " (%s)", why);
}

static void
put_result(struct page *page, const struct harness_iteration *it)
{
	struct buf *text = &page->text;

	if (it->verified_score.present) {
		buf_append_str(text, "verified");
	} else if (it->invalid_score.present) {
		buf_append_str(text, "INVALID ");
		add_number(text, it->invalid_score.value);
		buf_append_str(text, " (verifier failed)");
	} else if (it->post.failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "no score (%s)",
			    harness_failure_name(it->post.failure));
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
	put_result(page, it);
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
	struct page page = page_of(stream, format);
	struct out *out;
	int rc;

	if (format != OUT_CSV)
		print_head(&page, ws, run);
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
			add_number(text, t->post.score.value);
		}
		if (t->post.failure != HARNESS_FAILURE_NONE)
			buf_appendf(text, " (%s)",
				    harness_failure_name(t->post.failure));
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
		add_number(text, group->median.value);
		buf_append_str(text, ", from ");
		add_number(text, group->min.value);
		buf_append_str(text, " to ");
		add_number(text, group->max.value);
	}
	print_line(page, group->name);
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
	print_line(page, "verdict");
}

static void
print_compare_head(struct page *page, const struct harness_compare *compare)
{
	buf_append_str(&page->text, "HarnessGym comparison");
	print_title(page);
	buf_appendf(&page->text, "%s", word(compare->score_key));
	if (compare->command != NULL)
		buf_appendf(&page->text, ", by %s", compare->command);
	print_line(page, "score");
	buf_append_str(&page->text,
		       compare->has_report
			       ? "finished"
			       : "no report yet: running, or aborted");
	print_line(page, "state");
	for (size_t i = 0; i < compare->n_groups; i++)
		print_group(page, &compare->groups[i]);
	print_verdict(page, compare);
	(void)fputc('\n', page->stream);
}

int
harness_print_compare(FILE *stream, enum out_format format,
		      const struct harness_compare *compare)
{
	struct page page = page_of(stream, format);
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
