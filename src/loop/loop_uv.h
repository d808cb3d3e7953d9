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
	uv_idle_t idle;	      /* runs while there are posts */
	uv_prepare_t prepare; /* before each look at the descriptors */
	uv_check_t check;     /* and after it */
	uint64_t looked_ms;   /* when they were last looked at in time */
	uint64_t look_ms;     /* when that look began, and how long it may */
	int wait_ms;	      /* take; -1: for ever */
	struct list posts;    /* struct post */
	struct job_queue jobs[JOB_KIND_COUNT];
};

void job_queues_init(struct loop *loop);
/* Set the size of the pool; before its first use. */
void job_pool_prepare(void);

#endif
