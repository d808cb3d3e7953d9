/* SPDX-License-Identifier: MIT */
/* Runs out of tables (JSON, CSV); called by the leaderboard's command. */
#include "config.h"

#include "parsers/run_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "parsers/json.h"

#define MAX_COLUMNS 256
#define MAX_UNKNOWN 64
#define CELL_MAX    65536U

/* What a column or a key holds. */
struct field {
	char *name; /* owned */
	bool known;
	bool is_number;
	size_t offset; /* of the number in struct run */
};

/* One cell: a text, or a number that came as one. */
struct cell {
	const char *text; /* NULL: absent, or a number */
	double number;
};

struct reader {
	const char *name;
	size_t line;
	const struct run_rows_cb *cb;
	void *user;
	struct err *err;
	cJSON *keys;   /* owned; those of a run, as an object */
	bool is_other; /* this row is of no run: a group, a score */
	char *unknown[MAX_UNKNOWN]; /* owned; keys that were told of */
	size_t n_unknown;
	int n_rows;
};

static const struct number_key {
	const char *name;
	size_t offset;
} number_keys[] = {
#define X(member, decimals) { #member, offsetof(struct run, member) },
	RUN_NUMBER_LIST(X)
#undef X
};

/* Keys of a row that are of no run, and what is under way of one. */
static const char *const other_keys[] = { "file",	   "group", "sha256",
					  "kind",	   "//",
#define X(member) #member,
					  RUN_LIVE_LIST(X)
#undef X
};

static const char *const classes[] = { "roundtrip", "sliding", "ttt", "preq",
				       "final" };

static int
fail(struct reader *r, const char *key, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%s:%zu: %s: %s", r->name, r->line,
		       key, what);
}

/* Tell of a key that no run has, once. */
static void
tell_unknown(struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->n_unknown; i++)
		if (strcmp(r->unknown[i], key) == 0)
			return;
	if (r->n_unknown == MAX_UNKNOWN)
		return;
	r->unknown[r->n_unknown++] = xstrdup(key);
	if (r->cb->on_unknown != NULL)
		r->cb->on_unknown(r->user, key);
}

static struct field
field_of(const struct reader *r, const char *name)
{
	struct field field = { .name = xstrdup(name) };

	field.known = json_get(r->keys, name) != NULL;
	for (size_t i = 0; i < sizeof(number_keys) / sizeof(number_keys[0]);
	     i++) {
		if (strcmp(number_keys[i].name, name) != 0)
			continue;
		field.is_number = true;
		field.offset = number_keys[i].offset;
	}
	for (size_t i = 0; i < sizeof(other_keys) / sizeof(other_keys[0]); i++)
		field.known |= strcmp(other_keys[i], name) == 0;
	return field;
}

static bool
is_bpb(const char *name)
{
	static const char suffix[] = "_bpb";
	size_t n = strlen(name), k = sizeof(suffix) - 1;

	return n > k && strcmp(name + n - k, suffix) == 0;
}

static int
set_number(struct reader *r, struct run *run, const struct field *field,
	   const struct cell *cell)
{
	double value = cell->number;

	if (cell->text != NULL &&
	    !str_to_double(str_trim(str_from(cell->text)), &value))
		return fail(r, field->name, "not a number");
	if (!isfinite(value))
		return fail(r, field->name, "not a finite number");
	if (value <= 0 && is_bpb(field->name))
		return fail(r, field->name,
			    "not above 0 (a cell without a value is empty)");
	memcpy((char *)run + field->offset, &value, sizeof(value));
	return 0;
}

static int
set_status(struct reader *r, struct run *run, const char *text)
{
	for (int i = RUN_RUNNING; i <= RUN_UNKNOWN; i++) {
		if (strcmp(run_status_name((enum run_status)i), text) == 0) {
			run->status = (enum run_status)i;
			return 0;
		}
	}
	return fail(r, "status", "not a status of a run");
}

/* One cell into the row; what is not kept of a row is let pass. */
static int
set_cell(struct reader *r, struct run_row *row, const struct field *field,
	 const struct cell *cell)
{
	if (!field->known) {
		tell_unknown(r, field->name);
		return 0;
	}
	if (field->is_number)
		return set_number(r, &row->run, field, cell);
	if (strcmp(field->name, "run_index") == 0) {
		double index = cell->number;

		if ((cell->text != NULL &&
		     !str_to_double(str_from(cell->text), &index)) ||
		    !(index >= 0 && index < 1e9))
			return fail(r, "run_index", "not a number from 0");
		row->run.run_index = (unsigned int)index;
	}
	if (cell->text == NULL)
		return 0;
	if (strcmp(field->name, "kind") == 0)
		r->is_other = strcmp(cell->text, "run") != 0;
	else if (strcmp(field->name, "file") == 0)
		row->file = cell->text;
	else if (strcmp(field->name, "group") == 0)
		row->group = cell->text;
	else if (strcmp(field->name, "sha256") == 0)
		row->sha256 = cell->text;
	else if (strcmp(field->name, "status") == 0)
		return set_status(r, &row->run, cell->text);
	else if (strcmp(field->name, "final_stage") == 0) {
		free(row->run.final_stage);
		row->run.final_stage = xstrdup(cell->text);
	}
	for (size_t i = 0; strcmp(field->name, "final_class") == 0 &&
			   i < sizeof(classes) / sizeof(classes[0]);
	     i++)
		if (strcmp(classes[i], cell->text) == 0)
			row->run.final_class = classes[i];
	return 0;
}

static void
row_init(struct run_row *row)
{
	*row = (struct run_row){ 0 };
	run_init(&row->run);
	row->run.status = RUN_FINISHED;
}

/* Derive what a table often leaves out, and give the row. */
static void
row_give(struct reader *r, struct run_row *row)
{
	struct run *run = &row->run;
	bool is_other = r->is_other;

	r->is_other = false;
	if (is_other)
		return;
	if (!run_has(run->ms_per_step) && run->steps > 0)
		run->ms_per_step = run->train_ms / run->steps;
	r->n_rows++;
	r->cb->on_row(r->user, row);
}

/* A status that is there and empty: nobody knows how the run ended. */
static void
set_absent(struct run_row *row, const char *key)
{
	if (strcmp(key, "status") == 0)
		row->run.status = RUN_UNKNOWN;
}

static int
read_object(struct reader *r, const cJSON *object)
{
	struct run_row row;
	const cJSON *item;
	int status = 0;

	if (!cJSON_IsObject(object))
		return err_set(r->err, ERR_PARSE,
			       "%s:%zu: a row must be an object", r->name,
			       r->line);
	row_init(&row);
	cJSON_ArrayForEach(item, object)
	{
		struct field field;
		struct cell cell = { NULL, item->valuedouble };

		if (cJSON_IsNull(item)) {
			set_absent(&row, item->string);
			continue;
		}
		field = field_of(r, item->string);
		if (cJSON_IsString(item))
			cell.text = item->valuestring;
		else if (field.is_number && !cJSON_IsNumber(item))
			status = fail(r, field.name, "not a number");
		if (status == 0)
			status = set_cell(r, &row, &field, &cell);
		free(field.name);
		if (status != 0)
			break;
	}
	if (status == 0)
		row_give(r, &row);
	run_release(&row.run);
	return status;
}

/* Keys of a seed's object, and the number of a run that each is. */
static const struct {
	const char *name;
	size_t offset;
} seed_keys[] = {
	{ "seed", offsetof(struct run, seed) },
	{ "val_bpb", offsetof(struct run, final_bpb) },
	{ "final_bpb", offsetof(struct run, final_bpb) },
	{ "val_loss", offsetof(struct run, final_val_loss) },
	{ "final_val_loss", offsetof(struct run, final_val_loss) },
	{ "steps", offsetof(struct run, steps) },
	{ "train_ms", offsetof(struct run, train_ms) },
	{ "ms_per_step", offsetof(struct run, ms_per_step) },
	{ "prequant_bpb", offsetof(struct run, prequant_bpb) },
	{ "quant_bpb", offsetof(struct run, quant_bpb) },
	{ "eval_s", offsetof(struct run, eval_s) },
	{ "artifact_bytes", offsetof(struct run, artifact_bytes) },
	{ "bytes_total", offsetof(struct run, artifact_bytes) },
	{ "code_bytes", offsetof(struct run, code_bytes) },
	{ "bytes_code", offsetof(struct run, code_bytes) },
};

/* Is it the submission.json of a record? */
static bool
is_submission(const cJSON *root)
{
	const cJSON *seeds = json_get(root, "seed_results");

	return cJSON_IsObject(root) &&
	       (cJSON_IsObject(seeds) || cJSON_IsArray(seeds) ||
		cJSON_IsArray(json_get(root, "bpb")));
}

/* A template's 0 stands for a value that is not there; a seed may be 0. */
static bool
is_told(const cJSON *item, size_t offset)
{
	return cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
	       (item->valuedouble > 0 || offset == offsetof(struct run, seed));
}

/* One seed: its name in the file is its seed unless it tells another. */
static int
read_seed(const cJSON *root, const cJSON *seed, const struct run_rows_cb *cb,
	  void *user, struct err *err)
{
	struct run_row row;

	if (!cJSON_IsObject(seed))
		return err_set(err, ERR_PARSE,
			       "seed_results: expected an object a seed");
	row_init(&row);
	row.group = json_get_string(root, "name", NULL);
	if (seed->string != NULL)
		(void)str_to_double(str_from(seed->string), &row.run.seed);
	for (size_t i = 0; i < sizeof(seed_keys) / sizeof(seed_keys[0]); i++) {
		const cJSON *item = json_get(seed, seed_keys[i].name);

		if (is_told(item, seed_keys[i].offset))
			memcpy((char *)&row.run + seed_keys[i].offset,
			       &item->valuedouble, sizeof(double));
	}
	if (!isfinite(row.run.seed))
		row.run.seed = RUN_ABSENT;
	cb->on_row(user, &row);
	run_release(&row.run);
	return 0;
}

static int
read_values(const cJSON *root, const cJSON *values,
	    const struct run_rows_cb *cb, void *user, struct err *err)
{
	const cJSON *value;
	int n = 0;

	cJSON_ArrayForEach(value, values)
	{
		struct run_row row;

		if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble) ||
		    value->valuedouble <= 0)
			return err_set(err, ERR_PARSE,
				       "bpb[%d]: expected a number above 0", n);
		row_init(&row);
		row.group = json_get_string(root, "name", NULL);
		row.run.final_bpb = value->valuedouble;
		cb->on_row(user, &row);
		run_release(&row.run);
		n++;
	}
	return n;
}

/* Give a finished run for each seed; how many, or -1 with err. */
static int
read_submission(const cJSON *root, const struct run_rows_cb *cb, void *user,
		struct err *err)
{
	const cJSON *seeds = json_get(root, "seed_results"), *seed;
	int n = 0;

	if (!cJSON_IsObject(seeds) && !cJSON_IsArray(seeds))
		return read_values(root, json_get(root, "bpb"), cb, user, err);
	cJSON_ArrayForEach(seed, seeds)
	{
		if (read_seed(root, seed, cb, user, err) != 0)
			return -1;
		n++;
	}
	return n;
}

/* An array of rows, one row, or one row a line. */
static int
read_json(struct reader *r, struct str text)
{
	struct str rest = text, line;
	const cJSON *item;
	cJSON *root = json_parse(text, JSON_BARE_NULL, NULL);
	int status = 0;

	if (cJSON_IsArray(root)) {
		cJSON_ArrayForEach(item, root)
		{
			r->line++;
			if (status == 0)
				status = read_object(r, item);
		}
	} else if (is_submission(root)) {
		r->n_rows = read_submission(root, r->cb, r->user, r->err);
		status = r->n_rows < 0 ? err_prefix(r->err, "%s", r->name) : 0;
	} else if (root != NULL) {
		r->line++;
		status = read_object(r, root);
	}
	if (root != NULL) {
		cJSON_Delete(root);
		return status;
	}
	while (status == 0 && str_next(&rest, '\n', &line)) {
		r->line++;
		if (str_trim(line).len == 0)
			continue;
		root = json_parse(line, JSON_BARE_NULL, r->err);
		if (root == NULL)
			return err_prefix(r->err, "%s:%zu", r->name, r->line);
		status = read_object(r, root);
		cJSON_Delete(root);
	}
	return status;
}

/*
 * The next cell of CSV (RFC 4180) into out; *end tells what came behind it:
 * ',' or '\n' or 0 at the end of the text.  -1: a quote that never ends.
 */
static int
next_cell(struct str *rest, struct buf *out, char *end)
{
	bool quoted = rest->len > 0 && rest->p[0] == '"';
	size_t i = quoted ? 1 : 0;

	buf_clear(out);
	for (; i < rest->len; i++) {
		char c = rest->p[i];

		if (quoted && c == '"') {
			if (i + 1 < rest->len && rest->p[i + 1] == '"') {
				i++;
			} else {
				quoted = false;
				continue;
			}
		} else if (!quoted && (c == ',' || c == '\n')) {
			break;
		} else if (!quoted && c == '\r') {
			continue;
		}
		buf_append_char(out, c);
	}
	*end = i < rest->len ? rest->p[i] : '\0';
	i += i < rest->len;
	*rest = (struct str){ rest->p + i, rest->len - i };
	return quoted ? -1 : 0;
}

/* The head: a field a column; how many, or -1. */
static int
read_head(struct reader *r, struct str *rest, struct field *fields)
{
	AUTO_BUF cell = buf_new(CELL_MAX);
	char end = ',';
	int n = 0;

	r->line = 1;
	while (end == ',' && n < MAX_COLUMNS) {
		struct str name;

		if (next_cell(rest, &cell, &end) != 0)
			break;
		name = str_trim((struct str){ cell.data, cell.len });
		cell.data[name.p - cell.data + (ptrdiff_t)name.len] = '\0';
		fields[n++] = field_of(r, name.p);
	}
	for (int i = 0; i < n; i++)
		if (fields[i].is_number)
			return n;
	err_set(r->err, ERR_PARSE,
		"%s:1: no column is named like a number of a run (seed, "
		"final_bpb, ..)",
		r->name);
	for (int i = 0; i < n; i++)
		free(fields[i].name);
	return -1;
}

/* One line of CSV; its texts stay in keep until the row was given. */
static int
read_line(struct reader *r, struct str *rest, const struct field *fields, int n)
{
	char *keep[MAX_COLUMNS];
	struct run_row row;
	AUTO_BUF cell = buf_new(CELL_MAX);
	char end = ',';
	int i = 0, status = 0, filled = 0;

	r->line++;
	row_init(&row);
	while (end == ',' && status == 0) {
		if (next_cell(rest, &cell, &end) != 0) {
			status = fail(r, "row", "a quote does not end");
		} else if (i < n) {
			struct cell c = { cell.data, 0 };

			keep[i] = xstrdup(cell.data);
			c.text = keep[i];
			if (cell.len > 0 && strcmp(cell.data, "null") != 0) {
				filled++;
				status = set_cell(r, &row, &fields[i], &c);
			} else {
				set_absent(&row, fields[i].name);
			}
			i++;
		} else {
			status = fail(r, "row", "more cells than the head has");
		}
	}
	if (status == 0 && filled > 0)
		row_give(r, &row);
	while (i > 0)
		free(keep[--i]);
	run_release(&row.run);
	return status;
}

static int
read_csv(struct reader *r, struct str text)
{
	struct field fields[MAX_COLUMNS];
	struct str rest = text;
	int n = read_head(r, &rest, fields), status = 0;

	if (n < 0)
		return -1;
	while (status == 0 && rest.len > 0)
		status = read_line(r, &rest, fields, n);
	for (int i = 0; i < n; i++)
		free(fields[i].name);
	return status;
}

int
run_rows_read(struct str text, const char *name, const struct run_rows_cb *cb,
	      void *user, struct err *err)
{
	struct reader r = { .name = name, .cb = cb, .user = user, .err = err };
	struct str trimmed;
	struct run none;
	int status = 0;

	run_init(&none);
	r.keys = run_to_json(&none);
	run_release(&none);
	if (str_starts_with(text, "\xEF\xBB\xBF")) /* a byte order mark */
		text = (struct str){ text.p + 3, text.len - 3 };
	trimmed = str_trim(text);
	if (trimmed.len > 0 && (trimmed.p[0] == '{' || trimmed.p[0] == '['))
		status = read_json(&r, text);
	else if (trimmed.len > 0)
		status = read_csv(&r, text);
	while (r.n_unknown > 0)
		free(r.unknown[--r.n_unknown]);
	cJSON_Delete(r.keys);
	return status == 0 ? r.n_rows : -1;
}
