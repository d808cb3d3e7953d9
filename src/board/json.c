/* SPDX-License-Identifier: MIT */
/* The leaderboard as JSON and CSV; called by the commands board and export. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "parsers/json.h"

#include "board/print.h"
#include "report/out.h"
#include "store/query.h"

/* A number under "<stem>_<unit>". */
static void
add_in_unit(cJSON *object, const char *stem, const char *unit, double value)
{
	char key[64];

	(void)snprintf(key, sizeof(key), "%s_%s", stem, unit);
	json_add_number(object, key, value);
}

static void
add_stats(cJSON *object, const char *unit, const struct board_stats *s)
{
	add_in_unit(object, "mean", unit, s->mean);
	add_in_unit(object, "sd_sample", unit, s->sd_sample);
	add_in_unit(object, "sd_population", unit, s->sd_population);
	add_in_unit(object, "se", unit, s->se);
	add_in_unit(object, "min", unit, s->min);
	add_in_unit(object, "max", unit, s->max);
}

static void
add_caps(cJSON *object, const enum board_kept *caps)
{
	cJSON *node = cJSON_AddObjectToObject(object, "caps");

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
		json_add_string(node, board_cap_name((enum board_cap)cap),
				caps[cap] == CAP_NONE
					? NULL
					: board_kept_name(caps[cap]));
}

cJSON *
board_row_json(const struct board *board, const struct board_row *row)
{
	cJSON *object = run_to_json(&row->run);

	json_add_clean(object, "file", row->path);
	json_add_string(object, "sha256", row->sha256[0] ? row->sha256 : NULL);
	json_add_string(object, "use", board_use_name(row->use));
	cJSON_AddBoolToObject(object, "counted", row->use == BOARD_COUNTED);
	if (row->use == BOARD_COPY || row->use == BOARD_SAME_RUN)
		json_add_clean(object, "copy_of",
			       board->rows[row->copy_of]->path);
	else
		cJSON_AddNullToObject(object, "copy_of");
	cJSON_AddBoolToObject(object, "seed_again", row->seed_again);
	json_add_number(object, "value", row->score);
	add_caps(object, row->caps);
	if (row->note[0] != '\0')
		json_add_clean(object, "note", row->note);
	else
		cJSON_AddNullToObject(object, "note");
	return object;
}

const char *
board_stored_status(const struct stored_run *run, long writer)
{
	return run_status_name(run->is_live && writer != 0 ? RUN_RUNNING
							   : run->run.status);
}

cJSON *
board_stored_json(const struct stored_run *run, long writer)
{
	cJSON *row = cJSON_CreateObject(), *keys = run_to_json(&run->run);
	const char *word = board_stored_status(run, writer);
	cJSON *status = strcmp(word, "unknown") == 0 ? cJSON_CreateNull()
						     : cJSON_CreateString(word);

	cJSON_ReplaceItemInObjectCaseSensitive(keys, "status", status);
	json_add_number(row, "run_id", (double)run->run_id);
	json_add_string(row, "pod", run->pod);
	json_add_clean(row, "path", run->path);
	json_add_clean(row, "file", run->path);
	json_add_number(row, "gen", run->gen);
	out_add_members(row, keys);
	json_add_time(row, "first_seen", run->first_wall_ms);
	json_add_time(row, "last_seen", run->last_wall_ms);
	return row;
}

cJSON *
board_test_json(const struct board_test *test)
{
	cJSON *object = cJSON_CreateObject();

	json_add_number(object, "t", test->t);
	json_add_number(object, "df", test->df);
	json_add_number(object, "p_one_sided", test->p);
	json_add_number(object, "p_two_sided", test->p_two_sided);
	return object;
}

/* The tests by their letter, with what they ask and whether they decide. */
static void
add_tests(cJSON *object, const struct track *track,
	  const struct board_verdict *v)
{
	cJSON *tests = cJSON_AddObjectToObject(object, "tests");

	for (int i = 0; i < TRACK_TEST_COUNT; i++) {
		char letter[2] = { (char)('A' + i), '\0' };
		cJSON *test = board_test_json(&v->tests[i]);
		enum track_test which = (enum track_test)i;

		json_add_string(test, "what", board_test_words(track, which));
		cJSON_AddBoolToObject(test, "decides",
				      board_test_decides(track, which));
		if (run_has(v->tests[i].p))
			cJSON_AddBoolToObject(test, "passes",
					      v->tests[i].p < track->alpha);
		else
			cJSON_AddNullToObject(test, "passes");
		cJSON_AddItemToObject(tests, letter, test);
	}
}

static void
add_verdict(cJSON *object, const struct board *board,
	    const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;
	const struct board_group *base = board_baseline(board);
	const char *unit = board_unit(board, group);
	cJSON *common;

	json_add_string(object, "verdict", v->text[0] ? v->text : NULL);
	json_add_string(object, "word", board_word_name(v->word));
	if (base != NULL)
		json_add_clean(object, "baseline", base->key);
	else
		cJSON_AddNullToObject(object, "baseline");
	add_in_unit(object, "delta", unit, v->delta);
	if (strcmp(unit, "bpb") == 0) {
		json_add_number(object, "delta_nats", v->delta_nats);
		json_add_number(object, "nats_per_bpb", v->nats_per_unit);
		json_add_string(object, "nats_per_bpb_source", v->nats_source);
	}
	add_in_unit(object, "bar", unit, v->bar);
	json_add_number(object, "margin_nats",
			board->track->has_record ? board->track->margin_nats
						 : RUN_ABSENT);
	json_add_number(object, "alpha",
			board->track->has_record ? board->track->alpha
						 : RUN_ABSENT);
	add_tests(object, board->track, v);
	json_add_number(object, "z", v->z);
	json_add_number(object, "p_z", v->p_z);
	json_add_number(object, "margin_root_n", v->margin_root_n);
	add_in_unit(object, "mean_needed", unit, v->mean_needed);
	json_add_number(object, "seeds_needed",
			v->seeds_needed > 0 ? v->seeds_needed : RUN_ABSENT);
	json_add_number(object, "delta_train_ms", v->delta_train_ms);
	cJSON_AddItemToObject(object, "train_time_test",
			      board_test_json(&v->train_time));
	common = cJSON_AddArrayToObject(object, "common_seeds");
	for (size_t i = 0; i < v->n_common; i++) {
		cJSON *pair = cJSON_CreateObject();

		json_add_number(pair, "seed", v->common[i].seed);
		add_in_unit(pair, "delta", unit, v->common[i].delta);
		cJSON_AddItemToArray(common, pair);
	}
}

static void
add_counts(cJSON *object, const struct board *board,
	   const struct board_group *group)
{
	cJSON *seeds = cJSON_AddArrayToObject(object, "seeds");
	const struct board_row *row;

	for (size_t at = 0;
	     (row = board_next_counted(board, group, &at)) != NULL;) {
		if (row->seed_again)
			continue;
		cJSON_AddItemToArray(seeds,
				     run_has(row->run.seed)
					     ? cJSON_CreateNumber(row->run.seed)
					     : cJSON_CreateNull());
	}
	json_add_number(object, "n", (double)group->n_counted);
	json_add_number(object, "n_seeds", (double)group->n_seeds);
	json_add_number(object, "n_rows", (double)group->n_rows);
	json_add_number(object, "n_copies",
			(double)(group->n_uncounted[BOARD_COPY] +
				 group->n_uncounted[BOARD_SAME_RUN]));
	json_add_number(object, "n_unfinished",
			(double)group->n_uncounted[BOARD_UNFINISHED]);
	json_add_number(object, "n_no_score",
			(double)group->n_uncounted[BOARD_NO_SCORE]);
}

/* The numbers whose means are worth a look. */
static void
add_means(cJSON *object, const struct board_group *group)
{
	static const char *const keys[] = {
		"steps",	 "train_ms",	   "ms_per_step",
		"tok_s_derived", "last_val_loss",  "final_val_loss",
		"prequant_bpb",	 "quant_bpb",	   "sliding_bpb",
		"ttt_bpb",	 "final_bpb",	   "eval_s",
		"eval_total_s",	 "artifact_bytes", "code_bytes",
		"peak_mem_mib",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_add_number(object, keys[i], board_mean(group, keys[i]));
}

static void
add_note(cJSON *array, const char *note)
{
	struct buf clean;

	buf_init(&clean, 4096);
	utf8_sanitize(&clean, str_from(note));
	cJSON_AddItemToArray(array, cJSON_CreateString(clean.data));
	buf_release(&clean);
}

static cJSON *
group_json(const struct board *board, const struct board_group *group,
	   size_t rank, bool with_rows)
{
	cJSON *object = cJSON_CreateObject(), *node;
	const char *unit = board_unit(board, group);

	json_add_clean(object, "group", group->key);
	json_add_clean(object, "title", group->title);
	json_add_number(object, "rank", (double)rank);
	json_add_string(object, "track", board->track->name);
	json_add_string(object, "score", group->score->name);
	json_add_string(object, "unit", unit);
	cJSON_AddBoolToObject(object, "is_baseline", group->is_baseline);
	add_counts(object, board, group);
	add_stats(object, unit, &group->stats);
	node = cJSON_AddObjectToObject(object, "per_seed");
	json_add_number(node, "n", (double)group->seed_stats.n);
	add_stats(node, unit, &group->seed_stats);
	add_means(cJSON_AddObjectToObject(object, "means"), group);
	node = cJSON_AddObjectToObject(object, "train_time");
	json_add_number(node, "n", (double)group->train_ms.n);
	add_stats(node, "ms", &group->train_ms);
	json_add_number(object, "max_train_ms", group->max_train_ms);
	json_add_number(object, "max_eval_s", group->max_eval_s);
	json_add_number(object, "max_artifact_bytes",
			group->max_artifact_bytes);
	add_caps(object, group->caps);
	add_verdict(object, board, group);
	node = cJSON_AddArrayToObject(object, "notes");
	for (size_t i = 0; i < group->n_notes; i++)
		add_note(node, group->notes[i]);
	if (!with_rows)
		return object;
	node = cJSON_AddArrayToObject(object, "rows");
	for (size_t i = 0; i < group->n_rows; i++)
		cJSON_AddItemToArray(
			node,
			board_row_json(board, board->rows[group->rows[i]]));
	return object;
}

void
board_print_json(FILE *stream, const struct board *board,
		 const struct board_look *look)
{
	struct buf line;

	buf_init(&line, 64 * JSON_MAX_BYTES);
	for (size_t i = 0; i < board->n_groups; i++) {
		cJSON *object =
			group_json(board, &board->groups[board->rank[i]], i + 1,
				   !look->summary);

		buf_clear(&line);
		json_print(&line, object);
		(void)fprintf(stream, "%s\n", line.data);
		cJSON_Delete(object);
	}
	buf_release(&line);
}

static const struct out_column csv_columns[] = {
	{ "kind", NULL, -1, 0 },
	{ "rank", NULL, 0, 0 },
	{ "group", NULL, -1, 0 },
	{ "file", NULL, -1, 0 },
	{ "seed", NULL, 0, 0 },
	{ "status", NULL, -1, 0 },
	{ "use", NULL, -1, 0 },
	{ "steps", NULL, -1, 0 },
	{ "ms_per_step", NULL, -1, 0 },
	{ "train_ms", NULL, -1, 0 },
	{ "prequant_bpb", NULL, -1, 0 },
	{ "quant_bpb", NULL, -1, 0 },
	{ "sliding_bpb", NULL, -1, 0 },
	{ "ttt_bpb", NULL, -1, 0 },
	{ "final_bpb", NULL, -1, 0 },
	{ "final_val_loss", NULL, -1, 0 },
	{ "value", NULL, -1, 0 },
	{ "eval_s", NULL, -1, 0 },
	{ "eval_total_s", NULL, -1, 0 },
	{ "artifact_bytes", NULL, -1, 0 },
	{ "cap_bytes", NULL, -1, 0 },
	{ "cap_train", NULL, -1, 0 },
	{ "cap_eval", NULL, -1, 0 },
	{ "cap_targets", NULL, -1, 0 },
	{ "n", NULL, 0, 0 },
	{ "n_seeds", NULL, 0, 0 },
	{ "score", NULL, -1, 0 },
	{ "unit", NULL, -1, 0 },
	{ "mean", NULL, 10, 0 },
	{ "sd_sample", NULL, 10, 0 },
	{ "sd_population", NULL, 10, 0 },
	{ "se", NULL, 10, 0 },
	{ "delta", NULL, 10, 0 },
	{ "delta_nats", NULL, 10, 0 },
	{ "nats_per_unit", NULL, 10, 0 },
	{ "bar", NULL, 10, 0 },
	{ "t_a", NULL, -1, 0 },
	{ "df_a", NULL, -1, 0 },
	{ "p_a", NULL, -1, 0 },
	{ "t_b", NULL, -1, 0 },
	{ "df_b", NULL, -1, 0 },
	{ "p_b", NULL, -1, 0 },
	{ "seeds_needed", NULL, 0, 0 },
	{ "verdict", NULL, -1, 0 },
	{ "note", NULL, -1, 0 },
	{ NULL, NULL, 0, 0 },
};

static void
add_cap_cells(cJSON *row, const enum board_kept *caps)
{
	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "cap_%s",
			       board_cap_name((enum board_cap)cap));
		json_add_string(row, key,
				caps[cap] == CAP_NONE
					? NULL
					: board_kept_name(caps[cap]));
	}
}

static void
csv_run(struct out *out, const struct board *board,
	const struct board_group *group, size_t rank,
	const struct board_row *row)
{
	cJSON *object = board_row_json(board, row);

	json_add_string(object, "kind", "run");
	json_add_number(object, "rank", (double)rank);
	json_add_clean(object, "group", group->key);
	add_cap_cells(object, row->caps);
	json_add_string(object, "score", group->score->name);
	json_add_string(object, "unit", board_unit(board, group));
	out_take(out, object);
}

/* The numbers of a group, for the last row of CSV and for a summary. */
static cJSON *
group_row(const struct board_group *group, size_t rank)
{
	const struct board_verdict *v = &group->verdict;
	cJSON *row = cJSON_CreateObject();

	json_add_number(row, "rank", (double)rank);
	json_add_number(row, "n", (double)group->n_counted);
	json_add_number(row, "n_seeds", (double)group->n_seeds);
	json_add_number(row, "mean", group->stats.mean);
	json_add_number(row, "sd_sample", group->stats.sd_sample);
	json_add_number(row, "sd_population", group->stats.sd_population);
	json_add_number(row, "delta", v->delta);
	json_add_number(row, "delta_nats", v->delta_nats);
	json_add_string(row, "verdict", v->text[0] ? v->text : NULL);
	return row;
}

/* Means stand in the columns of the runs. */
static cJSON *
csv_group(const struct board *board, const struct board_group *group,
	  size_t rank)
{
	const struct board_verdict *v = &group->verdict;
	cJSON *row = group_row(group, rank);

	json_add_string(row, "kind", "group");
	json_add_clean(row, "group", group->key);
	add_means(row, group);
	add_cap_cells(row, group->caps);
	json_add_string(row, "score", group->score->name);
	json_add_string(row, "unit", board_unit(board, group));
	json_add_number(row, "se", group->stats.se);
	json_add_number(row, "nats_per_unit", v->nats_per_unit);
	json_add_number(row, "bar", v->bar);
	for (int i = TRACK_TEST_A; i <= TRACK_TEST_B; i++) {
		const struct board_test *test = &v->tests[i];

		add_in_unit(row, "t", i == TRACK_TEST_A ? "a" : "b", test->t);
		add_in_unit(row, "df", i == TRACK_TEST_A ? "a" : "b", test->df);
		add_in_unit(row, "p", i == TRACK_TEST_A ? "a" : "b", test->p);
	}
	json_add_number(row, "seeds_needed",
			v->seeds_needed > 0 ? v->seeds_needed : RUN_ABSENT);
	return row;
}

void
board_print_csv(FILE *stream, const struct board *board,
		const struct board_look *look)
{
	struct out *out = out_new(stream, OUT_CSV, csv_columns);

	for (size_t i = 0; i < board->n_groups; i++) {
		const struct board_group *group =
			&board->groups[board->rank[i]];

		for (size_t k = 0; !look->summary && k < group->n_rows; k++)
			csv_run(out, board, group, i + 1,
				board->rows[group->rows[k]]);
		out_take(out, csv_group(board, group, i + 1));
	}
	(void)out_free(out);
}

bool
board_is_key(const char *key)
{
	static char nowhere[] = "";
	const struct board_row row = { .path = nowhere };
	const struct stored_run stored = { .pod = "", .path = "" };
	cJSON *rows[] = { board_row_json(NULL, &row),
			  board_stored_json(&stored, 0) };
	bool is_one = false;

	for (size_t i = 0; i < 2; i++) {
		is_one |=
			cJSON_GetObjectItemCaseSensitive(rows[i], key) != NULL;
		cJSON_Delete(rows[i]);
	}
	for (const struct out_column *c = csv_columns; c->key != NULL; c++)
		is_one |= strcmp(c->key, key) == 0;
	return is_one;
}

static const struct out_column summary_columns[] = {
	{ "rank", "#", 0, 0 },
	{ "group", "group", 0, 0 },
	{ "n", "runs", 0, 0 },
	{ "n_seeds", "seeds", 0, 0 },
	{ "mean", "mean", 8, 0 },
	{ "sd_sample", "sample sd", 8, 0 },
	{ "sd_population", "population sd", 8, 0 },
	{ "delta", "delta", 8, 0 },
	{ "delta_nats", "delta nats", 8, 0 },
	{ "p_a", "p of A", -1, 0 },
	{ "p_b", "p of B", -1, 0 },
	{ "caps", "caps", 0, 0 },
	{ "verdict", "verdict", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

/* Four digits, so that a small p is not shown as 0. */
static double
shown_p(const struct board_test *test)
{
	char text[32];
	double p = RUN_ABSENT;

	(void)snprintf(text, sizeof(text), "%.4g", test->p);
	(void)str_to_double(str_from(text), &p);
	return p;
}

static cJSON *
summary_row(const struct board_group *group, size_t rank)
{
	const struct board_verdict *v = &group->verdict;
	cJSON *row = group_row(group, rank);
	struct buf caps;

	buf_init(&caps, 64);
	if (group->n_counted > 0 && !group->is_values)
		board_caps(&caps, group->caps);
	json_add_clean(row, "group", group->title);
	json_add_number(row, "p_a", shown_p(&v->tests[TRACK_TEST_A]));
	json_add_number(row, "p_b", shown_p(&v->tests[TRACK_TEST_B]));
	json_add_string(row, "caps", caps.len > 0 ? caps.data : NULL);
	buf_release(&caps);
	return row;
}

/* Is any cell of that column filled? */
static bool
is_used(const struct board *board, const char *key)
{
	for (size_t i = 0; i < board->n_groups; i++) {
		cJSON *row = summary_row(&board->groups[i], i);
		const cJSON *cell = cJSON_GetObjectItemCaseSensitive(row, key);
		bool used = cell != NULL && !cJSON_IsNull(cell);

		cJSON_Delete(row);
		if (used)
			return true;
	}
	return false;
}

void
board_print_summary(FILE *stream, const struct board *board,
		    enum out_format format)
{
	struct out_column
		used[sizeof(summary_columns) / sizeof(summary_columns[0])];
	struct out *out;
	size_t n = 0;

	for (size_t i = 0; summary_columns[i].key != NULL; i++)
		if (is_used(board, summary_columns[i].key))
			used[n++] = summary_columns[i];
	used[n] = (struct out_column){ NULL, NULL, 0, 0 };
	out = out_new(stream, format, used);
	for (size_t i = 0; i < board->n_groups; i++) {
		cJSON *row = summary_row(&board->groups[board->rank[i]], i + 1);

		out_take(out, row);
	}
	(void)out_free(out);
}
