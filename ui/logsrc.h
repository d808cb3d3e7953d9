/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/logtext.h"
#include "model/logtimed.h"

/* The lines of the log view: of one log, or of all logs merged by time. A place identifies a line
 * and grows from line to line. Lines hidden by a filter or folded are skipped. */
struct logsrc {
	const struct model *model;
	const struct model_log *log; /* NULL: all logs, merged */
	struct logfile *file;	     /* owned; NULL: merged, or no local copy */
	unsigned int life;	     /* of the file when last refreshed */
	unsigned int moves;	     /* of the log when it was opened */
	struct logtimed *timed;	     /* owned; NULL: one log */
	bool fold;		     /* fold printed source code */

	/* The lines that match the filter, found step by step around the place where it was set. */
	struct pattern *filter; /* owned; NULL: all lines */
	struct logfile_filter sweep;
	struct logfile_hits above; /* descending */
	struct logfile_hits below; /* ascending */
	uint64_t from, to;	   /* range that has been searched */
	bool above_done, below_done, is_cut;
};

/* Longer lines are cut. */
#define LOGSRC_RAW_BYTES (4U << 20)

/* Maximum number of hits that are kept. */
#define LOGSRC_MAX_HITS (4U << 20)

struct logsrc_line {
	struct buf text; /* without escape sequences and control characters */
	enum line_class class;
	uint64_t number; /* 1-based; 0: unknown, or a part of a line */
	const struct model_log *log;
	bool is_fold, is_part;
	struct logsgr_runs *runs; /* borrowed; colors that the log asks for; NULL: not wanted */
};

/* An empty line for at most cap_bytes of text, without looks. Usage: AUTO_LINE line =
 * logsrc_line_new(4096); */
struct logsrc_line logsrc_line_new(size_t cap_bytes);
void logsrc_line_release(struct logsrc_line *line);
#define AUTO_LINE __attribute__((cleanup(logsrc_line_release))) struct logsrc_line

/* Call before logsrc_open(). */
void logsrc_init(struct logsrc *src);
void logsrc_release(struct logsrc *src);
/* log NULL: all logs of the model, merged. */
void logsrc_open(struct logsrc *src, const struct model *model, const struct model_log *log);
/* Whether the log's data were replaced; open it again then. */
bool logsrc_is_moved(const struct logsrc *src);
/* Check for new lines. True: there are some. */
bool logsrc_refresh(struct logsrc *src);

/* Whether the source is empty, with or without a filter. */
bool logsrc_is_empty(const struct logsrc *src);
/* The place after the last line. */
uint64_t logsrc_end(const struct logsrc *src);
/* The visible line at or after a place, or the end. */
uint64_t logsrc_at(struct logsrc *src, uint64_t place);
/* The visible line after (or the end) or before (or UINT64_MAX) a place. */
uint64_t logsrc_next(struct logsrc *src, uint64_t place);
uint64_t logsrc_prev(struct logsrc *src, uint64_t place);
/* The next line, including folded and filtered ones. */
uint64_t logsrc_raw_next(struct logsrc *src, uint64_t place);
/* The class of a line; LINE_PLAIN while its number is unknown. */
enum line_class logsrc_class(struct logsrc *src, uint64_t place);
/* Read about `columns` columns of the line at a place, which must be a line's. */
void logsrc_read(struct logsrc *src, uint64_t place, size_t columns, struct logsrc_line *line);

/* Search the visible text of lines that pass the filter, from *place on (forward) or before it. At
 * least one piece is searched, then until until_ms (mono clock). Returns 1: found at *place; 0: not
 * found; 2: out of time, continue from *place. */
int logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward, int64_t until_ms,
		  uint64_t *place);

/* Show only lines that match (out: do not match), or all if pattern is NULL. Takes ownership of
 * pattern. */
void logsrc_filter(struct logsrc *src, struct pattern *pattern, bool out, uint64_t around);
/* Continue to look for lines of the filter. True: not finished yet. */
bool logsrc_continue_filter(struct logsrc *src);
/* Whether the filter has not finished yet. */
bool logsrc_is_filtering(const struct logsrc *src);
uint64_t logsrc_filter_hits(const struct logsrc *src);

/* The share of the log between two places in percent; 100 if it is empty. */
int logsrc_percent(const struct logsrc *src, uint64_t from, uint64_t to);
