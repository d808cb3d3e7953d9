/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard starts and stops. */
#include "config.h"

#include "app_bench.h"

#include <unistd.h>

#define SELF "/proc/self/exe"

int
app_bench_launch(struct loop *loop, const struct cmd_env *env, const char *plan,
		 const char *stop_id, struct err *err)
{
	static const int none[3] = { -1, -1, -1 };
	const char *argv[10];
	struct loop_child *child;
	size_t n = 0;

	argv[n++] = access(SELF, X_OK) == 0 ? SELF : "hgym-tui";
	if (env->config_path != NULL) {
		argv[n++] = "--config";
		argv[n++] = env->config_path;
	}
	argv[n++] = "bench";
	argv[n++] = plan != NULL ? "run" : "abort";
	if (plan != NULL) {
		argv[n++] = "--yes";
		argv[n++] = "--detach";
	}
	argv[n++] = plan != NULL ? plan : stop_id;
	argv[n] = NULL;
	child = loop_child_new(loop, argv, NULL, none, NULL, NULL, err);
	if (child == NULL)
		return -1;
	loop_child_close(child);
	return 0;
}
