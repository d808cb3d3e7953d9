/* SPDX-License-Identifier: MIT */
/*
 * How each group of the leaderboard stands to the bar, and the exact words
 * for it; called by board_compute.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "model/board_internal.h"

#define NATS_TOLERANCE 1e-3 /* relative; beyond it: another tokenizer */

static void
verdict_init(struct board_verdict *v)
{
	*v = (struct board_verdict){
		.bar = RUN_ABSENT,
		.delta = RUN_ABSENT,
		.delta_nats = RUN_ABSENT,
		.nats_per_unit = RUN_ABSENT,
		.z = RUN_ABSENT,
		.p_z = RUN_ABSENT,
		.margin_root_n = RUN_ABSENT,
		.mean_needed = RUN_ABSENT,
		.delta_train_ms = RUN_ABSENT,
		.train_time = board_test_none(),
	};
	for (int i = 0; i < TRACK_TEST_COUNT; i++)
		v->tests[i] = board_test_none();
}

/* Nats per unit of the score, and where that is from. */
static void
find_nats(const struct board *board, struct board_group *group,
	  const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;

	if (strcmp(board_unit(group), "nats") == 0) {
		v->nats_per_unit = 1;
		v->nats_source = "the score is in nats";
	} else if (run_has(board->nats_per_bpb)) {
		v->nats_per_unit = board->nats_per_bpb;
		v->nats_source = board->nats_source;
	} else if (run_has(group->nats_per_bpb)) {
		v->nats_per_unit = group->nats_per_bpb;
		v->nats_source = "its logs: sum of losses / sum of BPB";
	} else if (base != NULL && run_has(base->nats_per_bpb)) {
		v->nats_per_unit = base->nats_per_bpb;
		v->nats_source = "the baseline's logs: sum of losses / sum of "
				 "BPB";
	}
	if (run_has(group->nats_per_bpb) && run_has(v->nats_per_unit) &&
	    v->nats_per_unit != 1 &&
	    fabs(group->nats_per_bpb / v->nats_per_unit - 1) > NATS_TOLERANCE)
		board_note(group,
			   "%.6f nats per BPB were given; its logs have %.6f",
			   v->nats_per_unit, group->nats_per_bpb);
	if (base != NULL && run_has(base->nats_per_bpb) &&
	    run_has(v->nats_per_unit) && v->nats_per_unit != 1 &&
	    fabs(base->nats_per_bpb / v->nats_per_unit - 1) > NATS_TOLERANCE)
		board_note(group,
			   "nats per BPB differ: %.6f here, %.6f in the logs "
			   "of the baseline",
			   v->nats_per_unit, base->nats_per_bpb);
}

/* The tests against a baseline; margin in the unit of the score. */
static void
test_baseline(struct board_verdict *v, const struct board_stats *a,
	      const struct board_stats *b, double margin)
{
	v->tests[TRACK_TEST_C] = board_test_one_sample(a, b->mean);
	v->tests[TRACK_TEST_D] = board_test_welch(a, b, 0);
	v->tests[TRACK_TEST_F] = board_test_pooled(a, b, 0);
	if (!run_has(margin))
		return;
	v->tests[TRACK_TEST_B] = board_test_welch(a, b, margin);
	v->tests[TRACK_TEST_E] = board_test_pooled(a, b, margin);
}

/* The seeds that both ran, in the order of the group. */
static void
compare_seeds(const struct board *board, struct board_group *group,
	      const struct board_group *base)
{
	double *a = xcalloc(2 * group->n_counted + 1, sizeof(*a));
	double *b = xcalloc(2 * base->n_counted + 1, sizeof(*b));
	double *a_seeds = a + group->n_counted, *b_seeds = b + base->n_counted;
	size_t n_a = board_seed_values(board, group, a, a_seeds);
	size_t n_b = board_seed_values(board, base, b, b_seeds);
	struct board_verdict *v = &group->verdict;
	struct map of_base; /* seed to its value */
	char key[32];

	map_init(&of_base);
	for (size_t k = 0; k < n_b; k++) {
		(void)snprintf(key, sizeof(key), "%.17g", b_seeds[k]);
		if (run_has(b_seeds[k]))
			(void)map_set(&of_base, str_from(key), &b[k]);
	}
	v->common = xcalloc(n_a + 1, sizeof(*v->common));
	for (size_t i = 0; i < n_a; i++) {
		const double *other;

		(void)snprintf(key, sizeof(key), "%.17g", a_seeds[i]);
		other = run_has(a_seeds[i]) ? map_get(&of_base, str_from(key))
					    : NULL;
		if (other != NULL)
			v->common[v->n_common++] =
				(struct board_common_seed){ a_seeds[i],
							    a[i] - *other };
	}
	map_release(&of_base, NULL);
	free(a);
	free(b);
}

/* Deltas and tests to the baseline; the bar where the rule has a margin. */
static void
measure_baseline(const struct board *board, struct board_group *group,
		 const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = board->track;
	double margin = RUN_ABSENT;

	if (group->score != base->score) {
		board_note(group,
			   "not compared: its score is %s, that of the "
			   "baseline %s",
			   group->score->name, base->score->name);
		return;
	}
	v->delta = group->seed_stats.mean - base->seed_stats.mean;
	v->delta_nats = v->delta * v->nats_per_unit;
	v->delta_train_ms = group->train_ms.mean - base->train_ms.mean;
	v->train_time = board_test_welch(&group->train_ms, &base->train_ms, 0);
	if (track->has_record && !run_has(track->target)) {
		margin = track->margin_nats == 0
				 ? 0
				 : track->margin_nats / v->nats_per_unit;
		v->bar = base->seed_stats.mean - margin;
	}
	test_baseline(v, &group->seed_stats, &base->seed_stats, margin);
	compare_seeds(board, group, base);
}

/* All numbers of a group's verdict. */
static void
measure(const struct board *board, struct board_group *group,
	const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = board->track;
	const struct board_stats *a = &group->seed_stats;

	find_nats(board, group, base);
	if (base != NULL && base != group)
		measure_baseline(board, group, base);
	if (run_has(track->target)) {
		v->bar = track->target;
		v->margin_root_n = (v->bar - a->mean) * sqrt((double)a->n);
		if (base == NULL) {
			v->delta = a->mean - v->bar;
			v->delta_nats = v->delta * v->nats_per_unit;
		}
	}
	if (!run_has(v->bar) || !track->has_record)
		return;
	v->tests[TRACK_TEST_A] = board_test_one_sample(a, v->bar);
	v->mean_needed = board_mean_needed(a, v->bar, track->alpha);
	v->seeds_needed = board_seeds_needed(a, v->bar, track->alpha,
					     (unsigned int)track->min_seeds);
	if (run_has(track->known_sd) && a->n > 0) {
		v->z = (a->mean - v->bar) /
		       (track->known_sd / sqrt((double)a->n));
		v->p_z = dist_normal_cdf(v->z);
	}
}

/* "bytes/time": the caps in that state, as the words name them. */
static void
list_caps(char *out, size_t size, const struct board_group *group,
	  enum board_kept state, const char *sep)
{
	static const char *const words[BOARD_CAP_COUNT] = { "bytes", "time",
							    "time", "targets" };
	size_t len = 0;

	out[0] = '\0';
	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		if (group->caps[cap] != state ||
		    (cap == BOARD_CAP_EVAL &&
		     group->caps[BOARD_CAP_TRAIN] == state) ||
		    (cap == BOARD_CAP_TARGETS && state == CAP_UNKNOWN))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%s",
					len > 0 ? sep : "", words[cap]);
	}
}

/* p with two digits, or as many as show that it is not below alpha. */
static void
format_p(char *out, size_t size, double p, double alpha)
{
	double shown;

	for (int digits = 2; digits <= 6; digits++) {
		(void)snprintf(out, size, "%.*g", digits, p);
		if (!str_to_double(str_from(out), &shown) || p < alpha ||
		    shown > alpha)
			return;
	}
}

static bool
test_passes(const struct board *board, const struct board_verdict *v, size_t i)
{
	return v->tests[board->track->tests[i]].p < board->track->alpha;
}

/* The list of the tests that pass: "A,B", or "A only" where one does not. */
static void
list_passed(char *out, size_t size, const struct board *board,
	    const struct board_verdict *v)
{
	size_t len = 0, passed = 0;

	out[0] = '\0';
	for (size_t i = 0; i < board->track->n_tests; i++) {
		if (!test_passes(board, v, i))
			continue;
		passed++;
		len += (size_t)snprintf(out + len, size - len, "%s%c",
					len > 0 ? "," : "",
					'A' + (int)board->track->tests[i]);
	}
	if (passed < board->track->n_tests)
		(void)snprintf(out + len, size - len, " only");
}

/* The mean is past the bar: is it shown? */
static void
word_past_bar(const struct board *board, struct board_group *group)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = board->track;
	bool target = run_has(track->target);
	double p = v->tests[track->tests[0]].p;
	char p_text[32], passed[32], unchecked[64];

	format_p(p_text, sizeof(p_text), p, track->alpha);
	if (test_passes(board, v, 0)) {
		v->word = BOARD_WORD_SHOWN;
		list_passed(passed, sizeof(passed), board, v);
		list_caps(unchecked, sizeof(unchecked), group, CAP_UNKNOWN,
			  ", ");
		(void)snprintf(v->text, sizeof(v->text), "%s (%s%s)%s%s%s",
			       target ? "TARGET SHOWN" : "RECORD SHOWN",
			       target ? "p=" : "", target ? p_text : passed,
			       unchecked[0] ? ", UNCHECKED (" : "", unchecked,
			       unchecked[0] ? ")" : "");
		return;
	}
	v->word = BOARD_WORD_NOT_SHOWN;
	if (!run_has(p))
		(void)snprintf(v->text, sizeof(v->text),
			       "%s, NOT SHOWN (no spread, no test)",
			       target ? "MEETS TARGET" : "BEATS BAR");
	else if (v->seeds_needed > 0)
		(void)snprintf(v->text, sizeof(v->text),
			       "%s, NOT SHOWN (p=%s, need ~%u seeds)",
			       target ? "MEETS TARGET" : "BEATS BAR", p_text,
			       v->seeds_needed);
	else
		(void)snprintf(v->text, sizeof(v->text),
			       "%s, NOT SHOWN (p=%s, need over %u seeds)",
			       target ? "MEETS TARGET" : "BEATS BAR", p_text,
			       BOARD_MAX_NEEDED);
}

/* Fill word and text; the gates in their order, the first that fails says. */
static void
word_group(const struct board *board, struct board_group *group,
	   const struct board_group *base)
{
	struct board_verdict *v = &group->verdict;
	const struct track *track = board->track;
	char broken[64];

	list_caps(broken, sizeof(broken), group, CAP_BROKEN, "/");
	if (group == base) {
		v->word = BOARD_WORD_BASELINE;
		(void)snprintf(v->text, sizeof(v->text), "BASELINE");
	} else if (group->n_counted == 0) {
		v->word = BOARD_WORD_NO_RUNS;
		(void)snprintf(v->text, sizeof(v->text), "NO RUN COUNTS");
	} else if (broken[0] != '\0') {
		v->word = BOARD_WORD_INVALID;
		(void)snprintf(v->text, sizeof(v->text), "INVALID (%s)",
			       broken);
	} else if (!track->has_record ||
		   (!run_has(track->target) && base == NULL)) {
		v->word = BOARD_WORD_NONE;
	} else if (!run_has(v->bar)) {
		v->word = BOARD_WORD_NOT_JUDGED;
		(void)snprintf(v->text, sizeof(v->text), "NOT JUDGED (%s)",
			       base->n_counted == 0
				       ? "the baseline has no run that counts"
			       : base->score != group->score
				       ? "another score than the baseline"
				       : "nats per BPB unknown");
	} else if (group->n_seeds < track->min_seeds) {
		v->word = BOARD_WORD_NOT_JUDGED;
		(void)snprintf(v->text, sizeof(v->text),
			       "NOT JUDGED (%zu seed%s, need %zu)",
			       group->n_seeds, group->n_seeds == 1 ? "" : "s",
			       track->min_seeds);
	} else if (!(group->seed_stats.mean <= v->bar)) {
		v->word = BOARD_WORD_BELOW_BAR;
		(void)snprintf(v->text, sizeof(v->text), "%s",
			       run_has(track->target) ? "MISSES TARGET"
						      : "BELOW BAR");
	} else {
		word_past_bar(board, group);
	}
}

void
board_judge(struct board *board)
{
	const struct board_group *base = board_baseline(board);

	board_check_caps(board);
	for (size_t i = 0; i < board->n_groups; i++) {
		verdict_init(&board->groups[i].verdict);
		measure(board, &board->groups[i], base);
		word_group(board, &board->groups[i], base);
	}
}
