/* SPDX-License-Identifier: MIT */
/* Decodes the mouse reports of a terminal byte by byte. */
#include "ui/mouse.h"

#define SGR_MAX_BYTES 20
#define MAX_PLACE     10000

/* Bits of the first number of a report. */
#define BUTTON_BITS 0x43U
#define MOTION_BIT  0x20U
#define WHEEL_BIT   0x40U

void key_mouse_begin(struct key_mouse *mouse, bool sgr)
{
	memset(mouse, 0, sizeof(*mouse));
	mouse->sgr = sgr;
	mouse->old = !sgr;
}

bool key_mouse_is_open(const struct key_mouse *mouse)
{
	return mouse->sgr || mouse->old;
}

/* Convert a report (button, column, row) to a key; false if no key corresponds to it. */
static bool make_event(const unsigned int number[3], bool up, struct key *key)
{
	unsigned int button = number[0] & BUTTON_BITS;

	if (number[1] < 1 || number[1] > MAX_PLACE || number[2] < 1 || number[2] > MAX_PLACE)
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
		key->code = number[0] & MOTION_BIT ? KEYCODE_MOUSE_DRAG : KEYCODE_MOUSE_PRESS;
	return true;
}

static bool feed_sgr(struct key_mouse *mouse, uint32_t ch, struct key *key)
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
	       make_event(mouse->number, ch == 'm', key);
}

/* Take one of an old report's three bytes, each 32 more than its value; button 3: released. */
static bool feed_old(struct key_mouse *mouse, uint32_t ch, struct key *key)
{
	mouse->number[mouse->n_numbers++] = ch >= 32 && ch < 256 ? ch - 32 : 0;
	if (mouse->n_numbers < 3)
		return false;
	mouse->old = false;
	bool up = (mouse->number[0] & (BUTTON_BITS | MOTION_BIT)) == 3;
	if (up)
		mouse->number[0] = 0;
	return make_event(mouse->number, up, key);
}

bool key_mouse_feed(struct key_mouse *mouse, uint32_t ch, struct key *key)
{
	mouse->n_bytes++;
	return mouse->sgr ? feed_sgr(mouse, ch, key) : feed_old(mouse, ch, key);
}
