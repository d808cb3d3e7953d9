/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/compare.h"

/* Make the objects of `harness --json` (keys: man hgym-tui), owned by the caller. Unknown values
 * are null; an infinite score that a verifier printed is the string "Infinity". */
cJSON *harness_run_json(const struct harness_workspace *ws, const struct harness_run *run);
cJSON *harness_compare_json(const struct harness_compare *compare);
