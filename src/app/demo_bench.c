/* SPDX-License-Identifier: MIT */
/* The demonstration's A/B bench on this machine. */
#include "config.h"

#include "app/demo_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/bench_compose.h"
#include "app/bench_feed.h"
#include "base/xalloc.h"
#include "context.h"

struct demo_bench {
	struct bench_feed *feed;   /* owned */
	struct app_bench *started; /* owned; NULL: none; while it runs */
	struct model *model;
	struct context context; /* of its own: nothing of the user's */
	char *plan, *lock_root; /* owned */
};

/* A run of 100 steps of STEP_MS, give or take a little, at once. */
static const char workload[] =
	"awk -v ms=\"$STEP_MS\" -v seed=\"$(od -An -N4 -tu4 /dev/urandom)\" '\n"
	"BEGIN {\n"
	"	srand(seed % 2147483647); n = 100\n"
	"	level = 1 + 0.0015 * (rand() + rand() + rand() + rand() - 2)\n"
	"	print \"train_batch_tokens:786432 train_seq_len:1024 \" \\\n"
	"		\"iterations:\" n \" warmup_steps:5 \" \\\n"
	"		\"max_wallclock_seconds:600.000\"\n"
	"	print \"world_size:1 grad_accum_steps:8\"\n"
	"	print \"seed:42\"\n"
	"	for (i = 1; i <= n; i++) {\n"
	"		t += ms * level * (1 + 0.004 * (rand() - .5))\n"
	"		if (i > 10 && i % 5) continue\n"
	"		printf \"step:%d/%d train_loss:%.4f \" \\\n"
	"			\"train_time:%.0fms step_avg:%.2fms\\n\", \\\n"
	"			i, n, 9 / sqrt(i), t, t / i\n"
	"	}\n"
	"	printf \"step:%d/%d val_loss:3.2000 val_bpb:1.2400 \" \\\n"
	"		\"train_time:%.0fms step_avg:%.2fms\\n\", \\\n"
	"		n, n, t, t / n\n"
	"	print \"peak memory allocated: 3205 MiB reserved: 3300 MiB\"\n"
	"	print \"final_int8_zlib_roundtrip val_loss:3.2035 \" \\\n"
	"		\"val_bpb:1.2414 eval_time:225ms\"\n"
	"}'\n"
	"sleep 0.6\n"; /* so that there is something to watch */

/* The folder stands in it three times. */
static const char plan_format[] =
	"{\"schema\": \"hgym.bench/1\", \"name\": \"fused-ce\", \"seed\": 7,\n"
	" \"workload\": {\"cwd\": \"%s/bench\", \"command\": \"sh run.sh\",\n"
	"  \"env\": {\"STEP_MS\": \"1198\"}, \"timeout_s\": 60},\n"
	" \"metric\": {\"key\": \"step_ms\",\n"
	"  \"window\": {\"mode\": \"fixed\", \"lo\": 20, \"hi\": 100}},\n"
	" \"variants\": [{\"tag\": \"base\", \"control\": true},\n"
	"  {\"tag\": \"fused\", \"env\": {\"STEP_MS\": \"1179\"}}],\n"
	" \"pods\": [{\"id\": \"h100-a\", \"transport\": \"local\",\n"
	"  \"root\": \"%s/root\", \"lock_dir\": \"%s/locks\"}],\n"
	" \"design\": {\"blocks_per_pod\": 6, \"burn_in\": 1, \"aa\": false,\n"
	"  \"gap_s\": 0},\n"
	" \"budget\": {\"minutes\": 5}}\n";

static int
write_file(const char *folder, const char *name, const char *text,
	   struct err *err)
{
	char *path = xasprintf("%s/bench/%s", folder, name);
	FILE *file = fopen(path, "we");
	int failed = 0;

	if (file == NULL || fputs(text, file) < 0)
		failed = err_set_errno(err, ERR_IO, "%s", path);
	if (file != NULL && fclose(file) != 0 && !failed)
		failed = err_set_errno(err, ERR_IO, "%s", path);
	free(path);
	return failed;
}

static void
make_folder(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	(void)mkdir(path, 0700);
	free(path);
}

static void
move_home(const char *folder, const char *variable)
{
	char *path = xasprintf("%s/home", folder);

	(void)setenv(variable, path, 1);
	free(path);
}

/*
 * The configuration of whoever runs a bench of the demo: all pods are this
 * machine, each with a folder of its own.
 */
static int
write_conf(const char *folder, struct err *err)
{
	static const struct {
		const char *name;
		double usd_per_hour;
	} pods[] = { { "h100-a", 19.92 },
		     { "h100-b", 19.92 },
		     { "h100-c", 18.40 },
		     { "h200-d", 25.60 },
		     { "vast-e", 16.80 } };
	char *path = xasprintf("%s/home/hgym-tui/config.json", folder);
	FILE *file;
	int failed;

	make_folder(folder, "home");
	make_folder(folder, "home/hgym-tui");
	file = fopen(path, "we");
	failed = file == NULL ? err_set_errno(err, ERR_IO, "%s", path) : 0;
	if (file != NULL) {
		(void)fputs("{\"schema\": \"" CONF_SCHEMA "\", \"pods\": [",
			    file);
		for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++)
			(void)fprintf(file,
				      "%s{\"name\": \"%s\", \"transport\": "
				      "\"local\", \"logs\": [], "
				      "\"remote_root\": \"%s/root-%s\", "
				      "\"usd_per_hour\": %.2f}",
				      i > 0 ? ",\n" : "\n", pods[i].name,
				      folder, pods[i].name,
				      pods[i].usd_per_hour);
		(void)fputs("]}\n", file);
		if (fclose(file) != 0)
			failed = err_set_errno(err, ERR_IO, "%s", path);
	}
	free(path);
	return failed;
}

struct demo_bench *
demo_bench_new(struct model *model, const char *folder, struct err *err)
{
	struct demo_bench *bench;
	char *plan;
	int failed;

	make_folder(folder, "bench");
	make_folder(folder, "locks");
	move_home(folder, "XDG_STATE_HOME");
	move_home(folder, "XDG_DATA_HOME");
	move_home(folder, "XDG_CONFIG_HOME");
	(void)unsetenv("HGYM_TUI_CONFIG");
	plan = xasprintf(plan_format, folder, folder, folder);
	failed = write_file(folder, "run.sh", workload, err) ||
		 write_file(folder, "bench.json", plan, err) ||
		 write_conf(folder, err);
	free(plan);
	if (failed)
		return NULL;
	bench = xcalloc(1, sizeof(*bench));
	bench->model = model;
	context_init(&bench->context,
		     &(struct context_options){ .color = "auto" });
	if (context_open(&bench->context, CONTEXT_CONF | CONTEXT_FORMATS,
			 err) != 0) {
		context_close(&bench->context);
		free(bench);
		return NULL;
	}
	bench->feed = bench_feed_new(model, &bench->context);
	bench->plan = xasprintf("%s/bench/bench.json", folder);
	bench->lock_root = xasprintf("%s/locks", folder);
	bench_feed_plan(bench->feed, bench->plan);
	return bench;
}

void
demo_bench_free(struct demo_bench *bench)
{
	if (bench == NULL)
		return;
	bench_feed_free(bench->feed);
	context_close(&bench->context);
	free(bench->plan);
	free(bench->lock_root);
	free(bench);
}

void
demo_bench_stop(struct demo_bench *bench)
{
	app_bench_kill(bench->started);
	app_bench_free(bench->started);
	bench->started = NULL;
}

void
demo_bench_poll(struct demo_bench *bench)
{
	bench_feed_poll(bench->feed);
}

int
demo_bench_launch(struct demo_bench *bench, struct loop *loop, const char *plan,
		  const char *stop_id, struct err *err)
{
	if (bench->started == NULL)
		bench->started =
			app_bench_new(loop, bench->model, &bench->context);
	return app_bench_launch(bench->started, plan, stop_id, err);
}

char *
demo_bench_compose(struct demo_bench *bench, const struct command *command,
		   struct err *err)
{
	const struct bench_compose with = { &bench->context.conf, bench->model,
					    bench->lock_root };
	struct command asked = *command;

	/* The pods are all this machine: there the bench's own workload is
	 * quicker than a probe. */
	if (asked.id == COMMAND_BENCH_AUDIT && asked.name == NULL)
		asked.name = bench->plan;
	return bench_compose(&with, &asked, err);
}
