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

/* What stands behind "--workspace=" or the like; NULL: it is no such word. */
static const char *
value_of(const char *word)
{
	static const char *const flags[] = { "--workspace", "--output-dir" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(flags[i]);

		if (strncmp(word, flags[i], n) == 0 &&
		    (word[n] == '=' || word[n] == '\0'))
			return word + n + (word[n] == '=');
	}
	return NULL;
}

/* Behind "harnessgym run" or "compare": the folder that it works in. */
static bool
is_of_workspace(const char *pid, const char *workspace)
{
	AUTO_TEXT path = xasprintf("/proc/%s/cmdline", pid);
	AUTO_BUF text = buf_new(MAX_BYTES);
	const char *folder = NULL;
	struct str rest, word;
	unsigned int seen = 0; /* the program, and then what it does */

	if (file_read(path, &text, NULL) != 0)
		return false;
	rest = buf_str(&text);
	while (str_next(&rest, '\0', &word)) {
		if (folder != NULL && *folder == '\0')
			folder = word.p; /* it is the next word */
		else if (seen == 0)
			seen = is_program(word.p);
		else if (seen++ == 1 && strcmp(word.p, "run") != 0 &&
			 strcmp(word.p, "compare") != 0)
			return false;
		else if (folder == NULL)
			folder = value_of(word.p);
	}
	return seen > 1 &&
	       leads_to(pid, folder != NULL && *folder != '\0' ? folder : ".",
			workspace);
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
