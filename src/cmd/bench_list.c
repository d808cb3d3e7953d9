/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench list`, `show`, `abort` and `clean`. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "bench/drive.h"
#include "bench/report.h"
#include "bench/show.h"
#include "board/stored.h"
#include "cmd/cmd.h"
#include "parsers/json.h"
#include "report/facts_print.h"
#include "report/out.h"
#include "store/benches.h"

/* How long `bench abort` waits for the one who drives it to let go. */
#define ABORT_WAIT_S 30

static const struct cmd_option print_options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, NULL, NULL, NULL },
};

static const struct cmd_option show_options[] = {
	{ 0, "json", NULL, "print the object of verdict.json and its state" },
	{ 0, "md", NULL, "print Markdown" },
	{ 0, NULL, NULL, NULL },
};

/* A bench under way has no verdict yet, whatever its blocks say so far. */
static void
add_verdict(cJSON *row, const char *state, const cJSON *root)
{
	struct buf line;

	buf_init(&line, 4096);
	report_line(&line, root);
	json_add_clean(row, "verdict",
		       strcmp(state, "running") != 0 && root != NULL ? line.data
								     : NULL);
	buf_release(&line);
}

static cJSON *
row_of(const char *base, const char *id)
{
	char path[FOLDER_PATH_SIZE], started[CLOCK_RFC3339_SIZE];
	struct folder_state state;
	cJSON *row = cJSON_CreateObject(), *verdict;
	char *waits;

	(void)snprintf(path, sizeof(path), "%s/%s", base, id);
	(void)folder_read_state(path, &state);
	clock_rfc3339(state.started_ms, started);
	verdict = folder_read_json(path, "verdict.json");
	json_add_string(row, "id", id);
	json_add_string(row, "name", state.name);
	json_add_string(row, "state", state.state);
	json_add_string(row, "stopped",
			state.stopped[0] != '\0' ? state.stopped : NULL);
	json_add_string(row, "started", started);
	json_add_number(row, "cost_usd", state.cost_usd);
	add_verdict(row, state.state, verdict);
	waits = bench_waits_words(path, id, state.state);
	json_add_string(row, "waits_for", waits);
	free(waits);
	bench_waits_json(row, path, state.state);
	json_add_string(row, "dir", path);
	cJSON_Delete(verdict);
	return row;
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
	char started[CLOCK_RFC3339_SIZE];
	cJSON *row, *verdict = NULL;

	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->ids[i], bench->id) == 0)
			return 0;
	if (bench->verdict != NULL)
		verdict = json_parse(str_from(bench->verdict), JSON_BARE_NULL,
				     NULL);
	clock_rfc3339(bench->started_ms, started);
	row = cJSON_CreateObject();
	json_add_clean(row, "id", bench->id);
	json_add_clean(row, "name", bench->name);
	json_add_clean(row, "state", bench->state);
	json_add_string(row, "stopped",
			json_get_string(verdict, "stopped", NULL));
	json_add_string(row, "started",
			bench->started_ms != 0 ? started : NULL);
	json_add_number(row, "cost_usd",
			json_get_number(verdict, "cost_usd", (double)NAN));
	add_verdict(row, bench->state != NULL ? bench->state : "", verdict);
	json_add_string(row, "waits_for", NULL);
	bench_waits_json(row, NULL, "");
	json_add_string(row, "dir", NULL);
	out_row(h->out, row);
	cJSON_Delete(row);
	cJSON_Delete(verdict);
	return 0;
}

/* Older benches, as the database remembers them; none where it is not. */
static int
print_history(const struct context *env, struct history *h, struct err *err)
{
	struct err why = { ERR_NONE, "" };
	struct stored stored;
	int rc;

	if (stored_open(&stored, env, &why) != 0) {
		if (why.code == ERR_NODATA)
			return 0;
		if (err != NULL)
			*err = why;
		return -1;
	}
	rc = store_each_bench(stored.store, NULL, print_stored, h, err);
	stored_close(&stored);
	return rc;
}

static int
exec_list(struct cmd_args *args, struct err *err)
{
	static const struct out_column columns[] = {
		{ "id", NULL, -1, 0 },	    { "state", NULL, -1, 0 },
		{ "started", NULL, -1, 0 }, { "cost_usd", "USD", 2, 0 },
		{ "verdict", NULL, -1, 0 }, { "waits_for", NULL, -1, 0 },
		{ NULL, NULL, 0, 0 },
	};
	enum out_format format;
	char *base, **ids;
	struct out *out;
	size_t n;
	int status;

	if (cmd_output_options(args, &format, err) != 0)
		return -1;
	if (args->next < args->argc)
		return err_set(err, ERR_USAGE, "bench list takes no arguments");
	base = bench_base();
	ids = folder_list(base, &n);
	out = out_new(stdout, format, columns);
	for (size_t i = 0; i < n; i++) {
		cJSON *row = row_of(base, ids[i]);

		out_row(out, row);
		cJSON_Delete(row);
	}
	status = print_history(args->context, &(struct history){ out, ids, n },
			       err);
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
	free(base);
	if (out_free(out) != 0 && status == 0)
		status = err_set_errno(err, ERR_IO, "cannot write");
	return status;
}

/* The one ID of a command and the plan that its folder keeps. */
static int
open_bench(struct cmd_args *args, char id[FOLDER_ID_SIZE],
	   char path[FOLDER_PATH_SIZE], struct plan *plan, struct err *err)
{
	if (args->next == 0)
		args->next = 1;
	if (args->next + 1 != args->argc)
		return err_set(err, ERR_USAGE, "%s needs one ID",
			       args->cmd->name);
	return bench_find(args->argv[args->next], id, path, err) != 0 ||
			       bench_load_plan(plan, path, err) != 0
		       ? -1
		       : 0;
}

/* A bench that only the database remembers, by the beginning of its id. */
struct remembered {
	const char *word;
	enum bench_print print;
	struct buf text;
	size_t found;
};

static int
remember(void *user, const struct stored_bench *bench)
{
	struct remembered *r = user;
	struct facts facts;
	cJSON *root;

	if (strncmp(bench->id, r->word, strlen(r->word)) != 0)
		return 0;
	if (r->found++ > 0 || bench->verdict == NULL)
		return 0;
	root = json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL);
	if (r->print == BENCH_JSON && root != NULL) {
		json_add_clean(root, "state", bench->state);
		bench_waits_json(root, NULL, "");
		json_print(&r->text, root);
		buf_append_char(&r->text, '\n');
		cJSON_Delete(root);
		return 0;
	}
	facts_init(&facts);
	report_facts(&facts, root);
	if (r->print == BENCH_MD)
		facts_print_md(&r->text, &facts);
	else
		facts_print_text(&r->text, &facts);
	facts_release(&facts);
	buf_append_str(&r->text, "\nits results folder is gone: this is what "
				 "the database remembers\n");
	cJSON_Delete(root);
	return 0;
}

/* Show it from the database; -1 where that has none, err left as it was. */
static int
show_stored(const struct cmd_args *args, enum bench_print print,
	    struct err *err)
{
	struct remembered r = { .word = args->argv[args->next],
				.print = print };
	struct stored stored;
	int status = -1;

	if (stored_open(&stored, args->context, NULL) != 0)
		return -1;
	buf_init(&r.text, JSON_MAX_BYTES);
	if (store_each_bench(stored.store, NULL, remember, &r, NULL) == 0 &&
	    r.found == 1 && r.text.len > 0)
		status =
			fwrite(r.text.data, 1, r.text.len, stdout) == r.text.len
				? 0
				: err_set_errno(err, ERR_IO, "cannot write");
	buf_release(&r.text);
	stored_close(&stored);
	return status;
}

static int
exec_show(struct cmd_args *args, struct err *err)
{
	enum bench_print print = BENCH_TEXT;
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	const char *value;
	struct plan plan;
	int option, status;

	while ((option = cmd_next_option(args, &value, err)) >= 0)
		print = option == 0 ? BENCH_JSON : BENCH_MD;
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (open_bench(args, id, path, &plan, err) != 0)
		return err != NULL && err->code == ERR_NODATA
			       ? show_stored(args, print, err)
			       : -1;
	status = bench_report(&(struct bench_drive){ args->context, &plan, id,
						     path, SESSION_RUN, print,
						     false },
			      err);
	plan_release(&plan);
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

/* What ends or removes something on the pods of a bench. */
struct deed {
	enum session_mode mode;
	int (*lock)(const char *path, int *lock, struct err *err);
	const char *refusal; /* with --read-only */
};

/* Do it under the bench's lock; an abort's request is gone after it. */
static int
do_deed(struct cmd_args *args, const struct deed *deed, struct err *err)
{
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct bench_drive drive;
	const char *value;
	struct plan plan;
	int lock = -1, status = -1;

	if (cmd_next_option(args, &value, err) == CMD_OPTIONS_WRONG ||
	    open_bench(args, id, path, &plan, err) != 0)
		return -1;
	drive = (struct bench_drive){ args->context, &plan,	  id,	path,
				      deed->mode,    BENCH_QUIET, false };
	if (args->context->read_only)
		err_set(err, ERR_USAGE, "%s: not with --read-only",
			deed->refusal);
	else if (deed->lock(path, &lock, err) == 0)
		status = bench_drive(&drive, err);
	if (lock >= 0) {
		if (deed->mode == SESSION_ABORT)
			folder_remove(path, "abort");
		(void)close(lock);
	}
	plan_release(&plan);
	return status;
}

static int
exec_abort(struct cmd_args *args, struct err *err)
{
	static const struct deed deed = { SESSION_ABORT, seize,
					  "bench abort ends programs on pods" };

	return do_deed(args, &deed, err);
}

static int
exec_clean(struct cmd_args *args, struct err *err)
{
	static const struct deed deed = { SESSION_CLEAN, folder_lock,
					  "bench clean removes files on pods" };

	return do_deed(args, &deed, err);
}

static int
exec_stop(struct cmd_args *args, struct err *err)
{
	static const struct deed deed = { SESSION_STOP, folder_lock,
					  "bench stop stops pods" };

	return do_deed(args, &deed, err);
}

const struct cmd cmd_bench_list = {
	.name = "bench list",
	.usage = "[OPTIONS]",
	.summary = "list the benches that were run from here",
	.help = "Those with a results folder first, then those that only the "
		"database remembers.\nA bench under way has no verdict yet.",
	.options = print_options,
	.exec = exec_list,
};

const struct cmd cmd_bench_show = {
	.name = "bench show",
	.usage = "[OPTIONS] ID",
	.summary = "show the verdict and the numbers of a bench",
	.help = "ID may be cut short while it stays the only one.",
	.options = show_options,
	.exec = exec_show,
};

const struct cmd cmd_bench_abort = {
	.name = "bench abort",
	.usage = "ID",
	.summary = "end a bench and prove that nothing of it is left",
	.exec = exec_abort,
};

const struct cmd cmd_bench_stop = {
	.name = "bench stop",
	.usage = "ID",
	.summary = "run the stop_cmd of each pod of a bench that is over",
	.exec = exec_stop,
};

const struct cmd cmd_bench_clean = {
	.name = "bench clean",
	.usage = "ID",
	.summary = "remove what a bench left on its pods",
	.help = "The results here are kept.",
	.exec = exec_clean,
};
