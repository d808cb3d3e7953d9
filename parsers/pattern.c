/* SPDX-License-Identifier: MIT */
/* Match patterns that a user types: in searches of logs, and for names in paths. */
#include "parsers/pattern.h"

#include <ctype.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MATCH_LIMIT	  100000U
#define DEPTH_LIMIT	  1000U
#define PATTERN_MAX_BYTES 1000U
#define STACK_MIN_BYTES	  (32U << 10)
#define STACK_MAX_BYTES	  (1U << 20)

struct pattern {
	pcre2_code *code;
	pcre2_code *block; /* to search many lines at once; NULL: line by line */
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint32_t capture; /* the group to take from a path */
};

static bool has_capital(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\\' && text[1] != '\0')
			text++; /* the S of \S is not a capital letter */
		else if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

/* Can the pattern search a block of lines? It must find a match in the block whenever it matches a
 * line, so it must not look around, be possessive, or match only at the end of the text. */
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

/* Compile the pattern for a block of lines that end with LF or CR LF; NULL if impossible. */
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

/* Compile the text with the limits of a pattern; NULL with a message in err. */
static struct pattern *compile_pattern(const char *text, uint32_t options, struct err *err)
{
	struct pattern *pattern;
	PCRE2_UCHAR why[256];
	PCRE2_SIZE at = 0;
	int number = 0;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options, &number, &at, NULL);

	if (code == NULL) {
		(void)pcre2_get_error_message(number, why, sizeof(why));
		err_set(err, ERR_USAGE, "invalid pattern: %s at character %zu of \"%s\"",
			(const char *)why, (size_t)at + 1, text);
		return NULL;
	}
	pattern = xcalloc(1, sizeof(*pattern));
	pattern->code = code;
	pattern->data = pcre2_match_data_create_from_pattern(code, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	pattern->stack = pcre2_jit_stack_create(STACK_MIN_BYTES, STACK_MAX_BYTES, NULL);
	pcre2_jit_stack_assign(pattern->context, NULL, pattern->stack);
	(void)pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
	return pattern;
}

struct pattern *pattern_new(const char *text, struct err *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
	struct pattern *pattern;

	if (strlen(text) > PATTERN_MAX_BYTES) {
		err_set(err, ERR_USAGE, "the pattern is longer than %u bytes", PATTERN_MAX_BYTES);
		return NULL;
	}
	if (!has_capital(text))
		options |= PCRE2_CASELESS;
	pattern = compile_pattern(text, options, err);
	if (pattern == NULL)
		return NULL;
	(void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
	pattern->block = compile_block(text, options);
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

/* Move *from to the next line that may match, with one search of the whole block; false if no line
 * matches. If the search fails, *from stays the same. */
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
	/* A match after the last line end belongs to no line. */
	if (at >= block.len && block.p[block.len - 1] == '\n')
		return false;
	const char *begin = memrchr(block.p + *from, '\n', at - *from);
	if (begin != NULL)
		*from = (size_t)(begin - block.p) + 1;
	return true;
}

bool pattern_find_line(const struct pattern *pattern, struct str block, size_t from, size_t *line)
{
	size_t at, len;

	while (from < block.len && next_candidate(pattern, block, &from)) {
		const char *start = block.p + from;
		const char *end = memchr(start, '\n', block.len - from);
		struct str text = { start, end != NULL ? (size_t)(end - start) : block.len - from };

		*line = from;
		from += text.len + (end != NULL);
		text.len -= text.len > 0 && start[text.len - 1] == '\r';
		if (pattern_find(pattern, text, &at, &len))
			return true;
	}
	return false;
}

struct pattern *pattern_new_path(const char *text, struct err *err)
{
	struct pattern *pattern = compile_pattern(text, 0, err);
	uint32_t n_groups = 0;

	if (pattern == NULL)
		return NULL;
	int named = pcre2_substring_number_from_name(pattern->code, (PCRE2_SPTR) "group");
	(void)pcre2_pattern_info(pattern->code, PCRE2_INFO_CAPTURECOUNT, &n_groups);
	pattern->capture = named > 0 ? (uint32_t)named : n_groups > 0;
	if (pattern->capture > 0)
		return pattern;
	err_set(err, ERR_USAGE,
		"the pattern \"%s\" has no group: put the part of the path that names the "
		"group in parentheses",
		text);
	pattern_free(pattern);
	return NULL;
}

int pattern_capture(const struct pattern *pattern, const char *path, struct str *taken)
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
