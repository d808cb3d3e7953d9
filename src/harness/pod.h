/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "harness/wire.h"

/* Fetch a HarnessGym directory once from a pod (NULL: from this machine): connect, run one command
 * that only reads, disconnect. The caller initializes wire. Return -1 with err if the pod is
 * unreachable, the command takes more than 120 s, or the directory has no run. */
int harness_pod_fetch(const struct conf_pod *pod, const char *dir, struct harness_wire *wire,
		      struct err *err) MUST_USE;
