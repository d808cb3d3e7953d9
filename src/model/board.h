/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "model/board_target.h"

/* Leaderboard over seeds: runs in; groups with their rows, spreads, tests and verdicts out. Pure.
 * The command `board`, the dashboard and the exports use the same struct.
 *
 * Which runs count. A run counts if it is finished and has the score; for a
 * track that counts steps, if it has a validation at the step of its group. Logs of a group with
 * identical bytes count once, as do two logs of the same run (same score, steps and training
 * time to the millisecond). A report without rows counts as part of the run in the group that has
 * its training time and figures. Mean and spread cover the runs that count. Repeated runs of a seed
 * are not independent: the tests use one value per seed, the mean of its runs, and their n is the
 * number of seeds. A run that does not print its seed counts as a seed. */
#define BOARD_USE_LIST(X)                   \
	X(BOARD_COUNTED, "counted")         \
	X(BOARD_COPY, "copy")               \
	X(BOARD_SAME_RUN, "same run")       \
	X(BOARD_REPORT, "report")           \
	X(BOARD_OTHER_TRACK, "other track") \
	X(BOARD_EXCLUDED, "excluded")       \
	X(BOARD_NO_STEP, "no step")         \
	X(BOARD_UNFINISHED, "not finished") \
	X(BOARD_NO_SCORE, "no score")

enum board_use { BOARD_USE_LIST(LIST_ID) };

#define BOARD_CAP_LIST(X)               \
	X(BOARD_CAP_BYTES, "bytes")     \
	X(BOARD_CAP_TRAIN, "train")     \
	X(BOARD_CAP_EVAL, "eval")       \
	X(BOARD_CAP_TARGETS, "targets") \
	X(BOARD_CAP_METRIC, "metric")

enum board_cap { BOARD_CAP_LIST(LIST_ID) BOARD_CAP_COUNT };

/* From best to worst: a group has the worst state of its counted runs. */
#define BOARD_KEPT_LIST(X)                                             \
	X(CAP_NONE, "none") /* the track has no such cap */            \
	X(CAP_KEPT, "kept")                                            \
	X(CAP_GRACE, "grace")	  /* exceeded, but within the grace */ \
	X(CAP_UNKNOWN, "unknown") /* not in the log */                 \
	X(CAP_BROKEN, "broken")

enum board_kept { BOARD_KEPT_LIST(LIST_ID) };

struct board_row {
	const struct model_run *mr; /* borrowed; NULL: not from a model */
	char *path;		    /* owned; as given, raw bytes */
	char *name;		    /* owned; path within the group, unless set */
	char *log;		    /* owned; local file with its bytes; NULL: path itself */
	size_t group;
	size_t place;	 /* index in the group's rows */
	char sha256[65]; /* hash of the file's bytes; "": unknown */
	struct run run;	 /* owned copy, unless is_shared */
	bool is_shared;	 /* strings and series of run belong to the model's run */
	double score;	 /* in the unit of the group; absent: none */
	double usd;	 /* see board_row_price; absent: unknown */
	enum board_use use;
	size_t copy_of;	 /* COPY, SAME_RUN, REPORT: index of the row that counts */
	bool seed_again; /* an earlier row of the group has this seed */
	enum board_kept caps[BOARD_CAP_COUNT];
	char note[240]; /* "" or a remark on the row */
};

#define BOARD_WORD_LIST(X)                     \
	X(BOARD_WORD_NONE, "none")             \
	X(BOARD_WORD_BASELINE, "baseline")     \
	X(BOARD_WORD_NO_RUNS, "no_runs")       \
	X(BOARD_WORD_INVALID, "invalid")       \
	X(BOARD_WORD_NOT_JUDGED, "not_judged") \
	X(BOARD_WORD_BELOW_BAR, "below_bar")   \
	X(BOARD_WORD_NOT_SHOWN, "not_shown")   \
	X(BOARD_WORD_SHOWN, "shown")

enum board_word { BOARD_WORD_LIST(LIST_ID) };

/* A seed that both the group and the baseline ran, and the difference of its means. */
struct board_common_seed {
	double seed, delta;
};

/* How a group compares with the bar; differences are group minus baseline. */
struct board_verdict {
	enum board_word word;
	bool is_provisional;	  /* runs are missing, or only estimate the target's metric */
	char text[192];		  /* the verdict as shown, "" for NONE */
	double bar;		  /* value to beat, in the unit of the score; absent: none */
	double delta, delta_nats; /* difference from the baseline, else from the target */
	double nats_per_unit;	  /* nats per unit of the score; 1 for a loss */
	const char *nats_source;  /* static; NULL: nats_per_unit is unknown */
	struct board_test tests[TRACK_TEST_COUNT];
	double z, p_z;			 /* z test with the track's known_sd */
	struct board_target_test target; /* test of the track's target */
	double mean_needed;		 /* the mean with which test A would pass */
	unsigned int seeds_needed;	 /* for test A with this mean and spread; 0: unknown */
	unsigned int seeds_planned; /* seeds for test A with power BOARD_POWER; 0: not planned */
	double usd_seed;	    /* mean over the runs with a price; absent: none */
	double usd_more;	    /* price of the seeds that are still missing */
	/* Another group that shows the target: the baseline, else the next by rank; borrowed. */
	const struct board_group *other;
	double pair_margin; /* over `other`, by the track's pairwise rule */
	bool pair_shown;
	struct board_test train_time; /* Welch test of train_ms against other or the baseline */
	double delta_train_ms;
	struct board_common_seed *common; /* owned */
	size_t n_common;
};

/* What another validation metric of a group would show. */
struct board_other {
	const char *metric; /* borrowed from a run */
	struct board_steps steps;
};

struct board_group {
	const struct track *track; /* borrowed; set by board_compute */
	struct run_number own;	   /* the score, if it is a metric of the track */
	bool higher;		   /* a higher score is better */
	bool counts_steps;	   /* the runs are compared at steps.step */
	bool has_ended;		   /* a log of the group shows the end of its run */
	struct board_steps steps;
	struct board_other *others; /* owned */
	size_t n_others, cap_others;
	char *key;    /* owned, raw bytes; the rows are grouped by it */
	char *title;  /* owned; the key below the folder that all groups share */
	size_t *rows; /* owned; indices into board.rows, in order */
	size_t n_rows, cap_rows;
	size_t rank; /* index in board.rank */
	bool is_baseline;
	bool is_values;			/* typed in, without logs */
	const struct run_number *score; /* set by board_compute */
	size_t n_counted, n_seeds;
	size_t n_estimates; /* counted runs that only estimate the target's metric */
	size_t n_live;	    /* running runs that do not count yet */
	size_t n_uncounted[BOARD_NO_SCORE + 1]; /* indexed by enum board_use */
	struct board_stats stats;		/* over the runs */
	struct board_stats seed_stats;		/* one value per seed; the tests use these */
	struct board_stats train_ms;		/* over the runs; n is 0 unless all have it */
	/* Means of the counted runs, indexed like run_numbers; absent unless all runs have it. */
	double means[RUN_NUMBER_COUNT];
	double max_artifact_bytes, max_train_ms, max_eval_s;
	double nats_per_bpb; /* sum of losses / sum of BPB in its logs */
	enum board_kept caps[BOARD_CAP_COUNT];
	struct board_verdict verdict;
	char **notes; /* owned sentences, with raw bytes of paths */
	size_t n_notes, cap_notes;
};

struct board {
	/* May be changed until board_compute(). With `tracks`, each group gets the track that its
	 * logs were recognized as, or else "open"; without, `track`. Both are borrowed. */
	const struct track *track;
	const struct track_set *tracks;
	const char *track_from;	     /* static: "option", "configuration", "logs" */
	const char *target_metric;   /* borrowed; replaces the track's metric unless NULL */
	const char *const *excluded; /* borrowed; paths of runs, or the ends of paths */
	size_t n_excluded;
	const struct run_number *score; /* requested score; NULL: the track's */
	char *chosen_name;		/* owned; NULL: no metric was chosen */
	struct run_number chosen;	/* the score with that name */
	const char *chosen_unit;	/* static; NULL: not a known metric */
	bool higher;			/* a higher score is better */
	double nats_per_bpb;		/* requested value; absent: from the logs */
	const char *nats_source;	/* static */
	struct board_row **rows;	/* owned */
	size_t n_rows, cap_rows;
	struct board_group *groups; /* owned */
	size_t n_groups, cap_groups;
	struct map group_index[2]; /* from key to index + 1; [true]: groups of values */
	size_t *rank;		   /* owned; groups from best to worst */
	size_t baseline;	   /* index + 1 once computed; 0: none or not computed yet */
};

#define BOARD_MAX_ROWS 100000U
#define BOARD_POWER    0.8 /* power of the tests that seeds are planned for */

/* The track must outlive the board. */
void board_init(struct board *board, const struct track *track);
void board_release(struct board *board);

/* Rank by the last value of the metric with this name in the logs (run_series.h); call before
 * board_compute. A run whose planned end is unknown then counts too. */
void board_choose_metric(struct board *board, const char *name);

/* Add a run (copied) of the file at path to the group with this key; sha256 may be NULL. Returns
 * the row, or NULL if there are BOARD_MAX_ROWS rows already. */
struct board_row *board_add(struct board *board, const char *path, const char *key,
			    const char *sha256, const struct run *run);

/* Add a run of the model without copying it. The model must not change until board_compute() has
 * returned; after that, only the numbers of row->run may be read. */
struct board_row *board_add_live(struct board *board, const struct model_run *mr, const char *key);

/* Set the cost of the run from its pod's hourly price (or absent) and the times in its log. */
void board_row_price(struct board_row *row, double usd_per_hour);

/* Add a group of scores without logs, in the unit of the track's score, or else of final_bpb. */
void board_add_values(struct board *board, const char *key, const double *values, size_t n);

/* Make the group with this key, or the one whose key ends in "/key", the baseline. Returns -1 with
 * err if there is none (ERR_NODATA) or more than one (ERR_USAGE). */
int board_set_baseline(struct board *board, const char *key, struct err *err) MUST_USE;

/* The group that board_set_baseline would choose; NULL with err. */
struct board_group *board_find_group(const struct board *board, const char *key, struct err *err);

/* The row of the group at this place; the first counted row from this place on. NULL: none. */
struct board_row *board_row_at(const struct board *board, const struct board_group *group,
			       size_t place);
struct board_row *board_counted(const struct board *board, const struct board_group *group,
				size_t place);
#define board_each_row(row, board, group)                                            \
	for (struct board_row *row = board_row_at((board), (group), 0); row != NULL; \
	     row = board_row_at((board), (group), row->place + 1))
#define board_each_counted(row, board, group)                                         \
	for (struct board_row *row = board_counted((board), (group), 0); row != NULL; \
	     row = board_counted((board), (group), row->place + 1))

/* The groups of a computed board from best to worst. */
#define board_each_ranked(group, board)                                           \
	for (struct board_group *group = board_ranked((board), 0); group != NULL; \
	     group = board_ranked((board), group->rank + 1))
struct board_group *board_ranked(const struct board *board, size_t rank);

/* Append why rows of the group do not count: "3 not finished, 1 no score"; nothing if all count. */
void board_list_uncounted(const struct board_group *group, struct buf *out);

/* Compute everything; call once, after all rows were added. */
void board_compute(struct board *board);

/* Compare a run with a cap of a track; appends by how much the run exceeds it. */
enum board_kept board_check_cap(const struct track *track, const struct run *run,
				enum board_cap cap, struct buf *out);

/* Does this text exclude the row? */
bool board_excludes(const struct board_row *row, const char *text);

/* The baseline group, or NULL. */
const struct board_group *board_baseline(const struct board *board);

/* The mean over the counted runs of the run number with this name, which must exist. */
double board_mean(const struct board_group *group, const char *key);
/* Does the name of a metric show that higher is better? Only whole words count: "val_acc" and
 * "tok/s" do, "data_access_ms" does not. */
bool board_is_higher_better(const char *metric);
/* The name of the metric that has the track's target; NULL: the track has no target. */
const char *board_target_metric(const struct board *board, const struct board_group *group);
/* The unit of the score: "bpb", "nats" or "value". */
const char *board_unit(const struct board *board, const struct board_group *group);

const char *board_use_name(enum board_use use);
const char *board_cap_name(enum board_cap cap);
const char *board_kept_name(enum board_kept kept);
const char *board_word_name(enum board_word word);
