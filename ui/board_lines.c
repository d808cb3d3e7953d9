/* SPDX-License-Identifier: MIT */
/* The lines of the board's table: groups, and the runs of one unfolded. */
#include "config.h"

#include "ui/board_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/fmt.h"
#include "ui/theme.h"

enum board_column {
	COLUMN_RANK,
	COLUMN_RECIPE,
	COLUMN_N,
	COLUMN_SCORE,
	COLUMN_SD,
	COLUMN_DELTA,
	COLUMN_P,
	COLUMN_CAPS,
	COLUMN_MS,
	COLUMN_STEPS,
	COLUMN_TRAIN,
	COLUMN_EVAL,
	COLUMN_SIZE,
	COLUMN_VERDICT,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_RANK] = { "#", 2, true, 0, false },
	[COLUMN_RECIPE] = { "RECIPE / seed", 16, false, 0, true },
	[COLUMN_N] = { "n", 2, true, 0, false },
	[COLUMN_SCORE] = { "MEAN", 9, true, 0, false },
	[COLUMN_SD] = { "±sd", 8, true, 0, false },
	[COLUMN_DELTA] = { "Δref", 9, true, 1, false },
	[COLUMN_P] = { "p", 7, true, 2, false },
	[COLUMN_CAPS] = { "CAPS", 5, false, 0, false },
	[COLUMN_MS] = { "ms/step", 8, true, 4, false },
	[COLUMN_STEPS] = { "STEPS", 6, true, 5, false },
	[COLUMN_TRAIN] = { "TRAIN s", 7, true, 6, false },
	[COLUMN_EVAL] = { "EVAL s", 7, true, 7, false },
	[COLUMN_SIZE] = { "BYTES", 11, true, 8, false },
	[COLUMN_VERDICT] = { "VERDICT", 15, false, 3, true },
};

static void
add_line(struct board_lines *lines, size_t group, size_t row)
{
	lines->at = xgrow(lines->at, lines->n, &lines->cap, sizeof(*lines->at));
	lines->at[lines->n++] = (struct board_line){ group, row };
}

void
board_lines_fill(struct board_lines *lines, const struct board *board)
{
	lines->board = board;
	lines->n = 0;
	for (size_t i = 0; i < board->n_groups; i++) {
		size_t g = board->rank != NULL ? board->rank[i] : i;
		const struct board_group *group = &board->groups[g];

		add_line(lines, g, SIZE_MAX);
		if (lines->unfolded == NULL ||
		    strcmp(lines->unfolded, group->key) != 0)
			continue;
		for (size_t k = 0; k < group->n_rows; k++)
			add_line(lines, g, group->rows[k]);
	}
}

bool
board_lines_is_group(const struct board_lines *lines, size_t i)
{
	return lines->at[i].row == SIZE_MAX;
}

void
board_lines_toggle(struct board_lines *lines, size_t group)
{
	const char *key = lines->board->groups[group].key;
	bool same =
		lines->unfolded != NULL && strcmp(lines->unfolded, key) == 0;

	free(lines->unfolded);
	lines->unfolded = same ? NULL : xstrdup(key);
	board_lines_fill(lines, lines->board);
}

/* A letter a cap: kept ✓, grace ~, broken ✗, unknown ·; none is left out. */
static void
caps_text(const enum board_kept *caps, struct table_cell *cell)
{
	static const char *const marks[] = {
		[CAP_NONE] = "",     [CAP_KEPT] = "✓",	 [CAP_GRACE] = "~",
		[CAP_UNKNOWN] = "·", [CAP_BROKEN] = "✗",
	};
	unsigned int style = STYLE_DONE;
	char text[32] = "";
	size_t n = 0;

	for (size_t i = 0; i < BOARD_CAP_COUNT; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
				      marks[caps[i]]);
		if (caps[i] == CAP_BROKEN)
			style = STYLE_ALARM;
		else if (caps[i] == CAP_UNKNOWN && style == STYLE_DONE)
			style = STYLE_HINT;
	}
	table_cellf(cell, style, "%s", text);
}

static void
verdict_cell(const struct board_group *group, struct table_cell *cell)
{
	static const unsigned int styles[] = {
		[BOARD_WORD_NONE] = STYLE_DIM,
		[BOARD_WORD_BASELINE] = STYLE_REFERENCE,
		[BOARD_WORD_NO_RUNS] = STYLE_DIM,
		[BOARD_WORD_INVALID] = STYLE_ALARM,
		[BOARD_WORD_NOT_JUDGED] = STYLE_HINT,
		[BOARD_WORD_BELOW_BAR] = STYLE_WORSE,
		[BOARD_WORD_NOT_SHOWN] = STYLE_HINT,
		[BOARD_WORD_SHOWN] = STYLE_BETTER,
	};
	enum board_word word = group->verdict.word;

	table_cellf(cell, styles[word], "%s",
		    group->verdict.text[0] != '\0' ? group->verdict.text
		    : word == BOARD_WORD_NONE	   ? FMT_ABSENT
						   : board_word_name(word));
}

static double
group_number(const struct board_group *group, size_t column)
{
	switch (column) {
	case COLUMN_SCORE:
		return group->n_counted > 0 || group->is_values
			       ? group->stats.mean
			       : RUN_ABSENT;
	case COLUMN_SD:
		return group->stats.sd_sample;
	case COLUMN_DELTA:
		return group->is_baseline ? RUN_ABSENT : group->verdict.delta;
	case COLUMN_P:
		return group->verdict.tests[0].p;
	case COLUMN_MS:
		return group->means.ms_per_step;
	case COLUMN_STEPS:
		return group->means.steps;
	case COLUMN_TRAIN:
		return group->means.train_ms / 1000;
	case COLUMN_EVAL:
		return run_has(group->means.eval_total_s)
			       ? group->means.eval_total_s
			       : group->means.eval_s;
	case COLUMN_SIZE:
		return group->max_artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

/* A number in the form of its column. */
static void
number_cell(size_t column, double value, struct table_cell *cell)
{
	static const int decimals[COLUMN_COUNT] = {
		[COLUMN_SCORE] = 5, [COLUMN_SD] = 5, [COLUMN_DELTA] = 5,
		[COLUMN_P] = 4,	    [COLUMN_MS] = 2, [COLUMN_TRAIN] = 1,
		[COLUMN_EVAL] = 1,
	};
	char text[FMT_SIZE];

	if (column == COLUMN_DELTA)
		table_cellf(cell, fmt_delta_style(value), "%s",
			    fmt_signed(value, 5, text));
	else if (column == COLUMN_SIZE)
		table_cellf(cell, STYLE_NORMAL, "%s", fmt_grouped(value, text));
	else if (column == COLUMN_STEPS)
		table_cellf(cell, STYLE_NORMAL, "%s", fmt_steps(value, text));
	else if (column == COLUMN_P && value < 1e-4)
		table_cellf(cell, STYLE_NORMAL, "%.0e", value);
	else
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(value, decimals[column], text));
}

static void
group_cell(const struct board_lines *lines, size_t i, size_t column,
	   struct table_cell *cell)
{
	const struct board_group *group =
		&lines->board->groups[lines->at[i].group];
	size_t rank = 1;

	switch (column) {
	case COLUMN_RANK:
		for (size_t k = 0; k < i; k++)
			rank += board_lines_is_group(lines, k);
		table_cellf(cell, STYLE_DIM, "%zu", rank);
		break;
	case COLUMN_RECIPE:
		table_cellf(cell,
			    group->is_baseline ? STYLE_REFERENCE : STYLE_STRONG,
			    "%s%s", group->is_baseline ? "◆ " : "",
			    group->title != NULL ? group->title : group->key);
		break;
	case COLUMN_N:
		table_cellf(cell, STYLE_NORMAL, "%zu",
			    group->is_values ? group->stats.n
					     : group->n_counted);
		break;
	case COLUMN_CAPS:
		caps_text(group->caps, cell);
		break;
	case COLUMN_VERDICT:
		verdict_cell(group, cell);
		break;
	default:
		number_cell(column, group_number(group, column), cell);
		break;
	}
}

static double
run_number(const struct board_row *row, size_t column)
{
	const struct run *run = &row->run;

	switch (column) {
	case COLUMN_SCORE:
		return row->score;
	case COLUMN_MS:
		return run->ms_per_step;
	case COLUMN_STEPS:
		return run->steps;
	case COLUMN_TRAIN:
		return run->train_ms / 1000;
	case COLUMN_EVAL:
		return run_has(run->eval_total_s) ? run->eval_total_s
						  : run->eval_s;
	case COLUMN_SIZE:
		return run->artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

static void
seed_cell(const struct board_row *row, size_t column, struct table_cell *cell)
{
	char seed[FMT_SIZE];

	switch (column) {
	case COLUMN_RANK:
	case COLUMN_N:
	case COLUMN_SD:
	case COLUMN_DELTA:
	case COLUMN_P:
		break;
	case COLUMN_RECIPE:
		table_cellf(cell, STYLE_NORMAL, "   seed %s",
			    fmt_number(row->run.seed, 0, seed));
		break;
	case COLUMN_CAPS:
		caps_text(row->caps, cell);
		break;
	case COLUMN_VERDICT:
		table_cellf(
			cell, STYLE_HINT, "%s%s%s",
			row->use == BOARD_COUNTED ? ""
						  : board_use_name(row->use),
			row->use != BOARD_COUNTED && row->note[0] != '\0' ? ": "
									  : "",
			row->note);
		break;
	default:
		number_cell(column, run_number(row, column), cell);
		break;
	}
}

static void
line_cell(void *user, size_t i, size_t column, struct table_cell *cell)
{
	const struct board_lines *lines = user;

	if (board_lines_is_group(lines, i))
		group_cell(lines, i, column, cell);
	else
		seed_cell(lines->board->rows[lines->at[i].row], column, cell);
}

void
board_lines_draw(struct board_lines *lines, struct table *table,
		 struct canvas *canvas, struct rect r)
{
	const struct table_spec spec = { columns, COLUMN_COUNT, line_cell,
					 lines,	  SIZE_MAX,	false };

	table_draw(table, canvas, r, &spec);
}

void
board_lines_export(struct board_lines *lines, struct buf *out)
{
	struct table_cell cell;

	for (size_t c = 0; c < COLUMN_COUNT; c++)
		buf_appendf(out, "| %s ", columns[c].title);
	buf_append_str(out, "|\n");
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		buf_append_str(out, "| --- ");
	buf_append_str(out, "|\n");
	for (size_t i = 0; i < lines->n; i++) {
		for (size_t c = 0; c < COLUMN_COUNT; c++) {
			cell = (struct table_cell){ "", STYLE_NORMAL };
			line_cell(lines, i, c, &cell);
			buf_append_str(out, "| ");
			for (const char *p = cell.text; *p != '\0'; p++) {
				if (*p == '|')
					buf_append_char(out, '\\');
				buf_append_char(out, *p);
			}
			buf_append_char(out, ' ');
		}
		buf_append_str(out, "|\n");
	}
}

void
board_lines_release(struct board_lines *lines)
{
	free(lines->at);
	free(lines->unfolded);
}
