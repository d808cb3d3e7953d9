/* SPDX-License-Identifier: MIT */
/* The words of a verdict in their order, the loss checks, and the names of all validity checks. */
#include "base/buf.h"
#include "bench/verdict.h"

#include "bench/guard.h"

#include "tests/support/tap.h"

static const struct paired_rule rule = { 0.05, 0.005, 0.8, false };

/* The verdict text for blocks d; `in` overrides the defaults. */
static const char *judge(const double *d, size_t n, struct verdict_input in)
{
	static struct verdict v;
	struct paired p = paired_compare(d, n, &rule);

	in.paired = &p;
	in.n_blocks = n;
	in.alpha = 0.05;
	in.level = in.level > 0.0 ? in.level : 0.05;
	in.margin = in.margin > 0.0 ? in.margin : 0.005;
	verdict_judge(&v, &in);
	return v.text;
}

static void differences(const double *a, const double *b, double *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d[i] = log(a[i]) - log(b[i]);
}

static void test_words(void)
{
	static const double a[] = { 572.71, 572.95, 572.40, 573.10, 572.88, 572.60 };
	static const double b[] = { 562.80, 564.10, 561.95, 563.70, 562.45, 563.05 };
	static const double c[] = { 572.7, 573.1, 572.4, 572.9, 573.3, 572.5 };
	static const double e[] = { 572.9, 572.6, 572.8, 573.2, 572.7, 573.0 };
	const struct verdict_input none = { .register_sd = NAN };
	struct verdict_input in = none;
	double d[6], back[6];

	differences(a, b, d, 6);
	differences(b, a, back, 6);
	is_str(judge(d, 6, none), "FASTER by 1.73% [1.62, 1.85]", "faster");
	is_str(judge(back, 6, none), "SLOWER by 1.70% [1.59, 1.82]", "slower");
	is_str(judge(d, 2, none), "NOT JUDGED (2 blocks, need 3)", "two blocks are too few");
	is_str(judge(d, 1, none), "NOT JUDGED (1 block, need 3)", "one block is too few");
	is_str(judge(d, 0, none), "NOT JUDGED (0 blocks, need 3)", "no block is too few");
	in.need = 6;
	is_str(judge(d, 5, in), "NOT JUDGED (5 blocks, need 6)", "a plan may require more blocks");
	in = none;
	in.invalid = "work identity";
	is_str(judge(d, 6, in), "INVALID (work identity)", "INVALID takes precedence");
	in = none;
	in.register_sd = 0.000103;
	in.register_df = 2;
	is_str(judge(d, 1, in), "NOT JUDGED (1 block, need 3); provisional 1.76% [1.70, 1.82]",
	       "a provisional value if the noise register knows the class");
	differences(c, e, d, 6);
	is_str(judge(d, 6, none), "SAME within \302\2610.5%", "same");
	in = none;
	in.margin = 0.0005;
	is_str(judge(d, 6, in),
	       "NO DIFFERENCE SHOWN -0.01% [-0.10, 0.08]; smallest detectable difference 0.12%",
	       "a wide interval is never SAME");
}

/* Interim looks before the last block, planned or not. */
static void test_looks(void)
{
	static const double weak[] = { .01, .02, .012, .025 };
	static const double strong[] = { .02, .021, .022, .021 };
	struct verdict_input in = { .register_sd = NAN, .planned = 6, .level = 0.001 };

	is_str(judge(weak, 4, in),
	       "NOT JUDGED (4 of 6 blocks; a stop this early needs p < 0.001); so far 1.69% "
	       "[0.56, 2.83]",
	       "p < 0.05 before the last block is not enough");
	is_str(judge(strong, 4, in), "FASTER by 2.12% [1.99, 2.25]",
	       "p < 0.001 before the last block is enough");
	in.level = 0.05;
	in.planned = 4;
	is_str(judge(weak, 4, in), "FASTER by 1.69% [0.56, 2.83]",
	       "at the last block 0.05 is enough");
	in.planned = 0;
	is_str(judge(weak, 4, in), "FASTER by 1.69% [0.56, 2.83]",
	       "0.05 is enough if the bench ended earlier by itself");
}

static void test_suffixes(void)
{
	static const double small[] = { .002, .0021, .0019, .002, .0022, .0018 };
	static const double odd[] = { .001, .001, .001, .001, .001, .05 };
	const struct verdict_input none = { .register_sd = NAN };
	struct verdict_input in = none;
	static const double up[] = { .02, .021, .022, .023 };

	is_str(judge(small, 6, none), "FASTER by 0.20% [0.19, 0.22], below the 0.5% margin",
	       "a difference below the margin");
	in.suffixes = 1U << VERDICT_NOT_STEADY | 1U << VERDICT_PODS_DIFFER;
	is_str(judge(up, 4, in), "FASTER by 2.17% [1.96, 2.38], not steady, differs by pod",
	       "suffixes in their order");
	in.suffixes = 1U << VERDICT_UNPROVEN;
	is_str(judge(up, 4, in), "FASTER by 2.17% [1.96, 2.38], quality unproven",
	       "a suffix for declared other numerics");
	in = none;
	in.level = 1e-6;
	ok(strncmp(judge(up, 4, in), "NO DIFFERENCE SHOWN", 19) == 0,
	   "the level after Holm and looks decides");
	ok(strstr(judge(odd, 6, none), ", fragile") != NULL, "t and sign-flip disagree: fragile");
}

/* Verdicts on two pods that may differ. */
static void test_each_pod(void)
{
	static const double wide[] = { 0.0100, -0.0110, 0.0005 };
	struct verdict_input in = {
		.n_blocks = 3, .alpha = 0.05, .level = 0.05, .margin = 0.005, .register_sd = NAN
	};
	struct paired p = paired_compare(wide, 3, &(struct paired_rule){ 0.05, 0.005, 0.8, false });
	struct verdict v;

	in.paired = &p;
	in.same_on_each = true;
	verdict_judge(&v, &in);
	is_str(v.text, "SAME within \302\2610.5% on each pod", "SAME if each of two pods shows it");
	in.same_on_each = false;
	verdict_judge(&v, &in);
	ok(v.word == VERDICT_NO_DIFFERENCE && v.suffixes == 0,
	   "nothing is shown if one of the pods shows nothing");
}

static struct step_row row(double step, double loss)
{
	return (struct step_row){ .step = step, .train_loss = loss, .train_ms = NAN, .line = 1 };
}

static const struct guard_hit *check(const struct step_row *a, double val_a,
				     const struct step_row *b, double val_b, size_t n, bool changed)
{
	static struct guard_hits hits;
	const struct guard_loss_rule tolerances = GUARD_LOSS_DEFAULT;
	struct guard_losses control = { a, n, val_a, 100, NAN };
	struct guard_losses variant = { b, n, val_b, 100, NAN };

	hits.n = 0;
	guard_check_losses(&hits, &control, &variant, &tolerances, changed);
	return hits.n > 0 ? &hits.hit[0] : NULL;
}

static void test_losses(void)
{
	struct step_row a[] = { row(1, 9.0061), row(2, 12.8549) };
	struct step_row good[] = { row(1, 9.0061), row(2, 12.8528) };
	struct step_row bad[] = { row(1, 9.0061), row(2, 13.0082) };
	struct step_row first[] = { row(1, 9.0063), row(2, 12.8549) };
	struct step_row c[] = { row(4, 8.0252) }, d[] = { row(4, 8.0) };
	const struct guard_hit *hit;

	ok(check(a, 3.4103, good, 3.4113, 2, false) == NULL, "a healthy pair has no hit");
	hit = check(a, 3.4103, bad, 3.4113, 2, false);
	ok(hit != NULL && hit->hard && hit->guard == GUARD_WORK,
	   "a hard hit for another loss at step 2");
	is_str(hit != NULL ? hit->text : NULL,
	       "losses differ from step 2 on: 13.0082, the control's 12.8549 (tolerance 0.02)",
	       "the hit names step, losses and tolerance");
	hit = check(a, 3.4103, good, 4.3009, 2, false);
	ok(hit != NULL && hit->hard, "a hard hit for another validation loss");
	hit = check(a, 3.4103, first, 3.4103, 2, false);
	ok(hit != NULL && hit->hard, "losses at step 1 must be equal");
	hit = check(c, 1, d, 1, 1, false);
	ok(hit != NULL && hit->hard, "a hard hit for 0.0252 less at step 4");
	hit = check(a, 3.4103, bad, 4.3009, 2, true);
	ok(hit != NULL && !hit->hard && hit->guard == GUARD_OUTPUTS,
	   "the hit is soft if the plan declares other numerics");
	hit = check(a, NAN, good, 3.4, 2, false);
	ok(hit != NULL && !hit->hard && hit->guard == GUARD_UNCHECKED,
	   "a missing validation loss gives a warning");
}

static void test_widen(void)
{
	struct guard_loss_rule tolerances = GUARD_LOSS_DEFAULT;

	guard_loss_widen(&tolerances, NAN);
	is_near(tolerances.val, 0.02, 1e-12, "an unknown spread changes nothing");
	guard_loss_widen(&tolerances, 0.01);
	is_near(tolerances.val, 6 * 0.01 * M_SQRT2, 1e-12, "the tolerance is widened");
	tolerances.val = 0.02;
	guard_loss_widen(&tolerances, 1.0);
	is_near(tolerances.val, 0.1, 1e-12, "the tolerance has a limit");
	ok(guard_clock_lag(0.1731, 0.9908) && !guard_clock_lag(0.17, 0.18),
	   "clocks that lag by different amounts are a hit");
}

/* Scripts read these words in verdict.json. */
static void test_guard_words(void)
{
	AUTO_BUF words = buf_new(2000);

	for (size_t i = 0; guard_words[i] != NULL; i++)
		buf_appendf(&words, "%s%s", i > 0 ? ", " : "", guard_words[i]);
	is_str(words.data,
	       "exit, parse, nan, window, work identity, same work, marker, throttled, "
	       "foreign process, clock drift, clock-lag, implausible, outputs unchecked, "
	       "outputs changed, judge files, copy, lost, outlier, sm clock, power cap, busy "
	       "cores, "
	       "host load, settings, restarted, environment, log clock, metrics disagree, "
	       "A/A differs, no spread, versions not seen, coarse clock, not steady, quality, "
	       "output came at the end, not stamped, host-bound, whole runs, left behind, control slowed, "
	       "earlier runs, shared files",
	       "the words of the validity checks stay");
}

int main(void)
{
	test_guard_words();
	test_each_pod();
	test_words();
	test_looks();
	test_suffixes();
	test_losses();
	test_widen();
	return tap_done();
}
