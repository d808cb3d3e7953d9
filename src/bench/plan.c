/* SPDX-License-Identifier: MIT */
/* What follows from the definition of a bench; for all that run or show it. */
#include "config.h"

#include "bench/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/quote.h"
#include "base/xalloc.h"

size_t
plan_n_unpriced(const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_pods; i++)
		n += isnan(plan->pods[i].usd_per_h) ? 1 : 0;
	return n;
}

size_t
plan_n_arms(const struct plan *plan)
{
	return plan->n_variants + (plan->aa ? 1 : 0);
}

const struct plan_variant *
plan_arm(const struct plan *plan, size_t arm)
{
	return &plan->variants[arm < plan->n_variants ? arm : 0];
}

void
plan_arm_tag(const struct plan *plan, size_t arm, char out[PLAN_TAG_SIZE])
{
	(void)snprintf(out, PLAN_TAG_SIZE, "%s%s", plan_arm(plan, arm)->tag,
		       arm >= plan->n_variants ? "~aa" : "");
}

size_t
plan_n_rounds(const struct plan *plan)
{
	return plan->burn_in + (plan->blocks + plan->confirm) * plan->reps;
}

size_t
plan_n_runs(const struct plan *plan)
{
	size_t fresh = plan->confirm * plan->reps;
	size_t arms = plan->n_variants < 3 ? plan->n_variants : 3;

	return plan->n_pods *
	       ((plan_n_rounds(plan) - fresh) * plan_n_arms(plan) +
		fresh * arms);
}

unsigned char *
plan_schedule(const struct plan *plan, size_t pod)
{
	size_t n_arms = plan_n_arms(plan);
	unsigned char *order = xcalloc(plan_n_rounds(plan), n_arms);

	for (size_t i = 0; i < plan->burn_in * n_arms; i++)
		order[i] = (unsigned char)(i % n_arms);
	schedule_fill(order + plan->burn_in * n_arms, n_arms,
		      plan_n_rounds(plan) - plan->burn_in,
		      schedule_pod_seed(plan->seed, pod));
	return order;
}

void
plan_gpus_text(const struct plan_gpus *gpus, char glue, struct buf *out)
{
	for (size_t i = 0; i < gpus->n; i++) {
		if (i > 0)
			buf_append_char(out, glue);
		buf_appendf(out, "%d", gpus->v[i]);
	}
}

bool
plan_needs_copies(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_variants; i++)
		if (plan->variants[i].patch != NULL ||
		    plan->variants[i].files.n > 0)
			return true;
	return false;
}

static void
add_env(struct buf *out, const struct plan_env *env)
{
	for (size_t i = 0; i < env->n; i++) {
		buf_appendf(out, "%s=", env->v[i].name);
		quote_word(out, str_from(env->v[i].value));
		buf_append_char(out, ' ');
	}
}

void
plan_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const struct plan_pod *p = &plan->pods[pod];

	buf_append_str(out, "env ");
	if (p->gpus.n > 0) {
		buf_append_str(out, "CUDA_VISIBLE_DEVICES=");
		plan_gpus_text(&p->gpus, ',', out);
		buf_append_char(out, ' ');
	}
	add_env(out, &plan->env);
	add_env(out, &v->env);
	buf_append_str(out, "sh -c ");
	quote_word(out,
		   str_from(v->command != NULL ? v->command : plan->command));
}
