/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/noise.h"
#include "context.h"
#include "report/facts.h"

/* The noise register: the noise that benches and audits measured, per pod and class of runs.
 * Measurements of one class on the same GPUs of a pod form one entry. */
struct noise_entry {
	char *pod, *gpus, *class_name;			     /* owned, never NULL */
	char *gpu, *gpu_id, *driver, *image, *what, *metric; /* owned or NULL */
	struct noise noise;				     /* pooled */
	size_t n_benches;				     /* how many measurements */
	double first_mean;				     /* mean of ln y in the first one */
	int64_t first_ms, when_ms; /* times of the first and the newest one */
	size_t rank, n_ranked;	   /* 1: the lowest noise; 0: too few runs */
	double p_quietest;	   /* p against rank 1; NAN for rank 1 */
	/* In a history: the bench, and the level (ln units) before and after a change that starts
	 * with it. before is NAN if the level does not change. */
	char *bench; /* owned */
	double before, after;
	char why[200]; /* what else changed: "; driver 570.1 -> 580.2" */
	char kind[200];
};

struct noise_register {
	struct noise_entry *v; /* owned; by class, then rank */
	size_t n;
	bool is_history;  /* one entry per measurement */
	const char *name; /* of this bench or class only; NULL: all */
};

/* Load from the context's database, which stays open.  Without a database the register is empty. */
int noise_register_load(struct noise_register *reg, struct context *context,
			struct err *err) MUST_USE;
/* Like noise_register_load; empty after an error. Closes the database: the caller may fork. */
void noise_register_peek(struct noise_register *reg, struct context *context);
void noise_register_release(struct noise_register *reg);
/* A local register that is released at the end of its block: AUTO_NOISE reg = { .n = 0 }; */
#define AUTO_NOISE __attribute__((cleanup(noise_register_release))) struct noise_register

/* History of the control of repeated benches: one series per class of runs and kind of pod (GPUs,
 * else name), by time. name: of a bench or a class; NULL: all. base/change.h finds the changes. */
int noise_history_load(struct noise_register *reg, struct context *context, const char *name,
		       struct err *err) MUST_USE;
/* The row of `bench history`: the row of `bench noise` with more keys.  Owned by the caller. */
cJSON *noise_history_json(const struct noise_entry *entry);

/* The newest entry with enough runs of a plan's control on these GPUs ("": any), or NULL. */
const struct noise_entry *noise_register_find(const struct noise_register *reg,
					      const struct plan *plan, size_t pod,
					      const char *gpu_id);

/* Argument of noise_register_set_rule. */
struct noise_lookup {
	const struct noise_register *reg;
	const struct plan *plan;
	const char *path; /* results folder with env.<pod>.txt; NULL: none yet */
};

/* Set register_sd and register_df of a rule to the noisiest of the plan's pods, if every pod has an
 * entry for its current GPUs; otherwise NAN.  For session_setup.noise. */
void noise_register_set_rule(void *lookup, struct judge_rule *rule);

/* Store the noise of a results folder in the database; without an A/A arm, only the level. */
int noise_register_store(const char *db_path, const char *id, const char *path,
			 struct err *err) MUST_USE;

/* An entry as facts, which `bench audit` prints. */
void noise_entry_facts(struct facts *facts, const struct noise_entry *entry);

/* Add the history of the bench's control as facts, if the history contains another bench. */
void noise_history_facts(struct facts *facts, const struct noise_register *history,
			 const char *bench_id);

/* The row of `bench noise`; owned by the caller. */
cJSON *noise_entry_json(const struct noise_entry *entry);
