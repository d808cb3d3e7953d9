/* SPDX-License-Identifier: MIT */
/* Which pods a command is for, and how they are reached. */
#include "pods/pods.h"

#include "base/xalloc.h"

/* Is the name one of the list?  All are, of an empty one. */
static bool is_named(const char *name, char *const *names, int n)
{
	return any_of(i, n, strcmp(names[i], name) == 0) || n == 0;
}

int pods_choose(struct conf *chosen, const struct conf *conf, char *const *names, int n,
		struct err *err)
{
	for (int i = 0; i < n; i++)
		if (conf_find_pod(conf, names[i]) < 0)
			return err_set(err, ERR_USAGE,
				       "pods: the configuration has no pod "
				       "\"%s\"",
				       names[i]);
	if (conf->n_pods == 0)
		return err_set(err, ERR_NODATA, "the configuration has no pods");
	*chosen = *conf;
	chosen->pods = xcalloc(conf->n_pods, sizeof(*chosen->pods));
	chosen->n_pods = 0;
	for (size_t i = 0; i < conf->n_pods; i++)
		if (is_named(conf->pods[i].name, names, n))
			chosen->pods[chosen->n_pods++] = conf->pods[i];
	return 0;
}

struct remote_pod pods_remote(const struct conf_pod *pod)
{
	static const enum remote_transport transports[] = {
		[CONF_LIBSSH2] = REMOTE_LIBSSH2,
		[CONF_OPENSSH] = REMOTE_OPENSSH,
		[CONF_LOCAL] = REMOTE_LOCAL,
		[CONF_COMMAND] = REMOTE_COMMAND,
	};

	return (struct remote_pod){
		.name = pod->name,
		.ssh = pod->ssh,
		.identity = pod->identity,
		.known_hosts = pod->known_hosts,
		.proxy_jump = pod->proxy_jump,
		.host_key_alias = pod->host_key_alias,
		.transport = transports[pod->transport],
		.command = (const char *const *)pod->command.v,
	};
}
