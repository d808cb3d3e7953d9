/* SPDX-License-Identifier: MIT */
/* Tracks from JSON; called by the leaderboard's command and the config. */
#include "config.h"

#include "model/track.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/xalloc.h"
#include "parsers/json.h"

#define SCHEMA	      "hgym-tui.track/1"
#define DEFAULT_ALPHA 0.01
#define DEFAULT_SEEDS 3
#define MAX_SEEDS     1000

extern const struct embed_file track_builtin[];

static const struct json_key top_keys[] = {
	{ "schema", JSON_STRING | JSON_REQUIRED },
	{ "name", JSON_STRING | JSON_REQUIRED },
	{ "title", JSON_STRING },
	{ "score", JSON_STRING },
	{ "caps", JSON_OBJECT },
	{ "record", JSON_OBJECT },
	{ NULL, 0 },
};

static const struct json_key caps_keys[] = {
	{ "train_s", JSON_NUMBER },    { "train_grace_steps", JSON_NUMBER },
	{ "eval_s", JSON_NUMBER },     { "artifact_bytes", JSON_NUMBER },
	{ "full_targets", JSON_BOOL }, { NULL, 0 },
};

static const struct json_key record_keys[] = {
	{ "target", JSON_NUMBER },
	{ "margin_nats", JSON_NUMBER },
	{ "known_sd", JSON_NUMBER },
	{ "alpha", JSON_NUMBER },
	{ "tests", JSON_ARRAY },
	{ "min_seeds", JSON_INTEGER },
	{ NULL, 0 },
};

const char *
track_name(size_t i)
{
	return track_builtin[i].name;
}

void
track_release(struct track *track)
{
	free(track->name);
	free(track->title);
	*track = (struct track){ 0 };
}

bool
track_has_caps(const struct track *track)
{
	return run_has(track->cap_train_s) || run_has(track->cap_eval_s) ||
	       run_has(track->cap_artifact_bytes);
}

/* A member that must be above 0 where it is given. */
static int
read_positive(const struct json_at *at, const cJSON *object, const char *path,
	      double *out, struct err *err)
{
	const char *key = strrchr(path, '.') + 1;

	*out = json_get_number(object, key, RUN_ABSENT);
	if (run_has(*out) && !(*out > 0))
		return json_fail(at, path, err, "must be above 0");
	return 0;
}

static int
read_caps(struct track *track, const struct json_at *at, const cJSON *caps,
	  struct err *err)
{
	if (caps == NULL)
		return 0;
	if (json_check_keys(at, caps, "caps", caps_keys, err) != 0 ||
	    read_positive(at, caps, "caps.train_s", &track->cap_train_s, err) ||
	    read_positive(at, caps, "caps.eval_s", &track->cap_eval_s, err) ||
	    read_positive(at, caps, "caps.artifact_bytes",
			  &track->cap_artifact_bytes, err))
		return -1;
	track->train_grace_steps =
		json_get_number(caps, "train_grace_steps", 0);
	if (track->train_grace_steps < 0)
		return json_fail(at, "caps.train_grace_steps", err,
				 "must not be below 0");
	track->full_targets = json_get_bool(caps, "full_targets", false);
	return 0;
}

/* ["A", "B"] to the list of tests that decide. */
static int
read_tests(struct track *track, const struct json_at *at, const cJSON *tests,
	   struct err *err)
{
	const cJSON *item;
	unsigned int seen = 0;

	track->tests[0] = TRACK_TEST_A;
	track->n_tests = 1;
	if (tests == NULL)
		return 0;
	track->n_tests = 0;
	cJSON_ArrayForEach(item, tests)
	{
		int letter;

		if (!cJSON_IsString(item) || strlen(item->valuestring) != 1 ||
		    item->valuestring[0] < 'A' ||
		    item->valuestring[0] >= 'A' + TRACK_TEST_COUNT)
			return json_fail(at, "record.tests", err,
					 "expected letters \"A\" to \"%c\"",
					 'A' + TRACK_TEST_COUNT - 1);
		letter = item->valuestring[0] - 'A';
		if ((seen & (1U << letter)) != 0)
			return json_fail(at, "record.tests", err,
					 "names test %c twice", 'A' + letter);
		seen |= 1U << letter;
		track->tests[track->n_tests++] = (enum track_test)letter;
	}
	if (track->n_tests == 0)
		return json_fail(at, "record.tests", err,
				 "must name a test at least");
	return 0;
}

static int
read_record(struct track *track, const struct json_at *at, const cJSON *record,
	    struct err *err)
{
	double seeds;

	if (record == NULL)
		return 0;
	if (json_check_keys(at, record, "record", record_keys, err) != 0 ||
	    read_tests(track, at,
		       cJSON_GetObjectItemCaseSensitive(record, "tests"),
		       err) != 0 ||
	    read_positive(at, record, "record.known_sd", &track->known_sd,
			  err) != 0)
		return -1;
	track->has_record = true;
	track->target = json_get_number(record, "target", RUN_ABSENT);
	track->margin_nats = json_get_number(record, "margin_nats", 0);
	if (track->margin_nats < 0)
		return json_fail(at, "record.margin_nats", err,
				 "must not be below 0");
	if (run_has(track->target) && track->margin_nats > 0)
		return json_fail(at, "record.margin_nats", err,
				 "cannot stand beside a target");
	track->alpha = json_get_number(record, "alpha", DEFAULT_ALPHA);
	if (!(track->alpha > 0 && track->alpha < 1))
		return json_fail(at, "record.alpha", err,
				 "must be above 0 and below 1");
	seeds = json_get_number(record, "min_seeds", DEFAULT_SEEDS);
	if (seeds < 2 || seeds > MAX_SEEDS)
		return json_fail(at, "record.min_seeds", err,
				 "must be from 2 to %d", MAX_SEEDS);
	track->min_seeds = (unsigned int)seeds;
	return 0;
}

static int
read_top(struct track *track, const struct json_at *at, const cJSON *root,
	 struct err *err)
{
	const char *score;

	if (!cJSON_IsObject(root))
		return json_fail(at, "", err, "expected an object");
	if (json_check_keys(at, root, "", top_keys, err) != 0)
		return -1;
	if (strcmp(json_get_string(root, "schema", ""), SCHEMA) != 0)
		return json_fail(at, "schema", err, "expected \"" SCHEMA "\"");
	track->name = xstrdup(json_get_string(root, "name", ""));
	if (track->name[0] == '\0')
		return json_fail(at, "name", err, "must not be empty");
	track->title = xstrdup(json_get_string(root, "title", track->name));
	score = json_get_string(root, "score", "auto");
	track->score = run_number_by_name(str_from(score));
	if (strcmp(score, "auto") != 0 &&
	    (track->score == NULL ||
	     (!str_ends_with(str_from(score), "_bpb") &&
	      !str_ends_with(str_from(score), "_loss"))))
		return json_fail(at, "score", err,
				 "must be a BPB or a loss of a run "
				 "(final_bpb, final_val_loss, ..) or auto");
	return read_caps(track, at,
			 cJSON_GetObjectItemCaseSensitive(root, "caps"), err) ||
	       read_record(track, at,
			   cJSON_GetObjectItemCaseSensitive(root, "record"),
			   err);
}

/* Fill track from a tree; release it again on an error. */
static int
read_track(struct track *track, const struct json_at *at, const cJSON *root,
	   struct err *err)
{
	*track = (struct track){
		.cap_train_s = RUN_ABSENT,
		.cap_eval_s = RUN_ABSENT,
		.cap_artifact_bytes = RUN_ABSENT,
		.target = RUN_ABSENT,
		.known_sd = RUN_ABSENT,
		.alpha = DEFAULT_ALPHA,
		.min_seeds = DEFAULT_SEEDS,
	};
	if (read_top(track, at, root, err) == 0)
		return 0;
	track_release(track);
	return -1;
}

int
track_parse(struct track *track, const char *file, struct str text,
	    struct err *err)
{
	struct json_at at = { file, text, ERR_CONFIG };
	cJSON *root = json_parse(text, JSON_BARE_REFUSED, err);
	int status;

	if (root == NULL)
		return err_prefix(err, "%s", file);
	status = read_track(track, &at, root, err);
	cJSON_Delete(root);
	return status;
}

static int
load_file(struct track *track, const char *path, struct err *err)
{
	struct buf text;
	cJSON *root;
	int status = -1;

	buf_init(&text, JSON_MAX_BYTES);
	root = json_parse_file(path, &text, err);
	if (root != NULL) {
		struct json_at at = { path,
				      { text.data, text.len },
				      ERR_CONFIG };

		status = read_track(track, &at, root, err);
	} else if (err != NULL) {
		err->code = ERR_CONFIG;
	}
	cJSON_Delete(root);
	buf_release(&text);
	return status;
}

int
track_load(struct track *track, const char *name_or_path, struct err *err)
{
	struct buf known;

	if (strchr(name_or_path, '/') != NULL ||
	    str_ends_with(str_from(name_or_path), ".json"))
		return load_file(track, name_or_path, err);
	for (size_t i = 0; track_name(i) != NULL; i++)
		if (strcmp(track_name(i), name_or_path) == 0)
			return track_parse(track, name_or_path,
					   str_from(track_builtin[i].text),
					   err);
	buf_init(&known, 256);
	for (size_t i = 0; track_name(i) != NULL; i++)
		buf_appendf(&known, "%s%s", i > 0 ? ", " : "", track_name(i));
	err_set(err, ERR_USAGE,
		"there is no track \"%s\" (there are: %s; a file of your own "
		"must end in .json)",
		name_or_path, known.data);
	buf_release(&known);
	return -1;
}
