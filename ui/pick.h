/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_PICK_H
#define HGYM_UI_PICK_H

#include "ui/prompt.h"
#include "ui/table.h"

/*
 * A list that is narrowed by typing: help and palette.  Items are borrowed
 * text; those that match the typed letters in order are shown, best first.
 */
struct pick_item {
	char *key, *name, *help; /* owned; key may be "" */
	int id;			 /* what it stands for, the owner's matter */
	int score;
};

#define PICK_MAX_ITEMS 2000

struct pick {
	struct prompt prompt;
	struct table table;
	struct pick_item *items; /* owned */
	size_t n_items, cap_items;
	size_t *order; /* owned; the shown items */
	size_t n_order;
};

void pick_release(struct pick *pick);
void pick_clear(struct pick *pick);
void pick_add(struct pick *pick, const char *key, const char *name,
	      const char *help, int id);
/* After items or the text changed. */
void pick_update(struct pick *pick);
/* The id of the selected item; -1: none. */
int pick_selected(const struct pick *pick);
/* Returns the column of the cursor; its line is the first of rect. */
int pick_draw(struct pick *pick, struct canvas *canvas, struct rect rect,
	      const char *label);

/*
 * How well the letters of `typed` are found in `name`, in order and in any
 * case: 0 not at all; higher for beginnings of words and runs of letters.
 */
int pick_score(const char *typed, const char *name);

#endif
