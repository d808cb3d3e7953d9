/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "transport.h"

/*
 * All pods behind src/transport.h: one link a pod, over libssh2, a child ssh,
 * a child sh or a program that brings a shell; connected when the first command
 * is asked for, and again after a loss while there are commands that wait (0.5,
 * 1, 2 .. 30 s).
 */

enum remote_transport {
	REMOTE_LIBSSH2,
	REMOTE_OPENSSH,
	REMOTE_LOCAL,
	REMOTE_COMMAND,
};

/* How to reach a pod. */
struct remote_pod {
	const char *name;
	/* A host alias of the OpenSSH configuration or [user@]host[:port];
	 * NULL with REMOTE_LOCAL and REMOTE_COMMAND. */
	const char *ssh;
	/* NULL: as the OpenSSH configuration says. */
	const char *identity;	    /* path of a private key; ~ is expanded */
	const char *known_hosts;    /* path; ~ is expanded */
	const char *proxy_jump;	    /* [user@]host[:port], or an alias */
	const char *host_key_alias; /* its name in known_hosts */
	enum remote_transport transport;
	/* Of REMOTE_COMMAND: a program and its arguments, ended by NULL, with
	 * a POSIX shell behind its stdin and stdout. */
	const char *const *command;
};

/* What only a person can answer. */
enum fleet_ask {
	FLEET_ASK_HOST_KEY,   /* is this new host key right? */
	FLEET_ASK_PASSPHRASE, /* of an encrypted private key */
};

struct fleet_question {
	enum fleet_ask ask;
	size_t pod;
	char host[256];	      /* HOST_KEY: "[203.0.113.7]:22022" */
	char key_type[64];    /* HOST_KEY: "ssh-ed25519" */
	char fingerprint[64]; /* HOST_KEY: "SHA256:..." */
	char path[512];	      /* PASSPHRASE: of the key file */
	bool again;	      /* PASSPHRASE: the last one was wrong */
};

struct fleet_options {
	/*
	 * Called on the loop; answered by fleet_answer, then or later (a pod
	 * has at most one open question).  NULL: nobody is there, what would
	 * be asked is refused.
	 */
	void (*on_ask)(void *user, const struct fleet_question *question);
	/* A pod's link_info changed; may be NULL. */
	void (*on_link)(void *user, size_t pod);
	void *user;
	/* Take an unknown host key without asking and remember it. */
	bool accept_new;
};

struct fleet;
/* pods, with their strings, and options are copied. */
struct fleet *fleet_new(struct loop *loop, const struct remote_pod *pods, size_t n_pods,
			const struct fleet_options *options);
/* Cancels all streams (on_close is called for each), closes all links. */
void fleet_free(struct fleet *fleet);
struct transport *fleet_transport(struct fleet *fleet);

/*
 * The answer to a pod's open question.  HOST_KEY: "yes" or NULL for no;
 * PASSPHRASE: the passphrase (kept in memory only, wiped after use), or NULL
 * for none.
 */
void fleet_answer(struct fleet *fleet, size_t pod, const char *answer);
