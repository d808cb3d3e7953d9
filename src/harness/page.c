/* SPDX-License-Identifier: MIT */
/* Lines of a page about a HarnessGym run; used by harness_print and _head. */
#include "config.h"

#include "harness/page.h"

#include "base/utf8.h"

#define TEXT_MAX 8192U

struct page
page_init(FILE *stream, enum out_format format)
{
	struct page page = { .stream = stream, .format = format };

	buf_init(&page.text, TEXT_MAX);
	return page;
}

const char *
page_word(const char *text)
{
	return text != NULL && *text != '\0' ? text : "\xe2\x80\x94";
}

/* Print one line of the head from page->text and empty it. */
void
page_line(struct page *page, const char *label)
{
	struct buf clean;

	buf_init(&clean, TEXT_MAX * 3);
	utf8_sanitize(&clean, (struct str){ page->text.data, page->text.len });
	if (page->format == OUT_MD)
		(void)fprintf(page->stream, "- %s: %s\n", label, clean.data);
	else
		(void)fprintf(page->stream, "  %-14s %s\n", label, clean.data);
	buf_release(&clean);
	buf_clear(&page->text);
}

void
page_title(struct page *page)
{
	struct buf clean;

	buf_init(&clean, TEXT_MAX * 3);
	utf8_sanitize(&clean, (struct str){ page->text.data, page->text.len });
	(void)fprintf(page->stream,
		      page->format == OUT_MD ? "## %s\n\n" : "%s\n",
		      clean.data);
	buf_release(&clean);
	buf_clear(&page->text);
}
