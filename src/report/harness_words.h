/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/compare.h"
#include "report/facts.h"

/* Describe judged runs in the same words for commands and the screen. Only verified scores are
 * shown as plain numbers; all others are marked INVALID, unverified or not measured. Each function
 * appends to text, or nothing. Texts from runs are already sanitised. */
/* "+2.1 %", or "2.1 %" without sign; "1.2e+06 %" from a million on. */
#define HARNESS_PCT_SIZE 32
const char *harness_pct(double pct, bool sign, char out[HARNESS_PCT_SIZE]);

/* "as of 34 s ago". */
void harness_add_age(struct buf *text, int64_t age_ms);

/* Cells of an iteration. */
void harness_add_attempt(struct buf *text, const struct harness_run *run,
			 const struct harness_iteration *it);
/* The phases after the attempt, with status and duration. */
void harness_add_phases(struct buf *text, const struct harness_iteration *it);
void harness_add_calls(struct buf *text, const struct harness_iteration *it);
void harness_add_result(struct buf *text, const struct harness_run *run,
			const struct harness_iteration *it);
void harness_add_qualification(struct buf *text, const struct harness_iteration *it);

void harness_add_names(struct buf *text, const struct harness_names *names);
/* Device, versions and time, as reported by a verifier. */
void harness_add_verifier(struct buf *text, const struct harness_post *post);

/* Add all facts of a run except its iterations. as_of: age of its state, "2 min ago: ", or NULL. */
void harness_facts(struct facts *facts, const struct harness_workspace *ws,
		   const struct harness_run *run, const char *as_of);
/* "3 in this workspace: ID .."; nothing for a single run. */
void harness_add_runs(struct buf *text, const struct harness_workspace *ws);

/* "valid", or why not. */
void harness_add_trial(struct buf *text, const struct harness_trial *trial);
/* Add the valid trials per group, their median, and the verdict. */
void harness_compare_facts(struct facts *facts, const struct harness_compare *compare);
/* Finished, running or aborted, and in which trial. */
void harness_add_compare_state(struct buf *text, const struct harness_compare *compare);
