/* SPDX-License-Identifier: MIT */
/* The dashboard over logs on the command line or configured pods. */
#include "app/dash.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/app.h"
#include "app/bench.h"
#include "app/bench_feed.h"
#include "app/pod_checks.h"
#include "base/fd.h"
#include "harness/dir.h"
#include "harness/feed.h"
#include "ingest/ingest.h"
#include "ingest/parse_files.h"
#include "pods/discover.h"
#include "ui/ui.h"

#define BENCH_POLL_MS 1000

struct dash {
	struct context *context;
	struct model model;
	struct ingest *ingest;	      /* owned; NULL: nothing to show */
	struct harness_feed *harness; /* owned; while the loop runs */
	const char **harness_dirs;    /* owned; borrowed paths of the command line */
	size_t n_harness;
	struct scratch folder;	    /* for a log on standard input */
	char *input;		    /* owned; file of that log; NULL: none */
	pid_t copier;		    /* process that writes to `input` */
	struct bench_feed *benches; /* owned */
	struct pod_checks *checks;  /* owned; NULL until the first check */
	struct discover *discover;  /* owned; NULL with logs on the command line */
	int64_t benches_at_ms;	    /* mono clock, of the last poll */
	struct loop *loop;	    /* while it runs */
	struct ui *ui;		    /* while the loop runs */
};

bool dash_is_path(const char *word)
{
	return strcmp(word, "-") == 0 || strpbrk(word, "./*?[") != NULL || conf_place(word) > 0 ||
	       access(word, F_OK) == 0;
}

static bool is_busy(void *user)
{
	const struct dash *dash = user;

	return dash->ingest != NULL && ingest_is_busy(dash->ingest);
}

static bool poll_sources(void *user)
{
	struct dash *dash = user;
	int64_t now_ms = dash->context->clock->mono_ms(dash->context->clock);

	if (dash->benches_at_ms == 0 || now_ms - dash->benches_at_ms >= BENCH_POLL_MS) {
		bench_feed_poll(dash->benches);
		dash->benches_at_ms = now_ms;
	}
	return false;
}

/* Write the plan for a command of the screen: an audit, a filled form and so on. */
static char *compose_bench(void *user, const struct command *command, struct err *err)
{
	struct dash *dash = user;
	const struct bench_compose with = { dash->context, &dash->model, NULL };

	return bench_compose(&with, command, err);
}

/* Follow a copy of standard input ("-") that a child process writes; keys are read from /dev/tty.
 */
static int open_input(struct dash *dash, struct err *err)
{
	int keys = isatty(STDIN_FILENO) ? -1 : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	AUTO_TEXT name = NULL;

	if (keys < 0)
		return err_set(err, ERR_USAGE,
			       "\"-\" needs a log on standard input and a terminal");
	if (scratch_make(&dash->folder, "hgym-stdin", err) != 0) {
		(void)close(keys);
		return -1;
	}
	/* Runs are named after the folder of their log. */
	name = xasprintf("%s/stdin", dash->folder.path);
	(void)mkdir(name, 0700);
	dash->input = xasprintf("%s/stdin.log", name);
	int out = open(dash->input, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dash->copier = out >= 0 ? fork() : -1;
	if (dash->copier == 0) {
		char block[65536];
		ssize_t n;

		/* The folder is removed when the dashboard ends, not when this process does. */
		(void)close(dash->folder.fd);
		/* Keep reading when the disk is full: the writer must not block. */
		while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0)
			(void)fd_write_all(out, block, (size_t)n);
		_exit(0);
	}
	if (dash->copier > 0)
		(void)dup2(keys, STDIN_FILENO);
	else
		(void)err_set_errno(err, ERR_IO, "cannot write %s", dash->input);
	fd_close(&out);
	(void)close(keys);
	return dash->copier > 0 ? 0 : -1;
}

/* Open logs of the command line as runs of one pod, this machine. */
static int open_paths(struct dash *dash, char *const *argv, size_t n, struct err *err)
{
	size_t pod = model_pod_add(&dash->model, "here", "local"), opened = 0;
	struct log_paths paths = { 0 };
	const struct ingest_options options = {
		.clock = dash->context->clock,
		.model = &dash->model,
		.formats = dash->context->formats,
		.keep_view = true,
	};

	dash->ingest = ingest_new(&options, err);
	if (dash->ingest == NULL)
		return -1;
	model_pod_set_state(&dash->model, pod, POD_LIVE, NULL, 0);
	dash->harness_dirs = xcalloc(n, sizeof(*dash->harness_dirs));
	for (size_t i = 0; i < n; i++)
		if (harness_dir_is(argv[i], true))
			dash->harness_dirs[dash->n_harness++] = argv[i];
	log_paths_find(&paths, argv, n);
	/* A log that cannot be read is shown with its error; fail only if nothing can be shown. */
	for (size_t i = 0; i < paths.n; i++) {
		const char *path = paths.v[i].path;
		struct err why = { ERR_NONE, "" };

		if (paths.v[i].table)
			continue;
		if (ingest_add_file(dash->ingest, pod, path, false, &why) == 0) {
			model_log_get(&dash->model, pod, path)->is_named = paths.v[i].named;
			opened++;
			continue;
		}
		size_t len = strlen(path);
		bool is_named = strncmp(why.text, path, len) == 0 && why.text[len] == ':';

		model_log_set_trouble(&dash->model, pod, path, why.text + (is_named ? len + 2 : 0));
		model_event_addf(&dash->model, options.clock->wall_ms(options.clock), MODEL_WARNING,
				 pod, "%s", why.text);
		if (err->code == ERR_NONE)
			*err = why;
	}
	log_paths_release(&paths);
	if (opened > 0 || dash->n_harness > 0)
		*err = (struct err){ ERR_NONE, "" };
	else if (err->code == ERR_NONE)
		(void)err_set(err, ERR_NODATA, "no log files found in the given paths");
	return err->code == ERR_NONE ? 0 : -1;
}

static void add_event(void *user, enum model_severity severity, const char *text)
{
	struct dash *dash = user;
	const struct clock *clock = dash->context->clock;

	model_event_addf(&dash->model, clock->wall_ms(clock), severity, MODEL_NONE, "%s", text);
}

static void on_ask(void *user, const struct fleet_question *q)
{
	struct dash *dash = user;
	const char *pod = q->pod < dash->model.n_pods ? dash->model.pods[q->pod].name : "?";
	AUTO_TEXT text = NULL;

	if (q->ask == FLEET_ASK_PASSPHRASE)
		text = xasprintf("%s: enter the passphrase of the key %s.%s", pod, q->path,
				 q->again ? "\nThe last passphrase was wrong." : "");
	else
		text = xasprintf(
			"%s: the host key of %s is unknown.\n\n  %s  %s\n\nCompare it with the "
			"fingerprint your provider shows. Type yes to trust it.",
			pod, q->host, q->key_type, q->fingerprint);
	ui_ask(dash->ui, q->pod, text, q->ask == FLEET_ASK_PASSPHRASE);
}

/* Follow the HarnessGym directories of the configuration, either of this machine or of pods. */
static void follow_harness(struct dash *dash, bool local)
{
	const struct conf *conf = &dash->context->conf;

	array_each (pod, conf->pods, conf->n_pods) {
		size_t at = model_pod_find(&dash->model, pod->name);

		for (size_t k = 0; k < pod->harnessgym.n; k++) {
			const char *dir = pod->harnessgym.v[k];
			struct transport *transport;
			size_t index;

			if ((pod->transport == CONF_LOCAL) != local)
				continue;
			if (local) {
				harness_feed_local(dash->harness, dir);
				continue;
			}
			transport = ingest_transport(dash->ingest, at, &index);
			if (transport != NULL)
				harness_feed_pod(dash->harness, at, transport, index, dir);
		}
	}
}

/* Follow all HarnessGym directories; those of pods only if this process follows the pods. */
static void start_harness(struct dash *dash)
{
	dash->harness = harness_feed_new(dash->loop, &dash->model);
	follow_harness(dash, true);
	if (ingest_is_writer(dash->ingest))
		follow_harness(dash, false);
}

/* Called when this process takes over the pods from another dashboard or collector. */
static void on_writer(void *user)
{
	follow_harness(user, false);
}

static int start_paths(void *user, struct loop *loop, struct ui *ui, UNUSED struct err *err)
{
	struct dash *dash = user;

	dash->loop = loop;
	dash->ui = ui;
	ingest_use_loop(dash->ingest, loop);
	dash->harness = harness_feed_new(loop, &dash->model);
	for (size_t i = 0; i < dash->n_harness; i++)
		harness_feed_local(dash->harness, dash->harness_dirs[i]);
	return 0;
}

static int stop_sources(void *user, struct err *err)
{
	struct dash *dash = user;
	struct ingest *ingest = dash->ingest;

	harness_feed_free(dash->harness);
	dash->harness = NULL;
	pod_checks_free(dash->checks);
	dash->checks = NULL;
	discover_free(dash->discover);
	dash->discover = NULL;
	dash->ingest = NULL;
	return ingest_free(ingest, err);
}

static int start_collect(struct dash *dash, struct err *err)
{
	struct ingest_options options = {
		.loop = dash->loop,
		.model = &dash->model,
		.formats = dash->context->formats,
		.conf = &dash->context->conf,
		.db_path = dash->context->db_path,
		.copies_path = dash->context->folder.path,
		.cb = { add_event, on_ask, on_writer, dash },
		.keep_view = true,
		.read_only = dash->context->conf.n_pods == 0,
	};

	if (options.read_only && access(dash->context->db_path, F_OK) != 0)
		return 0;
	dash->ingest = ingest_new(&options, err);
	if (dash->ingest == NULL)
		return -1;
	start_harness(dash);
	return 0;
}

static void reconnect_pod(void *user, size_t pod)
{
	struct dash *dash = user;

	if (dash->ingest != NULL)
		ingest_reconnect(dash->ingest, pod);
}

static int check_pod(void *user, size_t pod, struct err *err)
{
	struct dash *dash = user;

	if (dash->checks == NULL)
		dash->checks = pod_checks_new(dash->loop, &dash->model, dash->context);
	return pod_checks_start(dash->checks, pod, err);
}

static void answer_pod(void *user, size_t pod, const char *text)
{
	struct dash *dash = user;

	if (dash->ingest != NULL)
		ingest_answer(dash->ingest, pod, text);
}

/* Follow the pods and HarnessGym directories of a changed configuration. */
static int follow_pods(struct dash *dash, struct err *err)
{
	harness_feed_free(dash->harness);
	dash->harness = NULL;
	if (dash->ingest == NULL)
		return start_collect(dash, err);
	ingest_reload(dash->ingest, &dash->context->conf);
	start_harness(dash);
	return 0;
}

static int reload_conf(void *user, char said[200], struct err *err)
{
	struct dash *dash = user;

	if (context_reload(dash->context, said, err) != 0)
		return -1;
	bench_feed_free(dash->benches);
	dash->benches = bench_feed_new(&dash->model, dash->context);
	dash->benches_at_ms = 0;
	if (dash->discover == NULL)
		return 0;
	discover_renew(dash->discover, &dash->context->conf);
	return follow_pods(dash, err);
}

static int on_answer(void *user, size_t i, struct str answer, struct err *err)
{
	struct dash *dash = user;

	if (context_discovered(dash->context, i, answer, err) != 0)
		return -1;
	discover_renew(dash->discover, &dash->context->conf);
	return follow_pods(dash, err);
}

static void on_discover(void *user, bool is_trouble, const char *text)
{
	add_event(user, is_trouble ? MODEL_WARNING : MODEL_INFO, text);
}

static int start_pods(void *user, struct loop *loop, struct ui *ui, struct err *err)
{
	struct dash *dash = user;
	const struct discover_cb cb = { on_answer, on_discover, dash };

	dash->loop = loop;
	dash->ui = ui;
	if (start_collect(dash, err) != 0)
		return -1;
	dash->discover = discover_new(loop, &dash->context->conf, &cb);
	return 0;
}

static int run_app(struct dash *dash, struct err *err)
{
	AUTO_TEXT dir = conf_dir_state();
	bool has_dir = dir != NULL && conf_make_dir(dir, NULL) == 0;
	AUTO_TEXT state_path = has_dir ? xasprintf("%s/alerts", dir) : NULL;
	struct app_setup setup = {
		.context = dash->context,
		.model = &dash->model,
		.track = &dash->context->track,
		.clock = dash->context->clock,
		.source = { .poll = poll_sources,
			    .busy = is_busy,
			    .stop = stop_sources,
			    .plan = compose_bench,
			    .reload = reload_conf,
			    .user = dash },
		.state_path = state_path,
	};

	if (dash->ingest != NULL) {
		setup.source.start = start_paths;
	} else {
		setup.source.start = start_pods;
		setup.source.reconnect = reconnect_pod;
		setup.source.check = check_pod;
		setup.source.answer = answer_pod;
	}
	return app_run(&setup, err);
}

int dash_run(struct context *context, char *const *paths, size_t n, struct err *err)
{
	struct dash dash = { .context = context };
	AUTO_FREE char **words = xcalloc(n + 1, sizeof(*words));
	int status = 0;

	model_init(&dash.model);
	dash.benches = bench_feed_new(&dash.model, context);
	for (size_t i = 0; i < n && status == 0; i++) {
		bool is_input = strcmp(paths[i], "-") == 0;

		if (is_input && dash.input == NULL)
			status = open_input(&dash, err);
		words[i] = is_input ? dash.input : paths[i];
	}
	if (status == 0 && n > 0)
		status = open_paths(&dash, words, n, err);
	if (status == 0)
		status = run_app(&dash, err);
	bench_feed_free(dash.benches);
	(void)ingest_free(dash.ingest, NULL);
	model_release(&dash.model);
	if (dash.copier > 0 && kill(dash.copier, SIGKILL) == 0)
		(void)waitpid(dash.copier, NULL, 0);
	if (dash.folder.path != NULL)
		scratch_remove(&dash.folder);
	free(dash.input);
	free(dash.harness_dirs);
	return status;
}
