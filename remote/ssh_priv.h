/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include <libssh2.h>

#include "remote/link_priv.h"
#include "remote/openssh.h"
#include "remote/ssh_key.h"

/* For ssh_*.c: a connection with libssh2, its session, its login, and the channels of commands. */

/* A libssh2 session and its socket. Data that the socket does not accept at once is queued here and
 * reported to libssh2 as sent. Otherwise libssh2 1.10 would keep the address of the half-sent
 * packet, which may be on the stack, and fail if the next call passes another address.
 *
 * Used by one thread at a time: the loop, or the job that borrows it. */
struct ssh_session {
	LIBSSH2_SESSION *ssh2; /* NULL: not started */
	int fd;		       /* owned; -1: none */
	struct loop_fd *watch; /* of fd; owned */
	bool dead;	       /* being freed: nothing is sent or received any more */
	bool blocks;	       /* used by a job: a send waits for the socket */
	bool early;	       /* before the end of the handshake: bytes are limited */
	size_t early_bytes;    /* number of bytes received before that end */
	char greeting[96];     /* the first of these bytes, NUL-terminated */
	size_t budget;	       /* bytes that may still be received in this turn */
	struct buf out;	       /* waiting for the socket */
	/* The other side closed or reset the connection. libssh2 may report that as a refusal
	 * (PUBLICKEY_UNVERIFIED, KEX_FAILURE), so check this before you believe its error code. */
	bool ended;
	int end_errno;	 /* 0: the server closed it */
	bool has_denied; /* the server ended it because too many keys failed */
};

void ssh_session_init(struct ssh_session *session);
/* Create the libssh2 session, with this program's order of algorithms. host_keys lists host key
 * algorithms in the order of preference, separated by commas. */
void ssh_session_begin(struct ssh_session *session, const char *host_keys);
/* Close everything. With `bye`, send a disconnect message first; otherwise send nothing. */
void ssh_session_release(struct ssh_session *session, bool bye);
/* Send queued data; -1: the socket is broken. */
int ssh_session_flush(struct ssh_session *session);
/* Wait on the loop for input if wanted, and for room to send if data is queued. */
void ssh_session_poll(struct ssh_session *session, bool wants_input);
/* libssh2's message for its last error, sanitized; returns out. */
#define SSH_MESSAGE_SIZE 200
const char *ssh_session_message(LIBSSH2_SESSION *ssh2, char out[SSH_MESSAGE_SIZE]);
/* Set an ERR_NET: "what: message (libssh2 number)". If the server closed the connection, or is not
 * an SSH server, the error explains that instead. */
void ssh_session_error(const struct ssh_session *session, const char *what, struct err *err);

/* Public key authentication, as a job that borrows the session and makes it blocking. Keys are
 * tried in the order of ssh(1): agent keys that belong to an identity file, other agent keys,
 * unencrypted files, encrypted files. A passphrase is only requested for an accepted key. */
enum ssh_auth_result {
	SSH_AUTH_DONE,
	SSH_AUTH_REFUSED, /* the server accepts none of the keys; err is set */
	SSH_AUTH_LOST,	  /* the connection broke; err is set */
	SSH_AUTH_NEEDS,	  /* needs the passphrase of identities[needs] */
};

struct ssh_auth {
	struct ssh_session *session;	 /* borrowed */
	const struct ssh_target *target; /* borrowed */
	/* One per identity; owned; NULL: unknown. */
	char *passphrases[SSH_TARGET_FILES];
	atomic_bool cancel; /* set by the loop to end the job soon */

	enum ssh_auth_result result;
	struct err err;
	size_t needs;
	bool wrong; /* the passphrase of identities[needs] is wrong */

	struct ssh_key keys[SSH_TARGET_FILES]; /* one per identity */
	/* Notes for the message that explains a refusal. */
	unsigned int offered; /* keys offered to the server */
	bool saw_rsa, saw_cert, saw_hardware, saw_cipher;
	bool agent_is_silent; /* the agent accepts connections but does not answer */
	int64_t deadline_ms;
};

/* Try the keys and set auth->result. Blocks for at most SSH_AUTH_MS. */
#define SSH_AUTH_MS 90000
void ssh_auth_work(struct ssh_auth *auth);
/* Overwrite and free a secret string. NULL is a no-op. */
void ssh_secret_free(void *secret);

/* The channels of an authenticated session; each runs one command. Reading one may also receive
 * data of others, so read all until none has more before waiting for the socket. */
struct ssh_channels {
	/* Set before the start; all borrowed. */
	struct remote_link *link;
	struct ssh_session *session;
	/* The session is lost, or closed while idle (why: NULL). It may release the channels. */
	void (*on_lost)(void *user, const struct err *why);
	void *user;

	struct list all;	     /* struct ssh_channel */
	struct ssh_channel *opening; /* libssh2 opens one at a time */
	struct loop_timer *tick;     /* checks channels that wait for the server */
	struct loop_timer *pulse;    /* probes a silent server */
};

void ssh_channels_start(struct ssh_channels *channels);
/* Free all channels. A no-op if they were never started. */
void ssh_channels_release(struct ssh_channels *channels);
/* Run a stream's command; NULL: probe the server. */
void ssh_channels_add(struct ssh_channels *channels, struct stream *s);
/* Let each channel do its next step. */
void ssh_channels_drive(struct ssh_channels *channels);
/* The same from the loop, after the current callback. */
void ssh_channels_drive_soon(struct ssh_channels *channels);
/* The stream was cancelled: forget it, and let its channel close. */
void ssh_channel_detach(struct stream *s);
