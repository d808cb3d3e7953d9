/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_SESSION_H
#define HGYM_REMOTE_SSH_SESSION_H

#include <libssh2.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The bytes of a session, between libssh2 and the socket.  What the socket
 * does not take at once is queued here and libssh2 is told that all was
 * sent: libssh2 1.10 keeps the address of a half sent packet, on the stack
 * even (end of file, replies to the server), and fails when the next call
 * comes from elsewhere.
 *
 * Belongs to whoever has the session: the loop, or the job that borrows it.
 */
struct ssh_io {
	int fd;	     /* borrowed */
	bool dead;   /* no byte goes in or out any more */
	bool blocks; /* in a job: a send waits for the socket */
	bool early;  /* before the end of the handshake: few bytes only */
	size_t early_bytes;
	size_t budget;	/* bytes that may still be received in this turn */
	struct buf out; /* waits for the socket */
};

void ssh_io_init(struct ssh_io *io);
void ssh_io_release(struct ssh_io *io);
/*
 * A session whose bytes go through io (which outlives it), with our order of
 * algorithms; of host keys in that of host_keys, names parted by commas.
 */
LIBSSH2_SESSION *ssh_io_session(struct ssh_io *io, const char *host_keys);
/* libssh2's words for its last error, made harmless; returns out. */
#define SSH_MESSAGE_SIZE 200
const char *ssh_session_message(LIBSSH2_SESSION *session,
				char out[SSH_MESSAGE_SIZE]);
/* The same as an err of that code: "what: words (libssh2 number)". */
void ssh_session_error(LIBSSH2_SESSION *session, const char *what,
		       struct err *err, enum err_code code);
/* Send what waits; -1: the socket is broken. */
int ssh_io_flush(struct ssh_io *io);
static inline bool
ssh_io_is_full(const struct ssh_io *io)
{
	return io->out.len > 0;
}

#endif
