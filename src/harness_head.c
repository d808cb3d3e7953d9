/* SPDX-License-Identifier: MIT */
/* The head of a run's page: what it is, what is verified, what is doubtful. */
#include "config.h"

#include "harness_page.h"

#define TEXT_MAX 8192U

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
		buf_appendf(text, "finished: %s", page_word(run->final_status));
		page_line(page, "state");
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
		page_add_duration(text, fabs(life->left_s.value));
		buf_append_str(text, life->left_s.value < 0 ? "" : " to go");
	}
	if (life->silent_s.present) {
		buf_append_str(text, "; last sign of life ");
		page_add_duration(text, life->silent_s.value);
		buf_append_str(text, " ago");
	}
	buf_append_str(text, "; no summary, so no final status");
	page_line(page, "state");
}

static void
print_task(struct page *page, const struct harness_run *run)
{
	struct buf *text = &page->text;

	buf_appendf(text, "%s", page_word(run->task_file));
	buf_appendf(text, ", runner %s", page_word(run->runner));
	if (run->model != NULL)
		buf_appendf(text, " (%s)", run->model);
	if (run->planned.present)
		buf_appendf(text, ", %zu of %.0f iterations begun",
			    run->n_iterations, run->planned.value);
	if (run->optimization == HARNESS_YES)
		buf_append_str(text, ", optimization");
	page_line(page, "task");
	buf_appendf(text, "%s", page_word(run->post_score_key));
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
	page_line(page, "score");
}

static void
print_baseline(struct page *page, const struct harness_run *run)
{
	const struct harness_post *base = &run->baseline;
	struct buf *text = &page->text;

	if (!run->has_baseline)
		return;
	if (base->passed == HARNESS_YES && harness_is_finite(base->score)) {
		page_add_number(text, base->score.value);
	} else if (base->failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "none: %s",
			    harness_failure_text(base->failure));
	} else if (base->score.present) {
		buf_append_str(text, "INVALID: ");
		page_add_number(text, base->score.value);
		buf_append_str(text, base->passed == HARNESS_NO
					     ? " of a failed verifier"
					     : ", not known whether it passed");
	} else {
		buf_append_str(text, "none: the verifier gave no score");
	}
	page_line(page, "baseline");
}

static void
print_best(struct page *page, const struct harness_run *run)
{
	const struct harness_score *best = &run->best;
	struct buf *text = &page->text;
	struct buf what;

	if (!best->present) {
		buf_append_str(text, "none");
		page_line(page, "best VERIFIED");
		return;
	}
	buf_init(&what, TEXT_MAX);
	page_add_number(text, best->value);
	buf_append_str(text, " of ");
	add_iteration(text, best);
	if (best->iteration > 0)
		add_gain(text, run->baseline_pct, "the baseline");
	if (run->previous.present && run->previous.iteration > 0) {
		add_iteration(&what, &run->previous);
		buf_append_str(&what, " (");
		page_add_number(&what, run->previous.value);
		buf_append_str(&what, ")");
		add_gain(text, run->previous_pct, what.data);
	}
	page_line(page, "best VERIFIED");
	if (run->earlier.present) {
		page_add_number(text, run->earlier.value);
		buf_appendf(text, " of run %s; now", run->earlier_run);
		buf_clear(&what);
		add_gain(&what, run->earlier_pct, "that");
		buf_append_str(text, what.len > 0 ? what.data + 1 : " unknown");
		page_line(page, "earlier best");
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
		page_add_number(text, other->value);
		buf_append_str(text, " of ");
		add_iteration(text, other);
		buf_appendf(text, ", %s", source_text(other->source));
		page_line(page, "? unverified");
	}
	if (run->stop_score.present) {
		page_add_number(text, run->stop_score.value);
		buf_append_str(text, run->stop_reached == HARNESS_YES
					     ? ", reached by a verified score"
					     : ", not reached by a verified "
					       "score");
		page_line(page, "stop score");
	}
	if (harness_is_finite(run->said_best) &&
	    (!run->best.present || run->said_best.value != run->best.value)) {
		buf_append_str(text, "best ");
		page_add_number(text, run->said_best.value);
		buf_append_str(text, ", which no verifier that passed has "
				     "measured");
		page_line(page, "it says");
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
			page_add_number(text, r->post.score.value);
		}
		return;
	}
	buf_append_str(text, "FAILED");
	if (r->post.failure != HARNESS_FAILURE_NONE)
		buf_appendf(text, " (%s): %s",
			    harness_failure_class(r->post.failure),
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
			page_add_number(text, run->checkpoint.score.value);
			buf_append_str(text, ")");
		}
		if (run->best.present &&
		    run->checkpoint.iteration.value != run->best.iteration)
			buf_append_str(text, ": NOT the best verified one");
		page_line(page, "checkpoint");
	}
	if (r->restored == HARNESS_YES) {
		buf_append_str(text, "from ");
		if (r->iteration.present)
			buf_appendf(text, "iteration %.0f", r->iteration.value);
		else
			buf_append_str(text, "the checkpoint");
		if (r->post.present)
			add_post_restore(text, r);
		page_line(page, "restored");
	} else if (r->present && r->reason != NULL) {
		buf_appendf(text, "no: %s", r->reason);
		page_line(page, "restored");
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
	page_line(page, "MCP calls");
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
			    page_word(ws->artifacts[i].path));
	}
	if (n > 0)
		page_line(page, "QUARANTINED");
}

void
harness_print_head(struct page *page, const struct harness_workspace *ws,
		   const struct harness_run *run)
{
	buf_appendf(&page->text, "HarnessGym run %s", run->id);
	page_title(page);
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
		page_line(page, "runs");
	}
	(void)fputc('\n', page->stream);
}
