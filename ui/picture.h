/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "ui/canvas.h"
#include "ui/theme.h"

/*
 * Pixels over cells of a canvas, see canvas_picture(), and the bytes that make
 * a terminal show them.  A picture is seen where its cells are PICTURE_CELL:
 * what is drawn over it later hides it there.
 *
 * A pixel is 0, none, or an ink: a style, at its edge with half of the colour.
 */

/* A dot with a soft edge, inside of the picture. */
void picture_dot(struct picture *picture, int x, int y, unsigned int style);
/* A pixel of a surface behind all dots. */
void picture_shade(struct picture *picture, int x, int y, unsigned int style);
/* Clear the pixels under cells of the canvas that are not PICTURE_CELL. */
void picture_hide(struct picture *picture, const struct canvas *canvas);
/* What tells this picture at its place from any other one. */
uint64_t picture_key(const struct picture *picture, enum theme theme);

/*
 * Append the sequences that show it at its place, the cursor and the look of
 * text kept.  Sixel writes into the cells, which it makes blank before; kitty
 * keeps it under the text until it is dropped, or another one has its id.
 */
void picture_sixel(const struct picture *picture, enum theme theme, struct buf *out);
void picture_kitty(const struct picture *picture, enum theme theme, size_t id, struct buf *out);
void picture_kitty_drop(size_t id, struct buf *out);
