/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REPORT_RUN_COLUMNS_H
#define HGYM_REPORT_RUN_COLUMNS_H

#include "parsers/run.h"
#include "report/out.h"

/* The columns that every table of whole runs has, in their order. */
#define RUN_COLUMN(member, decimals) { #member, NULL, decimals, 0 },
#define RUN_COLUMNS                                                            \
	RUN_NUMBER_LIST(RUN_COLUMN){ "final_stage", NULL, 0, 0 },              \
		{ "final_class", NULL, 0, 0 },                                 \
	{                                                                      \
		"source_sha256", NULL, 0, 0                                    \
	}

#endif
