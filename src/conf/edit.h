/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* Read a configuration file to change it; owned, and empty without a file. NULL with err. */
cJSON *conf_edit(const char *path, struct err *err) MUST_USE;
/* Replace the file by root if that is a valid configuration; -1 with err. */
int conf_write(const char *path, const cJSON *root, struct err *err) MUST_USE;
