/* SPDX-License-Identifier: MIT */
/* Select the pods of a command, and translate their configuration for src/remote. */
#include "pods/pods.h"

#include "base/xalloc.h"

int pods_none(const struct conf *conf, enum err_code code, struct err *err)
{
	AUTO_TEXT path = conf_file(conf);

	return err_set(err, code, "no pods configured%s %s%s; hgym-tui init adds one",
		       conf->path != NULL ? " in" : ":", path,
		       conf->path != NULL ? "" : " does not exist");
}

int pods_choose(struct conf *chosen, const struct conf *conf, char *const *names, int n,
		struct err *err)
{
	AUTO_TEXT path = conf_file(conf);

	for (int i = 0; i < n; i++)
		if (conf_find_pod(conf, names[i]) < 0)
			return err_set(err, ERR_USAGE, "pods: no pod \"%s\" in %s", names[i], path);
	if (conf->n_pods == 0)
		return pods_none(conf, ERR_NODATA, err);
	*chosen = *conf;
	chosen->pods = xcalloc(conf->n_pods, sizeof(*chosen->pods));
	chosen->n_pods = 0;
	for (size_t i = 0; i < conf->n_pods; i++)
		if (n == 0 || any_of(k, n, strcmp(names[k], conf->pods[i].name) == 0))
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
