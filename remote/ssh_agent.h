/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "base/buf.h"

/* An ssh-agent client (draft-miller-ssh-agent) for worker threads. It blocks, but never past its
 * deadline, and gives up within 0.1 s after *cancel is set. libssh2's client has no deadline, but
 * an agent may wait for its owner to confirm. */
#define SSH_AGENT_MAX_KEYS 64

struct ssh_agent {
	int fd;
	const atomic_bool *cancel; /* borrowed */
	bool is_connected;	   /* the socket accepts connections */
	bool has_answered;	   /* it sent data, or closed the socket */
	struct buf answer;
	struct buf keys[SSH_AGENT_MAX_KEYS]; /* public keys in wire format */
	size_t n_keys;
};

/* Connect and list the keys. False if no agent answers; close it in that case, too. */
bool ssh_agent_open(struct ssh_agent *agent, const char *path, const atomic_bool *cancel);
void ssh_agent_close(struct ssh_agent *agent);

/* Sign data with the key whose public part is blob, within timeout_ms. Flags of RSA keys: 2:
 * SHA-256, 4: SHA-512. *signature has no type; borrowed until the next call. */
bool ssh_agent_sign(struct ssh_agent *agent, struct str blob, struct str data, uint32_t flags,
		    int64_t timeout_ms, struct str *signature);
