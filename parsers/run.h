/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include <cjson/cJSON.h>

#include "parsers/metric.h"

/*
 * One training run as its log tells it: the row of `parse --json` (keys and
 * meanings in man hgym-tui, OUTPUT).  A number that the log does not hold is
 * NAN (RUN_ABSENT), a text that it does not hold is NULL; never 0.
 */
#define RUN_ABSENT ((double)NAN)

static inline bool run_has(double value)
{
	return !isnan(value);
}

/* Are they one number, or both absent? */
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

enum run_status {
#define X(id, name) RUN_##id,
	RUN_STATUS_LIST(X)
#undef X
};

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

enum run_event_kind {
#define X(id, name) RUN_EVENT_##id,
	RUN_EVENT_LIST(X)
#undef X
		RUN_EVENT_COUNT
};

struct run_event {
	uint64_t line; /* 1-based in the file */
	enum run_event_kind kind;
	double step; /* of the last step before it, or absent */
	char *text;  /* owned, raw bytes of the log cut to 240, NUL-ended */
};

#define RUN_MAX_EVENTS 64

/*
 * The numbers of a run: one list makes the struct, the JSON keys, the CSV
 * columns and the columns of v_runs.
 *	member			decimals printed (-1: as many as it has)
 */
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

/*
 * What is under way now, for the eye: kept with the numbers, but no key of a
 * run's row.  Absent when it is not.
 *
 *	eval_done, eval_total	how far an evaluation is, in its own unit
 *	running_bpb		of the evaluation so far
 *	last_step		of the last row
 *	cap_s			training cap that the run set itself
 */
#define RUN_LIVE_LIST(X) \
	X(eval_done)     \
	X(eval_total)    \
	X(running_bpb)   \
	X(last_step)     \
	X(cap_s)

/*
 * A series of numbers that a run printed, under the name that it printed: what
 * "metrics" of its row has.  The points themselves are samples.
 */
#define SERIES_NAME_BYTES 48 /* with its NUL; a longer name is cut */
#define SERIES_UNIT_BYTES 16
#define RUN_MAX_SERIES	  64

struct run_series {
	char name[SERIES_NAME_BYTES]; /* UTF-8, no controls */
	char unit[SERIES_UNIT_BYTES]; /* as printed; "" where none is */
	enum metric metric;	      /* what it is for sure; METRIC_COUNT: its own */
	uint64_t points;	      /* finite ones; all below is of these */
	double first, last, min, max; /* as printed, not rescaled */
	double min_step;	      /* absent where the row has no step */
	double scale;		      /* of these to the metric's unit */
	const char *shared;	      /* series_shared_name of it; NULL: not asked */
};

struct run {
	unsigned int run_index; /* 0.. within the file */
	enum run_status status;
#define X(member, decimals) double member;
	RUN_NUMBER_LIST(X)
#undef X
	char *final_stage;	 /* owned; first word of the score's line */
	const char *final_class; /* static: roundtrip, sliding, ttt, preq */
	char *source_sha256;	 /* owned, 64 hex digits; NULL: no source seen */
	uint64_t source_lines;
	uint64_t first_line; /* 1-based line where the run begins */
	uint64_t lines, bytes, matched;
	char *formats;		  /* owned; names of the rule sets that took lines, "a,b"
				   */
	struct run_event *events; /* owned */
	size_t n_events;
	uint64_t events_dropped;   /* beyond RUN_MAX_EVENTS */
	struct run_series *series; /* owned; in the order of their first row */
	size_t n_series;
	uint64_t series_dropped; /* values of names beyond RUN_MAX_SERIES */
#define X(member) double member;
	RUN_LIVE_LIST(X)
#undef X
	double chosen; /* a leaderboard's: of the metric that it ranks by */
};

/* All absent, no events. */
void run_init(struct run *run);
void run_release(struct run *run);
/* Deep copy into an uninitialised *to. */
void run_copy(struct run *to, const struct run *from);

const char *run_status_name(enum run_status status);
const char *run_event_name(enum run_event_kind kind);
/* Ended by NULL; of final_class. */
extern const char *const run_status_names[], *const run_event_names[], *const run_class_names[];
#define RUN_CLASSES 5

/* The object of contract's `parse --json`, without "file"; given (owned). */
cJSON *run_to_json(const struct run *run);

/* One point of a run's series.  x of a chart: step, train_ms or wall_ms. */
struct sample {
	double step;	    /* absent for telemetry */
	enum metric metric; /* METRIC_COUNT: a series of its own, `name` */
	/*
	 * Of a series of its own its printed name, of series_shared_name or
	 * borrowed for the call; else NULL.
	 */
	const char *name;
	double value;	 /* finite; in the metric's unit, else as printed */
	double train_ms; /* at that row, absent where the log has none */
	int64_t wall_ms; /* from a time prefix of the line; 0: unknown */
	uint64_t line;	 /* 1-based */
	uint64_t known;	 /* the later line that made a row of it; else 0 */
};
