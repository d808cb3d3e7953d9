/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_SAMPLES_H
#define HGYM_STORE_SAMPLES_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/query.h"
#include "store/write.h"

/*
 * How samples lie in the database; for src/store alone.  A row of
 * sample_rows holds up to SAMPLE_SLOTS samples that follow one another in a
 * line and agree in step and times: m0 and v0, m1 and v1, .. are metric (an
 * id of the table metrics) and value, NULL where there is none; seq is that
 * of the first.
 */
#define SAMPLE_SLOTS 4

/* Inserts samples over the connection of a writer. */
struct sample_writer;

struct sample_writer *sample_writer_new(sqlite3 *db, struct err *err)
	__attribute__((warn_unused_result));
void sample_writer_free(struct sample_writer *w);
/*
 * Write n samples inside the transaction of the caller.  A line that is there
 * already is replaced as a whole.
 */
int sample_writer_write(struct sample_writer *w, const struct batch_sample *s,
			size_t n, struct err *err)
	__attribute__((warn_unused_result));

/* Reads the samples of runs, as they were at one moment, in log order. */
struct sample_reader;

struct sample_span {
	int64_t run_id;
	uint64_t after_line; /* only what is behind it; 0: all */
	const char *metric;  /* NULL: all */
};

/* path is for errors, borrowed as long as the reader lives. */
struct sample_reader *sample_reader_new(sqlite3 *db, const char *path,
					struct err *err)
	__attribute__((warn_unused_result));
void sample_reader_free(struct sample_reader *r);
/* A callback that returns other than 0 ends the walk, which returns that. */
int sample_reader_walk(struct sample_reader *r, const struct sample_span *span,
		       stored_sample_fn fn, void *user, struct err *err);

#endif
