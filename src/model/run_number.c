/* SPDX-License-Identifier: MIT */
/* Find, read and set the numbers of a run by name. */
#include "model/run_number.h"

#define RUN_NUMBER_ROW(member, decimals) { #member, offsetof(struct run, member) },
const struct run_number run_numbers[RUN_NUMBER_COUNT + 1] = { RUN_NUMBER_LIST(RUN_NUMBER_ROW) };

const struct run_number run_number_chosen = { "chosen", offsetof(struct run, chosen) };

const struct run_number *run_number_by_name(struct str name)
{
	for (const struct run_number *n = run_numbers; n->name != NULL; n++)
		if (str_eq_cstr(name, n->name))
			return n;
	return NULL;
}

double run_number_get(const struct run *run, const struct run_number *number)
{
	double value;

	memcpy(&value, (const char *)run + number->offset, sizeof(value));
	return value;
}

void run_number_set(struct run *run, const struct run_number *number, double value)
{
	memcpy((char *)run + number->offset, &value, sizeof(value));
}
