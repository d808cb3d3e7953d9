/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_HARNESS_AB_H
#define HGYM_BENCH_HARNESS_AB_H

#include "parsers/harness_run.h"

/*
 * The definition of an A/B bench (bench.json) of a run: its best checkpoint
 * against the workspace as it is, measured by the run's own command.  Each
 * run of the bench copies its arm to a folder of its own and refuses when
 * benchmark.py or verifier.py are not those of the workspace; the checkpoint
 * and the workspace are only read.
 */
struct harness_ab {
	const struct harness_run *run;
	const char *workspace; /* where it lies, absolute */
	const char *pod;       /* of the configuration; NULL: this machine */
};

/*
 * Given (owned), or NULL with err: there is no checkpoint, or nothing that
 * measures.  The result has passed the reader of bench.json.
 */
cJSON *harness_ab_json(const struct harness_ab *ab, struct err *err)
	__attribute__((warn_unused_result));

#endif
