/* SPDX-License-Identifier: MIT */
/* A verdict.json as facts for people; for all commands and the dashboard. */
#include "bench/verdict_json.h"

#define MAX_BLOCKS   64
#define MAX_OUTLIERS 12
#define MAX_LINE     4096
/* How many blocks paired_blocks_needed looks at. */
#define MOST_BLOCKS 1000

#define num verdict_number
#define txt verdict_text

struct report {
	struct facts *facts;
	const cJSON *root, *c; /* c: the contrast at hand */
	struct buf line;       /* the value of a fact in the making */
};

/* More of the line at hand. */
static void __attribute__((format(printf, 2, 3))) say(struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vappendf(&r->line, fmt, ap);
	va_end(ap);
}

/* The line as the value of a fact; the next line begins. */
static struct fact *add(struct report *r, const char *label, enum fact_style style)
{
	struct fact *fact = facts_text(r->facts, label, style, "%s", r->line.data);

	buf_clear(&r->line);
	return fact;
}

/* "+1.81%", "1.81%" or a dash. */
static void say_pct(struct report *r, double pct, bool sign)
{
	char text[STATS_PCT_SIZE];

	if (isfinite(pct))
		say(r, "%s%%", stats_pct_text(pct, sign, text));
	else
		say(r, "%s", FMT_ABSENT);
}

/* " [1.62, 1.85]"; nothing where there are no bounds. */
static void say_interval(struct report *r, const cJSON *node, const char *key)
{
	double lo = verdict_bound(node, key, 0);
	double hi = verdict_bound(node, key, 1);
	char low[STATS_PCT_SIZE], high[STATS_PCT_SIZE];

	if (!isnan(lo) && !isnan(hi))
		say(r, " [%s, %s]", stats_pct_text(lo, false, low),
		    stats_pct_text(hi, false, high));
}

/* p as people read it; nothing where there is none. */
static void say_p(struct report *r, const char *name, double p)
{
	if (isnan(p))
		return;
	say(r, p < 1e-4 ? "%s %.1e" : "%s %.4f", name, p);
}

/* Hodges-Lehmann, and how many blocks are on its side. */
static void say_robust(struct report *r)
{
	double hl = num(r->c, "hl_d");

	say_pct(r, stats_pct(hl), true);
	say_interval(r, r->c, "hl_ci_pct");
	if (hl != 0.0)
		say(r, ", %zu of %zu blocks %s", verdict_count(r->c, "n_agree"),
		    verdict_count(r->c, "n_blocks"), hl > 0.0 ? "faster" : "slower");
}

static bool is_word(const cJSON *c, enum verdict_word word)
{
	return strcmp(txt(c, "verdict"), verdict_words[word]) == 0;
}

static enum fact_style style_of(const cJSON *c)
{
	static const enum fact_style styles[] = {
		[VERDICT_INVALID] = FACT_ALARM,	       [VERDICT_NOT_JUDGED] = FACT_HINT,
		[VERDICT_FASTER] = FACT_BETTER,	       [VERDICT_FASTER_WORSE] = FACT_WORSE,
		[VERDICT_SLOWER] = FACT_WORSE,	       [VERDICT_SAME] = FACT_DONE,
		[VERDICT_NO_DIFFERENCE] = FACT_STRONG,
	};
	int word = VERDICT_INVALID;

	while (verdict_words[word] != NULL && strcmp(txt(c, "verdict"), verdict_words[word]) != 0)
		word++;
	return verdict_words[word] != NULL ? styles[word] : FACT_PLAIN;
}

/* The arm of that tag; NULL where there is none. */
static const cJSON *arm_of(const struct report *r, const char *tag)
{
	json_each (arm, verdict_list(r->root, "arms"))
		if (strcmp(txt(arm, "tag"), tag) == 0)
			return arm;
	return NULL;
}

/* The run by its name, else by where it ran. */
static void say_run(struct report *r, const cJSON *run)
{
	if (txt(run, "run")[0] != '\0')
		say(r, "%s", txt(run, "run"));
	else
		say(r, "block %zu of %s", verdict_count(run, "block") + 1, txt(run, "tag"));
}

/* "5_pod_A: 197.136, 5.97 times its arm's median (robust z 1181): ..". */
static void say_outlier(struct report *r, const cJSON *run)
{
	double times = num(run, "times_median"), z = num(run, "robust_z");
	double value = num(run, "value");

	if (verdict_is(r->root, "higher_is_better"))
		times = 1.0 / times;
	say_run(r, run);
	say(r, ": %s, %.*f times its arm's median",
	    fmt_measure(value, fmt_measure_decimals(value)).s, fabs(times - 1.0) < 0.1 ? 4 : 2,
	    times);
	if (!isnan(z))
		say(r, " (robust z %.*f)", fabs(z) < 100.0 ? 1 : 0, z);
	say(r, ": %s", txt(run, "seen"));
}

/* Those that blow the interval up, or the others. */
static void add_outliers(struct report *r, bool blowing)
{
	bool widened = verdict_is_widened(r->c);
	size_t n = 0;

	json_each (run, verdict_list(r->c, "outliers")) {
		if ((widened && verdict_widens_interval(run)) != blowing)
			continue;
		if (n++ >= MAX_OUTLIERS)
			continue;
		say_outlier(r, run);
		add(r, n > 1 ? "" : blowing ? "far out" : "outliers, kept", FACT_WARN);
	}
	if (n > MAX_OUTLIERS) {
		facts_text(r->facts, "", FACT_WARN, "and %zu more", n - MAX_OUTLIERS);
	}
}

static size_t n_blowing(const struct report *r)
{
	size_t n = 0;

	json_each (run, verdict_list(r->c, "outliers"))
		n += verdict_widens_interval(run) ? 1 : 0;
	return n;
}

/* How many more blocks such noise asks for. */
static void say_need(struct report *r)
{
	size_t n = verdict_count(r->c, "n_blocks");
	size_t need = verdict_count(r->c, "blocks_to_hl");

	if (need > 0 && need <= n)
		return;
	say(r, "To show ");
	say_pct(r, stats_pct(num(r->c, "hl_d")), true);
	if (need > 0)
		say(r, " at this spread: %zu blocks, %zu more. ", need, need - n);
	else
		say(r, " at this spread %d blocks are too few. ", MOST_BLOCKS);
}

/* What outliers did to an interval that they blew up. */
static void add_swollen(struct report *r)
{
	size_t n = n_blowing(r);

	if (!verdict_is_widened(r->c))
		return;
	say(r,
	    "%zu of its %zu runs stand%s far out: kept, since no run is "
	    "removed for its value, but %s up the interval (a block "
	    "spreads ",
	    n,
	    verdict_count(arm_of(r, txt(r->c, "control")), "valid") +
		    verdict_count(arm_of(r, txt(r->c, "second_control")), "valid") +
		    verdict_count(arm_of(r, txt(r->c, "variant")), "valid"),
	    n == 1 ? "s" : "", n == 1 ? "it blows" : "they blow");
	say_pct(r, 100.0 * num(r->c, "block_sd_d"), false);
	say(r, ", the middle of them ");
	say_pct(r, 100.0 * num(r->c, "robust_sd_d"), false);
	say(r, ").");
	add(r, "", FACT_WARN);
	add_outliers(r, true);
	say(r, "Moved less by it: Hodges-Lehmann ");
	say_robust(r);
	say_p(r, ", sign-flip p", num(r->c, "p_signflip"));
	say(r, ". ");
	say_need(r);
	facts_text(r->facts, "", FACT_HINT,
		   "A block of several runs an arm (runs_per_block 3), declared "
		   "beforehand, counts by their medians, which one such run does "
		   "not move.");
}

/* A row of the table of numbers: label, control, variant, speed-up, note. */
static void add_row(struct report *r, const char *label, double control, double variant,
		    int decimals, double pct, const char *note)
{
	facts_text(r->facts, "", FACT_PLAIN, "%s", label);
	facts_number(r->facts, "", FMT_MEASURE, control, decimals, "");
	facts_number(r->facts, "", FMT_MEASURE, variant, decimals, "");
	if (isfinite(pct))
		say_pct(r, pct, true);
	add(r, "", FACT_PLAIN);
	facts_text(r->facts, "", FACT_WARN, "%s", note);
}

static void add_block_rows(struct report *r)
{
	size_t n = 0;

	json_each (b, verdict_list(r->c, "blocks")) {
		const char *pod = txt(b, "pod"), *mark = txt(b, "mark");

		if (++n > MAX_BLOCKS)
			return;
		add_row(r,
			facts_keep(r->facts, "block %zu%s%.16s", verdict_count(b, "block") + 1,
				   pod[0] != '\0' ? " on " : "", pod),
			num(b, "control"), num(b, "variant"),
			fmt_measure_decimals(num(b, "control")), num(b, "pct"),
			strcmp(mark, "outlier") == 0 ? "outlier (kept)" : mark);
	}
}

static bool has_guard(const cJSON *c, enum guard guard)
{
	json_each (hit, verdict_list(c, "guards"))
		if (strcmp(txt(hit, "guard"), guard_words[guard]) == 0)
			return true;
	return false;
}

/* "step ms, steps 20..100", or the key of a score. */
static const char *metric_label(const struct report *r)
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
	const cJSON *a = arm_of(r, txt(r->c, "control"));
	const cJSON *b = arm_of(r, txt(r->c, "variant"));
	double x = num(r->c, "control_mean"), y = num(r->c, "variant_mean");
	double legacy = num(r->c, "legacy_pct"), tok_a, tok_b;

	facts_table(r->facts, "", columns, 5);
	add_row(r, metric_label(r), x, y, fmt_measure_decimals(x), num(r->c, "pct"),
		verdict_is(r->root, "higher_is_better") ? "higher is better" : "");
	if (!isnan(legacy)) {
		tok_a = num(a, "tokens_per_step") / x * 1000.0;
		tok_b = num(b, "tokens_per_step") / y * 1000.0;
		add_row(r, "tok/s by the step time", tok_a, tok_b, 2, 100.0 * (tok_b / tok_a - 1.0),
			"");
		add_row(r, "printed tok/s, mean", num(a, "legacy_mean"), num(b, "legacy_mean"), 2,
			legacy, has_guard(r->c, GUARD_CLOCK_LAG) ? "clock-lag" : "");
	}
	if (!isnan(num(a, "val_loss")) || !isnan(num(b, "val_loss")))
		add_row(r, "val_loss", num(a, "val_loss"), num(b, "val_loss"), 4, (double)NAN, "");
	if (verdict_count(r->c, "n_blocks") > 1)
		add_block_rows(r);
}

/* What stands beside the blocks in the comparison, and what it asks. */
static void add_design(struct report *r)
{
	double level = num(r->c, "level"), place = num(r->c, "place_pct");
	double between = num(r->c, "between_pods_pct");

	if (level > 0.0 && level < num(r->root, "alpha"))
		say(r, "p < %.2g decides here", level);
	if (txt(r->c, "second_control")[0] != '\0')
		say(r, "%sthe control is the mean of %s and %s%s", r->line.len > 0 ? "; " : "",
		    txt(r->c, "control"), txt(r->c, "second_control"),
		    verdict_is(r->root, "same_noise") ? ", as noisy as the variant by declaration"
						      : "");
	if (!isnan(place)) {
		say(r, "%sa place later in a block is ", r->line.len > 0 ? "; " : "");
		say_pct(r, place, true);
	}
	if (!isnan(between))
		say(r, "%stwo pods may differ: sd %.2f%% of their mean",
		    r->line.len > 0 ? "; " : "", between);
	if (r->line.len > 0)
		add(r, "allowing for", FACT_PLAIN);
}

static void add_tests(struct report *r)
{
	bool pods = verdict_is(r->c, "across_pods");
	const char *label = pods ? "paired by pod" : "paired by block";
	double p = num(r->c, "p"), holm = num(r->c, "p_holm");

	if (isnan(p))
		return;
	if (num(r->c, "se_d") == 0.0) {
		facts_text(r->facts, label, FACT_WARN, "all differ by the same, no test of chance");
		return;
	}
	say(r, "t %.2f, df %.*f, ", num(r->c, "t"),
	    num(r->c, "df") == floor(num(r->c, "df")) ? 0 : 1, num(r->c, "df"));
	say_p(r, "p", p);
	if (!isnan(holm) && holm != p) {
		say_p(r, " (Holm", holm);
		say(r, ")");
	}
	say_p(r, ", sign-flip p", num(r->c, "p_signflip"));
	add(r, label, FACT_PLAIN);
	say_robust(r);
	add(r, "Hodges-Lehmann", FACT_PLAIN);
	say_pct(r, 100.0 * num(r->c, "sd_d"), false);
	say(r, " of a %s; would have shown ", pods ? "pod" : "block");
	say_pct(r, num(r->c, "mde_pct"), false);
	if (is_word(r->c, VERDICT_NO_DIFFERENCE) && verdict_count(r->c, "blocks_to_margin") > 0)
		say(r, "; to show the margin: %zu blocks", verdict_count(r->c, "blocks_to_margin"));
	add(r, "spread", FACT_PLAIN);
	add_design(r);
}

static void add_pods(struct report *r)
{
	const cJSON *all = verdict_list(r->c, "pods");

	if (cJSON_GetArraySize(all) < 2)
		return;
	json_each (pod, all) {
		size_t n = verdict_count(pod, "n_blocks");

		say_pct(r, num(pod, "pct"), true);
		say_interval(r, pod, "ci_pct");
		say(r, " in %zu block%s", n, n == 1 ? "" : "s");
		add(r, facts_keep(r->facts, "pod %s", txt(pod, "pod")), FACT_PLAIN);
	}
	if (isnan(num(r->c, "pods_p")))
		return;
	say(r, "F %.2f, ", num(r->c, "pods_f"));
	say_p(r, "p", num(r->c, "pods_p"));
	say(r, ", %.0f%% of the spread", 100.0 * num(r->c, "pods_share"));
	add(r, "between pods", FACT_PLAIN);
}

/* The tests that know nothing of blocks. */
static void add_ranks(struct report *r)
{
	const cJSON *a = arm_of(r, txt(r->c, "control"));
	const cJSON *b = arm_of(r, txt(r->c, "variant"));
	const cJSON *rank = verdict_list(r->c, "mann_whitney");
	const cJSON *welch = verdict_list(r->c, "welch");

	if (verdict_count(a, "valid") < 2 || verdict_count(b, "valid") < 2)
		return;
	say(r, "medians ");
	say_pct(r, num(r->c, "median_delta_pct"), true);
	say(r, ", minima ");
	say_pct(r, num(r->c, "min_delta_pct"), true);
	say(r, " in time; spread ");
	say_pct(r, num(a, "spread_pct_of_median"), false);
	say(r, " and ");
	say_pct(r, num(b, "spread_pct_of_median"), false);
	say(r, "; Mann-Whitney U %g", num(rank, "u_control"));
	say_p(r, verdict_is(rank, "exact") ? ", exact p" : ", p", num(rank, "p"));
	if (!isnan(num(welch, "p"))) {
		say(r, "; Welch t %.2f, df %.2f, ", num(welch, "t"), num(welch, "df"));
		say_p(r, "p", num(welch, "p"));
	}
	add(r, "blocks ignored", FACT_PLAIN);
	if (num(rank, "p") < num(r->root, "alpha") && is_word(r->c, VERDICT_NO_DIFFERENCE)) {
		facts_text(r->facts, "", FACT_WARN,
			   "the ranks differ though the block means do not: a few "
			   "runs stand far out");
	}
}

/* The loss against the control's, and what the bench could have shown of it. */
static void add_quality(struct report *r)
{
	const cJSON *q = verdict_list(r->c, "quality");

	if (!cJSON_IsObject(q))
		return;
	say(r, "%s %+.4f nats", txt(q, "of"), num(q, "nats"));
	if (!isnan(num(q, "p")))
		say(r, " [%.4f, %.4f], %s within %g; would have shown %.4f",
		    verdict_bound(q, "ci_nats", 0), verdict_bound(q, "ci_nats", 1),
		    verdict_is(q, "same")    ? "the same"
		    : verdict_is(q, "worse") ? "worse, not"
					     : "not shown to be the same",
		    num(q, "margin_nats"), num(q, "mde_nats"));
	add(r, "quality", verdict_is(q, "worse") ? FACT_WORSE : FACT_PLAIN);
}

static void add_guards(struct report *r)
{
	json_each (hit, verdict_list(r->c, "guards")) {
		bool hard = verdict_is(hit, "hard");

		facts_text(r->facts,
			   facts_keep(r->facts, "%s%s", txt(hit, "guard"), hard ? "" : " (mark)"),
			   hard ? FACT_ALARM : FACT_WARN, "%s", txt(hit, "text"));
	}
}

static void add_contrast(struct report *r)
{
	bool aa = verdict_is(r->c, "aa");
	const char *trend = txt(r->c, "trend");

	facts_section(r->facts, facts_keep(r->facts, "%s%s against %s", txt(r->c, "variant"),
					   aa ? " (the control again)" : "", txt(r->c, "control")));
	facts_text(r->facts, "", style_of(r->c), "%s", txt(r->c, "text"));
	if (aa && (is_word(r->c, VERDICT_FASTER) || is_word(r->c, VERDICT_SLOWER)))
		facts_text(r->facts, "", FACT_WARN,
			   "the same code ran twice: this is a false alarm, or "
			   "the pod favours one of the two");
	if (is_word(r->c, VERDICT_INVALID)) {
		facts_text(r->facts, "were it valid", FACT_DIM, "%s", txt(r->c, "if_valid"));
	}
	add_swollen(r);
	add_numbers(r);
	facts_section(r->facts, "");
	add_tests(r);
	add_pods(r);
	add_ranks(r);
	if (trend[0] != '\0' && strcmp(trend, "steady") != 0) {
		facts_text(r->facts, "not steady", FACT_WARN, "%s against the control", trend);
	}
	add_outliers(r, false);
	add_quality(r);
	add_guards(r);
}

/* All variants in a few numbers each, where there are several. */
static void add_overview(struct report *r, const cJSON *contrasts)
{
	static const struct facts_column columns[] = {
		{ .label = "variant", .kind = FMT_TEXT },
		{ .label = "blocks", .kind = FMT_GROUPED },
		{ .label = "control", .kind = FMT_MEASURE },
		{ .label = "variant", .kind = FMT_MEASURE },
		{ .label = "speed-up", .kind = FMT_NUMBER },
		{ .label = "p", .kind = FMT_NUMBER },
		{ .label = "would show", .kind = FMT_NUMBER },
	};

	facts_table(r->facts, metric_label(r), columns, 7);
	json_each (c, contrasts) {
		r->c = c;
		double x = num(r->c, "control_mean");
		double holm = num(r->c, "p_holm");

		facts_text(r->facts, "", style_of(r->c), "%s", txt(r->c, "variant"));
		facts_number(r->facts, "", FMT_GROUPED, num(r->c, "n_blocks"), 0, "");
		facts_number(r->facts, "", FMT_MEASURE, x, fmt_measure_decimals(x), "");
		facts_number(r->facts, "", FMT_MEASURE, num(r->c, "variant_mean"),
			     fmt_measure_decimals(x), "");
		say_pct(r, num(r->c, "pct"), true);
		add(r, "", FACT_PLAIN);
		say_p(r, "", isnan(holm) ? num(r->c, "p") : holm);
		if (r->line.len == 0)
			say(r, "%s", FMT_ABSENT);
		add(r, "", FACT_PLAIN);
		say_pct(r, num(r->c, "mde_pct"), false);
		add(r, "", FACT_PLAIN);
	}
}

static void add_arm(struct report *r, const cJSON *arm)
{
	int decimals = fmt_measure_decimals(num(arm, "median"));
	size_t n = verdict_count(arm, "valid");

	say(r, "%zu measured, %zu failed", n, verdict_count(arm, "invalid"));
	if (n > 0)
		say(r, "; %s", fmt_measure(num(arm, "min"), decimals).s);
	if (n > 1) {
		say(r, " .. %s", fmt_measure(num(arm, "max"), decimals).s);
		say(r, ", median %s", fmt_measure(num(arm, "median"), decimals).s);
	}
	add(r, txt(arm, "tag"), FACT_PLAIN);
}

static void add_dropped(struct report *r)
{
	const cJSON *all = verdict_list(r->root, "dropped_blocks");

	if (cJSON_GetArraySize(all) > 0)
		facts_section(r->facts, "dropped");
	json_each (row, all) {
		const char *pod = txt(row, "pod");

		facts_text(r->facts, "", FACT_WARN, "block %zu%s%s: %s%s",
			   verdict_count(row, "block") + 1, pod[0] != '\0' ? " on " : "", pod,
			   txt(row, "reason"),
			   verdict_is(row, "repeated") ? " (the block was run again)" : "");
	}
}

/* Money and what it leaves out, and why it ended. */
static void add_end(struct report *r)
{
	size_t n = verdict_count(r->root, "pods_without_price");

	if (!isnan(num(r->root, "cost_usd"))) {
		say(r, "%.2f USD", num(r->root, "cost_usd"));
		if (n > 0)
			say(r, ", without %zu pod%s whose price is not given", n,
			    n == 1 ? "" : "s");
		add(r, "cost", FACT_PLAIN);
	}
	if (txt(r->root, "stopped")[0] != '\0' &&
	    strcmp(txt(r->root, "stopped"), "imported") != 0) {
		facts_text(r->facts, "ended by", FACT_PLAIN, "%s", txt(r->root, "stopped"));
	}
}

/* "31% " of a share that may not be known. */
static void add_share(struct facts *facts, const cJSON *node, const char *key)
{
	double share = num(node, key);

	if (isnan(share))
		facts_text(facts, "", FACT_PLAIN, "%s", FMT_ABSENT);
	else
		facts_text(facts, "", FACT_PLAIN, "%.0f%%", 100.0 * share);
}

static void add_kernel(struct facts *facts, const cJSON *arm, const cJSON *one)
{
	static const struct {
		const char *key, *share;
	} rates[] = { { "gb_s", "gb_s_of_peak" }, { "tflop_s", "tflop_s_of_peak" } };

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

/* The verdicts of the other metrics, a line each. */
static void add_metrics(struct report *r)
{
	const cJSON *all = json_get(r->root, "metrics");

	if (cJSON_GetArraySize(all) > 0)
		facts_section(r->facts, "other metrics");
	json_each (row, all) {
		report_line(&r->line, row);
		add(r, txt(row, "metric"), FACT_PLAIN);
	}
}

/* What the probe said of each arm of a kernel bench. */
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
	const cJSON *all = json_get(verdict, "kernels");
	const cJSON *first = json_first(all);
	const char *mode = first != NULL ? txt(first, "mode") : "";

	if (mode[0] == '\0') /* none, or the control failed */
		return;
	facts_table(facts, "kernels, in the last process", columns, 9);
	json_each (arm, all)
		json_each (one, verdict_list(arm, "cases"))
			add_kernel(facts, arm, one);
	facts_section(facts, "");
	facts_text(facts, "timed by", FACT_PLAIN, "%s, on %s%s",
		   strcmp(mode, "graph") == 0	? "CUDA graphs"
		   : strcmp(mode, "eager") == 0 ? "CUDA events, launched one "
						  "by one"
						: "the host's clock",
		   txt(first, "device"),
		   verdict_is(first, "cold") ? ", inputs not in the L2 cache" : "");
}

/* A window that nobody named, and one that somebody might. */
static void add_window(struct report *r)
{
	double steady = num(r->root, "steady_from");

	if (!verdict_is(r->root, "window_found") ||
	    cJSON_GetArraySize(verdict_list(r->root, "window")) != 2)
		return;
	say(r, "steps %.0f..%.0f: the rows behind the first quarter; MSER ",
	    verdict_bound(r->root, "window", 0), verdict_bound(r->root, "window", 1));
	if (isnan(steady))
		say(r, "calls some runs steady nowhere");
	else
		say(r, "calls all runs steady from step %.0f", steady);
	add(r, "window found", FACT_HINT);
}

void report_facts(struct facts *facts, const cJSON *verdict)
{
	struct report r = { .facts = facts, .root = verdict };
	const cJSON *contrasts = verdict_list(verdict, "contrasts");
	const cJSON *best = verdict_list(verdict, "best");

	buf_init(&r.line, MAX_LINE);
	if (cJSON_GetArraySize(contrasts) > 1)
		add_overview(&r, contrasts);
	json_each (c, contrasts) {
		r.c = c;
		add_contrast(&r);
	}
	if (cJSON_IsObject(best)) {
		facts_section(facts, "the best");
		facts_text(facts, "", FACT_STRONG, "%s", txt(best, "text"));
	}
	add_metrics(&r);
	add_kernels(facts, verdict);
	facts_section(facts, "runs");
	json_each (arm, verdict_list(verdict, "arms"))
		add_arm(&r, arm);
	add_window(&r);
	add_end(&r);
	add_dropped(&r);
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
			/* An audit: the spread of the same code. */
			buf_appendf(out, "A/A: would show %.2f%% in %zu blocks", num(c, "mde_pct"),
				    verdict_count(c, "n_blocks"));
	}
}
