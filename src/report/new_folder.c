/* SPDX-License-Identifier: MIT */
/* Create folders and files for `submission` and `export`. */
#include "report/new_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"

int new_folder_make(const char *folder, struct err *err)
{
	const struct dirent *entry;
	bool empty = true;

	if (mkdir(folder, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return err_set_errno(err, ERR_IO, "cannot create %s", folder);
	DIR *dir = opendir(folder);
	if (dir == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", folder);
	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	(void)closedir(dir);
	if (!empty)
		return err_set(err, ERR_USAGE, "%s is not empty; nothing was written", folder);
	return 0;
}

FILE *new_folder_create(const char *folder, const char *name, char **path, struct err *err)
{
	*path = xasprintf("%s/%s", folder, name);
	FILE *stream = fopen(*path, "wbxe");
	if (stream == NULL) {
		err_set_errno(err, ERR_IO, "cannot create %s", *path);
		free(*path);
		*path = NULL;
	}
	return stream;
}

int new_folder_finish(FILE *stream, char *path, struct err *err)
{
	int failed = ferror(stream);

	failed |= fclose(stream) != 0;
	if (failed)
		err_set(err, ERR_IO, "cannot write %s", path);
	free(path);
	return failed ? -1 : 0;
}
