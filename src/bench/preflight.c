/* SPDX-License-Identifier: MIT */
/* `pods check` before the first command of a bench; for drive.c. */
#include "config.h"

#include "bench/preflight.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/waits.h"
#include "parsers/json.h"
#include "pods/probe.h"

/* What it found is kept in the results folder. */
#define PREFLIGHT_FILE "preflight.json"
/* The bench itself tries on where a pod does not answer. */
#define PREFLIGHT_LIMIT_S 20.0

/* What the preflight says of a pod, as notes. */
static void
note_failures(const struct bench_drive *drive, const cJSON *row)
{
	const cJSON *one,
		*all = cJSON_GetObjectItemCaseSensitive(row, "failures");

	cJSON_ArrayForEach(one, all)
	{
		char line[1024];

		(void)snprintf(line, sizeof(line), "%s: preflight: %s: %s; %s",
			       json_get_string(row, "pod", "?"),
			       json_get_string(one, "class", "?"),
			       json_get_string(one, "text", "?"),
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
static void
add_fact(struct buf *text, const cJSON *row, const char *key, const char *name)
{
	const char *value = json_get_string(row, key, NULL);

	if (value != NULL)
		buf_appendf(text, "%s%s%.60s", text->len > 0 ? ", " : "", name,
			    value);
}

/* "ready: NVIDIA H100, driver 570.1, Python 3.11, torch 2.9.1", or what is
 * wrong. */
static void
say_found(const cJSON *row, char *out, size_t size)
{
	const char *wrong = json_get_string(row, "text", NULL);
	struct buf facts;

	if (wrong != NULL) {
		(void)snprintf(out, size, "%.200s", wrong);
		return;
	}
	buf_init(&facts, 400);
	add_fact(&facts, row, "gpu", "");
	add_fact(&facts, row, "driver", "driver ");
	add_fact(&facts, row, "python", "Python ");
	add_fact(&facts, row, "torch", "torch ");
	(void)snprintf(out, size, "ready%s%s", facts.len > 0 ? ": " : "",
		       facts.data);
	buf_release(&facts);
}

/* One more step: into waits.json, and as a note. */
static void
on_step(void *user, size_t i, enum pods_probe_step step, const cJSON *row)
{
	static const enum wait_kind kinds[] = {
		[PODS_PROBE_CONNECTING] = WAIT_CONNECTING,
		[PODS_PROBE_LOOKING] = WAIT_CHECKING,
		[PODS_PROBE_OVER] = WAIT_CHECKED,
	};
	struct telling *t = user;
	const struct bench_drive *drive = t->drive;
	struct pod_wait *wait = &t->waits[i];
	int64_t now_ms = clock_real.wall_ms(&clock_real);
	struct err err = { ERR_NONE, "" };
	char line[512];

	wait->kind = kinds[step];
	wait->since_ms = now_ms;
	if (step == PODS_PROBE_CONNECTING)
		(void)snprintf(wait->why, sizeof(wait->why), "connecting");
	else if (step == PODS_PROBE_LOOKING)
		(void)snprintf(wait->why, sizeof(wait->why),
			       "answered after %.1f s",
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
	(void)snprintf(line, sizeof(line), "%s: preflight: %s", wait->pod,
		       wait->why);
	drive->note(line);
}

/* Keep what the preflight found; what it cannot abide, the bench itself
 * refuses with its first command. */
static int
keep_preflight(const struct bench_drive *drive, cJSON **rows, struct err *err)
{
	cJSON *all = cJSON_CreateArray();
	int result;

	for (size_t i = 0; i < drive->plan->n_pods; i++)
		cJSON_AddItemToArray(all, rows[i]);
	result = folder_write_json(drive->path, PREFLIGHT_FILE, all, err);
	cJSON_Delete(all);
	return result;
}

int
bench_preflight(const struct bench_drive *drive, const struct conf_pod *pods,
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
	cJSON **rows;
	int result;

	if (drive->mode != SESSION_RUN ||
	    folder_size(drive->path, PREFLIGHT_FILE) > 0)
		return 0;
	rows = xcalloc(plan->n_pods, sizeof(cJSON *));
	telling.waits = xcalloc(plan->n_pods, sizeof(*telling.waits));
	telling.begun_ms = clock_real.wall_ms(&clock_real);
	for (size_t i = 0; i < plan->n_pods; i++)
		(void)snprintf(telling.waits[i].pod,
			       sizeof(telling.waits[i].pod), "%s",
			       plan->pods[i].id);
	result = pods_probe(&probe, rows, err);
	if (result == 0)
		result = keep_preflight(drive, rows, err);
	folder_remove(drive->path, WAITS_FILE);
	free(telling.waits);
	free((void *)rows);
	return result;
}
