/* SPDX-License-Identifier: MIT */
/* The list of actions as a table, and from a key to one of them. */
#include "config.h"

#include "ui/keymap.h"

#include <assert.h>
#include <string.h>

static const struct action_info actions[] = { { "", "", 0, "" },
#define X(id, name, keys, place, help) { (name), (keys), (place), (help) },
					      ACTION_LIST(X)
#undef X
};

const struct action_info *
action_info(enum action action)
{
	assert(action < ACTION_COUNT);
	return &actions[action];
}

enum action
action_by_name(struct str name)
{
	for (int i = 1; i < ACTION_COUNT; i++)
		if (str_eq_cstr(name, actions[i].name))
			return (enum action)i;
	return ACTION_NONE;
}

bool
action_is_acting(enum action action)
{
	return action == ACTION_SHELL || action == ACTION_BENCH_START ||
	       action == ACTION_BENCH_STOP;
}

/* The codes of the key names in `names`; -1 with the wrong one in err. */
static int
parse_keys(const char *names, uint32_t keys[KEYMAP_KEYS], struct err *err)
{
	struct str rest = str_from(names), word;
	size_t n = 0;

	memset(keys, 0, sizeof(uint32_t) * KEYMAP_KEYS);
	while (str_next(&rest, ' ', &word)) {
		uint32_t code;

		if (word.len == 0)
			continue;
		code = key_by_name(word.p, word.len);
		if (code == 0 || n == KEYMAP_KEYS) {
			err_set(err, ERR_CONFIG,
				code == 0 ? "no key is named \"%.*s\""
					  : "too many keys at \"%.*s\"",
				(int)word.len, word.p);
			return -1;
		}
		keys[n++] = code;
	}
	return 0;
}

void
keymap_init(struct keymap *keymap)
{
	memset(keymap, 0, sizeof(*keymap));
	for (int i = 1; i < ACTION_COUNT; i++)
		(void)parse_keys(action_info((enum action)i)->keys,
				 keymap->keys[i], NULL);
}

/* Whether two actions can be meant by one key at the same time. */
static bool
places_meet(enum action a, enum action b)
{
	unsigned int pa = action_info(a)->places, pb = action_info(b)->places;

	return pa == pb || (pa & pb) != 0;
}

static void
take_key(struct keymap *keymap, enum action owner, uint32_t code)
{
	for (int i = 1; i < ACTION_COUNT; i++)
		for (int k = 0; k < KEYMAP_KEYS; k++)
			if (keymap->keys[i][k] == code &&
			    places_meet(owner, (enum action)i))
				keymap->keys[i][k] = 0;
}

int
keymap_bind(struct keymap *keymap, const char *action, const char *keys,
	    struct err *err)
{
	enum action id = action_by_name(str_from(action));
	uint32_t codes[KEYMAP_KEYS];

	if (id == ACTION_NONE) {
		err_set(err, ERR_CONFIG, "no action is named \"%s\"", action);
		return -1;
	}
	if (parse_keys(keys, codes, err))
		return -1;
	for (int k = 0; k < KEYMAP_KEYS; k++)
		if (codes[k] != 0)
			take_key(keymap, id, codes[k]);
	memcpy(keymap->keys[id], codes, sizeof(codes));
	return 0;
}

static bool
has_key(const struct keymap *keymap, int action, uint32_t code)
{
	for (int k = 0; k < KEYMAP_KEYS; k++)
		if (keymap->keys[action][k] == code)
			return true;
	return false;
}

enum action
keymap_find(const struct keymap *keymap, uint32_t code, unsigned int places)
{
	enum action everywhere = ACTION_NONE;

	if (code == 0)
		return ACTION_NONE;
	if (code == '\n')
		code = '\r';
	for (int i = 1; i < ACTION_COUNT; i++) {
		unsigned int where = action_info((enum action)i)->places;

		if (!has_key(keymap, i, code))
			continue;
		if ((where & places) != 0)
			return (enum action)i;
		if (where == IN_ALL)
			everywhere = (enum action)i;
	}
	return everywhere;
}

void
keymap_key_name(const struct keymap *keymap, enum action action,
		char out[KEY_NAME_SIZE])
{
	out[0] = '\0';
	for (int k = 0; k < KEYMAP_KEYS; k++) {
		if (keymap->keys[action][k] != 0) {
			keycode_name(keymap->keys[action][k], out);
			return;
		}
	}
}

void
keymap_key_names(const struct keymap *keymap, enum action action,
		 struct buf *out)
{
	char name[KEY_NAME_SIZE];

	for (int k = 0; k < KEYMAP_KEYS; k++) {
		if (keymap->keys[action][k] == 0)
			continue;
		keycode_name(keymap->keys[action][k], name);
		if (out->len > 0)
			buf_append_char(out, ' ');
		buf_append_str(out, name);
	}
}
