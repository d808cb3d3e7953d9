/* SPDX-License-Identifier: MIT */
/* Seeds out of a record's submission.json; called by run_rows.c. */
#include "config.h"

#include "parsers/run_submission.h"

#include <math.h>
#include <string.h>

/* Keys of a seed's object, and the number of a run that each is. */
static const struct {
	const char *name;
	size_t offset;
} keys[] = {
	{ "seed", offsetof(struct run, seed) },
	{ "val_bpb", offsetof(struct run, final_bpb) },
	{ "final_bpb", offsetof(struct run, final_bpb) },
	{ "val_loss", offsetof(struct run, final_val_loss) },
	{ "final_val_loss", offsetof(struct run, final_val_loss) },
	{ "steps", offsetof(struct run, steps) },
	{ "train_ms", offsetof(struct run, train_ms) },
	{ "ms_per_step", offsetof(struct run, ms_per_step) },
	{ "prequant_bpb", offsetof(struct run, prequant_bpb) },
	{ "quant_bpb", offsetof(struct run, quant_bpb) },
	{ "eval_s", offsetof(struct run, eval_s) },
	{ "artifact_bytes", offsetof(struct run, artifact_bytes) },
	{ "bytes_total", offsetof(struct run, artifact_bytes) },
	{ "code_bytes", offsetof(struct run, code_bytes) },
	{ "bytes_code", offsetof(struct run, code_bytes) },
};

bool
run_submission_is(const cJSON *root)
{
	const cJSON *seeds = json_get(root, "seed_results");

	return cJSON_IsObject(root) &&
	       (cJSON_IsObject(seeds) || cJSON_IsArray(seeds) ||
		cJSON_IsArray(json_get(root, "bpb")));
}

/* A template's 0 stands for a value that is not there; a seed may be 0. */
static bool
is_told(const cJSON *item, size_t offset)
{
	return cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
	       (item->valuedouble > 0 || offset == offsetof(struct run, seed));
}

static void
row_init(struct run_row *row, const cJSON *root)
{
	*row = (struct run_row){ .group = json_get_string(root, "name", NULL) };
	run_init(&row->run);
	row->run.status = RUN_FINISHED;
}

/* One seed: its name in the file is its seed unless it tells another. */
static int
read_seed(const cJSON *root, const cJSON *seed, const struct run_rows_cb *cb,
	  void *user, struct err *err)
{
	struct run_row row;

	if (!cJSON_IsObject(seed))
		return err_set(err, ERR_PARSE,
			       "seed_results: expected an object a seed");
	row_init(&row, root);
	if (seed->string != NULL)
		(void)str_to_double(str_from(seed->string), &row.run.seed);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const cJSON *item = json_get(seed, keys[i].name);

		if (is_told(item, keys[i].offset))
			memcpy((char *)&row.run + keys[i].offset,
			       &item->valuedouble, sizeof(double));
	}
	if (!isfinite(row.run.seed))
		row.run.seed = RUN_ABSENT;
	cb->on_row(user, &row);
	run_release(&row.run);
	return 0;
}

static int
read_values(const cJSON *root, const cJSON *values,
	    const struct run_rows_cb *cb, void *user, struct err *err)
{
	const cJSON *value;
	int n = 0;

	cJSON_ArrayForEach(value, values)
	{
		struct run_row row;

		if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble) ||
		    value->valuedouble <= 0)
			return err_set(err, ERR_PARSE,
				       "bpb[%d]: expected a number above 0", n);
		row_init(&row, root);
		row.run.final_bpb = value->valuedouble;
		cb->on_row(user, &row);
		run_release(&row.run);
		n++;
	}
	return n;
}

int
run_submission_read(const cJSON *root, const struct run_rows_cb *cb, void *user,
		    struct err *err)
{
	const cJSON *seeds = json_get(root, "seed_results"), *seed;
	int n = 0;

	if (!cJSON_IsObject(seeds) && !cJSON_IsArray(seeds))
		return read_values(root, json_get(root, "bpb"), cb, user, err);
	cJSON_ArrayForEach(seed, seeds)
	{
		if (read_seed(root, seed, cb, user, err) != 0)
			return -1;
		n++;
	}
	return n;
}
