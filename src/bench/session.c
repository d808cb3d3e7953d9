/* SPDX-License-Identifier: MIT */
/*
 * A bench under way over all its pods: when it looks, when it stops, what it
 * writes.  Called by `bench run`, `attach` and the dashboard.
 */
#include "config.h"

#include "bench/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "bench/session_priv.h"
#include "bench/stats.h"

#define TICK_MS 1000

void
session_note(struct session *s, const char *fmt, ...)
{
	struct buf raw, clean;
	va_list ap;

	if (s->cb.on_note == NULL)
		return;
	buf_init(&raw, 2048);
	buf_init(&clean, 8192);
	va_start(ap, fmt);
	buf_vappendf(&raw, fmt, ap);
	va_end(ap);
	utf8_sanitize(&clean, (struct str){ raw.data, raw.len });
	s->cb.on_note(s->cb.user, clean.data);
	buf_release(&raw);
	buf_release(&clean);
}

static int64_t
wall_ms(const struct session *s)
{
	const struct clock *clock = loop_clock(s->setup.loop);

	return clock->wall_ms(clock);
}

/*
 * How long it has been under way, in ms: from its beginning to this session's
 * by the wall clock, from then on by one that nobody sets.
 */
static int64_t
elapsed_ms(const struct session *s)
{
	const struct clock *clock = loop_clock(s->setup.loop);
	int64_t before = s->wall0_ms - s->state.started_ms;

	return (before > 0 ? before : 0) + clock->boot_ms(clock) - s->boot0_ms;
}

double
session_cost(const struct session *s)
{
	double hours, cost = (double)NAN;

	if (s->setup.loop == NULL || s->state.ended_ms > 0)
		return s->state.cost_usd;
	hours = (double)elapsed_ms(s) / 3.6e6;
	for (size_t i = 0; i < s->plan->n_pods; i++)
		if (!isnan(s->plan->pods[i].usd_per_h))
			cost = (isnan(cost) ? 0.0 : cost) +
			       hours * s->plan->pods[i].usd_per_h;
	return cost;
}

const struct judge *
session_judge(struct session *s, struct verdict_info *info)
{
	if (!s->judged)
		session_judge_now(s);
	s->repeat_infos = xreallocarray(s->repeat_infos, s->n_repeats + 1,
					sizeof(*s->repeat_infos));
	for (size_t i = 0; i < s->n_repeats; i++)
		s->repeat_infos[i] =
			(struct verdict_repeat){ s->repeats[i].pod,
						 s->repeats[i].block,
						 s->repeats[i].reason };
	*info = (struct verdict_info){
		.name = s->plan->name,
		.bench_sha256 = s->plan->sha256,
		.has_seed = true,
		.seed = s->plan->seed,
		.schedule = (const char *const *)s->schedule,
		.n_schedule = s->plan->blocks * s->plan->reps,
		.pods = s->pod_names,
		.metric = s->plan->key,
		.runs = s->infos,
		.repeats = s->repeat_infos,
		.n_repeats = s->n_repeats,
		.cost_usd = session_cost(s),
		.stopped = s->stopped != NULL		 ? s->stopped
			   : s->state.stopped[0] != '\0' ? s->state.stopped
							 : NULL,
	};
	return &s->judge;
}

/* Every pod gives back what it holds, and no new run begins. */
static void
stop_all(struct session *s, const char *why)
{
	if (s->stopped != NULL)
		return;
	s->stopped = why;
	session_note(s, "stopping: %s", why);
	for (size_t i = 0; i < s->plan->n_pods; i++)
		part_stop(&s->parts[i]);
}

bool
session_looks_done(struct session *s)
{
	struct look_rule rule = {
		.rule = s->plan->rule.paired,
		.min_blocks = s->plan->min_blocks,
		.max_blocks = s->plan->blocks * s->plan->n_pods,
		.early = s->plan->early,
	};
	size_t open = 0, variants = 0;

	for (size_t i = 0; i < s->judge.n_contrasts; i++) {
		const struct judge_contrast *c = &s->judge.contrasts[i];
		struct paired paired = c->paired;
		enum look look;

		if (s->arms[c->arm].aa)
			continue;
		variants++;
		if (s->arm_stopped[c->arm])
			continue;
		paired.n = c->n_blocks;
		if (!isnan(c->p_holm))
			paired.p = c->p_holm;
		look = multi_look(&paired, &rule);
		/* At the last block the schedule itself ends it. */
		if (look == LOOK_GO_ON || look == LOOK_LAST)
			open++;
	}
	return variants > 0 && open == 0;
}

static bool
all_variants_stopped(const struct session *s)
{
	/* Where the control stands alone, the A/A arm is what varies. */
	size_t n = s->plan->n_variants > 1 ? s->plan->n_variants : s->n_arms;

	for (size_t i = 1; i < n; i++)
		if (!s->arm_stopped[i])
			return false;
	return true;
}

static void
tell_run(struct session *s, const struct session_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	if (hit != NULL)
		session_note(s, "%s: run %s: %s: %s",
			     s->plan->pods[run->pod].id, run->id,
			     guard_word(hit->guard), hit->text);
	else
		session_note(s, "%s: run %s is over%s",
			     s->plan->pods[run->pod].id, run->id,
			     run->counted ? "" : " (burn-in, not counted)");
}

static void
tell_verdicts(struct session *s)
{
	for (size_t i = 0; i < s->judge.n_contrasts; i++)
		session_note(s, "after %zu block%s: %s: %s",
			     s->judge.contrasts[i].n_blocks,
			     s->judge.contrasts[i].n_blocks == 1 ? "" : "s",
			     s->arms[s->judge.contrasts[i].arm].tag,
			     s->judge.contrasts[i].verdict.text);
}

void
session_on_run(struct session *s, struct session_run *run)
{
	size_t before = 0, after = 0;
	const struct guard_hit *hit;

	tell_run(s, run);
	if (!run->counted)
		return;
	for (size_t i = 0; s->judged && i < s->judge.n_contrasts; i++)
		before += s->judge.contrasts[i].n_blocks;
	session_judge_now(s);
	for (size_t i = 0; i < s->judge.n_contrasts; i++)
		after += s->judge.contrasts[i].n_blocks;
	hit = guard_hard(&run->hits);
	if (after > before)
		tell_verdicts(s);
	if (after > before && session_write_results(s, &s->why) != 0)
		session_note(s, "%s", s->why.text);
	if (all_variants_stopped(s) ||
	    (run->arm == 0 && hit != NULL && hit->guard == GUARD_EXIT))
		stop_all(s, "guard");
	else if (after > before && s->plan->confirm > 0)
		s->looked |= session_looks_done(s);
	else if (after > before && session_looks_done(s))
		stop_all(s, "early");
}

static void
finish(struct session *s, bool failed)
{
	enum session_end end = failed ? SESSION_FAILED : SESSION_DONE;
	struct err err = s->why;

	if (s->setup.mode == SESSION_CLEAN || s->setup.mode == SESSION_STOP) {
		s->cb.on_end(s->cb.user, end, failed ? &err : NULL);
		return;
	}
	if (s->stopped == NULL)
		s->stopped = "n_max";
	s->state.cost_usd = session_cost(s);
	s->state.ended_ms = s->state.started_ms + elapsed_ms(s);
	(void)snprintf(s->state.state, sizeof(s->state.state), "%s",
		       failed				    ? "failed"
		       : strcmp(s->stopped, "aborted") == 0 ? "aborted"
							    : "done");
	(void)snprintf(s->state.stopped, sizeof(s->state.stopped), "%s",
		       s->stopped);
	session_judge_now(s);
	if (session_write_results(s, &err) != 0 ||
	    folder_write_state(s->setup.path, &s->state, &err) != 0)
		end = SESSION_FAILED;
	s->cb.on_end(s->cb.user, end, end == SESSION_FAILED ? &err : NULL);
}

void
session_on_part_end(struct session *s)
{
	size_t failed = 0;

	for (size_t i = 0; i < s->plan->n_pods; i++) {
		if (s->parts[i].step != PART_ENDED) {
			session_on_wait(s);
			return;
		}
		failed += s->parts[i].failed ? 1 : 0;
	}
	if (s->ended || s->leaving)
		return;
	s->ended = true;
	loop_timer_stop(s->tick);
	finish(s, s->setup.mode == SESSION_RUN ? failed == s->plan->n_pods
					       : failed > 0);
}

/* Once a second: the budget, and whether somebody asked for the end. */
static void
on_tick(void *user)
{
	struct session *s = user;
	double minutes = (double)elapsed_ms(s) / 60000.0;

	for (size_t i = 0; i < s->plan->n_pods; i++)
		part_wait_tick(&s->parts[i]);
	if (s->setup.mode != SESSION_RUN)
		return;
	if (folder_size(s->setup.path, "abort") > 0)
		stop_all(s, "aborted");
	else if (minutes > s->plan->minutes || session_cost(s) > s->plan->usd ||
		 (s->plan->deadline_ms > 0 &&
		  wall_ms(s) > s->plan->deadline_ms))
		stop_all(s, "budget");
}

/* The part that needs neither pods nor a loop. */
static struct session *
make_session(const struct session_setup *setup)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->setup = *setup;
	s->plan = setup->plan;
	(void)folder_read_state(setup->path, &s->state);
	session_runs_init(s);
	return s;
}

struct session *
session_open(const struct session_setup *setup)
{
	struct session *s = make_session(setup);

	session_judge_now(s);
	return s;
}

struct session *
session_new(const struct session_setup *setup, const struct session_cb *cb)
{
	const struct clock *clock = loop_clock(setup->loop);
	struct session *s = make_session(setup);

	s->cb = *cb;
	s->wall0_ms = wall_ms(s);
	s->boot0_ms = clock->boot_ms(clock);
	if (s->state.started_ms == 0)
		s->state.started_ms = s->wall0_ms;
	if (setup->mode == SESSION_RUN || setup->mode == SESSION_ABORT)
		s->state.ended_ms = 0;
	if (setup->mode == SESSION_ABORT)
		s->stopped = "aborted";
	s->state.stopped[0] = '\0';
	(void)snprintf(s->state.name, sizeof(s->state.name), "%s",
		       s->plan->name);
	(void)snprintf(s->state.state, sizeof(s->state.state), "running");
	session_judge_now(s);
	session_fresh_resume(s);
	s->parts = xcalloc(s->plan->n_pods, sizeof(*s->parts));
	for (size_t i = 0; i < s->plan->n_pods; i++) {
		s->parts[i].session = s;
		s->parts[i].pod = i;
		part_begin(&s->parts[i]);
	}
	session_tell_waits(s);
	if (setup->mode == SESSION_RUN &&
	    folder_write_state(setup->path, &s->state, &s->why) != 0)
		session_note(s, "%s", s->why.text);
	s->tick = loop_timer_new(setup->loop, on_tick, s);
	loop_timer_start(s->tick, TICK_MS, TICK_MS);
	return s;
}

void
session_leave(struct session *s)
{
	if (s->leaving || s->ended)
		return;
	s->leaving = true;
	s->cb.on_end(s->cb.user, SESSION_LEFT, NULL);
}

void
session_free(struct session *s)
{
	if (s == NULL)
		return;
	s->leaving = true;
	for (size_t i = 0; s->parts != NULL && i < s->plan->n_pods; i++)
		part_release(&s->parts[i]);
	loop_timer_close(s->tick);
	free(s->parts);
	session_runs_release(s);
	free(s);
}
