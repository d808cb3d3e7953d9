/* SPDX-License-Identifier: MIT */
/* Read the score of a verifier or benchmark from its JSON, and decide whether it counts. */
#include "parsers/score_json.h"

#include <strings.h>

#include "base/utf8.h"
#include "parsers/linebuf.h"

/* After this many unclosed objects, the end of an object must be in its line. */
#define MAX_OPEN 64
/* Limits of a possible measurement. */
#define LEAST_SIZE 1e-15
#define MOST_SIZE  1e15

bool score_is_measurable(double value)
{
	double size = fabs(value);

	return size <= MOST_SIZE && (size >= LEAST_SIZE || size == 0.0);
}

bool score_is_possible(const char *key, double value)
{
	const char *last;

	if (!score_is_measurable(value))
		return false;
	if (key == NULL)
		return true;
	last = strrchr(key, '_'); /* "step_ms" is in ms */
	struct str unit = str_from(last != NULL ? last + 1 : key);
	if (value > 0) /* no measured time is below a nanosecond */
		return !(value < (str_is_among(unit, "us")		? 1e-3
				  : str_is_among(unit, "ms")		? 1e-6
				  : str_is_among(unit, "s sec seconds") ? 1e-9
									: 0));
	return !str_is_among(unit, "ns us ms s sec seconds minutes hours time cycles "
				   "latency duration bytes kb mb gb size") &&
	       strncmp(key, "best_", 5) != 0;
}

bool score_status_passes(const char *status)
{
	return str_is_like(str_from(status), "passed pass ok success solved completed "
					     "valid verified correct");
}

bool score_json_counts(const struct score_json *score)
{
	return score->passed && isfinite(score->value);
}

/* Return the length of the object at the start of text, or 0 if it is not closed. */
static size_t find_object_length(struct str text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '"') {
			for (i++; i < text.len && text.p[i] != '"'; i++)
				i += text.p[i] == '\\';
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* Loop over the objects in a text that start a line or follow another object. */
struct scan {
	struct str rest;
	size_t open; /* unclosed objects */
};

/* Find the next object, in place of *root; false at the end. A search for an unclosed object's end
 * reads all remaining text, so after MAX_OPEN unclosed objects an object must end in its line. */
static bool next_object(struct scan *scan, cJSON **root)
{
	struct str line;

	for (; scan->rest.len > 0; (void)str_next(&scan->rest, '\n', &line)) {
		struct str at = scan->rest, rest = at;

		if (at.p[0] != '{')
			continue;
		if (scan->open >= MAX_OPEN)
			(void)str_next(&rest, '\n', &at);
		at.len = find_object_length(at);
		if (at.len == 0) {
			scan->open++;
			continue;
		}
		cJSON *object = json_parse(at, JSON_BARE_NULL, NULL);
		if (!cJSON_IsObject(object)) {
			cJSON_Delete(object);
			continue;
		}
		scan->rest = str_trim(str_skip(scan->rest, at.len));
		cJSON_Delete(*root);
		*root = object;
		return true;
	}
	return false;
}

static cJSON *parse_object(struct str text, struct err *err)
{
	struct scan scan = { .rest = str_trim(text) };
	cJSON *root = NULL;

	if (scan.rest.len > 0 && scan.rest.p[0] == '{')
		root = json_parse(scan.rest, JSON_BARE_NULL, NULL);
	if (root != NULL)
		return root;
	while (next_object(&scan, &root))
		continue;
	if (root == NULL)
		err_set(err, ERR_NODATA, "the output contains no JSON object");
	return root;
}

/* Does another object in the text have a different value for the score's key? */
static bool is_contradicted(const struct score_json *score, struct str text)
{
	const cJSON *value = json_get(score->root, score->key);
	struct scan scan = { .rest = str_trim(text) };
	AUTO_JSON root = NULL;
	bool other = false;

	while (!other && next_object(&scan, &root)) {
		const cJSON *rival = json_get(root, score->key);

		other = rival != NULL && !cJSON_Compare(rival, value, 1);
	}
	return other;
}

/* Does a string start with a word for failure: "failed", "errors", ..? */
static bool reports_failure(const cJSON *node)
{
	static const char *const words[] = { "fail", "error", "timeout", "invalid", "crash" };

	return cJSON_IsString(node) &&
	       any_of(i, LENGTH(words),
		      strncasecmp(node->valuestring, words[i], strlen(words[i])) == 0);
}

const char *score_json_denial(const cJSON *root)
{
	static const char *const keys[] = { "correct", "passed", "valid", "success", "ok" };
	const cJSON *error = json_get(root, "error"), *errors = json_get(root, "errors");
	const cJSON *source = json_get(root, "source_integrity");
	const cJSON *cases = json_get(root, "cases");

	for (size_t i = 0; i < LENGTH(keys); i++) {
		const cJSON *node = json_get(root, keys[i]);

		if (cJSON_IsFalse(node))
			return node->string;
	}
	if (cJSON_IsString(error) && error->valuestring[0] != '\0')
		return error->string;
	/* Other parts can contradict a passing status. */
	if (cJSON_IsArray(errors) && errors->child != NULL)
		return errors->string;
	if (reports_failure(source))
		return source->string;
	json_each (node, cJSON_IsArray(cases) ? cases : NULL) {
		if (reports_failure(json_get(node, "status")))
			return cases->string;
	}
	return NULL;
}

static void pick_value(struct score_json *score, const char *key)
{
	static const char *const keys[] = { "best_us", "best_cycles", "score" };
	const cJSON *node = NULL;

	if (key != NULL)
		node = json_get(score->root, key);
	for (size_t i = 0; key == NULL && node == NULL && i < 3; i++)
		node = json_get(score->root, keys[i]);
	double value = cJSON_GetNumberValue(node);
	score->key = node != NULL ? node->string : NULL;
	score->doubtful = isfinite(value) && !score_is_measurable(value);
	score->value =
		score->key != NULL && score_is_possible(score->key, value) ? value : (double)NAN;
}

/* Set score->why: why the score does not count. */
static void explain(struct score_json *score, const char *key)
{
	const cJSON *node = json_get(score->root, score->key);

	score->why[0] = '\0';
	if (score->has_status && !score_status_passes(score->status))
		print_into(score->why, "status is \"%s\"", score->status);
	else if (score->denied != NULL)
		print_into(score->why, "\"%s\" reports a failure", score->denied);
	else if (!score->passed)
		print_into(score->why, "\"verified\" is false");
	else if (score->key == NULL)
		print_into(score->why, "the JSON has no \"%s\"", key != NULL ? key : "score");
	else if (isfinite(score->value))
		return;
	else if (!cJSON_IsNumber(node) || !isfinite(node->valuedouble))
		print_into(score->why, "\"%.100s\" is not a finite number", score->key);
	else if (score->doubtful)
		print_into(score->why, "\"%.100s\" is %g: not a possible measurement", score->key,
			   node->valuedouble);
	else
		print_into(score->why, "\"%.100s\" is not above 0", score->key);
}

static bool reject_ambiguous(struct score_json *score, struct str text)
{
	const char *twin = json_duplicate_key(score->root);

	if (twin != NULL)
		print_into(score->why, "duplicate key \"%.100s\"", twin);
	else if (score->key != NULL && is_contradicted(score, text))
		print_into(score->why, "two JSON objects with different values of \"%.80s\"",
			   score->key);
	else
		return false;
	score->doubtful = true;
	score->value = (double)NAN;
	return true;
}

int score_json_read(struct score_json *score, struct str text, const char *key, struct err *err)
{
	AUTO_BUF copy = buf_new(text.len);

	*score = (struct score_json){ .value = (double)NAN };
	text = linebuf_clean(&copy, text); /* without colors */
	score->root = parse_object(text, err);
	if (score->root == NULL)
		return -1;
	score->has_status = json_get(score->root, "status") != NULL;
	print_into(score->status, "%s", json_get_string(score->root, "status", ""));
	print_into(score->mode, "%s", json_get_string(score->root, "mode", ""));
	const cJSON *verified = json_get(score->root, "verified");
	score->verified = cJSON_IsTrue(verified);
	score->denied = score_json_denial(score->root);
	score->passed = (!score->has_status || score_status_passes(score->status)) &&
			(verified == NULL || score->verified) && score->denied == NULL;
	pick_value(score, key);
	if (!reject_ambiguous(score, text))
		explain(score, key);
	return 0;
}

void score_json_release(struct score_json *score)
{
	cJSON_Delete(score->root);
	score->root = NULL;
	score->key = NULL;
}

/* Find the first of these keys whose value differs (missing in both: equal); NULL: none. */
static const char *find_difference(const cJSON *a, const cJSON *b, const char *const *keys)
{
	for (; *keys != NULL; keys++) {
		const cJSON *x = json_get(a, *keys), *y = json_get(b, *keys);

		if (x == NULL || y == NULL ? x != y : !cJSON_Compare(x, y, 1))
			return *keys;
	}
	return NULL;
}

bool score_json_same_work(const struct score_json *a, const struct score_json *b, char *why,
			  size_t why_size)
{
	static const char *const keys[] = { "mode",	"tolerance", "device", "torch", "cuda",
					    "compiler", "repeats",   "warmup", NULL };
	/* Keys that identify a case, unlike keys of measurements. */
	static const char *const case_keys[] = { "name",    "rows",	     "dim",
						 "numel",   "seed",	     "tolerance",
						 "tokens",  "d_model",	     "d_hidden",
						 "experts", "route_profile", NULL };
	const cJSON *x = json_get(a->root, "cases");
	const cJSON *y = json_get(b->root, "cases");
	const char *key = find_difference(a->root, b->root, keys);

	if (key != NULL) {
		(void)snprintf(why, why_size, "\"%s\" differs", key);
		return false;
	}
	if (!cJSON_IsArray(x) || !cJSON_IsArray(y))
		return true;
	if (cJSON_GetArraySize(x) != cJSON_GetArraySize(y)) {
		(void)snprintf(why, why_size, "%d cases vs. %d", cJSON_GetArraySize(x),
			       cJSON_GetArraySize(y));
		return false;
	}
	x = x->child;
	y = y->child;
	for (int i = 0; x != NULL && y != NULL; i++, x = x->next, y = y->next) {
		key = find_difference(x, y, case_keys);
		if (key != NULL) {
			(void)snprintf(why, why_size, "\"%s\" of cases[%d] differs", key, i);
			return false;
		}
	}
	return true;
}

const cJSON *score_case_best(const cJSON *node, const char *key, const cJSON **median)
{
	const cJSON *best = json_get(node, key);
	char name[64] = "median_";

	json_each (member, node) {
		if (best == NULL && member->string != NULL &&
		    strncmp(member->string, "best_", 5) == 0)
			best = member;
	}
	if (best != NULL && strncmp(best->string, "best_", 5) == 0)
		print_into(name, "median_%s", best->string + 5);
	*median = json_get(node, name);
	return best;
}

/* Keys that show which task printed the output; part NULL: at the top. */
static const struct {
	const char *part, *key, *task;
} tasks[] = {
	{ NULL, "target_best_us", "triton_rmsnorm_h100" },
	{ NULL, "source_integrity", "cpp_stencil" },
	{ "config", "hidden_tile", "cpu_moe" },
	{ "plan", "scratchpad_kb", "tensor_layout" },
};

/* Return a number at the top, or the number that all cases share; else NAN. */
static double read_common(const cJSON *root, const char *key)
{
	const cJSON *cases = json_get(root, "cases");
	double value = json_get_number(root, key, (double)NAN);
	bool first = true;

	if (isfinite(value) || !cJSON_IsArray(cases))
		return value;
	json_each (node, cases) {
		const cJSON *at = json_get(node, key);

		if (!cJSON_IsNumber(at) || (!first && at->valuedouble != value))
			return (double)NAN;
		value = at->valuedouble;
		first = false;
	}
	return value;
}

static void name_group(struct score_row *row)
{
	char mode[40], key[48];

	(void)utf8_clean(mode, sizeof(mode), str_from(row->json.mode));
	(void)utf8_clean(key, sizeof(key),
			 str_from(row->json.key != NULL ? row->json.key : "score"));
	print_into(row->group, "%s %s %s", row->task[0] != '\0' ? row->task : "unknown task",
		   mode[0] != '\0' ? mode : "unknown mode", key);
	if (isfinite(row->warmup))
		append_into(row->group, ", warm-up %.10g", row->warmup);
	if (isfinite(row->repeats))
		append_into(row->group, ", repeats %.10g", row->repeats);
}

int score_row_read(struct score_row *row, struct str text, struct err *err)
{
	*row = (struct score_row){ .warmup = (double)NAN };
	if (text.len > SCORE_ROW_MAX_BYTES)
		return err_set(err, ERR_LIMIT, "too long for a score");
	if (score_json_read(&row->json, text, NULL, err) != 0)
		return -1;
	const cJSON *root = row->json.root;
	/* Files of a run and rows about files also contain scores. */
	if (row->json.key == NULL || json_get(root, "run_id") != NULL ||
	    json_get(root, "file") != NULL ||
	    (!row->json.has_status && row->json.mode[0] == '\0' &&
	     !cJSON_IsArray(json_get(root, "cases")))) {
		score_json_release(&row->json);
		return err_set(err, ERR_NODATA, "a JSON object without a verifier's score");
	}
	const cJSON *cases = json_get(root, "cases");
	row->n_cases = cJSON_IsArray(cases) ? (size_t)cJSON_GetArraySize(cases) : 0;
	row->warmup = read_common(root, "warmup");
	row->repeats = read_common(root, "repeats");
	(void)utf8_clean(row->task, sizeof(row->task), str_from(json_get_string(root, "task", "")));
	for (size_t i = 0; row->task[0] == '\0' && i < LENGTH(tasks); i++) {
		const cJSON *part = tasks[i].part != NULL ? json_get(root, tasks[i].part) : root;

		if (json_get(part, tasks[i].key) != NULL)
			print_into(row->task, "%s", tasks[i].task);
	}
	name_group(row);
	return 0;
}

void score_row_set_effort(struct score_row *row, double warmup, double repeats)
{
	if (!isfinite(row->warmup))
		row->warmup = warmup;
	if (!isfinite(row->repeats))
		row->repeats = repeats;
	name_group(row);
}

void score_row_release(struct score_row *row)
{
	score_json_release(&row->json);
}

/* Return a text of the verifier as JSON; NULL if there is none. */
static cJSON *make_text(const char *text)
{
	char clean[256];

	(void)utf8_clean(clean, sizeof(clean), str_from(text != NULL ? text : ""));
	return clean[0] != '\0' ? cJSON_CreateString(clean) : NULL;
}

#define CLEAN(key, text)    JNODE(key, make_text(text))
#define CLEAN_OF(node, key) CLEAN(key, json_get_string(node, key, NULL))

cJSON *score_row_json(const struct score_row *row)
{
	const struct score_json *json = &row->json;
	bool counts = score_json_counts(json);
	cJSON *array = cJSON_CreateArray();

	json_each (node, json_get(json->root, "cases")) {
		const cJSON *best, *median;

		if (!cJSON_IsObject(node))
			continue;
		best = score_case_best(node, json->key, &median);
		json_add(json_add_row(array), CLEAN_OF(node, "name"),
			 JNUM("seed", json_get_number(node, "seed", (double)NAN)),
			 CLEAN_OF(node, "status"), JNUM("best", cJSON_GetNumberValue(best)),
			 JNUM("median", cJSON_GetNumberValue(median)),
			 JNUM("max_abs", json_get_number(node, "max_abs", (double)NAN)));
	}
	return json_new(
		JTEXT("kind", "score"), CLEAN("status", json->has_status ? json->status : NULL),
		CLEAN("task", row->task), CLEAN("mode", json->mode), CLEAN("score_key", json->key),
		JNUM("score", counts ? json->value : (double)NAN),
		JNUM("score_printed", json->value), JBOOL("score_valid", counts),
		CLEAN("score_why", json->why), JNUM("warmup", row->warmup),
		JNUM("repeats", row->repeats), CLEAN_OF(json->root, "device"),
		CLEAN("group", row->group), JNODE("cases", array));
}
