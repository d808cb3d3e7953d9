/* SPDX-License-Identifier: MIT */
#ifndef HGYM_LOOP_LOOP_H
#define HGYM_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"

/*
 * The event loop: descriptors, timers, signals, children, wake-ups, and jobs
 * for what blocks.  One thread owns all state; only a job's work function
 * runs elsewhere.  libuv behind it.
 */
struct loop;
struct loop_fd;
struct loop_timer;
struct loop_job;

struct loop *loop_new(struct err *err) __attribute__((warn_unused_result));
/* All watches must be closed, all jobs done. */
void loop_free(struct loop *loop);
/* Run until loop_stop or until nothing is watched. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
const struct clock *loop_clock(const struct loop *loop);

enum loop_events { LOOP_READ = 1 << 0, LOOP_WRITE = 1 << 1 };

typedef void (*loop_fd_fn)(void *user, unsigned int events);
/* Watch fd (borrowed); events may be 0 until loop_fd_set. */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, loop_fd_fn fn,
			    void *user);
void loop_fd_set(struct loop_fd *watch, unsigned int events);
/* Stop and free (later, inside the loop); fd may be closed after it. */
void loop_fd_close(struct loop_fd *watch);

typedef void (*loop_timer_fn)(void *user);
struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn fn,
				  void *user);
/* Fire once in delay_ms; repeat_ms > 0: and then again and again. */
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms,
		      int64_t repeat_ms);
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_close(struct loop_timer *timer);

/* Call fn once, soon, from the loop itself. */
void loop_post(struct loop *loop, void (*fn)(void *user), void *user);

typedef void (*loop_signal_fn)(void *user, int signum);
void loop_on_signal(struct loop *loop, int signum, loop_signal_fn fn,
		    void *user);

/*
 * A child process.  argv[0] is looked up in PATH; it gets a session of its
 * own (setsid) and the three descriptors (borrowed; -1: /dev/null).
 * on_exit is called once, on the loop.
 */
struct loop_child;
typedef void (*loop_child_fn)(void *user, int exit_status, int term_signal);
struct loop_child *loop_child_new(struct loop *loop, const char *const *argv,
				  const char *const *envp, const int fds[3],
				  loop_child_fn on_exit, void *user,
				  struct err *err)
	__attribute__((warn_unused_result));
/* Signal the child's process group. */
void loop_child_kill(struct loop_child *child, int signum);
/* Forget it: no callback any more; it is still reaped. */
void loop_child_close(struct loop_child *child);

/* Blocking work on a pool; no kind can starve another. */
enum job_kind { JOB_STORE, JOB_RESOLVE, JOB_AUTH, JOB_KIND_COUNT };
typedef void (*job_fn)(void *user);
/* work runs elsewhere and owns what user points to until done is called. */
struct loop_job *loop_job(struct loop *loop, enum job_kind kind, job_fn work,
			  job_fn done, void *user);

#endif
