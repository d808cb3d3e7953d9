/* SPDX-License-Identifier: MIT */
/* Logs by place: lines, numbers, search, growth, truncation; their tails. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/logfile.h"
#include "model/logtail.h"

#include "tests/support/tap.h"

static char path[] = "/tmp/t-logfile-XXXXXX";

static void
write_file(const char *mode, int from, int to)
{
	FILE *file = fopen(path, mode);

	for (int i = from; i < to; i++)
		(void)fprintf(file, "line %d of the file\n", i);
	(void)fclose(file);
}

static void
is_line(struct logfile *file, uint64_t place, const char *want,
	const char *name)
{
	struct buf line;

	buf_init(&line, LOGFILE_LINE_BYTES);
	logfile_read(file, place, &line);
	is_str(line.data, want, name);
	buf_release(&line);
}

static void
test_places(struct logfile *file)
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
	ok(same, "and backward");
	place = logfile_prev(file, logfile_size(file));
	is_line(file, place, "line 59999 of the file", "the last at once");
	is_int((long long)logfile_number(file, place), 0,
	       "its number is not known before the count");
	while (logfile_count(file, 100000))
		;
	is_int((long long)logfile_number(file, place), 60000, "then it is");
	is_int((long long)logfile_lines(file, &all), 60000, "all are counted");
	ok(all, "and it says so");
}

static void
test_search(struct logfile *file)
{
	struct err err = { ERR_NONE, "" };
	struct pattern *pattern = pattern_new("LINE 3[0-9]{4} of", &err);
	uint64_t place = 0;

	is_int(logfile_search(file, pattern, true, 1U << 30, &place), 0,
	       "a pattern with capitals means them");
	pattern_free(pattern);
	pattern = pattern_new("line 3[0-9]{4} of", &err);
	place = 0;
	is_int(logfile_search(file, pattern, true, 1U << 30, &place), 1,
	       "a hit below");
	is_line(file, place, "line 30000 of the file", "the first one");
	place = logfile_size(file);
	is_int(logfile_search(file, pattern, false, 1U << 30, &place), 1,
	       "a hit above");
	is_line(file, place, "line 39999 of the file", "the last one");
	place = 0;
	is_int(logfile_search(file, pattern, true, 1000, &place), 2,
	       "a search stops when its budget is used up");
	ok(place > 1000 && place < 2000, "and can go on from there");
	pattern_free(pattern);
	ok(pattern_new("(", &err) == NULL, "a wrong pattern is refused: %s",
	   err.text);
	pattern = pattern_new("(a+)+$", &err);
	place = 0;
	is_int(logfile_search(file, pattern, true, 1U << 30, &place), 0,
	       "a bad pattern does not hang");
	pattern_free(pattern);
}

static void
test_growth(struct logfile *file)
{
	uint64_t size = logfile_size(file);

	ok(!logfile_refresh(file), "nothing new");
	write_file("a", 60000, 60002);
	ok(logfile_refresh(file) && logfile_size(file) > size, "it grew");
	is_line(file, size, "line 60000 of the file", "by these lines");
	write_file("w", 7, 8);
	ok(logfile_refresh(file), "it was truncated");
	is_line(file, 0, "line 7 of the file", "and is another now");
	is_line(file, 99999, "", "behind the end there is nothing");
}

static void
test_tail(void)
{
	struct logtail *tail = logtail_new(100);
	char text[64];

	for (uint64_t i = 1; i <= 1000; i++) {
		int n = snprintf(text, sizeof(text), "line %d", (int)i);

		logtail_push(tail, &(struct logtail_line){ text, (uint32_t)n,
							   LINE_PLAIN, i, i });
	}
	ok(logtail_count(tail) == 100 && logtail_pushed(tail) == 1000,
	   "a tail keeps so many lines");
	is_str(logtail_at(tail, 0)->text, "line 901", "the last ones");
	is_str(logtail_at(tail, 99)->text, "line 1000", "to the very last");
	logtail_free(tail);
}

int
main(void)
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
	(void)unlink(path);
	ok(logfile_open(path, &err) == NULL, "one that is not there is not: %s",
	   err.text);
	ok(logfile_open("/dev/null", &err) == NULL, "nor is a device: %s",
	   err.text);
	test_tail();
	return tap_done();
}
