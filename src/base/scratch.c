/* SPDX-License-Identifier: MIT */
/* A temporary folder and the child that sweeps it up; used by the demo. */
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
#define PLACE	 "XXXXXX" /* of mkdtemp */
#define PLAIN                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"/._-+,:@%="
/* Who still writes there is given so long: 20 times, every 50 ms. */
#define TRIES	 20
#define RETRY_US 50000

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

/* All below the folder and itself; no link is followed. */
static void remove_folder(const char *path)
{
	for (int i = 0; i < TRIES; i++) {
		(void)nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
		if (access(path, F_OK) != 0)
			return;
		(void)usleep(RETRY_US);
	}
}

/* What the child tells of the folder that it was to make. */
struct answer {
	int error; /* errno, or 0 */
	char end[sizeof(PLACE)];
};

/* Where its answer's end stands in the path of a folder. */
static char *path_end(char *path)
{
	return path + strlen(path) - strlen(PLACE);
}

/*
 * The child: it makes the folder, so that whoever ends its parent leaves none
 * that nobody knows.  All signals stay blocked in it, and it holds no terminal
 * and no pipe that somebody reads to its end.
 */
static void sweep(char *path, int end, int tell)
{
	struct answer answer = { 0 };
	char byte;

	(void)setsid();
	for (int i = 0; i < MAX_FDS; i++)
		if (i != end && i != tell)
			(void)close(i);
	if (mkdtemp(path) == NULL)
		answer.error = errno;
	memcpy(answer.end, path_end(path), sizeof(answer.end));
	if (write(tell, &answer, sizeof(answer)) < 0 || answer.error == 0) {
		while (read(end, &byte, 1) < 0 && errno == EINTR)
			;
		remove_folder(path);
	}
	_exit(0);
}

/* Has the child made the folder?  Its name is complete then. */
static int hear_sweeper(struct scratch *scratch, int told, struct err *err)
{
	struct answer answer = { .error = EPIPE };

	if (read(told, &answer, sizeof(answer)) >= 0)
		errno = answer.error;
	if (errno != 0)
		return err_set_errno(err, ERR_IO, "%s", scratch->path);
	memcpy(path_end(scratch->path), answer.end, sizeof(answer.end));
	return 0;
}

/* Start the child; signals wait, so that none comes before it is there. */
static int start_sweeper(struct scratch *scratch, struct err *err)
{
	int end[2], told[2] = { -1, -1 }, bad = -1;
	sigset_t all, before;

	if (pipe2(end, O_CLOEXEC) != 0)
		return err_set_errno(err, ERR_IO, "pipe");
	scratch->fd = end[1];
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	if (pipe2(told, O_CLOEXEC) != 0 || (scratch->sweeper = fork()) < 0)
		err_set_errno(err, ERR_IO, "fork");
	else if (scratch->sweeper == 0)
		sweep(scratch->path, end[0], told[1]);
	(void)close(end[0]);
	(void)close(told[1]);
	if (scratch->sweeper > 0)
		bad = hear_sweeper(scratch, told[0], err);
	(void)close(told[0]);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return bad;
}

/* $TMPDIR, where it stands for itself in JSON, in a glob and in a command. */
static const char *temporary_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] != '/' || tmp[strspn(tmp, PLAIN)] != '\0')
		return "/tmp";
	return tmp;
}

int scratch_make(struct scratch *scratch, const char *name, struct err *err)
{
	*scratch = (struct scratch){ .fd = -1, .sweeper = -1 };
	scratch->path = xasprintf("%s/%s-" PLACE, temporary_folder(), name);
	if (start_sweeper(scratch, err) == 0)
		return 0;
	scratch_remove(scratch);
	return -1;
}

void scratch_remove(struct scratch *scratch)
{
	if (scratch->path == NULL)
		return;
	(void)close(scratch->fd);
	while (scratch->sweeper > 0 && waitpid(scratch->sweeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(scratch->path);
	scratch->path = NULL;
}
