/* SPDX-License-Identifier: MIT */
/* Checks of pods that the dashboard starts, each in a process of this program. */
#include "app/pod_checks.h"

#include <signal.h>

#include "base/list.h"
#include "parsers/json.h"
#include "remote/process.h"

#define OUT_BYTES  (256U << 10)
#define LINE_BYTES 1000U

struct pod_checks {
	struct loop *loop;
	struct model *model;
	const struct context *context;
	struct list running;
};

struct pod_check {
	struct list link;
	struct pod_checks *checks;
	size_t pod;
	struct process process;
	struct buf out; /* standard output and standard error */
};

struct pod_checks *pod_checks_new(struct loop *loop, struct model *model,
				  const struct context *context)
{
	struct pod_checks *checks =
		xnew(struct pod_checks, .loop = loop, .model = model, .context = context);

	list_init(&checks->running);
	return checks;
}

static void free_check(struct pod_check *check)
{
	process_release(&check->process, SIGTERM);
	list_remove(&check->link);
	buf_release(&check->out);
	free(check);
}

void pod_checks_free(struct pod_checks *checks)
{
	if (checks == NULL)
		return;
	while (!list_is_empty(&checks->running))
		free_check(list_entry(checks->running.next, struct pod_check, link));
	free(checks);
}

static void add_line(struct model_check *check, struct buf *line)
{
	if (line->len > 0)
		model_check_add(check, buf_str(line));
	buf_clear(line);
}

/* Append a fact to the line, after a dot unless it is the first. */
LIKE_PRINTF(2, 3)
static void add_fact(struct buf *line, const char *fmt, ...)
{
	buf_append_str(line, line->len > 0 ? " · " : "");
	buf_append_args(line, fmt);
}

static void add_text(struct buf *line, const cJSON *row, const char *key, const char *label)
{
	const char *text = json_get_string(row, key, "");

	if (text[0] != '\0')
		add_fact(line, "%s%s", label, text);
}

/* Add a row of `pods check --json` as lines for people. */
static void add_row(struct model_check *check, const cJSON *row)
{
	double free_bytes = json_get_number(row, "free_bytes", (double)NAN);
	double offset_s = json_get_number(row, "clock_offset_s", (double)NAN);
	double unsure_s = json_get_number(row, "clock_unsure_s", (double)NAN);
	double connect_ms = json_get_number(row, "connect_ms", (double)NAN);
	int n_processes = cJSON_GetArraySize(json_get(row, "processes"));
	AUTO_BUF line = buf_new(LINE_BYTES);

	check->is_fit = strcmp(json_get_string(row, "status", ""), "ok") == 0;
	json_each (one, json_get(row, "failures")) {
		buf_appendf(&line, "%s: %s", json_get_string(one, "class", "?"),
			    json_get_string(one, "text", ""));
		add_line(check, &line);
		buf_appendf(&line, "  next: %s", json_get_string(one, "next", ""));
		add_line(check, &line);
	}
	if (check->is_fit && json_get_string(row, "text", NULL) != NULL)
		add_fact(&line, "%s: %s", json_get_string(row, "text", ""),
			 json_get_string(row, "next", ""));
	add_line(check, &line);
	add_text(&line, row, "gpu", "");
	add_text(&line, row, "driver", "driver ");
	if (n_processes > 0)
		add_fact(&line, "%d compute process%s on its GPUs", n_processes,
			 n_processes == 1 ? "" : "es");
	add_line(check, &line);
	add_text(&line, row, "python", "python ");
	add_text(&line, row, "torch", "torch ");
	add_text(&line, row, "triton", "triton ");
	add_text(&line, row, "shell", "shell ");
	add_text(&line, row, "system", "");
	add_line(check, &line);
	if (isfinite(free_bytes))
		add_fact(&line, "scratch %s: %.1f GB free",
			 json_get_string(row, "scratch", "folder"), free_bytes / 1e9);
	if (isfinite(offset_s) && isfinite(unsure_s))
		add_fact(&line, "clock %+.2f s ±%.2f s relative to this machine", offset_s,
			 unsure_s);
	else if (isfinite(offset_s))
		add_fact(&line, "clock %+.2f s relative to this machine", offset_s);
	add_line(check, &line);
	if (isfinite(connect_ms))
		add_fact(&line, "login in %.0f ms", connect_ms);
	add_text(&line, row, "host_key", "host key ");
	add_line(check, &line);
}

/* When the program has exited and both its pipes are closed, pass its output to the model. */
static void finish_check(struct pod_check *check)
{
	struct model_check result = { .wall_ms = clock_wall_ms() };
	struct model *model = check->checks->model;
	struct str rest = buf_str(&check->out), line;

	if (check->process.child != NULL || check->process.fds[1] >= 0 ||
	    check->process.fds[2] >= 0)
		return;
	while (str_next(&rest, '\n', &line)) {
		AUTO_JSON row = line.len > 0 && line.p[0] == '{'
					? json_parse(line, JSON_BARE_REFUSED, NULL)
					: NULL;

		if (row != NULL)
			add_row(&result, row);
		else if (line.len > 0)
			model_check_add(&result, line);
	}
	if (result.n_lines == 0)
		model_check_add(&result, STR_LIT("the check ended without a result"));
	if (check->pod < model->n_pods)
		model_pod_set_check(model, check->pod, &result);
	model_check_release(&result);
	free_check(check);
}

static void on_output(void *user, UNUSED unsigned int events)
{
	struct pod_check *check = user;

	for (int i = 1; i <= 2; i++)
		if (check->process.fds[i] >= 0)
			(void)process_read(&check->process, i, &check->out);
	finish_check(check);
}

static void on_exit_of_check(void *user, UNUSED int exit_status, UNUSED int term_signal)
{
	struct pod_check *check = user;

	check->process.child = NULL;
	finish_check(check);
}

int pod_checks_start(struct pod_checks *checks, size_t pod, struct err *err)
{
	const char *argv[CONTEXT_ARGV + 5];
	size_t n = context_argv(checks->context, argv);
	struct process_plan plan = {
		.argv = argv,
		.on_ready = { NULL, on_output, on_output },
		.fds = { -1, -1, -1 },
		.on_exit = on_exit_of_check,
	};
	struct pod_check *check;

	if (pod >= checks->model->n_pods)
		return err_set(err, ERR_USAGE, "this pod no longer exists");
	if (checks->model->pods[pod].check.is_running)
		return err_set(err, ERR_USAGE, "%s is already being checked",
			       checks->model->pods[pod].name);
	argv[n++] = "pods";
	argv[n++] = "check";
	argv[n++] = "--json";
	argv[n++] = checks->model->pods[pod].name;
	argv[n] = NULL;
	check = xnew(struct pod_check, .checks = checks, .pod = pod, .out = buf_new(OUT_BYTES));
	list_append(&checks->running, &check->link);
	plan.user = check;
	if (process_start(&check->process, checks->loop, &plan, err) != 0) {
		free_check(check);
		return -1;
	}
	checks->model->pods[pod].check.is_running = true;
	model_note_change(checks->model, MODEL_PODS);
	return 0;
}
