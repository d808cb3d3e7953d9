/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* Recognize what a log is of, for example the competition of a run: patterns over its lines, each
 * with a weight for a name. The name with the highest sum of weights wins. */
struct mark_set;

#define MARKS_MAX      256U
#define MARK_NAMES_MAX 64U
#define MARKS_ENOUGH   10U /* the smallest sum of weights that recognizes a name */

/* A pattern as a user writes it; borrowed. */
struct mark_text {
	const char *match; /* PCRE2 */
	const char *needs; /* a literal that every match contains; NULL: none */
	bool in_source;	   /* over the training script in the log, not over its output */
	unsigned int weight;
};

struct mark_set *mark_set_new(void);
void mark_set_free(struct mark_set *set);
/* -1 with err if the pattern does not compile, or if there are too many. */
int mark_set_add(struct mark_set *set, const char *name, const struct mark_text *mark,
		 struct err *err) __attribute__((warn_unused_result));

/* What was found in one log. The set (NULL: nothing is ever found) must outlive it and not change;
 * threads may share it. */
struct marks *marks_new(const struct mark_set *set);
void marks_free(struct marks *marks);
void marks_reset(struct marks *marks);
void marks_read_line(struct marks *marks, struct str line);
/* Whole lines of a training script. */
void marks_read_source(struct marks *marks, struct str text);
/* The names with the highest sum, "a,b": one is recognized, several cannot be told apart. "" if
 * none is recognized, NULL without patterns. The caller owns it. */
char *marks_names(const struct marks *marks);
