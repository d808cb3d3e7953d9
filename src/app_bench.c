/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard starts and stops. */
#include "config.h"

#include "app_bench.h"

#include <unistd.h>

#define SELF "/proc/self/exe"

struct loop_child *
app_bench_launch(struct loop *loop, const struct app_bench_ask *ask,
		 struct err *err)
{
	static const int none[3] = { -1, -1, -1 };
	const char *argv[10];
	size_t n = 0;

	argv[n++] = access(SELF, X_OK) == 0 ? SELF : "hgym-tui";
	if (ask->env->config_path != NULL) {
		argv[n++] = "--config";
		argv[n++] = ask->env->config_path;
	}
	argv[n++] = "bench";
	argv[n++] = ask->plan != NULL ? "run" : "abort";
	if (ask->plan != NULL)
		argv[n++] = "--yes";
	argv[n++] = ask->plan != NULL ? ask->plan : ask->stop_id;
	argv[n] = NULL;
	return loop_child_new(loop, argv, NULL, none, NULL, NULL, err);
}
