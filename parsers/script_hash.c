/* SPDX-License-Identifier: MIT */
/* Hashes scripts, and remembers them; used by source_fold.c. */
#include "config.h"

#include "parsers/script_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* A longer script is hashed, but not remembered. */
#define KEEP_BYTES ((size_t)256 * 1024)

void
script_hash_init(struct script_hash *h, size_t n)
{
	*h = (struct script_hash){ .n_known = n };
	h->known = xcalloc(n, sizeof(*h->known));
	for (size_t i = 0; i < n; i++)
		buf_init(&h->known[i].text, KEEP_BYTES);
}

void
script_hash_release(struct script_hash *h)
{
	for (size_t i = 0; i < h->n_known; i++)
		buf_release(&h->known[i].text);
	free(h->known);
	sha256_release(&h->sha);
	*h = (struct script_hash){ .n_known = 0 };
}

/* Whether the known script has text behind its first `at` bytes. */
static bool
goes_on(const struct script *known, size_t at, struct str text)
{
	return known->text.len >= at + text.len &&
	       memcmp(known->text.data + at, text.p, text.len) == 0;
}

/* A known script that begins as the one at hand and goes on with text. */
static const struct script *
find_like(const struct script_hash *h, struct str text)
{
	if (h->like != NULL && goes_on(h->like, h->len, text))
		return h->like;
	for (size_t i = 0; i < h->n_known; i++) {
		const struct script *s = &h->known[i];

		if (goes_on(s, h->len, text) &&
		    (h->len == 0 ||
		     memcmp(s->text.data, h->like->text.data, h->len) == 0))
			return s;
	}
	return NULL;
}

/* Hash the next bytes, and keep them in the oldest script's place. */
static void
take_new(struct script_hash *h, struct str text)
{
	sha256_update(&h->sha, text.p, text.len);
	if (h->n_known > 0)
		buf_append(&h->known[h->next].text, text.p, text.len);
}

/* The script at hand is a new one: hash what was only compared of it. */
static void
begin_new(struct script_hash *h)
{
	const struct script *like = h->like;

	h->like = NULL;
	if (h->n_known == 0)
		return;
	if (like == &h->known[h->next])
		h->next = (h->next + 1) % h->n_known;
	buf_clear(&h->known[h->next].text);
	if (like != NULL)
		take_new(h, (struct str){ like->text.data, h->len });
}

void
script_hash_begin(struct script_hash *h)
{
	if (h->sha.ctx == NULL) /* most logs print no script */
		sha256_init(&h->sha);
	sha256_reset(&h->sha);
	if (h->len > 0 && h->like == NULL && h->n_known > 0)
		buf_clear(&h->known[h->next].text); /* it never ended */
	h->like = NULL;
	h->len = 0;
}

void
script_hash_update(struct script_hash *h, struct str text)
{
	if (h->len == 0 || h->like != NULL) {
		const struct script *like = find_like(h, text);

		if (like == NULL)
			begin_new(h);
		h->like = like;
	}
	if (h->like == NULL)
		take_new(h, text);
	h->len += text.len;
}

const char *
script_hash_end(struct script_hash *h)
{
	struct script *new = &h->known[h->next];

	if (h->like != NULL && h->len < h->like->text.len) {
		begin_new(h);
		new = &h->known[h->next];
	}
	h->len = 0;
	if (h->like != NULL)
		return h->like->hash;
	sha256_hex(&h->sha, h->hash);
	if (h->n_known == 0)
		return h->hash;
	if (new->text.truncated) {
		buf_clear(&new->text);
		return h->hash;
	}
	memcpy(new->hash, h->hash, sizeof(new->hash));
	h->next = (h->next + 1) % h->n_known;
	return h->hash;
}
