/* SPDX-License-Identifier: MIT */
/* Read runs from tables (JSON, CSV). */
#include "parsers/run_rows.h"

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
	cJSON *keys;		    /* owned; an object with all keys of a run */
	bool is_other;		    /* this row is not a run: a group, a score */
	char *unknown[MAX_UNKNOWN]; /* owned; unknown keys that were reported */
	size_t n_unknown;
	int n_rows;
};

struct number_key {
	const char *name;
	size_t offset; /* in struct run */
};

#define RUN_NUMBER_ROW(member, decimals) { #member, offsetof(struct run, member) },
static const struct number_key number_keys[] = { RUN_NUMBER_LIST(RUN_NUMBER_ROW) };

static int fail(struct reader *r, const char *key, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%s:%zu: %s: %s", r->name, r->line, key, what);
}

/* Report a key that runs do not have, once. */
static void report_unknown(struct reader *r, const char *key)
{
	if (r->n_unknown == MAX_UNKNOWN || any_of(i, r->n_unknown, strcmp(r->unknown[i], key) == 0))
		return;
	r->unknown[r->n_unknown++] = xstrdup(key);
	if (r->cb->on_unknown != NULL)
		r->cb->on_unknown(r->user, key);
}

static const struct number_key *find_number(const char *name)
{
	return array_find(one, number_keys, LENGTH(number_keys), strcmp(one->name, name) == 0);
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
		return fail(r, key->name, "not above 0 (leave a cell without a value empty)");
	memcpy((char *)run + key->offset, &value, sizeof(value));
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
			return fail(r, key, "unknown status");
		row->run.status = (enum run_status)i;
	}
	return 0;
}

/* Store a member in the row; known keys that a row does not keep are ignored. */
static int set_member(struct reader *r, struct run_row *row, const cJSON *item)
{
	const struct number_key *number = find_number(item->string);

	/* An empty status means that it is unknown how the run ended. */
	if (cJSON_IsNull(item) && strcmp(item->string, "status") == 0)
		row->run.status = RUN_UNKNOWN;
	if (cJSON_IsNull(item))
		return 0;
	if (number != NULL)
		return set_number(r, &row->run, number, item);
#define X(member) " " #member
	if (json_get(r->keys, item->string) == NULL &&
	    !str_is_among(str_from(item->string), "file group sha256 kind //" RUN_LIVE_LIST(X)))
		report_unknown(r, item->string);
#undef X
	else if (strcmp(item->string, "run_index") == 0) {
		double index = item->valuedouble;

		if ((cJSON_IsString(item) && !str_to_double(str_from(item->valuestring), &index)) ||
		    !(index >= 0 && index < 1e9))
			return fail(r, "run_index", "not a number from 0 to 999999999");
		row->run.run_index = (unsigned int)index;
	} else if (cJSON_IsString(item))
		return set_text(r, row, item->string, item->valuestring);
	return 0;
}

static void init_row(struct run_row *row)
{
	*row = (struct run_row){ 0 };
	run_init(&row->run);
	row->run.status = RUN_FINISHED;
}

/* Read a row; `wrong`: an error that was already found in it, or NULL. */
static int read_members(struct reader *r, const cJSON *object, const char *wrong)
{
	struct run_row row;
	int status = 0;

	init_row(&row);
	json_each (item, object) {
		if (status == 0)
			status = set_member(r, &row, item);
	}
	if (status == 0 && wrong != NULL)
		status = fail(r, "row", wrong);
	if (status == 0 && !r->is_other) {
		if (!run_has(row.run.ms_per_step) && row.run.steps > 0)
			row.run.ms_per_step = row.run.train_ms / row.run.steps;
		r->n_rows++;
		r->cb->on_row(r->user, &row);
	}
	r->is_other = false;
	run_release(&row.run);
	return status;
}

static int read_object(struct reader *r, const cJSON *object)
{
	if (cJSON_IsObject(object))
		return read_members(r, object, NULL);
	return err_set(r->err, ERR_PARSE, "%s:%zu: expected an object for each row", r->name,
		       r->line);
}

/* Other keys of a seed in a submission.json, and the members of struct run. */
static const char *const seed_aliases[][2] = { { "val_bpb", "final_bpb" },
					       { "val_loss", "final_val_loss" },
					       { "bytes_total", "artifact_bytes" },
					       { "bytes_code", "code_bytes" } };

/* Read a seed; its key in seed_results is the seed unless it has a "seed". */
static int read_seed(struct reader *r, const cJSON *root, const cJSON *seed)
{
	struct run_row row;

	if (!cJSON_IsObject(seed))
		return err_set(r->err, ERR_PARSE, "%s: seed_results: expected one object per seed",
			       r->name);
	init_row(&row);
	row.group = json_get_string(root, "name", NULL);
	if (seed->string != NULL)
		(void)str_to_double(str_from(seed->string), &row.run.seed);
	json_each (item, seed) {
		size_t i = index_of(k, LENGTH(seed_aliases),
				    strcmp(item->string, seed_aliases[k][0]) == 0);
		const struct number_key *key =
			find_number(i < LENGTH(seed_aliases) ? seed_aliases[i][1] : item->string);

		/* A template has 0 for a missing value; only a seed can be 0. */
		if (key != NULL && cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
		    (item->valuedouble > 0 || key->offset == offsetof(struct run, seed)))
			memcpy((char *)&row.run + key->offset, &item->valuedouble, sizeof(double));
	}
	if (!isfinite(row.run.seed))
		row.run.seed = RUN_ABSENT;
	r->cb->on_row(r->user, &row);
	r->n_rows++;
	run_release(&row.run);
	return 0;
}

/* Read the seeds of a submission.json, or the values of a baseline. */
static int read_submission(struct reader *r, const cJSON *root)
{
	const cJSON *list = json_get(root, "seed_results");
	struct run_row row;

	if (cJSON_IsObject(list) || cJSON_IsArray(list)) {
		json_each (seed, list)
			if (read_seed(r, root, seed) != 0)
				return -1;
		return 0;
	}
	json_each (value, json_get(root, "bpb")) {
		if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble) ||
		    value->valuedouble <= 0)
			return err_set(r->err, ERR_PARSE, "%s: bpb[%d]: expected a number above 0",
				       r->name, r->n_rows);
		init_row(&row);
		row.group = json_get_string(root, "name", NULL);
		row.run.final_bpb = value->valuedouble;
		r->cb->on_row(r->user, &row);
		r->n_rows++;
	}
	return 0;
}

/* Read an array of rows, a single row, or one row per line. */
static int read_json(struct reader *r, struct str text)
{
	struct str rest = text, line;
	AUTO_JSON root = json_parse(text, JSON_BARE_NULL, NULL);
	const cJSON *seeds = json_get(root, "seed_results");
	int status = 0;

	if (cJSON_IsObject(seeds) || cJSON_IsArray(seeds) || cJSON_IsArray(json_get(root, "bpb")))
		return read_submission(r, root);
	if (root != NULL && !cJSON_IsArray(root)) {
		r->line++;
		return read_object(r, root);
	}
	json_each (item, root) {
		r->line++;
		if (read_object(r, item) != 0)
			return -1;
	}
	while (root == NULL && status == 0 && str_next(&rest, '\n', &line)) {
		r->line++;
		if (str_trim(line).len == 0)
			continue;
		AUTO_JSON row = json_parse(line, JSON_BARE_NULL, r->err);
		if (row == NULL)
			return err_prefix(r->err, "%s:%zu", r->name, r->line);
		status = read_object(r, row);
	}
	return status;
}

/* Read the header into names (owned by the caller); returns the number of columns, or -1. */
static int read_header(struct reader *r, struct str *rest, char *names[MAX_COLUMNS])
{
	struct str name;
	char end = ',';
	int n = 0;

	r->line = 1;
	while (end == ',' && n < MAX_COLUMNS && str_next_cell(rest, ',', &name, &end))
		names[n++] = xstrndup(name.p, name.len);
	if (n == MAX_COLUMNS && end == ',') {
		err_set(r->err, ERR_PARSE,
			"%s:1: the header has more than %d columns; leave out those not needed",
			r->name, MAX_COLUMNS);
	} else {
		if (any_of(i, n, find_number(names[i]) != NULL))
			return n;
		err_set(r->err, ERR_PARSE,
			"%s:1: no column has the name of a number of a run (seed, final_bpb, ..)",
			r->name);
	}
	while (n > 0)
		free(names[--n]);
	return -1;
}

/* Read a line of CSV through an object of strings; empty cells are null. */
static int read_line(struct reader *r, struct str *rest, char *const *names, int n)
{
	AUTO_JSON object = cJSON_CreateObject();
	AUTO_BUF text = buf_new(CELL_MAX);
	const char *wrong = NULL;
	bool is_filled = false;
	struct str cell;
	char end = ',';

	r->line++;
	for (int i = 0; end == ',' && wrong == NULL; i++) {
		if (!str_next_cell(rest, ',', &cell, &end))
			wrong = "a quote is not closed, or text follows it";
		else if (i >= n)
			wrong = "more cells than the header";
		if (wrong != NULL)
			break;
		buf_clear(&text);
		for (size_t k = 0; k < cell.len; k++) { /* two quotes stand for one */
			buf_append_char(&text, cell.p[k]);
			k += cell.p[k] == '"' && k + 1 < cell.len && cell.p[k + 1] == '"';
		}
		bool is_null = text.len == 0 || strcmp(text.data, "null") == 0;
		is_filled |= !is_null;
		json_add_string(object, names[i], is_null ? NULL : text.data);
	}
	return is_filled || wrong != NULL ? read_members(r, object, wrong) : 0;
}

int run_rows_read(struct str text, const char *name, const struct run_rows_cb *cb, void *user,
		  struct err *err)
{
	struct reader r = { .name = name, .cb = cb, .user = user, .err = err };
	char *names[MAX_COLUMNS];
	struct run none;
	int status = 0, n = 0;

	run_init(&none);
	r.keys = run_to_json(&none);
	run_release(&none);
	if (str_starts_with(text, "\xEF\xBB\xBF")) /* a byte order mark */
		text = str_skip(text, 3);
	struct str trimmed = str_trim(text);
	if (trimmed.len > 0 && (trimmed.p[0] == '{' || trimmed.p[0] == '['))
		status = read_json(&r, text);
	else if (trimmed.len > 0 && (n = read_header(&r, &text, names)) < 0)
		status = -1;
	while (n > 0 && status == 0 && text.len > 0)
		status = read_line(&r, &text, names, n);
	while (n > 0)
		free(names[--n]);
	while (r.n_unknown > 0)
		free(r.unknown[--r.n_unknown]);
	cJSON_Delete(r.keys);
	return status == 0 ? r.n_rows : -1;
}
