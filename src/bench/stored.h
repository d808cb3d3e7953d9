/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_STORED_H
#define HGYM_BENCH_STORED_H

#include "context.h"
#include "model/model.h"

/*
 * Benches that only the database remembers, newest first: those of it whose
 * id is none of ids.  Fills out, at most max; how many.  A database that
 * cannot be read: none.
 */
size_t bench_stored_list(struct context *context, char *const *ids,
			 size_t n_ids, struct model_bench *out, size_t max);

#endif
