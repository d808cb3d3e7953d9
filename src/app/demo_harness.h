/* SPDX-License-Identifier: MIT */
#ifndef HGYM_APP_DEMO_HARNESS_H
#define HGYM_APP_DEMO_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

/*
 * The demonstration's HarnessGym run: written step by step below a folder as
 * time goes by, and read back like any other.
 */
struct demo_harness;

/* begin_wall_ms: when the run begins.  model->harness is set. */
struct demo_harness *demo_harness_new(struct model *model, const char *folder,
				      int64_t begin_wall_ms);
/* Removes what was written; model->harness becomes NULL. */
void demo_harness_free(struct demo_harness *demo);
/* Write what happened until then. */
void demo_harness_advance(struct demo_harness *demo, int64_t wall_ms);
/* Read what was written. */
void demo_harness_poll(struct demo_harness *demo, int64_t wall_ms);

#endif
