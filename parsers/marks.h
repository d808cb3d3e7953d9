/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/* Recognize the subject of a log, for example the competition of a run: patterns over its lines,
 * each with a weight for a name. The name with the highest sum of weights wins. */
#define MARKS_MAX    256U
#define MARKS_ENOUGH 10U /* the smallest sum of weights that recognizes a name */

struct mark {
	struct rule rule; /* its name is the name that the mark recognizes */
	char *needs;	  /* owned; a text that every match contains; NULL: none */
	size_t like;	  /* the first mark with the same text in needs */
	bool is_builtin;  /* the pattern is valid */
	bool in_source;	  /* searched in the training script in the log, not in its output */
	size_t weight;
};

/* The marks of one name are adjacent. Threads may share a set that does not change. */
struct mark_set {
	struct mark v[MARKS_MAX];
	size_t n;
	size_t most; /* the largest weight: the search ends after a line with such a mark */
	/* For each byte, the set of the marks of lines that may start with it. */
	uint64_t of_first[256][MARKS_MAX / 64];
};

void mark_release(struct mark *mark);
void mark_set_release(struct mark_set *set);
/* Take over the rule, whose pattern is not compiled yet. -1 with err if the pattern does not
 * compile, or if there are too many marks. */
int mark_set_add(struct mark_set *set, const struct mark *mark, struct err *err) MUST_USE;

/* The search in one log. */
struct marks {
	const struct mark_set *set;
	struct scanner *scanner;
	size_t source_left; /* bytes of scripts that are still searched */
	/* The number of lines that are still searched, by the kind of the rule that matched them;
	 * the last entry is for lines without a rule. Rows are alike, so a few are enough. */
	unsigned int left[RULE_KIND_COUNT + 1];
	bool found[MARKS_MAX];
};

void marks_init(struct marks *marks, const struct mark_set *set, struct scanner *scanner);
/* kind is an enum rule_kind, or RULE_KIND_COUNT for a line without a rule. */
void marks_read_line(struct marks *marks, struct str line, unsigned int kind);
/* Search whole lines of a training script. */
void marks_read_source(struct marks *marks, struct str text);
/* Return the names with the highest sum, "a,b": a single name is recognized, several names are
 * ambiguous. Returns "" if none is recognized, NULL without marks. Owned by the caller. */
char *marks_names(const struct marks *marks);
