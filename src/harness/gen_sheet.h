/* SPDX-License-Identifier: MIT */
#ifndef HGYM_HARNESS_GEN_SHEET_H
#define HGYM_HARNESS_GEN_SHEET_H

#include "base/clock.h"
#include "harness/gen.h"

/* What harness_gen.c writes with: one file after another. */

#define GEN_COMMAND                                                            \
	"python3 remote_h100.py --workspace triton_rmsnorm_h100 -- python3 "   \
	"verifier.py --json --mode final --warmup 20 --repeats 50"
#define GEN_ATTEMPT_S 480

/* The experiment's figures. */
struct gen_figures {
	unsigned int
		quanta;	    /* the score in steps of the event clock; 0: none */
	unsigned int calls; /* tool calls of the iteration */
	unsigned int tools_before, tools_after;
	unsigned int attempt_s; /* GEN_ATTEMPT_S: it timed out */
	const char *note;
};

/* A file under way. */
struct gen_sheet {
	const struct harness_gen *gen;
	struct err *err;
	struct buf text;
	int64_t at_ms;
	int rc;
};

double gen_score_of(const struct gen_figures *f);
/* Write the sheet to a file below .harnessgym and empty it. */
void gen_put(struct gen_sheet *s, int flags, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* RFC 3339 as HarnessGym writes it. */
const char *gen_stamp(int64_t at_ms, char out[CLOCK_RFC3339_SIZE + 8]);
/* The verifier's output for a score, split over its four cases. */
void gen_add_verdict(struct buf *text, unsigned int quanta);
/* The record of one run of the verifier; SSH refused without a score. */
void gen_add_post(struct buf *text, const struct gen_figures *f);

#endif
