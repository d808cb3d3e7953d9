/* SPDX-License-Identifier: MIT */
/* cJSON with bounds, strict keys, and errors that name the line. */
#include "config.h"

#include "parsers/json.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int
line_at(struct str text, size_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset && i < text.len; i++)
		line += text.p[i] == '\n';
	return line;
}

/* What a scan of the text outside of strings found. */
struct shape {
	size_t depth;	    /* deepest nesting */
	bool has_bare;	    /* NaN or Infinity */
	bool has_surrogate; /* \ud800 .. \udfff, in a pair or not */
	size_t bad; /* offset of a byte that JSON forbids, or SIZE_MAX */
};

static size_t
skip_string(struct str text, size_t i)
{
	for (i++; i < text.len && text.p[i] != '"'; i++)
		if (text.p[i] == '\\')
			i++;
	return i;
}

static bool
is_bare_token(struct str text, size_t i, size_t *len)
{
	static const char *const tokens[] = { "-Infinity", "Infinity", "NaN" };

	for (size_t k = 0; k < sizeof(tokens) / sizeof(tokens[0]); k++) {
		if (str_starts_with((struct str){ text.p + i, text.len - i },
				    tokens[k])) {
			*len = strlen(tokens[k]);
			return true;
		}
	}
	return false;
}

/* The number of "\uXXXX" at i, or -1 when no such escape is there. */
static long
escape_at(struct str text, size_t i)
{
	char hex[5] = "";

	if (i + 6 > text.len || text.p[i] != '\\' || text.p[i + 1] != 'u')
		return -1;
	memcpy(hex, text.p + i + 2, 4);
	if (strspn(hex, "0123456789abcdefABCDEF") != 4)
		return -1;
	return strtol(hex, NULL, 16);
}

static bool
has_surrogate(struct str text, size_t i, size_t end)
{
	for (; i < end; i++) {
		if (text.p[i] != '\\')
			continue;
		if ((escape_at(text, i) & ~0x7FFL) == 0xD800)
			return true;
		i++;
	}
	return false;
}

static struct shape
shape_of(struct str text)
{
	const char *nul = text.len > 0 ? memchr(text.p, '\0', text.len) : NULL;
	struct shape shape = { .bad = SIZE_MAX };
	size_t depth = 0, len;

	/* A NUL would end a key or a string early. */
	if (nul != NULL)
		shape.bad = (size_t)(nul - text.p);

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '"') {
			size_t start = i;

			i = skip_string(text, i);
			shape.has_surrogate |= has_surrogate(
				text, start, i < text.len ? i : text.len);
		} else if (c == '{' || c == '[') {
			if (++depth > shape.depth)
				shape.depth = depth;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		} else if ((c == 'N' || c == 'I' || c == '-') &&
			   is_bare_token(text, i, &len)) {
			shape.has_bare = true;
		}
	}
	return shape;
}

/* The string at i with U+FFFD for each half of a pair; returns its end. */
static size_t
copy_string(struct buf *out, struct str text, size_t i)
{
	size_t end = skip_string(text, i);

	end = end < text.len ? end : text.len - 1;
	for (; i <= end; i++) {
		long code = escape_at(text, i);

		if (code >= 0xD800 && code < 0xDC00 &&
		    (escape_at(text, i + 6) & ~0x3FFL) == 0xDC00) {
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

/* A copy of text that strict JSON allows. */
static void
copy_lenient(struct buf *out, struct str text, enum json_bare bare)
{
	size_t len;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '"') {
			i = copy_string(out, text, i);
		} else if (is_bare_token(text, i, &len)) {
			if (bare == JSON_BARE_TEXT)
				buf_appendf(out, "\"%.*s\"", (int)len,
					    text.p + i);
			else
				buf_append_str(out, "null");
			i += len - 1;
		} else {
			buf_append_char(out, text.p[i]);
		}
	}
}

static bool
rest_is_blank(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p >= end;
}

cJSON *
json_parse(struct str text, enum json_bare bare, struct err *err)
{
	struct shape shape;
	const char *end = NULL;
	struct buf copy;
	cJSON *root;

	if (text.len > JSON_MAX_BYTES) {
		err_set(err, ERR_LIMIT, "larger than %u bytes", JSON_MAX_BYTES);
		return NULL;
	}
	shape = shape_of(text);
	if (shape.depth > JSON_MAX_DEPTH) {
		err_set(err, ERR_LIMIT, "nested deeper than %d levels",
			JSON_MAX_DEPTH);
		return NULL;
	}
	buf_init(&copy, (size_t)JSON_MAX_BYTES * 2);
	if ((shape.has_bare || shape.has_surrogate) &&
	    bare != JSON_BARE_REFUSED) {
		copy_lenient(&copy, text, bare);
		text = (struct str){ copy.data, copy.len };
	}
	root = cJSON_ParseWithLengthOpts(text.p != NULL ? text.p : "", text.len,
					 &end, 0);
	if (root == NULL || shape.bad != SIZE_MAX ||
	    !rest_is_blank(end, text.p + text.len)) {
		size_t at = end != NULL && text.p != NULL
				    ? (size_t)(end - text.p)
				    : 0;

		cJSON_Delete(root);
		root = NULL;
		err_set(err, ERR_PARSE, "line %u: not valid JSON",
			line_at(text, at < shape.bad ? at : shape.bad));
	}
	buf_release(&copy);
	return root;
}

cJSON *
json_parse_file(const char *path, struct buf *text, struct err *err)
{
	struct stat st;
	cJSON *root = NULL;
	char block[65536];
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		err_set_errno(err, ERR_IO, "cannot open %s", path);
		return NULL;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "%s is not a regular file", path);
		goto out;
	}
	while (!text->truncated && (n = read(fd, block, sizeof(block))) > 0)
		buf_append(text, block, (size_t)n);
	if (n < 0) {
		err_set_errno(err, ERR_IO, "cannot read %s", path);
		goto out;
	}
	root = json_parse((struct str){ text->data, text->len },
			  JSON_BARE_REFUSED, err);
	if (root == NULL)
		err_prefix(err, "%s", path);
out:
	(void)close(fd);
	return root;
}

/* A string with quotes; what JSON forbids is escaped (RFC 8259, 7). */
static void
print_string(struct buf *out, const char *s)
{
	buf_append_char(out, '"');
	while (*s != '\0') {
		size_t n = 0;

		while ((unsigned char)s[n] >= 0x20 && s[n] != '"' &&
		       s[n] != '\\')
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

static void
print_integer(struct buf *out, double value)
{
	uint64_t rest = (uint64_t)fabs(value);
	char digits[24];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (value < 0)
		digits[--i] = '-';
	buf_append(out, digits + i, sizeof(digits) - i);
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void
print_number(struct buf *out, double value)
{
	char text[40];

	if (!isfinite(value)) {
		buf_append_str(out, "null");
		return;
	}
	if (floor(value) == value && fabs(value) < 1e15) {
		print_integer(out, value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		double again;

		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (str_to_double(str_from(text), &again) && again == value)
			break;
	}
	buf_append_str(out, text);
}

static void
print_node(struct buf *out, const cJSON *node)
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
			print_node(out, c);
		}
		buf_append_char(out, object ? '}' : ']');
	} else {
		buf_append_str(out, "null");
	}
}

void
json_print(struct buf *out, const cJSON *node)
{
	print_node(out, node);
}

void
json_add_number(cJSON *object, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

void
json_add_string(cJSON *object, const char *key, const char *value)
{
	if (value != NULL)
		cJSON_AddStringToObject(object, key, value);
	else
		cJSON_AddNullToObject(object, key);
}

/* Where a scan for a path stands. */
struct finder {
	struct str text;
	size_t i;
};

static void
skip_blank(struct finder *f)
{
	while (f->i < f->text.len && isspace((unsigned char)f->text.p[f->i]))
		f->i++;
}

/* Step over the value at f->i, whatever it is. */
static void
skip_value(struct finder *f)
{
	size_t depth = 0;

	for (; f->i < f->text.len; f->i++) {
		char c = f->text.p[f->i];

		if (c == '"') {
			f->i = skip_string(f->text, f->i);
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				return;
			if (--depth == 0) {
				f->i++;
				return;
			}
			continue;
		} else if (c == ',' && depth == 0) {
			return;
		}
	}
}

/* Enter the container at f->i; false when it is none. */
static bool
enter(struct finder *f, char open)
{
	skip_blank(f);
	if (f->i >= f->text.len || f->text.p[f->i] != open)
		return false;
	f->i++;
	skip_blank(f);
	return true;
}

/* Past the comma to the next element; false at the end of the container. */
static bool
next_element(struct finder *f)
{
	skip_value(f);
	skip_blank(f);
	if (f->i >= f->text.len || f->text.p[f->i] != ',')
		return false;
	f->i++;
	skip_blank(f);
	return true;
}

static bool
find_member(struct finder *f, struct str name)
{
	if (!enter(f, '{'))
		return false;
	do {
		size_t start = f->i + 1, end;

		if (f->i >= f->text.len || f->text.p[f->i] != '"')
			return false;
		end = skip_string(f->text, f->i);
		f->i = end + 1;
		skip_blank(f);
		if (f->i >= f->text.len || f->text.p[f->i] != ':')
			return false;
		f->i++;
		skip_blank(f);
		if (end <= f->text.len &&
		    str_eq(name,
			   (struct str){ f->text.p + start, end - start })) {
			f->i = start - 1; /* point at the key itself */
			return true;
		}
	} while (next_element(f));
	return false;
}

static bool
find_index(struct finder *f, size_t index)
{
	if (!enter(f, '['))
		return false;
	for (; index > 0; index--)
		if (!next_element(f))
			return false;
	return true;
}

/* From a key to its value. */
static void
key_to_value(struct finder *f)
{
	if (f->i < f->text.len && f->text.p[f->i] == '"') {
		f->i = skip_string(f->text, f->i) + 1;
		skip_blank(f);
		f->i++;
	}
	skip_blank(f);
}

unsigned int
json_line_of(struct str text, const char *path)
{
	struct finder f = { text, 0 };
	bool on_key = false;

	while (*path != '\0') {
		if (on_key)
			key_to_value(&f);
		if (*path == '.')
			path++;
		if (*path == '[') {
			if (!find_index(&f, strtoul(path + 1, NULL, 10)))
				return 0;
			path += strcspn(path, "]");
			path += *path == ']';
			on_key = false;
		} else {
			size_t n = strcspn(path, ".[");

			if (!find_member(&f, (struct str){ path, n }))
				return 0;
			path += n;
			on_key = true;
		}
	}
	skip_blank(&f);
	return line_at(text, f.i);
}

int
json_fail(const struct json_at *at, const char *path, struct err *err,
	  const char *fmt, ...)
{
	unsigned int line = json_line_of(at->text, path);
	char message[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return err_set(err, at->code, "%s:%u: %s%s%s", at->file,
		       line > 0 ? line : 1, path, *path != '\0' ? ": " : "",
		       message);
}

static bool
is_integer(const cJSON *node)
{
	return cJSON_IsNumber(node) &&
	       fabs(node->valuedouble) < 9007199254740992.0 &&
	       floor(node->valuedouble) == node->valuedouble;
}

static bool
has_type(const cJSON *node, unsigned int types)
{
	return ((types & JSON_STRING) && cJSON_IsString(node)) ||
	       ((types & JSON_NUMBER) && cJSON_IsNumber(node)) ||
	       ((types & JSON_INTEGER) && is_integer(node)) ||
	       ((types & JSON_BOOL) && cJSON_IsBool(node)) ||
	       ((types & JSON_OBJECT) && cJSON_IsObject(node)) ||
	       ((types & JSON_ARRAY) && cJSON_IsArray(node)) ||
	       ((types & JSON_NULL) && cJSON_IsNull(node));
}

/* "a string or null" for a set of types. */
static void
type_words(unsigned int types, char *out, size_t size)
{
	static const struct {
		unsigned int type;
		const char *word;
	} words[] = {
		{ JSON_STRING, "a string" },	{ JSON_NUMBER, "a number" },
		{ JSON_INTEGER, "an integer" }, { JSON_BOOL, "true or false" },
		{ JSON_OBJECT, "an object" },	{ JSON_ARRAY, "an array" },
		{ JSON_NULL, "null" },
	};
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((types & words[i].type) && used < size)
			used += (size_t)snprintf(out + used, size - used,
						 "%s%s", used > 0 ? " or " : "",
						 words[i].word);
}

static const struct json_key *
find_key(const struct json_key *keys, const char *name)
{
	for (; keys->name != NULL; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

static int
check_member(const struct json_at *at, const cJSON *object, const cJSON *member,
	     const char *path, const struct json_key *keys, struct err *err)
{
	const struct json_key *key = find_key(keys, member->string);
	char full[256], words[128];

	(void)snprintf(full, sizeof(full), "%s%s%s", path,
		       *path != '\0' ? "." : "", member->string);
	if (key == NULL)
		return json_fail(at, full, err, "unknown key");
	if (cJSON_GetObjectItemCaseSensitive(object, member->string) != member)
		return json_fail(at, full, err, "this key stands twice");
	if (!has_type(member, key->types)) {
		type_words(key->types, words, sizeof(words));
		return json_fail(at, full, err, "expected %s", words);
	}
	return 0;
}

int
json_check_keys(const struct json_at *at, const cJSON *object, const char *path,
		const struct json_key *keys, struct err *err)
{
	const cJSON *member;

	if (!cJSON_IsObject(object))
		return json_fail(at, path, err, "expected an object");
	cJSON_ArrayForEach(member, object)
	{
		if (strcmp(member->string, "//") == 0)
			continue;
		if (check_member(at, object, member, path, keys, err) != 0)
			return -1;
	}
	for (; keys->name != NULL; keys++)
		if ((keys->types & JSON_REQUIRED) &&
		    !cJSON_HasObjectItem(object, keys->name))
			return json_fail(at, path, err,
					 "the key \"%s\" is missing",
					 keys->name);
	return 0;
}

const char *
json_get_string(const cJSON *object, const char *key, const char *fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(node) ? node->valuestring : fallback;
}

double
json_get_number(const cJSON *object, const char *key, double fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(node) ? node->valuedouble : fallback;
}

bool
json_get_bool(const cJSON *object, const char *key, bool fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsBool(node) ? cJSON_IsTrue(node) : fallback;
}
