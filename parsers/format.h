/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/marks.h"

/* Rule sets ("formats") define the meaning of the lines of a log. A set is a JSON file with the
 * schema hgym-tui.format/1 (man hgym-tui-formats); the built-in ones are compiled in. */
struct format_set;

/* The class of a line, by which the log view colors and folds it. */
enum line_class {
	LINE_PLAIN,
	LINE_METRIC, /* a rule matched it */
	LINE_SOURCE, /* a line of a training script printed into the log */
	LINE_ERROR,  /* an event that is a failure */
	LINE_WARNING,
};

/* Create the built-in sets; aborts if one is invalid. */
struct format_set *format_set_new_builtin(void);

/* Add a user's file. It replaces the built-in set of the same name; its rules are tried before all
 * others. On error returns -1 with file, line and key path in err, and leaves the set unchanged. */
int format_set_load(struct format_set *set, const char *path, struct err *err) MUST_USE;

/* The same for text in memory; file is its name in error messages. */
int format_set_load_text(struct format_set *set, const char *file, struct str text,
			 struct err *err) MUST_USE;

void format_set_free(struct format_set *set);

struct format {
	char *name;  /* owned */
	char *about; /* owned; one sentence, "" when it has none */
	bool builtin;
	struct rule *rules; /* owned */
	size_t n_rules;
};
/* Return rule set number i, in the order in which rules are tried; NULL after the last one. */
const struct format *format_set_get(const struct format_set *set, size_t i);

/* The patterns that recognize the tracks of runs. The program adds them before the first reader. */
const struct mark_set *format_set_marks(const struct format_set *set);
int format_set_add_mark(struct format_set *set, const struct mark *mark, struct err *err) MUST_USE;

/* Count and return all rules, in the order in which they are tried. */
size_t format_set_rules(const struct format_set *set);
const struct rule *format_set_rule(const struct format_set *set, size_t i);
