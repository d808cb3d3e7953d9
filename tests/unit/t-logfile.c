/* SPDX-License-Identifier: MIT */
/* Logs by position: lines, numbers, search, growth, truncation; the end of a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/logclass.h"
#include "model/logfile.h"
#include "model/logtext.h"
#include "ui/logsrc.h"

#include "tests/support/tap.h"

#define LATE INT64_MAX

static char path[] = "/tmp/t-logfile-XXXXXX";

static void write_file(const char *mode, int from, int to)
{
	FILE *file = fopen(path, mode);

	for (int i = from; i < to; i++)
		(void)fprintf(file, "line %d of the file\n", i);
	(void)fclose(file);
}

static void is_line(struct logfile *file, uint64_t place, const char *want, const char *name)
{
	struct buf line;

	buf_init(&line, 4096);
	logfile_read(file, place, &line);
	is_str(line.data, want, name);
	buf_release(&line);
}

static void test_places(struct logfile *file)
{
	uint64_t place = 0, back;
	bool same = true, all;
	int n = 0;

	while (place < logfile_size(file)) {
		uint64_t next = logfile_next(file, place);

		same = same && logfile_line_start(file, next - 1) == place;
		back = logfile_prev(file, next);
		same = same && back == place;
		place = next;
		n++;
	}
	is_int(n, 60000, "every line is found, forward");
	ok(same, "every line is found, backward");
	place = logfile_prev(file, logfile_size(file));
	is_line(file, place, "line 59999 of the file", "the last one immediately");
	is_int((long long)logfile_number(file, place), 0,
	       "the number of a line is unknown before counting");
	while (logfile_count(file, 100000))
		;
	is_int((long long)logfile_number(file, place), 60000,
	       "the number of a line is known after counting");
	is_int((long long)logfile_lines(file, &all), 60000, "all lines are counted");
	ok(all, "the count is reported as complete");
	ok(logfile_place(file, 60000) == place && logfile_place(file, 1) == 0,
	   "a line number gives its position");
	ok(logfile_place(file, 99999) == logfile_size(file), "no hit after the last one");
}

/* Search the file as the log view does. */
static int search(const char *name, const struct pattern *pattern, bool forward, int64_t until_ms,
		  uint64_t *place)
{
	struct model model;
	struct model_log *log;
	struct logsrc src;
	int found;

	model_init(&model);
	log = model_log_get(&model, 0, name);
	model_log_set_file(log, name);
	logsrc_init(&src);
	logsrc_open(&src, &model, log);
	found = logsrc_search(&src, pattern, forward, until_ms, place);
	logsrc_release(&src);
	model_release(&model);
	return found;
}

static void test_search(struct logfile *file)
{
	struct err err = { ERR_NONE, "" };
	struct pattern *pattern = pattern_new("LINE 3[0-9]{4} of", &err);
	uint64_t place = 0;

	is_int(search(path, pattern, true, LATE, &place), 0,
	       "a pattern with capitals is "
	       "case-sensitive");
	pattern_free(pattern);
	pattern = pattern_new("line 3[0-9]{4} of", &err);
	place = 0;
	is_int(search(path, pattern, true, LATE, &place), 1, "a hit below is found");
	is_line(file, place, "line 30000 of the file", "the first one");
	place = logfile_size(file);
	is_int(search(path, pattern, false, LATE, &place), 1, "a hit above is found");
	is_line(file, place, "line 39999 of the file", "the last one");
	place = 0;
	is_int(search(path, pattern, true, 0, &place), 2, "a search stops when its time is up");
	ok(place > 1000 && place < 100000 && logfile_line_start(file, place) == place,
	   "a search can continue from there");
	place = logfile_place(file, 30001);
	is_int(search(path, pattern, true, 0, &place), 1,
	       "a forward search includes the current line");
	is_line(file, place, "line 30000 of the file", "the current line is the hit");
	is_int(search(path, pattern, false, LATE, &place), 0,
	       "a backward search excludes the current line");
	pattern_free(pattern);
	ok(pattern_new("(", &err) == NULL, "an invalid pattern is rejected: %s", err.text);
	pattern = pattern_new("(a+)+$", &err);
	place = 0;
	is_int(search(path, pattern, true, LATE, &place), 0, "a bad pattern does not hang");
	pattern_free(pattern);
}

static void test_growth(struct logfile *file)
{
	uint64_t size = logfile_size(file);

	ok(!logfile_refresh(file), "an unchanged log has nothing new");
	write_file("a", 60000, 60002);
	ok(logfile_refresh(file) && logfile_size(file) > size, "a log that grew has changed");
	is_line(file, size, "line 60000 of the file", "by these lines");
	write_file("w", 7, 8);
	ok(logfile_refresh(file), "a truncated log has changed");
	is_line(file, 0, "line 7 of the file", "the truncated file has other lines");
	is_line(file, 99999, "", "after the end there is nothing");
	is_int((long long)logfile_life(file), 1, "old positions of a truncated log are invalid");
	write_file("w", 800, 90000);
	ok(logfile_refresh(file), "a log that was rewritten longer has changed");
	is_int((long long)logfile_life(file), 2, "a rewritten log is detected");
}

static void write_text(const char *text, size_t len)
{
	FILE *out = fopen(path, "w");

	(void)fwrite(text, 1, len, out);
	(void)fclose(out);
}

/* The matching lines of the file, one line per block, as "position position ..". */
static void sweep(const char *regex, bool invert, bool forward, struct buf *out)
{
	struct pattern *pattern = pattern_new(regex, NULL);
	struct logfile_filter filter = { pattern, invert, 1 };
	struct logfile *file = logfile_open(path, NULL);
	struct logfile_hits hits = { NULL, 0, 0 };
	uint64_t place = forward ? 0 : logfile_size(file);

	while (logfile_sweep(file, &filter, forward, &place, &hits))
		filter.block_bytes = 1;
	for (size_t i = 0; i < hits.n; i++)
		buf_appendf(out, "%llu ", (unsigned long long)hits.v[forward ? i : hits.n - 1 - i]);
	free(hits.v);
	logfile_close(file);
	pattern_free(pattern);
}

static void is_sweep(const char *regex, bool invert, const char *want)
{
	struct buf got;

	for (int forward = 0; forward < 2; forward++) {
		buf_init(&got, 4096);
		sweep(regex, invert, forward, &got);
		ok(strcmp(got.data, want) == 0, "%s%s, %s: %s", invert ? "not " : "", regex,
		   forward ? "forward" : "backward", got.data);
		buf_release(&got);
	}
}

/* Matching applies to the visible text, in every way of searching. */
static void test_sweep(void)
{
	static const char text[] = "alpha\n"			   /* 0 */
				   "beta gamma\r\n"		   /* 6 */
				   "\n"				   /* 18 */
				   "10%\r50%\r\033[1mdo\033[mne\n" /* 19 */
				   "delta";			   /* 39 */
	static const char plain[] = "ab\nb\n\nzab\nbz\n";

	write_text(text, sizeof(text) - 1);
	is_sweep("gamma$", false, "6 ");
	is_sweep("^done$", false, "19 ");
	is_sweep("50%", false, "");
	is_sweep("^$", false, "18 ");
	is_sweep("a$", true, "18 19 ");
	is_sweep("A", false, "");
	is_sweep("(?<!m)a$", false, "0 39 ");
	write_text(plain, sizeof(plain) - 1);
	is_sweep("ab", false, "0 6 ");
	is_sweep("b\\s+b", false, "");
	is_sweep("[^x]*\\sz", false, "");
	is_sweep("^b", false, "3 10 ");
	is_sweep("b$", true, "5 10 ");
	is_sweep("\\s*", false, "0 3 5 6 10 ");
	is_sweep("b++$", false, "0 3 6 ");
	is_sweep("\\Aab\\z", false, "0 ");
}

/* Lines of more than a megabyte are split at the same positions in both directions. */
static void test_long(void)
{
	struct pattern *pattern = pattern_new("needle", NULL);
	FILE *out = fopen(path, "w");
	struct logfile *file;
	uint64_t place = 0, n = 0;
	bool same = true;

	(void)fprintf(out, "first\n");
	for (int i = 0; i < 500000; i++)
		(void)fprintf(out, "%09d ", i);
	(void)fprintf(out, "needle\nlast\n");
	(void)fclose(out);
	file = logfile_open(path, NULL);
	while (logfile_count(file, 1U << 20))
		;
	while (place < logfile_size(file)) {
		uint64_t next = logfile_next(file, place);

		same = same && logfile_prev(file, next) == place &&
		       logfile_line_start(file, (place + next) / 2) == place;
		n += !logfile_is_part(file, place);
		place = next;
	}
	ok(same, "a line of 5 MB is split at the same positions in both directions");
	is_int((long long)n, 3, "the parts are one line");
	place = logfile_prev(file, logfile_size(file));
	is_int((long long)logfile_number(file, place), 3, "the parts have one line number");
	ok(logfile_place(file, 3) == place, "a number gives the position of a split line");
	is_int(search(path, pattern, false, LATE, &place), 1,
	       "the end of a split line is searched");
	ok(place > 4000000 && logfile_line_start(file, place) == place,
	   "the hit is the part that contains the match");
	logfile_close(file);
	pattern_free(pattern);
}

static unsigned int draw(unsigned int *state, unsigned int below)
{
	*state = *state * 1103515245U + 12345U;
	return (*state >> 16) % below;
}

/* Numbers of positions in any order equal those from counting. */
static void test_numbers(void)
{
	static uint64_t places[3000];
	FILE *out = fopen(path, "w");
	unsigned int state = 7;
	struct logfile *file;
	size_t wrong = 0;

	for (size_t i = 0; i < 3000; i++) {
		places[i] = (uint64_t)ftell(out);
		(void)fprintf(out, "%*d\n", i % 7 == 0 ? 9000 : 1, 1);
	}
	(void)fclose(out);
	file = logfile_open(path, NULL);
	while (logfile_count(file, 1U << 20))
		;
	for (int i = 0; i < 3000; i++) {
		size_t far = draw(&state, 3000), near = far + draw(&state, 9);

		near = near < 3000 ? near : far;
		wrong += logfile_number(file, places[far]) != far + 1;
		wrong += logfile_number(file, places[near]) != near + 1;
		wrong += logfile_number(file, places[far]) != far + 1;
		wrong += logfile_place(file, far + 1) != places[far];
	}
	is_int((long long)wrong, 0, "positions requested in any order");
	ok(truncate(path, (off_t)places[500]) == 0 && logfile_refresh(file),
	   "the log is truncated");
	while (logfile_count(file, 1U << 20))
		;
	is_int((long long)logfile_number(file, places[400]), 401,
	       "numbers of the remaining lines after a truncation");
	logfile_close(file);
}

/* Lines that start at a boundary of the counted blocks, in a log that grows up to it. */
static void test_number_edges(void)
{
	const uint64_t lines = 3U << 12; /* 64 bytes each: three blocks */
	struct logfile *file;
	size_t wrong = 0;
	FILE *out = fopen(path, "w");

	for (uint64_t i = 0; i < lines / 3; i++)
		(void)fprintf(out, "%063d\n", (int)i);
	(void)fclose(out);
	file = logfile_open(path, NULL);
	while (logfile_count(file, 1000))
		;
	is_int((long long)logfile_number(file, lines / 3 * 64), (long long)lines / 3 + 1,
	       "the next line has its number");
	out = fopen(path, "a");
	for (uint64_t i = lines / 3; i < lines; i++)
		(void)fprintf(out, "%063d\n", (int)i);
	(void)fclose(out);
	ok(logfile_refresh(file), "the log grows");
	while (logfile_count(file, 1000))
		;
	for (uint64_t i = 0; i < lines; i++) {
		wrong += logfile_number(file, i * 64) != i + 1;
		wrong += logfile_place(file, i + 1) != i * 64;
	}
	is_int((long long)wrong, 0, "each position has its number, and each number its position");
	is_int((long long)logfile_place(file, lines + 1), (long long)lines * 64,
	       "the number after the last line gives the end");
	is_int((long long)logfile_place(file, lines + 2), (long long)lines * 64,
	       "the number of a line that does not exist gives the end");
	logfile_close(file);
}

static void shows(const char *raw, size_t len, size_t columns, const char *want)
{
	struct buf out;

	buf_init(&out, 4096);
	logtext_show(&out, (struct str){ raw, len }, columns, NULL);
	is_str(out.data, want, want);
	buf_release(&out);
}

#define SHOWS(raw, columns, want) shows(raw, sizeof(raw) - 1, columns, want)

static void test_text(void)
{
	static char ends[3000];

	SHOWS("a\tb\tlonger text\tc", 80, "a       b       longer text     c");
	SHOWS("\033[31mred\033[0m\tx", 80, "red     x");
	SHOWS("\xE6\x97\xA5\tx", 80, "\xE6\x97\xA5      x");
	SHOWS("10%\r20%\r30%\r", 80, "30%");
	SHOWS("abcdefgh", 3, "abc");
	SHOWS("a\xFF\x01"
	      "b",
	      80,
	      "a\xEF\xBF\xBD\xC2\xB7"
	      "b");
	SHOWS("\033]0;title", 80, "");
	memset(ends, '\t', sizeof(ends));
	shows(ends, sizeof(ends), 10, "                ");
	ok(logtext_is_plain((struct str){ "a\r\nb\r\n", 6 }) &&
		   !logtext_is_plain((struct str){ "a\rb\n", 4 }) &&
		   !logtext_is_plain((struct str){ "\033[m\n", 4 }) &&
		   logtext_is_plain((struct str){ "a\r", 2 }),
	   "text with normal line ends is plain");
}

static void random_text(unsigned int *state, const char *letters, size_t len, char *out)
{
	size_t n = strlen(letters);

	for (size_t i = 0; i < len; i++)
		out[i] = letters[draw(state, (unsigned int)n)];
	out[len] = '\0';
}

static void random_pattern(unsigned int *state, struct buf *out)
{
	static const char *const atoms[] = { "a", "b", ".",    "\\s", "[^a]",
					     "^", "$", "\\b",  "\\S", "(a|b.)",
					     "B", " ", "[ab]", "\\W", "(?:ba)" };
	static const char *const times[] = { "", "", "", "*", "+", "?", "+?", "{1,2}", "*+" };
	unsigned int n = 1 + draw(state, 5);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int atom = draw(state, 15);
		bool plain =
			strchr("^$", atoms[atom][0]) != NULL || strcmp(atoms[atom], "\\b") == 0;

		buf_append_str(out, atoms[atom]);
		if (!plain)
			buf_append_str(out, times[draw(state, 9)]);
		if (i + 1 < n && draw(state, 8) == 0)
			buf_append_char(out, '|');
	}
}

/* Find the matching lines of a block by searching each line separately. */
static void hits_by_line(const struct pattern *pattern, struct str block, struct buf *out)
{
	struct str rest = block, line;

	while (rest.len > 0) {
		size_t begin = (size_t)(rest.p - block.p), at, len;

		(void)str_next(&rest, '\n', &line);
		if (line.len > 0 && line.p[line.len - 1] == '\r')
			line.len--;
		if (pattern_find(pattern, line, &at, &len))
			buf_appendf(out, "%zu ", begin);
	}
}

static void hits_by_block(const struct pattern *pattern, struct str block, struct buf *out)
{
	size_t from = 0, line;

	while (from < block.len && pattern_find_line(pattern, block, from, &line)) {
		const char *end = memchr(block.p + line, '\n', block.len - line);

		buf_appendf(out, "%zu ", line);
		from = end != NULL ? (size_t)(end - block.p) + 1 : block.len;
	}
}

/* Searching a whole block finds the same lines as searching each line. */
static void test_blocks(void)
{
	unsigned int state = 1;
	int wrong = 0, n = 0;
	struct buf text, one, all;

	buf_init(&text, 200);
	buf_init(&one, 4096);
	buf_init(&all, 4096);
	for (int i = 0; i < 20000; i++) {
		struct pattern *pattern;
		char block[64];
		size_t len = draw(&state, 60);

		random_text(&state, i % 3 == 0 ? "abB \n" : "aab  bB\r\n\n\n", len, block);
		buf_clear(&text);
		random_pattern(&state, &text);
		pattern = pattern_new(text.data, NULL);
		if (pattern == NULL || !logtext_is_plain((struct str){ block, len })) {
			pattern_free(pattern);
			continue;
		}
		buf_clear(&one);
		buf_clear(&all);
		hits_by_line(pattern, (struct str){ block, len }, &one);
		hits_by_block(pattern, (struct str){ block, len }, &all);
		n++;
		wrong += strcmp(one.data, all.data) != 0;
		if (wrong == 1 && strcmp(one.data, all.data) != 0)
			printf("# %s: %s and not %s\n", text.data, all.data, one.data);
		pattern_free(pattern);
	}
	ok(wrong == 0 && n > 8000, "%d blocks give the same hits as their lines", n);
	buf_release(&text);
	buf_release(&one);
	buf_release(&all);
}

static void test_classes(void)
{
	struct logclass lc = { 0 };
	uint64_t first, last;

	for (uint64_t i = 1; i <= 20000; i++)
		logclass_add(&lc, i,
			     i > 100 && i <= 4300 ? LINE_SOURCE
			     : i == 7		  ? LINE_ERROR
						  : LINE_METRIC);
	is_int((long long)lc.n, 5, "ranges are stored, not lines");
	ok(logclass_of(&lc, 7) == LINE_ERROR && logclass_of(&lc, 8) == LINE_METRIC &&
		   logclass_of(&lc, 101) == LINE_SOURCE && logclass_of(&lc, 0) == LINE_PLAIN &&
		   logclass_of(&lc, 20001) == LINE_PLAIN,
	   "the kind of each line is known");
	logclass_stretch(&lc, 2000, &first, &last);
	ok(first == 101 && last == 4300, "the block of a line is known");
	logclass_add(&lc, 20010, LINE_METRIC);
	ok(logclass_of(&lc, 20005) == LINE_PLAIN && logclass_of(&lc, 20010) == LINE_METRIC,
	   "nothing is known about dropped lines");
	logclass_add(&lc, 1, LINE_WARNING);
	ok(lc.n == 1 && logclass_of(&lc, 1) == LINE_WARNING, "a log that starts again is reset");
	for (uint64_t i = 2; i <= 200000; i++)
		logclass_add(&lc, i, i % 2 == 0 ? LINE_METRIC : LINE_PLAIN);
	ok(lc.n <= LOGCLASS_MAX, "memory is bounded");
	logclass_add(&lc, 200001, LINE_ERROR);
	ok(logclass_of(&lc, 200001) == LINE_ERROR && logclass_of(&lc, 199999) == LINE_PLAIN,
	   "errors are kept longer than metrics");
	logclass_release(&lc);
}

int main(void)
{
	struct err err = { ERR_NONE, "" };
	struct logfile *file;

	(void)close(mkstemp(path));
	write_file("w", 0, 60000);
	file = logfile_open(path, &err);
	ok(file != NULL, "a log is opened");
	test_places(file);
	test_search(file);
	test_growth(file);
	logfile_close(file);
	test_sweep();
	test_long();
	test_numbers();
	test_number_edges();
	test_text();
	(void)unlink(path);
	ok(logfile_open(path, &err) == NULL, "a missing file is not opened: %s", err.text);
	ok(logfile_open("/dev/null", &err) == NULL, "a device is not opened: %s", err.text);
	test_blocks();
	test_classes();
	return tap_done();
}
