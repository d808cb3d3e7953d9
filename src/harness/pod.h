/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "harness/wire.h"

/*
 * Fetch a HarnessGym directory once, of a pod (NULL: of this machine): connect,
 * run one command that only reads, end.  wire is initialised by the caller and
 * holds the clock there and what the directory is.  -1 with err when the pod
 * cannot be reached, when it takes more than 120 s, or when there is no run.
 */
int harness_pod_fetch(const struct conf_pod *pod, const char *dir, struct harness_wire *wire,
		      struct err *err) __attribute__((warn_unused_result));
