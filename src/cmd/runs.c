/* SPDX-License-Identifier: MIT */
/* `runs` and `samples`: list the runs in the database, and the series of one of them. */

#include "board/input.h"
#include "board/print.h"
#include "cmd/cmd.h"
#include "parsers/run_series.h"
#include "report/run_columns.h"
#include "store/pods.h"

struct runs_call {
	enum out_format format;
	const char *pod, *group, *status; /* NULL: all */
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(runs_call),
	{ 0, "pod", "NAME", "only runs of this pod", CMD_TEXT, CMD_AT(runs_call, pod) },
	{ 0, "group", "NAME", "only runs of this group", CMD_TEXT, CMD_AT(runs_call, group) },
	{ 0, "status", "WORD", "only runs with this status (running, finished, truncated, ...)",
	  CMD_WORD, CMD_AT(runs_call, status), .words = run_status_names },
	CMD_OPTIONS_END,
};

static const char table_columns[] =
	"run_id=id:0, pod, path, run_index=run:0, status, seed:0, steps:0, "
	"ms_per_step=ms/step:2, tok_s_derived=tok/s:0, "
	"last_val_loss=val_loss:4, final_bpb=BPB:5, final_class=stage, "
	"artifact_bytes=artifact:0, eval_s=eval s:1";

static const char all_columns[] =
	"run_id:0, pod, path, group, gen:0, run_index:0, status, " RUN_COLUMNS
	", source_lines:0, lines:0, bytes:0, matched:0, first_seen:0, last_seen:0";

struct listing {
	long writer; /* process that writes to the database; 0: none */
	const struct runs_call *call;
	struct out *out;
	struct board_input groups;
	size_t shown;
};

static int print_run(void *user, const struct stored_run *run)
{
	struct listing *list = user;
	const struct runs_call *call = list->call;
	AUTO_TEXT group = board_input_key(&list->groups, run);
	const char *slash = strrchr(group, '/'), *part = slash != NULL ? slash + 1 : group;

	/* --group names the whole key or its last part. */
	if ((call->pod != NULL && strcmp(call->pod, run->pod) != 0) ||
	    (call->group != NULL && strcmp(group, call->group) != 0 &&
	     strcmp(part, call->group) != 0) ||
	    (call->status != NULL &&
	     strcmp(call->status, board_stored_status(run, list->writer)) != 0))
		return 0;
	cJSON *row = board_stored_json(run, list->writer);
	json_add_clean(row, "group", group);
	out_take(list->out, row);
	list->shown++;
	return 0;
}

static int exec_runs(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct context *context = args->context;
	const struct runs_call *call = opaque;
	struct listing list = { .writer = context->writer, .call = call };

	list.out = cmd_out(call->format, call->format == OUT_CSV ? all_columns : table_columns);
	int rc = board_input_group_conf(&list.groups, &context->conf, err);
	if (rc == 0)
		rc = store_each_run(context->store, 0, print_run, &list, err);
	rc = cmd_out_end(list.out, rc, err);
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA,
			     call->pod != NULL || call->status != NULL || call->group != NULL
				     ? "no run in %s matches the options"
				     : "%s contains no runs",
			     context->db_path);
	board_input_release(&list.groups);
	return rc;
}

const struct cmd cmd_runs = {
	.name = "runs",
	.usage = "[OPTIONS]",
	.summary = "list the runs in the database",
	CMD_OPTIONS(options, runs_call),
	.needs = CONTEXT_CONF | CONTEXT_DB,
	.exec = exec_runs,
};

struct samples_call {
	enum out_format format;
	const char *metric; /* NULL: all */
	const char *pod;    /* NULL: the samples of a run */
};

static const struct cmd_option samples_options[] = {
	CMD_OUTPUT_OPTIONS(samples_call),
	{ 0, "metric", "NAME", "only this metric, by its name or by the name in the log", CMD_TEXT,
	  CMD_AT(samples_call, metric) },
	{ 0, "pod", "NAME", "the telemetry of this pod instead of a run", CMD_TEXT,
	  CMD_AT(samples_call, pod) },
	CMD_OPTIONS_END,
};

static const char sample_columns[] = "run_id:0, step:0, metric, value, wall_s:3, train_ms, line:0";

static const char pod_columns[] = "pod, gpu, metric, value, wall_s:3";

struct samples_listing {
	struct out *out;
	const struct samples_call *call;
	int64_t run_id;
	size_t shown;
};

static int print_sample(void *user, const struct stored_sample *sample)
{
	struct samples_listing *list = user;
	cJSON *row = cJSON_CreateObject();

	json_add_number(row, "run_id", (double)list->run_id);
	board_add_sample(row, sample->metric, &sample->sample);
	out_take(list->out, row);
	list->shown++;
	return 0;
}

/* Finds the label under which the database stores the metric of --metric. */
struct wanted {
	const char *asked;
	char label[SERIES_LABEL_BYTES]; /* "": not found */
	struct buf names;		/* all metrics of the run, for the message */
};

static int match_metric(void *user, const struct stored_run *row)
{
	struct wanted *wanted = user;
	const struct run_series *s = run_series_find(&row->run, wanted->asked);
	char label[SERIES_LABEL_BYTES];

	if (s != NULL)
		(void)series_label(s->metric, s->name, wanted->label);
	for (size_t i = 0; i < row->run.n_series; i++) {
		s = &row->run.series[i];
		(void)series_label(s->metric, s->name, label);
		buf_appendf(&wanted->names, "%s%s", i > 0 ? ", " : "",
			    s->metric < METRIC_COUNT ? s->name : label);
	}
	return 0;
}

/* Set wanted->label; -1 with err if the run lacks the metric. */
static int resolve_metric(struct store *store, int64_t run_id, struct wanted *wanted,
			  struct err *err)
{
	buf_init(&wanted->names, RUN_MAX_SERIES * (SERIES_LABEL_BYTES + 2));
	int rc = store_each_run(store, run_id, match_metric, wanted, err);
	if (wanted->label[0] == '\0' && metric_by_name(str_from(wanted->asked)) < METRIC_COUNT)
		print_into(wanted->label, "%s", wanted->asked);
	if (rc == 0 && wanted->label[0] == '\0')
		rc = err_set(err, ERR_USAGE, "samples: unknown metric \"%s\"; run %lld has %s",
			     wanted->asked, (long long)run_id,
			     wanted->names.len > 0 ? wanted->names.data : "none");
	buf_release(&wanted->names);
	return rc;
}

static int print_samples(const struct context *context, const char *name,
			 const struct samples_call *call, struct err *err)
{
	struct samples_listing list = { .call = call };
	struct wanted wanted = { .asked = call->metric };

	list.run_id = store_find_run(context->store, name, err);
	if (list.run_id == 0)
		return -1;
	if (call->metric != NULL && resolve_metric(context->store, list.run_id, &wanted, err) != 0)
		return -1;
	list.out = cmd_out(call->format, sample_columns);
	int rc = store_each_sample(context->store, list.run_id,
				   call->metric != NULL ? wanted.label : NULL, print_sample, &list,
				   err);
	rc = cmd_out_end(list.out, rc, err);
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA, "run %lld has no samples%s%s", (long long)list.run_id,
			     call->metric != NULL ? " of " : "",
			     call->metric != NULL ? call->metric : "");
	return rc;
}

static void print_value(struct samples_listing *list, const struct store_telemetry *at,
			const char *metric, double value)
{
	if (!run_has(value) ||
	    (list->call->metric != NULL && strcmp(list->call->metric, metric) != 0))
		return;
	out_take(list->out,
		 json_new(JTEXT("pod", list->call->pod),
			  JNUM("gpu", at->gpu >= 0 ? at->gpu : RUN_ABSENT), JTEXT("metric", metric),
			  JNUM("value", value), JNUM("wall_s", (double)at->at_ms / 1e3)));
	list->shown++;
}

static int print_moment(void *user, const struct store_telemetry *row)
{
	for (enum metric i = TELEMETRY_FIRST; i < METRIC_COUNT; i++)
		print_value(user, row, metric_info(i)->name, row->values[i - TELEMETRY_FIRST]);
	print_value(user, row, "disk_free_bytes", row->disk_free_bytes);
	return 0;
}

static int print_telemetry(const struct context *context, const struct samples_call *call,
			   struct err *err)
{
	const struct stored_span span = { call->pod, 0, false };
	struct samples_listing list = { .call = call };

	list.out = cmd_out(call->format, pod_columns);
	int rc = store_each_telemetry(context->store, &span, print_moment, &list, err);
	rc = cmd_out_end(list.out, rc, err);
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA, "%s contains no telemetry of a pod \"%s\"",
			     context->db_path, call->pod);
	return rc;
}

static int check_samples(const struct cmd_args *args, void *opaque, struct err *err)
{
	const struct samples_call *call = opaque;

	if ((call->pod != NULL) == (args->argc > 0))
		return err_set(
			err, ERR_USAGE,
			"samples: give either one run (its id or path, see hgym-tui runs) or "
			"--pod NAME");
	if (call->metric != NULL && call->pod != NULL &&
	    metric_by_name(str_from(call->metric)) == METRIC_COUNT &&
	    strcmp(call->metric, "disk_free_bytes") != 0)
		return err_set(err, ERR_USAGE, "samples: unknown metric \"%s\"", call->metric);
	return 0;
}

static int exec_samples(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct samples_call *call = opaque;

	return call->pod != NULL ? print_telemetry(args->context, call, err)
				 : print_samples(args->context, args->argv[0], call, err);
}

const struct cmd cmd_samples = {
	.name = "samples",
	.usage = "[OPTIONS] RUN | --pod NAME",
	.summary = "print the time series of one run in the database",
	CMD_OPTIONS(samples_options, samples_call),
	.most = 1,
	.wants = "give one run (its id or path, see hgym-tui runs)",
	.check = check_samples,
	.needs = CONTEXT_CONF | CONTEXT_DB,
	.exec = exec_samples,
};
