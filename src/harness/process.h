/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_PROCESS_H
#define HGYM_HARNESS_PROCESS_H

#include "parsers/harness_value.h"

/*
 * Whether a process of this machine runs HarnessGym in that workspace (an
 * absolute path without links): its command line names it, or it was begun
 * there.  UNKNOWN where other people's processes cannot be seen and the
 * workspace is theirs.
 */
enum harness_tri harness_process_find(const char *workspace);

#endif
