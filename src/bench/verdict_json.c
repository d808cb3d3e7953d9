/* SPDX-License-Identifier: MIT */
/* A judged bench as verdict.json and summary.json; for judge and run. */
#include "config.h"

#include "bench/verdict_json.h"

#include <math.h>
#include <stdio.h>

#include "bench/stats.h"

/* An array of two, null where a bound is not known. */
static void
add_interval(cJSON *object, const char *key, double lo, double hi)
{
	cJSON *array = cJSON_AddArrayToObject(object, key);

	cJSON_AddItemToArray(array, isfinite(lo) ? cJSON_CreateNumber(lo)
						 : cJSON_CreateNull());
	cJSON_AddItemToArray(array, isfinite(hi) ? cJSON_CreateNumber(hi)
						 : cJSON_CreateNull());
}

static void
add_hits(cJSON *object, const struct guard_hits *hits)
{
	cJSON *array = cJSON_AddArrayToObject(object, "guards");

	for (size_t i = 0; i < hits->n; i++) {
		cJSON *hit = cJSON_CreateObject();

		json_add_string(hit, "guard", guard_word(hits->hit[i].guard));
		cJSON_AddBoolToObject(hit, "hard", hits->hit[i].hard);
		json_add_string(hit, "text", hits->hit[i].text);
		cJSON_AddItemToArray(array, hit);
	}
}

static void
add_window(cJSON *row, const struct judge_run *run)
{
	bool has = run->has_window;
	const struct step_window *w = &run->window;

	json_add_number(row, "legacy_mean", run->legacy.mean);
	json_add_number(row, "interval_median_ms",
			has ? w->interval_median_ms : (double)NAN);
	json_add_number(row, "interval_mad_ms",
			has ? w->interval_mad_ms : (double)NAN);
	json_add_number(row, "slope_ms", has ? w->slope_ms : (double)NAN);
	json_add_number(row, "lag_s", has ? w->lag_s : (double)NAN);
	json_add_number(row, "lag_steps", has ? w->lag_steps : (double)NAN);
}

/* What was seen of the pod while it ran; null: nothing. */
static void
add_health(cJSON *row, const struct health_sum *h)
{
	cJSON *node;

	if (h == NULL) {
		cJSON_AddNullToObject(row, "health");
		return;
	}
	node = cJSON_AddObjectToObject(row, "health");
	json_add_number(node, "gpu_samples", (double)h->n_gpu);
	json_add_number(node, "sm_mhz", h->sm_mhz);
	json_add_number(node, "power_w", h->power_w);
	json_add_number(node, "temp_c", h->temp_c);
	json_add_number(node, "util_pct", h->util_pct);
	json_add_number(node, "reasons",
			h->n_gpu > 0 ? (double)h->reasons : (double)NAN);
	json_add_number(node, "power_cap_share", h->power_cap_share);
	json_add_number(node, "cores", h->cores);
	json_add_number(node, "load1", h->load1);
	json_add_number(node, "busy_cores", h->busy_cores);
	json_add_number(node, "steal_s", h->steal_s);
	json_add_number(node, "cpu_wait_s", h->wait_s);
	json_add_number(node, "cpu_quota_s", h->quota_s);
	json_add_string(node, "foreign",
			h->foreign[0] != '\0' ? h->foreign : NULL);
}

static const char *
pod_name(const struct verdict_info *info, size_t pod)
{
	return info->pods != NULL ? info->pods[pod] : NULL;
}

static cJSON *
run_json(const struct judge *judge, const struct verdict_info *info, size_t i)
{
	static const struct verdict_run_info unknown = { .rc = (double)NAN,
							 .drift_s =
								 (double)NAN };
	const struct judge_run *run = &judge->runs[i];
	const struct verdict_run_info *more =
		info->runs != NULL ? &info->runs[i] : &unknown;
	const struct run_log *log = run->log;
	cJSON *row = cJSON_CreateObject(), *sha;
	double y = judge->rule.higher ? 1.0 / run->y : run->y;

	json_add_string(row, "id", more->id);
	json_add_number(row, "block", (double)run->block);
	json_add_string(row, "pod", pod_name(info, run->pod));
	json_add_string(row, "tag", judge->arms[run->arm].tag);
	json_add_number(row, "rep", (double)run->rep);
	json_add_number(row, "pos", (double)run->pos);
	cJSON_AddBoolToObject(row, "counted", run->counted);
	cJSON_AddBoolToObject(row, "fresh", run->fresh);
	json_add_string(row, "state", run_state_name(run->state));
	json_add_number(row, "rc", more->rc);
	json_add_number(row, "y_ms", judge->training ? run->y : (double)NAN);
	json_add_number(row, "value", y);
	add_window(row, run);
	json_add_number(row, "val_loss",
			log != NULL ? log->val_loss : (double)NAN);
	cJSON_AddBoolToObject(row, "outlier", run->outlier);
	json_add_number(row, "robust_z", run->z);
	json_add_number(row, "times_median", run->times_median);
	json_add_string(row, "seen", run->outlier ? run->seen : NULL);
	add_health(row, run->health);
	json_add_clean(row, "runtime", run->runtime);
	add_hits(row, &run->hits);
	json_add_string(row, "log", more->path);
	sha = cJSON_AddObjectToObject(row, "sha");
	json_add_string(sha, "log", log != NULL ? log->sha256 : NULL);
	json_add_string(row, "t0", more->t0);
	json_add_string(row, "t1", more->t1);
	json_add_number(row, "clock_drift_s", more->drift_s);
	return row;
}

static void
add_paired(cJSON *row, const struct paired *p)
{
	json_add_number(row, "mean_d", p->mean);
	json_add_number(row, "sd_d", p->sd);
	json_add_number(row, "t", p->t);
	json_add_number(row, "df", p->df);
	json_add_number(row, "p", p->p);
	json_add_number(row, "pct", stats_pct(p->mean));
	add_interval(row, "ci_pct", stats_pct(p->lo), stats_pct(p->hi));
}

static void
add_pods(cJSON *row, const struct judge_contrast *c,
	 const struct verdict_info *info)
{
	cJSON *pods = cJSON_AddArrayToObject(row, "pods");

	for (size_t i = 0; i < c->n_pods; i++) {
		cJSON *pod = cJSON_CreateObject();

		json_add_string(pod, "pod", pod_name(info, c->pods[i].pod));
		json_add_number(pod, "n_blocks", (double)c->pods[i].paired.n);
		add_paired(pod, &c->pods[i].paired);
		cJSON_AddItemToArray(pods, pod);
	}
}

static void
add_unblocked(cJSON *row, const struct judge_contrast *c)
{
	cJSON *welch = cJSON_AddObjectToObject(row, "welch");
	cJSON *rank = cJSON_AddObjectToObject(row, "mann_whitney");

	json_add_number(welch, "t", c->welch.t);
	json_add_number(welch, "df", c->welch.df);
	json_add_number(welch, "p", c->welch.p);
	json_add_number(welch, "pct", stats_pct(c->welch.mean));
	add_interval(welch, "ci_pct", stats_pct(c->welch.lo),
		     stats_pct(c->welch.hi));
	json_add_number(rank, "u_control", c->rank.u);
	json_add_number(rank, "p", c->rank.p);
	cJSON_AddBoolToObject(rank, "exact", c->rank.exact);
	json_add_number(rank, "shift", c->rank.shift);
	add_interval(rank, "ci", c->rank.lo, c->rank.hi);
	json_add_number(row, "median_delta_pct", c->median_delta_pct);
	json_add_number(row, "min_delta_pct", c->min_delta_pct);
	json_add_number(row, "legacy_pct", c->legacy_pct);
}

static void
add_scope(cJSON *row, const struct judge_contrast *c,
	  const struct verdict_info *info)
{
	char text[256] = "these logs";

	if (c->across_pods)
		(void)snprintf(text, sizeof(text), "across %zu pods",
			       c->n_pods);
	else if (info->pods != NULL && c->n_pods == 2)
		(void)snprintf(text, sizeof(text), "pods %s and %s",
			       pod_name(info, c->pods[0].pod),
			       pod_name(info, c->pods[1].pod));
	else if (info->pods != NULL && c->n_pods == 1)
		(void)snprintf(text, sizeof(text), "pod %s",
			       pod_name(info, c->pods[0].pod));
	json_add_string(row, "scope", text);
}

static void
add_verdict(cJSON *row, const struct judge_contrast *c)
{
	cJSON *suffixes;

	json_add_string(row, "verdict", verdict_word_name(c->verdict.word));
	json_add_string(row, "text", c->verdict.text);
	json_add_string(row, "if_valid", c->if_valid.text);
	suffixes = cJSON_AddArrayToObject(row, "suffix");
	for (unsigned int i = 0; i < VERDICT_SUFFIX_COUNT; i++)
		if (c->verdict.suffixes >> i & 1U)
			cJSON_AddItemToArray(
				suffixes,
				cJSON_CreateString(verdict_suffix_name(
					(enum verdict_suffix)i)));
	cJSON_AddBoolToObject(row, "below_margin", c->verdict.below_margin);
}

/* Runs that stand far out, and what they did to the interval. */
static void
add_outliers(cJSON *row, const struct judge *judge,
	     const struct judge_contrast *c)
{
	cJSON *array = cJSON_AddArrayToObject(row, "outliers");

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		cJSON *item;

		if (!run->outlier || (run->arm != 0 && run->arm != c->arm))
			continue;
		item = cJSON_CreateObject();
		json_add_string(item, "run", run->name);
		json_add_number(item, "block", (double)run->block);
		json_add_string(item, "tag", judge->arms[run->arm].tag);
		json_add_number(item, "times_median", run->times_median);
		json_add_number(item, "robust_z", run->z);
		json_add_string(item, "seen", run->seen);
		cJSON_AddBoolToObject(item, "blows_up", judge_blows_up(c, run));
		cJSON_AddItemToArray(array, item);
	}
	cJSON_AddBoolToObject(row, "swollen", c->swollen);
	json_add_number(row, "robust_sd_d", c->robust_sd);
	json_add_number(row, "blocks_to_hl",
			c->blocks_to_hl > 0 ? (double)c->blocks_to_hl
					    : (double)NAN);
}

static cJSON *
contrast_json(const struct judge *judge, const struct judge_contrast *c,
	      const struct verdict_info *info)
{
	cJSON *row = cJSON_CreateObject();
	const struct paired *p = &c->paired;

	json_add_string(row, "variant", judge->arms[c->arm].tag);
	json_add_string(row, "control", judge->arms[0].tag);
	cJSON_AddBoolToObject(row, "aa", judge->arms[c->arm].aa);
	json_add_number(row, "n_blocks", (double)c->n_blocks);
	add_paired(row, p);
	json_add_number(row, "p_holm", c->p_holm);
	json_add_number(row, "p_signflip", p->p_signflip);
	json_add_number(row, "p_tost", p->p_tost);
	json_add_number(row, "hl_d", p->hl);
	add_interval(row, "hl_ci_pct", stats_pct(p->hl_lo),
		     stats_pct(p->hl_hi));
	json_add_number(row, "n_agree", (double)c->n_agree);
	add_outliers(row, judge, c);
	json_add_number(row, "mde_pct", stats_pct(p->mde));
	json_add_number(row, "blocks_to_margin",
			c->blocks_to_margin > 0 ? (double)c->blocks_to_margin
						: (double)NAN);
	json_add_number(row, "Q", c->spread.q);
	json_add_number(row, "p_Q", c->spread.p_q);
	json_add_number(row, "I2", c->spread.i2);
	add_scope(row, c, info);
	add_pods(row, c, info);
	add_unblocked(row, c);
	json_add_string(row, "trend", window_trend_name(c->trend));
	add_hits(row, &c->hits);
	add_verdict(row, c);
	return row;
}

static void
add_arms(cJSON *root, const struct judge *judge)
{
	cJSON *arms = cJSON_AddArrayToObject(root, "arms");

	for (size_t i = 0; i < judge->n_arms; i++) {
		const struct judge_summary *s = &judge->summary[i];
		bool higher = judge->rule.higher;
		cJSON *row = cJSON_CreateObject();

		json_add_string(row, "tag", judge->arms[i].tag);
		cJSON_AddBoolToObject(row, "control", i == 0);
		json_add_number(row, "valid", (double)s->n);
		json_add_number(row, "invalid", (double)s->n_invalid);
		json_add_number(row, "min", higher ? 1.0 / s->max : s->min);
		json_add_number(row, "median",
				higher ? 1.0 / s->median : s->median);
		json_add_number(row, "max", higher ? 1.0 / s->min : s->max);
		json_add_number(row, "spread_pct_of_median", s->spread_pct);
		json_add_number(row, "legacy_mean", s->legacy_mean);
		cJSON_AddItemToArray(arms, row);
	}
}

static void
add_dropped(cJSON *root, const struct judge *judge,
	    const struct verdict_info *info)
{
	cJSON *array = cJSON_AddArrayToObject(root, "dropped_blocks");

	for (size_t i = 0; i < judge->n_dropped; i++) {
		const struct judge_dropped *dropped = &judge->dropped[i];
		cJSON *row = cJSON_CreateObject();

		json_add_number(row, "block", (double)dropped->block);
		json_add_string(row, "pod", pod_name(info, dropped->pod));
		json_add_string(row, "tag", judge->arms[dropped->arm].tag);
		json_add_string(row, "reason", dropped->reason);
		cJSON_AddBoolToObject(row, "repeated", false);
		cJSON_AddItemToArray(array, row);
	}
	for (size_t i = 0; i < info->n_repeats; i++) {
		const struct verdict_repeat *repeat = &info->repeats[i];
		cJSON *row = cJSON_CreateObject();

		json_add_number(row, "block", (double)repeat->block);
		json_add_string(row, "pod", pod_name(info, repeat->pod));
		json_add_string(row, "tag", NULL);
		json_add_string(row, "reason", repeat->reason);
		cJSON_AddBoolToObject(row, "repeated", true);
		cJSON_AddItemToArray(array, row);
	}
}

/* A seed is 64 bits; beyond 2^53 a JSON number would lie, so it is text. */
static void
add_seed(cJSON *root, const struct verdict_info *info)
{
	char text[24];

	if (!info->has_seed) {
		cJSON_AddNullToObject(root, "seed");
	} else if (info->seed < 1ULL << 53) {
		json_add_number(root, "seed", (double)info->seed);
	} else {
		(void)snprintf(text, sizeof(text), "%llu",
			       (unsigned long long)info->seed);
		json_add_string(root, "seed", text);
	}
}

/* The noise that a provisional value rests on; null: none is known. */
static void
add_register(cJSON *root, const struct judge *judge)
{
	cJSON *row;

	if (!(judge->rule.register_sd > 0.0)) {
		cJSON_AddNullToObject(root, "register");
		return;
	}
	row = cJSON_AddObjectToObject(root, "register");
	json_add_number(row, "sd_pct", 100.0 * judge->rule.register_sd);
	json_add_number(row, "df", judge->rule.register_df);
}

/* Fresh blocks of the best against one other arm. */
static void
add_fresh(cJSON *node, const char *key, const struct judge *judge, size_t arm,
	  const struct paired *paired)
{
	cJSON *row = cJSON_AddObjectToObject(node, key);

	json_add_string(row, "tag", judge->arms[arm].tag);
	json_add_number(row, "n_blocks", (double)paired->n);
	add_paired(row, paired);
}

static void
add_best(cJSON *root, const struct judge *judge)
{
	static const char *const states[] = { "", "none", "leads",
					      "confirmed" };
	const struct judge_best *best = &judge->best;
	cJSON *node;

	if (best->state == BEST_NOT_ASKED) {
		cJSON_AddNullToObject(root, "best");
		return;
	}
	node = cJSON_AddObjectToObject(root, "best");
	json_add_string(node, "state", states[best->state]);
	json_add_string(node, "tag",
			best->state > BEST_NONE ? judge->arms[best->arm].tag
						: NULL);
	json_add_number(node, "pairs", (double)best->n_pairs);
	json_add_number(node, "p_holm_pairs", best->p_pairs);
	json_add_number(node, "fresh_blocks", (double)best->n_fresh);
	if (best->n_fresh > 0) {
		add_fresh(node, "over_control", judge, 0, &best->over_control);
		add_fresh(node, "over_runner_up", judge, best->rival,
			  &best->over_rival);
	}
	json_add_string(node, "text", best->text);
}

cJSON *
verdict_to_json(const struct judge *judge, const struct verdict_info *info)
{
	cJSON *root = cJSON_CreateObject(), *array;

	json_add_string(root, "schema", VERDICT_SCHEMA);
	json_add_string(root, "name", info->name);
	json_add_string(root, "bench_sha256", info->bench_sha256);
	add_seed(root, info);
	json_add_string(root, "metric", info->metric);
	cJSON_AddBoolToObject(root, "higher_is_better", judge->rule.higher);
	if (isnan(judge->lo))
		cJSON_AddNullToObject(root, "window");
	else
		add_interval(root, "window", judge->lo, judge->hi);
	json_add_number(root, "alpha", judge->rule.paired.alpha);
	json_add_number(root, "margin_pct", 100.0 * judge->rule.paired.margin);
	add_register(root, judge);
	array = cJSON_AddArrayToObject(root, "schedule");
	for (size_t i = 0; i < info->n_schedule; i++)
		cJSON_AddItemToArray(array,
				     cJSON_CreateString(info->schedule[i]));
	array = cJSON_AddArrayToObject(root, "runs");
	for (size_t i = 0; i < judge->n_runs; i++)
		cJSON_AddItemToArray(array, run_json(judge, info, i));
	add_arms(root, judge);
	array = cJSON_AddArrayToObject(root, "contrasts");
	for (size_t i = 0; i < judge->n_contrasts; i++)
		cJSON_AddItemToArray(
			array,
			contrast_json(judge, &judge->contrasts[i], info));
	add_best(root, judge);
	add_dropped(root, judge, info);
	json_add_number(root, "cost_usd", info->cost_usd);
	json_add_string(root, "stopped", info->stopped);
	return root;
}

/* The first counted run of an arm; any, or one that no guard took. */
static const struct judge_run *
first_run(const struct judge *judge, size_t arm, bool any)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == arm && run->counted && run->log != NULL &&
		    (any || guard_hard(&run->hits) == NULL))
			return run;
	}
	return NULL;
}

/* Is the arm's verdict that its speed counts for nothing? */
static bool
is_refused(const struct judge *judge, size_t arm)
{
	return arm > 0 &&
	       judge->contrasts[arm - 1].verdict.word == VERDICT_INVALID;
}

cJSON *
verdict_summary_json(const struct judge *judge)
{
	cJSON *root = cJSON_CreateObject();

	for (size_t arm = 0; arm < judge->n_arms; arm++) {
		struct step_legacy none = step_legacy(NULL, 0, 0, 0), legacy;
		const struct judge_run *good = first_run(judge, arm, false);
		const struct judge_run *run =
			good != NULL ? good : first_run(judge, arm, true);
		const char *tag = judge->arms[arm].tag;
		cJSON *row;

		if (run == NULL || run->log->kind != RUN_LOG_TRAINING)
			continue;
		/* Who reads this alone would rank what counts for nothing. */
		legacy = good != NULL && !is_refused(judge, arm) ? run->legacy
								 : none;
		row = cJSON_AddObjectToObject(root, tag);
		json_add_string(row, "tag", tag);
		json_add_number(row, "n_logged_steps",
				(double)run->log->n_rows);
		json_add_number(row, "n_steady_state", (double)legacy.n);
		json_add_number(row, "throughput_mean", legacy.mean);
		json_add_number(row, "throughput_median", legacy.median);
		json_add_number(row, "min_throughput", legacy.min);
		json_add_number(row, "max_throughput", legacy.max);
	}
	return root;
}
