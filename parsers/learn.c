/* SPDX-License-Identifier: MIT */
/* Write rules for rows that no rule set matches: a pattern, and the meaning of the names. */
#include "parsers/learn.h"

#include "base/utf8.h"
#include "parsers/json.h"
#include "parsers/meaning.h"

#define MOST_LEARNED  32
#define MOST_SAMPLES  3
#define SAMPLE_BYTES  200
#define PATTERN_BYTES 4096

/* A printed name, its metric by meaning.h (`own`) and in the rows (`given`). */
struct learned_name {
	char *printed; /* owned */
	enum metric own, given;
};

struct learned {
	uint64_t key, lines;
	enum rule_kind kind;
	char *text;		     /* owned; the first line */
	struct log_line place;	     /* of the first line */
	char *samples[MOST_SAMPLES]; /* owned; with control characters removed */
	size_t n_samples;
	struct learned_name names[PAIRS_MAX];
	size_t n_names;
	bool lead; /* the step is the first number, which has no name */
	bool bar;  /* the step is the counter of a bar: "10%|#   | 1/9 [" */
};

struct learn {
	struct learned rows[MOST_LEARNED];
	size_t n;
};

struct learn *learn_new(void)
{
	return xcalloc(1, sizeof(struct learn));
}

void learn_free(struct learn *learn)
{
	for (size_t i = 0; learn != NULL && i < learn->n; i++) {
		struct learned *row = &learn->rows[i];

		for (size_t k = 0; k < row->n_samples; k++)
			free(row->samples[k]);
		for (size_t k = 0; k < row->n_names; k++)
			free(row->names[k].printed);
		free(row->text);
	}
	free(learn);
}

static enum metric metric_in_row(const struct record *record, const struct pair *pair)
{
	enum metric metric = METRIC_COUNT;

	for (size_t i = 0; i < record->n_pairs; i++)
		if (str_eq(record->pairs[i].name, pair->name))
			metric = record->pairs[i].metric;
	if (record_has(record, METRIC_STEP) && record->values[METRIC_STEP] == pair->value &&
	    metric == METRIC_COUNT)
		metric = METRIC_STEP;
	if (record->rule->kind == RULE_VAL && record->n_pairs == 0 &&
	    record_get(record, METRIC_VAL_LOSS) == pair->value)
		metric = METRIC_VAL_LOSS;
	return metric;
}

static void update_names(struct learned *row, const struct record *record, const struct pair *pairs,
			 size_t n)
{
	double scale;

	for (size_t i = 0; i < n && i < PAIRS_MAX; i++) {
		struct learned_name *name = &row->names[i];
		enum metric own = meaning_of(&pairs[i], &scale);
		enum metric given = metric_in_row(record, &pairs[i]);

		if (i == row->n_names) {
			name->printed = xstrndup(pairs[i].name.p, pairs[i].name.len);
			row->n_names++;
		}
		name->own = own;
		/* A figure that happens to equal the step is not the step. */
		if (given == METRIC_STEP && own != METRIC_STEP)
			given = METRIC_COUNT;
		name->given = given;
	}
	bool named = any_of(i, row->n_names, row->names[i].given == METRIC_STEP);
	row->lead = !named && record_has(record, METRIC_STEP) && n > 0 && pairs[0].name.len == 0 &&
		    pairs[0].value == record->values[METRIC_STEP];
	row->bar = !named && !row->lead && record_has(record, METRIC_PLANNED);
}

void learn_row(void *opaque, const struct record *record, const struct log_line *place)
{
	struct learn *learn = opaque;
	struct pair pairs[PAIRS_MAX];
	size_t n = pairs_read(place->text, pairs);
	uint64_t key = record->rule->kind + 1;
	char sample[SAMPLE_BYTES];

	for (size_t i = 0; i < n; i++)
		key = (key * 31 + str_hash(pairs[i].name)) * 31 + str_hash(pairs[i].unit);
	struct learned *row = array_find(one, learn->rows, learn->n, one->key == key);
	if (row == NULL && learn->n == MOST_LEARNED)
		return;
	if (row == NULL) {
		row = &learn->rows[learn->n++];
		*row = (struct learned){ .key = key,
					 .kind = record->rule->kind,
					 .text = xstrndup(place->text.p, place->text.len),
					 .place = *place };
		row->place.text.p = row->text;
	}
	row->lines++;
	update_names(row, record, pairs, n);
	if (row->n_samples < MOST_SAMPLES)
		row->samples[row->n_samples++] =
			xstrdup(utf8_clean(sample, sizeof(sample), place->text));
}

static bool is_word_byte(char c)
{
	return str_is_word(c) || (c & 0x80) != 0;
}

/* Add text to the pattern; one or more blanks match any number of blanks. */
static void add_literal(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (str_is_blank(s.p[i]) && i > 0 && str_is_blank(s.p[i - 1]))
			continue;
		if (str_is_blank(s.p[i])) {
			buf_append_str(out, "\\s*+");
			continue;
		}
		if ((signed char)s.p[i] < ' ') { /* a control or non-ASCII byte */
			buf_append_char(out, '.');
			continue;
		}
		if (strchr("\\^$.[]|()?*+{}", s.p[i]) != NULL)
			buf_append_char(out, '\\');
		buf_append_char(out, s.p[i]);
	}
}

/* Return the length of the punctuation at the start of s, including a unit like "(ms)". */
static size_t punctuation_length(struct str s)
{
	size_t n = 0;

	while (n < s.len && !is_word_byte(s.p[n]) && strchr("+-.", s.p[n]) == NULL) {
		const char *close = s.p[n] == '(' ? memchr(s.p + n, ')', s.len - n) : NULL;

		if (close != NULL && is_word_byte(s.p[n + 1]) &&
		    (s.p[n + 1] < '0' || s.p[n + 1] > '9'))
			n = (size_t)(close - s.p);
		n++;
	}
	return n;
}

/* Add a pattern for the text between two names: a number, and the text around it. */
static void add_gap(struct buf *out, const struct learned *row, struct str gap)
{
	bool bar = row->bar && str_find(gap, "%|") != NULL;
	size_t n = punctuation_length(gap);

	add_literal(out, (struct str){ gap.p, n });
	gap = str_skip(gap, n);
	for (n = 0; n < gap.len && (is_word_byte(gap.p[n]) || strchr("+-.:,/", gap.p[n]) != NULL);)
		n++;
	while (n > 0 && strchr(":,", gap.p[n - 1]) != NULL)
		n--; /* the comma of "3.5," is not part of the number */
	gap = str_skip(gap, n);
	if (row->lead && out->len < 20)
		buf_append_str(out, "(?<step>\\d++)");
	else
		buf_append_str(out, "[\\w.,:+/-]+");
	if (bar)
		buf_append_str(out, "%\\|[^|]*+\\|\\s*+(?<step>\\d++)/"
				    "(?<planned>\\d++)\\s");
	n = gap.len; /* the blanks and punctuation at the end are literal */
	while (n > 0 && !is_word_byte(gap.p[n - 1]) && gap.p[n - 1] != '%' && gap.p[n - 1] != ')')
		n--;
	if (n > 0)
		buf_append_str(out, ".*?");
	add_literal(out, str_skip(gap, n));
}

static void add_pattern(struct buf *out, const struct learned *row)
{
	struct str text = row->place.text;
	struct pair pairs[PAIRS_MAX];
	size_t n = pairs_read(text, pairs);
	const char *at = text.p;
	bool is_first = true;

	if (!row->place.inside)
		buf_append_char(out, '^');
	for (size_t i = 0; i < n; i++) {
		struct str name = pairs[i].name;
		struct str gap = { at, (size_t)(name.p - at) };

		if (name.len == 0 || name.p < at)
			continue;
		if (is_first && !str_has_digit(gap))
			add_literal(out, gap);
		else
			add_gap(out, row, gap);
		add_literal(out, name);
		at = name.p + name.len;
		is_first = false;
	}
}

static void print_rule(struct buf *file, const struct learned *row, size_t number)
{
	cJSON *names = NULL;
	AUTO_BUF text = buf_new(PATTERN_BYTES);
	char name[32];

	/* The rule must map the names that the rows use for another metric. */
	array_each (one, row->names, row->n_names) {
		if (one->own == one->given || *one->printed == '\0' ||
		    cJSON_GetObjectItemCaseSensitive(names, one->printed))
			continue;
		if (names == NULL)
			names = cJSON_CreateObject();
		json_add_string(names, one->printed,
				one->given == METRIC_COUNT ? "own" : metric_info(one->given)->name);
	}
	add_pattern(&text, row);
	print_into(name, "row-%zu", number);
	AUTO_JSON rule = json_new(JTEXT("name", name), JTEXT("kind", rule_kind_names[row->kind]),
				  JBOOL("pairs", true));
	if (names != NULL)
		cJSON_AddItemToObject(rule, "names", names);
	json_add_string(rule, "match", text.data);
	buf_append_str(file, number > 1 ? ",\n  " : "  ");
	json_print(file, rule);
}

static void print_report(struct buf *report, const struct learned *row)
{
	const char *several = " on several lines each, which a rule cannot read";

	buf_appendf(report, "# %llu rows of %s%s:", (unsigned long long)row->lines,
		    row->kind == RULE_VAL ? "validation" : "training",
		    row->place.joined ? several : "");
	for (size_t i = 0; i < row->n_names; i++) {
		const struct learned_name *name = &row->names[i];
		char clean[SAMPLE_BYTES];

		if (*name->printed == '\0')
			continue;
		buf_appendf(report, "%s \"%s\"", i > 0 ? "," : "",
			    utf8_clean(clean, sizeof(clean), str_from(name->printed)));
		if (name->given != METRIC_COUNT)
			buf_appendf(report, " (%s)", metric_info(name->given)->name);
	}
	buf_append_char(report, '\n');
	for (size_t i = 0; i < row->n_samples; i++)
		buf_appendf(report, "#   %s\n", row->samples[i]);
}

static int compare_names(const void *a, const void *b)
{
	const struct learned *x = *(const struct learned *const *)a;
	const struct learned *y = *(const struct learned *const *)b;

	return x->n_names < y->n_names ? 1 : x->n_names > y->n_names ? -1 : 0;
}

/* Rules with more names come first: a rule with fewer names would match their lines. */
size_t learn_print(const struct learn *learn, const char *name, struct buf *file,
		   struct buf *report)
{
	const struct learned *rows[MOST_LEARNED] = { NULL };
	AUTO_JSON word = cJSON_CreateString(name);
	size_t n = 0;

	for (size_t i = 0; i < learn->n; i++)
		rows[i] = &learn->rows[i];
	qsort(rows, learn->n, sizeof(*rows), compare_names);
	buf_append_str(file, "{\"schema\": \"hgym-tui.format/1\", \"name\": ");
	json_print(file, word);
	buf_append_str(file, ",\n \"rules\": [\n");
	for (size_t i = 0; i < learn->n; i++) {
		print_report(report, rows[i]);
		if (!rows[i]->place.joined)
			print_rule(file, rows[i], ++n);
	}
	buf_append_str(file, "\n ]}\n");
	return n;
}
