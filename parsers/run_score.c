/* SPDX-License-Identifier: MIT */
/* Choose the evaluation that is the score of a run. */
#include "parsers/run_score.h"

#include "base/xalloc.h"

void run_results_add(struct run_results *results, const struct result *r)
{
	if (results->n == RUN_MAX_RESULTS)
		results->n--;
	xpush(results->items, results->n, results->cap, *r);
}

bool run_results_any(const struct run_results *results, unsigned int stages)
{
	return any_of(i, results->n, (stages >> results->items[i].stage & 1) != 0);
}

bool run_results_odd_first(const struct run_results *results)
{
	for (size_t i = 0; i < results->n; i++) {
		if ((RUN_KNOWN_POST >> results->items[i].stage & 1) != 0)
			return false;
		if (results->items[i].stage != STAGE_PREQUANT)
			return true;
	}
	return false;
}

/* Return the number of decimals of a figure, at least 4 and at most 10. */
static int decimals_of(double bpb)
{
	double scale = 1e4;
	int n = 4;

	while (n < 10 && fabs(bpb * scale - round(bpb * scale)) > 1e-5) {
		scale *= 10;
		n++;
	}
	return n;
}

/* Can both numbers be the same figure, printed with different precision? */
static bool is_same_figure(double a, double b)
{
	int da = decimals_of(a), db = decimals_of(b);

	return fabs(a - b) <= 0.51 * pow(10, -(da < db ? da : db));
}

static const char exact_suffix[] = "_exact";

/* Return the length of the label without "_exact". */
static size_t base_length(const char *label)
{
	size_t n = strlen(label), k = strlen(exact_suffix);

	return n > k && strcmp(label + n - k, exact_suffix) == 0 ? n - k : n;
}

static bool are_twins(const struct result *a, const struct result *b)
{
	size_t n = base_length(a->label);

	return n == base_length(b->label) && memcmp(a->label, b->label, n) == 0 &&
	       is_same_figure(a->bpb, b->bpb);
}

static bool has_exact_twin(const struct run_results *results, const struct result *r)
{
	if (r->label[base_length(r->label)] != '\0')
		return false;
	return array_any(other, results->items, results->n,
			 other != r && other->stage == r->stage &&
				 other->label[base_length(other->label)] != '\0' &&
				 are_twins(r, other));
}

/* Does the roundtrip label repeat an earlier figure of a better kind? */
static bool is_alias(const struct run_results *results, const struct result *r)
{
	if (r->stage != STAGE_ROUNDTRIP)
		return false;
	return array_any(before, results->items, (size_t)(r - results->items),
			 (before->stage == STAGE_SLIDING || before->stage == STAGE_TTT) &&
				 is_same_figure(before->bpb, r->bpb));
}

static bool has_same_label(const struct result *a, const struct result *b)
{
	return a->stage == b->stage && strcmp(a->label, b->label) == 0;
}

/* Does the result count? No, if its label comes again with the same figure or a repacked model. */
static bool is_counted(const struct run_results *results, const struct result *r)
{
	return !has_exact_twin(results, r) && !is_alias(results, r) &&
	       !array_any(later, results->items, results->n,
			  later > r && has_same_label(later, r) &&
				  (later->packs > r->packs || later->bpb == r->bpb));
}

/* Find the best result of these stages or, with find_last, the last one. */
static const struct result *find_result(const struct run_results *results, unsigned int stages,
					bool find_last)
{
	const struct result *found = NULL;

	array_each (r, results->items, results->n)
		if ((stages >> r->stage & 1) != 0 && is_counted(results, r) &&
		    (found == NULL || find_last || r->bpb < found->bpb))
			found = r;
	return found;
}

/* Do one label or two roundtrips have different figures, so that the submitted model is unknown? */
static bool is_unclear(const struct run_results *results, const struct result *found)
{
	return array_any(r, results->items, results->n,
			 r->stage == found->stage && is_counted(results, r) &&
				 (r->stage == STAGE_ROUNDTRIP || has_same_label(r, found)) &&
				 !is_same_figure(r->bpb, found->bpb));
}

/* Return the figure of a stage: the best one, or the last one of roundtrips and pre-quants. */
static double stage_bpb(const struct run_results *results, enum rule_stage stage)
{
	bool find_last = stage == STAGE_ROUNDTRIP || stage == STAGE_PREQUANT;
	const struct result *r = find_result(results, RUN_STAGE(stage), find_last);

	return r != NULL && !is_unclear(results, r) ? r->bpb : RUN_ABSENT;
}

void run_results_withhold(struct run *run)
{
	free(run->final_stage);
	run->final_stage = NULL;
	run->final_class = NULL;
	run->final_bpb = run->final_val_loss = RUN_ABSENT;
	run->final_line = run->eval_s = RUN_ABSENT;
}

void run_results_apply(const struct run_results *results, struct run *run)
{
	const struct result *best = find_result(results, RUN_KNOWN_POST, false);

	run->prequant_bpb = stage_bpb(results, STAGE_PREQUANT);
	run->quant_bpb = stage_bpb(results, STAGE_ROUNDTRIP);
	run->sliding_bpb = stage_bpb(results, STAGE_SLIDING);
	run->ttt_bpb = stage_bpb(results, STAGE_TTT);
	run_results_withhold(run);
	if (best == NULL || is_unclear(results, best))
		return;
	/* An unknown evaluation that is better than the best known one may be the score. */
	if (array_any(r, results->items, results->n,
		      r->stage == STAGE_UNKNOWN && r->bpb < best->bpb &&
			      !is_same_figure(r->bpb, best->bpb)))
		return;
	run->final_stage = xstrdup(best->label);
	run->final_class = rule_stage_names[best->stage];
	run->final_bpb = best->bpb;
	run->final_val_loss = best->val_loss;
	run->final_line = (double)best->line;
	/* The time may be in the line of the figure's twin. */
	if (!run_has(best->eval_ms))
		best = array_find(other, results->items, results->n,
				  run_has(other->eval_ms) && other->stage == best->stage &&
					  are_twins(other, best));
	run->eval_s = best != NULL ? best->eval_ms / 1000 : RUN_ABSENT;
}
