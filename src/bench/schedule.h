/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

/*
 * In which order the arms of a bench run.  Rounds come in counter-balanced
 * pairs: an odd round is a random permutation, the even one after it is its
 * mirror, so that a linear drift cancels in every pair.  The order depends on
 * the seed alone.
 */
#define SCHEDULE_MAX_ARMS   26
#define SCHEDULE_MAX_ROUNDS 1000

/* The seed of one pod's own schedule. */
uint64_t schedule_pod_seed(uint64_t seed, size_t pod);

/*
 * Fill order[round * n_arms + place] with the arm (0 is the control) that
 * runs at that place; 1 <= n_arms <= SCHEDULE_MAX_ARMS.  Fisher-Yates with
 * rejection, so that every permutation is equally likely.
 */
void schedule_fill(unsigned char *order, size_t n_arms, size_t n_rounds, uint64_t seed);
