/* SPDX-License-Identifier: MIT */
/* Look at a local directory without reading its runs. */
#include "harness/dir.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/xalloc.h"

#define MAX_ENTRIES 4096
#define MAX_DEPTH   8

bool harness_dir_is(const char *path, bool later)
{
	/* The last two can exist before the first run starts. */
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

/* Add the number of identical files to *n; false: one differs, or they are too many. */
static bool compare_dirs(const char *a, const char *b, unsigned int depth, size_t *n)
{
	DIR *folder = opendir(a);
	const struct dirent *entry;
	bool same = folder != NULL && depth <= MAX_DEPTH;

	while (same && (entry = readdir(folder)) != NULL) {
		AUTO_TEXT path_a = xasprintf("%s/%s", a, entry->d_name);
		AUTO_TEXT path_b = xasprintf("%s/%s", b, entry->d_name);
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "__pycache__") == 0 ||
		    strcmp(entry->d_name, ".harnessgym") == 0)
			continue;
		if (lstat(path_a, &st) == 0 && S_ISDIR(st.st_mode)) {
			same = compare_dirs(path_a, path_b, depth + 1, n);
			continue;
		}
		AUTO_BUF text_a = buf_new(SAME_BYTES);
		AUTO_BUF text_b = buf_new(SAME_BYTES);
		same = ++*n <= MAX_ENTRIES && file_read(path_a, &text_a, NULL) == 0 &&
		       file_read(path_b, &text_b, NULL) == 0 &&
		       str_eq(buf_str(&text_a), buf_str(&text_b));
	}
	if (folder != NULL)
		(void)closedir(folder);
	return same;
}

bool harness_dir_same(const char *a, const char *b)
{
	size_t n = 0;

	return compare_dirs(a, b, 0, &n) && n > 0;
}
