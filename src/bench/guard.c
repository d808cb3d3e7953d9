/* SPDX-License-Identifier: MIT */
/* Validity checks: what makes a run or a variant unusable. */
#include "bench/guard.h"

#include <math.h>

#include "base/str.h"

const char *const guard_words[] = { GUARD_LIST(LIST_NAME) NULL };

bool guard_has(const struct guard_hits *hits, enum guard guard)
{
	return any_of(i, hits->n, hits->hit[i].guard == guard);
}

void guard_add(struct guard_hits *hits, enum guard guard, bool hard, const char *fmt, ...)
{
	struct guard_hit *hit = array_find(one, hits->hit, hits->n, one->guard == guard);

	if (hit != NULL && (hit->hard || !hard))
		return;
	if (hit == NULL && hits->n < GUARD_MAX_HITS)
		hit = &hits->hit[hits->n++];
	else if (hit == NULL && hard)
		hit = array_find(one, hits->hit, hits->n, !one->hard);
	if (hit == NULL)
		return;
	hit->guard = guard;
	hit->hard = hard;
	print_args(hit->text, fmt);
}

const struct guard_hit *guard_hard(const struct guard_hits *hits)
{
	return array_find(one, hits->hit, hits->n, one->hard);
}

/* A spread of the control widens a tolerance by at most this factor. */
#define WIDEST 5.0

void guard_loss_widen(struct guard_loss_rule *rule, double val_sd)
{
	/* fmax ignores NAN. */
	rule->val = fmin(fmax(rule->val, 6.0 * M_SQRT2 * val_sd), WIDEST * rule->val);
}

static double find_loss(const struct guard_losses *losses, double step)
{
	const struct step_row *row = array_find(one, losses->rows, losses->n, one->step == step);

	return row != NULL ? row->train_loss : (double)NAN;
}

static bool has_first_losses(const struct guard_losses *losses)
{
	return any_of(i, 5, !isnan(find_loss(losses, i + 1)));
}

/* Add a hit for the first of steps 1 to 5 at which the losses differ.  False if there is none. */
static bool compare_first_losses(struct guard_hits *hits, const struct guard_losses *control,
				 const struct guard_losses *variant,
				 const struct guard_loss_rule *rule, bool hard)
{
	for (int step = 1; step <= 5; step++) {
		double a = find_loss(control, step), b = find_loss(variant, step);
		double tol = step == 1 ? rule->first : rule->steps;

		if (!(fabs(b - a) > tol))
			continue;
		guard_add(hits, hard ? GUARD_WORK : GUARD_OUTPUTS, hard,
			  "losses differ from step %d on: %.4f, the control's %.4f (tolerance %g)",
			  step, b, a, tol);
		return true;
	}
	return false;
}

/* Warn if the last validation losses are of different steps, or before the window's end. */
static bool check_validations(struct guard_hits *hits, const struct guard_losses *control,
			      const struct guard_losses *variant)
{
	bool equal = control->val_step == variant->val_step;

	if (isnan(variant->val_loss) || isnan(control->val_loss))
		guard_add(hits, GUARD_UNCHECKED, false, "no validation loss in %s",
			  isnan(control->val_loss) ? "the control's log" : "the variant's log");
	else if (!equal)
		guard_add(hits, GUARD_UNCHECKED, false,
			  "last validation at step %.0f, the control's at step %.0f",
			  variant->val_step, control->val_step);
	else if (variant->val_step < variant->late_step)
		guard_add(hits, GUARD_UNCHECKED, false,
			  "last validation at step %.0f, but the window ends at step %.0f",
			  variant->val_step, variant->late_step);
	return equal;
}

void guard_check_losses(struct guard_hits *hits, const struct guard_losses *control,
			const struct guard_losses *variant, const struct guard_loss_rule *rule,
			bool changed)
{
	double away = variant->val_loss - control->val_loss, late;
	enum guard guard = changed ? GUARD_OUTPUTS : GUARD_WORK;
	bool apart = compare_first_losses(hits, control, variant, rule, !changed);

	if (check_validations(hits, control, variant) && !apart && fabs(away) > rule->val)
		guard_add(hits, guard, !changed,
			  "val_loss %.4f, the control's %.4f (tolerance %.3g)", variant->val_loss,
			  control->val_loss, rule->val);
	if (has_first_losses(control) && !has_first_losses(variant))
		guard_add(hits, GUARD_UNCHECKED, false,
			  "no loss printed at steps 1 to 5, where the control prints some; was the "
			  "run resumed?");
	if (apart || isnan(variant->late_step))
		return;
	late = find_loss(variant, variant->late_step) - find_loss(control, control->late_step);
	if (fabs(late) > rule->late)
		guard_add(hits, GUARD_OUTPUTS, false,
			  "train_loss at step %.0f differs from the control's by %+.4f (tolerance "
			  "%.3g)",
			  variant->late_step, late, rule->late);
}

bool guard_clock_lag(double control_lag_steps, double variant_lag_steps)
{
	return fabs(control_lag_steps - variant_lag_steps) > STEP_LAG_TOLERANCE;
}
