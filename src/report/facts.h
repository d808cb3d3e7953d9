/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/fmt.h"

/*
 * What is known of something, as a list: made in one place, printed by many
 * (the screen: ui/panel.h).  A list is cut into sections; a section holds
 * facts, each a label with a value, or it is a table, whose cells are facts
 * too, row by row.  A number keeps its value: only a printer rounds it.
 */

/* What a value means to its reader; each printer has its own look for it. */
enum fact_style {
	FACT_PLAIN,
	FACT_DIM,  /* of little interest */
	FACT_HINT, /* what could be done */
	FACT_STRONG,
	FACT_LIVE, /* goes on */
	FACT_DONE, /* ended as it should */
	FACT_SILENT,
	FACT_WARN,
	FACT_ALARM,
	FACT_BETTER,
	FACT_WORSE,
	FACT_REFERENCE, /* what others are compared to */
	FACT_STYLE_COUNT
};

struct fact {
	const char *key;    /* of a machine's reader; static; NULL: the label */
	const char *label;  /* borrowed; "": goes on under the one before */
	enum fmt_kind kind; /* FMT_TEXT: text is the value */
	int decimals;
	enum fact_style style;
	double number;	  /* absent: unknown */
	char *text;	  /* owned; NULL: the number */
	const char *unit; /* static; "": none */
};

struct facts_column {
	const char *label; /* with its unit */
	enum fmt_kind kind;
	int decimals;
	const char *key; /* of a machine's reader; NULL: the label */
	/* On a screen of so many columns: how wide it is there (0: as its
	 * cells are), what goes first where there is no room for all (the
	 * highest; 0: never), whether it takes what is over, and which columns
	 * go before its texts are cut (those of a higher drop; 0: none). */
	int width, drop, cut_drop;
	bool grow;
};

struct facts_section {
	const char *title;	      /* borrowed; "": none */
	size_t first, n;	      /* of the list's facts */
	struct facts_column *columns; /* owned; NULL: no table */
	size_t n_columns;
	const char *beside; /* the title, at the right edge; borrowed or NULL */
	enum fact_style beside_style;
	bool is_list; /* in Markdown, whether its facts have labels or not */
};

struct facts {
	struct fact *v; /* owned */
	size_t n, cap;
	struct facts_section *sections; /* owned */
	size_t n_sections, cap_sections;
	char **kept; /* owned; see facts_keep */
	size_t n_kept, cap_kept;
};

void facts_init(struct facts *facts);
void facts_release(struct facts *facts);
/* A local list that is released where its block ends:
 *	AUTO_FACTS facts = { .n = 0 }; */
#define AUTO_FACTS __attribute__((cleanup(facts_release))) struct facts

/* What follows belongs to a section of that title, whose members may be
 * changed until the next one. */
struct facts_section *facts_section(struct facts *facts, const char *title);
/* What follows is the cells of a table, row by row; the labels are not used.
 * The columns are copied, their texts are borrowed. */
struct facts_section *facts_table(struct facts *facts, const char *title,
				  const struct facts_column *columns, size_t n_columns);

/* The fact that was added; its members may be changed until the next one. */
struct fact *facts_text(struct facts *facts, const char *label, enum fact_style style,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A number (absent: unknown) with its unit, "" for none. */
struct fact *facts_number(struct facts *facts, const char *label, enum fmt_kind kind, double number,
			  int decimals, const char *unit);
/* The number of the next cell, which its column says how to write. */
struct fact *facts_cell(struct facts *facts, double number);
/* A text that lives as long as the list, for a label or a title. */
const char *facts_keep(struct facts *facts, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The value as text, with its unit: its own text, or in out. */
#define FACT_SIZE (FMT_SIZE + 32)
const char *fact_value(const struct fact *fact, char out[FACT_SIZE]);
