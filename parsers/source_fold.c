/* SPDX-License-Identifier: MIT */
/* Notices a training script printed into the log; used by run_reader.c. */
#include "config.h"

#include "parsers/source_fold.h"

#include <string.h>

void
source_fold_init(struct source_fold *fold)
{
	memset(fold, 0, sizeof(*fold));
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

static void
take_line(struct source_fold *fold, struct str line)
{
	follow_quotes(fold, line);
	sha256_update(&fold->sha, line.p, line.len);
	sha256_update(&fold->sha, "\n", 1);
	fold->lines++;
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
	sha256_hex(&fold->sha, fold->hash);
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
		sha256_init(&fold->sha);
		take_line(fold, line);
		return SOURCE_BEGIN;
	}
	rule = rule_length(line);
	if (rule == 100 || (rule >= 60 && !fold->in_docstring)) {
		source_fold_finish(fold);
		return SOURCE_END;
	}
	take_line(fold, line);
	return SOURCE_BODY;
}
