/* SPDX-License-Identifier: MIT */
/* The lock beside a database; taken by store.c, asked for by the commands. */
#include "store/lock.h"

#include <errno.h>
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

/*
 * Take it, or find out who has it.  One that was killed between the fork and
 * the exec of a child of its leaves the lock to that child for a moment, and
 * who only looks has it for a moment too: they are waited for.
 */
static bool take_or_wait(int fd, long *holder)
{
	const struct timespec moment = { 0, 10L * 1000 * 1000 };

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		*holder = read_holder(fd);
		if (i == WAIT_TIMES ||
		    (*holder != 0 && (kill((pid_t)*holder, 0) == 0 || errno != ESRCH)))
			return false;
		(void)nanosleep(&moment, NULL);
	}
	return true;
}

int lock_take(const char *db_path, long *holder, struct err *err)
{
	AUTO_TEXT path = xasprintf("%s.lock", db_path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	*holder = 0;
	if (fd < 0) {
		err_set_errno(err, ERR_DB, "cannot make %s", path);
	} else if (!take_or_wait(fd, holder)) {
		(void)close(fd);
		fd = -1;
	} else if (ftruncate(fd, 0) == 0) {
		/* Only a hint for people: a full disk may leave it empty. */
		(void)dprintf(fd, "%ld\n", (long)getpid());
	}
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
