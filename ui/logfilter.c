/* SPDX-License-Identifier: MIT */
/*
 * A filter's lines, found a piece at a time from where it was set outward,
 * so that a filter over millions of lines shows its first ones at once.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ui/logsrc_priv.h"

#define PIECE_LINES 256

static void
add(struct logfile_hits *hits, uint64_t place)
{
	hits->v = xgrow(hits->v, hits->n, &hits->cap, sizeof(*hits->v));
	hits->v[hits->n++] = place;
}

/* A piece, line by line; false: that was the last one. */
static bool
sweep_lines(struct logsrc *src, bool forward, uint64_t *place)
{
	struct buf raw, text;
	size_t at, len;
	bool more = true;

	buf_init(&raw, LOGSRC_RAW_BYTES);
	buf_init(&text, LOGSRC_RAW_BYTES);
	for (int i = 0; i < PIECE_LINES && more; i++) {
		uint64_t here = forward ? logsrc_raw_at(src, *place)
					: logsrc_raw_prev(src, *place);

		more = here != (forward ? logsrc_end(src) : UINT64_MAX);
		if (!more)
			break;
		*place = here + forward;
		logsrc_raw_visible(src, here, &raw, &text);
		if (pattern_find(src->filter,
				 (struct str){ text.data, text.len }, &at,
				 &len) != src->filter_out)
			add(forward ? &src->below : &src->above, here);
	}
	buf_release(&raw);
	buf_release(&text);
	return more;
}

static bool
sweep_file(struct logsrc *src, bool forward, uint64_t *place)
{
	const struct logfile_filter filter = { src->filter, src->filter_out,
					       src->block_bytes };
	int64_t before = clock_real.mono_ms(&clock_real);
	struct logfile_hits found = { NULL, 0, 0 };
	bool more = logfile_sweep(src->file, &filter, forward, place, &found);

	for (size_t i = 0; i < found.n; i++)
		add(forward ? &src->below : &src->above,
		    found.v[forward ? i : found.n - 1 - i]);
	free(found.v);
	src->block_bytes = logfile_pace(
		src->block_bytes, clock_real.mono_ms(&clock_real) - before);
	return more;
}

/* What was told of a last line that had no end yet is told again. */
static void
forget_unended(struct logsrc *src)
{
	while (src->below.n > 0 && src->below.v[src->below.n - 1] >= src->to)
		src->below.n--;
}

static bool
sweep(struct logsrc *src, bool forward, uint64_t *place)
{
	if (src->file == NULL)
		return sweep_lines(src, forward, place);
	return sweep_file(src, forward, place);
}

/* Of too many, the newest are kept. */
static void
limit(struct logsrc *src)
{
	size_t drop;

	if (src->above.n + src->below.n <= LOGSRC_MAX_HITS)
		return;
	src->above_done = src->is_cut = true;
	if (src->below.n <= LOGSRC_MAX_HITS)
		return;
	drop = src->below.n / 2;
	src->above.n = 0;
	src->below.n -= drop;
	memmove(src->below.v, src->below.v + drop,
		src->below.n * sizeof(*src->below.v));
}

bool
logsrc_filter_on(struct logsrc *src)
{
	if (src->filter == NULL)
		return false;
	limit(src);
	if (!src->below_done) {
		forget_unended(src);
		src->below_done = !sweep(src, true, &src->to);
	}
	if (!src->above_done)
		src->above_done = !sweep(src, false, &src->from);
	return !src->below_done || !src->above_done;
}
