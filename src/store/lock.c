/* SPDX-License-Identifier: MIT */
/* The lock beside a database; taken by store.c, asked for by the commands. */
#include "config.h"

#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"

static long
read_holder(int fd)
{
	char text[32];
	int64_t pid;
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct str s = { text, n > 0 ? (size_t)n : 0 };

	return str_to_i64(str_trim(s), &pid) && pid > 0 ? (long)pid : 0;
}

int
lock_take(const char *db_path, long *holder, struct err *err)
{
	char *path = xasprintf("%s.lock", db_path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	*holder = 0;
	if (fd < 0) {
		err_set_errno(err, ERR_DB, "cannot make %s", path);
	} else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		*holder = read_holder(fd);
		(void)close(fd);
		fd = -1;
	} else if (ftruncate(fd, 0) == 0) {
		/* Only a hint for people: a full disk may leave it empty. */
		(void)dprintf(fd, "%ld\n", (long)getpid());
	}
	free(path);
	return fd;
}

bool
lock_is_held(const char *db_path, long *holder)
{
	char *path = xasprintf("%s.lock", db_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool held;

	free(path);
	*holder = 0;
	if (fd < 0)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (held)
		*holder = read_holder(fd);
	(void)close(fd);
	return held;
}
