/* SPDX-License-Identifier: MIT */
/* file.c: files are written completely or not at all, on a file system that is really full. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

#define LIMIT_BYTES 4096
#define BIG_BYTES   (3 * LIMIT_BYTES)

/* Number of files in the working directory. */
static int count_files(void)
{
	DIR *dir = opendir(".");
	int n = 0;

	if (dir == NULL)
		abort();
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n - 2;
}

static void empty_folder(void)
{
	const struct dirent *entry;
	DIR *dir = opendir(".");

	if (dir == NULL)
		abort();
	while ((entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
}

static bool holds(const char *path, const char *want)
{
	char text[LIMIT_BYTES] = { 0 };
	FILE *file = fopen(path, "re");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file != NULL)
		(void)fclose(file);
	return file != NULL && n == strlen(want) && strcmp(text, want) == 0;
}

/* Limit the size of files, so that a write fails half way. */
static void limit_files(bool on)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
	limit.rlim_cur = on ? LIMIT_BYTES : limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
}

static void test_create(void)
{
	static const char *const names[] = { "a.csv", "a-1.csv", "a-2.csv" };
	struct stat st = { 0 };
	struct err err = { 0 };
	char *path;

	(void)umask(027);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = file_create("a.csv", str_from(names[i]), false, &err);
		ok(path != NULL && strcmp(path, names[i]) == 0 && holds(path, names[i]), "%s",
		   names[i]);
		free(path);
	}
	ok(holds("a.csv", "a.csv"), "an existing file is not touched");
	ok(stat("a.csv", &st) == 0 && (st.st_mode & 0777) == 0640, "the umask is respected");
	ok(umask(027) == 027, "the umask is restored");
	path = file_create("plain", str_from("1"), false, &err);
	free(path);
	path = file_create("plain", str_from("2"), false, &err);
	ok(path != NULL && strcmp(path, "plain-1") == 0,
	   "a number is added to a name without a suffix");
	free(path);
	path = file_create("./b.c/d", str_from("1"), false, &err);
	ok(path == NULL && err.code == ERR_IO && strstr(err.text, "b.c/d") != NULL,
	   "a missing folder is an error: %s", err.text);
	free(path);
	ok(count_files() == 5, "no other file is left after file_create");
}

static void test_replace(void)
{
	struct err err = { 0 };
	struct stat st = { 0 };

	ok(file_replace("r", str_from("one"), &err) == 0 && holds("r", "one"),
	   "file_replace creates a file");
	ok(file_replace("r", str_from("two"), &err) == 0 && holds("r", "two"),
	   "file_replace replaces a file");
	ok(stat("r", &st) == 0 && (st.st_mode & 0777) == 0600,
	   "the file is readable only by the owner");
	ok(count_files() == 6, "no other file is left after file_replace");
}

static void test_full(void)
{
	char *big = xcalloc(1, BIG_BYTES + 1), *path;
	struct err err = { 0 };

	memset(big, 'x', BIG_BYTES);
	limit_files(true);
	path = file_create("big.csv", str_from(big), false, &err);
	ok(path == NULL && err.code == ERR_IO, "a full disk is an error: %s", err.text);
	free(path);
	ok(file_replace("r", str_from(big), &err) != 0, "a full disk is an error for file_replace");
	limit_files(false);
	ok(holds("r", "two"), "the old content is unchanged");
	ok(count_files() == 6, "a full disk leaves no partial file");
	free(big);
}

static void test_names(void)
{
	static const struct {
		const char *path, *folder, *name;
	} paths[] = {
		{ "a/b/c.log", "a/b", "c.log" },
		{ "/c.log", "/", "c.log" },
		{ "c.log", ".", "c.log" },
		{ "a/", "a", "" },
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *folder = file_folder(paths[i].path);

		is_str(folder, paths[i].folder, "the directory of a path");
		is_str(file_name(paths[i].path), paths[i].name, "the file name of a path");
		free(folder);
	}
}

int main(void)
{
	char folder[] = "/tmp/t-file.XXXXXX";

	(void)signal(SIGXFSZ, SIG_IGN);
	if (mkdtemp(folder) == NULL || chdir(folder) != 0)
		abort();
	test_names();
	test_create();
	test_replace();
	test_full();
	empty_folder();
	(void)rmdir(folder);
	return tap_done();
}
