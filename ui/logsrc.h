/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/logfile.h"
#include "model/logtext.h"
#include "model/logtimed.h"
#include "model/model.h"

/*
 * Where the log view's lines come from: one log's file, or all logs by the
 * times of their lines.  A place is a number that grows from line to line.
 * What a filter hides and what is folded is skipped here.
 */
struct logsrc {
	const struct model *model;
	const struct model_log *log; /* NULL: all, merged */
	struct logfile *file;	     /* owned; NULL: of all, or there is none */
	unsigned int life;	     /* of file, as seen last */
	unsigned int moves;	     /* of the log, when it was opened */
	struct logtimed *timed;	     /* owned; NULL: one log */
	bool fold;		     /* printed source code */

	/* A filter's lines, found bit by bit around where it was set. */
	struct pattern *filter; /* owned; NULL: all lines */
	struct logfile_filter sweep;
	struct logfile_hits above; /* descending */
	struct logfile_hits below; /* ascending */
	uint64_t from, to;	   /* what was looked at */
	bool above_done, below_done, is_cut;
};

/* So much of one line is read. */
#define LOGSRC_RAW_BYTES (4U << 20)

/* So many lines of a filter are kept above and below where it began. */
#define LOGSRC_MAX_HITS (4U << 20)

struct logsrc_line {
	struct buf text; /* clean: no escape sequences, no controls */
	enum line_class class;
	uint64_t number; /* 1-based; 0: not known, or a part of a line */
	const struct model_log *log;
	bool is_fold, is_part;
	struct logsgr_runs *runs; /* borrowed; its own looks; NULL: not asked */
};

/* No text yet, nor a wish for its looks; text of so many bytes at most.
 *	AUTO_LINE line = logsrc_line_new(4096); */
struct logsrc_line logsrc_line_new(size_t cap_bytes);
void logsrc_line_release(struct logsrc_line *line);
#define AUTO_LINE __attribute__((cleanup(logsrc_line_release))) struct logsrc_line

/* A source of nothing; then open. */
void logsrc_init(struct logsrc *src);
void logsrc_release(struct logsrc *src);
/* log NULL: all logs of the model, merged. */
void logsrc_open(struct logsrc *src, const struct model *model, const struct model_log *log);
/* Whether the log's bytes lie elsewhere now: open it again. */
bool logsrc_is_moved(const struct logsrc *src);
/* Look for new lines; true: there are. */
bool logsrc_refresh(struct logsrc *src);

/* Whether there are no lines, whatever the filter. */
bool logsrc_is_empty(const struct logsrc *src);
/* One behind the last place. */
uint64_t logsrc_end(const struct logsrc *src);
/* The shown line at or behind a place; end when there is none. */
uint64_t logsrc_at(struct logsrc *src, uint64_t place);
/* The shown line after or before; end and UINT64_MAX when there is none. */
uint64_t logsrc_next(struct logsrc *src, uint64_t place);
uint64_t logsrc_prev(struct logsrc *src, uint64_t place);
/* The line after, also one that is folded away or filtered out. */
uint64_t logsrc_raw_next(struct logsrc *src, uint64_t place);
/* What the line at a place is; plain as long as its number is not known. */
enum line_class logsrc_class(struct logsrc *src, uint64_t place);
/*
 * place is one of a line.  About `columns` columns
 * of it.
 */
void logsrc_read(struct logsrc *src, uint64_t place, size_t columns, struct logsrc_line *line);

/*
 * Search what can be seen of the lines (those that pass the filter) from place
 * on (forward) or before it, until about a time (mono clock), one piece at the
 * least.  1: found, *place is its line; 0: none up to the end; 2: time is up,
 * go on from *place.
 */
int logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward, int64_t until_ms,
		  uint64_t *place);

/* Show lines that match (out: that do not); NULL: all.  Takes pattern. */
void logsrc_filter(struct logsrc *src, struct pattern *pattern, bool out, uint64_t around);
/* Look on for a filter's lines; true: not done yet. */
bool logsrc_filter_on(struct logsrc *src);
/* Whether it is not done yet. */
bool logsrc_is_filtering(const struct logsrc *src);
/* Lines found so far. */
uint64_t logsrc_filter_hits(const struct logsrc *src);

/*
 * How much of all bytes lies between two places, in percent; 100 of nothing.
 */
int logsrc_percent(const struct logsrc *src, uint64_t from, uint64_t to);
