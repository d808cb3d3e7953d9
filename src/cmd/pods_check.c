/* SPDX-License-Identifier: MIT */
/* `pods check`: is each pod fit for a run?  A row a pod, reads only. */
#include "config.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "pods/pods.h"
#include "pods/preflight.h"
#include "pods/probe.h"

struct check_call {
	enum out_format format;
	bool accept_new, no_gpu;
	double min_free_bytes, limit_s;
};

static const struct check_call defaults = {
	.min_free_bytes = PODS_PROBE_FREE_BYTES,
	.limit_s = PODS_PROBE_LIMIT_S,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(check_call),
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known",
	  CMD_FLAG, CMD_AT(check_call, accept_new) },
	{ 0, "no-gpu", NULL, "a pod without a GPU is fit too", CMD_FLAG,
	  CMD_AT(check_call, no_gpu) },
	{ 0, "min-free", "BYTES", "free space wanted for scratch [1e9]",
	  CMD_NUMBER, CMD_AT(check_call, min_free_bytes), .high = 1e18 },
	{ 0, "timeout", "SEC", "for each pod, login included [90]", CMD_NUMBER,
	  CMD_AT(check_call, limit_s), .high = 3600 },
	CMD_OPTIONS_END,
};

static const struct out_column columns[] = {
	{ "pod", NULL, 0, 0 },	   { "status", NULL, 0, 0 },
	{ "failure", NULL, 0, 0 }, { "gpu", "GPU", 0, 0 },
	{ "driver", NULL, 0, 0 },  { "free_bytes", "free GB", 1, 1e-9 },
	{ "python", NULL, 0, 0 },  { "torch", NULL, 0, 0 },
	{ "triton", NULL, 0, 0 },  { "clock_offset_s", "clock s", 1, 0 },
	{ "text", NULL, 0, 0 },	   { "next", "next step", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

/* The worst exit status of the rows, which are printed and freed. */
static int
print_rows(cJSON **rows, size_t n, enum out_format format, struct err *err)
{
	struct out *out = cmd_out(format, columns);
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		int status = preflight_status(rows[i]);

		worst = status > worst ? status : worst;
		out_take(out, rows[i]);
	}
	return cmd_out_end(out, worst, err);
}

/* Look at all of them at once and print their rows. */
static int
exec_pods_check(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct check_call *call = opaque;
	struct pods_probe probe = {
		.accept_new = call->accept_new,
		.any_gpu = !call->no_gpu,
		.own_gpus = !call->no_gpu,
		.min_free_bytes = call->min_free_bytes,
		.limit_s = call->limit_s,
	};
	struct conf conf;
	cJSON **rows;
	int rc;

	if (pods_choose(&conf, &args->context->conf, args->argv, args->argc,
			err) != 0)
		return -1;
	probe.pods = conf.pods;
	probe.n = conf.n_pods;
	rows = xcalloc(probe.n, sizeof(cJSON *));
	rc = pods_probe(&probe, rows, err);
	if (rc == 0)
		rc = print_rows(rows, probe.n, call->format, err);
	else if (rc > 0)
		rc += 128;
	free((void *)rows);
	free(conf.pods);
	return rc;
}

const struct cmd cmd_pods_check = {
	.name = "pods check",
	.usage = "[OPTIONS] [NAME...]",
	.summary = "check whether each pod is fit for a run",
	.help = "Logs in to each pod and looks, without writing anything: "
		"host key, login, shell,\nscratch space, GPUs and who uses "
		"them, driver, python3, torch, triton, what is left\nof "
		"earlier benches, the clock.  One row a pod; each failure is "
		"one of ssh, auth,\nhostkey, gpu, disk, environment, timeout, "
		"with the next step in words.\nExit status 3 when a pod is "
		"not fit, 4 when one cannot be reached.",
	.options = options,
	.size = sizeof(struct check_call),
	.defaults = &defaults,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.exec = exec_pods_check,
};
