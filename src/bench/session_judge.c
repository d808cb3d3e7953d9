/* SPDX-License-Identifier: MIT */
/* The judgement of a bench under way, and its results as files. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/session_priv.h"

/* Has every arm that still runs all its runs of that block? */
static bool
is_block_complete(const struct session *s, const struct session_run *like)
{
	size_t begin =
		like->pod * s->per_pod + (like->round - like->rep) * s->n_arms;

	for (size_t i = 0; i < s->n_arms * s->plan->reps; i++) {
		const struct session_run *run = &s->runs[begin + i];

		if (!run->recorded && !s->arm_stopped[run->arm] &&
		    (!run->fresh || s->in_fresh[run->arm]))
			return false;
	}
	return true;
}

/* A variant that broke a hard guard runs no more. */
static void
stop_arms(struct session *s)
{
	for (size_t i = 0; i < s->judge.n_contrasts; i++) {
		const struct judge_contrast *c = &s->judge.contrasts[i];

		if (c->verdict.word == VERDICT_INVALID &&
		    !s->arm_stopped[c->arm]) {
			s->arm_stopped[c->arm] = true;
			if (s->setup.mode != SESSION_RUN)
				continue;
			session_note(s, "%s: %s; it runs no more",
				     s->arms[c->arm].tag, c->verdict.text);
		}
	}
}

/* Did no guard fire?  A loaded host is a mark, and none. */
static bool
is_clean(const struct guard_hits *hits)
{
	for (size_t i = 0; i < hits->n; i++)
		if (hits->hit[i].guard != GUARD_LOAD)
			return false;
	return true;
}

/*
 * Did its blocks, a rule or the budget end it?  What goes on, or was ended by
 * somebody who saw its numbers, has only been looked at.
 */
static bool
ended_by_itself(const struct session *s)
{
	const char *why = s->stopped != NULL ? s->stopped : s->state.stopped;

	return why[0] != '\0' && strcmp(why, "aborted") != 0;
}

/* An incomplete block counts for nobody; what broke in it is known already. */
static bool
is_judged(const struct session *s, const struct session_run *run)
{
	return run->recorded && run->counted && run->end != RUN_END_SKIPPED &&
	       (is_block_complete(s, run) || guard_hard(&run->hits) != NULL);
}

/* Borrows from the run. */
static struct judge_run
to_judge(const struct session_run *run)
{
	return (struct judge_run){
		.arm = run->arm,
		.pod = run->pod,
		.block = run->block,
		.rep = run->rep,
		.fresh = run->fresh,
		.pos = run->pos,
		.counted = true,
		.name = run->id,
		.runtime = run->runtime[0] != '\0' ? run->runtime : NULL,
		.health = run->has_health ? &run->health : NULL,
		.state = is_clean(&run->hits) ? RUN_STATE_VERIFIED
					      : RUN_STATE_MEASURED,
		.log = run->has_log ? &run->log : NULL,
		.hits = run->hits,
	};
}

/* Borrows from the run. */
static struct verdict_run_info
to_tell(const struct session_run *run)
{
	bool exited = run->end == RUN_END_EXITED;

	return (struct verdict_run_info){
		.id = run->id,
		.path = run->log_path,
		.rc = exited ? (double)run->rc : (double)NAN,
		.t0 = run->t0[0] != '\0' ? run->t0 : NULL,
		.t1 = run->t1[0] != '\0' ? run->t1 : NULL,
		.drift_s = exited ? run->drift_s : (double)NAN,
	};
}

void
session_judge_now(struct session *s)
{
	struct judge_rule rule = s->plan->rule;
	size_t n = 0;

	if (s->judged)
		judge_release(&s->judge);
	rule.need = s->plan->min_blocks;
	rule.planned =
		ended_by_itself(s) ? 0 : s->plan->blocks * s->plan->n_pods;
	if (s->setup.noise != NULL)
		s->setup.noise(s->setup.noise_user, &rule);
	for (size_t i = 0; i < s->n_runs; i++) {
		if (!is_judged(s, &s->runs[i]))
			continue;
		s->judge_runs[n] = to_judge(&s->runs[i]);
		s->infos[n++] = to_tell(&s->runs[i]);
	}
	judge_init(&s->judge, &rule, s->arms, s->n_arms, s->judge_runs, n);
	judge_confirm(&s->judge);
	s->judged = true;
	stop_arms(s);
}

int
session_write_results(struct session *s, struct err *err)
{
	struct verdict_info info;
	cJSON *root;
	int result;

	(void)session_judge(s, &info);
	root = verdict_to_json(&s->judge, &info);
	result = folder_write_json(s->setup.path, "verdict.json", root, err);
	cJSON_Delete(root);
	if (result == 0 && s->judge.training) {
		root = verdict_summary_json(&s->judge);
		result = folder_write_json(s->setup.path, "summary.json", root,
					   err);
		cJSON_Delete(root);
	}
	for (size_t i = 0; result == 0 && i < s->judge.n_runs; i++)
		result = session_write_steps(s, &s->judge_runs[i],
					     s->infos[i].id, err);
	return result;
}
