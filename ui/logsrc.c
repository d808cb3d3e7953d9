/* SPDX-License-Identifier: MIT */
/* Gives the log view its lines: of one log, or of all logs merged by time; searches and filters. */
#include "ui/logsrc.h"

#include "base/clock.h"
#include "base/sort.h"

#define PIECE_LINES 256

void logsrc_init(struct logsrc *src)
{
	memset(src, 0, sizeof(*src));
	src->fold = true;
}

static void close_source(struct logsrc *src)
{
	logfile_close(src->file);
	src->file = NULL;
	logtimed_close(src->timed);
	src->timed = NULL;
}

void logsrc_release(struct logsrc *src)
{
	close_source(src);
	pattern_free(src->filter);
	free(src->above.v);
	free(src->below.v);
	logsrc_init(src);
}

bool logsrc_is_moved(const struct logsrc *src)
{
	if (src->timed != NULL)
		return logtimed_is_stale(src->timed);
	return src->log != NULL && src->log->moves != src->moves;
}

bool logsrc_is_empty(const struct logsrc *src)
{
	return logsrc_end(src) == (src->timed != NULL ? logtimed_begin(src->timed) : 0);
}

uint64_t logsrc_end(const struct logsrc *src)
{
	if (src->timed != NULL)
		return logtimed_end(src->timed);
	return src->file != NULL ? logfile_size(src->file) : 0;
}

/* Return the line at or after a place, visible or not; or the end. */
static uint64_t logsrc_raw_at(struct logsrc *src, uint64_t place)
{
	if (place >= logsrc_end(src))
		return logsrc_end(src);
	if (src->timed == NULL)
		return logfile_line_start(src->file, place);
	return place < logtimed_begin(src->timed) ? logtimed_begin(src->timed) : place;
}

uint64_t logsrc_raw_next(struct logsrc *src, uint64_t place)
{
	if (src->file != NULL)
		return logfile_next(src->file, place);
	return logsrc_raw_at(src, place + 1);
}

/* Return the line before a place, visible or not; UINT64_MAX if there is none. */
static uint64_t logsrc_raw_prev(struct logsrc *src, uint64_t place)
{
	if (place == 0 || (src->timed == NULL && src->file == NULL))
		return UINT64_MAX;
	if (src->timed == NULL)
		return logfile_prev(src->file, place);
	if (place > logtimed_begin(src->timed) ||
	    (logtimed_more(src->timed) && place > logtimed_begin(src->timed)))
		return place - 1;
	return UINT64_MAX;
}

static struct logtimed_line line_at(const struct logsrc *src, uint64_t place)
{
	if (src->timed != NULL)
		return logtimed_at(src->timed, place);
	return (struct logtimed_line){ src->log, src->file, place };
}

static void raw_read(const struct logsrc *src, uint64_t place, struct buf *text)
{
	struct logtimed_line line = line_at(src, place);

	logfile_read(line.file, line.at, text);
}

static void restart_filter(struct logsrc *src, uint64_t around)
{
	uint64_t last = logsrc_raw_prev(src, logsrc_end(src));

	/* The last line may be incomplete and must be matched again: start at or before it. */
	if (last != UINT64_MAX && around > last)
		around = last;
	src->above.n = src->below.n = 0;
	src->from = src->to = around;
	src->above_done = src->below_done = src->is_cut = false;
	src->sweep.block_bytes = LOGFILE_FIRST_BYTES;
}

void logsrc_open(struct logsrc *src, const struct model *model, const struct model_log *log)
{
	close_source(src);
	src->model = model;
	src->log = log;
	src->life = 0;
	src->moves = log != NULL ? log->moves : 0;
	if (log != NULL)
		src->file = model_log_open(log);
	else
		src->timed = logtimed_open(model);
	restart_filter(src, logsrc_end(src));
}

bool logsrc_refresh(struct logsrc *src)
{
	bool changed = src->timed != NULL ? logtimed_refresh(src->timed)
					  : src->file != NULL && logfile_refresh(src->file);

	if (!changed)
		return false;
	src->below_done = false;
	if (src->file != NULL && logfile_life(src->file) != src->life) {
		src->life = logfile_life(src->file);
		restart_filter(src, logsrc_end(src));
	}
	return true;
}

/* Return the class of a line. While only a preview of the log was fetched, classes are unknown. */
static enum line_class class_of(const struct model_log *log, uint64_t number)
{
	return log->is_preview ? LINE_PLAIN : logclass_of(&log->classes, number);
}

/* Find the folded source code around a place: it starts at *first and ends before *behind. Returns
 * its number of lines; 0 if the line at this place is not folded. */
static uint64_t fold_at(struct logsrc *src, uint64_t place, uint64_t *first, uint64_t *behind)
{
	uint64_t from, to;
	bool all;

	if (!src->fold || src->filter != NULL || src->file == NULL || place >= logsrc_end(src))
		return 0;
	uint64_t number = logfile_number(src->file, place);
	if (number == 0 || class_of(src->log, number) != LINE_SOURCE)
		return 0;
	logclass_stretch(&src->log->classes, number, &from, &to);
	uint64_t counted = logfile_lines(src->file, &all);
	if (!all && to > counted)
		return 0;
	*first = logfile_place(src->file, from);
	*behind = logfile_place(src->file, to + 1);
	return *first <= place && *behind > place ? to - from + 1 : 0;
}

static uint64_t hit_at(const struct logsrc *src, size_t i)
{
	if (i < src->above.n)
		return src->above.v[src->above.n - 1 - i];
	i -= src->above.n;
	return i < src->below.n ? src->below.v[i] : logsrc_end(src);
}

/* Return the index (see hit_at) of the first hit at or after a place. */
static size_t find_hit(const struct logsrc *src, uint64_t place)
{
	return bisect(src->above.n + src->below.n, i, hit_at(src, i) < place);
}

/* Return the first line at or after a place that passes the filter, or the end. */
static uint64_t line_from(struct logsrc *src, uint64_t place)
{
	return src->filter != NULL ? hit_at(src, find_hit(src, place)) : logsrc_raw_at(src, place);
}

/* Return the last line before a place that passes the filter, or UINT64_MAX. */
static uint64_t line_before(struct logsrc *src, uint64_t place)
{
	if (src->filter == NULL)
		return logsrc_raw_prev(src, place);
	size_t i = find_hit(src, place);
	return i > 0 ? hit_at(src, i - 1) : UINT64_MAX;
}

uint64_t logsrc_at(struct logsrc *src, uint64_t place)
{
	uint64_t first, behind;

	place = line_from(src, place);
	return fold_at(src, place, &first, &behind) > 0 ? first : place;
}

uint64_t logsrc_next(struct logsrc *src, uint64_t place)
{
	uint64_t first, behind;

	if (place >= logsrc_end(src))
		return logsrc_end(src);
	if (src->filter != NULL)
		return line_from(src, place + 1);
	return fold_at(src, place, &first, &behind) > 0 ? behind : logsrc_raw_next(src, place);
}

uint64_t logsrc_prev(struct logsrc *src, uint64_t place)
{
	uint64_t before = line_before(src, place), first, behind;

	return before != UINT64_MAX && fold_at(src, before, &first, &behind) > 0 ? first : before;
}

struct logsrc_line logsrc_line_new(size_t cap_bytes)
{
	return (struct logsrc_line){ .text = buf_new(cap_bytes) };
}

void logsrc_line_release(struct logsrc_line *line)
{
	buf_release(&line->text);
}

static void read_line_facts(const struct logsrc *src, uint64_t place, struct logsrc_line *line)
{
	struct logtimed_line at = line_at(src, place);
	uint64_t number = logfile_number(at.file, at.at);

	line->is_fold = false;
	line->is_part = logfile_is_part(at.file, at.at);
	line->log = at.log;
	line->class = class_of(at.log, number);
	line->number = line->is_part || at.log->is_preview ? 0 : number;
}

enum line_class logsrc_class(struct logsrc *src, uint64_t place)
{
	struct logsrc_line line;

	if (place >= logsrc_end(src))
		return LINE_PLAIN;
	read_line_facts(src, place, &line);
	return line.class;
}

void logsrc_read(struct logsrc *src, uint64_t place, size_t columns, struct logsrc_line *line)
{
	uint64_t first, behind, folded = fold_at(src, place, &first, &behind);
	char number[STR_NUMBER_SIZE];
	AUTO_BUF raw = buf_new(LOGSRC_RAW_BYTES);

	buf_clear(&line->text);
	if (line->runs != NULL)
		line->runs->n = 0;
	read_line_facts(src, place, line);
	if (folded > 0) {
		buf_appendf(&line->text, "▸ %s lines of source code (o shows them)",
			    str_number((double)folded, 17, number));
		line->is_fold = true;
		return;
	}
	raw_read(src, place, &raw);
	logtext_show(&line->text, buf_str(&raw), columns, line->runs);
}

/* Match the next PIECE_LINES lines: all for the filter itself, else those that pass the filter. */
static bool sweep_lines(struct logsrc *src, const struct logfile_filter *sweep, bool forward,
			uint64_t *place, struct logfile_hits *hits)
{
	bool all = sweep == &src->sweep, more = true;
	AUTO_BUF line = buf_new(LOGSRC_RAW_BYTES);
	AUTO_BUF text = buf_new(LOGSRC_RAW_BYTES);
	size_t at, len;

	for (int i = 0; i < PIECE_LINES && more; i++) {
		uint64_t here = all && forward ? logsrc_raw_at(src, *place)
				: all	       ? logsrc_raw_prev(src, *place)
				: forward      ? line_from(src, *place)
					       : line_before(src, *place);

		more = here != (forward ? logsrc_end(src) : UINT64_MAX);
		if (!more)
			break;
		*place = here + forward;
		raw_read(src, here, &line);
		buf_clear(&text);
		logtext_visible(&text, buf_str(&line));
		if (pattern_find(sweep->pattern, buf_str(&text), &at, &len) != sweep->invert)
			xpush(hits->v, hits->n, hits->cap, here);
	}
	return more;
}

/* Match the next block of the file or, of merged or filtered logs, some lines; false at the end. */
static bool sweep_piece(struct logsrc *src, struct logfile_filter *sweep, bool forward,
			uint64_t *place, struct logfile_hits *hits)
{
	if (src->file == NULL || (src->filter != NULL && sweep != &src->sweep))
		return sweep_lines(src, sweep, forward, place, hits);
	return logfile_sweep(src->file, sweep, forward, place, hits);
}

int logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward, int64_t until_ms,
		  uint64_t *place)
{
	struct logfile_filter sweep = { pattern, false, LOGFILE_FIRST_BYTES };
	struct logfile_hits hits = { NULL, 0, 0 };
	int found = 2;

	do {
		if (!sweep_piece(src, &sweep, forward, place, &hits))
			found = 0;
	} while (found == 2 && hits.n == 0 && clock_mono_ms() < until_ms);
	if (hits.n > 0) {
		*place = hits.v[0];
		found = 1;
	}
	free(hits.v);
	return found;
}

void logsrc_filter(struct logsrc *src, struct pattern *pattern, bool out, uint64_t around)
{
	pattern_free(src->filter);
	src->filter = pattern;
	src->sweep = (struct logfile_filter){ pattern, out, 0 };
	restart_filter(src, logsrc_raw_at(src, around));
}

bool logsrc_is_filtering(const struct logsrc *src)
{
	return src->filter != NULL && (!src->above_done || !src->below_done);
}

uint64_t logsrc_filter_hits(const struct logsrc *src)
{
	return src->above.n + src->below.n;
}

int logsrc_percent(const struct logsrc *src, uint64_t from, uint64_t to)
{
	uint64_t end = logsrc_end(src);

	if (end == 0)
		return 100;
	/* A place that was stored for another log may be after this log's end. */
	return to > from ? (int)fmin((double)(to - from) * 100.0 / (double)end, 100) : 0;
}

bool logsrc_continue_filter(struct logsrc *src)
{
	if (src->filter == NULL)
		return false;
	/* Drop the oldest hits when there are too many. */
	if (src->above.n + src->below.n > LOGSRC_MAX_HITS)
		src->above_done = src->is_cut = true;
	if (src->below.n > LOGSRC_MAX_HITS) {
		size_t drop = src->below.n / 2;

		src->above.n = 0;
		src->below.n -= drop;
		memmove(src->below.v, src->below.v + drop, src->below.n * sizeof(*src->below.v));
	}
	if (!src->below_done) {
		/* The last line was incomplete and is matched again. */
		while (src->below.n > 0 && src->below.v[src->below.n - 1] >= src->to)
			src->below.n--;
		src->below_done = !sweep_piece(src, &src->sweep, true, &src->to, &src->below);
	}
	if (!src->above_done)
		src->above_done = !sweep_piece(src, &src->sweep, false, &src->from, &src->above);
	return !src->below_done || !src->above_done;
}
