/* SPDX-License-Identifier: MIT */
/* Which pods there are and how they are reached; follows a new configuration.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"

static void
on_link(void *user, size_t index)
{
	struct collect_fleet *fleet = user;

	if (fleet->pods[index] != NULL)
		collect_pod_judge(fleet->pods[index]);
}

static void
on_ask(void *user, const struct fleet_question *question)
{
	struct collect_fleet *fleet = user;
	struct fleet_question asked = *question;
	struct collect_pod *pod = fleet->pods[question->pod];

	if (pod == NULL)
		return;
	asked.pod = pod->model_pod;
	fleet->collect->o.cb.on_ask(fleet->collect->o.cb.user, &asked);
}

static void
fill_remote(struct remote_pod *remote, const struct conf_pod *conf)
{
	static const enum remote_transport transports[] = {
		[CONF_LIBSSH2] = REMOTE_LIBSSH2,
		[CONF_OPENSSH] = REMOTE_OPENSSH,
		[CONF_LOCAL] = REMOTE_LOCAL,
	};

	/* Copies: the configuration may be replaced under the fleet. */
	remote->name = xstrdup(conf->name);
	remote->ssh = xstrdup_null(conf->ssh);
	remote->identity = xstrdup_null(conf->identity);
	remote->known_hosts = xstrdup_null(conf->known_hosts);
	remote->proxy_jump = xstrdup_null(conf->proxy_jump);
	remote->transport = transports[conf->transport];
}

/* Free a text that struct remote_pod has as a borrowed one. */
static void
free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

/* Begin to reach these pods (n > 0). */
static void
add_fleet(struct collect *c, const struct conf_pod *const *confs, size_t n)
{
	struct collect_fleet *fleet = xcalloc(1, sizeof(*fleet));
	const struct fleet_options options = {
		.on_ask = c->o.cb.on_ask != NULL ? on_ask : NULL,
		.on_link = on_link,
		.user = fleet,
		.accept_new = c->o.accept_new,
	};

	fleet->collect = c;
	fleet->n = n;
	fleet->remotes = xcalloc(n, sizeof(*fleet->remotes));
	fleet->pods = xcalloc(n, sizeof(struct collect_pod *));
	for (size_t i = 0; i < n; i++)
		fill_remote(&fleet->remotes[i], confs[i]);
	fleet->fleet = fleet_new(c->o.loop, fleet->remotes, n, &options);
	list_append(&c->fleets, &fleet->link);
	for (size_t i = 0; i < n; i++)
		fleet->pods[i] = collect_pod_new(fleet, i, confs[i]);
}

void
collect_fleet_free(struct collect_fleet *fleet)
{
	fleet_free(fleet->fleet);
	for (size_t i = 0; i < fleet->n; i++) {
		free_text(fleet->remotes[i].name);
		free_text(fleet->remotes[i].ssh);
		free_text(fleet->remotes[i].identity);
		free_text(fleet->remotes[i].known_hosts);
		free_text(fleet->remotes[i].proxy_jump);
	}
	list_remove(&fleet->link);
	free(fleet->remotes);
	free(fleet->pods);
	free(fleet);
}

static struct collect_pod *
find_pod(const struct collect *c, const char *name)
{
	list_for_each (link, &c->pods) {
		struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);

		if (!pod->is_gone && strcmp(pod->name, name) == 0)
			return pod;
	}
	return NULL;
}

/* Keep the pods that are as they were; let the others go. */
static void
keep_pods(struct collect *c, const struct conf *conf)
{
	list_for_each (link, &c->pods) {
		struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);
		int i = conf_find_pod(conf, pod->name);
		const struct conf_pod *old = pod->conf;

		if (pod->is_gone)
			continue;
		if (i < 0 || !conf_pod_same_link(old, &conf->pods[i])) {
			collect_say(c, MODEL_INFO, "%s: let go", pod->name);
			collect_pod_let_go(pod);
			continue;
		}
		pod->conf = &conf->pods[i];
		c->o.model->pods[pod->model_pod].usd_per_hour =
			pod->conf->usd_per_hour;
		if (!conf_same_strings(&old->logs, &pod->conf->logs))
			collect_follow_renew(pod);
	}
}

/* The pods of the configuration that are not there yet, in one fleet. */
void
collect_add_pods(struct collect *c)
{
	const struct conf *conf = c->o.conf;
	const struct conf_pod **added =
		xcalloc(conf->n_pods + 1, sizeof(struct conf_pod *));
	size_t n = 0;

	for (size_t i = 0; i < conf->n_pods; i++)
		if (find_pod(c, conf->pods[i].name) == NULL)
			added[n++] = &conf->pods[i];
	if (n > 0)
		add_fleet(c, added, n);
	free(added);
}

void
collect_reload(struct collect *c, const struct conf *conf)
{
	keep_pods(c, conf);
	c->o.conf = conf;
	if (c->store != NULL || c->o.no_follow)
		collect_add_pods(c);
	else
		collect_reader_reload(c);
}
