/* SPDX-License-Identifier: MIT */
/* Patterns that a user types, for searches and filters in logs. */
#include "config.h"

#include "parsers/pattern.h"

#include <ctype.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/xalloc.h"

#define MATCH_LIMIT	  100000U
#define DEPTH_LIMIT	  1000U
#define PATTERN_MAX_BYTES 1000U

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static bool
has_capital(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\\' && text[1] != '\0')
			text++; /* \S is no capital letter */
		else if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

struct pattern *
pattern_new(const char *text, struct err *err)
{
	uint32_t options =
		PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
	struct pattern *pattern;
	pcre2_code *code;
	PCRE2_UCHAR why[128];
	PCRE2_SIZE at;
	int number;

	if (strlen(text) > PATTERN_MAX_BYTES) {
		err_set(err, ERR_USAGE, "the pattern is too long");
		return NULL;
	}
	if (!has_capital(text))
		options |= PCRE2_CASELESS;
	code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options,
			     &number, &at, NULL);
	if (code == NULL) {
		(void)pcre2_get_error_message(number, why, sizeof(why));
		err_set(err, ERR_USAGE, "pattern, at character %zu: %s",
			(size_t)at + 1, (const char *)why);
		return NULL;
	}
	(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	pattern = xcalloc(1, sizeof(*pattern));
	pattern->code = code;
	pattern->data = pcre2_match_data_create(1, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	(void)pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(pattern->context, DEPTH_LIMIT);
	return pattern;
}

void
pattern_free(struct pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern);
}

bool
pattern_find(const struct pattern *pattern, struct str s, size_t *at,
	     size_t *len)
{
	const char *p = s.p != NULL ? s.p : "";
	PCRE2_SIZE *where;

	if (pcre2_match(pattern->code, (PCRE2_SPTR)p, s.len, 0, 0,
			pattern->data, pattern->context) < 0)
		return false;
	where = pcre2_get_ovector_pointer(pattern->data);
	*at = where[0];
	*len = where[1] > where[0] ? where[1] - where[0] : 0;
	return true;
}
