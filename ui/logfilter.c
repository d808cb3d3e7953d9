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
#include "ui/logsrc.h"

#define PIECE_LINES 256

static void
add(struct logfile_hits *hits, uint64_t place)
{
	hits->v = xgrow(hits->v, hits->n, &hits->cap, sizeof(*hits->v));
	hits->v[hits->n++] = place;
}

/* A piece of the tails; false: that was the last one. */
static bool
sweep_tails(struct logsrc *src, bool forward, uint64_t *place)
{
	for (int i = 0; i < PIECE_LINES; i++) {
		const struct logtails_entry *entry =
			forward ? logtails_at(&src->tails, *place)
				: logtails_before(&src->tails, *place);
		const struct logtail_line *line;
		size_t at, len;

		if (entry == NULL)
			return false;
		line = logtails_line(entry);
		*place = entry->order + forward;
		if (pattern_find(src->filter,
				 (struct str){ line->text, line->len }, &at,
				 &len) != src->filter_out)
			add(forward ? &src->below : &src->above, entry->order);
	}
	return true;
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
		return sweep_tails(src, forward, place);
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
