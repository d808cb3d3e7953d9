/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/link_state.h"

/* "Run a command on a pod and get its bytes": what followers, checks and benches know of the way to
 * a pod. Implemented by remote/fleet.c over libssh2, a child ssh or a child sh. All on the loop
 * thread, no call blocks; callbacks never run inside a call of the caller's. */
struct stream; /* one command that runs on a pod */

/* How a command ended. */
struct stream_exit {
	bool exited;	 /* status holds an exit status */
	int status;	 /* 0..255 */
	bool signalled;	 /* the remote side named a signal */
	char signal[16]; /* "KILL"; "" when none */
	struct err err;	 /* ERR_NONE, or why the stream was lost */
};

struct stream_cb {
	/* Bytes of stdout; return how many were taken (< len: the stream
	 * pauses until stream_resume). */
	size_t (*on_data)(void *user, const void *data, size_t len);
	/* Bytes of stderr; all are taken.  NULL: they are discarded. */
	void (*on_stderr)(void *user, const void *data, size_t len);
	/* Once, last; the stream is gone after it. */
	void (*on_close)(void *user, const struct stream_exit *exit);
};

/* What is known of the way to a pod; copied out. */
struct link_info {
	enum link_state state;
	struct err why;		  /* of WAITING and REFUSED; ERR_NONE else */
	int64_t since_ms;	  /* mono clock */
	int64_t retry_at_ms;	  /* mono clock; of WAITING, and REFUSED; 0: never */
	int64_t last_byte_ms;	  /* mono clock, 0: none yet */
	unsigned int tries;	  /* since it was last live */
	char host_key_sha256[64]; /* "SHA256:..." once seen */
};

struct transport {
	const struct transport_ops *ops;
};

struct transport_ops {
	/* Start command (a line for the pod's login shell, at most 30000 bytes; made by
	 * base/quote.h) on the pod of that index in the configuration. Connects first where needed;
	 * while the link is WAITING it waits for the next try. A try that fails ends all streams of
	 * the pod with its error: exec again to try again, the link keeps the back-off. On a
	 * REFUSED link a stream ends after half a second. The link tries again after about five
	 * minutes where the server took none of our keys; where it was refused for another reason,
	 * only reconnect or the answer to a question tries again. NULL with err only for wrong use,
	 * or when all is being closed. */
	struct stream *(*exec)(struct transport *t, size_t pod, const char *command,
			       const struct stream_cb *cb, void *user, struct err *err);
	/* Queue bytes for stdin; -1 when more than the cap are waiting. */
	int (*write)(struct stream *s, const void *data, size_t len, struct err *err);
	/* Close stdin. */
	void (*close_stdin)(struct stream *s);
	/* Continue after on_data took fewer bytes than it was given. */
	void (*resume)(struct stream *s);
	/* End it; on_close follows. */
	void (*cancel)(struct stream *s);
	void (*link_info)(struct transport *t, size_t pod, struct link_info *info);
	/* Try again now (WAITING or REFUSED). */
	void (*reconnect)(struct transport *t, size_t pod);
};
