/* SPDX-License-Identifier: MIT */
/* scratch.c: the directory disappears however its process ends, and nothing else does. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

#define PATIENCE_MS 600000

static char top[PATH_MAX]; /* $TMPDIR of the test */

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool goes(const char *path)
{
	for (int ms = 0; ms < PATIENCE_MS && is_there(path); ms += 10)
		(void)usleep(10000);
	return !is_there(path);
}

/* Put a read-only file and a link to a file outside into the directory. */
static void fill(const char *path)
{
	char *outer = xasprintf("%s/a", path);
	char *inner = xasprintf("%s/a/b", path);
	char *file = xasprintf("%s/a/b/file", path);
	char *way = xasprintf("%s/a/way", path);

	(void)mkdir(outer, 0700);
	(void)mkdir(inner, 0700);
	(void)close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0400));
	if (symlink(top, way) != 0)
		abort();
	free(outer);
	free(inner);
	free(file);
	free(way);
}

static void test_removed(void)
{
	struct scratch scratch;
	struct err err = { ERR_NONE, "" };
	struct stat st;
	char *path, *kept = xasprintf("%s/kept", top);

	(void)close(open(kept, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ok(scratch_make(&scratch, "t-x", &err) == 0, "a directory is created: %s", err.text);
	path = xstrdup(scratch.path);
	ok(strncmp(path, top, strlen(top)) == 0 && strncmp(path + strlen(top), "/t-x-", 5) == 0,
	   "the directory is below TMPDIR and has the prefix");
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700,
	   "the directory is accessible only by its owner");
	fill(path);
	scratch_remove(&scratch);
	ok(!is_there(path), "the directory is removed with everything in it");
	ok(is_there(kept), "the target of a link in it is not removed");
	scratch_remove(&scratch);
	(void)unlink(kept);
	free(kept);
	free(path);
}

/* A process in its own group creates a directory and is ended by a signal. */
static void test_killed(int signum, bool whole_group)
{
	char path[PATH_MAX] = "";
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		struct scratch scratch;

		(void)setpgid(0, 0);
		(void)close(fds[0]);
		/* A background process may have inherited ignored signals. */
		if (signum != 0 && signum != SIGKILL)
			(void)signal(signum, SIG_DFL);
		if (scratch_make(&scratch, "t-x", NULL) != 0)
			_exit(1);
		fill(scratch.path);
		(void)!write(fds[1], scratch.path, strlen(scratch.path));
		(void)close(fds[1]);
		if (signum == 0)
			_exit(0);
		for (;;)
			(void)pause();
	}
	(void)close(fds[1]);
	/* Read the pipe to its end: the child that cleans up does not hold it. */
	n = read(fds[0], path, sizeof(path) - 1);
	ok(n > 0 && (signum == 0 || is_there(path)) && read(fds[0], &status, 1) == 0,
	   "a process has a directory");
	(void)close(fds[0]);
	if (signum != 0)
		(void)kill(whole_group ? -pid : pid, signum);
	(void)waitpid(pid, &status, 0);
	ok(signum != 0 ? WIFSIGNALED(status) : WIFEXITED(status), "the process ends");
	ok(goes(path), "the directory is removed after %s%s",
	   signum != 0 ? strsignal(signum) : "_exit", whole_group ? "to its group" : "");
}

/* SIGKILL at various moments while the directory is created. */
static void test_killed_early(void)
{
	bool is_empty = true;
	glob_t found;
	char *pattern = xasprintf("%s/t-x-*", top);

	for (useconds_t us = 0; us < 2000; us += 10) {
		pid_t pid = fork();

		if (pid == 0) {
			struct scratch scratch;

			while (scratch_make(&scratch, "t-x", NULL) == 0)
				(void)pause();
			_exit(1);
		}
		(void)usleep(us);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
		is_empty = glob(pattern, 0, NULL, &found) == GLOB_NOMATCH;
		globfree(&found);
		if (is_empty)
			break;
		(void)usleep(10000);
	}
	ok(is_empty, "SIGKILL leaves no directory at any moment");
	free(pattern);
}

/* A job that is still running writes its last lines meanwhile. */
static void test_late_writer(void)
{
	struct scratch scratch;
	char *path;
	pid_t pid;

	if (scratch_make(&scratch, "t-x", NULL) != 0)
		abort();
	path = xstrdup(scratch.path);
	pid = fork();
	if (pid == 0) {
		char *file = xasprintf("%s/late", path);

		for (int i = 0; i < 2000; i++) {
			(void)close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
			(void)usleep(100);
		}
		_exit(0);
	}
	scratch_remove(&scratch);
	(void)waitpid(pid, NULL, 0);
	ok(!is_there(path), "the directory is removed although a process writes there");
	free(path);
}

static void test_no_place(void)
{
	static const char *const none[] = { "",	    "relative", "/a b", "/a\"b",
					    "/a'b", "/a[b]",	"/$a",	"/a\nb" };
	struct scratch scratch;
	struct err err = { ERR_NONE, "" };

	(void)setenv("TMPDIR", "/no/such/place", 1);
	ok(scratch_make(&scratch, "t-x", &err) == -1 &&
		   strstr(err.text, "/no/such/place/t-x") != NULL &&
		   strstr(err.text, strerror(ENOENT)) != NULL,
	   "without a usable place there is an error: %s", err.text);
	ok(scratch.path == NULL, "a failure leaves no directory");
	scratch_remove(&scratch);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		(void)setenv("TMPDIR", none[i], 1);
		ok(scratch_make(&scratch, "t-x", &err) == 0 &&
			   strncmp(scratch.path, "/tmp/t-x-", 9) == 0,
		   "an unusable TMPDIR is not used: %zu", i);
		scratch_remove(&scratch);
	}
}

int main(void)
{
	static const int signals[] = { 0, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGKILL, SIGABRT };
	char name[] = "/tmp/t-scratch-XXXXXX";

	if (mkdtemp(name) == NULL || realpath(name, top) == NULL)
		return 1;
	(void)setenv("TMPDIR", top, 1);
	test_removed();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		test_killed(signals[i], false);
		if (signals[i] != 0)
			test_killed(signals[i], true);
	}
	test_killed_early();
	test_late_writer();
	test_no_place();
	ok(rmdir(name) == 0, "nothing is left");
	return tap_done();
}
