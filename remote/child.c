/* SPDX-License-Identifier: MIT */
/*
 * Two of the ways to a pod: each stream is a child process, `sh -c` for the
 * machine itself, `ssh -T` for what libssh2 cannot reach.
 */
#include "config.h"

#include "remote/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "remote/link.h"

/* From SIGTERM to SIGKILL for a cancelled command. */
#define GRACE_MS 2000
/* For connecting, host key and authentication together. */
#define CONNECT_MS 40000
#define DIAG_CAP   8192

/* One child; outlives its stream by the grace of a cancelled command. */
struct child_run {
	struct list in_link; /* in child_conn.runs */
	struct remote_link *link;
	struct stream *s;	  /* NULL: cancelled */
	struct loop_child *child; /* NULL: not started, or over */
	int fds[3];		  /* our ends */
	struct loop_fd *watches[3];
	struct loop_timer *timer; /* connect deadline, then the grace */
	struct gate_ticket ticket;
	bool up;	 /* what comes is the command's */
	bool late;	 /* killed for the connect deadline */
	struct buf diag; /* stderr of ssh before it was up; then its tail */
	int status, signum;
};

struct child_conn {
	struct list runs;
};

static void
close_end(struct child_run *run, int i)
{
	loop_fd_close(run->watches[i]);
	run->watches[i] = NULL;
	child_close_fd(&run->fds[i]);
}

static void
free_run(struct child_run *run)
{
	gate_leave(&run->ticket);
	for (int i = 0; i < 3; i++)
		close_end(run, i);
	loop_timer_close(run->timer);
	loop_child_close(run->child);
	list_remove(&run->in_link);
	buf_release(&run->diag);
	free(run);
}

static bool
is_ssh(const struct child_run *run)
{
	return run->link->pod.transport == REMOTE_OPENSSH;
}

static void
run_is_up(struct child_run *run)
{
	run->up = true;
	gate_leave(&run->ticket);
	loop_timer_stop(run->timer);
	link_live(run->link);
}

/* Nothing runs on this link any more but r. */
static bool
is_alone(const struct child_run *run)
{
	const struct child_conn *conn = run->link->conn;

	list_for_each (at, &conn->runs) {
		const struct child_run *other =
			list_entry(at, struct child_run, in_link);

		if (other != run && other->s != NULL)
			return false;
	}
	return true;
}

/* ssh could not connect, or lost the connection; the error of its words. */
static void
run_failed(struct child_run *run, struct stream_exit *exit)
{
	struct str text = { run->diag.data, run->diag.len };
	bool final = child_ssh_error(&exit->err, run->link->pod.name, text);

	if (run->late)
		err_set(&exit->err, ERR_TIMEOUT,
			"%s: no connection within %d s", run->link->pod.name,
			CONNECT_MS / 1000);
	if (!is_alone(run))
		return;
	if (final && !run->up)
		link_refused(run->link, &exit->err);
	else
		link_lost(run->link, &exit->err);
}

/* ssh leaves with 255 for its own errors; a command may leave with it too. */
static bool
is_lost(const struct child_run *run)
{
	static const char *const words[] = {
		"Connection to ",    "Connection closed",
		"Connection reset",  "client_loop: ",
		"Timeout, server ",  "mux_client_",
		"packet_write_wait", "ssh_dispatch_run_fatal"
	};
	struct str text = { run->diag.data, run->diag.len };

	if (!is_ssh(run) || (run->status != 255 && run->signum == 0))
		return false;
	if (!run->up || run->signum != 0)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (str_find(text, words[i]) != NULL)
			return true;
	return false;
}

static void drain_stderr(struct child_run *run);

/* Tell the end once the child is gone and its last byte is taken. */
static void
maybe_finish(struct child_run *run)
{
	struct remote_link *link = run->link;
	struct stream_exit exit = { 0 };
	struct stream *s = run->s;
	bool alone;

	if (run->child != NULL)
		return;
	if (s == NULL) {
		free_run(run);
		return;
	}
	if (run->fds[1] >= 0)
		return;
	drain_stderr(run);
	if (is_lost(run)) {
		run_failed(run, &exit);
	} else {
		exit.exited = run->signum == 0;
		exit.status = exit.exited ? run->status : 0;
		exit.signalled = run->signum != 0;
		if (exit.signalled)
			child_signal_name(exit.signal, run->signum);
		if (!run->up)
			run_is_up(run);
	}
	alone = is_alone(run);
	s->run = NULL;
	free_run(run);
	if (alone && link->info.state == LINK_LIVE)
		link_idle(link);
	stream_finish(s, &exit);
}

static void
on_child_exit(void *user, int exit_status, int term_signal)
{
	struct child_run *run = user;

	run->child = NULL;
	run->status = exit_status;
	run->signum = term_signal;
	close_end(run, 0);
	maybe_finish(run);
}

/* Send what waits; the end of it closes the pipe. */
static void
push_stdin(struct child_run *run)
{
	struct stream *s = run->s;

	while (run->fds[0] >= 0 && s->in.len > 0) {
		ssize_t n = write(run->fds[0], s->in.data, s->in.len);

		if (n > 0) {
			buf_consume(&s->in, (size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		close_end(run, 0);
	}
	if (run->fds[0] < 0) {
		buf_clear(&s->in);
		return;
	}
	if (s->in.len == 0 && s->in_closed)
		close_end(run, 0);
	else
		loop_fd_set(run->watches[0], s->in.len > 0 ? LOOP_WRITE : 0);
}

static void
on_stdin(void *user, unsigned int events)
{
	(void)events;
	push_stdin(user);
}

/* stderr of a command that is up; the tail is kept for is_lost. */
static void
take_stderr(struct child_run *run, const char *data, size_t len)
{
	if (is_ssh(run)) {
		if (run->diag.len + len > DIAG_CAP)
			buf_clear(&run->diag);
		buf_append(&run->diag, data, len);
	}
	stream_deliver_stderr(run->s, data, len);
}

/* All that ssh wrote so far was the command's: it never said it was up. */
static void
flush_diag(struct child_run *run)
{
	struct buf diag = run->diag;

	buf_init(&run->diag, DIAG_CAP);
	run_is_up(run);
	take_stderr(run, diag.data, diag.len);
	buf_release(&diag);
}

/* ssh's own words up to the mark; what follows is the command's. */
static void
take_diag(struct child_run *run, const char *data, size_t len)
{
	const char *mark;
	struct buf rest;

	if (run->diag.len + len > run->diag.cap)
		buf_consume(&run->diag, run->diag.len / 2);
	buf_append(&run->diag, data, len);
	mark = str_find((struct str){ run->diag.data, run->diag.len },
			CHILD_UP_MARK);
	if (mark == NULL)
		return;
	mark += strlen(CHILD_UP_MARK);
	buf_init(&rest, DIAG_CAP);
	buf_append(&rest, mark,
		   run->diag.len - (size_t)(mark - run->diag.data));
	buf_clear(&run->diag);
	run_is_up(run);
	if (rest.len > 0)
		take_stderr(run, rest.data, rest.len);
	buf_release(&rest);
}

static void
drain_stderr(struct child_run *run)
{
	char data[4096];
	ssize_t n = -1;

	for (int i = 0; i < 16 && run->fds[2] >= 0; i++) {
		n = read(run->fds[2], data, sizeof(data));
		if (n <= 0)
			break;
		if (run->up)
			take_stderr(run, data, (size_t)n);
		else
			take_diag(run, data, (size_t)n);
	}
	if (run->fds[2] >= 0 && (n == 0 || (n < 0 && errno != EAGAIN)))
		close_end(run, 2);
}

static void
on_stderr(void *user, unsigned int events)
{
	struct child_run *run = user;

	(void)events;
	drain_stderr(run);
	if (run->fds[2] >= 0)
		loop_fd_set(run->watches[2], LOOP_READ);
}

static void
on_stdout(void *user, unsigned int events)
{
	struct child_run *run = user;
	char *data = run->link->fleet->block;
	ssize_t n;

	(void)events;
	n = read(run->fds[1], data, STREAM_BUDGET);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		loop_fd_set(run->watches[1], LOOP_READ);
		return;
	}
	if (n <= 0) {
		close_end(run, 1);
		maybe_finish(run);
		return;
	}
	if (!run->up) {
		drain_stderr(run);
		if (!run->up)
			flush_diag(run);
	}
	stream_deliver(run->s, data, (size_t)n);
	loop_fd_set(run->watches[1], stream_is_open(run->s) ? LOOP_READ : 0);
}

static void
on_deadline(void *user)
{
	struct child_run *run = user;

	run->late = run->s != NULL;
	if (run->child != NULL)
		loop_child_kill(run->child, SIGKILL);
}

static int
start_child(struct child_run *run, const char *const *argv,
	    const char *const *envp, struct err *err)
{
	static const loop_fd_fn fns[3] = { on_stdin, on_stdout, on_stderr };
	struct loop *loop = run->link->fleet->loop;
	int theirs[3] = { -1, -1, -1 }, pair[2], rc = 0;

	for (int i = 0; i < 3 && rc == 0; i++) {
		rc = child_pipe(pair, i == 0, err);
		if (rc != 0)
			break;
		run->fds[i] = pair[i == 0];
		theirs[i] = pair[i != 0];
		run->watches[i] = loop_fd_new(loop, run->fds[i], fns[i], run);
	}
	if (rc == 0)
		run->child = loop_child_new(loop, argv, envp, theirs,
					    on_child_exit, run, err);
	for (int i = 0; i < 3; i++)
		child_close_fd(&theirs[i]);
	if (run->child == NULL)
		return -1;
	loop_fd_set(run->watches[1], LOOP_READ);
	loop_fd_set(run->watches[2], LOOP_READ);
	push_stdin(run);
	return 0;
}

static int
start_ssh(struct child_run *run, struct err *err)
{
	const char **envp = child_ssh_environment();
	const struct remote_link *link = run->link;
	struct child_words words;
	int rc = child_words_init(&words, &link->pod,
				  link->fleet->options.accept_new,
				  run->s->command, err);

	if (rc == 0)
		rc = start_child(run, words.argv, envp, err);
	child_words_release(&words);
	free(envp);
	return rc;
}

/* It may start now. */
static void
on_admit(void *user)
{
	struct child_run *run = user;
	const char *const sh[] = { "/bin/sh", "-c", run->s->command, NULL };
	struct stream *s = run->s;
	struct err err;
	int rc;

	if (is_ssh(run)) {
		loop_timer_start(run->timer, CONNECT_MS, 0);
		rc = start_ssh(run, &err);
	} else {
		rc = start_child(run, sh, NULL, &err);
	}
	if (rc == 0) {
		if (!is_ssh(run))
			run_is_up(run);
		return;
	}
	err_prefix(&err, "%s", run->link->pod.name);
	s->run = NULL;
	link_refused(run->link, &err);
	free_run(run);
	stream_fail(s, &err);
}

static void
child_start(struct remote_link *link, struct stream *s)
{
	struct child_run *run = xcalloc(1, sizeof(*run));
	struct child_conn *conn = link->conn;

	if (conn == NULL) {
		link->conn = conn = xcalloc(1, sizeof(*conn));
		list_init(&conn->runs);
	}
	run->link = link;
	run->s = s;
	run->fds[0] = run->fds[1] = run->fds[2] = -1;
	run->timer = loop_timer_new(link->fleet->loop, on_deadline, run);
	buf_init(&run->diag, DIAG_CAP);
	list_append(&conn->runs, &run->in_link);
	s->run = run;
	if (link->info.state != LINK_LIVE)
		link_connecting(link);
	if (is_ssh(run))
		gate_enter(&link->fleet->gate, &run->ticket, link->pod.ssh,
			   on_admit, run);
	else
		loop_post(link->fleet->loop, on_admit, run);
}

static void
child_kick(struct stream *s)
{
	struct child_run *run = s->run;

	if (run->child != NULL)
		push_stdin(run);
	if (run->fds[1] >= 0)
		loop_fd_set(run->watches[1], stream_is_open(s) ? LOOP_READ : 0);
}

/* The command is told to go, later made to. */
static void
child_detach(struct stream *s)
{
	struct child_run *run = s->run;
	struct remote_link *link = run->link;
	bool alone = is_alone(run);

	s->run = NULL;
	run->s = NULL;
	loop_unpost(link->fleet->loop, on_admit, run);
	gate_leave(&run->ticket);
	for (int i = 0; i < 3; i++)
		close_end(run, i);
	if (alone && (link->info.state == LINK_LIVE ||
		      link->info.state == LINK_CONNECTING))
		link_idle(link);
	if (run->child == NULL) {
		free_run(run);
		return;
	}
	loop_child_kill(run->child, SIGTERM);
	loop_timer_start(run->timer, GRACE_MS, 0);
}

/* ssh has its own ServerAliveInterval; there is nothing to ask. */
static void
child_probe(struct remote_link *link)
{
	(void)link;
}

/* A child ssh asks no questions. */
static void
child_answer(struct remote_link *link, const char *answer)
{
	(void)link;
	(void)answer;
}

static void
child_release(struct remote_link *link)
{
	struct child_conn *conn = link->conn;

	if (conn == NULL)
		return;
	list_for_each_safe(at, &conn->runs)
	{
		struct child_run *run =
			list_entry(at, struct child_run, in_link);

		if (run->child != NULL)
			loop_child_kill(run->child, SIGTERM);
		free_run(run);
	}
	free(conn);
	link->conn = NULL;
}

const struct link_ops child_link_ops = {
	.start = child_start,
	.kick = child_kick,
	.detach = child_detach,
	.probe = child_probe,
	.answer = child_answer,
	.release = child_release,
};
