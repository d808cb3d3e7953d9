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

/* db_path (copied) may be NULL: no history and no register. */
struct bench_feed *bench_feed_new(struct model *model, const struct conf *conf,
				  const char *db_path);
void bench_feed_free(struct bench_feed *feed);
/* Look at folders, plans and the database; reads only what changed. */
void bench_feed_poll(struct bench_feed *feed);

#endif
