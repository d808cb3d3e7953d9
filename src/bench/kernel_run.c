/* SPDX-License-Identifier: MIT */
/* The process of a kernel bench as the runs of its arms; called by the worker
 * and the session. */
#include "base/file.h"
#include "bench/kernel.h"

#define MAX_OUTPUT (16U * 1024 * 1024)

/* The lines that the probe printed of an arm; without one, all that is of no
 * arm: what ended it. */
static void kernel_lines_of(struct str text, const char *tag, struct buf *out)
{
	struct str line;
	AUTO_BUF others = buf_new(MAX_OUTPUT);

	while (str_next(&text, '\n', &line)) {
		AUTO_JSON row = line.len > 0 && line.p[0] == '{'
					? json_parse(line, JSON_BARE_NULL, NULL)
					: NULL;
		const char *arm = json_get_string(row, "arm", NULL);
		struct buf *to = arm == NULL ? &others : strcmp(arm, tag) == 0 ? out : NULL;

		if (to == NULL)
			continue;
		buf_append(to, line.p, line.len);
		buf_append_char(to, '\n');
	}
	if (out->len == 0)
		buf_append(out, others.data, others.len);
}

/* A file of one run, as that of another; none where there is none. */
static int kernel_copy(const struct bench_runs *runs, const struct bench_run *from,
		       const struct bench_run *to, const char *name, struct err *err)
{
	char path[FOLDER_PATH_SIZE];
	AUTO_BUF text = buf_new(MAX_OUTPUT);

	bench_run_path(runs, from, name, path);
	if (from == to || file_read(path, &text, NULL) != 0)
		return 0;
	bench_run_file(to, name, path);
	return folder_write(runs->path, path, buf_str(&text), err);
}

int kernel_share(const struct bench_runs *runs, const struct bench_run *run,
		 struct bench_run *rider, struct err *err)
{
	char path[FOLDER_PATH_SIZE];
	AUTO_BUF text = buf_new(MAX_OUTPUT), own = buf_new(MAX_OUTPUT);

	rider->attempt = run->attempt;
	rider->end = run->end;
	rider->rc = run->rc;
	rider->t0_s = run->t0_s;
	rider->t1_s = run->t1_s;
	rider->up_s = run->up_s;
	rider->drift_s = run->drift_s;
	rider->files_changed = run->files_changed;
	memmove(rider->hash, run->hash, sizeof(run->hash));
	memmove(rider->work, run->work, sizeof(run->work));
	memmove(rider->runtime, run->runtime, sizeof(run->runtime));
	bench_run_path(runs, run, plan_output(runs->plan), path);
	if (file_read(path, &text, NULL) == 0)
		kernel_lines_of(buf_str(&text), runs->tags[rider->arm], &own);
	bench_run_file(rider, runs->plan->log, path);
	if (folder_write(runs->path, path, buf_str(&own), err) != 0 ||
	    kernel_copy(runs, run, rider, "host.csv", err) != 0)
		return -1;
	return kernel_copy(runs, run, rider, "gpu.csv", err);
}

/* The share of its time that the GPU waits for the host, of the worst case;
 * NAN: not known. */
static double kernel_idle(const cJSON *root)
{
	double idle = (double)NAN;

	json_each (one, verdict_list(root, "cases"))
		idle = fmax(idle, verdict_number(one, "idle_share"));
	return idle;
}

void kernel_guards(struct bench_run *run)
{
	const cJSON *root = run->has_log ? run->log.score.root : NULL;
	const char *error = json_get_string(root, "error", NULL);
	double idle = kernel_idle(root);

	if (error != NULL)
		guard_add(&run->hits, json_get_bool(root, "wrong", false) ? GUARD_WORK : GUARD_EXIT,
			  true, "%.150s", error);
	else if (!json_get_bool(root, "host_bound", false))
		return;
	else if (isnan(idle))
		guard_add(&run->hits, GUARD_HOST_BOUND, false,
			  "without a CUDA graph, and the GPU waits for the "
			  "host: the time is of launches");
	else
		guard_add(&run->hits, GUARD_HOST_BOUND, false,
			  "launched one by one, the GPU idles %.0f%% of the "
			  "time: only a CUDA graph is as fast as this",
			  100.0 * idle);
}

cJSON *kernel_json(const struct bench_runs *runs)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t arm = 0; arm < runs->n_arms; arm++) {
		const struct bench_run *last = NULL;

		for (size_t i = 0; i < runs->n; i++)
			if (runs->v[i].arm == arm && runs->v[i].has_log &&
			    runs->v[i].log.score.root != NULL)
				last = &runs->v[i];
		if (last == NULL)
			continue;
		cJSON *row = cJSON_Duplicate(last->log.score.root, true);
		json_add_string(row, "run", last->id);
		cJSON_AddItemToArray(array, row);
	}
	return array;
}
