/* SPDX-License-Identifier: MIT */
/* All pods behind transport.h; the app, checks and benches hold one fleet. */
#include "config.h"

#include "remote/fleet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "remote/link_priv.h"
#include "remote/ssh_priv.h"

#define SLEEP_CHECK_MS 5000
/* What fits into one packet of SSH, with room to spare. */
#define COMMAND_MAX_BYTES 30000

static const struct link_ops *const ways[] = {
	[REMOTE_LIBSSH2] = &ssh_link_ops,
	[REMOTE_OPENSSH] = &child_link_ops,
	[REMOTE_LOCAL] = &child_link_ops,
};

static struct fleet *
fleet_of(struct transport *t)
{
	return list_entry(t, struct fleet, transport);
}

static int64_t
asleep_ms(const struct fleet *fleet)
{
	return fleet->clock->boot_ms(fleet->clock) -
	       fleet->clock->mono_ms(fleet->clock);
}

/*
 * The machine may have slept since the last look: CLOCK_BOOTTIME counts
 * that, CLOCK_MONOTONIC does not.  Connections are then older than they look.
 */
static void
on_watch(void *user)
{
	struct fleet *fleet = user;
	int64_t before = fleet->asleep_ms;

	fleet->asleep_ms = asleep_ms(fleet);
	if (fleet->n_streams == 0)
		loop_timer_stop(fleet->watch);
	if (fleet->asleep_ms - before < SLEEP_CHECK_MS)
		return;
	log_debug("fleet", "the machine slept %lld ms",
		  (long long)(fleet->asleep_ms - before));
	for (size_t i = 0; i < fleet->n_links; i++)
		for (struct remote_link *link = &fleet->links[i]; link != NULL;
		     link = link->spare) {
			if (link->info.state == LINK_WAITING)
				link_retry_now(link);
			else if (link->ops->probe != NULL)
				link->ops->probe(link);
		}
}

static struct stream *
fleet_exec(struct transport *t, size_t pod, const char *command,
	   const struct stream_cb *cb, void *user, struct err *err)
{
	struct fleet *fleet = fleet_of(t);
	struct stream *s;

	if (pod >= fleet->n_links || command == NULL || cb->on_data == NULL ||
	    cb->on_close == NULL) {
		err_set(err, ERR_USAGE, "there is no such pod");
		return NULL;
	}
	if (strlen(command) > COMMAND_MAX_BYTES) {
		err_set(err, ERR_LIMIT, "the command has more than %d bytes",
			COMMAND_MAX_BYTES);
		return NULL;
	}
	if (fleet->closing) {
		err_set(err, ERR_CANCELLED, "all connections are being closed");
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->link = link_with_room(&fleet->links[pod]);
	s->cb = *cb;
	s->user = user;
	s->command = xstrdup(command);
	buf_init(&s->in, STREAM_STDIN_CAP);
	buf_init(&s->held, STREAM_BUDGET);
	list_append(&s->link->streams, &s->in_link);
	if (fleet->n_streams++ == 0) {
		fleet->asleep_ms = asleep_ms(fleet);
		loop_timer_start(fleet->watch, SLEEP_CHECK_MS, SLEEP_CHECK_MS);
	}
	link_pump_soon(s->link);
	return s;
}

static int
fleet_write(struct stream *s, const void *data, size_t len, struct err *err)
{
	if (s->in_closed || s->cancelled)
		return err_set(err, ERR_USAGE, "its input is closed");
	if (len > s->in.cap - s->in.len)
		return err_set(err, ERR_LIMIT,
			       "more than %zu bytes wait to be sent to %s",
			       s->in.cap, s->link->pod.name);
	buf_append(&s->in, data, len);
	stream_kick_soon(s);
	return 0;
}

static void
fleet_close_stdin(struct stream *s)
{
	s->in_closed = true;
	stream_kick_soon(s);
}

static void
fleet_resume(struct stream *s)
{
	s->resumed = true;
	stream_kick_soon(s);
}

static void
fleet_cancel(struct stream *s)
{
	s->cancelled = true;
	stream_kick_soon(s);
}

static void
fleet_link_info(struct transport *t, size_t pod, struct link_info *info)
{
	struct fleet *fleet = fleet_of(t);

	assert(pod < fleet->n_links);
	*info = fleet->links[pod].info;
}

static void
fleet_reconnect(struct transport *t, size_t pod)
{
	struct fleet *fleet = fleet_of(t);

	assert(pod < fleet->n_links);
	for (struct remote_link *link = &fleet->links[pod]; link != NULL;
	     link = link->spare)
		link_retry_now(link);
}

static const struct transport_ops fleet_ops = {
	.exec = fleet_exec,
	.write = fleet_write,
	.close_stdin = fleet_close_stdin,
	.resume = fleet_resume,
	.cancel = fleet_cancel,
	.link_info = fleet_link_info,
	.reconnect = fleet_reconnect,
};

/* A copy of a text that goes with the fleet; NULL of NULL. */
static const char *
keep_text(struct fleet *fleet, const char *text)
{
	char *kept;

	if (text == NULL)
		return NULL;
	kept = map_get(&fleet->texts, str_from(text));
	if (kept == NULL)
		(void)map_set(&fleet->texts, str_from(text),
			      kept = xstrdup(text));
	return kept;
}

static struct remote_pod
keep_pod(struct fleet *fleet, const struct remote_pod *pod)
{
	return (struct remote_pod){
		.name = keep_text(fleet, pod->name),
		.ssh = keep_text(fleet, pod->ssh),
		.identity = keep_text(fleet, pod->identity),
		.known_hosts = keep_text(fleet, pod->known_hosts),
		.proxy_jump = keep_text(fleet, pod->proxy_jump),
		.transport = pod->transport,
	};
}

struct fleet *
fleet_new(struct loop *loop, const struct remote_pod *pods, size_t n_pods,
	  const struct fleet_options *options)
{
	struct fleet *fleet = xcalloc(1, sizeof(*fleet));

	fleet->transport.ops = &fleet_ops;
	fleet->loop = loop;
	fleet->clock = loop_clock(loop);
	if (options != NULL)
		fleet->options = *options;
	gate_init(&fleet->gate, loop);
	map_init(&fleet->secrets);
	map_init(&fleet->texts);
	list_init(&fleet->asking);
	fleet->block = xmalloc(STREAM_BUDGET);
	fleet->watch = loop_timer_new(loop, on_watch, fleet);
	fleet->links = xcalloc(n_pods + 1, sizeof(*fleet->links));
	fleet->n_links = n_pods;
	for (size_t i = 0; i < n_pods; i++) {
		const struct remote_pod pod = keep_pod(fleet, &pods[i]);

		link_init(&fleet->links[i], fleet, i, &pod,
			  ways[pod.transport]);
	}
	return fleet;
}

void
fleet_free(struct fleet *fleet)
{
	if (fleet == NULL)
		return;
	fleet->closing = true;
	for (size_t i = 0; i < fleet->n_links; i++)
		link_release(&fleet->links[i]);
	map_release(&fleet->secrets, ssh_secret_free);
	map_release(&fleet->texts, free);
	loop_timer_close(fleet->watch);
	free(fleet->links);
	free(fleet->block);
	free(fleet);
}

struct transport *
fleet_transport(struct fleet *fleet)
{
	return &fleet->transport;
}

void
fleet_answer(struct fleet *fleet, size_t pod, const char *answer)
{
	struct remote_link *link = &fleet->links[pod];

	assert(pod < fleet->n_links);
	if (link->ops->answer != NULL)
		link->ops->answer(link, answer);
}
