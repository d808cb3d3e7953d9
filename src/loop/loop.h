/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/err.h"

/*
 * The event loop: descriptors, timers, signals, children, wake-ups, and jobs
 * for what blocks.  One thread owns all state; only a job's work function
 * runs elsewhere.  Any watch may be closed inside any callback, its own too;
 * nothing of it is called after that.  libuv behind it.
 */
struct loop;
struct loop_fd;
struct loop_timer;
struct job;

/* SIGPIPE is ignored from then on. */
struct loop *loop_new(struct err *err) __attribute__((warn_unused_result));
/*
 * Finishes the jobs that run or wait (their done is called) and the posts,
 * closes watches that were left open; children go on by themselves.
 */
void loop_free(struct loop *loop);
/* Run until loop_stop, or until nothing is watched but signals. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

enum loop_events { LOOP_READ = 1 << 0, LOOP_WRITE = 1 << 1 };

/* Events may hold both after an error: read and write to learn which. */
typedef void (*loop_fd_fn)(void *user, unsigned int events);
/*
 * Watch fd (borrowed, not watched twice); no events until loop_fd_set.
 * It becomes non-blocking, but for a terminal, whose flags others share.
 * NULL when it is of a kind that cannot be watched: a regular file.
 */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, loop_fd_fn fn, void *user);
void loop_fd_set(struct loop_fd *watch, unsigned int events);
/* Stop and free (NULL: nothing); fd may be closed after it. */
void loop_fd_close(struct loop_fd *watch);

typedef void (*loop_timer_fn)(void *user);
struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn fn, void *user);
/*
 * Fire once in delay_ms; repeat_ms > 0: and then again and again.  Where the
 * whole program was stopped (SIGSTOP, suspend), descriptors that became ready
 * meanwhile are told before the timer.
 */
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms, int64_t repeat_ms);
void loop_timer_stop(struct loop_timer *timer);
/* Stop and free (NULL: nothing). */
void loop_timer_close(struct loop_timer *timer);

typedef void (*loop_post_fn)(void *user);
/* Call fn soon, from the loop itself: once, however often it is asked for. */
void loop_post(struct loop *loop, loop_post_fn fn, void *user);
/* Forget the post of this fn and user. */
void loop_unpost(struct loop *loop, loop_post_fn fn, void *user);

typedef void (*loop_signal_fn)(void *user, int signum);
/* Watched until loop_free. */
void loop_on_signal(struct loop *loop, int signum, loop_signal_fn fn, void *user);

/*
 * A child process.  argv[0] is looked up in PATH; it gets a session of its
 * own (setsid) and the three descriptors (borrowed; -1: /dev/null).  envp
 * NULL: ours.  on_exit is called once, on the loop (term_signal 0: it left
 * with exit_status); the struct is gone after it.  NULL with err: ERR_CONFIG
 * where there is no such program, else ERR_IO.
 */
struct loop_child;
typedef void (*loop_child_fn)(void *user, int exit_status, int term_signal);
struct loop_child *loop_child_new(struct loop *loop, const char *const *argv,
				  const char *const *envp, const int fds[3], loop_child_fn on_exit,
				  void *user, struct err *err) __attribute__((warn_unused_result));
/* Signal the child's process group. */
void loop_child_kill(struct loop_child *child, int signum);
/* Forget it (NULL: nothing): no callback any more; it is still reaped. */
void loop_child_close(struct loop_child *child);

/* Blocking work on a pool of threads; no kind can starve another. */
enum job_kind {
	JOB_STORE,   /* one at a time */
	JOB_READ,    /* one at a time: history for the screen */
	JOB_RESOLVE, /* two: DNS */
	JOB_AUTH,    /* two: keys and agents */
	JOB_PARSE,   /* one a core, 2 to 8: bytes of logs, a block at a time */
	JOB_KIND_COUNT
};
/* How many of a kind run at once. */
unsigned int loop_job_cap(enum job_kind kind);
typedef void (*job_fn)(void *user);
/*
 * Call work elsewhere, then done on the loop.  What user points to belongs
 * to work until done is called, and so long the handle is good.  Jobs of a
 * kind start in the order given.
 */
struct job *loop_job(struct loop *loop, enum job_kind kind, job_fn work, job_fn done, void *user);
/*
 * Finish it now: wait for its thread, or do its work here where no thread has
 * begun it, and call done.  It blocks: for short work only.
 */
void loop_job_finish(struct job *job);
