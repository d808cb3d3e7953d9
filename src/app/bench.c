/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard defines, starts and stops. */
#include "app/bench.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "bench/harness_ab.h"
#include "bench/line.h"
#include "bench/make.h"
#include "bench/start.h"
#include "model/harness_view.h"

#define MAX_CHILDREN 16
#define MAX_LOGS     (4 * MAX_CHILDREN)
#define TAIL_BYTES   4096
#define EXIT_CHECK   3 /* exit status of a bench whose verdict is not a success */

struct watched {
	struct app_bench *owner;
	struct loop_child *child; /* NULL: not in use */
	char *log;		  /* owned; file with its standard error */
	int log_fd;		  /* -1: no file; holds the lock on it */
};

struct app_bench {
	struct loop *loop;
	struct model *model;
	const struct context *context;
	struct watched watched[MAX_CHILDREN];
	size_t next; /* entry to use next, the oldest */
};

struct app_bench *app_bench_new(struct loop *loop, struct model *model,
				const struct context *context)
{
	struct app_bench *bench =
		xnew(struct app_bench, .loop = loop, .model = model, .context = context);

	for (size_t i = 0; i < MAX_CHILDREN; i++)
		bench->watched[i].log_fd = -1;
	return bench;
}

static void release_watched(struct watched *watched)
{
	loop_child_close(watched->child);
	watched->child = NULL;
	xset_text(&watched->log, NULL);
	fd_close(&watched->log_fd);
}

void app_bench_free(struct app_bench *bench)
{
	if (bench == NULL)
		return;
	for (size_t i = 0; i < MAX_CHILDREN; i++)
		release_watched(&bench->watched[i]);
	free(bench);
}

void app_bench_kill(struct app_bench *bench)
{
	for (size_t i = 0; bench != NULL && i < MAX_CHILDREN; i++)
		if (bench->watched[i].child != NULL)
			loop_child_kill(bench->watched[i].child, SIGKILL);
}

/* Read the last line of a file that is not blank; its p is NULL if there is none. */
static struct str read_last_line(const char *path, char tail[TAIL_BYTES])
{
	FILE *file = path != NULL ? fopen(path, "re") : NULL;

	if (file == NULL)
		return (struct str){ NULL, 0 };
	if (fseek(file, -TAIL_BYTES, SEEK_END) != 0)
		rewind(file);
	size_t n = fread(tail, 1, TAIL_BYTES, file);
	(void)fclose(file);
	return str_last_line((struct str){ tail, n });
}

/* Report a bench that failed, with the last line of its standard error. */
static void on_bench_exit(void *user, int exit_status, int term_signal)
{
	struct watched *watched = user;
	char tail[TAIL_BYTES];

	watched->child = NULL;
	if (term_signal == 0 && exit_status != 0 && exit_status != EXIT_CHECK) {
		struct str line = read_last_line(watched->log, tail);
		AUTO_TEXT status = xasprintf("exited with status %d and no message", exit_status);

		line = line.p != NULL ? line : str_from(status);
		model_event_addf(watched->owner->model, clock_wall_ms(), MODEL_WARNING, MODEL_NONE,
				 "bench: %.*s", (int)line.len, line.p);
	}
	release_watched(watched);
}

/* Open a file for the standard error of a bench: the first one from `number` on that no bench
 * uses.  The bench inherits its lock, which reserves it until this dashboard has read it. */
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
	release_watched(watched);
	watched->owner = bench;
	open_log(watched, bench->next);
	fds[2] = watched->log_fd;
	watched->child = loop_child_new(bench->loop, argv, NULL, fds, on_bench_exit, watched, err);
	bench->next = (bench->next + 1) % MAX_CHILDREN;
	if (watched->child != NULL)
		return 0;
	release_watched(watched);
	return -1;
}

/* Read a bench file, or the definition of a bench by its id; `folder` gets its directory. */
static cJSON *read_definition(const char *name, char folder[PATH_MAX], struct err *err)
{
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE], real[PATH_MAX];
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_TEXT file = NULL;
	AUTO_PLAN plan = { .file = NULL };

	if (strchr(name, '/') != NULL) {
		file = xstrdup(name);
		if (realpath(name, real) == NULL)
			print_into(real, "%s", name);
	} else {
		if (bench_find(name, id, path, err) != 0 || bench_load_plan(&plan, path, err) != 0)
			return NULL;
		file = xasprintf("%s/bench.json", path);
		/* The plan's paths are relative to the file that the bench was started from. */
		print_into(real, "%s", plan.file);
	}
	char *slash = strrchr(real, '/');
	if (slash != NULL)
		*slash = '\0';
	(void)snprintf(folder, PATH_MAX, "%s", real);
	return json_parse_file(file, &text, err);
}

static cJSON *make_audit(const struct bench_compose *with, const struct command *command,
			 struct err *err)
{
	struct bench_audit audit = { .blocks = (double)NAN, .minutes = (double)NAN };
	AUTO_JSON definition = NULL;
	AUTO_BUF pods = buf_new(65536);
	char folder[PATH_MAX];

	if (command->name != NULL) {
		definition = read_definition(command->name, folder, err);
		if (definition == NULL)
			return NULL;
		bench_make_absolute(definition, folder);
	}
	if (command->text != NULL)
		buf_append_str(&pods, command->text);
	else
		json_each (pod, json_get(definition, "pods"))
			buf_appendf(&pods, "%s\n", json_get_string(pod, "id", ""));
	audit.definition = definition;
	audit.pods = pods.data;
	audit.probe = bench_probe_of(&with->context->conf, pods.data);
	return bench_make_audit(&audit, &with->context->conf, err);
}

static cJSON *make_on_pods(const struct bench_compose *with, const struct command *command,
			   struct err *err)
{
	char folder[PATH_MAX];
	cJSON *root = read_definition(command->name, folder, err), *pods;

	if (root == NULL)
		return NULL;
	bench_make_absolute(root, folder);
	pods = bench_make_pods(root, command->text, &with->context->conf, err);
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
	cJSON *root = form != NULL ? bench_make_form(form, &with->context->conf, err) : NULL;
	AUTO_NOISE reg = { .n = 0 };

	/* With "auto", drop the A/A arm if the noise is known. With "no" there is none to drop. */
	if (root != NULL && json_get_string(form, "aa", "")[0] != 'y' &&
	    noise_register_load(&reg, with->context, NULL) == 0)
		bench_use_known_noise(root, &reg);
	return root;
}

/* Compare the best checkpoint of a HarnessGym run with its workspace, or compare trials. */
static cJSON *make_harness(const struct bench_compose *with, const struct command *command,
			   struct err *err)
{
	const struct harness_view *view = with->model->harness;
	const char *colon = strchr(command->name, ':');
	struct harness_ab ab = { .settings = command->id == COMMAND_BENCH_SETTINGS };
	bool of_trials = command->text[0] == '\0';
	AUTO_TEXT pod = NULL;
	AUTO_TEXT workspace = NULL;
	char real[PATH_MAX];

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
		err_set(err, ERR_NODATA, "run %s no longer exists", command->text);
		return NULL;
	}
	if (colon != NULL)
		pod = xstrndup(command->name, (size_t)(colon - command->name));
	if (pod != NULL && conf_find_pod(&with->context->conf, pod) >= 0)
		ab.pod = pod;
	/* The workspace is the path up to ".harnessgym", absolute if it is on this machine. */
	const char *dir = ab.pod != NULL ? colon + 1 : command->name;
	const char *end = strstr(dir, "/.harnessgym");
	workspace = end != NULL ? xstrndup(dir, (size_t)(end - dir)) : xstrdup(dir);
	if (ab.pod == NULL && realpath(workspace, real) != NULL)
		xset_text(&workspace, xstrdup(real));
	ab.workspace = workspace;
	cJSON *root = harness_ab_json(&ab, err);
	if (root != NULL && ab.pod != NULL) {
		double usd = with->context->conf.pods[conf_find_pod(&with->context->conf, ab.pod)]
				     .usd_per_hour;

		if (!isnan(usd))
			json_add_number(cJSON_GetArrayItem(json_get(root, "pods"), 0), "usd_per_h",
					usd);
	}
	return root;
}

/* Check the definition and save it as a plan; returns its path, owned. */
static char *save_plan(const cJSON *root, struct err *err)
{
	AUTO_TEXT state = conf_dir_state();
	AUTO_TEXT folder = xasprintf("%s/plans", state);
	AUTO_TEXT name = xasprintf("%.40s.json", json_get_string(root, "name", "bench"));
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	AUTO_PLAN plan = { .file = NULL };

	json_print(&text, root);
	buf_append_char(&text, '\n');
	if (plan_parse(&plan, name, buf_str(&text), err) != 0 || conf_make_dir(folder, err) != 0 ||
	    folder_write(folder, name, buf_str(&text), err) != 0)
		return NULL;
	return xasprintf("%s/%s", folder, name);
}

char *bench_compose(const struct bench_compose *with, const struct command *command,
		    struct err *err)
{
	AUTO_JSON root = command->id == COMMAND_BENCH_AUDIT  ? make_audit(with, command, err)
			 : command->id == COMMAND_BENCH_PODS ? make_on_pods(with, command, err)
			 : command->id == COMMAND_BENCH_FORM ? make_from_form(with, command, err)
							     : make_harness(with, command, err);

	if (root == NULL)
		return NULL;
	const cJSON *pods = json_get(root, "pods");
	for (int i = 0; with->lock_root != NULL && i < cJSON_GetArraySize(pods); i++) {
		cJSON *pod = cJSON_GetArrayItem(pods, i);
		AUTO_TEXT path =
			xasprintf("%s/%s", with->lock_root, json_get_string(pod, "id", "pod"));

		(void)mkdir(path, 0700);
		cJSON_DeleteItemFromObjectCaseSensitive(pod, "lock_dir");
		json_add_string(pod, "lock_dir", path);
	}
	return save_plan(root, err);
}
