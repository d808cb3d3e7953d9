/* SPDX-License-Identifier: MIT */
/* Recordings for the demo; called by record-demo. */
#include "tests/tools/recording.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/xalloc.h"

struct recording {
	FILE *file;	    /* owned */
	int64_t at_ms;	    /* of the next record */
	int64_t written_ms; /* of the last one */
};

struct recording *recording_new(const char *path)
{
	FILE *file = fopen(path, "we");
	struct recording *rec;

	if (file == NULL)
		return NULL;
	rec = xcalloc(1, sizeof(*rec));
	rec->file = file;
	return rec;
}

int recording_close(struct recording *rec)
{
	int failed = ferror(rec->file);

	failed |= fclose(rec->file);
	free(rec);
	return failed != 0 ? -1 : 0;
}

void recording_at(struct recording *rec, int64_t at_ms)
{
	rec->at_ms = at_ms;
}

/* The time since the previous record, if it is not 0. */
static void put_time(struct recording *rec)
{
	if (rec->at_ms != rec->written_ms)
		(void)fprintf(rec->file, "%" PRId64, rec->at_ms - rec->written_ms);
	rec->written_ms = rec->at_ms;
}

void recording_put(struct recording *rec, char kind, const char *fmt, ...)
{
	va_list ap;

	put_time(rec);
	(void)fputc(kind, rec->file);
	va_start(ap, fmt);
	(void)vfprintf(rec->file, fmt, ap);
	va_end(ap);
	(void)fputc('\n', rec->file);
}

void recording_bytes(struct recording *rec, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = 0;
		char kind;

		while (n < len && data[n] != '\n' && data[n] != '\r')
			n++;
		kind = n == len ? '_' : data[n] == '\n' ? ' ' : '^';
		assert(memchr(data, '\0', n) == NULL);
		recording_put(rec, kind, "%.*s", (int)n, data);
		n += n < len;
		data += n;
		len -= n;
	}
}

static int put_file(struct recording *rec, const char *path, const char *name, struct err *err)
{
	FILE *file = fopen(path, "re");
	char data[4096];
	size_t n;

	if (file == NULL)
		return err_set_errno(err, ERR_IO, "%s", path);
	recording_put(rec, str_ends_with(str_from(name), ".jsonl") ? '+' : '>', "%s", name);
	while ((n = fread(data, 1, sizeof(data), file)) > 0)
		recording_bytes(rec, data, n);
	(void)fclose(file);
	return 0;
}

/* A file, or a directory with everything below it. */
static int put_entry(struct recording *rec, const char *path, const char *name, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return err_set_errno(err, ERR_IO, "%s", path);
	return S_ISDIR(st.st_mode) ? recording_folder(rec, path, name, err)
				   : put_file(rec, path, name, err);
}

int recording_folder(struct recording *rec, const char *folder, const char *name, struct err *err)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort), failed = 0;

	if (n < 0)
		return err_set_errno(err, ERR_IO, "%s", folder);
	for (int i = 0; i < n; i++) {
		const char *entry = entries[i]->d_name;
		char *path = xasprintf("%s/%s", folder, entry);
		char *to = xasprintf("%s/%s", name, entry);

		if (!failed && strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0)
			failed = put_entry(rec, path, to, err);
		free(path);
		free(to);
		free(entries[i]);
	}
	free(entries);
	return failed;
}
