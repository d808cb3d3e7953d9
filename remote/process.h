/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "loop/loop.h"

/* Local programs and the pipes to them. */

struct process {
	struct loop_child *child; /* NULL: exited; set by on_exit */
	int fds[3];		  /* our ends of its pipes; -1: none */
	struct loop_fd *watches[3];
};

/* Initializer for a process that was not started. */
#define PROCESS_NONE ((struct process){ .fds = { -1, -1, -1 } })

struct process_plan {
	const char *const *argv;
	/* Keep an ssh(1) below it from prompting. */
	bool asks_nobody;
	/* The callback for our end of a pipe; NULL: fds[i] (borrowed; -1: /dev/null) is passed to
	 * the program instead. */
	loop_fd_fn on_ready[3];
	int fds[3];
	loop_child_fn on_exit;
	void *user;
};

/* Start it; its output is watched from now on, its input not yet. */
int process_start(struct process *process, struct loop *loop, const struct process_plan *plan,
		  struct err *err) MUST_USE;
/* Read once from a pipe, into out as far as it fits; false: it has ended and is closed. */
bool process_read(struct process *process, int i, struct buf *out);
/* Close our end of a pipe (0 stdin, 1 stdout, 2 stderr), if it is open. */
void process_close_pipe(struct process *process, int i);
/* Signal it if it is still running, close all pipes and forget it. */
void process_release(struct process *process, int signum);

/* Run a program to its end and collect its stdout. */
#define CAPTURE_CAP_BYTES (256U * 1024)

struct capture;
/* status: its exit status; -1: killed, or timed out. out: borrowed. */
typedef void (*capture_fn)(void *user, int status, struct str out);
/* fn is called once, on the loop, unless the capture is cancelled. NULL: it cannot be started. */
struct capture *capture_new(struct loop *loop, const char *const *argv, int64_t timeout_ms,
			    capture_fn fn, void *user) MUST_USE;
/* Kill it (NULL: no-op); fn is not called any more. */
void capture_cancel(struct capture *capture);
