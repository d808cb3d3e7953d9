/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_CHANNEL_H
#define HGYM_REMOTE_SSH_CHANNEL_H

#include "remote/link_priv.h"
#include "remote/ssh_session.h"

/*
 * The channels of a session that is logged in: a command each.  Data of one is
 * taken in while another is read, so all are read until none has more before
 * the socket is polled; and libssh2 opens one at a time.
 */
struct ssh_channels {
	/* Set before the start; all borrowed. */
	struct remote_link *link;
	struct ssh_session *session;
	/* The session is lost, or (NULL) was closed while nothing ran.  It may
	 * release the channels. */
	void (*on_lost)(void *user, const struct err *why);
	void *user;

	struct list all;	     /* struct ssh_channel */
	struct ssh_channel *opening; /* libssh2 opens one at a time */
	struct loop_timer *tick;     /* looks after those that wait */
	struct loop_timer *pulse;    /* asks a silent server for a sign */
};

void ssh_channels_start(struct ssh_channels *channels);
/* End all; nothing when it was never started. */
void ssh_channels_release(struct ssh_channels *channels);
/* Run a stream's command; NULL: ask the server for a sign of life. */
void ssh_channels_add(struct ssh_channels *channels, struct stream *s);
/* Let all channels work as far as they can: now, as the socket has something;
 * or soon. */
void ssh_channels_drive(struct ssh_channels *channels);
void ssh_channels_drive_soon(struct ssh_channels *channels);
/* A stream was cancelled: its channel closes by itself. */
void ssh_channel_detach(struct stream *s);

#endif
