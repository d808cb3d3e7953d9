/* SPDX-License-Identifier: MIT */
/* Harness: HarnessGym runs, their iterations and verdicts. */
#include "config.h"

#include "ui/panel.h"
#include "ui/view.h"

struct harness {
	struct table table;
};

static void
harness_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	     struct rect rect)
{
	static const char *const empty[] = {
		"No HarnessGym runs are followed here yet.",
		"hgym-tui harness DIR   shows a run that lies here", NULL
	};

	(void)state;
	(void)shared;
	panel_empty(canvas, rect, empty);
}

static unsigned int
harness_act(void *state, struct ui_shared *shared, enum action action,
	    struct command *out)
{
	(void)state;
	(void)shared;
	(void)action;
	(void)out;
	return UI_IGNORED;
}

static const enum action hints[] = { ACTION_NONE };

const struct view_ops view_harness = {
	.name = "Harness",
	.open = ACTION_VIEW_HARNESS,
	.state_size = sizeof(struct harness),
	.places = IN_ALL,
	.watches = MODEL_HARNESS,
	.hints = hints,
	.draw = harness_draw,
	.act = harness_act,
};
