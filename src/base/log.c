/* SPDX-License-Identifier: MIT */
/* The debug log of -v; see log.h. */
#include "base/log.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/utf8.h"

static int log_fd = -1;

int log_open(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set_errno(err, ERR_IO, "cannot open the log file %s", path);
	log_close();
	log_fd = fd;
	return 0;
}

void log_close(void)
{
	fd_close(&log_fd);
}

void log_debug(const char *area, const char *fmt, ...)
{
	char when[CLOCK_RFC3339_SIZE];
	AUTO_BUF raw = buf_new(4096);
	AUTO_BUF line = buf_new(16384);

	if (log_fd < 0)
		return;
	buf_append_args(&raw, fmt);
	int64_t now_ms = clock_wall_ms();
	clock_rfc3339(now_ms, when);
	buf_appendf(&line, "%.19s.%03dZ %s: ", when, (int)(now_ms % 1000), area);
	utf8_sanitize(&line, buf_str(&raw));
	buf_append_char(&line, '\n');
	if (fd_write_all(log_fd, line.data, line.len) != 0)
		log_close();
}
