/* SPDX-License-Identifier: MIT */
/* A temporary directory and the child process that removes it; used by the demo. */
#include "base/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"

#define MAX_OPEN 16 /* directories open at once while removing */
#define MAX_FDS	 1024
#define PLACE	 "XXXXXX" /* random characters added by mkdtemp */
#define PLAIN                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"/._-+,:@%="
/* Retries while other processes still write there: 20 times, every 50 ms. */
#define TRIES	 20
#define RETRY_US 50000

static int remove_one(const char *path, UNUSED const struct stat *st, UNUSED int kind,
		      UNUSED struct FTW *at)
{
	(void)remove(path);
	return 0;
}

/* The child's report on creating the directory. */
struct answer {
	int error; /* errno, or 0 */
	char end[sizeof(PLACE)];
};

/* Return the random suffix at the end of the directory's path. */
static char *path_end(char *path)
{
	return path + strlen(path) - strlen(PLACE);
}

/* Create the directory in the child, so that it gets removed whenever the parent is killed. The
 * child blocks signals and closes terminals and pipes, so that no reader waits for it. */
static void run_sweeper(char *path, int end, int tell)
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
		for (int i = 0; i < TRIES; i++) {
			(void)nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
			if (access(path, F_OK) != 0)
				break;
			(void)usleep(RETRY_US);
		}
	}
	_exit(0);
}

/* Start the child with all signals blocked: none may end it before the directory is removed. */
static int start_sweeper(struct scratch *scratch, struct err *err)
{
	int end[2], told[2] = { -1, -1 }, bad = -1;
	struct answer answer = { .error = EPIPE };
	sigset_t all, before;

	if (pipe2(end, O_CLOEXEC) != 0)
		return err_set_errno(err, ERR_IO, "cannot create a pipe");
	scratch->fd = end[1];
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	if (pipe2(told, O_CLOEXEC) != 0 || (scratch->sweeper = fork()) < 0)
		err_set_errno(err, ERR_IO, "cannot start a process");
	else if (scratch->sweeper == 0)
		run_sweeper(scratch->path, end[0], told[1]);
	(void)close(end[0]);
	(void)close(told[1]);
	if (scratch->sweeper > 0) {
		if (read(told[0], &answer, sizeof(answer)) >= 0)
			errno = answer.error;
		bad = errno != 0 ? err_set_errno(err, ERR_IO, "cannot create %s", scratch->path)
				 : 0;
	}
	if (bad == 0) /* the child created the directory: complete its name */
		memcpy(path_end(scratch->path), answer.end, sizeof(answer.end));
	(void)close(told[0]);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return bad;
}

int scratch_make(struct scratch *scratch, const char *name, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	/* A directory that needs quoting in JSON, in a glob or in a command is not used. */
	if (tmp == NULL || tmp[0] != '/' || tmp[strspn(tmp, PLAIN)] != '\0')
		tmp = "/tmp";
	*scratch = (struct scratch){ .fd = -1, .sweeper = -1 };
	scratch->path = xasprintf("%s/%s-" PLACE, tmp, name);
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
	xset_text(&scratch->path, NULL);
}
