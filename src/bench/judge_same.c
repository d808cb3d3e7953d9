/* SPDX-License-Identifier: MIT */
/*
 * Did the arms do the same work, in the same surroundings?  What each run and
 * each arm is held against the control for; called by judge.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/xalloc.h"
#include "bench/judge_priv.h"

/* A variant this much faster is held up to a person. */
#define IMPLAUSIBLE 0.5
/* Rows with a time from which two logs of the same ones are one log. */
#define LEAST_COPIED 8
/* Runs of each arm from which a difference is no chance of one log. */
#define LEAST_RUNS 2
/* Letters of a name from which being part of another means something. */
#define LEAST_AKIN 4
/* Rows that appear faster than that were written in a heap. */
#define TIMELY_SHARE 0.9
/* Rows that came one by one, by their stamps, may have a clock that is wrong by
 * more; but none that counts more time than the run took. */
#define TIMELY_STAMPED_SHARE 0.5
/* What a clock may be off before it is told of. */
#define LOG_CLOCK_SHARE 0.05
/* Where neither a pause nor a buffer can be in it. */
#define LOG_CLOCK_PACED_SHARE 0.01
#define LOG_CLOCK_PACED_S     1.0
#define LOG_CLOCK_STAMPED_S   0.2
/* That pairs of runs agree by chance on what only their logs say. */
#define LOG_CLOCK_P 0.01
/* And what is enough to ask whole runs. */
#define UNSEEN_P 0.1
/* Two readings of a run's length. */
#define LOG_CLOCK_LENGTH_S 0.05
/* Soft marks between arms: mean SM clock, share of power-capped samples. */
#define SM_CLOCK_SHARE	0.01
#define POWER_CAP_SHARE 0.10
/* And busy cores of the host: what feeds a faster program works faster too, but
 * a second process that does half of the steps makes them twice as many. */
#define CORES_TIMES 1.5
#define CORES_MORE  0.5
#define VALUE_SIZE  128

/* The control of its block; of an A/A run without one, the first there is. */
static const struct judge_run *control_of(const struct judge *judge, const struct judge_run *run)
{
	const struct judge_run *control = judge_find_run(judge, 0, run);

	return control == NULL && judge->arms[run->arm].aa ? judge_next(judge, 0, NULL) : control;
}

/* What only the pair of runs can tell. */
static void compare_pair(struct judge *judge, struct judge_run *run,
			 const struct judge_run *control)
{
	if (control == NULL || control->odd || run->log == NULL || control->log == NULL)
		return;
	const struct run_log *a = control->log;
	const struct run_log *b = run->log;
	run_log_same_work(a, b, &run->hits);
	if (b->kind == RUN_LOG_TRAINING && b->n_rows > 0 && a->n_rows > 0)
		guard_check_losses(&run->hits,
				   &(struct guard_losses){ a->rows, a->n_rows, a->val_loss,
							   a->val_step, judge->hi },
				   &(struct guard_losses){ b->rows, b->n_rows, b->val_loss,
							   b->val_step, judge->hi },
				   &judge->rule.losses, judge->arms[run->arm].numerics_changed);
	if (run->has_window && control->has_window && run->times.from_tok_s &&
	    control->times.from_tok_s &&
	    guard_clock_lag(control->window.lag_steps, run->window.lag_steps))
		guard_add(&run->hits, GUARD_CLOCK_LAG, false,
			  "its clock runs %.2f steps ahead of the GPU, the "
			  "control's %.2f: means of the printed tok/s do not "
			  "compare",
			  run->window.lag_steps, control->window.lag_steps);
	if (run->y < IMPLAUSIBLE * control->y)
		guard_add(&run->hits, GUARD_IMPLAUSIBLE, false,
			  "%.4g against %.4g: check this before you believe it", run->y,
			  control->y);
}

/* Values as printed; absent on both sides is the same. */
static bool is_same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* So many rows of times do not repeat by chance, whatever else was edited. */
static bool has_same_rows(const struct run_log *a, const struct run_log *b)
{
	size_t timed = 0;

	if (a->kind != RUN_LOG_TRAINING || b->kind != RUN_LOG_TRAINING || a->n_rows != b->n_rows)
		return false;
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct step_row *x = &a->rows[i], *y = &b->rows[i];

		if (x->step != y->step || !is_same_value(x->train_ms, y->train_ms) ||
		    !is_same_value(x->tok_s, y->tok_s))
			return false;
		timed += !isnan(x->train_ms) || !isnan(x->tok_s) ? 1 : 0;
	}
	return timed >= LEAST_COPIED;
}

/*
 * A log that stands for two runs is one run: it would fake precision.  What
 * we ran ourselves has as many logs as runs, however alike they are.
 */
static void check_copy(struct judge *judge, struct judge_run *run)
{
	if (run->state != RUN_STATE_CLAIMED || run->log == NULL)
		return;
	for (const struct judge_run *o = judge->runs; o < run; o++) {
		if (o->log == NULL)
			continue;
		if (strcmp(o->log->sha256, run->log->sha256) == 0) {
			/* Scores of a cost model repeat to the byte. */
			guard_add(&run->hits, GUARD_COPY, run->log->kind == RUN_LOG_TRAINING,
				  "byte for byte the log of another run");
			return;
		}
		if (has_same_rows(o->log, run->log)) {
			guard_add(&run->hits, GUARD_COPY, true,
				  "row by row the times of another run's log");
			return;
		}
	}
}

/* How far the control's own losses spread, where its runs share a seed. */
static void learn_losses(struct judge *judge)
{
	const struct judge_run *run = NULL;
	AUTO_FREE double *val = judge_new_array(judge);
	double seed = (double)NAN;
	size_t n = 0;
	bool same = true;

	while ((run = judge_next(judge, 0, run)) != NULL) {
		if (run->log == NULL || isnan(run->log->val_loss))
			continue;
		same &= n == 0 || run->log->run.seed == seed;
		seed = run->log->run.seed;
		val[n++] = run->log->val_loss;
	}
	if (n >= 3 && same)
		guard_loss_widen(&judge->rule.losses, stats_sd(val, n));
}

/*
 * A control that worked otherwise than most controls is to blame itself, not
 * the variant beside it.
 */
static void mark_odd_controls(struct judge *judge)
{
	struct judge_run *run = NULL, *other;

	while ((run = judge_next(judge, 0, run)) != NULL) {
		struct guard_hits hits = { 0 }, why = { 0 };
		size_t n = 0, apart = 0;

		for (other = NULL; (other = judge_next(judge, 0, other)) != NULL;) {
			if (other == run || other->log == NULL || run->log == NULL)
				continue;
			hits.n = 0;
			run_log_same_work(other->log, run->log, &hits);
			if (hits.n > 0)
				why = hits;
			apart += hits.n > 0 ? 1 : 0;
			n++;
		}
		run->odd = 2 * apart > n;
		if (run->odd)
			guard_add(&run->hits, GUARD_SAME, true, "%s", why.hit[0].text);
	}
}

void judge_compare_runs(struct judge *judge)
{
	struct judge_run *run = NULL;

	mark_odd_controls(judge);
	learn_losses(judge);
	for (size_t i = 0; i < judge->n_runs; i++)
		check_copy(judge, &judge->runs[i]);
	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL)
		if (run->arm != 0)
			compare_pair(judge, run, control_of(judge, run));
}

/* The hits of a contrast: the hard ones of its runs first. */
static void collect_hits(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *run;
	size_t k;

	for (int hard = 1; hard >= 0; hard--)
		for (run = NULL; (run = judge_next(judge, c->arm, run)) != NULL;)
			for (k = 0; k < run->hits.n; k++)
				if (run->hits.hit[k].hard == (hard == 1))
					guard_add(&c->hits, run->hits.hit[k].guard, hard == 1, "%s",
						  run->hits.hit[k].text);
	/* A control that began twice makes a difference just as a variant;
	 * what a run leaves behind may slow down all others. */
	for (run = NULL; (run = judge_next(judge, JUDGE_ANY, run)) != NULL;)
		for (k = 0; run->arm != c->arm && k < run->hits.n; k++) {
			enum guard guard = run->hits.hit[k].guard;

			if (guard == GUARD_LEFT ||
			    (guard == GUARD_RESTARTED && run->arm == c->base))
				guard_add(&c->hits, guard, false, "%s: %s",
					  run->arm == c->base ? "the control"
							      : judge->arms[run->arm].tag,
					  run->hits.hit[k].text);
		}
}

/* Is one name part of the other, whatever its case? */
static bool is_akin(const char *a, const char *b)
{
	const char *longer = strlen(a) > strlen(b) ? a : b;
	const char *shorter = longer == a ? b : a;
	size_t n = strlen(shorter);

	if (n < LEAST_AKIN)
		return strcasecmp(a, b) == 0;
	for (; strlen(longer) >= n; longer++)
		if (strncasecmp(longer, shorter, n) == 0)
			return true;
	return false;
}

/*
 * Does the bench say that this variant changes that key?  Programs print
 * "cuda_graphs" of what CUDA_GRAPHS_ENABLED sets, so part of a name will do.
 */
static bool is_declared(const struct judge_arm *arm, const char *key)
{
	return any_of(i, arm->n_declared, is_akin(arm->declared[i], key));
}

/* The log of a run as far as it prints settings, or NULL. */
static const struct run_log *settings_log(const struct judge_run *run)
{
	return run->log != NULL && run->log->n_rows > 0 ? run->log : NULL;
}

/*
 * The value that all runs of an arm print, and how many do; NULL: they do not
 * agree.  *wavers: one of them prints it with more than one value.
 */
static const char *setting_of(const struct judge *judge, size_t arm, const char *key, size_t *n,
			      bool *wavers)
{
	const struct judge_run *run = NULL;
	const char *value = NULL;
	bool agree = true;

	*n = 0;
	*wavers = false;
	while ((run = judge_next(judge, arm, run)) != NULL) {
		*wavers |= run->log != NULL && run_settings_wavers(&run->log->settings, key);
		if (settings_log(run) == NULL)
			continue;
		const char *one = run_settings_get(&run->log->settings, key);
		agree &= one != NULL && (value == NULL || strcmp(one, value) == 0);
		value = one;
		++*n;
	}
	return agree ? value : NULL;
}

/* What the control's first log prints, against the variant's. */
static void compare_settings(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];
	const struct judge_run *run = judge_next(judge, 0, NULL);
	const struct run_settings *settings;

	while (run != NULL && settings_log(run) == NULL)
		run = judge_next(judge, 0, run);
	if (run == NULL)
		return;
	settings = &run->log->settings;
	for (size_t i = 0; i < settings->n; i++) {
		const char *key = settings->v[i].key;
		size_t n, m;
		bool wavers;
		const char *a = setting_of(judge, 0, key, &n, &wavers);
		const char *b = setting_of(judge, c->arm, key, &m, &wavers);

		if (a == NULL || is_declared(arm, key))
			continue;
		if (wavers)
			guard_add(&c->hits, GUARD_SETTINGS, false,
				  "a log of it prints %s with more than one "
				  "value, the control's %.40s",
				  key, a);
		if (b == NULL || strcmp(a, b) == 0)
			continue;
		bool hard = arm->declares_all && n >= LEAST_RUNS && m >= LEAST_RUNS;
		guard_add(&c->hits, hard ? GUARD_SAME : GUARD_SETTINGS, hard,
			  "its logs print %s %.40s, the control's %.40s", key, b, a);
	}
}

/* The median over an arm's usable runs of a number of its score; NAN: none. */
static double score_median(const struct judge *judge, size_t arm, const char *key)
{
	const struct judge_run *run = NULL;
	AUTO_FREE double *v = judge_new_array(judge);
	size_t n = 0;

	while ((run = judge_next(judge, arm, run)) != NULL) {
		v[n] = run->log == NULL || !judge_is_usable(run)
			       ? (double)NAN
			       : json_get_number(run->log->score.root, key, (double)NAN);
		n += v[n] > 0.0 ? 1 : 0;
	}
	return stats_median(v, n);
}

/* Least and median time of the same runs: do both say who is faster? */
static void compare_metrics(const struct judge *judge, struct judge_contrast *c)
{
	static const char *const keys[] = { "best_us", "median_us" };
	double margin = log1p(judge->rule.paired.margin), d[2];

	for (int i = 0; i < 2; i++)
		d[i] = log(score_median(judge, 0, keys[i]) / score_median(judge, c->arm, keys[i]));
	/* A NaN is no more than anything. */
	if (d[0] * d[1] < 0.0 && fabs(d[0]) > margin && fabs(d[1]) > margin)
		guard_add(&c->hits, GUARD_METRICS, false,
			  "by best_us it is %+.2f%%, by median_us %+.2f%%", 100.0 * expm1(d[0]),
			  100.0 * expm1(d[1]));
}

/* "2.9.1" of "python /usr/bin/python3.11; torch 2.9.1"; false: not in it. */
static bool version_in(const char *runtime, const char *key, char out[VALUE_SIZE])
{
	struct str rest = str_from(runtime != NULL ? runtime : ""), part, word;

	while (str_next(&rest, ';', &part)) {
		part = str_trim(part);
		if (!str_next(&part, ' ', &word) || !str_eq_cstr(word, key))
			continue;
		(void)snprintf(out, VALUE_SIZE, "%.*s", (int)part.len, part.p);
		return part.len > 0;
	}
	return false;
}

/* In how many of the arm's own runs torch was seen, of how many. */
static size_t n_torch_seen(const struct judge *judge, size_t arm, size_t *n_own)
{
	const struct judge_run *run = NULL;
	char value[VALUE_SIZE];
	size_t seen = 0;

	*n_own = 0;
	while ((run = judge_next(judge, arm, run)) != NULL)
		if (run->state != RUN_STATE_CLAIMED) {
			++*n_own;
			seen += version_in(run->runtime, "torch", value);
		}
	return seen;
}

/* Python, torch and what it needs, as two runs were seen or say to have it; on
 * another GPU nothing is the same work. */
static void compare_versions(const struct judge *judge, struct judge_contrast *c,
			     const struct judge_run *run, const struct judge_run *control)
{
	/* What makes a number another one; python by its path alone does not.
	 */
	static const struct {
		const char *key;
		bool decides;
	} parts[] = { { "gpu", true },	      { "torch", true },   { "triton", true },
		      { "flash_attn", true }, { "python", false }, { "driver", false } };
	const struct judge_arm *arm = &judge->arms[c->arm];

	for (size_t k = 0; k < LENGTH(parts); k++) {
		char a[VALUE_SIZE], b[VALUE_SIZE];

		if (version_in(control->runtime, parts[k].key, a) &&
		    version_in(run->runtime, parts[k].key, b) && strcmp(a, b) != 0 &&
		    !is_declared(arm, parts[k].key))
			guard_add(&c->hits, k == 0 ? GUARD_SAME : GUARD_RUNTIME,
				  k == 0 || (parts[k].decides && arm->declares_all),
				  "it ran with %s %.50s, the control with "
				  "%.50s",
				  parts[k].key, b, a);
	}
}

static void compare_runtimes(const struct judge *judge, struct judge_contrast *c)
{
	size_t n, m, a = n_torch_seen(judge, 0, &n);
	size_t b = n_torch_seen(judge, c->arm, &m);
	const struct judge_run *run = NULL, *control;

	/* Where torch was never seen on one side, nothing was compared. */
	if (n > 0 && m > 0 && (a == 0 || b == 0))
		guard_add(&c->hits, GUARD_UNSEEN, false,
			  "torch was seen in %zu of %zu of its runs, in %zu of "
			  "%zu of the control's: versions were not compared",
			  b, m, a, n);
	while ((run = judge_next(judge, c->arm, run)) != NULL) {
		control = judge_find_run(judge, 0, run);
		if (control != NULL)
			compare_versions(judge, c, run, control);
	}
}

/* The source that all logs of an arm embed; those of one that wavers make no
 * arm.  NULL: none. */
static const char *source_of_arm(const struct judge *judge, struct judge_contrast *c, size_t arm)
{
	const struct judge_run *run = NULL;
	const char *first = NULL;

	while ((run = judge_next(judge, arm, run)) != NULL) {
		const char *source = run->log != NULL ? run->log->run.source_sha256 : NULL;

		if (source != NULL && first != NULL && strcmp(source, first) != 0)
			guard_add(&c->hits, GUARD_SAME, true,
				  "%s logs embed more than one source: %.12s "
				  "and %.12s",
				  arm == c->base ? "the control's" : "its", first, source);
		first = first == NULL ? source : first;
	}
	return first;
}

static void compare_sources(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_arm *arm = &judge->arms[c->arm];
	const char *a = source_of_arm(judge, c, c->base);
	const char *b = source_of_arm(judge, c, c->arm);
	bool hard = arm->declares_all || arm->aa;

	if (a != NULL && b != NULL && strcmp(a, b) != 0)
		guard_add(&c->hits, hard ? GUARD_SAME : GUARD_SETTINGS, hard,
			  "its logs embed the source %.12s, the control's "
			  "%.12s",
			  b, a);
}

/* The mean of a double of struct health_sum over an arm's usable runs; NAN:
 * unknown. */
static double health_mean(const struct judge *judge, size_t arm, size_t offset)
{
	const struct judge_run *run = NULL;
	double sum = 0.0, value;
	size_t n = 0;

	while ((run = judge_next(judge, arm, run)) != NULL) {
		if (run->health == NULL || !judge_is_usable(run))
			continue;
		memcpy(&value, (const char *)run->health + offset, sizeof(value));
		if (isnan(value))
			continue;
		sum += value;
		n++;
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

#define MEAN(arm, field) health_mean(judge, arm, offsetof(struct health_sum, field))

/* Did the rows appear as fast as the log's clock says they were made? */
static bool is_timely(const struct health_sum *h)
{
	return h != NULL && h->printed_s > 0.0 &&
	       h->shown_most_s > h->printed_s * (h->stamped && h->paced ? TIMELY_STAMPED_SHARE
									: TIMELY_SHARE);
}

/* Between its rows so much more time passed than its log counts, more than of
 * the other arm. */
static bool counts_less(const struct judge *judge, size_t arm, size_t other, double margin)
{
	return MEAN(arm, shown_least_s) - MEAN(arm, printed_s) >
	       MEAN(other, shown_most_s) - MEAN(other, printed_s) + margin;
}

/* By how much (s) an arm's window by its logs is longer than its whole runs;
 * NAN: not known. */
static double counts_more(const struct judge *judge, size_t arm)
{
	return MEAN(arm, printed_s) - MEAN(arm, took_s) - LOG_CLOCK_LENGTH_S;
}

/* Is that so of this arm, and not of the other? */
static bool outlasts_run(const struct judge *judge, size_t arm, size_t other)
{
	return counts_more(judge, arm) > 0.0 && counts_more(judge, other) <= 0.0;
}

/* What a run gained (s) by the pod's clock. */
static double gained_as_seen(const struct health_sum *control, const struct health_sum *run)
{
	return (control->shown_least_s + control->shown_most_s - run->shown_least_s -
		run->shown_most_s) /
	       2.0;
}

/* How much more of the control's window a run gained by the logs than by the
 * pod's clock; what both pause for is in neither. */
static double gained_by_log(const struct health_sum *control, const struct health_sum *run)
{
	double printed = control->printed_s - run->printed_s;

	return (printed - gained_as_seen(control, run)) / control->printed_s;
}

/* Did the pod's clock see when the window was, to a part of it? */
static bool is_seen(const struct health_sum *h)
{
	return h->shown_most_s - h->shown_least_s < h->printed_s / 2.0;
}

/* The next pair of usable runs, of the control and of the arm beside it, whose
 * health is known; *control is the last one, NULL at first.  False: no more. */
static bool next_pair(const struct judge *judge, size_t arm, const struct judge_run **control,
		      const struct judge_run **run)
{
	while ((*control = judge_next(judge, 0, *control)) != NULL) {
		*run = judge_find_run(judge, arm, *control);
		if (*run != NULL && judge_is_usable(*run) && judge_is_usable(*control) &&
		    (*run)->health != NULL && (*control)->health != NULL)
			return true;
	}
	return false;
}

/* Is more than half of the difference in the logs alone, by their pairs? */
static bool is_by_log_alone(const struct judge *judge, const struct judge_contrast *c, double level)
{
	const struct judge_run *control = NULL, *run;
	AUTO_FREE double *gained = judge_new_array(judge);
	size_t n = 0;

	while (next_pair(judge, c->arm, &control, &run))
		if (is_seen(run->health) && is_seen(control->health))
			gained[n++] = gained_by_log(control->health, run->health);
	struct paired only = paired_compare(gained, n, &judge->rule.paired);
	return only.p < level && only.mean / c->paired.mean > 0.5;
}

/*
 * A log's clock that is slower or faster than the pod's in one arm alone: more
 * time passed between its rows than it says, by more than what passed between
 * the other's.  Pauses that both make are in both; where rows came one by one,
 * less is enough, and where each has its stamp nothing is judged by that clock.
 */
static void compare_log_clocks(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_run *run = NULL;
	double a = MEAN(0, printed_s), margin = LOG_CLOCK_SHARE * a;
	bool paced = true, stamped = true;
	bool own = outlasts_run(judge, c->arm, 0);

	if (own || outlasts_run(judge, 0, c->arm)) {
		size_t arm = own ? c->arm : 0;

		guard_add(&c->hits, GUARD_LOG_CLOCK, true,
			  "%s window took %.1f s by its log, all of a run "
			  "%.1f s",
			  own ? "its" : "the control's", MEAN(arm, printed_s), MEAN(arm, took_s));
		return;
	}
	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL) {
		if ((run->arm != 0 && run->arm != c->arm) || !judge_is_usable(run))
			continue;
		if (!is_timely(run->health))
			return;
		paced &= run->health->paced;
		stamped &= run->health->stamped;
	}
	if (paced && stamped)
		margin = LOG_CLOCK_STAMPED_S + LOG_CLOCK_PACED_SHARE * a;
	else if (paced)
		margin = fmin(margin, LOG_CLOCK_PACED_S + LOG_CLOCK_PACED_SHARE * a);
	if (counts_less(judge, c->arm, 0, margin) || counts_less(judge, 0, c->arm, margin) ||
	    (paced && stamped && is_by_log_alone(judge, c, LOG_CLOCK_P)))
		guard_add(&c->hits, GUARD_LOG_CLOCK, paced && stamped,
			  "its window took %.2f s by its log, %.2f to %.2f s "
			  "by the pod's clock; the control's %.2f s, and %.2f "
			  "to %.2f s",
			  MEAN(c->arm, printed_s), MEAN(c->arm, shown_least_s),
			  MEAN(c->arm, shown_most_s), a, MEAN(0, shown_least_s),
			  MEAN(0, shown_most_s));
}

/* Is what its rows say of its window, and of such a gain (s), known from when
 * they came?  Who chooses when they come may shift the window by half of what
 * is not known. */
static bool is_witnessed(const struct health_sum *h, double gain_s)
{
	return is_timely(h) &&
	       (h->paced || h->shown_most_s - h->shown_least_s < fabs(gain_s) / 2.0);
}

void judge_refuse_late_rows(const struct judge *judge, const struct judge_contrast *c, char *why,
			    size_t size)
{
	double claimed = MEAN(0, printed_s) - MEAN(c->arm, printed_s);
	const struct paired_rule *rule = &judge->rule.paired;
	const struct judge_run *control = NULL, *run;
	AUTO_FREE double *gained = judge_new_array(judge);
	bool witnessed = true, paced = true, timely;
	double shown = 0.0;
	size_t n = 0;

	/* Where no log counts what its run took, none is the wrong one. */
	if (!(MEAN(0, printed_s) > 0.0) || counts_more(judge, 0) > 0.0)
		return;
	while (next_pair(judge, c->arm, &control, &run)) {
		witnessed &= is_witnessed(control->health, claimed) &&
			     is_witnessed(run->health, claimed);
		paced &= control->health->paced && run->health->paced;
		shown += gained_as_seen(control->health, run->health);
		gained[n++] = control->health->took_s - run->health->took_s;
	}
	struct paired seen = paired_compare(gained, n, rule);
	timely = witnessed;
	witnessed &=
		paced ? !is_by_log_alone(judge, c, UNSEEN_P) : shown / (double)n / claimed >= 0.5;
	if (witnessed || isnan(seen.mean) ||
	    (c->paired.p < rule->alpha ? seen.p < rule->alpha && seen.mean / claimed >= 0.5
				       : !(seen.p < LOG_CLOCK_P)))
		return;
	(void)snprintf(why, size, "%s: its log gained %.2f s, its whole runs %.2f s",
		       timely ? "its rows came no sooner" : "rows came at once", claimed,
		       seen.mean);
}

/*
 * Most of what the window gained is lost again outside of it, in all pairs:
 * a start-up or a compilation, or work that went there.  Who validates more
 * often than the control has put it where no clock of a log runs.
 */
static void compare_whole_runs(const struct judge *judge, struct judge_contrast *c)
{
	double claimed = MEAN(0, printed_s) - MEAN(c->arm, printed_s);
	const struct judge_run *control = NULL, *run;
	AUTO_FREE double *lost = judge_new_array(judge);
	bool validates = false;
	size_t n = 0;

	while (next_pair(judge, c->arm, &control, &run)) {
		const struct health_sum *a = control->health, *b = run->health;

		lost[n++] = a->printed_s - b->printed_s - a->took_s + b->took_s;
		validates |= b->n_validated > a->n_validated;
	}
	struct paired only = paired_compare(lost, n, &judge->rule.paired);
	if (!(counts_more(judge, 0) > 0.0) && c->paired.p < judge->rule.paired.alpha &&
	    only.p < LOG_CLOCK_P && only.mean / claimed > 0.5)
		guard_add(&c->hits, GUARD_WHOLE, validates,
			  "its window gained %.2f s, its whole runs %.2f s: "
			  "%s took longer",
			  claimed, claimed - only.mean,
			  validates ? "validations that the control lacks"
				    : "what is outside of it");
}

/* More cores are busy beside each run of the variant than beside the control's,
 * by more than chance. */
static void compare_cores(const struct judge *judge, struct judge_contrast *c)
{
	double a = MEAN(0, busy_cores), b = MEAN(c->arm, busy_cores);
	const struct judge_run *control = NULL, *run;
	AUTO_FREE double *more = judge_new_array(judge);
	size_t n = 0;

	while (next_pair(judge, c->arm, &control, &run))
		more[n++] = run->health->busy_cores - control->health->busy_cores;
	if (b > CORES_TIMES * a && b > a + CORES_MORE &&
	    paired_compare(more, n, &judge->rule.paired).p < LOG_CLOCK_P)
		guard_add(&c->hits, GUARD_CORES, false,
			  "%.1f cores of the pod were busy, %.1f with the "
			  "control: does another process work for it?",
			  b, a);
}

/* Clocks of the GPUs that differ between the arms. */
static void compare_health(const struct judge *judge, struct judge_contrast *c)
{
	double a = MEAN(0, sm_mhz), b = MEAN(c->arm, sm_mhz);

	if (fabs(b / a - 1.0) > SM_CLOCK_SHARE)
		guard_add(&c->hits, GUARD_SM_CLOCK, false, "%.0f MHz in the mean, the control %.0f",
			  b, a);
	a = MEAN(0, power_cap_share);
	b = MEAN(c->arm, power_cap_share);
	if (fabs(b - a) > POWER_CAP_SHARE)
		guard_add(&c->hits, GUARD_POWER_CAP, false,
			  "in %.0f%% of its samples, in %.0f%% of the "
			  "control's",
			  100.0 * b, 100.0 * a);
}

/* The mean difference of the training losses at equal steps; NAN: none. */
static double train_loss_apart(const struct run_log *a, const struct run_log *b)
{
	double sum = 0.0;
	size_t i = 0, k = 0, n = 0;

	while (i < a->n_rows && k < b->n_rows) {
		const struct step_row *x = &a->rows[i], *y = &b->rows[k];

		if (x->step == y->step && !isnan(x->train_loss) && !isnan(y->train_loss)) {
			sum += y->train_loss - x->train_loss;
			n++;
		}
		i += x->step <= y->step ? 1 : 0;
		k += y->step <= x->step ? 1 : 0;
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* The difference of the last validations, of equal steps behind the window;
 * NAN: there are none. */
static double val_loss_apart(const struct judge *judge, const struct run_log *a,
			     const struct run_log *b)
{
	return a->val_step == b->val_step && !(a->val_step < judge->hi) ? b->val_loss - a->val_loss
									: (double)NAN;
}

/* By how much each run's loss is above the control's beside it; false: a pair
 * has no such loss. */
static bool collect_apart(const struct judge *judge, const struct judge_contrast *c, bool by_val,
			  double *apart, size_t *n)
{
	const struct judge_run *run = NULL, *control;
	bool all = true;

	*n = 0;
	while ((run = judge_next(judge, c->arm, run)) != NULL) {
		control = judge_find_run(judge, c->base, run);
		if (!judge_is_main(run) || !judge_is_usable(run) || control == NULL ||
		    !judge_is_usable(control))
			continue;
		apart[*n] = by_val ? val_loss_apart(judge, control->log, run->log)
				   : train_loss_apart(control->log, run->log);
		if (isnan(apart[*n]))
			all = false;
		else
			++*n;
	}
	return all && *n > 0;
}

/*
 * Is the variant's loss that of the control, over all blocks?  The same where
 * the 90 % interval lies within the margin; worse where it does not and the
 * difference is shown.
 */
static void compare_quality(const struct judge *judge, struct judge_contrast *c)
{
	struct judge_quality *q = &c->quality;
	AUTO_FREE double *apart = judge_new_array(judge);
	double margin = judge->rule.losses.margin;
	size_t n;

	q->by_val = collect_apart(judge, c, true, apart, &n);
	if (!q->by_val)
		(void)collect_apart(judge, c, false, apart, &n);
	q->nats = paired_compare(apart, n, &judge->rule.paired);
	q->same = q->nats.tost_lo > -margin && q->nats.tost_hi < margin;
	q->worse = !q->same && n >= VERDICT_MIN_BLOCKS && q->nats.mean > 0.0 &&
		   q->nats.p < judge->rule.paired.alpha && !judge->arms[c->arm].aa;
	if (q->worse)
		guard_add(&c->hits, GUARD_QUALITY, false,
			  "its %s is worse by %.4f nats [%.4f, %.4f] over %zu "
			  "pairs (margin %g)",
			  q->by_val ? "validation loss" : "training loss", q->nats.mean, q->nats.lo,
			  q->nats.hi, n, margin);
}

void judge_compare_arms(const struct judge *judge, struct judge_contrast *c)
{
	collect_hits(judge, c);
	if (judge->training)
		compare_quality(judge, c);
	else
		compare_metrics(judge, c);
	compare_settings(judge, c);
	compare_runtimes(judge, c);
	compare_sources(judge, c);
	compare_cores(judge, c);
	compare_health(judge, c);
	compare_log_clocks(judge, c);
	compare_whole_runs(judge, c);
}
