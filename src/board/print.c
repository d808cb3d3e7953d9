/* SPDX-License-Identifier: MIT */
/* Print a leaderboard as a table, Markdown, JSON or CSV. */
#include "board/print.h"

#include "base/utf8.h"
#include "board/evidence.h"
#include "report/facts_print.h"

#define SCORE_DECIMALS	   8
#define SCORE_MIN_DECIMALS 4
#define MAX_COLUMNS	   16
#define CELL_MAX	   512
#define LINE_MAX_LEN	   4096
#define NAME_MAX_COLUMNS   40U
#define INDENT		   2U
#define HANG		   4U

/* How a cell is written, in tables and in Markdown. */
enum format {
	FORMAT_NAME,  /* name of the run */
	FORMAT_PLAIN, /* 1337 */
	FORMAT_COUNT, /* 15,981,945 */
	FORMAT_FIXED, /* with the decimals of the column */
	FORMAT_VALUE, /* any metric, of any size */
	FORMAT_SCORE, /* with the decimals of the log, 4 to 8 */
	FORMAT_CAPS,  /* a mark per cap */
	FORMAT_NOTE,
};

struct column {
	const char *title; /* with its unit */
	const char *key;   /* number of a run; NULL: not a number */
	enum format format;
	int decimals;	    /* for FORMAT_FIXED */
	double scale;	    /* factor for the number */
	int width;	    /* smallest width of a text that is cut */
	int drop, cut_drop; /* see facts.h */
};

/* All columns that a board may have, in order; ended by a NULL title. On a narrow screen, notes are
 * cut first, then lesser figures are dropped, names are cut, and other figures are dropped. */
static const struct column all_columns[] = {
	{ "run", NULL, FORMAT_NAME, 0, 1, 12, 0, 61 },
	{ "seed", "seed", FORMAT_PLAIN, 0, 1, 0, 10, 0 },
	{ "steps", "steps", FORMAT_COUNT, 0, 1, 0, 40, 0 },
	{ "ms/step", "ms_per_step", FORMAT_FIXED, 2, 1, 0, 60, 0 },
	{ "train s", "train_ms", FORMAT_FIXED, 3, 0.001, 0, 50, 0 },
	{ "pre-quant BPB", "prequant_bpb", FORMAT_SCORE, 0, 1, 0, 90, 0 },
	{ "quant BPB", "quant_bpb", FORMAT_SCORE, 0, 1, 0, 80, 0 },
	{ "final BPB", "final_bpb", FORMAT_SCORE, 0, 1, 0, 5, 0 },
	{ "val loss nats", "final_val_loss", FORMAT_SCORE, 0, 1, 0, 5, 0 },
	{ "score", "chosen", FORMAT_VALUE, 0, 1, 0, 5, 0 },
	{ "eval s", "eval_s", FORMAT_FIXED, 1, 1, 0, 35, 0 },
	{ "artifact B", "artifact_bytes", FORMAT_COUNT, 0, 1, 0, 20, 0 },
	{ "caps", NULL, FORMAT_CAPS, 0, 1, 0, 15, 0 },
	{ "", NULL, FORMAT_NOTE, 0, 1, 10, 95, 0 },
	{ NULL, NULL, FORMAT_NAME, 0, 1, 0, 0, 0 },
};

static const struct run_number *get_number(const struct column *column)
{
	return column->format == FORMAT_VALUE ? &run_number_chosen
					      : run_number_by_name(str_from(column->key));
}

static bool is_column_used(const struct board *board, const struct column *column)
{
	if (column->format == FORMAT_CAPS)
		return any_of(i, board->n_groups, track_has_caps(board->groups[i].track));
	if (column->key == NULL)
		return true;
	/* The loss is shown only if it is a score. */
	if (strcmp(column->key, "final_val_loss") == 0 &&
	    !any_of(i, board->n_groups, strcmp(board->groups[i].score->name, column->key) == 0))
		return false;
	const struct run_number *number = get_number(column);
	return any_of(i, board->n_rows, run_has(run_number_get(&board->rows[i]->run, number)));
}

static void append_count(struct buf *out, double value)
{
	buf_append_str(out, str_number(round(value), 17, (char[STR_NUMBER_SIZE]){ "" }));
}

static void append_number(struct buf *out, const struct column *column, double value, int decimals)
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
		buf_appendf(out, "%.*f", column->decimals, value * column->scale);
	if (column->format != FORMAT_SCORE)
		return;
	/* Up to 8 decimals, without trailing zeros beyond the column's decimals. */
	buf_appendf(out, "%.*f", SCORE_DECIMALS, value);
	size_t dot = strcspn(out->data, ".");
	while (out->len > dot + 1 + (size_t)decimals && out->data[out->len - 1] == '0')
		out->data[--out->len] = '\0';
}

/* The number of decimals of a group's scores: as in its longest value, 4 to 8. */
static int find_decimals(const struct board *board, const struct board_group *group,
			 const struct column *column)
{
	int most = SCORE_MIN_DECIMALS;
	char text[64];

	if (column->format != FORMAT_SCORE)
		return 0;
	const struct run_number *number = get_number(column);
	board_each_row (row, board, group) {
		double value = run_number_get(&row->run, number);
		int digits = SCORE_DECIMALS;
		int len = snprintf(text, sizeof(text), "%.*f", digits, value);

		while (run_has(value) && digits > most && text[--len] == '0')
			digits--;
		if (run_has(value) && digits > most)
			most = digits;
	}
	return most;
}

static void append_caps(struct buf *out, const enum board_kept *caps)
{
	static const char *const marks[] = { "", "✓", "~", "·", "✗" };

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++)
		buf_append_str(out, marks[caps[cap]]);
}

/* Append the cell of a row (NULL: of the means). */
static void append_cell(struct buf *out, const struct column *column,
			const struct board_group *group, const struct board_row *row, int decimals)
{
	bool is_mean = row == NULL;

	if (column->format == FORMAT_NAME && is_mean)
		buf_append_str(out, group->n_counted == 1 ? "mean of 1 run" : "mean");
	else if (column->format == FORMAT_NOTE && !is_mean)
		buf_append_str(out, row->note);
	else if (column->format == FORMAT_CAPS && !group->is_values &&
		 (!is_mean || group->n_counted > 0))
		append_caps(out, is_mean ? group->caps : row->caps);
	else if (column->format == FORMAT_NAME && !group->is_values)
		buf_append_str(out, row->name);
	else if (column->key != NULL && !(is_mean && column->format == FORMAT_PLAIN) &&
		 (column->format != FORMAT_VALUE || run_number_is_chosen(group->score))) {
		const struct run_number *number = get_number(column);
		double value = !is_mean ? run_number_get(&row->run, number)
			       : number->offset == group->score->offset
				       ? group->stats.mean
				       : board_mean(group, number->name);

		append_number(out, column, value, decimals);
	}
}

/* Turns a board into a list of facts, group by group. */
struct page {
	struct facts *facts;
	const struct board *board;
	const struct board_group *group;
	bool markdown;
	bool all_tests; /* including those that do not decide */
	const struct column *columns[MAX_COLUMNS];
	int decimals[MAX_COLUMNS]; /* of the group's scores */
	size_t n_columns;
	struct buf text; /* the current line */
};

static void end_line(struct page *p)
{
	if (p->text.len > 0)
		(void)facts_text(p->facts, "", FACT_PLAIN, "%s", p->text.data);
	buf_clear(&p->text);
}

/* Append "caps: bytes kept (at most 15,984,387 of 16,000,000), ..". */
static void write_caps(struct page *p)
{
	const struct track *track = p->group->track;
	const struct board_group *group = p->group;
	const struct {
		double most, limit;
	} caps[BOARD_CAP_COUNT] = {
		[BOARD_CAP_BYTES] = { group->max_artifact_bytes, track->cap_artifact_bytes },
		[BOARD_CAP_TRAIN] = { group->max_train_ms / 1000, track->cap_train_s },
		[BOARD_CAP_EVAL] = { group->max_eval_s, track->cap_eval_s },
	};
	struct buf *out = &p->text;

	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		enum board_kept kept = group->caps[cap];
		bool is_bytes = cap == BOARD_CAP_BYTES;
		char most[STR_NUMBER_SIZE], limit[STR_NUMBER_SIZE];

		if (!p->markdown || group->is_values || kept == CAP_NONE)
			continue;
		buf_appendf(out, "%s%s %s",
			    out->len > 0 ? ", " : "caps: ", board_cap_name((enum board_cap)cap),
			    kept == CAP_GRACE ? "within the grace steps" : board_kept_name(kept));
		if (cap > BOARD_CAP_EVAL || kept == CAP_UNKNOWN)
			continue;
		print_into(most, "%.3f", caps[cap].most);
		buf_appendf(out, " (at most %s of %s%s)",
			    is_bytes ? str_number(caps[cap].most, 17, most) : most,
			    str_number(caps[cap].limit, 17, limit), is_bytes ? "" : " s");
	}
}

/* Append a track and its rule: "track parameter-golf-10min (by the logs) · train 600 s ..". */
static void board_track_line(struct buf *out, const struct board *board,
			     const struct board_group *group)
{
	const struct track *track = group->track;

	buf_appendf(out, "track %s", track->name);
	if (board->tracks != NULL)
		buf_append_str(out, " (by the logs)");
	if (run_has(track->cap_train_s))
		buf_appendf(out, " · train %g s", track->cap_train_s);
	if (run_has(track->cap_eval_s))
		buf_appendf(out, " · eval %g s", track->cap_eval_s);
	if (run_has(track->cap_artifact_bytes)) {
		buf_append_str(out, " · ");
		append_count(out, track->cap_artifact_bytes);
		buf_append_str(out, " bytes");
	}
	if (track->cap_metric != NULL)
		buf_appendf(out, " · %s <= %g", track->cap_metric, track->cap_metric_most);
	if (!track->has_record)
		return;
	if (run_has(track->target))
		buf_appendf(out, " · %s%s %s%s %g", track->counts_steps ? "steps to " : "",
			    board_target_metric(board, group), track->is_above ? ">" : "<",
			    track->is_strict ? "" : "=", track->target);
	else if (track->margin_nats > 0)
		buf_appendf(out, " · record %g nats", track->margin_nats);
	else
		buf_append_str(out, " · better than the baseline");
	if (run_has(track->target) && track->rule == TRACK_RULE_MARGIN)
		buf_appendf(out, " where (target - mean) * sqrt(n) >= %g", track->margin_root_n);
	else if (run_has(track->target) && track->rule == TRACK_RULE_MEAN)
		buf_append_str(out, " by the mean");
	else
		buf_appendf(out, " at p < %g", track->alpha);
	for (size_t i = 0; track->rule == TRACK_RULE_T && i < track->n_tests; i++)
		buf_appendf(out, "%s%c",
			    i > 0		 ? ", "
			    : track->n_tests > 1 ? " (tests "
						 : " (test ",
			    'A' + (int)track->tests[i]);
	if (track->rule == TRACK_RULE_T)
		buf_append_str(out, ")");
	if (track->rank_by != TRACK_RANK_SCORE)
		buf_appendf(out, " · ranked by %s",
			    track->rank_by == TRACK_RANK_STEPS ? "steps" : "training time");
}

static const char *describe_test(const struct track *track, enum track_test test)
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

static bool test_decides(const struct track *track, enum track_test test)
{
	return track->has_record && track->rule == TRACK_RULE_T &&
	       any_of(i, track->n_tests, track->tests[i] == test);
}

static bool is_used_by_group(const struct board *board, const struct board_group *group,
			     const struct column *column)
{
	if (column->format == FORMAT_CAPS)
		return false;
	if (column->format == FORMAT_NOTE)
		return any_of(i, group->n_rows, board_row_at(board, group, i)->note[0] != '\0');
	if (column->format == FORMAT_NAME)
		return !group->is_values && /* unless the seeds identify the rows */
		       (group->n_seeds != group->n_counted ||
			!all_of(i, group->n_rows,
				run_has(board_row_at(board, group, i)->run.seed)));
	if (!is_column_used(board, column))
		return false;
	const struct run_number *number = get_number(column);
	return any_of(i, group->n_rows,
		      run_has(run_number_get(&board_row_at(board, group, i)->run, number)));
}

/* Does the column contain texts?  They may be cut, and an empty text is not a missing number. */
static bool is_text(const struct column *column)
{
	return column->format == FORMAT_NAME || column->format == FORMAT_NOTE;
}

/* Start a table; in Markdown it has only the columns that the group uses. */
static struct facts_section *begin_table(struct page *p, const char *title)
{
	struct facts_column columns[MAX_COLUMNS] = { { 0 } };

	p->n_columns = 0;
	for (const struct column *c = all_columns; c->title != NULL; c++) {
		struct facts_column *column = &columns[p->n_columns];
		bool is_number = c->format == FORMAT_FIXED || c->format == FORMAT_SCORE ||
				 c->format == FORMAT_VALUE;

		if (p->markdown ? !is_used_by_group(p->board, p->group, c)
				: !is_column_used(p->board, c))
			continue;
		column->label = c->format == FORMAT_VALUE		  ? p->group->score->name
				: p->markdown && c->format == FORMAT_NOTE ? "note"
									  : c->title;
		column->kind = c->key == NULL ? FMT_TEXT : is_number ? FMT_NUMBER : FMT_GROUPED;
		column->width = c->width;
		column->drop = c->drop;
		column->cut_drop = c->cut_drop;
		p->decimals[p->n_columns] = find_decimals(p->board, p->group, c);
		p->columns[p->n_columns++] = c;
	}
	return facts_table(p->facts, title, columns, p->n_columns);
}

static void add_row(struct page *p, const struct board_row *row)
{
	bool dash = row != NULL && (p->markdown || !p->group->is_values);
	enum fact_style style = row == NULL				   ? FACT_STRONG
				: p->markdown || row->use == BOARD_COUNTED ? FACT_PLAIN
									   : FACT_DIM;
	AUTO_BUF text = buf_new(CELL_MAX);

	for (size_t i = 0; i < p->n_columns; i++) {
		const struct column *c = p->columns[i];

		buf_clear(&text);
		/* The first column of this row is "mean", whatever it contains elsewhere. */
		if (row == NULL && i == 0 && !is_text(c))
			buf_append_str(&text, c->format == FORMAT_PLAIN ? "mean" : "mean ");
		append_cell(&text, c, p->group, row, p->decimals[i]);
		if (c->format == FORMAT_NAME && !p->markdown &&
		    utf8_width(buf_str(&text)) > NAME_MAX_COLUMNS) {
			text.len = utf8_prefix(buf_str(&text), NAME_MAX_COLUMNS - 1);
			buf_append_str(&text, "…");
		}
		facts_text(p->facts, "", style, "%s",
			   text.len > 0 || is_text(c) || !dash ? text.data : FMT_ABSENT);
	}
}

/* Add facts about the runs: their track and step, how many count, and their spread. */
static void add_runs(struct page *p)
{
	const struct board *board = p->board;
	const struct board_group *group = p->group;
	const struct board_stats *stats = &group->stats;
	const struct board_steps *steps = &group->steps;
	double end = RUN_ABSENT;
	struct buf *out = &p->text;

	if (any_of(i, board->n_groups, board->groups[i].track != group->track))
		buf_appendf(out, "track %s", group->track->name);
	end_line(p);
	if (group->counts_steps && run_has(steps->step)) {
		buf_appendf(out, "compared at step %.0f: %zu run%s", steps->step, steps->n,
			    steps->n == 1 ? "" : "s");
		if (steps->n_short > 0)
			buf_appendf(out, ", %zu ended before it", steps->n_short);
		if (steps->n_live > 0)
			buf_appendf(out, ", %zu not at this step yet", steps->n_live);
		if (steps->is_shown && run_has(steps->lower))
			buf_appendf(out, "; target not yet shown at validation step %.0f",
				    steps->lower);
		board_each_counted (row, board, group)
			end = fmin(end, row->run.steps);
		if (steps->is_shown && end > steps->step)
			buf_appendf(out,
				    "; could already claim step %.0f, although the runs go on "
				    "to step %.0f",
				    steps->step, end);
		end_line(p);
	}
	buf_appendf(out, "%zu run%s", group->n_counted, group->n_counted == 1 ? "" : "s");
	if (!group->is_values && group->n_seeds != group->n_counted)
		buf_appendf(out, " of %zu seed%s", group->n_seeds, group->n_seeds == 1 ? "" : "s");
	if (group->n_counted < group->n_rows) {
		buf_append_str(out, "; not counted: ");
		board_list_uncounted(group, out);
	}
	if (group->n_counted > 0)
		buf_append_str(out, "; ");
	if (stats->n >= 2)
		buf_appendf(out, "sample sd %.8f, population sd %.8f, standard error %.8f",
			    stats->sd_sample, stats->sd_population, stats->se);
	else if (stats->n == 1)
		buf_append_str(out, "a single run has no spread");
	end_line(p);
}

/* Add how close the runs are to the caps, and their training time. */
static void add_costs(struct page *p)
{
	const struct board_group *group = p->group;
	const struct board_verdict *v = &group->verdict;
	const struct board_stats *ms = &group->train_ms;
	const struct track *track = group->track;
	struct buf *out = &p->text;

	write_caps(p);
	end_line(p);
	if (ms->n == 0 || !track->has_record || !run_has(track->target))
		return;
	buf_appendf(out, "train time %.4f s", ms->mean / 1000);
	if (run_has(ms->sd_sample))
		buf_appendf(out, ", sample sd %.4f s, population sd %.4f s", ms->sd_sample / 1000,
			    ms->sd_population / 1000);
	if (run_has(v->delta_train_ms))
		buf_appendf(out, "; %+.4f s compared with %s", v->delta_train_ms / 1000,
			    v->other != NULL ? v->other->title : "the baseline");
	if (run_has(v->train_time.p))
		buf_appendf(out, " (Welch t %.4f, df %.4f, one-sided p %.4g)", v->train_time.t,
			    v->train_time.df, v->train_time.p);
	end_line(p);
}

/* Add the difference from the baseline, what the track requires, and how many seeds it takes. */
static void add_comparison(struct page *p)
{
	const struct board_group *group = p->group, *base = board_baseline(p->board);
	const struct board_verdict *v = &group->verdict;
	const char *word = board_unit(p->board, group);
	const char *unit = strcmp(word, "bpb") == 0    ? " BPB"
			   : strcmp(word, "nats") == 0 ? " nats"
						       : "";
	const struct track *track = group->track;
	struct buf *out = &p->text;

	/* "better than NAME: (0.0001 + 25 steps * 4.5e-05) / sqrt(1/10 + 1/8) = 0.0051, .." */
	if (run_has(v->pair_margin) && run_has(track->pair_margin_root_n))
		buf_appendf(out,
			    "%s %s: (loss difference + %.0f steps * %g) / sqrt(1/%zu + 1/%zu) = "
			    "%.5f, needs %g",
			    v->pair_shown ? "better than" : "not shown to be better than",
			    v->other->title, v->other->steps.step - group->steps.step,
			    track->loss_per_step, group->steps.n, v->other->steps.n, v->pair_margin,
			    track->pair_margin_root_n);
	end_line(p);

	/* "vs NAME: -0.0034 BPB, -0.0076 nats (2.188 nats/BPB, given)" */
	if (run_has(v->delta)) {
		buf_append_str(out, "vs ");
		if (base != NULL)
			buf_append_str(out, base->title);
		else
			buf_appendf(out, "%g", v->bar);
		buf_appendf(out, ": %+.8f%s", v->delta, unit);
		if (v->nats_per_unit != 1 && *unit != '\0' && run_has(v->delta_nats))
			buf_appendf(out, ", %+.8f nats (%.8f nats/BPB: %s)", v->delta_nats,
				    v->nats_per_unit, v->nats_source);
		else if (v->nats_per_unit != 1 && *unit != '\0')
			buf_append_str(out, " (nats per BPB unknown: --nats-per-bpb)");
		end_line(p);
	}

	/* "bar 1.0588: the baseline's mean less 0.005 nats" */
	if (run_has(v->bar) && run_has(track->target))
		buf_appendf(out, "target %g", v->bar);
	else if (run_has(v->bar) && track->margin_nats > 0)
		buf_appendf(out, "bar %.8f: the baseline's mean less %g nats", v->bar,
			    track->margin_nats);
	else if (run_has(v->bar))
		buf_appendf(out, "bar %.8f: the baseline's mean", v->bar);
	if (run_has(v->bar) && run_has(v->mean_needed))
		buf_appendf(out, "; a mean of %.8f would pass", v->mean_needed);
	end_line(p);

	/* "for p < 0.01 with power 80 %: 8 seeds, ..; 5 more cost about $15.20 ($3.04 each)" */
	unsigned int seeds = v->seeds_planned;
	if (seeds == 0)
		return;
	if (track->rule == TRACK_RULE_MARGIN)
		buf_appendf(out, "%u seeds show the target if the mean stays the same", seeds);
	else
		buf_appendf(out,
			    "for p < %g with power %.0f %%: %u seeds, if mean and spread stay the "
			    "same",
			    track->alpha, 100 * BOARD_POWER, seeds);
	if (seeds > group->n_seeds)
		buf_appendf(out, "; %zu more", seeds - group->n_seeds);
	if (run_has(v->usd_more))
		buf_appendf(out, " cost about $%.2f ($%.2f each)", v->usd_more, v->usd_seed);
	end_line(p);
}

/* Add the tests, the differences of common seeds, and notes. */
static void add_evidence(struct page *p)
{
	const struct board_verdict *v = &p->group->verdict;
	const struct track *track = p->group->track;

	for (int i = 0; i < TRACK_TEST_COUNT; i++) {
		const struct board_test *test = &v->tests[i];
		enum track_test which = (enum track_test)i;

		if (!run_has(test->t) ||
		    (track->has_record && !p->all_tests && !test_decides(track, which)))
			continue;
		buf_appendf(&p->text, p->markdown ? "test %c (%s): " : "test %c  %s: ", 'A' + i,
			    describe_test(track, which));
		buf_appendf(&p->text, "t = %.4f, df %.5g, one-sided p = %.4g (two-sided %.4g)",
			    test->t, test->df, test->p, test->p_two_sided);
		end_line(p);
	}
	if (run_has(v->z))
		buf_appendf(&p->text,
			    "z = %.4f with a known sd of %g, one-sided p = "
			    "%.4g; (target - mean) * sqrt(n) = %.6f",
			    v->z, track->known_sd, v->p_z, v->target.margin_root_n);
	end_line(p);
	for (size_t i = 0; i < v->n_common; i++)
		buf_appendf(&p->text, "%s%.0f (%+.8f)", i == 0 ? "seeds in both: " : ", ",
			    v->common[i].seed, v->common[i].delta);
	end_line(p);
	for (size_t i = 0; i < p->group->n_notes; i++) {
		buf_appendf(&p->text, "%s%s", p->markdown ? "" : "note: ", p->group->notes[i]);
		end_line(p);
	}
}

/* Add a group.  The verdict is shown next to the title, in Markdown at the end. */
static void add_group(struct page *p, const struct board_group *group)
{
	static const enum fact_style styles[] = {
		[BOARD_WORD_NONE] = FACT_PLAIN,	    [BOARD_WORD_BASELINE] = FACT_REFERENCE,
		[BOARD_WORD_NO_RUNS] = FACT_DIM,    [BOARD_WORD_INVALID] = FACT_ALARM,
		[BOARD_WORD_NOT_JUDGED] = FACT_DIM, [BOARD_WORD_BELOW_BAR] = FACT_WORSE,
		[BOARD_WORD_NOT_SHOWN] = FACT_WARN, [BOARD_WORD_SHOWN] = FACT_BETTER,
	};
	const struct board_verdict *v = &group->verdict;

	p->group = group;
	struct facts_section *table = begin_table(
		p, p->markdown ? group->title
			       : facts_keep(p->facts, "%zu  %s", group->rank + 1, group->title));
	table->beside = p->markdown ? NULL : v->text;
	table->beside_style = v->is_provisional ? FACT_WARN : styles[v->word];
	if (p->n_columns > 0) {
		board_each_row (row, p->board, group)
			add_row(p, row);
		if (group->n_counted > 0)
			add_row(p, NULL);
	}
	facts_section(p->facts, "")->is_list = true;
	add_runs(p);
	add_costs(p);
	add_comparison(p);
	add_evidence(p);
	if (!p->markdown)
		return;
	board_add_evidence(p->facts, p->board, group);
	if (v->text[0] == '\0')
		return;
	facts_section(p->facts, "");
	facts_text(p->facts, "", FACT_STRONG, "%s", v->text);
}

static bool is_first_of_track(const struct board *board, const struct board_group *group)
{
	return !any_of(i, group->rank, board_ranked(board, i)->track == group->track);
}

static void add_tracks(struct page *p)
{
	facts_section(p->facts, "");
	board_each_ranked (group, p->board) {
		if (!is_first_of_track(p->board, group))
			continue;
		board_track_line(&p->text, p->board, group);
		end_line(p);
	}
}

static void print_page(struct page *p, FILE *stream, const struct board_look *look)
{
	AUTO_BUF text = buf_new(SIZE_MAX / 2);

	if (p->markdown)
		facts_print_md(&text, p->facts);
	else
		facts_print(&text, p->facts,
			    &(struct facts_look){ .columns = look->columns,
						  .fold = look->columns,
						  .indent = INDENT,
						  .hang = HANG,
						  .color = look->color,
						  .is_tight = true });
	(void)fwrite(text.data, 1, text.len, stream);
	facts_release(p->facts);
	buf_release(&p->text);
}

void board_print_md_group(FILE *stream, const struct board *board, const struct board_group *group)
{
	struct facts facts = { .v = NULL };
	struct page p = { &facts, board, .markdown = true, .text = buf_new(LINE_MAX_LEN) };

	add_group(&p, group);
	facts_section(p.facts, "");
	board_track_line(&p.text, board, group);
	end_line(&p);
	print_page(&p, stream, NULL);
}

static void print_board(FILE *stream, const struct board *board, bool markdown,
			const struct board_look *look)
{
	struct facts facts = { .v = NULL };
	struct page p = { .facts = &facts,
			  .board = board,
			  .markdown = markdown,
			  .all_tests = look->all_tests,
			  .text = buf_new(LINE_MAX_LEN) };

	if (!markdown)
		add_tracks(&p);
	board_each_ranked (group, board) {
		const struct track *track = group->track;

		if (markdown || !is_first_of_track(board, group) || !track_has_caps(track))
			continue;
		buf_append_str(&p.text, "caps: ");
		track_list_caps(track, &p.text);
		buf_append_str(&p.text, ": ✓ met, ");
		if (track->train_grace_steps > 0)
			buf_appendf(&p.text, "~ over by at most %g steps, ",
				    track->train_grace_steps);
		buf_append_str(&p.text, "✗ exceeded, · not in the log");
		end_line(&p);
	}
	board_each_ranked (group, board)
		add_group(&p, group);
	if (markdown)
		add_tracks(&p);
	print_page(&p, stream, look);
}

static void add_in_unit(cJSON *object, const char *stem, const char *unit, double value)
{
	char key[64];

	print_into(key, "%s_%s", stem, unit);
	json_add_number(object, key, value);
}

static void add_stats(cJSON *object, const char *unit, const struct board_stats *s)
{
	add_in_unit(object, "mean", unit, s->mean);
	add_in_unit(object, "sd_sample", unit, s->sd_sample);
	add_in_unit(object, "sd_population", unit, s->sd_population);
	add_in_unit(object, "se", unit, s->se);
	add_in_unit(object, "min", unit, s->min);
	add_in_unit(object, "max", unit, s->max);
}

static void add_caps(cJSON *object, const char *prefix, const enum board_kept *caps)
{
	for (int cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		char key[32];

		print_into(key, "%s%s", prefix, board_cap_name((enum board_cap)cap));
		json_add_string(object, key,
				caps[cap] == CAP_NONE ? NULL : board_kept_name(caps[cap]));
	}
}

cJSON *board_row_json(const struct board *board, const struct board_row *row)
{
	cJSON *object = run_to_json(&row->run);

	json_add(object, JCLEAN("file", row->path),
		 JTEXT("sha256", row->sha256[0] ? row->sha256 : NULL),
		 JTEXT("use", board_use_name(row->use)),
		 JBOOL("counted", row->use == BOARD_COUNTED),
		 JCLEAN("copy_of", row->use >= BOARD_COPY && row->use <= BOARD_REPORT
					   ? board->rows[row->copy_of]->path
					   : NULL),
		 JBOOL("seed_again", row->seed_again), JNUM("value", row->score),
		 JNUM("cost_usd", row->usd));
	add_caps(cJSON_AddObjectToObject(object, "caps"), "", row->caps);
	json_add_clean(object, "note", row->note[0] ? row->note : NULL);
	return object;
}

const char *board_stored_status(const struct stored_run *run, long writer)
{
	return run_status_names[run->is_live && writer != 0 ? RUN_RUNNING : run->run.status];
}

cJSON *board_stored_json(const struct stored_run *run, long writer)
{
	cJSON *row = cJSON_CreateObject(), *keys = run_to_json(&run->run);
	const char *word = board_stored_status(run, writer);
	cJSON *status =
		strcmp(word, "unknown") == 0 ? cJSON_CreateNull() : cJSON_CreateString(word);

	cJSON_ReplaceItemInObjectCaseSensitive(keys, "status", status);
	json_add(row, JNUM("run_id", run->run_id), JTEXT("pod", run->pod),
		 JCLEAN("path", run->path), JCLEAN("file", run->path), JNUM("gen", run->gen));
	out_add_members(row, keys);
	return json_add(row, JTIME("first_seen", run->first_wall_ms),
			JTIME("last_seen", run->last_wall_ms));
}

void board_add_sample(cJSON *row, const char *metric, const struct sample *s)
{
	json_add(row, JNUM("step", s->step), JTEXT("metric", metric), JNUM("value", s->value),
		 JNUM("wall_s", s->wall_ms != 0 ? (double)s->wall_ms / 1e3 : RUN_ABSENT),
		 JNUM("train_ms", s->train_ms), JNUM("line", s->line));
}

cJSON *board_test_json(const struct board_test *test)
{
	return json_new(JNUM("t", test->t), JNUM("df", test->df), JNUM("p_one_sided", test->p),
			JNUM("p_two_sided", test->p_two_sided));
}

/* Add the tests by letter, each with its question and whether it decides. */
static void add_tests(cJSON *object, const struct track *track, const struct board_verdict *v)
{
	cJSON *tests = cJSON_AddObjectToObject(object, "tests");

	for (int i = 0; i < TRACK_TEST_COUNT; i++) {
		char letter[2] = { (char)('A' + i), '\0' };
		cJSON *test = board_test_json(&v->tests[i]);
		enum track_test which = (enum track_test)i;

		json_add(test, JTEXT("what", describe_test(track, which)),
			 JBOOL("decides", test_decides(track, which)),
			 JNODE("passes", run_has(v->tests[i].p)
						 ? cJSON_CreateBool(v->tests[i].p < track->alpha)
						 : NULL));
		cJSON_AddItemToObject(tests, letter, test);
	}
}

/* Add the target of the track, and how the runs compare with it. */
static void add_target(cJSON *object, const struct board *board, const struct board_group *group)
{
	const struct board_target_test *test = &group->verdict.target;
	const struct board_steps *steps = &group->steps;
	const struct track *track = group->track;

	if (!run_has(track->target))
		return;
	json_add(object, JNUM("target", track->target),
		 JTEXT("target_metric", board_target_metric(board, group)),
		 JNUM("target_n", group->seed_stats.n), JNUM("target_mean", group->seed_stats.mean),
		 JNUM("p_target", test->p), JBOOL("target_shown", test->is_shown));
	if (!group->counts_steps)
		return;
	json_add(object, JNUM("steps_to_target", steps->is_shown ? steps->step : RUN_ABSENT),
		 JNUM("steps_compared", steps->step), JNUM("steps_lower", steps->lower),
		 JNUM("steps_spacing", steps->step - steps->lower), JNUM("n_short", steps->n_short),
		 JNUM("n_live", steps->n_live));
	cJSON *others = cJSON_AddArrayToObject(object, "other_metrics");
	array_each (other, group->others, group->n_others) {
		const struct board_steps *at = &other->steps;

		json_add(json_add_row(others), JCLEAN("metric", other->metric),
			 JNUM("steps_to_target", at->is_shown ? at->step : RUN_ABSENT),
			 JNUM("target_n", run_has(at->step) ? (double)at->n : RUN_ABSENT),
			 JNUM("target_mean", at->stats.mean));
	}
}

static void add_verdict(cJSON *object, const struct board *board, const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;
	const struct board_group *base = board_baseline(board);
	const char *unit = board_unit(board, group);

	json_add(object, JTEXT("verdict", v->text[0] ? v->text : NULL),
		 JTEXT("word", board_word_name(v->word)), JBOOL("provisional", v->is_provisional),
		 JCLEAN("baseline", base != NULL ? base->key : NULL));
	add_in_unit(object, "delta", unit, v->delta);
	if (strcmp(unit, "bpb") == 0)
		json_add(object, JNUM("delta_nats", v->delta_nats),
			 JNUM("nats_per_bpb", v->nats_per_unit),
			 JTEXT("nats_per_bpb_source", v->nats_source));
	add_in_unit(object, "bar", unit, v->bar);
	json_add(object,
		 JNUM("margin_nats",
		      group->track->has_record ? group->track->margin_nats : RUN_ABSENT),
		 JNUM("alpha", group->track->has_record ? group->track->alpha : RUN_ABSENT));
	add_tests(object, group->track, v);
	json_add(object, JNUM("z", v->z), JNUM("p_z", v->p_z),
		 JNUM("margin_root_n", v->target.margin_root_n));
	add_target(object, board, group);
	add_in_unit(object, "mean_needed", unit, v->mean_needed);
	json_add(object, JSOME("seeds_needed", v->seeds_needed),
		 JSOME("seeds_planned", v->seeds_planned), JNUM("usd_per_seed", v->usd_seed),
		 JNUM("usd_planned", v->usd_more), JNUM("delta_train_ms", v->delta_train_ms));
	cJSON_AddItemToObject(object, "train_time_test", board_test_json(&v->train_time));
	json_add(object, JCLEAN("compared_with", v->other != NULL ? v->other->key : NULL),
		 JNUM("pair_margin", v->pair_margin), JBOOL("pair_shown", v->pair_shown));
	cJSON *common = cJSON_AddArrayToObject(object, "common_seeds");
	for (size_t i = 0; i < v->n_common; i++) {
		cJSON *pair = json_add_row(common);

		json_add_number(pair, "seed", v->common[i].seed);
		add_in_unit(pair, "delta", unit, v->common[i].delta);
	}
}

static void add_means(cJSON *object, const struct board_group *group)
{
	static const char *const keys[] = {
		"steps",	 "train_ms",	   "ms_per_step",  "tok_s_derived",
		"last_val_loss", "final_val_loss", "prequant_bpb", "quant_bpb",
		"sliding_bpb",	 "ttt_bpb",	   "final_bpb",	   "eval_s",
		"eval_total_s",	 "artifact_bytes", "code_bytes",   "peak_mem_mib",
	};

	for (size_t i = 0; i < LENGTH(keys); i++)
		json_add_number(object, keys[i], board_mean(group, keys[i]));
}

static cJSON *group_json(const struct board *board, const struct board_group *group, bool with_rows)
{
	cJSON *object = cJSON_CreateObject(), *node;
	const char *unit = board_unit(board, group);

	json_add(object, JCLEAN("group", group->key), JCLEAN("title", group->title),
		 JNUM("rank", group->rank + 1), JTEXT("track", group->track->name),
		 JTEXT("track_from", board->track_from), JTEXT("score", group->score->name),
		 JTEXT("unit", unit), JBOOL("is_baseline", group->is_baseline));
	node = cJSON_AddArrayToObject(object, "seeds");
	board_each_counted (row, board, group)
		if (!row->seed_again)
			json_push_number(node, row->run.seed);
	json_add(object, JNUM("n", group->n_counted), JNUM("n_seeds", group->n_seeds),
		 JNUM("n_rows", group->n_rows),
		 JNUM("n_copies", (double)(group->n_uncounted[BOARD_COPY] +
					   group->n_uncounted[BOARD_SAME_RUN])),
		 JNUM("n_unfinished", group->n_uncounted[BOARD_UNFINISHED]),
		 JNUM("n_no_score", group->n_uncounted[BOARD_NO_SCORE]));
	add_stats(object, unit, &group->stats);
	node = json_add(cJSON_AddObjectToObject(object, "per_seed"),
			JNUM("n", group->seed_stats.n));
	add_stats(node, unit, &group->seed_stats);
	add_means(cJSON_AddObjectToObject(object, "means"), group);
	node = json_add(cJSON_AddObjectToObject(object, "train_time"),
			JNUM("n", group->train_ms.n));
	add_stats(node, "ms", &group->train_ms);
	json_add(object, JNUM("max_train_ms", group->max_train_ms),
		 JNUM("max_eval_s", group->max_eval_s),
		 JNUM("max_artifact_bytes", group->max_artifact_bytes));
	add_caps(cJSON_AddObjectToObject(object, "caps"), "", group->caps);
	add_verdict(object, board, group);
	node = cJSON_AddArrayToObject(object, "notes");
	for (size_t i = 0; i < group->n_notes; i++) {
		AUTO_TEXT clean = utf8_copy(str_from(group->notes[i]), 4096);

		cJSON_AddItemToArray(node, cJSON_CreateString(clean));
	}
	if (!with_rows)
		return object;
	node = cJSON_AddArrayToObject(object, "rows");
	board_each_row (row, board, group)
		cJSON_AddItemToArray(node, board_row_json(board, row));
	return object;
}

static void print_json(FILE *stream, const struct board *board, const struct board_look *look)
{
	AUTO_BUF line = buf_new(64 * JSON_MAX_BYTES);

	board_each_ranked (group, board) {
		AUTO_JSON object = group_json(board, group, !look->summary);

		buf_clear(&line);
		json_print(&line, object);
		(void)fprintf(stream, "%s\n", line.data);
	}
}

static const char csv_columns[] =
	"kind, rank:0, group, file, seed:0, status, use, steps, ms_per_step, "
	"train_ms, prequant_bpb, quant_bpb, sliding_bpb, ttt_bpb, final_bpb, "
	"final_val_loss, value, eval_s, eval_total_s, artifact_bytes, "
	"cap_bytes, cap_train, cap_eval, cap_targets, cap_metric, n:0, n_seeds:0, score, "
	"unit, mean:10, sd_sample:10, sd_population:10, se:10, delta:10, "
	"delta_nats:10, nats_per_unit:10, bar:10, t_a, df_a, p_a, t_b, df_b, "
	"p_b, seeds_needed:0, verdict, note";

/* The numbers of a group that both CSV and the summary have. */
static cJSON *group_row(const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;

	return json_new(JNUM("rank", group->rank + 1), JNUM("n", group->n_counted),
			JNUM("n_seeds", group->n_seeds), JNUM("mean", group->stats.mean),
			JNUM("sd_sample", group->stats.sd_sample),
			JNUM("sd_population", group->stats.sd_population), JNUM("delta", v->delta),
			JNUM("delta_nats", v->delta_nats),
			JTEXT("verdict", v->text[0] ? v->text : NULL));
}

static void print_csv(FILE *stream, const struct board *board, const struct board_look *look)
{
	struct out *out = out_new(stream, OUT_CSV, csv_columns);

	board_each_ranked (group, board) {
		board_each_row (row, board, group) {
			if (look->summary)
				break;
			cJSON *object = board_row_json(board, row);

			json_add(object, JTEXT("kind", "run"), JNUM("rank", group->rank + 1),
				 JCLEAN("group", group->key));
			add_caps(object, "cap_", row->caps);
			json_add(object, JTEXT("score", group->score->name),
				 JTEXT("unit", board_unit(board, group)));
			out_take(out, object);
		}
		/* The means of a group are in the columns of the runs. */
		const struct board_verdict *v = &group->verdict;
		const struct board_test *a = &v->tests[TRACK_TEST_A], *b = &v->tests[TRACK_TEST_B];
		cJSON *means = json_add(group_row(group), JTEXT("kind", "group"),
					JCLEAN("group", group->key));
		add_means(means, group);
		add_caps(means, "cap_", group->caps);
		json_add(means, JTEXT("score", group->score->name),
			 JTEXT("unit", board_unit(board, group)), JNUM("se", group->stats.se),
			 JNUM("nats_per_unit", v->nats_per_unit), JNUM("bar", v->bar),
			 JNUM("t_a", a->t), JNUM("df_a", a->df), JNUM("p_a", a->p),
			 JNUM("t_b", b->t), JNUM("df_b", b->df), JNUM("p_b", b->p),
			 JSOME("seeds_needed", v->seeds_needed));
		out_take(out, means);
	}
	(void)out_free(out);
}

bool board_is_key(const char *key)
{
	static char nowhere[] = "";
	const struct board_row row = { .path = nowhere };
	const struct board board = { .n_rows = 0 };
	const struct stored_run stored = { .pod = "", .path = "" };
	cJSON *rows[] = { board_row_json(&board, &row), board_stored_json(&stored, 0) };
	struct str rest = str_from(csv_columns), column;
	bool is_one = false;

	for (size_t i = 0; i < 2; i++) {
		is_one |= json_get(rows[i], key) != NULL;
		cJSON_Delete(rows[i]);
	}
	while (str_next(&rest, ',', &column))
		is_one |= str_eq_cstr(out_key(column), key);
	return is_one;
}

static const char summary_columns[] =
	"rank=#:0, group, n=runs:0, n_seeds=seeds:0, mean:8, "
	"sd_sample=sample sd:8, sd_population=population sd:8, delta:8, "
	"delta_nats=delta nats:8, p_a=p of A, p_b=p of B, caps, verdict";

/* Four significant digits, so that a small p is not shown as 0. */
static double shown_p(const struct board_test *test)
{
	char text[32];
	double p = RUN_ABSENT;

	print_into(text, "%.4g", test->p);
	(void)str_to_double(str_from(text), &p);
	return p;
}

static cJSON *summary_row(const struct board_group *group)
{
	const struct board_verdict *v = &group->verdict;
	cJSON *row = group_row(group);
	AUTO_BUF caps = buf_new(64);

	if (group->n_counted > 0 && !group->is_values)
		append_caps(&caps, group->caps);
	json_add(row, JCLEAN("group", group->title), JNUM("p_a", shown_p(&v->tests[TRACK_TEST_A])),
		 JNUM("p_b", shown_p(&v->tests[TRACK_TEST_B])),
		 JTEXT("caps", caps.len > 0 ? caps.data : NULL));
	return row;
}

static bool is_used(const struct board *board, struct str column)
{
	struct str name = out_key(column);
	AUTO_TEXT key = xstrndup(name.p, name.len);

	for (size_t i = 0; i < board->n_groups; i++) {
		AUTO_JSON row = summary_row(&board->groups[i]);
		const cJSON *cell = json_get(row, key);

		if (cell != NULL && !cJSON_IsNull(cell))
			return true;
	}
	return false;
}

static void print_summary(FILE *stream, const struct board *board, enum out_format format)
{
	AUTO_BUF used = buf_new(sizeof(summary_columns));
	struct str rest = str_from(summary_columns), column;

	while (str_next(&rest, ',', &column))
		if (is_used(board, column))
			buf_appendf(&used, "%s%.*s", used.len > 0 ? "," : "", (int)column.len,
				    column.p);
	struct out *out = out_new(stream, format, used.data);
	board_each_ranked (group, board)
		out_take(out, summary_row(group));
	(void)out_free(out);
}

void board_print(FILE *stream, const struct board *board, enum out_format format,
		 const struct board_look *look)
{
	if (format == OUT_JSON)
		print_json(stream, board, look);
	else if (format == OUT_CSV)
		print_csv(stream, board, look);
	else if (look->summary)
		print_summary(stream, board, format);
	else
		print_board(stream, board, format == OUT_MD, look);
}
