/* SPDX-License-Identifier: MIT */
/* Settings that a training log prints; called by run_log and the judge. */
#include "config.h"

#include "bench/run_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* The length of a key at the front of text, or 0. */
static size_t
key_length(struct str text)
{
	size_t n = 0;

	if (text.len == 0 ||
	    (!isalpha((unsigned char)text.p[0]) && text.p[0] != '_'))
		return 0;
	while (n < text.len && (isalnum((unsigned char)text.p[n]) ||
				text.p[n] == '_' || text.p[n] == '.'))
		n++;
	return n < text.len && n < RUN_SETTING_KEY &&
			       (text.p[n] == ':' || text.p[n] == '=')
		       ? n
		       : 0;
}

static struct run_setting *
find(const struct run_settings *settings, struct str key)
{
	for (size_t i = 0; i < settings->n; i++)
		if (str_eq_cstr(key, settings->v[i].key))
			return &settings->v[i];
	return NULL;
}

/* Keep it; one that was printed with another value is nobody's setting. */
static void
keep(struct run_settings *settings, struct str key, struct str value,
     uint64_t line)
{
	struct run_setting *known = find(settings, key);

	if (value.len == 0 || value.len >= RUN_SETTING_VALUE)
		return;
	for (size_t i = 0; i < value.len; i++)
		if (value.p[i] < ' ' || value.p[i] > '~')
			return;
	if (known != NULL) {
		if (!str_eq_cstr(value, known->value))
			known->value[0] = '\0';
		return;
	}
	if (settings->n == RUN_SETTINGS_MAX)
		return;
	settings->v = xgrow(settings->v, settings->n, &settings->cap,
			    sizeof(*settings->v));
	known = &settings->v[settings->n++];
	(void)snprintf(known->key, sizeof(known->key), "%.*s", (int)key.len,
		       key.p);
	(void)snprintf(known->value, sizeof(known->value), "%.*s",
		       (int)value.len, value.p);
	known->line = line;
}

void
run_settings_line(struct run_settings *settings, struct str line,
		  uint64_t number)
{
	struct str rest = str_trim(line), word;
	size_t n = key_length(rest);

	/* "key: value, to the end of the line". */
	if (n > 0 && n + 1 < rest.len && rest.p[n + 1] == ' ') {
		keep(settings, (struct str){ rest.p, n },
		     str_trim((struct str){ rest.p + n + 1, rest.len - n - 1 }),
		     number);
		return;
	}
	while (str_next(&rest, ' ', &word)) {
		n = key_length(word);
		if (n > 0)
			keep(settings, (struct str){ word.p, n },
			     (struct str){ word.p + n + 1, word.len - n - 1 },
			     number);
	}
}

void
run_settings_end(struct run_settings *settings, uint64_t line)
{
	while (settings->n > 0 && settings->v[settings->n - 1].line >= line)
		settings->n--;
}

const char *
run_settings_get(const struct run_settings *settings, const char *key)
{
	const struct run_setting *known = find(settings, str_from(key));

	return known != NULL && known->value[0] != '\0' ? known->value : NULL;
}

bool
run_settings_wavers(const struct run_settings *settings, const char *key)
{
	const struct run_setting *known = find(settings, str_from(key));

	return known != NULL && known->value[0] == '\0';
}

void
run_settings_release(struct run_settings *settings)
{
	free(settings->v);
	*settings = (struct run_settings){ 0 };
}
