/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench list`, `show`, `abort` and `clean`. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/report.h"
#include "bench/show.h"
#include "cmd/bench_on.h"
#include "parsers/json.h"
#include "store/benches.h"

/* How long `bench abort` waits for the one who drives it to let go. */
#define ABORT_WAIT_S 30

struct show_call {
	enum bench_print print;
};

static const struct cmd_option show_options[] = {
	BENCH_PRINT_OPTIONS(show_call, ""),
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
	out_take(h->out, row);
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
		out_take(history.out, row_of(base, history.ids[i]));
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

	if (strncmp(bench->id, r->word, strlen(r->word)) != 0 ||
	    r->found++ > 0 || bench->verdict == NULL)
		return 0;
	r->verdict = json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL);
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
	const struct show_call *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = { .context = args->context,
					   .plan = &named.plan,
					   .id = named.id,
					   .path = named.path };
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

/* What ends or removes something on the pods of a bench. */
struct action {
	enum session_mode mode;
	int (*lock)(const char *path, int *lock, struct err *err);
	const char *refusal; /* with --read-only */
};

/* Do it under the bench's lock; an abort's request is gone after it. */
static int
act(struct cmd_args *args, const struct action *action, struct err *err)
{
	struct bench_named named;
	const struct bench_drive drive = { .context = args->context,
					   .plan = &named.plan,
					   .id = named.id,
					   .path = named.path,
					   .mode = action->mode,
					   .note = bench_tell };
	int lock = -1, status = -1;

	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE, "%s: not with --read-only",
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

static int
exec_abort(struct cmd_args *args, void *opaque, struct err *err)
{
	static const struct action abort = {
		SESSION_ABORT, seize, "bench abort ends programs on pods"
	};

	(void)opaque;
	return act(args, &abort, err);
}

static int
exec_clean(struct cmd_args *args, void *opaque, struct err *err)
{
	static const struct action clean = {
		SESSION_CLEAN, folder_lock, "bench clean removes files on pods"
	};

	(void)opaque;
	return act(args, &clean, err);
}

static int
exec_stop(struct cmd_args *args, void *opaque, struct err *err)
{
	static const struct action stop = { SESSION_STOP, folder_lock,
					    "bench stop stops pods" };

	(void)opaque;
	return act(args, &stop, err);
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
	.size = sizeof(struct show_call),
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
	.exec = exec_abort,
};

const struct cmd cmd_bench_stop = {
	.name = "bench stop",
	.usage = "ID",
	.summary = "run the stop_cmd of each pod of a bench that is over",
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_stop,
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
	.exec = exec_clean,
};
