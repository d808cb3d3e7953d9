/* SPDX-License-Identifier: MIT */
/* The `bench` commands: run, attach, list, show, abort, clean, stop, audit, noise, judge. */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "bench/drive.h"
#include "bench/line.h"
#include "bench/make.h"
#include "bench/page.h"
#include "bench/runs.h"
#include "bench/start.h"
#include "bench/waits.h"
#include "cmd/cmd.h"
#include "report/facts_print.h"

#define MAX_TEXT   (1024U * 1024)
#define MAX_REPORT (16U * 1024 * 1024)

/* Options for the format of the verdict. Their struct has an enum out_format `print`. */
#define BENCH_PRINT_OPTIONS(type)                                                                  \
	CMD_ROW("json", NULL, "print the verdict as in verdict.json", CMD_VALUE, type, print,      \
		.value = OUT_JSON),                                                                \
		CMD_ROW("csv", NULL, "print comma-separated values, one row per variant",          \
			CMD_VALUE, type, print, .value = OUT_CSV),                                 \
		CMD_ROW("md", NULL, "print Markdown", CMD_VALUE, type, print, .value = OUT_MD),    \
		CMD_ROW("all", NULL, "print all numbers, tests, checks and runs", CMD_VALUE, type, \
			print, .value = OUT_ALL)

/* How to start a bench; the first member of the commands' structs. */
struct bench_ask {
	bool yes, detach, dry, accept_new;
	bool quiet;	      /* print no report at the end */
	unsigned int fail_on; /* a bit for each verdict_word */
	enum out_format print;
};

#define BENCH_ASK_OPTIONS                                                                         \
	CMD_ROW("dry-run", NULL, "print plan, cost and smallest detectable difference", CMD_FLAG, \
		bench_ask, dry, .short_name = 'n', .heading = "confirmation and output"),         \
		CMD_ROW("yes", NULL, "start without asking", CMD_FLAG, bench_ask, yes,            \
			.short_name = 'y'),                                                       \
		CMD_ROW("detach", NULL, "return at once; run the bench in the background",        \
			CMD_FLAG, bench_ask, detach),                                             \
		CMD_ACCEPT_NEW_OPTION(bench_ask)

#define SLUG(id, word, slug) slug,
static const char *const verdict_slugs[] = { VERDICT_LIST(SLUG) NULL };

static void print_note(const char *line)
{
	char stamp[CLOCK_RFC3339_SIZE];

	clock_rfc3339(clock_wall_ms(), stamp);
	AUTO_TEXT text = xasprintf("%.8s %s", strchr(stamp, 'T') + 1, line);
	say_line(text);
}

/* Ask on the terminal; anything but y or Y means no. */
static bool confirm(const char *question)
{
	char answer[16];

	(void)fprintf(stderr, "%s [y/N] ", question);
	return fgets(answer, sizeof(answer), stdin) != NULL &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static int drive_bench(const struct bench_drive *drive, const enum out_format *print,
		       unsigned int fail_on, struct err *err);

/* After a bench with "on_end": "ask": offer to run the stop_cmd of pods that are still running, or
 * without a terminal print the command that does. Return the exit status, or -1 with err. */
static int offer_stop(const struct bench_drive *drive, struct err *err)
{
	struct bench_drive stop = *drive;
	AUTO_TEXT pods = drive->mode == SESSION_RUN
				 ? bench_pods_left_running(drive->plan, drive->path)
				 : NULL;

	if (pods == NULL)
		return 0;
	(void)fprintf(stderr, "pods still running: %s\n", pods);
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || !confirm("run their stop_cmd?")) {
		(void)fprintf(stderr, "to run their stop_cmd: hgym-tui bench stop %s\n", drive->id);
		return 0;
	}
	stop.mode = SESSION_STOP;
	return drive_bench(&stop, NULL, 0, err);
}

static void append_sentence(struct buf *text, const cJSON *verdict)
{
	AUTO_BUF sentence = buf_new(MAX_TEXT);

	report_sentence(&sentence, verdict);
	if (sentence.len > 0)
		buf_appendf(text, "\n%s\n", sentence.data);
}

/* Print a verdict.json; in text and Markdown, appendix follows ("": none). */
static int print_verdict(const cJSON *verdict, enum out_format print, const char *appendix,
			 struct err *err)
{
	static const char columns[] = "variant, control, verdict, text, n_blocks, control_mean, "
				      "variant_mean, pct, ci_low_pct, ci_high_pct, p, p_holm, "
				      "p_signflip, mde_pct";
	AUTO_FACTS facts = { .n = 0 };
	AUTO_BUF text = buf_new(MAX_REPORT);

	if (print == OUT_JSON)
		return cmd_print_json(cJSON_Duplicate(verdict, true), err);
	if (print == OUT_CSV) {
		struct out *out = cmd_out(OUT_CSV, columns);

		json_each (c, verdict_list(verdict, "contrasts"))
			out_take(out, json_add(cJSON_Duplicate(c, true),
					       JNUM("ci_low_pct", verdict_bound(c, "ci_pct", 0)),
					       JNUM("ci_high_pct", verdict_bound(c, "ci_pct", 1))));
		return cmd_out_end(out, 0, err);
	}
	if (print == OUT_TABLE)
		report_summary(&facts, verdict);
	else
		report_facts(&facts, verdict);
	if (print == OUT_MD)
		facts_print_md(&text, &facts);
	else
		facts_print_text(&text, &facts);
	buf_append_str(&text, appendix);
	append_sentence(&text, verdict);
	return cmd_print(&text, err);
}

static int print_report(const struct bench_drive *drive, enum out_format print, struct err *err)
{
	struct folder_state state;
	bool is_there = folder_read_state(drive->path, &state);
	AUTO_JSON verdict = bench_verdict(drive);
	AUTO_BUF text = buf_new(MAX_REPORT);

	json_add_string(verdict, "state", is_there ? state.state : "unknown");
	AUTO_TEXT waits = bench_waits_add(verdict, drive->path, drive->id, state.state);
	AUTO_TEXT appendix = xasprintf(
		"%s%s%s%s",
		strcmp(state.state, "running") == 0 ? "\nstill running: no verdict yet\n" : "",
		waits != NULL ? "\n" : "", waits != NULL ? waits : "", waits != NULL ? "\n" : "");

	if (print != OUT_MD)
		return print_verdict(verdict, print, appendix, err);
	page_md(&text, verdict, drive->plan, drive->path);
	buf_append_str(&text, appendix);
	append_sentence(&text, verdict);
	return cmd_print(&text, err);
}

/* Is the verdict of a contrast one of these words? (A bit for each verdict_word.) */
static bool is_word_in(const cJSON *contrast, unsigned int words)
{
	int word = str_index(verdict_words, verdict_text(contrast, "verdict"));

	return word >= 0 && (words >> word & 1) != 0;
}

/* Return the exit status of a bench that has ended: 1 if it was aborted, 3 if --fail-on names one
 * of its verdicts, or if all variants are INVALID or have no complete block. */
static int get_run_status(const struct bench_drive *drive, unsigned int fail_on)
{
	AUTO_JSON verdict = bench_verdict(drive);
	const cJSON *all = verdict_list(verdict, "contrasts");
	bool is_judged = false, fails = false;

	if (strcmp(verdict_text(verdict, "stopped"), "aborted") == 0)
		return err_exit_status(ERR_CANCELLED);
	json_each (c, all) {
		if (verdict_is(c, "aa") && cJSON_GetArraySize(all) > 1)
			continue;
		fails |= is_word_in(c, fail_on);
		is_judged |=
			!is_word_in(c, 1U << VERDICT_INVALID) && verdict_count(c, "n_blocks") > 0;
	}
	return fails || !is_judged ? err_exit_status(ERR_CHECK) : 0;
}

/* Drive the bench to its end, print the report in the given format (NULL: no report) and offer to
 * stop pods that are still running. Return the exit status, or -1 with err. */
static int drive_bench(const struct bench_drive *drive, const enum out_format *print,
		       unsigned int fail_on, struct err *err)
{
	bench_mask_signals(SIG_BLOCK);
	enum session_end end = bench_drive(drive, err);
	if (end != SESSION_LEFT)
		bench_mask_signals(SIG_UNBLOCK);
	switch (end) {
	case SESSION_LEFT:
		(void)fprintf(stderr,
			      "detached; runs continue on the pods. To see them again: "
			      "hgym-tui bench attach %s. To stop them: hgym-tui bench abort %s\n",
			      drive->id, drive->id);
		return 128 + SIGINT;
	case SESSION_FAILED:
		(void)offer_stop(drive, NULL);
		return -1;
	case SESSION_DONE:
		break;
	}
	if (drive->mode == SESSION_STOP)
		return bench_record_pods_stopped(drive->path, err);
	if (print != NULL && print_report(drive, *print, err) != 0)
		return -1;
	int status = offer_stop(drive, err);
	return status != 0 || drive->mode != SESSION_RUN ? status : get_run_status(drive, fail_on);
}

/* Continue in a background process without the terminal. Return 1 in that
 * process, 0 in the caller's, -1 with err. */
static int fork_driver(const char *path, struct err *err)
{
	char log[FOLDER_PATH_SIZE + 16];
	pid_t pid = fork();

	if (pid < 0)
		return err_set_errno(err, ERR_IO, "cannot start a process");
	if (pid > 0)
		return 0;
	(void)setsid();
	print_into(log, "%s/driver.log", path);
	int fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		(void)dup2(fd, STDIN_FILENO);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
	}
	return 1;
}

/* The user named no metric, and the first run printed no training rows: choose another metric, and
 * write it to the results folder. Wall-clock seconds are used only if the user agrees, because for
 * a program whose output cannot be read they would compare the compilation. 0, or -1 with err. */
static int choose_metric(const struct bench_drive *drive, struct err *err)
{
	struct err several = { ERR_NONE, "" };
	AUTO_TEXT key = bench_find_number(drive->plan, drive->path, &several);
	AUTO_TEXT question = xasprintf("%.60s prints no figures: compare wall-clock seconds?",
				       drive->plan->command);

	if (several.code != ERR_NONE)
		return err_set(err, several.code, "%s", several.text);
	if (key != NULL) {
		(void)fprintf(stderr,
			      "metric: %s, the only number that the first run printed; the "
			      "bench continues\n",
			      key);
		return bench_set_metric(drive->path, key, "the only number of the first run's JSON",
					err);
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || !confirm(question))
		return -1;
	return bench_set_metric(drive->path, "wall_s", "asked: the first run printed no figures",
				err);
}

/* Drive a bench. If the user named no metric (is_open) and the first run has no value of the
 * default one, continue with a metric that this run has. */
static int drive_open(const struct bench_drive *drive, bool is_open, const enum out_format *print,
		      unsigned int fail_on, struct err *err)
{
	int status = drive_bench(drive, print, fail_on, err);
	struct bench_drive again = *drive;
	struct folder_state state;
	AUTO_PLAN plan = { .file = NULL };

	if (!is_open || status >= 0 || !folder_read_state(drive->path, &state) ||
	    strcmp(state.stopped, SESSION_NO_VALUE) != 0 || choose_metric(drive, err) != 0 ||
	    bench_load_plan(&plan, drive->path, err) != 0)
		return status;
	again.plan = &plan;
	return drive_bench(&again, print, fail_on, err);
}

/* Print the plan, ask unless `yes` is set, then run the bench in a new results folder, to which the
 * definition `given` is saved (NULL: the file of the plan). Return the exit status, or -1. */
static int start_bench(struct context *context, const struct plan *plan, const char *given,
		       const struct bench_ask *q, bool is_open, struct err *err)
{
	AUTO_BUF text = buf_new(MAX_TEXT);
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	const struct bench_drive drive = { .context = context,
					   .plan = plan,
					   .id = id,
					   .path = path,
					   .mode = SESSION_RUN,
					   .accept_new = q->accept_new,
					   .note = print_note };
	int lock = -1, status = -1, is_driver = 1;

	if (bench_outline(&text, context, plan, err) != 0)
		return -1;
	if (q->dry)
		return cmd_print(&text, err);
	if (context->options.read_only)
		return err_set(err, ERR_USAGE, "--read-only: cannot start programs on pods");
	(void)fwrite(text.data, 1, text.len, stderr);
	if (!q->yes && !isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE, "stdin is not a terminal; use --yes to start");
	if (!q->yes && !confirm("start?"))
		return err_set(err, ERR_CANCELLED, "not started");
	bench_mask_signals(SIG_BLOCK);
	if (bench_create(plan, given, id, path, &lock, err) == 0) {
		(void)fprintf(stderr, "bench %s in %s\n", id, path);
		if (q->detach)
			is_driver = fork_driver(path, err);
		if (is_driver == 0) {
			(void)printf("%s\n", id);
			status = cmd_flush(err);
		} else if (is_driver == 1) {
			status = drive_open(&drive, is_open, q->quiet ? NULL : &q->print,
					    q->fail_on, err);
		}
	}
	if (lock >= 0)
		(void)close(lock);
	return status;
}

/* A bench named by its ID, with the plan from its results folder. */
struct bench_named {
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct plan plan;
};

/* Find a bench and load its plan; -1 with err. Release it with plan_release(&named->plan). */
static int open_bench(struct bench_named *named, const char *word, struct err *err)
{
	return bench_find(word, named->id, named->path, err) == 0
		       ? bench_load_plan(&named->plan, named->path, err)
		       : -1;
}

/* The drive keeps pointers into `named`, which may be filled in later. */
static struct bench_drive make_drive(const struct cmd_args *args, const struct bench_named *named)
{
	return (struct bench_drive){ .context = args->context,
				     .plan = &named->plan,
				     .id = named->id,
				     .path = named->path,
				     .mode = SESSION_RUN,
				     .note = print_note };
}

/* Options of `bench run`; `line` describes the bench if there is no FILE. */
struct run_call {
	struct bench_ask ask;
	struct bench_line line;
	struct cmd_list pods, metrics, grid; /* copied to the lists of `line` */
	bool aa;
};

static const struct run_call run_defaults = {
	.line = { .blocks = (double)NAN, .minutes = (double)NAN, .gap_s = (double)NAN },
};

static int add_arm_word(struct run_call *call, enum line_kind kind, const char *text,
			struct err *err)
{
	struct bench_line *line = &call->line;

	if (line->n_words == LINE_MAX_WORDS)
		return err_set(err, ERR_USAGE, "more than %d arms and settings", LINE_MAX_WORDS);
	line->words[line->n_words++] = (struct line_word){ kind, text };
	return 0;
}

#define TAKE_ARM_WORD(name, kind)                                             \
	static int take_##name(void *call, const char *text, struct err *err) \
	{                                                                     \
		return add_arm_word(call, kind, text, err);                   \
	}

TAKE_ARM_WORD(control, LINE_CONTROL)
TAKE_ARM_WORD(variant, LINE_VARIANT)
TAKE_ARM_WORD(env, LINE_ENV)
TAKE_ARM_WORD(patch, LINE_PATCH)
TAKE_ARM_WORD(launch, LINE_LAUNCH)

static const struct cmd_option run_options[] = {
	{ 0, "pod", "POD", "local, a configured pod or user@host[:port]; repeatable", CMD_LIST,
	  CMD_AT(run_call, pods), .heading = "what to run" },
	{ 0, "control", "CMD", "command that the variants are compared with", CMD_TAKE,
	  .take = take_control },
	{ 0, "variant", "TAG[=CMD]", "variant (default CMD: the control's); repeatable", CMD_TAKE,
	  .take = take_variant },
	{ 0, "env", "NAME=VALUE",
	  "environment variable for the preceding arm, or for all arms if given first", CMD_TAKE,
	  .take = take_env },
	{ 0, "patch", "FILE", "patch for the preceding arm", CMD_TAKE, .take = take_patch },
	{ 0, "prepare", "CMD", "shell command before each run; its time does not count", CMD_TEXT,
	  CMD_AT(run_call, line.prepare) },
	{ 0, "in", "DIR", "working directory on the pod", CMD_TEXT, CMD_AT(run_call, line.folder) },
	{ 0, "name", "NAME", "name of the bench", CMD_TEXT, CMD_AT(run_call, line.name) },
	{ 0, "kernel", "FILE", "Python module with the functions to time", CMD_TEXT,
	  CMD_AT(run_call, line.kernel),
	  .heading = "kernels (timed in one process; arms are Python files, TAG=FILE)" },
	{ 0, "task", "FILE", "Python module with their inputs (default task.py)", CMD_TEXT,
	  CMD_AT(run_call, line.task) },
	{ 0, "function", "NAME", "function to time (default: what make() returns)", CMD_TEXT,
	  CMD_AT(run_call, line.function) },
	{ 0, "launch", "NAME=VALUE", "launch setting for the preceding arm", CMD_TAKE,
	  .take = take_launch },
	{ 0, "grid", "NAME=V1,V2", "add one variant per value; repeatable", CMD_LIST,
	  CMD_AT(run_call, grid) },
	{ 0, "metric", "M",
	  "step_ms, wall_s (seconds of the whole run) or a key of the JSON that a run prints; "
	  "repeatable; the first one decides",
	  CMD_LIST, CMD_AT(run_call, metrics), .heading = "what to measure" },
	{ 0, "window", "LO:HI", "training steps to measure, or auto (default 20:100)", CMD_TEXT,
	  CMD_AT(run_call, line.window) },
	{ 0, "blocks", "N", "blocks per pod (default 6; a verdict needs 3)", CMD_NUMBER,
	  CMD_AT(run_call, line.blocks), .low = 1, .high = 100 },
	{ 0, "gap", "SEC", "pause between runs (default 10; none after short runs without a GPU)",
	  CMD_NUMBER, CMD_AT(run_call, line.gap_s), .high = 3600 },
	{ 0, "minutes", "N", "stop the bench after N minutes", CMD_NUMBER,
	  CMD_AT(run_call, line.minutes), .high = 1e6 },
	{ 0, "no-aa", NULL,
	  "leave out the A/A arm: the control, run a second time in each block to measure noise",
	  CMD_FLAG, CMD_AT(run_call, line.no_aa) },
	{ 0, "aa", NULL, "run the A/A arm even if the noise of these runs is already known",
	  CMD_FLAG, CMD_AT(run_call, aa) },
	BENCH_ASK_OPTIONS,
	{ 0, "fail-on", "WORDS", "exit 3 on these verdicts, for example invalid,slower", CMD_SET,
	  CMD_AT(run_call, ask.fail_on), .words = verdict_slugs },
	BENCH_PRINT_OPTIONS(bench_ask),
	CMD_OPTIONS_END,
};

static const struct cmd_option attach_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask),
	CMD_OPTIONS_END,
};

static int check_run(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct run_call *call = opaque;
	struct bench_line *line = &call->line;
	const char *const texts[] = { line->kernel, line->function, line->task,	 line->name,
				      line->folder, line->prepare,  line->window };
	bool described = any_of(i, LENGTH(texts), texts[i] != NULL) ||
			 call->pods.n + call->metrics.n + call->grid.n + line->n_words > 0 ||
			 !isnan(line->blocks) || !isnan(line->gap_s) || !isnan(line->minutes) ||
			 line->no_aa || call->aa;

	line->pods = (struct line_list){ call->pods.v, call->pods.n };
	line->metrics = (struct line_list){ call->metrics.v, call->metrics.n };
	line->grid = (struct line_list){ call->grid.v, call->grid.n };
	if ((args->argc == 1) == described || (described && line->pods.n == 0))
		return err_set(err, ERR_USAGE,
			       "bench run: give either one FILE (a bench.json), or --pod, "
			       "--control and --variant");
	if (line->kernel == NULL &&
	    (line->grid.n > 0 || line->task != NULL || line->function != NULL))
		return err_set(err, ERR_USAGE,
			       "bench run: --task, --function and --grid need --kernel");
	if (line->kernel != NULL && (line->prepare != NULL || line->window != NULL))
		return err_set(err, ERR_USAGE,
			       "bench run: --prepare and --window cannot be used with --kernel");
	return 0;
}

/* Write the definition to text, and parse it; `file` is its name in errors. */
static int parse_definition(struct plan *plan, const cJSON *root, const char *file,
			    struct buf *text, struct err *err)
{
	buf_clear(text);
	json_print(text, root);
	buf_append_char(text, '\n');
	return plan_parse(plan, file, buf_str(text), err);
}

static int exec_run(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct run_call *call = opaque;
	struct context *context = args->context;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_PLAN plan = { .file = NULL };

	if (args->argc > 0)
		return plan_load(&plan, args->argv[0], err) == 0
			       ? start_bench(context, &plan, NULL, &call->ask, false, err)
			       : -1;
	AUTO_JSON root = bench_make_line(&call->line, &context->conf, err);
	if (root != NULL && !call->aa) {
		AUTO_NOISE reg = { .n = 0 };

		noise_register_peek(&reg, context);
		bench_use_known_noise(root, &reg);
	}
	if (root == NULL || parse_definition(&plan, root, "bench.json", &text, err) != 0)
		return -1;
	int status = start_bench(context, &plan, text.data, &call->ask,
				 bench_line_has_default(&call->line), err);
	/* With --dry-run print the bench.json too. */
	return status == 0 && call->ask.dry ? cmd_print(&text, err) : status;
}

/* Print what the bench started or stopped waiting for since the last call. */
static void print_new_waits(const struct clock *clock, const char *path, struct pod_wait *known,
			    size_t *n_known)
{
	struct pod_wait now[WAITS_MAX];
	size_t n = waits_read(path, true, now);
	int64_t now_ms = clock->wall_ms(clock);
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct pod_wait *old = waits_find(known, *n_known, now[i].pod);

		if (old != NULL && old->kind == now[i].kind && strcmp(old->why, now[i].why) == 0)
			continue;
		wait_text(&now[i], now_ms, text);
		print_note(text);
	}
	for (size_t i = 0; i < *n_known; i++) {
		if (waits_find(now, n, known[i].pod) != NULL)
			continue;
		wait_end_text(&known[i], now_ms, text);
		print_note(text);
	}
	memcpy(known, now, n * sizeof(now[0]));
	*n_known = n;
}

/* Lock the bench; if another hgym-tui drives it, wait until the bench ends. */
static int wait_for_lock(const struct clock *clock, const char *path, int *lock, struct err *err)
{
	struct timespec pause = { 1, 0 };
	struct pod_wait waits[WAITS_MAX];
	size_t n_waits = 0;
	bool announced = false;

	while (folder_lock(path, lock, err) != 0) {
		if (err->code != ERR_CHECK)
			return -1;
		if (!announced)
			(void)fprintf(stderr, "%s; waiting until the bench ends\n", err->text);
		announced = true;
		print_new_waits(clock, path, waits, &n_waits);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int exec_attach(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct bench_ask *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = make_drive(args, &named);
	struct folder_state state;
	int lock = -1, status = -1;

	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE, "--read-only: bench attach starts programs on pods");
	if (open_bench(&named, args->argv[0], err) != 0)
		return -1;
	if (wait_for_lock(args->context->clock, named.path, &lock, err) == 0) {
		(void)folder_read_state(named.path, &state);
		if (strcmp(state.state, "running") == 0 || strcmp(state.state, "failed") == 0)
			status = drive_bench(&drive, &call->print, 0, err);
		else if (bench_judge_again(&drive, err) == 0)
			status = print_report(&drive, call->print, err);
		(void)close(lock);
	}
	plan_release(&named.plan);
	return status;
}

/* Members of struct cmd for commands that take one bench. */
#define OF_ONE_BENCH                                                                          \
	.least = 1, .most = 1, .wants = "give the ID of one bench (see hgym-tui bench list)", \
	.needs = CONTEXT_CONF | CONTEXT_FORMATS

/* How `bench list` to `bench stop` appear in the list of all commands. */
#define FOLD_BENCHES .fold = "manage benches"

const struct cmd cmd_bench_run = {
	.name = "bench run",
	.usage = "[OPTIONS] FILE\n"
		 "[OPTIONS] --pod POD --control CMD --variant TAG[=CMD]",
	.summary = "compare variants of a command or kernel on pods",
	.section = "benchmarks",
	.example = "hgym-tui bench run --pod local --metric ms \\\n"
		   "             --control 'python3 a.py' --variant b='python3 b.py'",
	CMD_OPTIONS(run_options, run_call),
	.defaults = &run_defaults,
	.most = 1,
	.wants = "give one FILE (a bench.json)",
	.check = check_run,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.discovers = true,
	.exec = exec_run,
};

const struct cmd cmd_bench_attach = {
	.name = "bench attach",
	.usage = "[OPTIONS] ID",
	.summary = "continue a bench that was left or interrupted",
	FOLD_BENCHES,
	CMD_OPTIONS(attach_options, bench_ask),
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_attach,
};

/* How long `bench abort` waits for another hgym-tui to release the bench. */
#define ABORT_WAIT_S 30

struct show_call {
	struct bench_ask ask; /* only `print` is used */
	const char *plot;     /* NULL: none */
};

static const struct cmd_option show_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask),
	{ 0, "plot", "FILE", "write a plot of the blocks to this file (SVG)", CMD_TEXT,
	  CMD_AT(show_call, plot) },
	CMD_OPTIONS_END,
};

static cJSON *make_row(const struct stored_bench *bench, const char *path, const char *stopped,
		       double cost_usd, const cJSON *verdict)
{
	const char *state = bench->state != NULL ? bench->state : "";
	cJSON *row = cJSON_CreateObject();
	char started[CLOCK_RFC3339_SIZE];
	AUTO_BUF line = buf_new(4096);

	report_line(&line, verdict);
	clock_rfc3339(bench->started_ms, started);
	json_add(row, JCLEAN("id", bench->id), JCLEAN("name", bench->name),
		 JCLEAN("state", bench->state), JTEXT("stopped", stopped),
		 JTEXT("started", bench->started_ms != 0 || path != NULL ? started : NULL),
		 JNUM("cost_usd", cost_usd));
	/* There is no verdict before the bench ends. */
	json_add_clean(row, "verdict",
		       verdict == NULL || strcmp(state, "running") == 0 ? NULL : line.data);
	AUTO_TEXT waits = bench_waits_add(row, path, bench->id, state);
	json_add_string(row, "waits_for", waits);
	json_add_string(row, "dir", path);
	return row;
}

static cJSON *parse_stored_verdict(const struct stored_bench *bench)
{
	return bench->verdict != NULL ? json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL)
				      : NULL;
}

/* Print benches from the database, except those whose folders were listed. */
struct history {
	struct out *out;
	char **ids; /* IDs of the listed folders */
	size_t n;
};

static int print_stored(void *user, const struct stored_bench *bench)
{
	const struct history *h = user;
	AUTO_JSON verdict = parse_stored_verdict(bench);

	if (any_of(i, h->n, strcmp(h->ids[i], bench->id) == 0))
		return 0;
	out_take(h->out, make_row(bench, NULL, json_get_string(verdict, "stopped", NULL),
				  json_get_number(verdict, "cost_usd", (double)NAN), verdict));
	return 0;
}

static int exec_list(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "id, state, started, cost_usd=USD:2, verdict, waits_for";
	const struct cmd_output *call = opaque;
	struct history history = { .out = cmd_out(call->format, columns) };
	struct err why = { ERR_NONE, "" };
	AUTO_TEXT base = bench_base();
	int status = 0;

	history.ids = folder_list(base, &history.n);
	for (size_t i = 0; i < history.n; i++) {
		char path[FOLDER_PATH_SIZE];
		struct folder_state state;

		print_into(path, "%s/%s", base, history.ids[i]);
		(void)folder_read_state(path, &state);
		AUTO_JSON verdict = folder_read_json(path, "verdict.json");
		const struct stored_bench bench = { .id = history.ids[i],
						    .name = state.name,
						    .state = state.state,
						    .started_ms = state.started_ms };
		out_take(history.out,
			 make_row(&bench, path, state.stopped[0] != '\0' ? state.stopped : NULL,
				  state.cost_usd, verdict));
	}
	if (context_open(args->context, CONTEXT_DB, &why) == 0)
		status = store_each_bench(args->context->store, NULL, print_stored, &history, err);
	else if (why.code != ERR_NODATA)
		status = err_set(err, why.code, "%s", why.text);
	for (size_t i = 0; i < history.n; i++)
		free(history.ids[i]);
	free(history.ids);
	return cmd_out_end(history.out, status, err);
}

/* Find a bench in the database by a prefix of its ID. */
struct stored_search {
	const char *word;
	cJSON *verdict; /* owned; of the first match */
	size_t found;
};

static int match_stored(void *user, const struct stored_bench *bench)
{
	struct stored_search *r = user;

	if (strncmp(bench->id, r->word, strlen(r->word)) != 0 || r->found++ > 0)
		return 0;
	r->verdict = parse_stored_verdict(bench);
	if (r->verdict != NULL) {
		json_add_clean(r->verdict, "state", bench->state);
		free(bench_waits_add(r->verdict, NULL, "", ""));
	}
	return 0;
}

/* Show the bench from the database; -1 if it does not exist, with err unchanged. */
static int show_stored(struct cmd_args *args, enum out_format print, struct err *err)
{
	struct stored_search r = { .word = args->argv[0] };
	int status = -1;

	if (context_open(args->context, CONTEXT_DB, NULL) == 0 &&
	    store_each_bench(args->context->store, NULL, match_stored, &r, NULL) == 0 &&
	    r.found == 1 && r.verdict != NULL)
		status = print_verdict(r.verdict, print,
				       "\nfrom the database, since the results folder is gone\n",
				       err);
	cJSON_Delete(r.verdict);
	return status;
}

static int exec_show(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct show_call *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = make_drive(args, &named);

	if (open_bench(&named, args->argv[0], err) != 0)
		return err->code == ERR_NODATA && call->plot == NULL
			       ? show_stored(args, call->ask.print, err)
			       : -1;
	int status = 0;
	if (call->plot != NULL) {
		AUTO_BUF text = buf_new(MAX_REPORT);
		AUTO_JSON verdict = bench_verdict(&drive);

		page_svg(&text, verdict);
		status = file_replace(call->plot, buf_str(&text), err);
		/* Let other users read the picture. */
		if (status == 0)
			(void)chmod(call->plot, 0644);
	}
	if (status == 0)
		status = print_report(&drive, call->ask.print, err);
	plan_release(&named.plan);
	return status;
}

/* Ask the hgym-tui that drives the bench to release it, and wait for that. */
static int request_lock(const char *path, int *lock, struct err *err)
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

/* Commands that stop or remove something on the pods of a bench. */
static const struct action {
	const struct cmd *cmd;
	enum session_mode mode;
	int (*lock)(const char *path, int *lock, struct err *err);
	const char *effect;
} actions[] = {
	{ &cmd_bench_abort, SESSION_ABORT, request_lock, "stops programs on pods" },
	{ &cmd_bench_clean, SESSION_CLEAN, folder_lock, "removes files on pods" },
	{ &cmd_bench_stop, SESSION_STOP, folder_lock, "stops pods" },
};

static int exec_action(struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	const struct action *action = actions;
	struct bench_named named;
	struct bench_drive drive = make_drive(args, &named);
	int lock = -1, status = -1;

	while (action->cmd != args->cmd)
		action++;
	drive.mode = action->mode;
	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE, "--read-only: %s %s", args->cmd->name,
			       action->effect);
	if (open_bench(&named, args->argv[0], err) != 0)
		return -1;
	if (action->lock(named.path, &lock, err) == 0)
		status = drive_bench(&drive, NULL, 0, err);
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
	.summary = "list the benches started on this machine",
	FOLD_BENCHES,
	CMD_OUTPUT_ONLY,
	.needs = CONTEXT_CONF,
	.exec = exec_list,
};

const struct cmd cmd_bench_show = {
	.name = "bench show",
	.usage = "[OPTIONS] ID",
	.summary = "show the verdict and the numbers of a bench",
	FOLD_BENCHES,
	CMD_OPTIONS(show_options, show_call),
	OF_ONE_BENCH,
	.exec = exec_show,
};

const struct cmd cmd_bench_abort = {
	.name = "bench abort",
	.usage = "ID",
	.summary = "stop a bench and verify that none of its processes is left",
	FOLD_BENCHES,
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_action,
};

const struct cmd cmd_bench_stop = {
	.name = "bench stop",
	.usage = "ID",
	.summary = "run the stop_cmd of each pod of a finished bench",
	FOLD_BENCHES,
	OF_ONE_BENCH,
	.exec = exec_action,
};

const struct cmd cmd_bench_clean = {
	.name = "bench clean",
	.usage = "ID",
	.summary = "remove the files that a bench left on its pods",
	FOLD_BENCHES,
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_action,
};

struct audit_call {
	struct bench_ask ask;
	struct bench_audit audit;
	const char *probe; /* NULL: gpu if the pod has GPUs */
	const char *file;  /* NULL: run the probe */
	bool json;
};

static const char *const audit_probes[] = { "cpu", "gpu", NULL };

static const struct audit_call audit_defaults = {
	.ask = { .quiet = true },
	.audit = { .blocks = (double)NAN, .minutes = (double)NAN },
};

static const struct cmd_option audit_options[] = {
	{ 0, "blocks", "N", "pairs of runs, 3 to 100 (default 6)", CMD_NUMBER,
	  CMD_AT(audit_call, audit.blocks), .low = 3, .high = 100, .heading = "what to run" },
	{ 0, "minutes", "N", "stop after N minutes", CMD_NUMBER, CMD_AT(audit_call, audit.minutes),
	  .high = 1e6 },
	{ 0, "variant", "TAG", "run this variant of FILE instead of its control", CMD_TEXT,
	  CMD_AT(audit_call, audit.variant) },
	{ 0, "probe", "KIND", "without FILE, run this: cpu, or gpu (needs torch on the pod)",
	  CMD_WORD, CMD_AT(audit_call, probe), .words = audit_probes },
	BENCH_ASK_OPTIONS,
	{ 0, "json", NULL, "print the pod's rows of `bench noise` as JSON", CMD_FLAG,
	  CMD_AT(audit_call, json) },
	CMD_OPTIONS_END,
};

static int check_audit(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct audit_call *call = opaque;

	call->audit.pods = args->argv[0];
	call->audit.blocks = floor(call->audit.blocks);
	call->file = args->argc == 2 ? args->argv[1] : NULL;
	if (call->file == NULL && call->audit.variant != NULL)
		return err_set(err, ERR_USAGE, "bench audit: --variant needs FILE");
	if (call->file != NULL && call->probe != NULL)
		return err_set(err, ERR_USAGE, "bench audit: --probe and FILE exclude each other");
	return 0;
}

static int print_audit(struct context *context, const struct audit_call *call,
		       const struct plan *plan, struct err *err)
{
	AUTO_NOISE reg = { .n = 0 };
	AUTO_BUF text = buf_new(1024U * 1024);
	int status = 0;

	if (noise_register_load(&reg, context, err) != 0)
		return -1;
	for (size_t i = 0; i < plan->n_pods; i++) {
		const struct noise_entry *e = noise_register_find(&reg, plan, i, "");

		if (e == NULL) {
			status = err_set(err, ERR_NODATA,
					 "%s: fewer than %d runs were measured, not enough to "
					 "estimate its noise",
					 plan->pods[i].id, NOISE_MIN_RUNS);
		} else if (call->json) {
			AUTO_JSON row = noise_entry_json(e);

			json_print(&text, row);
			buf_append_char(&text, '\n');
		} else {
			AUTO_FACTS facts = { .n = 0 };

			noise_entry_facts(&facts, e);
			facts_print_text(&text, &facts);
		}
	}
	if (call->file == NULL && !call->json && status == 0)
		buf_appendf(&text, "\n%s\n", bench_probe_what(call->audit.probe));
	return cmd_print(&text, status == 0 ? err : NULL) == 0 ? status : -1;
}

static int exec_audit(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct conf *conf = &args->context->conf;
	struct audit_call *call = opaque;
	AUTO_JSON definition = NULL;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	const char *name = call->file != NULL ? call->file : "audit";
	AUTO_PLAN plan = { .file = NULL };

	if (call->file != NULL) {
		definition = json_parse_file(call->file, &text, err);
		if (definition == NULL) {
			err->code = ERR_CONFIG;
			return -1;
		}
	}
	call->audit.definition = definition;
	call->audit.probe = call->probe == NULL ? bench_probe_of(conf, call->audit.pods)
			    : strcmp(call->probe, "gpu") == 0 ? PROBE_GPU
							      : PROBE_CPU;
	AUTO_JSON root = bench_make_audit(&call->audit, conf, err);
	if (root == NULL || parse_definition(&plan, root, name, &text, err) != 0)
		return -1;
	if (call->file == NULL)
		(void)fprintf(stderr, "%s\n", bench_probe_what(call->audit.probe));
	int status = start_bench(args->context, &plan, text.data, &call->ask, false, err);
	if (status == 0 && !call->ask.dry && !call->ask.detach)
		status = print_audit(args->context, call, &plan, err);
	return status;
}

const struct cmd cmd_bench_audit = {
	.name = "bench audit",
	.usage = "[OPTIONS] POD[,POD...] [FILE]",
	.summary = "measure how much a pod's timings vary",
	CMD_OPTIONS(audit_options, audit_call),
	.defaults = &audit_defaults,
	.least = 1,
	.most = 2,
	.wants = "give a pod name, and optionally a bench.json whose control to audit",
	.check = check_audit,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.discovers = true,
	.exec = exec_audit,
};

static const char noise_columns[] =
	"pod, gpu=GPU, class, n_runs=runs:0, sd_pct=sd %:3, "
	"drift_pct=drift %:3, drift_p=p:2, mde3_pct=detects in 3:2, "
	"mde6_pct=in 6:2, mde10_pct=in 10:2, rank_text=rank, when, driver";

static const char history_columns[] =
	"kind=pods, class, bench, pod, when, value=control:3, sd_pct=sd %:2, driver, change";

/* Print a register (only the pods that the user named, if any), with a gap between classes. */
static int print_register(struct out *out, const struct noise_register *reg,
			  cJSON *(*to_json)(const struct noise_entry *entry),
			  const struct cmd_args *pods, const char *none, struct err *err)
{
	const char *last = NULL;

	array_each (e, reg->v, reg->n) {
		if (pods != NULL && pods->argc > 0 &&
		    !any_of(i, pods->argc, strcmp(pods->argv[i], e->pod) == 0))
			continue;
		if (last != NULL && strcmp(last, e->class_name) != 0)
			out_gap(out);
		last = e->class_name;
		out_take(out, to_json(e));
	}
	int status = cmd_out_end(out, 0, err);
	return status == 0 && last == NULL ? err_set(err, ERR_NODATA, "%s", none) : status;
}

static int exec_noise(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	AUTO_NOISE reg = { .n = 0 };

	if (noise_register_load(&reg, args->context, err) != 0)
		return -1;
	return print_register(
		cmd_out(call->format, noise_columns), &reg, noise_entry_json, args,
		args->argc > 0 ? "no noise measurements of these pods yet: run a bench with "
				 "an A/A arm, or hgym-tui bench audit POD"
			       : "no noise measurements yet: run a bench with an A/A arm, or "
				 "hgym-tui bench audit POD",
		err);
}

static int exec_history(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	AUTO_NOISE reg = { .n = 0 };

	if (noise_history_load(&reg, args->context, args->argc > 0 ? args->argv[0] : NULL, err) !=
	    0)
		return -1;
	return print_register(cmd_out(call->format, history_columns), &reg, noise_history_json,
			      NULL, "no finished bench of that name yet", err);
}

const struct cmd cmd_bench_noise = {
	.name = "bench noise",
	.usage = "[OPTIONS] [POD...]",
	.summary = "list the measured variation of all pods",
	CMD_OUTPUT_ONLY,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.exec = exec_noise,
};

const struct cmd cmd_bench_history = {
	.name = "bench history",
	.usage = "[OPTIONS] [NAME]",
	.summary = "show how the control of a repeated bench changed over time",
	CMD_OUTPUT_ONLY,
	.most = 1,
	.needs = CONTEXT_CONF,
	.exec = exec_history,
};

#define MAX_RUNS  4096
#define MAX_TAG	  40
#define AA_SUFFIX "~aa"

/* How to judge the logs; its defaults are not all zero. */
struct judge_ask {
	struct judge_rule rule;
	double margin; /* percent */
	char tags[SCHEDULE_MAX_ARMS][MAX_TAG + sizeof(AA_SUFFIX)];
	size_t n_arms;
};

static const struct judge_ask judge_defaults = {
	.rule = JUDGE_RULE_DEFAULT,
	.margin = (double)NAN,
	.tags = { "control" },
	.n_arms = 1,
};

/* Options of `bench judge`, and the logs that it reads. */
struct request {
	struct judge_ask ask;
	const char *metric; /* NULL: depends on the logs */
	bool lower;	    /* --lower was given */
	enum out_format print;
	unsigned int fail_on; /* a bit for each verdict_word */
	bool numerics_changed;
	struct judge_arm arms[SCHEDULE_MAX_ARMS];
	size_t current; /* arm of the next argument */
	const char *paths[MAX_RUNS];
	glob_t globbed; /* matches of all patterns; paths borrows from it */
	size_t n_globbed;
	struct judge_run runs[MAX_RUNS];
	struct run_log *logs; /* owned */
	size_t n_runs, n_logs;
};

/* Length of TAG in "TAG=LOG"; 0 if the word does not start with one. */
static size_t tag_length(const char *word)
{
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || (word[n] != '\0' && strchr("_.-", word[n])))
		n++;
	return word[n] == '=' && n <= MAX_TAG ? n : 0;
}

static int add_log(void *opaque, const char *path, struct err *err)
{
	struct request *q = opaque;

	if (q->n_runs == MAX_RUNS)
		return err_set(err, ERR_USAGE, "more than %d logs", MAX_RUNS);
	size_t block = array_count(run, q->runs, q->n_runs, run->arm == q->current);

	q->paths[q->n_runs] = path;
	q->runs[q->n_runs] = (struct judge_run){
		.arm = q->current,
		.block = block,
		.pos = bench_run_place(path),
		.counted = true,
		.state = RUN_STATE_CLAIMED,
		.name = path,
		.path = path,
		.rc = (double)NAN,
		.drift_s = (double)NAN,
	};
	q->n_runs++;
	return 0;
}

/* Add a log, or all logs that a pattern matches, sorted by name: the shell does not expand
 * TAG=PATTERN. If a file has exactly that name, it is not a pattern. */
static int add_logs(struct request *q, const char *word, struct err *err)
{
	int status = 0;

	if (strpbrk(word, "*?[") == NULL || access(word, F_OK) == 0)
		return add_log(q, word, err);
	if (glob(word, q->n_globbed > 0 ? GLOB_APPEND : 0, NULL, &q->globbed) != 0)
		return err_set(err, ERR_IO, "no file matches %s", word);
	while (status == 0 && q->n_globbed < q->globbed.gl_pathc)
		status = add_log(q, q->globbed.gl_pathv[q->n_globbed++], err);
	return status;
}

static int start_control(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word);

	if (n > 0)
		print_into(q->ask.tags[0], "%.*s", (int)n, word);
	q->current = 0;
	return add_logs(q, n > 0 ? word + n + 1 : word, err);
}

static int start_variant(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word);

	if (n == 0)
		return err_set(err, ERR_USAGE,
			       "--variant %s: expected TAG=LOG, where TAG has at most %d letters, "
			       "digits, _ . -",
			       word, MAX_TAG);
	const struct str tag = { word, n };
	size_t i = 1 + index_of(k, q->ask.n_arms - 1, str_eq_cstr(tag, q->ask.tags[k + 1]));
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants", SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms) {
		print_into(q->ask.tags[i], "%.*s", (int)n, word);
		q->ask.n_arms++;
	}
	q->current = i;
	return add_logs(q, word + n + 1, err);
}

/* check_judge sets the tag of the A/A arm, because the control may follow. */
static int start_aa(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t i = 1 + index_of(k, q->ask.n_arms - 1, q->arms[k + 1].aa);

	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants", SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms)
		q->arms[q->ask.n_arms++].aa = true;
	q->current = i;
	return add_log(q, word, err);
}

static int take_window(void *opaque, const char *text, struct err *err)
{
	struct judge_rule *rule = &((struct request *)opaque)->ask.rule;
	struct str hi = str_from(text), lo;

	rule->window = strcmp(text, "auto") == 0 ? WINDOW_AUTO : WINDOW_FIXED;
	if (rule->window == WINDOW_FIXED &&
	    (!str_next(&hi, ':', &lo) || !str_to_double(lo, &rule->lo) ||
	     !str_to_double(hi, &rule->hi) || !(rule->lo >= 0.0) || !(rule->hi > rule->lo)))
		return err_set(err, ERR_USAGE, "--window %s: expected LO:HI with LO < HI, or auto",
			       text);
	return 0;
}

/* An argument without an option is another log of the arm before it. */
static int take_log(void *opaque, const char *word, struct err *err)
{
	const struct request *q = opaque;

	if (q->n_runs == 0)
		return err_set(err, ERR_USAGE,
			       "bench judge: %s: logs come after --control, --aa or --variant",
			       word);
	return add_log(opaque, word, err);
}

static int check_judge(UNUSED const struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;

	if (q->ask.n_arms < 2 || !array_any(run, q->runs, q->n_runs, run->arm == 0))
		return err_set(err, ERR_USAGE,
			       "bench judge: give --control LOG... and at least one "
			       "--variant TAG=LOG...");
	if (q->metric != NULL && !q->ask.rule.higher && !q->lower &&
	    bench_metric_is_rate(q->metric))
		return err_set(
			err, ERR_USAGE,
			"bench judge: --metric %s looks like a rate: add --higher or --lower",
			q->metric);
	for (size_t i = 0; i < q->ask.n_arms; i++) {
		struct judge_arm *arm = &q->arms[i];

		if (arm->aa)
			print_into(q->ask.tags[i], "%.*s" AA_SUFFIX, MAX_TAG, q->ask.tags[0]);
		arm->tag = q->ask.tags[i];
		/* The control's noise does not apply to an arm that computes other numbers. */
		arm->numerics_changed = arm->other_noise = i > 0 && !arm->aa && q->numerics_changed;
	}
	if (!isnan(q->ask.margin))
		q->ask.rule.paired.margin = q->ask.margin / 100.0;
	return 0;
}

static const char *const tok_kinds[] = { [TOK_BY_FORMAT] = "by-format",
					 [TOK_CUMULATIVE] = "cumulative",
					 [TOK_INTERVAL] = "interval",
					 NULL };

static const struct cmd_option judge_options[] = {
	{ 0, "control", "LOG...", "logs of the control, one per block", CMD_TAKE,
	  .take = start_control, .heading = "logs" },
	{ 0, "variant", "TAG=LOG...", "logs of a variant; repeatable", CMD_TAKE,
	  .take = start_variant },
	{ 0, "aa", "LOG...", "repeat runs of the control, used to estimate noise", CMD_TAKE,
	  .take = start_aa },
	CMD_FORMAT_OPTION,
	{ 0, "metric", "M", "step_ms, or a key of the JSON that a run printed", CMD_TEXT,
	  CMD_AT(request, metric), .heading = "what to measure" },
	{ 0, "higher", NULL, "higher is better", CMD_FLAG, CMD_AT(request, ask.rule.higher) },
	{ 0, "lower", NULL, "lower is better (default, except for rates)", CMD_FLAG,
	  CMD_AT(request, lower) },
	{ 0, "window", "LO:HI", "training steps to measure, or auto (default 20:100)", CMD_TAKE,
	  .take = take_window },
	{ 0, "tok-kind", "KIND",
	  "how the logs count tok/s: by-format (default), cumulative or interval", CMD_CHOICE,
	  CMD_AT(request, ask.rule.tok_kind), .words = tok_kinds },
	{ 0, "margin", "PCT", "smallest difference that matters (default 0.5)", CMD_POSITIVE,
	  CMD_AT(request, ask.margin), .high = 100, .heading = "decision and output" },
	{ 0, "loss-margin", "NATS", "smallest loss difference that matters (default 0.005)",
	  CMD_POSITIVE, CMD_AT(request, ask.rule.losses.margin), .high = 100 },
	{ 0, "alpha", "P", "significance level (default 0.05)", CMD_POSITIVE,
	  CMD_AT(request, ask.rule.paired.alpha), .high = 0.5 },
	{ 0, "numerics-changed", NULL, "the variants compute different numbers than the control",
	  CMD_FLAG, CMD_AT(request, numerics_changed) },
	{ 0, "fail-on", "WORDS", "exit 3 on these verdicts, for example invalid,slower", CMD_SET,
	  CMD_AT(request, fail_on), .words = verdict_slugs },
	BENCH_PRINT_OPTIONS(request),
	CMD_OPTIONS_END,
};

static int read_logs(struct request *q, const struct format_set *formats, struct err *err)
{
	bool is_steps = q->metric != NULL && bench_metric_find(q->metric)->kind == RUN_LOG_TRAINING;
	struct run_log_rule rule = {
		.formats = formats,
		.force = q->metric != NULL,
		.kind = is_steps ? RUN_LOG_TRAINING : RUN_LOG_SCORE,
		.score_key = is_steps ? NULL : q->metric,
	};
	bool any = false;

	q->logs = xcalloc(q->n_runs, sizeof(*q->logs));
	for (size_t i = 0; i < q->n_runs; i++) {
		if (run_log_read(&q->logs[i], q->paths[i], &rule, err) != 0)
			return -1;
		q->n_logs++;
		q->runs[i].log = &q->logs[i];
		if (q->logs[i].runtime[0] != '\0')
			q->runs[i].runtime = q->logs[i].runtime;
		any |= q->logs[i].kind == RUN_LOG_SCORE || q->logs[i].n_rows > 0;
	}
	if (!any)
		return err_set(err, ERR_NODATA,
			       "none of the logs contains a training row or a score");
	return 0;
}

static int judge_logs(struct request *q, struct err *err)
{
	AUTO_FREE struct judge_run *given = xcalloc(q->n_runs, sizeof(*given));
	AUTO_FREE double *ln = xcalloc(q->n_runs + 1, sizeof(*ln));
	struct judge judge;
	bool has_aa = false;
	size_t n = 0;
	int status = 0;

	memcpy(given, q->runs, q->n_runs * sizeof(*given));
	judge_init(&judge, &q->ask.rule, q->arms, q->ask.n_arms, q->runs, q->n_runs);
	/* Estimate noise from the spread of the control's and the A/A arm's runs, as the noise
	 * register does for a bench run by this program. */
	array_each (run, judge.runs, judge.n_runs) {
		bool aa = judge.arms[run->arm].aa;

		if ((run->arm != 0 && !aa) || guard_hard(&run->hits) != NULL || !(run->y > 0.0))
			continue;
		has_aa |= aa;
		ln[n++] = log(run->y);
	}
	if (has_aa && n >= NOISE_MIN_RUNS) {
		q->ask.rule.register_sd = stats_sd(ln, n);
		q->ask.rule.register_df = (double)n - 1.0;
	}
	/* The noise of the A/A logs is an input of the verdict: judge again with it. */
	if (!isnan(q->ask.rule.register_sd)) {
		judge_release(&judge);
		memcpy(q->runs, given, q->n_runs * sizeof(*given));
		judge_init(&judge, &q->ask.rule, q->arms, q->ask.n_arms, q->runs, q->n_runs);
	}
	const struct run_log *scored = array_find(log, q->logs, q->n_logs, log->score.key != NULL);
	const struct verdict_info info = {
		.metric = judge.training      ? "step_ms"
			  : scored != NULL    ? scored->score.key
			  : q->metric != NULL ? q->metric
					      : "score",
		.cost_usd = (double)NAN,
		.stopped = "imported",
	};
	AUTO_JSON verdict = verdict_to_json(&judge, &info);
	if (print_verdict(verdict, q->print, "", err) != 0)
		status = -1;
	else if (array_any(c, judge.contrasts, judge.n_contrasts,
			   !q->arms[c->arm].aa && (q->fail_on >> c->verdict.word & 1) != 0))
		status = err_exit_status(ERR_CHECK);
	judge_release(&judge);
	return status;
}

static int exec_judge(struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;
	int status = -1;

	if (read_logs(q, args->context->formats, err) == 0)
		status = judge_logs(q, err);
	for (size_t i = 0; i < q->n_logs; i++)
		run_log_release(&q->logs[i]);
	free(q->logs);
	if (q->n_globbed > 0)
		globfree(&q->globbed);
	return status;
}

const struct cmd cmd_bench_judge = {
	.name = "bench judge",
	.usage = "[OPTIONS] --control LOG... --variant TAG=LOG...",
	.summary = "compare logs of runs that already exist",
	CMD_OPTIONS(judge_options, request),
	.preset = sizeof(judge_defaults),
	.defaults = &judge_defaults,
	.word = take_log,
	.check = check_judge,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_judge,
};
