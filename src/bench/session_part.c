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

#define RETRY_MOST_MS 10000
/* Answers that make no sense, in a row, before the pod is given up. */
#define MAX_NONSENSE 5
/* A pod that is gone when the bench ends is asked so often (a minute). */
#define LAST_TRIES 10
/* One that is told to stop may well be gone before it answers. */
#define STOP_TRIES 3

static void send_op(struct part *part);

void
part_next(struct part *part, enum part_step step, int64_t delay_ms)
{
	part->step = step;
	loop_timer_start(part->timer, delay_ms > 0 ? delay_ms : 1, 0);
}

const char *
part_pod_id(const struct part *part)
{
	return part->session->plan->pods[part->pod].id;
}

static void
part_end(struct part *part)
{
	part->step = PART_ENDED;
	loop_timer_stop(part->timer);
	part_wait_over(part);
	if (part->session->setup.mode == SESSION_RUN)
		part_clock_tell(part);
	session_on_part_end(part->session);
}

static void
note_failure(struct part *part, const char *why)
{
	struct session *s = part->session;

	part->failed = true;
	err_set(&s->why, ERR_REMOTE, "pod %s: %s", part_pod_id(part), why);
	session_note(s, "%s: %s", part_pod_id(part), why);
	part_wait_for(part, WAIT_GIVEN_UP, why, 0);
}

void
part_give_up(struct part *part, const char *why)
{
	note_failure(part, why);
	part_end(part);
}

void
part_fail(struct part *part, const char *why)
{
	const struct plan *plan = part->session->plan;
	bool stops = plan->stop_pods && part->begun &&
		     plan->pods[part->pod].stop_cmd != NULL &&
		     part->session->setup.mode == SESSION_RUN &&
		     part->step != PART_STOP && part->step != PART_ABORT;

	if (!stops) {
		part_give_up(part, why);
		return;
	}
	note_failure(part, why);
	part->run = NULL;
	part->tries = 0;
	part_next(part, PART_STOP, 100);
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

		if (run->fresh && !s->chosen)
			return;
		if (session_is_due(s, run)) {
			part->run = run;
			return;
		}
		part->next++;
	}
}

void
part_go_on(struct part *part, int64_t gap_ms)
{
	struct session *s = part->session;

	next_run(part);
	if (part->run == NULL && s->stopped == NULL &&
	    part->next < s->per_pod) {
		/* What follows is known when all pods are as far. */
		part->step = PART_WAIT;
		loop_timer_stop(part->timer);
		session_on_wait(s);
		return;
	}
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
		part_go_on(part, 0);
}

/* What the preflight said of a key; "": nothing. */
static void
env_value(const struct launch_reply *reply, const char *key, char *out,
	  size_t size)
{
	struct str rest = { reply->env.data, reply->env.len }, line, word;

	out[0] = '\0';
	while (str_next(&rest, '\n', &line))
		if (str_next(&line, ' ', &word) && str_eq_cstr(word, key))
			(void)snprintf(out, size, "%.*s", (int)line.len,
				       line.p);
}

/* Commit and data of the plan, and the data of the pods before. */
static bool
is_same_work(struct part *part, const struct launch_reply *reply, char *why,
	     size_t size)
{
	struct session *s = part->session;
	const struct plan *plan = s->plan;
	char commit[128], data[65];

	env_value(reply, "commit", commit, sizeof(commit));
	env_value(reply, "data", data, sizeof(data));
	if (plan->commit != NULL && strcmp(commit, plan->commit) != 0) {
		(void)snprintf(why, size, "its commit is %s, the plan's %.100s",
			       commit[0] != '\0' ? commit : "not known",
			       plan->commit);
		return false;
	}
	if (plan->data_sha256 != NULL && plan->data.n == 0 && part->pod == 0)
		session_note(s, "data_sha256 is not checked: workload.data "
				"names no files");
	if (plan->data.n == 0)
		return true;
	if (plan->data_sha256 != NULL && strcmp(data, plan->data_sha256) != 0) {
		(void)snprintf(why, size,
			       "its data has the hash %.64s, the plan's %.64s",
			       data, plan->data_sha256);
		return false;
	}
	if (s->data[0] != '\0' && strcmp(s->data, data) != 0) {
		(void)snprintf(why, size,
			       "its data (%.12s..) is not that of the other "
			       "pods (%.12s..)",
			       data, s->data);
		return false;
	}
	(void)snprintf(s->data, sizeof(s->data), "%s", data);
	return true;
}

static void
on_preflight(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	char name[128], why[256];

	if (reply->error[0] != '\0') {
		part_fail(part, reply->error);
		return;
	}
	(void)snprintf(name, sizeof(name), "env.%s.txt", part_pod_id(part));
	if (folder_write(s->setup.path, name,
			 (struct str){ reply->env.data, reply->env.len },
			 &s->why) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	if (!is_same_work(part, reply, why, sizeof(why)))
		part_fail(part, why);
	else
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

static void
on_abort(struct part *part, const struct launch_reply *reply)
{
	if (reply->left != 0) {
		part_fail(part, "processes of the bench are left");
		return;
	}
	session_note(part->session, "%s: what ran was ended, no process left",
		     part_pod_id(part));
	part->run = NULL;
	part_next(part, PART_FINISH, 0);
}

static void
on_clean(struct part *part, const struct launch_reply *reply)
{
	char why[200];

	if (reply->cleaned) {
		session_note(part->session, "%s: nothing is left",
			     part_pod_id(part));
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

	if (plan->stop_pods && plan->pods[part->pod].stop_cmd != NULL)
		part_next(part, PART_STOP, 0);
	else
		part_end(part);
}

static void
on_stopped(struct part *part, const struct stream_exit *exit)
{
	char why[64];

	(void)snprintf(why, sizeof(why), "stop_cmd ended with %d",
		       exit->status);
	if (exit->status != 0 && part->session->setup.mode == SESSION_STOP) {
		part_give_up(part, why);
		return;
	}
	session_note(part->session, "%s: %s", part_pod_id(part), why);
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
		part_on_start(part, reply);
		break;
	case PART_WATCH:
	case PART_CUT:
		part_on_state(part, reply);
		break;
	case PART_GPU:
		part_on_gpu(part, reply);
		break;
	case PART_ABORT:
		on_abort(part, reply);
		break;
	case PART_FINISH:
		on_finish(part);
		break;
	case PART_STOP:
		on_stopped(part, exit);
		break;
	case PART_CLEAN:
		on_clean(part, reply);
		break;
	case PART_WAIT:
	case PART_ENDED:
		break;
	}
}

/* The way to the pod failed, or what came was no answer: again, later. */
static void
on_no_answer(struct part *part, const struct stream_exit *exit)
{
	enum err_code code = exit->err.code;
	int64_t delay_ms = 500LL << (part->tries < 5 ? part->tries : 5);

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
	if (part->tries >= STOP_TRIES && part->step == PART_STOP) {
		static const char why[] =
			"it cannot be reached since stop_cmd was sent";

		session_note(part->session, "%s: %s", part_pod_id(part), why);
		part_wait_for(part, WAIT_GIVEN_UP, why, 0);
		part_end(part);
		return;
	}
	if (part->tries >= LAST_TRIES && part->step >= PART_ABORT) {
		part_fail(part, "it cannot be reached, to end what may run "
				"there");
		return;
	}
	part->tries++;
	delay_ms = delay_ms < RETRY_MOST_MS ? delay_ms : RETRY_MOST_MS;
	part_next(part, part->step, delay_ms);
	part_wait_unreachable(
		part, code != ERR_NONE ? exit->err.text : "no sensible answer",
		delay_ms);
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
	part_clock_add(part, reply.pod_up_s);
	if (exit->err.code != ERR_NONE || !reply.understood) {
		on_no_answer(part, exit);
	} else {
		part->reached = true;
		if (part->wait.kind != WAIT_BUSY)
			part_wait_over(part);
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
	part->sent_ms = part_boot_ms(part);
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
		[SESSION_STOP] = PART_STOP,
	};
	struct session *s = part->session;
	enum part_step step = first[s->setup.mode];

	buf_init(&part->out, LAUNCH_REPLY_CAP);
	part->clock = (struct part_clock){ -INFINITY, INFINITY };
	part->all = part->clock;
	part->timer = loop_timer_new(s->setup.loop, on_timer, part);
	if (step == PART_STOP && s->plan->pods[part->pod].stop_cmd == NULL)
		step = PART_FINISH;
	part_next(part, step, 0);
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
