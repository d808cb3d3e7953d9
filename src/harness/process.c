/* SPDX-License-Identifier: MIT */
/* The process behind a run of this machine; called by dir. */
#include "config.h"

#include "harness/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/xalloc.h"

#define MAX_BYTES 65536U

/* The command line of a process, its words parted by NUL, while it is read. */
struct words {
	struct str rest;
	const char *pid;
};

static const char *
next_word(struct words *words)
{
	const char *word = words->rest.p;
	size_t n;

	if (words->rest.len == 0)
		return NULL;
	n = strnlen(word, words->rest.len);
	n += n < words->rest.len;
	words->rest.p += n;
	words->rest.len -= n;
	return word;
}

/* "harnessgym", "/usr/bin/harnessgym", the module "harnessgym.cli". */
static bool
is_program(const char *word)
{
	static const char name[] = "harnessgym";
	const char *base = file_name(word);
	size_t n = sizeof(name) - 1;

	return strncmp(base, name, n) == 0 &&
	       (base[n] == '\0' || base[n] == '.');
}

/* Whether that path, from where the process is, leads to the workspace. */
static bool
leads_to(const char *pid, const char *path, const char *workspace)
{
	char full[PATH_MAX];
	char *from = *path == '/' ? xstrdup(path)
				  : xasprintf("/proc/%s/cwd/%s", pid, path);
	size_t n;
	bool same = realpath(from, full) != NULL;

	free(from);
	n = same ? strlen(full) : 0;
	return same && strncmp(workspace, full, n) == 0 &&
	       (workspace[n] == '\0' || workspace[n] == '/');
}

/* What stands behind a flag, in its word or as the next one; NULL: other. */
static const char *
value_of(struct words *words, const char *word, const char *flag)
{
	size_t n = strlen(flag);

	if (strncmp(word, flag, n) != 0)
		return NULL;
	if (word[n] == '=')
		return word + n + 1;
	return word[n] == '\0' ? next_word(words) : NULL;
}

/* Behind "harnessgym run" or "compare": the folder that it works in. */
static bool
names_workspace(struct words *words, const char *workspace)
{
	const char *word, *path;

	while ((word = next_word(words)) != NULL) {
		path = value_of(words, word, "--workspace");
		if (path == NULL)
			path = value_of(words, word, "--output-dir");
		if (path != NULL)
			return leads_to(words->pid, path, workspace);
	}
	return leads_to(words->pid, ".", workspace);
}

static bool
is_of_workspace(const char *pid, const char *workspace)
{
	char *path = xasprintf("/proc/%s/cmdline", pid);
	struct words words = { .pid = pid };
	const char *word;
	struct buf text;
	bool found = false;

	buf_init(&text, MAX_BYTES);
	if (file_read(path, &text, NULL) == 0)
		words.rest = (struct str){ text.data, text.len };
	free(path);
	while ((word = next_word(&words)) != NULL && !is_program(word))
		;
	word = word != NULL ? next_word(&words) : NULL;
	if (word != NULL &&
	    (strcmp(word, "run") == 0 || strcmp(word, "compare") == 0))
		found = names_workspace(&words, workspace);
	buf_release(&text);
	return found;
}

enum harness_tri
harness_process_find(const char *workspace)
{
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	bool found = false;
	struct stat st;

	if (all == NULL)
		return HARNESS_UNKNOWN;
	while (!found && (entry = readdir(all)) != NULL)
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			is_of_workspace(entry->d_name, workspace);
	(void)closedir(all);
	if (found)
		return HARNESS_YES;
	return stat(workspace, &st) == 0 &&
			       (st.st_uid == geteuid() || geteuid() == 0) &&
			       access("/proc/self/cmdline", R_OK) == 0
		       ? HARNESS_NO
		       : HARNESS_UNKNOWN;
}
