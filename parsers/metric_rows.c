/* SPDX-License-Identifier: MIT */
/* Rows of metrics files, CSV and JSON; called for lines that no rule took. */
#include "parsers/metric_rows.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/json.h"
#include "parsers/linebuf.h"
#include "parsers/meaning.h"
#include "parsers/row_shape.h"

#define MAX_CELLS   256
#define MAX_DEPTH   3
#define PATHS_BYTES ((size_t)PAIRS_MAX * 128)

/* Of one kind of file: its rows so far, and the first until it is one. */
struct rows_seen {
	size_t n; /* 0, 1: that one is held, 2: more */
	double counter;
	struct buf text;
	uint64_t line;
	int64_t wall_ms;
};

/* Of the name of a first column. */
#define MOST_BLANKS 2

/* Rows that differ from one that was read in their numbers alone. */
struct quick {
	struct metric_row row;
	struct row_record record;
	char *paths;		 /* owned: names of the members */
	size_t counter, planned; /* pairs of the shape; PAIRS_MAX: none */
};

/* So many kinds of them are known, and so many in a row no line was like. */
#define MOST_QUICK 8
#define MOST_TRIES 64

struct metric_rows {
	struct quick *quick[MOST_QUICK]; /* owned; the last used is the first */
	unsigned int tries;
	struct buf header; /* of the CSV at hand */
	struct buf framed; /* scratch of as_table */
	struct str *names; /* owned, MAX_CELLS; NULL: no CSV was seen */
	size_t n_names;	   /* 0: no CSV */
	char mark;	   /* between cells: ",", a tab, or " " for blanks */
	size_t counter;	   /* the cell that is */
	struct rows_seen csv, json;
	/* Names of the members of one object. */
	char *paths; /* owned, PATHS_BYTES; NULL: no object was seen */
	size_t n_paths;
};

struct metric_rows *metric_rows_new(void)
{
	struct metric_rows *rows = xcalloc(1, sizeof(*rows));

	buf_init(&rows->header, LINE_MAX_BYTES);
	buf_init(&rows->framed, LINE_MAX_BYTES);
	buf_init(&rows->csv.text, LINE_MAX_BYTES);
	buf_init(&rows->json.text, LINE_MAX_BYTES);
	return rows;
}

static void free_quick(struct quick *quick)
{
	if (quick == NULL)
		return;
	row_shape_free(quick->record.shape);
	free(quick->paths);
	free(quick);
}

/* Forget the rows of a file of that kind. */
static void forget_quick(struct metric_rows *rows, enum metric_file file)
{
	size_t n = 0;

	for (size_t i = 0; i < MOST_QUICK; i++) {
		struct quick *quick = rows->quick[i];

		rows->quick[i] = NULL;
		if (quick != NULL && quick->row.file != file)
			rows->quick[n++] = quick;
		else
			free_quick(quick);
	}
}

void metric_rows_free(struct metric_rows *rows)
{
	if (rows == NULL)
		return;
	metric_rows_reset(rows);
	buf_release(&rows->header);
	buf_release(&rows->framed);
	buf_release(&rows->csv.text);
	buf_release(&rows->json.text);
	free(rows->names);
	free(rows->paths);
	free(rows);
}

void metric_rows_reset(struct metric_rows *rows)
{
	rows->n_names = rows->csv.n = rows->json.n = 0;
	rows->tries = 0;
	forget_quick(rows, METRIC_FILE_CSV);
	forget_quick(rows, METRIC_FILE_JSON);
}

bool metric_rows_is_idle(const struct metric_rows *rows)
{
	return rows->n_names == 0;
}

/* How sure a name is that of the rows' counter; 0: it is none. */
static int counter_rank(struct str name)
{
	const struct pair pair = { .name = name };
	double scale;

	if (str_is_like(name, "step"))
		return 4;
	if (str_eq_cstr(name, "_step"))
		return 3;
	if (meaning_of(&pair, &scale) == METRIC_STEP)
		return 2;
	return str_is_like(name, "epoch");
}

/* Whether a step, epoch, iteration or update can be named in it; this is asked
 * of every line. */
static bool may_name_counter(struct str text)
{
	return str_find(text, "tep") != NULL || str_find(text, "poch") != NULL ||
	       str_find(text, "ter") != NULL || str_find(text, "update") != NULL;
}

static bool is_counter(double value)
{
	return value >= 0 && value < 1e15 && value == floor(value);
}

/*
 * Give the row, or hold it while it is the first.  False where it cannot
 * follow the first one.
 */
static bool rows_see(struct rows_seen *seen, const struct metric_line *line, double counter)
{
	if (seen->n == 1 && counter < seen->counter)
		return false;
	if (seen->n == 0) {
		buf_clear(&seen->text);
		buf_append(&seen->text, line->text.p, line->text.len);
		seen->line = line->line;
		seen->wall_ms = line->wall_ms;
	}
	seen->counter = counter;
	if (seen->n < 2)
		seen->n++;
	return true;
}

static struct metric_line held_line(const struct rows_seen *seen)
{
	return (struct metric_line){ .text = buf_str(&seen->text),
				     .line = seen->line,
				     .wall_ms = seen->wall_ms };
}

static void add_number(struct metric_row *row, struct str name, double value)
{
	if (row->n < PAIRS_MAX && name.len > 0)
		row->pairs[row->n++] =
			(struct pair){ .name = name, .value = value, .total = RUN_ABSENT };
}

static struct metric_row row_of(const struct metric_line *line, enum metric_file file)
{
	return (struct metric_row){ .file = file,
				    .line = line->line,
				    .wall_ms = line->wall_ms,
				    .text = line->text,
				    .step = RUN_ABSENT,
				    .planned = RUN_ABSENT };
}

/* What the row says, into the record, whose pairs are put into `pairs`. */
static void fill_record(struct metric_row *row, struct record *record,
			struct record_pair pairs[PAIRS_MAX])
{
	static char train_loss[] = "train_loss";
	static struct rule_name mean = { train_loss, METRIC_COUNT, 1, false };
	static const struct rule rules[][2] = {
		{ { .format = "csv", .kind = RULE_TRAIN },
		  { .format = "csv", .kind = RULE_TRAIN, .names = &mean, .n_names = 1 } },
		{ { .format = "jsonl", .kind = RULE_TRAIN },
		  { .format = "jsonl", .kind = RULE_TRAIN, .names = &mean, .n_names = 1 } },
	};

	*record = (struct record){ .rule = &rules[row->file][row->is_summary],
				   .present = row->is_epoch ? 0 : (uint64_t)1 << METRIC_STEP };
	record->values[METRIC_STEP] = row->step;
	if (run_has(row->planned)) {
		record->present |= (uint64_t)1 << METRIC_PLANNED;
		record->values[METRIC_PLANNED] = row->planned;
	}
	pair_record_fill(record, row->pairs, row->n, pairs);
	row->record = record;
}

static void give_row(struct metric_row *row, metric_row_fn fn, void *user)
{
	struct record record;
	struct record_pair pairs[PAIRS_MAX];

	fill_record(row, &record, pairs);
	fn(user, row);
}

/* ---- Rows that are like others */

static bool read_line(struct metric_rows *rows, const struct metric_line *line,
		      enum metric_file file, struct metric_row *row);

/* The line with the number of its place for each number. */
static void number_places(const struct row_shape *shape, struct buf *out)
{
	const char *at = shape->text;

	for (size_t i = 0; i < shape->n_slots; i++) {
		const struct pair_slot *slot = &shape->slots[i];

		if (slot->kind != SLOT_PLAIN)
			continue;
		buf_append(out, at, (size_t)(slot->text.p - at));
		buf_appendf(out, "%zu", slot->pair);
		at = slot->text.p + slot->text.len;
	}
	buf_append(out, at, (size_t)(shape->text + shape->len - at));
}

/*
 * Whether each row is of one place, and each metric of one row: then all that
 * the record has follows from the numbers.
 */
static bool link_places(struct quick *quick)
{
	struct row_record *to = &quick->record;
	const struct record *record = &to->record;
	uint64_t known = (uint64_t)1 << METRIC_STEP | (uint64_t)1 << METRIC_PLANNED;
	uint64_t metrics = 0;

	if (quick->row.n != record->n_pairs ||
	    (quick->row.is_epoch && record_has(record, METRIC_STEP)))
		return false;
	for (size_t i = 0; i < record->n_pairs; i++) {
		enum metric metric = to->rows[i].metric;
		double place = to->rows[i].value, scale;

		if (!isfinite(place) || any_of(k, i, str_eq(to->rows[k].name, to->rows[i].name)))
			return false;
		to->from[i] = (size_t)place;
		if (metric == METRIC_COUNT) { /* not two that differ here */
			if (quick->row.is_summary ||
			    meaning_of(&quick->row.pairs[i], &scale) == METRIC_COUNT)
				continue;
			return false;
		}
		if ((metrics >> metric & 1) != 0)
			return false;
		metrics |= (uint64_t)1 << metric;
	}
	return metrics == (record->present & ~known);
}

/* Remember how the row of that line was read. */
static void make_quick(struct metric_rows *rows, const struct metric_line *line,
		       enum metric_file file)
{
	AUTO_BUF text = buf_new(LINE_MAX_BYTES);
	struct metric_line places = *line;
	struct quick *quick;

	if (rows->tries == MOST_TRIES || line->cut)
		return;
	rows->tries++;
	quick = xcalloc(1, sizeof(*quick));
	quick->record.shape = row_shape_of_cells(line->text);
	if (quick->record.shape == NULL) {
		free_quick(quick);
		return;
	}
	number_places(quick->record.shape, &text);
	places.text = buf_str(&text);
	bool good = read_line(rows, &places, file, &quick->row) && run_has(quick->row.step) &&
		    !quick->row.is_summary;
	if (file == METRIC_FILE_JSON) { /* the names lie there */
		quick->paths = rows->paths;
		rows->paths = NULL;
	}
	if (good)
		fill_record(&quick->row, &quick->record.record, quick->record.rows);
	if (!good || !link_places(quick)) {
		free_quick(quick);
		return;
	}
	quick->record.record.memo = &quick->record.memo;
	quick->row.record = &quick->record.record;
	quick->counter = (size_t)quick->row.step;
	quick->planned = run_has(quick->row.planned) ? (size_t)quick->row.planned : PAIRS_MAX;
	free_quick(rows->quick[MOST_QUICK - 1]);
	memmove(&rows->quick[1], &rows->quick[0], (MOST_QUICK - 1) * sizeof(rows->quick[0]));
	rows->quick[0] = quick;
}

/* Whether the line is like that one, and its counter is one. */
static bool is_like(const struct quick *quick, const struct metric_line *line)
{
	const struct row_shape *shape = quick->record.shape;

	return row_shape_read(quick->record.shape, line->text) &&
	       is_counter(shape->pairs[quick->counter].value) &&
	       (quick->row.file == METRIC_FILE_JSON ||
		memchr(line->text.p, '\t', line->text.len) == NULL);
}

bool metric_rows_take_like(struct metric_rows *rows, const struct metric_line *line,
			   metric_row_fn fn, void *user)
{
	struct quick *quick = NULL;
	size_t i = 0;

	for (; i < MOST_QUICK && rows->quick[i] != NULL; i++)
		if (is_like(rows->quick[i], line)) {
			quick = rows->quick[i];
			break;
		}
	if (quick == NULL || line->cut)
		return false;
	memmove(&rows->quick[1], &rows->quick[0], i * sizeof(rows->quick[0]));
	rows->quick[0] = quick;
	rows->tries = 0;
	struct metric_row *row = &quick->row;
	const struct pair *pairs = quick->record.shape->pairs;
	row->line = line->line;
	row->wall_ms = line->wall_ms;
	row->text = line->text;
	row->step = pairs[quick->counter].value;
	row_record_fill(&quick->record);
	if (quick->planned < PAIRS_MAX) {
		row->planned = pairs[quick->planned].value;
		row->record->values[METRIC_PLANNED] = row->planned;
	}
	row->record->values[METRIC_STEP] = row->step;
	if (row->file == METRIC_FILE_CSV)
		rows->csv.counter = row->step;
	else
		rows->json.counter = row->step;
	fn(user, row);
	return true;
}

/* ---- CSV */

/* The next cell, its quotes taken off; false where there is none. */
static bool next_cell(struct str *rest, char mark, struct str *cell)
{
	const char *end;

	if (rest->p == NULL)
		return false;
	if (rest->len == 0 || rest->p[0] != '"') {
		end = rest->len > 0 ? memchr(rest->p, mark, rest->len) : NULL;
		*cell = (struct str){ rest->p, end != NULL ? (size_t)(end - rest->p) : rest->len };
	} else {
		end = rest->p;
		do {
			size_t left = rest->len - (size_t)(end + 1 - rest->p);

			end = memchr(end + 1, '"', left);
			if (end == NULL)
				return false;
			end++;
		} while (end < rest->p + rest->len && *end == '"');
		*cell = (struct str){ rest->p + 1, (size_t)(end - rest->p) - 2 };
		if (end == rest->p + rest->len)
			end = NULL;
		else if (*end != mark)
			return false;
	}
	*cell = str_trim(*cell);
	rest->len = end != NULL ? rest->len - (size_t)(end + 1 - rest->p) : 0;
	rest->p = end != NULL ? end + 1 : NULL;
	return true;
}

/* Texts with so many blanks between them, or more. */
static size_t split_blanks(struct str text, size_t least, struct str cells[MAX_CELLS])
{
	size_t n = 0;

	text = str_trim(text);
	while (text.len > 0 && n < MAX_CELLS) {
		size_t end = 0, blanks = 0;

		while (end + blanks < text.len && blanks < least)
			if (text.p[end + blanks] == ' ') {
				blanks++;
			} else {
				end += blanks + 1;
				blanks = 0;
			}
		if (blanks < least)
			end = text.len;
		cells[n++] = (struct str){ text.p, end };
		text = str_trim(str_skip(text, end));
	}
	return text.len == 0 ? n : 0;
}

/* "| 5 | 2.1 |" without the first and the last mark. */
static struct str without_frame(struct str text)
{
	text = str_trim(text);
	if (text.len < 2 || text.p[0] != '|' || text.p[text.len - 1] != '|')
		return text;
	return (struct str){ text.p + 1, text.len - 2 };
}

/* The cells of a line; 0: it is no row of cells. */
static size_t split_cells(struct str text, char mark, struct str cells[MAX_CELLS])
{
	size_t n = 0;

	if (mark == ' ')
		return split_blanks(text, 1, cells);
	text = mark == '|' ? without_frame(text) : text;
	while (n < MAX_CELLS && next_cell(&text, mark, &cells[n]))
		n++;
	return text.p == NULL ? n : 0;
}

/*
 * Whether a cell can be the name of a column; of "steps" the rows are runs, and
 * a quote within is of source code.
 */
static bool is_column(struct str cell)
{
	double number;

	return !str_to_double(cell, &number) && str_find(cell, "\"") == NULL;
}

static int column_rank(const struct metric_rows *rows, struct str name)
{
	if (str_eq_cstr(name, "#") && str_eq_cstr(rows->names[0], "E"))
		return 2;
	return name.len > 0 && (name.p[name.len - 1] | 0x20) == 's' ? 0 : counter_rank(name);
}

/* A comma behind more words than "Wall time" is of a sentence. */
static bool is_behind_name(struct str text, const char *comma)
{
	const char *at = text.p;
	int blanks = 0;

	while (blanks <= MOST_BLANKS && (at = memchr(at, ' ', (size_t)(comma - at))) != NULL) {
		blanks++;
		at++;
	}
	return blanks <= MOST_BLANKS;
}

/*
 * What stands between the names if the line can be a header, else NUL; this is
 * asked of every line.  Of tables that are only set in columns those with a
 * loss are read.
 */
static char header_mark(struct str text)
{
	const char *comma = memchr(text.p, ',', text.len);
	char mark = '\0';

	if (comma != NULL)
		mark = is_behind_name(text, comma) ? ',' : '\0';
	else if (memchr(text.p, '\t', text.len) != NULL)
		mark = '\t';
	else if ((comma = memchr(text.p, ';', text.len)) != NULL)
		mark = is_behind_name(text, comma) ? ';' : '\0';
	else if (str_starts_with(text, "E    # ")) /* spaCy's epoch and step */
		return ' ';
	else if (str_find(text, "oss") == NULL) /* of "loss" or "Loss" */
		return '\0';
	else if (text.p[0] == '|')
		mark = '|';
	else if (str_find(text, "  ") != NULL)
		mark = ' ';
	return mark != '\0' && may_name_counter(text) ? mark : '\0';
}

/* Take the line as the header of what follows, if it can be one. */
static void begin_csv(struct metric_rows *rows, struct str text)
{
	int best = 0;

	if (rows->n_names > 0)
		forget_quick(rows, METRIC_FILE_CSV);
	rows->n_names = rows->csv.n = 0;
	text = str_trim(text);
	rows->mark = header_mark(text);
	if (rows->mark == '\0')
		return;
	if (rows->names == NULL)
		rows->names = xcalloc(MAX_CELLS, sizeof(*rows->names));
	buf_clear(&rows->header);
	buf_append(&rows->header, text.p, text.len);
	rows->n_names = rows->mark == ' '
				? split_blanks(buf_str(&rows->header), 2, rows->names)
				: split_cells(buf_str(&rows->header), rows->mark, rows->names);
	for (size_t i = 0; i < rows->n_names; i++) {
		int rank = column_rank(rows, rows->names[i]);

		if (!is_column(rows->names[i])) {
			rows->n_names = 0;
			return;
		}
		if (rank > best) {
			rows->counter = i;
			best = rank;
		}
	}
	if (best == 0 || rows->n_names < 2)
		rows->n_names = 0;
}

/* The row that a line with these cells is; false: it cannot be one. */
static bool read_cells(const struct metric_rows *rows, const struct metric_line *line,
		       struct metric_row *row)
{
	struct str cells[MAX_CELLS];
	double value;

	*row = row_of(line, METRIC_FILE_CSV);
	if (split_cells(line->text, rows->mark, cells) != rows->n_names)
		return false;
	if (cells[rows->counter].len > 0 &&
	    (!str_to_double(cells[rows->counter], &row->step) || !is_counter(row->step)))
		return false;
	row->is_epoch = counter_rank(rows->names[rows->counter]) == 1;
	for (size_t i = 0; i < rows->n_names; i++)
		if ((i != rows->counter || row->is_epoch) && str_to_double(cells[i], &value))
			add_number(row, rows->names[i], value);
	return true;
}

/* A line of a table in a frame, U+2500 to U+257F, with "|" for each sign. */
static struct str as_table(struct metric_rows *rows, struct str text)
{
	if (!str_starts_with(text, "\xe2\x94"))
		return text;
	buf_clear(&rows->framed);
	for (size_t i = 0; i < text.len; i++) {
		bool frame =
			text.len - i >= 3 && text.p[i] == '\xe2' && (text.p[i + 1] & 0xfe) == 0x94;

		buf_append_char(&rows->framed, frame ? '|' : text.p[i]);
		i += frame ? 2 : 0;
	}
	return buf_str(&rows->framed);
}

static bool take_csv(struct metric_rows *rows, const struct metric_line *line, metric_row_fn fn,
		     void *user)
{
	bool is_first = rows->csv.n == 1;
	struct metric_row row, first;

	/* "-------  ------" or "|---|---|", below the names. */
	if (rows->csv.n == 0 && rows->n_names > 0 && line->text.len > 0 &&
	    str_has_only(line->text, "-=:+| "))
		return true;
	if (rows->n_names == 0 || !read_cells(rows, line, &row)) {
		begin_csv(rows, line->text);
		return false;
	}
	if (row.n == 0 || !run_has(row.step) || line->cut)
		return true;
	if (!rows_see(&rows->csv, line, row.step)) {
		rows->n_names = 0;
		return false;
	}
	struct metric_line held = held_line(&rows->csv);
	if (is_first && read_cells(rows, &held, &first))
		give_row(&first, fn, user);
	if (rows->csv.n == 2) {
		give_row(&row, fn, user);
		make_quick(rows, line, METRIC_FILE_CSV);
	}
	return true;
}

/* ---- JSON */

/* A number, or what Python writes for one that is not finite. */
static bool json_number(const cJSON *node, double *value)
{
	if (cJSON_IsNumber(node)) {
		*value = node->valuedouble;
		return true;
	}
	return cJSON_IsString(node) &&
	       str_is_among(str_from(node->valuestring), "NaN Infinity -Infinity") &&
	       str_to_double(str_from(node->valuestring), value);
}

/* The name of a member, behind those of the objects that it is in. */
static struct str member_name(struct metric_rows *rows, struct str above, const char *key)
{
	struct str name = { rows->paths + rows->n_paths, above.len };
	size_t n = strlen(key);

	if (above.len + 1 + n > PATHS_BYTES - rows->n_paths)
		return (struct str){ NULL, 0 };
	if (above.len > 0) {
		memcpy(rows->paths + rows->n_paths, above.p, above.len);
		rows->paths[rows->n_paths + name.len++] = '/';
	}
	memcpy(rows->paths + rows->n_paths + name.len, key, n);
	name.len += n;
	rows->n_paths += name.len;
	return name;
}

/* What is found out of an object beside its numbers. */
struct object {
	struct metric_row *row;
	int best; /* rank of the counter */
	bool has_loss;
};

static void take_member(struct object *o, struct str name, double value)
{
	int rank = counter_rank(name);

	if (rank > o->best) {
		o->best = rank;
		o->row->step = value;
	}
	if (str_eq_cstr(name, "total_steps") || str_eq_cstr(name, "max_steps"))
		o->row->planned = value;
	else if (rank < 2)
		add_number(o->row, name, value);
	o->has_loss |= memmem(name.p, name.len, "loss", 4) != NULL;
	o->row->is_summary |= str_eq_cstr(name, "train_runtime");
}

static void walk_object(struct metric_rows *rows, struct object *o, const cJSON *object,
			struct str above, int depth)
{
	double value;

	json_each (node, object) {
		bool is_number = json_number(node, &value);

		if (!is_number && !(cJSON_IsObject(node) && depth < MAX_DEPTH))
			continue;
		if (!is_number &&
		    str_is_among(str_from(node->string), "data fields metrics values")) {
			walk_object(rows, o, node, above, depth + 1);
			continue;
		}
		struct str name = member_name(rows, above, node->string);
		if (name.len > 0 && is_number)
			take_member(o, name, value);
		else if (name.len > 0)
			walk_object(rows, o, node, name, depth + 1);
	}
}

/* An epoch alone, or an iteration, counts the rows only of what has a loss. */
static bool read_object(struct metric_rows *rows, const struct metric_line *line,
			struct metric_row *row)
{
	struct object o = { row, 0, false };
	AUTO_JSON object = json_parse(line->text, JSON_BARE_TEXT, NULL);

	*row = row_of(line, METRIC_FILE_JSON);
	if (object == NULL)
		return false;
	if (rows->paths == NULL)
		rows->paths = xmalloc(PATHS_BYTES);
	rows->n_paths = 0;
	walk_object(rows, &o, object, (struct str){ NULL, 0 }, 1);
	row->is_epoch = o.best == 1;
	return o.best > 0 && is_counter(row->step) && row->n > 0 && (o.best > 2 || o.has_loss);
}

static bool take_json(struct metric_rows *rows, const struct metric_line *line, metric_row_fn fn,
		      void *user)
{
	bool is_first = rows->json.n == 1;
	struct metric_row row;

	if (!read_object(rows, line, &row))
		return false;
	if (!rows_see(&rows->json, line, row.step)) {
		rows->json.n = 0;
		return rows_see(&rows->json, line, row.step);
	}
	if (rows->json.n < 2)
		return true;
	struct metric_line held = held_line(&rows->json);
	if (is_first && read_object(rows, &held, &row))
		give_row(&row, fn, user);
	if (is_first)
		(void)read_object(rows, line, &row);
	give_row(&row, fn, user);
	make_quick(rows, line, METRIC_FILE_JSON);
	return true;
}

static bool read_line(struct metric_rows *rows, const struct metric_line *line,
		      enum metric_file file, struct metric_row *row)
{
	return file == METRIC_FILE_CSV ? read_cells(rows, line, row) : read_object(rows, line, row);
}

bool metric_rows_take(struct metric_rows *rows, const struct metric_line *line, metric_row_fn fn,
		      void *user)
{
	struct str text = str_trim(line->text);

	if (text.len == 0)
		return false;
	if (text.p[0] == '{' && text.p[text.len - 1] == '}')
		return may_name_counter(text) && take_json(rows, line, fn, user);
	struct metric_line row = *line;

	row.text = as_table(rows, text);
	return take_csv(rows, text.p == row.text.p ? line : &row, fn, user);
}
