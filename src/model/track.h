/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "model/run_number.h"

/*
 * A track: the caps and the record rule of a competition, as data.  The
 * built-in ones are the files of model/tracks; a user's own has the same
 * schema, hgym-tui.track/1:
 *
 *	schema, name	required
 *	title		one line for people
 *	score		key of a run's number, lower is better; or "auto":
 *			final_bpb where a group has it, else final_val_loss
 *	caps		train_s, eval_s, artifact_bytes; train_grace_steps:
 *			steps that train_s may be passed by; full_targets:
 *			val_tokens and target_tokens must agree
 *	record		target (of the score itself), or margin_nats below the
 *			baseline's mean; alpha; tests that decide, the first
 *			is the one that must pass; min_seeds; known_sd of the
 *			score for a z test beside them
 *
 * A number that is not given is RUN_ABSENT.
 */
enum track_test {
	TRACK_TEST_A, /* one sample against the bar */
	TRACK_TEST_B, /* Welch with the margin */
	TRACK_TEST_C, /* one sample against the baseline's mean */
	TRACK_TEST_D, /* Welch without the margin */
	TRACK_TEST_E, /* pooled t with the margin */
	TRACK_TEST_F, /* pooled t without the margin */
	TRACK_TEST_COUNT
};

struct track {
	char *name, *title;		/* owned */
	const struct run_number *score; /* NULL: auto */
	double cap_train_s, cap_eval_s, cap_artifact_bytes;
	double train_grace_steps; /* 0: none */
	bool full_targets;
	bool has_record;    /* there is a rule of a record */
	double target;	    /* absent: the bar comes from the baseline */
	double margin_nats; /* >= 0; 0 when not given */
	double known_sd;
	double alpha; /* 0 < alpha < 1; 0.01 when not given */
	enum track_test tests[TRACK_TEST_COUNT];
	size_t n_tests;	  /* 1.. with has_record */
	size_t min_seeds; /* 2.. ; 3 when not given */
};

/* The one that nobody has to name. */
#define TRACK_DEFAULT "parameter-golf-10min"
/* That of a score that is no loss and no BPB: of boards that name one. */
#define TRACK_METRIC "metric"

/* Name of built-in track i = 0, 1, ..; NULL behind the last; static. */
const char *track_name(size_t i);

/*
 * The built-in track of that name or, when it holds a '/' or ends in ".json",
 * the user's file.  -1 with file, line and key path in err.
 */
int track_load(struct track *track, const char *name_or_path, struct err *err)
	__attribute__((warn_unused_result));

/* What scores some runs tell; zeroed it is none. */
struct track_scores {
	bool bpb, loss;
};
void track_scores_add(struct track_scores *scores, const struct run *run);
/*
 * The built-in track of runs where nobody named one: without any BPB there is
 * no rule to hold them to.  NULL: they tell no score yet.
 */
const char *track_of_scores(const struct track_scores *scores);

/* From a text in the schema; `file` is for the errors. */
int track_parse(struct track *track, const char *file, struct str text, struct err *err)
	__attribute__((warn_unused_result));

void track_release(struct track *track);

/* Any cap at all? */
bool track_has_caps(const struct track *track);
