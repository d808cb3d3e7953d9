/* SPDX-License-Identifier: MIT */
#pragma once

#include "report/fmt.h"

/* A list of facts, which several printers print (for the screen: ui/panel.h).  A list has sections.
 * A section contains facts, each a label with a value, or a table, whose cells are facts, row by
 * row.  A fact keeps the exact value of a number; only printers round it. */

/* The role of a value; each printer has its own style for it. */
enum fact_style {
	FACT_PLAIN,
	FACT_DIM,  /* of little interest */
	FACT_HINT, /* a possible action */
	FACT_STRONG,
	FACT_LIVE, /* in progress */
	FACT_DONE, /* ended as expected */
	FACT_SILENT,
	FACT_WARN,
	FACT_ALARM,
	FACT_BETTER,
	FACT_WORSE,
	FACT_REFERENCE, /* the reference that others are compared with */
	FACT_STYLE_COUNT
};

struct fact {
	const char *key;    /* key for machine-readable output; static; NULL: the label */
	const char *label;  /* borrowed; "": continues the previous fact */
	enum fmt_kind kind; /* FMT_TEXT: the value is text */
	int decimals;
	enum fact_style style;
	double number;	  /* absent: unknown */
	char *text;	  /* owned; NULL: use the number */
	const char *unit; /* static; "": none */
};

struct facts_column {
	const char *label; /* including its unit */
	enum fmt_kind kind;
	int decimals;
	const char *key; /* key for machine-readable output; NULL: the label */
	/* Layout on a screen of limited width. */
	int width;    /* fixed; 0: what its cells need */
	int drop;     /* columns are dropped in this order, highest first; 0: never */
	int cut_drop; /* columns with a higher drop are dropped before its texts are cut; 0: none */
	bool grow;    /* gets the remaining width */
};

struct facts_section {
	const char *title;	      /* borrowed; "": none */
	size_t first, n;	      /* index into the list's facts */
	struct facts_column *columns; /* owned; NULL: not a table */
	size_t n_columns;
	const char *beside; /* right-aligned text next to the title; borrowed or NULL */
	enum fact_style beside_style;
	bool is_list; /* print it as a list in Markdown, even if its facts have no labels */
};

struct facts {
	struct fact *v; /* owned */
	size_t n, cap;
	struct facts_section *sections; /* owned */
	size_t n_sections, cap_sections;
	char **kept; /* owned; see facts_keep */
	size_t n_kept, cap_kept;
};

void facts_release(struct facts *facts);
/* A local list that is released at the end of its block: AUTO_FACTS facts = { .n = 0 }; */
#define AUTO_FACTS __attribute__((cleanup(facts_release))) struct facts

/* Start a section with that title; its members may be changed until the next one. */
struct facts_section *facts_section(struct facts *facts, const char *title);
/* Start a table; the next facts are its cells, without labels. Copies columns, borrows texts. */
struct facts_section *facts_table(struct facts *facts, const char *title,
				  const struct facts_column *columns, size_t n_columns);

/* Add a text.  The members of the fact may be changed until the next one is added. */
struct fact *facts_text(struct facts *facts, const char *label, enum fact_style style,
			const char *fmt, ...) LIKE_PRINTF(4, 5);
/* Add a number (absent: unknown) with its unit, "" for none. */
struct fact *facts_number(struct facts *facts, const char *label, enum fmt_kind kind, double number,
			  int decimals, const char *unit);
/* Add the number of the next cell of a table, in the format of its column. */
struct fact *facts_cell(struct facts *facts, double number);
/* Keep a text as long as the list, for a label or a title. */
const char *facts_keep(struct facts *facts, const char *fmt, ...) LIKE_PRINTF(2, 3);

/* The value as text, with its unit: its own text, or formatted into out. */
#define FACT_SIZE (FMT_SIZE + 32)
const char *fact_value(const struct fact *fact, char out[FACT_SIZE]);
