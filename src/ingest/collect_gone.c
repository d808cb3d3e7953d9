/* SPDX-License-Identifier: MIT */
/*
 * Logs that went away from a pod and nothing took their place: said once, and
 * again when they are back.  What was read of them stays as it is.
 */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ingest/collect_priv.h"

/* Those that went first are forgotten. */
#define GONE_MAX 1024
/* More at once are said in one sentence. */
#define SAY_EACH 3

struct gone {
	struct list link;
	char *path, *name; /* where it lay last and first; raw bytes */
	unsigned int gen;
	bool told;
};

static void
gone_free(struct collect_pod *pod, struct gone *gone)
{
	list_remove(&gone->link);
	pod->n_gone--;
	free(gone->path);
	free(gone->name);
	free(gone);
}

/* The end of path that has as many folders as the pattern. */
static const char *
same_depth(const char *pattern, const char *path)
{
	const char *at = path + strlen(path);
	size_t n = 0;

	for (; *pattern != '\0'; pattern++)
		n += *pattern == '/';
	while (at > path && n > 0)
		n -= *--at == '/';
	return at;
}

/* Whether the configuration (of now) asks for a log there. */
static bool
is_wanted(const struct collect_pod *pod, const char *path)
{
	const struct conf_strings *logs = &pod->conf->logs;

	for (size_t i = 0; i < logs->n; i++) {
		const char *pattern = logs->v[i], *end = path;

		/* Only the pod knows its home. */
		if (pattern[0] == '~') {
			pattern += strcspn(pattern, "/");
			end = same_depth(pattern, path);
		}
		if (fnmatch(pattern, end, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}

/* It was rotated, cut or written anew: another one is followed there. */
static bool
is_replaced(const struct follow *follow, const struct follow_file *ff)
{
	const struct follow_file *other = NULL;

	while ((other = follow_next_file(follow, other)) != NULL)
		if (other != ff && other->live &&
		    (strcmp(other->path, ff->path) == 0 ||
		     (strcmp(other->name, ff->name) == 0 &&
		      other->generation > ff->generation)))
			return true;
	return false;
}

static void
mark(struct collect_pod *pod, const struct gone *gone, int64_t wall_ms)
{
	struct collect *c = pod->collect;

	if (c->o.keep_view)
		model_log_gone(
			c->o.model,
			collect_log(c, pod->model_pod, gone->name, gone->gen),
			wall_ms);
}

void
collect_gone_add(struct collect_pod *pod, const struct follow *follow,
		 const struct follow_file *ff)
{
	const struct clock *clock = loop_clock(pod->collect->o.loop);
	struct gone *gone;

	if (!is_wanted(pod, ff->path) || is_replaced(follow, ff))
		return;
	if (pod->n_gone >= GONE_MAX)
		gone_free(pod, list_entry(pod->gone.next, struct gone, link));
	gone = xcalloc(1, sizeof(*gone));
	gone->path = xstrdup(ff->path);
	gone->name = xstrdup(ff->name);
	gone->gen = ff->generation;
	list_append(&pod->gone, &gone->link);
	pod->n_gone++;
	mark(pod, gone, clock->wall_ms(clock));
}

void
collect_gone_back(struct collect_pod *pod, const struct follow_file *ff,
		  bool goes_on)
{
	list_for_each_safe(at, &pod->gone)
	{
		struct gone *gone = list_entry(at, struct gone, link);

		if (strcmp(gone->path, ff->path) != 0 &&
		    strcmp(gone->name, ff->name) != 0)
			continue;
		if (gone->told)
			collect_say(
				pod->collect, MODEL_INFO,
				"%s: %s is there again%s", pod->name, ff->path,
				goes_on ? " and goes on" : ", written anew");
		mark(pod, gone, 0);
		gone_free(pod, gone);
	}
}

/* The dashboard tells it as an alert where a run is cut short by it. */
static bool
is_an_alert(const struct collect_pod *pod, const struct gone *gone)
{
	struct collect *c = pod->collect;

	return c->o.keep_view &&
	       model_log_cut_run(c->o.model,
				 collect_log(c, pod->model_pod, gone->name,
					     gone->gen)) != NULL;
}

/* Not at once: of a log that is cut, the next generation follows. */
void
collect_gone_tick(struct collect_pod *pod)
{
	const char *last = NULL;
	size_t n = 0;

	list_for_each (at, &pod->gone) {
		struct gone *gone = list_entry(at, struct gone, link);

		if (gone->told)
			continue;
		gone->told = true;
		if (is_an_alert(pod, gone))
			continue;
		last = gone->path;
		if (++n <= SAY_EACH)
			collect_say(pod->collect, MODEL_WARNING,
				    "%s: %s is gone from the pod; what was "
				    "read of it stays",
				    pod->name, gone->path);
	}
	if (n > SAY_EACH)
		collect_say(pod->collect, MODEL_WARNING,
			    "%s: %zu more logs are gone from the pod, %s "
			    "among them",
			    pod->name, n - SAY_EACH, last);
}

void
collect_gone_release(struct collect_pod *pod)
{
	while (!list_is_empty(&pod->gone))
		gone_free(pod, list_entry(pod->gone.next, struct gone, link));
}
