/* SPDX-License-Identifier: MIT */
/* What a part of a bench fetches, and by which commands. */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "bench/session_priv.h"

void
part_job_name(const struct part *part, char *out, size_t size)
{
	const struct session_run *run = part->run;

	(void)snprintf(out, size, run->attempt > 0 ? "%s.r%u" : "%s", run->id,
		       run->attempt);
}

int
part_take_log(struct part *part, const struct launch_reply *reply)
{
	struct session *s = part->session;
	char file[FOLDER_PATH_SIZE];

	if (reply->data.len == 0)
		return 0;
	session_run_file(part->run, s->plan->log, file, sizeof(file));
	return folder_append(s->setup.path, file, reply->data, &s->why);
}

uint64_t
part_log_offset(const struct part *part)
{
	const struct session *s = part->session;
	char file[FOLDER_PATH_SIZE];

	session_run_file(part->run, s->plan->log, file, sizeof(file));
	return folder_size(s->setup.path, file);
}

int64_t
part_boot_ms(const struct part *part)
{
	const struct clock *clock = loop_clock(part->session->setup.loop);

	return clock->boot_ms(clock);
}

static void
narrow(struct part_clock *clock, double low_s, double high_s)
{
	clock->low_s = fmax(clock->low_s, low_s);
	clock->high_s = fmin(clock->high_s, high_s);
}

void
part_clock_add(struct part *part, double pod_up_s)
{
	double sent_s = (double)part->sent_ms / 1000.0;
	double heard_s = (double)part_boot_ms(part) / 1000.0;

	if (isnan(pod_up_s))
		return;
	narrow(&part->clock, sent_s - pod_up_s, heard_s - pod_up_s);
	narrow(&part->all, sent_s - pod_up_s, heard_s - pod_up_s);
	if (part->first_s == 0.0)
		part->first_s = heard_s;
}

double
part_clock_drift(const struct part *part)
{
	return fmax(0.0, part->clock.low_s - part->clock.high_s);
}

void
part_clock_tell(struct part *part)
{
	double away = part->all.low_s - part->all.high_s;
	double minutes =
		((double)part_boot_ms(part) / 1000.0 - part->first_s) / 60.0;

	if (part->first_s == 0.0 || !isfinite(away) || minutes < 1.0)
		return;
	if (away > 0.0)
		session_note(part->session,
			     "%s: its clock moved by %.2f s or more against "
			     "ours in %.1f minutes",
			     part_pod_id(part), away, minutes);
	else
		session_note(part->session,
			     "%s: its clock kept to ours within %.2f s in %.1f "
			     "minutes",
			     part_pod_id(part), -away, minutes);
}

enum launch_op
part_op(enum part_step step)
{
	static const enum launch_op ops[] = {
		[PART_PREFLIGHT] = LAUNCH_PREFLIGHT,
		[PART_SHIP] = LAUNCH_SHIP,
		[PART_LOCK] = LAUNCH_LOCK,
		[PART_WAIT] = LAUNCH_FINISH,
		[PART_START] = LAUNCH_START,
		[PART_WATCH] = LAUNCH_STATE,
		[PART_CUT] = LAUNCH_CUT,
		[PART_GPU] = LAUNCH_GPU,
		[PART_ABORT] = LAUNCH_ABORT,
		[PART_FINISH] = LAUNCH_FINISH,
		[PART_STOP] = LAUNCH_STOP,
		[PART_CLEAN] = LAUNCH_CLEAN,
	};

	return ops[step];
}
