/* SPDX-License-Identifier: MIT */
/* Rule sets: strict checks of their files, and the rules they contain. */
#include "parsers/format.h"

#include "base/buf.h"
#include "parsers/scan.h"
#include "tests/support/tap.h"

static const struct {
	const char *text, *want;
} wrong[] = {
	{ "{",
	  "f.json: line 1: not valid JSON: unexpected text, or a missing } or ], in column 1" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\n\"rulez\":[]}",
	  "f.json:2: rulez: unknown key; did you mean \"rules\"?" },
	{ "{\"schema\":\"hgym-tui.format/2\",\"name\":\"x\",\"rules\":[]}",
	  "f.json:1: schema: expected \"hgym-tui.format/1\"" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[]}",
	  "f.json:1: rules: expected 1 to 1024 rules" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"trian\",\"match\":\"x\"}]}",
	  "f.json:2: rules[0].kind: unknown kind \"trian\"" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\",\"match\":\"(\"}]}",
	  "f.json:2: rules[0].match: invalid pattern at character 1: "
	  "missing closing parenthesis" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\",\n\"match\":\"(?<lss>\\\\d)\"}]}",
	  "f.json:3: rules[0].match: unknown metric in the group (?<lss>)" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\"}]}",
	  "f.json:2: rules[0]: the key \"match\" is missing" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\",\"match\":\"x\",\n"
	  "\"names\":{\"dt\":\"step_sm\"}}]}",
	  "f.json:3: rules[0].names.dt: unknown metric \"step_sm\"" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\",\"match\":\"x\",\n"
	  "\"names\":{\"dt\":7}}]}",
	  "f.json:3: rules[0].names.dt: expected a metric name, "
	  "\"own\" or null" },
	{ "{\"schema\":\"hgym-tui.format/1\",\"name\":\"x\",\"rules\":[\n"
	  "{\"name\":\"a\",\"kind\":\"train\",\"match\":\"x\","
	  "\"last\":\"row\"}]}",
	  "f.json:2: rules[0].last: unknown last row \"row\"" },
};

static void test_wrong_files(void)
{
	struct format_set *set = format_set_new_builtin();
	size_t before = format_set_rules(set);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = { ERR_NONE, "" };

		is_int(format_set_load_text(set, "f.json", str_from(wrong[i].text), &err), -1,
		       "the rule set is refused");
		is_str(err.text, wrong[i].want, "the error names file, line and key");
		is_int(err.code, ERR_CONFIG, "the error is a configuration error");
	}
	is_int((long long)format_set_rules(set), (long long)before, "the set is unchanged");
	format_set_free(set);
}

static struct format_set *set_with(const char *rules)
{
	struct format_set *set = format_set_new_builtin();
	struct err err = { ERR_NONE, "" };
	struct buf text;

	buf_init(&text, 4096);
	buf_appendf(&text,
		    "{\"schema\":\"hgym-tui.format/1\",\"name\":\"mine\","
		    "\"rules\":[%s]}",
		    rules);
	ok(format_set_load_text(set, "mine", str_from(text.data), &err) == 0, "the set loads %s",
	   err.text);
	buf_release(&text);
	return set;
}

static void test_user_rules_come_first(void)
{
	struct format_set *set = set_with("{\"name\":\"a\",\"kind\":\"ignore\","
					  "\"match\":\"^seed:\\\\d+\"}");
	struct scanner *scanner = scanner_new(set);
	struct record record;

	ok(scanner_scan(scanner, STR_LIT("seed:42"), &record) && record.rule->kind == RULE_IGNORE,
	   "a user's rule comes before a built-in one");
	ok(scanner_scan(scanner, STR_LIT("world_size:8 grad_accum_steps:1"), &record) &&
		   record_get(&record, METRIC_N_GPUS) == 8,
	   "the built-in rules still work");
	scanner_free(scanner);
	format_set_free(set);
}

static void test_exploding_pattern(void)
{
	struct format_set *set = set_with("{\"name\":\"boom\",\"kind\":\"ignore\","
					  "\"match\":\"^(a+)+b$\"}");
	struct scanner *scanner = scanner_new(set);
	struct record record;
	char line[4000];

	memset(line, 'a', sizeof(line));
	memcpy(line + 40, "bc", 2);
	ok(!scanner_scan(scanner, (struct str){ line, sizeof(line) }, &record),
	   "a pattern with exponential backtracking does not match");
	is_int((long long)scanner_limit_hits(scanner, 0), 1, "the match limit was reached once");
	scanner_free(scanner);
	format_set_free(set);
}

static void test_numbers(void)
{
	struct format_set *set = format_set_new_builtin();
	struct scanner *scanner = scanner_new(set);
	struct record r;

	ok(scanner_scan(scanner,
			STR_LIT("step:3/10 train_loss:nan train_time:30ms "
				"step_avg:nanms"),
			&r) &&
		   isnan(r.values[METRIC_TRAIN_LOSS]) && isnan(r.values[METRIC_STEP_AVG_MS]),
	   "nan is a number");
	ok(!scanner_scan(scanner,
			 STR_LIT("step:3/10 train_loss:1.2.3 train_time:30ms "
				 "step_avg:10ms"),
			 &r),
	   "a rule does not match if its number is invalid");
	ok(scanner_scan(scanner,
			STR_LIT("step:10/10 val_loss:3.2 "
				"train_time:1134.603s step_avg:357.36ms"),
			&r) &&
		   record_get(&r, METRIC_TRAIN_MS) == 1134603,
	   "seconds are converted to milliseconds");
	scanner_free(scanner);
	format_set_free(set);
}

/* Find the number of a record by its name. */
static const struct record_pair *find_named(const struct record *r, const char *name)
{
	for (size_t i = 0; i < r->n_pairs; i++)
		if (str_eq_cstr(r->pairs[i].name, name))
			return &r->pairs[i];
	return NULL;
}

static void test_names(void)
{
	struct format_set *set = set_with("{\"name\":\"a\",\"kind\":\"train\","
					  "\"match\":\"^at (?<step>\\\\d+) \","
					  "\"names\":{\"took\":\"step_s\",\"loss\":\"own\","
					  "\"ver\":null}}");
	struct scanner *scanner = scanner_new(set);
	const struct record_pair *pair;
	struct record r;

	ok(scanner_scan(scanner,
			STR_LIT("at 7 | loss: 1.58 | ver: 3 | took: 2.5 | "
				"zeal: 9"),
			&r),
	   "a rule with names matches a line");
	ok(record_get(&r, METRIC_STEP) == 7 && record_get(&r, METRIC_STEP_MS) == 2500,
	   "a name gives its metric, in the metric's unit");
	ok(!record_has(&r, METRIC_TRAIN_LOSS), "\"own\" gives no metric");
	pair = find_named(&r, "loss");
	ok(pair != NULL && pair->metric == METRIC_COUNT && pair->value == 1.58, "\"own\" gives a "
										"series");
	ok(find_named(&r, "ver") == NULL, "null gives no series");
	ok(find_named(&r, "zeal") != NULL, "other names give series");
	ok(scanner_scan_cut(scanner, STR_LIT("at 7 | zeal: 9 | loss: 1.58 | foo: 3"), &r) &&
		   find_named(&r, "zeal") != NULL && find_named(&r, "foo") == NULL,
	   "the last number of a cut line is ignored");
	scanner_free(scanner);
	format_set_free(set);
}

static void test_thousands(void)
{
	static const struct {
		const char *text;
		double want; /* NaN: not a number */
	} cases[] = {
		{ "1,234,567", 1234567 },
		{ "25,212.5", 25212.5 },
		{ "999", 999 },
		{ "1,23", (double)NAN },
		{ "1234,567", (double)NAN },
		{ "1,2345", (double)NAN },
		{ ",123", (double)NAN },
		{ "1,,234", (double)NAN },
		{ "1,234.5,678", (double)NAN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double got = (double)NAN;
		bool is = steps_number(str_from(cases[i].text), &got);

		ok(is == !isnan(cases[i].want) && (!is || got == cases[i].want), "thousands: %s",
		   cases[i].text);
	}
}

/* A rule outside of the index is compared with every line by itself. */
static void test_index_has_room(void)
{
	struct format_set *set = format_set_new_builtin();
	const struct scan_index *index = format_set_index(set);

	for (size_t i = 0; i < format_set_rules(set); i++) {
		const struct rule *rule = index->rules[i].rule;
		bool is_short = false;

		for (size_t k = 0; k < rule->n_needs; k++)
			is_short = is_short || strlen(rule->needs[k]) < 3;
		if (rule->n_needs > 0)
			ok(index->rules[i].is_indexed || is_short,
			   "the index contains the texts that the rule %s needs", rule->name);
	}
	ok(index->n_literals < SCAN_MAX_LITERALS / 2, "the index has room for a user's rules");
	format_set_free(set);
}

int main(void)
{
	test_wrong_files();
	test_names();
	test_thousands();
	test_user_rules_come_first();
	test_exploding_pattern();
	test_numbers();
	test_index_has_room();
	return tap_done();
}
