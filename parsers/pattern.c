/* SPDX-License-Identifier: MIT */
/* Patterns that a user types: for logs, and for the names in paths. */
#include "parsers/pattern.h"

#include <ctype.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/xalloc.h"

#define MATCH_LIMIT	  100000U
#define DEPTH_LIMIT	  1000U
#define PATTERN_MAX_BYTES 1000U
#define STACK_MIN_BYTES	  (32U << 10)
#define STACK_MAX_BYTES	  (1U << 20)

struct pattern {
	pcre2_code *code;
	pcre2_code *block; /* over many lines at once; NULL: line by line */
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint32_t capture; /* the group to take of a path */
};

static bool has_capital(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\\' && text[1] != '\0')
			text++; /* \S is no capital letter */
		else if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

/*
 * Whether it may be run over a block of lines.  What matches a line must
 * match there too, perhaps beyond the line's end: so nothing that looks
 * around or that never gives back, and no end of the subject.
 */
static bool is_for_blocks(const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '(' && p[1] == '*')
			return false;
		if (*p == '(' && p[1] == '?' && p[2] != ':' && p[2] != 'i')
			return false;
		if (*p == '+' && p > text && strchr("*+?}", p[-1]) != NULL)
			return false;
		if (*p != '\\')
			continue;
		p++;
		if (*p == '\0' || strchr("AzZGKXRQ", *p) != NULL)
			return false;
	}
	return true;
}

/* The same for many lines, with either line end; NULL: not to be had. */
static pcre2_code *compile_block(const char *text, uint32_t options)
{
	PCRE2_SIZE at;
	int number;

	if (!is_for_blocks(text))
		return NULL;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	(void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
					 options | PCRE2_MULTILINE, &number, &at, context);
	pcre2_compile_context_free(context);
	if (code != NULL && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) != 0) {
		pcre2_code_free(code);
		code = NULL;
	}
	return code;
}

/* Limits, and room for lines that need more than the least stack. */
static void set_limits(struct pattern *pattern)
{
	pattern->data = pcre2_match_data_create_from_pattern(pattern->code, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	pattern->stack = pcre2_jit_stack_create(STACK_MIN_BYTES, STACK_MAX_BYTES, NULL);
	pcre2_jit_stack_assign(pattern->context, NULL, pattern->stack);
	(void)pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
}

struct pattern *pattern_new(const char *text, struct err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
	struct pattern *pattern;
	PCRE2_UCHAR why[128];
	PCRE2_SIZE at;
	int number;

	if (strlen(text) > PATTERN_MAX_BYTES) {
		err_set(err, ERR_USAGE, "the pattern is too long");
		return NULL;
	}
	if (!has_capital(text))
		options |= PCRE2_CASELESS;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &number, &at, NULL);
	if (code == NULL) {
		(void)pcre2_get_error_message(number, why, sizeof(why));
		err_set(err, ERR_USAGE, "pattern, at character %zu: %s", (size_t)at + 1,
			(const char *)why);
		return NULL;
	}
	(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	pattern = xcalloc(1, sizeof(*pattern));
	pattern->code = code;
	pattern->block = compile_block(text, options);
	set_limits(pattern);
	return pattern;
}

void pattern_free(struct pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_jit_stack_free(pattern->stack);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	pcre2_code_free(pattern->block);
	free(pattern);
}

bool pattern_find(const struct pattern *pattern, struct str s, size_t *at, size_t *len)
{
	return pattern_find_from(pattern, s, 0, at, len);
}

bool pattern_find_from(const struct pattern *pattern, struct str s, size_t from, size_t *at,
		       size_t *len)
{
	const char *p = s.p != NULL ? s.p : "";

	if (pcre2_match(pattern->code, (PCRE2_SPTR)p, s.len, from, 0, pattern->data,
			pattern->context) < 0)
		return false;
	PCRE2_SIZE *where = pcre2_get_ovector_pointer(pattern->data);
	*at = where[0];
	*len = where[1] > where[0] ? where[1] - where[0] : 0;
	return true;
}

/* The line that begins at `from`, without its end; *next is behind that. */
static struct str line_at(struct str block, size_t from, size_t *next)
{
	const char *begin = block.p + from;
	const char *end = memchr(begin, '\n', block.len - from);
	size_t len = end != NULL ? (size_t)(end - begin) : block.len - from;

	*next = from + len + (end != NULL);
	if (len > 0 && begin[len - 1] == '\r')
		len--;
	return (struct str){ begin, len };
}

/*
 * The next line at or behind *from that may match, by one look at the whole
 * block; false when there is none.  Where that fails: the line itself.
 */
static bool next_candidate(const struct pattern *pattern, struct str block, size_t *from)
{
	if (pattern->block == NULL)
		return true;
	int rc = pcre2_match(pattern->block, (PCRE2_SPTR)block.p, block.len, *from, 0,
			     pattern->data, pattern->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return false;
	if (rc < 0)
		return true;
	PCRE2_SIZE at = pcre2_get_ovector_pointer(pattern->data)[0];
	/* Behind the last line end there is no line. */
	if (at >= block.len && block.p[block.len - 1] == '\n')
		return false;
	const char *begin = memrchr(block.p + *from, '\n', at - *from);
	if (begin != NULL)
		*from = (size_t)(begin - block.p) + 1;
	return true;
}

bool pattern_find_line(const struct pattern *pattern, struct str block, size_t from, size_t *line)
{
	size_t next, at, len;

	for (; from < block.len; from = next) {
		if (!next_candidate(pattern, block, &from))
			return false;
		if (pattern_find(pattern, line_at(block, from, &next), &at, &len)) {
			*line = from;
			return true;
		}
	}
	return false;
}

/* The group of that name, else the first; 0 when nothing is captured. */
static uint32_t find_capture(const pcre2_code *code)
{
	int named = pcre2_substring_number_from_name(code, (PCRE2_SPTR) "group");
	uint32_t count = 0;

	if (named > 0)
		return (uint32_t)named;
	(void)pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &count);
	return count > 0 ? 1 : 0;
}

struct pattern *pattern_new_path(const char *text, struct err *err)
{
	struct pattern *pattern = xcalloc(1, sizeof(*pattern));
	PCRE2_UCHAR why[256];
	PCRE2_SIZE at = 0;
	int number = 0;

	pattern->code =
		pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &number, &at, NULL);
	if (pattern->code != NULL)
		pattern->capture = find_capture(pattern->code);
	if (pattern->capture > 0) {
		set_limits(pattern);
		return pattern;
	}
	if (pattern->code == NULL) {
		(void)pcre2_get_error_message(number, why, sizeof(why));
		err_set(err, ERR_USAGE, "pattern \"%s\": %s at offset %zu", text, (const char *)why,
			at);
	} else {
		err_set(err, ERR_USAGE,
			"pattern \"%s\" captures nothing: put the part of the "
			"path that names the group in parentheses",
			text);
	}
	pattern_free(pattern);
	return NULL;
}

int pattern_take(const struct pattern *pattern, const char *path, struct str *taken)
{
	int n = pcre2_match(pattern->code, (PCRE2_SPTR)path, strlen(path), 0, 0, pattern->data,
			    pattern->context);

	if (n == PCRE2_ERROR_NOMATCH)
		return 0;
	if (n < 0)
		return -1;
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(pattern->data) + 2 * pattern->capture;
	if ((uint32_t)n <= pattern->capture || at[0] == PCRE2_UNSET)
		return 0;
	*taken = (struct str){ path + at[0], at[1] - at[0] };
	return 1;
}
