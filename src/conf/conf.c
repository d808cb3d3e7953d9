/* SPDX-License-Identifier: MIT */
/* Find and read the configuration file, with a table of keys for each kind of object. */
#include "conf/conf.h"

#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/keymap.h"
#include "base/log.h"
#include "base/theme_list.h"
#include "base/utf8.h"
#include "parsers/json_fields.h"
#include "parsers/pattern.h"

#define MAX_GPUS  64
#define MAX_WORDS 256

/* Make a local path absolute; json_reader.user is the directory of the file. */
static char *conf_path(const struct json_reader *r, const char *value)
{
	AUTO_TEXT path = file_expand_home(value);

	return path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", (const char *)r->user, path);
}

static const char *const transport_names[] = {
	[CONF_LIBSSH2] = "libssh2",
	[CONF_OPENSSH] = "openssh",
	[CONF_LOCAL] = "local",
	[CONF_COMMAND] = "command",
	NULL,
};

const char *conf_transport_name(enum conf_transport transport)
{
	return transport_names[transport];
}

enum conf_transport conf_transport_of(const char *name, enum conf_transport fallback)
{
	int i = name != NULL ? str_index(transport_names, name) : -1;

	return i >= 0 ? (enum conf_transport)i : fallback;
}

/* Is it one plain word: the name or address of a host, or the name of a user? */
static bool is_host(const char *text)
{
	return text[0] != '\0' && text[0] != '-' && text[strcspn(text, " \t\r\n/@\"'\\,")] == '\0';
}

static int take_slurm(UNUSED const struct json_reader *r, UNUSED const cJSON *object,
		      UNUSED const char *path, void *to)
{
	((struct conf_slurm *)to)->is_given = true;
	return 0;
}

static const struct json_field slurm_fields[] = {
	JSON_ROW("partition", TEXT, conf_slurm, partition),
	JSON_ROW("gres", TEXT, conf_slurm, gres),
	JSON_ROW("time", TEXT, conf_slurm, time),
	JSON_ROW("account", TEXT, conf_slurm, account),
	{ "extra", JSON_AS_TEXTS, JSON_LIST(conf_slurm, extra.v, extra.n), .most = MAX_WORDS },
	{ .name = NULL },
};

static const struct json_field pod_fields[] = {
	{ "name", JSON_AS_TEXT, JSON_AT(conf_pod, name), .types = JSON_REQUIRED },
	{ "transport", JSON_AS_CHOICE, JSON_AT(conf_pod, transport), .words = transport_names },
	{ "ssh", JSON_AS_TEXT, JSON_AT(conf_pod, ssh),
	  .also = " host hostname address addr ip server user username port ",
	  .what = "a host alias or [user@]host[:port]" },
	{ "command", JSON_AS_TEXTS, JSON_LIST(conf_pod, command.v, command.n), .most = MAX_WORDS },
	{ "shell", JSON_AS_TEXTS, JSON_LIST(conf_pod, shell.v, shell.n), .most = MAX_WORDS },
	{ "identity", JSON_AS_PATH, JSON_AT(conf_pod, identity),
	  .also = " key key_file identity_file private_key ", .what = "the path of a private key" },
	{ "known_hosts", JSON_AS_PATH, JSON_AT(conf_pod, known_hosts) },
	{ "proxy_jump", JSON_AS_TEXT, JSON_AT(conf_pod, proxy_jump) },
	{ "host_key_alias", JSON_AS_TEXT, JSON_AT(conf_pod, host_key_alias), .is_right = is_host,
	  .what = "a host name" },
	{ "logs", JSON_AS_TEXTS, JSON_LIST(conf_pod, logs.v, logs.n), .most = CONF_MAX_LIST,
	  .also = " log log_file path paths file files pattern ", .what = "a list of paths" },
	{ "harnessgym", JSON_AS_TEXTS, JSON_LIST(conf_pod, harnessgym.v, harnessgym.n),
	  .most = CONF_MAX_LIST },
	{ "remote_root", JSON_AS_TEXT, JSON_AT(conf_pod, remote_root) },
	{ "stop_cmd", JSON_AS_TEXT, JSON_AT(conf_pod, stop_cmd) },
	{ "gpus", JSON_AS_INDEXES, JSON_LIST(conf_pod, gpus, n_gpus), .what = "GPU",
	  .most = MAX_GPUS, .high = MAX_GPUS - 1 },
	{ "slurm", JSON_AS_OBJECT, JSON_AT(conf_pod, slurm), .fields = slurm_fields,
	  .take = take_slurm },
	{ "usd_per_hour", JSON_AS_NUMBER, JSON_AT(conf_pod, usd_per_hour), .high = 1e6 },
	{ .name = NULL },
};

/* Refuse names that are not safe in paths, tables and command lines, and names that are taken. */
static int check_pod_name(const struct json_reader *r, const struct conf *conf,
			  const struct conf_pod *pod, const char *path)
{
	static const char bad[] = "/\\:*?[]{}'\"`$&|;<>()!#~";
	const unsigned char *p = (const unsigned char *)pod->name;
	int other = conf_find_pod(conf, pod->name);
	char at[JSON_PATH_SIZE];

	json_join(at, path, "name");
	if (*p == '\0' || *p == '-' || *p == '.' || strlen(pod->name) > 64)
		return json_refuse(
			r, at, "expected a name of 1 to 64 bytes that does not start with - or .");
	for (; *p != '\0'; p++)
		if (*p <= ' ' || *p == 127 || strchr(bad, *p) != NULL)
			return json_refuse(
				r, at, "a pod's name must not contain spaces or any of %s", bad);
	if (other >= 0)
		return json_refuse(r, at, "pods[%d] has the same name, \"%s\"", other, pod->name);
	return 0;
}

/* Make the path of the program absolute; a name without a slash is searched for in PATH. */
static void resolve_program(const struct json_reader *r, struct conf_strings *words)
{
	char *old = words->n > 0 ? words->v[0] : NULL;

	if (old == NULL || strchr(old, '/') == NULL)
		return;
	words->v[0] = conf_path(r, old);
	free(old);
}

/* Does the pod have the keys of its transport, and no others? */
static int check_pod_link(const struct json_reader *r, const struct conf_pod *pod, const char *path)
{
	bool by_command = pod->transport == CONF_COMMAND;
	bool by_ssh = !by_command && pod->transport != CONF_LOCAL;
	const struct {
		const char *key;
		bool is_given, is_right;
	} keys[] = { { "ssh", pod->ssh != NULL, by_ssh },
		     { "identity", pod->identity != NULL, by_ssh },
		     { "known_hosts", pod->known_hosts != NULL, by_ssh },
		     { "proxy_jump", pod->proxy_jump != NULL, by_ssh },
		     { "host_key_alias", pod->host_key_alias != NULL, by_ssh },
		     { "command", pod->command.v != NULL, by_command },
		     { "shell", pod->shell.v != NULL, by_command } };
	char at[JSON_PATH_SIZE];

	for (size_t i = 0; i < LENGTH(keys); i++)
		if (keys[i].is_given && !keys[i].is_right)
			return json_refuse(r, json_join(at, path, keys[i].key),
					   "not allowed with the transport \"%s\"",
					   conf_transport_name(pod->transport));
	if (by_command && pod->command.n == 0)
		return json_refuse(
			r, path,
			"missing key \"command\": a program that provides a shell, and its "
			"arguments");
	if (!by_ssh)
		return 0;
	if (pod->ssh == NULL)
		return json_refuse(r, path, "missing key \"ssh\" (or \"transport\": \"local\")");
	if (pod->ssh[0] == '\0' || pod->ssh[0] == '-' ||
	    pod->ssh[strcspn(pod->ssh, " \t\r\n")] != '\0')
		return json_refuse(r, json_join(at, path, "ssh"),
				   "expected a host alias or [user@]host[:port]");
	return 0;
}

/* The paths of a local pod are on this machine: make them absolute. */
static void resolve_local(const struct json_reader *r, struct conf_pod *pod)
{
	const struct {
		char **v;
		size_t n;
	} lists[] = { { pod->logs.v, pod->logs.n },
		      { pod->harnessgym.v, pod->harnessgym.n },
		      { &pod->remote_root, pod->remote_root != NULL } };

	array_each (list, lists, LENGTH(lists))
		for (size_t i = 0; i < list->n; i++) {
			AUTO_TEXT old = list->v[i];

			list->v[i] = conf_path(r, old);
		}
}

static void add_pod(struct conf *conf, const struct conf_pod *pod)
{
	conf->pods = xreallocarray(conf->pods, conf->n_pods + 1, sizeof(*conf->pods));
	conf->pods[conf->n_pods++] = *pod;
}

static int take_pods(const struct json_reader *r, const cJSON *array, const char *path, void *base)
{
	struct conf *conf = base;

	if (cJSON_GetArraySize(array) > CONF_MAX_PODS)
		return json_refuse(r, path, "more than %d entries", CONF_MAX_PODS);
	json_each (node, array) {
		struct conf_pod pod = { .usd_per_hour = (double)NAN };
		char at[32];

		print_into(at, "%s[%zu]", path, conf->n_pods);
		bool is_good = json_read_object(r, pod_fields, node, at, &pod) == 0 &&
			       check_pod_name(r, conf, &pod, at) == 0 &&
			       check_pod_link(r, &pod, at) == 0;
		if (is_good && pod.transport == CONF_LOCAL)
			resolve_local(r, &pod);
		resolve_program(r, &pod.command);
		resolve_program(r, &pod.shell);
		/* Add it even after an error: conf_release() frees it. */
		add_pod(conf, &pod);
		if (!is_good)
			return -1;
	}
	return 0;
}

/* ---- pods that a program prints */

#define LIKE(name, kind, member) JSON_ROW(name, kind, conf_discover, like.member)
#define LIKE_LIST(name, member)                                                              \
	{                                                                                    \
		name, JSON_AS_TEXTS, JSON_LIST(conf_discover, like.member.v, like.member.n), \
			.most = CONF_MAX_LIST                                                \
	}

static const char *const ssh_names[] = { "libssh2", "openssh", NULL };

static const struct json_field discover_fields[] = {
	{ "name", JSON_AS_TEXT, JSON_AT(conf_discover, name), .types = JSON_REQUIRED,
	  .is_right = is_host, .what = "one word" },
	{ "command", JSON_AS_TEXTS, JSON_LIST(conf_discover, command.v, command.n),
	  .types = JSON_REQUIRED, .most = MAX_WORDS },
	{ "every_s", JSON_AS_NUMBER, JSON_AT(conf_discover, every_s), .low = 1, .high = 86400 },
	{ "transport", JSON_AS_CHOICE, JSON_AT(conf_discover, like.transport), .words = ssh_names },
	LIKE("identity", PATH, identity),
	LIKE("known_hosts", PATH, known_hosts),
	LIKE("proxy_jump", TEXT, proxy_jump),
	LIKE("remote_root", TEXT, remote_root),
	LIKE("stop_cmd", TEXT, stop_cmd),
	LIKE_LIST("logs", logs),
	LIKE_LIST("harnessgym", harnessgym),
	{ .name = NULL },
};

static int take_discover(const struct json_reader *r, const cJSON *array, const char *path,
			 void *base)
{
	struct conf *conf = base;
	size_t n = (size_t)cJSON_GetArraySize(array);

	if (n > CONF_MAX_PODS)
		return json_refuse(r, path, "more than %d entries", CONF_MAX_PODS);
	conf->discover = xcalloc(n + 1, sizeof(*conf->discover));
	json_each (node, array) {
		struct conf_discover *d = &conf->discover[conf->n_discover++];
		char at[40];

		d->every_s = 60;
		print_into(at, "%s[%zu]", path, conf->n_discover - 1);
		if (json_read_object(r, discover_fields, node, at, d) != 0)
			return -1;
		if (d->command.n == 0)
			return json_refuse(r, at, "the command is empty");
		for (size_t i = 0; i + 1 < conf->n_discover; i++)
			if (strcmp(conf->discover[i].name, d->name) == 0)
				return json_refuse(r, at, "discover[%zu] has the same name, \"%s\"",
						   i, d->name);
		resolve_program(r, &d->command);
	}
	return 0;
}

/* A pod as printed by a program of "discover". */
struct found {
	struct conf_pod pod;
	char *host, *user, *gpu, *state;
	struct conf_strings notes;
	int64_t port; /* 0: not given */
};

#define FOUND(name, kind, member, ...) JSON_ROW(name, kind, found, member, __VA_ARGS__)

static const struct json_field found_fields[] = {
	FOUND("name", TEXT, pod.name, .types = JSON_REQUIRED),
	FOUND("host", TEXT, host, .is_right = is_host, .what = "a host"),
	FOUND("port", INTEGER, port, .low = 1, .high = 65535),
	FOUND("user", TEXT, user, .is_right = is_host, .what = "a user"),
	FOUND("identity", PATH, pod.identity),
	FOUND("host_key_alias", TEXT, pod.host_key_alias, .is_right = is_host,
	      .what = "a host name"),
	FOUND("usd_per_hour", NUMBER, pod.usd_per_hour, .high = 1e6),
	FOUND("gpu", TEXT, gpu),
	FOUND("state", TEXT, state),
	{ "notes", JSON_AS_TEXTS, JSON_LIST(found, notes.v, notes.n), .most = CONF_MAX_LIST },
	{ "command", JSON_AS_TEXTS, JSON_LIST(found, pod.command.v, pod.command.n),
	  .most = MAX_WORDS },
	{ "logs", JSON_AS_TEXTS, JSON_LIST(found, pod.logs.v, pod.logs.n), .most = CONF_MAX_LIST },
	{ .name = NULL },
};

static void fill_in(struct conf_pod *pod, const struct conf_pod *like)
{
	const struct {
		char **to;
		const char *from;
	} texts[] = { { &pod->identity, like->identity },
		      { &pod->known_hosts, like->known_hosts },
		      { &pod->proxy_jump, like->proxy_jump },
		      { &pod->remote_root, like->remote_root },
		      { &pod->stop_cmd, like->stop_cmd } };
	const struct {
		struct conf_strings *to;
		const struct conf_strings *from;
	} lists[] = { { &pod->logs, &like->logs }, { &pod->harnessgym, &like->harnessgym } };
	bool by_ssh = pod->transport != CONF_COMMAND;

	for (size_t i = by_ssh ? 0 : 3; i < 5; i++)
		if (*texts[i].to == NULL && texts[i].from != NULL)
			*texts[i].to = xstrdup(texts[i].from);
	for (size_t i = 0; i < 2; i++) {
		if (lists[i].to->v != NULL)
			continue;
		for (size_t k = 0; k < lists[i].from->n; k++)
			conf_strings_add(lists[i].to, xstrdup(lists[i].from->v[k]));
	}
}

/* The answer of a program, while it is read. */
struct answer {
	struct conf *conf;
	const struct conf_pod *like;
	size_t n_others; /* pods that existed before */
	struct conf_strings notes;
};

void conf_strings_add(struct conf_strings *strings, char *text)
{
	strings->v = xreallocarray(strings->v, strings->n + 2, sizeof(*strings->v));
	strings->v[strings->n++] = text;
	strings->v[strings->n] = NULL;
}

static void free_strings(struct conf_strings *strings)
{
	for (size_t i = 0; i < strings->n; i++)
		free(strings->v[i]);
	free(strings->v);
}

static int take_found(const struct json_reader *r, const cJSON *node, const char *path,
		      struct answer *answer, struct found *found)
{
	static const char *const running[] = { "running", "active", "up", "ready" };
	struct conf_pod *pod = &found->pod;
	char clean[300];

	if (json_read_object(r, found_fields, node, path, found) != 0)
		return -1;
	int other = conf_find_pod(answer->conf, pod->name);
	/* A program that prints no states lists only running pods. */
	bool is_running = found->state == NULL ||
			  any_of(i, LENGTH(running), strcasecmp(found->state, running[i]) == 0);
	if (!is_running || (other >= 0 && (size_t)other < answer->n_others))
		return 0;
	if ((found->host != NULL) == (pod->command.n > 0))
		return json_refuse(r, path, "expected \"host\" or \"command\"");
	pod->transport = found->host != NULL ? answer->like->transport : CONF_COMMAND;
	if (found->host != NULL) {
		bool is_v6 = strchr(found->host, ':') != NULL;
		char port[24] = "";

		if (found->port != 0)
			print_into(port, ":%lld", (long long)found->port);
		pod->ssh = xasprintf("%s%s%s%s%s%s", found->user != NULL ? found->user : "",
				     found->user != NULL ? "@" : "", is_v6 ? "[" : "", found->host,
				     is_v6 ? "]" : "", port);
	}
	fill_in(pod, answer->like);
	if (check_pod_name(r, answer->conf, pod, path) != 0 || check_pod_link(r, pod, path) != 0)
		return -1;
	for (size_t i = 0; i < found->notes.n; i++) {
		utf8_clean(clean, sizeof(clean), str_from(found->notes.v[i]));
		conf_strings_add(&answer->notes, xasprintf("%s: %s", pod->name, clean));
	}
	add_pod(answer->conf, pod);
	*pod = (struct conf_pod){ .name = NULL };
	return 0;
}

static int take_all_found(const struct json_reader *r, const cJSON *array, const char *path,
			  void *base)
{
	struct answer *answer = base;
	size_t n = 0;
	int rc = 0;

	json_each (node, array) {
		struct found found = { .pod.usd_per_hour = (double)NAN };
		char at[40];

		print_into(at, "%s[%zu]", path, n++);
		if (rc == 0 && answer->conf->n_pods >= CONF_MAX_PODS)
			rc = json_refuse(r, at, "more than %d pods", CONF_MAX_PODS);
		if (rc == 0)
			rc = take_found(r, node, at, answer, &found);
		json_release_object(pod_fields, &found.pod);
		found.pod = (struct conf_pod){ .name = NULL };
		json_release_object(found_fields, &found);
	}
	return rc;
}

static const char *const group_names[] = {
	[CONF_BY_DIRNAME] = "dirname", [CONF_BY_FILE] = "file", [CONF_BY_SOURCE] = "source",
	[CONF_BY_PATTERN] = "pattern", [CONF_BY_POD] = "pod",	NULL,
};

enum conf_group_by conf_group_of(const char *word)
{
	int i = str_index(group_names, word);

	return i >= 0 ? (enum conf_group_by)i : CONF_BY_PATTERN;
}

static const struct json_field group_fields[] = {
	{ "by", JSON_AS_CHOICE, JSON_AT(conf, group_by), .words = group_names },
	{ "pattern", JSON_AS_TEXT, JSON_AT(conf, group_pattern) },
	{ .name = NULL },
};

/* Compile the pattern now, so that an error shows at the start. */
static int check_groups(const struct json_reader *r, const cJSON *node, const char *path,
			void *base)
{
	struct err why = { ERR_NONE, "" };
	struct conf *conf = base;

	if (conf->group_pattern != NULL && json_get(node, "by") == NULL)
		conf->group_by = CONF_BY_PATTERN;
	if (conf->group_by == CONF_BY_PATTERN && conf->group_pattern == NULL)
		return json_refuse(r, path, "missing key \"pattern\"");
	if (conf->group_pattern == NULL)
		return 0;
	if (conf->group_by != CONF_BY_PATTERN)
		return json_refuse(r, "groups.pattern", "only allowed with \"by\": \"pattern\"");
	struct pattern *pattern = pattern_new_path(conf->group_pattern, &why);
	if (pattern == NULL)
		return json_refuse(r, "groups.pattern", "%s", why.text);
	pattern_free(pattern);
	return 0;
}

static const struct json_field baseline_fields[] = {
	{ "name", JSON_AS_TEXT, JSON_AT(conf_baseline, name), .types = JSON_REQUIRED },
	{ "bpb", JSON_AS_NUMBERS, JSON_LIST(conf_baseline, bpb, n_bpb), .most = CONF_MAX_LIST },
	{ "val_loss", JSON_AS_NUMBERS, JSON_LIST(conf_baseline, val_loss, n_val_loss),
	  .most = CONF_MAX_LIST },
	{ "nats_per_bpb", JSON_AS_NUMBER, JSON_AT(conf_baseline, nats_per_bpb), .low = 1e-3,
	  .high = 1e3 },
	{ "file", JSON_AS_PATH, JSON_AT(conf_baseline, file) },
	{ .name = NULL },
};

static int check_baseline(const struct json_reader *r, UNUSED const cJSON *node, const char *path,
			  void *base)
{
	const struct conf_baseline *b = base;

	return b->n_bpb > 0 || b->n_val_loss > 0 || b->file != NULL
		       ? 0
		       : json_refuse(r, path, "needs \"bpb\", \"val_loss\" or \"file\"");
}

/* Read "stall": "auto", a number of seconds, or false or null for off. */
static int take_stall(const struct json_reader *r, const cJSON *node, const char *path, void *base)
{
	struct conf_alerts *a = base;

	if (cJSON_IsNull(node) || cJSON_IsFalse(node)) {
		a->stall = CONF_STALL_OFF;
	} else if (cJSON_IsNumber(node) && node->valuedouble >= 1 && node->valuedouble <= 86400) {
		a->stall = CONF_STALL_SECONDS;
		a->stall_s = node->valuedouble;
	} else if (!cJSON_IsString(node) || strcmp(node->valuestring, "auto") != 0) {
		return json_refuse(r, path, "expected \"auto\", false or seconds from 1 to 86400");
	}
	return 0;
}

#define RULE_LIMIT(name, member)                                                       \
	{                                                                              \
		name, JSON_AS_NUMBER, JSON_AT(conf_alert_rule, member), .low = -1e300, \
									.high = 1e300  \
	}

static const struct json_field rule_fields[] = {
	{ "metric", JSON_AS_TEXT, JSON_AT(conf_alert_rule, metric), .types = JSON_REQUIRED },
	RULE_LIMIT("above", above),
	RULE_LIMIT("below", below),
	{ .name = NULL },
};

static int take_metrics(const struct json_reader *r, const cJSON *node, const char *path,
			void *base)
{
	struct conf_alerts *a = base;
	char at[JSON_PATH_SIZE];

	if (cJSON_GetArraySize(node) > CONF_MAX_LIST)
		return json_refuse(r, path, "more than %d entries", CONF_MAX_LIST);
	a->metrics = xcalloc((size_t)cJSON_GetArraySize(node) + 1, sizeof(*a->metrics));
	json_each (item, node) {
		struct conf_alert_rule *rule = &a->metrics[a->n_metrics];

		*rule = (struct conf_alert_rule){ NULL, (double)NAN, (double)NAN };
		print_into(at, "%.200s[%zu]", path, a->n_metrics);
		if (!cJSON_IsObject(item))
			return json_refuse(r, at, "expected an object");
		a->n_metrics++;
		if (json_read_object(r, rule_fields, item, at, rule) != 0)
			return -1;
		if (isnan(rule->above) && isnan(rule->below))
			return json_refuse(r, at, "needs \"above\" or \"below\"");
	}
	return 0;
}

static const struct json_field alert_fields[] = {
	{ "stall", JSON_AS_OTHER, .take = take_stall,
	  .types = JSON_STRING | JSON_NUMBER | JSON_BOOL | JSON_NULL },
	{ "bell", JSON_AS_BOOL, JSON_AT(conf_alerts, bell) },
	{ "notify", JSON_AS_BOOL, JSON_AT(conf_alerts, notify) },
	{ "command", JSON_AS_TEXT, JSON_AT(conf_alerts, command), .types = JSON_NULL },
	{ "metrics", JSON_AS_OTHER, .types = JSON_ARRAY, .take = take_metrics },
	{ .name = NULL },
};

static bool has_all_keys(const struct keymap *keymap, const struct conf_key *key)
{
	struct str rest = str_from(key->key != NULL ? key->key : ""), word;
	enum action action = action_by_name(str_from(key->action));
	size_t wanted = 0, has = 0;

	while (str_next(&rest, ' ', &word))
		wanted += word.len > 0;
	for (size_t k = 0; k < KEYMAP_KEYS; k++)
		has += keymap->keys[action][k] != 0;
	return has == wanted;
}

static int take_keys(const struct json_reader *r, const cJSON *node, const char *path, void *base)
{
	struct conf *conf = base;
	struct keymap keymap;
	char at[JSON_PATH_SIZE];

	keymap_init(&keymap);
	conf->keys = xcalloc((size_t)cJSON_GetArraySize(node) + 1, sizeof(*conf->keys));
	json_each (item, node) {
		const char *key = cJSON_IsString(item) ? item->valuestring : "";
		struct err why = { ERR_NONE, "" };

		if (strcmp(item->string, "//") == 0)
			continue;
		json_join(at, path, item->string);
		if (!cJSON_IsNull(item) && key[0] == '\0')
			return json_refuse(r, at, "expected a key or null");
		if (json_get(node, item->string) != item)
			return json_refuse(r, at, "duplicate key");
		if (keymap_bind(&keymap, item->string, key, &why) != 0)
			return json_refuse(r, at, "%s", why.text);
		for (size_t i = 0; i < conf->n_keys; i++)
			if (!has_all_keys(&keymap, &conf->keys[i]))
				return json_refuse(r, at, "%s is also bound to \"%s\"", key,
						   conf->keys[i].action);
		conf->keys[conf->n_keys++] = (struct conf_key){
			xstrdup(item->string),
			key[0] != '\0' ? xstrdup(key) : NULL,
		};
	}
	return 0;
}

const char *const conf_charsets[] = { "braille", "block", "ascii", "pixels", NULL };
const char *const conf_colors[] = { "auto", "always", "never", NULL };
static const char *const theme_names[] = { THEME_LIST(LIST_NAME) NULL };

static const struct json_field ui_fields[] = {
	{ "charset", JSON_AS_WORD, JSON_AT(conf_ui, charset), .words = conf_charsets },
	{ "color", JSON_AS_WORD, JSON_AT(conf_ui, color), .words = conf_colors },
	{ "theme", JSON_AS_WORD, JSON_AT(conf_ui, theme), .words = theme_names },
	{ "mouse", JSON_AS_BOOL, JSON_AT(conf_ui, mouse) },
	{ "utc", JSON_AS_BOOL, JSON_AT(conf_ui, utc) },
	{ "log_colors", JSON_AS_BOOL, JSON_AT(conf_ui, log_colors) },
	{ "escape_delay_ms", JSON_AS_INTEGER, JSON_AT(conf_ui, escape_delay_ms), .low = 1,
	  .high = 1000 },
	{ .name = NULL },
};

static const char *const schemas[] = { CONF_SCHEMA, NULL };

static const struct json_field top_fields[] = {
	{ "schema", JSON_AS_FIXED, .words = schemas },
	{ "track", JSON_AS_TEXT, JSON_AT(conf, track) },
	{ "tracks", JSON_AS_PATHS, JSON_LIST(conf, tracks.v, tracks.n), .most = CONF_MAX_LIST },
	{ "pods", JSON_AS_OTHER, .types = JSON_ARRAY, .take = take_pods },
	{ "discover", JSON_AS_OTHER, .types = JSON_ARRAY, .take = take_discover },
	{ "groups", JSON_AS_OBJECT, .fields = group_fields, .take = check_groups },
	{ "baseline", JSON_AS_OBJECT, JSON_AT(conf, baseline), .fields = baseline_fields,
	  .take = check_baseline },
	{ "formats", JSON_AS_PATHS, JSON_LIST(conf, formats.v, formats.n), .most = CONF_MAX_LIST },
	{ "benches", JSON_AS_PATHS, JSON_LIST(conf, benches.v, benches.n), .most = CONF_MAX_LIST },
	{ "alerts", JSON_AS_OBJECT, JSON_AT(conf, alerts), .fields = alert_fields },
	{ "keys", JSON_AS_OTHER, .types = JSON_OBJECT, .take = take_keys },
	{ "ui", JSON_AS_OBJECT, JSON_AT(conf, ui), .fields = ui_fields },
	{ "db", JSON_AS_PATH, JSON_AT(conf, db) },
	{ "mirror_cap_bytes", JSON_AS_INTEGER, JSON_AT(conf, mirror_cap_bytes), .low = 1e6,
	  .high = 1e15 },
	{ "telemetry_s", JSON_AS_NUMBER, JSON_AT(conf, telemetry_s), .low = 1, .high = 3600 },
	{ .name = NULL },
};

void conf_init(struct conf *conf)
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

static void drop_discover(struct conf *conf)
{
	while (conf->n_discover > 0) {
		struct conf_discover *d = &conf->discover[--conf->n_discover];

		json_release_object(discover_fields, d);
		free_strings(&d->notes);
		free(d->answer);
	}
}

static void drop_pods(struct conf *conf, size_t n)
{
	while (conf->n_pods > n)
		json_release_object(pod_fields, &conf->pods[--conf->n_pods]);
}

void conf_release(struct conf *conf)
{
	drop_pods(conf, 0);
	drop_discover(conf);
	for (size_t i = 0; i < conf->n_keys; i++) {
		free(conf->keys[i].action);
		free(conf->keys[i].key);
	}
	for (size_t i = 0; i < conf->alerts.n_metrics; i++)
		json_release_object(rule_fields, &conf->alerts.metrics[i]);
	free(conf->alerts.metrics);
	free(conf->pods);
	free(conf->discover);
	free(conf->keys);
	free(conf->path);
	free(conf->text);
	json_release_object(top_fields, conf);
	conf_init(conf);
}

/* A reader for this file; the caller frees r.user. */
static struct json_reader conf_reader(const char *file, struct err *err)
{
	AUTO_TEXT dir = file_folder(file);
	char *real = realpath(dir, NULL);

	return (struct json_reader){ .at.code = ERR_CONFIG,
				     .err = err,
				     .path = conf_path,
				     .user = real != NULL ? real : xstrdup(dir) };
}

int conf_parse(struct conf *conf, const char *file, struct str text, struct err *err)
{
	struct json_reader r = conf_reader(file, err);

	conf_init(conf);
	int rc = json_read_text(&r, file, text, top_fields, conf);
	free(r.user);
	if (rc != 0) {
		conf_release(conf);
		return -1;
	}
	conf->path = xstrdup(file);
	conf->text = xstrndup(text.p, text.len);
	return 0;
}

static int read_conf(struct conf *conf, const char *file, struct err *err)
{
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);
	struct err bad = { ERR_NONE, "" };

	if (file_read(file, &text, &bad) != 0)
		return err_set(err, ERR_CONFIG, "%s", bad.text);
	return conf_parse(conf, file, buf_str(&text), err);
}

static const char *env_text(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static int add_environment_pod(struct conf *conf, struct err *err)
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
		return err_set(err, ERR_CONFIG, "HARNESSGYM_GPU_HOST: expected [user@]host");
	if (port != NULL && (!str_to_i64(str_from(port), &number) || number < 1 || number > 65535))
		return err_set(err, ERR_CONFIG,
			       "HARNESSGYM_GPU_PORT: expected a port from 1 to 65535");
	pod.name = xstrdup("harnessgym");
	pod.ssh = port != NULL ? xasprintf("%s:%s", host, port) : xstrdup(host);
	pod.identity = key != NULL ? file_expand_home(key) : NULL;
	pod.remote_root = xstrdup(root != NULL ? root : "/root/harnessgym_remote");
	conf_strings_add(&pod.harnessgym, xasprintf("%s/*", pod.remote_root));
	add_pod(conf, &pod);
	return 0;
}

int conf_load(struct conf *conf, const char *path, struct err *err)
{
	AUTO_TEXT usual = conf_file(&(struct conf){ .path = NULL });
	int rc = 0;

	if (path == NULL)
		path = env_text("HGYM_TUI_CONFIG");
	if (path != NULL)
		rc = read_conf(conf, path, err);
	else if (access(usual, F_OK) == 0)
		rc = read_conf(conf, usual, err);
	else
		conf_init(conf);
	if (rc == 0 && add_environment_pod(conf, err) != 0) {
		conf_release(conf);
		rc = -1;
	}
	return rc;
}

int conf_take_answer(struct conf *conf, size_t i, struct str answer, struct err *err)
{
	static const struct json_field answer_fields[] = {
		{ "pods", JSON_AS_OTHER, .types = JSON_ARRAY | JSON_REQUIRED,
		  .take = take_all_found },
		{ .name = NULL },
	};
	struct conf_discover *d = &conf->discover[i];
	struct answer base = { conf, &d->like, conf->n_pods, { NULL, 0 } };
	struct json_reader r = conf_reader(conf->path, err);
	AUTO_BUF text = buf_new(answer.len + 32);

	/* The reader expects an object. */
	buf_append_str(&text, "{\"pods\":");
	buf_append(&text, answer.p, answer.len);
	buf_append_str(&text, "}");
	r.nulls = true;
	int rc = json_read_text(&r, "the answer", buf_str(&text), answer_fields, &base);
	free(r.user);
	if (rc != 0) {
		drop_pods(conf, base.n_others);
		free_strings(&base.notes);
		return -1;
	}
	free_strings(&d->notes);
	d->notes = base.notes;
	free(d->answer);
	d->answer = xstrndup(answer.p, answer.len);
	return 0;
}

void conf_keep_answers(struct conf *conf, const struct conf *old)
{
	struct err err = { ERR_NONE, "" };

	for (size_t i = 0; i < conf->n_discover; i++)
		array_each (before, old->discover, old->n_discover)
			if (before->answer != NULL &&
			    strcmp(before->name, conf->discover[i].name) == 0 &&
			    conf_take_answer(conf, i, str_from(before->answer), &err) != 0)
				log_debug("conf", "%s", err.text);
}

int conf_renew(struct conf *conf, struct conf *old, size_t i, struct str answer, struct err *err)
{
	const struct conf before = *conf;
	/* old gets the same programs as conf, because both have the same text. */
	int rc = conf_parse(old, conf->path, str_from(conf->text), err);

	if (rc != 0)
		return -1;
	rc = add_environment_pod(old, err);
	for (size_t k = 0; rc == 0 && k < old->n_discover; k++)
		if (k == i)
			rc = conf_take_answer(old, k, answer, err);
		else if (conf->discover[k].answer != NULL)
			rc = conf_take_answer(old, k, str_from(conf->discover[k].answer), err);
	if (rc != 0) {
		conf_release(old);
		return -1;
	}
	/* Other code borrows the other members, which are the same in both. */
	conf->pods = old->pods;
	conf->n_pods = old->n_pods;
	conf->discover = old->discover;
	old->pods = before.pods;
	old->n_pods = before.n_pods;
	old->discover = before.discover;
	return 0;
}

int conf_find_pod(const struct conf *conf, const char *name)
{
	size_t i = index_of(k, conf->n_pods, strcmp(conf->pods[k].name, name) == 0);

	return i < conf->n_pods ? (int)i : -1;
}

size_t conf_place(const char *word)
{
	size_t len = strcspn(word, ":/"), port;

	if (len == 0 || word[0] == '-' || word[len] != ':' || access(word, F_OK) == 0 ||
	    word[strcspn(word, " \t\r\n")] != '\0')
		return 0;
	port = strspn(word + len + 1, "0123456789");
	if (port > 0 && word[len + 1 + port] == ':')
		len += 1 + port;
	return word[len + 1] != '\0' ? len : 0;
}

void conf_follow_places(struct conf *conf, char *const *words, size_t n)
{
	static const char *const below[] = { "",       "/*.log",   "/*.txt",
					     "/*.out", "/*/*.log", "/*/*.txt" };
	const struct conf_strings none = { NULL, 0 };
	struct conf before = *conf;

	conf->pods = NULL;
	conf->n_pods = 0;
	for (size_t i = 0; i < n; i++) {
		size_t len = conf_place(words[i]);
		AUTO_TEXT host = xstrndup(words[i], len);
		struct conf_pod pod = { .usd_per_hour = (double)NAN };
		int was = conf_find_pod(&before, host);

		if (was >= 0) {
			pod = before.pods[was];
			before.pods[was] = before.pods[--before.n_pods];
			free_strings(&pod.logs);
			free_strings(&pod.harnessgym);
			pod.logs = pod.harnessgym = none;
		} else if (conf_find_pod(conf, host) < 0) {
			pod.name = xstrdup(host);
			pod.ssh = xstrdup(host);
		}
		if (pod.name != NULL)
			add_pod(conf, &pod);
		/* The path and, if it has no wildcard, the logs below it. */
		const char *path = words[i] + len + 1;
		const char *home = path[0] == '/' || path[0] == '~' ? "" : "~/";
		for (size_t k = 0; k < (strpbrk(path, "*?[") != NULL ? 1 : LENGTH(below)); k++)
			conf_strings_add(&conf->pods[conf_find_pod(conf, host)].logs,
					 xasprintf("%s%s%s", home, path, below[k]));
	}
	drop_pods(&before, 0);
	free(before.pods);
	drop_discover(conf);
}

bool conf_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool conf_same_strings(const struct conf_strings *a, const struct conf_strings *b)
{
	return a->n == b->n && all_of(i, a->n, strcmp(a->v[i], b->v[i]) == 0);
}

const char *conf_pod_target(const struct conf_pod *pod)
{
	return pod->ssh != NULL ? pod->ssh : pod->command.n > 0 ? pod->command.v[0] : "local";
}

bool conf_pod_same_link(const struct conf_pod *a, const struct conf_pod *b)
{
	return a->transport == b->transport && conf_same_text(a->name, b->name) &&
	       conf_same_text(a->ssh, b->ssh) && conf_same_strings(&a->command, &b->command) &&
	       conf_same_text(a->identity, b->identity) &&
	       conf_same_text(a->known_hosts, b->known_hosts) &&
	       conf_same_text(a->proxy_jump, b->proxy_jump) &&
	       conf_same_text(a->host_key_alias, b->host_key_alias);
}
