/* SPDX-License-Identifier: MIT */
/* Find the metric that a printed name and unit mean, if only one reading is possible. */
#include "parsers/meaning.h"

#include <math.h>
#include <pthread.h>

#include "base/map.h"

/* Size of a normal name: lower case, one "_" for "/", "-", ".", "(" and blanks, no ")". */
#define NAME_BYTES 40

/* The kinds of units that may follow a name. */
enum meaning_unit {
	UNIT_NONE, /* no unit */
	UNIT_TIME, /* a unit of time, which gives the scale */
	UNIT_RATE, /* no unit, or tokens per second */
};

/* The names of each metric, with one blank between them. */
static const struct meaning {
	enum metric metric;
	enum meaning_unit unit;
	const char *names;
} meanings[] = {
	{ METRIC_STEP, UNIT_NONE,
	  "completed_step cur_step current_step current_steps global_step "
	  "global_step_max_steps globalstep it iter iteration iters itr "
	  "num_updates step step_i steps train_global_step train_iter "
	  "train_iteration train_step trainer_global_step training_iteration "
	  "training_step update" },
	{ METRIC_VAL_LOSS, UNIT_NONE,
	  "dev_loss eval_loss evaluation_loss loss_val val_loss valid_loss "
	  "validation_loss validation_main_loss" },
	{ METRIC_STEP_MS, UNIT_TIME,
	  "dt elapsed_time_per_iteration iter_dt iter_time iteration_time "
	  "per_iter per_iteration per_step per_step_time step_time "
	  "time_per_iter time_per_iteration time_per_step "
	  "train_step_timing_in" },
	{ METRIC_TRAIN_LOSS, UNIT_NONE,
	  "gpt_loss lm_loss loss loss_train loss_train_total main_loss "
	  "reduced_train_loss train_lm_loss train_loss "
	  "train_loss_train_total training_loss trn_loss" },
	{ METRIC_TOK_S_DEVICE, UNIT_RATE,
	  "throughput_device_tokens_per_second tok_s_device tok_s_gpu "
	  "tokens_per_gpu_per_sec tokens_per_gpu_per_second "
	  "tokens_per_sec_per_device tokens_per_sec_per_gpu "
	  "tokens_per_second_per_device tokens_per_second_per_gpu "
	  "tokens_s_device tokens_s_gpu tokens_sec_device tokens_sec_gpu" },
	{ METRIC_TOK_S, UNIT_RATE,
	  "tok_per_s tok_per_sec tok_per_second tok_s tok_sec tok_second "
	  "tokens_per_s tokens_per_sec tokens_per_second tokens_s tokens_sec tokens_second" },
	{ METRIC_VAL_BPB, UNIT_NONE, "val_bpb validation_bpb" },
};

/* A unit and the factor to the metric's unit. */
struct unit_scale {
	const char *unit;
	double scale;
};

/* The last one is no unit in a name: "min_step_time" is a minimum. */
static const struct unit_scale times[] = {
	{ "ms", 1 },	    { "s", 1e3 },   { "sec", 1e3 }, { "secs", 1e3 },
	{ "seconds", 1e3 }, { "us", 1e-3 }, { "msec", 1 },  { "min", 6e4 },
};

/* Units of a step time under any name. */
static const struct unit_scale step_times[] = {
	{ "ms/step", 1 },  { "ms/it", 1 },	{ "ms/iter", 1 },    { "s/step", 1e3 },
	{ "s/iter", 1e3 }, { "sec/step", 1e3 }, { "sec/iter", 1e3 },
};

static const struct unit_scale rates[] = {
	{ "tok/s", 1 },	     { "tok/sec", 1 },	     { "tokens/s", 1 },
	{ "tokens/sec", 1 }, { "tokens/second", 1 }, { "toks/s", 1 },
};

/* Prefixes of a rate: "tokens/s: 19.5K". */
static const struct unit_scale thousands[] = { { "k", 1e3 }, { "K", 1e3 }, { "M", 1e6 } };

static bool find_unit(const struct unit_scale *units, size_t n, struct str unit, double *scale)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq_cstr(unit, units[i].unit))
			continue;
		*scale = units[i].scale;
		return true;
	}
	return false;
}

/* Find a unit of tokens per second, perhaps of thousands of tokens: "12.5K tok/s". */
static bool find_rate(struct str unit, double *scale)
{
	double by = 1;

	if (unit.len > 0 && find_unit(thousands, LENGTH(thousands), (struct str){ unit.p, 1 }, &by))
		unit = str_trim(str_skip(unit, 1));
	if (!find_unit(rates, LENGTH(rates), unit, scale))
		return false;
	*scale *= by;
	return true;
}

/* Write the normal form of a name; false if it is too long to be in the table. */
static bool normalize_name(struct str name, char out[NAME_BYTES])
{
	size_t n = 0;

	if (name.len >= NAME_BYTES)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (c == '/' || c == '-' || c == '.' || c == ' ' || c == '\t' || c == '(' ||
			 c == '\0')
			c = '_';
		if (c != ')' && (c != '_' || n == 0 || out[n - 1] != '_'))
			out[n++] = c;
	}
	out[n] = '\0';
	return true;
}

/* Find a metric by its unit: "time 36ms" is a step time; a "time" in seconds may be anything. */
static enum metric metric_by_unit(const struct pair *pair, const char *name, double *scale)
{
	bool nameless = *name == '\0';

	if (pair->unit.len == 0)
		return METRIC_COUNT;
	if ((nameless || strcmp(name, "throughput") == 0 || strcmp(name, "speed") == 0) &&
	    find_rate(pair->unit, scale))
		return METRIC_TOK_S;
	if ((nameless || strcmp(name, "time") == 0) &&
	    find_unit(step_times, LENGTH(step_times), pair->unit, scale))
		return METRIC_STEP_MS;
	return strcmp(name, "time") == 0 && str_eq_cstr(pair->unit, "ms") ? METRIC_STEP_MS
									  : METRIC_COUNT;
}

/* Index of the table: the row number of each name, from 1. */
static struct map meanings_by_name;

static void index_meanings(void)
{
	struct str rest, name;

	for (size_t i = 0; i < LENGTH(meanings); i++)
		for (rest = str_from(meanings[i].names); str_next(&rest, ' ', &name);)
			(void)map_set(&meanings_by_name, name, (void *)(uintptr_t)(i + 1));
}

static const struct meaning *find_meaning(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, index_meanings);
	uintptr_t number = (uintptr_t)map_get(&meanings_by_name, str_from(name));
	return number > 0 ? &meanings[number - 1] : NULL;
}

/* Find a step time whose name contains the unit; NULL: another name. */
static const struct meaning *find_with_unit(char *name, double *scale)
{
	char *first = strchr(name, '_'), *last = strrchr(name, '_');
	const struct meaning *row = NULL;

	if (first != NULL && find_unit(times, LENGTH(times) - 1, str_between(name, first), scale))
		row = find_meaning(first + 1);
	if (row == NULL && last != NULL &&
	    find_unit(times, LENGTH(times) - 1, str_from(last + 1), scale)) {
		*last = '\0';
		row = find_meaning(name);
	}
	/* "step_s" may be steps per second, and "update_ms" the time of a part of a step. */
	return row != NULL && (row->unit == UNIT_TIME ||
			       (*scale == 1.0 &&
				str_is_among(str_from(name), "step iter iteration")))
		       ? row
		       : NULL;
}

static bool name_is_among(struct str name, const char *names)
{
	char plain[NAME_BYTES];

	return normalize_name(name, plain) && str_is_among(str_from(plain), names);
}

bool meaning_is_mean_loss(struct str name)
{
	return name_is_among(name, "average_loss avg_loss mean_loss");
}

bool meaning_is_setting(struct str name)
{
	return name_is_among(name, "lr learning_rate lr_scale lr_mult wd weight_decay momentum "
				   "beta beta1 beta2 eps epsilon gamma dropout warmup batch bs "
				   "batch_size global_batch_size micro_batch_size seq_len seqlen "
				   "seq_length sequence_length max_seq_len max_len max_length "
				   "block_size context context_length ctx_len image_size "
				   "resolution loss_scale loss_weight weight factor multiplier");
}

bool meaning_is_total_loss(struct str name)
{
	return name_is_among(name, "batch_loss total_loss train_total_loss loss_total step_loss "
				   "train_loss_step loss_step loss_total_loss");
}

enum metric meaning_of(const struct pair *pair, double *scale)
{
	char name[NAME_BYTES];
	bool good;

	*scale = 1;
	if (!normalize_name(pair->name, name))
		return METRIC_COUNT;
	const struct meaning *row = find_meaning(name);
	if (row == NULL && pair->unit.len == 0 && !isfinite(pair->total) &&
	    find_with_unit(name, scale) != NULL)
		return METRIC_STEP_MS;
	*scale = 1;
	/* "1234/1300 tok/s" is not a value of the metric; only a counter has a total */
	if (isfinite(pair->total) && (row == NULL || row->metric != METRIC_STEP))
		return METRIC_COUNT;
	if (row == NULL)
		return metric_by_unit(pair, name, scale);
	if (row->unit == UNIT_TIME)
		good = find_unit(times, LENGTH(times), pair->unit, scale) ||
		       find_unit(step_times, LENGTH(step_times), pair->unit, scale);
	else
		good = pair->unit.len == 0 ||
		       (row->unit == UNIT_RATE &&
			(find_rate(pair->unit, scale) ||
			 find_unit(thousands, LENGTH(thousands), pair->unit, scale)));
	return good ? row->metric : METRIC_COUNT;
}
