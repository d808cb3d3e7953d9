/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_MOUSE_H
#define HGYM_UI_MOUSE_H

#include "ui/ui_impl.h"

/*
 * The mouse over a view: a click goes to a tab, selects a row, or sets a
 * chart's cursor; a drag takes a part of x to be shown, or the selection
 * along a list; the wheel zooms a chart and moves in a list.
 */
void mouse_key(struct ui *ui, const struct key *key);
/* The part of a chart that is being taken. */
void mouse_draw(const struct ui *ui, struct canvas *canvas);

#endif
