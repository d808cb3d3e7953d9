/* SPDX-License-Identifier: MIT */
/* track: the built-in tracks, and each mistake that a user's file can have. */
#include "model/track.h"

#include "base/xalloc.h"
#include "parsers/format.h"
#include "parsers/scan.h"
#include "tests/support/tap.h"

static void test_builtin(void)
{
	struct err err = { ERR_NONE, "" };
	struct track t;
	int n = 0;

	for (; track_name(n > 0 ? (size_t)n : 0) != NULL; n++) {
		ok(track_load(&t, track_name((size_t)n), &err) == 0, "%s loads",
		   track_name((size_t)n));
		is_str(t.name, track_name((size_t)n), "a track has the name of its file");
		track_release(&t);
	}
	is_int(n, 12, "twelve tracks");
	ok(track_load(&t, "parameter-golf-10min", &err) == 0, "the golf track loads");
	is_near(t.cap_artifact_bytes, 16e6, 0, "cap of bytes");
	is_near(t.cap_train_s, 600, 0, "cap of training");
	is_near(t.cap_eval_s, 600, 0, "cap of evaluation");
	is_near(t.margin_nats, 0.005, 0, "margin");
	is_near(t.alpha, 0.01, 0, "alpha");
	is_int((long long)t.n_tests, 2, "two tests");
	is_int(t.tests[1], TRACK_TEST_B, "the second test is B");
	is_str(t.score->name, "final_bpb", "score");
	ok(t.full_targets && t.has_record && track_has_caps(&t),
	   "full targets, a record rule and caps are set");
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
	{ "{\"schema\": \"hgym-tui.track/3\", \"name\": \"x\"}",
	  "t.json:1: schema: expected \"hgym-tui.track/1\"" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"\"}", "name: expected a name" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n\"cap\": {}}", "t.json:2: cap" },
	{ "{\"schema\": \"hgym-tui.track/1\", \"name\": \"x\",\n"
	  "\"score\": \"\"}",
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
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"score\": \"steps_to_target\"}",
	  "score steps_to_target needs \"target\" with \"metric\", and \"test\"" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"target\": {\"metric\": \"val_loss\"}}",
	  "target: the key \"value\" is missing" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"target\": {\"value\": 3, \"direction\": \"up\"}}",
	  "target.direction" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\", \"score\": \"core\",\n"
	  "\"target\": {\"value\": 3, \"metric\": \"loss\"}}",
	  "t.json:2: target.metric: must be the metric of \"score\", core" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"test\": {\"kind\": \"z\"}}",
	  "test: needs \"sd\"" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"test\": {\"kind\": \"margin\"}}",
	  "test: needs \"margin_root_n\"" },
	{ "{\"schema\": \"hgym-tui.track/2\", \"name\": \"x\",\n"
	  "\"detect\": [{\"weight\": 10}]}",
	  "detect[0]: the key \"match\" is missing" },
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

#define SLOWRUN "Step 00190 | Epoch 1 | Val BPB: 1.1 | Val Loss: 3.4"

/* The logs of each built-in track, and logs that two tracks or none may have written. */
static const struct {
	const char *script, *line, *names;
} logs[] = {
	{ "", "step:10/20 val_loss:3.1 val_bpb:1.2 train_time:10ms", "parameter-golf-10min" },
	{ "", "0/20000 val_loss: 9.0092 val_bpb: 3.4877", "parameter-golf-10min" },
	{ "", "Total submission size int8+zlib: 15 bytes", "parameter-golf-10min" },
	{ "", SLOWRUN, "nanogpt-slowrun" },
	{ "", "n_layer=16, n_embd=1024, n_head=8\n" SLOWRUN, "nanogpt-slowrun-tiny" },
	{ "", "  \"n_layer\": 16,\n  \"n_embd\": 1024,\n" SLOWRUN, "nanogpt-slowrun-tiny" },
	{ "", "n_layer=24, n_embd=1024, n_head=8\n" SLOWRUN, "nanogpt-slowrun" },
	{ "", "  \"n_embd\": 1024,\n" SLOWRUN, "nanogpt-slowrun" },
	{ "", "n_layer=30, n_embd=1792\n  num_epochs=11\n" SLOWRUN, "nanogpt-slowrun-limited" },
	{ "", "n_layer=30, n_embd=1792\n  num_epochs=22\n" SLOWRUN, "nanogpt-slowrun-2h" },
	{ "", "n_layer=30, n_embd=1792\n  num_epochs=12\n" SLOWRUN, "nanogpt-slowrun" },
	{ "", "n_layer=30, n_embd=2048\n  num_epochs=11\n" SLOWRUN, "nanogpt-slowrun" },
	{ "", "n_layer=16, n_embd=1024\nnum_epochs=11", NULL },
	{ "", "Step 00100 | Validation bpb: 0.9", "nanochat-gpt2" },
	{ "", "step:10/20 val_loss:3.30 train_time:1.500s step_avg:2ms", "nanogpt-optimization" },
	{ "", "step:10/20 val_loss:3.30 val_ema_loss:3.29 train_time:1.500s step_avg:2ms",
	  "nanogpt-optimization" },
	{ "", "Time budget: 300s", "autoresearch-5min" },
	{ "", "val_bpb:   0.99\ntraining_seconds: 300.1", "autoresearch-5min" },
	{ "", "val_bpb:   0.99", NULL },
	{ "import torch\nnum_layers = 12\n", "step:1/2 val_loss:3.3 train_time:9ms step_avg:9ms",
	  "nanogpt-speedrun" },
	{ "import torch\nmodel_dim=1024\n", "step:1/2 val_loss:3.3 train_time:9ms step_avg:9ms",
	  "nanogpt-medium" },
	{ "import torch\n  num_layers: int = 16\n",
	  "step:1/2 val_loss:3.3 train_time:9ms step_avg:9ms", "nanogpt-medium" },
	{ "import torch\nnum_layers=160, model_dim=10240\n",
	  "step:1/2 val_loss:3.3 train_time:9ms step_avg:9ms", "nanogpt-speedrun" },
	{ "", "step:1/2 val_loss:3.3 train_time:9ms step_avg:9ms",
	  "nanogpt-medium,nanogpt-speedrun" },
	{ "import torch\n", "target 3.28, modded-nanogpt, parameter-golf", NULL },
	{ "", "epoch 1 loss 2.92", NULL },
};

static void test_recognize(void)
{
	struct err err = { ERR_NONE, "" };
	struct format_set *formats = format_set_new_builtin();
	struct scanner *scanner;
	struct marks found;
	struct track_set set;

	track_set_init(&set);
	is_int(track_set_add_marks(&set, formats, &err), 0, "the patterns compile");
	scanner = scanner_new(formats);
	for (size_t i = 0; i < LENGTH(logs); i++) {
		struct str rest = str_from(logs[i].line), line;

		marks_init(&found, format_set_marks(formats), scanner);
		marks_read_source(&found, str_from(logs[i].script));
		while (str_next(&rest, '\n', &line))
			marks_read_line(&found, line, RULE_KIND_COUNT);
		AUTO_TEXT names = marks_names(&found);
		const char *want = logs[i].names != NULL ? logs[i].names : "";
		bool is_right = strcmp(names, want) == 0;
		ok(is_right, "log %zu is recognized as \"%s\"%s%s", i, want,
		   is_right ? "" : ", not ", is_right ? "" : names);
	}
	scanner_free(scanner);
	format_set_free(formats);
	track_set_release(&set);
}

int main(void)
{
	struct err err = { ERR_NONE, "" };
	struct track t;

	test_builtin();
	test_wrong();
	test_recognize();
	is_int(track_load(&t, "golf", &err), -1, "an unknown track is an error");
	is_str(err.text,
	       "unknown track \"golf\" (known: autoresearch-5min, metric, nanochat-gpt2, "
	       "nanogpt-medium, nanogpt-optimization, nanogpt-slowrun, nanogpt-slowrun-2h, "
	       "nanogpt-slowrun-limited, nanogpt-slowrun-tiny, nanogpt-speedrun, open, "
	       "parameter-golf-10min; the name of a track file must end in .json)",
	       "the error lists the known tracks");
	is_int(track_load(&t, "./nowhere.json", &err), -1, "a missing file is an error");
	is_int(err.code, ERR_CONFIG, "a missing file is an error of the configuration");
	return tap_done();
}
