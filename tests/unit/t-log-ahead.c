/* SPDX-License-Identifier: MIT */
/* Where the bytes of a log are read: from its file, from a preview of its end, or from a file
 * without a name. */
#include "model/model.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/logfile.h"
#include "tests/support/tap.h"

static char path[] = "/tmp/t-log-ahead-XXXXXX";

static void write_file(const char *text)
{
	FILE *out = fopen(path, "w");

	(void)fputs(text, out);
	(void)fclose(out);
}

/* Check all readable bytes of the log; "" if there are none. */
static void is_text(const struct model_log *log, const char *want, const char *name)
{
	struct logfile *file = model_log_open(log);
	char got[256] = "";

	if (file != NULL)
		(void)logfile_pread(file, got, sizeof(got) - 1, 0);
	is_str(got, want, name);
	logfile_close(file);
}

static void test_ahead(struct model *model, struct model_log *log)
{
	unsigned int moves;

	write_file("one\n");
	model_log_set_file(log, path);
	model_log_add_line(model, log, 1, LINE_METRIC);
	is_text(log, "one\n", "a log is read from its file");
	moves = log->moves;
	model_log_add_preview(model, log, STR_LIT("far\n"));
	model_log_add_preview(model, log, STR_LIT("away\n"));
	ok(log->is_preview && log->moves != moves, "a preview is reported");
	is_text(log, "far\naway\n", "a preview is shown");
	moves = log->moves;
	write_file("one\ntwo\n");
	model->changed = 0;
	model_log_add_line(model, log, 2, LINE_PLAIN);
	ok(!log->is_preview && log->moves != moves,
	   "the preview ends when the lines arrive in order");
	is_text(log, "one\ntwo\n", "the lines come from the file");
	ok(model->changed & MODEL_LOGS, "views see the change");
	is_int(logclass_of(&log->classes, 1), LINE_METRIC, "the class of each line is known");
	for (int i = 0; i < MODEL_MAX_AHEAD / 4 + 9; i++)
		model_log_add_preview(model, log, STR_LIT("abc\n"));
	is_int(lseek(log->fd, 0, SEEK_END), MODEL_MAX_AHEAD, "previews are bounded");
	model_log_add_line(model, log, 3, LINE_PLAIN);
}

static int count_kept(const struct model *model)
{
	int n = 0;

	for (size_t i = 0; i < model->n_logs; i++)
		n += model->logs[i]->fd >= 0;
	return n;
}

static void test_kept(struct model *model, struct model_log *log)
{
	int fd = open(path, O_RDONLY);
	char name[16];

	model_log_keep_fd(model, log, fd);
	(void)unlink(path);
	(void)close(fd);
	is_text(log, "one\ntwo\n", "a file without a name is still read");
	fd = open("/dev/null", O_RDONLY);
	for (int i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "%d.log", i);
		model_log_keep_fd(model, model_log_get(model, 0, name), fd);
	}
	(void)close(fd);
	is_int(count_kept(model), MODEL_MAX_KEPT, "at most MODEL_MAX_KEPT logs are kept open");
	is_text(log, "", "the oldest are dropped");
}

static void test_came(void)
{
	struct logcame came = { NULL, 0, 0 };
	bool rises = true;

	is_int(logcame_at(&came, 5), 0, "before any byte arrived, the time is unknown");
	logcame_add(&came, 100, 1000);
	logcame_add(&came, 150, 1000);
	logcame_add(&came, 300, 2000);
	is_int(logcame_at(&came, 149), 1000, "a byte arrives with its block");
	is_int(logcame_at(&came, 150), 2000, "the next byte arrives with the next block");
	is_int(logcame_at(&came, 999), 2000, "unread bytes arrive last");
	for (int i = 1; i <= 100000; i++)
		logcame_add(&came, 300 + (uint64_t)i * 10, 2000 + i);
	ok(came.n <= LOGCAME_MAX, "memory is bounded");
	for (uint64_t at = 0; at < 1000000; at += 1000)
		rises &= logcame_at(&came, at) <= logcame_at(&came, at + 1000);
	ok(rises && logcame_at(&came, 1000299) == 102000,
	   "the order is kept, and the end is exact");
	logcame_add(&came, 10, 5000);
	is_int(logcame_at(&came, 0), 5000, "a log that starts again");
	logcame_release(&came);
}

int main(void)
{
	struct model model;
	struct model_log *log;

	(void)close(mkstemp(path));
	model_init(&model);
	log = model_log_get(&model, model_pod_add(&model, "p", "here"), "a.log");
	is_text(log, "", "a log without a known file");
	test_ahead(&model, log);
	test_kept(&model, log);
	test_came();
	model_release(&model);
	return tap_done();
}
