/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_HARNESS_H
#define HGYM_BOARD_HARNESS_H

#include "board/score_board.h"

/*
 * The scores of a HarnessGym workspace (or one run's folder) for the board: a
 * group for the baseline and for each iteration, since each is other code; a
 * restored checkpoint's counts with its iteration.  Warm-up and repeats come
 * from the run's command line.  What never measured (SSH, GPU, disk) is left
 * out.  False when path is no such directory.
 */
bool board_harness_add(struct score_board *board, const char *path);

#endif
