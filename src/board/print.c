/* SPDX-License-Identifier: MIT */
/* The leaderboard for people: a table, Markdown, what is said in words. */
#include "config.h"

#include "board/print.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

#define SCORE_DECIMALS	   8
#define SCORE_MIN_DECIMALS 4
#define MAX_COLUMNS	   16
#define CELL_MAX	   512
#define LINE_MAX_LEN	   4096
#define NAME_MAX_COLUMNS   40U
#define INDENT		   2U
#define NAME_MIN_COLUMNS   12U
#define NOTE_MIN_COLUMNS   10U
#define KEEP_FIGURES	   40 /* columns below it go before names shrink */
#define MIN_COLUMNS	   40U

/* How a cell is written, in the table and in Markdown alike. */
enum format {
	FORMAT_NAME,  /* the run's name; text to the left */
	FORMAT_PLAIN, /* 1337 */
	FORMAT_COUNT, /* 15,981,945 */
	FORMAT_FIXED, /* as many decimals as the column says */
	FORMAT_VALUE, /* of any metric, whatever its size */
	FORMAT_SCORE, /* as many decimals as the log has, 4 to 8 */
	FORMAT_CAPS,  /* a mark a cap */
	FORMAT_NOTE,  /* text to the left */
};

struct column {
	const char *title; /* with its unit */
	const char *key;   /* number of a run; NULL: no number */
	enum format format;
	int decimals; /* of FORMAT_FIXED */
	double scale; /* the number is multiplied by it */
	int keep;     /* the lowest goes first where the screen is narrow */
};

/* All columns that a board may show, in order; ended by a NULL title. */
static const struct column all_columns[] = {
	{ "run", NULL, FORMAT_NAME, 0, 1, 100 },
	{ "seed", "seed", FORMAT_PLAIN, 0, 1, 90 },
	{ "steps", "steps", FORMAT_COUNT, 0, 1, 60 },
	{ "ms/step", "ms_per_step", FORMAT_FIXED, 2, 1, 40 },
	{ "train s", "train_ms", FORMAT_FIXED, 3, 0.001, 50 },
	{ "pre-quant BPB", "prequant_bpb", FORMAT_SCORE, 0, 1, 10 },
	{ "quant BPB", "quant_bpb", FORMAT_SCORE, 0, 1, 20 },
	{ "final BPB", "final_bpb", FORMAT_SCORE, 0, 1, 95 },
	{ "val loss nats", "final_val_loss", FORMAT_SCORE, 0, 1, 95 },
	{ "score", "chosen", FORMAT_VALUE, 0, 1, 95 },
	{ "eval s", "eval_s", FORMAT_FIXED, 1, 1, 65 },
	{ "artifact B", "artifact_bytes", FORMAT_COUNT, 0, 1, 80 },
	{ "caps", NULL, FORMAT_CAPS, 0, 1, 85 },
	{ "", NULL, FORMAT_NOTE, 0, 1, 5 },
	{ NULL, NULL, FORMAT_NAME, 0, 1, 0 },
};

static const struct run_number *
number_of(const struct column *column)
{
	return column->format == FORMAT_VALUE
		       ? &run_number_chosen
		       : run_number_by_name(str_from(column->key));
}

/* A metric stands under the name that it was asked for by. */
static const char *
title_of(const struct board *board, const struct column *column)
{
	return column->format == FORMAT_VALUE ? board->chosen_name
					      : column->title;
}

static bool
is_score(const struct board *board, const char *key)
{
	for (size_t i = 0; i < board->n_groups; i++)
		if (strcmp(board->groups[i].score->name, key) == 0)
			return true;
	return false;
}

/* Does any run of the board fill that column? */
static bool
column_used(const struct board *board, const struct column *column)
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
	number = number_of(column);
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
append_number(struct buf *out, const struct column *column, double value,
	      int decimals)
{
	if (!run_has(value))
		return;
	if (column->format == FORMAT_PLAIN)
		buf_appendf(out, "%.0f", value);
	else if (column->format == FORMAT_COUNT)
		append_count(out, value);
	else if (column->format == FORMAT_VALUE)
		buf_appendf(out, "%.7g", value);
	else if (column->format == FORMAT_FIXED)
		buf_appendf(out, "%.*f", column->decimals,
			    value * column->scale);
	else
		append_score(out, value, decimals);
}

/*
 * Decimals that the logs of a group print in a column of scores: those of its
 * longest value, 4 to 8; the others are filled up with noughts.
 */
static int
decimals_of(const struct board *board, const struct board_group *group,
	    const struct column *column)
{
	const struct run_number *number;
	int most = SCORE_MIN_DECIMALS;
	char text[64];

	if (column->format != FORMAT_SCORE)
		return 0;
	number = number_of(column);
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
board_caps(struct buf *out, const enum board_kept *caps)
{
	static const char *const marks[] = { "", "✓", "~", "·", "✗" };

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
		buf_append_str(out, marks[caps[cap]]);
}

/* The number of a run, or of all that count. */
static double
number_at(const struct board_group *group, const struct board_row *row,
	  const struct run_number *number)
{
	if (row != NULL)
		return run_number_get(&row->run, number);
	return number->offset == group->score->offset
		       ? group->stats.mean
		       : board_mean(group, number->name);
}

/* The cell of a row (NULL: that of the means); "" for what it has not. */
static void
append_cell(struct buf *out, const struct column *column,
	    const struct board_group *group, const struct board_row *row,
	    int decimals)
{
	bool is_mean = row == NULL;

	if (column->format == FORMAT_NAME && is_mean)
		buf_append_str(out, group->n_counted == 1 ? "mean of 1 run"
							  : "mean");
	else if (column->format == FORMAT_NOTE && !is_mean)
		utf8_sanitize(out, str_from(row->note));
	else if (column->format == FORMAT_CAPS && !group->is_values &&
		 (!is_mean || group->n_counted > 0))
		board_caps(out, is_mean ? group->caps : row->caps);
	else if (column->format == FORMAT_NAME && !group->is_values)
		utf8_sanitize(out, str_from(row->name));
	else if (column->key != NULL &&
		 !(is_mean && column->format == FORMAT_PLAIN))
		append_number(out, column,
			      number_at(group, row, number_of(column)),
			      decimals);
}

/* Takes what is said of a group, line by line: safe to show, not empty. */
struct listener {
	void (*take)(void *user, const char *line);
	void *user;
	bool markdown;
	bool all_tests; /* those that decide nothing, too */
};

/* What is said of a group, the line under way. */
struct saying {
	const struct board *board;
	const struct board_group *group;
	const struct listener *to;
	struct buf text;
};

/* An empty line is none. */
static void
end_line(struct saying *s)
{
	if (s->text.len > 0)
		s->to->take(s->to->user, s->text.data);
	buf_clear(&s->text);
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

/* "caps: bytes kept (at most 15,984,387 of 16,000,000), ..". */
static void
say_caps(struct saying *s)
{
	const struct track *track = s->board->track;
	const struct board_group *group = s->group;
	struct buf *out = &s->text;

	if (!s->to->markdown || group->n_counted == 0 || group->is_values)
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
	else if (track->margin_nats > 0)
		buf_appendf(out, " · record %g nats", track->margin_nats);
	else
		buf_append_str(out, " · better than the baseline");
	buf_appendf(out, " at p < %g (test%s ", track->alpha,
		    track->n_tests > 1 ? "s" : "");
	for (size_t i = 0; i < track->n_tests; i++)
		buf_appendf(out, "%s%c", i > 0 ? ", " : "",
			    'A' + (int)track->tests[i]);
	buf_append_str(out, ")");
}

/* "3 runs, 3 seeds" and what does not count; their spread. */
static void
say_counts(struct saying *s)
{
	const struct board_group *group = s->group;
	const struct board_stats *stats = &group->stats;
	struct buf *out = &s->text;
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
	if (group->n_counted > 0)
		buf_append_str(out, "; ");
	if (stats->n >= 2)
		buf_appendf(out,
			    "sample sd %.8f, population sd %.8f, standard "
			    "error %.8f",
			    stats->sd_sample, stats->sd_population, stats->se);
	else if (stats->n == 1)
		buf_append_str(out, "no spread of one run");
}

static const char *
unit_of(const struct board *board, const struct board_group *group)
{
	const char *unit = board_unit(board, group);

	return strcmp(unit, "bpb") == 0	   ? " BPB"
	       : strcmp(unit, "nats") == 0 ? " nats"
					   : "";
}

/* "vs NAME: -0.0034 BPB, -0.0076 nats (2.188 nats/BPB, given)". */
static void
say_delta(struct saying *s)
{
	const struct board_group *group = s->group;
	const struct board_verdict *v = &group->verdict;
	const struct board_group *base = board_baseline(s->board);
	struct buf *out = &s->text;

	if (!run_has(v->delta))
		return;
	buf_append_str(out, "vs ");
	if (base != NULL)
		utf8_sanitize(out, str_from(base->title));
	else
		buf_appendf(out, "%g", v->bar);
	buf_appendf(out, ": %+.8f%s", v->delta, unit_of(s->board, group));
	if (v->nats_per_unit == 1 || *unit_of(s->board, group) == '\0')
		return;
	if (run_has(v->delta_nats))
		buf_appendf(out, ", %+.8f nats (%.8f nats/BPB: %s)",
			    v->delta_nats, v->nats_per_unit, v->nats_source);
	else
		buf_append_str(out, " (nats per BPB unknown: --nats-per-bpb)");
}

/* "bar 1.0588 = mean of NAME less 0.005 nats". */
static void
say_bar(struct saying *s)
{
	const struct track *track = s->board->track;
	const struct board_verdict *v = &s->group->verdict;

	if (!run_has(v->bar))
		return;
	if (run_has(track->target))
		buf_appendf(&s->text, "target %g", v->bar);
	else if (track->margin_nats > 0)
		buf_appendf(&s->text,
			    "bar %.8f: the baseline's mean less %g nats",
			    v->bar, track->margin_nats);
	else
		buf_appendf(&s->text, "bar %.8f: the baseline's mean", v->bar);
	if (run_has(v->mean_needed))
		buf_appendf(&s->text, "; a mean of %.8f would show it",
			    v->mean_needed);
}

/* The z test with the track's known spread. */
static void
say_z(struct saying *s)
{
	const struct board_verdict *v = &s->group->verdict;

	if (run_has(v->z))
		buf_appendf(&s->text,
			    "z = %.4f with a known sd of %g, one-sided p = "
			    "%.4g; (target - mean) * sqrt(n) = %.6f",
			    v->z, s->board->track->known_sd, v->p_z,
			    v->margin_root_n);
}

/* Mean and spread of the training time. */
static void
say_time(struct saying *s)
{
	const struct track *track = s->board->track;
	const struct board_stats *ms = &s->group->train_ms;
	const struct board_verdict *v = &s->group->verdict;

	if (ms->n == 0 || !track->has_record || !run_has(track->target))
		return;
	buf_appendf(&s->text, "train time %.4f s", ms->mean / 1000);
	if (run_has(ms->sd_sample))
		buf_appendf(&s->text,
			    ", sample sd %.4f s, population sd %.4f s",
			    ms->sd_sample / 1000, ms->sd_population / 1000);
	if (run_has(v->delta_train_ms))
		buf_appendf(&s->text, "; %+.4f s to the baseline",
			    v->delta_train_ms / 1000);
	if (run_has(v->train_time.p))
		buf_appendf(&s->text,
			    " (Welch t %.4f, df %.4f, one-sided p %.4g)",
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

bool
board_test_decides(const struct track *track, enum track_test test)
{
	for (size_t i = 0; track->has_record && i < track->n_tests; i++)
		if (track->tests[i] == test)
			return true;
	return false;
}

/* "test A  one sample vs bar: t = -4.9720, df 2, one-sided p = 0.0191 ..". */
static void
say_tests(struct saying *s)
{
	const struct track *track = s->board->track;

	for (int i = 0; i < TRACK_TEST_COUNT; i++) {
		const struct board_test *test = &s->group->verdict.tests[i];
		enum track_test which = (enum track_test)i;

		if (!run_has(test->t) ||
		    (track->has_record && !s->to->all_tests &&
		     !board_test_decides(track, which)))
			continue;
		buf_appendf(&s->text,
			    s->to->markdown ? "test %c (%s): "
					    : "test %c  %s: ",
			    'A' + i, board_test_words(track, which));
		buf_appendf(&s->text,
			    "t = %.4f, df %.5g, one-sided p = %.4g "
			    "(two-sided %.4g)",
			    test->t, test->df, test->p, test->p_two_sided);
		end_line(s);
	}
}

/* "seeds in both: 42 (-0.0025), 0 (-0.0032)". */
static void
say_common(struct saying *s)
{
	const struct board_verdict *v = &s->group->verdict;

	for (size_t i = 0; i < v->n_common; i++)
		buf_appendf(&s->text, "%s%.0f (%+.8f)",
			    i == 0 ? "seeds in both: " : ", ",
			    v->common[i].seed, v->common[i].delta);
}

static void
say_notes(struct saying *s)
{
	for (size_t i = 0; i < s->group->n_notes; i++) {
		buf_append_str(&s->text, s->to->markdown ? "" : "note: ");
		utf8_sanitize(&s->text, str_from(s->group->notes[i]));
		end_line(s);
	}
}

/* Counts and spread, caps, deltas, the bar, tests, notes; no verdict. */
static void
say(const struct board *board, const struct board_group *group,
    const struct listener *to)
{
	static void (*const says[])(struct saying * s) = {
		say_counts, say_caps, say_time,	  say_delta, say_bar,
		say_tests,  say_z,    say_common, say_notes,
	};
	struct saying s = { .board = board, .group = group, .to = to };

	buf_init(&s.text, LINE_MAX_LEN);
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		says[i](&s);
		end_line(&s);
	}
	buf_release(&s.text);
}

/* A line of the table: cells, or one text across. */
enum line_kind {
	LINE_CELLS,
	LINE_TITLES,
	LINE_MEAN,
	LINE_FAINT, /* a row that does not count */
	LINE_HEADING,
	LINE_TEXT,
	LINE_BLANK,
};

struct line {
	enum line_kind kind;
	char *cells[MAX_COLUMNS]; /* owned; of the first four kinds */
	char *text;		  /* owned; of HEADING and TEXT */
	const char *color; /* static; of the text's right part, or NULL */
	char *right;	   /* owned; of HEADING: set to the right */
};

struct table {
	const struct board *board;
	const struct board_look *look;
	const struct column *columns[MAX_COLUMNS];
	size_t n_columns;
	size_t widths[MAX_COLUMNS];
	size_t decimals[MAX_COLUMNS]; /* most of a score column's cells */
	int of_group[MAX_COLUMNS];    /* those of the group at hand */
	struct line *lines;
	size_t n_lines, cap_lines;
};

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RESET "\033[0m"

static const char *const word_colors[] = {
	[BOARD_WORD_NONE] = "",
	[BOARD_WORD_BASELINE] = "\033[36m",
	[BOARD_WORD_NO_RUNS] = DIM,
	[BOARD_WORD_INVALID] = "\033[31m",
	[BOARD_WORD_NOT_JUDGED] = DIM,
	[BOARD_WORD_BELOW_BAR] = "\033[31m",
	[BOARD_WORD_NOT_SHOWN] = "\033[33m",
	[BOARD_WORD_SHOWN] = "\033[32m",
};

static struct line *
add_line(struct table *t, enum line_kind kind)
{
	t->lines =
		xgrow(t->lines, t->n_lines, &t->cap_lines, sizeof(*t->lines));
	t->lines[t->n_lines] = (struct line){ .kind = kind };
	return &t->lines[t->n_lines++];
}

/* Decimals behind the point of a cell. */
static size_t
count_decimals(const char *cell)
{
	const char *dot = strchr(cell, '.');

	return dot != NULL ? strlen(dot + 1) : 0;
}

static void
choose_columns(struct table *t)
{
	for (const struct column *c = all_columns; c->title != NULL; c++)
		if (column_used(t->board, c))
			t->columns[t->n_columns++] = c;
}

static void
add_titles(struct table *t)
{
	struct line *line = add_line(t, LINE_TITLES);

	for (size_t i = 0; i < t->n_columns; i++)
		line->cells[i] = xstrdup(title_of(t->board, t->columns[i]));
}

static void
set_cell(struct table *t, struct line *line, size_t i, const struct buf *text,
	 bool absent_is_dash)
{
	bool text_column = t->columns[i]->format == FORMAT_NOTE ||
			   t->columns[i]->format == FORMAT_NAME;

	line->cells[i] = xstrdup(text->len > 0 || text_column || !absent_is_dash
					 ? text->data
					 : "—");
	if (t->columns[i]->format == FORMAT_SCORE &&
	    count_decimals(line->cells[i]) > t->decimals[i])
		t->decimals[i] = count_decimals(line->cells[i]);
}

/* A run, or the means where row is NULL. */
static void
add_cells(struct table *t, const struct board_group *group,
	  const struct board_row *row)
{
	struct line *line =
		add_line(t, row == NULL			? LINE_MEAN
			    : row->use == BOARD_COUNTED ? LINE_CELLS
							: LINE_FAINT);
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < t->n_columns; i++) {
		buf_clear(&text);
		append_cell(&text, t->columns[i], group, row, t->of_group[i]);
		set_cell(t, line, i, &text, row != NULL && !group->is_values);
	}
	buf_release(&text);
}

static void
add_heading(struct table *t, const struct board_group *group, size_t rank)
{
	struct line *line = add_line(t, LINE_HEADING);
	struct buf title;

	buf_init(&title, CELL_MAX);
	buf_appendf(&title, "%zu  ", rank);
	utf8_sanitize(&title, str_from(group->title));
	line->text = xstrdup(title.data);
	line->right = xstrdup(group->verdict.text);
	line->color = word_colors[group->verdict.word];
	buf_release(&title);
}

static void
add_text(void *user, const char *text)
{
	add_line(user, LINE_TEXT)->text = xstrdup(text);
}

static void
add_group(struct table *t, const struct board_group *group, size_t rank)
{
	const struct listener lines = { .take = add_text,
					.user = t,
					.all_tests = t->look->all_tests };

	if (rank > 1)
		(void)add_line(t, LINE_BLANK);
	for (size_t i = 0; i < t->n_columns; i++)
		t->of_group[i] = decimals_of(t->board, group, t->columns[i]);
	add_heading(t, group, rank);
	add_titles(t);
	for (size_t i = 0; i < group->n_rows; i++)
		add_cells(t, group, t->board->rows[group->rows[i]]);
	if (group->n_counted > 0)
		add_cells(t, group, NULL);
	say(t->board, group, &lines);
}

/* Blanks behind a score, so that the points of its column stand together. */
static size_t
score_pad(const struct table *t, size_t i, const char *cell)
{
	if (t->columns[i]->format != FORMAT_SCORE || strchr(cell, '.') == NULL)
		return 0;
	return t->decimals[i] - count_decimals(cell);
}

static void
measure(struct table *t)
{
	for (size_t k = 0; k < t->n_lines; k++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			const char *cell = t->lines[k].cells[i];
			size_t width;

			if (cell == NULL)
				continue;
			width = utf8_width(str_from(cell)) +
				score_pad(t, i, cell);
			if (width > t->widths[i])
				t->widths[i] = width;
		}
	}
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i]->format == FORMAT_NAME &&
		    t->widths[i] > NAME_MAX_COLUMNS)
			t->widths[i] = NAME_MAX_COLUMNS;
}

static size_t
total_width(const struct table *t)
{
	size_t width = INDENT;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->widths[i] > 0)
			width += t->widths[i] + (i > 0 ? 2 : 0);
	return width;
}

/* The shown column that is the least worth keeping. */
static size_t
least_column(const struct table *t)
{
	size_t least = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		if (t->widths[i] > 0 &&
		    (t->widths[least] == 0 ||
		     t->columns[i]->keep < t->columns[least]->keep))
			least = i;
	return least;
}

/*
 * Make the table as narrow as the screen: the notes shrink first, then the
 * figures of less weight go, then the names (the first column) shrink, then
 * other figures go.
 */
static void
fit(struct table *t)
{
	size_t first = t->widths[0], room;

	assert(t->n_columns > 0);
	while (t->look->columns > 0 && total_width(t) > t->look->columns) {
		size_t over = total_width(t) - t->look->columns;
		size_t least = least_column(t);

		if (t->columns[least]->format == FORMAT_NOTE &&
		    t->widths[least] >= over + NOTE_MIN_COLUMNS)
			t->widths[least] -= over;
		else if (t->columns[least]->keep >= KEEP_FIGURES &&
			 t->widths[0] > NAME_MIN_COLUMNS)
			t->widths[0] = t->widths[0] > over + NAME_MIN_COLUMNS
					       ? t->widths[0] - over
					       : NAME_MIN_COLUMNS;
		else if (least != 0)
			t->widths[least] = 0;
		else
			break;
	}
	/* What the last column left free goes back to the names. */
	room = total_width(t) < t->look->columns
		       ? t->look->columns - total_width(t)
		       : 0;
	t->widths[0] =
		first < t->widths[0] + room ? first : t->widths[0] + room;
}

static void
blanks(FILE *stream, size_t n)
{
	(void)fprintf(stream, "%*s", (int)n, "");
}

static void
print_cells(FILE *stream, const struct table *t, const struct line *line)
{
	size_t owed = INDENT;

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *cell = line->cells[i];
		struct str s = str_from(cell);
		size_t pad = score_pad(t, i, cell), width, fits;
		bool left = t->columns[i]->format == FORMAT_NAME ||
			    t->columns[i]->format == FORMAT_NOTE ||
			    t->columns[i]->format == FORMAT_CAPS;

		if (t->widths[i] == 0)
			continue;
		width = utf8_width(s) + pad;
		if (width > t->widths[i]) {
			fits = utf8_prefix(s, t->widths[i] - 1);
			blanks(stream, owed);
			(void)fprintf(stream, "%.*s…", (int)fits, cell);
			owed = 2;
			continue;
		}
		owed += left ? 0 : t->widths[i] - width;
		if (s.len > 0) {
			blanks(stream, owed);
			(void)fputs(cell, stream);
			owed = pad;
		} else {
			owed += width;
		}
		owed += (left ? t->widths[i] - width : 0) + 2;
	}
	(void)fputc('\n', stream);
}

/* A text with its verdict at the right edge, or on a line of its own. */
static void
print_heading(FILE *stream, const struct table *t, const struct line *line)
{
	size_t left = utf8_width(str_from(line->text));
	size_t right = utf8_width(str_from(line->right));
	size_t edge = total_width(t);
	bool color = t->look->color;

	if (t->look->columns > 0 && edge > t->look->columns)
		edge = t->look->columns;
	(void)fprintf(stream, "%s%s%s", color ? BOLD : "", line->text,
		      color ? RESET : "");
	if (right > 0) {
		if (left + 2 + right <= edge) {
			blanks(stream, edge - left - right);
		} else {
			(void)fputc('\n', stream);
			blanks(stream, INDENT + 1);
		}
		(void)fprintf(stream, "%s%s%s", color ? line->color : "",
			      line->right, color ? RESET : "");
	}
	(void)fputc('\n', stream);
}

/* A text broken at blanks, what follows a little further in. */
static void
print_text(FILE *stream, const struct table *t, const char *text)
{
	size_t room = t->look->columns > MIN_COLUMNS ? t->look->columns : 0;
	struct str rest = str_from(text);
	size_t indent = INDENT;

	for (;;) {
		size_t len = rest.len;

		if (room > 0 && utf8_width(rest) > room - indent) {
			len = utf8_prefix(rest, room - indent);
			while (len > 0 && rest.p[len] != ' ')
				len--;
			if (len == 0)
				len = utf8_prefix(rest, room - indent);
		}
		blanks(stream, indent);
		(void)fprintf(stream, "%.*s\n", (int)len, rest.p);
		rest = (struct str){ rest.p + len, rest.len - len };
		rest = str_trim(rest);
		if (rest.len == 0)
			return;
		indent = INDENT + 4;
	}
}

static void
print_lines(FILE *stream, const struct table *t)
{
	static const char *const styles[] = { [LINE_TITLES] = DIM,
					      [LINE_MEAN] = BOLD,
					      [LINE_FAINT] = DIM,
					      [LINE_BLANK] = NULL };

	for (size_t i = 0; i < t->n_lines; i++) {
		const struct line *line = &t->lines[i];
		const char *style = t->look->color && line->kind < LINE_HEADING
					    ? styles[line->kind]
					    : NULL;

		if (style != NULL)
			(void)fputs(style, stream);
		if (line->kind == LINE_HEADING)
			print_heading(stream, t, line);
		else if (line->kind == LINE_TEXT)
			print_text(stream, t, line->text);
		else if (line->kind == LINE_BLANK)
			(void)fputc('\n', stream);
		else
			print_cells(stream, t, line);
		if (style != NULL)
			(void)fputs(RESET, stream);
	}
}

static void
table_release(struct table *t)
{
	for (size_t k = 0; k < t->n_lines; k++) {
		for (size_t i = 0; i < t->n_columns; i++)
			free(t->lines[k].cells[i]);
		free(t->lines[k].text);
		free(t->lines[k].right);
	}
	free(t->lines);
}

/* What the marks of the caps mean, once, where there are any. */
static void
print_legend(FILE *stream, const struct table *t)
{
	struct buf text;

	buf_init(&text, LINE_MAX_LEN);
	board_track_line(&text, t->board->track);
	print_text(stream, t, text.data);
	buf_clear(&text);
	if (track_has_caps(t->board->track)) {
		buf_append_str(&text, "caps: bytes, train, eval");
		if (t->board->track->full_targets)
			buf_append_str(&text, ", all targets");
		buf_append_str(&text, ": ✓ kept, ");
		if (t->board->track->train_grace_steps > 0)
			buf_appendf(&text, "~ over by at most %g steps, ",
				    t->board->track->train_grace_steps);
		buf_append_str(&text, "✗ broken, · not in the log");
		print_text(stream, t, text.data);
	}
	(void)fputc('\n', stream);
	buf_release(&text);
}

static void
print_table(FILE *stream, const struct board *board,
	    const struct board_look *look)
{
	struct table t = { .board = board, .look = look };

	choose_columns(&t);
	for (size_t i = 0; i < board->n_groups; i++)
		add_group(&t, &board->groups[board->rank[i]], i + 1);
	measure(&t);
	fit(&t);
	print_legend(stream, &t);
	print_lines(stream, &t);
	table_release(&t);
}

/* Text that Markdown shall take as it stands. */
static void
put_text(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("|`*<>[]\\", *text) != NULL)
			(void)fputc('\\', stream);
		(void)fputc(*text, stream);
	}
}

/* Does any row of the group need its note, or its name beside the seed? */
static bool
any_note(const struct board *board, const struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++)
		if (board->rows[group->rows[i]]->note[0] != '\0')
			return true;
	return false;
}

static bool
all_seeds(const struct board *board, const struct board_group *group)
{
	for (size_t i = 0; i < group->n_rows; i++)
		if (!run_has(board->rows[group->rows[i]]->run.seed))
			return false;
	return group->n_seeds == group->n_counted;
}

static bool
group_uses(const struct board *board, const struct board_group *group,
	   const struct column *column)
{
	const struct run_number *number;

	if (column->format == FORMAT_CAPS)
		return false;
	if (column->format == FORMAT_NOTE)
		return any_note(board, group);
	if (column->format == FORMAT_NAME)
		return !group->is_values && !all_seeds(board, group);
	if (!column_used(board, column))
		return false;
	number = number_of(column);
	for (size_t i = 0; i < group->n_rows; i++)
		if (run_has(run_number_get(&board->rows[group->rows[i]]->run,
					   number)))
			return true;
	return false;
}

/* A column that a group has, and the decimals of its scores there. */
struct shown {
	const struct column *column;
	int decimals;
};

static void
put_head(FILE *stream, const struct board *board, const struct shown *columns,
	 size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)fprintf(stream, "| %s ",
			      columns[i].column->format == FORMAT_NOTE
				      ? "note"
				      : title_of(board, columns[i].column));
	(void)fputs("|\n", stream);
	for (size_t i = 0; i < n; i++)
		(void)fputs(columns[i].column->format == FORMAT_NAME ||
					    columns[i].column->format ==
						    FORMAT_NOTE
				    ? "|:--"
				    : "|--:",
			    stream);
	(void)fputs("|\n", stream);
}

static void
put_row(FILE *stream, const struct board *board, const struct shown *columns,
	size_t n, const struct board_row *row)
{
	const struct board_group *group = &board->groups[row->group];
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&text);
		append_cell(&text, columns[i].column, group, row,
			    columns[i].decimals);
		(void)fputs("| ", stream);
		put_text(stream, text.len > 0 || columns[i].column->format ==
							 FORMAT_NOTE
					 ? text.data
					 : "—");
		(void)fputc(' ', stream);
	}
	(void)fputs("|\n", stream);
	buf_release(&text);
}

/* The means in bold; "mean" stands in the first column. */
static void
put_mean(FILE *stream, const struct shown *columns, size_t n,
	 const struct board_group *group)
{
	struct buf text;

	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < n; i++) {
		enum format format = columns[i].column->format;

		buf_clear(&text);
		if (i == 0)
			buf_append_str(&text,
				       format == FORMAT_NAME ||
						       format == FORMAT_PLAIN
					       ? "mean"
					       : "mean ");
		if (format != FORMAT_NAME)
			append_cell(&text, columns[i].column, group, NULL,
				    columns[i].decimals);
		if (text.len > 0)
			(void)fprintf(stream, "| **%s** ", text.data);
		else
			(void)fputs("| ", stream);
	}
	(void)fputs("|\n", stream);
	buf_release(&text);
}

static void
put_item(void *user, const char *line)
{
	(void)fputs("- ", user);
	put_text(user, line);
	(void)fputc('\n', user);
}

void
board_print_md_group(FILE *stream, const struct board *board,
		     const struct board_group *group, bool all_tests)
{
	const struct listener items = { put_item, stream, true, all_tests };
	struct shown columns[MAX_COLUMNS];
	struct buf title;
	size_t n = 0;

	for (const struct column *c = all_columns; c->title != NULL; c++)
		if (group_uses(board, group, c))
			columns[n++] =
				(struct shown){ c,
						decimals_of(board, group, c) };
	buf_init(&title, CELL_MAX);
	utf8_sanitize(&title, str_from(group->title));
	(void)fputs("### ", stream);
	put_text(stream, title.data);
	(void)fputs("\n\n", stream);
	buf_release(&title);
	if (n > 0) {
		put_head(stream, board, columns, n);
		for (size_t i = 0; i < group->n_rows; i++)
			put_row(stream, board, columns, n,
				board->rows[group->rows[i]]);
		if (group->n_counted > 0)
			put_mean(stream, columns, n, group);
		(void)fputc('\n', stream);
	}
	say(board, group, &items);
	if (group->verdict.text[0] != '\0')
		(void)fprintf(stream, "\n**%s**\n", group->verdict.text);
}

static void
print_md(FILE *stream, const struct board *board, const struct board_look *look)
{
	struct buf text;

	for (size_t i = 0; i < board->n_groups; i++) {
		if (i > 0)
			(void)fputc('\n', stream);
		board_print_md_group(stream, board,
				     &board->groups[board->rank[i]],
				     look->all_tests);
	}
	buf_init(&text, LINE_MAX_LEN);
	board_track_line(&text, board->track);
	(void)fprintf(stream, "\n%s\n", text.data);
	buf_release(&text);
}

void
board_print(FILE *stream, const struct board *board, enum out_format format,
	    const struct board_look *look)
{
	static void (*const printers[])(FILE * stream,
					const struct board *board,
					const struct board_look *look) = {
		[OUT_TABLE] = print_table,
		[OUT_JSON] = board_print_json,
		[OUT_CSV] = board_print_csv,
		[OUT_MD] = print_md,
	};

	if (look->summary && (format == OUT_TABLE || format == OUT_MD))
		board_print_summary(stream, board, format);
	else
		printers[format](stream, board, look);
}
