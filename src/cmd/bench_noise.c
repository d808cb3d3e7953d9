/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench noise`: what is known of the noise of each pod. */
#include "config.h"

#include <string.h>

#include "bench/noise_register.h"
#include "cmd/cmd.h"

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
	for (int i = 0; i < args->argc; i++)
		if (strcmp(args->argv[i], entry->pod) == 0)
			return true;
	return args->argc == 0;
}

static int
exec_noise(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct cmd_output *call = opaque;
	struct noise_register reg;
	struct out *out;
	size_t n = 0;
	int status;

	if (noise_register_load(&reg, args->context, err) != 0)
		return -1;
	out = cmd_out(call->format, columns);
	for (size_t i = 0; i < reg.n; i++) {
		if (!is_asked(args, &reg.v[i]))
			continue;
		if (n++ > 0 &&
		    strcmp(reg.v[i].class_name, reg.v[i - 1].class_name) != 0)
			out_gap(out);
		out_take(out, noise_entry_json(&reg.v[i]));
	}
	status = cmd_out_end(out, 0, err);
	if (status == 0 && n == 0)
		status = err_set(err, ERR_NODATA,
				 "nothing is known of that noise yet: a bench "
				 "with an A/A arm, or bench audit, measures "
				 "it");
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
	.options = cmd_output_options,
	.size = sizeof(struct cmd_output),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF,
	.exec = exec_noise,
};
