/* SPDX-License-Identifier: MIT */
/* Preflights that the dashboard starts; each a child of its own. */
#include "app/pod_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/xalloc.h"
#include "parsers/json.h"

#define OUT_BYTES  (256U << 10)
#define LINE_BYTES 1000U

struct pod_checks {
	struct loop *loop;
	struct model *model;
	const struct context *context;
	struct list running;
};

struct running {
	struct list link;
	struct pod_checks *checks;
	size_t pod;
	int fd;
	struct loop_fd *watch;
	struct loop_child *child; /* NULL: it has ended */
	struct buf out;
};

struct pod_checks *pod_checks_new(struct loop *loop, struct model *model,
				  const struct context *context)
{
	struct pod_checks *checks = xcalloc(1, sizeof(*checks));

	checks->loop = loop;
	checks->model = model;
	checks->context = context;
	list_init(&checks->running);
	return checks;
}

static void free_running(struct running *r)
{
	if (r->child != NULL) {
		loop_child_kill(r->child, SIGTERM);
		loop_child_close(r->child);
	}
	loop_fd_close(r->watch);
	(void)close(r->fd);
	list_remove(&r->link);
	buf_release(&r->out);
	free(r);
}

void pod_checks_free(struct pod_checks *checks)
{
	if (checks == NULL)
		return;
	while (!list_is_empty(&checks->running))
		free_running(list_entry(checks->running.next, struct running, link));
	free(checks);
}

static void add_line(struct model_check *check, struct buf *line)
{
	if (line->len > 0)
		model_check_add(check, buf_str(line));
	buf_clear(line);
}

static void add_failures(struct model_check *check, const cJSON *row, struct buf *line)
{
	json_each (one, json_get(row, "failures")) {
		buf_appendf(line, "%s: %s", json_get_string(one, "class", "?"),
			    json_get_string(one, "text", ""));
		add_line(check, line);
		buf_appendf(line, "  next: %s", json_get_string(one, "next", ""));
		add_line(check, line);
	}
}

/* "name value", with a dot between two. */
static void add_fact(struct buf *line, const cJSON *row, const char *key, const char *name)
{
	const char *text = json_get_string(row, key, NULL);

	if (text == NULL || text[0] == '\0')
		return;
	buf_appendf(line, "%s%s%s%s", line->len > 0 ? " · " : "", name, name[0] != '\0' ? " " : "",
		    text);
}

static bool get_number(const cJSON *row, const char *key, double *value)
{
	*value = json_get_number(row, key, (double)NAN);
	return isfinite(*value);
}

static void add_space(struct buf *line, const cJSON *row)
{
	double bytes;

	if (!get_number(row, "free_bytes", &bytes))
		return;
	buf_appendf(line, "scratch %s: %.1f GB free", json_get_string(row, "scratch", "folder"),
		    bytes / 1e9);
}

static void add_clock(struct buf *line, const cJSON *row)
{
	double offset, unsure;

	if (!get_number(row, "clock_offset_s", &offset))
		return;
	buf_appendf(line, "%sclock %+.2f s", line->len > 0 ? " · " : "", offset);
	if (get_number(row, "clock_unsure_s", &unsure))
		buf_appendf(line, " ±%.2f s", unsure);
	buf_append_str(line, " against this machine");
}

static void add_processes(struct buf *line, const cJSON *row)
{
	int n = cJSON_GetArraySize(json_get(row, "processes"));

	if (n > 0)
		buf_appendf(line, "%s%d compute process%s on its GPUs", line->len > 0 ? " · " : "",
			    n, n == 1 ? "" : "es");
}

/* A row of `pods check --json` in words. */
static void add_row(struct model_check *check, const cJSON *row)
{
	AUTO_BUF line = buf_new(LINE_BYTES);
	double ms;

	check->is_fit = strcmp(json_get_string(row, "status", ""), "ok") == 0;
	add_failures(check, row, &line);
	add_fact(&line, row, "gpu", "");
	add_fact(&line, row, "driver", "driver");
	add_processes(&line, row);
	add_line(check, &line);
	add_fact(&line, row, "python", "python");
	add_fact(&line, row, "torch", "torch");
	add_fact(&line, row, "triton", "triton");
	add_fact(&line, row, "shell", "shell");
	add_fact(&line, row, "system", "");
	add_line(check, &line);
	add_space(&line, row);
	add_clock(&line, row);
	add_line(check, &line);
	if (get_number(row, "connect_ms", &ms))
		buf_appendf(&line, "login in %.0f ms", ms);
	add_fact(&line, row, "host_key", "host key");
	add_line(check, &line);
}

/* The row it printed, or what it said instead. */
static void read_answer(const struct buf *out, struct model_check *check)
{
	struct str rest = { out->data, out->len }, line;

	while (str_next(&rest, '\n', &line)) {
		AUTO_JSON row = line.len > 0 && line.p[0] == '{'
					? json_parse(line, JSON_BARE_REFUSED, NULL)
					: NULL;

		if (row != NULL)
			add_row(check, row);
		else if (line.len > 0)
			model_check_add(check, line);
	}
	if (check->n_lines == 0)
		model_check_add(check, STR_LIT("it said nothing"));
}

/* Both the output and the child have ended. */
static void finish(struct running *r)
{
	struct model_check check = { .wall_ms = clock_wall_ms() };
	struct model *model = r->checks->model;

	read_answer(&r->out, &check);
	if (r->pod < model->n_pods)
		model_pod_checked(model, r->pod, &check);
	model_check_release(&check);
	free_running(r);
}

static void on_output(void *user, unsigned int events)
{
	struct running *r = user;
	char block[4096];
	ssize_t n;

	(void)events;
	do {
		n = read(r->fd, block, sizeof(block));
		if (n > 0)
			buf_append(&r->out, block, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0 && errno == EAGAIN)
		return;
	loop_fd_close(r->watch);
	r->watch = NULL;
	if (r->child == NULL)
		finish(r);
}

static void on_end(void *user, int exit_status, int term_signal)
{
	struct running *r = user;

	(void)exit_status;
	(void)term_signal;
	r->child = NULL;
	if (r->watch == NULL)
		finish(r);
}

static struct loop_child *launch(struct running *r, int out, struct err *err)
{
	const int fds[3] = { -1, out, out };
	const char *argv[CONTEXT_ARGV + 5];
	size_t n = context_argv(r->checks->context, argv);

	argv[n++] = "pods";
	argv[n++] = "check";
	argv[n++] = "--json";
	argv[n++] = r->checks->model->pods[r->pod].name;
	argv[n] = NULL;
	return loop_child_new(r->checks->loop, argv, NULL, fds, on_end, r, err);
}

int pod_checks_start(struct pod_checks *checks, size_t pod, struct err *err)
{
	struct running *r;
	int fds[2];

	if (pod >= checks->model->n_pods || checks->model->pods[pod].check.is_running)
		return err_set(err, ERR_USAGE, "it is being checked already");
	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set_errno(err, ERR_IO, "cannot make a pipe");
	(void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
	r = xcalloc(1, sizeof(*r));
	r->checks = checks;
	r->pod = pod;
	r->fd = fds[0];
	buf_init(&r->out, OUT_BYTES);
	list_append(&checks->running, &r->link);
	r->child = launch(r, fds[1], err);
	(void)close(fds[1]);
	if (r->child == NULL) {
		free_running(r);
		return -1;
	}
	r->watch = loop_fd_new(checks->loop, r->fd, on_output, r);
	loop_fd_set(r->watch, LOOP_READ);
	model_pod_checking(checks->model, pod);
	return 0;
}
