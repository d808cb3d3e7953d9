/* SPDX-License-Identifier: MIT */
/* The last lines of logs, merged as they came; under the log view. */
#include "config.h"

#include "ui/logtails.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void
logtails_init(struct logtails *tails, const struct model *model,
	      const struct model_log *only)
{
	memset(tails, 0, sizeof(*tails));
	tails->model = model;
	tails->only = only;
	tails->seen_lines = UINT64_MAX;
}

void
logtails_release(struct logtails *tails)
{
	free(tails->v);
	free(tails->logs);
	memset(tails, 0, sizeof(*tails));
}

/* Number of the oldest line that a tail still keeps. */
static uint64_t
oldest(const struct model_log *log)
{
	return logtail_pushed(log->tail) - logtail_count(log->tail);
}

static bool
is_kept(const struct logtails_entry *entry)
{
	return entry->seq >= oldest(entry->log);
}

const struct logtail_line *
logtails_line(const struct logtails_entry *entry)
{
	return logtail_at(entry->log->tail,
			  (size_t)(entry->seq - oldest(entry->log)));
}

static int
by_order(const void *a, const void *b)
{
	uint64_t x = ((const struct logtails_entry *)a)->order;
	uint64_t y = ((const struct logtails_entry *)b)->order;

	return (x > y) - (x < y);
}

/* The lines of a tail that are new. */
static void
take(struct logtails *tails, struct logtails_log *of)
{
	uint64_t pushed = logtail_pushed(of->log->tail);
	uint64_t first = oldest(of->log);

	if (pushed > first && logtail_at(of->log->tail, 0)->line != 1)
		tails->is_cut = true;
	for (uint64_t seq = of->taken > first ? of->taken : first; seq < pushed;
	     seq++) {
		const struct logtail_line *line =
			logtail_at(of->log->tail, (size_t)(seq - first));

		tails->v = xgrow(tails->v, tails->n, &tails->cap,
				 sizeof(*tails->v));
		tails->v[tails->n++] =
			(struct logtails_entry){ line->order, of->log, seq };
	}
	of->taken = pushed;
}

static void
add_log(struct logtails *tails, const struct model_log *log)
{
	tails->logs = xgrow(tails->logs, tails->n_logs, &tails->cap_logs,
			    sizeof(*tails->logs));
	tails->logs[tails->n_logs++] = (struct logtails_log){ log, 0 };
}

/* Drop what the tails no longer keep, when it is the greater part. */
static void
compact(struct logtails *tails)
{
	size_t kept = 0, n = 0;

	for (size_t i = 0; i < tails->n_logs; i++)
		kept += logtail_count(tails->logs[i].log->tail);
	if (tails->n < 4096 || tails->n < 2 * kept)
		return;
	for (size_t i = 0; i < tails->n; i++)
		if (is_kept(&tails->v[i]))
			tails->v[n++] = tails->v[i];
	tails->n = n;
}

bool
logtails_refresh(struct logtails *tails)
{
	const struct model *model = tails->model;
	size_t before = tails->n;

	if (model == NULL || tails->seen_lines == model->n_lines)
		return false;
	tails->seen_lines = model->n_lines;
	if (tails->only != NULL && tails->n_logs == 0)
		add_log(tails, tails->only);
	while (tails->only == NULL && tails->n_logs < model->n_logs)
		add_log(tails, model->logs[tails->n_logs]);
	for (size_t i = 0; i < tails->n_logs; i++)
		take(tails, &tails->logs[i]);
	/* What is new came behind all that was taken before. */
	if (tails->n > before)
		qsort(tails->v + before, tails->n - before, sizeof(*tails->v),
		      by_order);
	compact(tails);
	return true;
}

uint64_t
logtails_end(const struct logtails *tails)
{
	return tails->n > 0 ? tails->v[tails->n - 1].order + 1 : 0;
}

/* Index of the first entry at or behind a place. */
static size_t
find(const struct logtails *tails, uint64_t place)
{
	size_t lo = 0, hi = tails->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (tails->v[mid].order < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct logtails_entry *
logtails_at(const struct logtails *tails, uint64_t place)
{
	for (size_t i = find(tails, place); i < tails->n; i++)
		if (is_kept(&tails->v[i]))
			return &tails->v[i];
	return NULL;
}

const struct logtails_entry *
logtails_before(const struct logtails *tails, uint64_t place)
{
	for (size_t i = find(tails, place); i > 0; i--)
		if (is_kept(&tails->v[i - 1]))
			return &tails->v[i - 1];
	return NULL;
}
