/* SPDX-License-Identifier: MIT */
/* Allocate and free a bench as the screen shows it. The app fills it; the model frees it. */
#include "model/bench_live.h"

#include "base/xalloc.h"

struct bench_live *bench_live_new(size_t n_arms, size_t n_pods, size_t n_runs, size_t n_contrasts)
{
	struct bench_live *live = xnew(struct bench_live, .n_arms = n_arms, .n_pods = n_pods,
				       .n_runs = n_runs, .n_contrasts = n_contrasts);

	live->arms = xcalloc(n_arms + 1, sizeof(*live->arms));
	live->pods = xcalloc(n_pods + 1, sizeof(*live->pods));
	live->waits = xcalloc(n_pods + 1, sizeof(*live->waits));
	live->runs = xcalloc(n_runs + 1, sizeof(*live->runs));
	live->contrasts = xcalloc(n_contrasts + 1, sizeof(*live->contrasts));
	return live;
}

void bench_live_free(struct bench_live *live)
{
	if (live == NULL)
		return;
	for (size_t i = 0; i < live->n_contrasts; i++) {
		free(live->contrasts[i].d);
		free(live->contrasts[i].pods);
	}
	free(live->contrasts);
	free(live->runs);
	free(live->waits);
	free(live->pods);
	free(live->arms);
	free(live);
}
