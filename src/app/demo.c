/* SPDX-License-Identifier: MIT */
/* The demonstration's fleet: who runs what, written to files in real time. */
#include "config.h"

#include "app/demo.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/demo_bench.h"
#include "app/demo_harness.h"
#include "base/xalloc.h"
#include "gen/loggen.h"
#include "ingest/ingest.h"

#define TELEMETRY_MS 5000
/* 15 January 2026, 13:20 UTC; runs begin so many seconds after it. */
#define BEGIN_MS       INT64_C(1768483200000)
#define NOW_S	       2650
#define HISTORY_STEP_S 10

static const struct {
	const char *name, *gpu;
	double usd_per_hour, util, power_w, temp_c, sm_mhz;
} pods[] = {
	{ "h100-a", "8x NVIDIA H100 80GB HBM3", 19.92, 98, 688, 62, 1830 },
	{ "h100-b", "8x NVIDIA H100 80GB HBM3", 19.92, 98, 684, 61, 1822 },
	{ "h100-c", "8x NVIDIA H100 80GB HBM3", 18.40, 97, 551, 83, 1125 },
	{ "h200-d", "8x NVIDIA H200", 25.60, 98, 690, 58, 1905 },
	{ "vast-e", "8x NVIDIA H100 80GB HBM3", 16.80, 97, 670, 65, 1790 },
};

#define POD_COUNT (sizeof(pods) / sizeof(pods[0]))

/* Who runs what, and when it began. */
static const struct {
	const char *recipe;
	size_t pod;
	enum loggen_dialect dialect;
	enum loggen_fate fate;
	uint64_t seed;
	double start_s, ms_per_step, score, fate_at;
} runs[] = {
	{ "naive-base", 4, LOGGEN_GOLF_AVG, LOGGEN_FINISH, 1337, 0, 44, 1.2244,
	  0 },
	{ "naive-base", 3, LOGGEN_GOLF_AVG, LOGGEN_FINISH, 42, 5, 44, 1.2244,
	  0 },
	{ "polar-min", 0, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 42, 10, 121.8, 1.0613,
	  0 },
	{ "polar-min", 1, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 314, 12, 121.8,
	  1.0613, 0 },
	{ "polar-min", 2, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 1234, 14, 121.9,
	  1.0613, 0 },
	{ "big-embed", 4, LOGGEN_GOLF_MIN, LOGGEN_OVERSIZE, 42, 900, 119,
	  1.0588, 0 },
	{ "gate-lqer", 3, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 7, 950, 119.6, 1.0594,
	  0 },
	{ "gate-lqer", 0, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 42, 2180, 119.8,
	  1.0594, 0 },
	{ "gate-lqer", 1, LOGGEN_GOLF_MIN, LOGGEN_FINISH, 314, 2184, 120.1,
	  1.0594, 0 },
	{ "gate-lqer", 2, LOGGEN_GOLF_MIN, LOGGEN_SLOW, 1234, 2182, 119.8,
	  1.0594, 0 },
	{ "ce-fuse", 3, LOGGEN_GOLF_MIN, LOGGEN_STALL, 7, 2240, 118.9, 1.0605,
	  0.25 },
	{ "hot-muon", 4, LOGGEN_GOLF_MIN, LOGGEN_DIVERGE, 9, 2200, 120.4,
	  1.0650, 0.45 },
};

#define RUN_COUNT (sizeof(runs) / sizeof(runs[0]))

struct demo_run {
	struct loggen *gen;	 /* owned */
	struct loggen_line line; /* not yet written; len 0: none is left */
	FILE *file;		 /* owned */
	char *path;		 /* owned */
	double start_ms;
	bool known; /* to the feed */
};

struct demo {
	struct clock clock; /* first: the clock's functions find the demo */
	int64_t now_ms;	    /* since BEGIN_MS */
	int64_t telemetry_ms;
	struct model *model;
	struct ingest *ingest;
	struct demo_harness *harness;
	struct demo_bench *bench;
	char *folder; /* owned */
	struct demo_run runs[RUN_COUNT];
};

static int64_t
demo_mono_ms(const struct clock *clock)
{
	return ((const struct demo *)(const void *)clock)->now_ms;
}

static int64_t
demo_wall_ms(const struct clock *clock)
{
	return BEGIN_MS + demo_mono_ms(clock);
}

const struct clock *
demo_clock(const struct demo *demo)
{
	return &demo->clock;
}

struct demo_bench *
demo_bench_of(const struct demo *demo)
{
	return demo->bench;
}

/* Fetch the next line of a run, or note that there is none. */
static void
next_line(struct demo_run *run)
{
	if (!loggen_next(run->gen, &run->line))
		run->line.len = 0;
}

static int
open_run(struct demo *demo, size_t i, uint64_t seed, struct err *err)
{
	struct demo_run *run = &demo->runs[i];
	struct loggen_recipe recipe;
	char *folder = xasprintf("%s/%s", demo->folder, runs[i].recipe);

	(void)mkdir(folder, 0700);
	run->path = xasprintf("%s/train_%s_s%llu.log", folder,
			      pods[runs[i].pod].name,
			      (unsigned long long)runs[i].seed);
	free(folder);
	loggen_recipe_init(&recipe, runs[i].dialect, runs[i].seed + seed);
	recipe.fate = runs[i].fate;
	recipe.ms_per_step = runs[i].ms_per_step;
	recipe.score = runs[i].score;
	recipe.fate_at = runs[i].fate_at;
	recipe.log_every = 50;
	recipe.source = runs[i].pod % 2 == 0;
	run->gen = loggen_new(&recipe);
	run->start_ms = runs[i].start_s * 1000;
	next_line(run);
	run->file = fopen(run->path, "we");
	if (run->file == NULL)
		return err_set_errno(err, ERR_IO, "%s", run->path);
	return 0;
}

static void
add_pods(struct demo *demo)
{
	for (size_t i = 0; i < POD_COUNT; i++) {
		size_t pod = model_pod_add(demo->model, pods[i].name, "local");

		demo->model->pods[pod].usd_per_hour = pods[i].usd_per_hour;
		model_pod_gpu(demo->model, pod, pods[i].gpu);
		model_pod_disk(demo->model, pod, 212e9 + 31e9 * (double)i);
		model_pod_state(demo->model, pod, POD_LIVE, NULL, 0);
	}
}

/* Read what the runs wrote. */
static bool
poll_runs(struct demo *demo)
{
	struct err err = { ERR_NONE, "" };

	for (size_t i = 0; i < RUN_COUNT; i++) {
		struct demo_run *run = &demo->runs[i];

		if (run->known || run->start_ms > (double)demo->now_ms)
			continue;
		run->known = true;
		if (ingest_add_file(demo->ingest, runs[i].pod, run->path, true,
				    &err))
			return false;
	}
	return ingest_poll(demo->ingest);
}

struct demo *
demo_new(struct model *model, const struct format_set *formats, uint64_t seed,
	 struct err *err)
{
	struct demo *demo = xcalloc(1, sizeof(*demo));
	const char *tmp = getenv("TMPDIR");
	struct ingest_options options = { .model = model,
					  .formats = formats,
					  .keep_view = true };

	demo->clock =
		(struct clock){ demo_mono_ms, demo_mono_ms, demo_wall_ms };
	demo->model = model;
	demo->folder = xasprintf("%s/hgym-demo-XXXXXX",
				 tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");
	if (mkdtemp(demo->folder) == NULL) {
		err_set_errno(err, ERR_IO, "%s", demo->folder);
		free(demo->folder);
		free(demo);
		return NULL;
	}
	options.clock = &demo->clock;
	demo->ingest = ingest_new(&options, err);
	demo->bench = demo_bench_new(model, demo->folder, err);
	if (demo->bench == NULL) {
		demo_free(demo);
		return NULL;
	}
	demo->harness = demo_harness_new(model, demo->folder, BEGIN_MS);
	add_pods(demo);
	for (size_t i = 0; i < RUN_COUNT; i++) {
		if (open_run(demo, i, seed, err)) {
			demo_free(demo);
			return NULL;
		}
	}
	/* The past goes by in steps, so that what was read has its time. */
	for (int s = 0; s < NOW_S; s += HISTORY_STEP_S) {
		demo_advance(demo, HISTORY_STEP_S * 1000);
		(void)poll_runs(demo);
	}
	(void)demo_poll(demo);
	return demo;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

/* All below the folder and itself; no link is followed. */
static void
remove_folder(const char *folder)
{
	/* A run of the bench may write its last lines meanwhile. */
	for (int i = 0; i < 20; i++) {
		(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		if (access(folder, F_OK) != 0)
			return;
		(void)usleep(50000);
	}
}

void
demo_free(struct demo *demo)
{
	if (demo == NULL)
		return;
	(void)ingest_free(demo->ingest, NULL);
	demo_bench_free(demo->bench);
	if (demo->harness != NULL)
		demo_harness_free(demo->harness);
	for (size_t i = 0; i < RUN_COUNT; i++) {
		struct demo_run *run = &demo->runs[i];

		loggen_free(run->gen);
		if (run->file != NULL)
			(void)fclose(run->file);
		free(run->path);
	}
	remove_folder(demo->folder);
	free(demo->folder);
	free(demo);
}

/* Write the lines of a run whose time has come. */
static void
write_due(struct demo *demo, struct demo_run *run)
{
	bool wrote = false;

	while (run->line.len > 0 &&
	       run->start_ms + run->line.at_ms <= (double)demo->now_ms) {
		(void)fwrite(run->line.text, 1, run->line.len, run->file);
		next_line(run);
		wrote = true;
	}
	if (wrote)
		(void)fflush(run->file);
}

/* A pod that trains is busy and warm; a little noise of its own. */
static void
write_telemetry(struct demo *demo, size_t i)
{
	double wave = sin((double)demo->telemetry_ms / 37000 + (double)i);
	int64_t wall_ms = BEGIN_MS + demo->telemetry_ms;
	bool busy = false;

	for (size_t k = 0; k < RUN_COUNT; k++)
		busy |= runs[k].pod == i && demo->runs[k].line.len > 0 &&
			demo->runs[k].start_ms < (double)demo->telemetry_ms;
	model_pod_sample(demo->model, i, METRIC_GPU_UTIL,
			 busy ? pods[i].util + round(wave) : 0, wall_ms);
	model_pod_sample(demo->model, i, METRIC_GPU_POWER_W,
			 busy ? pods[i].power_w + 6 * wave : 74 + wave,
			 wall_ms);
	model_pod_sample(demo->model, i, METRIC_GPU_TEMP_C,
			 busy ? pods[i].temp_c + wave : 31 + wave, wall_ms);
	model_pod_sample(demo->model, i, METRIC_GPU_SM_MHZ,
			 busy ? pods[i].sm_mhz + 4 * wave : 345, wall_ms);
	model_pod_sample(demo->model, i, METRIC_GPU_MEM_MIB,
			 busy ? 61440 + 1024 * (double)i : 560, wall_ms);
}

void
demo_advance(struct demo *demo, int64_t ms)
{
	demo->now_ms += ms;
	for (size_t i = 0; i < RUN_COUNT; i++)
		write_due(demo, &demo->runs[i]);
	demo_harness_advance(demo->harness, BEGIN_MS + demo->now_ms);
	if (demo->now_ms - demo->telemetry_ms > 1800000)
		demo->telemetry_ms = demo->now_ms - 1800000;
	while (demo->telemetry_ms + TELEMETRY_MS <= demo->now_ms) {
		demo->telemetry_ms += TELEMETRY_MS;
		for (size_t i = 0; i < POD_COUNT; i++)
			write_telemetry(demo, i);
	}
}

bool
demo_poll(struct demo *demo)
{
	demo_harness_poll(demo->harness, BEGIN_MS + demo->now_ms);
	demo_bench_poll(demo->bench);
	return poll_runs(demo);
}
