/* SPDX-License-Identifier: MIT */
/* A bench driven over its pods, which are looked at before the first command;
 * and the report of its folder. */
#include "bench/drive.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "bench/noise_register.h"
#include "bench/record.h"
#include "bench/waits.h"
#include "pods/pods.h"
#include "pods/probe.h"

/* What it found is kept in the results folder. */
#define PREFLIGHT_FILE "preflight.json"
/* The bench itself tries on where a pod does not answer. */
#define PREFLIGHT_LIMIT_S 20.0

/* What the preflight says of a pod, as notes. */
static void note_failures(const struct bench_drive *drive, const cJSON *row)
{
	json_each (one, json_get(row, "failures")) {
		char line[1024];

		print_into(line, "%s: preflight: %s: %s; %s", json_get_string(row, "pod", "?"),
			   json_get_string(one, "class", "?"), json_get_string(one, "text", "?"),
			   json_get_string(one, "next", "?"));
		drive->note(line);
	}
}

/* What is told of the pods while they are looked at. */
struct telling {
	const struct bench_drive *drive;
	struct pod_wait *waits; /* owned; one a pod */
	int64_t begun_ms;	/* wall */
};

/* A fact of the row behind its name, where it was found. */
static void add_fact(struct buf *text, const cJSON *row, const char *key, const char *name)
{
	const char *value = json_get_string(row, key, NULL);

	if (value != NULL)
		buf_appendf(text, "%s%s%.60s", text->len > 0 ? ", " : "", name, value);
}

/* "ready: NVIDIA H100, driver 570.1, Python 3.11, torch 2.9.1", or what is
 * wrong. */
static void say_found(const cJSON *row, char *out, size_t size)
{
	const char *wrong = json_get_string(row, "text", NULL);
	AUTO_BUF facts = buf_new(400);

	if (wrong != NULL) {
		(void)snprintf(out, size, "%.200s", wrong);
		return;
	}
	add_fact(&facts, row, "gpu", "");
	add_fact(&facts, row, "driver", "driver ");
	add_fact(&facts, row, "python", "Python ");
	add_fact(&facts, row, "torch", "torch ");
	(void)snprintf(out, size, "ready%s%s", facts.len > 0 ? ": " : "", facts.data);
}

/* One more step: into waits.json, and as a note. */
static void on_step(void *user, size_t i, enum pods_probe_step step, const cJSON *row)
{
	static const enum wait_kind kinds[] = {
		[PODS_PROBE_CONNECTING] = WAIT_CONNECTING,
		[PODS_PROBE_LOOKING] = WAIT_CHECKING,
		[PODS_PROBE_OVER] = WAIT_CHECKED,
	};
	struct telling *t = user;
	const struct bench_drive *drive = t->drive;
	struct pod_wait *wait = &t->waits[i];
	int64_t now_ms = clock_wall_ms();
	struct err err = { ERR_NONE, "" };
	char line[512];

	wait->kind = kinds[step];
	wait->since_ms = now_ms;
	if (step == PODS_PROBE_CONNECTING)
		print_into(wait->why, "connecting");
	else if (step == PODS_PROBE_LOOKING)
		print_into(wait->why, "answered after %.1f s",
			   (double)(now_ms - t->begun_ms) / 1e3);
	else
		say_found(row, wait->why, sizeof(wait->why));
	/* A view of it is no reason to end a bench. */
	if (waits_write(drive->path, t->waits, drive->plan->n_pods, &err) != 0)
		drive->note(err.text);
	if (step == PODS_PROBE_OVER && json_get_string(row, "text", NULL)) {
		note_failures(drive, row);
		return;
	}
	print_into(line, "%s: preflight: %s", wait->pod, wait->why);
	drive->note(line);
}

/* Keep what the preflight found; what it cannot abide, the bench itself
 * refuses with its first command. */
static int keep_preflight(const struct bench_drive *drive, cJSON **rows, struct err *err)
{
	AUTO_JSON all = cJSON_CreateArray();

	for (size_t i = 0; i < drive->plan->n_pods; i++)
		cJSON_AddItemToArray(all, rows[i]);
	return folder_write_json(drive->path, PREFLIGHT_FILE, all, err);
}

/*
 * Look at the pods of a bench that begins, as `pods check` does; say what
 * they lack, and keep it in the results folder.  A bench that was begun
 * before is left alone.  0, the number of the signal that ended it, or -1
 * with err.
 */
static int look_at_pods(const struct bench_drive *drive, const struct conf_pod *pods,
			struct err *err)
{
	const struct plan *plan = drive->plan;
	struct telling telling = { .drive = drive };
	struct pods_probe probe = {
		.on_step = on_step,
		.user = &telling,
		.pods = pods,
		.n = plan->n_pods,
		.accept_new = drive->accept_new,
		.own_gpus = true,
		.min_free_bytes = PODS_PROBE_FREE_BYTES,
		.limit_s = PREFLIGHT_LIMIT_S,
	};

	if (drive->mode != SESSION_RUN || folder_size(drive->path, PREFLIGHT_FILE) > 0)
		return 0;
	/* A login node is not where it runs. */
	for (size_t i = 0; i < plan->n_pods; i++)
		if (pods[i].slurm.is_given)
			return 0;
	cJSON **rows = xcalloc(plan->n_pods, sizeof(cJSON *));
	telling.waits = xcalloc(plan->n_pods, sizeof(*telling.waits));
	telling.begun_ms = clock_wall_ms();
	for (size_t i = 0; i < plan->n_pods; i++)
		print_into(telling.waits[i].pod, "%s", plan->pods[i].id);
	int result = pods_probe(&probe, rows, err);
	if (result == 0)
		result = keep_preflight(drive, rows, err);
	folder_remove(drive->path, WAITS_FILE);
	free(telling.waits);
	free((void *)rows);
	return result;
}

#define SAY_MS 250 /* between two tries to say what waits */

/* A bench on its way. */
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

static void driver_on_signal(void *user, int signum)
{
	struct driver *driver = user;

	(void)signum;
	session_leave(driver->session);
}

static void driver_on_saying(void *user)
{
	(void)user;
	(void)say_send();
}

/* One pod of the plan; see bench_pods. */
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
			       "pod %s: the bench gives no \"ssh\", and the "
			       "configuration has no pod of that name",
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

struct conf_pod *bench_pods(const struct plan *plan, const struct conf *conf, struct err *err)
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

/* The session over a fleet of those pods, until it ends. */
static int drive_loop(struct driver *driver, const struct conf_pod *pods, struct err *err)
{
	const struct bench_drive *drive = driver->drive;
	const struct session_cb cb = { driver_on_note, driver_on_end, driver };
	const struct fleet_options options = {
		.accept_new = drive->accept_new,
	};
	size_t n = drive->plan->n_pods;
	struct remote_pod *remotes;

	driver->loop = loop_new(err);
	if (driver->loop == NULL)
		return -1;
	remotes = xcalloc(n, sizeof(*remotes));
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
	loop_on_signal(driver->loop, SIGINT, driver_on_signal, driver);
	loop_on_signal(driver->loop, SIGTERM, driver_on_signal, driver);
	loop_on_signal(driver->loop, SIGHUP, driver_on_signal, driver);
	struct loop_timer *saying = loop_timer_new(driver->loop, driver_on_saying, NULL);
	loop_timer_start(saying, SAY_MS, SAY_MS);
	loop_run(driver->loop);
	loop_timer_close(saying);
	(void)say_send();
	fleet_free(fleet);
	session_free(driver->session);
	loop_free(driver->loop);
	free(remotes);
	return 0;
}

/*
 * Note it in the database, where the others see it: who follows its pods is
 * silent there while it runs.  Its folder is its truth: a database that
 * cannot be written is told, no more.
 */
static void record(const struct bench_drive *drive)
{
	const char *db_path = drive->context->db_path;
	struct err err = { ERR_NONE, "" };

	if (bench_record(db_path, drive->id, drive->path, &err) == 0 &&
	    noise_register_store(db_path, drive->id, drive->path, &err) == 0)
		return;
	(void)err_prefix(&err, "not in the database");
	drive->note(err.text);
}

/* What a folder is judged by, without pods. */
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
	struct noise_register reg;
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	const struct session_setup setup = judge_setup(drive, &lookup);

	noise_register_peek(&reg, drive->context);
	int rc = session_judge_folder(&setup, err);
	noise_register_release(&reg);
	if (rc == 0)
		record(drive);
	return rc;
}

enum session_end bench_drive(const struct bench_drive *drive, struct err *err)
{
	struct conf_pod *pods = bench_pods(drive->plan, &drive->context->conf, err);
	struct noise_register reg;
	struct driver driver = {
		.drive = drive,
		.lookup = { &reg, drive->plan, drive->path },
		.end = SESSION_LEFT,
		.err = err,
	};

	if (pods == NULL)
		return SESSION_FAILED;
	noise_register_peek(&reg, drive->context);
	record(drive);
	int rc = look_at_pods(drive, pods, err);
	if (rc == 0)
		rc = drive_loop(&driver, pods, err);
	record(drive);
	/* What its own A/A arm taught is known now. */
	if (rc == 0 && driver.end == SESSION_DONE && drive->plan->aa && drive->mode == SESSION_RUN)
		rc = bench_judge_again(drive, err);
	noise_register_release(&reg);
	free(pods);
	return rc < 0 ? SESSION_FAILED : driver.end;
}

cJSON *bench_verdict(const struct bench_drive *drive)
{
	cJSON *verdict = folder_read_json(drive->path, "verdict.json");
	struct noise_register reg;
	struct noise_lookup lookup = { &reg, drive->plan, drive->path };
	const struct session_setup setup = judge_setup(drive, &lookup);

	if (verdict != NULL)
		return verdict;
	noise_register_peek(&reg, drive->context);
	verdict = session_verdict(&setup);
	noise_register_release(&reg);
	return verdict;
}
