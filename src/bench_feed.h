/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_BENCH_FEED_H
#define HGYM_SRC_BENCH_FEED_H

#include "conf.h"
#include "model/model.h"

/*
 * Benches into the model: the results folders of this machine with their
 * verdicts, and the plans of the configuration that could be started.
 */
struct bench_feed;

/* conf may be NULL: no plans but those of bench_feed_plan. */
struct bench_feed *bench_feed_new(struct model *model, const struct conf *conf);
void bench_feed_free(struct bench_feed *feed);
/* A plan beside those of the configuration; copied. */
void bench_feed_plan(struct bench_feed *feed, const char *path);
/* Look at folders and plans; costs nothing while nothing changed. */
void bench_feed_poll(struct bench_feed *feed);

/*
 * What starting a plan (or stopping a bench) will run, for the question
 * before it; owned by the caller.  NULL with err when the plan is wrong.
 */
char *bench_feed_preview(const char *plan_path, const char *stop_id,
			 struct err *err);

#endif
