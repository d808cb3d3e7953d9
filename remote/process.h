/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "loop/loop.h"

/* Start programs on this machine, with pipes to them. */

struct process {
	struct loop_child *child; /* NULL after the exit; the on_exit callback must clear it */
	int fds[3];		  /* our ends of the pipes; -1: none */
	struct loop_fd *watches[3];
};

/* Initializer for a process that was not started. */
#define PROCESS_NONE ((struct process){ .fds = { -1, -1, -1 } })

struct process_plan {
	const char *const *argv;
	/* Set an environment in which ssh(1) does not prompt. */
	bool asks_nobody;
	/* on_ready[i] watches our end of a pipe to the program's descriptor i. If it is NULL, the
	 * program gets fds[i] instead of a pipe (borrowed; -1: /dev/null). */
	loop_fd_fn on_ready[3];
	int fds[3];
	loop_child_fn on_exit;
	void *user;
};

/* Start the program and watch its output. The caller watches its input. */
int process_start(struct process *process, struct loop *loop, const struct process_plan *plan,
		  struct err *err) MUST_USE;
/* Read once from a pipe and append to out (may truncate). False if the pipe ended and is closed. */
bool process_read(struct process *process, int i, struct buf *out);
/* Close our end of a pipe (0 stdin, 1 stdout, 2 stderr), if it is open. */
void process_close_pipe(struct process *process, int i);
/* Send a signal to a program that is still running, close all pipes, and stop waiting for it. */
void process_release(struct process *process, int signum);

/* Run a program to its end and collect its stdout. */
#define CAPTURE_CAP_BYTES (256U * 1024)

struct capture;
/* status is the exit status; -1 if the program was killed or timed out. out is borrowed. */
typedef void (*capture_fn)(void *user, int status, struct str out);
/* fn is called once, on the loop, unless cancelled. NULL if the program cannot be started. */
struct capture *capture_new(struct loop *loop, const char *const *argv, int64_t timeout_ms,
			    capture_fn fn, void *user) MUST_USE;
/* Kill the program; fn is not called any more. NULL is a no-op. */
void capture_cancel(struct capture *capture);
