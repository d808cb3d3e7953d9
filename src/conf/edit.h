/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* The configuration in a file, to be changed; without a file an empty one. NULL with err. */
cJSON *conf_edit(const char *path, struct err *err) MUST_USE;
/* Write it if it is valid; -1 with err. */
int conf_write(const char *path, const cJSON *root, struct err *err) MUST_USE;
