/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"
#include "parsers/run.h"

/*
 * The numbers of a run by their key ("final_bpb"), made from RUN_NUMBER_LIST,
 * for whoever takes the key from a file or from the command line.
 */
struct run_number {
	const char *name; /* NULL ends run_numbers */
	size_t offset;	  /* of the double in struct run */
};

#define X(member, decimals) +1
enum { RUN_NUMBER_COUNT = 0 RUN_NUMBER_LIST(X) };
#undef X

extern const struct run_number run_numbers[];

/* A metric that was asked for by its name: "chosen" of a run. */
extern const struct run_number run_number_chosen;

static inline bool run_number_is_chosen(const struct run_number *number)
{
	return number->offset == offsetof(struct run, chosen);
}

/* NULL when no number has that key. */
const struct run_number *run_number_by_name(struct str name);

double run_number_get(const struct run *run, const struct run_number *number);
void run_number_set(struct run *run, const struct run_number *number, double value);
