/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench noise`: what is known of the noise of each pod. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bench/noise_register.h"
#include "cmd/cmd.h"
#include "report/out.h"

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, NULL, NULL, NULL },
};

static const struct out_column columns[] = {
	{ "pod", NULL, -1, 0 },		{ "gpu", "GPU", -1, 0 },
	{ "class", NULL, -1, 0 },	{ "n_runs", "runs", 0, 0 },
	{ "sd_pct", "sd %", 3, 0 },	{ "drift_pct", "drift %", 3, 0 },
	{ "drift_p", "p", 2, 0 },	{ "mde3_pct", "shows in 3", 2, 0 },
	{ "mde6_pct", "in 6", 2, 0 },	{ "mde10_pct", "in 10", 2, 0 },
	{ "rank_text", "rank", -1, 0 }, { "when", NULL, -1, 0 },
	{ "driver", NULL, -1, 0 },	{ NULL, NULL, 0, 0 },
};

/* Is the entry of one of the pods that were named, or were none? */
static bool
is_asked(const struct cmd_args *args, const struct noise_entry *entry)
{
	for (int i = args->next; i < args->argc; i++)
		if (strcmp(args->argv[i], entry->pod) == 0)
			return true;
	return args->next >= args->argc;
}

static int
print_all(const struct cmd_args *args, const struct noise_register *reg,
	  enum out_format format, struct err *err)
{
	struct out *out = out_new(stdout, format, columns);
	size_t n = 0;

	for (size_t i = 0; i < reg->n; i++) {
		cJSON *row;

		if (!is_asked(args, &reg->v[i]))
			continue;
		if (n++ > 0 &&
		    strcmp(reg->v[i].class_name, reg->v[i - 1].class_name) != 0)
			out_gap(out);
		row = noise_entry_json(&reg->v[i]);
		out_row(out, row);
		cJSON_Delete(row);
	}
	if (out_free(out) != 0)
		return err_set_errno(err, ERR_IO, "cannot write");
	return n > 0 ? 0
		     : err_set(err, ERR_NODATA,
			       "nothing is known of that noise yet: a bench "
			       "with an A/A arm, or bench audit, measures it");
}

static int
exec_noise(struct cmd_args *args, struct err *err)
{
	struct noise_register reg;
	enum out_format format;
	int status = -1;

	if (cmd_output_options(args, &format, err) != 0)
		return -1;
	if (noise_register_load(&reg, args->context, err) == 0)
		status = print_all(args, &reg, format, err);
	noise_register_release(&reg);
	return status;
}

const struct cmd cmd_bench_noise = {
	.name = "bench noise",
	.usage = "[OPTIONS] [POD...]",
	.summary = "the noise register: how much each pod differs from itself",
	.help = "A row for each pod and class of runs, as benches with an A/A "
		"arm and audits measured it:\nspread (sd) from run to run, "
		"drift over the measurement with its p value, the smallest\n"
		"difference that 3, 6 and 10 blocks would show (power 0.8), "
		"and the rank among the pods of\nthe same class, the quietest "
		"first.",
	.options = options,
	.needs = CONTEXT_CONF,
	.exec = exec_noise,
};
