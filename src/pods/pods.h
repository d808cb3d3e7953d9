/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "remote/fleet.h"

/* Pods of the configuration for the commands that go to them. */

/*
 * The configuration with only the pods of these names (n 0: all), in its own
 * order: *chosen borrows of conf, but for its array of pods, which the caller
 * frees.  -1 with err when one is not there, or there is none at all.
 */
int pods_choose(struct conf *chosen, const struct conf *conf, char *const *names, int n,
		struct err *err) __attribute__((warn_unused_result));

/* How to reach it; the strings are the pod's. */
struct remote_pod pods_remote(const struct conf_pod *pod);
