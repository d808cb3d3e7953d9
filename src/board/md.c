/* SPDX-License-Identifier: MIT */
/* The leaderboard as Markdown; called by the commands board, submission. */
#include "config.h"

#include <string.h>

#include "base/utf8.h"

#include "board/print.h"
#include "board/text.h"

#define CELL_MAX     512
#define LINE_MAX_LEN 4096
#define MAX_COLUMNS  16

/* Text that Markdown shall take as it stands. */
static void
put_text(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("|`*<>[]\\", *text) != NULL)
			(void)fputc('\\', stream);
		(void)fputc(*text, stream);
	}
}

/* Does any row of the group need its note, or its name beside the seed? */
static bool
any_note(const struct board *board, const struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++)
		if (board->rows[group->rows[i]]->note[0] != '\0')
			return true;
	return false;
}

static bool
all_seeds(const struct board *board, const struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++)
		if (!run_has(board->rows[group->rows[i]]->run.seed))
			return false;
	return group->n_seeds == group->n_counted;
}

static bool
group_uses(const struct board *board, const struct board_group *group,
	   const struct board_column *column)
{
	const struct run_number *number;

	if (column->format == FORMAT_CAPS)
		return false;
	if (column->format == FORMAT_NOTE)
		return any_note(board, group);
	if (column->format == FORMAT_NAME)
		return !group->is_values && !all_seeds(board, group);
	if (!board_column_used(board, column))
		return false;
	number = run_number_by_name(str_from(column->key));
	for (size_t i = 0; i < group->n_rows; i++)
		if (run_has(run_number_get(&board->rows[group->rows[i]]->run,
					   number)))
			return true;
	return false;
}

/* A column that a group has, and the decimals of its scores there. */
struct shown {
	const struct board_column *column;
	int decimals;
};

static void
put_head(FILE *stream, const struct shown *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)fprintf(stream, "| %s ",
			      columns[i].column->format == FORMAT_NOTE
				      ? "note"
				      : columns[i].column->title);
	(void)fputs("|\n", stream);
	for (size_t i = 0; i < n; i++)
		(void)fputs(columns[i].column->format == FORMAT_NAME ||
					    columns[i].column->format ==
						    FORMAT_NOTE
				    ? "|:--"
				    : "|--:",
			    stream);
	(void)fputs("|\n", stream);
}

static void
put_row(FILE *stream, const struct board *board, const struct shown *columns,
	size_t n, const struct board_row *row)
{
	const struct board_group *group = &board->groups[row->group];
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&text);
		board_cell(&text, columns[i].column, group, row,
			   columns[i].decimals);
		(void)fputs("| ", stream);
		put_text(stream, text.len > 0 || columns[i].column->format ==
							 FORMAT_NOTE
					 ? text.data
					 : "—");
		(void)fputc(' ', stream);
	}
	(void)fputs("|\n", stream);
	buf_release(&text);
}

/* The means in bold; "mean" stands in the first column. */
static void
put_mean(FILE *stream, const struct shown *columns, size_t n,
	 const struct board_group *group)
{
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < n; i++) {
		bool number = columns[i].column->format != FORMAT_NAME &&
			      columns[i].column->format != FORMAT_PLAIN;

		buf_clear(&text);
		if (i == 0)
			buf_append_str(&text, number ? "mean " : "mean");
		if (number)
			board_mean_cell(&text, columns[i].column, group,
					columns[i].decimals);
		if (text.len > 0)
			(void)fprintf(stream, "| **%s** ", text.data);
		else
			(void)fputs("| ", stream);
	}
	(void)fputs("|\n", stream);
	buf_release(&text);
}

static void
put_item(FILE *stream, struct buf *text)
{
	if (text->len > 0) {
		(void)fputs("- ", stream);
		put_text(stream, text->data);
		(void)fputc('\n', stream);
	}
	buf_clear(text);
}

static void
put_tests(FILE *stream, const struct board *board,
	  const struct board_group *group, bool all)
{
	const struct track *track = board->track;
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	for (int test = 0; test < TRACK_TEST_COUNT; test++) {
		bool decides = !track->has_record;

		for (size_t i = 0; i < track->n_tests; i++)
			decides |= track->tests[i] == (enum track_test)test;
		if ((!decides && !all) ||
		    !run_has(group->verdict.tests[test].t))
			continue;
		buf_appendf(&text, "test %c (%s): ", 'A' + test,
			    board_test_words(track, (enum track_test)test));
		board_test_line(&text, &group->verdict.tests[test]);
		put_item(stream, &text);
	}
	buf_release(&text);
}

static void
put_items(FILE *stream, const struct board *board,
	  const struct board_group *group, bool all_tests)
{
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	board_count_line(&text, group);
	if (group->n_counted > 0)
		buf_append_str(&text, "; ");
	board_spread_line(&text, group);
	put_item(stream, &text);
	board_caps_line(&text, board, group);
	put_item(stream, &text);
	board_time_line(&text, board, group);
	put_item(stream, &text);
	board_delta_line(&text, board, group);
	put_item(stream, &text);
	board_bar_line(&text, board, group);
	put_item(stream, &text);
	put_tests(stream, board, group, all_tests);
	board_z_line(&text, board, group);
	put_item(stream, &text);
	board_common_line(&text, group);
	put_item(stream, &text);
	for (size_t i = 0; i < group->n_notes; i++) {
		utf8_sanitize(&text, str_from(group->notes[i]));
		put_item(stream, &text);
	}
	if (group->verdict.text[0] != '\0')
		(void)fprintf(stream, "\n**%s**\n", group->verdict.text);
	buf_release(&text);
}

void
board_print_md_group(FILE *stream, const struct board *board,
		     const struct board_group *group, bool all_tests)
{
	struct shown columns[MAX_COLUMNS];
	struct buf title;
	size_t n = 0;

	for (const struct board_column *c = board_columns; c->title != NULL;
	     c++)
		if (group_uses(board, group, c))
			columns[n++] =
				(struct shown){ c, board_decimals(board, group,
								  c) };
	buf_init(&title, CELL_MAX);
	utf8_sanitize(&title, str_from(group->title));
	(void)fputs("### ", stream);
	put_text(stream, title.data);
	(void)fputs("\n\n", stream);
	buf_release(&title);
	if (n > 0) {
		put_head(stream, columns, n);
		for (size_t i = 0; i < group->n_rows; i++)
			put_row(stream, board, columns, n,
				board->rows[group->rows[i]]);
		if (group->n_counted > 0)
			put_mean(stream, columns, n, group);
		(void)fputc('\n', stream);
	}
	put_items(stream, board, group, all_tests);
}

void
board_print_md(FILE *stream, const struct board *board,
	       const struct board_look *look)
{
	struct buf text;

	for (size_t i = 0; i < board->n_groups; i++) {
		if (i > 0)
			(void)fputc('\n', stream);
		board_print_md_group(stream, board,
				     &board->groups[board->rank[i]],
				     look->all_tests);
	}
	buf_init(&text, LINE_MAX_LEN);
	board_track_line(&text, board->track);
	(void)fprintf(stream, "\n%s\n", text.data);
	buf_release(&text);
}
