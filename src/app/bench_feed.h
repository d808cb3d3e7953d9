/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* Loads benches into the model: results folders of this machine with their verdicts, benches that
 * only the database has, plans of the configuration that can be started, and the noise register. */
struct bench_feed;

/* Finds the plans of the current configuration; context is borrowed. */
struct bench_feed *bench_feed_new(struct model *model, struct context *context);
void bench_feed_free(struct bench_feed *feed);
/* Load what changed in folders, plans and the database. */
void bench_feed_poll(struct bench_feed *feed);
