/* SPDX-License-Identifier: MIT */
/* Load rule sets, keep their order, and index them by the first bytes of lines. */
#include "parsers/format.h"

#include "base/embed.h"
#include "base/file.h"
#include "parsers/json_fields.h"
#include "parsers/scan.h"

/* The files in parsers/formats, which the build converts to C. */
extern const struct embed_file format_builtin[];

#define MAX_FORMATS 64
#define MAX_RULES   1024
#define MAX_NAMES   64
#define MAX_NEEDS   16

struct format_set {
	struct format formats[MAX_FORMATS];
	size_t n_formats;
	const struct rule **order; /* all rules, in the order in which they are tried */
	size_t n_order;
	struct scan_index index; /* of order */
	struct mark_set marks;
};

static void format_release(struct format *format)
{
	for (size_t i = 0; i < format->n_rules; i++)
		rule_release(&format->rules[i]);
	free(format->rules);
	free(format->name);
	free(format->about);
	*format = (struct format){ NULL, NULL, false, NULL, 0 };
}

static void sort_rules(struct format_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_formats; i++)
		n += set->formats[i].n_rules;
	set->order = xreallocarray((void *)set->order, n, sizeof(struct rule *));
	set->n_order = 0;
	for (size_t i = 0; i < set->n_formats; i++)
		for (size_t k = 0; k < set->formats[i].n_rules; k++)
			set->order[set->n_order++] = &set->formats[i].rules[k];
	scan_index_release(&set->index);
	scan_index_build(&set->index, set->order, n);
}

/* Read "needs": "loss", or a list of texts. */
static int read_needs(const struct json_reader *r, const cJSON *needs, const char *path, void *to)
{
	struct rule *rule = to;
	int n = cJSON_IsArray(needs) ? cJSON_GetArraySize(needs) : 1;

	if (n < 1 || n > MAX_NEEDS)
		return json_refuse(r, path, "expected 1 to %d strings", MAX_NEEDS);
	rule->needs = xcalloc((size_t)n, sizeof(*rule->needs));
	for (int i = 0; i < n; i++) {
		const cJSON *node = cJSON_IsArray(needs) ? cJSON_GetArrayItem(needs, i) : needs;

		if (!cJSON_IsString(node))
			return json_refuse(r, path, "expected strings");
		rule->needs[rule->n_needs++] = xstrdup(node->valuestring);
	}
	return 0;
}

/* Read "names": { "dt": "step_ms", "v_num": null }. */
static int read_names(const struct json_reader *r, const cJSON *names, const char *path, void *to)
{
	struct rule *rule = to;
	int n = cJSON_GetArraySize(names);

	if (n > MAX_NAMES)
		return json_refuse(r, path, "more than %d names", MAX_NAMES);
	rule->pairs = true;
	rule->names = xcalloc((size_t)n + 1, sizeof(*rule->names));
	json_each (node, names) {
		struct rule_name *name = &rule->names[rule->n_names++];
		const char *word = node->valuestring;
		char at[JSON_PATH_SIZE];

		*name = (struct rule_name){ xstrdup(node->string), METRIC_COUNT, 1,
					    cJSON_IsNull(node) };
		(void)json_join(at, path, node->string);
		if (!name->skip && !cJSON_IsString(node))
			return json_refuse(r, at, "expected a metric name, \"own\" or null");
		if (name->skip || strcmp(word, "own") == 0)
			continue;
		name->metric = rule_metric(word, &name->scale);
		if (name->metric == METRIC_COUNT)
			return json_refuse(r, at, "unknown metric \"%s\"", word);
	}
	return 0;
}

static const struct json_field rule_fields[] = {
	JSON_ROW("name", TEXT, rule, name, .types = JSON_REQUIRED),
	JSON_ROW("match", TEXT, rule, pattern, .types = JSON_REQUIRED),
	JSON_ROW("kind", CHOICE, rule, kind, .types = JSON_REQUIRED, .words = rule_kind_names,
		 .what = "kind"),
	{ .name = "needs",
	  .kind = JSON_AS_OTHER,
	  .types = JSON_STRING | JSON_ARRAY,
	  .take = read_needs },
	JSON_ROW("stage", CHOICE, rule, stage, .words = rule_stage_names, .what = "stage"),
	JSON_ROW("event", CHOICE, rule, event, .words = run_event_names, .what = "event"),
	JSON_ROW("fatal", BOOL, rule, fatal),
	JSON_ROW("launcher", BOOL, rule, launcher),
	JSON_ROW("last", CHOICE, rule, last, .words = rule_last_names, .what = "last row"),
	JSON_ROW("any_rank", BOOL, rule, any_rank),
	JSON_ROW("cumulative", BOOL, rule, cumulative),
	JSON_ROW("rounded", BOOL, rule, rounded),
	JSON_ROW("pairs", BOOL, rule, pairs),
	{ .name = "names", .kind = JSON_AS_OTHER, .types = JSON_OBJECT, .take = read_names },
	/* samples for people and tests: lines that match, and lines that do not */
	{ .name = "samples", .kind = JSON_AS_OTHER, .types = JSON_ARRAY },
	{ .name = "others", .kind = JSON_AS_OTHER, .types = JSON_ARRAY },
	{ .name = NULL },
};

static int read_rules(const struct json_reader *r, const cJSON *rules, const char *path, void *to)
{
	struct format *format = to;
	int n = cJSON_GetArraySize(rules);

	if (n == 0 || n > MAX_RULES)
		return json_refuse(r, path, "expected 1 to %d rules", MAX_RULES);
	format->rules = xcalloc((size_t)n, sizeof(*format->rules));
	json_each (node, rules) {
		char at[JSON_PATH_SIZE], match[JSON_PATH_SIZE];
		struct rule *rule = &format->rules[format->n_rules];
		struct err why = { ERR_NONE, "" };

		print_into(at, "%s[%zu]", path, format->n_rules++);
		rule->format = format->name;
		rule->event = RUN_EVENT_OTHER;
		if (json_read_object(r, rule_fields, node, at, rule) != 0)
			return -1;
		if (rule_compile(rule, format->builtin, &why) != 0)
			return json_refuse(r, json_join(match, at, "match"), "%s", why.text);
	}
	return 0;
}

static const char *const schemas[] = { "hgym-tui.format/1", NULL };

static const struct json_field format_fields[] = {
	{ .name = "schema", .kind = JSON_AS_FIXED, .types = JSON_REQUIRED, .words = schemas },
	JSON_ROW("name", TEXT, format, name, .types = JSON_REQUIRED),
	JSON_ROW("about", TEXT, format, about),
	{ .name = "rules",
	  .kind = JSON_AS_OTHER,
	  .types = JSON_ARRAY | JSON_REQUIRED,
	  .take = read_rules },
	{ .name = NULL },
};

/* Insert format before all others, or replace the format of the same name. */
static int add_format(struct format_set *set, struct format *format, struct err *err)
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
		return err_set(err, ERR_LIMIT, "more than %d rule sets", MAX_FORMATS);
	memmove(&set->formats[1], &set->formats[0], set->n_formats * sizeof(*set->formats));
	set->formats[0] = *format;
	set->n_formats++;
	return 0;
}

/* Like format_set_load_text(), but without updating the order. */
static int load_text(struct format_set *set, const char *file, struct str text, bool is_builtin,
		     struct err *err)
{
	const struct json_reader r = { .at = { file, text, ERR_CONFIG }, .err = err };
	struct format format = { .builtin = is_builtin };
	AUTO_JSON root = is_builtin ? cJSON_ParseWithLength(text.p, text.len)
				    : json_parse(text, JSON_BARE_REFUSED, err);

	if (root == NULL) {
		if (err != NULL)
			err->code = ERR_CONFIG;
		return err_prefix(err, "%s", file);
	}
	int rc = json_read_object(&r, format_fields, root, "", &format);
	if (rc == 0 && format.about == NULL)
		format.about = xstrdup("");
	if (rc == 0)
		rc = add_format(set, &format, err);
	if (rc != 0)
		format_release(&format);
	return rc;
}

int format_set_load_text(struct format_set *set, const char *file, struct str text, struct err *err)
{
	int rc = load_text(set, file, text, false, err);

	if (rc == 0)
		sort_rules(set);
	return rc;
}

int format_set_load(struct format_set *set, const char *path, struct err *err)
{
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	int rc = file_read(path, &text, err);

	if (rc == 0)
		rc = format_set_load_text(set, path, buf_str(&text), err);
	return rc;
}

struct format_set *format_set_new_builtin(void)
{
	struct format_set *set = xcalloc(1, sizeof(*set));
	struct err err = { ERR_NONE, "" };

	size_t n = 0;

	while (format_builtin[n].name != NULL)
		n++;
	/* Each set is inserted before the ones loaded earlier: load the last one first. */
	for (size_t i = n; i > 0; i--) {
		if (load_text(set, format_builtin[i - 1].name, str_from(format_builtin[i - 1].text),
			      true, &err) != 0) {
			(void)fprintf(stderr, "hgym-tui: %s\n", err.text);
			abort();
		}
	}
	sort_rules(set);
	return set;
}

void format_set_free(struct format_set *set)
{
	if (set == NULL)
		return;
	free((void *)set->order);
	scan_index_release(&set->index);
	mark_set_release(&set->marks);
	for (size_t i = 0; i < set->n_formats; i++)
		format_release(&set->formats[i]);
	free(set);
}

int format_set_add_mark(struct format_set *set, const struct mark *mark, struct err *err)
{
	return mark_set_add(&set->marks, mark, err);
}

const struct mark_set *format_set_marks(const struct format_set *set)
{
	return &set->marks;
}

const struct format *format_set_get(const struct format_set *set, size_t i)
{
	return i < set->n_formats ? &set->formats[i] : NULL;
}

size_t format_set_rules(const struct format_set *set)
{
	return set->n_order;
}

const struct rule *format_set_rule(const struct format_set *set, size_t i)
{
	return set->order[i];
}

const struct scan_index *format_set_index(const struct format_set *set)
{
	return &set->index;
}
