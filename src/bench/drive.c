/* SPDX-License-Identifier: MIT */
/* Drive a bench over its pods: preflight, then a session on an event loop. */
#include "bench/drive.h"

#include <signal.h>

#include "base/say.h"
#include "bench/noise_register.h"
#include "bench/record.h"
#include "bench/waits.h"
#include "pods/pods.h"
#include "pods/probe.h"

#define PREFLIGHT_FILE "preflight.json"
/* The preflight gives up on a pod after this long; the bench itself keeps retrying. */
#define PREFLIGHT_LIMIT_S 20.0

static const int leave_signals[] = { SIGINT, SIGTERM, SIGHUP };

void bench_mask_signals(int how)
{
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < LENGTH(leave_signals); i++)
		sigaddset(&signals, leave_signals[i]);
	(void)pthread_sigmask(how, &signals, NULL);
}

struct preflight {
	const struct bench_drive *drive;
	struct pod_wait *waits; /* owned; one per pod */
	int64_t started_ms;	/* wall clock */
};

/* Describe a pod: "ready: NVIDIA H100, driver 570.1, Python 3.11, torch 2.9.1", or its problem. */
static void describe_pod(const cJSON *row, char *out, size_t size)
{
	static const struct {
		const char *key, *name;
	} facts[] = { { "gpu", "" },
		      { "driver", "driver " },
		      { "python", "Python " },
		      { "torch", "torch " } };
	const char *problem = json_get_string(row, "text", NULL), *value;
	AUTO_BUF text = buf_new(400);

	for (size_t i = 0; i < LENGTH(facts); i++)
		if ((value = json_get_string(row, facts[i].key, NULL)) != NULL)
			buf_appendf(&text, "%s%s%.60s", text.len > 0 ? ", " : "", facts[i].name,
				    value);
	if (problem != NULL)
		(void)snprintf(out, size, "%.200s", problem);
	else
		(void)snprintf(out, size, "ready%s%s", text.len > 0 ? ": " : "", text.data);
}

/* Report the step that the preflight of a pod has reached, as a note and in waits.json. */
static void on_step(void *user, size_t i, enum pods_probe_step step, const cJSON *row)
{
	static const enum wait_kind kinds[] = {
		[PODS_PROBE_CONNECTING] = WAIT_CONNECTING,
		[PODS_PROBE_LOOKING] = WAIT_CHECKING,
		[PODS_PROBE_OVER] = WAIT_CHECKED,
	};
	struct preflight *preflight = user;
	const struct bench_drive *drive = preflight->drive;
	struct pod_wait *wait = &preflight->waits[i];
	bool has_problem = step == PODS_PROBE_OVER && json_get_string(row, "text", NULL) != NULL;
	struct err err = { ERR_NONE, "" };
	char line[1024];

	wait->kind = kinds[step];
	wait->since_ms = clock_wall_ms();
	if (step == PODS_PROBE_CONNECTING)
		print_into(wait->why, "connecting");
	else if (step == PODS_PROBE_LOOKING)
		print_into(wait->why, "answered after %.1f s",
			   (double)(wait->since_ms - preflight->started_ms) / 1e3);
	else
		describe_pod(row, wait->why, sizeof(wait->why));
	/* waits.json only informs viewers, so the bench continues without it. */
	if (waits_write(drive->path, preflight->waits, drive->plan->n_pods, &err) != 0)
		drive->note(err.text);
	if (!has_problem) {
		print_into(line, "%s: preflight: %s", wait->pod, wait->why);
		drive->note(line);
	}
	json_each (one, has_problem ? json_get(row, "failures") : NULL) {
		print_into(line, "%s: preflight: %s: %s; %s", wait->pod,
			   json_get_string(one, "class", "?"), json_get_string(one, "text", "?"),
			   json_get_string(one, "next", "?"));
		drive->note(line);
	}
}

/* Check the pods of a new bench as `pods check` does, and store the result in the results folder.
 * A problem is reported but does not stop the bench, whose own commands may still work.  Returns 0,
 * the number of the signal that interrupted the check, or -1 with err. */
static int check_pods(const struct bench_drive *drive, const struct conf_pod *pods, struct err *err)
{
	const struct plan *plan = drive->plan;
	struct preflight preflight = { .drive = drive, .started_ms = clock_wall_ms() };
	struct pods_probe probe = {
		.on_step = on_step,
		.user = &preflight,
		.pods = pods,
		.n = plan->n_pods,
		.accept_new = drive->accept_new,
		.own_gpus = true,
		.min_free_bytes = PODS_PROBE_FREE_BYTES,
		.limit_s = PREFLIGHT_LIMIT_S,
	};

	/* An attached bench had its preflight. With Slurm, it would check the login node. */
	if (drive->mode != SESSION_RUN || folder_size(drive->path, PREFLIGHT_FILE) > 0 ||
	    any_of(i, plan->n_pods, pods[i].slurm.is_given))
		return 0;
	AUTO_FREE cJSON **rows = xcalloc(plan->n_pods, sizeof(cJSON *));
	preflight.waits = xcalloc(plan->n_pods, sizeof(*preflight.waits));
	for (size_t i = 0; i < plan->n_pods; i++)
		print_into(preflight.waits[i].pod, "%s", plan->pods[i].id);
	int result = pods_probe(&probe, rows, err);
	if (result == 0) {
		AUTO_JSON all = cJSON_CreateArray();

		for (size_t i = 0; i < plan->n_pods; i++)
			cJSON_AddItemToArray(all, rows[i]);
		result = folder_write_json(drive->path, PREFLIGHT_FILE, all, err);
	}
	folder_remove(drive->path, WAITS_FILE);
	free(preflight.waits);
	return result;
}

#define FLUSH_MS 250 /* interval for retrying output that the terminal did not accept */

struct driver {
	const struct bench_drive *drive;
	struct loop *loop;
	struct session *session;
	struct noise_lookup lookup;
	enum session_end end;
	struct err *err;
};

static void driver_on_note(void *user, const char *line)
{
	const struct driver *driver = user;

	driver->drive->note(line);
}

static void driver_on_end(void *user, enum session_end end, const struct err *err)
{
	struct driver *driver = user;

	driver->end = end;
	if (err != NULL && driver->err != NULL)
		*driver->err = *err;
	loop_stop(driver->loop);
}

static void driver_on_signal(void *user, UNUSED int signum)
{
	struct driver *driver = user;

	session_leave(driver->session);
}

static void driver_on_flush(UNUSED void *user)
{
	(void)say_send();
}

static int resolve_pod(struct conf_pod *out, struct plan_pod *pod, const struct conf *conf,
		       struct err *err)
{
	int i = conf_find_pod(conf, pod->id);
	const struct conf_pod *known = i >= 0 ? &conf->pods[i] : NULL;

	*out = (struct conf_pod){
		.name = pod->id,
		.ssh = pod->ssh,
		.identity = pod->identity,
		.known_hosts = pod->known_hosts,
		.proxy_jump = pod->proxy_jump,
		.remote_root = pod->root,
		.gpus = pod->gpus.v,
		.n_gpus = pod->gpus.n,
		.usd_per_hour = pod->usd_per_h,
		.transport = conf_transport_of(pod->transport, CONF_LIBSSH2),
	};
	if (pod->ssh != NULL || out->transport == CONF_LOCAL)
		return 0;
	if (known == NULL)
		return err_set(err, ERR_CONFIG,
			       "pod %s: no \"ssh\" in the bench, and no pod with this name in the "
			       "configuration",
			       pod->id);
	out->ssh = known->ssh;
	out->identity = known->identity;
	out->known_hosts = known->known_hosts;
	out->proxy_jump = known->proxy_jump;
	out->host_key_alias = known->host_key_alias;
	out->command = known->command;
	out->slurm = known->slurm;
	out->transport = known->transport;
	if (known->ssh != NULL)
		out->transport = conf_transport_of(pod->transport, known->transport);
	return 0;
}

static struct conf_pod *get_pods(const struct plan *plan, const struct conf *conf, struct err *err)
{
	struct conf_pod *pods = xcalloc(plan->n_pods, sizeof(*pods));

	for (size_t i = 0; i < plan->n_pods; i++) {
		if (resolve_pod(&pods[i], &plan->pods[i], conf, err) == 0)
			continue;
		free(pods);
		return NULL;
	}
	return pods;
}

static int drive_loop(struct driver *driver, const struct conf_pod *pods, struct err *err)
{
	const struct bench_drive *drive = driver->drive;
	const struct session_cb cb = { driver_on_note, driver_on_end, driver };
	const struct fleet_options options = { .accept_new = drive->accept_new };
	size_t n = drive->plan->n_pods;

	driver->loop = loop_new(err);
	if (driver->loop == NULL)
		return -1;
	AUTO_FREE struct remote_pod *remotes = xcalloc(n, sizeof(*remotes));
	for (size_t i = 0; i < n; i++)
		remotes[i] = pods_remote(&pods[i]);
	struct fleet *fleet = fleet_new(driver->loop, remotes, n, &options);
	driver->session = session_new(
		&(struct session_setup){
			.loop = driver->loop,
			.transport = fleet_transport(fleet),
			.plan = drive->plan,
			.pods = pods,
			.formats = drive->context->formats,
			.id = drive->id,
			.path = drive->path,
			.mode = drive->mode,
			.noise = noise_register_set_rule,
			.noise_user = &driver->lookup,
		},
		&cb);
	for (size_t i = 0; i < LENGTH(leave_signals); i++)
		loop_on_signal(driver->loop, leave_signals[i], driver_on_signal, driver);
	struct loop_timer *flush = loop_timer_new(driver->loop, driver_on_flush, NULL);
	loop_timer_start(flush, FLUSH_MS, FLUSH_MS);
	loop_run(driver->loop);
	loop_timer_close(flush);
	(void)say_send();
	fleet_free(fleet);
	session_free(driver->session);
	loop_free(driver->loop);
	return 0;
}

/* Store the bench in the database, where dashboards and collectors see that it is running and stop
 * polling its pods.  The results folder is complete by itself, so a failure is only reported. */
static void store_bench(const struct bench_drive *drive)
{
	const char *db_path = drive->context->db_path;
	struct err err = { ERR_NONE, "" };

	if (bench_record(db_path, drive->id, drive->path, &err) == 0 &&
	    noise_register_store(db_path, drive->id, drive->path, &err) == 0)
		return;
	(void)err_prefix(&err, "the bench could not be stored in the database");
	drive->note(err.text);
}

static struct session_setup judge_setup(const struct bench_drive *drive,
					struct noise_lookup *lookup)
{
	return (struct session_setup){ .plan = drive->plan,
				       .formats = drive->context->formats,
				       .id = drive->id,
				       .path = drive->path,
				       .noise = noise_register_set_rule,
				       .noise_user = lookup };
}

int bench_judge_again(const struct bench_drive *drive, struct err *err)
{
	AUTO_NOISE reg = { .n = 0 };
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	const struct session_setup setup = judge_setup(drive, &lookup);

	noise_register_peek(&reg, drive->context);
	int rc = session_judge_folder(&setup, err);
	if (rc == 0)
		store_bench(drive);
	return rc;
}

enum session_end bench_drive(const struct bench_drive *drive, struct err *err)
{
	AUTO_FREE struct conf_pod *pods = get_pods(drive->plan, &drive->context->conf, err);
	AUTO_NOISE reg = { .n = 0 };
	struct driver driver = {
		.drive = drive,
		.lookup = { &reg, drive->plan, drive->path },
		.end = SESSION_LEFT,
		.err = err,
	};

	if (pods == NULL)
		return SESSION_FAILED;
	noise_register_peek(&reg, drive->context);
	store_bench(drive);
	int rc = check_pods(drive, pods, err);
	if (rc == 0)
		rc = drive_loop(&driver, pods, err);
	store_bench(drive);
	/* The noise register now contains the A/A runs of this bench. */
	if (rc == 0 && driver.end == SESSION_DONE && drive->plan->aa && drive->mode == SESSION_RUN)
		rc = bench_judge_again(drive, err);
	return rc < 0 ? SESSION_FAILED : driver.end;
}

cJSON *bench_verdict(const struct bench_drive *drive)
{
	cJSON *verdict = folder_read_json(drive->path, "verdict.json");
	AUTO_NOISE reg = { .n = 0 };
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	const struct session_setup setup = judge_setup(drive, &lookup);

	if (verdict != NULL)
		return verdict;
	noise_register_peek(&reg, drive->context);
	return session_verdict(&setup);
}
