/* SPDX-License-Identifier: MIT */
/* Numbers to the exact words of a verdict; called by judge. */
#include "bench/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/dist.h"

const char *const verdict_words[] = {
#define X(id, word) word,
	VERDICT_LIST(X)
#undef X
		NULL
};

const char *const verdict_suffixes[] = {
#define X(id, name) name,
	VERDICT_SUFFIX_LIST(X)
#undef X
		NULL
};

/* Blocks from which t and sign-flip can disagree in a way that means much. */
#define FRAGILE_BLOCKS 6

static void __attribute__((format(printf, 2, 3))) append(struct verdict *v, const char *fmt, ...)
{
	size_t len = strlen(v->text);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(v->text + len, sizeof(v->text) - len, fmt, ap);
	va_end(ap);
}

static void append_pct(struct verdict *v, double pct)
{
	char text[STATS_PCT_SIZE];

	append(v, "%s", stats_pct_text(pct, false, text));
}

static void append_interval(struct verdict *v, double lo, double hi)
{
	append(v, " [");
	append_pct(v, lo);
	append(v, ", ");
	append_pct(v, hi);
	append(v, "]");
}

/* What a single pair says when the noise of its class is known. */
static void append_provisional(struct verdict *v, const struct verdict_input *in)
{
	double mean = in->paired->mean, half;

	if (isnan(mean) || !(in->register_df >= 2.0) || !(in->register_sd > 0.0))
		return;
	half = dist_t_quantile(1.0 - in->alpha / 2.0, in->register_df) * in->register_sd * M_SQRT2;
	append(v, "; provisional ");
	append_pct(v, stats_pct(mean));
	append(v, "%%");
	append_interval(v, stats_pct(mean - half), stats_pct(mean + half));
}

static size_t need_of(const struct verdict_input *in)
{
	return in->need > VERDICT_MIN_BLOCKS ? in->need : VERDICT_MIN_BLOCKS;
}

static bool is_refused(const struct verdict_input *in)
{
	return in->refused != NULL && in->refused[0] != '\0';
}

/* A look before the last block that shows no more than chance shows. */
static bool is_peek(const struct verdict_input *in)
{
	return in->n_blocks < in->planned && !(in->paired->p < in->level);
}

/* The order of the words: the first that fits. */
static enum verdict_word pick_word(const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	if (in->invalid != NULL)
		return VERDICT_INVALID;
	if (in->n_blocks < need_of(in) || isnan(p->p) || is_refused(in) || is_peek(in))
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
		append(v, " by %.4f nats: ", in->worse_nats);
	else
		append(v, " by ");
	append_pct(v, fabs(stats_pct(p->mean)));
	append(v, "%%");
	append_interval(v, slower ? -hi : lo, slower ? -lo : hi);
	v->below_margin = slower ? p->lo > -log1p(in->margin) : p->hi < log1p(in->margin);
	if (v->below_margin)
		append(v, ", below the %g%% margin", 100.0 * in->margin);
}

/* Too few blocks, blocks that say nothing, or more of them to come. */
static void write_not_judged(struct verdict *v, const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	if (in->n_blocks < need_of(in) || isnan(p->p)) {
		append(v, " (%zu block%s, need %zu)", in->n_blocks, in->n_blocks == 1 ? "" : "s",
		       need_of(in));
		append_provisional(v, in);
		return;
	}
	if (is_refused(in)) {
		append(v, " (%s)", in->refused);
		v->refused = true;
		return;
	}
	append(v, " (%zu of %zu blocks: so early p < %.2g decides); so far ", in->n_blocks,
	       in->planned, in->level);
	append_pct(v, stats_pct(p->mean));
	append(v, "%%");
	append_interval(v, stats_pct(p->lo), stats_pct(p->hi));
}

static void write_text(struct verdict *v, const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	append(v, "%s", verdict_words[v->word]);
	switch (v->word) {
	case VERDICT_INVALID:
		append(v, " (%s)", in->invalid);
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
		append(v, " within \302\261%g%%%s", 100.0 * in->margin,
		       paired_is_same(p, in->margin) ? "" : " on each pod");
		break;
	case VERDICT_NO_DIFFERENCE:
		append(v, " ");
		append_pct(v, stats_pct(p->mean));
		append(v, "%%");
		append_interval(v, stats_pct(p->lo), stats_pct(p->hi));
		append(v, "; this bench would have missed anything under ");
		append_pct(v, stats_pct(p->mde));
		append(v, "%%");
		break;
	}
}

/* Do two tests contradict each other? */
static bool is_fragile(const struct verdict_input *in)
{
	const struct paired *p = in->paired;

	return p->n >= FRAGILE_BLOCKS && !isnan(p->p_signflip) &&
	       (p->p < in->level) != (p->p_signflip < in->alpha);
}

void verdict_judge(struct verdict *v, const struct verdict_input *in)
{
	const char *glue = ", ";

	*v = (struct verdict){ .word = pick_word(in), .suffixes = in->suffixes };
	if (v->word == VERDICT_INVALID)
		v->suffixes = 0;
	else if (v->word != VERDICT_NOT_JUDGED && is_fragile(in))
		v->suffixes |= 1U << VERDICT_FRAGILE;
	if (v->word != VERDICT_FASTER)
		v->suffixes &= ~(1U << VERDICT_UNPROVEN);
	write_text(v, in);
	for (unsigned int i = 0; i < VERDICT_SUFFIX_COUNT; i++)
		if (v->suffixes >> i & 1U)
			append(v, "%s%s", glue, verdict_suffixes[i]);
}
