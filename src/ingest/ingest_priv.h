/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "ingest/ingest.h"
#include "ingest/log_copy.h"
#include "model/pod_state.h"
#include "parsers/run_reader.h"
#include "remote/follow.h"
#include "store/pods.h"

/*
 * Inside of the room: ingest.c owns all, pods.c has the links, fetch.c brings
 * the bytes of pods to spools, local.c looks at the logs of this machine,
 * tail.c reads both, sink.c gives what was read to model and store, history.c
 * has what the database holds, telemetry.c what pods say of themselves.
 */

/* A finished run whose log is quiet for so long is over. */
#define INGEST_QUIET_MS 30000
/* A log that was cut short and is silent for so long is over too. */
#define INGEST_DEAD_MS (INT64_C(24) * 3600 * 1000)
/* A log is gone when nothing names it for so long; the next one comes soon. */
#define INGEST_GONE_MS 5000
/* Runs that are taken of one log, and of all logs of a pod. */
#define INGEST_LOG_RUNS 1000
#define INGEST_POD_RUNS 16384

/* Bytes of a pod that wait for their spools: enough for the pool to be busy
 * while the link fills the next. */
#define INGEST_WAITING_BYTES ((size_t)4 << 20)

/* Sentences that a pod may cause: so many at once, then one in so long. */
#define INGEST_NOTICE_MAX      64
#define INGEST_NOTICE_EVERY_MS 10000

/* How many were taken, of a pod or of this machine. */
struct ingest_runs {
	size_t n;
	bool said; /* that there are too many */
};

/* Pods that were configured together; one fleet reaches them. */
struct ingest_fleet {
	struct list link;
	struct ingest *ingest;
	struct fleet *fleet;
	struct ingest_pod **pods; /* by index in the fleet; NULL: let go */
};

struct ingest {
	struct ingest_options o;
	const struct clock *clock;
	struct store *store;	    /* NULL: nothing is stored */
	struct store *history;	    /* the same, or a reader of it */
	struct history *fetch;	    /* of series; NULL: no view is kept */
	struct list requests;	    /* of series, not answered yet */
	struct model_run **fetched; /* runs that are over, whose series are
				     * here for the eye */
	size_t n_fetched, cap_fetched;
	uint64_t n_wants;
	int64_t start_ms;	 /* mono clock */
	bool has_live;		 /* series of what runs were asked for */
	int64_t rev;		 /* of the newest run's row that the model has */
	struct loop_timer *poll; /* of one that only reads; NULL: none */
	int64_t data_version;
	long writer; /* the process that writes; 0: not known */
	bool has_writer;
	unsigned int polls;
	unsigned int ticks;
	struct log_copies *copies;
	struct pruned_copies prune;
	struct job *prune_job; /* NULL: none runs */
	struct list fleets;
	struct list pods;
	struct list logs; /* of this machine */
	struct ingest_runs runs;
	struct loop_timer *tick, *local;
	struct list queue;    /* logs that wait for a turn */
	size_t n_turns;	      /* that run */
	size_t waiting;	      /* bytes that are not in spools yet */
	bool posted;	      /* turns begin in the next round of the loop */
	int64_t last_news_ms; /* mono clock */
	uint64_t untrimmed;   /* bytes read since memory was given back */
	bool is_ending;
};

struct ingest_pod {
	struct list link;
	struct ingest *ingest;
	char *name; /* owned */
	const struct conf_pod *conf;
	size_t model_pod;
	struct ingest_fleet *fleet;
	size_t index; /* in the fleet */
	bool is_gone; /* let go, freed at the end */

	/* fetch.c */
	struct follow *follow; /* NULL: not followed */
	struct loop_timer *timer;
	struct list logs;
	size_t n_opening; /* spools to be opened before it is followed */
	size_t waiting;	  /* bytes that are not in spools yet */
	struct ingest_runs runs;
	bool is_loaded;	 /* logs has what the database knows */
	bool is_started; /* and the follower knows it too */
	bool is_disk_full;
	unsigned int n_lost; /* spools that someone else removed */

	/* pods.c */
	bool is_settled;	    /* its logs were looked at once */
	bool is_paused;		    /* a bench runs there */
	bool has_bench;		    /* in the database, at the last look */
	char *arm;		    /* owned; the log here of the run that it makes; NULL: none
				     */
	struct pod_verdict verdict; /* as last said */
	bool was_up;
	int64_t notified_ms; /* mono clock, a fill of sentences; see ingest_notify */

	/* telemetry.c */
	struct stream *telemetry; /* NULL: none runs */
	struct telemetry_reader telemetry_reader;
	struct buf telemetry_line;
	bool telemetry_asked;	  /* and nothing came since */
	int64_t telemetry_due_ms; /* of the next question; mono clock */
	int64_t stored_ms;	  /* of the last one stored; wall clock */
	struct store_prune prune; /* when old ones are dropped */
};

/* What a reader said in a turn, told on the loop in the same order. */
struct outbox_item;

struct outbox {
	struct outbox_item *v; /* owned */
	size_t n, cap;
	/* Of the lines of the turn, where a view is kept. */
	uint64_t first_line;
	unsigned char *classes; /* owned */
	size_t n_classes, cap_classes;
	uint64_t had;		  /* fetched, before the turn */
	uint64_t parsed, n_lines; /* of the log, behind the turn */
	bool has_run;
	struct run now, row; /* its last run, as it is and as if it ended */
	bool is_replaced;    /* a log of this machine: it is another one */
	struct err err;
	size_t appended; /* bytes of `sending` */
};

/*
 * One generation of one log.  fetched, parsed and stored say what there is to
 * do: asleep: there is no reader; replaying: parsed < stored, the database
 * knows it all; behind: parsed < size; to be fetched again: fetched < stored;
 * over: parsed == end.
 */
struct ingest_log {
	struct list link; /* of its pod's, or of all of this machine */
	struct ingest *ingest;
	struct ingest_pod *pod; /* NULL: a file of this machine */
	size_t model_pod;
	char *name; /* owned, raw bytes: where it lay first */
	unsigned int gen;

	uint64_t fetched; /* bytes of it lie here */
	uint64_t parsed;  /* were told to model and store */
	uint64_t stored;  /* have their rows in the store, or in what waits */
	uint64_t end;	  /* more will not come; UINT64_MAX: it may */
	uint64_t news;	  /* what is told of the bytes before it is no news */
	uint64_t row_at;  /* parsed, when there was no newer row to put */

	/* fetch.c */
	struct follow_file *ff; /* NULL: it cannot come back, or is no pod's */
	struct log_copy *copy;	/* owned; NULL: a file of this machine */
	struct cksum known;	/* the most that was ever had of it */
	struct cksum sum;	/* of the spool, while no turn has it */
	struct buf inbox;	/* to follow `sending` */
	struct buf sending;	/* to be appended; the turn's while one runs */
	int64_t away_ms;	/* nothing names it since; mono; 0: it does */
	int64_t gone_ms;	/* told as gone; wall clock; 0: it is not */
	int64_t retry_ms;	/* mono: no turn before; the disk was full */
	const char *was_lost;	/* as said of its spool */
	bool is_closed;		/* over: its spool may be pruned */

	struct local *local; /* owned; NULL: a pod's */

	/* tail.c; the turn's while one runs */
	struct list in_queue;	   /* while it waits for one */
	struct turn *turn;	   /* NULL: none runs */
	struct run_reader *reader; /* NULL: asleep */
	struct outbox out;

	/* sink.c */
	struct store_log *entry; /* NULL: nothing is stored */
	struct model_log *log;	 /* NULL: no lines are kept */
	bool is_reading;	 /* the model counts it, see tail_count_backlog */
	bool has_row;		 /* without figures, see sink_show_empty_row */
	unsigned int n_runs;	 /* begun so far */
	unsigned int n_reported; /* of them, whose status was looked at */
	uint64_t slept_at;	 /* lines that the model had by then */
	enum run_status status;	 /* of its last run; RUN_RUNNING: under way */
	struct run row;		 /* the run under way, as if it ended at parsed; or empty */
	struct pod_pace pace;
	int64_t last_wall_ms; /* of its last bytes */
	uint64_t ahead_end;   /* offset at which the lines shown end */
};

/* ---- ingest.c */

void __attribute__((format(printf, 4, 5)))
ingest_notify(struct ingest *ingest, struct ingest_pod *pod, enum model_severity severity,
	      const char *fmt, ...);
int64_t ingest_now_ms(const struct ingest *ingest); /* mono clock */
int64_t ingest_wall_ms(const struct ingest *ingest);
/*
 * Open the database anew, and fill the model from it.  0 also when another
 * one writes (ingest->store is NULL then).
 */
int ingest_become_writer(struct ingest *ingest, struct err *err);
/* A log of which nothing is known yet. */
struct ingest_log *ingest_log_new(struct ingest *ingest, struct ingest_pod *pod, size_t model_pod,
				  const char *name, unsigned int gen);
void ingest_log_free(struct ingest_log *log);

/* ---- tail.c */

/* Something may be to do: give it a turn when it comes to that. */
void tail_queue(struct ingest_log *log);
/* Read it from its first byte on. */
void tail_start_reader(struct ingest_log *log);
/* Its reader goes; bytes that come wake it. */
void tail_free_reader(struct ingest_log *log);
/* Tell the model when its backlog begins to be read, and when that is over. */
void tail_count_backlog(struct ingest_log *log);
/* The turn that it has, if any, is over. */
void tail_finish_turn(struct ingest_log *log);
/* All that can be done for it now is done: read, told. */
void tail_read_rest(struct ingest_log *log);
/* No turn begins any more. */
void tail_stop_turns(struct ingest *ingest);
/* Without a loop: a turn for each that is due; true: there is more. */
bool tail_run_turn(struct ingest *ingest);
static inline bool tail_is_replay(const struct ingest_log *log)
{
	return log->parsed < log->stored;
}

/* ---- sink.c */

/* The key of a run in the model. */
unsigned int sink_run_key(unsigned int gen, unsigned int run_index);
/* The log of a generation in the model. */
struct model_log *sink_model_log(struct ingest *ingest, size_t model_pod, const char *name,
				 unsigned int gen);
/* What the reader says, on its thread: without its lines, and with them. */
extern const struct run_reader_cb sink_callbacks[2];
/* The turn is over: tell it. */
void sink_apply_turn(struct ingest_log *log);
void outbox_release(struct outbox *out);
/* Once a second: is its run over? */
void sink_check_end(struct ingest_log *log);
/* Put what changed into the store's next batch. */
void sink_store_run(struct ingest_log *log);
/* Where it lies, and by what it is known again. */
void sink_store_identity(struct ingest_log *log);
/*
 * A log that grows, or is new, and has told of no run yet has a row: the one
 * that its first run takes.
 */
void sink_show_empty_row(struct ingest_log *log);
/* We stop here: its last run is as if its log ended here. */
void sink_end_log(struct ingest_log *log);
/* It is gone since then (wall clock), or is there again (0). */
void sink_set_gone(struct ingest_log *log, int64_t wall_ms);
/* Whether the dashboard tells it as an alert that it is gone. */
bool sink_has_cut_run(const struct ingest_log *log);

/* ---- fetch.c */

void fetch_start(struct ingest_pod *pod);
/* Each of its logs ends as it is now. */
void fetch_stop(struct ingest_pod *pod);
/* The pod's conf has other logs now. */
void fetch_set_patterns(struct ingest_pod *pod);
/* As pod->is_paused says: nothing is read, or all that came meanwhile. */
void fetch_set_quiet(struct ingest_pod *pod);
void fetch_check_logs(struct ingest_pod *pod);
/* Put what changed of its logs into the store's next batch. */
void fetch_flush(struct ingest_pod *pod);
/* A turn of the log is over, as far as its spool goes. */
void fetch_after_turn(struct ingest_log *log);
/* Its reader is wanted, and its spool may not be what it was. */
void fetch_replace_lost_copy(struct ingest_log *log);
/* Has one of its logs bytes that were told of and are yet to come? */
bool fetch_is_behind(const struct ingest_pod *pod);
/* How far a log is behind its pod's file. */
uint64_t fetch_bytes_behind(const struct ingest_log *log);

/* ---- local.c */

/* What the turn of a log of this machine has to know. */
bool local_is_same_file(struct local *local, uint64_t parsed);
/* Look at them from now on, where there is a loop. */
void ingest_watch_local(struct ingest *ingest);
/* No more comes of the log of that path. */
void local_end_log(struct ingest *ingest, const char *path);
ssize_t local_read(struct local *local, uint64_t offset, void *data, size_t len);
/* Look at all of them. */
void local_check_all(struct ingest *ingest);
/* A turn of it is over. */
void local_after_turn(struct ingest_log *log);
void local_free(struct local *local);

/* ---- pods.c */

/* The model's pod of that name, made where there is none; with its price. */
size_t pods_add_to_model(struct ingest *ingest, const struct conf_pod *conf);
/* The pods of the configuration that are not there yet, in one fleet. */
void pods_add(struct ingest *ingest);
/* Those of another configuration. */
void pods_reload(struct ingest *ingest, const struct conf *conf);
/* All of them stop; streams may still tell of their end. */
void pods_free(struct ingest *ingest);
void pods_tick(struct ingest *ingest);
/* Look at the link again, say what changed. */
void pod_update_state(struct ingest_pod *pod);
/* Put what is known of it now into the store's next batch. */
void pod_store(struct ingest_pod *pod);
struct ingest_pod *pod_of_model(const struct ingest *ingest, size_t model_pod);

/* ---- telemetry.c */

/* Ask when it is due (now_ms: mono clock), unless a bench runs there. */
void telemetry_tick(struct ingest_pod *pod, int64_t now_ms);
void telemetry_stop(struct ingest_pod *pod);

/* ---- history.c */

/* Fill the model with the runs of the database; fetch series from then on. */
int history_start(struct ingest *ingest, struct err *err);
/* Fetch no more; what was asked for may be asked for again. */
void history_stop(struct ingest *ingest);
/* A sample for the eye: to the model, unless the database has it for later. */
void history_sample(struct ingest *ingest, struct model_run *mr, const struct sample *sample);
/* It is over: its series may go when others are looked at. */
void history_run_ended(struct ingest *ingest, struct model_run *mr);
/* It is under way: forecasts and alerts need its series. */
void history_fetch_live(struct ingest *ingest, struct model_run *mr);
/* The first screen waits for what it asked for; not for long. */
bool history_is_showing(const struct ingest *ingest);
/* Too many run at once: of those that nobody looks at few points stay. */
void history_drop_points(struct ingest *ingest);
/* Once a second. */
void history_tick(struct ingest *ingest);
/* We are the second one: show what another one stores, until it is gone. */
void history_watch(struct ingest *ingest);
/* The configuration is another one. */
void history_reload(struct ingest *ingest);
