/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_LINE_H
#define HGYM_BENCH_LINE_H

#include <stddef.h>

#include "conf/conf.h"
#include "parsers/json.h"

/*
 * A bench that one command line describes.  Its words keep their order: a
 * setting belongs to the arm that was named before it, or to all arms where
 * none was.
 */
enum line_kind {
	LINE_CONTROL, /* COMMAND */
	LINE_VARIANT, /* TAG=COMMAND, or TAG: the control's command */
	LINE_ENV,     /* NAME=VALUE */
	LINE_PATCH,   /* a file here, of an arm */
};

#define LINE_MAX_WORDS 256
#define LINE_MAX_LIST  16

struct line_list {
	const char *v[LINE_MAX_LIST];
	size_t n;
};

struct bench_line {
	struct line_word {
		enum line_kind kind;
		const char *text;
	} words[LINE_MAX_WORDS];
	size_t n_words;
	/* "local", a pod of the configuration, or [user@]host[:port] */
	struct line_list pods;
	struct line_list metrics; /* the first decides; none: step_ms */
	const char *name;	  /* NULL: "line" */
	const char *folder; /* NULL: the home folder; of local pods, this one */
	const char *prepare;	       /* runs before each run; NULL: nothing */
	const char *window;	       /* "LO:HI", "auto"; NULL: the default */
	double blocks, minutes, gap_s; /* NAN: the default */
	bool no_aa;
};

/*
 * Its bench.json as a tree that the caller frees; NULL with err (ERR_USAGE).
 * What the plan's reader refuses is not looked at here.
 */
cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf,
		       struct err *err) __attribute__((warn_unused_result));

#endif
