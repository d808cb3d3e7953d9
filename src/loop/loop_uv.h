/* SPDX-License-Identifier: MIT */
#ifndef HGYM_LOOP_LOOP_UV_H
#define HGYM_LOOP_LOOP_UV_H

#include <uv.h>

#include "base/list.h"
#include "loop/loop.h"

/* What the files of src/loop share; nobody else includes it. */

struct job_queue {
	struct list waiting; /* struct job */
	unsigned int running;
};

struct loop {
	uv_loop_t uv;
	uv_idle_t idle;	   /* runs while there are posts */
	struct list posts; /* struct post */
	struct job_queue jobs[JOB_KIND_COUNT];
};

void job_queues_init(struct loop *loop);
/* Set the size of the pool; before its first use. */
void job_pool_prepare(void);

#endif
