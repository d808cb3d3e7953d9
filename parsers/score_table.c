/* SPDX-License-Identifier: MIT */
/* Read the tables of scores that Triton's benchmarks print. */
#include "parsers/score_table.h"

static char rule_name[] = "table";
static const struct rule table_rule = { .name = rule_name,
					.format = "evaluations",
					.kind = RULE_SCORE };

/* Split the line at blanks; returns SCORE_TABLE_COLUMNS + 2 if it has too many cells. */
static size_t split_cells(struct str line, struct str cells[SCORE_TABLE_COLUMNS + 1])
{
	struct str rest = line, cell;
	size_t n = 0;

	while (str_next(&rest, ' ', &cell)) {
		if (cell.len == 0)
			continue;
		if (n > SCORE_TABLE_COLUMNS)
			return n + 1;
		cells[n++] = cell;
	}
	return n;
}

static bool read_row(struct score_table *t, const struct str *cells, struct record *record)
{
	uint64_t number;
	double value;

	if (!str_to_u64(cells[0], &number) || number != t->next ||
	    !all_of(i, t->n_columns, str_to_double(cells[i + 1], &value)))
		return false;
	if (number == 0) {
		t->n_sizes = 0;
		/* sizes are whole numbers: "256", "256.0" */
		for (struct str size; t->n_sizes < t->n_columns; t->n_sizes++) {
			size = cells[t->n_sizes + 1];
			size.len -= str_ends_with(size, ".0") ? 2 : 0;
			if (!str_has_only(size, "0123456789"))
				break;
		}
	}
	if (t->n_sizes == 0 || t->n_sizes == t->n_columns)
		return false;
	/* Scores have six decimals, unlike the figures of most other tables. */
	array_each (cell, cells + t->n_sizes + 1, t->n_columns - t->n_sizes)
		if (!str_eq_cstr(*cell, "NaN") && (cell->len < 8 || cell->p[cell->len - 7] != '.'))
			return false;
	t->next++;
	*record = (struct record){ .rule = &table_rule, .pairs = t->pairs };
	for (size_t i = t->n_sizes; i < t->n_columns; i++)
		if (str_to_double(cells[i + 1], &value))
			t->pairs[record->n_pairs++] = (struct record_pair){
				str_from(t->names[i]), { NULL, 0 }, value, METRIC_COUNT, 1
			};
	return true;
}

bool score_table_read(struct score_table *t, struct str line, struct record *record)
{
	struct str cells[SCORE_TABLE_COLUMNS + 1];
	bool has_title = t->has_title;

	/* A title is the file name of a plot, several words without blanks and a colon. */
	t->has_title = line.len > 1 && line.len <= SCORE_TABLE_TITLE &&
		       line.p[line.len - 1] == ':' && memchr(line.p, '-', line.len) != NULL &&
		       all_of(i, line.len - 1,
			      str_is_word(line.p[i]) || strchr("-+.=", line.p[i]) != NULL);
	if (t->has_title) {
		print_into(t->title, "%.*s", (int)line.len - 1, line.p);
		t->n_columns = 0;
		return false;
	}
	if (!has_title && t->n_columns == 0) /* nearly all lines */
		return false;
	size_t n = split_cells(line, cells);
	if (!has_title) {
		bool is_row = n == t->n_columns + 1 && read_row(t, cells, record);

		t->n_columns = is_row ? t->n_columns : 0;
		return is_row;
	}
	if (line.len == 0 || line.p[0] != ' ' || n < 2 || n > SCORE_TABLE_COLUMNS ||
	    any_of(i, n, !str_is_word(cells[i].p[0]) || str_is_digit(cells[i].p[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		print_into(t->names[i], "%s/%.*s", t->title, (int)cells[i].len, cells[i].p);
	t->n_columns = n;
	t->next = 0;
	return false;
}
