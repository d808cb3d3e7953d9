/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* Read the configuration in a file, to change it; owned. It is empty if the file does not exist.
 * NULL with err. */
cJSON *conf_edit(const char *path, struct err *err) MUST_USE;
/* Replace the file by root if that is a valid configuration; -1 with err. */
int conf_write(const char *path, const cJSON *root, struct err *err) MUST_USE;
