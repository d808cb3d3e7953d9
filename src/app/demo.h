/* SPDX-License-Identifier: MIT */
#pragma once

#include "app/app.h"

/* A recorded fleet: logs, telemetry, a bench and a HarnessGym run (demo_player.h) are played into a
 * temporary directory and read from there like real ones. The demo has its own clock, which starts
 * in the middle of the recordings and advances with the source's poll and advance. */
struct demo;

/* Create the directory below TMPDIR; pods and runs go to the model.  The context is borrowed until
 * demo_free, and opened with the configuration of the recording. */
struct demo *demo_new(struct model *model, struct context *context, struct err *err) MUST_USE;
/* Removes the directory. It is also removed if the process ends without this call. */
void demo_free(struct demo *demo);

/* Clock of the demo. */
const struct clock *demo_clock(const struct demo *demo);
/* Source of the dashboard.  speed: factor to real time; 0: only `advance` moves the clock. */
struct app_source demo_source(struct demo *demo, double speed);
