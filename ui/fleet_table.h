/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_FLEET_TABLE_H
#define HGYM_UI_FLEET_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/forecast.h"
#include "ui/table.h"
#include "ui/view.h"

/* The runs of the fleet as a table: a row a run, and the order of the rows. */

struct fleet_row {
	const struct model_run *mr;
	struct forecast forecast;
	double key; /* what it is sorted by; absent: at the end */
};

/* All zero is an empty one, in the order of appearance. */
struct fleet_table {
	struct table table;
	struct fleet_row *rows; /* owned; table.rows of them */
	size_t cap_rows;
	int sort; /* a column, or 0: what runs, then what ended last */
	bool descending;
	const struct ui_shared *shared; /* of the last fill; borrowed */
};

/* Take the runs as the model has them now; the selected one stays it. */
void fleet_table_fill(struct fleet_table *fleet,
		      const struct ui_shared *shared);
/* Draw what was filled in last. */
void fleet_table_draw(struct fleet_table *fleet, struct canvas *canvas,
		      struct rect r);
/* Sort by the next column that can be sorted by, round and round. */
void fleet_table_sort_next(struct fleet_table *fleet);
/* Append the rows in their order as CSV, numbers in full. */
void fleet_table_export(const struct fleet_table *fleet,
			const struct model *model, struct buf *out);
void fleet_table_release(struct fleet_table *fleet);

#endif
