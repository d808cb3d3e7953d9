/* SPDX-License-Identifier: MIT */
/* The demonstration: recordings of a fleet, played and followed. */
#include "app/demo.h"

#include "app/bench.h"
#include "app/bench_feed.h"
#include "app/demo_player.h"
#include "base/embed.h"
#include "harness/pod.h"
#include "model/harness_view.h"

/* Recordings start on 15 January 2026 at 13:20 UTC; the screen starts NOW_S seconds later. */
#define BEGIN_MS       INT64_C(1768483200000)
#define NOW_S	       2650
#define HISTORY_STEP_S 10
#define HARNESS_MS     1000 /* pause between updates of the countdown */
/* Directories in the recordings. */
#define HOME	"home"
#define BENCH	"bench"
#define HARNESS "rmsnorm"

/* Files of src/app/demo, home.rec first. */
extern const struct embed_file demo_recordings[];

struct demo {
	struct clock clock; /* first member: its functions cast it to the demo */
	int64_t now_ms;	    /* milliseconds since BEGIN_MS */
	struct scratch folder;
	struct model *model;
	struct ingest *ingest;
	struct demo_player **players; /* owned */
	size_t n_players;

	struct context *context; /* all its pods are this machine */
	struct bench_feed *benches;

	struct harness_view harness;
	struct harness_files harness_files;
	const struct demo_player *harness_player; /* one of players */
	size_t harness_played;			  /* records played at the last read */
	int64_t harness_shown_ms;

	double speed;	 /* times real time; 0: stopped */
	int64_t real_ms; /* real clock at the last poll; 0: not polled */
	double owed_ms;	 /* fraction of a millisecond not played yet */
};

static int64_t demo_mono_ms(const struct clock *clock)
{
	return ((const struct demo *)(const void *)clock)->now_ms;
}

static int64_t demo_wall_ms(const struct clock *clock)
{
	return BEGIN_MS + demo_mono_ms(clock);
}

const struct clock *demo_clock(const struct demo *demo)
{
	return &demo->clock;
}

static void poll_harness(struct demo *demo)
{
	size_t played = demo_player_played(demo->harness_player);

	if (demo->now_ms - demo->harness_shown_ms < HARNESS_MS)
		return;
	if (played != demo->harness_played) {
		AUTO_TEXT path = xasprintf("%s/" HARNESS, demo->folder.path);
		struct harness_wire wire;

		harness_wire_init(&wire, &demo->harness_files);
		bool done = harness_pod_fetch(NULL, path, &wire, NULL) == 0;
		harness_wire_release(&wire);
		demo->harness_files.process = HARNESS_UNKNOWN; /* recordings have no process */
		if (!done)
			return;
	}
	demo->harness_played = played;
	demo->harness_shown_ms = demo->now_ms;
	harness_view_read(&demo->harness, 0, false, BEGIN_MS + demo->now_ms);
	model_note_change(demo->model, MODEL_HARNESS);
}

static int play_for(struct demo *demo, int64_t ms, struct err *err)
{
	int failed = 0;

	demo->now_ms += ms;
	for (size_t i = 0; i < demo->n_players; i++)
		failed |= demo_player_advance(demo->players[i], demo->now_ms, err);
	return failed;
}

static void add_player(struct demo *demo, const char *recording)
{
	const struct demo_stage stage = { demo->folder.path, demo->model, demo->ingest, BEGIN_MS };

	demo->players = xreallocarray(demo->players, demo->n_players + 1, sizeof(*demo->players));
	demo->players[demo->n_players++] = demo_player_new(&stage, recording);
}

/* Play the first recording, which creates a home directory with a configuration, and use this
 * directory, so that no file of the user is touched. The configured pods become the model's. */
static int open_home(struct demo *demo, struct err *err)
{
	static const char *const variables[] = { "XDG_CONFIG_HOME", "XDG_DATA_HOME",
						 "XDG_STATE_HOME" };
	const struct conf *conf = &demo->context->conf;
	AUTO_TEXT home = xasprintf("%s/" HOME, demo->folder.path);

	for (size_t i = 0; i < LENGTH(variables); i++)
		(void)setenv(variables[i], home, 1);
	(void)unsetenv("HGYM_TUI_CONFIG");
	add_player(demo, demo_recordings[0].text);
	if (play_for(demo, 0, err) != 0 ||
	    context_open(demo->context, CONTEXT_CONF | CONTEXT_FORMATS | CONTEXT_TRACK, err) != 0)
		return -1;
	for (size_t i = 0; i < conf->n_pods; i++) {
		(void)model_pod_add(demo->model, conf->pods[i].name, "local");
		demo->model->pods[i].usd_per_hour = conf->pods[i].usd_per_hour;
	}
	return 0;
}

struct demo *demo_new(struct model *model, struct context *context, struct err *err)
{
	struct demo *demo = xnew(
		struct demo, .clock = (struct clock){ demo_mono_ms, demo_mono_ms, demo_wall_ms },
		.model = model, .context = context);
	struct ingest_options options = { .clock = &demo->clock,
					  .model = model,
					  .keep_view = true };

	if (scratch_make(&demo->folder, "hgym-demo", err) != 0) {
		free(demo);
		return NULL;
	}
	harness_files_init(&demo->harness_files);
	(void)harness_view_add(&demo->harness, "h100-a:/srv/" HARNESS, &demo->harness_files);
	model->harness = &demo->harness;
	if (open_home(demo, err) != 0) {
		demo_free(demo);
		return NULL;
	}
	options.formats = context->formats;
	demo->ingest = ingest_new(&options, err);
	demo->benches = bench_feed_new(model, context);
	for (size_t i = 1; demo_recordings[i].name != NULL; i++) {
		add_player(demo, demo_recordings[i].text);
		if (strcmp(demo_recordings[i].name, "harness") == 0)
			demo->harness_player = demo->players[i];
	}
	/* Play the history in steps, so that lines are read soon after they were written. */
	while (demo->now_ms < NOW_S * 1000) {
		if (play_for(demo, HISTORY_STEP_S * 1000, err) != 0) {
			demo_free(demo);
			return NULL;
		}
		(void)ingest_poll(demo->ingest);
	}
	return demo;
}

void demo_free(struct demo *demo)
{
	if (demo == NULL)
		return;
	(void)ingest_free(demo->ingest, NULL);
	bench_feed_free(demo->benches);
	demo->model->harness = NULL;
	harness_view_release(&demo->harness);
	harness_files_release(&demo->harness_files);
	for (size_t i = 0; i < demo->n_players; i++)
		demo_player_free(demo->players[i]);
	free(demo->players);
	scratch_remove(&demo->folder);
	free(demo);
}

static void demo_advance(void *user, int64_t ms)
{
	struct demo *demo = user;
	struct err err = { ERR_NONE, "" };

	if (play_for(demo, ms, &err) != 0)
		model_event_addf(demo->model, BEGIN_MS + demo->now_ms, MODEL_ALARM, MODEL_NONE,
				 "%s", err.text);
}

static bool demo_poll(void *user)
{
	struct demo *demo = user;
	int64_t real_ms = clock_mono_ms();

	if (demo->speed > 0) {
		if (demo->real_ms != 0)
			demo->owed_ms += (double)(real_ms - demo->real_ms) * demo->speed;
		demo->real_ms = real_ms;
		demo_advance(demo, (int64_t)demo->owed_ms);
		demo->owed_ms -= (double)(int64_t)demo->owed_ms;
	}
	poll_harness(demo);
	bench_feed_poll(demo->benches);
	return ingest_poll(demo->ingest);
}

/* All pods of the demo are this machine, so each gets a separate lock. An audit measures the demo's
 * own workload, which is faster than the probe. */
static char *demo_compose(void *user, const struct command *command, struct err *err)
{
	struct demo *demo = user;
	AUTO_TEXT locks = xasprintf("%s/" BENCH, demo->folder.path);
	const struct bench_compose with = { demo->context, demo->model, locks };
	struct command asked = *command;
	AUTO_TEXT plan = xasprintf("%s/bench.json", locks);

	if (asked.id == COMMAND_BENCH_AUDIT && asked.name == NULL)
		asked.name = plan;
	return bench_compose(&with, &asked, err);
}

struct app_source demo_source(struct demo *demo, double speed)
{
	demo->speed = speed;
	return (struct app_source){ .poll = demo_poll,
				    .plan = demo_compose,
				    .advance = demo_advance,
				    .user = demo,
				    .ends_benches = true };
}
