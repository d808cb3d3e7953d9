/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "remote/fleet.h"

/*
 * What fleet.c and the ways to a pod share: a link is the way to one pod, a
 * stream one command on it.  Nobody else includes it.
 */

#define STREAM_STDIN_CAP (1U << 20)
/* Connections to a pod beside the first. */
#define LINK_SPARES 3
/* Bytes a stream gets in one turn of the loop: few for fairness, and so that
 * a block is still in the processor's cache when it is taken. */
#define STREAM_BUDGET 65536U

/*
 * Who may shake hands now: at most GATE_PER_HOST at once with a host (the
 * default MaxStartups of sshd drops logins beyond ten), GATE_IN_ALL in all.
 */
#define GATE_PER_HOST 3
#define GATE_IN_ALL   12

struct gate {
	struct loop *loop;
	struct list inside; /* struct gate_ticket */
	struct list waiting;
};

/* Held by the one who asks; zeroed before the first use. */
struct gate_ticket {
	struct list link;
	struct gate *gate; /* NULL: neither inside nor waiting */
	char host[256];
	void (*on_admit)(void *user);
	void *user;
};

void gate_init(struct gate *gate, struct loop *loop);
/* Ask; on_admit is called from the loop, now or later. */
void gate_enter(struct gate *gate, struct gate_ticket *ticket, const char *host,
		void (*on_admit)(void *user), void *user);
/* Leave, or stop waiting; nothing when neither. */
void gate_leave(struct gate_ticket *ticket);

struct remote_link;

/* A way to a pod. */
struct link_ops {
	/* Run a stream that waits; connect first where needed. */
	void (*start)(struct remote_link *link, struct stream *s);
	/* There is more for its stdin, or it may be read again. */
	void (*kick)(struct stream *s);
	/* It was cancelled and goes: stop the command, forget the stream. */
	void (*detach)(struct stream *s);
	/* The machine slept: find out whether the pod still answers.  NULL:
	 * it does so itself. */
	void (*probe)(struct remote_link *link);
	/* The answer to a question of this link's; NULL: it asks none. */
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
	void *run;	 /* of the link's: NULL until started and when over */
	struct buf in;	 /* waits for the pod's stdin */
	struct buf held; /* was not taken by on_data */
	bool in_closed;	 /* no more comes into `in` */
	bool paused;	 /* nothing is delivered until resumed */
	bool resumed;	 /* the user said so; done by the next kick */
	bool cancelled;
};

struct remote_link {
	struct fleet *fleet;
	size_t index;
	struct remote_pod pod;
	const char **words; /* owned: pod.command */
	const struct link_ops *ops;
	struct ssh_conn *conn; /* over libssh2; NULL: none */
	struct list runs;      /* struct child_run, over children */
	struct link_info info;
	struct list streams;
	/* Where sshd opens few sessions on a connection (MaxSessions), what it
	 * does not take goes to a connection more: a chain of links. */
	struct remote_link *spare; /* owned; NULL: none yet */
	unsigned int depth;	   /* 0: not a spare one */
	size_t sessions_most;	   /* that are open at once; 0: not known */
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
	struct loop_timer *watch; /* notices that the machine slept */
	int64_t asleep_ms;	  /* boot clock - mono clock */
	size_t n_streams;
	char *block;		 /* STREAM_BUDGET, for whoever reads just now */
	int64_t denied_retry_ms; /* a test may shorten it before the first command */
	bool closing;		 /* takes no new streams */
	struct map secrets;	 /* passphrases by the path of their key */
	struct map texts;	 /* those of the pods, once each */
	struct list asking;	 /* struct ssh_conn, wait for a passphrase */
};

extern const struct link_ops child_link_ops;
extern const struct link_ops ssh_link_ops;

int64_t link_now_ms(const struct remote_link *link);

/* States; each tells on_link. */
void link_connecting(struct remote_link *link);
void link_live(struct remote_link *link);
/* Nothing is open any more and nothing was wrong. */
void link_idle(struct remote_link *link);
/* It could not be made, or was lost; the next try comes after a while. */
void link_lost(struct remote_link *link, const struct err *why);
/* It was refused: only reconnect, or an answer, tries again. */
void link_refused(struct remote_link *link, const struct err *why);
/*
 * The server took none of our keys.  One may be added to the pod later, and
 * nobody may be there to press a key: try again, after fleet.denied_retry_ms.
 */
void link_denied(struct remote_link *link, const struct err *why);
/* End all streams with that error. */
void link_fail_streams(struct remote_link *link, const struct err *why);
/* Start the streams that wait, soon. */
void link_pump_soon(struct remote_link *link);
/*
 * The server refuses s a session beside the n_open that it has open: move it
 * to the next link of the chain, where it starts anew.  false: none is open,
 * or there are LINK_SPARES already.
 */
bool link_spill(struct stream *s, size_t n_open);

/* Give bytes of stdout; what is not taken is held and the stream paused. */
void stream_deliver(struct stream *s, const void *data, size_t len);
void stream_deliver_stderr(struct stream *s, const void *data, size_t len);
/* May be read now: not paused, not cancelled. */
bool stream_is_open(const struct stream *s);
/* Call on_close and free. */
void stream_finish(struct stream *s, const struct stream_exit *exit);
void stream_fail(struct stream *s, const struct err *why);
