/* SPDX-License-Identifier: MIT */
/* Starts the follower on a pod, checks that it is alive, and starts it again after a loss. */
#include "remote/follow.h"

#include <inttypes.h>
#include <sys/random.h>

#include "base/utf8.h"
#include "remote/follow_priv.h"

#define TICK_MS		  1000
#define POLL_MS		  200
#define HEALTHY_MS	  60000
#define AGAIN_MS	  20	 /* short, because the connection has its own back-off */
#define LIMIT_MS	  600000 /* delay for a pod that exceeded a limit (ERR_LIMIT) */
#define PING_MS		  5000
#define SILENCE_MS	  15000 /* a session is dead after this time without a byte */
#define LINK_SILENT_MS	  10000 /* longer than the interval of the connection's own probes */
#define LINK_FIRST_MS	  2000	/* gives these probes time to notice first */
#define HELLO_MS	  20000 /* time limit for a follower to start */
#define COMMAND_MAX_BYTES (256U * 1024)
#define LIST_MAX_BYTES	  (1000U * 1000)

static void set_globs(struct follow *follow, const char *const *items, size_t n)
{
	for (size_t i = 0; i < follow->n_globs; i++)
		free(follow->globs[i]);
	free(follow->globs);
	follow->globs = n > 0 ? xcalloc(n, sizeof(char *)) : NULL;
	follow->n_globs = n;
	for (size_t i = 0; i < n; i++)
		follow->globs[i] = xstrdup(items[i]);
}

static void follow_link(const struct follow *follow, struct link_info *link)
{
	follow->transport->ops->link_info(follow->transport, follow->pod, link);
}

void follow_get_status(const struct follow *follow, struct follow_status *status)
{
	const struct follow_session *session = follow->session;
	struct link_info link;

	*status = follow->status;
	if (session == NULL || session->hello)
		return;
	follow_link(follow, &link);
	if (link.state == LINK_WAITING || link.state == LINK_REFUSED) {
		status->state = link.state;
		status->why = link.why;
		status->retry_at_ms = link.retry_at_ms;
	}
}

static void report_status(struct follow *follow)
{
	struct follow_status now;

	follow_get_status(follow, &now);
	if (now.state == follow->reported.state && now.scanned == follow->reported.scanned &&
	    now.n_followed == follow->reported.n_followed &&
	    now.n_matching == follow->reported.n_matching &&
	    now.retry_at_ms == follow->reported.retry_at_ms &&
	    strcmp(now.why.text, follow->reported.why.text) == 0)
		return;
	follow->reported = now;
	if (follow->cb.on_state != NULL)
		follow->cb.on_state(follow->user, &now);
}

static void set_follow_state(struct follow *follow, enum link_state state, const struct err *why)
{
	follow->status.state = state;
	follow->status.since_ms = clock_mono_ms();
	follow->status.why = why != NULL ? *why : (struct err){ 0 };
	if (state != LINK_WAITING)
		follow->status.retry_at_ms = 0;
	report_status(follow);
}

static void plan_retry(struct follow *follow, const struct follow_session *session,
		       const struct err *why)
{
	int64_t now_ms = clock_mono_ms(), delay_ms = AGAIN_MS;
	struct link_info link;

	follow_link(follow, &link);
	if (link.state == LINK_REFUSED) {
		set_follow_state(follow, LINK_REFUSED, why);
		return;
	}
	if (session->hello && now_ms - follow->status.since_ms >= HEALTHY_MS)
		follow->failures = 0;
	/* If the connection is lost, the transport reconnects by itself. */
	if (why->code == ERR_LIMIT) {
		delay_ms = LIMIT_MS;
	} else if (link.state != LINK_WAITING) {
		follow->failures++;
		delay_ms = clock_backoff_ms(follow->failures);
	}
	follow->status.retry_at_ms = link.state == LINK_WAITING && why->code != ERR_LIMIT
					     ? link.retry_at_ms
					     : now_ms + delay_ms;
	set_follow_state(follow, LINK_WAITING, why);
	loop_timer_start(follow->retry, delay_ms, 0);
}

/* ---- the lines sent to a follower, and the command that starts it */

/* Both scripts are sent, and a first shell decides which one to run. Its $0 and $1 are the scripts,
 * $2 is the nonce. These texts must not contain single quotes, backslashes, "!" or newlines. */
#define BE_NICE                                \
	"renice -n 10 -p $$ >/dev/null 2>&1; " \
	"ionice -c 2 -n 7 -p $$ >/dev/null 2>&1; "
#define HAVE_PYTHON                                                  \
	"python3 -ISc \"import os, select, zlib; os.set_blocking\" " \
	"</dev/null >/dev/null 2>&1 && "
#define RUN_PYTHON "exec python3 -ISc \"$(printf %b \"$1\")\" \"$2\"; "
#define RUN_SHELL  "eval \"$(printf %b \"$0\")\""

static const char *const boot[] = {
	[FOLLOW_AUTO] = BE_NICE HAVE_PYTHON RUN_PYTHON RUN_SHELL,
	[FOLLOW_PYTHON] = BE_NICE RUN_PYTHON,
	[FOLLOW_SHELL] = BE_NICE RUN_SHELL,
};

void follow_wire_start(struct buf *out, enum follow_variant variant, const char *nonce)
{
	buf_appendf(out, "exec env LC_ALL=C sh -c '%s' '", boot[variant]);
	buf_append_str(out, follow_script_sh);
	buf_append_str(out, "' '");
	buf_append_str(out, follow_script_py);
	buf_appendf(out, "' %s", nonce);
}

void follow_wire_escape(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (str_is_word(c) || (c != '\0' && strchr("/.-+=,:@%^~", c) != NULL))
			buf_append_char(out, c);
		else
			buf_appendf(out, "\\0%03o", (unsigned char)c);
	}
}

/* ---- one stream */

static void session_lose(struct follow_session *session, const struct err *why)
{
	struct transport *transport = session->follow->transport;

	if (session->lost)
		return;
	session->lost = true;
	session->why = *why;
	transport->ops->cancel(session->stream);
}

static void session_flush(struct follow_session *session)
{
	struct transport *transport = session->follow->transport;
	struct buf *out = &session->out;
	struct err err = { ERR_NONE, "" };

	if (out->len == 0 || session->lost)
		return;
	if (out->truncated) {
		err_set(&err, ERR_LIMIT, "the list of logs is longer than %u bytes",
			LIST_MAX_BYTES);
		session_lose(session, &err);
	} else if (transport->ops->write(session->stream, out->data, out->len, &err)) {
		session_lose(session, &err);
	}
	buf_clear(out);
}

static void send_list(struct follow_session *session)
{
	const struct follow *follow = session->follow;

	for (size_t i = 0; i < follow->n_globs; i++) {
		buf_append_str(&session->out, "G ");
		follow_wire_escape(&session->out, str_from(follow->globs[i]));
		buf_append_char(&session->out, '\n');
	}
	buf_append_str(&session->out, "GO\n");
	session_flush(session);
}

static void send_ping(struct follow_session *session)
{
	buf_appendf(&session->out, "P %" PRIu64 "\n", ++session->ping_seq);
	session->ping_ms = clock_mono_ms();
	session->ping_open = true;
	session_flush(session);
}

/* Process one frame; -1 with err if it is invalid, 1 if not all of its data was consumed. */
static int take_frame(struct follow_session *session, const struct frame *frame, struct str *in,
		      struct err *err)
{
	struct follow *follow = session->follow;
	AUTO_BUF clean = buf_new(200);
	size_t taken;

	if (frame->type == FRAME_HELLO) {
		session->hello = true;
		follow->status.python = frame->python;
		set_follow_state(follow, LINK_LIVE, NULL);
		send_ping(session);
		return 0;
	}
	if (frame->type == FRAME_LACKS) {
		utf8_sanitize(&clean, frame->data);
		return err_set(err, ERR_REMOTE,
			       "cannot follow logs: the pod has neither python3 nor %s",
			       clean.data);
	}
	if (frame->type == FRAME_BEAT) {
		if (session->ping_open && frame->seq == session->ping_seq) {
			session->ping_open = false;
			follow->status.lag_ms = clock_mono_ms() - session->ping_ms;
		}
		return 0;
	}
	if (follow_files_take(session, frame, &taken, err))
		return -1;
	if (frame->type == FRAME_DATA || frame->type == FRAME_PREVIEW)
		frame_take(&session->reader, in, taken);
	else
		report_status(follow);
	return taken < frame->data.len;
}

static size_t session_on_data(void *user, const void *data, size_t len)
{
	struct follow_session *session = user;
	struct str in = { data, len };
	struct frame frame;
	struct err err = { ERR_NONE, "" };
	int found, rc = 0;

	if (session->follow == NULL || session->lost)
		return len;
	session->follow->status.last_byte_ms = clock_mono_ms();
	do {
		found = frame_next(&session->reader, &in, &frame, &err);
		if (found == 1)
			rc = take_frame(session, &frame, &in, &err);
	} while (found == 1 && rc == 0 && !session->lost);
	if (found < 0 || rc < 0)
		session_lose(session, &err);
	if (session->lost)
		return len;
	session->paused = rc > 0;
	session_flush(session);
	return len - in.len;
}

static void session_on_stderr(void *user, const void *data, size_t len)
{
	struct follow_session *session = user;
	size_t most = sizeof(session->errors), keep = len < most ? most - len : 0;
	size_t n_old = session->n_errors < keep ? session->n_errors : keep;
	size_t n_new = len < most ? len : most;

	memmove(session->errors, session->errors + session->n_errors - n_old, n_old);
	memcpy(session->errors + n_old, (const char *)data + len - n_new, n_new);
	session->n_errors = n_old + n_new;
}

static void explain_exit(const struct follow_session *session, const struct stream_exit *exit,
			 struct err *err)
{
	struct str last = str_last_line((struct str){ session->errors, session->n_errors });
	AUTO_BUF clean = buf_new(300);

	if (exit->err.code != ERR_NONE) {
		*err = exit->err;
		return;
	}
	/* Ignore stderr: a shell prints the text of a command that was killed there. */
	if (exit->signalled) {
		err_set(err, ERR_REMOTE, "the follower on the pod was killed by SIG%s",
			exit->signal);
		return;
	}
	if (last.len == 0 && !session->hello)
		last = str_trim(str_from(session->reader.said));
	if (last.len > 0)
		buf_append_str(&clean, ": ");
	utf8_sanitize(&clean, last);
	err_set(err, ERR_REMOTE, "the follower on the pod exited with status %d%s", exit->status,
		clean.data);
}

static void session_on_close(void *user, const struct stream_exit *exit)
{
	struct follow_session *session = user;
	struct follow *follow = session->follow;
	struct err why = session->why;

	if (follow != NULL) {
		if (!session->lost)
			explain_exit(session, exit, &why);
		follow_files_lost(session);
		follow->session = NULL;
		follow->status.lag_ms = -1;
		follow->status.scanned = false;
		follow->status.losses += session->hello;
		plan_retry(follow, session, &why);
	}
	for (size_t i = 0; i < session->n_seen; i++) {
		free(session->seen[i].path);
		free(session->seen[i].real);
	}
	free(session->seen);
	buf_release(&session->out);
	free(session);
}

static void session_open(struct follow *follow)
{
	static const struct stream_cb cb = { session_on_data, session_on_stderr, session_on_close };
	struct follow_session *session =
		xnew(struct follow_session, .follow = follow, .out = buf_new(LIST_MAX_BYTES));
	char nonce[FOLLOW_NONCE_SIZE];
	uint64_t random;
	AUTO_BUF command = buf_new(COMMAND_MAX_BYTES);
	struct err err = { ERR_NONE, "" };

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	print_into(nonce, "%016" PRIx64, random);
	frame_reader_init(&session->reader, nonce);
	follow_wire_start(&command, follow->variant, nonce);
	session->stream = follow->transport->ops->exec(follow->transport, follow->pod, command.data,
						       &cb, session, &err);
	if (session->stream == NULL) {
		buf_release(&session->out);
		free(session);
		set_follow_state(follow, LINK_REFUSED, &err);
		return;
	}
	follow->session = session;
	follow->opened_ms = clock_mono_ms();
	follow_files_begin(follow);
	set_follow_state(follow, LINK_CONNECTING, NULL);
	buf_appendf(&session->out, "I %d\n", follow->poll_ms);
	if (follow->quiet)
		buf_append_str(&session->out, "Q 1\n");
	send_list(session);
}

/* Compare files, ping, and end the session if the follower is silent or takes too long to start. */
static void check_session(struct follow_session *session, int64_t now)
{
	struct follow *follow = session->follow;
	int64_t silence_ms = SILENCE_MS;
	struct link_info link;
	struct err err;

	if (session->hello) {
		follow_files_compare(session);
		session_flush(session);
		if (now - session->ping_ms >= PING_MS)
			send_ping(session);
	}
	follow_link(follow, &link);
	if (session->hello) {
		/* If the whole connection is silent, its own probes should notice first. */
		if (now - link.last_byte_ms > LINK_SILENT_MS)
			silence_ms += LINK_FIRST_MS;
		if (!session->paused && now - follow->status.last_byte_ms > silence_ms) {
			err_set(&err, ERR_TIMEOUT, "nothing came from the pod for %d s",
				SILENCE_MS / 1000);
			session_lose(session, &err);
		}
	} else if (link.state == LINK_LIVE && now - follow->opened_ms > HELLO_MS &&
		   now - link.since_ms > HELLO_MS) {
		err_set(&err, ERR_TIMEOUT, "the follower did not start on the pod within %d s",
			HELLO_MS / 1000);
		session_lose(session, &err);
	}
}

/* ---- the log follower of a pod */

static void follow_on_retry(void *user)
{
	struct follow *follow = user;

	if (follow->session == NULL)
		session_open(follow);
}

static void follow_on_tick(void *user)
{
	struct follow *follow = user;
	struct follow_session *session = follow->session;
	int64_t now_ms = clock_mono_ms();
	struct link_info link;

	if (session != NULL && !session->lost) {
		check_session(session, now_ms);
	} else if (follow->status.state == LINK_REFUSED) {
		/* The user may have reconnected the pod meanwhile. */
		follow_link(follow, &link);
		if (link.state != LINK_REFUSED && session == NULL)
			session_open(follow);
	}
	report_status(follow);
}

struct follow *follow_new(const struct follow_options *options)
{
	struct follow *follow = xnew(
		struct follow, .loop = options->loop, .transport = options->transport,
		.pod = options->pod, .poll_ms = options->poll_ms > 0 ? options->poll_ms : POLL_MS,
		.variant = options->variant, .cb = options->cb, .user = options->user,
		.status.lag_ms = -1, .new_ms = clock_mono_ms());

	list_init(&follow->files);
	for (size_t i = 0; i < FOLLOW_BUCKETS; i++) {
		list_init(&follow->by_inode[i]);
		list_init(&follow->by_path[i]);
	}
	follow->tick = loop_timer_new(follow->loop, follow_on_tick, follow);
	follow->retry = loop_timer_new(follow->loop, follow_on_retry, follow);
	return follow;
}

void follow_free(struct follow *follow)
{
	if (follow == NULL)
		return;
	loop_timer_close(follow->tick);
	loop_timer_close(follow->retry);
	if (follow->session != NULL) {
		follow->session->follow = NULL;
		follow->transport->ops->cancel(follow->session->stream);
		follow->session = NULL;
	}
	follow_files_release(follow);
	set_globs(follow, NULL, 0);
	free(follow);
}

void follow_start(struct follow *follow, const char *const *globs, size_t n_globs)
{
	set_globs(follow, globs, n_globs);
	if (follow->started) {
		if (follow->session != NULL && !follow->session->lost)
			send_list(follow->session);
		return;
	}
	follow->started = true;
	loop_timer_start(follow->tick, TICK_MS, TICK_MS);
	if (follow->session == NULL)
		loop_timer_start(follow->retry, 0, 0);
}

void follow_set_quiet(struct follow *follow, bool quiet)
{
	if (follow->quiet == quiet)
		return;
	follow->quiet = quiet;
	if (follow->session == NULL || follow->session->lost)
		return;
	buf_appendf(&follow->session->out, "Q %d\n", quiet);
	/* Scan now: the follower did not scan while quiet. */
	if (!quiet)
		send_list(follow->session);
	else
		session_flush(follow->session);
}

void follow_resume(struct follow *follow)
{
	struct follow_session *session = follow->session;

	if (session == NULL || !session->paused)
		return;
	session->paused = false;
	follow->status.last_byte_ms = clock_mono_ms();
	follow->transport->ops->resume(session->stream);
}

void follow_retry(struct follow *follow)
{
	if (!follow->started)
		return;
	follow->transport->ops->reconnect(follow->transport, follow->pod);
	if (follow->session == NULL)
		loop_timer_start(follow->retry, 0, 0);
}
