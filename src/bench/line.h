/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/* A bench defined by the options of one command line, or by the form of the dashboard. The order of
 * the words matters: a setting belongs to the arm named before it, or to all arms if none was. */
enum line_kind {
	LINE_CONTROL, /* COMMAND; of a kernel bench a local FILE that replaces its module */
	LINE_VARIANT, /* TAG=COMMAND, of a kernel bench TAG=FILE; or TAG alone: like the control */
	LINE_ENV,     /* NAME=VALUE */
	LINE_PATCH,   /* local file, for the preceding arm */
	LINE_LAUNCH,  /* NAME=VALUE of a kernel, for the preceding arm */
};

#define LINE_MAX_WORDS 256

struct line_list {
	const char *const *v;
	size_t n;
};

/* Texts that are NULL and numbers that are NAN are not given. */
struct bench_line {
	struct line_word {
		enum line_kind kind;
		const char *text;
	} words[LINE_MAX_WORDS];
	size_t n_words;
	struct line_list pods;	       /* see bench_make_pods */
	struct line_list metrics;      /* the first one decides; none: see below */
	struct line_list grid;	       /* NAME=V1,V2: one variant per combination of values */
	const char *kernel;	       /* a module on the pods; NULL: the arms are commands */
	const char *function, *task;   /* of the kernel */
	const char *name;	       /* NULL: "line" */
	const char *folder;	       /* NULL and, for local pods, ".": see bench_make_line */
	const char *prepare;	       /* shell command before each run, not part of its time */
	const char *direction;	       /* of the metric: lower, higher */
	const char *window;	       /* "LO:HI", "auto" */
	double blocks, minutes, gap_s; /* NAN: the default */
	bool no_aa;
};

/* Is the metric open?  It is step_ms then, unless the first run prints no training rows: see
 * bench_choose_metric. */
bool bench_line_has_default(const struct bench_line *line);

/* The bench.json for it; owned by the caller.  NULL with err (ERR_USAGE).  Values are checked only
 * when the result is read as a plan.  Without a folder, or with ".", commands on local pods run in
 * the current folder; on other pods they run in the home, or in a folder relative to it. */
cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf,
		       struct err *err) MUST_USE;

/* The same for the form of the dashboard (ui/form.h): an object of texts. */
cJSON *bench_make_form(const cJSON *form, const struct conf *conf, struct err *err) MUST_USE;

struct plan;
/* The form that would make such a bench; settings that the form does not have are left out.  Owned
 * by the caller; NULL: a kernel bench. */
cJSON *bench_form_of(const struct plan *plan);
