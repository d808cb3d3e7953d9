/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "remote/fleet.h"

/* Copy the configuration with only the named pods (n 0: all), in the order of the configuration.
 * *chosen borrows from conf, except the array of pods, which the caller frees.  -1 with err if a
 * name is unknown or the configuration has no pods. */
int pods_choose(struct conf *chosen, const struct conf *conf, char *const *names, int n,
		struct err *err) MUST_USE;

/* Set err for a configuration without pods; returns -1. */
int pods_none(const struct conf *conf, enum err_code code, struct err *err);

/* The settings of a connection to the pod; borrows its texts. */
struct remote_pod pods_remote(const struct conf_pod *pod);
