/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "parsers/format.h"
#include "parsers/run.h"
#include "parsers/telemetry.h"

#include "model/bench_live.h"
#include "model/logclass.h"
#include "model/series.h"

/*
 * The truth that the screen shows: pods, runs, their series, log tails and
 * events.  Written by the collector on the loop thread, read by the views as
 * const.  Every change bumps `generation` and sets bits in `changed`.
 */
enum model_part {
	MODEL_PODS = 1 << 0,
	MODEL_RUNS = 1 << 1,
	MODEL_SAMPLES = 1 << 2,
	MODEL_LOGS = 1 << 3,
	MODEL_EVENTS = 1 << 4,
	MODEL_BENCH = 1 << 5,
	MODEL_HARNESS = 1 << 6,
};

/* State of the link to a pod, as the screen says it. */
#define POD_STATE_LIST(X)               \
	X(UNKNOWN, "unknown")           \
	X(CONNECTING, "connecting")     \
	X(LIVE, "live")                 \
	X(SILENT, "silent")             \
	X(RECONNECTING, "reconnecting") \
	X(REFUSED, "refused")           \
	X(GONE, "gone")

enum pod_state {
#define X(id, name) POD_##id,
	POD_STATE_LIST(X)
#undef X
};

#define MODEL_CHECK_LINES 24

/* A preflight of a pod (hgym-tui pods check): what it said, and when. */
struct model_check {
	bool is_running; /* another one; the rest is of the last */
	bool is_fit;
	int64_t wall_ms;		/* when it was done; 0: never */
	char *lines[MODEL_CHECK_LINES]; /* owned, sanitised */
	size_t n_lines;
};

struct model_pod {
	char *name;   /* owned */
	char *target; /* owned; user@host:port or "local" */
	enum pod_state state;
	char *why;	     /* owned; reason of reconnecting or refused, sanitised */
	int64_t retry_at_ms; /* mono clock, 0: none */
	int64_t lag_ms;	     /* of the last ping, -1: unknown */
	double usd_per_hour; /* RUN_ABSENT: unknown */
	char *gpu_name;	     /* owned or NULL */
	struct series *telemetry[METRIC_COUNT]; /* NULL where none */
	double disk_free_bytes;			/* absent: unknown */
	double gpu_busiest;			/* of one GPU, at the last sample; the same */
	bool bench_running;
	struct model_check check;
};

#define MODEL_GAP_BUCKETS 32

/* Where the series of a run are. */
enum model_history {
	MODEL_WHOLE,  /* here, as far as they were read */
	MODEL_STORED, /* in the database, not asked for */
	MODEL_ASKED,  /* on their way */
};

struct model_run {
	int64_t run_id;			     /* of the database; 0: not stored */
	size_t pod;			     /* index into model.pods */
	char *path;			     /* owned, raw bytes */
	char *group;			     /* owned; the folder of path */
	char *name;			     /* owned; see run_names.h; NULL: it has none yet */
	size_t name_folder;		     /* bytes of it that are the folder's */
	size_t name_date;		     /* that it begins with, and can do without */
	struct run run;			     /* what its log says so far */
	struct series *series[METRIC_COUNT]; /* NULL where none */
	struct own_series own;		     /* those of run.series without a metric */
	int64_t first_byte_wall_ms, last_byte_wall_ms; /* when we read */
	uint32_t gaps[MODEL_GAP_BUCKETS];	       /* between reads; powers of two ms */
	uint32_t n_gaps;
	bool live;  /* its file still grows, as far as we know */
	bool past;  /* was over before we began: no news to anybody */
	bool blank; /* its log has told of no run yet: it has no figures */
	enum model_history history;
	uint64_t stored_line;  /* series hold all of its log up to there */
	uint64_t wanted;       /* by the fetcher: when it was looked at last */
	struct model_log *log; /* borrowed from the model; NULL: none known */
};

/* The log of one file: where all of it can be read, and what its lines are. */
struct model_log {
	size_t pod;
	char *path;		      /* owned, raw bytes, as on the pod */
	char *file;		      /* owned; local file with the same bytes, NULL: none */
	uint64_t inode;		      /* of file; 0: whichever */
	int fd;			      /* owned; its bytes where no name leads to them; -1: none */
	unsigned int moves;	      /* how often that changed */
	uint64_t read_bytes;	      /* so many of its bytes are in classes */
	struct logclass classes;      /* of all lines that were read */
	struct logcame came;	      /* when its bytes were read */
	const struct model_log *next; /* took its place; NULL: none did */
	bool behind;		      /* fd holds its end; what is before it is on its way */
	int64_t gone_wall_ms;	      /* the pod's file went away; 0: it is there */
};

enum model_severity { MODEL_INFO, MODEL_WARNING, MODEL_ALARM };

/* Something that happened; newest last in model.events. */
struct model_event {
	int64_t wall_ms;
	enum model_severity severity;
	size_t pod;		    /* MODEL_NONE: of no pod */
	const struct model_run *mr; /* NULL: of no run */
	char *text;		    /* owned, sanitised */
	uint64_t alert;		    /* of that number; 0: no alert */
	const char *kind;	    /* of that alert; static */
};

#define MODEL_NONE	 SIZE_MAX
#define MODEL_MAX_EVENTS 1000
#define MODEL_MAX_RUNS	 100000
#define MODEL_MAX_KEPT	 64	   /* logs that no name leads to */
#define MODEL_MAX_AHEAD	 (1 << 20) /* bytes of a log's end */

/* A bench with a results folder here, or a plan that could be started. */
struct model_bench {
	char *id;    /* owned; a plan's path */
	char *name;  /* owned */
	char *state; /* owned; "plan", "running", "done", .. */
	bool is_plan;
	int64_t started_ms, ended_ms; /* 0: unknown */
	double cost_usd;	      /* absent: no price */
	char *still_up;		      /* owned; pods that it left up, NULL: none */
	char *report;		      /* owned; the judgement as text, NULL: none yet */
	struct bench_live *live;      /* owned; NULL: a plan, or only remembered */
	uint64_t mark;		      /* of whoever fills it: what it was read of */
};

/* What is known of the noise of a pod in a class of runs; per cent. */
struct model_noise {
	char *pod, *class_name;	 /* owned */
	double sd;		 /* from run to run */
	double drift, drift_p;	 /* while it was measured last */
	double shows[3];	 /* in 3, 6 and 10 blocks */
	size_t n_runs, rank, of; /* rank 0: too few runs */
	int64_t when_ms;
};

/* HarnessGym directories that are followed (model/harness_view.h). */
struct harness_view;

/* Who fetches series that a view needs (model_run_want). */
struct model_fetch {
	void (*want)(void *user, struct model_run *mr); /* NULL: nobody */
	void *user;
};

struct model {
	struct model_pod *pods;
	size_t n_pods, cap_pods;
	struct model_run **runs; /* stable pointers, order of appearance */
	size_t n_runs, cap_runs;
	struct map run_index;	 /* "pod path index" to struct model_run */
	struct model_log **logs; /* stable pointers */
	size_t n_logs, cap_logs;
	struct map log_index;	    /* "pod path" to struct model_log */
	struct model_event *events; /* ring of MODEL_MAX_EVENTS */
	size_t n_events, cap_events, first_event;
	const struct harness_view *harness; /* borrowed; NULL: none */
	struct model_bench *benches;	    /* newest first, plans last */
	size_t n_benches;
	struct model_fetch fetch;
	size_t n_reading, n_read;  /* logs with a backlog; read so far */
	bool is_shared;		   /* another process follows; this one reads with it */
	struct model_noise *noise; /* the newest of a pod first */
	size_t n_noise;
	uint64_t generation;
	uint64_t names_of;    /* what the names of the runs were made of */
	unsigned int changed; /* enum model_part; the frame clears it */
};

void model_init(struct model *model);
void model_release(struct model *model);

/* Returns the index of the new pod; name and target are copied. */
size_t model_pod_add(struct model *model, const char *name, const char *target);
void model_pod_state(struct model *model, size_t pod, enum pod_state state, const char *why,
		     int64_t retry_at_ms);
void model_pod_sample(struct model *model, size_t pod, enum metric metric, double value,
		      int64_t wall_ms);

/* What the pod said of itself then; what it did not say leaves what was. */
void model_pod_telemetry(struct model *model, size_t pod, const struct telemetry *told,
			 int64_t wall_ms);

/*
 * Its series of earlier (given; the array is emptied): what is here already
 * stays behind them.
 */
void model_pod_fetched(struct model *model, size_t pod, struct series *series[METRIC_COUNT]);

/* Numbers that are no series; absent leaves what was. */
void model_pod_disk(struct model *model, size_t pod, double free_bytes);
void model_pod_gpu(struct model *model, size_t pod, const char *name);
/* A check of the pod begins; *check, its result, is given and left empty. */
void model_pod_checking(struct model *model, size_t pod);
void model_pod_checked(struct model *model, size_t pod, struct model_check *check);
/* Note a line, sanitised; those beyond MODEL_CHECK_LINES are left out. */
void model_check_add(struct model_check *check, struct str line);
void model_check_release(struct model_check *check);
/* Its name; "" of MODEL_NONE. */
const char *model_pod_name(const struct model *model, size_t pod);
/* The pod of that name, or MODEL_NONE. */
size_t model_pod_find(const struct model *model, const char *name);

/*
 * The run of that file and index; made when it is new.  Beyond
 * MODEL_MAX_RUNS the last one is given.
 */
struct model_run *model_run_get(struct model *model, size_t pod, const char *path,
				unsigned int run_index);
/* Take over what its log says now (deep copy). */
void model_run_update(struct model *model, struct model_run *mr, const struct run *run);
/*
 * Its log, which is followed or (not live) was, has so many lines and has told
 * of no run: a row without figures, until model_run_update.
 */
void model_run_blank(struct model *model, struct model_run *mr, uint64_t lines, int64_t wall_ms,
		     bool live);
void model_run_sample(struct model *model, struct model_run *mr, const struct sample *sample);
/*
 * A view or a forecast reads the series of that run: fetch them when they lie
 * in the database only.  They come soon; until then there are none.
 */
void model_run_want(const struct model *model, const struct model_run *mr);
/*
 * Its series out of the database, all of them up to last_line (given; the
 * array and *own are emptied).
 */
void model_run_fetched(struct model *model, struct model_run *mr,
		       struct series *series[METRIC_COUNT], struct own_series *own,
		       uint64_t last_line);
/* Points behind those that are here, up to last_line; borrowed. */
void model_run_append(struct model *model, struct model_run *mr,
		      struct series *const series[METRIC_COUNT], const struct own_series *own,
		      uint64_t last_line);
/* Let go of its series, which lie in the database. */
void model_run_forget(struct model *model, struct model_run *mr);
/* Few points of its series stay, all of them are in the database. */
void model_run_thin(struct model *model, struct model_run *mr);
/* Whether points of any series are here. */
bool model_run_has_points(const struct model_run *mr);
/* Telemetry that is older says little of now. */
#define MODEL_OLD_S 60.0
/* Seconds since the pod last told of itself; absent: it never did. */
double model_pod_age_s(const struct model_pod *pod, int64_t now_wall_ms);
/*
 * The median of a metric over the other pods with such GPUs, as told last, of
 * those that work now; absent where they are fewer than two or the pod itself
 * does not work.
 */
double model_pod_peers(const struct model *model, const struct model_pod *pod, enum metric metric,
		       int64_t now_wall_ms);
/* Why GPUs that work now run slower than they could; NULL: no reason told. */
const char *model_pod_throttle(const struct model_pod *pod, int64_t now_wall_ms);
/* The last value of a metric of a run or a pod, or RUN_ABSENT. */
double model_last(struct series *const series[METRIC_COUNT], enum metric metric);
/* The points of one of run.series, whatever it stands for; NULL: none. */
const struct series *model_run_series(const struct model_run *mr, const struct run_series *series);
/* Whether its points are all of the rows that it was printed in. */
bool model_run_has_all(const struct model_run *mr, const struct series *series);
/*
 * Mean step time and training time so far in milliseconds: as the log says
 * them, else from its cumulative throughput (batch / tok_s, steps times
 * that).  Of a run that prints the time of single steps alone the step time is
 * their median, and there is no training time.  Absent when none is there.
 */
double model_run_ms_per_step(const struct model_run *mr);
/*
 * Tokens a second over the same steps as that step time; where there is none
 * or the batch is not known, the rate between the last two rows.
 */
double model_run_tok_s(const struct model_run *mr);
double model_run_train_ms(const struct model_run *mr);
/* Seconds of all its evaluations, else of the one that its log tells. */
double model_eval_s(const struct run *run);
/*
 * Hours of training and evaluation so far, as its log tells them: what a pod
 * was paid for at least.  Absent without a training time.
 */
double model_paid_hours(const struct run *run);
/*
 * What its pod cost for that long, or since its first byte where it is live or
 * tells no time; absent without a price.
 */
double model_run_cost(const struct model *model, const struct model_run *mr);
/*
 * The score of a run that is over; and of one that is not, that of its best
 * stage so far, which a later one may replace.  Absent else.
 */
double model_run_final_bpb(const struct model_run *mr);
double model_run_stage_bpb(const struct model_run *mr);
/* The step at which it went wrong: of its first NaN, else the last one. */
double model_run_failed_step(const struct model_run *mr);
/*
 * The event that tells why a run failed or was killed: the first one behind
 * its last row that is no mere consequence of another, else a consequence.
 * NULL: there is none.
 */
const struct run_event *model_run_cause(const struct model_run *mr);
/* Say when its bytes came and whether its file still grows. */
void model_run_touch(struct model *model, struct model_run *mr, int64_t wall_ms, bool live);

/* The log of that file; made when it is new. */
struct model_log *model_log_get(struct model *model, size_t pod, const char *path);
/* It took the place of the log of that path, if there is one. */
void model_log_after(struct model *model, struct model_log *log, const char *before);
/* Where its bytes lie on this machine; copied; NULL: nowhere. */
void model_log_file(struct model_log *log, const char *file);
/*
 * Its file lost its name, or another has it now: its bytes stay here by that
 * descriptor, which is duplicated.  The oldest of more than MODEL_MAX_KEPT
 * are let go.
 */
void model_log_keep(struct model *model, struct model_log *log, int fd);
/* The pod's file went away then; 0: it is back. */
void model_log_gone(struct model *model, struct model_log *log, int64_t wall_ms);
/*
 * The run that is cut short by that: the last one of a log that is gone, when
 * it was seen alive and had not finished.  NULL: none.
 */
const struct model_run *model_log_cut_run(const struct model *model, const struct model_log *log);
/*
 * Open what holds its bytes, unless another file has the name by now: a log
 * that was rotated is not shown as the one before.  NULL: there is none.
 */
struct logfile *model_log_open(const struct model_log *log) __attribute__((warn_unused_result));
/*
 * Whole lines near its end with their line ends, shown while all that comes
 * before them is on its way: until model_log_line.
 */
void model_log_ahead(struct model *model, struct model_log *log, struct str text);
/* What a line of it is, in their order. */
void model_log_line(struct model *model, struct model_log *log, uint64_t line,
		    enum line_class class);
/* It was read up to there, in bytes of its file. */
void model_log_read(struct model *model, struct model_log *log, uint64_t upto, int64_t wall_ms);

/* Replace the list; it and what it points to are given. */
void model_benches_set(struct model *model, struct model_bench *benches, size_t n);
/* Something of that part changed in place: the next frame shows it. */
void model_note_change(struct model *model, enum model_part part);
/* Replace the noise register; given. */
void model_noise_set(struct model *model, struct model_noise *noise, size_t n);

/*
 * Note an event; text is sanitised and copied.  What was said of its run last
 * is not said again.
 */
void model_event_add(struct model *model, const struct model_event *event);
/* i < n_events; 0 is the oldest that is kept. */
const struct model_event *model_event_at(const struct model *model, size_t i);

const char *pod_state_name(enum pod_state state);
