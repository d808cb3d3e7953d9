/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include <cjson/cJSON.h>

#include "parsers/metric.h"

/* One training run, read from its log: the row of `parse --json` (man hgym-tui, OUTPUT). A number
 * that is not in the log is NAN (RUN_ABSENT), never 0; such a text is NULL. */
#define RUN_ABSENT ((double)NAN)

static inline bool run_has(double value)
{
	return !isnan(value);
}

/* Are both numbers equal, or both absent? */
static inline bool run_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

#define RUN_STATUS_LIST(X)        \
	X(RUNNING, "running")     \
	X(FINISHED, "finished")   \
	X(TRUNCATED, "truncated") \
	X(CRASHED, "crashed")     \
	X(OOM, "oom")             \
	X(DIVERGED, "diverged")   \
	X(KILLED, "killed")       \
	X(UNKNOWN, "unknown")

#define RUN_STATUS_ID(id, name) RUN_##id,
enum run_status { RUN_STATUS_LIST(RUN_STATUS_ID) };

#define RUN_EVENT_LIST(X)               \
	X(TRACEBACK, "traceback")       \
	X(OOM, "oom")                   \
	X(NAN, "nan")                   \
	X(NCCL, "nccl")                 \
	X(CHILD_FAILED, "child_failed") \
	X(CUDA, "cuda")                 \
	X(KILLED, "killed")             \
	X(CRASH, "crash")               \
	X(EARLY_STOP, "early_stop")     \
	X(WARNING, "warning")           \
	X(OTHER, "other")

#define RUN_EVENT_ID(id, name) RUN_EVENT_##id,
enum run_event_kind { RUN_EVENT_LIST(RUN_EVENT_ID) RUN_EVENT_COUNT };

struct run_event {
	uint64_t line; /* 1-based in the file */
	enum run_event_kind kind;
	double step; /* last step before it, or absent */
	char *text;  /* owned; raw bytes of the log, at most 240, ended by NUL */
};

#define RUN_MAX_EVENTS 64

/* The numbers of a run. The list makes the struct, the JSON keys, the CSV columns and the columns
 * of v_runs: member, decimals printed (-1: as many as the number has). */
#define RUN_NUMBER_LIST(X)           \
	X(seed, 0)                   \
	X(n_gpus, 0)                 \
	X(train_batch_tokens, 0)     \
	X(planned_steps, 0)          \
	X(steps, 0)                  \
	X(train_ms, -1)              \
	X(ms_per_step, -1)           \
	X(step_avg_printed_ms, -1)   \
	X(tok_s_last, -1)            \
	X(tok_s_mean, -1)            \
	X(tok_s_derived, -1)         \
	X(tok_s_interval, -1)        \
	X(tok_s_per_device_last, -1) \
	X(step_ms_median, -1)        \
	X(last_train_loss, -1)       \
	X(last_val_loss, -1)         \
	X(last_val_bpb, -1)          \
	X(final_val_loss, -1)        \
	X(prequant_bpb, -1)          \
	X(quant_bpb, -1)             \
	X(sliding_bpb, -1)           \
	X(ttt_bpb, -1)               \
	X(final_bpb, -1)             \
	X(final_line, 0)             \
	X(eval_s, -1)                \
	X(eval_total_s, -1)          \
	X(artifact_bytes, 0)         \
	X(code_bytes, 0)             \
	X(model_bytes, 0)            \
	X(peak_mem_mib, 0)           \
	X(val_tokens, 0)             \
	X(target_tokens, 0)

/* Progress, for display; not part of the row of a run. Absent if nothing is in progress.
 *
 *	eval_done, eval_total	progress of an evaluation, in its own unit
 *	running_bpb		of that evaluation
 *	last_step		of the last row
 *	cap_s			training time cap set by the run */
#define RUN_LIVE_LIST(X) \
	X(eval_done)     \
	X(eval_total)    \
	X(running_bpb)   \
	X(last_step)     \
	X(cap_s)

/* Numbers that a run printed under one name: an entry of "metrics". The points are samples. */
#define SERIES_NAME_BYTES 48 /* including its NUL; a longer name is cut */
#define SERIES_UNIT_BYTES 16
#define RUN_MAX_SERIES	  64
#define RUN_SERIES_CHUNK  8U

/* The validations of a series: finite numbers, each step once, in the order of the steps. */
#define RUN_MAX_POINTS	 4096 /* later points are dropped */
#define RUN_POINTS_CHUNK 16U

struct run_point {
	double step, value; /* as printed */
};

struct run_points {
	struct run_point *v; /* owned */
	size_t n;
};

struct run_series {
	char name[SERIES_NAME_BYTES];  /* UTF-8 without control characters */
	char unit[SERIES_UNIT_BYTES];  /* as printed; "": none */
	enum metric metric;	       /* METRIC_COUNT if its meaning is not certain */
	uint64_t points;	       /* finite values; the members below are of these */
	double first, last, min, max;  /* as printed */
	double min_step;	       /* absent if the row has no step */
	double scale;		       /* to the metric's unit */
	const char *shared;	       /* see run_series_shared_name; NULL: not needed yet */
	struct run_points validations; /* if it is a loss or BPB of validations */
};

struct run {
	unsigned int run_index; /* from 0 within the file */
	enum run_status status;
#define X(member, decimals) double member;
	RUN_NUMBER_LIST(X)
#undef X
	char *final_stage;	 /* owned; first word of the line with the score */
	const char *final_class; /* static: roundtrip, sliding, ttt, preq */
	char *status_reason;	 /* owned; what decided the status, for people; NULL: running */
	char *source_sha256;	 /* owned, 64 hex digits; NULL: no source in the log */
	uint64_t source_lines;
	uint64_t first_line; /* 1-based */
	uint64_t lines, bytes, matched;
	char *formats; /* owned; names of the rule sets that matched, "a,b" */
	/* owned; the track that the log is of; "a,b": one of these; "": none; NULL: log not read */
	char *tracks;
	struct run_event *events; /* owned */
	size_t n_events;
	uint64_t events_dropped;   /* after RUN_MAX_EVENTS */
	struct run_series *series; /* owned; in the order in which they first appear */
	size_t n_series;
	uint64_t series_dropped; /* values of names after RUN_MAX_SERIES */
#define X(member) double member;
	RUN_LIVE_LIST(X)
#undef X
	/* The evaluation in progress: its first and its newest row; not stored. */
	struct run_progress {
		double done, ms; /* ms: since its start, as printed; absent: not printed */
		int64_t wall_ms; /* of the line; 0: unknown */
	} eval_first, eval_last;
	double chosen; /* value of the metric that a leaderboard ranks by */
};

/* Set everything to absent. */
void run_init(struct run *run);
void run_release(struct run *run);
/* Deep copy into an uninitialized *to. */
void run_copy(struct run *to, const struct run *from);

/* Ended by NULL; run_class_names are the values of final_class. */
extern const char *const run_status_names[], *const run_event_names[], *const run_class_names[];
#define RUN_CLASSES 5

/* Make the object that `parse --json` prints, without "file"; the caller owns it. */
cJSON *run_to_json(const struct run *run);

/* One point of a run's series. The x axis of a chart is step, train_ms or wall_ms. */
struct sample {
	double step;	    /* absent for telemetry */
	enum metric metric; /* METRIC_COUNT: the series called `name` */
	/* Name of a series without a metric, from run_series_shared_name or borrowed. */
	const char *name;
	double value;	 /* finite; in the metric's unit, else as printed */
	double train_ms; /* training time at that row; absent: unknown */
	int64_t wall_ms; /* from a time prefix of the line; 0: unknown */
	uint64_t line;	 /* 1-based */
	uint64_t known;	 /* the later line that showed it to be a row; else 0 */
};
