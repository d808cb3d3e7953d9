/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "transport.h"

/* Implements src/transport.h for all pods, with one connection per pod: over libssh2, a child ssh,
 * a child sh, or a program that provides a shell. The first command opens the connection. After a
 * loss it is opened again if commands are waiting, with a back-off of 0.5, 1, 2 .. 30 s. */

enum remote_transport {
	REMOTE_LIBSSH2,
	REMOTE_OPENSSH,
	REMOTE_LOCAL,
	REMOTE_COMMAND,
};

/* How to reach a pod. */
struct remote_pod {
	const char *name;
	/* An OpenSSH host or [user@]host[:port]; NULL with REMOTE_LOCAL and REMOTE_COMMAND. */
	const char *ssh;
	/* If one of these is NULL, the OpenSSH configuration decides. */
	const char *identity;	    /* path of a private key; ~ is expanded */
	const char *known_hosts;    /* path; ~ is expanded */
	const char *proxy_jump;	    /* [user@]host[:port], or an alias */
	const char *host_key_alias; /* the pod's name in known_hosts */
	enum remote_transport transport;
	/* For REMOTE_COMMAND: argv of a program with a POSIX shell on its stdin and stdout. */
	const char *const *command;
};

/* Questions that only a person can answer. */
enum fleet_ask {
	FLEET_ASK_HOST_KEY,   /* accept this new host key? */
	FLEET_ASK_PASSPHRASE, /* what is the passphrase of this private key? */
};

struct fleet_question {
	enum fleet_ask ask;
	size_t pod;
	char host[256];	      /* HOST_KEY: "[203.0.113.7]:22022" */
	char key_type[64];    /* HOST_KEY: "ssh-ed25519" */
	char fingerprint[64]; /* HOST_KEY: "SHA256:..." */
	char path[512];	      /* PASSPHRASE: path of the key file */
	bool again;	      /* PASSPHRASE: the previous one was wrong */
};

struct fleet_options {
	/* Asks the user, on the loop. Call fleet_answer then or later; a pod has at most one open
	 * question. If NULL, no user can answer: such keys are refused. */
	void (*on_ask)(void *user, const struct fleet_question *question);
	/* Reports that the link_info of a pod changed. May be NULL. */
	void (*on_link)(void *user, size_t pod);
	void *user;
	/* Accept unknown host keys without asking, and add them to known_hosts. */
	bool accept_new;
};

struct fleet;
/* Nothing is connected yet. pods (with their strings) and options are copied. */
struct fleet *fleet_new(struct loop *loop, const struct remote_pod *pods, size_t n_pods,
			const struct fleet_options *options);
/* Cancel all streams (on_close is called for each) and close all connections. */
void fleet_free(struct fleet *fleet);
struct transport *fleet_transport(struct fleet *fleet);

/* Answer a pod's open question. HOST_KEY: "yes", or NULL for no; PASSPHRASE: the passphrase (kept
 * in memory only, wiped after use), or NULL for none. */
void fleet_answer(struct fleet *fleet, size_t pod, const char *answer);
