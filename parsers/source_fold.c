/* SPDX-License-Identifier: MIT */
/* Notices a training script printed into the log, and hashes it. */
#include "parsers/source_fold.h"

#include <stdlib.h>

#include "base/bytes16.h"
#include "base/xalloc.h"

/* A longer script is hashed, but not remembered. */
#define KEEP_BYTES ((size_t)256 * 1024)

void script_hash_init(struct script_hash *h, size_t n)
{
	*h = (struct script_hash){ .n_known = n };
	h->known = xcalloc(n, sizeof(*h->known));
	for (size_t i = 0; i < n; i++)
		buf_init(&h->known[i].text, KEEP_BYTES);
}

void script_hash_release(struct script_hash *h)
{
	for (size_t i = 0; i < h->n_known; i++)
		buf_release(&h->known[i].text);
	free(h->known);
	sha256_release(&h->sha);
	*h = (struct script_hash){ .n_known = 0 };
}

/* Whether the known script has text behind its first `at` bytes. */
static bool goes_on(const struct script *known, size_t at, struct str text)
{
	return known->text.len >= at + text.len &&
	       memcmp(known->text.data + at, text.p, text.len) == 0;
}

/* A known script that begins as the one at hand and goes on with text. */
static const struct script *find_like(const struct script_hash *h, struct str text)
{
	if (h->like != NULL && goes_on(h->like, h->len, text))
		return h->like;
	return array_find(
		s, h->known, h->n_known,
		goes_on(s, h->len, text) &&
			(h->len == 0 || memcmp(s->text.data, h->like->text.data, h->len) == 0));
}

/* Hash the next bytes, and keep them in the oldest script's place. */
static void take_new(struct script_hash *h, struct str text)
{
	sha256_update(&h->sha, text.p, text.len);
	if (h->n_known > 0)
		buf_append(&h->known[h->next].text, text.p, text.len);
}

/* The script at hand is a new one: hash what was only compared of it. */
static void begin_new(struct script_hash *h)
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

void script_hash_begin(struct script_hash *h)
{
	if (h->sha.ctx == NULL) /* most logs print no script */
		sha256_init(&h->sha);
	sha256_reset(&h->sha);
	if (h->len > 0 && h->like == NULL && h->n_known > 0)
		buf_clear(&h->known[h->next].text); /* it never ended */
	h->like = NULL;
	h->len = 0;
}

void script_hash_update(struct script_hash *h, struct str text)
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

const char *script_hash_end(struct script_hash *h)
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

void source_fold_init(struct source_fold *fold, size_t n_known)
{
	*fold = (struct source_fold){ .inside = false };
	script_hash_init(&fold->hash, n_known);
}

void source_fold_release(struct source_fold *fold)
{
	script_hash_release(&fold->hash);
}

void source_fold_reset(struct source_fold *fold)
{
	fold->inside = false;
	fold->sha256 = NULL;
	fold->lines = 0;
}

static bool is_name_byte(char c)
{
	return str_is_word(c) || c == '.';
}

/* "import os, sys" or "import lzma as L;...": names, then , ; # or "as". */
static bool is_import(struct str s)
{
	size_t i = strlen("import ");

	if (!str_starts_with(s, "import "))
		return false;
	if (i >= s.len || !is_name_byte(s.p[i]))
		return false;
	while (i < s.len && is_name_byte(s.p[i]))
		i++;
	if (i == s.len || strchr(",;#", s.p[i]) != NULL)
		return true;
	s = str_skip(s, i);
	return str_starts_with(s, " as ") || str_starts_with(s, " #") || str_starts_with(s, ", ") ||
	       str_trim(s).len == 0;
}

/* "from x.y import z" */
static bool is_from_import(struct str s)
{
	size_t i = strlen("from ");

	if (!str_starts_with(s, "from "))
		return false;
	while (i < s.len && is_name_byte(s.p[i]))
		i++;
	s = str_skip(s, i);
	return i > strlen("from ") && str_starts_with(s, " import ");
}

static bool begins_source(struct str line)
{
	if (line.len < 3)
		return false;
	switch (line.p[0]) {
	case 'i':
		return is_import(line);
	case 'f':
		return is_from_import(line);
	case '"':
		return str_starts_with(line, "\"\"\"");
	case '\'':
		return str_starts_with(line, "'''");
	case '#':
		return str_starts_with(line, "#!/") && str_find(line, "python") != NULL;
	default:
		return false;
	}
}

/* Length of a line of nothing but "="; else 0. */
static size_t rule_length(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.p[i] != '=')
			return 0;
	return line.len;
}

/* A triple quote begins a docstring, or ends the one that it began. */
static void take_quote(struct source_fold *fold, char quote)
{
	if (fold->quote == '\0')
		fold->quote = quote;
	else if (fold->quote == quote)
		fold->quote = '\0';
}

static bool is_triple_quote(const char *p)
{
	return (p[0] == '"' || p[0] == '\'') && p[1] == p[0] && p[2] == p[0];
}

/*
 * The first byte of a line that must be looked at: of a prefix ("[rank0]:",
 * "INFO", a time), a row of training ("12/", "step:", "warmup") or a rule
 * ("=").  It is a range, so a few more have it; they are looked at in vain.
 */
static bool is_mark(char c)
{
	return (c >= '0' && c <= '[') || c == 's' || c == 'w';
}

/* Which of the 16 bytes at p are a mark's LF or begin a triple quote. */
static inline bytes16 __attribute__((always_inline)) marks_at(const char *p)
{
	bytes16 a = bytes16_load(p);
	bytes16 b = bytes16_load(p + 1), c = bytes16_load(p + 2);
	/* "s" and "w" differ in one bit. */
	bytes16 first = (bytes16)((b - '0' <= '[' - '0') | ((b | 4) == 'w'));
	bytes16 quote = (bytes16)((a == b) & (b == c) & ((a == '"') | (a == '\'')));

	return ((bytes16)(a == '\n') & first) | quote;
}

/* Whether a mark is within the next 64 bytes; two more are read. */
#define STRIDE 64
static bool has_mark(const char *p)
{
	return bytes16_any(marks_at(p) | marks_at(p + 16) | marks_at(p + 32) | marks_at(p + 48));
}

/* The next triple quote, or LF in front of a mark; else the last byte, an LF.
 */
static size_t next_mark(struct str text, size_t at)
{
	while (at + 2 < text.len) {
		size_t end = at + STRIDE;

		if (end + 2 <= text.len && !has_mark(text.p + at)) {
			at = end;
			continue;
		}
		for (; at < end && at + 2 < text.len; at++)
			if ((text.p[at] == '\n' && is_mark(text.p[at + 1])) ||
			    is_triple_quote(text.p + at))
				return at;
	}
	return text.len - 1;
}

static void take_line(struct source_fold *fold, struct str line)
{
	bool quotes = line.len > 2 && (memchr(line.p, '"', line.len) != NULL ||
				       memchr(line.p, '\'', line.len) != NULL);

	for (size_t i = 0; quotes && (i = next_mark(line, i)) + 2 < line.len; i += 3)
		take_quote(fold, line.p[i]);
	fold->lines++;
	if (line.len > 0)
		script_hash_update(&fold->hash, line);
	script_hash_update(&fold->hash, STR_LIT("\n"));
}

size_t source_fold_skip(struct source_fold *fold, struct str text, uint64_t *lines)
{
	size_t at = 0, n;

	if (!fold->inside || is_mark(text.p[0]))
		return 0;
	while (at = next_mark(text, at), text.p[at] != '\n') {
		take_quote(fold, text.p[at]);
		at += 3;
	}
	text.len = at + 1;
	n = bytes16_count(text.p, text.len, '\n');
	fold->lines += n;
	*lines += n;
	script_hash_update(&fold->hash, text);
	return text.len;
}

bool source_fold_may_end(const struct source_fold *fold)
{
	return fold->inside && fold->quote == '\0';
}

void source_fold_finish(struct source_fold *fold)
{
	fold->sha256 = fold->inside ? script_hash_end(&fold->hash) : NULL;
	fold->inside = false;
}

static void begin_script(struct source_fold *fold)
{
	script_hash_begin(&fold->hash);
	fold->inside = true;
	fold->sha256 = NULL;
	fold->quote = '\0';
	fold->lines = 0;
}

enum source_line source_fold_line(struct source_fold *fold, struct str line)
{
	if (!fold->inside) {
		if (!begins_source(line))
			return SOURCE_NO;
		begin_script(fold);
		take_line(fold, line);
		return SOURCE_BEGIN;
	}
	size_t rule = rule_length(line);
	if (rule == 100 || (rule >= 60 && fold->quote == '\0')) {
		source_fold_finish(fold);
		return SOURCE_END;
	}
	take_line(fold, line);
	return SOURCE_BODY;
}
