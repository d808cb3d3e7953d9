/* SPDX-License-Identifier: MIT */
/* The view of HarnessGym runs: their iterations, and which scores are verified. */
#include "model/harness_view.h"
#include "report/harness_words.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define MIN_CHART_HEIGHT 7
#define LABEL_WIDTH	 15
#define WORDS_MAX	 65536U
#define TO_TOP		 (1 << 30) /* more lines than any text has */
#define MAX_TEXTS	 16

/* The part of the view that receives the keys. */
enum focus { FOCUS_RUNS, FOCUS_ITERATIONS, FOCUS_TEXT };

/* The selected workspace or comparison, run and iteration. */
struct harness_pick {
	const struct harness_place *place;  /* NULL: nothing is listed */
	const struct harness_run *run;	    /* NULL: a comparison, or no run yet */
	const struct harness_iteration *it; /* NULL: none yet */
};

/* What the panel right of the chart shows. There is one value per text from DETAIL_TEXTS on. */
enum harness_detail {
	DETAIL_CASES,
	DETAIL_WORDS, /* the facts and the iteration as text, which is not cut off */
	DETAIL_CALLS,
	DETAIL_ARTIFACTS,
	DETAIL_TEXTS, /* + index in harness_view_texts() */
};

struct harness {
	struct list runs, iterations;
	enum focus focus;
	unsigned int detail; /* enum harness_detail + index of a text */
	int up;		     /* number of lines between the visible part and the end of a text */
	enum harness_x x;    /* x axis of the chart */
	size_t of_run;	     /* 1 + row of the run whose iterations are shown; 0: none yet */
	size_t followed;     /* iteration that was selected automatically */
	struct harness_pick pick; /* borrowed; set by harness_list() */
	const struct harness_view *view;
};

#define RUN_LIST(X)                                                \
	X(RUN_NAME, "RUN", 24, .grow = true, .name = true)         \
	X(RUN_STATE, "STATE", 24, .drop = 0, .grow = true)         \
	X(RUN_BEST, "VERIFIED", 11, 0, FMT_DIGITS, .decimals = 10) \
	X(RUN_GAIN, "vs. base", 9, 1, FMT_NUMBER, .decimals = 0)   \
	X(RUN_DOUBT, "? unverified", 13, 2, FMT_NUMBER, .decimals = 0)

enum run_column { RUN_LIST(LIST_ID) RUN_COLUMNS };

static const struct list_column run_columns[] = { RUN_LIST(LIST_COLUMN) };

#define IT_LIST(X)                                                 \
	X(IT_NUMBER, "IT", 3, 0, FMT_NUMBER, .decimals = 0)        \
	X(IT_ATTEMPT, "ATTEMPT", 16, .drop = 0)                    \
	X(IT_TOOLS, "TOOLS", 5, 3, FMT_DIGITS, .decimals = 10)     \
	X(IT_CALLS, "CALLS", 10, 2, FMT_NUMBER, .decimals = 0)     \
	X(IT_SCORE, "VERIFIED", 11, 0, FMT_DIGITS, .decimals = 10) \
	X(IT_BASE, "vs. base", 8, 0, FMT_NUMBER, .decimals = 0)    \
	X(IT_BEST, "vs. best", 8, 1, FMT_NUMBER, .decimals = 0)    \
	X(IT_RESULT, "RESULT", 24, .grow = true)                   \
	X(IT_QUALIFIED, "QUALIFIED", 18, .drop = 4, .grow = true)  \
	X(IT_NOTE, "NOTES", 12, .drop = 5, .grow = true)

enum iteration_column { IT_LIST(LIST_ID) IT_COLUMNS };

static const struct list_column iteration_columns[] = { IT_LIST(LIST_COLUMN) };

/* Return how many rows a place has in the list: one per run, or one if it has no runs. */
static size_t count_rows(const struct harness_place *place)
{
	if (!place->read || place->is_compare || place->ws.n_runs == 0)
		return 1;
	return place->ws.n_runs;
}

/* Find the place and run of a row. The runs of a place are listed newest first. */
static struct harness_pick pick_row(const struct harness_view *view, size_t row)
{
	struct harness_pick pick = { NULL, NULL, NULL };

	for (size_t i = 0; view != NULL && i < view->n; i++) {
		const struct harness_place *place = &view->places[i];
		size_t n = count_rows(place);

		if (row >= n) {
			row -= n;
			continue;
		}
		pick.place = place;
		if (place->read && !place->is_compare && place->ws.n_runs > 0)
			pick.run = &place->ws.runs[n - 1 - row];
		break;
	}
	return pick;
}

static void state_cell(const struct harness_pick *pick, struct list_cell *cell)
{
	static const unsigned int styles[] = {
		[HARNESS_STATE_FINISHED] = STYLE_DONE,
		[HARNESS_STATE_RUNNING] = STYLE_LIVE,
		[HARNESS_STATE_STALE] = STYLE_SILENT,
		[HARNESS_STATE_ABORTED] = STYLE_ALARM,
	};
	const struct harness_run *run = pick->run;
	AUTO_BUF age = buf_new(LIST_CELL_BYTES);
	AUTO_BUF state = buf_new(LIST_CELL_BYTES);

	harness_add_age(&age, pick->place->age_ms);
	if (pick->place->read && pick->place->is_compare)
		harness_add_compare_state(&state, &pick->place->compare);
	if (pick->place->why[0] != '\0' && pick->place->read)
		list_cellf(cell, STYLE_DIM, "%s: %s", age.data, pick->place->why);
	else if (pick->place->why[0] != '\0')
		list_cellf(cell, STYLE_WARN, "%s", pick->place->why);
	else if (!pick->place->read)
		list_cellf(cell, STYLE_HINT, "loading");
	else if (run == NULL)
		list_cellf(cell,
			   pick->place->compare.process == HARNESS_NO ? STYLE_ALARM : STYLE_NORMAL,
			   "%s", state.data);
	else if (run->has_summary)
		list_cellf(cell, STYLE_DONE, "finished: %.40s",
			   run->final_status != NULL ? run->final_status : FMT_ABSENT);
	else
		list_cellf(cell, styles[run->life.state], "%s, %s %u",
			   harness_state_names[run->life.state],
			   run->life.phase != NULL ? run->life.phase : "",
			   (unsigned int)run->n_iterations);
}

static void gain_cell(struct harness_number gain, struct list_cell *cell)
{
	char text[HARNESS_PCT_SIZE];

	cell->style = STYLE_DIM;
	if (!gain.present)
		return;
	cell->number = gain.value;
	list_cellf(cell, gain.value < 0 ? STYLE_WORSE : STYLE_BETTER, "%s",
		   harness_pct(gain.value, true, text));
}

static void score_cell(struct harness_number score, unsigned int style, struct list_cell *cell)
{
	cell->number = score.present ? score.value : (double)NAN;
	cell->style = score.present ? style : STYLE_DIM;
}

static void run_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct harness *h = user;
	struct harness_pick pick = pick_row(h->view, row);
	struct harness_run none = { .dir = NULL };
	const struct harness_run *run = pick.run != NULL ? pick.run : &none;

	if (column == RUN_NAME) {
		list_cellf(cell, STYLE_NORMAL, "%s%s%s%s", pick.run != NULL ? pick.run->id : "",
			   pick.run != NULL ? "  " : "", pick.place->title,
			   pick.place->is_compare ? "  (comparison)" : "");
	} else if (column == RUN_STATE) {
		state_cell(&pick, cell);
	} else if (column == RUN_BEST) {
		score_cell((struct harness_number){ run->best.present, run->best.value },
			   STYLE_STRONG, cell);
	} else if (column == RUN_GAIN) {
		gain_cell(run->baseline_pct, cell);
	} else if (column == RUN_DOUBT) {
		cell->is_blank = true;
		if (!run->best_unverified.present)
			return;
		cell->number = run->best_unverified.value;
		list_cellf(cell, STYLE_WARN, "? %s", fmt_value(FMT_DIGITS, cell->number, 10).s);
	}
}

static void add_words(struct buf *out, enum iteration_column column, const struct harness_run *run,
		      const struct harness_iteration *it)
{
	if (column == IT_ATTEMPT)
		harness_add_attempt(out, run, it);
	else if (column == IT_CALLS)
		harness_add_calls(out, it);
	else if (column == IT_RESULT)
		harness_add_result(out, run, it);
	else if (column == IT_QUALIFIED)
		harness_add_qualification(out, it);
	else if (it->note != NULL)
		buf_append_str(out, it->note);
}

static void iteration_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct harness *h = user;
	const struct harness_run *run = h->pick.run;
	const struct harness_iteration *it = &run->iterations[row];
	unsigned int style = column == IT_NOTE ? STYLE_DIM : STYLE_NORMAL;
	AUTO_BUF text = buf_new(LIST_CELL_BYTES);

	if (column == IT_NUMBER) {
		list_cellf(cell, STYLE_DIM, "%u", it->number);
	} else if (column == IT_TOOLS) {
		score_cell(it->active_tools, STYLE_NORMAL, cell);
	} else if (column == IT_SCORE) {
		score_cell(it->verified_score,
			   run->best.iteration == it->number ? STYLE_BETTER : STYLE_NORMAL, cell);
	} else if (column == IT_BASE) {
		gain_cell(it->baseline_pct, cell);
	} else if (column == IT_BEST) {
		gain_cell(it->previous_pct, cell);
	} else {
		add_words(&text, (enum iteration_column)column, run, it);
		if (column == IT_RESULT && (!it->verified_score.present || it->mark != NULL))
			style = it->invalid_score.present ? STYLE_ALARM : STYLE_WARN;
		if (column == IT_QUALIFIED && it->qualification.quarantined.n > 0)
			style = STYLE_ALARM;
		list_cellf(cell, style, "%s",
			   text.len > 0 || column == IT_NOTE ? text.data : FMT_ABSENT);
	}
}

static const struct list_ops run_ops = { .columns = run_columns,
					 .n_columns = LENGTH(run_columns),
					 .cell = run_cell };

static const struct list_ops iteration_ops = {
	.columns = iteration_columns,
	.n_columns = LENGTH(iteration_columns),
	.cell = iteration_cell,
};

/* Select the run's current iteration, or its best at the end, unless the user chose another. */
static void follow_iterations(struct harness *h)
{
	const struct harness_run *run = h->pick.run;
	size_t shown = list_row(&h->runs) + 1;

	if (h->of_run == shown && h->followed < h->iterations.all &&
	    list_row(&h->iterations) != h->followed)
		return;
	h->of_run = shown;
	h->followed = 0;
	if (h->iterations.all == 0)
		return;
	h->followed = run->n_iterations - 1;
	for (size_t i = 0; run->has_summary && i < run->n_iterations; i++)
		if (run->best.present && run->iterations[i].number == run->best.iteration) {
			h->followed = i;
			break;
		}
	list_select(&h->iterations, h->followed);
}

static size_t find_texts(const struct harness_pick *pick, struct harness_text texts[MAX_TEXTS])
{
	return pick->it != NULL ? harness_view_texts(pick->place, pick->run, pick->it->number,
						     texts, MAX_TEXTS)
				: 0;
}

static unsigned int detail_count(const struct harness_pick *pick)
{
	struct harness_text texts[MAX_TEXTS];

	return DETAIL_TEXTS + (unsigned int)find_texts(pick, texts);
}

/* Fill both lists, and return the one that has the focus; NULL if a text has the focus. */
static struct list *harness_list(void *state, struct ui_shared *shared)
{
	struct harness *h = state;
	size_t rows = 0;

	h->view = shared->model->harness;
	for (size_t i = 0; h->view != NULL && i < h->view->n; i++)
		rows += count_rows(&h->view->places[i]);
	list_fill(&h->runs, &run_ops, h, rows);
	h->pick = pick_row(h->view, list_row(&h->runs));
	list_fill(&h->iterations, &iteration_ops, h,
		  h->pick.run != NULL ? h->pick.run->n_iterations : 0);
	follow_iterations(h);
	if (list_row(&h->iterations) != SIZE_MAX)
		h->pick.it = &h->pick.run->iterations[list_row(&h->iterations)];
	if (h->pick.run != NULL && h->detail >= detail_count(&h->pick))
		h->detail = DETAIL_CASES;
	return h->focus == FOCUS_RUNS	      ? &h->runs
	       : h->focus == FOCUS_ITERATIONS ? &h->iterations
					      : NULL;
}

static void add_facts(struct facts *facts, const struct harness_pick *pick)
{
	AUTO_BUF age = buf_new(WORDS_MAX);

	if (pick->place->why[0] != '\0') {
		harness_add_age(&age, pick->place->age_ms);
		buf_append_str(&age, ": ");
	}
	harness_facts(facts, &pick->place->ws, pick->run, age.len > 0 ? age.data : NULL);
}

static bool is_filled(const struct harness_point *point)
{
	return point->kind == HARNESS_POINT_BASELINE || point->kind == HARNESS_POINT_VERIFIED;
}

/* Find the y range: the range of the filled (verified) points, extended by hollow points that are
 * at most as far away as the range is wide. So a failed score of 10^18 does not flatten the rest.
 * Without filled points, the range contains all points. */
static struct scale find_range(const struct harness_point *points, size_t n)
{
	struct scale filled = { 0, 0, (double)NAN, (double)NAN }, range;

	for (size_t i = 0; i < n; i++)
		if (is_filled(&points[i]))
			scale_widen(&filled, points[i].value);
	double span = filled.hi > filled.lo ? filled.hi - filled.lo : fabs(filled.hi) / 10;
	range = filled;
	for (size_t i = 0; i < n; i++)
		if (!(points[i].value < filled.lo - span || points[i].value > filled.hi + span))
			scale_widen(&range, points[i].value);
	return range;
}

static void score_x_text(int by, double x, double apart, char *out, size_t size)
{
	if (by == HARNESS_X_WALL)
		(void)snprintf(out, size, "%.*fm", apart < 1, x);
	else if (by == HARNESS_X_COST)
		(void)snprintf(out, size, "$%.2f", x);
	else if (x > 0 && x == floor(x))
		(void)snprintf(out, size, "%.0f", x);
	else
		(void)snprintf(out, size, x > 0 ? "" : "base");
}

/* Make a stepped line of the best verified score up to each x; returns its number of points. */
static size_t find_best_line(const struct harness_point *points, size_t n, enum harness_x by,
			     bool higher, double *x, double *y)
{
	size_t k = 0;

	array_each (p, points, n) {
		if (!is_filled(p) ||
		    (k > 0 && !(higher ? p->value > y[k - 1] : p->value < y[k - 1])))
			continue;
		if (k > 0) {
			x[k] = p->x[by];
			y[k] = y[k - 1];
			k++;
		}
		x[k] = p->x[by];
		y[k++] = p->value;
	}
	return k;
}

/* Draw scores by iteration, time or cost: verified ones filled, others hollow. */
static void draw_chart(struct canvas *canvas, struct rect r, const struct harness_run *run,
		       enum harness_x by, enum chart_charset charset)
{
	static const char *const names[] = { "iteration", "wall time", "agent cost" };
	static const unsigned int styles[] = {
		[HARNESS_POINT_BASELINE] = STYLE_REFERENCE, [HARNESS_POINT_VERIFIED] = STYLE_BETTER,
		[HARNESS_POINT_INVALID] = STYLE_ALARM,	    [HARNESS_POINT_CLAIMED] = STYLE_WARN,
		[HARNESS_POINT_SESSION] = STYLE_DIM,
	};
	struct harness_point points[HARNESS_MAX_ITERATIONS];
	struct chart_series series[HARNESS_MAX_ITERATIONS + 1];
	double x[2 * HARNESS_MAX_ITERATIONS + 1], y[2 * HARNESS_MAX_ITERATIONS + 1];
	size_t all = harness_view_points(run, points, HARNESS_MAX_ITERATIONS), n = 0, off = 0;
	double last = by == HARNESS_X_ITERATION && run->n_iterations > 0
			      ? run->iterations[run->n_iterations - 1].number
			      : 0;
	struct chart chart;

	for (size_t i = 0; i < all; i++)
		if (isfinite(points[i].x[by]))
			points[n++] = points[i];
	for (size_t i = 0; i < n; i++)
		last = fmax(last, points[i].x[by]);
	/* If only the start has a time or cost, there is nothing to draw over it. */
	if (last <= 0 && by != HARNESS_X_ITERATION)
		n = 0;
	struct scale range = find_range(points, n);
	size_t k = find_best_line(points, n, by, run->higher_is_better == HARNESS_YES, x, y);
	x[k] = last;
	y[k] = k > 0 ? y[k - 1] : RUN_ABSENT;
	series[0] = (struct chart_series){
		.x = x, .y = y, .n = k + 1, .style = STYLE_AXIS, .line = CHART_DASHED
	};
	chart_init(&chart, canvas_box(canvas, r, "%s", ""));
	chart.series = series;
	chart.n_series = 1;
	/* Draw hollow points first, so that verified ones cover them. */
	for (size_t i = 0; i < 2 * n; i++) {
		const struct harness_point *p = &points[i % n];

		if (is_filled(p) != (i >= n))
			continue;
		if (p->value < range.lo || p->value > range.hi) {
			off++;
			continue;
		}
		series[chart.n_series++] =
			(struct chart_series){ .x = &p->x[by],
					       .y = &p->value,
					       .n = 1,
					       .style = styles[p->kind],
					       .sign = is_filled(p) ? 0x25C6 : 0x25CB };
	}
	(void)canvas_box(canvas, r, "%.40s by %s: ◆ verified  ○ unverified%s",
			 run->post_score_key != NULL ? run->post_score_key : "score", names[by],
			 off > 0 ? " (outliers hidden)" : "");
	chart.charset = charset;
	chart.x_lo = 0;
	chart.x_hi = last > 0 ? last : 1;
	chart.x_kind = (int)by;
	chart.x_text = score_x_text;
	if (n > 0)
		chart_draw(&chart, canvas);
	else
		canvas_print(canvas, chart.rect, STYLE_HINT,
			     by == HARNESS_X_ITERATION ? "no measurement yet"
						       : "no score has a known value on this axis");
}

static void add_number(struct facts *facts, struct harness_number number, enum fact_style style)
{
	char text[STR_NUMBER_SIZE];

	if (number.present)
		facts_text(facts, "", style, "%s", str_number(number.value, 7, text))->number =
			number.value;
	else
		facts_text(facts, "", style, FMT_ABSENT);
}

static void add_case(struct facts *facts, const struct harness_run *run,
		     const struct harness_case *c)
{
	const struct harness_case *base =
		array_find(one, run->baseline.cases, run->baseline.n_cases,
			   one->name != NULL && c->name != NULL && strcmp(one->name, c->name) == 0);
	struct harness_number gain = { false, 0 };
	char change[HARNESS_PCT_SIZE];
	bool failed = c->status != NULL && strcmp(c->status, "passed") != 0;
	enum fact_style style = failed ? FACT_ALARM : FACT_PLAIN;

	if (base != NULL && harness_is_finite(base->best) && harness_is_finite(c->best))
		gain = harness_gain_pct(base->best.value, c->best.value,
					run->higher_is_better == HARNESS_YES);
	facts_text(facts, "", style, "%s", c->name != NULL ? c->name : "?");
	add_number(facts, c->best, style);
	add_number(facts, c->median, style);
	facts_text(facts, "", style, "%.20s",
		   failed	  ? c->status
		   : gain.present ? harness_pct(gain.value, true, change)
				  : FMT_ABSENT);
}

/* Return the last iteration with cases, up to the selected one; NULL if there is none. */
static const struct harness_iteration *last_measured(const struct harness_pick *pick)
{
	const struct harness_iteration *it = pick->it;

	while (it != NULL && it->post.n_cases == 0)
		it = it > pick->run->iterations ? it - 1 : NULL;
	return it;
}

static void add_cases(struct facts *facts, const struct harness_pick *pick)
{
	static const struct facts_column columns[] = {
		{ .label = "case", .kind = FMT_TEXT },
		{ .label = "best", .kind = FMT_NUMBER },
		{ .label = "median", .kind = FMT_NUMBER },
		{ .label = "vs. base", .kind = FMT_NUMBER },
	};
	const struct harness_iteration *it = last_measured(pick);
	const struct harness_post *post = it != NULL ? &it->post : &pick->run->baseline;

	if (post->n_cases == 0) {
		facts_text(facts, "", FACT_HINT, "the verifier reported no cases");
		return;
	}
	facts_table(facts, "", columns, 4);
	for (size_t i = 0; i < post->n_cases; i++)
		add_case(facts, pick->run, &post->cases[i]);
}

static void add_calls(struct facts *facts, const struct harness_pick *pick)
{
	static const struct facts_column columns[] = {
		{ .label = "tool (whole workspace)", .kind = FMT_TEXT },
		{ .label = "calls", .kind = FMT_NUMBER },
		{ .label = "failed", .kind = FMT_NUMBER },
		{ .label = "total", .kind = FMT_AGE },
	};
	const struct harness_calls *calls = &pick->place->ws.calls;

	facts_table(facts, "", columns, 4);
	array_each (tool, calls->tools, calls->n_tools) {
		enum fact_style style = tool->failed > 0 ? FACT_WARN : FACT_PLAIN;

		facts_text(facts, "", style, "%s", tool->name);
		facts_cell(facts, tool->calls)->style = style;
		facts_cell(facts, tool->failed)->style = style;
		facts_cell(facts, tool->total_ms / 1000)->style = style;
	}
}

static void add_artifacts(struct facts *facts, const struct harness_pick *pick)
{
	const struct harness_workspace *ws = &pick->place->ws;

	if (ws->n_artifacts == 0)
		facts_text(facts, "", FACT_HINT, "no artifact registered");
	array_each (a, ws->artifacts, ws->n_artifacts) {
		bool is_qualified = !a->quarantined && a->qualified != NULL;

		facts_text(facts, "", a->quarantined ? FACT_ALARM : FACT_PLAIN, "%-8s %s%s%s%s",
			   a->kind != NULL ? a->kind : "?", a->quarantined ? "QUARANTINED " : "",
			   a->path != NULL ? a->path : "?", is_qualified ? "  " : "",
			   is_qualified ? a->qualified : "");
	}
}

/* Draw the end of a text with long lines wrapped, scrolled back by *up lines, at most all. */
static void draw_text(struct canvas *canvas, struct rect r, struct str text, int *up)
{
	text = str_trim(text);
	if (r.w <= 0 || r.h <= 0)
		return;
	int most = int_max(canvas_wrap(NULL, r, STYLE_LOG_PLAIN, text, 0) - r.h, 0);
	*up = int_min(*up, most);
	(void)canvas_wrap(canvas, r, STYLE_LOG_PLAIN, text, most - *up);
}

/* Append the columns of an iteration's row, and the lists that the table does not show. */
static void add_iteration(struct buf *out, const struct harness_run *run,
			  const struct harness_iteration *it)
{
	static const struct {
		const char *label;
		enum iteration_column column;
	} parts[] = {
		{ "attempt", IT_ATTEMPT },     { "calls", IT_CALLS }, { "result", IT_RESULT },
		{ "qualified", IT_QUALIFIED }, { "notes", IT_NOTE },
	};
	const struct {
		const char *label;
		const struct harness_names *names;
	} lists[] = {
		{ "active skills: ", &it->skills },
		{ "active tools: ", &it->tools },
		{ "tools used: ", &it->called },
		{ "blockers: ", &it->blockers },
	};
	AUTO_BUF words = buf_new(WORDS_MAX);

	buf_appendf(out, "\n\niteration %u", it->number);
	for (size_t i = 0; i < LENGTH(parts); i++) {
		buf_clear(&words);
		add_words(&words, parts[i].column, run, it);
		if (words.len > 0)
			buf_appendf(out, "\n%s: %s", parts[i].label, words.data);
	}
	buf_clear(&words);
	harness_add_phases(&words, it);
	if (words.len > 0)
		buf_appendf(out, "\nphases: %s", words.data);
	buf_clear(&words);
	harness_add_verifier(&words, &it->post);
	if (words.len > 0)
		buf_appendf(out, "\nmeasured on: %s", words.data);
	for (size_t i = 0; i < LENGTH(lists); i++) {
		buf_appendf(out, "%s%s", lists[i].names->n > 0 ? "\n" : "",
			    lists[i].names->n > 0 ? lists[i].label : "");
		harness_add_names(out, lists[i].names);
	}
}

static void draw_detail(struct harness *h, struct canvas *canvas, struct rect r)
{
	static const struct {
		const char *title;
		void (*add)(struct facts *facts, const struct harness_pick *pick);
	} details[] = {
		[DETAIL_CASES] = { "cases of the baseline", add_cases },
		[DETAIL_WORDS] = { "all details as text", NULL },
		[DETAIL_CALLS] = { "calls by tool", add_calls },
		[DETAIL_ARTIFACTS] = { "artifacts", add_artifacts },
	};
	const struct harness_pick *pick = &h->pick;
	struct harness_text texts[MAX_TEXTS];
	size_t n = find_texts(pick, texts), i = h->detail - DETAIL_TEXTS;
	AUTO_FACTS facts = { .n = 0 };
	AUTO_BUF out = buf_new(WORDS_MAX);

	if (h->detail >= DETAIL_TEXTS && i >= n)
		return;
	if (h->detail == DETAIL_CASES && last_measured(pick) != NULL)
		r = canvas_box(canvas, r, "cases of iteration %u  [ ]",
			       last_measured(pick)->number);
	else
		r = canvas_box(canvas, r, "%s  [ ]",
			       h->detail < DETAIL_TEXTS ? details[h->detail].title : texts[i].name);
	if (h->detail >= DETAIL_TEXTS) {
		draw_text(canvas, r, texts[i].text, &h->up);
		return;
	}
	if (h->detail != DETAIL_WORDS) {
		details[h->detail].add(&facts, pick);
		panel_facts(canvas, &r, &facts,
			    &(const struct panel_facts){ 0, STYLE_HEADER, false });
		return;
	}
	add_facts(&facts, pick);
	buf_appendf(&out, "run: %s of %s", pick->run->id, pick->place->title);
	for (size_t k = 0; k < facts.n; k++)
		buf_appendf(&out, "\n%s: %s", facts.v[k].label, facts.v[k].text);
	if (pick->it != NULL)
		add_iteration(&out, pick->run, pick->it);
	draw_text(canvas, r, buf_str(&out), &h->up);
}

static void draw_compare(struct canvas *canvas, struct rect r,
			 const struct harness_compare *compare)
{
	static const struct panel_facts how = { LABEL_WIDTH, STYLE_HEADER, true };
	AUTO_FACTS facts = { .n = 0 };
	AUTO_BUF text = buf_new(WORDS_MAX);

	harness_compare_facts(&facts, compare);
	panel_facts(canvas, &r, &facts, &how);
	(void)rect_take_top(&r, 1);
	for (size_t i = 0; i < compare->n_trials && r.h > 0; i++) {
		const struct harness_trial *t = &compare->trials[i];
		char number[STR_NUMBER_SIZE];

		if (r.h == 1 && i + 1 < compare->n_trials) {
			canvas_print_top(canvas, &r, STYLE_HINT, "%zu more", compare->n_trials - i);
			break;
		}
		buf_clear(&text);
		harness_add_trial(&text, t);
		if (harness_trial_counts(t))
			buf_appendf(&text, " %s", str_number(t->score.value, 10, number));
		canvas_print_top(canvas, &r, harness_trial_counts(t) ? STYLE_NORMAL : STYLE_WARN,
				 "%-10s %3u  %-9s %s", t->group, t->number,
				 t->status != NULL ? t->status : "", text.data);
	}
}

/* Draw a list, in a frame if title is not NULL. A bar at its left shows that it has the focus. */
static void draw_table(struct harness *h, struct canvas *canvas, struct rect r, enum focus focus,
		       const char *title)
{
	struct rect mark = { r.x, r.y, 1, r.h };

	if (title != NULL) {
		mark = (struct rect){ r.x, r.y + 1, 1, r.h - 2 };
		r = canvas_box(canvas, r, "%s", title);
	} else {
		(void)rect_take_left(&r, 2);
	}
	list_draw(focus == FOCUS_RUNS ? &h->runs : &h->iterations, canvas, r);
	if (h->focus == focus)
		canvas_fill(canvas, mark, STYLE_LIVE, 0x2502 /* bar */);
}

static void draw_run(struct harness *h, struct canvas *canvas, struct rect r, bool framed,
		     enum chart_charset charset)
{
	int room = r.h > 20 ? r.h - MIN_CHART_HEIGHT : r.h;
	int rows = int_min((int)h->iterations.all + (framed ? 3 : 1), room / 2);
	AUTO_FACTS facts = { .n = 0 };

	if (h->focus == FOCUS_TEXT) {
		draw_detail(h, canvas, r);
		return;
	}
	add_facts(&facts, &h->pick);
	int lines = int_min((int)facts.n + (framed ? 2 : 0), room - rows - !framed);
	struct rect words = rect_take_top(&r, lines > 2 ? lines : 0);
	if (framed && words.h > 0)
		words = canvas_box(canvas, words, "%s", h->pick.run->id);
	panel_facts(canvas, &words, &facts,
		    &(const struct panel_facts){ LABEL_WIDTH, STYLE_HEADER, false });
	(void)rect_take_top(&r, !framed);
	draw_table(h, canvas, rect_take_top(&r, rows), FOCUS_ITERATIONS,
		   framed ? "Iterations" : NULL);
	(void)rect_take_top(&r, !framed);
	if (r.h < 5)
		return;
	/* Draw the details right of the chart; a narrow screen shows only the details. */
	if (r.w >= 90)
		draw_chart(canvas, rect_take_left(&r, r.w / 2), h->pick.run, h->x, charset);
	draw_detail(h, canvas, r);
}

static void harness_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
			 struct rect r)
{
	struct harness *h = state;

	(void)harness_list(state, shared);
	if (h->runs.all == 0) {
		panel_empty(canvas, r,
			    "No HarnessGym runs yet.\n"
			    "hgym-tui harness DIR shows local runs\n"
			    "To follow runs on a pod, add \"harnessgym\": [\"DIR\"] to the pod in "
			    "the configuration");
		return;
	}
	bool framed = r.w >= 100 && r.h >= 28;
	int lines = (int)h->runs.all + (framed ? 3 : 1);
	draw_table(h, canvas, rect_take_top(&r, int_min(lines, int_max(r.h / 4, 3))), FOCUS_RUNS,
		   framed ? "Runs" : NULL);
	(void)rect_take_top(&r, !framed);
	if (r.h < 3)
		return;
	if (h->pick.run != NULL)
		draw_run(h, canvas, r, framed, shared->chart.charset);
	else if (h->pick.place != NULL && h->pick.place->read && h->pick.place->is_compare)
		draw_compare(canvas, framed ? canvas_box(canvas, r, "%s", h->pick.place->title) : r,
			     &h->pick.place->compare);
}

static bool scroll_text(struct harness *h, enum action action)
{
	static const struct {
		enum action action;
		int up;
	} moves[] = {
		{ ACTION_UP, 1 },	   { ACTION_DOWN, -1 },	       { ACTION_PAGE_UP, 10 },
		{ ACTION_PAGE_DOWN, -10 }, { ACTION_BOTTOM, -TO_TOP }, { ACTION_TOP, TO_TOP },
	};

	for (size_t i = 0; i < LENGTH(moves); i++) {
		if (moves[i].action != action)
			continue;
		h->up = int_max(int_min(h->up, TO_TOP / 2) + moves[i].up, 0);
		return true;
	}
	return false;
}

/* Scroll a text to where it opens: a diff and the facts at their top, a log at its end. */
static void reset_scroll(struct harness *h)
{
	struct harness_text texts[MAX_TEXTS];
	size_t n = find_texts(&h->pick, texts), i = h->detail - DETAIL_TEXTS;
	bool is_diff =
		h->detail >= DETAIL_TEXTS && i < n && strcmp(texts[i].name, HARNESS_DIFF_NAME) == 0;

	h->up = h->detail == DETAIL_WORDS || is_diff ? TO_TOP : 0;
}

static bool harness_act(void *state, UNUSED struct ui_shared *shared, enum action action,
			struct command *out)
{
	struct harness *h = state;
	bool has_run = h->pick.run != NULL;
	bool is_step = action == ACTION_METRIC_NEXT || action == ACTION_METRIC_PREV;
	unsigned int n;

	if (is_step && has_run) {
		n = detail_count(&h->pick);
		h->detail = (h->detail + (action == ACTION_METRIC_NEXT ? 1 : n - 1)) % n;
		reset_scroll(h);
	} else if (action == ACTION_X_AXIS && has_run) {
		h->x = (h->x + 1) % HARNESS_X_COUNT;
	} else if (action == ACTION_BENCH_START && has_run) {
		out->id = h->pick.run->checkpoint.settings != NULL ||
					  h->pick.run->baseline.config != NULL
				  ? COMMAND_BENCH_ARMS
				  : COMMAND_BENCH_RUN;
		out->name = xstrdup(h->pick.place->title);
		out->text = xstrdup(h->pick.run->id);
	} else if (action == ACTION_BENCH_START && h->pick.place != NULL &&
		   h->pick.place->is_compare) {
		out->id = COMMAND_BENCH_RUN;
		out->name = xstrdup(h->pick.place->title);
		out->text = xstrdup("");
	} else if (action == ACTION_OPEN && h->focus < FOCUS_TEXT && h->iterations.all > 0) {
		h->focus++;
		reset_scroll(h);
	} else if ((action == ACTION_BACK || action == ACTION_QUIT) && h->focus > FOCUS_RUNS) {
		h->focus--;
		reset_scroll(h);
	} else {
		return h->focus == FOCUS_TEXT && scroll_text(h, action);
	}
	return true;
}

/* Select the row that was clicked, and give its list the focus. */
static bool harness_click(void *state, UNUSED struct ui_shared *shared, int x, int y)
{
	struct harness *h = state;

	if (list_click(&h->runs, x, y))
		h->focus = FOCUS_RUNS;
	else if (h->focus != FOCUS_TEXT && list_click(&h->iterations, x, y))
		h->focus = FOCUS_ITERATIONS;
	else
		return false;
	return true;
}

static void harness_release(void *state)
{
	list_release(&((struct harness *)state)->iterations);
}

const struct view_ops view_harness = {
	.name = "Harness",
	.open = ACTION_VIEW_HARNESS,
	.state_size = sizeof(struct harness),
	.places = IN_CHARTS | IN_BENCH,
	.watches = MODEL_HARNESS,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_METRIC_NEXT, ACTION_X_AXIS,
					ACTION_BENCH_START, ACTION_BACK, ACTION_NONE },
	.draw = harness_draw,
	.act = harness_act,
	.list = harness_list,
	.click = harness_click,
	.release = harness_release,
};
