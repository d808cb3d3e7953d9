/* SPDX-License-Identifier: MIT */
/* A judged bench as text and Markdown; for `bench judge`, `run`, `show`. */
#include "config.h"

#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "bench/stats.h"

#define ABSENT	 "\342\200\224"
#define MAX_ROWS 64

static void
add_clean(struct buf *out, const char *text)
{
	utf8_sanitize(out, str_from(text));
}

void
report_number(struct buf *out, double x, int decimals)
{
	char text[64];
	size_t len, whole;

	if (!isfinite(x) || fabs(x) > 1e15) {
		buf_append_str(out, ABSENT);
		return;
	}
	if (x != 0.0 && fabs(x) < 0.5 * pow(10.0, -decimals)) {
		buf_appendf(out, "%.3g", x);
		return;
	}
	(void)snprintf(text, sizeof(text), "%.*f", decimals, fabs(x));
	len = strlen(text);
	whole = strcspn(text, ".");
	if (x < 0.0)
		buf_append_char(out, '-');
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			buf_append_char(out, ',');
		buf_append_char(out, text[i]);
	}
}

/* text in at least `columns` columns, to the right when `right`. */
static void
add_cell(struct buf *out, const char *text, size_t columns, bool right)
{
	size_t width = utf8_width(str_from(text));
	size_t pad = columns > width ? columns - width : 0;

	if (!right)
		buf_append_str(out, text);
	for (size_t i = 0; i < pad; i++)
		buf_append_char(out, ' ');
	if (right)
		buf_append_str(out, text);
}

int
report_decimals(double y)
{
	double size = fabs(y);

	return size >= 1e5 ? 0 : size >= 1000 ? 1 : size >= 10 ? 3 : 5;
}

void
report_pct(struct buf *out, double pct)
{
	char text[STATS_PCT_SIZE];

	if (isfinite(pct))
		buf_appendf(out, "%s%%", stats_pct_text(pct, true, text));
	else
		buf_append_str(out, ABSENT);
}

void
report_interval(struct buf *out, double lo, double hi)
{
	char low[STATS_PCT_SIZE], high[STATS_PCT_SIZE];

	if (!isnan(lo))
		buf_appendf(out, " [%s, %s]",
			    stats_pct_text(stats_pct(lo), false, low),
			    stats_pct_text(stats_pct(hi), false, high));
}

void
report_side(struct buf *out, const struct judge_contrast *c)
{
	if (c->paired.hl != 0.0)
		buf_appendf(out, ", %zu of %zu blocks %s", c->n_agree,
			    c->n_blocks,
			    c->paired.hl > 0.0 ? "faster" : "slower");
}

/* One line of the table of numbers: label, control, variant, change, note. */
struct line {
	const char *label;
	double control, variant;
	int decimals;
	double pct;	  /* NAN: none */
	const char *note; /* may be NULL */
};

static void
add_line(struct buf *out, const struct line *line)
{
	struct buf cell;

	buf_init(&cell, 128);
	buf_append_str(out, "  ");
	add_cell(out, line->label, 27, false);
	report_number(&cell, line->control, line->decimals);
	add_cell(out, cell.data, 15, true);
	buf_clear(&cell);
	report_number(&cell, line->variant, line->decimals);
	add_cell(out, cell.data, 15, true);
	buf_clear(&cell);
	if (!isnan(line->pct)) {
		report_pct(&cell, line->pct);
		add_cell(out, cell.data, 10, true);
	}
	if (line->note != NULL)
		buf_appendf(out, "  %s", line->note);
	buf_append_char(out, '\n');
	buf_release(&cell);
}

/* What arm's runs print as their mean; of those with a finite value. */
static double
mean_val_loss(const struct judge *judge, size_t arm)
{
	double sum = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || !run->counted || run->log == NULL ||
		    isnan(run->log->val_loss))
			continue;
		sum += run->log->val_loss;
		n++;
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* Tokens a step, of the arm's first log that says so. */
static double
batch_of(const struct judge *judge, size_t arm)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == arm && run->log != NULL &&
		    run->log->run.train_batch_tokens > 0.0)
			return run->log->run.train_batch_tokens;
	}
	return (double)NAN;
}

static bool
has_clock_lag(const struct judge_contrast *c)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].guard == GUARD_CLOCK_LAG)
			return true;
	return false;
}

static void
add_numbers(struct buf *out, const struct judge *judge,
	    const struct judge_contrast *c, const struct verdict_info *info)
{
	double a, b, val_a = mean_val_loss(judge, 0);
	double val_b = mean_val_loss(judge, c->arm);
	char label[64];

	judge_block_means(judge, c, &a, &b);
	if (judge->training)
		(void)snprintf(label, sizeof(label),
			       "step ms, steps %.0f..%.0f", judge->lo,
			       judge->hi);
	else
		(void)snprintf(label, sizeof(label), "%.40s", info->metric);
	buf_append_str(out, "  ");
	add_cell(out, "", 27, false);
	add_cell(out, "control", 15, true);
	add_cell(out, "variant", 15, true);
	add_cell(out, "speed-up", 10, true);
	buf_append_char(out, '\n');
	add_line(out, &(struct line){ label, a, b, report_decimals(a),
				      stats_pct(c->paired.mean),
				      judge->rule.higher ? "higher is better"
							 : NULL });
	if (!isnan(c->legacy_pct)) {
		double tok_a = batch_of(judge, 0) / a * 1000.0;
		double tok_b = batch_of(judge, c->arm) / b * 1000.0;

		add_line(out, &(struct line){
				      "tok/s by the step time", tok_a, tok_b, 2,
				      stats_pct(log(tok_b / tok_a)), NULL });
		add_line(out, &(struct line){
				      "printed tok/s, mean",
				      judge->summary[0].legacy_mean,
				      judge->summary[c->arm].legacy_mean, 2,
				      c->legacy_pct,
				      has_clock_lag(c) ? "clock-lag" : NULL });
	}
	if (!isnan(val_a) || !isnan(val_b))
		add_line(out, &(struct line){ "val_loss", val_a, val_b, 4,
					      (double)NAN, NULL });
}

/* What is odd about a block, in a word; NULL: nothing. */
static const char *
mark_of(const struct judge *judge, const struct judge_run *like, size_t arm)
{
	bool outlier = false;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if ((run->arm != 0 && run->arm != arm) || !run->counted ||
		    run->pod != like->pod || run->block != like->block)
			continue;
		if (guard_hard(&run->hits) != NULL)
			return "guarded";
		outlier |= run->outlier;
	}
	return outlier ? "outlier (kept)" : NULL;
}

/* The median of an arm's runs in a block, whatever their guards say. */
static double
shown_y(const struct judge *judge, const struct judge_run *like, size_t arm)
{
	double y[JUDGE_MAX_REPS];
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs && n < JUDGE_MAX_REPS; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == arm && run->counted && run->pod == like->pod &&
		    run->block == like->block && run->y > 0.0)
			y[n++] = run->y;
	}
	return stats_median(y, n);
}

static void
add_blocks(struct buf *out, const struct judge *judge,
	   const struct judge_contrast *c, const struct verdict_info *info)
{
	size_t shown = 0;

	for (size_t i = 0; i < judge->n_runs && shown < MAX_ROWS; i++) {
		const struct judge_run *run = &judge->runs[i];
		double a, b, pct;
		char label[64];

		if (run->arm != c->arm || !run->counted || run->fresh ||
		    !judge_is_first(judge, run))
			continue;
		a = shown_y(judge, run, 0);
		b = shown_y(judge, run, c->arm);
		if (isnan(a))
			continue;
		pct = stats_pct(log(a / b));
		if (judge->rule.higher) {
			a = 1.0 / a;
			b = 1.0 / b;
		}
		if (info->pods != NULL)
			(void)snprintf(label, sizeof(label),
				       "block %zu on %.16s", run->block + 1,
				       info->pods[run->pod]);
		else
			(void)snprintf(label, sizeof(label), "block %zu",
				       run->block + 1);
		add_line(out,
			 &(struct line){ label, a, b, report_decimals(a), pct,
					 mark_of(judge, run, c->arm) });
		shown++;
	}
}

/* p as people read it. */
static void
add_p(struct buf *out, const char *name, double p)
{
	if (isnan(p))
		return;
	buf_appendf(out, p < 1e-4 ? "%s %.1e" : "%s %.4f", name, p);
}

static void
add_tests(struct buf *out, const struct judge_contrast *c)
{
	const struct paired *p = &c->paired;
	char text[STATS_PCT_SIZE];

	if (isnan(p->p))
		return;
	if (p->se == 0.0) {
		buf_appendf(out,
			    "  paired by %s: all differ by the same, no "
			    "test of chance\n",
			    c->across_pods ? "pod" : "block");
		return;
	}
	buf_appendf(out, "  paired by %s: t %.2f, df %.0f, ",
		    c->across_pods ? "pod" : "block", p->t, p->df);
	add_p(out, "p", p->p);
	if (!isnan(c->p_holm) && c->p_holm != p->p)
		add_p(out, " (Holm", c->p_holm);
	buf_append_str(out, !isnan(c->p_holm) && c->p_holm != p->p ? ")" : "");
	add_p(out, ", sign-flip p", p->p_signflip);
	buf_append_str(out, "\n  Hodges-Lehmann ");
	report_pct(out, stats_pct(p->hl));
	report_interval(out, p->hl_lo, p->hl_hi);
	report_side(out, c);
	buf_appendf(out, "\n  spread of a %s %s%%",
		    c->across_pods ? "pod" : "block",
		    stats_pct_text(100.0 * p->sd, false, text));
	buf_appendf(out, "; would have shown %s%%",
		    stats_pct_text(stats_pct(p->mde), false, text));
	if (c->verdict.word == VERDICT_NO_DIFFERENCE && c->blocks_to_margin > 0)
		buf_appendf(out, "\n  to show the margin: %zu blocks",
			    c->blocks_to_margin);
	buf_append_char(out, '\n');
}

static void
add_ranks(struct buf *out, const struct judge *judge,
	  const struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	char text[STATS_PCT_SIZE], more[STATS_PCT_SIZE];

	if (a->n < 2 || b->n < 2)
		return;
	buf_append_str(out, "  blocks ignored: medians ");
	report_pct(out, c->median_delta_pct);
	buf_append_str(out, ", minima ");
	report_pct(out, c->min_delta_pct);
	buf_appendf(out,
		    " in time; spread %s%% and %s%%\n    Mann-Whitney U %g",
		    stats_pct_text(a->spread_pct, false, text),
		    stats_pct_text(b->spread_pct, false, more), c->rank.u);
	add_p(out, c->rank.exact ? ", exact p" : ", p", c->rank.p);
	if (!isnan(c->welch.p)) {
		buf_appendf(out, "; Welch t %.2f, df %.2f, ", c->welch.t,
			    c->welch.df);
		add_p(out, "p", c->welch.p);
	}
	buf_append_char(out, '\n');
	if (c->rank.p < judge->rule.paired.alpha &&
	    c->verdict.word == VERDICT_NO_DIFFERENCE)
		buf_append_str(out, "    the ranks differ though the block "
				    "means do not: a few runs stand far out\n");
}

static void
add_pod_rows(struct buf *out, const struct judge_contrast *c,
	     const struct verdict_info *info)
{
	if (c->n_pods < 2 || info->pods == NULL)
		return;
	for (size_t i = 0; i < c->n_pods; i++) {
		const struct paired *p = &c->pods[i].paired;

		buf_append_str(out, "  pod ");
		add_clean(out, info->pods[c->pods[i].pod]);
		buf_append_str(out, ": ");
		report_pct(out, stats_pct(p->mean));
		report_interval(out, p->lo, p->hi);
		buf_appendf(out, " in %zu block%s\n", p->n,
			    p->n == 1 ? "" : "s");
	}
	if (!isnan(c->spread.q)) {
		buf_appendf(out, "  between pods: Q %.2f, ", c->spread.q);
		add_p(out, "p", c->spread.p_q);
		buf_appendf(out, ", I2 %.0f%%\n", 100.0 * c->spread.i2);
	}
}

static void
add_hit_lines(struct buf *out, const struct guard_hits *hits)
{
	for (size_t i = 0; i < hits->n; i++) {
		buf_appendf(out, "    %s%s\n      ",
			    guard_word(hits->hit[i].guard),
			    hits->hit[i].hard ? "" : " (a mark, no verdict)");
		report_wrapped(out, hits->hit[i].text, 6);
	}
}

static void
add_contrast(struct buf *out, const struct judge *judge,
	     const struct judge_contrast *c, const struct verdict_info *info)
{
	add_clean(out, judge->arms[c->arm].tag);
	buf_append_str(out, judge->arms[c->arm].aa ? " (the control again) "
						     "against "
						   : " against ");
	add_clean(out, judge->arms[0].tag);
	buf_append_str(out, "\n\n  ");
	add_clean(out, c->verdict.text);
	buf_append_char(out, '\n');
	if (judge->arms[c->arm].aa && (c->verdict.word == VERDICT_FASTER ||
				       c->verdict.word == VERDICT_SLOWER))
		buf_append_str(out, "  the same code ran twice: this is a "
				    "false alarm, or the pod favours one of "
				    "the two\n");
	if (c->verdict.word == VERDICT_INVALID) {
		buf_append_str(out, "  were it valid: ");
		add_clean(out, c->if_valid.text);
		buf_append_char(out, '\n');
	}
	buf_append_char(out, '\n');
	if (c->swollen) {
		report_swollen(out, judge, c);
		buf_append_char(out, '\n');
	}
	add_numbers(out, judge, c, info);
	if (c->n_blocks > 1)
		add_blocks(out, judge, c, info);
	buf_append_char(out, '\n');
	add_tests(out, c);
	add_pod_rows(out, c, info);
	add_ranks(out, judge, c);
	if (c->trend != WINDOW_STEADY)
		buf_appendf(out, "  not steady: %s against the control\n",
			    window_trend_name(c->trend));
	if (c->n_outliers > (c->swollen ? c->n_blowing : 0)) {
		buf_append_str(out, "  runs far from their arm's median, "
				    "kept\n");
		report_outliers(out, judge, c, false);
	}
	if (c->hits.n > 0) {
		buf_append_str(out, "  guards\n");
		add_hit_lines(out, &c->hits);
	}
}

static void
add_arm_line(struct buf *out, const struct judge *judge, size_t arm)
{
	const struct judge_summary *s = &judge->summary[arm];
	bool higher = judge->rule.higher;
	int decimals = report_decimals(higher ? 1.0 / s->median : s->median);
	double low = higher ? 1.0 / s->max : s->min;
	double high = higher ? 1.0 / s->min : s->max;

	buf_append_str(out, "  ");
	add_clean(out, judge->arms[arm].tag);
	buf_appendf(out, ": %zu measured, %zu failed", s->n, s->n_invalid);
	if (s->n > 0) {
		buf_append_str(out, "; ");
		report_number(out, low, decimals);
		if (s->n > 1) {
			buf_append_str(out, " .. ");
			report_number(out, high, decimals);
			buf_append_str(out, ", median ");
			report_number(out, higher ? 1.0 / s->median : s->median,
				      decimals);
		}
	}
	buf_append_char(out, '\n');
}

static void
add_dropped(struct buf *out, const struct verdict_info *info,
	    const struct verdict_repeat *what, const char *bullet)
{
	buf_appendf(out, "%sblock %zu", bullet, what->block + 1);
	if (info->pods != NULL) {
		buf_append_str(out, " on ");
		add_clean(out, info->pods[what->pod]);
	}
	buf_append_str(out, ": ");
	add_clean(out, what->reason);
}

void
report_dropped(struct buf *out, const struct judge *judge,
	       const struct verdict_info *info, const char *bullet)
{
	for (size_t i = 0; i < judge->n_dropped; i++) {
		const struct judge_dropped *dropped = &judge->dropped[i];

		add_dropped(out, info,
			    &(struct verdict_repeat){ dropped->pod,
						      dropped->block,
						      dropped->reason },
			    bullet);
		buf_append_char(out, '\n');
	}
	for (size_t i = 0; i < info->n_repeats; i++) {
		add_dropped(out, info, &info->repeats[i], bullet);
		buf_append_str(out, " (the block was run again)\n");
	}
}

void
report_text(struct buf *out, const struct judge *judge,
	    const struct verdict_info *info)
{
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		add_contrast(out, judge, &judge->contrasts[i], info);
		buf_append_char(out, '\n');
	}
	if (judge->best.state != BEST_NOT_ASKED) {
		buf_append_str(out, "the best\n  ");
		report_wrapped(out, judge->best.text, 2);
		buf_append_char(out, '\n');
	}
	buf_append_str(out, "runs\n");
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		add_arm_line(out, judge, arm);
	if (judge->window_auto && !isnan(judge->lo))
		buf_appendf(out,
			    "  window found: steps %.0f..%.0f (all runs are "
			    "steady from there)\n",
			    judge->lo, judge->hi);
	if (judge->n_dropped + info->n_repeats > 0) {
		buf_append_str(out, "dropped\n");
		report_dropped(out, judge, info, "  ");
	}
}
