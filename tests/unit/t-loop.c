/* SPDX-License-Identifier: MIT */
/* The event loop: descriptors, timers, posts, signals, children, jobs. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "tests/support/tap.h"

static struct loop *loop;
static char trace[256];

static void note(const char *what)
{
	size_t len = strlen(trace);

	snprintf(trace + len, sizeof(trace) - len, "%s ", what);
}

static void begin(void)
{
	struct err err;

	trace[0] = '\0';
	loop = loop_new(&err);
}

static void on_note(void *user)
{
	note(user);
}

struct timed {
	struct loop_timer *timer;
	int left;
};

static void on_tick(void *user)
{
	struct timed *timed = user;

	note("tick");
	if (--timed->left == 0) {
		loop_timer_close(timed->timer);
		timed->timer = NULL;
	}
}

static void test_timers(void)
{
	struct timed timed = { .left = 3 };
	int64_t begun;

	begin();
	begun = clock_mono_ms();
	timed.timer = loop_timer_new(loop, on_tick, &timed);
	loop_timer_start(timed.timer, 10, 10);
	loop_run(loop);
	is_str(trace, "tick tick tick ", "a timer repeats until it is closed");
	ok(clock_mono_ms() - begun >= 28, "a timer does not fire before its time");
	timed.timer = loop_timer_new(loop, on_tick, &timed);
	loop_timer_start(timed.timer, 3600 * 1000, 0);
	loop_timer_stop(timed.timer);
	loop_run(loop);
	ok(true, "a stopped timer does not keep the loop running");
	loop_timer_start(timed.timer, 3600 * 1000, 0);
	loop_free(loop);
	ok(true, "an open timer does not block loop_free");
}

static char post_again[] = "again", post_one[] = "one", post_two[] = "two";

static void on_post_more(void *user)
{
	note("first");
	loop_post(loop, on_note, user);
	loop_unpost(loop, on_note, post_two);
}

static void on_came(void *user, unsigned int events)
{
	char byte;

	(void)events;
	note("read");
	if (read(*(int *)user, &byte, 1) == 1 && byte != 'x')
		note("?");
}

static void on_due(void *user)
{
	(void)user;
	note("due");
	loop_stop(loop);
}

#define DUE_MS 500

/* In a separate process: report its start, then the first event. */
static int run_stopped(int in, int out)
{
	struct loop_fd *watch;
	struct loop_timer *timer;

	begin();
	watch = loop_fd_new(loop, in, on_came, &in);
	loop_fd_set(watch, LOOP_READ);
	timer = loop_timer_new(loop, on_due, NULL);
	loop_timer_start(timer, DUE_MS, 0);
	if (write(out, "r", 1) != 1)
		return 3;
	loop_run(loop);
	return strcmp(trace, "read due ") == 0 ? 0 : strncmp(trace, "due ", 4) == 0 ? 1 : 2;
}

static void sleep_until(int64_t mono_ms)
{
	int64_t now_ms;

	while ((now_ms = clock_mono_ms()) < mono_ms)
		(void)usleep((useconds_t)(mono_ms - now_ms) * 1000);
}

/* Stop the process before its timer is due; false: it was too late, try again. */
static bool stop_in_time(pid_t pid, int from, int64_t begun_ms)
{
	char byte;
	int status;

	return read(from, &byte, 1) == 1 && kill(pid, SIGSTOP) == 0 &&
	       waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
	       clock_mono_ms() - begun_ms < DUE_MS - 50;
}

/* After SIGSTOP a program sees pending input before its timers fire. */
static void test_stopped(void)
{
	int to[2], from[2], status = 0, tries = 0;
	bool in_time = false;
	pid_t pid = -1;

	if (pipe(to) != 0 || pipe(from) != 0)
		exit(1);
	while (!in_time && tries++ < 100) {
		int64_t begun_ms = clock_mono_ms();

		(void)fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(run_stopped(to[0], from[1]));
		in_time = stop_in_time(pid, from[0], begun_ms);
		if (!in_time) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
		}
	}
	ok(in_time, "a program is stopped at try %d", tries);
	/* The process's timer is due first, then input arrives. */
	sleep_until(clock_mono_ms() + DUE_MS + 200);
	ok(write(to[1], "x", 1) == 1, "input arrives while it is stopped");
	sleep_until(clock_mono_ms() + 1200);
	(void)kill(pid, SIGCONT);
	(void)waitpid(pid, &status, 0);
	is_int(status, 0, "the program handles the input before its timers");
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

static void test_posts(void)
{
	begin();
	loop_post(loop, on_post_more, post_again);
	loop_post(loop, on_note, post_one);
	loop_post(loop, on_note, post_two);
	loop_post(loop, on_note, post_one);
	loop_run(loop);
	is_str(trace, "first one again ",
	       "posts run once, in order, can be cancelled, and can post");
	loop_post(loop, on_note, post_one);
	loop_free(loop);
	is_str(trace, "first one again one ", "loop_free runs the last post");
}

struct reader {
	struct loop_fd *watch;
	int fd;
	char got[64];
	size_t len;
};

static void on_readable(void *user, unsigned int events)
{
	struct reader *reader = user;
	ssize_t n =
		read(reader->fd, reader->got + reader->len, sizeof(reader->got) - 1 - reader->len);

	if (!(events & LOOP_READ))
		note("unasked");
	if (n > 0) {
		reader->len += (size_t)n;
		return;
	}
	note(n == 0 ? "eof" : "error");
	loop_fd_close(reader->watch);
	close(reader->fd);
}

static void test_descriptors(void)
{
	struct reader reader = { .fd = -1 };
	int fds[2], file = open("/dev/null", O_RDONLY);
	char path[] = "t-loop-XXXXXX";
	int regular = mkstemp(path);

	begin();
	if (pipe(fds) != 0)
		abort();
	reader.fd = fds[0];
	reader.watch = loop_fd_new(loop, fds[0], on_readable, &reader);
	loop_fd_set(reader.watch, LOOP_READ);
	ok(write(fds[1], "bytes", 5) == 5, "data is written");
	close(fds[1]);
	loop_run(loop);
	is_str(reader.got, "bytes", "written data is read");
	is_str(trace, "eof ", "the end comes after the data");
	ok(loop_fd_new(loop, regular, on_readable, &reader) == NULL,
	   "a regular file is not watched");
	unlink(path);
	close(regular);
	close(file);
	loop_free(loop);
}

static void on_broken(void *user, unsigned int events)
{
	struct reader *reader = user;

	(void)events;
	if (write(reader->fd, "x", 1) < 0) {
		note("broken");
		loop_fd_close(reader->watch);
	}
}

static void test_broken_pipe(void)
{
	struct reader reader = { .fd = -1 };
	int fds[2];

	begin();
	if (pipe(fds) != 0)
		abort();
	close(fds[0]);
	reader.fd = fds[1];
	reader.watch = loop_fd_new(loop, fds[1], on_broken, &reader);
	loop_fd_set(reader.watch, LOOP_WRITE);
	loop_run(loop);
	is_str(trace, "broken ", "a pipe without a reader is reported");
	close(fds[1]);
	loop_free(loop);
}

static void on_signal(void *user, int signum)
{
	(void)user;
	note(signum == SIGUSR1 ? "usr1" : "?");
	loop_stop(loop);
}

static void on_raise(void *user)
{
	(void)user;
	raise(SIGUSR1);
}

static void test_signals(void)
{
	struct loop_timer *timer;

	begin();
	loop_on_signal(loop, SIGUSR1, on_signal, NULL);
	loop_run(loop);
	ok(true, "a signal watch does not keep the loop running");
	timer = loop_timer_new(loop, on_note, NULL);
	loop_timer_start(timer, 3600 * 1000, 0);
	loop_post(loop, on_raise, NULL);
	loop_run(loop);
	is_str(trace, "usr1 ", "a signal comes through the loop");
	loop_timer_close(timer);
	loop_free(loop);
}

struct ended {
	int status, signum, count;
};

static void on_exit_child(void *user, int exit_status, int term_signal)
{
	struct ended *ended = user;

	ended->status = exit_status;
	ended->signum = term_signal;
	ended->count++;
}

static void test_children(void)
{
	const char *const exits[] = { "sh", "-c", "cut -d' ' -f5,6 /proc/$$/stat; exit 7", NULL };
	const char *const sleeps[] = { "sh", "-c", "sleep 60 & wait", NULL };
	const char *const missing[] = { "no-such-program-here", NULL };
	const int nulls[3] = { -1, -1, -1 };
	struct ended a = { 0 }, b = { 0 };
	struct loop_child *child;
	struct err err = { 0 };
	int fds[2];
	char ids[32] = "", *sid;
	long long pgrp;

	begin();
	if (pipe(fds) != 0)
		abort();
	child = loop_child_new(loop, exits, NULL, (const int[3]){ -1, fds[1], -1 }, on_exit_child,
			       &a, &err);
	close(fds[1]);
	ok(child != NULL, "a child starts");
	child = loop_child_new(loop, sleeps, NULL, nulls, on_exit_child, &b, &err);
	loop_child_kill(child, SIGTERM);
	loop_run(loop);
	is_int(a.status, 7, "the exit status of a child is reported");
	is_int(a.count + b.count, 2, "each child reports its end once");
	is_int(b.signum, SIGTERM, "the signal that ended a child is reported");
	ok(read(fds[0], ids, sizeof(ids) - 1) > 0, "the child prints its group and session");
	pgrp = strtoll(ids, &sid, 10);
	ok(pgrp > 0 && pgrp != getpgrp(), "a child has its own process group");
	is_int(strtoll(sid, NULL, 10), pgrp, "a child has its own session");
	close(fds[0]);
	ok(loop_child_new(loop, missing, NULL, nulls, on_exit_child, &b, &err) == NULL &&
		   strstr(err.text, "no-such-program-here") != NULL,
	   "a missing program is reported: %s", err.text);
	child = loop_child_new(loop, sleeps, NULL, nulls, on_exit_child, &b, &err);
	loop_child_kill(child, SIGKILL);
	loop_child_close(child);
	loop_free(loop);
	is_int(b.count, 1, "a released child does not call back");
	while (wait(NULL) > 0)
		;
}

static atomic_int jobs_now, jobs_most;
static int jobs_done;

static void work_slowly(void *user)
{
	int now = atomic_fetch_add(&jobs_now, 1) + 1;

	(void)user;
	while (now > atomic_load(&jobs_most))
		atomic_store(&jobs_most, now);
	usleep(20000);
	atomic_fetch_sub(&jobs_now, 1);
}

static void on_job_done(void *user)
{
	jobs_done++;
	if (user != NULL)
		note(user);
}

static void work_nothing(void *user)
{
	(void)user;
}

static void test_jobs(void)
{
	static char store[] = "store";

	begin();
	for (int i = 0; i < 6; i++)
		loop_job(loop, JOB_RESOLVE, work_slowly, on_job_done, NULL);
	loop_run(loop);
	is_int(jobs_done, 6, "all jobs are done");
	ok(atomic_load(&jobs_most) <= 2, "at most two jobs of each kind run at once");
	for (int i = 0; i < 4; i++)
		loop_job(loop, JOB_AUTH, work_slowly, on_job_done, NULL);
	loop_job(loop, JOB_STORE, work_nothing, on_job_done, store);
	loop_free(loop);
	is_int(jobs_done, 11, "loop_free waits for jobs");
	is_str(trace, "store ", "a job does not wait for jobs of another kind");
}

/* The job counts in its own memory, which `done` reads. */
struct count {
	int worked, told;
	struct job *job;
};

static void work_count(void *user)
{
	struct count *count = user;

	usleep(2000);
	count->worked++;
}

static void on_counted(void *user)
{
	struct count *count = user;

	count->told += count->worked;
	count->job = NULL;
}

/* More jobs than may run at once, finished in another order. */
static void test_waited_jobs(void)
{
	enum { JOBS = 8 };
	struct count counts[JOBS] = { 0 };
	int order[JOBS] = { 3, 0, 7, 1, 6, 2, 5, 4 }, told = 0;

	begin();
	for (int i = 0; i < JOBS; i++)
		counts[i].job = loop_job(loop, JOB_PARSE, work_count, on_counted, &counts[i]);
	for (int i = 0; i < JOBS - 2; i++) {
		struct count *count = &counts[order[i]];

		if (count->job != NULL)
			loop_job_finish(count->job);
		told += count->told == 1;
	}
	is_int(told, JOBS - 2, "an awaited job is reported at once");
	loop_run(loop);
	for (int i = 0; i < JOBS; i++)
		told += counts[i].told == 1 && counts[i].worked == 1;
	is_int(told, JOBS - 2 + JOBS, "each job is reported once, the others by the loop");
	loop_free(loop);
	is_int(counts[0].told, 1, "a cancelled job is not reported");
}

static void read_mask(void *user)
{
	(void)pthread_sigmask(SIG_SETMASK, NULL, user);
}

static void on_masks_read(void *user)
{
	(void)user;
	loop_stop(loop);
}

/* A signal that arrives while the main thread forks must not interrupt a poll() of a job. */
static void test_job_signals(void)
{
	sigset_t job, main_thread;

	begin();
	sigfillset(&main_thread);
	sigemptyset(&job);
	loop_job(loop, JOB_AUTH, read_mask, on_masks_read, &job);
	loop_run(loop);
	read_mask(&main_thread);
	ok(sigismember(&job, SIGCHLD) == 1 && sigismember(&job, SIGTERM) == 1,
	   "a job runs with signals blocked");
	ok(sigismember(&main_thread, SIGCHLD) == 0 && sigismember(&main_thread, SIGTERM) == 0,
	   "the main thread receives signals");
	loop_free(loop);
}

/* A test that sets the clock lets an hour pass at once. */
static void test_test_clock(int clock)
{
	const int64_t hour_ms = 3600 * 1000;
	struct timed timed = { .left = 1 };
	int64_t begun;

	begin();
	begun = clock_mono_ms();
	timed.timer = loop_timer_new(loop, on_tick, &timed);
	loop_timer_start(timed.timer, hour_ms, 0);
	ok(pwrite(clock, &hour_ms, sizeof(hour_ms), 0) == sizeof(hour_ms), "a test sets the clock");
	loop_run(loop);
	is_str(trace, "tick ", "the clock is an hour ahead: a timer of an hour expires");
	ok(clock_mono_ms() - begun >= hour_ms, "the clock is an hour ahead");
	loop_free(loop);
}

int main(void)
{
	char path[] = "/tmp/t-loop.XXXXXX";
	int clock = mkstemp(path);

	if (clock < 0 || ftruncate(clock, sizeof(int64_t)) != 0)
		return 1;
	setenv("HGYM_TUI_TEST_CLOCK", path, 1);
	test_timers();
	test_stopped();
	test_posts();
	test_descriptors();
	test_broken_pipe();
	test_signals();
	test_children();
	test_jobs();
	test_waited_jobs();
	test_job_signals();
	test_test_clock(clock);
	unlink(path);
	close(clock);
	return tap_done();
}
