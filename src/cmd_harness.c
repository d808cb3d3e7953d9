/* SPDX-License-Identifier: MIT */
/* `harness`: HarnessGym runs and comparisons, judged anew. */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "cmd.h"
#include "harness/harness_dir.h"
#include "harness_print.h"
#include "parsers/harness_json.h"

#define SETTLE_MS 1000

enum option {
	OPTION_JSON,
	OPTION_CSV,
	OPTION_MD,
	OPTION_RUN,
	OPTION_ALL,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "run", "ID", "show this run of the workspace, not its newest" },
	{ 0, "all", NULL, "show every run of the workspace" },
	{ 0, NULL, NULL, NULL },
};

/* What was asked for. */
struct ask {
	enum out_format format;
	const char *run;
	bool all;
	size_t printed; /* pages so far */
};

static int
print_object(cJSON *object)
{
	struct buf line;

	buf_init(&line, (size_t)JSON_MAX_BYTES * 2);
	json_print(&line, object);
	cJSON_Delete(object);
	(void)printf("%s\n", line.data);
	buf_release(&line);
	return fflush(stdout) != 0 ? -1 : 0;
}

static int
show_run(struct ask *ask, const struct harness_workspace *ws,
	 const struct harness_run *run)
{
	if (ask->format == OUT_JSON)
		return print_object(harness_run_json(ws, run));
	if (ask->printed++ > 0)
		(void)fputc('\n', stdout);
	return harness_print_run(stdout, ask->format, ws, run);
}

static int
show_runs(struct ask *ask, const struct harness_workspace *ws, const char *path,
	  const char *id, struct err *err)
{
	const struct harness_run *run = harness_workspace_run(ws, id);
	int rc = 0;

	if (run == NULL)
		return err_set(err, ERR_NODATA, "%s: there is no run %s", path,
			       id != NULL ? id : "in it yet");
	if (!ask->all)
		rc = show_run(ask, ws, run);
	for (size_t i = 0; ask->all && rc == 0 && i < ws->n_runs; i++)
		rc = show_run(ask, ws, &ws->runs[i]);
	return rc == 0 ? 0 : err_set_errno(err, ERR_IO, "cannot write");
}

static int
show_workspace(struct ask *ask, const struct harness_dir *dir, const char *path,
	       struct err *err)
{
	struct harness_workspace ws;
	int rc;

	harness_workspace_read(&ws, &dir->files,
			       clock_real.wall_ms(&clock_real));
	rc = show_runs(ask, &ws, path, dir->run != NULL ? dir->run : ask->run,
		       err);
	harness_workspace_release(&ws);
	return rc;
}

static int
show_compare(struct ask *ask, const struct harness_dir *dir, struct err *err)
{
	struct harness_compare compare;
	int rc;

	harness_compare_read(&compare, &dir->files);
	if (ask->format == OUT_JSON) {
		rc = print_object(harness_compare_json(&compare));
	} else {
		if (ask->printed++ > 0)
			(void)fputc('\n', stdout);
		rc = harness_print_compare(stdout, ask->format, &compare);
	}
	harness_compare_release(&compare);
	return rc == 0 ? 0 : err_set_errno(err, ERR_IO, "cannot write");
}

static int
show_path(struct ask *ask, const char *path, struct err *err)
{
	struct harness_dir dir;
	int rc;

	if (harness_dir_open(&dir, path, err) != 0)
		return -1;
	harness_dir_settle(&dir, SETTLE_MS);
	rc = dir.what == HARNESS_IS_COMPARE
		     ? show_compare(ask, &dir, err)
		     : show_workspace(ask, &dir, path, err);
	harness_dir_close(&dir);
	return rc;
}

static int
parse_options(struct cmd_args *args, struct ask *ask, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		switch ((enum option)option) {
		case OPTION_JSON:
			ask->format = OUT_JSON;
			break;
		case OPTION_CSV:
			ask->format = OUT_CSV;
			break;
		case OPTION_MD:
			ask->format = OUT_MD;
			break;
		case OPTION_RUN:
			ask->run = value;
			break;
		case OPTION_ALL:
			ask->all = true;
			break;
		}
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next >= args->argc)
		return err_set(err, ERR_USAGE,
			       "harness: name a HarnessGym workspace, a run's "
			       "folder or a comparison");
	return 0;
}

/* Each path in turn; one that fails is told and the others still shown. */
static int
exec_harness(struct cmd_args *args, struct err *err)
{
	struct ask ask = { .format = OUT_TABLE };
	struct err last = { ERR_NONE, "" };
	bool failed = false;

	if (parse_options(args, &ask, err) != 0)
		return -1;
	for (int i = args->next; i < args->argc; i++) {
		if (failed) {
			struct buf text;

			buf_init(&text, sizeof(last.text) * 3);
			utf8_sanitize(&text, str_from(last.text));
			(void)fprintf(stderr, "hgym-tui: %s\n", text.data);
			buf_release(&text);
			failed = false;
		}
		if (show_path(&ask, args->argv[i], &last) != 0) {
			failed = true;
			*err = last;
		}
	}
	if (failed)
		return -1;
	return err->code == ERR_NONE ? 0 : err_exit_status(err->code);
}

const struct cmd cmd_harness = {
	.name = "harness",
	.usage = "[OPTIONS] DIR...",
	.summary = "show HarnessGym runs and comparisons, and what of them is "
		   "verified",
	.help = "DIR is a workspace, a run's folder below .harnessgym/runs, "
		"or the output of a\ncomparison; a run may still be going "
		"on. A score is verified when the run's own\npost-attempt "
		"command passed and printed it. Numbers of a failed verifier "
		"are\nINVALID; numbers that the agent wrote or measured by "
		"itself are shown as\n\"? unverified\" and never as the best. "
		"MCP calls are cumulative for a workspace;\nthe number in "
		"brackets is the iteration's own.",
	.options = options,
	.exec = exec_harness,
};
