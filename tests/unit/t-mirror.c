/* SPDX-License-Identifier: MIT */
/* The mirror of raw logs: bytes, guards, pruning, a full disk, a kill. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/mirror.h"
#include "tests/support/tap.h"

static char folder[] = "/tmp/hgym-mirror-XXXXXX";

static struct mirror_dir *
open_dir(uint64_t cap)
{
	struct err err = { ERR_NONE, "" };
	struct mirror_dir *dir = mirror_dir_open(folder, cap, &err);

	if (dir == NULL)
		printf("# %s\n", err.text);
	return dir;
}

static struct mirror *
open_log(struct mirror_dir *dir, const char *path, unsigned int generation)
{
	return mirror_open(dir, "pod", str_from(path), generation, NULL);
}

static size_t
count_files(void)
{
	DIR *d = opendir(folder);
	size_t n = 0;

	while (d != NULL) {
		struct dirent *e = readdir(d);

		if (e == NULL)
			break;
		n += e->d_name[0] != '.';
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static void
test_bytes(void)
{
	struct mirror_dir *dir = open_dir(1 << 20);
	struct mirror *a = open_log(dir, "/logs/a b\n\033[31m.log", 0);
	struct mirror *b = open_log(dir, "/logs/a b\n\033[31m.log", 1);
	struct guard guard, fed = { 0 };
	struct err err = { ERR_NONE, "" };
	char back[700], data[700];
	struct stat st;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	is_int((long long)mirror_append(a, (struct str){ data, 300 }, NULL),
	       300, "append");
	is_int((long long)mirror_append(a, (struct str){ data + 300, 400 },
					NULL),
	       400, "append more");
	is_int((long long)mirror_size(a), 700, "its size is the offset");
	is_int((long long)mirror_size(b), 0, "a generation by itself");
	ok(mirror_read(a, 0, back, 700, NULL) == 700 &&
		   memcmp(back, data, 700) == 0,
	   "the bytes are those");
	guard_feed(&fed, (struct str){ data, 600 });
	ok(mirror_guard(a, 600, &guard, NULL) == 0 &&
		   memcmp(&guard, &fed, sizeof(guard)) == 0,
	   "the guards of an offset");
	is_int(mirror_guard(a, 701, &guard, &err), -1, "no guards beyond it");
	ok(stat(mirror_path(a), &st) == 0 && (st.st_mode & 0777) == 0600,
	   "nobody else may read it");
	ok(strpbrk(mirror_path(a) + 5, " \n\033[") == NULL, "its name is safe");
	mirror_close(a);
	a = open_log(dir, "/logs/a b\n\033[31m.log", 0);
	is_int((long long)mirror_size(a), 700, "it is there the next time");
	ok(mirror_reset(b, NULL) == 0 && mirror_size(b) == 0 &&
		   mirror_append(b, STR_LIT("b"), NULL) == 1 &&
		   mirror_reset(b, NULL) == 0 && mirror_size(b) == 0,
	   "it can be begun anew");
	ok(truncate(mirror_path(a), 10) == 0 &&
		   mirror_append(a, STR_LIT("x"), &err) == 0 &&
		   strstr(err.text, "another program") != NULL,
	   "a file that someone else changed is not written to");
	mirror_close(a);
	mirror_close(b);
	mirror_dir_free(dir);
}

/* Append n bytes of log number i. */
static struct mirror *
fill(struct mirror_dir *dir, int i, size_t n)
{
	static const char zeros[4096];
	char path[32];
	struct mirror *mirror;

	(void)snprintf(path, sizeof(path), "fill%d", i);
	mirror = open_log(dir, path, 0);
	if (mirror_append(mirror, (struct str){ zeros, n }, NULL) != n)
		printf("# cannot append\n");
	return mirror;
}

static void
test_prune(void)
{
	struct mirror_dir *dir = open_dir(10000);
	struct mirror *old = fill(dir, 1, 3000), *live = fill(dir, 2, 3000);
	struct mirror *late = fill(dir, 3, 3000), *more;
	struct timespec past[2] = { { 1000, 0 }, { 1000, 0 } };
	struct timespec later[2] = { { 2000, 0 }, { 2000, 0 } };
	char old_path[256];

	(void)snprintf(old_path, sizeof(old_path), "%s", mirror_path(old));
	ok(mirror_end(old, NULL) == 0 && mirror_end(late, NULL) == 0, "ended");
	(void)utimensat(AT_FDCWD, mirror_path(old), past, 0);
	(void)utimensat(AT_FDCWD, mirror_path(live), past, 0);
	(void)utimensat(AT_FDCWD, mirror_path(late), later, 0);
	more = fill(dir, 4, 3000);
	ok(access(old_path, F_OK) != 0, "over the cap: the oldest ended goes");
	ok(access(mirror_path(late), F_OK) == 0 &&
		   access(mirror_path(live), F_OK) == 0,
	   "no more than must, and none that lives");
	mirror_close(more);
	more = fill(dir, 5, 4000);
	mirror_close(fill(dir, 6, 4000));
	ok(access(mirror_path(late), F_OK) != 0 &&
		   access(mirror_path(live), F_OK) == 0,
	   "live ones stay beyond the cap");
	mirror_close(old);
	mirror_close(live);
	mirror_close(late);
	mirror_close(more);
	late = fill(dir, 7, 10);
	(void)mirror_end(late, NULL);
	mirror_close(late);
	late = open_log(dir, "fill7", 0);
	ok(late != NULL && mirror_append(late, STR_LIT("y"), NULL) == 1,
	   "an ended one can come back");
	mirror_close(late);
	mirror_dir_free(dir);
}

/* Someone removes it: said at the next append, with an open descriptor or
 * without one, and no empty one takes its place. */
static void
test_removed(void)
{
	struct mirror_dir *dir = open_dir(1 << 30);
	struct mirror *kept = open_log(dir, "removed", 0), *many[200];
	struct err err = { ERR_NONE, "" };

	ok(mirror_append(kept, STR_LIT("abc"), NULL) == 3 &&
		   !mirror_is_lost(kept),
	   "a mirror that is there is not lost");
	(void)unlink(mirror_path(kept));
	ok(mirror_append(kept, STR_LIT("d"), &err) == 0 && mirror_is_lost(kept),
	   "one that was removed is: %s", err.text);
	mirror_close(kept);
	kept = open_log(dir, "removed", 1);
	ok(mirror_append(kept, STR_LIT("abc"), NULL) == 3, "another one");
	for (unsigned int i = 0; i < 200; i++)
		many[i] = open_log(dir, "another", i);
	(void)unlink(mirror_path(kept));
	ok(mirror_append(kept, STR_LIT("d"), NULL) == 0 &&
		   mirror_is_lost(kept) && access(mirror_path(kept), F_OK) != 0,
	   "also where its descriptor had to be opened again");
	for (unsigned int i = 0; i < 200; i++) {
		(void)unlink(mirror_path(many[i]));
		mirror_close(many[i]);
	}
	mirror_close(kept);
	mirror_dir_free(dir);
}

static void
test_full(void)
{
	struct mirror_dir *dir = open_dir(1 << 30);
	struct mirror *mirror = open_log(dir, "full", 0);
	const struct rlimit small = { 1000, RLIM_INFINITY };
	const struct rlimit large = { RLIM_INFINITY, RLIM_INFINITY };
	static char data[1500];
	struct err err = { ERR_NONE, "" };
	size_t took;

	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setrlimit(RLIMIT_FSIZE, &small);
	took = mirror_append(mirror, (struct str){ data, 1500 }, &err);
	ok(took == 1000 && err.code == ERR_IO, "a full disk takes a part");
	(void)setrlimit(RLIMIT_FSIZE, &large);
	took = mirror_append(mirror, (struct str){ data, 500 }, NULL);
	ok(took == 500 && mirror_size(mirror) == 1500, "and later the rest");
	mirror_close(mirror);
	mirror_dir_free(dir);
}

/* Many mirrors in turn, more than descriptors are kept. */
static void
test_many(void)
{
	struct mirror_dir *dir = open_dir(1 << 30);
	struct mirror *all[300];
	char path[32];
	bool good = true;

	for (int i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "many%d", i);
		all[i] = open_log(dir, path, 0);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 300; i++)
			good = good && all[i] != NULL &&
			       mirror_append(all[i], STR_LIT("abc"), NULL) == 3;
	for (int i = 0; i < 300; i++) {
		good = good && mirror_size(all[i]) == 9;
		mirror_close(all[i]);
	}
	ok(good, "more mirrors than descriptors");
	mirror_dir_free(dir);
}

/* Append numbers until killed. */
static void
append_forever(int out)
{
	struct mirror_dir *dir = open_dir(1 << 30);
	struct mirror *mirror = open_log(dir, "killed", 0);

	for (unsigned int i = (unsigned int)mirror_size(mirror) / 4;; i++) {
		struct str word = { (const char *)&i, sizeof(i) };

		if (mirror_append(mirror, word, NULL) != sizeof(i) ||
		    write(out, "x", 1) != 1)
			_exit(1);
	}
}

static void
test_kill(void)
{
	struct mirror_dir *dir;
	struct mirror *mirror;
	unsigned int word = 0, want = 0;
	uint64_t at = 0;
	bool same = true;

	for (int round = 0; round < 5; round++) {
		int fds[2];
		char told[64];
		pid_t child;

		if (pipe(fds) != 0 || (child = fork()) < 0)
			break;
		if (child == 0)
			append_forever(fds[1]);
		(void)close(fds[1]);
		for (ssize_t n, sum = 0; sum < 200; sum += n) {
			n = read(fds[0], told, sizeof(told));
			if (n <= 0) {
				same = false;
				break;
			}
		}
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
		(void)close(fds[0]);
	}
	dir = open_dir(1 << 30);
	mirror = open_log(dir, "killed", 0);
	for (; at < mirror_size(mirror); at += sizeof(word))
		same = same &&
		       mirror_read(mirror, at, &word, sizeof(word), NULL) ==
			       sizeof(word) &&
		       word == want++;
	ok(same && want >= 1000, "killed at any time: a prefix, nothing twice");
	mirror_close(mirror);
	mirror_dir_free(dir);
}

static void
remove_all(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
}

int
main(void)
{
	static void (*const tests[])(void) = { test_bytes,   test_prune,
					       test_removed, test_full,
					       test_many,    test_kill };

	if (mkdtemp(folder) == NULL)
		return 1;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i]();
		remove_all();
	}
	is_int((long long)count_files(), 0, "nothing else was left");
	(void)rmdir(folder);
	return tap_done();
}
