/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_DIR_H
#define HGYM_HARNESS_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "parsers/harness_files.h"

/* What a directory that somebody named is. */
enum harness_what {
	HARNESS_IS_WORKSPACE, /* it holds .harnessgym, or is it */
	HARNESS_IS_RUN,	      /* one run's folder */
	HARNESS_IS_COMPARE,   /* the output of `compare` */
	HARNESS_IS_TABLE,     /* an agent's own results.tsv lies there */
};

/*
 * A local directory of HarnessGym, read again and again while it is being
 * written.  Only files that changed are read, never a copy of the workspace;
 * symbolic links are not followed.
 */
struct harness_dir {
	enum harness_what what;
	char *root; /* owned; where the paths of files begin */
	char *run;  /* owned; of HARNESS_IS_RUN: the run's folder, else NULL */
	struct harness_files files;
	struct map marks; /* owned values: what each file looked like */
};

/*
 * Whether path is a directory that harness_dir_open would open, or may once a
 * run has begun there: it holds .harnessgym, or the task.
 */
bool harness_dir_is(const char *path);
/* -1 with err (ERR_NODATA) when path holds no run and no comparison. */
int harness_dir_open(struct harness_dir *dir, const char *path, struct err *err)
	__attribute__((warn_unused_result));
void harness_dir_close(struct harness_dir *dir);

/*
 * Look for the process of its runs; before their files are read, so that what
 * the process wrote last is seen.
 */
void harness_dir_find_process(struct harness_dir *dir);

/* Read what changed; true when files.generation moved. */
bool harness_dir_poll(struct harness_dir *dir);

/*
 * Poll until no file is torn, at most for that long: a single look at a live
 * directory that does not fall into the middle of a rewrite.
 */
void harness_dir_settle(struct harness_dir *dir, int64_t limit_ms);

/*
 * Whether each file below a is the same one below b; false too where there is
 * none, or more than can be read.
 */
bool harness_dir_same(const char *a, const char *b);

#endif
