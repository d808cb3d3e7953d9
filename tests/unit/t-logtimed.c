/* SPDX-License-Identifier: MIT */
/* Logs merged by the times of their lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/logtimed.h"

#include "tests/support/tap.h"

#define LINES 8000

static char folder[] = "/tmp/t-logtimed-XXXXXX";

/* "<epoch of row i>.<ms of row i> log LOG row i"; every third has one more line. */
static void write_rows(FILE *out, const char *log, int from, int to)
{
	for (int i = from; i < to; i++) {
		long long ms = 1776143914000LL + (long long)i * 1000 + (log[0] - 'a') * 250;

		(void)fprintf(out, "%lld.%03lld log %s row %d %080d\n", ms / 1000, ms % 1000, log,
			      i, i);
		if (i % 3 == 0)
			(void)fprintf(out, "  more of %s row %d\n", log, i);
	}
}

/* The number of lines that are known already. */
static uint64_t logtimed_lines(const struct logtimed *timed)
{
	return logtimed_end(timed) - logtimed_begin(timed);
}

static struct model_log *make_log(struct model *model, const char *name, int rows)
{
	struct model_log *log = model_log_get(model, 0, name);
	char path[100];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	write_rows(out, name, 0, rows);
	(void)fclose(out);
	model_log_set_file(log, path);
	return log;
}

static void append(const struct model_log *log, const char *text)
{
	FILE *out = fopen(log->file, "a");

	(void)fputs(text, out);
	(void)fclose(out);
}

/* The line at a position, "" if it belongs to no log. */
static void read_at(const struct logtimed *timed, uint64_t place, char out[200])
{
	struct logtimed_line line = logtimed_at(timed, place);
	struct buf text;

	buf_init(&text, 199);
	logfile_read(line.file, line.at, &text);
	(void)snprintf(out, 200, "%s", text.data);
	buf_release(&text);
}

static void test_order(struct logtimed *timed, uint64_t want)
{
	char line[200], last_of[26] = { 0 };
	double newest = 0;
	bool ordered = true, behind = true;

	while (logtimed_more(timed))
		;
	ok(!logtimed_more(timed) && !logtimed_is_cut(timed),
	   "all logs are read back to their start");
	is_int((long long)logtimed_lines(timed), (long long)want,
	       "no line is dropped or duplicated");
	for (uint64_t i = logtimed_begin(timed); i < logtimed_end(timed); i++) {
		char log = 0;
		double t = 0;

		read_at(timed, i, line);
		if (sscanf(line, " more of %c", &log) == 1) {
			behind = behind && last_of[0] == log;
			continue;
		}
		ordered = ordered && sscanf(line, "%lf log %c", &t, &log) == 2 && t >= newest;
		newest = t;
		last_of[0] = log;
	}
	ok(ordered, "all lines are in the order of their times");
	ok(behind, "a line without a time follows its own predecessor");
}

static void test_growth(struct logtimed *timed, const struct model_log *a,
			const struct model_log *b)
{
	uint64_t end = logtimed_end(timed), begin = logtimed_begin(timed);
	char line[200];

	ok(!logtimed_refresh(timed), "without new bytes nothing is new");
	append(a, "1776153914.9 late\n1776153900.0 its clock went back\nhal");
	append(b, "1776153914.5 early\nof early\n");
	ok(logtimed_refresh(timed), "new lines are read");
	is_int((long long)(logtimed_end(timed) - end), 4, "only complete lines are added");
	read_at(timed, end, line);
	is_str(line, "1776153914.5 early", "new lines are ordered by their times");
	read_at(timed, end + 1, line);
	is_str(line, "of early", "lines without a time follow their own predecessors");
	read_at(timed, end + 3, line);
	is_str(line, "1776153900.0 its clock went back", "a log keeps its order");
	append(a, "f\n");
	ok(logtimed_refresh(timed), "the rest of a line is read");
	read_at(timed, end + 4, line);
	is_str(line, "half", "the rest completes the line");
	ok(logtimed_begin(timed) == begin, "old positions remain");
	ok(!logtimed_is_stale(timed), "all files are unchanged");
}

/* Lines of logs without times stay in order of arrival. */
static void test_came(struct model *model)
{
	static const char *const want[] = { "e1", "f1", "e2", "f2" };
	struct model_log *e = make_log(model, "e", 0);
	struct model_log *f = make_log(model, "f", 0);
	struct logtimed *timed;
	char line[200];
	bool same = true;

	append(e, "e1\ne2\n");
	append(f, "f1\nf2\n");
	model_log_set_read(model, e, 3, 1000);
	model_log_set_read(model, f, 3, 2000);
	model_log_set_read(model, e, 6, 3000);
	model_log_set_read(model, f, 6, 4000);
	timed = logtimed_open(model);
	is_int(logtimed_order(timed), LOGTIMED_NONE, "no log has times");
	while (logtimed_more(timed))
		;
	is_int((long long)logtimed_lines(timed), 4, "all lines are read");
	for (uint64_t i = 0; i < 4; i++) {
		read_at(timed, logtimed_begin(timed) + i, line);
		same &= strcmp(line, want[i]) == 0;
	}
	ok(same, "lines are in order of arrival");
	append(e, "e3\n");
	model_log_set_read(model, e, 9, 5000);
	ok(logtimed_refresh(timed), "one more line is read");
	read_at(timed, logtimed_end(timed) - 1, line);
	is_str(line, "e3", "a new line comes last");
	logtimed_close(timed);
	(void)unlink(e->file);
	(void)unlink(f->file);
}

static void test_left_out(struct model *model)
{
	struct model_log *c = make_log(model, "c", 3);
	struct logtimed *timed = logtimed_open(model);
	uint64_t lines;

	is_int(logtimed_order(timed), LOGTIMED_TIMES, "all logs have times");
	while (logtimed_more(timed))
		;
	lines = logtimed_lines(timed);
	ok(truncate(c->file, 0) == 0, "a log is truncated");
	(void)logtimed_refresh(timed);
	ok(logtimed_is_stale(timed), "a truncated log is detected");
	logtimed_close(timed);
	append(c, "no time\nnone\n");
	timed = logtimed_open(model);
	is_int(logtimed_order(timed), LOGTIMED_SOME, "a log without times among others");
	logtimed_close(timed);
	(void)unlink(c->file);
	timed = logtimed_open(model);
	while (logtimed_more(timed))
		;
	is_int((long long)logtimed_lines(timed), (long long)lines - 4,
	       "an unreadable log is skipped");
	ok(!logtimed_is_stale(timed), "the merged log is current while the file is unchanged");
	model_log_set_file(c, NULL);
	ok(logtimed_is_stale(timed), "the merged log is outdated when a file changes");
	logtimed_close(timed);
}

/* A log that has times only at its end is read backwards step by step. */
static struct model_log *test_late_times(struct model *model)
{
	struct model_log *d = make_log(model, "d", 0);
	FILE *out = fopen(d->file, "w");
	struct logtimed *timed;
	uint64_t before;

	for (int i = 0; i < 100000; i++)
		(void)fprintf(out, "a line without a time %050d\n", i);
	write_rows(out, "d", LINES, LINES + 1000);
	(void)fclose(out);
	timed = logtimed_open(model);
	ok(timed != NULL, "a log whose times start late is opened");
	do
		before = logtimed_lines(timed);
	while (before < 4000 && logtimed_more(timed));
	ok(logtimed_more(timed) && logtimed_lines(timed) < 60000,
	   "a log whose times start late is not read to its start at once");
	while (logtimed_more(timed))
		;
	is_int((long long)logtimed_lines(timed), 100000 + 1333 + 2 * (LINES + (LINES + 2) / 3) + 5,
	       "the log is read to its start eventually");
	logtimed_close(timed);
	return d;
}

/* If the name of a log now belongs to another file, it is not that log. */
static void test_rotated(struct model *model, struct model_log *log)
{
	struct logfile *file = model_log_open(log);
	struct logtimed *timed;
	char old[120];

	log->inode = logfile_inode(file);
	logfile_close(file);
	file = model_log_open(log);
	ok(file != NULL, "a log is opened by its file");
	logfile_close(file);
	(void)snprintf(old, sizeof(old), "%s.1", log->file);
	(void)rename(log->file, old);
	append(log, "1776143914.5 another log\n");
	ok(model_log_open(log) == NULL, "another file with the same name is not opened");
	timed = logtimed_open(model);
	while (logtimed_more(timed))
		;
	is_int((long long)logtimed_lines(timed), LINES + (LINES + 2) / 3 + 3,
	       "another file with the same name is not merged");
	logtimed_close(timed);
	(void)rename(old, log->file);
	file = model_log_open(log);
	ok(file != NULL, "the renamed file itself is opened");
	logfile_close(file);
}

int main(void)
{
	struct model model;
	struct model_log *a, *b, *d;
	struct logtimed *timed;
	uint64_t lines = 2 * (LINES + (LINES + 2) / 3);

	ok(mkdtemp(folder) != NULL, "create a folder");
	model_init(&model);
	(void)model_pod_add(&model, "pod", "local");
	test_came(&model);
	model_release(&model);
	model_init(&model);
	(void)model_pod_add(&model, "pod", "local");
	a = make_log(&model, "a", LINES);
	timed = logtimed_open(&model);
	while (logtimed_more(timed))
		;
	is_int((long long)logtimed_lines(timed), (long long)lines / 2,
	       "a single log gives all lines");
	logtimed_close(timed);
	b = make_log(&model, "b", LINES);
	timed = logtimed_open(&model);
	ok(timed != NULL && logtimed_lines(timed) > 0 && logtimed_lines(timed) < lines,
	   "two logs are opened at their end");
	test_order(timed, lines);
	test_growth(timed, a, b);
	logtimed_close(timed);
	test_rotated(&model, b);
	d = test_late_times(&model);
	test_left_out(&model);
	(void)unlink(a->file);
	(void)unlink(b->file);
	(void)unlink(d->file);
	(void)rmdir(folder);
	model_release(&model);
	return tap_done();
}
