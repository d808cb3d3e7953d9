/* SPDX-License-Identifier: MIT */
/* One pod of the collector: its link, and what may be said of it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"

static const char *
target_of(const struct conf_pod *conf)
{
	return conf->transport == CONF_LOCAL ? "local" : conf->ssh;
}

struct collect_pod *
collect_pod_new(struct collect_fleet *fleet, size_t index,
		const struct conf_pod *conf)
{
	struct collect *c = fleet->collect;
	struct collect_pod *pod = xcalloc(1, sizeof(*pod));

	pod->collect = c;
	pod->name = xstrdup(conf->name);
	pod->conf = conf;
	pod->fleet = fleet;
	pod->index = index;
	list_init(&pod->files);
	list_init(&pod->gone);
	buf_init(&pod->telemetry_line, 4096);
	pod->model_pod = model_pod_find(c->o.model, conf->name);
	if (pod->model_pod == MODEL_NONE)
		pod->model_pod =
			model_pod_add(c->o.model, conf->name, target_of(conf));
	c->o.model->pods[pod->model_pod].usd_per_hour = conf->usd_per_hour;
	list_append(&c->pods, &pod->link);
	if (!c->o.no_follow)
		collect_follow_start(pod);
	return pod;
}

void
collect_pod_let_go(struct collect_pod *pod)
{
	if (pod->is_gone)
		return;
	pod->is_gone = true;
	collect_follow_stop(pod);
	collect_telemetry_stop(pod);
	model_pod_state(pod->collect->o.model, pod->model_pod, POD_GONE, "", 0);
}

void
collect_pod_free(struct collect_pod *pod)
{
	collect_follow_stop(pod);
	collect_gone_release(pod);
	buf_release(&pod->telemetry_line);
	list_remove(&pod->link);
	free(pod->name);
	free(pod);
}

static enum pod_link
link_of(const struct collect_pod *pod, struct link_info *info)
{
	static const enum pod_link links[] = {
		[LINK_IDLE] = POD_LINK_NONE,
		[LINK_CONNECTING] = POD_LINK_CONNECTING,
		[LINK_LIVE] = POD_LINK_UP,
		[LINK_WAITING] = POD_LINK_WAITING,
		[LINK_REFUSED] = POD_LINK_REFUSED,
		[LINK_GONE] = POD_LINK_CLOSED,
	};
	struct transport *t = fleet_transport(pod->fleet->fleet);

	t->ops->link_info(t, pod->index, info);
	return links[info->state];
}

static void
count_runs(const struct collect_pod *pod, struct pod_facts *facts)
{
	int64_t last_ms = 0;

	list_for_each (link, &pod->files) {
		const struct collect_file *file =
			list_entry(link, struct collect_file, link);

		if (!file->is_under_way)
			continue;
		facts->n_under_way++;
		facts->n_silent +=
			pod_pace_is_silent(&file->pace, facts->now_ms);
		if (file->pace.last_ms > last_ms)
			last_ms = file->pace.last_ms;
	}
	facts->silent_ms = facts->now_ms - last_ms;
}

/* A reason often begins with the pod's name, which is said already. */
static const char *
without_name(const struct collect_pod *pod, const char *why)
{
	size_t n = strlen(pod->name);

	if (strncmp(why, pod->name, n) == 0 && strncmp(why + n, ": ", 2) == 0)
		return why + n + 2;
	return why;
}

/* What the follower adds to what the link says. */
static void
add_follower(const struct collect_pod *pod, struct pod_facts *facts,
	     struct collect_follow_status *status)
{
	bool is_idle =
		facts->link == POD_LINK_UP || facts->link == POD_LINK_NONE;

	collect_follow_status(pod, status);
	facts->last_frame_ms = status->last_byte_ms;
	if (pod->follow == NULL) {
		/* Only looked at, by telemetry: the link is all there is. */
		facts->last_frame_ms = facts->now_ms;
	} else if (is_idle && status->is_waiting) {
		facts->link = POD_LINK_WAITING;
		facts->why = without_name(pod, status->why.text);
		facts->retry_at_ms = status->retry_at_ms;
	} else if (is_idle && status->is_refused) {
		facts->link = POD_LINK_REFUSED;
		facts->why = without_name(pod, status->why.text);
	}
}

/* A change that a person should hear of. */
static void
say_change(struct collect_pod *pod, const struct pod_verdict *now)
{
	bool bad = now->state == POD_REFUSED || now->state == POD_RECONNECTING;

	if (now->state != POD_LIVE && !bad)
		return;
	collect_say(pod->collect, bad ? MODEL_WARNING : MODEL_INFO,
		    "%s: %s%s%s", pod->name, pod_state_name(now->state),
		    now->why[0] != '\0' ? ": " : "", now->why);
}

void
collect_pod_put(struct collect_pod *pod)
{
	struct collect *c = pod->collect;
	const struct model_pod *mp = &c->o.model->pods[pod->model_pod];
	const struct clock *clock = loop_clock(c->o.loop);
	const struct store_pod row = {
		.name = pod->name,
		.target = mp->target,
		.state = pod_state_name(mp->state),
		.why = mp->why != NULL && mp->why[0] != '\0' ? mp->why : NULL,
		.gpu = mp->gpu_name,
		.lag_ms = mp->lag_ms,
		.disk_free_bytes = mp->disk_free_bytes,
		.seen_ms = clock->wall_ms(clock),
	};

	if (c->store != NULL)
		store_pod_put(c->store, &row);
}

void
collect_pod_judge(struct collect_pod *pod)
{
	struct collect *c = pod->collect;
	struct collect_follow_status status;
	struct link_info info;
	struct pod_verdict now;
	char why[sizeof(now.why)];
	struct pod_facts facts = {
		.now_ms = collect_now_ms(c),
		.was_up = pod->was_up,
		.is_paused = pod->is_quiet || c->is_full,
	};

	if (pod->is_gone || c->is_ending)
		return;
	(void)snprintf(why, sizeof(why), "%s", pod->verdict.why);
	facts.link = link_of(pod, &info);
	facts.why = without_name(pod, info.why.text);
	facts.retry_at_ms = info.retry_at_ms;
	add_follower(pod, &facts, &status);
	/* Between two tries it connects again, for the reason of before. */
	if (pod->verdict.state == POD_RECONNECTING &&
	    (facts.link == POD_LINK_CONNECTING ||
	     facts.link == POD_LINK_NONE)) {
		facts.link = POD_LINK_CONNECTING;
		facts.was_up = true;
		facts.why = why;
	}
	count_runs(pod, &facts);
	pod_state_decide(&facts, &now);
	pod->was_up |= now.state == POD_LIVE;
	c->o.model->pods[pod->model_pod].lag_ms = status.lag_ms;
	if (now.state != pod->verdict.state ||
	    (now.state == POD_RECONNECTING &&
	     strcmp(now.why, pod->verdict.why) != 0))
		say_change(pod, &now);
	if (now.state != pod->verdict.state ||
	    now.retry_at_ms != pod->verdict.retry_at_ms ||
	    strcmp(now.why, pod->verdict.why) != 0) {
		model_pod_state(c->o.model, pod->model_pod, now.state, now.why,
				now.retry_at_ms);
		if (now.state != pod->verdict.state ||
		    strcmp(now.why, pod->verdict.why) != 0)
			collect_pod_put(pod);
	}
	pod->verdict = now;
}

void
collect_pod_quiet(struct collect_pod *pod, bool quiet)
{
	pod->is_quiet = quiet;
	pod->collect->o.model->pods[pod->model_pod].bench_running = quiet;
	if (quiet)
		collect_telemetry_stop(pod);
	collect_follow_quiet(pod);
}

void
collect_pod_tick(struct collect_pod *pod)
{
	const struct clock *clock = loop_clock(pod->collect->o.loop);

	if (pod->is_gone)
		return;
	list_for_each (link, &pod->files)
		collect_file_tick(list_entry(link, struct collect_file, link),
				  clock->wall_ms(clock));
	collect_gone_tick(pod);
	if (pod->verdict.state == POD_LIVE ||
	    pod->verdict.state == POD_SILENT || pod->follow == NULL)
		collect_telemetry_tick(pod, clock->mono_ms(clock));
	collect_pod_judge(pod);
}
