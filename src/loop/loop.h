/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/err.h"

/* The event loop: descriptors, timers, signals, child processes, posts, and jobs for blocking work.
 * One thread owns all state; only the work function of a job runs on another one.  A watch may be
 * closed inside any callback, including its own, and is not called after that. */
struct loop;
struct loop_fd;
struct loop_timer;
struct job;

/* Create a loop.  Also ignores SIGPIPE for the whole process. */
struct loop *loop_new(struct err *err) MUST_USE;
/* Finish all jobs (done is called) and posts, and close the watches; child processes continue. */
void loop_free(struct loop *loop);
/* Run until loop_stop(), or until only signals are watched. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

enum loop_events { LOOP_READ = 1 << 0, LOOP_WRITE = 1 << 1 };

/* After an error, events has both bits: read and write to get the errno. */
typedef void (*loop_fd_fn)(void *user, unsigned int events);
/* Watch fd (borrowed, not watched already); no events until loop_fd_set(). fd becomes non-blocking,
 * except a terminal, whose flags other programs share. NULL for a regular file. */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, loop_fd_fn fn, void *user);
void loop_fd_set(struct loop_fd *watch, unsigned int events);
/* Stop and free (NULL is allowed); fd may be closed afterwards. */
void loop_fd_close(struct loop_fd *watch);

typedef void (*loop_timer_fn)(void *user);
struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn fn, void *user);
/* Call fn once after delay_ms, then every repeat_ms if that is not 0. After the whole process was
 * stopped (SIGSTOP, suspend), descriptors that became ready are handled before the timer. */
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms, int64_t repeat_ms);
void loop_timer_stop(struct loop_timer *timer);
/* Stop and free (NULL is allowed). */
void loop_timer_close(struct loop_timer *timer);

typedef void (*loop_post_fn)(void *user);
/* Call fn in the next round of the loop, once for each fn and user. */
void loop_post(struct loop *loop, loop_post_fn fn, void *user);
/* Cancel the post of this fn and user. */
void loop_unpost(struct loop *loop, loop_post_fn fn, void *user);

typedef void (*loop_signal_fn)(void *user, int signum);
/* Call fn for each such signal until loop_free().  loop_run() unblocks it while it runs. */
void loop_on_signal(struct loop *loop, int signum, loop_signal_fn fn, void *user);

/* Start a child process in a new session.  argv[0] is looked up in PATH; fds are its stdin, stdout
 * and stderr (borrowed; -1: /dev/null); envp NULL: this process's environment.  on_exit is called
 * once, on the loop (term_signal 0: it exited with exit_status); the struct is freed after it. NULL
 * with err: ERR_CONFIG if the program does not exist, otherwise ERR_IO. */
struct loop_child;
typedef void (*loop_child_fn)(void *user, int exit_status, int term_signal);
struct loop_child *loop_child_new(struct loop *loop, const char *const *argv,
				  const char *const *envp, const int fds[3], loop_child_fn on_exit,
				  void *user, struct err *err) MUST_USE;
/* Signal the child's process group. */
void loop_child_kill(struct loop_child *child, int signum);
/* Do not call on_exit (NULL is allowed); the child is still reaped. */
void loop_child_close(struct loop_child *child);

/* Kinds of blocking work, each with a limit: a slow name server delays no database commit. */
enum job_kind {
	JOB_STORE,   /* one at a time */
	JOB_READ,    /* one at a time: series for the screen, pruning */
	JOB_RESOLVE, /* two at a time: DNS */
	JOB_AUTH,    /* two at a time: logins with keys and agents */
	JOB_PARSE,   /* one per core, 2 to 8: parsing logs */
	JOB_KIND_COUNT
};
/* Number of jobs of one kind that may run at the same time. */
unsigned int loop_job_cap(enum job_kind kind);
typedef void (*job_fn)(void *user);
/* Call work on a worker thread, where all signals are blocked, and then done on the loop. *user
 * belongs to work, and the returned handle is valid, until done is called. A kind's jobs start in
 * order. */
struct job *loop_job(struct loop *loop, enum job_kind kind, job_fn work, job_fn done, void *user);
/* Finish a job now: wait for its thread, or call work here if no thread has started it; then call
 * done.  Blocks, so use it for short work only. */
void loop_job_finish(struct job *job);
