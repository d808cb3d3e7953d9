/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/sha256.h"

/* SHA-256 of the scripts printed into logs. All seeds of a recipe print the same script, so a
 * script is compared with the ones seen before, which is much faster than hashing it again. */
struct script {
	struct buf text;
	char hash[SHA256_HEX_SIZE];
};

struct script_hash {
	struct sha256 sha; /* ctx NULL before the first script */
	char hash[SHA256_HEX_SIZE];
	struct script *known; /* owned; a ring of the most recent scripts */
	size_t n_known, next;
	/* the known script that equals the current one; NULL: none */
	const struct script *like;
	size_t len; /* bytes of the current script */
};

/* n: number of scripts to remember, 0 or at least 2; each takes its length in memory. */
void script_hash_init(struct script_hash *h, size_t n);
void script_hash_release(struct script_hash *h);

/* Start a script, and forget an unfinished one. */
void script_hash_start(struct script_hash *h);
void script_hash_update(struct script_hash *h, struct str text);
/* Finish the script. Returns its hash as 64 hex digits, borrowed until the next script ends. */
const char *script_hash_end(struct script_hash *h);

/* Recognizes a training script printed into its own log. Its texts look like results and settings,
 * so its lines are hidden from the rules, and hashed.
 *
 * It starts at a line that only Python code has at column 0: an import, a docstring or "#!". It
 * ends at a line of 60 or more "=" outside a docstring (scripts print 100) or a training row. */
struct source_fold {
	bool inside;
	char quote; /* that opened the current docstring; 0: none */
	uint64_t lines;
	struct script_hash hash;
	const char *sha256; /* of the most recent script; NULL: none */
};

enum source_line {
	SOURCE_NO,    /* not part of a script */
	SOURCE_FIRST, /* the first line of a script */
	SOURCE_BODY,
	SOURCE_END, /* the "====" line after it; not part of the script */
};

/* n_known: number of scripts whose hash is remembered, 0 or at least 2. */
void source_fold_init(struct source_fold *fold, size_t n_known);
void source_fold_release(struct source_fold *fold);
/* Prepare for the next file; the scripts stay remembered. */
void source_fold_reset(struct source_fold *fold);
/* Can a script start with this line, by its first byte? */
static inline bool source_fold_may_start(struct str line)
{
	return line.len > 2 &&
	       (line.p[0] == 'i' || line.p[0] == 'f' || (line.p[0] >= '"' && line.p[0] <= '\''));
}
enum source_line source_fold_line(struct source_fold *fold, struct str line);
/* Consume the leading lines of text that are certainly part of the script: their first byte starts
 * no prefix, row or "====". Returns their bytes and adds their number to *lines. */
size_t source_fold_skip(struct source_fold *fold, struct str text, uint64_t *lines);
/* End the script, at the end of a run or at a training row. */
void source_fold_finish(struct source_fold *fold);
