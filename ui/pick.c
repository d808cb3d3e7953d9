/* SPDX-License-Identifier: MIT */
/* A list narrowed by typing, under the help and the palette. */
#include "config.h"

#include "ui/pick.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/theme.h"

void
pick_clear(struct pick *pick)
{
	for (size_t i = 0; i < pick->n_items; i++) {
		free(pick->items[i].key);
		free(pick->items[i].name);
		free(pick->items[i].help);
	}
	pick->n_items = pick->n_order = 0;
}

void
pick_release(struct pick *pick)
{
	pick_clear(pick);
	free(pick->items);
	free(pick->order);
	prompt_release(&pick->prompt);
	memset(pick, 0, sizeof(*pick));
}

void
pick_add(struct pick *pick, const char *key, const char *name, const char *help,
	 int id)
{
	if (pick->n_items >= PICK_MAX_ITEMS)
		return;
	pick->items = xgrow(pick->items, pick->n_items, &pick->cap_items,
			    sizeof(*pick->items));
	pick->items[pick->n_items++] =
		(struct pick_item){ xstrdup(key), xstrdup(name), xstrdup(help),
				    id, 0 };
}

static int
lower(char c)
{
	return tolower((unsigned char)c);
}

int
pick_score(const char *typed, const char *name)
{
	int score = 1, run = 0;
	const char *at = name;

	for (; *typed != '\0'; typed++) {
		if (*typed == ' ')
			continue;
		while (*at != '\0' && lower(*at) != lower(*typed)) {
			at++;
			run = 0;
		}
		if (*at == '\0')
			return 0;
		run++;
		score += run * 4;
		if (at == name || !isalnum((unsigned char)at[-1]))
			score += 8;
		at++;
	}
	return score * 16 - (int)(strlen(name) > 400 ? 400 : strlen(name)) / 4;
}

/* The score of an item: by its name, or by its help for whole words. */
static int
item_score(const struct pick_item *item, const char *typed)
{
	int by_name = pick_score(typed, item->name);

	if (by_name > 0)
		return by_name + 1000;
	return strcasestr(item->help, typed) != NULL ? 1 : 0;
}

static int
compare(const void *a, const void *b, void *items)
{
	const struct pick_item *all = items;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int by_score = all[k].score - all[i].score;

	return by_score != 0 ? by_score : (i > k) - (i < k);
}

void
pick_update(struct pick *pick)
{
	pick->order = xreallocarray(pick->order, pick->n_items + 1,
				    sizeof(*pick->order));
	pick->n_order = 0;
	for (size_t i = 0; i < pick->n_items; i++) {
		struct pick_item *item = &pick->items[i];

		item->score = pick->prompt.len == 0
				      ? 1
				      : item_score(item, pick->prompt.text);
		if (item->score > 0)
			pick->order[pick->n_order++] = i;
	}
	if (pick->n_order > 0)
		qsort_r(pick->order, pick->n_order, sizeof(*pick->order),
			compare, pick->items);
	pick->table.selected = 0;
	table_set_rows(&pick->table, pick->n_order);
}

int
pick_selected(const struct pick *pick)
{
	if (pick->n_order == 0)
		return -1;
	return pick->items[pick->order[pick->table.selected]].id;
}

static void
draw_item(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct pick *pick = user;
	const struct pick_item *item = &pick->items[pick->order[row]];
	const char *const texts[] = { item->key, item->name, item->help };
	static const unsigned int styles[] = { STYLE_KEY, STYLE_STRONG,
					       STYLE_NORMAL };

	table_cellf(cell, styles[column], "%s", texts[column]);
}

int
pick_draw(struct pick *pick, struct canvas *canvas, struct rect rect,
	  const char *label)
{
	static const struct table_column columns[] = {
		{ "key", 11, false, 0, false },
		{ "name", 16, false, 0, false },
		{ "what it does", 30, false, 0, true },
	};
	const struct table_spec spec = { columns, 3,	    draw_item,
					 pick,	  SIZE_MAX, false };

	table_draw(&pick->table, canvas,
		   (struct rect){ rect.x, rect.y + 1, rect.w, rect.h - 1 },
		   &spec);
	return prompt_draw(&pick->prompt, canvas,
			   (struct rect){ rect.x, rect.y, rect.w, 1 }, label);
}
