/* SPDX-License-Identifier: MIT */
/* What takes a run out of a comparison; called by judge and the session. */
#include "bench/guard.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"

const char *const guard_words[] = {
#define X(id, word, what) [GUARD_##id] = (word),
	GUARD_LIST(X)
#undef X
		[GUARD_COUNT] = NULL
};

bool guard_has(const struct guard_hits *hits, enum guard guard)
{
	return any_of(i, hits->n, hits->hit[i].guard == guard);
}

/* Room for one more; a mark makes room for what is no mark.  NULL: there is
 * none. */
static struct guard_hit *new_hit(struct guard_hits *hits, bool hard)
{
	if (hits->n < GUARD_MAX_HITS)
		return &hits->hit[hits->n++];
	return hard ? array_find(one, hits->hit, hits->n, !one->hard) : NULL;
}

void guard_add(struct guard_hits *hits, enum guard guard, bool hard, const char *fmt, ...)
{
	struct guard_hit *hit = array_find(one, hits->hit, hits->n, one->guard == guard);
	va_list ap;

	if (hit != NULL && (hit->hard || !hard))
		return;
	if (hit == NULL)
		hit = new_hit(hits, hard);
	if (hit == NULL)
		return;
	hit->guard = guard;
	hit->hard = hard;
	va_start(ap, fmt);
	(void)vsnprintf(hit->text, sizeof(hit->text), fmt, ap);
	va_end(ap);
}

const struct guard_hit *guard_hard(const struct guard_hits *hits)
{
	return array_find(one, hits->hit, hits->n, one->hard);
}

/* Beyond this many times the tolerance a spread of the control is no excuse. */
#define WIDEST 5.0

void guard_loss_widen(struct guard_loss_rule *rule, double val_sd)
{
	/* fmax passes over a NaN. */
	rule->val = fmin(fmax(rule->val, 6.0 * M_SQRT2 * val_sd), WIDEST * rule->val);
}

static double loss_at(const struct guard_losses *losses, double step)
{
	for (size_t i = 0; i < losses->n; i++)
		if (losses->rows[i].step == step)
			return losses->rows[i].train_loss;
	return (double)NAN;
}

/* Steps 1..5 whose losses are printed. */
static int n_first_steps(const struct guard_losses *losses)
{
	int n = 0;

	for (int step = 1; step <= 5; step++)
		n += !isnan(loss_at(losses, step)) ? 1 : 0;
	return n;
}

/* The first of steps 1..5 at which the two part, as a hit. */
static bool check_first_steps(struct guard_hits *hits, const struct guard_losses *control,
			      const struct guard_losses *variant,
			      const struct guard_loss_rule *rule, bool hard)
{
	for (int step = 1; step <= 5; step++) {
		double a = loss_at(control, step), b = loss_at(variant, step);
		double tol = step == 1 ? rule->first : rule->steps;

		if (!(fabs(b - a) > tol))
			continue;
		guard_add(hits, hard ? GUARD_WORK : GUARD_OUTPUTS, hard,
			  "diverged at step %d: loss %.4f against %.4f "
			  "(tolerance %g)",
			  step, b, a, tol);
		return true;
	}
	return false;
}

/* Can the last validations be held against each other, and are they of what
 * the window measured? */
static bool check_validated(struct guard_hits *hits, const struct guard_losses *control,
			    const struct guard_losses *variant)
{
	bool equal = control->val_step == variant->val_step;

	if (isnan(variant->val_loss) || isnan(control->val_loss))
		guard_add(hits, GUARD_UNCHECKED, false, "no validation loss in %s",
			  isnan(control->val_loss) ? "the control's log" : "its log");
	else if (!equal)
		guard_add(hits, GUARD_UNCHECKED, false,
			  "its last validation is of step %.0f, the control's "
			  "of step %.0f",
			  variant->val_step, control->val_step);
	else if (variant->val_step < variant->late_step)
		guard_add(hits, GUARD_UNCHECKED, false,
			  "its last validation is of step %.0f, the window "
			  "ends at step %.0f",
			  variant->val_step, variant->late_step);
	return equal;
}

void guard_check_losses(struct guard_hits *hits, const struct guard_losses *control,
			const struct guard_losses *variant, const struct guard_loss_rule *rule,
			bool changed)
{
	double away = variant->val_loss - control->val_loss, late;
	enum guard guard = changed ? GUARD_OUTPUTS : GUARD_WORK;
	bool apart = check_first_steps(hits, control, variant, rule, !changed);

	if (check_validated(hits, control, variant) && !apart && fabs(away) > rule->val)
		guard_add(hits, guard, !changed, "val_loss %.4f against %.4f (tolerance %.3g)",
			  variant->val_loss, control->val_loss, rule->val);
	if (n_first_steps(control) > 0 && n_first_steps(variant) == 0)
		guard_add(hits, GUARD_UNCHECKED, false,
			  "its log lacks the losses of steps 1 to 5, which the "
			  "control's has: was it resumed?");
	if (apart || isnan(variant->late_step))
		return;
	late = loss_at(variant, variant->late_step) - loss_at(control, control->late_step);
	if (fabs(late) > rule->late)
		guard_add(hits, GUARD_OUTPUTS, false,
			  "train_loss at step %.0f is %+.4f from the "
			  "control's (tolerance %.3g)",
			  variant->late_step, late, rule->late);
}

bool guard_clock_lag(double control_lag_steps, double variant_lag_steps)
{
	return fabs(control_lag_steps - variant_lag_steps) > STEP_LAG_TOLERANCE;
}
