/* SPDX-License-Identifier: MIT */
/* Pods that a bench left up; for bench_drive.c and the dashboard. */
#include "config.h"

#include "bench/stop.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "bench/drive.h"

#define STOPPED_FILE "pods-stopped"

static bool
is_running(const char *path)
{
	struct folder_state state;

	return folder_read_state(path, &state) &&
	       strcmp(state.state, "running") == 0;
}

char *
bench_still_up(const struct plan *plan, const char *path)
{
	struct buf out;
	char *text = NULL;

	if (plan->stop_pods || is_running(path) ||
	    folder_size(path, STOPPED_FILE) > 0)
		return NULL;
	buf_init(&out, 8192);
	for (size_t i = 0; i < plan->n_pods; i++) {
		const struct plan_pod *pod = &plan->pods[i];

		if (pod->stop_cmd == NULL)
			continue;
		buf_appendf(&out, "%s%s", out.len > 0 ? ", " : "", pod->id);
		if (!isnan(pod->usd_per_h))
			buf_appendf(&out, " (%.2f USD an hour)",
				    pod->usd_per_h);
	}
	if (out.len > 0)
		text = buf_detach(&out);
	buf_release(&out);
	return text;
}

int
bench_note_stopped(const char *path, struct err *err)
{
	return folder_write(path, STOPPED_FILE, (struct str){ "1\n", 2 }, err);
}

bool
bench_is_over(const char *id)
{
	char whole[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];

	return bench_find(id, whole, path, NULL) == 0 && !is_running(path);
}
