/* SPDX-License-Identifier: MIT */
/* Rule sets: loading, order, and which rules a line may need. */
#include "config.h"

#include "parsers/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/xalloc.h"
#include "parsers/json.h"
#include "parsers/scan_priv.h"

/* The files of parsers/formats, made into C by the build. */
extern const struct embed_file format_builtin[];

#define MAX_FORMATS 64
#define MAX_RULES   1024

struct format {
	char *name, *about;
	bool builtin;
	struct rule *rules; /* owned */
	size_t n_rules;
};

struct format_set {
	struct format formats[MAX_FORMATS];
	size_t n_formats;
	const struct rule **order; /* all rules as they are tried */
	size_t n_order;
	struct scan_index index; /* of order */
};

static void
format_release(struct format *format)
{
	for (size_t i = 0; i < format->n_rules; i++)
		rule_release(&format->rules[i]);
	free(format->rules);
	free(format->name);
	free(format->about);
	*format = (struct format){ NULL, NULL, false, NULL, 0 };
}

/* Lay out the rules of all sets in the order in which they are tried. */
static void
make_order(struct format_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_formats; i++)
		n += set->formats[i].n_rules;
	set->order =
		xreallocarray((void *)set->order, n, sizeof(struct rule *));
	set->n_order = 0;
	for (size_t i = 0; i < set->n_formats; i++)
		for (size_t k = 0; k < set->formats[i].n_rules; k++)
			set->order[set->n_order++] = &set->formats[i].rules[k];
	scan_index_release(&set->index);
	scan_index_build(&set->index, set->order, n);
}

static const struct json_key format_keys[] = {
	{ "schema", JSON_STRING | JSON_REQUIRED },
	{ "name", JSON_STRING | JSON_REQUIRED },
	{ "about", JSON_STRING },
	{ "rules", JSON_ARRAY | JSON_REQUIRED },
	{ NULL, 0 },
};

static const struct json_key rule_keys[] = {
	{ "name", JSON_STRING | JSON_REQUIRED },
	{ "match", JSON_STRING | JSON_REQUIRED },
	{ "kind", JSON_STRING | JSON_REQUIRED },
	{ "needs", JSON_STRING },
	{ "stage", JSON_STRING },
	{ "event", JSON_STRING },
	{ "fatal", JSON_BOOL },
	{ NULL, 0 },
};

typedef const char *(*name_fn)(int i);

static const char *
kind_name(int i)
{
	return rule_kind_name((enum rule_kind)i);
}

static const char *
stage_name(int i)
{
	return rule_stage_name((enum rule_stage)i);
}

static const char *
event_name(int i)
{
	return run_event_name((enum run_event_kind)i);
}

/* One word of a rule, looked up in its list. */
struct word {
	const char *key;
	name_fn name;
	int count;
	int fallback; /* when the key is not there */
};

static int
find_word(const struct json_at *at, const cJSON *node, const char *path,
	  const struct word *word, struct err *err)
{
	const char *text = json_get_string(node, word->key, NULL);
	char full[96];

	if (text == NULL)
		return word->fallback;
	for (int i = 0; i < word->count; i++)
		if (strcmp(text, word->name(i)) == 0)
			return i;
	(void)snprintf(full, sizeof(full), "%s.%s", path, word->key);
	return json_fail(at, full, err, "there is no %s \"%s\"", word->key,
			 text);
}

static int
load_rule(const struct json_at *at, const cJSON *node, const char *path,
	  struct rule *rule, struct err *err)
{
	static const struct word kind = { "kind", kind_name, RULE_KIND_COUNT,
					  0 };
	static const struct word stage = { "stage", stage_name, STAGE_COUNT,
					   STAGE_UNKNOWN };
	static const struct word event = { "event", event_name, RUN_EVENT_COUNT,
					   RUN_EVENT_OTHER };
	struct rule_source source;
	struct err why = { ERR_NONE, "" };
	char full[96];
	int k, s, e;

	if (json_check_keys(at, node, path, rule_keys, err) != 0 ||
	    (k = find_word(at, node, path, &kind, err)) < 0 ||
	    (s = find_word(at, node, path, &stage, err)) < 0 ||
	    (e = find_word(at, node, path, &event, err)) < 0)
		return -1;
	source = (struct rule_source){ json_get_string(node, "name", ""),
				       json_get_string(node, "match", ""),
				       json_get_string(node, "needs", NULL) };
	rule->kind = (enum rule_kind)k;
	rule->stage = (enum rule_stage)s;
	rule->event = (enum run_event_kind)e;
	rule->fatal = json_get_bool(node, "fatal", false);
	if (rule_compile(rule, &source, &why) == 0)
		return 0;
	(void)snprintf(full, sizeof(full), "%s.match", path);
	return json_fail(at, full, err, "%s", why.text);
}

static int
load_rules(const struct json_at *at, const cJSON *root, struct format *format,
	   struct err *err)
{
	const cJSON *rules = cJSON_GetObjectItemCaseSensitive(root, "rules");
	int n = cJSON_GetArraySize(rules);
	const cJSON *node;

	if (n == 0 || n > MAX_RULES)
		return json_fail(at, "rules", err, "1 to %d rules are allowed",
				 MAX_RULES);
	format->rules = xcalloc((size_t)n, sizeof(*format->rules));
	cJSON_ArrayForEach(node, rules)
	{
		char path[32];
		struct rule *rule = &format->rules[format->n_rules];

		(void)snprintf(path, sizeof(path), "rules[%zu]",
			       format->n_rules);
		rule->format = format->name;
		format->n_rules++;
		if (load_rule(at, node, path, rule, err) != 0)
			return -1;
	}
	return 0;
}

static int
load_format(const struct json_at *at, const cJSON *root, struct format *format,
	    struct err *err)
{
	const char *schema;

	if (json_check_keys(at, root, "", format_keys, err) != 0)
		return -1;
	schema = json_get_string(root, "schema", "");
	if (strcmp(schema, "hgym-tui.format/1") != 0)
		return json_fail(at, "schema", err,
				 "expected \"hgym-tui.format/1\"");
	format->name = xstrdup(json_get_string(root, "name", ""));
	format->about = xstrdup(json_get_string(root, "about", ""));
	return load_rules(at, root, format, err);
}

/* Put format before all others, in place of one of the same name. */
static int
add_format(struct format_set *set, struct format *format, struct err *err)
{
	for (size_t i = 0; i < set->n_formats; i++) {
		if (strcmp(set->formats[i].name, format->name) != 0)
			continue;
		format_release(&set->formats[i]);
		memmove(&set->formats[i], &set->formats[i + 1],
			(set->n_formats - i - 1) * sizeof(*set->formats));
		set->n_formats--;
		break;
	}
	if (set->n_formats == MAX_FORMATS)
		return err_set(err, ERR_LIMIT, "more than %d formats",
			       MAX_FORMATS);
	memmove(&set->formats[1], &set->formats[0],
		set->n_formats * sizeof(*set->formats));
	set->formats[0] = *format;
	set->n_formats++;
	make_order(set);
	return 0;
}

int
format_set_load_text(struct format_set *set, const char *file, struct str text,
		     struct err *err)
{
	struct json_at at = { file, text, ERR_CONFIG };
	struct format format = { NULL, NULL, false, NULL, 0 };
	cJSON *root = json_parse(text, false, err);
	int rc;

	if (root == NULL) {
		if (err != NULL)
			err->code = ERR_CONFIG;
		return err_prefix(err, "%s", file);
	}
	rc = load_format(&at, root, &format, err);
	if (rc == 0)
		rc = add_format(set, &format, err);
	if (rc != 0)
		format_release(&format);
	cJSON_Delete(root);
	return rc;
}

int
format_set_load(struct format_set *set, const char *path, struct err *err)
{
	struct buf text;
	cJSON *root;
	int rc = -1;

	buf_init(&text, JSON_MAX_BYTES);
	root = json_parse_file(path, &text, err);
	if (root != NULL)
		rc = format_set_load_text(
			set, path, (struct str){ text.data, text.len }, err);
	else if (err != NULL && err->code == ERR_PARSE)
		err->code = ERR_CONFIG;
	cJSON_Delete(root);
	buf_release(&text);
	return rc;
}

struct format_set *
format_set_new_builtin(void)
{
	struct format_set *set = xcalloc(1, sizeof(*set));
	struct err err = { ERR_NONE, "" };

	size_t n = 0;

	while (format_builtin[n].name != NULL)
		n++;
	/* Backwards: each one that is added comes before the others. */
	for (size_t i = n; i > 0; i--) {
		if (format_set_load_text(set, format_builtin[i - 1].name,
					 str_from(format_builtin[i - 1].text),
					 &err) != 0) {
			(void)fprintf(stderr, "hgym-tui: %s\n", err.text);
			abort();
		}
	}
	for (size_t i = 0; i < set->n_formats; i++)
		set->formats[i].builtin = true;
	return set;
}

void
format_set_free(struct format_set *set)
{
	if (set == NULL)
		return;
	free((void *)set->order);
	scan_index_release(&set->index);
	for (size_t i = 0; i < set->n_formats; i++)
		format_release(&set->formats[i]);
	free(set);
}

size_t
format_set_count(const struct format_set *set)
{
	return set->n_formats;
}

const char *
format_set_name(const struct format_set *set, size_t i)
{
	return set->formats[i].name;
}

const char *
format_set_about(const struct format_set *set, size_t i)
{
	return set->formats[i].about;
}

bool
format_set_is_builtin(const struct format_set *set, size_t i)
{
	return set->formats[i].builtin;
}

size_t
format_set_rules_of(const struct format_set *set, size_t i)
{
	return set->formats[i].n_rules;
}

size_t
format_set_rules(const struct format_set *set)
{
	return set->n_order;
}

const struct rule *
format_set_rule(const struct format_set *set, size_t i)
{
	return set->order[i];
}

const struct scan_index *
format_set_index(const struct format_set *set)
{
	return &set->index;
}
