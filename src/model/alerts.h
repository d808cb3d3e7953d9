/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "model/model.h"
#include "model/track.h"

/* Alerts: current problems. Pure: model and time in, list of alerts out. An alert is raised once
 * and stays until its cause is gone. An acknowledged alert stays and is quiet.
 *
 * id		name		severity	cause */
#define ALERT_LIST(X)                                                                       \
	X(ALERT_NAN, "nan", MODEL_ALARM)	     /* loss is NaN or infinite */          \
	X(ALERT_OOM, "oom", MODEL_ALARM)	     /* out of memory */                    \
	X(ALERT_CRASH, "crash", MODEL_ALARM)	     /* traceback, NCCL, killed */          \
	X(ALERT_STALL, "stall", MODEL_WARNING)	     /* no output for too long */           \
	X(ALERT_GONE, "log-gone", MODEL_WARNING)     /* log removed before its run ended */ \
	X(ALERT_CAP_BYTES, "cap-bytes", MODEL_ALARM) /* caps: as in BOARD_CAP_LIST */       \
	X(ALERT_CAP_TRAIN, "cap-train", MODEL_ALARM)                                        \
	X(ALERT_CAP_EVAL, "cap-eval", MODEL_ALARM)                                          \
	X(ALERT_CAP_TARGETS, "cap-targets", MODEL_ALARM)                                    \
	X(ALERT_CAP_METRIC, "cap-metric", MODEL_ALARM)                                      \
	X(ALERT_CAP_SOON, "cap-soon", MODEL_WARNING) /* will take longer than allowed */    \
	X(ALERT_SLOW_POD, "slow-pod", MODEL_WARNING) /* slower than its peers */            \
	X(ALERT_METRIC, "metric", MODEL_WARNING)     /* beyond a limit that the user set */ \
	X(ALERT_DISK, "disk", MODEL_WARNING)	     /* little disk space left */           \
	X(ALERT_LINK, "link", MODEL_WARNING)	     /* a pod is unreachable */             \
	X(ALERT_IDLE, "idle", MODEL_WARNING)	     /* a pod costs money and does nothing */

enum alert_kind { ALERT_LIST(LIST_ID) ALERT_KIND_COUNT };

/* A limit that the user set for a metric; checked against its last value. */
struct alert_rule {
	char *metric;	     /* owned */
	double above, below; /* absent: no limit */
};

struct alert {
	uint64_t number; /* 1, 2, .. in the order in which they were raised */
	enum alert_kind kind;
	enum model_severity severity;
	size_t pod;		    /* MODEL_NONE: not about a pod */
	const struct model_run *mr; /* NULL: not about a run */
	size_t rule;		    /* METRIC: number of the rule, from 1 */
	char text[400];		    /* not sanitised: may contain names from outside */
	int64_t since_wall_ms;	    /* when its cause started, if known; else when raised */
	bool acknowledged;
	bool seen; /* raised or confirmed by the current update */
};

#define ALERTS_MAX 20000

/* Last observations of a pod, wall clock; 0: never. */
struct alert_pod {
	int64_t down_ms; /* its link was down */
	int64_t busy_ms; /* it was working, or its state was unknown */
};

struct alerts {
	struct alert *v; /* owned; oldest first */
	size_t n, cap;
	uint64_t last_number;
	size_t last_found; /* index of the alert that was updated last */
	bool muted;
	double stall_s;		/* limit; 0: no such alert; absent: from the run's pace */
	struct alert_pod *pods; /* owned; one per pod of the model */
	size_t n_pods;
	struct alert_rule *rules; /* owned */
	size_t n_rules, cap_rules;
	/* May be NULL.  Called for muted alerts too. */
	void (*on_new)(void *user, const struct alert *alert);
	void *user;
	/* Keys acknowledged in an earlier session, one per line. */
	char *acknowledged_before; /* owned; NULL: none */
};

void alerts_init(struct alerts *alerts);
void alerts_release(struct alerts *alerts);

/* Add a rule; the name of its metric is copied. */
void alerts_rule_add(struct alerts *alerts, const struct alert_rule *rule);
void alerts_rules_clear(struct alerts *alerts);

/* Update the list; on_new is called for each new alert.  track may be NULL: no caps. */
void alerts_update(struct alerts *alerts, const struct model *model, const struct track *track,
		   int64_t now_wall_ms);

void alerts_acknowledge(struct alerts *alerts);
/* The number of alerts that are not acknowledged. */
size_t alerts_open(const struct alerts *alerts);
/* The alert with this number, or NULL if it is gone. */
const struct alert *alerts_find(const struct alerts *alerts, uint64_t number);
const char *alert_name(enum alert_kind kind);

/* Seconds of silence that count as a stall: five times the 99th percentile of the run's own gaps,
 * but at least 20 s; 120 s until 20 gaps are known. */
double alerts_stall_limit_s(const struct model_run *mr);

/* Save and load what survives a restart, as lines: the acknowledged alerts, and "muted". */
void alerts_save(const struct alerts *alerts, const struct model *model, struct buf *out);
void alerts_load(struct alerts *alerts, struct str text);
