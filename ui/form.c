/* SPDX-License-Identifier: MIT */
/* Edits and draws the form of an A/B bench, and converts its content to JSON and back. */
#include "ui/form.h"

#include "parsers/json.h"
#include "ui/theme.h"

#define LABEL_WIDTH 10

#define FORM_ROW(key, ...) [FORM_##key] = { #key, __VA_ARGS__ },
static const struct {
	const char *key, *label, *initial, *hint;
} fields[FORM_COUNT] = { FORM_LIST(FORM_ROW) };

void form_release(struct form *form)
{
	for (size_t i = 0; i < FORM_COUNT; i++)
		prompt_release(&form->fields[i]);
}

void form_open(struct form *form, const char *pods)
{
	for (size_t i = 0; !form->is_filled && i < FORM_COUNT; i++)
		prompt_set(&form->fields[i], fields[i].initial);
	form->is_filled = true;
	form->why[0] = '\0';
	if (pods[0] != '\0')
		prompt_set(&form->fields[FORM_pods], pods);
}

void form_fill(struct form *form, const char *json)
{
	AUTO_JSON object = json_parse(str_from(json), JSON_BARE_NULL, NULL);

	for (size_t i = 0; i < FORM_COUNT; i++)
		prompt_set(&form->fields[i], json_get_string(object, fields[i].key, ""));
	form->at = 0;
	form->is_filled = true;
}

enum prompt_result form_key(struct form *form, uint32_t code)
{
	size_t step = code == KEYCODE_DOWN || code == '\t'	       ? 1
		      : code == KEYCODE_UP || code == KEYCODE_BACK_TAB ? FORM_COUNT - 1
								       : 0;

	form->at = (form->at + step) % FORM_COUNT;
	if (step > 0)
		return PROMPT_MORE;
	enum prompt_result result = prompt_key(&form->fields[form->at], code);
	if (result == PROMPT_CHANGED)
		form->why[0] = '\0';
	return result;
}

void form_set_error(struct form *form, const char *why)
{
	/* The message starts with a key ("variant: ..") or an option ("--variant B: .."). */
	const char *at = why + strspn(why, "-");
	size_t n = strcspn(at, ": ");

	print_into(form->why, "%s", why);
	for (size_t i = 0; i < FORM_COUNT; i++)
		if (strncmp(fields[i].key, at, n) == 0 && fields[i].key[n] == '\0')
			form->at = i;
}

void form_json(const struct form *form, struct buf *out)
{
	AUTO_JSON object = cJSON_CreateObject();

	for (size_t i = 0; i < FORM_COUNT; i++)
		json_add_string(object, fields[i].key, form->fields[i].text);
	json_print(out, object);
}

int form_draw(const struct form *form, struct canvas *canvas, struct rect r, int *cursor_y)
{
	int cursor = r.x, first = 0, shown = r.h - 2;
	char label[32];

	if ((int)form->at >= shown)
		first = (int)form->at - shown + 1;
	for (int i = first; i < (int)FORM_COUNT && i - first < shown; i++) {
		struct rect line = { r.x, r.y + i - first, r.w, 1 };
		bool is_current = (size_t)i == form->at;

		print_into(label, "%-*s", LABEL_WIDTH, fields[i].label);
		int x = prompt_draw(&form->fields[i], canvas, line, label);
		if (!is_current)
			continue;
		canvas_fill(canvas, (struct rect){ r.x, line.y, LABEL_WIDTH - 1, 1 }, STYLE_TAB_ON,
			    0);
		cursor = x;
		*cursor_y = line.y;
	}
	canvas_line(canvas, (struct rect){ r.x, r.y + r.h - 2, r.w, 1 },
		    form->why[0] != '\0' ? STYLE_WARN : STYLE_HINT,
		    str_from(form->why[0] != '\0' ? form->why : fields[form->at].hint));
	canvas_line(canvas, (struct rect){ r.x, r.y + r.h - 1, r.w, 1 }, STYLE_HINT,
		    str_from("Tab: next field   Enter: show what would run   Esc: leave"));
	return cursor;
}
