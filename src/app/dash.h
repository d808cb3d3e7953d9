/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"

/* Run the dashboard over logs (files, globs, directories, "-"), or over the configured pods if n is
 * 0. Configuration, rules and track are open. Returns the exit status; -1 with err. */
int dash_run(struct context *context, char *const *paths, size_t n, struct err *err) MUST_USE;

/* Is this word, given in place of a command, the path of a log? */
bool dash_is_path(const char *word);
