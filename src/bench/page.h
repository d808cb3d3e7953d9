/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/plan.h"

/* A bench as Markdown for a pull request: verdicts in one sentence, blocks as dots, the report, and
 * where, when and how it was measured. path is its results folder. */
void page_md(struct buf *out, const cJSON *verdict, const struct plan *plan, const char *path);

/* The blocks of each variant as dots on one axis, as SVG. */
void page_svg(struct buf *out, const cJSON *verdict);
