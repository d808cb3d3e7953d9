/* SPDX-License-Identifier: MIT */
/* A local program run to its end, for `ssh -G` and `ssh-keygen -F`. */
#include "config.h"

#include "remote/capture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "remote/child.h"

struct capture {
	struct loop_child *child; /* NULL: it is over */
	struct loop_fd *watch;
	struct loop_timer *timer;
	int fd;
	struct buf out;
	int status;
	capture_fn fn;
	void *user;
};

static void
free_capture(struct capture *capture)
{
	loop_fd_close(capture->watch);
	loop_timer_close(capture->timer);
	loop_child_close(capture->child);
	child_close_fd(&capture->fd);
	buf_release(&capture->out);
	free(capture);
}

/* Tell the end: the child is gone, and so is its output or its time. */
static void
finish(struct capture *capture)
{
	struct capture_result result = {
		.status = capture->status,
		.out = { capture->out.data, capture->out.len },
	};

	capture->fn(capture->user, &result);
	free_capture(capture);
}

static void
on_output(void *user, unsigned int events)
{
	struct capture *capture = user;
	char data[8192];
	ssize_t n = read(capture->fd, data, sizeof(data));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		buf_append(&capture->out, data, (size_t)n);
		return;
	}
	loop_fd_close(capture->watch);
	capture->watch = NULL;
	if (capture->child == NULL)
		finish(capture);
}

static void
on_child_exit(void *user, int exit_status, int term_signal)
{
	struct capture *capture = user;

	capture->child = NULL;
	capture->status = term_signal != 0 ? -1 : exit_status;
	if (capture->watch == NULL)
		finish(capture);
}

/* A grandchild may hold the pipe open: that is no reason to wait on. */
static void
on_late(void *user)
{
	struct capture *capture = user;

	if (capture->child != NULL) {
		loop_child_kill(capture->child, SIGKILL);
		loop_child_close(capture->child);
		capture->child = NULL;
		capture->status = -1;
	}
	finish(capture);
}

struct capture *
capture_new(struct loop *loop, const char *const *argv, int64_t timeout_ms,
	    capture_fn fn, void *user, struct err *err)
{
	struct capture *capture;
	const char **envp;
	int fds[2];

	if (child_pipe(fds, 0, err) != 0)
		return NULL;
	capture = xcalloc(1, sizeof(*capture));
	capture->fd = fds[0];
	capture->fn = fn;
	capture->user = user;
	buf_init(&capture->out, CAPTURE_CAP_BYTES);
	envp = child_ssh_environment();
	capture->child = loop_child_new(loop, argv, envp,
					(const int[3]){ -1, fds[1], -1 },
					on_child_exit, capture, err);
	free(envp);
	close(fds[1]);
	if (capture->child == NULL) {
		free_capture(capture);
		return NULL;
	}
	capture->watch = loop_fd_new(loop, fds[0], on_output, capture);
	loop_fd_set(capture->watch, LOOP_READ);
	capture->timer = loop_timer_new(loop, on_late, capture);
	loop_timer_start(capture->timer, timeout_ms, 0);
	return capture;
}

void
capture_cancel(struct capture *capture)
{
	if (capture == NULL)
		return;
	if (capture->child != NULL)
		loop_child_kill(capture->child, SIGKILL);
	free_capture(capture);
}
