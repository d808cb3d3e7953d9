/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench audit`: how much a pod differs from itself; and `bench
 * noise`: what is known of that. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/make.h"
#include "bench/noise_register.h"
#include "cmd/bench.h"
#include "cmd/cmd.h"

struct audit_call {
	struct bench_ask ask;
	struct bench_audit audit;
	const char *probe; /* NULL: what suits the pod */
	const char *file;  /* NULL: the probe */
	bool json;
};

static const char *const probes[] = { "cpu", "gpu", NULL };

static const struct audit_call defaults = {
	.ask = { .quiet = true },
	.audit = { .blocks = (double)NAN, .minutes = (double)NAN },
};

static const struct cmd_option options[] = {
	BENCH_ASK_OPTIONS,
	{ 0, "json", NULL, "print the pod's rows of `bench noise` as JSON",
	  CMD_FLAG, CMD_AT(audit_call, json) },
	{ 0, "blocks", "N", "pairs of runs, 3 to 100 (default 6)", CMD_NUMBER,
	  CMD_AT(audit_call, audit.blocks), .low = 3, .high = 100 },
	{ 0, "variant", "TAG", "audit that variant of FILE, not its control",
	  CMD_TEXT, CMD_AT(audit_call, audit.variant) },
	{ 0, "probe", "KIND", "without FILE: cpu, or gpu (needs torch there)",
	  CMD_WORD, CMD_AT(audit_call, probe), .words = probes },
	{ 0, "minutes", "N", "end after so many minutes", CMD_NUMBER,
	  CMD_AT(audit_call, audit.minutes), .high = 1e6 },
	CMD_OPTIONS_END,
};

static int
check_audit(const struct cmd_args *args, void *opaque, struct err *err)
{
	struct audit_call *call = opaque;

	call->audit.pods = args->argv[0];
	call->audit.blocks = floor(call->audit.blocks);
	call->file = args->argc == 2 ? args->argv[1] : NULL;
	if (call->file == NULL && call->audit.variant != NULL)
		return err_set(err, ERR_USAGE,
			       "bench audit: --variant is of a FILE");
	if (call->file != NULL && call->probe != NULL)
		return err_set(err, ERR_USAGE,
			       "bench audit: --probe is for no FILE");
	return 0;
}

/* What the register knows of one pod of the audit; -1: nothing yet. */
static int
add_pod(struct buf *text, const struct noise_register *reg,
	const struct plan *plan, size_t pod, bool json)
{
	const struct noise_entry *e =
		noise_register_find(reg, plan, 0, pod, "");
	cJSON *row;

	if (e == NULL)
		return -1;
	if (!json) {
		buf_append_str(text, pod > 0 ? "\n" : "");
		noise_entry_text(text, e);
		return 0;
	}
	row = noise_entry_json(e);
	json_print(text, row);
	buf_append_char(text, '\n');
	cJSON_Delete(row);
	return 0;
}

/* The pods' rows of the register: what the audit has learnt. */
static int
print_noise(struct context *context, const struct audit_call *call,
	    const struct plan *plan, struct err *err)
{
	struct noise_register reg;
	struct buf text;
	int status = 0;

	if (noise_register_load(&reg, context, err) != 0)
		return -1;
	buf_init(&text, 1024U * 1024);
	for (size_t i = 0; i < plan->n_pods; i++)
		if (add_pod(&text, &reg, plan, i, call->json) != 0)
			status = err_set(err, ERR_NODATA,
					 "fewer than %d runs of %s were "
					 "measured: nothing can be said of "
					 "its noise",
					 NOISE_MIN_RUNS, plan->pods[i].id);
	if (call->file == NULL && !call->json && status == 0)
		buf_appendf(&text, "\n%s\n",
			    bench_probe_what(call->audit.probe));
	if (cmd_print(&text, status == 0 ? err : NULL) != 0)
		status = -1;
	buf_release(&text);
	noise_register_release(&reg);
	return status;
}

/* With the definition as it will be kept. */
static int
run_audit(struct context *context, const struct audit_call *call,
	  const cJSON *root, struct err *err)
{
	struct plan plan;
	struct buf text;
	int status;

	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, root);
	buf_append_char(&text, '\n');
	status = plan_parse(&plan, call->file != NULL ? call->file : "audit",
			    (struct str){ text.data, text.len }, err);
	if (status == 0) {
		if (call->file == NULL)
			(void)fprintf(stderr, "%s\n",
				      bench_probe_what(call->audit.probe));
		status =
			bench_begin(context, &plan, text.data, &call->ask, err);
		if (status == 0 && !call->ask.dry && !call->ask.detach)
			status = print_noise(context, call, &plan, err);
		plan_release(&plan);
	}
	buf_release(&text);
	return status;
}

static int
exec_audit(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct conf *conf = &args->context->conf;
	struct audit_call *call = opaque;
	cJSON *definition = NULL, *root = NULL;
	struct buf text;
	int status = -1;

	buf_init(&text, JSON_MAX_BYTES);
	if (call->file != NULL) {
		definition = json_parse_file(call->file, &text, err);
		if (definition == NULL)
			err->code = ERR_CONFIG;
	}
	call->audit.definition = definition;
	call->audit.probe = call->probe == NULL
				    ? bench_probe_of(conf, call->audit.pods)
			    : strcmp(call->probe, "gpu") == 0 ? PROBE_GPU
							      : PROBE_CPU;
	if (call->file == NULL || definition != NULL)
		root = bench_make_audit(&call->audit, conf, err);
	if (root != NULL)
		status = run_audit(args->context, call, root, err);
	cJSON_Delete(root);
	cJSON_Delete(definition);
	buf_release(&text);
	return status;
}

const struct cmd cmd_bench_audit = {
	.name = "bench audit",
	.usage = "[OPTIONS] POD[,POD...] [FILE]",
	.summary = "measure how much a pod differs from itself",
	.help = "Runs the same code twice in mirrored blocks: the control of "
		"a bench.json, or a small probe\nof what is on the pod. Ends "
		"with its spread from run to run, its drift, the smallest\n"
		"difference it could show and its rank among the other pods, "
		"and keeps them in the noise\nregister (see bench noise). "
		"POD is of FILE or of the configuration.",
	.options = options,
	.size = sizeof(struct audit_call),
	.defaults = &defaults,
	.least = 1,
	.most = 2,
	.wants = "name a pod, and a bench.json where it is to be of that",
	.check = check_audit,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_audit,
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
