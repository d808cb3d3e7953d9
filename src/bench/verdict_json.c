/* SPDX-License-Identifier: MIT */
/*
 * A judgement as verdict.json, written once and read by all who print or draw
 * it; and summary.json.
 */
#include "config.h"

#include "bench/verdict_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/stats.h"

static cJSON *
add_row(cJSON *array)
{
	cJSON *row = cJSON_CreateObject();

	cJSON_AddItemToArray(array, row);
	return row;
}

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
		cJSON *hit = add_row(array);

		json_add_string(hit, "guard", guard_words[hits->hit[i].guard]);
		cJSON_AddBoolToObject(hit, "hard", hits->hit[i].hard);
		json_add_clean(hit, "text", hits->hit[i].text);
	}
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
	cJSON_AddBoolToObject(node, "stamped", h->stamped);
	json_add_number(node, "cores", h->cores);
	json_add_number(node, "load1", h->load1);
	json_add_number(node, "busy_cores", h->busy_cores);
	json_add_number(node, "steal_s", h->steal_s);
	json_add_number(node, "cpu_wait_s", h->wait_s);
	json_add_number(node, "cpu_quota_s", h->quota_s);
	json_add_string(node, "foreign",
			h->foreign[0] != '\0' ? h->foreign : NULL);
}

static void
add_pod(cJSON *row, const struct verdict_info *info, size_t pod)
{
	json_add_string(row, "pod",
			info->pods != NULL ? info->pods[pod] : NULL);
}

static void
add_run(cJSON *row, const struct judge *judge, const struct judge_run *run,
	const struct verdict_info *info)
{
	const struct step_window *w = &run->window;
	cJSON *sha;

	json_add_clean(row, "id", run->name);
	json_add_number(row, "block", (double)run->block);
	add_pod(row, info, run->pod);
	json_add_string(row, "tag", judge->arms[run->arm].tag);
	json_add_number(row, "rep", (double)run->rep);
	json_add_number(row, "pos",
			run->pos != JUDGE_ANY ? (double)run->pos : (double)NAN);
	cJSON_AddBoolToObject(row, "counted", run->counted);
	cJSON_AddBoolToObject(row, "fresh", run->fresh);
	json_add_string(row, "state", run_state_words[run->state]);
	json_add_number(row, "rc", run->rc);
	json_add_number(row, "y_ms", judge->training ? run->y : (double)NAN);
	json_add_number(row, "value", run->value);
	json_add_number(row, "legacy_mean", run->legacy);
	json_add_number(row, "interval_median_ms", w->interval_median_ms);
	json_add_number(row, "interval_mad_ms", w->interval_mad_ms);
	json_add_number(row, "slope_ms", w->slope_ms);
	json_add_number(row, "lag_s", w->lag_s);
	json_add_number(row, "lag_steps", w->lag_steps);
	json_add_number(row, "val_loss", run->val_loss);
	cJSON_AddBoolToObject(row, "outlier", run->outlier);
	json_add_number(row, "robust_z", run->z);
	json_add_number(row, "times_median", run->times_median);
	json_add_string(row, "seen", run->outlier ? run->seen : NULL);
	add_health(row, run->health);
	json_add_clean(row, "runtime", run->runtime);
	add_hits(row, &run->hits);
	json_add_clean(row, "log", run->path);
	sha = cJSON_AddObjectToObject(row, "sha");
	json_add_string(sha, "log", run->log != NULL ? run->log->sha256 : NULL);
	json_add_string(row, "t0", run->t0);
	json_add_string(row, "t1", run->t1);
	json_add_number(row, "clock_drift_s", run->drift_s);
}

static void
add_paired(cJSON *row, const struct paired *p)
{
	json_add_number(row, "mean_d", p->mean);
	json_add_number(row, "sd_d", p->sd);
	json_add_number(row, "se_d", p->se);
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
		cJSON *pod = add_row(pods);

		add_pod(pod, info, c->pods[i].pod);
		json_add_number(pod, "n_blocks", (double)c->pods[i].paired.n);
		add_paired(pod, &c->pods[i].paired);
	}
}

static void
add_blocks(cJSON *row, const struct judge_contrast *c,
	   const struct verdict_info *info)
{
	static const char *const marks[] = { NULL, "outlier", "guarded" };
	cJSON *blocks = cJSON_AddArrayToObject(row, "blocks");

	for (size_t i = 0; i < c->n_shown; i++) {
		const struct judge_block *b = &c->blocks[i];
		cJSON *block = add_row(blocks);

		json_add_number(block, "block", (double)b->block);
		add_pod(block, info, b->pod);
		json_add_number(block, "control", b->control);
		json_add_number(block, "variant", b->variant);
		json_add_number(block, "pct", stats_pct(b->d));
		cJSON_AddBoolToObject(block, "counts", b->counts);
		json_add_string(block, "mark", marks[b->mark]);
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
			       info->pods[c->pods[0].pod],
			       info->pods[c->pods[1].pod]);
	else if (info->pods != NULL && c->n_pods == 1)
		(void)snprintf(text, sizeof(text), "pod %s",
			       info->pods[c->pods[0].pod]);
	json_add_string(row, "scope", text);
}

static void
add_verdict(cJSON *row, const struct judge_contrast *c)
{
	cJSON *suffixes;

	json_add_string(row, "verdict", verdict_words[c->verdict.word]);
	json_add_string(row, "text", c->verdict.text);
	json_add_string(row, "if_valid", c->if_valid.text);
	suffixes = cJSON_AddArrayToObject(row, "suffix");
	for (unsigned int i = 0; i < VERDICT_SUFFIX_COUNT; i++)
		if (c->verdict.suffixes >> i & 1U)
			cJSON_AddItemToArray(
				suffixes,
				cJSON_CreateString(verdict_suffixes[i]));
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

		if (!run->outlier || !judge_is_side(c, run->arm))
			continue;
		item = add_row(array);
		json_add_clean(item, "run", run->name);
		json_add_number(item, "block", (double)run->block);
		json_add_string(item, "tag", judge->arms[run->arm].tag);
		json_add_number(item, "value", run->value);
		json_add_number(item, "times_median", run->times_median);
		json_add_number(item, "robust_z", run->z);
		json_add_string(item, "seen", run->seen);
		cJSON_AddBoolToObject(item, "blows_up", judge_blows_up(c, run));
	}
	cJSON_AddBoolToObject(row, "swollen", c->swollen);
	json_add_number(row, "robust_sd_d", c->robust_sd);
	json_add_number(row, "block_sd_d", c->block_sd);
	json_add_number(row, "blocks_to_hl",
			c->blocks_to_hl > 0 ? (double)c->blocks_to_hl
					    : (double)NAN);
}

/* The losses of a training variant; null: there are none to compare. */
static void
add_quality(cJSON *row, const struct judge *judge,
	    const struct judge_contrast *c)
{
	const struct judge_quality *q = &c->quality;
	cJSON *node;

	if (!judge->training || q->nats.n == 0) {
		cJSON_AddNullToObject(row, "quality");
		return;
	}
	node = cJSON_AddObjectToObject(row, "quality");
	json_add_string(node, "of", q->by_val ? "val_loss" : "train_loss");
	json_add_number(node, "n_pairs", (double)q->nats.n);
	json_add_number(node, "nats", q->nats.mean);
	add_interval(node, "ci_nats", q->nats.lo, q->nats.hi);
	json_add_number(node, "p", q->nats.p);
	json_add_number(node, "mde_nats", q->nats.mde);
	json_add_number(node, "margin_nats", judge->rule.losses.margin);
	cJSON_AddBoolToObject(node, "same", q->same);
	cJSON_AddBoolToObject(node, "worse", q->worse);
}

static void
add_contrast(cJSON *row, const struct judge *judge,
	     const struct judge_contrast *c, const struct verdict_info *info)
{
	const struct paired *p = &c->paired;

	json_add_string(row, "variant", judge->arms[c->arm].tag);
	json_add_string(row, "control", judge->arms[0].tag);
	cJSON_AddBoolToObject(row, "aa", judge->arms[c->arm].aa);
	json_add_number(row, "n_blocks", (double)c->n_blocks);
	json_add_number(row, "control_mean", c->control);
	json_add_number(row, "variant_mean", c->variant);
	add_paired(row, p);
	json_add_number(row, "p_holm", c->p_holm);
	json_add_number(row, "level", c->level);
	json_add_string(row, "second_control",
			c->second != 0 ? judge->arms[c->second].tag : NULL);
	json_add_number(row, "place_pct", stats_pct(p->slope));
	json_add_number(row, "between_pods_pct",
			c->between_sd > 0.0 ? 100.0 * c->between_sd
					    : (double)NAN);
	json_add_number(row, "p_own", p->p_own);
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
	json_add_number(row, "pods_f", c->spread.f);
	json_add_number(row, "pods_p", c->spread.p);
	json_add_number(row, "pods_share", c->spread.share);
	cJSON_AddBoolToObject(row, "pods_differ", c->pods_differ);
	cJSON_AddBoolToObject(row, "across_pods", c->across_pods);
	add_scope(row, c, info);
	add_pods(row, c, info);
	add_blocks(row, c, info);
	add_unblocked(row, c);
	json_add_string(row, "trend", window_trends[c->trend]);
	json_add_number(row, "by_intervals_pct",
			stats_pct(p->mean - c->steps.away.mean));
	if (isnan(c->steps.away.mean))
		cJSON_AddNullToObject(row, "odd_interval");
	else
		add_interval(row, "odd_interval", c->steps.odd_lo,
			     c->steps.odd_hi);
	json_add_number(row, "odd_times",
			c->steps.odd_times > 0.0 ? c->steps.odd_times
						 : (double)NAN);
	add_quality(row, judge, c);
	add_hits(row, &c->hits);
	add_verdict(row, c);
}

static void
add_arms(cJSON *root, const struct judge *judge)
{
	cJSON *arms = cJSON_AddArrayToObject(root, "arms");

	for (size_t i = 0; i < judge->n_arms; i++) {
		const struct judge_summary *s = &judge->summary[i];
		cJSON *row = add_row(arms);

		json_add_string(row, "tag", judge->arms[i].tag);
		cJSON_AddBoolToObject(row, "control", i == 0);
		cJSON_AddBoolToObject(row, "aa", judge->arms[i].aa);
		json_add_number(row, "valid", (double)s->n);
		json_add_number(row, "invalid", (double)s->n_invalid);
		json_add_number(row, "min", s->low);
		json_add_number(row, "median", s->middle);
		json_add_number(row, "max", s->high);
		json_add_number(row, "spread_pct_of_median", s->spread_pct);
		json_add_number(row, "legacy_mean", s->legacy_mean);
		json_add_number(row, "val_loss", s->val_loss);
		json_add_number(row, "tokens_per_step", s->batch);
		json_add_number(row, "clock_ticks", s->ticks);
	}
}

/* A block that counts for nobody; without a tag it was begun again. */
static void
add_dropped(cJSON *array, const struct verdict_info *info, const char *tag,
	    size_t pod, size_t block, const char *reason)
{
	cJSON *row = add_row(array);

	json_add_number(row, "block", (double)block);
	add_pod(row, info, pod);
	json_add_string(row, "tag", tag);
	json_add_clean(row, "reason", reason);
	cJSON_AddBoolToObject(row, "repeated", tag == NULL);
}

static void
add_all_dropped(cJSON *root, const struct judge *judge,
		const struct verdict_info *info)
{
	cJSON *array = cJSON_AddArrayToObject(root, "dropped_blocks");

	for (size_t i = 0; i < judge->n_dropped; i++) {
		const struct judge_dropped *d = &judge->dropped[i];

		add_dropped(array, info, judge->arms[d->arm].tag, d->pod,
			    d->block, d->reason);
	}
	for (size_t i = 0; i < info->n_repeats; i++)
		add_dropped(array, info, NULL, info->repeats[i].pod,
			    info->repeats[i].block, info->repeats[i].reason);
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
	cJSON_AddBoolToObject(root, "window_found", judge->window_auto);
	json_add_number(root, "steady_from", judge->steady_from);
	json_add_number(root, "alpha", judge->rule.paired.alpha);
	json_add_number(root, "margin_pct", 100.0 * judge->rule.paired.margin);
	add_register(root, judge);
	array = cJSON_AddArrayToObject(root, "schedule");
	for (size_t i = 0; i < info->n_schedule; i++)
		cJSON_AddItemToArray(array,
				     cJSON_CreateString(info->schedule[i]));
	array = cJSON_AddArrayToObject(root, "runs");
	for (size_t i = 0; i < judge->n_runs; i++)
		add_run(add_row(array), judge, &judge->runs[i], info);
	add_arms(root, judge);
	array = cJSON_AddArrayToObject(root, "contrasts");
	for (size_t i = 0; i < judge->n_contrasts; i++)
		add_contrast(add_row(array), judge, &judge->contrasts[i], info);
	add_best(root, judge);
	add_all_dropped(root, judge, info);
	json_add_number(root, "cost_usd", info->cost_usd);
	json_add_number(root, "pods_without_price", (double)info->n_unpriced);
	json_add_string(root, "stopped", info->stopped);
	return root;
}

/* tok/s of an arm's runs that count, by their step times. */
static void
add_throughput(cJSON *row, const struct judge *judge, size_t arm)
{
	double *tok = xmalloc((judge->n_runs + 1) * sizeof(*tok));
	double batch = judge->summary[arm].batch;
	const struct judge_run *run = NULL;
	size_t n = 0;

	/* Who reads this alone would rank what counts for nothing. */
	while (batch > 0.0 && !judge_is_invalid(judge, arm) &&
	       (run = judge_next(judge, arm, run)) != NULL)
		if (!run->fresh && run->y > 0.0 &&
		    guard_hard(&run->hits) == NULL)
			tok[n++] = batch / run->y * 1000.0;
	json_add_number(row, "n_runs", (double)n);
	json_add_number(row, "throughput_mean", stats_mean(tok, n));
	json_add_number(row, "throughput_median", stats_median(tok, n));
	json_add_number(row, "min_throughput", stats_min(tok, n));
	json_add_number(row, "max_throughput", stats_max(tok, n));
	free(tok);
}

cJSON *
verdict_summary_json(const struct judge *judge)
{
	cJSON *root = cJSON_CreateObject();

	for (size_t arm = 0; arm < judge->n_arms; arm++) {
		const struct judge_run *run = judge_next(judge, arm, NULL);
		const char *tag = judge->arms[arm].tag;
		cJSON *row;

		while (run != NULL && run->log == NULL)
			run = judge_next(judge, arm, run);
		if (run == NULL || run->log->kind != RUN_LOG_TRAINING)
			continue;
		row = cJSON_AddObjectToObject(root, tag);
		json_add_string(row, "tag", tag);
		json_add_number(row, "n_logged_steps",
				(double)run->log->n_rows);
		json_add_number(row, "n_steady_state",
				(double)run->window.n_rows);
		add_throughput(row, judge, arm);
	}
	return root;
}

const char *verdict_missing;

const cJSON *
verdict_list(const cJSON *node, const char *key)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(node, key);

	if (found == NULL)
		verdict_missing = key;
	return found;
}

double
verdict_number(const cJSON *node, const char *key)
{
	const cJSON *found = verdict_list(node, key);

	return cJSON_IsNumber(found) ? found->valuedouble : (double)NAN;
}

size_t
verdict_count(const cJSON *node, const char *key)
{
	double value = verdict_number(node, key);

	return value > 0.0 && value < 1e9 ? (size_t)value : 0;
}

bool
verdict_is(const cJSON *node, const char *key)
{
	return cJSON_IsTrue(verdict_list(node, key));
}

const char *
verdict_text(const cJSON *node, const char *key)
{
	const cJSON *found = verdict_list(node, key);

	return cJSON_IsString(found) ? found->valuestring : "";
}
