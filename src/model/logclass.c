/* SPDX-License-Identifier: MIT */
/* The classes of a log's lines; written by the model, read by the log view. */
#include "config.h"

#include "model/logclass.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void
logclass_release(struct logclass *lc)
{
	free(lc->v);
	memset(lc, 0, sizeof(*lc));
}

void
logclass_add(struct logclass *lc, uint64_t number, enum line_class class)
{
	if (number <= lc->last)
		lc->n = 0;
	if (lc->n > 0 && number > lc->last + 1)
		logclass_add(lc, lc->last + 1, LINE_PLAIN); /* left out */
	lc->last = number;
	if (lc->n >= LOGCLASS_MAX)
		return;
	if (lc->n >= LOGCLASS_MAX - 1 ||
	    (lc->n >= LOGCLASS_MAX_PLAIN && class == LINE_METRIC))
		class = LINE_PLAIN;
	if (lc->n > 0 && lc->v[lc->n - 1].class == class)
		return;
	lc->v = xgrow(lc->v, lc->n, &lc->cap, sizeof(*lc->v));
	lc->v[lc->n++] = (struct logclass_stretch){ number, class };
}

/* The stretch of a line, n when there is none. */
static size_t
find(const struct logclass *lc, uint64_t number)
{
	size_t lo = 0, hi = lc->n;

	if (hi == 0 || number < lc->v[0].first || number > lc->last)
		return lc->n;
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (lc->v[mid].first <= number)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

enum line_class
logclass_of(const struct logclass *lc, uint64_t number)
{
	size_t i = find(lc, number);

	return i < lc->n ? lc->v[i].class : LINE_PLAIN;
}

void
logclass_stretch(const struct logclass *lc, uint64_t number, uint64_t *first,
		 uint64_t *last)
{
	size_t i = find(lc, number);

	*first = *last = number;
	if (i >= lc->n)
		return;
	*first = lc->v[i].first;
	*last = i + 1 < lc->n ? lc->v[i + 1].first - 1 : lc->last;
}
