/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "model/model.h"
#include "transport.h"

/*
 * HarnessGym directories, here and on pods, into the model: local ones are
 * looked at every second while a run is alive there and every 2 s else, those
 * on a pod every 5 s and every minute, by a command that waits and is asked.
 * Only what has changed is read or sent.
 */
struct harness_feed;

/* Both are borrowed; model->harness is set to what the feed fills. */
struct harness_feed *harness_feed_new(struct loop *loop, struct model *model);
/*
 * model->harness becomes NULL; commands under way are cancelled, so the
 * transports must live longer.
 */
void harness_feed_free(struct harness_feed *feed);

/* A directory here; it need not hold a run yet. */
void harness_feed_local(struct harness_feed *feed, const char *path);
/*
 * dir on the pod of that index in the model, reached as number `index` of
 * transport (borrowed).  Left in peace while a bench runs there.
 */
void harness_feed_pod(struct harness_feed *feed, size_t pod, struct transport *transport,
		      size_t index, const char *dir);
/* Look at everything that is due now; the feed's own timer calls it too. */
void harness_feed_poll(struct harness_feed *feed);
