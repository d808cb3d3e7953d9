/* SPDX-License-Identifier: MIT */
/* Write verdict.json and summary.json, and read verdict.json. */
#include "bench/verdict_json.h"

#include "bench/plan.h"

static cJSON *make_interval(double lo, double hi)
{
	cJSON *array = cJSON_CreateArray();

	json_push_number(array, lo);
	json_push_number(array, hi);
	return array;
}

static cJSON *make_hits(const struct guard_hits *hits)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < hits->n; i++)
		json_add(json_add_row(array), JTEXT("guard", guard_words[hits->hit[i].guard]),
			 JBOOL("hard", hits->hit[i].hard), JCLEAN("text", hits->hit[i].text));
	return array;
}

static const char *get_pod(const struct verdict_info *info, size_t pod)
{
	return info->plan != NULL ? info->plan->pods[pod].id : NULL;
}

static void add_run(cJSON *row, const struct judge *judge, const struct judge_run *run,
		    const struct verdict_info *info)
{
	const struct step_window *w = &run->window;
	const struct health_sum *h = run->health;
	cJSON *health = h == NULL ? cJSON_CreateNull() : cJSON_CreateObject();

	if (h != NULL)
		json_add(health, JNUM("gpu_samples", h->n_gpu), JNUM("sm_mhz", h->sm_mhz),
			 JNUM("power_w", h->power_w), JNUM("temp_c", h->temp_c),
			 JNUM("util_pct", h->util_pct),
			 JNUM("reasons", h->n_gpu > 0 ? (double)h->reasons : (double)NAN),
			 JNUM("power_cap_share", h->power_cap_share), JBOOL("stamped", h->stamped),
			 JNUM("cores", h->cores), JNUM("load1", h->load1),
			 JNUM("busy_cores", h->busy_cores), JNUM("steal_s", h->steal_s),
			 JNUM("cpu_wait_s", h->wait_s), JNUM("cpu_quota_s", h->quota_s),
			 JTEXT("foreign", h->foreign[0] != '\0' ? h->foreign : NULL));
	json_add(row, JCLEAN("id", run->name), JNUM("block", run->block),
		 JTEXT("pod", get_pod(info, run->pod)), JTEXT("tag", judge->arms[run->arm].tag),
		 JNUM("rep", run->rep),
		 JNUM("pos", run->pos != JUDGE_ANY ? (double)run->pos : (double)NAN),
		 JBOOL("counted", run->counted), JBOOL("fresh", run->fresh),
		 JTEXT("state", run_state_words[run->state]), JNUM("rc", run->rc),
		 JNUM("y_ms", judge->training ? run->y : (double)NAN), JNUM("value", run->value),
		 JNUM("legacy_mean", run->legacy),
		 JTEXT("timed_by", run->has_window ? step_clocks[run->times.clock] : NULL),
		 JNUM("interval_median_ms", w->interval_median_ms),
		 JNUM("interval_mad_ms", w->interval_mad_ms), JNUM("slope_ms", w->slope_ms),
		 JNUM("lag_s", w->lag_s), JNUM("lag_steps", w->lag_steps),
		 JNUM("val_loss", run->val_loss), JBOOL("outlier", run->outlier),
		 JNUM("robust_z", run->z), JNUM("times_median", run->times_median),
		 JTEXT("seen", run->outlier ? run->seen : NULL), JNODE("health", health),
		 JCLEAN("runtime", run->runtime), JNODE("guards", make_hits(&run->hits)),
		 JCLEAN("log", run->path));
	json_add_string(cJSON_AddObjectToObject(row, "sha"), "log",
			run->log != NULL ? run->log->sha256 : NULL);
	json_add(row, JTEXT("t0", run->t0), JTEXT("t1", run->t1),
		 JNUM("clock_drift_s", run->drift_s));
}

static void add_paired(cJSON *row, const struct paired *p)
{
	json_add(row, JNUM("mean_d", p->mean), JNUM("sd_d", p->sd), JNUM("se_d", p->se),
		 JNUM("t", p->t), JNUM("df", p->df), JNUM("p", p->p),
		 JNUM("pct", stats_pct(p->mean)),
		 JNODE("ci_pct", make_interval(stats_pct(p->lo), stats_pct(p->hi))));
}

static void add_blocks(cJSON *row, const struct judge_contrast *c, const struct verdict_info *info)
{
	static const char *const marks[] = { NULL, "outlier", "guarded" };
	cJSON *blocks = cJSON_AddArrayToObject(row, "blocks");

	array_each (b, c->blocks, c->n_shown)
		json_add(json_add_row(blocks), JNUM("block", b->block),
			 JTEXT("pod", get_pod(info, b->pod)), JNUM("control", b->control),
			 JNUM("variant", b->variant), JNUM("pct", stats_pct(b->d)),
			 JBOOL("counts", b->counts), JTEXT("mark", marks[b->mark]));
}

static void add_unblocked(cJSON *row, const struct judge_contrast *c)
{
	const struct welch *w = &c->welch;
	const struct rank_two *r = &c->rank;

	json_add(cJSON_AddObjectToObject(row, "welch"), JNUM("t", w->t), JNUM("df", w->df),
		 JNUM("p", w->p), JNUM("pct", stats_pct(w->mean)),
		 JNODE("ci_pct", make_interval(stats_pct(w->lo), stats_pct(w->hi))));
	json_add(cJSON_AddObjectToObject(row, "mann_whitney"), JNUM("u_control", r->u),
		 JNUM("p", r->p), JBOOL("exact", r->exact), JNUM("shift", r->shift),
		 JNODE("ci", make_interval(r->lo, r->hi)));
	json_add(row, JNUM("median_delta_pct", c->median_delta_pct),
		 JNUM("min_delta_pct", c->min_delta_pct), JNUM("legacy_pct", c->legacy_pct));
}

static void add_scope(cJSON *row, const struct judge_contrast *c, const struct verdict_info *info)
{
	char text[256] = "these logs";

	if (c->across_pods)
		print_into(text, "across %zu pods", c->n_pods);
	else if (info->plan != NULL && c->n_pods == 2)
		print_into(text, "pods %s and %s", get_pod(info, c->pods[0].pod),
			   get_pod(info, c->pods[1].pod));
	else if (info->plan != NULL && c->n_pods == 1)
		print_into(text, "pod %s", get_pod(info, c->pods[0].pod));
	json_add_string(row, "scope", text);
}

static void add_outliers(cJSON *row, const struct judge *judge, const struct judge_contrast *c)
{
	cJSON *array = cJSON_AddArrayToObject(row, "outliers");

	array_each (run, judge->runs, judge->n_runs)
		if (run->outlier && judge_is_side(c, run->arm))
			json_add(json_add_row(array), JCLEAN("run", run->name),
				 JNUM("block", run->block), JTEXT("tag", judge->arms[run->arm].tag),
				 JNUM("value", run->value), JNUM("times_median", run->times_median),
				 JNUM("robust_z", run->z), JTEXT("seen", run->seen),
				 JBOOL("widens_interval", judge_widens_interval(c, run)));
	json_add(row, JBOOL("widened", c->widened), JNUM("robust_sd_d", c->robust_sd),
		 JNUM("block_sd_d", c->block_sd),
		 JSOME("blocks_to_hl",
		       c->widened ? judge_blocks_to_show(judge, c, fabs(c->paired.hl)) : 0));
}

static cJSON *make_quality(const struct judge *judge, const struct judge_quality *q)
{
	const struct paired *nats = &q->nats;

	if (!judge->training || nats->n == 0)
		return cJSON_CreateNull();
	return json_new(JTEXT("of", q->by_val ? "val_loss" : "train_loss"),
			JNUM("n_pairs", nats->n), JNUM("nats", nats->mean),
			JNODE("ci_nats", make_interval(nats->lo, nats->hi)), JNUM("p", nats->p),
			JNUM("mde_nats", nats->mde), JNUM("margin_nats", judge->rule.losses.margin),
			JBOOL("same", q->same), JBOOL("worse", q->worse));
}

static void add_contrast(cJSON *row, const struct judge *judge, const struct judge_contrast *c,
			 const struct verdict_info *info)
{
	const struct paired *p = &c->paired;

	json_add(row, JTEXT("variant", judge->arms[c->arm].tag),
		 JTEXT("control", judge->arms[0].tag), JBOOL("aa", judge->arms[c->arm].aa),
		 JNUM("n_blocks", c->n_blocks), JNUM("control_mean", c->control),
		 JNUM("variant_mean", c->variant));
	add_paired(row, p);
	json_add(row, JNUM("p_holm", c->p_holm), JNUM("level", c->level),
		 JTEXT("second_control", c->second != 0 ? judge->arms[c->second].tag : NULL),
		 JNUM("place_pct", stats_pct(p->slope)),
		 JSOME("between_pods_pct", 100.0 * c->between_sd), JNUM("p_own", p->p_own),
		 JNUM("p_signflip", p->p_signflip), JNUM("p_tost", p->p_tost), JNUM("hl_d", p->hl),
		 JNODE("hl_ci_pct", make_interval(stats_pct(p->hl_lo), stats_pct(p->hl_hi))),
		 JNUM("n_agree", c->n_agree));
	add_outliers(row, judge, c);
	json_add(row, JNUM("mde_pct", stats_pct(p->mde)),
		 JSOME("blocks_to_margin",
		       judge_blocks_to_show(judge, c, log1p(judge->rule.paired.margin))),
		 JNUM("pods_f", c->spread.f), JNUM("pods_p", c->spread.p),
		 JNUM("pods_share", c->spread.share), JBOOL("pods_differ", c->pods_differ),
		 JBOOL("across_pods", c->across_pods));
	add_scope(row, c, info);
	cJSON *array = cJSON_AddArrayToObject(row, "pods");
	for (size_t i = 0; i < c->n_pods; i++)
		add_paired(json_add(json_add_row(array),
				    JTEXT("pod", get_pod(info, c->pods[i].pod)),
				    JNUM("n_blocks", c->pods[i].paired.n)),
			   &c->pods[i].paired);
	add_blocks(row, c, info);
	add_unblocked(row, c);
	json_add(row, JTEXT("trend", window_trends[c->trend]),
		 JNUM("by_intervals_pct", stats_pct(p->mean - c->steps.away.mean)),
		 JNODE("odd_interval", isnan(c->steps.away.mean)
					       ? cJSON_CreateNull()
					       : make_interval(c->steps.odd_lo, c->steps.odd_hi)),
		 JSOME("odd_times", c->steps.odd_times),
		 JNODE("quality", make_quality(judge, &c->quality)),
		 JNODE("guards", make_hits(&c->hits)));
	array = cJSON_CreateArray();
	for (unsigned int i = 0; i < VERDICT_SUFFIX_COUNT; i++)
		if (c->verdict.suffixes >> i & 1U)
			cJSON_AddItemToArray(array, cJSON_CreateString(verdict_suffixes[i]));
	json_add(row, JTEXT("verdict", verdict_words[c->verdict.word]),
		 JTEXT("text", c->verdict.text), JTEXT("if_valid", c->if_valid.text),
		 JTEXT("reason", c->verdict.reason != VERDICT_NONE
					 ? verdict_reasons[c->verdict.reason]
					 : NULL),
		 JNODE("suffix", array), JBOOL("below_margin", c->verdict.below_margin));
}

/* Add a block that does not count.  Without a tag it was repeated. */
static void add_dropped(cJSON *array, const struct verdict_info *info, const char *tag, size_t pod,
			size_t block, const char *reason)
{
	json_add(json_add_row(array), JNUM("block", block), JTEXT("pod", get_pod(info, pod)),
		 JTEXT("tag", tag), JCLEAN("reason", reason), JBOOL("repeated", tag == NULL));
}

/* Add the comparison of the best variant with another arm in the extra blocks. */
static void add_fresh(cJSON *node, const char *key, const struct judge *judge, size_t arm,
		      const struct paired *paired)
{
	add_paired(json_add(cJSON_AddObjectToObject(node, key), JTEXT("tag", judge->arms[arm].tag),
			    JNUM("n_blocks", paired->n)),
		   paired);
}

static cJSON *make_best(const struct judge *judge)
{
	static const char *const states[] = { "", "none", "leads", "confirmed" };
	const struct judge_best *best = &judge->best;

	if (best->state == BEST_NOT_ASKED)
		return cJSON_CreateNull();
	cJSON *node =
		json_new(JTEXT("state", states[best->state]),
			 JTEXT("tag", best->state > BEST_NONE ? judge->arms[best->arm].tag : NULL),
			 JNUM("pairs", best->n_pairs), JNUM("p_holm_pairs", best->p_pairs),
			 JNUM("fresh_blocks", best->n_fresh));
	if (best->n_fresh > 0) {
		add_fresh(node, "over_control", judge, 0, &best->over_control);
		add_fresh(node, "over_runner_up", judge, best->rival, &best->over_rival);
	}
	return json_add(node, JTEXT("text", best->text));
}

/* The order of the arms in each round of the first pod, as letters: "AB". */
static cJSON *make_schedule(const struct plan *plan)
{
	size_t n_arms = plan_n_arms(plan), n = plan->blocks * plan->reps;
	AUTO_FREE unsigned char *order = plan_schedule(plan, 0);
	cJSON *array = cJSON_CreateArray();

	for (size_t r = plan->burn_in; r < plan->burn_in + n; r++) {
		char round[SCHEDULE_MAX_ARMS + 1] = "";

		for (size_t i = 0; i < n_arms; i++)
			round[i] = (char)('A' + order[r * n_arms + i]);
		cJSON_AddItemToArray(array, cJSON_CreateString(round));
	}
	return array;
}

cJSON *verdict_to_json(const struct judge *judge, const struct verdict_info *info)
{
	cJSON *root = cJSON_CreateObject(), *array, *noise;
	const struct judge_rule *rule = &judge->rule;
	const struct plan *plan = info->plan;

	noise = rule->register_sd > 0.0 ? json_new(JNUM("sd_pct", 100.0 * rule->register_sd),
						   JNUM("df", rule->register_df))
					: cJSON_CreateNull();
	json_add(root, JTEXT("schema", VERDICT_SCHEMA),
		 JTEXT("name", plan != NULL ? plan->name : NULL),
		 JTEXT("bench_sha256", plan != NULL ? plan->sha256 : NULL),
		 JNUM("seed", plan != NULL ? (double)plan->seed : (double)NAN),
		 JTEXT("metric", info->metric),
		 JTEXT("metric_chosen", plan != NULL ? plan->chosen : NULL),
		 JBOOL("higher_is_better", judge->rule.higher),
		 JNODE("window",
		       isnan(judge->lo) ? cJSON_CreateNull() : make_interval(judge->lo, judge->hi)),
		 JBOOL("window_found", judge->window_auto), JNUM("steady_from", judge->steady_from),
		 JNUM("alpha", judge->rule.paired.alpha),
		 JNUM("margin_pct", 100.0 * judge->rule.paired.margin),
		 JBOOL("same_noise", judge->rule.paired.same_noise), JNODE("register", noise),
		 JNODE("schedule", plan != NULL ? make_schedule(plan) : cJSON_CreateArray()));
	array = cJSON_AddArrayToObject(root, "runs");
	array_each (run, judge->runs, judge->n_runs)
		if (run->counted)
			add_run(json_add_row(array), judge, run, info);
	array = cJSON_AddArrayToObject(root, "arms");
	for (size_t i = 0; i < judge->n_arms; i++) {
		const struct judge_summary *s = &judge->summary[i];

		json_add(json_add_row(array), JTEXT("tag", judge->arms[i].tag),
			 JBOOL("control", i == 0), JBOOL("aa", judge->arms[i].aa),
			 JNUM("valid", s->n), JNUM("invalid", s->n_invalid), JNUM("min", s->low),
			 JNUM("median", s->middle), JNUM("max", s->high),
			 JNUM("spread_pct_of_median", s->spread_pct),
			 JNUM("legacy_mean", s->legacy_mean), JNUM("val_loss", s->val_loss),
			 JNUM("tokens_per_step", s->batch), JNUM("clock_ticks", s->ticks));
	}
	array = cJSON_AddArrayToObject(root, "contrasts");
	for (size_t i = 0; i < judge->n_contrasts; i++)
		add_contrast(json_add_row(array), judge, &judge->contrasts[i], info);
	json_add(root, JNODE("best", make_best(judge)));
	array = cJSON_AddArrayToObject(root, "dropped_blocks");
	array_each (d, judge->dropped, judge->n_dropped)
		add_dropped(array, info, judge->arms[d->arm].tag, d->pod, d->block, d->reason);
	for (size_t i = 0; i < info->n_repeats; i++)
		add_dropped(array, info, NULL, info->repeats[i].pod, info->repeats[i].block,
			    info->repeats[i].reason);
	json_add(root, JNUM("cost_usd", info->cost_usd),
		 JNUM("pods_without_price", plan != NULL ? plan_n_unpriced(plan) : 0),
		 JTEXT("stopped", info->stopped));
	return root;
}

cJSON *verdict_summary_json(const struct judge *judge)
{
	cJSON *root = cJSON_CreateObject();

	for (size_t arm = 0; arm < judge->n_arms; arm++) {
		const struct judge_run *run = judge_next(judge, arm, NULL);
		const char *tag = judge->arms[arm].tag;

		while (run != NULL && run->log == NULL)
			run = judge_next(judge, arm, run);
		if (run == NULL || run->log->kind != RUN_LOG_TRAINING)
			continue;
		cJSON *row = cJSON_AddObjectToObject(root, tag);
		json_add(row, JTEXT("tag", tag), JNUM("n_logged_steps", run->log->n_rows),
			 JNUM("n_steady_state", run->window.n_rows));
		/* tok/s of the valid runs, from their step times. */
		AUTO_FREE double *tok = xmalloc((judge->n_runs + 1) * sizeof(*tok));
		double batch = judge->summary[arm].batch;
		size_t n = 0;
		/* Without a verdict next to it, the speed of an invalid arm would mislead. */
		bool is_shown = batch > 0.0 && !judge_is_invalid(judge, arm);
		judge_each (one, judge, arm)
			if (is_shown && !one->fresh && one->y > 0.0 &&
			    guard_hard(&one->hits) == NULL)
				tok[n++] = batch / one->y * 1000.0;
		json_add(row, JNUM("n_runs", n), JNUM("throughput_mean", stats_mean(tok, n)),
			 JNUM("throughput_median", values_median(tok, n)),
			 JNUM("min_throughput", stats_min(tok, n)),
			 JNUM("max_throughput", stats_max(tok, n)));
	}
	return root;
}

const char *verdict_missing;

const cJSON *verdict_list(const cJSON *node, const char *key)
{
	const cJSON *found = json_get(node, key);

	if (found == NULL)
		verdict_missing = key;
	return found;
}

const cJSON *verdict_find(const cJSON *node, const char *list, const char *key, const char *name)
{
	json_each (row, verdict_list(node, list))
		if (strcmp(verdict_text(row, key), name) == 0)
			return row;
	return NULL;
}

double verdict_number(const cJSON *node, const char *key)
{
	const cJSON *found = verdict_list(node, key);

	return cJSON_IsNumber(found) ? found->valuedouble : (double)NAN;
}

size_t verdict_count(const cJSON *node, const char *key)
{
	double value = verdict_number(node, key);

	return value > 0.0 && value < 1e9 ? (size_t)value : 0;
}

double verdict_bound(const cJSON *node, const char *key, int i)
{
	return cJSON_GetNumberValue(cJSON_GetArrayItem(verdict_list(node, key), i));
}

bool verdict_is(const cJSON *node, const char *key)
{
	return cJSON_IsTrue(verdict_list(node, key));
}

bool verdict_has_hard_guard(const cJSON *run)
{
	json_each (hit, verdict_list(run, "guards"))
		if (verdict_is(hit, "hard"))
			return true;
	return false;
}

/* The value of `key`, or of the key that older versions wrote instead. */
static bool is_either(const cJSON *node, const char *key, const char *old)
{
	return verdict_is(node, json_get(node, old) != NULL ? old : key);
}

bool verdict_is_widened(const cJSON *contrast)
{
	return is_either(contrast, "widened", "swollen");
}

bool verdict_widens_interval(const cJSON *outlier)
{
	return is_either(outlier, "widens_interval", "blows_up");
}

const char *verdict_text(const cJSON *node, const char *key)
{
	const cJSON *found = verdict_list(node, key);

	return cJSON_IsString(found) ? found->valuestring : "";
}
