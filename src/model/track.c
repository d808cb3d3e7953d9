/* SPDX-License-Identifier: MIT */
/* Read tracks from JSON. */
#include "model/track.h"

#include "base/embed.h"
#include "parsers/format.h"
#include "parsers/json_fields.h"

#define MAX_NUMBER 1e300

extern const struct embed_file track_builtin[];

const char *track_name(size_t i)
{
	return track_builtin[i].name;
}

const char *track_text(const char *name)
{
	const struct embed_file *file = track_builtin;

	while (file->name != NULL && strcmp(file->name, name) != 0)
		file++;
	return file->text;
}

void track_release(struct track *track)
{
	free(track->name);
	free(track->title);
	free(track->file);
	free(track->metric);
	free(track->full_metric);
	free(track->also_metric);
	free(track->full_if);
	free(track->cap_metric);
	for (size_t i = 0; i < track->n_marks; i++)
		mark_release(&track->marks[i]);
	free(track->marks);
	*track = (struct track){ 0 };
}

void track_list_caps(const struct track *track, struct buf *out)
{
	const char *const names[] = {
		run_has(track->cap_artifact_bytes) ? "bytes" : NULL,
		run_has(track->cap_train_s) ? "train" : NULL,
		run_has(track->cap_eval_s) ? "eval" : NULL,
		track->full_targets ? "targets" : NULL,
		track->cap_metric,
	};
	const char *sep = "";

	for (size_t i = 0; i < LENGTH(names); i++) {
		if (names[i] == NULL)
			continue;
		buf_appendf(out, "%s%s", sep, names[i]);
		sep = ", ";
	}
}

bool track_has_caps(const struct track *track)
{
	AUTO_BUF names = buf_new(64);

	track_list_caps(track, &names);
	return names.len > 0;
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

static int check_record(const struct json_reader *r, UNUSED const cJSON *node,
			UNUSED const char *path, void *base)
{
	struct track *track = base;

	track->has_record = true;
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

	if (str_eq_cstr(name, "auto"))
		return 0;
	track->score = run_number_by_name(name);
	track->counts_steps = str_eq_cstr(name, "steps_to_target");
	if (track->score == NULL && !track->counts_steps)
		track->metric = xstrdup(node->valuestring);
	if (name.len == 0 ||
	    (track->score != NULL && !str_ends_with(name, "_bpb") && !str_ends_with(name, "_loss")))
		return json_refuse(r, path,
				   "must be a BPB or a loss of a run (final_bpb, final_val_loss, "
				   "..), the name of a metric, steps_to_target or auto");
	return 0;
}

/* Read the metric of the target; if the score is a metric, both must be the same. */
static int read_target_metric(const struct json_reader *r, const cJSON *node, const char *path,
			      void *base)
{
	struct track *track = base;

	if (node->valuestring[0] == '\0')
		return json_refuse(r, path, "expected the name of a metric");
	if (track->metric == NULL)
		track->metric = xstrdup(node->valuestring);
	else if (strcmp(track->metric, node->valuestring) != 0)
		return json_refuse(r, path, "must be the metric of \"score\", %s", track->metric);
	return 0;
}

static int read_rule(const struct json_reader *r, const cJSON *node, const char *path, void *base)
{
	struct track *track = base;

	track->has_record = true;
	if (track->rule == TRACK_RULE_Z && !run_has(track->known_sd))
		return json_refuse(r, path, "needs \"sd\", the known standard deviation");
	if (track->rule == TRACK_RULE_MARGIN && !run_has(track->margin_root_n))
		return json_refuse(r, path, "needs \"margin_root_n\"");
	if (json_get(node, "min_seeds") == NULL)
		track->min_seeds = track->rule == TRACK_RULE_T ? 2 : 1;
	return 0;
}

static const char *const schemas[] = { "hgym-tui.track/1", "hgym-tui.track/2", NULL };
static const char *const takes[] = { "last", "best", NULL };
static const char *const directions[] = { "below", "above", NULL };
static const char *const rules[] = { "t", "z", "margin", "mean", NULL };
static const char *const places[] = { "output", "source", NULL };
static const char *const ranks[] = { "score", "train_s", "steps", NULL };

static const struct json_field mark_fields[] = {
	{ "match", JSON_AS_TEXT, JSON_AT(mark, rule.pattern), .types = JSON_REQUIRED },
	{ "in", JSON_AS_EITHER, JSON_AT(mark, in_source), .words = places, .what = "place" },
	{ "needs", JSON_AS_TEXT, JSON_AT(mark, needs) },
	{ "weight", JSON_AS_COUNT, JSON_AT(mark, weight), .types = JSON_REQUIRED, .low = 1,
	  .high = 1000 },
	{ .name = NULL },
};

/* Read "detect": [{ "match": "^step:", "weight": 10 }]. */
static int read_marks(const struct json_reader *r, const cJSON *marks, const char *path, void *base)
{
	struct track *track = base;

	track->marks = xcalloc((size_t)cJSON_GetArraySize(marks) + 1, sizeof(*track->marks));
	json_each (node, marks) {
		char at[JSON_PATH_SIZE];

		print_into(at, "%s[%zu]", path, track->n_marks);
		if (json_read_object(r, mark_fields, node, at, &track->marks[track->n_marks++]) !=
		    0)
			return -1;
	}
	return 0;
}

static const struct json_field full_fields[] = {
	{ "name", JSON_AS_TEXT, JSON_AT(track, full_if), .types = JSON_REQUIRED },
	{ "value", JSON_AS_NUMBER, JSON_AT(track, full_value), .types = JSON_REQUIRED,
	  .low = -MAX_NUMBER, .high = MAX_NUMBER },
	{ .name = NULL },
};

static const struct json_field target_fields[] = {
	{ "metric", JSON_AS_OTHER, .types = JSON_STRING, .take = read_target_metric },
	{ "value", JSON_AS_NUMBER, JSON_AT(track, target), .types = JSON_REQUIRED,
	  .low = -MAX_NUMBER, .high = MAX_NUMBER },
	{ "direction", JSON_AS_EITHER, JSON_AT(track, is_above), .words = directions,
	  .what = "direction" },
	{ "strict", JSON_AS_BOOL, JSON_AT(track, is_strict) },
	{ "full", JSON_AS_TEXT, JSON_AT(track, full_metric) },
	{ "also", JSON_AS_TEXT, JSON_AT(track, also_metric) },
	{ "full_if", JSON_AS_OBJECT, .fields = full_fields },
	{ .name = NULL },
};

static const struct json_field test_fields[] = {
	{ "kind", JSON_AS_CHOICE, JSON_AT(track, rule), .types = JSON_REQUIRED, .words = rules,
	  .what = "test" },
	{ "alpha", JSON_AS_OTHER, .types = JSON_NUMBER, .take = read_alpha },
	{ "sd", JSON_AS_NUMBER, JSON_AT(track, known_sd) },
	{ "margin_root_n", JSON_AS_NUMBER, JSON_AT(track, margin_root_n) },
	{ "min_seeds", JSON_AS_COUNT, JSON_AT(track, min_seeds), .low = 1, .high = 1000 },
	{ .name = NULL },
};

static const struct json_field pair_fields[] = {
	{ "margin_root_n", JSON_AS_NUMBER, JSON_AT(track, pair_margin_root_n),
	  .types = JSON_REQUIRED },
	{ "loss_per_step", JSON_AS_NUMBER, JSON_AT(track, loss_per_step), .types = JSON_REQUIRED },
	{ .name = NULL },
};

static const struct json_field cap_metric_fields[] = {
	{ "name", JSON_AS_TEXT, JSON_AT(track, cap_metric), .types = JSON_REQUIRED },
	{ "most", JSON_AS_NUMBER, JSON_AT(track, cap_metric_most), .types = JSON_REQUIRED },
	{ .name = NULL },
};

static const struct json_field caps_fields[] = {
	{ "train_s", JSON_AS_NUMBER, JSON_AT(track, cap_train_s) },
	{ "train_grace_steps", JSON_AS_NUMBER, JSON_AT(track, train_grace_steps),
	  .high = MAX_NUMBER },
	{ "eval_s", JSON_AS_NUMBER, JSON_AT(track, cap_eval_s) },
	{ "artifact_bytes", JSON_AS_NUMBER, JSON_AT(track, cap_artifact_bytes) },
	{ "full_targets", JSON_AS_BOOL, JSON_AT(track, full_targets) },
	{ "metric", JSON_AS_OBJECT, .fields = cap_metric_fields },
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
	{ "take", JSON_AS_EITHER, JSON_AT(track, take_best), .words = takes, .what = "word" },
	{ "target", JSON_AS_OBJECT, .fields = target_fields },
	{ "test", JSON_AS_OBJECT, .fields = test_fields, .take = read_rule },
	{ "pairwise", JSON_AS_OBJECT, .fields = pair_fields },
	{ "rank_by", JSON_AS_CHOICE, JSON_AT(track, rank_by), .words = ranks, .what = "word" },
	{ "caps", JSON_AS_OBJECT, .fields = caps_fields },
	{ "record", JSON_AS_OBJECT, .fields = record_fields, .take = check_record },
	{ "detect", JSON_AS_OTHER, .types = JSON_ARRAY, .take = read_marks },
	{ .name = NULL },
};

/* Read a track from text or, if that is NULL, from the file. */
static int read_track(struct track *track, const char *file, const struct str *text,
		      struct err *err)
{
	struct json_reader r = { .at.code = ERR_CONFIG, .err = err };

	*track = (struct track){
		.cap_train_s = RUN_ABSENT,
		.cap_eval_s = RUN_ABSENT,
		.cap_artifact_bytes = RUN_ABSENT,
		.target = RUN_ABSENT,
		.margin_root_n = RUN_ABSENT,
		.pair_margin_root_n = RUN_ABSENT,
		.loss_per_step = RUN_ABSENT,
		.known_sd = RUN_ABSENT,
		.alpha = 0.01,
		.n_tests = 1, /* A */
		.min_seeds = 3,
	};
	int rc = text != NULL ? json_read_text(&r, file, *text, top_fields, track)
			      : json_read_file(&r, file, top_fields, track);
	if (rc == 0 && track->counts_steps && (track->metric == NULL || !track->has_record))
		rc = err_set(err, ERR_CONFIG,
			     "%s: score steps_to_target needs \"target\" with \"metric\", and "
			     "\"test\"",
			     file);
	if (rc == 0 && track->title == NULL)
		track->title = xstrdup(track->name);
	if (rc == 0 && text == NULL)
		track->file = xstrdup(file);
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
	if (track_text(name_or_path) != NULL)
		return track_parse(track, name_or_path, str_from(track_text(name_or_path)), err);
	for (size_t i = 0; track_name(i) != NULL; i++)
		buf_appendf(&known, "%s%s", i > 0 ? ", " : "", track_name(i));
	err_set(err, ERR_USAGE,
		"unknown track \"%s\" (known: %s; the name of a track file must end in .json)",
		name_or_path, known.data);
	return -1;
}

void track_set_init(struct track_set *set)
{
	struct err err = { ERR_NONE, "" };

	*set = (struct track_set){ NULL, 0, 0 };
	for (size_t i = 0; track_name(i) != NULL; i++) {
		struct track *track = xplace(set->v, set->n, set->cap);

		if (track_load(track, track_name(i), &err) != 0)
			abort(); /* tests load all of them */
	}
}

int track_set_load(struct track_set *set, const char *path, struct err *err)
{
	struct track track;

	if (track_load(&track, path, err) != 0)
		return -1;
	struct track *same = array_find(one, set->v, set->n, strcmp(one->name, track.name) == 0);
	if (same == NULL)
		same = xplace(set->v, set->n, set->cap);
	else
		track_release(same);
	*same = track;
	return 0;
}

void track_set_release(struct track_set *set)
{
	array_each (track, set->v, set->n)
		track_release(track);
	free(set->v);
	*set = (struct track_set){ NULL, 0, 0 };
}

const struct track *track_set_find(const struct track_set *set, const char *name)
{
	return array_find(one, set->v, set->n, strcmp(one->name, name) == 0);
}

int track_set_add_marks(const struct track_set *set, struct format_set *formats, struct err *err)
{
	array_each (track, set->v, set->n) {
		array_each (one, track->marks, track->n_marks) {
			struct mark mark = *one;

			mark.rule.name = xstrdup(track->name);
			mark.rule.pattern = xstrdup(one->rule.pattern);
			mark.needs = xstrdup_null(one->needs);
			mark.is_builtin = track->file == NULL;
			if (format_set_add_mark(formats, &mark, err) != 0)
				return err_prefix(err, "track %s: detect[%zu]", track->name,
						  (size_t)(one - track->marks));
		}
	}
	return 0;
}

const struct track *track_of_run(const struct track_set *set, const struct run *run)
{
	bool is_golf = run_has(run->final_bpb) || run_has(run->last_val_bpb);
	const char *name = run->tracks != NULL ? run->tracks : is_golf ? TRACK_DEFAULT : "open";
	const struct track *track = track_set_find(set, name);

	return track != NULL ? track : track_set_find(set, "open");
}

const struct track *track_for_run(const struct track *track, const struct run *run)
{
	return track->by_logs != NULL ? track_of_run(track->by_logs, run) : track;
}
