/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/session.h"
#include "context.h"

/* A bench to drive, by its plan and its results folder. */
struct bench_drive {
	struct context *context; /* with configuration and rules */
	const struct plan *plan;
	const char *id, *path;
	enum session_mode mode;
	bool accept_new; /* accept unknown host keys */
	/* Called for each message about the progress: sanitised plain text. */
	void (*note)(const char *line);
};

/* Block SIGINT, SIGTERM and SIGHUP (SIG_BLOCK) or unblock them (SIG_UNBLOCK).  Called before the
 * folder of a bench is created, so that these signals detach it from its first moment on. */
void bench_mask_signals(int how);

/* Do what the mode asks (run, abort, clean or stop the bench), and return when it is done.  SIGINT,
 * SIGTERM and SIGHUP only detach: jobs on the pods continue.  The caller holds the lock of the
 * folder.  Returns how the session ended; SESSION_FAILED with err. */
enum session_end bench_drive(const struct bench_drive *drive, struct err *err);

/* Judge a finished bench again, with the current noise register, and replace its verdict. */
int bench_judge_again(const struct bench_drive *drive, struct err *err) MUST_USE;

/* The verdict.json of a bench; if it has none yet, the current verdict.  Owned by the caller. */
cJSON *bench_verdict(const struct bench_drive *drive);
