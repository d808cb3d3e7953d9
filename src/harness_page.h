/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_HARNESS_PAGE_H
#define HGYM_SRC_HARNESS_PAGE_H

#include <stdio.h>

#include "base/buf.h"
#include "out.h"
#include "parsers/harness_run.h"

/*
 * A page about a HarnessGym run: where to, in which form, and the text of
 * the line under way.  Shared by harness_head.c and harness_print.c.
 */
struct page {
	FILE *stream;
	enum out_format format;
	struct buf text;
};

/* Release page.text with buf_release. */
struct page page_init(FILE *stream, enum out_format format);
/* Print page->text, made harmless, as a line behind label; empties it. */
void page_line(struct page *page, const char *label);
/* The same as the page's title. */
void page_title(struct page *page);

/* The text, or a dash for none. */
const char *page_word(const char *text);
void page_add_number(struct buf *text, double value);
/* "8 s", "1.1 s", "8m", "8m05s", "1h20m". */
void page_add_duration(struct buf *text, double seconds);

/* Everything of a run but its table of iterations. */
void harness_print_head(struct page *page, const struct harness_workspace *ws,
			const struct harness_run *run);

#endif
