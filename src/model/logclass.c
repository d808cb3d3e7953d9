/* SPDX-License-Identifier: MIT */
/* Store the class and arrival time of the lines of a log, for the log view. */
#include "model/logclass.h"

#include "base/sort.h"

void logclass_release(struct logclass *lc)
{
	free(lc->v);
	memset(lc, 0, sizeof(*lc));
}

void logclass_add(struct logclass *lc, uint64_t number, enum line_class class)
{
	if (number <= lc->last)
		lc->n = 0;
	if (lc->n > 0 && number > lc->last + 1)
		logclass_add(lc, lc->last + 1, LINE_PLAIN); /* lines that were not reported */
	lc->last = number;
	if (lc->n >= LOGCLASS_MAX)
		return;
	if (lc->n >= LOGCLASS_MAX - 1 || (lc->n >= LOGCLASS_MAX_PLAIN && class == LINE_METRIC))
		class = LINE_PLAIN;
	if (lc->n > 0 && lc->v[lc->n - 1].class == class)
		return;
	xpush(lc->v, lc->n, lc->cap,
	      (struct logclass_stretch){ number & LOGCLASS_LINE_MASK, class & 0xff });
}

/* Find the index of the stretch that contains a line; lc->n: none. */
static size_t find_stretch(const struct logclass *lc, uint64_t number)
{
	if (lc->n == 0 || number < lc->v[0].first || number > lc->last)
		return lc->n;
	return bisect(lc->n, i, lc->v[i].first <= number) - 1;
}

enum line_class logclass_of(const struct logclass *lc, uint64_t number)
{
	size_t i = find_stretch(lc, number);

	return i < lc->n ? (enum line_class)lc->v[i].class : LINE_PLAIN;
}

void logclass_stretch(const struct logclass *lc, uint64_t number, uint64_t *first, uint64_t *last)
{
	size_t i = find_stretch(lc, number);

	*first = *last = number;
	if (i >= lc->n)
		return;
	*first = lc->v[i].first;
	*last = i + 1 < lc->n ? lc->v[i + 1].first - 1 : lc->last;
}

void logcame_release(struct logcame *came)
{
	free(came->v);
	memset(came, 0, sizeof(*came));
}

void logcame_add(struct logcame *came, uint64_t upto, int64_t wall_ms)
{
	if (came->n > 0 && upto < came->v[came->n - 1].upto)
		came->n = 0;
	/* Bytes that arrived at the same moment share a mark. */
	if (came->n > 0 && came->v[came->n - 1].wall_ms == wall_ms) {
		came->v[came->n - 1].upto = upto;
		return;
	}
	if (came->n == LOGCAME_MAX) {
		for (size_t i = 1; i < came->n; i += 2)
			came->v[i / 2] = came->v[i];
		came->n /= 2;
	}
	xpush(came->v, came->n, came->cap, (struct logcame_mark){ upto, wall_ms });
}

int64_t logcame_at(const struct logcame *came, uint64_t place)
{
	size_t at = bisect(came->n, i, came->v[i].upto <= place);

	return came->n == 0 ? 0 : came->v[at < came->n ? at : came->n - 1].wall_ms;
}
