/* SPDX-License-Identifier: MIT */
/* Create folders and files for `submission` and `export`. */
#include "report/new_folder.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

char *new_folder_make(const char *folder, struct err *err)
{
	const struct dirent *entry;
	size_t len = strlen(folder);
	bool empty = true;
	DIR *dir = opendir(folder);

	while (dir != NULL && empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir != NULL)
		(void)closedir(dir);
	else if (errno != ENOENT)
		err_set_errno(err, ERR_IO, "cannot open %s", folder);
	if (dir == NULL && errno != ENOENT)
		return NULL;
	if (!empty) {
		err_set(err, ERR_USAGE, "%s is not empty; nothing was written", folder);
		return NULL;
	}
	while (len > 1 && folder[len - 1] == '/')
		len--;
	char *partial = xasprintf("%.*s.%ld.partial", (int)len, folder, (long)getpid());
	if (mkdir(partial, 0777) == 0)
		return partial;
	err_set_errno(err, ERR_IO, "cannot create %s", folder);
	free(partial);
	return NULL;
}

int new_folder_end(const char *partial, const char *folder, int status, struct err *err)
{
	const struct dirent *entry;

	if (status == 0 && rename(partial, folder) == 0)
		return 0;
	if (status == 0)
		status = err_set_errno(err, ERR_IO, "cannot create %s", folder);
	DIR *dir = opendir(partial);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		(void)closedir(dir);
	(void)rmdir(partial);
	return status;
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
