/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/*
 * A bench that one command line describes.  Its words keep their order: a
 * setting belongs to the arm that was named before it, or to all arms where
 * none was.
 */
enum line_kind {
	LINE_CONTROL, /* COMMAND; of a kernel FILE here, instead of its own */
	LINE_VARIANT, /* TAG=COMMAND (FILE), or TAG: as the control */
	LINE_ENV,     /* NAME=VALUE */
	LINE_PATCH,   /* a file here, of an arm */
	LINE_LAUNCH,  /* NAME=VALUE of a kernel, of an arm */
};

#define LINE_MAX_WORDS 256

struct line_list {
	const char *const *v;
	size_t n;
};

struct bench_line {
	struct line_word {
		enum line_kind kind;
		const char *text;
	} words[LINE_MAX_WORDS];
	size_t n_words;
	struct line_list pods;	  /* see bench_make_pod */
	struct line_list metrics; /* the first decides; none: step_ms */
	/* NAME=V1,V2..: a variant for each combination of a kernel's settings
	 */
	struct line_list grid;
	const char *kernel;	       /* a module on the pods; NULL: commands run */
	const char *function, *task;   /* of it; NULL: the default */
	const char *name;	       /* NULL: "line" */
	const char *folder;	       /* NULL: the home folder; of local pods, this one */
	const char *prepare;	       /* runs before each run; NULL: nothing */
	const char *window;	       /* "LO:HI", "auto"; NULL: the default */
	double blocks, minutes, gap_s; /* NAN: the default */
	bool no_aa;
};

/*
 * Its bench.json as a tree that the caller frees; NULL with err (ERR_USAGE).
 * What the plan's reader refuses is not looked at here.
 */
cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf, struct err *err)
	__attribute__((warn_unused_result));
