/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_CHANNEL_H
#define HGYM_REMOTE_SSH_CHANNEL_H

#include "remote/ssh_conn.h"

/*
 * Channels of a libssh2 session.  Data of one is taken in while another is
 * read, so all are read until none has more before the socket is polled; and
 * libssh2 opens one at a time.
 */

#define SSH_PACKET_BYTES 32768U

enum op_result {
	OP_IDLE,  /* nothing to do */
	OP_AGAIN, /* libssh2 said EAGAIN */
	OP_PROGRESS,
	OP_GONE, /* the channel was freed */
	OP_LOST, /* the session is broken */
};

enum channel_step {
	CHANNEL_OPEN,
	CHANNEL_EXEC,
	CHANNEL_RUN,
	CHANNEL_WAIT,
	CHANNEL_FREE
};

struct ssh_channel;
struct ssh_channel {
	struct list in_conn; /* in ssh_conn.channels */
	struct ssh_conn *conn;
	struct stream *s; /* NULL: cancelled, or a probe */
	LIBSSH2_CHANNEL *channel;
	enum channel_step step;
	char *command;	   /* owned: must outlive the stream while it is sent */
	int64_t begun_ms;  /* of the open */
	int64_t reopen_ms; /* not before; 0: at once */
	char *chunk;	   /* of stdin, kept until libssh2 took it; owned */
	size_t chunk_len, chunk_sent;
	bool eof_sent;
	bool write_closed; /* the pod takes no more */
	struct stream_exit exit;
};

/* Do what this channel can do now. */
enum op_result ssh_channel_turn(struct ssh_channel *c);
/* Its stream may be read: the socket is worth polling for it. */
bool ssh_channel_may_read(const struct ssh_channel *c);
/* Take the channel out of its connection and free it. */
void ssh_channel_free(struct ssh_channel *c);

#endif
