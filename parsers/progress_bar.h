/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_PROGRESS_BAR_H
#define HGYM_PARSERS_PROGRESS_BAR_H

#include "base/str.h"

/*
 * What stands in a line behind a bar of tqdm, which ends without a newline:
 * "eval: 45%|##  | 45/99 [00:10<00:12, 4.4it/s]step:1/9 ..".  Empty where
 * there is no bar, or nothing behind it.  The form is that of tqdm's default
 * bar_format.
 */
struct str progress_bar_rest(struct str line);

#endif
