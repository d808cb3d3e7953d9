/* SPDX-License-Identifier: MIT */
/* Read JSON objects into structs, and write them, by tables of their keys. */
#include "parsers/json_fields.h"

#include "base/file.h"
#include "base/nearest.h"

/* The kind JSON_AS_CHOICE stores an enum through an unsigned int *. */
_Static_assert(sizeof(enum json_kind) == sizeof(unsigned int), "enum");

/* The JSON types that each kind accepts. */
static const unsigned int json_types[] = {
	[JSON_AS_TEXT] = JSON_STRING,
	[JSON_AS_PATH] = JSON_STRING,
	[JSON_AS_CHARS] = JSON_STRING,
	[JSON_AS_WORD] = JSON_STRING,
	[JSON_AS_CHOICE] = JSON_STRING,
	[JSON_AS_EITHER] = JSON_STRING,
	[JSON_AS_FIXED] = JSON_STRING,
	[JSON_AS_NUMBER] = JSON_NUMBER,
	[JSON_AS_INTEGER] = JSON_INTEGER,
	[JSON_AS_COUNT] = JSON_INTEGER,
	[JSON_AS_BOOL] = JSON_BOOL,
	[JSON_AS_TEXTS] = JSON_ARRAY,
	[JSON_AS_PATHS] = JSON_ARRAY,
	[JSON_AS_NUMBERS] = JSON_ARRAY,
	[JSON_AS_INDEXES] = JSON_ARRAY,
	[JSON_AS_OBJECT] = JSON_OBJECT,
	[JSON_AS_OTHER] = 0,
};

int json_refuse(const struct json_reader *r, const char *path, const char *fmt, ...)
{
	unsigned int line = json_line_of(r->at.text, path);
	char message[320];

	print_args(message, fmt);
	return err_set(r->err, r->at.code, "%s:%u: %s%s%s", r->at.file, line > 0 ? line : 1, path,
		       *path != '\0' ? ": " : "", message);
}

const char *json_join(char out[JSON_PATH_SIZE], const char *path, const char *key)
{
	const char *const parts[] = { path, path[0] != '\0' ? "." : "", key };
	size_t at = 0;

	/* snprintf would be too slow: this is called for each key of all rules */
	for (size_t i = 0; i < LENGTH(parts); i++) {
		size_t n = strlen(parts[i]);

		n = n < JSON_PATH_SIZE - 1 - at ? n : JSON_PATH_SIZE - 1 - at;
		memcpy(out + at, parts[i], n);
		at += n;
	}
	out[at] = '\0';
	return out;
}

/* Return the index of a word, or -1 with an error that lists all words. */
static int find_word(const struct json_reader *r, const struct json_field *f, const char *value,
		     const char *path)
{
	const char *const *words = f->words, *glue = "";
	int index = value[0] != '\0' ? str_index(words, value) : -1;
	char list[200] = "";

	if (index >= 0)
		return index;
	if (f->what != NULL)
		return json_refuse(r, path, "unknown %s \"%s\"", f->what, value);
	for (; *words != NULL; words++) {
		if (**words == '\0')
			continue;
		append_into(list, "%s\"%s\"", glue, *words);
		glue = words[1] != NULL && words[2] != NULL ? ", " : " or ";
	}
	return json_refuse(r, path, "expected %s", list);
}

/* Check and copy a text or path; NULL with err. */
static char *copy_text(const struct json_reader *r, const struct json_field *f, const char *text,
		       const char *path)
{
	if (f->is_right != NULL && !f->is_right(text)) {
		json_refuse(r, path, "expected %s", f->what);
		return NULL;
	}
	return f->kind == JSON_AS_PATH || f->kind == JSON_AS_PATHS ? r->path(r, text)
								   : xstrdup(text);
}

static int read_entry(const struct json_reader *r, const struct json_field *f, const cJSON *item,
		      const char *path, void *v, size_t i)
{
	const char *text = cJSON_IsString(item) ? item->valuestring : "";
	double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
	int *indexes = v;

	if (f->kind == JSON_AS_NUMBERS) {
		((double *)v)[i] = number;
		return number > 0 ? 0 : json_refuse(r, path, "expected a number above 0");
	}
	if (f->kind != JSON_AS_INDEXES) {
		if (text[0] == '\0')
			return json_refuse(r, path, "expected a non-empty string");
		((char **)v)[i] = copy_text(r, f, text, path);
		return ((char **)v)[i] != NULL ? 0 : -1;
	}
	if (!(number >= 0) || number > f->high || floor(number) != number)
		return json_refuse(r, path, "expected the index of a %s, 0 to %.0f", f->what,
				   f->high);
	indexes[i] = (int)number;
	if (any_of(k, i, indexes[k] == indexes[i]))
		return json_refuse(r, path, "duplicate %s %d", f->what, indexes[i]);
	return 0;
}

static int read_list(const struct json_reader *r, const struct json_field *f, const cJSON *array,
		     const char *path, void *base)
{
	size_t n = (size_t)cJSON_GetArraySize(array);
	size_t size = f->kind == JSON_AS_NUMBERS   ? sizeof(double)
		      : f->kind == JSON_AS_INDEXES ? sizeof(int)
						   : sizeof(char *);
	size_t *n_read = (size_t *)((char *)base + f->at_n);
	char at[JSON_PATH_SIZE + 24];

	if (n > f->most)
		return json_refuse(r, path, "more than %zu entries", f->most);
	void *v = xcalloc(n + 1, size);
	memcpy((char *)base + f->at, &v, sizeof(v));
	json_each (item, array) {
		print_into(at, "%s[%zu]", path, *n_read);
		if (read_entry(r, f, item, at, v, *n_read) != 0)
			return -1;
		++*n_read;
	}
	return 0;
}

static int read_value(const struct json_reader *r, const struct json_field *f, const cJSON *node,
		      const char *path, void *base)
{
	void *to = (char *)base + f->at;
	int index;

	switch (f->kind) {
	case JSON_AS_TEXT:
	case JSON_AS_PATH:
		*(char **)to = copy_text(r, f, node->valuestring, path);
		return *(char **)to != NULL ? 0 : -1;
	case JSON_AS_CHARS:
		(void)snprintf(to, f->most, "%s", node->valuestring);
		return 0;
	case JSON_AS_WORD:
	case JSON_AS_CHOICE:
	case JSON_AS_EITHER:
	case JSON_AS_FIXED:
		index = find_word(r, f, node->valuestring, path);
		if (index < 0)
			return -1;
		if (f->kind == JSON_AS_CHOICE)
			*(unsigned int *)to = (unsigned int)index;
		else if (f->kind == JSON_AS_EITHER)
			*(bool *)to = index == 1;
		else if (f->kind == JSON_AS_WORD)
			*(char **)to = xstrdup(node->valuestring);
		return 0;
	case JSON_AS_NUMBER:
	case JSON_AS_INTEGER:
	case JSON_AS_COUNT:
		if (f->low == 0 && f->high == 0 && !(node->valuedouble > 0))
			return json_refuse(r, path, "expected a number above 0");
		if ((f->low != 0 || f->high != 0) &&
		    !(node->valuedouble >= f->low && node->valuedouble <= f->high))
			return json_refuse(r, path, "expected a number from %.15g to %.15g", f->low,
					   f->high);
		if (f->kind == JSON_AS_NUMBER)
			*(double *)to = node->valuedouble * (f->scale != 0 ? f->scale : 1);
		else if (f->kind == JSON_AS_INTEGER)
			*(int64_t *)to = (int64_t)node->valuedouble;
		else
			*(size_t *)to = (size_t)node->valuedouble;
		return 0;
	case JSON_AS_BOOL:
		*(bool *)to = cJSON_IsTrue(node);
		return 0;
	case JSON_AS_TEXTS:
	case JSON_AS_PATHS:
	case JSON_AS_NUMBERS:
	case JSON_AS_INDEXES:
		return read_list(r, f, node, path, base);
	case JSON_AS_OBJECT:
		if (json_read_object(r, f->fields, node, path, to) != 0)
			return -1;
		return f->take != NULL ? f->take(r, node, path, to) : 0;
	case JSON_AS_OTHER:
		return f->take != NULL ? f->take(r, node, path, to) : 0;
	}
	return 0;
}

static const struct {
	unsigned int type;
	const char *word;
} type_words[] = {
	{ JSON_STRING, "a string" },	{ JSON_NUMBER, "a number" },
	{ JSON_INTEGER, "an integer" }, { JSON_BOOL, "true or false" },
	{ JSON_OBJECT, "an object" },	{ JSON_ARRAY, "an array" },
	{ JSON_NULL, "null" },
};

static unsigned int get_types(const struct json_reader *r, const struct json_field *f)
{
	unsigned int types = f->types | json_types[f->kind];

	/* INTEGER restricts a NUMBER to whole numbers. */
	if ((f->types & JSON_INTEGER) != 0)
		types &= ~(unsigned int)JSON_NUMBER;
	if (r->nulls && (types & JSON_REQUIRED) == 0)
		types |= JSON_NULL;
	return types;
}

static int check_member(const struct json_reader *r, const struct json_field *fields,
			const cJSON *object, const cJSON *member, const char *path)
{
	struct nearest near = { .word = str_from(member->string) };
	const struct json_field *known = fields;
	char full[JSON_PATH_SIZE], words[128] = "";

	while (known->name != NULL && strcmp(known->name, member->string) != 0)
		known++;
	if (known->name != NULL && json_get(object, member->string) == member &&
	    json_has_type(member, get_types(r, known)))
		return 0;
	(void)json_join(full, path, member->string);
	if (known->name != NULL && json_get(object, member->string) != member)
		return json_refuse(r, full, "duplicate key");
	if (known->name != NULL) {
		array_each (one, type_words, LENGTH(type_words))
			if ((get_types(r, known) & one->type) != 0)
				append_into(words, "%s%s", *words != '\0' ? " or " : "", one->word);
		return json_refuse(r, full, "expected %s", words);
	}
	/* it may be a typo of a known key */
	near.max_typos = (near.word.len + 1) / 3;
	AUTO_TEXT word = xasprintf(" %s ", member->string);
	for (; fields->name != NULL; fields++) {
		if (fields->also != NULL && strcasestr(fields->also, word) != NULL)
			return json_refuse(r, full, "unknown key; did you mean \"%s\", %s?",
					   fields->name, fields->what);
		nearest_add(&near, fields->name, strlen(fields->name));
	}
	if (near.name.p == NULL)
		return json_refuse(r, full, "unknown key");
	return json_refuse(r, full, "unknown key; did you mean \"%.*s\"?", (int)near.name.len,
			   near.name.p);
}

static int check_keys(const struct json_reader *r, const struct json_field *fields,
		      const cJSON *object, const char *path)
{
	if (!cJSON_IsObject(object))
		return json_refuse(r, path, "expected an object");
	json_each (member, object) {
		if (strcmp(member->string, "//") != 0 &&
		    check_member(r, fields, object, member, path) != 0)
			return -1;
	}
	for (; fields->name != NULL; fields++)
		if ((fields->types & JSON_REQUIRED) && !cJSON_HasObjectItem(object, fields->name))
			return json_refuse(r, path, "the key \"%s\" is missing", fields->name);
	return 0;
}

int json_read_object(const struct json_reader *r, const struct json_field *fields,
		     const cJSON *object, const char *path, void *base)
{
	char at[JSON_PATH_SIZE];

	if (check_keys(r, fields, object, path) != 0)
		return -1;
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const cJSON *value = json_get(object, f->name);

		/* An allowed null is like a missing key, but OTHER can give it a meaning. */
		if (value == NULL ||
		    (cJSON_IsNull(value) && (r->nulls || f->kind != JSON_AS_OTHER)))
			continue;
		if (read_value(r, f, value, json_join(at, path, f->name), base) != 0)
			return -1;
	}
	return 0;
}

int json_read_text(struct json_reader *r, const char *file, struct str text,
		   const struct json_field *fields, void *base)
{
	struct err bad = { ERR_NONE, "" };
	AUTO_JSON root = json_parse(text, JSON_BARE_REFUSED, &bad);

	r->at.file = file;
	r->at.text = text;
	if (root == NULL) {
		/* Turn "line 3: .." into "file:3: ..". */
		bool has_line = strncmp(bad.text, "line ", 5) == 0;

		return err_set(r->err, r->at.code, "%s:%s%s", file, has_line ? "" : " ",
			       bad.text + (has_line ? 5 : 0));
	}
	return json_read_object(r, fields, root, "", base);
}

int json_read_file(struct json_reader *r, const char *file, const struct json_field *fields,
		   void *base)
{
	struct err bad = { ERR_NONE, "" };
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	if (file_read_stream(file, &text, &bad) != 0)
		return err_set(r->err, r->at.code, "%s", bad.text);
	return json_read_text(r, file, buf_str(&text), fields, base);
}

void json_write_object(cJSON *object, const struct json_field *fields, const void *base)
{
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const void *from = (const char *)base + f->at;
		const char *text = from;

		if (f->kind == JSON_AS_CHOICE)
			text = f->words[*(const unsigned int *)from];
		if (f->kind == JSON_AS_CHOICE || f->kind == JSON_AS_CHARS)
			json_add_clean(object, f->name, text[0] != '\0' ? text : NULL);
		else if (f->kind == JSON_AS_NUMBER)
			json_add_number(object, f->name, *(const double *)from);
		else if (f->kind == JSON_AS_COUNT)
			json_add_number(object, f->name, (double)*(const size_t *)from);
		else if (f->kind == JSON_AS_BOOL)
			cJSON_AddBoolToObject(object, f->name, *(const bool *)from);
		else if (*(const int64_t *)from == 0)
			cJSON_AddNullToObject(object, f->name);
		else
			json_add_number(object, f->name, (double)*(const int64_t *)from);
	}
}

void json_read_known(const struct json_field *fields, const cJSON *object, void *base)
{
	const struct json_reader quiet = { .err = NULL };

	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const cJSON *value = json_get(object, f->name);

		if (json_has_type(value, json_types[f->kind]))
			(void)read_value(&quiet, f, value, "", base);
	}
}

void json_release_object(const struct json_field *fields, void *base)
{
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		char *at = (char *)base + f->at;
		bool has_texts = f->kind == JSON_AS_TEXTS || f->kind == JSON_AS_PATHS;
		void *v;

		if (f->kind == JSON_AS_OBJECT)
			json_release_object(f->fields, at);
		if (!has_texts && f->kind != JSON_AS_TEXT && f->kind != JSON_AS_PATH &&
		    f->kind != JSON_AS_WORD && f->kind != JSON_AS_NUMBERS &&
		    f->kind != JSON_AS_INDEXES)
			continue;
		memcpy(&v, at, sizeof(v));
		for (size_t i = 0; has_texts && i < *(size_t *)((char *)base + f->at_n); i++)
			free(((char **)v)[i]);
		free(v);
	}
}
