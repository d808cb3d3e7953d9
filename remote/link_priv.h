/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "remote/fleet.h"

/* Shared by fleet.c and the transports. A link is the connection to one pod, a stream is one
 * command on the pod. Only for this directory. */

#define STREAM_STDIN_CAP (1U << 20)
/* Additional connections to a pod. */
#define LINK_SPARES 3
/* Maximum bytes that are read for a stream in one turn of the loop. It is small for fairness, and
 * so that the bytes are still in the CPU cache when they are used. */
#define STREAM_BUDGET 65536U

/* Limits simultaneous handshakes to GATE_PER_HOST per host and GATE_IN_ALL in total: with its
 * default MaxStartups, sshd starts to drop logins when ten are in progress. */
#define GATE_PER_HOST 3
#define GATE_IN_ALL   12

struct gate {
	struct loop *loop;
	struct list inside; /* struct gate_ticket */
	struct list waiting;
};

/* Embedded in the object that asks for admission. Zero it before the first use. */
struct gate_ticket {
	struct list link;
	struct gate *gate; /* NULL: neither admitted nor waiting */
	char host[256];
	void (*on_admit)(void *user);
	void *user;
};

void gate_init(struct gate *gate, struct loop *loop);
/* Request admission; on_admit is called from the loop, now or later. */
void gate_enter(struct gate *gate, struct gate_ticket *ticket, const char *host,
		void (*on_admit)(void *user), void *user);
/* Leave the gate, or stop waiting for it. A no-op for a ticket that does neither. */
void gate_leave(struct gate_ticket *ticket);

struct remote_link;

/* A transport to a pod. */
struct link_ops {
	/* Run a waiting stream; connect first if needed. */
	void (*start)(struct remote_link *link, struct stream *s);
	/* The stream has more input to send, or its output may be read again. */
	void (*kick)(struct stream *s);
	/* The stream was cancelled: stop its command, and forget the stream. */
	void (*detach)(struct stream *s);
	/* After a suspend, check whether the pod answers. NULL: the transport notices that. */
	void (*probe)(struct remote_link *link);
	/* Take the user's answer to the link's question. NULL if the transport never asks. */
	void (*answer)(struct remote_link *link, const char *answer);
	/* Close the connection, whose streams have all ended. */
	void (*release)(struct remote_link *link);
};

struct stream {
	struct list in_link; /* in remote_link.streams */
	struct remote_link *link;
	struct stream_cb cb;
	void *user;
	char *command;	 /* owned; NULL: the transport has taken it */
	void *run;	 /* the transport's state; NULL before the start and after the end */
	struct buf in;	 /* input for the command that is not sent yet */
	struct buf held; /* output that on_data has not consumed yet */
	bool in_closed;	 /* no more input will follow */
	bool paused;	 /* deliver nothing until the caller resumes the stream */
	bool resumed;	 /* the caller resumed it; the next kick applies that */
	bool cancelled;
};

struct remote_link {
	struct fleet *fleet;
	size_t index;
	struct remote_pod pod;
	const char **words; /* pod.command points here; owned */
	const struct link_ops *ops;
	struct ssh_conn *conn; /* for libssh2; NULL: not connected */
	struct list runs;      /* struct child_run; for the other transports */
	struct link_info info;
	struct list streams;
	/* If sshd refuses more sessions on this connection (MaxSessions), further streams use an
	 * additional one, which may have an additional one itself. */
	struct remote_link *spare; /* owned; NULL: none yet */
	unsigned int depth;	   /* position in that chain; 0: the pod's first connection */
	size_t sessions_most;	   /* limit of this connection; 0: unknown */
	struct loop_timer *retry;
	unsigned int failures; /* for the back-off */
};

struct fleet {
	struct transport transport;
	struct loop *loop;
	const struct clock *clock;
	struct fleet_options options;
	struct remote_link *links;
	size_t n_links;
	struct gate gate;
	struct loop_timer *watch; /* detects suspend */
	int64_t asleep_ms;	  /* total time suspended: boot clock - monotonic clock */
	size_t n_streams;
	char *block;		 /* STREAM_BUDGET bytes, for the stream being read */
	int64_t denied_retry_ms; /* a test may shorten it before the first command */
	bool closing;		 /* accepts no new streams */
	struct map secrets;	 /* passphrases by key file */
	struct map texts;	 /* copies of the pods' strings */
	struct list asking;	 /* struct ssh_conn that waits for a passphrase */
};

extern const struct link_ops child_link_ops;
extern const struct link_ops ssh_link_ops;

int64_t link_now_ms(const struct remote_link *link);

/* Set the state of a link and report it with on_link. */
void link_connecting(struct remote_link *link);
void link_live(struct remote_link *link);
/* The connection was closed without an error. */
void link_idle(struct remote_link *link);
/* The connection failed or was lost; it is retried after a delay. */
void link_lost(struct remote_link *link, const struct err *why);
/* A retry cannot help: the link waits until the user reconnects. */
void link_refused(struct remote_link *link, const struct err *why);
/* The server accepted none of the keys. Somebody may add one to the pod later while this program
 * runs unattended, so retry after fleet.denied_retry_ms. */
void link_denied(struct remote_link *link, const struct err *why);
/* End all streams of the link with this error. */
void link_fail_streams(struct remote_link *link, const struct err *why);
/* Start waiting streams from the loop, after the current callback. */
void link_pump_soon(struct remote_link *link);
/* The server refuses a session for s in addition to the n_open open sessions: move s to the link's
 * spare connection, where it starts again. False if n_open is 0 or the chain is full. */
bool link_spill(struct stream *s, size_t n_open);

/* Deliver bytes of stdout. Bytes that on_data does not consume are held, and pause the stream. */
void stream_deliver(struct stream *s, const void *data, size_t len);
void stream_deliver_stderr(struct stream *s, const void *data, size_t len);
/* May output be delivered? It may unless the stream is paused or cancelled. */
bool stream_is_open(const struct stream *s);
/* Call on_close and free. */
void stream_finish(struct stream *s, const struct stream_exit *exit);
void stream_fail(struct stream *s, const struct err *why);
