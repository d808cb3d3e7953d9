/* SPDX-License-Identifier: MIT */
/* The line editor for searches, filters, the palette and confirmations. */
#include "ui/prompt.h"

#include "ui/theme.h"

#define CTRL(c) ((uint32_t)(c) - 'a' + 1)

void prompt_release(struct prompt *prompt)
{
	for (size_t i = 0; i < prompt->n_history; i++)
		free(prompt->history[i]);
	memset(prompt, 0, sizeof(*prompt));
}

void prompt_set(struct prompt *prompt, const char *text)
{
	size_t len = strlen(text);

	if (len > PROMPT_BYTES)
		len = 0;
	memmove(prompt->text, text, len);
	prompt->text[len] = '\0';
	prompt->len = prompt->cursor = len;
	prompt->at = prompt->n_history;
}

static size_t find_previous(const struct prompt *prompt, size_t at)
{
	return at == 0 ? 0 : utf8_begin(prompt->text, at - 1);
}

static size_t find_next(const struct prompt *prompt, size_t at)
{
	struct str rest = str_skip(str_from(prompt->text), at);
	uint32_t cp;

	return rest.len > 0 ? at + utf8_decode(rest, &cp) : at;
}

static void erase_range(struct prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, prompt->len - to + 1);
	prompt->len -= to - from;
	prompt->cursor = from;
}

static void insert_char(struct prompt *prompt, uint32_t cp)
{
	char bytes[4];
	size_t n = utf8_encode(cp, bytes);

	if (prompt->len + n > PROMPT_BYTES)
		return;
	memmove(prompt->text + prompt->cursor + n, prompt->text + prompt->cursor,
		prompt->len - prompt->cursor + 1);
	memcpy(prompt->text + prompt->cursor, bytes, n);
	prompt->len += n;
	prompt->cursor += n;
}

static void show_history(struct prompt *prompt, size_t at)
{
	if (at > prompt->n_history)
		return;
	if (prompt->at == prompt->n_history)
		memcpy(prompt->typed, prompt->text, sizeof(prompt->typed));
	prompt_set(prompt, at == prompt->n_history ? prompt->typed : prompt->history[at]);
	prompt->at = at;
}

static void add_history(struct prompt *prompt)
{
	size_t n = prompt->n_history;

	if (prompt->len == 0 || (n > 0 && strcmp(prompt->history[n - 1], prompt->text) == 0))
		return;
	if (n == PROMPT_HISTORY) {
		free(prompt->history[0]);
		memmove(prompt->history, prompt->history + 1, (n - 1) * sizeof(prompt->history[0]));
		prompt->n_history--;
	}
	prompt->history[prompt->n_history++] = xstrdup(prompt->text);
	prompt->at = prompt->n_history;
}

static bool move_cursor(struct prompt *prompt, uint32_t code)
{
	if (code == KEYCODE_LEFT || code == CTRL('b'))
		prompt->cursor = find_previous(prompt, prompt->cursor);
	else if (code == KEYCODE_RIGHT || code == CTRL('f'))
		prompt->cursor = find_next(prompt, prompt->cursor);
	else if (code == KEYCODE_HOME || code == CTRL('a'))
		prompt->cursor = 0;
	else if (code == KEYCODE_END || code == CTRL('e'))
		prompt->cursor = prompt->len;
	else
		return false;
	return true;
}

static bool erase_by_key(struct prompt *prompt, uint32_t code)
{
	size_t at = prompt->cursor, word = at;

	while (word > 0 && prompt->text[word - 1] == ' ')
		word--;
	while (word > 0 && prompt->text[word - 1] != ' ')
		word--;
	if (code == KEYCODE_BACKSPACE || code == CTRL('h') || code == 127)
		erase_range(prompt, find_previous(prompt, at), at);
	else if (code == KEYCODE_DELETE || code == CTRL('d'))
		erase_range(prompt, at, find_next(prompt, at));
	else if (code == CTRL('u'))
		erase_range(prompt, 0, at);
	else if (code == CTRL('k'))
		erase_range(prompt, at, prompt->len);
	else if (code == CTRL('w'))
		erase_range(prompt, word, at);
	else
		return false;
	return true;
}

enum prompt_result prompt_key(struct prompt *prompt, uint32_t code)
{
	if (code == 27 || code == CTRL('c') || code == CTRL('g'))
		return PROMPT_CANCEL;
	if (code == '\r' || code == '\n') {
		add_history(prompt);
		return PROMPT_DONE;
	}
	if (code == KEYCODE_UP || code == KEYCODE_DOWN) {
		show_history(prompt, code == KEYCODE_UP ? prompt->at - 1 : prompt->at + 1);
		return PROMPT_CHANGED;
	}
	if (move_cursor(prompt, code))
		return PROMPT_MORE;
	if (erase_by_key(prompt, code))
		return PROMPT_CHANGED;
	if (code < ' ' || code >= KEYCODE_BASE || (code >= 0x7F && code < 0xA0))
		return PROMPT_MORE;
	insert_char(prompt, code);
	return PROMPT_CHANGED;
}

int prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct rect rect,
		const char *label)
{
	struct rect outer = canvas_clip(canvas, rect);
	struct str head = { prompt->text, prompt->cursor };

	canvas_fill(canvas, rect, STYLE_NORMAL, ' ');
	int x = rect.x + canvas_text(canvas, rect.x, rect.y, STYLE_KEY, label);
	int room = rect.x + rect.w - 1 - x;
	int over = (int)utf8_width(head) - room + 1;
	/* If the cursor would be outside, draw the line without its start. */
	if (over > 1)
		head = str_skip(head, utf8_prefix(head, (size_t)over));
	(void)canvas_text(canvas, x, rect.y, STYLE_NORMAL, head.p);
	canvas->clip = outer;
	return x + (int)utf8_width(head);
}
