/* SPDX-License-Identifier: MIT */
/* `samples`: the series of one run of the database. */
#include "config.h"

#include <string.h>

#include "cmd/cmd.h"
#include "parsers/json.h"
#include "report/out.h"
#include "store/pods.h"
#include "store/query.h"

enum option { OPTION_METRIC = CMD_OUTPUT_COUNT, OPTION_POD };

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "metric", "NAME", "only this metric" },
	{ 0, "pod", "NAME", "the telemetry of this pod, of no run" },
	{ 0, NULL, NULL, NULL },
};

static const struct out_column columns[] = {
	{ "run_id", NULL, 0, 0 }, { "step", NULL, 0, 0 },
	{ "metric", NULL, 0, 0 }, { "value", NULL, -1, 0 },
	{ "wall_s", NULL, 3, 0 }, { "train_ms", NULL, -1, 0 },
	{ "line", NULL, 0, 0 },	  { NULL, NULL, 0, 0 },
};

static const struct out_column pod_columns[] = {
	{ "pod", NULL, 0, 0 },	  { "gpu", NULL, 0, 0 },
	{ "metric", NULL, 0, 0 }, { "value", NULL, -1, 0 },
	{ "wall_s", NULL, 3, 0 }, { NULL, NULL, 0, 0 },
};

/* What the command line asks for. */
struct asked {
	enum out_format format;
	const char *metric, *pod; /* NULL: all; of a run */
};

struct listing {
	struct out *out;
	const struct asked *asked;
	int64_t run_id;
	size_t shown;
};

static int
print_sample(void *user, const struct stored_sample *sample)
{
	struct listing *list = user;
	const struct sample *s = &sample->sample;
	cJSON *row = cJSON_CreateObject();

	json_add_number(row, "run_id", (double)list->run_id);
	json_add_number(row, "step", s->step);
	json_add_string(row, "metric", sample->metric);
	json_add_number(row, "value", s->value);
	json_add_number(row, "wall_s",
			s->wall_ms != 0 ? (double)s->wall_ms / 1e3
					: RUN_ABSENT);
	json_add_number(row, "train_ms", s->train_ms);
	json_add_number(row, "line", (double)s->line);
	out_row(list->out, row);
	cJSON_Delete(row);
	list->shown++;
	return 0;
}

static int
print_samples(const struct context *context, const char *name,
	      const struct asked *asked, struct err *err)
{
	struct listing list = { .asked = asked };
	int rc;

	list.run_id = store_find_run(context->store, name, err);
	if (list.run_id == 0)
		return -1;
	list.out = out_new(stdout, asked->format, columns);
	rc = store_each_sample(context->store, list.run_id, asked->metric,
			       print_sample, &list, err);
	if (out_free(list.out) != 0 && rc == 0)
		rc = err_set(err, ERR_IO, "cannot write the output");
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA, "run %lld has no samples%s%s",
			     (long long)list.run_id,
			     asked->metric != NULL ? " of " : "",
			     asked->metric != NULL ? asked->metric : "");
	return rc;
}

static void
print_value(struct listing *list, const struct store_telemetry *at,
	    const char *metric, double value)
{
	cJSON *row;

	if (!run_has(value) || (list->asked->metric != NULL &&
				strcmp(list->asked->metric, metric) != 0))
		return;
	row = cJSON_CreateObject();
	json_add_string(row, "pod", list->asked->pod);
	json_add_number(row, "gpu", at->gpu >= 0 ? at->gpu : RUN_ABSENT);
	json_add_string(row, "metric", metric);
	json_add_number(row, "value", value);
	json_add_number(row, "wall_s", (double)at->at_ms / 1e3);
	out_row(list->out, row);
	cJSON_Delete(row);
	list->shown++;
}

static int
print_moment(void *user, const struct store_telemetry *row)
{
	for (int i = 0; i < STORE_TELEMETRY_VALUES; i++)
		print_value(user, row,
			    metric_info(store_telemetry_metrics[i])->name,
			    row->values[i]);
	print_value(user, row, "disk_free_bytes", row->disk_free_bytes);
	return 0;
}

static int
print_telemetry(const struct context *context, const struct asked *asked,
		struct err *err)
{
	const struct stored_span span = { asked->pod, 0, false };
	struct listing list = { .asked = asked };
	int rc;

	list.out = out_new(stdout, asked->format, pod_columns);
	rc = store_each_telemetry(context->store, &span, print_moment, &list,
				  err);
	if (out_free(list.out) != 0 && rc == 0)
		rc = err_set(err, ERR_IO, "cannot write the output");
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA,
			     "%s holds no telemetry of a pod \"%s\"",
			     context->db_path, asked->pod);
	return rc;
}

static bool
is_metric(const struct asked *asked)
{
	return asked->metric == NULL ||
	       (asked->pod != NULL &&
		strcmp(asked->metric, "disk_free_bytes") == 0) ||
	       metric_by_name(str_from(asked->metric)) != METRIC_COUNT;
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct asked asked = { OUT_TABLE, NULL, NULL };
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (cmd_output_option(option, &asked.format))
			continue;
		if (option == OPTION_METRIC)
			asked.metric = value;
		else
			asked.pod = value;
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->argc - args->next != (asked.pod == NULL))
		return err_set(err, ERR_USAGE,
			       "samples takes one run: its id or its path "
			       "(hgym-tui runs), or --pod NAME instead");
	if (!is_metric(&asked))
		return err_set(err, ERR_USAGE,
			       "samples: --metric %s: no such metric",
			       asked.metric);
	if (asked.pod != NULL)
		return print_telemetry(args->context, &asked, err);
	return print_samples(args->context, args->argv[args->next], &asked,
			     err);
}

const struct cmd cmd_samples = {
	.name = "samples",
	.usage = "[OPTIONS] RUN | --pod NAME",
	.summary = "print the series of one run of the database",
	.help = "RUN is the id of a run (hgym-tui runs), or a path or the "
		"beginning of one that only\none run has; POD:PATH names the "
		"pod as well.  One row a point, in the order of the log:\n"
		"step, metric, value, wall_s (of a time stamp in the log), "
		"train_ms and line.\n"
		"With --pod: what the pod said of itself, every ten seconds of "
		"the last day and\nevery five minutes of the last thirty: pod, "
		"gpu (null: all of them, and the host),\nmetric, value and "
		"wall_s.",
	.options = options,
	.needs = CONTEXT_CONF | CONTEXT_DB,
	.exec = run,
};
