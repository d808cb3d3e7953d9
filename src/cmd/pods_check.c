/* SPDX-License-Identifier: MIT */
/* `pods check`: is each pod fit for a run?  A row a pod, reads only. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "conf/conf.h"
#include "parsers/json.h"
#include "pods/pods.h"
#include "pods/preflight.h"
#include "pods/probe.h"
#include "report/out.h"

#define LIMIT_MOST_S 3600.0

enum option {
	OPTION_ACCEPT_NEW = CMD_OUTPUT_COUNT,
	OPTION_NO_GPU,
	OPTION_MIN_FREE,
	OPTION_TIMEOUT,
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known" },
	{ 0, "no-gpu", NULL, "a pod without a GPU is fit too" },
	{ 0, "min-free", "BYTES", "free space wanted for scratch [1e9]" },
	{ 0, "timeout", "SEC", "for each pod, login included [90]" },
	{ 0, NULL, NULL, NULL },
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

/* What the options ask for. */
struct check {
	bool no_gpu;
	struct pods_probe probe;
};

/* The worst exit status of the rows, which are printed. */
static int
print_rows(cJSON **rows, size_t n, enum out_format format, struct err *err)
{
	struct out *out = out_new(stdout, format, columns);
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		const cJSON *one, *failures = cJSON_GetObjectItemCaseSensitive(
					  rows[i], "failures");

		cJSON_ArrayForEach(one, failures)
		{
			if (preflight_is_unreachable(
				    json_get_string(one, "class", "")))
				worst = err_exit_status(ERR_NET);
			else if (worst == 0)
				worst = err_exit_status(ERR_CHECK);
		}
		out_row(out, rows[i]);
	}
	if (out_free(out) != 0)
		worst = err_set(err, ERR_IO, "cannot write the output");
	return worst;
}

/* Look at all of them at once and print their rows. */
static int
check_pods(struct check *check, const struct conf *conf, size_t n,
	   enum out_format format, struct err *err)
{
	struct remote_pod *remotes = xcalloc(n, sizeof(*remotes));
	cJSON **rows = xcalloc(n, sizeof(cJSON *));
	int rc;

	for (size_t i = 0; i < n; i++)
		remotes[i] = pods_remote(&conf->pods[i]);
	check->probe.pods = conf->pods;
	check->probe.remotes = remotes;
	check->probe.n = n;
	check->probe.any_gpu = check->probe.own_gpus = !check->no_gpu;
	rc = pods_probe(&check->probe, rows, err);
	if (rc == 0)
		rc = print_rows(rows, n, format, err);
	else if (rc > 0)
		rc += 128;
	for (size_t i = 0; i < n; i++)
		cJSON_Delete(rows[i]);
	free((void *)rows);
	free(remotes);
	return rc;
}

static int
take_number(const char *name, const char *value, double most, double *out,
	    struct err *err)
{
	double number;

	if (!str_to_double(str_from(value), &number) || !(number >= 0) ||
	    number > most)
		return err_set(err, ERR_USAGE,
			       "pods check: --%s: \"%s\" is not a number from "
			       "0 to %.0f",
			       name, value, most);
	*out = number;
	return 0;
}

static int
take_limit(struct check *check, int option, const char *value, struct err *err)
{
	if (option == OPTION_MIN_FREE)
		return take_number("min-free", value, 1e18,
				   &check->probe.min_free_bytes, err);
	return take_number("timeout", value, LIMIT_MOST_S,
			   &check->probe.limit_s, err);
}

static int
take_options(struct cmd_args *args, struct check *check,
	     enum out_format *format, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (cmd_output_option(option, format))
			continue;
		if (option == OPTION_ACCEPT_NEW)
			check->probe.accept_new = true;
		else if (option == OPTION_NO_GPU)
			check->no_gpu = true;
		else if (take_limit(check, option, value, err) != 0)
			return -1;
	}
	return option == CMD_OPTIONS_WRONG ? -1 : 0;
}

static int
run(struct cmd_args *args, struct err *err)
{
	struct check check = {
		.probe = { .min_free_bytes = PODS_PROBE_FREE_BYTES,
			   .limit_s = PODS_PROBE_LIMIT_S },
	};
	enum out_format format = OUT_TABLE;
	struct conf *conf = &args->context->conf;
	int rc;

	if (take_options(args, &check, &format, err) != 0)
		return -1;
	rc = pods_choose(conf, args->argv + args->next, args->argc - args->next,
			 err);
	if (rc == 0)
		rc = err_set(err, ERR_NODATA, "the configuration has no pods");
	if (rc > 0)
		rc = check_pods(&check, conf, (size_t)rc, format, err);
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
	.needs = CONTEXT_CONF,
	.exec = run,
};
