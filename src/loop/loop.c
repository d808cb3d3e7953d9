/* SPDX-License-Identifier: MIT */
/* The event loop, on top of libuv; the close callback of a handle frees its watch. */
#include "loop/loop.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <uv.h>

#include "base/list.h"
#include "base/xalloc.h"

/* Interval at which a test's clock is read. */
#define TEST_CLOCK_MS 20
/* If a poll took this much longer than its timeout, the process was stopped meanwhile. */
#define STALL_MS 1000

struct job_queue {
	struct list waiting; /* struct job */
	unsigned int running;
};

struct loop {
	uv_loop_t uv;
	uv_idle_t idle;	      /* active while posts wait */
	uv_prepare_t prepare; /* called before each poll of the descriptors */
	uv_check_t check;     /* called after it */
	uint64_t polled_ms;   /* end of the last poll that was not stalled */
	uint64_t poll_ms;     /* start of the last poll */
	int wait_ms;	      /* its timeout; -1: none */
	uv_timer_t clock;     /* active while a test sets the clocks */
	int64_t ahead_ms;     /* of the test's clock, as applied to the timers */
	struct list posts;    /* struct post */
	struct job_queue jobs[JOB_KIND_COUNT];
	sigset_t watched;
};

/* handle->data points to the watch; NULL for idle, prepare and check. */
struct loop_fd {
	uv_poll_t poll;
	loop_fd_fn fn;
	void *user;
	unsigned int events;
};

struct loop_timer {
	uv_timer_t timer;
	loop_timer_fn fn;
	void *user;
	bool was_held;
};

struct loop_signal {
	uv_signal_t signal;
	loop_signal_fn fn;
	void *user;
};

struct loop_child {
	uv_process_t process;
	loop_child_fn fn; /* NULL: closed */
	void *user;
};

struct post {
	struct list link;
	loop_post_fn fn;
	void *user;
};

struct job {
	struct list link; /* in job_queue.waiting, until it starts */
	uv_work_t work;
	uv_sem_t is_worked; /* posted when run() has returned */
	struct loop *loop;
	enum job_kind kind;
	job_fn run;
	job_fn done;
	void *user;
	bool has_started, is_done; /* is_done: done() was called */
};

#define PARSE_MIN 2
#define PARSE_MAX 8

unsigned int loop_job_cap(enum job_kind kind)
{
	static const unsigned int caps[JOB_KIND_COUNT] = {
		[JOB_STORE] = 1,
		[JOB_READ] = 1,
		[JOB_RESOLVE] = 2,
		[JOB_AUTH] = 2,
	};
	/* Cached: sysconf() reads a file, and this is called for each turn of the logs. */
	static long cores;

	if (kind != JOB_PARSE)
		return caps[kind];
	if (cores == 0)
		cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < PARSE_MIN ? PARSE_MIN : cores > PARSE_MAX ? PARSE_MAX : (unsigned int)cores;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_handle(void *handle)
{
	uv_handle_t *any = handle;

	if (!uv_is_closing(any))
		uv_close(any, on_closed);
}

static void on_poll_start(uv_prepare_t *prepare)
{
	struct loop *loop = prepare->loop->data;

	loop->poll_ms = uv_now(&loop->uv);
	loop->wait_ms = uv_backend_timeout(&loop->uv);
}

/* Note the end of a poll, unless the process was stopped: the poll may have missed descriptors. */
static void on_poll_end(uv_check_t *check)
{
	struct loop *loop = check->loop->data;
	uint64_t now_ms = uv_now(&loop->uv);

	if (loop->wait_ms < 0 || now_ms - loop->poll_ms < (uint64_t)loop->wait_ms + STALL_MS)
		loop->polled_ms = now_ms;
}

/* After the process was stopped, timers expire before the data that arrived meanwhile is read, so a
 * pod would seem silent.  Such a timer waits once for the next poll. */
static void on_timer(uv_timer_t *handle)
{
	struct loop_timer *timer = handle->data;
	const struct loop *loop = handle->loop->data;

	timer->was_held = !timer->was_held && uv_now(&loop->uv) - loop->polled_ms > STALL_MS;
	if (timer->was_held)
		uv_timer_start(handle, on_timer, 1, uv_timer_get_repeat(handle));
	else
		timer->fn(timer->user);
}

static void advance_timer(uv_handle_t *handle, void *moved_ms)
{
	uv_timer_t *timer = (uv_timer_t *)handle;

	if (handle->type != UV_TIMER || handle->data == NULL || !uv_is_active(handle))
		return;
	int64_t left = (int64_t)uv_timer_get_due_in(timer) - *(int64_t *)moved_ms;
	uv_timer_start(timer, on_timer, left > 0 ? (uint64_t)left : 0, uv_timer_get_repeat(timer));
}

static void on_test_clock(uv_timer_t *clock)
{
	struct loop *loop = clock->loop->data;
	int64_t ahead;

	(void)clock_test_ahead(&ahead);
	int64_t moved = ahead - loop->ahead_ms;
	loop->ahead_ms = ahead;
	if (moved > 0)
		uv_walk(clock->loop, advance_timer, &moved);
}

struct loop *loop_new(struct err *err)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	unsigned int n_threads = 0;
	char text[16];

	/* One thread for each job that may run; libuv reads this when the first job starts. */
	for (int i = 0; i < JOB_KIND_COUNT; i++)
		n_threads += loop_job_cap((enum job_kind)i);
	print_into(text, "%u", n_threads);
	setenv("UV_THREADPOOL_SIZE", text, 1);
	int rc = uv_loop_init(&loop->uv);
	if (rc != 0) {
		free(loop);
		err_set(err, ERR_IO, "cannot create the event loop: %s", uv_strerror(rc));
		return NULL;
	}
	signal(SIGPIPE, SIG_IGN);
	list_init(&loop->posts);
	for (int i = 0; i < JOB_KIND_COUNT; i++)
		list_init(&loop->jobs[i].waiting);
	uv_idle_init(&loop->uv, &loop->idle);
	loop->uv.data = loop;
	loop->polled_ms = uv_now(&loop->uv);
	/* These two alone do not keep the loop running. */
	uv_prepare_init(&loop->uv, &loop->prepare);
	uv_prepare_start(&loop->prepare, on_poll_start);
	uv_unref((uv_handle_t *)&loop->prepare);
	uv_check_init(&loop->uv, &loop->check);
	uv_check_start(&loop->check, on_poll_end);
	uv_unref((uv_handle_t *)&loop->check);
	uv_timer_init(&loop->uv, &loop->clock);
	if (clock_test_ahead(&loop->ahead_ms))
		uv_timer_start(&loop->clock, on_test_clock, TEST_CLOCK_MS, TEST_CLOCK_MS);
	uv_unref((uv_handle_t *)&loop->clock);
	return loop;
}

/* Close the handle of a watch; if `all` is not NULL, also idle, prepare and check. */
static void close_any(uv_handle_t *handle, void *all)
{
	if (all != NULL || handle->data != NULL)
		close_handle(handle);
}

void loop_free(struct loop *loop)
{
	uv_walk(&loop->uv, close_any, NULL);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	/* Close the handles that these callbacks opened, and idle, prepare and check. */
	uv_walk(&loop->uv, close_any, loop);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_loop_close(&loop->uv);
	free(loop);
}

void loop_run(struct loop *loop)
{
	sigset_t before;

	(void)pthread_sigmask(SIG_UNBLOCK, &loop->watched, &before);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

_Static_assert((int)LOOP_READ == (int)UV_READABLE && (int)LOOP_WRITE == (int)UV_WRITABLE,
	       "events have the values of libuv");

/* libuv stops a watch on error: report that as both events. */
static void on_poll(uv_poll_t *poll, int status, int uv_events)
{
	struct loop_fd *watch = poll->data;

	if (status < 0) {
		watch->events = 0;
		uv_events = LOOP_READ | LOOP_WRITE;
	}
	watch->fn(watch->user, (unsigned int)uv_events);
}

struct loop_fd *loop_fd_new(struct loop *loop, int fd, loop_fd_fn fn, void *user)
{
	struct loop_fd *watch = xnew(struct loop_fd, .fn = fn, .user = user);
	int flags = isatty(fd) ? fcntl(fd, F_GETFL) : -1;

	watch->poll.data = watch;
	int status = uv_poll_init(&loop->uv, &watch->poll, fd);
	/* uv_poll_init() makes fd non-blocking.  The flags of a terminal belong to all programs
	 * that have it open, for example the shell: restore them. */
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags);
	if (status != 0) {
		free(watch);
		return NULL;
	}
	return watch;
}

void loop_fd_set(struct loop_fd *watch, unsigned int events)
{
	if (events == watch->events)
		return;
	watch->events = events;
	if (events == 0)
		uv_poll_stop(&watch->poll);
	else
		uv_poll_start(&watch->poll, (int)events, on_poll);
}

void loop_fd_close(struct loop_fd *watch)
{
	if (watch != NULL)
		close_handle(&watch->poll);
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn fn, void *user)
{
	struct loop_timer *timer = xnew(struct loop_timer, .fn = fn, .user = user);

	uv_timer_init(&loop->uv, &timer->timer);
	timer->timer.data = timer;
	return timer;
}

void loop_timer_start(struct loop_timer *timer, int64_t delay_ms, int64_t repeat_ms)
{
	assert(delay_ms >= 0 && repeat_ms >= 0);
	/* libuv updates its clock only at polls. */
	uv_update_time(timer->timer.loop);
	uv_timer_start(&timer->timer, on_timer, (uint64_t)delay_ms, (uint64_t)repeat_ms);
}

void loop_timer_stop(struct loop_timer *timer)
{
	uv_timer_stop(&timer->timer);
}

void loop_timer_close(struct loop_timer *timer)
{
	if (timer != NULL)
		close_handle(&timer->timer);
}

/* Call the functions posted until now; those that they post are called in the next round. */
static void on_idle(uv_idle_t *idle)
{
	struct loop *loop = idle->loop->data;
	struct post end = { .fn = NULL };

	list_append(&loop->posts, &end.link);
	while (loop->posts.next != &end.link) {
		struct post *post = list_entry(loop->posts.next, struct post, link);

		list_remove(&post->link);
		post->fn(post->user);
		free(post);
	}
	list_remove(&end.link);
	if (list_is_empty(&loop->posts))
		uv_idle_stop(&loop->idle);
}

static struct post *find_post(const struct loop *loop, loop_post_fn fn, const void *user)
{
	list_each (struct post, post, &loop->posts, link)
		if (post->fn == fn && post->user == user)
			return post;
	return NULL;
}

void loop_post(struct loop *loop, loop_post_fn fn, void *user)
{
	assert(fn != NULL);
	if (find_post(loop, fn, user) != NULL)
		return;
	struct post *post = xnew(struct post, .fn = fn, .user = user);
	list_append(&loop->posts, &post->link);
	uv_idle_start(&loop->idle, on_idle);
}

void loop_unpost(struct loop *loop, loop_post_fn fn, void *user)
{
	struct post *post = find_post(loop, fn, user);

	if (post != NULL)
		list_remove(&post->link);
	free(post);
}

static void on_uv_signal(uv_signal_t *handle, int signum)
{
	struct loop_signal *watch = handle->data;

	watch->fn(watch->user, signum);
}

/* A signal watch alone does not keep the loop running. */
void loop_on_signal(struct loop *loop, int signum, loop_signal_fn fn, void *user)
{
	struct loop_signal *watch = xnew(struct loop_signal, .fn = fn, .user = user);

	uv_signal_init(&loop->uv, &watch->signal);
	watch->signal.data = watch;
	uv_signal_start(&watch->signal, on_uv_signal, signum);
	sigaddset(&loop->watched, signum);
	uv_unref((uv_handle_t *)&watch->signal);
}

static void on_child_exit(uv_process_t *process, int64_t status, int term_signal)
{
	struct loop_child *child = process->data;

	if (child->fn != NULL)
		child->fn(child->user, (int)status, term_signal);
	close_handle(&child->process);
}

/* libuv takes vectors without const, but does not change them. */
static char **unconst_vector(const char *const *vector)
{
	union {
		const char *const *in;
		char **out;
	} cast = { .in = vector };

	return cast.out;
}

struct loop_child *loop_child_new(struct loop *loop, const char *const *argv,
				  const char *const *envp, const int fds[3], loop_child_fn on_exit,
				  void *user, struct err *err)
{
	struct loop_child *child = xnew(struct loop_child, .fn = on_exit, .user = user);
	uv_stdio_container_t stdio[3];
	uv_process_options_t options = { .file = argv[0],
					 .args = unconst_vector(argv),
					 .env = unconst_vector(envp),
					 .flags = UV_PROCESS_DETACHED,
					 .stdio = stdio,
					 .stdio_count = 3,
					 .exit_cb = on_child_exit };

	for (int i = 0; i < 3; i++) {
		stdio[i].flags = fds[i] < 0 ? UV_IGNORE : UV_INHERIT_FD;
		stdio[i].data.fd = fds[i];
	}
	child->process.data = child;
	int rc = uv_spawn(&loop->uv, &child->process, &options);
	if (rc == 0)
		return child;
	close_handle(&child->process);
	/* A missing program is a configuration error: retrying will not help. */
	err_set(err, rc == UV_ENOENT || rc == UV_EACCES ? ERR_CONFIG : ERR_IO,
		"cannot start %s: %s", argv[0], uv_strerror(rc));
	return NULL;
}

void loop_child_kill(struct loop_child *child, int signum)
{
	if (child->process.pid > 0)
		kill(-child->process.pid, signum);
}

void loop_child_close(struct loop_child *child)
{
	if (child == NULL)
		return;
	child->fn = NULL;
	uv_unref((uv_handle_t *)&child->process);
}

static void job_on_work(uv_work_t *work)
{
	struct job *job = work->data;

	job->run(job->user);
	uv_sem_post(&job->is_worked);
}

static void job_free(struct job *job)
{
	uv_sem_destroy(&job->is_worked);
	free(job);
}

static void job_start_next(struct loop *loop, enum job_kind kind);

static void job_on_done(uv_work_t *work, UNUSED int status)
{
	struct job *job = work->data;
	struct loop *loop = job->loop;
	enum job_kind kind = job->kind;

	assert(status == 0);
	loop->jobs[kind].running--;
	job_start_next(loop, kind);
	if (!job->is_done)
		job->done(job->user);
	job_free(job);
}

static void job_start_next(struct loop *loop, enum job_kind kind)
{
	struct job_queue *queue = &loop->jobs[kind];
	sigset_t all, before;

	/* The first job creates the threads of the pool, which inherit the signal mask. A signal in
	 * a worker thread would interrupt its poll(), for libssh2 an error of the connection. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (queue->running < loop_job_cap(kind) && !list_is_empty(&queue->waiting)) {
		struct job *job = list_entry(queue->waiting.next, struct job, link);

		list_remove(&job->link);
		job->has_started = true;
		queue->running++;
		uv_queue_work(&loop->uv, &job->work, job_on_work, job_on_done);
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct job *loop_job(struct loop *loop, enum job_kind kind, job_fn work, job_fn done, void *user)
{
	struct job *job = xnew(struct job, .loop = loop, .kind = kind, .run = work, .done = done,
			       .user = user);

	job->work.data = job;
	if (uv_sem_init(&job->is_worked, 0) != 0)
		abort();
	list_append(&loop->jobs[kind].waiting, &job->link);
	job_start_next(loop, kind);
	return job;
}

void loop_job_finish(struct job *job)
{
	assert(!job->is_done);
	if (!job->has_started) {
		list_remove(&job->link);
		job->run(job->user);
		job->done(job->user);
		job_free(job);
		return;
	}
	/* job_on_done() frees it. */
	uv_sem_wait(&job->is_worked);
	job->is_done = true;
	job->done(job->user);
}
