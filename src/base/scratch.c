/* SPDX-License-Identifier: MIT */
/* A temporary folder and the child that sweeps it up; used by the demo. */
#include "config.h"

#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"

#define MAX_OPEN 16 /* folders at once while removing */
#define MAX_FDS	 1024
#define PLAIN                                                                  \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"       \
	"/._-+,:@%="
/* Who still writes there is given so long: 20 times, every 50 ms. */
#define TRIES	 20
#define RETRY_US 50000

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

/* All below the folder and itself; no link is followed. */
static void
remove_folder(const char *path)
{
	for (int i = 0; i < TRIES; i++) {
		(void)nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
		if (access(path, F_OK) != 0)
			return;
		(void)usleep(RETRY_US);
	}
}

/*
 * The child.  All signals stay blocked in it, and it holds no terminal and no
 * pipe that somebody reads to its end.
 */
static void
sweep(const char *path, int fd)
{
	char byte;

	(void)setsid();
	for (int i = 0; i < MAX_FDS; i++)
		if (i != fd)
			(void)close(i);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	remove_folder(path);
	_exit(0);
}

/* Start the child; signals wait, so that none comes before it is there. */
static int
start_sweeper(struct scratch *scratch, struct err *err)
{
	sigset_t all, before;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set_errno(err, ERR_IO, "pipe");
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	if (mkdtemp(scratch->path) == NULL) {
		err_set_errno(err, ERR_IO, "%s", scratch->path);
	} else if ((scratch->sweeper = fork()) == 0) {
		(void)close(fds[1]);
		sweep(scratch->path, fds[0]);
	} else if (scratch->sweeper < 0) {
		err_set_errno(err, ERR_IO, "fork");
		(void)rmdir(scratch->path);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(fds[0]);
	scratch->fd = fds[1];
	if (scratch->sweeper > 0)
		return 0;
	(void)close(fds[1]);
	return -1;
}

/* $TMPDIR, where it stands for itself in JSON, in a glob and in a command. */
static const char *
temporary_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] != '/' || tmp[strspn(tmp, PLAIN)] != '\0')
		return "/tmp";
	return tmp;
}

int
scratch_make(struct scratch *scratch, const char *name, struct err *err)
{
	*scratch = (struct scratch){ .sweeper = -1 };
	scratch->path = xasprintf("%s/%s-XXXXXX", temporary_folder(), name);
	if (start_sweeper(scratch, err) == 0)
		return 0;
	free(scratch->path);
	scratch->path = NULL;
	return -1;
}

void
scratch_remove(struct scratch *scratch)
{
	if (scratch->path == NULL)
		return;
	(void)close(scratch->fd);
	while (waitpid(scratch->sweeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(scratch->path);
	scratch->path = NULL;
}
