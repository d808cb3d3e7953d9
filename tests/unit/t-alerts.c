/* SPDX-License-Identifier: MIT */
/* Alerts and forecasts over models built by the test. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/advice.h"
#include "model/alerts.h"
#include "model/board_stats.h"
#include "model/forecast.h"
#include "model/reference.h"
#include "parsers/run_reader.h"
#include "parsers/run_series.h"

#include "tests/support/tap.h"

#define T0 INT64_C(1768483200000)

static size_t told;

static void on_new(void *user, const struct alert *alert)
{
	(void)user;
	(void)alert;
	told++;
}

static const struct alert *find(const struct alerts *alerts, enum alert_kind kind)
{
	for (size_t i = 0; i < alerts->n; i++)
		if (alerts->v[i].kind == kind)
			return &alerts->v[i];
	return NULL;
}

static struct model_run *add_run(struct model *model, const char *pod, const char *path)
{
	size_t index = model_pod_find(model, pod);
	struct model_run *mr;

	if (index == MODEL_NONE)
		index = model_pod_add(model, pod, "local");
	mr = model_run_get(model, index, path, 0);
	mr->run.status = RUN_RUNNING;
	mr->run.steps = 1000;
	mr->run.train_ms = 100000;
	mr->run.ms_per_step = 100;
	mr->run.n_gpus = 8;
	model_run_touch(model, mr, T0, true);
	return mr;
}

static struct track make_track(void)
{
	struct track track = { 0 };

	track.cap_train_s = 600;
	track.cap_eval_s = 600;
	track.cap_artifact_bytes = 16000000;
	return track;
}

static void test_stall(void)
{
	struct model model;
	struct alerts alerts;
	struct model_run *mr;
	uint64_t number;
	int64_t now = T0;

	model_init(&model);
	alerts_init(&alerts);
	alerts.on_new = on_new;
	told = 0;
	mr = add_run(&model, "a", "/x/a.log");
	is_near(alerts_stall_limit_s(mr), 120, 0,
		"the limit is two minutes until the gaps are known");
	for (int i = 0; i < 100; i++) {
		now += 3000;
		model_run_touch(&model, mr, now, true);
	}
	is_near(alerts_stall_limit_s(mr), 20.48, 1e-9,
		"the limit is five times the 99th percentile of the run's gaps");
	alerts_update(&alerts, &model, NULL, now + 15000);
	ok(find(&alerts, ALERT_STALL) == NULL, "15 s of silence are not a stall");
	alerts_update(&alerts, &model, NULL, now + 30000);
	alerts_update(&alerts, &model, NULL, now + 31000);
	ok(find(&alerts, ALERT_STALL) != NULL && told == 1,
	   "30 s of silence are a stall, reported once");
	number = alerts.v[0].number;
	ok(alerts_find(&alerts, number) == find(&alerts, ALERT_STALL),
	   "an alert is found by its number");
	alerts_acknowledge(&alerts);
	is_int((long long)alerts_open(&alerts), 0, "an alert can be acknowledged");
	model_run_touch(&model, mr, now + 32000, true);
	alerts_update(&alerts, &model, NULL, now + 32000);
	is_int((long long)alerts.n, 0, "a new line ends the alert");
	ok(alerts_find(&alerts, number) == NULL, "the number of an alert that ended finds nothing");
	model_pod_set_state(&model, 0, POD_RECONNECTING, "acknowledging it was possible", 0);
	alerts_update(&alerts, &model, NULL, now + 600000);
	ok(find(&alerts, ALERT_LINK) && !find(&alerts, ALERT_STALL),
	   "a lost connection is not a stall of the run");
	model_pod_set_state(&model, 0, POD_LIVE, NULL, 0);
	alerts_update(&alerts, &model, NULL, now + 610000);
	ok(!find(&alerts, ALERT_STALL), "a connection that was just restored is not a stall");
	alerts_update(&alerts, &model, NULL, now + 630000);
	ok(find(&alerts, ALERT_STALL) != NULL, "silence after the reconnection is a stall");
	mr->run.status = RUN_FINISHED;
	alerts_update(&alerts, &model, NULL, now + 900000);
	is_int((long long)alerts.n, 0, "a finished run may be silent");
	mr->run.status = RUN_RUNNING;
	alerts.stall_s = 0;
	alerts_update(&alerts, &model, NULL, now + 900000);
	is_int((long long)alerts.n, 0, "stall alerts can be turned off");
	alerts_release(&alerts);
	model_release(&model);
}

/* However many alerts there are, a new one is raised, with the time of its cause. */
static void test_many(void)
{
	struct model model;
	struct alerts alerts;
	struct model_run *mr;

	model_init(&model);
	alerts_init(&alerts);
	for (int i = 0; i < 700; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "/x/many/%d.log", i);
		mr = add_run(&model, "a", path);
		mr->run.status = RUN_CRASHED;
		mr->past = i < 600;
	}
	alerts_update(&alerts, &model, NULL, T0 + 60000);
	is_int((long long)alerts.n, 700, "each of 700 crashes has an alert");
	mr->last_byte_wall_ms = T0 + 65000;
	mr->run.status = RUN_OOM;
	alerts_update(&alerts, &model, NULL, T0 + 70000);
	const struct alert *oom = find(&alerts, ALERT_OOM);
	ok(oom != NULL && oom->since_wall_ms == T0 + 65000,
	   "a new alert has the time of the last output");
	is_int((long long)alerts.n, 700, "the other alerts stay the same");
	is_int((long long)alerts_open(&alerts), 100,
	       "runs that ended before the start need no attention");
	alerts_release(&alerts);
	model_release(&model);
}

/* Add telemetry of two GPUs to the first pod; busiest: load of the busier one. */
static void sample_pod(struct model *model, double busiest, int64_t wall_ms)
{
	const struct telemetry sample = {
		.gpu_util = 1, .gpu_busiest = busiest, .n_gpus = 2, .gpu_name = "H100"
	};

	model_pod_set_telemetry(model, 0, &sample, wall_ms);
}

/* Advance *now by minutes, with a sample every ten seconds. */
static void pass_minutes(struct alerts *alerts, struct model *model, double busiest, int minutes,
			 int64_t *now)
{
	for (int i = 0; i < minutes * 6; i++) {
		*now += 10000;
		sample_pod(model, busiest, *now);
		alerts_update(alerts, model, NULL, *now);
	}
}

/* Pods that cost money and do nothing raise an alert; pods whose load is unknown do not. */
static void test_idle(void)
{
	struct model model;
	struct alerts alerts;
	const struct alert *alert;
	struct model_log *log;
	int64_t now = T0;

	model_init(&model);
	alerts_init(&alerts);
	model_pod_add(&model, "a", "local");
	model_pod_set_state(&model, 0, POD_LIVE, NULL, 0);
	log = model_log_get(&model, 0, "/x/a.log");
	pass_minutes(&alerts, &model, 2, 20, &now);
	ok(!find(&alerts, ALERT_IDLE), "a pod without a price is never idle");
	model.pods[0].usd_per_hour = 6;
	pass_minutes(&alerts, &model, 40, 12, &now);
	ok(!find(&alerts, ALERT_IDLE), "one busy GPU prevents the idle alert");
	pass_minutes(&alerts, &model, 5, 9, &now);
	ok(!find(&alerts, ALERT_IDLE), "nine idle minutes raise no alert");
	model_log_set_read(&model, log, 100, now);
	pass_minutes(&alerts, &model, 5, 9, &now);
	ok(!find(&alerts, ALERT_IDLE), "nine idle minutes after a new line raise no alert");
	pass_minutes(&alerts, &model, 0, 11, &now);
	alert = find(&alerts, ALERT_IDLE);
	ok(alert != NULL && strstr(alert->text, " 20 min, at a cost of 2.00 USD"),
	   "twenty minutes at 6 USD an hour cost 2 USD");
	now += 120000;
	alerts_update(&alerts, &model, NULL, now);
	ok(!find(&alerts, ALERT_IDLE), "no idle alert without telemetry");
	pass_minutes(&alerts, &model, RUN_ABSENT, 12, &now);
	ok(!find(&alerts, ALERT_IDLE), "no idle alert if the load of one GPU is unknown");
	model.pods[0].bench_running = true;
	pass_minutes(&alerts, &model, 0, 12, &now);
	ok(!find(&alerts, ALERT_IDLE), "a bench counts as work");
	alerts_release(&alerts);
	model_release(&model);
}

/* A missing log is reported for its last run, unless that run is done. */
static void test_gone(void)
{
	struct model model;
	struct alerts alerts;
	struct model_run *first, *last;
	struct model_log *log;
	const struct alert *alert;

	model_init(&model);
	alerts_init(&alerts);
	first = add_run(&model, "a", "/x/a.log");
	last = model_run_get(&model, 0, "/x/a.log", 1);
	log = model_log_get(&model, 0, "/x/a.log");
	first->log = last->log = log;
	first->run.status = RUN_TRUNCATED;
	last->run.status = RUN_RUNNING;
	model_run_touch(&model, last, T0, true);
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 0, "an existing log raises no alert");
	model_log_set_gone(&model, log, T0 + 1000);
	alerts_update(&alerts, &model, NULL, T0 + 900000);
	alert = find(&alerts, ALERT_GONE);
	ok(alert != NULL && alert->mr == last && alerts.n == 1 && alert->since_wall_ms == T0 + 1000,
	   "a missing log raises an alert with its time, and no stall alert");
	last->run.status = RUN_TRUNCATED;
	last->live = false;
	alerts_update(&alerts, &model, NULL, T0 + 900000);
	is_int((long long)alerts.n, 1, "the alert stays when the run is no longer followed");
	last->run.status = RUN_FINISHED;
	alerts_update(&alerts, &model, NULL, T0 + 900000);
	is_int((long long)alerts.n, 0, "the log of a finished run may disappear");
	last->run.status = RUN_TRUNCATED;
	model_log_set_gone(&model, log, 0);
	alerts_update(&alerts, &model, NULL, T0 + 900000);
	is_int((long long)alerts.n, 0, "a log that came back is not missing");
	alerts_release(&alerts);
	model_release(&model);
}

static void test_caps(void)
{
	struct track track = make_track();
	char name[] = "total_seconds";
	struct run_series *total;
	struct model model;
	struct alerts alerts;
	struct model_run *mr;

	model_init(&model);
	alerts_init(&alerts);
	mr = add_run(&model, "a", "/x/a.log");
	mr->run.status = RUN_FINISHED;
	mr->run.train_ms = 600000;
	mr->run.artifact_bytes = 16000000;
	mr->run.eval_s = 600;
	alerts_update(&alerts, &model, &track, T0);
	is_int((long long)alerts.n, 0, "a value equal to the cap does not exceed it");
	mr->run.train_ms = 600050;
	mr->run.artifact_bytes = 16000001;
	mr->run.eval_s = 600.1;
	alerts_update(&alerts, &model, &track, T0);
	ok(find(&alerts, ALERT_CAP_TRAIN) && find(&alerts, ALERT_CAP_EVAL) &&
		   find(&alerts, ALERT_CAP_BYTES),
	   "each exceeded cap is reported");
	mr->run.train_ms = 601050;
	track.train_grace_steps = 1;
	alerts_update(&alerts, &model, &track, T0);
	ok(find(&alerts, ALERT_CAP_TRAIN) &&
		   strcmp(find(&alerts, ALERT_CAP_TRAIN)->text,
			  "training took 601.05 s, 1.05 over the cap of 600") == 0,
	   "the excess is counted from the cap, without the track's grace");
	mr->run.train_ms = 600050;
	alerts_update(&alerts, &model, &track, T0);
	ok(!find(&alerts, ALERT_CAP_TRAIN), "a step that started in time may end after the cap");
	mr->run.train_ms = mr->run.artifact_bytes = mr->run.eval_s = RUN_ABSENT;
	track.cap_metric = name;
	track.cap_metric_most = 600;
	alerts_update(&alerts, &model, &track, T0);
	is_int((long long)alerts.n, 0, "unknown values exceed no cap");
	total = run_series_get(&mr->run, str_from(name), STR_LIT(""), METRIC_COUNT);
	run_series_add(total, 600, RUN_ABSENT);
	alerts_update(&alerts, &model, &track, T0);
	is_int((long long)alerts.n, 0, "a metric equal to its cap does not exceed it");
	run_series_add(total, 836.5, RUN_ABSENT);
	alerts_update(&alerts, &model, &track, T0);
	ok(find(&alerts, ALERT_CAP_METRIC) &&
		   strcmp(find(&alerts, ALERT_CAP_METRIC)->text,
			  "total_seconds is 836.5, 236.5 over the cap of 600") == 0,
	   "a metric over its cap is reported");
	run_series_add(total, 600, RUN_ABSENT);
	track.full_targets = true;
	mr->run.target_tokens = mr->run.val_tokens = 62021632;
	alerts_update(&alerts, &model, &track, T0);
	is_int((long long)alerts.n, 0, "a complete evaluation exceeds no cap");
	mr->run.target_tokens--;
	alerts_update(&alerts, &model, &track, T0);
	ok(find(&alerts, ALERT_CAP_TARGETS) &&
		   strcmp(find(&alerts, ALERT_CAP_TARGETS)->text,
			  "62,021,631 of 62,021,632 targets scored") == 0,
	   "targets that were left out are reported");
	alerts_release(&alerts);
	model_release(&model);
}

static void test_failures(void)
{
	struct model model;
	struct alerts alerts;
	struct model_run *mr;

	model_init(&model);
	alerts_init(&alerts);
	mr = add_run(&model, "a", "/x/a.log");
	mr->run.status = RUN_DIVERGED;
	alerts_update(&alerts, &model, NULL, T0);
	ok(find(&alerts, ALERT_NAN) != NULL, "NaN");
	mr->run.status = RUN_OOM;
	alerts_update(&alerts, &model, NULL, T0);
	ok(find(&alerts, ALERT_OOM) != NULL && alerts.n == 1, "out of memory raises an alert");
	mr->run.status = RUN_CRASHED;
	alerts_update(&alerts, &model, NULL, T0);
	ok(find(&alerts, ALERT_CRASH) != NULL, "a crash raises an alert");
	mr->run.status = RUN_FINISHED;
	model_pod_set_disk(&model, 0, 1e9);
	model_pod_set_state(&model, 0, POD_REFUSED, "no key", 0);
	alerts_update(&alerts, &model, NULL, T0);
	ok(find(&alerts, ALERT_DISK) && find(&alerts, ALERT_LINK),
	   "little disk space and a refused connection raise alerts");
	alerts_release(&alerts);
	model_release(&model);
}

static void tell_clock(struct model *model, size_t pod, double util, double mhz, double throttle)
{
	struct telemetry said = { .n_gpus = 1,
				  .gpu_name = "H100",
				  .gpu_util = util,
				  .gpu_temp_c = 82,
				  .gpu_sm_mhz = mhz,
				  .gpu_throttle = throttle,
				  .gpu_mem_mib = RUN_ABSENT,
				  .gpu_power_w = RUN_ABSENT,
				  .host_load = RUN_ABSENT,
				  .disk_free_bytes = RUN_ABSENT };

	model_pod_set_telemetry(model, pod, &said, T0);
}

/* The alert shows why a run is slow and since when, but not from old telemetry or after the speed
 * recovered. */
static void test_slow_why(struct model *model, struct alerts *alerts)
{
	struct series *paces = series_new(1024);
	const struct alert *slow;
	double ms = 0;

	for (int step = 10; step <= 400; step += 10) {
		double pace = step <= 200 || step == 300 ? 100 : 204;

		ms += 10 * pace;
		series_push(paces, &(struct series_point){ step, ms, 0, pace });
	}
	model->runs[2]->series[METRIC_MS_PER_STEP] = paces;
	for (size_t i = 0; i < 3; i++)
		tell_clock(model, i, 97, i == 2 ? 1122 : 1755, i == 2 ? 0x20 : 4);
	alerts_update(alerts, model, NULL, T0);
	slow = find(alerts, ALERT_SLOW_POD);
	ok(slow != NULL && strstr(slow->text, "; 199 ms since 20 s of training; SM 1122 MHz "
					      "(others 1755), 82 °C (thermal)") != NULL,
	   "the slow run is explained: %s", slow->text);
	ok(model_peers_mhz(model, &model->pods[0], T0) == (1755 + 1122) / 2.0,
	   "the clock of the others leaves out the pod itself");
	for (int step = 410; step <= 430; step += 10) {
		ms += 1000;
		series_push(paces, &(struct series_point){ step, ms, 0, 100 });
	}
	alerts_update(alerts, model, NULL, T0 + 61000);
	ok(strstr(slow->text, "since") == NULL && strstr(slow->text, "SM") == NULL &&
		   model_pod_throttle(&model->pods[2], T0 + 61000) == NULL,
	   "the alert adds nothing if the pace did not change: %s", slow->text);
	tell_clock(model, 1, 0, 300, 1);
	ok(isnan(model_peers_mhz(model, &model->pods[0], T0)),
	   "an idle pod is not a peer, and one peer is too few");
}

static void test_slow_pod(void)
{
	const struct alert *slow;
	struct model model;
	struct alerts alerts;

	model_init(&model);
	alerts_init(&alerts);
	(void)add_run(&model, "a", "/x/a.log");
	(void)add_run(&model, "b", "/x/b.log");
	add_run(&model, "c", "/x/c.log")->run.ms_per_step = 103;
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 0, "3 % more time per step is not slow");
	model.runs[2]->run.ms_per_step = 126;
	alerts_update(&alerts, &model, NULL, T0);
	slow = find(&alerts, ALERT_SLOW_POD);
	ok(slow != NULL && slow->mr == model.runs[2], "26 %% more time per step is slow: %s",
	   slow != NULL ? slow->text : "");
	test_slow_why(&model, &alerts);
	model.runs[2]->run.n_gpus = 4;
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 0, "fewer GPUs are not a fault of the pod");
	alerts_release(&alerts);
	model_release(&model);
}

static void test_state(void)
{
	struct model model;
	struct alerts alerts;
	struct buf text;

	model_init(&model);
	alerts_init(&alerts);
	add_run(&model, "a", "/x/a.log")->run.status = RUN_OOM;
	alerts_update(&alerts, &model, NULL, T0);
	alerts_acknowledge(&alerts);
	alerts.muted = true;
	buf_init(&text, 4096);
	alerts_save(&alerts, &model, &text);
	alerts_release(&alerts);
	alerts_init(&alerts);
	alerts.on_new = on_new;
	told = 0;
	alerts_load(&alerts, (struct str){ text.data, text.len });
	alerts_update(&alerts, &model, NULL, T0);
	ok(alerts.n == 1 && alerts.v[0].acknowledged && told == 0 && alerts.muted,
	   "acknowledged and muted alerts stay so after a restart");
	buf_release(&text);
	alerts_release(&alerts);
	model_release(&model);
}

/* Add rows of a run whose step time doubles after half of its 600 s. */
static void add_rows(struct model *model, struct model_run *mr, double pace, double end_s)
{
	double step = 0, ms = 0;

	while (ms / 1000 < end_s) {
		struct sample sample = {
			.step = step,
			.metric = METRIC_TRAIN_LOSS,
			.value = 3 - step / 10000,
			.train_ms = ms,
		};

		model_run_sample(model, mr, &sample);
		step += 10;
		ms += 10 * pace * (ms < 300000 ? 100 : 200);
	}
	mr->run.steps = step;
	mr->run.train_ms = ms;
	mr->run.ms_per_step = ms / step;
}

static void test_forecast(void)
{
	struct model model;
	struct model_run *mr, *ref;
	struct forecast f;

	model_init(&model);
	mr = add_run(&model, "a", "/x/a.log");
	add_rows(&model, mr, 1, 200);
	forecast_run(&model, mr, 600, &f);
	ok(f.source == FORECAST_RECENT, "without other runs, the forecast uses the recent speed");
	is_near(f.end_steps, 6000, 0.01, "the forecast by the recent speed is wrong here");
	ok(f.end_steps_error > 500, "the interval includes the truth (%.0f)", f.end_steps_error);
	ref = add_run(&model, "b", "/x/b.log");
	add_rows(&model, ref, 1, 601);
	ref->run.status = RUN_FINISHED;
	ref->run.final_bpb = 1.06;
	forecast_run(&model, mr, 600, &f);
	ok(f.source == FORECAST_REFERENCE && f.reference == ref,
	   "with a finished run of the recipe, the forecast follows its curve");
	is_near(f.end_steps, 4500, 0.01, "the forecast by that curve is correct");
	is_near(f.train_left_s, 400, 0.01, "the forecast has the remaining time");
	ok(!run_has(f.final_bpb), "no forecast of the final BPB before half of the time");
	mr->run.artifact_bytes = 15900000;
	forecast_run(&model, mr, 600, &f);
	ok(f.source == FORECAST_NONE && !run_has(f.end_steps) && !run_has(f.train_left_s),
	   "no forecast of steps after the training");
	ok(forecast_training_is_over(&mr->run), "an artifact shows the end of the training");
	mr->run.artifact_bytes = RUN_ABSENT;
	ok(!forecast_training_is_over(&mr->run), "rows alone do not show the end of the training");
	add_rows(&model, mr, 1, 1);
	model.runs[0]->run.status = RUN_FINISHED;
	forecast_run(&model, mr, 600, &f);
	ok(f.source == FORECAST_NONE && !run_has(f.end_steps), "no forecast for a finished run");
	model_release(&model);
}

/* A trainer that prints the time of each step and the number of steps. */
static void test_forecast_plan(void)
{
	struct model model;
	struct model_run *mr;
	struct forecast f;

	model_init(&model);
	mr = add_run(&model, "a", "/x/a.log");
	mr->run.train_ms = mr->run.ms_per_step = RUN_ABSENT;
	mr->run.planned_steps = 5000;
	forecast_run(&model, mr, RUN_ABSENT, &f);
	ok(!run_has(f.train_left_s), "no forecast without a step time");
	mr->run.step_ms_median = 2000;
	forecast_run(&model, mr, RUN_ABSENT, &f);
	is_near(f.train_left_s, 8000, 1e-6, "4000 steps of 2 s remain");
	is_near(f.end_steps, 5000, 1e-6, "without a cap, the forecast goes up to the planned end");
	forecast_run(&model, mr, 600, &f);
	is_near(f.train_left_s, 8000, 1e-6,
		"caps of a track that the run does not belong to are "
		"ignored");
	mr->run.last_val_bpb = 1.2;
	forecast_run(&model, mr, 600, &f);
	ok(!run_has(f.train_left_s), "caps of a track that the run may belong to apply");
	model_release(&model);
}

static void add_value(struct model_run *mr, const char *name, double value)
{
	run_series_add(run_series_get(&mr->run, str_from(name), STR_LIT(""), METRIC_COUNT), value,
		       1);
}

static void test_metric(void)
{
	char loss[] = "Loss", norm[] = "grad norm";
	struct model model;
	struct alerts alerts;
	struct model_run *mr, *past;
	const struct alert *alert;

	model_init(&model);
	alerts_init(&alerts);
	alerts_rule_add(&alerts, &(struct alert_rule){ loss, 5, RUN_ABSENT });
	alerts_rule_add(&alerts, &(struct alert_rule){ norm, 100, 0.5 });
	mr = add_run(&model, "a", "/x/a.log");
	past = add_run(&model, "a", "/x/b.log");
	past->past = true;
	add_value(past, "Loss", 9);
	add_value(mr, "loss", 9);
	add_value(mr, "Loss", 5);
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 0,
	       "no alert at the limit, for a name in other case, or for an earlier run");
	add_value(mr, "Loss", 6.25);
	add_value(mr, "grad norm", 0.25);
	alerts_update(&alerts, &model, NULL, T0);
	alerts_update(&alerts, &model, NULL, T0);
	alert = find(&alerts, ALERT_METRIC);
	is_int((long long)alerts.n, 2, "each rule has its own alert, once");
	is_str(alert->text, "Loss is 6.25, above 5", "the alert has the value and the upper limit");
	is_str(alerts.v[1].text, "grad norm is 0.25, below 0.5",
	       "the alert has the value and the lower limit");
	add_value(mr, "Loss", 4);
	add_value(mr, "grad norm", 200);
	add_value(mr, "grad norm", (double)NAN);
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 1, "one alert has ended");
	is_str(alerts.v[0].text, "grad norm is 200, above 100", "a NaN is not a value");
	alerts_rules_clear(&alerts);
	alerts_update(&alerts, &model, NULL, T0);
	is_int((long long)alerts.n, 0, "no alerts without rules");
	alerts_release(&alerts);
	model_release(&model);
}

static void test_forecast_bpb(void)
{
	struct model model;
	struct model_run *mr, *ref;
	struct forecast f;

	model_init(&model);
	mr = add_run(&model, "a", "/x/a.log");
	ref = add_run(&model, "b", "/x/b.log");
	add_rows(&model, mr, 1, 400);
	add_rows(&model, ref, 1, 601);
	ref->run.status = RUN_FINISHED;
	ref->run.final_bpb = 1.06;
	forecast_run(&model, mr, 600, &f);
	is_near(f.final_bpb, 1.06, 1e-6, "without a gap, the forecast is the reference's score");
	ok(f.final_bpb_sigma > 0.0005, "the forecast has an interval");
	is_near(forecast_time_at_step(ref, 1005), 100500, 1e-9,
		"between two rows the time is interpolated");
	ok(!run_has(forecast_time_at_step(ref, 99999)),
	   "nothing is interpolated outside of the rows");
	mr->run.last_val_bpb = 1.2;
	mr->run.last_val_loss = 3.1;
	is_near(forecast_bpb_per_nat(mr), 1.2 / 3.1, 1e-12,
		"bits per byte per nat come from the run's own rows");
	model_release(&model);
}

/* How often advice was given, its stated rate, and how often the run ended ahead. */
struct trial {
	int given, ahead;
	double told, share, bound_var, share_var;
};

/* Compare a finished run with the advice that it would have got. */
static void try_advice(const struct model *model, const struct model_run *mr, double final,
		       struct trial *trial)
{
	struct advice a;

	if (!find_advice(model, mr, NULL, &a))
		return;
	trial->given++;
	trial->ahead += final < a.final;
	trial->told += a.error;
	trial->bound_var += a.error * (1 - a.error);
	trial->share += (double)a.n_ahead / (double)a.n_behind;
}

static void judge_trial(const struct trial *t, const char *name)
{
	double off = 2 * sqrt(t->bound_var);

	printf("# %s: given %d times, ahead %d (%.1f expected, at most %.1f stated)\n", name,
	       t->given, t->ahead, t->share, t->told);
	ok(t->ahead <= t->told + off, "%s: the stated error rate is correct", name);
}

static void add_validation(struct model *model, struct model_run *mr, double step, double value)
{
	const struct sample sample = {
		.step = step, .metric = METRIC_VAL_LOSS, .value = value, .train_ms = RUN_ABSENT
	};

	model_run_sample(model, mr, &sample);
}

static double noise(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005U + 1442695040888963407U;
		sum += (double)(*state >> 11) / 9007199254740992.0;
	}
	return sum;
}

/* Groups of runs whose final score depends on a validation by a known amount. */
static void test_advice_drawn(double spread)
{
	struct trial trial = { 0 };
	uint64_t state = 42;
	char path[40];

	for (int i = 0; i < 400; i++) {
		struct model model;
		struct model_run *mr;
		double value = 3.3 + 0.01 * noise(&state);
		double final = value + spread * noise(&state);

		model_init(&model);
		for (int k = 0; k < 15; k++) {
			double own = 3.3 + 0.01 * noise(&state);

			(void)snprintf(path, sizeof(path), "/g/%d.log", k);
			mr = add_run(&model, "a", path);
			add_validation(&model, mr, 100, own);
			mr->run.status = RUN_FINISHED;
			mr->run.final_val_loss = own + spread * noise(&state);
		}
		mr = add_run(&model, "a", "/g/new.log");
		add_validation(&model, mr, 100, value);
		try_advice(&model, mr, final, &trial);
		model_release(&model);
	}
	ok(trial.given > 50, "spread %g: advice is given (%d)", spread, trial.given);
	ok(trial.ahead <= trial.share && trial.share <= trial.ahead + 15,
	   "at most as many end ahead as earlier runs that were less behind");
	judge_trial(&trial, "simulated runs");
}

static void test_advice(void)
{
	struct model model;
	struct model_run *mr, *now;
	struct advice a;
	char path[40];

	is_near(advice_at_most(0, 10), 1 - pow(0.05, 0.1), 1e-12,
		"none of ten ended ahead: the closed form of the interval");
	is_near(advice_at_most(1, 20), 0.216106, 1e-5, "one of twenty ended ahead");
	is_near(advice_at_most(5, 5), 1, 0, "all of five ended ahead: no advice");
	model_init(&model);
	now = add_run(&model, "a", "/g/now.log");
	add_validation(&model, now, 100, 3.4);
	for (int k = 0; k < 5; k++) {
		ok(!find_advice(&model, now, NULL, &a), "no advice with %d earlier runs", k);
		(void)snprintf(path, sizeof(path), "/g/%d.log", k);
		mr = add_run(&model, "a", path);
		add_validation(&model, mr, 100, 3.31 + 0.01 * k);
		mr->run.status = RUN_FINISHED;
		mr->run.final_val_loss = 3.0 + k;
	}
	ok(!find_advice(&model, now, NULL, &a), "no advice if fewer than five of them were behind");
	mr = add_run(&model, "a", "/ref/r.log");
	add_validation(&model, mr, 100, 3.3);
	mr->run.status = RUN_FINISHED;
	mr->run.final_val_loss = 3.2;
	ok(find_advice(&model, now, mr, &a),
	   "advice for a run behind a reference of another group");
	is_near(a.gap, 0.1, 1e-9, "the advice has the gap");
	ok(a.n_behind == 5 && a.n_ahead == 1, "one of five ended ahead of the reference");
	is_near(a.error, advice_at_most(1, 5), 0, "the advice has its error rate");
	add_validation(&model, now, 150, 3.4);
	ok(!find_advice(&model, now, mr, &a), "no advice at a step where the others have no "
					      "validation");
	model_release(&model);
	test_advice_drawn(0.002);
	test_advice_drawn(0.02);
}

/* The next value is within the band in 95 of 100 cases, however few values the band comes from;
 * mean plus or minus two standard deviations would contain far fewer. */
static void test_band_drawn(void)
{
	const double x[] = { 10, 20 };
	uint64_t state = 7;

	for (size_t n = SEEDS_LEAST; n <= 7; n++) {
		int inside = 0, by_spread = 0, all = 0;

		for (int i = 0; i < 2000; i++) {
			double y[8][2], next;
			struct curve curves[8];
			struct board_stats stats;
			struct band band;

			for (size_t k = 0; k < n; k++) {
				y[k][0] = 3 + 0.01 * noise(&state);
				y[k][1] = 2 + 0.02 * noise(&state);
				curves[k] = (struct curve){ x, y[k], 2 };
			}
			band_init(&band, curves, n, &curves[0]);
			for (size_t at = 0; at < 2; at++, all++) {
				double values[8];

				for (size_t k = 0; k < n; k++)
					values[k] = y[k][at];
				next = (at == 0 ? 3 : 2) + 0.01 * (double)(at + 1) * noise(&state);
				board_stats_of(&stats, values, n);
				by_spread += fabs(next - stats.mean) < 2 * stats.sd_sample;
				inside += next > band.lo[at] && next < band.hi[at];
			}
			band_release(&band);
		}
		ok(fabs(100.0 * inside / all - 95) < 2,
		   "with %zu seeds the band contains %.1f of 100 next ones (mean and 2 sd: %.1f)",
		   n, 100.0 * inside / all, 100.0 * by_spread / all);
		ok(n > 3 || by_spread < 0.8 * all,
		   "mean and 2 sd of three seeds contain too few values");
	}
}

static void test_band(void)
{
	const double x[] = { 10, 20, 30 }, at[] = { 10, 20, 25, 30, 40 };
	const double y[3][3] = { { 3, 2, 1 }, { 3.1, 2.2, 1 }, { 3.2, 2.1, 1 } };
	const struct curve over = { at, at, 5 };
	double many[3 * BAND_POINTS];
	struct curve seeds[3] = { { x, y[0], 3 }, { x, y[1], 3 }, { x, y[2], 2 } };
	struct band band;

	band_init(&band, seeds, 3, &over);
	/* t(0.975, 2) = 4.302653 from tables; sd 0.1. */
	is_near(band.hi[0], 3.1 + 4.302653 * 0.1 * sqrt(4.0 / 3), 1e-6, "upper bound of the band");
	is_near(band.lo[0], 3.1 - 4.302653 * 0.1 * sqrt(4.0 / 3), 1e-6, "lower bound of the band");
	ok(run_has(band.lo[1]) && !run_has(band.lo[2]) && !run_has(band.hi[3]),
	   "no band with fewer than three seeds");
	ok(band.n == 5 && !run_has(band.lo[4]), "no band after the last point of the seeds");
	band_release(&band);
	band_init(&band, seeds, 2, &over);
	ok(!run_has(band.lo[0]), "two seeds give no band");
	band_release(&band);
	for (int i = 0; i < 3 * BAND_POINTS; i++)
		many[i] = i;
	band_init(&band, seeds, 3, &(struct curve){ many, many, 3 * BAND_POINTS });
	ok(band.n <= BAND_POINTS && band.x[band.n - 1] == 3 * BAND_POINTS - 1,
	   "interpolation at many x, including the last");
	band_release(&band);
	band_init(&band, seeds, 3, &(struct curve){ NULL, NULL, 0 });
	is_int((long long)band.n, 0, "no value without points");
	band_release(&band);
}

/* One finished run per seed of a group is found, the newest first. */
static void test_seeds(void)
{
	const struct model_run *found[SEEDS_MOST];
	struct model model;
	struct model_run *mr;
	char path[40];

	model_init(&model);
	for (int k = 0; k < 8; k++) {
		(void)snprintf(path, sizeof(path), "/g/%d.log", k);
		mr = add_run(&model, "a", path);
		mr->run.seed = k;
		mr->run.status = RUN_FINISHED;
		mr->run.planned_steps = 2000;
	}
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 8,
	       "all finished runs are found");
	model.runs[0]->run.seed = 1;
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 7, "each seed is found once");
	ok(found[0] == model.runs[7] && found[6] == model.runs[1], "the newest seed is first");
	model.runs[2]->run.status = RUN_RUNNING;
	model.runs[3]->run.planned_steps = 1000;
	free(model.runs[4]->group);
	model.runs[4]->group = xstrdup("/h");
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 4,
	       "running, differently planned and foreign runs do not count");
	model.runs[5]->run.seed = model.runs[6]->run.seed = RUN_ABSENT;
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 4,
	       "a run without a printed seed counts as a seed");
	for (int k = 5; k < 7; k++) {
		model.runs[k]->run.steps = 2000;
		model.runs[k]->run.train_ms = 60000;
		model.runs[k]->run.final_bpb = 1.25;
	}
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 3,
	       "equal figures of two logs count once");
	model.runs[1]->history = MODEL_ASKED;
	is_int((long long)find_seeds(&model, mr->group, 2000, found), 0,
	       "no seeds are found while the series of one run are being loaded");
	model_release(&model);
}

static void on_sample(void *user, const struct run *run, const struct sample *sample)
{
	struct model *model = user;

	model_run_sample(model, model_run_get(model, 0, "", run->run_index), sample);
}

static void on_run(void *user, const struct run *run)
{
	struct model *model = user;

	model_run_update(model, model_run_get(model, 0, "", run->run_index), run);
}

/* Read all logs that match the pattern, each as a run of the model. */
static void read_logs(struct model *model, const char *pattern, const struct format_set *formats)
{
	static const struct run_reader_cb cb = { .on_sample = on_sample, .on_run = on_run };
	static char block[1 << 16];
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *from = fopen(found.gl_pathv[i], "re");
		struct run_reader *reader;
		size_t n;
		struct model one;

		if (from == NULL)
			continue;
		model_init(&one);
		(void)model_pod_add(&one, "a", "local");
		reader = run_reader_new(formats, &cb, &one);
		while ((n = fread(block, 1, sizeof(block), from)) > 0)
			run_reader_feed(reader, block, n);
		run_reader_finish(reader);
		run_reader_free(reader);
		(void)fclose(from);
		for (size_t k = 0; k < one.n_runs; k++) {
			struct model_run *mr =
				model_run_get(model, 0, found.gl_pathv[i], (unsigned int)k);
			model_run_update(model, mr, &one.runs[k]->run);
			for (int m = 0; m < METRIC_COUNT; m++) {
				mr->series[m] = one.runs[k]->series[m];
				one.runs[k]->series[m] = NULL;
			}
		}
		model_release(&one);
	}
	globfree(&found);
}

/* Leave out one run at a time, at each of its validations. */
static void leave_one_out(struct model *model, const char *name)
{
	struct trial trial = { 0 };

	for (size_t i = 0; i < model->n_runs; i++) {
		struct model_run *mr = model->runs[i];
		bool is_bpb = mr->series[METRIC_VAL_BPB] != NULL;
		enum metric metric = is_bpb ? METRIC_VAL_BPB : METRIC_VAL_LOSS;
		struct series *whole = mr->series[metric];
		double final = is_bpb ? mr->run.final_bpb : mr->run.final_val_loss;

		if (mr->run.status != RUN_FINISHED || !run_has(final) || whole == NULL)
			continue;
		mr->run.status = RUN_RUNNING;
		mr->series[metric] = series_new(SERIES_CAP_POINTS);
		for (size_t k = 0; k < series_count(whole); k++) {
			const struct series_point *p = series_at(whole, k);

			series_push(mr->series[metric], p);
			if (p->step >= 0.3 * mr->run.steps && p->step <= 0.7 * mr->run.steps)
				try_advice(model, mr, final, &trial);
		}
		series_free(mr->series[metric]);
		mr->series[metric] = whole;
		mr->run.status = RUN_FINISHED;
	}
	judge_trial(&trial, name);
}

/* Take the points of a series by step or by training time; false if there are none. */
static bool take_curve(const struct series *series, bool by_time, struct curve *out)
{
	size_t n = series != NULL ? series_count(series) : 0;
	double *x = xcalloc(n + 1, sizeof(*x)), *y = xcalloc(n + 1, sizeof(*y));

	*out = (struct curve){ x, y, 0 };
	for (size_t i = 0; i < n; i++) {
		const struct series_point *p = series_at(series, i);

		x[out->n] = by_time ? p->train_ms : p->step;
		y[out->n] = p->value;
		out->n += run_has(x[out->n]);
	}
	return out->n > 1;
}

static void free_curve(struct curve *curve)
{
	free((void *)(uintptr_t)curve->x);
	free((void *)(uintptr_t)curve->y);
}

/* Count the points of a left-out run, and those within the band of the others. */
static void leave_out_of_band(const struct model *model, const struct model_run *mr,
			      enum metric metric, bool by_time, long count[3])
{
	const struct model_run *seeds[SEEDS_MOST];
	struct curve curves[SEEDS_MOST], own;
	size_t n = find_seeds(model, mr->group, mr->run.planned_steps, seeds), used = 0;
	struct band band;

	(void)take_curve(mr->series[metric], by_time, &own);
	for (size_t i = 0; i < n; i++)
		if (seeds[i] != mr) {
			if (take_curve(seeds[i]->series[metric], by_time, &curves[used]))
				used++;
			else
				free_curve(&curves[used]);
		}
	band_init(&band, curves, used, &own);
	for (size_t i = 0; i < band.n; i++) {
		double y = curve_at(&own, band.x[i]);

		if (!run_has(band.lo[i]) || !run_has(y))
			continue;
		count[0]++;
		count[1] += y >= band.lo[i] && y <= band.hi[i];
	}
	count[2] += used >= SEEDS_LEAST;
	band_release(&band);
	for (size_t i = 0; i < used; i++)
		free_curve(&curves[i]);
	free_curve(&own);
}

/* Each finished run, compared with the band of the others in its group. */
static void leave_out_seeds(const struct model *model, const char *name, long all[3])
{
	static const enum metric metrics[] = { METRIC_TRAIN_LOSS, METRIC_VAL_LOSS };

	for (size_t m = 0; m < 4; m++) {
		long count[3] = { 0 };

		for (size_t i = 0; i < model->n_runs; i++)
			if (model->runs[i]->run.status == RUN_FINISHED)
				leave_out_of_band(model, model->runs[i], metrics[m / 2], m % 2 != 0,
						  count);
		printf("# %s: %s by %s: of %ld runs %ld of %ld points are within the band\n", name,
		       metric_info(metrics[m / 2])->name, m % 2 != 0 ? "time" : "step", count[2],
		       count[1], count[0]);
		for (size_t k = 0; k < 3; k++)
			all[k] += count[k];
	}
}

static void test_advice_corpus(void)
{
	static const char *const corpora[] = { "logs", "nanogpt/logs" };
	const char *src = getenv("HGYM_SRC"), *shared = getenv("HGYM_SHARED");
	struct format_set *formats = format_set_new_builtin();
	char pattern[1000];
	long count[3] = { 0 };

	for (size_t c = 0; c < 2; c++) {
		struct model model;

		model_init(&model);
		(void)model_pod_add(&model, "a", "local");
		for (int depth = 0; depth < 3; depth++) {
			(void)snprintf(pattern, sizeof(pattern), "%s%s/corpus/%s/*/%s*[gt]",
				       shared != NULL ? shared
				       : src != NULL  ? src
						      : ".",
				       shared != NULL ? "" : "/../shared", corpora[c],
				       depth == 0   ? ""
				       : depth == 1 ? "*/"
						    : "*/*/");
			read_logs(&model, pattern, formats);
		}
		leave_one_out(&model, corpora[c]);
		leave_out_seeds(&model, corpora[c], count);
		/* All of them as one group, as by a pattern. */
		for (size_t i = 0; i < model.n_runs; i++) {
			free(model.runs[i]->group);
			model.runs[i]->group = xstrdup("all");
		}
		leave_one_out(&model, corpora[c]);
		model_release(&model);
	}
	ok(labs(100 * count[1] - 95 * count[0]) <= 2 * count[0],
	   "the band holds 95 +- 2 of 100 points of a seed left out (%ld of "
	   "%ld, %ld curves)",
	   count[1], count[0], count[2]);
	format_set_free(formats);
}

int main(void)
{
	test_advice();
	test_band();
	test_band_drawn();
	test_seeds();
	test_advice_corpus();
	test_stall();
	test_many();
	test_idle();
	test_gone();
	test_caps();
	test_failures();
	test_slow_pod();
	test_state();
	test_forecast();
	test_forecast_bpb();
	test_forecast_plan();
	test_metric();
	return tap_done();
}
