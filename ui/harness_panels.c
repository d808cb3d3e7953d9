/* SPDX-License-Identifier: MIT */
/* What is known of a HarnessGym run, part by part; for view_harness.c. */
#include "config.h"

#include "ui/harness_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/harness_words.h"
#include "ui/fold.h"
#include "ui/theme.h"

#define LABEL_WIDTH 15
#define AXIS_WIDTH  11
#define TEXT_MAX    4096U

/* The style of a line of words: what is doubtful stands out. */
static unsigned int
fact_style(enum harness_fact fact, const struct harness_run *run)
{
	switch ((int)fact) {
	case HARNESS_FACT_BEST:
		return run->best.present ? STYLE_BETTER : STYLE_HINT;
	case HARNESS_FACT_UNVERIFIED:
	case HARNESS_FACT_SAYS:
		return STYLE_WARN;
	case HARNESS_FACT_QUARANTINED:
		return STYLE_ALARM;
	case HARNESS_FACT_RESTORED:
		return run->restore.post_passed == HARNESS_NO ? STYLE_WARN
							      : STYLE_NORMAL;
	case HARNESS_FACT_STATE:
		return !run->has_summary &&
				       run->life.state != HARNESS_STATE_RUNNING
			       ? STYLE_ALARM
			       : STYLE_NORMAL;
	default:
		return STYLE_NORMAL;
	}
}

int
harness_panel_facts(struct canvas *canvas, struct rect rect,
		    const struct harness_pick *pick)
{
	struct buf text;
	int y = 0;

	buf_init(&text, TEXT_MAX);
	for (int i = 0; i < HARNESS_FACT_COUNT && y < rect.h; i++) {
		enum harness_fact fact = (enum harness_fact)i;
		struct rect line = { rect.x + LABEL_WIDTH, rect.y + y,
				     rect.w - LABEL_WIDTH, 1 };

		buf_clear(&text);
		if (fact != HARNESS_FACT_RUNS)
			harness_add_fact(&text, fact, &pick->place->ws,
					 pick->run);
		if (text.len == 0)
			continue;
		canvas_text(canvas, rect.x, rect.y + y, STYLE_HEAD,
			    harness_fact_label(fact));
		canvas_line(canvas, line, fact_style(fact, pick->run),
			    (struct str){ text.data, text.len });
		y++;
	}
	buf_release(&text);
	return y;
}

/* The scores of a run and the range that they are drawn in. */
struct scores {
	struct harness_point points[HARNESS_MAX_ITERATIONS];
	size_t n, off;	   /* off: hollow ones far outside of the range */
	unsigned int last; /* iteration */
	double lo, hi;
};

static bool
is_filled(const struct harness_point *point)
{
	return point->kind == HARNESS_POINT_BASELINE ||
	       point->kind == HARNESS_POINT_VERIFIED;
}

/* Widen the range to the points that are filled, or to all. */
static bool
range_of(struct scores *s, bool all)
{
	s->lo = INFINITY;
	s->hi = -INFINITY;
	for (size_t i = 0; i < s->n; i++) {
		if (!all && !is_filled(&s->points[i]))
			continue;
		s->lo = fmin(s->lo, s->points[i].value);
		s->hi = fmax(s->hi, s->points[i].value);
	}
	return s->lo <= s->hi;
}

/*
 * The range of what is verified, and of hollow points no further away than
 * that is wide: a failed 10^18 must not flatten the rest.
 */
static void
find_range(struct scores *s)
{
	double lo, hi, span;

	if (!range_of(s, false)) {
		(void)range_of(s, true);
		return;
	}
	lo = s->lo;
	hi = s->hi;
	span = hi > lo ? hi - lo : fabs(hi) / 10;
	for (size_t i = 0; i < s->n; i++) {
		double value = s->points[i].value;

		if (value < lo - span || value > hi + span) {
			s->off++;
			continue;
		}
		s->lo = fmin(s->lo, value);
		s->hi = fmax(s->hi, value);
	}
}

static void
load_scores(struct scores *s, const struct harness_run *run)
{
	s->off = 0;
	s->n = harness_view_points(run, s->points, HARNESS_MAX_ITERATIONS);
	s->last = run->n_iterations > 0
			  ? run->iterations[run->n_iterations - 1].number
			  : 1;
	find_range(s);
}

/* Columns and rows of a value in the plot. */
static int
column_of(const struct scores *s, struct rect plot, unsigned int iteration)
{
	return plot.x + 1 +
	       (int)((double)iteration * (plot.w - 3) / (double)s->last);
}

static int
row_of(const struct scores *s, struct rect plot, double value)
{
	double part = s->hi > s->lo ? (value - s->lo) / (s->hi - s->lo) : 0.5;

	return plot.y + plot.h - 1 - (int)lround(part * (plot.h - 1));
}

/* The best verified so far as a dim line behind the points. */
static void
draw_best_line(const struct scores *s, struct canvas *canvas, struct rect plot,
	       bool higher)
{
	double best = (double)NAN;
	int from = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct harness_point *p = &s->points[i];
		int to = column_of(s, plot, p->iteration);

		if (!is_filled(p))
			continue;
		for (int x = from; isfinite(best) && x < to; x++)
			canvas_put(canvas, x, row_of(s, plot, best), STYLE_AXIS,
				   0x2508 /* dashes */);
		if (!isfinite(best) ||
		    (higher ? p->value > best : p->value < best))
			best = p->value;
		from = to;
	}
	for (int x = from; isfinite(best) && x < plot.x + plot.w; x++)
		canvas_put(canvas, x, row_of(s, plot, best), STYLE_AXIS,
			   0x2508);
}

static void
draw_points(const struct scores *s, struct canvas *canvas, struct rect plot)
{
	static const unsigned int styles[] = {
		[HARNESS_POINT_BASELINE] = STYLE_REFERENCE,
		[HARNESS_POINT_VERIFIED] = STYLE_BETTER,
		[HARNESS_POINT_INVALID] = STYLE_ALARM,
		[HARNESS_POINT_CLAIMED] = STYLE_WARN,
		[HARNESS_POINT_SESSION] = STYLE_DIM,
	};

	/* Hollow ones first: what is verified lies on top. */
	for (int filled = 0; filled < 2; filled++) {
		for (size_t i = 0; i < s->n; i++) {
			const struct harness_point *p = &s->points[i];

			if (is_filled(p) != (filled == 1) || p->value < s->lo ||
			    p->value > s->hi)
				continue;
			canvas_put(canvas, column_of(s, plot, p->iteration),
				   row_of(s, plot, p->value), styles[p->kind],
				   filled ? 0x25C6 : 0x25CB);
		}
	}
}

static void
draw_axes(const struct scores *s, struct canvas *canvas, struct rect plot)
{
	char text[FMT_SIZE];
	int taken = 0;

	for (int i = 0; i < 2; i++) {
		struct rect label = { plot.x - AXIS_WIDTH,
				      i == 0 ? plot.y : plot.y + plot.h - 1,
				      AXIS_WIDTH - 1, 1 };

		(void)snprintf(text, sizeof(text), "%.7g",
			       i == 0 ? s->hi : s->lo);
		canvas_right(canvas, label, STYLE_AXIS, str_from(text));
	}
	for (unsigned int k = 0; k <= s->last; k++) {
		int x = column_of(s, plot, k);

		if (x < taken)
			continue;
		if (k == 0)
			(void)snprintf(text, sizeof(text), "base");
		else
			(void)snprintf(text, sizeof(text), "%u", k);
		taken = x + 1 +
			canvas_text(canvas, x, plot.y + plot.h, STYLE_AXIS,
				    text);
	}
}

void
harness_panel_chart(struct canvas *canvas, struct rect rect,
		    const struct harness_run *run)
{
	struct rect inside, plot;
	struct scores s;
	char title[128];

	load_scores(&s, run);
	(void)snprintf(
		title, sizeof(title),
		"%.40s by iteration: \xe2\x97\x86 verified  \xe2\x97\x8b "
		"not%s",
		run->post_score_key != NULL ? run->post_score_key : "score",
		s.off > 0 ? " (some far off)" : "");
	inside = panel_box(canvas, rect, title);
	plot = (struct rect){ inside.x + AXIS_WIDTH, inside.y,
			      inside.w - AXIS_WIDTH, inside.h - 1 };
	if (plot.w < 8 || plot.h < 2)
		return;
	if (s.n == 0) {
		canvas_line(canvas, inside, STYLE_HINT,
			    STR_LIT("nothing has been measured yet"));
		return;
	}
	draw_best_line(&s, canvas, plot, run->higher_is_better == HARNESS_YES);
	draw_points(&s, canvas, plot);
	draw_axes(&s, canvas, plot);
}

/* One line of a detail, cut into columns. */
static void
put_columns(struct canvas *canvas, struct rect line, unsigned int style,
	    const char *const texts[4])
{
	int numbers = line.w / 5 < 12 ? line.w / 5 : 12;
	int first = line.w - 3 * (numbers + 1);

	if (numbers < 4 || first < 4)
		first = line.w;
	canvas_line(canvas, (struct rect){ line.x, line.y, first, 1 }, style,
		    str_from(texts[0]));
	for (int i = 1; i < 4 && first < line.w; i++)
		canvas_right(canvas,
			     (struct rect){ line.x + first +
						    (i - 1) * (numbers + 1) + 1,
					    line.y, numbers, 1 },
			     style, str_from(texts[i]));
}

static const char *
number_text(struct harness_number number, char out[FMT_SIZE])
{
	if (!number.present)
		return FMT_ABSENT;
	return str_number(number.value, 7, out);
}

/* The baseline's case of that name, or NULL. */
static const struct harness_case *
baseline_case(const struct harness_run *run, const struct harness_case *c)
{
	for (size_t i = 0; c->name != NULL && i < run->baseline.n_cases; i++)
		if (run->baseline.cases[i].name != NULL &&
		    strcmp(run->baseline.cases[i].name, c->name) == 0)
			return &run->baseline.cases[i];
	return NULL;
}

static void
put_case(struct canvas *canvas, struct rect line, const struct harness_run *run,
	 const struct harness_case *c)
{
	const struct harness_case *base = baseline_case(run, c);
	struct harness_number gain = { false, 0 };
	char best[FMT_SIZE], median[FMT_SIZE], change[FMT_SIZE];
	bool failed = c->status != NULL && strcmp(c->status, "passed") != 0;
	const char *const texts[] = {
		c->name != NULL ? c->name : "?",
		number_text(c->best, best),
		number_text(c->median, median),
		change,
	};

	if (base != NULL && harness_is_finite(base->best) &&
	    harness_is_finite(c->best))
		gain = harness_gain_pct(base->best.value, c->best.value,
					run->higher_is_better == HARNESS_YES);
	(void)snprintf(change, sizeof(change), FMT_ABSENT);
	if (failed)
		(void)snprintf(change, sizeof(change), "%.20s", c->status);
	else if (gain.present)
		(void)harness_pct(gain.value, true, change);
	put_columns(canvas, line, failed ? STYLE_ALARM : STYLE_NORMAL, texts);
}

/* The verifier's run whose cases are shown: the iteration's, else the first. */
static const struct harness_post *
cases_of(const struct harness_pick *pick)
{
	return pick->it != NULL && pick->it->post.n_cases > 0
		       ? &pick->it->post
		       : &pick->run->baseline;
}

static void
detail_cases(struct canvas *canvas, struct rect r,
	     const struct harness_pick *pick)
{
	static const char *const head[] = { "case", "best", "median",
					    "on base" };
	const struct harness_post *post = cases_of(pick);

	if (post->n_cases == 0) {
		canvas_line(canvas, r, STYLE_HINT,
			    STR_LIT("the verifier told no cases"));
		return;
	}
	put_columns(canvas, (struct rect){ r.x, r.y, r.w, 1 }, STYLE_HEAD,
		    head);
	for (size_t i = 0; i < post->n_cases && (int)i + 1 < r.h; i++)
		put_case(canvas, (struct rect){ r.x, r.y + 1 + (int)i, r.w, 1 },
			 pick->run, &post->cases[i]);
}

static void
detail_calls(struct canvas *canvas, struct rect r,
	     const struct harness_pick *pick)
{
	static const char *const head[] = { "tool (of the workspace)", "calls",
					    "failed", "total" };
	const struct harness_calls *calls = &pick->place->ws.calls;

	put_columns(canvas, (struct rect){ r.x, r.y, r.w, 1 }, STYLE_HEAD,
		    head);
	for (size_t i = 0; i < calls->n_tools && (int)i + 1 < r.h; i++) {
		const struct harness_tool *tool = &calls->tools[i];
		char n[FMT_SIZE], failed[FMT_SIZE], total[FMT_SIZE];
		const char *const texts[] = { tool->name, n, failed, total };

		(void)snprintf(n, sizeof(n), "%u", tool->calls);
		(void)snprintf(failed, sizeof(failed), "%u", tool->failed);
		(void)fmt_age(tool->total_ms / 1000, total);
		put_columns(
			canvas, (struct rect){ r.x, r.y + 1 + (int)i, r.w, 1 },
			tool->failed > 0 ? STYLE_WARN : STYLE_NORMAL, texts);
	}
}

static void
detail_artifacts(struct canvas *canvas, struct rect r,
		 const struct harness_pick *pick)
{
	const struct harness_workspace *ws = &pick->place->ws;
	struct buf text;

	buf_init(&text, TEXT_MAX);
	if (ws->n_artifacts == 0)
		canvas_line(canvas, r, STYLE_HINT,
			    STR_LIT("no artifact is registered"));
	for (size_t i = 0; i < ws->n_artifacts && (int)i < r.h; i++) {
		const struct harness_artifact *a = &ws->artifacts[i];

		buf_clear(&text);
		buf_appendf(
			&text, "%-8s %s%s%s", a->kind != NULL ? a->kind : "?",
			a->quarantined ? "QUARANTINED " : "",
			a->path != NULL ? a->path : "?",
			!a->quarantined && a->qualified != NULL ? "  " : "");
		if (!a->quarantined && a->qualified != NULL)
			buf_append_str(&text, a->qualified);
		canvas_line(canvas, (struct rect){ r.x, r.y + (int)i, r.w, 1 },
			    a->quarantined ? STYLE_ALARM : STYLE_NORMAL,
			    (struct str){ text.data, text.len });
	}
	buf_release(&text);
}

static size_t
texts_of(const struct harness_pick *pick,
	 struct harness_text texts[HARNESS_MAX_TEXTS])
{
	return pick->it != NULL ? harness_view_texts(pick->place, pick->run,
						     pick->it->number, texts,
						     HARNESS_MAX_TEXTS)
				: 0;
}

unsigned int
harness_detail_count(const struct harness_pick *pick)
{
	struct harness_text texts[HARNESS_MAX_TEXTS];

	return HARNESS_DETAIL_TEXTS + (unsigned int)texts_of(pick, texts);
}

void
harness_panel_detail(struct canvas *canvas, struct rect rect,
		     const struct harness_pick *pick, unsigned int detail,
		     size_t *up)
{
	static const struct {
		const char *title;
		void (*draw)(struct canvas *canvas, struct rect rect,
			     const struct harness_pick *pick);
	} details[] = {
		[HARNESS_DETAIL_CASES] = { "cases", detail_cases },
		[HARNESS_DETAIL_WORDS] = { "all of it in words", NULL },
		[HARNESS_DETAIL_CALLS] = { "calls by tool", detail_calls },
		[HARNESS_DETAIL_ARTIFACTS] = { "artifacts", detail_artifacts },
	};
	struct harness_text texts[HARNESS_MAX_TEXTS];
	size_t n = texts_of(pick, texts);
	char title[96];

	if (detail == HARNESS_DETAIL_CASES && cases_of(pick)->n_cases > 0 &&
	    cases_of(pick) != &pick->run->baseline)
		(void)snprintf(title, sizeof(title),
			       "cases of iteration %u  [ ]", pick->it->number);
	else if (detail == HARNESS_DETAIL_CASES)
		(void)snprintf(title, sizeof(title),
			       "cases of the baseline  [ ]");
	else if (detail < HARNESS_DETAIL_TEXTS)
		(void)snprintf(title, sizeof(title), "%s  [ ]",
			       details[detail].title);
	if (detail == HARNESS_DETAIL_WORDS) {
		harness_panel_words(canvas, panel_box(canvas, rect, title),
				    pick, up);
		return;
	}
	if (detail < HARNESS_DETAIL_TEXTS) {
		details[detail].draw(canvas, panel_box(canvas, rect, title),
				     pick);
		return;
	}
	if (detail - HARNESS_DETAIL_TEXTS >= n)
		return;
	(void)snprintf(title, sizeof(title), "%s  [ ]",
		       texts[detail - HARNESS_DETAIL_TEXTS].name);
	harness_panel_text(canvas, panel_box(canvas, rect, title),
			   texts[detail - HARNESS_DETAIL_TEXTS].text, up);
}

static void
compare_group(struct canvas *canvas, struct rect line,
	      const struct harness_group *group)
{
	struct buf text;

	buf_init(&text, TEXT_MAX);
	harness_add_group(&text, group);
	canvas_text(canvas, line.x, line.y, STYLE_HEAD, group->name);
	canvas_line(canvas,
		    (struct rect){ line.x + LABEL_WIDTH, line.y,
				   line.w - LABEL_WIDTH, 1 },
		    group->invalid > 0 ? STYLE_WARN : STYLE_NORMAL,
		    (struct str){ text.data, text.len });
	buf_release(&text);
}

void
harness_panel_compare(struct canvas *canvas, struct rect rect,
		      const struct harness_compare *compare)
{
	struct buf text;
	int y = rect.y;

	buf_init(&text, TEXT_MAX);
	for (size_t i = 0; i < compare->n_groups; i++)
		compare_group(canvas, (struct rect){ rect.x, y++, rect.w, 1 },
			      &compare->groups[i]);
	harness_add_verdict(&text, compare);
	canvas_text(canvas, rect.x, y, STYLE_HEAD, "verdict");
	y += 1 + fold_line(canvas,
			   (struct rect){ rect.x + LABEL_WIDTH, y,
					  rect.w - LABEL_WIDTH,
					  rect.y + rect.h - y },
			   STYLE_HINT, (struct str){ text.data, text.len }, 0);
	for (size_t i = 0; i < compare->n_trials && y < rect.y + rect.h; i++) {
		const struct harness_trial *t = &compare->trials[i];

		buf_clear(&text);
		buf_appendf(&text, "%-10s %3u  ", t->group, t->number);
		harness_add_trial(&text, t);
		canvas_line(canvas, (struct rect){ rect.x, y++, rect.w, 1 },
			    harness_trial_counts(t) ? STYLE_NORMAL : STYLE_WARN,
			    (struct str){ text.data, text.len });
	}
	buf_release(&text);
}
