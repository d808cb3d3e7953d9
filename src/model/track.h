/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "model/run_number.h"

struct format_set;
struct mark;

/*
 * A track: the caps and the record rule of a competition, as data.  The built-in ones are in
 * model/tracks; a user's own files have the same schema, hgym-tui.track/2, or the older
 * hgym-tui.track/1.  hgym-tui-config(5) describes the keys.
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

/* What decides that the target is shown. */
enum track_rule { TRACK_RULE_T, TRACK_RULE_Z, TRACK_RULE_MARGIN, TRACK_RULE_MEAN };

enum track_rank { TRACK_RANK_SCORE, TRACK_RANK_TRAIN_S, TRACK_RANK_STEPS };

struct track {
	char *name, *title;		/* owned */
	char *file;			/* owned; NULL: built in */
	const struct run_number *score; /* NULL: auto, or the metric */
	char *metric;	   /* owned; name of the metric that is the score, or that has the target */
	char *full_metric; /* owned; a run without it has only an estimate; NULL: no such metric */
	char *also_metric; /* owned; the score of a run without the others; NULL: none */
	char *full_if;	   /* owned; full_value in this setting makes a run complete; NULL: none */
	double full_value;
	bool counts_steps; /* the score is the steps to the target */
	bool take_best;
	bool is_above;	/* the target is reached by a higher value */
	bool is_strict; /* the value of the target itself does not reach it */
	enum track_rule rule;
	double margin_root_n; /* limit of TRACK_RULE_MARGIN */
	double pair_margin_root_n, loss_per_step;
	enum track_rank rank_by;
	struct mark *marks; /* owned, not compiled */
	size_t n_marks;
	double cap_train_s, cap_eval_s, cap_artifact_bytes;
	char *cap_metric; /* owned; NULL: none */
	double cap_metric_most;
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
	/* Borrowed; not NULL: no track was chosen, so each run has the track of its log. */
	const struct track_set *by_logs;
};

/* The track of a BPB that has no log. */
#define TRACK_DEFAULT "parameter-golf-10min"
/* The track of a board that ranks by a named metric. */
#define TRACK_METRIC "metric"

/* Name of built-in track i = 0, 1, ..; NULL after the last; static. */
const char *track_name(size_t i);

/* The file of the built-in track with this name; NULL: none; static. */
const char *track_text(const char *name);

/* Load the built-in track with this name or, if it contains '/' or ends in ".json", a file. Returns
 * -1 with file, line and key path in err. */
int track_load(struct track *track, const char *name_or_path, struct err *err) MUST_USE;

/* All tracks: built-in and the user's. A user's track replaces a built-in one of that name. */
struct track_set {
	struct track *v; /* owned */
	size_t n, cap;
};

/* Load the built-in tracks. */
void track_set_init(struct track_set *set);
/* Add the track of a file, or replace the one with the same name. */
int track_set_load(struct track_set *set, const char *path, struct err *err) MUST_USE;
void track_set_release(struct track_set *set);
const struct track *track_set_find(const struct track_set *set, const char *name);
/* Give the patterns of all tracks to the readers of logs. */
int track_set_add_marks(const struct track_set *set, struct format_set *formats,
			struct err *err) MUST_USE;

/* The track of a run: the one that its log was recognized as, else "open". A run whose log was not
 * read has TRACK_DEFAULT if it has a BPB. */
const struct track *track_of_run(const struct track_set *set, const struct run *run);
/* The track of a run if no track was chosen (by_logs is set), else `track` itself. */
const struct track *track_for_run(const struct track *track, const struct run *run);

/* Read a track from text; `file` is used in errors. */
int track_parse(struct track *track, const char *file, struct str text, struct err *err) MUST_USE;

void track_release(struct track *track);

/* Does the track have any cap? */
bool track_has_caps(const struct track *track);
/* Append the names of its caps: "bytes, train, eval". */
void track_list_caps(const struct track *track, struct buf *out);
