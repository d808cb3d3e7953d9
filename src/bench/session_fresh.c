/* SPDX-License-Identifier: MIT */
/*
 * Fresh blocks: the one that looks best of several looks better than it is,
 * so it is held once more against the control and the runner-up, by blocks
 * that had no part in choosing it.  Called by the session and its parts.
 */
#include "config.h"

#include "bench/session_priv.h"

bool
session_is_due(const struct session *s, const struct session_run *run)
{
	if (run->recorded || s->arm_stopped[run->arm])
		return false;
	return run->fresh ? s->in_fresh[run->arm] : !s->looked && !s->chosen;
}

/* The arms of the fresh blocks; false: there is no best to confirm. */
static bool
choose(struct session *s)
{
	const struct judge_best *best = &s->judge.best;

	s->chosen = true;
	if (best->state < BEST_LEADS)
		return false;
	s->in_fresh[0] = true;
	s->in_fresh[best->arm] = true;
	s->in_fresh[best->rival] = true;
	return true;
}

void
session_fresh_resume(struct session *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].fresh && s->runs[i].recorded) {
			s->in_fresh[s->runs[i].arm] = true;
			any = true;
		}
	s->looked = s->plan->confirm > 0 && (any || session_looks_done(s));
	if (!any)
		return;
	(void)choose(s);
	session_judge_now(s);
}

void
session_on_wait(struct session *s)
{
	bool any = false;

	if (s->chosen || s->stopped != NULL || s->plan->confirm == 0)
		return;
	for (size_t i = 0; i < s->plan->n_pods; i++) {
		if (s->parts[i].step != PART_WAIT &&
		    s->parts[i].step != PART_ENDED)
			return;
		any |= s->parts[i].step == PART_WAIT;
	}
	if (!any)
		return;
	if (choose(s))
		session_note(s,
			     "%s leads: fresh blocks against %s and %s "
			     "are to confirm it",
			     s->arms[s->judge.best.arm].tag,
			     s->arms[s->judge.best.rival].tag, s->arms[0].tag);
	else
		session_note(s, "no arm leads all others: there is nothing to "
				"confirm");
	for (size_t i = 0; i < s->plan->n_pods; i++)
		if (s->parts[i].step == PART_WAIT)
			part_go_on(&s->parts[i], 1);
}
