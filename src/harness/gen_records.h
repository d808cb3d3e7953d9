/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_GEN_RECORDS_H
#define HGYM_HARNESS_GEN_RECORDS_H

#include "harness/gen_sheet.h"

/*
 * The JSON files of the made-up run; harness_gen.c says when each is written.
 * An iteration k counts from 0, in the files from 1.  What begins with
 * gen_put writes a whole file, what begins with gen_add appends a part of one.
 */

#define GEN_RUN	       "rmsnorm-h100"
#define GEN_ITERATIONS 4

extern const struct gen_figures gen_baseline;
extern const struct gen_figures gen_iterations[GEN_ITERATIONS];

/* How far an iteration has come: what its result.json holds. */
enum gen_progress {
	GEN_STARTED,
	GEN_ATTEMPTED,
	GEN_MEASURED,
	GEN_REFLECTED,
	GEN_BUILT,
	GEN_QUALIFIED,
	GEN_RESTORED,
};

void gen_put_config(struct gen_sheet *s, const char *run,
		    unsigned int n_planned);
/* The best checkpoint; iteration 0 is the baseline, 1 the first. */
void gen_put_manifest(struct gen_sheet *s, const char *run,
		      unsigned int iteration, const struct gen_figures *f);
/* The score before the first iteration. */
void gen_put_baseline(struct gen_sheet *s, const char *run,
		      const struct gen_figures *f);
void gen_put_registry(struct gen_sheet *s);
/* Whether the built tools are fit, and how many there are. */
void gen_add_gate(struct buf *text, unsigned int n_tools);
void gen_add_activation(struct buf *text, unsigned int n_tools);
/* result.json of iteration k, which began at began_ms. */
void gen_put_result(struct gen_sheet *s, size_t k, enum gen_progress progress,
		    int64_t began_ms);
void gen_put_summary(struct gen_sheet *s);
/* A finished run of the day before, the one that left 103.328 us behind. */
void gen_put_earlier(struct gen_sheet *s);

#endif
