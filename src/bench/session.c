/* SPDX-License-Identifier: MIT */
/* A bench in progress: judge each run that has ended, and decide when the bench stops. */
#include "bench/session.h"

#include "base/file.h"
#include "base/utf8.h"
#include "bench/kernel.h"
#include "bench/noise.h"
#include "bench/session_priv.h"

/* The shortest run that wall_s can time: ten ticks of the pod's clock. */
#define WALL_MIN_S 0.1
#define TICK_MS	   1000
#define MAX_OUTPUT (1024U * 1024)

void session_note(struct session *s, const char *fmt, ...)
{
	AUTO_BUF raw = buf_new(2048);
	AUTO_BUF clean = buf_new(8192);

	if (s->cb.on_note == NULL)
		return;
	buf_append_args(&raw, fmt);
	utf8_sanitize(&clean, buf_str(&raw));
	s->cb.on_note(s->cb.user, clean.data);
}

/* Duration in ms: by the wall clock up to this session, then by the boot clock. */
static int64_t elapsed_ms(const struct session *s)
{
	int64_t before = s->wall0_ms - s->state.started_ms;

	return (before > 0 ? before : 0) + clock_boot_ms() - s->boot0_ms;
}

/* Money spent until now; NAN if no pod has a price. */
static double session_cost(const struct session *s)
{
	if (s->setup.loop == NULL || s->state.ended_ms > 0)
		return s->state.cost_usd;
	return plan_n_unpriced(s->plan) == s->plan->n_pods
		       ? (double)NAN
		       : (double)elapsed_ms(s) / 3.6e6 * plan_usd_per_h(s->plan);
}

/* Is this run judged?  In incomplete blocks only if it failed a hard check. */
static bool is_judged(const struct session *s, const struct bench_run *run)
{
	size_t first = run->pod * s->runs.per_pod + (run->round - run->rep) * s->runs.n_arms;

	/* The first burn-in run of each arm is compared with the arm's other runs. */
	if (!run->counted)
		return run->round == 0 && run->end == RUN_END_EXITED &&
		       (run->arm != 0 || run->pos == 0);
	if (run->end == RUN_END_NONE)
		return false;
	if (guard_hard(&run->hits) != NULL)
		return true;
	array_each (other, &s->runs.v[first], s->runs.n_arms * s->plan->reps) {
		bool is_planned = !other->fresh || s->in_fresh[other->arm];

		if (other->end == RUN_END_NONE && is_planned && !s->arm_stopped[other->arm])
			return false;
	}
	return true;
}

/* Stop the arms that became INVALID. True if there are any: more blocks may be complete then. */
static bool stop_invalid_arms(struct session *s)
{
	bool any = false;

	array_each (c, s->judge.contrasts, s->judge.n_contrasts) {
		if (c->verdict.word != VERDICT_INVALID || s->arm_stopped[c->arm])
			continue;
		s->arm_stopped[c->arm] = any = true;
		if (s->setup.mode == SESSION_RUN)
			session_note(s, "%s: %s; this variant is not run again",
				     s->arms[c->arm].tag, c->verdict.text);
	}
	return any;
}

/* Convert a run to the judge's form, which borrows from it. */
static struct judge_run to_judge(const struct session *s, const struct bench_run *run)
{
	const struct guard_hits *hits = &run->hits;
	/* These three are warnings about the pod, and do not make the value doubtful. */
	bool is_clean =
		all_of(i, hits->n,
		       hits->hit[i].guard == GUARD_LOAD || hits->hit[i].guard == GUARD_HOST_BOUND ||
			       hits->hit[i].guard == GUARD_BUFFERED);

	return (struct judge_run){
		.arm = run->arm,
		.pod = run->pod,
		.block = run->block,
		.rep = run->rep,
		.fresh = run->fresh,
		/* A kernel bench times all arms together, so their order has no effect. */
		.pos = s->plan->kernel ? 0 : run->pos,
		.counted = run->counted,
		.name = run->id,
		.path = run->has_log ? run->log.path : NULL,
		.t0 = run->t0[0] != '\0' ? run->t0 : NULL,
		.t1 = run->t1[0] != '\0' ? run->t1 : NULL,
		.rc = run->result.rc,
		.drift_s = run->drift_s,
		.runtime = run->result.runtime[0] != '\0' ? run->result.runtime : NULL,
		.health = run->has_health ? &run->health : NULL,
		.state = is_clean ? RUN_STATE_VERIFIED : RUN_STATE_MEASURED,
		.log = run->has_log ? &run->log : NULL,
		.hits = run->hits,
	};
}

void session_judge_now(struct session *s)
{
	const char *stopped = s->stopped != NULL ? s->stopped : s->state.stopped;
	struct judge_rule rule = s->plan->rule;
	size_t n;

	rule.need = s->plan->min_blocks;
	rule.looks = plan_looks(s->plan);
	/* A user may have aborted the bench because of its numbers: that is an interim look. */
	rule.over = stopped[0] != '\0' && strcmp(stopped, "aborted") != 0;
	if (s->setup.noise != NULL)
		s->setup.noise(s->setup.noise_user, &rule);
	do {
		judge_release(&s->judge);
		n = 0;
		for (size_t i = 0; i < s->runs.n; i++)
			if (is_judged(s, &s->runs.v[i]))
				s->judge_runs[n++] = to_judge(s, &s->runs.v[i]);
		judge_init(&s->judge, &rule, s->arms, s->runs.n_arms, s->judge_runs, n);
		judge_confirm(&s->judge);
	} while (stop_invalid_arms(s));
}

/* Make a log that contains one metric of the run as its score. */
static int make_score_log(const struct session *s, struct run_log *log, const struct bench_run *run,
			  const char *key)
{
	const struct run_log_rule rule = {
		.formats = s->setup.formats, .force = true, .kind = RUN_LOG_SCORE, .score_key = key
	};
	AUTO_JSON row = run->log.kind != RUN_LOG_SCORE ? run_to_json(&run->log.run) : NULL;
	double value = strcmp(key, "wall_s") == 0 ? run->result.up_s
		       : strcmp(key, "val_loss") == 0
			       ? run->log.val_loss
			       : json_get_number(row != NULL ? row : run->log.score.root, key,
						 (double)NAN);
	AUTO_JSON root = json_new(JNUM(key, value), JTEXT("run", run->id));
	AUTO_BUF text = buf_new(4096);

	json_print(&text, root);
	return run_log_parse(log, run->id, buf_str(&text), &rule, NULL);
}

static cJSON *judge_metric(const struct session *s, const char *key)
{
	AUTO_FREE struct run_log *logs = xcalloc(s->runs.n, sizeof(*logs));
	AUTO_FREE struct judge_run *runs = xcalloc(s->runs.n, sizeof(*runs));
	struct judge_rule rule = s->judge.rule;
	struct judge judge;
	size_t n = 0;

	rule.higher = bench_metric_is_rate(key);
	rule.register_sd = (double)NAN;
	array_each (run, s->runs.v, s->runs.n) {
		if (!is_judged(s, run) || !run->has_log ||
		    make_score_log(s, &logs[n], run, key) != 0)
			continue;
		runs[n] = to_judge(s, run);
		runs[n].log = &logs[n];
		n++;
	}
	judge_init(&judge, &rule, s->arms, s->runs.n_arms, runs, n);
	cJSON *root = verdict_to_json(
		&judge, &(struct verdict_info){ .metric = key, .cost_usd = (double)NAN });
	judge_release(&judge);
	for (size_t i = 0; i < n; i++)
		run_log_release(&logs[i]);
	return root;
}

static cJSON *make_verdict(const struct session *s)
{
	const struct verdict_info info = {
		.plan = s->plan,
		.metric = s->plan->key,
		.repeats = s->runs.repeats,
		.n_repeats = s->runs.n_repeats,
		.cost_usd = session_cost(s),
		.stopped = s->stopped != NULL		 ? s->stopped
			   : s->state.stopped[0] != '\0' ? s->state.stopped
							 : NULL,
	};
	cJSON *root = verdict_to_json(&s->judge, &info);

	if (s->plan->also.n > 0) {
		static const char *const keys[] = { "metric", "higher_is_better", "arms",
						    "contrasts" };
		cJSON *array = cJSON_AddArrayToObject(root, "metrics");

		for (size_t i = 0; i < s->plan->also.n; i++) {
			AUTO_JSON all = judge_metric(s, s->plan->also.v[i]);
			cJSON *row = cJSON_CreateObject();

			for (size_t k = 0; k < LENGTH(keys); k++)
				cJSON_AddItemToObject(
					row, keys[k],
					cJSON_DetachItemFromObjectCaseSensitive(all, keys[k]));
			cJSON_AddItemToArray(array, row);
		}
	}
	if (s->plan->kernel)
		cJSON_AddItemToObject(root, "kernels", kernel_json(&s->runs));
	return root;
}

static int write_results(struct session *s, struct err *err)
{
	AUTO_JSON verdict = make_verdict(s);
	AUTO_JSON summary = verdict_summary_json(&s->judge);
	int result = folder_write_json(s->setup.path, "verdict.json", verdict, err);

	if (result == 0 && s->judge.training)
		result = folder_write_json(s->setup.path, "summary.json", summary, err);
	for (size_t i = 0; result == 0 && i < s->judge.n_runs; i++)
		if (s->judge_runs[i].counted)
			result = session_write_steps(s, &s->judge_runs[i], err);
	return result;
}

/* Stop the bench: start no more runs, and let every pod release its locks. */
static void stop_all(struct session *s, const char *reason, const char *text)
{
	if (s->stopped != NULL)
		return;
	s->stopped = reason;
	session_note(s, "stopping: %s", text);
	for (size_t i = 0; i < s->plan->n_pods; i++)
		worker_stop(&s->workers[i]);
}

/* Does every variant have a verdict that more blocks would not change? */
static bool are_all_decided(const struct session *s)
{
	struct looks looks = plan_looks(s->plan);
	size_t open = 0, variants = 0;

	array_each (c, s->judge.contrasts, s->judge.n_contrasts) {
		if (s->arms[c->arm].aa)
			continue;
		variants++;
		if (s->arm_stopped[c->arm])
			continue;
		enum interim interim = multi_interim(&c->paired, c->n_blocks, c->level, &looks,
						     &s->plan->rule.paired);
		/* After the last block, the bench ends by itself. */
		if (interim == INTERIM_GO_ON || interim == INTERIM_LAST)
			open++;
	}
	return variants > 0 && open == 0;
}

/* Report a run that has ended, and the time that the remaining runs need. */
static void note_run(struct session *s, const struct bench_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);
	AUTO_FREE bool *due = xcalloc(s->runs.n, sizeof(*due));
	double usd_per_h = plan_usd_per_h(s->plan);
	size_t n_due = 0, n_ended = 0;
	AUTO_BUF left = buf_new(128);

	if (hit != NULL) {
		session_note(s, "%s: run %s: %s: %s", s->plan->pods[run->pod].id, run->id,
			     guard_words[hit->guard], hit->text);
		return;
	}
	for (size_t i = 0; i < s->runs.n; i++) {
		due[i] = session_is_due(s, &s->runs.v[i]);
		n_due += due[i] ? 1 : 0;
		n_ended += s->runs.v[i].end != RUN_END_NONE ? 1 : 0;
	}
	buf_appendf(&left, "%zu of %zu", n_ended, n_ended + n_due);
	double left_s = bench_runs_left_s(&s->runs, due);
	if (left_s > 0.0) {
		buf_append_str(&left,
			       s->plan->early != LOOKS_NONE ? "; at most about " : "; about ");
		if (left_s < 120.0)
			buf_appendf(&left, "%.0f s", left_s);
		else
			buf_appendf(&left, "%.1f minutes", left_s / 60.0);
		if (usd_per_h > 0.0)
			buf_appendf(&left, " and %.2f USD", usd_per_h * left_s / 3600.0);
		buf_append_str(&left, " left");
	}
	session_note(s, "%s: run %s has finished%s (%s)", s->plan->pods[run->pod].id, run->id,
		     run->counted ? "" : ", burn-in, not judged", left.data);
}

static size_t count_blocks(const struct session *s)
{
	size_t n = 0;

	array_each (c, s->judge.contrasts, s->judge.n_contrasts)
		n += c->n_blocks;
	return n;
}

static bool is_first_of_control(const struct session *s, const struct bench_run *run)
{
	const struct plan_variant *control = plan_arm(s->plan, 0);

	return plan_arm(s->plan, run->arm) == control && run->end == RUN_END_EXITED &&
	       !array_any(other, s->runs.v, s->runs.n,
			  other != run && other->end != RUN_END_NONE &&
				  plan_arm(s->plan, other->arm) == control);
}

/* Describe why a run has no value, and what it printed instead. */
static void describe_output(const struct session *s, const struct bench_run *run,
			    const char *reason, struct buf *out)
{
	char path[FOLDER_PATH_SIZE];
	AUTO_BUF text = buf_new(MAX_OUTPUT), last = buf_new(80);
	struct str line;
	size_t n = 0;

	bench_run_path(&s->runs, run, s->plan->log, path);
	if (file_read(path, &text, NULL) != 0)
		buf_clear(&text);
	for (struct str rest = buf_str(&text); str_next(&rest, '\n', &line);)
		n += str_trim(line).len > 0 ? 1 : 0;
	if (n == 0) {
		buf_appendf(out, "it printed nothing (%s)", path);
		return;
	}
	utf8_sanitize(&last, str_last_line(buf_str(&text)));
	buf_appendf(out, "%.140s%s%zu line%s of output in %s, the last one \"%s\"", reason,
		    reason[0] != '\0' ? "; " : "", n, n == 1 ? "" : "s", path, last.data);
}

/* Check that the control's first run has a value; -1 with the reason in `why` if not. */
static int check_value(const struct session *s, const struct bench_run *run, struct err *why)
{
	enum run_log_kind kind = bench_metric_find(s->plan->key)->kind;
	struct judge_run one = to_judge(s, run);
	AUTO_BUF output = buf_new(MAX_OUTPUT);
	struct judge judge;

	one.arm = 0;
	one.counted = true;
	judge_init(&judge, &s->plan->rule, s->arms, s->runs.n_arms, &one, 1);
	judge_release(&judge);
	const struct guard_hit *hit = guard_hard(&one.hits);
	if (kind == RUN_LOG_WALL && run->result.rc == 0.0 && run->result.up_s < WALL_MIN_S)
		return err_set(
			why, ERR_CHECK,
			"the first run (%s) took %.2f s, too short to time: the pod's clock "
			"advances by 0.01 s; let the command repeat its work for at least %g s",
			s->arms[run->arm].tag, run->result.up_s, WALL_MIN_S);
	if (one.y > 0.0 && !(hit != NULL && hit->guard == GUARD_EXIT))
		return 0;
	const char *reason = hit != NULL ? hit->text : "no value";
	if (run->result.rc != 0.0)
		reason = "";
	else if (kind == RUN_LOG_TRAINING && run->has_log && run->log.n_rows == 0)
		reason = "it printed no training rows (formats learn makes rules for new ones)";
	describe_output(s, run, reason, &output);
	if (run->result.rc != 0.0)
		return err_set(why, ERR_CHECK,
			       "the first run (%s) failed with exit status %.0f: %.380s",
			       s->arms[run->arm].tag, run->result.rc, output.data);
	return err_set(why, ERR_CHECK, "the first run (%s) has no value of \"%.60s\": %.300s%s",
		       s->arms[run->arm].tag, s->plan->key, output.data,
		       s->plan->kernel || kind == RUN_LOG_WALL
			       ? ""
			       : "; to compare wall-clock seconds use --metric wall_s");
}

void session_on_run(struct session *s, struct bench_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);
	size_t before = count_blocks(s);
	/* An audit has no variants: the A/A arm takes their place. */
	size_t n_arms = s->plan->n_variants > 1 ? s->plan->n_variants : s->runs.n_arms;

	note_run(s, run);
	if (is_first_of_control(s, run) && check_value(s, run, &s->why) != 0) {
		s->has_no_value = true;
		stop_all(s, SESSION_NO_VALUE, "the first run has no value of the metric");
		return;
	}
	if (!run->counted)
		return;
	session_judge_now(s);
	bool has_new_block = count_blocks(s) > before;
	array_each (c, s->judge.contrasts, has_new_block ? s->judge.n_contrasts : 0)
		session_note(s, "after %zu block%s: %s: %s", c->n_blocks,
			     c->n_blocks == 1 ? "" : "s", s->arms[c->arm].tag, c->verdict.text);
	if ((has_new_block || hit != NULL) && write_results(s, &s->why) != 0)
		session_note(s, "%s", s->why.text);
	if (run->arm == 0 && hit != NULL && hit->guard == GUARD_EXIT)
		stop_all(s, "guard", "the control has failed");
	else if (all_of(i, n_arms - 1, s->arm_stopped[i + 1]))
		stop_all(s, "guard", "all variants are invalid");
	else if (has_new_block && s->plan->confirm > 0)
		s->ended_early |= are_all_decided(s);
	else if (has_new_block && are_all_decided(s))
		stop_all(s, "early", "every variant has its verdict");
}

static void end_session(struct session *s, bool failed)
{
	enum session_end end = failed ? SESSION_FAILED : SESSION_DONE;
	struct err err = s->why;

	if (s->setup.mode == SESSION_CLEAN || s->setup.mode == SESSION_STOP) {
		s->cb.on_end(s->cb.user, end, failed ? &err : NULL);
		return;
	}
	if (s->stopped == NULL)
		s->stopped = "n_max";
	s->state.cost_usd = session_cost(s);
	s->state.ended_ms = s->state.started_ms + elapsed_ms(s);
	print_into(s->state.state, "%s",
		   failed				? "failed"
		   : strcmp(s->stopped, "aborted") == 0 ? "aborted"
							: "done");
	print_into(s->state.stopped, "%s", s->stopped);
	session_judge_now(s);
	if (write_results(s, &err) != 0 || folder_write_state(s->setup.path, &s->state, &err) != 0)
		end = SESSION_FAILED;
	s->cb.on_end(s->cb.user, end, end == SESSION_FAILED ? &err : NULL);
}

bool session_is_due(const struct session *s, const struct bench_run *run)
{
	if (run->end != RUN_END_NONE || s->arm_stopped[run->arm])
		return false;
	return run->fresh ? s->in_fresh[run->arm] : !s->ended_early && !s->chosen;
}

/* Choose the arms of the extra blocks: the best variant, the runner-up and the control.  The
 * apparent best of several looks better than it is, so it is compared again in blocks that had no
 * part in the choice.  Returns false if no variant is clearly the best. */
static bool choose_arms(struct session *s)
{
	const struct judge_best *best = &s->judge.best;

	s->chosen = true;
	if (best->state < BEST_LEADS)
		return false;
	s->in_fresh[0] = true;
	s->in_fresh[best->arm] = true;
	s->in_fresh[best->rival] = true;
	return true;
}

/* Judge the folder's runs. A bench that was interrupted in its extra blocks continues with them. */
static void judge_folder(struct session *s)
{
	bool any = false;

	session_judge_now(s);
	for (size_t i = 0; i < s->runs.n; i++)
		if (s->runs.v[i].fresh && s->runs.v[i].end != RUN_END_NONE)
			any = s->in_fresh[s->runs.v[i].arm] = true;
	s->ended_early = s->plan->confirm > 0 && (any || are_all_decided(s));
	if (any) {
		(void)choose_arms(s);
		session_judge_now(s);
	}
}

void session_on_worker(struct session *s)
{
	size_t failed = 0, waiting = 0;

	for (size_t i = 0; i < s->plan->n_pods; i++) {
		if (s->workers[i].step != WORKER_ENDED && s->workers[i].step != WORKER_WAIT)
			return;
		waiting += s->workers[i].step == WORKER_WAIT ? 1 : 0;
		failed += s->workers[i].has_failed ? 1 : 0;
	}
	if (waiting > 0 && !s->chosen && s->stopped == NULL && s->plan->confirm > 0) {
		if (choose_arms(s))
			session_note(s, "%s leads: confirming it in extra blocks against %s and %s",
				     s->arms[s->judge.best.arm].tag,
				     s->arms[s->judge.best.rival].tag, s->arms[0].tag);
		else
			session_note(s, "no variant is clearly the best: nothing to confirm");
		for (size_t i = 0; i < s->plan->n_pods; i++)
			if (s->workers[i].step == WORKER_WAIT)
				worker_continue(&s->workers[i], 1);
	}
	if (waiting > 0 || s->ended || s->leaving)
		return;
	s->ended = true;
	loop_timer_stop(s->tick);
	end_session(s, s->has_no_value || (s->setup.mode == SESSION_RUN ? failed == s->plan->n_pods
									: failed > 0));
}

/* Once per second: report waits, check the budget, and look for a request to abort. */
static void session_on_tick(void *user)
{
	struct session *s = user;
	double minutes = (double)elapsed_ms(s) / 60000.0;

	for (size_t i = 0; i < s->plan->n_pods; i++)
		worker_wait_tick(&s->workers[i]);
	if (s->setup.mode != SESSION_RUN)
		return;
	if (folder_size(s->setup.path, "abort") > 0)
		stop_all(s, "aborted", "bench abort was called");
	else if (minutes > s->plan->minutes || session_cost(s) > s->plan->usd ||
		 (s->plan->deadline_ms > 0 && clock_wall_ms() > s->plan->deadline_ms))
		stop_all(s, "budget", "the budget is used up");
}

/* Create a session without pods or a loop, and read the runs of the folder. */
static struct session *make_session(const struct session_setup *setup)
{
	const struct plan_variant *control = plan_arm(setup->plan, 0);
	struct session *s = xcalloc(1, sizeof(*s));

	s->setup = *setup;
	s->plan = setup->plan;
	(void)folder_read_state(setup->path, &s->state);
	bench_runs_init(&s->runs, s->plan, setup->path);
	const char *command = s->plan->kernel ? "" : s->plan->command;
	/* Arms declare their settings; one that changes only variables declares all changes. */
	for (size_t arm = 0; arm < s->runs.n_arms; arm++) {
		const struct plan_variant *v = plan_arm(s->plan, arm);
		const char **names =
			xcalloc(v->env.n + control->env.n + v->declares.n + 1, sizeof(*names));
		size_t n = 0;

		for (size_t i = 0; i < v->env.n; i++)
			names[n++] = v->env.v[i].name;
		for (size_t i = 0; i < control->env.n; i++)
			names[n++] = control->env.v[i].name;
		for (size_t i = 0; i < v->declares.n; i++)
			names[n++] = v->declares.v[i];
		s->declared[arm] = names;
		bool same_files = v->patch == NULL && v->files.n == 0 && control->patch == NULL &&
				  control->files.n == 0;
		s->arms[arm] = (struct judge_arm){
			.tag = s->runs.tags[arm],
			.aa = arm >= s->plan->n_variants,
			.is_control_again =
				same_files && n == 0 && !s->plan->kernel &&
				strcmp(v->command != NULL ? v->command : command,
				       control->command != NULL ? control->command : command) == 0,
			.numerics_changed = v->numerics_changed,
			.other_noise = !noise_is_shared(s->plan, arm),
			.declared = names,
			.n_declared = n,
			.declares_all =
				same_files && v->command == NULL && control->command == NULL,
		};
	}
	for (size_t i = 0; i < s->runs.n; i++)
		session_load_run(s, &s->runs.v[i]);
	s->judge_runs = xcalloc(s->runs.n, sizeof(*s->judge_runs));
	return s;
}

cJSON *session_verdict(const struct session_setup *setup)
{
	struct session *s = make_session(setup);

	judge_folder(s);
	cJSON *verdict = make_verdict(s);
	session_free(s);
	return verdict;
}

int session_judge_folder(const struct session_setup *setup, struct err *err)
{
	struct session *s = make_session(setup);

	judge_folder(s);
	int result = write_results(s, err);
	session_free(s);
	return result;
}

struct session *session_new(const struct session_setup *setup, const struct session_cb *cb)
{
	struct session *s = make_session(setup);

	s->cb = *cb;
	s->wall0_ms = clock_wall_ms();
	s->boot0_ms = clock_boot_ms();
	if (s->state.started_ms == 0)
		s->state.started_ms = s->wall0_ms;
	if (setup->mode == SESSION_RUN || setup->mode == SESSION_ABORT)
		s->state.ended_ms = 0;
	if (setup->mode == SESSION_ABORT)
		s->stopped = "aborted";
	s->state.stopped[0] = '\0';
	print_into(s->state.name, "%s", s->plan->name);
	print_into(s->state.state, "running");
	judge_folder(s);
	s->workers = xcalloc(s->plan->n_pods, sizeof(*s->workers));
	for (size_t i = 0; i < s->plan->n_pods; i++) {
		s->workers[i].session = s;
		s->workers[i].pod = i;
		worker_start(&s->workers[i]);
	}
	session_write_waits(s);
	if (setup->mode == SESSION_RUN && folder_write_state(setup->path, &s->state, &s->why) != 0)
		session_note(s, "%s", s->why.text);
	s->tick = loop_timer_new(setup->loop, session_on_tick, s);
	loop_timer_start(s->tick, TICK_MS, TICK_MS);
	return s;
}

void session_leave(struct session *s)
{
	if (s->leaving || s->ended)
		return;
	s->leaving = true;
	s->cb.on_end(s->cb.user, SESSION_LEFT, NULL);
}

void session_free(struct session *s)
{
	if (s == NULL)
		return;
	s->leaving = true;
	array_each (worker, s->workers, s->plan->n_pods) {
		loop_timer_close(worker->timer);
		buf_release(&worker->out);
	}
	if (s->tick != NULL)
		loop_timer_close(s->tick);
	free(s->workers);
	judge_release(&s->judge);
	free(s->judge_runs);
	for (size_t i = 0; i < s->runs.n_arms; i++)
		free((void *)s->declared[i]);
	bench_runs_release(&s->runs);
	free(s);
}
