/* SPDX-License-Identifier: MIT */
/* The dashboard over named logs or configured pods; called by main. */
#include "config.h"

#include "dash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/xalloc.h"
#include "feed.h"
#include "log_paths.h"

#define POLL_BYTES (2U << 20)

struct dash {
	const struct cmd_env *env;
	struct conf conf;
	struct track track;
	struct model model;
	struct format_set *formats; /* owned */
	struct feed *feed;	    /* owned; NULL without paths */
};

bool
dash_is_path(const char *word)
{
	return strpbrk(word, "/*?[") != NULL || access(word, F_OK) == 0;
}

static bool
poll_feed(void *user)
{
	struct dash *dash = user;

	return feed_poll(dash->feed, POLL_BYTES);
}

/* Open all named logs as the runs of one pod, this machine. */
static int
open_paths(struct dash *dash, char *const *argv, size_t n, struct err *err)
{
	size_t pod = model_pod_add(&dash->model, "here", "local"), opened = 0;
	struct log_paths paths = { 0 };
	int failed = 0;

	model_pod_state(&dash->model, pod, POD_LIVE, NULL, 0);
	log_paths_find(&paths, argv, n);
	for (size_t i = 0; i < paths.n && !failed; i++) {
		if (paths.v[i].table)
			continue;
		failed = feed_add(dash->feed, pod, paths.v[i].path, false, err);
		opened++;
	}
	log_paths_release(&paths);
	if (!failed && opened == 0)
		failed = err_set(err, ERR_NODATA, "no logs in what was named");
	return failed;
}

static int
load_formats(struct dash *dash, struct err *err)
{
	dash->formats = format_set_new_builtin();
	for (size_t i = 0; i < dash->conf.formats.n; i++)
		if (format_set_load(dash->formats, dash->conf.formats.v[i],
				    err))
			return -1;
	return 0;
}

/* Where the alerts' state is kept; NULL when there is no such folder. */
static char *
alerts_path(void)
{
	char *dir = conf_dir_state(), *path = NULL;

	if (dir != NULL && conf_make_dir(dir, NULL) == 0)
		path = xasprintf("%s/alerts", dir);
	free(dir);
	return path;
}

static int
run_app(struct dash *dash, struct err *err)
{
	char *state_path = alerts_path();
	struct app_setup setup = {
		.env = dash->env,
		.conf = &dash->conf,
		.model = &dash->model,
		.track = &dash->track,
		.clock = &clock_real,
		.source = { .poll = dash->feed != NULL ? poll_feed : NULL,
			    .user = dash },
		.state_path = state_path,
	};
	int status = app_run(&setup, err);

	free(state_path);
	return status;
}

static int
run_with_track(struct dash *dash, char *const *paths, size_t n, struct err *err)
{
	int status = -1;

	model_init(&dash->model);
	if (load_formats(dash, err) == 0) {
		if (n > 0)
			dash->feed = feed_new(&dash->model, dash->formats,
					      &clock_real);
		if (n == 0 || open_paths(dash, paths, n, err) == 0)
			status = run_app(dash, err);
	}
	feed_free(dash->feed);
	model_release(&dash->model);
	format_set_free(dash->formats);
	return status;
}

int
dash_run(const struct cmd_env *env, char *const *paths, size_t n,
	 struct err *err)
{
	struct dash dash = { .env = env };
	const char *track;
	int status = -1;

	if (conf_load(&dash.conf, env->config_path, err))
		return -1;
	track = dash.conf.track != NULL ? dash.conf.track
					: "parameter-golf-10min";
	if (track_load(&dash.track, track, err) == 0) {
		status = run_with_track(&dash, paths, n, err);
		track_release(&dash.track);
	}
	conf_release(&dash.conf);
	return status;
}
