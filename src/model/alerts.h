/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "model/model.h"
#include "model/track.h"

/*
 * What is wrong now.  Pure: model and time in, list of alerts out.  An alert
 * is raised once and stays until its cause is gone; acknowledged ones stay
 * in the list and are quiet.
 *
 *	id		name		severity	what
 */
#define ALERT_LIST(X)                                                          \
	X(NAN, "nan", ALARM)		 /* loss is NaN or infinite */         \
	X(OOM, "oom", ALARM)		 /* out of memory */                   \
	X(CRASH, "crash", ALARM)	 /* traceback, NCCL, killed */         \
	X(STALL, "stall", WARNING)	 /* no new bytes for too long */       \
	X(GONE, "log-gone", WARNING)	 /* its log went away, unfinished */   \
	X(CAP_TRAIN, "cap-train", ALARM) /* trained longer than allowed */     \
	X(CAP_EVAL, "cap-eval", ALARM)	 /* evaluated longer than allowed */   \
	X(CAP_BYTES, "cap-bytes", ALARM) /* artifact larger than allowed */    \
	X(CAP_SOON, "cap-soon", WARNING) /* will train longer than allowed */  \
	X(SLOW_POD, "slow-pod", WARNING) /* slower than its peers */           \
	X(METRIC, "metric", WARNING)	 /* beyond what the user set for it */ \
	X(DISK, "disk", WARNING)	 /* little space left */               \
	X(LINK, "link", WARNING)	 /* a pod cannot be reached */         \
	X(IDLE, "idle", WARNING)	 /* a pod costs money, does nothing */

enum alert_kind {
#define X(id, name, severity) ALERT_##id,
	ALERT_LIST(X)
#undef X
		ALERT_KIND_COUNT
};

/* What a metric of a run is not to be: its last value, by any name of it. */
struct alert_rule {
	char *metric;	     /* owned */
	double above, below; /* absent: whatever it is */
};

struct alert {
	uint64_t number; /* 1, 2, .. in the order they were raised */
	enum alert_kind kind;
	enum model_severity severity;
	size_t pod;		    /* MODEL_NONE: of no pod */
	const struct model_run *mr; /* NULL: of no run */
	size_t rule;		    /* of METRIC: which one, from 1 */
	char text[400];		    /* not sanitised: may hold names */
	int64_t since_wall_ms;
	bool acknowledged;
	bool seen; /* by the update under way */
};

#define ALERTS_MAX 500

/* What was seen of a pod; wall clock, 0: never. */
struct alert_pod {
	int64_t down_ms; /* its link was down last */
	int64_t busy_ms; /* it was at work last, or nothing was known of it */
};

struct alerts {
	struct alert *v; /* owned; oldest first */
	size_t n, cap;
	uint64_t last_number;
	bool muted;
	double stall_s;		/* fixed; 0: off; absent: by the run's own pace */
	struct alert_pod *pods; /* owned; n_pods of the model's */
	size_t n_pods;
	struct alert_rule *rules; /* owned */
	size_t n_rules, cap_rules;
	/* NULL: nobody; new alerts that are muted are told too. */
	void (*on_new)(void *user, const struct alert *alert);
	void *user;
	/* Keys acknowledged in an earlier session; one a line. */
	char *acknowledged_before; /* owned; NULL: none */
};

void alerts_init(struct alerts *alerts);
void alerts_release(struct alerts *alerts);

/* One more rule for a metric; its name is copied.  Forget all rules. */
void alerts_rule_add(struct alerts *alerts, const struct alert_rule *rule);
void alerts_rules_clear(struct alerts *alerts);

/*
 * Bring the list up to date; on_new is called for each alert that was not
 * there before.  track may be NULL: no caps.
 */
void alerts_update(struct alerts *alerts, const struct model *model, const struct track *track,
		   int64_t now_wall_ms);

void alerts_acknowledge(struct alerts *alerts);
/* How many are not acknowledged. */
size_t alerts_open(const struct alerts *alerts);
/* The gravest alert of a run, or NULL. */
const struct alert *alerts_of_run(const struct alerts *alerts, const struct model_run *mr);
/* The alert of that number while it holds, else NULL. */
const struct alert *alerts_find(const struct alerts *alerts, uint64_t number);
const char *alert_name(enum alert_kind kind);

/*
 * Seconds of silence that count as a stall: five times the 99th percentile
 * of the run's own gaps, at least 20 s; 120 s until 20 gaps are known.
 */
double alerts_stall_limit_s(const struct model_run *mr);

/* What survives a restart: acknowledged alerts and mute, as lines of text. */
void alerts_save(const struct alerts *alerts, const struct model *model, struct buf *out);
void alerts_load(struct alerts *alerts, struct str text);
