/* SPDX-License-Identifier: MIT */
/* The log view's lines, from a file or from the model's tails. */
#include "config.h"

#include "ui/logsrc.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/logtext.h"

#define CHECK_LINES 256 /* between two looks at the clock */
#define PIECE_LINES 256

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
	free(src->path);
	src->path = NULL;
	logtails_release(&src->tails);
	logtimed_close(src->timed);
	src->timed = NULL;
}

void
logsrc_release(struct logsrc *src)
{
	close_source(src);
	pattern_free(src->filter);
	free(src->above.v);
	free(src->below.v);
	logsrc_init(src);
}

/* The file that holds the log's bytes; NULL: its tail is all there is. */
static const char *
file_of(const struct model_log *log)
{
	return log != NULL && !log->behind ? log->file : NULL;
}

bool
logsrc_is_moved(const struct logsrc *src)
{
	const char *path = file_of(src->log);

	if (src->timed != NULL)
		return logtimed_is_stale(src->timed);
	if (path == NULL || src->path == NULL)
		return path != src->path;
	return strcmp(path, src->path) != 0;
}

uint64_t
logsrc_end(const struct logsrc *src)
{
	if (src->timed != NULL)
		return logtimed_end(src->timed);
	return src->file != NULL ? logfile_size(src->file)
				 : logtails_end(&src->tails);
}

static uint64_t
logsrc_raw_at(struct logsrc *src, uint64_t place)
{
	const struct logtails_entry *entry;

	if (place >= logsrc_end(src))
		return logsrc_end(src);
	if (src->timed != NULL)
		return place < logtimed_begin(src->timed)
			       ? logtimed_begin(src->timed)
			       : place;
	if (src->file != NULL)
		return logfile_line_start(src->file, place);
	entry = logtails_at(&src->tails, place);
	return entry != NULL ? entry->order : logsrc_end(src);
}

uint64_t
logsrc_raw_next(struct logsrc *src, uint64_t place)
{
	if (src->file != NULL)
		return logfile_next(src->file, place);
	return logsrc_raw_at(src, place + 1);
}

static uint64_t
logsrc_raw_prev(struct logsrc *src, uint64_t place)
{
	const struct logtails_entry *entry;

	if (place == 0)
		return UINT64_MAX;
	if (src->timed != NULL)
		return place > logtimed_begin(src->timed) ||
				       (logtimed_more(src->timed) &&
					place > logtimed_begin(src->timed))
			       ? place - 1
			       : UINT64_MAX;
	if (src->file != NULL)
		return logfile_prev(src->file, place);
	entry = logtails_before(&src->tails, place);
	return entry != NULL ? entry->order : UINT64_MAX;
}

static void
raw_read(struct logsrc *src, uint64_t place, struct buf *text)
{
	const struct logtails_entry *entry;
	struct logtimed_line line;

	if (src->timed != NULL) {
		line = logtimed_at(src->timed, place);
		logfile_read(line.file, line.at, text);
		return;
	}
	if (src->file != NULL) {
		logfile_read(src->file, place, text);
		return;
	}
	buf_clear(text);
	entry = logtails_at(&src->tails, place);
	if (entry != NULL)
		buf_append(text, logtails_line(entry)->text,
			   logtails_line(entry)->len);
}

/* All that was found of a filter is void: look anew, from the end. */
static void
restart_filter(struct logsrc *src, uint64_t around)
{
	uint64_t last = logsrc_raw_prev(src, logsrc_end(src));

	/* A last line without its end is looked at again: it is below. */
	if (last != UINT64_MAX && around > last)
		around = last;
	src->above.n = src->below.n = 0;
	src->from = src->to = around;
	src->above_done = src->below_done = src->is_cut = false;
	src->block_bytes = LOGFILE_FIRST_BYTES;
}

void
logsrc_open(struct logsrc *src, const struct model *model,
	    const struct model_log *log)
{
	const char *path = file_of(log);

	close_source(src);
	src->model = model;
	src->log = log;
	src->life = 0;
	if (path != NULL) {
		src->file = model_log_open(log);
		src->path = xstrdup(path);
	}
	logtails_init(&src->tails, model, log);
	if (log == NULL)
		src->timed = logtimed_open(model);
	if (src->file == NULL && src->timed == NULL)
		(void)logtails_refresh(&src->tails);
	restart_filter(src, logsrc_end(src));
}

bool
logsrc_refresh(struct logsrc *src)
{
	bool changed = src->timed != NULL  ? logtimed_refresh(src->timed)
		       : src->file != NULL ? logfile_refresh(src->file)
					   : logtails_refresh(&src->tails);

	if (!changed)
		return false;
	src->below_done = false;
	if (src->file != NULL && logfile_life(src->file) != src->life) {
		src->life = logfile_life(src->file);
		restart_filter(src, logsrc_end(src));
	}
	return true;
}

/*
 * The lines of folded source code around a place, from *first to before
 * *behind; false when it is none.
 */
static bool
fold_of_file(struct logsrc *src, uint64_t place, uint64_t *first,
	     uint64_t *behind)
{
	const struct logclass *classes = &src->log->classes;
	uint64_t number = logfile_number(src->file, place), from, to, counted;
	bool all;

	if (number == 0 || logclass_of(classes, number) != LINE_SOURCE)
		return false;
	logclass_stretch(classes, number, &from, &to);
	counted = logfile_lines(src->file, &all);
	if (!all && to > counted)
		return false;
	*first = logfile_place(src->file, from);
	*behind = logfile_place(src->file, to + 1);
	return *first <= place && *behind > place;
}

static bool
is_tail_source(const struct logtails_entry *entry)
{
	return entry != NULL && logtails_line(entry)->class == LINE_SOURCE;
}

static bool
fold_of_tails(struct logsrc *src, uint64_t place, uint64_t *first,
	      uint64_t *behind)
{
	const struct logtails *tails = &src->tails;
	const struct logtails_entry *entry = logtails_at(tails, place);

	if (!is_tail_source(entry))
		return false;
	do {
		*first = entry->order;
		entry = logtails_before(tails, *first);
	} while (is_tail_source(entry));
	entry = logtails_at(tails, place);
	do
		*behind = entry->order + 1;
	while (is_tail_source(entry = logtails_at(tails, *behind)));
	*behind = logsrc_raw_at(src, *behind);
	return true;
}

static bool
fold_at(struct logsrc *src, uint64_t place, uint64_t *first, uint64_t *behind)
{
	if (!src->fold || src->filter != NULL || src->timed != NULL ||
	    place >= logsrc_end(src))
		return false;
	return src->file != NULL ? fold_of_file(src, place, first, behind)
				 : fold_of_tails(src, place, first, behind);
}

/* Index of the first hit at or behind a place, of above and then below. */
static size_t
find_hit(const struct logsrc *src, uint64_t place)
{
	size_t lo = 0, hi = src->above.n + src->below.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		uint64_t at = mid < src->above.n
				      ? src->above.v[src->above.n - 1 - mid]
				      : src->below.v[mid - src->above.n];

		if (at < place)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint64_t
hit_at(const struct logsrc *src, size_t i)
{
	if (i < src->above.n)
		return src->above.v[src->above.n - 1 - i];
	i -= src->above.n;
	return i < src->below.n ? src->below.v[i] : logsrc_end(src);
}

uint64_t
logsrc_at(struct logsrc *src, uint64_t place)
{
	uint64_t first, behind;

	if (src->filter != NULL)
		return hit_at(src, find_hit(src, place));
	place = logsrc_raw_at(src, place);
	return fold_at(src, place, &first, &behind) ? first : place;
}

uint64_t
logsrc_next(struct logsrc *src, uint64_t place)
{
	uint64_t first, behind;

	if (place >= logsrc_end(src))
		return logsrc_end(src);
	if (src->filter != NULL)
		return hit_at(src, find_hit(src, place + 1));
	if (fold_at(src, place, &first, &behind))
		return behind;
	return logsrc_raw_next(src, place);
}

uint64_t
logsrc_prev(struct logsrc *src, uint64_t place)
{
	uint64_t before, first, behind;
	size_t i;

	if (src->filter != NULL) {
		i = find_hit(src, place);
		return i > 0 ? hit_at(src, i - 1) : UINT64_MAX;
	}
	before = logsrc_raw_prev(src, place);
	if (before != UINT64_MAX && fold_at(src, before, &first, &behind))
		return first;
	return before;
}

/* How many lines a fold from first to behind has. */
static uint64_t
fold_lines(struct logsrc *src, uint64_t first, uint64_t behind)
{
	uint64_t from, to, n = 0;

	if (src->file != NULL) {
		logclass_stretch(&src->log->classes,
				 logfile_number(src->file, first), &from, &to);
		return to - from + 1;
	}
	for (; first < behind; first = logsrc_raw_next(src, first))
		n++;
	return n;
}

void
logsrc_line_init(struct logsrc_line *line, size_t cap_bytes)
{
	memset(line, 0, sizeof(*line));
	buf_init(&line->text, cap_bytes);
}

void
logsrc_line_release(struct logsrc_line *line)
{
	buf_release(&line->text);
}

/* A line of a file. */
static void
read_file_facts(struct logsrc_line *line, struct logfile *file, uint64_t at)
{
	line->is_part = logfile_is_part(file, at);
	line->number = logfile_number(file, at);
	line->class = logclass_of(&line->log->classes, line->number);
	if (line->is_part)
		line->number = 0;
}

static void
read_line_facts(struct logsrc *src, uint64_t place, struct logsrc_line *line)
{
	const struct logtails_entry *entry;
	struct logtimed_line timed;

	line->is_fold = line->is_part = false;
	line->log = src->log;
	line->class = LINE_PLAIN;
	if (src->timed != NULL) {
		timed = logtimed_at(src->timed, place);
		line->log = timed.log;
		read_file_facts(line, timed.file, timed.at);
		return;
	}
	if (src->file != NULL) {
		read_file_facts(line, src->file, place);
		return;
	}
	entry = logtails_at(&src->tails, place);
	if (entry == NULL)
		return;
	line->log = entry->log;
	line->class = logtails_line(entry)->class;
	line->number = logtails_line(entry)->line;
}

enum line_class
logsrc_class(struct logsrc *src, uint64_t place)
{
	struct logsrc_line line;

	if (place >= logsrc_end(src))
		return LINE_PLAIN;
	read_line_facts(src, place, &line);
	return line.class;
}

void
logsrc_read(struct logsrc *src, uint64_t place, size_t columns,
	    struct logsrc_line *line)
{
	uint64_t first, behind;
	char number[STR_NUMBER_SIZE];
	struct buf raw;

	buf_clear(&line->text);
	if (line->runs != NULL)
		line->runs->n = 0;
	read_line_facts(src, place, line);
	if (fold_at(src, place, &first, &behind)) {
		buf_appendf(&line->text,
			    "▸ %s lines of source code (o shows them)",
			    str_number((double)fold_lines(src, first, behind),
				       17, number));
		line->is_fold = true;
		return;
	}
	buf_init(&raw, LOGSRC_RAW_BYTES);
	raw_read(src, place, &raw);
	logtext_show(&line->text, (struct str){ raw.data, raw.len }, columns,
		     line->runs);
	buf_release(&raw);
}

static void
logsrc_raw_visible(struct logsrc *src, uint64_t place, struct buf *raw,
		   struct buf *text)
{
	raw_read(src, place, raw);
	buf_clear(text);
	logtext_visible(text, (struct str){ raw->data, raw->len });
}

/* Looks at the clock now and then. */
static bool
is_late(int lines, int64_t until_ms)
{
	return lines % CHECK_LINES == 0 &&
	       clock_real.mono_ms(&clock_real) >= until_ms;
}

/* Line by line, in any order that they have. */
static int
search_lines(struct logsrc *src, const struct pattern *pattern, bool forward,
	     int64_t until_ms, uint64_t *place)
{
	struct buf raw, text;
	size_t at, len;
	int found = 2;

	buf_init(&raw, LOGSRC_RAW_BYTES);
	buf_init(&text, LOGSRC_RAW_BYTES);
	for (int i = 1; found == 2; i++) {
		uint64_t here = forward ? logsrc_raw_at(src, *place)
					: logsrc_raw_prev(src, *place);

		if (here == (forward ? logsrc_end(src) : UINT64_MAX)) {
			found = 0;
			break;
		}
		logsrc_raw_visible(src, here, &raw, &text);
		if (pattern_find(pattern, (struct str){ text.data, text.len },
				 &at, &len))
			found = 1;
		*place = found == 1 ? here : here + forward;
		if (is_late(i, until_ms))
			break;
	}
	buf_release(&raw);
	buf_release(&text);
	return found;
}

/* Over the lines that a filter let through. */
static int
search_hits(struct logsrc *src, const struct pattern *pattern, bool forward,
	    int64_t until_ms, uint64_t *place)
{
	size_t n = src->above.n + src->below.n, i = find_hit(src, *place);
	struct buf raw, text;
	int found = 0;

	buf_init(&raw, LOGSRC_RAW_BYTES);
	buf_init(&text, LOGSRC_RAW_BYTES);
	for (int k = 1; found == 0 && (forward ? i < n : i > 0); k++) {
		size_t at, len;

		i -= !forward;
		*place = hit_at(src, i);
		logsrc_raw_visible(src, *place, &raw, &text);
		if (pattern_find(pattern, (struct str){ text.data, text.len },
				 &at, &len))
			found = 1;
		else if (is_late(k, until_ms))
			found = 2;
		i += forward;
	}
	if (found == 2)
		*place += forward;
	buf_release(&raw);
	buf_release(&text);
	return found;
}

int
logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward,
	      int64_t until_ms, uint64_t *place)
{
	if (src->filter != NULL)
		return search_hits(src, pattern, forward, until_ms, place);
	if (src->file != NULL)
		return logfile_search(src->file, pattern, forward, until_ms,
				      place);
	return search_lines(src, pattern, forward, until_ms, place);
}

void
logsrc_filter(struct logsrc *src, struct pattern *pattern, bool out,
	      uint64_t around)
{
	pattern_free(src->filter);
	src->filter = pattern;
	src->filter_out = out;
	restart_filter(src, logsrc_raw_at(src, around));
}

bool
logsrc_is_filtering(const struct logsrc *src)
{
	return src->filter != NULL && (!src->above_done || !src->below_done);
}

uint64_t
logsrc_filter_hits(const struct logsrc *src)
{
	return src->above.n + src->below.n;
}

int
logsrc_percent(const struct logsrc *src, uint64_t from, uint64_t to)
{
	uint64_t end = logsrc_end(src);

	return end > 0 && to > from
		       ? (int)((double)(to - from) * 100.0 / (double)end)
	       : end > 0 ? 0
			 : 100;
}

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
