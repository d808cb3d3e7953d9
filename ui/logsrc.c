/* SPDX-License-Identifier: MIT */
/* The log view's lines, from a file or from the model's tails. */
#include "config.h"

#include "ui/logsrc.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

#define CALL_BUDGET (8U << 20)

void
logsrc_init(struct logsrc *src)
{
	memset(src, 0, sizeof(*src));
	src->fold = true;
}

static void
close_source(struct logsrc *src)
{
	logfile_close(src->file);
	src->file = NULL;
	free(src->entries);
	src->entries = NULL;
	src->n_entries = src->cap_entries = 0;
}

void
logsrc_release(struct logsrc *src)
{
	close_source(src);
	pattern_free(src->filter);
	logsrc_init(src);
}

static int
compare_entries(const void *a, const void *b)
{
	uint64_t x = ((const struct logsrc_entry *)a)->line->order;
	uint64_t y = ((const struct logsrc_entry *)b)->line->order;

	return (x > y) - (x < y);
}

static void
add_tail(struct logsrc *src, const struct model_log *log)
{
	size_t n = logtail_count(log->tail);

	for (size_t i = 0; i < n; i++) {
		src->entries = xgrow(src->entries, src->n_entries,
				     &src->cap_entries, sizeof(*src->entries));
		src->entries[src->n_entries++] =
			(struct logsrc_entry){ log, logtail_at(log->tail, i) };
	}
}

/* The tails move under us: take their lines anew. */
static void
gather(struct logsrc *src)
{
	src->n_entries = 0;
	src->seen_lines = src->model->n_lines;
	if (src->log != NULL) {
		add_tail(src, src->log);
		return;
	}
	for (size_t i = 0; i < src->model->n_logs; i++)
		add_tail(src, src->model->logs[i]);
	if (src->n_entries > 0)
		qsort(src->entries, src->n_entries, sizeof(*src->entries),
		      compare_entries);
}

void
logsrc_open(struct logsrc *src, const struct model *model,
	    const struct model_log *log)
{
	close_source(src);
	src->model = model;
	src->log = log;
	if (log != NULL && log->file != NULL)
		src->file = logfile_open(log->file, NULL);
	if (src->file == NULL)
		gather(src);
}

bool
logsrc_refresh(struct logsrc *src)
{
	if (src->file != NULL)
		return logfile_refresh(src->file);
	if (src->model == NULL || src->seen_lines == src->model->n_lines)
		return false;
	gather(src);
	return true;
}

uint64_t
logsrc_end(const struct logsrc *src)
{
	return src->file != NULL ? logfile_size(src->file) : src->n_entries;
}

static uint64_t
raw_next(struct logsrc *src, uint64_t place)
{
	if (src->file != NULL)
		return logfile_next(src->file, place);
	return place < src->n_entries ? place + 1 : place;
}

/* The class of a numbered line, as far back as the tail goes. */
static enum line_class
class_of(const struct model_log *log, uint64_t number)
{
	size_t n = logtail_count(log->tail);
	uint64_t first = n > 0 ? logtail_at(log->tail, 0)->line : 0;

	if (n == 0 || number < first || number - first >= n)
		return LINE_PLAIN;
	return logtail_at(log->tail, (size_t)(number - first))->class;
}

static enum line_class
raw_class(struct logsrc *src, uint64_t place)
{
	if (src->file != NULL)
		return class_of(src->log, logfile_number(src->file, place));
	return src->entries[place].line->class;
}

static void
raw_read(struct logsrc *src, uint64_t place, struct buf *text)
{
	if (src->file != NULL) {
		logfile_read(src->file, place, text);
		return;
	}
	buf_clear(text);
	buf_append(text, src->entries[place].line->text,
		   src->entries[place].line->len);
}

/* Whether the filter lets the line through. */
static bool
is_shown(struct logsrc *src, uint64_t place)
{
	struct buf text;
	size_t at, len;
	bool found;

	if (src->filter == NULL)
		return true;
	buf_init(&text, LOGFILE_LINE_BYTES);
	raw_read(src, place, &text);
	src->budget -= src->budget < text.len + 1 ? src->budget : text.len + 1;
	found = pattern_find(src->filter, (struct str){ text.data, text.len },
			     &at, &len);
	buf_release(&text);
	return found != src->filter_out;
}

static bool
is_folded(struct logsrc *src, uint64_t place)
{
	return src->fold && src->filter == NULL &&
	       raw_class(src, place) == LINE_SOURCE;
}

uint64_t
logsrc_at(struct logsrc *src, uint64_t place)
{
	uint64_t end = logsrc_end(src);

	src->budget = CALL_BUDGET;
	while (place < end && !is_shown(src, place) && src->budget > 0)
		place = raw_next(src, place);
	return place < end ? place : end;
}

uint64_t
logsrc_next(struct logsrc *src, uint64_t place)
{
	uint64_t end = logsrc_end(src);

	if (place >= end)
		return end;
	if (is_folded(src, place)) {
		while (place < end && is_folded(src, place))
			place = raw_next(src, place);
		return place;
	}
	return logsrc_at(src, raw_next(src, place));
}

static uint64_t
raw_prev(struct logsrc *src, uint64_t place)
{
	if (place == 0)
		return UINT64_MAX;
	return src->file != NULL ? logfile_prev(src->file, place) : place - 1;
}

uint64_t
logsrc_prev(struct logsrc *src, uint64_t place)
{
	uint64_t before = raw_prev(src, place);

	src->budget = CALL_BUDGET;
	while (before != UINT64_MAX && !is_shown(src, before) &&
	       src->budget > 0)
		before = raw_prev(src, before);
	if (before == UINT64_MAX || !is_folded(src, before))
		return before;
	/* To the first line of the fold. */
	for (;;) {
		uint64_t first = raw_prev(src, before);

		if (first == UINT64_MAX || !is_folded(src, first))
			return before;
		before = first;
	}
}

/* Behind an escape sequence that begins at p. */
static const char *
skip_escape(const char *p, const char *end)
{
	if (++p >= end)
		return end;
	if (*p == '[') {
		for (p++; p < end && (*p < 0x40 || *p > 0x7E); p++)
			;
		return p < end ? p + 1 : end;
	}
	if (*p == ']' || *p == 'P' || *p == '_' || *p == '^' || *p == 'X') {
		for (p++; p < end; p++) {
			if (*p == '\a')
				return p + 1;
			if (*p == '\033')
				return p + 1 < end ? p + 2 : end;
		}
		return end;
	}
	return p + 1;
}

void
logsrc_clean(struct buf *out, struct str raw)
{
	const char *p = raw.p, *end = raw.p + raw.len;
	struct buf plain;

	buf_init(&plain, LOGFILE_LINE_BYTES * 2);
	while (p < end) {
		if (*p == '\033') {
			p = skip_escape(p, end);
			continue;
		}
		/* What a progress bar wrote before is gone. */
		if (*p == '\r' && p + 1 < end) {
			buf_clear(&plain);
			p++;
			continue;
		}
		buf_append_char(&plain, *p++);
	}
	utf8_sanitize(out, (struct str){ plain.data, plain.len });
	buf_release(&plain);
}

static void
read_fold(struct logsrc *src, uint64_t place, struct logsrc_line *line)
{
	uint64_t end = logsrc_end(src), n = 0;

	while (place < end && is_folded(src, place)) {
		place = raw_next(src, place);
		n++;
	}
	buf_appendf(&line->text, "▸ %llu lines of source code (o shows them)",
		    (unsigned long long)n);
	line->is_fold = true;
}

void
logsrc_read(struct logsrc *src, uint64_t place, struct logsrc_line *line)
{
	struct buf raw;

	buf_clear(&line->text);
	line->is_fold = false;
	line->class = raw_class(src, place);
	line->log = src->file != NULL ? src->log : src->entries[place].log;
	line->number = src->file != NULL ? logfile_number(src->file, place)
					 : src->entries[place].line->line;
	if (is_folded(src, place)) {
		read_fold(src, place, line);
		return;
	}
	buf_init(&raw, LOGFILE_LINE_BYTES);
	raw_read(src, place, &raw);
	logsrc_clean(&line->text, (struct str){ raw.data, raw.len });
	buf_release(&raw);
}

int
logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward,
	      uint64_t *place)
{
	size_t at, len;

	if (src->file != NULL)
		return logfile_search(src->file, pattern, forward, CALL_BUDGET,
				      place);
	for (;;) {
		const struct logtail_line *line;

		if (forward ? *place + 1 >= src->n_entries : *place == 0)
			return 0;
		*place += forward ? 1 : (uint64_t)-1;
		line = src->entries[*place].line;
		if (pattern_find(pattern, (struct str){ line->text, line->len },
				 &at, &len))
			return 1;
	}
}
