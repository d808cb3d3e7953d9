/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness_run.h"

/*
 * A comparison of HarnessGym (`compare`): plain trials against harnessed
 * ones.  A trial counts when its post command passed and both validations
 * held; the medians are over those that count alone.
 */
struct harness_trial {
	const char *group; /* "plain" or "harnessed" */
	unsigned int number;
	const char *run_id, *status, *error;
	struct harness_number iterations, attempt_s;
	enum harness_tri comparison_valid, post_valid, objective_valid, worst;
	const char *comparison_why, *post_why; /* "" when valid */
	struct harness_number score;	       /* NULL when it does not count */
	struct harness_post post;	       /* the raw one */
	struct harness_number calls, active_tools;
};

struct harness_group {
	const char *name;
	unsigned int count, valid, invalid, not_run;
	struct harness_number best, median, min, max; /* of valid trials */
	enum harness_tri worst; /* an invalid one ranks below every valid one */
};

#define HARNESS_MAX_TRIALS 1000

struct harness_compare {
	struct harness_pool pool;
	struct harness_trial *trials; /* plain first, by number */
	size_t n_trials;
	struct harness_group groups[2]; /* plain, harnessed */
	size_t n_groups;
	bool has_report;	  /* it is finished */
	enum harness_tri process; /* HarnessGym runs there now */
	/* The newest trial that has begun and not ended; NULL: none. */
	const char *live_group;
	unsigned int live_trial;
	const char *live_phase;	     /* static; NULL: not known */
	unsigned int live_iteration; /* of that phase */
	int64_t created_ms;
	const char *score_key, *command;
	const char *template;		   /* the folder of the task; NULL: not told */
	enum harness_tri higher_is_better; /* as far as its numbers tell */
};

/* Its post command passed, and its number is one. */
bool harness_trial_counts(const struct harness_trial *trial);

/*
 * Read trial.json of each trial, and of the report those whose file is
 * missing.  Medians of ours are computed from the trials; they hold whether
 * the report stands yet or not.
 */
void harness_compare_read(struct harness_compare *compare, const struct harness_files *files);
void harness_compare_release(struct harness_compare *compare);
