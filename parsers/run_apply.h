/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/line_prefix.h"
#include "parsers/median.h"
#include "parsers/run_score.h"

/* The state of the current run: the values of its records, and values derived from them.
 * run_reader.c decides to which run a record belongs. */
struct row_time {
	double step, ms; /* absent before the first row */
};

/* What the lines until now show about a run; run_apply.c has a table of what sets each flag. */
enum run_flag {
	IS_ACTIVE = 1 << 0,	/* it has a warm-up step or a row */
	IS_STOPPED = 1 << 1,	/* it has a stop line */
	IS_PACKED = 1 << 2,	/* sizes, pre-quant or progress: training has ended */
	IS_EVALUATING = 1 << 3, /* an evaluation has started, and its result is missing */
	IS_ENDED = 1 << 4,	/* it printed that it is complete */
	IS_LEFT = 1 << 5,	/* later failures are not its own */
	IS_FATAL = 1 << 6,	/* it failed, and nothing followed */
	IS_OOM = 1 << 7,	/* it failed: out of memory */
	IS_KILLED = 1 << 8,	/* it failed: killed from outside */
	IS_NOT_FINITE = 1 << 9, /* the last loss was NaN or infinite */
};

/* The most steps that a trainer's clock may leave out, for compilation and warm-up. */
#define RUN_CLOCK_FREE_STEPS 50

struct run_state {
	struct run run;
	struct run_results results;
	uint64_t known;	   /* the current line; see struct sample */
	uint64_t own;	   /* METRIC bits of the settings that this run printed itself */
	unsigned int is;   /* bits of enum run_flag */
	bool sliding_mode; /* final_eval_mode:sliding_window */
	bool wants_sliding, wants_ttt; /* the settings announce this evaluation */
	bool evaluated;		       /* it has a result after its own settings */
	bool odd_mode;		       /* final_eval_mode with an unknown value */
	bool is_sliding;	       /* in a sliding-window evaluation */
	bool stop_has_step;
	bool survives;		   /* the next traceback is harmless */
	size_t unnamed;		   /* 1 + index of the traceback event without a text; 0: none */
	uint64_t eval_line;	   /* where the evaluation started */
	bool is_cut;		   /* the log ends inside a line */
	size_t failure;		   /* 1 + index of the event of the first failure; 0: none */
	size_t late_failure;	   /* the same for a failure after the end or the score */
	uint64_t end_line;	   /* line that reports the end of the run; 0: none */
	char *end_text;		   /* owned */
	bool row_is_last;	   /* the last row is a training row */
	bool val_open;		   /* the last validation belongs to the next row */
	enum rule_last last;	   /* which training row is the last one */
	const char *row_format;	   /* of the last training row; NULL: none */
	bool has_bpb;		   /* a validation printed BPB */
	double first_step;	   /* of the first row */
	double first_epoch, epoch; /* of the first and the last row, if they have no step */
	double row_gap;		   /* steps between the last two rows */
	struct row_counts counts;  /* of the last row */
	double val_step, val_line; /* of the last validation */
	double stop_ms;
	double artifact;     /* the last printed size */
	uint64_t packs;	     /* number of printed sizes */
	char size_label[32]; /* label of the last size */
	size_t size_label_len;
	bool seed_unclear;	     /* two seeds were printed */
	bool artifact_unclear;	     /* sizes of several artifacts were printed */
	bool clock_restarted;	     /* the training time decreased */
	struct row_time exact;	     /* the last row with exact milliseconds */
	struct row_time first_exact; /* the first such row */
	struct row_time rebuilt;     /* the last row with a time computed from tok/s */
	struct row_time interval;    /* steps and time between the last two rows */
	double tok_s_sum;
	uint64_t tok_s_n;
	struct median step_ms; /* of the printed step times */
	/* Total and step of the last bar; it counts steps if two rows without a step follow. */
	double bar_step, bar_total;
	uint64_t bar_line;
	char bar_place[16];	      /* epoch and percentage of the last row that is a bar */
	double row_step, row_total;   /* of the bar before the last row */
	bool has_steps;		      /* training rows print their step */
	char task[SERIES_NAME_BYTES]; /* task whose scores the next rows of the table continue */
};

/* Receives samples and events of a run; each may be NULL. */
struct run_sink {
	void (*sample)(void *user, const struct run *run, const struct sample *sample);
	void (*event)(void *user, const struct run *run, const struct run_event *event);
	void *user;
};

void run_state_init(struct run_state *state);
void run_state_release(struct run_state *state);

/* Apply a record of any kind, which comes from that line. */
void run_state_apply(struct run_state *state, const struct record *record,
		     const struct log_line *line, const struct run_sink *sink);

/* Is the record a BPB with an unknown label before the end of training, so not of an evaluation? */
bool run_state_is_early(const struct run_state *state, const struct record *record);

/* Called with each line after a traceback, without prefix: the exception is the event's text. */
void run_state_name_exception(struct run_state *state, uint64_t line, struct str text);

/* Update the derived values and, if `final`, the status. */
void run_state_derive(struct run_state *state, bool final);
