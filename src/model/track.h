/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "model/run_number.h"

/*
 * A track: the caps and the record rule of a competition, as data.  The built-in ones are in
 * model/tracks; a user's own files have the same schema, hgym-tui.track/1:
 *
 *	schema, name	required
 *	title		one line
 *	score		name of a run's number, lower is better; or "auto": final_bpb if a group
 *			has it, else final_val_loss
 *	caps		train_s, eval_s, artifact_bytes; train_grace_steps: steps by which
 *			train_s may be exceeded; full_targets: val_tokens and target_tokens
 *			must be equal
 *	record		target (a score), or margin_nats below the baseline's mean; alpha;
 *			tests: those that decide, the first one must pass; min_seeds;
 *			known_sd of the score, for an additional z test
 *
 * A number that is not given is RUN_ABSENT.
 */
enum track_test {
	TRACK_TEST_A, /* one sample compared with the bar */
	TRACK_TEST_B, /* Welch with the margin */
	TRACK_TEST_C, /* one sample compared with the baseline's mean */
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
	bool has_record;    /* a record rule is given */
	double target;	    /* absent: the bar comes from the baseline */
	double margin_nats; /* >= 0; 0 when not given */
	double known_sd;
	double alpha; /* 0 < alpha < 1; 0.01 when not given */
	enum track_test tests[TRACK_TEST_COUNT];
	size_t n_tests;	  /* 1.. with has_record */
	size_t min_seeds; /* 2.. ; 3 when not given */
};

/* Used unless another track is named. */
#define TRACK_DEFAULT "parameter-golf-10min"
/* The track of a board that ranks by a named metric. */
#define TRACK_METRIC "metric"

/* Name of built-in track i = 0, 1, ..; NULL after the last; static. */
const char *track_name(size_t i);

/* Load the built-in track with this name or, if it contains '/' or ends in ".json", a file. Returns
 * -1 with file, line and key path in err. */
int track_load(struct track *track, const char *name_or_path, struct err *err)
	__attribute__((warn_unused_result));

/* Which scores the runs have; a zeroed struct has none. */
struct track_scores {
	bool bpb, loss;
};
void track_scores_add(struct track_scores *scores, const struct run *run);
/* The built-in track for runs when no track is named: "open" without any BPB; NULL without any
 * score. */
const char *track_for_scores(const struct track_scores *scores);

/* Read a track from text; `file` is used in errors. */
int track_parse(struct track *track, const char *file, struct str text, struct err *err)
	__attribute__((warn_unused_result));

void track_release(struct track *track);

/* Does the track have any cap? */
bool track_has_caps(const struct track *track);
