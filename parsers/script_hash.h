/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SCRIPT_HASH_H
#define HGYM_PARSERS_SCRIPT_HASH_H

#include "base/buf.h"
#include "base/sha256.h"
#include "base/str.h"

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

#endif
