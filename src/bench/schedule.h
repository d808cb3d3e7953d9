/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "base/random.h"

/* The order in which arms run, by the seed alone.  Rounds come in pairs: a random permutation, then
 * its reverse, so that a linear drift cancels within the pair. */
#define SCHEDULE_MAX_ARMS   26
#define SCHEDULE_MAX_ROUNDS 1000

/* Set order[round * n_arms + place] to the arm (0 is the control) that runs at that place;
 * 1 <= n_arms <= SCHEDULE_MAX_ARMS.  Every permutation is equally likely. */
void schedule_fill(unsigned char *order, size_t n_arms, size_t n_rounds, uint64_t seed);
