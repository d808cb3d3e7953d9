/* SPDX-License-Identifier: MIT */
/* Is a bench timing a pod, and which run of it? */
#include "pods/timed.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

static void write_file(const char *dir, const char *name)
{
	AUTO_TEXT path = xasprintf("%s/%s", dir, name);

	ok(file_replace(path, STR_LIT("{}"), NULL) == 0, "%s", name);
}

static void test_lock(const char *dir)
{
	AUTO_TEXT lock = xasprintf("%s/lock", dir);

	ok(!timed_is_driven(dir), "a folder without a lock is not driven");
	int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ok(!timed_is_driven(dir), "a folder whose lock is free is not driven");
	ok(flock(fd, LOCK_EX) == 0 && timed_is_driven(dir),
	   "a folder whose lock is held is driven");
	(void)close(fd);
	ok(!timed_is_driven(dir), "a folder is not driven after the lock is released");
}

static void test_log(const char *dir)
{
	AUTO_TEXT want = xasprintf("%s/runs/0_a_B/log.txt", dir);
	AUTO_TEXT runs = xasprintf("%s/runs", dir);
	AUTO_TEXT run = xasprintf("%s/runs/0_a_B", dir);
	char *log;

	(void)mkdir(runs, 0700);
	(void)mkdir(run, 0700);
	ok(timed_log(dir, "a") == NULL, "no run was started on the pod");
	ok(timed_set_log(dir, "a", "runs/0_a_B/log.txt", NULL) == 0, "a run starts");
	ok(timed_log(dir, "a") == NULL, "a log that was not fetched yet has no path");
	write_file(dir, "runs/0_a_B/log.txt");
	log = timed_log(dir, "a");
	is_str(log, want, "the path of the run's log");
	free(log);
	ok(timed_log(dir, "b") == NULL, "another pod has no run");
	write_file(dir, "runs/0_a_B/run.json");
	ok(timed_log(dir, "a") == NULL, "a run with a run.json has ended");
}

int main(void)
{
	struct scratch scratch;

	if (scratch_make(&scratch, "hgym-timed", NULL) != 0)
		return 99;
	test_lock(scratch.path);
	test_log(scratch.path);
	scratch_remove(&scratch);
	return tap_done();
}
