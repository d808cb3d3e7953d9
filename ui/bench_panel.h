/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/view.h"

/* Draw a bench: progress, verdicts, runs as dots, each arm's difference from the control with its
 * interval and the margin, failed checks, the next interim analysis. Returns the row below it. */
int bench_panel_draw(const struct bench_live *live, struct canvas *canvas, struct rect rect);

/* Write "fused: FASTER by ..", or the progress of a bench without a verdict; cut to size. */
void bench_panel_words(const struct bench_live *live, char *out, size_t size);
