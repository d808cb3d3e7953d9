/* SPDX-License-Identifier: MIT */
/* A raw log line and the text and colors that the log view shows for it. */
#include "model/logtext.h"

#include <string.h>

#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

#define MAX_COLUMNS 300 /* which colors are requested, from the first byte */

/* Check that no byte acts on a terminal, and that all characters are complete. */
static void check_text(struct str s)
{
	while (s.len > 0) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);
		char back[4];

		MUST(cp >= 0x20 && !(cp >= 0x7f && cp < 0xa0));
		MUST(utf8_encode(cp, back) == n);
		MUST(memcmp(back, s.p, n) == 0);
		s.p += n;
		s.len -= n;
	}
}

/* Check that each style starts at a character after the previous style, and differs from it. */
static void check_runs(const struct logsgr_runs *runs, struct str text)
{
	uint32_t before = 0;
	size_t at = 0;

	MUST(runs->n <= LOGSGR_MAX_RUNS);
	for (size_t i = 0; i < runs->n; i++) {
		const struct logsgr_run *run = &runs->v[i];

		MUST(run->at >= before && run->at < text.len);
		MUST((run->look & LOGSGR_INK_MASK) < LOGSGR_INK_COUNT);
		MUST(run->look < 0x80);
		MUST(run->look != (i > 0 ? runs->v[i - 1].look : 0));
		MUST(((unsigned char)text.p[run->at] & 0xC0) != 0x80);
		before = run->at;
		while (at < text.len && at < run->at) {
			MUST(logsgr_runs_upto(runs, at) <= i);
			at++;
		}
		MUST(logsgr_runs_upto(runs, run->at) >= i + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str raw = { (const char *)data, size };
	size_t columns = size > 0 ? data[0] * MAX_COLUMNS / 255U : 0;
	struct buf visible, with, without;
	struct logsgr_runs runs;

	buf_init(&visible, size + 16);
	buf_init(&with, 32 * size + 4096);
	buf_init(&without, 32 * size + 4096);
	logsgr_runs_init(&runs);
	for (int i = 0; i < 2; i++) {
		buf_clear(&with);
		buf_clear(&without);
		logtext_show(&with, raw, columns, &runs);
		logtext_show(&without, raw, columns, NULL);
		MUST(!with.truncated && with.len == without.len);
		MUST(memcmp(with.data, without.data, with.len) == 0);
		check_text((struct str){ with.data, with.len });
		check_runs(&runs, (struct str){ with.data, with.len });
		columns = size + 1;
	}
	logtext_visible(&visible, raw);
	MUST(!visible.truncated);
	MUST(memchr(visible.data, '\033', visible.len) == NULL);
	logsgr_runs_release(&runs);
	buf_release(&visible);
	buf_release(&with);
	buf_release(&without);
	return 0;
}
