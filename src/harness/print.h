/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/compare.h"
#include "report/out.h"

/* Print HarnessGym runs for people: the number columns have verified scores
 * only, everything else is in words. format is OUT_TABLE, OUT_MD or OUT_CSV
 * (only the table of iterations or trials). Return -1 if the stream had an error. */
int harness_print_run(FILE *stream, enum out_format format, const struct harness_workspace *ws,
		      const struct harness_run *run);
int harness_print_compare(FILE *stream, enum out_format format,
			  const struct harness_compare *compare);
