/* SPDX-License-Identifier: MIT */
/* Implements transport.h for all pods; the dashboard, pods check and benches each have a fleet.
 * Here is the code that all transports share: the state of a connection and its back-off, streams,
 * and the limit on simultaneous handshakes. */
#include "remote/fleet.h"

#include <assert.h>
#include <strings.h>

#include "base/log.h"
#include "remote/ssh_priv.h"

#define HEALTHY_MS 60000
/* A refusal is reported after this delay, so that a caller that retries at once does not spin. */
#define REFUSED_DELAY_MS 500
/* Time until the next login on a pod that accepted none of our keys. Each attempt is a failed
 * login, and fail2ban bans an address after five in ten minutes; this causes three at most. */
#define DENIED_RETRY_MS 300000
#define SLEEP_CHECK_MS	5000
/* A command of this length fits into one SSH packet. */
#define COMMAND_MAX_BYTES 30000

int64_t link_now_ms(const struct remote_link *link)
{
	return link->fleet->clock->mono_ms(link->fleet->clock);
}

/* delay_ms is the time until the next attempt; 0 if none is planned. */
static void set_state(struct remote_link *link, enum link_state state, const struct err *why,
		      int64_t delay_ms)
{
	static const char *const names[] = {
		[LINK_IDLE] = "idle",	    [LINK_CONNECTING] = "connecting", [LINK_LIVE] = "live",
		[LINK_WAITING] = "waiting", [LINK_REFUSED] = "refused",	      [LINK_GONE] = "gone",
	};

	log_debug("link", "%s: %s%s%s", link->pod.name, names[state], why != NULL ? ": " : "",
		  why != NULL ? why->text : "");
	link->info.state = state;
	link->info.since_ms = link_now_ms(link);
	link->info.why = why != NULL ? *why : (struct err){ .code = ERR_NONE };
	link->info.retry_at_ms = delay_ms > 0 ? link->info.since_ms + delay_ms : 0;
	/* The first connection's state is reported as the pod's; spares are not reported. */
	if (link->fleet->options.on_link != NULL && link->depth == 0)
		link->fleet->options.on_link(link->fleet->options.user, link->index);
}

void link_connecting(struct remote_link *link)
{
	if (link->info.state == LINK_CONNECTING)
		return;
	link->info.tries++;
	set_state(link, LINK_CONNECTING, NULL, 0);
}

void link_live(struct remote_link *link)
{
	if (link->info.state == LINK_LIVE)
		return;
	link->info.tries = 0;
	link->info.last_byte_ms = link_now_ms(link);
	set_state(link, LINK_LIVE, NULL, 0);
}

void link_idle(struct remote_link *link)
{
	if (link->info.state != LINK_IDLE)
		set_state(link, LINK_IDLE, NULL, 0);
}

void link_lost(struct remote_link *link, const struct err *why)
{
	if (link->info.state == LINK_LIVE && link_now_ms(link) - link->info.since_ms >= HEALTHY_MS)
		link->failures = 0;
	link->failures++;
	int64_t delay_ms = clock_backoff_ms(link->failures);
	loop_timer_start(link->retry, delay_ms, 0);
	link->sessions_most = 0;
	set_state(link, LINK_WAITING, why, delay_ms);
}

void link_refused(struct remote_link *link, const struct err *why)
{
	loop_timer_stop(link->retry);
	set_state(link, LINK_REFUSED, why, 0);
}

void link_denied(struct remote_link *link, const struct err *why)
{
	int64_t delay_ms = clock_spread_ms(link->fleet->denied_retry_ms);

	loop_timer_start(link->retry, delay_ms, 0);
	set_state(link, LINK_REFUSED, why, delay_ms);
}

void link_fail_streams(struct remote_link *link, const struct err *why)
{
	struct err copy = *why;
	struct list streams;

	/* Collect the current streams first: on_close may start new ones. */
	list_init(&streams);
	list_each_safe (struct stream, s, &link->streams, in_link) {
		list_remove(&s->in_link);
		list_append(&streams, &s->in_link);
	}
	while (!list_is_empty(&streams))
		stream_fail(list_entry(streams.next, struct stream, in_link), &copy);
}

/* Start the waiting streams, unless the link waits for a retry or is closed. */
static void on_pump(void *user)
{
	struct remote_link *link = user;

	if (link->info.state == LINK_WAITING || link->info.state == LINK_GONE)
		return;
	if (link->info.state == LINK_REFUSED) {
		if (!list_is_empty(&link->streams))
			loop_timer_start(link->retry, REFUSED_DELAY_MS, 0);
		return;
	}
	list_each_safe (struct stream, s, &link->streams, in_link) {
		if (s->run == NULL && !s->cancelled)
			link->ops->start(link, s);
		if (link->info.state == LINK_WAITING || link->info.state == LINK_REFUSED)
			return;
	}
}

void link_pump_soon(struct remote_link *link)
{
	loop_post(link->fleet->loop, on_pump, link);
}

/* Try again after the back-off, or report a refusal after REFUSED_DELAY_MS. */
static void on_retry(void *user)
{
	struct remote_link *link = user;

	if (link->info.state != LINK_WAITING && link->info.state != LINK_REFUSED)
		return;
	int64_t left_ms = link->info.retry_at_ms - link_now_ms(link);
	if (link->info.state == LINK_REFUSED && (link->info.retry_at_ms == 0 || left_ms > 0)) {
		if (left_ms > 0)
			loop_timer_start(link->retry, left_ms, 0);
		link_fail_streams(link, &link->info.why);
		return;
	}
	set_state(link, LINK_IDLE, NULL, 0);
	link_pump_soon(link);
}

static void link_retry_now(struct remote_link *link)
{
	if (link->info.state != LINK_WAITING && link->info.state != LINK_REFUSED)
		return;
	loop_timer_stop(link->retry);
	link->failures = 0;
	set_state(link, LINK_IDLE, NULL, 0);
	link_pump_soon(link);
}

static void link_init(struct remote_link *link, struct fleet *fleet, size_t index,
		      const struct remote_pod *pod, const struct link_ops *ops)
{
	link->fleet = fleet;
	link->index = index;
	link->pod = *pod;
	link->ops = ops;
	list_init(&link->streams);
	list_init(&link->runs);
	link->retry = loop_timer_new(fleet->loop, on_retry, link);
	link->info.since_ms = link_now_ms(link);
}

static void link_release(struct remote_link *link)
{
	struct err err;

	err_set(&err, ERR_CANCELLED, "the connection was closed");
	set_state(link, LINK_GONE, NULL, 0);
	link_fail_streams(link, &err);
	link->ops->release(link);
	loop_unpost(link->fleet->loop, on_pump, link);
	loop_timer_close(link->retry);
	if (link->spare != NULL)
		link_release(link->spare);
	free(link->spare);
}

/* The pod's first connection with room for one more stream; if all are full, the last one. */
static struct remote_link *link_with_room(struct remote_link *link)
{
	for (; link->spare != NULL && link->sessions_most > 0; link = link->spare) {
		size_t n = 0;

		list_each (const struct stream, s, &link->streams, in_link)
			n += !s->cancelled;
		if (n < link->sessions_most)
			break;
	}
	return link;
}

bool link_spill(struct stream *s, size_t n_open)
{
	struct remote_link *link = s->link;

	if (n_open == 0 || link->depth >= LINK_SPARES)
		return false;
	link->sessions_most = n_open;
	if (link->spare == NULL) {
		link->spare = xcalloc(1, sizeof(*link->spare));
		link_init(link->spare, link->fleet, link->index, &link->pod, link->ops);
		link->spare->depth = link->depth + 1;
	}
	log_debug("link",
		  "%s: the server allows %zu sessions per connection; the next uses connection %u",
		  link->pod.name, n_open, link->depth + 2);
	list_remove(&s->in_link);
	s->run = NULL;
	s->link = link->spare;
	list_append(&s->link->streams, &s->in_link);
	link_pump_soon(s->link);
	return true;
}

bool stream_is_open(const struct stream *s)
{
	return !s->paused && !s->cancelled;
}

void stream_deliver(struct stream *s, const void *data, size_t len)
{
	s->link->info.last_byte_ms = link_now_ms(s->link);
	if (s->cancelled || len == 0)
		return;
	assert(!s->paused);
	size_t taken = s->cb.on_data(s->user, data, len);
	assert(taken <= len);
	if (taken == len)
		return;
	buf_append(&s->held, (const char *)data + taken, len - taken);
	s->paused = true;
}

void stream_deliver_stderr(struct stream *s, const void *data, size_t len)
{
	s->link->info.last_byte_ms = link_now_ms(s->link);
	if (!s->cancelled && s->cb.on_stderr != NULL && len > 0)
		s->cb.on_stderr(s->user, data, len);
}

static void on_kick(void *user);

void stream_finish(struct stream *s, const struct stream_exit *exit)
{
	list_remove(&s->in_link);
	if (s->run != NULL)
		s->link->ops->detach(s);
	s->link->fleet->n_streams--;
	s->cancelled = true; /* on_close may still call functions of the stream */
	s->cb.on_close(s->user, exit);
	loop_unpost(s->link->fleet->loop, on_kick, s);
	buf_release(&s->in);
	buf_release(&s->held);
	free(s->command);
	free(s);
}

void stream_fail(struct stream *s, const struct err *why)
{
	struct stream_exit exit = { .err = *why };

	stream_finish(s, &exit);
}

/* Apply what the caller did to a stream (write, resume, cancel), from the loop. */
static void on_kick(void *user)
{
	struct stream *s = user;
	struct stream_exit exit = { 0 };

	if (s->cancelled) {
		err_set(&exit.err, ERR_CANCELLED, "the command was cancelled");
		stream_finish(s, &exit);
		return;
	}
	bool is_resumed = s->resumed && s->paused;
	s->resumed = false;
	if (is_resumed) {
		struct buf held = s->held;

		s->paused = false;
		buf_init(&s->held, STREAM_BUDGET);
		stream_deliver(s, held.data, held.len);
		buf_release(&held);
		if (!stream_is_open(s))
			return;
	}
	if (s->run != NULL)
		s->link->ops->kick(s);
}

static void stream_kick_soon(struct stream *s)
{
	loop_post(s->link->fleet->loop, on_kick, s);
}

void gate_init(struct gate *gate, struct loop *loop)
{
	gate->loop = loop;
	list_init(&gate->inside);
	list_init(&gate->waiting);
}

static void on_admitted(void *user)
{
	struct gate_ticket *ticket = user;

	ticket->on_admit(ticket->user);
}

static void admit_waiting(struct gate *gate)
{
	list_each_safe (struct gate_ticket, t, &gate->waiting, link) {
		unsigned int in_all = 0, same = 0;

		list_each (const struct gate_ticket, other, &gate->inside, link) {
			in_all++;
			same += strcasecmp(other->host, t->host) == 0;
		}
		if (in_all >= GATE_IN_ALL || same >= GATE_PER_HOST)
			continue;
		list_remove(&t->link);
		list_append(&gate->inside, &t->link);
		loop_post(gate->loop, on_admitted, t);
	}
}

void gate_enter(struct gate *gate, struct gate_ticket *ticket, const char *host,
		void (*on_admit)(void *user), void *user)
{
	assert(ticket->gate == NULL);
	ticket->gate = gate;
	ticket->on_admit = on_admit;
	ticket->user = user;
	snprintf(ticket->host, sizeof(ticket->host), "%s", host);
	list_append(&gate->waiting, &ticket->link);
	admit_waiting(gate);
}

void gate_leave(struct gate_ticket *ticket)
{
	struct gate *gate = ticket->gate;

	if (gate == NULL)
		return;
	loop_unpost(gate->loop, on_admitted, ticket);
	list_remove(&ticket->link);
	ticket->gate = NULL;
	admit_waiting(gate);
}

/* ---- the fleet */

static const struct link_ops *const transports[] = {
	[REMOTE_LIBSSH2] = &ssh_link_ops,
	[REMOTE_OPENSSH] = &child_link_ops,
	[REMOTE_LOCAL] = &child_link_ops,
	[REMOTE_COMMAND] = &child_link_ops,
};

static struct fleet *fleet_of(struct transport *t)
{
	return list_entry(t, struct fleet, transport);
}

static int64_t asleep_ms(const struct fleet *fleet)
{
	return fleet->clock->boot_ms(fleet->clock) - fleet->clock->mono_ms(fleet->clock);
}

/* Was the machine suspended since the last check? CLOCK_BOOTTIME includes that time and
 * CLOCK_MONOTONIC does not. If so, probe all connections: the timers did not run meanwhile. */
static void on_watch(void *user)
{
	struct fleet *fleet = user;
	int64_t before = fleet->asleep_ms;

	fleet->asleep_ms = asleep_ms(fleet);
	if (fleet->n_streams == 0)
		loop_timer_stop(fleet->watch);
	if (fleet->asleep_ms - before < SLEEP_CHECK_MS)
		return;
	log_debug("fleet", "this machine was suspended for %lld ms",
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

static struct stream *fleet_exec(struct transport *t, size_t pod, const char *command,
				 const struct stream_cb *cb, void *user, struct err *err)
{
	struct fleet *fleet = fleet_of(t);
	int rc = 0;

	if (pod >= fleet->n_links || command == NULL || cb->on_data == NULL || cb->on_close == NULL)
		rc = err_set(err, ERR_USAGE, "unknown pod");
	else if (strlen(command) > COMMAND_MAX_BYTES)
		rc = err_set(err, ERR_LIMIT, "the command has more than %d bytes",
			     COMMAND_MAX_BYTES);
	else if (fleet->closing)
		rc = err_set(err, ERR_CANCELLED, "all connections are being closed");
	if (rc != 0)
		return NULL;
	struct stream *s = xnew(struct stream, .link = link_with_room(&fleet->links[pod]),
				.cb = *cb, .user = user, .command = xstrdup(command),
				.in = buf_new(STREAM_STDIN_CAP), .held = buf_new(STREAM_BUDGET));
	list_append(&s->link->streams, &s->in_link);
	if (fleet->n_streams++ == 0) {
		fleet->asleep_ms = asleep_ms(fleet);
		loop_timer_start(fleet->watch, SLEEP_CHECK_MS, SLEEP_CHECK_MS);
	}
	link_pump_soon(s->link);
	return s;
}

static int fleet_write(struct stream *s, const void *data, size_t len, struct err *err)
{
	if (s->in_closed || s->cancelled)
		return err_set(err, ERR_USAGE, "the command's input is closed");
	if (len > s->in.cap - s->in.len)
		return err_set(err, ERR_LIMIT, "more than %zu bytes wait to be sent to %s",
			       s->in.cap, s->link->pod.name);
	buf_append(&s->in, data, len);
	stream_kick_soon(s);
	return 0;
}

static void fleet_close_stdin(struct stream *s)
{
	s->in_closed = true;
	stream_kick_soon(s);
}

static void fleet_resume(struct stream *s)
{
	s->resumed = true;
	stream_kick_soon(s);
}

static void fleet_cancel(struct stream *s)
{
	s->cancelled = true;
	stream_kick_soon(s);
}

static void fleet_link_info(struct transport *t, size_t pod, struct link_info *info)
{
	struct fleet *fleet = fleet_of(t);

	assert(pod < fleet->n_links);
	*info = fleet->links[pod].info;
}

static void fleet_reconnect(struct transport *t, size_t pod)
{
	struct fleet *fleet = fleet_of(t);

	assert(pod < fleet->n_links);
	for (struct remote_link *link = &fleet->links[pod]; link != NULL; link = link->spare)
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

/* Return a copy of a text that lives as long as the fleet; NULL for NULL. */
static const char *keep_text(struct fleet *fleet, const char *text)
{
	if (text == NULL)
		return NULL;
	char *kept = map_get(&fleet->texts, str_from(text));
	if (kept == NULL)
		(void)map_set(&fleet->texts, str_from(text), kept = xstrdup(text));
	return kept;
}

struct fleet *fleet_new(struct loop *loop, const struct remote_pod *pods, size_t n_pods,
			const struct fleet_options *options)
{
	struct fleet *fleet = xnew(struct fleet, .transport.ops = &fleet_ops, .loop = loop,
				   .clock = &clock_real, .denied_retry_ms = DENIED_RETRY_MS);

	if (options != NULL)
		fleet->options = *options;
	gate_init(&fleet->gate, loop);
	list_init(&fleet->asking);
	fleet->block = xmalloc(STREAM_BUDGET);
	fleet->watch = loop_timer_new(loop, on_watch, fleet);
	fleet->links = xcalloc(n_pods + 1, sizeof(*fleet->links));
	fleet->n_links = n_pods;
	for (size_t i = 0; i < n_pods; i++) {
		struct remote_pod pod = pods[i];
		const char **texts[] = { &pod.name,	   &pod.ssh,	    &pod.identity,
					 &pod.known_hosts, &pod.proxy_jump, &pod.host_key_alias };
		size_t n_words = 0;

		for (size_t k = 0; k < LENGTH(texts); k++)
			*texts[k] = keep_text(fleet, *texts[k]);
		while (pod.command != NULL && pod.command[n_words] != NULL)
			n_words++;
		fleet->links[i].words = xcalloc(n_words + 1, sizeof(char *));
		for (size_t k = 0; k < n_words; k++)
			fleet->links[i].words[k] = keep_text(fleet, pod.command[k]);
		pod.command = fleet->links[i].words;
		link_init(&fleet->links[i], fleet, i, &pod, transports[pod.transport]);
	}
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (fleet == NULL)
		return;
	fleet->closing = true;
	for (size_t i = 0; i < fleet->n_links; i++) {
		link_release(&fleet->links[i]);
		free(fleet->links[i].words);
	}
	map_release(&fleet->secrets, ssh_secret_free);
	map_release(&fleet->texts, free);
	loop_timer_close(fleet->watch);
	free(fleet->links);
	free(fleet->block);
	free(fleet);
}

struct transport *fleet_transport(struct fleet *fleet)
{
	return &fleet->transport;
}

void fleet_answer(struct fleet *fleet, size_t pod, const char *answer)
{
	struct remote_link *link = &fleet->links[pod];

	assert(pod < fleet->n_links);
	if (link->ops->answer != NULL)
		link->ops->answer(link, answer);
}
