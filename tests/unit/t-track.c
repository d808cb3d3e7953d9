/* SPDX-License-Identifier: MIT */
/* track: the built-in ones, and each way a user's file can be wrong. */
#include "model/track.h"

#include "tests/support/tap.h"

static void test_builtin(void)
{
	struct err err = { ERR_NONE, "" };
	struct track t;
	int n = 0;

	for (; track_name(n > 0 ? (size_t)n : 0) != NULL; n++) {
		ok(track_load(&t, track_name((size_t)n), &err) == 0, "%s loads",
		   track_name((size_t)n));
		is_str(t.name, track_name((size_t)n), "it has its file's name");
		track_release(&t);
	}
	is_int(n, 4, "four tracks");
	ok(track_load(&t, "parameter-golf-10min", &err) == 0, "golf");
	is_near(t.cap_artifact_bytes, 16e6, 0, "bytes");
	is_near(t.cap_train_s, 600, 0, "train");
	is_near(t.cap_eval_s, 600, 0, "eval");
	is_near(t.margin_nats, 0.005, 0, "margin");
	is_near(t.alpha, 0.01, 0, "alpha");
	is_int((long long)t.n_tests, 2, "two tests");
	is_int(t.tests[1], TRACK_TEST_B, "the second is B");
	is_str(t.score->name, "final_bpb", "score");
	ok(t.full_targets && t.has_record && track_has_caps(&t), "flags");
	is_near(t.target, RUN_ABSENT, 0, "no target");
	track_release(&t);
	ok(track_load(&t, "open", &err) == 0 && t.score == NULL && !t.has_record &&
		   !track_has_caps(&t),
	   "open has neither caps nor rule");
	track_release(&t);
}

static const struct {
	const char *text, *says;
} wrong[] = {
	{ "[]", "t.json:1: expected an object" },
	{ "{\"name\": \"x\"}", "schema" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\"}",
	  "t.json:1: schema: expected \"hgym-tui.track/1\"" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"\"}", "name: expected a name" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n\"cap\": {}}", "t.json:2: cap" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"score\": \"bpb\"}",
	  "t.json:2: score: must be a BPB or a loss" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"score\": \"train_ms\"}",
	  "t.json:2: score: must be a BPB or a loss" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"caps\": {\"train_s\": 0}}",
	  "caps.train_s: expected a number above 0" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"caps\": {\"train_s\": \"600\"}}",
	  "caps.train_s" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"alpha\": 1}}",
	  "record.alpha: must be above 0 and below 1" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"tests\": [\"G\"]}}",
	  "record.tests: expected letters \"A\" to \"F\"" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"tests\": [\"A\", \"A\"]}}",
	  "record.tests: test A appears twice" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"tests\": []}}",
	  "record.tests: must name" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"min_seeds\": 1}}",
	  "record.min_seeds: expected a number from 2 to 1000" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"record\": {\"target\": 3, \"margin_nats\": 0.1}}",
	  "record.margin_nats: not allowed together with \"target\"" },
	{ "{", "t.json" },
};

static void test_wrong(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = { ERR_NONE, "" };
		struct track t;
		int status = track_parse(&t, "t.json", str_from(wrong[i].text), &err);

		if (!ok(status == -1 && strstr(err.text, wrong[i].says) != NULL, "refused: %s",
			wrong[i].says))
			printf("# got: %d %s\n", status, err.text);
		if (status == 0)
			track_release(&t);
	}
}

int main(void)
{
	struct err err = { ERR_NONE, "" };
	struct track t;

	test_builtin();
	test_wrong();
	is_int(track_load(&t, "golf", &err), -1, "no such track");
	is_str(err.text,
	       "unknown track \"golf\" (known: metric, nanogpt-speedrun, open, "
	       "parameter-golf-10min; the name of a track file must end in .json)",
	       "the error lists the known tracks");
	is_int(track_load(&t, "./nowhere.json", &err), -1, "no such file");
	is_int(err.code, ERR_CONFIG, "an error of configuration");
	return tap_done();
}
