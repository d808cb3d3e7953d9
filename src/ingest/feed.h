/* SPDX-License-Identifier: MIT */
#ifndef HGYM_INGEST_FEED_H
#define HGYM_INGEST_FEED_H

#include "base/clock.h"
#include "base/err.h"
#include "model/model.h"
#include "parsers/format.h"

/*
 * Logs on this machine into the model, without a pod and without a database:
 * what the dashboard does with paths on its command line, and the demo with
 * the files that it writes.  Files are read as they grow; one that is
 * replaced or truncated is read anew as another run.
 */
struct feed;

/* All are borrowed for the feed's life. */
struct feed *feed_new(struct model *model, const struct format_set *formats,
		      const struct clock *clock);
void feed_free(struct feed *feed);

/*
 * Add a file of a pod.  live: it is still written; otherwise its end is the
 * log's end unless it was touched in the last ten minutes.
 */
int feed_add(struct feed *feed, size_t pod, const char *path, bool live,
	     struct err *err) __attribute__((warn_unused_result));

/*
 * Read what is new, at most budget_bytes of each file; true when there is
 * more to read at once.
 */
bool feed_poll(struct feed *feed, size_t budget_bytes);

#endif
