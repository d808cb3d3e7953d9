/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_CONN_H
#define HGYM_REMOTE_SSH_CONN_H

#include <libssh2.h>

#include "base/buf.h"
#include "base/list.h"
#include "remote/capture.h"
#include "remote/gate.h"
#include "remote/link.h"
#include "remote/ssh_alias.h"
#include "remote/ssh_auth.h"
#include "remote/ssh_hostkey.h"
#include "remote/ssh_io.h"

/*
 * One libssh2 session: a table of steps that lead to SSH_READY, then
 * channels.  Shared by the ssh_*.c files, nobody else includes it.
 */

/* step, its words in errors, its deadline in ms (0: none) */
#define SSH_STEP_LIST(X)                                                       \
	X(NAME, "ssh -G", 20000)                                               \
	X(KNOWN, "looking the host key up", 20000)                             \
	X(GATE, "waiting for other logins", 0)                                 \
	X(RESOLVE, "resolving the name", 25000)                                \
	X(CONNECT, "connecting", 10000)                                        \
	X(HANDSHAKE, "the SSH handshake", 20000)                               \
	X(ASK, "waiting for an answer", 0)                                     \
	X(AUTH, "logging in", 0)                                               \
	X(READY, "", 0)

enum ssh_step {
#define X(id, words, ms) SSH_##id,
	SSH_STEP_LIST(X)
#undef X
};

struct dial;
struct ssh_resolve;

struct ssh_conn {
	struct remote_link *link; /* NULL: forgotten, waits for its job */
	struct loop *loop;
	enum ssh_step step;
	struct loop_timer *deadline;
	struct ssh_target target;
	struct capture *capture;
	size_t file; /* known_hosts file that is asked now */
	struct known_keys known;
	struct gate_ticket ticket;

	struct ssh_resolve *resolve;
	struct dial *dial; /* in SSH_CONNECT */
	int fd;
	struct loop_fd *watch;
	struct loop_child *proxy;
	int proxy_fd; /* its stderr */
	struct loop_fd *proxy_watch;
	struct buf proxy_words;

	LIBSSH2_SESSION *session;
	struct ssh_io io;
	char key_type[64];
	struct buf key_base64;
	struct ssh_auth *auth;
	bool in_job;
	enum fleet_ask asking; /* in SSH_ASK */
	unsigned int passphrase_tries;

	struct list channels;
	struct ssh_channel *opening; /* libssh2 opens one at a time */
	struct loop_timer *tick;     /* looks after channels; may be NULL */
	struct loop_timer *pulse;    /* of a session that is ready */
	bool drive_posted;
};

/* Go to a step: sets its deadline. */
void ssh_conn_enter(struct ssh_conn *conn, enum ssh_step step);
/* End the connection and all streams of its link. */
void ssh_conn_lost(struct ssh_conn *conn, const struct err *why);
void ssh_conn_refused(struct ssh_conn *conn, const struct err *why);
/* Free it, now or when its job is done: then that calls orphan_done. */
void ssh_conn_close(struct ssh_conn *conn);
void ssh_conn_orphan_done(struct ssh_conn *conn);
/* The text of libssh2's last error as an err of that code. */
void ssh_conn_error(const struct ssh_conn *conn, struct err *err,
		    enum err_code code, const char *what);

/* ssh_net.c: from a name to a connected conn->fd, then ssh_conn_connected. */
void ssh_net_start(struct ssh_conn *conn);
void ssh_net_close(struct ssh_conn *conn);
void ssh_conn_connected(struct ssh_conn *conn);
/* What a jump host's ssh said, put before the text; true when final. */
bool ssh_net_proxy_error(struct ssh_conn *conn, struct err *err);

/* ssh_login.c: known hosts, host key, keys; ends in ssh_conn_ready. */
void ssh_login_lookup(struct ssh_conn *conn);
void ssh_login_check_host(struct ssh_conn *conn);
void ssh_login_auth(struct ssh_conn *conn);
void ssh_login_answer(struct ssh_conn *conn, const char *answer);
void ssh_conn_known(struct ssh_conn *conn);
void ssh_conn_ready(struct ssh_conn *conn);

/* ssh_channel.c */
void ssh_channel_start(struct ssh_conn *conn, struct stream *s);
void ssh_channel_detach(struct stream *s);
/* Ask the server for a sign of life. */
void ssh_channel_probe(struct ssh_conn *conn);
/* Let all channels of the connection work as far as they can, soon. */
void ssh_conn_drive_soon(struct ssh_conn *conn);
void ssh_conn_drive(struct ssh_conn *conn);
void ssh_channels_release(struct ssh_conn *conn);
/* The session is ready: from now on it is asked whether it still lives. */
void ssh_drive_start(struct ssh_conn *conn);

#endif
