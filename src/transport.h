/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/link_state.h"

/* Run commands on a pod and get their output, for followers, checks and benches. Implemented by
 * remote/fleet.c over libssh2, a child ssh or a child sh. Use it only on the loop thread; no call
 * blocks, and no callback runs inside a call. */
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
	/* Takes bytes of stdout; returns how many. Fewer than len: it pauses until resume. */
	size_t (*on_data)(void *user, const void *data, size_t len);
	/* Called with bytes of stderr, and must take them all. NULL: they are discarded. */
	void (*on_stderr)(void *user, const void *data, size_t len);
	/* Called once, as the last callback; afterwards the stream no longer exists. */
	void (*on_close)(void *user, const struct stream_exit *exit);
};

/* A copy of the state of the connection to a pod. */
struct link_info {
	enum link_state state;
	struct err why;		  /* why it is WAITING or REFUSED; otherwise ERR_NONE */
	int64_t since_ms;	  /* mono clock */
	int64_t retry_at_ms;	  /* mono clock; if WAITING or REFUSED; 0: never */
	int64_t last_byte_ms;	  /* mono clock, 0: none yet */
	unsigned int tries;	  /* attempts since it was last live */
	char host_key_sha256[64]; /* "SHA256:..." once seen */
};

struct transport {
	const struct transport_ops *ops;
};

struct transport_ops {
	/* Start a command on the pod with this index in the configuration. command is one line for
	 * the pod's login shell, at most 30000 bytes, made with base/quote.h. Connects first if
	 * necessary; while the link is WAITING, the command waits for the next attempt. A failed
	 * attempt ends all streams of the pod with its error; call exec again to retry, after the
	 * link's usual delay. On a REFUSED link a stream ends after half a second. If the server
	 * accepted none of our keys, the link retries after about five minutes; after another
	 * refusal it retries only on reconnect or when the user answers the question. Returns NULL
	 * with err only for wrong arguments or during shutdown. */
	struct stream *(*exec)(struct transport *t, size_t pod, const char *command,
			       const struct stream_cb *cb, void *user, struct err *err);
	/* Queue bytes for stdin; -1 if more than the cap would wait. */
	int (*write)(struct stream *s, const void *data, size_t len, struct err *err);
	void (*close_stdin)(struct stream *s);
	/* Continue after on_data took fewer bytes than it was given. */
	void (*resume)(struct stream *s);
	/* End the stream; on_close follows. */
	void (*cancel)(struct stream *s);
	void (*link_info)(struct transport *t, size_t pod, struct link_info *info);
	/* Connect now instead of waiting, if the link is WAITING or REFUSED. */
	void (*reconnect)(struct transport *t, size_t pod);
};
