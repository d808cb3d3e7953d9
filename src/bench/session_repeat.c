/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are begun again, since the pod did something to a run of them
 * that was seen elsewhere than in its value; called by the parts.
 */
#include "config.h"

#include <stdio.h>

#include "base/xalloc.h"
#include "bench/session_priv.h"

#define REPEATS_FILE "repeats.json"
#define MAX_REPEATED (PLAN_MAX_PODS * PLAN_MAX_ROUNDS * SESSION_MAX_REPEATS)

/* Guards that speak of the pod at that moment, and are no matter of value. */
static bool
is_of_pod(enum guard guard)
{
	return guard == GUARD_THROTTLED || guard == GUARD_FOREIGN ||
	       guard == GUARD_CLOCK;
}

bool
session_wants_repeat(const struct session *s, const struct session_run *run,
		     char *out, size_t size)
{
	const struct guard_hit *why = NULL;

	if (!run->counted || run->repeat >= SESSION_MAX_REPEATS ||
	    s->n_repeats == MAX_REPEATED)
		return false;
	for (size_t i = 0; i < run->hits.n; i++) {
		const struct guard_hit *hit = &run->hits.hit[i];

		if (!hit->hard)
			continue;
		if (!is_of_pod(hit->guard))
			return false;
		why = why != NULL ? why : hit;
	}
	if (why != NULL)
		(void)snprintf(out, size, "%s: %s: %s", run->id,
			       guard_word(why->guard), why->text);
	return why != NULL;
}

static void
add_repeat(struct session *s, size_t pod, size_t block, const char *reason)
{
	struct session_repeat *repeat;

	s->repeats = xgrow(s->repeats, s->n_repeats, &s->cap_repeats,
			   sizeof(*s->repeats));
	repeat = &s->repeats[s->n_repeats++];
	repeat->pod = pod;
	repeat->block = block;
	(void)snprintf(repeat->reason, sizeof(repeat->reason), "%s", reason);
}

/* Forget what was measured of a run; its files stay where they are. */
static void
begin_again(struct session *s, struct session_run *run)
{
	unsigned int repeat = run->repeat + 1;

	if (run->has_log)
		run_log_release(&run->log);
	*run = (struct session_run){ .pod = run->pod,
				     .round = run->round,
				     .pos = run->pos,
				     .arm = run->arm,
				     .counted = true,
				     .block = run->block,
				     .rep = run->rep,
				     .fresh = run->fresh,
				     .repeat = repeat };
	session_name_run(s, run);
}

static void
begin_block_again(struct session *s, size_t pod, size_t block)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].pod == pod && s->runs[i].counted &&
		    s->runs[i].block == block)
			begin_again(s, &s->runs[i]);
}

void
session_repeats_read(struct session *s)
{
	cJSON *root = folder_read_json(s->setup.path, REPEATS_FILE);
	double blocks[2] = { 0, 2 * PLAN_MAX_ROUNDS - 1 };
	const cJSON *node;

	cJSON_ArrayForEach(node, root)
	{
		const char *id = json_get_string(node, "pod", "");
		double block = folder_number(node, "block", blocks, -1);

		for (size_t pod = 0; block >= 0 && pod < s->plan->n_pods;
		     pod++) {
			if (strcmp(s->plan->pods[pod].id, id) != 0 ||
			    s->n_repeats == MAX_REPEATED)
				continue;
			add_repeat(s, pod, (size_t)block,
				   json_get_string(node, "reason", "?"));
			begin_block_again(s, pod, (size_t)block);
		}
	}
	cJSON_Delete(root);
}

static int
write_repeats(const struct session *s, struct err *err)
{
	cJSON *root = cJSON_CreateArray();
	int result;

	for (size_t i = 0; i < s->n_repeats; i++) {
		const struct session_repeat *repeat = &s->repeats[i];
		cJSON *node = cJSON_CreateObject();

		json_add_string(node, "pod", s->plan->pods[repeat->pod].id);
		json_add_number(node, "block", (double)repeat->block);
		json_add_string(node, "reason", repeat->reason);
		cJSON_AddItemToArray(root, node);
	}
	result = folder_write_json(s->setup.path, REPEATS_FILE, root, err);
	cJSON_Delete(root);
	return result;
}

int
session_repeat_block(struct session *s, const struct session_run *run,
		     const char *reason, struct err *err)
{
	size_t pod = run->pod, block = run->block;

	add_repeat(s, pod, block, reason);
	if (write_repeats(s, err) != 0) {
		s->n_repeats--;
		return -1;
	}
	begin_block_again(s, pod, block);
	return 0;
}
