/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/map.h"
#include "parsers/telemetry.h"

#include "model/bench_live.h"
#include "model/logclass.h"
#include "model/series.h"

/* The state that the screen shows: pods, runs, their series, logs and events. Written on the loop
 * thread, read by the views as const. Each change increments `generation` and sets `changed`. */
enum model_part {
	MODEL_PODS = 1 << 0,
	MODEL_RUNS = 1 << 1,
	MODEL_SAMPLES = 1 << 2,
	MODEL_LOGS = 1 << 3,
	MODEL_EVENTS = 1 << 4,
	MODEL_BENCH = 1 << 5,
	MODEL_HARNESS = 1 << 6,
};

/* State of the link to a pod, with its name on the screen. */
#define POD_STATE_LIST(X)                   \
	X(POD_UNKNOWN, "unknown")           \
	X(POD_CONNECTING, "connecting")     \
	X(POD_LIVE, "live")                 \
	X(POD_SILENT, "silent")             \
	X(POD_RECONNECTING, "reconnecting") \
	X(POD_UNREACHED, "not reached")     \
	X(POD_REFUSED, "refused")           \
	X(POD_GONE, "gone")

enum pod_state { POD_STATE_LIST(LIST_ID) };

#define MODEL_CHECK_LINES 24

/* The last preflight of a pod (hgym-tui pods check). */
struct model_check {
	bool is_running; /* a new check runs; the other members are from the last check */
	bool is_fit;
	int64_t wall_ms;		/* when it ended; 0: never */
	char *lines[MODEL_CHECK_LINES]; /* owned, sanitised */
	size_t n_lines;
};

struct model_pod {
	char *name;   /* owned */
	char *target; /* owned; user@host:port or "local" */
	enum pod_state state;
	char *why;	     /* owned, sanitised; reason of reconnecting or refused */
	int64_t retry_at_ms; /* mono clock, 0: none */
	int64_t lag_ms;	     /* round trip of the last ping, -1: unknown */
	double usd_per_hour; /* RUN_ABSENT: unknown */
	char *gpu_name;	     /* owned or NULL */
	struct series *telemetry[METRIC_COUNT]; /* NULL: none */
	double disk_free_bytes;			/* absent: unknown */
	double gpu_busiest; /* utilisation of the busiest GPU at the last sample; absent: unknown */
	bool bench_running;
	struct model_check check;
};

#define MODEL_GAP_BUCKETS 32

/* Where the series of a run are. */
enum model_history {
	MODEL_WHOLE,  /* in memory, up to where the log was read */
	MODEL_STORED, /* in the database or in the log, not requested */
	MODEL_ASKED,  /* requested from the database or the log */
};

struct model_run {
	size_t number;		   /* index into model.runs */
	const struct alert *alert; /* its most severe one, set by alerts_update(); NULL: none */
	uint64_t changed;	   /* value of model.generation after its last change */
	int64_t run_id;		   /* id in the database; 0: not stored */
	size_t pod;		   /* index into model.pods */
	char *path;		   /* owned, raw bytes */
	char *group;		   /* owned; the folder of path */
	char *name;		   /* owned; see run_names.h; NULL: not named yet */
	size_t name_folder;	   /* bytes at the start of name that come from the folder */
	struct run run;		   /* the run as far as its log was read */
	struct series *series[METRIC_COUNT]; /* NULL: none */
	struct own_series own;		     /* the series of the run that are not a metric */
	int64_t first_byte_wall_ms, last_byte_wall_ms; /* when this program read them */
	uint32_t gaps[MODEL_GAP_BUCKETS];	       /* time between reads, by powers of two ms */
	uint32_t n_gaps;
	bool live;  /* its file may still grow */
	bool past;  /* ended before this program started, so it raises no alerts */
	bool blank; /* no run was found in its log yet, so it has no figures */
	enum model_history history;
	uint64_t stored_line;  /* series contain all of its log up to this line */
	uint64_t wanted;       /* set by the fetcher: higher if a view needed the run later */
	struct model_log *log; /* borrowed from the model; NULL: unknown */
};

/* The log of a file: where its bytes can be read, and the class of each line. */
struct model_log {
	size_t pod;
	char *path;	     /* owned, raw bytes, as on the pod */
	char *file;	     /* owned; local file with the same bytes, or NULL */
	uint64_t inode;	     /* inode of file; 0: any file is accepted */
	int fd;		     /* owned; the bytes of a file without a name, or a preview; -1: none */
	unsigned int moves;  /* how often file or fd changed */
	uint64_t read_bytes; /* bytes read until now */
	uint64_t behind_bytes;	      /* bytes still to be read; 0 if they are few */
	struct logclass classes;      /* classes of all lines read */
	struct logcame came;	      /* when its bytes were read */
	const struct model_log *next; /* the log that replaced it, or NULL */
	bool is_bench;	      /* log of a bench run in progress; later the Bench view shows it */
	bool is_named;	      /* named by the user: it has a row even without a run */
	bool is_preview;      /* fd has only the log's end, until the rest is loaded */
	char *trouble;	      /* owned; why it cannot be read; NULL: it can */
	int64_t gone_wall_ms; /* when the file on the pod was removed; 0: it exists */
};

enum model_severity { MODEL_INFO, MODEL_WARNING, MODEL_ALARM };

/* Something that happened; the newest is last in model.events. */
struct model_event {
	int64_t wall_ms;
	enum model_severity severity;
	size_t pod;		    /* MODEL_NONE: not about a pod */
	const struct model_run *mr; /* NULL: not about a run */
	char *text;		    /* owned, sanitised */
	uint64_t alert;		    /* number of the alert; 0: this is not an alert */
	const char *kind;	    /* name of the alert's kind; static */
};

#define MODEL_NONE	 SIZE_MAX
#define MODEL_MAX_EVENTS 1000
#define MODEL_MAX_RUNS	 100000
#define MODEL_MAX_KEPT	 64	   /* logs whose files have no name any more */
#define MODEL_MAX_AHEAD	 (1 << 20) /* bytes in a preview of a log's end */

/* A bench with a results folder on this machine, or a plan that can be started. */
struct model_bench {
	char *id;    /* owned; the path, for a plan */
	char *name;  /* owned */
	char *state; /* owned; "plan", "running", "done", .. */
	bool is_plan;
	int64_t started_ms, ended_ms; /* 0: unknown */
	double cost_usd;	      /* absent: no price */
	char *still_up;		      /* owned; pods that were left running, or NULL */
	char *report;		      /* owned; the judgement as text; NULL: none yet */
	char *form;		      /* owned; JSON of the form (ui/form.h) for it, or NULL */
	struct bench_live *live;      /* owned; NULL: a plan, or no details known */
	uint64_t mark;		      /* set when it was read from disk, to notice changes */
};

/* Measured noise of a pod for a class of runs, in per cent. */
struct model_noise {
	char *pod, *class_name;	 /* owned */
	double sd;		 /* standard deviation from run to run */
	double drift, drift_p;	 /* drift during the last measurement, and its p */
	double shows[3];	 /* smallest detectable difference with 3, 6 and 10 blocks */
	size_t n_runs, rank, of; /* rank among `of` pods; 0: too few runs */
	int64_t when_ms;
};

/* Followed HarnessGym directories (model/harness_view.h). */
struct harness_view;

/* Loads series that a view needs (model_request_series). */
struct model_fetch {
	void (*want)(void *user, struct model_run *mr); /* may be NULL */
	void *user;
};

struct model {
	struct model_pod *pods;
	size_t n_pods, cap_pods;
	struct model_run **runs; /* stable pointers, in order of appearance */
	size_t n_runs, cap_runs;
	struct map run_index;	 /* pod, index and path to struct model_run */
	struct model_log **logs; /* stable pointers */
	size_t n_logs, cap_logs;
	struct map log_index;	    /* pod and path to struct model_log */
	struct model_event *events; /* ring of MODEL_MAX_EVENTS */
	size_t n_events, cap_events, first_event;
	const struct harness_view *harness; /* borrowed; NULL: none */
	struct model_bench *benches;	    /* newest first, plans last */
	size_t n_benches;
	struct model_fetch fetch;
	size_t n_reading, n_read;  /* logs that had a backlog; how many are parsed */
	bool is_shared;		   /* another process follows the pods and stores */
	struct model_noise *noise; /* the newest of each pod first */
	size_t n_noise;
	uint64_t generation;
	bool names_changed;   /* a run was added or its seed changed, see run_names.h */
	unsigned int changed; /* bits of enum model_part; cleared by each frame */
};

void model_init(struct model *model);
void model_release(struct model *model);

/* Add a pod and return its index; name and target are copied. */
size_t model_pod_add(struct model *model, const char *name, const char *target);
void model_pod_set_state(struct model *model, size_t pod, enum pod_state state, const char *why,
			 int64_t retry_at_ms);
void model_pod_sample(struct model *model, size_t pod, enum metric metric, double value,
		      int64_t wall_ms);

/* Store what the pod reported at wall_ms; absent numbers change nothing. */
void model_pod_set_telemetry(struct model *model, size_t pod, const struct telemetry *told,
			     int64_t wall_ms);

/* Insert older series (the array is emptied) before the points in memory. */
void model_pod_add_older(struct model *model, size_t pod, struct series *series[METRIC_COUNT]);

/* Set the free disk space, and the GPU's name. An absent number changes nothing. */
void model_pod_set_disk(struct model *model, size_t pod, double free_bytes);
void model_pod_set_gpu(struct model *model, size_t pod, const char *name);
/* Store the result of a check (*check is emptied). */
void model_pod_set_check(struct model *model, size_t pod, struct model_check *check);
/* Add a sanitised line; lines beyond MODEL_CHECK_LINES are dropped. */
void model_check_add(struct model_check *check, struct str line);
void model_check_release(struct model_check *check);
/* The pod's name; "" for MODEL_NONE. */
const char *model_pod_name(const struct model *model, size_t pod);
/* The pod with this name, or MODEL_NONE. */
size_t model_pod_find(const struct model *model, const char *name);

/* Find or add the run with this file and index; after MODEL_MAX_RUNS the last run is returned. */
struct model_run *model_run_get(struct model *model, size_t pod, const char *path,
				unsigned int run_index);
/* Store what the log shows of the run so far (copied). */
void model_run_update(struct model *model, struct model_run *mr, const struct run *run);
/* Show a log without a run as an empty row until model_run_update. live: still followed. */
void model_run_set_blank(struct model *model, struct model_run *mr, uint64_t lines, int64_t wall_ms,
			 bool live);
void model_run_sample(struct model *model, struct model_run *mr, const struct sample *sample);
/* Request the series of a run that are not in memory; they arrive later. */
void model_request_series(const struct model *model, const struct model_run *mr);
/* Take over series from the database, complete up to last_line; the array and *own are emptied. */
void model_run_set_series(struct model *model, struct model_run *mr,
			  struct series *series[METRIC_COUNT], struct own_series *own,
			  uint64_t last_line);
/* Append points up to last_line to the series in memory; borrowed. */
void model_run_append(struct model *model, struct model_run *mr,
		      struct series *const series[METRIC_COUNT], const struct own_series *own,
		      uint64_t last_line);
/* Drop series from memory; they are in the database. */
void model_drop_series(struct model *model, struct model_run *mr);
/* Keep only a few points of each metric, and no other series; the database or the log has all. */
void model_thin_series(struct model *model, struct model_run *mr);
/* Are points of any series in memory? */
bool model_run_has_points(const struct model_run *mr);
/* Telemetry older than this does not count as current. */
#define MODEL_OLD_S 60.0
/* Seconds since the pod's last telemetry; absent: never. */
double model_pod_age_s(const struct model_pod *pod, int64_t now_wall_ms);
/* The median SM clock, in MHz, of the other pods with the same GPU model and busy GPUs. Absent if
 * there are fewer than two, or if the pod's own GPUs are not busy. */
double model_peers_mhz(const struct model *model, const struct model_pod *pod, int64_t now_wall_ms);
/* Why the pod's busy GPUs are throttled; NULL if they are not, or are idle. */
const char *model_pod_throttle(const struct model_pod *pod, int64_t now_wall_ms);
/* The last value of a metric of a run or a pod, or RUN_ABSENT. */
double model_last_value(struct series *const series[METRIC_COUNT], enum metric metric);
/* Does the series have every point that the log printed? */
bool model_run_has_all(const struct model_run *mr, const struct series *series);
/* Mean step time and (model_run_train_ms) training time in milliseconds: as logged, else from a
 * throughput since the start (batch / tok_s). If a log has only the times of single steps, the step
 * time is their median and the training time is absent. Absent if unknown. */
double model_run_ms_per_step(const struct model_run *mr);
/* Tokens per second over the steps of the step time, else between the last two rows. */
double model_run_tok_s(const struct model_run *mr);
double model_run_train_ms(const struct model_run *mr);
/* Seconds that the evaluation stage in progress had taken at its newest row: as printed, else from
 * the times at the start of lines. Absent without a stage or without times. */
double model_eval_elapsed_s(const struct run *run);
/* Seconds that the rest of this stage will take at its pace so far; absent if unknown. */
double model_eval_left_s(const struct run *run);
/* The step of a metric's newest value if it is over a fifth of the run's steps old, or absent. */
double model_run_old_step(const struct model_run *mr, enum metric metric);
/* Seconds of all evaluations if the log has their total, else of one evaluation. */
double model_eval_s(const struct run *run);
/* Hours of training and evaluation in the log, the least that was paid. Absent without a time. */
double model_paid_hours(const struct run *run);
/* Cost of the run in USD: for these hours or, if the run was followed and that is longer, for the
 * time from its first to its last byte. Absent without a price. */
double model_run_cost(const struct model *model, const struct model_run *mr);
/* The score of a finished run, or the best stage so far, which may be replaced, or absent. */
double model_run_final_bpb(const struct model_run *mr);
double model_run_stage_bpb(const struct model_run *mr);
/* The step at which the run failed: the step of its first NaN, else its last step. */
double model_run_failed_step(const struct model_run *mr);
/* The event that shows why a run failed or was killed: the first one after its last row that fits
 * its status; for a crash without one, the last failed child process. NULL: none. */
const struct run_event *model_run_cause(const struct model_run *mr);
/* Record when bytes arrived and whether the file still grows. */
void model_run_touch(struct model *model, struct model_run *mr, int64_t wall_ms, bool live);

/* Find or add the log of this file. */
struct model_log *model_log_get(struct model *model, size_t pod, const char *path);
/* Find the log of this file; NULL: there is none. */
struct model_log *model_log_find(const struct model *model, size_t pod, const char *path);
/* Set the local file that has the log's bytes (path copied); NULL: none. */
void model_log_set_file(struct model_log *log, const char *file);
/* Keep a duplicate of fd, whose file lost its name; at most MODEL_MAX_KEPT stay open. */
void model_log_keep_fd(struct model *model, struct model_log *log, int fd);
/* Record when the file on the pod was removed; 0: it exists again. */
void model_log_set_gone(struct model *model, struct model_log *log, int64_t wall_ms);
/* The run that a removed log cut short: its last one, seen running and not finished; or NULL. */
const struct model_run *model_log_cut_run(const struct model *model, const struct model_log *log);
/* Show a log that cannot be read as a row with the reason. */
void model_log_set_trouble(struct model *model, size_t pod, const char *path, const char *why);
/* Open the bytes of the log; NULL if that fails or if another file has its name by now. */
struct logfile *model_log_open(const struct model_log *log) MUST_USE;
/* Show complete lines from near the end of a log, until model_log_add_line() is called. */
void model_log_add_preview(struct model *model, struct model_log *log, struct str text);
/* Add the class of the next line. */
void model_log_add_line(struct model *model, struct model_log *log, uint64_t line,
			enum line_class class);
/* Record how many bytes of the log were read. */
void model_log_set_read(struct model *model, struct model_log *log, uint64_t upto, int64_t wall_ms);

/* Replace the list; takes ownership of it and its contents. */
void model_benches_set(struct model *model, struct model_bench *benches, size_t n);
/* Mark this part as changed, so that the next frame shows it. */
void model_note_change(struct model *model, enum model_part part);
/* Replace the noise register; takes ownership. */
void model_noise_set(struct model *model, struct model_noise *noise, size_t n);

/* Add an event; text is sanitised and copied. A run's event with its last text is dropped. */
void model_event_add(struct model *model, const struct model_event *event);
/* Add an event that is not about a run. */
void model_event_addf(struct model *model, int64_t wall_ms, enum model_severity severity,
		      size_t pod, const char *fmt, ...) LIKE_PRINTF(5, 6);
/* i < n_events; 0 is the oldest. */
const struct model_event *model_event_at(const struct model *model, size_t i);

const char *pod_state_name(enum pod_state state);
