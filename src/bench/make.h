/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/harness_compare.h"
#include "parsers/json.h"

/*
 * Definitions of benches (bench.json) that the program writes itself.  All
 * results are trees that the caller frees; NULL with err.
 */

/* What an audit runs where no bench file is given. */
enum bench_probe {
	PROBE_CPU, /* sh and awk: a fixed loop on one host core */
	PROBE_GPU, /* python3 with torch: matrix products on the GPU */
};

struct bench_audit {
	const char *pods;	 /* names, "," or a line's end between */
	const cJSON *definition; /* a bench.json; NULL: the probe */
	const char *variant;	 /* whose tag is audited; NULL: the control */
	enum bench_probe probe;
	double blocks, minutes; /* NAN: the default */
};

/* One variant of it against itself, on those pods. */
cJSON *bench_make_audit(const struct bench_audit *audit, const struct conf *conf, struct err *err)
	__attribute__((warn_unused_result));

/*
 * One pod: of the configuration, "local" (this machine), or user@host[:port].
 * ERR_CONFIG: the configuration has none of that name.
 */
#define MAKE_LOCAL "local"
cJSON *bench_make_pod(const struct conf *conf, const char *name, struct err *err)
	__attribute__((warn_unused_result));

/* "first:last" or "auto" as the window of a metric. */
int bench_make_window(cJSON *metric, const char *text, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The pods of that list: as the definition (may be NULL) has them, else as
 * the configuration has them.
 */
cJSON *bench_make_pods(const cJSON *definition, const char *names, const struct conf *conf,
		       struct err *err) __attribute__((warn_unused_result));

/* Paths of files that variants ship, made absolute: they are below folder. */
void bench_make_absolute(cJSON *definition, const char *folder);

/*
 * What the form of the dashboard says (see ui/form.h): an object of texts,
 * name pods folder command control variant variant2 metric window blocks aa
 * minutes.
 */
cJSON *bench_make_form(const cJSON *form, const struct conf *conf, struct err *err)
	__attribute__((warn_unused_result));

/* The probe that suits a pod of the configuration. */
enum bench_probe bench_probe_of(const struct conf *conf, const char *pods);

/* In one sentence, what a probe measures. */
const char *bench_probe_what(enum bench_probe probe);

/* Is that the command of the probe that needs torch on the pod? */
bool bench_probe_needs_torch(const char *command);

/*
 * The definition of an A/B bench (bench.json) of a run: its best checkpoint
 * against the workspace as it is, measured by the run's own command.  Each
 * run of the bench copies its arm to a folder of its own and refuses when
 * benchmark.py or verifier.py are not those of the workspace; the checkpoint
 * and the workspace are only read.
 * With `settings` it is of a kernel: the checkpoint told what the template
 * tells it, against what it was told itself and in other verified iterations.
 * Its functions are timed by the checkpoint's task.py; without one its runs
 * are the run's own command.
 * Of a comparison its arms are the workspaces of the trials that count, each
 * with other files than those before it, by the judge of the task; the first
 * plain one is the control.
 */
struct harness_ab {
	const struct harness_run *run; /* NULL: trials of compare */
	const struct harness_compare *compare;
	const char *workspace; /* where it lies, absolute */
	const char *pod;       /* of the configuration; NULL: this machine */
	bool settings;
	/* Whether two folders hold the same files; NULL: nobody can look. */
	bool (*same)(const char *a, const char *b);
};

/*
 * Given (owned), or NULL with err: there is no checkpoint, nothing that
 * measures, or no settings.  The result has passed the reader of bench.json.
 */
cJSON *harness_ab_json(const struct harness_ab *asked, struct err *err)
	__attribute__((warn_unused_result));
