/* SPDX-License-Identifier: MIT */
/* Read tracks from JSON. */
#include "model/track.h"

#include <stdlib.h>

#include "base/embed.h"
#include "base/xalloc.h"
#include "parsers/json_fields.h"

#define SCHEMA	   "hgym-tui.track/1"
#define MAX_NUMBER 1e300

extern const struct embed_file track_builtin[];

const char *track_name(size_t i)
{
	return track_builtin[i].name;
}

void track_scores_add(struct track_scores *scores, const struct run *run)
{
	scores->bpb |= run_has(run->final_bpb) || run_has(run->last_val_bpb);
	scores->loss |= run_has(run->final_val_loss) || run_has(run->last_val_loss);
}

const char *track_for_scores(const struct track_scores *scores)
{
	return scores->bpb ? TRACK_DEFAULT : scores->loss ? "open" : NULL;
}

void track_release(struct track *track)
{
	free(track->name);
	free(track->title);
	*track = (struct track){ 0 };
}

bool track_has_caps(const struct track *track)
{
	return run_has(track->cap_train_s) || run_has(track->cap_eval_s) ||
	       run_has(track->cap_artifact_bytes);
}

/* Read ["A", "B"], the tests that decide. */
static int read_tests(const struct json_reader *r, const cJSON *tests, const char *path, void *base)
{
	struct track *track = base;
	unsigned int seen = 0;

	track->n_tests = 0;
	json_each (item, tests) {
		const char *name = cJSON_IsString(item) ? item->valuestring : "";
		int letter = name[0] - 'A';

		if (letter < 0 || letter >= TRACK_TEST_COUNT || name[1] != '\0')
			return json_refuse(r, path, "expected letters \"A\" to \"%c\"",
					   'A' + TRACK_TEST_COUNT - 1);
		if ((seen & (1U << letter)) != 0)
			return json_refuse(r, path, "test %c appears twice", name[0]);
		seen |= 1U << letter;
		track->tests[track->n_tests++] = (enum track_test)letter;
	}
	if (track->n_tests == 0)
		return json_refuse(r, path, "must name at least one test");
	return 0;
}

static int read_alpha(const struct json_reader *r, const cJSON *node, const char *path, void *base)
{
	struct track *track = base;

	track->alpha = node->valuedouble;
	if (!(track->alpha > 0 && track->alpha < 1))
		return json_refuse(r, path, "must be above 0 and below 1");
	return 0;
}

static int check_record(const struct json_reader *r, const cJSON *node, const char *path,
			void *base)
{
	struct track *track = base;

	(void)node;
	(void)path;
	track->has_record = true;
	if (track->n_tests == 0)
		track->tests[track->n_tests++] = TRACK_TEST_A;
	if (run_has(track->target) && track->margin_nats > 0)
		return json_refuse(r, "record.margin_nats", "not allowed together with \"target\"");
	return 0;
}

static bool is_not_empty(const char *text)
{
	return text[0] != '\0';
}

static int read_score(const struct json_reader *r, const cJSON *node, const char *path, void *base)
{
	struct str name = str_from(node->valuestring);
	struct track *track = base;

	track->score = run_number_by_name(name);
	if (!str_eq_cstr(name, "auto") && (track->score == NULL || (!str_ends_with(name, "_bpb") &&
								    !str_ends_with(name, "_loss"))))
		return json_refuse(r, path,
				   "must be a BPB or a loss of a run "
				   "(final_bpb, final_val_loss, ..) or auto");
	return 0;
}

static const char *const schemas[] = { SCHEMA, NULL };

static const struct json_field caps_fields[] = {
	{ "train_s", JSON_AS_NUMBER, JSON_AT(track, cap_train_s) },
	{ "train_grace_steps", JSON_AS_NUMBER, JSON_AT(track, train_grace_steps),
	  .high = MAX_NUMBER },
	{ "eval_s", JSON_AS_NUMBER, JSON_AT(track, cap_eval_s) },
	{ "artifact_bytes", JSON_AS_NUMBER, JSON_AT(track, cap_artifact_bytes) },
	{ "full_targets", JSON_AS_BOOL, JSON_AT(track, full_targets) },
	{ .name = NULL },
};

static const struct json_field record_fields[] = {
	{ "target", JSON_AS_NUMBER, JSON_AT(track, target), .low = -MAX_NUMBER,
	  .high = MAX_NUMBER },
	{ "margin_nats", JSON_AS_NUMBER, JSON_AT(track, margin_nats), .high = MAX_NUMBER },
	{ "known_sd", JSON_AS_NUMBER, JSON_AT(track, known_sd) },
	{ "alpha", JSON_AS_OTHER, .types = JSON_NUMBER, .take = read_alpha },
	{ "tests", JSON_AS_OTHER, .types = JSON_ARRAY, .take = read_tests },
	{ "min_seeds", JSON_AS_COUNT, JSON_AT(track, min_seeds), .low = 2, .high = 1000 },
	{ .name = NULL },
};

static const struct json_field top_fields[] = {
	{ "schema", JSON_AS_FIXED, .types = JSON_REQUIRED, .words = schemas },
	{ "name", JSON_AS_TEXT, JSON_AT(track, name), .types = JSON_REQUIRED,
	  .is_right = is_not_empty, .what = "a name" },
	{ "title", JSON_AS_TEXT, JSON_AT(track, title) },
	{ "score", JSON_AS_OTHER, .types = JSON_STRING, .take = read_score },
	{ "caps", JSON_AS_OBJECT, .fields = caps_fields },
	{ "record", JSON_AS_OBJECT, .fields = record_fields, .take = check_record },
	{ .name = NULL },
};

/* From text or, if that is NULL, from the file. */
static int read_track(struct track *track, const char *file, const struct str *text,
		      struct err *err)
{
	struct json_reader r = { .at.code = ERR_CONFIG, .err = err };

	*track = (struct track){
		.cap_train_s = RUN_ABSENT,
		.cap_eval_s = RUN_ABSENT,
		.cap_artifact_bytes = RUN_ABSENT,
		.target = RUN_ABSENT,
		.known_sd = RUN_ABSENT,
		.alpha = 0.01,
		.min_seeds = 3,
	};
	int rc = text != NULL ? json_read_text(&r, file, *text, top_fields, track)
			      : json_read_file(&r, file, top_fields, track);
	if (rc == 0 && track->title == NULL)
		track->title = xstrdup(track->name);
	if (rc != 0)
		track_release(track);
	return rc;
}

int track_parse(struct track *track, const char *file, struct str text, struct err *err)
{
	return read_track(track, file, &text, err);
}

int track_load(struct track *track, const char *name_or_path, struct err *err)
{
	AUTO_BUF known = buf_new(256);

	if (strchr(name_or_path, '/') != NULL || str_ends_with(str_from(name_or_path), ".json"))
		return read_track(track, name_or_path, NULL, err);
	for (size_t i = 0; track_name(i) != NULL; i++)
		if (strcmp(track_name(i), name_or_path) == 0)
			return track_parse(track, name_or_path, str_from(track_builtin[i].text),
					   err);
	for (size_t i = 0; track_name(i) != NULL; i++)
		buf_appendf(&known, "%s%s", i > 0 ? ", " : "", track_name(i));
	err_set(err, ERR_USAGE,
		"unknown track \"%s\" (known: %s; the name of a track file must end in .json)",
		name_or_path, known.data);
	return -1;
}
