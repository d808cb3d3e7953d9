/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "parsers/json.h"

/* Parts of a bench.json that hgym-tui writes itself; owned by the caller.  NULL with err. */

/* The program of an audit without a bench file. */
enum bench_probe {
	PROBE_CPU, /* sh and awk: a loop on one core of the host */
	PROBE_GPU, /* python3 with torch: matrix products on the GPU */
};

struct bench_audit {
	const char *pods;	 /* names, separated by commas or newlines */
	const cJSON *definition; /* a bench.json; NULL: the probe */
	const char *variant;	 /* tag of the variant to audit; NULL: the control */
	enum bench_probe probe;
	double blocks, minutes; /* NAN: the default */
};

/* A bench that compares one variant with itself, to measure the noise of pods. */
cJSON *bench_make_audit(const struct bench_audit *audit, const struct conf *conf,
			struct err *err) MUST_USE;

/* Set the window of a metric from "FIRST:LAST" or "auto". */
int bench_make_window(cJSON *metric, const char *text, struct err *err) MUST_USE;

/* Make the pods in a list of names with commas or newlines. Each name is a pod in the definition
 * (may be NULL) or in the configuration, MAKE_LOCAL (this machine), or user@host[:port]. */
#define MAKE_LOCAL "local"
cJSON *bench_make_pods(const cJSON *definition, const char *names, const struct conf *conf,
		       struct err *err) MUST_USE;

/* Make the relative paths of files that variants ship absolute, starting at folder. */
void bench_make_absolute(cJSON *definition, const char *folder);

/* PROBE_GPU if all these pods of the configuration have GPUs. */
enum bench_probe bench_probe_of(const struct conf *conf, const char *pods);

/* A sentence about what a probe measures. */
const char *bench_probe_what(enum bench_probe probe);

/* Is this the command of the GPU probe, which needs torch? */
bool bench_probe_needs_torch(const char *command);
