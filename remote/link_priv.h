/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "remote/fleet.h"

/* Shared by fleet.c and the transports: a link is the way to one pod, a stream is one command on
 * it. Only for this directory. */

#define STREAM_STDIN_CAP (1U << 20)
/* Additional connections to a pod. */
#define LINK_SPARES 3
/* Bytes that a stream gets in one turn of the loop: few, for fairness, and so that a block is still
 * in the processor's cache when it is used. */
#define STREAM_BUDGET 65536U

/* Limits on simultaneous handshakes: at most GATE_PER_HOST with one host (sshd's default
 * MaxStartups drops logins beyond ten), GATE_IN_ALL in total. */
#define GATE_PER_HOST 3
#define GATE_IN_ALL   12

struct gate {
	struct loop *loop;
	struct list inside; /* struct gate_ticket */
	struct list waiting;
};

/* Held by the requester; zeroed before the first use. */
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
/* Leave, or stop waiting; no-op otherwise. */
void gate_leave(struct gate_ticket *ticket);

struct remote_link;

/* A transport to a pod. */
struct link_ops {
	/* Run a waiting stream; connect first if needed. */
	void (*start)(struct remote_link *link, struct stream *s);
	/* There is more input for it, or it may be read again. */
	void (*kick)(struct stream *s);
	/* It was cancelled: stop the command, forget the stream. */
	void (*detach)(struct stream *s);
	/* The machine was suspended: check whether the pod still answers. NULL: the transport does
	 * that by itself. */
	void (*probe)(struct remote_link *link);
	/* The answer to a question of this link; NULL: it asks none. */
	void (*answer)(struct remote_link *link, const char *answer);
	/* Close what is open; all streams are gone. */
	void (*release)(struct remote_link *link);
};

struct stream {
	struct list in_link; /* in remote_link.streams */
	struct remote_link *link;
	struct stream_cb cb;
	void *user;
	char *command;
	void *run;	 /* the link's own; NULL until it is started and after its end */
	struct buf in;	 /* waiting for the pod's stdin */
	struct buf held; /* not consumed by on_data yet */
	bool in_closed;	 /* no more input will follow */
	bool paused;	 /* nothing is delivered until it is resumed */
	bool resumed;	 /* set by the user; applied by the next kick */
	bool cancelled;
};

struct remote_link {
	struct fleet *fleet;
	size_t index;
	struct remote_pod pod;
	const char **words; /* owned: pod.command */
	const struct link_ops *ops;
	struct ssh_conn *conn; /* over libssh2; NULL: none */
	struct list runs;      /* struct child_run, for child processes */
	struct link_info info;
	struct list streams;
	/* If sshd allows few sessions per connection (MaxSessions), further streams use an
	 * additional connection: a chain of links. */
	struct remote_link *spare; /* owned; NULL: none yet */
	unsigned int depth;	   /* 0: the first one */
	size_t sessions_most;	   /* sessions open at once; 0: unknown */
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
	int64_t asleep_ms;	  /* boot clock - monotonic clock */
	size_t n_streams;
	char *block;		 /* STREAM_BUDGET bytes, for the stream being read */
	int64_t denied_retry_ms; /* a test may shorten it before the first command */
	bool closing;		 /* accepts no new streams */
	struct map secrets;	 /* passphrases by key file */
	struct map texts;	 /* those of the pods, each once */
	struct list asking;	 /* struct ssh_conn, waiting for a passphrase */
};

extern const struct link_ops child_link_ops;
extern const struct link_ops ssh_link_ops;

int64_t link_now_ms(const struct remote_link *link);

/* States; each one calls on_link. */
void link_connecting(struct remote_link *link);
void link_live(struct remote_link *link);
/* Closed without an error. */
void link_idle(struct remote_link *link);
/* It could not be established, or was lost; it retries after a delay. */
void link_lost(struct remote_link *link, const struct err *why);
/* It was refused: only reconnecting or an answer tries again. */
void link_refused(struct remote_link *link, const struct err *why);
/* The server accepted none of our keys. One may be added to the pod later, and the program may run
 * unattended: retry after fleet.denied_retry_ms. */
void link_denied(struct remote_link *link, const struct err *why);
/* End all streams with that error. */
void link_fail_streams(struct remote_link *link, const struct err *why);
/* Start waiting streams, soon. */
void link_pump_soon(struct remote_link *link);
/* The server refuses a session for s in addition to the n_open open ones: move it to the next link
 * of the chain, where it starts again. False if none is open, or there are LINK_SPARES already. */
bool link_spill(struct stream *s, size_t n_open);

/* Deliver bytes of stdout; bytes that are not consumed are held and the stream is paused. */
void stream_deliver(struct stream *s, const void *data, size_t len);
void stream_deliver_stderr(struct stream *s, const void *data, size_t len);
/* Readable: neither paused nor cancelled. */
bool stream_is_open(const struct stream *s);
/* Call on_close and free. */
void stream_finish(struct stream *s, const struct stream_exit *exit);
void stream_fail(struct stream *s, const struct err *why);
