/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/canvas.h"
#include "ui/theme.h"

/* Draw into the pictures of a canvas, see canvas_picture(), and make the escape sequences that show
 * them. A picture is visible where its cells are PICTURE_CELL; text drawn later hides it.
 *
 * A pixel is 0 (transparent) or an ink: the color of a style, full or half for a soft edge. */

/* Draw a dot with a soft edge; (x, y) must be inside the picture. */
void picture_dot(struct picture *picture, int x, int y, unsigned int style);
/* Draw a pixel of an area in half color. Draw areas before dots. */
void picture_shade(struct picture *picture, int x, int y, unsigned int style);
/* Make pixels transparent where the canvas has text, that is, cells other than PICTURE_CELL. */
void picture_hide(struct picture *picture, const struct canvas *canvas);
/* Return a hash of content and position, to detect changes. */
uint64_t picture_key(const struct picture *picture, enum theme theme);

/* Append the sequences that show the picture; they do not change the cursor and text attributes.
 * The sixel sequence blanks the cells first. A kitty terminal keeps the picture behind the text
 * until picture_kitty_drop(), or until another picture gets its id. */
void picture_sixel(const struct picture *picture, enum theme theme, struct buf *out);
void picture_kitty(const struct picture *picture, enum theme theme, size_t id, struct buf *out);
void picture_kitty_drop(size_t id, struct buf *out);
