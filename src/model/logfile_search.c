/* SPDX-License-Identifier: MIT */
/* Searches through a log by blocks of lines; for the log view. */
#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/logfile_priv.h"
#include "model/logtext.h"

#define SLOW_MS 4 /* a block that takes longer is too large */

/* A block of whole lines of the file, in the scan buffer. */
struct block {
	uint64_t at;
	struct str text;
};

/* The whole lines from `at` on, of about `want` bytes; false at the end. */
static bool
block_from(struct logfile *file, uint64_t at, size_t want, struct block *block)
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
			n = logfile_pread(file, scan,
					  (size_t)(logfile_next(file, at) - at),
					  at);
	}
	*block = (struct block){ at, { scan, n } };
	return n > 0;
}

/* The whole lines before `end` (a line's begin); false at the begin. */
static bool
block_before(struct logfile *file, uint64_t end, size_t want,
	     struct block *block)
{
	char *scan = logfile_scan(file);
	uint64_t at = end > want ? end - want : 0;
	size_t n, skip = 0;
	const char *first;

	if (end == 0)
		return false;
	n = logfile_pread(file, scan, (size_t)(end - at), at);
	first = at > 0 && n > 0 ? memchr(scan, '\n', n) : NULL;
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
static bool
find_visible(const struct pattern *pattern, struct str block, size_t from,
	     size_t *line)
{
	struct buf text;
	bool found = false;

	buf_init(&text, LOGFILE_SCAN_BYTES);
	while (from < block.len && !found) {
		const char *begin = block.p + from;
		const char *end = memchr(begin, '\n', block.len - from);
		size_t len =
			end != NULL ? (size_t)(end - begin) : block.len - from;
		size_t at, hit_len;

		buf_clear(&text);
		logtext_visible(&text, (struct str){ begin, len });
		found = pattern_find(pattern,
				     (struct str){ text.data, text.len }, &at,
				     &hit_len);
		*line = from;
		from += len + 1;
	}
	buf_release(&text);
	return found;
}

static bool
find_in(const struct pattern *pattern, struct str block, bool plain,
	size_t from, size_t *line)
{
	return plain ? pattern_find_line(pattern, block, from, line)
		     : find_visible(pattern, block, from, line);
}

/* Behind the line that begins at `from`. */
static size_t
behind(struct str block, size_t from)
{
	const char *end = memchr(block.p + from, '\n', block.len - from);

	return end != NULL ? (size_t)(end - block.p) + 1 : block.len;
}

/* The first or the last line of the block that matches. */
static bool
search_block(const struct pattern *pattern, const struct block *block,
	     bool last, uint64_t *place)
{
	bool plain = logtext_is_plain(block->text), found = false;
	size_t from = 0, line;

	while (from < block->text.len &&
	       find_in(pattern, block->text, plain, from, &line)) {
		found = true;
		*place = block->at + line;
		if (!last)
			break;
		from = behind(block->text, line);
	}
	return found;
}

size_t
logfile_pace(size_t bytes, int64_t took_ms)
{
	if (took_ms > SLOW_MS)
		return bytes / 4 > LOGFILE_FIRST_BYTES ? bytes / 4
						       : LOGFILE_FIRST_BYTES;
	return bytes < LOGFILE_CUT_BYTES / 2 ? bytes * 2 : bytes;
}

int
logfile_search(struct logfile *file, const struct pattern *pattern,
	       bool forward, int64_t until_ms, uint64_t *place)
{
	int64_t now = clock_real.mono_ms(&clock_real), before;
	size_t want = LOGFILE_FIRST_BYTES;
	struct block block;

	while (forward ? block_from(file, *place, want, &block)
		       : block_before(file, *place, want, &block)) {
		if (search_block(pattern, &block, !forward, place))
			return 1;
		*place = forward ? block.at + block.text.len : block.at;
		before = now;
		now = clock_real.mono_ms(&clock_real);
		if (now >= until_ms)
			return 2;
		want = logfile_pace(want, now - before);
	}
	return 0;
}

static void
add_hit(struct logfile_hits *hits, uint64_t place)
{
	hits->v = xgrow(hits->v, hits->n, &hits->cap, sizeof(*hits->v));
	hits->v[hits->n++] = place;
}

/* The lines of the block from `from` up to `to`. */
static void
add_lines(struct logfile_hits *hits, const struct block *block, size_t from,
	  size_t to)
{
	while (from < to) {
		add_hit(hits, block->at + from);
		from = behind(block->text, from);
	}
}

/* The lines of a block that match, or those that do not. */
static void
sweep_block(const struct logfile_filter *filter, const struct block *block,
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

bool
logfile_sweep(struct logfile *file, const struct logfile_filter *filter,
	      bool forward, uint64_t *place, struct logfile_hits *hits)
{
	struct block block;
	const char *last;

	hits->n = 0;
	if (forward ? !block_from(file, *place, filter->block_bytes, &block)
		    : !block_before(file, *place, filter->block_bytes, &block))
		return false;
	sweep_block(filter, &block, hits);
	if (!forward) {
		*place = block.at;
		return block.at > 0;
	}
	*place = block.at + block.text.len;
	if (*place < file->size)
		return true;
	/* A last line without its end may grow: it is looked at again. */
	last = memrchr(block.text.p, '\n', block.text.len);
	*place = last != NULL ? block.at + (size_t)(last - block.text.p) + 1
			      : block.at;
	return false;
}
