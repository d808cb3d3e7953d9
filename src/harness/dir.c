/* SPDX-License-Identifier: MIT */
/* What a directory of this machine is, before anybody reads it. */
#include "harness/dir.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/xalloc.h"

#define MAX_ENTRIES 4096
#define MAX_DEPTH   8

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool harness_dir_is(const char *path, bool later)
{
	/* The last two tell of a run that is still to begin. */
	static const char *const names[] = {
		".harnessgym/runs",  "compare_report.json", "plain/trial_1",
		"harnessed/trial_1", "run_config.json",	    "iterations/1",
		"results.tsv",	     ".harnessgym",	    "task.md",
	};
	size_t n = sizeof(names) / sizeof(names[0]) - (later ? 0 : 2);
	bool found = strcmp(file_name(path), ".harnessgym") == 0;

	for (size_t i = 0; i < n && !found; i++) {
		AUTO_TEXT full = xasprintf("%s/%s", path, names[i]);

		found = access(full, F_OK) == 0;
	}
	return found;
}

#define SAME_BYTES (16U * 1024 * 1024)

static bool is_same_file(const char *a, const char *b)
{
	AUTO_BUF x = buf_new(SAME_BYTES);
	AUTO_BUF y = buf_new(SAME_BYTES);

	return file_read(a, &x, NULL) == 0 && file_read(b, &y, NULL) == 0 &&
	       str_eq(buf_str(&x), buf_str(&y));
}

/* Counts the files that are the same; false: one is not. */
static bool are_same(const char *a, const char *b, unsigned int depth, size_t *n)
{
	DIR *folder = opendir(a);
	const struct dirent *entry;
	bool same = folder != NULL && depth <= MAX_DEPTH;

	while (same && (entry = readdir(folder)) != NULL) {
		char *x = xasprintf("%s/%s", a, entry->d_name);
		char *y = xasprintf("%s/%s", b, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "__pycache__") == 0 ||
		    strcmp(entry->d_name, ".harnessgym") == 0)
			same = true;
		else if (is_folder(x))
			same = are_same(x, y, depth + 1, n);
		else
			same = ++*n <= MAX_ENTRIES && is_same_file(x, y);
		free(x);
		free(y);
	}
	if (folder != NULL)
		(void)closedir(folder);
	return same;
}

bool harness_dir_same(const char *a, const char *b)
{
	size_t n = 0;

	return are_same(a, b, 0, &n) && n > 0;
}
