/* SPDX-License-Identifier: MIT */
/* `pods check` before the first command of a bench; for bench_drive.c. */
#include "config.h"

#include "bench_preflight.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/json.h"
#include "pods_probe.h"

/* What it found is kept in the results folder. */
#define PREFLIGHT_FILE "preflight.json"
/* The bench itself tries on where a pod does not answer. */
#define PREFLIGHT_LIMIT_S 20.0

/* What the preflight says of a pod, as notes. */
static void
tell_failures(const cJSON *row)
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
		bench_drive_say(line);
	}
}

/* Keep and tell what the preflight found; what it cannot abide, the bench
 * itself refuses with its first command. */
static int
keep_preflight(const struct bench_drive *drive, cJSON **rows, struct err *err)
{
	cJSON *all = cJSON_CreateArray();
	int result;

	for (size_t i = 0; i < drive->plan->n_pods; i++) {
		tell_failures(rows[i]);
		cJSON_AddItemToArray(all, rows[i]);
	}
	result = folder_write_json(drive->path, PREFLIGHT_FILE, all, err);
	cJSON_Delete(all);
	return result;
}

int
bench_preflight(const struct bench_drive *drive,
		const struct remote_pod *remotes, struct err *err)
{
	const struct plan *plan = drive->plan;
	struct conf_pod *pods;
	struct pods_probe probe = {
		.remotes = remotes,
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
	pods = xcalloc(plan->n_pods, sizeof(*pods));
	rows = xcalloc(plan->n_pods, sizeof(cJSON *));
	for (size_t i = 0; i < plan->n_pods; i++) {
		struct plan_pod *pod = &plan->pods[i];

		pods[i] = (struct conf_pod){
			.name = pod->id,
			.ssh = pod->ssh,
			.remote_root = pod->root,
			.gpus = pod->gpus,
			.n_gpus = pod->n_gpus,
			.transport = remotes[i].transport == REMOTE_LOCAL
					     ? CONF_LOCAL
				     : remotes[i].transport == REMOTE_OPENSSH
					     ? CONF_OPENSSH
					     : CONF_LIBSSH2,
		};
	}
	probe.pods = pods;
	result = pods_probe(&probe, rows, err);
	if (result == 0)
		result = keep_preflight(drive, rows, err);
	free((void *)rows);
	free(pods);
	return result;
}
