/* SPDX-License-Identifier: MIT */
/* One run after the other on a pod: what its answers mean; for the parts. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "bench/session_priv.h"

#define POLL_LEAST_MS 200
#define POLL_MOST_MS  2000
#define BUSY_RETRY_MS 1000
/* A pod whose GPUs are taken is asked again for this long. */
#define BUSY_TRIES 3600

/*
 * The run is over: what the pod did to it may ask for its block again, else
 * it is kept as it is.  Then the gap and the next one.
 */
static void
finish_run(struct part *part)
{
	struct session *s = part->session;
	struct session_run *run = part->run;
	int64_t gap_ms = (int64_t)(s->plan->gap_s * 1000.0);
	char why[256];

	part->run = NULL;
	session_load_run(s, run);
	if (session_wants_repeat(s, run, why, sizeof(why))) {
		session_note(s, "%s: block %zu begins again: %s",
			     part_pod_id(part), run->block + 1, why);
		part->next -= run->rep * s->n_arms + run->pos;
		if (session_repeat_block(s, run, why, &s->why) != 0) {
			part_fail(part, s->why.text);
			return;
		}
		session_judge_now(s);
		part_go_on(part, gap_ms);
		return;
	}
	part->next++;
	if (session_record(s, run, &s->why) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	session_on_run(s, run);
	if (part->step != PART_ENDED)
		part_go_on(part, gap_ms);
}

/* The run once more, as a new job; what was fetched of it is forgotten. */
static void
repeat_run(struct part *part, int64_t delay_ms)
{
	struct session *s = part->session;
	char file[FOLDER_PATH_SIZE];

	part->run->attempt++;
	session_run_file(part->run, s->plan->log, file, sizeof(file));
	folder_remove(s->setup.path, file);
	session_run_file(part->run, "gpu.csv", file, sizeof(file));
	folder_remove(s->setup.path, file);
	session_run_file(part->run, "host.csv", file, sizeof(file));
	folder_remove(s->setup.path, file);
	part_next(part, PART_START, delay_ms);
}

/* No exit status and no process: once more, then it is lost. */
static void
on_lost(struct part *part)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	session_note(s, "%s: run %s vanished (pod restarted, or out of memory)",
		     part_pod_id(part), run->id);
	if (run->attempt == 0) {
		repeat_run(part, 1000);
		return;
	}
	run->end = RUN_END_LOST;
	finish_run(part);
}

static int64_t
poll_delay(const struct part *part)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);
	int64_t age = clock->mono_ms(clock) - part->started_ms;
	int64_t delay = age / 10;

	return delay < POLL_LEAST_MS  ? POLL_LEAST_MS
	       : delay > POLL_MOST_MS ? POLL_MOST_MS
				      : delay;
}

/* It goes on: is it worth it? */
static void
on_running(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	if (run->cut[0] == '\0' && reply->data.len > 0 &&
	    session_should_cut(s, run)) {
		session_note(s, "%s: run %s is ended early: %s: %s",
			     part_pod_id(part), run->id,
			     guard_word(run->cut_by), run->cut);
		part_next(part, PART_CUT, 0);
		return;
	}
	part_next(part, PART_WATCH, poll_delay(part));
}

void
part_on_state(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	struct session_run *run = part->run;

	if (part_take_log(part, reply) != 0) {
		part_fail(part, s->why.text);
		return;
	}
	if (reply->state == LAUNCH_LOST || reply->state == LAUNCH_NONE) {
		on_lost(part);
		return;
	}
	if (part_log_offset(part) < reply->size) {
		part_next(part, PART_WATCH, 0);
		return;
	}
	if (reply->state != LAUNCH_DONE) {
		on_running(part, reply);
		return;
	}
	run->end = RUN_END_EXITED;
	run->rc = reply->rc;
	run->t0_s = reply->t0_s;
	run->t1_s = reply->t1_s;
	run->up_s = reply->up_s;
	run->files_changed = reply->files_changed;
	(void)snprintf(run->hash, sizeof(run->hash), "%s", reply->hash);
	(void)snprintf(run->work, sizeof(run->work), "%s", reply->work);
	(void)snprintf(run->runtime, sizeof(run->runtime), "%s",
		       reply->runtime);
	run->drift_s = part_clock_drift(part);
	part_next(part, PART_GPU, 0);
}

void
part_on_start(struct part *part, const struct launch_reply *reply)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);
	struct session *s = part->session;
	char why[200];

	if (reply->error[0] != '\0') {
		part_fail(part, reply->error);
	} else if (reply->foreign[0] != '\0') {
		(void)snprintf(why, sizeof(why),
			       "something else computes on its GPUs (pids %s)",
			       reply->foreign);
		part_give_up(part, why);
	} else if (reply->state == LAUNCH_BUSY) {
		if (part->wait.kind != WAIT_BUSY)
			session_note(s,
				     "%s: its GPUs are locked by another "
				     "bench; waiting",
				     part_pod_id(part));
		part_wait_for(part, WAIT_BUSY,
			      "its GPUs are locked by another bench", 0);
		if (++part->tries > BUSY_TRIES)
			part_fail(part, "its GPUs are locked by another bench");
		else
			part_next(part, PART_START, BUSY_RETRY_MS);
	} else {
		part_wait_over(part);
		part->tries = 0;
		part->begun = true;
		part->started_ms = clock->mono_ms(clock);
		part->clock = (struct part_clock){ -INFINITY, INFINITY };
		part_clock_add(part, reply->pod_up_s);
		session_note(s, "%s: run %s %s", part_pod_id(part),
			     part->run->id,
			     reply->existed ? "is picked up" : "began");
		part_on_state(part, reply);
	}
}

void
part_on_gpu(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	const struct {
		const char *name;
		struct str text;
	} files[] = { { "host.csv", reply->host }, { "gpu.csv", reply->data } };

	for (int i = 0; i < 2; i++) {
		char file[FOLDER_PATH_SIZE];

		session_run_file(part->run, files[i].name, file, sizeof(file));
		if (files[i].text.len > 0 &&
		    folder_write(s->setup.path, file, files[i].text, &s->why) !=
			    0) {
			part_fail(part, s->why.text);
			return;
		}
	}
	finish_run(part);
}
