/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_POD_PANEL_H
#define HGYM_UI_POD_PANEL_H

#include "ui/view.h"

/*
 * All that is known of a pod: its link and why it is so, its GPUs, the last
 * check, its noise, runs and alerts, and what its GPUs did lately as charts
 * where there is room for them.
 */
void pod_panel_draw(const struct ui_shared *shared, size_t pod,
		    struct canvas *canvas, struct rect rect);

#endif
