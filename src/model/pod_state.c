/* SPDX-License-Identifier: MIT */
/* Decide the state of a pod's link; the pipeline calls it once per second for each pod. */
#include "model/pod_state.h"

#include "base/sort.h"

#define BURST_MS 50

void pod_pace_bytes(struct pod_pace *pace, int64_t now_ms)
{
	int64_t gap = now_ms - pace->last_ms;

	if (pace->last_ms != 0 && gap < BURST_MS)
		return;
	if (pace->last_ms != 0) {
		pace->gaps_ms[pace->next] = gap;
		pace->next = (pace->next + 1) % POD_PACE_GAPS;
		if (pace->n_gaps < POD_PACE_GAPS)
			pace->n_gaps++;
	}
	pace->last_ms = now_ms;
}

int64_t pod_pace_p99_ms(const struct pod_pace *pace)
{
	double sorted[POD_PACE_GAPS];

	if (pace->n_gaps < POD_PACE_MIN_GAPS)
		return -1;
	for (size_t i = 0; i < pace->n_gaps; i++)
		sorted[i] = (double)pace->gaps_ms[i];
	sort_doubles(sorted, pace->n_gaps);
	return (int64_t)sorted[(pace->n_gaps * 99 + 99) / 100 - 1];
}

int64_t pod_pace_patience_ms(const struct pod_pace *pace)
{
	int64_t p99 = pod_pace_p99_ms(pace);

	if (p99 < 0)
		return -1;
	if (p99 > POD_PACE_MAX_MS / POD_PACE_TIMES)
		return POD_PACE_MAX_MS;
	p99 *= POD_PACE_TIMES;
	return p99 < POD_PACE_MIN_MS ? POD_PACE_MIN_MS : p99;
}

bool pod_pace_is_silent(const struct pod_pace *pace, int64_t now_ms)
{
	int64_t patience = pod_pace_patience_ms(pace);

	return patience >= 0 && now_ms - pace->last_ms > patience;
}

LIKE_PRINTF(3, 4)
static void set_state(struct pod_verdict *v, enum pod_state state, const char *fmt, ...)
{
	v->state = state;
	print_args(v->why, fmt);
}

void pod_state_decide(const struct pod_facts *f, struct pod_verdict *v)
{
	static const enum pod_state states[] = {
		[LINK_IDLE] = POD_UNKNOWN,	[LINK_CONNECTING] = POD_CONNECTING,
		[LINK_WAITING] = POD_UNREACHED, [LINK_REFUSED] = POD_REFUSED,
		[LINK_GONE] = POD_GONE,
	};
	bool again = (f->link == LINK_CONNECTING || f->link == LINK_WAITING) && f->was_up;
	bool has_why = f->why != NULL && f->link != LINK_IDLE;

	v->retry_at_ms = f->link == LINK_WAITING || f->link == LINK_REFUSED ? f->retry_at_ms : 0;
	/* The transport is connected: do the expected bytes arrive? */
	int64_t late = f->now_ms - f->last_frame_ms;
	if (f->link == LINK_LIVE && f->is_paused)
		set_state(v, POD_LIVE, "reading is paused");
	else if (f->link == LINK_LIVE && f->last_frame_ms == 0)
		set_state(v, POD_CONNECTING, "starting the follower");
	else if (f->link == LINK_LIVE && late > POD_LATE_MS)
		set_state(v, POD_SILENT, "follower has not responded for %lld s",
			  (long long)(late / 1000));
	else if (f->link == LINK_LIVE && f->n_under_way > 0 && f->n_silent == f->n_under_way)
		set_state(v, POD_SILENT, "no log has grown for %lld s",
			  (long long)(f->silent_ms / 1000));
	else if (f->link == LINK_LIVE)
		set_state(v, POD_LIVE, "%s", "");
	else
		set_state(v, again ? POD_RECONNECTING : states[f->link], "%s",
			  has_why ? f->why : "");
}
