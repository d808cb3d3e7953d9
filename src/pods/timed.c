/* SPDX-License-Identifier: MIT */
/* Record which runs a bench is timing on its pods, and find their logs. */
#include "pods/timed.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_PATH_BYTES 4096

bool timed_is_driven(const char *dir)
{
	AUTO_TEXT lock = xasprintf("%s/lock", dir);
	int fd = open(lock, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	bool is_held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	(void)close(fd);
	return is_held;
}

int timed_set_log(const char *dir, const char *pod, const char *log, struct err *err)
{
	AUTO_TEXT current = xasprintf("%s/current.%s", dir, pod);

	return file_replace(current, str_from(log), err);
}

char *timed_log(const char *dir, const char *pod)
{
	AUTO_TEXT current = xasprintf("%s/current.%s", dir, pod);
	AUTO_BUF log = buf_new(MAX_PATH_BYTES);

	if (file_read(current, &log, NULL) != 0 || log.len == 0)
		return NULL;
	AUTO_TEXT path = xasprintf("%s/%s", dir, log.data);
	AUTO_TEXT folder = file_folder(path);
	AUTO_TEXT end = xasprintf("%s/run.json", folder);

	return access(end, F_OK) != 0 && access(path, R_OK) == 0 ? xstrdup(path) : NULL;
}
