/* SPDX-License-Identifier: MIT */
/* Files to read, from names, globs and directories; called by `board`. */
#include "config.h"

#include "ingest/log_paths.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/xalloc.h"
#include "ingest/parse_files.h"

#define MAX_DEPTH 32

struct finder {
	struct log_paths *paths;
	struct map seen; /* "device:inode" of each file */
};

static bool
ends_like(const char *path, const char *const *ends)
{
	for (; *ends != NULL; ends++)
		if (str_ends_with(str_from(path), *ends))
			return true;
	return false;
}

static bool
is_table(const char *path)
{
	static const char *const ends[] = { ".csv", ".json", ".jsonl",
					    ".ndjson", NULL };

	return ends_like(path, ends);
}

static bool
is_log(const char *path)
{
	static const char *const ends[] = { ".log", ".txt", ".out", ".stdout",
					    NULL };

	return ends_like(path, ends);
}

/* strcmp, but runs of digits by their value: seed_7 before seed_42. */
static int
compare_naturally(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t la, lb;
			int order;

			a += strspn(a, "0");
			b += strspn(b, "0");
			la = strspn(a, "0123456789");
			lb = strspn(b, "0123456789");
			order = la != lb ? (la < lb ? -1 : 1)
					 : strncmp(a, b, la);
			if (order != 0)
				return order;
			a += la;
			b += lb;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return (*a != '\0') - (*b != '\0');
}

static int
compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	int order = compare_naturally(*x, *y);

	return order != 0 ? order : strcmp(*x, *y);
}

static void
add_file(struct finder *finder, const char *path, const struct stat *st,
	 bool named)
{
	struct log_paths *paths = finder->paths;
	char key[64];

	if (st != NULL) {
		(void)snprintf(key, sizeof(key), "%ju:%ju",
			       (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
		if (map_set(&finder->seen, str_from(key), finder) != NULL)
			return;
	}
	if (paths->n >= LOG_PATHS_MAX)
		return;
	xpush(paths->v, paths->n, paths->cap,
	      (struct log_path){ xstrdup(path), named, is_table(path) });
}

/* The names in a directory, sorted; how many. */
static size_t
list_directory(const char *path, char ***names)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0, cap = 0;

	*names = NULL;
	while (dir != NULL && n < LOG_PATHS_MAX &&
	       (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		xpush(*names, n, cap, xstrdup(entry->d_name));
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (n > 0)
		qsort(*names, n, sizeof(char *), compare_names);
	return n;
}

static void
add_directory(struct finder *finder, const char *path, int depth)
{
	char **names;
	size_t n = list_directory(path, &names), len = strlen(path);

	for (size_t i = 0; i < n; i++) {
		char *below = xasprintf(
			"%s%s%s", path,
			len > 0 && path[len - 1] == '/' ? "" : "/", names[i]);
		struct stat link, st;

		if (lstat(below, &link) == 0 && stat(below, &st) == 0) {
			if (S_ISDIR(link.st_mode) && depth < MAX_DEPTH)
				add_directory(finder, below, depth + 1);
			else if (S_ISREG(st.st_mode) && is_log(names[i]))
				add_file(finder, below, &st, false);
		}
		free(below);
		free(names[i]);
	}
	free(names);
}

void
log_paths_find(struct log_paths *paths, char *const *argv, size_t n)
{
	struct finder finder = { .paths = paths };
	size_t n_named;
	char **named = path_list_expand(argv, n, &n_named);

	*paths = (struct log_paths){ 0 };
	map_init(&finder.seen);
	for (size_t i = 0; i < n_named; i++) {
		struct stat st;

		if (strcmp(named[i], "-") == 0 || stat(named[i], &st) != 0)
			add_file(&finder, named[i], NULL, true);
		else if (S_ISDIR(st.st_mode))
			add_directory(&finder, named[i], 0);
		else
			add_file(&finder, named[i], &st, true);
	}
	map_release(&finder.seen, NULL);
	path_list_free(named);
}

void
log_paths_release(struct log_paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->v[i].path);
	free(paths->v);
	*paths = (struct log_paths){ 0 };
}
