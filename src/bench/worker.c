/* SPDX-License-Identifier: MIT */
/*
 * One pod of a bench: one command after the other, each answered in full
 * before the next is sent; called by session.c and by the loop.
 */
#include <stdio.h>

#include "base/xalloc.h"
#include "bench/kernel.h"
#include "bench/make.h"
#include "bench/session_priv.h"
#include "pods/timed.h"

#define RETRY_MOST_MS 10000
/* Answers that make no sense, in a row, before the pod is given up. */
#define MAX_NONSENSE 5
/* A pod that is gone when the bench ends is asked so often (a minute). */
#define LAST_TRIES 10
/* One that is told to stop may well be gone before it answers. */
#define STOP_TRIES 3
/* To the first look at a run, and between others, which last 8 s: a read in
 * 10 s (AWAIT_S of launch.c) disturbs nothing that is timed. */
#define POLL_FIRST_MS 200
#define POLL_MS	      2000
#define BUSY_RETRY_MS 1000
/* How often an allocation is asked for. */
#define QUEUED_LEAST_MS 2000
#define QUEUED_MOST_MS	30000
/* A pod whose GPUs are taken is asked again for this long. */
#define BUSY_TRIES 3600

/* A command without an answer is told of after this long. */
#define SILENT_MS 10000
/* A pod that stays away is told of again after a minute, then two, four .. */
#define TELL_FIRST_MS (60 * 1000)
#define TELL_MOST_MS  (30 * 60 * 1000)
/* A next try that moves by less is the same one. */
#define SAME_TRY_MS 900

/* What a worker sends at a step, and what it does with the answer. */
struct step {
	enum launch_op op;
	void (*on_reply)(struct worker *worker, const struct launch_reply *reply);
};

static const struct worker_clock any_clock = { -INFINITY, INFINITY };

static const char *worker_pod_id(const struct worker *worker)
{
	return worker->session->plan->pods[worker->pod].id;
}

/* The allocation that it needs, or NULL. */
static const struct conf_slurm *worker_slurm(const struct worker *worker)
{
	const struct conf_pod *pods = worker->session->setup.pods;
	const struct conf_slurm *slurm = pods != NULL ? &pods[worker->pod].slurm : NULL;

	return slurm != NULL && slurm->is_given ? slurm : NULL;
}

/* Is it stopped when its part is over? */
static bool worker_stops(const struct worker *worker)
{
	const struct plan *plan = worker->session->plan;

	return worker_slurm(worker) != NULL ||
	       (plan->stop_pods && plan->pods[worker->pod].stop_cmd != NULL);
}

/* With the pod's name. */
static struct pod_wait wait_of(const struct worker *worker)
{
	struct pod_wait wait = worker->wait;

	print_into(wait.pod, "%s", worker_pod_id(worker));
	return wait;
}

void session_tell_waits(struct session *s)
{
	struct pod_wait waits[WAITS_MAX];
	struct err err = { ERR_NONE, "" };

	if (s->leaving || s->workers == NULL ||
	    (s->setup.mode != SESSION_RUN && s->setup.mode != SESSION_ABORT))
		return;
	for (size_t i = 0; i < s->plan->n_pods; i++)
		waits[i] = wait_of(&s->workers[i]);
	if (waits_write(s->setup.path, waits, s->plan->n_pods, &err) != 0)
		session_note(s, "%s", err.text);
}

static void tell_note(struct worker *worker)
{
	struct pod_wait wait = wait_of(worker);
	char text[WAIT_TEXT_SIZE];

	wait_text(&wait, clock_wall_ms(), text);
	session_note(worker->session, "%s", text);
}

/* When it is tried again: by the worker's own timer, or by the link's. */
static int64_t retry_at(const struct worker *worker, int64_t delay_ms)
{
	struct transport *transport = worker->session->setup.transport;
	int64_t left_ms, now_ms = clock_mono_ms();
	struct link_info link;

	transport->ops->link_info(transport, worker->pod, &link);
	left_ms = link.state == LINK_WAITING ? link.retry_at_ms - now_ms : 0;
	if (left_ms < delay_ms)
		left_ms = delay_ms;
	return left_ms > 0 ? clock_wall_ms() + left_ms : 0;
}

static void set_retry(struct worker *worker, int64_t delay_ms)
{
	int64_t at = retry_at(worker, delay_ms), moved = at - worker->wait.retry_ms;

	if (moved > -SAME_TRY_MS && moved < SAME_TRY_MS)
		return;
	worker->wait.retry_ms = at;
	session_tell_waits(worker->session);
}

/* The fleet's words begin with the pod's name. */
static const char *without_pod(const struct worker *worker, const char *why)
{
	const char *id = worker_pod_id(worker);
	size_t len = strlen(id);

	return strncmp(why, id, len) == 0 && strncmp(why + len, ": ", 2) == 0 ? why + len + 2 : why;
}

/* Since so long (ms) it waits; a note is the caller's to make. */
static void worker_wait_for(struct worker *worker, enum wait_kind kind, const char *text,
			    int64_t since_ms)
{
	struct pod_wait *wait = &worker->wait;
	const char *why = without_pod(worker, text);
	bool same = wait->kind == kind && strcmp(wait->why, why) == 0;
	bool away = kind == WAIT_UNREACHABLE || kind == WAIT_SILENT;
	bool was_away = wait->kind == WAIT_UNREACHABLE || wait->kind == WAIT_SILENT;

	if (same)
		return;
	/* Silent, then refused: it was gone from the first of them on. */
	if (wait->kind != kind && !(away && was_away)) {
		wait->since_ms = clock_wall_ms() - since_ms;
		worker->tell_ms = TELL_FIRST_MS;
	}
	wait->kind = kind;
	wait->retry_ms = 0;
	print_into(wait->why, "%s", why);
	session_tell_waits(worker->session);
}

/* The way to it failed; the worker tries again after delay_ms. */
static void worker_wait_unreachable(struct worker *worker, const char *why, int64_t delay_ms)
{
	bool known = worker->wait.kind == WAIT_UNREACHABLE &&
		     strcmp(worker->wait.why, without_pod(worker, why)) == 0;

	worker_wait_for(worker, WAIT_UNREACHABLE, why, clock_boot_ms() - worker->sent_ms);
	set_retry(worker, delay_ms);
	if (!known)
		tell_note(worker);
}

/* It answered; what was given up stays so. */
static void worker_wait_over(struct worker *worker)
{
	struct pod_wait was = wait_of(worker);
	char text[WAIT_TEXT_SIZE];

	if (was.kind == WAIT_NONE || was.kind == WAIT_GIVEN_UP)
		return;
	worker->wait = (struct pod_wait){ .kind = WAIT_NONE };
	session_tell_waits(worker->session);
	if (worker->step == WORKER_ENDED)
		return;
	wait_text_over(&was, clock_wall_ms(), text);
	session_note(worker->session, "%s", text);
}

/* What it was told to do when it fell silent. */
static void silent_words(const struct worker *worker, char *out, size_t size)
{
	static const char *const asked[] = {
		[WORKER_PREFLIGHT] = "hashing its data",
		[WORKER_SHIP] = "copying the sources",
		[WORKER_LOCK] = "lock_clocks",
		[WORKER_START] = "starting a run",
		[WORKER_WATCH] = "asked how its run goes",
		[WORKER_CUT] = "ending a run",
		[WORKER_GPU] = "fetching telemetry",
		[WORKER_ABORT] = "ending what runs",
		[WORKER_FINISH] = "giving back its GPUs",
		[WORKER_STOP] = "stop_cmd",
		[WORKER_CLEAN] = "cleaning",
		[WORKER_WAIT] = "",
		[WORKER_ENDED] = "",
	};
	struct transport *transport = worker->session->setup.transport;
	struct link_info link;

	transport->ops->link_info(transport, worker->pod, &link);
	(void)snprintf(out, size, "%s",
		       link.state == LINK_CONNECTING ? "connecting" : asked[worker->step]);
}

void worker_wait_tick(struct worker *worker)
{
	int64_t asked_ms = clock_boot_ms() - worker->sent_ms;
	struct pod_wait *wait = &worker->wait;
	char why[128];

	if (worker->step == WORKER_ENDED || worker->step == WORKER_WAIT)
		return;
	if (worker->stream != NULL && asked_ms >= SILENT_MS &&
	    (wait->kind == WAIT_NONE || wait->kind == WAIT_SILENT)) {
		bool first = wait->kind == WAIT_NONE;

		silent_words(worker, why, sizeof(why));
		worker_wait_for(worker, WAIT_SILENT, why, asked_ms);
		if (first)
			tell_note(worker);
	}
	if (wait->kind == WAIT_UNREACHABLE && worker->stream != NULL)
		set_retry(worker, 0);
	if (wait->kind != WAIT_NONE && clock_wall_ms() - wait->since_ms >= worker->tell_ms) {
		tell_note(worker);
		worker->tell_ms += worker->tell_ms < TELL_MOST_MS ? worker->tell_ms : TELL_MOST_MS;
	}
}

static void narrow(struct worker_clock *clock, double low_s, double high_s)
{
	clock->low_s = fmax(clock->low_s, low_s);
	clock->high_s = fmin(clock->high_s, high_s);
}

/* Note one answer's clock. */
static void clock_add(struct worker *worker, double pod_up_s)
{
	double sent_s = (double)worker->sent_ms / 1000.0;
	double heard_s = (double)clock_boot_ms() / 1000.0;

	if (isnan(pod_up_s))
		return;
	narrow(&worker->clock, sent_s - pod_up_s, heard_s - pod_up_s);
	narrow(&worker->all, sent_s - pod_up_s, heard_s - pod_up_s);
	if (worker->first_s == 0.0)
		worker->first_s = heard_s;
}

/* Say how well the pod's clock went with ours, over the whole bench. */
static void clock_tell(struct worker *worker)
{
	double away = worker->all.low_s - worker->all.high_s;
	double minutes = ((double)clock_boot_ms() / 1000.0 - worker->first_s) / 60.0;

	if (worker->first_s == 0.0 || !isfinite(away) || minutes < 1.0)
		return;
	session_note(worker->session,
		     away > 0.0 ? "%s: its clock moved by %.2f s or more "
				  "against ours in %.1f minutes"
				: "%s: its clock kept to ours within %.2f s "
				  "in %.1f minutes",
		     worker_pod_id(worker), fabs(away), minutes);
}

/* The next step, after a while. */
static void worker_next(struct worker *worker, enum worker_step step, int64_t delay_ms)
{
	worker->step = step;
	loop_timer_start(worker->timer, delay_ms > 0 ? delay_ms : 1, 0);
}

static void worker_end(struct worker *worker)
{
	worker->step = WORKER_ENDED;
	loop_timer_stop(worker->timer);
	worker_wait_over(worker);
	if (worker->session->setup.mode == SESSION_RUN)
		clock_tell(worker);
	session_on_worker(worker->session);
}

static void note_failure(struct worker *worker, const char *why)
{
	struct session *s = worker->session;
	AUTO_TEXT text = xstrdup(why); /* it may be s->why's */

	worker->failed = true;
	err_set(&s->why, ERR_REMOTE, "pod %s: %s", worker_pod_id(worker), text);
	session_note(s, "%s: %s", worker_pod_id(worker), text);
	worker_wait_for(worker, WAIT_GIVEN_UP, text, 0);
}

/* This pod cannot go on, and is left as it is: others may work there. */
static void worker_give_up(struct worker *worker, const char *why)
{
	note_failure(worker, why);
	worker_end(worker);
}

/* This pod cannot go on; the others do.  Where the bench is to stop its pods
 * at the end and has run something there, it is stopped now. */
static void worker_fail(struct worker *worker, const char *why)
{
	if (!worker_stops(worker) || (!worker->begun && worker_slurm(worker) == NULL) ||
	    worker->session->setup.mode != SESSION_RUN || worker->step == WORKER_STOP ||
	    worker->step == WORKER_ABORT) {
		worker_give_up(worker, why);
		return;
	}
	note_failure(worker, why);
	worker->run = NULL;
	worker->tries = 0;
	worker_next(worker, WORKER_STOP, 100);
}

/* The next run that is neither over nor of a stopped arm. */
static void next_run(struct worker *worker)
{
	struct session *s = worker->session;

	worker->run = NULL;
	while (s->stopped == NULL && worker->next < s->runs.per_pod) {
		struct bench_run *run = &s->runs.v[worker->pod * s->runs.per_pod + worker->next];

		if (run->fresh && !s->chosen)
			return;
		if (session_is_due(s, run)) {
			worker->run = run;
			return;
		}
		worker->next++;
	}
}

void worker_go_on(struct worker *worker, int64_t gap_ms)
{
	struct session *s = worker->session;

	next_run(worker);
	if (worker->run == NULL && s->stopped == NULL && worker->next < s->runs.per_pod) {
		/* What follows is known when all pods are as far. */
		worker->step = WORKER_WAIT;
		loop_timer_stop(worker->timer);
		session_on_worker(s);
		return;
	}
	worker_next(worker, worker->run != NULL ? WORKER_START : WORKER_FINISH, gap_ms);
}

/* What the preflight said of a key; "": nothing. */
static void env_value(const struct launch_reply *reply, const char *key, char *out, size_t size)
{
	struct str rest = { reply->env.data, reply->env.len }, line, word;

	out[0] = '\0';
	while (str_next(&rest, '\n', &line))
		if (str_next(&line, ' ', &word) && str_eq_cstr(word, key))
			(void)snprintf(out, size, "%.*s", (int)line.len, line.p);
}

/* What the plan's command needs; its commit and data, and the data of the pods
 * before. */
static bool is_same_work(struct worker *worker, const struct launch_reply *reply, char *why,
			 size_t size)
{
	struct session *s = worker->session;
	const struct plan *plan = s->plan;
	char commit[128], data[65], torch[64];

	env_value(reply, "torch", torch, sizeof(torch));
	env_value(reply, "commit", commit, sizeof(commit));
	env_value(reply, "data", data, sizeof(data));
	why[0] = '\0';
	if (plan->data_sha256 != NULL && plan->data.n == 0 && worker->pod == 0)
		session_note(s, "data_sha256 is not checked: workload.data "
				"names no files");
	if (bench_probe_needs_torch(plan->command) && torch[0] == '\0')
		(void)snprintf(why, size,
			       "its python3 has no torch, which the GPU probe "
			       "needs; --probe cpu tells of its host");
	else if (plan->commit != NULL && strcmp(commit, plan->commit) != 0)
		(void)snprintf(why, size, "its commit is %s, the plan's %.100s",
			       commit[0] != '\0' ? commit : "not known", plan->commit);
	else if (plan->data.n == 0)
		return true;
	else if (plan->data_sha256 != NULL && strcmp(data, plan->data_sha256) != 0)
		(void)snprintf(why, size, "its data has the hash %.64s, the plan's %.64s", data,
			       plan->data_sha256);
	else if (s->data[0] != '\0' && strcmp(s->data, data) != 0)
		(void)snprintf(why, size,
			       "its data (%.12s..) is not that of the other "
			       "pods (%.12s..)",
			       data, s->data);
	else
		print_into(s->data, "%s", data);
	return why[0] == '\0';
}

/* After the preflight: copies, clocks, then the first run. */
static void after_preflight(struct worker *worker)
{
	const struct plan *plan = worker->session->plan;

	if (plan_needs_copies(plan) && worker->ship_arm < plan->n_variants)
		worker_next(worker, WORKER_SHIP, 0);
	else if (worker->step != WORKER_LOCK && plan->pods[worker->pod].lock_clocks != NULL)
		worker_next(worker, WORKER_LOCK, 0);
	else
		worker_go_on(worker, 0);
}

static void on_preflight(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	char name[128], why[256];

	if (reply->error[0] != '\0') {
		worker_fail(worker, reply->error);
		return;
	}
	env_value(reply, "stamps", why, sizeof(why));
	if (why[0] != '\0')
		session_note(s, "%s: %s", worker_pod_id(worker), why);
	print_into(name, "env.%s.txt", worker_pod_id(worker));
	if (folder_write(s->setup.path, name, buf_str(&reply->env), &s->why) != 0)
		worker_fail(worker, s->why.text);
	else if (!is_same_work(worker, reply, why, sizeof(why)))
		worker_fail(worker, why);
	else
		after_preflight(worker);
}

static void on_ship(struct worker *worker, const struct launch_reply *reply)
{
	if (!reply->shipped) {
		worker_fail(worker, reply->error[0] != '\0' ? reply->error : "nothing shipped");
		return;
	}
	worker->ship_arm++;
	after_preflight(worker);
}

static void on_lock(struct worker *worker, const struct launch_reply *reply)
{
	(void)reply;
	if (reply->exit_status != 0)
		worker_fail(worker, "lock_clocks failed");
	else
		after_preflight(worker);
}

/*
 * The runs that were made by the process of this one, itself the last: where
 * the records of some are lost with us, it is taken up again.
 */
static size_t take_riders(struct session *s, struct bench_run *run,
			  struct bench_run *riders[SCHEDULE_MAX_ARMS])
{
	size_t left = s->runs.n_arms - run->pos, n = 0;

	for (size_t i = 1; s->plan->kernel && i < left; i++)
		if (session_is_due(s, &run[i]))
			riders[n++] = &run[i];
	riders[n++] = run;
	return n;
}

/* Keep each as it is; -1 with the session's err. */
static int record_runs(struct session *s, struct bench_run *const *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n)
			session_load_run(s, runs[i]);
		if (bench_run_record(&s->runs, runs[i], &s->why) != 0)
			return -1;
	}
	return 0;
}

/* Make the run's block anew. */
static void repeat_block(struct worker *worker, const struct bench_run *run, const char *why)
{
	struct session *s = worker->session;

	worker->run = NULL;
	session_note(s, "%s: block %zu begins again: %s", worker_pod_id(worker), run->block + 1,
		     why);
	worker->next -= run->rep * s->runs.n_arms + run->pos;
	if (bench_runs_repeat(&s->runs, run, why, &s->why) != 0) {
		worker_fail(worker, s->why.text);
		return;
	}
	session_judge_now(s);
	worker_go_on(worker, (int64_t)(s->plan->gap_s * 1000.0));
}

/*
 * The run is over: what the pod did to it may ask for its block again, else
 * it is kept as it is.  Then the gap and the next one.
 */
static void finish_run(struct worker *worker)
{
	struct bench_run *over[SCHEDULE_MAX_ARMS];
	struct session *s = worker->session;
	struct bench_run *run = worker->run;
	int64_t gap_ms = (int64_t)(s->plan->gap_s * 1000.0);
	size_t n = take_riders(s, run, over);
	char why[256];

	worker->run = NULL;
	for (size_t i = 0; s->plan->kernel && i < n; i++)
		if (kernel_share(&s->runs, run, over[i], &s->why) != 0) {
			worker_fail(worker, s->why.text);
			return;
		}
	session_load_run(s, run);
	if (bench_run_wants_repeat(&s->runs, run, why, sizeof(why))) {
		repeat_block(worker, run, why);
		return;
	}
	worker->next++;
	if (record_runs(s, over, n) != 0) {
		worker_fail(worker, s->why.text);
		return;
	}
	for (size_t i = 0; i < n; i++)
		session_on_run(s, over[i]);
	if (worker->step != WORKER_ENDED)
		worker_go_on(worker, gap_ms);
}

/* No exit status and no process: once more as a new job, then it is lost. */
static void on_lost(struct worker *worker)
{
	const char *const names[] = { plan_output(worker->session->plan), "gpu.csv", "host.csv",
				      "stamps" };
	struct session *s = worker->session;
	struct bench_run *run = worker->run;
	char file[FOLDER_PATH_SIZE];

	session_note(s,
		     "%s: run %s vanished (pod restarted, "
		     "out of memory or of disk, or killed)",
		     worker_pod_id(worker), run->id);
	if (run->attempt > 0) {
		run->end = RUN_END_LOST;
		finish_run(worker);
		return;
	}
	run->attempt++;
	/* What was fetched of it is forgotten. */
	for (size_t i = 0; i < LENGTH(names); i++) {
		bench_run_file(run, names[i], file);
		folder_remove(s->setup.path, file);
	}
	worker_next(worker, WORKER_START, 1000);
}

/* It goes on: is it worth it? */
static void on_running(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	struct bench_run *run = worker->run;

	if (run->cut[0] == '\0' && reply->data.len > 0 && session_should_cut(s, run)) {
		session_note(s, "%s: run %s is ended early: %s: %s", worker_pod_id(worker), run->id,
			     guard_words[run->cut_by], run->cut);
		worker_next(worker, WORKER_CUT, 0);
		return;
	}
	worker_next(worker, WORKER_WATCH, worker->step == WORKER_START ? POLL_FIRST_MS : POLL_MS);
}

/* What the pod keeps of a run that ended there. */
static void take_end(struct worker *worker, const struct launch_reply *reply)
{
	struct bench_run *run = worker->run;

	run->end = RUN_END_EXITED;
	run->rc = reply->rc;
	/* It came to its own end first, whatever its log says. */
	if (run->rc == 0.0 && run->cut[0] != '\0') {
		session_note(worker->session, "%s: run %s was over before that",
			     worker_pod_id(worker), run->id);
		run->cut[0] = '\0';
	}
	run->t0_s = reply->t0_s;
	run->t1_s = reply->t1_s;
	run->up_s = reply->up_s;
	run->drift_s = fmax(0.0, worker->clock.low_s - worker->clock.high_s);
	run->files_changed = reply->files_changed;
	print_into(run->hash, "%s", reply->hash);
	print_into(run->work, "%s", reply->work);
	print_into(run->runtime, "%s", reply->runtime);
	print_into(run->alloc, "%s", reply->alloc);
}

static void on_state(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	char log[FOLDER_PATH_SIZE], why[RUN_ID_SIZE + 200];

	bench_run_file(worker->run, plan_output(s->plan), log);
	if (reply->data.len > 0 && folder_append(s->setup.path, log, reply->data, &s->why) != 0) {
		worker_fail(worker, s->why.text);
	} else if (reply->moved[0] != '\0' && worker->run->counted &&
		   worker_slurm(worker) != NULL) {
		print_into(why, "%s: Slurm ended its allocation (%s)", worker->run->id,
			   reply->moved);
		repeat_block(worker, worker->run, why);
	} else if (reply->moved[0] != '\0' || reply->state == LAUNCH_LOST ||
		   reply->state == LAUNCH_NONE) {
		on_lost(worker);
	} else if (folder_size(s->setup.path, log) < reply->size) {
		worker_next(worker, WORKER_WATCH, 0);
	} else if (reply->state != LAUNCH_DONE) {
		on_running(worker, reply);
	} else {
		take_end(worker, reply);
		worker_next(worker, WORKER_GPU, 0);
	}
}

/* Its GPUs are taken, or its disk is: ask again, for an hour. */
static void on_busy(struct worker *worker, enum wait_kind kind)
{
	const char *why = kind == WAIT_FULL ? "the pod's disk is full"
					    : "its GPUs are locked by another bench";

	if (worker->wait.kind != kind)
		session_note(worker->session, "%s: %s; waiting", worker_pod_id(worker), why);
	worker_wait_for(worker, kind, why, 0);
	if (++worker->tries > BUSY_TRIES)
		worker_fail(worker, why);
	else
		worker_next(worker, WORKER_START, BUSY_RETRY_MS);
}

static void on_start(struct worker *worker, const struct launch_reply *reply)
{
	struct session *s = worker->session;
	char why[200], log[FOLDER_PATH_SIZE];

	if (reply->foreign[0] != '\0') {
		print_into(why, "something else computes on its GPUs (pids %s)", reply->foreign);
		if (worker_slurm(worker) != NULL)
			worker_fail(worker, why);
		else
			worker_give_up(worker, why);
	} else if (reply->state == LAUNCH_BUSY || reply->state == LAUNCH_FULL) {
		on_busy(worker, reply->state == LAUNCH_FULL ? WAIT_FULL : WAIT_BUSY);
	} else {
		worker_wait_over(worker);
		worker->tries = 0;
		worker->begun = true;
		worker->clock = any_clock;
		clock_add(worker, reply->pod_up_s);
		session_note(s, "%s: run %s %s", worker_pod_id(worker), worker->run->id,
			     reply->existed ? "is picked up" : "began");
		bench_run_file(worker->run, plan_output(s->plan), log);
		if (timed_set_log(s->setup.path, worker_pod_id(worker), log, &s->why) != 0)
			worker_fail(worker, s->why.text);
		else
			on_state(worker, reply);
	}
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
			worker_fail(worker, s->why.text);
			return;
		}
	}
	finish_run(worker);
}

static void on_abort(struct worker *worker, const struct launch_reply *reply)
{
	char why[400];

	if (reply->left != 0) {
		print_into(why, "processes of the bench are left: %s",
			   reply->names[0] != '\0' ? reply->names : "?");
		worker_fail(worker, why);
		return;
	}
	if (reply->held[0] != '\0')
		session_note(worker->session, "%s: a lock is held still: %s", worker_pod_id(worker),
			     reply->held);
	if (reply->stray[0] != '\0')
		session_note(worker->session,
			     "%s: what began during its runs is still there, "
			     "and may be of others: %s",
			     worker_pod_id(worker), reply->stray);
	session_note(worker->session, "%s: what ran was ended, no process left",
		     worker_pod_id(worker));
	worker->run = NULL;
	worker_next(worker, WORKER_FINISH, 0);
}

static void on_finish(struct worker *worker, const struct launch_reply *reply)
{
	(void)reply;
	if (worker_stops(worker))
		worker_next(worker, WORKER_STOP, 0);
	else
		worker_end(worker);
}

static void on_stop(struct worker *worker, const struct launch_reply *reply)
{
	char why[80];

	print_into(why, "stop_cmd ended with %d", reply->exit_status);
	if (worker_slurm(worker) != NULL)
		print_into(why, "nothing is allocated now: squeue has no job of "
				"it");
	if (reply->exit_status != 0 && worker->session->setup.mode == SESSION_STOP) {
		worker_give_up(worker, why);
		return;
	}
	session_note(worker->session, "%s: %s", worker_pod_id(worker), why);
	worker_end(worker);
}

static void on_clean(struct worker *worker, const struct launch_reply *reply)
{
	char why[200];

	if (reply->cleaned) {
		session_note(worker->session, "%s: nothing is left", worker_pod_id(worker));
		worker_end(worker);
		return;
	}
	print_into(why, "it still runs (%s): abort it first", reply->running);
	worker_fail(worker, reply->running[0] != '\0' ? why
			    : reply->error[0] != '\0' ? reply->error
						      : "not cleaned");
}

/* At WAIT and ENDED nothing is sent. */
static const struct step steps[] = {
	[WORKER_PREFLIGHT] = { LAUNCH_PREFLIGHT, on_preflight },
	[WORKER_SHIP] = { LAUNCH_SHIP, on_ship },
	[WORKER_LOCK] = { LAUNCH_LOCK, on_lock },
	[WORKER_START] = { LAUNCH_START, on_start },
	[WORKER_WATCH] = { LAUNCH_STATE, on_state },
	[WORKER_CUT] = { LAUNCH_CUT, on_state },
	[WORKER_GPU] = { LAUNCH_GPU, on_gpu },
	[WORKER_ABORT] = { LAUNCH_ABORT, on_abort },
	[WORKER_FINISH] = { LAUNCH_FINISH, on_finish },
	[WORKER_STOP] = { LAUNCH_STOP, on_stop },
	[WORKER_CLEAN] = { LAUNCH_CLEAN, on_clean },
};

/* There is no allocation yet, or none any more: ask again, more seldom the
 * longer it takes. */
static void on_queued(struct worker *worker, const char *why)
{
	if (worker->wait.kind != WAIT_QUEUED)
		session_note(worker->session, "%s: waits for its allocation: %s",
			     worker_pod_id(worker), why);
	worker_wait_for(worker, WAIT_QUEUED, why, 0);
	int64_t delay_ms = (clock_wall_ms() - worker->wait.since_ms) / 2;
	worker_next(worker, worker->step,
		    delay_ms < QUEUED_LEAST_MS	? QUEUED_LEAST_MS
		    : delay_ms > QUEUED_MOST_MS ? QUEUED_MOST_MS
						: delay_ms);
	/* The next node has another clock. */
	worker->clock = worker->all = any_clock;
	worker->first_s = 0.0;
}

/* A step of an allocation that was not cut short ends with its clock. */
static bool is_whole(const struct worker *worker, const struct launch_reply *reply)
{
	return reply->understood &&
	       (worker_slurm(worker) == NULL || worker->step >= WORKER_ABORT ||
		reply->error[0] != '\0' || reply->queued[0] != '\0' || !isnan(reply->pod_up_s));
}

/* The way to the pod failed, or what came was no answer: again, later. */
static void on_no_answer(struct worker *worker, const struct stream_exit *exit)
{
	enum err_code code = exit->err.code;
	int64_t delay_ms = 500LL << (worker->tries < 5 ? worker->tries : 5);

	if (code == ERR_CANCELLED) {
		worker_next(worker, worker->step, 100);
	} else if (code == ERR_AUTH || code == ERR_HOSTKEY || code == ERR_USAGE ||
		   code == ERR_CONFIG) {
		worker_fail(worker, exit->err.text);
	} else if (code == ERR_NONE && worker->tries >= MAX_NONSENSE) {
		worker_fail(worker, "its shell gives no sensible answer");
	} else if (worker->tries >= STOP_TRIES && worker->step == WORKER_STOP) {
		static const char why[] = "it cannot be reached since stop_cmd was sent";

		session_note(worker->session, "%s: %s", worker_pod_id(worker), why);
		worker_wait_for(worker, WAIT_GIVEN_UP, why, 0);
		worker_end(worker);
	} else if (worker->tries >= LAST_TRIES && worker->step >= WORKER_ABORT) {
		worker_fail(worker, "it cannot be reached, to end what may run "
				    "there");
	} else {
		worker->tries++;
		delay_ms = delay_ms < RETRY_MOST_MS ? delay_ms : RETRY_MOST_MS;
		worker_next(worker, worker->step, delay_ms);
		worker_wait_unreachable(
			worker, code != ERR_NONE ? exit->err.text : "no sensible answer", delay_ms);
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
	struct launch_reply reply;

	worker->stream = NULL;
	if (worker->session->leaving || worker->step == WORKER_ENDED)
		return;
	launch_reply_init(&reply, buf_str(&worker->out));
	clock_add(worker, reply.pod_up_s);
	if (exit->err.code != ERR_NONE || !is_whole(worker, &reply)) {
		on_no_answer(worker, exit);
	} else if (reply.queued[0] != '\0' && worker_slurm(worker) != NULL) {
		worker->reached = true;
		worker->tries = 0;
		on_queued(worker, reply.queued);
	} else {
		worker->reached = true;
		reply.exit_status = exit->status;
		if (worker->wait.kind != WAIT_BUSY && worker->wait.kind != WAIT_FULL)
			worker_wait_over(worker);
		if (worker->step != WORKER_START)
			worker->tries = 0;
		if (reply.error[0] != '\0' && worker->step >= WORKER_START &&
		    worker->step < WORKER_ABORT)
			worker_fail(worker, reply.error);
		else
			steps[worker->step].on_reply(worker, &reply);
	}
	launch_reply_release(&reply);
}

/* The script of the step at hand; -1 with the session's err. */
static int make_script(struct worker *worker, struct buf *script)
{
	struct session *s = worker->session;
	char job[RUN_ID_SIZE + 16] = "", log[FOLDER_PATH_SIZE];
	const struct bench_run *run = worker->run;
	struct launch l = { .plan = s->plan,
			    .bench = s->setup.id,
			    .pod = worker->pod,
			    .job = job,
			    .slurm = worker_slurm(worker),
			    .ask = !worker->reached || worker->wait.kind != WAIT_NONE };

	if (run != NULL) {
		print_into(job, "%s%s", run->id, run->attempt > 0 ? ".r1" : "");
		bench_run_file(run, plan_output(s->plan), log);
		l.arm = s->plan->kernel ? 0 : run->arm;
		l.offset = folder_size(s->setup.path, log);
	} else if (worker->step == WORKER_SHIP) {
		l.arm = worker->ship_arm;
	}
	return launch_script(script, steps[worker->step].op, &l, &s->why);
}

static void worker_send(struct worker *worker)
{
	static const struct stream_cb cb = {
		.on_data = worker_on_data,
		.on_close = worker_on_close,
	};
	struct session *s = worker->session;
	struct transport *transport = s->setup.transport;
	AUTO_BUF script = buf_new(16U * 1024 * 1024);

	buf_clear(&worker->out);
	worker->sent_ms = clock_boot_ms();
	int bad = make_script(worker, &script);
	if (bad == 0) {
		worker->stream = transport->ops->exec(transport, worker->pod, LAUNCH_COMMAND, &cb,
						      worker, &s->why);
		bad = worker->stream == NULL ||
		      transport->ops->write(worker->stream, script.data, script.len, &s->why) != 0;
	}
	if (!bad) {
		transport->ops->close_stdin(worker->stream);
		return;
	}
	if (worker->stream != NULL)
		transport->ops->cancel(worker->stream);
	worker_fail(worker, s->why.text);
}

static void worker_on_timer(void *user)
{
	struct worker *worker = user;

	if (worker->stream == NULL && worker->step != WORKER_ENDED)
		worker_send(worker);
}

void worker_begin(struct worker *worker)
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
	worker->clock = worker->all = any_clock;
	worker->timer = loop_timer_new(s->setup.loop, worker_on_timer, worker);
	if (step == WORKER_STOP && worker_slurm(worker) == NULL &&
	    s->plan->pods[worker->pod].stop_cmd == NULL)
		step = WORKER_FINISH;
	worker_next(worker, step, 0);
}

void worker_stop(struct worker *worker)
{
	struct transport *transport = worker->session->setup.transport;

	if (worker->step == WORKER_ENDED || worker->step == WORKER_ABORT ||
	    worker->step == WORKER_FINISH || worker->step == WORKER_STOP)
		return;
	worker->tries = 0;
	/* Where no command was ever answered, nothing runs. */
	if (!worker->reached && worker->session->setup.mode == SESSION_RUN && worker->next == 0) {
		worker_fail(worker, "it was never reached");
		return;
	}
	/* A command in flight is let go: its answer is of no use now. */
	if (worker->stream != NULL) {
		worker->step = WORKER_ABORT;
		transport->ops->cancel(worker->stream);
	}
	worker_next(worker, WORKER_ABORT, 100);
}

void worker_release(struct worker *worker)
{
	loop_timer_close(worker->timer);
	buf_release(&worker->out);
}
