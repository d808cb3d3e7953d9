/* SPDX-License-Identifier: MIT */
/* Noise of repeated runs: measured, pooled, compared, its class and its register. */
#include "bench/noise_register.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/stats.h"
#include "report/facts_print.h"
#include "tests/support/tap.h"

/* Three healthy public runs of one workload, and three invented ones. */
static const struct noise_run runs[] = {
	{ 572.726271, 0, 0, false }, { 572.839963, 60, 0, true }, { 572.810386, 180, 1, false },
	{ 573.4, 120, 1, true },     { 572.2, 240, 2, false },	  { 572.9, 300, 2, true },
};

static void test_measure(void)
{
	struct noise noise;

	noise_measure(&noise, runs, 6);
	is_int((long long)noise.n_runs, 6, "six runs");
	is_int((long long)noise.n_blocks, 3, "three blocks");
	is_near(noise.df, 5, 0, "df is the number of runs - 1");
	is_near(noise.sd, 0.0006698900305336, 1e-9, "sd of ln y");
	is_near(noise.sd_block, 0.000544025456108287, 1e-9, "sd of the blocks' differences");
	is_near(noise.span_s, 300, 0, "span from the first to the last start");
	is_near(noise_mde(&noise, 3) / noise.sd_block, 3.42, .02,
		"smallest detectable difference of 3 blocks");
	is_near(noise_mde(&noise, 6) / noise.sd_block, 1.66, .02,
		"smallest detectable difference of 6 blocks");
	is_near(noise_mde(&noise, 10) / noise.sd_block, 1.11, .03,
		"smallest detectable difference of 10 blocks");
}

static void test_few(void)
{
	struct noise_run some[] = { runs[0], runs[2], runs[4] };
	struct noise noise;

	noise_measure(&noise, some, 3);
	is_near(noise.sd_block, (double)NAN, 0, "one pair has no spread of pairs");
	is_near(noise_mde(&noise, 6), 1.66 * noise.sd * M_SQRT2, 1e-5,
		"with one pair, the smallest difference follows from the runs' spread");
	noise_measure(&noise, some, 1);
	is_near(noise.sd, (double)NAN, 0, "one run has no spread");
	is_near(noise_mde(&noise, 6), (double)NAN, 0,
		"one run has no smallest detectable difference");
	some[1].y = (double)NAN;
	noise_measure(&noise, some, 3);
	is_int((long long)noise.n_runs, 2, "runs without a value are ignored");
	noise_measure(&noise, runs, 0);
	is_int((long long)noise.n_runs, 0, "no noise without runs");
	is_near(noise.mean, (double)NAN, 0, "the mean is absent, not 0");
}

/* Three runs of each arm per block, which counts by their medians as in a verdict. */
static void test_several(void)
{
	static const double a[3][3] = { { 100, 101, 102 }, { 100, 100, 100 }, { 103, 99, 101 } };
	struct noise_run some[18];
	struct noise noise;
	size_t n = 0;

	for (size_t block = 0; block < 3; block++)
		for (size_t k = 0; k < 3; k++) {
			some[n++] = (struct noise_run){ a[block][k], 0, block, false };
			some[n++] = (struct noise_run){ k == 1 ? 700 : 100, 0, block, true };
		}
	noise_measure(&noise, some, n);
	is_int((long long)noise.n_runs, 18, "all runs count");
	is_int((long long)noise.n_blocks, 3, "three blocks, not nine");
	is_near(noise.sd_block, 0.00574486, 1e-6,
		"spread of the medians, which one outlier does not change");
	some[1].y = (double)NAN;
	noise_measure(&noise, some, n);
	is_int((long long)noise.n_blocks, 2, "a block that lost a run does not count");
}

static void test_drift(void)
{
	struct noise_run some[8];
	struct noise noise;

	for (size_t i = 0; i < 8; i++)
		some[i] = (struct noise_run){ 100 * exp(0.0001 * (double)i),
					      1.7e9 + 60.0 * (double)i, i / 2, i % 2 == 1 };
	noise_measure(&noise, some, 8);
	is_near(noise.drift, 0.0007, 1e-8, "drift over the whole span");
	ok(noise.drift_p < 1e-6, "the drift is significant");
	for (size_t i = 0; i < 8; i++)
		some[i].t0_s = (double)NAN;
	noise_measure(&noise, some, 8);
	is_near(noise.drift, (double)NAN, 0, "no drift without times");
}

static void test_pool(void)
{
	struct noise total = { 0 }, one, two;

	one = (struct noise){ .n_runs = 8,
			      .n_blocks = 4,
			      .mean = 6,
			      .sd = 0.004,
			      .df = 7,
			      .sd_block = 0.003,
			      .drift = 0.01,
			      .run_s = 10 };
	two = (struct noise){ .n_runs = 6,
			      .n_blocks = 3,
			      .mean = 6.1,
			      .sd = 0.002,
			      .df = 5,
			      .sd_block = 0.001,
			      .drift = -0.01,
			      .run_s = 12 };
	noise_pool(&total, &one);
	noise_pool(&total, &two);
	is_int((long long)total.n_runs, 14, "numbers of runs are added");
	is_near(total.df, 12, 0, "degrees of freedom are added");
	is_near(total.sd, sqrt((7 * 16e-6 + 5 * 4e-6) / 12), 1e-12,
		"variances are pooled by degrees of freedom");
	is_near(total.sd_block, sqrt((3 * 9e-6 + 2 * 1e-6) / 5), 1e-12,
		"block variances are pooled by numbers of blocks");
	is_near(total.mean, 6.1, 0, "the level of the newer noise is kept");
	is_near(total.drift, -0.01, 0, "the drift of the newer noise is kept");
}

static void test_compare(void)
{
	struct noise a = { .sd = 0.0025, .df = 1 }, b = { .sd = 0.001, .df = 5 };

	/* F with 1 and 5 degrees of freedom is the square of t with 5. */
	is_near(noise_compare(&a, &b), 2 * 0.0544900993424, 1e-9, "p of the two-sided F test");
	is_near(noise_compare(&b, &a), 2 * 0.0544900993424, 1e-9,
		"the order of the two noises does not matter");
	b = a;
	ok(noise_compare(&a, &b) > 0.9, "equal spreads are not significant");
	b.sd = (double)NAN;
	is_near(noise_compare(&a, &b), (double)NAN, 0, "unknown noise gives no p");
}

#define PLAN_FORMAT                                                            \
	"{\"schema\":\"hgym.bench/1\",\"name\":\"n\",\"workload\":{\"cwd\":"   \
	"\"/w\",\"command\":\"sh go.sh\",\"env\":{\"A\":\"1\",\"B\":\"2\"}%s}" \
	",\"metric\":{\"key\":\"step_ms\"},\"variants\":[{\"tag\":\"A\","      \
	"\"control\":true,\"env\":{%s}},{\"tag\":\"B\"%s}],\"pods\":[{\"id\":" \
	"\"p\",\"transport\":\"local\",\"gpus\":[0,2]}]}"

static struct plan make_plan(const char *workload, const char *env, const char *variant)
{
	struct err err = { ERR_NONE, "" };
	struct plan plan;
	char text[1024];

	(void)snprintf(text, sizeof(text), PLAN_FORMAT, workload, env, variant);
	if (plan_parse(&plan, "t.json", str_from(text), &err) != 0) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return plan;
}

static const char *class_of(const char *workload, const char *env, const char *variant, size_t arm)
{
	static char name[NOISE_CLASS_SIZE];
	struct plan plan = make_plan(workload, env, variant);

	noise_class(&plan, arm, name);
	plan_release(&plan);
	return name;
}

static bool is_shared(const char *workload, const char *variant)
{
	struct plan plan = make_plan(workload, "", variant);
	bool shared = noise_is_shared(&plan, 1);

	plan_release(&plan);
	return shared;
}

static void test_class(void)
{
	char first[NOISE_CLASS_SIZE];
	struct plan plan;

	(void)snprintf(first, sizeof(first), "%s", class_of("", "", "", 0));
	is_int((long long)strlen(first), 8 + 12, "a class is the metric and 12 digits");
	is_str(class_of("", "", "", 1), first, "the same workload has the same class");
	is_str(class_of("", "\"A\":\"1\"", "", 0), first,
	       "an equivalent environment has the same class");
	ok(strcmp(class_of("", "\"A\":\"2\"", "", 0), first) != 0,
	   "another environment has another class");
	is_str(class_of(",\"commit\":\"abc\"", "", "", 0), first,
	       "another commit has the same class");
	is_str(class_of(",\"noise_class\":\"train\"", "", "", 0), "train",
	       "a class named in the bench file");
	plan = make_plan(",\"noise_class\":\"train\"", "", "");
	plan.reps = 3;
	noise_class(&plan, 0, first);
	plan_release(&plan);
	is_str(first, "train-x3", "blocks of three runs have another class");
	is_str(class_of(",\"noise_class\":\"train\"", "", ",\"noise_class\":\"graphs\"", 1),
	       "graphs", "the variant of a bench shares the class");
	ok(is_shared("", ",\"env\":{\"A\":\"3\"}"),
	   "the control's noise applies to a variant with other settings");
	ok(!is_shared("", ",\"command\":\"sh other.sh\""),
	   "the control's noise does not apply to another command");
	ok(!is_shared("", ",\"numerics\":\"changed\""),
	   "the control's noise does not apply to other numerics");
	ok(!is_shared(",\"noise_class\":\"train\"", ",\"noise_class\":\"graphs\""),
	   "the control's noise does not apply to another class");
	ok(is_shared(",\"noise_class\":\"t\"", ",\"noise_class\":\"t\",\"command\":\"sh x.sh\""),
	   "the control's noise applies to a variant that names the control's class");
}

static void test_verdict(void)
{
	static const char text[] =
		"{\"runs\":["
		"{\"pod\":\"p\",\"tag\":\"A\",\"block\":0,\"counted\":true,"
		"\"value\":100,\"t0\":\"2026-11-20T21:00:00Z\","
		"\"t1\":\"2026-11-20T21:01:00Z\",\"guards\":[]},"
		"{\"pod\":\"p\",\"tag\":\"A~aa\",\"block\":0,\"counted\":true,"
		"\"value\":101,\"t0\":\"2026-11-20T21:02:00Z\","
		"\"t1\":\"2026-11-20T21:03:10Z\",\"guards\":[]},"
		"{\"pod\":\"p\",\"tag\":\"B\",\"block\":0,\"counted\":true,"
		"\"value\":50},"
		"{\"pod\":\"p\",\"tag\":\"A\",\"block\":1,\"counted\":true,"
		"\"value\":900,\"guards\":[{\"hard\":true}]},"
		"{\"pod\":\"q\",\"tag\":\"A\",\"block\":1,\"counted\":true,"
		"\"value\":7},"
		"{\"pod\":\"p\",\"tag\":\"A~aa\",\"block\":1,\"counted\":false,"
		"\"value\":7},"
		"{\"pod\":\"p\",\"tag\":\"A~aa\",\"block\":2,\"counted\":true,\"value\":null}]}";
	static const char env[] = "host h\nkernel Linux 6.1\n"
				  "gpu 0, NVIDIA H200, 570.1, 1 MiB, 0 %, 1980 MHz, GPU-a\n"
				  "gpu 1, NVIDIA B200, 999, 1 MiB, 0 %, 1980 MHz, GPU-b\n"
				  "gpu 2, NVIDIA H200, 570.1, 1 MiB, 0 %, 1980 MHz, GPU-c\n"
				  "torch 2.9.1\n";
	struct plan plan = make_plan("", "", "");
	cJSON *verdict = json_parse(str_from(text), JSON_BARE_REFUSED, NULL);
	struct noise_of_pod one;

	ok(noise_from_verdict(&one, &plan, 0, verdict, str_from(env)),
	   "noise is read from the A/A runs of a verdict");
	is_int((long long)one.noise.n_runs, 2, "only runs that count are included");
	is_near(one.noise.sd_block, (double)NAN, 0, "one block has no spread of blocks");
	is_near(one.noise.run_s, 70, 0, "a pause of the bench is not part of a run's time");
	plan.gap_s = 60;
	(void)noise_from_verdict(&one, &plan, 0, verdict, str_from(env));
	is_near(one.noise.run_s, 65, 0, "seconds per run, without the gap");
	is_str(one.gpu, "NVIDIA H200", "the names of the GPUs");
	is_str(one.gpus, "0,2", "the indices of the GPUs");
	is_str(one.gpu_id, "GPU-a,GPU-c", "the UUIDs of the GPUs");
	is_str(one.driver, "570.1", "the driver");
	is_str(one.image, "kernel Linux 6.1, torch 2.9.1", "the image");
	plan.aa = false;
	ok(noise_from_verdict(&one, &plan, 0, verdict, str_from("")) && one.noise.n_runs == 1 &&
		   one.noise.n_blocks == 0,
	   "without an A/A arm only the control's runs, without blocks");
	cJSON_Delete(verdict);
	plan_release(&plan);
}

/* The history of a bench's control in its report. */
static void test_history_facts(void)
{
	struct noise_entry v[3] = { 0 };
	const struct noise_register history = { .v = v, .n = 3 };
	const char *ids[] = { "one-1", "one-2", "two-1" };
	struct facts facts = { .n = 0 };
	AUTO_BUF text = buf_new(4096);

	for (size_t i = 0; i < 3; i++) {
		v[i].pod = xstrdup("p1");
		v[i].class_name = xstrdup(i < 2 ? "w" : "x");
		v[i].bench = xstrdup(ids[i]);
		v[i].noise.mean = log(100.0 + 3.0 * (double)i);
		v[i].before = (double)NAN;
	}
	v[1].before = log(100.0);
	v[1].after = log(103.0);
	(void)snprintf(v[1].why, sizeof(v[1].why), "; driver 570 -> 580");
	noise_history_facts(&facts, &history, "two-1");
	is_int((long long)facts.n, 0, "no history for a single bench");
	noise_history_facts(&facts, &history, "one-1");
	facts_print_text(&text, &facts);
	ok(strstr(text.data, "100  one-1 on p1\n") != NULL &&
		   strstr(text.data, "103  one-2 on p1: +3.00% from here; driver 570 -> 580") !=
			   NULL &&
		   strstr(text.data, "two-1") == NULL,
	   "a history for two benches, with what changed: %s", text.data);
	facts_release(&facts);
	for (size_t i = 0; i < 3; i++) {
		free(v[i].pod);
		free(v[i].class_name);
		free(v[i].bench);
	}
}

int main(void)
{
	test_measure();
	test_few();
	test_several();
	test_drift();
	test_pool();
	test_compare();
	test_class();
	test_verdict();
	test_history_facts();
	return tap_done();
}
