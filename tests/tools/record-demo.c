/* SPDX-License-Identifier: MIT */
/* Make the recordings that the demo plays: DIR/log-*.rec, DIR/pod-*.rec and DIR/harness.rec.
 *
 *   record-demo DIR */
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/xalloc.h"
#include "tests/tools/harness_gen.h"
#include "tests/tools/loggen.h"
#include "tests/tools/recording.h"

/* 15 January 2026, 13:20 UTC: time 0 of the demo. */
#define BEGIN_MS INT64_C(1768483200000)
/* Telemetry of the last half hour. */
#define TELEMETRY_BEGIN_S 840
#define TELEMETRY_END_S	  4400
#define TELEMETRY_EVERY_S 30

struct pod {
	const char *name, *gpu;
	double util, power_w, temp_c, sm_mhz, mem_mib, free_gb;
	double hot_s;		/* it overheats from then on; 0: never */
	double lost_s, found_s; /* its connection is lost; the first 0: never */
};

static const struct pod pods[] = {
	{ "h100-a", "NVIDIA H100 80GB HBM3", 98, 688, 62, 1830, 61440, 212, 0, 0, 0 },
	{ "h100-b", "NVIDIA H100 80GB HBM3", 98, 684, 61, 1822, 62464, 243, 0, 2690, 2718 },
	{ "h100-c", "NVIDIA H100 80GB HBM3", 97, 671, 66, 1811, 63488, 274, 2260, 0, 0 },
	{ "h200-d", "NVIDIA H200", 98, 690, 58, 1905, 64512, 305, 0, 0, 0 },
	{ "vast-e", "NVIDIA H100 80GB HBM3", 97, 670, 65, 1790, 65536, 336, 0, 1210, 1232 },
};

#define POD_COUNT (sizeof(pods) / sizeof(pods[0]))

/* The runs of the demo, in the order in which they started. */
struct run {
	const char *group;
	size_t pod;
	enum loggen_dialect dialect;
	enum loggen_fate fate;
	unsigned int seed, every; /* a row every N steps */
	double start_s, ms_per_step, score, fate_at;
	bool source;		    /* it prints its script first */
	size_t block_bytes;	    /* it writes blocks of N bytes; 0: lines */
	double pause_at_s, pause_s; /* it waits for its disk */
	double stop_s;		    /* a user stopped it; 0: not stopped */
};

#define AVG	 LOGGEN_GOLF_AVG
#define MIN	 LOGGEN_GOLF_MIN
#define NANO	 LOGGEN_NANOGPT
#define FATE(id) LOGGEN_##id

static const struct run runs[] = {
	{ "naive-base", 4, AVG, FATE(FINISH), 1337, 100, .start_s = 0, .ms_per_step = 44,
	  .score = 1.2244, .block_bytes = 8192 },
	{ "naive-base", 3, AVG, FATE(FINISH), 42, 100, .start_s = 5, .ms_per_step = 44,
	  .score = 1.2244 },
	{ "polar-min", 0, MIN, FATE(FINISH), 42, 50, .start_s = 10, .ms_per_step = 121.8,
	  .score = 1.0613 },
	{ "polar-min", 1, MIN, FATE(FINISH), 314, 50, .start_s = 12, .ms_per_step = 121.8,
	  .score = 1.0613 },
	{ "polar-min", 2, MIN, FATE(FINISH), 1234, 50, .start_s = 14, .ms_per_step = 121.9,
	  .score = 1.0613 },
	{ "big-embed", 4, MIN, FATE(OVERSIZE), 42, 50, .start_s = 900, .ms_per_step = 119,
	  .score = 1.0588, .pause_at_s = 260, .pause_s = 45 },
	{ "gate-lqer", 3, MIN, FATE(FINISH), 7, 50, .start_s = 950, .ms_per_step = 119.6,
	  .score = 1.0594, .source = true },
	{ "gate-lqer", 0, MIN, FATE(FINISH), 42, 50, .start_s = 2180, .ms_per_step = 119.8,
	  .score = 1.0594, .source = true },
	{ "gate-lqer", 2, MIN, FATE(SLOW), 1234, 50, .start_s = 2182, .ms_per_step = 119.8,
	  .score = 1.0594, .source = true },
	{ "gate-lqer", 1, MIN, FATE(FINISH), 314, 50, .start_s = 2184, .ms_per_step = 120.1,
	  .score = 1.0594, .source = true },
	{ "hot-muon", 4, MIN, FATE(DIVERGE), 9, 50, .start_s = 2200, .ms_per_step = 120.4,
	  .score = 1.0650, .fate_at = 0.45, .stop_s = 2668 },
	{ "speedrun", 3, NANO, FATE(STALL), 7, 10, .start_s = 2290, .ms_per_step = 157.4,
	  .score = 3.2756, .fate_at = 0.25, .source = true, .stop_s = 2700 },
	/* These start while the demo is playing. */
	{ "wide-mlp", 4, MIN, FATE(OOM), 42, 50, .start_s = 2676, .ms_per_step = 138.2,
	  .score = 1.0582, .fate_at = 0.02 },
	{ "conv-stem", 3, AVG, FATE(CRASH), 42, 100, .start_s = 2704, .ms_per_step = 46.3,
	  .score = 1.2201, .fate_at = 0.005 },
	{ "speedrun", 3, NANO, FATE(FINISH), 8, 10, .start_s = 2790, .ms_per_step = 157.2,
	  .score = 3.2756, .source = true, .block_bytes = 4096 },
	{ "gate-wide", 0, MIN, FATE(FINISH), 42, 50, .start_s = 3300, .ms_per_step = 122.9,
	  .score = 1.0579 },
};

#define RUN_COUNT (sizeof(runs) / sizeof(runs[0]))

/* When the last line of each run was printed. */
static double end_s[RUN_COUNT];

static void recipe_of(const struct run *run, struct loggen_recipe *recipe)
{
	loggen_recipe_init(recipe, run->dialect, run->seed);
	recipe->fate = run->fate;
	recipe->ms_per_step = run->ms_per_step;
	recipe->score = run->score;
	recipe->fate_at = run->fate_at;
	recipe->log_every = run->every;
	recipe->source = run->source;
}

/* When output written at that time is received: later if its pod is lost. */
static double arrival_s(const struct run *run, double s)
{
	const struct pod *pod = &pods[run->pod];

	return s >= pod->lost_s && s < pod->found_s ? pod->found_s : s;
}

/* A run's output as its file receives it: by lines, or block by block. */
static void record_lines(struct recording *rec, const struct run *run, double *end)
{
	struct loggen_recipe recipe;
	struct loggen_line line;
	struct loggen *gen;
	struct buf held;
	double s = 0;

	recipe_of(run, &recipe);
	gen = loggen_new(&recipe);
	buf_init(&held, 1U << 20);
	while (loggen_next(gen, &line)) {
		s = run->start_s + line.at_ms / 1000;
		if (line.at_ms / 1000 > run->pause_at_s)
			s += run->pause_s;
		if (run->stop_s > 0 && s > run->stop_s)
			break;
		*end = s;
		buf_append(&held, line.text, line.len);
		while (held.len >= run->block_bytes && held.len > 0) {
			size_t n = run->block_bytes > 0 ? run->block_bytes : held.len;

			recording_at(rec, (int64_t)(arrival_s(run, s) * 1000));
			recording_bytes(rec, held.data, n);
			buf_consume(&held, n);
		}
	}
	recording_bytes(rec, held.data, held.len);
	buf_release(&held);
	loggen_free(gen);
}

static struct recording *open_recording(const char *folder, const char *kind, const char *name,
					struct err *err)
{
	char *path = xasprintf("%s/%s%s.rec", folder, kind, name);
	struct recording *rec = recording_new(path);

	if (rec == NULL)
		err_set_errno(err, ERR_IO, "%s", path);
	free(path);
	return rec;
}

static int close_recording(struct recording *rec, struct err *err)
{
	return recording_close(rec) != 0 ? err_set_errno(err, ERR_IO, "a recording") : 0;
}

static int record_run(size_t i, const char *folder, struct err *err)
{
	const struct run *run = &runs[i];
	char *name = xasprintf("%s-%u", run->group, run->seed);
	struct recording *rec = open_recording(folder, "log-", name, err);

	free(name);
	if (rec == NULL)
		return -1;
	recording_put(rec, '=', "%s", pods[run->pod].name);
	recording_at(rec, (int64_t)(run->start_s * 1000));
	recording_put(rec, '*', "%s/train_%s_s%u.log", run->group, pods[run->pod].name, run->seed);
	record_lines(rec, run, &end_s[i]);
	return close_recording(rec, err);
}

static bool is_busy(size_t pod, double s)
{
	for (size_t i = 0; i < RUN_COUNT; i++)
		if (runs[i].pod == pod && s > runs[i].start_s &&
		    (s < end_s[i] || (runs[i].fate == LOGGEN_STALL && s < runs[i].stop_s)))
			return true;
	return false;
}

/* The output of the pod's telemetry command for its first GPU. */
static void record_block(struct recording *rec, size_t i, double s)
{
	const struct pod *pod = &pods[i];
	double wave = sin(s / 37 + (double)i);
	bool busy = is_busy(i, s);
	/* Overheating: the temperature rises for a minute, then the clock falls. */
	double heat = pod->hot_s > 0 && busy ? fmin(fmax((s - pod->hot_s) / 60, 0), 1) : 0;

	recording_put(rec, ':', "HGT1 <");
	recording_put(rec, ':', "L %.2f %.2f %.2f 9/2048 %u", busy ? 9.4 + wave : 0.3,
		      busy ? 9.1 : 0.4, busy ? 8.7 : 0.6, 40000 + (unsigned int)s);
	recording_put(rec, ':', "D %.0f", (pod->free_gb - s / 1000) * 1e9 / 1024);
	if (busy)
		recording_put(rec, ':', "G 0, %s, %.0f, %.0f, %.2f, %.0f, %.0f, 0x%016x", pod->gpu,
			      pod->util + round(wave), pod->mem_mib,
			      pod->power_w + 6 * wave - 120 * heat, pod->temp_c + wave + 17 * heat,
			      pod->sm_mhz + 4 * wave - 690 * heat, heat >= 1 ? 0x60 : 0);
	else
		recording_put(rec, ':', "G 0, %s, 0, 560, %.2f, %.0f, 345, 0x%016x", pod->gpu,
			      74 + wave, 31 + wave, 1);
	recording_put(rec, ':', "HGT1 >");
}

static int record_pod(size_t i, const char *folder, struct err *err)
{
	const struct pod *pod = &pods[i];
	struct recording *rec = open_recording(folder, "pod-", pod->name, err);

	if (rec == NULL)
		return -1;
	recording_put(rec, '=', "%s", pod->name);
	recording_put(rec, '!', "live");
	for (double s = 0; s <= TELEMETRY_END_S; s++) {
		recording_at(rec, (int64_t)(s * 1000));
		if (s > 0 && s == pod->lost_s)
			recording_put(rec, '!',
				      "reconnecting read: connection reset by "
				      "peer");
		if (s > 0 && s == pod->found_s)
			recording_put(rec, '!', "live");
		if (s >= TELEMETRY_BEGIN_S && fmod(s + 3 * (double)i, TELEMETRY_EVERY_S) == 0 &&
		    !(s >= pod->lost_s && s < pod->found_s))
			record_block(rec, i, s);
	}
	return close_recording(rec, err);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Record the files of one HarnessGym step, through a temporary directory. */
static int record_step(struct recording *rec, size_t step, struct err *err)
{
	char folder[] = "/tmp/record-demo-XXXXXX";
	struct harness_gen gen = { .dir = folder, .start_ms = BEGIN_MS };
	int failed;

	if (mkdtemp(folder) == NULL)
		return err_set_errno(err, ERR_IO, "%s", folder);
	recording_at(rec, harness_gen_step_at_ms(step));
	failed = harness_gen_step(&gen, step, err);
	if (!failed)
		failed = recording_folder(rec, folder, "rmsnorm", err);
	(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return failed;
}

static int record_harness(const char *folder, struct err *err)
{
	struct recording *rec = open_recording(folder, "", "harness", err);
	int failed = 0;

	if (rec == NULL)
		return -1;
	for (size_t i = 0; i < harness_gen_steps() && !failed; i++)
		failed = record_step(rec, i, err);
	return close_recording(rec, err) != 0 || failed ? -1 : 0;
}

static int record_fleet(const char *folder, struct err *err)
{
	for (size_t i = 0; i < RUN_COUNT; i++)
		if (record_run(i, folder, err))
			return -1;
	for (size_t i = 0; i < POD_COUNT; i++)
		if (record_pod(i, folder, err))
			return -1;
	return record_harness(folder, err);
}

int main(int argc, char **argv)
{
	struct err err = { ERR_NONE, "" };

	if (argc != 2) {
		(void)fprintf(stderr, "usage: record-demo DIR\n");
		return 2;
	}
	if (record_fleet(argv[1], &err) != 0) {
		(void)fprintf(stderr, "record-demo: %s\n", err.text);
		return 1;
	}
	return 0;
}
