/* SPDX-License-Identifier: MIT */
/*
 * `hgym-tui bench run`, `attach`, `list`, `show`, `abort`, `clean` and `stop`:
 * asking, telling and concluding.
 */
#include "config.h"

#include "cmd/bench.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "bench/show.h"
#include "bench/start.h"
#include "bench/verdict_json.h"
#include "bench/waits.h"
#include "parsers/json.h"
#include "report/facts_print.h"
#include "store/benches.h"

#define MAX_TEXT   (1024U * 1024)
#define MAX_REPORT (16U * 1024 * 1024)

/* A line to stderr, with the time. */
static void
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

static int bench_conclude(const struct bench_drive *drive,
			  const enum bench_print *print, struct err *err);

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

/* The verdict of a folder, and how the bench stands, to stdout. */
static int
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

/*
 * Drive it to its end, print the report that print asks for (NULL: none) and
 * ask about pods that are still up.  The exit status, or -1 with err.
 */
static int
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

/* The bench that an ID names, and the plan that its folder keeps. */
struct bench_named {
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct plan plan;
};

/* -1 with err; release it with plan_release(&named->plan). */
static int
bench_named_open(struct bench_named *named, const char *word, struct err *err)
{
	return bench_find(word, named->id, named->path, err) == 0
		       ? bench_load_plan(&named->plan, named->path, err)
		       : -1;
}

/* How to drive it; `named` may still be opened. */
static struct bench_drive
named_drive(const struct cmd_args *args, const struct bench_named *named)
{
	return (struct bench_drive){ .context = args->context,
				     .plan = &named->plan,
				     .id = named->id,
				     .path = named->path,
				     .mode = SESSION_RUN,
				     .note = bench_tell };
}

static const struct cmd_option run_options[] = {
	BENCH_ASK_OPTIONS,
	BENCH_PRINT_OPTIONS(bench_ask, " at the end"),
	CMD_OPTIONS_END,
};

/* Of bench_ask nothing but `print`. */
static const struct cmd_option attach_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask, " at the end"),
	CMD_OPTIONS_END,
};

static int
exec_run(struct cmd_args *args, void *opaque, struct err *err)
{
	struct plan plan;
	int status;

	if (plan_load(&plan, args->argv[0], err) != 0)
		return -1;
	status = bench_begin(args->context, &plan, NULL, opaque, err);
	plan_release(&plan);
	return status;
}

/* What the one who drives it waits for, when that is another than before. */
static void
tell_waits(const struct clock *clock, const char *path, struct pod_wait *told,
	   size_t *n_told)
{
	struct pod_wait now[WAITS_MAX];
	size_t n = waits_read(path, true, now);
	int64_t now_ms = clock->wall_ms(clock);
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct pod_wait *old =
			waits_find(told, *n_told, now[i].pod);

		if (old != NULL && old->kind == now[i].kind &&
		    strcmp(old->why, now[i].why) == 0)
			continue;
		wait_text(&now[i], now_ms, text);
		bench_tell(text);
	}
	for (size_t i = 0; i < *n_told; i++) {
		if (waits_find(now, n, told[i].pod) != NULL)
			continue;
		wait_text_over(&told[i], now_ms, text);
		bench_tell(text);
	}
	memcpy(told, now, n * sizeof(now[0]));
	*n_told = n;
}

/* Somebody else drives it: wait until that one is done or gone. */
static int
take_over(const struct clock *clock, const char *path, int *lock,
	  struct err *err)
{
	struct timespec pause = { 1, 0 };
	struct pod_wait waits[WAITS_MAX];
	size_t n_waits = 0;
	bool told = false;

	while (folder_lock(path, lock, err) != 0) {
		if (err->code != ERR_CHECK)
			return -1;
		if (!told)
			(void)fprintf(stderr, "%s; waiting for its end\n",
				      err->text);
		told = true;
		tell_waits(clock, path, waits, &n_waits);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int
exec_attach(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct bench_ask *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = named_drive(args, &named);
	struct folder_state state;
	int lock = -1, status = -1;

	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE,
			       "bench attach starts programs on pods: not "
			       "with --read-only");
	if (bench_named_open(&named, args->argv[0], err) != 0)
		return -1;
	if (take_over(args->context->clock, named.path, &lock, err) == 0) {
		(void)folder_read_state(named.path, &state);
		if (strcmp(state.state, "running") == 0 ||
		    strcmp(state.state, "failed") == 0)
			status = bench_conclude(&drive, &call->print, err);
		else if (bench_judge_again(&drive, err) == 0)
			status = bench_print_report(&drive, call->print, err);
		(void)close(lock);
	}
	plan_release(&named.plan);
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
	.size = sizeof(struct bench_ask),
	.least = 1,
	.most = 1,
	.wants = "name one file (a bench.json)",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_run,
};

const struct cmd cmd_bench_attach = {
	.name = "bench attach",
	.usage = "[OPTIONS] ID",
	.summary = "take up a bench that was left or interrupted",
	.help = "Goes on where the results folder says; when another hgym-tui "
		"drives it, waits for\nthe end and prints the verdict.",
	.options = attach_options,
	.size = sizeof(struct bench_ask),
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_attach,
};

/* How long `bench abort` waits for the one who drives it to let go. */
#define ABORT_WAIT_S 30

static const struct cmd_option show_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask, ""),
	CMD_OPTIONS_END,
};

/* A bench under way has no verdict yet, whatever its blocks say so far. */
static void
add_verdict(cJSON *row, const char *state, const cJSON *root)
{
	bool none = root == NULL || strcmp(state, "running") == 0;
	struct buf line;

	buf_init(&line, 4096);
	report_line(&line, root);
	json_add_clean(row, "verdict", none ? NULL : line.data);
	buf_release(&line);
}

/* A row of the list; path is NULL of a bench whose folder is gone. */
static cJSON *
row_of(const struct stored_bench *bench, const char *path, const char *stopped,
       double cost_usd, const cJSON *verdict)
{
	const char *state = bench->state != NULL ? bench->state : "";
	cJSON *row = cJSON_CreateObject();
	char started[CLOCK_RFC3339_SIZE];
	char *waits =
		path != NULL ? bench_waits_words(path, bench->id, state) : NULL;

	clock_rfc3339(bench->started_ms, started);
	json_add_clean(row, "id", bench->id);
	json_add_clean(row, "name", bench->name);
	json_add_clean(row, "state", bench->state);
	json_add_string(row, "stopped", stopped);
	json_add_string(row, "started",
			bench->started_ms != 0 || path != NULL ? started
							       : NULL);
	json_add_number(row, "cost_usd", cost_usd);
	add_verdict(row, state, verdict);
	json_add_string(row, "waits_for", waits);
	bench_waits_json(row, path, state);
	json_add_string(row, "dir", path);
	free(waits);
	return row;
}

static cJSON *
folder_row(const char *base, const char *id)
{
	char path[FOLDER_PATH_SIZE];
	struct folder_state state;
	cJSON *row, *verdict;

	(void)snprintf(path, sizeof(path), "%s/%s", base, id);
	(void)folder_read_state(path, &state);
	verdict = folder_read_json(path, "verdict.json");
	row = row_of(&(struct stored_bench){ .id = id,
					     .name = state.name,
					     .state = state.state,
					     .started_ms = state.started_ms },
		     path, state.stopped[0] != '\0' ? state.stopped : NULL,
		     state.cost_usd, verdict);
	cJSON_Delete(verdict);
	return row;
}

/* The verdict that the database keeps; NULL: none. */
static cJSON *
stored_verdict(const struct stored_bench *bench)
{
	return bench->verdict != NULL ? json_parse(str_from(bench->verdict),
						   JSON_BARE_NULL, NULL)
				      : NULL;
}

/* Benches of the database whose folders are gone from here. */
struct history {
	struct out *out;
	char **ids;
	size_t n;
};

static int
print_stored(void *user, const struct stored_bench *bench)
{
	const struct history *h = user;
	cJSON *verdict;

	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->ids[i], bench->id) == 0)
			return 0;
	verdict = stored_verdict(bench);
	out_take(h->out,
		 row_of(bench, NULL, json_get_string(verdict, "stopped", NULL),
			json_get_number(verdict, "cost_usd", (double)NAN),
			verdict));
	cJSON_Delete(verdict);
	return 0;
}

/* Older benches, as the database remembers them; none where it is not. */
static int
print_history(struct context *context, struct history *h, struct err *err)
{
	struct err why = { ERR_NONE, "" };

	if (context_open(context, CONTEXT_DB, &why) == 0)
		return store_each_bench(context->store, NULL, print_stored, h,
					err);
	return why.code == ERR_NODATA ? 0
				      : err_set(err, why.code, "%s", why.text);
}

static int
exec_list(struct cmd_args *args, void *opaque, struct err *err)
{
	static const struct out_column columns[] = {
		{ "id", NULL, -1, 0 },	    { "state", NULL, -1, 0 },
		{ "started", NULL, -1, 0 }, { "cost_usd", "USD", 2, 0 },
		{ "verdict", NULL, -1, 0 }, { "waits_for", NULL, -1, 0 },
		{ NULL, NULL, 0, 0 },
	};
	const struct cmd_output *call = opaque;
	struct history history = { .out = cmd_out(call->format, columns) };
	char *base = bench_base();
	int status;

	history.ids = folder_list(base, &history.n);
	for (size_t i = 0; i < history.n; i++)
		out_take(history.out, folder_row(base, history.ids[i]));
	status = print_history(args->context, &history, err);
	for (size_t i = 0; i < history.n; i++)
		free(history.ids[i]);
	free(history.ids);
	free(base);
	return cmd_out_end(history.out, status, err);
}

/* A bench that only the database remembers, by the beginning of its id. */
struct remembered {
	const char *word;
	cJSON *verdict; /* owned; of the first one found */
	size_t found;
};

static int
remember(void *user, const struct stored_bench *bench)
{
	struct remembered *r = user;

	if (strncmp(bench->id, r->word, strlen(r->word)) != 0 || r->found++ > 0)
		return 0;
	r->verdict = stored_verdict(bench);
	if (r->verdict != NULL) {
		json_add_clean(r->verdict, "state", bench->state);
		bench_waits_json(r->verdict, NULL, "");
	}
	return 0;
}

/* Show it from the database; -1 where that has none, err left as it was. */
static int
show_stored(struct cmd_args *args, enum bench_print print, struct err *err)
{
	struct remembered r = { .word = args->argv[0] };
	int status = -1;

	if (context_open(args->context, CONTEXT_DB, NULL) == 0 &&
	    store_each_bench(args->context->store, NULL, remember, &r, NULL) ==
		    0 &&
	    r.found == 1 && r.verdict != NULL)
		status = bench_print_verdict(
			r.verdict, print,
			"\nits results folder is gone: this is what the "
			"database remembers\n",
			err);
	cJSON_Delete(r.verdict);
	return status;
}

static int
exec_show(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct bench_ask *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = named_drive(args, &named);
	int status;

	if (bench_named_open(&named, args->argv[0], err) != 0)
		return err->code == ERR_NODATA
			       ? show_stored(args, call->print, err)
			       : -1;
	status = bench_print_report(&drive, call->print, err);
	plan_release(&named.plan);
	return status;
}

/* Ask the one who drives it to let go, and wait for that. */
static int
seize(const char *path, int *lock, struct err *err)
{
	struct timespec pause = { 0, 200 * 1000 * 1000 };

	if (folder_write(path, "abort", (struct str){ "1\n", 2 }, err) != 0)
		return -1;
	for (int i = 0; i < ABORT_WAIT_S * 5; i++) {
		if (folder_lock(path, lock, err) == 0)
			return 0;
		if (err->code != ERR_CHECK)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
	return -1;
}

extern const struct cmd cmd_bench_abort, cmd_bench_clean, cmd_bench_stop;

/* What ends or removes something on the pods of a bench. */
static const struct action {
	const struct cmd *cmd;
	enum session_mode mode;
	int (*lock)(const char *path, int *lock, struct err *err);
	const char *refusal; /* with --read-only */
} actions[] = {
	{ &cmd_bench_abort, SESSION_ABORT, seize, "ends programs on pods" },
	{ &cmd_bench_clean, SESSION_CLEAN, folder_lock,
	  "removes files on pods" },
	{ &cmd_bench_stop, SESSION_STOP, folder_lock, "stops pods" },
};

/* Do it under the bench's lock; an abort's request is gone after it. */
static int
exec_action(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct action *action = actions;
	struct bench_named named;
	struct bench_drive drive = named_drive(args, &named);
	int lock = -1, status = -1;

	(void)opaque;
	while (action->cmd != args->cmd)
		action++;
	drive.mode = action->mode;
	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE, "%s %s: not with --read-only",
			       args->cmd->name, action->refusal);
	if (bench_named_open(&named, args->argv[0], err) != 0)
		return -1;
	if (action->lock(named.path, &lock, err) == 0)
		status = bench_conclude(&drive, NULL, err);
	if (lock >= 0) {
		if (action->mode == SESSION_ABORT)
			folder_remove(named.path, "abort");
		(void)close(lock);
	}
	plan_release(&named.plan);
	return status;
}

const struct cmd cmd_bench_list = {
	.name = "bench list",
	.usage = "[OPTIONS]",
	.summary = "list the benches that were run from here",
	.help = "Those with a results folder first, then those that only the "
		"database remembers.\nA bench under way has no verdict yet.",
	.options = cmd_output_options,
	.size = sizeof(struct cmd_output),
	.needs = CONTEXT_CONF,
	.exec = exec_list,
};

const struct cmd cmd_bench_show = {
	.name = "bench show",
	.usage = "[OPTIONS] ID",
	.summary = "show the verdict and the numbers of a bench",
	.help = "ID may be cut short while it stays the only one.",
	.options = show_options,
	.size = sizeof(struct bench_ask),
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_show,
};

const struct cmd cmd_bench_abort = {
	.name = "bench abort",
	.usage = "ID",
	.summary = "end a bench and prove that nothing of it is left",
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_action,
};

const struct cmd cmd_bench_stop = {
	.name = "bench stop",
	.usage = "ID",
	.summary = "run the stop_cmd of each pod of a bench that is over",
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_action,
};

const struct cmd cmd_bench_clean = {
	.name = "bench clean",
	.usage = "ID",
	.summary = "remove what a bench left on its pods",
	.help = "The results here are kept.",
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_action,
};
