/* SPDX-License-Identifier: MIT */
/* `samples`: the series of one run of the database. */
#include "config.h"

#include "cmd.h"
#include "out.h"
#include "parsers/json.h"
#include "stored.h"

enum option { OPTION_JSON, OPTION_CSV, OPTION_MD, OPTION_METRIC };

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "metric", "NAME", "only this metric" },
	{ 0, NULL, NULL, NULL },
};

static const struct out_column columns[] = {
	{ "run_id", NULL, 0, 0 }, { "step", NULL, 0, 0 },
	{ "metric", NULL, 0, 0 }, { "value", NULL, -1, 0 },
	{ "wall_s", NULL, 3, 0 }, { "train_ms", NULL, -1, 0 },
	{ "line", NULL, 0, 0 },	  { NULL, NULL, 0, 0 },
};

struct listing {
	struct out *out;
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
print_samples(struct stored *stored, const char *name, const char *metric,
	      enum out_format format, struct err *err)
{
	struct listing list = { NULL, 0, 0 };
	int rc;

	list.run_id = store_find_run(stored->store, name, err);
	if (list.run_id == 0)
		return -1;
	list.out = out_new(stdout, format, columns);
	rc = store_each_sample(stored->store, list.run_id, metric, print_sample,
			       &list, err);
	if (out_free(list.out) != 0 && rc == 0)
		rc = err_set(err, ERR_IO, "cannot write the output");
	if (rc == 0 && list.shown == 0)
		rc = err_set(err, ERR_NODATA, "run %lld has no samples%s%s",
			     (long long)list.run_id,
			     metric != NULL ? " of " : "",
			     metric != NULL ? metric : "");
	return rc;
}

static int
run(struct cmd_args *args, struct err *err)
{
	enum out_format format = OUT_TABLE;
	const char *value, *metric = NULL;
	struct stored stored;
	int option, rc;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (option <= OPTION_MD)
			format = (enum out_format)(option + OUT_JSON);
		else
			metric = value;
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->argc - args->next != 1)
		return err_set(err, ERR_USAGE,
			       "samples takes one run: its id or its path "
			       "(hgym-tui runs)");
	if (metric != NULL && metric_by_name(str_from(metric)) == METRIC_COUNT)
		return err_set(err, ERR_USAGE,
			       "samples: --metric %s: no such metric", metric);
	if (stored_open(&stored, args->env, err) != 0)
		return -1;
	rc = print_samples(&stored, args->argv[args->next], metric, format,
			   err);
	stored_close(&stored);
	return rc;
}

const struct cmd cmd_samples = {
	.name = "samples",
	.usage = "[OPTIONS] RUN",
	.summary = "print the series of one run of the database",
	.help = "RUN is the id of a run (hgym-tui runs), or a path or the "
		"beginning of one that only\none run has; POD:PATH names the "
		"pod as well.  One row a point, in the order of the log:\n"
		"step, metric, value, wall_s (of a time stamp in the log), "
		"train_ms and line.",
	.options = options,
	.exec = run,
};
