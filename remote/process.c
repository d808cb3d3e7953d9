/* SPDX-License-Identifier: MIT */
/* Starts programs on this machine for child.c and ssh_conn.c, and captures their output. */
#include "remote/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fd.h"

extern char **environ;

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Return this process's environment, changed so that ssh(1) does not prompt and prints its errors
 * in English. Free the vector, but not the strings. */
static const char **quiet_environment(void)
{
	size_t n = 0, used = 0;

	while (environ[n] != NULL)
		n++;
	const char **vector = xcalloc(n + 2, sizeof(*vector));
	for (size_t i = 0; i < n; i++)
		if (!is_variable(environ[i], "SSH_ASKPASS_REQUIRE") &&
		    !is_variable(environ[i], "LC_ALL") && !is_variable(environ[i], "LC_MESSAGES"))
			vector[used++] = environ[i];
	vector[used] = "SSH_ASKPASS_REQUIRE=never";
	return vector;
}

int process_start(struct process *process, struct loop *loop, const struct process_plan *plan,
		  struct err *err)
{
	const char **envp = plan->asks_nobody ? quiet_environment() : NULL;
	int theirs[3] = { -1, -1, -1 }, given[3], pair[2], rc = 0;

	*process = PROCESS_NONE;
	for (int i = 0; i < 3 && rc == 0; i++) {
		given[i] = plan->fds[i];
		if (plan->on_ready[i] == NULL)
			continue;
		/* loop_fd_new makes our end non-blocking; the program's end must stay blocking. */
		if (pipe2(pair, O_CLOEXEC) != 0) {
			rc = err_set_errno(err, ERR_IO, "cannot create a pipe");
			break;
		}
		given[i] = theirs[i] = pair[i != 0];
		process->fds[i] = pair[i == 0];
		process->watches[i] =
			loop_fd_new(loop, process->fds[i], plan->on_ready[i], plan->user);
		if (process->watches[i] == NULL)
			rc = err_set(err, ERR_IO, "cannot watch a pipe to %s", plan->argv[0]);
		else if (i != 0)
			loop_fd_set(process->watches[i], LOOP_READ);
	}
	if (rc == 0)
		process->child = loop_child_new(loop, plan->argv, envp, given, plan->on_exit,
						plan->user, err);
	for (int i = 0; i < 3; i++)
		fd_close(&theirs[i]);
	free(envp);
	if (process->child != NULL)
		return 0;
	process_release(process, 0);
	return -1;
}

bool process_read(struct process *process, int i, struct buf *out)
{
	char data[8192];
	ssize_t n = read(process->fds[i], data, sizeof(data));

	if (n > 0)
		buf_append(out, data, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		process_close_pipe(process, i);
	return process->fds[i] >= 0;
}

void process_close_pipe(struct process *process, int i)
{
	loop_fd_close(process->watches[i]);
	process->watches[i] = NULL;
	fd_close(&process->fds[i]);
}

void process_release(struct process *process, int signum)
{
	if (process->child != NULL)
		loop_child_kill(process->child, signum);
	for (int i = 0; i < 3; i++)
		process_close_pipe(process, i);
	loop_child_close(process->child);
	process->child = NULL;
}

struct capture {
	struct process process;
	struct loop_timer *timer;
	struct buf out;
	int status;
	capture_fn fn;
	void *user;
};

static void capture_free(struct capture *capture)
{
	process_release(&capture->process, SIGKILL);
	loop_timer_close(capture->timer);
	buf_release(&capture->out);
	free(capture);
}

static void capture_finish(struct capture *capture)
{
	capture->fn(capture->user, capture->status, buf_str(&capture->out));
	capture_free(capture);
}

static void capture_on_output(void *user, UNUSED unsigned int events)
{
	struct capture *capture = user;

	if (!process_read(&capture->process, 1, &capture->out) && capture->process.child == NULL)
		capture_finish(capture);
}

static void capture_on_exit(void *user, int exit_status, int term_signal)
{
	struct capture *capture = user;

	capture->process.child = NULL;
	capture->status = term_signal != 0 ? -1 : exit_status;
	if (capture->process.fds[1] < 0)
		capture_finish(capture);
}

/* The program may have exited and left a child that holds the pipe open: do not wait for it. */
static void capture_on_timeout(void *user)
{
	struct capture *capture = user;

	if (capture->process.child != NULL)
		capture->status = -1;
	capture_finish(capture);
}

struct capture *capture_new(struct loop *loop, const char *const *argv, int64_t timeout_ms,
			    capture_fn fn, void *user)
{
	struct capture *capture =
		xnew(struct capture, .out = buf_new(CAPTURE_CAP_BYTES), .fn = fn, .user = user);
	const struct process_plan plan = {
		.argv = argv,
		.asks_nobody = true,
		.on_ready = { NULL, capture_on_output, NULL },
		.fds = { -1, -1, -1 },
		.on_exit = capture_on_exit,
		.user = capture,
	};

	if (process_start(&capture->process, loop, &plan, NULL) != 0) {
		capture_free(capture);
		return NULL;
	}
	capture->timer = loop_timer_new(loop, capture_on_timeout, capture);
	loop_timer_start(capture->timer, timeout_ms, 0);
	return capture;
}

void capture_cancel(struct capture *capture)
{
	if (capture != NULL)
		capture_free(capture);
}
