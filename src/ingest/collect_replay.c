/* SPDX-License-Identifier: MIT */
/*
 * Mirrors of an earlier life, read again in turns beside all else: short ones,
 * so that the screen and the links stay alive.
 */
#include "config.h"

#include "ingest/collect_priv.h"

#define BLOCK_BYTES  ((size_t)256 * 1024)
#define TURN_MS	     20
#define FULL_WAIT_MS 50

/* Read on in one file until the turn is over; true when it is done with. */
static bool
read_file(struct collect_file *file, int64_t end_ms)
{
	struct collect *c = file->pod->collect;

	while (collect_file_replay(file, BLOCK_BYTES)) {
		if (collect_now_ms(c) >= end_ms || store_is_full(c->store))
			return false;
	}
	c->n_replays--;
	return true;
}

static void
on_turn(void *user)
{
	struct collect *c = user;
	int64_t end_ms = collect_now_ms(c) + TURN_MS;
	bool is_full = store_is_full(c->store);

	list_for_each (pod_link, &c->pods) {
		struct collect_pod *pod =
			list_entry(pod_link, struct collect_pod, link);

		list_for_each_safe(link, &pod->files)
		{
			struct collect_file *file =
				list_entry(link, struct collect_file, link);

			if (c->n_replays == 0)
				return;
			if (!file->is_replay)
				continue;
			if (is_full || !read_file(file, end_ms)) {
				loop_timer_start(c->replay,
						 store_is_full(c->store)
							 ? FULL_WAIT_MS
							 : 1,
						 0);
				return;
			}
			if (file->is_ended)
				collect_file_end(file);
		}
	}
}

void
collect_replay_start(struct collect *c)
{
	if (c->replay == NULL)
		c->replay = loop_timer_new(c->o.loop, on_turn, c);
	loop_timer_start(c->replay, 1, 0);
}
