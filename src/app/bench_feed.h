/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/*
 * Benches into the model: the results folders of this machine with their
 * verdicts, those that only the database remembers, the plans of the
 * configuration that could be started, and the noise register.
 */
struct bench_feed;

/* With the plans of the configuration as it is now; context is borrowed. */
struct bench_feed *bench_feed_new(struct model *model, struct context *context);
void bench_feed_free(struct bench_feed *feed);
/* Look at folders, plans and the database; reads only what changed. */
void bench_feed_poll(struct bench_feed *feed);
