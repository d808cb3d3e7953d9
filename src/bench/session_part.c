/* SPDX-License-Identifier: MIT */
/*
 * One pod's part of a bench: one command after the other, each answered in
 * full before the next is sent; called by session.c and by the loop.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "bench/session_priv.h"

#define POLL_LEAST_MS 200
#define POLL_MOST_MS  2000
#define RETRY_MOST_MS 10000
#define BUSY_RETRY_MS 1000
/* Answers that make no sense, in a row, before the pod is given up. */
#define MAX_NONSENSE 5
/* A pod that is gone when the bench ends is asked so often (a minute). */
#define LAST_TRIES 10
/* How often a run is repeated because its GPU was slowed down. */
#define MAX_REPEATS 2
/* A pod whose GPUs are taken is asked again for this long. */
#define BUSY_TRIES 3600

static void send_op(struct part *part);

static void
part_next(struct part *part, enum part_step step, int64_t delay_ms)
{
	part->step = step;
	loop_timer_start(part->timer, delay_ms > 0 ? delay_ms : 1, 0);
}

static const char *
pod_id(const struct part *part)
{
	return part->session->plan->pods[part->pod].id;
}

static void
part_end(struct part *part)
{
	part->step = PART_ENDED;
	loop_timer_stop(part->timer);
	session_on_part_end(part->session);
}

/* This pod cannot go on; the others do. */
static void
part_fail(struct part *part, const char *why)
{
	struct session *s = part->session;

	part->failed = true;
	err_set(&s->why, ERR_REMOTE, "pod %s: %s", pod_id(part), why);
	session_note(s, "%s: %s", pod_id(part), why);
	part_end(part);
}

/* The next run that is neither over nor of a stopped arm. */
static void
next_run(struct part *part)
{
	struct session *s = part->session;

	part->run = NULL;
	while (s->stopped == NULL && part->next < s->per_pod) {
		struct session_run *run =
			&s->runs[part->pod * s->per_pod + part->next];

		if (!run->recorded && !s->arm_stopped[run->arm]) {
			part->run = run;
			return;
		}
		part->next++;
	}
}

static void
go_on(struct part *part, int64_t gap_ms)
{
	next_run(part);
	part_next(part, part->run != NULL ? PART_START : PART_FINISH, gap_ms);
}

/* After the preflight: copies, clocks, then the first run. */
static void
after_preflight(struct part *part)
{
	const struct plan *plan = part->session->plan;

	if (plan_needs_copies(plan) && part->ship_arm < plan->n_variants)
		part_next(part, PART_SHIP, 0);
	else if (part->step != PART_LOCK &&
		 plan->pods[part->pod].lock_clocks != NULL)
		part_next(part, PART_LOCK, 0);
	else
		go_on(part, 0);
}

static void
on_preflight(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	char name[128];

	if (reply->error[0] != '\0') {
		part_fail(part, reply->error);
		return;
	}
	(void)snprintf(name, sizeof(name), "env.%s.txt", pod_id(part));
	if (folder_write(s->setup.path, name,
			 (struct str){ reply->env.data, reply->env.len },
			 &s->why) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	if (s->plan->commit != NULL) {
		char want[128];

		(void)snprintf(want, sizeof(want), "commit %s\n",
			       s->plan->commit);
		if (str_find((struct str){ reply->env.data, reply->env.len },
			     want) == NULL) {
			part_fail(part, "its commit is not the plan's");
			return;
		}
	}
	after_preflight(part);
}

static void
on_ship(struct part *part, const struct launch_reply *reply)
{
	if (!reply->shipped) {
		part_fail(part, reply->error[0] != '\0' ? reply->error
							: "nothing shipped");
		return;
	}
	part->ship_arm++;
	after_preflight(part);
}

/* The run is over: keep what is known, then the gap and the next one. */
static void
finish_run(struct part *part)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	part->run = NULL;
	part->next++;
	if (session_record(s, run, &s->why) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	session_on_run(s, run);
	if (part->step != PART_ENDED)
		go_on(part, (int64_t)(s->plan->gap_s * 1000.0));
}

/* The run once more, as a new job; what was fetched of it is forgotten. */
static void
repeat_run(struct part *part, int64_t delay_ms)
{
	struct session *s = part->session;
	char file[FOLDER_PATH_SIZE];

	part->run->attempt++;
	session_run_file(part->run, s->plan->log, file, sizeof(file));
	folder_remove(s->setup.path, file);
	session_run_file(part->run, "gpu.csv", file, sizeof(file));
	folder_remove(s->setup.path, file);
	part_next(part, PART_START, delay_ms);
}

/* No exit status and no process: once more, then it is lost. */
static void
on_lost(struct part *part)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	session_note(s, "%s: run %s vanished (pod restarted, or out of memory)",
		     pod_id(part), run->id);
	if (run->attempt == 0) {
		repeat_run(part, 1000);
		return;
	}
	run->end = RUN_END_LOST;
	finish_run(part);
}

static int64_t
poll_delay(const struct part *part)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);
	int64_t age = clock->mono_ms(clock) - part->started_ms;
	int64_t delay = age / 10;

	return delay < POLL_LEAST_MS  ? POLL_LEAST_MS
	       : delay > POLL_MOST_MS ? POLL_MOST_MS
				      : delay;
}

/* It goes on: is it worth it? */
static void
on_running(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	if (run->cut[0] == '\0' && reply->data.len > 0 &&
	    session_should_cut(s, run)) {
		session_note(s, "%s: run %s is ended early: %s: %s",
			     pod_id(part), run->id, guard_word(run->cut_by),
			     run->cut);
		part_next(part, PART_CUT, 0);
		return;
	}
	part_next(part, PART_WATCH, poll_delay(part));
}

static void
on_state(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	if (part_take_log(part, reply) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	if (reply->state == LAUNCH_LOST || reply->state == LAUNCH_NONE) {
		on_lost(part);
		return;
	}
	if (part_log_offset(part) < reply->size) {
		part_next(part, PART_WATCH, 0);
		return;
	}
	if (reply->state != LAUNCH_DONE) {
		on_running(part, reply);
		return;
	}
	run->end = RUN_END_EXITED;
	run->rc = reply->rc;
	run->t0_s = reply->t0_s;
	run->t1_s = reply->t1_s;
	run->up_s = reply->up_s;
	run->files_changed = reply->files_changed;
	(void)snprintf(run->hash, sizeof(run->hash), "%s", reply->hash);
	if (s->plan->pods[part->pod].n_gpus > 0)
		part_next(part, PART_GPU, 0);
	else
		finish_run(part);
}

static void
on_start(struct part *part, const struct launch_reply *reply)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);
	struct session *s = part->session;
	char why[200];

	if (reply->error[0] != '\0') {
		part_fail(part, reply->error);
	} else if (reply->foreign[0] != '\0') {
		(void)snprintf(why, sizeof(why),
			       "something else computes on its GPUs (pids %s)",
			       reply->foreign);
		part_fail(part, why);
	} else if (reply->state == LAUNCH_BUSY) {
		if (part->tries == 0)
			session_note(s,
				     "%s: its GPUs are locked by another "
				     "bench; waiting",
				     pod_id(part));
		if (++part->tries > BUSY_TRIES)
			part_fail(part, "its GPUs are locked by another bench");
		else
			part_next(part, PART_START, BUSY_RETRY_MS);
	} else {
		part->tries = 0;
		part->started_ms = clock->mono_ms(clock);
		session_note(s, "%s: run %s %s", pod_id(part), part->run->id,
			     reply->existed ? "is picked up" : "began");
		on_state(part, reply);
	}
}

static void
on_gpu(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	char file[FOLDER_PATH_SIZE];

	session_run_file(part->run, "gpu.csv", file, sizeof(file));
	if (reply->data.len > 0 &&
	    folder_write(s->setup.path, file, reply->data, &s->why) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	if (part->run->attempt < MAX_REPEATS &&
	    session_throttled(s, part->run) != 0) {
		session_note(s, "%s: run %s was throttled (bits 0x%lx); again",
			     pod_id(part), part->run->id,
			     session_throttled(s, part->run));
		repeat_run(part, (int64_t)(s->plan->gap_s * 1000.0));
		return;
	}
	finish_run(part);
}

static void
on_abort(struct part *part, const struct launch_reply *reply)
{
	if (reply->left != 0) {
		part_fail(part, "processes of the bench are left");
		return;
	}
	session_note(part->session, "%s: what ran was ended, no process left",
		     pod_id(part));
	part->run = NULL;
	part_next(part, PART_FINISH, 0);
}

static void
on_clean(struct part *part, const struct launch_reply *reply)
{
	char why[200];

	if (reply->cleaned) {
		session_note(part->session, "%s: nothing is left",
			     pod_id(part));
		part_end(part);
		return;
	}
	(void)snprintf(why, sizeof(why), "it still runs (%s): abort it first",
		       reply->running);
	part_fail(part, reply->running[0] != '\0' ? why
			: reply->error[0] != '\0' ? reply->error
						  : "not cleaned");
}

static void
on_finish(struct part *part)
{
	const struct plan *plan = part->session->plan;

	if (plan->on_end == PLAN_END_STOP_PODS &&
	    plan->pods[part->pod].stop_cmd != NULL)
		part_next(part, PART_STOP, 0);
	else
		part_end(part);
}

static void
on_reply(struct part *part, const struct launch_reply *reply,
	 const struct stream_exit *exit)
{
	switch (part->step) {
	case PART_PREFLIGHT:
		on_preflight(part, reply);
		break;
	case PART_SHIP:
		on_ship(part, reply);
		break;
	case PART_LOCK:
		if (exit->status != 0)
			part_fail(part, "lock_clocks failed");
		else
			after_preflight(part);
		break;
	case PART_START:
		on_start(part, reply);
		break;
	case PART_WATCH:
	case PART_CUT:
		on_state(part, reply);
		break;
	case PART_GPU:
		on_gpu(part, reply);
		break;
	case PART_ABORT:
		on_abort(part, reply);
		break;
	case PART_FINISH:
		on_finish(part);
		break;
	case PART_STOP:
		session_note(part->session, "%s: stop_cmd ended with %d",
			     pod_id(part), exit->status);
		part_end(part);
		break;
	case PART_CLEAN:
		on_clean(part, reply);
		break;
	case PART_ENDED:
		break;
	}
}

/* The way to the pod failed, or what came was no answer: again, later. */
static void
on_no_answer(struct part *part, const struct stream_exit *exit)
{
	enum err_code code = exit->err.code;
	int64_t delay = 500LL << (part->tries < 5 ? part->tries : 5);

	if (code == ERR_CANCELLED) {
		part_next(part, part->step, 100);
		return;
	}
	if (code == ERR_AUTH || code == ERR_HOSTKEY || code == ERR_USAGE ||
	    code == ERR_CONFIG) {
		part_fail(part, exit->err.text);
		return;
	}
	if (code == ERR_NONE && part->tries >= MAX_NONSENSE) {
		part_fail(part, "its shell gives no sensible answer");
		return;
	}
	if (part->tries >= LAST_TRIES && part->step >= PART_ABORT) {
		part_fail(part, "it cannot be reached, to end what may run "
				"there");
		return;
	}
	if (part->tries++ == 0)
		session_note(part->session, "%s: %s; trying again",
			     pod_id(part),
			     code != ERR_NONE ? exit->err.text
					      : "no sensible answer");
	part_next(part, part->step,
		  delay < RETRY_MOST_MS ? delay : RETRY_MOST_MS);
}

static size_t
on_data(void *user, const void *data, size_t len)
{
	struct part *part = user;

	buf_append(&part->out, data, len);
	return len;
}

static void
on_close(void *user, const struct stream_exit *exit)
{
	struct part *part = user;
	struct launch_reply reply;

	part->stream = NULL;
	if (part->session->leaving || part->step == PART_ENDED)
		return;
	launch_reply_init(&reply,
			  (struct str){ part->out.data, part->out.len });
	if (exit->err.code != ERR_NONE || !reply.understood) {
		on_no_answer(part, exit);
	} else {
		part->reached = true;
		if (part->step != PART_START)
			part->tries = 0;
		on_reply(part, &reply, exit);
	}
	launch_reply_release(&reply);
}

static void
send_op(struct part *part)
{
	static const struct stream_cb cb = {
		.on_data = on_data,
		.on_close = on_close,
	};
	struct session *s = part->session;
	struct transport *transport = s->setup.transport;
	char job[SESSION_ID_SIZE + 16] = "";
	struct launch l = { .plan = s->plan,
			    .bench = s->setup.id,
			    .pod = part->pod,
			    .job = job };
	struct buf script;
	int bad;

	if (part->run != NULL) {
		part_job_name(part, job, sizeof(job));
		l.arm = part->run->arm;
		l.offset = part_log_offset(part);
	} else if (part->step == PART_SHIP) {
		l.arm = part->ship_arm;
	}
	buf_init(&script, 16U * 1024 * 1024);
	buf_clear(&part->out);
	bad = launch_script(&script, part_op(part->step), &l, &s->why);
	if (bad == 0) {
		part->stream = transport->ops->exec(transport, part->pod,
						    LAUNCH_COMMAND, &cb, part,
						    &s->why);
		bad = part->stream == NULL ||
		      transport->ops->write(part->stream, script.data,
					    script.len, &s->why) != 0;
	}
	buf_release(&script);
	if (bad) {
		if (part->stream != NULL)
			transport->ops->cancel(part->stream);
		part_fail(part, s->why.text);
		return;
	}
	transport->ops->close_stdin(part->stream);
}

static void
on_timer(void *user)
{
	struct part *part = user;

	if (part->stream == NULL && part->step != PART_ENDED)
		send_op(part);
}

void
part_begin(struct part *part)
{
	static const enum part_step first[] = {
		[SESSION_RUN] = PART_PREFLIGHT,
		[SESSION_ABORT] = PART_ABORT,
		[SESSION_CLEAN] = PART_CLEAN,
	};

	buf_init(&part->out, LAUNCH_REPLY_CAP);
	part->timer = loop_timer_new(part->session->setup.loop, on_timer, part);
	part_next(part, first[part->session->setup.mode], 0);
}

void
part_stop(struct part *part)
{
	struct transport *transport = part->session->setup.transport;

	if (part->step == PART_ENDED || part->step == PART_ABORT ||
	    part->step == PART_FINISH || part->step == PART_STOP)
		return;
	part->tries = 0;
	/* Where no command was ever answered, nothing runs. */
	if (!part->reached && part->session->setup.mode == SESSION_RUN &&
	    part->next == 0) {
		part_fail(part, "it was never reached");
		return;
	}
	/* A command in flight is let go: its answer is of no use now. */
	if (part->stream != NULL) {
		part->step = PART_ABORT;
		transport->ops->cancel(part->stream);
	}
	part_next(part, PART_ABORT, 100);
}

void
part_release(struct part *part)
{
	loop_timer_close(part->timer);
	buf_release(&part->out);
}
