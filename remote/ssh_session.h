/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_SESSION_H
#define HGYM_REMOTE_SSH_SESSION_H

#include <libssh2.h>

#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"

/*
 * A session of libssh2 and its socket.  What the socket does not take at once
 * is queued here and libssh2 is told that all was sent: libssh2 1.10 keeps the
 * address of a half sent packet, on the stack even (end of file, replies to
 * the server), and fails when the next call comes from elsewhere.
 *
 * Belongs to whoever has the session: the loop, or the job that borrows it.
 */
struct ssh_session {
	LIBSSH2_SESSION *ssh2; /* NULL: not begun */
	int fd;		       /* owned; -1: none */
	struct loop_fd *watch; /* of fd; owned */
	bool dead;	       /* no byte goes in or out any more */
	bool blocks;	       /* in a job: a send waits for the socket */
	bool early;	       /* before the end of the handshake: few bytes */
	size_t early_bytes;
	size_t budget;	/* bytes that may still be received in this turn */
	struct buf out; /* waits for the socket */
};

void ssh_session_init(struct ssh_session *session);
/*
 * Begin on a connected fd, with our order of algorithms; of host keys in that
 * of host_keys, names parted by commas.
 */
void ssh_session_begin(struct ssh_session *session, const char *host_keys);
/* Close all, without a byte more on the socket; with `bye` after a word. */
void ssh_session_release(struct ssh_session *session, bool bye);
/* Send what waits; -1: the socket is broken. */
int ssh_session_flush(struct ssh_session *session);
/* Poll for input where that is wanted, and for room where something waits. */
void ssh_session_poll(struct ssh_session *session, bool wants_input);
/* libssh2's words for its last error, made harmless; returns out. */
#define SSH_MESSAGE_SIZE 200
const char *ssh_session_message(LIBSSH2_SESSION *ssh2,
				char out[SSH_MESSAGE_SIZE]);
/* The same as an ERR_NET: "what: words (libssh2 number)". */
void ssh_session_error(const struct ssh_session *session, const char *what,
		       struct err *err);

#endif
