/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"
#include "report/out.h"

/* The columns that every table of whole runs has, in their order. */
#define RUN_COLUMN(member, decimals) #member ":" #decimals ", "
#define RUN_COLUMNS                 \
	RUN_NUMBER_LIST(RUN_COLUMN) \
	"final_stage, final_class, source_sha256"
