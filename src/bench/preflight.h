/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_PREFLIGHT_H
#define HGYM_BENCH_PREFLIGHT_H

#include "bench/drive.h"

/*
 * Look at the pods of a bench that begins, as `pods check` does; say what
 * they lack, and keep it in the results folder.  A bench that was begun
 * before is left alone.  0, the number of the signal that ended it, or -1
 * with err.
 */
int bench_preflight(const struct bench_drive *drive,
		    const struct conf_pod *pods, struct err *err)
	__attribute__((warn_unused_result));

#endif
