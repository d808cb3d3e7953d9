/* SPDX-License-Identifier: MIT */
/* The judgement of a bench under way, and its results as files. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "bench/session_priv.h"

#define MAX_STEPS_BYTES (256U * 1024 * 1024)

/* Has every arm that still runs its run in that round? */
static bool
is_round_complete(const struct session *s, size_t pod, size_t round)
{
	const struct session_run *run =
		&s->runs[pod * s->per_pod + round * s->n_arms];

	for (size_t i = 0; i < s->n_arms; i++)
		if (!run[i].recorded && !s->arm_stopped[run[i].arm])
			return false;
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

void
session_judge_now(struct session *s)
{
	struct judge_rule rule = s->plan->rule;
	size_t n = 0;

	if (s->judged)
		judge_release(&s->judge);
	rule.need = s->plan->min_blocks;
	if (s->setup.noise != NULL)
		s->setup.noise(s->setup.noise_user, &rule);
	for (size_t i = 0; i < s->n_runs; i++) {
		struct session_run *run = &s->runs[i];
		const struct guard_hit *hit = guard_hard(&run->hits);

		if (!run->recorded || !run->counted ||
		    run->end == RUN_END_SKIPPED)
			continue;
		/* An incomplete round counts for nobody, but what broke in
		 * it is known already. */
		if (!is_round_complete(s, run->pod, run->round) && hit == NULL)
			continue;
		s->judge_runs[n] = (struct judge_run){
			.arm = run->arm,
			.pod = run->pod,
			.block = run->block,
			.pos = run->pos,
			.counted = true,
			.state = run->hits.n == 0 ? RUN_STATE_VERIFIED
						  : RUN_STATE_MEASURED,
			.log = run->has_log ? &run->log : NULL,
			.hits = run->hits,
		};
		s->infos[n++] = (struct verdict_run_info){
			.id = run->id,
			.path = run->log_path,
			.rc = run->end == RUN_END_EXITED ? (double)run->rc
							 : (double)NAN,
			.t0 = run->t0[0] != '\0' ? run->t0 : NULL,
			.t1 = run->t1[0] != '\0' ? run->t1 : NULL,
		};
	}
	judge_init(&s->judge, &rule, s->arms, s->n_arms, s->judge_runs, n);
	judge_confirm(&s->judge);
	s->judged = true;
	stop_arms(s);
}

/* One run's steps in the columns of older readers, ours behind them. */
static int
write_steps(struct session *s, const struct judge_run *run, const char *id,
	    struct err *err)
{
	char name[FOLDER_PATH_SIZE];
	struct buf text;
	int result;

	if (run->log == NULL || run->log->n_rows == 0 || run->times.n == 0)
		return 0;
	buf_init(&text, MAX_STEPS_BYTES);
	buf_append_str(&text, "loss,step,throughput,train_time_min,cum_time_s,"
			      "interval_ms,in_window\r\n");
	for (size_t i = 0; i < run->times.n; i++) {
		const struct step_row *row = &run->log->rows[i];
		double t = run->times.t_s[i];

		if (!isnan(row->train_loss))
			buf_appendf(&text, "%.10g", row->train_loss);
		buf_appendf(&text, ",%.0f,", row->step);
		if (!isnan(row->tok_s))
			buf_appendf(&text, "%.10g", row->tok_s);
		buf_appendf(&text, ",%.10g,%.10g,", t / 60.0, t);
		if (i > 0)
			buf_appendf(&text, "%.10g",
				    1000.0 * (t - run->times.t_s[i - 1]) /
					    (row->step - row[-1].step));
		buf_appendf(&text, ",%d\r\n",
			    row->step >= s->judge.lo &&
				    row->step <= s->judge.hi);
	}
	(void)snprintf(name, sizeof(name), "runs/%s/steps.csv", id);
	result = folder_write(s->setup.path, name,
			      (struct str){ text.data, text.len }, err);
	buf_release(&text);
	return result;
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
		result = write_steps(s, &s->judge_runs[i], s->infos[i].id, err);
	return result;
}
