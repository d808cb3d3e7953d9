/* SPDX-License-Identifier: MIT */
/* Connect to the configured pods, show their state, and leave those that a bench is timing. */
#include "pods/pods.h"
#include "ingest/ingest_priv.h"
#include "parsers/json.h"
#include "pods/timed.h"
#include "store/benches.h"

/* ---- the state of a pod */

/* Count the runs in progress, and those of them whose log is silent. */
static void count_runs(const struct ingest_pod *pod, struct pod_facts *facts)
{
	int64_t last_ms = 0;

	list_each (const struct ingest_log, log, &pod->logs, link) {
		if (!log->is_parsed || log->n_runs == 0 || log->status != RUN_RUNNING)
			continue;
		facts->n_under_way++;
		facts->n_silent += pod_pace_is_silent(&log->pace, facts->now_ms);
		if (log->pace.last_ms > last_ms)
			last_ms = log->pace.last_ms;
	}
	facts->silent_ms = facts->now_ms - last_ms;
}

/* Skip the pod's name at the start of a reason: it is shown already. */
static const char *without_name(const struct ingest_pod *pod, const char *why)
{
	size_t n = strlen(pod->name);

	if (strncmp(why, pod->name, n) == 0 && strncmp(why + n, ": ", 2) == 0)
		return why + n + 2;
	return why;
}

/* If the connection works, the follower decides the pod's state. */
static void add_follower(const struct ingest_pod *pod, struct pod_facts *facts,
			 struct follow_status *status)
{
	bool is_idle = facts->link == LINK_LIVE || facts->link == LINK_IDLE;

	/* `pods` does not follow logs. */
	*status = (struct follow_status){ .lag_ms = -1 };
	facts->last_frame_ms = facts->now_ms;
	if (pod->follow == NULL)
		return;
	follow_get_status(pod->follow, status);
	/* Bytes that come before its first frame are output of the login shell. */
	facts->last_frame_ms = status->state == LINK_CONNECTING ? 0 : status->last_byte_ms;
	if (is_idle && status->state == LINK_WAITING) {
		facts->link = LINK_WAITING;
		facts->why = without_name(pod, status->why.text);
		facts->retry_at_ms = status->retry_at_ms;
	} else if (is_idle && status->state == LINK_REFUSED) {
		facts->link = LINK_REFUSED;
		facts->why = without_name(pod, status->why.text);
	}
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
	struct transport *t = fleet_transport(pod->fleet->fleet);
	const struct pod_verdict old = pod->verdict;
	struct pod_verdict *now = &pod->verdict;
	struct follow_status status;
	struct link_info info;
	struct pod_facts facts = {
		.now_ms = ingest_now_ms(ingest),
		.is_paused =
			pod->is_paused || (ingest->store != NULL && store_is_full(ingest->store)),
	};

	if (pod->is_gone || ingest->is_ending)
		return;
	t->ops->link_info(t, pod->index, &info);
	pod->was_up |= info.state == LINK_LIVE;
	facts.was_up = pod->was_up;
	facts.link = info.state;
	facts.why = without_name(pod, info.why.text);
	facts.retry_at_ms = info.retry_at_ms;
	bool is_connecting = facts.link == LINK_CONNECTING || facts.link == LINK_IDLE;
	add_follower(pod, &facts, &status);
	bool is_starting = facts.link == LINK_LIVE && facts.last_frame_ms == 0;
	if (old.state == POD_REFUSED && is_connecting && old.retry_at_ms != 0 &&
	    old.retry_at_ms <= facts.now_ms) {
		/* A refused key is tried again: report the same answer only once. */
		facts.link = LINK_REFUSED;
		facts.retry_at_ms = old.retry_at_ms;
		facts.why = old.why;
	} else if ((old.state == POD_RECONNECTING && is_starting) ||
		   ((old.state == POD_RECONNECTING || old.state == POD_UNREACHED) &&
		    (facts.link == LINK_CONNECTING || facts.link == LINK_IDLE))) {
		/* While the next try runs, the reason of the failure stays on the screen. */
		facts.link = LINK_WAITING;
		facts.was_up = old.state == POD_RECONNECTING;
		facts.retry_at_ms = 0;
		facts.why = old.why;
	}
	count_runs(pod, &facts);
	pod_state_decide(&facts, now);
	bool is_up = now->state == POD_LIVE || now->state == POD_SILENT;
	bool is_bad = now->state >= POD_RECONNECTING && now->state < POD_GONE;
	bool is_limited = is_up && status.n_followed < status.n_matching;
	/* Some of several HOST:PATH arguments may match no file. */
	bool is_place = ingest->o.copies_path != NULL && status.n_matching > 0;
	const char *empty = is_up && status.scanned && !is_limited && !is_place
				    ? fetch_empty_pattern(pod)
				    : NULL;
	if (empty != NULL)
		print_into(now->why, "no readable file matches %s", empty);
	if (is_limited)
		print_into(now->why, "%llu logs match; only the newest %llu are followed",
			   (unsigned long long)status.n_matching,
			   (unsigned long long)status.n_followed);
	ingest->o.model->pods[pod->model_pod].lag_ms = status.lag_ms;

	bool is_changed = now->state != old.state;
	bool is_other_why = strcmp(now->why, old.why) != 0;
	if ((now->state == POD_LIVE || is_bad) &&
	    (is_changed || ((is_bad || is_limited || empty != NULL) && is_other_why)))
		ingest_notify(ingest, pod, is_bad ? MODEL_WARNING : MODEL_INFO, "%s: %s%s%s",
			      pod->name, pod_state_name(now->state),
			      now->why[0] != '\0' ? ": " : "", now->why);
	if (is_changed || is_other_why || now->retry_at_ms != old.retry_at_ms)
		model_pod_set_state(ingest->o.model, pod->model_pod, now->state, now->why,
				    now->retry_at_ms);
	if (is_changed || is_other_why)
		pod_store(pod);
}

/* ---- benches of another hgym-tui, listed in the database */

static bool same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Show the log of the bench run in progress; dir NULL: the bench ended. */
static void follow_bench_log(struct ingest_pod *pod, const char *dir, const char *id)
{
	struct ingest *ingest = pod->ingest;
	char *log = dir != NULL && id != NULL && ingest->o.keep_view ? timed_log(dir, id) : NULL;

	if (!same_text(pod->bench_log, log)) {
		if (pod->bench_log != NULL)
			local_end_log(ingest, pod->bench_log);
		if (log != NULL && ingest_add_file(ingest, pod->model_pod, log, true, NULL) != 0) {
			free(log);
			log = NULL;
		}
		if (log != NULL)
			model_log_get(ingest->o.model, pod->model_pod, log)->is_bench = true;
	}
	xset_text(&pod->bench_log, log);
}

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
				follow_bench_log(pod, bench->dir, id);
			pod->has_bench = true;
		}
	}
	return 0;
}

/* Leave pods alone while a bench is timing them, and contact them again afterwards. */
static void check_benches(struct ingest *ingest)
{
	if (ingest->history == NULL)
		return;
	list_each (struct ingest_pod, pod, &ingest->pods, link)
		pod->has_bench = false;
	(void)store_each_bench(ingest->history, "running", mark_pods, ingest, NULL);
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		if (!pod->has_bench)
			follow_bench_log(pod, NULL, NULL);
		if (pod->is_gone || pod->has_bench == pod->is_paused)
			continue;
		ingest_notify(ingest, pod, MODEL_INFO, "%s: %s", pod->name,
			      pod->has_bench ? "not polled while a bench is running"
					     : "polled again, the bench has ended");
		pod->is_paused = pod->has_bench;
		ingest->o.model->pods[pod->model_pod].bench_running = pod->is_paused;
		if (pod->is_paused)
			telemetry_stop(pod);
		fetch_update_pause(pod);
	}
}

void pods_tick(struct ingest *ingest)
{
	if (ingest->ticks++ % 2 == 0)
		check_benches(ingest);
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

/* ---- adding and removing pods */

size_t pods_add_to_model(struct ingest *ingest, const struct conf_pod *conf)
{
	struct model *model = ingest->o.model;
	size_t pod = model_pod_find(model, conf->name);

	if (pod == MODEL_NONE)
		pod = model_pod_add(model, conf->name, "");
	xset_text(&model->pods[pod].target, xstrdup(conf_pod_target(conf)));
	model->pods[pod].usd_per_hour = conf->usd_per_hour;
	return pod;
}

static void pod_new(struct ingest_fleet *fleet, size_t index, const struct conf_pod *conf)
{
	struct ingest *ingest = fleet->ingest;
	struct ingest_pod *pod =
		xnew(struct ingest_pod, .ingest = ingest, .name = xstrdup(conf->name), .conf = conf,
		     .fleet = fleet, .index = index, .telemetry_line = buf_new(4096),
		     .model_pod = pods_add_to_model(ingest, conf));

	list_init(&pod->logs);
	list_append(&ingest->pods, &pod->link);
	fleet->pods[index] = pod;
	if (!ingest->o.no_follow)
		fetch_start(pod);
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

void pods_reload(struct ingest *ingest, const struct conf *conf)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link) {
		int i = conf_find_pod(conf, pod->name);
		const struct conf_pod *old = pod->conf;

		if (pod->is_gone)
			continue;
		if (i < 0 || !conf_pod_same_link(old, &conf->pods[i])) {
			ingest_notify(ingest, pod, MODEL_INFO,
				      i < 0 ? "%s: removed from the configuration"
					    : "%s: reconnecting with changed settings",
				      pod->name);
			pod->is_gone = true;
			/* The connection stays open in the fleet; its reports are ignored. */
			pod->fleet->pods[pod->index] = NULL;
			fetch_stop(pod);
			telemetry_stop(pod);
			model_pod_set_state(ingest->o.model, pod->model_pod, POD_GONE, "", 0);
			continue;
		}
		pod->conf = &conf->pods[i];
		(void)pods_add_to_model(ingest, pod->conf);
		if (!conf_same_strings(&old->logs, &pod->conf->logs))
			fetch_set_patterns(pod);
	}
}

void pods_add(struct ingest *ingest)
{
	const struct conf *conf = ingest->o.conf;
	AUTO_FREE const struct conf_pod **added =
		xcalloc(conf->n_pods + 1, sizeof(struct conf_pod *));
	AUTO_FREE struct remote_pod *remotes = xcalloc(conf->n_pods + 1, sizeof(*remotes));
	size_t n = 0;

	for (size_t i = 0; i < conf->n_pods; i++) {
		bool is_there = false;

		list_each (const struct ingest_pod, pod, &ingest->pods, link)
			is_there |= !pod->is_gone && strcmp(pod->name, conf->pods[i].name) == 0;
		if (!is_there) {
			remotes[n] = pods_remote(&conf->pods[i]);
			added[n++] = &conf->pods[i];
		}
	}
	if (n == 0)
		return;
	struct ingest_fleet *fleet = xnew(struct ingest_fleet, .ingest = ingest,
					  .pods = xcalloc(n, sizeof(struct ingest_pod *)));
	const struct fleet_options options = {
		.on_ask = ingest->o.cb.on_ask != NULL ? fleet_on_ask : NULL,
		.on_link = fleet_on_link,
		.user = fleet,
		.accept_new = ingest->o.accept_new,
	};
	fleet->fleet = fleet_new(ingest->o.loop, remotes, n, &options);
	list_append(&ingest->fleets, &fleet->link);
	for (size_t i = 0; i < n; i++)
		pod_new(fleet, i, added[i]);
}

void pods_free(struct ingest *ingest)
{
	list_each (struct ingest_pod, pod, &ingest->pods, link)
		fetch_stop(pod);
	list_each_safe (struct ingest_fleet, fleet, &ingest->fleets, link) {
		fleet_free(fleet->fleet);
		list_remove(&fleet->link);
		free(fleet->pods);
		free(fleet);
	}
	list_each_safe (struct ingest_pod, pod, &ingest->pods, link) {
		buf_release(&pod->telemetry_line);
		free(pod->bench_log);
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
