/* SPDX-License-Identifier: MIT */
/* Shows the leaderboard: groups of runs ranked by their mean; a group unfolds into its seeds. */
#include "base/file.h"
#include "base/log.h"
#include "model/board.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define COMPUTE_EVERY_MS 1000
#define SPREAD_LEAST	 6
#define CURVES_LEAST	 10
#define NAME_COLUMNS	 18
#define VERDICT_BYTES	 (64U << 10)
#define VERDICT_LEAST	 7  /* lines of the verdict box */
#define DETAIL_LEAST	 10 /* columns of the details after a verdict */
/* The axis of scores leaves out groups whose mean differs from the best by more than this. */
#define FAR_BEHIND 0.02

/* One line of the table: a group, or one run of the unfolded group. */
struct board_line {
	size_t group, row; /* indices into the board; row is SIZE_MAX for the group itself */
	size_t parent;	   /* the line of the group */
};

#define BOARD_LIST(X)                                                     \
	X(COLUMN_RANK, "#", 2, 0, FMT_NUMBER, .decimals = 0)              \
	X(COLUMN_RECIPE, "RECIPE / seed", 14, .grow = true, .name = true) \
	X(COLUMN_TARGET, "TARGET AT", 9, 0, FMT_GROUPED, .decimals = 0)   \
	X(COLUMN_N, "n", 2, 0, FMT_NUMBER, .decimals = 0)                 \
	X(COLUMN_SCORE, "MEAN", 9, 0, FMT_NUMBER, .decimals = 5)          \
	X(COLUMN_SD, "±sd", 8, 0, FMT_NUMBER, .decimals = 5)              \
	X(COLUMN_DELTA, "Δref", 9, 2, FMT_SIGNED, .decimals = 5)          \
	X(COLUMN_P, "p", 7, 3, FMT_NUMBER, .decimals = 4)                 \
	X(COLUMN_CAPS, "CAPS", 5, .drop = 0)                              \
	X(COLUMN_MS, "ms/step", 8, 4, FMT_NUMBER, .decimals = 2)          \
	X(COLUMN_STEPS, "STEPS", 6, 5, FMT_STEPS, .decimals = 0)          \
	X(COLUMN_TRAIN, "TRAIN s", 7, 6, FMT_NUMBER, .decimals = 1)       \
	X(COLUMN_EVAL, "EVAL s", 7, 7, FMT_NUMBER, .decimals = 1)         \
	X(COLUMN_SIZE, "BYTES", 11, 8, FMT_GROUPED, .decimals = 0)        \
	X(COLUMN_VERDICT, "VERDICT", 25, .drop = 1, .grow = true, .cut = cut_verdict)

enum board_column { BOARD_LIST(LIST_ID) COLUMN_COUNT };

/* Remove what a verdict can do without, so that the words that decide it stay: "PROVISIONAL: MEETS
 * TARGET at step 9, NOT SHOWN (n=2); 1 run still running" becomes "PROVISIONAL: NOT SHOWN". */
static void cut_verdict(char text[], int width)
{
	/* Each part starts with the first text and ends before a byte of the second. */
	static const char *const parts[][2] = { { " (", ")" },
						{ "; ", "" },
						{ " at step ", ",;" },
						{ " by ", " ;" },
						{ "MEETS TARGET, ", "N" },
						{ "BEATS BAR, ", "N" } };

	for (size_t i = 0; i < LENGTH(parts) && text_width(text) > width;) {
		char *at = strstr(text, parts[i][0]), *end = at;

		if (at == NULL) {
			i++;
			continue;
		}
		end += strlen(parts[i][0]);
		end += strcspn(end, parts[i][1]);
		end += *end == ')';
		/* Details at the end may be cut, unless too little of them would be left. */
		if (end[-1] == ')' && *end == '\0' && width - (at - text) >= DETAIL_LEAST)
			return;
		memmove(at, end, strlen(end) + 1);
	}
}

struct board_view {
	struct list list;
	const struct ui_shared *shared; /* borrowed; set by board_list() */
	struct board board;
	bool has_board;
	uint64_t generation;	 /* of the model when the board was computed */
	unsigned int configured; /* shared->configured when the board was computed */
	int64_t computed_at_ms;
	struct chart_metric asked; /* metric of the charts when the board was computed */
	struct board_line *lines;  /* owned */
	size_t n_lines, cap_lines;
	char *unfolded;	  /* owned; key of the group whose runs are shown */
	uint64_t version; /* changes whenever the board or the unfolded group do */
};

static const struct list_column board_columns[] = { BOARD_LIST(LIST_COLUMN) };

/* Write the group's name: the common folder in the names of its runs, else its title. */
static void group_name(const struct board_view *view, const struct board_group *group,
		       char out[LIST_CELL_BYTES])
{
	(void)snprintf(out, LIST_CELL_BYTES, "%s", group->title);
	board_each_row (row, &view->board, group) {
		const struct model_run *mr = row->mr;
		int len = mr != NULL && mr->name != NULL && strcmp(mr->group, group->key) == 0
				  ? (int)mr->name_folder
				  : 0;

		/* Leave out a folder of the group that only names the seed of the run. */
		if (len > 0 && file_name(mr->path) > mr->path + strlen(group->key) + 1)
			while (len > 0 && mr->name[--len] != '/')
				;
		if (len > 0) {
			(void)snprintf(out, LIST_CELL_BYTES, "%.*s", len, mr->name);
			return;
		}
	}
}

static bool is_unfolded(const struct board_view *view, const struct board_group *group)
{
	return view->unfolded != NULL && strcmp(view->unfolded, group->key) == 0;
}

/* Show one sign per cap of the track: ✓ met, ~ slightly exceeded, ✗ exceeded, · unknown. */
static void caps_cell(const enum board_kept *caps, struct list_cell *cell)
{
	static const char *const marks[] = {
		[CAP_NONE] = "",     [CAP_KEPT] = "✓",	 [CAP_GRACE] = "~",
		[CAP_UNKNOWN] = "·", [CAP_BROKEN] = "✗",
	};
	unsigned int style = STYLE_DONE;
	char text[32] = "";
	size_t n = 0;

	for (size_t i = 0; i < BOARD_CAP_COUNT; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", marks[caps[i]]);
		if (caps[i] == CAP_BROKEN)
			style = STYLE_ALARM;
		else if (caps[i] == CAP_UNKNOWN && style == STYLE_DONE)
			style = STYLE_HINT;
	}
	list_cell_set(cell, style, text);
}

static void verdict_cell(const struct board_group *group, struct list_cell *cell)
{
	static const unsigned int styles[] = {
		[BOARD_WORD_NONE] = STYLE_DIM,	      [BOARD_WORD_BASELINE] = STYLE_REFERENCE,
		[BOARD_WORD_NO_RUNS] = STYLE_DIM,     [BOARD_WORD_INVALID] = STYLE_ALARM,
		[BOARD_WORD_NOT_JUDGED] = STYLE_HINT, [BOARD_WORD_BELOW_BAR] = STYLE_WORSE,
		[BOARD_WORD_NOT_SHOWN] = STYLE_HINT,  [BOARD_WORD_SHOWN] = STYLE_BETTER,
	};

	list_cell_set(cell,
		      group->verdict.is_provisional ? STYLE_HINT : styles[group->verdict.word],
		      group->verdict.text[0] != '\0' ? group->verdict.text : FMT_ABSENT);
}

static void group_cell(const struct board_view *view, size_t line, size_t column,
		       struct list_cell *cell)
{
	const struct board_group *group = &view->board.groups[view->lines[line].group];
	double eval_total_s = board_mean(group, "eval_total_s");
	bool has_mean = group->n_counted > 0 || group->is_values;
	char name[LIST_CELL_BYTES];
	const double numbers[COLUMN_COUNT] = {
		[COLUMN_N] = (double)(group->is_values ? group->stats.n : group->n_counted),
		[COLUMN_SCORE] = has_mean ? group->stats.mean : RUN_ABSENT,
		[COLUMN_SD] = group->stats.sd_sample,
		[COLUMN_DELTA] = group->is_baseline ? RUN_ABSENT : group->verdict.delta,
		[COLUMN_P] = run_has(group->track->target) ? group->verdict.target.p
							   : group->verdict.tests[0].p,
		[COLUMN_MS] = board_mean(group, "ms_per_step"),
		[COLUMN_STEPS] = board_mean(group, "steps"),
		[COLUMN_TRAIN] = board_mean(group, "train_ms") / 1000,
		[COLUMN_EVAL] = run_has(eval_total_s) ? eval_total_s : board_mean(group, "eval_s"),
		[COLUMN_SIZE] = group->max_artifact_bytes,
	};

	if (column == COLUMN_RANK) {
		list_cellf(cell, STYLE_DIM, "%zu", group->rank + 1);
	} else if (column == COLUMN_RECIPE) {
		group_name(view, group, name);
		list_cellf(cell, group->is_baseline ? STYLE_REFERENCE : STYLE_STRONG, "%s%s",
			   group->is_baseline ? "◆ " : "", name);
	} else if (column == COLUMN_TARGET) {
		/* Show the value by which groups that reach the target are ranked. */
		if (group->track->rank_by == TRACK_RANK_TRAIN_S && group->verdict.target.is_shown)
			list_cellf(cell, STYLE_STRONG, "%.1f s", group->train_ms.mean / 1000);
		else
			cell->number = group->steps.is_shown ? group->steps.step : RUN_ABSENT;
	} else if (column == COLUMN_CAPS) {
		caps_cell(group->caps, cell);
	} else if (column == COLUMN_VERDICT) {
		verdict_cell(group, cell);
	} else {
		cell->number = numbers[column];
		/* With four decimals, a small p would look like 0. */
		if (column == COLUMN_P && cell->number < 1e-4)
			list_cellf(cell, STYLE_NORMAL, "%.0e", cell->number);
	}
}

/* Return the run of line i; NULL if the line is a group, or if i is SIZE_MAX. */
static const struct model_run *run_of_line(const struct board_view *view, size_t i)
{
	return i != SIZE_MAX && view->lines[i].row != SIZE_MAX
		       ? view->board.rows[view->lines[i].row]->mr
		       : NULL;
}

static void seed_cell(const struct board_view *view, size_t line, size_t column,
		      struct list_cell *cell)
{
	const struct board_row *row = view->board.rows[view->lines[line].row];
	const struct run *run = &row->run;
	const double numbers[COLUMN_COUNT] = {
		[COLUMN_SCORE] = row->score,	   [COLUMN_MS] = run->ms_per_step,
		[COLUMN_STEPS] = run->steps,	   [COLUMN_TRAIN] = run->train_ms / 1000,
		[COLUMN_EVAL] = model_eval_s(run), [COLUMN_SIZE] = run->artifact_bytes,
	};
	const char *use = row->use != BOARD_COUNTED ? board_use_name(row->use) : "";

	if (column == COLUMN_RANK || column == COLUMN_TARGET || column == COLUMN_N ||
	    column == COLUMN_SD || column == COLUMN_DELTA || column == COLUMN_P)
		cell->is_blank = true;
	else if (column == COLUMN_RECIPE)
		list_cellf(cell, STYLE_NORMAL, " %s seed %s",
			   ui_is_marked(&view->shared->marks, run_of_line(view, line)) ? "+" : " ",
			   fmt_number(run->seed, 0).s);
	else if (column == COLUMN_CAPS)
		caps_cell(row->caps, cell);
	else if (column == COLUMN_VERDICT)
		list_cellf(cell, STYLE_HINT, "%s%s%s", use,
			   use[0] != '\0' && row->note[0] != '\0' ? ": " : "", row->note);
	else if (column == COLUMN_SCORE && run->status == RUN_RUNNING && run_has(row->score))
		list_cellf(cell, STYLE_HINT, "~%.5f", row->score);
	else
		cell->number = numbers[column];
}

static void line_cell(void *user, size_t i, size_t column, struct list_cell *cell)
{
	const struct board_view *view = user;

	if (view->lines[i].row == SIZE_MAX)
		group_cell(view, i, column, cell);
	else
		seed_cell(view, i, column, cell);
}

/* Return the line of the group, so that sorting keeps seeds below their group. */
static size_t line_parent(void *user, size_t i)
{
	return ((const struct board_view *)user)->lines[i].parent;
}

/* Return an id of the line that stays the same when the list is filled again: the run; or without a
 * run, the group's key and the distance from the group's line. */
static uint64_t line_id(void *user, size_t i)
{
	const struct board_view *view = user;
	const struct model_run *mr = run_of_line(view, i);
	const char *key = view->board.groups[view->lines[i].group].key;

	return mr != NULL ? (uintptr_t)mr : str_hash(str_from(key)) + i - line_parent(user, i);
}

static void fill_lines(struct board_view *view)
{
	static const struct list_ops ops = { .columns = board_columns,
					     .n_columns = COLUMN_COUNT,
					     .cell = line_cell,
					     .id = line_id,
					     .parent = line_parent };
	bool has_changed = view->list.version != view->version;

	view->n_lines = has_changed ? 0 : view->n_lines;
	for (size_t i = 0; has_changed && i < view->board.n_groups; i++) {
		size_t g = view->board.rank[i], parent = view->n_lines;
		const struct board_group *group = &view->board.groups[g];

		xpush(view->lines, view->n_lines, view->cap_lines,
		      (struct board_line){ g, SIZE_MAX, parent });
		for (size_t k = 0; is_unfolded(view, group) && k < group->n_rows; k++)
			xpush(view->lines, view->n_lines, view->cap_lines,
			      (struct board_line){ g, group->rows[k], parent });
	}
	view->list.version = view->version;
	list_fill(&view->list, &ops, view, view->n_lines);
}

static const char *unit_of(const struct board *board, const struct board_group *group)
{
	const char *unit = board_unit(board, group);

	return strcmp(unit, "value") == 0 ? group->score->name
	       : strcmp(unit, "bpb") == 0 ? "BPB"
					  : unit;
}

/* Explain a group's verdict: counts, mean, bar, and how many seeds are missing. */
static void describe_verdict(const struct board *board, const struct board_group *group,
			     struct buf *out)
{
	const struct board_verdict *v = &group->verdict;

	buf_appendf(out, "%s · ", group->title);
	if (group->n_counted == 0) {
		buf_append_str(out, "no run counted: ");
		board_list_uncounted(group, out);
		buf_append_char(out, '\n');
		return;
	}
	buf_appendf(out, "runs counted: %zu · seeds: %zu · mean %s %s · sample sd %s\n",
		    group->n_counted, group->n_seeds, fmt_number(group->stats.mean, 5).s,
		    unit_of(board, group), fmt_number(group->stats.sd_sample, 5).s);
	if (group->n_counted < group->n_rows) {
		buf_append_str(out, "not counted: ");
		board_list_uncounted(group, out);
		buf_append_char(out, '\n');
	}
	if (run_has(v->bar) && run_has(v->mean_needed))
		buf_appendf(out, "bar %s %s: a mean of %s would pass\n", fmt_number(v->bar, 5).s,
			    unit_of(board, group), fmt_number(v->mean_needed, 5).s);
	else if (run_has(v->bar))
		buf_appendf(out, "bar %s %s: the mean must be %s it\n", fmt_number(v->bar, 5).s,
			    unit_of(board, group), group->higher ? "above" : "below");
	else if (board->baseline == 0)
		buf_append_str(out, "no baseline: press R to compare the other groups with this "
				    "one\n");
	if (run_has(v->delta)) {
		buf_appendf(out, "gap %s %s", fmt_signed(v->delta, 5).s, unit_of(board, group));
		if (v->nats_per_unit != 1 && run_has(v->delta_nats))
			buf_appendf(out, " (%s nats)", fmt_signed(v->delta_nats, 5).s);
		buf_append_char(out, '\n');
	}
	if (v->seeds_needed > 0 && v->word != BOARD_WORD_SHOWN)
		buf_appendf(out, "would pass with %u seeds, or with a mean of %s\n",
			    v->seeds_needed, fmt_number(v->mean_needed, 5).s);
	if (v->seeds_planned > 0)
		buf_appendf(out,
			    "with power %.0f %%: %u seeds in total, if mean and spread stay the "
			    "same",
			    100 * BOARD_POWER, v->seeds_planned);
	if (run_has(v->usd_more))
		buf_appendf(out, "; about $%.2f more ($%.2f per seed)", v->usd_more, v->usd_seed);
	buf_append_str(out, v->seeds_planned > 0 ? "\n" : "");
	for (size_t i = 0; i < group->n_notes; i++)
		buf_appendf(out, "%s\n", group->notes[i]);
}

static void draw_verdict(const struct board_group *group, struct str text, struct canvas *canvas,
			 struct rect r)
{
	struct rect last = { r.x, r.y + r.h - 1, r.w, 1 };
	AUTO_BUF caps = buf_new(256);

	if (group->verdict.text[0] != '\0')
		canvas_print_top(canvas, &r, STYLE_STRONG, "%s", group->verdict.text);
	int lines = canvas_wrap(canvas, r, STYLE_NORMAL, text, 0);
	if (lines > r.h && r.h > 0)
		canvas_line_right(canvas, last, STYLE_HINT, str_from(" … more"));
	track_list_caps(group->track, &caps);
	/* List the caps in the order of the signs in the column CAPS. */
	if (lines < r.h && caps.len > 0)
		canvas_print(canvas, last, STYLE_DIM,
			     "CAPS %s: ✓ met ~ just over ✗ exceeded · unknown", caps.data);
}

/* Is the group on the axis of scores of the selected group? Both must have the same score. */
static bool is_on_axis(const struct board_group *group, const struct board_group *selected)
{
	return run_has(group->stats.mean) && (group->n_counted > 0 || group->is_values) &&
	       strcmp(group->score->name, selected->score->name) == 0;
}

static bool is_far(const struct board_group *group, double best)
{
	return fabs(group->stats.mean - best) > fabs(best) * FAR_BEHIND;
}

static bool row_counts(const struct board_group *group, const struct board_row *row)
{
	return run_has(row->score) && (group->is_values || row->use == BOARD_COUNTED);
}

/* Extend the axis to contain the groups near the best. Returns the best mean. */
static double spread_find_range(const struct board *board, const struct board_group *selected,
				struct scale *scale)
{
	double best = RUN_ABSENT;

	array_each (group, board->groups, board->n_groups)
		if (is_on_axis(group, selected))
			best = selected->higher ? fmax(best, group->stats.mean)
						: fmin(best, group->stats.mean);
	array_each (group, board->groups, board->n_groups) {
		if (!is_on_axis(group, selected) || is_far(group, best))
			continue;
		scale_widen(scale, group->stats.mean);
		for (size_t k = 0; k < group->n_rows; k++)
			if (row_counts(group, board->rows[group->rows[k]]))
				scale_widen(scale, board->rows[group->rows[k]]->score);
	}
	return best;
}

static void spread_draw_group(const struct board *board, const struct board_group *group,
			      double best, struct strip *strip)
{
	/* A group that exceeds a cap does not count, whatever its scores. */
	bool broken = any_of(i, BOARD_CAP_COUNT, group->caps[i] == CAP_BROKEN);
	unsigned int style = broken		  ? STYLE_ALARM
			     : group->is_baseline ? STYLE_REFERENCE
						  : STYLE_SERIES_1;
	struct fmt mean = fmt_number(group->stats.mean, 5);
	char text[FMT_SIZE + 8];

	if (is_far(group, best) && group->higher) {
		canvas_print(strip->canvas, strip->line, STYLE_DIM, "← %s", mean.s);
		return;
	}
	if (is_far(group, best)) {
		print_into(text, "%s →", mean.s);
		canvas_line_right(strip->canvas, strip->line, STYLE_DIM, str_from(text));
		return;
	}
	strip_put(strip, group->stats.mean, style, 0x2502);
	for (size_t k = 0; k < group->n_rows; k++) {
		const struct board_row *row = board->rows[group->rows[k]];

		if (row_counts(group, row) && broken)
			strip_put(strip, row->score, style, 0x2717);
		else if (row_counts(group, row))
			strip_dot(strip, row->score, style);
	}
}

/* Draw the scores of all seeds on one axis, one line per group. For a group far from the best,
 * write only the mean, because its points would compress the rest. */
static void draw_spread(const struct board_view *view, size_t selected, struct canvas *canvas,
			struct rect r)
{
	const struct board *board = &view->board;
	const struct board_group *shown = &board->groups[selected];
	struct strip strip = { .canvas = canvas };
	char name[LIST_CELL_BYTES];

	strip.rest = canvas_box(canvas, r,
				"Scores (%s) · • seed  ✗ exceeds a cap  │ mean · %s is better",
				unit_of(board, shown), shown->higher ? "right" : "left");
	strip.label = int_max(NAME_COLUMNS, strip.rest.w / 5);
	if (strip.rest.w - strip.label < 10)
		return;
	strip_axis(&strip, strip.rest.w - strip.label);
	double best = spread_find_range(board, shown, &strip.axis);
	if (!(strip.axis.hi > strip.axis.lo))
		strip_pad(&strip);
	for (size_t i = 0; i < board->n_groups && strip.rest.h > 1; i++) {
		size_t g = board->rank[i];
		const struct board_group *group = &board->groups[g];

		if (!is_on_axis(group, shown))
			continue;
		group_name(view, group, name);
		list_cut_name(&view->list, name, strip.label - 1);
		(void)strip_begin(&strip, g == selected ? STYLE_STRONG : STYLE_HINT, name);
		spread_draw_group(board, group, best, &strip);
	}
	if (strip_rule(&strip, "")) {
		strip_tick(&strip, strip.axis.lo, 5);
		strip_tick(&strip, strip.axis.hi, 5);
	}
}

/* Return what ranks a run without the track's score: a loss, an own series, or else BPB. */
static struct chart_metric score_metric(const struct run *run)
{
	const struct run_series *own = plot_own_loss(run);
	struct chart_metric metric = { PLOT_BPB, "" };

	if (run_has(run->last_val_loss)) {
		metric.id = PLOT_VAL_LOSS;
	} else if (run_has(run->last_train_loss)) {
		metric.id = PLOT_LOSS;
	} else if (own != NULL) {
		metric.id = PLOT_OWN;
		memcpy(metric.own, own->name, sizeof(metric.own));
	}
	return metric;
}

static bool is_score(const struct chart_metric *metric)
{
	return metric->id == PLOT_BPB || metric->id == PLOT_LOSS || metric->id == PLOT_VAL_LOSS ||
	       metric->id == PLOT_OWN;
}

/* Return the metric to rank by; NULL is the track's score. If the charts' metric is a loss or a
 * run's own series, rank by that. If no run reports BPB or training time, rank by a loss. */
static const char *ranking_metric(const struct ui_shared *shared, struct chart_metric *metric)
{
	const struct model *model = shared->model;

	*metric = shared->chart.metric;
	if (!is_score(metric))
		metric->id = PLOT_BPB;
	for (size_t i = 0; metric->id == PLOT_BPB && i < model->n_runs; i++)
		if (run_has(model->runs[i]->run.train_ms) ||
		    run_has(model->runs[i]->run.last_val_bpb))
			return NULL;
	for (size_t i = 0; metric->id == PLOT_BPB && i < model->n_runs; i++)
		*metric = score_metric(&model->runs[i]->run);
	return metric->id == PLOT_OWN	     ? metric->own
	       : metric->id == PLOT_LOSS     ? "train_loss"
	       : metric->id == PLOT_VAL_LOSS ? "val_loss"
					     : NULL;
}

static void build_board(struct board_view *view, const struct ui_shared *shared)
{
	struct chart_metric by;
	const char *metric;
	const struct model *model = shared->model;
	const struct ui_baseline *baseline = shared->baseline;
	struct err err = { ERR_NONE, "" };
	AUTO_TEXT against = NULL;

	if (view->has_board)
		board_release(&view->board);
	board_init(&view->board, ui_caps(shared, NULL));
	view->has_board = true;
	view->asked = shared->chart.metric;
	metric = ranking_metric(shared, &by);
	if (metric != NULL) {
		board_choose_metric(&view->board, metric);
		view->board.higher = board_is_higher_better(metric);
	}
	pointer_each (mr, model->runs, model->n_runs) {
		if (mr->blank || !ui_shows_run(shared, mr))
			continue;
		AUTO_TEXT key = ui_group_of(shared, mr);
		struct board_row *row = board_add_live(&view->board, mr, key);
		if (row != NULL && mr->pod < model->n_pods)
			board_row_price(row, model->pods[mr->pod].usd_per_hour);
	}
	if (baseline != NULL && baseline->n_bpb > 0) {
		board_add_values(&view->board, baseline->name, baseline->bpb, baseline->n_bpb);
		view->board.nats_per_bpb = baseline->nats_per_bpb;
		against = xstrdup(baseline->name);
	}
	/* A reference set by key overrides the configured baseline. */
	if (shared->reference != NULL)
		xset_text(&against, ui_group_of(shared, shared->reference));
	/* Without a group of that name, no group gets a verdict. */
	if (against != NULL && board_set_baseline(&view->board, against, &err))
		log_debug("board", "%s", err.text);
	board_compute(&view->board);
	view->version++;
	view->generation = model->generation;
	view->configured = shared->configured;
	view->computed_at_ms = shared->now_mono_ms;
}

/* Recompute the board if the model has changed, at most once per second. */
static struct list *board_list(void *state, struct ui_shared *shared)
{
	struct board_view *view = state;
	int64_t age_ms = shared->now_mono_ms - view->computed_at_ms;

	view->shared = shared;
	if (!view->has_board || view->configured != shared->configured ||
	    !plot_is_metric(&view->asked, &shared->chart.metric) ||
	    (view->generation != shared->model->generation && age_ms >= COMPUTE_EVERY_MS))
		build_board(view, shared);
	fill_lines(view);
	return &view->list;
}

/* Draw the box of the table; its title names the metric that ranks, or the track. */
static struct rect board_box(const struct board_view *view, const struct ui_shared *shared,
			     struct canvas *canvas, struct rect r)
{
	const char *by = view->board.chosen_name;
	const char *hint = shared->baseline == NULL && shared->reference == NULL
				   ? " · R sets the reference"
				   : "";

	if (by != NULL)
		return canvas_box(canvas, r, "Board · by %s, %s is better%s", by,
				  view->board.higher ? "higher" : "lower", hint);
	if (shared->track == NULL)
		return canvas_box(canvas, r, "Board%s", hint);
	const struct track *track =
		view->board.n_groups > 0 ? view->board.groups[0].track : shared->track;
	bool is_mixed = any_of(i, view->board.n_groups, view->board.groups[i].track != track);
	return canvas_box(canvas, r, "Board · track%s %.60s%s", is_mixed ? "s" : "",
			  is_mixed ? "by the logs" : track->name, hint);
}

static size_t selected_group(const struct board_view *view)
{
	size_t line = list_row(&view->list);

	return line != SIZE_MAX ? view->lines[line].group : SIZE_MAX;
}

static void board_draw(void *state, struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	struct board_view *view = state;
	int details = 0, spread = 0, height, over;
	AUTO_BUF text = buf_new(VERDICT_BYTES);

	(void)board_list(view, shared);
	if (view->n_lines == 0) {
		panel_empty(canvas, r,
			    "No runs to rank yet.\n"
			    "Finished runs in one folder count as seeds of one recipe.");
		return;
	}
	size_t group = selected_group(view);
	const struct board_group *shown = group != SIZE_MAX ? &view->board.groups[group] : NULL;
	if (shown != NULL) {
		const struct rect inside = { .w = r.w - 4 };

		describe_verdict(&view->board, shown, &text);
		text.len -= text.len > 0; /* the last newline */
		/* Use as many lines as the text needs, but at most a quarter of the screen. */
		details = canvas_wrap(NULL, inside, STYLE_NORMAL, buf_str(&text), 0) + 2 +
			  (shown->verdict.text[0] != '\0');
	}
	details = r.h >= 16 ? int_max(int_min(details, r.h / 4), VERDICT_LEAST) : 0;
	/* Use the lines that the table does not need for the axis of scores. */
	height = r.h - details;
	over = height - (int)view->n_lines - 3;
	if (over >= SPREAD_LEAST && shown != NULL) {
		height -= over;
		for (size_t i = 0; i < view->board.n_groups; i++)
			spread += is_on_axis(&view->board.groups[i], shown);
		/* Count one line per group, the axis and the frame. */
		spread = spread > 0 ? int_min(spread + 3, over) : 0;
	}
	struct rect table = rect_take_top(&r, height);
	if (spread > 0 && shown != NULL)
		draw_spread(view, group, canvas, rect_take_top(&r, spread));
	list_draw(&view->list, canvas, board_box(view, shared, canvas, table));
	if (shown != NULL && r.h - details >= CURVES_LEAST) {
		struct plot_request request = { .metric = shared->chart.metric, .legend = true };

		request.rect = rect_take_top(&r, r.h - details);
		for (size_t k = 0; k < shown->n_rows && request.n_runs < UI_MAX_MARKS; k++) {
			request.runs[request.n_runs] = view->board.rows[shown->rows[k]]->mr;
			request.n_runs += request.runs[request.n_runs] != NULL;
		}
		if (request.n_runs > 0)
			plot_draw(&request, shared, canvas);
	}
	if (details > 0 && shown != NULL)
		draw_verdict(shown, buf_str(&text), canvas, canvas_box(canvas, r, "Verdict"));
}

static const struct model_run *selected_run(const struct board_view *view)
{
	return run_of_line(view, list_row(&view->list));
}

/* Mark all runs of the group, or unmark them if all are marked. */
static void mark_group(const struct board_view *view, struct ui_shared *shared)
{
	const struct board_group *group = &view->board.groups[selected_group(view)];
	size_t before = shared->marks.n;

	for (int pass = 0; pass < 2 && shared->marks.n == before; pass++)
		board_each_row (row, &view->board, group)
			if (row->mr != NULL && ui_is_marked(&shared->marks, row->mr) == (pass == 1))
				ui_toggle_mark(shared, &shared->marks, row->mr, UI_MAX_MARKS);
	ui_show_message(shared, "%zu runs marked", shared->marks.n);
}

/* On a seed, open its run; on a group, fold or unfold it. */
static void open_line(struct board_view *view, struct ui_shared *shared)
{
	const struct model_run *mr = selected_run(view);
	const struct board_group *group = &view->board.groups[selected_group(view)];
	bool was_unfolded = is_unfolded(view, group);

	if (mr != NULL) {
		shared->selected = mr;
		shared->go = ACTION_VIEW_RUN;
		return;
	}
	xset_text(&view->unfolded, was_unfolded ? NULL : xstrdup(group->key));
	view->version++;
	fill_lines(view);
}

/* Make the group's first run the reference (and the group the baseline), or clear it. */
static void set_reference(const struct board_view *view, struct ui_shared *shared)
{
	const struct board_group *group = &view->board.groups[selected_group(view)];
	const struct model_run *mr = board_row_at(&view->board, group, 0)->mr;

	if (mr == NULL) {
		ui_show_message(shared, "this group has scores but no runs, so it cannot be the "
					"reference");
		return;
	}
	shared->reference = shared->reference == mr ? NULL : mr;
	shared->configured++;
}

static void board_moved(void *state, struct ui_shared *shared)
{
	const struct model_run *mr = selected_run(state);

	if (mr != NULL)
		shared->selected = mr;
}

static bool board_act(void *state, struct ui_shared *shared, enum action action,
		      UNUSED struct command *out)
{
	struct board_view *view = state;

	if (selected_group(view) == SIZE_MAX)
		return false;
	if (action == ACTION_OPEN || action == ACTION_RIGHT)
		open_line(view, shared);
	else if (action == ACTION_REFERENCE)
		set_reference(view, shared);
	else if (action == ACTION_MARK && selected_run(view) == NULL)
		mark_group(view, shared);
	else if (action == ACTION_METRIC_NEXT || action == ACTION_METRIC_PREV)
		/* Go to the charts' next metric by which runs can be ranked. */
		for (size_t i = 0; i < PLOT_CHOICES; i++) {
			(void)ui_chart_act(shared, action);
			if (is_score(&shared->chart.metric))
				break;
		}
	else
		return false;
	return true;
}

static void board_view_release(void *state)
{
	struct board_view *view = state;

	if (view->has_board)
		board_release(&view->board);
	free(view->lines);
	free(view->unfolded);
}

const struct view_ops view_board = {
	.name = "Board",
	.open = ACTION_VIEW_BOARD,
	.state_size = sizeof(struct board_view),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_RUNS | MODEL_SAMPLES,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_MARK, ACTION_REFERENCE,
					ACTION_METRIC_NEXT, ACTION_BASELINE, ACTION_ONLY_MARKED,
					ACTION_NONE },
	.draw = board_draw,
	.act = board_act,
	.list = board_list,
	.moved = board_moved,
	.release = board_view_release,
};
