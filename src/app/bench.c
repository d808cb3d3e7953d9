/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard starts and stops. */
#include "config.h"

#include "app/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "conf/conf.h"

#define MAX_CHILDREN 16
#define TAIL_BYTES   4096
/* What a bench ends with whose verdict is no good news. */
#define EXIT_CHECK 3

struct watched {
	struct app_bench *owner;
	struct loop_child *child; /* NULL: free */
	char *log;		  /* owned; where its words go */
};

struct app_bench {
	struct loop *loop;
	struct model *model;
	const struct context *context;
	struct watched watched[MAX_CHILDREN];
	size_t next; /* the oldest makes room */
};

struct app_bench *
app_bench_new(struct loop *loop, struct model *model,
	      const struct context *context)
{
	struct app_bench *bench = xcalloc(1, sizeof(*bench));

	bench->loop = loop;
	bench->model = model;
	bench->context = context;
	return bench;
}

static void
forget(struct watched *watched)
{
	if (watched->child != NULL)
		loop_child_close(watched->child);
	watched->child = NULL;
	free(watched->log);
	watched->log = NULL;
}

void
app_bench_free(struct app_bench *bench)
{
	if (bench == NULL)
		return;
	for (size_t i = 0; i < MAX_CHILDREN; i++)
		forget(&bench->watched[i]);
	free(bench);
}

void
app_bench_kill(struct app_bench *bench)
{
	for (size_t i = 0; bench != NULL && i < MAX_CHILDREN; i++)
		if (bench->watched[i].child != NULL)
			loop_child_kill(bench->watched[i].child, SIGKILL);
}

/* The last line of a file that is not empty; "" when there is none. */
static void
last_line(const char *path, char out[TAIL_BYTES])
{
	FILE *file = fopen(path, "re");
	size_t n = 0;
	char *line;

	out[0] = '\0';
	if (file == NULL)
		return;
	if (fseek(file, -(long)(TAIL_BYTES - 1), SEEK_END) != 0)
		rewind(file);
	n = fread(out, 1, TAIL_BYTES - 1, file);
	(void)fclose(file);
	while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == ' '))
		n--;
	out[n] = '\0';
	line = strrchr(out, '\n');
	if (line != NULL)
		memmove(out, line + 1, strlen(line));
}

/* One that failed is told, by the last that it said. */
static void
on_exit_of(void *user, int exit_status, int term_signal)
{
	struct watched *watched = user;
	struct model_event event = {
		.wall_ms = clock_real.wall_ms(&clock_real),
		.severity = MODEL_WARNING,
		.pod = MODEL_NONE,
	};
	char line[TAIL_BYTES];

	watched->child = NULL;
	if (term_signal == 0 && exit_status != 0 && exit_status != EXIT_CHECK) {
		last_line(watched->log, line);
		event.text = xasprintf("bench: %s",
				       line[0] != '\0' ? line : "it failed");
		model_event_add(watched->owner->model, &event);
		free(event.text);
	}
	forget(watched);
}

/* A file for the words of the bench; -1: none. */
static int
open_log(struct watched *watched, size_t number)
{
	char *state = conf_dir_state();
	int fd = -1;

	watched->log = xasprintf("%s/bench-%zu.log", state, number);
	if (conf_make_dir(state, NULL) == 0)
		fd = open(watched->log,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	free(state);
	return fd;
}

int
app_bench_launch(struct app_bench *bench, const char *plan, const char *stop_id,
		 struct err *err)
{
	struct watched *watched = &bench->watched[bench->next];
	int fds[3] = { -1, -1, -1 };
	const char *argv[CONTEXT_ARGV + 5];
	size_t n = context_argv(bench->context, argv);

	argv[n++] = "bench";
	argv[n++] = plan != NULL	     ? "run"
		    : bench_is_over(stop_id) ? "stop"
					     : "abort";
	if (plan != NULL)
		argv[n++] = "--yes";
	argv[n++] = plan != NULL ? plan : stop_id;
	argv[n] = NULL;
	forget(watched);
	watched->owner = bench;
	fds[2] = open_log(watched, bench->next);
	watched->child = loop_child_new(bench->loop, argv, NULL, fds,
					on_exit_of, watched, err);
	if (fds[2] >= 0)
		(void)close(fds[2]);
	bench->next = (bench->next + 1) % MAX_CHILDREN;
	return watched->child != NULL ? 0 : -1;
}
