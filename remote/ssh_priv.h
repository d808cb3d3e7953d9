/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include <libssh2.h>

#include "remote/link_priv.h"
#include "remote/openssh.h"
#include "remote/ssh_key.h"

/* The parts of a connection with libssh2: its session, the offered keys, the channels that run
 * commands. Only for ssh_*.c. */

/* A libssh2 session and its socket. Data that the socket does not accept at once is queued here,
 * and reported to libssh2 as sent: libssh2 1.10 keeps the address of a half-sent packet, even on
 * the stack (end of file, replies to the server), and fails if the next call comes from elsewhere.
 *
 * Belongs to its current user: the loop, or the job that borrows it. */
struct ssh_session {
	LIBSSH2_SESSION *ssh2; /* NULL: not started */
	int fd;		       /* owned; -1: none */
	struct loop_fd *watch; /* of fd; owned */
	bool dead;	       /* no byte goes in or out any more */
	bool blocks;	       /* in a job: a send waits for the socket */
	bool early;	       /* before the end of the handshake: few bytes */
	size_t early_bytes;
	char greeting[96]; /* the first of them, NUL-terminated */
	size_t budget;	   /* bytes that may still be received in this turn */
	struct buf out;	   /* waiting for the socket */
	/* The other side closed or reset the connection.  libssh2 may report
	 * that like a refusal (PUBLICKEY_UNVERIFIED, KEX_FAILURE): look here
	 * before you take its error for the server's answer. */
	bool ended;
	int end_errno;	 /* 0: it was closed */
	bool has_denied; /* the server ended it because too many keys failed */
};

void ssh_session_init(struct ssh_session *session);
/* Start on a connected fd, with our order of algorithms; host_keys is the order of host key types,
 * separated by commas. */
void ssh_session_begin(struct ssh_session *session, const char *host_keys);
/* Close everything, without sending another byte; with `bye`, after a disconnect message. */
void ssh_session_release(struct ssh_session *session, bool bye);
/* Send queued data; -1: the socket is broken. */
int ssh_session_flush(struct ssh_session *session);
/* Poll for input if wanted, and for output if data is queued. */
void ssh_session_poll(struct ssh_session *session, bool wants_input);
/* libssh2's message for its last error, sanitized; returns out. */
#define SSH_MESSAGE_SIZE 200
const char *ssh_session_message(LIBSSH2_SESSION *ssh2, char out[SSH_MESSAGE_SIZE]);
/* The same as an ERR_NET: "what: message (libssh2 number)"; if the server did not start to speak
 * SSH, what it sent instead. */
void ssh_session_error(const struct ssh_session *session, const char *what, struct err *err);

/* Public key authentication as a job: it borrows the session, makes it blocking, and gives it back.
 * Keys in the order of ssh(1): files that the agent holds, other keys of the agent, plain files,
 * encrypted files. A passphrase is only requested if the server would accept the key. */
enum ssh_auth_result {
	SSH_AUTH_DONE,
	SSH_AUTH_REFUSED, /* err; the server accepts none of our keys */
	SSH_AUTH_LOST,	  /* err; the connection broke */
	SSH_AUTH_NEEDS,	  /* the passphrase of identities[needs] */
};

struct ssh_auth {
	struct ssh_session *session;	 /* borrowed */
	const struct ssh_target *target; /* borrowed */
	/* By identity; owned; NULL: unknown. */
	char *passphrases[SSH_TARGET_FILES];
	atomic_bool cancel; /* set by the loop to end the job soon */

	enum ssh_auth_result result;
	struct err err;
	size_t needs;
	bool wrong; /* its passphrase was given and is wrong */

	struct ssh_key keys[SSH_TARGET_FILES]; /* by identity */
	/* Observations for the message of a refusal. */
	unsigned int offered; /* keys offered to the server */
	bool saw_rsa, saw_cert, saw_hardware, saw_cipher;
	bool agent_is_silent; /* it is running but does not answer */
	int64_t deadline_ms;
};

/* The job; takes at most SSH_AUTH_MS. */
#define SSH_AUTH_MS 90000
void ssh_auth_work(struct ssh_auth *auth);
/* Wipe and free a secret text (NULL: no-op). */
void ssh_secret_free(void *secret);

/* The channels of a session that is logged in, one command each. Data of one channel is received
 * while another is read, so all are read until none has more before the socket is polled; and
 * libssh2 opens one at a time. */
struct ssh_channels {
	/* Set before the start; all borrowed. */
	struct remote_link *link;
	struct ssh_session *session;
	/* The session is lost, or (NULL) was closed while idle. It may release the channels. */
	void (*on_lost)(void *user, const struct err *why);
	void *user;

	struct list all;	     /* struct ssh_channel */
	struct ssh_channel *opening; /* libssh2 opens one at a time */
	struct loop_timer *tick;     /* checks of waiting channels */
	struct loop_timer *pulse;    /* probes a silent server */
};

void ssh_channels_start(struct ssh_channels *channels);
/* End all; no-op if it was never started. */
void ssh_channels_release(struct ssh_channels *channels);
/* Run a stream's command; NULL: probe the server. */
void ssh_channels_add(struct ssh_channels *channels, struct stream *s);
/* Let all channels work: now, because the socket is ready; or soon. */
void ssh_channels_drive(struct ssh_channels *channels);
void ssh_channels_drive_soon(struct ssh_channels *channels);
/* A stream was cancelled: its channel closes by itself. */
void ssh_channel_detach(struct stream *s);
