/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_SESSION_PEEK_H
#define HGYM_BENCH_SESSION_PEEK_H

#include "bench/session.h"

/* How far each run of a session is, for who shows it. */
struct session_peek {
	size_t arm, pod, block;
	bool counted;
	bool over;		       /* its run.json is written */
	bool skipped;		       /* it will not run, or was not let run */
	const struct guard_hits *hits; /* borrowed */
};

/* Run i in the order of pods and their schedules; false: no more. */
bool session_peek(const struct session *session, size_t i,
		  struct session_peek *out);

#endif
