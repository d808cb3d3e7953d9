/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Whether path is a directory of this machine that holds a HarnessGym run, a
 * comparison or an agent's table; or (`later`) may once a run has begun.
 */
bool harness_dir_is(const char *path, bool later);

/*
 * Whether each file below a is the same one below b, but for what runs and
 * python keep there; false too where there is none, or more than can be read.
 */
bool harness_dir_same(const char *a, const char *b);
