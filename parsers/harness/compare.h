/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/run.h"

/* A HarnessGym comparison (`compare`): plain trials and harnessed trials of one task. The
 * statistics of a group use only trials that count: see harness_trial_counts(). */
struct harness_trial {
	const char *group; /* "plain" or "harnessed" */
	unsigned int number;
	const char *run_id, *status, *error;
	struct harness_number iterations, attempt_s;
	enum harness_tri comparison_valid, post_valid, objective_valid, worst;
	const char *comparison_why, *post_why; /* "": valid */
	struct harness_number score;	       /* from trial.json */
	struct harness_post post;	       /* from the verifier's output */
	struct harness_number calls, active_tools;
	const char *files; /* checksum of its workspace; "": unknown */
};

struct harness_group {
	const char *name;
	unsigned int count, valid, invalid, not_run;
	struct harness_number best, median, min, max; /* of valid trials */
	enum harness_tri worst;			      /* invalid trials rank below all valid ones */
};

#define HARNESS_MAX_TRIALS 1000

struct harness_compare {
	struct harness_pool pool;
	struct harness_trial *trials; /* plain first, by number */
	size_t n_trials;
	struct harness_group groups[2]; /* plain, harnessed */
	size_t n_groups;
	bool has_report;	  /* the comparison is finished */
	enum harness_tri process; /* is HarnessGym running on the trials' machine? */
	/* The newest trial that has started but not ended; NULL: none. */
	const char *live_group;
	unsigned int live_trial;
	const char *live_phase;	     /* static; NULL: unknown */
	unsigned int live_iteration; /* of that phase */
	int64_t created_ms;
	const char *score_key, *command;
	const char *template; /* folder of the task; NULL: unknown */
	/* Judge files of the task; files that trials added to them; those with another layout. */
	struct harness_names compared, added, formatted;
	/* Derived from the numbers; UNKNOWN if they do not show it. */
	enum harness_tri higher_is_better;
};

/* Did the post command pass, with a usable score that is not in doubt? */
bool harness_trial_counts(const struct harness_trial *trial);

/* Read trial.json of each trial; if it is missing, take the trial from the report. The statistics
 * are computed from the trials, with or without a report. */
void harness_compare_read(struct harness_compare *compare, const struct harness_files *files);
void harness_compare_release(struct harness_compare *compare);
