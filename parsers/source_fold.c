/* SPDX-License-Identifier: MIT */
/* Notices a training script printed into the log; used by run_reader.c. */
#include "config.h"

#include "parsers/source_fold.h"

#include <string.h>

void
source_fold_init(struct source_fold *fold)
{
	memset(fold, 0, sizeof(*fold));
	buf_init(&fold->last, SOURCE_KEEP_BYTES);
	sha256_init(&fold->sha);
}

void
source_fold_release(struct source_fold *fold)
{
	buf_release(&fold->last);
	sha256_release(&fold->sha);
}

void
source_fold_reset(struct source_fold *fold)
{
	if (fold->inside)
		buf_clear(&fold->last); /* it may hold the half of a script */
	fold->inside = fold->in_docstring = fold->has_hash = false;
	fold->lines = 0;
}

static bool
is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* "import os, sys" or "import lzma as L;...": names, then , ; # or "as". */
static bool
is_import(struct str s)
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
	s.p += i;
	s.len -= i;
	return str_starts_with(s, " as ") || str_starts_with(s, " #") ||
	       str_starts_with(s, ", ") || str_trim(s).len == 0;
}

/* "from x.y import z" */
static bool
is_from_import(struct str s)
{
	size_t i = strlen("from ");

	if (!str_starts_with(s, "from "))
		return false;
	while (i < s.len && is_name_byte(s.p[i]))
		i++;
	s.p += i;
	s.len -= i;
	return i > strlen("from ") && str_starts_with(s, " import ");
}

static bool
begins_source(struct str line)
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
		return str_starts_with(line, "#!/") &&
		       str_find(line, "python") != NULL;
	default:
		return false;
	}
}

/* Length of a line of nothing but "="; else 0. */
static size_t
rule_length(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.p[i] != '=')
			return 0;
	return line.len;
}

/* Follow the triple quotes of the line, so that docstrings are known. */
static void
follow_quotes(struct source_fold *fold, struct str line)
{
	if (line.len < 3 || (memchr(line.p, '"', line.len) == NULL &&
			     memchr(line.p, '\'', line.len) == NULL))
		return;
	for (size_t i = 0; i + 2 < line.len; i++) {
		char c = line.p[i];

		if ((c != '"' && c != '\'') || line.p[i + 1] != c ||
		    line.p[i + 2] != c)
			continue;
		if (!fold->in_docstring) {
			fold->in_docstring = true;
			fold->quote = c;
		} else if (fold->quote == c) {
			fold->in_docstring = false;
		}
		i += 2;
	}
}

/* Whether the line is the next one of the last script. */
static bool
is_next_of_last(const struct source_fold *fold, struct str line)
{
	const char *at = fold->last.data + fold->last_at;

	return fold->last.len - fold->last_at > line.len &&
	       at[line.len] == '\n' && memcmp(at, line.p, line.len) == 0;
}

/* The script turns out to be another one: take in what was only compared. */
static void
stop_following(struct source_fold *fold)
{
	struct str rest = { fold->last.data, fold->last_at }, line;

	fold->following = false;
	while (rest.len > 0 && str_next(&rest, '\n', &line))
		follow_quotes(fold, line);
	sha256_reset(&fold->sha);
	sha256_update(&fold->sha, fold->last.data, fold->last_at);
	fold->last.len = fold->last_at;
}

bool
source_fold_follow(struct source_fold *fold, struct str line)
{
	if (!fold->following || !is_next_of_last(fold, line))
		return false;
	fold->last_at += line.len + 1;
	fold->lines++;
	return true;
}

static void
take_line(struct source_fold *fold, struct str line)
{
	if (source_fold_follow(fold, line))
		return;
	if (fold->following)
		stop_following(fold);
	follow_quotes(fold, line);
	fold->lines++;
	sha256_update(&fold->sha, line.p, line.len);
	sha256_update(&fold->sha, "\n", 1);
	buf_append(&fold->last, line.p, line.len);
	buf_append_char(&fold->last, '\n');
}

bool
source_fold_may_end(const struct source_fold *fold)
{
	return fold->inside && !fold->in_docstring;
}

void
source_fold_finish(struct source_fold *fold)
{
	fold->has_hash = fold->inside;
	if (!fold->inside)
		return;
	fold->inside = false;
	fold->in_docstring = false;
	if (fold->following && fold->last_at == fold->last.len) {
		memcpy(fold->hash, fold->last_hash, sizeof(fold->hash));
		return;
	}
	if (fold->following)
		stop_following(fold);
	sha256_hex(&fold->sha, fold->hash);
	memcpy(fold->last_hash, fold->hash, sizeof(fold->hash));
	if (fold->last.truncated)
		buf_clear(&fold->last);
}

enum source_line
source_fold_line(struct source_fold *fold, struct str line)
{
	size_t rule;

	if (!fold->inside) {
		if (!begins_source(line))
			return SOURCE_NO;
		fold->inside = true;
		fold->has_hash = false;
		fold->lines = 0;
		fold->following = fold->last.len > 0;
		fold->last_at = 0;
		sha256_reset(&fold->sha);
		take_line(fold, line);
		return SOURCE_BEGIN;
	}
	rule = rule_length(line);
	if (fold->following && rule >= 60 && fold->last_at == fold->last.len) {
		source_fold_finish(fold);
		return SOURCE_END;
	}
	if (fold->following && !is_next_of_last(fold, line))
		stop_following(fold);
	if (rule == 100 || (rule >= 60 && !fold->in_docstring)) {
		source_fold_finish(fold);
		return SOURCE_END;
	}
	take_line(fold, line);
	return SOURCE_BODY;
}
