/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench audit`: how much a pod differs from itself. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "bench/make.h"
#include "bench/start.h"
#include "cmd/cmd.h"

enum option {
	OPTION_JSON = BENCH_ASK_COUNT,
	OPTION_BLOCKS,
	OPTION_VARIANT,
	OPTION_PROBE,
	OPTION_MINUTES,
};

static const struct cmd_option options[] = {
	BENCH_ASK_OPTIONS,
	{ 0, "json", NULL, "print the pod's rows of `bench noise` as JSON" },
	{ 0, "blocks", "N", "pairs of runs, 3 to 100 (default 6)" },
	{ 0, "variant", "TAG", "audit that variant of FILE, not its control" },
	{ 0, "probe", "KIND", "without FILE: cpu, or gpu (needs torch there)" },
	{ 0, "minutes", "N", "end after so many minutes" },
	{ 0, NULL, NULL, NULL },
};

struct request {
	struct bench_ask ask;
	struct bench_audit audit;
	const char *probe; /* NULL: what suits the pod */
	const char *file;  /* NULL: the probe */
	bool json;
};

static int
read_number(const char *name, const char *value, const double range[2],
	    double *out, struct err *err)
{
	if (str_to_double(str_from(value), out) && *out >= range[0] &&
	    *out <= range[1])
		return 0;
	return err_set(err, ERR_USAGE,
		       "bench audit: --%s: expected a number from %g to %g",
		       name, range[0], range[1]);
}

static int
take_option(struct request *q, int option, const char *value, struct err *err)
{
	static const double blocks[2] = { 3, 100 }, minutes[2] = { 0, 1e6 };

	if (option == OPTION_BLOCKS) {
		if (read_number("blocks", value, blocks, &q->audit.blocks,
				err) != 0)
			return -1;
		q->audit.blocks = floor(q->audit.blocks);
	} else if (option == OPTION_MINUTES) {
		return read_number("minutes", value, minutes, &q->audit.minutes,
				   err);
	} else if (option == OPTION_VARIANT) {
		q->audit.variant = value;
	} else if (option == OPTION_PROBE) {
		q->probe = value;
		if (strcmp(value, "cpu") != 0 && strcmp(value, "gpu") != 0)
			return err_set(err, ERR_USAGE,
				       "bench audit: --probe: %s: is none of "
				       "cpu, gpu",
				       value);
	}
	q->json |= option == OPTION_JSON;
	return 0;
}

static int
parse_request(struct cmd_args *args, struct request *q, struct err *err)
{
	const char *value;
	int option, n;

	*q = (struct request){
		.ask = { .print = BENCH_QUIET },
		.audit = { .blocks = (double)NAN, .minutes = (double)NAN },
	};
	while ((option = cmd_next_option(args, &value, err)) >= 0)
		if (!bench_ask_option(&q->ask, option) &&
		    take_option(q, option, value, err) != 0)
			return -1;
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	n = args->argc - args->next;
	if (n < 1 || n > 2)
		return err_set(err, ERR_USAGE,
			       "bench audit needs a pod, and may take a "
			       "bench.json");
	q->audit.pods = args->argv[args->next];
	q->file = n == 2 ? args->argv[args->next + 1] : NULL;
	if (q->file == NULL && q->audit.variant != NULL)
		return err_set(err, ERR_USAGE,
			       "bench audit: --variant is of a FILE");
	if (q->file != NULL && q->probe != NULL)
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
print_noise(struct context *context, const struct request *q,
	    const struct plan *plan, struct err *err)
{
	struct noise_register reg;
	struct buf text;
	int status = 0;

	if (noise_register_load(&reg, context, err) != 0)
		return -1;
	buf_init(&text, 1024U * 1024);
	for (size_t i = 0; i < plan->n_pods; i++)
		if (add_pod(&text, &reg, plan, i, q->json) != 0)
			status = err_set(err, ERR_NODATA,
					 "fewer than %d runs of %s were "
					 "measured: nothing can be said of "
					 "its noise",
					 NOISE_MIN_RUNS, plan->pods[i].id);
	if (q->file == NULL && !q->json && status == 0)
		buf_appendf(&text, "\n%s\n", bench_probe_what(q->audit.probe));
	if ((fwrite(text.data, 1, text.len, stdout) != text.len ||
	     fflush(stdout) != 0) &&
	    status == 0)
		status = err_set_errno(err, ERR_IO, "cannot write");
	buf_release(&text);
	noise_register_release(&reg);
	return status;
}

/* With the definition as it will be kept. */
static int
run_audit(struct cmd_args *args, const struct request *q, const cJSON *root,
	  struct err *err)
{
	struct plan plan;
	struct buf text;
	int status;

	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, root);
	buf_append_char(&text, '\n');
	status = plan_parse(&plan, q->file != NULL ? q->file : "audit",
			    (struct str){ text.data, text.len }, err);
	if (status == 0) {
		if (q->file == NULL)
			(void)fprintf(stderr, "%s\n",
				      bench_probe_what(q->audit.probe));
		status = bench_ask_and_start(args->context, &plan, text.data,
					     &q->ask, err);
		if (status == 0 && !q->ask.dry && !q->ask.detach)
			status = print_noise(args->context, q, &plan, err);
		plan_release(&plan);
	}
	buf_release(&text);
	return status;
}

static int
exec_audit(struct cmd_args *args, struct err *err)
{
	cJSON *definition = NULL, *root;
	const struct conf *conf = &args->context->conf;
	struct request q;
	struct buf text;
	int status = -1;

	if (parse_request(args, &q, err) != 0)
		return -1;
	buf_init(&text, JSON_MAX_BYTES);
	if (q.file != NULL) {
		definition = json_parse_file(q.file, &text, err);
		if (definition == NULL && err != NULL)
			err->code = ERR_CONFIG;
	}
	if (q.file == NULL || definition != NULL) {
		q.audit.definition = definition;
		q.audit.probe = bench_probe_of(conf, q.audit.pods);
		if (q.probe != NULL)
			q.audit.probe = strcmp(q.probe, "gpu") == 0 ? PROBE_GPU
								    : PROBE_CPU;
		root = bench_make_audit(&q.audit, conf, err);
		if (root != NULL)
			status = run_audit(args, &q, root, err);
		cJSON_Delete(root);
	}
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
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_audit,
};
