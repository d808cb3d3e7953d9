/* SPDX-License-Identifier: MIT */
/* Names of keys, the table of actions, and key bindings. */
#include "base/keymap.h"

#include <assert.h>
#include <strings.h>

#include "base/utf8.h"

#define KEYCODE_ROW(id, name) { (name), id },
static const struct {
	const char *name;
	uint32_t code;
} key_names[] = { { "Space", ' ' },
		  { "Enter", '\r' },
		  { "Esc", 27 },
		  { "Tab", '\t' },
		  KEYCODE_LIST(KEYCODE_ROW) };

#define NAME_COUNT (LENGTH(key_names))

uint32_t key_by_name(const char *name, size_t len)
{
	uint32_t cp;

	if (len == 0)
		return 0;
	if (utf8_decode((struct str){ name, len }, &cp) == len && cp > ' ')
		return cp;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (strlen(key_names[i].name) == len &&
		    strncasecmp(key_names[i].name, name, len) == 0)
			return key_names[i].code;
	if (len == 6 && strncasecmp(name, "Ctrl-", 5) == 0 && (name[5] | 0x20) >= 'a' &&
	    (name[5] | 0x20) <= 'z')
		return (uint32_t)((name[5] | 0x20) - 'a' + 1);
	return 0;
}

void keycode_name(uint32_t code, char out[KEY_NAME_SIZE])
{
	char bytes[5] = "";

	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (key_names[i].code == code) {
			(void)snprintf(out, KEY_NAME_SIZE, "%s", key_names[i].name);
			return;
		}
	}
	if (code < ' ') {
		(void)snprintf(out, KEY_NAME_SIZE, "Ctrl-%c", (char)('a' + code - 1));
		return;
	}
	bytes[utf8_encode(code < KEYCODE_BASE ? code : '?', bytes)] = '\0';
	(void)snprintf(out, KEY_NAME_SIZE, "%s", bytes);
}

static const struct action_info actions[ACTION_COUNT] = {
#define X(id, ...) [ACTION_##id] = { __VA_ARGS__ },
#include "base/actions.def"
#undef X
};

const struct action_info *action_info(enum action action)
{
	assert(action < ACTION_COUNT);
	return &actions[action];
}

enum action action_by_name(struct str name)
{
	for (int i = 1; i < ACTION_COUNT; i++)
		if (str_eq_cstr(name, actions[i].name))
			return (enum action)i;
	return ACTION_NONE;
}

bool action_is_acting(enum action action)
{
	return action == ACTION_SHELL || action == ACTION_POD_STOP ||
	       action == ACTION_BENCH_START || action == ACTION_BENCH_STOP ||
	       action == ACTION_AUDIT;
}

static int parse_keys(const char *names, uint32_t keys[KEYMAP_KEYS], struct err *err)
{
	struct str rest = str_from(names), word;
	size_t n = 0;

	memset(keys, 0, sizeof(uint32_t) * KEYMAP_KEYS);
	while (str_next(&rest, ' ', &word)) {
		if (word.len == 0)
			continue;
		uint32_t code = key_by_name(word.p, word.len);
		if (code == 0 || n == KEYMAP_KEYS) {
			err_set(err, ERR_CONFIG,
				code == 0 ? "unknown key \"%.*s\"" : "too many keys at \"%.*s\"",
				(int)word.len, word.p);
			return -1;
		}
		keys[n++] = code;
	}
	return 0;
}

void keymap_init(struct keymap *keymap)
{
	memset(keymap, 0, sizeof(*keymap));
	for (int i = 1; i < ACTION_COUNT; i++)
		(void)parse_keys(action_info((enum action)i)->keys, keymap->keys[i], NULL);
}

static void remove_key(struct keymap *keymap, enum action owner, uint32_t code)
{
	unsigned int places = actions[owner].places;

	for (int i = 1; i < ACTION_COUNT; i++)
		for (int k = 0; k < KEYMAP_KEYS; k++)
			if (keymap->keys[i][k] == code &&
			    (actions[i].places == places || (actions[i].places & places) != 0))
				keymap->keys[i][k] = 0;
}

int keymap_bind(struct keymap *keymap, const char *action, const char *keys, struct err *err)
{
	enum action id = action_by_name(str_from(action));
	uint32_t codes[KEYMAP_KEYS];

	if (id == ACTION_NONE) {
		err_set(err, ERR_CONFIG, "unknown action \"%s\"", action);
		return -1;
	}
	if (parse_keys(keys, codes, err))
		return -1;
	for (int k = 0; k < KEYMAP_KEYS; k++)
		if (codes[k] != 0)
			remove_key(keymap, id, codes[k]);
	memcpy(keymap->keys[id], codes, sizeof(codes));
	return 0;
}

enum action keymap_find(const struct keymap *keymap, uint32_t code, unsigned int places)
{
	enum action everywhere = ACTION_NONE;

	if (code == 0)
		return ACTION_NONE;
	if (code == '\n')
		code = '\r';
	for (int i = 1; i < ACTION_COUNT; i++) {
		unsigned int where = action_info((enum action)i)->places;

		if (!any_of(k, KEYMAP_KEYS, keymap->keys[i][k] == code))
			continue;
		if ((where & places) != 0)
			return (enum action)i;
		if (where == IN_ALL)
			everywhere = (enum action)i;
	}
	return everywhere;
}

void keymap_key_name(const struct keymap *keymap, enum action action, char out[KEY_NAME_SIZE])
{
	out[0] = '\0';
	for (int k = 0; k < KEYMAP_KEYS; k++) {
		if (keymap->keys[action][k] != 0) {
			keycode_name(keymap->keys[action][k], out);
			return;
		}
	}
}

void keymap_key_names(const struct keymap *keymap, enum action action, struct buf *out)
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
