/* SPDX-License-Identifier: MIT */
/*
 * Benches that another hgym-tui drives: while one runs on a pod, nothing is
 * asked of the pod from here.  The database tells of them.
 */
#include "config.h"

#include <string.h>

#include "bench/record.h"
#include "ingest/collect_priv.h"
#include "parsers/json.h"
#include "store/benches.h"

static bool
same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Mark the pods that the bench's definition names. */
static int
mark_pods(void *user, const struct stored_bench *bench)
{
	struct collect *c = user;
	cJSON *root, *pods, *node;

	if (bench->definition == NULL || bench->dir == NULL ||
	    !bench_is_driven(bench->dir))
		return 0;
	root = json_parse(str_from(bench->definition), false, NULL);
	pods = cJSON_GetObjectItemCaseSensitive(root, "pods");
	cJSON_ArrayForEach(node, pods)
	{
		const char *id = json_get_string(node, "id", NULL);
		const char *ssh = json_get_string(node, "ssh", NULL);

		list_for_each (link, &c->pods) {
			struct collect_pod *pod =
				list_entry(link, struct collect_pod, link);

			pod->has_bench |= same_text(pod->name, id) ||
					  same_text(pod->conf->ssh, ssh);
		}
	}
	cJSON_Delete(root);
	return 0;
}

void
collect_look_for_benches(struct collect *c)
{
	if (c->history == NULL)
		return;
	list_for_each (link, &c->pods)
		list_entry(link, struct collect_pod, link)->has_bench = false;
	(void)store_each_bench(c->history, "running", mark_pods, c, NULL);
	list_for_each (link, &c->pods) {
		struct collect_pod *pod =
			list_entry(link, struct collect_pod, link);

		if (pod->is_gone || pod->has_bench == pod->is_quiet)
			continue;
		collect_say(c, MODEL_INFO, "%s: %s", pod->name,
			    pod->has_bench ? "a bench runs: silent"
					   : "the bench is over");
		collect_pod_quiet(pod, pod->has_bench);
	}
}
