/* SPDX-License-Identifier: MIT */
/* linebuf: the segments do not depend on how the bytes are divided. */
#include "parsers/linebuf.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "tests/support/tap.h"

/* Write each segment as a line "line|ends|text\n". */
static void add_segment(void *user, const struct segment *segment)
{
	struct buf *out = user;

	buf_appendf(out, "%d|%d|", (int)segment->line, segment->ends_line);
	buf_append(out, segment->text.p, segment->text.len);
	buf_append_char(out, '\n');
}

static void feed_cut(struct buf *out, struct str text, size_t cut)
{
	struct linebuf lb;

	buf_clear(out);
	linebuf_init(&lb, add_segment, out);
	linebuf_feed(&lb, text.p, cut);
	linebuf_feed(&lb, text.p + cut, text.len - cut);
	linebuf_finish(&lb);
	linebuf_release(&lb);
}

static void expect(struct str text, const char *want, const char *name)
{
	struct buf got, whole;
	size_t same = 0;

	buf_init(&got, 1 << 20);
	buf_init(&whole, 1 << 20);
	feed_cut(&whole, text, text.len);
	is_str(whole.data, want, name);
	for (size_t cut = 0; cut <= text.len; cut++) {
		feed_cut(&got, text, cut);
		same += strcmp(got.data, whole.data) == 0;
	}
	is_int((long long)same, (long long)text.len + 1, "every division gives the same segments");
	buf_release(&got);
	buf_release(&whole);
}

static void test_shapes(void)
{
	expect(STR_LIT("a\nb\n"), "1|1|a\n2|1|b\n", "two lines");
	expect(STR_LIT("a\nb"), "1|1|a\n2|1|b\n", "no newline at the end");
	expect(STR_LIT("a\r\nb\r\n"), "1|1|a\n2|1|b\n", "CR LF");
	expect(STR_LIT("1%\r2%\r3%\nx\n"), "1|0|1%\n1|0|2%\n1|1|3%\n2|1|x\n", "a progress bar");
	expect(STR_LIT("1%\r\r\nx"), "1|1|1%\n2|1|x\n", "CR CR LF");
	expect(STR_LIT("50%\r"), "1|1|50%\n", "CR at the end");
	expect(STR_LIT("\n\na\n"), "1|1|\n2|1|\n3|1|a\n", "empty lines");
	expect(STR_LIT("\x1b[32mok\x1b[0m 1\n"), "1|1|ok 1\n", "colours");
	expect(STR_LIT("\x1b]0;title\x07x\x1b]8;;u\x1b\\y\n"), "1|1|xy\n", "OSC strings");
	expect(STR_LIT("a\0b\n"), "1|1|ab\n", "NUL bytes");
	expect(STR_LIT("\xff\xfe\n"), "1|1|\xff\xfe\n", "invalid UTF-8 stays");
}

static void note_length(void *user, const struct segment *segment)
{
	*(size_t *)user = segment->text.len;
}

static void test_long_line(void)
{
	size_t len = 300000, got = 0;
	char *text = xmalloc(len + 1);
	struct linebuf lb;

	memset(text, 'x', len);
	text[len] = '\n';
	linebuf_init(&lb, note_length, &got);
	linebuf_feed(&lb, text, len + 1);
	is_int((long long)got, LINE_MAX_BYTES, "64 KiB of a line are kept");
	is_int((long long)lb.dropped_bytes, (long long)len - LINE_MAX_BYTES,
	       "the rest of the line is counted");
	got = 0;
	for (size_t i = 0; i <= len; i += 1000)
		linebuf_feed(&lb, text + i, len + 1 - i < 1000 ? len + 1 - i : 1000);
	is_int((long long)got, LINE_MAX_BYTES, "64 KiB of a line are kept if it comes in pieces");
	is_int((long long)lb.partial.room <= 2 * LINE_MAX_BYTES, 1,
	       "the memory for a line is bounded");
	linebuf_release(&lb);
	free(text);
}

/* Segments of a text, and the lines that the skip function consumed. */
struct taken {
	struct linebuf *lb;
	struct buf text;
	bool skips;
};

static void add_skipped(void *user, const struct segment *segment)
{
	struct taken *taken = user;

	buf_appendf(&taken->text, "%d @%d ", (int)segment->line, (int)taken->lb->consumed);
	buf_append(&taken->text, segment->text.p, segment->text.len);
	buf_append_char(&taken->text, '\n');
}

/* Consume the lines that start with a blank. */
static size_t skip_blank(void *user, struct str text, uint64_t *lines)
{
	struct taken *taken = user;
	size_t n = 0;

	while (taken->skips && n < text.len && text.p[n] == ' ') {
		n = (size_t)((char *)memchr(text.p + n, '\n', text.len - n) - text.p) + 1;
		(*lines)++;
	}
	return n;
}

static void feed_skipped(struct taken *taken, struct str text, size_t cut, bool skips)
{
	struct linebuf lb;

	linebuf_init(&lb, add_skipped, taken);
	lb.skip = skip_blank;
	taken->lb = &lb;
	taken->skips = skips;
	buf_clear(&taken->text);
	linebuf_feed(&lb, text.p, cut);
	linebuf_feed(&lb, text.p + cut, text.len - cut);
	linebuf_finish(&lb);
	linebuf_release(&lb);
}

/* Copy the lines of a list without those that start with a blank. */
static void drop_blank(struct buf *out, const struct buf *all)
{
	struct str rest = { all->data, all->len }, line;

	while (rest.len > 0 && str_next(&rest, '\n', &line)) {
		const char *blank = str_find(line, "  ");

		if (blank == NULL || blank[1] != ' ' ||
		    memchr(line.p, '@', (size_t)(blank - line.p)) == NULL) {
			buf_append(out, line.p, line.len);
			buf_append_char(out, '\n');
		}
	}
}

/* Consumed lines are not passed on, and do not change the numbers and positions of the other lines;
 * with any line ends and any division of the bytes. */
static void test_skip(struct str text, const char *name)
{
	struct taken taken;
	struct buf want, got;
	size_t same = 0;

	buf_init(&taken.text, 1 << 16);
	buf_init(&want, 1 << 16);
	buf_init(&got, 1 << 16);
	feed_skipped(&taken, text, text.len, false);
	drop_blank(&want, &taken.text);
	for (size_t cut = 0; cut <= text.len; cut++) {
		feed_skipped(&taken, text, cut, true);
		/* An incomplete line, or one with control characters, is always passed on. */
		buf_clear(&got);
		drop_blank(&got, &taken.text);
		same += strcmp(got.data, want.data) == 0;
	}
	is_int((long long)same, (long long)text.len + 1, name);
	ok(want.len > 20, "%s: the text has such lines", name);
	buf_release(&taken.text);
	buf_release(&want);
	buf_release(&got);
}

int main(void)
{
	test_shapes();
	test_long_line();
	test_skip(STR_LIT("one\n  a\n  b\ntwo\n\n  c\nthree\n  d\n"), "skipped lines, LF");
	test_skip(STR_LIT("one\r\n  a\r\n  b\r\ntwo\r\n\r\n  c\r\nthree"
			  "\r\n  d\r\n"),
		  "skipped lines, CR LF");
	test_skip(STR_LIT("one\r\n  a\n  b\r\ntwo\x1b[0m\r\n  c\r\r\n"
			  "th\0ree\n  d\r  e\nfour\n  f\n"),
		  "skipped lines, with all kinds of line ends");
	return tap_done();
}
