/* SPDX-License-Identifier: MIT */
/* Lines that a progress bar was drawn before; called by run_reader.c. */
#include "config.h"

#include "parsers/progress_bar.h"

#include <string.h>

/* s behind the first `mark` in it; empty where it has none. */
static struct str
behind(struct str s, const char *mark)
{
	size_t n = strlen(mark);
	const char *at = s.len > 0 ? memmem(s.p, s.len, mark, n) : NULL;

	if (at == NULL)
		return (struct str){ NULL, 0 };
	at += n;
	return (struct str){ at, s.len - (size_t)(at - s.p) };
}

/* s behind its last "%|", with which a bar begins. */
static struct str
last_bar(struct str s)
{
	const char *at = s.p, *end = s.p + s.len, *bar = end;

	while (at < end && (at = memchr(at, '%', (size_t)(end - at))) != NULL)
		if (++at < end && *at == '|')
			bar = at;
	return (struct str){ bar, (size_t)(end - bar) };
}

struct str
progress_bar_rest(struct str line)
{
	struct str bar = last_bar(line), rest;

	if (bar.len == 0) /* nearly always */
		return bar;
	rest = behind(bar, "it/s");
	if (rest.len == 0)
		rest = behind(bar, "s/it");
	return behind(rest, "]");
}
