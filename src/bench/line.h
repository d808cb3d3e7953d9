/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/* A bench defined by the options of one command line, or by the form of the dashboard. The order of
 * the words matters: a setting belongs to the arm named before it; before the first arm, to all
 * arms.  In a kernel bench a local FILE that replaces the module takes the place of COMMAND. */
enum line_kind {
	LINE_CONTROL, /* COMMAND */
	LINE_VARIANT, /* TAG=COMMAND, or TAG alone for an arm with the control's command */
	LINE_ENV,     /* NAME=VALUE */
	LINE_PATCH,   /* local file, for the preceding arm */
	LINE_LAUNCH,  /* NAME=VALUE of a kernel, for the preceding arm */
};

#define LINE_MAX_WORDS 256

struct line_list {
	const char *const *v;
	size_t n;
};

/* The options of the line: NULL and NAN for those that are not given. */
struct bench_line {
	struct line_word {
		enum line_kind kind;
		const char *text;
	} words[LINE_MAX_WORDS];
	size_t n_words;
	struct line_list pods;	       /* see bench_make_pods */
	struct line_list metrics;      /* the first one decides; none: the default */
	struct line_list grid;	       /* NAME=V1,V2: one variant per combination of values */
	const char *kernel;	       /* a module on the pods; NULL: the arms are commands */
	const char *function, *task;   /* of the kernel */
	const char *name;	       /* NULL: "line" */
	const char *folder;	       /* where commands run; see bench_make_line */
	const char *prepare;	       /* shell command before each run, not part of its time */
	const char *direction;	       /* of the metric: lower, higher */
	const char *window;	       /* "LO:HI", "auto" */
	double blocks, minutes, gap_s; /* NAN: the default */
	bool no_aa;
};

/* Is the metric left open?  Then it is step_ms, or else bench_find_number()'s. */
bool bench_line_has_default(const struct bench_line *line);

/* Make the bench.json of a line; owned by the caller.  NULL with err (ERR_USAGE).  Values are
 * checked only when the result is read as a plan.  Commands on local pods run in the current folder
 * if the folder is "." or not given.  Any other folder is relative to the home, the default. */
cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf,
		       struct err *err) MUST_USE;

/* The same for the form of the dashboard (ui/form.h): an object of texts. */
cJSON *bench_make_form(const cJSON *form, const struct conf *conf, struct err *err) MUST_USE;

struct plan;
/* Return the form of the same bench as far as forms go, owned; NULL for a kernel bench. */
cJSON *bench_form_of(const struct plan *plan);
