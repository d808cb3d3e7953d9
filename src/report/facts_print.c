/* SPDX-License-Identifier: MIT */
/* Print lists of facts as text, Markdown and CSV. */
#include "report/facts_print.h"

#include "base/utf8.h"

#define COLUMNS	   80
#define INDENT	   2
#define LABEL	   17 /* width of a label, including the space after it */
#define GAP	   2  /* spaces between the columns of a table */
#define LEAST_TEXT 16 /* minimum width of a text that is cut */
#define MAX_VALUE  65536

static const char *const looks[FACT_STYLE_COUNT] = {
	[FACT_DIM] = "\033[2m",	   [FACT_HINT] = "\033[2m",	  [FACT_STRONG] = "\033[1m",
	[FACT_LIVE] = "\033[32m",  [FACT_DONE] = "\033[32m",	  [FACT_SILENT] = "\033[33m",
	[FACT_WARN] = "\033[33m",  [FACT_ALARM] = "\033[31m",	  [FACT_BETTER] = "\033[32m",
	[FACT_WORSE] = "\033[31m", [FACT_REFERENCE] = "\033[36m",
};

static void put_styled(struct buf *out, const struct facts_look *look, enum fact_style style,
		       const char *text)
{
	if (look->color && looks[style] != NULL && text[0] != '\0')
		buf_appendf(out, "%s%s\033[0m", looks[style], text);
	else
		buf_append_str(out, text);
}

static void put_spaces(struct buf *out, size_t from, size_t to)
{
	for (; from < to; from++)
		buf_append_char(out, ' ');
}

/* The sanitized value; text is emptied first. */
static void value_text(struct buf *text, const struct fact *fact)
{
	char number[FACT_SIZE];

	buf_clear(text);
	utf8_sanitize(text, str_from(fact_value(fact, number)));
}

/* Print words from that column on; further lines are indented by `hang` more. */
static void put_folded(struct buf *out, struct str text, size_t indent, size_t hang, size_t columns)
{
	struct str rest = text, word;
	size_t column = indent;

	while (str_next(&rest, ' ', &word)) {
		size_t width = utf8_width(word);

		if (column > indent && columns > 0 && column + 1 + width > columns) {
			buf_append_char(out, '\n');
			indent += hang;
			hang = 0;
			put_spaces(out, 0, indent);
			column = indent;
		} else if (column > indent) {
			buf_append_char(out, ' ');
			column++;
		}
		buf_append(out, word.p, word.len);
		column += width;
	}
}

static void print_facts(struct buf *out, const struct fact *fact, size_t n,
			const struct facts_look *look)
{
	size_t indent = look->indent;
	AUTO_BUF value = buf_new(MAX_VALUE);
	AUTO_BUF folded = buf_new(4 * MAX_VALUE);

	for (size_t i = 0; i < n; i++, fact++) {
		size_t width = utf8_width(str_from(fact->label));

		put_spaces(out, 0, look->indent);
		utf8_sanitize(out, str_from(fact->label));
		if (width > 0)
			indent = look->indent + (width > LABEL ? width : LABEL) + 1;
		put_spaces(out, look->indent + width, indent);
		value_text(&value, fact);
		buf_clear(&folded);
		put_folded(&folded, str_from(value.data), indent, width == 0 ? look->hang : 0,
			   look->fold);
		put_styled(out, look, fact->style, folded.data);
		buf_append_char(out, '\n');
	}
}

/* The cell of a row of a table; row 0 is the header. */
static const struct fact *cell_at(const struct facts *facts, const struct facts_section *s,
				  size_t row, size_t column)
{
	return &facts->v[s->first + (row - 1) * s->n_columns + column];
}

static void cell_text(struct buf *text, const struct facts *facts, const struct facts_section *s,
		      size_t row, size_t column)
{
	if (row > 0) {
		value_text(text, cell_at(facts, s, row, column));
		return;
	}
	buf_clear(text);
	utf8_sanitize(text, str_from(s->columns[column].label));
}

static size_t count_rows(const struct facts_section *s)
{
	return 1 + s->n / s->n_columns;
}

/* Layout of a table: the screen columns that each of its columns takes. */
struct layout {
	const struct facts_section *s;
	size_t *widths; /* 0: dropped */
	size_t *tails;	/* decimals, so that decimal points are aligned */
};

static size_t count_decimals(const struct facts_column *column, const char *text)
{
	const char *point = strrchr(text, '.');

	return (column->kind == FMT_NUMBER || column->kind == FMT_SIGNED) && point != NULL
		       ? strlen(point + 1)
		       : 0;
}

/* Spaces after a number with fewer decimals than others in its column. */
static size_t tail_pad(const struct layout *layout, size_t column, const char *text)
{
	size_t tail = count_decimals(&layout->s->columns[column], text);

	return tail > 0 ? layout->tails[column] - tail : 0;
}

static bool have_same_columns(const struct facts_section *a, const struct facts_section *b)
{
	return a->n_columns == b->n_columns &&
	       all_of(i, a->n_columns, strcmp(a->columns[i].label, b->columns[i].label) == 0);
}

/* Add the sizes of a table's cells: their decimals (tails) or, after those, their widths. */
static void measure_cells(struct layout *layout, const struct facts *facts,
			  const struct facts_section *s, bool tails)
{
	AUTO_BUF text = buf_new(MAX_VALUE);

	for (size_t k = 0; k < count_rows(s) * s->n_columns; k++) {
		size_t i = k % s->n_columns, size;
		size_t *most = tails ? &layout->tails[i] : &layout->widths[i];

		cell_text(&text, facts, s, k / s->n_columns, i);
		size = tails ? count_decimals(&s->columns[i], text.data)
			     : utf8_width(str_from(text.data)) + tail_pad(layout, i, text.data);
		*most = size > *most ? size : *most;
	}
}

static size_t layout_width(const struct layout *layout)
{
	size_t sum = 0;

	for (size_t i = 0; i < layout->s->n_columns; i++)
		if (layout->widths[i] > 0)
			sum += layout->widths[i] + (sum > 0 ? GAP : 0);
	return sum;
}

/* Number of screen columns by which the texts of column i may be cut. */
static size_t get_spare(const struct layout *layout, size_t i)
{
	const struct facts_column *column = &layout->s->columns[i];
	size_t least = column->width > 0 ? (size_t)column->width : LEAST_TEXT;

	return column->kind == FMT_TEXT && layout->widths[i] > least ? layout->widths[i] - least
								     : 0;
}

/* May the texts of column a be cut before those of b? */
static bool is_cut_before(const struct layout *layout, size_t a, size_t b)
{
	const struct facts_column *columns = layout->s->columns;
	size_t spare_a = get_spare(layout, a), spare_b = get_spare(layout, b);

	if (spare_a == 0 || spare_b == 0)
		return spare_a > 0;
	return columns[a].cut_drop != columns[b].cut_drop ? columns[a].cut_drop == 0
							  : spare_a > spare_b;
}

/* Cut texts, widest first, then drop columns, until everything fits. */
static void fit_columns(struct layout *layout, size_t room)
{
	const struct facts_column *columns = layout->s->columns;
	size_t *widths = layout->widths, first = widths[0], width;

	while ((width = layout_width(layout)) > room) {
		size_t widest = 0, worst = 0, spare;

		for (size_t i = 0; i < layout->s->n_columns; i++) {
			if (is_cut_before(layout, i, widest))
				widest = i;
			if (widths[i] > 0 &&
			    (widths[worst] == 0 || columns[i].drop > columns[worst].drop))
				worst = i;
		}
		spare = columns[widest].cut_drop > 0 &&
					columns[worst].drop > columns[widest].cut_drop
				? 0
				: get_spare(layout, widest);
		if (spare > 0)
			widths[widest] -= spare < width - room ? spare : width - room;
		else if (columns[worst].drop > 0)
			widths[worst] = 0;
		else
			return;
	}
	/* Give the width that the last dropped column left to the first one. */
	first -= widths[0];
	widths[0] += first < room - width ? first : room - width;
}

static void print_row(struct buf *out, const struct facts *facts, const struct layout *layout,
		      size_t row, const struct facts_look *look)
{
	const struct facts_section *s = layout->s;
	size_t owed = look->indent, width, tail;
	AUTO_BUF text = buf_new(MAX_VALUE);

	for (size_t i = 0; i < s->n_columns; i++) {
		enum fact_style style = row > 0 ? cell_at(facts, s, row, i)->style : FACT_DIM;
		bool is_text = s->columns[i].kind == FMT_TEXT;
		size_t room = layout->widths[i];

		if (room == 0)
			continue;
		cell_text(&text, facts, s, row, i);
		tail = tail_pad(layout, i, text.data);
		if (is_text && utf8_width(str_from(text.data)) > room && !look->is_whole) {
			text.len = utf8_prefix(str_from(text.data), room - 1);
			buf_append_str(&text, "…");
		} else if (is_text && utf8_width(str_from(text.data)) > room) {
			/* Only the last column folds; it ends at the edge of the screen. */
			AUTO_BUF whole = buf_new(MAX_VALUE);

			buf_append(&whole, text.data, text.len);
			buf_clear(&text);
			put_folded(&text, buf_str(&whole), look->columns - room, 0, look->columns);
		}
		width = utf8_width(str_from(text.data)) + tail;
		owed += is_text ? 0 : room - width;
		if (text.len > 0) {
			put_spaces(out, 0, owed);
			put_styled(out, look, style, text.data);
			owed = 0;
		}
		owed += (is_text ? room - width : tail) + GAP;
	}
	buf_append_char(out, '\n');
}

/* Print a title and the text next to it, which ends at that column or gets its own line. */
static void print_title(struct buf *out, const struct facts_section *s,
			const struct facts_look *look, size_t edge)
{
	const char *beside = s->beside != NULL ? s->beside : "";
	size_t right = utf8_width(str_from(beside)), left;
	AUTO_BUF title = buf_new(MAX_VALUE);

	utf8_sanitize(&title, str_from(s->title));
	put_styled(out, look, FACT_STRONG, title.data);
	left = utf8_width(buf_str(&title));
	if (right > 0 && left + GAP + right > edge) {
		buf_append_char(out, '\n');
		put_spaces(out, 0, look->indent + 1);
	} else if (right > 0) {
		put_spaces(out, left + right, edge);
	}
	if (right > 0)
		put_styled(out, look, s->beside_style, beside);
	if (title.len > 0)
		buf_append_str(out, look->is_tight ? "\n" : "\n\n");
}

/* Print each row as a record: one line per column, with its value. */
static void print_records(struct buf *out, const struct facts *facts, const struct facts_section *s,
			  const struct facts_look *look)
{
	struct facts_look page = { .fold = look->columns };

	for (size_t row = 1; row < count_rows(s); row++) {
		if (row > 1)
			buf_append_char(out, '\n');
		for (size_t i = 0; i < s->n_columns; i++) {
			struct fact fact = *cell_at(facts, s, row, i);

			fact.label = s->columns[i].label;
			print_facts(out, &fact, 1, &page);
		}
	}
}

static void print_table(struct buf *out, const struct facts *facts, const struct facts_section *s,
			const struct facts_look *look)
{
	AUTO_FREE size_t *widths = xcalloc(s->n_columns, sizeof(*widths));
	AUTO_FREE size_t *tails_of = xcalloc(s->n_columns, sizeof(*tails_of));
	struct layout layout = { s, widths, tails_of };

	for (int tails = 1; tails >= 0; tails--)
		for (size_t i = 0; i < facts->n_sections; i++)
			if (have_same_columns(s, &facts->sections[i]))
				measure_cells(&layout, facts, &facts->sections[i], tails == 1);
	size_t room = look->columns > look->indent ? look->columns - look->indent : 0;
	if (room > 0 && !look->is_whole)
		fit_columns(&layout, room);
	/* Give the last column the remaining width, in which its text folds. */
	size_t last = s->n_columns - 1, width = layout_width(&layout);
	bool is_wide = room > 0 && look->is_whole && width > room;
	bool as_records = is_wide && (s->columns[last].kind != FMT_TEXT ||
				      width - layout.widths[last] + LEAST_TEXT > room);
	if (is_wide && !as_records)
		layout.widths[last] -= width - room;
	print_title(out, s, look, look->indent + layout_width(&layout));
	if (as_records)
		print_records(out, facts, s, look);
	for (size_t row = 0; row < count_rows(s) && !as_records; row++)
		print_row(out, facts, &layout, row, look);
}

void facts_print(struct buf *out, const struct facts *facts, const struct facts_look *look)
{
	array_each (s, facts->sections, facts->n_sections) {
		if (s->n == 0)
			continue;
		if (out->len > 0 && (!look->is_tight || s->title[0] != '\0'))
			buf_append_char(out, '\n');
		if (s->columns != NULL) {
			print_table(out, facts, s, look);
			continue;
		}
		print_title(out, s, look, 0);
		print_facts(out, &facts->v[s->first], s->n, look);
	}
}

void facts_print_text(struct buf *out, const struct facts *facts)
{
	static const struct facts_look page = { .fold = COLUMNS, .indent = INDENT };

	facts_print(out, facts, &page);
}

void facts_print_md_table(struct buf *out, const struct facts *facts, size_t section, bool head)
{
	const struct facts_section *s = &facts->sections[section];
	size_t n = s->n_columns;
	AUTO_BUF text = buf_new(MAX_VALUE);

	for (size_t i = head ? 0 : n; i < n * count_rows(s); i++) {
		const char *mark =
			i >= n && cell_at(facts, s, i / n, i % n)->style == FACT_STRONG ? "**" : "";

		cell_text(&text, facts, s, i / n, i % n);
		mark = text.len > 0 ? mark : "";
		buf_appendf(out, "%s%s", i % n == 0 ? "| " : " ", mark);
		fmt_add_md(out, text.data);
		buf_appendf(out, "%s%s", mark, i % n + 1 == n ? " |\n" : " |");
		for (size_t k = 0; i + 1 == n && k < n; k++)
			buf_append_str(out, s->columns[k].kind == FMT_TEXT ? "|---" : "|---:");
		buf_append_str(out, i + 1 == n ? "|\n" : "");
	}
}

void facts_print_md(struct buf *out, const struct facts *facts)
{
	/* The styles whose values are bold if they have no label. */
	static const bool bold[FACT_STYLE_COUNT] = {
		[FACT_STRONG] = true, [FACT_ALARM] = true, [FACT_BETTER] = true,
		[FACT_WORSE] = true,  [FACT_DONE] = true,
	};
	AUTO_BUF text = buf_new(MAX_VALUE);

	for (size_t i = 0; i < facts->n_sections; i++) {
		const struct facts_section *s = &facts->sections[i];

		if (s->n == 0)
			continue;
		const struct fact *fact = &facts->v[s->first];
		if (out->len > 0)
			buf_append_char(out, '\n');
		buf_clear(&text);
		utf8_sanitize(&text, str_from(s->title));
		buf_append_str(out, text.len > 0 ? "### " : "");
		fmt_add_md(out, text.data);
		buf_append_str(out, text.len > 0 ? "\n\n" : "");
		if (s->columns != NULL)
			facts_print_md_table(out, facts, i, true);
		/* Blank lines separate paragraphs, but not items. */
		for (size_t k = 0; s->columns == NULL && k < s->n; k++) {
			if (k > 0 && !s->is_list &&
			    (fact[k].label[0] == '\0' || fact[k - 1].label[0] == '\0'))
				buf_append_char(out, '\n');
			/* A fact with a label is a list item; others are usually paragraphs. */
			const char *mark =
				fact[k].label[0] == '\0' && bold[fact[k].style] ? "**" : "";
			buf_clear(&text);
			utf8_sanitize(&text, str_from(fact[k].label));
			buf_append_str(out, s->is_list || text.len > 0 ? "- " : "");
			fmt_add_md(out, text.data);
			buf_append_str(out, text.len > 0 ? ": " : "");
			value_text(&text, &fact[k]);
			buf_append_str(out, mark);
			fmt_add_md(out, text.data);
			buf_appendf(out, "%s\n", mark);
		}
	}
}

void facts_print_csv(struct buf *out, const struct facts *facts, size_t section, bool head)
{
	const struct facts_section *s = &facts->sections[section];
	size_t n = s->n_columns;
	AUTO_BUF text = buf_new(MAX_VALUE);

	for (size_t i = head ? 0 : n; i < n * count_rows(s); i++) {
		const struct facts_column *column = &s->columns[i % n];
		const struct fact *fact = i >= n ? cell_at(facts, s, i / n, i % n) : NULL;

		buf_append_str(out, i % n > 0 ? "," : "");
		if (fact == NULL) {
			fmt_add_csv(out, column->key != NULL ? column->key : column->label, true);
		} else if (column->kind != FMT_TEXT || fact->text == NULL) {
			fmt_add_csv(out, fmt_raw(fact->number).s, false);
		} else {
			value_text(&text, fact);
			fmt_add_csv(out, text.data, fact->kind == FMT_TEXT);
		}
		buf_append_str(out, i % n + 1 == n ? "\n" : "");
	}
}
