/* SPDX-License-Identifier: MIT */
/* The transports that start a child process per stream: `sh -c` for this machine, `ssh -T` for pods
 * that libssh2 cannot reach, or any program that provides a shell (`docker exec -i POD sh`). */
#include <signal.h>
#include <unistd.h>

#include "base/utf8.h"
#include "remote/link_priv.h"
#include "remote/openssh.h"
#include "remote/process.h"
#include "remote/shell_marks.h"

/* Time between SIGTERM and SIGKILL for a cancelled command. */
#define GRACE_MS 2000
/* Limit for connecting, host key and authentication together. */
#define CONNECT_MS 40000
#define DIAG_CAP   8192
/* Maximum output of a shell before the first marker. */
#define BANNER_CAP (1U << 20)
/* Room for the line that starts the longest command, even if every byte is quoted. */
#define HEAD_CAP (1U << 18)

/* One child process; it outlives its stream until a cancelled command has ended. */
struct child_run {
	struct list in_link; /* in remote_link.runs */
	struct remote_link *link;
	struct stream *s; /* NULL: cancelled */
	struct process process;
	struct loop_timer *timer; /* deadline for connecting, later for SIGKILL */
	struct gate_ticket ticket;
	bool up;	 /* connected: further output is the command's */
	bool late;	 /* killed because of the connect deadline */
	struct buf diag; /* output before the start, then the end of stderr */
	int status, signum;
	/* Only for a shell: */
	struct shell_marks marks;
	struct buf head; /* bytes of its stdin up to the line that starts the command */
	size_t n_before; /* bytes printed before the command started */
};

static void free_run(struct child_run *run)
{
	gate_leave(&run->ticket);
	process_release(&run->process, SIGTERM);
	loop_timer_close(run->timer);
	list_remove(&run->in_link);
	buf_release(&run->diag);
	buf_release(&run->head);
	free(run);
}

static bool is_ssh(const struct child_run *run)
{
	return run->link->pod.transport == REMOTE_OPENSSH;
}

static bool is_shell(const struct child_run *run)
{
	return run->link->pod.transport == REMOTE_COMMAND;
}

static bool is_local(const struct child_run *run)
{
	return run->link->pod.transport == REMOTE_LOCAL;
}

static void run_is_up(struct child_run *run)
{
	run->up = true;
	gate_leave(&run->ticket);
	loop_timer_stop(run->timer);
	link_live(run->link);
}

static bool is_alone(const struct child_run *run)
{
	list_each (const struct child_run, other, &run->link->runs, in_link)
		if (other != run && other->s != NULL)
			return false;
	return true;
}

/* Did the command not finish? ssh exits with 255 for its own errors, but a command can do so too. A
 * shell reports the end of its command. */
static bool is_lost(const struct child_run *run)
{
	static const char *const words[] = { "Connection to ",	  "Connection closed",
					     "Connection reset",  "client_loop: ",
					     "Timeout, server ",  "mux_client_",
					     "packet_write_wait", "ssh_dispatch_run_fatal" };

	if (is_shell(run))
		return !run->marks.over || run->marks.status < 0;
	if (!is_ssh(run) || (run->status != 255 && run->signum == 0))
		return false;
	if (!run->up || run->signum != 0)
		return true;
	return any_of(i, LENGTH(words), str_find(buf_str(&run->diag), words[i]) != NULL);
}

/* Explain why the command did not finish: ssh could not connect or lost the connection, or the
 * program that provides the shell ended. Their messages give the reason. */
static void report_lost(const struct child_run *run, struct stream_exit *exit)
{
	const char *name = run->link->pod.name;
	bool final = false;
	char clean[256];

	utf8_clean(clean, sizeof(clean), str_last_line(buf_str(&run->diag)));
	if (!is_shell(run))
		final = openssh_error(&exit->err, name, buf_str(&run->diag));
	else if (run->n_before > BANNER_CAP)
		err_set(&exit->err, ERR_NET,
			"%s: endless output and no shell prompt; check the \"command\" of this pod",
			name);
	else
		err_set(&exit->err, ERR_NET, "%s: \"%s\" ended with %s %d %s%s%s", name,
			run->link->pod.command[0], run->signum != 0 ? "signal" : "exit status",
			run->signum != 0 ? run->signum : run->status,
			run->up ? "before the command did" : "before a shell answered",
			clean[0] != '\0' ? ": " : "", clean);
	if (run->late)
		err_set(&exit->err, ERR_TIMEOUT, "%s: no %s within %d s", name,
			is_shell(run) ? "answer from a shell" : "connection", CONNECT_MS / 1000);
	if (!is_alone(run))
		return;
	if (final && !run->up && exit->err.code == ERR_AUTH)
		link_denied(run->link, &exit->err);
	else if (final && !run->up)
		link_refused(run->link, &exit->err);
	else
		link_lost(run->link, &exit->err);
}

static void report_end(struct child_run *run, struct stream_exit *exit)
{
	const char *name = sigabbrev_np(run->signum);

	if (is_shell(run)) {
		exit->exited = true;
		exit->status = run->marks.status;
		return;
	}
	exit->exited = run->signum == 0;
	exit->status = exit->exited ? run->status : 0;
	exit->signalled = run->signum != 0;
	if (name != NULL)
		snprintf(exit->signal, sizeof(exit->signal), "%s", name);
	else if (exit->signalled)
		snprintf(exit->signal, sizeof(exit->signal), "%d", run->signum);
	if (!run->up)
		run_is_up(run);
}

/* Deliver the command's stderr, and keep its end for is_lost(). */
static void deliver_stderr(struct child_run *run, const char *data, size_t len)
{
	if (!is_local(run)) {
		if (run->diag.len + len > DIAG_CAP)
			buf_clear(&run->diag);
		buf_append(&run->diag, data, len);
	}
	stream_deliver_stderr(run->s, data, len);
}

/* The command is running. The first n_of_ssh bytes of diag are of ssh, the rest its stderr. */
static void begin_output(struct child_run *run, size_t n_of_ssh)
{
	struct buf diag = run->diag;

	buf_init(&run->diag, DIAG_CAP);
	run_is_up(run);
	deliver_stderr(run, diag.data + n_of_ssh, diag.len - n_of_ssh);
	buf_release(&diag);
}

/* Take bytes of stderr: before the marker they are messages of ssh, after it the command's. */
static void take_stderr(struct child_run *run, const char *data, size_t len)
{
	if (run->up) {
		deliver_stderr(run, data, len);
		return;
	}
	if (run->diag.len + len > run->diag.cap)
		buf_consume(&run->diag, run->diag.len / 2);
	if (len > DIAG_CAP / 2) {
		data += len - DIAG_CAP / 2;
		len = DIAG_CAP / 2;
	}
	buf_append(&run->diag, data, len);
	const char *mark = is_ssh(run) ? str_find(buf_str(&run->diag), SSH_UP_MARK) : NULL;
	if (mark != NULL)
		begin_output(run, (size_t)(mark - run->diag.data) + strlen(SSH_UP_MARK));
}

static void drain_stderr(struct child_run *run)
{
	char data[4096];
	ssize_t n = -1;

	for (int i = 0; i < 16 && run->process.fds[2] >= 0; i++) {
		n = read(run->process.fds[2], data, sizeof(data));
		if (n <= 0)
			break;
		take_stderr(run, data, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		process_close_pipe(&run->process, 2);
}

/* Report the end if the child has exited and its last byte was read. */
static void finish_if_done(struct child_run *run)
{
	struct remote_link *link = run->link;
	struct stream_exit exit = { 0 };
	struct stream *s = run->s;

	if (run->process.child != NULL)
		return;
	if (s == NULL) {
		free_run(run);
		return;
	}
	/* After a shell's end marker, further output does not matter. */
	if (run->process.fds[1] >= 0 && !(run->marks.over && stream_is_open(s)))
		return;
	drain_stderr(run);
	if (is_lost(run))
		report_lost(run, &exit);
	else
		report_end(run, &exit);
	bool alone = is_alone(run);
	s->run = NULL;
	free_run(run);
	if (alone && link->info.state == LINK_LIVE)
		link_idle(link);
	stream_finish(s, &exit);
}

static void on_child_exit(void *user, int exit_status, int term_signal)
{
	struct child_run *run = user;

	run->process.child = NULL;
	run->status = exit_status;
	run->signum = term_signal;
	process_close_pipe(&run->process, 0);
	finish_if_done(run);
}

/* Return the buffer to write next: the line for the shell, then the command's input, or NULL. */
static struct buf *next_input(struct child_run *run)
{
	if (run->head.len > 0)
		return &run->head;
	return is_shell(run) && !run->up ? NULL : &run->s->in;
}

static void push_stdin(struct child_run *run)
{
	struct stream *s = run->s;
	struct buf *in;
	ssize_t n = 0;

	while (run->process.fds[0] >= 0 && (in = next_input(run)) != NULL && in->len > 0) {
		n = write(run->process.fds[0], in->data, in->len);
		if (n > 0)
			buf_consume(in, (size_t)n);
		else if (n < 0 && errno == EAGAIN)
			break;
		else if (n == 0 || errno != EINTR)
			process_close_pipe(&run->process, 0);
	}
	in = next_input(run);
	if (run->process.fds[0] < 0)
		buf_clear(&s->in);
	else if (in != NULL && in->len == 0 && s->in_closed)
		process_close_pipe(&run->process, 0);
	else
		loop_fd_set(run->process.watches[0], in != NULL && in->len > 0 ? LOOP_WRITE : 0);
}

static void on_stdin(void *user, UNUSED unsigned int events)
{
	push_stdin(user);
}

static void on_stderr(void *user, UNUSED unsigned int events)
{
	struct child_run *run = user;

	drain_stderr(run);
	if (run->process.fds[2] >= 0)
		loop_fd_set(run->process.watches[2], LOOP_READ);
}

static void watch_stdout(struct child_run *run)
{
	if (run->process.fds[1] >= 0)
		loop_fd_set(run->process.watches[1], stream_is_open(run->s) ? LOOP_READ : 0);
}

static struct str split_stdout(struct child_run *run, struct str data)
{
	bool was_over = run->marks.over;
	struct str before, output;

	shell_marks_take(&run->marks, data, &before, &output);
	if (!run->up) {
		run->n_before += before.len;
		take_stderr(run, before.p, before.len);
		/* A program with endless output is not a shell: do not wait for it. */
		if (run->n_before > BANNER_CAP && run->process.child != NULL)
			loop_child_kill(run->process.child, SIGKILL);
	}
	if (run->marks.begun && !run->up) {
		drain_stderr(run);
		begin_output(run, 0);
		push_stdin(run);
	}
	/* Give the program time to exit after the shell did, then kill it. */
	if (run->marks.over && !was_over)
		loop_timer_start(run->timer, GRACE_MS, 0);
	return output;
}

static void on_stdout(void *user, UNUSED unsigned int events)
{
	struct child_run *run = user;
	char *data = run->link->fleet->block;
	size_t n_held = run->marks.n_held;
	ssize_t n = read(run->process.fds[1], data + n_held, STREAM_BUDGET - n_held);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch_stdout(run);
		return;
	}
	if (n <= 0) {
		process_close_pipe(&run->process, 1);
		finish_if_done(run);
		return;
	}
	memcpy(data, run->marks.held, n_held);
	struct str output = (struct str){ data, n_held + (size_t)n };
	if (is_shell(run))
		output = split_stdout(run, output);
	else if (!run->up) {
		drain_stderr(run);
		/* No start marker came, but the command prints already: keep all its output. */
		if (!run->up)
			begin_output(run, 0);
	}
	stream_deliver(run->s, output.p, output.len);
	watch_stdout(run);
	if (run->marks.over)
		finish_if_done(run);
}

static void on_timeout(void *user)
{
	struct child_run *run = user;

	run->late = run->s != NULL && !run->up;
	if (run->process.child != NULL)
		loop_child_kill(run->process.child, SIGKILL);
}

static void on_admit(void *user)
{
	struct child_run *run = user;
	struct stream *s = run->s;
	const struct remote_link *link = run->link;
	struct ssh_words words = { .n = 0 };
	const char *const sh[] = { "/bin/sh", "-c", s->command, NULL };
	const struct process_plan plan = {
		.argv = is_ssh(run)	? words.argv
			: is_shell(run) ? link->pod.command
					: sh,
		.asks_nobody = !is_local(run),
		.on_ready = { on_stdin, on_stdout, on_stderr },
		.on_exit = on_child_exit,
		.user = run,
	};
	struct err err;
	int rc = 0;

	if (is_ssh(run))
		rc = ssh_words_command(&words, &link->pod, link->fleet->options.accept_new,
				       s->command, &err);
	if (rc == 0)
		rc = process_start(&run->process, link->fleet->loop, &plan, &err);
	ssh_words_release(&words);
	if (rc == 0) {
		if (is_local(run))
			run_is_up(run);
		else
			loop_timer_start(run->timer, CONNECT_MS, 0);
		push_stdin(run);
		return;
	}
	err_prefix(&err, "%s", run->link->pod.name);
	s->run = NULL;
	/* If descriptors or processes ran out, a later attempt may succeed. */
	if (err.code == ERR_CONFIG)
		link_refused(run->link, &err);
	else if (is_alone(run))
		link_lost(run->link, &err);
	free_run(run);
	stream_fail(s, &err);
}

static void child_start(struct remote_link *link, struct stream *s)
{
	struct child_run *run =
		xnew(struct child_run, .link = link, .s = s, .process = PROCESS_NONE,
		     .diag = buf_new(DIAG_CAP), .head = buf_new(HEAD_CAP));

	run->timer = loop_timer_new(link->fleet->loop, on_timeout, run);
	if (is_shell(run)) {
		shell_marks_init(&run->marks);
		shell_marks_line(&run->marks, &run->head, s->command);
	}
	list_append(&link->runs, &run->in_link);
	s->run = run;
	if (link->info.state != LINK_LIVE)
		link_connecting(link);
	if (is_local(run))
		loop_post(link->fleet->loop, on_admit, run);
	else
		gate_enter(&link->fleet->gate, &run->ticket,
			   is_ssh(run) ? link->pod.ssh : link->pod.name, on_admit, run);
}

static void child_kick(struct stream *s)
{
	struct child_run *run = s->run;

	if (run->process.child != NULL)
		push_stdin(run);
	watch_stdout(run);
	if (run->marks.over)
		finish_if_done(run);
}

/* Send SIGTERM to the command, and SIGKILL if it is still running after GRACE_MS. */
static void child_detach(struct stream *s)
{
	struct child_run *run = s->run;
	struct remote_link *link = run->link;
	bool alone = is_alone(run);

	s->run = NULL;
	run->s = NULL;
	loop_unpost(link->fleet->loop, on_admit, run);
	gate_leave(&run->ticket);
	for (int i = 0; i < 3; i++)
		process_close_pipe(&run->process, i);
	if (alone && (link->info.state == LINK_LIVE || link->info.state == LINK_CONNECTING))
		link_idle(link);
	if (run->process.child == NULL) {
		free_run(run);
		return;
	}
	loop_child_kill(run->process.child, SIGTERM);
	loop_timer_start(run->timer, GRACE_MS, 0);
}

static void child_release(struct remote_link *link)
{
	list_each_safe (struct child_run, run, &link->runs, in_link)
		free_run(run);
}

/* .probe is NULL because ssh(1) sends its own probes, and .answer because it never asks. */
const struct link_ops child_link_ops = {
	.start = child_start,
	.kick = child_kick,
	.detach = child_detach,
	.release = child_release,
};
