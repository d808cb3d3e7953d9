/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "bench/plan.h"
#include "bench/session.h"
#include "conf/conf.h"
#include "context.h"

/* A bench driven from its results folder to its end, over its pods. */
struct bench_drive {
	struct context *context; /* with configuration and rules */
	const struct plan *plan;
	const char *id, *path;
	enum session_mode mode;
	bool accept_new; /* unknown host keys */
	/* A line worth telling: plain text, sanitised. */
	void (*note)(const char *line);
};

/*
 * Run, abort, clean or stop it until that is over; SIGINT, SIGTERM and
 * SIGHUP leave it, and what runs on the pods goes on.  The lock of the folder
 * must be held.  How it ended; SESSION_FAILED with err.
 */
enum session_end bench_drive(const struct bench_drive *drive, struct err *err);

/*
 * How the pods of a plan are reached: in the plan's own words, else as the
 * configuration has a pod of that name.  n_pods of them, which borrow of
 * both; the caller frees the array.  NULL with err.
 */
struct conf_pod *bench_pods(const struct plan *plan, const struct conf *conf, struct err *err);

/*
 * Judge a bench that is over once more, by what the noise register knows now,
 * and keep that as its verdict.
 */
int bench_judge_again(const struct bench_drive *drive, struct err *err)
	__attribute__((warn_unused_result));

/* The verdict.json of a bench; of a folder that has none yet, what it would
 * be.  Owned by the caller. */
cJSON *bench_verdict(const struct bench_drive *drive);
