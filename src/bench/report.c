/* SPDX-License-Identifier: MIT */
/* Turn a verdict.json into facts for people, for all commands and the dashboard. */
#include "bench/verdict_json.h"

#define MAX_BLOCKS   64
#define MAX_OUTLIERS 12
#define MAX_LINE     4096
/* power_blocks() considers at most this many blocks. */
#define MOST_BLOCKS 1000

#define num verdict_number
#define txt verdict_text

struct report {
	struct facts *facts;
	const cJSON *root, *c; /* c: the current contrast */
	struct buf line;       /* value of the next fact */
};

LIKE_PRINTF(2, 3)
static void append(struct report *r, const char *fmt, ...)
{
	buf_append_args(&r->line, fmt);
}

static void add_fact(struct report *r, const char *label, enum fact_style style)
{
	facts_text(r->facts, label, style, "%s", r->line.data);
	buf_clear(&r->line);
}

/* "+1.81%", "1.81%" or a dash */
static struct stats_text pct_text(double pct, bool sign)
{
	struct stats_text text = { FMT_ABSENT };

	if (isfinite(pct))
		print_into(text.s, "%.40s%%", stats_pct_text(pct, sign).s);
	return text;
}

/* " [1.62, 1.85]"; "" if a bound is unknown */
static struct stats_text interval_text(const cJSON *node, const char *key)
{
	double lo = verdict_bound(node, key, 0), hi = verdict_bound(node, key, 1);
	struct stats_text text = { "" };

	if (!isnan(lo) && !isnan(hi))
		print_into(text.s, " [%.28s, %.28s]", stats_pct_text(lo, false).s,
			   stats_pct_text(hi, false).s);
	return text;
}

/* "p 0.0123"; "" if p is unknown */
static struct stats_text p_text(const char *name, double p)
{
	struct stats_text text = { "" };

	if (!isnan(p))
		print_into(text.s, p < 1e-4 ? "%s %.1e" : "%s %.4f", name, p);
	return text;
}

/* Append the Hodges-Lehmann estimate, and how many blocks agree with it. */
static void append_robust(struct report *r)
{
	double hl = num(r->c, "hl_d");

	append(r, "%s%s", pct_text(stats_pct(hl), true).s, interval_text(r->c, "hl_ci_pct").s);
	if (hl != 0.0)
		append(r, ", %zu of %zu blocks %s", verdict_count(r->c, "n_agree"),
		       verdict_count(r->c, "n_blocks"), hl > 0.0 ? "faster" : "slower");
}

static bool is_word(const cJSON *c, enum verdict_word word)
{
	return strcmp(txt(c, "verdict"), verdict_words[word]) == 0;
}

static enum fact_style get_style(const cJSON *c)
{
	static const enum fact_style styles[] = {
		[VERDICT_INVALID] = FACT_ALARM,	       [VERDICT_NOT_JUDGED] = FACT_HINT,
		[VERDICT_FASTER] = FACT_BETTER,	       [VERDICT_FASTER_WORSE] = FACT_WORSE,
		[VERDICT_SLOWER] = FACT_WORSE,	       [VERDICT_SAME] = FACT_DONE,
		[VERDICT_NO_DIFFERENCE] = FACT_STRONG,
	};
	int word = str_index(verdict_words, txt(c, "verdict"));

	return word >= 0 ? styles[word] : FACT_PLAIN;
}

static const cJSON *find_arm(const struct report *r, const char *role)
{
	return verdict_find(r->root, "arms", "tag", txt(r->c, role));
}

static bool has_guard(const struct report *r, enum guard guard)
{
	return verdict_find(r->c, "guards", "guard", guard_words[guard]) != NULL;
}

static void add_outliers(struct report *r, bool widening)
{
	bool widened = verdict_is_widened(r->c);
	size_t n = 0;

	json_each (run, verdict_list(r->c, "outliers")) {
		if ((widened && verdict_widens_interval(run)) != widening)
			continue;
		if (n++ >= MAX_OUTLIERS)
			continue;
		double times = num(run, "times_median"), z = num(run, "robust_z");
		double value = num(run, "value");
		/* "5_pod_A: 197.136, 5.97 times its arm's median (robust z 1181): .." */
		if (verdict_is(r->root, "higher_is_better"))
			times = 1.0 / times;
		if (txt(run, "run")[0] != '\0')
			append(r, "%s", txt(run, "run"));
		else
			append(r, "block %zu of %s", verdict_count(run, "block") + 1,
			       txt(run, "tag"));
		append(r, ": %s, %.*f times its arm's median",
		       fmt_measure(value, fmt_measure_decimals(value)).s,
		       fabs(times - 1.0) < 0.1 ? 4 : 2, times);
		if (!isnan(z))
			append(r, " (robust z %.*f)", fabs(z) < 100.0 ? 1 : 0, z);
		append(r, ": %s", txt(run, "seen"));
		add_fact(r, n > 1 ? "" : widening ? "outliers" : "outliers, kept", FACT_WARN);
	}
	if (n > MAX_OUTLIERS)
		facts_text(r->facts, "", FACT_WARN, "and %zu more", n - MAX_OUTLIERS);
}

static void add_widened(struct report *r)
{
	size_t n = 0, n_blocks = verdict_count(r->c, "n_blocks");
	size_t need = verdict_count(r->c, "blocks_to_hl");

	if (!verdict_is_widened(r->c))
		return;
	json_each (run, verdict_list(r->c, "outliers"))
		n += verdict_widens_interval(run) ? 1 : 0;
	append(r,
	       "%zu of %zu runs %s. Runs are never dropped for their value, but here %s the "
	       "interval (standard deviation of a block %s, robust estimate %s).",
	       n,
	       verdict_count(find_arm(r, "control"), "valid") +
		       verdict_count(find_arm(r, "second_control"), "valid") +
		       verdict_count(find_arm(r, "variant"), "valid"),
	       n == 1 ? "is an outlier" : "are outliers", n == 1 ? "it widens" : "they widen",
	       pct_text(100.0 * num(r->c, "block_sd_d"), false).s,
	       pct_text(100.0 * num(r->c, "robust_sd_d"), false).s);
	add_fact(r, "", FACT_WARN);
	add_outliers(r, true);
	append(r, "Less affected: Hodges-Lehmann ");
	append_robust(r);
	append(r, "%s. ", p_text(", sign-flip p", num(r->c, "p_signflip")).s);
	if (need == 0 || need > n_blocks)
		append(r, "Showing %s at this spread takes ",
		       pct_text(stats_pct(num(r->c, "hl_d")), true).s);
	if (need > n_blocks)
		append(r, "%zu blocks, %zu more.", need, need - n_blocks);
	else if (need == 0)
		append(r, "more than %d blocks.", MOST_BLOCKS);
	add_fact(r, "", FACT_HINT);
	facts_text(r->facts, "", FACT_HINT,
		   "\"runs_per_block\": 3 in the plan makes each block compare the medians of "
		   "three runs, so that a single outlier has little effect.");
}

static void add_row(struct report *r, const char *label, double control, double variant,
		    int decimals, double pct, const char *note)
{
	facts_text(r->facts, "", FACT_PLAIN, "%s", label);
	facts_number(r->facts, "", FMT_MEASURE, control, decimals, "");
	facts_number(r->facts, "", FMT_MEASURE, variant, decimals, "");
	facts_text(r->facts, "", FACT_PLAIN, "%s", isfinite(pct) ? pct_text(pct, true).s : "");
	facts_text(r->facts, "", FACT_WARN, "%s", note);
}

/* "step ms, steps 20..100", or the key of a score. */
static const char *get_metric_label(const struct report *r)
{
	return cJSON_GetArraySize(verdict_list(r->root, "window")) == 2
		       ? facts_keep(r->facts, "step ms, steps %.0f..%.0f",
				    verdict_bound(r->root, "window", 0),
				    verdict_bound(r->root, "window", 1))
		       : facts_keep(r->facts, "%.40s", txt(r->root, "metric"));
}

static void add_numbers(struct report *r)
{
	static const struct facts_column columns[] = {
		{ .label = "", .kind = FMT_TEXT },
		{ .label = "control", .kind = FMT_MEASURE },
		{ .label = "variant", .kind = FMT_MEASURE },
		{ .label = "speed-up", .kind = FMT_NUMBER },
		{ .label = "", .kind = FMT_TEXT },
	};
	const cJSON *a = find_arm(r, "control");
	const cJSON *b = find_arm(r, "variant");
	double x = num(r->c, "control_mean"), y = num(r->c, "variant_mean");
	double legacy = num(r->c, "legacy_pct"), tok_a, tok_b;
	size_t n = 0;

	facts_table(r->facts, "", columns, 5);
	add_row(r, get_metric_label(r), x, y, fmt_measure_decimals(x), num(r->c, "pct"),
		verdict_is(r->root, "higher_is_better") ? "higher is better" : "");
	if (!isnan(legacy)) {
		tok_a = num(a, "tokens_per_step") / x * 1000.0;
		tok_b = num(b, "tokens_per_step") / y * 1000.0;
		add_row(r, "tok/s by the step time", tok_a, tok_b, 2, 100.0 * (tok_b / tok_a - 1.0),
			"");
		add_row(r, "printed tok/s, mean", num(a, "legacy_mean"), num(b, "legacy_mean"), 2,
			legacy, has_guard(r, GUARD_CLOCK_LAG) ? "clock-lag" : "");
	}
	if (!isnan(num(a, "val_loss")) || !isnan(num(b, "val_loss")))
		add_row(r, "val_loss", num(a, "val_loss"), num(b, "val_loss"), 4, (double)NAN, "");
	json_each (block,
		   verdict_count(r->c, "n_blocks") > 1 ? verdict_list(r->c, "blocks") : NULL) {
		const char *pod = txt(block, "pod"), *mark = txt(block, "mark");

		if (++n > MAX_BLOCKS)
			return;
		add_row(r,
			facts_keep(r->facts, "block %zu%s%.16s", verdict_count(block, "block") + 1,
				   pod[0] != '\0' ? " on " : "", pod),
			num(block, "control"), num(block, "variant"),
			fmt_measure_decimals(num(block, "control")), num(block, "pct"),
			strcmp(mark, "outlier") == 0 ? "outlier (kept)" : mark);
	}
}

static void add_tests(struct report *r)
{
	bool pods = verdict_is(r->c, "across_pods");
	const char *label = pods ? "paired by pod" : "paired by block";
	double p = num(r->c, "p"), holm = num(r->c, "p_holm");
	double level = num(r->c, "level"), place = num(r->c, "place_pct");
	double between = num(r->c, "between_pods_pct");

	if (isnan(p))
		return;
	if (num(r->c, "se_d") == 0.0) {
		facts_text(r->facts, label, FACT_WARN,
			   "all blocks show exactly the same difference, so no test applies");
		return;
	}
	append(r, "t %.2f, df %.*f, %s", num(r->c, "t"),
	       num(r->c, "df") == floor(num(r->c, "df")) ? 0 : 1, num(r->c, "df"),
	       p_text("p", p).s);
	if (!isnan(holm) && holm != p)
		append(r, "%s)", p_text(" (Holm", holm).s);
	append(r, "%s", p_text(", sign-flip p", num(r->c, "p_signflip")).s);
	add_fact(r, label, FACT_PLAIN);
	append_robust(r);
	add_fact(r, "Hodges-Lehmann", FACT_PLAIN);
	append(r, "%s standard deviation %s; smallest detectable difference %s",
	       pods ? "pod" : "block", pct_text(100.0 * num(r->c, "sd_d"), false).s,
	       pct_text(num(r->c, "mde_pct"), false).s);
	if (is_word(r->c, VERDICT_NO_DIFFERENCE) && verdict_count(r->c, "blocks_to_margin") > 0)
		append(r, "; %zu blocks would show the margin",
		       verdict_count(r->c, "blocks_to_margin"));
	add_fact(r, "spread", FACT_PLAIN);

	if (level > 0.0 && level < num(r->root, "alpha"))
		append(r, "p < %.2g is required", level);
	if (txt(r->c, "second_control")[0] != '\0')
		append(r, "%scontrol: mean of %s and %s%s", r->line.len > 0 ? "; " : "",
		       txt(r->c, "control"), txt(r->c, "second_control"),
		       verdict_is(r->root, "same_noise") ? ", declared as noisy as the variant"
							 : "");
	if (!isnan(place))
		append(r, "%sone place later in a block changes the time by %s",
		       r->line.len > 0 ? "; " : "", pct_text(place, true).s);
	if (!isnan(between))
		append(r, "%sassumed difference between the pods: sd %.2f%% of the mean",
		       r->line.len > 0 ? "; " : "", between);
	if (r->line.len > 0)
		add_fact(r, "adjustments", FACT_PLAIN);
}

/* The change of the speed, given the change of the time; both in per cent. */
static struct stats_text speed_up_text(double time_pct)
{
	return pct_text(100.0 / (1.0 + time_pct / 100.0) - 100.0, true);
}

static void add_ranks(struct report *r)
{
	const cJSON *a = find_arm(r, "control");
	const cJSON *b = find_arm(r, "variant");
	const cJSON *rank = verdict_list(r->c, "mann_whitney");
	const cJSON *welch = verdict_list(r->c, "welch");

	if (verdict_count(a, "valid") < 2 || verdict_count(b, "valid") < 2)
		return;
	append(r, "medians %s, minima %s; spread %s and %s; Mann-Whitney U %g%s",
	       speed_up_text(num(r->c, "median_delta_pct")).s,
	       speed_up_text(num(r->c, "min_delta_pct")).s,
	       pct_text(num(a, "spread_pct_of_median"), false).s,
	       pct_text(num(b, "spread_pct_of_median"), false).s, num(rank, "u_control"),
	       p_text(verdict_is(rank, "exact") ? ", exact p" : ", p", num(rank, "p")).s);
	if (!isnan(num(welch, "p")))
		append(r, "; Welch t %.2f, df %.2f, %s", num(welch, "t"), num(welch, "df"),
		       p_text("p", num(welch, "p")).s);
	add_fact(r, "ignoring blocks", FACT_PLAIN);
	if (num(rank, "p") < num(r->root, "alpha") && is_word(r->c, VERDICT_NO_DIFFERENCE))
		facts_text(r->facts, "", FACT_WARN,
			   "the rank test shows a difference but the block means do not: there are "
			   "outliers");
}

/* Add the loss compared with the control's, and the smallest detectable difference. */
static void add_quality(struct report *r)
{
	const cJSON *q = verdict_list(r->c, "quality");

	if (!cJSON_IsObject(q))
		return;
	append(r, "%s %+.4f nats", txt(q, "of"), num(q, "nats"));
	if (!isnan(num(q, "p")))
		append(r, " [%.4f, %.4f], %s within %g; smallest detectable difference %.4f",
		       verdict_bound(q, "ci_nats", 0), verdict_bound(q, "ci_nats", 1),
		       verdict_is(q, "same")	? "the same"
		       : verdict_is(q, "worse") ? "worse, not"
						: "not shown to be the same",
		       num(q, "margin_nats"), num(q, "mde_nats"));
	add_fact(r, "quality", verdict_is(q, "worse") ? FACT_WORSE : FACT_PLAIN);
}

/* How much a finding says about the verdict: a failed check the most, the host's load the least. */
static int get_weight(const cJSON *hit)
{
	return verdict_is(hit, "hard")						? 3
	       : strcmp(txt(hit, "guard"), guard_words[GUARD_LOAD]) == 0	? 0
	       : strcmp(txt(hit, "guard"), guard_words[GUARD_IMPLAUSIBLE]) == 0 ? 1
										: 2;
}

/* Add what could make the verdict wrong: the first of the findings that say the most. */
static void add_doubts(struct report *r)
{
	const cJSON *first = NULL, *dropped = json_first(verdict_list(r->root, "dropped_blocks"));
	size_t n = 0;

	json_each (hit, verdict_list(r->c, "guards"))
		if (n++ == 0 || get_weight(hit) > get_weight(first))
			first = hit;
	if (n > 0)
		append(r, "%s: %s", txt(first, "guard"), txt(first, "text"));
	if (n > 1)
		append(r, "; %zu more with --all", n - 1);
	if (dropped != NULL && !(n > 0 && verdict_is(first, "hard")))
		append(r, "%sdropped: block %zu: %s", r->line.len > 0 ? "; " : "",
		       verdict_count(dropped, "block") + 1, txt(dropped, "reason"));
	if (strcmp(txt(r->root, "metric"), "wall_s") == 0)
		append(r, "%syou state that both arms do the same work; this was not checked",
		       r->line.len > 0 ? "; " : "");
	if (r->line.len == 0 && strcmp(txt(json_first(verdict_list(r->root, "runs")), "state"),
				       run_state_words[RUN_STATE_CLAIMED]) == 0)
		append(r, "the checks of the logs found none; the runs were not observed");
	else if (r->line.len == 0)
		append(r,
		       "the checks found none, but would not notice %sa control that became slower",
		       bench_metric_find(txt(r->root, "metric"))->key == NULL
			       ? "less than 0.5 s of work outside of what the score times, or "
			       : "");
	add_fact(r, "doubts", n > 0 ? FACT_WARN : FACT_PLAIN);
}

static void add_next_step(struct report *r)
{
	bool is_faster = is_word(r->c, VERDICT_FASTER);
	const char *suffix = cJSON_GetStringValue(json_first(verdict_list(r->c, "suffix")));
	const cJSON *best = verdict_list(r->root, "best");
	size_t need = verdict_count(r->c, "blocks_to_margin");
	int reason = str_index(verdict_reasons, txt(r->c, "reason"));

	if (reason > VERDICT_NONE)
		append(r, "%s", verdict_advice[reason]);
	else if (is_word(r->c, VERDICT_INVALID) || is_word(r->c, VERDICT_NOT_JUDGED))
		append(r, "fix the reason, then run the bench again");
	else if (is_word(r->c, VERDICT_SAME))
		append(r, "choose for reasons other than speed");
	else if (is_word(r->c, VERDICT_NO_DIFFERENCE) && has_guard(r, GUARD_COARSE))
		append(r, "%s", verdict_advice[VERDICT_COARSE]);
	else if (is_word(r->c, VERDICT_NO_DIFFERENCE) && need > 0)
		append(r, "run %zu blocks to detect %g%%", need, num(r->root, "margin_pct"));
	else if (is_word(r->c, VERDICT_NO_DIFFERENCE))
		append(r, "measure longer runs or use a quieter pod: %d blocks do not detect %g%%",
		       MOST_BLOCKS, num(r->root, "margin_pct"));
	else if (is_faster && suffix != NULL &&
		 strcmp(suffix, verdict_suffixes[VERDICT_OUTPUTS_UNCHECKED]) == 0)
		append(r, "check that %s learns as well as %s before you use it",
		       txt(r->c, "variant"), txt(r->c, "control"));
	else if (is_faster && suffix != NULL)
		append(r, "find the reason for \"%s\" before you use %s", suffix,
		       txt(r->c, "variant"));
	else if (is_faster && cJSON_IsObject(best) && strcmp(txt(best, "state"), "leads") == 0)
		append(r, "confirm the best of several variants in extra blocks (confirm_blocks)");
	else if (is_faster && has_guard(r, GUARD_IMPLAUSIBLE))
		append(r, "check that %s does the same work before you use it",
		       txt(r->c, "variant"));
	else
		append(r, "%s %s", is_faster ? "use" : "keep",
		       txt(r->c, is_faster ? "variant" : "control"));
	add_fact(r, "next", FACT_HINT);
}

/* Add which arm is better, how sure that is, what could make it wrong, and what to do next. */
static void add_answers(struct report *r)
{
	double level = num(r->c, "level"), alpha = num(r->root, "alpha");
	bool aa = verdict_is(r->c, "aa");

	facts_section(r->facts, facts_keep(r->facts, "%s%s against %s", txt(r->c, "variant"),
					   aa ? " (A/A: repeat runs of the control)" : "",
					   txt(r->c, "control")));
	facts_text(r->facts, "", get_style(r->c), "%s", txt(r->c, "text"));
	if (aa)
		return;
	if (is_word(r->c, VERDICT_INVALID) || is_word(r->c, VERDICT_NOT_JUDGED)) {
		append(r, "neither a difference nor equality is shown");
	} else if (is_word(r->c, VERDICT_SAME)) {
		append(r, "arms that differ by %g%% are called the same in at most 5%% of benches",
		       num(r->root, "margin_pct"));
	} else if (is_word(r->c, VERDICT_NO_DIFFERENCE)) {
		append(r,
		       "a difference of %s would probably have been shown; a smaller one may exist",
		       pct_text(num(r->c, "mde_pct"), false).s);
	} else {
		append(r,
		       "%zu of %zu blocks agree%s is below %.2g: equal arms get this far apart in "
		       "at most %g%% of benches",
		       verdict_count(r->c, "n_agree"), verdict_count(r->c, "n_blocks"),
		       p_text(", p", num(r->c, "p")).s, level > 0.0 ? level : alpha, 100.0 * alpha);
	}
	add_fact(r, "how sure", FACT_PLAIN);
	add_doubts(r);
	add_next_step(r);
}

static void add_contrast(struct report *r)
{
	bool aa = verdict_is(r->c, "aa");
	const cJSON *pods = verdict_list(r->c, "pods");
	const char *trend = txt(r->c, "trend");

	add_answers(r);
	if (aa && (is_word(r->c, VERDICT_FASTER) || is_word(r->c, VERDICT_SLOWER)))
		facts_text(r->facts, "", FACT_WARN,
			   "both arms ran the same code: this is a false alarm, or the pod favors "
			   "one of them");
	if (is_word(r->c, VERDICT_INVALID) && verdict_count(r->c, "n_blocks") > 0)
		facts_text(r->facts, "if it were valid", FACT_DIM, "%s", txt(r->c, "if_valid"));
	add_widened(r);
	add_numbers(r);
	facts_section(r->facts, "");
	add_tests(r);
	json_each (pod, cJSON_GetArraySize(pods) > 1 ? pods : NULL) {
		size_t n = verdict_count(pod, "n_blocks");

		facts_text(r->facts, facts_keep(r->facts, "pod %s", txt(pod, "pod")), FACT_PLAIN,
			   "%s%s in %zu block%s", pct_text(num(pod, "pct"), true).s,
			   interval_text(pod, "ci_pct").s, n, n == 1 ? "" : "s");
	}
	if (cJSON_GetArraySize(pods) > 1 && !isnan(num(r->c, "pods_p")))
		facts_text(r->facts, "between pods", FACT_PLAIN,
			   "F %.2f, %s, %.0f%% of the variance", num(r->c, "pods_f"),
			   p_text("p", num(r->c, "pods_p")).s, 100.0 * num(r->c, "pods_share"));
	add_ranks(r);
	if (trend[0] != '\0' && strcmp(trend, "steady") != 0)
		facts_text(r->facts, "not steady", FACT_WARN, "%s compared with the control",
			   trend);
	add_outliers(r, false);
	add_quality(r);
	json_each (hit, verdict_list(r->c, "guards")) {
		bool hard = verdict_is(hit, "hard");

		facts_text(
			r->facts,
			facts_keep(r->facts, "%s%s", txt(hit, "guard"), hard ? "" : " (warning)"),
			hard ? FACT_ALARM : FACT_WARN, "%s", txt(hit, "text"));
	}
}

static void add_overview(struct report *r, const cJSON *contrasts)
{
	static const struct facts_column columns[] = {
		{ .label = "variant", .kind = FMT_TEXT },
		{ .label = "blocks", .kind = FMT_GROUPED },
		{ .label = "control", .kind = FMT_MEASURE },
		{ .label = "variant", .kind = FMT_MEASURE },
		{ .label = "speed-up", .kind = FMT_NUMBER },
		{ .label = "p", .kind = FMT_NUMBER },
		{ .label = "detects", .kind = FMT_NUMBER },
	};

	facts_table(r->facts, get_metric_label(r), columns, 7);
	json_each (c, contrasts) {
		double x = num(c, "control_mean"), p = num(c, "p_holm");

		p = isnan(p) ? num(c, "p") : p;
		facts_text(r->facts, "", get_style(c), "%s", txt(c, "variant"));
		facts_number(r->facts, "", FMT_GROUPED, num(c, "n_blocks"), 0, "");
		facts_number(r->facts, "", FMT_MEASURE, x, fmt_measure_decimals(x), "");
		facts_number(r->facts, "", FMT_MEASURE, num(c, "variant_mean"),
			     fmt_measure_decimals(x), "");
		facts_text(r->facts, "", FACT_PLAIN, "%s", pct_text(num(c, "pct"), true).s);
		facts_text(r->facts, "", FACT_PLAIN, "%s", isnan(p) ? FMT_ABSENT : p_text("", p).s);
		facts_text(r->facts, "", FACT_PLAIN, "%s", pct_text(num(c, "mde_pct"), false).s);
	}
}

/* Add the runs of each arm and, if the window was automatic, a suggestion for the next bench. */
static void add_runs(struct report *r)
{
	double steady = num(r->root, "steady_from");

	facts_section(r->facts, "runs");
	json_each (arm, verdict_list(r->root, "arms")) {
		int decimals = fmt_measure_decimals(num(arm, "median"));
		size_t n = verdict_count(arm, "valid");

		append(r, "%zu measured, %zu failed", n, verdict_count(arm, "invalid"));
		if (n > 0)
			append(r, "; %s", fmt_measure(num(arm, "min"), decimals).s);
		if (n > 1) {
			append(r, " .. %s", fmt_measure(num(arm, "max"), decimals).s);
			append(r, ", median %s", fmt_measure(num(arm, "median"), decimals).s);
		}
		add_fact(r, txt(arm, "tag"), FACT_PLAIN);
	}
	if (!verdict_is(r->root, "window_found") ||
	    cJSON_GetArraySize(verdict_list(r->root, "window")) != 2)
		return;
	append(r, "steps %.0f..%.0f: all rows after the first quarter; according to MSER ",
	       verdict_bound(r->root, "window", 0), verdict_bound(r->root, "window", 1));
	if (isnan(steady))
		append(r, "some runs are never steady");
	else
		append(r, "all runs are steady from step %.0f", steady);
	add_fact(r, "window found", FACT_HINT);
}

static void add_end(struct report *r)
{
	static const char *const ends[][2] = {
		{ "n_max", "after all planned blocks" },
		{ "early", "early, by an interim analysis" },
		{ "budget", "by the budget" },
		{ "guard", "by a validity check" },
		{ "aborted", "by bench abort" },
		{ "no_value", "after the first run, which had no value of the metric" },
	};
	size_t n = verdict_count(r->root, "pods_without_price");
	const char *stopped = txt(r->root, "stopped");
	const cJSON *dropped = verdict_list(r->root, "dropped_blocks");

	if (!isnan(num(r->root, "cost_usd"))) {
		append(r, "%.2f USD", num(r->root, "cost_usd"));
		if (n > 0)
			append(r, ", without %zu pod%s of unknown price", n, n == 1 ? "" : "s");
		add_fact(r, "cost", FACT_PLAIN);
	}
	bool has_ended = stopped[0] != '\0' && strcmp(stopped, "imported") != 0;
	for (size_t i = 0; i < LENGTH(ends); i++)
		if (strcmp(stopped, ends[i][0]) == 0)
			stopped = ends[i][1];
	if (has_ended)
		facts_text(r->facts, "ended", FACT_PLAIN, "%s", stopped);
	if (cJSON_GetArraySize(dropped) > 0)
		facts_section(r->facts, "dropped");
	json_each (row, dropped) {
		const char *pod = txt(row, "pod");

		facts_text(r->facts, "", FACT_WARN, "block %zu%s%s: %s%s",
			   verdict_count(row, "block") + 1, pod[0] != '\0' ? " on " : "", pod,
			   txt(row, "reason"),
			   verdict_is(row, "repeated") ? " (the block was repeated)" : "");
	}
}

static void add_share(struct facts *facts, const cJSON *node, const char *key)
{
	double share = num(node, key);

	if (isnan(share))
		facts_text(facts, "", FACT_PLAIN, "%s", FMT_ABSENT);
	else
		facts_text(facts, "", FACT_PLAIN, "%.0f%%", 100.0 * share);
}

static void add_kernels(struct facts *facts, const cJSON *verdict)
{
	static const struct facts_column columns[] = {
		{ .label = "arm", .kind = FMT_TEXT },
		{ .label = "case", .kind = FMT_TEXT },
		{ .label = "us", .kind = FMT_MEASURE, .decimals = 3 },
		{ .label = "launch us", .kind = FMT_MEASURE, .decimals = 2 },
		{ .label = "GPU idle", .kind = FMT_NUMBER },
		{ .label = "GB/s", .kind = FMT_MEASURE, .decimals = 0 },
		{ .label = "of peak", .kind = FMT_NUMBER },
		{ .label = "TFLOP/s", .kind = FMT_MEASURE, .decimals = 2 },
		{ .label = "of peak", .kind = FMT_NUMBER },
	};
	static const struct {
		const char *key, *share;
	} rates[] = { { "gb_s", "gb_s_of_peak" }, { "tflop_s", "tflop_s_of_peak" } };
	const cJSON *all = json_get(verdict, "kernels");
	const cJSON *first = json_first(all);
	const char *mode = first != NULL ? txt(first, "mode") : "";

	if (mode[0] == '\0') /* no kernel bench, or the control failed */
		return;
	facts_table(facts, "kernels (last process)", columns, 9);
	json_each (arm, all)
		json_each (one, verdict_list(arm, "cases")) {
			facts_text(facts, "", FACT_PLAIN, "%s", txt(arm, "arm"));
			facts_text(facts, "", FACT_PLAIN, "%s", txt(one, "name"));
			facts_cell(facts, num(one, "us"));
			facts_cell(facts, num(one, "launch_us"));
			add_share(facts, one, "idle_share");
			for (size_t i = 0; i < 2; i++) {
				facts_cell(facts, num(one, rates[i].key));
				add_share(facts, one, rates[i].share);
			}
		}
	facts_section(facts, "");
	facts_text(facts, "timed by", FACT_PLAIN, "%s, on %s%s",
		   strcmp(mode, "graph") == 0	? "CUDA graphs"
		   : strcmp(mode, "eager") == 0 ? "CUDA events, no CUDA graph"
						: "the host's clock",
		   txt(first, "device"),
		   verdict_is(first, "cold") ? ", inputs not in the L2 cache" : "");
}

void report_summary(struct facts *facts, const cJSON *verdict)
{
	struct report r = { .facts = facts, .root = verdict, .line = buf_new(MAX_LINE) };
	const cJSON *all = verdict_list(verdict, "contrasts");

	json_each (c, all) {
		if (verdict_is(c, "aa") && cJSON_GetArraySize(all) > 1)
			continue;
		r.c = c;
		add_answers(&r);
	}
	buf_release(&r.line);
}

void report_facts(struct facts *facts, const cJSON *verdict)
{
	struct report r = { .facts = facts, .root = verdict, .line = buf_new(MAX_LINE) };
	const cJSON *contrasts = verdict_list(verdict, "contrasts");
	const cJSON *best = verdict_list(verdict, "best"), *metrics = json_get(verdict, "metrics");

	if (cJSON_GetArraySize(contrasts) > 1)
		add_overview(&r, contrasts);
	json_each (c, contrasts) {
		r.c = c;
		add_contrast(&r);
	}
	if (cJSON_IsObject(best)) {
		facts_section(facts, "best variant");
		facts_text(facts, "", FACT_STRONG, "%s", txt(best, "text"));
	}
	if (cJSON_GetArraySize(metrics) > 0)
		facts_section(facts, "other metrics");
	json_each (row, metrics) {
		report_line(&r.line, row);
		add_fact(&r, txt(row, "metric"), FACT_PLAIN);
	}
	add_kernels(facts, verdict);
	add_runs(&r);
	add_end(&r);
	buf_release(&r.line);
}

void report_line(struct buf *out, const cJSON *verdict)
{
	const cJSON *all = verdict_list(verdict, "contrasts");

	json_each (c, all) {
		if (!verdict_is(c, "aa"))
			buf_appendf(out, "%s%s: %s", out->len > 0 ? "; " : "", txt(c, "variant"),
				    txt(c, "text"));
		else if (cJSON_GetArraySize(all) == 1 && !isnan(num(c, "mde_pct")))
			/* An audit has only an A/A arm. */
			buf_appendf(out, "A/A: detects %.2f%% in %zu blocks", num(c, "mde_pct"),
				    verdict_count(c, "n_blocks"));
	}
}

void report_sentence(struct buf *out, const cJSON *verdict)
{
	const cJSON *all = verdict_list(verdict, "contrasts");
	const char *key = txt(verdict, "metric");
	const char *last = strrchr(key, '_');
	/* Is the metric a time or a rate, for which "fast" is the right word? */
	bool fast = (bench_metric_is_rate(key) && strstr(key, "accuracy") == NULL) ||
		    str_is_among(str_from(last != NULL ? last + 1 : key),
				 "ms us ns s sec seconds time cycles");

	json_each (c, all) {
		const char *variant = txt(c, "variant"), *control = txt(c, "control");

		if (verdict_is(c, "aa") && cJSON_GetArraySize(all) > 1)
			continue;
		buf_append_str(out, out->len > 0 ? "; " : "");
		if (is_word(c, VERDICT_INVALID) || isnan(num(c, "p")) ||
		    is_word(c, VERDICT_NOT_JUDGED)) {
			buf_appendf(out, "%s is not compared with %s: %s", variant, control,
				    txt(c, "text"));
			continue;
		}
		double pct = num(c, "pct"), lo = verdict_bound(c, "ci_pct", 0);
		double hi = verdict_bound(c, "ci_pct", 1);
		/* "1.27 (1.21 to 1.33)", "1.0021 (1.0010 to 1.0032)" */
		int decimals = hi - lo < 5.0 ? 4 : 2;
		buf_appendf(out, "%s %s %s times as %s as %s (%s to %s)%s%s", variant,
			    fast ? "ran" : "was", fmt_number(1.0 + pct / 100.0, decimals).s,
			    fast ? "fast" : "good", control,
			    fmt_number(1.0 + lo / 100.0, decimals).s,
			    fmt_number(1.0 + hi / 100.0, decimals).s, fast ? "" : " by ",
			    fast ? "" : key);
		if (is_word(c, VERDICT_SAME))
			buf_appendf(out, ", the same within %g%%", num(verdict, "margin_pct"));
		else if (is_word(c, VERDICT_NO_DIFFERENCE))
			buf_append_str(out, ", which shows no difference");
	}
}
