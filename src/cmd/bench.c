/* SPDX-License-Identifier: MIT */
/*
 * `hgym-tui bench`: run, attach, list, show, abort, clean and stop by what
 * they share of asking, telling and concluding; then audit, noise and judge.
 */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "bench/drive.h"
#include "bench/line.h"
#include "bench/make.h"
#include "bench/page.h"
#include "bench/runs.h"
#include "bench/show.h"
#include "bench/start.h"
#include "bench/waits.h"
#include "cmd/cmd.h"
#include "report/facts_print.h"
#include "store/benches.h"

#define MAX_TEXT   (1024U * 1024)
#define MAX_REPORT (16U * 1024 * 1024)

/* The entries of a command with a struct that has an enum out_format `print`;
 * when: "", or " at the end". */
#define BENCH_PRINT_OPTIONS(type, when)                                                        \
	CMD_ROW("json", NULL, "print the object of verdict.json" when, CMD_VALUE, type, print, \
		.value = OUT_JSON),                                                            \
		CMD_ROW("csv", NULL, "print comma-separated values, a row a variant" when,     \
			CMD_VALUE, type, print, .value = OUT_CSV),                             \
		CMD_ROW("md", NULL, "print Markdown" when, CMD_VALUE, type, print,             \
			.value = OUT_MD)

/* How a bench is begun; the first member of the commands' structs. */
struct bench_ask {
	bool yes, detach, dry, accept_new;
	bool quiet; /* no report at the end */
	enum out_format print;
};

#define BENCH_ASK_OPTIONS                                                                        \
	CMD_ROW("yes", NULL, "do not ask before it begins", CMD_FLAG, bench_ask, yes,            \
		.short_name = 'y'),                                                              \
		CMD_ROW("detach", NULL, "return at once, drive it in the background", CMD_FLAG,  \
			bench_ask, detach),                                                      \
		CMD_ROW("dry-run", NULL, "show what would run, and stop", CMD_FLAG, bench_ask,   \
			dry, .short_name = 'n'),                                                 \
		CMD_ROW("accept-new", NULL, "accept host keys that are not known yet", CMD_FLAG, \
			bench_ask, accept_new)

/* A line to stderr, with the time. */
static void bench_tell(const char *line)
{
	char stamp[CLOCK_RFC3339_SIZE];
	AUTO_TEXT text = NULL;

	clock_rfc3339(clock_wall_ms(), stamp);
	text = xasprintf("%.8s %s", strchr(stamp, 'T') + 1, line);
	say_line(text);
}

/* A question on the terminal; only y and Y are a yes. */
static bool ask(const char *question)
{
	char answer[16];

	(void)fprintf(stderr, "%s [y/N] ", question);
	return fgets(answer, sizeof(answer), stdin) != NULL &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static int bench_conclude(const struct bench_drive *drive, const enum out_format *print,
			  struct err *err);

/*
 * on_end "ask": somebody at a terminal is asked whether the pods are to stop;
 * others are told how.  The exit status, or -1 with err.
 */
static int ask_stop(const struct bench_drive *drive, struct err *err)
{
	struct bench_drive stop = *drive;
	bool is_asked = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	AUTO_TEXT pods =
		drive->mode == SESSION_RUN ? bench_still_up(drive->plan, drive->path) : NULL;

	if (pods == NULL)
		return 0;
	if (is_asked)
		(void)fprintf(stderr, "still up: %s\n", pods);
	bool yes = is_asked && ask("run their stop_cmd?");
	if (!yes)
		(void)fprintf(stderr,
			      "still up: %s; hgym-tui bench stop %s runs "
			      "their stop_cmd\n",
			      pods, drive->id);
	stop.mode = SESSION_STOP;
	return yes ? bench_conclude(&stop, NULL, err) : 0;
}

/* The variants of a verdict, a row each. */
static int print_rows(const cJSON *verdict, struct err *err)
{
	static const char columns[] = "variant, control, verdict, text, n_blocks, control_mean, "
				      "variant_mean, pct, ci_low_pct, ci_high_pct, p, p_holm, "
				      "p_signflip, mde_pct";
	struct out *out = cmd_out(OUT_CSV, columns);

	json_each (c, verdict_list(verdict, "contrasts")) {
		cJSON *row = cJSON_Duplicate(c, true);

		json_add(row, JNUM("ci_low_pct", verdict_bound(c, "ci_pct", 0)),
			 JNUM("ci_high_pct", verdict_bound(c, "ci_pct", 1)));
		out_take(out, row);
	}
	return cmd_out_end(out, 0, err);
}

/* A verdict.json to stdout; what text and Markdown have behind it, or "". */
static int bench_print_verdict(const cJSON *verdict, enum out_format print, const char *behind,
			       struct err *err)
{
	struct facts facts;
	AUTO_BUF text = buf_new(MAX_REPORT);

	if (print == OUT_JSON)
		return cmd_print_json(cJSON_Duplicate(verdict, true), err);
	if (print == OUT_CSV)
		return print_rows(verdict, err);
	facts_init(&facts);
	report_facts(&facts, verdict);
	if (print == OUT_MD)
		facts_print_md(&text, &facts);
	else
		facts_print_text(&text, &facts);
	buf_append_str(&text, behind);
	int rc = cmd_print(&text, err);
	facts_release(&facts);
	return rc;
}

/* The page for a pull request. */
static int bench_print_page(const struct bench_drive *drive, const cJSON *verdict,
			    const char *behind, struct err *err)
{
	AUTO_BUF text = buf_new(MAX_REPORT);

	page_md(&text, verdict, drive->plan, drive->path);
	buf_append_str(&text, behind);
	return cmd_print(&text, err);
}

/* The verdict of a folder, and how the bench stands, to stdout. */
static int bench_print_report(const struct bench_drive *drive, enum out_format print,
			      struct err *err)
{
	struct folder_state state;
	bool is_there = folder_read_state(drive->path, &state);
	AUTO_JSON verdict = bench_verdict(drive);

	json_add_string(verdict, "state", is_there ? state.state : "unknown");
	AUTO_TEXT waits = bench_waits_add(verdict, drive->path, drive->id, state.state);
	AUTO_TEXT behind = xasprintf(
		"%s%s%s%s",
		strcmp(state.state, "running") == 0 ? "\nit is under way: no verdict yet\n" : "",
		waits != NULL ? "\n" : "", waits != NULL ? waits : "", waits != NULL ? "\n" : "");

	return print == OUT_MD ? bench_print_page(drive, verdict, behind, err)
			       : bench_print_verdict(verdict, print, behind, err);
}

/*
 * Drive it to its end, print the report that print asks for (NULL: none) and
 * ask about pods that are still up.  The exit status, or -1 with err.
 */
static int bench_conclude(const struct bench_drive *drive, const enum out_format *print,
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
static int detach(const char *path, struct err *err)
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

/* In a results folder of its own, here or in the background. */
static int begin(struct context *context, const struct plan *plan, const char *given,
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
			status = bench_conclude(&drive, q->quiet ? NULL : &q->print, err);
		}
	}
	if (lock >= 0)
		(void)close(lock);
	return status;
}

/*
 * Say what would run, ask where `yes` is not set, then run it in a results
 * folder of its own.  given is the definition to keep there; NULL: that of
 * plan->file.  The exit status, or -1 with err.
 */
static int bench_begin(struct context *context, const struct plan *plan, const char *given,
		       const struct bench_ask *q, struct err *err)
{
	AUTO_BUF text = buf_new(MAX_TEXT);
	int status = -1;

	if (bench_outline(&text, context, plan, err) != 0)
		return -1;
	if (q->dry)
		status = cmd_print(&text, err);
	else if (context->options.read_only)
		err_set(err, ERR_USAGE, "this starts programs on pods: not with --read-only");
	else
		(void)fwrite(text.data, 1, text.len, stderr);
	if (q->dry || context->options.read_only)
		return status;
	if (!q->yes && !isatty(STDIN_FILENO))
		return err_set(err, ERR_USAGE, "stdin is not a terminal; use --yes to start");
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
static int bench_named_open(struct bench_named *named, const char *word, struct err *err)
{
	return bench_find(word, named->id, named->path, err) == 0
		       ? bench_load_plan(&named->plan, named->path, err)
		       : -1;
}

/* How to drive it; `named` may still be opened. */
static struct bench_drive named_drive(const struct cmd_args *args, const struct bench_named *named)
{
	return (struct bench_drive){ .context = args->context,
				     .plan = &named->plan,
				     .id = named->id,
				     .path = named->path,
				     .mode = SESSION_RUN,
				     .note = bench_tell };
}

/* `bench run`: a file, or a line that describes the bench. */
struct run_call {
	struct bench_ask ask;
	struct bench_line line; /* its lists are these: */
	struct cmd_list pods, metrics, grid;
};

static const struct run_call run_defaults = {
	.line = { .blocks = (double)NAN, .minutes = (double)NAN, .gap_s = (double)NAN },
};

static int run_add_word(struct run_call *call, enum line_kind kind, const char *text,
			struct err *err)
{
	struct bench_line *line = &call->line;

	if (line->n_words == LINE_MAX_WORDS)
		return err_set(err, ERR_USAGE, "more than %d arms and settings", LINE_MAX_WORDS);
	line->words[line->n_words++] = (struct line_word){ kind, text };
	return 0;
}

#define RUN_TAKE(name, kind)                                                      \
	static int run_take_##name(void *call, const char *text, struct err *err) \
	{                                                                         \
		return run_add_word(call, kind, text, err);                       \
	}

RUN_TAKE(control, LINE_CONTROL)
RUN_TAKE(variant, LINE_VARIANT)
RUN_TAKE(env, LINE_ENV)
RUN_TAKE(patch, LINE_PATCH)
RUN_TAKE(launch, LINE_LAUNCH)

static const struct cmd_option run_options[] = {
	{ 0, "pod", "POD", "run here: local, a pod, user@host[:port]; repeatable", CMD_LIST,
	  CMD_AT(run_call, pods) },
	{ 0, "control", "CMD", "what the variants are compared with", CMD_TAKE,
	  .take = run_take_control },
	{ 0, "variant", "TAG[=CMD]", "a variant; repeatable", CMD_TAKE, .take = run_take_variant },
	{ 0, "env", "NAME=VALUE", "a variable of the arm before it, or of all", CMD_TAKE,
	  .take = run_take_env },
	{ 0, "patch", "FILE", "a patch of the arm before it", CMD_TAKE, .take = run_take_patch },
	{ 0, "kernel", "FILE", "time the functions of this module on the pods", CMD_TEXT,
	  CMD_AT(run_call, line.kernel) },
	{ 0, "task", "FILE", "the module of their inputs (task.py)", CMD_TEXT,
	  CMD_AT(run_call, line.task) },
	{ 0, "function", "NAME", "that one, not what its make() returns", CMD_TEXT,
	  CMD_AT(run_call, line.function) },
	{ 0, "launch", "NAME=VALUE", "a setting of the kernel of the arm before", CMD_TAKE,
	  .take = run_take_launch },
	{ 0, "grid", "NAME=V1,V2", "a variant for each value; repeatable", CMD_LIST,
	  CMD_AT(run_call, grid) },
	{ 0, "prepare", "CMD", "run this before each run", CMD_TEXT,
	  CMD_AT(run_call, line.prepare) },
	{ 0, "in", "DIR", "the working folder on the pods", CMD_TEXT,
	  CMD_AT(run_call, line.folder) },
	{ 0, "name", "NAME", "the bench's name", CMD_TEXT, CMD_AT(run_call, line.name) },
	{ 0, "metric", "M", "step_ms, or the key of a score in JSON; repeatable", CMD_LIST,
	  CMD_AT(run_call, metrics) },
	{ 0, "window", "LO:HI", "steps measured, or auto (20:100)", CMD_TEXT,
	  CMD_AT(run_call, line.window) },
	{ 0, "blocks", "N", "blocks on each pod (default 6)", CMD_NUMBER,
	  CMD_AT(run_call, line.blocks), .low = 1, .high = 100 },
	{ 0, "gap", "S", "seconds between two runs (default 10)", CMD_NUMBER,
	  CMD_AT(run_call, line.gap_s), .high = 3600 },
	{ 0, "minutes", "N", "end after so many minutes", CMD_NUMBER,
	  CMD_AT(run_call, line.minutes), .high = 1e6 },
	{ 0, "no-aa", NULL, "do not run the control once more in each block", CMD_FLAG,
	  CMD_AT(run_call, line.no_aa) },
	BENCH_ASK_OPTIONS,
	BENCH_PRINT_OPTIONS(bench_ask, " at the end"),
	CMD_OPTIONS_END,
};

/* Of bench_ask nothing but `print`. */
static const struct cmd_option attach_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask, " at the end"),
	CMD_OPTIONS_END,
};

/* Is there a word of a bench that no file has? */
static bool run_is_described(const struct run_call *call)
{
	const struct bench_line *line = &call->line;
	const char *const texts[] = { line->kernel, line->function, line->task,	 line->name,
				      line->folder, line->prepare,  line->window };

	return any_of(i, sizeof(texts) / sizeof(texts[0]), texts[i] != NULL) ||
	       call->pods.n + call->metrics.n + call->grid.n + line->n_words > 0 ||
	       !isnan(line->blocks) || !isnan(line->gap_s) || !isnan(line->minutes) || line->no_aa;
}

/* One file, or --pod and what runs there. */
static int check_run(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct run_call *call = opaque;
	struct bench_line *line = &call->line;
	bool described = run_is_described(call);

	line->pods = (struct line_list){ call->pods.v, call->pods.n };
	line->metrics = (struct line_list){ call->metrics.v, call->metrics.n };
	line->grid = (struct line_list){ call->grid.v, call->grid.n };
	if ((args->argc == 1) == described || (described && line->pods.n == 0))
		return err_set(err, ERR_USAGE,
			       "bench run: name one file (a bench.json), or "
			       "--pod and --control and --variant");
	if (line->kernel == NULL &&
	    (line->grid.n > 0 || line->task != NULL || line->function != NULL))
		return err_set(err, ERR_USAGE,
			       "bench run: --task, --function and --grid are "
			       "of a --kernel");
	if (line->kernel != NULL && (line->prepare != NULL || line->window != NULL))
		return err_set(err, ERR_USAGE,
			       "bench run: --prepare and --window are of "
			       "commands, not of a --kernel");
	return 0;
}

/* A bench of the words of its command line; its plan is told where nothing
 * runs. */
static int run_line(struct context *context, const struct run_call *call, struct err *err)
{
	AUTO_JSON root = bench_make_line(&call->line, &context->conf, err);
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	struct plan plan;

	if (root == NULL)
		return -1;
	json_print(&text, root);
	buf_append_char(&text, '\n');
	if (plan_parse(&plan, "bench.json", buf_str(&text), err) != 0)
		return -1;
	int status = bench_begin(context, &plan, text.data, &call->ask, err);
	if (status == 0 && call->ask.dry)
		status = cmd_print(&text, err);
	plan_release(&plan);
	return status;
}

static int exec_run(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct run_call *call = opaque;
	struct plan plan;

	if (args->argc == 0)
		return run_line(args->context, call, err);
	if (plan_load(&plan, args->argv[0], err) != 0)
		return -1;
	int status = bench_begin(args->context, &plan, NULL, &call->ask, err);
	plan_release(&plan);
	return status;
}

/* What the one who drives it waits for, when that is another than before. */
static void tell_waits(const struct clock *clock, const char *path, struct pod_wait *told,
		       size_t *n_told)
{
	struct pod_wait now[WAITS_MAX];
	size_t n = waits_read(path, true, now);
	int64_t now_ms = clock->wall_ms(clock);
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct pod_wait *old = waits_find(told, *n_told, now[i].pod);

		if (old != NULL && old->kind == now[i].kind && strcmp(old->why, now[i].why) == 0)
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
static int take_over(const struct clock *clock, const char *path, int *lock, struct err *err)
{
	struct timespec pause = { 1, 0 };
	struct pod_wait waits[WAITS_MAX];
	size_t n_waits = 0;
	bool told = false;

	while (folder_lock(path, lock, err) != 0) {
		if (err->code != ERR_CHECK)
			return -1;
		if (!told)
			(void)fprintf(stderr, "%s; waiting for its end\n", err->text);
		told = true;
		tell_waits(clock, path, waits, &n_waits);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int exec_attach(struct cmd_args *args, void *opaque, struct err *err)
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
		if (strcmp(state.state, "running") == 0 || strcmp(state.state, "failed") == 0)
			status = bench_conclude(&drive, &call->print, err);
		else if (bench_judge_again(&drive, err) == 0)
			status = bench_print_report(&drive, call->print, err);
		(void)close(lock);
	}
	plan_release(&named.plan);
	return status;
}

/* Members of a command that takes one bench. */
#define OF_ONE_BENCH                                                \
	.least = 1, .most = 1, .wants = "name one bench by its ID", \
	.needs = CONTEXT_CONF | CONTEXT_FORMATS

const struct cmd cmd_bench_run = {
	.name = "bench run",
	.usage = "[OPTIONS] FILE | --pod POD... --control CMD "
		 "--variant TAG[=CMD]...",
	.summary = "run an A/B bench on its pods",
	.help = "FILE is a bench.json. Without one it is made of the options, "
		"kept as the bench's own, and\nprinted by --dry-run: --env "
		"and --patch are of the arm named before them (--env before "
		"any\narm of all), a variant without CMD runs the control's, "
		"--prepare stands before each run.\n"
		"With --kernel one process times all arms: a file of TAG=FILE "
		"takes the module's place.\n"
		"Every run is a job of its own on the pod: a dropped link, a "
		"closed laptop or a killed\nhgym-tui changes nothing there, "
		"and `bench attach` takes it up. Ctrl-C leaves it running.",
	.options = run_options,
	.size = sizeof(struct run_call),
	.defaults = &run_defaults,
	.most = 1,
	.wants = "name one file (a bench.json)",
	.check = check_run,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.discovers = true,
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
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_attach,
};

/* How long `bench abort` waits for the one who drives it to let go. */
#define ABORT_WAIT_S 30

struct show_call {
	struct bench_ask ask; /* of it nothing but `print` */
	const char *plot;     /* NULL: no picture */
};

static const struct cmd_option show_options[] = {
	BENCH_PRINT_OPTIONS(bench_ask, ""),
	{ 0, "plot", "FILE", "write the blocks as a picture there (SVG)", CMD_TEXT,
	  CMD_AT(show_call, plot) },
	CMD_OPTIONS_END,
};

/* A bench under way has no verdict yet, whatever its blocks say so far. */
static void add_verdict(cJSON *row, const char *state, const cJSON *root)
{
	bool none = root == NULL || strcmp(state, "running") == 0;
	AUTO_BUF line = buf_new(4096);

	report_line(&line, root);
	json_add_clean(row, "verdict", none ? NULL : line.data);
}

/* A row of the list; path is NULL of a bench whose folder is gone. */
static cJSON *row_of(const struct stored_bench *bench, const char *path, const char *stopped,
		     double cost_usd, const cJSON *verdict)
{
	const char *state = bench->state != NULL ? bench->state : "";
	cJSON *row = cJSON_CreateObject();
	char started[CLOCK_RFC3339_SIZE];

	clock_rfc3339(bench->started_ms, started);
	json_add(row, JCLEAN("id", bench->id), JCLEAN("name", bench->name),
		 JCLEAN("state", bench->state), JTEXT("stopped", stopped),
		 JTEXT("started", bench->started_ms != 0 || path != NULL ? started : NULL),
		 JNUM("cost_usd", cost_usd));
	add_verdict(row, state, verdict);
	AUTO_TEXT waits = bench_waits_add(row, path, bench->id, state);
	json_add_string(row, "waits_for", waits);
	json_add_string(row, "dir", path);
	return row;
}

static cJSON *folder_row(const char *base, const char *id)
{
	char path[FOLDER_PATH_SIZE];
	struct folder_state state;
	AUTO_JSON verdict = NULL;

	print_into(path, "%s/%s", base, id);
	(void)folder_read_state(path, &state);
	verdict = folder_read_json(path, "verdict.json");
	return row_of(&(struct stored_bench){ .id = id,
					      .name = state.name,
					      .state = state.state,
					      .started_ms = state.started_ms },
		      path, state.stopped[0] != '\0' ? state.stopped : NULL, state.cost_usd,
		      verdict);
}

/* The verdict that the database keeps; NULL: none. */
static cJSON *stored_verdict(const struct stored_bench *bench)
{
	return bench->verdict != NULL ? json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL)
				      : NULL;
}

/* Benches of the database whose folders are gone from here. */
struct history {
	struct out *out;
	char **ids;
	size_t n;
};

static int print_stored(void *user, const struct stored_bench *bench)
{
	const struct history *h = user;
	AUTO_JSON verdict = stored_verdict(bench);

	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->ids[i], bench->id) == 0)
			return 0;
	out_take(h->out, row_of(bench, NULL, json_get_string(verdict, "stopped", NULL),
				json_get_number(verdict, "cost_usd", (double)NAN), verdict));
	return 0;
}

/* Older benches, as the database remembers them; none where it is not. */
static int print_history(struct context *context, struct history *h, struct err *err)
{
	struct err why = { ERR_NONE, "" };

	if (context_open(context, CONTEXT_DB, &why) == 0)
		return store_each_bench(context->store, NULL, print_stored, h, err);
	return why.code == ERR_NODATA ? 0 : err_set(err, why.code, "%s", why.text);
}

static int exec_list(struct cmd_args *args, void *opaque, struct err *err)
{
	static const char columns[] = "id, state, started, cost_usd=USD:2, verdict, waits_for";
	const struct cmd_output *call = opaque;
	struct history history = { .out = cmd_out(call->format, columns) };
	AUTO_TEXT base = bench_base();

	history.ids = folder_list(base, &history.n);
	for (size_t i = 0; i < history.n; i++)
		out_take(history.out, folder_row(base, history.ids[i]));
	int status = print_history(args->context, &history, err);
	for (size_t i = 0; i < history.n; i++)
		free(history.ids[i]);
	free(history.ids);
	return cmd_out_end(history.out, status, err);
}

/* A bench that only the database remembers, by the beginning of its id. */
struct remembered {
	const char *word;
	cJSON *verdict; /* owned; of the first one found */
	size_t found;
};

static int remember(void *user, const struct stored_bench *bench)
{
	struct remembered *r = user;

	if (strncmp(bench->id, r->word, strlen(r->word)) != 0 || r->found++ > 0)
		return 0;
	r->verdict = stored_verdict(bench);
	if (r->verdict != NULL) {
		json_add_clean(r->verdict, "state", bench->state);
		free(bench_waits_add(r->verdict, NULL, "", ""));
	}
	return 0;
}

/* Show it from the database; -1 where that has none, err left as it was. */
static int show_stored(struct cmd_args *args, enum out_format print, struct err *err)
{
	struct remembered r = { .word = args->argv[0] };
	int status = -1;

	if (context_open(args->context, CONTEXT_DB, NULL) == 0 &&
	    store_each_bench(args->context->store, NULL, remember, &r, NULL) == 0 && r.found == 1 &&
	    r.verdict != NULL)
		status = bench_print_verdict(r.verdict, print,
					     "\nits results folder is gone: this is what the "
					     "database remembers\n",
					     err);
	cJSON_Delete(r.verdict);
	return status;
}

/* The picture, where one is asked for. */
static int show_plot(const struct bench_drive *drive, const char *file, struct err *err)
{
	AUTO_BUF text = buf_new(MAX_REPORT);
	AUTO_JSON verdict = file != NULL ? bench_verdict(drive) : NULL;

	if (file == NULL)
		return 0;
	page_svg(&text, verdict);
	return file_replace(file, buf_str(&text), err);
}

static int exec_show(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct show_call *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = named_drive(args, &named);

	if (bench_named_open(&named, args->argv[0], err) != 0)
		return err->code == ERR_NODATA && call->plot == NULL
			       ? show_stored(args, call->ask.print, err)
			       : -1;
	int status = show_plot(&drive, call->plot, err);
	if (status == 0)
		status = bench_print_report(&drive, call->ask.print, err);
	plan_release(&named.plan);
	return status;
}

/* Ask the one who drives it to let go, and wait for that. */
static int seize(const char *path, int *lock, struct err *err)
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
	{ &cmd_bench_clean, SESSION_CLEAN, folder_lock, "removes files on pods" },
	{ &cmd_bench_stop, SESSION_STOP, folder_lock, "stops pods" },
};

/* Do it under the bench's lock; an abort's request is gone after it. */
static int exec_action(struct cmd_args *args, void *opaque, struct err *err)
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
		return err_set(err, ERR_USAGE, "%s %s: not with --read-only", args->cmd->name,
			       action->refusal);
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
	.help = "ID may be cut short while it stays the only one. --md is a "
		"page for a pull request:\nverdict, blocks as dots, numbers, "
		"pods and versions, commands, and the definition.",
	.options = show_options,
	.size = sizeof(struct show_call),
	OF_ONE_BENCH,
	.exec = exec_show,
};

const struct cmd cmd_bench_abort = {
	.name = "bench abort",
	.usage = "ID",
	.summary = "end a bench and prove that nothing of it is left",
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_action,
};

const struct cmd cmd_bench_stop = {
	.name = "bench stop",
	.usage = "ID",
	.summary = "run the stop_cmd of each pod of a bench that is over",
	OF_ONE_BENCH,
	.exec = exec_action,
};

const struct cmd cmd_bench_clean = {
	.name = "bench clean",
	.usage = "ID",
	.summary = "remove what a bench left on its pods",
	.help = "The results here are kept.",
	OF_ONE_BENCH,
	.discovers = true,
	.exec = exec_action,
};

struct audit_call {
	struct bench_ask ask;
	struct bench_audit audit;
	const char *probe; /* NULL: what suits the pod */
	const char *file;  /* NULL: the probe */
	bool json;
};

static const char *const audit_probes[] = { "cpu", "gpu", NULL };

static const struct audit_call audit_defaults = {
	.ask = { .quiet = true },
	.audit = { .blocks = (double)NAN, .minutes = (double)NAN },
};

static const struct cmd_option audit_options[] = {
	BENCH_ASK_OPTIONS,
	{ 0, "json", NULL, "print the pod's rows of `bench noise` as JSON", CMD_FLAG,
	  CMD_AT(audit_call, json) },
	{ 0, "blocks", "N", "pairs of runs, 3 to 100 (default 6)", CMD_NUMBER,
	  CMD_AT(audit_call, audit.blocks), .low = 3, .high = 100 },
	{ 0, "variant", "TAG", "audit that variant of FILE, not its control", CMD_TEXT,
	  CMD_AT(audit_call, audit.variant) },
	{ 0, "probe", "KIND", "without FILE: cpu, or gpu (needs torch there)", CMD_WORD,
	  CMD_AT(audit_call, probe), .words = audit_probes },
	{ 0, "minutes", "N", "end after so many minutes", CMD_NUMBER,
	  CMD_AT(audit_call, audit.minutes), .high = 1e6 },
	CMD_OPTIONS_END,
};

static int check_audit(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct audit_call *call = opaque;

	call->audit.pods = args->argv[0];
	call->audit.blocks = floor(call->audit.blocks);
	call->file = args->argc == 2 ? args->argv[1] : NULL;
	if (call->file == NULL && call->audit.variant != NULL)
		return err_set(err, ERR_USAGE, "bench audit: --variant is of a FILE");
	if (call->file != NULL && call->probe != NULL)
		return err_set(err, ERR_USAGE, "bench audit: --probe is for no FILE");
	return 0;
}

/* What the register knows of one pod of the audit; -1: nothing yet. */
static int add_pod(struct buf *text, const struct noise_register *reg, const struct plan *plan,
		   size_t pod, bool json)
{
	const struct noise_entry *e = noise_register_find(reg, plan, 0, pod, "");
	AUTO_JSON row = e != NULL ? noise_entry_json(e) : NULL;
	struct facts facts;

	if (e == NULL)
		return -1;
	if (json) {
		json_print(text, row);
		buf_append_char(text, '\n');
	} else {
		facts_init(&facts);
		noise_entry_facts(&facts, e);
		facts_print_text(text, &facts);
		facts_release(&facts);
	}
	return 0;
}

/* The pods' rows of the register: what the audit has learnt. */
static int print_noise(struct context *context, const struct audit_call *call,
		       const struct plan *plan, struct err *err)
{
	struct noise_register reg;
	AUTO_BUF text = buf_new(1024U * 1024);
	int status = 0;

	if (noise_register_load(&reg, context, err) != 0)
		return -1;
	for (size_t i = 0; i < plan->n_pods; i++)
		if (add_pod(&text, &reg, plan, i, call->json) != 0)
			status = err_set(err, ERR_NODATA,
					 "fewer than %d runs of %s were "
					 "measured: nothing can be said of "
					 "its noise",
					 NOISE_MIN_RUNS, plan->pods[i].id);
	if (call->file == NULL && !call->json && status == 0)
		buf_appendf(&text, "\n%s\n", bench_probe_what(call->audit.probe));
	if (cmd_print(&text, status == 0 ? err : NULL) != 0)
		status = -1;
	noise_register_release(&reg);
	return status;
}

/* With the definition as it will be kept. */
static int run_audit(struct context *context, const struct audit_call *call, const cJSON *root,
		     struct err *err)
{
	struct plan plan;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	json_print(&text, root);
	buf_append_char(&text, '\n');
	int status =
		plan_parse(&plan, call->file != NULL ? call->file : "audit", buf_str(&text), err);
	if (status == 0) {
		if (call->file == NULL)
			(void)fprintf(stderr, "%s\n", bench_probe_what(call->audit.probe));
		status = bench_begin(context, &plan, text.data, &call->ask, err);
		if (status == 0 && !call->ask.dry && !call->ask.detach)
			status = print_noise(context, call, &plan, err);
		plan_release(&plan);
	}
	return status;
}

static int exec_audit(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct conf *conf = &args->context->conf;
	struct audit_call *call = opaque;
	AUTO_JSON definition = NULL;
	AUTO_JSON root = NULL;
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

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
	root = bench_make_audit(&call->audit, conf, err);
	return root != NULL ? run_audit(args->context, call, root, err) : -1;
}

const struct cmd cmd_bench_audit = {
	.name = "bench audit",
	.usage = "[OPTIONS] POD[,POD...] [FILE]",
	.summary = "measure how much a pod differs from itself",
	.help = "Runs the same code twice in mirrored blocks: the control of "
		"a bench.json, or a small probe\nof what is on the pod. Ends "
		"with its spread from run to run, its drift, the smallest\n"
		"difference it could show and its rank among the other pods, "
		"and keeps them in the noise\nregister (see bench noise). "
		"POD is of FILE or of the configuration.",
	.options = audit_options,
	.size = sizeof(struct audit_call),
	.defaults = &audit_defaults,
	.least = 1,
	.most = 2,
	.wants = "name a pod, and a bench.json where it is to be of that",
	.check = check_audit,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.discovers = true,
	.exec = exec_audit,
};

static const char noise_columns[] =
	"pod, gpu=GPU, class, n_runs=runs:0, sd_pct=sd %:3, "
	"drift_pct=drift %:3, drift_p=p:2, mde3_pct=shows in 3:2, "
	"mde6_pct=in 6:2, mde10_pct=in 10:2, rank_text=rank, when, driver";

static const char history_columns[] =
	"kind=pods, class, bench, pod, when, value=control:3, sd_pct=sd %:2, "
	"driver, change";

/* Is the entry of one of the pods that were named, or were none? */
static bool is_asked(const struct cmd_args *args, const struct noise_entry *entry)
{
	return any_of(i, args->argc, strcmp(args->argv[i], entry->pod) == 0) || args->argc == 0;
}

/* Print what a register holds of the pods that were named, NULL: of all, with
 * a gap between classes; `empty` says that it is nothing. */
static int print_register(struct out *out, struct noise_register *reg,
			  cJSON *(*to_json)(const struct noise_entry *entry),
			  const struct cmd_args *pods, const char *empty, struct err *err)
{
	const char *last = NULL;

	array_each (e, reg->v, reg->n) {
		if (pods != NULL && !is_asked(pods, e))
			continue;
		if (last != NULL && strcmp(last, e->class_name) != 0)
			out_gap(out);
		last = e->class_name;
		out_take(out, to_json(e));
	}
	int status = cmd_out_end(out, 0, err);
	if (status == 0 && last == NULL)
		status = err_set(err, ERR_NODATA, "%s", empty);
	noise_register_release(reg);
	return status;
}

static int exec_noise(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	struct noise_register reg;

	if (noise_register_load(&reg, args->context, err) != 0)
		return -1;
	return print_register(cmd_out(call->format, noise_columns), &reg, noise_entry_json, args,
			      "nothing is known of that noise yet: a bench "
			      "with an A/A arm, or bench audit, measures it",
			      err);
}

static int exec_history(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	struct noise_register reg;

	if (noise_history_load(&reg, args->context, args->argc > 0 ? args->argv[0] : NULL, err) !=
	    0)
		return -1;
	return print_register(cmd_out(call->format, history_columns), &reg, noise_history_json,
			      NULL, "no such bench was measured yet", err);
}

const struct cmd cmd_bench_noise = {
	.name = "bench noise",
	.usage = "[OPTIONS] [POD...]",
	.summary = "the noise register: how much each pod differs from itself",
	.help = "A row for each pod and class of runs, as benches with an A/A "
		"arm and audits measured it:\nspread (sd) from run to run, "
		"drift over the measurement with its p value, the smallest\n"
		"difference that 3, 6 and 10 blocks would show (power 0.8), "
		"and the rank among the pods of\nthe same class, the quietest "
		"first.",
	.options = cmd_output_options,
	.size = sizeof(struct cmd_output),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.exec = exec_noise,
};

const struct cmd cmd_bench_history = {
	.name = "bench history",
	.usage = "[OPTIONS] [NAME]",
	.summary = "the control of benches that come again, and where it "
		   "changed",
	.help = "A series for each class of runs and kind of pod, a row a "
		"bench: what its control took, and\nwhere the level of the "
		"series changes (E-divisive) by how much, with what else is "
		"new from\nthere on: driver, versions, pod. NAME is of a "
		"bench or of a class.",
	.options = cmd_output_options,
	.size = sizeof(struct cmd_output),
	.most = 1,
	.needs = CONTEXT_CONF,
	.exec = exec_history,
};

#define MAX_RUNS  4096
#define MAX_TAG	  40
#define AA_SUFFIX "~aa"

struct arm {
	char tag[MAX_TAG + sizeof(AA_SUFFIX)];
	bool aa;
	size_t n_logs;
};

/* What the command line asked for, where that is not nothing. */
struct judge_ask {
	struct judge_rule rule;
	double margin; /* per cent */
	struct arm arms[SCHEDULE_MAX_ARMS];
	size_t n_arms;
};

static const struct judge_ask judge_defaults = {
	.rule = JUDGE_RULE_DEFAULT,
	.margin = (double)NAN,
	.arms = { { .tag = "control" } },
	.n_arms = 1,
};

/* All of it, and what was read for it. */
struct request {
	struct judge_ask ask;
	const char *metric; /* NULL: by what the logs are */
	bool lower;	    /* it is said that a lower score is better */
	enum out_format print;
	unsigned int fail_on; /* a bit a verdict_word */
	bool numerics_changed;
	size_t current; /* arm that plain words belong to */
	const char *paths[MAX_RUNS];
	glob_t globbed; /* what patterns matched; paths borrows of it */
	size_t n_globbed;
	struct judge_run runs[MAX_RUNS];
	struct run_log *logs; /* owned */
	size_t n_runs, n_logs;
};

static bool is_tag_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* The length of TAG in "TAG=LOG", or 0. */
static size_t tag_length(const char *word)
{
	size_t n = 0;

	while (is_tag_char(word[n]))
		n++;
	return word[n] == '=' && n <= MAX_TAG ? n : 0;
}

static int add_log(void *opaque, const char *path, struct err *err)
{
	struct request *q = opaque;
	struct arm *arm = &q->ask.arms[q->current];

	if (q->n_runs == MAX_RUNS)
		return err_set(err, ERR_USAGE, "more than %d logs", MAX_RUNS);
	q->paths[q->n_runs] = path;
	q->runs[q->n_runs++] = (struct judge_run){
		.arm = q->current,
		.block = arm->n_logs++,
		.pos = bench_run_place(path),
		.counted = true,
		.state = RUN_STATE_CLAIMED,
		.name = path,
		.path = path,
		.rc = (double)NAN,
		.drift_s = (double)NAN,
	};
	return 0;
}

/*
 * TAG=PATTERN is a word that no shell expands: the logs that it matches, in
 * the order of their names.  A file of that very name is itself.
 */
static int add_logs(struct request *q, const char *word, struct err *err)
{
	int status = 0;

	if (strpbrk(word, "*?[") == NULL || access(word, F_OK) == 0)
		return add_log(q, word, err);
	if (glob(word, q->n_globbed > 0 ? GLOB_APPEND : 0, NULL, &q->globbed) != 0)
		return err_set(err, ERR_IO, "no log file matches %s", word);
	while (status == 0 && q->n_globbed < q->globbed.gl_pathc)
		status = add_log(q, q->globbed.gl_pathv[q->n_globbed++], err);
	return status;
}

static int start_control(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word);

	if (n > 0)
		print_into(q->ask.arms[0].tag, "%.*s", (int)n, word);
	q->current = 0;
	return add_logs(q, n > 0 ? word + n + 1 : word, err);
}

static int start_variant(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t n = tag_length(word), i;

	if (n == 0)
		return err_set(err, ERR_USAGE,
			       "--variant %s: expected TAG=LOG, TAG of letters, "
			       "digits, _ . - (at most %d)",
			       word, MAX_TAG);
	for (i = 1; i < q->ask.n_arms; i++)
		if (strlen(q->ask.arms[i].tag) == n && memcmp(q->ask.arms[i].tag, word, n) == 0)
			break;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants", SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms) {
		print_into(q->ask.arms[i].tag, "%.*s", (int)n, word);
		q->ask.n_arms++;
	}
	q->current = i;
	return add_logs(q, word + n + 1, err);
}

/* The control's logs of an A/A arm; its tag is made when all is known. */
static int start_aa(void *opaque, const char *word, struct err *err)
{
	struct request *q = opaque;
	size_t i = 1;

	while (i < q->ask.n_arms && !q->ask.arms[i].aa)
		i++;
	if (i == SCHEDULE_MAX_ARMS)
		return err_set(err, ERR_USAGE, "more than %d variants", SCHEDULE_MAX_ARMS - 1);
	if (i == q->ask.n_arms)
		q->ask.arms[q->ask.n_arms++].aa = true;
	q->current = i;
	return add_log(q, word, err);
}

static int take_window(void *opaque, const char *text, struct err *err)
{
	struct judge_rule *rule = &((struct request *)opaque)->ask.rule;
	struct str rest = str_from(text), lo, hi;

	if (strcmp(text, "auto") == 0) {
		rule->window = WINDOW_AUTO;
		return 0;
	}
	rule->window = WINDOW_FIXED;
	if (!str_next(&rest, ':', &lo) || !str_next(&rest, ':', &hi) ||
	    !str_to_double(lo, &rule->lo) || !str_to_double(hi, &rule->hi) || !(rule->lo >= 0.0) ||
	    !(rule->hi > rule->lo))
		return err_set(err, ERR_USAGE,
			       "--window %s: expected LO:HI with LO < HI, or "
			       "auto",
			       text);
	return 0;
}

/* A plain word is one more log of its arm. */
static int take_log(void *opaque, const char *word, struct err *err)
{
	const struct request *q = opaque;

	if (q->n_runs == 0)
		return err_set(err, ERR_USAGE, "bench judge: %s: begin with --control", word);
	return add_log(opaque, word, err);
}

/* What belongs to what, now that all is known. */
static int check_judge(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;

	(void)args;
	if (q->ask.arms[0].n_logs == 0 || q->ask.n_arms < 2)
		return err_set(err, ERR_USAGE,
			       "bench judge needs --control LOG... and at "
			       "least one --variant TAG=LOG...");
	if (q->metric != NULL && !q->ask.rule.higher && !q->lower &&
	    bench_metric_is_rate(q->metric))
		return err_set(err, ERR_USAGE,
			       "bench judge: --metric %s looks like a rate: "
			       "give --higher, or --lower",
			       q->metric);
	for (size_t i = 1; i < q->ask.n_arms; i++)
		if (q->ask.arms[i].aa)
			print_into(q->ask.arms[i].tag, "%.*s" AA_SUFFIX, MAX_TAG,
				   q->ask.arms[0].tag);
	if (!isnan(q->ask.margin))
		q->ask.rule.paired.margin = q->ask.margin / 100.0;
	return 0;
}

/* In the order of enum verdict_word. */
static const char *const verdict_slugs[] = {
	"invalid", "not-judged",	  "faster", "faster-but-worse", "slower",
	"same",	   "no-difference-shown", NULL
};
_Static_assert(LENGTH(verdict_slugs) == VERDICT_WORDS + 1, "one for each");

static const char *const tok_kinds[] = {
	[TOK_CUMULATIVE] = "cumulative", [TOK_INTERVAL] = "interval", NULL
};

static const struct cmd_option judge_options[] = {
	{ 0, "control", "LOG...", "the logs of the control, one a block", CMD_TAKE,
	  .take = start_control },
	{ 0, "variant", "TAG=LOG...", "those of a variant; repeatable", CMD_TAKE,
	  .take = start_variant },
	{ 0, "aa", "LOG...", "the control once more: its noise; no variant", CMD_TAKE,
	  .take = start_aa },
	{ 0, "metric", "M", "step_ms, or the key of a score in JSON", CMD_TEXT,
	  CMD_AT(request, metric) },
	{ 0, "higher", NULL, "a higher score is better", CMD_FLAG,
	  CMD_AT(request, ask.rule.higher) },
	{ 0, "lower", NULL, "a lower one is (so it is, but for rates)", CMD_FLAG,
	  CMD_AT(request, lower) },
	{ 0, "window", "LO:HI", "steps measured, or auto (20:100)", CMD_TAKE, .take = take_window },
	{ 0, "tok-kind", "KIND", "printed tok/s: cumulative or interval", CMD_CHOICE,
	  CMD_AT(request, ask.rule.tok_kind), .words = tok_kinds },
	{ 0, "margin", "PCT", "the smallest difference that matters (0.5)", CMD_POSITIVE,
	  CMD_AT(request, ask.margin), .high = 100 },
	{ 0, "loss-margin", "NATS", "the smallest loss that matters (0.005)", CMD_POSITIVE,
	  CMD_AT(request, ask.rule.losses.margin), .high = 100 },
	{ 0, "alpha", "P", "significance level (0.05)", CMD_POSITIVE,
	  CMD_AT(request, ask.rule.paired.alpha), .high = 0.5 },
	{ 0, "numerics-changed", NULL, "the variants compute differently", CMD_FLAG,
	  CMD_AT(request, numerics_changed) },
	CMD_FORMAT_OPTION,
	{ 0, "fail-on", "WORDS", "exit 3 on these verdicts: invalid,slower", CMD_SET,
	  CMD_AT(request, fail_on), .words = verdict_slugs },
	BENCH_PRINT_OPTIONS(request, ""),
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
			       "none of the logs holds a train row or a "
			       "score");
	return 0;
}

/* What was measured, by name. */
static const char *metric_name(const struct request *q, const struct judge *judge)
{
	if (judge->training)
		return "step_ms";
	for (size_t i = 0; i < q->n_logs; i++)
		if (q->logs[i].score.key != NULL)
			return q->logs[i].score.key;
	return q->metric != NULL ? q->metric : "score";
}

static int print_verdict(const struct request *q, const struct judge *judge, struct err *err)
{
	const struct verdict_info info = {
		.metric = metric_name(q, judge),
		.cost_usd = (double)NAN,
		.stopped = "imported",
	};
	AUTO_JSON verdict = verdict_to_json(judge, &info);

	return bench_print_verdict(verdict, q->print, "", err);
}

/*
 * How much the runs of the same code, the control's and those of --aa, spread:
 * what a register knows of a bench that ran here.
 */
static void learn_noise(struct request *q, const struct judge *judge)
{
	AUTO_FREE double *ln = xcalloc(q->n_runs + 1, sizeof(*ln));
	bool any = false;
	size_t n = 0;

	array_each (run, judge->runs, judge->n_runs) {
		bool aa = judge->arms[run->arm].aa;

		if ((run->arm != 0 && !aa) || guard_hard(&run->hits) != NULL || !(run->y > 0.0))
			continue;
		any |= aa;
		ln[n++] = log(run->y);
	}
	if (any && n >= NOISE_MIN_RUNS) {
		q->ask.rule.register_sd = stats_sd(ln, n);
		q->ask.rule.register_df = (double)n - 1.0;
	}
}

/* Judge; with A/A logs twice, since their noise is a rule of the judgement. */
static void judge_all(struct request *q, const struct judge_arm *arms, struct judge *judge)
{
	AUTO_FREE struct judge_run *given = xcalloc(q->n_runs, sizeof(*given));

	memcpy(given, q->runs, q->n_runs * sizeof(*given));
	judge_init(judge, &q->ask.rule, arms, q->ask.n_arms, q->runs, q->n_runs);
	learn_noise(q, judge);
	if (!isnan(q->ask.rule.register_sd)) {
		judge_release(judge);
		memcpy(q->runs, given, q->n_runs * sizeof(*given));
		judge_init(judge, &q->ask.rule, arms, q->ask.n_arms, q->runs, q->n_runs);
	}
}

/* Judge, print, and say whether --fail-on fired. */
static int judge_request(struct request *q, struct err *err)
{
	struct judge_arm arms[SCHEDULE_MAX_ARMS] = { { 0 } };
	struct judge judge;
	int status = 0;

	for (size_t i = 0; i < q->ask.n_arms; i++) {
		bool changed = i > 0 && !q->ask.arms[i].aa && q->numerics_changed;

		arms[i].tag = q->ask.arms[i].tag;
		arms[i].aa = q->ask.arms[i].aa;
		/* What computes differently has a noise of its own. */
		arms[i].numerics_changed = arms[i].other_noise = changed;
	}
	judge_all(q, arms, &judge);
	if (print_verdict(q, &judge, err) != 0)
		status = -1;
	for (size_t i = 0; status == 0 && i < judge.n_contrasts; i++)
		if (!arms[judge.contrasts[i].arm].aa &&
		    (q->fail_on >> judge.contrasts[i].verdict.word & 1) != 0)
			status = err_exit_status(ERR_CHECK);
	judge_release(&judge);
	return status;
}

static int exec_judge(struct cmd_args *args, void *opaque, struct err *err)
{
	struct request *q = opaque;
	int status = -1;

	if (read_logs(q, args->context->formats, err) == 0)
		status = judge_request(q, err);
	for (size_t i = 0; i < q->n_logs; i++)
		run_log_release(&q->logs[i]);
	free(q->logs);
	if (q->n_globbed > 0)
		globfree(&q->globbed);
	return status;
}

const struct cmd cmd_bench_judge = {
	.name = "bench judge",
	.usage = "--control LOG... [--aa LOG...] --variant TAG=LOG... "
		 "[OPTIONS]",
	.summary = "judge an A/B bench from logs that exist already",
	.help = "The n-th log of a variant and the n-th of the control are "
		"one block: they ran next to\neach other. Fewer than three "
		"blocks are never judged. Logs are training logs of any\n"
		"known format, or the JSON that a verifier or benchmark "
		"printed. TAG=PATTERN names all that match.\n--aa names logs "
		"of the control's code run once more. With three such runs, "
		"the control's\ncounted, one pair has a provisional value "
		"beside NOT JUDGED.",
	.options = judge_options,
	.size = sizeof(struct request),
	.preset = sizeof(judge_defaults),
	.defaults = &judge_defaults,
	.word = take_log,
	.check = check_judge,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_judge,
};
