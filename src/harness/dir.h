/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Does the local directory contain a HarnessGym run, a comparison or an agent's table of
 * experiments; or (`later`) could it contain a run that has not started yet? */
bool harness_dir_is(const char *path, bool later);
