/* SPDX-License-Identifier: MIT */
/* What the pods of a bench keep it waiting for, told to all; for its parts. */
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
wall_ms(const struct part *part)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);

	return clock->wall_ms(clock);
}

/* With the pod's name. */
static struct pod_wait
wait_of(const struct part *part)
{
	struct pod_wait wait = part->wait;

	(void)snprintf(wait.pod, sizeof(wait.pod), "%s", part_pod_id(part));
	return wait;
}

void
session_tell_waits(struct session *s)
{
	struct pod_wait waits[WAITS_MAX];
	struct err err = { ERR_NONE, "" };

	if (s->leaving || s->parts == NULL ||
	    (s->setup.mode != SESSION_RUN && s->setup.mode != SESSION_ABORT))
		return;
	for (size_t i = 0; i < s->plan->n_pods; i++)
		waits[i] = wait_of(&s->parts[i]);
	if (waits_write(s->setup.path, waits, s->plan->n_pods, &err) != 0)
		session_note(s, "%s", err.text);
}

static void
tell_note(struct part *part)
{
	struct pod_wait wait = wait_of(part);
	char text[WAIT_TEXT_SIZE];

	wait_text(&wait, wall_ms(part), text);
	session_note(part->session, "%s", text);
}

/* When it is tried again: by the part's own timer, or by the link's. */
static int64_t
retry_at(const struct part *part, int64_t delay_ms)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);
	struct transport *transport = part->session->setup.transport;
	int64_t left_ms, now_ms = clock->mono_ms(clock);
	struct link_info link;

	transport->ops->link_info(transport, part->pod, &link);
	left_ms = link.state == LINK_WAITING ? link.retry_at_ms - now_ms : 0;
	if (left_ms < delay_ms)
		left_ms = delay_ms;
	return left_ms > 0 ? wall_ms(part) + left_ms : 0;
}

static void
set_retry(struct part *part, int64_t delay_ms)
{
	int64_t at = retry_at(part, delay_ms), moved = at - part->wait.retry_ms;

	if (moved > -SAME_TRY_MS && moved < SAME_TRY_MS)
		return;
	part->wait.retry_ms = at;
	session_tell_waits(part->session);
}

/* The fleet's words begin with the pod's name. */
static const char *
without_pod(const struct part *part, const char *why)
{
	const char *id = part_pod_id(part);
	size_t len = strlen(id);

	return strncmp(why, id, len) == 0 && strncmp(why + len, ": ", 2) == 0
		       ? why + len + 2
		       : why;
}

void
part_wait_for(struct part *part, enum wait_kind kind, const char *text,
	      int64_t since_ms)
{
	struct pod_wait *wait = &part->wait;
	const char *why = without_pod(part, text);
	bool same = wait->kind == kind && strcmp(wait->why, why) == 0;
	bool away = kind == WAIT_UNREACHABLE || kind == WAIT_SILENT;
	bool was_away =
		wait->kind == WAIT_UNREACHABLE || wait->kind == WAIT_SILENT;

	if (same)
		return;
	/* Silent, then refused: it was gone from the first of them on. */
	if (wait->kind != kind && !(away && was_away)) {
		wait->since_ms = wall_ms(part) - since_ms;
		part->tell_ms = TELL_FIRST_MS;
	}
	wait->kind = kind;
	wait->retry_ms = 0;
	(void)snprintf(wait->why, sizeof(wait->why), "%s", why);
	session_tell_waits(part->session);
}

void
part_wait_unreachable(struct part *part, const char *why, int64_t delay_ms)
{
	bool known = part->wait.kind == WAIT_UNREACHABLE &&
		     strcmp(part->wait.why, without_pod(part, why)) == 0;

	part_wait_for(part, WAIT_UNREACHABLE, why,
		      part_boot_ms(part) - part->sent_ms);
	set_retry(part, delay_ms);
	if (!known)
		tell_note(part);
}

void
part_wait_over(struct part *part)
{
	struct pod_wait was = wait_of(part);
	char text[WAIT_TEXT_SIZE];

	if (was.kind == WAIT_NONE || was.kind == WAIT_GIVEN_UP)
		return;
	part->wait = (struct pod_wait){ .kind = WAIT_NONE };
	session_tell_waits(part->session);
	if (part->step == PART_ENDED)
		return;
	wait_text_over(&was, wall_ms(part), text);
	session_note(part->session, "%s", text);
}

/* What it was told to do when it fell silent. */
static void
silent_words(const struct part *part, char *out, size_t size)
{
	static const char *const asked[] = {
		[PART_PREFLIGHT] = "hashing its data",
		[PART_SHIP] = "copying the sources",
		[PART_LOCK] = "lock_clocks",
		[PART_START] = "starting a run",
		[PART_WATCH] = "asked how its run goes",
		[PART_CUT] = "ending a run",
		[PART_GPU] = "fetching telemetry",
		[PART_ABORT] = "ending what runs",
		[PART_FINISH] = "giving back its GPUs",
		[PART_STOP] = "stop_cmd",
		[PART_CLEAN] = "cleaning",
		[PART_WAIT] = "",
		[PART_ENDED] = "",
	};
	struct transport *transport = part->session->setup.transport;
	struct link_info link;

	transport->ops->link_info(transport, part->pod, &link);
	(void)snprintf(out, size, "%s",
		       link.state == LINK_CONNECTING ? "connecting"
						     : asked[part->step]);
}

void
part_wait_tick(struct part *part)
{
	int64_t asked_ms = part_boot_ms(part) - part->sent_ms;
	struct pod_wait *wait = &part->wait;
	char why[128];

	if (part->step == PART_ENDED || part->step == PART_WAIT)
		return;
	if (part->stream != NULL && asked_ms >= SILENT_MS &&
	    (wait->kind == WAIT_NONE || wait->kind == WAIT_SILENT)) {
		bool first = wait->kind == WAIT_NONE;

		silent_words(part, why, sizeof(why));
		part_wait_for(part, WAIT_SILENT, why, asked_ms);
		if (first)
			tell_note(part);
	}
	if (wait->kind == WAIT_UNREACHABLE && part->stream != NULL)
		set_retry(part, 0);
	if (wait->kind != WAIT_NONE &&
	    wall_ms(part) - wait->since_ms >= part->tell_ms) {
		tell_note(part);
		part->tell_ms += part->tell_ms < TELL_MOST_MS ? part->tell_ms
							      : TELL_MOST_MS;
	}
}
