/* SPDX-License-Identifier: MIT */
/* Parse and print JSON with cJSON, within limits, and find the line of a value in a text. */
#include "parsers/json.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sort.h"
#include "base/utf8.h"

static unsigned int find_line(struct str text, size_t offset)
{
	size_t n = offset < text.len ? offset : text.len;

	return 1 + (unsigned int)array_count(c, text.p, n, *c == '\n');
}

/* Return the offset of the closing quote of the string at i, or the end of the text. */
static size_t skip_string(struct str text, size_t i)
{
	for (i++; i < text.len && text.p[i] != '"'; i++)
		if (text.p[i] == '\\')
			i++;
	return i;
}

/* Facts about the text outside of its strings. */
struct shape {
	size_t depth, open; /* deepest nesting; nesting at the end */
	bool has_bare;	    /* NaN or Infinity */
	bool has_surrogate; /* \ud800 .. \udfff in a string, in a pair or not */
	size_t bad;	    /* offset of a NUL byte, or SIZE_MAX */
};

/* Return the length of the bare token (NaN, Infinity) at i, or 0. */
static size_t bare_length(struct str text, size_t i)
{
	static const char *const tokens[] = { "-Infinity", "Infinity", "NaN", "" };

	return strlen(tokens[index_of(k, LENGTH(tokens) - 1,
				      str_starts_with(str_skip(text, i), tokens[k]))]);
}

/* Return the value of "\uXXXX" at i, or -1 if there is no such escape. */
static long read_escape(struct str text, size_t i)
{
	char hex[5] = "";

	if (i + 6 > text.len || text.p[i] != '\\' || text.p[i + 1] != 'u')
		return -1;
	memcpy(hex, text.p + i + 2, 4);
	if (strspn(hex, "0123456789abcdefABCDEF") != 4)
		return -1;
	return strtol(hex, NULL, 16);
}

static bool has_surrogate(struct str text, size_t i, size_t end)
{
	for (; i < end; i++) {
		if (text.p[i] != '\\')
			continue;
		if ((read_escape(text, i) & ~0x7FFL) == 0xD800)
			return true;
		i++;
	}
	return false;
}

static struct shape find_shape(struct str text)
{
	const char *nul = text.len > 0 ? memchr(text.p, '\0', text.len) : NULL;
	struct shape shape = { .bad = SIZE_MAX };

	/* A NUL byte would end a key or a string early. */
	if (nul != NULL)
		shape.bad = (size_t)(nul - text.p);

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '"') {
			size_t start = i;

			i = skip_string(text, i);
			shape.has_surrogate |=
				has_surrogate(text, start, i < text.len ? i : text.len);
		} else if (c == '{' || c == '[') {
			if (++shape.open > shape.depth)
				shape.depth = shape.open;
		} else if ((c == '}' || c == ']') && shape.open > 0) {
			shape.open--;
		} else if ((c == 'N' || c == 'I' || c == '-') && bare_length(text, i) > 0) {
			shape.has_bare = true;
		}
	}
	return shape;
}

/* Copy the string at i with U+FFFD for each half of a surrogate pair; returns its end. */
static size_t copy_string(struct buf *out, struct str text, size_t i)
{
	size_t end = skip_string(text, i);

	end = end < text.len ? end : text.len - 1;
	for (; i <= end; i++) {
		long code = read_escape(text, i);

		if (code >= 0xD800 && code < 0xDC00 &&
		    (read_escape(text, i + 6) & ~0x3FFL) == 0xDC00) {
			buf_append(out, text.p + i, 12);
			i += 11;
		} else if (code >= 0xD800 && code < 0xE000) {
			buf_append_str(out, "\\ufffd");
			i += 5;
		} else if (text.p[i] == '\\' && i < end) {
			buf_append(out, text.p + i++, 2);
		} else {
			buf_append_char(out, text.p[i]);
		}
	}
	return end;
}

/* Copy text as strict JSON: replace bare tokens and lone surrogates. */
static void copy_lenient(struct buf *out, struct str text, enum json_bare bare)
{
	size_t len;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '"') {
			i = copy_string(out, text, i);
		} else if ((len = bare_length(text, i)) > 0) {
			if (bare == JSON_BARE_TEXT)
				buf_appendf(out, "\"%.*s\"", (int)len, text.p + i);
			else
				buf_append_str(out, "null");
			i += len - 1;
		} else {
			buf_append_char(out, text.p[i]);
		}
	}
}

/* Report a syntax error at an offset of the text, with line, reason and column. `is_after`: the
 * value is complete; `is_open`: a bracket is not closed.
 * NOLINTNEXTLINE(readability-function-cognitive-complexity): a tokenizer */
static void set_syntax_error(struct err *err, struct str text, size_t at, bool is_after,
			     bool is_open)
{
	size_t before, column = 1;

	/* The parser stops one byte after a "}" that it finds in place of a key. */
	if (at > 0 && at <= text.len && text.p[at - 1] == '}' &&
	    str_ends_with(str_trim((struct str){ text.p, at - 1 }), ","))
		at--;
	while (at < text.len && isspace((unsigned char)text.p[at]))
		at++;
	for (before = at; before > 0 && isspace((unsigned char)text.p[before - 1]); before--)
		;
	char c = at < text.len ? text.p[at] : '\0', last = before > 0 ? text.p[before - 1] : '\0';
	bool is_comma = last == ',' && (c == '}' || c == ']');
	/* Report the comma, and not the bracket after it. */
	at = is_comma ? before - 1 : at;
	for (size_t i = at < text.len ? at : text.len; i > 0 && text.p[i - 1] != '\n'; i--)
		column++;
	err_set(err, ERR_PARSE, "line %u: not valid JSON: %s in column %zu", find_line(text, at),
		is_comma	 ? "a comma without a value after it"
		: at >= text.len ? "the end is missing"
		: is_after	 ? "text after the end"
		: c == '\''	 ? "a string needs double quotes"
		: c == '/'	 ? "comments are not allowed"
		: c == ','	 ? "a comma without a value before it"
		: is_open	 ? "unexpected text, or a missing } or ],"
				 : "unexpected text",
		column);
}

cJSON *json_parse(struct str text, enum json_bare bare, struct err *err)
{
	const char *end = NULL;
	AUTO_BUF copy = buf_new((size_t)JSON_MAX_BYTES * 2);
	size_t rest;

	if (text.len > JSON_MAX_BYTES) {
		err_set(err, ERR_LIMIT, "larger than %u bytes", JSON_MAX_BYTES);
		return NULL;
	}
	struct shape shape = find_shape(text);
	if (shape.depth > JSON_MAX_DEPTH) {
		err_set(err, ERR_LIMIT, "nested deeper than %d levels", JSON_MAX_DEPTH);
		return NULL;
	}
	if ((shape.has_bare || shape.has_surrogate) && bare != JSON_BARE_REFUSED) {
		copy_lenient(&copy, text, bare);
		text = buf_str(&copy);
	}
	if (text.p == NULL)
		text.p = "";
	cJSON *root = cJSON_ParseWithLengthOpts(text.p, text.len, &end, 0);
	size_t at = end != NULL ? (size_t)(end - text.p) : 0;
	for (rest = at; rest < text.len; rest++)
		if (!isspace((unsigned char)text.p[rest]))
			break;
	if (root != NULL && shape.bad == SIZE_MAX && rest >= text.len)
		return root;
	cJSON_Delete(root);
	at = root != NULL ? rest : at;
	at = at < shape.bad ? at : shape.bad;
	set_syntax_error(err, text, at, root != NULL && at == rest, shape.open > 0);
	return NULL;
}

cJSON *json_parse_file(const char *path, struct buf *text, struct err *err)
{
	if (file_read(path, text, err) != 0)
		return NULL;
	cJSON *root = json_parse(buf_str(text), JSON_BARE_REFUSED, err);
	if (root == NULL)
		err_prefix(err, "%s", path);
	return root;
}

static void print_string(struct buf *out, const char *s)
{
	buf_append_char(out, '"');
	while (*s != '\0') {
		size_t n = 0;

		while ((unsigned char)s[n] >= 0x20 && s[n] != '"' && s[n] != '\\')
			n++;
		buf_append(out, s, n);
		s += n;
		if (*s == '"' || *s == '\\')
			buf_appendf(out, "\\%c", *s);
		else if (*s != '\0')
			buf_appendf(out, "\\u%04x", (unsigned char)*s);
		s += *s != '\0';
	}
	buf_append_char(out, '"');
}

/* Print digits / 10^decimals. */
static void print_digits(struct buf *out, bool minus, uint64_t digits, int decimals)
{
	char text[48];
	size_t i = sizeof(text);

	for (int n = 0; n <= decimals || digits > 0; n++, digits /= 10) {
		if (n > 0 && n == decimals)
			text[--i] = '.';
		text[--i] = (char)('0' + digits % 10);
	}
	if (minus)
		text[--i] = '-';
	buf_append(out, text + i, sizeof(text) - i);
}

/* Print a number that has at most 15 digits and 12 decimals, as nearly all do; false for any other
 * number. Division rounds correctly, so digits whose quotient equals the number are exact. */
static bool print_decimal(struct buf *out, double value)
{
	double size = fabs(value), scale = 1;

	for (int n = 0; n <= 12 && size * scale < 1e15; n++, scale *= 10) {
		uint64_t digits = (uint64_t)(size * scale + 0.5);

		if ((double)digits / scale == size) {
			print_digits(out, value < 0, digits, n);
			return true;
		}
	}
	return false;
}

/* Print a number with the fewest of 15 to 17 digits that read back as the same number. */
static void print_number(struct buf *out, double value)
{
	char text[40];

	if (!isfinite(value)) {
		buf_append_str(out, "null");
		return;
	}
	/* Smaller numbers are printed with an exponent. */
	if ((value == 0 || fabs(value) >= 1e-4) && print_decimal(out, value))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		double again;

		print_into(text, "%.*g", digits, value);
		if (str_to_double(str_from(text), &again) && again == value)
			break;
	}
	buf_append_str(out, text);
}

void json_free(cJSON **tree)
{
	cJSON_Delete(*tree);
}

void json_print(struct buf *out, const cJSON *node)
{
	bool object = cJSON_IsObject(node);

	if (cJSON_IsString(node)) {
		print_string(out, node->valuestring);
	} else if (cJSON_IsNumber(node)) {
		print_number(out, node->valuedouble);
	} else if (cJSON_IsBool(node)) {
		buf_append_str(out, cJSON_IsTrue(node) ? "true" : "false");
	} else if (object || cJSON_IsArray(node)) {
		buf_append_char(out, object ? '{' : '[');
		for (const cJSON *c = node->child; c != NULL; c = c->next) {
			if (c != node->child)
				buf_append_char(out, ',');
			if (object) {
				print_string(out, c->string);
				buf_append_char(out, ':');
			}
			json_print(out, c);
		}
		buf_append_char(out, object ? '}' : ']');
	} else {
		buf_append_str(out, "null");
	}
}

void json_add_number(cJSON *object, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

void json_add_string(cJSON *object, const char *key, const char *value)
{
	if (value != NULL)
		cJSON_AddStringToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

void json_add_clean(cJSON *object, const char *key, const char *text)
{
	AUTO_BUF clean = buf_new(65536);

	if (text != NULL)
		utf8_sanitize(&clean, str_from(text));
	json_add_string(object, key, text != NULL ? clean.data : NULL);
}

cJSON *json_add_all(cJSON *object, const struct json_member *m)
{
	char time[CLOCK_RFC3339_SIZE];

	for (; m->key != NULL; m++) {
		if (m->kind == JSON_PUT_TIME && m->number > 0)
			clock_rfc3339((int64_t)m->number, time);
		if (m->kind == JSON_PUT_NUMBER)
			json_add_number(object, m->key, m->number);
		else if (m->kind == JSON_PUT_TIME)
			json_add_string(object, m->key, m->number > 0 ? time : NULL);
		else if (m->kind == JSON_PUT_CLEAN)
			json_add_clean(object, m->key, m->text);
		else if (m->kind == JSON_PUT_BOOL)
			cJSON_AddBoolToObject(object, m->key, m->truth);
		else if (m->node != NULL)
			cJSON_AddItemToObject(object, m->key, m->node);
		else
			json_add_string(object, m->key, m->text);
	}
	return object;
}

cJSON *json_add_row(cJSON *array)
{
	cJSON *row = cJSON_CreateObject();

	cJSON_AddItemToArray(array, row);
	return row;
}

cJSON *json_list_of(cJSON *item)
{
	cJSON *array = cJSON_CreateArray();

	cJSON_AddItemToArray(array, item);
	return array;
}

void json_push_number(cJSON *array, double value)
{
	cJSON_AddItemToArray(array,
			     isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

bool json_has_type(const cJSON *node, unsigned int types)
{
	double number = cJSON_GetNumberValue(node);
	bool is_integer = fabs(number) < 9007199254740992.0 && floor(number) == number;

	return ((types & JSON_STRING) && cJSON_IsString(node)) ||
	       ((types & JSON_NUMBER) && cJSON_IsNumber(node)) ||
	       ((types & JSON_INTEGER) && is_integer) ||
	       ((types & JSON_BOOL) && cJSON_IsBool(node)) ||
	       ((types & JSON_OBJECT) && cJSON_IsObject(node)) ||
	       ((types & JSON_ARRAY) && cJSON_IsArray(node)) ||
	       ((types & JSON_NULL) && cJSON_IsNull(node));
}

/* Find a name that two members of an object have; NULL: none. */
static const char *find_duplicate(const cJSON *object)
{
	size_t n = 0, room = (size_t)cJSON_GetArraySize(object);
	const char **names = xcalloc(room + 1, sizeof(*names)), *twin = NULL;

	json_each (member, object)
		names[n++] = member->string;
	qsort((void *)names, n, sizeof(*names), sort_by_text);
	for (size_t i = 1; i < n && twin == NULL; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			twin = names[i];
	free((void *)names);
	return twin;
}

const char *json_duplicate_key(const cJSON *node)
{
	const char *twin = cJSON_IsObject(node) ? find_duplicate(node) : NULL;

	for (const cJSON *c = node != NULL ? node->child : NULL; twin == NULL && c != NULL;
	     c = c->next)
		if (c->child != NULL)
			twin = json_duplicate_key(c);
	return twin;
}

const char *json_get_string(const cJSON *object, const char *key, const char *fallback)
{
	const cJSON *node = json_get(object, key);

	return cJSON_IsString(node) ? node->valuestring : fallback;
}

double json_get_number(const cJSON *object, const char *key, double fallback)
{
	const cJSON *node = json_get(object, key);

	return cJSON_IsNumber(node) ? node->valuedouble : fallback;
}

bool json_get_bool(const cJSON *object, const char *key, bool fallback)
{
	const cJSON *node = json_get(object, key);

	return cJSON_IsBool(node) ? cJSON_IsTrue(node) : fallback;
}

static size_t skip_blank(struct str text, size_t i)
{
	while (i < text.len && isspace((unsigned char)text.p[i]))
		i++;
	return i;
}

/* Move *i from an element of an array or object to the next one; false at the end. */
static bool next_element(struct str text, size_t *i)
{
	const char *end = text.p + text.len;

	cJSON_Delete(cJSON_ParseWithLengthOpts(text.p + *i, text.len - *i, &end, 0));
	*i = skip_blank(text, (size_t)(end - text.p));
	if (*i >= text.len || text.p[*i] != ',')
		return false;
	*i = skip_blank(text, *i + 1);
	return true;
}

/* Move *i from the start of an object to the value of its member `name`, and *key to the key. */
static bool find_member(struct str text, struct str name, size_t *i, size_t *key)
{
	if (*i >= text.len || text.p[*i] != '{')
		return false;
	*i = skip_blank(text, *i + 1);
	do {
		*key = *i;
		if (*i >= text.len || text.p[*i] != '"')
			return false;
		size_t end = skip_string(text, *i);
		*i = skip_blank(text, end + 1);
		if (*i >= text.len || text.p[*i] != ':')
			return false;
		*i = skip_blank(text, *i + 1);
		if (str_eq(name, str_between(text.p + *key + 1, text.p + end)))
			return true;
	} while (next_element(text, i));
	return false;
}

unsigned int json_line_of(struct str text, const char *path)
{
	size_t i = skip_blank(text, 0), key = i;

	while (*path != '\0') {
		path += *path == '.';
		if (*path == '[') {
			if (i >= text.len || text.p[i] != '[')
				return 0;
			i = skip_blank(text, i + 1);
			for (size_t n = strtoul(path + 1, NULL, 10); n > 0; n--)
				if (!next_element(text, &i))
					return 0;
			path += strcspn(path, "]");
			path += *path == ']';
			key = i;
		} else {
			size_t n = strcspn(path, ".[");

			if (!find_member(text, (struct str){ path, n }, &i, &key))
				return 0;
			path += n;
		}
	}
	return find_line(text, key);
}
