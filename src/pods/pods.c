/* SPDX-License-Identifier: MIT */
/* Which pods a command is for, and how they are reached. */
#include "config.h"

#include "pods/pods.h"

#include <string.h>

int
pods_choose(struct conf *conf, char **names, int n, struct err *err)
{
	size_t kept = 0;

	for (int i = 0; i < n; i++)
		if (conf_find_pod(conf, names[i]) < 0)
			return err_set(err, ERR_USAGE,
				       "pods: the configuration has no pod "
				       "\"%s\"",
				       names[i]);
	for (size_t i = 0; n > 0 && i < conf->n_pods; i++) {
		bool wanted = false;

		for (int k = 0; k < n; k++)
			wanted |= strcmp(conf->pods[i].name, names[k]) == 0;
		if (wanted) {
			struct conf_pod pod = conf->pods[kept];

			/* Swapped, so that all of them are freed. */
			conf->pods[kept++] = conf->pods[i];
			conf->pods[i] = pod;
		}
	}
	return n > 0 ? (int)kept : (int)conf->n_pods;
}

struct remote_pod
pods_remote(const struct conf_pod *pod)
{
	static const enum remote_transport transports[] = {
		[CONF_LIBSSH2] = REMOTE_LIBSSH2,
		[CONF_OPENSSH] = REMOTE_OPENSSH,
		[CONF_LOCAL] = REMOTE_LOCAL,
	};

	return (struct remote_pod){
		.name = pod->name,
		.ssh = pod->ssh,
		.identity = pod->identity,
		.known_hosts = pod->known_hosts,
		.proxy_jump = pod->proxy_jump,
		.transport = transports[pod->transport],
	};
}
