/* SPDX-License-Identifier: MIT */
/* The leaderboard as an aligned table; called by the command `board`. */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

#include "board/print.h"
#include "board/text.h"

#define MAX_COLUMNS	 16
#define CELL_MAX	 512
#define LINE_MAX_LEN	 4096
#define NAME_MAX_COLUMNS 40U
#define INDENT		 2U
#define NAME_MIN_COLUMNS 12U
#define NOTE_MIN_COLUMNS 10U
#define KEEP_FIGURES	 40 /* columns below it go before names shrink */
#define MIN_COLUMNS	 40U

/* A line of the table: cells, or one text across. */
enum line_kind {
	LINE_CELLS,
	LINE_TITLES,
	LINE_MEAN,
	LINE_FAINT, /* a row that does not count */
	LINE_HEADING,
	LINE_TEXT,
	LINE_BLANK,
};

struct line {
	enum line_kind kind;
	char *cells[MAX_COLUMNS]; /* owned; of the first four kinds */
	char *text;		  /* owned; of HEADING and TEXT */
	const char *color; /* static; of the text's right part, or NULL */
	char *right;	   /* owned; of HEADING: set to the right */
};

struct table {
	const struct board *board;
	const struct board_look *look;
	const struct board_column *columns[MAX_COLUMNS];
	size_t n_columns;
	size_t widths[MAX_COLUMNS];
	size_t decimals[MAX_COLUMNS]; /* most of a score column's cells */
	int of_group[MAX_COLUMNS];    /* those of the group at hand */
	struct line *lines;
	size_t n_lines, cap_lines;
};

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RESET "\033[0m"

static const char *const word_colors[] = {
	[BOARD_WORD_NONE] = "",
	[BOARD_WORD_BASELINE] = "\033[36m",
	[BOARD_WORD_NO_RUNS] = DIM,
	[BOARD_WORD_INVALID] = "\033[31m",
	[BOARD_WORD_NOT_JUDGED] = DIM,
	[BOARD_WORD_BELOW_BAR] = "\033[31m",
	[BOARD_WORD_NOT_SHOWN] = "\033[33m",
	[BOARD_WORD_SHOWN] = "\033[32m",
};

static struct line *
add_line(struct table *t, enum line_kind kind)
{
	t->lines =
		xgrow(t->lines, t->n_lines, &t->cap_lines, sizeof(*t->lines));
	t->lines[t->n_lines] = (struct line){ .kind = kind };
	return &t->lines[t->n_lines++];
}

/* Add a text across the table; nothing when it is empty. */
static void
add_text(struct table *t, const char *mark, const struct buf *text)
{
	if (text->len > 0)
		add_line(t, LINE_TEXT)->text =
			xasprintf("%s%s", mark, text->data);
}

/* Decimals behind the point of a cell. */
static size_t
count_decimals(const char *cell)
{
	const char *dot = strchr(cell, '.');

	return dot != NULL ? strlen(dot + 1) : 0;
}

static void
choose_columns(struct table *t)
{
	for (const struct board_column *c = board_columns; c->title != NULL;
	     c++)
		if (board_column_used(t->board, c))
			t->columns[t->n_columns++] = c;
}

static void
add_titles(struct table *t)
{
	struct line *line = add_line(t, LINE_TITLES);

	for (size_t i = 0; i < t->n_columns; i++)
		line->cells[i] = xstrdup(t->columns[i]->title);
}

static void
set_cell(struct table *t, struct line *line, size_t i, const struct buf *text,
	 bool absent_is_dash)
{
	bool text_column = t->columns[i]->format == FORMAT_NOTE ||
			   t->columns[i]->format == FORMAT_NAME;

	line->cells[i] = xstrdup(text->len > 0 || text_column || !absent_is_dash
					 ? text->data
					 : "—");
	if (t->columns[i]->format == FORMAT_SCORE &&
	    count_decimals(line->cells[i]) > t->decimals[i])
		t->decimals[i] = count_decimals(line->cells[i]);
}

static void
add_row(struct table *t, const struct board_group *group,
	const struct board_row *row)
{
	struct line *line = add_line(t, row->use == BOARD_COUNTED ? LINE_CELLS
								  : LINE_FAINT);
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < t->n_columns; i++) {
		buf_clear(&text);
		board_cell(&text, t->columns[i], group, row, t->of_group[i]);
		set_cell(t, line, i, &text, !group->is_values);
	}
	buf_release(&text);
}

static void
add_mean(struct table *t, const struct board_group *group)
{
	struct line *line = add_line(t, LINE_MEAN);
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < t->n_columns; i++) {
		buf_clear(&text);
		if (t->columns[i]->format == FORMAT_PLAIN)
			buf_append_str(&text, "");
		else
			board_mean_cell(&text, t->columns[i], group,
					t->of_group[i]);
		set_cell(t, line, i, &text, false);
	}
	buf_release(&text);
}

static void
add_heading(struct table *t, const struct board_group *group, size_t rank)
{
	struct line *line = add_line(t, LINE_HEADING);
	struct buf title;

	buf_init(&title, CELL_MAX);
	buf_appendf(&title, "%zu  ", rank);
	utf8_sanitize(&title, str_from(group->title));
	line->text = xstrdup(title.data);
	line->right = xstrdup(group->verdict.text);
	line->color = word_colors[group->verdict.word];
	buf_release(&title);
}

static void
add_tests(struct table *t, const struct board_group *group)
{
	const struct track *track = t->board->track;
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	for (int test = 0; test < TRACK_TEST_COUNT; test++) {
		bool decides = !track->has_record;

		for (size_t i = 0; i < track->n_tests; i++)
			decides |= track->tests[i] == (enum track_test)test;
		if (!decides && !t->look->all_tests)
			continue;
		buf_clear(&text);
		board_test_line(&text, &group->verdict.tests[test]);
		if (text.len > 0)
			add_line(t, LINE_TEXT)->text = xasprintf(
				"test %c  %s: %s", 'A' + test,
				board_test_words(track, (enum track_test)test),
				text.data);
	}
	buf_release(&text);
}

/* All that is said of a group below its rows. */
static void
add_texts(struct table *t, const struct board_group *group)
{
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	board_count_line(&text, group);
	if (group->n_counted > 0)
		buf_append_str(&text, "; ");
	board_spread_line(&text, group);
	add_text(t, "", &text);
	buf_clear(&text);
	board_time_line(&text, t->board, group);
	add_text(t, "", &text);
	buf_clear(&text);
	board_delta_line(&text, t->board, group);
	add_text(t, "", &text);
	buf_clear(&text);
	board_bar_line(&text, t->board, group);
	add_text(t, "", &text);
	add_tests(t, group);
	buf_clear(&text);
	board_z_line(&text, t->board, group);
	add_text(t, "", &text);
	buf_clear(&text);
	board_common_line(&text, group);
	add_text(t, "", &text);
	for (size_t i = 0; i < group->n_notes; i++) {
		buf_clear(&text);
		utf8_sanitize(&text, str_from(group->notes[i]));
		add_text(t, "note: ", &text);
	}
	buf_release(&text);
}

static void
add_group(struct table *t, const struct board_group *group, size_t rank)
{
	if (rank > 1)
		(void)add_line(t, LINE_BLANK);
	for (size_t i = 0; i < t->n_columns; i++)
		t->of_group[i] = board_decimals(t->board, group, t->columns[i]);
	add_heading(t, group, rank);
	add_titles(t);
	for (size_t i = 0; i < group->n_rows; i++)
		add_row(t, group, t->board->rows[group->rows[i]]);
	if (group->n_counted > 0)
		add_mean(t, group);
	add_texts(t, group);
}

/* Blanks behind a score, so that the points of its column stand together. */
static size_t
score_pad(const struct table *t, size_t i, const char *cell)
{
	if (t->columns[i]->format != FORMAT_SCORE || strchr(cell, '.') == NULL)
		return 0;
	return t->decimals[i] - count_decimals(cell);
}

static void
measure(struct table *t)
{
	for (size_t k = 0; k < t->n_lines; k++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			const char *cell = t->lines[k].cells[i];
			size_t width;

			if (cell == NULL)
				continue;
			width = utf8_width(str_from(cell)) +
				score_pad(t, i, cell);
			if (width > t->widths[i])
				t->widths[i] = width;
		}
	}
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i]->format == FORMAT_NAME &&
		    t->widths[i] > NAME_MAX_COLUMNS)
			t->widths[i] = NAME_MAX_COLUMNS;
}

static size_t
total_width(const struct table *t)
{
	size_t width = INDENT;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->widths[i] > 0)
			width += t->widths[i] + (i > 0 ? 2 : 0);
	return width;
}

/* The shown column that is the least worth keeping. */
static size_t
least_column(const struct table *t)
{
	size_t least = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->widths[i] > 0 &&
		    (t->widths[least] == 0 ||
		     t->columns[i]->keep < t->columns[least]->keep))
			least = i;
	return least;
}

/*
 * Make the table as narrow as the screen: the notes shrink first, then the
 * figures of less weight go, then the names (the first column) shrink, then
 * other figures go.
 */
static void
fit(struct table *t)
{
	size_t first = t->widths[0], room;

	assert(t->n_columns > 0);
	while (t->look->columns > 0 && total_width(t) > t->look->columns) {
		size_t over = total_width(t) - t->look->columns;
		size_t least = least_column(t);

		if (t->columns[least]->format == FORMAT_NOTE &&
		    t->widths[least] >= over + NOTE_MIN_COLUMNS)
			t->widths[least] -= over;
		else if (t->columns[least]->keep >= KEEP_FIGURES &&
			 t->widths[0] > NAME_MIN_COLUMNS)
			t->widths[0] = t->widths[0] > over + NAME_MIN_COLUMNS
					       ? t->widths[0] - over
					       : NAME_MIN_COLUMNS;
		else if (least != 0)
			t->widths[least] = 0;
		else
			break;
	}
	/* What the last column left free goes back to the names. */
	room = total_width(t) < t->look->columns
		       ? t->look->columns - total_width(t)
		       : 0;
	t->widths[0] =
		first < t->widths[0] + room ? first : t->widths[0] + room;
}

static void
blanks(FILE *stream, size_t n)
{
	(void)fprintf(stream, "%*s", (int)n, "");
}

static void
print_cells(FILE *stream, const struct table *t, const struct line *line)
{
	size_t owed = INDENT;

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *cell = line->cells[i];
		struct str s = str_from(cell);
		size_t pad = score_pad(t, i, cell), width, fits;
		bool left = t->columns[i]->format == FORMAT_NAME ||
			    t->columns[i]->format == FORMAT_NOTE ||
			    t->columns[i]->format == FORMAT_CAPS;

		if (t->widths[i] == 0)
			continue;
		width = utf8_width(s) + pad;
		if (width > t->widths[i]) {
			fits = utf8_prefix(s, t->widths[i] - 1);
			blanks(stream, owed);
			(void)fprintf(stream, "%.*s…", (int)fits, cell);
			owed = 2;
			continue;
		}
		owed += left ? 0 : t->widths[i] - width;
		if (s.len > 0) {
			blanks(stream, owed);
			(void)fputs(cell, stream);
			owed = pad;
		} else {
			owed += width;
		}
		owed += (left ? t->widths[i] - width : 0) + 2;
	}
	(void)fputc('\n', stream);
}

/* A text with its verdict at the right edge, or on a line of its own. */
static void
print_heading(FILE *stream, const struct table *t, const struct line *line)
{
	size_t left = utf8_width(str_from(line->text));
	size_t right = utf8_width(str_from(line->right));
	size_t edge = total_width(t);
	bool color = t->look->color;

	if (t->look->columns > 0 && edge > t->look->columns)
		edge = t->look->columns;
	(void)fprintf(stream, "%s%s%s", color ? BOLD : "", line->text,
		      color ? RESET : "");
	if (right > 0) {
		if (left + 2 + right <= edge) {
			blanks(stream, edge - left - right);
		} else {
			(void)fputc('\n', stream);
			blanks(stream, INDENT + 1);
		}
		(void)fprintf(stream, "%s%s%s", color ? line->color : "",
			      line->right, color ? RESET : "");
	}
	(void)fputc('\n', stream);
}

/* A text broken at blanks, what follows a little further in. */
static void
print_text(FILE *stream, const struct table *t, const char *text)
{
	size_t room = t->look->columns > MIN_COLUMNS ? t->look->columns : 0;
	struct str rest = str_from(text);
	size_t indent = INDENT;

	for (;;) {
		size_t len = rest.len;

		if (room > 0 && utf8_width(rest) > room - indent) {
			len = utf8_prefix(rest, room - indent);
			while (len > 0 && rest.p[len] != ' ')
				len--;
			if (len == 0)
				len = utf8_prefix(rest, room - indent);
		}
		blanks(stream, indent);
		(void)fprintf(stream, "%.*s\n", (int)len, rest.p);
		rest = (struct str){ rest.p + len, rest.len - len };
		rest = str_trim(rest);
		if (rest.len == 0)
			return;
		indent = INDENT + 4;
	}
}

static void
print_lines(FILE *stream, const struct table *t)
{
	static const char *const styles[] = { [LINE_TITLES] = DIM,
					      [LINE_MEAN] = BOLD,
					      [LINE_FAINT] = DIM,
					      [LINE_BLANK] = NULL };

	for (size_t i = 0; i < t->n_lines; i++) {
		const struct line *line = &t->lines[i];
		const char *style = t->look->color && line->kind < LINE_HEADING
					    ? styles[line->kind]
					    : NULL;

		if (style != NULL)
			(void)fputs(style, stream);
		if (line->kind == LINE_HEADING)
			print_heading(stream, t, line);
		else if (line->kind == LINE_TEXT)
			print_text(stream, t, line->text);
		else if (line->kind == LINE_BLANK)
			(void)fputc('\n', stream);
		else
			print_cells(stream, t, line);
		if (style != NULL)
			(void)fputs(RESET, stream);
	}
}

static void
table_release(struct table *t)
{
	for (size_t k = 0; k < t->n_lines; k++) {
		for (size_t i = 0; i < t->n_columns; i++)
			free(t->lines[k].cells[i]);
		free(t->lines[k].text);
		free(t->lines[k].right);
	}
	free(t->lines);
}

/* What the marks of the caps mean, once, where there are any. */
static void
print_legend(FILE *stream, const struct table *t)
{
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	board_track_line(&text, t->board->track);
	print_text(stream, t, text.data);
	buf_clear(&text);
	if (track_has_caps(t->board->track)) {
		buf_append_str(&text, "caps: bytes, train, eval");
		if (t->board->track->full_targets)
			buf_append_str(&text, ", all targets");
		buf_append_str(&text, ": ✓ kept, ");
		if (t->board->track->train_grace_steps > 0)
			buf_appendf(&text, "~ over by at most %g steps, ",
				    t->board->track->train_grace_steps);
		buf_append_str(&text, "✗ broken, · not in the log");
		print_text(stream, t, text.data);
	}
	(void)fputc('\n', stream);
	buf_release(&text);
}

void
board_print_table(FILE *stream, const struct board *board,
		  const struct board_look *look)
{
	struct table t = { .board = board, .look = look };

	choose_columns(&t);
	for (size_t i = 0; i < board->n_groups; i++)
		add_group(&t, &board->groups[board->rank[i]], i + 1);
	measure(&t);
	fit(&t);
	print_legend(stream, &t);
	print_lines(stream, &t);
	table_release(&t);
}
