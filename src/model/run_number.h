/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/* The numbers of a run by name ("final_bpb", as in files and options), see RUN_NUMBER_LIST. */
struct run_number {
	const char *name; /* NULL ends run_numbers */
	size_t offset;	  /* offset of the double in struct run */
};

#define X(member, decimals) +1
enum { RUN_NUMBER_COUNT = 0 RUN_NUMBER_LIST(X) };
#undef X

extern const struct run_number run_numbers[];

/* The metric that the user chose: member "chosen" of a run. */
extern const struct run_number run_number_chosen;

static inline bool run_number_is_chosen(const struct run_number *number)
{
	return number->offset == offsetof(struct run, chosen);
}

/* NULL if no number has this name. */
const struct run_number *run_number_by_name(struct str name);

double run_number_get(const struct run *run, const struct run_number *number);
void run_number_set(struct run *run, const struct run_number *number, double value);
