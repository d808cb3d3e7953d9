/* SPDX-License-Identifier: MIT */
/* Read the rows of metrics files, CSV and JSON, from lines that no rule matched. */
#include "parsers/metric_rows.h"

#include "parsers/json.h"
#include "parsers/linebuf.h"
#include "parsers/meaning.h"

#define MAX_CELLS   256
#define MAX_DEPTH   3
#define PATHS_BYTES ((size_t)PAIRS_MAX * 128)

enum metric_file { METRIC_FILE_CSV, METRIC_FILE_JSON };

/* The number of rows of CSV or JSON; the first row is held back until a second row follows. */
struct rows_seen {
	size_t n; /* number of rows: 0; 1, held back; 2 or more */
	double counter;
	struct log_line first;
	struct buf text; /* of first */
};

/* Most blanks in the name of the first column. */
#define MOST_BLANKS 2

/* A row that was read before: rows that differ only in their numbers are read quickly with it. */
struct cached_row {
	struct known_row row;
	enum metric_file file;
	size_t planned; /* index of the pair that has the planned steps; PAIRS_MAX: none */
};

/* Maximum of cached rows; caching stops after MOST_TRIES new rows that no later line matched. */
#define MOST_CACHED 8
#define MOST_TRIES  64

struct metric_rows {
	struct cached_row *cached[MOST_CACHED]; /* owned; the last used row comes first */
	unsigned int tries;
	struct buf header;	  /* of the current CSV table */
	bool has_new_header;	  /* no row was read below the header yet */
	struct buf scores;	  /* header of the scores of its last epoch; empty: none */
	struct buf framed;	  /* buffer for unframe */
	struct str *names;	  /* owned, MAX_CELLS; NULL: no CSV yet */
	size_t n_names;		  /* 0: not in a table */
	char separator;		  /* between cells: ",", ";", "|", a tab, or " " for blanks */
	size_t counter;		  /* the cell with the counter */
	struct rows_seen seen[2]; /* by enum metric_file */
	/* Names of the members of the current object. */
	char *paths; /* owned, PATHS_BYTES; NULL: no object yet */
	size_t n_paths;
};

struct metric_rows *metric_rows_new(void)
{
	struct metric_rows *rows = xcalloc(1, sizeof(*rows));

	buf_init(&rows->header, LINE_MAX_BYTES);
	buf_init(&rows->scores, LINE_MAX_BYTES);
	buf_init(&rows->framed, LINE_MAX_BYTES);
	buf_init(&rows->seen[METRIC_FILE_CSV].text, LINE_MAX_BYTES);
	buf_init(&rows->seen[METRIC_FILE_JSON].text, LINE_MAX_BYTES);
	return rows;
}

static void free_cached(struct cached_row *cached)
{
	if (cached != NULL)
		known_row_release(&cached->row);
	free(cached);
}

static void forget_cached(struct metric_rows *rows)
{
	array_each (cached, rows->cached, MOST_CACHED) {
		free_cached(*cached);
		*cached = NULL;
	}
}

void metric_rows_free(struct metric_rows *rows)
{
	if (rows == NULL)
		return;
	metric_rows_reset(rows);
	buf_release(&rows->header);
	buf_release(&rows->scores);
	buf_release(&rows->framed);
	buf_release(&rows->seen[METRIC_FILE_CSV].text);
	buf_release(&rows->seen[METRIC_FILE_JSON].text);
	free(rows->names);
	free(rows->paths);
	free(rows);
}

void metric_rows_reset(struct metric_rows *rows)
{
	rows->n_names = rows->seen[METRIC_FILE_CSV].n = rows->seen[METRIC_FILE_JSON].n = 0;
	buf_clear(&rows->scores);
	rows->tries = 0;
	forget_cached(rows);
}

bool metric_rows_is_idle(const struct metric_rows *rows)
{
	return rows->n_names == 0;
}

/* Rate how likely a name is the counter of the rows; 0: it is not. */
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

/* May the text name a step, epoch, iteration or update? Called for every line. */
static bool may_name_counter(struct str text)
{
	return str_find(text, "tep") != NULL || str_find(text, "poch") != NULL ||
	       str_find(text, "ter") != NULL || str_find(text, "update") != NULL;
}

static bool is_counter(double value)
{
	return value >= 0 && value < 1e15 && value == floor(value);
}

/* Count a row, and hold the first one back. False if the row cannot follow the first one. */
static bool accept_row(struct rows_seen *seen, const struct log_line *line, double counter)
{
	if (seen->n == 1 && counter < seen->counter)
		return false;
	if (seen->n == 0) {
		buf_clear(&seen->text);
		buf_append(&seen->text, line->text.p, line->text.len);
		seen->first = *line;
		seen->first.text = buf_str(&seen->text);
	}
	seen->counter = counter;
	if (seen->n < 2)
		seen->n++;
	return true;
}

static void add_number(struct row *row, struct str name, double value)
{
	if (row->n < PAIRS_MAX && name.len > 0)
		row->pairs[row->n++] =
			(struct pair){ .name = name, .value = value, .total = RUN_ABSENT };
}

/* Fill the record from the row; `pairs` stores the pairs of the record. */
static bool fill_record(const struct row *row, enum metric_file file, struct record *record,
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

	*record = (struct record){ .rule = &rules[file][row->line.is_summary] };
	record_set(record, METRIC_STEP, row->step);
	if (row->kind == COUNTS_EPOCHS)
		record->present = 0;
	if (run_has(row->planned))
		record_set(record, METRIC_PLANNED, row->planned);
	return row_fill(record, row->pairs, row->n, pairs);
}

static void report_row(const struct row *row, enum metric_file file, row_fn fn, void *user)
{
	struct record record;
	struct record_pair pairs[PAIRS_MAX];

	(void)fill_record(row, file, &record, pairs);
	fn(user, &record, &row->line);
}

/* Prefix a name with `above`: the names of the objects that contain it, or the split of its row. */
static struct str join_name(struct metric_rows *rows, struct str above, struct str key)
{
	if (rows->paths == NULL)
		rows->paths = xmalloc(PATHS_BYTES);
	struct str name = { rows->paths + rows->n_paths, above.len };
	if (above.len + 1 + key.len > PATHS_BYTES - rows->n_paths)
		return (struct str){ NULL, 0 };
	if (above.len > 0) {
		memcpy(rows->paths + rows->n_paths, above.p, above.len);
		rows->paths[rows->n_paths + name.len++] = '/';
	}
	memcpy(rows->paths + rows->n_paths + name.len, key.p, key.len);
	name.len += key.len;
	rows->n_paths += name.len;
	return name;
}

/* ---- CSV */

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

/* Split a line into cells; 0 if it has too many cells or an open quote. */
static size_t split_cells(struct str text, char separator, struct str cells[MAX_CELLS])
{
	char end = separator;
	size_t n = 0;

	if (separator == ' ')
		return split_blanks(text, 1, cells);
	if (separator == '|') { /* "| 5 | 2.1 |" */
		text = str_trim(text);
		if (text.len >= 2 && text.p[0] == '|' && text.p[text.len - 1] == '|')
			text = (struct str){ text.p + 1, text.len - 2 };
	}
	while (end == separator && n < MAX_CELLS &&
	       str_next_cell(&text, separator, &cells[n], &end))
		n++;
	return end != separator ? n : 0;
}

/* Does the comma end a name, such as "Wall time"? After more words it is part of a sentence. */
static bool is_after_name(struct str text, const char *comma)
{
	const char *at = text.p;
	int blanks = 0;

	while (blanks <= MOST_BLANKS && (at = memchr(at, ' ', (size_t)(comma - at))) != NULL) {
		blanks++;
		at++;
	}
	return blanks <= MOST_BLANKS;
}

/* Return the separator if the line may be a header, else NUL; called for every line. Tables in
 * columns are read only if they have a loss. */
static char find_separator(struct str text)
{
	const char *comma = memchr(text.p, ',', text.len);
	char separator = '\0';

	if (comma != NULL)
		separator = is_after_name(text, comma) ? ',' : '\0';
	else if (memchr(text.p, '\t', text.len) != NULL)
		separator = '\t';
	else if ((comma = memchr(text.p, ';', text.len)) != NULL)
		separator = is_after_name(text, comma) ? ';' : '\0';
	else if (str_starts_with(text, "E    # ")) /* spaCy's epoch and step */
		return ' ';
	else if (str_find(text, "oss") == NULL) /* "loss" or "Loss" */
		return '\0';
	else if (text.p[0] == '|')
		separator = '|';
	else if (str_find(text, "  ") != NULL)
		separator = ' ';
	return separator != '\0' && may_name_counter(text) ? separator : '\0';
}

/* Cut the bar after the last cell: "640: 100%|####| 10/10 [00:01<00:00]", "mAP50): 9%|..". */
static struct str cut_bar(struct str text)
{
	const char *colon = str_find(text, ": ");
	size_t n = colon != NULL ? (size_t)(colon - text.p) : text.len, at = n + 1;

	while (at < text.len && (text.p[at] == ' ' || str_is_digit(text.p[at])))
		at++;
	if (at >= text.len || text.p[at] != '%')
		return text;
	return (struct str){ text.p, n - (n > 0 && text.p[n - 1] == ')') };
}

/* Read the line as a header, if it can be one. Ultralytics repeats it before each row. */
static void read_header(struct metric_rows *rows, struct str text)
{
	bool has_figure = false;
	double number;
	int best = 0;

	if (rows->n_names > 0)
		forget_cached(rows);
	text = str_trim(text);
	rows->n_names = 0;
	rows->separator = find_separator(text);
	if (rows->separator == '\0')
		return;
	if (!str_eq(text, buf_str(&rows->header)))
		rows->seen[METRIC_FILE_CSV].n = 0;
	if (rows->names == NULL)
		rows->names = xcalloc(MAX_CELLS, sizeof(*rows->names));
	rows->has_new_header = true;
	buf_clear(&rows->header);
	buf_append(&rows->header, text.p, text.len);
	rows->n_names = rows->separator == ' '
				? split_blanks(buf_str(&rows->header), 2, rows->names)
				: split_cells(buf_str(&rows->header), rows->separator, rows->names);
	for (size_t i = 0; i < rows->n_names; i++) {
		struct str name = rows->names[i];
		bool is_plural = name.len > 0 && (name.p[name.len - 1] | 0x20) == 's';
		bool is_spacy = str_eq_cstr(name, "#") && str_eq_cstr(rows->names[0], "E");
		/* A table with a column "steps" has one row per run. */
		int rank = is_spacy ? 2 : is_plural ? 0 : counter_rank(name);

		/* A name that contains a quote is source code. */
		if (str_to_double(name, &number) || str_find(name, "\"") != NULL) {
			rows->n_names = 0;
			return;
		}
		if (rank > best) {
			rows->counter = i;
			best = rank;
		}
		has_figure |= name.len > 0 && counter_rank(name) == 0 && !meaning_is_setting(name);
	}
	if (best == 0 || !has_figure)
		rows->n_names = 0;
}

/* Read the cells of a line as a row; false if it cannot be one. */
static bool read_cells(struct metric_rows *rows, const struct log_line *line, struct row *row)
{
	struct str cells[MAX_CELLS], split = { NULL, 0 };
	double value;

	*row = (struct row){ .line = *line, .step = RUN_ABSENT, .planned = RUN_ABSENT };
	struct str text = rows->separator == ' ' ? cut_bar(line->text) : line->text;
	if (split_cells(text, rows->separator, cells) != rows->n_names)
		return false;
	/* "| small | 1000 | 3.28 |" is a row of a table of runs */
	if (rows->separator == '|' && rows->counter > 0 && cells[0].len > 0 &&
	    !str_is_digit(cells[0].p[0]))
		return false;
	struct str *count = &cells[rows->counter], total = *count;
	if (counter_rank(rows->names[rows->counter]) == 1) {
		row->kind = COUNTS_EPOCHS;
		(void)str_next(&total, '/', count); /* "1/100" */
	}
	if (count->len > 0 && (!str_to_double(*count, &row->step) || !is_counter(row->step)))
		return false;
	for (size_t i = 0; i < rows->n_names; i++)
		if (pairs_is_split(rows->names[i], cells[i]))
			split = cells[i];
	for (size_t i = 0; i < rows->n_names; i++) {
		struct str name = rows->names[i];

		if ((i == rows->counter && row->kind != COUNTS_EPOCHS) ||
		    !str_to_double(cells[i], &value))
			continue;
		if (split.len > 0 && i != rows->counter)
			name = join_name(rows, split, name);
		add_number(row, name, value);
	}
	return true;
}

/* Read the scores of the last epoch, below a header without a counter: "all 4 0.5 0.9 0.6". */
static bool read_scores(struct metric_rows *rows, const struct log_line *line, struct row *row)
{
	struct str names[MAX_CELLS], cells[MAX_CELLS];
	size_t n = split_blanks(buf_str(&rows->scores), 1, names);
	double value;

	buf_clear(&rows->scores);
	if (n == 0 || split_blanks(line->text, 1, cells) != n || !str_eq_cstr(cells[0], "all"))
		return false;
	*row = (struct row){ .line = *line, .kind = COUNTS_EPOCHS, .planned = RUN_ABSENT };
	row->step = rows->seen[METRIC_FILE_CSV].counter;
	for (size_t i = 1; i < n; i++)
		if (str_to_double(cells[i], &value))
			add_number(row, names[i], value);
	return true;
}

/* Return a line of a framed table with "|" in place of each of U+2500 to U+257F. */
static struct str unframe(struct metric_rows *rows, struct str text)
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

/* ---- JSON */

/* The state of reading one object. */
struct object_reader {
	struct row *row;
	int best; /* rank of the best counter */
	bool has_loss, has_figure;
	struct str split; /* of an evaluation; len 0: none */
};

static void add_member(struct object_reader *o, struct str name, double value)
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
	o->has_figure |= rank == 0 && !meaning_is_setting(name);
	o->row->line.is_summary |= str_eq_cstr(name, "train_runtime");
}

static void read_members(struct metric_rows *rows, struct object_reader *o, const cJSON *object,
			 struct str above, int depth)
{
	json_each (node, object) {
		double value = cJSON_GetNumberValue(node);
		/* or a text that json_parse() returns for a number that is not finite */
		bool is_number =
			cJSON_IsNumber(node) ||
			(cJSON_IsString(node) &&
			 str_is_among(str_from(node->valuestring), "NaN Infinity -Infinity") &&
			 str_to_double(str_from(node->valuestring), &value));

		if (!is_number && !(cJSON_IsObject(node) && depth < MAX_DEPTH))
			continue;
		if (!is_number &&
		    str_is_among(str_from(node->string), "data fields metrics values")) {
			read_members(rows, o, node, above, depth + 1);
			continue;
		}
		struct str key = str_from(node->string);
		bool is_top = above.p == o->split.p && counter_rank(key) > 0;
		struct str name = join_name(rows, is_top ? STR_LIT("") : above, key);
		if (name.len > 0 && is_number)
			add_member(o, name, value);
		else if (name.len > 0)
			read_members(rows, o, node, name, depth + 1);
	}
}

/* Read an object as a row. If its only counter is an epoch or an iteration, it must have a loss. */
static bool read_object(struct metric_rows *rows, const struct log_line *line, struct row *row)
{
	AUTO_JSON object = json_parse(line->text, JSON_BARE_TEXT, NULL);

	*row = (struct row){ .line = *line, .step = RUN_ABSENT, .planned = RUN_ABSENT };
	if (object == NULL)
		return false;
	struct object_reader o = { row, 0, false, false, { NULL, 0 } };
	rows->n_paths = 0;
	json_each (node, object)
		if (cJSON_IsString(node) &&
		    pairs_is_split(str_from(node->string), str_from(node->valuestring)))
			o.split = str_from(node->valuestring);
	read_members(rows, &o, object, o.split, 1);
	if (o.best == 1)
		row->kind = COUNTS_EPOCHS;
	if (!o.has_figure && rows->seen[METRIC_FILE_JSON].n < 2) /* an entry of a schedule */
		return false;
	return o.best > 0 && is_counter(row->step) && row->n > 0 && (o.best > 2 || o.has_loss);
}

/* ---- Rows that differ only in their numbers */

/* Cache the row of a line. To learn where each number is stored, read the line again with the index
 * of each pair in place of its number. */
static void cache_row(struct metric_rows *rows, const struct log_line *line, enum metric_file file)
{
	AUTO_BUF text = buf_new(LINE_MAX_BYTES);
	struct row_shape *shape;
	struct row row = { .line = *line };

	if (rows->tries == MOST_TRIES || line->cut)
		return;
	rows->tries++;
	shape = row_shape_new(line->text, true);
	if (shape == NULL)
		return;
	struct cached_row *cached = xcalloc(1, sizeof(*cached));
	struct known_row *known = &cached->row;
	known->shape = shape;
	cached->file = file;
	const char *at = shape->text;
	array_each (slot, shape->slots, shape->n_slots) {
		if (slot->kind != SLOT_PLAIN)
			continue;
		buf_append(&text, at, (size_t)(slot->text.p - at));
		buf_appendf(&text, "%zu", slot->pair);
		at = slot->text.p + slot->text.len;
	}
	buf_append(&text, at, (size_t)(shape->text + shape->len - at));
	row.line.text = buf_str(&text);
	const struct log_line indexes = row.line;
	bool good = file == METRIC_FILE_CSV ? read_cells(rows, &indexes, &row)
					    : read_object(rows, &indexes, &row);
	known->names = rows->paths; /* stores the names of the pairs */
	rows->paths = NULL;
	good = good && run_has(row.step) && !row.line.is_summary &&
	       fill_record(&row, file, &known->record, known->rows) && known_row_link(known) &&
	       row.n == known->record.n_pairs &&
	       !(row.kind == COUNTS_EPOCHS && record_has(&known->record, METRIC_STEP));
	if (!good) {
		free_cached(cached);
		return;
	}
	known->counter = (size_t)row.step;
	cached->planned = run_has(row.planned) ? (size_t)row.planned : PAIRS_MAX;
	free_cached(rows->cached[MOST_CACHED - 1]);
	memmove(&rows->cached[1], &rows->cached[0], (MOST_CACHED - 1) * sizeof(rows->cached[0]));
	rows->cached[0] = cached;
}

bool metric_rows_read_similar(struct metric_rows *rows, const struct log_line *line, row_fn fn,
			      void *user)
{
	struct cached_row *cached;
	size_t i = 0;

	for (;; i++) {
		cached = i < MOST_CACHED ? rows->cached[i] : NULL;
		if (cached == NULL || line->cut)
			return false;
		if (row_shape_read(cached->row.shape, line->text) &&
		    is_counter(cached->row.shape->pairs[cached->row.counter].value) &&
		    (cached->file == METRIC_FILE_JSON ||
		     memchr(line->text.p, '\t', line->text.len) == NULL))
			break;
	}
	memmove(&rows->cached[1], &rows->cached[0], i * sizeof(rows->cached[0]));
	rows->cached[0] = cached;
	rows->tries = 0;
	struct record *record = &cached->row.record;
	const struct pair *pairs = cached->row.shape->pairs;
	known_row_fill(&cached->row);
	if (cached->planned < PAIRS_MAX)
		record->values[METRIC_PLANNED] = pairs[cached->planned].value;
	record->values[METRIC_STEP] = pairs[cached->row.counter].value;
	rows->seen[cached->file].counter = record->values[METRIC_STEP];
	fn(user, record, line);
	return true;
}

/* ---- Lines */

static bool read_csv_line(struct metric_rows *rows, const struct log_line *line, row_fn fn,
			  void *user)
{
	struct rows_seen *seen = &rows->seen[METRIC_FILE_CSV];
	bool is_second = seen->n == 1, is_open = rows->n_names > 0;
	struct row row, first;

	rows->n_paths = 0;
	/* "-------  ------" or "|---|---|" below the header */
	if (seen->n == 0 && is_open && line->text.len > 0 && str_has_only(line->text, "-=:+| "))
		return true;
	/* Ultralytics: "Class  Images  Box(P  R  mAP50): 100%|####| 1/1 [..]" after an epoch */
	if (is_open && seen->n > 0 && str_starts_with(str_trim(line->text), "Class ")) {
		struct str header = cut_bar(line->text);

		buf_clear(&rows->scores);
		buf_append(&rows->scores, header.p, header.len);
		return false;
	}
	bool is_scores = rows->scores.len > 0 && read_scores(rows, line, &row);
	if (!is_scores && (!is_open || !read_cells(rows, line, &row))) {
		read_header(rows, line->text);
		return false;
	}
	if (row.n == 0 || !run_has(row.step) || line->cut)
		return true;
	/* A run may have ended with its first row: a lower counter starts the next run. */
	if (rows->has_new_header && seen->n == 1 && row.step < seen->counter)
		seen->n = 0;
	rows->has_new_header = false;
	if (!accept_row(seen, line, row.step)) {
		rows->n_names = 0;
		return false;
	}
	if (is_second && seen->n == 2 && read_cells(rows, &seen->first, &first))
		report_row(&first, METRIC_FILE_CSV, fn, user);
	if (seen->n == 2) {
		report_row(&row, METRIC_FILE_CSV, fn, user);
		if (!is_scores)
			cache_row(rows, line, METRIC_FILE_CSV);
	}
	if (is_scores) { /* the next row has its own header */
		rows->n_names = 0;
		forget_cached(rows);
	}
	return true;
}

static bool read_json_line(struct metric_rows *rows, const struct log_line *line, row_fn fn,
			   void *user)
{
	struct rows_seen *seen = &rows->seen[METRIC_FILE_JSON];
	bool is_second = seen->n == 1;
	struct row row;

	if (!read_object(rows, line, &row))
		return false;
	if (!accept_row(seen, line, row.step)) {
		seen->n = 0;
		return accept_row(seen, line, row.step);
	}
	if (seen->n < 2)
		return true;
	if (is_second && read_object(rows, &seen->first, &row))
		report_row(&row, METRIC_FILE_JSON, fn, user);
	if (is_second)
		(void)read_object(rows, line, &row);
	report_row(&row, METRIC_FILE_JSON, fn, user);
	cache_row(rows, line, METRIC_FILE_JSON);
	return true;
}

bool metric_rows_read(struct metric_rows *rows, const struct log_line *line, row_fn fn, void *user)
{
	struct str text = str_trim(line->text);

	if (text.len == 0)
		return false;
	if (text.p[0] == '{' && text.p[text.len - 1] == '}')
		return may_name_counter(text) && read_json_line(rows, line, fn, user);
	struct str plain = unframe(rows, text);
	if (plain.p == text.p)
		return read_csv_line(rows, line, fn, user);
	struct log_line row = *line;
	row.text = plain;
	return read_csv_line(rows, &row, fn, user);
}
