/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "context.h"

/*
 * The dashboard: over the logs that are named (files, globs, directories, "-"),
 * or over the configured pods when none is.  The context has configuration,
 * rules and track.  The exit status; -1 with err.
 */
int dash_run(struct context *context, char *const *paths, size_t n, struct err *err)
	__attribute__((warn_unused_result));

/* Whether a word in place of a command names a log. */
bool dash_is_path(const char *word);
