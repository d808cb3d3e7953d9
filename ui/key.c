/* SPDX-License-Identifier: MIT */
/* Keys by name, and out of what a terminal says of its mouse. */
#include "config.h"

#include "ui/key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/utf8.h"

#define SGR_MAX_BYTES 20
#define MAX_PLACE     10000

/* Bits of the button's number. */
#define BUTTON_BITS 0x43U
#define MOTION_BIT  0x20U
#define WHEEL_BIT   0x40U

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

void
key_mouse_begin(struct key_mouse *mouse, bool sgr)
{
	memset(mouse, 0, sizeof(*mouse));
	mouse->sgr = sgr;
	mouse->old = !sgr;
}

bool
key_mouse_is_open(const struct key_mouse *mouse)
{
	return mouse->sgr || mouse->old;
}

/* The event of the three numbers; code 0 when it is nothing to us. */
static bool
event_of(const unsigned int number[3], bool up, struct key *key)
{
	unsigned int button = number[0] & BUTTON_BITS;

	if (number[1] < 1 || number[1] > MAX_PLACE || number[2] < 1 ||
	    number[2] > MAX_PLACE)
		return false;
	key->x = (int)number[1] - 1;
	key->y = (int)number[2] - 1;
	if (button == WHEEL_BIT)
		key->code = KEYCODE_WHEEL_UP;
	else if (button == (WHEEL_BIT | 1))
		key->code = KEYCODE_WHEEL_DOWN;
	else if (button != 0)
		return false;
	else if (up)
		key->code = KEYCODE_MOUSE_RELEASE;
	else
		key->code = number[0] & MOTION_BIT ? KEYCODE_MOUSE_DRAG
						   : KEYCODE_MOUSE_PRESS;
	return true;
}

static bool
feed_sgr(struct key_mouse *mouse, uint32_t ch, struct key *key)
{
	unsigned int *number = &mouse->number[mouse->n_numbers];

	if (ch >= '0' && ch <= '9' && mouse->n_bytes < SGR_MAX_BYTES) {
		*number = *number * 10 + (ch - '0');
		if (*number > MAX_PLACE)
			*number = MAX_PLACE + 1;
		return false;
	}
	if (ch == ';' && mouse->n_numbers < 2) {
		mouse->n_numbers++;
		return false;
	}
	mouse->sgr = false;
	return (ch == 'M' || ch == 'm') && mouse->n_numbers == 2 &&
	       event_of(mouse->number, ch == 'm', key);
}

/* Three bytes, each with 32 more than it means; button 3 is a release. */
static bool
feed_old(struct key_mouse *mouse, uint32_t ch, struct key *key)
{
	bool up;

	mouse->number[mouse->n_numbers++] = ch >= 32 && ch < 256 ? ch - 32 : 0;
	if (mouse->n_numbers < 3)
		return false;
	mouse->old = false;
	up = (mouse->number[0] & (BUTTON_BITS | MOTION_BIT)) == 3;
	if (up)
		mouse->number[0] = 0;
	return event_of(mouse->number, up, key);
}

bool
key_mouse_feed(struct key_mouse *mouse, uint32_t ch, struct key *key)
{
	mouse->n_bytes++;
	return mouse->sgr ? feed_sgr(mouse, ch, key) : feed_old(mouse, ch, key);
}
