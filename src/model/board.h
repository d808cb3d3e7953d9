/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "model/board_stats.h"
#include "model/track.h"
#include "parsers/run.h"

/*
 * The leaderboard over seeds: runs in, groups with their rows, spreads, tests
 * and words out.  Pure; the command `board`, the dashboard and the exports
 * read the same struct.
 *
 * What counts.  A run counts when it is finished and has the score.  A log
 * whose bytes are those of another of the group counts once, and so does a
 * run that another log of the group tells too (same score, steps and training
 * time to the millisecond).  Mean and spreads are over the runs that count.
 * A seed that ran twice is no second seed: where seeds repeat, the tests take
 * one value a seed, the mean of its runs, and n of a test is the number of
 * seeds.  A run that prints no seed is a seed of its own.
 */
#define BOARD_USE_LIST(X)             \
	X(COUNTED, "counted")         \
	X(COPY, "copy")               \
	X(SAME_RUN, "same run")       \
	X(UNFINISHED, "not finished") \
	X(NO_SCORE, "no score")

enum board_use {
#define X(id, name) BOARD_##id,
	BOARD_USE_LIST(X)
#undef X
};

#define BOARD_CAP_LIST(X) \
	X(BYTES, "bytes") \
	X(TRAIN, "train") \
	X(EVAL, "eval")   \
	X(TARGETS, "targets")

enum board_cap {
#define X(id, name) BOARD_CAP_##id,
	BOARD_CAP_LIST(X)
#undef X
		BOARD_CAP_COUNT
};

/* From best to worst: a group has the worst of its runs that count. */
#define BOARD_KEPT_LIST(X)                                                 \
	X(NONE, "none") /* the track has no such cap */                    \
	X(KEPT, "kept")                                                    \
	X(GRACE, "grace")     /* over, by no more than the grace allows */ \
	X(UNKNOWN, "unknown") /* the log does not say */                   \
	X(BROKEN, "broken")

enum board_kept {
#define X(id, name) CAP_##id,
	BOARD_KEPT_LIST(X)
#undef X
};

struct board_row {
	const struct model_run *mr; /* borrowed; NULL: it is of no model */
	char *path;		    /* owned, as given, raw bytes */
	char *name;		    /* owned; the path within its group unless it was set */
	char *log;		    /* owned; file here with its bytes, NULL: path itself */
	size_t group;
	size_t place;	 /* in the group's rows */
	char sha256[65]; /* of the file's bytes; "" unknown */
	struct run run;	 /* owned copy */
	double score;	 /* in the group's unit; absent: none */
	double usd;	 /* by board_row_price; absent: not known */
	enum board_use use;
	size_t copy_of;	 /* index of the row that counts; of COPY, SAME_RUN */
	bool seed_again; /* a row before it of the group has this seed */
	enum board_kept caps[BOARD_CAP_COUNT];
	char note[160]; /* "" or what is special, for a cell */
};

#define BOARD_WORD_LIST(X)          \
	X(NONE, "none")             \
	X(BASELINE, "baseline")     \
	X(NO_RUNS, "no_runs")       \
	X(INVALID, "invalid")       \
	X(NOT_JUDGED, "not_judged") \
	X(BELOW_BAR, "below_bar")   \
	X(NOT_SHOWN, "not_shown")   \
	X(SHOWN, "shown")

enum board_word {
#define X(id, name) BOARD_WORD_##id,
	BOARD_WORD_LIST(X)
#undef X
};

/* A seed that the group and the baseline both ran; delta of its means. */
struct board_common_seed {
	double seed, delta;
};

/* How a group stands to the bar; deltas are group minus baseline. */
struct board_verdict {
	enum board_word word;
	char text[160];		  /* the exact words, "" for NONE */
	double bar;		  /* in the score's unit; absent: none */
	double delta, delta_nats; /* to the baseline, else to the target */
	double nats_per_unit;	  /* of the score; 1 for a loss */
	const char *nats_source;  /* static; NULL: nats_per_unit unknown */
	struct board_test tests[TRACK_TEST_COUNT];
	double z, p_z;		      /* with the track's known_sd */
	double margin_root_n;	      /* (target - mean) * sqrt(n) */
	double mean_needed;	      /* the mean that test A would pass with */
	unsigned int seeds_needed;    /* for test A as things are; 0: unknown */
	unsigned int seeds_planned;   /* of test A, if that decides; 0: none */
	double usd_seed;	      /* mean of the runs with a price; absent: none */
	double usd_more;	      /* of the seeds that the plan still asks for */
	struct board_test train_time; /* Welch on train_ms to the baseline */
	double delta_train_ms;
	struct board_common_seed *common; /* owned */
	size_t n_common;
};

struct board_group {
	char *key;    /* owned, raw bytes; what the rows were grouped by */
	char *title;  /* owned; the key below the folder that all groups share */
	size_t *rows; /* owned; indices into board.rows, in order */
	size_t n_rows, cap_rows;
	bool is_baseline;
	bool is_values;			/* typed in: no logs behind it */
	const struct run_number *score; /* never NULL once computed */
	size_t n_counted, n_seeds;
	size_t n_uncounted[BOARD_NO_SCORE + 1]; /* by enum board_use */
	struct board_stats stats;		/* of the runs */
	struct board_stats seed_stats;		/* one value a seed; the tests' */
	struct board_stats train_ms;		/* of the runs, n 0 unless all have it */
	/* By run_numbers, of the runs; absent unless every one has it. */
	double means[RUN_NUMBER_COUNT];
	double max_artifact_bytes, max_train_ms, max_eval_s;
	double nats_per_bpb; /* its own: sum of losses / sum of BPB */
	enum board_kept caps[BOARD_CAP_COUNT];
	struct board_verdict verdict;
	char **notes; /* owned sentences, raw bytes of paths in them */
	size_t n_notes, cap_notes;
};

struct board {
	const struct track *track;	/* borrowed */
	const struct run_number *score; /* asked for; NULL: the track's */
	char *chosen_name;		/* owned; NULL: no metric was chosen */
	struct run_number chosen;	/* by that name */
	const char *chosen_unit;	/* static; NULL: of no metric of ours */
	bool higher;			/* a higher score is better */
	double nats_per_bpb;		/* asked for; absent: from the logs */
	const char *nats_source;	/* static; where that is from */
	struct board_row **rows;	/* owned */
	size_t n_rows, cap_rows;
	struct board_group *groups; /* owned; best first once computed */
	size_t n_groups, cap_groups;
	struct map group_index; /* "v" or "k" and the key, to index + 1 */
	size_t *rank;		/* owned; groups in the order to show */
	size_t baseline;	/* index + 1 once computed; 0: none, or not yet */
};

#define BOARD_MAX_ROWS 100000U
#define BOARD_POWER    0.8 /* that a plan of seeds is made for */

/* The track must outlive the board. */
void board_init(struct board *board, const struct track *track);
void board_release(struct board *board);

/* Another track (borrowed), and its score, before anything is computed. */
void board_set_track(struct board *board, const struct track *track);

/*
 * Rank by the last value of the metric that the runs call so (run_series.h),
 * before anything is computed.  Of such a board a run counts too when its log
 * does not tell how long it should be.
 */
void board_choose_metric(struct board *board, const char *name);

/*
 * Add a run (deep copy) of the file at path to the group of that key; sha256
 * may be NULL.  Returns the row; beyond BOARD_MAX_ROWS: NULL.
 */
struct board_row *board_add(struct board *board, const char *path, const char *key,
			    const char *sha256, const struct run *run);

/*
 * The price of an hour of where it ran, absent: not known; what the run cost
 * is that of the training and evaluation that its log tells.
 */
void board_row_price(struct board_row *row, double usd_per_hour);

/*
 * Add a group of bare scores, in the unit of the track's score; an auto
 * score takes them as final_bpb.
 */
void board_add_values(struct board *board, const char *key, const double *values, size_t n);

/*
 * Make the group of that key, or the one whose key ends in "/key", the
 * baseline.  -1 with err when there is none (ERR_NODATA) or more than one
 * (ERR_USAGE).
 */
int board_set_baseline(struct board *board, const char *key, struct err *err)
	__attribute__((warn_unused_result));

/* The group that board_set_baseline would take; NULL with err. */
struct board_group *board_find_group(const struct board *board, const char *key, struct err *err);

/* The first row of a group that counts, from that place on; NULL: none. */
struct board_row *board_counted(const struct board *board, const struct board_group *group,
				size_t place);
#define board_each_counted(row, board, group)                                         \
	for (struct board_row *row = board_counted((board), (group), 0); row != NULL; \
	     row = board_counted((board), (group), row->place + 1))

/* Append why rows of the group do not count: "3 not finished, 1 no score"; nothing if all do. */
void board_list_uncounted(const struct board_group *group, struct buf *out);

/* Judge all; called once, after the rows. */
void board_compute(struct board *board);

/* The baseline group, or NULL. */
const struct board_group *board_baseline(const struct board *board);

/* The mean of the number with that key, which there is, over the runs that
 * count. */
double board_mean(const struct board_group *group, const char *key);
/*
 * Does the name of a metric show that more of it is better?  Only whole words count: "val_acc"
 * and "tok/s" do, "data_access_ms" does not.
 */
bool board_is_higher_better(const char *metric);
/* "bpb", "nats" or, of any other number, "value": what the score is in. */
const char *board_unit(const struct board *board, const struct board_group *group);

const char *board_use_name(enum board_use use);
const char *board_cap_name(enum board_cap cap);
const char *board_kept_name(enum board_kept kept);
const char *board_word_name(enum board_word word);
