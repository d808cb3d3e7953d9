/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_LOGFILE_PRIV_H
#define HGYM_MODEL_LOGFILE_PRIV_H

#include <sys/types.h>

#include "model/logfile.h"

/* What logfile.c and logfile_search.c share; nobody else includes it. */

/*
 * A longer line is cut into several at multiples of this offset.  So a block
 * of fewer bytes that holds a line end has no cut before its last one.
 */
#define LOGFILE_CUT_BYTES   (1U << 20)
#define LOGFILE_GUARD_BYTES 64U
/* The longest part of a line is less than two cuts. */
#define LOGFILE_SCAN_BYTES (2U * LOGFILE_CUT_BYTES)

struct logfile {
	int fd;
	uint64_t size;
	int64_t changed_ns; /* mtime */
	unsigned int life;
	char *block; /* owned; the bytes from block_at on */
	uint64_t block_at;
	size_t block_len;
	char *scan;	 /* owned; LOGFILE_SCAN_BYTES, of searches */
	uint64_t *marks; /* owned; place of line 1 + i * INDEX_EVERY */
	size_t n_marks, cap_marks;
	uint64_t asked, asked_number;	 /* a place and its line; 0: none */
	uint64_t counted;		 /* bytes */
	uint64_t lines;			 /* line ends in them */
	char guard[LOGFILE_GUARD_BYTES]; /* the bytes before size */
	size_t guard_len;
};

/* Read len bytes at `at`; fewer at the end of what the file holds. */
size_t logfile_pread(const struct logfile *file, void *data, size_t len,
		     uint64_t at);
/* The scan buffer. */
char *logfile_scan(struct logfile *file);

#endif
