/* SPDX-License-Identifier: MIT */
/* Benches on the command line: asking, telling, concluding; see bench_on.h. */
#include "config.h"

#include "cmd/bench_on.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "bench/report.h"
#include "bench/show.h"
#include "bench/start.h"
#include "bench/verdict_json.h"
#include "report/facts_print.h"

#define MAX_TEXT   (1024U * 1024)
#define MAX_REPORT (16U * 1024 * 1024)

void
bench_tell(const char *line)
{
	time_t now = time(NULL);
	char stamp[16], *text;
	struct tm tm;

	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
	text = xasprintf("%s %s", stamp, line);
	say_line(text);
	free(text);
}

/* A question on the terminal; only y and Y are a yes. */
static bool
ask(const char *question)
{
	char answer[16];

	(void)fprintf(stderr, "%s [y/N] ", question);
	return fgets(answer, sizeof(answer), stdin) != NULL &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

/*
 * on_end "ask": somebody at a terminal is asked whether the pods are to stop;
 * others are told how.  The exit status, or -1 with err.
 */
static int
ask_stop(const struct bench_drive *drive, struct err *err)
{
	struct bench_drive stop = *drive;
	bool is_asked = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	char *pods = drive->mode == SESSION_RUN
			     ? bench_still_up(drive->plan, drive->path)
			     : NULL;
	bool yes;

	if (pods == NULL)
		return 0;
	if (is_asked)
		(void)fprintf(stderr, "still up: %s\n", pods);
	yes = is_asked && ask("run their stop_cmd?");
	if (!yes)
		(void)fprintf(stderr,
			      "still up: %s; hgym-tui bench stop %s runs "
			      "their stop_cmd\n",
			      pods, drive->id);
	free(pods);
	stop.mode = SESSION_STOP;
	return yes ? bench_conclude(&stop, NULL, err) : 0;
}

/* The variants of a verdict, a row each. */
static int
print_rows(const cJSON *verdict, struct err *err)
{
	static const struct out_column columns[] = {
		{ "variant", NULL, -1, 0 },
		{ "control", NULL, -1, 0 },
		{ "verdict", NULL, -1, 0 },
		{ "text", NULL, -1, 0 },
		{ "n_blocks", NULL, -1, 0 },
		{ "control_mean", NULL, -1, 0 },
		{ "variant_mean", NULL, -1, 0 },
		{ "pct", NULL, -1, 0 },
		{ "ci_low_pct", NULL, -1, 0 },
		{ "ci_high_pct", NULL, -1, 0 },
		{ "p", NULL, -1, 0 },
		{ "p_holm", NULL, -1, 0 },
		{ "p_signflip", NULL, -1, 0 },
		{ "mde_pct", NULL, -1, 0 },
		{ NULL, NULL, 0, 0 },
	};
	struct out *out = cmd_out(OUT_CSV, columns);
	const cJSON *c;

	cJSON_ArrayForEach(c, verdict_list(verdict, "contrasts"))
	{
		const cJSON *ci = verdict_list(c, "ci_pct");
		cJSON *row = cJSON_Duplicate(c, true);

		cJSON_AddItemToObject(
			row, "ci_low_pct",
			cJSON_Duplicate(cJSON_GetArrayItem(ci, 0), false));
		cJSON_AddItemToObject(
			row, "ci_high_pct",
			cJSON_Duplicate(cJSON_GetArrayItem(ci, 1), false));
		out_take(out, row);
	}
	return cmd_out_end(out, 0, err);
}

int
bench_print_verdict(const cJSON *verdict, enum bench_print print,
		    const char *behind, struct err *err)
{
	struct facts facts;
	struct buf text;
	int rc;

	if (print == BENCH_JSON)
		return cmd_print_json(cJSON_Duplicate(verdict, true), err);
	if (print == BENCH_CSV)
		return print_rows(verdict, err);
	buf_init(&text, MAX_REPORT);
	facts_init(&facts);
	report_facts(&facts, verdict);
	if (print == BENCH_MD)
		facts_print_md(&text, &facts);
	else
		facts_print_text(&text, &facts);
	buf_append_str(&text, behind);
	rc = cmd_print(&text, err);
	facts_release(&facts);
	buf_release(&text);
	return rc;
}

int
bench_print_report(const struct bench_drive *drive, enum bench_print print,
		   struct err *err)
{
	struct folder_state state;
	bool is_there = folder_read_state(drive->path, &state);
	cJSON *verdict = bench_verdict(drive);
	char *waits, *behind;
	int rc;

	waits = bench_waits_words(drive->path, drive->id, state.state);
	behind =
		xasprintf("%s%s%s%s",
			  strcmp(state.state, "running") == 0
				  ? "\nit is under way: no verdict yet\n"
				  : "",
			  waits != NULL ? "\n" : "", waits != NULL ? waits : "",
			  waits != NULL ? "\n" : "");
	json_add_string(verdict, "state", is_there ? state.state : "unknown");
	bench_waits_json(verdict, drive->path, state.state);
	rc = bench_print_verdict(verdict, print, behind, err);
	free(behind);
	free(waits);
	cJSON_Delete(verdict);
	return rc;
}

int
bench_conclude(const struct bench_drive *drive, const enum bench_print *print,
	       struct err *err)
{
	switch (bench_drive(drive, err)) {
	case SESSION_LEFT:
		(void)fprintf(stderr,
			      "detached; jobs keep running on the pods; "
			      "hgym-tui bench attach %s takes it up again, "
			      "hgym-tui bench abort %s ends it\n",
			      drive->id, drive->id);
		return 128 + SIGINT;
	case SESSION_FAILED:
		(void)ask_stop(drive, NULL);
		return -1;
	case SESSION_DONE:
		break;
	}
	if (drive->mode == SESSION_STOP)
		return bench_note_stopped(drive->path, err);
	if (print != NULL && bench_print_report(drive, *print, err) != 0)
		return -1;
	return ask_stop(drive, err);
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

/* In a results folder of its own, here or in the background. */
static int
begin(struct context *context, const struct plan *plan, const char *given,
      const struct bench_ask *q, struct err *err)
{
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	const struct bench_drive drive = { .context = context,
					   .plan = plan,
					   .id = id,
					   .path = path,
					   .mode = SESSION_RUN,
					   .accept_new = q->accept_new,
					   .note = bench_tell };
	int lock = -1, status = -1, child = 1;

	if (bench_create(plan, given, id, path, &lock, err) == 0) {
		(void)fprintf(stderr, "bench %s in %s\n", id, path);
		if (q->detach)
			child = detach(path, err);
		if (child == 0) {
			(void)printf("%s\n", id);
			status = cmd_flush(err);
		} else if (child == 1) {
			status = bench_conclude(
				&drive, q->quiet ? NULL : &q->print, err);
		}
	}
	if (lock >= 0)
		(void)close(lock);
	return status;
}

int
bench_begin(struct context *context, const struct plan *plan, const char *given,
	    const struct bench_ask *q, struct err *err)
{
	struct buf text;
	int status = -1;

	buf_init(&text, MAX_TEXT);
	bench_outline(&text, context, plan);
	if (q->dry)
		status = cmd_print(&text, err);
	else if (context->options.read_only)
		err_set(err, ERR_USAGE,
			"this starts programs on pods: not with --read-only");
	else
		(void)fwrite(text.data, 1, text.len, stderr);
	buf_release(&text);
	if (q->dry || context->options.read_only)
		return status;
	if (!q->yes && !isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE,
			       "stdin is not a terminal; use --yes to start");
	if (!q->yes && !ask("begin?"))
		return err_set(err, ERR_CANCELLED, "not begun");
	return begin(context, plan, given, q, err);
}

int
bench_named_open(struct bench_named *named, const char *word, struct err *err)
{
	return bench_find(word, named->id, named->path, err) == 0
		       ? bench_load_plan(&named->plan, named->path, err)
		       : -1;
}
