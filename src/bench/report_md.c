/* SPDX-License-Identifier: MIT */
/* A judged bench as Markdown; for `bench judge --md` and reports. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "bench/report.h"
#include "bench/stats.h"

#define ABSENT "\342\200\224"

/* A cell of a Markdown table: a bar inside would end it. */
static void
add_md(struct buf *out, const char *text)
{
	struct buf clean;

	buf_init(&clean, 4096);
	utf8_sanitize(&clean, str_from(text));
	for (size_t i = 0; i < clean.len; i++) {
		if (strchr("|\\`*_<", clean.data[i]) != NULL)
			buf_append_char(out, '\\');
		buf_append_char(out, clean.data[i]);
	}
	buf_release(&clean);
}

static void
add_md_row(struct buf *out, const struct judge *judge,
	   const struct judge_contrast *c)
{
	double a, b;

	judge_block_means(judge, c, &a, &b);
	buf_append_str(out, "| ");
	add_md(out, judge->arms[c->arm].tag);
	buf_append_str(out, " | **");
	add_md(out, c->verdict.text);
	buf_appendf(out, "** | %zu | ", c->n_blocks);
	report_number(out, a, report_decimals(a));
	buf_append_str(out, " | ");
	report_number(out, b, report_decimals(b));
	buf_append_str(out, " | ");
	report_pct(out, stats_pct(c->paired.mean));
	buf_append_str(out, " | ");
	report_pct(out, c->legacy_pct);
	buf_append_str(out, " | ");
	if (isnan(c->paired.p))
		buf_append_str(out, ABSENT);
	else
		buf_appendf(out, "%.2g", c->paired.p);
	buf_append_str(out, " | ");
	if (isnan(c->paired.mde))
		buf_append_str(out, ABSENT);
	else
		buf_appendf(out, "%.2f%%", stats_pct(c->paired.mde));
	buf_append_str(out, " |\n");
}

/* The runs that blew up an interval, as a list. */
static void
add_md_swollen(struct buf *out, const struct judge *judge,
	       const struct judge_contrast *c)
{
	if (!c->swollen)
		return;
	buf_append_char(out, '\n');
	add_md(out, judge->arms[c->arm].tag);
	buf_append_str(out, ": runs that stand far out, kept; ");
	report_robust(out, c);
	if (c->blocks_to_hl > c->n_blocks)
		buf_appendf(out, "; %zu more blocks would show it",
			    c->blocks_to_hl - c->n_blocks);
	buf_append_str(out, "\n\n");
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (!judge_blows_up(c, run))
			continue;
		buf_append_str(out, "- ");
		add_md(out, run->name != NULL ? run->name
					      : judge->arms[run->arm].tag);
		buf_appendf(out, " (block %zu), %.4g times the median: ",
			    run->block + 1, run->times_median);
		add_md(out, run->seen);
		buf_append_char(out, '\n');
	}
}

void
report_markdown(struct buf *out, const struct judge *judge,
		const struct verdict_info *info)
{
	const char *metric = judge->training ? "step ms" : info->metric;

	buf_append_str(out, "Control: ");
	add_md(out, judge->arms[0].tag);
	buf_appendf(out,
		    "\n\n| variant | verdict | blocks | control %s | "
		    "variant %s | speed-up | by printed means | p | "
		    "would have shown |\n"
		    "|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
		    metric, metric);
	for (size_t i = 0; i < judge->n_contrasts; i++)
		add_md_row(out, judge, &judge->contrasts[i]);
	for (size_t i = 0; i < judge->n_contrasts; i++)
		add_md_swollen(out, judge, &judge->contrasts[i]);
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		const struct judge_contrast *c = &judge->contrasts[i];

		if (c->hits.n == 0)
			continue;
		buf_append_char(out, '\n');
		add_md(out, judge->arms[c->arm].tag);
		buf_append_str(out, ":\n\n");
		for (size_t k = 0; k < c->hits.n; k++) {
			buf_appendf(out, "- %s%s: ",
				    guard_word(c->hits.hit[k].guard),
				    c->hits.hit[k].hard ? "" : " (mark)");
			add_md(out, c->hits.hit[k].text);
			buf_append_char(out, '\n');
		}
	}
	if (judge->best.state != BEST_NOT_ASKED) {
		buf_append_str(out, "\nThe best: ");
		add_md(out, judge->best.text);
		buf_append_char(out, '\n');
	}
	if (judge->n_dropped + info->n_repeats > 0) {
		buf_append_str(out, "\nDropped blocks:\n\n");
		report_dropped(out, judge, info, "- ");
	}
}
