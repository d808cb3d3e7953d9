/* SPDX-License-Identifier: MIT */
/* Runs out of tables (JSON, CSV); called by the leaderboard's command. */
#include "parsers/run_rows.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/json.h"

#define MAX_COLUMNS 256
#define MAX_UNKNOWN 64
#define CELL_MAX    65536U

struct reader {
	const char *name;
	size_t line;
	const struct run_rows_cb *cb;
	void *user;
	struct err *err;
	cJSON *keys;		    /* owned; those of a run, as an object */
	bool is_other;		    /* this row is of no run: a group, a score */
	char *unknown[MAX_UNKNOWN]; /* owned; keys that were told of */
	size_t n_unknown;
	int n_rows;
};

struct number_key {
	const char *name;
	size_t offset; /* in struct run */
};

static const struct number_key number_keys[] = {
#define X(member, decimals) { #member, offsetof(struct run, member) },
	RUN_NUMBER_LIST(X)
#undef X
};

static int fail(struct reader *r, const char *key, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%s:%zu: %s: %s", r->name, r->line, key, what);
}

/* Tell of a key that no run has, once. */
static void tell_unknown(struct reader *r, const char *key)
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

/* The key of a number of a run; NULL: it is another one. */
static const struct number_key *find_number(const char *name)
{
	return array_find(one, number_keys, LENGTH(number_keys), strcmp(one->name, name) == 0);
}

/* Of a run, of a row that is of no run, or of what is under way of one. */
static bool is_known(const struct reader *r, const char *name)
{
#define X(member) " " #member
	return json_get(r->keys, name) != NULL ||
	       str_is_among(str_from(name), "file group sha256 kind //" RUN_LIVE_LIST(X));
#undef X
}

static int set_number(struct reader *r, struct run *run, const struct number_key *key,
		      const cJSON *item)
{
	double value = item->valuedouble;

	if (cJSON_IsString(item) ? !str_to_double(str_trim(str_from(item->valuestring)), &value)
				 : !cJSON_IsNumber(item))
		return fail(r, key->name, "not a number");
	if (!isfinite(value))
		return fail(r, key->name, "not a finite number");
	if (value <= 0 && str_ends_with(str_from(key->name), "_bpb"))
		return fail(r, key->name, "not above 0 (a cell without a value is empty)");
	memcpy((char *)run + key->offset, &value, sizeof(value));
	return 0;
}

static int set_index(struct reader *r, struct run *run, const cJSON *item)
{
	double index = item->valuedouble;

	if ((cJSON_IsString(item) && !str_to_double(str_from(item->valuestring), &index)) ||
	    !(index >= 0 && index < 1e9))
		return fail(r, "run_index", "not a number from 0");
	run->run_index = (unsigned int)index;
	return 0;
}

static int set_text(struct reader *r, struct run_row *row, const char *key, const char *text)
{
	int i;

	if (strcmp(key, "kind") == 0)
		r->is_other = strcmp(text, "run") != 0;
	else if (strcmp(key, "file") == 0)
		row->file = text;
	else if (strcmp(key, "group") == 0)
		row->group = text;
	else if (strcmp(key, "sha256") == 0)
		row->sha256 = text;
	else if (strcmp(key, "final_stage") == 0) {
		free(row->run.final_stage);
		row->run.final_stage = xstrdup(text);
	} else if (strcmp(key, "final_class") == 0) {
		if ((i = str_index(run_class_names, text)) >= 0)
			row->run.final_class = run_class_names[i];
	} else if (strcmp(key, "status") == 0) {
		if ((i = str_index(run_status_names, text)) < 0)
			return fail(r, key, "not a status of a run");
		row->run.status = (enum run_status)i;
	}
	return 0;
}

/* One member into the row; what is not kept of a row is let pass. */
static int set_member(struct reader *r, struct run_row *row, const cJSON *item)
{
	const struct number_key *number = find_number(item->string);

	/* A status that is there and empty: nobody knows how it ended. */
	if (cJSON_IsNull(item) && strcmp(item->string, "status") == 0)
		row->run.status = RUN_UNKNOWN;
	if (cJSON_IsNull(item))
		return 0;
	if (number != NULL)
		return set_number(r, &row->run, number, item);
	if (!is_known(r, item->string))
		tell_unknown(r, item->string);
	else if (strcmp(item->string, "run_index") == 0)
		return set_index(r, &row->run, item);
	else if (cJSON_IsString(item))
		return set_text(r, row, item->string, item->valuestring);
	return 0;
}

static void row_init(struct run_row *row)
{
	*row = (struct run_row){ 0 };
	run_init(&row->run);
	row->run.status = RUN_FINISHED;
}

/* Derive what a table often leaves out, and give the row. */
static void row_give(struct reader *r, struct run_row *row)
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

/* A row as an object; wrong: what else is the matter with it, or NULL. */
static int read_members(struct reader *r, const cJSON *object, const char *wrong)
{
	struct run_row row;
	int status = 0;

	row_init(&row);
	json_each (item, object) {
		if (status == 0)
			status = set_member(r, &row, item);
	}
	if (status == 0 && wrong != NULL)
		status = fail(r, "row", wrong);
	if (status == 0)
		row_give(r, &row);
	run_release(&row.run);
	return status;
}

static int read_object(struct reader *r, const cJSON *object)
{
	if (cJSON_IsObject(object))
		return read_members(r, object, NULL);
	return err_set(r->err, ERR_PARSE, "%s:%zu: a row must be an object", r->name, r->line);
}

/* Keys of a seed's object, and the number of a run that each is. */
static const struct number_key seed_keys[] = {
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
static bool is_submission(const cJSON *root)
{
	const cJSON *seeds = json_get(root, "seed_results");

	return cJSON_IsObject(root) && (cJSON_IsObject(seeds) || cJSON_IsArray(seeds) ||
					cJSON_IsArray(json_get(root, "bpb")));
}

/* A template's 0 stands for a value that is not there; a seed may be 0. */
static bool is_told(const cJSON *item, size_t offset)
{
	return cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
	       (item->valuedouble > 0 || offset == offsetof(struct run, seed));
}

/* One seed: its name in the file is its seed unless it tells another. */
static int read_seed(struct reader *r, const cJSON *root, const cJSON *seed)
{
	struct run_row row;

	if (!cJSON_IsObject(seed))
		return err_set(r->err, ERR_PARSE, "%s: seed_results: expected an object a seed",
			       r->name);
	row_init(&row);
	row.group = json_get_string(root, "name", NULL);
	if (seed->string != NULL)
		(void)str_to_double(str_from(seed->string), &row.run.seed);
	for (size_t i = 0; i < LENGTH(seed_keys); i++) {
		const cJSON *item = json_get(seed, seed_keys[i].name);

		if (is_told(item, seed_keys[i].offset))
			memcpy((char *)&row.run + seed_keys[i].offset, &item->valuedouble,
			       sizeof(double));
	}
	if (!isfinite(row.run.seed))
		row.run.seed = RUN_ABSENT;
	r->cb->on_row(r->user, &row);
	r->n_rows++;
	run_release(&row.run);
	return 0;
}

static int read_value(struct reader *r, const cJSON *root, const cJSON *value)
{
	struct run_row row;

	if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble) || value->valuedouble <= 0)
		return err_set(r->err, ERR_PARSE, "%s: bpb[%d]: expected a number above 0", r->name,
			       r->n_rows);
	row_init(&row);
	row.group = json_get_string(root, "name", NULL);
	row.run.final_bpb = value->valuedouble;
	r->cb->on_row(r->user, &row);
	r->n_rows++;
	return 0;
}

/* Give a finished run for each seed. */
static int read_submission(struct reader *r, const cJSON *root)
{
	const cJSON *list = json_get(root, "seed_results");
	bool has_seeds = cJSON_IsObject(list) || cJSON_IsArray(list);
	int status = 0;

	if (!has_seeds)
		list = json_get(root, "bpb");
	json_each (item, list) {
		if (status == 0)
			status = has_seeds ? read_seed(r, root, item) : read_value(r, root, item);
	}
	return status;
}

/* An array of rows, one row, or one row a line. */
static int read_json(struct reader *r, struct str text)
{
	struct str rest = text, line;
	cJSON *root = json_parse(text, JSON_BARE_NULL, NULL);
	int status = 0;

	if (cJSON_IsArray(root)) {
		json_each (item, root) {
			r->line++;
			if (status == 0)
				status = read_object(r, item);
		}
	} else if (is_submission(root)) {
		status = read_submission(r, root);
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
static int next_cell(struct str *rest, struct buf *out, char *end)
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
	*rest = str_skip(*rest, i);
	return quoted ? -1 : 0;
}

/* Read the header into names (owned by the caller); returns the number of columns, or -1. */
static int read_head(struct reader *r, struct str *rest, char *names[MAX_COLUMNS])
{
	AUTO_BUF cell = buf_new(CELL_MAX);
	char end = ',';
	int n = 0;

	r->line = 1;
	while (end == ',' && n < MAX_COLUMNS) {
		if (next_cell(rest, &cell, &end) != 0)
			break;
		struct str name = str_trim(buf_str(&cell));
		names[n++] = xstrndup(name.p, name.len);
	}
	if (n == MAX_COLUMNS && end == ',') {
		err_set(r->err, ERR_PARSE,
			"%s:1: the header has more than %d columns; leave out those not needed",
			r->name, MAX_COLUMNS);
	} else {
		for (int i = 0; i < n; i++)
			if (find_number(names[i]) != NULL)
				return n;
		err_set(r->err, ERR_PARSE,
			"%s:1: no column is named like a number of a run (seed, final_bpb, ..)",
			r->name);
	}
	while (n > 0)
		free(names[--n]);
	return -1;
}

/* One line of CSV: an object of texts; what is empty is null. */
static int read_line(struct reader *r, struct str *rest, char *const *names, int n)
{
	AUTO_JSON object = cJSON_CreateObject();
	AUTO_BUF cell = buf_new(CELL_MAX);
	const char *wrong = NULL;
	bool is_filled = false;
	char end = ',';

	r->line++;
	for (int i = 0; end == ',' && wrong == NULL; i++) {
		if (next_cell(rest, &cell, &end) != 0)
			wrong = "a quote does not end";
		else if (i >= n)
			wrong = "more cells than the head has";
		if (wrong != NULL)
			break;
		bool is_null = cell.len == 0 || strcmp(cell.data, "null") == 0;
		is_filled |= !is_null;
		json_add_string(object, names[i], is_null ? NULL : cell.data);
	}
	return is_filled || wrong != NULL ? read_members(r, object, wrong) : 0;
}

static int read_csv(struct reader *r, struct str rest)
{
	char *names[MAX_COLUMNS];
	int n = read_head(r, &rest, names), status = n < 0 ? -1 : 0;

	while (status == 0 && rest.len > 0)
		status = read_line(r, &rest, names, n);
	while (n > 0)
		free(names[--n]);
	return status;
}

int run_rows_read(struct str text, const char *name, const struct run_rows_cb *cb, void *user,
		  struct err *err)
{
	struct reader r = { .name = name, .cb = cb, .user = user, .err = err };
	struct run none;
	int status = 0;

	run_init(&none);
	r.keys = run_to_json(&none);
	run_release(&none);
	if (str_starts_with(text, "\xEF\xBB\xBF")) /* a byte order mark */
		text = str_skip(text, 3);
	struct str trimmed = str_trim(text);
	if (trimmed.len > 0 && (trimmed.p[0] == '{' || trimmed.p[0] == '['))
		status = read_json(&r, text);
	else if (trimmed.len > 0)
		status = read_csv(&r, text);
	while (r.n_unknown > 0)
		free(r.unknown[--r.n_unknown]);
	cJSON_Delete(r.keys);
	return status == 0 ? r.n_rows : -1;
}
