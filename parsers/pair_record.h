/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pairs.h"
#include "parsers/rule.h"

/*
 * Put the n pairs of a line into *record, whose rule and groups are set:
 * each named number becomes a series in `rows` (borrowed by the record as long
 * as it is used, and borrowing the line), and fills what its name stands for,
 * by the rule's names, else by meaning.h.  What a group of the rule gave
 * stays.  Two numbers of a line for one metric that differ leave it out; of
 * two counters "global step" goes before "step", and that before the others.
 * A counter is no series.  A number without a name is one under its unit.
 */
void pair_record_fill(struct record *record, const struct pair *pairs, size_t n,
		      struct record_pair rows[PAIRS_MAX]);

/* How sure the name of a counter is that of the optimizer's steps; from 1. */
int pair_counter_rank(struct str name);
