/* SPDX-License-Identifier: MIT */
/* Describe HarnessGym runs and comparisons. */
#include "report/harness_words.h"

#include <sys/param.h>

#define MAX_TOOLS  12
#define TEXT_MAX   4096U
#define TEXT_BYTES 65536U /* longest text of a fact */

/* A number and a duration as part of a sentence. */
#define NUMBER(value)	str_number((value), 10, (char[STR_NUMBER_SIZE]){ "" })
#define DURATION(value) duration((value), (char[FMT_SIZE]){ "" })

const char *harness_pct(double pct, bool sign, char out[HARNESS_PCT_SIZE])
{
	(void)snprintf(out, HARNESS_PCT_SIZE, fabs(pct) < 1e6 ? "%s%.1f %%" : "%s%.3g %%",
		       sign && pct >= 0 ? "+" : "", pct);
	return out;
}

/* "8 s", "1.1 s", "8m", "8m05s", "1h20m". */
static const char *duration(double seconds, char out[FMT_SIZE])
{
	if (!(seconds >= 0) || seconds > 1e9)
		return FMT_ABSENT;
	unsigned int s = (unsigned int)(seconds + 0.5);
	if (seconds > 0 && seconds < 0.005)
		return "<0.01 s";
	if (seconds < 9.95 && seconds != s)
		(void)snprintf(out, FMT_SIZE, "%.*f s", seconds < 1 ? 2 : 1, seconds);
	else if (s < 60)
		(void)snprintf(out, FMT_SIZE, "%u s", s);
	else if (s < 3600 && s % 60 == 0)
		(void)snprintf(out, FMT_SIZE, "%um", s / 60);
	else if (s < 3600)
		(void)snprintf(out, FMT_SIZE, "%um%02us", s / 60, s % 60);
	else
		(void)snprintf(out, FMT_SIZE, "%uh%02um", s / 3600, s % 3600 / 60);
	return out;
}

void harness_add_age(struct buf *text, int64_t age_ms)
{
	buf_appendf(text, "as of %s ago", DURATION(floor((double)age_ms / 1000)));
}

/* "completed 5m01s", "timed out at 8m", "failed (3) 2 s". */
static void add_phase(struct buf *text, const struct harness_phase *phase)
{
	const char *status = phase->status != NULL ? phase->status : "?";

	if (strcmp(status, "timeout") == 0 && phase->limit_s.present) {
		buf_appendf(text, "timed out at %s", DURATION(phase->limit_s.value));
		return;
	}
	buf_append_str(text, status);
	if (strcmp(status, "failed") == 0 && phase->return_code.present)
		buf_appendf(text, " (%.0f)", phase->return_code.value);
	if (phase->duration_s.present)
		buf_appendf(text, " %s", DURATION(phase->duration_s.value));
	if (phase->why != NULL)
		buf_appendf(text, ": %s", phase->why);
}

void harness_add_attempt(struct buf *text, const struct harness_run *run,
			 const struct harness_iteration *it)
{
	if (run->table != NULL)
		buf_append_str(text, it->status);
	else if (it->attempt == NULL)
		buf_append_str(text,
			       run->has_summary || it != &run->iterations[run->n_iterations - 1]
				       ? "no end recorded"
			       : run->life.state == HARNESS_STATE_RUNNING ? "running"
			       : run->life.state == HARNESS_STATE_STALE &&
					       run->life.process != HARNESS_NO
				       ? "no end recorded"
				       : "cut off");
	else
		add_phase(text, it->attempt);
}

void harness_add_phases(struct buf *text, const struct harness_iteration *it)
{
	static const char *const prefixes[] = { "reflection", "build", "repair_" };

	for (size_t i = 0; i < LENGTH(prefixes); i++)
		array_each (phase, it->phases, it->n_phases) {
			if (strncmp(phase->name, prefixes[i], strlen(prefixes[i])) != 0)
				continue;
			buf_appendf(text, "%s%s ", text->len > 0 ? ", " : "", phase->name);
			add_phase(text, phase);
		}
}

void harness_add_calls(struct buf *text, const struct harness_iteration *it)
{
	if (!it->calls.present)
		return;
	buf_appendf(text, "%.0f", it->calls.value);
	if (it->calls_delta.present)
		buf_appendf(text, " (+%.0f)", it->calls_delta.value);
}

static void add_claim(struct buf *text, struct harness_number number, const char *why)
{
	if (!harness_is_finite(number))
		return;
	buf_appendf(text, "%s? unverified %s (%s)", text->len > 0 ? "; " : "", NUMBER(number.value),
		    why);
}

/* ", 30.2 % better than WHAT", ", equal to WHAT". */
static void add_gain(struct buf *text, struct harness_number pct, const char *what)
{
	char size[HARNESS_PCT_SIZE];

	if (!pct.present)
		return;
	if (pct.value == 0)
		buf_appendf(text, ", equal to %s", what);
	else
		buf_appendf(text, ", %s %s than %s", harness_pct(fabs(pct.value), false, size),
			    pct.value > 0 ? "better" : "worse", what);
}

/* Say why a verification that did not fail otherwise has no score. */
static const char *why_no_score(const struct harness_post *post)
{
	bool is_completed = post->status != NULL && strcmp(post->status, "completed") == 0;

	if (post->score.present)
		return "verifier printed no finite number";
	if (is_completed && post->is_empty)
		return "verifier printed nothing";
	if (is_completed && post->has_output && !post->has_json)
		return "verifier printed more than one JSON object";
	return post->passed == HARNESS_YES ? "verifier printed no score" : "verifier failed";
}

void harness_add_result(struct buf *text, const struct harness_run *run,
			const struct harness_iteration *it)
{
	const struct harness_post *post = &it->post;

	if (run->table != NULL) {
		add_claim(text, it->claimed_score,
			  it->proof == HARNESS_PROOF_LOGGED ? "also in run.log"
			  : run->table->is_loop		    ? "by the loop"
							    : "claimed");
		add_gain(text, it->claimed_pct, "the best kept before");
		buf_append_str(text, it->within_noise == HARNESS_YES ? ", within noise" : "");
		buf_append_str(text, text->len == 0 ? "no score" : "");
		return;
	}
	if (it->verified_score.present) {
		buf_append_str(text, "verified");
		if (it->mark != NULL)
			buf_appendf(text, "; READ THE DIFF: %s", it->mark);
	} else if (it->invalid_score.present) {
		buf_appendf(text, "INVALID %s (%s)", NUMBER(it->invalid_score.value),
			    post->doubt != NULL ? post->doubt : "verifier failed");
	} else if (post->failure != HARNESS_FAILURE_NONE) {
		buf_appendf(text, "no score (%s)", harness_failures[post->failure].class);
	} else if (post->doubt != NULL) {
		buf_appendf(text, "%s (%s)",
			    it->proof == HARNESS_PROOF_REWRITTEN ? "not verified" : "INVALID",
			    post->doubt);
	} else if (post->present && it->attempt != NULL && !harness_is_finite(post->score)) {
		buf_appendf(text, "no score (%s)", why_no_score(post));
	}
	if (post->stray_score.present)
		add_claim(text, post->stray_score, "printed among other text, not accepted");
	add_claim(text, it->claimed_score, "claimed");
	/* Leave out the score of the agent's own tool if the verified score is at least as good. */
	if (!it->verified_score.present ||
	    harness_is_better(run->higher_is_better, it->session_score.value,
			      it->verified_score.value))
		add_claim(text, it->session_score, "in session");
	if (text->len == 0)
		buf_append_str(text, "not measured");
}

void harness_add_qualification(struct buf *text, const struct harness_iteration *it)
{
	const struct harness_qualification *q = &it->qualification;

	for (size_t i = 0; i < q->n_attempts; i++)
		buf_appendf(text, "%s%s", i > 0 ? ", " : "",
			    q->attempts[i] != NULL ? q->attempts[i] : "?");
	if (q->present && q->active_tools.present)
		buf_appendf(text, ", %.0f tools", q->active_tools.value);
	if (q->quarantined.n > 0)
		buf_appendf(text, ", %zu QUARANTINED", q->quarantined.n);
}

static void add_list(struct buf *text, const char *const *v, size_t n, const char *separator)
{
	for (size_t i = 0; i < n; i++)
		buf_appendf(text, "%s%s", i > 0 ? separator : "", v[i]);
}

void harness_add_names(struct buf *text, const struct harness_names *names)
{
	add_list(text, names->v, names->n, ", ");
}

void harness_add_verifier(struct buf *text, const struct harness_post *post)
{
	const struct {
		const char *name, *text;
	} parts[] = { { "", post->device }, { "torch ", post->torch }, { "CUDA ", post->cuda } };

	for (size_t i = 0; i < LENGTH(parts); i++)
		if (parts[i].text != NULL)
			buf_appendf(text, "%s%s%s", text->len > 0 ? ", " : "", parts[i].name,
				    parts[i].text);
	if (post->elapsed_s.present)
		buf_appendf(text, "%stook %s", text->len > 0 ? ", " : "",
			    DURATION(post->elapsed_s.value));
}

/* The facts of a run that are being added. */
struct page {
	struct facts *facts;
	const struct harness_workspace *ws;
	const struct harness_run *run;
	struct buf text; /* of the next fact */
};

/* Add the collected text as a fact; nothing if it is empty. */
static void end_fact(struct page *p, const char *label, enum fact_style style)
{
	if (p->text.len > 0)
		facts_text(p->facts, label, style, "%s", p->text.data);
	buf_clear(&p->text);
}

static const char *or_absent(const char *text)
{
	return text != NULL && *text != '\0' ? text : FMT_ABSENT;
}

/* "104.832 of iteration 3", "118.2 of the baseline". */
static void add_score_of(struct buf *text, const struct harness_score *score)
{
	buf_appendf(text, "%s of ", NUMBER(score->value));
	if (score->iteration == 0)
		buf_append_str(text, "the baseline");
	else
		buf_appendf(text, "iteration %u", score->iteration);
}

static void add_score(struct page *p)
{
	const struct harness_run *run = p->run;
	struct buf *text = &p->text;

	buf_append_str(text, or_absent(run->post_score_key));
	if (run->higher_is_better != HARNESS_UNKNOWN)
		buf_appendf(text, ", %s is better",
			    run->higher_is_better == HARNESS_YES ? "higher" : "lower");
	if (run->mode != NULL)
		buf_appendf(text, ", mode %s", run->mode);
	if (run->table != NULL)
		buf_append_str(text, run->table->is_loop
					     ? ", measured by the loop's evaluator; not verified"
					     : ", claimed by the agent; not verified");
	else if (run->warmup.present && run->repeats.present)
		buf_appendf(text, ", warm-up %.0f, repeats %.0f", run->warmup.value,
			    run->repeats.value);
	if (run->table == NULL && run->command == NULL)
		buf_append_str(text, ", not measured (no post-attempt command)");
	end_fact(p, "score", FACT_PLAIN);
}

/* Append the state of a run without a summary. */
static void add_life(struct buf *text, const struct harness_run *run)
{
	const struct harness_life *life = &run->life;

	buf_append_str(text, harness_state_names[life->state]);
	if (run->table == NULL && life->phase != NULL)
		buf_appendf(text, " in %s", life->phase);
	if (run->table == NULL && run->n_iterations > 0)
		buf_appendf(text, " of iteration %u",
			    run->iterations[run->n_iterations - 1].number);
	if (life->left_s.present)
		buf_appendf(text,
			    life->left_s.value < 0 ? ", %s over its time limit"
						   : ", at most %s left",
			    DURATION(fabs(life->left_s.value)));
	if (life->silent_s.present)
		buf_appendf(text, "; last activity %s ago", DURATION(life->silent_s.value));
	if (life->process == HARNESS_NO)
		buf_append_str(text, life->state == HARNESS_STATE_RUNNING
					     ? "; no process of the run was found"
					     : "; its process is not running");
	if (run->torn > 0)
		buf_appendf(text, "; %s is incomplete", run->torn_path);
	if (run->table == NULL)
		buf_append_str(text, "; no summary, so no final status");
}

static void add_state(struct page *p, const char *as_of)
{
	const struct harness_run *run = p->run;
	bool is_lost = !run->has_summary && run->life.state != HARNESS_STATE_RUNNING;

	buf_append_str(&p->text, as_of != NULL ? as_of : "");
	if (!run->has_summary)
		add_life(&p->text, run);
	else
		buf_appendf(&p->text, "finished: %s", or_absent(run->final_status));
	if (run->has_summary && run->start_ms > 0 && run->end_ms > run->start_ms)
		buf_appendf(&p->text, ", took %s",
			    DURATION((double)(run->end_ms - run->start_ms) / 1e3));
	end_fact(p, "state", as_of != NULL ? FACT_HINT : is_lost ? FACT_ALARM : FACT_PLAIN);
}

static void add_baseline(struct page *p)
{
	const struct harness_post *base = &p->run->baseline;
	struct buf *text = &p->text;

	if (!p->run->has_baseline)
		return;
	if (base->passed == HARNESS_YES && harness_is_finite(base->score))
		buf_append_str(text, NUMBER(base->score.value));
	else if (base->failure != HARNESS_FAILURE_NONE)
		buf_appendf(text, "none: %s", harness_failures[base->failure].text);
	else if (base->score.present && base->doubt != NULL)
		buf_appendf(text, "INVALID: %s (%s)", NUMBER(base->score.value), base->doubt);
	else if (base->score.present)
		buf_appendf(text, "INVALID: %s%s", NUMBER(base->score.value),
			    base->passed == HARNESS_NO ? " from a failed verifier"
						       : ", unknown whether it passed");
	else
		buf_append_str(text, "none: the verifier printed no score");
	end_fact(p, "baseline", FACT_PLAIN);
}

/* Add the best verified score, and the verifier that measured it (or the baseline). */
static void add_best(struct page *p)
{
	const struct harness_run *run = p->run;
	const struct harness_post *post = &run->baseline;
	enum fact_style style = run->best.present ? FACT_BETTER : FACT_HINT;
	AUTO_BUF what = buf_new(TEXT_MAX);

	if (run->best.present)
		add_score_of(&p->text, &run->best);
	else
		buf_append_str(&p->text, "none");
	if (run->best.present && run->best.iteration > 0)
		add_gain(&p->text, run->baseline_pct, "the baseline");
	if (run->best.present && run->previous.present && run->previous.iteration > 0) {
		buf_appendf(&what, "iteration %u (%s)", run->previous.iteration,
			    NUMBER(run->previous.value));
		add_gain(&p->text, run->previous_pct, what.data);
	}
	array_each (it, run->iterations, run->best.present ? run->n_iterations : 0) {
		if (it->number != run->best.iteration)
			continue;
		post = &it->post;
		if (it->mark == NULL)
			continue;
		style = FACT_WARN;
		buf_appendf(&p->text, "; READ THE DIFF: %s", it->mark);
	}
	end_fact(p, "best VERIFIED", style);
	harness_add_verifier(&p->text, post);
	end_fact(p, "measured on", FACT_PLAIN);
}

static const char *source_text(const char *source)
{
	if (strcmp(source, "failed_verifier") == 0)
		return "INVALID: printed by a verifier that failed";
	if (strcmp(source, "loop") == 0)
		return "measured by the loop's evaluator";
	if (strcmp(source, "run_log") == 0)
		return "claimed by the agent; also in its run.log";
	if (strcmp(source, "in_session") == 0)
		return "measured in session by the agent's own tool";
	return "claimed by the agent, not measured";
}

/* Add the scores that the best one is compared with, and scores that no verifier measured. */
static void add_other_scores(struct page *p)
{
	const struct harness_run *run = p->run;
	const struct harness_score *other = &run->best_unverified;
	double said = run->said_best.value;
	struct buf *text = &p->text;

	if (run->earlier.present)
		buf_append_str(text, NUMBER(run->earlier.value));
	if (run->earlier.present && run->earlier_run != NULL)
		buf_appendf(text, " of run %s", run->earlier_run);
	else if (run->earlier.present)
		buf_append_str(text, ", given as the reference");
	if (run->earlier.present && run->earlier_pct.present && run->earlier_pct.value == 0)
		buf_append_str(text, "; now equal");
	else if (run->earlier.present && run->earlier_pct.present)
		buf_appendf(text, "; now %.1f %% %s", fabs(run->earlier_pct.value),
			    run->earlier_pct.value > 0 ? "better" : "worse");
	end_fact(p, "earlier best", FACT_PLAIN);

	if (other->present) {
		add_score_of(text, other);
		buf_appendf(text, ", %s", source_text(other->source));
	}
	end_fact(p, "? unverified", FACT_WARN);

	if (run->stop_score.present)
		buf_appendf(text, "%s, %sreached by a verified score",
			    NUMBER(run->stop_score.value),
			    run->stop_reached == HARNESS_YES ? "" : "not ");
	end_fact(p, "stop score", FACT_PLAIN);

	/* The best score according to HarnessGym, unless it was verified. */
	bool is_verified = any_of(i, run->n_iterations,
				  run->iterations[i].verified_score.present &&
					  run->iterations[i].verified_score.value == said) ||
			   (run->best.present && run->best.value == said);
	if (run->said_best.present && !is_verified)
		buf_appendf(text, "best %s, which no passing verifier measured",
			    isfinite(said) ? NUMBER(said)
			    : isnan(said)  ? "NaN"
			    : said > 0	   ? "Infinity"
					   : "-Infinity");
	end_fact(p, "HarnessGym says", FACT_WARN);
}

/* Add the contradictions between HarnessGym's own records and the verifier's output. */
static void add_disputes(struct page *p)
{
	add_list(&p->text, p->run->disputes, p->run->n_disputes, "; ");
	end_fact(p, "contradiction", FACT_ALARM);
}

#define LISTED	       8
#define LISTED_CHANGES 256 /* any changed file may hide a trick */

static void add_judge(struct page *p)
{
	const struct harness_run *run = p->run;
	enum harness_tri unchanged = harness_judge_unchanged(run);
	struct buf *text = &p->text;

	if (run->command == NULL || !run->has_report)
		return;
	if (unchanged == HARNESS_NO)
		buf_appendf(text, "CHANGED: %s; ", run->judge);
	else if (unchanged == HARNESS_UNKNOWN)
		buf_append_str(text, "unknown: ");
	if (run->compared.n == 0)
		buf_append_str(text, "no file of the judge was compared");
	else
		buf_appendf(text, "%zu file%s compared with the template, %s: ", run->compared.n,
			    run->compared.n == 1 ? "" : "s",
			    run->checkpoint.present ? "as copied after the measurement"
						    : "as they are now");
	add_list(text, run->compared.v, MIN(run->compared.n, LISTED), ", ");
	if (run->compared.n > LISTED)
		buf_appendf(text, " and %zu more", run->compared.n - LISTED);
	if (run->unresolved.n > 0)
		buf_append_str(text, "; references that cannot be followed: ");
	add_list(text, run->unresolved.v, MIN(run->unresolved.n, LISTED), ", ");
	array_each (used, run->used.v, MIN(run->used.n, LISTED))
		buf_appendf(text,
			    strcmp(used->part, "named") == 0
				    ? "; the command also names %s, which changed"
				    : "; it also uses %s, which changed and which task.md does not "
				      "mention",
			    used->name);
	end_fact(p, "judge",
		 unchanged == HARNESS_NO	? FACT_ALARM
		 : unchanged == HARNESS_UNKNOWN ? FACT_WARN
						: FACT_PLAIN);
}

/* Add the best checkpoint, and the files that it changed, the judge's first. */
static void add_checkpoint(struct page *p)
{
	const struct harness_checkpoint *point = &p->run->checkpoint;
	const struct harness_changes *changes = &p->run->changes;
	struct buf *text = &p->text;
	size_t n = 0;

	if (point->present && point->iteration.present) {
		buf_appendf(text, "iteration %.0f", point->iteration.value);
		if (point->score.present)
			buf_appendf(text, " (%s)", NUMBER(point->score.value));
		if (p->run->best.present && point->iteration.value != p->run->best.iteration)
			buf_append_str(text, ": NOT the best verified iteration");
	}
	end_fact(p, "checkpoint", FACT_PLAIN);
	if (changes->present && changes->n == 0)
		buf_append_str(text, "none");
	for (int turn = 0; turn < 2; turn++)
		array_each (one, changes->v, changes->n) {
			bool is_judge = strcmp(one->part, "judge") == 0;

			if (is_judge != (turn == 0) || n++ >= LISTED_CHANGES)
				continue;
			buf_appendf(text, "%s%s %s", n > 1 ? ", " : "", one->name, one->change);
			if (strcmp(one->part, "other") != 0)
				buf_appendf(text, " (%s)", one->part);
		}
	if (n > LISTED_CHANGES)
		buf_appendf(text, " and %zu more", n - LISTED_CHANGES);
	end_fact(p, "it changed", FACT_PLAIN);
}

static void add_restored(struct page *p)
{
	const struct harness_restore *r = &p->run->restore;
	struct buf *text = &p->text;

	if (r->restored == HARNESS_YES && r->iteration.present)
		buf_appendf(text, "from iteration %.0f", r->iteration.value);
	else if (r->restored == HARNESS_YES)
		buf_append_str(text, "from the checkpoint");
	else if (r->present && r->reason != NULL)
		buf_appendf(text, "no: %s", r->reason);
	if (r->restored == HARNESS_YES && r->post.present) {
		buf_append_str(text, "; verifier afterwards ");
		if (r->post_passed == HARNESS_YES)
			buf_append_str(text, "passed");
		else if (r->post.doubt != NULL)
			buf_appendf(text, "not accepted (%s)", r->post.doubt);
		else
			buf_append_str(text, "FAILED");
		if (r->post_passed == HARNESS_YES && harness_is_finite(r->post.score))
			buf_appendf(text, " with %s", NUMBER(r->post.score.value));
		else if (r->post_passed != HARNESS_YES && r->post.doubt == NULL &&
			 r->post.failure != HARNESS_FAILURE_NONE)
			buf_appendf(text, " (%s): %s", harness_failures[r->post.failure].class,
				    harness_failures[r->post.failure].text);
	}
	end_fact(p, "restored", r->post_passed == HARNESS_NO ? FACT_WARN : FACT_PLAIN);
}

/* Add the usage that the agent's program reported, and the tools of the workspace. */
static void add_usage(struct page *p)
{
	/* As in union harness_usage. */
	static const char *const words[] = { NULL,	   "turns",
					     "tokens in",  "tokens in from cache",
					     "tokens out", "tokens in and out" };
	const union harness_usage *usage = &p->run->usage;
	const struct harness_calls *calls = &p->ws->calls;
	struct buf *text = &p->text;

	if (usage->cost_usd.present)
		buf_appendf(text, "$%.2f", usage->cost_usd.value);
	for (size_t i = 1; i < LENGTH(words); i++)
		if (usage->all[i].present)
			buf_appendf(text, "%s%s %s", text->len > 0 ? ", " : "",
				    NUMBER(usage->all[i].value), words[i]);
	end_fact(p, "agent used", FACT_PLAIN);
	if (calls->total > 0 && calls->known)
		buf_appendf(text, "%u in this workspace", calls->total);
	else if (calls->total > 0)
		buf_append_str(text, "too many to count");
	for (size_t i = 0; calls->total > 0 && i < calls->n_tools && i < MAX_TOOLS; i++)
		buf_appendf(text, "%s %s %u", i == 0 ? ":" : ",", calls->tools[i].name,
			    calls->tools[i].calls);
	end_fact(p, "MCP calls", FACT_PLAIN);
	for (size_t i = 0; i < p->ws->n_artifacts; i++)
		if (p->ws->artifacts[i].quarantined)
			buf_appendf(text, "%s%s", text->len > 0 ? ", " : "",
				    or_absent(p->ws->artifacts[i].path));
	end_fact(p, "QUARANTINED", FACT_ALARM);
}

void harness_add_runs(struct buf *text, const struct harness_workspace *ws)
{
	if (ws->n_runs < 2)
		return;
	buf_appendf(text, "%zu in this workspace:", ws->n_runs);
	for (size_t i = 0; i < ws->n_runs; i++)
		buf_appendf(text, " %s", ws->runs[i].id);
}

static void add_rows(struct page *p)
{
	static const char *const names[] = { "kept", "discarded", "crashed",
					     "with another status" };
	const struct harness_table *table = p->run->table;

	buf_appendf(&p->text, "%u in %s", table->rows, table->is_loop ? "its files" : p->run->id);
	for (size_t i = 0; i < 4; i++)
		if (table->outcomes[i] > 0)
			buf_appendf(&p->text, ", %u %s", table->outcomes[i], names[i]);
	if (*table->kind != '\0')
		buf_appendf(&p->text, "; best and gains: %s only", table->kind);
	if (table->broken > 0)
		buf_appendf(&p->text, "; %u line%s could not be read", table->broken,
			    table->broken == 1 ? "" : "s");
	end_fact(p, "experiments", FACT_PLAIN);
}

/* Append a score that only the agent reports: "0.9834 of row 9, claimed by ..". */
static void add_claimed(struct buf *text, const struct harness_score *score)
{
	if (score->present)
		buf_appendf(text, "%s of row %u, %s", NUMBER(score->value), score->iteration,
			    source_text(score->source));
}

static void add_table_scores(struct page *p)
{
	const struct harness_table *table = p->run->table;
	struct buf *text = &p->text;

	add_claimed(text, &table->baseline);
	end_fact(p, "? baseline", FACT_WARN);
	add_claimed(text, &p->run->best_unverified);
	add_gain(text, table->best_pct, "the baseline");
	if (table->trend != NULL && text->len > 0)
		buf_appendf(text, "; %s, %u row%s since", table->trend, table->since_best,
			    table->since_best == 1 ? "" : "s");
	end_fact(p, "? best kept", FACT_WARN);
	if (table->noise.present)
		buf_appendf(text, "%s, the range of %u baselines", NUMBER(table->noise.value),
			    table->baselines);
	else
		buf_append_str(text, "unknown: the baseline was measured only once");
	end_fact(p, "noise floor", table->noise.present ? FACT_PLAIN : FACT_HINT);
	if (table->logged.present)
		buf_append_str(text, NUMBER(table->logged.value));
	if (table->logged_row > 0)
		buf_appendf(text, ", as in row %u", table->logged_row);
	else if (table->log_is_newer)
		buf_append_str(text,
			       table->logged.present ? ", not in the table yet" : "no score yet");
	end_fact(p, "run.log", FACT_PLAIN);
}

void harness_facts(struct facts *facts, const struct harness_workspace *ws,
		   const struct harness_run *run, const char *as_of)
{
	struct page page = { facts, ws, run, buf_new(TEXT_BYTES) }, *p = &page;

	if (run->table != NULL) {
		add_rows(p);
		add_score(p);
		add_state(p, as_of);
		add_table_scores(p);
		add_disputes(p);
	} else {
		buf_appendf(&p->text, "%s, runner %s", or_absent(run->task_file),
			    or_absent(run->runner));
		if (run->model != NULL)
			buf_appendf(&p->text, " (%s)", run->model);
		if (run->planned.present)
			buf_appendf(&p->text, ", %zu of %.0f iterations started", run->n_iterations,
				    run->planned.value);
		if (run->optimization == HARNESS_YES)
			buf_append_str(&p->text, ", optimization");
		end_fact(p, "task", FACT_PLAIN);
		add_score(p);
		add_state(p, as_of);
		add_baseline(p);
		add_best(p);
		add_other_scores(p);
		add_disputes(p);
		add_judge(p);
		add_checkpoint(p);
		add_restored(p);
		add_usage(p);
	}
	buf_release(&p->text);
}

void harness_add_trial(struct buf *text, const struct harness_trial *t)
{
	if (harness_trial_counts(t)) {
		buf_append_str(text, "valid");
	} else if (!t->post.present) {
		buf_append_str(text, "not measured");
	} else {
		buf_append_str(text, "INVALID");
		if (harness_is_finite(t->post.score))
			buf_appendf(text, " %s", NUMBER(t->post.score.value));
		if (t->post.doubt != NULL)
			buf_appendf(text, " (%s)", t->post.doubt);
		if (t->post.failure != HARNESS_FAILURE_NONE)
			buf_appendf(text, " (%s)", harness_failures[t->post.failure].class);
		if (t->post_why != NULL && *t->post_why != '\0')
			buf_appendf(text, ": %s", t->post_why);
	}
	if (t->comparison_valid == HARNESS_NO && t->comparison_why != NULL &&
	    (t->post_why == NULL || strcmp(t->comparison_why, t->post_why) != 0))
		buf_appendf(text, "; %s", t->comparison_why);
	if (t->error != NULL && *t->error != '\0')
		buf_appendf(text, "; %s", t->error);
}

void harness_add_compare_state(struct buf *text, const struct harness_compare *compare)
{
	buf_append_str(text,
		       compare->has_report		 ? "finished"
		       : compare->process == HARNESS_YES ? "running"
		       : compare->process == HARNESS_NO
			       ? (compare->live_group != NULL ? "killed" : "aborted between trials")
			       : "running or aborted");
	if (compare->live_group != NULL)
		buf_appendf(text, " in %s trial %u", compare->live_group, compare->live_trial);
	if (compare->live_phase != NULL)
		buf_appendf(text, ", %s of iteration %u", compare->live_phase,
			    compare->live_iteration);
	if (compare->process == HARNESS_NO)
		buf_append_str(text, "; its process is not running");
}

void harness_compare_facts(struct facts *facts, const struct harness_compare *compare)
{
	struct page page = { .facts = facts, .text = buf_new(TEXT_BYTES) };
	struct buf *text = &page.text;

	buf_append_str(text, or_absent(compare->score_key));
	if (compare->command != NULL)
		buf_appendf(text, ", by %s", compare->command);
	end_fact(&page, "score", FACT_PLAIN);
	harness_add_compare_state(text, compare);
	end_fact(&page, "state", compare->process == HARNESS_NO ? FACT_WARN : FACT_PLAIN);
	array_each (group, compare->groups, compare->n_groups) {
		buf_appendf(text, "%u of %u trials valid", group->valid, group->count);
		if (group->invalid > 0)
			buf_appendf(text, ", %u INVALID", group->invalid);
		if (group->not_run > 0)
			buf_appendf(text, ", %u not measured", group->not_run);
		if (group->median.present)
			buf_appendf(text, "; median of the valid %s, from %s to %s",
				    NUMBER(group->median.value), NUMBER(group->min.value),
				    NUMBER(group->max.value));
		end_fact(&page, group->name, group->invalid > 0 ? FACT_WARN : FACT_PLAIN);
	}
	buf_release(text);
	/* A verdict needs repeated trials. */
	const struct harness_group *a = &compare->groups[0], *b = a + 1;
	facts_text(facts, "verdict", FACT_HINT, "%s",
		   compare->n_groups < 2 ? "none: only one group has trials"
		   : a->median.present && b->median.present && a->min.value == b->min.value &&
				   a->max.value == b->max.value && a->min.value == a->max.value
			   ? "none: all valid trials are equal"
		   : a->valid < 5 || b->valid < 5
			   ? "none: one side has fewer than 5 valid trials"
			   : "compare the trials' scores with `bench judge`");
}
