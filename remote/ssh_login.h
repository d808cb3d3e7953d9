/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_LOGIN_H
#define HGYM_REMOTE_SSH_LOGIN_H

#include "remote/link_priv.h"
#include "remote/ssh_auth.h"
#include "remote/ssh_known.h"
#include "remote/ssh_session.h"

/*
 * From the end of the handshake to a session that is logged in: the host key
 * is judged, then keys are tried in a job.  A person is asked where there is
 * one; nobody else is kept out by the gate meanwhile.
 */

/* SSH_AUTH_DONE, or _REFUSED or _LOST and why. */
typedef void (*ssh_login_fn)(void *user, enum ssh_auth_result result,
			     const struct err *why);

struct ssh_login {
	/* Set before the start; all borrowed. */
	struct remote_link *link;
	struct ssh_session *session;
	const struct ssh_target *target;
	const struct known_keys *known;
	struct gate_ticket *ticket;
	ssh_login_fn fn;
	void *user;

	char key_type[64]; /* of the host key */
	struct buf key_base64;
	struct ssh_auth auth;
	bool in_job;	       /* which has the session now */
	bool asks_host;	       /* waits for the answer */
	struct list in_asking; /* in fleet.asking: waits for a passphrase */
	unsigned int passphrase_tries;
};

void ssh_login_init(struct ssh_login *login);
/* fn is called once, on the loop, from within this call or later. */
void ssh_login_start(struct ssh_login *login);
/* An answer to its question, if it has one. */
void ssh_login_answer(struct ssh_login *login, const char *answer);
/*
 * Give up: true when a job has the session still.  It ends soon where the
 * socket is shut down; then fn is called after all.
 */
bool ssh_login_cancel(struct ssh_login *login);
void ssh_login_release(struct ssh_login *login);

#endif
