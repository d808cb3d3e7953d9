/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "parsers/harness_compare.h"
#include "parsers/harness_run.h"
#include "report/facts.h"

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
void harness_add_qualification(struct buf *text, const struct harness_iteration *it);

void harness_add_names(struct buf *text, const struct harness_names *names);
/* Device, versions and time, as a verifier tells them. */
void harness_add_verifier(struct buf *text, const struct harness_post *post);

/*
 * All that is known of a run but its iterations.  as_of (NULL: now) says how
 * old its state is: "2 min ago: ".
 */
void harness_facts(struct facts *facts, const struct harness_workspace *ws,
		   const struct harness_run *run, const char *as_of);
/* "3 in this workspace: ID .."; of one alone nothing. */
void harness_add_runs(struct buf *text, const struct harness_workspace *ws);

/* A trial: valid, or why not. */
void harness_add_trial(struct buf *text, const struct harness_trial *trial);
/* How many trials of each group count, their median, and the verdict. */
void harness_compare_facts(struct facts *facts, const struct harness_compare *compare);
/* Finished, running or aborted, and in which trial. */
void harness_add_compare_state(struct buf *text, const struct harness_compare *compare);
