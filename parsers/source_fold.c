/* SPDX-License-Identifier: MIT */
/* Find training scripts printed into logs, and hash them. */
#include "parsers/source_fold.h"

#include "base/bytes16.h"

/* Longer scripts are hashed but not remembered. */
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

/* Does the known script contain text after its first `at` bytes? */
static bool continues_with(const struct script *known, size_t at, struct str text)
{
	return known->text.len >= at + text.len &&
	       memcmp(known->text.data + at, text.p, text.len) == 0;
}

/* Hash the next bytes, and store them in place of the oldest script. */
static void hash_bytes(struct script_hash *h, struct str text)
{
	sha256_update(&h->sha, text.p, text.len);
	if (h->n_known > 0)
		buf_append(&h->known[h->next].text, text.p, text.len);
}

/* The current script is new: hash the part that was compared but not hashed. */
static void stop_comparing(struct script_hash *h)
{
	const struct script *like = h->like;

	h->like = NULL;
	if (h->n_known == 0)
		return;
	if (like == &h->known[h->next])
		h->next = (h->next + 1) % h->n_known;
	buf_clear(&h->known[h->next].text);
	if (like != NULL)
		hash_bytes(h, (struct str){ like->text.data, h->len });
}

void script_hash_start(struct script_hash *h)
{
	if (h->sha.ctx == NULL) /* most logs contain no script */
		sha256_init(&h->sha);
	sha256_reset(&h->sha);
	if (h->len > 0 && h->like == NULL && h->n_known > 0)
		buf_clear(&h->known[h->next].text); /* the last script did not end */
	h->like = NULL;
	h->len = 0;
}

void script_hash_update(struct script_hash *h, struct str text)
{
	if (h->len == 0 || h->like != NULL) {
		const struct script *like = h->like;

		if (like == NULL || !continues_with(like, h->len, text))
			like = array_find(
				s, h->known, h->n_known,
				continues_with(s, h->len, text) &&
					(h->len == 0 ||
					 memcmp(s->text.data, h->like->text.data, h->len) == 0));
		if (like == NULL)
			stop_comparing(h);
		h->like = like;
	}
	if (h->like == NULL)
		hash_bytes(h, text);
	h->len += text.len;
}

const char *script_hash_end(struct script_hash *h)
{
	struct script *new = &h->known[h->next];

	if (h->like != NULL && h->len < h->like->text.len) {
		stop_comparing(h);
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

/* Is this "import os, sys" or "import lzma as L;...": names, then ",", ";", "#" or "as"? */
static bool is_import(struct str s)
{
	size_t i = strlen("import ");

	if (!str_starts_with(s, "import ") || i == s.len || !is_name_byte(s.p[i]))
		return false;
	while (i < s.len && is_name_byte(s.p[i]))
		i++;
	if (i == s.len || strchr(",;#", s.p[i]) != NULL)
		return true;
	s = str_skip(s, i);
	return str_starts_with(s, " as ") || str_starts_with(s, " #") || str_starts_with(s, ", ") ||
	       str_trim(s).len == 0;
}

static bool starts_script(struct str line)
{
	size_t i = strlen("from ");

	if (line.len < 3)
		return false;
	switch (line.p[0]) {
	case 'i':
		return is_import(line);
	case 'f': /* "from x.y import z" */
		while (i < line.len && is_name_byte(line.p[i]))
			i++;
		return str_starts_with(line, "from ") && i > strlen("from ") &&
		       str_starts_with(str_skip(line, i), " import ");
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

/* Handle a triple quote: it opens a docstring, or closes a docstring with the same quote. */
static void toggle_quote(struct source_fold *fold, char quote)
{
	if (fold->quote == '\0')
		fold->quote = quote;
	else if (fold->quote == quote)
		fold->quote = '\0';
}

/* Must a line that starts with this byte be checked? It may start a prefix ("[rank0]:", "INFO", a
 * time), a training row ("12/", "step:", "warmup") or a row of "=". The range contains a few more
 * bytes, whose lines are checked in vain. */
static bool needs_check(char c)
{
	return (c >= '0' && c <= '[') || c == 's' || c == 'w';
}

/* Find which of the 16 bytes at p are stops: an LF before a line to check, or the start of """. */
static inline bytes16 __attribute__((always_inline)) stops_at(const char *p)
{
	bytes16 a = bytes16_load(p);
	bytes16 b = bytes16_load(p + 1), c = bytes16_load(p + 2);
	/* "s" and "w" differ in one bit */
	bytes16 first = (bytes16)((b - '0' <= '[' - '0') | ((b | 4) == 'w'));
	bytes16 quote = (bytes16)((a == b) & (b == c) & ((a == '"') | (a == '\'')));

	return ((bytes16)(a == '\n') & first) | quote;
}

#define STRIDE 64

/* Find the next stop in the text; if there is none, its last byte, which is an LF. */
static size_t find_stop(struct str text, size_t at)
{
	while (at + 2 < text.len) {
		size_t end = at + STRIDE;
		const char *p = text.p + at;

		if (end + 2 <= text.len && !bytes16_any(stops_at(p) | stops_at(p + 16) |
							stops_at(p + 32) | stops_at(p + 48))) {
			at = end;
			continue;
		}
		for (; at < end && at + 2 < text.len; at++) {
			p = text.p + at;
			if ((*p == '\n' && needs_check(p[1])) ||
			    ((*p == '"' || *p == '\'') && p[1] == *p && p[2] == *p))
				return at;
		}
	}
	return text.len - 1;
}

static void add_line(struct source_fold *fold, struct str line)
{
	bool quotes = line.len > 2 && (memchr(line.p, '"', line.len) != NULL ||
				       memchr(line.p, '\'', line.len) != NULL);

	for (size_t i = 0; quotes && (i = find_stop(line, i)) + 2 < line.len; i += 3)
		toggle_quote(fold, line.p[i]);
	fold->lines++;
	if (line.len > 0)
		script_hash_update(&fold->hash, line);
	script_hash_update(&fold->hash, STR_LIT("\n"));
}

size_t source_fold_skip(struct source_fold *fold, struct str text, uint64_t *lines)
{
	size_t at = 0, n;

	if (!fold->inside || needs_check(text.p[0]))
		return 0;
	while (at = find_stop(text, at), text.p[at] != '\n') {
		toggle_quote(fold, text.p[at]);
		at += 3;
	}
	text.len = at + 1;
	n = bytes16_count(text.p, text.len, '\n');
	fold->lines += n;
	*lines += n;
	script_hash_update(&fold->hash, text);
	return text.len;
}

void source_fold_finish(struct source_fold *fold)
{
	fold->sha256 = fold->inside ? script_hash_end(&fold->hash) : NULL;
	fold->inside = false;
}

enum source_line source_fold_line(struct source_fold *fold, struct str line)
{
	if (!fold->inside) {
		if (!starts_script(line))
			return SOURCE_NO;
		script_hash_start(&fold->hash);
		fold->inside = true;
		fold->sha256 = NULL;
		fold->quote = '\0';
		fold->lines = 0;
		add_line(fold, line);
		return SOURCE_FIRST;
	}
	if ((line.len == 100 || (line.len >= 60 && fold->quote == '\0')) &&
	    all_of(i, line.len, line.p[i] == '=')) {
		source_fold_finish(fold);
		return SOURCE_END;
	}
	add_line(fold, line);
	return SOURCE_BODY;
}
