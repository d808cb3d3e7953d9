/* SPDX-License-Identifier: MIT */
/* board: the published tables to eight digits, and all ways in which runs count once, not at all,
 * or as the same seed. */
#include "model/board.h"

#include <stdlib.h>

#include "base/dist.h"

#include "tests/support/tap.h"

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define EIGHT 5e-9

/* A finished run from a table. */
struct given {
	double seed, steps, train_ms, bpb, eval_s, bytes;
};

static const struct given pr2014[] = {
	{ 42, 4888, 596025, 1.05740567, 572.4, 15981945 },
	{ 314, 4882, 595976, 1.05730104, 489.9, 15984387 },
	{ 0, 4884, 596022, 1.05807084, 493.5, 15981122 },
};
static const double pr1855[] = { 1.05989454, 1.06124613, 1.06208695 };
static const double fija[] = { 1.05792612, 1.05851698, 1.05849304 };
#define K 2.1883706733

static struct track golf, speedrun, open_track;

static struct board_row *add(struct board *board, const char *path, const char *key,
			     const char *sha, const struct given *given)
{
	struct run run;
	struct board_row *row;

	run_init(&run);
	run.status = RUN_FINISHED;
	run.seed = given->seed;
	run.steps = given->steps;
	run.train_ms = given->train_ms;
	run.final_bpb = given->bpb;
	run.eval_s = given->eval_s;
	run.artifact_bytes = given->bytes;
	row = board_add(board, path, key, sha, &run);
	run_release(&run);
	return row;
}

static void add_2014(struct board *board)
{
	for (size_t i = 0; i < 3; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "pr2014/seed%.0f.log", pr2014[i].seed);
		add(board, path, "pr2014", NULL, &pr2014[i]);
	}
}

static void against_1855(struct board *board)
{
	struct err err = { ERR_NONE, "" };

	board->nats_per_bpb = K;
	board_add_values(board, "PR#1855", pr1855, 3);
	ok(board_set_baseline(board, "PR#1855", &err) == 0, "a baseline");
	board_compute(board);
}

static void is_test(const struct board_test *test, double t, double df, double p, const char *name)
{
	char text[80];

	(void)snprintf(text, sizeof(text), "%s: t", name);
	is_near(test->t, t, EIGHT * 10, text);
	(void)snprintf(text, sizeof(text), "%s: df", name);
	is_near(test->df, df, EIGHT * 10, text);
	(void)snprintf(text, sizeof(text), "%s: p", name);
	is_near(test->p, p, EIGHT, text);
	(void)snprintf(text, sizeof(text), "%s: two-sided is twice p", name);
	is_near(test->p_two_sided, 2 * test->p, 1e-12, text);
}

static void test_published(void)
{
	struct board board;
	const struct board_group *g, *base;
	const struct board_verdict *v;

	board_init(&board, &golf);
	add_2014(&board);
	against_1855(&board);
	g = &board.groups[0];
	base = &board.groups[1];
	v = &g->verdict;
	is_near(g->stats.mean, 1.0575925167, 1e-10, "mean");
	is_near(g->stats.sd_population, 0.0003409123, 1e-10, "population sd");
	is_near(g->stats.sd_sample, 0.0004175306, 1e-10, "sample sd");
	is_near(g->stats.se, 0.0002410614, 1e-10, "standard error");
	is_near(base->stats.mean, 1.0610758733, 1e-10, "mean of the baseline");
	is_near(base->stats.sd_population, 0.0009031079, 1e-10, "sd (n) of the baseline");
	is_near(base->stats.sd_sample, 0.0011060768, 1e-10, "sd (n-1) of the baseline");
	is_near(base->stats.se, 0.0006385937, 1e-10, "standard error of the baseline");
	is_near(v->bar, 1.0587910685, 1e-10, "bar");
	is_near(v->delta, -0.0034833567, 1e-10, "delta in BPB");
	is_near(v->delta_nats, -0.0076228756, 1e-10, "delta in nats");
	is_near(v->mean_needed, 1.05711218, EIGHT, "mean needed");
	is_int(v->seeds_needed, 4, "four seeds needed");
	is_test(&v->tests[TRACK_TEST_A], -4.9719776, 2, 0.01907608, "A");
	is_test(&v->tests[TRACK_TEST_B], -1.7559195, 2.5586448, 0.09647153, "B");
	is_test(&v->tests[TRACK_TEST_C], -14.4500818, 2, 0.00237751, "C");
	is_test(&v->tests[TRACK_TEST_D], -5.1032370, 2.5586448, 0.01060435, "D");
	is_test(&v->tests[TRACK_TEST_E], -1.7559195, 4, 0.07697419, "E");
	is_test(&v->tests[TRACK_TEST_F], -5.1032370, 4, 0.00348344, "F");
	is_str(v->text, "BEATS BAR, NOT SHOWN (p=0.019, need ~4 seeds)", "the text");
	is_str(v->nats_source, "given", "source of nats per BPB");
	is_str(base->verdict.text, "BASELINE", "the baseline has no verdict");
	is_near(board_mean(g, "eval_s"), 518.6, 1e-9, "mean eval s");
	is_near(board_mean(g, "artifact_bytes"), 15982484.6666667, 1e-8, "mean bytes");
	is_near(board_mean(g, "prequant_bpb"), RUN_ABSENT, 0, "no mean without values");
	for (int cap = 0; cap < BOARD_CAP_TARGETS; cap++)
		is_int(g->caps[cap], CAP_KEPT, "the cap is kept");
	is_int(g->caps[BOARD_CAP_TARGETS], CAP_UNKNOWN, "the number of targets is unknown");
	is_int((long long)board.rank[0], 0, "the better group is first");
	board_release(&board);
}

static void test_reproduction(void)
{
	struct board board;
	const struct board_verdict *v;

	board_init(&board, &golf);
	board_add_values(&board, "fija", fija, 3);
	against_1855(&board);
	v = &board.groups[0].verdict;
	is_near(board.groups[0].stats.mean, 1.0583120467, 1e-10, "mean");
	is_near(board.groups[0].stats.sd_population, 0.0002730663, 1e-10, "sd (n)");
	is_near(board.groups[0].stats.sd_sample, 0.0003344366, 1e-10, "sd (n-1)");
	is_near(board.groups[0].stats.se, 0.0001930870, 1e-10, "se");
	is_test(&v->tests[TRACK_TEST_A], -2.4808592, 2, 0.06562069, "A");
	is_test(&v->tests[TRACK_TEST_B], -0.7180158, 2.3626621, 0.26855853, "B");
	is_test(&v->tests[TRACK_TEST_C], -14.3138894, 2, 0.00242264, "C");
	is_test(&v->tests[TRACK_TEST_D], -4.1427577, 2.3626621, 0.01999148, "D");
	is_test(&v->tests[TRACK_TEST_E], -0.7180158, 4, 0.25622489, "E");
	is_test(&v->tests[TRACK_TEST_F], -4.1427577, 4, 0.00717218, "F");
	ok(strncmp(v->text, "BEATS BAR, NOT SHOWN (p=0.066, need ~", 37) == 0, "words: %s",
	   v->text);
	board_release(&board);
}

/* Check the verdict of one group of golf rows against #1855; returns the bar. */
static double is_word(const struct given *rows, size_t n, const char *want)
{
	struct board board;
	double bar;

	board_init(&board, &golf);
	for (size_t i = 0; i < n; i++)
		add(&board, "g/x.log", "g", NULL, &rows[i]);
	against_1855(&board);
	is_str(board.groups[0].verdict.text, want, want);
	bar = board.groups[0].verdict.bar;
	board_release(&board);
	return bar;
}

static void test_words(void)
{
	struct given r[] = {
		{ 1, 4888, 596025, 1.0550, 572.4, 15981945 },
		{ 2, 4882, 595976, 1.0551, 489.9, 15984387 },
		{ 3, 4884, 596022, 1.0552, 493.5, 15981122 },
	};

	(void)is_word(r, 3, "RECORD SHOWN (A only)");
	r[0].bpb -= 0.01, r[1].bpb -= 0.01, r[2].bpb -= 0.01;
	(void)is_word(r, 3, "RECORD SHOWN (A,B)");
	r[1].bytes = RUN_ABSENT;
	(void)is_word(r, 3, "RECORD SHOWN (A,B), UNCHECKED (bytes)");
	r[2].eval_s = RUN_ABSENT;
	(void)is_word(r, 3, "RECORD SHOWN (A,B), UNCHECKED (bytes, time)");
	r[1].bytes = 16000001;
	(void)is_word(r, 3, "INVALID (bytes)");
	r[1].bytes = 16000000;
	r[0].train_ms = 600000 + 2 * 600000.0 / 4888 + 1;
	(void)is_word(r, 3, "INVALID (time)");
	r[2].eval_s = 600.001;
	r[2].bytes = 17e6;
	(void)is_word(r, 3, "INVALID (bytes/time)");
	r[2].eval_s = 600;
	r[2].bytes = 16e6;
	r[0].train_ms = 600000 + 600000.0 / 4888;
	(void)is_word(r, 3, "RECORD SHOWN (A,B)");
	(void)is_word(r, 2, "NOT JUDGED (2 seeds, need 3)");
	(void)is_word(r, 1, "NOT JUDGED (1 seed, need 3)");
	r[0].bpb = r[1].bpb = r[2].bpb = 1.05;
	(void)is_word(r, 3, "BEATS BAR, NOT SHOWN (no spread, no test)");
	r[0].bpb = r[1].bpb = r[2].bpb = 1.0589;
	r[0].bpb = r[1].bpb = r[2].bpb = is_word(r, 3, "MISSES THE BAR by 0.0001") + 2e-6;
	(void)is_word(r, 3, "MISSES THE BAR by 0.000002");
}

static void test_targets(void)
{
	struct board board;
	struct board_row *row;

	board_init(&board, &golf);
	for (size_t i = 0; i < 3; i++) {
		row = add(&board, "g/x.log", "g", NULL, &pr2014[i]);
		row->run.val_tokens = 47851520;
		row->run.target_tokens = i == 1 ? 47851519 : 47851520;
	}
	against_1855(&board);
	is_str(board.groups[0].verdict.text, "INVALID (targets)",
	       "one target less is not the whole set");
	is_str(board.rows[1]->note, "47,851,519 of 47,851,520 targets scored",
	       "the row shows how many targets were scored");
	board_release(&board);
}

/* Without nats per BPB a margin in nats cannot be converted. */
static void test_nats(void)
{
	struct err err = { ERR_NONE, "" };
	struct board board;

	board_init(&board, &golf);
	add_2014(&board);
	board_add_values(&board, "base", pr1855, 3);
	ok(board_set_baseline(&board, "base", &err) == 0, "baseline");
	board_compute(&board);
	is_str(board.groups[0].verdict.text, "NOT JUDGED (nats per BPB unknown)",
	       "no nats per BPB, no verdict");
	is_near(board.groups[0].verdict.bar, RUN_ABSENT, 0, "no bar");
	is_near(board.groups[0].verdict.delta, -0.0034833567, 1e-10, "delta");
	is_near(board.groups[0].verdict.delta_nats, RUN_ABSENT, 0, "no nats");
	is_near(board.groups[0].verdict.tests[TRACK_TEST_D].p, 0.01060435, EIGHT,
		"test D needs no "
		"nats per BPB");
	board_release(&board);

	board_init(&board, &golf);
	for (size_t i = 0; i < 3; i++) {
		struct board_row *row = add(&board, "g/x.log", "g", NULL, &pr2014[i]);

		row->run.final_val_loss = pr2014[i].bpb * K;
	}
	board_add_values(&board, "base", pr1855, 3);
	ok(board_set_baseline(&board, "base", &err) == 0, "baseline");
	board_compute(&board);
	is_near(board.groups[0].verdict.nats_per_unit, K, 1e-10,
		"nats per BPB from the runs' own "
		"losses");
	is_near(board.groups[0].verdict.bar, 1.0587910685, 1e-10, "bar");
	board_release(&board);

	board_init(&board, &golf);
	for (size_t i = 0; i < 3; i++) {
		struct board_row *row = add(&board, "g/x.log", "g", NULL, &pr2014[i]);

		row->run.final_val_loss = pr2014[i].bpb * K;
	}
	board.nats_per_bpb = 2.58;
	board_compute(&board);
	ok(board.groups[0].n_notes == 1 && strstr(board.groups[0].notes[0], "2.188371") != NULL,
	   "a value that differs from the logs' own is reported");
	board_release(&board);
}

static void test_copies(void)
{
	struct board board;
	struct given again = pr2014[0], other;
	const struct board_group *g;

	board_init(&board, &golf);
	add(&board, "g/train.log", "g", SHA_A, &pr2014[0]);
	add(&board, "g/train_seed42.log", "g", SHA_A, &pr2014[0]);
	add(&board, "g/b.log", "g", SHA_B, &again);
	again.train_ms += 1;
	add(&board, "g/c.log", "g", NULL, &again);
	other = pr2014[1];
	other.seed = RUN_ABSENT;
	add(&board, "g/d.log", "g", NULL, &other);
	add(&board, "h/copy.log", "h", SHA_A, &pr2014[0]);
	board_compute(&board);
	g = &board.groups[0];
	is_int(board.rows[0]->use, BOARD_COUNTED, "the first log counts");
	is_int(board.rows[1]->use, BOARD_COPY, "a byte-identical log does not count");
	is_str(board.rows[1]->note, "= train.log, same bytes", "the note names the other log");
	is_int(board.rows[2]->use, BOARD_SAME_RUN, "another log of the same run does not count");
	is_int(board.rows[3]->use, BOARD_COUNTED, "a rerun of a seed counts");
	ok(board.rows[3]->seed_again, "a rerun does not count as another seed");
	is_str(board.rows[3]->note, "seed 42 repeated", "the note of a rerun names the seed");
	is_int((long long)g->n_counted, 3, "three runs");
	is_int((long long)g->n_seeds, 2, "two seeds");
	is_int((long long)g->seed_stats.n, 2, "two values for the tests");
	is_near(g->seed_stats.mean, (1.05740567 + 1.05730104) / 2, 1e-12, "one value per seed");
	is_int(board.rows[5]->use, BOARD_COUNTED, "another group counts the same log");
	ok(board.groups[1].n_notes == 1 && strstr(board.groups[1].notes[0], "both groups") != NULL,
	   "report that it is in both");
	is_int((long long)g->n_notes, 3, "the group has three notes");
	board_release(&board);
}

/* Runs of one group with different recipes. */
static void test_unlike(void)
{
	struct board board;
	const struct board_group *g = NULL;

	board_init(&board, &golf);
	for (size_t i = 0; i < 3; i++) {
		struct board_row *row = add(&board, "g/x.log", "g", NULL, &pr2014[i]);

		row->run.n_gpus = i == 2 ? 2 : 8;
		row->run.final_class = i == 0 ? "ttt" : "sliding";
	}
	board_compute(&board);
	g = &board.groups[0];
	is_int((long long)g->n_notes, 2, "two things differ");
	if (g->n_notes == 2) {
		is_str(g->notes[0], "numbers of GPUs differ between runs: 8 (2 runs), 2 (1 run)",
		       "a note about the GPUs");
		is_str(g->notes[1],
		       "score stages differ between runs: ttt (1 run), sliding (2 runs)",
		       "a note about the score stages");
	}
	board_release(&board);
}

/* A time in tenths of a minute does not distinguish runs. */
static void test_coarse_time(void)
{
	struct board board;
	struct given a = pr2014[0], b;

	board_init(&board, &golf);
	a.seed = RUN_ABSENT;
	b = a;
	add(&board, "g/a.log", "g", NULL, &a);
	add(&board, "g/b.log", "g", NULL, &b);
	a.train_ms = b.train_ms = 60000;
	add(&board, "g/c.log", "g", NULL, &a);
	add(&board, "g/d.log", "g", NULL, &b);
	a.seed = 1;
	b.seed = 2;
	a.train_ms = b.train_ms = 1234;
	add(&board, "g/e.log", "g", NULL, &a);
	add(&board, "g/f.log", "g", NULL, &b);
	board_compute(&board);
	is_int(board.rows[1]->use, BOARD_SAME_RUN, "two logs with equal milliseconds are one run");
	is_int(board.rows[3]->use, BOARD_COUNTED, "two logs with equal minutes are two runs");
	is_int(board.rows[5]->use, BOARD_COUNTED, "two logs of two seeds are two runs");
	board_release(&board);
}

/* Four runs of one seed, as in a published record. */
static void test_one_seed(void)
{
	static const double bpb[] = { 1.1935, 1.1927, 1.1921, 1.1929 };
	struct board board;
	struct given given = pr2014[0];
	const struct board_group *g;

	board_init(&board, &golf);
	given.seed = 1337;
	for (size_t i = 0; i < 4; i++) {
		given.bpb = bpb[i];
		add(&board, "g/v.txt", "g", NULL, &given);
	}
	against_1855(&board);
	g = &board.groups[0];
	is_near(g->stats.mean, 1.1928, 1e-12, "mean of the runs");
	is_near(g->stats.sd_sample, 0.00057735, EIGHT, "sd (n-1) of the runs");
	is_near(g->stats.sd_population, 0.0005, 1e-10, "sd (n) of the runs");
	is_int((long long)g->n_seeds, 1, "one seed");
	is_near(g->verdict.tests[TRACK_TEST_A].p, RUN_ABSENT, 0, "one seed allows no test");
	is_str(g->verdict.text, "NOT JUDGED (1 seed, need 3)", "one seed: no verdict");
	board_release(&board);
}

static void test_uncounted(void)
{
	struct board board;
	struct board_row *row;
	const struct board_group *g;
	struct given none = pr2014[1];

	board_init(&board, &golf);
	add(&board, "g/a.log", "g", NULL, &pr2014[0]);
	row = add(&board, "g/b.log", "g", NULL, &pr2014[1]);
	row->run.status = RUN_TRUNCATED;
	row = add(&board, "g/c.log", "g", NULL, &pr2014[2]);
	row->run.status = RUN_DIVERGED;
	none.bpb = RUN_ABSENT;
	add(&board, "g/d.log", "g", NULL, &none);
	row = add(&board, "h/e.log", "h", NULL, &pr2014[2]);
	row->run.status = RUN_OOM;
	against_1855(&board);
	g = &board.groups[0];
	is_int((long long)g->n_counted, 1, "one run of four counts");
	is_int((long long)g->n_uncounted[BOARD_UNFINISHED], 2, "two runs are unfinished");
	is_int((long long)g->n_uncounted[BOARD_NO_SCORE], 1, "one run has no score");
	is_near(g->stats.mean, pr2014[0].bpb, 1e-15, "the mean contains only the run that counts");
	is_near(g->stats.sd_sample, RUN_ABSENT, 0, "one value has no spread");
	is_near(g->stats.sd_population, RUN_ABSENT, 0, "one value has no population sd");
	is_near(g->stats.se, RUN_ABSENT, 0, "one value has no standard error");
	is_str(board.rows[2]->note, "diverged, not counted", "the note has the reason: diverged");
	is_str(board.rows[3]->note, "no final_bpb, not counted",
	       "the note has the reason: no score");
	is_str(board.groups[1].verdict.text, "NO RUN COUNTS",
	       "the verdict of a group without runs");
	is_near(board.groups[1].stats.mean, RUN_ABSENT, 0, "no mean");
	AUTO_BUF why = buf_new(256);
	board_list_uncounted(g, &why);
	is_str(why.data, "2 not finished, 1 no score", "why three of them do not count");
	is_int((long long)board.rank[2], 1, "a group without runs that count ranks last");
	board_release(&board);
}

/* The repeated groups of speedruns, as published by their authors. */
static void test_speedrun(void)
{
	static const double batching[] = { 3.2747, 3.2771, 3.2745, 3.2794, 3.2767 };
	static const double psgd[] = { 3.27503, 3.2764, 3.27766, 3.27678, 3.27739 };
	static const double soaph[] = { 3.2778, 3.27794, 3.27895, 3.27877, 3.27863, 3.27696 };
	struct board board;
	const struct board_verdict *v;

	board_init(&board, &speedrun);
	board_add_values(&board, "batching", batching, 5);
	board_add_values(&board, "psgd", psgd, 5);
	board_add_values(&board, "soaph", soaph, 6);
	board_compute(&board);
	v = &board.groups[0].verdict;
	is_near(v->tests[TRACK_TEST_A].t, -3.92959, 5e-7, "batching: t");
	is_near(v->tests[TRACK_TEST_A].p, 0.00855446, 5e-9, "batching: p");
	is_near(v->p_z, 7.03905e-10, 5e-15, "batching: p of z");
	is_str(v->text, "TARGET SHOWN (p=0.0086)", "batching: words");
	v = &board.groups[1].verdict;
	is_near(v->tests[TRACK_TEST_A].p, 0.000963452, 5e-10, "psgd: p");
	is_near(v->z, -5.758735, 5e-7, "psgd: z");
	v = &board.groups[2].verdict;
	is_near(v->tests[TRACK_TEST_A].p, 0.000966916, 5e-10, "soaph: p");
	is_near(v->target.margin_root_n, 0.00447, 5e-6, "soaph: margin times root n");
	is_str(board_unit(&board, &board.groups[2]), "nats", "a loss is in nats");
	board_release(&board);
}

static void test_open(void)
{
	struct err err = { ERR_NONE, "" };
	struct board board;

	board_init(&board, &open_track);
	add_2014(&board);
	board_add_values(&board, "base", pr1855, 3);
	ok(board_set_baseline(&board, "base", &err) == 0, "baseline");
	board_compute(&board);
	is_str(board.groups[0].verdict.text, "", "no rule, no verdict");
	is_near(board.groups[0].verdict.tests[TRACK_TEST_D].p, 0.01060435, EIGHT,
		"the plain comparison is shown");
	is_int(board.groups[0].caps[BOARD_CAP_BYTES], CAP_NONE, "no caps");
	board_release(&board);
}

/* A directory name that every project has does not name a group; its parent does. */
static void test_common_folders(void)
{
	static const struct {
		const char *keys[2], *titles[2];
	} v[] = {
		{ { "w/VarLenAttn/logs" }, { "VarLenAttn/logs" } },
		{ { "w/a/out/runs" }, { "a/out/runs" } },
		{ { "w/a/logs", "w/a/b" }, { "a/logs", "b" } },
		{ { "w/a/logs", "w/b/logs" }, { "a/logs", "b/logs" } },
		{ { "w/changelogs", "w/logs-2" }, { "changelogs", "logs-2" } },
		{ { "logs" }, { "logs" } },
		{ { "/logs" }, { "/logs" } },
	};

	for (size_t i = 0; i < LENGTH(v); i++) {
		struct board board;

		board_init(&board, &golf);
		for (size_t k = 0; k < 2 && v[i].keys[k] != NULL; k++)
			add(&board, "a.log", v[i].keys[k], NULL, &pr2014[0]);
		board_compute(&board);
		for (size_t k = 0; k < board.n_groups; k++)
			is_str(board.groups[k].title, v[i].titles[k], v[i].keys[k]);
		board_release(&board);
	}
}

/* Only a whole word of a metric's name shows that higher is better. */
static void test_direction(void)
{
	static const char *const higher[] = {
		"val_acc", "accuracy", "top1_acc", "acc5",	  "valAcc",
		"mfu",	   "eval/F1",  "tok/s",	   "mean_reward", "rewards/accuracies"
	};
	static const char *const lower[] = { "data_access_ms", "vacc_temp", "acceptance_gap_ms",
					     "score_loss",     "loss",	    "accError",
					     "fmfu2x",	       "step_ms",   "" };

	for (size_t i = 0; i < LENGTH(higher); i++)
		ok(board_is_higher_better(higher[i]), "more %s is better", higher[i]);
	for (size_t i = 0; i < LENGTH(lower); i++)
		ok(!board_is_higher_better(lower[i]), "less \"%s\" is better", lower[i]);
}

static void test_baseline_name(void)
{
	struct err err = { ERR_NONE, "" };
	struct board board;

	board_init(&board, &golf);
	add(&board, "r/a/x/1.log", "r/a/x", NULL, &pr2014[0]);
	add(&board, "r/b/x/1.log", "r/b/x", NULL, &pr2014[0]);
	is_int(board_set_baseline(&board, "x", &err), -1,
	       "a name that two groups end with is ambiguous");
	is_int(board_set_baseline(&board, "c", &err), -1,
	       "a name that no group ends with is unknown");
	is_str(err.text, "baseline: unknown group \"c\"", "the error names the group");
	is_int(board_set_baseline(&board, "b/x/", &err), 0, "a longer end names one group");
	board_compute(&board);
	is_str(board.groups[0].title, "a/x", "titles without the common part");
	is_str(board.rows[0]->name, "1.log", "names of rows are relative to their group");
	ok(board_baseline(&board) == &board.groups[1], "the group with that key is the baseline");
	is_int((long long)board.groups[0].verdict.n_common, 1, "a seed that both groups ran");
	board_release(&board);
}

/* A normal random number from the test's own generator (Marsaglia, xorshift). */
static double draw_normal(uint64_t *state)
{
	double u[2];

	for (size_t i = 0; i < 2; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		u[i] = ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
	}
	return sqrt(-2 * log(u[0])) * cos(2 * M_PI * u[1]);
}

/* The share of 20,000 tests with n seeds of that group that would pass. */
static double simulate(const struct board_stats *group, double bar, unsigned int n)
{
	uint64_t state = 88172645463325252U;
	int passed = 0;

	for (int i = 0; i < 20000; i++) {
		double values[128];
		struct board_stats stats;

		for (unsigned int k = 0; k < n; k++)
			values[k] = group->mean + group->sd_sample * draw_normal(&state);
		board_stats_of(&stats, values, n);
		passed += board_test_one_sample(&stats, bar).p < 0.01;
	}
	return passed / 20000.0;
}

static void test_plan(void)
{
	struct board board;
	const struct board_group *g;
	const struct board_verdict *v;

	board_init(&board, &golf);
	add_2014(&board);
	board_row_price(board.rows[0], 20);
	board_row_price(board.rows[2], RUN_ABSENT);
	against_1855(&board);
	g = &board.groups[0];
	v = &g->verdict;
	is_near(board.rows[0]->usd, 20 * (596.025 + 572.4) / 3600, 1e-9,
		"the cost of a run from its log");
	is_near(v->usd_seed, board.rows[0]->usd, 1e-12,
		"the price per seed is the mean of the runs with a price");
	is_near(v->usd_more, v->usd_seed * (v->seeds_planned - 3), 1e-9,
		"the price of the missing seeds");
	ok(v->seeds_planned > v->seeds_needed,
	   "power needs more seeds than the current p suggests");
	ok(simulate(&g->seed_stats, v->bar, v->seeds_planned) > 0.8,
	   "20,000 tests with that many seeds pass as often as planned");
	ok(simulate(&g->seed_stats, v->bar, v->seeds_planned - 1) < 0.8,
	   "one seed less would not be enough");
	is_int(board.groups[1].verdict.seeds_planned, 0, "no plan for the baseline");
	board_release(&board);
	for (double effect = 0.4; effect < 3; effect *= 1.6) {
		const struct board_stats a = { .n = 3, .mean = 1 - effect, .sd_sample = 1 };
		unsigned int n = board_seeds_planned(&a, 1, 0.01, 0.8, 2);
		double power = dist_t_power(effect * sqrt(n), n - 1.0, 0.01);

		is_near(power, simulate(&a, 1, n), 0.02, "the power of 20,000 simulated tests");
		ok(power >= 0.8 && simulate(&a, 1, n - 1) < 0.8,
		   "as many seeds as requested, and no more");
	}
	is_int(board_seeds_planned(&(struct board_stats){ .n = 3, .mean = 1.001, .sd_sample = 1 },
				   1, 0.01, 0.8, 2),
	       0, "no number of seeds helps a mean that misses the bar");
}

/* A group with running runs: its verdict and its rank may change. */
static void test_provisional(void)
{
	static const double losses[] = { 3.2701, 3.2702, 3.2703 };
	struct board board;

	board_init(&board, &speedrun);
	for (size_t i = 0; i < 7; i++) {
		struct given given = { .seed = (double)i, .steps = 1000 };
		bool is_fast = i < 4;
		char path[32];

		given.train_ms = (is_fast ? 100e3 : 200e3) + (double)i;
		print_into(path, "%s/%zu", is_fast ? "fast" : "slow", i);
		struct board_row *row = add(&board, path, is_fast ? "fast" : "slow", NULL, &given);
		row->run.final_val_loss = losses[i % 3];
		if (i == 3)
			row->run.status = RUN_RUNNING;
	}
	board_compute(&board);
	const struct board_group *fast = &board.groups[0], *slow = &board.groups[1];
	ok(slow->verdict.word == BOARD_WORD_SHOWN && !slow->verdict.is_provisional &&
		   slow->rank == 0,
	   "a complete group ranks first: %s", slow->verdict.text);
	ok(fast->verdict.word == BOARD_WORD_SHOWN && fast->verdict.is_provisional &&
		   fast->rank == 1 &&
		   strncmp(fast->verdict.text, "PROVISIONAL: TARGET SHOWN (p=", 29) == 0 &&
		   strstr(fast->verdict.text, "; 1 run still running") != NULL,
	   "a faster one that still runs follows: %s", fast->verdict.text);
	board_release(&board);
}

int main(void)
{
	struct err err = { ERR_NONE, "" };

	if (track_load(&golf, "parameter-golf-10min", &err) != 0 ||
	    track_load(&speedrun, "nanogpt-speedrun", &err) != 0 ||
	    track_load(&open_track, "open", &err) != 0) {
		ok(false, "tracks: %s", err.text);
		return tap_done();
	}
	test_published();
	test_reproduction();
	test_plan();
	test_words();
	test_targets();
	test_nats();
	test_copies();
	test_unlike();
	test_coarse_time();
	test_one_seed();
	test_uncounted();
	test_speedrun();
	test_provisional();
	test_open();
	test_common_folders();
	test_direction();
	test_baseline_name();
	track_release(&golf);
	track_release(&speedrun);
	track_release(&open_track);
	return tap_done();
}
