/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_TABLES_H
#define HGYM_STORE_TABLES_H

#include "parsers/run.h"
#include "store/db.h"
#include "store/pods.h"
#include "store/store.h"

/* Which member lies in which column, for the rows that are read and written. */

/* A row of `runs`. */
struct run_row {
	int64_t id, tail_id;
	int64_t first_wall_ms, last_wall_ms;
	int64_t rev; /* of the batch that wrote it */
	bool live;
	struct run run; /* its final_class is static, its other texts its own */
};

extern const struct table tail_table;	   /* struct store_tail */
extern const struct table run_table;	   /* struct run_row */
extern const struct table event_table;	   /* struct run_event */
extern const struct table pod_table;	   /* struct store_pod */
extern const struct table telemetry_table; /* struct store_telemetry */

#endif
