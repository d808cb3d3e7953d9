/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/sha256.h"

/*
 * The SHA-256 of scripts that are printed into logs.  The seeds of a recipe
 * print the same one: what was seen whole before is compared, which is much
 * faster than to hash it again.
 */
struct script {
	struct buf text;
	char hash[SHA256_HEX_SIZE];
};

struct script_hash {
	struct sha256 sha; /* ctx NULL before the first script */
	char hash[SHA256_HEX_SIZE];
	struct script *known; /* owned; a ring of those that came last */
	size_t n_known, next;
	/* The known one that the script at hand repeats so far, or NULL. */
	const struct script *like;
	size_t len; /* bytes of the script at hand */
};

/* n: how many scripts are remembered, 0 or from 2; each costs its length. */
void script_hash_init(struct script_hash *h, size_t n);
void script_hash_release(struct script_hash *h);

/* Begin a script; what came of another one is forgotten. */
void script_hash_begin(struct script_hash *h);
void script_hash_update(struct script_hash *h, struct str text);
/* 64 hex digits of the script that ends here; borrowed until the next end. */
const char *script_hash_end(struct script_hash *h);

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
	char quote; /* of the docstring under way; 0: none */
	uint64_t lines;
	struct script_hash hash;
	const char *sha256; /* of the script that ended last; NULL: none */
};

enum source_line {
	SOURCE_NO,    /* not part of a script */
	SOURCE_BEGIN, /* the first line of one */
	SOURCE_BODY,
	SOURCE_END, /* the rule behind it; not part of the script */
};

/* n_known: of how many scripts it remembers the hash; 0 or from 2. */
void source_fold_init(struct source_fold *fold, size_t n_known);
void source_fold_release(struct source_fold *fold);
/* For the next file; the scripts are remembered. */
void source_fold_reset(struct source_fold *fold);
enum source_line source_fold_line(struct source_fold *fold, struct str line);
/*
 * Take the whole lines that text begins with and that are part of a script
 * for sure: their first byte begins no prefix, no row and no rule.  Returns
 * their bytes, and adds their number to *lines.
 */
size_t source_fold_skip(struct source_fold *fold, struct str text, uint64_t *lines);
/* Whether a row of training may end the script: not within a docstring. */
bool source_fold_may_end(const struct source_fold *fold);
/* The script is over (end of a run, or a row of training). */
void source_fold_finish(struct source_fold *fold);
