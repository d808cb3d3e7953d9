/* SPDX-License-Identifier: MIT */
/* A HarnessGym run for the demonstration; called by demo.c. */
#include "config.h"

#include "app/demo_harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "harness/dir.h"
#include "harness/gen.h"
#include "model/harness_view.h"

#define CLOCK_MS 1000 /* a countdown moves */
#define MAX_OPEN 16   /* folders at once while removing */

struct demo_harness {
	struct model *model;
	char *folder; /* owned */
	struct harness_gen gen;
	size_t step; /* the next to be written */
	bool is_open;
	struct harness_dir dir;
	struct harness_view view;
	int64_t shown_ms;
};

struct demo_harness *
demo_harness_new(struct model *model, const char *folder, int64_t begin_wall_ms)
{
	struct demo_harness *demo = xcalloc(1, sizeof(*demo));

	demo->model = model;
	demo->folder = xasprintf("%s/rmsnorm", folder);
	demo->gen = (struct harness_gen){ .dir = demo->folder,
					  .start_ms = begin_wall_ms };
	(void)harness_view_add(&demo->view, "h100-a:/srv/rmsnorm", NULL);
	model->harness = &demo->view;
	return demo;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void
demo_harness_free(struct demo_harness *demo)
{
	if (demo == NULL)
		return;
	demo->model->harness = NULL;
	harness_view_release(&demo->view);
	if (demo->is_open)
		harness_dir_close(&demo->dir);
	(void)nftw(demo->folder, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
	free(demo->folder);
	free(demo);
}

void
demo_harness_advance(struct demo_harness *demo, int64_t wall_ms)
{
	struct err err = { ERR_NONE, "" };

	while (demo->step < harness_gen_steps() &&
	       demo->gen.start_ms + harness_gen_step_at_ms(demo->step) <=
		       wall_ms) {
		if (harness_gen_step(&demo->gen, demo->step++, &err) != 0) {
			log_debug("demo", "%s", err.text);
			demo->step = harness_gen_steps();
		}
	}
}

void
demo_harness_poll(struct demo_harness *demo, int64_t wall_ms)
{
	if (!demo->is_open && demo->step > 0)
		demo->is_open =
			harness_dir_open(&demo->dir, demo->folder, NULL) == 0;
	if (!demo->is_open)
		return;
	demo->view.places[0].files = &demo->dir.files;
	if (!harness_dir_poll(&demo->dir) &&
	    wall_ms - demo->shown_ms < CLOCK_MS)
		return;
	demo->shown_ms = wall_ms;
	harness_view_read(&demo->view, 0, false, wall_ms);
	model_note_change(demo->model, MODEL_HARNESS);
}
