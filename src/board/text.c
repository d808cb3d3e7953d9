/* SPDX-License-Identifier: MIT */
/* The leaderboard in words; called by board_table.c and board_md.c. */
#include "config.h"

#include "board/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SCORE_DECIMALS	   8
#define SCORE_MIN_DECIMALS 4

const struct board_column board_columns[] = {
	{ "run", NULL, FORMAT_NAME, 0, 1, 100 },
	{ "seed", "seed", FORMAT_PLAIN, 0, 1, 90 },
	{ "steps", "steps", FORMAT_COUNT, 0, 1, 60 },
	{ "ms/step", "ms_per_step", FORMAT_FIXED, 2, 1, 40 },
	{ "train s", "train_ms", FORMAT_FIXED, 3, 0.001, 50 },
	{ "pre-quant BPB", "prequant_bpb", FORMAT_SCORE, 0, 1, 10 },
	{ "quant BPB", "quant_bpb", FORMAT_SCORE, 0, 1, 20 },
	{ "final BPB", "final_bpb", FORMAT_SCORE, 0, 1, 95 },
	{ "val loss nats", "final_val_loss", FORMAT_SCORE, 0, 1, 95 },
	{ "eval s", "eval_s", FORMAT_FIXED, 1, 1, 65 },
	{ "artifact B", "artifact_bytes", FORMAT_COUNT, 0, 1, 80 },
	{ "caps", NULL, FORMAT_CAPS, 0, 1, 85 },
	{ "", NULL, FORMAT_NOTE, 0, 1, 5 },
	{ NULL, NULL, FORMAT_NAME, 0, 1, 0 },
};

static bool
is_score(const struct board *board, const char *key)
{
	for (size_t i = 0; i < board->n_groups; i++)
		if (strcmp(board->groups[i].score->name, key) == 0)
			return true;
	return false;
}

bool
board_column_used(const struct board *board, const struct board_column *column)
{
	const struct run_number *number;

	if (column->format == FORMAT_CAPS)
		return track_has_caps(board->track);
	if (column->key == NULL)
		return true;
	/* The loss is for boards whose score it is. */
	if (strcmp(column->key, "final_val_loss") == 0 &&
	    !is_score(board, column->key))
		return false;
	number = run_number_by_name(str_from(column->key));
	for (size_t i = 0; i < board->n_rows; i++)
		if (run_has(run_number_get(&board->rows[i]->run, number)))
			return true;
	return false;
}

/* Digits in groups of three: 15,981,945. */
static void
append_count(struct buf *out, double value)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%.0f", fabs(value));

	if (value < 0)
		buf_append_char(out, '-');
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf_append_char(out, ',');
		buf_append_char(out, digits[i]);
	}
}

/* Up to 8 decimals, as many as the number has, `least` at least. */
static void
append_score(struct buf *out, double value, int least)
{
	size_t dot;

	buf_appendf(out, "%.*f", SCORE_DECIMALS, value);
	dot = strcspn(out->data, ".");
	while (out->len > dot + 1 + (size_t)least &&
	       out->data[out->len - 1] == '0')
		out->data[--out->len] = '\0';
}

static void
append_number(struct buf *out, const struct board_column *column, double value,
	      int decimals)
{
	if (!run_has(value))
		return;
	if (column->format == FORMAT_PLAIN)
		buf_appendf(out, "%.0f", value);
	else if (column->format == FORMAT_COUNT)
		append_count(out, value);
	else if (column->format == FORMAT_FIXED)
		buf_appendf(out, "%.*f", column->decimals,
			    value * column->scale);
	else
		append_score(out, value, decimals);
}

int
board_decimals(const struct board *board, const struct board_group *group,
	       const struct board_column *column)
{
	const struct run_number *number;
	int most = SCORE_MIN_DECIMALS;
	char text[64];

	if (column->format != FORMAT_SCORE)
		return 0;
	number = run_number_by_name(str_from(column->key));
	for (size_t i = 0; i < group->n_rows; i++) {
		double value = run_number_get(&board->rows[group->rows[i]]->run,
					      number);
		int digits = SCORE_DECIMALS;
		int len = snprintf(text, sizeof(text), "%.*f", digits, value);

		while (run_has(value) && digits > most && text[--len] == '0')
			digits--;
		if (run_has(value) && digits > most)
			most = digits;
	}
	return most;
}

void
board_caps(struct buf *out, const enum board_kept *caps, bool plain)
{
	static const char *const marks[] = { "", "✓", "~", "·", "✗" };
	static const char *const letters[] = { "", "+", "~", ".", "x" };

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
		buf_append_str(out,
			       plain ? letters[caps[cap]] : marks[caps[cap]]);
}

void
board_cell(struct buf *out, const struct board_column *column,
	   const struct board_group *group, const struct board_row *row,
	   int decimals)
{
	if (column->key != NULL)
		append_number(out, column,
			      run_number_get(&row->run,
					     run_number_by_name(
						     str_from(column->key))),
			      decimals);
	else if (column->format == FORMAT_NOTE)
		utf8_sanitize(out, str_from(row->note));
	else if (column->format == FORMAT_CAPS && !group->is_values)
		board_caps(out, row->caps, false);
	else if (column->format == FORMAT_NAME && !group->is_values)
		utf8_sanitize(out, str_from(row->name));
}

void
board_mean_cell(struct buf *out, const struct board_column *column,
		const struct board_group *group, int decimals)
{
	const struct board_means *m = &group->means;

	if (column->format == FORMAT_NAME)
		buf_append_str(out, group->n_counted == 1 ? "mean of 1 run"
							  : "mean");
	else if (column->format == FORMAT_CAPS && group->n_counted > 0 &&
		 !group->is_values)
		board_caps(out, group->caps, false);
	else if (column->key == NULL)
		return;
	else if (strcmp(column->key, group->score->name) == 0)
		append_number(out, column, group->stats.mean, decimals);
#define X(member)                                                              \
	else if (strcmp(column->key, #member) == 0)                            \
		append_number(out, column, m->member, decimals);
	BOARD_MEAN_LIST(X)
#undef X
}

/* "bytes kept (at most 15,984,387 of 16,000,000)" for one cap. */
static void
append_cap(struct buf *out, enum board_cap cap, enum board_kept kept,
	   double most, double limit)
{
	if (kept == CAP_NONE)
		return;
	buf_appendf(out, "%s%s %s",
		    out->len > 0 ? ", " : "caps: ", board_cap_name(cap),
		    kept == CAP_GRACE ? "within the grace"
				      : board_kept_name(kept));
	if (!run_has(most) || kept == CAP_UNKNOWN)
		return;
	buf_append_str(out, " (at most ");
	if (cap == BOARD_CAP_BYTES)
		append_count(out, most);
	else
		buf_appendf(out, "%.3f", most);
	buf_append_str(out, " of ");
	append_count(out, limit);
	buf_append_str(out, cap == BOARD_CAP_BYTES ? ")" : " s)");
}

void
board_caps_line(struct buf *out, const struct board *board,
		const struct board_group *group)
{
	const struct track *track = board->track;

	if (group->n_counted == 0 || group->is_values)
		return;
	append_cap(out, BOARD_CAP_BYTES, group->caps[BOARD_CAP_BYTES],
		   group->max_artifact_bytes, track->cap_artifact_bytes);
	append_cap(out, BOARD_CAP_TRAIN, group->caps[BOARD_CAP_TRAIN],
		   group->max_train_ms / 1000, track->cap_train_s);
	append_cap(out, BOARD_CAP_EVAL, group->caps[BOARD_CAP_EVAL],
		   group->max_eval_s, track->cap_eval_s);
	append_cap(out, BOARD_CAP_TARGETS, group->caps[BOARD_CAP_TARGETS],
		   RUN_ABSENT, RUN_ABSENT);
}

void
board_track_line(struct buf *out, const struct track *track)
{
	buf_appendf(out, "track %s", track->name);
	if (run_has(track->cap_train_s))
		buf_appendf(out, " · train %g s", track->cap_train_s);
	if (run_has(track->cap_eval_s))
		buf_appendf(out, " · eval %g s", track->cap_eval_s);
	if (run_has(track->cap_artifact_bytes)) {
		buf_append_str(out, " · ");
		append_count(out, track->cap_artifact_bytes);
		buf_append_str(out, " bytes");
	}
	if (!track->has_record)
		return;
	if (run_has(track->target))
		buf_appendf(out, " · %s <= %g", track->score->name,
			    track->target);
	else
		buf_appendf(out, " · record %g nats", track->margin_nats);
	buf_appendf(out, " at p < %g (test%s ", track->alpha,
		    track->n_tests > 1 ? "s" : "");
	for (size_t i = 0; i < track->n_tests; i++)
		buf_appendf(out, "%s%c", i > 0 ? ", " : "",
			    'A' + (int)track->tests[i]);
	buf_append_str(out, ")");
}

void
board_spread_line(struct buf *out, const struct board_group *group)
{
	const struct board_stats *s = &group->stats;

	if (s->n >= 2)
		buf_appendf(out,
			    "sample sd %.8f, population sd %.8f, standard "
			    "error %.8f",
			    s->sd_sample, s->sd_population, s->se);
	else if (s->n == 1)
		buf_append_str(out, "no spread of one run");
}

void
board_count_line(struct buf *out, const struct board_group *group)
{
	size_t out_of = 0;

	buf_appendf(out, "%zu run%s", group->n_counted,
		    group->n_counted == 1 ? "" : "s");
	if (!group->is_values && group->n_seeds != group->n_counted)
		buf_appendf(out, " of %zu seed%s", group->n_seeds,
			    group->n_seeds == 1 ? "" : "s");
	for (int use = BOARD_COPY; use <= BOARD_NO_SCORE; use++) {
		if (group->n_uncounted[use] == 0)
			continue;
		buf_appendf(out, "%s%zu %s",
			    out_of == 0 ? "; not counted: " : ", ",
			    group->n_uncounted[use],
			    board_use_name((enum board_use)use));
		out_of += group->n_uncounted[use];
	}
}

static const char *
unit_of(const struct board_group *group)
{
	return strcmp(board_unit(group), "bpb") == 0 ? "BPB" : "nats";
}

void
board_delta_line(struct buf *out, const struct board *board,
		 const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;
	const struct board_group *base = board_baseline(board);

	if (!run_has(v->delta))
		return;
	buf_append_str(out, "vs ");
	if (base != NULL)
		utf8_sanitize(out, str_from(base->title));
	else
		buf_appendf(out, "%g", v->bar);
	buf_appendf(out, ": %+.8f %s", v->delta, unit_of(group));
	if (v->nats_per_unit == 1)
		return;
	if (run_has(v->delta_nats))
		buf_appendf(out, ", %+.8f nats (%.8f nats/BPB: %s)",
			    v->delta_nats, v->nats_per_unit, v->nats_source);
	else
		buf_append_str(out, " (nats per BPB unknown: --nats-per-bpb)");
}

void
board_bar_line(struct buf *out, const struct board *board,
	       const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;

	if (!run_has(v->bar))
		return;
	if (run_has(board->track->target))
		buf_appendf(out, "target %g", v->bar);
	else
		buf_appendf(out, "bar %.8f: the baseline's mean less %g nats",
			    v->bar, board->track->margin_nats);
	if (run_has(v->mean_needed))
		buf_appendf(out, "; a mean of %.8f would show it",
			    v->mean_needed);
}

void
board_z_line(struct buf *out, const struct board *board,
	     const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;

	if (run_has(v->z))
		buf_appendf(out,
			    "z = %.4f with a known sd of %g, one-sided p = "
			    "%.4g; (target - mean) * sqrt(n) = %.6f",
			    v->z, board->track->known_sd, v->p_z,
			    v->margin_root_n);
}

void
board_time_line(struct buf *out, const struct board *board,
		const struct board_group *group)
{
	const struct board_stats *s = &group->train_ms;
	const struct board_verdict *v = &group->verdict;

	if (s->n == 0 || !board->track->has_record ||
	    !run_has(board->track->target))
		return;
	buf_appendf(out, "train time %.4f s", s->mean / 1000);
	if (run_has(s->sd_sample))
		buf_appendf(out, ", sample sd %.4f s, population sd %.4f s",
			    s->sd_sample / 1000, s->sd_population / 1000);
	if (run_has(v->delta_train_ms))
		buf_appendf(out, "; %+.4f s to the baseline",
			    v->delta_train_ms / 1000);
	if (run_has(v->train_time.p))
		buf_appendf(out, " (Welch t %.4f, df %.4f, one-sided p %.4g)",
			    v->train_time.t, v->train_time.df, v->train_time.p);
}

const char *
board_test_words(const struct track *track, enum track_test test)
{
	static const char *const words[TRACK_TEST_COUNT] = {
		[TRACK_TEST_A] = "one sample vs bar",
		[TRACK_TEST_B] = "Welch with the margin",
		[TRACK_TEST_C] = "one sample vs baseline's mean",
		[TRACK_TEST_D] = "Welch, no margin",
		[TRACK_TEST_E] = "pooled t with the margin",
		[TRACK_TEST_F] = "pooled t, no margin",
	};

	if (test == TRACK_TEST_A && run_has(track->target))
		return "one sample vs target";
	return words[test];
}

void
board_test_line(struct buf *out, const struct board_test *test)
{
	if (!run_has(test->t))
		return;
	buf_appendf(out,
		    "t = %.4f, df %.5g, one-sided p = %.4g (two-sided %.4g)",
		    test->t, test->df, test->p, test->p_two_sided);
}

void
board_common_line(struct buf *out, const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;

	for (size_t i = 0; i < v->n_common; i++)
		buf_appendf(out, "%s%.0f (%+.8f)",
			    i == 0 ? "seeds in both: " : ", ",
			    v->common[i].seed, v->common[i].delta);
}
