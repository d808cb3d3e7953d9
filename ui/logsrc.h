/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/logtext.h"
#include "model/logtimed.h"

/* The lines of the log view: of one log, or of all logs merged by time. A place is the position of
 * a line; it grows from line to line and means nothing else. Functions skip lines that are hidden
 * by the filter or folded, unless their name contains "raw". */
struct logsrc {
	const struct model *model;
	const struct model_log *log; /* NULL: all logs, merged */
	struct logfile *file;	     /* owned; NULL: merged logs, or no local copy */
	unsigned int life;	     /* logfile_life() at the last refresh */
	unsigned int moves;	     /* log->moves when the log was opened */
	struct logtimed *timed;	     /* owned; NULL: one log */
	bool fold;		     /* fold printed source code */

	/* The lines that match the filter. The search for them starts at the place where the filter
	 * was set, and continues up and down step by step. */
	struct pattern *filter; /* owned; NULL: all lines */
	struct logfile_filter sweep;
	struct logfile_hits above; /* descending */
	struct logfile_hits below; /* ascending */
	uint64_t from, to;	   /* range that has been searched */
	bool above_done, below_done;
	bool is_cut; /* there were too many hits: the search upwards stopped */
};

/* Longer lines are cut. */
#define LOGSRC_RAW_BYTES (4U << 20)

/* Maximum number of hits that are kept. */
#define LOGSRC_MAX_HITS (4U << 20)

struct logsrc_line {
	struct buf text; /* without escape sequences and control characters */
	enum line_class class;
	uint64_t number; /* 1-based; 0: unknown, or not the first part of a long line */
	const struct model_log *log;
	bool is_fold;		  /* text is a summary of folded lines */
	bool is_part;		  /* a part of a long line, but not the first */
	struct logsgr_runs *runs; /* borrowed; gets the log's own colors; NULL: not wanted */
};

/* Make an empty line for at most cap_bytes of text: AUTO_LINE line = logsrc_line_new(4096); */
struct logsrc_line logsrc_line_new(size_t cap_bytes);
void logsrc_line_release(struct logsrc_line *line);
#define AUTO_LINE __attribute__((cleanup(logsrc_line_release))) struct logsrc_line

/* Call before logsrc_open(). */
void logsrc_init(struct logsrc *src);
void logsrc_release(struct logsrc *src);
/* Open a log, or all logs of the model if log is NULL. Opening another one closes the first. */
void logsrc_open(struct logsrc *src, const struct model *model, const struct model_log *log);
/* Was the data of a log replaced? If so, open it again. */
bool logsrc_is_moved(const struct logsrc *src);
/* Check for new lines; true if there are any. */
bool logsrc_refresh(struct logsrc *src);

/* Is the source empty? A filter makes no difference. */
bool logsrc_is_empty(const struct logsrc *src);
/* Return the place after the last line. */
uint64_t logsrc_end(const struct logsrc *src);
/* Return the visible line at or after a place, or the end. */
uint64_t logsrc_at(struct logsrc *src, uint64_t place);
/* Return the visible line after a place, or the end. */
uint64_t logsrc_next(struct logsrc *src, uint64_t place);
/* Return the visible line before a place, or UINT64_MAX. */
uint64_t logsrc_prev(struct logsrc *src, uint64_t place);
/* Return the next line, visible or not. */
uint64_t logsrc_raw_next(struct logsrc *src, uint64_t place);
/* Return the class of a line; LINE_PLAIN while its number is unknown. */
enum line_class logsrc_class(struct logsrc *src, uint64_t place);
/* Read about `columns` columns of the line that starts at place. */
void logsrc_read(struct logsrc *src, uint64_t place, size_t columns, struct logsrc_line *line);

/* Search the text of visible lines from *place on (forward) or before *place. The search runs until
 * until_ms (mono clock), but always for one piece. Returns 1 if a line was found at *place, 0 if
 * there is none, 2 if time ran out: call again with this *place to continue. */
int logsrc_search(struct logsrc *src, const struct pattern *pattern, bool forward, int64_t until_ms,
		  uint64_t *place);

/* Show only lines that match (if out is true: lines that do not match), starting to look for them
 * at the place `around`. Takes ownership of pattern; NULL shows all lines. */
void logsrc_filter(struct logsrc *src, struct pattern *pattern, bool out, uint64_t around);
/* Look for more lines of the filter for a short time; true if that is not finished. */
bool logsrc_continue_filter(struct logsrc *src);
/* Does logsrc_continue_filter() have more to do? */
bool logsrc_is_filtering(const struct logsrc *src);
uint64_t logsrc_filter_hits(const struct logsrc *src);

/* Return how much of the log is between two places, in percent; 100 if the log is empty. */
int logsrc_percent(const struct logsrc *src, uint64_t from, uint64_t to);
