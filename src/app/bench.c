/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard defines, starts and stops. */
#include "app/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/harness_ab.h"
#include "bench/line.h"
#include "bench/make.h"
#include "bench/plan.h"
#include "conf/conf.h"
#include "harness/dir.h"
#include "model/harness_view.h"

#define MAX_CHILDREN 16
#define MAX_LOGS     (4 * MAX_CHILDREN)
#define TAIL_BYTES   4096
/* What a bench ends with whose verdict is no good news. */
#define EXIT_CHECK 3

struct watched {
	struct app_bench *owner;
	struct loop_child *child; /* NULL: free */
	char *log;		  /* owned; file with its standard error */
	int log_fd;		  /* -1: no file; holds the lock on it */
};

struct app_bench {
	struct loop *loop;
	struct model *model;
	const struct context *context;
	struct watched watched[MAX_CHILDREN];
	size_t next; /* the oldest makes room */
};

struct app_bench *app_bench_new(struct loop *loop, struct model *model,
				const struct context *context)
{
	struct app_bench *bench = xcalloc(1, sizeof(*bench));

	bench->loop = loop;
	bench->model = model;
	bench->context = context;
	for (size_t i = 0; i < MAX_CHILDREN; i++)
		bench->watched[i].log_fd = -1;
	return bench;
}

static void forget(struct watched *watched)
{
	if (watched->child != NULL)
		loop_child_close(watched->child);
	watched->child = NULL;
	free(watched->log);
	watched->log = NULL;
	if (watched->log_fd >= 0)
		(void)close(watched->log_fd);
	watched->log_fd = -1;
}

void app_bench_free(struct app_bench *bench)
{
	if (bench == NULL)
		return;
	for (size_t i = 0; i < MAX_CHILDREN; i++)
		forget(&bench->watched[i]);
	free(bench);
}

void app_bench_kill(struct app_bench *bench)
{
	for (size_t i = 0; bench != NULL && i < MAX_CHILDREN; i++)
		if (bench->watched[i].child != NULL)
			loop_child_kill(bench->watched[i].child, SIGKILL);
}

/* The last line of a file that is not empty; "" when there is none. */
static void last_line(const char *path, char out[TAIL_BYTES])
{
	FILE *file = fopen(path, "re");
	size_t n = 0;

	out[0] = '\0';
	if (file == NULL)
		return;
	if (fseek(file, -(long)(TAIL_BYTES - 1), SEEK_END) != 0)
		rewind(file);
	n = fread(out, 1, TAIL_BYTES - 1, file);
	(void)fclose(file);
	while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == ' '))
		n--;
	out[n] = '\0';
	char *line = strrchr(out, '\n');
	if (line != NULL)
		memmove(out, line + 1, strlen(line));
}

/* One that failed is told, by the last that it said. */
static void on_exit_of(void *user, int exit_status, int term_signal)
{
	struct watched *watched = user;
	struct model_event event = {
		.wall_ms = clock_wall_ms(),
		.severity = MODEL_WARNING,
		.pod = MODEL_NONE,
	};
	char line[TAIL_BYTES];

	watched->child = NULL;
	if (term_signal == 0 && exit_status != 0 && exit_status != EXIT_CHECK) {
		line[0] = '\0';
		if (watched->log != NULL)
			last_line(watched->log, line);
		AUTO_TEXT text = xasprintf("bench: %s", line[0] != '\0' ? line : "it failed");
		event.text = text;
		model_event_add(watched->owner->model, &event);
	}
	forget(watched);
}

/*
 * Open a file for the standard error of a bench, of the first number from `number` on whose file no
 * other bench uses, be it of this dashboard or of another one.  The bench inherits the lock on its
 * file: it ends when the bench has exited and this dashboard has read the file.
 */
static void open_log(struct watched *watched, size_t number)
{
	AUTO_TEXT state = conf_dir_state();

	if (conf_make_dir(state, NULL) != 0)
		return;
	for (size_t i = 0; watched->log_fd < 0 && i < MAX_LOGS; i++) {
		AUTO_TEXT path = xasprintf("%s/bench-%zu.log", state, (number + i) % MAX_LOGS);
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0)
			continue;
		if ((flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
		    ftruncate(fd, 0) != 0) {
			(void)close(fd);
			continue;
		}
		watched->log_fd = fd;
		watched->log = xstrdup(path);
	}
}

int app_bench_launch(struct app_bench *bench, const char *plan, const char *stop_id,
		     struct err *err)
{
	struct watched *watched = &bench->watched[bench->next];
	int fds[3] = { -1, -1, -1 };
	const char *argv[CONTEXT_ARGV + 5];
	size_t n = context_argv(bench->context, argv);

	argv[n++] = "bench";
	argv[n++] = plan != NULL ? "run" : bench_is_over(stop_id) ? "stop" : "abort";
	if (plan != NULL)
		argv[n++] = "--yes";
	argv[n++] = plan != NULL ? plan : stop_id;
	argv[n] = NULL;
	forget(watched);
	watched->owner = bench;
	open_log(watched, bench->next);
	fds[2] = watched->log_fd;
	watched->child = loop_child_new(bench->loop, argv, NULL, fds, on_exit_of, watched, err);
	bench->next = (bench->next + 1) % MAX_CHILDREN;
	if (watched->child != NULL)
		return 0;
	forget(watched);
	return -1;
}

/* A bench file, or that of the bench with that id; its folder in `folder`. */
static cJSON *read_definition(const char *name, char folder[PATH_MAX], struct err *err)
{
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE], real[PATH_MAX];
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_TEXT file = NULL;
	struct plan plan;

	if (strchr(name, '/') != NULL) {
		file = xstrdup(name);
		if (realpath(name, real) == NULL)
			print_into(real, "%s", name);
	} else {
		if (bench_find(name, id, path, err) != 0 || bench_load_plan(&plan, path, err) != 0)
			return NULL;
		file = xasprintf("%s/bench.json", path);
		/* Its files are named relative to where it lay once. */
		print_into(real, "%s", plan.file);
		plan_release(&plan);
	}
	char *slash = strrchr(real, '/');
	if (slash != NULL)
		*slash = '\0';
	(void)snprintf(folder, PATH_MAX, "%s", real);
	return json_parse_file(file, &text, err);
}

/* The pods that a definition names itself, a line each; owned. */
static char *own_pods(const cJSON *definition)
{
	AUTO_BUF names = buf_new(65536);

	json_each (pod, json_get(definition, "pods"))
		buf_appendf(&names, "%s\n", json_get_string(pod, "id", ""));
	return buf_detach(&names);
}

static cJSON *make_audit(const struct bench_compose *with, const struct command *command,
			 struct err *err)
{
	struct bench_audit audit = { .blocks = (double)NAN, .minutes = (double)NAN };
	AUTO_JSON definition = NULL;
	AUTO_TEXT pods = NULL;
	char folder[PATH_MAX];

	if (command->name != NULL) {
		definition = read_definition(command->name, folder, err);
		if (definition == NULL)
			return NULL;
		bench_make_absolute(definition, folder);
	}
	pods = command->text != NULL ? xstrdup(command->text) : own_pods(definition);
	audit.definition = definition;
	audit.pods = pods;
	audit.probe = bench_probe_of(with->conf, pods);
	return bench_make_audit(&audit, with->conf, err);
}

static cJSON *make_on_pods(const struct bench_compose *with, const struct command *command,
			   struct err *err)
{
	char folder[PATH_MAX];
	cJSON *root = read_definition(command->name, folder, err), *pods;

	if (root == NULL)
		return NULL;
	bench_make_absolute(root, folder);
	pods = bench_make_pods(root, command->text, with->conf, err);
	if (pods == NULL) {
		cJSON_Delete(root);
		return NULL;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(root, "pods");
	cJSON_AddItemToObject(root, "pods", pods);
	return root;
}

static cJSON *make_from_form(const struct bench_compose *with, const struct command *command,
			     struct err *err)
{
	AUTO_JSON form = json_parse(str_from(command->text), JSON_BARE_REFUSED, err);

	return form != NULL ? bench_make_form(form, with->conf, err) : NULL;
}

/* The path up to its ".harnessgym", absolute where it is of this machine. */
static char *workspace_of(const char *dir, bool local)
{
	const char *at = strstr(dir, "/.harnessgym");
	AUTO_TEXT path = at != NULL ? xstrndup(dir, (size_t)(at - dir)) : xstrdup(dir);
	char real[PATH_MAX];

	return xstrdup(local && realpath(path, real) != NULL ? real : path);
}

/* What the pod costs, where the configuration says so. */
static void add_price(cJSON *root, const struct conf *conf, const char *name)
{
	double usd = conf->pods[conf_find_pod(conf, name)].usd_per_hour;
	const cJSON *pods = json_get(root, "pods");

	if (!isnan(usd))
		json_add_number(cJSON_GetArrayItem(pods, 0), "usd_per_h", usd);
}

/* The best of a HarnessGym run against its workspace, or trials. */
static cJSON *make_harness(const struct bench_compose *with, const struct command *command,
			   struct err *err)
{
	const struct harness_view *view = with->model->harness;
	const char *colon = strchr(command->name, ':');
	struct harness_ab ab = { .settings = command->id == COMMAND_BENCH_SETTINGS };
	bool of_trials = command->text[0] == '\0';
	AUTO_TEXT pod = NULL;
	AUTO_TEXT workspace = NULL;

	for (size_t i = 0; view != NULL && i < view->n; i++) {
		const struct harness_place *place = &view->places[i];

		if (strcmp(place->title, command->name) != 0 || !place->read ||
		    place->is_compare != of_trials)
			continue;
		if (of_trials)
			ab.compare = &place->compare;
		for (size_t k = 0; !of_trials && k < place->ws.n_runs; k++)
			if (strcmp(place->ws.runs[k].id, command->text) == 0)
				ab.run = &place->ws.runs[k];
	}
	if (ab.run == NULL && ab.compare == NULL) {
		err_set(err, ERR_NODATA, "the run %s is gone", command->text);
		return NULL;
	}
	if (colon != NULL)
		pod = xstrndup(command->name, (size_t)(colon - command->name));
	if (pod != NULL && conf_find_pod(with->conf, pod) >= 0)
		ab.pod = pod;
	workspace = workspace_of(ab.pod != NULL ? colon + 1 : command->name, ab.pod == NULL);
	ab.workspace = workspace;
	ab.same = ab.pod == NULL ? harness_dir_same : NULL;
	cJSON *root = harness_ab_json(&ab, err);
	if (root != NULL && ab.pod != NULL)
		add_price(root, with->conf, ab.pod);
	return root;
}

/* A lock folder of its own for each pod. */
static void set_locks(cJSON *root, const char *lock_root)
{
	cJSON *pod;

	cJSON_ArrayForEach(pod, cJSON_GetObjectItemCaseSensitive(root, "pods"))
	{
		AUTO_TEXT path = xasprintf("%s/%s", lock_root, json_get_string(pod, "id", "pod"));

		(void)mkdir(path, 0700);
		cJSON_DeleteItemFromObjectCaseSensitive(pod, "lock_dir");
		json_add_string(pod, "lock_dir", path);
	}
}

/* Write the definition where it can be run from. */
static char *keep(const cJSON *root, struct err *err)
{
	AUTO_TEXT state = conf_dir_state();
	AUTO_TEXT folder = xasprintf("%s/plans", state);
	AUTO_TEXT name = xasprintf("%.40s.json", json_get_string(root, "name", "bench"));
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	struct plan plan;

	json_print(&text, root);
	buf_append_char(&text, '\n');
	if (plan_parse(&plan, name, buf_str(&text), err) != 0)
		return NULL;
	plan_release(&plan);
	if (conf_make_dir(folder, err) != 0 || folder_write(folder, name, buf_str(&text), err) != 0)
		return NULL;
	return xasprintf("%s/%s", folder, name);
}

char *bench_compose(const struct bench_compose *with, const struct command *command,
		    struct err *err)
{
	static const struct {
		enum command_id id;
		cJSON *(*make)(const struct bench_compose *with, const struct command *command,
			       struct err *err);
	} makers[] = {
		{ COMMAND_BENCH_AUDIT, make_audit },	  { COMMAND_BENCH_PODS, make_on_pods },
		{ COMMAND_BENCH_FORM, make_from_form },	  { COMMAND_BENCH_RUN, make_harness },
		{ COMMAND_BENCH_SETTINGS, make_harness },
	};
	AUTO_JSON root = NULL;

	for (size_t i = 0; i < LENGTH(makers); i++)
		if (makers[i].id == command->id)
			root = makers[i].make(with, command, err);
	if (root == NULL)
		return NULL;
	if (with->lock_root != NULL)
		set_locks(root, with->lock_root);
	return keep(root, err);
}
