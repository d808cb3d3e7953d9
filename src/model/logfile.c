/* SPDX-License-Identifier: MIT */
/* A log of any length, read by place; under the log view. */
#include "config.h"

#include "model/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

#define BLOCK_BYTES    (256U << 10)
#define INDEX_EVERY    256	  /* lines between two marks of the index */
#define INDEX_MAX      (1U << 22) /* a thousand million lines */
#define LINE_MAX_BYTES (1U << 20) /* a longer line is cut into several */

struct logfile {
	int fd;
	uint64_t size;
	char *block; /* owned; the bytes from block_at on */
	uint64_t block_at;
	size_t block_len;
	uint64_t *marks; /* owned; place of line 1 + i * INDEX_EVERY */
	size_t n_marks, cap_marks;
	uint64_t counted; /* bytes */
	uint64_t lines;	  /* line ends in them */
};

struct logfile *
logfile_open(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct logfile *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "%s: is no regular file", path);
		(void)close(fd);
		return NULL;
	}
	file = xcalloc(1, sizeof(*file));
	file->fd = fd;
	file->size = (uint64_t)st.st_size;
	file->block = xmalloc(BLOCK_BYTES);
	return file;
}

void
logfile_close(struct logfile *file)
{
	if (file == NULL)
		return;
	(void)close(file->fd);
	free(file->block);
	free(file->marks);
	free(file);
}

bool
logfile_refresh(struct logfile *file)
{
	struct stat st;
	uint64_t size;

	if (fstat(file->fd, &st) != 0)
		return false;
	size = (uint64_t)st.st_size;
	if (size == file->size)
		return false;
	if (size < file->size) { /* truncated: all that was known is void */
		file->counted = file->lines = 0;
		file->n_marks = 0;
	}
	file->size = size;
	file->block_len = 0;
	return true;
}

uint64_t
logfile_size(const struct logfile *file)
{
	return file->size;
}

/* Have the block hold the byte at `at`; false at the end of the file. */
static bool
load(struct logfile *file, uint64_t at)
{
	ssize_t n;

	if (at >= file->size)
		return false;
	if (at >= file->block_at && at < file->block_at + file->block_len)
		return true;
	file->block_at = at / BLOCK_BYTES * BLOCK_BYTES;
	do
		n = pread(file->fd, file->block, BLOCK_BYTES,
			  (off_t)file->block_at);
	while (n < 0 && errno == EINTR);
	file->block_len = n > 0 ? (size_t)n : 0;
	if (file->block_at + file->block_len > file->size)
		file->block_len = (size_t)(file->size - file->block_at);
	return at < file->block_at + file->block_len;
}

uint64_t
logfile_next(struct logfile *file, uint64_t place)
{
	uint64_t limit = place + LINE_MAX_BYTES;

	while (place < limit && load(file, place)) {
		size_t from = (size_t)(place - file->block_at);
		const char *end = memchr(file->block + from, '\n',
					 file->block_len - from);

		if (end != NULL)
			return file->block_at + (uint64_t)(end - file->block) +
			       1;
		place = file->block_at + file->block_len;
	}
	return place < file->size ? place : file->size;
}

uint64_t
logfile_line_start(struct logfile *file, uint64_t at)
{
	uint64_t least = at > LINE_MAX_BYTES ? at - LINE_MAX_BYTES : 0;

	while (at > least && load(file, at - 1)) {
		size_t upto = (size_t)(at - file->block_at);
		const char *end = memrchr(file->block, '\n', upto);

		if (end != NULL)
			return file->block_at + (uint64_t)(end - file->block) +
			       1;
		at = file->block_at;
	}
	return at;
}

uint64_t
logfile_prev(struct logfile *file, uint64_t place)
{
	return place == 0 ? 0 : logfile_line_start(file, place - 1);
}

void
logfile_read(struct logfile *file, uint64_t place, struct buf *line)
{
	uint64_t end = logfile_next(file, place);

	buf_clear(line);
	if (end > place + LOGFILE_LINE_BYTES)
		end = place + LOGFILE_LINE_BYTES;
	while (place < end && load(file, place)) {
		size_t from = (size_t)(place - file->block_at);
		size_t n = file->block_len - from;

		if (n > end - place)
			n = (size_t)(end - place);
		buf_append(line, file->block + from, n);
		place += n;
	}
	while (line->len > 0 && (line->data[line->len - 1] == '\n' ||
				 line->data[line->len - 1] == '\r'))
		line->data[--line->len] = '\0';
}

/* One step of a search; false when there is no line that way. */
static bool
step(struct logfile *file, bool forward, uint64_t *place)
{
	uint64_t next = forward ? logfile_next(file, *place)
				: logfile_prev(file, *place);

	if (next == *place || next >= file->size)
		return false;
	*place = next;
	return true;
}

int
logfile_search(struct logfile *file, const struct pattern *pattern,
	       bool forward, uint64_t budget, uint64_t *place)
{
	uint64_t begin = *place;
	struct buf line;
	int found = 0;
	size_t at, len;

	buf_init(&line, LOGFILE_LINE_BYTES);
	while (step(file, forward, place)) {
		logfile_read(file, *place, &line);
		if (pattern_find(pattern, (struct str){ line.data, line.len },
				 &at, &len)) {
			found = 1;
			break;
		}
		if ((forward ? *place - begin : begin - *place) > budget) {
			found = 2;
			break;
		}
	}
	buf_release(&line);
	return found;
}

static void
add_mark(struct logfile *file, uint64_t place)
{
	if (file->n_marks >= INDEX_MAX)
		return;
	file->marks = xgrow(file->marks, file->n_marks, &file->cap_marks,
			    sizeof(*file->marks));
	file->marks[file->n_marks++] = place;
}

bool
logfile_count(struct logfile *file, uint64_t budget)
{
	uint64_t stop = file->counted + budget;

	if (file->n_marks == 0)
		add_mark(file, 0);
	while (file->counted < stop && load(file, file->counted)) {
		const char *p = file->block + (file->counted - file->block_at);
		const char *end = file->block + file->block_len;

		while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
			p++;
			file->lines++;
			if (file->lines % INDEX_EVERY == 0)
				add_mark(file,
					 file->block_at +
						 (uint64_t)(p - file->block));
		}
		file->counted = file->block_at + file->block_len;
	}
	return file->counted < file->size;
}

uint64_t
logfile_number(struct logfile *file, uint64_t place)
{
	size_t lo = 0, hi = file->n_marks;
	uint64_t number, at;

	if (hi == 0 || place > file->counted)
		return 0;
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (file->marks[mid] <= place)
			lo = mid;
		else
			hi = mid;
	}
	number = 1 + (uint64_t)lo * INDEX_EVERY;
	for (at = file->marks[lo]; at < place; number++) {
		uint64_t next = logfile_next(file, at);

		if (next == at)
			break;
		at = next;
	}
	return number;
}

uint64_t
logfile_lines(const struct logfile *file, bool *all)
{
	*all = file->counted >= file->size;
	return file->lines;
}
