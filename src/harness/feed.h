/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "model/model.h"
#include "transport.h"

/* Reads HarnessGym directories on this machine and on pods into the model. Local ones are read
 * every second while a run is active, else every 2 s; those on a pod every 5 s, else every minute,
 * through a command that stays open. Only changes are read and sent. */
struct harness_feed;

/* Both are borrowed. Sets model->harness. */
struct harness_feed *harness_feed_new(struct loop *loop, struct model *model);
/* Set model->harness to NULL and cancel running commands; call before the transports are freed. */
void harness_feed_free(struct harness_feed *feed);

/* Follow a local directory, which need not have a run yet. */
void harness_feed_local(struct harness_feed *feed, const char *path);
/* Follow dir on a pod: `pod` is the pod's index in the model, `index` its number in transport
 * (borrowed).  The directory is not read while a bench runs on the pod. */
void harness_feed_pod(struct harness_feed *feed, size_t pod, struct transport *transport,
		      size_t index, const char *dir);
/* Read every directory that is due now; the feed's timer calls it too. */
void harness_feed_poll(struct harness_feed *feed);
