/* SPDX-License-Identifier: MIT */
/* JSON: limits, strict reading with a table of keys, and the line of a key path. */
#include "parsers/json_fields.h"

#include "tests/support/tap.h"

static const char sample[] = "{\n"
			     " \"a\": 1,\n"
			     " \"pods\": [\n"
			     "  {\"name\": \"x\"},\n"
			     "  {\"name\": \"y\",\n"
			     "   \"gpus\": \"0\"}]\n"
			     "}\n";

static void test_lines(void)
{
	struct str text = STR_LIT(sample);

	is_int(json_line_of(text, "a"), 2, "line of a member");
	is_int(json_line_of(text, "pods[1]"), 5, "line of an element");
	is_int(json_line_of(text, "pods[1].gpus"), 6, "line of a path");
	is_int(json_line_of(text, "pods[7].gpus"), 0, "unknown path: line 0");
}

struct sample {
	double a;
	char *name;
	double *gpus;
	size_t n_gpus;
};

static int pass(const struct json_reader *r, const cJSON *node, const char *path, void *to)
{
	(void)r;
	(void)node;
	(void)path;
	(void)to;
	return 0;
}

static void test_keys(void)
{
	static const struct json_field top[] = {
		JSON_ROW("a", NUMBER, sample, a),
		{ .name = "pods",
		  .kind = JSON_AS_OTHER,
		  .types = JSON_ARRAY | JSON_REQUIRED,
		  .take = pass },
		{ .name = NULL },
	};
	static const struct json_field pod[] = {
		JSON_ROW("name", TEXT, sample, name),
		{ .name = "gpus", .kind = JSON_AS_NUMBERS, JSON_LIST(sample, gpus, n_gpus) },
		{ .name = NULL },
	};
	struct err err = { ERR_NONE, "" };
	struct json_reader r = { .at = { "c.json", STR_LIT(sample), ERR_CONFIG }, .err = &err };
	cJSON *root = json_parse(r.at.text, false, &err);
	cJSON *pods = cJSON_GetObjectItemCaseSensitive(root, "pods");
	struct sample s = { 0 };

	is_int(json_read_object(&r, top, root, "", &s), 0, "an object with known keys is read");
	is_near(s.a, 1, 0, "the members have the values");
	is_int(json_read_object(&r, pod, cJSON_GetArrayItem(pods, 1), "pods[1]", &s), -1,
	       "a wrong type is an error");
	is_str(err.text, "c.json:6: pods[1].gpus: expected an array",
	       "the error has file, line "
	       "and key path");
	is_int(json_read_object(&r, pod, root, "", &s), -1, "an unknown key is an error");
	is_str(err.text, "c.json:2: a: unknown key", "the error names the key");
	is_int(json_read_object(&r, top, cJSON_GetArrayItem(pods, 1), "pods[1]", &s), -1,
	       "a key of another object is an error");
	is_int(json_read_object(&r, pod, cJSON_GetArrayItem(pods, 2), "pods[2]", &s), -1,
	       "a value that is not an object is an error");
	is_str(err.text, "c.json:1: pods[2]: expected an object", "the error names the type");
	json_release_object(pod, &s);
	cJSON_Delete(root);
}

static void test_python_tokens(void)
{
	static const char text[] = "{\"a\":NaN,\"b\":-Infinity,\"c\":1,"
				   "\"d\":\"x NaN \\\" Infinity\","
				   "\"e\":\"\\ud83d\\ude00 \\ud83d. "
				   "\\\\ud83d \\udc00\"}";
	cJSON *root = json_parse(STR_LIT(text), JSON_BARE_TEXT, NULL);

	is_str(json_get_string(root, "a", ""), "NaN", "NaN becomes text");
	is_str(json_get_string(root, "b", ""), "-Infinity", "-Infinity becomes text");
	is_near(json_get_number(root, "c", 0), 1, 0, "numbers are unchanged");
	is_str(json_get_string(root, "d", ""), "x NaN \" Infinity",
	       "the same words inside strings "
	       "are unchanged");
	is_str(json_get_string(root, "e", ""),
	       "\xf0\x9f\x98\x80 \xef\xbf\xbd. \\ud83d \xef\xbf\xbd",
	       "half a surrogate pair becomes U+FFFD, a whole pair stays");
	cJSON_Delete(root);
	ok(json_parse(STR_LIT("{\"a\":\"\\ud83d\"}"), JSON_BARE_REFUSED, NULL) == NULL,
	   "strict: half a pair is an error");
	ok(json_parse(STR_LIT("{\"a\":\"\\ud83d"), JSON_BARE_TEXT, NULL) == NULL,
	   "a string without its end is an error");
}

static void test_bounds(void)
{
	struct err err = { ERR_NONE, "" };
	char deep[200];
	cJSON *root;
	struct buf out;

	memset(deep, '[', sizeof(deep));
	ok(json_parse((struct str){ deep, sizeof(deep) }, false, &err) == NULL,
	   "deep nesting is an error");
	ok(json_parse(STR_LIT("{\"a\": 1} x"), false, &err) == NULL,
	   "text after the value is an error");
	ok(json_parse(STR_LIT("\n\n{\"a\": }"), false, &err) == NULL, "malformed JSON is an error");
	is_str(err.text, "line 3: not valid JSON: unexpected text in column 7",
	       "the error has the line");
	ok(json_parse(STR_LIT("{\"a\": NaN}"), false, &err) == NULL, "strict: a bare NaN is an "
								     "error");
	root = json_parse(STR_LIT("{\"a\":NaN,\"b\":-Infinity,\"c\":\"NaN\"}"), true, &err);
	buf_init(&out, 1000);
	json_print(&out, root);
	is_str(out.data, "{\"a\":null,\"b\":null,\"c\":\"NaN\"}", "lenient: NaN becomes null");
	buf_release(&out);
	cJSON_Delete(root);
}

int main(void)
{
	test_lines();
	test_keys();
	test_python_tokens();
	test_bounds();
	return tap_done();
}
