/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_CAPTURE_H
#define HGYM_REMOTE_CAPTURE_H

#include "base/str.h"
#include "loop/loop.h"

/* Run a local program to its end and collect what it prints. */
#define CAPTURE_CAP_BYTES (256U * 1024)

struct capture_result {
	int status;	/* exit status; -1: killed, or it took too long */
	struct str out; /* borrowed during the call */
};

struct capture;
typedef void (*capture_fn)(void *user, const struct capture_result *result);
/* fn is called once, on the loop, unless the capture is cancelled. */
struct capture *capture_new(struct loop *loop, const char *const *argv,
			    int64_t timeout_ms, capture_fn fn, void *user,
			    struct err *err)
	__attribute__((warn_unused_result));
/* Kill it (NULL: nothing); fn is not called any more. */
void capture_cancel(struct capture *capture);

#endif
