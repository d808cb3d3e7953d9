/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_SSH_AUTH_H
#define HGYM_REMOTE_SSH_AUTH_H

#include <stdatomic.h>

#include <libssh2.h>

#include "base/err.h"
#include "remote/openssh.h"
#include "remote/ssh_key.h"

/*
 * Public key authentication as a job: it borrows the session, makes it
 * block, and gives it back.  Keys in the order of ssh(1): files that the
 * agent holds, other keys of the agent, plain files, encrypted files.  A
 * passphrase is asked for only when the server would take the key.
 */
enum ssh_auth_result {
	SSH_AUTH_DONE,
	SSH_AUTH_REFUSED, /* err; a further try cannot help */
	SSH_AUTH_LOST,	  /* err; the connection broke */
	SSH_AUTH_NEEDS,	  /* the passphrase of identities[needs] */
};

struct ssh_auth {
	LIBSSH2_SESSION *session;	 /* borrowed */
	const struct ssh_target *target; /* borrowed */
	/* By identity; owned; NULL: not known. */
	char *passphrases[SSH_TARGET_FILES];
	atomic_bool cancel; /* set by the loop to end the job soon */

	enum ssh_auth_result result;
	struct err err;
	size_t needs;
	bool wrong; /* its passphrase was given and did not fit */

	struct ssh_key keys[SSH_TARGET_FILES]; /* by identity */
	/* What was seen on the way, for the words of a refusal. */
	unsigned int offered; /* keys that the server was shown */
	bool saw_rsa, saw_cert, saw_hardware, saw_cipher;
	int64_t deadline_ms;
};

/* The job; takes at most SSH_AUTH_MS. */
#define SSH_AUTH_MS 90000
void ssh_auth_work(struct ssh_auth *auth);
/* Wipe a text that is secret, and free it (NULL: nothing). */
void ssh_secret_free(void *secret);

#endif
