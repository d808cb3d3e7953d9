/* SPDX-License-Identifier: MIT */
/* What the pods of a bench keep it waiting for, told to all; for the workers.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "bench/session_priv.h"

/* A command without an answer is told of after this long. */
#define SILENT_MS 10000
/* A pod that stays away is told of again after a minute, then two, four .. */
#define TELL_FIRST_MS (60 * 1000)
#define TELL_MOST_MS  (30 * 60 * 1000)
/* A next try that moves by less is the same one. */
#define SAME_TRY_MS 900

static int64_t
wall_ms(const struct worker *worker)
{
	const struct clock *clock = loop_clock(worker->session->setup.loop);

	return clock->wall_ms(clock);
}

/* With the pod's name. */
static struct pod_wait
wait_of(const struct worker *worker)
{
	struct pod_wait wait = worker->wait;

	(void)snprintf(wait.pod, sizeof(wait.pod), "%s", worker_pod_id(worker));
	return wait;
}

void
session_tell_waits(struct session *s)
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

static void
tell_note(struct worker *worker)
{
	struct pod_wait wait = wait_of(worker);
	char text[WAIT_TEXT_SIZE];

	wait_text(&wait, wall_ms(worker), text);
	session_note(worker->session, "%s", text);
}

/* When it is tried again: by the worker's own timer, or by the link's. */
static int64_t
retry_at(const struct worker *worker, int64_t delay_ms)
{
	const struct clock *clock = loop_clock(worker->session->setup.loop);
	struct transport *transport = worker->session->setup.transport;
	int64_t left_ms, now_ms = clock->mono_ms(clock);
	struct link_info link;

	transport->ops->link_info(transport, worker->pod, &link);
	left_ms = link.state == LINK_WAITING ? link.retry_at_ms - now_ms : 0;
	if (left_ms < delay_ms)
		left_ms = delay_ms;
	return left_ms > 0 ? wall_ms(worker) + left_ms : 0;
}

static void
set_retry(struct worker *worker, int64_t delay_ms)
{
	int64_t at = retry_at(worker, delay_ms),
		moved = at - worker->wait.retry_ms;

	if (moved > -SAME_TRY_MS && moved < SAME_TRY_MS)
		return;
	worker->wait.retry_ms = at;
	session_tell_waits(worker->session);
}

/* The fleet's words begin with the pod's name. */
static const char *
without_pod(const struct worker *worker, const char *why)
{
	const char *id = worker_pod_id(worker);
	size_t len = strlen(id);

	return strncmp(why, id, len) == 0 && strncmp(why + len, ": ", 2) == 0
		       ? why + len + 2
		       : why;
}

void
worker_wait_for(struct worker *worker, enum wait_kind kind, const char *text,
		int64_t since_ms)
{
	struct pod_wait *wait = &worker->wait;
	const char *why = without_pod(worker, text);
	bool same = wait->kind == kind && strcmp(wait->why, why) == 0;
	bool away = kind == WAIT_UNREACHABLE || kind == WAIT_SILENT;
	bool was_away =
		wait->kind == WAIT_UNREACHABLE || wait->kind == WAIT_SILENT;

	if (same)
		return;
	/* Silent, then refused: it was gone from the first of them on. */
	if (wait->kind != kind && !(away && was_away)) {
		wait->since_ms = wall_ms(worker) - since_ms;
		worker->tell_ms = TELL_FIRST_MS;
	}
	wait->kind = kind;
	wait->retry_ms = 0;
	(void)snprintf(wait->why, sizeof(wait->why), "%s", why);
	session_tell_waits(worker->session);
}

void
worker_wait_unreachable(struct worker *worker, const char *why,
			int64_t delay_ms)
{
	bool known = worker->wait.kind == WAIT_UNREACHABLE &&
		     strcmp(worker->wait.why, without_pod(worker, why)) == 0;

	worker_wait_for(worker, WAIT_UNREACHABLE, why,
			worker_boot_ms(worker) - worker->sent_ms);
	set_retry(worker, delay_ms);
	if (!known)
		tell_note(worker);
}

void
worker_wait_over(struct worker *worker)
{
	struct pod_wait was = wait_of(worker);
	char text[WAIT_TEXT_SIZE];

	if (was.kind == WAIT_NONE || was.kind == WAIT_GIVEN_UP)
		return;
	worker->wait = (struct pod_wait){ .kind = WAIT_NONE };
	session_tell_waits(worker->session);
	if (worker->step == WORKER_ENDED)
		return;
	wait_text_over(&was, wall_ms(worker), text);
	session_note(worker->session, "%s", text);
}

/* What it was told to do when it fell silent. */
static void
silent_words(const struct worker *worker, char *out, size_t size)
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
		       link.state == LINK_CONNECTING ? "connecting"
						     : asked[worker->step]);
}

void
worker_wait_tick(struct worker *worker)
{
	int64_t asked_ms = worker_boot_ms(worker) - worker->sent_ms;
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
	if (wait->kind != WAIT_NONE &&
	    wall_ms(worker) - wait->since_ms >= worker->tell_ms) {
		tell_note(worker);
		worker->tell_ms += worker->tell_ms < TELL_MOST_MS
					   ? worker->tell_ms
					   : TELL_MOST_MS;
	}
}
