/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/judge.h"
#include "bench/noise.h"
#include "context.h"
#include "parsers/json.h"
#include "report/facts.h"

/*
 * The noise register: what benches with an A/A arm, and audits, have learnt
 * of each pod and class of runs.  Several measurements of a class on the same
 * GPUs of a pod are one entry.
 */
struct noise_entry {
	char *pod, *gpus, *class_name;			     /* owned, never NULL */
	char *gpu, *gpu_id, *driver, *image, *what, *metric; /* owned or NULL */
	struct noise noise;				     /* pooled */
	size_t n_benches;				     /* measurements */
	double first_mean;				     /* of ln y, of the first of them */
	int64_t first_ms, when_ms;			     /* the first and the newest of them */
	size_t rank, n_ranked;				     /* 1: the quietest; 0: too few runs */
	double p_quietest; /* told apart from rank 1? NAN: is rank 1 */
	/* Of a history: the bench, and where the level of its series changes
	 * with it, ln units; before is NAN where it does not. */
	char *bench; /* owned */
	double before, after;
	char why[200]; /* what else is new: "; driver 570.1 -> 580.2" */
	char kind[200];
};

struct noise_register {
	struct noise_entry *v; /* owned; by class, then rank */
	size_t n;
	bool is_history;  /* each measurement is an entry */
	const char *name; /* of those alone; NULL: all */
};

/*
 * From the context's database, which is opened; one that is not there yet
 * holds nothing.
 */
int noise_register_load(struct noise_register *reg, struct context *context, struct err *err)
	__attribute__((warn_unused_result));
/* The same where noise is no reason to fail; the database is closed again:
 * what follows may take hours, or fork. */
void noise_register_peek(struct noise_register *reg, struct context *context);
void noise_register_release(struct noise_register *reg);

/*
 * The control of benches that come again: a series for each class of runs and
 * kind of pod (its GPUs; of a pod without, its name), in the order of time.
 * name: of a bench, or a class; NULL: all.  See base/change.h for changes.
 */
int noise_history_load(struct noise_register *reg, struct context *context, const char *name,
		       struct err *err) __attribute__((warn_unused_result));
/* The row of `bench history`: that of `bench noise`, and more. */
cJSON *noise_history_json(const struct noise_entry *entry);

/*
 * The entry of an arm of a plan on its pod; gpu_id "": the newest.  NULL:
 * none, or fewer than NOISE_MIN_RUNS runs.
 */
const struct noise_entry *noise_register_find(const struct noise_register *reg,
					      const struct plan *plan, size_t arm, size_t pod,
					      const char *gpu_id);

/* What a bench is looked up with: for session_setup.noise. */
struct noise_lookup {
	const struct noise_register *reg;
	const struct plan *plan;
	const char *path; /* results folder: env.<pod>.txt; NULL: none yet */
};

/*
 * Set the rule's register_sd and register_df: of the noisiest of the plan's
 * pods, and only when every one of them is known by the GPUs it has now.
 */
void noise_register_rule(void *lookup, struct judge_rule *rule);

/* Put what a results folder says of its pods' noise, or of their control
 * alone, into the database. */
int noise_register_note(const char *db_path, const char *id, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* The same for people: what an audit ends with. */
void noise_entry_facts(struct facts *facts, const struct noise_entry *entry);

/* The series of the bench's control, as `bench history` has it; none where no
 * other bench is in it. */
void noise_history_facts(struct facts *facts, const struct noise_register *history,
			 const char *bench_id);

/* The row of `bench noise`; owned by the caller. */
cJSON *noise_entry_json(const struct noise_entry *entry);
