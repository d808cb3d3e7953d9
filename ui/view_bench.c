/* SPDX-License-Identifier: MIT */
/* Bench: A/B throughput benches, running and judged. */
#include "config.h"

#include "ui/panel.h"
#include "ui/view.h"

struct bench {
	struct table table;
};

static void
bench_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	   struct rect rect)
{
	static const char *const empty[] = {
		"No benches here yet.",
		"hgym-tui bench run bench.json   starts one (it asks first)",
		"hgym-tui bench judge            judges logs that exist", NULL
	};

	(void)state;
	(void)shared;
	panel_empty(canvas, rect, empty);
}

static unsigned int
bench_act(void *state, struct ui_shared *shared, enum action action,
	  struct command *out)
{
	(void)state;
	(void)shared;
	(void)action;
	(void)out;
	return UI_IGNORED;
}

static const enum action hints[] = { ACTION_NONE };

const struct view_ops view_bench = {
	.name = "Bench",
	.open = ACTION_VIEW_BENCH,
	.state_size = sizeof(struct bench),
	.places = IN_BENCH,
	.watches = MODEL_BENCH,
	.hints = hints,
	.draw = bench_draw,
	.act = bench_act,
};
