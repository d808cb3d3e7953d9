/* SPDX-License-Identifier: MIT */
#ifndef HGYM_APP_BENCH_FEED_H
#define HGYM_APP_BENCH_FEED_H

#include "conf/conf.h"
#include "model/model.h"

/*
 * Benches into the model: the results folders of this machine with their
 * verdicts, those that only the database remembers, the plans of the
 * configuration that could be started, and the noise register.
 */
struct bench_feed;

/*
 * conf may be NULL: no plans but those of bench_feed_plan; db_path (copied)
 * too: no history and no register.
 */
struct bench_feed *bench_feed_new(struct model *model, const struct conf *conf,
				  const char *db_path);
void bench_feed_free(struct bench_feed *feed);
/* A plan beside those of the configuration; copied. */
void bench_feed_plan(struct bench_feed *feed, const char *path);
/* Look at folders, plans and the database; reads only what changed. */
void bench_feed_poll(struct bench_feed *feed);

#endif
