/* SPDX-License-Identifier: MIT */
/* Local copies of raw logs: bytes, checksums, deletion, a full disk, a kill. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/log_copy.h"
#include "tests/support/tap.h"

static char folder[] = "/tmp/hgym-copy-XXXXXX";

static struct log_copies *open_dir(uint64_t cap)
{
	struct err err = { ERR_NONE, "" };
	struct log_copies *dir = log_copies_open(folder, cap, &err);

	if (dir == NULL)
		printf("# %s\n", err.text);
	return dir;
}

static struct log_copy *open_log(struct log_copies *dir, const char *path, unsigned int generation)
{
	static const struct cksum none = { 0, 0 };
	struct log_copy *copy = log_copy_new(dir, "pod", str_from(path), generation);

	if (log_copy_open(copy, &none, NULL) != 0)
		printf("# cannot open %s\n", copy->path);
	log_copy_return(copy);
	return copy;
}

static size_t append(struct log_copy *copy, struct str data, struct err *err)
{
	size_t n;

	log_copy_lend(copy);
	n = log_copy_append(copy, data, err);
	log_copy_return(copy);
	return n;
}

static void prune(struct log_copies *dir)
{
	struct pruned_copies prune;

	if (!log_copies_exceed_cap(dir))
		return;
	log_copies_prune(&prune, dir);
	log_copies_take_pruned(&prune, dir);
}

static size_t count_files(void)
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

static int64_t written_ms;

static void test_bytes(void)
{
	struct log_copies *dir = open_dir(1 << 20);
	struct log_copy *a = open_log(dir, "/logs/a b\n\033[31m.log", 0);
	struct log_copy *b = open_log(dir, "/logs/a b\n\033[31m.log", 1);
	struct cksum sum = { 0, 0 }, wrong = { 650, 1 };
	char back[700], data[700];
	struct stat st;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	is_int((long long)append(a, (struct str){ data, 300 }, NULL), 300, "bytes are appended");
	is_int((long long)append(a, (struct str){ data + 300, 400 }, NULL), 400,
	       "more bytes are appended");
	cksum_add(&sum, data, 600);
	is_int((long long)log_copy_peek(a, &written_ms), 700, "the size of the file is the offset");
	ok(written_ms > 1600000000000, "the file has the time of its last bytes");
	is_int((long long)b->sum.len, 0, "each generation is separate");
	ok(log_copy_read(a, 0, back, 700, NULL) == 700 && memcmp(back, data, 700) == 0,
	   "the bytes are correct");
	ok(stat(a->path, &st) == 0 && (st.st_mode & 0777) == 0600, "only the owner may read it");
	ok(strpbrk(a->path + 5, " \n\033[") == NULL, "the file's name is safe");
	log_copy_free(a);
	a = open_log(dir, "/logs/a b\n\033[31m.log", 0);
	log_copy_lend(a);
	ok(log_copy_open(a, &sum, NULL) == 0, "the copy exists at the next start");
	cksum_add(&sum, data + 600, 100);
	ok(a->sum.len == 700 && cksum_value(&a->sum) == cksum_value(&sum),
	   "the copy has the checksum of all its bytes, whatever was known before");
	ok(log_copy_open(a, &wrong, NULL) == 0 && a->sum.len == 700,
	   "known bytes are not read again");
	ok(cksum_value(&a->sum) != cksum_value(&sum),
	   "a stored checksum is used even if it is wrong");
	wrong.len = 701;
	ok(log_copy_open(a, &wrong, NULL) == 0 && cksum_value(&a->sum) == cksum_value(&sum),
	   "a checksum of more bytes than exist is not used");
	log_copy_return(a);
	ok(append(b, STR_LIT("b"), NULL) == 1 && log_copy_peek(b, &written_ms) == 1,
	   "another generation gets its bytes");
	log_copy_lend(b);
	ok(log_copy_open(b, NULL, NULL) == 0 && log_copy_peek(b, &written_ms) == 0 &&
		   b->sum.len == 0,
	   "the copy can be started again");
	log_copy_return(b);
	ok(truncate(a->path, 10) == 0 && append(a, STR_LIT("x"), NULL) == 1 &&
		   log_copy_peek(a, &written_ms) == 10 &&
		   strstr(a->lost, "another program") != NULL,
	   "a file changed by another program is not written to");
	ok(log_copy_read(a, 700, back, 9, NULL) == 1 && back[0] == 'x',
	   "new bytes are kept elsewhere");
	log_copy_free(a);
	log_copy_free(b);
	log_copies_free(dir);
}

/* Append n bytes to log number i. */
static struct log_copy *fill(struct log_copies *dir, int i, size_t n)
{
	static const char zeros[4096];
	char path[32];
	struct log_copy *copy;

	(void)snprintf(path, sizeof(path), "fill%d", i);
	copy = open_log(dir, path, 0);
	if (append(copy, (struct str){ zeros, n }, NULL) != n)
		printf("# cannot append\n");
	return copy;
}

static void test_prune(void)
{
	struct log_copies *dir = open_dir(10000);
	struct log_copy *old = fill(dir, 1, 3000), *live = fill(dir, 2, 3000);
	struct log_copy *late = fill(dir, 3, 3000), *more;
	struct timespec past[2] = { { 1000, 0 }, { 1000, 0 } };
	struct timespec later[2] = { { 2000, 0 }, { 2000, 0 } };
	char old_path[256];

	(void)snprintf(old_path, sizeof(old_path), "%s", old->path);
	log_copy_end(old);
	log_copy_end(late);
	(void)utimensat(AT_FDCWD, old->path, past, 0);
	(void)utimensat(AT_FDCWD, live->path, past, 0);
	(void)utimensat(AT_FDCWD, late->path, later, 0);
	more = fill(dir, 4, 3000);
	prune(dir);
	ok(access(old_path, F_OK) != 0, "over the cap, the oldest copy of an ended log is deleted");
	ok(access(late->path, F_OK) == 0 && access(live->path, F_OK) == 0,
	   "no copy is deleted needlessly, and none of a live log");
	log_copy_free(more);
	more = fill(dir, 5, 4000);
	log_copy_free(fill(dir, 6, 4000));
	prune(dir);
	ok(access(late->path, F_OK) != 0 && access(live->path, F_OK) == 0,
	   "copies of live logs stay even above the cap");
	log_copy_free(old);
	log_copy_free(live);
	log_copy_free(late);
	log_copy_free(more);
	late = fill(dir, 7, 10);
	log_copy_end(late);
	log_copy_free(late);
	late = open_log(dir, "fill7", 0);
	ok(late != NULL && append(late, STR_LIT("y"), NULL) == 1, "an ended log can come back");
	log_copy_free(late);
	log_copies_free(dir);
}

/* Another program removes a copy, with its descriptor open or not: new bytes go to a file without a
 * name, and no file replaces the copy. */
static void test_removed(void)
{
	struct log_copies *dir = open_dir(1 << 30);
	struct log_copy *kept = open_log(dir, "removed", 0), *many[200];
	char back[9];

	ok(append(kept, STR_LIT("abc"), NULL) == 3 && kept->lost == NULL,
	   "an existing copy is not lost");
	(void)unlink(kept->path);
	ok(append(kept, STR_LIT("d"), NULL) == 1 && kept->lost != NULL,
	   "a removed copy is lost: %s", kept->lost);
	ok(log_copy_read(kept, 0, back, 9, NULL) == 4, "the content of a removed copy can be read");
	log_copy_free(kept);
	kept = open_log(dir, "removed", 1);
	ok(append(kept, STR_LIT("abc"), NULL) == 3, "bytes are appended to another copy");
	for (unsigned int i = 0; i < 200; i++)
		many[i] = open_log(dir, "another", i);
	(void)unlink(kept->path);
	ok(append(kept, STR_LIT("d"), NULL) == 1 && kept->lost != NULL &&
		   access(kept->path, F_OK) != 0,
	   "a removed copy is noticed when its descriptor is opened again");
	ok(log_copy_read(kept, 3, back, 9, NULL) == 1 && back[0] == 'd' &&
		   append(kept, STR_LIT("e"), NULL) == 1 &&
		   log_copy_read(kept, 3, back, 9, NULL) == 2,
	   "new bytes can be read");
	for (unsigned int i = 0; i < 200; i++) {
		(void)unlink(many[i]->path);
		log_copy_free(many[i]);
	}
	log_copy_free(kept);
	log_copies_free(dir);
}

static void test_full(void)
{
	struct log_copies *dir = open_dir(1 << 30);
	struct log_copy *copy = open_log(dir, "full", 0);
	const struct rlimit small = { 1000, RLIM_INFINITY };
	const struct rlimit large = { RLIM_INFINITY, RLIM_INFINITY };
	static char data[1500];
	struct err err = { ERR_NONE, "" };
	size_t took;

	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setrlimit(RLIMIT_FSIZE, &small);
	took = append(copy, (struct str){ data, 1500 }, &err);
	ok(took == 1000 && err.code == ERR_IO, "a full disk accepts a part of the bytes");
	(void)setrlimit(RLIMIT_FSIZE, &large);
	took = append(copy, (struct str){ data, 500 }, NULL);
	ok(took == 500 && copy->sum.len == 1500, "with space again, the rest is appended");
	log_copy_free(copy);
	log_copies_free(dir);
}

/* Append to more copies, in turn, than can be kept open. */
static void test_many(void)
{
	struct log_copies *dir;
	struct log_copy *all[300];
	struct rlimit had = { 0 }, few;
	char path[32];
	bool good = true;

	(void)getrlimit(RLIMIT_NOFILE, &had);
	few = (struct rlimit){ 200, had.rlim_max };
	(void)setrlimit(RLIMIT_NOFILE, &few);
	dir = open_dir(1 << 30);
	for (int i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "many%d", i);
		all[i] = open_log(dir, path, 0);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 300; i++)
			good = good && all[i] != NULL && append(all[i], STR_LIT("abc"), NULL) == 3;
	for (int i = 0; i < 300; i++) {
		good = good && all[i]->sum.len == 9;
		log_copy_free(all[i]);
	}
	ok(good, "more copies than descriptors can be appended to");
	log_copies_free(dir);
	(void)setrlimit(RLIMIT_NOFILE, &had);
}

/* Append numbers until killed. */
static void append_forever(int out)
{
	struct log_copies *dir = open_dir(1 << 30);
	struct log_copy *copy = open_log(dir, "killed", 0);

	for (unsigned int i = (unsigned int)copy->sum.len / 4;; i++) {
		struct str word = { (const char *)&i, sizeof(i) };

		if (append(copy, word, NULL) != sizeof(i) || write(out, "x", 1) != 1)
			_exit(1);
	}
}

static void test_kill(void)
{
	struct log_copies *dir;
	struct log_copy *copy;
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
	copy = open_log(dir, "killed", 0);
	for (; at < copy->sum.len; at += sizeof(word))
		same = same && log_copy_read(copy, at, &word, sizeof(word), NULL) == sizeof(word) &&
		       word == want++;
	ok(same && want >= 1000, "a copy killed at any time is a prefix, without duplicates");
	log_copy_free(copy);
	log_copies_free(dir);
}

static void remove_all(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
}

int main(void)
{
	static void (*const tests[])(void) = { test_bytes, test_prune, test_removed,
					       test_full,  test_many,  test_kill };

	if (mkdtemp(folder) == NULL)
		return 1;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tests[i]();
		remove_all();
	}
	is_int((long long)count_files(), 0, "nothing else is left");
	(void)rmdir(folder);
	return tap_done();
}
