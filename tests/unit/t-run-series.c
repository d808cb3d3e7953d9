/* SPDX-License-Identifier: MIT */
/* Series and samples that come from the named numbers of rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "parsers/json.h"
#include "parsers/run_apply.h"
#include "parsers/run_series.h"
#include "tests/support/tap.h"

/* The samples of a run, each as "name=value@step;". */
static void note_sample(void *user, const struct run *run, const struct sample *sample)
{
	char label[SERIES_LABEL_BYTES];

	(void)run;
	buf_appendf(user, "%s=%g@%g;", series_label(sample->metric, sample->name, label),
		    sample->value, sample->step);
}

static struct record_pair pair(const char *name, double value, enum metric metric, double scale)
{
	return (struct record_pair){ .name = str_from(name),
				     .unit = STR_LIT(""),
				     .value = value,
				     .metric = metric,
				     .scale = scale };
}

static struct record_pair own(const char *name, double value)
{
	return pair(name, value, METRIC_COUNT, 1);
}

/* Apply a row with that step and these pairs. */
static void apply(struct run_state *state, struct buf *samples, double step,
		  const struct record_pair *pairs, size_t n)
{
	static const struct rule rule = { .kind = RULE_TRAIN };
	const struct run_sink sink = { note_sample, NULL, samples };
	const struct log_line place = { .line = (uint64_t)step + 1, .text = STR_LIT("a row") };
	struct record record = {
		.rule = &rule, .present = (uint64_t)1 << METRIC_STEP, .n_pairs = n, .pairs = pairs
	};

	record.values[METRIC_STEP] = step;
	for (size_t i = n; i-- > 0;) {
		if (pairs[i].metric == METRIC_COUNT)
			continue;
		record.present |= (uint64_t)1 << pairs[i].metric;
		record.values[pairs[i].metric] = pairs[i].value * pairs[i].scale;
	}
	run_state_apply(state, &record, &place, &sink);
}

/* Compare entry i of `metrics` with `want`. */
static void is_metric(const struct run *run, int i, const char *want)
{
	cJSON *all = run_series_to_json(run);
	struct buf got;

	buf_init(&got, 4096);
	json_print(&got, cJSON_GetArrayItem(all, i));
	is_str(got.data, want, want);
	buf_release(&got);
	cJSON_Delete(all);
}

static void test_rows(void)
{
	struct run_state state;
	struct buf samples;

	run_state_init(&state);
	buf_init(&samples, 1 << 16);
	apply(&state, &samples, 1,
	      (struct record_pair[]){ pair("lm loss", 4.5, METRIC_TRAIN_LOSS, 1),
				      own("grad norm", (double)NAN),
				      pair("elapsed (s)", 0.25, METRIC_STEP_MS, 1000) },
	      3);
	apply(&state, &samples, 2,
	      (struct record_pair[]){ pair("lm loss", 4, METRIC_TRAIN_LOSS, 1), own("grad norm", 2),
				      pair("elapsed (s)", 0.5, METRIC_STEP_MS, 1000),
				      pair("val loss", 4.25, METRIC_VAL_LOSS, 1) },
	      4);
	is_str(samples.data,
	       "step_ms=250@1;train_loss=4.5@1;"
	       "grad norm=2@2;step_ms=500@2;train_loss=4@2;val_loss=4.25@2;",
	       "samples are in the units of metrics, and NaN gives no sample");
	ok(run_series_last(run_series_find(&state.run, "elapsed (s)"), "elapsed (s)") == 0.5 &&
		   run_series_last(run_series_find(&state.run, "step_ms"), "step_ms") == 500,
	   "a series is found by its printed name and by its metric's name");
	ok(run_series_find(&state.run, "loss") == NULL, "a part of a name finds nothing");
	ok(state.run.last_train_loss == 4 && state.run.last_val_loss == 4.25,
	   "the pairs set the metrics of the run");
	is_metric(&state.run, 0,
		  "{\"name\":\"lm loss\",\"unit\":null,"
		  "\"metric\":\"train_loss\",\"points\":2,\"first\":4.5,"
		  "\"last\":4,\"min\":4,\"max\":4.5,\"min_step\":2}");
	is_metric(&state.run, 1,
		  "{\"name\":\"grad norm\",\"unit\":null,\"metric\":null,"
		  "\"points\":1,\"first\":2,\"last\":2,\"min\":2,\"max\":2,"
		  "\"min_step\":2}");
	is_metric(&state.run, 2,
		  "{\"name\":\"elapsed (s)\",\"unit\":null,"
		  "\"metric\":\"step_ms\",\"points\":2,\"first\":0.25,"
		  "\"last\":0.5,\"min\":0.25,\"max\":0.5,\"min_step\":1}");
	buf_release(&samples);
	run_state_release(&state);
}

/* Names that could be confused. */
static void test_alike(void)
{
	struct run_state state;
	struct buf samples;

	run_state_init(&state);
	buf_init(&samples, 1 << 16);
	apply(&state, &samples, 1,
	      (struct record_pair[]){ own("train_loss", 9), own("Loss", 1), own("loss", 2),
				      own("loss", 3), pair("a", 5, METRIC_TRAIN_LOSS, 1),
				      pair("b", 6, METRIC_TRAIN_LOSS, 1) },
	      6);
	is_str(samples.data,
	       "train_loss (printed)=9@1;Loss=1@1;loss=2@1;b=6@1;"
	       "train_loss=5@1;",
	       "a name like a metric's, names that differ in case, a repeated name, two numbers "
	       "for one metric");
	ok(state.run.last_train_loss == 5 && state.run.n_series == 5,
	   "the first series with the metric gives its value");
	buf_release(&samples);
	run_state_release(&state);
}

static void test_hostile(void)
{
	static const char prefix[] = "a name of more bytes than are kept of on"
				     "e\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
	struct run run;
	struct run_series *a, *b;
	struct str unit = STR_LIT("");
	char name[128], shorter[SERIES_NAME_BYTES + 8];

	run_init(&run);
	a = run_series_get(&run, str_from("\x1b[31mred\xff\a\n"), unit, METRIC_COUNT);
	is_str(a->name, "\xc2\xb7[31mred\xef\xbf\xbd\xc2\xb7",
	       "names contain no control characters");
	ok(run_series_get(&run, STR_LIT(" \t "), unit, METRIC_COUNT) == NULL,
	   "a blank name gives no series");
	(void)snprintf(name, sizeof(name), "%sone", prefix);
	a = run_series_get(&run, str_from(name), unit, METRIC_COUNT);
	(void)snprintf(shorter, sizeof(shorter), "%s", a->name);
	(void)snprintf(name, sizeof(name), "%stwo", prefix);
	b = run_series_get(&run, str_from(name), unit, METRIC_COUNT);
	ok(run.n_series == 3 && strcmp(shorter, b->name) != 0,
	   "two long names with the same start differ: \"%s\", \"%s\"", shorter, b->name);
	is_str(utf8_clean(name, sizeof(name), str_from(b->name)), b->name,
	       "long names are cut at a character");
	for (int i = 0; i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "metric %d", i);
		a = run_series_get(&run, str_from(name), STR_LIT("ms"), METRIC_COUNT);
		if (a != NULL)
			run_series_add(a, i, i);
	}
	ok(run.n_series == RUN_MAX_SERIES && run.series_dropped == 10003 - RUN_MAX_SERIES,
	   "10,000 names: %zu series, %llu counted as dropped", run.n_series,
	   (unsigned long long)run.series_dropped);
	a = run_series_get(&run, STR_LIT("metric 3"), unit, METRIC_COUNT);
	ok(a != NULL && a->points == 1 && a->last == 3, "earlier series continue");
	run_release(&run);
}

int main(void)
{
	test_rows();
	test_alike();
	test_hostile();
	return tap_done();
}
