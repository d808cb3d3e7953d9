/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_HARNESS_WORDS_H
#define HGYM_MODEL_HARNESS_WORDS_H

#include "base/buf.h"
#include "parsers/harness_compare.h"
#include "parsers/harness_run.h"

/*
 * The words for a judged run, one way for the command and for the screen:
 * only what is verified is given as a plain number, all else is said to be
 * INVALID, unverified, or not measured.  Each appends; nothing appended means
 * that there is nothing to say.  Texts of runs in them are clean.
 */
/* "+2.1 %", "2.1 %" without the sign; from a million on "1.2e+06 %". */
#define HARNESS_PCT_SIZE 32
const char *harness_pct(double pct, bool sign, char out[HARNESS_PCT_SIZE]);

/* "as of 34 s ago". */
void harness_add_age(struct buf *text, int64_t age_ms);

/* Cells of an iteration. */
void harness_add_attempt(struct buf *text, const struct harness_run *run,
			 const struct harness_iteration *it);
/* The phases behind the attempt: status and duration. */
void harness_add_phases(struct buf *text, const struct harness_iteration *it);
void harness_add_calls(struct buf *text, const struct harness_iteration *it);
void harness_add_result(struct buf *text, const struct harness_run *run,
			const struct harness_iteration *it);
void harness_add_qualification(struct buf *text,
			       const struct harness_iteration *it);

/* Lines about a run, in the order that they are shown. */
enum harness_fact {
	HARNESS_FACT_TASK,
	HARNESS_FACT_SCORE,
	HARNESS_FACT_STATE,
	HARNESS_FACT_BASELINE,
	HARNESS_FACT_BEST,
	HARNESS_FACT_EARLIER,
	HARNESS_FACT_UNVERIFIED,
	HARNESS_FACT_STOP,
	HARNESS_FACT_SAYS,
	HARNESS_FACT_DISPUTES,
	HARNESS_FACT_CHECKPOINT,
	HARNESS_FACT_RESTORED,
	HARNESS_FACT_USAGE,
	HARNESS_FACT_CALLS,
	HARNESS_FACT_QUARANTINED,
	HARNESS_FACT_RUNS,
	HARNESS_FACT_COUNT
};

const char *harness_fact_label(enum harness_fact fact);
void harness_add_fact(struct buf *text, enum harness_fact fact,
		      const struct harness_workspace *ws,
		      const struct harness_run *run);

/* A trial: valid, or why not; a group: how many count, and their median. */
void harness_add_trial(struct buf *text, const struct harness_trial *trial);
void harness_add_group(struct buf *text, const struct harness_group *group);
/* Finished, running or aborted, and in which trial. */
void harness_add_compare_state(struct buf *text,
			       const struct harness_compare *compare);
/* What may be said of the two groups. */
void harness_add_verdict(struct buf *text,
			 const struct harness_compare *compare);

#endif
