/* SPDX-License-Identifier: MIT */
#ifndef HGYM_APP_DEMO_H
#define HGYM_APP_DEMO_H

#include "base/clock.h"
#include "model/model.h"
#include "parsers/format.h"

/*
 * A fleet to look at: logs in real line shapes written to a folder of its
 * own, line by line as the runs would, and read back by the parser.  Time is
 * the demo's own: it begins in the middle of things, is moved by
 * demo_advance, and the same seed and time give the same bytes.
 */
struct demo;
struct demo_bench;

/* Makes the folder below TMPDIR; the model gets pods and runs. */
struct demo *demo_new(struct model *model, const struct format_set *formats,
		      uint64_t seed, struct err *err)
	__attribute__((warn_unused_result));
/* Removes the folder. */
void demo_free(struct demo *demo);

/* The demo's time. */
const struct clock *demo_clock(const struct demo *demo);
void demo_advance(struct demo *demo, int64_t ms);
/* Read what was written; true: there is more. */
bool demo_poll(struct demo *demo);
/* Its A/B bench. */
struct demo_bench *demo_bench_of(const struct demo *demo);

#endif
