/* SPDX-License-Identifier: MIT */
/* The last lines of a log; written by the collector, read by the log view. */
#include "config.h"

#include "model/logtail.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xalloc.h"

struct logtail {
	struct logtail_line *ring; /* owned; grows up to cap lines */
	size_t n, room, cap, head;
	size_t bytes;
	uint64_t pushed;
};

struct logtail *
logtail_new(size_t cap_lines)
{
	struct logtail *tail = xcalloc(1, sizeof(*tail));

	assert(cap_lines > 0);
	tail->cap = cap_lines;
	return tail;
}

void
logtail_free(struct logtail *tail)
{
	if (tail == NULL)
		return;
	for (size_t i = 0; i < tail->n; i++)
		free(tail->ring[(tail->head + i) % tail->room].text);
	free(tail->ring);
	free(tail);
}

static void
drop_oldest(struct logtail *tail)
{
	struct logtail_line *line = &tail->ring[tail->head];

	tail->bytes -= line->len;
	free(line->text);
	line->text = NULL;
	tail->head = (tail->head + 1) % tail->room;
	tail->n--;
}

void
logtail_clear(struct logtail *tail)
{
	while (tail->n > 0)
		drop_oldest(tail);
}

/* Another ring, for at least as many as there are, its oldest line first. */
static void
set_room(struct logtail *tail, size_t room)
{
	struct logtail_line *ring;

	if (room > tail->cap)
		room = tail->cap;
	ring = xcalloc(room, sizeof(*ring));
	for (size_t i = 0; i < tail->n; i++)
		ring[i] = tail->ring[(tail->head + i) % tail->room];
	free(tail->ring);
	tail->ring = ring;
	tail->room = room;
	tail->head = 0;
}

void
logtail_limit(struct logtail *tail, size_t cap_lines)
{
	assert(cap_lines > 0);
	if (tail->cap == cap_lines)
		return;
	tail->cap = cap_lines;
	while (tail->n > cap_lines)
		drop_oldest(tail);
	if (tail->room > cap_lines)
		set_room(tail, cap_lines);
}

void
logtail_push(struct logtail *tail, const struct logtail_line *line)
{
	size_t len = line->len;
	struct logtail_line *slot;

	if (len > LOGTAIL_LINE_BYTES)
		len = LOGTAIL_LINE_BYTES;
	if (tail->n == tail->room && tail->room < tail->cap)
		set_room(tail, tail->room == 0 ? 64 : tail->room * 2);
	while (tail->n > 0 &&
	       (tail->n == tail->cap ||
		tail->bytes + len > tail->cap * LOGTAIL_MEAN_BYTES))
		drop_oldest(tail);
	slot = &tail->ring[(tail->head + tail->n) % tail->room];
	*slot = *line;
	slot->text = xstrndup(len > 0 ? line->text : "", len);
	slot->len = (uint32_t)len;
	tail->bytes += len;
	tail->n++;
	tail->pushed++;
}

size_t
logtail_count(const struct logtail *tail)
{
	return tail->n;
}

const struct logtail_line *
logtail_at(const struct logtail *tail, size_t i)
{
	assert(i < tail->n);
	return &tail->ring[(tail->head + i) % tail->room];
}

uint64_t
logtail_pushed(const struct logtail *tail)
{
	return tail->pushed;
}
