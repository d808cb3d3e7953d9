/* SPDX-License-Identifier: MIT */
/* The results folders of benches on this machine. */
#include "bench/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "conf/conf.h"

#define MAX_SAME_SECOND 100
#define MAX_BENCHES	10000

int folder_create(const char *base, const char *name, int64_t now_ms, char id[FOLDER_ID_SIZE],
		  char path[FOLDER_PATH_SIZE], struct err *err)
{
	time_t now = (time_t)(now_ms / 1000);
	char stamp[32], runs[FOLDER_PATH_SIZE + 8];
	struct tm tm;

	if (conf_make_dir(base, err) != 0)
		return -1;
	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (int i = 1; i <= MAX_SAME_SECOND; i++) {
		(void)snprintf(id, FOLDER_ID_SIZE, i > 1 ? "%s-%s-%d" : "%s-%s", name, stamp, i);
		(void)snprintf(path, FOLDER_PATH_SIZE, "%s/%s", base, id);
		if (mkdir(path, 0700) == 0) {
			print_into(runs, "%s/runs", path);
			return conf_make_dir(runs, err);
		}
		if (errno != EEXIST)
			break;
	}
	return err_set_errno(err, ERR_IO, "cannot create %s", path);
}

int folder_lock(const char *path, int *fd, struct err *err)
{
	char name[FOLDER_PATH_SIZE + 8];

	print_into(name, "%s/lock", path);
	*fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return err_set_errno(err, ERR_IO, "cannot open %s", name);
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	(void)close(*fd);
	*fd = -1;
	return err_set(err, ERR_CHECK, "another hgym-tui is running this bench (%s)", path);
}

int folder_write(const char *path, const char *name, struct str text, struct err *err)
{
	char file[FOLDER_PATH_SIZE];

	print_into(file, "%s/%s", path, name);
	if (conf_make_dir_of(file, err) != 0)
		return -1;
	return file_replace(file, text, err);
}

int folder_write_json(const char *path, const char *name, const cJSON *node, struct err *err)
{
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	json_print(&text, node);
	buf_append_char(&text, '\n');
	return folder_write(path, name, buf_str(&text), err);
}

cJSON *folder_read_json(const char *path, const char *name)
{
	char file[FOLDER_PATH_SIZE];
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	print_into(file, "%.3800s/%s", path, name);
	return json_parse_file(file, &text, NULL);
}

uint64_t folder_size(const char *path, const char *name)
{
	char file[FOLDER_PATH_SIZE];
	struct stat st;

	print_into(file, "%s/%s", path, name);
	return stat(file, &st) == 0 ? (uint64_t)st.st_size : 0;
}

int folder_append(const char *path, const char *name, struct str data, struct err *err)
{
	char file[FOLDER_PATH_SIZE];

	print_into(file, "%s/%s", path, name);
	if (conf_make_dir_of(file, err) != 0)
		return -1;
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set_errno(err, ERR_IO, "cannot write %s", file);
	bool good = fd_write_all(fd, data.p, data.len) == 0;
	good = close(fd) == 0 && good;
	return good ? 0 : err_set_errno(err, ERR_IO, "cannot write %s", file);
}

void folder_remove(const char *path, const char *name)
{
	char file[FOLDER_PATH_SIZE];

	print_into(file, "%s/%s", path, name);
	(void)unlink(file);
}

static const struct json_field state_fields[] = {
	JSON_CHARS("name", folder_state, name),
	JSON_CHARS("state", folder_state, state),
	JSON_CHARS("stopped", folder_state, stopped),
	JSON_ROW("started_ms", INTEGER, folder_state, started_ms, .high = 1e15),
	JSON_ROW("ended_ms", INTEGER, folder_state, ended_ms, .high = 1e15),
	JSON_ROW("cost_usd", NUMBER, folder_state, cost_usd, .high = 1e9),
	{ .name = NULL },
};

int folder_write_state(const char *path, const struct folder_state *state, struct err *err)
{
	AUTO_JSON root = cJSON_CreateObject();

	json_add_string(root, "schema", "hgym-tui.bench-state/1");
	json_write_object(root, state_fields, state);
	return folder_write_json(path, "state.json", root, err);
}

bool folder_read_state(const char *path, struct folder_state *state)
{
	AUTO_JSON root = folder_read_json(path, "state.json");
	bool is_there = root != NULL;

	*state = (struct folder_state){ .cost_usd = (double)NAN };
	json_read_known(state_fields, root, state);
	return is_there;
}

struct entry {
	char *id;
	int64_t started_ms;
};

static int newest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->started_ms != y->started_ms)
		return x->started_ms < y->started_ms ? 1 : -1;
	return strcmp(y->id, x->id);
}

char **folder_list(const char *base, size_t *n)
{
	struct entry *entries = NULL;
	size_t cap = 0, count = 0;
	DIR *dir = opendir(base);
	struct dirent *found;
	char **ids;

	while (dir != NULL && count < MAX_BENCHES && (found = readdir(dir)) != NULL) {
		char path[FOLDER_PATH_SIZE];
		struct folder_state state;

		print_into(path, "%s/%s", base, found->d_name);
		if (found->d_name[0] == '.' || !folder_read_state(path, &state))
			continue;
		xpush(entries, count, cap,
		      (struct entry){ xstrdup(found->d_name), state.started_ms });
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (count > 1)
		qsort(entries, count, sizeof(*entries), newest_first);
	ids = xcalloc(count + 1, sizeof(*ids));
	for (size_t i = 0; i < count; i++)
		ids[i] = entries[i].id;
	free(entries);
	*n = count;
	return ids;
}

#define STOPPED_FILE "pods-stopped"

char *bench_base(void)
{
	AUTO_TEXT state = conf_dir_state();

	return xasprintf("%s/benches", state);
}

int bench_find(const char *word, char id[FOLDER_ID_SIZE], char path[FOLDER_PATH_SIZE],
	       struct err *err)
{
	AUTO_TEXT base = bench_base();
	AUTO_BUF matches = buf_new(300);
	size_t n, n_found = 0;
	char **ids = folder_list(base, &n);
	bool is_exact = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_exact && strncmp(ids[i], word, strlen(word)) == 0) {
			buf_appendf(&matches, "%s%s", n_found++ > 0 ? ", " : "", ids[i]);
			is_exact = strcmp(ids[i], word) == 0;
			(void)snprintf(id, FOLDER_ID_SIZE, "%s", ids[i]);
			(void)snprintf(path, FOLDER_PATH_SIZE, "%s/%s", base, id);
		}
		free(ids[i]);
	}
	free(ids);
	if (is_exact || n_found == 1)
		return 0;
	if (n_found == 0)
		return err_set(err, ERR_NODATA, "no bench \"%s\"; see hgym-tui bench list", word);
	return err_set(err, ERR_NODATA, "\"%s\" matches several benches: %s", word, matches.data);
}

int bench_load_plan(struct plan *plan, const char *path, struct err *err)
{
	char file[FOLDER_PATH_SIZE + 16];

	print_into(file, "%s/bench.json", path);
	if (plan_load(plan, file, err) != 0)
		return -1;
	/* Paths of files that variants ship are relative to the original definition. */
	cJSON *source = folder_read_json(path, "source.json");
	if (source != NULL) {
		free(plan->file);
		plan->file = xstrdup(json_get_string(source, "file", file));
		cJSON_Delete(source);
	}
	return 0;
}

static bool is_running(const char *path)
{
	struct folder_state state;

	return folder_read_state(path, &state) && strcmp(state.state, "running") == 0;
}

char *bench_pods_left_running(const struct plan *plan, const char *path)
{
	AUTO_BUF out = buf_new(8192);

	if (plan->stop_pods || is_running(path) || folder_size(path, STOPPED_FILE) > 0)
		return NULL;
	array_each (pod, plan->pods, plan->n_pods) {
		if (pod->stop_cmd == NULL)
			continue;
		buf_appendf(&out, "%s%s", out.len > 0 ? ", " : "", pod->id);
		if (!isnan(pod->usd_per_h))
			buf_appendf(&out, " (%.2f USD an hour)", pod->usd_per_h);
	}
	return out.len > 0 ? buf_detach(&out) : NULL;
}

int bench_record_pods_stopped(const char *path, struct err *err)
{
	return folder_write(path, STOPPED_FILE, (struct str){ "1\n", 2 }, err);
}

bool bench_is_over(const char *id)
{
	char whole[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];

	return bench_find(id, whole, path, NULL) == 0 && !is_running(path);
}
