/* SPDX-License-Identifier: MIT */
/*
 * The pods: how they are reached, what may be said of the link, and silence
 * while a bench runs there.  They follow a new configuration.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "ingest/ingest_priv.h"
#include "parsers/json.h"
#include "pods/pods.h"
#include "pods/timed.h"
#include "store/benches.h"

/* ---- the state of a pod */

static enum pod_link link_of(const struct ingest_pod *pod, struct link_info *info)
{
	static const enum pod_link links[] = {
		[LINK_IDLE] = POD_LINK_NONE,	   [LINK_CONNECTING] = POD_LINK_CONNECTING,
		[LINK_LIVE] = POD_LINK_UP,	   [LINK_WAITING] = POD_LINK_WAITING,
		[LINK_REFUSED] = POD_LINK_REFUSED, [LINK_GONE] = POD_LINK_CLOSED,
	};
	struct transport *t = fleet_transport(pod->fleet->fleet);

	t->ops->link_info(t, pod->index, info);
	return links[info->state];
}

static void count_runs(const struct ingest_pod *pod, struct pod_facts *facts)
{
	int64_t last_ms = 0;

	list_each (const struct ingest_log, log, &pod->logs, link) {
		if (log->reader == NULL || log->n_runs == 0 || log->status != RUN_RUNNING)
			continue;
		facts->n_under_way++;
		facts->n_silent += pod_pace_is_silent(&log->pace, facts->now_ms);
		if (log->pace.last_ms > last_ms)
			last_ms = log->pace.last_ms;
	}
	facts->silent_ms = facts->now_ms - last_ms;
}

/* A reason often begins with the pod's name, which is said already. */
static const char *without_name(const struct ingest_pod *pod, const char *why)
{
	size_t n = strlen(pod->name);

	if (strncmp(why, pod->name, n) == 0 && strncmp(why + n, ": ", 2) == 0)
		return why + n + 2;
	return why;
}

/* What the follower adds to what the link says. */
static void add_follower(const struct ingest_pod *pod, struct pod_facts *facts,
			 struct follow_status *status)
{
	bool is_idle = facts->link == POD_LINK_UP || facts->link == POD_LINK_NONE;

	/* Only looked at, by telemetry: the link is all there is. */
	*status = (struct follow_status){ .lag_ms = -1 };
	facts->last_frame_ms = facts->now_ms;
	if (pod->follow == NULL)
		return;
	follow_get_status(pod->follow, status);
	facts->last_frame_ms = status->last_byte_ms;
	if (is_idle && status->state == FOLLOW_WAITING) {
		facts->link = POD_LINK_WAITING;
		facts->why = without_name(pod, status->why.text);
		facts->retry_at_ms = status->retry_at_ms;
	} else if (is_idle && status->state == FOLLOW_REFUSED) {
		facts->link = POD_LINK_REFUSED;
		facts->why = without_name(pod, status->why.text);
	}
}

/* A pod that lives may have more logs than are followed. */
static bool add_limit(const struct follow_status *status, struct pod_verdict *verdict)
{
	if ((verdict->state != POD_LIVE && verdict->state != POD_SILENT) ||
	    status->n_followed >= status->n_matching)
		return false;
	print_into(verdict->why, "%llu logs match, the %llu newest are followed",
		   (unsigned long long)status->n_matching, (unsigned long long)status->n_followed);
	return true;
}

/* A change that a person should hear of. */
static void say_change(struct ingest_pod *pod, const struct pod_verdict *now)
{
	bool bad = now->state == POD_REFUSED || now->state == POD_RECONNECTING;

	if (now->state != POD_LIVE && !bad)
		return;
	ingest_notify(pod->ingest, pod, bad ? MODEL_WARNING : MODEL_INFO, "%s: %s%s%s", pod->name,
		      pod_state_name(now->state), now->why[0] != '\0' ? ": " : "", now->why);
}

void pod_store(struct ingest_pod *pod)
{
	struct ingest *ingest = pod->ingest;
	const struct model_pod *mp = &ingest->o.model->pods[pod->model_pod];
	const struct store_pod row = {
		.name = pod->name,
		.target = mp->target,
		.state = pod_state_name(mp->state),
		.why = mp->why != NULL && mp->why[0] != '\0' ? mp->why : NULL,
		.gpu = mp->gpu_name,
		.lag_ms = mp->lag_ms,
		.disk_free_bytes = mp->disk_free_bytes,
		.seen_ms = ingest_wall_ms(ingest),
	};

	if (ingest->store != NULL)
		store_pod_put(ingest->store, &row);
}

void pod_update_state(struct ingest_pod *pod)
{
	struct ingest *ingest = pod->ingest;
	struct follow_status status;
	struct link_info info;
	struct pod_verdict now;
	char why[sizeof(now.why)];
	struct pod_facts facts = {
		.now_ms = ingest_now_ms(ingest),
		.was_up = pod->was_up,
		.is_paused =
			pod->is_paused || (ingest->store != NULL && store_is_full(ingest->store)),
	};

	if (pod->is_gone || ingest->is_ending)
		return;
	print_into(why, "%s", pod->verdict.why);
	facts.link = link_of(pod, &info);
	facts.why = without_name(pod, info.why.text);
	facts.retry_at_ms = info.retry_at_ms;
	bool is_connecting = facts.link == POD_LINK_CONNECTING || facts.link == POD_LINK_NONE;
	add_follower(pod, &facts, &status);
	/* While the link tries a refused key again, the pod stays refused,
	 * so that the same answer is not reported every five minutes. */
	if (pod->verdict.state == POD_REFUSED && is_connecting && pod->verdict.retry_at_ms != 0 &&
	    pod->verdict.retry_at_ms <= facts.now_ms) {
		facts.link = POD_LINK_REFUSED;
		facts.retry_at_ms = pod->verdict.retry_at_ms;
		facts.why = why;
	}
	/* Between two tries it connects again, for the reason of before. */
	if (pod->verdict.state == POD_RECONNECTING &&
	    (facts.link == POD_LINK_CONNECTING || facts.link == POD_LINK_NONE)) {
		facts.link = POD_LINK_CONNECTING;
		facts.was_up = true;
		facts.why = why;
	}
	count_runs(pod, &facts);
	pod_state_decide(&facts, &now);
	bool is_limited = add_limit(&status, &now);
	pod->was_up |= now.state == POD_LIVE;
	ingest->o.model->pods[pod->model_pod].lag_ms = status.lag_ms;
	if (now.state != pod->verdict.state ||
	    ((now.state == POD_RECONNECTING || now.state == POD_REFUSED || is_limited) &&
	     strcmp(now.why, pod->verdict.why) != 0))
		say_change(pod, &now);
	if (now.state != pod->verdict.state || now.retry_at_ms != pod->verdict.retry_at_ms ||
	    strcmp(now.why, pod->verdict.why) != 0) {
		model_pod_state(ingest->o.model, pod->model_pod, now.state, now.why,
				now.retry_at_ms);
		if (now.state != pod->verdict.state || strcmp(now.why, pod->verdict.why) != 0)
			pod_store(pod);
	}
	pod->verdict = now;
}

/* ---- benches that another hgym-tui drives: the database tells of them */

static bool same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Show the run that a bench makes there now, by what it reads itself. */
static void follow_arm(struct ingest_pod *pod, const char *dir, const char *id)
{
	struct ingest *ingest = pod->ingest;
	char *arm = dir != NULL && id != NULL && ingest->o.keep_view ? timed_log(dir, id) : NULL;

	if (!same_text(pod->arm, arm)) {
		if (pod->arm != NULL)
			local_end_log(ingest, pod->arm);
		if (arm != NULL && ingest_add_file(ingest, pod->model_pod, arm, true, NULL) != 0) {
			free(arm);
			arm = NULL;
		}
	}
	free(pod->arm);
	pod->arm = arm;
}

/* Mark the pods that the bench's definition names. */
static int mark_pods(void *user, const struct stored_bench *bench)
{
	struct ingest *ingest = user;
	AUTO_JSON root = NULL;

	if (bench->definition == NULL || bench->dir == NULL || !timed_is_driven(bench->dir))
		return 0;
	root = json_parse(str_from(bench->definition), false, NULL);
	json_each (node, json_get(root, "pods")) {
		const char *id = json_get_string(node, "id", NULL);
		const char *ssh = json_get_string(node, "ssh", NULL);

		list_each (struct ingest_pod, pod, &ingest->pods, link) {
			if (pod->is_gone ||
			    (!same_text(pod->name, id) && !same_text(pod->conf->ssh, ssh)))
				continue;
			if (!pod->has_bench)
				follow_arm(pod, bench->dir, id);
			pod->has_bench = true;
		}
	}
	return 0;
}

/* A bench runs there, and nothing else is asked of it; or as always. */
static void set_quiet(struct ingest_pod *pod, bool quiet)
{
	pod->is_paused = quiet;
	pod->ingest->o.model->pods[pod->model_pod].bench_running = quiet;
	if (quiet)
		telemetry_stop(pod);
	fetch_set_quiet(pod);
}

static void look_for_benches(struct ingest *ingest)
{
	if (ingest->history == NULL)
		return;
	list_each (struct ingest_pod, pod, &ingest->pods, link)
		pod->has_bench = false;
	(void)store_each_bench(ingest->history, "running", mark_pods, ingest, NULL);
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		if (!pod->has_bench)
			follow_arm(pod, NULL, NULL);
		if (pod->is_gone || pod->has_bench == pod->is_paused)
			continue;
		ingest_notify(ingest, pod, MODEL_INFO, "%s: %s", pod->name,
			      pod->has_bench ? "a bench runs: silent" : "the bench is over");
		set_quiet(pod, pod->has_bench);
	}
}

void pods_tick(struct ingest *ingest)
{
	if (ingest->ticks++ % 2 == 0)
		look_for_benches(ingest);
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		if (pod->is_gone)
			continue;
		if (pod->follow != NULL)
			fetch_check_logs(pod);
		if (pod->verdict.state == POD_LIVE || pod->verdict.state == POD_SILENT ||
		    pod->follow == NULL)
			telemetry_tick(pod, ingest_now_ms(ingest));
		pod_update_state(pod);
	}
}

/* ---- which pods there are */

size_t pods_add_to_model(struct ingest *ingest, const struct conf_pod *conf)
{
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, conf->name);

	if (pod == MODEL_NONE)
		pod = model_pod_add(model, conf->name, "");
	free(model->pods[pod].target);
	model->pods[pod].target = xstrdup(conf_pod_target(conf));
	model->pods[pod].usd_per_hour = conf->usd_per_hour;
	return pod;
}

static void pod_new(struct ingest_fleet *fleet, size_t index, const struct conf_pod *conf)
{
	struct ingest *ingest = fleet->ingest;
	struct ingest_pod *pod = xcalloc(1, sizeof(*pod));

	pod->ingest = ingest;
	pod->name = xstrdup(conf->name);
	pod->conf = conf;
	pod->fleet = fleet;
	pod->index = index;
	list_init(&pod->logs);
	buf_init(&pod->telemetry_line, 4096);
	pod->model_pod = pods_add_to_model(ingest, conf);
	list_append(&ingest->pods, &pod->link);
	fleet->pods[index] = pod;
	if (!ingest->o.no_follow)
		fetch_start(pod);
}

static void remove_pod(struct ingest_pod *pod)
{
	pod->is_gone = true;
	/* Its connection stays open in the fleet; whatever that reports is ignored from here on. */
	pod->fleet->pods[pod->index] = NULL;
	fetch_stop(pod);
	telemetry_stop(pod);
	model_pod_state(pod->ingest->o.model, pod->model_pod, POD_GONE, "", 0);
}

static void fleet_on_link(void *user, size_t index)
{
	struct ingest_fleet *fleet = user;

	if (fleet->pods[index] != NULL)
		pod_update_state(fleet->pods[index]);
}

static void fleet_on_ask(void *user, const struct fleet_question *question)
{
	struct ingest_fleet *fleet = user;
	struct fleet_question asked = *question;
	struct ingest_pod *pod = fleet->pods[question->pod];

	if (pod == NULL)
		return;
	asked.pod = pod->model_pod;
	fleet->ingest->o.cb.on_ask(fleet->ingest->o.cb.user, &asked);
}

/* Begin to reach these pods (n > 0). */
static void add_fleet(struct ingest *ingest, const struct conf_pod *const *confs, size_t n)
{
	struct ingest_fleet *fleet = xcalloc(1, sizeof(*fleet));
	struct remote_pod *remotes;
	const struct fleet_options options = {
		.on_ask = ingest->o.cb.on_ask != NULL ? fleet_on_ask : NULL,
		.on_link = fleet_on_link,
		.user = fleet,
		.accept_new = ingest->o.accept_new,
	};

	fleet->ingest = ingest;
	remotes = xcalloc(n, sizeof(*remotes));
	fleet->pods = xcalloc(n, sizeof(struct ingest_pod *));
	for (size_t i = 0; i < n; i++)
		remotes[i] = pods_remote(confs[i]);
	fleet->fleet = fleet_new(ingest->o.loop, remotes, n, &options);
	free(remotes);
	list_append(&ingest->fleets, &fleet->link);
	for (size_t i = 0; i < n; i++)
		pod_new(fleet, i, confs[i]);
}

static void free_fleet(struct ingest_fleet *fleet)
{
	fleet_free(fleet->fleet);
	list_remove(&fleet->link);
	free(fleet->pods);
	free(fleet);
}

static struct ingest_pod *find_pod(const struct ingest *ingest, const char *name)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		if (!pod->is_gone && strcmp(pod->name, name) == 0)
			return pod;
	}
	return NULL;
}

/* Keep the pods that are as they were; let the others go. */
void pods_reload(struct ingest *ingest, const struct conf *conf)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		int i = conf_find_pod(conf, pod->name);
		const struct conf_pod *old = pod->conf;

		if (pod->is_gone)
			continue;
		if (i < 0 || !conf_pod_same_link(old, &conf->pods[i])) {
			ingest_notify(ingest, pod, MODEL_INFO, "%s: let go", pod->name);
			remove_pod(pod);
			continue;
		}
		pod->conf = &conf->pods[i];
		(void)pods_add_to_model(ingest, pod->conf);
		if (!conf_same_strings(&old->logs, &pod->conf->logs))
			fetch_set_patterns(pod);
	}
}

/* The pods of the configuration that are not there yet, in one fleet. */
void pods_add(struct ingest *ingest)
{
	const struct conf *conf = ingest->o.conf;
	AUTO_FREE const struct conf_pod **added =
		xcalloc(conf->n_pods + 1, sizeof(struct conf_pod *));
	size_t n = 0;

	for (size_t i = 0; i < conf->n_pods; i++)
		if (find_pod(ingest, conf->pods[i].name) == NULL)
			added[n++] = &conf->pods[i];
	if (n > 0)
		add_fleet(ingest, added, n);
}

void pods_free(struct ingest *ingest)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link)
		fetch_stop(pod);
	list_each_safe (struct ingest_fleet, fleet, &ingest->fleets, link)
		free_fleet(fleet);
	list_each_safe (struct ingest_pod, pod, &ingest->pods, link) {
		buf_release(&pod->telemetry_line);
		free(pod->arm);
		list_remove(&pod->link);
		free(pod->name);
		free(pod);
	}
}

struct ingest_pod *pod_of_model(const struct ingest *ingest, size_t model_pod)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		if (!pod->is_gone && pod->model_pod == model_pod)
			return pod;
	}
	return NULL;
}
