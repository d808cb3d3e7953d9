/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pairs.h"
#include "parsers/rule.h"

/* Add the n pairs of a line to *record, whose rule and groups are set. Each named number becomes a
 * series in `rows`, which the record borrows and which borrows the line; a counter is not a series,
 * and a number without a name is called by its unit. A number also sets the metric of its name, by
 * the rule's names or else by meaning.h, unless a group of the rule has set it. A metric with two
 * different numbers is left out. "global step" is preferred to "step", and "step" to any other
 * counter. */
void pair_record_fill(struct record *record, const struct pair *pairs, size_t n,
		      struct record_pair rows[PAIRS_MAX]);

/* How likely the name of a counter means optimizer steps; from 1. */
int pair_counter_rank(struct str name);
