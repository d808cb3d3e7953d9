/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench run` and `bench attach`: an A/B bench on its pods. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "bench/stats.h"
#include "bench_drive.h"
#include "cmd.h"

enum option {
	OPTION_YES,
	OPTION_DETACH,
	OPTION_DRY,
	OPTION_ACCEPT,
	OPTION_JSON,
	OPTION_MD,
};

static const struct cmd_option run_options[] = {
	{ 'y', "yes", NULL, "do not ask before it begins" },
	{ 0, "detach", NULL, "return at once, drive it in the background" },
	{ 'n', "dry-run", NULL, "show what would run, and stop" },
	{ 0, "accept-new", NULL, "accept host keys that are not known yet" },
	{ 0, "json", NULL, "print verdict.json at the end" },
	{ 0, "md", NULL, "print Markdown at the end" },
	{ 0, NULL, NULL, NULL },
};

static const struct cmd_option attach_options[] = {
	{ 0, "json", NULL, "print verdict.json at the end" },
	{ 0, "md", NULL, "print Markdown at the end" },
	{ 0, NULL, NULL, NULL },
};

static void
add_clean_line(struct buf *out, const char *label, const char *text)
{
	buf_appendf(out, "  %-10s", label);
	utf8_sanitize(out, str_from(text));
	buf_append_char(out, '\n');
}

/* What will run, where, in which order, and what it can show. */
static void
describe(struct buf *out, const struct plan *plan)
{
	struct buf command;
	double rate = 0.0;

	buf_appendf(out,
		    "%s: %zu arms x %zu blocks x %zu pod%s, %zu runs with "
		    "burn-in; seed %llu\n",
		    plan->name, plan_n_arms(plan), plan->blocks, plan->n_pods,
		    plan->n_pods == 1 ? "" : "s", plan_n_runs(plan),
		    (unsigned long long)plan->seed);
	buf_init(&command, 65536);
	for (size_t pod = 0; pod < plan->n_pods; pod++) {
		add_clean_line(out, "pod", plan->pods[pod].id);
		if (!isnan(plan->pods[pod].usd_per_h))
			rate += plan->pods[pod].usd_per_h;
		for (size_t arm = 0; arm < plan_n_arms(plan); arm++) {
			buf_clear(&command);
			plan_arm_tag(plan, arm, &command);
			buf_append_str(&command, ": ");
			plan_command(plan, arm, pod, &command);
			add_clean_line(out, "", command.data);
		}
	}
	buf_release(&command);
	buf_appendf(out,
		    "  shows     with %zu blocks: %.2f%% at 0.1%% noise, "
		    "%.2f%% at 0.3%%, %.2f%% at 1%%\n",
		    plan->blocks * plan->n_pods,
		    stats_pct(paired_mde(0.001, plan->blocks * plan->n_pods,
					 plan->rule.paired.alpha,
					 plan->rule.paired.power)),
		    stats_pct(paired_mde(0.003, plan->blocks * plan->n_pods,
					 plan->rule.paired.alpha,
					 plan->rule.paired.power)),
		    stats_pct(paired_mde(0.01, plan->blocks * plan->n_pods,
					 plan->rule.paired.alpha,
					 plan->rule.paired.power)));
	if (rate > 0.0)
		buf_appendf(out, "  cost      %.2f USD an hour\n", rate);
	if (!isnan(plan->minutes))
		buf_appendf(out, "  at most   %g minutes\n", plan->minutes);
	if (!isnan(plan->usd))
		buf_appendf(out, "  at most   %g USD\n", plan->usd);
}

static int
confirm(const struct plan *plan, bool yes, struct err *err)
{
	struct buf text;
	char answer[16];

	buf_init(&text, 1024U * 1024);
	describe(&text, plan);
	(void)fwrite(text.data, 1, text.len, stderr);
	buf_release(&text);
	if (yes)
		return 0;
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE,
			       "nobody to ask whether to begin: give --yes");
	(void)fprintf(stderr, "begin? [y/N] ");
	if (fgets(answer, sizeof(answer), stdin) == NULL ||
	    (answer[0] != 'y' && answer[0] != 'Y'))
		return err_set(err, ERR_CANCELLED, "not begun");
	return 0;
}

/* Keep the definition as it was given, and where it lay. */
static int
keep_definition(const struct plan *plan, const char *path, struct err *err)
{
	struct folder_state state = {
		.state = "running",
		.started_ms = clock_real.wall_ms(&clock_real),
		.cost_usd = (double)NAN,
	};
	char real[PATH_MAX], block[65536];
	struct buf text;
	cJSON *source;
	FILE *stream = fopen(plan->file, "re");
	size_t n;
	int result;

	if (stream == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", plan->file);
	buf_init(&text, 1024U * 1024);
	while ((n = fread(block, 1, sizeof(block), stream)) > 0)
		buf_append(&text, block, n);
	(void)fclose(stream);
	result = folder_write(path, "bench.json",
			      (struct str){ text.data, text.len }, err);
	buf_release(&text);
	if (realpath(plan->file, real) == NULL)
		(void)snprintf(real, sizeof(real), "%s", plan->file);
	source = cJSON_CreateObject();
	json_add_string(source, "file", real);
	if (result == 0)
		result = folder_write_json(path, "source.json", source, err);
	cJSON_Delete(source);
	if (result == 0)
		result = folder_write_state(path, &state, err);
	return result;
}

/*
 * Go on in a process of its own, away from the terminal.  1: we are that
 * process; 0: we are the one who called.
 */
static int
detach(const char *path, struct err *err)
{
	char log[FOLDER_PATH_SIZE + 16];
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		return err_set_errno(err, ERR_IO, "cannot start a process");
	if (pid > 0)
		return 0;
	(void)setsid();
	(void)snprintf(log, sizeof(log), "%s/driver.log", path);
	fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		(void)dup2(fd, STDIN_FILENO);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
	}
	return 1;
}

struct request {
	bool yes, detach, dry, accept_new;
	enum bench_print print;
};

static int
start_bench(const struct cmd_args *args, const struct plan *plan,
	    const struct request *q, struct err *err)
{
	struct bench_drive drive = { .env = args->env,
				     .plan = plan,
				     .mode = SESSION_RUN,
				     .print = q->print,
				     .accept_new = q->accept_new };
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	char *base = bench_base();
	int lock = -1, status = -1, child = 1;

	if (folder_create(base, plan->name, clock_real.wall_ms(&clock_real), id,
			  path, err) == 0 &&
	    keep_definition(plan, path, err) == 0 &&
	    folder_lock(path, &lock, err) == 0) {
		drive.id = id;
		drive.path = path;
		(void)fprintf(stderr, "bench %s in %s\n", id, path);
		if (q->detach) {
			child = detach(path, err);
			status = child < 0 ? -1 : 0;
			if (child == 0)
				printf("%s\n", id);
		}
		if (child == 1)
			status = bench_drive(&drive, err);
	}
	if (lock >= 0)
		(void)close(lock);
	free(base);
	return status;
}

static int
exec_run(struct cmd_args *args, struct err *err)
{
	struct request q = { .print = BENCH_TEXT };
	const char *value;
	struct plan plan;
	struct buf text;
	int option, status = -1;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		q.yes |= option == OPTION_YES;
		q.detach |= option == OPTION_DETACH;
		q.dry |= option == OPTION_DRY;
		q.accept_new |= option == OPTION_ACCEPT;
		if (option == OPTION_JSON)
			q.print = BENCH_JSON;
		else if (option == OPTION_MD)
			q.print = BENCH_MD;
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next + 1 != args->argc)
		return err_set(err, ERR_USAGE,
			       "bench run needs one file (a bench.json)");
	if (plan_load(&plan, args->argv[args->next], err) != 0)
		return -1;
	if (q.dry) {
		buf_init(&text, 1024U * 1024);
		describe(&text, &plan);
		status = fwrite(text.data, 1, text.len, stdout) == text.len
				 ? 0
				 : err_set_errno(err, ERR_IO, "cannot write");
		buf_release(&text);
	} else if (args->env->read_only) {
		err_set(err, ERR_USAGE,
			"bench run starts programs on pods: not with "
			"--read-only");
	} else if (confirm(&plan, q.yes, err) == 0) {
		status = start_bench(args, &plan, &q, err);
	}
	plan_release(&plan);
	return status;
}

/* Somebody else drives it: wait until that one is done or gone. */
static int
take_over(const char *path, int *lock, struct err *err)
{
	struct timespec pause = { 1, 0 };
	bool told = false;

	while (folder_lock(path, lock, err) != 0) {
		if (err->code != ERR_CHECK)
			return -1;
		if (!told)
			(void)fprintf(stderr, "%s; waiting for its end\n",
				      err->text);
		told = true;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int
exec_attach(struct cmd_args *args, struct err *err)
{
	enum bench_print print = BENCH_TEXT;
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct folder_state state;
	const char *value;
	struct plan plan;
	int option, lock = -1, status = -1;

	while ((option = cmd_next_option(args, &value, err)) >= 0)
		print = option == 0 ? BENCH_JSON : BENCH_MD;
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next + 1 != args->argc)
		return err_set(err, ERR_USAGE, "bench attach needs one ID");
	if (bench_find(args->argv[args->next], id, path, err) != 0 ||
	    bench_load_plan(&plan, path, err) != 0)
		return -1;
	if (args->env->read_only) {
		err_set(err, ERR_USAGE,
			"bench attach starts programs on pods: not with "
			"--read-only");
	} else if (take_over(path, &lock, err) == 0) {
		(void)folder_read_state(path, &state);
		if (strcmp(state.state, "running") == 0 ||
		    strcmp(state.state, "failed") == 0)
			status = bench_drive(
				&(struct bench_drive){ args->env, &plan, id,
						       path, SESSION_RUN, print,
						       false },
				err);
		else
			status = bench_report(&plan, id, path, print, err);
		(void)close(lock);
	}
	plan_release(&plan);
	return status;
}

const struct cmd cmd_bench_run = {
	.name = "bench run",
	.usage = "[OPTIONS] FILE",
	.summary = "run the A/B bench of a bench.json on its pods",
	.help = "Every run is a job of its own on the pod: a dropped link, a "
		"closed laptop or a killed\nhgym-tui changes nothing there, "
		"and `bench attach` takes it up. Ctrl-C leaves it running.",
	.options = run_options,
	.exec = exec_run,
};

const struct cmd cmd_bench_attach = {
	.name = "bench attach",
	.usage = "[OPTIONS] ID",
	.summary = "take up a bench that was left or interrupted",
	.help = "Goes on where the results folder says; when another hgym-tui "
		"drives it, waits for\nthe end and prints the verdict.",
	.options = attach_options,
	.exec = exec_attach,
};
