/* SPDX-License-Identifier: MIT */
/* A bench's session as the screen shows it; for the feed of the dashboard. */
#include "config.h"

#include "bench/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/dist.h"
#include "base/xalloc.h"
#include "bench/record.h"
#include "bench/session_peek.h"
#include "bench/stats.h"
#include "bench/waits.h"

/* p at which a look stops a bench: Haybittle and Peto's. */
#define EARLY_P 0.001

/* The measured run of that arm in that block of the pod; NULL: none. */
static const struct judge_run *
judged(const struct judge *judge, const struct session_peek *at)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == at->arm && run->pod == at->pod &&
		    run->block == at->block && run->counted)
			return run;
	}
	return NULL;
}

static enum bench_live_state
state_of(const struct session_peek *at, const struct judge_run *run)
{
	const struct guard_hits *hits = run != NULL ? &run->hits : at->hits;

	if (at->skipped)
		return BENCH_LIVE_SKIPPED;
	if (!at->over)
		return BENCH_LIVE_WAITING;
	return guard_hard(hits) != NULL ? BENCH_LIVE_BAD : BENCH_LIVE_OVER;
}

/* Runs in the order of the session; the first that waits is under way. */
static void
fill_runs(struct bench_live *live, struct session *session,
	  const struct judge *judge)
{
	struct session_peek at;
	size_t now_pod = SIZE_MAX;

	for (size_t i = 0; session_peek(session, i, &at); i++) {
		const struct judge_run *run =
			at.counted ? judged(judge, &at) : NULL;
		struct bench_live_run *out = &live->runs[i];

		*out = (struct bench_live_run){
			.arm = at.arm,
			.pod = at.pod,
			.block = at.block,
			.counted = at.counted,
			.state = state_of(&at, run),
			.y = run != NULL && run->y > 0.0
				     ? (judge->rule.higher ? 1.0 / run->y
							   : run->y)
				     : (double)NAN,
		};
		live->n_over += at.over ? 1 : 0;
		if (live->running && out->state == BENCH_LIVE_WAITING &&
		    now_pod != at.pod) {
			out->state = BENCH_LIVE_NOW;
			now_pod = at.pod;
		}
	}
}

static void
fill_arms(struct bench_live *live, const struct judge *judge)
{
	for (size_t i = 0; i < judge->n_arms; i++) {
		const struct judge_summary *s = &judge->summary[i];
		struct bench_live_arm *arm = &live->arms[i];

		(void)snprintf(arm->tag, sizeof(arm->tag), "%s",
			       judge->arms[i].tag);
		arm->aa = judge->arms[i].aa;
		arm->n_good = s->n;
		arm->n_bad = s->n_invalid;
		arm->median = judge->rule.higher ? 1.0 / s->median : s->median;
	}
}

static struct bench_live_span
span_of(const struct paired *paired, size_t n)
{
	return (struct bench_live_span){ n, stats_pct(paired->mean),
					 stats_pct(paired->lo),
					 stats_pct(paired->hi) };
}

/* The mean that p < 0.001 needs at the next look, the spread as it is. */
static double
stops_at(const struct judge_contrast *c)
{
	double n = (double)c->paired.n + 1.0;

	if (!(c->paired.sd > 0.0) || n < 2.0)
		return (double)NAN;
	return stats_pct(dist_t_quantile(1.0 - EARLY_P / 2.0, n - 1.0) *
			 c->paired.sd / sqrt(n));
}

static void
add_guards(char *out, size_t size, const struct guard_hits *hits)
{
	for (size_t i = 0; i < hits->n; i++) {
		size_t len = strlen(out);

		(void)snprintf(out + len, size - len, "%s%s%s: %s",
			       len > 0 ? ", " : "",
			       guard_word(hits->hit[i].guard),
			       hits->hit[i].hard ? "" : " (a mark)",
			       hits->hit[i].text);
	}
}

static void
fill_contrast(struct bench_live_contrast *out, const struct judge_contrast *c)
{
	out->arm = c->arm;
	out->all = span_of(&c->paired, c->n_blocks);
	out->d = xcalloc(c->n_blocks + 1, sizeof(*out->d));
	for (size_t i = 0; i < c->n_blocks; i++)
		out->d[i] = stats_pct(c->d[i]);
	out->pods = xcalloc(c->n_pods + 1, sizeof(*out->pods));
	out->n_pods = c->n_pods;
	for (size_t i = 0; i < c->n_pods; i++)
		out->pods[i] = (struct bench_live_pod_span){
			c->pods[i].pod,
			span_of(&c->pods[i].paired, c->pods[i].paired.n)
		};
	out->pods_differ = c->pods_differ;
	out->sd = 100.0 * c->paired.sd;
	out->shows = stats_pct(c->paired.mde);
	out->p = isnan(c->p_holm) ? c->paired.p : c->p_holm;
	out->stops_at = stops_at(c);
	out->blocks_to_margin = c->blocks_to_margin;
	out->invalid = c->verdict.word == VERDICT_INVALID;
	(void)snprintf(out->text, sizeof(out->text), "%s", c->verdict.text);
	add_guards(out->guards, sizeof(out->guards), &c->hits);
}

struct bench_live *
bench_show(struct session *session, const struct plan *plan)
{
	struct verdict_info info;
	const struct judge *judge = session_judge(session, &info);
	struct bench_live *live =
		bench_live_new(judge->n_arms, plan->n_pods, plan_n_runs(plan),
			       judge->n_contrasts);

	(void)snprintf(live->metric, sizeof(live->metric), "%s", plan->key);
	for (size_t i = 0; i < plan->n_pods; i++) {
		(void)snprintf(live->pods[i], sizeof(live->pods[i]), "%s",
			       plan->pods[i].id);
		if (!isnan(plan->pods[i].usd_per_h))
			live->usd_per_h += plan->pods[i].usd_per_h;
	}
	live->n_unpriced = plan_n_unpriced(plan);
	live->blocks = plan->blocks;
	live->margin = 100.0 * plan->rule.paired.margin;
	live->alpha = plan->rule.paired.alpha;
	live->early = plan->early;
	live->min_blocks = plan->min_blocks;
	live->limit_s = 60.0 * plan->minutes;
	live->limit_usd = plan->usd;
	live->n_dropped = judge->n_dropped;
	live->running = info.stopped == NULL;
	live->noise_sd = 100.0 * judge->rule.register_sd;
	live->noise_runs =
		live->noise_sd > 0.0 ? (size_t)judge->rule.register_df + 1 : 0;
	fill_arms(live, judge);
	fill_runs(live, session, judge);
	for (size_t i = 0; i < judge->n_contrasts; i++)
		fill_contrast(&live->contrasts[i], &judge->contrasts[i]);
	return live;
}

void
bench_show_clock(struct bench_live *live, const struct folder_state *state,
		 int64_t now_ms)
{
	int64_t end_ms = state->ended_ms != 0 ? state->ended_ms : now_ms;
	double left;

	live->running = strcmp(state->state, "running") == 0;
	(void)snprintf(live->stopped, sizeof(live->stopped), "%s",
		       state->stopped);
	/* A clock that was set back since tells nothing. */
	live->elapsed_s = state->started_ms != 0 && end_ms >= state->started_ms
				  ? (double)(end_ms - state->started_ms) / 1e3
				  : (double)NAN;
	live->cost_usd = state->ended_ms != 0 ? state->cost_usd
			 : live->usd_per_h > 0.0
				 ? live->usd_per_h * live->elapsed_s / 3600.0
				 : (double)NAN;
	/* By what runs took so far, all pods beside each other. */
	left = live->n_over > 0
		       ? live->elapsed_s *
				 ((double)live->n_runs / (double)live->n_over -
				  1.0)
		       : (double)NAN;
	live->left_s = live->running ? left : (double)NAN;
}

void
bench_show_waits(struct bench_live *live, const char *path, int64_t now_ms)
{
	struct pod_wait waits[WAITS_MAX];
	size_t n = waits_read(path, live->driven, waits);

	live->preflight = n > 0 && wait_is_preflight(waits[0].kind);
	for (size_t pod = 0; pod < live->n_pods; pod++) {
		char text[WAIT_TEXT_SIZE] = "";

		for (size_t i = 0; i < n; i++)
			if (strcmp(waits[i].pod, live->pods[pod]) == 0)
				wait_text(&waits[i], now_ms, text);
		(void)snprintf(live->waits[pod], sizeof(live->waits[pod]), "%s",
			       text);
	}
}

void
bench_waits_json(cJSON *object, const char *path, const char *state)
{
	bool running = strcmp(state, "running") == 0;
	bool driven = running && bench_is_driven(path);
	struct pod_wait waits[WAITS_MAX];
	size_t n = waits_read(path, driven, waits);

	if (running)
		cJSON_AddBoolToObject(object, "driven", driven);
	else
		cJSON_AddNullToObject(object, "driven");
	cJSON_AddItemToObject(
		object, "waits",
		waits_json(waits, n, clock_real.wall_ms(&clock_real)));
}

void
bench_waits_none(cJSON *object)
{
	cJSON_AddNullToObject(object, "driven");
	cJSON_AddItemToObject(object, "waits", cJSON_CreateArray());
}

char *
bench_waits_words(const char *path, const char *id, const char *state)
{
	bool running = strcmp(state, "running") == 0;
	bool driven = running && bench_is_driven(path);
	int64_t now_ms = clock_real.wall_ms(&clock_real);
	struct pod_wait waits[WAITS_MAX];
	size_t n = waits_read(path, driven, waits);
	struct buf words;
	char *result = NULL;

	buf_init(&words, WAITS_MAX * WAIT_TEXT_SIZE);
	if (running && !driven)
		buf_appendf(&words,
			    "nobody drives it: hgym-tui bench attach %s takes "
			    "it up",
			    id);
	for (size_t i = 0; i < n; i++) {
		char text[WAIT_TEXT_SIZE];

		wait_text(&waits[i], now_ms, text);
		buf_appendf(&words, "%s%s", words.len > 0 ? "; " : "", text);
	}
	if (words.len > 0)
		result = buf_detach(&words);
	buf_release(&words);
	return result;
}
