/* SPDX-License-Identifier: MIT */
/* A log of any length, read by place; under the log view. */
#include "model/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sort.h"
#include "base/xalloc.h"
#include "model/logtext.h"

#define BLOCK_BYTES (256U << 10)
#define GUARD_BYTES 64U
#define SLOW_MS	    4 /* a block that takes longer is too large */

struct logfile {
	int fd;
	uint64_t size;
	int64_t changed_ns; /* mtime */
	unsigned int life;
	char *block; /* owned; the bytes from block_at on */
	uint64_t block_at;
	size_t block_len;
	char *scan;	/* owned; LOGFILE_SCAN_BYTES, of searches */
	uint64_t *ends; /* owned; line ends before each block */
	size_t n_ends, cap_ends;
	uint64_t counted;	 /* bytes */
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

/* Take over the size, and what stands before it. */
static void note_size(struct logfile *file, const struct stat *st)
{
	size_t len = GUARD_BYTES;

	file->size = (uint64_t)st->st_size;
	file->changed_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	file->block_len = 0;
	if (len > file->size)
		len = (size_t)file->size;
	file->guard_len = logfile_pread(file, file->guard, len, file->size - len);
}

/* Whether the bytes that stood before the old size still do. */
static bool is_same_life(const struct logfile *file, uint64_t size)
{
	char now[GUARD_BYTES];

	return size >= file->size &&
	       logfile_pread(file, now, file->guard_len, file->size - file->guard_len) ==
		       file->guard_len &&
	       memcmp(now, file->guard, file->guard_len) == 0;
}

struct logfile *logfile_open_fd(int fd, struct err *err)
{
	struct logfile *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		err_set(err, ERR_IO, "%s", strerror(errno));
		if (fd >= 0)
			(void)close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "is no regular file");
		(void)close(fd);
		return NULL;
	}
	file = xcalloc(1, sizeof(*file));
	file->fd = fd;
	file->block = xmalloc(BLOCK_BYTES);
	note_size(file, &st);
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
	int64_t changed_ns;

	if (fstat(file->fd, &st) != 0)
		return false;
	changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if ((uint64_t)st.st_size == file->size && changed_ns == file->changed_ns)
		return false;
	if (!is_same_life(file, (uint64_t)st.st_size)) {
		file->counted = file->lines = 0;
		file->n_ends = 0;
		file->life++;
	}
	note_size(file, &st);
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

/* Have the block hold the byte at `at`; false at the end of the file. */
static bool load(struct logfile *file, uint64_t at)
{
	if (at >= file->size)
		return false;
	if (at >= file->block_at && at < file->block_at + file->block_len)
		return true;
	file->block_at = at / BLOCK_BYTES * BLOCK_BYTES;
	file->block_len = logfile_pread(file, file->block, BLOCK_BYTES, file->block_at);
	return at < file->block_at + file->block_len;
}

/*
 * Where a line that begins at `place` is cut when it does not end before: at
 * the first multiple that is a whole cut away.
 */
static uint64_t cut_behind(uint64_t place)
{
	return (place + 2 * LOGFILE_CUT_BYTES - 1) / LOGFILE_CUT_BYTES * LOGFILE_CUT_BYTES;
}

uint64_t logfile_next(struct logfile *file, uint64_t place)
{
	uint64_t cut = cut_behind(place);

	while (place < cut && load(file, place)) {
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

	while (at > least && load(file, at - 1)) {
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
	while (place < end && load(file, place)) {
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
	return place > 0 && load(file, place - 1) &&
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
	if (!load(file, place))
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
	if (!load(file, i * BLOCK_BYTES))
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

/* A block of whole lines of the file, in the scan buffer. */
struct block {
	uint64_t at;
	struct str text;
};

/* The whole lines from `at` on, of about `want` bytes; false at the end. */
static bool block_from(struct logfile *file, uint64_t at, size_t want, struct block *block)
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

/* The whole lines before `end` (a line's begin); false at the begin. */
static bool block_before(struct logfile *file, uint64_t end, size_t want, struct block *block)
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

/* As pattern_find_line, over what of each line can be seen. */
static bool find_visible(const struct pattern *pattern, struct str block, size_t from, size_t *line)
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

static bool find_in(const struct pattern *pattern, struct str block, bool plain, size_t from,
		    size_t *line)
{
	return plain ? pattern_find_line(pattern, block, from, line)
		     : find_visible(pattern, block, from, line);
}

/* Behind the line that begins at `from`. */
static size_t behind(struct str block, size_t from)
{
	const char *end = memchr(block.p + from, '\n', block.len - from);

	return end != NULL ? (size_t)(end - block.p) + 1 : block.len;
}

/* The next block's bytes by how long this one took. */
static size_t paced(size_t bytes, int64_t took_ms)
{
	if (took_ms > SLOW_MS)
		return bytes / 4 > LOGFILE_FIRST_BYTES ? bytes / 4 : LOGFILE_FIRST_BYTES;
	return bytes < LOGFILE_CUT_BYTES / 2 ? bytes * 2 : bytes;
}

static void add_hit(struct logfile_hits *hits, uint64_t place)
{
	xpush(hits->v, hits->n, hits->cap, place);
}

/* The lines of the block from `from` up to `to`. */
static void add_lines(struct logfile_hits *hits, const struct block *block, size_t from, size_t to)
{
	while (from < to) {
		add_hit(hits, block->at + from);
		from = behind(block->text, from);
	}
}

/* The lines of a block that match, or those that do not. */
static void sweep_block(const struct logfile_filter *filter, const struct block *block,
			struct logfile_hits *hits)
{
	bool plain = logtext_is_plain(block->text);
	size_t from = 0, line;

	while (from < block->text.len &&
	       find_in(filter->pattern, block->text, plain, from, &line)) {
		if (filter->invert)
			add_lines(hits, block, from, line);
		else
			add_hit(hits, block->at + line);
		from = behind(block->text, line);
	}
	if (filter->invert)
		add_lines(hits, block, from, block->text.len);
}

/* What was added to the hits, the other way round. */
static void turn_hits(struct logfile_hits *hits, size_t from)
{
	for (size_t to = hits->n; from + 1 < to; from++) {
		uint64_t first = hits->v[from];

		hits->v[from] = hits->v[--to];
		hits->v[to] = first;
	}
}

bool logfile_sweep(struct logfile *file, struct logfile_filter *filter, bool forward,
		   uint64_t *place, struct logfile_hits *hits)
{
	int64_t began = clock_mono_ms();
	size_t before = hits->n;
	struct block block;

	if (forward ? !block_from(file, *place, filter->block_bytes, &block)
		    : !block_before(file, *place, filter->block_bytes, &block))
		return false;
	sweep_block(filter, &block, hits);
	filter->block_bytes = paced(filter->block_bytes, clock_mono_ms() - began);
	if (!forward) {
		turn_hits(hits, before);
		*place = block.at;
		return block.at > 0;
	}
	*place = block.at + block.text.len;
	if (*place < file->size)
		return true;
	/* A last line without its end may grow: it is looked at again. */
	const char *last = memrchr(block.text.p, '\n', block.text.len);
	*place = last != NULL ? block.at + (size_t)(last - block.text.p) + 1 : block.at;
	return false;
}
