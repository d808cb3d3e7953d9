/* SPDX-License-Identifier: MIT */
/* A name out of a path by a user's pattern; called for groups of runs. */
#include "config.h"

#include "parsers/path_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define MATCH_LIMIT  100000U
#define DEPTH_LIMIT  1000U
#define MESSAGE_SIZE 256

struct path_pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
	uint32_t capture; /* the group to take */
};

/* The group of that name, else the first; 0 when nothing is captured. */
static uint32_t
find_capture(const pcre2_code *code)
{
	int named =
		pcre2_substring_number_from_name(code, (PCRE2_SPTR) "group");
	uint32_t count = 0;

	if (named > 0)
		return (uint32_t)named;
	(void)pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &count);
	return count > 0 ? 1 : 0;
}

struct path_pattern *
path_pattern_new(const char *pattern, struct err *err)
{
	struct path_pattern *p = xcalloc(1, sizeof(*p));
	PCRE2_UCHAR message[MESSAGE_SIZE];
	PCRE2_SIZE offset = 0;
	int code = 0;

	p->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0,
				&code, &offset, NULL);
	if (p->code == NULL) {
		(void)pcre2_get_error_message(code, message, sizeof(message));
		err_set(err, ERR_USAGE, "pattern \"%s\": %s at offset %zu",
			pattern, (const char *)message, offset);
		path_pattern_free(p);
		return NULL;
	}
	p->capture = find_capture(p->code);
	if (p->capture == 0) {
		err_set(err, ERR_USAGE,
			"pattern \"%s\" captures nothing: put the part of the "
			"path that names the group in parentheses",
			pattern);
		path_pattern_free(p);
		return NULL;
	}
	p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
	p->limits = pcre2_match_context_create(NULL);
	(void)pcre2_set_match_limit(p->limits, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(p->limits, DEPTH_LIMIT);
	return p;
}

void
path_pattern_free(struct path_pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}

int
path_pattern_take(const struct path_pattern *pattern, const char *path,
		  struct str *taken)
{
	const PCRE2_SIZE *at;
	int n = pcre2_match(pattern->code, (PCRE2_SPTR)path, strlen(path), 0, 0,
			    pattern->match, pattern->limits);

	if (n == PCRE2_ERROR_NOMATCH)
		return 0;
	if (n < 0)
		return -1;
	at = pcre2_get_ovector_pointer(pattern->match);
	if ((uint32_t)n <= pattern->capture ||
	    at[2 * pattern->capture] == PCRE2_UNSET)
		return 0;
	*taken = (struct str){ path + at[2 * pattern->capture],
			       at[2 * pattern->capture + 1] -
				       at[2 * pattern->capture] };
	return 1;
}
