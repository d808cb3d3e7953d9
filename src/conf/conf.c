/* SPDX-License-Identifier: MIT */
/*
 * The configuration file to struct conf: the top level, defaults, and where
 * it is looked for.  Called by every command that knows pods or tracks.
 */
#include "config.h"

#include "conf/conf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "conf/read.h"

static const struct json_key top_keys[] = {
	{ "schema", JSON_STRING },
	{ "track", JSON_STRING },
	{ "tracks", JSON_ARRAY },
	{ "pods", JSON_ARRAY },
	{ "groups", JSON_OBJECT },
	{ "baseline", JSON_OBJECT },
	{ "formats", JSON_ARRAY },
	{ "benches", JSON_ARRAY },
	{ "alerts", JSON_OBJECT },
	{ "keys", JSON_OBJECT },
	{ "ui", JSON_OBJECT },
	{ "db", JSON_STRING },
	{ "mirror_cap_bytes", JSON_INTEGER },
	{ "telemetry_s", JSON_NUMBER },
	{ NULL, 0 },
};

/* The keys of the top level that are one value or one list. */
static int
take_top(struct conf_reader *l, const cJSON *root)
{
	static const double telemetry[2] = { 1, 3600 };
	static const double mirror[2] = { 1e6, 1e15 };
	const char *schema = json_get_string(root, "schema", CONF_SCHEMA);
	struct conf *conf = l->conf;
	double cap = (double)conf->mirror_cap_bytes;

	if (strcmp(schema, CONF_SCHEMA) != 0)
		return json_fail(&l->at, "schema", l->err,
				 "expected \"" CONF_SCHEMA "\"");
	conf->track = conf_take_string(root, "track");
	conf->db = conf_take_path(l, root, "db");
	if (conf_take_strings(l, conf_member(root, "tracks"), "tracks", true,
			      &conf->tracks) != 0 ||
	    conf_take_strings(l, conf_member(root, "formats"), "formats", true,
			      &conf->formats) != 0 ||
	    conf_take_strings(l, conf_member(root, "benches"), "benches", true,
			      &conf->benches) != 0 ||
	    conf_take_number(l, root, "telemetry_s", telemetry,
			     &conf->telemetry_s) != 0 ||
	    conf_take_number(l, root, "mirror_cap_bytes", mirror, &cap) != 0)
		return -1;
	conf->mirror_cap_bytes = (int64_t)cap;
	return 0;
}

static int
take_all(struct conf_reader *l, const cJSON *root)
{
	if (json_check_keys(&l->at, root, "", top_keys, l->err) != 0 ||
	    take_top(l, root) != 0 ||
	    conf_take_pods(l, conf_member(root, "pods")) != 0 ||
	    conf_take_groups(l, conf_member(root, "groups")) != 0 ||
	    conf_take_baseline(l, conf_member(root, "baseline")) != 0 ||
	    conf_take_alerts(l, conf_member(root, "alerts")) != 0 ||
	    conf_take_keys(l, conf_member(root, "keys")) != 0)
		return -1;
	return conf_take_ui(l, conf_member(root, "ui"));
}

/* The folder that relative paths of this file belong to, absolute; owned. */
static char *
folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash == NULL   ? xstrdup(".")
		    : slash == file ? xstrdup("/")
				    : xstrndup(file, (size_t)(slash - file));
	char *real = realpath(dir, NULL);

	if (real == NULL)
		return dir;
	free(dir);
	return real;
}

int
conf_parse(struct conf *conf, const char *file, struct str text,
	   struct err *err)
{
	struct conf_reader l = { { file, text, ERR_CONFIG }, conf, NULL, err };
	struct err bad = { ERR_NONE, "" };
	cJSON *root = json_parse(l.at.text, false, &bad);
	const char *rest = bad.text;
	char *dir;
	int rc;

	if (root == NULL) {
		/* "line 3: .." becomes "file:3: ..". */
		if (strncmp(rest, "line ", 5) == 0)
			return err_set(err, ERR_CONFIG, "%s:%s", file,
				       rest + 5);
		return err_set(err, ERR_CONFIG, "%s: %s", file, rest);
	}
	conf_init(conf);
	dir = folder_of(file);
	l.dir = dir;
	rc = take_all(&l, root);
	free(dir);
	cJSON_Delete(root);
	if (rc != 0)
		conf_release(conf);
	else
		conf->path = xstrdup(file);
	return rc;
}

void
conf_init(struct conf *conf)
{
	*conf = (struct conf){
		.group_by = CONF_BY_DIRNAME,
		.baseline.nats_per_bpb = (double)NAN,
		.alerts = { .stall = CONF_STALL_AUTO, .bell = true },
		.ui = { .mouse = true, .utc = true, .log_colors = true },
		.mirror_cap_bytes = INT64_C(20000000000),
		.telemetry_s = 5,
	};
}

static void
release_strings(struct conf_strings *strings)
{
	for (size_t i = 0; i < strings->n; i++)
		free(strings->v[i]);
	free(strings->v);
}

static void
release_pod(struct conf_pod *pod)
{
	free(pod->name);
	free(pod->ssh);
	free(pod->identity);
	free(pod->known_hosts);
	free(pod->proxy_jump);
	free(pod->remote_root);
	free(pod->gpus);
	release_strings(&pod->logs);
	release_strings(&pod->harnessgym);
}

void
conf_release(struct conf *conf)
{
	for (size_t i = 0; i < conf->n_pods; i++)
		release_pod(&conf->pods[i]);
	for (size_t i = 0; i < conf->n_keys; i++) {
		free(conf->keys[i].action);
		free(conf->keys[i].key);
	}
	free(conf->pods);
	free(conf->keys);
	free(conf->path);
	free(conf->track);
	free(conf->group_pattern);
	free(conf->baseline.name);
	free(conf->baseline.bpb);
	free(conf->baseline.val_loss);
	free(conf->baseline.file);
	free(conf->alerts.command);
	free(conf->ui.charset);
	free(conf->ui.color);
	free(conf->ui.theme);
	free(conf->db);
	release_strings(&conf->tracks);
	release_strings(&conf->formats);
	release_strings(&conf->benches);
	conf_init(conf);
}

int
conf_find_pod(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->n_pods; i++)
		if (strcmp(conf->pods[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool
conf_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
conf_same_strings(const struct conf_strings *a, const struct conf_strings *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

bool
conf_pod_same_link(const struct conf_pod *a, const struct conf_pod *b)
{
	return a->transport == b->transport &&
	       conf_same_text(a->name, b->name) &&
	       conf_same_text(a->ssh, b->ssh) &&
	       conf_same_text(a->identity, b->identity) &&
	       conf_same_text(a->known_hosts, b->known_hosts) &&
	       conf_same_text(a->proxy_jump, b->proxy_jump);
}

static const char *
env_text(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Add the pod that HarnessGym's own variables describe. */
static int
add_environment_pod(struct conf *conf, struct err *err)
{
	const char *host = env_text("HARNESSGYM_GPU_HOST");
	const char *port = env_text("HARNESSGYM_GPU_PORT");
	const char *key = env_text("HARNESSGYM_GPU_KEY");
	const char *root = env_text("HARNESSGYM_GPU_REMOTE_ROOT");
	struct conf_pod pod = { .usd_per_hour = (double)NAN };
	int64_t number = 0;

	if (host == NULL || conf_find_pod(conf, "harnessgym") >= 0)
		return 0;
	if (host[0] == '-' || host[strcspn(host, " \t\r\n")] != '\0')
		return err_set(err, ERR_CONFIG,
			       "HARNESSGYM_GPU_HOST: expected [user@]host");
	if (port != NULL && (!str_to_i64(str_from(port), &number) ||
			     number < 1 || number > 65535))
		return err_set(err, ERR_CONFIG,
			       "HARNESSGYM_GPU_PORT: expected a port from 1 "
			       "to 65535");
	if (conf->pods == NULL)
		conf->pods = xcalloc(1, sizeof(*conf->pods));
	pod.name = xstrdup("harnessgym");
	pod.ssh = port != NULL ? xasprintf("%s:%s", host, port) : xstrdup(host);
	pod.identity = key != NULL ? conf_expand_home(key) : NULL;
	pod.remote_root =
		xstrdup(root != NULL ? root : "/root/harnessgym_remote");
	pod.harnessgym.v = xcalloc(2, sizeof(*pod.harnessgym.v));
	pod.harnessgym.v[pod.harnessgym.n++] =
		xasprintf("%s/*", pod.remote_root);
	pod.logs.v = xcalloc(1, sizeof(*pod.logs.v));
	pod.gpus = xcalloc(1, sizeof(*pod.gpus));
	conf->pods[conf->n_pods++] = pod;
	return 0;
}

static int
load_file(struct conf *conf, const char *file, struct err *err)
{
	struct err bad = { ERR_NONE, "" };
	struct buf text;
	cJSON *root;
	int rc;

	buf_init(&text, JSON_MAX_BYTES);
	root = json_parse_file(file, &text, &bad);
	cJSON_Delete(root);
	/* Not readable at all; what is wrong inside conf_parse says. */
	if (root == NULL && bad.code != ERR_PARSE)
		rc = err_set(err, ERR_CONFIG, "%s", bad.text);
	else
		rc = conf_parse(conf, file, (struct str){ text.data, text.len },
				err);
	buf_release(&text);
	return rc;
}

int
conf_load(struct conf *conf, const char *path, struct err *err)
{
	char *dir = conf_dir_config();
	char *usual = xasprintf("%s/config.json", dir);
	int rc = 0;

	free(dir);
	if (path == NULL)
		path = env_text("HGYM_TUI_CONFIG");
	if (path != NULL)
		rc = load_file(conf, path, err);
	else if (access(usual, F_OK) == 0)
		rc = load_file(conf, usual, err);
	else
		conf_init(conf);
	free(usual);
	if (rc == 0 && add_environment_pod(conf, err) != 0) {
		conf_release(conf);
		rc = -1;
	}
	return rc;
}
