/* SPDX-License-Identifier: MIT */
/* What names and units of numbers stand for, where they leave one reading. */
#include "config.h"

#include "parsers/meaning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A name as it is compared: in lower case, with "_" for "/", "-", "." and
 * blanks.
 */
#define NAME_BYTES 40

/* Which units a name may be printed with. */
enum meaning_unit {
	UNIT_NONE, /* no unit at all */
	UNIT_TIME, /* one of time, which gives the scale */
	UNIT_RATE, /* none, or tokens a second */
};

struct meaning {
	const char *name;
	enum metric metric;
	enum meaning_unit unit;
};

/* In the order of strcmp: the table is searched by halves. */
static const struct meaning meanings[] = {
	{ "completed_step", METRIC_STEP, UNIT_NONE },
	{ "cur_step", METRIC_STEP, UNIT_NONE },
	{ "current_step", METRIC_STEP, UNIT_NONE },
	{ "current_steps", METRIC_STEP, UNIT_NONE },
	{ "dev_loss", METRIC_VAL_LOSS, UNIT_NONE },
	{ "dt", METRIC_STEP_MS, UNIT_TIME },
	{ "elapsed_time_per_iteration", METRIC_STEP_MS, UNIT_TIME },
	{ "eval_loss", METRIC_VAL_LOSS, UNIT_NONE },
	{ "evaluation_loss", METRIC_VAL_LOSS, UNIT_NONE },
	{ "global_step", METRIC_STEP, UNIT_NONE },
	{ "global_step_max_steps", METRIC_STEP, UNIT_NONE },
	{ "globalstep", METRIC_STEP, UNIT_NONE },
	{ "iter", METRIC_STEP, UNIT_NONE },
	{ "iter_time", METRIC_STEP_MS, UNIT_TIME },
	{ "iteration", METRIC_STEP, UNIT_NONE },
	{ "iteration_time", METRIC_STEP_MS, UNIT_TIME },
	{ "lm_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "loss_train", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "loss_train_total", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "loss_val", METRIC_VAL_LOSS, UNIT_NONE },
	{ "num_updates", METRIC_STEP, UNIT_NONE },
	{ "per_iter", METRIC_STEP_MS, UNIT_TIME },
	{ "per_iteration", METRIC_STEP_MS, UNIT_TIME },
	{ "per_step", METRIC_STEP_MS, UNIT_TIME },
	{ "reduced_train_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "step", METRIC_STEP, UNIT_NONE },
	{ "step_time", METRIC_STEP_MS, UNIT_TIME },
	{ "steps", METRIC_STEP, UNIT_NONE },
	{ "throughput_device_tokens_per_second", METRIC_TOK_S_DEVICE,
	  UNIT_RATE },
	{ "time_per_iter", METRIC_STEP_MS, UNIT_TIME },
	{ "time_per_iteration", METRIC_STEP_MS, UNIT_TIME },
	{ "time_per_step", METRIC_STEP_MS, UNIT_TIME },
	{ "tok_per_sec", METRIC_TOK_S, UNIT_RATE },
	{ "tok_per_second", METRIC_TOK_S, UNIT_RATE },
	{ "tok_s", METRIC_TOK_S, UNIT_RATE },
	{ "tok_s_device", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tok_s_gpu", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tok_sec", METRIC_TOK_S, UNIT_RATE },
	{ "tok_second", METRIC_TOK_S, UNIT_RATE },
	{ "tokens_per_gpu_per_sec", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_per_gpu_per_second", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_per_sec", METRIC_TOK_S, UNIT_RATE },
	{ "tokens_per_sec_per_device", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_per_sec_per_gpu", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_per_second", METRIC_TOK_S, UNIT_RATE },
	{ "tokens_per_second_per_device", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_per_second_per_gpu", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_s", METRIC_TOK_S, UNIT_RATE },
	{ "tokens_s_device", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_s_gpu", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_sec", METRIC_TOK_S, UNIT_RATE },
	{ "tokens_sec_device", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_sec_gpu", METRIC_TOK_S_DEVICE, UNIT_RATE },
	{ "tokens_second", METRIC_TOK_S, UNIT_RATE },
	{ "train_global_step", METRIC_STEP, UNIT_NONE },
	{ "train_iter", METRIC_STEP, UNIT_NONE },
	{ "train_iteration", METRIC_STEP, UNIT_NONE },
	{ "train_lm_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "train_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "train_loss_train_total", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "train_step", METRIC_STEP, UNIT_NONE },
	{ "trainer_global_step", METRIC_STEP, UNIT_NONE },
	{ "training_iteration", METRIC_STEP, UNIT_NONE },
	{ "training_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "training_step", METRIC_STEP, UNIT_NONE },
	{ "trn_loss", METRIC_TRAIN_LOSS, UNIT_NONE },
	{ "update", METRIC_STEP, UNIT_NONE },
	{ "val_bpb", METRIC_VAL_BPB, UNIT_NONE },
	{ "val_loss", METRIC_VAL_LOSS, UNIT_NONE },
	{ "valid_loss", METRIC_VAL_LOSS, UNIT_NONE },
	{ "validation_bpb", METRIC_VAL_BPB, UNIT_NONE },
	{ "validation_loss", METRIC_VAL_LOSS, UNIT_NONE },
};

/* What one of these numbers is in the unit of the metric. */
struct unit_scale {
	const char *unit;
	double scale;
};

static const struct unit_scale times[] = {
	{ "ms", 1 },	    { "s", 1e3 },   { "sec", 1e3 }, { "secs", 1e3 },
	{ "seconds", 1e3 }, { "us", 1e-3 }, { "msec", 1 },  { "min", 6e4 },
};

/* Times of a step whatever they are called. */
static const struct unit_scale step_times[] = {
	{ "ms/step", 1 },    { "ms/it", 1 },	{ "ms/iter", 1 },
	{ "s/step", 1e3 },   { "s/iter", 1e3 }, { "sec/step", 1e3 },
	{ "sec/iter", 1e3 },
};

static const struct unit_scale rates[] = {
	{ "tok/s", 1 },	     { "tok/sec", 1 },	     { "tokens/s", 1 },
	{ "tokens/sec", 1 }, { "tokens/second", 1 }, { "toks/s", 1 },
};

/* "tokens/s: 19.5K" */
static const struct unit_scale thousands[] = {
	{ "k", 1e3 },
	{ "K", 1e3 },
	{ "M", 1e6 },
};

/* Units that stand in a name: "step_time_ms", "sec_per_iter". */
static const struct unit_scale name_ends[] = {
	{ "_ms", 1 },
	{ "_s", 1e3 },
	{ "_sec", 1e3 },
	{ "_seconds", 1e3 },
};
static const struct unit_scale name_starts[] = {
	{ "ms_", 1 },
	{ "s_", 1e3 },
	{ "sec_", 1e3 },
	{ "seconds_", 1e3 },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool
find_unit(const struct unit_scale *units, size_t n, struct str unit,
	  double *scale)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq_cstr(unit, units[i].unit))
			continue;
		*scale = units[i].scale;
		return true;
	}
	return false;
}

/* The name as the table has it; false where it is too long for that. */
static bool
plain_name(struct str name, char out[NAME_BYTES])
{
	if (name.len >= NAME_BYTES)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (strchr("/-. ", c) != NULL)
			c = '_';
		out[i] = c;
	}
	out[name.len] = '\0';
	return true;
}

static int
compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct meaning *)row)->name);
}

/* "time 36ms" is of a step; of a "time" in seconds nobody can say. */
static enum metric
meaning_of_unit(const struct pair *pair, const char *name, double *scale)
{
	bool nameless = *name == '\0';

	if (pair->unit.len == 0)
		return METRIC_COUNT;
	if (nameless && find_unit(rates, LENGTH(rates), pair->unit, scale))
		return METRIC_TOK_S;
	if ((nameless || strcmp(name, "time") == 0) &&
	    find_unit(step_times, LENGTH(step_times), pair->unit, scale))
		return METRIC_STEP_MS;
	if (strcmp(name, "time") == 0 && str_eq_cstr(pair->unit, "ms"))
		return METRIC_STEP_MS;
	if (strcmp(name, "throughput") == 0 &&
	    find_unit(rates, LENGTH(rates), pair->unit, scale))
		return METRIC_TOK_S;
	return METRIC_COUNT;
}

static const struct meaning *
find_meaning(const char *name)
{
	return bsearch(name, meanings, LENGTH(meanings), sizeof(*meanings),
		       compare_name);
}

/* A time of a step whose unit stands in its name; NULL: it is none. */
static const struct meaning *
find_with_unit(char *name, double *scale)
{
	size_t n = strlen(name);
	const struct meaning *row = NULL;

	for (size_t i = 0; row == NULL && i < LENGTH(name_starts); i++) {
		size_t k = strlen(name_starts[i].unit);

		if (strncmp(name, name_starts[i].unit, k) == 0) {
			row = find_meaning(name + k);
			*scale = name_starts[i].scale;
		}
	}
	for (size_t i = 0; row == NULL && i < LENGTH(name_ends); i++) {
		size_t k = strlen(name_ends[i].unit);

		if (n > k && strcmp(name + n - k, name_ends[i].unit) == 0) {
			name[n - k] = '\0';
			row = find_meaning(name);
			*scale = name_ends[i].scale;
		}
	}
	return row != NULL && row->unit == UNIT_TIME ? row : NULL;
}

bool
meaning_is_total_loss(struct str name)
{
	static const char *const names[] = {
		"total_loss", "train_total_loss", "loss_total",
		"step_loss",  "train_loss_step",  "loss_step",
	};
	char plain[NAME_BYTES];

	if (!plain_name(name, plain))
		return false;
	for (size_t i = 0; i < LENGTH(names); i++)
		if (strcmp(plain, names[i]) == 0)
			return true;
	return false;
}

enum metric
meaning_of(const struct pair *pair, double *scale)
{
	char name[NAME_BYTES];
	const struct meaning *row;
	bool good = false;

	*scale = 1;
	if (!plain_name(pair->name, name))
		return METRIC_COUNT;
	row = find_meaning(name);
	if (row == NULL && pair->unit.len == 0 && !isfinite(pair->total) &&
	    find_with_unit(name, scale) != NULL)
		return METRIC_STEP_MS;
	*scale = 1;
	/* "1234/1300 tok/s" is of two things; only a counter has a total. */
	if (isfinite(pair->total) &&
	    (row == NULL || row->metric != METRIC_STEP))
		return METRIC_COUNT;
	if (row == NULL)
		return meaning_of_unit(pair, name, scale);
	switch (row->unit) {
	case UNIT_NONE:
		good = pair->unit.len == 0;
		break;
	case UNIT_TIME:
		good = find_unit(times, LENGTH(times), pair->unit, scale) ||
		       find_unit(step_times, LENGTH(step_times), pair->unit,
				 scale);
		break;
	case UNIT_RATE:
		good = pair->unit.len == 0 ||
		       find_unit(rates, LENGTH(rates), pair->unit, scale) ||
		       find_unit(thousands, LENGTH(thousands), pair->unit,
				 scale);
		break;
	}
	return good ? row->metric : METRIC_COUNT;
}
