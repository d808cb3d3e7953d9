/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"
#include "parsers/run.h"
#include "parsers/steps.h"

/* The meaning of a line; the `kind` of a rule. */
#define RULE_KIND_LIST(X)                                                        \
	X(TRAIN, "train", "a row of training")                                   \
	X(VAL, "val", "a validation during training")                            \
	X(WARMUP, "warmup", "a step that does not train; the run has started")   \
	X(STOP, "stop", "training stopped on purpose")                           \
	X(RESULT, "result", "result of an evaluation after training")            \
	X(SIZE, "size", "sizes in bytes")                                        \
	X(SETTING, "setting", "a setting of the run")                            \
	X(PROGRESS, "progress", "progress of an evaluation; never a result")     \
	X(EVENT, "event", "a failure, a warning or another event")               \
	X(END, "end", "the run is complete")                                     \
	X(STEP, "step", "progress towards the planned number of steps")          \
	X(SCORE, "score", "one figure of an evaluation, under its printed name") \
	X(IGNORE, "ignore", "a known line that is not needed")

#define RULE_KIND_ID(id, name, what) RULE_##id,
enum rule_kind { RULE_KIND_LIST(RULE_KIND_ID) RULE_KIND_COUNT };

/* The evaluation that a result comes from; the `stage` of a rule. */
#define RULE_STAGE_LIST(X)        \
	X(UNKNOWN, "unknown")     \
	X(OTHER, "other")         \
	X(PREQUANT, "preq")       \
	X(ROUNDTRIP, "roundtrip") \
	X(SLIDING, "sliding")     \
	X(TTT, "ttt")             \
	X(FINAL, "final")

#define RULE_STAGE_ID(id, name) STAGE_##id,
enum rule_stage { RULE_STAGE_LIST(RULE_STAGE_ID) STAGE_COUNT };

/* The condition for the last training row; the `last` of a rule. */
#define RULE_LAST_LIST(X)               \
	X(PLAN_AND_VAL, "plan_and_val") \
	X(PLAN, "plan")                 \
	X(BEFORE_PLAN, "before_plan")   \
	X(VAL, "val")

#define RULE_LAST_ID(id, name) LAST_##id,
enum rule_last { RULE_LAST_LIST(RULE_LAST_ID) };

/* The names of all values; each list ends with NULL. */
extern const char *const rule_kind_names[], *const rule_stage_names[], *const rule_last_names[];

#define RULE_MAX_GROUPS STEPS_MAX_NUMBERS

/* A named group: its number, its metric, and the factor to the metric's unit. */
struct rule_group {
	uint32_t number;
	enum metric metric;
	double scale;
};

/* The meaning of a printed name in the lines of a rule. */
struct rule_name {
	char *printed;	    /* owned */
	enum metric metric; /* METRIC_COUNT: no metric, only a series */
	double scale;	    /* to the metric's unit */
	bool skip;	    /* ignore it, for example "v_num" */
};

/* One pattern of a format. It is compiled once, and threads share it read-only. */
struct rule {
	char *name;	    /* owned */
	const char *format; /* borrowed: the name of its format */
	char *pattern;	    /* owned */
	char **needs;	    /* owned; texts of which every match contains one */
	size_t n_needs;
	enum rule_kind kind;
	enum rule_stage stage;	   /* of a result */
	enum run_event_kind event; /* of an event */
	bool fatal;		   /* an event that ends the run */
	bool launcher;		   /* a launcher reports it, perhaps after a complete run */
	enum rule_last last;	   /* of a row: which row is the last */
	bool any_rank;		   /* rows may come from any single rank, not only from the first */
	bool cumulative;	   /* tok_s or the time of an end covers the whole training */
	bool rounded;		   /* a validation may repeat an earlier figure, rounded */
	struct rule_code *code;	   /* owned; see rule_code */
	uint32_t stage_group, text_group, mode_group; /* 0: none */
	size_t n_groups;
	struct rule_group groups[RULE_MAX_GROUPS];
	/* With "pairs" or "names", all named numbers of the line are series as well (pairs.h),
	 * under their printed names; `names` or meaning.h gives the metrics. */
	bool pairs;
	struct rule_name *names; /* owned */
	size_t n_names;
	/* For rejecting a line without PCRE2. */
	unsigned char first[32]; /* bitmap of the bytes that a match may start with */
	struct steps steps;
};

/* Find the metric that a word in a rule names: "train_loss", or "step_s" in another unit, whose
 * factor is stored in *scale. METRIC_COUNT if the word is unknown. */
enum metric rule_metric(const char *word, double *scale);

/* Prepare rule->pattern; the other keys of the rule are set already. -1 with a message in err if
 * the pattern is invalid. Built-in patterns are valid, and compiled when they are first needed. */
int rule_compile(struct rule *rule, bool is_builtin, struct err *err) MUST_USE;
void rule_release(struct rule *rule);

/* Return the compiled pattern. The first call compiles it, since most rules of a program are never
 * used. *has_jit: pcre2_jit_match can run it. */
const pcre2_code *rule_code(const struct rule *rule, bool *has_jit);

/* The values found in one line. A value is valid if its bit is set in `present`. */
struct record {
	const struct rule *rule;
	uint64_t present; /* bit 1 << enum metric */
	double values[METRIC_COUNT];
	struct str stage, text, mode; /* borrowed from the line; p NULL: none */
	/* The named numbers of a row, except counters; borrowed. */
	size_t n_pairs;
	const struct record_pair *pairs;
	/* Set for records of one shape, whose pairs differ only in their values: no two pairs have
	 * the same name, and no two the same metric. */
	struct record_memo *memo;
};

/* The series of a run that each pair belongs to. */
struct record_memo {
	unsigned int runs;	  /* 1 + number of the run; 0: not known */
	unsigned char series[48]; /* PAIRS_MAX of them */
};

struct record_pair {
	struct str name, unit; /* as printed */
	double value;	       /* as printed */
	enum metric metric;    /* METRIC_COUNT: no metric, only a series */
	double scale;	       /* to the metric's unit */
};

/* A counter and its total; absent if not printed. */
struct row_count {
	double value, total;
	double gap;	  /* between its last two values; 0: unknown */
	bool has_zero;	  /* it has been 0 */
	bool from_one;	  /* its first value was 1 */
	bool may_restart; /* its total may be that of an epoch: "[300/500] loss 2.1" */
};

/* The epoch of a row, and the counter within it. */
struct row_counts {
	struct row_count epoch, unit;
};

static inline bool record_has(const struct record *record, enum metric m)
{
	return record->present >> m & 1;
}

static inline void record_set(struct record *record, enum metric m, double value)
{
	record->present |= (uint64_t)1 << m;
	record->values[m] = value;
}

/* Return the value, or RUN_ABSENT. */
static inline double record_get(const struct record *record, enum metric m)
{
	return record_has(record, m) ? record->values[m] : RUN_ABSENT;
}

_Static_assert(METRIC_COUNT <= 64, "a record has 64 bits of presence");
