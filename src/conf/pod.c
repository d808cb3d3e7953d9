/* SPDX-License-Identifier: MIT */
/* The pods of the configuration; called by conf.c. */
#include "config.h"

#include "conf/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static const char *const transport_names[] = {
	[CONF_LIBSSH2] = "libssh2",
	[CONF_OPENSSH] = "openssh",
	[CONF_LOCAL] = "local",
	NULL,
};

const char *
conf_transport_name(enum conf_transport transport)
{
	return transport_names[transport];
}

static const struct json_key pod_keys[] = {
	{ "name", JSON_STRING | JSON_REQUIRED },
	{ "ssh", JSON_STRING },
	{ "transport", JSON_STRING },
	{ "identity", JSON_STRING },
	{ "known_hosts", JSON_STRING },
	{ "proxy_jump", JSON_STRING },
	{ "logs", JSON_ARRAY },
	{ "harnessgym", JSON_ARRAY },
	{ "remote_root", JSON_STRING },
	{ "gpus", JSON_ARRAY },
	{ "usd_per_hour", JSON_NUMBER },
	{ NULL, 0 },
};

static int
take_gpus(const struct conf_reader *l, const cJSON *array, const char *path,
	  struct conf_pod *pod)
{
	const cJSON *item;
	char at[300];
	size_t n = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;

	if (n > 64)
		return json_fail(&l->at, path, l->err, "more than 64 entries");
	pod->gpus = xcalloc(n + 1, sizeof(*pod->gpus));
	cJSON_ArrayForEach(item, array)
	{
		(void)snprintf(at, sizeof(at), "%s[%zu]", path, pod->n_gpus);
		if (!cJSON_IsNumber(item) || item->valuedouble < 0 ||
		    item->valuedouble > 63 ||
		    floor(item->valuedouble) != item->valuedouble)
			return json_fail(&l->at, at, l->err,
					 "expected the index of a GPU, 0 to "
					 "63");
		for (size_t i = 0; i < pod->n_gpus; i++)
			if (pod->gpus[i] == (int)item->valuedouble)
				return json_fail(&l->at, at, l->err,
						 "GPU %d stands twice",
						 pod->gpus[i]);
		pod->gpus[pod->n_gpus++] = (int)item->valuedouble;
	}
	return 0;
}

/* Names go into paths, tables and the command line: keep them plain. */
static int
check_pod_name(const struct conf_reader *l, const struct conf_pod *pod,
	       const char *path)
{
	static const char bad[] = "/\\:*?[]{}'\"`$&|;<>()!#~";
	const unsigned char *p = (const unsigned char *)pod->name;
	char at[256];
	int other;

	conf_join(at, path, "name");
	if (*p == '\0' || *p == '-' || *p == '.' || strlen(pod->name) > 64)
		return json_fail(&l->at, at, l->err,
				 "expected a name of 1 to 64 bytes that does "
				 "not begin with - or .");
	for (; *p != '\0'; p++)
		if (*p <= ' ' || *p == 127 || strchr(bad, *p) != NULL)
			return json_fail(&l->at, at, l->err,
					 "a pod's name has no blanks and none "
					 "of %s",
					 bad);
	other = conf_find_pod(l->conf, pod->name);
	if (other >= 0)
		return json_fail(&l->at, at, l->err,
				 "pods[%d] has the name \"%s\" already", other,
				 pod->name);
	return 0;
}

/* What belongs together: ssh with the SSH transports, nothing of it local. */
static int
check_pod_link(const struct conf_reader *l, const cJSON *node,
	       const struct conf_pod *pod, const char *path)
{
	static const char *const ssh_only[] = { "ssh", "identity",
						"known_hosts", "proxy_jump",
						NULL };
	char at[256];

	for (size_t i = 0; pod->transport == CONF_LOCAL && ssh_only[i]; i++)
		if (conf_member(node, ssh_only[i]) != NULL)
			return json_fail(&l->at,
					 conf_join(at, path, ssh_only[i]),
					 l->err,
					 "a pod with the transport \"local\" "
					 "has no such key");
	if (pod->transport == CONF_LOCAL)
		return 0;
	if (pod->ssh == NULL)
		return json_fail(&l->at, path, l->err,
				 "the key \"ssh\" is missing (or "
				 "\"transport\": \"local\")");
	if (pod->ssh[0] == '\0' || pod->ssh[0] == '-' ||
	    pod->ssh[strcspn(pod->ssh, " \t\r\n")] != '\0')
		return json_fail(&l->at, conf_join(at, path, "ssh"), l->err,
				 "expected a host alias or "
				 "[user@]host[:port]");
	return 0;
}

static int
take_pod(struct conf_reader *l, const cJSON *node, const char *path,
	 struct conf_pod *pod)
{
	static const double price[2] = { 0, 1e6 };
	char at[256];
	int choice;

	if (json_check_keys(&l->at, node, path, pod_keys, l->err) != 0)
		return -1;
	pod->name = conf_take_string(node, "name");
	choice = conf_take_choice(l, node, conf_join(at, path, "transport"),
				  transport_names, CONF_LIBSSH2);
	if (choice < 0 || check_pod_name(l, pod, path) != 0)
		return -1;
	pod->transport = (enum conf_transport)choice;
	pod->ssh = conf_take_string(node, "ssh");
	pod->identity = conf_take_path(l, node, "identity");
	pod->known_hosts = conf_take_path(l, node, "known_hosts");
	pod->proxy_jump = conf_take_string(node, "proxy_jump");
	pod->remote_root = pod->transport == CONF_LOCAL
				   ? conf_take_path(l, node, "remote_root")
				   : conf_take_string(node, "remote_root");
	if (check_pod_link(l, node, pod, path) != 0 ||
	    conf_take_strings(l, conf_member(node, "logs"),
			      conf_join(at, path, "logs"),
			      pod->transport == CONF_LOCAL, &pod->logs) != 0 ||
	    conf_take_strings(l, conf_member(node, "harnessgym"),
			      conf_join(at, path, "harnessgym"),
			      pod->transport == CONF_LOCAL,
			      &pod->harnessgym) != 0)
		return -1;
	if (take_gpus(l, conf_member(node, "gpus"), conf_join(at, path, "gpus"),
		      pod) != 0)
		return -1;
	return conf_take_number(l, node, conf_join(at, path, "usd_per_hour"),
				price, &pod->usd_per_hour);
}

int
conf_take_pods(struct conf_reader *l, const cJSON *array)
{
	const cJSON *node;
	size_t n = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;
	char path[32];

	if (n > CONF_MAX_PODS)
		return json_fail(&l->at, "pods", l->err, "more than %d entries",
				 CONF_MAX_PODS);
	/* One more for the pod of the environment. */
	l->conf->pods = xcalloc(n + 1, sizeof(*l->conf->pods));
	cJSON_ArrayForEach(node, array)
	{
		struct conf_pod pod = { .usd_per_hour = (double)NAN };
		int rc;

		(void)snprintf(path, sizeof(path), "pods[%zu]",
			       l->conf->n_pods);
		rc = take_pod(l, node, path, &pod);
		/* Also a half read one: conf_release frees it. */
		l->conf->pods[l->conf->n_pods++] = pod;
		if (rc != 0)
			return -1;
	}
	return 0;
}
