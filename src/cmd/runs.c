/* SPDX-License-Identifier: MIT */
/* `runs`: what the database holds, a row a run. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "board/input.h"
#include "cmd/cmd.h"
#include "parsers/json.h"
#include "report/out.h"
#include "report/run_columns.h"

enum option {
	OPTION_POD = CMD_OUTPUT_COUNT,
	OPTION_GROUP,
	OPTION_STATUS,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "pod", "NAME", "only the runs of this pod" },
	{ 0, "group", "NAME", "only the runs of this group" },
	{ 0, "status", "WORD", "only running, finished, truncated, .. ones" },
	{ 0, NULL, NULL, NULL },
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

/* The word for its status now: running while a writer follows it. */
static const char *
status_of(const struct stored_run *run, long writer)
{
	return run_status_name(run->is_live && writer != 0 ? RUN_RUNNING
							   : run->run.status);
}

/* run_id, pod, path, file, gen, the keys of `parse`, first and last_seen. */
static cJSON *
row_of(const struct stored_run *run, long writer)
{
	cJSON *row = cJSON_CreateObject(), *keys = run_to_json(&run->run);
	const char *word = status_of(run, writer);
	cJSON *status = strcmp(word, "unknown") == 0 ? cJSON_CreateNull()
						     : cJSON_CreateString(word);

	cJSON_ReplaceItemInObjectCaseSensitive(keys, "status", status);
	json_add_number(row, "run_id", (double)run->run_id);
	json_add_string(row, "pod", run->pod);
	json_add_clean(row, "path", run->path);
	json_add_clean(row, "file", run->path);
	json_add_number(row, "gen", run->gen);
	while (keys->child != NULL) {
		cJSON *item = cJSON_DetachItemViaPointer(keys, keys->child);

		cJSON_AddItemToObject(row, item->string, item);
	}
	cJSON_Delete(keys);
	json_add_time(row, "first_seen", run->first_wall_ms);
	json_add_time(row, "last_seen", run->last_wall_ms);
	return row;
}

struct listing {
	long writer; /* of the database */
	struct out *out;
	const char *pod, *group, *status; /* NULL: all */
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
	return (list->pod == NULL || strcmp(list->pod, run->pod) == 0) &&
	       (list->group == NULL || is_group(group, list->group)) &&
	       (list->status == NULL ||
		strcmp(list->status, status_of(run, list->writer)) == 0);
}

static int
print_run(void *user, const struct stored_run *run)
{
	struct listing *list = user;
	char *group = board_input_key(&list->groups, run);
	bool wanted = is_wanted(list, run, group);
	cJSON *row;

	if (!wanted) {
		free(group);
		return 0;
	}
	row = row_of(run, list->writer);
	json_add_clean(row, "group", group);
	free(group);
	out_row(list->out, row);
	cJSON_Delete(row);
	list->shown++;
	return 0;
}

static int
check_status(const char *word, struct err *err)
{
	static const char *const names[] = {
#define X(id, name) name,
		RUN_STATUS_LIST(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], word) == 0)
			return 0;
	return err_set(err, ERR_USAGE, "runs: --status %s: no such status",
		       word);
}

static int
print_runs(struct listing *list, const struct context *context,
	   enum out_format format, struct err *err)
{
	int rc;

	list->writer = context->writer;
	list->out = out_new(stdout, format,
			    format == OUT_CSV ? all_columns : table_columns);
	rc = board_input_group_conf(&list->groups, &context->conf, err);
	if (rc == 0)
		rc = store_each_run(context->store, 0, print_run, list, err);
	if (out_free(list->out) != 0 && rc == 0)
		rc = err_set(err, ERR_IO, "cannot write the output");
	if (rc == 0 && list->shown == 0)
		rc = err_set(err, ERR_NODATA, "%s holds no run%s",
			     context->db_path,
			     list->pod != NULL || list->status != NULL ||
					     list->group != NULL
				     ? " of that kind"
				     : "");
	board_input_release(&list->groups);
	return rc;
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct listing list = { 0 };
	enum out_format format = OUT_TABLE;
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (cmd_output_option(option, &format))
			continue;
		if (option == OPTION_POD)
			list.pod = value;
		else if (option == OPTION_GROUP)
			list.group = value;
		else
			list.status = value;
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next < args->argc)
		return err_set(err, ERR_USAGE,
			       "runs takes no argument (samples RUN shows one "
			       "run)");
	if (list.status != NULL && check_status(list.status, err) != 0)
		return -1;
	return print_runs(&list, args->context, format, err);
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
	.needs = CONTEXT_CONF | CONTEXT_DB,
	.exec = run,
};
