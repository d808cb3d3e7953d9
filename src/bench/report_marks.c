/* SPDX-License-Identifier: MIT */
/* Runs that stand far out, told to people; for report.c and report_md.c. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "bench/report.h"
#include "bench/stats.h"

#define COLUMNS	   80
#define MAX_SHOWN  12
#define MAX_BLOCKS 1000

void
report_wrapped(struct buf *out, const char *text, size_t indent)
{
	struct str rest = str_from(text), word;
	size_t column = indent;

	while (str_next(&rest, ' ', &word)) {
		size_t width = utf8_width(word);

		if (column > indent && column + 1 + width > COLUMNS) {
			buf_appendf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_append_char(out, ' ');
			column++;
		}
		utf8_sanitize(out, word);
		column += width;
	}
	buf_append_char(out, '\n');
}

/* The run by its name, else by where it ran. */
static void
add_name(struct buf *out, const struct judge *judge,
	 const struct judge_run *run)
{
	if (run->name != NULL)
		buf_append_str(out, run->name);
	else
		buf_appendf(out, "block %zu of %s", run->block + 1,
			    judge->arms[run->arm].tag);
}

/* Those that blow up a swollen contrast, or the others. */
static bool
is_of(const struct judge_contrast *c, const struct judge_run *run, bool blowing)
{
	return run->outlier && (run->arm == 0 || run->arm == c->arm) &&
	       (c->swollen && judge_blows_up(c, run)) == blowing;
}

/* "5_pod_A: 197.136, 5.97 times the median of its arm (robust z 1181)". */
static void
add_value(struct buf *out, const struct judge *judge,
	  const struct judge_run *run)
{
	double y = judge->rule.higher ? 1.0 / run->y : run->y;
	double times = judge->rule.higher ? 1.0 / run->times_median
					  : run->times_median;

	add_name(out, judge, run);
	buf_append_str(out, ": ");
	report_number(out, y, report_decimals(y));
	buf_appendf(out, ", %.*f times its arm's median",
		    fabs(times - 1.0) < 0.1 ? 4 : 2, times);
	if (!isnan(run->z))
		buf_appendf(out, " (robust z %.*f)",
			    fabs(run->z) < 100.0 ? 1 : 0, run->z);
}

void
report_outliers(struct buf *out, const struct judge *judge,
		const struct judge_contrast *c, bool blowing)
{
	size_t shown = 0;
	size_t n = c->swollen ? c->n_blowing : 0;
	struct buf text;

	buf_init(&text, 4096);
	for (size_t i = 0; i < judge->n_runs && shown < MAX_SHOWN; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (!is_of(c, run, blowing))
			continue;
		buf_clear(&text);
		add_value(&text, judge, run);
		buf_append_str(out, "    ");
		report_wrapped(out, text.data, 4);
		buf_append_str(out, "      ");
		report_wrapped(out, run->seen, 6);
		shown++;
	}
	n = blowing ? n : c->n_outliers - n;
	if (n > shown)
		buf_appendf(out, "    and %zu more\n", n - shown);
	buf_release(&text);
}

void
report_robust(struct buf *out, const struct judge_contrast *c)
{
	const struct paired *p = &c->paired;

	buf_append_str(out, "Hodges-Lehmann ");
	report_pct(out, stats_pct(p->hl));
	report_interval(out, p->hl_lo, p->hl_hi);
	report_side(out, c);
	if (!isnan(p->p_signflip))
		buf_appendf(out, ", sign-flip p %.4f", p->p_signflip);
}

/* How many more blocks such noise asks for. */
static void
add_need(struct buf *out, const struct judge_contrast *c)
{
	char text[STATS_PCT_SIZE];

	if (c->blocks_to_hl > c->n_blocks)
		buf_appendf(out,
			    "To show %s%% at this spread: %zu blocks, %zu "
			    "more. ",
			    stats_pct_text(stats_pct(c->paired.hl), true, text),
			    c->blocks_to_hl, c->blocks_to_hl - c->n_blocks);
	else if (c->blocks_to_hl == 0)
		buf_appendf(out,
			    "To show %s%% at this spread %d blocks are too "
			    "few. ",
			    stats_pct_text(stats_pct(c->paired.hl), true, text),
			    MAX_BLOCKS);
}

void
report_swollen(struct buf *out, const struct judge *judge,
	       const struct judge_contrast *c)
{
	char whole[STATS_PCT_SIZE], middle[STATS_PCT_SIZE];
	bool one = c->n_blowing == 1;
	struct buf text;

	if (!c->swollen)
		return;
	buf_init(&text, 2048);
	buf_appendf(&text,
		    "%zu of its %zu runs stand%s far out: kept, since no run "
		    "is removed for its value, but %s up the interval "
		    "(a block spreads %s%%, the middle of them %s%%).",
		    c->n_blowing,
		    judge->summary[0].n + judge->summary[c->arm].n,
		    one ? "s" : "", one ? "it blows" : "they blow",
		    stats_pct_text(100.0 * c->block_sd, false, whole),
		    stats_pct_text(100.0 * c->robust_sd, false, middle));
	buf_append_str(out, "  ");
	report_wrapped(out, text.data, 2);
	report_outliers(out, judge, c, true);
	buf_clear(&text);
	buf_append_str(&text, "Moved less by it: ");
	report_robust(&text, c);
	buf_append_str(&text, ". ");
	add_need(&text, c);
	buf_append_str(&text,
		       "A block of several runs an arm (runs_per_block 3), "
		       "declared beforehand, counts by their medians, which "
		       "one such run does not move.");
	buf_append_str(out, "  ");
	report_wrapped(out, text.data, 2);
	buf_release(&text);
}
