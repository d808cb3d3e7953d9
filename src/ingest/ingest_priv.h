/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "ingest/ingest.h"
#include "ingest/log_copy.h"
#include "model/pod_state.h"
#include "parsers/run_reader.h"
#include "remote/follow.h"
#include "store/pods.h"

/* Shared by the files of this module: ingest.c owns everything, pods.c the connections, fetch.c
 * brings bytes of pods to local copies, local.c watches the logs on this machine, tail.c parses
 * both, sink.c passes results to model and store, history.c shows what the database contains,
 * telemetry.c queries the GPUs and load of pods. */

/* How long a log is silent until its finished run, or its truncated run, has ended. */
#define INGEST_QUIET_MS 30000
#define INGEST_DEAD_MS	(INT64_C(24) * 3600 * 1000)
/* A log is gone if no path leads to it for this long; rotation creates a successor sooner. */
#define INGEST_GONE_MS 5000
/* Limits for the runs that are read from one log, and from all logs of a pod. */
#define INGEST_LOG_RUNS 1000
#define INGEST_POD_RUNS 16384

/* Bytes of a pod that may wait for its local copies: enough to keep the worker threads busy. */
#define INGEST_WAITING_BYTES ((size_t)4 << 20)

/* A pod may cause this many messages at once, then one per interval. */
#define INGEST_NOTICE_MAX      64
#define INGEST_NOTICE_EVERY_MS 10000

/* Number of runs of one pod, or of all logs on this machine. */
struct ingest_runs {
	size_t n;
	bool is_limit_reported;
};

/* Pods that were added together; one fleet connects to them. */
struct ingest_fleet {
	struct list link;
	struct ingest *ingest;
	struct fleet *fleet;
	struct ingest_pod **pods; /* indexed as in the fleet; NULL: removed */
};

struct ingest {
	struct ingest_options o;
	const struct clock *clock;
	struct store *store;	    /* NULL: nothing is stored */
	struct store *history;	    /* for reading: the same store, or a read-only one */
	struct history *fetch;	    /* loads series; NULL: no view */
	struct list requests;	    /* unanswered requests for series */
	struct model_run **fetched; /* ended runs whose series are in memory */
	size_t n_fetched, cap_fetched;
	uint64_t n_wants;
	int64_t start_ms;	 /* mono clock */
	bool has_live;		 /* the series of all runs in progress were requested */
	int64_t rev;		 /* revision of the newest run row in the model */
	struct loop_timer *poll; /* polls the database; NULL: this process writes it */
	int64_t data_version;
	long writer; /* process id of the writer; 0: unknown */
	bool has_writer;
	unsigned int polls;
	unsigned int ticks;
	struct log_copies *copies;
	struct pruned_copies prune;
	struct job *prune_job; /* NULL: not running */
	struct list fleets;
	struct list pods;
	struct list logs; /* logs on this machine */
	struct ingest_runs runs;
	struct loop_timer *tick, *local;
	int most_fds;		  /* limit of open files */
	size_t n_local, n_checks; /* local logs, and checks of their files */
	struct list queue;	  /* logs that wait for a turn */
	size_t n_turns;		  /* running now */
	size_t waiting;		  /* bytes not yet in local copies */
	struct buf spare;	  /* empty; for an inbox without room; freed once per second */
	bool posted;		  /* turns start in the next round of the loop */
	int64_t last_news_ms;	  /* mono clock */
	uint64_t untrimmed;	  /* bytes parsed since xtrim() */
	bool is_ending;
};

struct ingest_pod {
	struct list link;
	struct ingest *ingest;
	char *name; /* owned */
	const struct conf_pod *conf;
	size_t model_pod;
	struct ingest_fleet *fleet;
	size_t index; /* index in the fleet */
	bool is_gone; /* removed; freed at the end */

	/* fetch.c */
	struct follow *follow; /* NULL: not followed */
	struct loop_timer *timer;
	struct list logs;
	size_t n_opening; /* local copies to be checked before following starts */
	size_t waiting;	  /* bytes not yet in local copies */
	struct ingest_runs runs;
	bool is_loaded;	     /* the logs in the database are in `logs` */
	bool is_started;     /* `logs` were passed to the follower */
	bool is_disk_full;   /* the disk of this machine is full, as reported */
	unsigned int n_lost; /* local copies that another program removed or changed */

	/* pods.c */
	bool is_settled;	    /* the follower reported the pod's logs once */
	bool is_paused;		    /* not contacted while a bench is timing it */
	bool has_bench;		    /* set from the database: a bench is timing the pod */
	char *bench_log;	    /* owned; local copy of the bench run in progress; NULL: none */
	struct pod_verdict verdict; /* the state that was shown last */
	bool was_up;
	int64_t notified_ms; /* mono clock; see ingest_notify */

	/* telemetry.c */
	struct stream *telemetry; /* NULL: not running */
	struct telemetry_reader telemetry_reader;
	struct buf telemetry_line;
	bool telemetry_asked;	  /* a request was sent and not answered yet */
	int64_t telemetry_due_ms; /* time of the next request; mono clock */
	int64_t stored_ms;	  /* time of the last row stored; wall clock */
	struct store_prune prune; /* decides when old rows are deleted */
};

/* A result of parsing; sink.c passes it on. */
struct outbox_item;

/* Results of one turn, in the order of the log. */
struct outbox {
	struct outbox_item *v; /* owned */
	size_t n, cap;
	/* Classes of the turn's lines, for the log view. */
	uint64_t first_line;
	unsigned char *classes; /* owned */
	size_t n_classes, cap_classes;
	uint64_t had;		  /* log->fetched before the turn */
	uint64_t parsed, n_lines; /* after the turn */
	bool has_run;
	struct run now, row; /* the last run, as it is now and as if the log ended here */
	bool is_replaced;    /* the path leads to another file now */
	struct err err;
	size_t appended; /* bytes of `sending` that are in the local copy */
};

/* One generation of one log. Comparing fetched, parsed and stored shows what to do. Without a
 * reader: nothing until bytes arrive. parsed < stored: parse again what the database has. parsed <
 * fetched: parse. fetched < stored: fetch again. parsed == end: finished. */
struct ingest_log {
	struct list link; /* in pod->logs or ingest->logs */
	struct ingest *ingest;
	struct ingest_pod *pod; /* NULL: a file on this machine */
	size_t model_pod;
	char *name; /* owned, raw bytes: its first path */
	unsigned int gen;

	uint64_t fetched; /* bytes on this machine */
	uint64_t parsed;  /* bytes whose results are in model and store */
	uint64_t stored;  /* bytes whose results are in the database, or about to be written */
	uint64_t end;	  /* final length; UINT64_MAX: may grow */
	uint64_t news;	  /* what happened before this offset is not announced */
	uint64_t row_at;  /* value of parsed when the run's row was last stored */

	/* fetch.c */
	struct follow_file *ff; /* NULL: the log cannot come back, or is on this machine */
	struct log_copy *copy;	/* owned; NULL: a file on this machine */
	struct cksum known;	/* checksum of as many bytes as were ever fetched */
	struct cksum sum;	/* checksum of the local copy; valid while no turn runs */
	struct buf inbox;	/* bytes that follow `sending` */
	struct buf sending;	/* bytes to append; belongs to the turn while one runs */
	int64_t away_ms;	/* when its last path disappeared; mono clock; 0: it has a path */
	int64_t gone_ms;	/* when it was reported as gone; wall clock; 0: not gone */
	int64_t retry_ms;	/* no turn before this; mono clock; set if the disk is full */
	const char *was_lost;	/* copy->lost as it was reported last */
	bool is_closed;		/* ended: its local copy may be pruned */

	struct local *local; /* owned; NULL: on a pod */

	/* tail.c; belongs to the turn while one runs */
	struct list in_queue;
	struct turn *turn;	   /* NULL: none runs */
	bool is_parsed;		   /* false: parsed to its end, or not to be parsed */
	struct run_reader *reader; /* NULL: not parsed, or before its first turn */
	struct outbox out;

	/* sink.c */
	struct store_log *entry; /* the log in the database; NULL: nothing is stored */
	struct model_log *log;	 /* NULL: no log view */
	struct model_run *mr;	 /* the run found last, see model_run_of(); NULL: none */
	bool is_reading;	 /* counted in the model's backlog, see tail_count_backlog */
	bool has_row;		 /* has a row without a run, see sink_show_empty_row */
	unsigned int n_runs;	 /* runs that started */
	unsigned int n_reported; /* runs whose status was announced */
	uint64_t slept_at;	 /* lines up to this one are in the model already */
	enum run_status status;	 /* status of the last run; RUN_RUNNING: in progress */
	struct run row;		 /* the run in progress, as if the log ended at parsed; or empty */
	struct pod_pace pace;
	int64_t last_wall_ms; /* when its last bytes arrived */
	uint64_t ahead_end;   /* end of the lines shown in advance, see fetch_on_preview */
};

/* ---- ingest.c */

/* Show the user a message; messages about one pod are limited in number. */
void ingest_notify(struct ingest *ingest, struct ingest_pod *pod, enum model_severity severity,
		   const char *fmt, ...) LIKE_PRINTF(4, 5);
int64_t ingest_now_ms(const struct ingest *ingest); /* mono clock */
int64_t ingest_wall_ms(const struct ingest *ingest);
/* Open the database again and load the model from it. 0 even if another process writes it. */
int ingest_become_writer(struct ingest *ingest, struct err *err);
/* Create a log of which nothing was fetched yet. */
struct ingest_log *ingest_log_new(struct ingest *ingest, struct ingest_pod *pod, size_t model_pod,
				  const char *name, unsigned int gen);
void ingest_log_free(struct ingest_log *log);

/* ---- tail.c */

/* Queue the log for a turn if there is work and none runs. */
void tail_queue(struct ingest_log *log);
/* Parse the log from the first byte. */
void tail_start_reader(struct ingest_log *log);
/* Free the reader; new bytes start another one. */
void tail_free_reader(struct ingest_log *log);
/* Tell the model when the parsing of a backlog starts and when it has ended. */
void tail_count_backlog(struct ingest_log *log);
/* Wait for the log's turn, if one runs. */
void tail_finish_turn(struct ingest_log *log);
/* When the program ends: append, parse and pass on the rest of the log, if little is left. */
void tail_read_rest(struct ingest_log *log);
/* Start no more turns. */
void tail_stop_turns(struct ingest *ingest);
/* Without a loop: run one turn. Returns true if more logs are queued. */
bool tail_run_turn(struct ingest *ingest);
static inline bool tail_is_replay(const struct ingest_log *log)
{
	return log->parsed < log->stored;
}

/* ---- sink.c */

/* The key of a run in the model, unique among the generations of its log. */
unsigned int sink_run_key(unsigned int gen, unsigned int run_index);
/* Find or create the model's log for a generation, and link the previous generation to it. */
struct model_log *sink_model_log(struct ingest *ingest, size_t model_pod, const char *name,
				 unsigned int gen);
/* Callbacks of the reader, on a worker thread: [0] does not report lines, [1] does. */
extern const struct run_reader_cb sink_callbacks[2];
/* After a turn: pass its results to model and store. */
void sink_apply_turn(struct ingest_log *log);
void outbox_release(struct outbox *out);
/* Once per second: end the log's run if it finished and the log was silent for a while. */
void sink_check_end(struct ingest_log *log);
/* Add the changed row of the run in progress to the store's next batch. */
void sink_store_run(struct ingest_log *log);
/* Store where the log is and how it is recognized. */
void sink_store_identity(struct ingest_log *log);
/* Show a row for a log that is new or grows and has no run yet; its first run takes the row. */
void sink_show_empty_row(struct ingest_log *log);
/* End the last run of a log that gets no more bytes. */
void sink_end_log(struct ingest_log *log);
/* Mark the log as gone since this time (wall clock), or as back (0). */
void sink_set_gone(struct ingest_log *log, int64_t wall_ms);
/* Did the log end in the middle of a run? Then an alert of the dashboard reports that. */
bool sink_has_cut_run(const struct ingest_log *log);

/* ---- fetch.c */

void fetch_start(struct ingest_pod *pod);
/* Stop following; each log ends with its last byte. */
void fetch_stop(struct ingest_pod *pod);
/* The first log pattern that matches no followed file; NULL: each pattern matches a file. */
const char *fetch_empty_pattern(const struct ingest_pod *pod);
/* Apply the log patterns of the pod's configuration. */
void fetch_set_patterns(struct ingest_pod *pod);
/* Pause following if pod->is_paused is set, otherwise continue. */
void fetch_update_pause(struct ingest_pod *pod);
/* Once per second: end runs, report logs that are gone, free logs that are complete. */
void fetch_check_logs(struct ingest_pod *pod);
/* Add what changed to the store's next batch. */
void fetch_flush(struct ingest_pod *pod);
/* After a turn: take the offsets from the log's local copy; handle a lost or failing copy. */
void fetch_after_turn(struct ingest_log *log);
/* Before parsing from the start, fetch a changed or removed local copy again. */
void fetch_replace_lost_copy(struct ingest_log *log);
/* Has the pod reported bytes of a followed log that have not arrived? */
bool fetch_is_behind(const struct ingest_pod *pod);
/* Bytes of the pod's file that were not parsed yet. */
uint64_t fetch_bytes_behind(const struct ingest_log *log);

/* ---- local.c */

/* On a worker thread: is this still the file of which `parsed` bytes were read? */
bool local_is_same_file(struct local *local, uint64_t parsed);
/* If there is a loop: check the files regularly from now on. */
void ingest_watch_local(struct ingest *ingest);
/* End the log with this path after its last byte: no program writes to it any more. */
void local_end_log(struct ingest *ingest, const char *path);
ssize_t local_read(struct local *local, uint64_t offset, void *data, size_t len);
/* Check the size and the path of each file. */
void local_check_all(void *ingest);
/* After a turn: start the next generation of a replaced file; end a complete log. */
void local_after_turn(struct ingest_log *log);
void local_free(struct local *local);

/* ---- pods.c */

/* Find or add the pod in the model; sets its target and price. */
size_t pods_add_to_model(struct ingest *ingest, const struct conf_pod *conf);
/* Connect to the pods of the configuration that are not connected yet, in one fleet. */
void pods_add(struct ingest *ingest);
/* Remove the pods that the new configuration lacks or connects to differently; update the rest. */
void pods_reload(struct ingest *ingest, const struct conf *conf);
/* Stop following, close all connections and free the pods. */
void pods_free(struct ingest *ingest);
void pods_tick(struct ingest *ingest);
/* Determine the state of the pod and report changes. */
void pod_update_state(struct ingest_pod *pod);
/* Add the pod's state to the store's next batch. */
void pod_store(struct ingest_pod *pod);
struct ingest_pod *pod_of_model(const struct ingest *ingest, size_t model_pod);

/* ---- telemetry.c */

/* Ask the pod when it is time (now_ms: mono clock), unless a bench is timing it. */
void telemetry_tick(struct ingest_pod *pod, int64_t now_ms);
void telemetry_stop(struct ingest_pod *pod);

/* ---- history.c */

/* Load the runs of the database into the model; fetch series on demand from now on. */
int history_start(struct ingest *ingest, struct err *err);
/* Let views request the series of runs. */
void history_serve(struct ingest *ingest);
/* Stop fetching; unanswered requests can be made again. */
void history_stop(struct ingest *ingest);
/* Show a new sample. If the run's series are not in memory, the sample is loaded with them. */
void history_sample(struct ingest *ingest, struct model_run *mr, const struct sample *sample);
/* The run ended: its series may be dropped when others are viewed. */
void history_run_ended(struct ingest *ingest, struct model_run *mr);
/* Load the series of a run in progress, for forecasts and alerts. */
void history_fetch_live(struct ingest *ingest, struct model_run *mr);
/* Is the first screen still waiting for its series?  false after at most half a second. */
bool history_is_showing(const struct ingest *ingest);
/* Keep few points of runs not viewed lately, if too many are in progress or in no database. */
void history_drop_points(struct ingest *ingest);
/* Once per second: limit the memory, and request the series of the runs in progress. */
void history_tick(struct ingest *ingest);
/* This process is a reader: show what the writer stores, and take over when it exits. */
void history_watch(struct ingest *ingest);
/* Apply a changed configuration. */
void history_reload(struct ingest *ingest);
