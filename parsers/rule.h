/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"
#include "parsers/run.h"
#include "parsers/steps.h"

/* What a line is; the `kind` of a rule. */
#define RULE_KIND_LIST(X)                                                    \
	X(TRAIN, "train", "a row of training")                               \
	X(VAL, "val", "a validation during training")                        \
	X(WARMUP, "warmup", "a step that does not train: the run has begun") \
	X(STOP, "stop", "training stopped on purpose")                       \
	X(RESULT, "result", "an evaluation after training")                  \
	X(SIZE, "size", "sizes in bytes")                                    \
	X(SETTING, "setting", "what the run was started with")               \
	X(PROGRESS, "progress", "an evaluation under way; never a result")   \
	X(EVENT, "event", "something happened: a failure, a warning")        \
	X(END, "end", "the run says that it is complete")                    \
	X(STEP, "step", "how far it is, where it counts to the run's plan")  \
	X(SCORE, "score", "one figure of an evaluation, under its own name") \
	X(IGNORE, "ignore", "known, and of no use")

enum rule_kind {
#define X(id, name, what) RULE_##id,
	RULE_KIND_LIST(X)
#undef X
		RULE_KIND_COUNT
};

/* Which evaluation a result is; the `stage` of a rule. */
#define RULE_STAGE_LIST(X)        \
	X(UNKNOWN, "unknown")     \
	X(OTHER, "other")         \
	X(PREQUANT, "preq")       \
	X(ROUNDTRIP, "roundtrip") \
	X(SLIDING, "sliding")     \
	X(TTT, "ttt")             \
	X(FINAL, "final")

enum rule_stage {
#define X(id, name) STAGE_##id,
	RULE_STAGE_LIST(X)
#undef X
		STAGE_COUNT
};

/* Which row of training is the last one; the `last` of a rule. */
#define RULE_LAST_LIST(X)               \
	X(PLAN_AND_VAL, "plan_and_val") \
	X(PLAN, "plan")                 \
	X(BEFORE_PLAN, "before_plan")   \
	X(VAL, "val")

enum rule_last {
#define X(id, name) LAST_##id,
	RULE_LAST_LIST(X)
#undef X
};

/* Their names, ended by NULL. */
extern const char *const rule_kind_names[], *const rule_stage_names[], *const rule_last_names[];

#define RULE_MAX_GROUPS STEPS_MAX_NUMBERS

/* A named group: its number, the metric it gives and the factor. */
struct rule_group {
	uint32_t number;
	enum metric metric;
	double scale;
};

/* What a printed name stands for in the lines of a rule. */
struct rule_name {
	char *printed;	    /* owned */
	enum metric metric; /* METRIC_COUNT: nothing but itself */
	double scale;	    /* to the metric's unit */
	bool skip;	    /* no series at all: "v_num" */
};

/* One pattern of a format; compiled once, shared read-only. */
struct rule {
	char *name;	    /* owned */
	const char *format; /* borrowed: the name of its format */
	char *pattern;	    /* owned */
	char *needs;	    /* owned; a literal every match contains, or NULL */
	size_t needs_len;
	enum rule_kind kind;
	enum rule_stage stage;	   /* of a result */
	enum run_event_kind event; /* of an event */
	bool fatal;		   /* an event that ends the run */
	enum rule_last last;	   /* of a row: how the last one is known */
	bool any_rank;		   /* rows may come from any one rank, not only the first */
	bool rounded;		   /* a validation's figure may be another's, rounded */
	pcre2_code *code;	   /* owned */
	atomic_int *jit;	   /* owned; see rule_has_jit */
	uint32_t stage_group, text_group, mode_group; /* 0: none */
	size_t n_groups;
	struct rule_group groups[RULE_MAX_GROUPS];
	/*
	 * Beside its groups, all named numbers of the line are read (pairs.h):
	 * each is a series under its printed name, and what `names` or, for
	 * those not in it, meaning.h says of it.  Of a rule with "pairs" or
	 * "names".
	 */
	bool pairs;
	struct rule_name *names; /* owned */
	size_t n_names;
	/* For lines that PCRE2 need not look at. */
	unsigned char first[32]; /* bitmap: bytes a match may begin with */
	struct steps steps;
};

/*
 * What a word of a rule names: a metric ("train_loss"), in another unit with
 * its factor in *scale ("step_s"), or METRIC_COUNT for nothing that is known.
 */
enum metric rule_metric(const char *word, double *scale);

/* Compile the pattern of *rule, of which it is given with name, needs and the
 * kinds; -1 with a sentence in err. */
int rule_compile(struct rule *rule, struct err *err) __attribute__((warn_unused_result));
void rule_release(struct rule *rule);

/*
 * Whether the rule's code is for pcre2_jit_match.  The first that asks, of
 * any thread, has it compiled: most rules of a program are never needed.
 */
bool rule_has_jit(const struct rule *rule);

/* What one line said.  Values are valid where their bit is in `present`. */
struct record {
	const struct rule *rule;
	uint64_t present; /* bit 1 << enum metric */
	double values[METRIC_COUNT];
	struct str stage, text, mode; /* borrowed from the line; p NULL: none */
	/* The named numbers of a row, that are no counters; borrowed. */
	size_t n_pairs;
	const struct record_pair *pairs;
	/*
	 * NULL, or of many records whose pairs differ in their values alone:
	 * each has another name, and each metric is of one of them.
	 */
	struct record_memo *memo;
};

/* Which of a run's series the pairs are. */
struct record_memo {
	unsigned int runs;	  /* 1 + number of that run; 0: not known */
	unsigned char series[48]; /* as many as PAIRS_MAX */
};

struct record_pair {
	struct str name, unit; /* as printed */
	double value;	       /* as printed */
	enum metric metric;    /* METRIC_COUNT: a series of its own */
	double scale;	       /* to the metric's unit */
};

static inline bool record_has(const struct record *record, enum metric m)
{
	return record->present >> m & 1;
}

/* The value, or RUN_ABSENT. */
static inline double record_get(const struct record *record, enum metric m)
{
	return record_has(record, m) ? record->values[m] : RUN_ABSENT;
}

_Static_assert(METRIC_COUNT <= 64, "a record has 64 bits of presence");
