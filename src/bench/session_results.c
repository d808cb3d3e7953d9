/* SPDX-License-Identifier: MIT */
/* The judgement of a bench under way, and its results as files. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/noise.h"
#include "bench/session_priv.h"

/* What an arm changes by name; all it changes, where it is only that. */
static void
declare(struct session *s, size_t arm)
{
	const struct plan_variant *v = plan_arm(s->plan, arm);
	const struct plan_variant *control = plan_arm(s->plan, 0);
	const char **names = xcalloc(
		v->env.n + control->env.n + v->declares.n + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < v->env.n; i++)
		names[n++] = v->env.v[i].name;
	for (size_t i = 0; i < control->env.n; i++)
		names[n++] = control->env.v[i].name;
	for (size_t i = 0; i < v->declares.n; i++)
		names[n++] = v->declares.v[i];
	s->declared[arm] = names;
	s->arms[arm].declared = names;
	s->arms[arm].n_declared = n;
	s->arms[arm].declares_all =
		v->command == NULL && v->patch == NULL && v->files.n == 0 &&
		control->command == NULL && control->patch == NULL &&
		control->files.n == 0;
}

void
session_arms_init(struct session *s)
{
	for (size_t i = 0; i < s->runs.n_arms; i++) {
		s->arms[i] = (struct judge_arm){
			.tag = s->runs.tags[i],
			.aa = i >= s->plan->n_variants,
			.numerics_changed =
				plan_arm(s->plan, i)->numerics_changed,
			.other_noise = !noise_is_shared(s->plan, i),
		};
		declare(s, i);
	}
}

/* Has every arm that still runs all its runs of that block? */
static bool
is_block_complete(const struct session *s, const struct bench_run *like)
{
	size_t n = s->runs.n_arms;
	const struct bench_run *run = &s->runs.v[like->pod * s->runs.per_pod +
						 (like->round - like->rep) * n];

	for (size_t i = 0; i < n * s->plan->reps; i++, run++)
		if (run->end == RUN_END_NONE && !s->arm_stopped[run->arm] &&
		    (!run->fresh || s->in_fresh[run->arm]))
			return false;
	return true;
}

/* A variant that broke a hard guard runs no more; true: one that did until
 * now, so that blocks are complete without it. */
static bool
stop_arms(struct session *s)
{
	bool any = false;

	for (size_t i = 0; i < s->judge.n_contrasts; i++) {
		const struct judge_contrast *c = &s->judge.contrasts[i];

		if (c->verdict.word != VERDICT_INVALID ||
		    s->arm_stopped[c->arm])
			continue;
		s->arm_stopped[c->arm] = any = true;
		if (s->setup.mode == SESSION_RUN)
			session_note(s, "%s: %s; it runs no more",
				     s->arms[c->arm].tag, c->verdict.text);
	}
	return any;
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
is_judged(const struct session *s, const struct bench_run *run)
{
	return run->end != RUN_END_NONE && run->counted &&
	       (is_block_complete(s, run) || guard_hard(&run->hits) != NULL);
}

/* Borrows from the run. */
static struct judge_run
to_judge(const struct bench_run *run)
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
		.path = run->has_log ? run->log.path : NULL,
		.t0 = run->t0[0] != '\0' ? run->t0 : NULL,
		.t1 = run->t1[0] != '\0' ? run->t1 : NULL,
		.rc = run->rc,
		.drift_s = run->drift_s,
		.runtime = run->runtime[0] != '\0' ? run->runtime : NULL,
		.health = run->has_health ? &run->health : NULL,
		.state = is_clean(&run->hits) ? RUN_STATE_VERIFIED
					      : RUN_STATE_MEASURED,
		.log = run->has_log ? &run->log : NULL,
		.hits = run->hits,
	};
}

void
session_judge_now(struct session *s)
{
	struct judge_rule rule = s->plan->rule;
	size_t n;

	rule.need = s->plan->min_blocks;
	rule.planned =
		ended_by_itself(s) ? 0 : s->plan->blocks * s->plan->n_pods;
	if (s->setup.noise != NULL)
		s->setup.noise(s->setup.noise_user, &rule);
	do {
		judge_release(&s->judge);
		n = 0;
		for (size_t i = 0; i < s->runs.n; i++)
			if (is_judged(s, &s->runs.v[i]))
				s->judge_runs[n++] = to_judge(&s->runs.v[i]);
		judge_init(&s->judge, &rule, s->arms, s->runs.n_arms,
			   s->judge_runs, n);
		judge_confirm(&s->judge);
	} while (stop_arms(s));
}

/* Rounds of the first pod as words of letters, "AB"; owned. */
static char **
schedule_words(const struct session *s, size_t n)
{
	size_t n_arms = s->runs.n_arms;
	char **words = xcalloc(n + 1, sizeof(*words));

	for (size_t r = 0; r < n; r++) {
		const struct bench_run *run =
			&s->runs.v[(s->plan->burn_in + r) * n_arms];

		words[r] = xcalloc(n_arms + 1, 1);
		for (size_t i = 0; i < n_arms; i++)
			words[r][i] = (char)('A' + run[i].arm);
	}
	return words;
}

cJSON *
session_make_verdict(const struct session *s)
{
	const struct plan *plan = s->plan;
	size_t n = plan->blocks * plan->reps;
	char **words = schedule_words(s, n);
	const char **pods = xcalloc(plan->n_pods, sizeof(*pods));
	struct verdict_info info = {
		.name = plan->name,
		.bench_sha256 = plan->sha256,
		.has_seed = true,
		.seed = plan->seed,
		.schedule = (const char *const *)words,
		.n_schedule = n,
		.pods = (const char *const *)pods,
		.n_unpriced = plan_n_unpriced(plan),
		.metric = plan->key,
		.repeats = s->runs.repeats,
		.n_repeats = s->runs.n_repeats,
		.cost_usd = session_cost(s),
		.stopped = s->stopped != NULL		 ? s->stopped
			   : s->state.stopped[0] != '\0' ? s->state.stopped
							 : NULL,
	};
	cJSON *root;

	for (size_t i = 0; i < plan->n_pods; i++)
		pods[i] = plan->pods[i].id;
	root = verdict_to_json(&s->judge, &info);
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
	free((void *)pods);
	return root;
}

int
session_write_results(struct session *s, struct err *err)
{
	cJSON *root = session_make_verdict(s);
	int result;

	result = folder_write_json(s->setup.path, "verdict.json", root, err);
	cJSON_Delete(root);
	if (result == 0 && s->judge.training) {
		root = verdict_summary_json(&s->judge);
		result = folder_write_json(s->setup.path, "summary.json", root,
					   err);
		cJSON_Delete(root);
	}
	for (size_t i = 0; result == 0 && i < s->judge.n_runs; i++)
		result = session_write_steps(s, &s->judge_runs[i], err);
	return result;
}
