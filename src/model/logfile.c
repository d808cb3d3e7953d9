/* SPDX-License-Identifier: MIT */
/* Read a log of any length by offset; used by the log view. */
#include "model/logfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/sort.h"
#include "model/logtext.h"

#define BLOCK_BYTES (256U << 10)
#define GUARD_BYTES 64U
#define SLOW_MS	    4 /* a block that takes longer is too large */

struct logfile {
	int fd;
	uint64_t size;
	int64_t changed_ns; /* mtime */
	unsigned int life;
	char *block; /* owned; starts at block_at */
	uint64_t block_at;
	size_t block_len;
	char *scan;	/* owned; LOGFILE_SCAN_BYTES, for searches */
	uint64_t *ends; /* owned; number of line ends before each block */
	size_t n_ends, cap_ends;
	uint64_t counted;	 /* bytes whose lines are counted */
	uint64_t lines;		 /* line ends in them */
	char guard[GUARD_BYTES]; /* the bytes before size */
	size_t guard_len;
};

size_t logfile_pread(const struct logfile *file, void *data, size_t len, uint64_t at)
{
	char *to = data;
	size_t done = 0;

	if (at >= file->size)
		return 0;
	if (len > file->size - at)
		len = (size_t)(file->size - at);
	while (done < len) {
		ssize_t n = pread(file->fd, to + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static char *logfile_scan(struct logfile *file)
{
	if (file->scan == NULL)
		file->scan = xmalloc(LOGFILE_SCAN_BYTES);
	return file->scan;
}

/* Store the new size, and the bytes before it, which show later whether the file was rewritten. */
static void store_size(struct logfile *file, const struct stat *st)
{
	file->size = (uint64_t)st->st_size;
	file->changed_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	file->block_len = 0;
	size_t len = file->size < GUARD_BYTES ? (size_t)file->size : GUARD_BYTES;
	file->guard_len = logfile_pread(file, file->guard, len, file->size - len);
}

struct logfile *logfile_open_fd(int fd, struct err *err)
{
	struct stat st;
	bool is_open = fd >= 0 && fstat(fd, &st) == 0;

	if (!is_open || !S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "%s", is_open ? "not a regular file" : strerror(errno));
		fd_close(&fd);
		return NULL;
	}
	struct logfile *file = xnew(struct logfile, .fd = fd, .block = xmalloc(BLOCK_BYTES));
	store_size(file, &st);
	return file;
}

struct logfile *logfile_open(const char *path, struct err *err)
{
	struct logfile *file = logfile_open_fd(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err);

	if (file == NULL)
		err_prefix(err, "%s", path);
	return file;
}

void logfile_close(struct logfile *file)
{
	if (file == NULL)
		return;
	(void)close(file->fd);
	free(file->block);
	free(file->scan);
	free(file->ends);
	free(file);
}

bool logfile_refresh(struct logfile *file)
{
	struct stat st;
	char before[GUARD_BYTES];
	size_t len = file->guard_len;

	if (fstat(file->fd, &st) != 0)
		return false;
	int64_t changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if ((uint64_t)st.st_size == file->size && changed_ns == file->changed_ns)
		return false;
	/* If the bytes before the old size changed, the file was rewritten. */
	if ((uint64_t)st.st_size < file->size ||
	    logfile_pread(file, before, len, file->size - len) != len ||
	    memcmp(before, file->guard, len) != 0) {
		file->counted = file->lines = 0;
		file->n_ends = 0;
		file->life++;
	}
	store_size(file, &st);
	return true;
}

unsigned int logfile_life(const struct logfile *file)
{
	return file->life;
}

uint64_t logfile_inode(const struct logfile *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

uint64_t logfile_size(const struct logfile *file)
{
	return file->size;
}

/* Load the block with the byte at `at`; false at the end of the file. */
static bool load_block(struct logfile *file, uint64_t at)
{
	if (at >= file->size)
		return false;
	if (at >= file->block_at && at < file->block_at + file->block_len)
		return true;
	file->block_at = at / BLOCK_BYTES * BLOCK_BYTES;
	file->block_len = logfile_pread(file, file->block, BLOCK_BYTES, file->block_at);
	return at < file->block_at + file->block_len;
}

uint64_t logfile_next(struct logfile *file, uint64_t place)
{
	/* A longer line is cut at the first multiple that is at least one cut away. */
	uint64_t cut = (place + 2 * LOGFILE_CUT_BYTES - 1) / LOGFILE_CUT_BYTES * LOGFILE_CUT_BYTES;

	while (place < cut && load_block(file, place)) {
		size_t from = (size_t)(place - file->block_at);
		const char *end = memchr(file->block + from, '\n', file->block_len - from);

		if (end != NULL)
			return file->block_at + (uint64_t)(end - file->block) + 1;
		place = file->block_at + file->block_len;
	}
	return place < file->size ? place : file->size;
}

uint64_t logfile_line_start(struct logfile *file, uint64_t at)
{
	uint64_t cut = at / LOGFILE_CUT_BYTES * LOGFILE_CUT_BYTES;
	uint64_t least = cut > 0 ? cut - LOGFILE_CUT_BYTES : 0;

	while (at > least && load_block(file, at - 1)) {
		size_t upto = (size_t)(at - file->block_at);
		const char *end = memrchr(file->block, '\n', upto);

		if (end != NULL)
			return file->block_at + (uint64_t)(end - file->block) + 1;
		at = file->block_at;
	}
	return at > least ? at : cut;
}

uint64_t logfile_prev(struct logfile *file, uint64_t place)
{
	return place == 0 ? 0 : logfile_line_start(file, place - 1);
}

void logfile_read(struct logfile *file, uint64_t place, struct buf *line)
{
	uint64_t end = logfile_next(file, place);

	buf_clear(line);
	if (end > place + line->cap)
		end = place + line->cap;
	while (place < end && load_block(file, place)) {
		size_t from = (size_t)(place - file->block_at);
		size_t n = file->block_len - from;

		if (n > end - place)
			n = (size_t)(end - place);
		buf_append(line, file->block + from, n);
		place += n;
	}
	while (line->len > 0 &&
	       (line->data[line->len - 1] == '\n' || line->data[line->len - 1] == '\r'))
		line->data[--line->len] = '\0';
}

bool logfile_is_part(struct logfile *file, uint64_t place)
{
	return place > 0 && load_block(file, place - 1) &&
	       file->block[place - 1 - file->block_at] != '\n';
}

static uint64_t count_ends(const char *p, size_t len)
{
	const char *end = p + len;
	uint64_t n = 0;

	for (; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		n++;
	return n;
}

bool logfile_count(struct logfile *file, uint64_t budget)
{
	uint64_t stop = file->counted + budget;
	char *scan = logfile_scan(file);

	while (file->counted < stop && file->counted < file->size) {
		size_t rest = BLOCK_BYTES - file->counted % BLOCK_BYTES;

		if (rest == BLOCK_BYTES)
			xpush(file->ends, file->n_ends, file->cap_ends, file->lines);
		rest = logfile_pread(file, scan, rest, file->counted);
		if (rest == 0)
			break;
		file->lines += count_ends(scan, rest);
		file->counted += rest;
	}
	return file->counted < file->size;
}

uint64_t logfile_number(struct logfile *file, uint64_t place)
{
	if (place > file->counted || file->n_ends == 0)
		return 0;
	if (place == file->counted)
		return file->lines + 1;
	if (!load_block(file, place))
		return 0;
	return file->ends[place / BLOCK_BYTES] + 1 +
	       count_ends(file->block, (size_t)(place - file->block_at));
}

uint64_t logfile_place(struct logfile *file, uint64_t number)
{
	uint64_t before;

	if (number == 0 || number > file->lines + 1 || file->n_ends == 0)
		return file->size;
	if (number == 1)
		return 0;
	size_t i = bisect(file->n_ends, k, file->ends[k] < number - 1) - 1;
	if (!load_block(file, i * BLOCK_BYTES))
		return file->size;
	const char *p = file->block;
	for (before = number - 1 - file->ends[i]; before > 0 && p != NULL; before--) {
		p = memchr(p, '\n', (size_t)(file->block + file->block_len - p));
		p += p != NULL;
	}
	return p != NULL ? file->block_at + (uint64_t)(p - file->block) : file->size;
}

uint64_t logfile_lines(const struct logfile *file, bool *all)
{
	bool has_end = file->guard_len == 0 || file->guard[file->guard_len - 1] == '\n';

	*all = file->counted >= file->size;
	return file->lines + (*all && !has_end);
}

/* Whole lines of the file, in the scan buffer. */
struct block {
	uint64_t at;
	struct str text;
};

/* Read whole lines from `at` on, about `want` bytes; false at the end. */
static bool read_block_from(struct logfile *file, uint64_t at, size_t want, struct block *block)
{
	char *scan = logfile_scan(file);
	size_t n = logfile_pread(file, scan, want, at);
	const char *last;

	if (n == 0)
		return false;
	if (at + n < file->size) {
		last = memrchr(scan, '\n', n);
		if (last != NULL)
			n = (size_t)(last - scan) + 1;
		else
			n = logfile_pread(file, scan, (size_t)(logfile_next(file, at) - at), at);
	}
	*block = (struct block){ at, { scan, n } };
	return n > 0;
}

/* Read whole lines before `end`, the start of a line; false at the start of the file. */
static bool read_block_before(struct logfile *file, uint64_t end, size_t want, struct block *block)
{
	char *scan = logfile_scan(file);
	uint64_t at = end > want ? end - want : 0;
	size_t n, skip = 0;

	if (end == 0)
		return false;
	n = logfile_pread(file, scan, (size_t)(end - at), at);
	const char *first = at > 0 && n > 0 ? memchr(scan, '\n', n) : NULL;
	if (first != NULL)
		skip = (size_t)(first - scan) + 1;
	if (at > 0 && (first == NULL || skip == n)) {
		at = logfile_prev(file, end);
		n = logfile_pread(file, scan, (size_t)(end - at), at);
		skip = 0;
	}
	*block = (struct block){ at + skip, { scan + skip, n - skip } };
	return n > skip;
}

/* Like pattern_find_line, but matches the visible text of each line. */
static bool find_visible_line(const struct pattern *pattern, struct str block, size_t from,
			      size_t *line)
{
	AUTO_BUF text = buf_new(LOGFILE_SCAN_BYTES);
	bool found = false;

	while (from < block.len && !found) {
		const char *begin = block.p + from;
		const char *end = memchr(begin, '\n', block.len - from);
		size_t len = end != NULL ? (size_t)(end - begin) : block.len - from;
		size_t at, hit_len;

		buf_clear(&text);
		logtext_visible(&text, (struct str){ begin, len });
		found = pattern_find(pattern, buf_str(&text), &at, &hit_len);
		*line = from;
		from += len + 1;
	}
	return found;
}

static size_t line_end_after(struct str block, size_t from)
{
	const char *end = memchr(block.p + from, '\n', block.len - from);

	return end != NULL ? (size_t)(end - block.p) + 1 : block.len;
}

static void add_lines(struct logfile_hits *hits, const struct block *block, size_t from, size_t to)
{
	while (from < to) {
		xpush(hits->v, hits->n, hits->cap, block->at + from);
		from = line_end_after(block->text, from);
	}
}

bool logfile_sweep(struct logfile *file, struct logfile_filter *filter, bool forward,
		   uint64_t *place, struct logfile_hits *hits)
{
	int64_t began = clock_mono_ms();
	size_t before = hits->n, from = 0, line;
	struct block block;

	if (forward ? !read_block_from(file, *place, filter->block_bytes, &block)
		    : !read_block_before(file, *place, filter->block_bytes, &block))
		return false;
	bool is_plain = logtext_is_plain(block.text);
	while (from < block.text.len &&
	       (is_plain ? pattern_find_line(filter->pattern, block.text, from, &line)
			 : find_visible_line(filter->pattern, block.text, from, &line))) {
		if (filter->invert)
			add_lines(hits, &block, from, line);
		else
			xpush(hits->v, hits->n, hits->cap, block.at + line);
		from = line_end_after(block.text, line);
	}
	if (filter->invert)
		add_lines(hits, &block, from, block.text.len);
	if (clock_mono_ms() - began > SLOW_MS)
		filter->block_bytes = filter->block_bytes / 4 > LOGFILE_FIRST_BYTES
					      ? filter->block_bytes / 4
					      : LOGFILE_FIRST_BYTES;
	else if (filter->block_bytes < LOGFILE_CUT_BYTES / 2)
		filter->block_bytes *= 2;
	if (!forward) {
		for (size_t to = hits->n; before + 1 < to; before++) {
			uint64_t first = hits->v[before];

			hits->v[before] = hits->v[--to];
			hits->v[to] = first;
		}
		*place = block.at;
		return block.at > 0;
	}
	*place = block.at + block.text.len;
	if (*place < file->size)
		return true;
	/* A last line without a line end may grow: leave it for the next sweep. */
	const char *last = memrchr(block.text.p, '\n', block.text.len);
	*place = last != NULL ? block.at + (size_t)(last - block.text.p) + 1 : block.at;
	return false;
}
