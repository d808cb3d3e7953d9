/* SPDX-License-Identifier: MIT */
/* Prepare HarnessGym runs for the dashboard's Harness view; pure. */
#include "model/harness_view.h"

#include "base/utf8.h"
#include "parsers/score_json.h"

static void clear_place(struct harness_place *place)
{
	if (place->read && place->is_compare)
		harness_compare_release(&place->compare);
	else if (place->read)
		harness_workspace_release(&place->ws);
	place->read = false;
}

void harness_view_release(struct harness_view *view)
{
	for (size_t i = 0; i < view->n; i++) {
		clear_place(&view->places[i]);
		free(view->places[i].title);
	}
	free(view->places);
	*view = (struct harness_view){ NULL, 0, 0 };
}

size_t harness_view_add(struct harness_view *view, const char *title,
			const struct harness_files *files)
{
	if (view->n == HARNESS_MAX_PLACES)
		return SIZE_MAX;
	xpush(view->places, view->n, view->cap,
	      (struct harness_place){ .title = utf8_copy(str_from(title), 4096), .files = files });
	return view->n - 1;
}

void harness_view_read(struct harness_view *view, size_t place, bool is_compare, int64_t now_ms)
{
	struct harness_place *p = &view->places[place];

	clear_place(p);
	p->is_compare = is_compare;
	p->read = true;
	p->now_ms = now_ms;
	p->why[0] = '\0';
	p->age_ms = 0;
	if (is_compare)
		harness_compare_read(&p->compare, p->files);
	else
		harness_workspace_read(&p->ws, p->files, now_ms);
}

void harness_view_set_trouble(struct harness_view *view, size_t place, const char *why)
{
	struct harness_place *p = &view->places[place];

	(void)utf8_clean(p->why, sizeof(p->why), str_from(why));
}

void harness_view_set_age(struct harness_view *view, size_t place, int64_t age_ms)
{
	struct harness_place *p = &view->places[place];

	p->age_ms = age_ms;
	for (size_t i = 0; p->read && !p->is_compare && i < p->ws.n_runs; i++)
		p->ws.runs[i].life.left_s.present = false;
}

/* Collected points, and the x of the next one. */
struct points {
	struct harness_point *v, next;
	size_t n, max;
};

static void add_point(struct points *points, struct harness_number value,
		      enum harness_point_kind kind)
{
	points->next.value = value.value;
	points->next.kind = kind;
	if (value.present && score_is_measurable(value.value) && points->n < points->max)
		points->v[points->n++] = points->next;
}

static double or_zero(struct harness_number number)
{
	return harness_is_finite(number) ? number.value : 0;
}

size_t harness_view_points(const struct harness_run *run, struct harness_point *points, size_t max)
{
	struct points all = { .v = points, .max = max };

	if (run->has_baseline && run->baseline.passed == HARNESS_YES)
		add_point(&all, run->baseline.score, HARNESS_POINT_BASELINE);
	else if (run->has_baseline)
		add_point(&all, run->baseline.score, HARNESS_POINT_INVALID);
	array_each (it, run->iterations, run->n_iterations) {
		double *x = all.next.x;

		/* The scores of an iteration appear when its verifier ends. */
		x[HARNESS_X_ITERATION] = it->number;
		x[HARNESS_X_WALL] = (double)NAN;
		if (it->created_ms > 0 && it->created_ms >= run->start_ms && it->attempt != NULL)
			x[HARNESS_X_WALL] =
				((double)(it->created_ms - run->start_ms) / 1e3 +
				 or_zero(it->attempt->duration_s) + or_zero(it->post.duration_s)) /
				60;
		x[HARNESS_X_COST] += harness_is_finite(it->usage.cost_usd)
					     ? it->usage.cost_usd.value
					     : (double)NAN;
		add_point(&all, it->verified_score, HARNESS_POINT_VERIFIED);
		add_point(&all, it->invalid_score, HARNESS_POINT_INVALID);
		add_point(&all, it->claimed_score,
			  run->table == NULL || it->kept ? HARNESS_POINT_CLAIMED
							 : HARNESS_POINT_SESSION);
		add_point(&all, it->session_score, HARNESS_POINT_SESSION);
	}
	return all.n;
}

size_t harness_view_texts(const struct harness_place *place, const struct harness_run *run,
			  unsigned int iteration, struct harness_text *texts, size_t max)
{
	static const struct {
		enum harness_kind kind;
		const char *name;
	} kinds[] = {
		{ HARNESS_BEST_DIFF, HARNESS_DIFF_NAME },
		{ HARNESS_BUILD_SCRIPT, "build transcript" },
		{ HARNESS_BUILD_ERR, "build stderr" },
		{ HARNESS_BUILD_OUT, "build stdout" },
		{ HARNESS_REFLECTION_SCRIPT, "reflection transcript" },
		{ HARNESS_REFLECTION_ERR, "reflection stderr" },
		{ HARNESS_REFLECTION_OUT, "reflection stdout" },
		{ HARNESS_POST_ERR, "verifier stderr" },
		{ HARNESS_POST_OUT, "verifier stdout" },
		{ HARNESS_ATTEMPT_SCRIPT, "attempt transcript" },
		{ HARNESS_ATTEMPT_ERR, "attempt stderr" },
		{ HARNESS_ATTEMPT_OUT, "attempt stdout" },
		{ HARNESS_RUN_LOG, "run.log of the last experiment" },
	};
	size_t n = 0;

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		const struct harness_file *file =
			harness_files_find(place->files, kinds[i].kind, run->dir, iteration, 0);

		if (file == NULL || file->len == 0 || n == max)
			continue;
		texts[n].name = kinds[i].name;
		texts[n++].text = (struct str){ file->text, file->len };
	}
	return n;
}
