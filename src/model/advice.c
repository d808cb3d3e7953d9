/* SPDX-License-Identifier: MIT */
/* How did earlier runs end that were as far behind as this one is now? */
#include "model/advice.h"

#include "base/dist.h"
#include "model/reference.h"

/* A run's validation value at the step that is compared, and its final score. */
struct ended {
	double value, final;
};

double advice_at_most(size_t k, size_t n)
{
	double lo = 0, hi = 1;

	if (n == 0 || k >= n)
		return 1;
	for (int i = 0; i < 60; i++) {
		double p = (lo + hi) / 2;

		if (dist_beta_inc(p, (double)k + 1, (double)(n - k)) < 0.95)
			lo = p;
		else
			hi = p;
	}
	return hi;
}

/* Collect a group's finished seeds that have both values, then their mean. Returns their number. */
static size_t collect_ended(const struct model *model, const char *group,
			    const struct model_run *mr, enum metric metric, double step,
			    struct ended out[SEEDS_MOST + 1])
{
	const struct model_run *seeds[SEEDS_MOST];
	size_t n_seeds = find_seeds(model, group, mr->run.planned_steps, seeds);
	struct ended sum = { 0, 0 };
	size_t n = 0;

	pointer_each (other, seeds, n_seeds) {
		const struct series *series = other->series[metric];
		size_t count = series != NULL ? series_count(series) : 0;
		size_t i = bisect(count, k, series_at(series, k)->step < step);
		bool has_step = i < count && series_at(series, i)->step == step;
		struct ended *e = &out[n];

		e->value = has_step ? series_at(series, i)->value : RUN_ABSENT;
		e->final =
			metric == METRIC_VAL_BPB ? other->run.final_bpb : other->run.final_val_loss;
		if (!run_has(e->value) || !run_has(e->final))
			continue;
		sum.value += e->value;
		sum.final += e->final;
		n++;
	}
	out[n] = (struct ended){ sum.value / (double)n, sum.final / (double)n };
	return n;
}

bool find_advice(const struct model *model, const struct model_run *mr,
		 const struct model_run *reference, struct advice *out)
{
	enum metric metric = mr->series[METRIC_VAL_BPB] != NULL ? METRIC_VAL_BPB : METRIC_VAL_LOSS;
	struct ended earlier[SEEDS_MOST + 1], held[SEEDS_MOST + 1], mean;
	const char *against = (reference != NULL ? reference : mr)->group;
	double others = 1; /* gap to the mean of the others / gap to the mean of all */

	if (mr->run.status == RUN_FINISHED || mr->series[metric] == NULL)
		return false;
	const struct series_point *last = series_last(mr->series[metric]);
	if (last == NULL || !(last->step > 0))
		return false;
	size_t n = collect_ended(model, mr->group, mr, metric, last->step, earlier);
	size_t n_held = collect_ended(model, against, mr, metric, last->step, held);
	if (n < ADVICE_LEAST || n_held == 0)
		return false;
	mean = held[n_held];
	if (strcmp(against, mr->group) == 0)
		others = (double)n / (double)(n - 1);
	*out = (struct advice){ .step = last->step,
				.gap = last->value - mean.value,
				.final = mean.final,
				.unit = metric == METRIC_VAL_BPB ? "BPB" : "nats" };
	for (size_t i = 0; i < n; i++) {
		double gap = (earlier[i].value - mean.value) * others;

		if (!(gap > 0) || gap > out->gap)
			continue;
		out->n_behind++;
		out->n_ahead += earlier[i].final < mean.final;
	}
	out->error = advice_at_most(out->n_ahead, out->n_behind);
	return out->gap > 0 && out->n_behind >= ADVICE_LEAST;
}
