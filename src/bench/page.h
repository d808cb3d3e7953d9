/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "bench/plan.h"
#include "parsers/json.h"

/*
 * What a pull request shows of a bench, as Markdown: its verdicts in one
 * sentence, the blocks as dots, the report, and where, when and how it was
 * measured.  path is its results folder.
 */
void page_md(struct buf *out, const cJSON *verdict, const struct plan *plan, const char *path);

/* The blocks of each variant as dots on one axis, a picture (SVG). */
void page_svg(struct buf *out, const cJSON *verdict);
