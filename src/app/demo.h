/* SPDX-License-Identifier: MIT */
#pragma once

#include "app/app.h"

/*
 * A fleet to look at: recordings of logs, telemetry, a bench and a HarnessGym
 * run (demo_player.h), which are played into a folder of their own and read
 * there like any other.  Time is the demo's own: it begins in the middle of
 * things and goes on by the source's poll and advance.
 */
struct demo;

/*
 * Makes the folder below TMPDIR; the model gets pods and runs.  The context
 * is borrowed for the demo's life, and opened with what is in the folder.
 */
struct demo *demo_new(struct model *model, struct context *context, struct err *err)
	__attribute__((warn_unused_result));
/* The folder goes too; it does however the process ends. */
void demo_free(struct demo *demo);

/* The demo's time. */
const struct clock *demo_clock(const struct demo *demo);
/*
 * What the dashboard shows.  speed: so many times faster than the real clock;
 * 0: time goes on by `advance` alone.
 */
struct app_source demo_source(struct demo *demo, double speed);
