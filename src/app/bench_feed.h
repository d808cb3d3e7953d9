/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* Loads benches into the model: results folders on this machine with their verdicts, benches that
 * are only in the database, plans that the configuration names, and the noise register. */
struct bench_feed;

/* Finds the plans that the current configuration names; context is borrowed. */
struct bench_feed *bench_feed_new(struct model *model, struct context *context);
void bench_feed_free(struct bench_feed *feed);
/* Load again the folders, plans and database rows that changed. */
void bench_feed_poll(struct bench_feed *feed);
