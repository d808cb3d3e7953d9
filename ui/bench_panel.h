/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/view.h"

/*
 * A bench as a picture: its runs as dots on one axis, each arm's difference
 * from the control with its interval against the margin, then what the next
 * look needs, guards, time and money.  Returns the line below it.
 */
int bench_panel_draw(const struct bench_live *live, struct canvas *canvas, struct rect rect);

/* "fused: FASTER by ..", or that there is no verdict yet; cut to size. */
void bench_panel_words(const struct bench_live *live, char *out, size_t size);
