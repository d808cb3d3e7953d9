/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/*
 * Rule sets ("formats"): which lines of a log mean what.  A set is a JSON
 * file in the schema hgym-tui.format/1 (man hgym-tui-formats); the built-in
 * ones are compiled in.
 */
struct format_set;

/* What a line is, for colour and folding in a log view. */
enum line_class {
	LINE_PLAIN,
	LINE_METRIC, /* a rule took it */
	LINE_SOURCE, /* part of a training script printed into the log */
	LINE_ERROR,  /* an event of failure */
	LINE_WARNING,
};

/* The built-in sets; aborts only if the program itself is broken. */
struct format_set *format_set_new_builtin(void);

/*
 * Add a user's file: a set of the same name replaces the built-in one; its
 * rules come before all others.  -1 with file, line and key path in err, the
 * set unchanged.
 */
int format_set_load(struct format_set *set, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* The same from text that is in memory; file is only named in errors. */
int format_set_load_text(struct format_set *set, const char *file, struct str text, struct err *err)
	__attribute__((warn_unused_result));

void format_set_free(struct format_set *set);

/* A set.  Set number i, in the order in which their rules are tried; NULL
 * behind the last one. */
struct format {
	char *name;  /* owned */
	char *about; /* owned; one sentence, "" when it has none */
	bool builtin;
	struct rule *rules; /* owned */
	size_t n_rules;
};
const struct format *format_set_get(const struct format_set *set, size_t i);

/* All rules, in the order in which they are tried. */
size_t format_set_rules(const struct format_set *set);
const struct rule *format_set_rule(const struct format_set *set, size_t i);
