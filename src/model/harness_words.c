/* SPDX-License-Identifier: MIT */
/* What an iteration came to, in words; of pages and of the Harness view. */
#include "config.h"

#include "model/harness_words.h"

#include <stdio.h>

void
harness_add_number(struct buf *text, double value)
{
	char number[STR_NUMBER_SIZE];

	buf_append_str(text, str_number(value, 10, number));
}

const char *
harness_pct(double pct, bool sign, char out[HARNESS_PCT_SIZE])
{
	(void)snprintf(out, HARNESS_PCT_SIZE,
		       fabs(pct) < 1e6 ? "%s%.1f %%" : "%s%.3g %%",
		       sign && pct >= 0 ? "+" : "", pct);
	return out;
}

void
harness_add_duration(struct buf *text, double seconds)
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

/* An attempt without an end: whether somebody may still bring it. */
static const char *
open_attempt(const struct harness_run *run, const struct harness_iteration *it)
{
	if (run->has_summary || it != &run->iterations[run->n_iterations - 1])
		return "no end told";
	return run->life.state == HARNESS_STATE_RUNNING ? "under way"
							: "cut off";
}

void
harness_add_attempt(struct buf *text, const struct harness_run *run,
		    const struct harness_iteration *it)
{
	const struct harness_phase *attempt = it->attempt;
	const char *status;

	if (attempt == NULL) {
		buf_append_str(text, open_attempt(run, it));
		return;
	}
	status = attempt->status != NULL ? attempt->status : "?";
	if (strcmp(status, "timeout") == 0 && it->attempt_limit_s.present) {
		buf_append_str(text, "timed out at ");
		harness_add_duration(text, it->attempt_limit_s.value);
		return;
	}
	buf_append_str(text, status);
	if (strcmp(status, "failed") == 0 && attempt->return_code.present)
		buf_appendf(text, " (%.0f)", attempt->return_code.value);
	if (attempt->duration_s.present) {
		buf_append_str(text, " ");
		harness_add_duration(text, attempt->duration_s.value);
	}
}

void
harness_add_calls(struct buf *text, const struct harness_iteration *it)
{
	if (!it->calls.present)
		return;
	buf_appendf(text, "%.0f", it->calls.value);
	if (it->calls_delta.present)
		buf_appendf(text, " (+%.0f)", it->calls_delta.value);
}

static void
add_claim(struct buf *text, struct harness_number number, const char *why)
{
	if (!harness_is_finite(number))
		return;
	if (text->len > 0)
		buf_append_str(text, "; ");
	buf_append_str(text, "? unverified ");
	harness_add_number(text, number.value);
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

void
harness_add_result(struct buf *text, const struct harness_run *run,
		   const struct harness_iteration *it)
{

	if (it->verified_score.present) {
		buf_append_str(text, "verified");
	} else if (it->invalid_score.present) {
		buf_append_str(text, "INVALID ");
		harness_add_number(text, it->invalid_score.value);
		buf_appendf(text, " (%s)",
			    it->post.doubt != NULL ? it->post.doubt
						   : "verifier failed");
	} else if (it->post.doubt != NULL) {
		buf_appendf(text, "INVALID (%s)", it->post.doubt);
	} else if (it->post.failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "no score (%s)",
			    harness_failure_class(it->post.failure));
	} else if (it->post.present && it->attempt != NULL) {
		buf_appendf(text, "no score (verifier %s)",
			    it->post.passed == HARNESS_YES ? "gave none"
							   : "failed");
	}
	if (it->post.stray_score.present)
		add_claim(text, it->post.stray_score,
			  "among other text, refused");
	add_claim(text, it->claimed_score, "claimed");
	if (!it->verified_score.present || beats(run, it))
		add_claim(text, it->session_score, "in session");
	if (text->len == 0)
		buf_append_str(text, "not measured");
}

void
harness_add_qualification(struct buf *text, const struct harness_iteration *it)
{
	const struct harness_qualification *q = &it->qualification;

	for (size_t i = 0; i < q->n_attempts; i++)
		buf_appendf(text, "%s%s", i > 0 ? ", " : "",
			    q->attempts[i] != NULL ? q->attempts[i] : "?");
	if (q->present && q->active_tools.present)
		buf_appendf(text, ", %.0f tools", q->active_tools.value);
	if (q->n_quarantined > 0)
		buf_appendf(text, ", %zu QUARANTINED", q->n_quarantined);
}
