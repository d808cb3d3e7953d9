/* SPDX-License-Identifier: MIT */
/* score_json: which outputs have a score that counts. */
#include "parsers/score_json.h"

#include "tests/support/tap.h"

static const char final_run[] = "{\"best_us\": 112.736, \"cases\": [{\"name\": \"d1024\", \"dim\": "
				"1024, \"best_us\": 30.1}], \"device\": \"H200\", \"median_us\": "
				"123.55, \"mode\": \"final\", \"score\": 112.736, \"status\": "
				"\"passed\", \"verified\": true}";

static struct score_json read_score(const char *text, const char *key)
{
	struct score_json score;
	struct err err = { ERR_NONE, "" };

	if (score_json_read(&score, str_from(text), key, &err) != 0)
		printf("# %s\n", err.text);
	return score;
}

static void test_good(void)
{
	struct score_json s = read_score(final_run, NULL);

	ok(score_json_counts(&s) && s.verified, "a verified score counts");
	is_near(s.value, 112.736, 1e-15, "best_us is the default key");
	is_str(s.mode, "final", "the mode is read");
	is_str(s.why, "", "there is no reason not to count");
	score_json_release(&s);
	s = read_score(final_run, "median_us");
	is_near(s.value, 123.55, 1e-15, "another key is used if requested");
	score_json_release(&s);
	s = read_score("compiling..\n{not this}\n{\n \"best_cycles\": 7,\n"
		       " \"status\": \"PASSED\"\n}\nbye\n",
		       NULL);
	ok(score_json_counts(&s) && s.value == 7,
	   "a pretty-printed object within other output counts");
	score_json_release(&s);
	s = read_score("{\"event\": 1}\n{\"score\": 2, \"a\": 0}\n"
		       "{\"score\": 2}\n",
		       NULL);
	ok(score_json_counts(&s) && s.value == 2, "several objects with the same score count");
	score_json_release(&s);
	s = read_score("\033[32mdone\033[0m\n\033[36m{\"score\": 2\033[0m}\033[0m\n", NULL);
	ok(score_json_counts(&s) && s.value == 2, "an object in color counts");
	score_json_release(&s);
	s = read_score("{\"score\": 0.25}", NULL);
	ok(score_json_counts(&s) && !s.has_status, "a missing status is not a failure");
	score_json_release(&s);
}

static void test_bad(void)
{
	struct score_json s = read_score("{\"best_us\": Infinity, \"status\": \"failed\", "
					 "\"verified\": false, \"score\": Infinity}",
					 NULL);

	ok(!score_json_counts(&s) && isnan(s.value), "Infinity is not a score");
	is_str(s.why, "status is \"failed\"", "the reason has the status");
	score_json_release(&s);
	s = read_score("{\"best_us\": NaN, \"status\": \"passed\"}", NULL);
	ok(!score_json_counts(&s), "NaN does not count although it passed");
	is_str(s.why, "\"best_us\" is not a finite number", "the reason is the value");
	score_json_release(&s);
	s = read_score("{\"best_us\": 12.5, \"status\": \"failed\"}", NULL);
	ok(!score_json_counts(&s) && s.value == 12.5,
	   "a finite number of a failed run does not count");
	score_json_release(&s);
	s = read_score("{\"best_us\": 12.5, \"status\": \"passed\", "
		       "\"verified\": false}",
		       NULL);
	ok(!score_json_counts(&s), "a number that is not verified does not count");
	score_json_release(&s);
	s = read_score("{\"best_us\": \"12.5\"}", NULL);
	ok(!score_json_counts(&s), "a number in a string does not count");
	score_json_release(&s);
	s = read_score("{\"best_us\": 1e999}", NULL);
	ok(!score_json_counts(&s), "a number that overflows does not count");
	score_json_release(&s);
	s = read_score("{\"best_us\": 0, \"status\": \"passed\"}", NULL);
	is_str(s.why, "\"best_us\" is not above 0", "a time of 0 does not count");
	score_json_release(&s);
	s = read_score("{\"score\": 12.5, \"correct\": false}", NULL);
	ok(!score_json_counts(&s), "a number with \"correct\": false does not count");
	score_json_release(&s);
	s = read_score("{\"score\": 12.5, \"error\": \"timeout\"}", NULL);
	is_str(s.why, "\"error\" reports a failure", "a number with an error does not count");
	score_json_release(&s);
	s = read_score("{\"score\": 9, \"status\": \"passed\", \"errors\": "
		       "[\"no build\"]}",
		       NULL);
	is_str(s.why, "\"errors\" reports a failure",
	       "a number with several errors does not count");
	score_json_release(&s);
	s = read_score("{\"score\": 9, \"status\": \"passed\", \"errors\": "
		       "[], \"cases\": [{\"status\": \"passed\"}, "
		       "{\"status\": \"failed\"}]}",
		       NULL);
	is_str(s.why, "\"cases\" reports a failure", "a number does not count if a case failed");
	score_json_release(&s);
	s = read_score("{\"score\": 12.5, \"error\": \"\"}", NULL);
	ok(score_json_counts(&s), "an empty error is not an error");
	score_json_release(&s);
	s = read_score("{\"a\": 1}", "b");
	is_str(s.why, "the JSON has no \"b\"", "a missing key gives no score");
	score_json_release(&s);
}

/* An ambiguous output counts for nothing. */
static void test_doubt(void)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "{\"score\": 1}\n{\"score\": 2}\n",
		  "two JSON objects with different values of \"score\"" },
		{ "{\"score\": 1} {\"score\": 2}",
		  "two JSON objects with different values of \"score\"" },
		{ "{\"score\": null}\nx\n{\n\"score\": 2\n}\n",
		  "two JSON objects with different values of \"score\"" },
		{ "{\"score\": 1, \"mode\": \"final\", \"score\": 1}", "duplicate key \"score\"" },
		{ "{\"score\": 1, \"cases\": [{}, {\"a\": 1, \"a\": 2}]}", "duplicate key \"a\"" },
		{ "{\"status\": \"failed\", \"status\": \"passed\", "
		  "\"score\": 1}",
		  "duplicate key \"status\"" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct score_json s = read_score(cases[i].text, NULL);

		ok(s.doubtful && !score_json_counts(&s) && isnan(s.value),
		   "ambiguous output %zu does not count", i);
		is_str(s.why, cases[i].why, "the reason is given");
		score_json_release(&s);
	}
}

/* Unclosed braces do not hide the objects after them. */
static void test_open_braces(void)
{
	struct score_json s;
	struct buf text;

	buf_init(&text, 65536);
	for (int i = 0; i < 1000; i++)
		buf_append_str(&text, "{ never closed\n");
	buf_append_str(&text, "{\"score\": 1}\n{\"score\": 2}\n");
	s = read_score(text.data, NULL);
	ok(s.root != NULL && s.doubtful, "objects after a thousand unclosed braces are found");
	score_json_release(&s);
	buf_release(&text);
}

static void test_absurd(void)
{
	static const char *const texts[] = { "{\"best_us\": 1e300}", "{\"score\": -1e300}",
					     "{\"best_us\": 1e-300}", "{\"score\": 4e-320}" };
	struct score_json s;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		s = read_score(texts[i], NULL);
		ok(!score_json_counts(&s) && isnan(s.value),
		   "an impossible measurement does not count (%s)", s.why);
		score_json_release(&s);
	}
	s = read_score("{\"best_us\": 1e300}", NULL);
	is_str(s.why, "\"best_us\" is 1e+300: not a possible measurement",
	       "the reason has the "
	       "value");
	score_json_release(&s);
	s = read_score("{\"score\": 0}", NULL);
	ok(score_json_counts(&s) && s.value == 0, "0 is a score");
	score_json_release(&s);
	ok(score_is_measurable(1e15) && score_is_measurable(-1e-15) &&
		   !score_is_measurable(1.1e15) && !score_is_measurable(NAN),
	   "the limits themselves are possible");
}

static void test_no_object(void)
{
	static const char *const texts[] = { "", "hello\n", "[1]", "{", "{]", "}}}", "{\"a\": \"" };
	struct score_json s;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(score_json_read(&s, str_from(texts[i]), NULL, NULL) == -1,
		   "text %zu has no object", i);
}

static void test_same_work(void)
{
	static const char other_dim[] =
		"{\"best_us\": 1, \"cases\": [{\"name\": \"d1024\", \"dim\": "
		"2048}], \"device\": \"H200\", \"mode\": \"final\"}";
	static const char other_mode[] = "{\"best_us\": 1, \"mode\": \"dev\"}";
	struct score_json a = read_score(final_run, NULL);
	struct score_json b = read_score(other_dim, NULL);
	struct score_json c = read_score(other_mode, NULL);
	char why[80] = "";

	ok(score_json_same_work(&a, &a, why, sizeof(why)), "equal cases are the same work");
	ok(!score_json_same_work(&a, &b, why, sizeof(why)), "another shape is different work");
	is_str(why, "\"dim\" of cases[0] differs", "the difference is named");
	ok(!score_json_same_work(&a, &c, why, sizeof(why)), "another mode is different work");
	is_str(why, "\"mode\" differs", "the difference is named");
	score_json_release(&a);
	score_json_release(&b);
	score_json_release(&c);
}

int main(void)
{
	test_good();
	test_bad();
	test_doubt();
	test_open_braces();
	test_absurd();
	test_no_object();
	test_same_work();
	return tap_done();
}
