/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_REPORT_H
#define HGYM_BENCH_REPORT_H

#include "base/buf.h"
#include "bench/judge.h"
#include "bench/verdict_json.h"

/*
 * A judged bench for people: the verdict first, then the numbers, then why.
 * Plain text of at most 80 columns but for long names, no escapes; whatever
 * comes from a log passes utf8_sanitize.
 */
void report_text(struct buf *out, const struct judge *judge,
		 const struct verdict_info *info);

/* The same as Markdown. */
void report_markdown(struct buf *out, const struct judge *judge,
		     const struct verdict_info *info);

/* x with decimals and commas between the thousands: "1,378,296.78". */
void report_number(struct buf *out, double x, int decimals);
/* "+1.81%", or a dash for what is absent. */
void report_pct(struct buf *out, double pct);
/* " [1.62, 1.85]" of bounds in ln units; nothing where there are none. */
void report_interval(struct buf *out, double lo, double hi);
/* ", 5 of 6 blocks faster": those on the side of Hodges and Lehmann's. */
void report_side(struct buf *out, const struct judge_contrast *c);
/* Decimals that a measurement of that size deserves. */
int report_decimals(double y);

/* text as lines behind `indent` blanks (the first has them already). */
void report_wrapped(struct buf *out, const char *text, size_t indent);

/* The runs of a contrast that stand far out, and what was seen in them: those
 * that blow up its interval, or the others. */
void report_outliers(struct buf *out, const struct judge *judge,
		     const struct judge_contrast *c, bool blowing);
/* What outliers did to a contrast whose interval they blew up; else
 * nothing. */
void report_swollen(struct buf *out, const struct judge *judge,
		    const struct judge_contrast *c);
/* Hodges-Lehmann, how many blocks agree with it, sign-flip; one line. */
void report_robust(struct buf *out, const struct judge_contrast *c);

/* The dropped and the repeated blocks with their reasons, a line each. */
void report_dropped(struct buf *out, const struct judge *judge,
		    const struct verdict_info *info, const char *bullet);

#endif
