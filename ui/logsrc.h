/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGSRC_H
#define HGYM_UI_LOGSRC_H

#include "model/logfile.h"
#include "model/model.h"

/*
 * Where the log view's lines come from: one log's file, or the last lines of
 * one or of all logs in the order they came.  A place is a number that grows
 * from line to line; filters and folded source code are skipped here.
 */
struct logsrc {
	const struct model *model;
	const struct model_log *log;  /* NULL: all, merged */
	struct logfile *file;	      /* owned; NULL: from the tails */
	struct logsrc_entry *entries; /* owned; of the tails */
	size_t n_entries, cap_entries;
	uint64_t seen_lines; /* model lines when entries were made */

	struct pattern *filter; /* owned; NULL: all lines */
	bool filter_out;	/* hide what matches */
	bool fold;		/* printed source code */
	uint64_t budget; /* bytes that the call under way may still read */
};

struct logsrc_entry {
	const struct model_log *log;
	const struct logtail_line *line;
};

struct logsrc_line {
	struct buf text; /* clean: no escape sequences, no controls */
	enum line_class class;
	uint64_t number; /* 1-based; 0: not known yet */
	const struct model_log *log;
	bool is_fold;
};

/* A source of nothing; then open. */
void logsrc_init(struct logsrc *src);
void logsrc_release(struct logsrc *src);
/* log NULL: all logs of the model, merged. */
void logsrc_open(struct logsrc *src, const struct model *model,
		 const struct model_log *log);
/* Look for new lines; true: there are. */
bool logsrc_refresh(struct logsrc *src);

/* One behind the last place. */
uint64_t logsrc_end(const struct logsrc *src);
/* The shown line at or behind a place; end when there is none. */
uint64_t logsrc_at(struct logsrc *src, uint64_t place);
/* The shown line after or before; end and UINT64_MAX when there is none. */
uint64_t logsrc_next(struct logsrc *src, uint64_t place);
uint64_t logsrc_prev(struct logsrc *src, uint64_t place);
/* line->text must be initialised; place is one of a line. */
void logsrc_read(struct logsrc *src, uint64_t place, struct logsrc_line *line);

/* As logfile_search, over the lines whatever the filter. */
int logsrc_search(struct logsrc *src, const struct pattern *pattern,
		  bool forward, uint64_t *place);

/* Escape sequences out, the last part of a progress bar, then sanitised. */
void logsrc_clean(struct buf *out, struct str raw);

#endif
