/* SPDX-License-Identifier: MIT */
/* Find problems: rules over the model, shown by the dashboard. */
#include "model/alerts.h"

#include "base/sort.h"
#include "model/board.h"
#include "parsers/run_series.h"

/* A pod is slow if a step takes 5 % longer than the median of its peers. */
#define SLOW_RATIO     1.05
#define SLOW_MIN_PEERS 2
#define DISK_LOW_BYTES 5e9
/* A pod is idle after IDLE_S without output and without a GPU above IDLE_UTIL. */
#define IDLE_UTIL	5.0
#define IDLE_S		600.0
#define STALL_MIN_S	20.0
#define STALL_UNKNOWN_S 120.0
#define STALL_FACTOR	5.0

#define ALERT_ROW(id, name, severity) { (name), severity },
static const struct {
	const char *name;
	enum model_severity severity;
} kinds[] = { ALERT_LIST(ALERT_ROW) };

const char *alert_name(enum alert_kind kind)
{
	return kinds[kind].name;
}

void alerts_init(struct alerts *alerts)
{
	memset(alerts, 0, sizeof(*alerts));
	alerts->stall_s = RUN_ABSENT;
}

void alerts_release(struct alerts *alerts)
{
	alerts_rules_clear(alerts);
	free(alerts->rules);
	free(alerts->v);
	free(alerts->acknowledged_before);
	free(alerts->pods);
	memset(alerts, 0, sizeof(*alerts));
}

void alerts_rules_clear(struct alerts *alerts)
{
	for (size_t i = 0; i < alerts->n_rules; i++)
		free(alerts->rules[i].metric);
	alerts->n_rules = 0;
}

void alerts_rule_add(struct alerts *alerts, const struct alert_rule *rule)
{
	struct alert_rule copy = *rule;

	copy.metric = xstrdup(rule->metric);
	xpush(alerts->rules, alerts->n_rules, alerts->cap_rules, copy);
}

/* A key for what an alert is about, the same after a restart: "kind [rule] pod [index path]". */
static char *alert_key(const struct alert *alert, const struct model *model)
{
	const char *pod = alert->pod < model->n_pods ? model->pods[alert->pod].name : "-";

	if (alert->mr == NULL)
		return xasprintf("%s %s", alert_name(alert->kind), pod);
	if (alert->rule > 0)
		return xasprintf("%s %zu %s %u %s", alert_name(alert->kind), alert->rule, pod,
				 alert->mr->run.run_index, alert->mr->path);
	return xasprintf("%s %s %u %s", alert_name(alert->kind), pod, alert->mr->run.run_index,
			 alert->mr->path);
}

static bool has_line(const char *list, const char *key)
{
	struct str rest = str_from(list), line;

	while (str_next(&rest, '\n', &line))
		if (str_eq_cstr(line, key))
			return true;
	return false;
}

/* One update of the list of alerts. */
struct round {
	struct alerts *alerts;
	const struct model *model;
	const struct track *track;
	int64_t now_wall_ms;
};

/* Find the alert with the same cause; start after the previous one, as updates come in order. */
static struct alert *find_raised(struct alerts *alerts, const struct alert *alert)
{
	for (size_t k = 0; k < alerts->n; k++) {
		size_t i = (alerts->last_found + 1 + k) % alerts->n;
		struct alert *old = &alerts->v[i];

		if (old->mr == alert->mr && old->kind == alert->kind && old->rule == alert->rule &&
		    old->pod == alert->pod) {
			alerts->last_found = i;
			return old;
		}
	}
	return NULL;
}

/* Raise the alert, or update the text of the one that is raised already. */
LIKE_PRINTF(4, 5)
static void raise_alert(struct round *round, const struct alert *whose, enum alert_kind kind,
			const char *fmt, ...)
{
	struct alerts *alerts = round->alerts;
	struct alert alert = *whose, *old;

	alert.kind = kind;
	alert.seen = true;
	print_args(alert.text, fmt);
	old = find_raised(alerts, &alert);
	if (old != NULL) {
		memcpy(old->text, alert.text, sizeof(old->text));
		old->seen = true;
		return;
	}
	if (alerts->n >= ALERTS_MAX)
		return;
	alert.number = ++alerts->last_number;
	alert.severity = kinds[kind].severity;
	if (alert.since_wall_ms == 0)
		alert.since_wall_ms = round->now_wall_ms;
	/* A run that ended before this program started was seen then; it needs no attention. */
	if (alert.mr != NULL && alert.mr->past) {
		alert.acknowledged = true;
	} else if (alerts->acknowledged_before != NULL) {
		AUTO_TEXT key = alert_key(&alert, round->model);

		alert.acknowledged = has_line(alerts->acknowledged_before, key);
	}
	xpush(alerts->v, alerts->n, alerts->cap, alert);
	if (alerts->on_new != NULL && !alert.acknowledged)
		alerts->on_new(alerts->user, &alert);
}

double alerts_stall_limit_s(const struct model_run *mr)
{
	uint64_t seen = 0, want = (uint64_t)mr->n_gaps * 99 / 100;
	size_t i = 0;

	if (mr->n_gaps < 20)
		return STALL_UNKNOWN_S;
	while (i + 1 < MODEL_GAP_BUCKETS && (seen += mr->gaps[i]) <= want)
		i++;
	double p99_s = ldexp(1.0, (int)i + 1) / 1000;
	return fmax(STALL_MIN_S, STALL_FACTOR * p99_s);
}

/* Update when each pod was last unreachable and when it last did something. */
static void update_pods(struct round *round)
{
	const struct model *model = round->model;
	struct alerts *alerts = round->alerts;
	int64_t now_ms = round->now_wall_ms;

	alerts->pods = xreallocarray(alerts->pods, model->n_pods + 1, sizeof(*alerts->pods));
	while (alerts->n_pods < model->n_pods)
		alerts->pods[alerts->n_pods++] = (struct alert_pod){ .busy_ms = now_ms };
	for (size_t i = 0; i < model->n_pods; i++) {
		const struct model_pod *pod = &model->pods[i];

		if (pod->state >= POD_RECONNECTING || pod->state == POD_CONNECTING)
			alerts->pods[i].down_ms = now_ms;
		/* A pod is only known to be idle if its GPUs reported recently. */
		if (pod->bench_running || !(pod->gpu_busiest <= IDLE_UTIL) ||
		    !(model_pod_age_s(pod, now_ms) <= MODEL_OLD_S))
			alerts->pods[i].busy_ms = now_ms;
	}
	pointer_each (log, model->logs, model->n_logs) {
		int64_t *busy_ms = &alerts->pods[log->pod].busy_ms;

		if (log->came.n > 0 && log->came.v[log->came.n - 1].wall_ms > *busy_ms)
			*busy_ms = log->came.v[log->came.n - 1].wall_ms;
	}
}

/* Silence counts only while the link is up; otherwise the link is the problem. */
static void check_stall(struct round *round, const struct alert *alert)
{
	const struct model_run *mr = alert->mr;
	double limit_s = round->alerts->stall_s;
	int64_t from_ms = mr->last_byte_wall_ms;

	if (!mr->live || mr->run.status != RUN_RUNNING || limit_s == 0 ||
	    (mr->log != NULL && mr->log->gone_wall_ms != 0))
		return;
	if (!run_has(limit_s))
		limit_s = alerts_stall_limit_s(mr);
	if (mr->pod < round->alerts->n_pods && round->alerts->pods[mr->pod].down_ms > from_ms)
		from_ms = round->alerts->pods[mr->pod].down_ms;
	double silent_s = (double)(round->now_wall_ms - from_ms) / 1000;
	struct alert since = *alert;
	since.since_wall_ms = from_ms;
	if (silent_s > limit_s)
		raise_alert(round, &since, ALERT_STALL, "no output for %.0f s (limit %.0f s)",
			    silent_s, limit_s);
}

/* Raise an alert for a failure that the log itself reports. */
static void check_status(struct round *round, const struct alert *alert)
{
	static const struct {
		enum run_status status;
		enum alert_kind kind;
		const char *text;
	} rules[] = {
		{ RUN_DIVERGED, ALERT_NAN, "loss is NaN or infinite" },
		{ RUN_OOM, ALERT_OOM, "out of GPU memory" },
		{ RUN_CRASHED, ALERT_CRASH, "crashed" },
		{ RUN_KILLED, ALERT_CRASH, "killed" },
	};
	char at[STR_NUMBER_SIZE + 16] = "", number[STR_NUMBER_SIZE];

	for (size_t i = 0; i < LENGTH(rules); i++) {
		if (alert->mr->run.status != rules[i].status)
			continue;
		double step = model_run_failed_step(alert->mr);
		if (run_has(step))
			print_into(at, " at step %s", str_number(step, 12, number));
		raise_alert(round, alert, rules[i].kind, "%s%s", rules[i].text, at);
	}
}

static size_t peer_times(const struct model *model, const struct model_run *mr, double times[64])
{
	size_t n = 0;

	for (size_t i = 0; i < model->n_runs && n < 64 && model->n_pods > 1; i++) {
		const struct model_run *peer = model->runs[i];

		if (peer->pod == mr->pod || strcmp(peer->group, mr->group) != 0 ||
		    !run_has(model_run_ms_per_step(peer)) || peer->run.steps < 50 ||
		    peer->run.n_gpus != mr->run.n_gpus)
			continue;
		times[n++] = model_run_ms_per_step(peer);
	}
	return n;
}

/* Raise an alert for each cap that the run exceeds, or will exceed. */
static void check_caps(struct round *round, const struct alert *alert, const struct track *track)
{
	const struct model_run *mr = alert->mr;
	double own_cap_s = model_last_value(mr->series, METRIC_CAP_S);
	double train_s = mr->run.planned_steps * model_run_ms_per_step(mr) / 1000;
	double evaluated_s = model_eval_elapsed_s(&mr->run);
	double eval_s = evaluated_s + model_eval_left_s(&mr->run);

	for (enum board_cap cap = 0; cap < BOARD_CAP_COUNT; cap++) {
		AUTO_BUF text = buf_new(sizeof(alert->text));

		if (board_check_cap(track, &mr->run, cap, &text) == CAP_BROKEN)
			raise_alert(round, alert, ALERT_CAP_BYTES + (enum alert_kind)cap, "%s",
				    text.data);
	}
	if (mr->run.status != RUN_RUNNING)
		return;
	/* The run's own time limit is above the cap. */
	if (own_cap_s > track->cap_train_s && train_s > track->cap_train_s &&
	    !(model_run_train_ms(mr) / 1000 > track->cap_train_s))
		raise_alert(round, alert, ALERT_CAP_SOON,
			    "the run stops itself only at %.0f s; the cap is %.0f s", own_cap_s,
			    track->cap_train_s);
	if (evaluated_s >= 10 && eval_s > track->cap_eval_s)
		raise_alert(round, alert, ALERT_CAP_SOON,
			    "evaluation will take about %.0f s; the cap is %.0f s", eval_s,
			    track->cap_eval_s);
}

/* Append the pace since the run fell behind, unless it was slow from its first row. */
static void add_since(const struct model_run *mr, double limit, struct buf *out)
{
	const struct series *paces = mr->series[METRIC_MS_PER_STEP];
	size_t n = paces != NULL ? series_count(paces) : 0, i = n;

	/* A single fast row does not end the slow part. */
	while (i > 0 && (series_at(paces, i - 1)->value >= limit ||
			 (i > 1 && series_at(paces, i - 2)->value >= limit)))
		i--;
	if (i == 0 || i == n)
		return;
	const struct series_point *from = series_at(paces, i - 1);
	const struct series_point *last = series_last(paces);
	double took_ms = last->train_ms - from->train_ms;
	if (run_has(took_ms) && last->step > from->step)
		buf_appendf(out, "; %.0f ms since %.0f s of training",
			    took_ms / (last->step - from->step), from->train_ms / 1000);
}

static void add_clock(const struct round *round, size_t pod, struct buf *out)
{
	const struct model_pod *mp = &round->model->pods[pod];
	double mhz = model_last_value(mp->telemetry, METRIC_GPU_SM_MHZ);
	double temp_c = model_last_value(mp->telemetry, METRIC_GPU_TEMP_C);
	double peers = model_peers_mhz(round->model, mp, round->now_wall_ms);
	const char *why = model_pod_throttle(mp, round->now_wall_ms);

	if (!(model_pod_age_s(mp, round->now_wall_ms) <= MODEL_OLD_S))
		return;
	if (run_has(mhz))
		buf_appendf(out, "; SM %.0f MHz", mhz);
	if (run_has(mhz + peers))
		buf_appendf(out, " (others %.0f)", peers);
	if (run_has(temp_c))
		buf_appendf(out, ", %.0f °C", temp_c);
	if (why != NULL)
		buf_appendf(out, " (%s)", why);
}

static void check_slow(struct round *round, const struct alert *alert)
{
	const struct model_run *mr = alert->mr;
	double times[64], median, own = model_run_ms_per_step(mr);
	AUTO_BUF text = buf_new(sizeof(alert->text));

	if (mr->run.status != RUN_RUNNING || !run_has(own) || mr->run.steps < 50)
		return;
	size_t n = peer_times(round->model, mr, times);
	if (n < SLOW_MIN_PEERS)
		return;
	median = sort_median(times, n);
	if (own < median * SLOW_RATIO)
		return;
	buf_appendf(&text, "%.1f ms/step, %.0f %% above the median of %zu peers", own,
		    (own / median - 1) * 100, n);
	add_since(mr, median * SLOW_RATIO, &text);
	add_clock(round, mr->pod, &text);
	raise_alert(round, alert, ALERT_SLOW_POD, "%s", text.data);
}

/* Check the limits that the user set, except for runs that ended before this program started. */
static void check_metrics(struct round *round, const struct alert *whose)
{
	char value[STR_NUMBER_SIZE], limit[STR_NUMBER_SIZE];
	const struct alerts *alerts = round->alerts;

	for (size_t i = 0; i < alerts->n_rules && !whose->mr->past; i++) {
		const struct alert_rule *rule = &alerts->rules[i];
		enum metric metric = metric_by_name(str_from(rule->metric));
		double last = run_last_value(&whose->mr->run, rule->metric);
		struct alert alert = *whose;

		if (!run_has(last) && metric < METRIC_COUNT)
			last = model_last_value(whose->mr->series, metric);
		bool above = last > rule->above;
		if (!above && !(last < rule->below))
			continue;
		alert.rule = i + 1;
		raise_alert(round, &alert, ALERT_METRIC, "%s is %s, %s %s", rule->metric,
			    str_number(last, 6, value), above ? "above" : "below",
			    str_number(above ? rule->above : rule->below, 6, limit));
	}
}

static void check_pod(struct round *round, size_t i)
{
	const struct model_pod *pod = &round->model->pods[i];
	const struct alert alert = { .pod = i };
	int64_t from_ms = round->alerts->pods[i].busy_ms;
	double idle_s = (double)(round->now_wall_ms - from_ms) / 1000;

	if (pod->state >= POD_RECONNECTING && pod->state < POD_GONE)
		raise_alert(round, &alert, ALERT_LINK, "%s: %s", pod_state_name(pod->state),
			    pod->why != NULL ? pod->why : "reason unknown");
	if (pod->disk_free_bytes < DISK_LOW_BYTES)
		raise_alert(round, &alert, ALERT_DISK, "%.1f GB of disk space left",
			    pod->disk_free_bytes / 1e9);
	if (idle_s >= IDLE_S && pod->usd_per_hour > 0)
		raise_alert(round, &(struct alert){ .pod = i, .since_wall_ms = from_ms },
			    ALERT_IDLE,
			    "no output and no GPU above %g %% for %.0f min, at a cost of %.2f USD",
			    IDLE_UTIL, idle_s / 60, pod->usd_per_hour * idle_s / 3600);
}

void alerts_update(struct alerts *alerts, const struct model *model, const struct track *track,
		   int64_t now_wall_ms)
{
	struct round round = { alerts, model, track, now_wall_ms };
	size_t n = 0;

	for (size_t i = 0; i < alerts->n; i++)
		alerts->v[i].seen = false;
	update_pods(&round);
	pointer_each (mr, model->runs, model->n_runs) {
		/* A problem started by the time of the newest row. */
		const struct alert alert = { .pod = mr->pod,
					     .mr = mr,
					     .since_wall_ms = mr->last_byte_wall_ms };

		mr->alert = NULL;
		if (mr->blank)
			continue;
		check_status(&round, &alert);
		check_stall(&round, &alert);
		if (track != NULL)
			check_caps(&round, &alert, track_for_run(track, &mr->run));
		check_slow(&round, &alert);
		check_metrics(&round, &alert);
	}
	pointer_each (log, model->logs, model->n_logs) {
		const struct model_run *mr = model_log_cut_run(model, log);
		const struct alert alert = { .pod = log->pod,
					     .mr = mr,
					     .since_wall_ms = log->gone_wall_ms };

		if (mr != NULL)
			raise_alert(
				&round, &alert, ALERT_GONE,
				"log file removed before the run finished; its local copy is kept");
	}
	for (size_t i = 0; i < model->n_pods; i++)
		check_pod(&round, i);
	for (size_t i = 0; i < alerts->n; i++)
		if (alerts->v[i].seen)
			alerts->v[n++] = alerts->v[i];
	alerts->n = n;
	array_each (alert, alerts->v, n) {
		struct model_run *mr = alert->mr != NULL ? model->runs[alert->mr->number] : NULL;

		if (mr != NULL && (mr->alert == NULL || alert->severity > mr->alert->severity))
			mr->alert = alert;
	}
}

void alerts_acknowledge(struct alerts *alerts)
{
	for (size_t i = 0; i < alerts->n; i++)
		alerts->v[i].acknowledged = true;
}

size_t alerts_open(const struct alerts *alerts)
{
	return array_count(alert, alerts->v, alerts->n, !alert->acknowledged);
}

const struct alert *alerts_find(const struct alerts *alerts, uint64_t number)
{
	size_t i = bisect(alerts->n, k, alerts->v[k].number < number);

	return i < alerts->n && alerts->v[i].number == number ? &alerts->v[i] : NULL;
}

void alerts_save(const struct alerts *alerts, const struct model *model, struct buf *out)
{
	if (alerts->muted)
		buf_append_str(out, "muted\n");
	for (size_t i = 0; i < alerts->n; i++) {
		if (!alerts->v[i].acknowledged)
			continue;
		AUTO_TEXT key = alert_key(&alerts->v[i], model);
		/* The file has one key per line, so a key with a line end cannot be stored. */
		if (strchr(key, '\n') == NULL)
			buf_appendf(out, "%s\n", key);
	}
}

void alerts_load(struct alerts *alerts, struct str text)
{
	xset_text(&alerts->acknowledged_before, xstrndup(text.len > 0 ? text.p : "", text.len));
	alerts->muted = has_line(alerts->acknowledged_before, "muted");
}
