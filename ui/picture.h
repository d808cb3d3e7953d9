/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/canvas.h"
#include "ui/theme.h"

/* Pixels over cells of a canvas, see canvas_picture(), and the bytes that show them on a terminal.
 * A picture is visible where its cells are PICTURE_CELL; text drawn later hides it.
 *
 * A pixel is 0 (transparent) or an ink: a style in full color, or half for soft edges. */

/* Draw a dot with a soft edge; (x, y) must be inside of the picture. */
void picture_dot(struct picture *picture, int x, int y, unsigned int style);
/* Draw a pixel of an area. Dots must be drawn later. */
void picture_shade(struct picture *picture, int x, int y, unsigned int style);
/* Clear the pixels under cells of the canvas that are not PICTURE_CELL. */
void picture_hide(struct picture *picture, const struct canvas *canvas);
/* A hash of content and place, to detect changes. */
uint64_t picture_key(const struct picture *picture, enum theme theme);

/* Append the sequences that show the picture; they keep cursor and text attributes. Sixel blanks
 * the cells first. kitty keeps the picture under the text until picture_kitty_drop(), or until
 * another one gets its id. */
void picture_sixel(const struct picture *picture, enum theme theme, struct buf *out);
void picture_kitty(const struct picture *picture, enum theme theme, size_t id, struct buf *out);
void picture_kitty_drop(size_t id, struct buf *out);
