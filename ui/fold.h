/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_FOLD_H
#define HGYM_UI_FOLD_H

#include "ui/canvas.h"

/*
 * Draw text from its line `top` on, long lines folded between words and set
 * in below their beginning; returns how many lines it takes in all.  canvas
 * NULL: count only.
 */
int fold_draw(struct canvas *canvas, struct rect rect, unsigned int style,
	      struct str text, int top);

#endif
