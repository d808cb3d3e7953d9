/* SPDX-License-Identifier: MIT */
/* `runs`: what the database holds, a row a run. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "board/input.h"
#include "board/print.h"
#include "cmd/cmd.h"
#include "parsers/json.h"
#include "report/out.h"
#include "report/run_columns.h"

struct runs_call {
	enum out_format format;
	const char *pod, *group, *status; /* NULL: all */
};

static const char *const statuses[] = {
#define X(id, name) name,
	RUN_STATUS_LIST(X)
#undef X
		NULL,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(runs_call),
	{ 0, "pod", "NAME", "only the runs of this pod", CMD_TEXT,
	  CMD_AT(runs_call, pod) },
	{ 0, "group", "NAME", "only the runs of this group", CMD_TEXT,
	  CMD_AT(runs_call, group) },
	{ 0, "status", "WORD", "only running, finished, truncated, .. ones",
	  CMD_WORD, CMD_AT(runs_call, status), .words = statuses },
	CMD_OPTIONS_END,
};

static const struct out_column table_columns[] = {
	{ "run_id", "id", 0, 0 },
	{ "pod", NULL, 0, 0 },
	{ "path", NULL, 0, 0 },
	{ "run_index", "run", 0, 0 },
	{ "status", NULL, 0, 0 },
	{ "seed", NULL, 0, 0 },
	{ "steps", NULL, 0, 0 },
	{ "ms_per_step", "ms/step", 2, 0 },
	{ "tok_s_derived", "tok/s", 0, 0 },
	{ "last_val_loss", "val_loss", 4, 0 },
	{ "final_bpb", "BPB", 5, 0 },
	{ "final_class", "stage", 0, 0 },
	{ "artifact_bytes", "artifact", 0, 0 },
	{ "eval_s", "eval s", 1, 0 },
	{ NULL, NULL, 0, 0 },
};

static const struct out_column all_columns[] = {
	{ "run_id", NULL, 0, 0 },	{ "pod", NULL, 0, 0 },
	{ "path", NULL, 0, 0 },		{ "group", NULL, 0, 0 },
	{ "gen", NULL, 0, 0 },		{ "run_index", NULL, 0, 0 },
	{ "status", NULL, 0, 0 },	RUN_COLUMNS,
	{ "source_lines", NULL, 0, 0 }, { "lines", NULL, 0, 0 },
	{ "bytes", NULL, 0, 0 },	{ "matched", NULL, 0, 0 },
	{ "first_seen", NULL, 0, 0 },	{ "last_seen", NULL, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

struct listing {
	long writer; /* of the database */
	const struct runs_call *call;
	struct out *out;
	struct board_input groups;
	size_t shown;
};

/* A group is named by its key or by the last part of that. */
static bool
is_group(const char *key, const char *name)
{
	const char *slash = strrchr(key, '/');

	return strcmp(key, name) == 0 ||
	       (slash != NULL && strcmp(slash + 1, name) == 0);
}

static bool
is_wanted(const struct listing *list, const struct stored_run *run,
	  const char *group)
{
	const struct runs_call *call = list->call;

	return (call->pod == NULL || strcmp(call->pod, run->pod) == 0) &&
	       (call->group == NULL || is_group(group, call->group)) &&
	       (call->status == NULL ||
		strcmp(call->status, board_stored_status(run, list->writer)) ==
			0);
}

static int
print_run(void *user, const struct stored_run *run)
{
	struct listing *list = user;
	AUTO_TEXT group = board_input_key(&list->groups, run);
	cJSON *row;

	if (is_wanted(list, run, group)) {
		row = board_stored_json(run, list->writer);
		json_add_clean(row, "group", group);
		out_take(list->out, row);
		list->shown++;
	}
	return 0;
}

static int
exec_runs(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct context *context = args->context;
	const struct runs_call *call = opaque;
	struct listing list = { .writer = context->writer, .call = call };
	int rc;

	list.out =
		cmd_out(call->format,
			call->format == OUT_CSV ? all_columns : table_columns);
	rc = board_input_group_conf(&list.groups, &context->conf, err);
	if (rc == 0)
		rc = store_each_run(context->store, 0, print_run, &list, err);
	rc = cmd_out_end(list.out, rc, err);
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA, "%s holds no run%s",
			     context->db_path,
			     call->pod != NULL || call->status != NULL ||
					     call->group != NULL
				     ? " of that kind"
				     : "");
	board_input_release(&list.groups);
	return rc;
}

const struct cmd cmd_runs = {
	.name = "runs",
	.usage = "[OPTIONS]",
	.summary = "list the runs that the database holds",
	.help = "One row a run: the keys of `parse` (see OUTPUT), and run_id, "
		"pod, path, the group it is\nof by the configuration, and gen, "
		"which counts how often the file at that path was\ntruncated "
		"or replaced.  A run is `running` while its log is "
		"followed; then "
		"it is what\nits log says so far.",
	.options = options,
	.size = sizeof(struct runs_call),
	.needs = CONTEXT_CONF | CONTEXT_DB,
	.exec = exec_runs,
};
