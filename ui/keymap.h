/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_KEYMAP_H
#define HGYM_UI_KEYMAP_H

#include "base/buf.h"
#include "base/err.h"
#include "ui/action.h"
#include "ui/key.h"

/* Which key does what: the defaults of the list, changed by the user. */
#define KEYMAP_KEYS 4 /* of one action */

struct keymap {
	uint32_t keys[ACTION_COUNT][KEYMAP_KEYS]; /* 0: none */
};

/* The default keys. */
void keymap_init(struct keymap *keymap);
/*
 * Give an action these keys (names with blanks between; "" for none) and take
 * them from the others of the same places.  -1 with err for an unknown name.
 */
int keymap_bind(struct keymap *keymap, const char *action, const char *keys,
		struct err *err) __attribute__((warn_unused_result));
/*
 * The action of a key where these places are; an action of a place wins over
 * one of everywhere.  ACTION_NONE when no action has it.
 */
enum action keymap_find(const struct keymap *keymap, uint32_t code,
			unsigned int places);
/* The name of an action's first key; "" when it has none. */
void keymap_key_name(const struct keymap *keymap, enum action action,
		     char out[KEY_NAME_SIZE]);
/* All of its keys, with blanks between. */
void keymap_key_names(const struct keymap *keymap, enum action action,
		      struct buf *out);

#endif
