/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* Recognizes a document in Markdown or reStructuredText, in which the lines of a log are quoted:
 * in a fenced block, indented, after ">" or "-", or as a table.
 *
 * A document has headings and sentences from its first line on. Outside of fences, a line is
 * quoted only after a heading and a blank line, and unless it starts with ">", also only after a
 * sentence. Unlike a document, a log also prints other lines. */
struct document {
	enum document_state {
		DOCUMENT_START, /* no text yet */
		DOCUMENT_FRONT, /* "---" and settings, up to another "---" */
		DOCUMENT_TEXT,
		DOCUMENT_NONE, /* not a document */
	} state;
	bool has_heading, has_sentence, has_blank;
	bool is_in_sentence;   /* the last line is part of a sentence or a title */
	char fence;	       /* of the current block; NUL: none */
	unsigned int n_fenced; /* lines of that block */
};

/* Process the next line; true if the document quotes it. */
bool document_quotes(struct document *document, struct str line);
