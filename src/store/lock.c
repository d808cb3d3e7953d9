/* SPDX-License-Identifier: MIT */
/* The lock file of a database; store.c holds it while it writes. */
#include "store/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"

#define WAIT_TIMES 100

static long read_holder(int fd)
{
	char text[32];
	int64_t pid;
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct str s = { text, n > 0 ? (size_t)n : 0 };

	return str_to_i64(str_trim(s), &pid) && pid > 0 ? (long)pid : 0;
}

/* The holder may be a process that only tested the lock, or a child of a killed writer that has not
 * called exec yet.  Both release it within a moment, so retry unless the named process exists. */
int lock_take(const char *db_path, long *holder, struct err *err)
{
	const struct timespec moment = { 0, 10L * 1000 * 1000 };
	AUTO_TEXT path = xasprintf("%s.lock", db_path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	*holder = 0;
	if (fd < 0)
		return err_set_errno(err, ERR_DB, "cannot create %s", path);
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		*holder = read_holder(fd);
		if (i == WAIT_TIMES ||
		    (*holder != 0 && (kill((pid_t)*holder, 0) == 0 || errno != ESRCH))) {
			(void)close(fd);
			return -1;
		}
		(void)nanosleep(&moment, NULL);
	}
	/* For people only: on a full disk the file stays empty. */
	if (ftruncate(fd, 0) == 0)
		(void)dprintf(fd, "%ld\n", (long)getpid());
	return fd;
}

bool lock_is_held(const char *db_path, long *holder)
{
	AUTO_TEXT path = xasprintf("%s.lock", db_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	*holder = 0;
	if (fd < 0)
		return false;
	bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (held)
		*holder = read_holder(fd);
	(void)close(fd);
	return held;
}
