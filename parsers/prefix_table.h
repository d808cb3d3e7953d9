/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/linebuf.h"

/* Strips the prefix that a launcher prints before each line of the programs it starts:
 * "(task, pid=4100) ", "trainer-1  | ", "node17: ". The prefixes are patterns with samples, in
 * parsers/formats/prefixes.json.
 *
 * A sure prefix is stripped wherever it appears. Any other prefix may also be part of a row
 * ("loss: 3.5"), so it is stripped only if the lines of the log have it consistently. The first
 * lines with it are held back until that is known. */
struct prefix_line {
	struct segment segment; /* its text is without the prefix */
	struct str whole;	/* the text with the prefix */
	uint64_t consumed;	/* bytes of the log up to its end */
	int rank;		/* of the prefix; -1: none */
	bool is_indented;	/* the blank before the text may be part of the text */
	int64_t wall_ms;	/* time in the prefix; 0: none */
};

struct prefix_calls {
	void (*line)(void *user, const struct prefix_line *line);
	/* Does a rule match the whole text, so that it has no prefix? `is_news`: use only rules for
	 * lines that are printed once (failures, results, ends); a log may end with one. */
	bool (*is_known)(void *user, struct str text, bool is_news);
};

/* Bytes that a sure prefix starts with. */
extern unsigned char prefix_first[256];
/* A prefix that is not sure starts within the first lines of a log. */
#define PREFIX_FIRST_LINES 64

struct prefix_table {
	uint64_t n_lines;
	bool is_idle; /* no prefix is known, and no line is held back */
	bool inside;  /* the last segment did not end its line */
	struct prefix_state *state;
};

void prefix_table_init(struct prefix_table *table, const struct prefix_calls *calls, void *user);
void prefix_table_release(struct prefix_table *table);
/* Strip the prefix of a line, which is passed to prefix_calls.line now or later. False if the line
 * has no prefix: the caller reads it unchanged. */
bool prefix_table_strip(struct prefix_table *table, const struct segment *segment,
			uint64_t consumed);

/* The same, but fast for nearly all lines. */
static inline bool prefix_table_feed(struct prefix_table *table, const struct segment *segment,
				     uint64_t consumed)
{
	if (!table->is_idle || table->inside || table->n_lines < PREFIX_FIRST_LINES ||
	    (segment->text.len > 0 && prefix_first[(unsigned char)segment->text.p[0]] != 0))
		return prefix_table_strip(table, segment, consumed);
	table->inside = !segment->ends_line;
	return false;
}

/* Pass on the lines held back, at the end of the log. */
void prefix_table_finish(struct prefix_table *table);

/* Return the length of the sure prefix of the text, or 0; *rank is set if the prefix has a rank. */
size_t prefix_length(struct str text, int *rank);
