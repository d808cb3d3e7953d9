/* SPDX-License-Identifier: MIT */
/* The benches of this machine: found, and how each stands. */
#include "config.h"

#include "bench/kept.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "conf/conf.h"

#define STOPPED_FILE "pods-stopped"

char *
bench_base(void)
{
	char *state = conf_dir_state();
	char *base = xasprintf("%s/benches", state);

	free(state);
	return base;
}

int
bench_find(const char *word, char id[FOLDER_ID_SIZE],
	   char path[FOLDER_PATH_SIZE], struct err *err)
{
	char *base = bench_base();
	size_t n, found = 0;
	char **ids = folder_list(base, &n);

	id[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		bool whole = strcmp(ids[i], word) == 0;

		if (strncmp(ids[i], word, strlen(word)) == 0 &&
		    (found != 1 || strcmp(id, word) != 0)) {
			(void)snprintf(id, FOLDER_ID_SIZE, "%s", ids[i]);
			found = whole ? 1 : found + 1;
			if (whole)
				break;
		}
	}
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
	(void)snprintf(path, FOLDER_PATH_SIZE, "%s/%s", base, id);
	free(base);
	if (found == 1)
		return 0;
	return err_set(err, ERR_NODATA,
		       found == 0 ? "there is no bench \"%s\" (see hgym-tui "
				    "bench list)"
				  : "more than one bench begins with \"%s\"",
		       word);
}

int
bench_load_plan(struct plan *plan, const char *path, struct err *err)
{
	char file[FOLDER_PATH_SIZE + 16];
	cJSON *source;

	(void)snprintf(file, sizeof(file), "%s/bench.json", path);
	if (plan_load(plan, file, err) != 0)
		return -1;
	/* Files that variants ship are named relative to where it lay. */
	source = folder_read_json(path, "source.json");
	if (source != NULL) {
		free(plan->file);
		plan->file = xstrdup(json_get_string(source, "file", file));
		cJSON_Delete(source);
	}
	return 0;
}

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
