/* SPDX-License-Identifier: MIT */
/* Prepare a bench for the dashboard. */
#include "bench/show.h"

#include "base/dist.h"
#include "bench/record.h"
#include "bench/runs.h"
#include "bench/waits.h"

_Static_assert(BENCH_LIVE_WAIT == WAIT_TEXT_SIZE, "a wait is one text");

/* List the runs in the order of the plan.  The first waiting run of each pod is the current one. */
static void fill_runs(struct bench_live *live, const struct bench_runs *runs, const cJSON *verdict)
{
	size_t now_pod = SIZE_MAX;

	for (size_t i = 0; i < runs->n; i++) {
		const struct bench_run *run = &runs->v[i];
		bool over = run->end != RUN_END_NONE;
		const cJSON *judged = over ? verdict_find(verdict, "runs", "id", run->id) : NULL;
		struct bench_live_run *out = &live->runs[i];
		bool arm_is_invalid = run->arm > 0 && live->contrasts[run->arm - 1].invalid;

		*out = (struct bench_live_run){
			.arm = run->arm,
			.pod = run->pod,
			.block = run->block,
			.counted = run->counted,
			.state = over && verdict_has_hard_guard(judged) ? BENCH_LIVE_BAD
				 : over					? BENCH_LIVE_OVER
				 : arm_is_invalid			? BENCH_LIVE_SKIPPED
									: BENCH_LIVE_WAITING,
			.y = (double)NAN,
		};
		if (judged != NULL)
			out->y = verdict_number(judged, "value");
		live->n_over += over ? 1 : 0;
	}
	/* A pod runs its runs in order: a waiting run before a finished one is skipped for good. */
	size_t passed_pod = SIZE_MAX;
	for (size_t i = live->n_runs; i-- > 0;) {
		struct bench_live_run *run = &live->runs[i];

		if (run->state == BENCH_LIVE_OVER || run->state == BENCH_LIVE_BAD)
			passed_pod = run->pod;
		else if (run->pod == passed_pod)
			run->state = BENCH_LIVE_SKIPPED;
	}
	AUTO_FREE bool *due = xcalloc(runs->n + 1, sizeof(*due));
	for (size_t i = 0; i < live->n_runs && live->running; i++) {
		struct bench_live_run *run = &live->runs[i];

		due[i] = run->state == BENCH_LIVE_WAITING;
		if (run->state == BENCH_LIVE_WAITING && now_pod != run->pod) {
			run->state = BENCH_LIVE_NOW;
			now_pod = run->pod;
		}
	}
	live->due_s = bench_runs_left_s(runs, due);
	live->due_at_s = (double)NAN;
}

static struct bench_live_span read_span(const cJSON *node)
{
	return (struct bench_live_span){ verdict_count(node, "n_blocks"),
					 verdict_number(node, "pct"),
					 verdict_bound(node, "ci_pct", 0),
					 verdict_bound(node, "ci_pct", 1) };
}

/* Set the level at the next block, and the difference that reaches it with the present spread. */
static void predict_next_look(const struct plan *plan, struct bench_live_contrast *out,
			      const cJSON *c)
{
	struct looks looks = plan_looks(plan);
	double se = verdict_number(c, "se_d"), df = verdict_number(c, "df");
	double n = (double)out->all.n;

	out->next_p = looks_level(&looks, out->all.n + 1, false, plan->rule.paired.alpha);
	out->stops_at = (double)NAN;
	if (se > 0.0 && df > 0.0 && n > 1.0)
		out->stops_at =
			stats_pct(dist_t_quantile(1.0 - out->next_p / 2.0, df * n / (n - 1.0)) *
				  se * sqrt(n / (n + 1.0)));
}

static void fill_contrast(struct bench_live *live, struct bench_live_contrast *out, const cJSON *c)
{
	const cJSON *blocks = verdict_list(c, "blocks"), *pods = verdict_list(c, "pods");
	size_t n = 0;

	out->all = read_span(c);
	out->d = xcalloc((size_t)cJSON_GetArraySize(blocks) + out->all.n + 1, sizeof(*out->d));
	json_each (block, blocks)
		if (verdict_is(block, "counts"))
			out->d[n++] = verdict_number(block, "pct");
	for (; n < out->all.n; n++)
		out->d[n] = (double)NAN;
	out->pods = xcalloc((size_t)cJSON_GetArraySize(pods) + 1, sizeof(*out->pods));
	json_each (row, pods)
		for (size_t i = 0; i < live->n_pods; i++)
			if (strcmp(live->pods[i], verdict_text(row, "pod")) == 0)
				out->pods[out->n_pods++] =
					(struct bench_live_pod_span){ i, read_span(row) };
	out->pods_differ = verdict_is(c, "pods_differ");
	out->sd = 100.0 * verdict_number(c, "sd_d");
	out->shows = verdict_number(c, "mde_pct");
	out->blocks_to_margin = verdict_count(c, "blocks_to_margin");
	print_into(out->word, "%s", verdict_text(c, "verdict"));
	out->invalid = strcmp(out->word, verdict_words[VERDICT_INVALID]) == 0;
	print_into(out->text, "%s", verdict_text(c, "text"));
	json_each (hit, verdict_list(c, "guards"))
		append_into(out->guards, "%s%s%s: %s", out->guards[0] != '\0' ? ", " : "",
			    verdict_text(hit, "guard"), verdict_is(hit, "hard") ? "" : " (warning)",
			    verdict_text(hit, "text"));
}

struct bench_live *bench_show(const struct plan *plan, const char *path,
			      const struct folder_state *state, const cJSON *verdict)
{
	const cJSON *noise = verdict_list(verdict, "register");
	struct bench_runs runs;

	bench_runs_init(&runs, plan, path);
	struct bench_live *live =
		bench_live_new(runs.n_arms, plan->n_pods, runs.n, runs.n_arms - 1);
	print_into(live->metric, "%s", plan->key);
	for (size_t i = 0; i < plan->n_pods; i++)
		print_into(live->pods[i], "%s", plan->pods[i].id);
	live->usd_per_h = plan_usd_per_h(plan);
	live->n_planned = plan_n_runs(plan);
	live->n_unpriced = plan_n_unpriced(plan);
	live->blocks = plan->blocks;
	live->margin = 100.0 * plan->rule.paired.margin;
	live->alpha = plan->rule.paired.alpha;
	live->early = plan->early != LOOKS_NONE;
	live->min_blocks = plan->min_blocks;
	live->limit_s = 60.0 * plan->minutes;
	live->limit_usd = plan->usd;
	json_each (row, verdict_list(verdict, "dropped_blocks"))
		live->n_dropped += verdict_is(row, "repeated") ? 0 : 1;
	live->running = strcmp(state->state, "running") == 0;
	live->noise_sd = verdict_number(noise, "sd_pct");
	live->noise_runs = live->noise_sd > 0.0 ? verdict_count(noise, "df") + 1 : 0;
	for (size_t i = 0; i < live->n_arms; i++) {
		struct bench_live_arm *arm = &live->arms[i];
		char tag[PLAN_TAG_SIZE];

		plan_arm_tag(plan, i, tag);
		print_into(arm->tag, "%s", tag);
		arm->aa = i >= plan->n_variants;
		const cJSON *row = verdict_find(verdict, "arms", "tag", tag);
		arm->n_good = verdict_count(row, "valid");
		arm->n_bad = verdict_count(row, "invalid");
		arm->median = verdict_number(row, "median");
	}
	for (size_t i = 0; i < live->n_contrasts; i++) {
		const cJSON *row =
			verdict_find(verdict, "contrasts", "variant", live->arms[i + 1].tag);

		live->contrasts[i].arm = i + 1;
		fill_contrast(live, &live->contrasts[i], row);
		predict_next_look(plan, &live->contrasts[i], row);
	}
	fill_runs(live, &runs, verdict);
	bench_runs_release(&runs);
	return live;
}

void bench_show_clock(struct bench_live *live, const struct folder_state *state, int64_t now_ms)
{
	int64_t end_ms = state->ended_ms != 0 ? state->ended_ms : now_ms;

	live->running = strcmp(state->state, "running") == 0;
	print_into(live->stopped, "%s", state->stopped);
	/* If the clock was set back since, the time is unknown. */
	live->elapsed_s = state->started_ms != 0 && end_ms >= state->started_ms
				  ? (double)(end_ms - state->started_ms) / 1e3
				  : (double)NAN;
	live->cost_usd = state->ended_ms != 0	 ? state->cost_usd
			 : live->usd_per_h > 0.0 ? live->usd_per_h * live->elapsed_s / 3600.0
						 : (double)NAN;
	if (isnan(live->due_at_s))
		live->due_at_s = live->elapsed_s;
	live->left_s = live->running && live->due_s > 0.0
			       ? fmax(live->due_s - live->elapsed_s + live->due_at_s, 0.0)
			       : (double)NAN;
}

void bench_show_waits(struct bench_live *live, const char *path, int64_t now_ms)
{
	struct pod_wait waits[WAITS_MAX];
	size_t n = waits_read(path, live->driven, waits);

	live->preflight = n > 0 && wait_is_preflight(waits[0].kind);
	for (size_t pod = 0; pod < live->n_pods; pod++) {
		const struct pod_wait *wait = waits_find(waits, n, live->pods[pod]);

		live->waits[pod][0] = '\0';
		if (wait != NULL)
			wait_text(wait, now_ms, live->waits[pod]);
	}
}
