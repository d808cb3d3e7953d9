/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_PAGE_H
#define HGYM_HARNESS_PAGE_H

#include <stdio.h>

#include "base/buf.h"
#include "report/out.h"

/*
 * A page about a HarnessGym run: where to, in which form, and the text of
 * the line under way.  Used by harness_print.c.
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

#endif
