/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/median.h"
#include "parsers/run_score.h"

/*
 * One run under way: what its records said, and what follows from them.
 * run_reader.c decides which run a record belongs to.
 */
struct row_time {
	double step, ms; /* absent before the first row */
};

/* Steps that a trainer may leave out of its clock: compiling, warm-up. */
#define RUN_CLOCK_FREE_STEPS 50

struct run_state {
	struct run run;
	struct run_results results;
	uint64_t own;		       /* settings that this run printed itself: METRIC bits */
	bool active;		       /* a warm-up step or a row was seen */
	bool sliding_mode;	       /* final_eval_mode:sliding_window */
	bool wants_sliding, wants_ttt; /* the settings name the evaluation */
	bool stopped;		       /* a stop line was seen */
	bool ended;		       /* the run said that it is complete */
	bool evaluated;		       /* a result behind its own settings */
	bool odd_mode;		       /* final_eval_mode: one that no rule knows */
	bool is_sliding;	       /* a sliding-window evaluation is under way */
	bool stop_has_step;
	bool survives;		   /* the traceback that follows ends nothing */
	size_t unnamed;		   /* its last traceback's event, from 1; 0: it is told */
	bool packed;		   /* sizes, pre-quant or progress: past the training */
	bool not_finite;	   /* the last loss was NaN or infinite */
	bool fatal, fatal_oom;	   /* a failure that nothing came after */
	bool killed;		   /* it was no failure of the run's own */
	bool left;		   /* what fails behind its end is not its own */
	bool row_is_last;	   /* the last row is one of training */
	bool val_open;		   /* a validation without a step: of the next row */
	enum rule_last last;	   /* how the last row of training is known */
	const char *row_format;	   /* of the last row of training; NULL: none */
	bool has_bpb;		   /* a validation printed BPB */
	double first_step;	   /* of the first row */
	double val_step, val_line; /* of the last validation */
	double stop_ms;
	double artifact;     /* last size that was printed of it */
	uint64_t packs;	     /* sizes that were printed of it */
	char size_label[32]; /* what it was said to be of */
	size_t size_label_len;
	bool seed_unclear;	     /* it printed two */
	bool artifact_unclear;	     /* sizes of several artifacts */
	bool clock_restarted;	     /* the training time went back */
	struct row_time exact;	     /* last row with exact milliseconds */
	struct row_time first_exact; /* the first one */
	struct row_time rebuilt;     /* last row whose time comes from tok/s */
	struct row_time interval;    /* steps and time between the last two */
	double tok_s_sum;
	uint64_t tok_s_n;
	struct median step_ms; /* of the step times as printed */
	/*
	 * The last bar: what it counts to, and how far it was.  Behind which
	 * bar two rows without a step stood, that one counts the steps.
	 */
	double bar_step, bar_total;
	uint64_t bar_line;
	double row_step, row_total;   /* of the bar before the last row */
	bool has_steps;		      /* rows of training print their step */
	char task[SERIES_NAME_BYTES]; /* whose scores the table goes on with */
};

/* Where samples and events go; may be NULL. */
struct run_sink {
	void (*sample)(void *user, const struct sample *sample);
	void (*event)(void *user, const struct run_event *event);
	void *user;
};

/* Where and when the line of a record stands. */
struct record_place {
	uint64_t line;
	int64_t wall_ms;
	struct str text; /* the whole line */
	uint64_t known;	 /* as in struct sample */
};

void run_state_init(struct run_state *state);
void run_state_release(struct run_state *state);

/* Take over what a record of any kind says. */
void run_state_apply(struct run_state *state, const struct record *record,
		     const struct record_place *place, const struct run_sink *sink);

/*
 * Take any line behind a traceback, without its prefix: the one that names the
 * exception becomes the text of the traceback's event.
 */
void run_state_exception(struct run_state *state, uint64_t line, struct str text);

/* Bring the derived values and, with `final`, the status up to date. */
void run_state_derive(struct run_state *state, bool final);

/* *out (uninitialised before) is the run as if its log ended here. */
void run_state_at_end(const struct run_state *state, struct run *out);
