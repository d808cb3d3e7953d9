/* SPDX-License-Identifier: MIT */
/* Runs that stand far out, blocks of several runs, and what a pod showed. */
#include "bench/judge.h"

#include <string.h>

#include "bench/verdict_json.h"
#include "report/facts_print.h"

#include "tests/support/tap.h"

#define BLOCKS 6
#define MAX    (2 * BLOCKS * 4)

/* A bench of scores: runs are made, judged, looked at, and released. */
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

	(void)snprintf(text, sizeof(text),
		       "{\"status\": \"passed\", \"verified\": true, "
		       "\"score\": %.6f, \"median_us\": %.6f}",
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

/* A: about 33, B: about 59, `stalled` of A took 197 as once on a real GPU. */
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
	struct facts facts;

	facts_init(&facts);
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

/* Verdicts of older versions give the same report. */
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
	   "one stalled run of twelve hides the difference: no run is removed");
	ok(run->outlier && fabs(run->times_median - 5.96) < 0.02,
	   "it is named: %.2f times its arm's median", run->times_median);
	ok(run->z > 100.0, "with its robust z, %.0f", run->z);
	is_str(run->seen, "GPU utilization 31% (others 97); waited for a CPU 2.10 s (others 0.01)",
	       "and with what was seen in it");
	ok(c->widened && c->n_outliers == 1 && c->n_agree == 5,
	   "the verdict reports the widened interval");
	ok(fabs(100.0 * expm1(c->paired.hl) + 44.5) < 0.5, "Hodges-Lehmann stays: %.2f%%",
	   100.0 * expm1(c->paired.hl));
	ok(c->blocks_to_hl > BLOCKS && c->blocks_to_hl < 40,
	   "and how many blocks would show it: %zu", c->blocks_to_hl);
	buf_init(&out, 1U << 16);
	print(&out, &b->judge, &info);
	ok(strstr(out.data, "1 of 12 runs is an outlier.") != NULL,
	   "the report counts the outliers that widen the interval");
	ok(strstr(out.data, "Less affected: Hodges-Lehmann") < strstr(out.data, "block 1") &&
		   strstr(out.data, "Less affected: Hodges-Lehmann") != NULL,
	   "and gives the robust estimate before the table of blocks");
	ok(strstr(out.data, "medians -44.53%, minima -44.55%") != NULL,
	   "medians and minima have the sign of the speed-up");
	test_old_keys(&b->judge, &info);
	ok(strstr(out.data, "5.96 times its arm's median") != NULL, "and names the run");
	buf_release(&out);
	done(b);
}

static void test_quiet(void)
{
	struct bench *b = make(1, MAX);
	const struct judge_contrast *c = judged(b);

	ok(c->verdict.word == VERDICT_SLOWER && !c->widened, "without it: %s", c->verdict.text);
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
	is_str(b->runs[6].seen, "no telemetry", "and one without any");
	done(b);
}

static void test_several(void)
{
	struct bench *b = make(3, 6);
	const struct judge_contrast *c = judged(b);

	ok(c->verdict.word == VERDICT_SLOWER && c->n_blocks == BLOCKS,
	   "three runs a block, one stalled: %s", c->verdict.text);
	ok(b->runs[6].outlier && c->n_outliers == 1, "it is marked still");
	is_near(c->blocks[1].control, 32.88, 1e-12, "a block's y is the median of its runs");
	judge_release(&b->judge);
	b->runs[2].hits.n = 0;
	guard_add(&b->runs[2].hits, GUARD_LOST, true, "gone");
	c = judged(b);
	ok(c->n_blocks == BLOCKS - 1 && b->judge.n_dropped == 1,
	   "a run that is lost takes its whole block");
	done(b);
}

/* B's log says 38 s for a window that took as long as A's 46 s. */
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
	   "a log's clock that the pod's contradicts is a mark");
	is_str(c->hits.hit[0].text,
	       "window: 38.00 s by the log's clock, 45.00 to 47.00 s by the pod's clock; control: "
	       "46.00 s, and 45.00 to 47.00 s",
	       "with both clocks of both");
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s = 37;
		b->health[i].shown_most_s = 39;
	}
	is_int((long long)judged(b)->hits.n, 0, "one that is right is none");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i += 2)
		b->health[i].shown_least_s = b->health[i].shown_most_s = 0.1;
	is_int((long long)judged(b)->hits.n, 0, "rows that came in a heap tell nothing");
	judge_release(&b->judge);
	/* B prints 3 % more tok/s than it has; samples are a second apart. */
	for (size_t i = 0; i < b->n; i++) {
		b->health[i].printed_s = i % 2 == 1 ? 388 : 400;
		b->health[i].shown_least_s = 399;
		b->health[i].shown_most_s = 401;
	}
	is_int((long long)judged(b)->hits.n, 0, "3 %% may be a pause that the log does not count");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i++)
		b->health[i].paced = true;
	c = judged(b);
	ok(c->hits.n == 1 && c->hits.hit[0].guard == GUARD_LOG_CLOCK,
	   "but not where the rows came one by one");
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s = 391;
		b->health[i].shown_most_s = 393;
	}
	is_int((long long)judged(b)->hits.n, 0, "2 s in 400 are no lie");
	done(b);
}

/* Stamps are a hundredth apart; one arm's clock is wrong by 3 %. */
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
		   "a clock that runs 3 %% fast, %s arm, %s", arm == 0 ? "one" : "the other",
		   k < 2 ? "has no verdict" : "is not told without stamps");
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++) {
		b->health[i].stamped = true;
		b->health[i].printed_s = i % 2 == 1 ? 19.7 : 20;
	}
	is_int((long long)judged(b)->hits.n, 0, "0.3 s in 20 are no lie");
	done(b);
}

/* Windows of 2 s, of which a lie of 5 % is little. */
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
	   "what only the logs say is no gain, however short the window is: "
	   "%s",
	   c->verdict.text);
	judge_release(&b->judge);
	for (size_t i = 1; i < b->n; i += 2) {
		b->health[i].shown_least_s -= 0.09;
		b->health[i].shown_most_s -= 0.09;
	}
	is_int((long long)judged(b)->hits.n, 0, "what both clocks say is");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i++) { /* since the pod's boot */
		b->health[i].shown_least_s = -68310 + (i % 2 == 1 ? .2 : 0);
		b->health[i].shown_most_s = 68310;
	}
	is_int((long long)judged(b)->hits.n, 0, "a window that no stamp bounds tells nothing");
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
	is_int((long long)judged(b)->hits.n, 0, "one arm alone tells nothing");
	judge_release(&b->judge);
	for (size_t i = 0; i < b->n; i += 2)
		b->runs[i].counted = true;
	for (size_t arm = 0; arm < 2; arm++) {
		for (size_t i = 0; i < b->n; i++)
			b->health[i].took_s = i % 2 == arm ? 0.5 : 2.5;
		c = judged(b);
		ok(c->verdict.word == VERDICT_INVALID && c->hits.hit[0].hard,
		   "nor does a window last longer than its run: %s", c->verdict.text);
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++)
		b->health[i].took_s = 0.5;
	is_int((long long)judged(b)->hits.n, 0, "where both do, none is wrong");
	done(b);
}

/* Rows in a heap claim 3 s of 60: do whole runs take less by that too? */
static void test_whole_runs(void)
{
	static const struct {
		double gained_s;
		bool seen;
		const char *what;
	} cases[] = { { 3.0, true, "a faster variant, buffered" },
		      { 2.0, true, "one that compiles 1 s longer" },
		      { 0.05, false, "one whose clock is slow" },
		      { -1.0, false, "one that compiles 4 s longer" } };
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
		ok(c->verdict.refused == !cases[k / 2].seen &&
			   (c->verdict.refused || c->verdict.word == VERDICT_FASTER),
		   "%s: %s", cases[k / 2].what, c->verdict.text);
		judge_release(&b->judge);
	}
	for (size_t i = 0; i < b->n; i++)
		b->health[i].took_s = 1;
	c = judged(b);
	ok(c->verdict.word == VERDICT_FASTER && !c->verdict.refused,
	   "where the control outlasts its runs too, nothing is told");
	done(b);
}

/* A log counts 1.8 s of 60 less; stamps that are off by as much leave open
 * whether it is wrong, but do not show it either. */
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
		ok(c->verdict.refused == (honest == 0) &&
			   (c->verdict.refused || c->verdict.word == VERDICT_FASTER),
		   "a gain that stamps %s: %s", honest == 1 ? "show" : "do not show",
		   c->verdict.text);
		done(b);
	}
}

/* The window gains 3 s of 60: what becomes of it outside? */
static void test_outside(void)
{
	static const struct {
		double lost_s;
		size_t validated;
		bool marked, hard;
		const char *what;
	} cases[] = { { 0, 0, false, false, "a gain that stays is not marked" },
		      { 0, 4, false, false, "however often it validates" },
		      { 3, 0, true, false, "one that is lost outside is" },
		      { 30, 0, true, false, "as by a compilation" },
		      { 3, 4, true, true, "in validations it is none" } };

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
		   "%s: %s, %s", it->what, c->verdict.text, hit != NULL ? hit->text : "no mark");
		done(b);
	}
}

/* Rows in blocks of 16 s claim 30 s of 600: when did the blocks come? */
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
		ok(c->verdict.refused == (honest == 0) &&
			   (c->verdict.refused || c->verdict.word == VERDICT_FASTER),
		   "blocks that came as its log %s: %s", honest == 1 ? "says" : "does not say",
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
	is_int((long long)marks, 2, "arms at other clocks and caps are marked");
	ok(c->verdict.word == VERDICT_SLOWER, "marks are no verdict");
	done(b);
}

/* A second process that does half of the steps, and who may look like it. */
static void test_arms_cores(void)
{
	static const struct {
		double more, host; /* cores of the variant, of others at times */
		bool marked;
		const char *what;
	} cases[] = {
		{ 1.0, 0.05, true, "a second process is marked" },
		{ 0.4, 0.05, false, "workers that feed it faster are not" },
		{ 0.0, 4.00, false, "nor what others do on the host" },
		{ -0.9, 0.05, false, "nor who needs fewer" },
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

/* A, B and C at these times in `fresh` blocks behind six that choose. */
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
	   "it leads: %s", best->text);
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_CONFIRMED && best->n_fresh == 3, "fresh blocks confirm it: %s",
	   best->text);
	ok(b.judge.contrasts[0].n_blocks == BLOCKS, "the verdicts do not read them");
	done(&b);
	best = best_of(&b, clear, 2, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_LEADS, "two are too few: %s", best->text);
	done(&b);
	best = best_of(&b, tied, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_NONE, "no best of two alike: %s", best->text);
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_CLAIMED, three);
	ok(best->state == BEST_NOT_ASKED, "claims are not ranked");
	done(&b);
	best = best_of(&b, clear, 3, RUN_STATE_MEASURED, three);
	ok(best->state == BEST_NONE, "nor what a guard marked: %s", best->text);
	done(&b);
	three[2].numerics_changed = true;
	best = best_of(&b, clear, 3, RUN_STATE_VERIFIED, three);
	ok(best->state == BEST_CONFIRMED && best->arm == 1, "nor other numerics: %s", best->text);
	done(&b);
}

/* A training run of 100 steps of about `ms`, with that last validation. */
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
			    "step:%d/100 train_loss:%.4f train_time:%.0fms "
			    "step_avg:%.2fms\n",
			    step, 9.0 / step, ms * step, ms);
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

/* The fastest arm is no winner where its loss is worse. */
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
		   "what is worse is not confirmed");
		done(&b);
	}
}

static const struct judge_arm with_aa[] = { { .tag = "A" },
					    { .tag = "B" },
					    { .tag = "A~aa", .aa = true } };

/* B is faster by 1 %; the control against itself by `aa`, in six blocks. */
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

/* What the control shows against itself spoils what others show. */
static void test_aa(void)
{
	struct verdict_info info = { .metric = "median_us", .cost_usd = (double)NAN };
	const struct judge_contrast *c;
	static struct bench b;
	struct buf out;

	c = judge_aa(&b, 1.006, 1e-4);
	ok(strstr(c->verdict.text, "FASTER by ") == c->verdict.text &&
		   strstr(c->verdict.text, ", A/A differs") != NULL && has_guard(c, GUARD_AA),
	   "an A/A arm that differs is said: %s", c->verdict.text);
	ok(b.runs[1].state == RUN_STATE_VERIFIED, "and confirms nothing");
	done(&b);
	c = judge_aa(&b, 1.004, 1e-5);
	ok(strstr(c->verdict.text, "A/A") == NULL && b.runs[1].state == RUN_STATE_CONFIRMED,
	   "unless it is small: %s", c->verdict.text);
	done(&b);
	c = judge_aa(&b, 1.0, 1e-3);
	ok(!has_guard(c, GUARD_AA), "nor one that shows nothing: %s",
	   b.judge.contrasts[1].verdict.text);
	ok(c->second == 2 && c->paired.own.df > 0 &&
		   fabs(c->blocks[0].control - 100.0 * sqrt(1.0 - 3e-3)) < 1e-3,
	   "it is the control once more: %g", c->blocks[0].control);
	buf_init(&out, 1U << 16);
	print(&out, &b.judge, &info);
	ok(strstr(out.data, "control: mean of A and A~aa") != NULL, "and the report says so");
	buf_release(&out);
	judge_release(&b.judge);
	guard_add(&b.runs[2].hits, GUARD_EXIT, true, "exit status 1");
	judge_init(&b.judge, &b.judge.rule, with_aa, 3, b.runs, b.n);
	c = &b.judge.contrasts[0];
	ok(c->second == 0 && c->n_blocks == BLOCKS, "but not where it lacks a block: %zu",
	   c->n_blocks);
	done(&b);
}

/* Differences without any spread, and runs that nothing was seen of. */
static void test_marks(void)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;
	const struct judge_contrast *c;
	static struct bench b;

	c = judge_aa(&b, 1.0, 0.0);
	ok(has_guard(c, GUARD_NO_SPREAD) && c->paired.sd == 0.0 && isnan(c->welch.p),
	   "no spread is marked: %s", c->verdict.text);
	ok(!has_guard(c, GUARD_UNSEEN), "versions were seen");
	done(&b);
	c = judge_aa(&b, 1.0, 1e-4);
	ok(!has_guard(c, GUARD_NO_SPREAD), "a spread is no mark");
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
	ok(!has_guard(&b.judge.contrasts[0], GUARD_UNSEEN), "none if neither arm uses torch");
	judge_release(&b.judge);
	for (size_t i = 0; i < b.n; i++)
		b.runs[i].state = RUN_STATE_CLAIMED;
	judge_init(&b.judge, &rule, with_aa, 3, b.runs, b.n);
	ok(!has_guard(&b.judge.contrasts[0], GUARD_UNSEEN),
	   "but not of logs that somebody else brought");
	done(&b);
}

/* `n` pods of two blocks each; the last one is `last` times as fast. */
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

/* With pods as units a plan still counts blocks. */
static void test_pods(void)
{
	const struct judge_contrast *c;
	static struct bench b;

	c = judge_pods(&b, 3, 1.03);
	ok(c->across_pods && c->n_blocks == 6 && c->verdict.word == VERDICT_FASTER,
	   "six blocks on three pods are six: %s", c->verdict.text);
	done(&b);
	c = judge_pods(&b, 8, 0.9999);
	ok(c->paired.p < 0.05 && c->verdict.word == VERDICT_FASTER &&
		   strstr(c->verdict.text, ", differs by pod") != NULL,
	   "one pod of eight on the other side decides nothing: %s", c->verdict.text);
	done(&b);
	c = judge_pods(&b, 2, 1.01);
	ok(c->across_pods && c->pods_differ && c->n_blocks == 4 &&
		   c->verdict.word != VERDICT_FASTER,
	   "two pods that are shown to differ are two units: %s", c->verdict.text);
	done(&b);
}

static uint64_t noise_state = 1;

/* A normal number, of a sum of uniform ones. */
static double normal(void)
{
	double sum = -6.0;

	for (int i = 0; i < 12; i++)
		sum += (double)(splitmix64_next(&noise_state) >> 11) * 0x1p-53;
	return sum;
}

/* Benches of n pods whose effects have sd tau, and their blocks sd. */
struct pods_sim {
	size_t pods, blocks;
	double tau, sd;
	size_t n;
	size_t shown, same, differ, both; /* both: differ, and are shown */
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

/* Pods that do not differ are told to at 5 %, and signs decide nothing. */
static void test_pods_calibrated(void)
{
	struct pods_sim quiet = { 3, 2, 0, 3e-5, 100, 0, 0, 0, 0 };
	struct pods_sim three = { 3, 2, 0, 0.003, 600, 0, 0, 0, 0 };
	struct pods_sim two = { 2, 3, 0, 0.003, 600, 0, 0, 0, 0 };
	struct pods_sim apart = { 2, 3, 0.005, 0.001, 300, 0, 0, 0, 0 };
	struct pods_sim many = { 3, 3, 0.005, 0.001, 300, 0, 0, 0, 0 };

	run_pods(&quiet);
	ok(quiet.same + quiet.shown == quiet.n, "pods that agree within 0.003 %% never disagree");
	run_pods(&three);
	ok(three.differ > 12 && three.differ < 48 && three.shown < 48,
	   "three pods: 5 %% differ by chance, 5 %% are shown");
	run_pods(&two);
	ok(two.differ > 12 && two.differ < 48 && two.shown < 48, "so do two");
	run_pods(&apart);
	ok(apart.differ > 120 && apart.both * 10 < apart.differ,
	   "two that are shown to differ show no more than two units can");
	run_pods(&many);
	ok(many.shown < 30, "three that differ are shown at 5 %%");
}

/* The words and the interval beside them never contradict each other. */
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
	   "Holm's words and intervals agree (%u of 300 shown, %u wrong)", shown, wrong);
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
	ok(h.n_stamps == 2 && !h.stamping && health_pace_s(&h) < 1.0, "stamps are read");
	is_near(health_time_of(&h, 300, &after), 1001.0, 1e-6, "by the pod's clock");
	is_near(after, 1000.99, 1e-6, "and when the bytes were not there");
	is_near(health_time_of(&h, 401, &after), 1002.0, 1e-6, "each its own");
	is_near(health_time_of(&h, 501, &after), 1003.6, 1e-9,
		"what they do not reach has a sample of the host");
	ok(health_sum(&h, NAN, NAN).stamped, "the run has stamps");
	health_release(&h);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		health_init(&h, str_from("! stamps\n"), str_from(""), str_from(broken[i]));
		ok(h.stamping && h.n_stamps == 0 && !health_sum(&h, NAN, NAN).stamped,
		   "stamps that contradict themselves are none: %zu", i);
		health_release(&h);
	}
}

static void test_health(void)
{
	struct health h;
	struct health_sum sum;
	double after;

	health_init(&h, str_from(host), str_from(gpu), str_from(""));
	is_int((long long)h.n_host, 5, "samples of the host");
	is_int((long long)h.n_gpu, 3, "samples of the GPU");
	is_near(h.gpu[1].up_s, 1001.6, 1e-9, "on the pod's steady clock");
	is_near(health_time_of(&h, 400, &after), 1002.6, 1e-9,
		"when a byte was written: not later");
	is_near(after, 1001.6, 1e-9, "nor earlier");
	ok(health_gpu_at(&h, 1002.4) == &h.gpu[2], "the nearest sample");
	ok(health_gpu_at(&h, 1020.0) == NULL, "that is not far");
	sum = health_sum(&h, NAN, NAN);
	ok(sum.n_gpu == 3 && sum.reasons == 0x24, "all bits of a run");
	is_near(sum.sm_mhz, 1790, 1e-9, "mean clock");
	is_near(sum.power_cap_share, 1.0 / 3.0, 1e-9, "share of power caps");
	is_near(sum.busy_cores, 1.1, 1e-9, "cores busy");
	is_near(sum.wait_s, 2.102, 1e-9, "waited for a CPU");
	is_near(sum.quota_s, 0.25, 1e-9, "held by the quota");
	is_str(sum.foreign, "4711", "somebody else on the GPU");
	is_near(sum.cores, 16, 1e-9, "cores of the host");
	sum = health_sum(&h, 1002.0, 1004.0);
	ok(sum.n_gpu == 1 && sum.reasons == 0, "only those of the window");
	health_release(&h);
	health_init(&h, str_from(""), str_from(""), str_from(""));
	sum = health_sum(&h, NAN, NAN);
	ok(isnan(sum.sm_mhz) && isnan(sum.busy_cores) && isnan(sum.temp_c) && isnan(sum.cores) &&
		   sum.n_gpu == 0,
	   "what is not there is absent, not 0");
	health_release(&h);
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
	test_arms_cores();
	test_best();
	test_worse();
	test_aa();
	test_marks();
	test_pods();
	test_pods_calibrated();
	test_holm_intervals();
	test_health();
	test_stamps();
	return tap_done();
}
