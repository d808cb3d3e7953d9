/* SPDX-License-Identifier: MIT */
/* demo_player.c: files and pods are as recorded, whatever the steps of the playback. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/demo_player.h"
#include "base/scratch.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

#define BEGIN_MS INT64_C(1768483200000)

static const char files[] = "-5000>old/file\n"
			    "_no end\n"
			    "6000>deep/er/file\n"
			    " one\n"
			    "500_tw\n"
			    "500_o\n"
			    "^ 1 %\n"
			    "^ 2 %\n"
			    " \n"
			    "@at @/x, @\n"
			    " \tn@t ours\n"
			    "2500+old/file\n"
			    " , then more\n"
			    ">empty\n"
			    "1>deep/er/file\n"
			    "_anew\n";
#define END_MS 4501

static int64_t begin_ms(const struct clock *clock)
{
	(void)clock;
	return BEGIN_MS;
}

struct scene {
	struct scratch scratch;
	struct model model;
	struct format_set *formats;
	struct clock clock;
	struct demo_stage stage;
};

static void scene_init(struct scene *s)
{
	struct ingest_options options;

	if (scratch_make(&s->scratch, "t-demo", NULL) != 0)
		abort();
	model_init(&s->model);
	(void)model_pod_add(&s->model, "other", "local");
	(void)model_pod_add(&s->model, "pod-a", "local");
	s->formats = format_set_new_builtin();
	s->clock = (struct clock){ begin_ms, begin_ms, begin_ms };
	options = (struct ingest_options){ .clock = &s->clock,
					   .model = &s->model,
					   .formats = s->formats };
	s->stage = (struct demo_stage){ s->scratch.path, &s->model, ingest_new(&options, NULL),
					BEGIN_MS };
}

static void scene_release(struct scene *s)
{
	(void)ingest_free(s->stage.ingest, NULL);
	format_set_free(s->formats);
	model_release(&s->model);
	scratch_remove(&s->scratch);
}

/* Content of a file below the directory; static; NULL if it does not exist. */
static const char *text_of(const struct scene *s, const char *name)
{
	static char text[4096];
	char *path = xasprintf("%s/%s", s->scratch.path, name);
	FILE *file = fopen(path, "re");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	free(path);
	if (file == NULL)
		return NULL;
	(void)fclose(file);
	return text;
}

/* Time of the last write to a file, in milliseconds of the recording. */
static int64_t time_of(const struct scene *s, const char *name)
{
	char *path = xasprintf("%s/%s", s->scratch.path, name);
	struct stat st;
	int64_t ms = INT64_MIN;

	if (stat(path, &st) == 0)
		ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 - BEGIN_MS;
	free(path);
	return ms;
}

static void plays(struct demo_player *player, int64_t until_ms)
{
	struct err err = { ERR_NONE, "" };

	if (demo_player_advance(player, until_ms, &err) != 0)
		ok(false, "until %lld: %s", (long long)until_ms, err.text);
}

static void test_pace(void)
{
	struct demo_player *player;
	struct scene s;
	char *want;

	scene_init(&s);
	player = demo_player_new(&s.stage, files);
	plays(player, -5001);
	is_str(text_of(&s, "old/file"), NULL, "a file does not exist before its time");
	plays(player, 0);
	is_str(text_of(&s, "old/file"), "no end", "a file from before the start exists");
	is_int(time_of(&s, "old/file"), -5000, "a file from before the start has its time");
	is_str(text_of(&s, "deep/er/file"), NULL, "later files do not exist yet");
	plays(player, 1000);
	is_str(text_of(&s, "deep/er/file"), "one\n", "the first line of a file");
	plays(player, 1999);
	is_str(text_of(&s, "deep/er/file"), "one\ntw", "a part of a line");
	is_int(time_of(&s, "deep/er/file"), 1500, "a file has the time of its last bytes");
	plays(player, 2000);
	want = xasprintf("one\ntwo 1 %%\r 2 %%\r\nat %s/x, %s\n\tn@t ours\n", s.scratch.path,
			 s.scratch.path);
	is_str(text_of(&s, "deep/er/file"), want,
	       "bars, a line that names the directory, and one that does not");
	plays(player, 4500);
	is_str(text_of(&s, "old/file"), "no end, then more\n", "an old file continues");
	is_str(text_of(&s, "empty"), "", "an empty file exists");
	is_int(time_of(&s, "empty"), 4500, "an empty file has its time");
	is_str(text_of(&s, "deep/er/file"), want, "a log whose time has not come is unchanged");
	plays(player, END_MS);
	is_str(text_of(&s, "deep/er/file"), "anew", "a log starts again");
	plays(player, 1000000);
	is_int(time_of(&s, "deep/er/file"), END_MS, "the file has the time of the end");
	free(want);
	demo_player_free(player);
	scene_release(&s);
}

/* However often the player is advanced, the files are the same in the end. */
static void test_any_steps(void)
{
	static const int64_t steps_ms[] = { 100000, 4000, 777, 1 };
	static const char *const names[] = { "old/file", "deep/er/file", "empty" };

	for (size_t i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
		struct demo_player *player;
		struct scene s;
		static const int64_t times_ms[] = { 4500, END_MS, 4500 };
		static const char *const texts[] = { "no end, then more\n", "anew", "" };

		scene_init(&s);
		player = demo_player_new(&s.stage, files);
		for (int64_t ms = -6000; ms < 6000; ms += steps_ms[i])
			plays(player, ms);
		plays(player, 6000);
		for (size_t k = 0; k < 3; k++) {
			is_str(text_of(&s, names[k]), texts[k], names[k]);
			is_int(time_of(&s, names[k]), times_ms[k], "each file has its time");
		}
		demo_player_free(player);
		scene_release(&s);
	}
}

static void test_log(void)
{
	static const char text[] = "=pod-a\n"
				   "1000*runs/a.log\n"
				   " seed:7\n"
				   " step:100/1000 train_loss:4.0000 train_time:10000ms "
				   "step_avg:100.00ms\n"
				   "100_step:200/1000 train_loss:3.5\n"
				   "100 000 train_time:20000ms step_avg:100.00ms\n";
	struct demo_player *player;
	struct scene s;

	scene_init(&s);
	player = demo_player_new(&s.stage, text);
	plays(player, 1150);
	(void)ingest_poll(s.stage.ingest);
	is_int((long long)s.model.n_runs, 1, "a log is a run");
	is_int((long long)s.model.runs[0]->pod, 1, "the run is on its pod");
	is_near(s.model.runs[0]->run.steps, 100, 0, "an incomplete row does not count yet");
	plays(player, 1200);
	(void)ingest_poll(s.stage.ingest);
	is_near(s.model.runs[0]->run.steps, 200, 0, "a complete row counts");
	is_near(s.model.runs[0]->run.last_train_loss, 3.5, 0, "the loss is as printed");
	demo_player_free(player);
	scene_release(&s);
}

static void test_pod(void)
{
	static const char text[] = "=pod-a\n"
				   "!live\n"
				   ":HGT1 <\n"
				   ":D 1000000\n"
				   ":G 0, NVIDIA X, 90, 1000, 500.50, 60, 1800, 0x40\n"
				   ":HGT1 >\n"
				   "5000!reconnecting read: connection reset\n"
				   "2000!live\n";
	struct demo_player *player;
	const struct model_pod *pod;
	struct scene s;

	scene_init(&s);
	player = demo_player_new(&s.stage, text);
	plays(player, 4999);
	pod = &s.model.pods[1];
	is_int(pod->state, POD_LIVE, "the pod is connected");
	is_int((long long)s.model.n_events, 0, "the initial state of the pod is not an event");
	is_str(pod->gpu_name, "NVIDIA X", "the pod has its GPU");
	is_near(pod->disk_free_bytes, 1024e6, 0, "the pod has its free disk space");
	is_near(series_last(pod->telemetry[METRIC_GPU_POWER_W])->value, 500.5, 0,
		"the pod has its telemetry");
	is_int(series_last(pod->telemetry[METRIC_GPU_POWER_W])->wall_ms, BEGIN_MS,
	       "the telemetry has its time");
	plays(player, 5000);
	is_int(pod->state, POD_RECONNECTING, "the connection fails");
	is_str(pod->why, "read: connection reset", "the pod has the reason of the failure");
	is_str(model_event_at(&s.model, 0)->text, "pod-a: reconnecting: read: connection reset",
	       "the failure is reported");
	is_int(model_event_at(&s.model, 0)->wall_ms, BEGIN_MS + 5000, "the report has its time");
	plays(player, 9000);
	is_int(pod->state, POD_LIVE, "the connection is restored");
	is_str(model_event_at(&s.model, 1)->text, "pod-a: live",
	       "the restored connection is reported");
	is_int(s.model.pods[0].state, POD_UNKNOWN, "the other pod is not affected");
	demo_player_free(player);
	scene_release(&s);
}

/* A file that cannot be written ends the recording, with one sentence. */
static void test_fails(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ ">a\n x\n10>a/b\n y\n10>c\n z\n", "Not a directory" },
		{ ">d/x\n x\n10>d\n y\n10>c\n z\n", "Is a directory" },
		{ ">a\n x\n10>full\n y\n10>c\n z\n", "No space left" },
		{ ">a\n x\n10+full\n y\n10>c\n z\n", "No space left" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { ERR_NONE, "" };
		struct demo_player *player;
		struct scene s;
		char *full;

		scene_init(&s);
		full = xasprintf("%s/full", s.scratch.path);
		if (symlink("/dev/full", full) != 0)
			abort();
		player = demo_player_new(&s.stage, cases[i].text);
		ok(demo_player_advance(player, 5, &err) == 0, "the recording starts");
		ok(demo_player_advance(player, 100, &err) == -1 && err.code == ERR_IO &&
			   strstr(err.text, s.scratch.path) != NULL &&
			   strstr(err.text, cases[i].says) != NULL,
		   "the recording ends with a reason: %s", err.text);
		ok(demo_player_advance(player, 200, &err) == 0, "the failure is reported once");
		is_str(text_of(&s, "c"), NULL, "nothing is written after the failure");
		free(full);
		demo_player_free(player);
		scene_release(&s);
	}
}

int main(void)
{
	test_pace();
	test_any_steps();
	test_log();
	test_pod();
	test_fails();
	return tap_done();
}
