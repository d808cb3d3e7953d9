/* SPDX-License-Identifier: MIT */
/* Orders, filters and draws the list that views and overlays use, and handles its keys. */
#include "ui/list.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "ui/theme.h"

#define NAMED_SCORE 1000 /* bonus for a match in the column `filtered` */
#define NAME_WORDS  24
/* Columns with a higher `drop` are hidden to give a name its share of the room. */
#define DROP_FOR_NAME 3

/* The sort key of a row. */
struct list_key {
	double number;
	char *text; /* owned; compared if the number is absent; or NULL */
	size_t parent;
};

struct list_order {
	const struct list *list;
	const struct list_key *keys; /* indexed by row */
};

void list_cell_set(struct list_cell *cell, unsigned int style, const char *text)
{
	size_t len = strnlen(text, LIST_CELL_BYTES - 1);

	cell->style = style;
	memcpy(cell->text, text, len);
	cell->text[len] = '\0';
}

void list_cellf(struct list_cell *cell, unsigned int style, const char *fmt, ...)
{
	cell->style = style;
	print_args(cell->text, fmt);
}

static void get_cell(const struct list *list, size_t row, size_t column, struct list_cell *cell)
{
	cell->number = (double)NAN;
	cell->is_blank = false;
	cell->also = NULL;
	cell->style = STYLE_NORMAL;
	cell->text[0] = '\0';
	list->ops->cell(list->user, row, column, cell);
}

static bool is_number(const struct list_column *column, const struct list_cell *cell)
{
	return cell->text[0] == '\0' && column->kind != FMT_TEXT && !cell->is_blank;
}

static void format_cell(const struct list *list, size_t row, size_t i, struct list_cell *cell)
{
	const struct list_column *column = &list->ops->columns[i];

	get_cell(list, row, i, cell);
	if (is_number(column, cell))
		memcpy(cell->text, fmt_value(column->kind, cell->number, column->decimals).s,
		       FMT_SIZE);
	if (column->kind == FMT_SIGNED && cell->style == STYLE_NORMAL)
		cell->style = theme_delta(cell->number);
}

int list_score(const char *typed, const char *name)
{
	int score = 1, run = 0;
	const char *whole = strcasestr(name, typed), *at = whole != NULL ? whole : name;

	for (; *typed != '\0'; typed++) {
		if (*typed == ' ')
			continue;
		while (*at != '\0' &&
		       tolower((unsigned char)*at) != tolower((unsigned char)*typed)) {
			at++;
			run = 0;
		}
		if (*at == '\0')
			return 0;
		run++;
		score += run * 4;
		if (at == name || !isalnum((unsigned char)at[-1]))
			score += 8;
		at++;
	}
	return score * 16 - (int)(strlen(name) > 400 ? 400 : strlen(name)) / 4;
}

/* The words of a filter. "name=text" and "name:text" compare only the columns whose title contains
 * the name, if there are such columns. */
struct filter {
	char buf[LIST_FILTER_SIZE];
	struct filter_word {
		const char *text, *name; /* name is NULL: compare all columns */
		bool is_whole;		 /* compare the whole text of cells, not a part */
	} words[LIST_FILTER_SIZE / 2];
	size_t n;
};

static void parse_filter(const struct list *list, struct filter *filter)
{
	const struct list_ops *ops = list->ops;
	char *rest = filter->buf, *text;

	print_into(filter->buf, "%s", list->filter);
	while ((text = strsep(&rest, " ")) != NULL) {
		struct filter_word *word = &filter->words[filter->n];
		size_t n = strcspn(text, "=:");
		char sign = text[n];

		if (text[0] == '\0')
			continue;
		filter->n++;
		*word = (struct filter_word){ .text = text };
		if (sign == '\0' || n == 0 || ops->best_first)
			continue;
		text[n] = '\0';
		if (any_of(i, ops->n_columns, strcasestr(ops->columns[i].title, text) != NULL))
			*word = (struct filter_word){ text + n + 1, text,
						      sign == '=' && text[n + 1] != '\0' };
		else
			text[n] = sign;
	}
}

/* Does text contain word, in any case? Much faster than strcasestr for the short texts of cells. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	int first = tolower((unsigned char)word[0]);

	for (; *text != '\0'; text++)
		if (tolower((unsigned char)*text) == first && strncasecmp(text, word, len) == 0)
			return true;
	return len == 0;
}

static bool matches_cell(const struct list_cell *cell, const struct filter_word *word)
{
	const char *also = cell->also != NULL ? cell->also : "";

	if (word->is_whole)
		return strcasecmp(cell->text, word->text) == 0 || strcasecmp(also, word->text) == 0;
	return has_word(cell->text, word->text) || has_word(also, word->text);
}

/* Rate how well a row matches a word; 0 if it does not match. */
static int match_word(const struct list *list, size_t row, const struct filter_word *word)
{
	const struct list_ops *ops = list->ops;
	struct list_cell cell;
	int best = 0;

	/* Compare texts first, because formatting a number takes longer. */
	for (size_t k = 0; k < 2 * ops->n_columns && (best == 0 || ops->best_first); k++) {
		size_t i = k % ops->n_columns;
		bool is_text = ops->columns[i].kind == FMT_TEXT;

		/* A number in a hidden column matches only if the word names the column. */
		if (is_text != (k == i) ||
		    (!is_text && list->widths[i] == 0 && word->name == NULL) ||
		    (word->name != NULL && strcasestr(ops->columns[i].title, word->name) == NULL))
			continue;
		format_cell(list, row, i, &cell);
		int score = matches_cell(&cell, word);
		if (ops->best_first && i == ops->filtered) {
			score = cell.also != NULL ? score : list_score(word->text, cell.text);
			score += score > 0 ? NAMED_SCORE : 0;
		}
		best = int_max(best, score);
	}
	return best;
}

/* Rate how well a row matches all words of the filter; 0 if it does not match. */
static int match_row(const struct list *list, const struct filter *filter, size_t row)
{
	int sum = 1;

	for (size_t i = 0; i < filter->n && sum > 0; i++) {
		int score = match_word(list, row, &filter->words[i]);

		sum = score > 0 ? sum + score : 0;
	}
	return sum;
}

static struct list_key make_key(const struct list *list, const struct filter *filter, size_t row)
{
	const struct list_ops *ops = list->ops;
	struct list_key key = { (double)row, NULL, row };
	struct list_cell cell;

	if (ops->parent != NULL)
		key.parent = ops->parent(list->user, row);
	if (list->sort > 0) {
		get_cell(list, row, list->sort - 1, &cell);
		key.number = cell.number;
		if (isnan(cell.number) && cell.text[0] != '\0' &&
		    strcmp(cell.text, FMT_ABSENT) != 0)
			key.text = xstrdup(cell.text);
	} else if (list->filter[0] != '\0' && ops->best_first) {
		key.number = -match_row(list, filter, row);
	} else if (ops->rank != NULL) {
		key.number = ops->rank(list->user, row);
	}
	return key;
}

/* Compare two rows. Absent values come last in both directions, and equal rows keep their order. */
static int compare_rows(const struct list_order *in, size_t a, size_t b)
{
	const struct list_key *x = &in->keys[a], *y = &in->keys[b];
	bool no_x = isnan(x->number) && x->text == NULL;
	bool no_y = isnan(y->number) && y->text == NULL;
	int order;

	if (no_x || no_y)
		order = no_x - no_y;
	else if (x->text != NULL && y->text != NULL)
		order = strverscmp(x->text, y->text);
	else
		order = (x->number > y->number) - (x->number < y->number);
	if (order == 0)
		return (a > b) - (a < b);
	return in->list->descending && !no_x && !no_y ? -order : order;
}

static int compare_places(const void *a, const void *b, void *user)
{
	const struct list_order *in = user;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	size_t above_x = in->keys[x].parent, above_y = in->keys[y].parent;

	if (above_x != above_y)
		return compare_rows(in, above_x, above_y);
	if (x == above_x || y == above_y)
		return (y == above_y) - (x == above_x);
	return compare_rows(in, x, y);
}

static void sort_rows(struct list *list)
{
	AUTO_FREE struct list_key *keys = xcalloc(list->all + 1, sizeof(*keys));
	struct filter filter = { .n = 0 };

	parse_filter(list, &filter);
	for (size_t i = 0; i < list->all; i++) {
		keys[i] = make_key(list, &filter, i);
		if (list->ops->has != NULL && !list->ops->has(list->user, i))
			continue;
		if (match_row(list, &filter, i) > 0 ||
		    (keys[i].parent != i && match_row(list, &filter, keys[i].parent) > 0))
			list->order[list->n++] = i;
	}
	if (list->n > 0)
		qsort_r(list->order, list->n, sizeof(*list->order), compare_places,
			&(struct list_order){ list, keys });
	for (size_t i = 0; i < list->all; i++)
		free(keys[i].text);
}

size_t list_row(const struct list *list)
{
	return list->selected < list->n ? list->order[list->selected] : SIZE_MAX;
}

static void select_place(struct list *list, size_t place)
{
	list->selected = place;
	size_t row = list_row(list);
	if (list->ops != NULL && list->ops->id != NULL)
		list->id = row != SIZE_MAX ? list->ops->id(list->user, row) : 0;
}

void list_select(struct list *list, size_t row)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->order[i] == row)
			select_place(list, i);
}

/* Hash everything that the order of the rows depends on; 0 if the version is unknown. */
static uint64_t hash_order(const struct list *list, const struct list_ops *ops, size_t n_rows)
{
	unsigned int visible = 0;

	if (list->version == 0)
		return 0;
	for (size_t i = 0; i < ops->n_columns; i++)
		visible = visible << 1 | (list->widths[i] > 0);
	AUTO_TEXT key =
		xasprintf("%" PRIu64 " %p %zu %u %zu %d %s", list->version, (const void *)ops,
			  n_rows, visible, list->sort, list->descending, list->filter);
	return str_hash(str_from(key)) | 1;
}

void list_fill(struct list *list, const struct list_ops *ops, void *user, size_t n_rows)
{
	uint64_t hash = hash_order(list, ops, n_rows);
	size_t row = list_row(list);

	list->user = user;
	if (hash != 0 && hash == list->filled)
		return;
	list->filled = hash;

	for (size_t i = 0; list->id != 0 && i < n_rows; i++)
		if (ops->id(user, i) == list->id)
			row = i;
	list->ops = ops;
	list->user = user;
	if (list->cap < n_rows) {
		list->cap = n_rows + 16;
		list->order = xreallocarray(list->order, list->cap, sizeof(*list->order));
	}
	list->n = 0;
	list->all = n_rows;
	if (list_is_ordered(list) || ops->rank != NULL || ops->has != NULL) {
		sort_rows(list);
	} else {
		for (; list->n < n_rows; list->n++)
			list->order[list->n] = list->n;
	}
	list_select(list, row);
	if (list->selected >= list->n)
		select_place(list, list->n > 0 ? list->n - 1 : 0);
}

void list_release(struct list *list)
{
	free(list->order);
	memset(list, 0, sizeof(*list));
}

/* Return how wide the visible columns are together, with one blank between them. */
static int measure_columns(const struct list *list)
{
	int sum = 0;

	for (size_t i = 0; i < list->ops->n_columns; i++)
		if (list->widths[i] > 0)
			sum += list->widths[i] + 1;
	return sum > 0 ? sum - 1 : 0;
}

/* Find the next word of a name from *at on, and set *at to its end; "" if there is none. */
static struct str next_name_word(const char *name, size_t *at)
{
	size_t from;

	while (name[*at] != '\0' && !isalnum((unsigned char)name[*at]))
		++*at;
	for (from = *at; isalnum((unsigned char)name[*at]); ++*at)
		;
	return (struct str){ name + from, *at - from };
}

static void count_words(struct list *list, const char *name)
{
	struct str word;

	for (size_t at = 0; (word = next_name_word(name, &at)).len > 0;) {
		uint16_t *n = &list->words[str_hash(word) % LIST_WORDS];

		*n = (uint16_t)(*n + (*n < UINT16_MAX));
	}
}

void list_cut_name(const struct list *list, char name[LIST_CELL_BYTES], int width)
{
	char whole[LIST_CELL_BYTES];
	struct str words[NAME_WORDS];
	unsigned int often[NAME_WORDS]; /* how common each word is; 0: the word is removed */
	size_t n = 0;

	print_into(whole, "%s", name);
	for (size_t at = 0; n < NAME_WORDS && (words[n] = next_name_word(whole, &at)).len > 0; n++)
		/* If two words are equally common, remove a number first, but not that of a run. */
		often[n] = words[n].p > whole && words[n].p[-1] == '#'
				   ? 1
				   : 2U * list->words[str_hash(words[n]) % LIST_WORDS] + 1 +
					     (strspn(words[n].p, "0123456789") >= words[n].len);
	while (text_width(name) > width) {
		AUTO_BUF text = buf_new(LIST_CELL_BYTES - 1);
		unsigned int least = UINT_MAX;
		size_t worst = 0;

		for (size_t i = 0; i < n; i++) {
			worst = often[i] > often[worst] ? i : worst;
			least = often[i] > 0 && often[i] < least ? often[i] : least;
		}
		if (n == 0 || often[worst] <= least)
			return;
		often[worst] = 0;
		for (size_t i = 0; i < n; i++) {
			bool follows = i > 0 && often[i - 1] > 0;
			/* Keep the separators before a word if the previous word stays. */
			const char *from = follows ? words[i - 1].p + words[i - 1].len : words[i].p;

			if (often[i] > 0)
				buf_append(&text, from, (size_t)(words[i].p + words[i].len - from));
			else if (follows)
				buf_append_str(&text, "…");
		}
		(void)snprintf(name, LIST_CELL_BYTES, "%s", text.data);
	}
}

/* Set list->uses: the width of the widest text of each column, or 0 if the column is hidden because
 * its cells are all empty, or all the same (same_goes). */
static void measure_texts(struct list *list)
{
	const struct list_column *columns = list->ops->columns;
	char first[LIST_MAX_COLUMNS][LIST_CELL_BYTES];
	bool is_empty[LIST_MAX_COLUMNS], is_same[LIST_MAX_COLUMNS];
	double least[LIST_MAX_COLUMNS], most[LIST_MAX_COLUMNS];
	struct list_cell cell;

	memset(list->words, 0, sizeof(list->words));
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		is_empty[i] = columns[i].title[0] != '\0';
		is_same[i] = columns[i].same_goes;
		least[i] = INFINITY;
		most[i] = -INFINITY;
		list->uses[i] = columns[i].width;
	}
	/* Go row by row, because the cells of a row read the same memory. */
	for (size_t k = 0; k < list->all * list->ops->n_columns; k++) {
		size_t row = k / list->ops->n_columns, i = k % list->ops->n_columns;
		bool is_wide = columns[i].grow || columns[i].fit;

		if (!is_wide && !is_same[i] && !is_empty[i])
			continue;
		get_cell(list, row, i, &cell);
		if (is_number(&columns[i], &cell)) {
			is_empty[i] = is_empty[i] && isnan(cell.number);
			least[i] = isfinite(cell.number) ? fmin(least[i], cell.number) : least[i];
			most[i] = isfinite(cell.number) ? fmax(most[i], cell.number) : most[i];
			is_same[i] = false;
			continue;
		}
		if (row == 0)
			print_into(first[i], "%s", cell.text);
		if (columns[i].name)
			count_words(list, cell.text);
		is_empty[i] =
			is_empty[i] && (cell.text[0] == '\0' || strcmp(cell.text, FMT_ABSENT) == 0);
		is_same[i] = is_same[i] && strcmp(cell.text, first[i]) == 0;
		if (is_wide)
			list->uses[i] =
				int_max(list->uses[i], text_width(cell.text) + columns[i].grow);
	}
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		/* Either the least or the greatest number has the most digits. */
		for (int end = 0; end < 2 && columns[i].fit && least[i] <= most[i]; end++) {
			struct fmt text = fmt_value(columns[i].kind, end == 0 ? least[i] : most[i],
						    columns[i].decimals);

			list->uses[i] = int_max(list->uses[i], text_width(text.s));
		}
		if (list->all > 0 && (is_empty[i] || is_same[i]))
			list->uses[i] = 0;
	}
}

/* Choose the widths of the columns, so that together they need at most `room`. */
static void fit_columns(struct list *list, int room)
{
	const struct list_column *columns = list->ops->columns;
	const int *uses = list->uses;
	int growing = 0, wanted = 0, extra;
	size_t n = list->ops->n_columns;

	if (list->version == 0 || list->measured != list->version)
		measure_texts(list);
	list->measured = list->version;
	for (size_t i = 0; i < n; i++) {
		list->widths[i] = columns[i].fit ? uses[i] : uses[i] > 0 ? columns[i].width : 0;
		/* The header needs room for the arrow. */
		if (uses[i] > 0 && i + 1 == list->sort)
			list->widths[i] =
				int_max(list->widths[i], text_width(columns[i].title) + 1);
		if (columns[i].name)
			wanted = int_max(int_min(uses[i], (room - 20) / 4) - columns[i].width, 0);
	}
	while (measure_columns(list) + wanted > room) {
		size_t worst = SIZE_MAX;

		for (size_t i = 0; i < n; i++)
			if (list->widths[i] > 0 && columns[i].drop > 0 &&
			    (worst == SIZE_MAX || columns[i].drop > columns[worst].drop))
				worst = i;
		if (worst == SIZE_MAX ||
		    (columns[worst].drop <= DROP_FOR_NAME && measure_columns(list) <= room))
			break;
		list->widths[worst] = 0;
	}
	extra = room - measure_columns(list);
	for (size_t i = 0; i < n; i++)
		growing += columns[i].grow && list->widths[i] > 0;
	/* First give equal shares of the spare room, then the shares that others did not use. */
	for (size_t k = 0; k < 2 * n && extra > 0; k++) {
		size_t i = k % n;
		int share = k < n ? extra / int_max(growing, 1) : extra;

		if (!columns[i].grow || list->widths[i] == 0)
			continue;
		growing--;
		share = int_min(share, uses[i] - list->widths[i]);
		list->widths[i] += share;
		extra -= share;
	}
}

static void draw_header(const struct list *list, struct canvas *canvas, struct rect r)
{
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		const struct list_column *column = &list->ops->columns[i];
		bool is_sorted = i + 1 == list->sort;

		if (list->widths[i] == 0)
			continue;
		r.w = list->widths[i] - is_sorted;
		(column->kind == FMT_TEXT && !is_sorted ? canvas_line : canvas_line_right)(
			canvas, r, STYLE_HEADER, str_from(column->title));
		r.x += r.w;
		if (is_sorted)
			canvas_put(canvas, r.x++, r.y, STYLE_HEADER,
				   list->descending ? 0x25BC : 0x25B2);
		r.x++;
	}
}

/* Does this word start at a cell of the screen? Ignores the case of ASCII letters. */
static bool is_word_at(const struct canvas *canvas, int x, int y, int end, const char *word)
{
	struct str rest = str_from(word);

	while (rest.len > 0) {
		uint32_t cp;
		size_t n = utf8_decode(rest, &cp);
		uint32_t here = x < end ? canvas_at(canvas, x, y)->cp : 0;

		if (cp < 0x80 && here < 0x80) {
			cp = (uint32_t)tolower((int)cp);
			here = (uint32_t)tolower((int)here);
		}
		if (cp != here)
			return false;
		x += int_max(utf8_cp_width(cp), 1);
		rest = str_skip(rest, n);
	}
	return true;
}

static void draw_matches(const struct list *list, struct canvas *canvas, struct rect r)
{
	int end = int_min(r.x + r.w, canvas->clip.x + canvas->clip.w);
	struct filter filter = { .n = 0 };

	parse_filter(list, &filter);
	for (size_t i = 0; i < filter.n; i++) {
		const char *word = filter.words[i].text;

		for (int x = r.x; x < end; x++)
			if (is_word_at(canvas, x, r.y, end, word))
				canvas_fill(canvas, (struct rect){ x, r.y, text_width(word), 1 },
					    STYLE_MATCH | STYLE_UNDERLINE, 0);
	}
}

static void draw_row(const struct list *list, struct canvas *canvas, struct rect line, size_t row,
		     bool is_selected)
{
	struct rect r = line;

	for (size_t i = 0; i < list->ops->n_columns; i++) {
		const struct list_column *column = &list->ops->columns[i];
		struct list_cell cell;

		if (list->widths[i] == 0)
			continue;
		format_cell(list, row, i, &cell);
		if (is_selected && (i > 0 || !list->ops->swatch))
			cell.style = STYLE_STRONG;
		r.w = list->widths[i];
		if (column->name)
			list_cut_name(list, cell.text, r.w);
		if (column->cut != NULL)
			column->cut(cell.text, r.w);
		(column->kind != FMT_TEXT ? canvas_line_right
		 : column->name		  ? canvas_line_elided
				: canvas_line)(canvas, r, cell.style, str_from(cell.text));
		r.x += r.w + 1;
	}
	if (is_selected) {
		r = line;
		if (list->ops->swatch)
			(void)rect_take_left(&r, list->widths[0]);
		canvas_fill(canvas, r, STYLE_STRONG | STYLE_REVERSE, 0);
	}
	if (list->filter[0] != '\0')
		draw_matches(list, canvas, line);
}

/* Draw the scroll bar, and the numbers of the visible rows if the header has room for them. */
static void draw_scroll_bar(const struct list *list, struct canvas *canvas, struct rect r)
{
	size_t height = (size_t)list->height, hidden = list->n - height;
	int thumb = int_max((int)(height * height / list->n), 1), at, n, from;
	char text[64];

	/* The bar touches an end only when no rows are hidden there. */
	at = (int)((size_t)(list->height - thumb) * list->top / hidden);
	if (at == 0 && list->top > 0 && thumb < list->height)
		at = 1;
	for (int i = 0; i < list->height; i++)
		canvas_put(canvas, r.x + r.w - 1, r.y + 1 + i, STYLE_DIM,
			   i >= at && i < at + thumb ? 0x2588 : 0x2502);
	n = snprintf(text, sizeof(text), "%zu-%zu/%zu", list->top + 1, list->top + height, list->n);
	from = r.x + r.w - n;
	for (int x = from - 1; x < r.x + r.w; x++)
		if (x < canvas->clip.x || canvas_at(canvas, x, r.y)->cp > ' ')
			return;
	(void)canvas_text(canvas, from, r.y, STYLE_DIM, text);
}

void list_draw(struct list *list, struct canvas *canvas, struct rect rect)
{
	struct rect before = canvas_clip(canvas, rect), whole = rect, line;

	list->height = rect.h - 1;
	size_t height = list->height > 0 ? (size_t)list->height : 1;
	bool is_long = list->height > 0 && list->n > height;
	rect.w -= is_long;
	fit_columns(list, rect.w);
	draw_header(list, canvas, rect_take_top(&rect, 1));
	list->body = rect;
	/* Scroll as little as needed to show the selected row. */
	if (list->selected < list->top)
		list->top = list->selected;
	if (list->selected >= list->top + height)
		list->top = list->selected - height + 1;
	if (list->n <= height)
		list->top = 0;
	else if (list->top > list->n - height)
		list->top = list->n - height;
	if (list->n == 0 && list->all > 0)
		canvas_print(canvas, rect, STYLE_HINT, "no match for %s; Esc shows all",
			     list->filter);
	for (size_t i = list->top; i < list->n; i++) {
		line = rect_take_top(&rect, 1);
		if (line.h == 0)
			break;
		draw_row(list, canvas, line, list->order[i], i == list->selected);
	}
	if (is_long)
		draw_scroll_bar(list, canvas, whole);
	canvas->clip = before;
}

static void sort_list(struct list *list, size_t sort, bool descending)
{
	list->sort = sort;
	list->descending = descending;
	list_fill(list, list->ops, list->user, list->all);
	select_place(list, 0);
}

static void sort_by_column(struct list *list, size_t sort)
{
	sort_list(list, sort, sort > 0 && list->ops->columns[sort - 1].descending);
}

/* Sort by the next column with a visible title; after the last one, restore the default order. */
static void sort_by_next(struct list *list)
{
	const unsigned char *sorts = list->ops->sorts;
	size_t at = list->sort, n = list->ops->n_columns;

	if (sorts != NULL) {
		for (n = at = 0; sorts[n] != 0; n++)
			if (sorts[n] + 1U == list->sort)
				at = n + 1;
	}
	for (; at < n; at++) {
		size_t column = sorts != NULL ? sorts[at] : at;

		if (list->ops->columns[column].title[0] != '\0' &&
		    (list->height == 0 || list->widths[column] > 0)) {
			sort_by_column(list, column + 1);
			return;
		}
	}
	sort_by_column(list, 0);
}

bool list_act(struct list *list, enum action action)
{
	size_t page = list->height > 2 ? (size_t)list->height / 2 : 1;
	size_t last = list->n > 0 ? list->n - 1 : 0, at = list->selected;

	if (action == ACTION_UP)
		at = at > 0 ? at - 1 : 0;
	else if (action == ACTION_DOWN)
		at = at + 1;
	else if (action == ACTION_PAGE_UP)
		at = at > page ? at - page : 0;
	else if (action == ACTION_PAGE_DOWN)
		at = at + page;
	else if (action == ACTION_TOP)
		at = 0;
	else if (action == ACTION_BOTTOM)
		at = last;
	else if (list->ops == NULL || (action != ACTION_SORT && action != ACTION_SORT_REVERSE))
		return false;
	if (action == ACTION_SORT)
		sort_by_next(list);
	else if (action == ACTION_SORT_REVERSE)
		sort_list(list, list->sort, !list->descending);
	else
		select_place(list, at < last ? at : last);
	return true;
}

void list_sort_by(struct list *list, size_t column)
{
	if (list->sort == column + 1)
		sort_list(list, list->sort, !list->descending);
	else
		sort_by_column(list, column < list->ops->n_columns ? column + 1 : 0);
}

void list_cell_text(const struct list *list, size_t column, char text[LIST_CELL_BYTES])
{
	struct list_cell cell = { .text = "" };

	if (list_row(list) != SIZE_MAX)
		format_cell(list, list_row(list), column, &cell);
	(void)snprintf(text, LIST_CELL_BYTES, "%s", cell.text);
}

bool list_click(struct list *list, int x, int y)
{
	size_t place = list->top + (size_t)(y - list->body.y);

	if (!rect_has(&list->body, x, y) || place >= list->n)
		return false;
	select_place(list, place);
	return true;
}

bool list_click_header(struct list *list, int x, int y)
{
	int from = list->body.x;

	if (list->ops == NULL || y != list->body.y - 1)
		return false;
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		int width = list->widths[i];

		if (width > 0 && x >= from && x < from + width) {
			list_sort_by(list, i);
			return true;
		}
		from += width > 0 ? width + 1 : 0;
	}
	return false;
}

bool list_is_ordered(const struct list *list)
{
	return list->sort > 0 || list->descending || list->filter[0] != '\0';
}

const char *list_sorted_by(const struct list *list)
{
	return list->sort > 0 ? list->ops->columns[list->sort - 1].title : NULL;
}

void list_filter(struct list *list, const char *words)
{
	print_into(list->filter, "%s", words);
	if (list->ops == NULL)
		return;
	list_fill(list, list->ops, list->user, list->all);
	if (words[0] != '\0')
		select_place(list, 0);
}

/* Append the cells of a row, or the titles if row is NULL. */
static void export_row(const struct list *list, const size_t *row, bool as_csv, struct buf *out)
{
	const struct list_ops *ops = list->ops;

	for (size_t c = 0; c < ops->n_columns; c++) {
		struct list_cell cell = { .text = "" };
		bool is_number = false;

		buf_append_str(out, !as_csv ? "| " : c > 0 ? "," : "");
		if (row == NULL) {
			print_into(cell.text, "%s", ops->columns[c].title);
		} else if (!as_csv) {
			format_cell(list, *row, c, &cell);
		} else {
			get_cell(list, *row, c, &cell);
			/* A provisional value keeps its ~. */
			is_number = ops->columns[c].kind != FMT_TEXT && cell.text[0] != '~' &&
				    isfinite(cell.number);
			if (is_number)
				print_into(cell.text, "%s", fmt_raw(cell.number).s);
			if (strcmp(cell.text, FMT_ABSENT) == 0)
				continue;
		}
		if (as_csv)
			fmt_add_csv(out, cell.text, !is_number);
		else
			fmt_add_md(out, cell.text);
		buf_append_str(out, as_csv ? "" : " ");
	}
	buf_append_str(out, as_csv ? "\n" : "|\n");
}

void list_export(const struct list *list, bool as_csv, struct buf *out)
{
	export_row(list, NULL, as_csv, out);
	for (size_t c = 0; !as_csv && c < list->ops->n_columns; c++)
		buf_append_str(out, "| --- ");
	buf_append_str(out, as_csv ? "" : "|\n");
	for (size_t i = 0; i < list->n; i++)
		export_row(list, &list->order[i], as_csv, out);
}
