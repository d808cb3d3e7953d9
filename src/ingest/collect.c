/* SPDX-License-Identifier: MIT */
/*
 * The composition of configuration, transports, followers, mirrors, parsers,
 * model and store; see collect.h.  Used by `collect` and the dashboard.
 */
#include "config.h"

#include "ingest/collect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "ingest/collect_priv.h"

int64_t
collect_now_ms(const struct collect *collect)
{
	const struct clock *clock = loop_clock(collect->o.loop);

	return clock->mono_ms(clock);
}

void
collect_say(struct collect *collect, enum model_severity severity,
	    const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_debug("collect", "%s", text);
	if (collect->o.cb.on_say != NULL)
		collect->o.cb.on_say(collect->o.cb.user, severity, text);
}

static void
on_flush(void *user)
{
	struct collect *c = user;

	list_for_each (pod_link, &c->pods) {
		struct collect_pod *pod =
			list_entry(pod_link, struct collect_pod, link);

		list_for_each (link, &pod->files)
			collect_file_flush(
				list_entry(link, struct collect_file, link));
	}
}

static void
on_store_state(void *user, const struct err *why)
{
	struct collect *c = user;

	if (why != NULL)
		collect_say(c, MODEL_ALARM, "%s; what was read waits in memory",
			    why->text);
	else
		collect_say(c, MODEL_INFO, "the database is written again");
}

/* The store took what waited: those that were paused go on. */
static void
on_room(void *user)
{
	struct collect *c = user;

	if (!c->is_full || store_is_full(c->store))
		return;
	c->is_full = false;
	c->last_news_ms = collect_now_ms(c);
	list_for_each (link, &c->pods)
		collect_follow_resume(
			list_entry(link, struct collect_pod, link));
}

static void
on_tick(void *user)
{
	struct collect *c = user;

	if (c->fetch != NULL)
		collect_fetch_tick(c);
	if (c->ticks++ % 2 == 0)
		collect_look_for_benches(c);
	list_for_each (link, &c->pods)
		collect_pod_tick(list_entry(link, struct collect_pod, link));
}

/* Many files are open at once: take as many as the system gives. */
static void
raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Mirrors belong to their database: its real path names their folder. */
static char *
mirror_folder(const char *db_path)
{
	char *state = conf_dir_state();
	char *real = realpath(db_path, NULL);
	char *folder = xasprintf("%s/mirror/%016llx", state,
				 (unsigned long long)str_hash(str_from(
					 real != NULL ? real : db_path)));

	free(real);
	free(state);
	return folder;
}

static int
open_mirrors(struct collect *c, struct err *err)
{
	char *folder = mirror_folder(c->o.db_path);
	int rc = conf_make_dir(folder, err);

	if (rc == 0)
		c->mirrors = mirror_dir_open(
			folder, (uint64_t)c->o.conf->mirror_cap_bytes, err);
	free(folder);
	return c->mirrors != NULL ? 0 : -1;
}

/* The program's version and all that its rules are made of, as a text. */
static char *
rules_text(const struct format_set *formats)
{
	uint64_t hash = str_hash(STR_LIT(PACKAGE_VERSION));

	for (size_t i = 0; i < format_set_rules(formats); i++) {
		const struct rule *rule = format_set_rule(formats, i);
		char *text = xasprintf("%016llx %s %s %s %d %d",
				       (unsigned long long)hash, rule->format,
				       rule->name, rule->pattern,
				       (int)rule->kind, (int)rule->stage);

		hash = str_hash(str_from(text));
		free(text);
	}
	return xasprintf("%016llx", (unsigned long long)hash);
}

static int
open_store(struct collect *c, struct err *err)
{
	char *rules = rules_text(c->o.formats);
	const struct store_options options = {
		.path = c->o.db_path,
		.read_only = c->o.read_only,
		.loop = c->o.loop,
		.rules = rules,
		.cb = { on_flush, on_store_state, on_room, c },
	};

	if (conf_make_dir_of(c->o.db_path, err) == 0)
		c->store = store_open(&options, err);
	free(rules);
	if (c->store == NULL)
		return -1;
	c->history = c->store;
	if (store_is_writer(c->store))
		return open_mirrors(c, err);
	if (c->o.must_write)
		return err_set(err, ERR_DB, "%s", store_why_reader(c->store));
	if (!c->o.read_only)
		collect_say(c, MODEL_WARNING, "%s", store_why_reader(c->store));
	c->store = NULL;
	return 0;
}

static int
close_store(struct collect *c, struct err *err)
{
	int rc;

	collect_fetch_close(c);
	rc = store_close(c->history, err);
	if (c->mirrors != NULL)
		mirror_dir_free(c->mirrors);
	c->store = c->history = NULL;
	c->mirrors = NULL;
	return rc;
}

int
collect_become_writer(struct collect *c, struct err *err)
{
	(void)close_store(c, NULL);
	if (open_store(c, err) != 0)
		return -1;
	return collect_history_open(c, err);
}

struct collect *
collect_new(const struct collect_options *options, struct err *err)
{
	struct collect *c = xcalloc(1, sizeof(*c));

	c->o = *options;
	list_init(&c->fleets);
	list_init(&c->pods);
	raise_file_limit();
	list_init(&c->asks);
	c->last_news_ms = c->start_ms = collect_now_ms(c);
	if (!c->o.no_follow &&
	    (open_store(c, err) != 0 ||
	     (c->o.keep_view && collect_history_open(c, err) != 0))) {
		close_store(c, NULL);
		free(c);
		return NULL;
	}
	c->tick = loop_timer_new(c->o.loop, on_tick, c);
	loop_timer_start(c->tick, COLLECT_TICK_MS, COLLECT_TICK_MS);
	if (c->store != NULL || c->o.no_follow)
		collect_add_pods(c);
	else
		collect_reader_start(c);
	return c;
}

int
collect_free(struct collect *c, struct err *err)
{
	int rc;

	if (c == NULL)
		return 0;
	c->is_ending = true;
	loop_timer_close(c->tick);
	list_for_each (link, &c->pods)
		collect_follow_stop(list_entry(link, struct collect_pod, link));
	list_for_each_safe(link, &c->fleets) collect_fleet_free(
		list_entry(link, struct collect_fleet, link));
	list_for_each_safe(link, &c->pods)
		collect_pod_free(list_entry(link, struct collect_pod, link));
	loop_timer_close(c->replay);
	loop_timer_close(c->look);
	rc = close_store(c, err);
	free(c);
	return rc;
}

static struct collect_pod *
pod_of_model(const struct collect *c, size_t model_pod)
{
	list_for_each (link, &c->pods) {
		struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);

		if (!pod->is_gone && pod->model_pod == model_pod)
			return pod;
	}
	return NULL;
}

struct transport *
collect_transport(struct collect *c, size_t pod, size_t *index)
{
	struct collect_pod *found = pod_of_model(c, pod);

	if (found == NULL)
		return NULL;
	*index = found->index;
	return fleet_transport(found->fleet->fleet);
}

void
collect_answer(struct collect *c, size_t pod, const char *answer)
{
	struct collect_pod *found = pod_of_model(c, pod);

	if (found != NULL)
		fleet_answer(found->fleet->fleet, found->index, answer);
}

void
collect_reconnect(struct collect *c, size_t pod)
{
	struct collect_pod *found = pod_of_model(c, pod);
	struct transport *t;

	if (found == NULL)
		return;
	t = fleet_transport(found->fleet->fleet);
	t->ops->reconnect(t, found->index);
	collect_follow_retry(found);
}

int64_t
collect_idle_ms(const struct collect *c)
{
	/* Paused is not idle. */
	return c->is_full ? 0 : collect_now_ms(c) - c->last_news_ms;
}

/* For so long, what was told of a log and does not come is waited for. */
#define BEHIND_MS 20000

bool
collect_is_settled(const struct collect *c)
{
	bool waits = collect_idle_ms(c) < BEHIND_MS;

	if (c->n_replays > 0)
		return false;
	list_for_each (link, &c->pods) {
		const struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);

		if (!pod->is_gone && !pod->is_settled &&
		    pod->verdict.state != POD_REFUSED &&
		    pod->verdict.state != POD_RECONNECTING)
			return false;
		if (!pod->is_gone && waits && collect_follow_is_behind(pod))
			return false;
	}
	return true;
}

size_t
collect_unreachable(const struct collect *c)
{
	size_t n = 0;

	list_for_each (link, &c->pods) {
		const struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);

		n += !pod->is_gone && pod->verdict.state != POD_LIVE &&
		     pod->verdict.state != POD_SILENT;
	}
	return n;
}

bool
collect_is_writer(const struct collect *c)
{
	return c->store != NULL;
}

bool
collect_is_busy(const struct collect *c)
{
	return !list_is_empty(&c->asks);
}
