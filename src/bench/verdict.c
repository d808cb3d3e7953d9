/* SPDX-License-Identifier: MIT */
/* Decide a verdict from numbers, and write its text. */
#include "bench/verdict.h"

#include <math.h>

#include "base/dist.h"
#include "base/str.h"

const char *const verdict_words[] = { VERDICT_LIST(LIST_NAME) NULL };

const char *const verdict_reasons[] = { VERDICT_REASON_LIST(LIST_NAME) NULL };

#define ADVICE(id, name, advice) advice,
const char *const verdict_advice[] = { VERDICT_REASON_LIST(ADVICE) };

const char *const verdict_suffixes[] = { VERDICT_SUFFIX_LIST(LIST_NAME) NULL };

/* With fewer blocks, a disagreement of t and sign-flip test means nothing. */
#define FRAGILE_BLOCKS 6

/* "1.46% [1.20, 1.73]" */
static void append_estimate(struct verdict *v, double pct, double lo, double hi)
{
	append_into(v->text, "%s%% [%s, %s]", stats_pct_text(pct, false).s,
		    stats_pct_text(lo, false).s, stats_pct_text(hi, false).s);
}

static size_t blocks_needed(const struct verdict_input *in)
{
	return in->need > VERDICT_MIN_BLOCKS ? in->need : VERDICT_MIN_BLOCKS;
}

static enum verdict_reason find_reason(const struct verdict_input *in)
{
	if (in->reason == VERDICT_NO_VALUE)
		return in->reason;
	if (in->n_blocks < blocks_needed(in) || isnan(in->paired->p))
		return VERDICT_FEW_BLOCKS;
	/* An interim look can only show a difference. */
	if (in->reason == VERDICT_NONE && in->n_blocks < in->planned &&
	    !(in->paired->p < in->level))
		return VERDICT_EARLY;
	return in->reason;
}

/* The first word that applies, in the order of VERDICT_LIST. */
static enum verdict_word pick_word(const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	if (in->invalid != NULL)
		return VERDICT_INVALID;
	if (find_reason(in) != VERDICT_NONE)
		return VERDICT_NOT_JUDGED;
	if (p->p < in->level && p->mean > 0.0)
		return in->worse_nats > 0.0 ? VERDICT_FASTER_WORSE : VERDICT_FASTER;
	if (p->p < in->level && p->mean < 0.0)
		return VERDICT_SLOWER;
	if (paired_is_same(p, in->margin) || in->same_on_each)
		return VERDICT_SAME;
	return VERDICT_NO_DIFFERENCE;
}

static void write_shown(struct verdict *v, const struct verdict_input *in)
{
	const struct paired *p = in->paired;
	double lo = stats_pct(p->lo), hi = stats_pct(p->hi);
	bool slower = v->word == VERDICT_SLOWER;

	if (v->word == VERDICT_FASTER_WORSE)
		append_into(v->text, " by %.4f nats: ", in->worse_nats);
	else
		append_into(v->text, " by ");
	append_estimate(v, fabs(stats_pct(p->mean)), slower ? -hi : lo, slower ? -lo : hi);
	v->below_margin = slower ? p->lo > -log1p(in->margin) : p->hi < log1p(in->margin);
	if (v->below_margin)
		append_into(v->text, ", below the %g%% margin", 100.0 * in->margin);
}

/* Write why there is no verdict: too few blocks, an obstacle, or more blocks to come. */
static void write_not_judged(struct verdict *v, const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	v->reason = find_reason(in);
	if (v->reason == VERDICT_FEW_BLOCKS) {
		append_into(v->text, " (%zu block%s, need %zu)", in->n_blocks,
			    in->n_blocks == 1 ? "" : "s", blocks_needed(in));
		if (isnan(p->mean) || !(in->register_df >= 2.0) || !(in->register_sd > 0.0))
			return;
		/* If the noise register has this class of runs, even one block has an interval. */
		double half = dist_t_quantile(1.0 - in->alpha / 2.0, in->register_df) *
			      in->register_sd * M_SQRT2;
		append_into(v->text, "; provisional ");
		append_estimate(v, stats_pct(p->mean), stats_pct(p->mean - half),
				stats_pct(p->mean + half));
	} else if (v->reason == VERDICT_EARLY) {
		append_into(v->text,
			    " (%zu of %zu blocks; a stop this early needs p < %.2g); so far ",
			    in->n_blocks, in->planned, in->level);
		append_estimate(v, stats_pct(p->mean), stats_pct(p->lo), stats_pct(p->hi));
	} else {
		append_into(v->text, " (%s: %s)", verdict_reasons[v->reason], in->details);
	}
}

void verdict_judge(struct verdict *v, const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	*v = (struct verdict){ .word = pick_word(in), .suffixes = in->suffixes };
	if (v->word == VERDICT_INVALID || in->reason == VERDICT_NO_VALUE)
		v->suffixes = 0;
	else if (v->word != VERDICT_NOT_JUDGED && p->n >= FRAGILE_BLOCKS && !isnan(p->p_signflip) &&
		 (p->p < in->level) != (p->p_signflip < in->alpha))
		v->suffixes |= 1U << VERDICT_FRAGILE;
	if (v->word != VERDICT_FASTER)
		v->suffixes &= ~(1U << VERDICT_UNPROVEN);
	append_into(v->text, "%s", verdict_words[v->word]);
	switch (v->word) {
	case VERDICT_INVALID:
		append_into(v->text, " (%s)", in->invalid);
		break;
	case VERDICT_NOT_JUDGED:
		write_not_judged(v, in);
		break;
	case VERDICT_FASTER:
	case VERDICT_FASTER_WORSE:
	case VERDICT_SLOWER:
		write_shown(v, in);
		break;
	case VERDICT_SAME:
		append_into(v->text, " within \302\261%g%%%s", 100.0 * in->margin,
			    paired_is_same(p, in->margin) ? "" : " on each pod");
		break;
	case VERDICT_NO_DIFFERENCE:
		append_into(v->text, " ");
		append_estimate(v, stats_pct(p->mean), stats_pct(p->lo), stats_pct(p->hi));
		append_into(v->text, "; smallest detectable difference %s%%",
			    stats_pct_text(stats_pct(p->mde), false).s);
		break;
	}
	for (unsigned int i = 0; i < VERDICT_SUFFIX_COUNT; i++)
		if (v->suffixes >> i & 1U)
			append_into(v->text, ", %s", verdict_suffixes[i]);
}
