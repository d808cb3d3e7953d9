/* SPDX-License-Identifier: MIT */
/* The runs of a bench, in the order of their schedule. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/noise.h"
#include "bench/session_priv.h"

void
session_run_file(const struct session_run *run, const char *name, char *out,
		 size_t size)
{
	(void)snprintf(out, size, "runs/%s/%s", run->id, name);
}

/* "2" of a block, "2.1" where a block has several rounds, "burn0". */
static void
add_round(const struct session *s, const struct session_run *run, char *out,
	  size_t size)
{
	if (!run->counted)
		(void)snprintf(out, size, "burn%zu", run->round);
	else if (s->plan->reps > 1)
		(void)snprintf(out, size, "%zu.%zu", run->block, run->rep);
	else
		(void)snprintf(out, size, "%zu", run->block);
}

void
session_name_run(struct session *s, struct session_run *run)
{
	char file[FOLDER_PATH_SIZE], round[48], again[16] = "";

	add_round(s, run, round, sizeof(round));
	if (run->repeat > 0)
		(void)snprintf(again, sizeof(again), ".b%u", run->repeat);
	(void)snprintf(run->id, sizeof(run->id), "%s_%s_%s%s", round,
		       s->plan->pods[run->pod].id, s->tags[run->arm], again);
	session_run_file(run, s->plan->log, file, sizeof(file));
	(void)snprintf(run->log_path, sizeof(run->log_path), "%.2000s/%.2000s",
		       s->setup.path, file);
}

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

/* The arms as the judge wants them, and the words of the schedule. */
static void
init_arms(struct session *s)
{
	s->tags = xcalloc(s->n_arms, sizeof(*s->tags));
	for (size_t i = 0; i < s->n_arms; i++) {
		struct buf tag;

		buf_init(&tag, sizeof(s->tags[i]) - 1);
		plan_arm_tag(s->plan, i, &tag);
		(void)snprintf(s->tags[i], sizeof(s->tags[i]), "%s", tag.data);
		buf_release(&tag);
		s->arms[i] = (struct judge_arm){
			.tag = s->tags[i],
			.aa = i >= s->plan->n_variants,
			.numerics_changed =
				plan_arm(s->plan, i)->numerics_changed,
			.other_noise = !noise_is_shared(s->plan, i),
		};
	}
	for (size_t i = 0; i < s->n_arms; i++)
		declare(s, i);
	s->pod_names = xcalloc(s->plan->n_pods, sizeof(*s->pod_names));
	for (size_t i = 0; i < s->plan->n_pods; i++)
		s->pod_names[i] = s->plan->pods[i].id;
}

/* Rounds of the first pod as words of letters, "AB". */
static void
init_schedule(struct session *s, const unsigned char *order)
{
	size_t n = s->plan->blocks * s->plan->reps, width = s->n_arms + 1;

	s->schedule = xcalloc(n + 1, sizeof(*s->schedule));
	s->schedule_text = xcalloc(n + 1, width);
	for (size_t r = 0; r < n; r++) {
		char *word = s->schedule_text + r * width;

		for (size_t i = 0; i < s->n_arms; i++)
			word[i] = (char)('A' + order[(s->plan->burn_in + r) *
							     s->n_arms +
						     i]);
		s->schedule[r] = word;
	}
}

void
session_runs_init(struct session *s)
{
	const struct plan *plan = s->plan;

	s->n_arms = plan_n_arms(plan);
	s->rounds = plan_n_rounds(plan);
	s->per_pod = s->rounds * s->n_arms;
	s->n_runs = s->per_pod * plan->n_pods;
	s->runs = xcalloc(s->n_runs, sizeof(*s->runs));
	s->judge_runs = xcalloc(s->n_runs, sizeof(*s->judge_runs));
	s->infos = xcalloc(s->n_runs, sizeof(*s->infos));
	init_arms(s);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		unsigned char *order = plan_schedule(plan, pod);

		if (pod == 0)
			init_schedule(s, order);
		for (size_t i = 0; i < s->per_pod; i++) {
			struct session_run *run =
				&s->runs[pod * s->per_pod + i];

			run->pod = pod;
			run->round = i / s->n_arms;
			run->pos = i % s->n_arms;
			run->arm = order[i];
			run->counted = run->round >= plan->burn_in;
			if (run->counted) {
				run->block = (run->round - plan->burn_in) /
					     plan->reps;
				run->fresh = run->block >= plan->blocks;
				run->rep = (run->round - plan->burn_in) %
					   plan->reps;
			}
		}
		free(order);
	}
	session_repeats_read(s);
	for (size_t i = 0; i < s->n_runs; i++) {
		session_name_run(s, &s->runs[i]);
		session_read_record(s, &s->runs[i]);
		if (s->runs[i].recorded)
			session_load_run(s, &s->runs[i]);
	}
}

void
session_runs_release(struct session *s)
{
	if (s->judged)
		judge_release(&s->judge);
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].has_log)
			run_log_release(&s->runs[i].log);
	for (size_t i = 0; i < s->n_arms; i++)
		free(s->declared[i]);
	free(s->runs);
	free(s->repeats);
	free(s->repeat_infos);
	free(s->judge_runs);
	free(s->infos);
	free(s->tags);
	free(s->pod_names);
	free(s->schedule);
	free(s->schedule_text);
}
