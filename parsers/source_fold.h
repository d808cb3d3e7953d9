/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SOURCE_FOLD_H
#define HGYM_PARSERS_SOURCE_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "base/str.h"

/*
 * A training script printed into its own log.  Its f-strings and defaults
 * look like results and settings, so its lines are taken out of the rules'
 * sight and hashed.
 *
 * It begins at a line that only Python code has at column 0 (an import, a
 * docstring, "#!") and ends at a line of 60 or more "=" outside a docstring
 * (scripts print 100 of them behind the source), or at a row of training.
 */
struct source_fold {
	bool inside;
	bool in_docstring;
	bool following; /* so far the script is the one that was last */
	char quote;	/* of the docstring */
	bool has_hash;	/* hash and lines are of a whole script */
	struct sha256 sha;
	char hash[SHA256_HEX_SIZE];
	uint64_t lines;
	/*
	 * The script that was last, whole: seeds of one recipe print the same
	 * one, and to compare it is cheaper than to hash it again.
	 */
	struct buf last;
	size_t last_at; /* how far the script at hand is the same */
	char last_hash[SHA256_HEX_SIZE];
};

#define SOURCE_KEEP_BYTES ((size_t)1024 * 1024)

enum source_line {
	SOURCE_NO,    /* not part of a script */
	SOURCE_BEGIN, /* the first line of one */
	SOURCE_BODY,
	SOURCE_END, /* the rule behind it; not part of the script */
};

void source_fold_init(struct source_fold *fold);
void source_fold_release(struct source_fold *fold);
/* For the next file; the last script is remembered. */
void source_fold_reset(struct source_fold *fold);
enum source_line source_fold_line(struct source_fold *fold, struct str line);
/*
 * Within a script: whether the line is the next one of the script that was
 * last.  Then it is taken in, and nothing else needs to look at it.
 */
bool source_fold_follow(struct source_fold *fold, struct str line);
/* Whether a row of training may end the script: not within a docstring. */
bool source_fold_may_end(const struct source_fold *fold);
/* The script is over (end of a run, or a row of training). */
void source_fold_finish(struct source_fold *fold);

#endif
