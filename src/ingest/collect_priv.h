/* SPDX-License-Identifier: MIT */
#ifndef HGYM_INGEST_COLLECT_PRIV_H
#define HGYM_INGEST_COLLECT_PRIV_H

#include "base/buf.h"
#include "base/list.h"
#include "ingest/collect.h"
#include "model/pod_state.h"
#include "parsers/run_reader.h"
#include "parsers/telemetry.h"
#include "remote/follow.h"
#include "store/mirror.h"
#include "store/pods.h"
#include "store/store.h"

/* Inside of the collector; for collect*.c alone. */

/* A finished run whose log is quiet for so long is over. */
#define COLLECT_QUIET_MS 30000
#define COLLECT_TICK_MS	 1000
/* A log that was cut short and is silent for so long is over too. */
#define COLLECT_DEAD_MS (INT64_C(24) * 3600 * 1000)
/* A telemetry stream that ended is started again after this. */
#define COLLECT_TELEMETRY_RETRY_MS 30000

/* Pods that were configured together; one fleet reaches them. */
struct collect_fleet {
	struct list link;
	struct collect *collect;
	struct fleet *fleet;
	struct remote_pod *remotes; /* owned, and so are their strings */
	struct collect_pod **pods;  /* by index in the fleet; NULL: let go */
	size_t n;
};

struct collect {
	struct collect_options o;
	struct store *store;	    /* NULL: nothing is stored */
	struct store *history;	    /* the same, or a reader of it */
	struct history *fetch;	    /* of series; NULL: no view is kept */
	struct list asks;	    /* of series, not answered yet */
	struct model_run **fetched; /* runs that are over, whose series are
				     * here for the eye */
	size_t n_fetched, cap_fetched;
	uint64_t n_wants;
	int64_t start_ms; /* mono clock */
	bool has_live;	  /* series of what runs were asked for */
	int64_t rev;	  /* of the newest run's row that the model has */
	struct loop_timer *look; /* of one that only reads; NULL: none */
	int64_t data_version;
	long writer; /* the process that writes; 0: not known */
	bool has_writer;
	unsigned int looks;
	struct loop_timer *replay;
	size_t n_replays; /* files that are read again */
	unsigned int ticks;
	struct mirror_dir *mirrors;
	char *temporary_dir; /* of mirrors that do not outlive us, or NULL */
	struct list fleets;
	struct list pods;
	struct loop_timer *tick;
	int64_t last_news_ms; /* mono clock */
	bool is_ending;
	bool is_full; /* the store takes no more: reading is paused */
};

struct collect_pod {
	struct list link;
	struct collect *collect;
	char *name; /* owned */
	const struct conf_pod *conf;
	size_t model_pod;
	struct collect_fleet *fleet;
	size_t index; /* in the fleet */
	struct list files;
	struct list gone; /* logs that went away; see collect_gone.c */
	size_t n_gone;

	struct collect_follow *follow; /* NULL: not followed */
	int64_t last_frame_ms; /* last sign of the follower; mono clock */
	bool is_settled;       /* its logs were looked at once */
	bool is_quiet;	       /* a bench runs there */
	bool has_bench;	       /* in the database, at the last look */
	bool is_gone;	       /* let go, freed at the end */

	struct stream *telemetry; /* NULL: none runs */
	struct telemetry_reader telemetry_reader;
	struct buf telemetry_line;
	bool telemetry_asked;	  /* and nothing came since */
	int64_t telemetry_due_ms; /* of the next question; mono clock */
	int64_t stored_ms;	  /* of the last one stored; wall clock */
	struct store_prune prune; /* when old ones are dropped */

	struct pod_verdict verdict; /* as last said */
	bool was_up;
};

/* One generation of one log file. */
struct collect_file {
	struct list link; /* of its pod's files */
	struct collect_pod *pod;
	char *name; /* owned, raw bytes: where it lay first */
	unsigned int gen;
	struct mirror *mirror;	   /* owned; NULL: none */
	unsigned int n_runs;	   /* begun so far */
	struct run_reader *reader; /* NULL while it is idle */
	struct store_tail *tail;   /* NULL: nothing is stored */
	struct model_log *log;	   /* NULL: no lines are kept */
	struct pod_pace pace;
	int64_t last_wall_ms;  /* of its last bytes */
	bool is_idle;	       /* over; its log is read again when bytes come */
	bool is_replay;	       /* what is fed comes from its mirror */
	uint64_t refill_bytes; /* its mirror is to hold, read again from the
				* pod; 0: it is as it should be */
	bool is_ended;	       /* to be finished when it was read again */
	uint64_t old_bytes;    /* of the mirror: of an earlier life */
	bool is_under_way;     /* its last run is not over */
	bool is_behind;	       /* far; the view shows its end meanwhile */
	uint64_t ahead_end;    /* offset at which the lines shown end */
	uint64_t replayed;     /* bytes of the mirror that were read again */
	bool dirty;	       /* to be put into the store's next batch */
	struct collect_parse *parse; /* owned; NULL: was never far behind */
	bool is_away;		     /* its reader works on another thread */
};

/* ---- collect_file.c */

/* A generation of which nothing is known yet; see the two below. */
struct collect_file *collect_file_new(struct collect_pod *pod, const char *name,
				      unsigned int gen);
/*
 * Begin to read it from its first byte.  mirror (may be NULL) is given to the
 * file; what it holds already is read again in turns.
 */
void collect_file_begin(struct collect_file *file, struct mirror *mirror);
/* The file of that generation, or NULL. */
struct collect_file *collect_file_find(const struct collect_pod *pod,
				       const char *name, unsigned int gen);
/* Where it lies now. */
void collect_file_identify(struct collect_file *file,
			   const struct follow_file *ff);
/*
 * Feed the next bytes of its mirror, at most `most`; false: that was all, what
 * comes now is new.
 */
bool collect_file_replay(struct collect_file *file, size_t most);
void collect_file_feed(struct collect_file *file, const void *data, size_t len);
/* The reader took what it was fed: what that changed. */
void collect_file_fed(struct collect_file *file);
/* What the reader says, to model and store; of run its number counts. */
void collect_file_sample(struct collect_file *file, const struct run *run,
			 const struct sample *sample);
void collect_file_event(struct collect_file *file, const struct run *run,
			const struct run_event *event);
/* A run is over: the next one began in this file, or the file ends. */
void collect_file_run(struct collect_file *file, const struct run *run);
/* Once a second: is its run over? */
void collect_file_tick(struct collect_file *file, int64_t now_wall_ms);
/* Put what changed into the store's next batch. */
void collect_file_flush(struct collect_file *file);
/*
 * No more will come of it: note that, and finish; once all of it was read
 * where it is read again just now.
 */
void collect_file_end(struct collect_file *file);
/*
 * We stop here: its last run's status is final.  Frees the file.  One
 * that is read again is left as it is stored.
 */
void collect_file_finish(struct collect_file *file);
/* The key of a run in the model. */
unsigned int collect_run_key(unsigned int gen, unsigned int run_index);
/* The log of a generation in the model. */
struct model_log *collect_log(struct collect *collect, size_t model_pod,
			      const char *name, unsigned int gen);

/* ---- collect_parse.c */

/* Feed its reader on another thread; collect_file_fed comes later. */
void collect_parse_feed(struct collect_file *file, const void *data,
			size_t len);
/* Have its reader back: all that was fed is read and told. */
void collect_parse_settle(struct collect_file *file);
/* NULL: nothing.  Settled before. */
void collect_parse_free(struct collect_parse *parse);
/* Keep what the reader says, on its thread. */
void collect_parse_sample(struct collect_parse *parse, const struct run *run,
			  const struct sample *sample);
void collect_parse_event(struct collect_parse *parse, const struct run *run,
			 const struct run_event *event);
void collect_parse_run(struct collect_parse *parse, const struct run *run);
void collect_parse_line(struct collect_parse *parse, uint64_t line,
			enum line_class class);

/* ---- collect_replay.c */

/* Read mirrors again, a bit at a time. */
void collect_replay_start(struct collect *collect);

/* ---- collect_fetch.c */

/* Fetch series from now on, all of them anew. */
void collect_fetch_open(struct collect *collect);
/* Fetch no more; what was asked for may be asked for again. */
void collect_fetch_close(struct collect *collect);
/* A sample for the eye: to the model, unless the database has it for later. */
void collect_fetch_sample(struct collect *collect, struct model_run *mr,
			  const struct sample *sample);
/* Another one stored more of that run: fetch it if it is looked at. */
void collect_fetch_more(struct collect *collect, struct model_run *mr);
/* The first screen waits for what it asked for; not for long. */
bool collect_is_showing(const struct collect *collect);
/* Once a second. */
void collect_fetch_tick(struct collect *collect);
/* Charts of telemetry go back so far; wall clock. */
int64_t collect_day_ago_ms(const struct collect *collect);

/* ---- collect_history.c */

/* Fill the model with the runs of the database; fetch series from then on. */
int collect_history_open(struct collect *collect, struct err *err);
/* Pods of the configuration are in the model, also those of a new one. */
void collect_history_pods(struct collect *collect);
/* Those that changed since, and what is new of the series that are here. */
int collect_history_renew(struct collect *collect, struct err *err);
/* All of them anew. */
int collect_history_again(struct collect *collect, struct err *err);

/* ---- collect_pod.c */

struct collect_pod *collect_pod_new(struct collect_fleet *fleet, size_t index,
				    const struct conf_pod *conf);
/* Stop all of it: its state is gone, its logs end as they are. */
void collect_pod_let_go(struct collect_pod *pod);
/* Only when its fleet is gone: streams may still tell it of their end. */
void collect_pod_free(struct collect_pod *pod);
/* A bench runs there, and nothing else is asked of it; or as always. */
void collect_pod_quiet(struct collect_pod *pod, bool quiet);
void collect_pod_tick(struct collect_pod *pod);
/* Put what is known of it now into the store's next batch. */
void collect_pod_put(struct collect_pod *pod);
/* Look at the link again, say what changed. */
void collect_pod_judge(struct collect_pod *pod);

/* ---- collect_bench.c */

/* Which pods a bench of the database runs on now: those go silent. */
void collect_look_for_benches(struct collect *collect);

/* ---- collect_telemetry.c */

/* Ask when it is due (now_ms: mono clock), unless a bench runs there. */
void collect_telemetry_tick(struct collect_pod *pod, int64_t now_ms);
void collect_telemetry_stop(struct collect_pod *pod);

/* ---- collect_follow.c */

/* For collect_follow.c and collect_keep.c. */
struct collect_follow {
	struct collect_pod *pod;
	struct follow *follow;
	struct loop_timer *retry;
	bool is_starting;    /* what is here of its logs is not told yet */
	bool said_disk;	     /* that the mirror cannot be written */
	unsigned int n_lost; /* mirrors that someone else removed */
};

struct collect_follow_status {
	bool is_live, is_waiting, is_refused;
	struct err why;
	int64_t retry_at_ms, last_byte_ms, lag_ms; /* mono clock; lag -1 */
};

void collect_follow_start(struct collect_pod *pod);
/* Each of its logs ends as it is now. */
void collect_follow_stop(struct collect_pod *pod);
/* The pod's conf has other logs now. */
void collect_follow_renew(struct collect_pod *pod);
/* As pod->is_quiet says: nothing is read, or all that came meanwhile. */
void collect_follow_quiet(struct collect_pod *pod);
/* The store takes samples again. */
void collect_follow_resume(struct collect_pod *pod);
void collect_follow_retry(struct collect_pod *pod);
void collect_follow_status(const struct collect_pod *pod,
			   struct collect_follow_status *status);
/* Has one of its logs bytes that were told of and are yet to come? */
bool collect_follow_is_behind(const struct collect_pod *pod);

/* ---- collect_keep.c */

/*
 * The mirror of a generation that begins: empty.  One that is there was left
 * by a program that died before it could note the log; it comes again.
 */
struct mirror *collect_keep_begin(struct collect_pod *pod,
				  const struct follow_file *ff,
				  struct err *err);
/*
 * What is kept of a log that was over is not all of it, and its parser needs
 * that: all of it comes again from the pod, and is read when it is here.
 */
void collect_keep_refill(struct collect_follow *cf, struct follow_file *ff);
/*
 * Bytes of a log that was over: its parser has to be where it was.  False:
 * they are not to be taken yet.
 */
bool collect_keep_wake(struct collect_follow *cf, struct follow_file *ff);
/* Keep the bytes; how many there was room for. */
size_t collect_keep_bytes(struct collect_follow *cf, struct follow_file *ff,
			  struct str data);
/* Bytes that were here before; with the last of them it can be read. */
size_t collect_keep_again(struct collect_follow *cf, struct follow_file *ff,
			  struct str data);

/* ---- collect_gone.c */

/* A log has ended, which may mean that it is not there any more. */
void collect_gone_add(struct collect_pod *pod, const struct follow *follow,
		      const struct follow_file *ff);
/* A log is there: one that was gone goes on, or is written anew. */
void collect_gone_back(struct collect_pod *pod, const struct follow_file *ff,
		       bool goes_on);
/* Once a second: say which went away. */
void collect_gone_tick(struct collect_pod *pod);
void collect_gone_release(struct collect_pod *pod);

/* ---- collect_fleet.c */

/* The pods of the configuration that are not there yet, in one fleet. */
void collect_add_pods(struct collect *collect);
void collect_fleet_free(struct collect_fleet *fleet);

/* ---- collect_reader.c */

/* Show what another one stores, until it is gone. */
void collect_reader_start(struct collect *collect);
/* The configuration is another one. */
void collect_reader_reload(struct collect *collect);

/* ---- collect.c */

/*
 * Open the database anew, and fill the model from it.  0 also when another
 * one writes (collect->store is NULL then).
 */
int collect_become_writer(struct collect *collect, struct err *err);

void __attribute__((format(printf, 3, 4)))
collect_say(struct collect *collect, enum model_severity severity,
	    const char *fmt, ...);
int64_t collect_now_ms(const struct collect *collect); /* mono clock */

#endif
