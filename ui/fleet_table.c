/* SPDX-License-Identifier: MIT */
/* The runs of the fleet as rows; the view puts them beside its charts. */
#include "config.h"

#include "ui/fleet_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/fmt.h"
#include "ui/panel.h"
#include "ui/plot.h"
#include "ui/theme.h"

enum fleet_column {
	FLEET_STATE_SYMBOL,
	FLEET_POD,
	FLEET_RUN,
	FLEET_SEED,
	FLEET_STEP,
	FLEET_MS,
	FLEET_TOK,
	FLEET_BPB,
	FLEET_LOSS,
	FLEET_FINAL,
	FLEET_SIGMA,
	FLEET_DELTA,
	FLEET_EVAL,
	FLEET_SIZE,
	FLEET_STATE,
	FLEET_COLUMNS
};

static const struct table_column columns[FLEET_COLUMNS] = {
	[FLEET_STATE_SYMBOL] = { "", 2, false, 0, false },
	[FLEET_POD] = { "POD", 9, false, 8, false },
	[FLEET_RUN] = { "RUN", 14, false, 0, true },
	[FLEET_SEED] = { "SEED", 5, true, 0, false },
	[FLEET_STEP] = { "STEP", 6, true, 6, false },
	[FLEET_MS] = { "ms/step", 8, true, 7, false },
	[FLEET_TOK] = { "Mtok/s", 7, true, 10, false },
	[FLEET_BPB] = { "BPB", 7, true, 1, false },
	[FLEET_LOSS] = { "LOSS nat", 8, true, 12, false },
	[FLEET_FINAL] = { "→FINAL", 7, true, 3, false },
	[FLEET_SIGMA] = { "±1σ", 6, true, 11, false },
	[FLEET_DELTA] = { "Δref", 7, true, 9, false },
	[FLEET_EVAL] = { "EVAL s", 7, true, 13, false },
	[FLEET_SIZE] = { "SIZE MB", 8, true, 14, false },
	[FLEET_STATE] = { "STATE", 13, false, 2, true },
};

/* The score that a run has or will have. */
static double
row_final(const struct fleet_row *row)
{
	return run_has(row->mr->run.final_bpb) ? row->mr->run.final_bpb
					       : row->forecast.final_bpb;
}

static double
reference_score(const struct ui_shared *shared)
{
	double sum = 0;

	if (shared->reference != NULL)
		return shared->reference->run.final_bpb;
	if (shared->baseline == NULL || shared->baseline->n_bpb == 0)
		return RUN_ABSENT;
	for (size_t i = 0; i < shared->baseline->n_bpb; i++)
		sum += shared->baseline->bpb[i];
	return sum / (double)shared->baseline->n_bpb;
}

static double
row_number(const struct fleet_table *fleet, const struct fleet_row *row,
	   int column)
{
	const struct run *run = &row->mr->run;

	switch (column) {
	case FLEET_POD:
		return (double)row->mr->pod;
	case FLEET_SEED:
		return run->seed;
	case FLEET_STEP:
		return run->steps;
	case FLEET_MS:
		return model_run_ms_per_step(row->mr);
	case FLEET_TOK:
		return model_run_tok_s(row->mr);
	case FLEET_BPB:
		return run_has(run->final_bpb) ? run->final_bpb
					       : run->last_val_bpb;
	case FLEET_LOSS:
		return run_has(run->last_val_loss) ? run->last_val_loss
						   : run->last_train_loss;
	case FLEET_FINAL:
		return row_final(row);
	case FLEET_SIGMA:
		return run_has(run->final_bpb) ? RUN_ABSENT
					       : row->forecast.final_bpb_sigma;
	case FLEET_DELTA:
		if (row->mr == fleet->shared->reference)
			return RUN_ABSENT;
		return row_final(row) - reference_score(fleet->shared);
	case FLEET_EVAL:
		return run_has(run->eval_total_s) ? run->eval_total_s
						  : run->eval_s;
	case FLEET_SIZE:
		return run->artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

/* Absent values come last, whichever way the order is. */
static int
compare_rows(const void *a, const void *b, void *user)
{
	const struct fleet_row *x = a, *y = b;
	const struct fleet_table *fleet = user;
	int order;

	if (isnan(x->key) || isnan(y->key))
		return isnan(x->key) - isnan(y->key);
	order = (x->key > y->key) - (x->key < y->key);
	return fleet->descending ? -order : order;
}

/* What runs comes first, then what ended, the newest first. */
static double
default_key(const struct model_run *mr, size_t i, size_t n)
{
	if (mr->run.status == RUN_RUNNING && mr->live)
		return (double)i;
	return (double)(2 * n - i);
}

void
fleet_table_fill(struct fleet_table *fleet, const struct ui_shared *shared)
{
	const struct model *model = shared->model;
	double cap_s =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;

	fleet->shared = shared;
	if (fleet->cap_rows < model->n_runs) {
		fleet->cap_rows = model->n_runs + 16;
		fleet->rows = xreallocarray(fleet->rows, fleet->cap_rows,
					    sizeof(*fleet->rows));
	}
	for (size_t i = 0; i < model->n_runs; i++) {
		struct fleet_row *row = &fleet->rows[i];

		row->mr = model->runs[i];
		forecast_run(model, row->mr, cap_s, shared->now_wall_ms,
			     &row->forecast);
		row->key = fleet->sort > 0
				   ? row_number(fleet, row, fleet->sort)
				   : default_key(row->mr, i, model->n_runs);
	}
	if (model->n_runs > 0)
		qsort_r(fleet->rows, model->n_runs, sizeof(*fleet->rows),
			compare_rows, fleet);
	table_set_rows(&fleet->table, model->n_runs);
	for (size_t i = 0; i < model->n_runs; i++)
		if (fleet->rows[i].mr == shared->selected)
			fleet->table.selected = i;
}

static void
symbol_cell(const struct fleet_table *fleet, const struct model_run *mr,
	    struct table_cell *cell)
{
	const struct ui_shared *shared = fleet->shared;
	const struct alert *alert = alerts_of_run(shared->alerts, mr);
	const char *mark = ui_is_marked(shared, mr)		   ? "+"
			   : mr == shared->reference		   ? "◆"
			   : alert != NULL && !alert->acknowledged ? "!"
								   : " ";
	struct run_state state;
	char bytes[5] = "";

	run_state_of(shared, mr, &state);
	bytes[utf8_encode(state.symbol, bytes)] = '\0';
	table_cellf(cell, state.style, "%s%s", mark, bytes);
}

static void
number_cell(const struct fleet_table *fleet, const struct fleet_row *row,
	    int column, struct table_cell *cell)
{
	static const int decimals[FLEET_COLUMNS] = {
		[FLEET_MS] = 1,	   [FLEET_BPB] = 4,   [FLEET_LOSS] = 4,
		[FLEET_FINAL] = 4, [FLEET_SIGMA] = 4, [FLEET_EVAL] = 1,
	};
	double value = row_number(fleet, row, column);
	const struct alert *alert =
		alerts_of_run(fleet->shared->alerts, row->mr);
	unsigned int style = STYLE_NORMAL;
	char text[FMT_SIZE];

	if (column == FLEET_DELTA) {
		table_cellf(cell, fmt_delta_style(value), "%s",
			    fmt_signed(value, 4, text));
		return;
	}
	if (column == FLEET_TOK) {
		table_cellf(cell, style, "%s", fmt_mtok(value, text));
		return;
	}
	if (column == FLEET_SIZE) {
		table_cellf(cell, style, "%s",
			    fmt_number(value / 1e6, 3, text));
		return;
	}
	/* What is a forecast looks like one, without colours too. */
	if (column == FLEET_FINAL && !run_has(row->mr->run.final_bpb)) {
		table_cellf(cell, STYLE_HINT, "%s%s", run_has(value) ? "~" : "",
			    fmt_number(value, decimals[column], text));
		return;
	}
	if (column == FLEET_MS && alert != NULL &&
	    alert->kind == ALERT_SLOW_POD)
		style = STYLE_WARN;
	table_cellf(cell, style, "%s%s",
		    column == FLEET_STEP
			    ? fmt_steps(value, text)
			    : fmt_number(value, decimals[column], text),
		    style == STYLE_WARN ? "!" : "");
}

static void
fleet_cell(void *user, size_t i, size_t column, struct table_cell *cell)
{
	const struct fleet_table *fleet = user;
	const struct fleet_row *row = &fleet->rows[i];
	const struct model *model = fleet->shared->model;
	char name[FMT_LABEL];
	struct run_state state;

	switch (column) {
	case FLEET_STATE_SYMBOL:
		symbol_cell(fleet, row->mr, cell);
		break;
	case FLEET_POD:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    row->mr->pod < model->n_pods
				    ? model->pods[row->mr->pod].name
				    : FMT_ABSENT);
		break;
	case FLEET_RUN:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    plot_run_name(row->mr, name));
		break;
	case FLEET_STATE:
		run_state_of(fleet->shared, row->mr, &state);
		table_cellf(cell, state.style, "%s", state.text);
		break;
	default:
		number_cell(fleet, row, (int)column, cell);
		break;
	}
}

void
fleet_table_draw(struct fleet_table *fleet, struct canvas *canvas,
		 struct rect r)
{
	const struct table_spec spec = { columns,
					 FLEET_COLUMNS,
					 fleet_cell,
					 fleet,
					 fleet->sort > 0 ? (size_t)fleet->sort
							 : SIZE_MAX,
					 fleet->descending };

	table_draw(&fleet->table, canvas, r, &spec);
}

void
fleet_table_sort_next(struct fleet_table *fleet)
{
	static const int order[] = { 0,		 FLEET_FINAL, FLEET_BPB,
				     FLEET_MS,	 FLEET_TOK,   FLEET_STEP,
				     FLEET_SEED, FLEET_POD };
	size_t n = sizeof(order) / sizeof(order[0]);

	for (size_t i = 0; i < n; i++) {
		if (order[i] == fleet->sort) {
			fleet->sort = order[(i + 1) % n];
			break;
		}
	}
	fleet->descending =
		fleet->sort == FLEET_TOK || fleet->sort == FLEET_STEP;
}

void
fleet_table_export(const struct fleet_table *fleet, const struct model *model,
		   struct buf *out)
{
	buf_append_str(out, "pod,run,seed,status,steps,ms_per_step,tok_s,"
			    "last_val_bpb,final_bpb,train_s,eval_s,"
			    "artifact_bytes\n");
	for (size_t i = 0; i < fleet->table.rows; i++) {
		const struct model_run *mr = fleet->rows[i].mr;
		const struct run *run = &mr->run;
		const double numbers[] = {
			run->steps,	     model_run_ms_per_step(mr),
			model_run_tok_s(mr), run->last_val_bpb,
			run->final_bpb,	     model_run_train_ms(mr) / 1000,
			run->eval_s,	     run->artifact_bytes
		};
		char name[FMT_LABEL];

		buf_appendf(out, "%s,%s,",
			    mr->pod < model->n_pods ? model->pods[mr->pod].name
						    : "",
			    plot_run_name(mr, name));
		if (run_has(run->seed))
			buf_appendf(out, "%.0f", run->seed);
		buf_appendf(out, ",%s", run_status_name(run->status));
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]);
		     k++) {
			buf_append_char(out, ',');
			if (run_has(numbers[k]))
				buf_appendf(out, "%.10g", numbers[k]);
		}
		buf_append_char(out, '\n');
	}
}

void
fleet_table_release(struct fleet_table *fleet)
{
	free(fleet->rows);
}
