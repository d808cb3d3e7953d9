/* SPDX-License-Identifier: MIT */
/* Names of keys, for the configuration and the help. */
#include "config.h"

#include "ui/key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/utf8.h"

static const struct {
	const char *name;
	uint32_t code;
} names[] = {
#define X(id, name) { (name), KEYCODE_##id },
	KEYCODE_LIST(X)
#undef X
		{ "Space", ' ' },
	{ "Enter", '\r' },
	{ "Esc", 27 },
	{ "Tab", '\t' },
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

uint32_t
key_by_name(const char *name, uint64_t len)
{
	uint32_t cp;

	if (len == 0)
		return 0;
	if (utf8_decode((struct str){ name, len }, &cp) == len && cp > ' ')
		return cp;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (strlen(names[i].name) == len &&
		    strncasecmp(names[i].name, name, len) == 0)
			return names[i].code;
	if (len == 6 && strncasecmp(name, "Ctrl-", 5) == 0 &&
	    (name[5] | 0x20) >= 'a' && (name[5] | 0x20) <= 'z')
		return (uint32_t)((name[5] | 0x20) - 'a' + 1);
	return 0;
}

void
keycode_name(uint32_t code, char out[KEY_NAME_SIZE])
{
	char bytes[5] = "";

	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (names[i].code == code) {
			(void)snprintf(out, KEY_NAME_SIZE, "%s", names[i].name);
			return;
		}
	}
	if (code < ' ') {
		(void)snprintf(out, KEY_NAME_SIZE, "Ctrl-%c",
			       (char)('a' + code - 1));
		return;
	}
	bytes[utf8_encode(code < KEYCODE_BASE ? code : '?', bytes)] = '\0';
	(void)snprintf(out, KEY_NAME_SIZE, "%s", bytes);
}
