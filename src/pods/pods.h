/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PODS_PODS_H
#define HGYM_PODS_PODS_H

#include "conf/conf.h"
#include "remote/fleet.h"

/* Pods of the configuration for the commands that go to them. */

/*
 * Put the named pods first, in the order of the configuration; returns how
 * many they are (n 0: all), or -1 with err when one is not there.
 */
int pods_choose(struct conf *conf, char **names, int n, struct err *err)
	__attribute__((warn_unused_result));

/* How to reach it; the strings are the configuration's. */
struct remote_pod pods_remote(const struct conf_pod *pod);

#endif
