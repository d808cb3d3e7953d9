/* SPDX-License-Identifier: MIT */
/* Tests of the judge: outliers, clocks and other validity checks, several runs per block, the best
 * variant, pods, health files. */
#include "bench/judge.h"

#include <string.h>

#include "bench/verdict_json.h"
#include "report/facts_print.h"

#include "tests/support/tap.h"

#define BLOCKS 6
#define MAX    (2 * BLOCKS * 4)

/* A bench with scores: create its runs, judge them, look at the result, release it. */
struct bench {
	struct format_set *formats;
	struct run_log logs[MAX];
	struct judge_run runs[MAX];
	struct health_sum health[MAX];
	size_t n;
	struct judge judge;
};

static const struct judge_arm arms[] = { { .tag = "A" }, { .tag = "B" } };

static void add(struct bench *b, size_t arm, size_t block, size_t rep, double us)
{
	const struct run_log_rule how = { .formats = b->formats,
					  .force = true,
					  .kind = RUN_LOG_SCORE,
					  .score_key = "median_us" };
	char text[200];

	(void)snprintf(
		text, sizeof(text),
		"{\"status\": \"passed\", \"verified\": true, \"score\": %.6f, \"median_us\": "
		"%.6f}",
		us, us);
	if (run_log_parse(&b->logs[b->n], "x", str_from(text), &how, NULL) != 0)
		return;
	b->health[b->n] = (struct health_sum){
		.sm_mhz = 1980,
		.util_pct = 97,
		.wait_s = 0.01,
		.n_gpu = 3,
		.temp_c = 40,
		.power_w = 300,
		.power_cap_share = 0,
		.busy_cores = 1.1,
		.steal_s = 0,
		.quota_s = 0,
		.cores = 16,
		.took_s = (double)NAN,
	};
	b->runs[b->n] = (struct judge_run){
		.arm = arm,
		.block = block,
		.rep = rep,
		.counted = true,
		.state = RUN_STATE_VERIFIED,
		.log = &b->logs[b->n],
		.runtime = "python /usr/bin/python3.11; torch 2.9.1",
		.health = &b->health[b->n],
	};
	b->n++;
}

/* Scores of about 33 for A and 59 for B. Run `stalled` of A took 197, as once observed on a GPU. */
static struct bench *make(size_t reps, size_t stalled)
{
	static const double a[] = { 33.12, 33.28, 32.86, 32.88, 33.04, 32.95 };
	static const double v[] = { 59.92, 59.58, 59.70, 59.36, 59.26, 59.71 };
	static struct bench b;

	b = (struct bench){ .formats = format_set_new_builtin() };
	for (size_t block = 0; block < BLOCKS; block++)
		for (size_t rep = 0; rep < reps; rep++) {
			size_t i = (block + rep) % BLOCKS;

			add(&b, 0, block, rep, b.n == stalled ? 197.136 : a[i]);
			add(&b, 1, block, rep, v[i]);
		}
	return &b;
}

static const struct judge_contrast *judged(struct bench *b)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;

	judge_init(&b->judge, &rule, arms, 2, b->runs, b->n);
	return &b->judge.contrasts[0];
}

static void print_report(struct buf *out, const cJSON *verdict)
{
	struct facts facts = { .n = 0 };

	report_facts(&facts, verdict);
	facts_print_text(out, &facts);
	facts_release(&facts);
}

static void print(struct buf *out, const struct judge *judge, const struct verdict_info *info)
{
	cJSON *verdict = verdict_to_json(judge, info);

	print_report(out, verdict);
	cJSON_Delete(verdict);
}

/* Give a member the key that older versions wrote. */
static void rename_key(cJSON *object, const char *key, const char *old)
{
	cJSON *member = cJSON_DetachItemFromObjectCaseSensitive(object, key);

	cJSON_AddItemToObject(object, old, member);
}

/* The verdict of an older version gives the same report. */
static void test_old_keys(const struct judge *judge, const struct verdict_info *info)
{
	AUTO_BUF now = buf_new(1U << 16), before = buf_new(1U << 16);
	cJSON *verdict = verdict_to_json(judge, info), *c, *run;

	print_report(&now, verdict);
	cJSON_ArrayForEach(c, cJSON_GetObjectItem(verdict, "contrasts"))
	{
		rename_key(c, "widened", "swollen");
		cJSON_ArrayForEach(run, cJSON_GetObjectItem(c, "outliers"))
			rename_key(run, "widens_interval", "blows_up");
	}
	print_report(&before, verdict);
	is_str(before.data, now.data, "a verdict with the older keys gives the same report");
	cJSON_Delete(verdict);
}

static void done(struct bench *b)
{
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i++)
		run_log_release(&b->logs[i]);
	format_set_free(b->formats);
}

static void test_stalled(void)
{
	struct verdict_info info = { .metric = "median_us", .cost_usd = (double)NAN };
	struct bench *b = make(1, 6);
	const struct judge_contrast *c;
	struct judge_run *run = &b->runs[6];
	struct buf out;

	b->health[6].util_pct = 31;
	b->health[6].wait_s = 2.1;
	c = judged(b);
	ok(c->verdict.word == VERDICT_NO_DIFFERENCE && c->n_blocks == BLOCKS,
	   "one stalled run of twelve hides the difference, as no run is removed");
	ok(run->outlier && fabs(run->times_median - 5.96) < 0.02,
	   "the stalled run is an outlier, %.2f times its arm's median", run->times_median);
	ok(run->z > 100.0, "the stalled run's robust z is %.0f", run->z);
	is_str(run->seen, "GPU utilization 31% (others 97); waited for a CPU 2.10 s (others 0.01)",
	       "the telemetry of the stalled run is described");
	ok(c->widened && array_count(one, b->runs, b->n, one->outlier) == 1 && c->n_agree == 5,
	   "the verdict reports the widened interval");
	ok(fabs(100.0 * expm1(c->paired.hl) + 44.5) < 0.5,
	   "the Hodges-Lehmann estimate is not affected: %.2f%%", 100.0 * expm1(c->paired.hl));
	size_t need = judge_blocks_to_show(&b->judge, c, fabs(c->paired.hl));
	ok(need > BLOCKS && need < 40, "%zu blocks would show the difference", need);
	buf_init(&out, 1U << 16);
	print(&out, &b->judge, &info);
	ok(strstr(out.data, "1 of 12 runs is an outlier.") != NULL,
	   "the report counts the outliers that widen the interval");
	ok(strstr(out.data, "Less affected: Hodges-Lehmann") < strstr(out.data, "block 1") &&
		   strstr(out.data, "Less affected: Hodges-Lehmann") != NULL,
	   "the report gives the robust estimate before the table of blocks");
	ok(strstr(out.data, "medians -44.53%, minima -44.55%") != NULL,
	   "medians and minima have the sign of the speed-up");
	test_old_keys(&b->judge, &info);
	ok(strstr(out.data, "5.96 times its arm's median") != NULL, "the report names the outlier");
	buf_release(&out);
	done(b);
}

static void test_quiet(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c = judged(b);

	ok(c->verdict.word == VERDICT_SLOWER && !c->widened,
	   "without the stall there is a verdict: %s", c->verdict.text);
	ok(c->n_agree == BLOCKS, "all blocks agree");
	done(b);
}

static void test_unexplained(void)
{
	struct bench *b = make(1, 6);

	(void)judged(b);
	is_str(b->runs[6].seen, "its telemetry resembles the arm's other runs",
	       "a stall that telemetry does not explain");
	judge_release(&b->judge);
	b->runs[6].health = NULL;
	(void)judged(b);
	is_str(b->runs[6].seen, "no telemetry", "a stall without telemetry");
	done(b);
}

static void test_several(void)
{
	struct bench *b = make(3, 6);
	const struct judge_contrast *c = judged(b);

	ok(c->verdict.word == VERDICT_SLOWER && c->n_blocks == BLOCKS,
	   "three runs per block, one of them stalled: %s", c->verdict.text);
	ok(b->runs[6].outlier && array_count(one, b->runs, b->n, one->outlier) == 1,
	   "the stalled run is still an outlier");
	is_near(c->blocks[1].control, 32.88, 1e-12,
		"the value of a block is the median of its runs");
	judge_release(&b->judge);
	b->runs[2].hits.n = 0;
	guard_add(&b->runs[2].hits, GUARD_LOST, true, "gone");
	c = judged(b);
	ok(c->n_blocks == BLOCKS - 1 && b->judge.n_dropped == 1,
	   "a lost run invalidates its block");
	done(b);
}

/* B's log counts 38 s for a window that took as long as A's 46 s. */
static void test_log_clock(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;

	for (size_t i = 0; i < b->n; i++) {
		b->health[i].printed_s = i % 2 == 1 ? 38 : 46;
		b->health[i].shown_least_s = 45;
		b->health[i].shown_most_s = 47;
	}
	c = judged(b);
	ok(c->hits.n == 1 && c->hits.hit[0].guard == GUARD_LOG_CLOCK && !c->hits.hit[0].hard,
	   "a warning if the log's clock contradicts the pod's");
	is_str(c->hits.hit[0].text,
	       "window: 38.00 s by the log's clock, 45.00 to 47.00 s by the pod's clock; control: "
	       "46.00 s, and 45.00 to 47.00 s",
	       "the warning has both clocks of both arms");
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s = 37;
		b->health[i].shown_most_s = 39;
	}
	is_int((long long)judged(b)->hits.n, 0, "no warning if the clocks agree");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i += 2)
		b->health[i].shown_least_s = b->health[i].shown_most_s = 0.1;
	is_int((long long)judged(b)->hits.n, 0, "rows that appeared at once are not evidence");
	judge_release(&b->judge);
	/* B's log claims 3 % more speed than it has, with samples once a second. */
	for (size_t i = 0; i < b->n; i++) {
		b->health[i].printed_s = i % 2 == 1 ? 388 : 400;
		b->health[i].shown_least_s = 399;
		b->health[i].shown_most_s = 401;
	}
	is_int((long long)judged(b)->hits.n, 0,
	       "a difference of 3 %% may be a pause that the log does not count");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i++)
		b->health[i].paced = true;
	c = judged(b);
	ok(c->hits.n == 1 && c->hits.hit[0].guard == GUARD_LOG_CLOCK,
	   "a difference of 3 %% is a hit if rows came one by one");
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s = 391;
		b->health[i].shown_most_s = 393;
	}
	is_int((long long)judged(b)->hits.n, 0, "clocks may differ by 2 s of 400");
	done(b);
}

/* Stamps are accurate to a hundredth of a second; one arm's clock is off by 3 %. */
static void test_log_clock_stamped(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;

	for (size_t i = 0; i < b->n; i++)
		b->health[i].paced = true;
	for (size_t k = 0; k < 4; k++) {
		size_t arm = k & 1;

		for (size_t i = 0; i < b->n; i++) {
			b->health[i].printed_s = i % 2 == arm ? 19.4 : 20;
			b->health[i].shown_least_s = 19.99;
			b->health[i].shown_most_s = 20.01;
			b->health[i].stamped = k < 2 || i % 2 == 1;
		}
		c = judged(b);
		ok(c->hits.n == (k < 2 ? 1 : 0) &&
			   (k >= 2 || (c->hits.hit[0].hard && c->verdict.word == VERDICT_INVALID)),
		   "clock of %s is 3 %% fast: %s", arm == 0 ? "one arm" : "the other arm",
		   k < 2 ? "INVALID" : "no hit without stamps");
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++) {
		b->health[i].stamped = true;
		b->health[i].printed_s = i % 2 == 1 ? 19.7 : 20;
	}
	is_int((long long)judged(b)->hits.n, 0, "clocks may differ by 0.3 s of 20");
	done(b);
}

/* A window of 2 s with a clock that is off by 5 %. */
static void test_log_clock_short(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;

	for (size_t i = 0; i < b->n; i++) {
		double z = 0.01 * (double)(i / 2 % 3);

		b->health[i].paced = b->health[i].stamped = true;
		b->health[i].printed_s = i % 2 == 1 ? 1.9 : 2;
		b->health[i].shown_least_s = 1.99 + z;
		b->health[i].shown_most_s = 2.03 + z;
		b->logs[i].score.value = i % 2 == 1 ? 95 : 100 + z;
	}
	c = judged(b);
	ok(c->verdict.word == VERDICT_INVALID && c->hits.hit[0].hard,
	   "a gain that only the logs show is INVALID, even in a short window: %s",
	   c->verdict.text);
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s -= 0.09;
		b->health[i].shown_most_s -= 0.09;
	}
	is_int((long long)judged(b)->hits.n, 0, "no hit for a gain that both clocks show");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i++) { /* uptime of the pod */
		b->health[i].shown_least_s = -68310 + (i % 2 == 1 ? .2 : 0);
		b->health[i].shown_most_s = 68310;
	}
	is_int((long long)judged(b)->hits.n, 0, "no hit if no stamp bounds the window");
	done(b);
}

static void test_log_clock_run(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;

	for (size_t i = 0; i < b->n; i++) {
		b->health[i].paced = b->health[i].stamped = true;
		b->health[i].printed_s = i % 2 == 1 ? 1.9 : 2;
		b->logs[i].score.value = i % 2 == 1 ? 95 : 100 + 0.01 * (double)(i / 2 % 3);
		b->health[i].shown_least_s = b->health[i].shown_most_s = 0.1;
		b->health[i].took_s = i % 2 == 1 ? 0.5 : 2.5;
	}
	for (size_t i = 0; i < b->n; i += 2)
		b->runs[i].counted = false;
	is_int((long long)judged(b)->hits.n, 0,
	       "no hit if the run's length of only one arm is known");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i += 2)
		b->runs[i].counted = true;
	for (size_t arm = 0; arm < 2; arm++) {
		for (size_t i = 0; i < b->n; i++)
			b->health[i].took_s = i % 2 == arm ? 0.5 : 2.5;
		c = judged(b);
		ok(c->verdict.word == VERDICT_INVALID && c->hits.hit[0].hard,
		   "INVALID if a window is longer than its run: %s", c->verdict.text);
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++)
		b->health[i].took_s = 0.5;
	is_int((long long)judged(b)->hits.n, 0,
	       "no hit if both windows are longer than their runs");
	done(b);
}

/* Rows that appeared at once claim a gain of 3 s in 60 s.  Do whole runs confirm it? */
static void test_whole_runs(void)
{
	static const struct {
		double gained_s;
		bool seen;
		const char *what;
	} cases[] = { { 3.0, true, "faster, buffered output" },
		      { 2.0, true, "faster, compiles 1 s longer" },
		      { 0.05, false, "wrong clock" },
		      { -1.0, false, "faster, compiles 4 s longer" } };
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;

	for (size_t k = 0; k < 2 * sizeof(cases) / sizeof(cases[0]); k++) {
		double late_s = k % 2 == 0 ? 0 : 59;

		for (size_t i = 0; i < b->n; i++) {
			double z = 0.1 * (double)(i / 2 % 3);
			bool own = i % 2 == 1;

			b->health[i].printed_s = own ? 57 : 60;
			b->health[i].shown_least_s = own ? 0 : 59.9;
			b->health[i].shown_most_s = own ? late_s : 60.1;
			b->health[i].paced = !own;
			b->health[i].took_s = 70 + z - (own ? cases[k / 2].gained_s : 0);
			b->logs[i].score.value = own ? 95 : 100 + z;
		}
		c = judged(b);
		ok((c->verdict.reason > VERDICT_EARLY) == !cases[k / 2].seen &&
			   (c->verdict.reason > VERDICT_EARLY || c->verdict.word == VERDICT_FASTER),
		   "%s: %s", cases[k / 2].what, c->verdict.text);
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++)
		b->health[i].took_s = 1;
	c = judged(b);
	ok(c->verdict.word == VERDICT_FASTER && c->verdict.reason == VERDICT_NONE,
	   "a gain is not refused if the control's windows exceed its runs too");
	done(b);
}

/* A log claims a gain of 1.8 s in 60 s. Stamps that are off by as much can neither refute nor
 * confirm it. */
static void test_blurred(void)
{
	static const double off[] = { -2.2, 1.8, 0.3, -1.4, 1.9, -0.4 };

	for (int honest = 0; honest < 2; honest++) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++) {
			struct health_sum *h = &b->health[i];
			double z = 0.1 * (double)(i / 2 % 3);
			double real_s = honest == 1 && i % 2 == 1 ? 58.2 : 60;

			h->printed_s = i % 2 == 1 ? 58.2 : 60;
			real_s += i % 2 == 1 ? off[i / 2] : 0;
			h->shown_least_s = real_s - 1;
			h->shown_most_s = real_s + 1;
			h->paced = h->stamped = true;
			h->took_s = real_s + 10 + 30 * z;
			b->logs[i].score.value = i % 2 == 1 ? 97 : 100 + z;
		}
		const struct judge_contrast *c = judged(b);
		ok((c->verdict.reason > VERDICT_EARLY) == (honest == 0) &&
			   (c->verdict.reason > VERDICT_EARLY || c->verdict.word == VERDICT_FASTER),
		   "a gain that stamps %s: %s", honest == 1 ? "confirm" : "do not confirm",
		   c->verdict.text);
		done(b);
	}
}

/* Logs that differ by 0.05 %, while rows appear later by the same share in all runs. */
static void test_equal_logs(void)
{
	for (int honest = 0; honest < 2; honest++) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++) {
			struct health_sum *h = &b->health[i];
			double late_s = i % 2 == 0 ? 0.0 : honest == 1 ? 0.12 : 0.7;

			h->printed_s = 60;
			h->shown_least_s = 59.98 + late_s + 0.01 * (double)(i / 2 % 3);
			h->shown_most_s = h->shown_least_s + 0.04;
			h->paced = h->stamped = true;
			h->took_s = 70 + late_s;
			b->logs[i].score.value =
				100 + 0.1 * (double)(i / 2 % 3) - 0.05 * (double)(i % 2);
		}
		const struct judge_contrast *c = judged(b);
		ok((c->verdict.word == VERDICT_INVALID) == (honest == 0),
		   "stamps that contradict equal logs by %s: %s",
		   honest == 1 ? "less than the margin" : "more", c->verdict.text);
		done(b);
	}
}

/* The window gains 3 s of 60 s; outside of it some of the gain may be lost. */
static void test_outside(void)
{
	static const struct {
		double lost_s;
		size_t validated;
		bool marked, hard;
		const char *what;
	} cases[] = { { 0, 0, false, false, "no warning if the gain remains" },
		      { 0, 4, false, false, "no warning, however often the variant validates" },
		      { 3, 0, true, false, "a warning if the gain is lost outside" },
		      { 30, 0, true, false, "a warning if the gain is lost by compilation" },
		      { 3, 4, true, true, "a hard hit if the gain is lost in validations" } };

	array_each (it, cases, sizeof(cases) / sizeof(cases[0])) {
		struct bench *b = make(1, MAX);
		const struct guard_hit *hit;

		for (size_t i = 0; i < b->n; i++) {
			double z = 0.1 * (double)(i / 2 % 3);
			struct health_sum *h = &b->health[i];
			bool own = i % 2 == 1;

			h->printed_s = own ? 57 : 60;
			h->shown_least_s = h->printed_s - 0.02;
			h->shown_most_s = h->printed_s + 0.02;
			h->paced = h->stamped = true;
			h->took_s = 70 + z + (own ? it->lost_s - 3 : 0);
			h->n_validated = own ? it->validated : 0;
			b->logs[i].score.value = own ? 95 : 100 + z;
		}
		const struct judge_contrast *c = judged(b);
		hit = array_find(one, c->hits.hit, c->hits.n, one->guard == GUARD_WHOLE);
		ok((hit != NULL) == it->marked && (c->verdict.word == VERDICT_INVALID) == it->hard,
		   "%s: %s, %s", it->what, c->verdict.text, hit != NULL ? hit->text : "no hit");
		done(b);
	}
}

/* Rows that appeared in batches of 16 s claim a gain of 30 s in 600 s. */
static void test_blocks_of_rows(void)
{
	for (int honest = 0; honest < 2; honest++) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++) {
			double z = 0.1 * (double)(i / 2 % 3);
			double real_s = honest == 1 && i % 2 == 1 ? 570 : 600;

			b->health[i].printed_s = i % 2 == 1 ? 570 : 600;
			b->health[i].shown_least_s = real_s - 7;
			b->health[i].shown_most_s = real_s + 7;
			b->health[i].took_s = real_s + 40 + 30 * z;
			b->logs[i].score.value = i % 2 == 1 ? 95 : 100 + z;
		}
		const struct judge_contrast *c = judged(b);
		ok((c->verdict.reason > VERDICT_EARLY) == (honest == 0) &&
			   (c->verdict.reason > VERDICT_EARLY || c->verdict.word == VERDICT_FASTER),
		   "batches that %s the log's times: %s", honest == 1 ? "confirm" : "contradict",
		   c->verdict.text);
		done(b);
	}
}

static void test_arms_clocks(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c;
	size_t marks = 0;

	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].sm_mhz = 1755;
		b->health[i].power_cap_share = 0.5;
	}
	c = judged(b);
	for (size_t i = 0; i < c->hits.n; i++)
		marks += (c->hits.hit[i].guard == GUARD_SM_CLOCK ||
			  c->hits.hit[i].guard == GUARD_POWER_CAP) &&
			 !c->hits.hit[i].hard;
	is_int((long long)marks, 2, "warnings for different clocks and power caps");
	ok(c->verdict.word == VERDICT_SLOWER, "warnings do not change the verdict");
	ok(strstr(c->verdict.text, "], other GPU clock, other power cap") != NULL,
	   "warnings follow the verdict: %s", c->verdict.text);
	done(b);
}

/* First runs of control and variant, and by how much their later runs are slower from one to the
 * next. */
static void test_slowed(void)
{
	static const struct {
		double first[2], drift[2];
		size_t blocks;
		bool marked;
		const char *what;
	} cases[] = {
		{ { 28.0, 59.6 }, { 0.00, 0.00 }, BLOCKS, true, "a control that became slower" },
		{ { 28.0, 59.6 }, { 0.01, 0.01 }, 3, true, "slower in three blocks" },
		{ { 28.0, 50.6 }, { 0.00, 0.00 }, BLOCKS, false, "a pod that became slower" },
		{ { 33.0, 59.6 }, { 0.00, 0.00 }, BLOCKS, false, "no slower control" },
		{ { 40.0, 59.6 }, { 0.00, 0.00 }, BLOCKS, false, "a first run that warmed up" },
		{ { 30.5, 55.6 }, { 0.02, 0.02 }, BLOCKS, false, "a pod that drifts" },
		{ { 30.5, 59.6 }, { 0.02, 0.00 }, BLOCKS, true, "a control that drifts alone" },
		{ { 32.5, 58.6 }, { 0.02, 0.02 }, 3, false, "a pod that drifts in three blocks" },
		{ { 30.5, 59.6 }, { 0.02, 0.02 }, BLOCKS, false, "arms that drift alike" },
	};

	array_each (it, cases, LENGTH(cases)) {
		struct bench *b = make(1, MAX);

		while (b->n > 2 * it->blocks)
			run_log_release(&b->logs[--b->n]);
		for (size_t i = 0; i < b->n; i++)
			b->logs[i].score.value *=
				1.0 + it->drift[b->runs[i].arm] * (double)b->runs[i].block;
		for (size_t arm = 0; arm < 2; arm++) {
			add(b, arm, 0, 0, it->first[arm]);
			b->runs[b->n - 1].counted = false;
		}
		const struct judge_contrast *c = judged(b);
		ok((strstr(c->verdict.text, "the control became slower") != NULL) == it->marked &&
			   c->n_blocks == it->blocks,
		   "the verdict reports only a control that became slower: %s", it->what);
		done(b);
	}
}

/* Burn-in runs of control and variant, and the share by which each later run of the
 * variant is faster. */
static void test_earlier_runs(void)
{
	static const struct {
		double control, variant, falls;
		bool marked;
		const char *what;
	} cases[] = {
		{ 33.0, 90.0, 0.00, true, "the verdict reports a variant that stored its results" },
		{ 60.0, 90.0, 0.00, false, "no report of both arms that filled a cache" },
		{ 33.0, 66.0, 0.00, false, "no report of a first run that read its files" },
		{ 33.0, 61.0, 0.02, true, "the verdict reports a score that falls with each run" },
		{ 33.0, 59.6, 0.00, false, "no report of scores that only vary" },
	};

	array_each (it, cases, LENGTH(cases)) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++)
			if (b->runs[i].arm == 1)
				b->logs[i].score.value *=
					1.0 - it->falls * (double)(b->runs[i].block + 1);
		for (size_t arm = 0; arm < 2; arm++) {
			add(b, arm, 0, 0, arm == 0 ? it->control : it->variant);
			b->runs[b->n - 1].counted = false;
		}
		const struct judge_contrast *c = judged(b);
		ok((strstr(c->verdict.text, "faster after earlier runs") != NULL) == it->marked,
		   "%s", it->what);
		done(b);
	}
}

/* Runs that end before the processes that they started. */
static void test_left_by_one(void)
{
	static const struct {
		double control, variant;
		bool marked;
		const char *what;
	} cases[] = {
		{ 0.0, 1.0, true, "the verdict reports processes that only the variant leaves" },
		{ 1.0, 0.0, true, "the verdict reports processes that only the control leaves" },
		{ 1.0, 1.0, false, "no report of a server that both arms start" },
		{ 0.0, 0.0, false, "no report of runs that leave nothing" },
	};

	array_each (it, cases, LENGTH(cases)) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++)
			b->health[i].unfinished = b->runs[i].arm == 0 ? it->control : it->variant;
		const struct judge_contrast *c = judged(b);
		ok((strstr(c->verdict.text, "processes left behind") != NULL) == it->marked, "%s",
		   it->what);
		done(b);
	}
}

/* Scores of 33 and 30, and the seconds of the whole runs that print them. */
static void test_score_runs(void)
{
	static const struct {
		const char *key;
		double control, variant;
		bool marked;
		const char *what;
	} cases[] = {
		{ "median_us", 8.0, 3.0, true, "a score printed before the result is checked" },
		{ "median_us", 8.0, 7.5, false, "a run that is shorter by what the score gains" },
		{ "median_us", 8.0, 8.2, false, "a run that compiles longer" },
		{ "median_us", 0.5, 0.3, false, "runs too short to tell" },
		{ "median_s", 40.0, 40.0, true, "seconds that passed after the score" },
		{ "median_s", 40.0, 37.5, false, "seconds that the whole run gained, too" },
		{ "median_s", 35.0, 29.5, true, "seconds that are longer than the run" },
		{ "median_s", 8.0, 8.0, false, "CPU seconds of several threads" },
		{ "score", 40.0, 40.0, false, "a number of unknown unit" },
	};

	array_each (it, cases, LENGTH(cases)) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++) {
			bool is_control = b->runs[i].arm == 0;

			b->logs[i].score_key = it->key;
			b->logs[i].score.value *= is_control ? 1.0 : 30.0 / 59.6;
			b->health[i].printed_s = (double)NAN;
			b->health[i].took_s = (is_control ? it->control : it->variant) *
					      (1.0 + 0.002 * (double)(i % 3));
		}
		const char *text = judged(b)->verdict.text;
		ok(strncmp(text, "FASTER", 6) == 0 &&
			   (strstr(text, "whole runs disagree") != NULL) == it->marked,
		   "%s: %s", it->what, text);
		done(b);
	}
}

/* The GPU and its power limit, as the runs of each arm saw them. */
static void test_gpus(void)
{
	static const struct {
		const char *control, *variant, *text;
	} cases[] = {
		{ "gpu_uuid GPU-1; power_limit 700.00", "gpu_uuid GPU-1; power_limit 700.00", "]" },
		{ "gpu_uuid GPU-1", "gpu_uuid GPU-2", "INVALID (same work)" },
		{ "power_limit 700.00", "power_limit 500.00", ", other environment" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct bench *b = make(1, MAX);

		for (size_t k = 0; k < b->n; k++)
			b->runs[k].runtime =
				b->runs[k].arm == 0 ? cases[i].control : cases[i].variant;
		const char *text = judged(b)->verdict.text;
		size_t n = strlen(text), end = strlen(cases[i].text);
		ok(n >= end && strcmp(text + n - end, cases[i].text) == 0, "%s, %s: %s",
		   cases[i].control, cases[i].variant, text);
		done(b);
	}
}

/* A second process does half of the steps, next to harmless cases that look similar. */
static void test_arms_cores(void)
{
	static const struct {
		double more, host; /* busy cores of the variant; and at times of other programs */
		bool marked;
		const char *what;
	} cases[] = {
		{ 1.0, 0.05, true, "a warning for a second process" },
		{ 0.4, 0.05, false, "no warning if workers feed a faster variant" },
		{ 0.0, 4.00, false, "no warning if other programs are busy" },
		{ -0.9, 0.05, false, "no warning if fewer cores are busy" },
	};

	array_each (it, cases, sizeof(cases) / sizeof(cases[0])) {
		struct bench *b = make(1, MAX);
		const struct judge_contrast *c;
		bool marked = false;

		for (size_t i = 0; i < b->n; i++)
			b->health[i].busy_cores +=
				(i % 2 == 1 ? it->more : 0.0) + it->host * (double)(i * i % 5);
		c = judged(b);
		array_each (hit, c->hits.hit, c->hits.n) {
			marked |= hit->guard == GUARD_CORES && !hit->hard;
		}
		ok(marked == it->marked, "%s", it->what);
		done(b);
	}
}

/* Run A, B and C in six main blocks and `fresh` extra ones, and judge which is best. */
static const struct judge_best *best_of(struct bench *b, const double *us, size_t fresh,
					enum run_state state, const struct judge_arm *three)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;

	*b = (struct bench){ .formats = format_set_new_builtin() };
	for (size_t block = 0; block < BLOCKS + fresh; block++)
		for (size_t arm = 0; arm < 3; arm++) {
			double noise = 1.0 + 0.0004 * (double)((block * 7 + arm * 5) % 11);

			add(b, arm, block, 0, us[arm] * noise);
			b->runs[b->n - 1].fresh = block >= BLOCKS;
			b->runs[b->n - 1].state = state;
		}
	judge_init(&b->judge, &rule, three, 3, b->runs, b->n);
	return &b->judge.best;
}

static void test_best(void)
{
	struct judge_arm three[] = { { .tag = "A" }, { .tag = "B" }, { .tag = "C" } };
	static const double clear[] = { 33, 31, 30 };
	static const double tied[] = { 33, 30, 30 };
	static struct bench b;
	const struct judge_best *best;

	best = best_of(&b, clear, 0, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_LEADS && best->arm == 2 && best->rival == 1 && best->n_pairs == 3,
	   "B leads: %s", best->text);
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_CONFIRMED && best->n_fresh == 3, "extra blocks confirm B: %s",
	   best->text);
	ok(b.judge.contrasts[0].n_blocks == BLOCKS, "verdicts do not use extra blocks");
	done(&b);
	best = best_of(&b, clear, 2, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_LEADS, "two extra blocks are too few: %s", best->text);
	done(&b);
	best = best_of(&b, tied, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_NONE, "two equal variants: neither is the best: %s", best->text);
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_CLAIMED, three);
	ok(best->state == BEST_NOT_ASKED, "imported logs are not ranked");
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_MEASURED, three);
	ok(best->state == BEST_NONE, "runs with warnings are not ranked: %s", best->text);
	done(&b);
	three[2].numerics_changed = true;
	best = best_of(&b, clear, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_CONFIRMED && best->arm == 1,
	   "variants with other numerics are not ranked: %s", best->text);
	done(&b);
}

/* Add a training run of 100 steps of about `ms` each, with that last validation loss. */
static void add_training(struct bench *b, size_t arm, size_t block, double ms, double val)
{
	const struct run_log_rule how = { .formats = b->formats,
					  .force = true,
					  .kind = RUN_LOG_TRAINING };
	struct buf text;

	buf_init(&text, 65536);
	buf_append_str(&text, "train_batch_tokens:1024 iterations:100\n"
			      "seed:42\n");
	for (int step = 5; step <= 100; step += 5)
		buf_appendf(&text,
			    "step:%d/100 train_loss:%.4f train_time:%.0fms step_avg:%.2fms\n", step,
			    9.0 / step, ms * step, ms);
	buf_appendf(&text,
		    "step:100/100 val_loss:%.4f val_bpb:2.0 train_time:%.0fms "
		    "step_avg:%.2fms\nfinal_int8_zlib_roundtrip "
		    "val_loss:3.2 val_bpb:2.0 eval_time:9ms\n",
		    val, ms * 100, ms);
	if (run_log_parse(&b->logs[b->n], "x", (struct str){ text.data, text.len }, &how, NULL) ==
	    0)
		b->runs[b->n] = (struct judge_run){
			.arm = arm,
			.block = block,
			.counted = true,
			.state = RUN_STATE_VERIFIED,
			.log = &b->logs[b->n],
		};
	b->n++;
	buf_release(&text);
}

/* A bar that CR rewrites has several rows in one line. */
static void test_bar(void)
{
	static const char rows[] =
		"seed:42\n\rstep:1/3 train_loss:3.0000 train_time:10ms step_avg:10.00ms"
		"\rstep:2/3 train_loss:2.0000 train_time:20ms step_avg:10.00ms"
		"\rstep:3/3 train_loss:1.0000 train_time:30ms step_avg:10.00ms\n";
	struct format_set *formats = format_set_new_builtin();
	const struct run_log_rule how = { .formats = formats, .kind = RUN_LOG_TRAINING };
	struct run_log log;

	ok(run_log_parse(&log, "x", str_from(rows), &how, NULL) == 0 && log.n_rows == 3 &&
		   log.rows[1].step == 2 && log.rows[1].train_ms == 20,
	   "a bar: each of its rows");
	run_log_release(&log);
	format_set_free(formats);
}

/* A run of the variant may be judged before the control has a run. */
static void test_no_control(void)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	static struct bench b;

	b = (struct bench){ .formats = format_set_new_builtin() };
	add_training(&b, 1, 0, 1, 3.2); /* the window is less than 200 ticks of 1 ms */
	judge_init(&b.judge, &rule, arms, 2, b.runs, b.n);
	ok(b.judge.summary[1].ticks < 200 &&
		   b.judge.contrasts[0].verdict.word == VERDICT_NOT_JUDGED,
	   "a run of the variant alone, by a coarse clock: %s", b.judge.contrasts[0].verdict.text);
	done(&b);
}

/* The fastest arm is not the best if its loss is worse. */
static void test_worse(void)
{
	static const struct judge_arm three[] = { { .tag = "A" }, { .tag = "B" }, { .tag = "C" } };
	static const double ms[] = { 1000, 960, 920 };
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	static struct bench b;

	for (int worse = 0; worse < 2; worse++) {
		b = (struct bench){ .formats = format_set_new_builtin() };
		for (size_t i = 0; i < 3 * (size_t)BLOCKS; i++)
			add_training(&b, i % 3, i / 3, ms[i % 3] + (double)(i * 7 % 5) / 3.0,
				     worse && i % 3 == 2 ? 3.216 : 3.2);
		judge_init(&b.judge, &rule, three, 3, b.runs, b.n);
		judge_confirm(&b.judge);
		ok(b.judge.contrasts[1].verdict.word ==
			   (worse ? VERDICT_FASTER_WORSE : VERDICT_FASTER),
		   "%s", b.judge.contrasts[1].verdict.text);
		ok(b.judge.best.state == BEST_LEADS && b.judge.best.arm == (worse ? 1 : 2), "%s",
		   b.judge.best.text);
		ok(b.runs[2].state == (worse ? RUN_STATE_VERIFIED : RUN_STATE_CONFIRMED),
		   "a variant with a worse loss is not confirmed");
		done(&b);
	}
}

static const struct judge_arm with_aa[] = { { .tag = "A" },
					    { .tag = "B" },
					    { .tag = "A~aa", .aa = true } };

/* Six blocks; B is 1 % faster, the A/A arm differs from the control by `aa`. */
static const struct judge_contrast *judge_aa(struct bench *b, double aa, double noise)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;

	*b = (struct bench){ .formats = format_set_new_builtin() };
	for (size_t block = 0; block < BLOCKS; block++) {
		double up = 1.0 + noise * ((double)(block * 5 % 7) - 3.0);

		add(b, 0, block, 0, 100.0);
		add(b, 1, block, 0, 99.0 * up);
		add(b, 2, block, 0, 100.0 / aa * up);
	}
	judge_init(&b->judge, &rule, with_aa, 3, b->runs, b->n);
	judge_confirm(&b->judge);
	return &b->judge.contrasts[0];
}

static bool has_guard(const struct judge_contrast *c, enum guard guard)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].guard == guard)
			return true;
	return false;
}

/* An A/A arm that differs weakens the other verdicts. */
static void test_aa(void)
{
	struct verdict_info info = { .metric = "median_us", .cost_usd = (double)NAN };
	const struct judge_contrast *c;
	static struct bench b;
	struct buf out;

	c = judge_aa(&b, 1.006, 1e-4);
	ok(strstr(c->verdict.text, "FASTER by ") == c->verdict.text &&
		   strstr(c->verdict.text, ", A/A differs") != NULL && has_guard(c, GUARD_AA),
	   "the verdict mentions that the A/A arm differs: %s", c->verdict.text);
	ok(b.runs[1].state == RUN_STATE_VERIFIED, "if the A/A arm differs, no run is confirmed");
	done(&b);
	c = judge_aa(&b, 1.004, 1e-5);
	ok(strstr(c->verdict.text, "A/A") == NULL && b.runs[1].state == RUN_STATE_CONFIRMED,
	   "a small difference of the A/A arm does not matter: %s", c->verdict.text);
	done(&b);
	c = judge_aa(&b, 1.0, 1e-3);
	ok(!has_guard(c, GUARD_AA),
	   "an insignificant difference of the A/A arm does not matter: %s",
	   b.judge.contrasts[1].verdict.text);
	ok(c->second == 2 && c->paired.own.df > 0 &&
		   fabs(c->blocks[0].control - 100.0 * sqrt(1.0 - 3e-3)) < 1e-3,
	   "the control is the mean of control and A/A arm: %g", c->blocks[0].control);
	buf_init(&out, 1U << 16);
	print(&out, &b.judge, &info);
	ok(strstr(out.data, "control: mean of A and A~aa") != NULL,
	   "the report names both parts of the control");
	buf_release(&out);
	judge_release(&b.judge);
	guard_add(&b.runs[2].hits, GUARD_EXIT, true, "exit status 1");
	judge_init(&b.judge, &b.judge.rule, with_aa, 3, b.runs, b.n);
	c = &b.judge.contrasts[0];
	ok(c->second == 0 && c->n_blocks == BLOCKS,
	   "if the A/A arm lacks a block, the control is used alone: %zu", c->n_blocks);
	done(&b);
}

/* A variant with the control's command, environment and files must not differ. */
static void test_control_again(void)
{
	static const struct judge_arm both[] = { { .tag = "A" },
						 { .tag = "B", .is_control_again = true } };
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;

	for (int differs = 1; differs >= 0; differs--) {
		struct bench *b = make(1, MAX);

		for (size_t i = 0; i < b->n; i++)
			if (differs == 0)
				b->logs[i].score.value = 33.0 + 0.1 * (double)(i % 3);
		judge_init(&b->judge, &rule, both, 2, b->runs, b->n);
		const char *text = b->judge.contrasts[0].verdict.text;
		ok((strstr(text, "A/A differs") != NULL) == (differs == 1),
		   "an arm that repeats the control: %s", text);
		done(b);
	}
}

/* Blocks without any spread, and runs whose loaded libraries are unknown. */
static void test_marks(void)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	const struct judge_contrast *c;
	static struct bench b;

	c = judge_aa(&b, 1.0, 0.0);
	ok(has_guard(c, GUARD_NO_SPREAD) && c->paired.sd == 0.0 && isnan(c->welch.p),
	   "a warning if the spread is zero: %s", c->verdict.text);
	ok(!has_guard(c, GUARD_UNSEEN), "no warning if versions are known");
	done(&b);
	c = judge_aa(&b, 1.0, 1e-4);
	ok(!has_guard(c, GUARD_NO_SPREAD), "no warning if there is a spread");
	judge_release(&b.judge);
	for (size_t i = 0; i < b.n; i++)
		b.runs[i].runtime = b.runs[i].arm == 1 ? "python /x; torch 2.9.1" : NULL;
	judge_init(&b.judge, &rule, with_aa, 3, b.runs, b.n);
	c = &b.judge.contrasts[0];
	ok(has_guard(c, GUARD_UNSEEN) && guard_hard(&c->hits) == NULL,
	   "a warning if only one arm was seen to load torch");
	judge_release(&b.judge);
	for (size_t i = 0; i < b.n; i++)
		b.runs[i].runtime = "python /x";
	judge_init(&b.judge, &rule, with_aa, 3, b.runs, b.n);
	ok(!has_guard(&b.judge.contrasts[0], GUARD_UNSEEN), "no warning if neither arm uses torch");
	judge_release(&b.judge);
	for (size_t i = 0; i < b.n; i++)
		b.runs[i].state = RUN_STATE_CLAIMED;
	judge_init(&b.judge, &rule, with_aa, 3, b.runs, b.n);
	ok(!has_guard(&b.judge.contrasts[0], GUARD_UNSEEN), "no warning for imported logs");
	done(&b);
}

/* `n` pods with two blocks each; the last pod is `last` times as fast. */
static const struct judge_contrast *judge_pods(struct bench *b, size_t n, double last)
{
	struct judge_rule rule = JUDGE_RULE_DEFAULT;

	rule.need = 5;
	*b = (struct bench){ .formats = format_set_new_builtin() };
	for (size_t i = 0; i < 2 * n; i++) {
		double noise = 1.0 + 1e-4 * (double)(i * 5 % 7);

		for (size_t arm = 0; arm < 2; arm++) {
			add(b, arm, i / n, 0,
			    arm == 0	     ? 100.0
			    : i % n == n - 1 ? 100.0 / last * noise
					     : 97.0 * noise);
			b->runs[b->n - 1].pod = i % n;
		}
	}
	judge_init(&b->judge, &rule, arms, 2, b->runs, b->n);
	return &b->judge.contrasts[0];
}

/* If pods are compared, the needed number of blocks is still counted in blocks. */
static void test_pods(void)
{
	const struct judge_contrast *c;
	static struct bench b;

	c = judge_pods(&b, 3, 1.03);
	ok(c->across_pods && c->n_blocks == 6 && c->verdict.word == VERDICT_FASTER,
	   "six blocks on three pods are enough: %s", c->verdict.text);
	done(&b);
	c = judge_pods(&b, 8, 0.9999);
	ok(c->paired.p < 0.05 && c->verdict.word == VERDICT_FASTER &&
		   strstr(c->verdict.text, ", differs by pod") != NULL,
	   "one pod of eight with the opposite sign does not decide: %s", c->verdict.text);
	done(&b);
	c = judge_pods(&b, 2, 1.01);
	ok(c->across_pods && c->pods_differ && c->n_blocks == 4 &&
		   c->verdict.word != VERDICT_FASTER,
	   "two pods that are shown to differ are compared by their means: %s", c->verdict.text);
	done(&b);
}

static uint64_t noise_state = 1;

/* An approximately normal number, as a sum of uniform ones. */
static double normal(void)
{
	double sum = -6.0;

	for (int i = 0; i < 12; i++)
		sum += (double)(splitmix64_next(&noise_state) >> 11) * 0x1p-53;
	return sum;
}

/* Benches of n pods with sd tau between their effects, and sd between blocks. */
struct pods_sim {
	size_t pods, blocks;
	double tau, sd;
	size_t n;
	size_t shown, same, differ, both; /* shown, and pods differ */
};

static void run_pods(struct pods_sim *sim)
{
	struct judge_rule rule = JUDGE_RULE_DEFAULT;
	static struct bench b;

	for (size_t k = 0; k < sim->n; k++) {
		const struct judge_contrast *c;
		double effect[4];
		bool shown;

		b = (struct bench){ .formats = format_set_new_builtin() };
		for (size_t p = 0; p < sim->pods; p++)
			effect[p] = sim->tau * normal();
		for (size_t i = 0; i < 2 * sim->pods * sim->blocks; i++) {
			size_t pod = i / 2 % sim->pods;

			add(&b, i % 2, i / 2 / sim->pods, 0,
			    i % 2 == 0 ? 100.0 : 100.0 * exp(effect[pod] + sim->sd * normal()));
			b.runs[b.n - 1].pod = pod;
		}
		judge_init(&b.judge, &rule, arms, 2, b.runs, b.n);
		c = &b.judge.contrasts[0];
		shown = c->verdict.word == VERDICT_FASTER || c->verdict.word == VERDICT_SLOWER;
		sim->shown += shown;
		sim->same += c->verdict.word == VERDICT_SAME;
		sim->differ += c->pods_differ;
		sim->both += shown && c->pods_differ;
		done(&b);
	}
	printf("# %zu pods x %zu blocks, effects sd %g%%, blocks %g%%: of %zu "
	       "%zu shown, %zu the same, %zu differ by pod\n",
	       sim->pods, sim->blocks, 100 * sim->tau, 100 * sim->sd, sim->n, sim->shown, sim->same,
	       sim->differ);
}

/* Pods with equal effects differ in 5 % of the benches, whatever their signs. */
static void test_pods_calibrated(void)
{
	struct pods_sim quiet = { 3, 2, 0, 3e-5, 100, 0, 0, 0, 0 };
	struct pods_sim three = { 3, 2, 0, 0.003, 600, 0, 0, 0, 0 };
	struct pods_sim two = { 2, 3, 0, 0.003, 600, 0, 0, 0, 0 };
	struct pods_sim apart = { 2, 3, 0.005, 0.001, 300, 0, 0, 0, 0 };
	struct pods_sim many = { 3, 3, 0.005, 0.001, 300, 0, 0, 0, 0 };

	run_pods(&quiet);
	ok(quiet.same + quiet.shown == quiet.n, "pods that agree within 0.003 %% never differ");
	run_pods(&three);
	ok(three.differ > 12 && three.differ < 48 && three.shown < 48,
	   "three pods: 5 %% differ by chance, 5 %% are shown");
	run_pods(&two);
	ok(two.differ > 12 && two.differ < 48 && two.shown < 48,
	   "two pods: 5 %% differ by chance, 5 %% are shown");
	run_pods(&apart);
	ok(apart.differ > 120 && apart.both * 10 < apart.differ,
	   "two pods that differ rarely give a verdict for both");
	run_pods(&many);
	ok(many.shown < 30, "three pods that differ by 0.5 %%: a false verdict in 10 %% at most");
}

/* The word of a verdict and its interval never contradict each other. */
static void test_holm_intervals(void)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	const struct judge_arm four[] = {
		{ .tag = "A" },
		{ .tag = "B" },
		{ .tag = "C" },
		{ .tag = "D" },
	};
	unsigned int state = 1, shown = 0, wrong = 0;
	static struct bench b;

	for (int bench = 0; bench < 100; bench++) {
		b = (struct bench){ .formats = format_set_new_builtin() };
		for (size_t i = 0; i < (size_t)BLOCKS * 4; i++) {
			state = state * 1664525U + 1013904223U;
			add(&b, i % 4, i / 4, 0,
			    100.0 - 0.2 * (double)(i % 4) + (double)(state >> 16) / 65536.0);
		}
		judge_init(&b.judge, &rule, four, 4, b.runs, b.n);
		for (size_t i = 0; i < 3; i++) {
			const struct judge_contrast *c = &b.judge.contrasts[i];
			bool is_shown = c->verdict.word == VERDICT_FASTER ||
					c->verdict.word == VERDICT_SLOWER;

			shown += is_shown;
			wrong += is_shown != (c->paired.lo > 0.0 || c->paired.hi < 0.0);
		}
		done(&b);
	}
	ok(shown > 50 && shown < 250 && wrong == 0,
	   "words and intervals agree after Holm (%u of 300 shown, %u wrong)", shown, wrong);
}

static const char host[] = "# cores 16 up 1000.50 date 2026/11/20 21:00:00.500\n"
			   "1000.60,0,0.50,10000,0,1000000,0\n"
			   "1001.60,0,0.50,10110,0,2000000,0\n"
			   "nonsense\n"
			   "! foreign 4711\n"
			   "1002.60,500,0.60,10220,5,2102000000,250000\n"
			   "1003.60,900,0.60,10330,10,,250000\n"
			   "1004.60,,0.60,10440,10,,250000\n";

static const char gpu[] = "2026/11/20 21:00:00.600, 0, 1980, 2619, 40, 300.1, 99, 0x4\n"
			  "2026/11/20 21:00:01.600, 0, 1980, 2619, 44, 310.1, 99, 0x20\n"
			  "2026/11/20 21:00:02.600, 0, 1410, 2619, 41, 305.1, 31, 0x0\n"
			  "[N/A], 0, [N/A]\n";

static void test_stamps(void)
{
	static const char whole[] = "# up 1000.00 ns 5000000000\n"
				    "400 6000000000 5990000000\n"
				    "500 7000000000 6990000000\n";
	static const char *const broken[] = {
		"",
		"400 6000000000 5990000000\n",
		"# up x ns 5000000000\n400 6000000000 5990000000\n",
		"# up 1000.00 ns 5000000000\n400 6000000000\n",
		"# up 1000.00 ns 5000000000\n400 6000000000 6990000000\n",
		"# up 1000.00 ns 5000000000\n400 6000000000 5990000000\n"
		"300 7000000000 6990000000\n",
		"# up 1000.00 ns 5000000000\n400 6000000000 5990000000\n"
		"500 7000000000 1990000000\n",
	};
	struct health h;
	double after;

	health_init(&h, str_from(host), str_from(""), str_from(whole));
	ok(h.n_stamps == 2 && !h.stamping && health_pace_s(&h) < 1.0, "all stamps are read");
	is_near(health_time_of(&h, 300, &after), 1001.0, 1e-6,
		"the time of a byte is in uptime of the pod");
	is_near(after, 1000.99, 1e-6, "the lower bound is when the bytes were last missing");
	is_near(health_time_of(&h, 401, &after), 1002.0, 1e-6, "the second stamp has its own time");
	is_near(health_time_of(&h, 501, &after), 1003.6, 1e-9,
		"after the last stamp, samples of the host are used");
	ok(health_sum(&h, NAN, NAN).stamped, "the run has stamps");
	health_release(&h);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		health_init(&h, str_from("! stamps\n"), str_from(""), str_from(broken[i]));
		ok(h.stamping && h.n_stamps == 0 && !health_sum(&h, NAN, NAN).stamped,
		   "contradictory stamps are dropped: %zu", i);
		health_release(&h);
	}
}

static void test_health(void)
{
	struct health h;
	struct health_sum sum;
	double after;

	health_init(&h, str_from(host), str_from(gpu), str_from(""));
	is_int((long long)h.n_host, 5, "all samples of the host are read");
	is_int((long long)h.n_gpu, 3, "all samples of the GPU are read");
	is_near(h.gpu[1].up_s, 1001.6, 1e-9, "times of samples are in uptime of the pod");
	is_near(health_time_of(&h, 400, &after), 1002.6, 1e-9,
		"upper bound for the time of a byte");
	is_near(after, 1001.6, 1e-9, "lower bound for the time of a byte");
	ok(health_gpu_at(&h, 1002.4) == &h.gpu[2], "the nearest GPU sample");
	ok(health_gpu_at(&h, 1020.0) == NULL, "a GPU sample is used only if it is near");
	sum = health_sum(&h, NAN, NAN);
	ok(sum.n_gpu == 3 && sum.reasons == 0x24, "all reason bits of the run");
	is_near(sum.sm_mhz, 1790, 1e-9, "mean SM clock");
	is_near(sum.power_cap_share, 1.0 / 3.0, 1e-9, "share of power caps");
	is_near(sum.busy_cores, 1.1, 1e-9, "busy cores");
	is_near(sum.wait_s, 2.102, 1e-9, "waited for a CPU");
	is_near(sum.quota_s, 0.25, 1e-9, "time stopped by the quota");
	is_str(sum.foreign, "4711", "the process of another program on the GPU is found");
	is_near(sum.cores, 16, 1e-9, "cores of the host");
	sum = health_sum(&h, 1002.0, 1004.0);
	ok(sum.n_gpu == 1 && sum.reasons == 0, "a sum over a window has only its samples");
	health_release(&h);
	health_init(&h, str_from(""), str_from(""), str_from(""));
	sum = health_sum(&h, NAN, NAN);
	ok(isnan(sum.sm_mhz) && isnan(sum.busy_cores) && isnan(sum.temp_c) && isnan(sum.cores) &&
		   sum.n_gpu == 0,
	   "unknown values are NAN, not 0");
	health_release(&h);
}

/* The last line of a report has as many decimals as its interval is narrow. */
static void test_sentence(void)
{
	static const struct {
		double pct, lo, hi;
		const char *want;
	} cases[] = {
		{ .21, .10, .32, "b ran 1.0021 times as fast as a (1.0010 to 1.0032)" },
		{ 7.45, -24.05, 52, "b ran 1.07 times as fast as a (0.76 to 1.52)" },
		{ 10, 9.98, 10.02, "b ran 1.1000 times as fast as a (1.0998 to 1.1002)" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const double bounds[] = { cases[i].lo, cases[i].hi };
		cJSON *c = json_new(JTEXT("variant", "b"), JTEXT("control", "a"),
				    JNUM("pct", cases[i].pct), JNUM("p", .01),
				    JNODE("ci_pct", cJSON_CreateDoubleArray(bounds, 2)));
		cJSON *root = json_new(JTEXT("metric", "ms"), JNODE("contrasts", json_list_of(c)));
		struct buf out = buf_new(200);

		report_sentence(&out, root);
		is_str(out.data, cases[i].want, "the last sentence of the report");
		buf_release(&out);
		cJSON_Delete(root);
	}
}

int main(void)
{
	test_stalled();
	test_quiet();
	test_unexplained();
	test_several();
	test_log_clock();
	test_log_clock_stamped();
	test_log_clock_short();
	test_log_clock_run();
	test_whole_runs();
	test_blurred();
	test_outside();
	test_blocks_of_rows();
	test_arms_clocks();
	test_slowed();
	test_equal_logs();
	test_earlier_runs();
	test_left_by_one();
	test_score_runs();
	test_gpus();
	test_arms_cores();
	test_best();
	test_bar();
	test_no_control();
	test_worse();
	test_aa();
	test_control_again();
	test_marks();
	test_pods();
	test_pods_calibrated();
	test_holm_intervals();
	test_sentence();
	test_health();
	test_stamps();
	return tap_done();
}
