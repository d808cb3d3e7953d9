/* SPDX-License-Identifier: MIT */
/* Drive one pod of a bench: send each command only after the previous answer is complete. */
#include "bench/kernel.h"
#include "bench/make.h"
#include "bench/session_priv.h"
#include "pods/timed.h"

/* Longest pause before a command is sent again. */
#define RETRY_MOST_MS 10000
/* Number of invalid answers in a row after which the worker gives up the pod. */
#define MAX_NONSENSE 5
/* Attempts, within about a minute, to stop the jobs of a pod that is unreachable at the end. */
#define LAST_TRIES 10
/* After its stop_cmd a pod may be gone before it answers. */
#define STOP_TRIES 3
/* Pause before the first query of a run, and between two.  A query waits up to 8 s (AWAIT_S of
 * launch.c), so there is one query per 10 s, which does not disturb the timed run. */
#define POLL_FIRST_MS 200
#define POLL_MS	      2000
/* Retry once per second for an hour while another bench has locked the GPUs or the disk is full. */
#define BUSY_RETRY_MS 1000
#define BUSY_TRIES    3600
/* Pause between two queries for an allocation. */
#define QUEUED_LEAST_MS 2000
#define QUEUED_MOST_MS	30000

/* A command without an answer is reported after this time. */
#define SILENT_MS 10000
/* A wait is reported again after one minute, then after two, four and so on. */
#define NOTE_FIRST_MS (60 * 1000)
#define NOTE_MOST_MS  (30 * 60 * 1000)
/* waits.json is not rewritten if the time of the next try moves by less. */
#define SAME_TRY_MS 900

/* A step: the command, the function for its answer, and what the pod does until it answers. */
struct step {
	enum launch_op op;
	void (*on_reply)(struct worker *worker, const struct launch_reply *reply);
	const char *doing;
};

static const struct step steps[WORKER_ENDED];

static const struct worker_clock any_clock = { -INFINITY, INFINITY };

static const char *pod_id(const struct worker *worker)
{
	return worker->session->plan->pods[worker->pod].id;
}

/* Errors of a connection start with the name of the pod, which the caller prints already. */
static const char *skip_pod_id(const struct worker *worker, const char *why)
{
	size_t len = strlen(pod_id(worker));

	return strncmp(why, pod_id(worker), len) == 0 && strncmp(why + len, ": ", 2) == 0
		       ? why + len + 2
		       : why;
}

/* The Slurm settings of the pod; NULL: it needs no allocation. */
static const struct conf_slurm *get_slurm(const struct worker *worker)
{
	const struct conf_pod *pods = worker->session->setup.pods;
	const struct conf_slurm *slurm = pods != NULL ? &pods[worker->pod].slurm : NULL;

	return slurm != NULL && slurm->is_given ? slurm : NULL;
}

static bool must_stop_pod(const struct worker *worker)
{
	const struct plan *plan = worker->session->plan;

	return get_slurm(worker) != NULL ||
	       (plan->stop_pods && plan->pods[worker->pod].stop_cmd != NULL);
}

void session_write_waits(struct session *s)
{
	struct pod_wait waits[WAITS_MAX];
	struct err err = { ERR_NONE, "" };

	if (s->leaving || s->workers == NULL ||
	    (s->setup.mode != SESSION_RUN && s->setup.mode != SESSION_ABORT))
		return;
	for (size_t i = 0; i < s->plan->n_pods; i++)
		waits[i] = s->workers[i].wait;
	if (waits_write(s->setup.path, waits, s->plan->n_pods, &err) != 0)
		session_note(s, "%s", err.text);
}

static void note_wait(struct worker *worker)
{
	char text[WAIT_TEXT_SIZE];

	wait_text(&worker->wait, clock_wall_ms(), text);
	session_note(worker->session, "%s", text);
}

/* Set the time of the next try: when the worker's timer expires, or later if its link waits. */
static void set_retry(struct worker *worker, int64_t delay_ms)
{
	struct transport *transport = worker->session->setup.transport;
	struct link_info link;

	transport->ops->link_info(transport, worker->pod, &link);
	int64_t left_ms =
		link.state == LINK_WAITING ? link.retry_at_ms - clock_mono_ms() : delay_ms;
	left_ms = left_ms > delay_ms ? left_ms : delay_ms;
	int64_t at_ms = left_ms > 0 ? clock_wall_ms() + left_ms : 0;
	int64_t moved_ms = at_ms - worker->wait.retry_ms;
	if (moved_ms > -SAME_TRY_MS && moved_ms < SAME_TRY_MS)
		return;
	worker->wait.retry_ms = at_ms;
	session_write_waits(worker->session);
}

/* Record that the bench has waited for this pod since age_ms ago.  Returns true if the kind of the
 * wait or its reason is new, so that the caller should report it. */
static bool set_wait(struct worker *worker, enum wait_kind kind, const char *why, int64_t age_ms)
{
	struct pod_wait *wait = &worker->wait;
	bool is_away = kind == WAIT_UNREACHABLE || kind == WAIT_SILENT;
	bool was_away = wait->kind == WAIT_UNREACHABLE || wait->kind == WAIT_SILENT;

	why = skip_pod_id(worker, why);
	if (wait->kind == kind && strncmp(wait->why, why, sizeof(wait->why) - 1) == 0)
		return false;
	/* A pod that is first silent and then unreachable makes the bench wait once. */
	if (wait->kind != kind && !(is_away && was_away)) {
		wait->since_ms = clock_wall_ms() - age_ms;
		worker->note_ms = NOTE_FIRST_MS;
	}
	wait->kind = kind;
	wait->retry_ms = 0;
	print_into(wait->why, "%s", why);
	session_write_waits(worker->session);
	return true;
}

/* End the wait for a pod that has answered.  WAIT_GIVEN_UP is final. */
static void end_wait(struct worker *worker)
{
	struct pod_wait was = worker->wait;
	char text[WAIT_TEXT_SIZE];

	if (was.kind == WAIT_NONE || was.kind == WAIT_GIVEN_UP)
		return;
	worker->wait.kind = WAIT_NONE;
	session_write_waits(worker->session);
	if (worker->step == WORKER_ENDED)
		return;
	wait_end_text(&was, clock_wall_ms(), text);
	session_note(worker->session, "%s", text);
}

void worker_wait_tick(struct worker *worker)
{
	struct transport *transport = worker->session->setup.transport;
	int64_t asked_ms = clock_boot_ms() - worker->sent_ms;
	struct pod_wait *wait = &worker->wait;
	struct link_info link;

	if (worker->step == WORKER_ENDED || worker->step == WORKER_WAIT)
		return;
	if (worker->stream != NULL && asked_ms >= SILENT_MS &&
	    (wait->kind == WAIT_NONE || wait->kind == WAIT_SILENT)) {
		bool is_first = wait->kind == WAIT_NONE;

		transport->ops->link_info(transport, worker->pod, &link);
		(void)set_wait(worker, WAIT_SILENT,
			       link.state == LINK_CONNECTING ? "connecting"
							     : steps[worker->step].doing,
			       asked_ms);
		if (is_first)
			note_wait(worker);
	}
	if (wait->kind == WAIT_UNREACHABLE && worker->stream != NULL)
		set_retry(worker, 0);
	if (wait->kind != WAIT_NONE && clock_wall_ms() - wait->since_ms >= worker->note_ms) {
		note_wait(worker);
		worker->note_ms += worker->note_ms < NOTE_MOST_MS ? worker->note_ms : NOTE_MOST_MS;
	}
}

/* Compare the pod's clock in an answer with this machine's; NAN: the answer has none. */
static void add_clock(struct worker *worker, double pod_up_s)
{
	struct worker_clock *const clocks[] = { &worker->clock, &worker->all };
	double sent_s = (double)worker->sent_ms / 1000.0;
	double received_s = (double)clock_boot_ms() / 1000.0;

	if (isnan(pod_up_s))
		return;
	for (size_t i = 0; i < LENGTH(clocks); i++) {
		clocks[i]->low_s = fmax(clocks[i]->low_s, sent_s - pod_up_s);
		clocks[i]->high_s = fmin(clocks[i]->high_s, received_s - pod_up_s);
	}
	if (worker->first_s == 0.0)
		worker->first_s = received_s;
}

static void set_step(struct worker *worker, enum worker_step step, int64_t delay_ms)
{
	worker->step = step;
	loop_timer_start(worker->timer, delay_ms > 0 ? delay_ms : 1, 0);
}

static void end_worker(struct worker *worker)
{
	double drift_s = worker->all.low_s - worker->all.high_s;
	double minutes = ((double)clock_boot_ms() / 1000.0 - worker->first_s) / 60.0;

	worker->step = WORKER_ENDED;
	loop_timer_stop(worker->timer);
	end_wait(worker);
	if (worker->session->setup.mode == SESSION_RUN && worker->first_s != 0.0 &&
	    isfinite(drift_s) && minutes >= 1.0)
		session_note(
			worker->session,
			drift_s > 0.0
				? "%s: its clock drifted from this machine's by at least %.2f s "
				  "in %.1f minutes"
				: "%s: its clock agreed with this machine's within %.2f s over "
				  "%.1f minutes",
			pod_id(worker), fabs(drift_s), minutes);
	session_on_worker(worker->session);
}

static void note_failure(struct worker *worker, const char *why)
{
	struct session *s = worker->session;
	AUTO_TEXT text =
		xstrdup(skip_pod_id(worker, why)); /* why may be s->why.text, which is set next */

	worker->has_failed = true;
	err_set(&s->why, ERR_REMOTE, "pod %s: %s", pod_id(worker), text);
	session_note(s, "%s: %s", pod_id(worker), text);
	(void)set_wait(worker, WAIT_GIVEN_UP, text, 0);
}

/* Give up the pod, and leave it unchanged: other programs may be using it. */
static void give_up(struct worker *worker, const char *why)
{
	note_failure(worker, why);
	end_worker(worker);
}

/* Fail this pod only.  If the bench used it and stops its pods at the end, stop it now. */
static void fail_worker(struct worker *worker, const char *why)
{
	if (!must_stop_pod(worker) || (!worker->has_started && get_slurm(worker) == NULL) ||
	    worker->session->setup.mode != SESSION_RUN || worker->step == WORKER_STOP ||
	    worker->step == WORKER_ABORT) {
		give_up(worker, why);
		return;
	}
	note_failure(worker, why);
	worker->run = NULL;
	worker->tries = 0;
	set_step(worker, WORKER_STOP, 100);
}

void worker_continue(struct worker *worker, int64_t gap_ms)
{
	struct session *s = worker->session;

	/* Find the next run that must still be made. */
	worker->run = NULL;
	while (s->stopped == NULL && worker->next < s->runs.per_pod) {
		struct bench_run *run = &s->runs.v[worker->pod * s->runs.per_pod + worker->next];

		if (run->fresh && !s->chosen) {
			/* The arms of extra blocks are chosen after all pods' regular blocks. */
			worker->step = WORKER_WAIT;
			loop_timer_stop(worker->timer);
			session_on_worker(s);
			return;
		}
		if (session_is_due(s, run)) {
			worker->run = run;
			break;
		}
		worker->next++;
	}
	set_step(worker, worker->run != NULL ? WORKER_START : WORKER_FINISH, gap_ms);
}

/* Get a value from the answer to the preflight; "": unknown. */
static void get_env(const struct launch_reply *reply, const char *key, char *out, size_t size)
{
	struct str rest = buf_str(&reply->env), line, word;

	out[0] = '\0';
	while (str_next(&rest, '\n', &line))
		if (str_next(&line, ' ', &word) && str_eq_cstr(word, key))
			(void)snprintf(out, size, "%.*s", (int)line.len, line.p);
}

/* Check that the pod has what the plan requires, and the same data as the other pods. */
static bool check_pod(struct worker *worker, const struct launch_reply *reply, char *why,
		      size_t size)
{
	struct session *s = worker->session;
	const struct plan *plan = s->plan;
	char commit[128], data[65], torch[64];

	get_env(reply, "torch", torch, sizeof(torch));
	get_env(reply, "commit", commit, sizeof(commit));
	get_env(reply, "data", data, sizeof(data));
	why[0] = '\0';
	if (plan->data_sha256 != NULL && plan->data.n == 0 && worker->pod == 0)
		session_note(s, "data_sha256 is not checked: workload.data names no files");
	if (bench_probe_needs_torch(plan->command) && torch[0] == '\0')
		(void)snprintf(why, size,
			       "its python3 has no torch, which the GPU probe needs; --probe cpu "
			       "measures only the host");
	else if (plan->commit != NULL && strcmp(commit, plan->commit) != 0)
		(void)snprintf(why, size, "its commit is %.80s, the plan requires %.80s",
			       commit[0] != '\0' ? commit : "unknown", plan->commit);
	else if (plan->data.n == 0)
		return true;
	else if (plan->data_sha256 != NULL && strcmp(data, plan->data_sha256) != 0)
		(void)snprintf(why, size, "its data has the hash %.64s, the plan requires %.64s",
			       data, plan->data_sha256);
	else if (s->data[0] != '\0' && strcmp(s->data, data) != 0)
		(void)snprintf(
			why, size,
			"its data (%.12s..) differs from the data on the other pods (%.12s..)",
			data, s->data);
	else
		print_into(s->data, "%s", data);
	return why[0] == '\0';
}

/* After the preflight: make the copies, lock the clocks, then start the first run. */
static void prepare_pod(struct worker *worker)
{
	const struct plan *plan = worker->session->plan;

	if (plan_needs_copies(plan) && worker->ship_arm < plan->n_variants)
		set_step(worker, WORKER_SHIP, 0);
	else if (worker->step != WORKER_LOCK && plan->pods[worker->pod].lock_clocks != NULL)
		set_step(worker, WORKER_LOCK, 0);
	else
		worker_continue(worker, 0);
}

static void on_preflight(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	char name[128], why[256];

	if (reply->error[0] != '\0') {
		fail_worker(worker, reply->error);
		return;
	}
	get_env(reply, "gpu", why, sizeof(why));
	worker->has_gpu = why[0] != '\0';
	get_env(reply, "stamps", why, sizeof(why));
	if (why[0] != '\0')
		session_note(s, "%s: %s", pod_id(worker), why);
	print_into(name, "env.%s.txt", pod_id(worker));
	if (folder_write(s->setup.path, name, buf_str(&reply->env), &s->why) != 0)
		fail_worker(worker, s->why.text);
	else if (!check_pod(worker, reply, why, sizeof(why)))
		fail_worker(worker, why);
	else
		prepare_pod(worker);
}

static void on_ship(struct worker *worker, const struct launch_reply *reply)
{
	if (!reply->shipped) {
		fail_worker(worker, reply->error[0] != '\0' ? reply->error
							    : "could not copy the working folder");
		return;
	}
	worker->ship_arm++;
	prepare_pod(worker);
}

static void on_lock(struct worker *worker, const struct launch_reply *reply)
{
	if (reply->exit_status != 0)
		fail_worker(worker, "lock_clocks failed");
	else
		prepare_pod(worker);
}

/* The pause after a run; see plan_usual_gap_s. */
static int64_t get_gap_ms(const struct worker *worker, const struct bench_run *run)
{
	const struct plan *plan = worker->session->plan;

	if (isnan(plan->gap_s) && !worker->has_gpu && run->result.up_s < PLAN_SHORT_S)
		return 0;
	return (int64_t)(plan_usual_gap_s(plan) * 1000.0);
}

static void repeat_block(struct worker *worker, const struct bench_run *run, const char *why)
{
	struct session *s = worker->session;
	int64_t gap_ms = get_gap_ms(worker, run);

	worker->run = NULL;
	session_note(s, "%s: repeating block %zu: %s", pod_id(worker), run->block + 1, why);
	worker->next -= run->rep * s->runs.n_arms + run->pos;
	if (bench_runs_repeat(&s->runs, run, why, &s->why) != 0) {
		fail_worker(worker, s->why.text);
		return;
	}
	session_judge_now(s);
	worker_continue(worker, gap_ms);
}

/* Handle the end of the run.  If a problem of the pod affected it, its block is repeated; otherwise
 * its result is recorded.  The next run follows after the gap. */
static void finish_run(struct worker *worker)
{
	struct bench_run *ended[SCHEDULE_MAX_ARMS];
	struct session *s = worker->session;
	struct bench_run *run = worker->run;
	size_t n = 0;
	char why[256];

	worker->run = NULL;
	/* A kernel process has also made the other runs of the round.  Its own run is recorded
	 * last: if hgym-tui is killed before that, the next session fetches the results again. */
	for (size_t i = 1; s->plan->kernel && i < s->runs.n_arms - run->pos; i++)
		if (session_is_due(s, &run[i]))
			ended[n++] = &run[i];
	ended[n++] = run;
	for (size_t i = 0; s->plan->kernel && i < n; i++)
		if (kernel_share(&s->runs, run, ended[i], &s->why) != 0) {
			fail_worker(worker, s->why.text);
			return;
		}
	session_load_run(s, run);
	if (bench_run_needs_repeat(&s->runs, run, why, sizeof(why))) {
		repeat_block(worker, run, why);
		return;
	}
	worker->next++;
	for (size_t i = 0; i < n; i++) {
		if (ended[i] != run)
			session_load_run(s, ended[i]);
		if (bench_run_record(&s->runs, ended[i], &s->why) != 0) {
			fail_worker(worker, s->why.text);
			return;
		}
	}
	for (size_t i = 0; i < n; i++)
		session_on_run(s, ended[i]);
	if (worker->step != WORKER_ENDED)
		worker_continue(worker, get_gap_ms(worker, run));
}

/* Handle a run without a process or exit status: start it once more, as a new job. */
static void on_lost(struct worker *worker)
{
	const char *const names[] = { plan_output(worker->session->plan), "gpu.csv", "host.csv",
				      "stamps" };
	struct session *s = worker->session;
	struct bench_run *run = worker->run;
	char file[FOLDER_PATH_SIZE];

	session_note(s, "%s: run %s was lost (pod restarted, out of memory or of disk, or killed)",
		     pod_id(worker), run->id);
	if (run->attempt > 0) {
		run->end = RUN_END_LOST;
		finish_run(worker);
		return;
	}
	run->attempt++;
	for (size_t i = 0; i < LENGTH(names); i++) {
		bench_run_file(run, names[i], file);
		folder_remove(s->setup.path, file);
	}
	set_step(worker, WORKER_START, 1000);
}

static void store_result(struct worker *worker, const struct launch_reply *reply)
{
	struct bench_run *run = worker->run;

	run->end = RUN_END_EXITED;
	run->result = reply->result;
	/* The run succeeded before the signal reached it, so its log is judged as usual. */
	if (run->result.rc == 0.0 && run->cut[0] != '\0') {
		session_note(worker->session, "%s: run %s had already finished", pod_id(worker),
			     run->id);
		run->cut[0] = '\0';
	}
	run->drift_s = fmax(0.0, worker->clock.low_s - worker->clock.high_s);
}

static void on_state(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	struct bench_run *run = worker->run;
	char log[FOLDER_PATH_SIZE], why[RUN_ID_SIZE + 200];

	bench_run_file(run, plan_output(s->plan), log);
	if (reply->data.len > 0 && folder_append(s->setup.path, log, reply->data, &s->why) != 0) {
		fail_worker(worker, s->why.text);
	} else if (reply->moved[0] != '\0' && run->counted && get_slurm(worker) != NULL) {
		print_into(why, "%s: Slurm ended its allocation (%s)", run->id, reply->moved);
		repeat_block(worker, run, why);
	} else if (reply->moved[0] != '\0' || reply->state == LAUNCH_LOST ||
		   reply->state == LAUNCH_NONE) {
		on_lost(worker);
	} else if (folder_size(s->setup.path, log) < reply->size) {
		set_step(worker, WORKER_WATCH, 0);
	} else if (reply->state == LAUNCH_DONE) {
		/* The log of a run that prints nothing is empty, but it exists. */
		if (reply->size == 0 &&
		    folder_write(s->setup.path, log, (struct str){ "", 0 }, &s->why) != 0) {
			fail_worker(worker, s->why.text);
			return;
		}
		store_result(worker, reply);
		set_step(worker, WORKER_GPU, 0);
	} else if (run->cut[0] == '\0' && reply->data.len > 0 && session_should_cut(s, run)) {
		session_note(s, "%s: stopping run %s early: %s: %s", pod_id(worker), run->id,
			     guard_words[run->cut_by], run->cut);
		set_step(worker, WORKER_CUT, 0);
	} else {
		set_step(worker, WORKER_WATCH,
			 worker->step == WORKER_START ? POLL_FIRST_MS : POLL_MS);
	}
}

static void on_start(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	const struct plan_pod *pod = &s->plan->pods[worker->pod];
	bool is_full = reply->state == LAUNCH_FULL;
	enum wait_kind kind = is_full ? WAIT_FULL : WAIT_BUSY;
	char why[200], log[FOLDER_PATH_SIZE];

	if (reply->foreign[0] != '\0') {
		print_into(why, "other programs use its GPUs (pids %s)", reply->foreign);
		if (get_slurm(worker) != NULL)
			fail_worker(worker, why);
		else
			give_up(worker, why);
		return;
	}
	if (reply->state == LAUNCH_BUSY || is_full) {
		print_into(why, "%s",
			   is_full	     ? "the pod's disk is full"
			   : pod->gpus.n > 0 ? "its GPUs are locked by another bench"
					     : "it is locked by another bench");
		if (worker->wait.kind != kind)
			session_note(s, "%s: %s; waiting", pod_id(worker), why);
		(void)set_wait(worker, kind, why, 0);
		if (++worker->tries > BUSY_TRIES)
			fail_worker(worker, why);
		else
			set_step(worker, WORKER_START, BUSY_RETRY_MS);
		return;
	}
	end_wait(worker);
	worker->tries = 0;
	worker->has_started = true;
	worker->clock = any_clock;
	add_clock(worker, reply->pod_up_s);
	session_note(s, "%s: run %s %s", pod_id(worker), worker->run->id,
		     reply->existed ? "was already started; watching it" : "started");
	bench_run_file(worker->run, plan_output(s->plan), log);
	if (timed_set_log(s->setup.path, pod_id(worker), log, &s->why) != 0)
		fail_worker(worker, s->why.text);
	else
		on_state(worker, reply);
}

static void on_gpu(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	const struct {
		const char *name;
		struct str text;
	} files[] = { { "host.csv", reply->host },
		      { "gpu.csv", reply->data },
		      { "stamps", reply->stamps } };

	for (size_t i = 0; i < LENGTH(files); i++) {
		char file[FOLDER_PATH_SIZE];

		bench_run_file(worker->run, files[i].name, file);
		if (files[i].text.len > 0 &&
		    folder_write(s->setup.path, file, files[i].text, &s->why) != 0) {
			fail_worker(worker, s->why.text);
			return;
		}
	}
	finish_run(worker);
}

static void on_abort(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	char why[400];

	if (reply->left != 0) {
		print_into(why, "processes of the bench are still running: %s",
			   reply->names[0] != '\0' ? reply->names : "?");
		fail_worker(worker, why);
		return;
	}
	if (reply->held[0] != '\0')
		session_note(s, "%s: a lock is still held: %s", pod_id(worker), reply->held);
	if (reply->stray[0] != '\0')
		session_note(s, "%s: still running, and may have been left behind by its runs: %s",
			     pod_id(worker), reply->stray);
	session_note(s, "%s: stopped, no process left", pod_id(worker));
	worker->run = NULL;
	set_step(worker, WORKER_FINISH, 0);
}

static void on_finish(struct worker *worker, UNUSED const struct launch_reply *reply)
{
	if (must_stop_pod(worker))
		set_step(worker, WORKER_STOP, 0);
	else
		end_worker(worker);
}

static void on_stop(struct worker *worker, const struct launch_reply *reply)
{
	char why[80];

	print_into(why, "stop_cmd exited with status %d", reply->exit_status);
	if (get_slurm(worker) != NULL)
		print_into(why, "the allocation is released: squeue lists no job of this bench");
	if (reply->exit_status != 0 && worker->session->setup.mode == SESSION_STOP) {
		give_up(worker, why);
		return;
	}
	session_note(worker->session, "%s: %s", pod_id(worker), why);
	end_worker(worker);
}

static void on_clean(struct worker *worker, const struct launch_reply *reply)
{
	char why[200];

	if (reply->cleaned) {
		session_note(worker->session, "%s: all files of the bench are removed",
			     pod_id(worker));
		end_worker(worker);
		return;
	}
	print_into(why, "still running (%s): abort the bench first", reply->running);
	fail_worker(worker, reply->running[0] != '\0' ? why
			    : reply->error[0] != '\0' ? reply->error
						      : "its files could not be removed");
}

static const struct step steps[WORKER_ENDED] = {
	[WORKER_PREFLIGHT] = { LAUNCH_PREFLIGHT, on_preflight, "hashing its data" },
	[WORKER_SHIP] = { LAUNCH_SHIP, on_ship, "copying the working folder" },
	[WORKER_LOCK] = { LAUNCH_LOCK, on_lock, "running lock_clocks" },
	[WORKER_START] = { LAUNCH_START, on_start, "starting a run" },
	[WORKER_WATCH] = { LAUNCH_STATE, on_state, "querying its run" },
	[WORKER_CUT] = { LAUNCH_CUT, on_state, "stopping a run" },
	[WORKER_GPU] = { LAUNCH_GPU, on_gpu, "fetching telemetry" },
	[WORKER_ABORT] = { LAUNCH_ABORT, on_abort, "stopping its jobs" },
	[WORKER_FINISH] = { LAUNCH_FINISH, on_finish, "releasing its GPUs" },
	[WORKER_STOP] = { LAUNCH_STOP, on_stop, "running stop_cmd" },
	[WORKER_CLEAN] = { LAUNCH_CLEAN, on_clean, "removing its files" },
};

/* Without an allocation, or after its end, query again: less often the longer it takes. */
static void on_queued(struct worker *worker, const char *why)
{
	if (worker->wait.kind != WAIT_QUEUED)
		session_note(worker->session, "%s: waiting for its Slurm allocation: %s",
			     pod_id(worker), why);
	(void)set_wait(worker, WAIT_QUEUED, why, 0);
	int64_t delay_ms = (clock_wall_ms() - worker->wait.since_ms) / 2;
	set_step(worker, worker->step,
		 delay_ms < QUEUED_LEAST_MS  ? QUEUED_LEAST_MS
		 : delay_ms > QUEUED_MOST_MS ? QUEUED_MOST_MS
					     : delay_ms);
	/* The next node has another clock. */
	worker->clock = worker->all = any_clock;
	worker->first_s = 0.0;
}

/* The connection failed, or the answer is invalid: try again later. */
static void on_no_answer(struct worker *worker, const struct stream_exit *exit)
{
	enum err_code code = exit->err.code;
	int64_t delay_ms = 500LL << (worker->tries < 5 ? worker->tries : 5);

	if (code == ERR_CANCELLED) {
		set_step(worker, worker->step, 100);
	} else if (code == ERR_AUTH || code == ERR_HOSTKEY || code == ERR_USAGE ||
		   code == ERR_CONFIG) {
		fail_worker(worker, exit->err.text);
	} else if (code == ERR_NONE && worker->tries >= MAX_NONSENSE) {
		fail_worker(worker,
			    "its shell gives no valid answer; log in to see what it prints");
	} else if (worker->tries >= STOP_TRIES && worker->step == WORKER_STOP) {
		static const char why[] = "unreachable since stop_cmd was sent";

		session_note(worker->session, "%s: %s", pod_id(worker), why);
		(void)set_wait(worker, WAIT_GIVEN_UP, why, 0);
		end_worker(worker);
	} else if (worker->tries >= LAST_TRIES && worker->step >= WORKER_ABORT) {
		fail_worker(worker, "unreachable: jobs may still be running on it");
	} else {
		worker->tries++;
		delay_ms = delay_ms < RETRY_MOST_MS ? delay_ms : RETRY_MOST_MS;
		set_step(worker, worker->step, delay_ms);
		bool is_new = set_wait(worker, WAIT_UNREACHABLE,
				       code != ERR_NONE ? exit->err.text : "invalid answer",
				       clock_boot_ms() - worker->sent_ms);
		set_retry(worker, delay_ms);
		if (is_new)
			note_wait(worker);
	}
}

static size_t worker_on_data(void *user, const void *data, size_t len)
{
	struct worker *worker = user;

	buf_append(&worker->out, data, len);
	return len;
}

static void worker_on_close(void *user, const struct stream_exit *exit)
{
	struct worker *worker = user;
	bool has_slurm = get_slurm(worker) != NULL;
	struct launch_reply reply;

	worker->stream = NULL;
	if (worker->session->leaving || worker->step == WORKER_ENDED)
		return;
	launch_reply_init(&reply, buf_str(&worker->out));
	add_clock(worker, reply.pod_up_s);
	/* The answer of a Slurm step is complete only with the clock at its end. */
	bool is_complete = reply.understood &&
			   (!has_slurm || worker->step >= WORKER_ABORT || reply.error[0] != '\0' ||
			    reply.queued[0] != '\0' || !isnan(reply.pod_up_s));
	if (exit->err.code != ERR_NONE || !is_complete) {
		on_no_answer(worker, exit);
	} else if (reply.queued[0] != '\0' && has_slurm) {
		worker->is_reached = true;
		worker->tries = 0;
		on_queued(worker, reply.queued);
	} else {
		worker->is_reached = true;
		reply.exit_status = exit->status;
		if (worker->wait.kind != WAIT_BUSY && worker->wait.kind != WAIT_FULL)
			end_wait(worker);
		if (worker->step != WORKER_START)
			worker->tries = 0;
		if (reply.error[0] != '\0' && worker->step >= WORKER_START &&
		    worker->step < WORKER_ABORT)
			fail_worker(worker, reply.error);
		else
			steps[worker->step].on_reply(worker, &reply);
	}
	launch_reply_release(&reply);
}

static void worker_on_timer(void *user)
{
	static const struct stream_cb cb = { .on_data = worker_on_data,
					     .on_close = worker_on_close };
	struct worker *worker = user;
	struct session *s = worker->session;
	struct transport *transport = s->setup.transport;
	char job[RUN_ID_SIZE + 16] = "", log[FOLDER_PATH_SIZE];
	const struct bench_run *run = worker->run;
	struct launch l = { .plan = s->plan,
			    .bench = s->setup.id,
			    .pod = worker->pod,
			    .job = job,
			    .slurm = get_slurm(worker),
			    .ask = !worker->is_reached || worker->wait.kind != WAIT_NONE };
	AUTO_BUF script = buf_new(16U * 1024 * 1024);

	if (worker->stream != NULL || worker->step == WORKER_ENDED)
		return;
	if (run != NULL) {
		print_into(job, "%s%s", run->id, run->attempt > 0 ? ".r1" : "");
		bench_run_file(run, plan_output(s->plan), log);
		l.arm = s->plan->kernel ? 0 : run->arm;
		l.offset = folder_size(s->setup.path, log);
	} else if (worker->step == WORKER_SHIP) {
		l.arm = worker->ship_arm;
	}
	buf_clear(&worker->out);
	worker->sent_ms = clock_boot_ms();
	if (launch_script(&script, steps[worker->step].op, &l, &s->why) == 0)
		worker->stream = transport->ops->exec(transport, worker->pod, LAUNCH_COMMAND, &cb,
						      worker, &s->why);
	if (worker->stream == NULL) {
		fail_worker(worker, s->why.text);
	} else if (transport->ops->write(worker->stream, script.data, script.len, &s->why) != 0) {
		transport->ops->cancel(worker->stream);
		fail_worker(worker, s->why.text);
	} else {
		transport->ops->close_stdin(worker->stream);
	}
}

void worker_start(struct worker *worker)
{
	static const enum worker_step first[] = {
		[SESSION_RUN] = WORKER_PREFLIGHT,
		[SESSION_ABORT] = WORKER_ABORT,
		[SESSION_CLEAN] = WORKER_CLEAN,
		[SESSION_STOP] = WORKER_STOP,
	};
	struct session *s = worker->session;
	enum worker_step step = first[s->setup.mode];

	buf_init(&worker->out, LAUNCH_REPLY_CAP);
	print_into(worker->wait.pod, "%s", pod_id(worker));
	worker->clock = worker->all = any_clock;
	worker->timer = loop_timer_new(s->setup.loop, worker_on_timer, worker);
	if (step == WORKER_STOP && get_slurm(worker) == NULL &&
	    s->plan->pods[worker->pod].stop_cmd == NULL)
		step = WORKER_FINISH;
	set_step(worker, step, 0);
}

void worker_stop(struct worker *worker)
{
	struct transport *transport = worker->session->setup.transport;

	if (worker->step == WORKER_ENDED || worker->step == WORKER_ABORT ||
	    worker->step == WORKER_FINISH || worker->step == WORKER_STOP)
		return;
	worker->tries = 0;
	/* The bench has no processes on a pod that has never answered. */
	if (!worker->is_reached && worker->session->setup.mode == SESSION_RUN &&
	    worker->next == 0) {
		fail_worker(worker, "it was never reached");
		return;
	}
	/* The answer of a command in flight is not needed any more. */
	if (worker->stream != NULL) {
		worker->step = WORKER_ABORT;
		transport->ops->cancel(worker->stream);
	}
	set_step(worker, WORKER_ABORT, 100);
}
